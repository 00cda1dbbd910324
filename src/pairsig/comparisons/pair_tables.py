"""Tables of comparisons: read, and merged from parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    return _checked(tables.read(path, COMPARISONS), str(path))


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
        source = f"part {k}/{m}"
        whole = f"{run}, one of {m} parts"
        expected = expected or whole
        if whole != expected:
            raise InputError(f"the tables to merge are not parts of one run: {expected}; {whole}")
        if k in merged_parts:
            raise InputError(f"{source} is given twice, expected once")
        merged_parts.add(k)
        n_parts = m
        n_own = k * n_resamples // m - (k - 1) * n_resamples // m
        _refuse(table, table["n_resamples"] != n_own, "n_resamples", f"{n_own}, its part of {n_resamples}", source)
        table = _checked(table, source)
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


_POSSIBLE = {
    "n_segments": (1, np.inf, "a whole number, 1 or more"),
    "n_resamples": (1, np.inf, "a whole number, 1 or more"),
    "n_greater": (0, np.inf, "a whole number, 0 or more"),
    "n_equal": (0, np.inf, "a whole number, 0 or more"),
    "score_a": (-np.inf, np.inf, "a number"),
    "score_b": (-np.inf, np.inf, "a number"),
    "gain": (0, np.inf, "a number, 0 or more: A is the better system"),
    "standard_error": (0, np.inf, "a number, 0 or more"),
    "correlation": (-1, 1, "a number from -1 to 1"),
    "pvalue": (0, 1, "a number from 0 to 1"),
    "pvalue_one_sided": (0, 1, "a number from 0 to 1"),
    "pvalue_low": (0, 1, "a number from 0 to 1"),
    "pvalue_high": (0, 1, "a number from 0 to 1"),
}
"""The least and the largest cell of columns, and how a message says so. Correlations and one p-value may be missing."""


def _checked(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """`table` with its counts as integers, after a check that the cells of every pair are possible."""
    converted = {}
    for column, (least, most, expected) in _POSSIBLE.items():
        numbers, is_count = pd.to_numeric(table[column], errors="coerce").to_numpy(), column.startswith("n_")
        possible = np.isfinite(numbers) & (numbers >= least) & (numbers <= most)
        if column == "n_resamples":  # exact tests draw nothing
            possible |= (numbers == 0) & table["test"].isin(definitions.names(exact=True)).to_numpy(bool)
        if is_count:
            possible &= numbers % 1 == 0
        if column == "correlation":
            possible |= table[column].isna().to_numpy(bool)
        if column in P_COLUMNS[:2]:
            (other_column,) = {*P_COLUMNS[:2]} - {column}
            possible |= (table[column].isna() & table[other_column].notna()).to_numpy(bool)
        _refuse(table, ~possible, column, expected, source)
        converted[column] = numbers.astype(np.int64 if is_count else np.float64)
    table = table.assign(**converted)
    many = (table["n_greater"] + table["n_equal"] > table["n_resamples"]).to_numpy(bool)
    _refuse(table, many, "n_greater", "a sum of n_greater and n_equal up to n_resamples", source)
    return table


def _refuse(table: pd.DataFrame, wrong: NDArray[np.bool_], column: str, expected: str, source: str) -> None:
    """Raise `InputError` for the first pair that is wrong."""
    if wrong.any():
        row = table[wrong].iloc[0]
        pair = f"{named(str(row['system_a']))} and {named(str(row['system_b']))}"
        raise InputError(f"{source}, {pair}: {column} is {tables.shown(row[column])}, expected {expected}")


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
