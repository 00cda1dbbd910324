"""Methods with several runs: whether a method would be better again if it were run again.

A run is a training with another seed or training set, or one of several outputs sampled from a generative model. In a
**crossed** design a run is the same for all units (segments or documents), as a training is. In a **nested** design
every unit is sampled anew, so the units show all variance between runs. Two methods share their units, but not their
runs. See docs/methods.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons import inputs
from pairsig.comparisons.baseline import pairs_with_one
from pairsig.core import definitions, random_streams
from pairsig.core.compiled import compiled
from pairsig.core.engine import MAX_SEED, Progress, Resampling, Scorer, Seed, seed_of
from pairsig.core.influence import ACCURACY, influence_values
from pairsig.core.statistics import Statistics
from pairsig.io import rendering
from pairsig.io.choices import check_level, choose
from pairsig.io.columns import DIFFERENCE, METHODS
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.stats.intervals import degrees_of_freedom, passed_or_failed
from pairsig.stats.multiple_testing import holm
from pairsig.stats.paired import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Design = Literal["crossed", "nested"]
Floats = NDArray[np.float64]

LEAST = 2
"""Fewest runs from which their variance can be estimated."""

_LEAST_FREEDOM = 1.999
"""With fewer degrees of freedom, an interval of 95 % reaches further than four standard errors: it says nothing."""

FEW_RUNS, FEW_UNITS, SMALL_P = 3, 50, 1e-4
"""Below these numbers, a note warns about the p-value of the method."""

_NORMAL = 1024
"""Number of quantiles that represent runs whose variance is specified."""

_DRIFT = 1e-3
"""Significance level at which runs that are declared nested are found to differ as wholes."""


def design_of(statistics: Statistics) -> Design:
    """The design that the data declare: nested if a log says that every item was sampled anew, else crossed."""
    return "nested" if statistics.provenance.get("design") == "nested" else "crossed"


@dataclass(frozen=True, kw_only=True, repr=False)
class MethodComparison(TableResult):
    """Methods with several runs, compared in pairs over their runs and the test set: what `compare_methods` returns.

    `print` shows the table that `pairsig compare` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per pair of methods, in the kind of data frame that was passed; the columns are those of
        `pairsig methods`.
    statistics, metric
        What was compared. Every other function of pairsig accepts them.
    notes
        Sentences about what the p-values and intervals do not cover.

    See Also
    --------
    compare_methods : Returns this.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> result = compare_methods({"old": rng.random((3, 50, 1)) < 0.4, "new": rng.random((3, 50, 1)) < 0.8})
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

        columns = ["method_a", "method_b", "difference", "ci_low", "ci_high"]
        rows = [(f"{a} − {b}", *ends) for a, b, *ends in signed(self._rows)[columns].itertuples(index=False)]
        return pictures.intervals(rows, f"difference, points of {self.metric.name}, over runs and test sets")


def compare_methods(
    data: inputs.Data,
    *,
    metric: str | Metric | None = None,
    baseline: str | None = None,
    design: Design | None = None,
    training_sd: float | None = None,
    unit: Unit = "segment",
    confidence_level: float = 0.95,
    n_resamples: int = 0,
    rng: Seed = 2012,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MethodComparison:
    """Compare methods that were run several times, over their runs and the test set together.

    Two p-values answer two questions. `pvalue_outputs`: would these outputs differ on other test sets? `pvalue_method`:
    would the methods differ there if they were trained, or sampled, again?

    Parameters
    ----------
    data, metric
        The scores of all runs, as for `compare`: `Statistics` with runs, or one array (runs × segments × columns) per
        system. `Statistics.numbered` finds the runs METHOD-1, METHOD-2, ….
    baseline
        Name of the method that every other is compared to; it is method B. Default: all pairs.
    design
        "crossed" if a run is the same for all segments, as a training is, or "nested" if every segment was sampled
        anew. Default: what the data say, else "crossed".
    training_sd
        Standard deviation of a score between runs, in points, on an infinitely large test set, if it is known from
        elsewhere. It replaces s² − g² for both methods, and one run of each is enough.
    unit
        "document" to take whole documents as units.
    confidence_level
        Of the intervals.
    n_resamples
        Number of resamples for `pvalue_bootstrap`; 0 for none.
    rng
        Seed of the random numbers: a whole number, or anything else that `numpy.random.default_rng` takes.
    threads
        Number of threads; default: all cores. It changes nothing but time.
    progress
        Called with numbers of resamples as they are finished.

    Returns
    -------
    MethodComparison
        `print` it for the table of `pairsig compare`. `.table` has one row per pair. `standard_error` is √V; `ci_low`
        and `ci_high` are the ends of D ± t √V. `pvalue_holm` adjusts `pvalue_method` for the number of pairs. The three
        standard deviations refer to a gain between *one* run of each method: `sd_test_set` is the part of the test set
        (S² minus g²/k of both), `sd_training` that of training (Σ s² − g²), and `sd_rest` the differences between runs
        on single units (Σ g²; in a nested design, sampling). The columns `…_twice_…` are expected with twice the
        segments or runs, if gain and variances stay the same. `doubt` has sentences about the limits of the row.

    Raises
    ------
    InputError
        If a method has a single run where more are needed, if there are fewer than two methods or units, or if a number
        is out of range.

    See Also
    --------
    compare : One p-value per pair; uses this test if the data have runs.

    Notes
    -----
    D is the difference between the mean scores of two methods over their k runs. S² is its variance over test sets for
    these runs, s² the variance between the scores of a method's runs, and g² the part of s² that another test set would
    change. With T Student's distribution, `pvalue_outputs` is 2 T(−|D| / S), and `pvalue_method` is 2 T(−|D| / √V) with
    V = S² + Σ max(0, s² − g²)/k in a crossed design and V = S² in a nested one (degrees of freedom: Satterthwaite
    1946). Below p = 1e-4, and with fewer than 50 units, it shows the order of magnitude only. Where S² or V is 0, the
    data do not show how much the difference varies: then p is 1, and for V = 0 the interval is nan.
    docs/methods.md has all formulas, the bootstrap of both levels, and simulated error rates.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> rate = np.array([[0.60, 0.66, 0.63], [0.66, 0.72, 0.69]])  # of three trainings of two methods
    >>> passed = np.random.default_rng(3).random((2, 3, 500)) < rate[:, :, None]
    >>> result = pairsig.compare_methods({"old": passed[0][..., None], "new": passed[1][..., None]})
    >>> result.table[["better", "gain", "pvalue_outputs", "pvalue_method"]].round(4)
      better  gain  pvalue_outputs  pvalue_method
    0    new  0.06          0.0003         0.1485
    """
    statistics, chosen = inputs.prepared(data, metric)
    design = design_of(statistics) if design is None else design
    resampling = Resampling(n_resamples, seed_of(rng), threads) if n_resamples else None
    _check(design, training_sd, confidence_level)
    counts = statistics.of_units(chosen, unit)
    if counts.shape[1] < 2:
        raise InputError(f"found a test set of one {unit}, expected at least two to estimate how much scores vary")
    scorer = Scorer(counts, chosen, statistics.systems)
    methods = _methods(statistics, scorer, influence_values(counts, chosen), design)
    if design == "crossed" and training_sd is None:
        _check_runs(methods, named_runs=any(statistics.runs))
    names = [method.name for method in methods]
    first, second = (side.tolist() for side in np.triu_indices(len(methods), k=1))
    pairs = list(zip(first, second, strict=True))
    if baseline is not None:
        pairs = [(names.index(a), names.index(b)) for a, b in pairs_with_one(names, baseline)]
    resampled = np.full(len(pairs), np.nan)
    if resampling is not None:
        shrunk = training_sd if design == "crossed" else 0.0
        resampled = _bootstrap(scorer, methods, pairs, shrunk, resampling, progress)
    largest = passed_or_failed(counts, chosen) or chosen.scale or math.inf
    estimates = _Pairs.of(methods, np.array(pairs), design, training_sd, largest)
    missing = statistics.provenance.get("missing")
    left = f"--missing {missing.replace(':', ' was applied to ')} items without a score" if missing else ""
    doubts = [
        list(filter(None, [*notes, left])) for notes in _notes(estimates, methods, pairs, unit, training_sd is not None)
    ]
    gain, names_of = estimates.gain, np.array(names, dtype=object)
    a, b = np.array(pairs).T
    scores = np.array([scorer.scores[method.rows].mean() for method in methods])
    rows = frame(
        METHODS,
        {
            "metric": chosen.name,
            "method_a": names_of[a],
            "method_b": names_of[b],
            "n_runs_a": estimates.k[:, 0].astype(int),
            "n_runs_b": estimates.k[:, 1].astype(int),
            "n_segments": statistics.counts.shape[1],
            "design": design,
            "score_a": scores[a],
            "score_b": scores[b],
            "better": np.select([gain > 0, gain < 0], [names_of[a], names_of[b]], ""),
            "pvalue_bootstrap": np.where((estimates.variance == 0) & (n_resamples > 0), 1.0, resampled),
            "pvalue_holm": holm(estimates.pvalue_method),
            "n_resamples": n_resamples,
            "training_sd_specified": training_sd is not None,
            "doubt": ["; ".join(doubt) for doubt in doubts],
        }
        | estimates.cells(confidence_level),
    )
    return MethodComparison(
        table=statistics.as_read(rows),
        statistics=statistics,
        metric=chosen,
        notes=tuple(dict.fromkeys(chain(*doubts, statistics.notes))),
        _rows=rows,
    )


def cheapest(test_set: float, sampling: float, item_cost: float) -> float:
    """The whole number of answers per item with the smallest variance of the gain for the money; inf if there is none.

    n items with k answers each have the variance (T + S/k)/n; `test_set` and `sampling` are √T and √S. They cost
    n(R + k) if an item costs as much as R answers. The product is smallest for k = √(R S/T) (Cochran, Sampling
    Techniques, 1977, section 10.6).

    >>> cheapest(0.5, 0.5, 0), cheapest(0.5, 0.5, 10), cheapest(0.3, 0.6, 100)
    (1.0, 3.0, 20.0)
    """
    if item_cost == 0 or sampling == 0:
        return 1.0
    if test_set == 0:
        return math.inf
    best = math.sqrt(item_cost) * sampling / test_set
    return min(
        (max(1.0, float(math.floor(best))), float(math.ceil(best))),
        key=lambda k: (test_set**2 + sampling**2 / k) * (item_cost + k),
    )


def check_item_cost(table: pd.DataFrame, item_cost: float | None) -> None:
    """Refuse an impossible cost of an item, or one for crossed runs."""
    if item_cost is not None:
        if not (math.isfinite(item_cost) and item_cost >= 0):
            raise InputError(f"found the item cost {item_cost:g}, expected a number of answers, 0 or more")
        if (table["design"] != "nested").any():
            raise InputError("found an item cost for crossed runs, expected nested ones (--design nested)")


def render(table: pd.DataFrame, format: str, item_cost: float | None = None) -> str:  # noqa: A002
    """The table of `compare_methods` as "table" (for a terminal), "markdown" or "latex".

    Lines below the table explain the p-values, the components of the variance, and the effect of more segments or runs.
    In LaTeX they are comments. With `item_cost` they also say how many answers per item are the `cheapest`.
    """
    rows = signed(table).assign(
        runs=[f"{a} and {b}" for a, b in table[["n_runs_a", "n_runs_b"]].itertuples(index=False)]
    )
    columns = [
        *METHODS.view(metric="", method_a="A", method_b="B", runs="", score_a="", score_b=""),
        replace(DIFFERENCE, heading="A − B [95 %]"),
        *METHODS.view(better="", pvalue_outputs="", pvalue_method=""),
    ]
    lines = [
        "p (outputs): would these outputs, averaged over runs, differ on other test sets from the same source?",
        "p (method): would they differ there if the methods were run again? The interval answers the same question",
    ]
    if len(table) > 1:
        columns.append(METHODS["pvalue_holm"])
        lines.append("p (Holm): p (method), adjusted for the number of rows in this table")
    if table["n_resamples"].any():
        columns.append(METHODS["pvalue_bootstrap"])
        lines.append("p (bootstrap): as p (method), by drawing segments and runs; too small for few runs")
    for row in table.itertuples(index=False):
        lines += [f"{_about(row)}: {sentence}" for sentence in made_of(row, item_cost)]
    lines += caveats(table)
    return rendering.render(rows, columns, format, notes=lines)


def _about(row: Any) -> str:
    return f"{row.metric}, {row.method_a} and {row.method_b}"


def caveats(table: pd.DataFrame) -> list[str]:
    """What the p-values and intervals of each row do not cover."""
    sentences = []
    for row in table.itertuples(index=False):
        sentences += [f"{_about(row)}: {sentence}" for sentence in row.doubt.split("; ") if sentence]
    return sentences


def signed(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `compare_methods` with `difference`, score(a) − score(b), and with its interval."""
    difference, low, high = table["score_a"] - table["score_b"], table["ci_low"], table["ci_high"]
    ahead = difference >= 0
    return table.assign(difference=difference, ci_low=low.where(ahead, -high), ci_high=high.where(ahead, -low))


def variance_shares(row: Any) -> list[tuple[str, float]]:
    """The sources of the variance of a gain between single runs, with their shares; none if that is unknown."""
    parts = {"the test set": row.sd_test_set, "training": row.sd_training, "single segments": row.sd_rest}
    if row.design == "nested":
        parts = {"the test set": row.sd_test_set, "sampling": row.sd_rest}
    whole = math.fsum(sd**2 for sd in parts.values())
    return [(name, sd**2 / whole) for name, sd in parts.items()] if whole > 0 else []  # nan for a single run


def made_of(row: Any, item_cost: float | None = None) -> list[str]:
    """Sentences about the components of a gain's variance, and about what would reduce it."""
    sentences = []
    if parts := variance_shares(row):
        shares = [f"{100 * share:.0f} % from {name}" for name, share in parts]
        if not (row.training_sd_specified or row.design == "nested"):
            low, high = row.sd_training_low, row.sd_training_high
            shares[1] += f" (standard deviation {row.sd_training:.2g}, 95 % CI {low:.2g} to {high:.2g})"
        sentences.append(f"variance of a gain between single runs: {', '.join(shares)}")
    wanted = [("segments", row.error_twice_segments, row.pvalue_twice_segments)]
    wanted.append(("runs", row.error_twice_runs, row.pvalue_twice_runs))
    description = ", ".join(
        f"{error:.2g} with twice the {size} (p = {p:.2g})" for size, error, p in wanted if error == error
    )
    sentences.append(f"standard error {row.standard_error:.2g}; with the same gain, it would be {description}")
    if item_cost is not None and math.isfinite(row.sd_rest):
        best, low, high = (
            cheapest(*parts, item_cost)
            for parts in (
                (row.sd_test_set, row.sd_rest),
                (row.sd_test_set_high, row.sd_rest_low),
                (row.sd_test_set_low, row.sd_rest_high),
            )
        )
        many = f"at least {low:,.0f} answers"
        if math.isfinite(best):
            many = f"{best:,.0f} [{low:,.0f}, {f'{high:,.0f}' if math.isfinite(high) else 'no limit'}] answers"
        sentences.append(f"if an item costs as much as {item_cost:g} answers, {many} per item are cheapest")
    return sentences


def _check(design: str, training_sd: float | None, confidence_level: float) -> None:
    choose(design, ("crossed", "nested"), "design")
    check_level(confidence_level, "confidence level")
    if training_sd is None:
        return
    if not (math.isfinite(training_sd) and training_sd >= 0):
        raise InputError(f"found the standard deviation of training {training_sd}, expected a number, 0 or more")
    if design == "nested":
        raise InputError(
            "found a standard deviation of training for nested runs, expected none: every segment is sampled anew"
        )


@dataclass(frozen=True)
class _Method:
    """Estimates from the runs of one method.

    `total` is s²; `rest` is g², with its standard error; all are nan for a single run. `mean` is ū, (units,).
    """

    name: str
    rows: NDArray[np.intp]
    quality: Floats
    mean: Floats
    total: float
    rest: float
    rest_error: float

    @classmethod
    def of(cls, name: str, rows: NDArray[np.intp], quality: Floats, contributed: Floats, design: Design) -> _Method:
        k, n = contributed.shape
        centred = contributed - contributed.mean(axis=1, keepdims=True)
        mean = centred.mean(axis=0)
        if k < LEAST:
            return cls(name, rows, quality, mean, math.nan, math.nan, math.nan)
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


def _methods(statistics: Statistics, scorer: Scorer, contributed: Floats, design: Design) -> list[_Method]:
    """The methods, whose runs are the rows of `statistics` and of `contributed` (runs × units)."""
    names = list(dict.fromkeys(statistics.methods))
    if len(names) < 2:
        raise InputError(f"found runs of one method only, {named(names[0])}, expected at least two methods to compare")
    rows = {name: np.flatnonzero(np.array(statistics.methods) == name) for name in names}
    return [_Method.of(name, rows[name], scorer.quality[rows[name]], contributed[rows[name]], design) for name in names]


def _check_runs(methods: Sequence[_Method], *, named_runs: bool) -> None:
    """Raise `InputError` for a method with too few runs to estimate how much they differ."""
    lacking = next((method.name for method in methods if method.k < LEAST), None)
    if lacking is not None:
        numbered = "; the data name no runs: --numbered or Statistics.numbered() finds NAME-1, NAME-2, …"
        raise InputError(
            f"system {named(lacking)} has one run, expected at least {LEAST} to estimate how much runs differ, or "
            f"the standard deviation of training (--training-sd, training_sd=){'' if named_runs else numbered}"
        )


@dataclass(frozen=True)
class _Pairs:
    """Pairs of methods: D, S² with its degrees of freedom, and for each method (pairs × 2) k, s² − g² and g².

    `known` says that s² − g² is not estimated from runs, but 0 (nested) or specified.
    """

    gain: Floats
    segments: Floats
    degrees: Floats
    k: Floats
    training: Floats
    rest: Floats
    total: Floats
    rest_error: Floats
    n_units: int
    known: bool
    largest: float  # the largest possible gain; inf if it is unknown

    @classmethod
    def of(
        cls,
        methods: Sequence[_Method],
        pairs: NDArray[np.intp],
        design: Design,
        training_sd: float | None,
        largest: float,
    ) -> _Pairs:
        means, total, rest, rest_error, k = (
            np.array(values)[pairs]
            for values in zip(
                *(
                    (method.quality.mean(), method.total, method.rest, method.rest_error, float(method.k))
                    for method in methods
                ),
                strict=True,
            )
        )
        sums, degrees = np.empty((2, len(pairs)))
        for row, (first, second) in enumerate(pairs.tolist()):
            difference = methods[first].mean - methods[second].mean
            size = max(np.abs(methods[first].mean).max(), np.abs(methods[second].mean).max())
            difference[np.abs(difference) <= ACCURACY * size] = 0.0
            squares = np.square(difference)
            sums[row], degrees[row] = squares.sum(), degrees_of_freedom(squares)
        n = len(methods[0].mean)
        known = design == "nested" or training_sd is not None
        specified = np.full(k.shape, (training_sd or 0.0) ** 2)
        return cls(
            gain=means[:, 0] - means[:, 1],
            segments=n / (n - 1) * sums,
            degrees=degrees,
            k=k,
            training=specified if known else np.maximum(0.0, total - rest),
            rest=rest,
            total=total,
            rest_error=np.hypot(*rest_error.T),
            n_units=n,
            known=known,
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
        if not self.known:
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
    def pvalue_method(self) -> Floats:
        return self.pvalues(self.variance, self.freedom)

    def cells(self, confidence_level: float) -> dict[str, Floats]:
        """Columns of the table."""
        from scipy.special import stdtrit

        error = np.sqrt(self.variance)
        reach = stdtrit(self.freedom, (1 + confidence_level) / 2) * np.where(self.has_interval, error, np.nan)
        low, high = np.abs(self.gain) - reach, np.abs(self.gain) + reach
        segments = replace(self, segments=self.segments / 2, degrees=2 * self.degrees, rest=self.rest / 2)  # twice them
        runs = replace(self, segments=self.test_set + (self.rest / (2 * self.k)).sum(axis=1), k=2 * self.k)
        cells = {
            "gain": np.abs(self.gain),
            "ci_low": np.maximum(low, -self.largest),
            "ci_high": np.minimum(high, self.largest),
            "standard_error": error,
            "pvalue_outputs": self.pvalues(self.segments, self.degrees),
            "pvalue_method": self.pvalue_method,
            "error_twice_segments": np.sqrt(segments.variance),
            "pvalue_twice_segments": segments.pvalue_method,
            "error_twice_runs": np.sqrt(runs.variance),
            "pvalue_twice_runs": runs.pvalue_method,
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
        if not self.known:
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
    estimates: _Pairs, methods: Sequence[_Method], pairs: Sequence[tuple[int, int]], unit: Unit, specified: bool
) -> list[list[str]]:
    """Warnings about the p-value of the method, for each pair."""
    of_method = [_note(method, estimates.known, specified, unit) for method in methods]
    shared = ["the training variance was specified and is treated as known"] if specified else []
    if estimates.n_units < FEW_UNITS:
        shared.append(f"{estimates.n_units} {unit}s are too few for the normal approximation of p-values and intervals")
    small = (
        f"p (method) below {SMALL_P:g} shows the order of magnitude only, since the normal approximation fails there"
    )
    flat = f"the difference is the same on every {unit}, which does not show how much it varies, so p (outputs) is 1"
    constant = np.select(
        [estimates.variance == 0, estimates.segments == 0],
        [f"{flat}, p (method) is 1, and there is no interval", flat],
        "",
    )
    none = "there are too few runs for a confidence interval (fewer than two degrees of freedom)"
    without = (estimates.variance > 0) & ~estimates.has_interval
    return [
        list(filter(None, [none * few, *shared, of_method[a], of_method[b], small * (0 < p < SMALL_P), same]))
        for (a, b), p, same, few in zip(
            pairs, estimates.pvalue_method.tolist(), constant.tolist(), without.tolist(), strict=True
        )
    ]


def _note(method: _Method, known: bool, specified: bool, unit: Unit) -> str:
    from scipy.special import chdtrc

    if not known and method.k < FEW_RUNS:
        return (
            f"{method.name} has {method.k} runs, too few to estimate the training variance well: the false-positive "
            "rate of p (method) < 0.05 is 3 to 12 %"
        )
    if known and not specified and method.k >= LEAST and method.rest > 0:
        drift = float(chdtrc(method.k - 1, (method.k - 1) * method.total / method.rest))
        if drift < _DRIFT:
            return (
                f"the mean scores of the runs of {method.name} differ more than they would if each {unit} were sampled "
                f"anew (p = {drift:.1g}): use --design crossed if the runs are trainings"
            )
    return ""


def _bootstrap(
    scorer: Scorer,
    methods: Sequence[_Method],
    pairs: Sequence[tuple[int, int]],
    training_sd: float | None,
    resampling: Resampling,
    progress: Progress | None,
) -> Floats:
    """P-values of the bootstrap of both levels, see docs/methods.md."""
    first, second = np.array(pairs, dtype=np.intp).T
    means = np.array([method.quality.mean() for method in methods])
    gains = means[first] - means[second]
    averaging = np.zeros((len(methods), len(scorer.counts)))
    for row, method in enumerate(methods):
        averaging[row, method.rows] = 1 / method.k
    beyond = np.zeros(len(pairs), dtype=np.int64)
    adding = Lock()

    def add(scores: Floats, number: int) -> None:
        drawn = averaging @ scores
        for row, method in enumerate(methods):
            drawn[row] += _runs_drawn(method, training_sd, resampling.seed + (MAX_SEED + 1) * (row + 1), number, drawn)
        counted = np.zeros(len(pairs), dtype=np.int64)
        _count_beyond(drawn, first, second, gains, _BAND * np.abs(means).max(), counted)
        with adding:
            np.add(beyond, counted, out=beyond)

    scorer.for_each_batch(add, resampling, progress)
    return definitions.find("bootstrap").pvalue(beyond, resampling.n_resamples)


def _runs_drawn(method: _Method, training_sd: float | None, seed: int, first: int, like: Floats) -> Floats:
    """Mean score of the runs that were drawn, minus the mean of all runs, (resamples,)."""
    from scipy.special import ndtri

    n = like.shape[1]
    if training_sd is not None or method.k < LEAST:
        if not training_sd:
            return np.zeros(n)
        # Only the standard deviation of such runs is known: draw one of many normal quantiles.
        spread = ndtri((np.arange(_NORMAL) + 0.5) / _NORMAL)
        deviations, n_draws = spread * training_sd / math.sqrt(method.k) / spread.std(), 1
    else:
        share = max(0.0, 1 - method.rest / method.total) if method.total > 0 else 0.0
        deviations, n_draws = (method.quality - method.quality.mean()) * math.sqrt(share), method.k - 1
    counts = np.empty((n, len(deviations)))
    drawn = random_streams.bootstrap_counts(seed, first, n, len(deviations), n_draws=n_draws, out=counts)
    deviation: Floats = drawn @ deviations / n_draws
    return deviation


_BAND = 1e-12
"""Relative to the scores: draws that are closer to the border count as ties, and scores that are closer as equal."""


@compiled
def _count_beyond(drawn, first, second, gains, band, out):  # type: ignore[no-untyped-def]
    for pair in range(len(first)):
        a, b, gain = drawn[first[pair]], drawn[second[pair]], gains[pair]
        border = abs(gain) - band
        for resample in range(drawn.shape[1]):
            out[pair] += abs(a[resample] - b[resample] - gain) >= border
