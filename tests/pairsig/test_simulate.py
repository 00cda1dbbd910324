"""Simulated systems have the truth they promise."""

from __future__ import annotations

import numpy as np
import pytest

import simulate
from pairsig.core import statistics
from pairsig.core.influence import influence_values
from pairsig.metrics import registry


def scores(metric: str, **options) -> np.ndarray:
    chosen = registry.metric(metric)
    return chosen.score(simulate.statistics(metric, **options).of(chosen).sum(axis=1))


@pytest.mark.parametrize("metric", simulate.FAMILIES)
def test_counts_are_possible_and_shaped_as_promised(metric):
    data = simulate.statistics(metric, n_systems=7, n_segments=200, n_groups=3, document_size=30)
    counts = data.of(registry.metric(metric))  # raises for impossible counts
    assert counts.shape[:2] == (7, 200)
    assert set(data.columns) == set(registry.metric(metric).columns)
    assert data.groups == ("group1", "group2", "group3", "group1", "group2", "group3", "group1")
    assert len(set(data.systems)) == 7
    assert [len(ids) for ids in (set(data.segments), set(data.documents))] == [200, 7]
    assert data.provenance["metric"] == metric
    assert (
        (scores(metric, n_systems=7, n_segments=200) > 0) & (scores(metric, n_systems=7, n_segments=200) < 100)
    ).all()


def test_equal_systems_differ_by_chance_only_and_less_on_larger_test_sets():
    """Scores of equal systems lie around one value, with a variance that falls as 1/n."""
    small, large = (np.var(scores("accuracy", n_systems=60, n_segments=n, spread=0.0)) for n in (200, 3200))
    assert small / large == pytest.approx(16, rel=0.6)  # a ratio of two χ² with 59 degrees of freedom: s.d. 27 %
    # while that of unequal ones stays
    small, large = (np.var(scores("accuracy", n_systems=60, n_segments=n, spread=0.5)) for n in (200, 3200))
    assert small / large == pytest.approx(1, rel=0.6)


@pytest.mark.parametrize("correlation", [0.0, 1.0])
def test_correlation_is_that_of_a_group(correlation):
    data = simulate.statistics(
        "accuracy", n_systems=8, n_segments=4000, n_groups=2, spread=0.0, correlation=correlation
    )
    metric = registry.metric("accuracy")
    observed = np.corrcoef(influence_values(data.of(metric), metric))
    groups = np.array(data.groups)
    same = (groups[:, None] == groups) & ~np.eye(8, dtype=bool)
    within, between = observed[same].mean(), observed[groups[:, None] != groups].mean()
    if correlation == 0:
        assert within == pytest.approx(between, abs=0.02)
    else:
        assert within - between > 0.05 * correlation


def test_documents_make_segments_depend_on_each_other():
    """Var of a document's sum of what a system has of its own: size × that of a segment, if these are independent."""

    def inflation(effect: float) -> float:
        data = simulate.statistics("mean", n_systems=2, n_segments=6000, document_size=10, document_effect=effect)
        own = data.counts[:1] - data.counts[1:]
        return statistics.by_document(data.documents, own).var() / (10 * own.var())

    assert inflation(0.0) == pytest.approx(1, abs=0.15)
    assert inflation(1.0) > 2
