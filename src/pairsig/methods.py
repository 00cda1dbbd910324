"""Is it the method? Gains between methods that were run several times, over their runs and the test set together.

A p-value of two outputs is about other test sets for these outputs. A run is a training with another seed or training
set, or one of several outputs sampled from a generative model: run again, the method has other outputs. With Y the
score of run r on unit i (segment or document), to first order for metrics that are no means,

    Y = μ + run + unit + rest,    variances σ²_run, σ²_unit and σ²_rest.

In a **crossed** design a run is the same for all units (the seed of a training), and n units and k runs give a mean
score with the variance σ²_run/k + σ²_unit/n + σ²_rest/(kn). In a **nested** one every unit is sampled anew: there is no
variance of runs that the units do not show. Of two methods the units are the same, and the runs are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Literal

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import NDArray

from pairsig import definitions, streams
from pairsig.all_pairs import only_metric
from pairsig.columns import METHODS
from pairsig.contributions import contributions
from pairsig.engine import MAX_SEED, Judge, Progress, Resampling
from pairsig.errors import InputError
from pairsig.intervals import degrees_of_freedom
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.statistics import Statistics, by_document
from pairsig.tables import as_json, frame, listed_below, printed

Design = Literal["crossed", "nested"]
Floats = NDArray[np.float64]

LEAST = 2
"""Runs from which their variance can be had."""

FEW_RUNS, FEW_UNITS, SMALL_P = 3, 50, 1e-4
"""Below these a note says what the p-value of the method is worth."""

_NORMAL = 1024
"""Runs that stand for those of a borrowed variance."""

_DRIFT = 1e-3
"""Level at which runs said to be nested are told to differ as wholes."""


def design_of(statistics: Statistics) -> Design:
    """Nested where the log that was read says that every item was sampled anew, else crossed."""
    return "nested" if statistics.provenance.get("design") == "nested" else "crossed"


def compare_methods(
    statistics: Statistics,
    *,
    metric: str | Metric | None = None,
    design: Design = "crossed",
    training_sd: float | None = None,
    unit: Unit = "segment",
    against: str | None = None,
    level: float = 0.95,
    n_resamples: int = 0,
    seed: int = 2012,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Test every pair of methods, over their runs and the test set.

    The score of a method is the mean over its runs, D the difference of two methods A and B, k_A and k_B their runs.
    With uᵣᵢ the contribution of unit i to the score of run r (see `contributions`), ūᵢ its mean over runs, both less
    their mean over units, and sums over units times n/(n − 1),

    * S² = Σᵢ (ūᵢᴬ − ūᵢᴮ)² is the variance of D over test sets, for these runs,
    * s² is the variance of the scores of a method's runs (n_runs − 1 in its denominator),
    * g² = Σᵣᵢ (uᵣᵢ − ūᵢ)² / (k − 1) is the part of s² that another test set would change. (In a nested design nothing
      is multiplied by n/(n − 1). Instead, an n-th of what a run's score is above the mean of all runs is added to each
      of its u, since that is noise of its units, too.)

    **These outputs**: p = 2 T(−|D| / S), T Student's with the degrees of freedom that S² has for the kurtosis of its
    terms (see `gain_interval`). That the runs were averaged is all it knows of them.

    **The method**, crossed: D has the variance V = S² + Σ max(0, s² − g²)/k over both methods, since S² holds what runs
    differ by on single units already. p = 2 T(−|D| / √V) with the degrees of freedom of Satterthwaite (1946),
    V² / (S⁴/degrees of S² + Σ (max(s², g²)/k)²/(k − 1)). Nested: V = S², and p is that of the outputs, even for one
    run each.

    **Bootstrap** of both levels: δ* is D on units drawn with replacement plus, of each method, the mean of k − 1 of its
    k runs drawn with replacement (Rao and Wu 1988: drawing k of k would lose 1/k of the variance), less D's; the runs'
    deviations are shrunk by √max(0, 1 − g²/s²), since the units have what they differ by there (drawing both levels
    as they are counts it three times: Owen 2007). p = (#{|δ* − D| >= |D|} + 1) / (b + 1). Its spread is √V, and
    nothing is normal in it but for small k it has no tails: see the table.

    How often p < 0.05 came up of equal methods, in % of 4,000 test sets of 500 units (± 0.7), by these outputs, by the
    method and by the bootstrap of both levels. Columns: the share of V that is the runs', a tenth being what they
    differ by on single units; in the last column it is all one method's, in the others half of each:

    =============  ===============  ===============  ================  ================  ================
    runs           0 %              20 %             50 %              85 %              85 %, one
    =============  ===============  ===============  ================  ================  ================
    2 and 2        4.6 / 3.8 / 4.2  8.0 / 4.7 / 5.5  16.6 / 5.2 / 8.3  45.4 / 5.6 / 18   45.1 / 10.0 / 22
    3 and 3        5.2 / 4.6 / 4.7  7.8 / 4.7 / 5.5  16.2 / 4.7 / 6.3  45.0 / 4.5 / 11   45.8 / 6.8 / 15
    5 and 5        4.4 / 4.1 / 4.2  8.2 / 5.0 / 5.3  16.3 / 4.7 / 6.1  46.5 / 4.3 / 8.4  44.3 / 5.0 / 10
    10 and 10      4.2 / 4.1 / 4.0  8.1 / 5.3 / 5.3  15.7 / 4.8 / 5.4  44.6 / 4.9 / 6.5  45.7 / 5.2 / 7.4
    2 and 10       4.8 / 4.4 / 4.5  8.0 / 4.4 / 5.0  17.5 / 5.7 / 7.5  44.4 / 5.5 / 9.6  43.5 / 11.2 / 22
    =============  ===============  ===============  ================  ================  ================

    100 % less these is how often the interval of the gain held it; that of the part of training did in 94 to 98 %. One
    run has no p of the method here, but with a borrowed variance that is true (5 %) or nested (5 %).

    Parameters
    ----------
    statistics
        Counts of all systems, with the runs of each; see `Statistics.numbered` for systems called METHOD-1, METHOD-2.
    metric
        A name or a `Metric`; may be left out when the columns fit one metric only.
    design
        Whether runs are crossed with the units, or nested in them.
    training_sd
        Standard deviation of the score between runs on a test set without end, in points, where it is borrowed: known
        from elsewhere. It stands for both methods instead of s² − g², and one run each is enough.
    unit
        "segment", or "document" to take whole documents for units.
    against
        Only pairs with this method, which comes first then.
    level
        Of the intervals.
    n_resamples, seed, threads
        Of the bootstrap of both levels; 0 for none.

    Returns
    -------
    Table `METHODS`, one row a pair of methods, in the order of the statistics. `standard_error` is √V, `ci_low` and
    `ci_high` are D ± t √V. The three standard deviations are those of a gain between *one* run of each method:
    of the test set (S² less g²/k of both), of training (Σ s² − g²) and of what runs differ by on single units (Σ g²;
    nested: sampling). Their intervals are those of Graybill and Wang (1980) for sums of variances, on the log scale
    for Σ g². What stands under `twice_…` is expected of as many segments or runs again if gain and variances remain.
    `doubt` has sentences, separated by semicolons, on what the row does not say.

    Raises
    ------
    InputError
        For one run of a method where more are needed, fewer than two methods, one unit, and numbers out of range.

    Notes
    -----
    Where normal theory fails: below p = 1e-4, or with fewer than 50 units, p of the method is an order of magnitude;
    with two runs of a method it comes up too often where the other method's runs do not vary (last column). Runs of
    two methods on the same resampled training sets are alike, which this does not use: p is rather too large then.

    References
    ----------
    Graybill and Wang, Confidence Intervals on Nonnegative Linear Combinations of Variances (JASA 75, 1980). Owen, The
    Pigeonhole Bootstrap (Annals of Applied Statistics 1, 2007). Rao and Wu, Resampling Inference with Complex Survey
    Data (JASA 83, 1988). Satterthwaite, An Approximate Distribution of Estimates of Variance Components (Biometrics
    Bulletin 2, 1946).

    Examples
    --------
    >>> import numpy as np
    >>> rate = np.array([[0.60, 0.66, 0.63], [0.66, 0.72, 0.69]])  # of three trainings of two methods
    >>> passed = np.random.default_rng(3).random((2, 3, 500)) < rate[:, :, None]
    >>> given = Statistics.from_arrays({"old": passed[0][..., None], "new": passed[1][..., None]}, ["value"])
    >>> compare_methods(given, metric="mean")[["better", "gain", "p_outputs", "p_method"]].round(4)
      better  gain  p_outputs  p_method
    0    new  0.06     0.0003    0.1485
    """
    chosen = registry.metric(metric) if metric is not None else only_metric(statistics)
    _check(design, training_sd, unit, level)
    counts = statistics.of(chosen)
    if unit == "document":
        counts = by_document(statistics.documents, counts)
    if counts.shape[1] < 2:
        raise InputError(f"the test set is a single {unit}, expected at least two to see how much scores vary")
    judge = Judge(counts, chosen, statistics.systems)
    names = list(dict.fromkeys(statistics.methods))
    if len(names) < 2:
        raise InputError(f"the systems are all runs of {names[0]}, expected two methods to compare")
    contributed = contributions(counts, chosen)
    methods = [
        _Method.of(name, rows, judge.quality[rows], contributed[rows], design)
        for name in names
        for rows in [np.array([row for row, own in enumerate(statistics.methods) if own == name])]
    ]
    lacking = next((method for method in methods if method.k < LEAST), None)
    if lacking is not None and design == "crossed" and training_sd is None:
        raise InputError(
            f"system {lacking.name} has one run, expected at least {LEAST} to see how much runs differ, or a standard "
            "deviation of training that is known from others"
            + ("" if any(statistics.runs) else "; no system is said to be a run of another, see --numbered")
        )
    first, second = (side.tolist() for side in np.triu_indices(len(methods), k=1))
    pairs = list(zip(first, second, strict=True))
    if against is not None:
        if against not in names:
            raise InputError(f"system {against} is not among {', '.join(names)}, expected one of them")
        base = names.index(against)
        pairs = [(base, other) for other in range(len(names)) if other != base]
    resampled = np.full(len(pairs), np.nan)
    if n_resamples:
        shrunk = training_sd if design == "crossed" else 0.0
        resampled = _bootstrap(judge, methods, pairs, shrunk, Resampling(n_resamples, seed, threads), progress)
    found = _Pairs.of(methods, np.array(pairs), design, training_sd)
    said = statistics.provenance.get("missing")
    left = f"items without a score were left to --missing {said.replace(':', ', ')} of them" if said else ""
    gain, names_of = found.gain, np.array(names, dtype=object)
    one, other = np.array(pairs).T
    scores = np.array([judge.scores[method.rows].mean() for method in methods])
    return frame(
        METHODS,
        pd.DataFrame(
            {
                "metric": chosen.name,
                "method_a": names_of[one],
                "method_b": names_of[other],
                "n_runs_a": found.k[:, 0].astype(int),
                "n_runs_b": found.k[:, 1].astype(int),
                "n_segments": statistics.counts.shape[1],
                "design": design,
                "score_a": scores[one],
                "score_b": scores[other],
                "better": np.select([gain > 0, gain < 0], [names_of[one], names_of[other]], ""),
                "p_bootstrap": resampled,
                "n_resamples": n_resamples,
                "borrowed": training_sd is not None,
                "doubt": [
                    "; ".join(filter(None, [note, left]))
                    for note in _notes(found, methods, pairs, unit, training_sd is not None)
                ],
            }
            | found.cells(level)
        ),
    )


def cheapest(test_set: float, sampling: float, item_cost: float) -> float:
    """How many answers to an item give the least variance of the gain for the money, where answers are sampled anew.

    n items with k answers each have the variance (T + S/k)/n, with T the part of the test set and S that of sampling,
    and cost n(R + k) if an item costs as much as R answers. Of both the product is least for k = √(R S/T)
    (Cochran, Sampling Techniques, 1977, section 10.6), rounded to the neighbour for which it is less, and at least 1.

    Parameters
    ----------
    test_set, sampling
        √T and √S, `sd_test_set` and `sd_rest` of `compare_methods`.
    item_cost
        R, 0 or more: what it costs to write, license or grade an item, in answers.

    Returns
    -------
    A whole number, or inf where the test set has no part: then one item would do.

    Examples
    --------
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


def render(table: pd.DataFrame, format: str, item_cost: float | None = None) -> str:  # noqa: A002
    """The table of `compare_methods` as `table` (for a terminal), `markdown`, `latex`, or `json`: a list of objects.

    What the p-values mean, what the variance is made of, what more of either would bring, and the notes of the rows are
    lines below it, comments in LaTeX. With `item_cost` also how many answers to an item are the `cheapest`.
    """
    if item_cost is not None:
        _check_cost(table, item_cost)
    if format == "json":
        return as_json(table)
    shown = pd.DataFrame(
        {
            "metric": table["metric"],
            "A": table["method_a"],
            "B": table["method_b"],
            "runs": [f"{a} and {b}" for a, b in table[["n_runs_a", "n_runs_b"]].itertuples(index=False)],
            "score A": table["score_a"].map("{:.2f}".format),
            "score B": table["score_b"].map("{:.2f}".format),
            "gain [95 %]": [
                f"{gain:.2f} [{low:.2f}, {high:.2f}]"
                for gain, low, high in table[["gain", "ci_low", "ci_high"]].itertuples(index=False)
            ],
            "better": table["better"].where(table["better"] != "", "–"),
            "p (outputs)": table["p_outputs"].map("{:.3g}".format),
            "p (method)": table["p_method"].map("{:.3g}".format),
        }
    )
    if table["n_resamples"].any():
        shown["p (bootstrap)"] = table["p_bootstrap"].map("{:.3g}".format)
    lines = [
        "p (outputs): are these outputs, on average, different on other test sets of this source?",
        "p (method): is the method, run again, different there? Its interval is that of the gain",
    ]
    if table["n_resamples"].any():
        lines.append("p (bootstrap): the same by drawing segments and runs; of few runs it is too small")
    for row in table.itertuples(index=False):
        about = f"{row.metric}, {row.method_a} and {row.method_b}: "
        lines += [about + sentence for sentence in (*made_of(row, item_cost), *filter(None, row.doubt.split("; ")))]
    return printed(shown, format) + ("\n" if format != "latex" else "") + listed_below(lines, format)


def made_of(row: Any, item_cost: float | None = None) -> list[str]:
    """What the variance of a gain is made of, and what would make it smaller."""
    sentences = []
    parts = {"the test set": row.sd_test_set, "training": row.sd_training, "single segments": row.sd_rest}
    if row.design == "nested":
        parts = {"the test set": row.sd_test_set, "sampling": row.sd_rest}
    whole = math.fsum(sd**2 for sd in parts.values())
    if whole > 0:  # which is not known of one run
        shares = [f"{100 * sd**2 / whole:.0f} % {name}" for name, sd in parts.items()]
        if not (row.borrowed or row.design == "nested"):
            low, high = row.sd_training_low, row.sd_training_high
            shares[1] += f" (a standard deviation of {row.sd_training:.2g}, 95 %: {low:.2g} to {high:.2g})"
        sentences.append(f"variance of a gain between one run each: {', '.join(shares)}")
    wanted = [("segments", row.error_twice_segments, row.p_twice_segments)]
    wanted.append(("runs", row.error_twice_runs, row.p_twice_runs))
    told = ", ".join(f"{error:.2g} with twice the {what} (p {p:.2g})" for what, error, p in wanted if error == error)
    sentences.append(f"standard error {row.standard_error:.2g}; if the gain stays, {told}")
    if item_cost is not None and math.isfinite(row.sd_rest):
        best, low, high = (
            cheapest(*parts, item_cost)
            for parts in (
                (row.sd_test_set, row.sd_rest),
                (row.sd_test_set_high, row.sd_rest_low),
                (row.sd_test_set_low, row.sd_rest_high),
            )
        )
        many = f"{low:,.0f} answers or more"
        if math.isfinite(best):
            many = f"{best:,.0f} [{low:,.0f}, {f'{high:,.0f}' if math.isfinite(high) else 'no limit'}] answers"
        sentences.append(f"if an item costs as much as {item_cost:g} answers, {many} to each are cheapest")
    return sentences


def _check_cost(table: pd.DataFrame, item_cost: float) -> None:
    if not (math.isfinite(item_cost) and item_cost >= 0):
        raise InputError(f"the cost of an item is {item_cost:g} answers, expected a number, 0 or more")
    if (table["design"] != "nested").any():
        raise InputError("the cost of an item is of use where every segment is sampled anew, expected nested runs")


def _check(design: str, training_sd: float | None, unit: str, level: float) -> None:
    if design not in ("crossed", "nested"):
        raise InputError(f"the design is {design!r}, expected crossed or nested")
    if unit not in ("segment", "document"):
        raise InputError(f"the unit is {unit!r}, expected segment or document")
    if not 0 < level < 1:
        raise InputError(f"the level is {level}, expected a number between 0 and 1")
    if training_sd is None:
        return
    if not (math.isfinite(training_sd) and training_sd >= 0):
        raise InputError(f"the standard deviation of training is {training_sd}, expected a number, 0 or more")
    if design == "nested":
        raise InputError("runs that are nested have no variance of training, expected none that is borrowed")


@dataclass(frozen=True)
class _Method:
    """What the runs of a method tell of it.

    `total` is s², `rest` g², with its standard error; nan of one run. `mean` is ū, (units,).
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
            # Every unit is sampled anew: by what a run's score is better, its units are, and that is noise of theirs.
            apart = apart + (quality - quality.mean())[:, None] / n
        squares = np.square(apart).sum(axis=0) / (k - 1)
        scale = 1.0 if design == "nested" else n / (n - 1)
        return cls(
            name, rows, quality, mean,
            total=float(quality.var(ddof=1)),
            rest=scale * float(squares.sum()),
            rest_error=scale * math.sqrt(n) * float(squares.std()),
        )  # fmt: skip

    @property
    def k(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class _Pairs:
    """Pairs of methods: D, S² with its degrees of freedom, and of each method (pairs × 2) k, s² − g², and g².

    `known`: s² − g² is not estimated from runs, but 0 (nested) or borrowed.
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

    @classmethod
    def of(
        cls, methods: Sequence[_Method], pairs: NDArray[np.intp], design: Design, training_sd: float | None
    ) -> _Pairs:
        means, total, rest, rest_error, k = (
            np.array(values)[pairs]
            for values in zip(
                *((own.quality.mean(), own.total, own.rest, own.rest_error, float(own.k)) for own in methods),
                strict=True,
            )
        )
        sums, degrees = np.empty((2, len(pairs)))
        for row, (one, other) in enumerate(pairs.tolist()):
            squares = np.square(methods[one].mean - methods[other].mean)
            sums[row], degrees[row] = squares.sum(), degrees_of_freedom(squares)
        n = len(methods[0].mean)
        known = design == "nested" or training_sd is not None
        borrowed = np.full(k.shape, (training_sd or 0.0) ** 2)
        return cls(
            gain=means[:, 0] - means[:, 1],
            segments=n / (n - 1) * sums,
            degrees=degrees,
            k=k,
            training=borrowed if known else np.maximum(0.0, total - rest),
            rest=rest,
            total=total,
            rest_error=np.hypot(*rest_error.T),
            n_units=n,
            known=known,
        )

    @property
    def variance(self) -> Floats:
        """V."""
        found: Floats = self.segments + (self.training / self.k).sum(axis=1)
        return found

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of V; what runs are estimated by counts even where it is less than g²."""
        doubt = self.segments**2 / self.degrees
        if not self.known:
            doubt += (np.square((self.training + self.rest) / self.k) / (self.k - 1)).sum(axis=1)
        found: Floats = np.full(len(doubt), self.n_units - 1.0)
        return np.divide(self.variance**2, doubt, out=found, where=doubt > 0)

    @property
    def test_set(self) -> Floats:
        """Variance of D that is the test set's, however many runs there are."""
        found: Floats = np.maximum(0.0, self.segments - (self.rest / self.k).sum(axis=1))
        return found

    def twice_segments(self) -> _Pairs:
        """What is expected of as many segments again."""
        return replace(self, segments=self.segments / 2, degrees=2 * self.degrees, rest=self.rest / 2)

    def twice_runs(self) -> _Pairs:
        """What is expected of as many runs again; nan where one run does not tell."""
        return replace(self, segments=self.test_set + (self.rest / (2 * self.k)).sum(axis=1), k=2 * self.k)

    def p_values(self, variance: Floats, degrees: Floats) -> Floats:
        """Two-sided; 1 where the gain is 0, and 0 where it is not and there is no variance."""
        from scipy.special import stdtr  # scipy.stats would cost a second to import

        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * stdtr(degrees, -np.abs(self.gain) / np.sqrt(variance))
        return np.where(self.gain == 0, 1.0, p)

    @property
    def p_method(self) -> Floats:
        return self.p_values(self.variance, self.freedom)

    def cells(self, level: float) -> dict[str, Floats]:
        """What the table says of them."""
        from scipy.special import stdtrit

        error = np.sqrt(self.variance)
        reach = stdtrit(self.freedom, (1 + level) / 2) * error
        segments, runs = self.twice_segments(), self.twice_runs()
        cells = {
            "gain": np.abs(self.gain),
            "ci_low": np.abs(self.gain) - reach,
            "ci_high": np.abs(self.gain) + reach,
            "standard_error": error,
            "p_outputs": self.p_values(self.segments, self.degrees),
            "p_method": self.p_method,
            "error_twice_segments": np.sqrt(segments.variance),
            "p_twice_segments": segments.p_method,
            "error_twice_runs": np.sqrt(runs.variance),
            "p_twice_runs": runs.p_method,
        }
        for name, ends in self._parts((1 - level) / 2).items():
            for suffix, variance in zip(("", "_low", "_high"), ends, strict=True):
                cells[f"sd_{name}{suffix}"] = np.sqrt(np.maximum(0.0, variance))
        return cells

    def _parts(self, below: float) -> dict[str, tuple[Floats, Floats, Floats]]:
        """The variances of a gain between one run of each, with their intervals; an end may be below 0."""
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
    """Interval of sums of variances that were estimated with these degrees of freedom (Graybill and Wang 1980).

    Parameters
    ----------
    variances, degrees
        Shape (sums × variances).
    below
        Share of the distribution below the interval, and above it.
    """
    from scipy.special import chdtri

    down = variances * (1 - degrees / chdtri(degrees, below))
    up = variances * (degrees / chdtri(degrees, 1 - below) - 1)
    total = variances.sum(axis=1)
    return total - np.sqrt(np.square(down).sum(axis=1)), total + np.sqrt(np.square(up).sum(axis=1))


def _notes(
    found: _Pairs, methods: Sequence[_Method], pairs: Sequence[tuple[int, int]], unit: Unit, borrowed: bool
) -> list[str]:
    """Sentences on what the p-value of the method is worth, one string a pair."""
    of_method = [_note(method, found.known, borrowed, unit) for method in methods]
    shared = ["the variance of training is borrowed, and taken as known"] if borrowed else []
    if found.n_units < FEW_UNITS:
        shared.append(f"{found.n_units} {unit}s are few for the normal distribution that p-values and intervals assume")
    small = f"below {SMALL_P:g} p (method) is an order of magnitude: so far out nothing is normal"
    return [
        "; ".join(filter(None, [*shared, of_method[a], of_method[b], small * (0 < p < SMALL_P)]))
        for (a, b), p in zip(pairs, found.p_method.tolist(), strict=True)
    ]


def _note(method: _Method, known: bool, borrowed: bool, unit: Unit) -> str:
    from scipy.special import chdtrc

    if not known and method.k < FEW_RUNS:
        return (
            f"{method.name} has {method.k} runs, which say little of training: p (method) < 0.05 comes up on 3 to 12 % "
            "of equal methods"
        )
    if known and not borrowed and method.k >= LEAST and method.rest > 0:
        drift = float(chdtrc(method.k - 1, (method.k - 1) * method.total / method.rest))
        if drift < _DRIFT:
            return (
                f"the runs of {method.name} differ more as wholes than {unit}s that are each sampled anew would "
                f"(p = {drift:.1g}): are they crossed, as trainings are?"
            )
    return ""


def _bootstrap(
    judge: Judge,
    methods: Sequence[_Method],
    pairs: Sequence[tuple[int, int]],
    training_sd: float | None,
    resampling: Resampling,
    progress: Progress | None,
) -> Floats:
    """P-values of the bootstrap of both levels, see `compare_methods`."""
    one, other = np.array(pairs, dtype=np.intp).T
    means = np.array([method.quality.mean() for method in methods])
    gains = means[one] - means[other]
    averaging = np.zeros((len(methods), len(judge.counts)))
    for row, method in enumerate(methods):
        averaging[row, method.rows] = 1 / method.k
    beyond = np.zeros(len(pairs), dtype=np.int64)
    adding = Lock()

    def add(scores: Floats, number: int) -> None:
        drawn = averaging @ scores
        for row, method in enumerate(methods):
            drawn[row] += _runs_drawn(method, training_sd, resampling.seed + (MAX_SEED + 1) * (row + 1), number, drawn)
        found = np.zeros(len(pairs), dtype=np.int64)
        _count_beyond(drawn, one, other, gains, _BAND * np.abs(means).max(), found)
        with adding:
            np.add(beyond, found, out=beyond)

    judge.for_each_batch(add, resampling, progress)
    return definitions.find("bootstrap", "two-sided").p_value(beyond, resampling.n_resamples)


def _runs_drawn(method: _Method, training_sd: float | None, seed: int, first: int, like: Floats) -> Floats:
    """By how much the runs that were drawn are better than all of them, (resamples,)."""
    from scipy.special import ndtri

    n = like.shape[1]
    if training_sd is not None or method.k < LEAST:
        if not training_sd:
            return np.zeros(n)
        # Nothing is known of such runs but their spread: one is drawn of many that are spread as the normal says.
        spread = ndtri((np.arange(_NORMAL) + 0.5) / _NORMAL)
        deviations, n_draws = spread * training_sd / math.sqrt(method.k) / spread.std(), 1
    else:
        share = max(0.0, 1 - method.rest / method.total) if method.total > 0 else 0.0
        deviations, n_draws = (method.quality - method.quality.mean()) * math.sqrt(share), method.k - 1
    counts = np.empty((n, len(deviations)))
    drawn = streams.bootstrap_counts(seed, first, n, len(deviations), n_draws=n_draws, out=counts)
    found: Floats = drawn @ deviations / n_draws
    return found


_BAND = 1e-12
"""Of the scores: what is nearer to the border is on it."""


@njit(nogil=True, cache=True)
def _count_beyond(drawn, one, other, gains, band, out):  # type: ignore[no-untyped-def]
    for pair in range(len(one)):
        first, second, gain = drawn[one[pair]], drawn[other[pair]], gains[pair]
        border = abs(gain) - band
        found = 0
        for resample in range(drawn.shape[1]):
            found += abs(first[resample] - second[resample] - gain) >= border
        out[pair] += found
