"""Metrics that are ratios, as integers: the basis of exact tests and of exact ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.memory import Memory
from pairsig.metrics import Metric
from pairsig.metrics.exact_arithmetic import EXACT, adjacent, in_steps, largest, some_systems, steps_to_unit

Integers = NDArray[np.signedinteger[Any]]

_ROUNDING = 2.0**-48
"""Bound on the rounding errors of a gain on a resample and of its border, relative to the scores.

With u = 2⁻⁵³ and scores up to S, each of the two scores has an error of uS, and their difference one of 2uS more. The
border is up to twice such a gain, with an error of 8uS. Adding the bound to it and subtracting it costs 4uS. The sum
is 16uS, half of the bound.
"""


@dataclass(frozen=True)
class Fractions:
    """Scores of systems as integer numerators and denominators, with a sign such that higher is better.

    On some units of the test set, a score is Σ numerator / Σ denominator, in units of `factor`.
    """

    # (systems × units), of the smallest type that holds them. n times the largest one is below 2⁵³, for n units.
    numerators: Integers
    denominators: Integers
    over_nothing: Fraction  # the score if the denominator is 0 and the numerator is not; 0 / 0 is 0
    factor: float  # the metric's own score divided by this one

    @classmethod
    def of(cls, metric: Metric, counts: NDArray[Any], memory: Memory | None = None) -> Fractions | None:
        """Fractions from counts (systems × units × columns); None if the metric is not a ratio of integers."""
        form = metric.form(counts)
        if form is None:
            return None
        columns, signs = form.numerator, [1] * len(form.numerator)
        if form.complement:
            columns, signs = (*columns, *form.denominator), [-1] * len(signs) + [1] * len(form.denominator)
        sign = 1 if metric.higher_is_better else -1
        parts = [
            _Sum.of(counts, columns, [sign * of_column for of_column in signs]),
            _Sum.of(counts, form.denominator, [1] * len(form.denominator)),
        ]
        above, below = (part.steps for part in parts)
        if above is None or below is None:
            return None
        steps = Fraction(above, below)
        if form.over_nothing and max(above, below) >= EXACT:
            return None
        dtype = np.min_scalar_type(-1 - max(part.bound for part in parts))
        if memory is not None:
            memory.require(2 * dtype.itemsize * counts[:, :, 0].size, "numerators and denominators of all systems")
        numerators, denominators = (part.filled(dtype) for part in parts)
        return cls(numerators, denominators, sign * form.over_nothing * steps, form.factor / float(steps))

    @cached_property
    def scores(self) -> list[tuple[int, int]]:
        """Numerator and denominator of each system's score on the test set."""
        nothing = self.over_nothing.numerator, self.over_nothing.denominator
        totals = zip(self.numerators.sum(axis=1).tolist(), self.denominators.sum(axis=1).tolist(), strict=True)
        return [(n, d) if d else nothing if n else (0, 1) for n, d in totals]

    def gain(self, first: int, second: int, multiple: int = 1) -> tuple[int, int]:
        """A multiple of one system's gain over another on the test set, in lowest terms."""
        (n1, d1), (n2, d2) = self.scores[first], self.scores[second]
        # n₁/d₁ − n₂/d₂
        top, bottom = multiple * (n1 * d2 - n2 * d1), d1 * d2
        common = math.gcd(top, bottom)
        return top // common, bottom // common

    @cached_property
    def over_nothing_occurs(self) -> bool:
        """Whether a unit has a numerator but no denominator, so that a resample may contain only such units."""
        return any(
            bool(((self.denominators[rows] == 0) & (self.numerators[rows] != 0)).any())
            for rows in some_systems(self.numerators)
        )

    @cached_property
    def largest(self) -> tuple[int, int]:
        """Bounds on the absolute numerator and the denominator of a resample, also of `over_nothing`."""
        n_units = self.numerators.shape[1]
        above, below = (int(largest(part)) * n_units for part in (self.numerators, self.denominators))
        return max(above, abs(self.over_nothing.numerator)), max(below, self.over_nothing.denominator)

    @property
    def rounding(self) -> float:
        """Bound on the rounding error between a resample's gain and its border, if the two are equal."""
        if self.over_nothing_occurs:
            most: float = largest(self.numerators) * self.numerators.shape[1]
        else:  # a quotient of sums is between the quotients of the units
            most = max(
                largest(self.numerators[rows] / np.maximum(self.denominators[rows], 1))
                for rows in some_systems(self.numerators)
            )
        return _ROUNDING * max(most, abs(float(self.over_nothing)))


@dataclass(frozen=True)
class _Sum:
    """Columns (systems × units × columns) to add with signs, in whole steps.

    `steps` is the number of steps per unit, None if the values are not multiples of any step.
    """

    columns: NDArray[Any]
    signs: Sequence[int]
    steps: int | None

    @classmethod
    def of(cls, counts: NDArray[Any], columns: Sequence[int], signs: Sequence[int]) -> _Sum:
        chosen = counts[:, :, adjacent(columns)]
        return cls(chosen, signs, steps_to_unit(chosen, chosen[0].size))

    @property
    def bound(self) -> int:
        """Bound on the absolute value of the sums."""
        return len(self.signs) * round(largest(self.columns) * float(self.steps or 1))

    def filled(self, dtype: np.dtype[Any]) -> Integers:
        """The sums, (systems × units)."""
        sums = np.zeros(self.columns.shape[:2], dtype=dtype)
        for rows in some_systems(self.columns):
            for column, sign in enumerate(self.signs):
                sums[rows] += sign * in_steps(self.columns[rows, :, column], self.steps or 1).astype(dtype)
        return sums
