"""`compare`: systems compared in pairs, or with a baseline."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsig import report
from pairsig.comparisons import all_pairs, inputs, methods
from pairsig.comparisons.baseline import (
    compare_with_one,
    decisive,
    most_important,
    shown_adjusted,
    shown_p,
    unused,
)
from pairsig.core import definitions
from pairsig.core.engine import Resampling, Seed, seed_of
from pairsig.core.statistics import Statistics
from pairsig.io.choices import choose
from pairsig.io.columns import BASELINE
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.rendering import render
from pairsig.io.results import TableResult
from pairsig.io.tables import records
from pairsig.metrics import Metric
from pairsig.report import sentences
from pairsig.stats import intervals, kernels, studentized
from pairsig.stats.multiple_testing import holm
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.results import ConfidenceInterval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "metric", "system_a", "system_b", "score_a", "score_b", "difference", "ci_low", "ci_high", "better", "test",
    "pvalue",
    "pvalue_low", "pvalue_high", "pvalue_holm", "n_compared", "n_segments", "n_units", "only_a", "only_b", "signature",
)  # fmt: skip
"""Columns of `Comparison.table`."""

_SHOWN = 12
"""Number of pairs that are printed."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(TableResult):
    """Pairs of systems with scores, differences, intervals and p-values: what `compare` returns.

    `print` shows one sentence per pair; a notebook shows a table. `difference`, `pvalue`, `confidence_interval`,
    `better`, `gain`, `n_resamples` and `signature` are defined for two systems; with more, read `table`.

    Attributes
    ----------
    table
        One row per pair, in the kind of data frame that was passed. `difference` is score(a) − score(b), with its 95 %
        interval from `ci_low` to `ci_high`. For a two-sided test it excludes 0 exactly if `pvalue` < 0.05. `better` is
        "" where the scores are equal. `pvalue_low` and `pvalue_high` bound the Monte Carlo error of `pvalue` (95 %),
        and `pvalue_holm` is adjusted for the number of pairs, `n_compared`. If each segment is right or wrong, only
        system A is right on `only_a` of them, and only B on `only_b`.
    statistics, metric
        What was compared. Every other function of pairsig accepts them.
    unit
        "segment" or "document".
    notes
        Sentences about what the p-values and intervals do not cover.

    See Also
    --------
    compare : Returns this.

    Examples
    --------
    >>> result = compare({"old": [0, 1, 0, 0, 1, 0, 0], "new": [1, 1, 1, 1, 1, 1, 1]})
    >>> result.better, result.pvalue
    ('new', 0.0625)
    """

    statistics: Statistics
    metric: Metric
    unit: Unit
    _resampling: Resampling
    _design: methods.Design | None
    _baseline: str | None

    def _one(self, name: str) -> Any:
        if len(self._rows) > 1:
            raise InputError(
                f"found {len(self._rows)} pairs, expected one: each has its own {name}, in the rows of .table"
            )
        return self._rows.iloc[0][name]

    @property
    def difference(self) -> float:
        """Score of the first of two systems minus score of the second, in points."""
        return float(self._one("difference"))

    @property
    def pvalue(self) -> float:
        """P-value of two systems."""
        return float(self._one("pvalue"))

    @property
    def gain(self) -> float:
        """By how much the better of two systems is better, in points, 0 or more."""
        return abs(self.difference)

    @property
    def better(self) -> str | None:
        """Name of the better of two systems; None where their scores are equal."""
        return str(self._one("better")) or None

    @property
    def n_resamples(self) -> int:
        """Number of resamples or shuffles that were drawn; 0 for an exact test."""
        drawn = self._one("n_resamples")
        return 0 if pd.isna(drawn) else int(drawn)

    @property
    def signature(self) -> str:
        """Everything that is needed to compute the p-value again, in one line."""
        return str(self._one("signature"))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Confidence interval of `difference`, score(a) − score(b); see `difference_interval`.

        For a two-sided test it excludes 0 exactly if `pvalue` < 1 − `confidence_level`.

        Parameters
        ----------
        confidence_level
            Probability that an interval computed like this contains the true difference.

        Returns
        -------
        ConfidenceInterval
            `low` and `high`, in points; nan where there is no interval.
        """
        names = [self._one(f"system_{side}") for side in "ab"]
        if any(self.statistics.runs):
            rows = self._of_methods(names[1], confidence_level)
            low, high = _signed(rows[rows["method_a"] == names[0]])[["ci_low", "ci_high"]].to_numpy(float)[0].tolist()
            return ConfidenceInterval(low, high)
        chosen = self.statistics.select(systems=names)
        pair = Pair(self.metric, chosen.of(self.metric), chosen.documents_if(self.unit))
        whole, test = intervals.signed(pair, confidence_level), definitions.from_signature(self.signature)
        return _interval(whole, lambda: pair, self.difference, self.pvalue, test, self._resampling)

    def __str__(self) -> str:
        rows = [sentences.as_gains(row) for row in records(self._rows)]
        if any(self.statistics.runs):
            n_documents = len(set(self.statistics.documents)) if self.unit == "document" else 0
            lines = sentences.of_methods(pd.DataFrame(rows[:_SHOWN]), n_documents).split("\n")
        else:
            shown = zip(rows, shown_adjusted(rows), decisive(rows), strict=True)
            lines = [sentences.of_pair(row, holm, decides) for row, holm, decides in islice(shown, _SHOWN)]
        lines = [f"{line} {sentences.of_scores(row)}" for line, row in zip(lines, rows, strict=False)]
        if len(rows) > _SHOWN:
            lines.append(f"and {len(rows) - _SHOWN:,} more pairs")
        notes = [note.replace("--details", ".notes") for note in most_important(self.notes)]
        return "\n".join([*lines, *(f"- {note}" for note in notes)])

    def _repr_html_(self) -> str:
        rows = [row | {"pvalue": shown_p(row)} for row in records(self._rows)]
        return render(rows, [BASELINE[name] for name in COLUMNS if name != "signature"], "html", notes=self.notes)

    def to_frame(self) -> pd.DataFrame:
        """Return `table` as a pandas data frame."""
        return self._rows[list(COLUMNS)].copy()

    def _figure(self) -> Figure:
        """Each difference with its null distribution, and by domain: the figure of `pairsig compare --plot`."""
        report.check_drawn(len(self._rows))
        return report.drawn(self._evidence())

    def to_html(self, path: str | Path) -> None:
        """Write the report that `pairsig compare --html` writes: the first system and every other, or the baseline.

        Parameters
        ----------
        path
            File to write, such as "report.html".
        """
        report.write(self._evidence(), path)

    def _evidence(self) -> list[report.Evidence]:
        """What a report shows."""
        if any(self.statistics.runs):
            rows = self._of_methods(self._baseline)
            if self._baseline is None:
                rows = rows[rows["method_a"] == self.statistics.methods[0]]
            evidence = report.of_methods(self.statistics, self.metric, rows, unit=self.unit, training_sd=None)
        else:
            used = map(definitions.from_signature, self._rows["signature"].unique())
            test = max(used, key=lambda test: test.exact)  # what draws stands for it where it is out of reach
            rows, _ = compare_with_one(
                self.statistics,
                [self.metric],
                [test.name],
                methods=[test.method] if test.method else [],
                alternatives=[test.alternative],
                baseline=self._baseline,
                resampling=self._resampling,
                unit=self.unit,
            )
            evidence = report.of_systems(
                self.statistics, self.metric, rows, unit=self.unit, resampling=self._resampling
            )
        return list(evidence)

    def _of_methods(self, baseline: str | None, confidence_level: float = 0.95) -> pd.DataFrame:
        """The table of `compare_methods` for systems with several runs."""
        return methods.compare_methods(
            self.statistics,
            metric=self.metric,
            baseline=baseline,
            design=self._design,
            unit=self.unit,
            confidence_level=confidence_level,
        )._rows


def _signed(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `compare_methods` with signed differences and their intervals, and the columns of `Comparison`."""
    names = {"system_a": "method_a", "system_b": "method_b", "pvalue": "pvalue_method"}
    return methods.signed(table).assign(**{name: table[column] for name, column in names.items()})


def _interval(
    whole: intervals.Interval,
    pair: Callable[[], Pair],
    difference: float,
    pvalue: float,
    test: definitions.Test,
    resampling: Resampling,
) -> ConfidenceInterval:
    """The interval of score(a) − score(b), from that of `difference_interval`; it agrees with a two-sided test."""
    if test.statistic and not test.exact:  # which has an interval of its own
        return kernels.run(pair(), test, resampling).confidence_interval(whole.confidence_level)
    agreed = intervals.agreeing(whole, difference, pvalue) if test.two_sided else whole
    return ConfidenceInterval(agreed.low, agreed.high)


def compare(
    data: inputs.Data,
    test: str | None = None,
    *,
    metric: str | Metric | None = None,
    baseline: str | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 100_000,
    rng: Seed = 2012,
    unit: Unit = "segment",
    design: methods.Design | None = None,
    threads: int | None = None,
) -> Comparison:
    """Compare systems in pairs: differences with confidence intervals and p-values.

    By default every pair is tested, and the p-values are adjusted for the number of pairs (Holm). With `baseline`,
    every other system is compared to that one, as `pairsig compare` does on the command line: same p-values, same
    adjustment.

    Parameters
    ----------
    data
        What `pairsig.read` returns for files, data frames, evaluation logs and arrays; or a mapping from names of
        systems to arrays: scores (segments,), with `metric` counts (segments × columns), or several runs of a system,
        (runs × segments × columns).
    test
        "exact", "randomization" or "bootstrap". Default: the exact permutation test, or randomization where the
        metric has no exact test. Systems with several runs are compared by the method-level test of
        `compare_methods`, and take no `test`.
    metric
        Which metric of the data, by name, if there are several; or a `Metric`. For arrays, the metric whose counts they
        have; default: the mean of the scores.
    baseline
        Name of the system that every other is compared to; it is system B of each pair. Default: all pairs.
    method, alternative
        Of the test, see `bootstrap_test`. "two-sided", or "observed" for one-sided tests in the direction of the
        better system of each pair. With two systems, or a `baseline`, also "greater" or "less": whether the score of A
        is greater or less than that of B.
    n_resamples
        Number of resamples or shuffles, where the test draws any.
    rng
        Seed of the random numbers: a whole number, or anything else that `numpy.random.default_rng` takes.
    unit
        "document" to swap or draw whole documents instead of segments.
    design
        For runs: "crossed" if a run is the same for all segments, as a training is, or "nested" if every segment was
        sampled anew. Default: what the data say, else "crossed".
    threads
        Number of threads; default: all cores. It changes nothing but time.

    Returns
    -------
    Comparison
        `print` it for sentences; `.table` has one row per pair.

    Raises
    ------
    InputError
        If there is one system, if a score is not a number, or if the test does not exist for the metric.

    See Also
    --------
    rank : Ranks many systems, with intervals of their ranks.
    compare_methods : Separates the variance of training from that of the test set.
    transfer : Predicts who wins on the next test set.
    exact_test, randomization_test, bootstrap_test : The tests of two systems.

    Examples
    --------
    >>> import pairsig
    >>> result = pairsig.compare({"old": [1] * 4 + [0] * 8, "new": [1] * 11 + [0]})
    >>> result.better, result.pvalue
    ('new', 0.015625)

    A data frame is read first, which says what its columns are:

    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {
    ...         "model": ["old"] * 12 + ["new"] * 12,
    ...         "question": [*range(12)] * 2,
    ...         "correct": [True] * 4 + [False] * 8 + [True] * 11 + [False],
    ...     }
    ... )
    >>> result = pairsig.compare(pairsig.read(rows, item="question"))
    >>> print(str(result).split(" (")[0])
    new is better than old by 0.58 in correct
    """
    statistics, chosen = inputs.prepared(data, metric)
    if len(set(statistics.methods)) < 2:
        raise InputError(f"found one system, {named(statistics.methods[0])}, expected at least two to compare")
    if baseline is not None:
        choose(baseline, list(dict.fromkeys(statistics.methods)), "baseline")
    resampling = Resampling(n_resamples, seed_of(rng), threads)
    if any(statistics.runs):
        for name, value in (("test", test), ("method", method), ("alternative", alternative)):
            if value not in (None, "two-sided"):
                raise InputError(
                    f"found {name}={value!r} for systems with several runs, expected none: only the method-level test "
                    "knows of runs (pairsig.compare_methods)"
                )
        compared = methods.compare_methods(
            statistics, metric=chosen, baseline=baseline, design=design, unit=unit, threads=threads
        )._rows
        rows = _signed(compared)
        p = rows["pvalue"]
        rows = rows.assign(test="method", signature="", pvalue_low=p, pvalue_high=p, n_resamples=0)
        rows = rows.assign(only_a=math.nan, only_b=math.nan)
        notes = list(filter(None, chain.from_iterable(compared["doubt"].str.split("; "))))
    else:
        rows, notes = _pairs(_Outputs(statistics, chosen, unit, resampling), test, method, alternative, baseline)
        rows["pvalue_holm"] = holm(rows["pvalue"].to_numpy())
    n_units = len(set(statistics.documents)) if unit == "document" else rows["n_segments"]
    drawn = rows["n_resamples"].where(rows["n_resamples"] > 0)
    rows = rows.assign(n_units=n_units, n_compared=len(rows), n_resamples=drawn, log10_pvalue=-math.inf)
    rows = rows.assign(confidence_level=math.nan).reset_index(drop=True)
    return Comparison(
        table=statistics.as_read(rows[list(COLUMNS)]),
        statistics=statistics,
        metric=chosen,
        unit=unit,
        notes=tuple(dict.fromkeys([*notes, *statistics.notes])),
        _rows=rows,
        _resampling=resampling,
        _design=design,
        _baseline=baseline,
    )


@dataclass(frozen=True)
class _Outputs:
    """Systems with one output each, and what all of their comparisons have in common."""

    statistics: Statistics
    metric: Metric
    unit: Unit
    resampling: Resampling

    @cached_property
    def counts(self) -> NDArray[Any]:
        return self.statistics.of(self.metric)

    def places(self, names: pd.Series[str]) -> NDArray[np.intp]:
        """The numbers of systems."""
        return np.asarray(names.map({name: place for place, name in enumerate(self.statistics.systems)}))

    def pair(self, a: int, b: int) -> Pair:
        return Pair(self.metric, self.counts[[a, b]], self.statistics.documents_if(self.unit))


def _pairs(
    outputs: _Outputs, test: str | None, method: str | None, alternative: str, baseline: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """One row per pair of outputs, and the notes about them."""
    statistics, resampling = outputs.statistics, outputs.resampling
    directed = alternative in ("greater", "less")
    if directed and baseline is None and len(statistics.systems) > 2:
        raise InputError(
            f"found the alternative {alternative!r} for {len(statistics.systems)} systems, expected two systems, or a "
            "baseline: which score should be greater?"
        )
    rows = all_pairs.compare(
        statistics,
        test or definitions.DEFAULT_TEST,
        method=method,
        alternative="two-sided" if directed else alternative,
        metric=outputs.metric,
        n_resamples=resampling.n_resamples,
        rng=resampling.seed,
        unit=outputs.unit,
        threads=resampling.threads,
        or_draw=test is None,
    )
    rows["pvalue"] = rows["pvalue"].fillna(rows["pvalue_one_sided"])  # of the test that was asked for
    rows["better"] = np.where(rows["gain"] > 0, rows["system_a"], "")
    # In the order of the data, not the better system first; a baseline is the second.
    turned = outputs.places(rows["system_a"]) > outputs.places(rows["system_b"])
    if baseline is not None:
        rows = rows[(rows["system_a"] == baseline) | (rows["system_b"] == baseline)].reset_index(drop=True)
        turned = (rows["system_a"] == baseline).to_numpy()
    for column in ("system", "score"):
        first, second = rows[f"{column}_a"], rows[f"{column}_b"]
        rows = rows.assign(**{f"{column}_a": first.where(~turned, second), f"{column}_b": second.where(~turned, first)})
    if directed:
        rows = _one_sided(rows, outputs, alternative)
    rows["difference"] = (rows["score_a"] - rows["score_b"]).where(rows["better"] != "", 0.0)
    return _with_intervals(rows, outputs)


def _with_intervals(rows: pd.DataFrame, outputs: _Outputs) -> tuple[pd.DataFrame, list[str]]:
    """The rows with intervals and counts of items on which one system alone is better, and the notes about them."""
    statistics, counts, metric, unit = outputs.statistics, outputs.counts, outputs.metric, outputs.unit
    items = intervals.Items.of(counts, metric)
    if items is not None and unit == "segment":
        closed: Callable[..., intervals.Interval] = partial(items.interval, unit=unit)
    else:
        closed = intervals.of_pairs(statistics.of_units(metric, unit), metric, unit)
    passes = intervals.passing(counts)
    in_documents = unit == "segment" and bool(statistics.unused_documents())
    first, second = outputs.places(rows["system_a"]), outputs.places(rows["system_b"])
    tests = list(map(definitions.from_signature, rows["signature"]))
    notes: list[str] = []
    ends, alone = np.full((2, 2, len(rows)), math.nan)
    places = np.arange(len(rows))
    if items is not None:
        alone = np.array(items.better(first, second))
        if unit == "segment" and not in_documents and not any(test.statistic for test in tests):
            low, high = ends = np.array(items.ends(first, second))
            two_sided = np.array([test.two_sided for test in tests])
            places = np.flatnonzero(two_sided & intervals.disagree(low, high, rows["difference"], rows["pvalue"]))
    for row in places.tolist():
        run, a, b = tests[row], first[row], second[row]
        pair = cache(partial(outputs.pair, a, b))
        whole = closed(a, b)
        interval = _interval(whole, pair, rows["difference"][row], rows["pvalue"][row], run, outputs.resampling)
        ends[:, row] = interval.low, interval.high
        if items is None and passes[a] and passes[b]:
            alone[:, row] = intervals.right_alone(pair()) or (math.nan, math.nan)
        about = (
            unused(pair(), statistics.documents) if in_documents else "",
            whole.doubt,
            studentized.warning(pair(), run) if items is None else "",
        )
        of = f"{statistics.systems[a]} and {statistics.systems[b]}: " if len(rows) > 1 else ""
        notes += [f"{of}{note}" for note in about if note]
    rows["ci_low"], rows["ci_high"] = ends
    rows["only_a"], rows["only_b"] = alone
    rows["method"], rows["alternative"] = [test.method for test in tests], [test.alternative for test in tests]
    warnings = [definitions.from_signature(signature).warning for signature in rows["signature"].unique()]
    return rows, [*notes, *filter(None, [all_pairs.drawn_instead(rows), *warnings])]


def _one_sided(rows: pd.DataFrame, outputs: _Outputs, alternative: str) -> pd.DataFrame:
    """The rows with the p-values of a direction that was fixed in advance, from A to B."""
    results = []
    first, second = outputs.places(rows["system_a"]), outputs.places(rows["system_b"])
    for a, b, signature in zip(first, second, rows["signature"], strict=True):
        two_sided = definitions.from_signature(signature)
        test = definitions.find(two_sided.name, two_sided.method or None, alternative)
        results.append(kernels.run(outputs.pair(a, b), test, outputs.resampling))
    columns = ("pvalue", "pvalue_low", "pvalue_high", "n_resamples", "signature")
    return rows.assign(**{name: [getattr(result, name, result.pvalue) for result in results] for name in columns})
