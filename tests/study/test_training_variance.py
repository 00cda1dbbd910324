"""Trainings of one method: simulated methods of known variances, and the findings once more without our own code."""

from __future__ import annotations

from itertools import combinations
from math import comb, erf, sqrt

import numpy as np
import pytest
from scipy import stats

from pairsig import Statistics
from pairsig.metrics import registry
from study.analysis import over_systems
from study.beyond.training_variance import _Runs, _scored, training_variance
from study.figures.training_variance import training_variance as figure
from test_recomputed import F1, f1, f1_influence, reference
from test_recomputed import counts as counts_of

MEAN = registry.metric("mean")


def simulated(rng, *, n_methods=6, k=8, n=800, training=1.0, rest=0.5, spread=0.0, dataset="s"):
    """Runs METHOD-RUN with a variance of training of `training`/n of the score, and `rest`/n of single segments."""
    runs = {}
    unit = rng.normal(size=n)
    for method in range(n_methods):
        own = unit + 0.3 * rng.normal(size=n) + spread * rng.normal() / sqrt(n)
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
        found = [whole(training_variance([simulated(np.random.default_rng(i))], splits=1)[0]) for i in range(20)]
        n = 800
        assert np.mean([row["sd_training"] ** 2 for row in found]) == pytest.approx(1 / n, rel=0.1)
        truth = 2 / (2 + 1 + 0.18)
        assert np.mean([row["share"] for row in found]) == pytest.approx(truth, abs=0.03)
        assert np.mean([row["share_low"] <= truth <= row["share_high"] for row in found]) >= 0.8

    def test_runs_of_one_method_differ_by_chance_where_training_does_not_matter(self):
        tables = [
            training_variance([simulated(np.random.default_rng(i), n=200, training=0)], splits=2)[0] for i in range(12)
        ]
        assert np.mean([table["share_significant"].mean() for table in tables]) == pytest.approx(0.05, abs=0.012)
        assert np.mean([table["share_significant_by_method"].mean() for table in tables]) == pytest.approx(
            0.05, abs=0.012
        )


def test_the_interval_of_pairs_that_differ_holds_the_share_of_all_runs():
    """Of fixed methods whose runs vary by different amounts, the share among infinitely many runs of them."""
    rng = np.random.default_rng(3)
    ratios = np.array([0, 0, 0.5, 1, 2, 4, 8, 30, 60])  # of the variance of training to that of single segments
    truth = np.mean(2 * stats.norm.sf(1.96 / np.sqrt(1 + ratios)))
    k = 10
    runs = np.arange(len(ratios) * k).reshape(-1, k)
    first, second = np.triu_indices(k, 1)
    pairs = np.concatenate([np.column_stack([own[first], own[second]]) for own in runs])
    caught = []
    for _ in range(400):
        scores = np.sqrt(1 + ratios)[:, None] * rng.normal(size=(len(ratios), k))
        replicated = np.abs(scores[:, first] - scores[:, second]) > 1.96 * sqrt(2)
        _, low, high = over_systems.share(replicated.ravel(), pairs)
        caught.append(low <= truth <= high)
    assert np.mean(caught) > 0.93


def test_the_p_value_by_method_is_welchs_with_the_variance_of_the_other_runs():
    """From one run of each method; the other runs only say how much runs vary (Satterthwaite 1946)."""
    rng = np.random.default_rng(8)
    n, k = 300, 5
    methods = ["a"] * k + ["b"] * k
    values = rng.normal(size=n) + 0.7 * rng.normal(size=(2 * k, n)) + 0.1 * rng.normal(size=(2 * k, 1))
    counts = np.stack([values, np.ones_like(values)], axis=2)
    runs, scored = _Runs(methods, "c", {}), _scored(counts, MEAN)
    pvalues = runs.better(scored, scored)["method-level test"][0]
    means = values.mean(axis=1)
    for (a, b), pvalue in zip(runs.pairs.tolist(), pvalues, strict=True):
        variance = np.var(values[a] - values[b], ddof=1) / n
        training, uncertainty = 0.0, variance**2 / (n - 1)
        for run, of_method in ((a, values[:k]), (b, values[k:])):
            others = np.delete(of_method.mean(axis=1), run % k)
            rest = np.var(of_method, axis=0, ddof=1)  # of single segments, around the mean of the runs
            within = (rest.mean() - np.var(of_method.mean(axis=1), ddof=1)) / (n - 1)
            training += max(0.0, np.var(others, ddof=1) - within)
            uncertainty += max(within, np.var(others, ddof=1)) ** 2 / (k - 2)
        total = variance + training
        t = abs(means[a] - means[b]) / sqrt(total)
        assert pvalue == pytest.approx(stats.t.sf(t, total**2 / uncertainty), rel=1e-6)


class TestBetterMethod:
    def rows(self, seed, **options):
        """Of three datasets together, on 400 segments, by question."""
        rng = np.random.default_rng(seed)
        given = [simulated(rng, n_methods=12, k=6, spread=1.5, dataset=f"s{i}", **options) for i in range(3)]
        _, found = training_variance(given, splits=3)
        return found[(found["dataset"] == "all") & (found["n_segments"] == 400)].set_index("question")

    def test_p_names_the_outputs_as_often_as_predicted_and_the_method_less_often(self):
        rows = self.rows(4, training=2, rest=0.2)
        # Outputs hold what they are tested for; of the method they are runs, one each.
        assert rows.loc["outputs", "replicated"] == pytest.approx(rows.loc["outputs", "expected"], abs=0.04)
        assert rows.loc["method", "replicated"] < rows.loc["method", "expected"] - 0.1
        assert rows.loc["method-level test", "replicated"] == pytest.approx(
            rows.loc["method-level test", "expected"], abs=0.1
        )


class TestFewRuns:
    def test_one_run_each_is_too_few(self):
        given = Statistics.from_arrays({f"m{i}-1": np.arange(5.0) for i in range(4)}, ["value"], dataset="s")
        for table in training_variance([(given, MEAN)]):
            assert table["verdict"].tolist() == ["too few"]
            assert table["n_runs"].tolist() == [0]

    def test_no_dataset_and_the_figure_of_nothing(self):
        found = training_variance([])
        assert [len(table) for table in found] == [0, 0]
        text = " ".join(text.get_text() for axes in figure(*found).axes for text in axes.texts)
        assert "too few pairs of runs" in text


# The findings again, from the embedded counts, with numpy and pyarrow alone.


def gain_and_error(a, b):
    difference = f1_influence(a) - f1_influence(b)
    return f1(a.sum(0)) - f1(b.sum(0)), sqrt((difference**2).sum())


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


def test_which_method_p_names_once_more(modern):
    """On 1,600 segments of one half of icepahc-modern, compared with the other half."""
    methods, counts = modern
    n = counts.shape[1]
    named = {"outputs": [], "method": [], "method-level test": []}
    for split in range(10):
        order = np.random.default_rng([2012, split]).permutation(n)
        on, against = counts[:, order[:1600]], counts.sum(1) - counts[:, order[: n // 2]].sum(1)
        u, scores, truth = f1_influence(on), f1(on.sum(1)), f1(against)
        products = u @ u.T
        others = {}
        for run, method in enumerate(methods):
            rows = [row for row, own in enumerate(methods) if own == method]
            left = [row for row in rows if row != run]
            mean = u[rows].mean(0)
            single = ((u[rows] - mean) ** 2).sum() / (len(rows) - 1)
            training = max(0, scores[left].var(ddof=1) - single)
            others[run] = truth[left].mean(), training, training + single
        a, b = np.array(
            [pair for pair in combinations(range(len(methods)), 2) if len({methods[i] for i in pair}) == 2]
        ).T
        gain, variance = scores[a] - scores[b], products[a, a] + products[b, b] - 2 * products[a, b]
        mean, training, doubt = np.array([others[run] for run in range(len(methods))]).T
        better = (mean[a] > mean[b]) == (gain > 0)
        p = stats.norm.sf(abs(gain) / np.sqrt(variance))
        near = (p >= 0.04) & (p <= 0.06)
        named["outputs"] += ((truth[a] > truth[b]) == (gain > 0))[near].tolist()
        named["method"] += better[near].tolist()
        whole_variance = variance + training[a] + training[b]
        degrees = whole_variance**2 / (variance**2 / 1599 + (doubt[a] ** 2 + doubt[b] ** 2) / 8)
        p = stats.t.sf(abs(gain) / np.sqrt(whole_variance), degrees)
        named["method-level test"] += better[(p >= 0.04) & (p <= 0.06)].tolist()
    for question, replicated in named.items():
        row = reference("better_method", dataset="icepahc-modern", n_segments=1600, question=question)
        assert np.mean(replicated) == pytest.approx(float(row["replicated"]), abs=0.01), question
        assert len(replicated) == pytest.approx(int(float(row["n_tested"])), abs=5)
