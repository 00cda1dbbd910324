"""Plan an experiment: the number of segments that detects a gain, or the gain that a number of segments detects.

Everything follows from S², the variance of the per-unit difference between two systems: the standard error of their
gain on n units is S/√n. S² comes from a pilot (`from_pilot`), from a model fitted to the systems of the study
(`from_variance_model`), or, for items that are passed or failed, from score and correlation (`from_outcomes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Test, find
from pairsig.io import rendering
from pairsig.io.choices import check_level, one_of, spelled
from pairsig.io.columns import PLAN, VARIANCE_MODEL
from pairsig.io.errors import InputError
from pairsig.io.packages import pd
from pairsig.io.tables import Row, frame, read, records
from pairsig.metrics.names import metric_name
from pairsig.stats import power as exact_power
from pairsig.stats.intervals import ENOUGH, Intervals
from pairsig.stats.margins import Amount, best_score, in_unit
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import score_of_a_pass

Floats = NDArray[np.float64]
Claim = Literal["difference", "equivalence", "not-worse"]

_OF_MARGINS: tuple[Claim, ...] = ("equivalence", "not-worse")
CLAIMS: tuple[Claim, ...] = ("difference", *_OF_MARGINS)
"""Claims: a system is better, two systems differ by less than a margin, or one is not worse by more than a margin."""

FEW = 100
"""With fewer units, the computed power is accurate only for normally distributed differences (see `power`)."""

HEAVY = 0.25
"""Share of the largest number of degrees of freedom below which a few large differences decide a variance."""

OFF_FEW = 10
"""Largest error of the power in points, found on 20, 30 and 50 units (see `power`)."""

MOST = 10**9
"""Largest number of segments that is planned; beyond it, no number counts as sufficient."""

MOST_ASKED = 1000
"""Largest number of gains, margins and sizes in one table, each of which takes up to a second."""

VARIANCE_MODEL_FILE = Path(__file__).with_name("variance_model.tsv")
"""The variance model, fitted to the study's comparisons by the rule `variance_model`."""

_NORMAL = 5_000
"""Degrees of freedom from which on the normal distribution replaces Student's: power differs by less than 1e-4."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The variance of the per-unit difference between two systems, and how certain it is."""

    variance: float  # S², in points²
    # The 95 % interval of S²: from a pilot, for new samples from the same source; from the variance model, for a new
    # pair of systems on a new test set.
    low: float
    high: float
    unit: Unit = "segment"  # what is drawn
    segments_per_unit: float = 1.0  # more than 1 for documents
    best: float | None = 100.0  # the score of 100 %: 100 for points, 1 for shares; None if the scores have another unit
    passed: float | None = None  # score of a passed item, if every unit is an item that is passed or failed
    source: Literal["pilot", "variance model", "outcomes"]
    given: str = ""  # what was known about the correlation of the systems
    notes: tuple[str, ...] = ()  # sentences on the source of the variance and its reliability
    score: float | None = None  # mean score of both systems, in points, if it was assumed
    correlation: float | None = None  # of the outcomes of items that are passed or failed, if it was assumed

    def check(self, gain: float) -> None:
        """Raise `InputError` for a gain that two systems with this score and correlation cannot have."""
        if self.score is None:
            return
        most = 2 * min(self.score, 100 - self.score)
        if gain > most:
            raise InputError(
                f"the gain is {gain:g}, but two systems with a mean score of {self.score:g} differ by at most {most:g}"
            )
        if self.correlation is None:
            return
        a, b = (self.score + gain / 2) / 100, (self.score - gain / 2) / 100
        highest = math.sqrt(b * (1 - a) / (a * (1 - b)))  # where B passes nothing that A fails
        if self.correlation > highest:
            raise InputError(
                f"the correlation is {self.correlation:g}, which is impossible for systems that differ by {gain:g} "
                f"points at a mean score of {self.score:g}, expected at most {highest:.2f}"
            )


def from_pilot(pair: Pair) -> Spread:
    """Estimate the variance of the difference from a pilot, two systems on a test set from the same source.

    S² = n s², where s is the standard error of the gain on the pilot's n units (`difference_interval`). The ends of the
    interval are ν S² / χ²(0.975) and ν S² / χ²(0.025), with the degrees of freedom ν of s.
    """
    from scipy.special import chdtri

    n, unit = pair.units.shape[1], f"{pair.unit}s"
    n_different = int((pair.units[0] != pair.units[1]).any(axis=1).sum())
    if n < 2 or not n_different:
        raise InputError(
            f"the pilot's systems differ on {n_different} of {n} {unit}, expected at least two and a difference"
        )
    _, error, degrees = Intervals(pair.units, pair.metric, pair.unit).estimate(0, 1)
    if not error > 0:
        raise InputError(f"the pilot's systems differ by the same on each of {n} {unit}, expected it to vary")
    variance = n * error**2
    low, high = (degrees * variance / float(chdtri(degrees, share)) for share in (0.025, 0.975))
    notes = [
        f"the standard deviation was estimated from a pilot of {n:,} {unit}; intervals are for new {unit} from the "
        "same source"
    ]
    if degrees < HEAVY * (n - 1):
        notes.append(
            "a few large differences decide the pilot's standard deviation: plans from such pilots of 60 units had 65 "
            f"to 76 % power instead of 80 %; with the upper end of their number of {unit}, they had more"
        )
    if n < FEW:
        notes.append(
            f"the pilot has fewer than {FEW} {unit}; intervals from such pilots covered the true value in 75 to 98 % "
            "of simulations instead of 95 %"
        )
    if n_different < ENOUGH:
        notes.append(f"the pilot's systems differ on {n_different} of {n:,} {unit}, too few for a reliable plan")
    return Spread(
        variance=variance,
        low=low,
        high=high,
        unit=pair.unit,
        segments_per_unit=pair.n_segments / n,
        best=best_score(pair),
        passed=score_of_a_pass(pair.units, pair.metric),
        source="pilot",
        notes=tuple(notes),
    )


def expected(score: ArrayLike, length: ArrayLike, correlation: ArrayLike) -> Floats:
    """S² of the variance model with φ = 1, in points²: 10⁴ · 2(1 − ρ) · p(1 − p) / √L; see `from_variance_model`."""
    p, words, rho = (np.asarray(values, dtype=np.float64) for values in (score, length, correlation))
    return np.asarray(2e4 * (1 - rho) * (p / 100) * (1 - p / 100) / np.sqrt(words))


_STANDING_IN = {"f1": "parseval", "entity_f1": "parseval"}
"""Metrics without a variance model, and that of a similar one which stands for it."""


def model_of(metric: str) -> str:
    """The metric whose variance model is used for a metric."""
    return _STANDING_IN.get(metric, metric.removeprefix("conll_"))


def from_variance_model(
    metric: str,
    *,
    score: Amount,
    length: float | None = None,
    correlation: float | None = None,
    design_effect: float = 1.0,
    variance_model: pd.DataFrame | None = None,
) -> Spread:
    """Predict the variance of the difference without a pilot, from the systems of the study.

    The model is S² = φ · 10⁴ · 2(1 − ρ) · p(1 − p) / √L, in points² (docs/planning.md). If the correlation
    ρ is unknown, 2(1 − ρ) becomes a constant; each case has its own φ. `score` is the mean score of both systems, and
    `length` the
    mean length of a segment in the unit of `LENGTHS`. The interval is log S² ± t · sqrt(τ²(1 + 1/D) + ω²), with D test
    sets, the standard deviations τ between test sets and ω between the pairs of a test set, and the degrees of freedom
    of τ.
    """
    table = fitted() if variance_model is None else variance_model
    known = sorted(set(table["metric"]) - {"all"})
    name = spelled(model_of(metric), known)
    if name not in known:
        raise InputError(
            f"there is no variance model for the metric {metric}, expected a pilot, or "
            f"{one_of(name, [OUTCOMES, *known])}"
        )
    basis = "correlation" if correlation is not None else "nothing"
    rows = table[(table["metric"] == name) & (table["given"] == basis)]
    if name in LENGTHS and length is None:
        raise InputError(
            f"the variance model for {metric} needs the mean length of segments: add --length, in {LENGTHS[name]}"
        )
    if name not in LENGTHS and length is not None:
        raise InputError(f"the variance model for {metric} does not use lengths, found {length:g}; omit --length")
    points = _assumed(score, design_effect, length, correlation)
    row = rows.iloc[0]
    variance = float(design_effect * row["overdispersion"] * expected(points, length or 1.0, correlation or 0.0))
    ratio = math.exp(reach(row["between"], row["within"], int(row["n_datasets"]), int(row["degrees"])))
    stands_in = [] if metric not in _STANDING_IN else [
        f"the model of {name}, the F1 of brackets, stands for {metric}, to which no model was fitted; a pilot is safer"
    ]  # fmt: skip
    validated = row if row["n_left_out"] else table[(table["metric"] == "all") & (table["given"] == basis)].iloc[0]
    others = "" if row["n_left_out"] else " with other metrics"
    note = (
        f"the standard deviation was predicted {_GIVEN[basis]} by a model of {row['n_pairs']:,} pairs of systems "
        f"on {row['n_datasets']} test set{'s' if row['n_datasets'] > 1 else ''}; on {validated['n_left_out']} left-out "
        f"test sets{others}, the number of segments was off by a factor of {math.exp(validated['error']):.2f} (root "
        f"mean square), and inside its interval for {100 * validated['coverage']:.0f} % "
        f"[{100 * validated['coverage_low']:.0f}, {100 * validated['coverage_high']:.0f}] of the pairs"
    )
    return Spread(
        variance=variance,
        low=variance / ratio,
        high=variance * ratio,
        source="variance model",
        given=basis,
        notes=(note, *stands_in),
        score=points,
    )


def _assumed(score: Amount, design_effect: float, length: float | None, correlation: float | None) -> float:
    """The score in points, after a check of all that was assumed."""
    if correlation is not None and not -1 < correlation < 1:
        raise InputError(f"the correlation is {correlation:g}, expected a number between −1 and 1")
    points = in_unit(score, "score", 100.0)
    if not 0 < points < 100:
        raise InputError(f"the score is {score}, expected a number between 0 and 100")
    for value, noun in ((length, "length of segments"), (design_effect, "design effect")):
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"the {noun} is {value:g}, expected a positive number")
    return points


OUTCOMES = "accuracy"
"""The metric of items that are passed or failed, which needs no variance model."""

_LEAST_CORRELATED, _MOST_CORRELATED = 0.31, 0.65
"""The correlation of the median pair on those leaderboards of the study on which it is lowest and highest."""

_LIKE_LEADERBOARDS = (
    f"the median pair of eleven leaderboards of language models had {_LEAST_CORRELATED} to {_MOST_CORRELATED}"
)


def from_outcomes(*, score: Amount, correlation: float | None = None, design_effect: float = 1.0) -> Spread:
    """Compute the variance of the difference for items that are passed or failed, from score and correlation.

    S² = 10⁴ · 2(1 − ρ) · p(1 − p), in points², with the score p of both systems as a share and the correlation ρ of
    their outcomes. For equal scores this is exact, since both outcomes have the variance p(1 − p). If p is the mean of
    two scores, it is within 1 % for a gain of up to 5 points and within 4 % for up to 10 points (scores from 20 to 80,
    correlation up to 0.7). Near 0 and 100 it may be far too small, since the variances of the two systems differ. For
    items with partial credit or several runs, S² is smaller: on eleven leaderboards, the S² of the median pair is
    0.55 to 0.96 times this. The parameters are those of `from_variance_model`.
    """
    assumed = correlation is None
    correlation = _LEAST_CORRELATED if correlation is None else correlation
    points = _assumed(score, design_effect, None, correlation)
    least = -min(points / (100 - points), (100 - points) / points)
    if correlation < least:
        raise InputError(
            f"the correlation is {correlation:g}, expected at least {least:.2g}: outcomes of two systems with a score "
            f"of {points:g} cannot be more opposite"
        )
    variance = float(design_effect * expected(points, 1.0, correlation))
    note = (
        "the standard deviation follows from the score and the correlation of two systems that pass or fail each item; "
        f"it is as certain as these two are ({_LIKE_LEADERBOARDS})"
    )
    notes: tuple[str, ...] = (note,)
    if assumed:
        share = (1 - _MOST_CORRELATED) / (1 - _LEAST_CORRELATED)
        notes = (
            f"no --correlation, so {correlation} is assumed, which asks for the most segments; with "
            f"{_MOST_CORRELATED}, {share:.2f} times as many would do",
            note,
        )
    return Spread(
        variance=variance,
        low=variance,
        high=variance,
        passed=100.0 if design_effect == 1 else None,  # items in groups are not independent units
        score=points,
        correlation=correlation,
        source="outcomes",
        given="correlation",
        notes=notes,
    )


_GIVEN = {"correlation": "from the correlation", "nothing": "without a correlation"}

LENGTHS = {
    "bleu": "reference words",
    "uas": "words",
    "parseval": "gold brackets",
    "aer": "sure links",
}
"""Unit of the length of a segment, by metric of the variance model; see `length_unit` in the table `systems`."""


def reach(between: float, within: float, n_datasets: int, degrees: int, level: float = 0.95) -> float:
    """Half the width of the variance model's interval for log S²; see `from_variance_model`."""
    from scipy.special import stdtrit

    spread = math.sqrt(between**2 * (1 + 1 / n_datasets) + within**2)
    return float(stdtrit(degrees, (1 + level) / 2)) * spread


@cache
def fitted() -> pd.DataFrame:
    """The variance model that comes with the library: table `VARIANCE_MODEL`."""
    return read(VARIANCE_MODEL_FILE, VARIANCE_MODEL)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The claim to be established, and the test that should establish it."""

    claim: Claim = "difference"
    margin: float | None = None  # of equivalence or non-inferiority
    test: Test = field(default_factory=lambda: find("randomization"))  # of a difference
    alpha: float = 0.05
    power: float = 0.8  # desired probability that the test establishes the claim

    def __post_init__(self) -> None:
        check_level(self.alpha, "significance level")
        check_level(self.power, "power")
        if self.power <= self.alpha:
            raise InputError(f"the power is {self.power:g}, expected more than the significance level, {self.alpha:g}")


def power(variance: float, n_units: int, gain: float, design: Design, passed: float | None = None) -> float:
    """Probability that the test of `pairsig compare` establishes the claim on n units, from S² and the true gain.

    For items that are passed or failed (with `passed`, the score of a passed one), the power is exact
    (`pairsig.stats.power`), for up to 100,000 discordant items. An item is discordant with the probability ψ = S² + g²
    in shares, since S² = ψ − g², but at least g, which S² does not ensure near scores of 0 or 100. In all other cases
    it is that of Student's test; docs/planning.md has the formulas and their accuracy.
    """
    if n_units < 2:
        return 0.0
    exact = _of_items(variance, gain, design, passed)
    covered = exact is not None and exact.covers(n_units)
    return exact.power(n_units) if exact and covered else _students(variance, n_units, gain, design)


def _of_items(variance: float, gain: float, design: Design, passed: float | None) -> exact_power.Items | None:
    """The exact test of items if there is one; bootstraps have none."""
    if passed is None:
        return None
    share = gain / passed
    discordant = min(1.0, max(variance / passed**2 + share**2, share))
    if design.claim != "difference":
        margin, both = float(design.margin or 0) / passed, design.claim == "equivalence"
        return exact_power.Items(discordant, share, design.alpha, margin=margin, equivalence=both)
    if design.test.draw != "swap":
        return None
    return exact_power.Items(discordant, share, design.alpha, sides=2 if design.test.two_sided else 1)


def _students(variance: float, n_units: int, gain: float, design: Design) -> float:
    """Power of Student's test, see `power`."""
    from scipy.special import ndtri, stdtrit

    nu = n_units - 1
    error = math.sqrt(variance / n_units)
    one_sided, two_sided = (float(stdtrit(nu, 1 - share)) for share in (design.alpha, design.alpha / 2))
    if design.claim == "difference":
        if design.test.draw == "swap":
            if 2.0 ** (design.test.two_sided - n_units) > design.alpha:
                return 0.0
            critical = two_sided if design.test.two_sided else one_sided
        else:
            share = design.alpha / 2 if design.test.two_sided else design.alpha
            critical = float(ndtri(1 - share)) * math.sqrt(nu / n_units)
        return 1 - _below(critical, nu, gain / error)
    margin = float(design.margin or 0)
    if design.claim == "not-worse":
        return 1 - _below(one_sided, nu, (margin + gain) / error)
    sides = [_below(one_sided, nu, (margin + sign * gain) / error) for sign in (1, -1)]
    return max(0.0, 1 - sum(sides))


def _below(critical: float, nu: int, shift: float) -> float:
    from scipy.special import nctdtr, ndtr

    if nu >= _NORMAL or shift > 30:
        return float(ndtr(critical - shift))
    return float(nctdtr(nu, shift, critical))


def units_for(variance: float, gain: float, design: Design, passed: float | None = None) -> int | None:
    """The smallest number of units with the desired power, or None if no number has it.

    Student's power increases with the number of units. The power of exact tests of items does not, since counts are
    integers, and a few more items may lower it. For them this is the smallest number from which on all have the power.
    """
    n_units = _first(lambda n: _students(variance, n, gain, design) >= design.power)
    exact = _of_items(variance, gain, design, passed)
    return (
        n_units if n_units is None or exact is None or not exact.covers(n_units) else exact.first(design.power, n_units)
    )


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
    """The smallest true gain that n units detect, or the smallest margin for equal systems; None if there is none."""

    def enough(size: float) -> bool:
        gain, mine = (size, design) if design.claim == "difference" else (0.0, replace(design, margin=size))
        return power(variance, n_units, gain, mine, passed) >= design.power

    most = math.inf if passed is None else passed * (1 - 1e-9)
    low, high = 0.0, min(most, math.sqrt(variance / n_units))
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
"""Default numbers of segments for which the smallest detectable gain is reported."""


def plan(
    metric: str,
    spread: Spread,
    design: Design | None = None,
    *,
    gains: Sequence[Amount] = (),
    margins: Sequence[Amount] = (),
    sizes: Sequence[int] = (),
) -> pd.DataFrame:
    """Compute sample sizes for gains and margins, and detectable gains and margins for sample sizes: table `PLAN`.

    `gains` and `margins` ask how many segments detect a gain, or establish equivalence and non-inferiority of equal
    systems; `sizes` ask which gain each size detects, and which margin it establishes (default: `SIZES`, gains only).
    The claim and the margin of `design` are set for each row. The interval of a size has the sizes that the ends of the
    variance's interval require, and that of the power the power of the planned size at these ends.
    """
    chosen = design or Design()
    asked = _asked(metric, spread, gains, margins)
    n_asked = len(gains) + len(margins) + len(sizes)
    if n_asked > MOST_ASKED:
        raise InputError(f"found {n_asked:,} gains, margins and sizes, expected at most {MOST_ASKED:,}")
    for size in sizes:
        if not 2 <= size <= MOST:
            raise InputError(f"the number of segments is {size:,}, expected one from 2 to {MOST:,}")
    rows: list[Row] = []
    cells: Row

    def at_ends(find: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Results for the variance and for the ends of its interval."""
        ends = (spread.variance, spread.low, spread.high)
        results = {value: find(value, *arguments, spread.passed) for value in dict.fromkeys(ends)}
        return [results[value] for value in ends]

    def add(question: str, mine: Design, gain: float, units: int | None, cells: Row) -> None:
        powers = [mine.power, None, None] if units is None else at_ends(power, units, gain, mine)
        rows.append(
            {
                "metric": metric, "question": question, "claim": mine.claim, "gain": gain, "alpha": mine.alpha,
                "test": mine.test.label if mine.claim == "difference" else f"margin {mine.claim}",
                "deviation": math.sqrt(spread.variance), "source": spread.source, "given": spread.given,
                "n_documents": units if spread.unit == "document" else None,
                "power": powers[0], "power_low": powers[2], "power_high": powers[1],
            }
            | cells
        )  # fmt: skip

    for claim, gain, margin in asked:
        mine = replace(chosen, claim=claim, margin=margin)
        units = at_ends(units_for, gain, mine)
        numbers = [None if n is None else math.ceil(n * spread.segments_per_unit) for n in units]
        cells = {"margin": margin, "notes": _doubts(spread, mine, gain, units[0])}
        cells |= dict(zip(("n_segments", "n_low", "n_high"), numbers, strict=True))
        add("segments", mine, gain, units[0], cells)
    for size in sizes or (() if asked else SIZES):
        n = max(2, round(size / spread.segments_per_unit))
        for claim in CLAIMS[: 2 if sizes else 1]:
            mine = replace(chosen, claim=claim, margin=1.0)
            reached = at_ends(size_for, n, mine)
            noun = "gain" if claim == "difference" else "margin"
            cells = {"margin": None, "n_segments": size, "notes": _doubts(spread, mine, 0.0, n)}
            cells |= dict(zip((noun, f"{noun}_low", f"{noun}_high"), reached, strict=True))
            gain = reached[0] if claim == "difference" else 0.0
            add(noun, replace(mine, margin=cells["margin"]), gain, None if reached[0] is None else n, cells)
            rows[-1]["n_documents"] = n if spread.unit == "document" else None
    return frame(PLAN, rows)


def _asked(
    metric: str, spread: Spread, gains: Sequence[Amount], margins: Sequence[Amount]
) -> list[tuple[Claim, float, float | None]]:
    """Claims with the true gain and the margin of each, in the unit of the scores."""
    asked: list[tuple[Claim, float, float | None]] = []
    for amount, noun in (*((gain, "gain") for gain in gains), *((margin, "margin") for margin in margins)):
        value = in_unit(amount, noun, spread.best)
        if not 0 < value < math.inf:
            raise InputError(f"the {noun} is {amount}, expected a positive number in the unit of the score")
        if spread.passed is not None and value >= spread.passed:
            raise InputError(
                f"the {noun} is {amount}, but no two systems differ by more than {spread.passed:g} in {metric}; "
                f"expected a smaller {noun} in the unit of the score"
            )
        if noun == "gain":
            spread.check(value)
        asked += [("difference", value, None)] if noun == "gain" else [(claim, 0.0, value) for claim in _OF_MARGINS]
    return asked


def _doubts(spread: Spread, design: Design, gain: float, n_units: int | None) -> list[str]:
    few = n_units is not None and n_units < FEW and _of_items(spread.variance, gain, design, spread.passed) is None
    note = (
        f"with fewer than {FEW} {spread.unit}s, the power assumes normally distributed differences; for others it was "
        f"off by up to {OFF_FEW} points in simulations"
    )
    return [*spread.notes, *[note] * few]


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `plan` as `table` (for a terminal), `markdown` or `latex`."""
    rows = [row | _printed(row) for row in records(table)]
    headings = {"gain": "gain or margin", "n_segments": "segments", "n_documents": "documents", "power": "power"}
    for name in ("gain", "n_segments", "power"):
        headings[name] += " [95 %]" * any("[" in row[name] for row in rows)
    columns = PLAN.view(metric="", claim="to show", **headings, test="")
    if all(row["n_documents"] is None for row in rows):
        columns = [column for column in columns if column.name != "n_documents"]
    deviation = f"standard deviation of the difference per unit: {table['deviation'].iloc[0]:.3g} points"
    notes = dict.fromkeys(chain.from_iterable(table["notes"]))
    return rendering.render(rows, columns, format, notes=[deviation, *notes])


def _printed(row: Row) -> Row:
    """Cells as text: what was asked for has its interval, and so has the power if the variance is uncertain."""
    size = "gain" if row["claim"] == "difference" else "margin"
    asked = row["question"] == size
    ends = ""
    if row["source"] != "outcomes" and row["power_low"] is not None:
        ends = f" [{100 * row['power_low']:.0f}, {100 * row['power_high']:.0f}]"
    return {
        "metric": metric_name(row["metric"]),
        "gain": _ends(row, size, "{:.3g}") if asked else f"{row[size]:.6g}",
        "n_segments": f"{row['n_segments']:,}" if asked else _ends(row, "n", "{:,.0f}"),
        "power": f"{100 * row['power']:.0f} %{ends}",
        "test": row["test"].removesuffix(" two-sided"),
    }


def _ends(row: Row, name: str, form: str) -> str:
    """The value that was asked for, and its interval; "none" if no size is sufficient."""
    cells = (row["n_segments" if name == "n" else name], row[f"{name}_low"], row[f"{name}_high"])
    value, low, high = ("none" if cell is None else form.format(cell) for cell in cells)
    if row["source"] == "outcomes" and value != "none":  # certain under the assumptions, so no interval
        return value
    return f"{value} [{low}, {high}]"
