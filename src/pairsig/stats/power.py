"""Exact power of the tests of items that are passed or failed.

Let ψ be the probability that an item is discordant (only one system passes it), g the true gain of A, and q = (ψ +
g)/(2ψ) the probability that A passes a discordant item. An exact test of n items rejects if the number r of discordant
items that A passes lies between two bounds that depend on their number d. Then the power is a finite sum:

    Σ_d P(Bin(n, ψ) = d) · P(first(d) <= Bin(d, q) <= last(d)).

Since counts are integers, the power is a sawtooth in n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pairsig.stats.pass_fail import tango

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

MANY = 100_000
"""Discordant items from which on the power equals the normal approximation, to 0.15 points."""
_NEXT = 20
"""Numbers of items after the planned one whose power against a margin is checked as well."""


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
    """Power of the sign test, or of Tango's test against a margin, for items with these probabilities.

    Attributes
    ----------
    discordant, gain
        ψ, and g of the better system.
    alpha, sides
        Level, and number of sides, of the test of a difference.
    margin, equivalence
        A share below 1, or None for a difference; and whether both systems must be shown to be not worse.
    """

    discordant: float
    gain: float
    alpha: float
    sides: int = 2
    margin: float | None = None
    equivalence: bool = False

    @property
    def q(self) -> float:
        """Probability that the better system passes a discordant item."""
        return (self.discordant + self.gain) / (2 * self.discordant)

    def covers(self, n: int) -> bool:
        """Whether so few items are discordant that the exact power is needed."""
        return n * self.discordant < MANY

    def power(self, n: int) -> float:
        """Probability that p < alpha in favour of the better system, or of the claim about the margin."""
        d, weight = _binomial(n, self.discordant)
        return float(weight @ self._conditional(n, d))

    def _conditional(self, n: int, d: Whole) -> Floats:
        """The same for each number of discordant items."""
        if self.margin is None:
            return _upper(_fewest(self.alpha, self.sides, int(d[-1]).bit_length())[d], d, self.q)
        from scipy.special import ndtri

        # Smallest r for which Tango's score, which increases with r, reaches the critical value; by bisection.
        critical = -float(ndtri(self.alpha))
        least, most = np.zeros_like(d), d + 1
        for _ in range(int(d[-1] + 1).bit_length() + 1):
            middle = (least + most) // 2
            score = tango(middle.astype(np.float64), (d - middle).astype(np.float64), n, self.margin)
            reached = (score > critical) | (middle > d)
            least, most = np.where(reached, least, middle + 1), np.where(reached, middle, most)
        tails = _upper(most, d, self.q)
        if self.equivalence:  # B must also pass that many discordant items, so A passes at most the others
            tails = np.where(2 * most <= d, tails - _upper(d - most + 1, d, self.q), 0.0)
        return tails

    def first(self, power: float, guess: int) -> int:
        """The smallest number of items from which on all have the power.

        For a difference, the conditional power for d discordant items is at least its minimum over all d' >= d. This
        lower bound increases with d, so its mean increases with n: from the first n whose bound suffices, all suffice.
        The search then goes down one by one. Against a margin, only the next numbers are checked.
        """
        low, high = 1, max(2, guess)
        while self.covers(high) and not self._surely(high, power):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = not self.covers(middle) or self._surely(middle, power)
            low, high = (low, middle) if enough else (middle, high)
        if self.margin is not None:
            while any(self.power(high + further) < power for further in range(_NEXT) if self.covers(high)):
                high += 1
            return high
        while high > 1 and self.covers(high) and self.power(high - 1) >= power:
            high -= 1
        return high

    def _surely(self, n: int, power: float) -> bool:
        if self.margin is not None:
            return self.power(n) >= power
        d, weight = _binomial(n, self.discordant)
        tails = self._conditional(n, np.arange(2 ** int(d[-1]).bit_length() + 1))
        return float(weight @ np.minimum.accumulate(tails[::-1])[::-1][d]) >= power


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
