"""Tails of sums Σ sᵢwᵢ of any floats wᵢ with random signs sᵢ = ±1, for scores that are not whole steps.

`log_tails` adds a little normal noise to the sum, so that its characteristic function decays and few frequencies
count. `log_bounds` follows with bounds of the tail without noise, and `common_step` finds whole steps up to rounding.
docs/computation.md has the reasons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REACH = 4.0
"""Noise stays within so many τ, for practical purposes."""
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
_ROUGH = 13.0
"""The same for bounds of a tail."""
_HALF_WIDTHS = (5e-4, 1e-4)
"""Half of the distance of the bounds, relative to the tail, if it were exponential; the second one if that is not."""
_ENOUGH = 2e-3
"""Relative distance of the bounds that is small enough."""
_LEAKED = 1e-5
"""Chance, relative to the tail, that the noise is beyond the distance that the bounds allow."""
_MOST_SUBSETS = 2**20
"""Sums of subsets of half of the weights that are listed: 8 MiB, a fifth of a second."""
_MOST_FREQUENCIES = 2**19
"""Frequencies for one tail; they are too few for p below some 1e-30, where the bounds are further apart."""
_CLEAR = 2.0**10
"""A common step must be so many times as large as the rounding errors of the weights."""


def saddle(weights: Floats, noise: float, border: float) -> float:
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


def log_mgf(weights: Floats, noise: float, tilt: float) -> float:
    """K(θ) = Σ log cosh(θwᵢ) + ½τ²θ²."""
    angle = np.abs(tilt * weights)
    return float((angle + np.log1p(np.exp(-2 * angle))).sum()) - len(weights) * math.log(2) + 0.5 * (noise * tilt) ** 2


def log_tails(weights: Floats, noise: float, borders: Floats, negligible: float = _NEGLIGIBLE) -> Floats:
    """Log of P(Σ sᵢwᵢ + Z >= c), Z ~ N(0, τ²), for borders c > 0 near each other.

    The relative error is below 1e-7, or 10·exp(−`negligible`) if that is more.

    With M the moment generating function, and any θ > 0 and spacing ω,

        ω/2π Σⱼ M(z) e^{−zc} / z,  z = θ + ijω,  j = …, −1, 0, 1, …,

    is the tail and its aliases, Σₖ e^{θ·2πk/ω} P(L + Z >= c + 2πk/ω), as in `exact.saddle_point`.
    """
    w = np.abs(weights[weights != 0])
    middle = float(borders[len(borders) // 2])
    if middle > float(w.sum()) + 2 * REACH * noise:
        return np.full_like(borders, -math.inf)
    deviation = math.sqrt(float(w @ w) + noise**2)
    tilt = max(saddle(w, noise, middle), 2 / deviation)
    spread = math.sqrt(float(w**2 @ np.cosh(np.minimum(tilt * w, 300.0)) ** -2.0) + noise**2)
    log_front = log_mgf(w, noise, tilt) - tilt * middle
    log_p = log_front - math.log(1 + tilt * math.sqrt(2 * math.pi) * spread) - 3
    further = math.sqrt(2 * negligible) / spread
    log_further = log_mgf(w, noise, tilt + further) - (tilt + further) * middle
    period = max((negligible - log_p) / tilt, (negligible + log_further - log_p) / further) + float(np.ptp(borders))
    spacing = 2 * math.pi / period

    w = w[np.argsort(-w / np.cosh(np.minimum(tilt * w, 300.0)))]  # those that make φ decay come first
    n_frequencies = math.ceil(math.sqrt(2 * (negligible + 5)) / noise / spacing) + 1
    lean = np.tanh(tilt * w)

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
        blocks = blocks[np.abs(phi[blocks]).max(axis=1) > math.exp(-negligible - 5)]
        start, stop = stop, stop + min(stop, _MOST_UNITS)
    alive = (blocks[:, None] * _FINE + np.arange(_FINE)).ravel()
    z = tilt + 1j * frequency[alive]
    terms = phi[blocks].ravel() / z * np.where(alive == 0, 0.5, 1.0)
    turned = np.exp(-np.multiply.outer(borders - middle, z) - 1j * frequency[alive] * middle)
    total = 2 * (turned @ terms).real * spacing / (2 * math.pi)
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(log_front + np.log(np.maximum(total, 0.0)), 0.0))


def log_bounds(weights: Floats, border: float) -> tuple[float, float]:
    """Logs of a lower and an upper bound of P(Σ sᵢwᵢ >= c) over all signs.

    They are equal if the sums that matter can be listed: up to some forty weights, and far in the tail. Otherwise, with
    noise Z ~ N(0, τ²) and any u = zτ,

        P(S + Z >= c + u) − P(Z >= u)  <=  P(S >= c)  <=  P(S + Z >= c − u) / P(Z >= −u).

    τ is so small that the bounds differ by some thousandth of the tail, unless S has much mass near c.
    """
    w = np.sort(np.abs(weights[weights != 0]))
    reach = float(w.sum())
    # S >= c if the weights whose sign is −1 sum to at most (Σ|w| − c) / 2. Listed are such sums of either half.
    most = (reach - border) / 2
    first, second = _subset_sums(w[::2], most), _subset_sums(w[1::2], most)
    if first is not None and second is not None:
        n_extreme = int(np.searchsorted(np.sort(second), most - first, side="right").sum())
        log = math.log(n_extreme) - len(w) * math.log(2) if n_extreme else -math.inf
        return log, log

    # Where P(S >= c) changes by the factor e^{θu}, for u on both sides of c.
    tilt = max(saddle(w, 0.0, abs(border)), 1 / math.sqrt(float(w @ w)))
    (log_p,) = _any_tails(w, 1 / (512 * tilt), np.array([border]))
    # P(Z >= zτ) <= e^{−z²/2} / 2, which is `_LEAKED` of the tail.
    z = math.sqrt(-2 * (math.log(2 * _LEAKED) + log_p))
    # The points of a path, see `log_tails`, are limited.
    least = (_ROUGH - log_p + 6) * math.sqrt(2 * (_ROUGH + 5)) / (2 * math.pi * _MOST_FREQUENCIES)
    error, leaked = 10 * math.exp(-_ROUGH), _LEAKED * math.exp(log_p)
    low, high = -math.inf, 0.0
    for half_width in _HALF_WIDTHS:
        noise = max(half_width / z, least) / tilt
        log_low, log_high = _any_tails(w, noise, border + z * noise * np.array([1.0, -1.0])).tolist()
        share = math.exp(log_low - log_p) * (1 - error) - _LEAKED
        low = max(low, log_p + math.log(share)) if share > 0 else low
        high = min(high, log_high + error - math.log1p(-leaked))
        if high - low < _ENOUGH:
            break
    return low, high


def _any_tails(weights: Floats, noise: float, borders: Floats) -> Floats:
    """`log_tails`, also for borders below 0: S + Z is symmetric and continuous."""
    if borders[0] > 0 and borders[-1] > 0:
        return log_tails(weights, noise, borders, _ROUGH)
    logs = np.full(len(borders), math.log(0.5))
    for place in np.flatnonzero(borders):
        # P(S + Z > border) of a border above 0; below, 1 − P(S + Z > −border).
        (log,) = log_tails(weights, noise, np.abs(borders[place : place + 1]), _ROUGH)
        logs[place] = log if borders[place] > 0 else math.log1p(-math.exp(log))
    return logs


def _subset_sums(weights: Floats, most: float) -> Floats | None:
    """The sums up to `most` of all subsets of weights in ascending order; None if they are too many."""
    sums = np.zeros(1)
    for weight in weights.tolist():
        if weight > most or len(sums) > _MOST_SUBSETS:
            break
        sums = np.concatenate([sums, sums[sums <= most - weight] + weight])
    return None if len(sums) > _MOST_SUBSETS else sums


def common_step(weights: Floats, rounding: Floats) -> float | None:
    """The largest step of which all weights are multiples, up to the bounds `rounding` of each; None if none is clear.

    Euclid's algorithm on floats: the scores 1/3, 2/3 and 1 have differences that are whole thirds.
    """
    step, clear = float(np.abs(weights).max()), _CLEAR * float(rounding.max())
    for value in np.unique(np.abs(weights)).tolist():
        remainder = value
        while remainder > clear:
            step, remainder = remainder, abs(step - remainder * round(step / remainder))
        if step <= _CLEAR * clear:
            return None
    # By least squares, which is closer than the last remainder.
    times = np.rint(weights / step)
    step = float(weights @ times) / float(times @ times)
    close = float(np.abs(weights - step * times).sum()) <= float(rounding.sum()) < step / 4
    return step if close else None
