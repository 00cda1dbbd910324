"""Tests of all pairs of systems of a dataset, over all resamples or a part of them: the tables of the study."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons.compare import results_of
from pairsig.comparisons.inputs import chosen_metric
from pairsig.core import definitions
from pairsig.core.definitions import Test
from pairsig.core.exceedances import ExceedanceCounts, pvalues
from pairsig.core.influence import errors_and_correlations
from pairsig.core.loops import check_few
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics
from pairsig.core.totals import Progress, Resampling, Seed, seed_of
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from pairsig.io.errors import InputError, named
from pairsig.io.memory import Memory, shown
from pairsig.io.packages import pd
from pairsig.metrics import Metric
from pairsig.stats import near_exact, paired
from pairsig.stats.paired import Unit

WHOLE = "whole"
"""Label of a test set with all segments."""

COLUMNS = COMPARISONS.names
"""Columns of a table of comparisons."""

P_COLUMNS = ("pvalue", "pvalue_one_sided", "pvalue_low", "pvalue_high")
"""Columns of a p-value with its bounds; one of the first two is missing."""

_BYTES_PER_PAIR = 1024
"""Bytes per pair for the result and for the borders that resamples are compared with."""


def compare(
    data: Statistics,
    test: str = "randomization",
    *,
    metric: str | Metric | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: Seed = 2012,
    unit: Unit = "segment",
    part: tuple[int, int] = (1, 1),
    threads: int | None = None,
    batch: int | None = None,
    memory: Memory | int | str | None = None,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    test_set: str = WHOLE,
) -> pd.DataFrame:
    """Test every pair of systems of a dataset on the same draws (the paper's footnote 5): table `COMPARISONS`.

    Parameters
    ----------
    data
        Counts of all systems.
    metric
        A name or a `Metric`; it may be omitted if the statistics have only one.
    alternative
        "two-sided", or "observed" (bootstrap): one-sided in the direction of the better system.
    part
        (k, m): only the k-th of m parts of the resamples. `merge` combines the parts.
    memory
        Memory that the process may take, in bytes or as "500M" or "4G". The default is what it takes already and half
        of what is free on the machine. It only changes time.
    note
        Called with a sentence on the memory that is needed, before the tests begin.

    Returns
    -------
    One row per pair, in the order of the systems. `system_a` is the better one (the first if the scores are equal). The
    p-value is in `pvalue_one_sided` if the alternative is "observed", otherwise in `pvalue`; the other is missing. For
    exact tests, `n_resamples` is 0. Pairs for which an exact test is out of reach get the Monte Carlo test: see the
    column `test`, and `drawn_instead`.
    """
    memory = Memory.of(memory)
    chosen = chosen_metric(data, metric)
    chosen_test = definitions.find(test, method, alternative)
    _check(data, chosen_test, part, n_resamples)
    memory.require(data.copied_by(chosen), "the counts of this metric")
    scorer = Scorer(data.of_units(chosen, unit), chosen, data.systems, memory)
    pairs, gains = scorer.better_first()
    memory.require(_BYTES_PER_PAIR * len(pairs), f"the comparisons of {len(data.systems):,} systems")
    left = memory.left - _BYTES_PER_PAIR * len(pairs)
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch, left)
    resamples = resampling.part(*part)
    if note is not None and not chosen_test.exact:
        n_threads, n_rows, n_bytes = scorer.product.split(chosen_test.draw, resampling, len(resamples))
        note(
            f"{len(data.systems):,} systems on {scorer.product.n_units:,} units need {shown(n_bytes)} of memory in "
            f"addition to the counts ({n_rows:,} resamples at a time on each of {n_threads} threads); {shown(left)} of "
            f"{shown(memory.limit)} are left"
        )
    results = results_of(scorer, pairs, chosen_test, resampling, resamples=resamples, progress=progress)
    standard_error, correlation = errors_and_correlations(
        scorer.counts, chosen, pairs, threads=threads, n_bytes=memory.left
    )
    drawn_test = chosen_test.monte_carlo
    signature = paired.signature(chosen, drawn_test, unit, resampling.signature)
    if part[1] > 1:
        signature += f"|part:{part[0]}/{part[1]}"
    a, b = pairs.T
    names, groups, kinds = (np.array(labels) for labels in (data.systems, data.groups, data.kinds))
    drawn = results.n_resamples > 0
    return pd.DataFrame(
        {
            "dataset": data.dataset,
            "test_set": test_set,
            "derived": WHOLE,
            "domain": "",
            "number": 0,
            "metric": chosen.name,
            "test": [test.name for test in results.by],
            "system_a": names[a],
            "system_b": names[b],
            "same_group": groups[a] == groups[b],
            "kind_a": kinds[a],
            "kind_b": kinds[b],
            "n_segments": data.counts.shape[1],
            "score_a": scorer.scores[a],
            "score_b": scorer.scores[b],
            "gain": gains,
            "standard_error": standard_error,
            "correlation": correlation,
            "n_resamples": results.n_resamples,
            "n_greater": results.counts["n_greater"],
            "n_equal": results.counts["n_equal"],
            "estimator": results.estimator,
            **{name: results.counts[name] for name in ("pvalue_linear", "n_added", "n_removed")},
            **_p_columns(results.pvalue, chosen_test),
            "pvalue_low": results.low,
            "pvalue_high": results.high,
            "signature": np.where(drawn, signature, paired.signature(chosen, chosen_test, unit)),
        }
    )


def _check(data: Statistics, test: Test, part: tuple[int, int], n_resamples: int) -> None:
    """Raise an `InputError` if the test or the part does not suit a comparison of all pairs."""
    if test.directed:
        raise InputError(
            f"alternative={test.alternative!r} needs two systems in a fixed order; to compare all pairs, in which the "
            "better system comes first, expected two-sided or observed"
        )
    if len(part) != 2 or not all(isinstance(number, int) for number in part):
        raise InputError(f"the part is {part!r}, expected two whole numbers, as in (1, 4) for the first of four")
    k, m = part
    if not 1 <= k <= m:
        raise InputError(f"the part is {k}/{m}, expected one from 1/{m} to {m}/{m}")
    if test.exact and m > 1:
        raise InputError(f"the {test.name} test draws nothing that could be split into {m} parts, expected part 1/1")
    if m > n_resamples:
        raise InputError(f"{n_resamples} resamples cannot be split into {m} parts, expected at most {n_resamples}")
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
    check_few(math.comb(len(data.systems), 2))


def drawn_instead(table: pd.DataFrame) -> str:
    """A sentence on the pairs that got a Monte Carlo test instead of an exact one; "" if all pairs got the same."""
    exact = table["test"].isin(definitions.names(exact=True))
    if exact.all() or not exact.any():
        return ""
    n_drawn, n_resamples = int((~exact).sum()), int(table["n_resamples"].max())
    wanted, used = (table["test"][rows].iloc[0] for rows in (exact, ~exact))
    return (
        f"for {n_drawn:,} of {len(table):,} pairs the totals can take too many values for the {wanted} test, so they "
        f"were tested by {used} (b = {n_resamples:,}); the column test shows which"
    )


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
        n_expected = k * n_resamples // m - (k - 1) * n_resamples // m
        table = tables.check(table, COMPARISONS, place=partial(_pair, table))
        _refuse(table, table["n_resamples"] != n_expected, "n_resamples", f"{n_expected}, its part of {n_resamples}")
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
    return _with_pvalues(merged)


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
        cell = tables.shown(table[column].iloc[row])
        raise InputError(f"{table.attrs['source']}, {_pair(table, row)}: {column} is {cell}, expected {expected}")


def _pair(table: pd.DataFrame, row: int) -> str:
    """The systems of a pair, for messages."""
    return " and ".join(named(str(table[side].iloc[row])) for side in ("system_a", "system_b"))


def _p_columns(p: NDArray[np.float64], test: Test) -> dict[str, NDArray[np.float64]]:
    """The two columns of p-values: that of the test's number of sides contains them, and the other one nothing."""
    missing = np.full(len(p), np.nan)
    return {"pvalue": p if test.two_sided else missing, "pvalue_one_sided": missing if test.two_sided else p}


def _with_pvalues(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the p-values, and the bounds of their Monte Carlo error, that follow from its counts."""
    counted = ExceedanceCounts(
        int(table["n_resamples"].iloc[0]),
        table["n_greater"].to_numpy(dtype=np.int64),
        table["n_equal"].to_numpy(dtype=np.int64),
    )
    test, gains = definitions.from_signature(str(table["signature"].iloc[0])), table["gain"].to_numpy()
    if test.draw == "resample":
        p, low, high = pvalues(counted, gains, test)
        return table.assign(**_p_columns(p, test), pvalue_low=low, pvalue_high=high)
    linear, added, removed = (
        table[column].to_numpy(dtype=np.float64) for column in ("pvalue_linear", "n_added", "n_removed")
    )
    estimated = near_exact.estimates(near_exact.Counts(counted, linear, added, removed), gains, test)
    columns = _p_columns(estimated.pvalue, test)
    return table.assign(estimator=estimated.estimator, **columns, pvalue_low=estimated.low, pvalue_high=estimated.high)
