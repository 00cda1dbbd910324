"""Trainings of one method: simulated methods of known variances, and the findings once more without our own code."""

from __future__ import annotations

from itertools import combinations
from math import comb, erf, sqrt

import numpy as np
import pytest
from scipy import stats

from pairsig import Statistics
from pairsig.metrics import registry
from study.beyond.training_variance import training_variance
from test_recomputed import F1, f1, f1_influence, reference
from test_recomputed import counts as counts_of

MEAN = registry.metric("mean")


def simulated(rng, *, n_methods=6, k=8, n=800, training=1.0, rest=0.5, dataset="s"):
    """Runs METHOD-RUN with a variance of training of `training`/n of the score, and `rest`/n of single segments."""
    runs = {}
    unit = rng.normal(size=n)
    for method in range(n_methods):
        own = unit + 0.3 * rng.normal(size=n)
        for run in range(1, k + 1):
            level = sqrt(training / n) * rng.normal()
            runs[f"m{method}-{run}"] = own + level + sqrt(rest) * rng.normal(size=n)
    given = Statistics.from_arrays(runs, ["value"], dataset=dataset)
    return given, MEAN


def whole(table):
    """The row of the whole test set."""
    return table.sort_values("n_segments").iloc[-1]


class TestKnownVariances:
    def test_the_parts_of_the_variance(self):
        found = [whole(training_variance([simulated(np.random.default_rng(i))], splits=1)) for i in range(60)]
        n = 800
        assert np.mean([row["sd_training"] ** 2 for row in found]) == pytest.approx(1 / n, rel=0.1)
        truth = 2 / (2 + 1 + 0.18)
        assert np.mean([row["share"] for row in found]) == pytest.approx(truth, abs=0.03)
        assert np.mean([row["share_low"] <= truth <= row["share_high"] for row in found]) >= 0.8

    def test_runs_of_one_method_differ_by_chance_where_training_does_not_matter(self):
        tables = [
            training_variance([simulated(np.random.default_rng(i), n=200, training=0)], splits=2) for i in range(12)
        ]
        assert np.mean([table["share_significant"].mean() for table in tables]) == pytest.approx(0.05, abs=0.012)
        assert np.mean([table["share_significant_by_method"].mean() for table in tables]) == pytest.approx(
            0.05, abs=0.012
        )


class TestFewRuns:
    def test_one_run_each_is_too_few(self):
        given = Statistics.from_arrays({f"m{i}-1": np.arange(5.0) for i in range(4)}, ["value"], dataset="s")
        table = training_variance([(given, MEAN)])
        assert table["verdict"].tolist() == ["too few"]
        assert table["n_runs"].tolist() == [0]


# The findings again, from the embedded counts, with numpy and pyarrow alone.


def normal_p(z):
    """Two-sided."""
    return 1 - erf(abs(z) / sqrt(2))


@pytest.fixture(scope="module")
def modern():
    """Names of methods, and counts (runs × segments × matched, predicted, gold), of the largest test set."""
    systems, found, *_ = counts_of("icepahc-modern", F1)
    return [name.rsplit("-", 1)[0] for name in systems], found


def test_how_many_runs_of_one_method_differ_once_more(modern):
    methods, counts = modern
    by_outputs, by_runs, of_methods = [], [], []
    u, scores = f1_influence(counts), f1(counts.sum(1))
    for method in dict.fromkeys(methods):
        rows = [row for row, own in enumerate(methods) if own == method]
        for a, b in combinations(rows, 2):
            gain, error = scores[a] - scores[b], sqrt(((u[a] - u[b]) ** 2).sum())
            by_outputs.append(normal_p(gain / error) < 0.05)
            left = [scores[row] for row in rows if row not in (a, b)]
            t = gain / sqrt(2 * np.var(left, ddof=1))
            by_runs.append(2 * stats.t.sf(abs(t), len(left) - 1) < 0.05)
        of_methods.append(np.mean(by_outputs[-comb(len(rows), 2) :]))
    row = reference("training_variance", dataset="icepahc-modern", n_segments=counts.shape[1])
    assert np.mean(by_outputs) == pytest.approx(float(row["share_significant"]), abs=0.003)
    assert np.mean(by_runs) == pytest.approx(float(row["share_significant_by_method"]), abs=1e-9)
    assert int(float(row["n_pairs"])) == len(by_outputs)
    ends = [float(row["least_of_methods"]), float(row["most_of_methods"])]
    assert ends == pytest.approx([min(of_methods), max(of_methods)], abs=0.03)  # a pair of 45


def test_the_share_of_training_once_more(modern):
    methods, counts = modern
    u, scores = f1_influence(counts), f1(counts.sum(1))
    training, single, means = [], [], []
    for method in dict.fromkeys(methods):
        rows = np.array([own == method for own in methods])
        k = rows.sum()
        apart = ((u[rows] - u[rows].mean(0)) ** 2).sum() / (k - 1)
        single.append(apart)
        training.append(scores[rows].var(ddof=1) - apart)
        means.append(u[rows].mean(0))
    test_set = np.mean(
        [
            ((means[i] - means[j]) ** 2).sum() - (single[i] + single[j]) / 10
            for i, j in combinations(range(len(means)), 2)
        ]
    )
    share = 2 * np.mean(training) / (2 * np.mean(training) + 2 * np.mean(single) + test_set)
    row = reference("training_variance", dataset="icepahc-modern", n_segments=counts.shape[1])
    assert share == pytest.approx(float(row["share"]), abs=0.002)
    assert sqrt(np.mean(training)) == pytest.approx(float(row["sd_training"]), rel=0.002)
