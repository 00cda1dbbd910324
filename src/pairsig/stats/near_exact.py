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
is the plain one. That choice looks at the same shuffles, so it leaves a bias, which is small beside the interval.

If the approximation is wrong in regions that no shuffle reaches, p may be far below its interval's upper end. Where
that end is more than `BOUND` times p, the p-value is that end, and results print it as a bound.

docs/computation.md has the measured gains.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pairsig.core.definitions import Test
from pairsig.core.exceedances import Exceedances, clopper_pearson, pvalues
from pairsig.core.influence import gradient
from pairsig.core.scores import Scorer
from pairsig.core.threads import on_threads
from pairsig.core.totals import Resampling

Floats = NDArray[np.float64]

PLAIN, NEAR_EXACT, BOUNDED = "plain", "near-exact", "bound"
"""Estimators: the share of shuffles that are extreme; corrected by L; the upper end of the latter's interval."""

BOUND = 2.0
"""A near-exact p-value whose interval reaches above so many times itself is reported as a bound."""

_NOISE = 1 / 1024
"""τ relative to the standard deviation of L. Less noise needs more frequencies, and adds less variance."""
_REACH = 4.0
"""Noise stays within so many τ, for practical purposes."""
_GRAIN = 2.0**20
"""h is rounded to multiples of 1/`_GRAIN`, so that sums are exact in any order."""
_NEGLIGIBLE = 25.0
"""Frequencies and aliases are left out where they are below e⁻²⁵ ≈ 1e-11 of the tail."""
_FIRST_UNITS = 32
"""Units that are multiplied first; for most frequencies their product is already negligible."""
_FINE = 32
"""Frequencies of a block."""
_AT_ONCE = 2**15
"""Waves that are computed at once: 512 KiB, which stay in the processor's cache."""
_MOST_UNITS = 2**14
"""Units that are multiplied at once."""


@dataclass(frozen=True)
class Linear:
    """The linear approximation L of one pair's difference, and the event that approximates an extreme difference.

    Attributes
    ----------
    slope
        ∇f(T/2), per column of the scorer's product.
    total
        Σ wᵢ.
    noise
        τ; 0 if L is 0 on all shuffles, and there is nothing to gain.
    border
        c.
    tail
        P(L + Z >= c), one side of the event.
    """

    slope: Floats
    total: float
    noise: float
    border: float
    tail: float

    @classmethod
    def of(cls, slope: Floats, weights: Floats, delta: float, *, strict: bool) -> Linear:
        """The approximation of |D| >= δ, or of |D| > δ if `strict`."""
        deviation, total = math.sqrt(float(weights @ weights)), float(weights.sum())
        if not (0 < delta < math.inf and 0 < deviation < math.inf):
            return cls(slope, total, 0.0, delta, 0.0)
        noise = _NOISE * deviation
        # If L never reaches δ, its border is its own observed value: the shuffle that swaps nothing is extreme for D.
        reach = float(np.abs(weights).sum())
        nearest = delta if delta < reach else abs(total)
        borders = nearest + _REACH * noise * np.array([-1.0, 0.0, 1.0])
        tails = np.exp(log_tails(weights, noise, borders))
        # If δ is one of few values of L, noise would split this value: the border moves to the side where it is empty.
        density = math.exp(-0.5 * (nearest / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
        # Three times what a normal distribution has between the outer borders, which are 2 · `_REACH` τ apart.
        split = float(tails[0] - tails[2]) > 6 * _REACH * noise * density
        chosen = 1 if not split or borders[0] <= 0 else 2 if strict else 0
        return cls(slope, total, noise, float(borders[chosen]), float(tails[chosen]))


@dataclass(frozen=True)
class Estimates:
    """P-values, their 95 % intervals, and the estimator of each."""

    pvalue: Floats
    low: Floats
    high: Floats
    estimator: list[str]


def counted(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, resampling: Resampling, *, favoured: bool = True
) -> Exceedances:
    """Shuffle pairs of systems, the better one first, over the same swaps; parameters as for `sampling.exceedances`.

    `linear` is P(|L + Z| >= c), and `n_added` and `n_removed` are sums of the positive and of the negative parts of
    1{|D| >= δ} − h.
    """
    delta, band, strict = scorer.gains(pairs), scorer.band, not favoured
    approximations = _approximations(scorer, pairs, delta, strict=strict, threads=resampling.threads)
    slopes = np.stack([linear.slope for linear in approximations])
    sums, noise, border = np.array([(linear.total, linear.noise, linear.border) for linear in approximations]).T
    greater, equal = np.zeros((2, len(pairs)), dtype=np.int64)
    added, removed = np.zeros((2, len(pairs)))
    adding = Lock()

    def add(distinct: Floats, number: int) -> None:
        for gains, exchanged, rows in scorer.shuffled(distinct, pairs, number):
            # L = Σ sᵢwᵢ: the sum of all wᵢ, and what the swaps change.
            moves = np.zeros(gains.shape)
            for column, slope in zip(exchanged, slopes[rows].T, strict=True):
                moves += column * (2 * slope)[:, None]
            # 1{|D| >= δ} − h, the positive and the negative part.
            beyond, at_least = delta[rows, None] + band, delta[rows, None] - band
            size = np.abs(gains)
            extreme = size > beyond if strict else size >= at_least
            apart = extreme - _share(np.abs(moves + sums[rows, None]), border[rows, None], noise[rows, None])
            higher = np.maximum(apart, 0.0).sum(axis=1)
            lower = higher - apart.sum(axis=1)
            # The counts of the plain estimate.
            far = size if test.two_sided else gains if favoured else -gains
            side = 1 if test.two_sided or favoured else -1
            n_beyond = (far > (beyond if side == 1 else -at_least)).sum(axis=1)
            n_at_least = (far >= (at_least if side == 1 else -beyond)).sum(axis=1)
            with adding:
                greater[rows] += n_beyond
                equal[rows] += n_at_least - n_beyond
                added[rows] += higher
                removed[rows] += lower

    scorer.product.for_each_batch(add, "swap", resampling)
    linear = np.array([np.nan if of_pair.noise == 0 else 2 * of_pair.tail for of_pair in approximations])
    return Exceedances(len(resampling.drawn), greater, equal, linear, added, removed)


def estimates(counts: Exceedances, gains: Floats, test: Test, *, favoured: bool = True) -> Estimates:
    """The p-value of each pair by its best estimator, which for a bootstrap is the plain one.

    The interval of the near-exact p is that of a difference of two shares, each with the interval of Clopper and
    Pearson (MOVER; Zou and Donner 2008).
    """
    b = counts.n_resamples
    plain, plain_low, plain_high = pvalues(counts, gains, test)
    if test.draw == "resample":
        return Estimates(plain, plain_low, plain_high, [PLAIN] * len(plain))
    with np.errstate(invalid="ignore"):
        added, removed = np.nan_to_num(counts.n_added), np.nan_to_num(counts.n_removed)
        (add_low, add_high), (less_low, less_high) = (clopper_pearson(part, b) for part in (added, removed))
        p = counts.linear + (added - removed) / b
        low = p - np.hypot(added / b - add_low, less_high - removed / b)
        high = p + np.hypot(add_high - added / b, removed / b - less_low)
        # The variance of a shuffle's part in p, which is half of both sides where the test has only one.
        half = 1.0 if test.two_sided else 0.5
        near_exact = (half**2 * (added + removed) / b <= plain * (1 - plain)) & (p > 0)
    p, low, high = (
        half * np.clip(bound, least, 1.0) for bound, least in ((p, sys.float_info.min), (low, 0), (high, 0))
    )
    if not favoured:
        p, low, high = 1 - p, 1 - high, 1 - low
    bounded = near_exact & (high > BOUND * p)
    p = np.where(bounded, high, p)
    p, low, high = np.where(near_exact, [p, low, high], [plain, plain_low, plain_high])
    chosen = np.select([bounded, near_exact], [BOUNDED, NEAR_EXACT], PLAIN)
    return Estimates(p, low, high, chosen.tolist())


def _approximations(
    scorer: Scorer, pairs: NDArray[np.intp], deltas: Floats, *, strict: bool, threads: int | None
) -> list[Linear]:
    """The linear approximation of every pair's difference."""
    observed = scorer.product.observed
    middle = (observed[pairs[:, 0]] + observed[pairs[:, 1]]) / 2
    if scorer.form is None:
        largest = np.stack([np.abs(column).max(axis=1) for column in scorer.columns], axis=1)
        largest = np.maximum(largest[pairs[:, 0]], largest[pairs[:, 1]]).astype(np.float64)
        slopes = gradient(middle, largest, scorer.metric)
    else:
        above, below = middle[:, 0], np.where(middle[:, 1] > 0, middle[:, 1], 1.0)
        slopes = scorer.form.factor * np.stack([1 / below, -above / below**2], axis=1)
    slopes = slopes if scorer.metric.higher_is_better else -slopes
    slopes[~np.isfinite(slopes).all(axis=1)] = 0.0

    def approximate(row: int) -> Linear:
        first, second = pairs[row].tolist()
        weights = np.zeros(scorer.product.n_units)
        for slope, column in zip(slopes[row], scorer.columns, strict=True):
            weights += slope * np.subtract(column[first], column[second], dtype=np.float64)
        return Linear.of(slopes[row], weights, float(deltas[row]), strict=strict)

    return on_threads(approximate, range(len(pairs)), threads)


def _share(size: Floats, border: Floats, noise: Floats) -> Floats:
    """h: the probability that |L + Z| >= c, from |L|; 0 without noise."""
    from scipy.special import ndtr

    probability: Floats = ((size > border) & (noise > 0)).astype(np.float64)
    near = np.abs(size - border) < 2 * _REACH * noise
    if near.any():
        c, tau = (np.broadcast_to(values, size.shape)[near] for values in (border, noise))
        beyond = ndtr((size[near] - c) / tau) + ndtr((-size[near] - c) / tau)
        probability[near] = np.rint(beyond * _GRAIN) / _GRAIN
    return probability


def log_tails(weights: Floats, noise: float, borders: Floats) -> Floats:
    """Log of P(Σ sᵢwᵢ + Z >= c), Z ~ N(0, τ²), for borders c > 0 near each other, with a relative error below 1e-7.

    It is −∞ if the middle border is far beyond the largest sum. With M the moment generating function, and any θ > 0
    and spacing ω,

        ω/2π Σⱼ M(z) e^{−zc} / z,  z = θ + ijω,  j = …, −1, 0, 1, …,

    is the tail and its aliases, Σₖ e^{θ·2πk/ω} P(L + Z >= c + 2πk/ω) (Poisson summation: Abate and Whitt 1992). θ
    (`tilt`) is the saddle point (Daniels 1987), where the summands do not cancel, and φ(jω) = M(z) / M(θ).
    """
    w = np.abs(weights[weights != 0])
    middle = float(borders[len(borders) // 2])
    if middle > float(w.sum()) + 2 * _REACH * noise:
        return np.full_like(borders, -math.inf)
    deviation = math.sqrt(float(w @ w) + noise**2)
    tilt = max(_saddle(w, noise, middle), 2 / deviation)
    spread = math.sqrt(float(w**2 @ np.cosh(np.minimum(tilt * w, 300.0)) ** -2.0) + noise**2)
    log_front = _log_mgf(w, noise, tilt) - tilt * middle
    # About the log of the tail (Daniels 1987), less 3 because that is an estimate.
    log_p = log_front - math.log(1 + tilt * math.sqrt(2 * math.pi) * spread) - 3
    # The period 2π/ω is so long that both neighbouring aliases are negligible beside the tail: the one below has the
    # factor e^(−θ · period), the one above at most Chernoff's bound with the tilt θ + `further`.
    further = math.sqrt(2 * _NEGLIGIBLE) / spread
    log_further = _log_mgf(w, noise, tilt + further) - (tilt + further) * middle
    period = max((_NEGLIGIBLE - log_p) / tilt, (_NEGLIGIBLE + log_further - log_p) / further) + float(np.ptp(borders))
    spacing = 2 * math.pi / period

    w = w[np.argsort(-w / np.cosh(np.minimum(tilt * w, 300.0)))]  # those that make φ decay come first
    # |φ(α)| <= exp(−½τ²α²) from the noise alone; 5 more, since many negligible summands add up.
    n_frequencies = math.ceil(math.sqrt(2 * (_NEGLIGIBLE + 5)) / noise / spacing) + 1
    lean = np.tanh(tilt * w)  # cosh((θ + iα)w) / cosh(θw) = cos αw + i tanh(θw) sin αw

    # φ in blocks of adjacent frequencies. e^{i(a + b)w} is a product, which takes a tenth of the time of two sines.
    frequency = spacing * np.arange(-(-n_frequencies // _FINE) * _FINE)
    phi = np.exp(-0.5 * (noise * frequency) ** 2 + 1j * noise**2 * tilt * frequency).reshape(-1, _FINE)
    blocks, start, stop = np.arange(len(phi)), 0, _FIRST_UNITS
    while start < len(w):
        some = slice(start, stop)
        fine = np.exp(1j * np.multiply.outer(w[some], frequency[:_FINE]))
        for part in np.array_split(blocks, 1 + len(blocks) * fine.size // _AT_ONCE):
            turn = np.exp(1j * np.multiply.outer(w[some], frequency[part * _FINE]))
            waves = fine[:, None, :] * turn[:, :, None]
            waves.imag *= lean[some, None, None]
            phi[part] *= np.multiply.reduce(waves, axis=0)
        # Most frequencies are negligible after the largest units.
        blocks = blocks[np.abs(phi[blocks]).max(axis=1) > math.exp(-_NEGLIGIBLE - 5)]
        start, stop = stop, stop + min(stop, _MOST_UNITS)
    alive = (blocks[:, None] * _FINE + np.arange(_FINE)).ravel()
    z = tilt + 1j * frequency[alive]
    terms = phi[blocks].ravel() / z * np.where(alive == 0, 0.5, 1.0)
    turned = np.exp(-np.multiply.outer(borders - middle, z) - 1j * frequency[alive] * middle)
    total = 2 * (turned @ terms).real * spacing / (2 * math.pi)
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(log_front + np.log(np.maximum(total, 0.0)), 0.0))


def _saddle(weights: Floats, noise: float, border: float) -> float:
    """The tilt θ with K'(θ) = c, where K(θ) = Σ log cosh(θwᵢ) + ½τ²θ²."""
    size = math.sqrt(float(weights @ weights))
    low, high = 0.0, math.inf
    tilt = border / (size**2 + noise**2)  # as if L were normal
    for _ in range(30):
        lean = np.tanh(tilt * weights)
        short = border - float(weights @ lean) - noise**2 * tilt
        low, high = (tilt, high) if short > 0 else (low, tilt)
        if abs(short) < 1e-6 * size:
            break
        step = short / (float(weights**2 @ (1 - lean**2)) + noise**2)
        tilt = tilt + step if low < tilt + step < high else min(2 * low, (low + high) / 2)
    return tilt


def _log_mgf(weights: Floats, noise: float, tilt: float) -> float:
    """K(θ) = Σ log cosh(θwᵢ) + ½τ²θ²."""
    angle = np.abs(tilt * weights)
    return float((angle + np.log1p(np.exp(-2 * angle))).sum()) - len(weights) * math.log(2) + 0.5 * (noise * tilt) ** 2
