"""Metrics that are ratios, as whole numbers: what exact tests count with, and what ties are told by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.lattice import EXACT, multiples
from pairsig.metrics import Metric

Integers = NDArray[np.int64]


_ROUNDING = 2.0**-48
"""Bound on the rounding errors of a gain on a resample and of the border it is held against, relative to scores.

With u = 2⁻⁵³ and scores up to S, the two scores are off by uS each and their difference by 2uS more; the border is up
to twice such a gain, so it is off by 8uS; and the bound is added to it and subtracted from it, 4uS. That is 16uS, half
of the bound.
"""


@dataclass(frozen=True)
class Fractions:
    """Systems whose score, turned so that more is better, is a whole numerator over a whole denominator.

    All scores here are in units of `factor`: on some units of the test set Σ numerator / Σ denominator.

    Attributes
    ----------
    numerators, denominators
        Shape (systems, units). Sums of as many as there are units, even of the largest, are below 2⁵³.
    over_nothing
        The score where the denominator is 0 and the numerator is not. 0 / 0 is 0.
    factor
        What the metric's own scores are to these.
    """

    numerators: Integers
    denominators: Integers
    over_nothing: Fraction
    factor: float

    @classmethod
    def of(cls, metric: Metric, counts: NDArray[Any]) -> Fractions | None:
        """Of counts (systems, units, columns of the totals); None for other metrics, and for values on no lattice."""
        form = metric.form(counts)
        if form is None:
            return None
        columns, signs = form.numerator, [1] * len(form.numerator)
        if form.complement:
            columns, signs = (*columns, *form.denominator), [-1] * len(signs) + [1] * len(form.denominator)
        sign = 1 if metric.higher_is_better else -1
        above = _sums(counts[:, :, list(columns)], sign * np.array(signs))
        below = _sums(counts[:, :, list(form.denominator)], np.ones(len(form.denominator), dtype=np.int64))
        if above is None or below is None:
            return None
        steps = Fraction(above[1], below[1])
        if form.over_nothing and max(above[1], below[1]) >= EXACT:
            return None
        return cls(above[0], below[0], sign * form.over_nothing * steps, form.factor / float(steps))

    @property
    def stacked(self) -> Integers:
        """Numerators and denominators as two columns, (systems, units, 2)."""
        return np.stack([self.numerators, self.denominators], axis=2)

    @cached_property
    def scores(self) -> list[tuple[int, int]]:
        """Numerator and denominator of each system on the test set."""
        nothing = self.over_nothing.numerator, self.over_nothing.denominator
        totals = zip(self.numerators.sum(axis=1).tolist(), self.denominators.sum(axis=1).tolist(), strict=True)
        return [(n, d) if d else nothing if n else (0, 1) for n, d in totals]

    def gain(self, first: int, second: int, multiple: int = 1) -> tuple[int, int]:
        """A multiple of the gain of one system over another on the test set, in lowest terms."""
        (n1, d1), (n2, d2) = self.scores[first], self.scores[second]
        top, bottom = multiple * (n1 * d2 - n2 * d1), d1 * d2
        common = math.gcd(top, bottom)
        return top // common, bottom // common

    @cached_property
    def over_nothing_occurs(self) -> bool:
        """Whether a unit has a numerator and no denominator, so that a resample may be of such units alone."""
        return bool(((self.denominators == 0) & (self.numerators != 0)).any())

    @cached_property
    def largest_numerator(self) -> int:
        """The largest size on a resample, or of something over nothing."""
        largest: int = int(np.abs(self.numerators).max()) * self.numerators.shape[1]
        return max(largest, abs(self.over_nothing.numerator))

    @cached_property
    def largest_denominator(self) -> int:
        """The same of denominators."""
        largest: int = int(self.denominators.max()) * self.denominators.shape[1]
        return max(largest, self.over_nothing.denominator)

    @property
    def rounding(self) -> float:
        """A bound on how far the gain on a resample is from its border when the two are equal."""
        sizes = np.abs(self.numerators)
        if self.over_nothing_occurs:
            largest: float = float(sizes.max()) * sizes.shape[1]
        else:  # a quotient of sums lies between the quotients of the units
            largest = float((sizes / np.maximum(self.denominators, 1)).max())
        return _ROUNDING * max(largest, abs(float(self.over_nothing)))


def _sums(columns: NDArray[Any], signs: Integers) -> tuple[Integers, int] | None:
    """Columns (systems, units, columns) added up with these signs, in steps, and the steps to the unit."""
    found = multiples(columns, columns[0].size)
    return None if found is None else (found[0] @ signs, found[1])
