"""Non-inferiority and equivalence tests, in closed form: nothing is drawn.

A p-value above 0.05 does not show that two systems are equally good. A small p-value of these tests does, because their
null hypothesis is that the systems differ by the margin or more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pairsig.core.definitions import Named
from pairsig.io.choices import choose
from pairsig.io.errors import InputError
from pairsig.metrics import Metric
from pairsig.stats.intervals import Intervals
from pairsig.stats.paired import Pair
from pairsig.stats.pass_fail import tango
from pairsig.stats.results import TestResult

Amount = float | str
"""A score, gain or margin: a number in the unit of the scores, as tables show them, or a percentage such as "70%"."""

CLAIMS = ("equivalence", "a-not-worse", "b-not-worse")
"""Claims about two systems: they differ by less than the margin, or A (B) is not worse by the margin or more."""


def margin_test(
    a: ArrayLike,
    b: ArrayLike,
    margin: float,
    claim: str = "equivalence",
    *,
    metric: str | Metric | None = None,
    document: ArrayLike | None = None,
) -> TestResult:
    """Test whether two systems are equally good up to a margin, or one is not worse than the other by it.

    Parameters
    ----------
    a, b, metric
        See `exact_test`.
    margin
        M, in points: 0.5 is half a point of BLEU, and 0.02 is two hundredths of a mean of values from 0 to 1. Choose it
        before the systems are scored.
    claim
        "equivalence", "a-not-worse" or "b-not-worse".
    document
        One id per segment: documents are the units instead of segments.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        For a margin that is not a finite number above 0 or is larger than any difference can be, and where
        `difference_interval` raises one.

    Notes
    -----
    Let δ be by how much A is better than B on the test set (negative if A is worse), and Δ the same on the population
    that the test set was drawn from. The null hypothesis of "a-not-worse" is Δ <= −M, that of "b-not-worse" Δ >= M, and
    that of "equivalence" |Δ| >= M, whose p is the larger of the two others (two one-sided tests: Schuirmann 1987).

    **Pass/fail units** (as in `difference_interval`) have the score test of Tango (1998): p = P(Z > z), with the
    standard error that the null hypothesis implies. Its margins with p = α are the ends of Tango's interval.

    **All others** have p = P(Tν >= (M + δ) / s) for "a-not-worse" and P(Tν >= (M − δ) / s) for "b-not-worse", with the
    standard error s and the degrees of freedom ν of `difference_interval`, and Student's distribution Tν. Systems with
    the same counts on every unit have no s, and p = 1. If only few of many units differ, p can be too small, see
    `Interval.doubt`.

    Examples
    --------
    Each of two systems fails five of 200 items, not the same ones. They differ by less than 0.05.

    >>> import numpy as np
    >>> a, b = np.ones((2, 200))
    >>> a[:5] = b[5:10] = 0
    >>> round(margin_test(a, b, 0.05).pvalue, 4)
    0.0055
    """
    return against(Pair.of(a, b, metric, document), margin, claim)


def against(pair: Pair, margin: float, claim: str) -> TestResult:
    """The result of `margin_test` for two systems that are prepared."""
    choose(claim, CLAIMS, "claim")
    intervals = Intervals(pair.units, pair.metric, pair.unit)
    passed = None if intervals.items is None else intervals.items.passed
    check_margin(margin, pair.metric, passed)
    sides = {"equivalence": (1, -1), "a-not-worse": (1,), "b-not-worse": (-1,)}[claim]
    p = max(not_worse(intervals, margin, side) for side in sides)
    test = Named("score" if passed is not None else "studentized", claim, name="margin")
    described = pair.described(test, f"margin:{margin!r}")
    return TestResult(**described, pvalue=p, pvalue_low=p, pvalue_high=p, margin=margin)


def meaning(metric: str, margin: float, claim: str, name_a: str, name_b: str) -> str:
    """A sentence on the meaning of a small p-value."""
    by = f"{margin:g} in {metric}"
    if claim == "equivalence":
        return f"a small p shows that {name_a} and {name_b} differ by less than {by}; a large p shows nothing"
    not_worse, rival = (name_a, name_b) if claim == "a-not-worse" else (name_b, name_a)
    return f"a small p shows that {not_worse} is not worse than {rival} by {by} or more; a large p shows nothing"


def not_worse(intervals: Intervals, margin: float, side: int = 1) -> float:
    """P-value of "the first system is not worse by the margin"; of the second one with the side −1."""
    from scipy.special import ndtr, stdtr

    if intervals.items is not None:
        won, lost = intervals.items.better(0, 1)
        r, s = (won, lost) if side == 1 else (lost, won)
        return float(ndtr(-tango(float(r), float(s), intervals.items.n_units, margin / intervals.items.passed)))
    if intervals.units.shape[1] < 2:
        return 1.0
    gain, error, degrees = intervals.estimate(0, 1)
    # An error of 0 says nothing about other units: the outputs are the same, or differ equally on every unit.
    return float(stdtr(degrees, -(margin + side * gain) / error)) if error > 0 else 1.0


def check_margin(margin: float, metric: Metric, largest: float | None = None) -> None:
    """Raise `InputError` for impossible margins; `largest` is the largest possible gain, by default the scale."""
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"the margin is {margin:g}, expected a number above 0, in points")
    largest = metric.scale if largest is None else largest
    if largest is not None and margin >= largest:
        raise InputError(
            f"the margin is {margin:g}, but no two systems differ by more than {largest:g} in {metric.name}, expected "
            "a smaller number, in points"
        )


def in_unit(amount: Amount, noun: str, best: float | None) -> float:
    """A score, gain or margin in the unit of the scores, whose best value is `best` (see `best_score`).

    A score below 1 or a gain below 0.1 point is probably a share, so it is accepted as a percentage only.

    >>> in_unit("70%", "score", 100.0), in_unit(70, "score", 100.0), in_unit("2%", "gain", 1.0)
    (70.0, 70.0, 0.02)
    """
    text = str(amount).strip()
    stated, name = f"the {noun.replace('-', ' ')} is {text}", f"--{noun}"
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise InputError(f"{stated}, expected a number or a percentage, such as {name} 2%") from None
    if text.endswith("%"):
        if best is None:
            raise InputError(f"{stated}, but these scores are not percentages, expected a number in their unit")
        return value * best / 100
    if best == 100 and 0 < value < (1 if noun == "score" else 0.1):
        raise InputError(f"{stated}, expected points from 0 to 100; write {name} {100 * value:g}% or {name} {value:g}%")
    if best == 1 and 1 <= value < math.inf:
        raise InputError(f"{stated}, but the scores are from 0 to 1; write {name} {value:g}% or {name} {value / 100:g}")
    return value


def best_score(pair: Pair) -> float | None:
    """The score of 100 %: that of the metric, or the mean of ones if all values are from 0 to 1, or of 0 and 100.

    None for other scores, and for costs, of which a price below 1 is no share.
    """
    if pair.metric.scale is not None or not pair.metric.averaged:
        return pair.metric.scale
    values = pair.segments[..., : len(pair.metric.columns)]
    whole = 100.0 if values.max() == 100 and np.isin(values, (0, 100)).all() else 1.0
    if len(pair.metric.columns) > 1 or values.min() < 0 or values.max() > whole:
        return None
    return float(pair.metric.score([whole, 1.0]))
