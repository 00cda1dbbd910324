"""Nearly exact p-values of the randomization test, for metrics that are smooth in their totals.

For the pair (A, B), let f be the score, T the total of both systems, dᵢ = aᵢ − bᵢ and sᵢ = ±1 (−1 where unit i is
swapped). After a shuffle, the difference of the scores is

    D(s) = f(T/2 + ½ Σ sᵢdᵢ) − f(T/2 − ½ Σ sᵢdᵢ).

It is odd in s, so its linear approximation L(s) = Σ sᵢwᵢ with wᵢ = dᵢ·∇f(T/2) has no error of second order. The
distribution of L plus a little normal noise, Z ~ N(0, τ²), is known without drawing: its characteristic function is a
product over the units. With h(s) = P(|L(s) + Z| >= c), given s,

    P(|D| >= δ) = P(|L + Z| >= c) + E[1{|D| >= δ} − h].

The first part is computed, only the second is estimated by shuffles. This is unbiased for any c, τ and w, and its
variance is the share of shuffles on which D and L disagree. Where that is more than the variance of a plain share, p
is the plain one. Far in the tail no shuffle is extreme. There, swaps are drawn from the exponentially tilted
distribution of L and weighted (importance sampling).

docs/computation.md has the measured gains.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pairsig.core import engine
from pairsig.core.definitions import Test
from pairsig.core.engine import Border, Product, Progress, Resampling, Scorer
from pairsig.core.exceedances import ExceedanceCounts, clopper_pearson, pvalues
from pairsig.core.influence import gradient
from pairsig.core.quantiles import normal_cdf
from pairsig.core.threads import on_threads
from pairsig.stats.exact.signed_sums import REACH, log_mgf, log_tails, saddle

Floats = NDArray[np.float64]

PLAIN, NEAR_EXACT, TILTED = "plain", "near-exact", "tilted"
"""Estimators: the share of shuffles that are extreme; corrected by L; corrected by L on tilted shuffles."""

_NOISE = 1 / 1024
"""τ relative to the standard deviation of L. Less noise needs more frequencies, and adds less variance."""
_GRAIN = 2.0**20
"""h and weights are rounded to multiples of 1/`_GRAIN`, so that sums are exact in any order."""

RARE = 1e-4
"""Below this p-value of L, swaps are drawn from the tilted distribution."""
_TILTED_SHARE = 50
"""One tilted shuffle for so many others."""
_FEWEST_TILTED = 1000
_LEAST_CHANCE = 2.0**-16
"""Smallest probability of a swap and of no swap, when tilted."""


@dataclass(frozen=True)
class Linear:
    """The linear approximation L of one pair's difference, and the event that approximates an extreme difference.

    Attributes
    ----------
    slope
        ∇f(T/2), per column of the engine's product.
    weights
        wᵢ per unit.
    noise
        τ; 0 if L is 0 on all shuffles, and there is nothing to gain.
    border
        c.
    tail
        P(L + Z >= c), one side of the event.
    """

    slope: Floats
    weights: Floats
    noise: float
    border: float
    tail: float

    @classmethod
    def of(cls, slope: Floats, weights: Floats, delta: float, *, strict: bool) -> Linear:
        """The approximation of |D| >= δ, or of |D| > δ if `strict`."""
        deviation = math.sqrt(float(weights @ weights))
        if not (0 < delta < math.inf and 0 < deviation < math.inf):
            return cls(slope, weights, 0.0, delta, 0.0)
        noise = _NOISE * deviation
        # Where no shuffle of L reaches δ, the observed value of L, with as many shuffles beyond as there must be of D.
        reach = float(np.abs(weights).sum())
        nearest = delta if delta < reach else abs(float(weights.sum()))
        borders = nearest + REACH * noise * np.array([-1.0, 0.0, 1.0])
        tails = np.exp(log_tails(weights, noise, borders))
        # If δ is one of few values of L, noise would split this value: the border moves to the side where it is empty.
        density = math.exp(-0.5 * (nearest / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
        split = float(tails[0] - tails[2]) > 6 * REACH * noise * density
        place = 1 if not split or borders[0] <= 0 else 2 if strict else 0
        return cls(slope, weights, noise, float(borders[place]), float(tails[place]))

    @property
    def pvalue(self) -> float:
        """P(|L + Z| >= c)."""
        return 2 * self.tail

    def tilted(self) -> tuple[NDArray[np.uint64], Floats, float]:
        """Thresholds for `random_streams.tilted_swaps`; per unit, what a swap adds to −log of the weight; its constant.

        The tilt makes c the mean of L. A shuffle with swaps bᵢ ∈ {0, 1} has the weight exp(constant − Σ bᵢ·added).
        """
        tilt = saddle(self.weights, self.noise, self.border)
        chance = np.clip(0.5 - 0.5 * np.tanh(tilt * self.weights), _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        chance = np.where(self.weights == 0, 0.5, chance)
        thresholds = np.rint(chance * 2.0**32)
        chance = thresholds / 2.0**32
        added = np.log(chance) - np.log1p(-chance)
        return thresholds.astype(np.uint64), added, -float(np.log(2 * (1 - chance)).sum())


@dataclass(frozen=True)
class Counts:
    """What randomization needs of shuffles, for each pair.

    Attributes
    ----------
    exceedances
        How many shuffles are extreme, as for the plain estimate.
    linear
        P(|L + Z| >= c); nan where there is only the plain estimate.
    n_added, n_removed
        Sums of the positive and of the negative parts of 1{|D| >= δ} − h.
    tilted
        P(|D| >= δ) from tilted shuffles, and half of its 95 % interval; nan where these were not drawn or not reliable.
    """

    exceedances: ExceedanceCounts
    linear: Floats
    n_added: Floats
    n_removed: Floats
    tilted: Floats


@dataclass(frozen=True)
class Estimates:
    """P-values, their 95 % intervals, the estimator of each, and the share of shuffles on which D and L disagree."""

    pvalue: Floats
    low: Floats
    high: Floats
    estimator: list[str]
    disagreement: Floats


def counted(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    test: Test,
    resampling: Resampling,
    *,
    favoured: bool = True,
    resamples: range | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Shuffle pairs of systems, the better one first, over the same swaps; parameters as for `Scorer.exceedances`."""
    resamples = range(resampling.n_resamples) if resamples is None else resamples
    if resampling.estimator == PLAIN:
        plain = scorer.exceedances(pairs, test, resampling, favoured=favoured, resamples=resamples, progress=progress)
        nothing = np.full(len(pairs), np.nan)
        return Counts(plain, nothing, nothing, nothing, np.full((2, len(pairs)), np.nan))
    borders = [Border.of(scorer, pairs, sign, 1) for sign in (1, -1)]
    strict = not favoured
    approximations = _approximations(scorer, pairs, borders[0].values, strict=strict, threads=resampling.threads)
    slopes = np.stack([linear.slope for linear in approximations])
    sums, noise, border = np.array([
        (linear.weights.sum(), linear.noise, linear.border) for linear in approximations
    ]).T  # fmt: skip
    greater, equal = np.zeros((2, len(pairs)), dtype=np.int64)
    added, removed = np.zeros((2, len(pairs)))
    adding = Lock()

    def add(moved: Floats, number: int) -> None:
        for scored, positions, exchanged, rows in scorer.shuffled(moved, pairs, number):
            # 1{|D| >= δ}: where a shuffle is in relation to the borders δ and −δ, > 0 beyond and 0 on them.
            first, second = (of_side.sides(scored, positions, rows) for of_side in borders)
            extreme = (first > 0) | (second > 0) if strict else (first >= 0) | (second >= 0)
            # L = Σ sᵢwᵢ: the sum of all wᵢ, and what the swaps change.
            moves = np.zeros(extreme.shape)
            for column, slope in zip(exchanged, slopes[rows].T, strict=True):
                moves += column * (2 * slope)[:, None]
            # 1{|D| >= δ} − h, the positive and the negative part.
            apart = extreme - _share(np.abs(moves + sums[rows, None]), border[rows, None], noise[rows, None])
            higher = np.maximum(apart, 0.0).sum(axis=1)
            lower = higher - apart.sum(axis=1)
            # The counts of the plain estimate.
            beyond, on = ((first > 0) if favoured else (first < 0)).sum(axis=1), (first == 0).sum(axis=1)
            if test.two_sided:
                beyond, on = beyond + (second > 0).sum(axis=1), on + (second == 0).sum(axis=1)
            with adding:
                greater[rows] += beyond
                equal[rows] += on
                added[rows] += higher
                removed[rows] += lower

    engine.for_each_batch(add, test, scorer.product, resampling, resamples, progress)
    if test.two_sided:  # without a better system, both sides have the same border
        equal[scorer.gains(pairs) == 0] //= 2
    linear = np.array([np.nan if of_pair.noise == 0 else of_pair.pvalue for of_pair in approximations])
    # Small p-values, from shuffles of their own that are drawn near the border.
    tilted = np.full((2, len(pairs)), np.nan)
    if favoured:
        rare = np.flatnonzero((linear < RARE) & (linear > 0))
        n_tilted = max(_FEWEST_TILTED, resampling.n_resamples // _TILTED_SHARE)
        work = replace(resampling, n_resamples=n_tilted, threads=1, batch=None)

        def tilt(row: int) -> None:
            tilted[:, row] = _tilted(scorer, pairs, row, approximations[row], borders[0], test, work)

        on_threads(tilt, rare.tolist(), resampling.threads)
    return Counts(ExceedanceCounts(len(resamples), greater, equal), linear, added, removed, tilted)


def _columns(scorer: Scorer) -> list[NDArray[np.generic]]:
    """The columns (systems × units) of the scorer's product."""
    if scorer.fractions is None:
        return list(np.moveaxis(scorer.counts, -1, 0))
    return [scorer.fractions.numerators, scorer.fractions.denominators]


def _differences(scorer: Scorer, first: int, second: int) -> Floats:
    """dᵢ, (columns × units)."""
    return np.stack([
        np.subtract(column[first], column[second], dtype=np.float64) for column in _columns(scorer)
    ])  # fmt: skip


def _approximations(
    scorer: Scorer, pairs: NDArray[np.intp], deltas: Floats, *, strict: bool, threads: int | None
) -> list[Linear]:
    """The linear approximation of every pair's difference."""
    observed = scorer.product.observed
    middle = (observed[pairs[:, 0]] + observed[pairs[:, 1]]) / 2
    if scorer.fractions is None:
        largest = np.stack([np.abs(column).max(axis=1) for column in _columns(scorer)], axis=1)
        largest = np.maximum(largest[pairs[:, 0]], largest[pairs[:, 1]]).astype(np.float64)
        slopes = gradient(middle, largest, scorer.metric) * (1 if scorer.metric.higher_is_better else -1)
    else:
        above, below = middle[:, 0], np.maximum(middle[:, 1], 1.0)
        slopes = np.stack([1 / below, -above / below**2], axis=1)
    slopes[~np.isfinite(slopes).all(axis=1)] = 0.0

    def approximate(row: int) -> Linear:
        differences = _differences(scorer, *pairs[row].tolist())
        weights = np.zeros(differences.shape[1])
        for slope, difference in zip(slopes[row], differences, strict=True):
            weights += slope * difference
        return Linear.of(slopes[row], weights, abs(float(deltas[row])), strict=strict)

    return on_threads(approximate, range(len(pairs)), threads)


def _share(size: Floats, border: Floats, noise: Floats) -> Floats:
    """h: the probability that |L + Z| >= c, from |L|; 0 without noise."""
    share = (size > border) & (noise > 0) & np.ones_like(size, dtype=bool)
    probability: Floats = share.astype(np.float64)
    near = np.abs(size - border) < 2 * REACH * noise
    if near.any():
        c, tau = (np.broadcast_to(values, size.shape)[near] for values in (border, noise))
        beyond = normal_cdf((size[near] - c) / tau) + normal_cdf((-size[near] - c) / tau)
        probability[near] = np.rint(beyond * _GRAIN) / _GRAIN
    return probability


def _tilted(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    row: int,
    linear: Linear,
    border: Border,
    test: Test,
    resampling: Resampling,
) -> tuple[float, float]:
    """P(|D| >= δ) of one pair from tilted shuffles, and half of its 95 % interval; nan if that is not reliable.

    With W the weight of a shuffle, relative to P(L + Z >= c), the mean of W (1{D >= δ} − P(L + Z >= c | s)) is the
    relative error of the linear approximation.
    """
    pair = pairs[row]
    thresholds, swap, constant = linear.tilted()
    steps = np.ones(len(linear.slope)) if scorer.product.steps is None else scorer.product.steps
    fine = 2.0 ** min(30, math.floor(51 - math.log2(1 + float(np.abs(swap).sum()))))
    columns = [column[pair].astype(np.float64) for column in _columns(scorer)]
    product = Product([*columns, np.stack([swap, np.zeros_like(swap)])], np.array([*steps, fine]))
    rows = slice(row, row + 1)
    # The weight of a shuffle on the border, which is typical of those on which D and L disagree.
    tilt = saddle(linear.weights, linear.noise, linear.border)
    typical = math.exp(log_mgf(linear.weights, linear.noise, tilt) - tilt * linear.border - math.log(linear.tail))
    sums = np.zeros(3)

    def add(moved: Floats, number: int) -> None:
        ((scored, positions, exchanged, _),) = scorer.shuffled(moved[:-1], pairs[rows], number, np.array([[0, 1]]))
        extreme = border.sides(scored, positions, rows)[0] >= 0
        ahead = linear.weights.sum() + 2 * (linear.slope @ exchanged[:, 0])
        apart = extreme - _one_sided(ahead, linear)
        off = np.flatnonzero(apart)
        weight = np.exp(np.minimum(constant - moved[-1, 0, off] - math.log(linear.tail), 300.0)) / typical
        weighted = np.rint(weight * apart[off] * _GRAIN) / _GRAIN
        sums[:] = (
            sums[0] + weighted.sum(), sums[1] + (np.rint(weighted**2 * _GRAIN) / _GRAIN).sum(),
            max(sums[2], np.abs(weighted).max(initial=0.0)),
        )  # fmt: skip

    engine.for_each_batch(add, test, product, resampling, range(resampling.n_resamples), thresholds=thresholds)
    total, square, largest = sums.tolist()
    # A few large weights say little about those that did not occur: then the mean is not near normal.
    if largest**2 > 0.2 * (square + 10):
        return math.nan, math.nan
    mean = 1 + typical * total / resampling.n_resamples
    half = 1.96 * typical * math.sqrt(square + 2) / resampling.n_resamples
    if half > 0.5 * mean:
        return math.nan, math.nan
    return linear.pvalue * mean, linear.pvalue * half


def _one_sided(values: Floats, linear: Linear) -> Floats:
    """P(L + Z >= c) from L."""
    probability: Floats = (values > linear.border).astype(np.float64)
    near = np.abs(values - linear.border) < 2 * REACH * linear.noise
    if near.any():
        probability[near] = normal_cdf((values[near] - linear.border) / linear.noise)
    return probability


def estimates(counts: Counts, gains: Floats, test: Test, *, favoured: bool = True) -> Estimates:
    """The p-value of each pair by its best estimator.

    The interval of the near-exact p is that of a difference of two shares, each with the interval of Clopper and
    Pearson (MOVER; Zou and Donner 2008); that of the tilted p is normal.
    """
    b = counts.exceedances.n_resamples
    plain, plain_low, plain_high = pvalues(counts.exceedances, gains, test)
    with np.errstate(invalid="ignore"):
        added, removed = np.nan_to_num(counts.n_added), np.nan_to_num(counts.n_removed)
        disagreement = (added + removed) / b
        (add_low, add_high), (less_low, less_high) = (clopper_pearson(part, b) for part in (added, removed))
        combined = counts.linear + (added - removed) / b
        low = combined - np.hypot(added / b - add_low, less_high - removed / b)
        high = combined + np.hypot(add_high - added / b, removed / b - less_low)
        # The variance of a shuffle's part in p, which is half of both sides where the test has only one.
        half = 1.0 if test.two_sided else 0.5
        near_exact = (half**2 * disagreement <= plain * (1 - plain)) & (combined > 0) & (gains != 0)
        tilted_p, error = counts.tilted
        tilted = near_exact & (np.abs(tilted_p - combined) <= error + np.maximum(high - combined, combined - low))
    p, low, high = np.where(tilted, [tilted_p, tilted_p - error, tilted_p + error], [combined, low, high])
    p, low, high = (
        half * np.clip(bound, least, 1.0) for bound, least in ((p, sys.float_info.min), (low, 0), (high, 0))
    )
    if not favoured:
        p, low, high = 1 - p, 1 - high, 1 - low
    p, low, high = np.where(near_exact, [p, low, high], [plain, plain_low, plain_high])
    chosen = [TILTED if t else NEAR_EXACT if n else PLAIN for t, n in zip(tilted, near_exact, strict=True)]
    return Estimates(p, low, high, chosen, np.where(np.isnan(counts.linear), np.nan, disagreement))
