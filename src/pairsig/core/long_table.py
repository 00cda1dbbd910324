"""Statistics from a long table with one row per system, run and segment: order, names and numbers are checked."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsig.core.labels import label_array, run_name, segments_differ
from pairsig.io.columns import STATISTICS
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.memory import Memory
from pairsig.io.packages import pd

KEYS = STATISTICS.names
"""Columns that identify a row; every other column of a table of statistics is a count."""

_NUMBERED = 80
"""Bytes of memory per row that numbering systems and segments takes."""


def fields(table: pd.DataFrame, source: str, memory: Memory, *, smallest: bool = False) -> dict[str, Any]:
    """The attributes of `Statistics` that a long table has; with `smallest`, whole numbers get the smallest type."""
    for key in ("system", "segment"):
        if key not in table.columns:
            raise InputError(f"{source} has the columns {listed(table.columns)}, expected `{key}` too")
    if not len(table):
        raise InputError(f"{source} is empty, expected one row per system and segment")
    columns = tuple(column for column in table.columns if column not in KEYS)
    counts = _numbers(table, columns, source, memory, smallest)
    bases, segments = _Labels.of(table, "system"), _Labels.of(table, "segment")
    for key, labels in (("system", bases), ("segment", segments)):
        if "" in labels.names:
            raise InputError(
                f"{_place(source, labels.codes == labels.names.index(''))}: {key} is empty, expected a name"
            )
    systems, runs = _systems(bases, _Labels.of(table, "run"), source)
    rows = _rows(systems, segments, source)
    ids = label_array([segments.names[code] for code in segments.codes[rows[0]]], f"{source}: segment")

    def of_systems(key: str) -> tuple[str, ...]:
        labels = _Labels.of(table, key)
        codes = labels.codes[rows]
        _check_one(codes, f"{source}: system", systems.names, key)
        return tuple(labels.names[code] for code in codes[:, 0])

    def of_segments(key: str) -> NDArray[np.str_]:
        labels = _Labels.of(table, key)
        codes = labels.codes[rows]
        _check_one(codes.T, f"{source}: segment", ids, key)
        return label_array([labels.names[code] for code in codes[0]], f"{source}: {key}")

    in_order = rows.size == len(table) and (np.diff(rows.ravel()) == 1).all()
    groups = of_systems("group")
    return {
        "systems": tuple(systems.names),
        # A system without a group is its own group.
        "groups": tuple(group or bases.names[bases.codes[row]] for group, row in zip(groups, rows[:, 0], strict=True)),
        "kinds": of_systems("kind"),
        "segments": ids,
        "documents": of_segments("document"),
        "domains": of_segments("domain"),
        "columns": columns,
        "counts": counts.reshape(*rows.shape, -1) if in_order else counts[rows],
        "runs": runs,
    }


class _Labels(NamedTuple):
    """The labels of one key column: a number per row, and the label of each number."""

    codes: NDArray[np.int32]
    names: list[str]

    @classmethod
    def of(cls, table: pd.DataFrame, key: str) -> _Labels:
        """Number the labels in the order of their first row; a missing cell, or column, has the label ""."""
        if key not in table.columns:
            return cls(np.zeros(len(table), dtype=np.int32), [""])
        cells = table[key]
        # As names, 1 and "1" are equal, 1 and 1.0 are not.
        codes, unique = pd.factorize(cells.astype("string") if cells.dtype == object else cells)
        labels = pd.Series(unique).astype("string").fillna("").tolist()
        if (codes < 0).any():  # the last label is the one of missing cells
            labels.append("")
        merged, names = pd.factorize(pd.array(labels, dtype="object"))
        return cls(merged.astype(np.int32)[codes], list(names))


def _systems(bases: _Labels, runs: _Labels, source: str) -> tuple[_Labels, tuple[str, ...]]:
    """The system of each row, which may be one of several runs; and the run of each system."""
    n_runs = len(runs.names)
    codes, pairs = pd.factorize(bases.codes.astype(np.int64) * n_runs + runs.codes)
    base_of, run_of = [bases.names[pair // n_runs] for pair in pairs], [runs.names[pair % n_runs] for pair in pairs]
    times = Counter(base_of)
    for base, run in zip(base_of, run_of, strict=True):
        if not run and times[base] > 1:
            raise InputError(f"{source}: some rows of system {named(base)} have no run, expected a run in each of them")
    # The run 2-1 of a and the run 1 of a-2 have the same name.
    merged, names = pd.factorize(pd.array(list(map(run_name, base_of, run_of)), dtype="object"))
    first = np.unique(merged, return_index=True)[1]
    return _Labels(merged.astype(np.int32)[codes], list(names)), tuple(run_of[place] for place in first)


def _rows(systems: _Labels, segments: _Labels, source: str) -> NDArray[np.intp]:
    """The row of each system and segment, in the order of the first system's segments: (systems × segments)."""
    n_systems = len(systems.names)
    of_first = segments.codes[systems.codes == 0]
    position = np.full(len(segments.names), -1)
    position[of_first] = np.arange(len(of_first))
    place = systems.codes * np.int64(len(segments.names)) + segments.codes
    order = np.argsort(place, kind="stable")
    again = np.flatnonzero(np.diff(place[order]) == 0)
    if len(again):
        row = int(order[again + 1].min())
        raise InputError(
            f"{_place(source, row)}: found segment {named(segments.names[segments.codes[row]])} of system "
            f"{named(systems.names[systems.codes[row]])} again, expected it once"
        )
    strange = np.bincount(systems.codes, weights=position[segments.codes] < 0) > 0
    for system in np.flatnonzero(strange | (np.bincount(systems.codes) != len(of_first))):
        ids, theirs = np.array(segments.names), segments.codes[systems.codes == system]
        raise InputError(segments_differ(source, systems.names[0], ids[of_first], systems.names[system], ids[theirs]))
    rows = np.empty((n_systems, len(of_first)), dtype=np.intp)
    rows[systems.codes, position[segments.codes]] = np.arange(len(systems.codes))
    return rows


def _check_one(codes: NDArray[np.int32], of: str, names: Sequence[str] | NDArray[np.str_], key: str) -> None:
    """Refuse a system or segment with several labels, whose codes are one row."""
    wrong = (codes != codes[:, :1]).any(axis=1)
    if wrong.any():
        raise InputError(f"{of} {named(names[int(wrong.argmax())])} has more than one {key}, expected one")


def _place(source: str, wrong: NDArray[np.bool_] | int) -> str:
    """The place of the first error: the line of a text file (below its header), or the row of a table."""
    row = wrong if isinstance(wrong, int) else int(wrong.argmax())
    description = f"line {row + 2}" if source.endswith((".tsv", ".csv")) else f"row {row + 1}"
    return f"{source}, {description}"


def _numbers(table: pd.DataFrame, columns: Sequence[str], source: str, memory: Memory, smallest: bool) -> NDArray[Any]:
    """The counts (rows × columns) with a plain numeric dtype."""
    if not columns:
        raise InputError(f"{source} has no column of counts, expected one beside {', '.join(KEYS)}")
    arrays = []
    for column in columns:
        values = table[column]
        numeric = _numeric(values)
        if numeric.isna().any():
            wrong = numeric.isna().to_numpy(dtype=bool)
            cell = values[wrong].iloc[0]
            description = "empty or NaN" if pd.isna(cell) else quoted(cell)
            raise InputError(f"{_place(source, wrong)}: {named(column)} is {description}, expected a number")
        array = numeric.to_numpy()
        arrays.append(array.astype(np.int64) if array.dtype == np.bool_ else array)
    dtype = np.result_type(*arrays)
    if dtype.kind in "iu" and smallest:
        dtype = np.result_type(*map(smallest_type, arrays))
    elif dtype.kind in "iu" and dtype.itemsize < 8:
        dtype = np.dtype(np.int64)
    memory.require(len(table) * (len(columns) * dtype.itemsize + _NUMBERED), f"the counts of {source}")
    counts = np.empty((len(table), len(columns)), dtype=dtype)
    for place, array in enumerate(arrays):
        counts[:, place] = array
    return counts


def smallest_type(values: NDArray[Any]) -> np.dtype[Any]:
    """The smallest type that holds these integers and their negatives; their own type from 2⁶³ on."""
    most = max(-int(values.min()), int(values.max()))
    return np.min_scalar_type(-1 - most) if most < 2**63 else values.dtype


def _numeric(values: pd.Series[Any]) -> pd.Series[Any]:
    """The cells as numbers, missing where a cell is not one. Pandas alone would accept dates and complex numbers."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        each = _numeric(pd.Series(values.cat.categories))
        return each.reindex(values.cat.codes).set_axis(values.index)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_complex_dtype(values):
        return values
    if not pd.api.types.is_string_dtype(values.dtype) or values.dtype == object:
        values = values.astype(object).map(_real)
    return pd.to_numeric(values, errors="coerce")


def _real(cell: Any) -> Any:
    """A cell of a column of objects if it is text or a real number; None for everything else, such as dates."""
    if isinstance(cell, str | bool | np.bool_):
        return cell
    # Durations of numpy would count as real numbers.
    if type(cell) is np.timedelta64 or not isinstance(cell, numbers.Real | Decimal):
        return None
    if isinstance(cell, numbers.Integral) and abs(int(cell)) < 2**63:
        return int(cell)
    try:
        return float(cell)
    except (OverflowError, ValueError):  # an integer of 400 digits, or a signalling NaN
        return None
