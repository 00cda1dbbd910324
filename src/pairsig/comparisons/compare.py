"""Comparisons of systems in pairs, with one output each: all tests and metrics in one table.

This is what `pairsig compare`, `pairsig.compare` and the study call. The same pairs of the same systems have the same
p-values and the same adjustment, whoever asks.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import chain, combinations, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairsig.core import definitions
from pairsig.core.definitions import Test, find
from pairsig.core.influence import design_effect, influence_values
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics, unused_documents
from pairsig.core.totals import Resampling
from pairsig.io.choices import choose, once
from pairsig.io.columns import BASELINE
from pairsig.io.errors import InputError
from pairsig.io.tables import Row
from pairsig.metrics import Metric
from pairsig.stats import exact, margins, paired, sampling
from pairsig.stats.adjust import holm
from pairsig.stats.intervals import Intervals, of_scores
from pairsig.stats.margins import Amount
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import Items

Pairs = Literal["first", "all"]
"""Which pairs: the first system with every other, or every pair."""

COLUMNS = BASELINE.names
"""Columns of the table."""

OVERLAP = (
    "the intervals of two scores may overlap although A − B is significant: both systems were scored on the same "
    "segments, and only the interval of A − B shows whether they differ"
)
"""What intervals of scores do not show."""

ENOUGH_DOCUMENTS = 15
"""With fewer documents their effect on the standard error is not reported: its relative error would exceed a fifth."""

INSTEAD = (
    f"tested by randomization, because more than {exact.FEW} segments differ and the metric has no exact test for "
    "these counts"
)
"""A note where randomization replaces the exact test."""

_OF_P = ("pvalue", "log10_pvalue", "pvalue_low", "pvalue_high", "estimator")
_OF_DRAWS = ("n_resamples", "n_greater", "n_equal")


def compare(
    data: Statistics,
    metrics: Sequence[Metric],
    tests: Sequence[Test] = (),
    *,
    pairs: Pairs = "first",
    baseline: str | None = None,
    margin: Amount | None = None,
    unit: Unit = "segment",
    score_intervals: bool = False,
    resampling: Resampling | None = None,
) -> list[Row]:
    """Compare systems in pairs, by every metric and test: one row of table `BASELINE` each.

    Parameters
    ----------
    data
        Systems with one output each.
    metrics
        Metrics of the data.
    tests
        What `planned` returns; by default the exact test. Where a test does not exist or takes too long, the Monte
        Carlo test replaces it, and the row says so.
    pairs, baseline
        The first system and every other (the default), or all pairs; with a baseline, every other system and the
        baseline. Differences are score(A) − score(B).
    margin
        Adds three rows for every metric and pair, one per claim of `margin_test`.
    unit
        What is drawn or swapped as a whole.
    score_intervals
        Whether each score gets an interval of its own.
    resampling
        Of the tests that draw.

    Returns
    -------
    Rows with p-values adjusted for the number of pairs and metrics (Holm 1979), separately for each test; `notes` of a
    row are caveats, the most important one first.
    """
    once([metric.name for metric in metrics], "metric")
    if not metrics:
        raise InputError("found no metric, expected at least one")
    named = named_pairs(data.systems, pairs, baseline)
    tests = tests or planned()
    if any(test.directed for test in tests) and pairs == "all" and baseline is None and len(data.systems) > 2:
        raise InputError(
            f"found the alternative {next(test.alternative for test in tests if test.directed)!r} for all pairs of "
            f"{len(data.systems)} systems, expected two systems, or a baseline: which score should be greater?"
        )
    rows: list[Row] = []
    for metric in metrics:
        compared = _Compared(data, metric, named, unit, score_intervals)
        cells = compared.cells()
        by_test = [compared.tested(cells, test, resampling or Resampling()) for test in tests]
        for number, of_pair in enumerate(cells):  # all tests of the first pair, then those of the next
            rows += [of_test[number] for of_test in by_test]
            rows += compared.against(number, of_pair, margin) if margin is not None else []
    return adjust([row | {"notes": list(filter(None, row["notes"]))} for row in rows])


def named_pairs(systems: Sequence[str], pairs: Pairs = "first", baseline: str | None = None) -> list[tuple[str, str]]:
    """System A and B of each comparison.

    A declared baseline is B, so that a difference shows what a system adds to it.

    >>> named_pairs(["x", "y", "z"]), named_pairs(["x", "y", "z"], baseline="x")
    ([('x', 'y'), ('x', 'z')], [('y', 'x'), ('z', 'x')])
    >>> named_pairs(["x", "y", "z"], "all")
    [('x', 'y'), ('x', 'z'), ('y', 'z')]
    """
    if len(systems) < 2:
        raise InputError("found one system, expected at least two to compare")
    if baseline is not None:
        choose(baseline, systems, "baseline")
        return [(other, baseline) for other in systems if other != baseline]
    if pairs == "all":
        return list(combinations(systems, 2))
    first, *others = systems
    return [(first, other) for other in others]


def planned(tests: Sequence[str] = (), methods: Sequence[str] = (), alternatives: Sequence[str] = ()) -> list[Test]:
    """Every named test with each of the methods that it has, or its default, and with each alternative."""
    for names, noun in ((tests, "test"), (methods, "method"), (alternatives, "alternative")):
        once(names, noun)
    tests = tests or [definitions.DEFAULT_TEST]
    known = list(dict.fromkeys(chain.from_iterable(definitions.methods(test) for test in tests)))
    for method in filter(None, methods):
        if not known:
            find(tests[0], method)  # raises an error: the test has no methods
        choose(method, known, "method:")
    found = []
    for test in tests:
        ways = [method for method in methods if method in definitions.methods(test)] or [""]
        found += [find(test, *way) for way in product(ways, alternatives or [""])]
    return found


def results_of(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, resampling: Resampling, *, favoured: bool = True
) -> dict[str, NDArray[Any]]:
    """Columns of table `COMPARISONS` about tests of pairs of systems over common draws, and the test of each, `by`.

    `pairs` are positions (pairs × 2) of the better and the other system. Those for which an exact test is out of reach
    get the Monte Carlo test; then `n_resamples` is not 0. `favoured` is `Test.favours` of all pairs.
    """
    floats = ("pvalue", "log10_pvalue", "pvalue_low", "pvalue_high", "pvalue_linear", "n_added", "n_removed")
    cells: dict[str, NDArray[Any]] = {name: np.full(len(pairs), np.nan) for name in floats}
    cells |= {name: np.zeros(len(pairs), dtype=np.int64) for name in ("n_resamples", "n_greater", "n_equal")}
    cells |= {"estimator": np.full(len(pairs), "", dtype=object), "by": np.full(len(pairs), test, dtype=object)}
    p, log10_p = cells["pvalue"], cells["log10_pvalue"]
    if test.exact:
        threads, progress = resampling.threads, resampling.progress
        logs = exact.log_pvalues(scorer, pairs, test, favoured=favoured, threads=threads, progress=progress)
        for row in np.flatnonzero(~np.isnan(logs)):
            p[row], log10_p[row] = exact.probability(float(logs[row]))
        cells["pvalue_low"][:] = cells["pvalue_high"][:] = p
    drawn, used = np.isnan(p), test.monte_carlo
    if drawn.any():
        counts, estimate = sampling.by_draws(scorer, pairs[drawn], used, resampling, favoured=favoured)
        with np.errstate(divide="ignore"):
            log10_p[drawn] = np.log10(estimate.pvalue)
        cells["by"][drawn] = used
        for name, values in (
            ("pvalue", estimate.pvalue), ("pvalue_low", estimate.low), ("pvalue_high", estimate.high),
            ("estimator", estimate.estimator if used.draw == "swap" else ""), ("n_resamples", counts.n_resamples),
            ("n_greater", counts.n_greater), ("n_equal", counts.n_equal), ("pvalue_linear", counts.linear),
            ("n_added", counts.n_added), ("n_removed", counts.n_removed),
        ):  # fmt: skip
            cells[name][drawn] = values
    return cells


class _Compared:
    """What all tests of some pairs by one metric share."""

    def __init__(
        self, data: Statistics, metric: Metric, named: Sequence[tuple[str, str]], unit: Unit, score_intervals: bool
    ) -> None:
        self.data, self.metric, self.unit = data, metric, unit
        self.segments, units = data.of(metric), data.of_units(metric, unit)
        self.pairs = np.array([[data.systems.index(a), data.systems.index(b)] for a, b in named])
        self.scorer = Scorer(units, metric, data.systems)
        intervals = Intervals(units, metric, unit)
        self.intervals = [intervals.of(a, b) for a, b in self.pairs.tolist()]
        self.ends = of_scores(units, metric) if score_intervals else [(math.nan, math.nan)] * len(data.systems)
        self.caveats = [OVERLAP] if score_intervals else []

    def cells(self) -> list[Row]:
        """The cells of each pair that are the same for all tests."""
        items = Items.of(self.segments, self.metric)
        unused = self._unused_documents()
        gains = self.scorer.gains(self.pairs)
        names, scores = self.data.systems, self.scorer.scores
        rows = []
        for (a, b), gain, interval, documents in zip(self.pairs.tolist(), gains, self.intervals, unused, strict=True):
            of_two = items
            first, second = a, b
            if items is None and interval.passed_or_failed:
                of_two, first, second = Items.of(self.segments[[a, b]], self.metric), 0, 1
            only_a, only_b = (None, None) if of_two is None else map(int, of_two.better(first, second))
            rows.append(
                dict.fromkeys(COLUMNS)
                | {
                    "metric": self.metric.name,
                    "system_a": names[a],
                    "system_b": names[b],
                    "score_a": float(scores[a]),
                    "score_b": float(scores[b]),
                    **_ends("score_a", *self.ends[a]),
                    **_ends("score_b", *self.ends[b]),
                    **_ends("ci", interval.low, interval.high),
                    "better": names[a] if gain > 0 else names[b] if gain < 0 else "",
                    "difference": float(scores[a] - scores[b]) if gain else 0.0,
                    "n_segments": self.segments.shape[1],
                    "n_units": interval.n_units,
                    "n_different": int((self.segments[a] != self.segments[b]).any(axis=1).sum()),
                    "only_a": only_a,
                    "only_b": only_b,
                    "notes": [*self.caveats, documents, interval.doubt],
                }
            )
        return rows

    def _unused_documents(self) -> list[str]:
        """For each pair, a warning if the documents of the segments are known and were not used; else nothing."""
        documents = self.data.documents
        description = unused_documents(documents) if self.unit == "segment" else ""
        option = " (--unit document)" * bool(description)
        if not description or len(np.unique(documents)) < ENOUGH_DOCUMENTS:
            return [description + option] * len(self.pairs)
        effects = design_effect(influence_values(self.segments, self.metric), documents, self.pairs)
        times = "; with documents as units the standard error of the gain is {:.2f} times as large"
        return [
            description + (times.format(math.sqrt(effect)) if math.isfinite(effect) else "") + option
            for effect in effects.tolist()
        ]

    def signature(self, test: definitions.Named, drawn: str) -> str:
        """The signature of a row, with how the data were read."""
        return paired.with_settings(paired.signature(self.metric, test, self.unit, drawn), self.data)

    def tested(self, cells: Sequence[Row], test: Test, resampling: Resampling) -> list[Row]:
        """The rows of all pairs by one test."""
        gains = self.scorer.gains(self.pairs)
        better_first = np.where(gains[:, None] < 0, self.pairs[:, ::-1], self.pairs)
        favoured = np.array([test.favours(gain, self.metric.higher_is_better) for gain in gains.tolist()])
        rows: list[Row] = [{}] * len(cells)
        for side in (True, False):
            places = np.flatnonzero(favoured == side)
            if not len(places):
                continue
            results = results_of(self.scorer, better_first[places], test, resampling, favoured=side)
            for place, *values in zip(places.tolist(), *(column.tolist() for column in results.values()), strict=True):
                result = dict(zip(results, values, strict=True))
                used, p, interval = result["by"], result["pvalue"], self.intervals[place]
                row = cells[place] | {
                    "test": used.name,
                    "method": used.method,
                    "alternative": used.alternative,
                    **{name: result[name] for name in _OF_P},
                    **({} if used.exact else {name: result[name] for name in _OF_DRAWS}),
                    "signature": self.signature(used, "" if used.exact else resampling.signature),
                }
                caveats = [used.warning, interval.disagrees(p) if used.two_sided else "", INSTEAD * (used is not test)]
                rows[place] = row | {"notes": [*row["notes"], *caveats]}
        return rows

    def against(self, number: int, cells: Row, margin: Amount) -> list[Row]:
        """The rows of a pair about the margin, one for each claim."""
        pair = Pair(self.metric, self.segments[self.pairs[number]], self.data.documents_if(self.unit))
        points = margins.in_unit(margin, "margin", margins.best_score(pair)) if isinstance(margin, str) else margin
        rows = []
        for claim in margins.CLAIMS:
            result = margins.against(pair, points, claim)
            p = result.pvalue
            named = definitions.Named(result.method, claim, name="margin")
            rows.append(
                cells
                | {
                    "test": result.test,
                    "method": result.method,
                    "alternative": result.alternative,
                    "margin": result.margin,
                    "pvalue": p,
                    "log10_pvalue": math.log10(p) if p > 0 else -math.inf,
                    "pvalue_low": p,
                    "pvalue_high": p,
                    "estimator": "",
                    "signature": self.signature(named, f"margin:{points!r}"),
                    "notes": [*cells["notes"], result.says(cells["system_a"], cells["system_b"]), _cannot_tell(pair)],
                }
            )
        return rows


def _cannot_tell(pair: Pair) -> str:
    """A note if both systems fail, or both pass, every item."""
    items = Items.of(pair.units, pair.metric)
    if items is None or items.only.any() or len(np.unique(pair.units[..., 0])) > 1:
        return ""
    return "both systems have the same score on every item, so these items cannot tell them apart"


def _ends(name: str, low: float, high: float) -> Row:
    """The cells of an interval, which are missing if there is none."""
    return {f"{name}_{end}": None if math.isnan(value) else value for end, value in (("low", low), ("high", high))}


def adjust(rows: list[Row]) -> list[Row]:
    """Give the rows p-values adjusted for the number of pairs, metrics and tasks, separately for each test.

    Where one test stands for another that does not exist, as randomization for the exact test, both are one family. A
    p-value of 0 from b resamples is adjusted as its upper bound.
    """
    for family in _families(rows):
        p = np.array([rows[place]["pvalue"] or rows[place]["pvalue_high"] for place in family])
        for place, adjusted in zip(family, holm(p).tolist(), strict=True):
            rows[place].update(pvalue_holm=adjusted, n_compared=len(family))
    return rows


def _families(rows: Sequence[Row]) -> list[list[int]]:
    """The positions of the rows of each family."""
    keys = [(row["test"], row["method"], row["alternative"]) for row in rows]
    drawn = [key if key[0] == "margin" else (find(*key).monte_carlo.name, *key[1:]) for key in keys]
    of_pair = ("metric", "system_a", "system_b", "n_segments", "score_a", "score_b")
    pairs = {(*(row[name] for name in of_pair), *key) for row, key in zip(rows, drawn, strict=True)}
    with_both_tests = len(pairs) < len(rows)  # of a pair, the exact and the Monte Carlo test
    families: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys if with_both_tests else drawn):
        families.setdefault(key, []).append(place)
    return list(families.values())
