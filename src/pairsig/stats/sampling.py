"""Bootstrap and randomization tests of two systems and of many pairs."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Test, find
from pairsig.core.exceedances import Exceedances
from pairsig.core.loops import FEW_PAIRS, compiled
from pairsig.core.scores import Scorer
from pairsig.core.totals import Resampling
from pairsig.io.errors import InputError
from pairsig.metrics import Metric
from pairsig.stats import near_exact
from pairsig.stats.near_exact import Estimates
from pairsig.stats.paired import Pair
from pairsig.stats.results import TestResult

Floats = NDArray[np.float64]


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    method: str = "shifted",
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: int = 2012,
    document: ArrayLike | None = None,
    threads: int | None = None,
) -> TestResult:
    """Test the difference of two systems with the paired bootstrap.

    The null hypothesis is that the systems are equally good on the population that the test set was drawn from (with
    a direction: that the first is not better, or not worse).

    Parameters
    ----------
    a, b, metric, alternative
        See `exact_test`.
    method
        "shifted" moves the resampled differences so that their mean is 0, as the null hypothesis demands. "percentile"
        asks how often the sign of the difference changes.
    n_resamples
        Number of resamples b, at most 10¹². The standard error of p is sqrt(p(1 − p)/b).
    rng
        Seed: the same one gives the same counts for any number of threads or machine.
    document
        One id per segment: whole documents are drawn, for segments that are not independent.
    threads
        Worker threads (default: all cores). They only change time and memory.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        For impossible counts (negative, more correct than there are), for a score that is not finite on the test set
        or on a resample, and for a test set of a single segment, or document, where these are drawn.

    Notes
    -----
    A resample x* has as many segments as the test set x, drawn with replacement, the same ones for both systems. With δ
    >= 0 the gain of the better system and δ* that on a resample, p = (#{|δ* − δ| >= δ} + 1) / (b + 1) by the shifted
    method (Noreen 1989) and min(1, 2 (#{δ* <= 0} + 1) / (b + 1)) by the percentile method (Efron and Tibshirani 1993).
    docs/p-values.md has the formulas of all alternatives. "observed" is the test of Berg-Kirkpatrick et al. (2012),
    #{δ* > 2δ} / b, or that of Koehn (2004), #{δ* < 0} / b. Their p can be 0, which means "below 1/b", and 9 to 26 % of
    equal systems get p < 0.05 (docs/false-positive-rate.md).

    Equal systems get p = 1 by definition if the alternative is two-sided or observed. Gains tie if they agree to 1e-13
    of the metric's scale.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[9, 10, 10], [7, 9, 10], [8, 8, 9]])  # matched, predicted, gold
    >>> b = np.array([[8, 10, 10], [7, 9, 10], [6, 9, 9]])
    >>> result = bootstrap_test(a, b, metric="f1", n_resamples=10_000)
    >>> round(result.score_a, 2), round(result.score_b, 2), round(result.statistic, 2), result.better
    (85.71, 73.68, 12.03, 'a')
    """
    test = find("bootstrap", method, alternative)
    resampling = Resampling(n_resamples, rng, threads)
    return drawn(Pair.of(a, b, metric, document), test, resampling)


def randomization_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 100_000,
    rng: int = 2012,
    document: ArrayLike | None = None,
    threads: int | None = None,
) -> TestResult:
    """Test the difference of two systems by approximate randomization, a paired permutation test.

    The null hypothesis is that on every segment the two systems' counts are exchangeable: it is chance which system
    produced which.

    Parameters
    ----------
    a, b, metric, alternative, document
        See `exact_test`.
    n_resamples, rng, threads
        See `bootstrap_test`.

    Returns
    -------
    TestResult

    Notes
    -----
    A shuffle swaps the two systems' counts of each segment with probability 1/2. With δ >= 0 the gain of the better
    system and δ' that after a shuffle, the p-value is P(|δ'| >= δ). The alternatives "greater" and "less" have P(d' >=
    d) and P(d' <= d), with d = score(a) − score(b). Equal systems get p = 1 by definition if the alternative is
    two-sided. For the false-positive rates see `exact_test`.

    The probability is computed for a linear approximation of δ', and only the error of that is estimated from b
    shuffles: for BLEU, the variance of this near-exact estimate is 30 to 500 times less than that of a share. The
    share, p = (#{|δ'| >= δ} + 1) / (b + 1) (Noreen 1989; Yeh 2000; as in sigf and art), is used where its variance is
    smaller: for metrics that are not smooth, and a few segments. The observed labelling is one of the shuffles, hence
    its + 1. Where the shuffles only bound p, the bound is reported. docs/computation.md has the formulas.

    Examples
    --------
    A is better on each of three segments. Two of the eight possible shuffles are as extreme, so p is near 2/8.

    >>> round(randomization_test([1, 1, 1], [0, 0, 0], n_resamples=100_000).pvalue, 2)
    0.25
    """
    test = find("randomization", None, alternative)
    resampling = Resampling(n_resamples, rng, threads)
    return drawn(Pair.of(a, b, metric, document), test, resampling)


def drawn(pair: Pair, test: Test, resampling: Resampling) -> TestResult:
    """The result of a bootstrap or randomization test of two systems that are prepared."""
    counts, estimate = by_draws(pair.scorer, pair.order, test, resampling, favoured=pair.favours(test))
    return TestResult(
        **pair.described(test, resampling.signature),
        pvalue=float(estimate.pvalue[0]),
        pvalue_low=float(estimate.low[0]),
        pvalue_high=float(estimate.high[0]),
        n_resamples=counts.n_resamples,
        n_greater=int(counts.n_greater[0]),
        n_equal=int(counts.n_equal[0]),
        estimator=estimate.estimator[0],
    )


def by_draws(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, resampling: Resampling, *, favoured: bool = True
) -> tuple[Exceedances, Estimates]:
    """Counts over common draws, and the p-values that follow; parameters as for `exceedances`."""
    count = near_exact.counted if test.draw == "swap" else exceedances
    counts = count(scorer, pairs, test, resampling, favoured=favoured)
    return counts, near_exact.estimates(counts, np.abs(scorer.gains(pairs)), test, favoured=favoured)


def exceedances(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, resampling: Resampling, *, favoured: bool = True
) -> Exceedances:
    """Count the extreme resamples of a bootstrap, for pairs of systems over the same draws.

    Parameters
    ----------
    scorer
        Scores of the systems.
    pairs
        Positions (pairs × 2) of the better and the other system.
    test
        A bootstrap.
    favoured
        Whether its alternative is that the first system of a pair is better, see `Test.favours`.

    Raises
    ------
    InputError
        For a score that is not finite on a resample, and for the bootstrap of a single unit.
    """
    if scorer.product.n_units < 2:
        raise InputError(
            "the test set is a single segment (or a single document, if documents are drawn), so every resample is the "
            "test set itself; the bootstrap needs at least two"
        )
    gains = scorer.gains(pairs)
    first, second = np.ascontiguousarray(pairs.T)
    beyond, at_least = np.zeros((2, len(pairs)), dtype=np.int64)
    adding = Lock()

    def add(distinct: NDArray[np.generic], number: int) -> None:
        scores = scorer.resampled(distinct, number)
        in_batch = np.zeros((2, len(pairs)), dtype=np.int64)
        for sign, multiple in test.borders(favoured):
            a, b = (first, second) if sign == 1 else (second, first)
            if len(pairs) <= FEW_PAIRS:
                far = scores[a] - scores[b] - multiple * gains[:, None]
                in_batch += (far > scorer.band).sum(axis=1), (far >= -scorer.band).sum(axis=1)
            else:
                _count(scores, scores.min(axis=1), scores.max(axis=1), a, b, multiple * gains, scorer.band, *in_batch)
        with adding:
            np.add(beyond, in_batch[0], out=beyond)
            np.add(at_least, in_batch[1], out=at_least)

    scorer.product.for_each_batch(add, "resample", resampling)
    equal = at_least - beyond
    if len(test.borders()) > 1:  # without a better system, both sides have the same border
        equal[gains == 0] //= 2
    return Exceedances(len(resampling.drawn), beyond, equal, *np.full((3, len(pairs)), np.nan))


@compiled
def _count(scores, lowest, highest, firsts, seconds, borders, band, beyond, at_least):  # type: ignore[no-untyped-def]
    """Count for each pair the resamples whose gain is beyond the border, and those beyond it or on it.

    `lowest` and `highest` are scores of each system.
    """
    for pair in range(len(firsts)):
        first, second = firsts[pair], seconds[pair]
        upper, lower = borders[pair] + band, borders[pair] - band
        if highest[first] - lowest[second] < lower:  # no gain is larger, which spares half of the pairs
            continue
        score1, score2 = scores[first], scores[second]
        n_beyond = n_at_least = 0
        for resample in range(scores.shape[1]):
            gain = score1[resample] - score2[resample]
            n_beyond += gain > upper
            n_at_least += gain >= lower
        beyond[pair] += n_beyond
        at_least[pair] += n_at_least
