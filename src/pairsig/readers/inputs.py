"""`read`: files, folders of logs, outputs, data frames and arrays become `Statistics`, which all tests take.

The way is the same for all of them: files → one `Output` per system and run → items in common (`align`) → counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pairsig import readers
from pairsig.core import statistics
from pairsig.core.statistics import Statistics, run_name
from pairsig.io import tables
from pairsig.io.choices import choose, once, options_of, spelled
from pairsig.io.errors import InputError, listed, named, printable
from pairsig.io.files import MAX_LINES, beginning
from pairsig.io.memory import Memory
from pairsig.io.packages import need
from pairsig.metrics import Metric, registry
from pairsig.metrics.counts import average
from pairsig.readers import extraction, names, options, recognition, table, tasks
from pairsig.readers.align import align, with_all_classes
from pairsig.readers.cells import SCORE
from pairsig.readers.output import Output
from pairsig.readers.table import Roles, pass_at, passes, split

_ACCEPTED = (
    "expected files, a data frame (pandas, polars, pyarrow, …), a mapping from names of systems to "
    "arrays or frames, logs of "
    "Inspect or lm_eval, or a pairsig.Statistics"
)
_UNSIGNED = (
    "metric",
    "reader",
    "reference",
    "system",
    "systems",
    "score",
    "sep",
    "sheet",
    "model",
    "missing",
    "column",
    "num_refs",
)
"""Options that name things, or that a signature has in another way."""


def read(
    data: Any,
    *,
    item: str | Sequence[str] | None = None,
    system: str | None = None,
    systems: str | Sequence[str] | None = None,
    run: str | None = None,
    sample: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    gold: str | None = None,
    prediction: str | None = None,
    winner: str | Sequence[str] | None = None,
    document: Any = None,
    domain: Any = None,
    macro: str | None = None,
    metric: str | Metric | Sequence[str] | None = None,
    lower_is_better: bool | None = None,
    missing: str | None = None,
    reference: str | Sequence[str] | None = None,
    reader: str | None = None,
    **others: Any,
) -> Statistics:
    """Read the scores or counts of several systems on one test set.

    Nothing is guessed: a column is used because it has a standard name or because a parameter names it. The first note
    of the result says what was read.

    Parameters
    ----------
    data
        One of these:

        * a data frame of pandas, polars, pyarrow or another library that narwhals supports, or the path of a table
          (CSV, TSV, JSON, JSON Lines, Parquet, Excel): one row per system and item, or one per item with a column per
          system (`systems`);
        * paths of one file per system (scores, counts, tables, logs, or outputs with a `reference`), the baseline
          first; a mapping gives the systems names, and a list of paths instead of a path has the runs of a system;
        * a list of data frames, or a mapping from names of systems to data frames;
        * a mapping from names of systems to arrays: scores (segments,), with `metric` counts (segments × columns), or
          several runs of a system, (runs × segments × columns);
        * logs in memory: a list of `inspect_ai.log.EvalLog`, or of results of
          ``lm_eval.simple_evaluate(…, log_samples=True)``;
        * `Statistics`, which are returned as they are.
    item, system, run, document, domain
        Columns with the item (several columns identify it together), the system, the run (a training with another
        seed, crossed with the items), the document and the domain. For arrays, `document` and `domain` are labels, one
        per segment. Standard names need no declaration: `item`, `id`, `system`, `model`, `run`, `seed`, `document`,
        `domain` and a few more (docs/formats.md).
    systems
        Columns that have the scores, or with `gold` the answers, of one system each.
    sample
        Column with the sampled answer, the rater, the turn or the order, over which an item is averaged.
    score
        Columns of scores, which are averaged; for arrays, the name of the score.
    gold, prediction
        Columns with the right answer and with the answer of the system; an answer that equals the right one counts 1.
    winner
        Columns with verdicts on pairs of systems, see docs/formats.md.
    macro
        Column with groups of items; the mean of the groups' scores is compared.
    metric
        A metric to compute from counts or from outputs, by name or as a `Metric`. For logs, which of their scores.
    lower_is_better
        Whether the scores are errors or costs. Default: known for metrics of pairsig and a few names such as `wer`; for
        all others, higher scores are assumed to be better, and the result says so.
    missing
        What to do with items without a score for some system: "wrong" counts them as 0, "drop" leaves them out for all
        systems. Default: refuse them.
    reference
        Files of references, for outputs.
    reader
        Format of files that do not say it themselves, such as "sigf" or "text".
    others
        Further options of tables (`true`, `missing_value`, `sep`, `decimal`, `sheet`, …), formats, and metrics
        (`tokenize`, `lowercase`, …), as `pairsig metrics` lists them.

    Returns
    -------
    Statistics
        `print` it to see what was read.

    Raises
    ------
    InputError
        If the input cannot be read, or could be read in more than one way.

    See Also
    --------
    compare, rank, compare_methods : Test what was read.

    Examples
    --------
    >>> import pandas as pd
    >>> import pairsig
    >>> rows = pd.DataFrame(
    ...     {"model": ["old", "old", "new", "new"], "task": [1, 2, 1, 2], "correct": [True, False, True, True]}
    ... )
    >>> pairsig.read(rows, item="task")
    Statistics of a test set: 2 systems, 2 segments
      systems: old, new
      correct: Σ correct / number of segments (higher is better, assumed)
    - read the data frame: 2 systems (old, new) × 2 items (task), no runs; correct: 0 or 1, higher is better (assumed)
    """
    results = {name: value for name, value in locals().items() if name not in ("data", "others")} | others
    parts = read_all(data, results)
    if len(parts) == 1:
        return parts[0]
    names_of_metrics = [metric.name for metric in chain.from_iterable(part.metrics for part in parts)]
    if any(part.dataset and not part.metrics[0].name.startswith(part.dataset) for part in parts):
        raise InputError(
            f"found verdicts on {len(parts)} pairs of systems, expected one pair\n`pairsig compare` tests each of them"
        )
    raise InputError(
        f"found the metrics {listed(names_of_metrics)}, which do not have the same items, expected one\n"
        "choose it with metric= (--metric)"
    )


def read_all(
    data: Any, declared: Mapping[str, Any], *, names_of_systems: Sequence[str] = (), memory: Memory | None = None
) -> list[Statistics]:
    """Read what `read` takes: one `Statistics` for all scores of the same items.

    Parameters
    ----------
    data
        See `read`.
    declared
        Options by their names in `options.OPTIONS`; None, "" and () are as good as none.
    names_of_systems
        Names of the systems, one per file, or none.
    """
    if isinstance(data, Statistics):
        return [data]
    declared = {
        name: value
        for name, value in declared.items()
        if value is not None and not (isinstance(value, str | tuple | list) and not value)
    }
    if declared.get("lower_is_better") is False:
        declared["higher_is_better"] = True
        del declared["lower_is_better"]
    if declared.get("lower_is_better") and declared.get("higher_is_better"):
        raise InputError("found --lower-is-better and --higher-is-better, expected one of them")
    if "num_refs" in declared and options.typed("num_refs", declared["num_refs"]) == 1:
        del declared["num_refs"]
    metric = declared.pop("metric", ())
    metrics = [metric] if isinstance(metric, Metric) else split(metric) if isinstance(metric, str) else list(metric)
    declared = {
        name: options.typed(name, value) if name in options.OPTIONS else value for name, value in declared.items()
    }
    declared |= {"metric": metrics} if metrics else {}
    if declared.get("missing") not in (None, "wrong", "drop"):
        raise InputError(f"found missing {declared['missing']!r}, expected wrong or drop")
    if are_paths(data):
        if isinstance(data, Mapping):
            names_of_systems, data = [str(name) for name in data], list(data.values())
        paths = [data] if isinstance(data, str | Path) else list(data)
        return _Files.of(paths, declared, names_of_systems, memory).read()
    if isinstance(data, Mapping) and data and all(map(_is_frame, data.values())):
        return _of_frames(list(data.values()), declared, [str(name) for name in data])
    if isinstance(data, Mapping):
        return [_of_arrays(data, declared)]
    if isinstance(data, list | tuple) and data and all(map(_is_frame, data)):
        return _of_frames(
            data,
            declared,
            [chr(ord("A") + place) for place in range(len(data))]
            if len(data) <= 26
            else [str(place + 1) for place in range(len(data))],
        )
    if isinstance(data, list | tuple):
        return _of_logs(data, declared)
    return _of_frames([data], declared, [""])


def _is_frame(value: Any) -> bool:
    """Whether a value is a data frame, which has named columns."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def are_paths(data: Any) -> bool:
    """Whether the input is a file or a folder, or several of them."""
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, list | tuple):
        return bool(data) and all(
            isinstance(item, str | Path) or (isinstance(item, list) and are_paths(item)) for item in data
        )
    return isinstance(data, str | Path)


@dataclass(frozen=True, kw_only=True)
class _Files:
    """Files of systems, and what was declared about all of them."""

    paths: Sequence[str]
    methods: Sequence[str]
    runs: Sequence[str]
    declared: Mapping[str, Any]
    is_named: bool = False
    notes: list[str] = field(default_factory=list)
    memory: Memory | None = None

    @classmethod
    def of(
        cls, paths: Sequence[Any], declared: Mapping[str, Any], names_of_systems: Sequence[str], memory: Memory | None
    ) -> _Files:
        """Groups of paths, one per system, of which each has the runs of that system."""
        groups = [list(map(str, path)) if isinstance(path, list | tuple) else [str(path)] for path in paths]
        references = _several(declared.get("reference", ()))
        notes = []
        resolved = {Path(reference).resolve() for reference in references}
        for group in groups:
            for path in [path for path in group if Path(path).resolve() in resolved]:
                group.remove(path)
                notes.append(f"{path} left out, since it is the reference")
        left = [
            (group, name) for group, name in zip(groups, names_of_systems or [""] * len(groups), strict=True) if group
        ]
        if not left:
            raise InputError("found no file of a system, expected at least one")
        methods, runs = names.of_files([group for group, _ in left])
        if any(names_of_systems):
            called = {index: name for index, (group, name) in enumerate(left)}
            methods = list(
                chain.from_iterable(
                    [called[index] or methods[sum(len(g) for g, _ in left[:index])]] * len(group)
                    for index, (group, _) in enumerate(left)
                )
            )
        return cls(paths=list(chain.from_iterable(group for group, _ in left)), methods=methods, runs=runs,
                   declared={**declared, **({"reference": references} if references else {})},
                   is_named=any(names_of_systems), notes=notes, memory=memory)  # fmt: skip

    def read(self) -> list[Statistics]:
        """The systems, by the reader that is declared or recognised."""
        metrics = self.declared.get("metric", ())
        reader, references = self.declared.get("reader"), self.declared.get("reference", ())
        if (
            reader is None
            and len(self.paths) == 1
            and is_statistics(self.paths[0])
            and not set(self.declared) - {"metric", "missing"}
        ):
            return [self._of_statistics(metrics)]
        if reader is None:
            if "sep" in self.declared or "sheet" in self.declared:
                reader = "table"
            else:
                self._check_reference(metrics, references)
                reader = recognition.recognize(self.paths, references, metrics)
            if reader not in (*readers.TABLES, "text"):
                self.notes.append(f"detected the format {reader}; --reader overrides it")
        choose(reader, (*readers.TABLES, *readers.COUNTS, *readers.LOGS, *readers.OUTPUTS), "reader")
        kind = _kind(reader)
        if kind == "outputs":
            return self._extracted(reader, metrics, references)
        options.check(self.declared, {kind, reader}, self.paths[0])
        if kind in ("tables", "scores"):
            roles = _roles(self.declared)
            several = len(self.paths) > 1
            files = [table.read(path, roles, several=several) for path in self.paths]
        else:
            read = recognition.reader_of_counts(reader).read
            typed = {name: value for name, value in self.declared.items() if name in options_of(read)}
            files = [recognition.read_all(reader, path, **typed) for path in self.paths]
        return _aligned(
            files,
            self.methods,
            self.runs,
            self.declared,
            reader,
            is_named=self.is_named,
            notes=self.notes,
            sources=self.paths,
        )

    def _check_reference(self, metrics: Sequence[Any], references: Sequence[str]) -> None:
        """A metric of outputs needs a reference, unless a table or a log has it."""
        from pairsig.readers.cells import suffix

        of_outputs = [
            registry.METRICS[key]
            for name in metrics
            if (key := spelled(name, registry.METRICS) if isinstance(name, str) else "") in registry.METRICS
            and registry.METRICS[key].extractor
        ]
        if not of_outputs or references or any(Path(path).is_dir() for path in self.paths):
            return
        if any(suffix(path) in readers.SUFFIXES_OF_TABLES for path in self.paths):
            return
        try:
            is_known = recognition.recognize(self.paths) != "scores"
        except InputError:
            is_known = False
        if not is_known:
            raise InputError(
                f"{self.paths[0]}: {of_outputs[0].title or of_outputs[0].name.upper()} is computed from outputs "
                "and a reference, found no reference\n--reference FILE names it"
            )

    def _of_statistics(self, metrics: Sequence[Any]) -> Statistics:
        """A file that `pairsig.write_statistics` wrote."""
        (path,) = self.paths
        if "missing" in self.declared:
            raise InputError(
                f"{path}: found --missing, which does nothing here: it is a file of statistics, in which no "
                "count is missing\nleave it out"
            )
        data = statistics.read(path, memory=self.memory)
        chosen = tuple(map(registry.metric, metrics)) or (statistics.only_metric(data),)
        warnings = tuple(f"{path}: warning: {sentence}" for sentence in data.inconsistencies())
        data = replace(data, metrics=chosen)
        return replace(data, notes=(summary([path], [data], ""), *warnings))

    def _extracted(self, reader: str, metrics: Sequence[Any], references: Sequence[str]) -> list[Statistics]:
        """One result per metric, counted in outputs and a reference."""
        if not references:
            raise InputError(
                f"{self.paths[0]}: reader {reader} reads outputs, found no reference\n--reference FILE names it"
            )
        default = readers.reader_of_outputs(reader).metric
        if not metrics and reader == "text" and "reader" not in self.declared:
            raise InputError(
                f"{self.paths[0]}: found text and no metric, expected one such as bleu, chrf, ter, wer, rouge1_f "
                "or accuracy\n--metric names it (`pairsig metrics` lists all); --reader names a format if this "
                "is no text"
            )
        chosen = [registry.metric(name) for name in metrics or [default]]
        once([metric.name for metric in chosen], "metric")
        for metric in chosen:
            extraction.functions(metric, reader)
        is_text = extraction._is_text(reader)
        others = [metric.extractor for metric in chosen if metric.extractor and metric.name not in registry.METRICS]
        of_metrics = set(chain.from_iterable(map(options_of, others)))
        options.check(
            [name for name in self.declared if name not in of_metrics],
            {"outputs", reader, *(["text"] if is_text else []), *(metric.name for metric in chosen)},
            self.paths[0],
        )
        if "item" in self.declared and "column" not in self.declared:
            raise InputError(
                f"{self.paths[0]}: found --item without --column, expected the column of texts, too\n"
                "leave it out for texts with one segment per line"
            )
        domains, documents = _documents(self.declared)
        of_texts = {
            name: value
            for name, value in self.declared.items()
            if name not in ("metric", "reference", "reader", "document_file", "item")
        }
        gold = extraction.References(
            paths=references,
            reader=reader,
            options=of_texts,
            domains=domains,
            documents=documents,
            item=split(self.declared.get("item")),
        )
        counted: list[list[Statistics]] = [[] for _ in chosen]
        for path, system in zip(self.paths, map(run_name, self.methods, self.runs), strict=True):
            segments = gold.outputs(path)
            for metric, of_systems in zip(chosen, counted, strict=True):
                of_systems.append(gold.counts(path, segments, metric, system))
        results: list[Statistics] = []
        for metric, of_systems in zip(chosen, counted, strict=True):
            settings = gold.settings(metric)
            settings += "".join(f"|document_file:{Path(self.declared['document_file']).name}" for _ in documents[:1])
            data = replace(_collected(of_systems, metric), runs=tuple(self.runs), provenance={"settings": settings})
            results.append(data)
        about = summary([*self.paths, *references], results, gold.by)
        for place, (data, of_systems) in enumerate(zip(results, counted, strict=True)):
            notes = chain(self.notes, *(part.notes for part in of_systems))
            results[place] = replace(data, notes=(about, *dict.fromkeys(notes)))
        return results


def _collected(parts: Sequence[Statistics], metric: Metric) -> Statistics:
    """The systems of one metric; a class that only some systems have counts 0 for the others."""
    if metric.labels == "by class":
        from pairsig.metrics.classification import of_classes

        classes = sorted({column.partition(" ")[2] for column in chain.from_iterable(part.columns for part in parts)})
        metric = of_classes(metric, classes)
        widened = []
        for part in parts:
            counts = np.zeros((1, len(part.segments), len(metric.columns)), dtype=part.counts.dtype)
            counts[:, :, [metric.columns.index(column) for column in part.columns]] = part.counts
            widened.append(replace(part, columns=metric.columns, counts=counts))
        parts = widened
    return replace(statistics.collect(list(parts), dataset="", provenance={}), metrics=(metric,))


def _kind(reader: str) -> str:
    """The kind of input that a reader reads, as `options` names it."""
    if reader in readers.TABLES:
        return "tables"
    if reader in readers.OUTPUTS:
        return "outputs"
    return "logs" if reader in readers.LOGS else "counts"


def _several(value: Any) -> list[Any]:
    """One value, or several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _roles(declared: Mapping[str, Any]) -> Roles:
    """What is declared about a table."""
    known = {name: value for name, value in declared.items() if name in vars(Roles()) and name != "metric"}
    single = (
        "system",
        "run",
        "gold",
        "prediction",
        "system_a",
        "system_b",
        "document",
        "domain",
        "macro",
        "sep",
        "decimal",
        "sheet",
    )
    for name in single:
        if name in known and not isinstance(known[name], str):
            known[name] = str(known[name])
    if declared.get("higher_is_better"):
        known["lower_is_better"] = False
    if (decimal := known.get("decimal", ".")) not in (".", ","):
        raise InputError(f"found --decimal {decimal}, expected a comma or a point")
    if known.get("decimal") == "," and known.get("sep", ";") == ",":
        raise InputError("found --decimal , and --sep , expected another separator")
    return Roles(metric=tuple(declared.get("metric", ())), **{name: _names(value) for name, value in known.items()})


def _names(value: Any) -> Any:
    """Names of columns, words or numbers as text, since a column may be called 0."""
    if isinstance(value, str | bool):
        return value
    return [str(name) for name in value] if isinstance(value, Iterable) else str(value)


def _documents(declared: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments, without the lines that are skipped in the outputs."""
    path = declared.get("document_file")
    return readers.read_documents(path, skip_lines=declared.get("skip_lines", 0)) if path else ([], [])


def _aligned(
    files: Sequence[tuple[Output, ...]],
    methods: Sequence[str],
    runs: Sequence[str],
    declared: Mapping[str, Any],
    reader: str,
    *,
    is_named: bool = False,
    notes: Sequence[str] = (),
    sources: Sequence[str],
) -> list[Statistics]:
    """The systems of tables, files of counts or logs on the same items, with what the result should say about them."""
    parts = with_all_classes(list(chain.from_iterable(files)))
    for part in parts:
        printable([part.system, part.run], "system", part.source)
        printable([part.task], "task", part.source)
    domains, documents = _documents(declared)
    metrics = declared.get("metric", ())
    if declared.get("sample") and parts[0].is_log:
        parts = _over_runs(parts, [name for name in metrics if isinstance(name, str) and passes(name)])
        files, methods_of = (
            [tuple(part for part in parts if part.source in {other.source for other in group}) for group in files],
            methods,
        )
        methods = methods_of
    called, runs_of = names.of_outputs(files, methods, runs)
    if is_named and len(files) > 1:
        called = list(chain.from_iterable([name] * len(group) for name, group in zip(methods, files, strict=True)))
    how: dict[str, Any] = {"missing": declared.get("missing"), "domains": domains, "documents": documents}
    if declared.get("lower_is_better") and parts[0].is_log:
        parts = [
            replace(part, metrics=tuple(replace(metric, higher_is_better=False) for metric in part.metrics))
            for part in parts
        ]
    if parts[0].is_log and tasks.several(parts, called):
        results = tasks.align(
            parts, called, runs_of, metrics=[name for name in metrics if not passes(str(name))], **how
        )
    elif any(part.task for part in parts) and not parts[0].is_log:
        results = []
        for task in dict.fromkeys(part.task for part in parts):
            of_task = [part for part in parts if part.task == task]
            results += [
                replace(data, dataset=task) for data in align(of_task, [part.system for part in of_task], **how)
            ]
    else:
        if parts[0].is_log or reader in readers.COUNTS:
            parts = _restricted(parts, [name for name in metrics if not passes(str(name))])
        results = align(parts, list(map(run_name, called, runs_of)), runs=runs_of, **how)
    results = [data.in_order() for data in results]
    if declared.get("macro"):
        results = [tasks.macro(data) for data in results]
    about = summary(
        sources, results, parts[0].by, samples=next((part.samples for part in parts if part.samples), ""), parts=parts
    )
    settings = _settings(declared, reader)
    result = []
    for data in results:
        provenance = {**data.provenance, **({"settings": settings} if settings else {})}
        result.append(replace(data, provenance=provenance, notes=tuple(dict.fromkeys([about, *notes, *data.notes]))))
    return result


def _settings(declared: Mapping[str, Any], reader: str) -> str:
    """What was declared that changes a number, as a signature has it."""
    parts = [f"reader:{reader}"] if reader not in readers.TABLES else []
    for name in options.OPTIONS:
        if name in declared and name not in _UNSIGNED:
            value = declared[name]
            text = (
                "yes"
                if value is True
                else "no"
                if value is False
                else ",".join(split(value))
                if isinstance(value, str | list | tuple)
                else str(value)
            )
            text = Path(text).name if options.OPTIONS[name].value == "FILE" else text
            parts.append(f"{name}:{text.replace('|', '/')}")
    return "|".join(parts)


def _restricted(parts: Sequence[Output], asked: Sequence[Any]) -> list[Output]:
    """The outputs with the metrics that are asked for, which each of them must have."""
    known = list(dict.fromkeys(metric.name for metric in chain.from_iterable(part.metrics for part in parts)))
    chosen = [spelled(str(name), known) for name in asked]
    once(chosen, "metric")
    for name in chosen:
        choose(name, known, f"metric of {parts[0].source}:")
        lacking = [part for part in parts if name not in {metric.name for metric in part.metrics}]
        if lacking:
            raise InputError(
                f"{lacking[0].source} has no metric {named(name)}, expected one of "
                f"{listed(metric.name for metric in lacking[0].metrics)}"
            )
    return [tasks.restricted(part, chosen) for part in parts]


def _over_runs(parts: Sequence[Output], estimators: Sequence[str]) -> list[Output]:
    """Outputs of logs whose runs are samples: the mean over the samples of each item, or pass@k."""
    groups: dict[tuple[str, str, str], list[Output]] = {}
    for part in parts:
        groups.setdefault((part.source, part.system, part.task), []).append(part)
    averaged = []
    for of_system in groups.values():
        first = of_system[0]
        items = list(dict.fromkeys(chain.from_iterable(part.items for part in of_system)))
        metrics, values = list(first.metrics), {}
        for metric in first.metrics:
            column = metric.columns[0]
            scores: dict[str, list[float]] = {item: [] for item in items}
            for part in of_system:
                for item, score in zip(part.items, part.values[column].tolist(), strict=True):
                    scores[item].append(score)
            values[column] = np.array([math.fsum(of_item) / len(of_item) for of_item in scores.values()])
            for name in estimators:
                kind, k = passes(name) or ("@", 1)
                for item, of_item in scores.items():
                    if len(of_item) < k or not set(of_item) <= {0, 1}:
                        raise InputError(
                            f"{first.source}: found {len(of_item)} samples of {named(item)}, expected at least {k}, "
                            f"each 0 or 1, for {name}"
                        )
                if len(first.metrics) > 1:
                    raise InputError(
                        f"{first.source}: found the scores {listed(m.name for m in first.metrics)} with --metric "
                        f"{name}, expected one\n--scorer NAME chooses it"
                    )
                metrics = [replace(average(name.lower(), factor=100), title=name.lower())]
                values = {
                    name.lower(): np.array(
                        [pass_at(len(of_item), int(sum(of_item)), k, kind) for of_item in scores.values()]
                    )
                }
        labels: dict[str, Any] = {
            what: _first_of(of_system, items, what) for what in ("documents", "domains", "contents")
        }
        about = f"{len(of_system)} samples per item, averaged"
        averaged.append(
            replace(first, run="", items=tuple(items), values=values, metrics=tuple(metrics), design="", lines=(),
                    samples=about, **labels)
        )  # fmt: skip
    return averaged


def _first_of(parts: Sequence[Output], items: Sequence[str], what: str) -> tuple[str, ...]:
    """The labels of items, from whichever part has them."""
    labels: dict[str, str] = {}
    for part in parts:
        for item, label in zip(part.items, getattr(part, what), strict=False):
            labels.setdefault(item, label)
    return tuple(labels.get(item, "") for item in items) if labels else ()


def summary(
    sources: Sequence[Any], results: Sequence[Statistics], by: str, *, samples: str = "", parts: Sequence[Output] = ()
) -> str:
    """The sentence that says what was read: files, systems, items, runs, values, what is missing, and directions."""
    first = results[0]
    methods = list(dict.fromkeys(chain.from_iterable(data.methods for data in results)))
    runs = set(chain.from_iterable(Counter(data.methods).values() for data in results))
    sizes = sorted({len(data.segments) for data in results})
    size = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    n_runs = (
        f"{min(runs)} to {max(runs)} runs"
        if len(runs) > 1
        else f"{max(runs)} runs of each"
        if any(first.runs)
        else "no runs"
    )
    n_documents = len(set(first.documents.tolist()) - {""})
    systems = f"{len(methods)} system{'s' * (len(methods) != 1)} ({listed(methods)})"
    about = [f"{systems} × {size} items ({by or 'by position'})", n_runs]
    about += [f"{n_documents:,} documents"] * (n_documents > 0) + [samples] * bool(samples)
    scores: list[str] = []
    for data in results:
        for metric in data.metrics:
            if len(scores) < 6:
                scores.append(_values(data, metric, parts))
    shown = ", ".join(map(str, sources[:4])) + f" and {len(sources) - 4} more" * (len(sources) > 4)
    return f"read {shown}: {', '.join(about)}; {'; '.join(scores)}"


def _values(data: Statistics, metric: Metric, parts: Sequence[Output]) -> str:
    """The values of a metric: `score: 0 or 1, 3 missing, higher is better (assumed)`."""
    better = f"{'higher' if metric.higher_is_better else 'lower'} is better{' (assumed)' if metric.assumed else ''}"
    column = metric.columns[0]
    if column not in data.columns:  # which the test refuses
        return metric.name
    arrays = [part.values[column] for part in parts if column in part.values] if metric.averaged else []
    arrays = arrays or [data.counts[:, :, data.columns.index(column)].ravel()]
    n_values, n_missing = sum(map(len, arrays)), 0
    whole, low, high = True, math.inf, -math.inf
    for values in arrays:
        if values.dtype.kind == "f":
            lacking = np.isnan(values)
            n_missing += int(lacking.sum())
            values = values[~lacking] if lacking.any() else values
            whole = whole and bool((values == np.rint(values)).all())
        if len(values):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    if low > high:
        return f"{metric.name}: no values, {better}"
    if metric.averaged:
        kind = f"{_plain(low)} to {_plain(high)}{'' if whole else ', not whole'}"
        kind = "0 or 1" if whole and 0 <= low <= high <= 1 else kind
    else:
        kind = f"counts ({listed(metric.columns[:3])}{', …' if len(metric.columns) > 3 else ''})"
    missing = f", {n_missing:,} of {n_values:,} missing" if n_missing else ""
    return f"{metric.name}: {kind}{missing}, {better}"


def _plain(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


# Data in memory.


def _of_frames(frames: Sequence[Any], declared: Mapping[str, Any], called: Sequence[str]) -> list[Statistics]:
    """Data frames: one of all systems, or one per system."""
    options.check(declared, {"tables"}, "the data frame")
    roles = _roles(declared)
    if len(frames) == 1 and not any(called) and not _declares_roles(roles):
        roles = _wide(frames[0], roles)
    if len(frames) > 1 and not roles.item:
        frames, roles = _by_index(frames, roles)
    files = [table.read(frame, roles, several=len(frames) > 1) for frame in frames]
    sources = ["the data frame" if len(frames) == 1 else f"{len(frames)} data frames"]
    results = _aligned(files, called, [""] * len(frames), declared, "table", is_named=any(called), sources=sources)
    import narwhals.stable.v2 as nw

    library = nw.from_native(frames[0]).implementation
    return [replace(data, library=library) for data in results]


def _declares_roles(roles: Roles) -> bool:
    return any(
        getattr(roles, name)
        for name in ("item", "system", "systems", "run", "sample", "score", "gold", "winner", "metric")
    )


def _wide(frame: Any, roles: Roles) -> Roles:
    """A frame of pandas with ids as its index and only columns of numbers has a system in each column."""
    index = getattr(frame, "index", None)
    if (
        index is None
        or callable(index)
        or type(index).__name__ == "RangeIndex"
        or getattr(frame.columns, "nlevels", 1) > 1
        or len(frame.columns) < 2
    ):
        return roles
    if not all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes):
        return roles
    standard = {*chain.from_iterable(table.STANDARD.values()), "score", "correct", "accuracy"}
    columns = [str(name) for name in frame.columns]
    if (
        {name.lower() for name in columns} & standard
        or not index.is_unique
        or not set(columns).isdisjoint(map(str, index.names))
    ):
        return roles
    return replace(
        roles,
        systems=columns,
        item=[str(name) for name in index.names] if None not in index.names else "item" if index.nlevels == 1 else None,
    )


def _by_index(frames: Sequence[Any], roles: Roles) -> tuple[Sequence[Any], Roles]:
    """Frames of pandas whose indices share labels that do not only number the rows: these are the items."""
    indices: list[Any] = [getattr(frame, "index", None) for frame in frames]
    if any(not hasattr(index, "is_unique") or index.nlevels > 1 or not index.is_unique for index in indices):
        return frames, roles
    name = "item" if indices[0].name is None else str(indices[0].name)
    columns = {str(column).lower() for column in chain.from_iterable(frame.columns for frame in frames)}
    if (
        all(type(index).__name__ == "RangeIndex" for index in indices)
        or any(index.name != indices[0].name for index in indices)
        or columns & {name.lower(), *table.STANDARD["item"]}
        or name.lower() in chain.from_iterable(names for role, names in table.STANDARD.items() if role != "item")
        or any(indices[0].intersection(index).empty for index in indices[1:])
    ):
        return frames, roles
    return [frame.rename_axis(index=name) for frame in frames], replace(roles, item=[name])


def _of_arrays(data: Mapping[str, Any], declared: Mapping[str, Any]) -> Statistics:
    """Scores (segments,), counts (segments × columns), or either of several runs, (runs × segments × columns)."""
    options.check(declared, {"arrays"}, "arrays")
    name = declared.get("score", SCORE)
    if not isinstance(name, str):
        raise InputError(f"found the scores {listed(name)} for arrays, expected one name")
    metrics = declared.get("metric", ())
    lower = declared.get("lower_is_better")
    if len(metrics) > 1:
        raise InputError(f"found the metrics {listed(map(str, metrics))} for arrays, expected one")
    chosen = registry.metric(metrics[0]) if metrics else average(name, higher_is_better=not lower)
    if metrics and lower:
        raise InputError(
            f"found lower_is_better=True with metric {chosen.name}, expected it with scores only: a metric "
            "says itself which scores are better"
        )
    for system, values in data.items():
        shape = np.shape(values)
        if not metrics and (len(shape) not in (1, 3) or (len(shape) == 3 and shape[2] != 1)):
            raise InputError(
                f"system {named(str(system))} has an array of shape {shape} and no metric is named, expected one "
                "score per segment, (segments,) or (runs, segments, 1); metric= takes counts, (segments, columns)"
            )
    arrays = {
        str(system): np.asarray(values, dtype=np.float64)
        if getattr(getattr(values, "dtype", None), "char", "") == "g"
        else values
        for system, values in data.items()
    }
    labels = {f"{noun}s": declared[noun] for noun in ("document", "domain") if noun in declared}
    result = Statistics.from_arrays(arrays, chosen.columns, **labels)
    missing, settings = declared.get("missing"), {}
    lacking = np.isnan(result.counts).any(axis=2)
    if lacking.any() and missing == "drop":
        settings["missing"] = f"drop:{int(lacking.any(axis=0).sum())}"
        result = result.select(segments=np.flatnonzero(~lacking.any(axis=0)))
    elif lacking.any() and missing == "wrong":
        scores = result.counts[~lacking]
        if metrics or lower or ((scores < 0) | (scores > 1)).any():
            raise InputError("missing='wrong' counts 0, expected scores from 0 to 1 of which higher is better")
        settings["missing"] = f"wrong:{lacking.sum()}"
        result = replace(result, counts=np.nan_to_num(result.counts))
    elif lacking.any():
        row, segment = np.argwhere(lacking)[0]
        raise InputError(
            f"system {named(result.systems[row])} has no score for segment {named(result.segments[segment])} (NaN or "
            'masked), expected a number; missing="drop" leaves it out for all systems'
        )
    result = replace(result, metrics=(chosen,), provenance=settings)
    return replace(result, notes=(summary(["arrays"], [result], ""), *result.inconsistencies()))


def _of_logs(logs: Sequence[Any], declared: Mapping[str, Any]) -> list[Statistics]:
    """Logs in memory, one per system."""
    documents = [_in_memory(log, f"log-{number}") for number, log in enumerate(logs, start=1)]
    programs = {program for program, _ in documents}
    if len(programs) != 1:
        raise InputError(f"found logs of {listed(sorted(programs)) or 'no program'}, expected logs of one program")
    (program,) = programs
    options.check(declared, {"logs", program}, "the logs")
    read_log = recognition.reader_of_counts(program).read
    typed = {name: value for name, value in declared.items() if name in options_of(read_log)}
    files = [recognition.read_all(program, log, **typed) for _, log in documents]
    return _aligned(
        files,
        [log.name for _, log in documents],
        [""] * len(documents),
        declared,
        program,
        sources=[log.name for _, log in documents],
    )


def _in_memory(log: Any, name: str) -> tuple[str, readers.InMemory]:
    """The program of a log, and the document that its reader reads."""
    for program in readers.LOGS:
        if (document := recognition.reader_of_counts(program).document(log)) is not None:
            return program, readers.InMemory(name, document)
    raise InputError(f"found a {type(log).__module__.partition('.')[0]}.{type(log).__name__}, {_ACCEPTED}")


def of_outcomes(both_right: int, only_a: int, only_b: int, neither: int) -> Statistics:
    """Two systems, A and B, with so many items that both, only one or neither of them gets right."""
    counts = [both_right, only_a, only_b, neither]
    if min(counts) < 0 or not 0 < sum(counts) <= MAX_LINES:
        raise InputError(
            f"found the counts {listed(map(str, counts))}, expected numbers of items, 0 or more, and at "
            f"least one item (at most {MAX_LINES:,})"
        )
    right = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], counts, axis=1)
    accuracy = registry.metric("accuracy")
    arrays = {
        name: np.stack([is_right, np.ones_like(is_right)], axis=1) for name, is_right in zip("AB", right, strict=True)
    }
    data = replace(Statistics.from_arrays(arrays, accuracy.columns), metrics=(accuracy,))
    return replace(data, notes=(summary(["counts"], [data], "counted"),))


def is_statistics(path: str | Path) -> bool:
    """Whether `write_statistics` has written a file: it has metadata, or all the labels that statistics have."""
    path = Path(path)
    if path.suffix in tables.SEPARATORS and path.is_file():
        head = beginning(path).decode("utf-8", errors="replace").partition("\n")[0]
        return set(statistics.KEYS) - {"run"} <= set(head.rstrip("\r").split(tables.SEPARATORS[path.suffix]))
    if path.suffix != ".parquet" or not path.is_file():
        return False
    need("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"dataset" in (pq.read_schema(path).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False  # the reader of tables says what is wrong
