"""Exact tests: p-values over all 2ⁿ swaps, without drawing.

Whatever the metric, all swaps are enumerated if at most `FEW` units differ. With more, the metric must be a ratio of
sums of whole steps: the sums of two systems after random swaps then lie on a lattice, see `lattice`. Items that are
passed or failed have the sign test in closed form. For everything else there is `near_exact`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Test, find
from pairsig.core.scores import TIE, Scorer
from pairsig.core.steps import in_steps
from pairsig.core.threads import on_threads
from pairsig.core.totals import one_blas_thread
from pairsig.io.errors import InputError
from pairsig.metrics import Metric
from pairsig.stats.lattice import Border, Integers, TooLargeError, log_tail
from pairsig.stats.paired import Pair
from pairsig.stats.pass_fail import Items, log_sign_tail
from pairsig.stats.results import TestResult

Floats = NDArray[np.float64]

FEW = 16
"""Units that differ, up to which all of their swaps are enumerated: 65,536."""
_DIGITS = 10
"""Digits of a p-value that are the same on every machine."""
_COUNTED = 33
"""Units that differ, up to which p·2ⁿ is rounded to a whole number, which p is exactly."""


def exact_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    alternative: str = "two-sided",
    document: ArrayLike | None = None,
) -> TestResult:
    """Test the difference of two systems with the exact paired permutation test.

    The null hypothesis is that on every segment the two systems' counts are exchangeable: it is chance which system
    produced which.

    Parameters
    ----------
    a, b
        Scores of the two systems per item, (segments,), which are averaged; or counts, (segments × columns of the
        metric).
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`. It may be omitted for scores per item, and where only one
        metric has this number of columns. The columns of "f1" are matched, predicted, gold.
    alternative
        "two-sided"; or "greater" or "less" if score(a) − score(b) is expected to be above or below 0, which must be
        decided before looking at the scores.
    document
        One id per segment: whole documents are swapped, for segments that are not independent.

    Returns
    -------
    TestResult
        `pvalue` has ten certain digits however small it is, and `log10_pvalue` goes beyond the range of floats. With up
        to 33 segments that differ, p is exactly a whole number of 2⁻ⁿ.

    Raises
    ------
    InputError
        If more than 16 segments differ, and the metric is not a `pairsig.Ratio` of whole steps (BLEU, chrF, COMET), or
        the totals take too many values.

    Notes
    -----
    This is the p-value that `randomization_test` estimates. The two systems' counts of each segment are swapped or not,
    with all 2ⁿ choices equally likely. With δ >= 0 the gain of the better system and δ' that after the swaps, p =
    P(|δ'| >= δ) (Fisher 1935). With d = score(a) − score(b), it is P(d' >= d) for "greater" and P(d' <= d) for "less".
    Ties count. Equal systems get p = 1 by definition if the alternative is two-sided.

    If the null hypothesis is true, p <= 0.05 on at most 5 % of test sets, for any number of segments. Equal scores are
    enough for pass/fail items; for means and F1 they make the test approximate (docs/false-positive-rate.md).

    Any metric can be tested if at most 16 segments differ. With more, it must be a `pairsig.Ratio` of values that are
    multiples of a decimal or binary step: accuracy, UAS, LAS, recall, precision, F1, AER, TER, or a mean of counts or
    grades. docs/computation.md explains how the distribution of δ' follows from the counts (Zmigrod et al. 2022).

    Examples
    --------
    A is better on each of three segments. Two of the 8 swaps are as extreme, and one of them in the direction of A. On
    a thousand such segments these are 2 of 2¹⁰⁰⁰ swaps.

    >>> exact_test([1, 1, 1], [0, 0, 0]).pvalue
    0.25
    >>> exact_test([1, 1, 1], [0, 0, 0], alternative="greater").pvalue
    0.125
    >>> round(exact_test([1] * 1000, [0] * 1000).log10_pvalue, 6)
    -300.728966
    """
    pair, test = Pair.of(a, b, metric, document), find("exact", alternative=alternative)
    (log,) = log_pvalues(pair.scorer, pair.order, test, favoured=pair.favours(test)).tolist()
    if math.isnan(log):
        raise InputError(
            f"there is no exact test for {pair.metric.name} with these counts: more than {FEW} {pair.unit}s differ, "
            "and it is not a ratio of sums that take few values (a pairsig.Ratio of whole steps); use "
            "randomization_test, whose p-value is nearly exact"
        )
    p, log10_p = probability(log)
    return TestResult(**pair.described(test), pvalue=p, pvalue_low=p, pvalue_high=p, log10_pvalue=log10_p)


def probability(log: float) -> tuple[float, float]:
    """A p-value and its decimal logarithm, with the digits that are the same on every machine.

    A whole number of 2⁻ⁿ is kept for n <= `_COUNTED`; other p-values are rounded to `_DIGITS` digits.

    >>> probability(math.log(0.96435546875)), probability(math.log(0.0123456789123))
    ((0.96435546875, -0.0157628523), (0.01234567891, -1.9084850224))
    """
    p = math.exp(log)
    log10_p = round(log / math.log(10), _DIGITS) if log > -math.inf else -math.inf
    count = p * 2.0**_COUNTED
    if round(count) and abs(count - round(count)) < 1e-12 * count:
        return round(count) / 2**_COUNTED, log10_p
    return float(f"{p:.{_DIGITS - 1}e}"), log10_p


def log_pvalues(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    test: Test,
    *,
    favoured: bool = True,
    threads: int | None = None,
) -> Floats:
    """Natural logarithms of exact p-values (pairs,); NaN where there is no exact test.

    `pairs` are positions (pairs × 2) of the better and the other system, and `favoured` is `Test.favours`.
    """
    gains = scorer.gains(pairs)
    logs = np.full(len(pairs), np.nan)
    if not test.directed:
        logs[gains == 0] = 0.0
    left = np.flatnonzero(np.isnan(logs))
    items = Items.of(scorer.counts, scorer.metric)

    def compute(row: int) -> None:
        logs[row] = _two_systems(scorer, pairs[row], strict=not favoured)

    # The mass beyond δ on one side; against the better system, p is 1 − this mass without ties.
    if items is not None:
        won, lost = items.better(*pairs[left].T)
        logs[left] = log_sign_tail(won + lost, won + (not favoured))
    elif len(left):
        with one_blas_thread():
            on_threads(compute, left.tolist(), threads)
    done = left[~np.isnan(logs[left])]
    sides = 2 if test.two_sided else 1
    with np.errstate(divide="ignore"):
        logs[done] = np.minimum(logs[done] + math.log(sides), 0.0) if favoured else np.log1p(-np.exp(logs[done]))
    return logs


def _two_systems(scorer: Scorer, pair: NDArray[np.intp], *, strict: bool) -> float:
    """Log of P(gain >= δ) after random swaps, or of P(gain > δ) if `strict`; NaN where that is out of reach."""
    columns = np.stack([column[pair] for column in scorer.columns])  # (columns, 2, units)
    differs = (columns[:, 0] != columns[:, 1]).any(axis=0)
    n_different = int(differs.sum())
    if not n_different:
        return -math.inf if strict else 0.0
    if n_different <= FEW:
        return math.log(of_all) if (of_all := _enumerated(scorer, pair, differs, strict=strict)) else -math.inf
    whole = _whole(scorer, columns)
    if whole is None:
        return math.nan
    event = swap_event(*whole, strict=strict)
    try:
        log = math.nan if event is None else log_tail(*event)
    except TooLargeError:
        return math.nan
    if n_different <= _COUNTED and log > -math.inf:
        return math.log(round(math.exp(log) * 2**n_different) / 2**n_different)
    return log


def _enumerated(scorer: Scorer, pair: NDArray[np.intp], differs: NDArray[np.bool_], *, strict: bool) -> float:
    """P(gain >= δ), or P(gain > δ), over the swaps of the few units that differ, by going through all of them."""
    n = int(differs.sum())
    swaps = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
    total = scorer.product.observed[pair]  # (2 × columns)
    gained = np.stack([
        swaps @ np.subtract(column[pair[1]][differs], column[pair[0]][differs], dtype=np.float64)
        for column in scorer.columns
    ])  # fmt: skip
    quality = scorer.scored(total.T[:, :, None] + np.stack([gained, -gained], axis=1))
    gains, delta = quality[0] - quality[1], float(scorer.gains(pair[None])[0])
    return float(np.mean(gains > delta + scorer.band if strict else gains >= delta - scorer.band))


def _whole(scorer: Scorer, columns: NDArray[Any]) -> tuple[Integers, Integers] | None:
    """Whole numerators, negative where lower is better, and denominators, (2 × units); None if there are none."""
    if scorer.form is None:
        return None
    parts = []
    for values, steps in zip(columns, scorer.product.column_steps.tolist(), strict=True):
        whole = np.rint(in_steps(values, steps))
        if not np.array_equal(whole / steps, values):
            return None
        parts.append(whole.astype(np.int64))
    above, below = parts
    if ((below == 0) & (above != 0)).any() and not np.array_equal(*below):
        return None  # a shuffle may have such units only
    return above if scorer.metric.higher_is_better else -above, below


def swap_event(above: Integers, below: Integers, *, strict: bool = False) -> tuple[Integers, Integers, Border] | None:
    """The first system's totals after random swaps as steps, with their times, and the border of its gain >= δ.

    Let m and d be its numerator and denominator after the swaps, and N and D those of both systems. Then

        m/d − (N − m)/(D − d) >= δ  is  m >= d/D (δ (D − d) + N),

    where 0/0 is 0. δ is the observed gain less `TIE`, or plus `TIE` if `strict`.

    Parameters
    ----------
    above, below
        Whole numerators and denominators, (2 × units); higher is better.

    Returns
    -------
    Distinct steps (column: numerator, row: denominator), how many there are of each, and the border, from rows to
    columns. None if no denominator is above 0.
    """
    steps = np.stack([above[0] - above[1], below[0] - below[1]], axis=1)
    # It is chance which of the two is made, so the sign does not matter. Rising numerators leave fewer distinct steps.
    down = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
    least = [int(np.where(down, part[0], part[1]).sum()) for part in (above, below)]
    steps[down] *= -1
    units = np.array([max(1, int(np.gcd.reduce(column))) for column in steps.T])
    distinct, times = np.unique(steps[(steps != 0).any(axis=1)] // units, axis=0, return_counts=True)
    totals_above, totals_below = above.sum(axis=1).astype(float), below.sum(axis=1).astype(float)
    n, d_of_both = float(totals_above.sum()), float(totals_below.sum())
    if d_of_both <= 0:
        return None
    shares = np.divide(totals_above, totals_below, out=np.zeros(2), where=totals_below != 0)
    scale = max(1.0, float(np.abs(shares).max()))
    delta = float(shares[0] - shares[1]) + TIE * scale * (1 if strict else -1)

    def border(rows: Floats) -> Floats:
        d = least[1] + units[1] * rows
        m = d / d_of_both * (delta * (d_of_both - d) + n)
        m = np.where(d <= 0, delta * d_of_both + n, np.where(d >= d_of_both, delta * d_of_both, m))
        return np.asarray((m - least[0]) / units[0])

    return distinct, times, border
