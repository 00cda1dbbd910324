"""Bootstrap and randomization tests of two systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairsig.core.definitions import Test, find
from pairsig.core.engine import Estimator, Progress, Resampling, Seed, seed_of
from pairsig.core.exceedances import ExceedanceCounts, pvalues
from pairsig.metrics import Metric
from pairsig.stats import near_exact
from pairsig.stats.near_exact import PLAIN
from pairsig.stats.paired import Pair
from pairsig.stats.results import Result


@dataclass(frozen=True, kw_only=True)
class TestResult(Result):
    """Result of a bootstrap or randomization test: the attributes of `Result`, and the counts behind the p-value.

    Attributes
    ----------
    pvalue_low, pvalue_high
        95 % Clopper-Pearson interval for the p-value of infinitely many resamples.
    n_resamples, n_greater, n_equal
        Resamples or shuffles drawn; those beyond the border that the formula names, and those exactly on it.
    estimator
        How `pvalue` follows from them: "plain", as a share; for randomization also "near-exact", corrected by a linear
        approximation, or "tilted", the same from weighted shuffles.
    disagreement
        Share of shuffles on which the difference and its linear approximation disagree; nan if there was none.

    See Also
    --------
    randomization_test : Returns this.
    bootstrap_test : Returns this.

    Examples
    --------
    >>> result = randomization_test([1, 1, 1, 0], [0, 0, 1, 0], n_resamples=1000)
    >>> result.statistic, result.n_resamples
    (0.5, 1000)
    >>> result.pvalue_low < result.pvalue < result.pvalue_high
    True
    """

    __test__ = False  # not a pytest class

    pvalue_low: float
    pvalue_high: float
    n_resamples: int
    n_greater: int
    n_equal: int
    estimator: str = PLAIN
    disagreement: float = math.nan


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    method: str = "shifted",
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: Seed = 2012,
    document: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
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
        An integer, the seed, or anything else that `numpy.random.default_rng` takes, from which a seed is drawn. The
        same seed gives the same counts for any batch size, number of threads or machine.
    document
        One id per segment: whole documents are drawn, for segments that are not independent.
    threads, batch
        Worker threads (default: all cores) and resamples per batch. They only change time and memory.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        For impossible counts (negative, more correct than there are), for a score that is not finite on the test set
        or on a resample, and for a test set of a single segment, or document, where these are drawn.

    See Also
    --------
    randomization_test : On few segments, this test has a lower false-positive rate.
    exact_bootstrap_test : The same p-value without Monte Carlo error.

    Notes
    -----
    A resample x* has as many segments as the test set x, drawn with replacement, the same ones for both systems. With δ
    >= 0 the gain of the better system and δ* that on a resample, p = (#{|δ* − δ| >= δ} + 1) / (b + 1) by the shifted
    method (Noreen 1989) and min(1, 2 (#{δ* <= 0} + 1) / (b + 1)) by the percentile method (Efron and Tibshirani 1993).
    docs/p-values.md has the formulas of all alternatives. "observed" is the test of Berg-Kirkpatrick et al. (2012),
    #{δ* > 2δ} / b, or that of Koehn (2004), #{δ* < 0} / b. Their p can be 0, which means "below 1/b", and 9 to 26 % of
    equal systems get p < 0.05 (up to 48 % for Koehn's if few segments differ). The two-sided shifted test rejects 3 to
    7 % of equal systems on 50 segments or more, and 5 to 8 % on 20 (docs/false-positive-rate.md).

    Equal systems get p = 1 by definition if the alternative is two-sided or observed. Ties of ratios of whole numbers
    or decimals are exact. Other scores (BLEU, chrF, values such as 1/3) tie if they agree to 1e-13 of the scale.

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
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch)
    return resampled(Pair.of(a, b, metric, document), test, resampling)


def randomization_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    method: str = "",
    alternative: str = "two-sided",
    n_resamples: int = 100_000,
    rng: Seed = 2012,
    document: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
    estimator: Estimator = "near-exact",
) -> TestResult:
    """Test the difference of two systems by approximate randomization, a paired permutation test.

    The null hypothesis is that on every segment the two systems' counts are exchangeable: it is chance which system
    produced which.

    Parameters
    ----------
    a, b, metric, alternative, document
        See `exact_test`.
    method
        "studentized" divides each difference by its standard error; see the notes.
    n_resamples, rng, threads, batch
        See `bootstrap_test`.
    estimator
        "near-exact", or "plain" for the share of extreme shuffles.

    Returns
    -------
    TestResult, or for "studentized" a `StudentizedResult`, which has the interval of that test.

    See Also
    --------
    exact_test : The same p-value without Monte Carlo error, for ratios and means.
    sequential_test : Stops as soon as the decision is clear.
    compare : All pairs of several systems.

    Notes
    -----
    A shuffle swaps the two systems' counts of each segment with probability 1/2. With δ >= 0 the gain of the better
    system and δ' that after a shuffle, the p-value is P(|δ'| >= δ). The alternatives "greater", "less" and "observed"
    have P(d' >= d), P(d' <= d) and P(δ' >= δ), with d = score(a) − score(b). Equal systems get p = 1 by definition if
    the alternative is two-sided or observed. For the false-positive rates see `exact_test`.

    The near-exact estimator computes the probability for a linear approximation of δ', and only estimates the error of
    that from b shuffles: for BLEU, its variance is 30 to 500 times less than that of the plain estimator. P-values of
    the approximation below 0.0001 get b/50 further shuffles from its tilted distribution. The plain estimator is p =
    (#{|δ'| >= δ} + 1) / (b + 1) (Noreen 1989; Yeh 2000; as in sigf and art), where the observed labelling is one of the
    shuffles, hence the + 1. It is also used where it has the smaller variance: for metrics that are not smooth, and a
    few segments. docs/computation.md has the formulas.

    The studentized test has t = d / s for d, with s² = Σ (uᵢᴬ − uᵢᴮ)² from the influences uᵢ of the units (the standard
    error of `compare`'s tables), computed anew after each shuffle. It is exact for exchangeable outputs, too, and its
    false-positive rate tends to the level if only the scores are equal (Janssen 1997; Chung and Romano 2013). For means
    and other scores with the same denominators for both systems, it is the test of the difference itself.

    Examples
    --------
    A is better on each of three segments. Two of the eight possible shuffles are as extreme, so p is near 2/8.

    >>> round(randomization_test([1, 1, 1], [0, 0, 0], n_resamples=100_000).pvalue, 2)
    0.25
    """
    test = find("randomization", method, alternative)
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch, estimator=estimator)
    if test.statistic:
        from pairsig.stats.studentized import studentized  # which needs this module

        return studentized(Pair.of(a, b, metric, document), test, resampling)
    return resampled(Pair.of(a, b, metric, document), test, resampling)


def resampled(pair: Pair, test: Test, resampling: Resampling, progress: Progress | None = None) -> TestResult:
    """The result of a bootstrap or randomization test of two systems that are prepared."""
    if test.draw == "swap":
        favoured = pair.favours(test)
        counts = near_exact.counted(pair.scorer, pair.order, test, resampling, favoured=favoured, progress=progress)
        estimate = near_exact.estimates(counts, np.array([abs(pair.difference)]), test, favoured=favoured)
        attributes = counted(pair, test, counts.exceedances, resampling.seed) | {
            "pvalue": float(estimate.pvalue[0]),
            "pvalue_low": float(estimate.low[0]),
            "pvalue_high": float(estimate.high[0]),
            "estimator": estimate.estimator[0],
            "disagreement": float(estimate.disagreement[0]),
            "signature": pair.described(test, resampling.signature)["signature"],
        }
        return TestResult(**attributes)
    exceedances = pair.scorer.exceedances(pair.order, test, resampling, favoured=pair.favours(test), progress=progress)
    return TestResult(**counted(pair, test, exceedances, resampling.seed))


def counted(pair: Pair, test: Test, exceedances: ExceedanceCounts, seed: int) -> dict[str, Any]:
    """The attributes of `TestResult` after so many resamples."""
    (p,), (low,), (high,) = pvalues(exceedances, np.array([abs(pair.difference)]), test)
    return pair.described(test, Resampling(exceedances.n_resamples, seed).signature) | {
        "pvalue": float(p),
        "pvalue_low": float(low),
        "pvalue_high": float(high),
        "n_resamples": exceedances.n_resamples,
        "n_greater": int(exceedances.n_greater[0]),
        "n_equal": int(exceedances.n_equal[0]),
    }
