"""Tables of comparisons: read, and merged from parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairsig.core import definitions
from pairsig.core.definitions import Test
from pairsig.core.exceedances import ExceedanceCounts, pvalues
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.stats import near_exact

COLUMNS = COMPARISONS.names
"""Columns of a table of comparisons."""

P_COLUMNS = ("pvalue", "pvalue_one_sided", "pvalue_low", "pvalue_high")
"""Columns of a p-value with its bounds; one of the first two is missing."""


def read(path: str | Path) -> pd.DataFrame:
    """Read a table of comparisons, or a part of one, and check that the cells of every pair are possible."""
    return _checked(tables.read(path, COMPARISONS))


def merge(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Merge comparisons over parts of the resamples, in any order, into the table of a single run.

    An `InputError` is raised if they are not all the parts of one run, or if one is impossible: part k of m of b
    resamples has ⌊k·b/m⌋ − ⌊(k − 1)·b/m⌋ resamples, and the pairs, scores and gains of every other part. Of an
    iterator, at most two parts are in memory.
    """
    summed = ["n_resamples", "n_greater", "n_equal", "n_added", "n_removed"]
    same = [column for column in COLUMNS if column not in (*summed, "estimator", *P_COLUMNS, "signature")]
    merged, expected, n_parts = None, "", 0
    merged_parts: set[int] = set()
    for part in parts:
        table = part.reset_index(drop=True)
        run, n_resamples, k, m = _part(table)
        source = table.attrs["source"] = f"part {k}/{m}"
        whole = f"{run}, one of {m} parts"
        expected = expected or whole
        if whole != expected:
            raise InputError(f"the tables to merge are not parts of one run: {expected}; {whole}")
        if k in merged_parts:
            raise InputError(f"{source} is given twice, expected once")
        merged_parts.add(k)
        n_parts = m
        n_own = k * n_resamples // m - (k - 1) * n_resamples // m
        table = tables.check(table, COMPARISONS, place=partial(_pair, table))
        _refuse(table, table["n_resamples"] != n_own, "n_resamples", f"{n_own}, its part of {n_resamples}")
        table = _checked(table)
        if merged is None:
            merged = table
        elif not table[same].equals(merged[same]):
            raise InputError("the tables to merge compare different pairs or test sets, expected the same in all")
        else:
            merged[summed] += table[summed]
    if merged is None:
        raise InputError("found no table to merge, expected the tables of all parts")
    if len(merged_parts) < n_parts:
        missing = next(k for k in range(1, n_parts + 1) if k not in merged_parts)
        raise InputError(f"part {missing}/{n_parts} is missing, expected all {n_parts}")
    merged["signature"] = merged["signature"].str.replace(r"\|part:.*", "", regex=True)
    return with_pvalues(merged)


def _part(table: pd.DataFrame) -> tuple[str, int, int, int]:
    """The signature of the run that a table is a part of, the run's resamples, and k and m of part k of m."""
    for column in COLUMNS:
        if column not in table.columns:
            raise InputError(f"a table to merge has no column `{column}`, expected {', '.join(COLUMNS)}")
    signatures = table["signature"].astype(str).unique()
    if len(signatures) != 1:
        description = "; ".join(signatures[:2]) or "it has no pairs"
        raise InputError(f"a table to merge has {len(signatures)} signatures ({description}), expected one")
    match = re.fullmatch(r"(.*\|resamples:([0-9]{1,18})\|.*)\|part:([0-9]{1,18})/([0-9]{1,18})", signatures[0])
    if match is None:
        raise InputError(f"a table to merge is not a part: its signature is {signatures[0]}")
    n_resamples, k, m = (int(number) for number in match.groups()[1:])
    if not 1 <= k <= m <= n_resamples:
        raise InputError(
            f"a table to merge is part {k}/{m} of {n_resamples} resamples, expected one from 1/{m} to {m}/{m}"
        )
    return match[1], n_resamples, k, m


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    """`table`, after a check that the numbers of every pair fit each other; the declared columns have been checked."""
    exact = table["test"].isin(definitions.names(exact=True))
    for column, wrong, expected in (
        ("n_segments", table["n_segments"] < 1, "a whole number, 1 or more"),
        ("n_resamples", (table["n_resamples"] < 1) & ~exact, "a whole number, 1 or more"),
        ("gain", table["gain"] < 0, "a number, 0 or more: A is the better system"),
        ("standard_error", table["standard_error"] < 0, "a number, 0 or more"),
        ("correlation", table["correlation"].abs() > 1, "a number from -1 to 1"),
        ("pvalue", table[["pvalue", "pvalue_one_sided"]].isna().all(axis=1), "a number from 0 to 1"),
        (
            "n_greater",
            table["n_greater"] + table["n_equal"] > table["n_resamples"],
            "a sum of n_greater and n_equal up to n_resamples",
        ),
    ):
        _refuse(table, wrong, column, expected)
    return table


def _refuse(table: pd.DataFrame, wrong: pd.Series[bool], column: str, expected: str) -> None:
    """Raise `InputError` for the first pair that is wrong."""
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        shown = tables.shown(table[column].iloc[row])
        raise InputError(f"{table.attrs['source']}, {_pair(table, row)}: {column} is {shown}, expected {expected}")


def _pair(table: pd.DataFrame, row: int) -> str:
    """The systems of a pair, for messages."""
    return " and ".join(named(str(table[side].iloc[row])) for side in ("system_a", "system_b"))


def p_columns(p: NDArray[np.float64], test: Test) -> dict[str, NDArray[np.float64]]:
    """The two columns of p-values: that of the test's number of sides contains them, and the other one nothing."""
    missing = np.full(len(p), np.nan)
    return {"pvalue": p if test.two_sided else missing, "pvalue_one_sided": missing if test.two_sided else p}


def with_pvalues(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the p-values, and the bounds of their Monte Carlo error, that follow from its counts."""
    counted = ExceedanceCounts(
        int(table["n_resamples"].iloc[0]),
        table["n_greater"].to_numpy(dtype=np.int64),
        table["n_equal"].to_numpy(dtype=np.int64),
    )
    test, gains = definitions.from_signature(str(table["signature"].iloc[0])), table["gain"].to_numpy()
    if test.draw == "resample" or test.statistic:
        p, low, high = pvalues(counted, gains, test)
        return table.assign(**p_columns(p, test), pvalue_low=low, pvalue_high=high)
    linear, added, removed, *tilted = (
        table[column].to_numpy(dtype=np.float64)
        for column in ("pvalue_linear", "n_added", "n_removed", "pvalue_tilted", "error_tilted")
    )
    estimated = near_exact.estimates(near_exact.Counts(counted, linear, added, removed, np.array(tilted)), gains, test)
    columns = p_columns(estimated.pvalue, test)
    return table.assign(estimator=estimated.estimator, **columns, pvalue_low=estimated.low, pvalue_high=estimated.high)
