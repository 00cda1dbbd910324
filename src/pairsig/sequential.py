"""Monte Carlo tests that stop as soon as the answer is clear."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pairsig import resampling
from pairsig.definitions import Test, find, names
from pairsig.engine import Progress, Resampling
from pairsig.errors import InputError
from pairsig.metrics import Metric
from pairsig.paired import Pair
from pairsig.resampling import TestResult
from pairsig.tally import Tally

FORMULA = (
    "stop after n resamples, k of them extreme, when B(k + 1/2, n − k + 1/2) / (B(1/2, 1/2) α^k (1 − α)^(n − k)) "
    ">= 1 / (1 − confidence) (Robbins 1970)"
)

FIRST = 100
"""Resamples before the first look."""
GROWTH = 1.25
"""Each look has so many times the resamples of the one before: no more than a quarter is wasted."""


@dataclass(frozen=True, kw_only=True)
class SequentialResult(TestResult):
    """Result of a test of two systems that stopped by itself: what `TestResult` says, and the decision.

    Attributes
    ----------
    significant
        True when the p-value (of infinitely many resamples) is below `alpha`, False when it is above, and None when
        `max_resamples` did not tell. The first two are wrong with probability at most 1 − `confidence`.
    p_low, p_high
        Confidence sequence of the p-value when the test stopped: it holds for any rule of stopping, so for this one.
    alpha, confidence
        As given.
    n_resamples
        How many it took: the first so many of the run of any length with this seed.
    """

    significant: bool | None
    alpha: float
    confidence: float


def sequential_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    test: str = "bootstrap",
    variant: str | None = None,
    alpha: float = 0.05,
    confidence: float = 0.99,
    max_resamples: int = 1_000_000,
    seed: int = 2012,
    documents: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> SequentialResult:
    """Bootstrap or randomization test that draws only until p is known to be below or above alpha.

    Null hypothesis and p-value are those of `bootstrap_test` and `randomization_test`. With p the p-value of
    infinitely many resamples, k of the first n are extreme (beyond the observed gain; where ties count, also those
    that tie), k is binomial, and for every x

        Mₙ(x) = B(k + 1/2, n − k + 1/2) / (B(1/2, 1/2) xᵏ (1 − x)ⁿ⁻ᵏ),

    B the beta function, is the likelihood of a Beta(1/2, 1/2) mixture over that of x. At x = p it is a martingale that
    starts at 1, so by Ville's inequality it ever reaches 1 / (1 − confidence) with probability at most 1 −
    confidence (Ville 1939; Robbins 1970). So {x: Mₙ(x) < 1 / (1 − confidence)}, an interval around k/n, covers p at all
    n at once with probability `confidence`, and one may look as often as one likes. The test looks after 100
    resamples and then whenever there are a quarter more, and stops when alpha lies outside. (Besag and Clifford 1991
    stop at a fixed number of extreme resamples, which saves time on large p only.)

    About log(1 / (1 − confidence)) / D(p, α) resamples are needed, D being the Kullback-Leibler divergence: some
    hundred for clear cases at alpha 0.05, and without limit the nearer p is to alpha.

    Parameters
    ----------
    a, b, metric, documents, seed, threads, batch
        See `bootstrap_test`.
    test, variant
        "bootstrap" ("gt2", "percentile", "two-sided") or "randomization" ("two-sided", "one-sided").
    alpha
        The level that p is compared with.
    confidence
        Probability that the decision, if there is one, is that of infinitely many resamples.
    max_resamples
        Where to give up.

    Examples
    --------
    >>> result = sequential_test([[1, 1]] * 20, [[0, 1]] * 20, test="randomization")
    >>> result.significant, result.n_resamples < 200
    (True, True)
    """
    chosen, drawn = find(test, variant), Resampling(max_resamples, seed, threads, batch)
    if chosen.exact:
        raise InputError(f"test {test} draws nothing, expected one of {', '.join(names(exact=False))}")
    return stopped(Pair.of(a, b, metric, documents), chosen, drawn, alpha, confidence)


def stopped(
    pair: Pair, test: Test, drawn: Resampling, alpha: float, confidence: float, progress: Progress | None = None
) -> SequentialResult:
    """The result of a test that stops by itself, of two systems that are prepared: `sequential_test`."""
    check_levels(alpha, confidence)
    tally = Tally(0, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    extreme, significant = 0, None
    for upto in looks(drawn.n_resamples):
        resamples = range(tally.n_resamples, upto)
        part = pair.judge.tally(pair.order, test, drawn, resamples=resamples, progress=progress)
        tally = Tally(upto, tally.n_greater + part.n_greater, tally.n_equal + part.n_equal)
        extreme = int(test.extreme(tally.n_greater, tally.n_equal)[0])
        significant = decision(extreme, upto, alpha, confidence) if pair.better else False
        if significant is not None:
            break
    told = resampling.counted(pair, test, tally, drawn.seed)
    if pair.better:
        told["p_low"], told["p_high"] = confidence_sequence(extreme, tally.n_resamples, confidence)
    told["signature"] += f"|sequential:{alpha:g},{confidence:g}"
    return SequentialResult(**told, significant=significant, alpha=alpha, confidence=confidence)


def check_levels(alpha: float, confidence: float) -> None:
    """Refuse levels that are no probabilities."""
    for name, value in (("alpha", alpha), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value}, expected a number between 0 and 1")


def looks(max_resamples: int) -> Iterator[int]:
    """Numbers of resamples after which the test looks: `FIRST`, growing by `GROWTH`, ending with the maximum."""
    upto = FIRST
    while upto < max_resamples:
        yield upto
        upto = math.ceil(GROWTH * upto)
    yield max_resamples


def log_ratio(extreme: int, n_resamples: int, p: float) -> float:
    """Log of Mₙ(p): how much more likely the counts are under the mixture than under p; see `sequential_test`."""
    k, rest = extreme, n_resamples - extreme
    if (p <= 0.0 and k) or (p >= 1.0 and rest):
        return math.inf
    likelihood = (k * math.log(p) if k else 0.0) + (rest * math.log1p(-p) if rest else 0.0)
    log_beta = math.lgamma(k + 0.5) + math.lgamma(rest + 0.5) - math.lgamma(n_resamples + 1)
    return log_beta - math.log(math.pi) - likelihood  # B(1/2, 1/2) = π


def decision(extreme: int, n_resamples: int, alpha: float, confidence: float) -> bool | None:
    """Whether p is below alpha, if the confidence sequence tells."""
    if log_ratio(extreme, n_resamples, alpha) < -math.log1p(-confidence):
        return None
    return extreme < alpha * n_resamples


def confidence_sequence(extreme: int, n_resamples: int, confidence: float) -> tuple[float, float]:
    """The interval {p: Mₙ(p) < 1 / (1 − confidence)}: covers p at all n at once with this probability."""
    bound = -math.log1p(-confidence)

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
