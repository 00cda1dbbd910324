"""Exact tests: p-values without drawing, for metrics that are a ratio of two sums or a mean.

`exact_test` is the randomization test over all 2ⁿ swaps, `exact_bootstrap_test` the bootstrap over all nⁿ resamples.
Both compute the distribution of two integer totals from its characteristic function; the module `distributions` has
the mathematics.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Test, find
from pairsig.core.engine import Scorer
from pairsig.io.errors import InputError
from pairsig.metrics import Metric, Ratio
from pairsig.metrics.exact_arithmetic import EXACT
from pairsig.metrics.ratios import Fractions
from pairsig.stats.exact.distributions import (
    Distribution,
    Draws,
    Event,
    Floats,
    Integers,
    Mass,
    Swaps,
    TooLargeError,
    mass,
)
from pairsig.stats.exact.signed_sums import common_step, log_bounds
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.results import Result

_LAST_DIGIT = 2.0**-49
"""Bound on the rounding errors of a score and of sums of it, relative to the score."""
_WIDE = 1e-6
"""A p-value whose relative error is larger is known to lie between two bounds."""


@dataclass(frozen=True, kw_only=True)
class ExactResult(Result):
    """Result of an exact test of two systems: the attributes of `Result`, and how accurate the p-value is.

    Attributes
    ----------
    log10_pvalue
        The decimal logarithm of `pvalue`, also if that is too small for a float; -inf if p is exactly 0.
    p_equal
        Probability that a swap or a resample is exactly on the border of the event. It is part of `pvalue` unless the
        inequality of the formula is strict. nan for scores that are not multiples of any step.
    error_bound
        Bound on the relative error of `pvalue` from rounding and transforms; 0 if p is known as a fraction. Above 1e-6,
        p is usually the middle of two bounds, and `doubt` says how far away they are.

    See Also
    --------
    exact_test : Returns this.
    exact_bootstrap_test : Returns this.

    Examples
    --------
    >>> from pairsig import exact_test
    >>> result = exact_test([1, 1, 1], [0, 0, 0])
    >>> result.statistic, result.pvalue, result.better
    (1.0, 0.25, 'a')
    """

    log10_pvalue: float
    p_equal: float
    error_bound: float

    @property
    def doubt(self) -> str:
        """How exact p is, if scores with many digits leave it between two bounds; otherwise ""."""
        if not math.isnan(self.p_equal) or self.error_bound < _WIDE:
            return ""
        return (
            f"p is exact to ±{self.pvalue * self.error_bound:.2g}, because sums of scores with so many digits take too "
            "many values to be counted"
        )


def exact_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    alternative: str = "two-sided",
    document: ArrayLike | None = None,
) -> ExactResult:
    """Test the difference of two systems with the exact paired permutation test.

    The null hypothesis is that on every segment the two systems' counts are exchangeable: it is chance which system
    produced which.

    Parameters
    ----------
    a, b
        Scores of the two systems per item, (segments,), which are averaged; or counts, (segments × columns of the
        metric).
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`. It may be omitted for scores per item, and where only one
        metric has this number of columns. The columns of "f1" are matched, predicted, gold.
    alternative
        "two-sided"; "greater" or "less" if score(a) − score(b) is expected to be above or below 0, which must be
        decided before looking at the scores; or "observed", one-sided in the direction of the better system.
    document
        One id per segment: whole documents are swapped, for segments that are not independent.

    Returns
    -------
    ExactResult
        `pvalue` has full *relative* accuracy however small it is, about 1e-12 and at most `error_bound`;
        `log10_pvalue` goes beyond the range of floats. Where the bound determines the whole number p·2ⁿ, p is exact.

    Raises
    ------
    InputError
        For metrics that are not a `pairsig.Ratio` (BLEU, chrF), and for totals in numerator and denominator that would
        take transforms of more than some seconds (60 documents of 10,000 words, F1).

    See Also
    --------
    randomization_test : The same p-value from random swaps, for any metric.
    exact_bootstrap_test : The bootstrap over all resamples.
    difference_interval : A confidence interval of the difference.

    Notes
    -----
    This is the p-value that `randomization_test` estimates. The two systems' counts of each segment are swapped or not,
    with all 2ⁿ choices equally likely. With δ >= 0 the gain of the better system and δ' that after the swaps, p =
    P(|δ'| >= δ) (Fisher 1935). With d = score(a) − score(b), it is P(d' >= d) for "greater", P(d' <= d) for "less" and
    P(δ' >= δ) for "observed". Ties count and are decided by integer arithmetic. Equal systems get p = 1 by definition
    if the alternative is two-sided or observed.

    If the null hypothesis is true, p <= 0.05 on at most 5 % of test sets, for any number of segments. With "observed",
    which lets the data choose the direction, it is up to 11 %. Equal scores are enough for pass/fail items. For means
    and F1 they make the test approximate: it rejects more often if differences are skewed and segments few. Two systems
    with the same precision that make very different numbers of predictions may be significantly different on any number
    of segments (docs/false-positive-rate.md).

    The metric must be a `pairsig.Ratio`: accuracy, UAS, LAS, recall, precision, F1, AER, TER, or a mean. Values that
    are multiples of a step (0.12345, 1/3) are counted in whole numbers. The p-value of other scores (COMET) is the
    middle of two bounds, `error_bound` away from either, which is 0 for up to 40 segments and some 0.1 % of p beyond.
    Sums of scores that differ by less than the last digits of the scores tie. docs/computation.md explains how
    the distribution of δ' follows from the counts (Zmigrod, Vieira and Cotterell 2022). It takes 10 ms for F1 on 2,400
    sentences, and at most some seconds.

    Examples
    --------
    A is better on each of three segments. Two of the 8 swaps are as extreme, and one of them in the direction of A.

    >>> exact_test([1, 1, 1], [0, 0, 0]).pvalue
    0.25
    >>> exact_test([1, 1, 1], [0, 0, 0], alternative="greater").pvalue
    0.125

    On a thousand such segments these are 2 of 2¹⁰⁰⁰ swaps.

    >>> round(exact_test([1] * 1000, [0] * 1000).log10_pvalue, 6)
    -300.728966

    Where sums of scores take too many values, p lies between two bounds.

    >>> import numpy as np
    >>> result = exact_test(np.sqrt(np.arange(100)), np.sqrt(np.arange(100) % 95 * 1.05))
    >>> result.doubt.split(",")[0]
    'p is exact to ±9.9e-05'
    """
    return permuted(Pair.of(a, b, metric, document), find("exact", alternative=alternative))


def exact_bootstrap_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric | None = None,
    method: str = "shifted",
    alternative: str = "two-sided",
    document: ArrayLike | None = None,
) -> ExactResult:
    """Test the difference of two systems with the bootstrap over all nⁿ resamples: `bootstrap_test` at b = ∞.

    The null hypothesis is that the systems are equally good on the population that the test set was drawn from (with
    a direction: that the first is not better, or not worse).

    Parameters
    ----------
    a, b, metric, document
        See `exact_test`; whole documents are drawn.
    method, alternative
        See `bootstrap_test`.

    Returns
    -------
    ExactResult
        As for `exact_test`, except that p is never known as a fraction and `error_bound` is never 0.

    Raises
    ------
    InputError
        As for `exact_test`, for values that are not multiples of a step 10⁻ᵏ or 2⁻ᵏ, and if the systems' denominators
        differ on some segment (precision, F1, AER).

    See Also
    --------
    bootstrap_test : The same p-value from random resamples, for any metric.
    exact_test : The exact test, which controls the false-positive rate if the outputs are exchangeable.

    Notes
    -----
    Null hypothesis and p-values are those of `bootstrap_test`, with a probability instead of a share of resamples, such
    as p = P(|δ* − δ| >= δ) (shifted) and min(1, 2 P(δ* <= 0)) (percentile). Whole numbers decide ties, and p is exactly
    0 if no resample is extreme. The metric must be a `pairsig.Ratio` whose denominator is the same for both systems on
    every segment: accuracy, UAS, LAS, recall, TER, or a mean. docs/computation.md has the method.

    Examples
    --------
    One segment is won and one is a draw. Of the 2² resamples only that with two wins doubles the gain, which is a tie.

    >>> result = exact_bootstrap_test([1, 1], [0, 1], alternative="observed")
    >>> result.pvalue, round(result.p_equal, 12)
    (0.0, 0.25)
    """
    return drawn(Pair.of(a, b, metric, document), find("exact-bootstrap", method, alternative))


def permuted(pair: Pair, test: Test) -> ExactResult:
    """The result of `exact_test` for two systems that are prepared."""
    try:
        return _swapped(pair, test, Ratios.of(fractions(pair.scorer, test, pair.unit), *pair.order[0].tolist()))
    except (NoStepError, TooManyValuesError):
        if not shares_denominators(pair.units, pair.metric):
            raise
        return _bounded(pair, test)


def _swapped(pair: Pair, test: Test, ratios: Ratios) -> ExactResult:
    """The result of `exact_test` from whole numbers."""
    distribution, event, _ = ratios.swapped()
    n = int(distribution.times.sum())
    if not n or (pair.better is None and not test.directed):  # where no swap changes anything, every one is a tie
        return _result(pair, test, Mass(0.0, 0.0, 1.0))
    return _of_swaps(pair, test, mass_of(pair.scorer, test, distribution, event), n)


def _of_swaps(pair: Pair, test: Test, extreme: Mass, n: int) -> ExactResult:
    """The result from the mass of the swaps of n units for which the better system gains at least δ."""
    favoured = pair.favours(test)
    # Swapping all units that a choice of swaps leaves alone changes the sign of δ': both sides have the same mass.
    sides = 2 if test.two_sided else 1
    # The mass is a whole number of 2⁻ⁿ, and known exactly if the bound on its error leaves only one.
    log_count = extreme.log + n * math.log(2)
    count = math.exp(log_count) if log_count < math.log(EXACT) else math.inf
    if count * extreme.error < 0.25:
        whole, ties = round(count), round(math.ldexp(extreme.tied, n))
        tied = math.ldexp(sides * ties, -n)
        if not favoured:
            p = 1.0 - math.ldexp(whole - ties, -n)
            return _result(pair, test, Mass(math.log(p), 0.0, tied), p)
        log = math.log(sides * whole) - n * math.log(2)
        return _result(pair, test, Mass(log, 0.0, tied), math.ldexp(sides * whole, -n))
    if not favoured:
        return _result(pair, test, _complement(extreme))
    return _result(pair, test, Mass(extreme.log + math.log(sides), extreme.error, sides * extreme.tied))


def is_bounded(scorer: Scorer, test: Test) -> bool:
    """Whether there is an exact test of systems whose values are not whole steps, by bounds of its p-values."""
    return test.draw == "swap" and shares_denominators(scorer.counts, scorer.metric)


def shares_denominators(counts: NDArray[Any], metric: Metric) -> bool:
    """Whether the metric is a ratio with the same denominators for all systems; counts (systems × units × columns)."""
    if not isinstance(metric.function, Ratio):
        return False
    below = counts[..., list(metric.function.denominator)]
    return bool((below == below[:1]).all())


def _bounded(pair: Pair, test: Test) -> ExactResult:
    """The result of `exact_test` for scores that are no whole steps: p lies between two bounds, often equal ones."""
    assert isinstance(pair.metric.function, Ratio)
    numerators = pair.units[..., list(pair.metric.function.numerator)].astype(np.float64)
    # Multiplied by powers of 2, which rounds nothing, so that neither sums nor squares overflow.
    numerators = np.ldexp(numerators, -np.frexp(np.abs(numerators).max())[1]).sum(axis=-1)
    weights = numerators[0] - numerators[1]
    if not weights.any() or (pair.better is None and not test.directed):
        return _result(pair, test, Mass(0.0, 0.0, 1.0))
    size = np.frexp(np.abs(weights).max())[1]
    weights = np.ldexp(weights if weights.sum() >= 0 else -weights, -size)
    # Scores are known to their last digit, and sums that differ by less are ties.
    rounding = np.ldexp(_LAST_DIGIT * np.abs(numerators).sum(axis=0), -size)
    step = common_step(weights, rounding)
    if step is not None:
        steps = np.rint(weights / step).astype(np.int64)
        signed_steps, ones = np.stack([steps, np.zeros_like(steps)]), np.ones((2, len(steps)), dtype=np.int64)
        try:
            return _swapped(pair, test, Ratios(signed_steps, ones, Fraction(int(steps.sum()), len(steps))))
        except TooManyValuesError:
            pass
    tie = float(rounding.sum())
    # Without a better system, or in the direction of the other one, p is 1 − the mass beyond δ, without ties.
    low, high = log_bounds(weights, float(weights.sum()) + (-tie if pair.favours(test) else tie))
    middle = float(np.logaddexp(low, high)) - math.log(2)
    if middle == -math.inf:
        return replace(_result(pair, test, Mass(0.0, 0.0, 0.0)), p_equal=math.nan)
    error = max(math.tanh((high - low) / 2), sys.float_info.epsilon * (4 - middle))
    bounded = _of_swaps(pair, test, Mass(middle, error, 0.0), int((weights != 0).sum()))
    if bounded.error_bound < _WIDE:
        return replace(bounded, p_equal=math.nan)
    # Six digits are the same on every processor.
    p = float(f"{bounded.pvalue:.5e}")
    log10_p = round(bounded.log10_pvalue, 6)
    return replace(bounded, pvalue=p, log10_pvalue=log10_p, error_bound=bounded.error_bound + 5e-6, p_equal=math.nan)


def drawn(pair: Pair, test: Test) -> ExactResult:
    """The result of `exact_bootstrap_test` for two systems that are prepared."""
    whole_ratios = fractions(pair.scorer, test, pair.unit)
    if pair.better is None and not test.directed:
        return _result(pair, test, Mass(0.0, 0.0, 0.0))
    ratios = Ratios.of(whole_ratios, *pair.order[0].tolist())
    return _result(pair, test, resampled(ratios, pair.scorer, test, favoured=pair.favours(test)))


def resampled(ratios: Ratios, scorer: Scorer, test: Test, *, favoured: bool = True) -> Mass:
    """P-value of the bootstrap over all resamples; `favoured`: see `Test.borders`, for the first system."""
    sides = [
        _beyond(ratios, scorer, test, sign, multiple if ratios.delta else 0)
        for sign, multiple in test.borders(favoured)
    ]
    log = float(np.logaddexp.reduce([side.log for side in sides])) + math.log(test.sides)
    return Mass(min(log, 0.0), max(side.error for side in sides), test.sides * sum(side.tied for side in sides))


def _beyond(ratios: Ratios, scorer: Scorer, test: Test, sign: int, multiple: int) -> Mass:
    """Mass of the resamples with sign · gain > multiple · δ, or >= where ties count."""
    if (sign, multiple) in ((-1, -2), (1, 0)):  # what is not beyond the opposite border; ties count in these tests
        opposite = _one_side(ratios, scorer, test, below=(sign, multiple) == (1, 0), ties=True)
        return _complement(opposite)
    return _one_side(ratios, scorer, test, below=sign < 0, ties=not test.strict)


def _one_side(ratios: Ratios, scorer: Scorer, test: Test, *, below: bool, ties: bool) -> Mass:
    """P(δ* > 2δ), or P(δ* < 0) if `below`; with those that tie if `ties`."""
    distribution, event, farthest, share = ratios.drawn(below=below, ties=ties)
    if farthest > 0:
        return mass_of(scorer, test, distribution, event)
    # No unit goes beyond the border, so a resample ties if all of its units do, which has a known probability.
    n = ratios.numerators.shape[1]
    # Resamples without any denominator score 0, which is not twice the gain.
    nothing = 0.0 if below else float((ratios.denominators[0] == 0).sum()) / n
    tied = share**n - nothing**n if farthest == 0 else 0.0
    if not ties or not tied:
        return Mass(-math.inf, 0.0, tied)
    return Mass(math.log(tied), n * sys.float_info.epsilon * (share**n + nothing**n) / tied, tied)


def _complement(event: Mass) -> Mass:
    """Mass of the complement of an event that includes its border; the border belongs to the complement, too."""
    beyond = max(math.exp(event.log) - event.tied, 0.0)
    p = min(1.0, 1.0 - beyond)
    error = (2 * math.exp(event.log) * event.error + 4 * sys.float_info.epsilon) / p if p else 0.0
    return Mass(math.log(p) if p else -math.inf, error, event.tied)


def fractions(scorer: Scorer, test: Test, unit: Unit) -> Fractions:
    """The systems' whole numerators and denominators, or an error that says what to use if there is no exact test."""
    metric, counts, whole_ratios = scorer.metric, scorer.counts, scorer.fractions
    none, instead = f"there is no {_named(test)} for {metric.name}", f"use {test.drawn.function}"
    if not isinstance(metric.function, Ratio):
        raise InputError(
            f"{none}, which is not a ratio of sums (a pairsig.Ratio, as are accuracy, UAS, LAS, precision, recall, F1, "
            f"AER, TER and means); {instead}"
        )
    if test.draw == "resample" and counts.shape[1] < 2:
        raise InputError(
            f"the test set is a single {unit}, so every resample is the test set itself; the bootstrap needs at least "
            "two"
        )
    for small, large in metric.function.given:
        wrong = np.argwhere(counts[:, :, small] > counts[:, :, large])
        if len(wrong):
            system, place = wrong[0]
            names, values = (
                [of[column] for column in (small, large)] for of in (metric.columns, counts[system, place])
            )
            raise InputError(
                f"{none} unless {names[0]} <= {names[1]}, and {unit} number {place + 1} of system "
                f"{scorer.names[system]} has {values[0]:g} and {values[1]:g}; {instead}"
            )
    if whole_ratios is None:
        raise NoStepError(
            f"{none} with these values, which are not multiples of a step 10⁻ᵏ or 2⁻ᵏ that is large enough for exact "
            f"sums of {counts.shape[1]} of them; {instead}, or round the values"
        )
    if whole_ratios.over_nothing_occurs and (
        test.draw == "resample" or not whole_ratios.denominators.min(axis=0).any()
    ):
        raise InputError(f"{none} if a {unit} has a numerator above 0 and the denominator 0; {instead}")
    kinds = scorer.product.index[1]
    differing = np.flatnonzero(kinds != kinds[0])
    if test.draw == "resample" and len(differing):
        raise InputError(
            f"{none} if the systems have different denominators, as {scorer.names[0]} and {scorer.names[differing[0]]} "
            f"have; {instead}"
        )
    return whole_ratios


@dataclass(frozen=True)
class Ratios:
    """Whole numerators and denominators of two systems, per unit."""

    numerators: Integers  # (2 × units), the better system first; their sign is changed where lower is better
    denominators: Integers  # (2 × units)
    delta: Fraction  # the gain of the better system

    @classmethod
    def of(cls, fractions: Fractions, better: int, other: int) -> Ratios:
        """The ratios of two of many systems."""
        order = [better, other]
        above, below = (part[order].astype(np.int64) for part in (fractions.numerators, fractions.denominators))
        return cls(above, below, Fraction(*fractions.gain(better, other)))

    def swapped(self) -> tuple[Swaps, Event, tuple[float, float, float, Floats, Floats]]:
        """Distribution of the better system's totals after random swaps, and the event that its gain is at least δ.

        The third value is the border of this event for `saddle_point`: joint denominator and numerator, δ, least
        values, units.
        """
        steps = np.stack([part[0] - part[1] for part in (self.numerators, self.denominators)], axis=1)
        # The sign of a step does not matter. With rising numerators fewer steps are distinct.
        down = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
        least = [int(np.where(down, part[0], part[1]).sum()) for part in (self.numerators, self.denominators)]
        steps[down] *= -1
        units = [max(1, int(np.gcd.reduce(column))) for column in steps.T]
        distribution = Swaps(*_distinct(steps[(steps != 0).any(axis=1)] // np.array(units)))
        above, below = (int(part.sum()) for part in (self.numerators, self.denominators))
        delta, over = self.delta.numerator, self.delta.denominator

        def border(rows: Floats) -> Floats:
            denominator = least[1] + units[1] * rows
            return np.asarray(
                (denominator / below * (float(self.delta) * (below - denominator) + above) - least[0]) / units[0]
            )

        def starts(row: int) -> tuple[int, int | None] | None:
            # m / denominator − (above − m) / denominator_of_other >= δ, solved for m; a ratio with denominator 0 is 0.
            denominator = least[1] + units[1] * row
            denominator_of_other = below - denominator
            if denominator and denominator_of_other:
                top, bottom = (delta * denominator_of_other + over * above) * denominator, over * below
            elif denominator or denominator_of_other:
                top, bottom = delta * (denominator or denominator_of_other) + over * (0 if denominator else above), over
            else:
                return None
            short, remainder = divmod(least[0] * bottom - top, bottom * units[0])
            return -short, None if remainder else -short

        # Rounding errors are a few 2⁻⁵³ of these two, which intermediate values exceed only if the border does.
        off = 1 + 2.0**-46 * (abs(above) + abs(least[0])) / units[0]
        line = (float(below), float(above), float(self.delta), np.array(least, float), np.array(units, float))
        return distribution, Event(border, off, starts), line

    def drawn(self, *, below: bool, ties: bool) -> tuple[Draws, Event, int, float]:
        """Distribution of resampled totals, and the event δ(x*) > 2δ(x), or δ(x*) < 0 if `below`.

        The totals are (difference of numerators, denominator). The third value is how far the most extreme unit is
        beyond the border (0 or less: none is), the fourth the share of units on the border.
        """
        difference, length = self.numerators[0] - self.numerators[1], self.denominators[0]
        gain, total, n = int(difference.sum()), int(length.sum()), len(length)
        # The event is: column > twice · L*, that is Σ (column · total − twice · length) > 0.
        if not below:
            steps, twice = np.stack([difference, length], axis=1), 2 * gain
        else:
            steps, twice = np.stack([-difference, np.zeros_like(length)], axis=1), 0
        least = [int(value) for value in steps.min(axis=0)]
        units = [max(1, int(np.gcd.reduce(column))) for column in (steps - least).T]
        distribution = Draws(*_distinct((steps - least) // np.array(units)))

        beyond = [
            (least[0] + units[0] * column) * total - twice * (least[1] + units[1] * row)
            for column, row in distribution.steps.tolist()
        ]
        share = (
            float(sum(int(times) for value, times in zip(beyond, distribution.times, strict=True) if value == 0)) / n
        )

        def border(rows: Floats) -> Floats:
            return np.asarray((twice / total * (n * least[1] + units[1] * rows) - n * least[0]) / units[0])

        def starts(row: int) -> tuple[int, int | None] | None:
            drawn = n * least[1] + units[1] * row
            if not below and not drawn:
                return None
            before, remainder = divmod(twice * drawn - n * least[0] * total, units[0] * total)
            tie = None if remainder else before
            return before if ties and tie is not None else before + 1, tie

        return distribution, Event(border, 1 + 2.0**-46 * n * abs(least[0]) / units[0], starts), max(beyond), share


def _distinct(steps: Integers) -> tuple[Integers, Integers]:
    """Distinct steps, and how often each occurs."""
    rows, row = np.unique(steps[:, 1], return_inverse=True) if steps[:, 1].any() else (np.zeros(1, dtype=np.int64), 0)
    keys, times = np.unique(steps[:, 0] * len(rows) + row, return_counts=True)
    column, row = np.divmod(keys, len(rows))
    return np.stack([column, rows[row]], axis=1), times


class NoStepError(InputError):
    """The values are not multiples of a step that is large enough for exact sums."""


class TooManyValuesError(InputError):
    """There is an exact test for the metric, but for these two systems its distribution is out of reach."""


def mass_of(scorer: Scorer, test: Test, distribution: Distribution, event: Event) -> Mass:
    """Mass of an event; a `TooManyValuesError` if the totals take too many values."""
    try:
        return mass(distribution, event)
    except TooLargeError:
        raise TooManyValuesError(
            f"the totals of {scorer.metric.name} over {scorer.counts.shape[1]} units can take too many values for the "
            f"{_named(test)}; use {test.drawn.function}"
        ) from None


def _named(test: Test) -> str:
    """The test in a message."""
    return test.function.replace("_", " ")


def _result(pair: Pair, test: Test, probability: Mass, p: float | None = None) -> ExactResult:
    p = math.exp(probability.log) if p is None else p
    return ExactResult(
        **pair.described(test),
        pvalue=p,
        log10_pvalue=math.log10(p) if p > sys.float_info.min else probability.log / math.log(10),
        p_equal=probability.tied,
        error_bound=probability.error,
    )
