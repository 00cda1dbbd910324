"""Systems with several runs: whether a system would be better again if it were run again.

A run is a training with another seed or training set, or one of several outputs sampled from a generative model. In a
**crossed** design a run is the same for all units (segments or documents), as a training is. In a **nested** design
every unit is sampled anew, so the units show all variance between runs. Two systems share their units, but not their
runs. See docs/runs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairsig import __version__
from pairsig.comparisons import inputs
from pairsig.comparisons.compare import Pairs, named_pairs
from pairsig.core.influence import ACCURACY, degrees_of_freedom, influence_values
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics
from pairsig.io import rendering
from pairsig.io.choices import check_level, choose
from pairsig.io.columns import DIFFERENCE, RUNS
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.stats.adjust import holm
from pairsig.stats.paired import Unit, with_settings
from pairsig.stats.pass_fail import score_of_a_pass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Design = Literal["crossed", "nested"]
Floats = NDArray[np.float64]

LEAST = 2
"""Fewest runs from which their variance can be estimated."""

_LEAST_FREEDOM = 1.999
"""With fewer degrees of freedom, an interval of 95 % reaches further than four standard errors: it says nothing."""

FEW_RUNS, FEW_UNITS, SMALL_P = 3, 50, 1e-4
"""Below these numbers, a note warns about the p-value over runs."""

_MANY_RUNS = 20
"""With fewer runs, a failure of one in ten of them often does not show."""

_DRIFT = 1e-3
"""Significance level at which runs that are declared nested are found to differ as wholes."""

_BAND = 1e-12
"""Scores that are closer than this, relative to them, are equal."""


def design_of(statistics: Statistics) -> Design:
    """The design that the data declare: nested if a log says that every item was sampled anew, else crossed."""
    return "nested" if statistics.provenance.get("design") == "nested" else "crossed"


@dataclass(frozen=True, kw_only=True, repr=False)
class RunComparison(TableResult):
    """Systems with several runs, compared in pairs over their runs and the test set: what `compare_runs` returns.

    `print` shows the table that `pairsig compare` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per pair of systems, in the kind of data frame that was passed; the columns are those of `pairsig runs`.
    statistics, metric
        What was compared. Every other function of pairsig accepts them.
    notes
        Sentences about what the p-values and intervals do not cover.

    See Also
    --------
    compare_runs : Returns this.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> result = compare_runs({"old": rng.random((3, 50, 1)) < 0.4, "new": rng.random((3, 50, 1)) < 0.8})
    >>> result.table["better"].item()
    'new'
    """

    statistics: Statistics
    metric: Metric

    def _rendered(self, format: str) -> str:  # noqa: A002
        return render(self._rows, format)

    def _figure(self) -> Figure:
        """Differences with their intervals over runs and test sets."""
        from pairsig.io import pictures

        columns = ["system_a", "system_b", "difference", "ci_low", "ci_high"]
        rows = [(f"{a} − {b}", *ends) for a, b, *ends in self._rows[columns].itertuples(index=False)]
        return pictures.intervals(rows, f"difference, points of {self.metric.name}, over runs and test sets")


def compare_runs(
    data: inputs.Data,
    *,
    metric: str | Metric | None = None,
    pairs: Pairs = "all",
    baseline: str | None = None,
    design: Design | None = None,
    unit: Unit = "segment",
    confidence_level: float = 0.95,
) -> RunComparison:
    """Compare systems that were run several times, over their runs and the test set together.

    Two p-values answer two questions. `pvalue_outputs`: would these outputs differ on other test sets? `pvalue`: would
    the systems differ there if they were trained, or sampled, again?

    Parameters
    ----------
    data, metric
        The scores of all runs, as for `compare`: `Statistics` with runs, or one array (runs × segments × columns) per
        system. `Statistics.numbered` finds the runs NAME-1, NAME-2, ….
    pairs, baseline
        "all" pairs (the default), or the "first" system and every other; with the name of a `baseline`, every other
        system and that one, which is system B.
    design
        "crossed" if a run is the same for all segments, as a training is, or "nested" if every segment was sampled
        anew. Default: what the data say, else "crossed".
    unit
        "document" to take whole documents as units.
    confidence_level
        Of the intervals.

    Returns
    -------
    RunComparison
        `print` it for the table of `pairsig compare`. `.table` has one row per pair. `difference` is score(A) −
        score(B), of mean scores over runs; `standard_error` is √V, and `ci_low` and `ci_high` are the ends of the
        difference ± t √V. `pvalue_holm` adjusts `pvalue` for the number of pairs. The three standard deviations refer
        to a gain between *one* run of each system: `sd_test_set` is the part of the test set (S² minus g²/k of both),
        `sd_training` that of training (Σ s² − g²), and `sd_rest` the differences between runs on single units (Σ g²; in
        a nested design, sampling). The columns `…_twice_…` are expected with twice the segments or runs, if gain and
        variances stay the same. `notes` has sentences about the limits of the row.

    Raises
    ------
    InputError
        If a system has a single run where more are needed, if there are fewer than two systems or units, or if a number
        is out of range.

    See Also
    --------
    compare : One p-value per pair; uses this test if the data have runs.

    Notes
    -----
    D is the difference between the mean scores of two systems over their k runs. S² is its variance over test sets for
    these runs, s² the variance between the scores of a system's runs, and g² the part of s² that another test set would
    change. With T Student's distribution, `pvalue_outputs` is 2 T(−|D| / S), and `pvalue` is 2 T(−|D| / √V) with V = S²
    + Σ max(0, s² − g²)/k in a crossed design and V = S² in a nested one (degrees of freedom: Satterthwaite 1946). Below
    p = 1e-4, and with fewer than 50 units, it shows the order of magnitude only. Where S² or V is 0, the data do not
    show how much the difference varies: then p is 1, and for V = 0 the interval is nan. Rare failures of a run that did
    not occur are not covered. docs/runs.md has all formulas, and simulated error rates.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> rate = np.array([[0.60, 0.66, 0.63], [0.66, 0.72, 0.69]])  # of three trainings of two systems
    >>> passed = np.random.default_rng(3).random((2, 3, 500)) < rate[:, :, None]
    >>> result = pairsig.compare_runs({"old": passed[0][..., None], "new": passed[1][..., None]})
    >>> result.table[["better", "difference", "pvalue_outputs", "pvalue"]].round(4)
      better  difference  pvalue_outputs  pvalue
    0    new       -0.06          0.0003  0.1485
    """
    statistics, chosen = inputs.prepared(data, metric)
    design = design_of(statistics) if design is None else design
    choose(design, ("crossed", "nested"), "design")
    check_level(confidence_level, "confidence level")
    counts = statistics.of_units(chosen, unit)
    if counts.shape[1] < 2:
        raise InputError(f"found a test set of one {unit}, expected at least two to estimate how much scores vary")
    scorer = Scorer(counts, chosen, statistics.systems)
    systems = _systems(statistics, scorer, influence_values(counts, chosen), design)
    if design == "crossed":
        _check_runs(systems, named_runs=any(statistics.runs))
    names = [system.name for system in systems]
    compared = [(names.index(a), names.index(b)) for a, b in named_pairs(names, pairs, baseline)]
    largest = score_of_a_pass(counts, chosen) or chosen.scale or math.inf
    estimates = _Estimates.of(systems, np.array(compared), design, largest)
    missing = statistics.provenance.get("missing")
    left = f"--missing {missing.replace(':', ' was applied to ')} items without a score" if missing else ""
    notes = [list(filter(None, [*of_pair, left])) for of_pair in _notes(estimates, systems, compared, unit)]
    gain, names_of = estimates.gain, np.array(names, dtype=object)
    a, b = np.array(compared).T
    scores = np.array([scorer.scores[system.rows].mean() for system in systems])
    rows = frame(
        RUNS,
        {
            "metric": chosen.name,
            "system_a": names_of[a],
            "system_b": names_of[b],
            "n_runs_a": estimates.k[:, 0].astype(int),
            "n_runs_b": estimates.k[:, 1].astype(int),
            "n_segments": statistics.counts.shape[1],
            "design": design,
            "score_a": scores[a],
            "score_b": scores[b],
            "difference": scores[a] - scores[b],
            "better": np.select([gain > 0, gain < 0], [names_of[a], names_of[b]], ""),
            "pvalue_holm": holm(estimates.pvalue),
            "n_compared": len(compared),
            "signature": with_settings(
                f"metric:{chosen.name}|test:runs|design:{design}|unit:{unit}|version:{__version__}", statistics
            ),
            "notes": notes,
        }
        | estimates.cells(confidence_level, 1 if chosen.higher_is_better else -1),
    )
    return RunComparison(
        table=statistics.as_read(rows),
        statistics=statistics,
        metric=chosen,
        notes=tuple(dict.fromkeys(chain(*notes, statistics.notes))),
        _rows=rows,
    )


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `compare_runs` as "table" (for a terminal), "markdown" or "latex".

    Lines below the table explain the p-values, the components of the variance, and the effect of more segments or runs.
    In LaTeX they are comments.
    """
    rows = table.assign(runs=[f"{a} and {b}" for a, b in table[["n_runs_a", "n_runs_b"]].itertuples(index=False)])
    columns = [
        *RUNS.view(metric="", system_a="A", system_b="B", runs="", score_a="", score_b=""),
        replace(DIFFERENCE, heading="A − B [95 %]"),
        *RUNS.view(better="", pvalue_outputs="", pvalue=""),
    ]
    lines = [
        "p (outputs): would these outputs, averaged over runs, differ on other test sets from the same source?",
        "p: would they differ there if the systems were run again? The interval answers the same question",
    ]
    if table["n_compared"].max() > 1:
        columns.append(RUNS["pvalue_holm"])
        lines.append("p (Holm): p, adjusted for the number of pairs")
    for row in table.itertuples(index=False):
        lines += [f"{_about(row)}: {sentence}" for sentence in made_of(row)]
    return rendering.render(rows, columns, format, notes=[*lines, *caveats(table)])


def _about(row: Any) -> str:
    return f"{row.metric}, {row.system_a} and {row.system_b}"


def caveats(table: pd.DataFrame) -> list[str]:
    """What the p-values and intervals of each row do not cover."""
    return [f"{_about(row)}: {note}" for row in table.itertuples(index=False) for note in row.notes]


def variance_shares(row: Any) -> list[tuple[str, float]]:
    """The sources of the variance of a gain between single runs, with their shares; none if that is unknown."""
    parts = {"the test set": row.sd_test_set, "training": row.sd_training, "single segments": row.sd_rest}
    if row.design == "nested":
        parts = {"the test set": row.sd_test_set, "sampling": row.sd_rest}
    whole = math.fsum(sd**2 for sd in parts.values())
    return [(name, sd**2 / whole) for name, sd in parts.items()] if whole > 0 else []  # nan for a single run


def made_of(row: Any) -> list[str]:
    """Sentences about the components of a gain's variance, and about what would reduce it."""
    sentences = []
    if parts := variance_shares(row):
        shares = [f"{100 * share:.0f} % from {name}" for name, share in parts]
        if row.design == "crossed":
            low, high = row.sd_training_low, row.sd_training_high
            shares[1] += f" (standard deviation {row.sd_training:.2g}, 95 % CI {low:.2g} to {high:.2g})"
        sentences.append(f"variance of a gain between single runs: {', '.join(shares)}")
    wanted = [("segments", row.error_twice_segments, row.pvalue_twice_segments)]
    wanted.append(("runs", row.error_twice_runs, row.pvalue_twice_runs))
    description = ", ".join(
        f"{error:.2g} with twice the {size} (p = {p:.2g})" for size, error, p in wanted if error == error
    )
    sentences.append(f"standard error {row.standard_error:.2g}; with the same gain, it would be {description}")
    return sentences


@dataclass(frozen=True)
class _System:
    """Estimates from the runs of one system.

    `total` is s²; `rest` is g², with its standard error; all are nan for a single run. `mean` is ū, (units,).
    """

    name: str
    rows: NDArray[np.intp]
    quality: Floats
    mean: Floats
    total: float = math.nan
    rest: float = math.nan
    rest_error: float = math.nan

    @classmethod
    def of(cls, name: str, rows: NDArray[np.intp], quality: Floats, contributed: Floats, design: Design) -> _System:
        k, n = contributed.shape
        centred = contributed - contributed.mean(axis=1, keepdims=True)
        mean = centred.mean(axis=0)
        if k < LEAST:
            return cls(name, rows, quality, mean)
        apart = centred - mean
        if design == "nested":
            # Every unit is sampled anew: the deviation of a run's score is a sum of noise in its units.
            apart = apart + (quality - quality.mean())[:, None] / n
        squares = np.square(apart).sum(axis=0) / (k - 1)
        scale = 1.0 if design == "nested" else n / (n - 1)
        equal = np.ptp(quality) <= _BAND * np.abs(quality).max()
        return cls(
            name, rows, quality, mean,
            total=0.0 if equal else float(quality.var(ddof=1)),
            rest=scale * float(squares.sum()),
            rest_error=scale * math.sqrt(n) * float(squares.std()),
        )  # fmt: skip

    @property
    def k(self) -> int:
        return len(self.rows)


def _systems(statistics: Statistics, scorer: Scorer, contributed: Floats, design: Design) -> list[_System]:
    """The systems, whose runs are the rows of `statistics` and of `contributed` (runs × units)."""
    names = list(dict.fromkeys(statistics.methods))
    if len(names) < 2:
        raise InputError(f"found runs of one system only, {named(names[0])}, expected at least two systems to compare")
    rows = {name: np.flatnonzero(np.array(statistics.methods) == name) for name in names}
    return [_System.of(name, rows[name], scorer.quality[rows[name]], contributed[rows[name]], design) for name in names]


def _check_runs(systems: Sequence[_System], *, named_runs: bool) -> None:
    """Raise `InputError` for a system with too few runs to estimate how much they differ."""
    lacking = next((system.name for system in systems if system.k < LEAST), None)
    if lacking is not None:
        numbered = "; the data name no runs: --numbered or Statistics.numbered() finds NAME-1, NAME-2, …"
        raise InputError(
            f"system {named(lacking)} has one run, expected at least {LEAST} to estimate how much runs differ"
            f"{'' if named_runs else numbered}"
        )


@dataclass(frozen=True)
class _Estimates:
    """Pairs of systems: D, S² with its degrees of freedom, and for each system (pairs × 2) k, s² − g², s² and g²."""

    gain: Floats
    segments: Floats
    degrees: Floats
    k: Floats
    training: Floats
    rest: Floats
    total: Floats
    rest_error: Floats
    n_units: int
    nested: bool
    largest: float  # the largest possible gain; inf if it is unknown

    @classmethod
    def of(cls, systems: Sequence[_System], pairs: NDArray[np.intp], design: Design, largest: float) -> _Estimates:
        means, total, rest, rest_error, k = (
            np.array([value(system) for system in systems])[pairs]
            for value in (
                lambda s: s.quality.mean(), lambda s: s.total, lambda s: s.rest, lambda s: s.rest_error,
                lambda s: float(s.k),
            )
        )  # fmt: skip
        sums, degrees = np.empty((2, len(pairs)))
        for row, (first, second) in enumerate(pairs.tolist()):
            difference = systems[first].mean - systems[second].mean
            size = max(np.abs(systems[first].mean).max(), np.abs(systems[second].mean).max())
            difference[np.abs(difference) <= ACCURACY * size] = 0.0
            squares = np.square(difference)
            sums[row], degrees[row] = squares.sum(), degrees_of_freedom(squares)
        n = len(systems[0].mean)
        nested = design == "nested"
        return cls(
            gain=means[:, 0] - means[:, 1],
            segments=n / (n - 1) * sums,
            degrees=degrees,
            k=k,
            training=np.zeros(k.shape) if nested else np.maximum(0.0, total - rest),
            rest=rest,
            total=total,
            rest_error=np.hypot(*rest_error.T),
            n_units=n,
            nested=nested,
            largest=largest,
        )

    @property
    def variance(self) -> Floats:
        """V."""
        variance: Floats = self.segments + (self.training / self.k).sum(axis=1)
        return variance

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of V. An estimate of s² counts even where it is below g²."""
        doubt = self.segments**2 / self.degrees
        if not self.nested:
            doubt += (np.square((self.training + self.rest) / self.k) / (self.k - 1)).sum(axis=1)
        degrees: Floats = np.full(len(doubt), self.n_units - 1.0)
        return np.divide(self.variance**2, doubt, out=degrees, where=doubt > 0)

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """Whether the runs say enough for an interval of the gain: at least `_LEAST_FREEDOM` degrees of freedom."""
        enough: NDArray[np.bool_] = (self.variance > 0) & (self.freedom >= _LEAST_FREEDOM)
        return enough

    @property
    def test_set(self) -> Floats:
        """The part of the variance of D that more runs do not reduce."""
        variance: Floats = np.maximum(0.0, self.segments - (self.rest / self.k).sum(axis=1))
        return variance

    def pvalues(self, variance: Floats, degrees: Floats) -> Floats:
        """Two-sided p-values: 1 where the gain or the variance is 0, since such data do not show what may vary."""
        from scipy.special import stdtr  # scipy.stats would cost a second to import

        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * stdtr(degrees, -np.abs(self.gain) / np.sqrt(variance))
        return np.where((self.gain == 0) | (variance == 0), 1.0, p)

    @property
    def pvalue(self) -> Floats:
        return self.pvalues(self.variance, self.freedom)

    def cells(self, confidence_level: float, sign: int) -> dict[str, Floats]:
        """Columns of the table; `sign` is −1 where lower is better."""
        from scipy.special import stdtrit

        error = np.sqrt(self.variance)
        reach = stdtrit(self.freedom, (1 + confidence_level) / 2) * np.where(self.has_interval, error, np.nan)
        low, high = sign * self.gain - reach, sign * self.gain + reach
        segments = replace(self, segments=self.segments / 2, degrees=2 * self.degrees, rest=self.rest / 2)  # twice them
        runs = replace(self, segments=self.test_set + (self.rest / (2 * self.k)).sum(axis=1), k=2 * self.k)
        cells = {
            "ci_low": np.maximum(low, -self.largest),
            "ci_high": np.minimum(high, self.largest),
            "standard_error": error,
            "pvalue_outputs": self.pvalues(self.segments, self.degrees),
            "pvalue": self.pvalue,
            "error_twice_segments": np.sqrt(segments.variance),
            "pvalue_twice_segments": segments.pvalue,
            "error_twice_runs": np.sqrt(runs.variance),
            "pvalue_twice_runs": runs.pvalue,
        }
        for name, ends in self._parts((1 - confidence_level) / 2).items():
            for suffix, variance in zip(("", "_low", "_high"), ends, strict=True):
                # No part of a gain's standard deviation exceeds the largest gain.
                cells[f"sd_{name}{suffix}"] = np.minimum(np.sqrt(np.maximum(0.0, variance)), self.largest)
        return cells

    def _parts(self, below: float) -> dict[str, tuple[Floats, Floats, Floats]]:
        """The variances of a gain between single runs, with their intervals; an end may be below 0."""
        from scipy.special import ndtri

        rest, inner, training = self.rest.sum(axis=1), (self.rest / self.k).sum(axis=1), self.training.sum(axis=1)
        doubt = np.divide(self.rest_error, rest, out=np.zeros(len(rest)), where=rest > 0)
        spread = np.exp(-float(ndtri(below)) * doubt)
        low, high = sum_of_variances(self.segments[:, None], self.degrees[:, None], below)
        less, more = np.full((2, len(rest)), np.nan)
        if not self.nested:
            less, more = sum_of_variances(self.total, self.k - 1, below)
        return {
            "test_set": (self.test_set, low - inner, high - inner),
            "training": (training, less - rest, more - rest),
            "rest": (rest, rest / spread, rest * spread),
        }


def sum_of_variances(variances: Floats, degrees: Floats, below: float) -> tuple[Floats, Floats]:
    """Intervals of sums of variances (sums × variances), with two tails of `below` (Graybill and Wang 1980)."""
    from scipy.special import chdtri

    down = variances * (1 - degrees / chdtri(degrees, below))
    up = variances * (degrees / chdtri(degrees, 1 - below) - 1)
    total = variances.sum(axis=1)
    return total - np.sqrt(np.square(down).sum(axis=1)), total + np.sqrt(np.square(up).sum(axis=1))


def _notes(
    estimates: _Estimates, systems: Sequence[_System], pairs: Sequence[tuple[int, int]], unit: Unit
) -> list[list[str]]:
    """Warnings about the p-value over runs, for each pair."""
    of_system = [_note(system, estimates.nested, unit) for system in systems]
    few_units = f"{estimates.n_units} {unit}s are too few for the normal approximation of p-values and intervals"
    flat = f"the difference is the same on every {unit}, which does not show how much it varies, so p (outputs) is 1"
    without = (estimates.variance > 0) & ~estimates.has_interval
    notes = []
    for row, (a, b) in enumerate(pairs):
        p, fewest = float(estimates.pvalue[row]), min(systems[a].k, systems[b].k)
        constant = flat * bool(estimates.segments[row] == 0)
        if estimates.variance[row] == 0:
            constant = f"{flat}, p is 1, and there is no interval"
        failures = (
            "a failure that befalls one run in ten is often not among so few runs, and then neither the p-value nor "
            "the interval covers it"
        )
        notes.append([
            "there are too few runs for a confidence interval (fewer than two degrees of freedom)" * bool(without[row]),
            few_units * (estimates.n_units < FEW_UNITS),
            of_system[a],
            of_system[b],
            f"p below {SMALL_P:g} shows the order of magnitude only, since the normal approximation fails there"
            * (0 < p < SMALL_P),
            constant,
            failures * (not estimates.nested and fewest < _MANY_RUNS),
        ])  # fmt: skip
    return [list(filter(None, of_pair)) for of_pair in notes]


def _note(system: _System, nested: bool, unit: Unit) -> str:
    from scipy.special import chdtrc

    if not nested and system.k < FEW_RUNS:
        return (
            f"{system.name} has {system.k} runs, too few to estimate the training variance well: the false-positive "
            "rate of p < 0.05 is 3 to 12 %"
        )
    if nested and system.k >= LEAST and system.rest > 0:
        drift = float(chdtrc(system.k - 1, (system.k - 1) * system.total / system.rest))
        if drift < _DRIFT:
            return (
                f"the mean scores of the runs of {system.name} differ more than they would if each {unit} were sampled "
                f"anew (p = {drift:.1g}): use --design crossed if the runs are trainings"
            )
    return ""
