"""`read`: files, folders of logs, outputs, data frames and arrays become `Statistics`, which all tests take.

The way is the same for all of them: files → one `Output` per system and run → items in common (`align`) → counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pairsig import readers
from pairsig.core import statistics
from pairsig.core.labels import run_name
from pairsig.core.statistics import Statistics
from pairsig.io.choices import choose, once, spelled
from pairsig.io.errors import InputError, listed
from pairsig.io.files import MAX_LINES
from pairsig.io.packages import need
from pairsig.metrics import Metric, registry
from pairsig.metrics.counts import average
from pairsig.readers import extraction, names, options, recognition, table, tasks, verdicts
from pairsig.readers.align import align, with_all_classes
from pairsig.readers.cells import SCORE, is_range
from pairsig.readers.output import Output
from pairsig.readers.table import split

_UNSIGNED = ("metric", "reader", "reference", "system", "systems", "score", "sep", "missing", "column")
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
          (CSV, TSV, JSON, JSON Lines, Parquet): one row per system and item, or one per item with a column per
          system (`systems`);
        * paths of one file per system (scores, counts, tables, logs, or outputs with a `reference`), the baseline
          first; a mapping gives the systems names, and a list of paths instead of a path has the runs of a system;
        * a list of data frames, or a mapping from names of systems to data frames;
        * a mapping from names of systems to arrays: scores (segments,), with `metric` counts (segments × columns), or
          several runs of a system, (runs × segments × columns);
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
        Further options of tables (`true`, `missing_value`, `sep`, `decimal`, …), formats, and metrics
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
    compare, rank, compare_runs : Test what was read.

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
    declared = {name: value for name, value in locals().items() if name not in ("data", "others")} | others
    parts = read_all(data, declared)
    if len(parts) == 1:
        return parts[0]
    if any(part.dataset and not part.metrics[0].name.startswith(part.dataset) for part in parts):
        problem = f"verdicts on {len(parts)} pairs of systems"
        raise InputError(f"found {problem}, expected one pair\n`pairsig compare` tests each of them")
    metrics = listed(metric.name for metric in chain.from_iterable(part.metrics for part in parts))
    raise InputError(
        f"found the metrics {metrics}, which have different items, expected one\nchoose it with metric= (--metric)"
    )


def read_all(data: Any, declared: Mapping[str, Any], *, names_of_systems: Sequence[str] = ()) -> list[Statistics]:
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
    declared = _checked(declared)
    several = list(data.values()) if isinstance(data, Mapping) else _several(data)
    called = [str(name) for name in data] if isinstance(data, Mapping) else names_of_systems
    if _are_paths(several):
        return _of_files(several, declared, called)
    if several and all(hasattr(frame, "columns") or hasattr(frame, "column_names") for frame in several):
        return _of_frames(several, declared, called)
    if isinstance(data, Mapping):
        return [_of_arrays(data, declared)]
    kind = type(several[0] if several else data)
    raise InputError(
        f"found a {kind.__module__.partition('.')[0]}.{kind.__name__}, expected files, a data frame (pandas, polars, "
        "pyarrow, …), a mapping from names of systems to arrays or frames, or a pairsig.Statistics"
    )


def _checked(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What is declared, with the types that options have, and metrics as a list."""
    checked = {
        name: options.typed(name, value)
        for name, value in declared.items()
        if value is not None and not (isinstance(value, str | tuple | list) and not value)
    }
    if checked.get("lower_is_better") is False:
        checked["higher_is_better"] = True
    if checked.get("lower_is_better") and checked.get("higher_is_better"):
        raise InputError("found --lower-is-better and --higher-is-better, expected one of them")
    if not checked.get("lower_is_better"):
        checked.pop("lower_is_better", None)
    if checked.get("missing") not in (None, "wrong", "drop"):
        raise InputError(f"found missing {checked['missing']!r}, expected wrong or drop")
    if metric := checked.get("metric"):
        checked["metric"] = split(metric) if isinstance(metric, str) else _several(metric)
    return checked


def _several(value: Any) -> list[Any]:
    """One value, or several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _are_paths(data: Sequence[Any]) -> bool:
    """Whether all of the input are files or folders, or lists of them."""
    return bool(data) and all(isinstance(of, str | Path) or (isinstance(of, list) and _are_paths(of)) for of in data)


# Files.


def _of_files(data: Sequence[Any], declared: dict[str, Any], called: Sequence[str]) -> list[Statistics]:
    """Files of systems, by the reader that is declared or recognized; a list of files has the runs of a system."""
    references = list(map(str, _several(declared.get("reference", []))))
    resolved = {Path(reference).resolve() for reference in references}
    groups: list[list[str]] = []
    notes: list[str] = []
    names_of_groups: list[str] = []
    for number, of_system in enumerate(data):
        paths = [str(path) for path in _several(of_system)]
        outputs = [path for path in paths if Path(path).resolve() not in resolved]
        notes += [f"{path} left out, since it is the reference" for path in paths if path not in outputs]
        if outputs:
            groups.append(outputs)
            names_of_groups += called[number : number + 1]
    if not groups:
        raise InputError("found no file of a system, expected at least one")
    systems, runs = names.of_files(groups, names_of_groups)
    paths = list(chain(*groups))
    reader = declared.get("reader")
    if reader is None and len(paths) == 1 and not declared.keys() - {"metric", "missing"} and is_statistics(paths[0]):
        return [_of_statistics(paths[0], declared)]
    reader = reader or recognition.recognize(paths, references, declared)
    kind = readers.kind_of(reader)
    if "reader" not in declared and reader not in (*readers.TABLES, "text"):
        notes.append(f"detected the format {reader}; --reader overrides it")
    if kind == "outputs":
        return _of_outputs(paths, references, reader, declared, list(map(run_name, systems, runs)), runs, notes)
    options.check(declared, {kind, reader}, paths[0])
    files = [_read_file(reader, path, declared) for path in paths]
    return _together(files, systems, runs, declared, reader, notes, sources=paths, is_named=any(called))


def _read_file(reader: str, path: str, declared: Mapping[str, Any]) -> tuple[Output, ...]:
    """The systems in a table, or in a file of counts or a log."""
    if reader in readers.TABLES:
        return _read_table(path, declared)
    outputs = readers.read(reader, path, **declared)
    return (outputs,) if isinstance(outputs, Output) else tuple(outputs)


def _read_table(source: Any, declared: Mapping[str, Any], *, may_be_wide: bool = False) -> tuple[Output, ...]:
    """The systems in a table, from a path or a data frame, in their order."""
    reading = table.read(source, declared, may_be_wide=may_be_wide)
    return verdicts.outputs(reading) if "winner" in declared else reading.outputs()


def _of_statistics(path: str, declared: Mapping[str, Any]) -> Statistics:
    """A file that `pairsig.write_statistics` wrote."""
    if "missing" in declared:
        raise InputError(f"{path}: found --missing, which does nothing here: statistics lack no count\nleave it out")
    data = statistics.read(path)
    warnings = [f"{path}: warning: {sentence}" for sentence in data.inconsistencies()]
    metrics = tuple(map(registry.metric, declared.get("metric", ()))) or (statistics.only_metric(data),)
    data = replace(data, metrics=metrics)
    return replace(data, notes=(summary([path], [data]), *warnings))


def is_statistics(path: str | Path) -> bool:
    """Whether `write_statistics` has written a file: it has metadata."""
    path = Path(path)
    if path.suffix != ".parquet" or not path.is_file():
        return False
    need("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"dataset" in (pq.read_schema(path).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False  # the reader of tables says what is wrong


def _of_outputs(
    paths: Sequence[str],
    references: Sequence[str],
    reader: str,
    declared: Mapping[str, Any],
    systems: Sequence[str],
    runs: Sequence[str],
    notes: Sequence[str],
) -> list[Statistics]:
    """One result per metric, counted in outputs and a reference."""
    if not references:
        raise InputError(f"{paths[0]}: reader {reader} reads outputs, found no reference\n--reference FILE names it")
    if "metric" not in declared and "reader" not in declared and reader == "text":
        raise InputError(
            f"{paths[0]}: found text and no metric, expected one such as bleu, chrf, ter, wer, rouge1_f or accuracy\n"
            "--metric names it (`pairsig metrics` lists all); --reader names a format if this is no text"
        )
    metrics = [registry.metric(name) for name in declared.get("metric") or [readers.reader_of(reader).metric]]
    once([metric.name for metric in metrics], "metric")
    known: set[str] = set()
    for metric in metrics:
        extraction.reader_for(metric, reader)
        known |= extraction.options_for(reader, metric)
    options.check([name for name in declared if name not in known], {"outputs"}, paths[0])
    if "item" in declared and "column" not in declared:
        only_item = "found --item without --column, expected the column of texts, too"
        raise InputError(f"{paths[0]}: {only_item}\nleave it out for texts with one segment per line")
    others = ("metric", "reference", "reader", "document_file", "item")
    of_texts = {name: value for name, value in declared.items() if name not in others}
    gold = extraction.References(paths=references, reader=reader, options=of_texts, item=split(declared.get("item")))
    outputs = [gold.outputs(path) for path in paths]
    results: list[Statistics] = []
    for metric in metrics:
        parts = with_all_classes(
            gold.counted(path, segments, metric, system)
            for path, segments, system in zip(paths, outputs, systems, strict=True)
        )
        settings = gold.settings(metric)
        if "document_file" in declared:
            settings += f"|document_file:{Path(declared['document_file']).name}"
        (data,) = align(parts, systems, runs=runs, **_documents(declared))
        of_parts = chain.from_iterable(part.notes for part in parts)
        all_notes = tuple(dict.fromkeys([*notes, *of_parts]))
        results.append(replace(data, provenance={"settings": settings}, notes=all_notes))
    about = summary([*paths, *references], results, by=parts[0].by)
    return [replace(data, notes=(about, *data.notes)) for data in results]


def _documents(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Domains and documents of the segments, without the lines that are skipped in the outputs."""
    if (path := declared.get("document_file")) is None:
        return {}
    labels = readers.read_documents(path, skip_lines=declared.get("skip_lines", 0))
    return dict(zip(("domains", "documents"), labels, strict=True))


def _together(
    files: Sequence[tuple[Output, ...]],
    systems: Sequence[str],
    runs: Sequence[str],
    declared: Mapping[str, Any],
    reader: str,
    notes: Sequence[str] = (),
    *,
    sources: Sequence[str],
    is_named: bool = False,
) -> list[Statistics]:
    """The systems of tables, files of counts or logs on the same items, with what the result should say about them."""
    asked, is_log = list(declared.get("metric", ())), files[0][0].is_log
    parts = with_all_classes(chain.from_iterable(files))
    called, runs_of = names.of_outputs(files, systems, runs)
    if is_named and len(files) > 1:
        called = list(chain.from_iterable([name] * len(of_file) for name, of_file in zip(systems, files, strict=True)))
    how: dict[str, Any] = {"missing": declared.get("missing"), **_documents(declared)}
    if is_log and declared.get("lower_is_better"):
        lower = [tuple(replace(metric, higher_is_better=False) for metric in part.metrics) for part in parts]
        parts = [replace(part, metrics=metrics) for part, metrics in zip(parts, lower, strict=True)]
    if is_log and tasks.several(parts, called):
        results = tasks.align(parts, called, runs_of, metrics=asked, **how)
    elif parts[0].task and not is_log:  # pairs of systems
        results = []
        for task in dict.fromkeys(part.task for part in parts):
            of_task = [part for part in parts if part.task == task]
            aligned = align(of_task, [part.system for part in of_task], **how)
            results += [replace(data, dataset=task) for data in aligned]
    else:
        if reader not in readers.TABLES:
            parts = _restricted(parts, asked)
        results = align(parts, list(map(run_name, called, runs_of)), runs=runs_of, **how)
    results = [data.in_order() for data in results]
    if "macro" in declared:
        results = [tasks.macro(data) for data in results]
    about = summary(sources, results, parts)
    settings = {"settings": text} if (text := _settings(declared, reader)) else {}
    return [
        replace(data, provenance={**data.provenance, **settings},
                notes=tuple(dict.fromkeys([about, *notes, *data.notes])))
        for data in results
    ]  # fmt: skip


def _settings(declared: Mapping[str, Any], reader: str) -> str:
    """What was declared that changes a number, as a signature has it."""
    parts = [f"reader:{reader}"] if reader not in readers.TABLES else []
    for name, option in options.OPTIONS.items():
        if name in declared and name not in _UNSIGNED:
            value = declared[name]
            text = options.shown(value if isinstance(value, bool) else ",".join(split(value)))
            parts.append(f"{name}:{Path(text).name if option.value == 'FILE' else text}")
    return "|".join(parts)


def _restricted(parts: Sequence[Output], asked: Sequence[Any]) -> list[Output]:
    """The outputs with the metrics that are asked for, which each of them must have."""
    known = list(dict.fromkeys(metric.name for metric in chain.from_iterable(part.metrics for part in parts)))
    chosen = [spelled(str(name), known) for name in asked]
    once(chosen, "metric")
    for name in chosen:
        choose(name, known, f"metric of {parts[0].source}:")
    return [tasks.restricted(part, chosen) for part in parts]


def summary(sources: Sequence[Any], results: Sequence[Statistics], parts: Sequence[Output] = (), by: str = "") -> str:
    """The sentence that says what was read: files, systems, items, runs, values, what is missing, and directions."""
    first = results[0]
    methods = list(dict.fromkeys(chain.from_iterable(data.methods for data in results)))
    runs = sorted(set(chain.from_iterable(Counter(data.methods).values() for data in results)))
    sizes = sorted({len(data.segments) for data in results})
    size = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    by = by or (parts[0].by if parts else "") or "by position"
    about = [f"{len(methods)} system{'s' * (len(methods) != 1)} ({listed(methods)}) × {size} items ({by})"]
    if len(runs) > 1:
        about.append(f"{runs[0]} to {runs[-1]} runs")
    else:
        about.append(f"{runs[0]} runs of each" if any(first.runs) else "no runs")
    if n_documents := len(set(first.documents.tolist()) - {""}):
        about.append(f"{n_documents:,} documents")
    about += [part.samples for part in parts if part.samples][:1]
    scores = [_values(data, metric, parts) for data in results for metric in data.metrics][:6]
    shown = ", ".join(map(str, sources[:4])) + f" and {len(sources) - 4} more" * (len(sources) > 4)
    return f"read {shown}: {', '.join(about)}; {'; '.join(scores)}"


def _values(data: Statistics, metric: Metric, parts: Sequence[Output]) -> str:
    """The values of a metric: `score: 0 or 1, 3 missing, higher is better (assumed)`."""
    better = f"{'higher' if metric.higher_is_better else 'lower'} is better{' (assumed)' if metric.assumed else ''}"
    column = metric.columns[0]
    if column not in data.columns:  # which the test refuses
        return metric.name
    arrays = [part.values[column] for part in parts if column in part.values] if metric.averaged else []
    values = np.concatenate(arrays or [data.counts[:, :, data.columns.index(column)].ravel()]).astype(np.float64)
    known = values[~np.isnan(values)]
    low, high, is_whole = known.min(initial=math.inf), known.max(initial=-math.inf), (known == np.rint(known)).all()
    kind = f"{low:.4g} to {high:.4g}".replace("-", "−") + ("" if is_whole else ", not whole")
    if not metric.averaged:
        kind = f"counts ({listed(metric.columns[:3])}{', …' if len(metric.columns) > 3 else ''})"
    elif is_whole and 0 <= low <= high <= 1:
        kind = "0 or 1"
    n_missing = len(values) - len(known)
    missing = f", {n_missing:,} of {len(values):,} missing" if n_missing else ""
    return f"{metric.name}: {kind}{missing}, {better}"


# Data in memory.


def _of_frames(frames: Sequence[Any], declared: dict[str, Any], called: Sequence[str]) -> list[Statistics]:
    """Data frames: one of all systems, or one per system."""
    options.check(declared, {"tables"}, "the data frame")
    source = "the data frame" if len(frames) == 1 else f"{len(frames)} data frames"
    indices = [frame.index for frame in frames if hasattr(frame, "reset_index")]
    if len(frames) == len(indices) > 1 and not all(map(is_range, indices)):  # an index that is shared identifies items
        frames = [f.rename_axis(index="index") if list(f.index.names) == [None] else f for f in frames]
    files = [_read_table(frame, declared, may_be_wide=len(frames) == 1 and not called) for frame in frames]
    letters = [chr(ord("A") + n) if len(frames) <= 26 else str(n + 1) for n in range(len(frames))]
    systems = list(called) or (letters if len(frames) > 1 else [""])
    return _together(files, systems, [""] * len(frames), declared, "table", sources=[source], is_named=True)


def _of_arrays(data: Mapping[str, Any], declared: Mapping[str, Any]) -> Statistics:
    """Scores (segments,), counts (segments × columns), or either of several runs, (runs × segments × columns)."""
    options.check(declared, {"arrays"}, "arrays")
    asked, scores = declared.get("metric", ()), split(declared.get("score", SCORE), [declared.get("score", SCORE)])
    for noun, several in (("metrics", asked), ("scores", scores)):
        if len(several) > 1:
            raise InputError(f"found the {noun} {listed(map(str, several))} for arrays, expected one")
    lower = declared.get("lower_is_better")
    chosen = registry.metric(asked[0]) if asked else average(scores[0], higher_is_better=not lower)
    if asked and lower:
        raise InputError(
            f"found lower_is_better=True with metric {chosen.name}, expected it with scores only: a metric says itself "
            "which scores are better"
        )
    arrays = {str(system): values for system, values in data.items()}
    labels = {f"{noun}s": declared[noun] for noun in ("document", "domain") if noun in declared}
    result = replace(Statistics.from_arrays(arrays, chosen.columns, **labels), metrics=(chosen,))
    notes = result.inconsistencies()
    if np.isnan(result.counts).any():
        parts = [
            Output(
                source="arrays", items=tuple(result.segments.tolist()), metrics=(chosen,),
                values=dict(zip(chosen.columns, counts.T, strict=True)),
                documents=tuple(result.documents.tolist()), domains=tuple(result.domains.tolist()),
            )
            for counts in result.counts
        ]  # fmt: skip
        (result,) = align(parts, result.systems, runs=result.runs, missing=declared.get("missing"))
        notes = list(result.notes)
    return replace(result, notes=(summary(["arrays"], [result]), *notes))


def of_outcomes(both_right: int, only_a: int, only_b: int, neither: int) -> Statistics:
    """Two systems, A and B, with so many items that both, only one or neither of them gets right."""
    counts = [both_right, only_a, only_b, neither]
    if min(counts) < 0 or not 0 < sum(counts) <= MAX_LINES:
        problem = f"the counts {listed(map(str, counts))}"
        expected = f"expected numbers of items, 0 or more, and at least one item (at most {MAX_LINES:,})"
        raise InputError(f"found {problem}, {expected}")
    right = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], counts, axis=1)
    accuracy = registry.metric("accuracy")
    arrays = {name: np.stack([of, np.ones_like(of)], axis=1) for name, of in zip("AB", right, strict=True)}
    data = replace(Statistics.from_arrays(arrays, accuracy.columns), metrics=(accuracy,))
    return replace(data, notes=(summary(["counts"], [data], by="counted"),))
