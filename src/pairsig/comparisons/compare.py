"""Comparisons of systems in pairs, with one output each: all tests and metrics in one table.

This is what `pairsig compare`, `pairsig.compare` and the study call. The same pairs of the same systems have the same
p-values and the same adjustment, whoever asks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.core import definitions
from pairsig.core.definitions import Test, find
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics, only_metric, unused_documents
from pairsig.core.totals import Resampling
from pairsig.io.choices import choose, once, spelled
from pairsig.io.columns import BASELINE
from pairsig.io.errors import InputError, listed
from pairsig.io.tables import Row
from pairsig.metrics import Metric, registry
from pairsig.metrics.counts import average
from pairsig.stats import exact, margins, paired, sampling
from pairsig.stats.adjust import holm
from pairsig.stats.intervals import Interval, Intervals
from pairsig.stats.margins import Amount
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import Items

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Data: TypeAlias = "Statistics | Mapping[str, ArrayLike]"
"""The scores of several systems on one test set."""
Pairs = Literal["first", "all"]
"""Which pairs: the first system with every other, or every pair."""

INSTEAD = (
    f"tested by randomization, because more than {exact.FEW} segments differ and the metric has no exact test for "
    "these counts"
)
"""A note where randomization replaces the exact test."""


def compare(
    data: Statistics,
    metrics: Sequence[Metric],
    test: Test | None = None,
    *,
    pairs: Pairs = "first",
    baseline: str | None = None,
    margin: Amount | None = None,
    unit: Unit = "segment",
    resampling: Resampling | None = None,
) -> list[Row]:
    """Compare systems in pairs, by every metric: one row of table `BASELINE` each.

    Parameters
    ----------
    data
        Systems with one output each.
    metrics
        Metrics of the data.
    test
        By default the exact test. Where it does not exist or takes too long, randomization replaces it, and the row
        says so.
    pairs, baseline
        The first system and every other (the default), or all pairs; with a baseline, every other system and the
        baseline. Differences are score(A) − score(B).
    margin
        Adds three rows for every metric and pair, one per claim of `margin_test`.
    unit
        What is drawn or swapped as a whole.
    resampling
        Of the tests that draw.

    Returns
    -------
    Rows with p-values adjusted for the number of pairs and metrics (Holm 1979), separately for each claim; `notes` of a
    row are caveats, the most important one first.
    """
    once([metric.name for metric in metrics], "metric")
    if not metrics:
        raise InputError("found no metric, expected at least one")
    named = named_pairs(data.systems, pairs, baseline)
    test = test or find(definitions.DEFAULT_TEST)
    if test.directed and pairs == "all" and baseline is None and len(data.systems) > 2:
        raise InputError(
            f"found the alternative {test.alternative!r} for all pairs of {len(data.systems)} systems, expected two "
            "systems, or a baseline: which score should be greater?"
        )
    places = np.array([[data.systems.index(a), data.systems.index(b)] for a, b in named])
    rows: list[Row] = []
    for metric in metrics:
        scorer = Scorer(data.of_units(metric, unit), metric, data.systems)
        of_pairs = Intervals(scorer.counts, metric, unit)
        intervals = [of_pairs.of(a, b) for a, b in places.tolist()]
        cells = _cells(data, scorer, intervals, places)
        tested = _tested(data, scorer, intervals, places, cells, test, resampling or Resampling())
        segments, documents = data.of(metric), data.documents_if(unit)
        for number, row in enumerate(tested):
            rows.append(row)
            if margin is not None:
                pair = Pair(metric, segments[places[number]], documents)
                rows += _against(data, pair, cells[number], margin)
    return adjust([row | {"notes": list(filter(None, row["notes"]))} for row in rows])


def prepared(data: Any, metric: str | Metric | None = None) -> tuple[Statistics, Metric]:
    """The counts of all systems, from whatever users pass, and the metric to compute from them.

    A metric that is not named is the only one of the statistics; for arrays it is the mean of the scores.
    """
    if isinstance(data, Statistics):
        return data, chosen_metric(data, metric)
    values = data.values() if isinstance(data, Mapping) else ()
    if isinstance(data, list | tuple) or any(hasattr(each, "columns") for each in (data, *values)):
        from pairsig.readers.inputs import read

        return prepared(read(data), metric)
    if not isinstance(data, Mapping):
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise InputError(
            f"found a {kind}, expected pairsig.Statistics, or a mapping from names of systems to arrays of scores; "
            "pairsig.read(…) reads files, data frames and evaluation logs"
        )
    chosen = average("score") if metric is None else registry.metric(metric)
    arrays: dict[str, Any] = {str(system): scores for system, scores in data.items()}
    return replace(Statistics.from_arrays(arrays, chosen.columns), metrics=(chosen,)), chosen


def chosen_metric(data: Statistics, metric: str | Metric | None = None) -> Metric:
    """The metric that is named, or the only one of the data."""
    if isinstance(metric, Metric):
        return metric
    by_name = {known.name: known for known in data.metrics}
    if metric is not None:
        name = spelled(metric, [*by_name, *registry.METRICS])
        return by_name[name] if name in by_name else registry.metric(choose(name, registry.METRICS, "metric"))
    if len(by_name) > 1:
        raise InputError(f"found the metrics {listed(by_name)}, expected one: choose it with metric= (--metric)")
    return data.metrics[0] if by_name else only_metric(data)


def named_pairs(systems: Sequence[str], pairs: Pairs = "first", baseline: str | None = None) -> list[tuple[str, str]]:
    """System A and B of each comparison: the first system and every other, or all pairs.

    A declared baseline takes the place of `pairs`, and is B, so that a difference shows what a system adds to it.

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
    if choose(pairs, ("first", "all"), "pairs") == "all":
        return list(combinations(systems, 2))
    first, *others = systems
    return [(first, other) for other in others]


def _cells(data: Statistics, scorer: Scorer, intervals: Sequence[Interval], places: NDArray[np.intp]) -> list[Row]:
    """The cells of each pair that are the same for all tests."""
    metric, names, scores = scorer.metric, data.systems, scorer.scores
    segments = data.of(metric)
    unused = unused_documents(data.documents) if intervals[0].unit == "segment" else ""
    rows = []
    for (a, b), gain, interval in zip(places.tolist(), scorer.gains(places), intervals, strict=True):
        of_two = segments[[a, b]]
        items = Items.of(of_two, metric)
        only_a, only_b = (None, None) if items is None else map(int, items.better(0, 1))
        rows.append(
            dict.fromkeys(BASELINE.names)
            | {
                "metric": metric.name,
                "system_a": names[a],
                "system_b": names[b],
                "score_a": float(scores[a]),
                "score_b": float(scores[b]),
                "ci_low": None if math.isnan(interval.low) else interval.low,
                "ci_high": None if math.isnan(interval.high) else interval.high,
                "better": names[a] if gain > 0 else names[b] if gain < 0 else "",
                "difference": float(scores[a] - scores[b]) if gain else 0.0,
                "n_segments": segments.shape[1],
                "n_units": interval.n_units,
                "n_different": int((of_two[0] != of_two[1]).any(axis=1).sum()),
                "only_a": only_a,
                "only_b": only_b,
                "notes": [unused, interval.doubt],
            }
        )
    return rows


def _tested(
    data: Statistics,
    scorer: Scorer,
    intervals: Sequence[Interval],
    places: NDArray[np.intp],
    cells: Sequence[Row],
    test: Test,
    resampling: Resampling,
) -> list[Row]:
    """The rows of all pairs by one test."""
    gains = scorer.gains(places)
    better_first = np.where(gains[:, None] < 0, places[:, ::-1], places)
    favoured = np.array([test.favours(gain, scorer.metric.higher_is_better) for gain in gains.tolist()])
    rows: list[Row] = [{}] * len(cells)
    for side in (True, False):
        some = np.flatnonzero(favoured == side)
        results = _results(scorer, better_first[some], test, resampling, favoured=side) if len(some) else []
        for place, (used, result) in zip(some.tolist(), results, strict=True):
            interval, drawn = intervals[place], "" if used.exact else resampling.signature
            caveats = [
                used.warning,
                interval.disagrees(result["pvalue"]) if used.two_sided else "",
                INSTEAD if used is not test else "",
            ]
            rows[place] = (
                cells[place]
                | result
                | {
                    "test": used.name,
                    "method": used.method,
                    "alternative": used.alternative,
                    "signature": paired.signature(scorer.metric, used, interval.unit, drawn, data),
                    "notes": [*cells[place]["notes"], *caveats],
                }
            )
    return rows


def _results(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, resampling: Resampling, *, favoured: bool
) -> list[tuple[Test, Row]]:
    """The test of each pair, the better system first, and its cells: randomization where the exact test is too much."""
    logs, threads = np.full(len(pairs), np.nan), resampling.threads
    if test.exact:
        logs = exact.log_pvalues(scorer, pairs, test, favoured=favoured, threads=threads)
    results: list[tuple[Test, Row]] = []
    for log in logs.tolist():
        results.append((test, {} if math.isnan(log) else _exactly(*exact.probability(log))))
    left, used = np.flatnonzero(np.isnan(logs)), test.monte_carlo
    if len(left):
        counts, estimate = sampling.by_draws(scorer, pairs[left], used, resampling, favoured=favoured)
        for number, place in enumerate(left.tolist()):
            p = float(estimate.pvalue[number])
            results[place] = (
                used,
                _exactly(p)
                | {
                    "pvalue_low": float(estimate.low[number]),
                    "pvalue_high": float(estimate.high[number]),
                    "estimator": estimate.estimator[number] if used.draw == "swap" else "",
                    "n_resamples": counts.n_resamples,
                    "n_greater": int(counts.n_greater[number]),
                    "n_equal": int(counts.n_equal[number]),
                },
            )
    return results


def _exactly(p: float, log10_p: float | None = None) -> Row:
    """The cells of a p-value without Monte Carlo error."""
    if log10_p is None:
        log10_p = math.log10(p) if p > 0 else -math.inf
    return {"pvalue": p, "log10_pvalue": log10_p, "pvalue_low": p, "pvalue_high": p, "estimator": ""}


def _against(data: Statistics, pair: Pair, cells: Row, margin: Amount) -> list[Row]:
    """The rows of a pair about the margin, one for each claim."""
    points = margins.in_unit(margin, "margin", margins.best_score(pair)) if isinstance(margin, str) else margin
    alike = ""
    if len(np.unique(pair.units[..., 0])) == 1 and Items.of(pair.units, pair.metric) is not None:
        alike = "both systems have the same score on every item, so these items cannot tell them apart"
    rows = []
    names = cells["system_a"], cells["system_b"]
    for claim in margins.CLAIMS:
        result = margins.against(pair, points, claim)
        p = result.pvalue
        named = definitions.Named(result.method, claim, name="margin")
        rows.append(
            cells
            | _exactly(p)
            | {
                "test": result.test,
                "method": result.method,
                "alternative": result.alternative,
                "margin": result.margin,
                "signature": paired.signature(pair.metric, named, pair.unit, f"margin:{points!r}", data),
                "notes": [
                    *cells["notes"],
                    margins.meaning(pair.metric.name, points, claim, *names),
                    alike,
                ],
            }
        )
    return rows


def adjust(rows: list[Row]) -> list[Row]:
    """Give the rows p-values adjusted for the number of pairs, metrics and tasks, separately for each claim.

    A p-value of 0 from b resamples is adjusted as its upper bound.
    """
    families: dict[str, list[Row]] = {}  # by the claim about the margin, "" for the test of a difference
    for row in rows:
        families.setdefault(row["alternative"] if row["test"] == "margin" else "", []).append(row)
    for family in families.values():
        p = np.array([row["pvalue"] or row["pvalue_high"] for row in family])
        for row, adjusted in zip(family, holm(p).tolist(), strict=True):
            row.update(pvalue_holm=adjusted, n_compared=len(family))
    return rows
