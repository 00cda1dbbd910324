"""Every test with every method and alternative, against its formula, evaluated with fractions over all draws."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import pairsig
from conftest import examples
from pairsig import InputError, bootstrap_test, exact_bootstrap_test, exact_test, randomization_test, sequential_test
from pairsig.core import definitions, random_streams
from pairsig.stats.exact import distributions

SCORES = {
    "mean": lambda t: Fraction(t[0], t[1]),
    "accuracy": lambda t: Fraction(100 * t[0], t[1]) if t[1] else Fraction(0),
    "ter": lambda t: Fraction(100 * t[0], t[1]) if t[1] else Fraction(100 * bool(t[0])),  # lower is better
    "f1": lambda t: Fraction(200 * t[0], t[1] + t[2]) if t[1] + t[2] else Fraction(0),
    "aer": lambda t: 100 - Fraction(100 * (t[0] + t[1]), t[2] + t[3]) if t[2] + t[3] else Fraction(0),
}
LOWER_IS_BETTER = ("ter", "aer")


def function(test):
    return getattr(pairsig, test.function)


def difference(metric, a, b):
    """score(a) − score(b), literally, of lists of rows."""
    one, other = ([sum(column) for column in zip(*rows, strict=True)] for rows in (a, b))
    return SCORES[metric](one) - SCORES[metric](other)


def drawn(metric, a, b, test, weights):
    """score(a) − score(b) on draws: numbers of each unit (bootstrap), or 1 where a unit is swapped."""
    found = []
    for own in weights:
        if test.draw == "resample":
            rows = [[[w * x for x in row] for w, row in zip(own, of, strict=True)] for of in (a, b)]
        else:
            rows = list(zip(*[(y, x) if swap else (x, y) for x, y, swap in zip(a, b, own, strict=True)], strict=True))
        found.append(difference(metric, *rows))
    return found


def expected(test, d, differences):
    """The p-value."""
    if d == 0 and test.alternative in ("two-sided", "observed"):
        return Fraction(1)
    extreme = oracles.EXTREME[test.method, test.alternative]
    count, n = sum(extreme(d, own) for own in differences), len(differences)
    sides = 2 if (test.method, test.alternative) in oracles.DOUBLED else 1
    plus = 0 if test.exact or (test.draw == "resample" and test.alternative == "observed") else 1
    return min(Fraction(1), sides * Fraction(count + plus, n + plus))


def every_draw(test, n):
    if test.draw == "swap":
        return list(itertools.product((0, 1), repeat=n))
    return [np.bincount(own, minlength=n).tolist() for own in itertools.product(range(n), repeat=n)]


def seeded_draws(test, n, n_resamples, seed):
    draws = {"resample": random_streams.bootstrap_counts, "swap": random_streams.swaps}[test.draw]
    return np.asarray(draws(seed, 0, n_resamples, n)).astype(int).tolist()


@st.composite
def two_systems(draw, metric, most):
    """Counts of two systems with many ties, with equal scores, and with either one better."""
    n = draw(st.integers(2, most))
    number = st.integers(0, 3)
    gold = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))

    def system():
        rows = []
        for size in gold:
            if metric == "mean":
                rows.append([draw(number) - 1, 1])
            elif metric == "accuracy":
                rows.append([draw(st.integers(0, size)), size])
            elif metric == "ter":
                rows.append([draw(number), size])
            elif metric == "aer":
                sure = draw(st.integers(0, size))
                rows.append([sure, sure, draw(st.integers(sure, 3)), size])
            else:
                matched = draw(st.integers(0, size))
                rows.append([matched, draw(st.integers(matched, 3)), size])
        return rows

    first = system()
    if metric in ("mean", "f1", "aer") and draw(st.booleans()):
        return first, draw(st.permutations(first))  # equal scores, from units that differ
    return first, system()


def given_as(metric, rows):
    return [row[:1] for row in rows] if metric == "mean" else rows


def suits(test, metric):
    return test.name != "exact-bootstrap" or metric not in ("f1", "aer")


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.parametrize("name", definitions.names())
def test_pvalues_are_those_of_the_formula(name, metric):
    """All methods and alternatives of a test, which share their draws."""
    tests = [test for test in definitions.TESTS if test.name == name and suits(test, metric)]
    exact, swapped = definitions.find(name).exact, definitions.find(name).draw == "swap"

    @examples(6)
    @given(two_systems(metric, 6 if swapped else 4))
    def agrees(pair):
        a, b = pair
        d = difference(metric, a, b)
        draws = every_draw(tests[0], len(a)) if exact else seeded_draws(tests[0], len(a), 60, 3)
        differences = drawn(metric, a, b, tests[0], draws)
        for test, most_sums in itertools.product(tests, (distributions.MOST_SUMS, 0) if exact else (0,)):
            options = {"metric": metric, **oracles.how(test)} | ({} if exact else {"n_resamples": 60, "rng": 3})
            with pytest.MonkeyPatch.context() as patch:  # enumerated, and transformed
                patch.setattr(distributions, "MOST_SUMS", most_sums)
                result = function(test)(given_as(metric, a), given_as(metric, b), **options)
            assert result.pvalue == pytest.approx(float(expected(test, d, differences)), rel=1e-11, abs=1e-14), test
            assert result.statistic == pytest.approx(float(d), abs=1e-12)
            assert (result.statistic == 0) == (d == 0)
            assert result.better == (None if d == 0 else "a" if (d > 0) != (metric in LOWER_IS_BETTER) else "b")
            assert (result.method, result.alternative) == (test.method, test.alternative)

    if tests:
        agrees()


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_hundred_segments_are_transformed(alternative):
    """p is known as a fraction or not, small or near 1: the two directions add up to 1 and the ties."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 300))
    one = exact_test(a, b, alternative=alternative)
    sampled = randomization_test(a, b, alternative=alternative, n_resamples=200_000)
    assert sampled.pvalue_low <= one.pvalue <= sampled.pvalue_high
    for method in definitions.methods("bootstrap"):
        one = exact_bootstrap_test(a, b, alternative=alternative, method=method)
        sampled = bootstrap_test(a, b, alternative=alternative, method=method, n_resamples=200_000)
        assert sampled.pvalue_low <= one.pvalue <= sampled.pvalue_high


@pytest.mark.parametrize(
    "test", [test for test in definitions.TESTS if test.exact and not test.drawn.exact], ids=lambda test: test.label
)
def test_a_test_that_stops_early_decides_as_the_exact_one(test):
    rng = np.random.default_rng(4)
    for share in (0.5, 0.6, 0.7):
        a, b = rng.random(60) < share, rng.random(60) < 0.5
        exact = function(test)(a, b, **oracles.how(test))
        result = sequential_test(a, b, test=test.drawn.name, max_resamples=20_000, **oracles.how(test))
        assert result.significant in (None, exact.pvalue < 0.05)
        assert result.pvalue_low <= exact.pvalue <= result.pvalue_high


def test_what_there_is_not():
    with pytest.raises(
        InputError, match="the randomization test has no methods to choose from, found method 'shifted'"
    ):
        definitions.find("randomization", "shifted")


def test_seeds():
    """`rng` is a seed, or a generator that one seed is drawn from."""
    a, b = [1, 1, 0, 1, 1], [0, 1, 1, 0, 0]
    seed = int(np.random.default_rng(7).integers(2**63))
    generator = np.random.default_rng(7)
    first, second = (randomization_test(a, b, n_resamples=50, rng=generator) for _ in range(2))
    assert first == randomization_test(a, b, n_resamples=50, rng=seed)
    assert f"seed:{seed}" in first.signature
    assert first.signature != second.signature
    with pytest.raises(InputError, match="rng is 'x', expected a whole number or a numpy Generator"):
        randomization_test(a, b, rng="x")


def test_scores_per_item():
    a, b = [0, 1, 1, 0], [1, 1, 1, 1]
    result = exact_test(a, b)
    assert (result.metric, result.score_a, result.score_b, result.statistic) == ("mean", 0.5, 1.0, -0.5)
    assert exact_test(np.array(a) == 1, np.array(b) == 1).pvalue == result.pvalue == 0.5
    percent = exact_test(a, b, metric="accuracy")
    assert (percent.statistic, percent.pvalue) == (-50.0, 0.5)
    assert exact_test([[0.25], [0.5]], [[0.5], [0.75]]).metric == "mean"
    with pytest.raises(InputError, match=r"the shape \(4, 2\), which do not determine the metric; .*: accuracy, ter"):
        exact_test([[1, 1]] * 4, [[0, 1]] * 4)
    with pytest.raises(InputError, match=r"the shape \(4, 2\) and \(4,\), which do not determine the metric"):
        exact_test([[1, 1]] * 4, [0] * 4)
