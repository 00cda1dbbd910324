"""Randomization test of the studentized difference: valid for equal scores, too, if the test set is large.

Swaps make the outputs of two systems exchangeable, and with them their numbers of predictions, their lengths and
their variances. If only the *scores* of two systems are equal, the shuffled differences spread more or less than the
true one does, and the test of the difference rejects too often or too rarely. The difference divided by its standard
error has the same limit in both worlds (Janssen 1997; Chung and Romano 2013): the test stays exact if outputs are
exchangeable, and its false-positive rate tends to the level for equal scores.
docs/false-positive-rate.md has simulations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairsig.core import random_streams
from pairsig.core.definitions import Test
from pairsig.core.engine import Progress, Resampling, check_time, score
from pairsig.core.exceedances import ExceedanceCounts
from pairsig.core.influence import ACCURACY, gradient
from pairsig.core.threads import on_threads
from pairsig.io.choices import check_level
from pairsig.io.errors import InputError
from pairsig.stats.exact import shares_denominators
from pairsig.stats.paired import Pair
from pairsig.stats.resampling import TestResult, counted
from pairsig.stats.results import ConfidenceInterval

Floats = NDArray[np.float64]

_AT_ONCE = 2**18
"""Elements (shuffles × units) that a thread takes at a time: 2 MiB for each of a handful of arrays."""

_TIE = 1e-9
"""Statistics that differ by less than this share are equal; sums of squares are accurate to about 1e-12."""

_ENOUGH, _NARROW = 10, 0.8
"""Fewest units that differ, and the ratio of standard deviations below which `warning` warns: there, 12 % of equal
scores get p < 0.05."""


@dataclass(frozen=True, kw_only=True)
class StudentizedResult(TestResult):
    """Result of the studentized randomization test: the attributes of `TestResult`, and its own interval.

    Attributes
    ----------
    standard_error
        s, in points: the standard error of the difference to first order.

    See Also
    --------
    randomization_test : Returns this for method="studentized".

    Examples
    --------
    >>> from pairsig import randomization_test
    >>> result = randomization_test([1, 1, 1, 0] * 5, [0, 0, 1, 0] * 5, method="studentized", n_resamples=1000)
    >>> round(result.statistic / result.standard_error, 2)
    4.47
    """

    __test__ = False  # not a pytest class

    standard_error: float
    _t: float = field(repr=False, compare=False)  # |t| on the test set
    _null: Floats = field(repr=False, compare=False)  # |t| after the shuffles, in falling order

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Confidence interval of score(a) − score(b): all differences that the test does not reject.

        It is d ± c s, where c is the critical value of |t| among the shuffles, at the level 1 − `confidence_level`. For
        a two-sided test it excludes 0 exactly if `pvalue` < 1 − `confidence_level`.

        Parameters
        ----------
        confidence_level
            Share of test sets whose interval contains the true difference.

        Returns
        -------
        ConfidenceInterval
            `low` and `high`, in points; nan where there is no interval.
        """
        check_level(confidence_level, "confidence level")
        times = critical(self._null, round(1 - confidence_level, 12))
        reach = self.gain * (times / self._t) if self._t else times * self.standard_error
        if self.standard_error == 0:  # the data do not show how much the difference varies
            reach = math.nan
        return ConfidenceInterval(self.statistic - reach, self.statistic + reach)


def critical(null: Floats, alpha: float) -> float:
    """The largest value of |t| with p >= alpha, given those of the shuffles in falling order; nan if all have.

    p = (#{|t'| >= |t|} + 1) / (b + 1) is below alpha if fewer than alpha (b + 1) − 1 of them are as large.
    """
    fewer = math.ceil(alpha * (len(null) + 1) - 1)
    return float(null[fewer - 1]) if fewer > 0 and math.isfinite(null[fewer - 1]) else math.nan


def studentized(pair: Pair, test: Test, resampling: Resampling, progress: Progress | None = None) -> StudentizedResult:
    """The result of the studentized randomization test of two systems that are prepared."""
    data = _Data.of(pair)
    border, _, error = data.observed
    null = np.empty(resampling.n_resamples)
    exceeding = _counted(data, pair, test, resampling, range(resampling.n_resamples), progress, null)
    if math.isfinite(border):  # what ties is the same number, so that the interval agrees with p
        null[np.abs(null - abs(border)) <= _TIE * abs(border)] = abs(border)
    return StudentizedResult(
        **counted(pair, test, exceeding, resampling.seed),
        standard_error=error,
        _t=abs(border),
        _null=np.sort(null)[::-1],
    )


def exceedances(
    pair: Pair, test: Test, resampling: Resampling, resamples: range, progress: Progress | None = None
) -> ExceedanceCounts:
    """Count the shuffles of `resamples` that are extreme."""
    return _counted(_Data.of(pair), pair, test, resampling, resamples, progress)


def warning(pair: Pair, test: Test) -> str:
    """A warning if a test of swaps is likely to find a difference between equal scores; else ""."""
    if test.draw != "swap" or test.statistic or pair.n_different < _ENOUGH:
        return ""
    if shares_denominators(pair.units, pair.metric):
        return ""  # then it is the studentized test
    data = _Data.of(pair)
    a, b = data.values
    # To first order in the swaps, a shuffled difference is Σ ± wᵢ, with the gradient at the mean of both totals.
    (w,) = data._slopes((a + b).sum(axis=0)[None] / 2, data.largest[0]) @ (a - b).T
    error = data.observed[2]
    ratio = float(np.sqrt(w @ w)) / error if error else math.inf
    if not ratio < _NARROW:  # nan where the score has no derivative
        return ""
    return (
        f"shuffled differences vary only {ratio:.2f} times as much as the true one, since the systems make different "
        "numbers of predictions or texts of different lengths; if only their scores are equal, p is too often small: "
        "see --test randomization --method studentized"
    )


@dataclass(frozen=True)
class _Data:
    """Values per unit, with a score that is a function of their totals, in the order of the pair; higher is better."""

    pair: Pair
    values: Floats  # (2, units, columns)
    largest: Floats  # of each column, (2 × columns)

    @classmethod
    def of(cls, pair: Pair) -> _Data:
        fractions = pair.scorer.fractions
        if fractions is None:
            values = pair.units.astype(np.float64)
        else:
            values = np.stack([fractions.numerators, fractions.denominators], axis=-1).astype(np.float64)
        return cls(pair, values, np.broadcast_to(np.abs(values).max(axis=(0, 1)), values[:, 0].shape))

    @property
    def observed(self) -> tuple[float, float, float]:
        """t, the difference and its standard error on the test set."""
        t, difference, error = self.statistics(np.zeros((1, self.values.shape[1])))
        return float(t[0]), float(difference[0]), float(error[0])

    def statistics(self, swapped: Floats, first: int = 0) -> tuple[Floats, Floats, Floats]:
        """t, by how much A is better than B, and the standard error of that, after the swaps (shuffles × units).

        `first` is the number of the first shuffle, for messages.

        With gradients ∇ at the totals T of either system, the influence of a unit with counts x is u = ∇f(T)·x, and the
        standard error is sqrt(Σ (uᴬ − uᴮ)² − (Σ (uᴬ − uᴮ))² / n).
        """
        a, b = self.values
        moved = swapped @ (b - a)
        totals = a.sum(axis=0) + moved, b.sum(axis=0) - moved
        scores = [self._scores(of_system, name, first) for of_system, name in zip(totals, "ab", strict=True)]
        difference = scores[0] - scores[1]
        slopes = [self._slopes(of_system, largest) for of_system, largest in zip(totals, self.largest, strict=True)]
        influence = slopes[0] @ a.T - slopes[1] @ b.T
        influence_swapped = slopes[0] @ b.T - slopes[1] @ a.T
        np.copyto(influence, influence_swapped, where=swapped != 0)
        sums = influence.sum(axis=1)
        sizes = np.abs(slopes[0]) @ self.largest[0] + np.abs(slopes[1]) @ self.largest[1]
        squares = np.einsum("su,su->s", influence, influence) - sums**2 / influence.shape[1]
        error = np.sqrt(np.maximum(squares, 0.0))
        error[error <= ACCURACY * sizes * math.sqrt(influence.shape[1])] = 0.0
        difference[np.abs(difference) <= self.band] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(difference == 0, 0.0, difference / error)
        return t, difference, error

    @property
    def band(self) -> float:
        """Differences below this are rounding errors."""
        fractions = self.pair.scorer.fractions
        return self.pair.scorer.band if fractions is None else fractions.factor * self.pair.scorer.band

    def _scores(self, totals: Floats, system: str, first: int) -> Floats:
        fractions, metric = self.pair.scorer.fractions, self.pair.metric
        if fractions is not None:
            above, below = totals.T
            ratio = np.divide(above, below, out=np.zeros_like(above), where=below != 0)
            ratio[(below == 0) & (above != 0)] = float(fractions.over_nothing)
            return np.asarray(fractions.factor * ratio)
        return score(totals, metric, lambda at: f"system {system} after shuffle {first + at[0]}")

    def _slopes(self, totals: Floats, largest: Floats) -> Floats:
        """The gradient of the score at totals (shuffles × columns)."""
        fractions, metric = self.pair.scorer.fractions, self.pair.metric
        if fractions is None:
            slopes = gradient(totals, np.broadcast_to(largest, totals.shape), metric)
            return slopes if metric.higher_is_better else -slopes
        above, below = totals.T
        inverse = np.divide(fractions.factor, below, out=np.zeros_like(below), where=below != 0)
        share = np.divide(above, below, out=np.zeros_like(below), where=below != 0)
        return np.stack([inverse, -inverse * share], axis=1)


def _counted(
    data: _Data,
    pair: Pair,
    test: Test,
    resampling: Resampling,
    resamples: range,
    progress: Progress | None,
    null: Floats | None = None,
) -> ExceedanceCounts:
    """Count the extreme shuffles, and put |t| of each into `null`."""
    n_units = data.values.shape[1]
    check_time(len(resamples), n_units, 8 * data.values.shape[2], resampling.threads)
    observed = data.observed[0]
    if math.isnan(observed):
        raise InputError(
            f"{pair.metric.name} has no derivative at the totals of these systems (such as BLEU without a match of "
            "four words), so there is no standard error; use the randomization test without studentized"
        )
    order = 1.0 if pair.difference >= 0 else -1.0  # as `Pair.order`, the better system first
    border = abs(observed)
    rows = max(1, _AT_ONCE // n_units)
    borders = test.borders(pair.favours(test))

    def work(first: int) -> tuple[int, int]:
        n = min(rows, resamples.stop - first)
        swaps = random_streams.swaps(resampling.seed, first, n, n_units).astype(np.float64)
        t = order * data.statistics(swaps, first)[0]
        undefined = np.isnan(t)  # where the score has no derivative; they count as extreme, so that p is not too small
        if null is not None:
            null[first - resamples.start : first - resamples.start + n] = np.where(undefined, math.inf, np.abs(t))
        greater, equal = undefined, np.zeros(n, dtype=bool)
        for sign, multiple in borders:
            ties = sign * t == multiple * border
            if math.isfinite(border):
                ties |= np.abs(sign * t - multiple * border) <= _TIE * border
            greater = greater | ((sign * t > multiple * border) & ~ties)
            equal = equal | ties
        if progress is not None:
            progress(n)
        return int(greater.sum()), int((equal & ~greater).sum())

    counts = on_threads(work, range(resamples.start, resamples.stop, rows), resampling.threads)
    greater, equal = np.array(counts).reshape(-1, 2).sum(axis=0)
    return ExceedanceCounts(len(resamples), np.array([greater], dtype=np.int64), np.array([equal], dtype=np.int64))
