"""Confidence interval of the difference of two systems, in closed form: nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.influence import ROUNDING
from pairsig.core.quantiles import normal_quantile, student_quantile
from pairsig.io.choices import check_level
from pairsig.io.errors import InputError
from pairsig.io.results import OneRow
from pairsig.metrics import Metric, Ratio
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENOUGH = 10
"""If the systems differ on fewer units than this, the studentized interval is too narrow."""


_REMEMBERED = 2**24
"""Scores without a unit that are kept, 128 MiB, while the intervals of many pairs are computed."""


@dataclass(frozen=True, kw_only=True)
class Interval(OneRow):
    """Confidence interval of a difference of two systems.

    Attributes
    ----------
    low, high
        Its ends, in points. They are nan if there is no interval: for a single unit, and for systems that differ by the
        same amount on every unit, or not at all (except pass/fail units).
    confidence_level
        As specified.
    unit, n_units, n_different
        Unit of sampling, number of units, and number of units on which the counts differ.
    passed_or_failed
        Whether it is the interval of Bonett and Price for pass/fail units, which is valid for any number of units.

    See Also
    --------
    difference_interval : Returns this.

    Examples
    --------
    >>> interval = difference_interval([1.0, 0.5, 0.8, 0.9], [0.5, 0.6, 0.4, 0.7])
    >>> round(interval.low, 2) < 0.25 < round(interval.high, 2)
    True
    """

    low: float
    high: float
    confidence_level: float
    unit: Unit
    n_units: int
    n_different: int
    passed_or_failed: bool

    def _figure(self) -> Figure:
        from pairsig.io import pictures

        label = f"a − b, {100 * self.confidence_level:g} % interval, {self.n_units:,} {self.unit}s"
        return pictures.intervals([("", (self.low + self.high) / 2, self.low, self.high)], label)

    @property
    def turned(self) -> Interval:
        """The interval of the difference with the opposite sign."""
        return replace(self, low=-self.high, high=-self.low)

    @property
    def doubt(self) -> str:
        """A warning if there is no interval or if it may be too narrow; otherwise ""."""
        if math.isnan(self.low) and self.n_different and self.n_units > 1:
            return (
                f"all {self.n_units:,} {self.unit}s differ by the same amount, so the data do not show how much the "
                "difference varies, and there is no confidence interval of the gain"
            )
        if self.passed_or_failed or self.n_different >= ENOUGH:
            return ""
        differ = f"the systems differ on {self.n_different} of {self.n_units} {self.unit}s"
        if math.isnan(self.low):
            return f"{differ}, so there is no confidence interval of the gain"
        share = f"{100 * self.confidence_level:g} %"
        return f"{differ}, too few (below {ENOUGH}) for a reliable {share} confidence interval of the gain"


def difference_interval(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    confidence_level: float = 0.95,
    document: ArrayLike | None = None,
) -> Interval:
    """Confidence interval of score(a) − score(b) on the population that the test set was drawn from.

    Parameters
    ----------
    a, b, metric
        See `exact_test`.
    confidence_level
        Share of test sets whose interval contains the true difference.
    document
        One id per segment: documents are the units instead of segments, for segments that are not independent.

    Returns
    -------
    Interval
        On few units it may extend beyond the largest possible difference. `Interval.doubt` is a warning if too few
        units differ.

    Raises
    ------
    InputError
        If the score without some unit is not a finite number.

    See Also
    --------
    exact_test : An exact p-value of the difference.
    margin_test : Tests whether the difference is smaller than a margin.

    Notes
    -----
    **Pass/fail units**, that is an accuracy or a mean whose units are 0 or 1 (or 0 or 100), get the interval of Bonett
    and Price (2012), p − q ± z √((p + q − (p − q)²) / (n + 2)), cut at −1 and 1, times the score of a passed unit. Here
    p = (r + 1)/(n + 2) and q = (s + 1)/(n + 2): of n units, A passes r that B fails, and B passes s that A fails.

    **All other units** get an interval that is studentized by the jackknife (Tukey 1958; Efron and Tibshirani 1993).
    With δ the difference on all n units, δ₍ᵢ₎ that without unit i, and the influence uᵢ = (n − 1)(mean δ₍ᵢ₎ − δ₍ᵢ₎), it
    is δ ± t s, s² = Σ uᵢ² / (n (n − 1)), where t is the (1 + confidence_level)/2 quantile of Student's distribution.
    Its degrees of freedom follow from the kurtosis κ of the influences (Satterthwaite 1946): 2n / (κ − (n − 3)/(n −
    1)), at most n − 1. docs/false-positive-rate.md has simulations of the coverage.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.arange(10, 22)
    >>> a = np.stack([words - 2, words], axis=1)
    >>> b = np.stack([words - np.arange(12) % 5, words], axis=1)
    >>> interval = difference_interval(a, b, metric="accuracy")
    >>> round(interval.low, 2), round(interval.high, 2)
    (-7.74, 4.51)
    """
    return signed(Pair.of(a, b, metric, document), confidence_level)


@dataclass(frozen=True)
class ScoreInterval(OneRow):
    """Confidence interval of the score of one system.

    Attributes
    ----------
    metric, score
        Name of the metric, and the score on the test set.
    low, high
        Ends of the interval, in points; nan if there is none: for a single unit, or for equal scores on all units.
    confidence_level
        As specified.
    unit, n_units
        Unit of sampling, and number of units.

    See Also
    --------
    score_interval : Returns this.

    Examples
    --------
    >>> interval = score_interval([1] * 9 + [0] * 3)
    >>> interval.score, round(interval.low, 2), round(interval.high, 2)
    (0.75, 0.47, 0.91)
    """

    metric: str
    score: float
    low: float
    high: float
    confidence_level: float
    unit: Unit
    n_units: int

    def _figure(self) -> Figure:
        from pairsig.io import pictures

        label = f"{self.metric}, {100 * self.confidence_level:g} % interval, {self.n_units:,} {self.unit}s"
        return pictures.intervals([("", self.score, self.low, self.high)], label)


def score_interval(
    scores: ArrayLike,
    *,
    metric: str | Metric | None = None,
    confidence_level: float = 0.95,
    document: ArrayLike | None = None,
) -> ScoreInterval:
    """Confidence interval of the score of one system on the population that the test set was drawn from.

    Parameters
    ----------
    scores
        Scores per item, (segments,), which are averaged; or counts, (segments × columns of the metric).
    metric
        See `exact_test`.
    confidence_level
        Share of test sets whose interval contains the true score.
    document
        One id per segment: documents are the units instead of segments.

    Returns
    -------
    ScoreInterval

    Raises
    ------
    InputError
        If the score without some unit is not a finite number.

    See Also
    --------
    difference_interval : Shows whether two systems differ. The intervals of their scores may overlap although they do.

    Notes
    -----
    Pass/fail units get the interval of Wilson (1927), (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), where p is
    the share of passed units. All others get that of the jackknife, as in `difference_interval`.

    Examples
    --------
    >>> interval = score_interval([3, 4, 2, 5, 4, 4])
    >>> round(interval.low, 2), round(interval.high, 2)
    (2.58, 4.75)
    """
    pair = Pair.of(scores, scores, metric, document)
    units = pair.units[:1]
    ((low, high),) = of_scores(units, pair.metric, confidence_level)
    score = float(pair.scorer.scores[0])
    return ScoreInterval(pair.metric.name, score, low, high, confidence_level, pair.unit, units.shape[1])


def agreeing(interval: Interval, difference: float, pvalue: float) -> Interval:
    """The interval, changed where it contradicts a two-sided test: 0 is outside exactly if p < 1 − confidence level.

    If both disagree about 0, the end next to 0 of the interval `found` for `difference` becomes δ − δ z(α) / z(p),
    where P(|Z| > z(p)) = p (Miettinen 1976); docs/p-values.md has the reasons. Four wins in twelve items without a
    loss, with p = 0.125:

    >>> found = difference_interval([1.0] * 4 + [0.5] * 8, [0.0] * 4 + [0.5] * 8)
    >>> round(found.low, 2), round(found.high, 2)
    (0.02, 0.65)
    >>> round(agreeing(found, 1 / 3, 0.125).low, 2)
    -0.09
    """
    if not disagree(interval.low, interval.high, difference, pvalue, interval.confidence_level):
        return interval
    if difference < 0:
        return agreeing(interval.turned, -difference, pvalue).turned
    alpha = _alpha(interval.confidence_level)
    with np.errstate(divide="ignore"):
        low = difference * (1 - np.float64(abs(normal_quantile(alpha / 2))) / abs(normal_quantile(pvalue / 2)))
    bounds = (math.ulp(0.0), difference) if pvalue < alpha else (-interval.high, 0.0)
    return replace(interval, low=float(np.clip(low, *bounds)))


def disagree(low: Any, high: Any, difference: Any, pvalue: Any, confidence_level: float = 0.95) -> NDArray[np.bool_]:
    """Which intervals contradict a two-sided test, see `agreeing`; those of equal systems and nan never do."""
    is_away = np.where(np.greater(difference, 0), low, -np.asarray(high)) > 0
    is_rejected = np.less(pvalue, _alpha(confidence_level))
    return np.asarray(np.not_equal(difference, 0) & ~np.isnan(low) & (is_away != is_rejected))


def _alpha(confidence_level: float) -> float:
    return round(1 - confidence_level, 12)  # 1 − 0.95 is above 0.05


def signed(pair: Pair, confidence_level: float = 0.95) -> Interval:
    """The interval of score(a) − score(b) for two systems that are prepared: `difference_interval`."""
    return of_pairs(pair.units, pair.metric, pair.unit)(0, 1, confidence_level)


def of_pairs(units: NDArray[Any], metric: Metric, unit: Unit) -> Callable[..., Interval]:
    """The function from two systems (and a confidence level) to the interval of the difference of their scores.

    `units` are counts (systems × units × columns). What the intervals need of one system is computed once.
    """
    items = Items.of(units, metric)
    if items is not None:
        return partial(items.interval, unit=unit)
    n_units = units.shape[1]
    passes = passing(units)

    def score_and_left_out(system: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _score_and_left_out(units[system].astype(np.float64), metric)

    remembered = lru_cache(maxsize=max(2, _REMEMBERED // n_units))(score_and_left_out)

    def interval(a: int, b: int, confidence_level: float = 0.95) -> Interval:
        of_two = Items.of(units[[a, b]], metric) if passes[a] and passes[b] else None
        if of_two is not None:
            return of_two.interval(0, 1, confidence_level, unit)
        check_level(confidence_level, "confidence level")
        n_different = int((units[a] != units[b]).any(axis=1).sum())
        low, high = math.nan, math.nan
        if n_different and n_units > 1:
            score, left_out = (np.stack(of_both) for of_both in zip(remembered(a), remembered(b), strict=True))
            low, high = (float(end) for end in _ends(*_jackknifed(score, left_out, metric), confidence_level))
        signed_interval = Interval(
            low=low,
            high=high,
            confidence_level=confidence_level,
            unit=unit,
            n_units=n_units,
            n_different=n_different,
            passed_or_failed=False,
        )
        return signed_interval if metric.higher_is_better else signed_interval.turned

    return interval


def passing(units: NDArray[Any]) -> NDArray[np.bool_]:
    """Which systems may be passed or failed on every unit, (systems,): a quick look at counts."""
    values = units[..., 0]
    return np.asarray(((values == 0) | (values == 1) | (values == 100)).all(axis=1))


@dataclass(frozen=True)
class Items:
    """Which of two systems passes each unit, for all pairs of systems at once.

    Attributes
    ----------
    passed
        Score of a passed unit.
    n_units
        Their number.
    only
        How many units only the first system of a pair has with the value of a passed unit, (systems × systems).
    higher_is_better
        Of the metric. If lower is better, the value of a passed unit is a failure.
    """

    passed: float
    n_units: int
    only: NDArray[np.int64]
    higher_is_better: bool

    @classmethod
    def of(cls, counts: NDArray[Any], metric: Metric) -> Items | None:
        """From counts per unit (systems × units × columns); None if they are not passed or failed."""
        passed = passed_or_failed(counts, metric)
        if passed is None:
            return None
        numbers, n_units = together(counts[..., 0] != 0), counts.shape[1]
        return cls(passed, n_units, np.diagonal(numbers)[:, None] - numbers, metric.higher_is_better)

    def better(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Units on which only A is better and on which only B is better (McNemar's b and c), also of many pairs."""
        first, second = self.only[a, b], self.only[b, a]
        return (first, second) if self.higher_is_better else (second, first)

    def ends(self, a: Any, b: Any, confidence_level: float = 0.95) -> tuple[Any, Any]:
        """Ends of the interval of Bonett and Price of score(a) − score(b), also of many pairs."""
        check_level(confidence_level, "confidence level")
        n = self.n_units + 2
        p, q = (self.only[a, b] + 1) / n, (self.only[b, a] + 1) / n
        reach = normal_quantile((1 + confidence_level) / 2) * np.sqrt((p + q - (p - q) ** 2) / n)
        return self.passed * np.maximum(p - q - reach, -1.0), self.passed * np.minimum(p - q + reach, 1.0)

    def interval(self, a: int, b: int, confidence_level: float = 0.95, unit: Unit = "segment") -> Interval:
        """The interval of one pair, see `ends`."""
        low, high = self.ends(a, b, confidence_level)
        return Interval(
            low=float(low),
            high=float(high),
            confidence_level=confidence_level,
            unit=unit,
            n_units=self.n_units,
            n_different=int(self.only[a, b] + self.only[b, a]),
            passed_or_failed=True,
        )


def studentized(units: NDArray[np.float64], metric: Metric, confidence_level: float) -> tuple[Any, Any]:
    """Ends of the jackknife's interval of by how much the first system is better; nan if its error is 0.

    The counts of two systems by unit are (..., 2, units, columns): one interval for each of the leading axes.
    """
    return _ends(*jackknifed(units, metric), confidence_level)


def _ends(gain: Any, error: Any, degrees: Any, confidence_level: float) -> tuple[Any, Any]:
    reach = student_quantile(degrees, (1 + confidence_level) / 2) * np.where(error > 0, error, np.nan)
    return gain - reach, gain + reach


def jackknifed(units: NDArray[np.float64], metric: Metric) -> tuple[Any, Any, Any]:
    """By how much the first system is better, its jackknife standard error and degrees of freedom.

    `difference_interval` has the formulas; the counts are those of `studentized`. The error is exactly 0 where all
    units differ by the same amount, whatever the last digits of their scores.
    """
    return _jackknifed(*_score_and_left_out(units, metric), metric)


def _score_and_left_out(units: NDArray[np.float64], metric: Metric) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The score of counts (..., n, columns), (..., 1), and those without each unit, (..., n)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # checked by `_error`
        totals = units.sum(axis=-2, keepdims=True)
        return metric.score(totals), metric.score(totals - units)


def _jackknifed(
    score: NDArray[np.float64], left_out: NDArray[np.float64], metric: Metric
) -> tuple[NDArray[np.float64], Any, Any]:
    """`jackknifed`, from what `_score_and_left_out` returns for both systems."""
    with np.errstate(invalid="ignore"):
        without = _difference(left_out, metric)
        return _difference(score, metric)[..., 0], *_error(without, np.abs(left_out).max(axis=(-2, -1)), metric)


def _error(without: NDArray[np.float64], largest_score: Any, metric: Metric) -> tuple[Any, Any]:
    """Standard error and degrees of freedom by the jackknife, from the values without each unit (..., n)."""
    n = without.shape[-1]
    if not np.isfinite(without).all():
        unit = int(np.argwhere(~np.isfinite(without))[0][-1])
        raise InputError(
            f"{metric.name} without unit number {unit + 1} of {n} is not a finite number, which the confidence "
            "interval needs"
        )
    influence = (n - 1) * (without.mean(axis=-1, keepdims=True) - without)
    influence[np.abs(influence) <= ROUNDING * (n - 1) * np.asarray(largest_score)[..., None]] = 0.0
    largest = np.abs(influence).max(axis=-1)
    squares = (influence / np.where(largest > 0, largest, 1.0)[..., None]) ** 2
    variance = squares.sum(axis=-1) / (n * (n - 1))
    return largest * np.sqrt(variance), degrees_of_freedom(squares)


def of_scores(units: NDArray[Any], metric: Metric, confidence_level: float = 0.95) -> list[tuple[float, float]]:
    """The interval of the score of each system; nan where there is none, as for a single unit; see `score_interval`.

    `units` are counts (systems × units × columns).
    """
    check_level(confidence_level, "confidence level")
    n, passed = units.shape[1], passed_or_failed(units, metric)
    score, left_out = _score_and_left_out(units.astype(np.float64), metric)
    scores = score[:, 0]
    if passed is not None:
        z, p = normal_quantile((1 + confidence_level) / 2), scores / passed
        middle, reach = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        low, high = (passed * (middle + sign * reach) / (1 + z**2 / n) for sign in (-1, 1))
    elif n == 1:
        low = high = np.full(len(units), np.nan)
    else:
        error, degrees = _error(left_out, np.abs(left_out).max(axis=-1), metric)
        low, high = _ends(scores, error, degrees, confidence_level)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def degrees_of_freedom(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees of freedom of sums of squares (..., n), see `difference_interval`; n − 1 if all terms are 0."""
    n, mean = squares.shape[-1], squares.mean(axis=-1)
    kurtosis = np.full(mean.shape, 3.0)
    # Means whose square is below the smallest normal float are numerically zero.
    np.divide((squares**2).mean(axis=-1), mean**2, out=kurtosis, where=mean**2 >= np.finfo(float).tiny)
    degrees: NDArray[np.float64] = np.minimum(2 * n / (kurtosis - (n - 3) / (n - 1)), n - 1)
    return degrees


def _difference(scores: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """By how much the first system is better, of scores (..., 2, n)."""
    gain: NDArray[np.float64] = scores[..., 0, :] - scores[..., 1, :]
    return gain if metric.higher_is_better else -gain


def right_alone(pair: Pair) -> tuple[int, int] | None:
    """Segments that only A and that only B gets right (McNemar's b and c), if each is right or wrong; else None."""
    items = Items.of(pair.segments, pair.metric)
    return None if items is None else items.better(0, 1)


def passed_or_failed(units: NDArray[Any], metric: Metric) -> float | None:
    """Score of a passed unit, if every unit of a share or a mean is passed or failed; else None."""
    form = metric.function
    if not isinstance(form, Ratio) or metric.width != 2 or form.complement or form.otherwise is not None:
        return None
    if (form.numerator, form.denominator) != ((0,), (1,)):
        return None
    values, weights = units[..., 0], units[..., 1]
    whole = 1.0 if metric.scale == form.factor else float(values.max())
    if whole in (1.0, 100.0) and (weights == 1).all() and ((values == 0) | (values == whole)).all():
        return abs(float(metric.score(np.array([whole, 1.0]))))
    return None
