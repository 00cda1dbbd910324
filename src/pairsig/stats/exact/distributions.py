"""Distributions of sums of independent whole steps, and the mass of an event under them, without drawing anything.

The numerator of a ratio is called *column* and the denominator *row*; where the denominator cannot change, there is one
row. The characteristic function of the sum is inverted after an exponential tilt towards the event, within a window and
at the frequencies that matter, so that rounding errors are relative to p. If no tilt is good, the dynamic programme
over both dimensions takes over; with few units of large counts, the sums are enumerated. docs/computation.md has
the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Waves = NDArray[np.complex128]

_OUTSIDE = 1e-22
"""Mass of the tilted distribution outside the window, at most, for each of its four sides."""
_LOG_NEGLIGIBLE = 60.0
"""Frequencies are left out where |φ| < e⁻⁶⁰ ≈ 1e-26."""
_EPSILON = float(np.finfo(np.float64).eps)
_NORMAL = float(np.finfo(np.float64).tiny)
_CHUNK = 2**20
"""Elements of a working array, 16 MiB of complex numbers."""
MOST_SUMS = 2**26
"""Sums that are enumerated at most: two seconds."""
_FEW_SUMS = 2**14
"""Sums up to which enumeration takes no longer than preparing a transform."""
_EXACT_UNITS = 53
"""Units whose 2ⁿ swaps float64 counts exactly."""
_PIECE = 2**16
"""Sums that are looked at together, which stay in a core's own cache."""
_FEW = 1000
"""With at most this many units, φ may be computed by multiplication; with more it decays quickly."""
LARGEST = 2**26
"""Elements of a transform made in one go, 512 MiB."""
MOST = 2**31
"""Complex multiplications for one mass, some seconds."""
_MOST_OF_SWAPPED_MEANS = 2**29
"""The same where denominators cannot change: `signed_sums` has bounds of such a mass within a tenth of a second."""
_TRANSFORM = 16
"""Multiplications that an element of a transform takes, and a step's factor of φ where it is computed in logs."""


class TooLargeError(Exception):
    """The window has more elements than `LARGEST`, takes longer than `MOST`, or is beyond the methods here."""


@dataclass(frozen=True)
class _Steps:
    """Distinct steps of a sum, with their multiplicities."""

    steps: Integers  # distinct, (steps × 2): column, row
    times: Integers  # how many there are of each


class Swaps(_Steps):
    """Σ bᵢvᵢ, every bᵢ 0 or 1 with probability ½: one system's totals after random swaps."""

    @property
    def support(self) -> tuple[Integers, Integers]:
        """Smallest and largest possible sum, per dimension."""
        low = (np.minimum(self.steps, 0) * self.times[:, None]).sum(axis=0)
        high = (np.maximum(self.steps, 0) * self.times[:, None]).sum(axis=0)
        return low, high

    @property
    def n_sums(self) -> int:
        """Number of distinct sums; equal steps are exchangeable."""
        return math.prod(int(times) + 1 for times in self.times)

    def sums(self) -> Iterator[tuple[Integers, Floats]]:
        """Of each step 0, 1, …, all are made, with binomial probabilities."""

        def of(n_steps: int) -> Iterator[tuple[Integers, Floats]]:
            if not n_steps:
                yield np.zeros((1, 2), dtype=np.int64), np.ones(1)
                return
            times = int(self.times[n_steps - 1])
            made = np.arange(times + 1)[:, None, None] * self.steps[n_steps - 1]
            chance = np.array([math.comb(times, number) / 2**times for number in range(times + 1)])[:, None]
            for sums, p in of(n_steps - 1):
                at_once = max(1, _PIECE // len(p))
                for first in range(0, times + 1, at_once):
                    some = slice(first, first + at_once)
                    yield (sums + made[some]).reshape(-1, 2), (p * chance[some]).ravel()

        return of(len(self.steps))

    def highest(self, direction: Floats) -> float:
        """Largest projection of the sum onto `direction`."""
        return float(self.times @ np.maximum(self.steps @ direction, 0.0)) - 0.5

    def tilted(self, theta: Floats) -> Floats:
        """1 / (1 + exp(−θ·v))."""
        return 0.5 + 0.5 * np.tanh(self.steps @ theta / 2)

    def log_mgf(self, theta: Floats) -> float:
        """Σ log((1 + exp(θ·v)) / 2)."""
        return float(self.times @ (np.logaddexp(0.0, self.steps @ theta) - math.log(2)))

    def moments(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ pv, Σ p(1 − p)v², max |v|."""
        steps = self.steps.astype(np.float64)
        return (self.times * p) @ steps, self.weights(p) @ steps**2, np.abs(steps).max(axis=0)

    def weights(self, p: Floats) -> Floats:
        """Variances of the bᵢ."""
        return self.times * p * (1 - p)

    def decay(self, transform: NDArray[Any], total: float) -> Floats:
        """Σ p(1 − p)(1 − cos α), as a step's |φ|² is 1 − 4p(1 − p) sin²(α/2) <= exp(−2p(1 − p)(1 − cos α))."""
        return np.asarray(total - transform.real)

    def log_phi(self, p: Floats, turn: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ log(1 − p + p·e^{iα}), with 1 − p + p·e^{iα} = e^{iα/2} (cos(α/2) + i(2p − 1) sin(α/2))."""
        half = np.pi * turn
        sine = np.sin(half)
        with np.errstate(divide="ignore"):
            log_size = 0.5 * np.log1p(np.maximum(-1.0, -4 * p * (1 - p) * sine**2))
        phase = half + np.arctan2((2 * p - 1) * sine, np.cos(half))
        size = np.abs(phase) + np.abs(half) - np.maximum(log_size, -_LOG_NEGLIGIBLE)
        return log_size @ self.times, phase @ self.times, size @ self.times

    def multiply(self, p: Floats, columns: Waves, rows: Waves, out: Waves) -> None:
        """By each step's 1 − p + p·e^{iα}, as often as there are of it."""
        factor = np.empty_like(out)
        for step, times in enumerate(self.times.tolist()):
            np.multiply(p[step] * columns[:, step, None], rows[step], out=factor)
            factor += 1 - p[step]
            for _ in range(times):
                out *= factor


class Draws(_Steps):
    """The sum of n = Σ times steps drawn with replacement: the totals of a bootstrap resample."""

    @property
    def support(self) -> tuple[Integers, Integers]:
        """Smallest and largest possible sum: one step drawn n times."""
        n = self.times.sum()
        return n * self.steps.min(axis=0), n * self.steps.max(axis=0)

    @property
    def n_sums(self) -> int:
        """It matters only how often each step is drawn."""
        return math.comb(int(self.times.sum()) + len(self.times) - 1, len(self.times) - 1)

    def sums(self) -> Iterator[tuple[Integers, Floats]]:
        """Of each step 0, 1, … draws and of the last one those that are left, with multinomial probabilities."""
        n = int(self.times.sum())

        def of(n_steps: int) -> Iterator[tuple[Integers, Floats, Integers]]:
            if not n_steps:
                yield np.zeros((1, 2), dtype=np.int64), np.array([math.factorial(n) / n**n]), np.array([n])
                return
            step, times = self.steps[n_steps - 1], int(self.times[n_steps - 1])
            chance = np.array([times**number / math.factorial(number) for number in range(n + 1)])
            for sums, p, left in of(n_steps - 1):
                if n_steps == len(self.steps):
                    yield sums + left[:, None] * step, p * chance[left], 0 * left
                    continue
                for first in range(0, len(p), _PIECE // (n + 1)):
                    some = np.arange(first, min(first + _PIECE // (n + 1), len(p)))
                    some = np.repeat(some, left[some] + 1)
                    drawn = np.arange(len(some)) - np.searchsorted(some, some)
                    yield sums[some] + drawn[:, None] * step, p[some] * chance[drawn], left[some] - drawn

        return ((sums, p) for sums, p, _ in of(len(self.steps)))

    def highest(self, direction: Floats) -> float:
        """The highest step n times."""
        values = np.unique(self.steps @ direction)
        gap = float(values[-1] - values[-2]) if len(values) > 1 else 0.0
        return float(self.times.sum() * values[-1]) - 0.5 * min(1.0, gap)

    def tilted(self, theta: Floats) -> Floats:
        """exp(θ·v) times / Σ exp(θ·v) times."""
        exponent = self.steps @ theta
        p = self.times * np.exp(exponent - exponent.max())
        return np.asarray(p / p.sum())

    def log_mgf(self, theta: Floats) -> float:
        """Log of (Σ exp(θ·v) times / n)ⁿ."""
        exponent = self.steps @ theta
        top, n = float(exponent.max()), int(self.times.sum())
        return n * (top + math.log(float(self.times @ np.exp(exponent - top)) / n))

    def moments(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Mean and variance of the sum, and the largest deviation of a single step."""
        n, mean = float(self.times.sum()), p @ self.steps
        centred = self.steps - mean
        return n * mean, n * (p @ centred**2), np.abs(centred).max(axis=0)

    def weights(self, p: Floats) -> Floats:
        """The probabilities themselves: their transform is one step's φ."""
        return p

    def decay(self, transform: NDArray[Any], total: float) -> Floats:
        """−n log|one step's φ|."""
        with np.errstate(divide="ignore"):
            return np.asarray(-float(self.times.sum()) * np.log(np.abs(transform) / total))

    def log_phi(self, p: Floats, turn: Floats) -> tuple[Floats, Floats, Floats]:
        """With φ = (1 + Σ p(e^{iα} − 1))ⁿ, whose logarithm keeps its relative accuracy where φ is near 1."""
        n = float(self.times.sum())
        real, imaginary = -2 * np.sin(np.pi * turn) ** 2 @ p, np.sin(2 * np.pi * turn) @ p
        with np.errstate(divide="ignore"):
            log_size = 0.5 * n * np.log1p(np.maximum(-1.0, real * (2 + real) + imaginary**2))
        phase = n * np.arctan2(imaginary, 1 + real)
        return log_size, phase, n * (2 * np.pi * np.abs(turn) @ p) - np.maximum(log_size, -_LOG_NEGLIGIBLE)

    def multiply(self, p: Floats, columns: Waves, rows: Waves, out: Waves) -> None:
        """By the n-th power of Σ p·e^{iα}, a matrix product."""
        out *= ((p * columns) @ rows) ** int(self.times.sum())


Distribution = Swaps | Draws
"""A sum; `mass` and the window need the same methods of both kinds, whose docstrings have the formula of each."""


@dataclass(frozen=True)
class Event:
    """A set of totals: in each row all columns from some first one on."""

    # Where the event begins in a row, as a real number: for finding the tilt, and what is clearly inside or outside.
    border: Callable[[Floats], Floats]
    off: float  # rounding moves `border` by less than so many columns and 2⁻⁴⁰ of its size
    # The first column of the event in a row and the column that ties with the border, if one does, decided with
    # integers; None if the row has no column of the event.
    starts: Callable[[int], tuple[int, int | None] | None]


@dataclass(frozen=True)
class Mass:
    """Natural logarithm of the mass of an event, a bound on the relative error of the mass, and the mass that ties."""

    log: float
    error: float
    tied: float


def mass(distribution: Distribution, event: Event) -> Mass:
    """Mass of an event, by a tilt to the point that dominates it; where that is not good to 1e-9, by other means."""
    if is_enumerable(distribution):
        return _enumerated(distribution, event)
    if isinstance(distribution, Swaps) and distribution.steps.tolist() == [[1, 0]] and distribution.times[0] <= _FEW:
        return _binomial(int(distribution.times[0]), event)
    theta, point = aim(distribution, event)
    probability = _mass(distribution, event, theta, point)
    # A border that bends much within the window spoils a tilt: some few large units, very different denominators.
    if probability.error >= 1e-9 and isinstance(distribution, Swaps) and distribution.times.sum() <= _FEW:
        size = 1 + np.subtract(*distribution.support[::-1])
        if float(size.prod(dtype=np.float64)) * float(distribution.times.sum()) <= MOST and size.prod() <= LARGEST:
            return _programme(distribution, event)
    if probability.error >= 1e-9:
        probability = min(
            probability, _mass(distribution, event, np.zeros(2), point), key=lambda candidate: candidate.error
        )
    if probability.error >= 1e-3:
        raise TooLargeError
    return probability


def _binomial(n: int, event: Event) -> Mass:
    """Mass of an event if all n steps are equal, as for pass/fail items: an upper tail of the binomial distribution."""
    first, tie = event.starts(0) or (n + 1, None)
    first = max(first, 0)
    ways = math.comb(n, first)
    total = 0
    for made in range(first, n + 1):
        total += ways
        ways = ways * (n - made) // (made + 1)
    p = total / 2**n
    log = -math.inf
    if total:
        log = math.log(p) if p > _NORMAL else math.log(total) - n * math.log(2)
    tied = math.comb(n, tie) / 2**n if tie is not None and 0 <= tie <= n else 0.0
    return Mass(log, 4 * _EPSILON * (1 + abs(log) if total else 1), tied)


def is_enumerable(distribution: Distribution) -> bool:
    """Whether enumeration is cheap, or cheaper than a transform over the support, which few steps fill."""
    elements = math.prod(int(last) - int(first) + 1 for first, last in zip(*distribution.support, strict=True))
    return distribution.times.sum() <= _EXACT_UNITS and distribution.n_sums <= min(MOST_SUMS, max(_FEW_SUMS, elements))


def _enumerated(distribution: Distribution, event: Event) -> Mass:
    """Mass of an event by going through all sums; those near the border are decided by integers."""
    total = tied = 0.0
    starts, beyond = cache(event.starts), int(distribution.support[1][0]) + 1
    for sums, p in distribution.sums():
        column, row = sums.T
        border = event.border(row.astype(np.float64))
        inside = column > border
        near = np.flatnonzero(np.abs(column - border) <= event.off + 2.0**-40 * np.abs(border))
        rows, place = np.unique(row[near], return_inverse=True)
        first_and_tie = [starts(r) or (beyond, None) for r in rows.tolist()]
        first = np.array([min(first, beyond) for first, _ in first_and_tie], dtype=np.int64)[place]
        tie = np.array([beyond if tie is None else tie for _, tie in first_and_tie], dtype=np.int64)[place]
        inside[near] = column[near] >= first
        ties = column[near] == tie
        total += float(p[inside].sum())
        tied += float(p[near][ties].sum())
    return Mass(math.log(total), 4 * _EPSILON * (len(distribution.steps) + 16), tied)


def _programme(distribution: Swaps, event: Event) -> Mass:
    """Mass of an event by the dynamic programme over both dimensions: adds positive numbers only, and many of them."""
    bottom, top = distribution.support
    ways = np.zeros(top - bottom + 1)
    low, high = -bottom, -bottom
    ways[tuple(low)] = 1.0
    order = np.argsort(np.abs(distribution.steps).sum(axis=1))  # small steps first: what is filled grows slowly
    for step in np.repeat(distribution.steps[order], distribution.times[order], axis=0):
        filled = ways[low[0] : high[0] + 1, low[1] : high[1] + 1]
        filled *= 0.5
        moved = filled.copy()
        start, end = low + step, high + step
        ways[start[0] : end[0] + 1, start[1] : end[1] + 1] += moved
        low, high = np.minimum(low, start), np.maximum(high, end)
    total = tied = 0.0
    for row in range(ways.shape[1]):
        begins = event.starts(row + int(bottom[1]))
        if begins is not None:
            first, tie = (None if column is None else column - int(bottom[0]) for column in begins)
            total += float(ways[max(0, first or 0) :, row].sum())
            tied += float(ways[tie, row]) if tie is not None and 0 <= tie < len(ways) else 0.0
    return Mass(math.log(total), 2 * _EPSILON * (float(distribution.times.sum()) + 64), tied)


def aim(distribution: Distribution, event: Event) -> tuple[Floats, Floats]:
    """The tilt whose mean lies on the border, along its normal, and the point of the border to refer to.

    For one row, or a straight border, θ = λ·(1, −slope) with K'(λ) = border, a saddle point; a border that bends is
    followed to where its tangent's saddle point is its own.
    """
    theta = np.zeros(2)
    mean, variance, _ = distribution.moments(distribution.tilted(theta))
    row = float(mean[1])
    for _ in range(20):
        below, at, above = event.border(np.array([row - 1, row, row + 1]))
        slope = (above - below) / 2 if variance[1] else 0.0
        normal = np.array([1.0, -slope])
        theta = _saddle(distribution, normal, at - slope * row) * normal
        before, row = row, float(distribution.moments(distribution.tilted(theta))[0][1])
        if abs(row - before) <= 0.01 * math.sqrt(variance[1]):
            break
    return theta, np.array([float(event.border(np.array([row]))[0]), row])


def _saddle(distribution: Distribution, normal: Floats, target: float) -> float:
    """λ >= 0 with the mean of normal·U at the target, or as near as the support allows."""

    def excess(factor: float) -> float:
        return float(distribution.moments(distribution.tilted(factor * normal))[0] @ normal) - target

    target = min(target, distribution.highest(normal))
    if excess(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0 / float(np.abs(distribution.steps @ normal).max())
    while excess(high) < 0 and high < 1e6:
        low, high = high, 2 * high
    for _ in range(30):  # the mean grows with λ; its root need not be sharp, any tilt gives the same mass
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return high


@dataclass(frozen=True)
class _Window:
    """A tilted distribution on a torus that contains it: `size` columns and rows, from `low` on."""

    distribution: Distribution
    p: Floats
    low: Integers
    size: Integers
    outside: float

    @classmethod
    def of(cls, distribution: Distribution, p: Floats) -> _Window:
        mean, variance, step = distribution.moments(p)
        log = math.log(1 / _OUTSIDE)
        # Bernstein (1946): P(U − EU > x) <= exp(−x² / 2(σ² + bx/3)) for centred steps up to b.
        reach = step * log / 3 + np.sqrt((step * log / 3) ** 2 + 2 * variance * log)
        bottom, top = distribution.support
        low = np.maximum(bottom, np.floor(mean - reach).astype(np.int64))
        high = np.minimum(top, np.ceil(mean + reach).astype(np.int64))
        if (high - low >= LARGEST).any():
            raise TooLargeError
        size = np.array([_fast_length(int(length)) for length in high - low + 1], dtype=np.int64)
        return cls(distribution, p, low, size, _OUTSIDE * float((low > bottom).sum() + (high < top).sum()))

    def spectra(self) -> Iterator[tuple[Integers, Waves, Floats]]:
        """Column frequencies k, φ there (k × row frequencies), and a bound on its relative error; in chunks of k.

        φ is 0 where it is negligible, and column frequencies where it is everywhere do not appear.
        """
        n_columns, n_rows = (int(size) for size in self.size)
        steps, distribution = self.distribution.steps, self.distribution
        classes, of_step = np.unique(steps[:, 1], return_inverse=True)
        if n_columns * len(classes) > LARGEST or n_rows > LARGEST // 32:  # rows are gone through one by one
            raise TooLargeError
        histogram = np.zeros((len(classes), n_columns))
        weights = distribution.weights(self.p)
        total = float(weights.sum())
        np.add.at(histogram, (of_step, steps[:, 0] % n_columns), weights)
        if n_rows == 1 and isinstance(distribution, Swaps):
            # Most frequencies matter if few units have many values: Σ |transform|² is n_columns · Σ histogram², so the
            # share of those that decay by e⁻⁶⁰ is at most this (Chebyshev). Then the work is known before any is done.
            spare = _LOG_NEGLIGIBLE - total
            square = float((histogram[:, np.unique(steps[:, 0] % n_columns)] ** 2).sum())
            negligible = min(square / spare**2, 1.0) if spare > 0 else 1.0
            if _TRANSFORM * n_columns * (1 + len(steps) * (1 - negligible) / 2) > _MOST_OF_SWAPPED_MEANS:
                raise TooLargeError
        by_class = np.fft.rfft(histogram, axis=1)
        del histogram
        # No row frequency can undo what the classes have lost already.
        frequencies = np.flatnonzero(distribution.decay(np.abs(by_class).sum(axis=0), total) < _LOG_NEGLIGIBLE)
        work = _TRANSFORM * len(frequencies) * n_rows
        at_once = max(1, _CHUNK // n_rows)
        for k in np.split(frequencies, range(at_once, len(frequencies), at_once)):
            transform = np.zeros((len(k), n_rows), dtype=np.complex128)
            np.add.at(transform.T, classes % n_rows, by_class[:, k])
            at = np.argwhere(distribution.decay(np.fft.fft(transform, axis=1), total) < _LOG_NEGLIGIBLE)
            phi = np.zeros((len(k), n_rows), dtype=np.complex128)
            error = np.zeros((len(k), n_rows))
            multiplied = 2 * len(at) > phi.size and distribution.times.sum() <= _FEW
            work += len(steps) * (phi.size + _TRANSFORM * len(k) if multiplied else _TRANSFORM * len(at))
            if work > MOST:
                raise TooLargeError
            if multiplied:
                self._all_phi(k, phi)
                error += 4 * _EPSILON * (float(distribution.times.sum()) + 4)
            else:
                for part in np.array_split(at, 1 + len(at) * len(steps) // _CHUNK):
                    index = part[:, 0], part[:, 1]
                    phi[index], error[index] = self._phi(k[part[:, 0]], part[:, 1])
            yield k, phi, error

    def _all_phi(self, k: Integers, phi: Waves) -> None:
        """φ of U − low at all row frequencies of some column frequencies k, by multiplication: few units, no decay."""

        def waves(frequencies: Integers, of: Integers, axis: int) -> Waves:
            size = int(self.size[axis])
            return np.asarray(np.exp(2j * np.pi * (frequencies[:, None] * (of[:, axis] % size) % size) / size))

        of_rows = waves(np.arange(phi.shape[1]), self.distribution.steps, 1).T.copy()
        shift = waves(np.arange(phi.shape[1]), -self.low[None, :], 1)[:, 0]
        at_once = max(1, 2**15 // phi.shape[1])  # what a core's own cache holds
        for first in range(0, len(k), at_once):
            part = slice(first, first + at_once)
            np.multiply(waves(k[part], -self.low[None, :], 0), shift, out=phi[part])
            self.distribution.multiply(self.p, waves(k[part], self.distribution.steps, 0), of_rows, phi[part])

    def columns(self, spectrum: Waves) -> Floats:
        """The distribution of the columns, from φ at row frequency 0."""
        return np.asarray(np.fft.irfft(spectrum.conj(), int(self.size[0])))

    def check(self, spectrum: Waves) -> None:
        """Check the distribution of the columns: no negative mass, 1 in all, and the mean and variance of its steps."""
        distribution = self.columns(spectrum)
        mean, variance, _ = (float(moment[0]) for moment in self.distribution.moments(self.p))
        place = int(self.low[0]) + np.arange(len(distribution)) - mean
        wrong = (
            abs(float(distribution.sum()) - 1),
            -float(distribution.min()),
            abs(float(place @ distribution)) / len(distribution),
            abs(float(place**2 @ distribution) - variance) / len(distribution) ** 2,
        )
        if not max(wrong) <= 1e-12:
            raise ArithmeticError(
                f"internal error: the distribution is off by {wrong} in mass, sign, mean and variance"
            )

    def _phi(self, column: Integers, row: Integers) -> tuple[Waves, Floats]:
        """φ of U − low at some frequencies, and a bound on its relative error."""

        def turn(of: Integers) -> Floats:
            # The angle in turns: whole turns are taken off while it is a fraction of integers.
            part = column[:, None] * (of[:, 0] % self.size[0]) % self.size[0] / self.size[0]
            part = part + row[:, None] * (of[:, 1] % self.size[1]) % self.size[1] / self.size[1]
            return np.asarray(part - np.rint(part))

        log_size, phase, size = self.distribution.log_phi(self.p, turn(self.distribution.steps))
        phase = phase - 2 * np.pi * turn(self.low[None, :])[:, 0]
        return np.exp(log_size) * np.exp(1j * phase), 2 * _EPSILON * (size + 8)


def _fast_length(least: int) -> int:
    """The smallest length 2ⁱ3ʲ5ᵏ of a transform that is not below `least`."""
    n_bits = least.bit_length()
    odd: list[int] = [3**j * 5**k for j, k in product(range(n_bits), repeat=2) if j + k < n_bits]
    return min(part << (-(-least // part) - 1).bit_length() for part in odd)


def columns(distribution: Distribution, theta: Floats) -> tuple[int, Floats]:
    """First column of the window, and the probabilities of its columns (over all rows) after tilting."""
    window = _Window.of(distribution, distribution.tilted(theta))
    spectrum = np.zeros(int(window.size[0]) // 2 + 1, dtype=np.complex128)
    for k, phi, _ in window.spectra():
        spectrum[k] = phi[:, 0]
    return int(window.low[0]), window.columns(spectrum)


def _mass(distribution: Distribution, event: Event, theta: Floats, point: Floats) -> Mass:
    window = _Window.of(distribution, distribution.tilted(theta))
    n_columns, cells = int(window.size[0]), int(window.size.prod())
    rows, first, tie = _inside(window, event)
    if not len(rows):
        return Mass(-math.inf, math.inf, 0.0)

    # exp(−θ·(u − x)) where the event begins in each row: 1 on a straight border, up to the exact_arithmetic.
    exponent = theta[0] * (first + window.low[0] - point[0]) + theta[1] * (rows + window.low[1] - point[1])
    with np.errstate(over="ignore"):
        weight = np.exp(-exponent)
        tie_weight = np.where((tie >= 0) & (tie < n_columns), np.exp(theta[0] * (first - tie) - exponent), 0.0)
    left = (n_columns - first).astype(np.float64)

    def waves(k: Integers, column: Integers) -> Waves:
        return np.asarray(np.exp(-2j * np.pi * (k[:, None] * column % n_columns / n_columns)))

    spectrum = np.zeros(n_columns // 2 + 1, dtype=np.complex128)
    total, total_tied, square, spread = (np.float64(0.0) for _ in range(4))
    for k, phi, phi_error in window.spectra():
        spectrum[k] = phi[:, 0]
        multiplicity = np.where((k == 0) | (2 * k == n_columns), 1.0, 2.0)[:, None]  # −k is the conjugate of k
        square += (multiplicity * np.abs(phi) ** 2).sum()
        spread += (multiplicity * (np.abs(phi) * phi_error) ** 2).sum()
        # Row by row now, still by frequency in the columns.
        by_row = (multiplicity * np.fft.fft(phi, axis=1))[:, rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Σ over the half-line of exp(−(θ + iω)u), u from its first column; exp(−iω·n_columns) is 1.
            series = waves(k, first) - np.exp(-theta[0] * left)
            series /= 1 - math.exp(-theta[0]) * waves(k, np.ones(1, dtype=np.int64))
        if k[0] == 0:
            series[0] = _geometric(theta[0], left)
        total += (by_row * series).real.sum(axis=0) @ weight
        if tie_weight.any():
            total_tied += (by_row * waves(k, tie)).real.sum(axis=0) @ tie_weight
    total, total_tied = total / cells, total_tied / cells
    window.check(spectrum)

    # Rounding of φ and of the sums, by Cauchy and Schwarz over the cells of the event; frequencies left out; mass
    # from outside the window, where a cell's weight is at most the largest along the border; and the factor in front.
    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.sqrt(weight**2 @ _geometric(2 * theta[0], left))
        rounding = np.sqrt(spread / cells) + 4 * _EPSILON * math.log2(4 * cells) * np.sqrt(square / cells)
        absolute = norm * (rounding + math.exp(-_LOG_NEGLIGIBLE))
        absolute += window.outside * _heaviest(distribution, event, theta, point)
    log_mgf, shift = distribution.log_mgf(theta), float(theta @ point)
    front = (
        4 * _EPSILON * (abs(log_mgf) + abs(shift) + float(np.abs(distribution.steps @ theta) @ distribution.times) / 4)
    )

    def log(value: np.float64) -> float:
        return min(0.0, log_mgf - shift + math.log(value)) if value > 0 else -math.inf

    return Mass(log(total), float(absolute / total) + front if total > 0 else math.inf, math.exp(log(total_tied)))


def _geometric(rate: float, terms: Floats) -> Floats:
    """The sum of exp(−rate·i) over i = 0, 1, …, terms − 1."""
    return np.asarray(np.expm1(-rate * terms) / np.expm1(-rate) if rate else terms)


def _inside(window: _Window, event: Event) -> tuple[Integers, Integers, Integers]:
    """Rows of the window with some of the event; its first column in each, and the column that ties (or < 0)."""
    low_column, low_row = (int(low) for low in window.low)
    last_row = min(low_row + int(window.size[1]) - 1, int(window.distribution.support[1][1]))
    starts = [(row - low_row, event.starts(row)) for row in range(low_row, last_row + 1)]
    inside = [
        (row, max(0, at[0] - low_column), -1 if at[1] is None else at[1] - low_column)
        for row, at in starts
        if at and at[0] - low_column <= window.size[0]
    ]
    rows, first, tie = np.array(inside, dtype=np.int64).reshape(-1, 3).T
    return rows, first, tie


def _heaviest(distribution: Distribution, event: Event, theta: Floats, point: Floats) -> float:
    """The largest exp(−θ·(u − x)) on the border, over a thousand rows of the support: the border bends but once."""
    bottom, top = distribution.support
    rows = np.linspace(float(bottom[1]), float(top[1]), 1001)
    begin = np.maximum(event.border(rows), float(bottom[0]))
    lowest = float(np.min(theta[0] * (begin - point[0]) + theta[1] * (rows - point[1])))
    return math.exp(min(700.0, max(0.0, -lowest)))
