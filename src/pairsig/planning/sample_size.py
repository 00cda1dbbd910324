"""Plan an experiment: the number of segments that detects a gain.

Everything follows from S², the variance of the per-unit difference between two systems: the standard error of their
gain on n units is S/√n. S² comes from a pilot (`from_pilot`), from a model fitted to the systems of the study
(`from_variance_model`), or, for items that are passed or failed, from score and correlation (`from_outcomes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.comparisons.compare import Data, prepared
from pairsig.io import rendering
from pairsig.io.choices import check_level, once, one_of, spelled
from pairsig.io.columns import PLAN, VARIANCE_MODEL
from pairsig.io.errors import InputError, listed
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import Row, frame, read, records
from pairsig.metrics import Metric, registry
from pairsig.metrics.names import metric_name
from pairsig.planning.power import Items
from pairsig.stats.intervals import ENOUGH, Intervals
from pairsig.stats.margins import Amount, best_score, in_unit
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import score_of_a_pass

Floats = NDArray[np.float64]

FEW = 100
"""With fewer units, the computed power is accurate only for normally distributed differences (see `power`)."""

HEAVY = 0.25
"""Share of the largest number of degrees of freedom below which a few large differences decide a variance."""

OFF_FEW = 10
"""Largest error of the power in points, found on 20, 30 and 50 units (see `power`)."""

MOST = 10**9
"""Largest number of units that is planned; beyond it, no number counts as sufficient."""

MOST_ASKED = 1000
"""Largest number of gains in one table, each of which takes up to a second."""

VARIANCE_MODEL_FILE = Path(__file__).with_name("variance_model.tsv")
"""The variance model, fitted to the study's comparisons by the rule `variance_model`."""

LENGTHS = {
    "bleu": "reference words",
    "uas": "words",
    "parseval": "gold brackets",
    "aer": "sure links",
}
"""Unit of the length of a segment, by metric of the variance model."""

OUTCOMES = "accuracy"
"""The metric of items that are passed or failed, which needs no variance model."""

_STANDING_IN = {"f1": "parseval", "entity_f1": "parseval"}
"""Metrics without a variance model, and that of a similar one which stands for it."""
_GIVEN = {"correlation": "from the correlation", "nothing": "without a correlation"}
_LEAST_CORRELATED, _MOST_CORRELATED = 0.31, 0.65
"""The correlation of the median pair on those leaderboards of the study on which it is lowest and highest."""
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

    def gain(self, amount: Amount, metric: str) -> float:
        """A gain in the unit of the scores; an `InputError` if two such systems cannot differ by it."""
        value = in_unit(amount, "gain", self.best)
        if not 0 < value < math.inf:
            raise InputError(f"the gain is {amount}, expected a positive number in the unit of the score")
        most = self.passed or math.inf
        if value >= most:
            raise InputError(
                f"the gain is {amount}, but no two systems differ by more than {most:g} in {metric}; expected a "
                "smaller gain in the unit of the score"
            )
        if self.score is not None and value > (most := 2 * min(self.score, 100 - self.score)):
            raise InputError(
                f"the gain is {value:g}, but two systems with a mean score of {self.score:g} differ by at most {most:g}"
            )
        if self.score is not None and self.correlation is not None:
            a, b = (self.score + value / 2) / 100, (self.score - value / 2) / 100
            highest = math.sqrt(b * (1 - a) / (a * (1 - b)))  # where B passes nothing that A fails
            if self.correlation > highest:
                raise InputError(
                    f"the correlation is {self.correlation:g}, which is impossible for systems that differ by "
                    f"{value:g} points at a mean score of {self.score:g}, expected at most {highest:.2f}"
                )
        return value


def plan(
    data: Data | None = None,
    *,
    metric: str | Metric | None = None,
    gain: Amount | Sequence[Amount] = (),
    systems: Sequence[str] = (),
    score: Amount | None = None,
    length: float | None = None,
    correlation: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    unit: Unit = "segment",
) -> TableResult:
    """Plan an experiment: the number of segments that detects a gain.

    The test is the two-sided exact or randomization test, as `compare` has it.

    Parameters
    ----------
    data
        A pilot: two systems on a test set from the same source, as for `compare`. Without a pilot, `score`, and for
        some metrics `length`, say what to expect.
    metric
        As for `compare`; needed without a pilot.
    gain
        Gains that the test should detect, in the unit of the score or as a percentage, such as "2%".
    systems
        Names of two systems of the pilot, if it has more.
    score
        Without a pilot: mean score of both systems.
    length
        Without a pilot: mean length of a segment, in reference words (BLEU), words (UAS), gold brackets (PARSEVAL),
        sure links (AER), or gold items (F1).
    correlation
        Without a pilot: correlation of the two systems' segments. For accuracy, the default is that of leaderboards
        whose pairs correlate least, so the plan is cautious.
    alpha, power
        Significance level of the test, and the probability with which it should detect the gain.
    unit
        Unit of the pilot.

    Returns
    -------
    TableResult
        `print` it for a table with explanations; `.table` has one row per gain. Intervals of sizes and powers are for
        the ends of the interval of S². `.notes` say where S² comes from, and how far it may be off.

    Raises
    ------
    InputError
        If something is missing, out of range, or impossible for this score.

    Notes
    -----
    With S the standard deviation of the difference of two systems on a unit, the gain on n units has the standard error
    S/√n, and the power is that of Student's noncentral distribution; for items that are passed or failed, it is exact.
    docs/planning.md has where S comes from, and how accurate plans are.

    Examples
    --------
    >>> import pairsig
    >>> plan = pairsig.plan(metric="bleu", score=35, length=25, correlation=0.75, gain=[0.5, 1])
    >>> plan.table[["gain", "n_segments", "n_low", "n_high"]].astype(float)
       gain  n_segments   n_low  n_high
    0   0.5      5982.0  3713.0  9640.0
    1   1.0      1497.0   930.0  2412.0
    """
    check_level(alpha, "significance level")
    check_level(power, "power")
    if power <= alpha:
        raise InputError(f"the power is {power:g}, expected more than the significance level, {alpha:g}")
    if data is None:
        name, spread = _without_a_pilot(metric, gain, score, length, correlation)
    else:
        for option, value in {"score": score, "length": length, "correlation": correlation}.items():
            if value is not None:
                raise InputError(f"--{option} is for planning without a pilot; leave it out, or the files")
        name, spread = _pilot(data, metric, systems, unit)
    gains: Any = gain if isinstance(gain, list | tuple) else [gain]
    rows = table_of(name, spread, gains, alpha, power)
    notes = dict.fromkeys(chain.from_iterable(rows["notes"]))
    return TableResult(table=rows, notes=tuple(notes), _render=render)


def _without_a_pilot(
    metric: str | Metric | None, gain: object, score: Amount | None, length: float | None, correlation: float | None
) -> tuple[str, Spread]:
    """The metric, and the variance without a pilot; one message about all that is missing."""
    name = metric.name if isinstance(metric, Metric) else spelled(metric or "", registry.METRICS)
    unit = "gold items" if name.endswith("f1") else LENGTHS.get(_model_of(name), "")
    noun = f"--length, the mean length of a segment in {unit or 'words (for metrics of texts and trees)'}"
    lacks = {
        "--metric": not name,
        "--gain, what the test should detect": gain in ((), []),
        "--score, the mean score of both systems": score in (None, ""),
        noun: length is None and (bool(unit) or not name),
    }
    if any(lacks.values()):
        missing = ", and ".join(option for option, lacking in lacks.items() if lacking)
        raise InputError(f"planning without a pilot needs {missing}; or specify files of two systems as a pilot")
    assert score is not None
    if name != OUTCOMES:
        return name, from_variance_model(name, score=score, length=length, correlation=correlation)
    if length is not None:
        raise InputError(f"found --length {length:g}, but planning for {OUTCOMES} only takes --score and --correlation")
    return name, from_outcomes(score=score, correlation=correlation)


def _pilot(data: Data, metric: str | Metric | None, systems: Sequence[str], unit: Unit) -> tuple[str, Spread]:
    """The metric, and the variance of the difference of two systems of a pilot."""
    statistics, chosen = prepared(data, metric)
    once(systems, "system")
    if systems:
        statistics = statistics.select(systems=list(systems))
    if len(statistics.systems) != 2 or any(statistics.runs):
        raise InputError(
            f"the pilot has the systems {listed(statistics.systems)}, expected two with one run each; choose two with "
            "--between A B"
        )
    return chosen.name, from_pilot(Pair(chosen, statistics.of(chosen), statistics.documents_if(unit)))


# Where S² comes from.


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


def reach(between: float, within: float, n_datasets: int, degrees: int, level: float = 0.95) -> float:
    """Half the width of the variance model's interval for log S²; see `from_variance_model`."""
    from scipy.special import stdtrit

    spread = math.sqrt(between**2 * (1 + 1 / n_datasets) + within**2)
    return float(stdtrit(degrees, (1 + level) / 2)) * spread


@cache
def fitted() -> pd.DataFrame:
    """The variance model that comes with the library: table `VARIANCE_MODEL`."""
    return read(VARIANCE_MODEL_FILE, VARIANCE_MODEL)


def _model_of(metric: str) -> str:
    """The metric whose variance model is used for a metric."""
    return _STANDING_IN.get(metric, metric.removeprefix("conll_"))


def from_variance_model(
    metric: str, *, score: Amount, length: float | None = None, correlation: float | None = None
) -> Spread:
    """Predict the variance of the difference without a pilot, from the systems of the study.

    The model is S² = φ · 10⁴ · 2(1 − ρ) · p(1 − p) / √L, in points² (docs/planning.md). If the correlation ρ is
    unknown, 2(1 − ρ) becomes a constant; each case has its own φ. `score` is the mean score of both systems, and
    `length` the mean length of a segment in the unit of `LENGTHS`. The interval is log S² ± t · sqrt(τ²(1 + 1/D) + ω²),
    with D test sets, the standard deviations τ between test sets and ω between the pairs of a test set, and the degrees
    of freedom of τ.
    """
    table = fitted()
    known = sorted(set(table["metric"]) - {"all"})
    name = spelled(_model_of(metric), known)
    if name not in known:
        raise InputError(
            f"there is no variance model for the metric {metric}, expected a pilot, or "
            f"{one_of(name, [OUTCOMES, *known])}"
        )
    basis = "correlation" if correlation is not None else "nothing"
    if name not in LENGTHS and length is not None:
        raise InputError(f"the variance model for {metric} does not use lengths, found {length:g}; omit --length")
    if length is not None and not 0 < length < math.inf:
        raise InputError(f"the length of segments is {length:g}, expected a positive number")
    points = _in_points(score, correlation)
    row = table[(table["metric"] == name) & (table["given"] == basis)].iloc[0]
    variance = float(row["overdispersion"] * expected(points, length or 1.0, correlation or 0.0))
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


def from_outcomes(*, score: Amount, correlation: float | None = None) -> Spread:
    """Compute the variance of the difference for items that are passed or failed, from score and correlation.

    S² = 10⁴ · 2(1 − ρ) · p(1 − p), in points², with the score p of both systems as a share and the correlation ρ of
    their outcomes. For equal scores this is exact, since both outcomes have the variance p(1 − p). If p is the mean of
    two scores, it is within 1 % for a gain of up to 5 points and within 4 % for up to 10 points (scores from 20 to 80,
    correlation up to 0.7). Near 0 and 100 it may be far too small, since the variances of the two systems differ. For
    items with partial credit or several runs, S² is smaller: on eleven leaderboards, the S² of the median pair is
    0.55 to 0.96 times this.
    """
    assumed, correlation = correlation is None, _LEAST_CORRELATED if correlation is None else correlation
    points = _in_points(score, correlation)
    least = -min(points / (100 - points), (100 - points) / points)
    if correlation < least:
        raise InputError(
            f"the correlation is {correlation:g}, expected at least {least:.2g}: outcomes of two systems with a score "
            f"of {points:g} cannot be more opposite"
        )
    variance = float(expected(points, 1.0, correlation))
    notes = [
        "the standard deviation follows from the score and the correlation of two systems that pass or fail each item; "
        "it is as certain as these two are (the median pair of eleven leaderboards of language models had "
        f"{_LEAST_CORRELATED} to {_MOST_CORRELATED})"
    ]
    if assumed:
        share = (1 - _MOST_CORRELATED) / (1 - _LEAST_CORRELATED)
        notes.insert(
            0,
            f"no --correlation, so {correlation} is assumed, which asks for the most segments; with "
            f"{_MOST_CORRELATED}, {share:.2f} times as many would do",
        )
    return Spread(
        variance=variance,
        low=variance,
        high=variance,
        passed=100.0,
        score=points,
        correlation=correlation,
        source="outcomes",
        given="correlation",
        notes=tuple(notes),
    )


def _in_points(score: Amount, correlation: float | None) -> float:
    """The score in points, after a check of what was assumed."""
    if correlation is not None and not -1 < correlation < 1:
        raise InputError(f"the correlation is {correlation:g}, expected a number between −1 and 1")
    points = in_unit(score, "score", 100.0)
    if not 0 < points < 100:
        raise InputError(f"the score is {score}, expected a number between 0 and 100")
    return points


# Power, sizes and gains.


def power(variance: float, n_units: int, gain: float, alpha: float = 0.05, passed: float | None = None) -> float:
    """Probability that p < alpha in favour of the better system on n units, from S² and the true gain; two-sided.

    For items that are passed or failed (with `passed`, the score of a passed one), the power is exact
    (`pairsig.planning.power`), for up to 100,000 discordant items. In all other cases it is that of Student's test;
    docs/planning.md has the formulas and their accuracy.
    """
    items = _items(variance, gain, alpha, passed)
    return items.power(n_units) if items and items.covers(n_units) else _students(variance, n_units, gain, alpha)


def _items(variance: float, gain: float, alpha: float, passed: float | None) -> Items | None:
    """The sign test of items that are passed or failed; None for other units.

    An item is discordant with the probability ψ = S² + g² in shares, since S² = ψ − g², but at least g, which S² does
    not ensure near scores of 0 or 100.
    """
    if passed is None:
        return None
    share = gain / passed
    return Items(min(1.0, max(variance / passed**2 + share**2, share)), share, alpha)


def _students(variance: float, n_units: int, gain: float, alpha: float) -> float:
    """Power of Student's test; 0 if no p-value of so few units can be below alpha."""
    from scipy.special import nctdtr, ndtr, stdtrit

    if n_units < 2 or 2.0 ** (1 - n_units) > alpha:
        return 0.0
    nu, shift = n_units - 1, gain / math.sqrt(variance / n_units)
    critical = float(stdtrit(nu, 1 - alpha / 2))
    below = ndtr(critical - shift) if nu >= _NORMAL or shift > 30 else nctdtr(nu, shift, critical)
    return 1 - float(below)


def units_for(
    variance: float, gain: float, alpha: float = 0.05, wanted: float = 0.8, passed: float | None = None
) -> int | None:
    """The smallest number of units with the wanted power, or None if no number has it.

    Student's power increases with the number of units. The power of the exact test of items does not, since counts are
    integers, and a few more items may lower it. For it this is the smallest number from which on all have the power.
    """
    n_units = _first(lambda n: _students(variance, n, gain, alpha) >= wanted)
    items = _items(variance, gain, alpha, passed)
    return n_units if n_units is None or items is None or not items.covers(n_units) else items.first(wanted, n_units)


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


def table_of(
    metric: str, spread: Spread, gains: Sequence[Amount], alpha: float = 0.05, wanted: float = 0.8
) -> pd.DataFrame:
    """The number of segments for each gain: table `PLAN`.

    The interval of a size has the sizes that the ends of the variance's interval require, and that of the power the
    power of the planned size at these ends.
    """
    if not 1 <= len(gains) <= MOST_ASKED:
        raise InputError(f"found {len(gains):,} gains, expected 1 to {MOST_ASKED:,}: add --gain G")
    ends = (spread.variance, spread.low, spread.high)
    rows: list[Row] = []
    for gain in (spread.gain(gain, metric) for gain in gains):
        units = [units_for(end, gain, alpha, wanted, spread.passed) for end in ends]
        numbers = [None if n is None else math.ceil(n * spread.segments_per_unit) for n in units]
        planned = units[0]
        powers: Sequence[float | None] = (wanted, None, None)
        if planned is not None:
            powers = [power(end, planned, gain, alpha, spread.passed) for end in ends]
        few = planned is not None and planned < FEW and spread.passed is None
        note = (
            f"with fewer than {FEW} {spread.unit}s, the power assumes normally distributed differences; for others it "
            f"was off by up to {OFF_FEW} points in simulations"
        )
        rows.append(
            {
                "metric": metric, "gain": gain, "alpha": alpha, "deviation": math.sqrt(spread.variance),
                "source": spread.source, "given": spread.given,
                **dict(zip(("n_segments", "n_low", "n_high"), numbers, strict=True)),
                "n_documents": planned if spread.unit == "document" else None,
                "power": powers[0], "power_low": powers[2], "power_high": powers[1],
                "notes": [*spread.notes, *[note] * few],
            }
        )  # fmt: skip
    return frame(PLAN, rows)


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `plan` as `table` (for a terminal), `markdown` or `latex`."""
    rows = [row | _printed(row) for row in records(table)]
    headings = {"gain": "", "n_segments": "segments", "n_documents": "documents", "power": ""}
    for name in ("n_segments", "power"):
        headings[name] = f"{name.removeprefix('n_')}{' [95 %]' * any('[' in row[name] for row in rows)}"
    if all(row["n_documents"] is None for row in rows):
        del headings["n_documents"]
    deviation = f"standard deviation of the difference per unit: {table['deviation'].iloc[0]:.3g} points"
    notes = dict.fromkeys(chain.from_iterable(table["notes"]))
    return rendering.render(rows, PLAN.view(metric="", **headings), format, notes=[deviation, *notes])


def _printed(row: Row) -> dict[str, Any]:
    """Cells as text: a size and its power have intervals where the variance is uncertain."""
    sizes = ["none" if row[name] is None else f"{row[name]:,.0f}" for name in ("n_segments", "n_low", "n_high")]
    certain = row["source"] == "outcomes"
    ends = ""
    if not certain and row["power_low"] is not None:
        ends = f" [{100 * row['power_low']:.0f}, {100 * row['power_high']:.0f}]"
    return {
        "metric": metric_name(row["metric"]),
        "gain": f"{row['gain']:.6g}",
        "n_segments": sizes[0] if certain else f"{sizes[0]} [{sizes[1]}, {sizes[2]}]",
        "power": f"{100 * row['power']:.0f} %{ends}",
    }
