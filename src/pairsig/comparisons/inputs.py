"""What `compare`, `rank`, `compare_methods` and `transfer` accept: data frames, arrays, files and `Statistics`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from pairsig.comparisons.all_pairs import only_metric
from pairsig.core import statistics
from pairsig.core.statistics import KEYS, Statistics, with_names
from pairsig.io import tables
from pairsig.io.choices import choose
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.memory import Memory
from pairsig.metrics import Metric, registry
from pairsig.readers.system_counts import average

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from numpy.typing import ArrayLike

Data: TypeAlias = "Statistics | IntoDataFrame | Mapping[str, ArrayLike] | str | Path"
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
    """The scores that a user passed, and how to hand results back.

    Attributes
    ----------
    statistics, metric
        The counts of all systems, and the metric to compute from them.
    as_given
        Turns a table of results into the kind of frame that was passed; pandas for everything else.
    notes
        Sentences about the data that the user should read.
    """

    statistics: Statistics
    metric: Metric
    as_given: Callable[[pd.DataFrame], Any]
    notes: tuple[str, ...]


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
    def chosen(self) -> Metric | None:
        """The metric or the column of scores that was named."""
        if self.score is not None and self.metric is not None:
            raise InputError(f"found score={self.score!r} and metric={_called(self.metric)!r}, expected one of them")
        if self.metric is not None:
            return registry.metric(self.metric)
        return None if self.score is None else self.averaged(str(self.score))

    def averaged(self, name: str) -> Metric:
        """The mean of a column."""
        return average(name, higher_is_better=not self.lower_is_better)


def read(data: Data, columns: Columns, memory: Memory | None = None) -> Given:
    """The statistics and the metric that `data` and the options of the user describe.

    Parameters
    ----------
    data
        A data frame, a mapping from systems to arrays, `Statistics`, or the path of a table.
    columns
        What the user named.
    memory
        Limit for reading a file.

    Raises
    ------
    InputError
        For data of another kind, for columns that do not exist, and for values that are missing or not numbers.
    """
    if isinstance(data, Statistics):
        if columns.labels:
            name = next(iter(columns.labels))
            raise InputError(f"found {name}= with a pairsig.Statistics, expected none: it already names its {name}s")
        return _whole(data, columns)
    if isinstance(data, str | Path):
        if columns.labels:
            return _of_frame(tables.read(data, known=[]), columns, str(data))
        return _whole(statistics.read(data, memory=memory), columns)
    if isinstance(data, Mapping):
        if {"system", "segment", "run"} & columns.labels.keys():
            return _of_frame(pd.DataFrame(dict(data)), columns, "the data frame")
        return _of_arrays(data, columns)
    return _of_frame(data, columns, "the data frame")


def _called(metric: str | Metric) -> str:
    return metric if isinstance(metric, str) else metric.name


def _unchanged(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


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
    return Given(found, chosen, as_given, tuple(found.inconsistencies()))


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
    return Given(found, chosen, _unchanged, tuple(found.inconsistencies()))


def _of_frame(data: Any, columns: Columns, source: str) -> Given:
    """A data frame of any kind that narwhals knows."""
    import narwhals.stable.v2 as nw

    if isinstance(data, pd.DataFrame):
        data = with_names(data, source)
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
    if not columns.labels and columns.score is None:
        known = [str(name) for name in frame.columns]
        for name in ("system", "segment"):
            if name not in known:
                raise InputError(
                    f"{source} has the columns {listed(known)}, expected `{name}` too; if it has another name, "
                    f'say which: {name}="…"'
                )
        whole = data if isinstance(data, pd.DataFrame) else _pandas({name: frame[name] for name in frame.columns})
        return _whole(Statistics.from_table(whole, dataset="", source=source), columns, as_given)
    chosen, table = _chosen_columns(frame, columns, source)
    _check(table, source, columns.run is not None)
    found = Statistics.from_table(table, dataset="", source=source)
    return Given(found, chosen, as_given, tuple(found.inconsistencies()))


def _chosen_columns(frame: Any, columns: Columns, source: str) -> tuple[Metric, pd.DataFrame]:
    """The metric, and a long table of the columns that were named under the names that pairsig gives them."""
    system = "system" if columns.system is None else columns.system
    known = [str(name) for name in frame.columns]
    chosen = columns.chosen
    wide = not isinstance(system, str | int)
    if chosen is None:
        if not wide:
            raise InputError(
                f"found neither score= nor metric= for {source}, expected the column of the scores, or a metric whose "
                "counts it has"
            )
        chosen = columns.averaged(SCORE)

    def cells(column: Any, what: str) -> list[Any]:
        if not isinstance(column, str | int):
            raise InputError(f"{what} is {quoted(column)}, expected the name of a column")
        found: list[Any] = frame[choose(str(column), known, f"column ({what}):")].to_list()
        return found

    labels: dict[str, Any] = {name: own for name, own in columns.labels.items() if name != "system"}
    found = {what: cells(name, what) for what, name in labels.items()}
    if wide:
        found.setdefault("segment", [str(number) for number in range(1, len(frame) + 1)])
    elif "segment" not in found:
        found["segment"] = cells("segment", "segment")
    if not wide:
        found["system"] = cells(system, "system")
        what = "score" if columns.metric is None else chosen.name
        found |= {_count(name): cells(name, what) for name in chosen.columns}
    else:
        if columns.metric is not None and len(chosen.columns) > 1:
            raise InputError(
                f"metric {chosen.name} is computed from {len(chosen.columns)} columns ({', '.join(chosen.columns)}), "
                "which one column per system cannot hold: expected one row per system and segment"
            )
        (name,) = chosen.columns
        scores = [cells(one, "system") for one in system]  # type: ignore[union-attr]
        found = {what: own * len(scores) for what, own in found.items()}
        found["system"] = [str(one) for one in system for _ in range(len(frame))]  # type: ignore[union-attr]
        found[_count(name)] = [cell for own in scores for cell in own]
    return chosen, _pandas(found)


def _pandas(cells: Mapping[str, Any]) -> pd.DataFrame:
    """Columns as objects, so that no value changes its type on the way."""
    return pd.DataFrame({name: pd.Series(list(own), dtype=object) for name, own in cells.items()})


def _count(name: str) -> str:
    if name in KEYS:
        raise InputError(
            f"the scores are in a column called {named(name)}, which pairsig uses for something else: rename it"
        )
    return name


def _check(table: pd.DataFrame, source: str, with_runs: bool) -> None:
    """Refuse cells that would be read as something else."""
    for column in ("system", "segment", *(["run"] if with_runs else [])):
        missing = table[column].isna().to_numpy()
        if missing.any():
            raise InputError(f"{source}, row {int(missing.argmax()) + 1}: {column} is missing, expected a name")
    for column in table.columns.difference(KEYS):
        for row, cell in enumerate(table[column]):
            if isinstance(cell, str | bytes) or not isinstance(cell, Hashable):
                raise InputError(f"{source}, row {row + 1}: {named(column)} is {named(repr(cell))}, expected a number")


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
