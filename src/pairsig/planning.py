"""Before the experiment: how many segments show a gain, and what gain so many segments show.

All follows from one number, the variance S² of the difference of two systems on a unit: the standard error of their
gain on n units is S/√n. It comes from a pilot (`from_pilot`), from the law that holds for the systems of the study
(`from_law`), or, for items that are passed or failed, from the score and the likeness alone (`from_outcomes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig import pass_fail
from pairsig.choices import choose, one_of
from pairsig.columns import LAW, PLAN
from pairsig.definitions import Test, find
from pairsig.errors import InputError
from pairsig.intervals import ENOUGH, jackknifed, passed_or_failed
from pairsig.metrics import registry
from pairsig.paired import Pair, Unit
from pairsig.tables import as_json, listed_below, printed

Floats = NDArray[np.float64]
Claim = Literal["difference", "equivalence", "not-worse"]

_OF_MARGINS: tuple[Claim, ...] = ("equivalence", "not-worse")
CLAIMS: tuple[Claim, ...] = ("difference", *_OF_MARGINS)
"""What can be shown: that a system is better, that two differ by less than a margin, that one is not worse by more."""

FEW = 100
"""With fewer units power is that for differences that are normal, and off for others (see `power`)."""

OFF_FEW = 10
"""Points that power was off by, at most, on 20, 30 and 50 units (see `power`)."""

MOST = 10**9
"""Segments beyond which it is said that no number is enough."""

LAW_FILE = Path(__file__).with_name("law.tsv")
"""The law as `python -m study law` fitted it to the study's comparisons."""

_NORMAL = 5_000
"""From so many degrees of freedom on Student's distribution is taken to be normal: power differs by less than 1e-4."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How much two systems' difference varies from unit to unit.

    Attributes
    ----------
    variance
        S², in points².
    low, high
        Its 95 % interval: of a pilot for other samples of its source, of the law for a pair on a test set of another.
    unit, segments_per_unit
        What is drawn: documents have several segments.
    passed
        Score of a passed item, where every unit is an item that is passed or failed.
    source, given
        Where it is from: `pilot`, `law` or `outcomes`; what was given of the systems' likeness.
    notes
        Sentences on where it is from, and how far it can be trusted.
    """

    variance: float
    low: float
    high: float
    unit: Unit = "segment"
    segments_per_unit: float = 1.0
    passed: float | None = None
    source: Literal["pilot", "law", "outcomes"]
    given: str = ""
    notes: tuple[str, ...] = ()


def from_pilot(pair: Pair) -> Spread:
    """What a pilot says: two systems on a test set from the same source.

    S² = n s² with s the jackknife's standard error of the gain on the pilot's n units (`gain_interval`), and
    ν S² / χ²(0.975), ν S² / χ²(0.025) are the ends of its interval, with the degrees of freedom ν that s has.

    S² is an estimate, and so is what is planned with it. Of pilots drawn from real pairs of systems the middle 95 % led
    to a true power of 55 to 96 % (100 segments, median over nine test sets) or 69 to 89 % (500) where 80 % was planned.
    The interval is of this error. It should cover the truth in 95 % of pilots; `docs/planning.md` has how often it did:
    in 86 to 97 % of pilots of 100 segments and more, less often with fewer units or with documents of unequal lengths.

    Raises
    ------
    InputError
        If the systems do not differ on any unit.
    """
    units = pair.units.astype(np.float64)
    n = units.shape[1]
    n_different = int((units[0] != units[1]).any(axis=1).sum())
    if n < 2 or not n_different:
        raise InputError(
            f"the pilot's systems differ on {n_different} of {n} {pair.unit}s, expected at least two and a difference"
        )
    from scipy.special import chdtri

    _, error, degrees = (float(value) for value in jackknifed(units, pair.metric))
    if not error > 0:
        raise InputError(f"the pilot's systems differ by the same on each of {n} {pair.unit}s, expected it to vary")
    variance = n * error**2
    notes = [f"standard deviation from a pilot of {n:,} {pair.unit}s; intervals are for others of the same source"]
    if n < FEW:
        notes.append(
            f"a pilot of fewer than {FEW} {pair.unit}s: intervals covered the truth in 75 to 98 % of simulations"
        )
    if n_different < ENOUGH:
        notes.append(f"the pilot's systems differ on {n_different} of {n:,} {pair.unit}s, too few to plan with")
    return Spread(
        variance=variance,
        low=degrees * variance / float(chdtri(degrees, 0.025)),
        high=degrees * variance / float(chdtri(degrees, 0.975)),
        unit=pair.unit,
        segments_per_unit=pair.n_segments / n,
        passed=passed_or_failed(units, pair.metric),
        source="pilot",
        notes=tuple(notes),
    )


def expected(score: ArrayLike, length: ArrayLike, unlikeness: ArrayLike) -> Floats:
    """S² of the law with φ = 1, in points²: 10⁴ · 2u · p(1 − p) / √L; see `from_law`."""
    p, words, u = (np.asarray(values, dtype=np.float64) for values in (score, length, unlikeness))
    return np.asarray(2e4 * u * (p / 100) * (1 - p / 100) / np.sqrt(words))


def from_law(
    metric: str,
    *,
    score: float,
    length: float | None = None,
    likeness: float | None = None,
    overlap: float | None = None,
    design_effect: float = 1.0,
    law: pd.DataFrame | None = None,
) -> Spread:
    """What the systems of the study say of a pair like it: S² = φ · 10⁴ · 2(1 − ρ) · p(1 − p) / √L, in points².

    p(1 − p) is the variance of an answer that is right with probability p, the score; 2(1 − ρ) that of the difference
    of two that have the correlation ρ, the likeness; a segment has L words. If they were independent it would be / L,
    if they were all alike / 1: √L lies between, and was nearer to test sets that were left out than L, a constant, or
    an exponent fitted to the others. φ belongs to the metric: the mean over test sets of the logarithm of what is left,
    taking the mean of the logarithms of its pairs. Where the likeness is not known, 2(1 − ρ) is 2(1 − B) with B the
    BLEU of one system's outputs against the other's (as a share), or a constant; φ is then another.

    The interval: with D test sets, τ the standard deviation between them (of all metrics, each about its own mean), ω
    that between the pairs of one, and t the quantile of Student's distribution with τ's degrees of freedom,

        log S² ± t · sqrt(τ²(1 + 1/D) + ω²).

    How often it held the variance of pairs on test sets that were left out is in the table `law`.

    Parameters
    ----------
    metric
        One that the law was fitted to.
    score
        That the systems will have, 0 to 100, their mean.
    length
        Mean length of a segment in what the metric counts: words of the reference (BLEU), words (UAS), brackets of the
        gold trees (PARSEVAL), sure links (AER). Not for ROUGE, whose lengths the study does not have.
    likeness, overlap
        ρ (column `similarity` of `pairsig compare`), or B; at most one of them.
    design_effect
        Variance of the gain with documents as units over that with segments: S² is multiplied by it.

    Raises
    ------
    InputError
        For a metric without a law, and numbers that cannot be.
    """
    table = fitted() if law is None else law
    name = metric.removeprefix("conll_")
    known = sorted(set(table["metric"]) - {"all"})
    if name not in known:
        raise InputError(
            f"there is no law for the metric {metric}, expected a pilot, or {one_of(name, [OUTCOMES, *known])}"
        )
    if likeness is not None and overlap is not None:
        raise InputError("both the likeness and the systems' outputs are given, expected one of them")
    given = "likeness" if likeness is not None else "outputs" if overlap is not None else "nothing"
    rows = table[(table["metric"] == name) & (table["given"] == given)]
    if rows.empty:
        raise InputError(f"the law for {metric} does not know outputs, expected the likeness, or none")
    if name in LENGTHS and length is None:
        raise InputError(f"the law for {metric} needs the length of segments, expected --length, in {LENGTHS[name]}")
    if name not in LENGTHS and length is not None:
        raise InputError(f"the law for {metric} knows no lengths, found {length:g}, expected none")
    _check_assumed(score, length=length, design_effect=design_effect, likeness=likeness, overlap=overlap)
    unlikeness = 1 - (likeness or overlap or 0.0)
    row = rows.iloc[0]
    variance = float(design_effect * row["overdispersion"] * expected(score, length or 1.0, unlikeness))
    ratio = math.exp(reach(row["between"], row["within"], int(row["n_datasets"]), int(row["degrees"])))
    held = row if row["n_left_out"] else table[(table["metric"] == "all") & (table["given"] == given)].iloc[0]
    of = "" if row["n_left_out"] else " of the other metrics"
    note = (
        f"standard deviation from a law over {row['n_pairs']:,} pairs of systems on {row['n_datasets']} test "
        f"set{'s' if row['n_datasets'] > 1 else ''}, "
        f"{_GIVEN[given]}; "
        f"on {held['n_left_out']} test sets{of} that were left out the number of segments was off by a factor of "
        f"{math.exp(held['error']):.2f} (root mean square), and in its interval for {100 * held['coverage']:.0f} % "
        f"[{100 * held['coverage_low']:.0f}, {100 * held['coverage_high']:.0f}] of the pairs"
    )
    return Spread(
        variance=variance, low=variance / ratio, high=variance * ratio, source="law", given=given, notes=(note,)
    )


def _check_assumed(
    score: float,
    *,
    design_effect: float,
    length: float | None = None,
    likeness: float | None = None,
    overlap: float | None = None,
) -> None:
    for value, what in ((likeness, "likeness"), (overlap, "BLEU of the outputs against each other, as a share,")):
        if value is not None and not -1 < value < 1:
            raise InputError(f"the {what} is {value:g}, expected a number above −1 and below 1")
    if not 0 < score < 100:
        raise InputError(f"the score is {score:g}, expected a number between 0 and 100")
    for value, what in ((length, "length of segments"), (design_effect, "design effect")):
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"the {what} is {value:g}, expected a number above 0")


OUTCOMES = "accuracy"
"""The metric of items that are passed or failed, which needs no law."""

_LIKE_LEADERBOARDS = "the median pair of eleven leaderboards of language models had 0.31 to 0.65"


def from_outcomes(*, score: float, likeness: float | None, design_effect: float = 1.0) -> Spread:
    """What two systems that pass or fail each item have to differ by: S² = 10⁴ · 2(1 − ρ) · p(1 − p), in points².

    p is the score of both as a share, ρ the correlation of their outcomes. It is an identity for equal scores: both
    outcomes have the variance p(1 − p). With p the mean of two scores that differ by up to 5 points it is within 1 % of
    what it should be, by up to 10 points within 4 % (scores from 20 to 80, likeness up to 0.7); near 0 and 100 the
    better system's variance is another, and it may be by far too little. Of items that are given shares, or run several
    times, S² is less: on eleven leaderboards, of the median pair, 0.55 to 0.96 times this.

    Parameters
    ----------
    score, likeness, design_effect
        As for `from_law`; the likeness must be known.

    Raises
    ------
    InputError
        Without the likeness, and for numbers that cannot be.
    """
    if likeness is None:
        raise InputError(
            f"planning for {OUTCOMES} needs --likeness, the correlation of two systems' outcomes: {_LIKE_LEADERBOARDS}"
        )
    _check_assumed(score, design_effect=design_effect, likeness=likeness)
    variance = float(design_effect * expected(score, 1.0, 1 - likeness))
    note = (
        "standard deviation of two systems that pass or fail each item, which follows from their score and likeness: "
        f"as certain as these are ({_LIKE_LEADERBOARDS})"
    )
    return Spread(
        variance=variance,
        low=variance,
        high=variance,
        passed=100.0 if design_effect == 1 else None,  # items that come in groups are not tested one by one
        source="outcomes",
        given="likeness",
        notes=(note,),
    )


_GIVEN = {"likeness": "given their likeness", "outputs": "given their outputs", "nothing": "given no likeness"}

LENGTHS = {
    "bleu": "reference words",
    "uas": "words",
    "parseval": "gold brackets",
    "aer": "sure links",
}
"""Of the law's metrics, what the length of a segment counts; see the column `carrier` of the table `systems`."""


def reach(between: float, within: float, n_datasets: int, degrees: int, level: float = 0.95) -> float:
    """Half the width of the law's interval of log S²; see `from_law`."""
    from scipy.special import stdtrit

    spread = math.sqrt(between**2 * (1 + 1 / n_datasets) + within**2)
    return float(stdtrit(degrees, (1 + level) / 2)) * spread


@cache
def fitted() -> pd.DataFrame:
    """The law that comes with the library: table `LAW`."""
    from pairsig import tables

    return tables.read(LAW_FILE, LAW)


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is to be shown, and how.

    Attributes
    ----------
    claim
        One of `CLAIMS`.
    margin
        M of equivalence and non-inferiority.
    test
        The test of a difference.
    alpha
        Its level.
    power
        Chance of showing it that is wanted.
    training
        Variance of the gain that more segments do not lower, in points²: 2σ²/K for two methods of K runs each whose
        scores have the standard deviation σ from run to run.
    """

    claim: Claim = "difference"
    margin: float | None = None
    test: Test = field(default_factory=lambda: find("randomization"))
    alpha: float = 0.05
    power: float = 0.8
    training: float = 0.0

    def __post_init__(self) -> None:
        choose(self.claim, CLAIMS, "claim")
        for value, what in ((self.alpha, "level"), (self.power, "power")):
            if not 0 < value < 1:
                raise InputError(f"the {what} is {value:g}, expected a number between 0 and 1")
        if self.power <= self.alpha:
            raise InputError(f"the power is {self.power:g}, expected more than the level, {self.alpha:g}")
        if self.claim != "difference" and not (self.margin is not None and 0 < self.margin < math.inf):
            raise InputError(f"the margin is {self.margin}, expected a number above 0, in the unit of the score")
        if not 0 <= self.training < math.inf:
            raise InputError(f"the variance of training is {self.training:g}, expected a number, 0 or more")


def power(variance: float, n_units: int, gain: float, design: Design, passed: float | None = None) -> float:
    """Chance that the test of `pairsig test` shows what is to be shown, on n units.

    Where every unit is an item that is passed or failed, `passed` is the score of a passed one, and the power of the
    tests that are exact for items is computed exactly (`pairsig.pass_fail`): that of the sign test, which the exact and
    the randomization test of a difference are then, up to 100,000 discordant items, and that of the exact test against
    a margin, up to 10,000 items. The probability that an item is discordant is ψ = S² + g² in shares, since S² is
    ψ − g². It is at least g, which S² does not ensure near a score of 0 or 100.

    Else, with F(t; ν, λ) the noncentral t distribution, ν = n − 1, and s² = S²/n + `training`:

    * a **difference**, in the right direction: 1 − F(c; ν, gain / s). c is the 1 − α/2 quantile of Student's
      distribution for the two-sided tests that swap (and exactly theirs where differences are normal: the permutation
      statistic Σd/√Σd² rises with t), √((n − 1)/n) times the normal quantile of 1 − α for the one-sided bootstrap,
      whose spread divides by n, of 1 − α/2 for the two-sided.
    * **not-worse** (the system that is better by `gain` is not worse by the margin): 1 − F(c; ν, (gain + M) / s), c the
      1 − α quantile.
    * **equivalence**: 1 − F(c; ν, (M + gain)/s) − F(c; ν, (M − gain)/s), at least 0: the sum of both sides' failures is
      subtracted, which is exact where they exclude each other and else too little by less than what both miss.

    From 5,000 units on the normal distribution stands for Student's. Test sets were drawn from real pairs of systems
    (BLEU, UAS, F1) and tested as `pairsig test` does, 1,000 of each size (± 3 points): from `FEW` units on the power
    was within 3 points of this, of 50 units off by up to 7, of 20 and 30 by up to `OFF_FEW` (UAS, randomization: 6 %
    instead of 16). There the normal distribution of the differences fails, not that of the mean alone, and Student's is
    used for want of better; a test that swaps can show nothing on fewer than 1 − log₂ α units, 6 at 5 %, which is told
    exactly.
    """
    if n_units < 2:
        return 0.0
    exact = _of_items(variance, gain, design, passed)
    if exact is not None and exact.covers(n_units):
        return exact.power(n_units)
    return _students(variance, n_units, gain, design)


def _of_items(
    variance: float, gain: float, design: Design, passed: float | None
) -> pass_fail.Difference | pass_fail.Margin | None:
    """The exact test of items, where the design has one: bootstraps and gains of several runs have none."""
    if passed is None or design.training:
        return None
    share = gain / passed
    discordant = min(1.0, max(variance / passed**2 + share**2, share))
    if design.claim != "difference":
        margin = float(design.margin or 0) / passed
        return pass_fail.Margin(discordant, share, design.alpha, margin, both=design.claim == "equivalence")
    if design.test.draw != "swap":
        return None
    return pass_fail.Difference(discordant, share, design.alpha, sides=len(design.test.borders))


def _students(variance: float, n_units: int, gain: float, design: Design) -> float:
    """The power of Student's test, see `power`."""
    from scipy.special import ndtri, stdtrit

    nu = n_units - 1
    error = math.sqrt(variance / n_units + design.training)
    one, two = (float(stdtrit(nu, 1 - share)) for share in (design.alpha, design.alpha / 2))
    if design.claim == "difference":
        if design.test.draw == "swap":
            if 2.0 ** (design.test.two_sided - n_units) > design.alpha:
                return 0.0
            critical = two if design.test.two_sided else one
        else:
            share = design.alpha / 2 if design.test.two_sided else design.alpha
            critical = float(ndtri(1 - share)) * math.sqrt(nu / n_units)
        return 1 - _below(critical, nu, gain / error)
    margin = float(design.margin or 0)
    if design.claim == "not-worse":
        return 1 - _below(one, nu, (margin + gain) / error)
    sides = [_below(one, nu, (margin + sign * gain) / error) for sign in (1, -1)]
    return max(0.0, 1 - sum(sides))


def _below(critical: float, nu: int, shift: float) -> float:
    from scipy.special import nctdtr, ndtr

    if nu >= _NORMAL or shift > 30:
        return float(ndtr(critical - shift))
    return float(nctdtr(nu, shift, critical))


def units_for(variance: float, gain: float, design: Design, passed: float | None = None) -> int | None:
    """The fewest units that have the power, or None where none have it.

    Student's power rises with the units. That of exact tests of items is a sawtooth, since counts are whole numbers: a
    few items more may lower it. Then this is the smallest number from which on all have the power.
    """
    found = _first(lambda n: _students(variance, n, gain, design) >= design.power)
    exact = _of_items(variance, gain, design, passed)
    return found if found is None or exact is None or not exact.covers(found) else exact.first(design.power, found)


def _first(enough: Callable[[int], bool]) -> int | None:
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def size_for(variance: float, n_units: int, design: Design, passed: float | None = None) -> float | None:
    """The smallest true gain of a difference, or margin for equal systems, that n units show; None if there is none."""

    def enough(size: float) -> bool:
        gain, mine = (size, design) if design.claim == "difference" else (0.0, replace(design, margin=size))
        exact = _of_items(variance, gain, mine, passed)
        if exact is not None and exact.covers(n_units):
            return exact.has(n_units, design.power)
        return _students(variance, n_units, gain, mine) >= design.power

    most = math.inf if passed is None else passed * (1 - 1e-9)
    low, high = 0.0, min(most, math.sqrt(variance / n_units + design.training))
    for _ in range(20):
        if enough(high):
            break
        low, high = high, min(most, 2 * high)
    else:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


SIZES = (100, 300, 1_000, 3_000, 10_000)
"""Numbers of segments whose gains are told when nothing is asked for."""


def plan(
    metric: str,
    spread: Spread,
    design: Design | None = None,
    *,
    gains: Sequence[float] = (),
    margins: Sequence[float] = (),
    sizes: Sequence[int] = (),
) -> pd.DataFrame:
    """What to measure before the experiment.

    Parameters
    ----------
    metric
        Its name, for the table.
    spread
        How much two systems' difference varies: `from_pilot` or `from_law`.
    design
        Level, power, test and the variance of training; its claim and margin are set by what is asked for.
    gains
        True gains: how many segments show each?
    margins
        How many segments show that equal systems differ by less, and that one is not worse by more?
    sizes
        Numbers of segments: what gain does each show, and what margin of equal systems? By default `SIZES`, gains only.

    Returns
    -------
    Table `PLAN`. The intervals (95 %) of sizes are what the power takes at the ends of the spread's interval, those of
    the power what the size that is told would have there.

    Raises
    ------
    InputError
        For numbers that are not above 0.
    """
    own = design or Design()
    for values, what in ((gains, "gain"), (margins, "margin")):
        for value in values:
            if not 0 < value < math.inf:
                raise InputError(f"the {what} is {value:g}, expected a number above 0, in the unit of the score")
            if spread.passed is not None and value >= spread.passed:
                raise InputError(
                    f"the {what} is {value:g}, but no two systems differ by more than {spread.passed:g} in {metric}, "
                    "expected a smaller one, in the unit of the score"
                )
    for size in sizes:
        if not 2 <= size <= MOST:
            raise InputError(f"the number of segments is {size:,}, expected one from 2 to {MOST:,}")
    rows: list[dict[str, Any]] = []

    def at_ends(find: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What is found for the variance, and for the ends of its interval."""
        ends = (spread.variance, spread.low, spread.high)
        found = {value: find(value, *arguments, spread.passed) for value in dict.fromkeys(ends)}
        return [found[value] for value in ends]

    def powers(n_units: int | None, gain: float, mine: Design) -> dict[str, float]:
        if n_units is None:
            return {"power": mine.power}
        own, high, low = at_ends(power, n_units, gain, mine)
        return {"power": own, "power_low": low, "power_high": high}

    def add(question: str, claim: Claim, margin: float | None, **cells: Any) -> None:
        name = f"{own.test.name} {own.test.variant}" if claim == "difference" else f"margin {claim}"
        rows.append(
            {
                "metric": metric, "question": question, "claim": claim, "margin": margin, "alpha": own.alpha,
                "test": name, "deviation": math.sqrt(spread.variance), "source": spread.source, "given": spread.given,
            }
            | cells
        )  # fmt: skip

    asked: list[tuple[Claim, float, float | None]] = [("difference", gain, None) for gain in gains]
    asked += [(claim, 0.0, margin) for margin in margins for claim in _OF_MARGINS]
    for claim, gain, margin in asked:
        mine = replace(own, claim=claim, margin=margin)
        n, low, high = at_ends(units_for, gain, mine)
        add("segments", claim, margin, gain=gain, notes=_doubts(spread, mine, gain, n))
        rows[-1] |= powers(n, gain, mine) | _numbers(spread, n, low, high)
    for size in sizes or (() if asked else SIZES):
        units = max(2, round(size / spread.segments_per_unit))
        for claim in CLAIMS[: 2 if sizes else 1]:
            mine = replace(own, claim=claim, margin=1.0)
            found = at_ends(size_for, units, mine)
            what = "gain" if claim == "difference" else "margin"
            cells = dict(zip((what, f"{what}_low", f"{what}_high"), found, strict=True))
            add(what, claim, None, notes=_doubts(spread, mine, 0.0, units))
            rows[-1] |= {"gain": 0.0} | cells | {"n_segments": size} | _documents(spread, units)
            if claim == "equivalence":
                mine = replace(mine, margin=found[0] or 1.0)
            rows[-1] |= powers(None if found[0] is None else units, rows[-1]["gain"], mine)
    from pairsig.tables import frame

    return frame(PLAN, rows)


def _documents(spread: Spread, n: int | None) -> dict[str, int | None]:
    return {"n_documents": n if spread.unit == "document" else None}


def _numbers(spread: Spread, *units: int | None) -> dict[str, int | None]:
    """The size and the ends of its interval, in segments."""
    found = [None if n is None else math.ceil(n * spread.segments_per_unit) for n in units]
    return dict(zip(("n_segments", "n_low", "n_high"), found, strict=True)) | _documents(spread, units[0])


def _doubts(spread: Spread, design: Design, gain: float, n_units: int | None) -> list[str]:
    notes = list(spread.notes)
    if n_units is None and design.training:
        size = gain if design.claim == "difference" else float(design.margin or 0)
        _, critical = _limits(design)
        times = design.training / (size / critical) ** 2
        notes.append(
            f"no number of segments shows {size:g}, since runs vary too much: expected {times:.1f} times as many runs "
            "or more"
        )
    elif n_units is not None and n_units < FEW and _of_items(spread.variance, gain, design, spread.passed) is None:
        notes.append(
            f"fewer than {FEW} {spread.unit}s: power is that for differences that are normal, others were off by up to "
            f"{OFF_FEW} points in simulations"
        )
    return notes


def _limits(design: Design) -> tuple[float, float]:
    """Standard normal quantile of the level, and that plus the one of the power: standard errors that a size needs."""
    from scipy.special import ndtri

    sides = 2 if design.claim == "difference" and design.test.two_sided else 1
    missed = (1 - design.power) / (2 if design.claim == "equivalence" else 1)
    level = float(ndtri(1 - design.alpha / sides))
    return level, level + float(ndtri(1 - missed))


def overlap_of(output: Sequence[str], other: Sequence[str], **options: Any) -> float:
    """BLEU of one system's outputs against another's, as a share: how alike they are where no reference is at hand.

    How well it stands for the likeness is in the table `law`, given `outputs`.
    """
    bleu = registry.metric("bleu")
    counted = bleu.statistics(output, other, **options)
    totals = np.array([np.asarray(counted[column]).sum() for column in bleu.columns], dtype=np.float64)
    return float(bleu.score(totals)) / 100


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `plan` as `table` (for a terminal), `markdown`, `latex`, or `json`: objects, all digits."""
    if format == "json":
        return as_json(table)
    rows = []
    for row in table.to_dict("records"):
        size = "gain" if row["claim"] == "difference" else "margin"
        asked_size = row["question"] == size
        rows.append(
            {
                "metric": row["metric"],
                "to show": row["claim"],
                "gain or margin [95 %]": _ends(row, size, "{:.3g}") if asked_size else f"{row[size]:.6g}",
                "segments [95 %]": f"{row['n_segments']:,}" if asked_size else _ends(row, "n", "{:,.0f}"),
                "documents": "" if pd.isna(row["n_documents"]) else f"{row['n_documents']:,}",
                "power [95 %]": _power(row),
                "test": row["test"].removesuffix(" two-sided"),
            }
        )
    shown = pd.DataFrame(rows)
    if not (shown["documents"] != "").any():
        shown = shown.drop(columns="documents")
    notes = dict.fromkeys(note for own in table["notes"] for note in own)
    said = [f"standard deviation of the difference on a unit: {table['deviation'].iloc[0]:.3g} points", *notes]
    return printed(shown, format) + ("" if format == "latex" else "\n") + listed_below(said, format)


def _power(row: Mapping[Hashable, Any]) -> str:
    """The power, and its interval where the variance is not certain."""
    ends = f" [{100 * row['power_low']:.0f}, {100 * row['power_high']:.0f}]"
    return f"{100 * row['power']:.0f} %" + ends * (row["source"] != "outcomes" and not pd.isna(row["power_low"]))


def _ends(row: Mapping[Hashable, Any], name: str, form: str) -> str:
    """What was asked for and its interval; none where no size is enough."""
    value = row["n_segments" if name == "n" else name]
    if row["source"] == "outcomes" and not pd.isna(value):  # certain, given what was assumed
        return form.format(value)
    shown = [
        "none" if pd.isna(cell) else form.format(cell) for cell in (value, row[f"{name}_low"], row[f"{name}_high"])
    ]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"
