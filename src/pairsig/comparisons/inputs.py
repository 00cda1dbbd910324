"""What functions and commands compare: data frames, arrays, tables and `Statistics`, or files of systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pairsig import readers
from pairsig.comparisons.all_pairs import only_metric
from pairsig.core import statistics
from pairsig.core.statistics import KEYS, Statistics, run_name, with_names
from pairsig.io import tables
from pairsig.io.choices import choose, once, options_of, sort_options, spelled
from pairsig.io.errors import InputError, listed, named, printable, quoted
from pairsig.io.files import beginning
from pairsig.io.memory import Memory
from pairsig.io.packages import need, pd
from pairsig.metrics import Metric, registry
from pairsig.readers import extraction, layout, recognition, system_counts, tasks
from pairsig.readers.counts import table
from pairsig.readers.layout import vocabulary

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from numpy.typing import ArrayLike

Data: TypeAlias = "Given | Statistics | IntoDataFrame | Mapping[str, ArrayLike] | str | Path"
"""The scores of several systems, in any of the forms that `read` understands."""

ColumnName: TypeAlias = str | int

SCORE = "score"
"""Name of the metric where scores come without a name."""

_ACCEPTED = (
    "expected a data frame in memory (pandas, polars, pyarrow, …), a mapping from names of systems to arrays, "
    "a pairsig.Statistics, or the path of a table"
)


@dataclass(frozen=True)
class Given:
    """Scores passed by the user, and the function that converts results to the same kind of frame."""

    statistics: Statistics  # the counts of all systems
    metric: Metric  # to compute from them
    notes: tuple[str, ...]  # sentences about the data that the user should read
    library: Any  # the library of the data frame that was passed, as narwhals calls it; None for all else

    @classmethod
    def of(cls, statistics: Statistics, metric: Metric, library: Any = None, notes: Sequence[str] = ()) -> Given:
        """Statistics with their own notes, after others."""
        return cls(statistics, metric, tuple(dict.fromkeys([*notes, *statistics.inconsistencies()])), library)

    def as_given(self, rows: pd.DataFrame) -> Any:
        """Results as the kind of data frame that was passed, pandas for all else."""
        if self.library is None or self.library.is_pandas():
            return rows
        import narwhals.stable.v2 as nw

        return nw.from_dict({name: _cells(rows[name]) for name in rows}, backend=self.library).to_native()


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns that the user named, and what is known of the score; see `pairsig.compare`."""

    system: ColumnName | Sequence[ColumnName] | None = None
    segment: ColumnName | None = None
    score: ColumnName | None = None
    run: ColumnName | None = None
    document: Any = None
    domain: Any = None
    lower_is_better: bool = False
    metric: str | Metric | None = None

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that say what a row is about, as far as they were named."""
        found = {name: getattr(self, name) for name in ("system", "segment", "run", "document", "domain")}
        return {name: own for name, own in found.items() if own is not None}

    @property
    def laid_out(self) -> layout.Chosen:
        """The same for a table whose layout is to be found."""
        system: list[str] | None = None
        if self.system is not None:
            system = list(map(str, [self.system] if isinstance(self.system, str | int) else self.system))
        run, document, domain = (None if own is None else str(own) for own in (self.run, self.document, self.domain))
        chosen = self.chosen
        return layout.Chosen(
            system=system,
            item=None if self.segment is None else [str(self.segment)],
            score=None if chosen is None else [chosen if self.metric is not None else str(self.score)],
            run=run,
            document=document,
            domain=domain,
            lower_is_better=self.lower_is_better or None,
            python=True,
        )

    @property
    def chosen(self) -> Metric | None:
        """The metric or the column of scores that was named."""
        if self.score is not None and self.metric is not None:
            metric = self.metric if isinstance(self.metric, str) else self.metric.name
            raise InputError(f"found score={self.score!r} and metric={metric!r}, expected one of them")
        if self.metric is not None:
            return registry.metric(self.metric)
        return None if self.score is None else self.averaged(str(self.score))

    def averaged(self, name: str) -> Metric:
        """The mean of a column."""
        return system_counts.average(name, higher_is_better=not self.lower_is_better)


def read(data: Data, columns: Columns, memory: Memory | None = None) -> Given:
    """The statistics and the metric that `data` and the options of the user describe."""
    if isinstance(data, Given):  # of evaluation logs
        if columns != Columns():
            raise InputError("found names of columns with evaluation logs, expected none: their readers know them")
        return data
    if isinstance(data, Statistics):
        if columns.labels:
            name = next(iter(columns.labels))
            raise InputError(f"found {name}= with a pairsig.Statistics, expected none: it already names its {name}s")
        return _whole(data, columns)
    if isinstance(data, str | Path):
        if not columns.labels and columns.score is None and is_statistics(data):
            return _whole(statistics.read(data, memory=memory), columns)
        return _of_cells(table.cells(str(data), columns.laid_out), columns)
    if isinstance(data, Mapping):
        if {"system", "segment", "run"} & columns.labels.keys():
            return _of_frame(pd.DataFrame(dict(data)), columns)
        return _of_arrays(data, columns)
    return _of_frame(data, columns)


def are_statistics(names: Sequence[str]) -> bool:
    """Whether these are the columns of `Statistics`: systems, segments and the counts of a metric."""
    counts = set(names) - {*KEYS, tables.N_ROWS}
    return {"system", "segment"} <= set(names) and (tables.N_ROWS in names or _registered(list(counts)))


def is_statistics(path: str | Path) -> bool:
    """Whether a file was written by `write_statistics`, or has the same columns."""
    path = Path(path)
    if path.suffix == ".parquet" and path.is_file():
        need("pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            schema = pq.read_schema(path)
        except (OSError, ValueError, pa.ArrowException):
            return True  # its reader says what is wrong
        return b"dataset" in (schema.metadata or {}) or are_statistics(schema.names)
    if path.suffix not in tables.SEPARATORS or not path.is_file():
        return False
    head = beginning(path).decode("utf-8", errors="replace").splitlines()[:1]
    return are_statistics([name.strip('"') for name in "".join(head).split(tables.SEPARATORS[path.suffix])])


def _whole(found: Statistics, columns: Columns, library: Any = None) -> Given:
    """Statistics as they are, with the metric that was named or that fits their columns."""
    chosen = columns.chosen
    if chosen is None and len(found.columns) == 1 and not _registered(found.columns):
        chosen = columns.averaged(found.columns[0])
    if chosen is None:
        chosen = only_metric(found)
        if columns.lower_is_better:
            raise InputError(
                f"found lower_is_better=True with metric {chosen.name}, expected it with score= only: a metric says "
                "itself which scores are better"
            )
    return Given.of(found, chosen, library)


def _registered(columns: Sequence[str]) -> bool:
    return any(set(metric.columns) == set(columns) for metric in registry.METRICS.values())


def _of_arrays(data: Mapping[str, Any], columns: Columns) -> Given:
    """Scores (segments,), counts (segments × columns), or either of several runs, (runs × segments × columns)."""
    chosen = columns.chosen
    arrays = {str(name): np.asarray(own) for name, own in data.items()}
    if columns.metric is None:
        for name, own in arrays.items():
            if own.ndim not in (1, 3) or (own.ndim == 3 and own.shape[2] != 1):
                raise InputError(
                    f"system {named(name)} has an array of shape {own.shape} and no metric is named, expected one "
                    "score per segment, (segments,) or (runs, segments, 1); metric= takes counts, (segments, columns)"
                )
        chosen = chosen or columns.averaged(SCORE)
    assert chosen is not None
    found = Statistics.from_arrays(
        {name: own[:, None] if own.ndim == 1 else own for name, own in arrays.items()},
        chosen.columns,
        documents=columns.document,
        domains=columns.domain,
    )
    return Given.of(found, chosen)


_FRAME = "the data frame"
"""Its name in messages."""


def _of_frame(data: Any, columns: Columns) -> Given:
    """A data frame of any kind that narwhals knows."""
    import narwhals.stable.v2 as nw

    if isinstance(data, pd.DataFrame):
        data = with_names(_without_levels(data), _FRAME)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        collect = "; .collect() makes one of a lazy frame" if "Lazy" in kind else ""
        raise InputError(f"found a {kind}, {_ACCEPTED}{collect}") from None
    if not len(frame):
        raise InputError(f"{_FRAME} has no rows, expected one per system and segment")
    if not columns.labels and columns.score is None and are_statistics([str(name) for name in frame.columns]):
        if not isinstance(data, pd.DataFrame):  # as objects, so that no value changes its type on the way
            data = pd.DataFrame({name: pd.Series(list(frame[name]), dtype=object) for name in frame.columns})
        return _whole(Statistics.from_table(data, dataset="", source=_FRAME), columns, frame.implementation)
    cells = {name: _cells(frame[name]) for name in frame.columns}
    return _of_cells(layout.Cells(_FRAME, cells, range(1, len(frame) + 1)), columns, frame.implementation)


def _cells(column: Any) -> list[Any]:
    """The cells of a column; None instead of NA, which only pandas knows."""
    return [None if cell is pd.NA else cell for cell in column.to_list()]


def _of_cells(cells: layout.Cells, columns: Columns, library: Any = None) -> Given:
    """A table of any layout."""
    parts = layout.read(cells, columns.laid_out)
    if cells.source != _FRAME and columns.chosen is None and not columns.lower_is_better:
        (parts,) = _of_named_metric([parts], [cells.source])
    try:
        found, notes = aligned([parts], [parts[0].system or Path(cells.source).stem], [""])
    except InputError as error:  # whose last part is for the command line
        raise InputError(str(error).partition("; use --missing")[0]) from None
    if sum(len(metrics) for _, metrics in found) > 1:
        names = [metric.name for _, metrics in found for metric in metrics]
        raise InputError(
            f"{cells.source}: found the scores {listed(names)}, expected one; choose it, such as "
            f"{columns.laid_out.hint('score', names[:1])}"
        )
    return Given.of(*only(found), library, notes)


def _without_levels(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose index and levels of columns are columns."""
    if isinstance(frame.columns, pd.MultiIndex):
        constant = [level for level, own in enumerate(frame.columns.levels) if len(own) == 1]
        frame = frame.droplevel(constant[: frame.columns.nlevels - 1], axis=1)
    if isinstance(frame.columns, pd.MultiIndex):
        if None in frame.columns.names:
            raise InputError(
                f"{_FRAME} has columns of {frame.columns.nlevels} levels, expected names of these levels, such as "
                "model and seed; or one level"
            )
        scores: Any = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
        frame = scores.rename("score").reset_index()
    if not isinstance(frame.index, pd.RangeIndex) and not set(frame.index.names) & set(frame.columns):
        named = any(name is not None for name in frame.index.names)
        if named or not pd.api.types.is_integer_dtype(frame.index.dtype):
            frame = frame.reset_index()
    return frame.rename_axis(columns=None)


# Systems in files of outputs, counts or logs.

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1


def read_systems(
    paths: Sequence[str | Sequence[str]],
    reader: str | None,
    *,
    references: Sequence[str] = (),
    metrics: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: system_counts.Missing | None = None,
) -> tuple[list[tuple[Statistics, list[Metric]]], list[str]]:
    """Read systems from files of counts (see `pairsig.readers.system_counts`), or from outputs and a reference.

    There is one path per system, or several, which are its runs; or one table or folder of all
    systems. A system is named after its file, without `.gz` or `.xz` and one more suffix (`gpt-4.1` for
    `gpt-4.1.sigf`), or else by its full name or its folders. Runs are named by their common prefix (`a` for `a1`,
    `a2`). Systems of logs have the names in the logs, with the settings in which systems of the same name differ.

    Without a `reader`, the format is detected from the content (`recognition.recognize`), and a note names it. By
    default, `metrics` are all that the files have, or the default metric of the reader. `options` are those of the
    reader or of the metrics' extractors; at least one of them must have each. There is one domain and document per
    segment, or none.

    Returns
    -------
    Pairs of statistics and metrics, and notes for the user on what was left out. There are several pairs if metrics are
    extracted from outputs, or if not the same items have a score in all metrics of logs.
    """
    groups = [[own] if isinstance(own, str) else list(own) for own in paths]
    own_references = {Path(path).resolve() for path in references}
    left_out = [path for group in groups for path in group if Path(path).resolve() in own_references]
    groups = [kept for group in groups if (kept := [path for path in group if path not in left_out])]
    if left_out and len(groups) < 2:
        raise InputError(f"found the reference {left_out[0]} among the systems, expected at least two others")
    files = [path for group in groups for path in group]
    methods, runs = _with_runs(groups) or _called(groups)
    given = dict(options or {})
    notes = [f"{path} left out, since it is the reference" for path in left_out]
    if reader is None:
        reader = recognition.recognize(files, references)
        if reader != "table":  # whose first note says how it was read
            notes.append(f"detected the format {reader}; use --reader to override")
    choose(reader, (*readers.COUNTS, *readers.LOGS, *readers.OUTPUTS), "reader")
    if reader not in readers.OUTPUTS:
        if references:
            raise InputError(
                f"reader {reader} reads counts, which need no reference, found the reference {references[0]}"
            )
        read = system_counts.reader_of_counts(reader).read
        if len(files) > 1 and "one_system" in options_of(read):
            given.setdefault("one_system", "true")
        (typed,) = sort_options(given, f"reader {reader}", read)
        counted = [system_counts.read_all(reader, path, **typed) for path in files]
        if reader in readers.LOGS or any(part.run for own in counted for part in own):
            methods, runs = _called(groups)
        elif _with_runs(groups):
            notes.append(f"runs {listed(dict.fromkeys(runs))} of {listed(dict.fromkeys(methods))} from names of files")
        if reader in ("table", "sigf") and "lower_is_better" not in given:
            counted = _of_named_metric(counted, files, rename=not metrics and "score" not in given)
        found, more = aligned(
            counted, methods, runs, metrics=metrics, domains=domains, documents=documents, missing=missing
        )
        return found, list(dict.fromkeys([*notes, *more]))
    if missing is not None:
        raise InputError(f"--missing is for logs, but reader {reader} reads outputs; leave it out")
    if not references:
        raise InputError(f"reader {reader} reads outputs, which need a reference: add --reference FILE")
    chosen = [registry.metric(name) for name in metrics or [readers.reader_of_outputs(reader).metric]]
    once([metric.name for metric in chosen], "metric")
    taken = [extraction.functions(metric, reader)[1:] for metric in chosen]
    what = f"reader {reader} and metric {', '.join(metric.name for metric in chosen)}"
    sort_options(given, what, *(function for both in taken for function in both))
    found = []
    for metric, (read, count) in zip(chosen, taken, strict=True):
        own = options_of(read) | options_of(count)
        outputs = [
            extraction.extract(
                path,
                references,
                metric=metric,
                reader=reader,
                options={name: value for name, value in given.items() if name in own},
                system=name,
                domains=domains,
                documents=documents,
                note=notes.append,
            )
            for path, name in zip(files, map(run_name, methods, runs), strict=True)
        ]
        collected = statistics.collect(outputs, dataset="", provenance={})
        found.append((replace(collected, runs=tuple(runs)), [metric]))
    return found, list(dict.fromkeys(notes))


def _of_named_metric(
    files: Sequence[Sequence[system_counts.SystemCounts]], paths: Sequence[str], *, rename: bool = True
) -> list[tuple[system_counts.SystemCounts, ...]]:
    """Scores of the metric that the names of all files contain, if the files do not say which metric they have.

    Scores with an unknown name keep it, but lower ones are better if the name of the file is that of an error rate.
    Of several metrics, none is that of the scores, but their direction is if they share it.
    """
    unchanged = [tuple(parts) for parts in files]
    named, own = {_metrics_in(path) for path in paths}, {part.metrics for parts in files for part in parts}
    if len(named) != 1 or () in named or len(own) != 1 or len(next(iter(own))) != 1:
        return unchanged
    (names,), ((metric,),) = named, own
    errors = {vocabulary.is_error(name) for name in names}
    name, rename = " or ".join(names), rename and len(names) == 1
    generic, is_error = vocabulary.key(metric.name) in vocabulary.GENERIC, errors == {True}
    plain = (metric.averaged or metric.name == "mean") and metric.higher_is_better and len(metric.columns) == 1
    if not plain or not (generic or (is_error and not layout.is_a("score", metric.name))):
        return unchanged
    (column,) = metric.columns
    new = name if generic and rename else metric.name
    averaged = replace(system_counts.average(column, higher_is_better=not is_error), name=new)
    says = "the names of the files say" if len(paths) > 1 else "the name of the file says"
    note = f"the scores are {name}, as {says}; {'lower' if is_error else 'higher'} is better"
    if len(errors) > 1:
        note += f", unless you name the columns of scores with {layout.Chosen().hint('lower_is_better', ['COLUMN'])}"
    return [
        tuple(
            replace(
                part,
                metrics=(averaged,),
                unscored={new if own == metric.name else own: rows for own, rows in part.unscored.items()},
                notes=(*part.notes, note),
            )
            for part in parts
        )
        for parts in files
    ]


def _metrics_in(path: str) -> tuple[str, ...]:
    """The metrics in the name of a file, else the one with which that of one of its two folders begins."""
    file, *folders = list(Path(path).parts[:-4:-1])
    found = [vocabulary.metric_in(name) for name in folders]
    first = [metric for metric, name in zip(found, folders, strict=True) if metric and name.lower().startswith(metric)]
    return tuple(vocabulary.metrics_in(file) or first[:1])


def aligned(
    files: Sequence[tuple[system_counts.SystemCounts, ...]],
    methods: Sequence[str],
    runs: Sequence[str],
    *,
    metrics: Sequence[str] = (),
    **how: Any,
) -> tuple[list[tuple[Statistics, list[Metric]]], list[str]]:
    """Systems of files of counts or of logs in memory, on the same segments; see `read_systems`.

    `methods` and `runs` name the method and the run of each file; `how` are options of `system_counts.align`.
    """
    for part in (part for own in files for part in own):
        printable([part.system, part.run], "system", part.source)
        printable([part.task], "task", part.source)
    if len(files) > 1:
        files = [tuple(part for part in own if not part.is_reference) for own in files]
    parts = [part for own in files for part in own]
    methods, runs = _labelled(files, methods, runs)
    if tasks.several(parts, methods):
        found = tasks.align(parts, methods, runs, metrics=metrics, **how)
    else:
        known = list(dict.fromkeys(metric.name for part in parts for metric in part.metrics))
        metrics = [spelled(name, known) for name in metrics]
        once(metrics, "metric")
        parts = [system_counts.restricted(part, metrics) for part in parts]
        _check_chosen(parts, metrics)
        found = system_counts.align(parts, list(map(run_name, methods, runs)), runs=runs, **how)
    return [(own.statistics, list(own.metrics)) for own in found], [note for own in found for note in own.notes]


def _called(groups: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Names of the method and of the run of every file."""
    stems = iter(_names([path for group in groups for path in group]))
    named = [[next(stems) for _ in group] for group in groups]
    methods = [_in_common(names) for names in named]
    if len(set(methods)) < len(methods) or "" in methods:
        methods = [names[0] for names in named]
    return (
        [method for method, names in zip(methods, named, strict=True) for _ in names],
        [str(number) if len(names) > 1 else "" for names in named for number in range(1, len(names) + 1)],
    )


def _with_runs(groups: Sequence[Sequence[str]]) -> tuple[list[str], list[str]] | None:
    """Method and run of every file, if file or folder names contain runs; otherwise None.

    These are names such as `gpt_seed1.csv` or `gpt/seed_1/scores.csv`, at least two for each method. Folds have
    different items and epochs are no replications, so that neither are runs.
    """
    if any(len(group) > 1 for group in groups) or len(groups) < 2 * 2:
        return None
    names = _names([path for (path,) in groups])
    found = [vocabulary.split_run(name, names) for name in names]
    times = Counter(method for method, _ in found)
    runs = [re.sub(r"[\W_]+", "", run) for _, run in found]
    whole = all(method and re.match(r"[a-z]", run) for (method, _), run in zip(found, runs, strict=True))
    others = any(re.match("fold|epoch", run) for run in runs)
    if not whole or others or len(times) < 2 or min(times.values()) < 2 or len(set(found)) < len(found):
        return None
    return [method for method, _ in found], runs


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
    first, last = _n_shared(parts), _n_shared([own[::-1] for own in parts])
    return ["/".join(own[first : len(own) - last]) for own in parts]


def _n_shared(sequences: Sequence[Sequence[str]]) -> int:
    """How many entries all of them begin with."""
    return sum(1 for _ in takewhile(lambda own: len(set(own)) == 1, zip(*sequences, strict=False)))


def _labelled(
    files: Sequence[Sequence[system_counts.SystemCounts]], methods: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the method and the run of every system: those in a single file, else those of the files."""
    for own, run in zip(files, runs, strict=True):
        systems = list(dict.fromkeys(part.system for part in own))
        if len(systems) > 1 and len(files) > 1:
            raise InputError(f"{own[0].source}: found the systems {listed(systems)}, expected one system per file")
        if run and own[0].run:
            raise InputError(
                f"{own[0].source}: found the runs {listed(part.run for part in own)}, expected one run per file if "
                "several files are runs of a system"
            )
    if all(part.log for own in files for part in own):
        named = _as_logged(files, methods)
    elif len(files) == 1 and len({part.system for part in files[0]}) > 1:
        named = [part.system for part in files[0]]
    else:
        named = [method for method, own in zip(methods, files, strict=True) for _ in own]
    return named, [part.run or run for run, own in zip(runs, files, strict=True) for part in own]


def _as_logged(files: Sequence[Sequence[system_counts.SystemCounts]], methods: Sequence[str]) -> list[str]:
    """Names of the method of every system in logs; files with the same entry in `methods` are runs of it."""
    own: dict[tuple[str, str], Mapping[str, str]] = {}
    methods = _same_model(files, methods)
    for parts, method in zip(files, methods, strict=True):
        for part in parts:
            others = [name for name, other in own if other == method and name != part.system and len(files) > 1]
            if others:
                raise InputError(
                    f"{part.source} contains {part.system}, expected a run of {others[0]} as in the previous file"
                )
            own.setdefault((part.system, method), part.settings)
    called = {}
    for system, method in own:
        namesakes = [settings for (name, _), settings in own.items() if name == system]
        keys = dict.fromkeys(key for settings in namesakes for key in settings)
        differing = [key for key in keys if len({settings.get(key, "") for settings in namesakes}) > 1]
        mine = own[system, method]
        description = ", ".join(f"{key}={mine[key]}" for key in differing if mine.get(key))
        called[system, method] = f"{system} ({description})" if description else system
    times = Counter(called.values())
    called = {key: f"{name} ({key[1]})" if times[name] > 1 else name for key, name in called.items()}
    return [called[part.system, method] for method, parts in zip(methods, files, strict=True) for part in parts]


def _same_model(files: Sequence[Sequence[system_counts.SystemCounts]], methods: Sequence[str]) -> Sequence[str]:
    """The names in `methods`, with the same one for files with different tasks of one of several models."""
    tasks: dict[str, list[str]] = {}
    for parts in files:
        tasks.setdefault(parts[0].system, []).extend({part.task for part in parts})
    homes: dict[str, str] = {}
    return [
        homes.setdefault(parts[0].system, name)
        if len(tasks) > 1 and len(set(own := tasks[parts[0].system])) == len(own)
        else name
        for parts, name in zip(files, methods, strict=True)
    ]


def _check_chosen(parts: Sequence[system_counts.SystemCounts], names: Sequence[str]) -> None:
    """Raise `InputError` for metrics that some systems do not have."""
    by_name = [metric.name for metric in system_counts.shared(parts)]
    for name in names if by_name else ():  # if they share none, the message of `align` lists those of each
        if name not in by_name:
            # If all systems have a metric with that name, its columns differ.
            lacking = next((part for part in parts if name not in {own.name for own in part.metrics}), parts[-1])
            raise InputError(f"{lacking.source} has no metric {quoted(name)}, expected one of {listed(by_name)}")


def only(found: Sequence[tuple[Statistics, Sequence[Metric]]]) -> tuple[Statistics, Metric]:
    """The only metric that `read_systems` found; an `InputError` if there are several."""
    names = [metric.name for _, metrics in found for metric in metrics]
    if len(names) > 1:
        raise InputError(f"found the metrics {listed(names)}; choose one with --metric")
    ((statistics, (metric,)),) = found
    return statistics, metric
