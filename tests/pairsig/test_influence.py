"""Contributions of units to scores, and what follows for pairs, against closed forms and resampling."""

from dataclasses import replace

import numpy as np
import pytest

import simulate
from pairsig import Metric, Statistics
from pairsig.core.influence import errors_and_correlations, influence_values
from pairsig.metrics import registry


def of(data, metric):
    return influence_values(data.of(metric), metric)


def of_pairs(data, metric):
    """Positions of all pairs of systems, with the standard error and the correlation of each."""
    pairs = np.column_stack(np.triu_indices(len(data.systems), k=1))
    errors, correlations = errors_and_correlations(data.of(metric), metric, pairs)
    return list(zip(*pairs.T, errors.tolist(), correlations.tolist(), strict=True))


CLOSED_FORMS = {
    # The derivative of the score by the weight of a segment, with capital letters for totals.
    "accuracy": lambda c, C: 100 * (c[:, 0] / C[1] - C[0] * c[:, 1] / C[1] ** 2),
    "f1": lambda c, C: 200 * (c[:, 0] / (C[1] + C[2]) - C[0] * (c[:, 1] + c[:, 2]) / (C[1] + C[2]) ** 2),
    "precision": lambda c, C: 100 * (c[:, 0] / C[1] - C[0] * c[:, 1] / C[1] ** 2),
    "mean": lambda c, C: (c[:, 0] - C[0] / len(c)) / len(c),
}


def simulated(metric: str, **options) -> Statistics:
    family = {"precision": "f1", "recall": "f1"}.get(metric, metric)
    return simulate.statistics(family, **{"n_systems": 4, "n_segments": 300} | options)


class TestContributions:
    @pytest.mark.parametrize("metric", CLOSED_FORMS)
    def test_closed_forms(self, metric):
        data = simulated(metric)
        found = of(data, registry.metric(metric))
        for counts, u in zip(data.counts.astype(float), found, strict=True):
            np.testing.assert_allclose(u, CLOSED_FORMS[metric](counts, counts.sum(axis=0)), rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize("metric", ["f1", "bleu"])
    def test_they_sum_to_nothing(self, metric):
        """Twice the test set has the same score (homogeneity of degree 0), so Σu = ∇f(T)·T = 0 (Euler)."""
        data = simulated(metric)
        u = of(data, registry.metric(metric))
        assert np.abs(u).sum(axis=1).min() > 0.1
        np.testing.assert_allclose(u.sum(axis=1), 0, atol=1e-4 * np.abs(u).sum(axis=1).min())
        twice = of(data.select(segments=np.repeat(np.arange(300), 2)), registry.metric(metric))
        np.testing.assert_allclose(twice[:, ::2], u / 2, rtol=1e-4, atol=1e-7)

    def test_to_drop_a_segment_changes_the_score_so_much(self):
        data = simulated("bleu", n_segments=2000)
        metric = registry.metric("bleu")
        u = of(data, metric)
        totals = data.of(metric).sum(axis=1)
        for segment in range(0, 2000, 250):
            change = metric.score(totals - data.of(metric)[:, segment]) - metric.score(totals)
            np.testing.assert_allclose(-u[:, segment], change, atol=3e-4)
            assert np.abs(change).max() > 3e-4

    def test_sign_is_turned_where_lower_is_better(self):
        rng = np.random.default_rng(0)
        predicted, sure = rng.integers(5, 9, (2, 50))
        hits = rng.integers(0, 5, 50)
        data = Statistics.from_arrays(
            {"a": np.column_stack([hits, hits, predicted, sure])}, registry.metric("aer").columns
        )
        u = of(data, registry.metric("aer"))[0]
        total = predicted.sum() + sure.sum()
        expected = 100 * (2 * hits / total - 2 * hits.sum() * (predicted + sure) / total**2)
        np.testing.assert_allclose(u, expected, rtol=1e-6, atol=1e-9)

    def test_orders_without_a_match_are_no_trouble(self):
        data = simulated("bleu", n_segments=4)
        counts = data.counts.copy()
        counts[:, :, data.columns.index("match_4")] = 0
        u = of(replace(data, counts=counts), registry.metric("bleu"))
        assert np.isfinite(u).all()
        assert (u != 0).any()


class TestSimilarity:
    @pytest.mark.parametrize("metric", ["f1", "bleu"])
    def test_standard_error_is_that_of_resampled_gains(self, metric):
        chosen = registry.metric(metric)
        data = simulated(metric, n_segments=400)
        draws = np.random.default_rng(1).multinomial(400, np.full(400, 1 / 400), size=6000)
        scores = [chosen.score(draws @ counts) for counts in data.of(chosen).astype(float)]
        for a, b, error, _ in of_pairs(data, chosen):
            assert error == pytest.approx(np.std(scores[a] - scores[b]), rel=0.04)  # 0.9 % is the Monte Carlo error

    def test_correlation_is_that_of_the_influence_values(self):
        data = simulated("f1")
        correlations = np.corrcoef(of(data, registry.metric("f1")))
        for a, b, _, correlation in of_pairs(data, registry.metric("f1")):
            assert correlation == pytest.approx(correlations[a, b], rel=1e-5)
            assert 0.1 < correlation < 0.9

    def test_identical_systems(self):
        data = simulated("f1")
        data = replace(data, counts=data.counts[[0, 0, 1, 2]])
        (_, _, error, correlation), *_ = of_pairs(data, registry.metric("f1"))
        assert (error, correlation) == (0, pytest.approx(1))

    def test_contributions_are_centred(self):
        """A sum does not stay the same for twice the test set, so its contributions do not sum to nothing."""
        own = Metric("sum", ("value",), lambda totals: totals[..., 0], "Σ value", scale=None)
        values = np.random.default_rng(3).normal(5, 1, (3, 200)) + np.linspace(0, 1, 200)
        data = Statistics.from_arrays({name: row[:, None] for name, row in zip("abc", values, strict=True)}, ["value"])
        for a, b, error, correlation in of_pairs(data, own):
            assert correlation == pytest.approx(np.corrcoef(values[a], values[b])[0, 1], abs=1e-6)
            assert error == pytest.approx((values[a] - values[b]).std() * np.sqrt(200), rel=1e-5)

    def test_a_system_without_error_resembles_none(self):
        total = np.arange(1, 51)
        data = Statistics.from_arrays(
            {"perfect": np.column_stack([total, total]), "other": np.column_stack([total - 1, total])},
            ["correct", "total"],
        )
        metric = registry.metric("accuracy")
        ((_, _, error, correlation),) = of_pairs(data, metric)
        assert np.isnan(correlation)
        assert error > 0.1


def test_errors_do_not_depend_on_threads_and_order():
    metric = registry.metric("bleu")
    counts = simulated("bleu", n_systems=25).of(metric)
    pairs = np.random.default_rng(1).permuted(np.column_stack(np.triu_indices(25, k=1)), axis=1)
    expected = errors_and_correlations(counts, metric, pairs, threads=2)
    for one, other in zip(errors_and_correlations(counts, metric, pairs[:, ::-1], threads=1), expected, strict=True):
        np.testing.assert_array_equal(one, other)
