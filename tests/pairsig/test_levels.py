"""How often the tests find a difference between equally good systems.

The list of tests is that of `definitions.TESTS`, so that every new test is checked.
"""

import numpy as np
import pytest
from scipy.stats import binom

import oracles
import simulate
from conftest import repetitions
from pairsig.core import definitions, engine
from pairsig.core.exceedances import pvalues
from pairsig.metrics import registry
from pairsig.stats import kernels
from pairsig.stats.paired import Pair

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

CONTROLLED = (0.0, 0.05)
"""False-positive rate of a test that controls it."""


def rate(test, n):
    """Bounds on the share of pairs of equal systems with p <= ALPHA."""
    return CONTROLLED if test.controlled else oracles.RATES[test.method, test.alternative][n]


def p_of_pairs(scorer, pairs, test, seed, n_resamples):
    """P-values of pairs of systems, of which the first is A, not the better one."""
    gains = scorer.gains(pairs)
    turned = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
    p = np.ones(len(pairs))
    if test.exact and not test.directed:
        return kernels.pvalues(scorer, turned, test, "segment")
    if test.statistic:
        resampling = engine.Resampling(n_resamples // 2, seed)
        return np.array([
            kernels.run(Pair(scorer.metric, scorer.counts[both], None), test, resampling).pvalue for both in pairs
        ])  # fmt: skip
    drawn = test.drawn
    for favoured in (True, False):  # the directed alternatives favour the better system of some pairs
        rows = np.array([test.favours(gain, scorer.metric.higher_is_better) == favoured for gain in gains])
        if rows.any():
            counted = scorer.exceedances(turned[rows], drawn, engine.Resampling(n_resamples, seed), favoured=favoured)
            p[rows] = pvalues(counted, gains[rows], drawn)[0]
    return p


def rejected(population, n, tests, n_pairs, seed, n_resamples=1000):
    """Number of `n_pairs` independent pairs of equal systems that each test finds different, 50 per test set."""
    name, make = POPULATIONS[population]
    metric = registry.metric(name)
    counts = dict.fromkeys(tests, 0)
    for start in range(0, n_pairs, 50):
        data = make(100, n, seed + start)
        if metric.averaged:
            data = np.concatenate([data, np.ones_like(data)], axis=2)
        scorer = engine.Scorer(data, metric)
        pairs = np.arange(100).reshape(50, 2)
        for test in tests:
            p = p_of_pairs(scorer, pairs, test, seed + start, n_resamples)
            counts[test] += int((p < ALPHA if test.strict else p <= ALPHA).sum())
    return counts


def within(count, n, low, high):
    """Whether a count of n is what a probability between two bounds gives, but in one case of a thousand."""
    return binom.cdf(count, n, low) > 0.001 and binom.sf(count - 1, n, high) > 0.001


def applicable_tests(population, n):
    """All tests that there are for a metric; those with all resamples are checked against those with some.

    The exact test is the randomization test with all shuffles. Thousands of it take minutes on 100 segments, and on 20
    whose values have four digits; `test_exact.py` compares it with all shuffles there.
    """
    left_out = ("exact-bootstrap", "exact") if population in ("bleu", "means") or n > 50 else ("exact-bootstrap",)
    return [test for test in definitions.TESTS if test.name not in left_out]


def test_every_test_claims_a_rate():
    """A new test fails here until its rate is known."""
    for test in definitions.TESTS:
        assert rate(test, 50)[1] <= 0.05 or not test.controlled
    default = definitions.find(definitions.DEFAULT_TEST)
    assert default.controlled
    assert default.drawn.controlled


@pytest.mark.parametrize(("population", "n"), [("items", 50)])  # exact tests of F1 take longer
def test_rates(population, n):
    n_pairs = 300
    for test, found in rejected(population, n, applicable_tests(population, n), n_pairs, seed=1).items():
        assert within(found, n_pairs, *rate(test, n)), (test.label, found / n_pairs)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("population", POPULATIONS)
def test_rates_of_all_populations(population, n):
    n_pairs = repetitions(1000)
    for test, found in rejected(population, n, applicable_tests(population, n), n_pairs, seed=100).items():
        assert within(found, n_pairs, *rate(test, n)), (test.label, found / n_pairs)
