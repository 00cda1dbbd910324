"""`read`: files, folders of logs, outputs, data frames and arrays become `Statistics`, which all tests take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from pairsig import readers
from pairsig.core import statistics
from pairsig.core.statistics import Statistics, run_name
from pairsig.io import tables
from pairsig.io.choices import choose, once, sort_options, spelled
from pairsig.io.errors import FLAGS, InputError, Question, listed, named, printable, quoted
from pairsig.io.files import MAX_LINES, beginning
from pairsig.io.memory import Memory
from pairsig.io.packages import need
from pairsig.metrics import Metric, registry
from pairsig.metrics.counts import average
from pairsig.readers import Beginning, extraction, recognition, system_counts, table, tasks
from pairsig.readers.cells import SCORE
from pairsig.readers.system_counts import Missing, SystemCounts
from pairsig.readers.table import Roles

_ACCEPTED = (
    "expected files, a data frame (pandas, polars, pyarrow, …), a mapping from names of systems to arrays, logs of "
    "Inspect or lm_eval, or a pairsig.Statistics"
)


def read(
    data: Any,
    *,
    item: str | Sequence[str] | None = None,
    system: str | None = None,
    systems: str | Sequence[str] | None = None,
    run: str | None = None,
    score: str | Sequence[str] | None = None,
    gold: str | None = None,
    prediction: str | None = None,
    document: Any = None,
    domain: Any = None,
    metric: str | Metric | Sequence[str] | None = None,
    lower_is_better: bool | None = None,
    true: str | Sequence[str] | None = None,
    missing: Missing | None = None,
    missing_value: float | Sequence[float] = (),
    any_value: bool = False,
    sep: str | None = None,
    sheet: str | None = None,
    reference: str | Sequence[str] = (),
    reader: str | None = None,
    options: Mapping[str, str] | None = None,
    even_so: bool = False,
    text_as_is: bool = False,
    column: str | None = None,
    num_refs: int = 1,
) -> Statistics:
    """Read the scores or counts of several systems on one test set.

    Nothing is guessed: a column is used because it has a standard name or because a parameter names it. Where the input
    can be read in more than one way, the error lists the columns and the parameters that would decide.

    Parameters
    ----------
    data
        One of these:

        * a data frame of pandas, polars, pyarrow or another library that narwhals supports, or the path of a table
          (CSV, TSV, JSON, JSON Lines, Parquet, Excel): one row per system and item, or one per item with a column per
          system (`systems`);
        * paths of one file per system (scores, counts, tables, logs, or outputs with a `reference`), the baseline
          first; a mapping gives the systems names, and a list of paths instead of a path has the runs of a system;
        * a mapping from names of systems to arrays: scores (segments,), with `metric` counts (segments × columns), or
          several runs of a system, (runs × segments × columns);
        * logs in memory: a list of `inspect_ai.log.EvalLog`, or of results of
          ``lm_eval.simple_evaluate(…, log_samples=True)``;
        * `Statistics`, which are returned as they are.
    item, system, run, document, domain
        Columns with the item (several columns identify it together), the system, the run (a training with another
        seed, or one of several sampled answers), the document and the domain. For arrays, `document` and `domain` are
        labels, one per segment. Standard names need no declaration: `item`, `id`, `system`, `model`, `run`, `seed`,
        `document`, `domain` and a few more (docs/formats.md).
    systems
        Columns that have the scores, or with `gold` the answers, of one system each.
    score
        Columns of scores, which are averaged; for arrays, the name of the score. Default: the only column of numbers
        without another role.
    gold, prediction
        Columns with the right answer and with the answer of the system; an answer that equals the right one counts 1.
    metric
        A metric to compute from counts or from outputs, by name or as a `Metric`. For logs, which of their scores.
    lower_is_better
        Whether the scores are errors or costs. Default: known for metrics of pairsig and a few names such as `wer`; for
        all others, higher scores are assumed to be better, and the result says so.
    true
        Words that count as 1, such as "pass"; all others count as 0.
    missing
        What to do with items without a score for some system: "wrong" counts them as 0, "drop" leaves them out for all
        systems. Default: refuse them.
    missing_value
        Numbers that stand for a missing score, such as −1.
    any_value
        Whether to accept suspicious values as scores: a few numbers beside 0 and 1, or a last row of totals.
    sep, sheet
        Separator of a text file; sheet of a workbook.
    reference
        Files of references, for outputs.
    reader
        Format of files that do not say it themselves, such as "sigf" or "conllu".
    options
        Options of the reader or of the metric, as `--option` takes them: ``{"scorer": "exact"}``.
    even_so
        Whether to compare logs of other versions, data, prompts or numbers of shots.
    text_as_is
        Whether to count outputs that look like markup, such as JSON or tables, as they are.
    column
        Column or field that has the texts, for outputs and references in tables or JSON Lines.
    num_refs
        Number of references in each line of the file of references, with tabs between them.

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
    compare, rank, compare_methods, transfer : Test what was read.

    Examples
    --------
    >>> import pandas as pd
    >>> import pairsig
    >>> rows = pd.DataFrame(
    ...     {"model": ["old", "old", "new", "new"], "question": [1, 2, 1, 2], "correct": [True, False, True, True]}
    ... )
    >>> pairsig.read(rows, item="question")
    Statistics of a test set: 2 systems, 2 segments
      systems: old, new
      correct: Σ correct / number of segments (higher is better, assumed)
    - higher correct is better (assumed); --lower-is-better (lower_is_better=True) reverses it
    """
    if isinstance(data, Statistics):
        return data
    of_table = _are_paths(data) or not isinstance(data, Mapping | list | tuple)
    roles = Roles(
        item=_labels(item),
        system=_labels(system),
        systems=_labels(systems),
        run=_labels(run),
        score=_labels(score),
        gold=_labels(gold),
        prediction=_labels(prediction),
        document=_labels(document) if of_table else None,
        domain=_labels(domain) if of_table else None,
        lower_is_better=lower_is_better,
        true=_labels(true),
        missing_value=_labels(missing_value),
        any_value=any_value,
        sep=sep,
        sheet=sheet,
    )
    metrics = () if metric is None else _several(metric)
    how: dict[str, Any] = {"missing": missing, "metrics": metrics, "even_so": even_so}
    if _are_paths(data):
        paths = list(data.values()) if isinstance(data, Mapping) else [data] if isinstance(data, str | Path) else data
        return _only(
            read_files(
                [list(map(str, path)) if isinstance(path, list | tuple) else str(path) for path in paths],
                reader,
                roles=roles,
                references=_several(reference),
                options=options or {},
                names=list(data) if isinstance(data, Mapping) else (),
                text_as_is=text_as_is,
                column=column,
                num_refs=num_refs,
                **how,
            )
        )
    if isinstance(data, Mapping):
        columns = ("item", "system", "systems", "run", "gold", "prediction")
        if declared := [name for name in columns if getattr(roles, name) != getattr(Roles(), name)]:
            raise InputError(f"found {declared[0]}= for arrays, expected it for a data frame, as pandas.DataFrame(…)")
        return _of_arrays(data, metric, roles, document, domain, missing)
    if isinstance(data, list | tuple):
        return _only(_of_logs(data, options or {}, **how))
    frames = [table.read(data, replace(roles, metric=metrics or None))]
    import narwhals.stable.v2 as nw

    library = nw.from_native(data).implementation
    return replace(_only(_aligned(frames, [""], [""], missing=missing)), library=library)


def _labels(names: Any) -> Any:
    """Names of columns, words or numbers as text, since a column may be called 0; None if there are none."""
    if names is None or isinstance(names, str) or not isinstance(names, Iterable):
        return None if names is None or names == "" else str(names)
    return [str(name) for name in names] or None


def _several(value: Any) -> tuple[Any, ...]:
    """One value, or several."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _are_paths(data: Any) -> bool:
    """Whether the input is a file or a folder, or several of them."""
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, list | tuple):
        return bool(data) and all(
            isinstance(item, str | Path) or (_are_paths(item) and type(item) is list) for item in data
        )
    return isinstance(data, str | Path)


def _only(parts: Sequence[Statistics]) -> Statistics:
    """The only test set; a question if metrics have scores for different items."""
    if len(parts) == 1:
        return parts[0]
    names = [metric.name for metric in chain.from_iterable(part.metrics for part in parts)]
    raise Question(
        f"found the metrics {listed(names)}, which do not have the same items, expected one", [{"metric": names[0]}]
    )


def _of_arrays(
    data: Mapping[str, Any],
    metric: str | Metric | Sequence[str] | None,
    roles: Roles,
    documents: Any,
    domains: Any,
    missing: Missing | None,
) -> Statistics:
    """Scores (segments,), counts (segments × columns), or either of several runs, (runs × segments × columns)."""
    name = SCORE if roles.score is None else roles.score
    if not isinstance(name, str):
        raise InputError(f"found the scores {listed(name)} for arrays, expected one name")
    if metric is None:
        chosen = average(name, higher_is_better=not roles.lower_is_better)
    else:
        chosen = registry.metric(metric)  # type: ignore[arg-type]
        if roles.lower_is_better:
            raise InputError(
                f"found lower_is_better=True with metric {chosen.name}, expected it with scores only: a metric says "
                "itself which scores are better"
            )
    for system, values in data.items():
        shape = np.shape(values)
        if metric is None and (len(shape) not in (1, 3) or (len(shape) == 3 and shape[2] != 1)):
            raise InputError(
                f"system {named(str(system))} has an array of shape {shape} and no metric is named, expected one "
                "score per segment, (segments,) or (runs, segments, 1); metric= takes counts, (segments, columns)"
            )
    arrays = {str(system): values for system, values in data.items()}
    result = Statistics.from_arrays(arrays, chosen.columns, documents=documents, domains=domains)
    lacking = np.isnan(result.counts).any(axis=2)
    if lacking.any() and missing == "drop":
        result = result.select(segments=np.flatnonzero(~lacking.any(axis=0)))
        result = replace(result, provenance={"missing": f"drop:{int(lacking.any(axis=0).sum())}"})
    elif lacking.any() and missing == "wrong":
        scores = result.counts[~lacking]
        if metric is not None or roles.lower_is_better or ((scores < 0) | (scores > 1)).any():
            raise InputError("missing='wrong' counts 0, expected scores from 0 to 1 of which higher is better")
        result = replace(result, counts=np.nan_to_num(result.counts), provenance={"missing": f"wrong:{lacking.sum()}"})
    elif lacking.any():
        row, segment = np.argwhere(lacking)[0]
        raise InputError(
            f"system {named(result.systems[row])} has no score for segment {named(result.segments[segment])} (NaN or "
            'masked), expected a number; missing="drop" leaves it out for all systems'
        )
    return replace(result, metrics=(chosen,), notes=tuple(result.inconsistencies()))


def _of_logs(logs: Sequence[Any], options: Mapping[str, str], **how: Any) -> list[Statistics]:
    """Logs in memory, one per system."""
    documents = [_in_memory(log, f"log-{number}") for number, log in enumerate(logs, start=1)]
    programs = {program for program, _ in documents}
    if len(programs) != 1:
        raise InputError(f"found logs of {listed(sorted(programs)) or 'no program'}, expected logs of one program")
    (program,) = programs
    (typed,) = sort_options(options, f"reader {program}", recognition.reader_of_counts(program).read)
    return _aligned(
        [recognition.read_all(program, log, **typed) for _, log in documents],
        [log.name for _, log in documents],
        [""] * len(documents),
        **how,
    )


def _in_memory(log: Any, name: str) -> tuple[str, readers.InMemory]:
    """The program of a log, and the document that its reader reads."""
    for program in readers.LOGS:
        if (document := recognition.reader_of_counts(program).document(log)) is not None:
            return program, readers.InMemory(name, document)
    raise InputError(f"found a {type(log).__module__.partition('.')[0]}.{type(log).__name__}, {_ACCEPTED}")


def of_outcomes(both_right: int, only_a: int, only_b: int, neither: int) -> Statistics:
    """Two systems, A and B, with so many items that both, only one or neither of them gets right."""
    table = [both_right, only_a, only_b, neither]
    if min(table) < 0 or not 0 < sum(table) <= MAX_LINES:
        raise InputError(
            f"found the counts {listed(map(str, table))}, expected numbers of items, 0 or more, and at least one item "
            f"(at most {MAX_LINES:,})"
        )
    right = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], table, axis=1)
    accuracy = registry.metric("accuracy")
    arrays = {
        name: np.stack([is_right, np.ones_like(is_right)], axis=1) for name, is_right in zip("AB", right, strict=True)
    }
    return replace(Statistics.from_arrays(arrays, accuracy.columns), metrics=(accuracy,))


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


# Systems in files of outputs, counts or logs.

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1


def read_files(
    paths: Sequence[str | Sequence[str]],
    reader: str | None,
    *,
    roles: Roles | None = None,
    references: Sequence[str] = (),
    names: Sequence[str] = (),
    memory: Memory | None = None,
    **declared: Any,
) -> list[Statistics]:
    """Read systems from tables, from files of counts, from logs, or from outputs and a reference.

    There is one path per system, the baseline first, or several, which are its runs; or one table or folder of all
    systems. A system is called as in `names`, or after its file, without `.gz` or `.xz` and one more suffix (`gpt-4.1`
    for `gpt-4.1.sigf`), or else by its full name or its folders. Runs are named by their common prefix (`a` for `a1`,
    `a2`). Systems of logs have the names in the logs, with the settings in which systems of the same name differ.

    Without a `reader`, `recognition.recognize` names the format, or asks. By default, `metrics` are all that the files
    have, or the default metric of the reader. `options` are those of the reader or of the metrics' extractors; at least
    one of them must have each. There is one domain and document per segment, or none. What else can be `declared` about
    all files are the other attributes of `_Files`. The `memory` bounds a file of statistics, which may be large.

    Returns
    -------
    One result, or several if metrics are extracted from outputs, or if not the same items have a score in all metrics
    of logs. Their notes say what was left out.
    """
    groups = [[group] if isinstance(group, str) else list(group) for group in paths]
    gold = {Path(path).resolve() for path in references}
    left_out = [path for path in chain.from_iterable(groups) if Path(path).resolve() in gold]
    groups = [others for group in groups if (others := [path for path in group if path not in left_out])]
    if left_out and len(groups) < 2:
        raise InputError(f"found the reference {left_out[0]} among the systems, expected at least two others")
    methods, runs = _called(groups)
    if names:
        methods = _repeated(names, groups)
    files = _Files(
        paths=list(chain.from_iterable(groups)),
        methods=methods,
        runs=runs,
        references=references,
        **declared,
        notes=[f"{path} left out, since it is the reference" for path in left_out],
    )
    roles = roles or Roles()
    if reader is None:
        if len(files.paths) == 1 and is_statistics(files.paths[0]) and roles == Roles():
            data = statistics.read(files.paths[0], memory=memory)
            chosen = tuple(map(registry.metric, files.metrics)) or (statistics.only_metric(data),)
            warnings = tuple(f"{files.paths[0]}: warning: {sentence}" for sentence in data.inconsistencies())
            return [replace(data, metrics=chosen, notes=warnings)]
        reader = "table"
        if references or roles.sep is roles.sheet is None:
            reader = recognition.recognize(files.paths, references, files.metrics)
        if reader not in readers.TABLES:
            files.notes.append(f"detected the format {reader}; use --reader to override")
    choose(reader, (*readers.TABLES, *readers.COUNTS, *readers.LOGS, *readers.OUTPUTS), "reader")
    if reader in readers.OUTPUTS:
        return _extracted(files, reader)
    if references:
        raise InputError(f"reader {reader} reads counts, which need no reference, found the reference {references[0]}")
    return _of_tables(files, roles) if reader in readers.TABLES else _of_counts(files, reader, roles)


@dataclass(frozen=True, kw_only=True)
class _Files:
    """Files of systems, and what was declared about all of them; see `read_files`."""

    paths: Sequence[str]
    methods: Sequence[str]
    runs: Sequence[str]
    references: Sequence[str]
    notes: list[str]
    metrics: Sequence[Any] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    domains: Sequence[str] = ()
    documents: Sequence[str] = ()
    missing: Missing | None = None
    even_so: bool = False
    text_as_is: bool = False
    column: str | None = None
    num_refs: int = 1

    def of(self, *names: str) -> dict[str, Any]:
        """Some attributes, as arguments of a function."""
        return {name: getattr(self, name) for name in names}

    def aligned(self, counted: Sequence[tuple[SystemCounts, ...]], metrics: Sequence[Any]) -> list[Statistics]:
        """The systems in the files on the same segments, with the notes on the files first."""
        how = self.of("missing", "even_so", "domains", "documents")
        parts = _aligned(counted, self.methods, self.runs, metrics=metrics, **how)
        return [replace(part, notes=tuple(dict.fromkeys([*self.notes, *part.notes]))) for part in parts]


def _of_tables(files: _Files, roles: Roles) -> list[Statistics]:
    """Systems in tables, whose columns have `roles`, or in files with one score per line."""
    _refuse_old_spellings(files.options)
    roles = replace(roles, metric=tuple(files.metrics) or None)
    several = len(files.paths) > 1
    return files.aligned(
        [_of_scores(path, roles) or table.read(path, roles, several=several) for path in files.paths], ()
    )


def _of_counts(files: _Files, reader: str, roles: Roles) -> list[Statistics]:
    """Systems in files of counts or in logs."""
    if roles != Roles():
        declared = next(name for name in vars(roles) if getattr(roles, name) != getattr(Roles(), name))
        option = "higher-is-better" if getattr(roles, declared) is False else declared.replace("_", "-")
        raise InputError(
            f"found --{option}, which declares columns of a table, but {files.paths[0]} is read as "
            f"{reader}; use --reader table if it is a table"
        )
    (typed,) = sort_options(files.options, f"reader {reader}", recognition.reader_of_counts(reader).read)
    return files.aligned([recognition.read_all(reader, path, **typed) for path in files.paths], files.metrics)


def _of_scores(path: str, roles: Roles) -> tuple[SystemCounts, ...]:
    """One score per line, without importing pandas; nothing if the file has something else, or more was declared."""
    lower = roles.lower_is_better
    if roles != Roles(lower_is_better=lower) or system_counts.width(Beginning(path).rows) != 1:
        return ()
    try:
        rows = [values for _, values in system_counts.read_numbers(path, "one number per line")]
    except InputError:
        return ()
    if {len(values) for values in rows} != {1}:
        return ()
    metric = average(SCORE, higher_is_better=not lower, assumed=lower is None)
    counts = system_counts.of_lines(path, rows, [metric])
    return (replace(counts, unscored={SCORE: np.zeros(len(rows), dtype=bool)}, by_row=True),)


def _refuse_old_spellings(options: Mapping[str, str]) -> None:
    """Refuse options of tables, which were once written `--option KEY=VALUE`."""
    for name, value in options.items():
        if name not in vars(Roles()):
            raise InputError(f"found --option {name}={value}, but tables have no such option")
        flag = name.replace("_", "-")
        raise InputError(f"found --option {name}={value}, expected --{flag}{'' if flag in FLAGS else f' {value}'}")


def _extracted(files: _Files, reader: str) -> list[Statistics]:
    """One result per metric, counted in outputs and a reference."""
    if files.missing is not None:
        raise InputError(f"--missing is for logs and tables, but reader {reader} reads outputs; leave it out")
    if not files.references:
        raise InputError(f"reader {reader} reads outputs, which need a reference: add --reference FILE")
    metrics = [registry.metric(name) for name in files.metrics or [readers.reader_of_outputs(reader).metric]]
    once([metric.name for metric in metrics], "metric")
    functions = [extraction.functions(metric, reader)[1:] for metric in metrics]
    chosen = f"reader {reader} and metric {', '.join(metric.name for metric in metrics)}"
    options = sort_options(files.options, chosen, *chain.from_iterable(functions))
    how = files.of("domains", "documents", "text_as_is", "column", "num_refs")
    gold = extraction.References(paths=files.references, reader=reader, options=options[0], **how)
    counted: list[list[Statistics]] = [[] for _ in metrics]
    for path, system in zip(files.paths, map(run_name, files.methods, files.runs), strict=True):
        segments = gold.outputs(path)
        for metric, of_metric, of_systems in zip(metrics, options[1::2], counted, strict=True):
            of_systems.append(gold.counts(path, segments, metric, of_metric, system, note=files.notes.append))
    return [
        replace(
            statistics.collect(outputs, dataset="", provenance={}),
            runs=tuple(files.runs),
            metrics=(metric,),
            notes=tuple(dict.fromkeys(files.notes)),
        )
        for metric, outputs in zip(metrics, counted, strict=True)
    ]


def _aligned(
    files: Sequence[tuple[SystemCounts, ...]],
    methods: Sequence[str],
    runs: Sequence[str],
    *,
    metrics: Sequence[str] = (),
    **how: Any,
) -> list[Statistics]:
    """Systems of tables, files of counts or logs on the same segments.

    `methods` and `runs` name the method and the run of each file; `how` are options of `system_counts.align`.
    """
    for part in chain.from_iterable(files):
        printable([part.system, part.run], "system", part.source)
        printable([part.task], "task", part.source)
    parts = system_counts.with_all_classes(list(chain.from_iterable(files)))
    methods, runs = _labelled(files, methods, runs)
    if tasks.several(parts, methods):
        test_sets = tasks.align(parts, methods, runs, metrics=metrics, **how)
        return [systems.in_order() for systems in test_sets]
    known = list(dict.fromkeys(metric.name for metric in chain.from_iterable(part.metrics for part in parts)))
    metrics = [spelled(name, known) for name in metrics]
    once(metrics, "metric")
    parts = [system_counts.restricted(part, metrics) for part in parts]
    _check_chosen(parts, metrics)
    test_sets = system_counts.align(parts, list(map(run_name, methods, runs)), runs=runs, **how)
    return [systems.in_order() for systems in test_sets]


def _called(groups: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Names of the method and of the run of every file."""
    stems = iter(_names(list(chain.from_iterable(groups))))
    named = [[next(stems) for _ in group] for group in groups]
    methods = [_in_common(names) for names in named]
    if len(set(methods)) < len(methods) or "" in methods:
        methods = [names[0] for names in named]
    runs: list[str] = []
    for names in named:
        runs += [str(number) for number in range(1, len(names) + 1)] if len(names) > 1 else [""]
    return _repeated(methods, named), runs


def _repeated(methods: Iterable[str], of_methods: Iterable[Sequence[object]]) -> list[str]:
    """The name of each method as often as it has files or results."""
    return list(chain.from_iterable([name] * len(its) for name, its in zip(methods, of_methods, strict=True)))


def _in_common(names: Sequence[str]) -> str:
    """The common prefix of names of runs, without part of a number or a separator at its end."""
    if len(names) == 1:
        return names[0]
    prefix = names[0][: _n_shared(names)]
    if any(name[len(prefix) :][:1].isdigit() for name in names):
        prefix = prefix.rstrip("0123456789")
    return prefix.rstrip("-_./ ")


def _names(paths: Sequence[str]) -> Sequence[str]:
    """Distinct names, one per system: the file's name without suffixes or with them, else the folders that differ."""
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times, expected different files")
    files = [Path(path).name for path in paths]
    stems = [_SUFFIX.sub("", name.removesuffix(".gz").removesuffix(".xz")) for name in files]
    return next(names for names in (stems, files, _different(paths), paths) if len(set(names)) == len(names))


def _different(paths: Sequence[str]) -> list[str]:
    """The parts of paths without those that all begin or end with."""
    parts = [Path(path).parts for path in paths]
    first, last = _n_shared(parts), _n_shared([names[::-1] for names in parts])
    return ["/".join(names[first : len(names) - last]) for names in parts]


def _n_shared(sequences: Sequence[Sequence[str]]) -> int:
    """How many entries all of them begin with."""
    return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, zip(*sequences, strict=False)))


def _labelled(
    files: Sequence[Sequence[SystemCounts]], methods: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the method and the run of every system: those in a single file, else those of the files."""
    for of_file, run in zip(files, runs, strict=True):
        systems = list(dict.fromkeys(part.system for part in of_file))
        if len(systems) > 1 and len(files) > 1:
            raise InputError(f"{of_file[0].source}: found the systems {listed(systems)}, expected one system per file")
        if run and of_file[0].run:
            raise InputError(
                f"{of_file[0].source}: found the runs {listed(part.run for part in of_file)}, expected one run per "
                "file if several files are runs of a system"
            )
    if all(part.log for part in chain.from_iterable(files)):
        named = _as_logged(files, methods)
    elif len(files) == 1 and all(part.system for part in files[0]):
        named = [part.system for part in files[0]]
    else:
        named = _repeated(methods, files)
    runs_of_files = zip(chain.from_iterable(files), _repeated(runs, files), strict=True)
    return named, [part.run or run for part, run in runs_of_files]


def _as_logged(files: Sequence[Sequence[SystemCounts]], methods: Sequence[str]) -> list[str]:
    """Names of the method of every system in logs; files with the same entry in `methods` are runs of it.

    A method has the name that its logs give to the system. Namesakes get the settings in which they differ, and where
    these are the same, the entry in `methods`.
    """
    settings_of: dict[tuple[str, str], Mapping[str, str]] = {}
    methods = _same_model(files, methods)
    for parts, method in zip(files, methods, strict=True):
        for part in parts:
            systems = [system for system, known_method in settings_of if known_method == method]
            others = [system for system in systems if system != part.system]
            if others and len(files) > 1:
                raise InputError(
                    f"{part.source} contains {part.system}, expected a run of {others[0]} as in the previous file"
                )
            settings_of.setdefault((part.system, method), part.settings)
    called = {}
    for system, method in settings_of:
        namesakes = [settings for (name, _), settings in settings_of.items() if name == system]
        keys = dict.fromkeys(chain.from_iterable(namesakes))
        differing = [key for key in keys if len({settings.get(key, "") for settings in namesakes}) > 1]
        own_settings = settings_of[system, method]
        description = ", ".join(f"{key}={own_settings[key]}" for key in differing if own_settings.get(key))
        called[system, method] = f"{system} ({description})" if description else system
    times = Counter(called.values())
    called = {key: f"{name} ({key[1]})" if times[name] > 1 else name for key, name in called.items()}
    methods_of_files = zip(chain.from_iterable(files), _repeated(methods, files), strict=True)
    return [called[part.system, method] for part, method in methods_of_files]


def _same_model(files: Sequence[Sequence[SystemCounts]], methods: Sequence[str]) -> Sequence[str]:
    """The names in `methods`, with the same one for files with different tasks of one of several models."""
    tasks: dict[str, list[str]] = {}
    for parts in files:
        tasks.setdefault(parts[0].system, []).extend({part.task for part in parts})
    name_of: dict[str, str] = {}
    names = []
    for parts, name in zip(files, methods, strict=True):
        model = parts[0].system
        different_tasks = len(set(tasks[model])) == len(tasks[model])
        names.append(name_of.setdefault(model, name) if len(tasks) > 1 and different_tasks else name)
    return names


def _check_chosen(parts: Sequence[SystemCounts], names: Sequence[str]) -> None:
    """Raise `InputError` for metrics that some systems do not have."""
    by_name = [metric.name for metric in system_counts.shared(parts)]
    for name in names if by_name else ():  # if they share none, the message of `align` lists those of each
        if name not in by_name:
            # If all systems have a metric with that name, its columns differ.
            lacking = next(
                (part for part in parts if name not in {of_part.name for of_part in part.metrics}), parts[-1]
            )
            raise InputError(f"{lacking.source} has no metric {quoted(name)}, expected one of {listed(by_name)}")
