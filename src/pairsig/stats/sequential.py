"""Monte Carlo tests that stop as soon as the decision is clear."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pairsig.core.definitions import Test, find, names
from pairsig.core.engine import Progress, Resampling, Seed, seed_of
from pairsig.core.exceedances import ExceedanceCounts
from pairsig.io.choices import check_level
from pairsig.io.errors import InputError
from pairsig.metrics import Metric
from pairsig.stats import resampling, studentized
from pairsig.stats.paired import Pair
from pairsig.stats.resampling import TestResult

FIRST = 100
"""Resamples before the first look."""
GROWTH = 1.25
"""Ratio of the numbers of resamples at successive looks: at most a quarter of the resamples is superfluous."""


@dataclass(frozen=True, kw_only=True)
class SequentialResult(TestResult):
    """Result of a test that stops early: the attributes of `TestResult`, and the decision.

    Attributes
    ----------
    significant
        True if the p-value of infinitely many resamples is below `alpha`, False if it is above, and None if
        `max_resamples` were too few to decide. True and False are wrong with probability at most
        1 − `confidence_level`.
    pvalue_low, pvalue_high
        Confidence sequence of the p-value when the test stopped. It is valid for any stopping rule.
    alpha, confidence_level
        As specified.
    n_resamples
        Resamples drawn: the first ones of a longer run with this seed.

    See Also
    --------
    sequential_test : Returns this.

    Examples
    --------
    >>> result = sequential_test([1] * 20, [0] * 20, rng=1)
    >>> result.significant, result.better
    (True, 'a')
    """

    significant: bool | None
    alpha: float
    confidence_level: float


def sequential_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    test: str = "randomization",
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence_level: float = 0.99,
    max_resamples: int = 1_000_000,
    rng: Seed = 2012,
    document: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> SequentialResult:
    """Randomization or bootstrap test that stops once p is clearly above or below alpha.

    Parameters
    ----------
    a, b, metric, alternative, rng, document, threads, batch
        See `bootstrap_test`.
    test, method
        "randomization", or "bootstrap" with a method, see `bootstrap_test`.
    alpha
        The significance level that p is compared with.
    confidence_level
        Probability that the decision, if there is one, is that of infinitely many resamples.
    max_resamples
        Number of resamples after which the test gives up.

    Returns
    -------
    SequentialResult

    See Also
    --------
    randomization_test : Draws a fixed number of shuffles.
    exact_test : Needs no shuffles, for ratios and means.

    Notes
    -----
    With k extreme resamples among the first n, the interval {x: Mₙ(x) < 1 / (1 − confidence_level)} covers p for all n
    at once, where Mₙ(x) = B(k + 1/2, n − k + 1/2) / (B(1/2, 1/2) xᵏ (1 − x)ⁿ⁻ᵏ) and B is the beta function (Robbins
    1970). The test looks after 100 resamples and then whenever their number has grown by a quarter; it stops when alpha
    is outside. docs/computation.md has the proof and the number of resamples.

    Examples
    --------
    >>> result = sequential_test([1] * 20, [0] * 20)
    >>> result.significant, result.n_resamples < 200
    (True, True)
    """
    chosen, drawn = find(test, method, alternative), Resampling(max_resamples, seed_of(rng), threads, batch)
    if chosen.exact:
        raise InputError(
            f"the {test} test draws nothing and cannot stop early, expected {' or '.join(names(exact=False))}"
        )
    return stopped(Pair.of(a, b, metric, document), chosen, drawn, alpha, confidence_level)


def stopped(
    pair: Pair, test: Test, drawn: Resampling, alpha: float, confidence_level: float, progress: Progress | None = None
) -> SequentialResult:
    """The result of `sequential_test` for two systems that are prepared."""
    check_levels(alpha, confidence_level)
    exceedances = ExceedanceCounts(0, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    extreme, significant = 0, None
    favoured, decidable = pair.favours(test), bool(pair.better) or test.directed
    for upto in looks(drawn.n_resamples):
        resamples = range(exceedances.n_resamples, upto)
        if test.statistic:
            part = studentized.exceedances(pair, test, drawn, resamples, progress)
        else:
            part = pair.scorer.exceedances(
                pair.order, test, drawn, favoured=favoured, resamples=resamples, progress=progress
            )
        exceedances = ExceedanceCounts(upto, exceedances.n_greater + part.n_greater, exceedances.n_equal + part.n_equal)
        extreme = int(test.extreme(exceedances.n_greater, exceedances.n_equal)[0])
        significant = decision(extreme, upto, alpha / test.sides, confidence_level) if decidable else False
        if significant is not None:
            break
    attributes = resampling.counted(pair, test, exceedances, drawn.seed)
    if decidable:
        ends = confidence_sequence(extreme, exceedances.n_resamples, confidence_level)
        attributes["pvalue_low"], attributes["pvalue_high"] = (min(test.sides * end, 1.0) for end in ends)
    attributes["signature"] += f"|sequential:{alpha:g},{confidence_level:g}"
    return SequentialResult(**attributes, significant=significant, alpha=alpha, confidence_level=confidence_level)


def check_levels(alpha: float, confidence_level: float) -> None:
    """Raise `InputError` for levels that are not probabilities."""
    check_level(alpha, "significance level")
    check_level(confidence_level, "confidence level")


def looks(max_resamples: int) -> Iterator[int]:
    """Numbers of resamples at each look: `FIRST`, then growing by `GROWTH`, up to the maximum."""
    upto = FIRST
    while upto < max_resamples:
        yield upto
        upto = math.ceil(GROWTH * upto)
    yield max_resamples


def log_ratio(extreme: int, n_resamples: int, p: float) -> float:
    """Log of Mₙ(p), the likelihood ratio of the mixture and p; see `sequential_test`."""
    k, ordinary = extreme, n_resamples - extreme
    if (p <= 0.0 and k) or (p >= 1.0 and ordinary):
        return math.inf
    likelihood = (k * math.log(p) if k else 0.0) + (ordinary * math.log1p(-p) if ordinary else 0.0)
    log_beta = math.lgamma(k + 0.5) + math.lgamma(ordinary + 0.5) - math.lgamma(n_resamples + 1)
    return log_beta - math.log(math.pi) - likelihood  # B(1/2, 1/2) = π


def decision(extreme: int, n_resamples: int, alpha: float, confidence_level: float) -> bool | None:
    """Whether p is below alpha; None if the confidence sequence contains alpha."""
    if log_ratio(extreme, n_resamples, alpha) < -math.log1p(-confidence_level):
        return None
    return extreme < alpha * n_resamples


def confidence_sequence(extreme: int, n_resamples: int, confidence_level: float) -> tuple[float, float]:
    """The interval {p: Mₙ(p) < 1 / (1 − confidence_level)}, which covers p for all n at once."""
    bound = -math.log1p(-confidence_level)

    def end(inside: float, outside: float) -> float:
        if log_ratio(extreme, n_resamples, outside) < bound:
            return outside
        for _ in range(60):
            middle = (inside + outside) / 2
            if log_ratio(extreme, n_resamples, middle) < bound:
                inside = middle
            else:
                outside = middle
        return outside

    estimate = extreme / n_resamples
    return end(estimate, 0.0), end(estimate, 1.0)
