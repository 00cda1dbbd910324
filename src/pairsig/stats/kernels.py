"""Map each test to the function that computes it.

The engine counts the draws of every test that draws: how often the gain is beyond a border. A test with another
statistic, such as a studentized one, has no place there. Every exact test has a kernel here: a new one is an entry of
`KERNELS`, and the command line, `pairsig.compare`, tables and reports can run it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pairsig.core.definitions import Test
from pairsig.core.engine import Progress, Resampling, Scorer
from pairsig.io.errors import InputError
from pairsig.stats import exact
from pairsig.stats.exact import ExactResult
from pairsig.stats.exact.pairs import pvalues as fast_pvalues
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.resampling import TestResult, resampled
from pairsig.stats.sequential import stopped

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
        return resampled(pair, test, resampling, progress)
    return stopped(pair, test, resampling, *stop_at, progress)


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
    return np.array([kernel(Pair(scorer.metric, scorer.counts[both], None), test).pvalue for both in pairs])


def applies(scorer: Scorer, test: Test, unit: Unit) -> bool:
    """Whether a test that draws nothing exists for a metric and these systems."""
    if KERNELS[test.name] in _FAST:
        try:
            exact.fractions(scorer, test, unit)
        except InputError:
            return False
    return True
