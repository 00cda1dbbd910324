"""How often tests reject equal systems: the levels that the docstring of `bootstrap_test` prints."""

import numpy as np
import pytest
from scipy.stats import binom

import simulate
from pairsig import engine
from pairsig.definitions import find
from pairsig.metrics import registry
from pairsig.tally import p_values

ALPHA = 0.05


def items(share):
    """Pass or fail, each item with its own chance of being solved, the same for every system."""

    def make(n_systems, n, seed):
        rng = np.random.default_rng([seed, n])
        chance = share(rng, n) if callable(share) else share
        return (rng.random((n_systems, n)) < chance)[:, :, None].astype(int)

    return make


def normal(n_systems, n, seed):
    return np.random.default_rng([seed, n]).normal(size=(n_systems, n, 1)).round(4)


def simulated(metric):
    def make(n_systems, n, seed):
        return simulate.statistics(metric, n_systems=n_systems, n_segments=n, spread=0.0, seed=seed).counts

    return make


POPULATIONS = {
    "means": ("mean", normal),
    "items": ("mean", items(0.5)),
    "hard and easy items": ("mean", items(lambda rng, n: rng.beta(0.5, 0.5, n))),
    "accuracy": ("accuracy", simulated("accuracy")),
    "f1": ("f1", simulated("f1")),
    "bleu": ("bleu", simulated("bleu")),
}


def rejected(population, n, test, variant, n_pairs, seed, n_resamples=1000):
    """Number of `n_pairs` independent pairs of equal systems with p below ALPHA, 50 pairs a test set."""
    name, make = POPULATIONS[population]
    metric = registry.metric(name)
    count = 0
    for start in range(0, n_pairs, 50):
        counts = make(100, n, seed + start)
        if metric.averaged:
            counts = np.concatenate([counts, np.ones_like(counts)], axis=2)
        judge = engine.Judge(counts, metric)
        pairs = np.arange(100).reshape(50, 2)
        gains = judge.gains(pairs)
        pairs = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
        chosen = find(test, variant)
        told = judge.tally(pairs, chosen, engine.Resampling(n_resamples, seed + start))
        p, _, _ = p_values(told, gains, chosen)
        count += int((p < ALPHA if chosen.strict else p <= ALPHA).sum())
    return count


def within(count, n, low, high):
    """Whether a count of n is what a probability between two bounds gives, but in one case of a thousand."""
    return binom.cdf(count, n, low) > 0.001 and binom.sf(count - 1, n, high) > 0.001


LEVELS = {
    ("bootstrap", "gt2"): {20: (0.12, 0.20), 50: (0.09, 0.14), 100: (0.10, 0.14), 500: (0.085, 0.115)},
    ("bootstrap", "percentile"): {20: (0.12, 0.26), 50: (0.09, 0.16), 100: (0.10, 0.14), 500: (0.085, 0.115)},
    ("bootstrap", "two-sided"): {20: (0.045, 0.09), 50: (0.04, 0.065), 100: (0.035, 0.06), 500: (0.035, 0.055)},
    ("randomization", "two-sided"): {20: (0.01, 0.05), 50: (0.025, 0.05), 100: (0.03, 0.05), 500: (0.03, 0.05)},
}
"""The table in the docstring, to half a point."""


@pytest.mark.parametrize("population", ["items", "f1"])
def test_two_sided_tests_keep_their_level_and_one_sided_do_not(population):
    n, n_pairs = 50, 600
    for (test, variant), levels in LEVELS.items():
        found = rejected(population, n, test, variant, n_pairs, seed=1)
        assert within(found, n_pairs, *levels[n]), (test, variant, found / n_pairs)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 100, 500])
@pytest.mark.parametrize("population", POPULATIONS)
def test_levels(population, n):
    n_pairs = 2000
    for (test, variant), levels in LEVELS.items():
        found = rejected(population, n, test, variant, n_pairs, seed=100)
        assert within(found, n_pairs, *levels[n]), (test, variant, found / n_pairs)
