"""Margin tests: Tango's score and Student's statistic by their formulas."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from pairsig import InputError, difference_interval, margin_test
from pairsig.stats.margins import best_score, in_unit, meaning
from pairsig.stats.paired import Pair
from pairsig.stats.pass_fail import tango


def items(r, s, n):
    """Outcomes of n items of which A alone passes r and B alone s."""
    return (np.r_[[x] * r, [1 - x] * s, np.ones(n - r - s)].astype(int) for x in (1, 0))


def score_by_likelihood(r, s, n, m):
    """Tango's Z with the nuisance parameter by maximizing the likelihood under Δ = −m."""

    def minus_log(q21):  # B alone passes with q21, A alone with q21 − m
        q12 = q21 - m
        rest = 1 - q12 - q21
        return -(r * math.log(q12) if r else 0) - (s * math.log(q21) if s else 0) - (n - r - s) * math.log(rest)

    q = optimize.minimize_scalar(
        minus_log, bounds=(m + 1e-12, (1 + m) / 2 - 1e-12), method="bounded", options={"xatol": 1e-13}
    ).x
    return (r - s + n * m) / math.sqrt(n * (2 * q - m - m * m))


@pytest.mark.parametrize(
    ("r", "s", "n", "m"), [(5, 5, 200, 0.05), (12, 3, 60, 0.1), (0, 4, 40, 0.2), (30, 41, 300, 0.07)]
)
def test_items_have_tangos_score(r, s, n, m):
    z = score_by_likelihood(r, s, n, m)
    assert tango(r, s, n, m) == pytest.approx(z, abs=1e-5)
    result = margin_test(*items(r, s, n), m, "a-not-worse")
    assert result.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-4)
    assert result.method == "score"
    other = margin_test(*items(s, r, n), m, "b-not-worse")
    assert other.pvalue == pytest.approx(result.pvalue)
    both = margin_test(*items(r, s, n), m)
    assert both.pvalue == max(result.pvalue, margin_test(*items(r, s, n), m, "b-not-worse").pvalue)


def test_the_published_example_of_tango():
    """Tango (1998), Table III: 1 and 0 of 44 pairs; the score interval is (−0.029, 0.118)."""

    def root(side, low, high):
        return optimize.brentq(lambda m: float(tango(*side, 44, m)) - 1.959964, low, high)

    assert root((0.0, 1.0), 1e-6, 0.5) == pytest.approx(0.118, abs=0.0006)


def test_tables_without_any_variance():
    assert tango(0.0, 20.0, 200, 0.1) < 1e-6
    assert margin_test([1] * 30, [1] * 30, 0.2).pvalue < 0.01
    assert margin_test([0] * 3, [0] * 3, 0.2).pvalue > 0.05


def test_other_units_have_students_statistic():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.1, 1, 50), rng.normal(0, 1, 50)
    whole = difference_interval(a, b)
    d = a - b - (a - b).mean()
    error = math.sqrt((d**2).sum() / 49 / 50)
    degrees = 100 / (50 * (d**4).sum() / (d**2).sum() ** 2 - 47 / 49)
    for margin in (0.3, 1.0):
        for claim, sign in (("a-not-worse", 1), ("b-not-worse", -1)):
            p = margin_test(a, b, margin, claim).pvalue
            far = (margin + sign * (a - b).mean()) / error
            assert p == pytest.approx(stats.t.sf(far, min(degrees, 49)), rel=1e-9)
            # p < 0.025 exactly if the 95 % interval is on the right side of the margin.
            end = whole.low + margin if sign == 1 else margin - whole.high
            assert (p < 0.025) == (end > 0)
    assert margin_test(np.ones(5) / 3, np.ones(5) / 4, 0.5).pvalue == 1.0
    assert margin_test([0.3], [0.2], 0.5).pvalue == 1.0
    edits = [np.stack([rng.poisson(3, 40), np.full(40, 20)], 1) for _ in range(2)]
    lower = margin_test(*edits, 50, "a-not-worse", metric="ter")
    assert lower.pvalue < 0.001
    assert "a is not worse than b by 50 in ter or more" in meaning("ter", 50, "a-not-worse", "a", "b")


@pytest.mark.parametrize(
    ("margin", "message"),
    [(0, "the margin is 0, expected a number above 0"), (math.nan, "the margin is nan"),
     (1.0, "no two systems differ by more than 1 in mean")],
)  # fmt: skip
def test_impossible_margins(margin, message):
    with pytest.raises(InputError, match=message):
        margin_test([1, 0], [0, 0], margin)


@pytest.mark.parametrize(
    ("amount", "noun", "best", "wanted"),
    [(1, "gain", 1.0, "the scores are from 0 to 1; write --gain 1%"), (1, "score", 100.0, 1.0),
     (0.1, "gain", 100.0, 0.1), (0.5, "score", 100.0, "write --score 50% or --score 0.5%"),
     ("2%", "margin", 1.0, 0.02), ("70%", "score", 100.0, 70.0), (0.5, "gain", 100.0, 0.5), (12, "gain", None, 12.0),
     (0.05, "gain", 100.0, "expected points from 0 to 100; write --gain 5% or --gain 0.05%"),
     (5, "margin", 1.0, "the scores are from 0 to 1; write --margin 5% or --margin 0.05"),
     ("5%", "margin", None, "these scores are not percentages"),
     ("x", "gain", 1.0, "expected a number or a percentage")],
)  # fmt: skip
def test_amounts_in_the_unit_of_the_scores(amount, noun, best, wanted):
    if isinstance(wanted, float):
        assert in_unit(amount, noun, best) == pytest.approx(wanted)
    else:
        with pytest.raises(InputError, match=wanted):
            in_unit(amount, noun, best)


@pytest.mark.parametrize(
    ("values", "metric", "best"),
    [([[0, 1], [1, 1]], "mean", 1.0), ([[0.2, 0.4], [0, 1]], "mean", 1.0), ([[0, 100], [100, 100]], "mean", 100.0),
     ([[0, 50], [100, 100]], "mean", None), ([[-1, 1], [0, 1]], "mean", None), ([[0, 1], [1, 2]], "mean", None),
     ([[1, 3], [2, 2]], "ter", 100.0)],
)  # fmt: skip
def test_the_score_of_100_percent(values, metric, best):
    counts = np.array(values, dtype=float)
    pair = Pair.of(*(np.stack([of, of + 1], 1) if metric == "ter" else of for of in counts), metric, None)
    assert best_score(pair) == best
