"""Statistics from a long table with one row per system, run and segment: order, names and numbers are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

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
    """The attributes of `Statistics` that a long table has; with `smallest`, whole numbers get the smallest type.

    The segments have the order of the first system. An `InputError` names the row that is repeated, missing or wrong.
    """
    for key in ("system", "segment"):
        if key not in table.columns:
            raise InputError(f"{source} has the columns {listed(table.columns)}, expected `{key}` too")
    if not len(table):
        raise InputError(f"{source} is empty, expected one row per system and segment")
    columns = tuple(column for column in table.columns if column not in KEYS)
    counts = _numbers(table, columns, source, memory, smallest)
    labels = {key: _numbered(table, key) for key in KEYS}
    for key in ("system", "segment"):
        codes, names = labels[key]
        if "" in names:
            raise InputError(f"{_place(source, codes == names.index(''))}: {key} is empty, expected a name")
    (bases, base_names), (segments, ids) = labels["system"], labels["segment"]
    systems, names, runs = _systems(labels["system"], labels["run"], source)
    rows = _rows(systems, names, segments, ids, source)
    ids = [ids[code] for code in segments[rows[0]]]

    def of(key: str, rows: NDArray[np.intp], what: str, names: Sequence[str]) -> list[str]:
        """The only label of each system or segment, from its rows in the table."""
        codes, texts = labels[key]
        codes = codes[rows]
        wrong = (codes != codes[:, :1]).any(axis=1)
        if wrong.any():
            name = named(names[int(wrong.argmax())])
            raise InputError(f"{source}: {what} {name} has more than one {key}, expected one")
        return [texts[code] for code in codes[:, 0]]

    # A system without a group is its own group.
    names_of_bases = [base_names[code] for code in bases[rows[:, 0]]]
    groups = of("group", rows, "system", names)
    in_order = rows.size == len(table) and (np.diff(rows.ravel()) == 1).all()
    return {
        "systems": tuple(names),
        "groups": tuple(group or base for group, base in zip(groups, names_of_bases, strict=True)),
        "kinds": tuple(of("kind", rows, "system", names)),
        "segments": label_array(ids, f"{source}: segment"),
        "documents": label_array(of("document", rows.T, "segment", ids), f"{source}: document"),
        "domains": label_array(of("domain", rows.T, "segment", ids), f"{source}: domain"),
        "columns": columns,
        "counts": counts.reshape(*rows.shape, -1) if in_order else counts[rows],
        "runs": runs,
    }


Codes = NDArray[np.int32]
"""A number per row for its label."""


def _numbered(table: pd.DataFrame, key: str) -> tuple[Codes, list[str]]:
    """The labels of a column, numbered in the order of their first row; a missing cell, or column, has the label ""."""
    if key not in table.columns:
        return np.zeros(len(table), dtype=np.int32), [""]
    cells = table[key]
    # As names, 1 and "1" are equal, 1 and 1.0 are not.
    codes, unique = pd.factorize(cells.astype("string") if cells.dtype == object else cells)
    labels = [*pd.Series(unique).astype("string").fillna(""), ""]  # the last one is that of missing cells
    merged, names = pd.factorize(pd.array(labels if (codes < 0).any() else labels[:-1], dtype="object"))
    return merged.astype(np.int32)[codes], list(names)


def _systems(
    bases: tuple[Codes, list[str]], runs: tuple[Codes, list[str]], source: str
) -> tuple[Codes, list[str], tuple[str, ...]]:
    """The system of each row, which may be one of several runs; the names of systems; and the run of each."""
    n_runs = len(runs[1])
    codes, pairs = pd.factorize(bases[0].astype(np.int64) * n_runs + runs[0])
    base_of, run_of = [bases[1][pair // n_runs] for pair in pairs], [runs[1][pair % n_runs] for pair in pairs]
    times = Counter(base_of)
    for base, run in zip(base_of, run_of, strict=True):
        if not run and times[base] > 1:
            raise InputError(f"{source}: some rows of system {named(base)} have no run, expected a run in each of them")
    # The run 2-1 of a and the run 1 of a-2 have the same name.
    merged, names = pd.factorize(pd.array(list(map(run_name, base_of, run_of)), dtype="object"))
    first = np.unique(merged, return_index=True)[1]
    return merged.astype(np.int32)[codes], list(names), tuple(run_of[place] for place in first)


def _rows(systems: Codes, names: list[str], segments: Codes, ids: list[str], source: str) -> NDArray[np.intp]:
    """The row of each system and segment, in the order of the first system's segments: (systems × segments)."""
    of_first = segments[systems == 0]
    position = np.full(len(ids), -1)
    position[of_first] = np.arange(len(of_first))
    place = systems * np.int64(len(ids)) + segments
    order = np.argsort(place, kind="stable")
    again = np.flatnonzero(np.diff(place[order]) == 0)
    if len(again):
        row = int(order[again + 1].min())
        found = f"segment {named(ids[segments[row]])} of system {named(names[systems[row]])}"
        raise InputError(f"{_place(source, row)}: found {found} again, expected it once")
    strange = np.bincount(systems, weights=position[segments] < 0) > 0
    for system in np.flatnonzero(strange | (np.bincount(systems) != len(of_first))):
        texts, theirs = np.array(ids), segments[systems == system]
        raise InputError(segments_differ(source, names[0], texts[of_first], names[system], texts[theirs]))
    rows = np.empty((len(names), len(of_first)), dtype=np.intp)
    rows[systems, position[segments]] = np.arange(len(systems))
    return rows


def _place(source: str, wrong: NDArray[np.bool_] | int) -> str:
    """The place of the first error: the line of a text file (below its header), or the row of a table."""
    row = wrong if isinstance(wrong, int) else int(wrong.argmax())
    return f"{source}, line {row + 2}" if source.endswith((".tsv", ".csv")) else f"{source}, row {row + 1}"


def _numbers(table: pd.DataFrame, columns: Sequence[str], source: str, memory: Memory, smallest: bool) -> NDArray[Any]:
    """The counts (rows × columns) with a plain numeric dtype."""
    if not columns:
        raise InputError(f"{source} has no column of counts, expected one beside {', '.join(KEYS)}")
    arrays = []
    for column in columns:
        values = table[column]
        # Read as text, dates and complex numbers are no numbers, which pandas alone would accept.
        plain = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_complex_dtype(values)
        numeric = values if plain else pd.to_numeric(values.astype("string"), errors="coerce")
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
