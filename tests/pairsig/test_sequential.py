"""The sequential mode: the same draws as the fixed run, and decisions that are wrong as seldom as expected_loss."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import oracles
import simulate
from pairsig import InputError, bootstrap_test, randomization_test
from pairsig.comparisons import baseline
from pairsig.core import definitions
from pairsig.stats import sequential
from pairsig.stats.exact import exact_test
from pairsig.stats.sequential import sequential_test


def pair(seed, n=300, spread=0.2, metric="f1"):
    return simulate.statistics(metric, n_systems=2, n_segments=n, spread=spread, seed=seed).counts


@pytest.mark.parametrize("test", [test for test in definitions.TESTS if not test.exact], ids=lambda test: test.label)
@pytest.mark.parametrize("seed", range(2))
def test_counts_are_those_of_the_fixed_run(test, seed):
    a, b = pair(seed)
    fixed = {"bootstrap": bootstrap_test, "randomization": randomization_test}[test.name]
    options = {"metric": "f1", "document": np.arange(300) // 10 if seed % 2 else None, **oracles.how(test)}
    result = sequential_test(a, b, test=test.name, max_resamples=20_000, **options)
    plain = {"estimator": "plain"} if test.name == "randomization" else {}
    whole = fixed(a, b, n_resamples=result.n_resamples, **options, **plain)
    if result.significant is not None:
        assert result.significant == (whole.pvalue < 0.05)
    for name in ("score_a", "score_b", "gain", "better", "pvalue", "n_greater", "n_equal", "n_different", "n_segments"):
        assert getattr(result, name) == getattr(whole, name)
    assert result.n_resamples in list(sequential.looks(20_000))
    extreme = test.extreme(result.n_greater, result.n_equal)
    ends = sequential.confidence_sequence(extreme, result.n_resamples, 0.99)
    assert (result.pvalue_low, result.pvalue_high) == tuple(min(1.0, oracles.sides(test) * end) for end in ends)
    assert result.significant is sequential.decision(extreme, result.n_resamples, 0.05 / oracles.sides(test), 0.99)


def test_looks():
    assert list(sequential.looks(50)) == [50]
    looks = list(sequential.looks(10_000))
    assert (looks[:4], looks[-1]) == ([100, 125, 157, 197], 10_000)
    assert all(earlier < later <= 1.25 * earlier + 1 for earlier, later in pairwise(looks))


@pytest.mark.parametrize(("k", "n", "p"), [(0, 5, 0.3), (40, 400, 0.2), (7, 7, 0.9)])
def test_ratio_is_the_mixture_of_likelihoods(k, n, p):
    """Mₙ(p) = ∫ xᵏ(1 − x)ⁿ⁻ᵏ Beta(½, ½)(x) dx / (pᵏ(1 − p)ⁿ⁻ᵏ), by quadrature: x = sin²t makes the density 2/π dt."""

    def likelihood(t):
        x = math.sin(t) ** 2
        return (x / p) ** k * ((1 - x) / (1 - p)) ** (n - k) * 2 / math.pi

    mixture, _ = quad(likelihood, 0, math.pi / 2, limit=200, epsabs=0, epsrel=1e-11)
    assert sequential.log_ratio(k, n, p) == pytest.approx(math.log(mixture), abs=1e-9)


@pytest.mark.parametrize("p", [0.01, 0.05, 0.5])
def test_ratio_is_a_martingale(p):
    """p·M(k + 1, n + 1) + (1 − p)·M(k, n + 1) = M(k, n), from M = 1 on: all that Ville's inequality needs."""
    assert sequential.log_ratio(0, 0, p) == pytest.approx(0.0, abs=1e-15)
    for n in (1, 10, 100):
        for k in {0, 1, n // 3, n}:
            following = p * math.exp(sequential.log_ratio(k + 1, n + 1, p))
            following += (1 - p) * math.exp(sequential.log_ratio(k, n + 1, p))
            assert following == pytest.approx(math.exp(sequential.log_ratio(k, n, p)), rel=1e-10)


def stopping(p, alpha, confidence, most):
    """Probabilities of the answers True, False and None for a p-value, and the mean of resamples, without drawing."""
    alive, before = np.ones(1), 0
    answers, mean = {True: 0.0, False: 0.0, None: 0.0}, 0.0
    for n in sequential.looks(most):
        alive = np.convolve(alive, binom.pmf(np.arange(n - before + 1), n - before, p))
        before = n
        decided = [sequential.decision(k, n, alpha, confidence) for k in range(n + 1)]
        for answer in (True, False):
            at = np.array([one is answer for one in decided])
            answers[answer] += alive[at].sum()
            mean += n * alive[at].sum()
            alive[at] = 0.0
    answers[None] = alive.sum()
    return answers, mean + before * alive.sum()


@pytest.mark.parametrize("confidence", [0.9, 0.99])
@pytest.mark.parametrize("p", [0.04, 0.049, 0.05, 0.051, 0.06])
def test_wrong_decisions_are_as_rare_as_promised(p, confidence):
    """The distribution of the counts at every look is computed in closed form, without simulation."""
    answers, _ = stopping(p, 0.05, confidence, 4000)
    assert sum(answers.values()) == pytest.approx(1, abs=1e-9)
    wrong = answers[True] * (p >= 0.05) + answers[False] * (p <= 0.05)
    assert 0 < wrong <= 1 - confidence


def test_clear_cases_take_few_resamples():
    for p, most in ((0.0, 160), (0.001, 250), (0.2, 150), (0.5, 110)):
        answers, mean = stopping(p, 0.05, 0.99, 4000)
        assert answers[p < 0.05] > 0.99
        assert mean < most


@pytest.mark.parametrize(("k", "n"), [(0, 100), (3, 200), (100, 100), (57, 1000)])
def test_confidence_sequence_holds_what_is_not_excluded(k, n):
    low, high = sequential.confidence_sequence(k, n, 0.99)
    assert 0 <= low <= k / n <= high <= 1
    for p in np.linspace(0.0005, 0.9995, 500):
        assert (sequential.decision(k, n, p, 0.99) is None) == (low < p < high)
    assert (low == 0.0) == (k == 0)
    assert (high == 1.0) == (k == n)


def test_giving_up():
    """p = 0.0625 is too near to 0.05 for 200 resamples."""
    result = sequential_test([[1, 1]] * 5, [[0, 1]] * 5, test="randomization", max_resamples=200, metric="accuracy")
    assert (result.significant, result.n_resamples) == (None, 200)
    assert result.pvalue_low < 0.05 < result.pvalue_high
    assert "resamples:200|" in result.signature
    assert result.signature.endswith("|sequential:0.05,0.99")


@pytest.mark.parametrize(
    ("p", "error", "significant"),
    [
        # With a bound on its relative error p has the digits that are certain, and 6 of the next for a bound.
        (0.05, 1e-10, None),
        (0.05 * (1 + 3e-10), 1e-10, None),
        (0.05 * (1 - 3e-10), 1e-10, None),
        (0.05 * (1 - 9e-10), 1e-10, True),
        (0.05 * (1 + 9e-10), 1e-10, False),
        (0.05, 0.0, False),
        (math.nextafter(0.05, 0), 0.0, True),
        (1.0, 1e-9, False),
    ],
)
def test_an_exact_p_decides_unless_its_bounds_are_on_both_sides_of_alpha(p, error, significant):
    result = replace(exact_test([1, 1, 1], [0, 0, 0], metric="mean"), pvalue=p, log10_pvalue=0.0, error_bound=error)
    cells = baseline._pvalue(result, (0.05, 0.99))
    assert cells["significant"] is significant
    assert (cells["pvalue_low"] < 0.05 <= cells["pvalue_high"]) == (significant is None)
    assert cells["pvalue_high"] <= 1
    assert (cells["pvalue_low"] < cells["pvalue"]) == (error > 0)
    assert baseline._pvalue(result, None)["significant"] is None


def test_identical_systems_are_not_significant():
    a, _ = pair(1)
    for test in ("bootstrap", "randomization"):
        result = sequential_test(a, a, metric="f1", test=test)
        assert (result.significant, result.pvalue, result.pvalue_low, result.pvalue_high) == (False, 1.0, 1.0, 1.0)
        assert (result.better, result.n_resamples) == (None, 100)


def test_bad_input():
    for options, message in (
        ({"alpha": 0.0}, "the significance level is 0.0, expected a number between 0 and 1"),
        ({"confidence_level": 1.0}, "the confidence level is 1.0, expected a number between 0 and 1"),
        ({"max_resamples": 0}, "the number of resamples is 0, expected at least 1"),
        ({"rng": -1}, "the seed is -1, expected 0 or more"),
        ({"test": "exact"}, "the exact test draws nothing and cannot stop early, expected randomization or bootstrap"),
        (
            {"alternative": "one-sided"},
            "unknown alternative of the randomization test: 'one-sided', expected one of two-sided, gre",
        ),
    ):
        with pytest.raises(InputError, match=message):
            sequential_test([1, 1, 1], [0, 0, 0], **options)
