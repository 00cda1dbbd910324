"""Every test with every method and alternative, against its formula, evaluated with fractions over all draws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import pairsig
from conftest import examples
from pairsig import InputError, exact_test, randomization_test
from pairsig.core import definitions
from pairsig.stats.exact import distributions


def function(test):
    return getattr(pairsig, test.function)


@st.composite
def two_systems(draw, metric, least, most):
    """Counts of two systems with many ties and zeros, with equal scores, and with either one better."""
    n = draw(st.integers(least, most))
    number = st.integers(0, 3)
    gold = draw(st.lists(number, min_size=n, max_size=n))

    def row(size):
        matched = draw(st.integers(0, size))
        predicted = draw(st.integers(matched, 3))
        return {
            "mean": [predicted - 1],
            "accuracy": [matched, size],
            "totals": [matched, predicted],
            "ter": [predicted if size else 0, size],
            "aer": [matched, matched, predicted, size],
        }.get(metric, [matched, predicted, size])

    first = [row(size) for size in gold]
    if metric not in ("accuracy", "recall", "ter") and draw(st.booleans()):
        return first, draw(st.permutations(first))  # equal scores, from units that differ
    return first, [row(size) for size in gold]


@pytest.mark.parametrize("metric", [*oracles.SCORES, "totals"])
@pytest.mark.parametrize("name", definitions.names())
def test_pvalues_are_those_of_the_formula(name, metric):
    """All methods and alternatives of a test share their draws; `totals` is an accuracy whose denominators differ."""
    exact, draw = definitions.find(name).exact, definitions.find(name).draw
    if name == "exact-bootstrap" and metric not in ("mean", "accuracy", "recall", "ter"):
        return  # the systems have different denominators
    formula = "accuracy" if metric == "totals" else metric

    @examples(6 if exact else 4)
    @given(two_systems(metric, *((1, 6) if draw == "swap" else (2, 4))))
    def agrees(pair):
        a, b = pair
        d = oracles.difference(formula, a, b)
        draws = oracles.every_draw(draw, len(a)) if exact else oracles.seeded_draws(draw, len(a), 60, 3)
        for test in [test for test in definitions.TESTS if test.name == name]:
            p = oracles.pvalue(formula, a, b, test, draws)
            options = {"metric": formula, **oracles.how(test)} | ({} if exact else {"n_resamples": 60, "rng": 3})
            if name == "randomization":
                options["estimator"] = "plain"
            for most_sums in (distributions.MOST_SUMS, 0) if exact else (0,):
                with pytest.MonkeyPatch.context() as patch:  # enumerated, and transformed
                    patch.setattr(distributions, "MOST_SUMS", most_sums)
                    result = function(test)(a, b, **options)
                assert result.pvalue == pytest.approx(float(p), rel=1e-11, abs=0.0), test
                assert result.statistic == pytest.approx(float(d) * (1 if metric == "mean" else 100), abs=1e-12)
                assert (result.statistic == 0) == (d == 0)
                better = "a" if (d > 0) != (metric in oracles.LOWER_IS_BETTER) else "b"
                assert result.better == (None if d == 0 else better)
                assert (result.method, result.alternative) == (test.method, test.alternative)
                if not exact:
                    assert (result.n_greater, result.n_equal) == oracles.extremes(formula, a, b, test, draws)
                    assert result.pvalue_low <= result.pvalue <= result.pvalue_high
                elif d == 0 and not test.directed:
                    assert (result.pvalue, result.log10_pvalue) == (1, 0)
                else:
                    ties = float(oracles.exact(formula, a, b, test)[1])
                    assert result.p_equal == pytest.approx(ties, rel=1e-9, abs=1e-15)
                    assert result.log10_pvalue == (pytest.approx(oracles.log10(p), abs=1e-11) if p else -math.inf)
                    if draw == "swap":  # whole numbers of 2⁻ⁿ: not nearly, but exactly these floats
                        assert (result.pvalue, result.p_equal, result.error_bound) == (float(p), ties, 0)
                    else:
                        assert (0 < result.error_bound < 1e-9) == (p > 0)

    agrees()


def convolved(differences, n):
    """The distribution of the sum of n draws from these differences, each with its share, from the lowest sum on."""
    distribution = np.ones(1)
    for _ in range(n):
        distribution = np.convolve(distribution, differences)
    return distribution


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided", "observed"])
@pytest.mark.parametrize(("won", "lost"), [(45, 30), (30, 45), (32, 30)])
def test_three_hundred_items_are_transformed(won, lost, alternative):
    """Of items passed or failed, wins less losses are a sum of steps of 1, 0 or −1, over swaps and over resamples."""
    n, d = 300, won - lost
    a, b = np.zeros((2, n), dtype=int)
    a[:won] = b[won : won + lost] = 1
    swaps = convolved([0.5, 0.0, 0.5], won + lost)
    resamples = convolved([lost / n, 1 - (won + lost) / n, won / n], n)
    for test in [test for test in definitions.TESTS if test.exact and test.alternative == alternative]:
        shares = swaps if test.draw == "swap" else resamples
        sums = np.arange(len(shares)) - len(shares) // 2
        border = oracles.BEYOND[test.method, alternative](d, sums)
        beyond = border > 0 if (test.method, alternative) in oracles.STRICT else border >= 0
        p = min(1.0, oracles.sides(test) * shares[beyond].sum())
        assert function(test)(a, b, **oracles.how(test)).pvalue == pytest.approx(p, rel=1e-9)


def test_what_there_is_not():
    with pytest.raises(InputError, match="the exact test has no methods to choose from, found method 'shifted'"):
        definitions.find("exact", "shifted")
    with pytest.raises(InputError, match="method of the randomization test: 'shifted', expected one of studentized"):
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
    with pytest.raises(InputError, match="rng is 'x', expected a whole number, or what numpy"):
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
