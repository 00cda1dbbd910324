"""Exact power of the sign test, the exact test of items that are passed or failed.

Let ψ be the probability that an item is discordant (only one system passes it), g the true gain of A, and q = (ψ +
g)/(2ψ) the probability that A passes a discordant item. The two-sided test rejects in favour of A if A passes at least
first(d) of the d discordant items. Then the power is a finite sum:

    Σ_d P(Bin(n, ψ) = d) · P(Bin(d, q) >= first(d)).

Since counts are integers, the power is a sawtooth in n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

MANY = 100_000
"""Discordant items from which on the power equals the normal approximation, to 0.15 points."""


def _binomial(n: int, chance: float) -> tuple[Whole, Floats]:
    """Values of a binomial with all but 1e-18 of its probability, and their probabilities."""
    from scipy.special import gammaln

    if chance >= 1:
        return np.array([n]), np.ones(1)
    reach = 9.0 * math.sqrt(n * chance * (1 - chance)) + 40
    values = np.arange(max(0, math.floor(n * chance - reach)), min(n, math.ceil(n * chance + reach)) + 1)
    log = gammaln(n + 1.0) - gammaln(values + 1.0) - gammaln(n - values + 1.0)
    return values, np.exp(log + values * math.log(chance) + (n - values) * math.log1p(-chance))


def _upper(start: Whole, d: Whole, q: float) -> Floats:
    """P(Bin(d, q) >= start)."""
    from scipy.special import bdtrc

    return np.where(start <= 0, 1.0, np.where(start > d, 0.0, bdtrc(start - 1, d, q)))


@dataclass(frozen=True)
class Items:
    """Power of the sign test at a level, for items with the probabilities ψ and the gain g of the better system."""

    discordant: float
    gain: float
    alpha: float

    def covers(self, n: int) -> bool:
        """Whether so few items are discordant that the exact power is needed."""
        return n * self.discordant < MANY

    def power(self, n: int) -> float:
        """Probability that p < alpha in favour of the better system."""
        d, weight = _binomial(n, self.discordant)
        return float(weight @ self._conditional(d, int(d[-1])))

    def _conditional(self, d: Whole, most: int) -> Floats:
        """The same for each number of discordant items, of which `most` is the largest."""
        return _upper(_fewest(self.alpha, most.bit_length())[d], d, (self.discordant + self.gain) / 2 / self.discordant)

    def first(self, power: float, guess: int) -> int:
        """The smallest number of items from which on all have the power.

        The conditional power for d discordant items is at least its minimum over all d' >= d. This lower bound
        increases with d, so its mean increases with n: from the first n whose bound suffices, all suffice. The search
        then goes down one by one.
        """
        low, high = 1, max(2, guess)
        while self.covers(high) and not self._surely(high, power):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = not self.covers(middle) or self._surely(middle, power)
            low, high = (low, middle) if enough else (middle, high)
        while high > 1 and self.covers(high) and self.power(high - 1) >= power:
            high -= 1
        return high

    def _surely(self, n: int, power: float) -> bool:
        d, weight = _binomial(n, self.discordant)
        most = int(d[-1])
        tails = self._conditional(np.arange(2 ** most.bit_length() + 1), most)
        return float(weight @ np.minimum.accumulate(tails[::-1])[::-1][d]) >= power


@cache
def _fewest(alpha: float, bits: int) -> Whole:
    """How many of d = 0, 1, … 2^bits discordant items a system must pass for p < alpha; d + 1 if d is too few."""
    from scipy.special import ndtri

    d = np.arange(2**bits + 1)
    least = d // 2 + 1  # a system that passes at most half of them is not the better one
    fewest: Whole = np.maximum(least, np.floor((d + float(ndtri(1 - alpha / 2)) * np.sqrt(d)) / 2).astype(np.int64))

    def enough(start: Whole) -> NDArray[np.bool_]:
        return 2 * _upper(start, d, 0.5) < alpha

    while (more := ~enough(fewest)).any():
        fewest = fewest + more
    while (less := (fewest > least) & enough(fewest - 1)).any():
        fewest = fewest - less
    return fewest
