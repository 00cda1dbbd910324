"""Confidence intervals of the difference of two systems and of one score, in closed form: nothing is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.influence import influence_values, standard_error
from pairsig.io.choices import check_level
from pairsig.io.errors import InputError
from pairsig.io.results import OneRow
from pairsig.metrics import Metric
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import Items, score_of_a_pass

Floats = NDArray[np.float64]

ENOUGH = 10
"""If the systems differ on fewer units than this, the interval of Student is too narrow."""
CONCENTRATED = 3
"""Units that carry more than half of a gain, if they are so few: rare large wins, which tests find too often."""


class ConfidenceInterval(NamedTuple):
    """Ends of the confidence interval of a score; nan where there is none."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Interval(OneRow):
    """Confidence interval of a difference of two systems.

    Attributes
    ----------
    low, high
        Its ends, in points. They are nan if there is no interval: for a single unit, and for systems that differ by the
        same amount on every unit, or not at all (except pass/fail units).
    pvalue
        Two-sided p-value of Student's test of the same standard error; nan for pass/fail units and without an interval.
    confidence_level
        As specified.
    unit, n_units, n_different
        Unit of sampling, number of units, and number of units on which the counts differ.
    passed_or_failed
        Whether it is the interval of Bonett and Price for pass/fail units, which is valid for any number of units.
    concentrated
        Whether three units carry more than half of the gain.
    """

    low: float
    high: float
    pvalue: float
    confidence_level: float
    unit: Unit
    n_units: int
    n_different: int
    passed_or_failed: bool
    concentrated: bool = False

    @property
    def doubt(self) -> str:
        """A warning if there is no interval or if it may be too narrow; otherwise ""."""
        if math.isnan(self.low) and self.n_different and self.n_units > 1:
            return (
                f"all {self.n_units:,} {self.unit}s differ by the same amount, so the data do not show how much the "
                "difference varies, and there is no confidence interval of the gain"
            )
        differ = f"the systems differ on {self.n_different} of {self.n_units} {self.unit}s"
        share = f"{100 * self.confidence_level:g} %"
        if not (self.passed_or_failed or self.n_different >= ENOUGH):
            if math.isnan(self.low):
                return f"{differ}, so there is no confidence interval of the gain"
            return f"{differ}, too few (below {ENOUGH}) for a reliable {share} confidence interval of the gain"
        if self.concentrated:
            return (
                f"three {self.unit}s carry more than half of the gain: if large differences are so rare, p < 0.05 "
                "comes up on 10 to 21 % of test sets of equally good systems, and the interval is too narrow"
            )
        return ""

    def disagrees(self, pvalue: float) -> str:
        """A note if a two-sided p-value and this interval disagree about 0; otherwise ""."""
        alpha = round(1 - self.confidence_level, 12)  # 1 − 0.95 is above 0.05
        if math.isnan(self.low) or (self.low > 0 or self.high < 0) == (pvalue < alpha):
            return ""
        where = "contains 0" if self.low <= 0 <= self.high else "excludes 0"
        side = "below" if pvalue < alpha else "not below"
        about = "" if math.isnan(self.pvalue) else f" (by its standard error alone, p would be {self.pvalue:.2g})"
        return (
            f"the {100 * self.confidence_level:g} % interval {where} although p is {side} {alpha:g}: p refers to "
            "outputs that are exchangeable, the interval to the population of the "
            f"{self.unit}s{about}; treat the result as borderline"
        )


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
        If an influence value is not a finite number.

    Notes
    -----
    **Pass/fail units**, that is an accuracy or a mean whose units are 0 or 1 (or 0 or 100), get the interval of Bonett
    and Price (2012), p − q ± z √((p + q − (p − q)²) / (n + 2)), cut at −1 and 1, times the score of a passed unit. Here
    p = (r + 1)/(n + 2) and q = (s + 1)/(n + 2): of n units, A passes r that B fails, and B passes s that A fails.

    **All other units** get δ ± t s, with δ the difference on all n units and s its standard error from the influence
    values of the units, `pairsig.core.influence.standard_error` (the infinitesimal jackknife: Efron and Tibshirani
    1993). t is the (1 + confidence_level)/2 quantile of Student's distribution, whose degrees of freedom follow from
    the kurtosis of the influence values (Satterthwaite 1946). docs/false-positive-rate.md has simulations of the
    coverage.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.arange(10, 22)
    >>> a = np.stack([words - 2, words], axis=1)
    >>> b = np.stack([words - np.arange(12) % 5, words], axis=1)
    >>> interval = difference_interval(a, b, metric="accuracy")
    >>> round(interval.low, 2), round(interval.high, 2)
    (-7.73, 4.5)
    """
    return of_pair(Pair.of(a, b, metric, document), confidence_level)


def score_interval(
    scores: ArrayLike,
    *,
    metric: str | Metric | None = None,
    confidence_level: float = 0.95,
    document: ArrayLike | None = None,
) -> ConfidenceInterval:
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
    ConfidenceInterval
        The ends `low` and `high`, in points; nan for a single unit, or for equal scores on all units.

    Raises
    ------
    InputError
        If an influence value is not a finite number.

    Notes
    -----
    Pass/fail units get the interval of Wilson (1927), (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), where p is
    the share of passed units. All others get Student's interval, as in `difference_interval`.

    Examples
    --------
    >>> interval = score_interval([3, 4, 2, 5, 4, 4])
    >>> round(interval.low, 2), round(interval.high, 2)
    (2.58, 4.75)
    """
    pair = Pair.of(scores, scores, metric, document)
    ((low, high),) = of_scores(pair.units[:1], pair.metric, confidence_level)
    return ConfidenceInterval(low, high)


def of_pair(pair: Pair, confidence_level: float = 0.95) -> Interval:
    """The interval of score(a) − score(b) for two systems that are prepared: `difference_interval`."""
    return Intervals(pair.units, pair.metric, pair.unit).of(0, 1, confidence_level)


class Intervals:
    """Intervals of many pairs; what they need of one system is computed once.

    Parameters
    ----------
    units
        Counts (systems × units × columns).
    metric, unit
        Metric of the scores, and what a unit is.
    """

    def __init__(self, units: NDArray[Any], metric: Metric, unit: Unit) -> None:
        self.units, self.metric, self.unit = units, metric, unit
        self.items = Items.of(units, metric)

    @cached_property
    def _linear(self) -> tuple[Floats, Floats]:
        """Scores (systems,) and influence values (systems × units); higher is better."""
        influence = influence_values(self.units, self.metric)
        if not np.isfinite(influence).all():
            _, n_units = influence.shape
            raise InputError(
                f"the influence of unit number {int(np.argwhere(~np.isfinite(influence))[0, 1]) + 1} of {n_units} on "
                f"{self.metric.name} is not a finite number, which the confidence interval needs"
            )
        scores = self.metric.score(self.units.sum(axis=1, dtype=np.float64))
        return scores if self.metric.higher_is_better else -scores, influence

    def estimate(self, a: int, b: int) -> tuple[float, float, float]:
        """By how much A is better than B, its standard error and degrees of freedom; for any counts."""
        scores, influence = self._linear
        error, degrees = standard_error(influence[a], influence[b])
        return float(scores[a] - scores[b]), float(error), float(degrees)

    def of(self, a: int, b: int, confidence_level: float = 0.95) -> Interval:
        """The interval of score(a) − score(b)."""
        check_level(confidence_level, "confidence level")
        items = self.items
        first, second = a, b
        if items is None:
            items, first, second = Items.of(self.units[[a, b]], self.metric), 0, 1
        n_units = self.units.shape[1]
        n_different = int((self.units[a] != self.units[b]).any(axis=1).sum())
        low = high = pvalue = math.nan
        concentrated = False
        if items is not None:
            low, high = (float(end) for end in items.ends(first, second, confidence_level))
        elif n_different and n_units > 1:
            from scipy.special import stdtr, stdtrit  # which take longer to import than pass/fail units to test

            gain, error, degrees = self.estimate(a, b)
            _, influence = self._linear
            concentrated = _concentrated(influence[a] - influence[b] + gain / n_units)
            if error > 0:
                reach = float(stdtrit(degrees, (1 + confidence_level) / 2)) * error
                pvalue = 2 * float(stdtr(degrees, -abs(gain) / error))
                difference = gain if self.metric.higher_is_better else -gain
                low, high = difference - reach, difference + reach
        return Interval(
            low=low, high=high, pvalue=pvalue, confidence_level=confidence_level, unit=self.unit, n_units=n_units,
            n_different=n_different, passed_or_failed=items is not None, concentrated=concentrated,
        )  # fmt: skip


def _concentrated(apart: Floats) -> bool:
    """Whether so few units carry more than half of a gain Σd, and of Σd², as they would not if all were alike."""
    gain = float(apart.sum())
    largest = np.sort(apart * np.sign(gain))[-CONCENTRATED:]
    return float(largest.sum()) > 0.5 * abs(gain) > 0 and float(largest @ largest) > 0.5 * float(apart @ apart)


def of_scores(units: NDArray[Any], metric: Metric, confidence_level: float = 0.95) -> list[tuple[float, float]]:
    """The interval of the score of each system; nan where there is none, as for a single unit; see `score_interval`.

    `units` are counts (systems × units × columns).
    """
    check_level(confidence_level, "confidence level")
    n, passed = units.shape[1], score_of_a_pass(units, metric)
    scores = metric.score(units.sum(axis=1, dtype=np.float64))
    if passed is not None:
        z, p = NormalDist().inv_cdf((1 + confidence_level) / 2), scores / passed
        middle, reach = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        low, high = (passed * (middle + sign * reach) / (1 + z**2 / n) for sign in (-1, 1))
    else:
        from scipy.special import stdtrit

        error, degrees = standard_error(influence_values(units, metric))
        reach = np.where(error > 0, stdtrit(degrees, (1 + confidence_level) / 2) * error, np.nan)
        low, high = scores - reach, scores + reach
    return list(zip(low.tolist(), high.tolist(), strict=True))
