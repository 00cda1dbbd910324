"""Tests of all pairs of systems of a dataset, over all resamples or a part of them: the tables of the study."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons.compare import results_of
from pairsig.comparisons.inputs import chosen_metric
from pairsig.core import definitions
from pairsig.core.definitions import Test
from pairsig.core.exceedances import Exceedances
from pairsig.core.influence import errors_and_correlations
from pairsig.core.loops import check_few
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics
from pairsig.core.totals import Progress, Resampling, Seed, seed_of
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from pairsig.io.errors import InputError, listed, named
from pairsig.io.memory import Memory
from pairsig.io.packages import pd
from pairsig.metrics import Metric
from pairsig.stats import near_exact, paired
from pairsig.stats.paired import Unit

WHOLE = "whole"
"""Label of a test set with all segments."""

COLUMNS = COMPARISONS.names
"""Columns of a table of comparisons."""

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

    Returns
    -------
    One row per pair, in the order of the systems. `system_a` is the better one (the first if the scores are equal). The
    p-value is in `pvalue_one_sided` if the alternative is "observed", otherwise in `pvalue`; the other is missing. For
    exact tests, `n_resamples` is 0. Pairs for which an exact test is out of reach get the Monte Carlo test: see the
    column `test`.
    """
    memory = Memory.of(memory)
    chosen = chosen_metric(data, metric)
    chosen_test = definitions.find(test, method, alternative)
    _check(data, chosen_test, part, n_resamples)
    memory.require(data.copied_by(chosen), "the counts of this metric")
    scorer = Scorer(data.of_units(chosen, unit), chosen, data.systems, memory)
    pairs, gains = scorer.better_first()
    # Influence values and a copy of them come after the draws.
    influence = 2 * 8 * scorer.counts[:, :, 0].size
    memory.require(_BYTES_PER_PAIR * len(pairs) + influence, f"the comparisons of {len(data.systems):,} systems")
    left = memory.left - _BYTES_PER_PAIR * len(pairs)
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch, left, progress).part(*part)
    results = results_of(scorer, pairs, chosen_test, resampling)
    standard_error, correlation = errors_and_correlations(scorer.counts, chosen, pairs, threads=threads)
    signature = paired.signature(chosen, chosen_test.monte_carlo, unit, resampling.signature)
    if part[1] > 1:
        signature += f"|part:{part[0]}/{part[1]}"
    a, b = pairs.T
    names, groups, kinds = (np.array(labels) for labels in (data.systems, data.groups, data.kinds))
    cells = results | {
        "dataset": data.dataset,
        "test_set": test_set,
        "derived": WHOLE,
        "domain": "",
        "number": 0,
        "metric": chosen.name,
        "test": [used.name for used in results["by"]],
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
        **_p_columns(results["pvalue"], chosen_test),
        "signature": np.where(results["n_resamples"] > 0, signature, paired.signature(chosen, chosen_test, unit)),
    }
    return pd.DataFrame({name: cells[name] for name in COLUMNS})


def _check(data: Statistics, test: Test, part: tuple[int, int], n_resamples: int) -> None:
    """Raise an `InputError` if the test or the part does not suit a comparison of all pairs."""
    if test.directed:
        raise InputError(
            f"alternative={test.alternative!r} needs two systems in a fixed order; to compare all pairs, in which the "
            "better system comes first, expected two-sided or observed"
        )
    k, m = part
    if not 1 <= k <= m <= n_resamples:
        raise InputError(
            f"found part {k}/{m} of {n_resamples} resamples, expected one from 1/{m} to {m}/{m}, and a resample in each"
        )
    if test.exact and m > 1:
        raise InputError(f"the {test.name} test draws nothing that could be split into {m} parts, expected part 1/1")
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
    check_few(math.comb(len(data.systems), 2))


def read(path: str | Path) -> pd.DataFrame:
    """Read a table of comparisons, or a part of one, and check that the cells of every pair are possible."""
    return _checked(tables.read(path, COMPARISONS))


_SUMMED = ["n_resamples", "n_greater", "n_equal", "n_added", "n_removed"]
_OF_P = ("estimator", "pvalue", "pvalue_one_sided", "pvalue_low", "pvalue_high", "signature")
_SAME = [column for column in COLUMNS if column not in (*_SUMMED, *_OF_P)]
"""Columns of parts that are added up; columns that follow from those; and all others, which are the same."""

_PART = re.compile(r"(.*\|resamples:([0-9]{1,18})\|.*)\|part:([0-9]{1,9})/([0-9]{1,9})")
"""The signature of a part: that of the run, its number of resamples, and k and m of part k of m."""


def merge(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Merge comparisons over parts of the resamples, in any order, into the table of a single run.

    An `InputError` is raised if they are not all the parts of one run, once each, with the same pairs.
    """
    given = [part.reset_index(drop=True) for part in parts]
    signatures = [str(signature) for table in given for signature in table["signature"].unique()]
    matches = [match for signature in signatures if (match := _PART.fullmatch(signature))]
    if not len(given) == len(signatures) == len(matches) > 0:
        raise InputError(
            f"found {len(given)} tables to merge with the signatures {listed(signatures)}, expected one part of a run "
            "in each"
        )
    runs = dict.fromkeys(f"{match[1]} in {match[4]} parts" for match in matches)
    numbers, m = sorted(int(match[3]) for match in matches), int(matches[0][4])
    if len(runs) > 1:
        raise InputError(f"the tables to merge are not parts of one run: {'; '.join(runs)}")
    if numbers != list(range(1, m + 1)):
        raise InputError(f"found the parts {listed(map(str, numbers))} to merge, expected 1 to {m}, each of them once")
    merged, *others = given
    for table in others:
        if not table[_SAME].equals(merged[_SAME]):
            raise InputError("the tables to merge compare different pairs or test sets, expected the same in all")
        merged[_SUMMED] += table[_SUMMED]
    merged.attrs["source"] = "the merged table"
    _refuse(merged, merged["n_resamples"] != int(matches[0][2]), "n_resamples", f"{matches[0][2]}, those of the run")
    merged["signature"] = matches[0][1]
    return _with_pvalues(_checked(merged))


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    """`table`, after a check that the numbers of every pair fit each other; the declared columns have been checked."""
    exact = table["test"].isin(definitions.names(exact=True))
    extreme = table["n_greater"] + table["n_equal"]
    for column, wrong, expected in (
        ("n_segments", table["n_segments"] < 1, "a whole number, 1 or more"),
        ("n_resamples", (table["n_resamples"] < 1) & ~exact, "a whole number, 1 or more"),
        ("gain", table["gain"] < 0, "a number, 0 or more: A is the better system"),
        ("standard_error", table["standard_error"] < 0, "a number, 0 or more"),
        ("correlation", table["correlation"].abs() > 1, "a number from -1 to 1"),
        ("pvalue", table[["pvalue", "pvalue_one_sided"]].isna().all(axis=1), "a number from 0 to 1"),
        ("n_greater", extreme > table["n_resamples"], "a sum of n_greater and n_equal up to n_resamples"),
    ):
        _refuse(table, wrong, column, expected)
    return table


def _refuse(table: pd.DataFrame, wrong: pd.Series[bool], column: str, expected: str) -> None:
    """Raise `InputError` for the first pair that is wrong."""
    if wrong.any():
        row = table.iloc[int(wrong.to_numpy().argmax())]
        pair = " and ".join(named(str(row[side])) for side in ("system_a", "system_b"))
        raise InputError(
            f"{table.attrs['source']}, {pair}: {column} is {tables.shown(row[column])}, expected {expected}"
        )


def _p_columns(p: NDArray[np.float64], test: Test) -> dict[str, NDArray[np.float64]]:
    """The two columns of p-values: that of the test's number of sides contains them, and the other one nothing."""
    missing = np.full(len(p), np.nan)
    return {"pvalue": p if test.two_sided else missing, "pvalue_one_sided": missing if test.two_sided else p}


def _with_pvalues(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the p-values, and the bounds of their Monte Carlo error, that follow from its counts."""
    whole = (table[column].to_numpy(dtype=np.int64) for column in ("n_greater", "n_equal"))
    sums = (table[column].to_numpy(dtype=np.float64) for column in ("pvalue_linear", "n_added", "n_removed"))
    counts = Exceedances(int(table["n_resamples"].iloc[0]), *whole, *sums)
    test = definitions.from_signature(str(table["signature"].iloc[0]))
    estimate = near_exact.estimates(counts, table["gain"].to_numpy(), test)
    if test.draw == "swap":
        table = table.assign(estimator=estimate.estimator)
    return table.assign(**_p_columns(estimate.pvalue, test), pvalue_low=estimate.low, pvalue_high=estimate.high)
