"""What `compare`, `rank`, `compare_methods` and `transfer` accept: data frames, arrays, files and `Statistics`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pairsig.comparisons.all_pairs import only_metric
from pairsig.comparisons.baseline import aligned, only
from pairsig.core import statistics
from pairsig.core.statistics import KEYS, Statistics, with_names
from pairsig.io import tables
from pairsig.io.errors import InputError, listed, named
from pairsig.io.files import beginning
from pairsig.io.memory import Memory
from pairsig.io.packages import need, pd
from pairsig.metrics import Metric, registry
from pairsig.readers import layout
from pairsig.readers.counts import table
from pairsig.readers.system_counts import average

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


def _unchanged(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


@dataclass(frozen=True)
class Given:
    """The scores that a user passed, and how to hand results back."""

    statistics: Statistics  # the counts of all systems
    metric: Metric  # to compute from them
    as_given: Callable[[pd.DataFrame], Any]  # turns results into the kind of frame that was passed, pandas for all else
    notes: tuple[str, ...]  # sentences about the data that the user should read

    @classmethod
    def of(cls, statistics: Statistics, metric: Metric, as_given: Callable[[pd.DataFrame], Any] = _unchanged) -> Given:
        """Statistics with their own notes."""
        return cls(statistics, metric, as_given, tuple(statistics.inconsistencies()))


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
        chosen = self.chosen
        return layout.Chosen(
            system=system,
            item=None if self.segment is None else [str(self.segment)],
            score=None if chosen is None else [chosen if self.metric is not None else str(self.score)],
            run=None if self.run is None else str(self.run),
            document=None if self.document is None else str(self.document),
            domain=None if self.domain is None else str(self.domain),
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
        return average(name, higher_is_better=not self.lower_is_better)


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
        return _of_cells(table.cells(str(data), columns.laid_out), columns, _unchanged)
    if isinstance(data, Mapping):
        if {"system", "segment", "run"} & columns.labels.keys():
            return _of_frame(pd.DataFrame(dict(data)), columns, "the data frame")
        return _of_arrays(data, columns)
    return _of_frame(data, columns, "the data frame")


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


def _whole(found: Statistics, columns: Columns, as_given: Callable[[pd.DataFrame], Any] = _unchanged) -> Given:
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
    return Given.of(found, chosen, as_given)


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


def _of_frame(data: Any, columns: Columns, source: str) -> Given:
    """A data frame of any kind that narwhals knows."""
    import narwhals.stable.v2 as nw

    if isinstance(data, pd.DataFrame):
        data = with_names(_without_levels(data, source), source)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        collect = "; .collect() makes one of a lazy frame" if "Lazy" in kind else ""
        raise InputError(f"found a {kind}, {_ACCEPTED}{collect}") from None

    def as_given(rows: pd.DataFrame) -> Any:
        return _like(rows, frame)

    if not len(frame):
        raise InputError(f"{source} has no rows, expected one per system and segment")
    if not columns.labels and columns.score is None and are_statistics([str(name) for name in frame.columns]):
        if not isinstance(data, pd.DataFrame):  # as objects, so that no value changes its type on the way
            data = pd.DataFrame({name: pd.Series(list(frame[name]), dtype=object) for name in frame.columns})
        return _whole(Statistics.from_table(data, dataset="", source=source), columns, as_given)
    cells = {name: [None if cell is pd.NA else cell for cell in frame[name].to_list()] for name in frame.columns}
    return _of_cells(layout.Cells(source, cells, range(1, len(frame) + 1)), columns, as_given)


def _of_cells(cells: layout.Cells, columns: Columns, as_given: Callable[[pd.DataFrame], Any]) -> Given:
    """A table of any layout."""
    parts = layout.read(cells, columns.laid_out)
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
    statistics, metric = only(found)
    return Given(statistics, metric, as_given, tuple(dict.fromkeys([*notes, *statistics.inconsistencies()])))


def _without_levels(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """A frame whose index and levels of columns are columns."""
    if isinstance(frame.columns, pd.MultiIndex):
        constant = [level for level, own in enumerate(frame.columns.levels) if len(own) == 1]
        frame = frame.droplevel(constant[: frame.columns.nlevels - 1], axis=1)
    if isinstance(frame.columns, pd.MultiIndex):
        if None in frame.columns.names:
            raise InputError(
                f"{source} has columns of {frame.columns.nlevels} levels, expected names of these levels, such as "
                "model and seed; or one level"
            )
        scores: Any = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
        frame = scores.rename("score").reset_index()
    if not isinstance(frame.index, pd.RangeIndex) and not set(frame.index.names) & set(frame.columns):
        named = any(name is not None for name in frame.index.names)
        if named or not pd.api.types.is_integer_dtype(frame.index.dtype):
            frame = frame.reset_index()
    return frame.rename_axis(columns=None)


def _like(rows: pd.DataFrame, frame: Any) -> Any:
    """The rows as the kind of frame that was passed."""
    import narwhals.stable.v2 as nw

    if frame.implementation.is_pandas():
        return rows
    found = {
        name: [None if cell is pd.NA else cell for cell in rows[name].tolist()]  # which only pandas knows
        for name in rows.columns
    }
    return nw.from_dict(found, backend=frame.implementation).to_native()
