"""Items that are passed or failed: power by enumerating all tables with the p-values that the tests print."""

import math

import numpy as np
import pytest
from scipy import stats

from pairsig import InputError, exact_test, margin_test
from pairsig.core.definitions import find
from pairsig.planning import sample_size
from pairsig.planning.sample_size import Design, from_outcomes, from_pilot, plan, power, size_for, units_for
from pairsig.stats import pass_fail
from pairsig.stats.pass_fail import Difference, Margin
from simulate import items


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Let p-values and power look for the worst probability among fewer: test_margins checks that grid."""
    monkeypatch.setattr(pass_fail, "NUISANCE", 21)


def tables(n):
    """All numbers of items that A alone passes, B alone, and both or none, of n items."""
    return np.array([(r, s, n - r - s) for r in range(n + 1) for s in range(n + 1 - r)])


def chances(n, discordant, gain):
    shares = [(discordant + gain) / 2, (discordant - gain) / 2, 1 - discordant]
    return stats.multinomial.pmf(tables(n), n, shares)


@pytest.mark.parametrize("alternative", ["two-sided", "observed"])
@pytest.mark.parametrize(("discordant", "gain", "alpha"), [(0.6, 0.3, 0.05), (1.0, 0.5, 0.2), (0.3, 0.3, 0.0625)])
def test_the_power_of_a_difference_is_the_sum_over_all_tables(alternative, discordant, gain, alpha):
    n = 11
    results = [exact_test(*items(*table[:2], n), alternative=alternative) for table in tables(n)]
    shown = [result.better == "a" and result.pvalue < alpha for result in results]
    sides = len(find("exact", alternative=alternative).borders())
    assert Difference(discordant, gain, alpha, sides).power(n) == pytest.approx(
        chances(n, discordant, gain)[shown].sum(), abs=1e-12
    )


@pytest.mark.parametrize("claim", ["equivalence", "a-not-worse"])
@pytest.mark.parametrize(("margin", "gain"), [(0.1, 0.0), (0.5, 0.05)])
def test_the_power_of_a_margin_is_the_sum_over_all_tables(claim, margin, gain):
    n, alpha, discordant = 7, 0.25, 0.3
    shown = [margin_test(*items(*table[:2], n), margin, claim).pvalue < alpha for table in tables(n)]
    test = Margin(discordant, gain, alpha, margin, equivalence=claim == "equivalence")
    summed = chances(n, discordant, gain)[shown].sum()
    assert test.power(n) == pytest.approx(summed, abs=1e-12)
    assert test.has(n, summed - 1e-6)
    assert not test.has(n, summed + 1e-6)


@pytest.mark.parametrize(("discordant", "gain"), [(1.0, 0.3), (0.9, 0.2), (0.05, 0.05)])
@pytest.mark.parametrize("sides", [1, 2])
def test_all_numbers_from_the_one_planned_have_the_power_and_the_one_before_has_not(discordant, gain, sides):
    test = Difference(discordant, gain, 0.05, sides)
    found = test.first(0.8, 3)
    powers = [test.power(n) for n in range(2 * found)]
    assert [n for n, value in enumerate(powers) if value < 0.8][-1] == found - 1
    assert found == test.first(0.8, 5 * found)  # wherever the search begins
    if discordant == 1:  # a sawtooth: smaller numbers have the power, too
        assert max(powers[:found]) > 0.8


def test_numbers_for_a_margin_are_those_from_which_on_it_is_shown():
    test = Margin(0.2, 0.0, 0.05, 0.25, equivalence=True)
    found = test.first(0.8, 30)
    powers = {n: test.power(n) for n in range(found - 3, found + 12)}
    assert max(n for n, value in powers.items() if value < 0.8) == found - 1
    assert found == test.first(0.8, found + 3)  # from above, too


@pytest.mark.parametrize("n", [1, 7, 40, 300])
@pytest.mark.parametrize("m", [0.003, 0.1, 0.6])
def test_tails_are_the_same_by_incomplete_betas_and_step_by_step(n, m):
    psi = np.sin(np.linspace(math.asin(math.sqrt(m)), math.pi / 2, 9)) ** 2
    for border in (-2.0, 0.0, 1.645, 4.0):
        starts = pass_fail._starts(border, n, m, 0, n)
        tails = pass_fail._tails(psi, starts, n, m)
        np.testing.assert_allclose(pass_fail._fast_tails(psi, starts, n, m), tails, atol=1e-11)
        # The fewest by looking at every table.
        z = [pass_fail.tango(np.arange(d + 1.0), d - np.arange(d + 1.0), float(n), m) >= border for d in range(n + 1)]
        assert starts.tolist() == [int(np.argmax(one)) if one.any() else len(one) for one in z]


SETTINGS = [(60, 0.4, 5.0), (60, 0.4, 10.0), (50, 0.0, 20.0)]


@pytest.mark.parametrize(("score", "correlation", "gain"), SETTINGS)
def test_planned_items_have_the_power_in_simulations(score, correlation, gain):
    """Outcomes are drawn, and tested by the sign test of another library: normal theory gave 74 to 78 %."""
    spread = from_outcomes(score=score, correlation=correlation)
    (row,) = plan("accuracy", spread, gains=[gain]).to_dict("records")
    a, b = score / 100 + gain / 200, score / 100 - gain / 200
    both = a * b + correlation * math.sqrt(a * (1 - a) * b * (1 - b))
    n, times = int(row["n_segments"]), 40_000
    r, s, _ = np.random.default_rng(8).multinomial(n, [a - both, b - both, 1 - a - b + 2 * both], times).T
    found = np.mean((r > s) & (2 * stats.binom.sf(r - 1, r + s, 0.5) < 0.05))
    # S² is that of equal scores, which is up to 4 % too large for gains of 10 points and more.
    assert row["power"] - 0.008 < found < row["power"] + (0.008 if gain <= 5 else 0.03)
    assert 0.8 <= row["power"] < 0.83
    students = units_for(spread.variance, gain, Design())
    assert power(spread.variance, students, gain, Design(), passed=100.0) < 0.79


@pytest.mark.parametrize("claim", sample_size.CLAIMS)
@pytest.mark.parametrize("n", [30, pytest.param(90, marks=pytest.mark.slow)])
def test_what_so_many_items_show_and_how_many_show_it(claim, n):
    spread = from_outcomes(score=60, correlation=0.4)
    size = size_for(spread.variance, n, Design(claim=claim, margin=1.0), passed=100.0)
    gain, margin = (size, None) if claim == "difference" else (0.0, size)
    design = Design(claim=claim, margin=margin)
    assert power(spread.variance, n, gain, design, passed=100.0) >= 0.8
    less = (0.99 * gain, None) if claim == "difference" else (0.0, 0.99 * size)
    assert power(spread.variance, n, less[0], Design(claim=claim, margin=less[1]), passed=100.0) < 0.8
    assert size_for(spread.variance, 5, Design(claim=claim, margin=1.0), passed=100.0) is None or claim != "difference"


def test_where_normal_theory_takes_over_it_agrees():
    spread = from_outcomes(score=60, correlation=0.4)
    n = round(1.1 * pass_fail.MANY / 0.288)
    gain = 0.2
    own = Difference(0.288 + 4e-6, 0.002, 0.05, 2)
    assert not own.covers(n)
    assert power(spread.variance, n, gain, Design(), passed=100.0) == power(spread.variance, n, gain, Design())
    assert own.power(n) == pytest.approx(power(spread.variance, n, gain, Design()), abs=1.5e-3)
    for gain in (0.17, 0.254, 0.27):  # beyond, at and before the border
        n = units_for(spread.variance, gain, Design(), passed=100.0)
        students = units_for(spread.variance, gain, Design())
        assert students <= n < 1.005 * students
        before, there = (power(spread.variance, size, gain, Design(), passed=100.0) for size in (n - 1, n))
        assert before < 0.8 <= there


def test_what_is_no_exact_test_of_items_has_the_power_of_students():
    spread = from_outcomes(score=60, correlation=0.4)
    for design in (Design(test=find("bootstrap")), Design(training=0.1)):
        assert power(spread.variance, 200, 10.0, design, 100.0) == power(spread.variance, 200, 10.0, design)
    assert from_outcomes(score=60, correlation=0.4, design_effect=2).passed is None  # items in groups


def test_a_pilot_of_items_is_planned_with_the_power_of_items():
    rng = np.random.default_rng(5)
    a, b = (rng.random((2, 400)) < np.array([[0.7], [0.6]])).astype(float)
    for metric, whole in (("mean", 1.0), ("accuracy", 100.0)):
        one, other = ((x if metric == "mean" else np.stack([x, np.ones(400)], axis=1)) for x in (a, b))
        spread = from_pilot(sample_size.Pair.of(one, other, metric, None))
        assert spread.passed == whole
        assert spread.variance == pytest.approx(whole**2 * np.var(a - b, ddof=1))
        (row,) = plan(metric, spread, gains=[0.05 * whole]).to_dict("records")
        (own,) = plan("accuracy", from_outcomes(score=65, correlation=0.0), gains=[5.0]).to_dict("records")
        assert row["n_segments"] == pytest.approx(own["n_segments"], rel=0.2)
        n = row["n_segments"]
        variances = {"power": spread.variance, "power_low": spread.high, "power_high": spread.low}
        for column, variance in variances.items():
            assert row[column] == power(variance, n, 0.05 * whole, Design(), whole)
        assert row["power_low"] < 0.8 <= row["power"] < row["power_high"]
    halves = np.array([[1, 2], [2, 2], [0, 2]]), np.array([[0, 2], [2, 2], [1, 2]])
    assert from_pilot(sample_size.Pair.of(*halves, "accuracy", None)).passed is None


def test_the_variance_and_the_gain_say_how_many_items_are_discordant():
    """A alone passes 30 %, B alone 10 %: S² is 0.4 − 0.2²."""
    assert power(3600.0, 50, 20.0, Design(), passed=100.0) == pytest.approx(Difference(0.4, 0.2, 0.05, 2).power(50))
    assert power(0.36, 50, 0.2, Design(claim="not-worse", margin=0.1), passed=1.0) == pytest.approx(
        Margin(0.4, 0.2, 0.05, 0.1, equivalence=False).power(50)
    )


def test_the_better_system_alone_passes_at_least_its_gain():
    """Near a score of 100 the variance of equal systems is less than a gain of 5 points needs."""
    spread = from_outcomes(score=97, correlation=0.5)
    assert spread.variance / 1e4 < 0.05 * 0.95
    assert power(spread.variance, 200, 5.0, Design(), 100.0) == pytest.approx(stats.binom.sf(5, 200, 0.05), abs=1e-12)


@pytest.mark.parametrize("asked", [{"gains": [100.0]}, {"margins": [120.0]}])
def test_sizes_that_no_two_systems_can_differ_by(asked):
    with pytest.raises(InputError, match="no two systems differ by more than 100 in accuracy"):
        plan("accuracy", from_outcomes(score=50, correlation=0.1), **asked)
