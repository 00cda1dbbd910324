"""Bootstrap and randomization tests of two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairsig.core.definitions import Test, find
from pairsig.core.engine import Progress, Resampling, seed_of
from pairsig.core.exceedances import ExceedanceCounts, pvalues
from pairsig.metrics import Metric
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


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    method: str = "shifted",
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: int | np.random.Generator = 2012,
    documents: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> TestResult:
    """Test the difference of two systems with the paired bootstrap.

    The null hypothesis is that the systems are equally good on the population that the test set was drawn from (with
    a direction: that the first is not better, or not worse).

    Parameters
    ----------
    a, b
        Scores of the two systems per item, (segments,), which are averaged; or counts, (segments × columns of the
        metric).
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`. It may be omitted for scores per item, and where only one
        metric has this number of columns. The columns of "f1" are matched, predicted, gold.
    method
        "shifted" moves the resampled differences so that their mean is 0, as the null hypothesis demands. "percentile"
        asks how often the sign of the difference changes.
    alternative
        "two-sided"; "greater" or "less" if score(a) − score(b) is expected to be above or below 0, which must be
        decided before looking at the scores; or "observed", one-sided in the direction of the better system.
    n_resamples
        Number of resamples b, at most 10¹². The standard error of p is sqrt(p(1 − p)/b).
    rng
        An integer, the seed, or a numpy `Generator` from which the seed is drawn. The same seed gives the same counts
        for any batch size, number of threads or machine.
    documents
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
    randomization_test : A test that controls the false-positive rate on few segments, too.
    exact_bootstrap_test : The same p-value without Monte Carlo error.

    Notes
    -----
    A resample x* has as many segments as the test set x, drawn with replacement, the same ones for both systems. With
    d = score(a) − score(b), δ >= 0 the gain of the better system, and * for their values on a resample, the p-value is

    ===========  ======================================  ========================================
    alternative  method="shifted"                        method="percentile"
    ===========  ======================================  ========================================
    two-sided    ``(#{|δ* − δ| >= δ} + 1) / (b + 1)``    ``min(1, 2 (#{δ* <= 0} + 1) / (b + 1))``
    greater      ``(#{d* − d >= d} + 1) / (b + 1)``      ``(#{d* <= 0} + 1) / (b + 1)``
    less         ``(#{d* − d <= d} + 1) / (b + 1)``      ``(#{d* >= 0} + 1) / (b + 1)``
    observed     ``#{δ* > 2δ} / b``                      ``#{δ* < 0} / b``
    ===========  ======================================  ========================================

    The shifted observed test is that of Berg-Kirkpatrick et al. (2012, Figure 1), the percentile observed test that of
    Koehn (2004). Their p can be 0, which means "below 1/b"; `pvalue_high` is an upper bound. Their direction is chosen
    by the data, so that 9 to 25 % of equal systems get p < 0.05. The two-sided shifted test rejects 4 to 6 % of equal
    systems on 50 segments or more, and 5 to 9 % on 20; prefer `randomization_test` there. The page "False-positive
    rates" of the documentation has the simulations. The + 1 is that of Davison and Hinkley (1997, section 4.4).

    Equal systems get p = 1 by definition if the alternative is two-sided or observed. Ties of ratios of whole numbers
    or decimals are exact. Other scores (BLEU, chrF, values such as 1/3) tie if they agree to 1e-13 of the scale.

    The test draws b·n numbers for n segments, and takes about 25 MiB of memory per thread.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein, An Empirical Investigation of Statistical Significance in NLP (EMNLP 2012).
    Koehn, Statistical Significance Tests for Machine Translation Evaluation (EMNLP 2004). Noreen, Computer-Intensive
    Methods for Testing Hypotheses (1989). Davison and Hinkley, Bootstrap Methods and their Application (1997).

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
    return resampled(Pair.of(a, b, metric, documents), test, resampling)


def randomization_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: int | np.random.Generator = 2012,
    documents: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> TestResult:
    """Test the difference of two systems by approximate randomization, a paired permutation test.

    The null hypothesis is that on every segment the two systems' counts are exchangeable.

    Parameters
    ----------
    a, b, metric, n_resamples, rng, threads, batch
        See `bootstrap_test`.
    alternative
        "two-sided"; "greater" or "less" if score(a) − score(b) is expected to be above or below 0, which must be
        decided before looking at the scores; or "observed", one-sided in the direction of the better system.
    documents
        One id per segment: whole documents are swapped, for segments that are not independent.

    Returns
    -------
    TestResult

    See Also
    --------
    exact_test : The same p-value without Monte Carlo error, for ratios and means.
    sequential_test : Stops as soon as the decision is clear.
    compare : All pairs of several systems.

    Notes
    -----
    A shuffle swaps the two systems' counts of each segment with probability 1/2. With d = score(a) − score(b), δ >= 0
    the gain of the better system, d' and δ' their values after a shuffle, and b shuffles, the p-value is

    ===========  ================================
    alternative  p
    ===========  ================================
    two-sided    ``(#{|δ'| >= δ} + 1) / (b + 1)``
    greater      ``(#{d' >= d} + 1) / (b + 1)``
    less         ``(#{d' <= d} + 1) / (b + 1)``
    observed     ``(#{δ' >= δ} + 1) / (b + 1)``
    ===========  ================================

    sigf and art have the two-sided test, Bikel's comparator the observed one. The observed labelling is one of the
    shuffles, hence the + 1, and p is never 0. Equal systems get p = 1 by definition if the alternative is two-sided
    or observed.

    At most 5 % of equal systems get p <= 0.05, on any number of segments, unless the alternative is "observed": that
    direction is chosen by the data, and up to 10 % do.

    References
    ----------
    Noreen, Computer-Intensive Methods for Testing Hypotheses (1989). Yeh, More Accurate Tests for the Statistical
    Significance of Result Differences (COLING 2000).

    Examples
    --------
    A is better on each of three segments. Two of the eight possible shuffles are as extreme, so p is near 2/8.

    >>> round(randomization_test([1, 1, 1], [0, 0, 0], n_resamples=100_000).pvalue, 2)
    0.25
    """
    test = find("randomization", alternative=alternative)
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch)
    return resampled(Pair.of(a, b, metric, documents), test, resampling)


def resampled(pair: Pair, test: Test, resampling: Resampling, progress: Progress | None = None) -> TestResult:
    """The result of a bootstrap or randomization test of two systems that are prepared."""
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
