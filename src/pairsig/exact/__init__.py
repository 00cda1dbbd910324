"""Exact tests: p-values without drawing, for metrics that are a ratio of two sums or a mean.

`exact_test` is the randomization test over all 2ⁿ swaps, `exact_bootstrap` the bootstrap over all nⁿ resamples. Both
compute the law of two integer totals from its characteristic function; `laws` has the mathematics.
"""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from pairsig.definitions import Test, find
from pairsig.engine import Judge
from pairsig.errors import InputError
from pairsig.exact.laws import Draws, Event, Floats, Integers, Law, Mass, Swaps, TooLargeError, mass
from pairsig.lattice import EXACT
from pairsig.metrics import Metric, Ratio
from pairsig.paired import Pair, Result, Unit
from pairsig.ratios import Fractions

_FUNCTIONS = {"exact": ("exact_test", "randomization_test"), "exact-bootstrap": ("exact_bootstrap", "bootstrap_test")}
"""The function of a test, and what to use instead where it cannot help."""


@dataclass(frozen=True, kw_only=True)
class ExactResult(Result):
    """Result of an exact test of two systems: what `Result` says, and how exact it is.

    Attributes
    ----------
    log10_pvalue
        The decimal logarithm of `pvalue`, also where that is too small for a float; -inf where p is exactly 0.
    p_equal
        Probability of a tie with the border of the event: part of `pvalue` where ties count, in `exact_test` and the
        two-sided `exact_bootstrap`.
    error_bound
        Bound on the relative error of `pvalue`: rounding, transforms and aliasing; 0 where p is known as a fraction.
    """

    log10_pvalue: float
    p_equal: float
    error_bound: float

    @property
    def log10_p_value(self) -> float:
        """The former name of `log10_pvalue`."""
        warnings.warn("log10_p_value is called log10_pvalue now", DeprecationWarning, stacklevel=2)
        return self.log10_pvalue


def exact_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    variant: str = "two-sided",
    documents: ArrayLike | None = None,
) -> ExactResult:
    """Exact paired permutation test of two systems (Fisher 1935; Zmigrod, Vieira and Cotterell 2022).

    Null hypothesis: on every segment the two systems' counts are exchangeable.

    What `randomization_test` estimates: the two systems' counts of each segment are swapped or not, all 2ⁿ choices
    being equally likely; δ' is the gain after that, in the observed direction.

    * ``variant="two-sided"``: p = P(|δ'| >= |δ|).
    * ``variant="one-sided"``: p = P(δ' >= δ).

    Ties count and are told by integer arithmetic. The draft of Zmigrod et al. prints `<=` where `>=` is meant: with
    that sign a huge difference would get p = 1. δ = 0: p = 1 by definition.

    The metric must be a `pairsig.Ratio`: accuracy, UAS, LAS, recall, precision, F1, AER, TER, a mean. A swap leaves the
    systems' joint numerator and joint denominator as they are, so one system's (numerator, denominator) decides δ':
    two dimensions for precision, F1 and AER (and accuracy, where the systems' totals differ), one where the
    denominators are the same on every segment. Values that are no integers must lie on a lattice, multiples of
    10⁻ᵏ or 2⁻ᵏ: a score of 0.12345 printed with five digits does, 1/3 does not.

    Parameters
    ----------
    a, b
        Sufficient statistics of the two systems, (segments × columns of the metric), or (segments,) for one column.
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`. F1's columns are matched, predicted, gold.
    variant
        "two-sided" or "one-sided".
    documents
        One id a segment: documents are swapped instead of segments, for sentences that are not independent.

    Returns
    -------
    ExactResult. `pvalue` has full *relative* accuracy however small it is (`log10_pvalue` beyond the range of
    floats): about 1e-12, at most `error_bound`. Where that tells which whole number p·2ⁿ is, p is exactly that.
    Cost: sorting n steps, and transforms over some ±10σ of the totals, √n points each way: 10 ms for F1 on 2,400
    sentences, 50 ms on 100,000. Up to some 26 units that differ are enumerated where their counts are so large that
    this is cheaper: at most two seconds.

    Raises
    ------
    InputError
        For metrics that are no `pairsig.Ratio` (BLEU, chrF), values on no usable lattice (ROUGE in full precision), and
        totals that would take transforms of more than some seconds (60 documents of 10,000 words, F1).

    References
    ----------
    Zmigrod, Vieira and Cotterell, Exact Paired-Permutation Testing for Structured Test Statistics (NAACL 2022).

    Examples
    --------
    Three segments, A better on all: of the 8 swaps two are as extreme.

    >>> exact_test([[1, 1]] * 3, [[0, 1]] * 3).pvalue
    0.25

    A thousand such segments: 2 of the 2¹⁰⁰⁰ swaps.

    >>> round(exact_test([[1, 1]] * 1000, [[0, 1]] * 1000).log10_pvalue, 6)
    -300.728966
    """
    return permuted(Pair.of(a, b, metric, documents), find("exact", variant))


def exact_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    variant: str = "gt2",
    documents: ArrayLike | None = None,
) -> ExactResult:
    """Paired bootstrap test with all nⁿ resamples: `bootstrap_test` at b = ∞.

    Null hypothesis: on the population the test set was drawn from, the better system is not better.

    * ``variant="gt2"``: p = P(δ(x*) > 2δ(x)) (Berg-Kirkpatrick, Burkett and Klein 2012, Figure 1).
    * ``variant="percentile"``: p = P(δ(x*) < 0) (Koehn 2004; the paper's footnote 2).
    * ``variant="two-sided"``: p = P(|δ(x*) − δ(x)| >= δ(x)), that is P(δ(x*) >= 2δ(x)) + P(δ(x*) <= 0).

    x* is a test set of n segments drawn from x with replacement, all nⁿ being equally likely.

    The first two are one-sided and strict, in the third ties count; the probability of a tie, told by integer
    arithmetic, is in `p_equal`. δ(x) = 0 has no better system: p = 1 by definition. p is exactly 0 where no resample
    goes so far. What level each holds is said in `bootstrap_test`.

    The metric must be a `pairsig.Ratio` whose denominator is the same for both systems on every segment: accuracy, UAS,
    LAS, recall, TER, or a mean. With D* the difference of the numerators and L* the denominator on a
    resample, both sums of n independent draws, δ(x*) > 2δ(x) says D*·L > 2D·L*, and (D*, L*) has the characteristic
    function φⁿ. It is inverted in two dimensions unless every segment has the same denominator: as one number
    D*·L − 2D·L* lives on a lattice L times finer than that of D*, which is larger from some hundred segments on.

    Parameters and result as for `exact_test`, except that p is no fraction here and `error_bound` never 0.

    Examples
    --------
    Of the 2² resamples of a won and a drawn segment only the one of two wins doubles the gain, which is a tie.

    >>> result = exact_bootstrap([1, 1], [0, 1], metric="mean")
    >>> result.pvalue, round(result.p_equal, 12)
    (0.0, 0.25)
    """
    return drawn(Pair.of(a, b, metric, documents), find("exact-bootstrap", variant))


def permuted(pair: Pair, test: Test) -> ExactResult:
    """The result of the exact test of two systems that are prepared: `exact_test`."""
    found = fractions(pair.judge, test, pair.unit)
    if pair.better is None:
        return _result(pair, test, Mass(0.0, 0.0, 1.0))
    ratios = Ratios.of(found, *pair.order[0].tolist())
    law, event, _ = ratios.swapped()
    one = mass_of(pair.judge, test, law, event)
    # Turning every swap round turns δ' round: both sides weigh the same.
    sides = 2 if test.two_sided else 1
    n = int(law.times.sum())
    # The mass is a whole number of 2⁻ⁿ. Where the bound on its error tells which, it is that one.
    log_count = one.log + n * math.log(2)
    count = math.exp(log_count) if log_count < math.log(EXACT) else math.inf
    if count * one.error < 0.25:
        p, tied = (math.ldexp(sides * round(number), -n) for number in (count, math.ldexp(one.tied, n)))
        log = math.log(sides * round(count)) - n * math.log(2)
        return _result(pair, test, Mass(log, 0.0, tied), p)
    return _result(pair, test, Mass(one.log + math.log(sides), one.error, sides * one.tied))


def drawn(pair: Pair, test: Test) -> ExactResult:
    """The result of the exact bootstrap of two systems that are prepared: `exact_bootstrap`."""
    found = fractions(pair.judge, test, pair.unit)
    if pair.better is None:
        return _result(pair, test, Mass(0.0, 0.0, 0.0))
    return _result(pair, test, resampled(Ratios.of(found, *pair.order[0].tolist()), pair.judge, test))


def resampled(ratios: Ratios, judge: Judge, test: Test) -> Mass:
    """Mass of the resamples that are extreme."""
    sides = []
    for sign, _ in test.borders:
        law, event, farthest, share = ratios.drawn(below=sign < 0, ties=not test.strict)
        if farthest > 0:
            sides.append(mass_of(judge, test, law, event))
            continue
        # No unit goes beyond, so resamples tie if all of theirs do; then their number is known without any law.
        n = ratios.numerators.shape[1]
        # Resamples without any denominator score 0, which is not twice the gain.
        nothing = float((ratios.denominators[0] == 0).sum()) / n if sign > 0 else 0.0
        tied = share**n - nothing**n if farthest == 0 else 0.0
        if test.strict or not tied:
            sides.append(Mass(-math.inf, 0.0, tied))
        else:
            error = n * sys.float_info.epsilon * (share**n + nothing**n) / tied
            sides.append(Mass(math.log(tied), error, tied))
    log = float(np.logaddexp.reduce([side.log for side in sides]))
    return Mass(min(log, 0.0), max(side.error for side in sides), sum(side.tied for side in sides))


def fractions(judge: Judge, test: Test, unit: Unit) -> Fractions:
    """The systems as whole numerators and denominators, where an exact test can help.

    Raises
    ------
    InputError
        Where it cannot, with what to use instead.
    """
    metric, counts, found = judge.metric, judge.counts, judge.fractions
    function, instead = _FUNCTIONS[test.name]
    if not isinstance(metric.function, Ratio):
        raise InputError(
            f"{metric.name} is out of the reach of {function}, which takes a pairsig.Ratio (accuracy, UAS, LAS, "
            f"precision, recall, F1, AER, TER, means): use {instead}"
        )
    if test.draw == "resample" and counts.shape[1] < 2:
        raise InputError(
            f"the test set is a single {unit}, so every resample is the test set itself: {function} needs at least two"
        )
    for small, large in metric.function.given:
        wrong = np.argwhere(counts[:, :, small] > counts[:, :, large])
        if len(wrong):
            system, place = wrong[0]
            names, values = (
                [of[column] for column in (small, large)] for of in (metric.columns, counts[system, place])
            )
            raise InputError(
                f"{metric.name} is in the reach of {function} only where {names[0]} <= {names[1]}, and {unit} number "
                f"{place + 1} of system {judge.names[system]} has {values[0]:g} and {values[1]:g}: use {instead}"
            )
    if found is None:
        raise InputError(
            f"the values of {metric.name} are not multiples of a step 10⁻ᵏ or 2⁻ᵏ coarse enough for exact sums of "
            f"{counts.shape[1]} of them: use {instead}, or round them"
        )
    if found.over_nothing_occurs and (test.draw == "resample" or not found.denominators.min(axis=0).any()):
        raise InputError(
            f"{metric.name} has {unit}s with a numerator but no denominator, which are out of the reach of {function}: "
            f"use {instead}"
        )
    kinds = judge.product.index[1]
    other = np.flatnonzero(kinds != kinds[0])
    if test.draw == "resample" and len(other):
        raise InputError(
            f"systems {judge.names[0]} and {judge.names[other[0]]} differ in the denominator of {metric.name}, which "
            f"is out of the reach of {function}: use {instead}"
        )
    return found


Line = tuple[float, float, float, Floats, Floats]
"""The border of a gain under swaps, for `contour`: joint denominator and numerator, δ, least values, units."""


@dataclass(frozen=True)
class Ratios:
    """A pair of systems with a gain, as whole numerators and denominators of their units.

    Attributes
    ----------
    numerators, denominators
        (2 × units), the better system first, the sign turned where lower is better.
    delta
        The gain.
    """

    numerators: Integers
    denominators: Integers
    delta: Fraction

    @classmethod
    def of(cls, found: Fractions, better: int, other: int) -> Ratios:
        """Of two of many systems."""
        order = [better, other]
        above, below = (part[order].astype(np.int64) for part in (found.numerators, found.denominators))
        return cls(above, below, Fraction(*found.gain(better, other)))

    def swapped(self) -> tuple[Swaps, Event, Line]:
        """The better system's (numerator, denominator) after random swaps, and where it gains at least δ."""
        steps = np.stack([part[0] - part[1] for part in (self.numerators, self.denominators)], axis=1)
        # The sign of a step makes no difference; numerators go up, so that fewer steps are distinct.
        down = (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] < 0))
        least = [int(np.where(down, part[0], part[1]).sum()) for part in (self.numerators, self.denominators)]
        steps[down] *= -1
        units = [max(1, int(np.gcd.reduce(column))) for column in steps.T]
        law = Swaps(*_distinct(steps[(steps != 0).any(axis=1)] // np.array(units)))
        above, below = (int(part.sum()) for part in (self.numerators, self.denominators))
        delta, over = self.delta.numerator, self.delta.denominator

        def border(rows: Floats) -> Floats:
            own = least[1] + units[1] * rows
            return np.asarray((own / below * (float(self.delta) * (below - own) + above) - least[0]) / units[0])

        def starts(row: int) -> tuple[int, int | None] | None:
            # m/own − (above − m)/other >= δ, solved for m; a ratio with denominator 0 is 0.
            own = least[1] + units[1] * row
            other = below - own
            if own and other:
                top, bottom = (delta * other + over * above) * own, over * below
            elif own or other:
                top, bottom = delta * (own or other) + over * (0 if own else above), over
            else:
                return None
            short, rest = divmod(least[0] * bottom - top, bottom * units[0])
            return -short, None if rest else -short

        # A few roundings of 2⁻⁵³ relative to these two, which intermediate values exceed only where the border does.
        off = 1 + 2.0**-46 * (abs(above) + abs(least[0])) / units[0]
        line = (float(below), float(above), float(self.delta), np.array(least, float), np.array(units, float))
        return law, Event(border, off, starts), line

    def drawn(self, *, below: bool, ties: bool) -> tuple[Draws, Event, int, float]:
        """Resampled (difference of numerators, denominator), and where δ(x*) is beyond 2δ(x), or below 0.

        Third is the farthest beyond (0 or less: never) that one unit goes, fourth the share of the units that tie.
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
        law = Draws(*_distinct((steps - least) // np.array(units)))

        beyond = [
            (least[0] + units[0] * column) * total - twice * (least[1] + units[1] * row)
            for column, row in law.steps.tolist()
        ]
        share = float(sum(int(times) for value, times in zip(beyond, law.times, strict=True) if value == 0)) / n

        def border(rows: Floats) -> Floats:
            return np.asarray((twice / total * (n * least[1] + units[1] * rows) - n * least[0]) / units[0])

        def starts(row: int) -> tuple[int, int | None] | None:
            drawn = n * least[1] + units[1] * row
            if not below and not drawn:
                return None
            before, rest = divmod(twice * drawn - n * least[0] * total, units[0] * total)
            tie = None if rest else before
            return before if ties and tie is not None else before + 1, tie

        return law, Event(border, 1 + 2.0**-46 * n * abs(least[0]) / units[0], starts), max(beyond), share


def _distinct(steps: Integers) -> tuple[Integers, Integers]:
    """Distinct steps and how many there are of each."""
    rows, row = np.unique(steps[:, 1], return_inverse=True) if steps[:, 1].any() else (np.zeros(1, dtype=np.int64), 0)
    keys, times = np.unique(steps[:, 0] * len(rows) + row, return_counts=True)
    column, row = np.divmod(keys, len(rows))
    return np.stack([column, rows[row]], axis=1), times


def mass_of(judge: Judge, test: Test, law: Law, event: Event) -> Mass:
    """Mass of an event, or what cannot be done in one sentence."""
    try:
        return mass(law, event)
    except TooLargeError:
        function, instead = _FUNCTIONS[test.name]
        raise InputError(
            f"the totals of {judge.metric.name} over {judge.counts.shape[1]} units can take too many values for "
            f"{function}: use {instead}"
        ) from None


def _result(pair: Pair, test: Test, found: Mass, p: float | None = None) -> ExactResult:
    p = math.exp(found.log) if p is None else p
    if pair.better is None:
        p = 1.0
    return ExactResult(
        **pair.said(test),
        pvalue=p,
        log10_pvalue=math.log10(p) if p > sys.float_info.min else found.log / math.log(10),
        p_equal=found.tied,
        error_bound=found.error,
    )
