"""Findings on leaderboards, compared with computations of a few lines each."""

from itertools import pairwise
from math import comb, sqrt

import numpy as np
import pytest

from pairsig import Statistics
from pairsig.metrics import registry
from study.beyond.leaderboards import leaderboards

ACCURACY = registry.metric("accuracy")


def board(runs, k=None, cost=None):
    """Statistics of runs passed, (systems × items), of k each."""
    runs = np.asarray(runs)
    k = np.broadcast_to(1 if k is None else k, len(runs))
    total = int(k.max())
    columns = {"correct": runs, "total": np.full(runs.shape, total), "runs": np.tile(k[:, None], runs.shape[1])}
    if cost is not None:
        columns["microdollars"] = np.asarray(cost)
    arrays = {
        f"s{number}": np.stack([column[number] for column in columns.values()], axis=1) for number in range(len(runs))
    }
    return Statistics.from_arrays(arrays, list(columns), dataset="board")


def analysed(*given, **options):
    boards, needed, dollars = leaderboards([(one, ACCURACY) for one in given], n_resamples=1000, **options)
    return boards.to_dict("records"), needed, dollars


def passed(n_systems, n_items, seed=1, spread=1.0):
    """Systems whose chances to pass follow from the item and the system."""
    rng = np.random.default_rng(seed)
    level = np.linspace(-spread, spread, n_systems)[:, None] + rng.normal(size=n_items)
    return (rng.random((n_systems, n_items)) < 1 / (1 + np.exp(-2 * level))).astype(int)


def sign_test(one, other):
    """Two-sided, over the items on which the two differ."""
    wins, losses = int((one > other).sum()), int((one < other).sum())
    n = wins + losses
    tail = sum(comb(n, j) for j in range(max(wins, losses), n + 1)) / 2**n
    return 1.0 if wins == losses else min(1.0, 2 * tail)


@pytest.mark.parametrize(("n_items", "spread"), [(300, 1.0), (60, 0.2)])
def test_neighbours_by_the_sign_test_with_holm_by_hand(n_items, spread):
    runs = passed(9, n_items, spread=spread)
    ((row,), _, _) = analysed(board(runs))
    order = np.argsort(-runs.sum(axis=1), kind="stable")
    p = {(a, b): sign_test(runs[a], runs[b]) for i, a in enumerate(order) for b in order[i + 1 :]}
    adjusted, before, left = {}, 0.0, 2 * len(p)
    for pair, value in sorted(p.items(), key=lambda one: one[1]):
        before = max(before, left * value / 2)
        adjusted[pair] = min(before, 1.0)
        left -= 1
    neighbours = list(pairwise(order))
    assert row["n_neighbours"] == 8
    assert row["share_significant"] == pytest.approx(np.mean([p[pair] < 0.05 for pair in neighbours]))
    assert row["share_significant_holm"] == pytest.approx(np.mean([adjusted[pair] < 0.05 for pair in neighbours]))
    assert row["share_significant_pairs_holm"] == pytest.approx(np.mean([value < 0.05 for value in adjusted.values()]))
    assert row["share_significant_holm_low"] <= row["share_significant_holm"] <= row["share_significant_holm_high"]
    assert 0 <= row["share_significant_holm_by_chance"] <= row["share_significant_by_chance"] < 0.05


def test_sampling_by_the_variance_of_explicit_runs():
    """With every run there, w is the mean over items of the variance of runs, and Var d of differences of means."""
    rng = np.random.default_rng(5)
    chance = rng.beta(0.7, 0.7, size=(7, 400))
    each = rng.random((7, 400, 4)) < chance[..., None]
    ((row,), _, _) = analysed(board(each.sum(axis=2), k=4))
    w = each.var(axis=2, ddof=1).mean(axis=1)
    mean = each.mean(axis=2)
    one, given = [], []
    for a in range(7):
        for b in range(a):
            spread = (mean[a] - mean[b]).var(ddof=1)
            between = spread - (w[a] + w[b]) / 4
            one.append((w[a] + w[b]) / (between + w[a] + w[b]))
            given.append((w[a] + w[b]) / 4 / spread)
    assert row["n_runs"] == 4
    assert row["sampling"] == pytest.approx(np.mean(one))
    assert row["sampling_of_all"] == pytest.approx(np.mean(given))
    # The truth: of a run, the mean of c(1 − c); between items, the variance of the difference of chances.
    truth = (2 * (chance * (1 - chance)).mean()) / (2 * (chance * (1 - chance)).mean() + 2 * chance.var())
    assert row["sampling"] == pytest.approx(truth, abs=0.03)
    assert row["sampling_by_chance"] == pytest.approx(1, abs=0.03)


def test_items_that_are_all_alike_leave_nothing_but_sampling():
    rng = np.random.default_rng(6)
    ((row,), _, _) = analysed(board(rng.binomial(5, np.linspace(0.3, 0.7, 8)[:, None], size=(8, 300)), k=5))
    assert row["sampling"] > 0.9
    assert row["sampling_of_all"] > 0.8


def test_systems_of_one_run_have_no_part_in_sampling():
    rng = np.random.default_rng(7)
    runs = rng.binomial(5, rng.random((8, 200)))
    ((many,), _, _) = analysed(board(runs, k=5))
    greedy = np.vstack([runs, 5 * rng.integers(0, 2, (1, 200))])
    ((more,), _, _) = analysed(board(greedy, k=np.array([5] * 8 + [1])))
    assert more["sampling"] == pytest.approx(many["sampling"])
    assert (more["n_systems"], many["n_systems"]) == (9, 8)
    ((none,), _, _) = analysed(board(passed(8, 200)))
    assert np.isnan(none["sampling"])


def test_gains_and_dollars_of_the_median_pair():
    runs = passed(12, 250, seed=3)
    cost = np.random.default_rng(4).integers(1000, 900_000, runs.shape)
    ((row,), needed, dollars) = analysed(board(runs, cost=cost))
    pairs = [(a, b) for a in range(12) for b in range(a)]
    spread = np.array([1e4 * (runs[a] - runs[b]).var() for a, b in pairs])
    alike = np.array([np.corrcoef(runs[a], runs[b])[0, 1] for a, b in pairs])
    middle = np.array([50 * (runs[a].mean() + runs[b].mean()) for a, b in pairs])
    by_model = 2e4 * (1 - alike) * middle / 100 * (1 - middle / 100)
    assert row["correlation"] == pytest.approx(np.median(alike), abs=1e-5)
    assert row["overdispersion"] == pytest.approx(np.exp(np.log(spread / by_model).mean()), rel=1e-5)
    every = needed.iloc[0]
    assert (every["score_low"], every["score_high"], every["n_pairs"], every["n_systems"]) == (0, 100, 66, 12)
    power = 1.959964 + 0.841621
    for n in (500, 1000):
        # Of an even number of pairs the median is between the two in the middle, here on the scale of logarithms.
        assert every[f"gain_{n}"] == pytest.approx(power * np.median(np.sqrt(spread / n)), rel=0.01)
        assert every[f"gain_{n}_low"] < every[f"gain_{n}"] < every[f"gain_{n}_high"]
    dense = needed[(needed["score_low"] == 40) & (needed["correlation_low"] == -1) & (needed["correlation_high"] == 1)]
    inside = (middle >= 40) & (middle < 60)
    assert dense["n_pairs"].item() == inside.sum()
    assert dense["gain_500"].item() == pytest.approx(power * np.median(np.sqrt(spread[inside] / 500)), rel=0.01)

    price = np.array([(cost[a] + cost[b]).mean() / 1e6 for a, b in pairs])
    paid = dict(zip(dollars["true_gain"], dollars["dollars"], strict=True))
    for gain in (1, 2, 5, 10):
        expected = np.ceil(power**2 * spread / gain**2) * price
        assert paid[f"{gain}"] == pytest.approx(np.median(expected), rel=0.01)
    own = np.array([100 * abs(runs[a].mean() - runs[b].mean()) for a, b in pairs])
    assert paid["own"] == pytest.approx(
        np.median(np.ceil(power**2 * spread[own > 0] / own[own > 0] ** 2) * price[own > 0]), rel=0.02
    )


def test_the_power_is_that_of_simulations():
    """If a pair has the gain that 500 items should detect, four of five simulations detect it."""
    rng = np.random.default_rng(8)
    alike = rng.random((7, 4000)) < 0.5
    _, needed, _ = analysed(board(np.where(rng.random((7, 4000)) < 0.5, alike[0], alike).astype(int)))
    gain = needed["gain_500"].iloc[0] / 100
    found = 0
    for _ in range(1000):
        shared, one, other = (rng.random(500) < 0.5 for _ in range(3))
        mixed = rng.random((2, 500)) < 0.5
        a, b = np.where(mixed[0], shared, one).astype(float), np.where(mixed[1], shared, other).astype(float)
        worse = (rng.random(500) < 2 * gain) & (b == 1)
        difference = a - np.where(worse, 0, b)
        found += abs(difference.mean()) > 1.96 * difference.std() / sqrt(500)
    assert found / 1000 == pytest.approx(0.8, abs=0.06)


def test_equal_systems_are_no_error():
    runs = passed(7, 80)
    ((row,), needed, dollars) = analysed(board(np.vstack([runs, runs[-1:]]), cost=np.ones((8, 80), dtype=int)))
    assert row["n_pairs"] == 28
    assert needed.iloc[0]["n_pairs"] == 27
    assert dollars["n_pairs"].max() == 27
    same = np.tile(runs[:1], (3, 1))
    ((none,), needed, _) = analysed(board(same))
    assert (none["share_significant"], none["share_significant_holm"], none["share_significant_pairs_holm"]) == (
        0,
        0,
        0,
    )
    assert np.isnan(none["correlation"])
    assert needed.empty


def test_a_benchmark_of_one_item():
    ((row,), needed, _) = analysed(board(np.array([[1], [0], [1]])))
    assert row["n_segments"] == 1
    assert row["share_significant_holm"] == 0
    assert needed.empty


def test_no_benchmark_gives_empty_tables():
    assert all(table.empty for table in leaderboards([]))
