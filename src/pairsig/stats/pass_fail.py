"""Items that are passed or failed: exact p-values against a margin, and the exact power of their tests.

System A alone passes r of n items, and B alone passes s, so d = r + s items are discordant. An exact test rejects if r
lies between two bounds that depend only on d. Let ψ be the probability that an item is discordant, g the true gain of
A, and q = (ψ + g)/(2ψ) the probability that A passes a discordant item. Then the power is a finite sum:

    Σ_d P(Bin(n, ψ) = d) · P(first(d) <= Bin(d, q) <= last(d)).

Since counts are integers, the power is a sawtooth in n. The planned number of items is therefore the smallest one from
which on all have the power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.compiled import compiled
from pairsig.io.packages import installed

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

NUISANCE = 101
"""Number of probabilities of a discordant unit over which the exact test takes the maximum, on each of two grids."""

MANY = 100_000
"""Discordant items from which on the power of the sign test equals the normal approximation, to 0.15 points."""

MANY_OF_MARGIN = 10_000
"""Items from which on a search with the exact power against a margin takes too long."""

PRODUCT_ELEMENTS = 2**24
"""Items of all systems that are multiplied at once: 64 MiB in float32, and at most 2²⁴ items."""

_REACH = 9.0  # standard deviations on each side of the mean, beyond which a binomial has less than 1e-18
_TIE = 1e-9  # closer statistics are ties, since the sums of a table and its mirror image round differently
_WIDE, _HALVINGS = 10.0, 20  # critical values lie between -10 and 10 and are computed to 2e-5


def together(passed: NDArray[Any]) -> Whole:
    """Items that both systems of each pair pass, (systems × systems), from 0 and 1, (systems × items).

    They come from products, some items at a time to save memory; float32 counts these exactly.
    """
    n_systems, n_items = passed.shape
    passed_by_both = np.zeros((n_systems, n_systems))
    at_once = max(1, PRODUCT_ELEMENTS // n_systems)
    for start in range(0, n_items, at_once):
        some = passed[:, start : start + at_once].astype(np.float32)
        passed_by_both += some @ some.T
    return passed_by_both.astype(np.int64)


def exact_p(r: int, s: int, n: int, m: float) -> float:
    """Exact p-value of "a-not-worse" if A alone passes r of n units and B alone s; the margin m is a share below 1."""
    starts = _starts(float(tango(float(r), float(s), n, m)) - _TIE, n, m, 0, n)
    return min(1.0, _worst(lambda psi: _tails(psi, starts, n, m), m))


def _worst(tails: Callable[[Floats], Floats], m: float) -> float:
    """Maximum of the tails for ψ from m to 1, on a grid and on a finer grid around the maximum."""
    angles = np.linspace(math.asin(math.sqrt(m)), math.pi / 2, NUISANCE)
    at_angles = tails(np.sin(angles) ** 2)
    best = int(at_angles.argmax())
    near = np.linspace(angles[max(best - 1, 0)], angles[min(best + 1, NUISANCE - 1)], NUISANCE)
    return max(float(at_angles[best]), float(tails(np.sin(near) ** 2).max()))


def tango(r: float | Floats, s: float | Floats, n: float, m: float) -> Floats:
    """Tango's Z for tables of n pairs; see `margin_test`."""
    linear = r + s + m * (2 * n - r + s)
    q = (linear + np.sqrt(np.maximum(linear**2 - 8 * n * s * m * (1 + m), 0.0))) / (4 * n)
    variance = n * (2 * q - m * (1 + m))
    above = r - s + n * m
    # With zero variance (B alone passes exactly the margin, or all units), the sign of the numerator decides.
    z: Floats = np.where(np.abs(above) < _TIE, 0.0, np.copysign(np.inf, above))
    return np.divide(above, np.sqrt(np.maximum(variance, 0.0)), out=z, where=variance > 0)


def _starts(border: float, n: int, m: float, low: int, high: int) -> Whole:
    """Smallest r for which Tango's Z reaches the border, for each number of discordant units from `low` to `high`.

    Z increases with r at a fixed r + s, so r is found by bisection; it is r + s + 1 if no table reaches the border.
    """
    d = np.arange(low, high + 1)
    least, most = np.zeros_like(d), d + 1
    for _ in range(int(high + 1).bit_length()):
        middle = (least + most) // 2
        reached = (tango(middle.astype(np.float64), (d - middle).astype(np.float64), n, m) >= border) | (middle > d)
        least, most = np.where(reached, least, middle + 1), np.where(reached, middle, most)
    return most


def _window(n: int, chance: float) -> tuple[int, int]:
    """Smallest and largest value of a binomial, except for a probability of 1e-18."""
    reach = _REACH * math.sqrt(n * chance * (1 - chance)) + 40
    return (n, n) if chance >= 1 else (max(0, math.floor(n * chance - reach)), min(n, math.ceil(n * chance + reach)))


def _binomial(n: int, chance: float) -> tuple[Whole, Floats]:
    """Values of a binomial and their probabilities."""
    from scipy.special import gammaln

    low, high = _window(n, chance)
    values = np.arange(low, high + 1)
    if chance >= 1:
        return values, np.ones(1)
    log = gammaln(n + 1.0) - gammaln(values + 1.0) - gammaln(n - values + 1.0)
    return values, np.exp(log + values * math.log(chance) + (n - values) * math.log1p(-chance))


def _upper(start: Whole, d: Whole, q: float | Floats) -> Floats:
    """P(Bin(d, q) >= start)."""
    from scipy.special import bdtrc

    return np.where(start <= 0, 1.0, np.where(start > d, 0.0, bdtrc(start - 1, d, q)))


def _tails(psi: Floats, starts: Whole, n: int, m: float) -> Floats:
    """Probability that r is at least `starts`, for every probability ψ of a discordant unit."""
    tails = np.empty(len(psi))
    for place, chance in enumerate(psi.tolist()):
        d, weight = _binomial(n, chance)
        tails[place] = weight @ _upper(starts[d], d, max(0.0, (chance - m) / (2 * chance)))
    return tails


@dataclass(frozen=True)
class Difference:
    """Exact power of the sign test, to which the exact and the randomization test of items reduce.

    Its p-value is P(Bin(d, ½) >= r), doubled for the two-sided test.
    """

    discordant: float  # ψ, the probability that an item is discordant
    gain: float  # g, the true gain of the better system
    alpha: float
    sides: int  # 1 or 2

    def covers(self, n: int) -> bool:
        """Whether so few items are discordant that the exact power is needed."""
        return n * self.discordant < MANY

    def power(self, n: int) -> float:
        """Probability that p < alpha and A is the better system."""
        d, weight = _binomial(n, self.discordant)
        return float(weight @ self._tails(int(d[-1]))[d])

    def has(self, n: int, power: float) -> bool:
        """Whether n items have the power."""
        return self.power(n) >= power

    def first(self, power: float, guess: int) -> int:
        """The smallest number of items from which on all have the power.

        The conditional power for d discordant items is at least its minimum over all d' >= d. This lower bound
        increases with d, so its mean increases with n. From the first n at which the mean reaches the power, all have
        it; the search goes down from there until a number fails. Beyond `covers`, the normal approximation is used.
        """
        low, high = 0, guess
        while self.covers(high) and not self._surely(high, power):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = not self.covers(middle) or self._surely(middle, power)
            low, high = (low, middle) if enough else (middle, high)
        while high > 1 and self.has(high - 1, power):
            high -= 1
        return high

    def _surely(self, n: int, power: float) -> bool:
        d, weight = _binomial(n, self.discordant)
        tails = self._tails(int(d[-1]))
        return float(weight @ np.minimum.accumulate(tails[::-1])[::-1][d]) >= power

    def _tails(self, most: int) -> Floats:
        """Probability of p < alpha for each number of discordant items, up to `most` or slightly more."""
        q = (self.discordant + self.gain) / (2 * self.discordant)
        return _conditional(self.alpha, self.sides, q, (2 * most).bit_length())


@cache
def _fewest(alpha: float, sides: int, bits: int) -> Whole:
    """How many of d = 0, 1, … 2^bits discordant items a system must pass for p < alpha; d + 1 if d is too few."""
    from scipy.special import ndtri

    d = np.arange(2**bits + 1)
    # A system that passes at most half of them is not the better one.
    least = d // 2 + 1
    fewest: Whole = np.maximum(least, np.floor((d + float(ndtri(1 - alpha / sides)) * np.sqrt(d)) / 2).astype(np.int64))

    def enough(start: Whole) -> NDArray[np.bool_]:
        return sides * _upper(start, d, 0.5) < alpha

    while (more := ~enough(fewest)).any():
        fewest = fewest + more
    while (less := (fewest > least) & enough(fewest - 1)).any():
        fewest = fewest - less
    return fewest


@lru_cache(maxsize=4)
def _conditional(alpha: float, sides: int, q: float, bits: int) -> Floats:
    """P(Bin(d, q) >= fewest) for d = 0, 1, … 2^bits."""
    d = np.arange(2**bits + 1)
    return _upper(_fewest(alpha, sides, bits), d, q)


@dataclass(frozen=True)
class Margin:
    """Exact power of the exact test against a margin; see `exact_p`."""

    discordant: float  # ψ
    gain: float  # g, the true gain of the better system
    alpha: float
    margin: float  # m, a share of the items below 1
    equivalence: bool  # whether both systems must be shown to be not worse (equivalence), or only the better one

    def covers(self, n: int) -> bool:
        """Whether the power of n items is computed in reasonable time."""
        return n < MANY_OF_MARGIN

    def power(self, n: int) -> float:
        """Probability that p < alpha."""
        critical = _halved(lambda z: self._level(z, n) < self.alpha)
        return self._chance(critical, n)

    def has(self, n: int, power: float) -> bool:
        """Whether n items have the power.

        Power and type I error rate both decrease with the critical value. It is therefore sufficient to check that the
        largest critical value with the power has a type I error rate below alpha.
        """
        if self._chance(-_WIDE, n) < power:
            return False
        critical = -_halved(lambda z: self._chance(-z, n) >= power)
        return self._level(critical, n) < self.alpha

    def first(self, power: float, guess: int) -> int:
        """The smallest number of items from which on all checked numbers have the power.

        The next 2n/√(nψ) numbers are checked. Rounding to integers changes the power by about 0.56/√(nψ), and on
        average the power increases as much over two thirds of this range. Above 1,000 items, the steps are thousandths.
        """
        step = max(1, guess // 1000)
        n = guess
        while n > step and self.has(n, power):
            n -= step
        last_without = n
        while self.covers(n) and n <= last_without + 2 * math.sqrt(last_without / self.discordant):
            n += step
            if not self.has(n, power):
                last_without = n
        return last_without + step

    def _chance(self, critical: float, n: int) -> float:
        """Probability that Tango's Z reaches the critical value."""
        d, weight = _binomial(n, self.discordant)
        starts = _starts(critical, n, self.margin, d[0], d[-1])
        q = (self.discordant + self.gain) / (2 * self.discordant)
        tails = _upper(starts, d, q)
        if self.equivalence:
            # B must also pass that many discordant items, so A passes at most the others.
            tails = np.where(2 * starts <= d, tails - _upper(d - starts + 1, d, q), 0.0)
        return float(weight @ tails)

    def _level(self, critical: float, n: int) -> float:
        starts = _starts(critical, n, self.margin, 0, n)
        return _worst(lambda psi: _fast_tails(psi, starts, n, self.margin), self.margin)


def _halved(holds: Callable[[float], bool]) -> float:
    """The smallest number for which the condition holds, or slightly more, by bisection."""
    low, high = -_WIDE, _WIDE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _fast_tails(psi: Floats, starts: Whole, n: int, m: float) -> Floats:
    """`_tails` to 1e-12, forty times as fast if compiled, by recurrence over the number of discordant items."""
    if not installed("numba"):
        return _tails(psi, starts, n, m)
    from scipy.special import gammaln

    low, high = np.array([_window(n, chance) for chance in psi.tolist()]).T
    q = np.maximum(0.0, (psi - m) / (2 * psi))
    tails: Floats = _walked(psi, q, low, high, _upper(starts[low], low, q), starts, gammaln(np.arange(n + 2) + 1.0))
    return tails


@compiled
def _walked(psi, q, lows, highs, tails, starts, log_factorial):  # type: ignore[no-untyped-def]
    n = len(starts) - 1
    reached = np.empty(len(psi))
    for place in range(len(psi)):
        chance, share, tail = psi[place], q[place], tails[place]
        low, high = lows[place], highs[place]
        if low == high:
            reached[place] = tail
            continue
        log_weight = log_factorial[n] - log_factorial[low] - log_factorial[n - low]
        weight = np.exp(log_weight + low * np.log(chance) + (n - low) * np.log1p(-chance))
        log_share = np.log(share) if share > 0 else -np.inf
        log_rest = np.log1p(-share)
        total = weight * tail
        for d in range(low, high):
            weight *= (n - d) / (d + 1) * chance / (1 - chance)
            # Recurrence: P(Bin(d + 1, q) >= start) = P(Bin(d, q) >= start) + q P(Bin(d, q) = start − 1).
            start = starts[d]
            if start > 0 and share > 0:
                chosen = log_factorial[d] - log_factorial[start - 1] - log_factorial[d - start + 1]
                tail += np.exp(chosen + start * log_share + (d - start + 1) * log_rest)
            if starts[d + 1] > start and (start == 0 or share > 0):
                chosen = log_factorial[d + 1] - log_factorial[start] - log_factorial[d + 1 - start]
                power = start * log_share if start else 0.0
                tail -= np.exp(chosen + power + (d + 1 - start) * log_rest)
            total += weight * tail
        reached[place] = total
    return reached
