"""Map each test to the function that computes it.

The engine counts how often the gain is beyond a border, for every test that draws, except those of another statistic:
`studentized`. Every exact test has a kernel here: a new one is an entry of `KERNELS`, and the command line,
`pairsig.compare`, tables and reports can run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.definitions import DEFAULT_ALTERNATIVE, Test
from pairsig.core.engine import Progress, Resampling, Scorer
from pairsig.io.errors import InputError
from pairsig.stats import exact, near_exact
from pairsig.stats.exact import ExactResult
from pairsig.stats.exact.pairs import pvalues as fast_pvalues
from pairsig.stats.intervals import Interval, agreeing
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.resampling import TestResult, resampled
from pairsig.stats.results import ConfidenceInterval, Result
from pairsig.stats.studentized import StudentizedResult, exceedances, studentized

KERNELS: dict[str, Callable[[Pair, Test], ExactResult]] = {"exact": exact.permuted, "exact-bootstrap": exact.drawn}
"""By the name of the exact test, what computes it for two systems."""

_FAST = (exact.permuted, exact.drawn)
"""Kernels whose p-values `exact.pairs` computes for all pairs at once."""


def run(
    pair: Pair,
    test: Test,
    resampling: Resampling,
    *,
    stop_at: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> TestResult | ExactResult:
    """The result of any test of two systems; `stop_at` is (alpha, confidence level), see `sequential_test`."""
    if test.exact:
        return KERNELS[test.name](pair, test)
    if stop_at is None:
        return (studentized if test.statistic else resampled)(pair, test, resampling, progress)
    from pairsig.stats.sequential import stopped

    return stopped(pair, test, resampling, *stop_at, progress)


def interval(result: Result, closed: Interval, pvalue: float) -> ConfidenceInterval:
    """The interval of the difference that is printed beside a p-value: that of the test, or `closed`, made to agree.

    `closed` is `intervals.signed` of the same pair.
    """
    if isinstance(result, StudentizedResult):
        return result.confidence_interval(closed.confidence_level)
    two_sided = result.alternative == DEFAULT_ALTERNATIVE
    agreed = agreeing(closed, result.statistic, pvalue) if two_sided else closed
    return ConfidenceInterval(agreed.low, agreed.high)


def counted(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    test: Test,
    resampling: Resampling,
    resamples: range,
    progress: Progress | None = None,
) -> dict[str, NDArray[Any]]:
    """What the p-values of many pairs, the better system first, follow from: columns of table `COMPARISONS`."""
    if test.statistic:
        counts = [
            exceedances(Pair(scorer.metric, scorer.counts[pair], None), test, resampling, resamples, progress)
            for pair in pairs
        ]
        return {
            "n_greater": np.concatenate([of_pair.n_greater for of_pair in counts]),
            "n_equal": np.concatenate([of_pair.n_equal for of_pair in counts]),
        }
    if test.draw == "resample":
        drawn = scorer.exceedances(pairs, test, resampling, resamples=resamples, progress=progress)
        return {"n_greater": drawn.n_greater, "n_equal": drawn.n_equal}
    shuffled = near_exact.counted(scorer, pairs, test, resampling, resamples=resamples, progress=progress)
    return {
        "n_greater": shuffled.exceedances.n_greater,
        "n_equal": shuffled.exceedances.n_equal,
        "pvalue_linear": shuffled.linear,
        "n_added": shuffled.n_added,
        "n_removed": shuffled.n_removed,
        "pvalue_tilted": shuffled.tilted[0],
        "error_tilted": shuffled.tilted[1],
    }


def pvalues(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    test: Test,
    unit: Unit,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """P-values of many pairs by a test that draws nothing; parameters and NaN are those of `exact.pairs.pvalues`."""
    kernel = KERNELS[test.name]
    if kernel in _FAST:
        return fast_pvalues(scorer, pairs, test, unit, threads=threads, progress=progress)
    return np.array([kernel(Pair(scorer.metric, scorer.counts[pair], None), test).pvalue for pair in pairs])


def applies(scorer: Scorer, test: Test, unit: Unit) -> bool:
    """Whether a test that draws nothing exists for a metric and these systems."""
    if KERNELS[test.name] in _FAST:
        try:
            exact.fractions(scorer, test, unit)
        except exact.NoStepError:
            return exact.is_bounded(scorer, test)
        except InputError:
            return False
    return True
