"""Bootstrap and randomization tests of two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairsig.definitions import Test, find
from pairsig.engine import Progress, Resampling
from pairsig.metrics import Metric
from pairsig.paired import Pair, Result
from pairsig.tally import Tally, p_values


@dataclass(frozen=True, kw_only=True)
class TestResult(Result):
    """Result of a resampling test of two systems: what `Result` says, and how often the gain was extreme.

    Attributes
    ----------
    p_low, p_high
        95 % Clopper-Pearson interval of `pvalue` for its Monte Carlo error.
    n_resamples, n_greater, n_equal
        Resamples drawn; those beyond the observed gain as the formula says, and those that tie with it.
    """

    __test__ = False  # not a pytest class

    p_low: float
    p_high: float
    n_resamples: int
    n_greater: int
    n_equal: int


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    variant: str = "gt2",
    n_resamples: int = 1_000_000,
    seed: int = 2012,
    documents: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> TestResult:
    """Paired bootstrap test of two systems (Berg-Kirkpatrick, Burkett and Klein 2012, Figure 1).

    Null hypothesis: on the population the test set was drawn from, the better system is not better.

    A test set x* of the same size is drawn from x with replacement, the same segments for both systems, b times.
    With δ(x) >= 0 the gain of the better system:

    * ``variant="gt2"``: p = #{δ(x*) > 2δ(x)} / b. The resampled gains scatter around δ(x), not around 0 as the null
      hypothesis has it; subtracting δ(x) re-centres them, and an accidental gain beyond δ(x) becomes one beyond 2δ(x).
    * ``variant="percentile"``: p = #{δ(x*) < 0} / b (Koehn 2004; the paper's footnote 2).
    * ``variant="two-sided"``: p = (#{|δ(x*) − δ(x)| >= δ(x)} + 1) / (b + 1), the shift method (Noreen 1989), on both
      sides, with the + 1 of Davison and Hinkley (1997, section 4.4). (sacrebleu subtracts the mean from |δ(x*)|, which
      gives other values.)

    The first two are one-sided and strict (ties are counted in `n_equal`, not in p) and have no pseudo-count, so p can
    be 0: read it as "below 1/b" (`p_high` is the honest bound). In the third ties count, `n_greater` + `n_equal` is
    the count in p. δ(x) = 0 has no better system: p = 1 by definition. A test set of a single segment (or document) is
    refused: every resample is the test set itself.

    *Level.* The side of the first two is chosen by the data, so of equal systems more than 5 % have p < 0.05. In
    simulations (`tests/test_levels.py`: means, shares of items solved, accuracy, F1, BLEU) it was

    =============  ========  ========  =======  =======
    of n segments  20        50        100      500
    =============  ========  ========  =======  =======
    gt2            13-19 %   10-14 %   11-13 %  9-11 %
    percentile     13-25 %   10-15 %   11-13 %  9-11 %
    two-sided      5-9 %     4-6 %     4-6 %    4-6 %
    =============  ========  ========  =======  =======

    and 1 to 5 % with the two-sided `randomization_test` at any of them, which is exact. On few segments prefer that.

    Parameters
    ----------
    a, b
        Sufficient statistics of the two systems, (segments × columns of the metric), or (segments,) for one column.
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`. F1's columns are matched, predicted, gold.
    variant
        "gt2", "percentile" or "two-sided".
    n_resamples
        b, at most 10¹². The standard error of p is sqrt(p(1 − p)/b).
    seed
        One seed gives the same counts for any batch size, number of threads or machine.
    documents
        One id a segment: documents are drawn instead of segments, for sentences that are not independent.
    threads, batch
        Worker threads (default: all cores) and resamples a batch; they change nothing but time and memory.

    Returns
    -------
    TestResult. Cost: b·n draws and 2·b·n·columns flops; memory about 25 MiB a thread.

    Ties of metrics that are a `pairsig.Ratio` of whole numbers or decimals are told by whole numbers, whatever their
    size; those of others (BLEU, chrF, values such as 1/3) are gains that agree to 1e-13 of the metric's scale.

    Raises
    ------
    InputError
        For counts that cannot be (negative, more correct than there are), and for a score that is not finite, on the
        test set or on any of the resamples.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[9, 10, 10], [7, 9, 10], [8, 8, 9]])  # matched, predicted, gold
    >>> b = np.array([[8, 10, 10], [7, 9, 10], [6, 9, 9]])
    >>> result = bootstrap_test(a, b, metric="f1", n_resamples=10_000)
    >>> round(result.score_a, 2), round(result.score_b, 2), result.better
    (85.71, 73.68, 'a')
    """
    test, resampling = find("bootstrap", variant), Resampling(n_resamples, seed, threads, batch)
    return resampled(Pair.of(a, b, metric, documents), test, resampling)


def randomization_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    variant: str = "two-sided",
    n_resamples: int = 1_000_000,
    seed: int = 2012,
    documents: ArrayLike | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> TestResult:
    """Approximate randomization (stratified shuffling) test of two systems (Noreen 1989; Yeh 2000).

    Null hypothesis: on every segment the two systems' counts are exchangeable.

    The two systems' counts of each segment are swapped with probability 1/2, b times; δ' is the gain after a
    shuffle, in the observed direction.

    * ``variant="two-sided"``: p = (#{|δ'| >= |δ|} + 1) / (b + 1), as sigf and art have it.
    * ``variant="one-sided"``: p = (#{δ' >= δ} + 1) / (b + 1), as Bikel's comparator has it.

    Ties count (`n_greater` + `n_equal` is the count in p), and the observed labelling is one of the shuffles, hence
    the + 1: p is never 0. δ = 0: p = 1 by definition. The two-sided test keeps its level on any number of segments: of
    equal systems at most 5 % have p <= 0.05. The one-sided one does so where the direction was chosen beforehand; in
    the observed one, after looking, up to 10 % have. Arguments, result and cost as for `bootstrap_test`, with b·n/64
    random words.

    Examples
    --------
    Three segments, A better on all: of the 8 shuffles two are as extreme, so p is near 2/8.

    >>> import numpy as np
    >>> a, b = np.array([[1, 1]] * 3), np.array([[0, 1]] * 3)
    >>> round(randomization_test(a, b, metric="accuracy", n_resamples=100_000).pvalue, 2)
    0.25
    """
    test, resampling = find("randomization", variant), Resampling(n_resamples, seed, threads, batch)
    return resampled(Pair.of(a, b, metric, documents), test, resampling)


def resampled(pair: Pair, test: Test, resampling: Resampling, progress: Progress | None = None) -> TestResult:
    """The result of a test that draws, of two systems that are prepared: `bootstrap_test`, `randomization_test`."""
    tally = pair.judge.tally(pair.order, test, resampling, progress=progress)
    return TestResult(**counted(pair, test, tally, resampling.seed))


def counted(pair: Pair, test: Test, tally: Tally, seed: int) -> dict[str, Any]:
    """The attributes of `TestResult` after so many resamples."""
    (p,), (p_low,), (p_high,) = p_values(tally, np.array([abs(pair.lead)]), test)
    return pair.said(test, Resampling(tally.n_resamples, seed).signature) | {
        "pvalue": float(p),
        "p_low": float(p_low),
        "p_high": float(p_high),
        "n_resamples": tally.n_resamples,
        "n_greater": int(tally.n_greater[0]),
        "n_equal": int(tally.n_equal[0]),
    }
