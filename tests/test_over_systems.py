"""Intervals over systems against brute force, and how often they hold a truth that is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student

from study.analysis import over_systems


@st.composite
def rows(draw):
    n = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_systems, n_test_sets, ordered = draw(st.integers(3, 8)), draw(st.integers(2, 5)), draw(st.booleans())
    systems = np.array([rng.choice(n_systems, 2, replace=False) for _ in range(n)])
    test_sets = np.array([rng.choice(n_test_sets, 2, replace=False) for _ in range(n)])
    if ordered:
        test_sets[:, 1] = -1
    residuals = rng.standard_normal(n)
    return residuals - residuals.mean(), systems, test_sets


def sharing(codes):
    members = [set(row) - {-1} for row in codes.tolist()]
    return np.array([[bool(one & other) for other in members] for one in members])


def corrected(e, codes):
    """Σ eᵣeᵩ over rows that share a member, times m/(m − members a row); 0 where there are too few members."""
    m, per_row = len(np.unique(codes[codes >= 0])), max((row >= 0).sum() for row in codes)
    return max(e @ sharing(codes) @ e * m / (m - per_row), 0) if m > per_row else 0.0


@given(rows())
def test_variance_is_the_sum_over_rows_that_share_a_system_or_a_test_set(made):
    e, systems, test_sets = made
    over_systems_alone = max(corrected(e, systems), e @ e)
    assert over_systems.variance(e, systems)[0] == pytest.approx(over_systems_alone, abs=1e-9)
    both = e @ (sharing(systems) & sharing(test_sets)) @ e
    one, other = corrected(e, systems), corrected(e, test_sets)
    expected = max(one + other - both, one, other, e @ e)
    assert over_systems.variance(e, systems, test_sets)[0] == pytest.approx(expected, abs=1e-9)


def test_pairs_of_systems_of_their_own_are_independent():
    systems = np.arange(40).reshape(-1, 2)
    held = np.r_[np.ones(15), np.zeros(5)]
    e = (held - 0.75) / 20
    found, degrees = over_systems.variance(e, systems)
    assert found == pytest.approx(40 / 38 * 0.75 * 0.25 / 20)
    assert 19 < degrees <= 39
    low, high = over_systems.share_interval(np.ones(20), systems)
    exact = binomtest(20, 20).proportion_ci(0.95, "exact")
    assert (low, high) == (pytest.approx(exact.low), 1.0)


def test_pairs_with_one_system_in_common_are_hardly_more_than_two():
    """n pairs around one system: what is its own is in all of them, and half of their variance."""
    star = np.stack([np.zeros(30, dtype=int), np.arange(1, 31)], axis=1)
    low, high = over_systems.share_interval(np.ones(30), star)
    few = over_systems.clopper_pearson(1.0, 2 * 30**2 / (30**2 + 30))
    assert (low, high) == (pytest.approx(few[0]), 1.0)


@pytest.mark.parametrize(("held", "n"), [(0, 7), (3, 7), (7, 7), (40, 81)])
def test_clopper_and_pearson(held, n):
    exact = binomtest(held, n).proportion_ci(0.9, "exact")
    assert over_systems.clopper_pearson(held / n, n, 0.9) == (pytest.approx(exact.low), pytest.approx(exact.high))


def test_what_is_in_every_row_is_given():
    draws = over_systems.members(["draw-1", "draw-2", "draw-1"], ["whole"] * 3)
    assert (over_systems.drawn(draws)[:, 1] == -1).all()
    assert (over_systems.drawn(draws)[:, 0] >= 0).all()
    assert (over_systems.drawn(draws[:1]) == -1).all()


def test_jackknife_of_a_mean_is_its_variance():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    found, degrees = over_systems.jackknife((values.sum() - values) / 4)
    assert found == pytest.approx(values.var(ddof=1) / 5)
    low, high = over_systems.interval(4.0, found, degrees)
    assert high - 4 == pytest.approx(student.ppf(0.975, degrees) * np.sqrt(found))
    assert 4 - low == pytest.approx(high - 4)
    left = over_systems.without_each(np.array([[0, 1], [1, 2]]))
    assert left.tolist() == [
        [False, True],
        [False, False],
        [True, False],
    ]


def test_scales():
    assert over_systems.interval(2.0, 0.0, 5, scale="log") == (2.0, 2.0)
    low, high = over_systems.interval(2.0, 0.09, 5, scale="log")
    assert low * high == pytest.approx(4.0)
    low, high = over_systems.interval(0.9, 0.01, 5, scale="logit")
    assert 0 < low < 0.9 < high < 1
    assert np.isnan(over_systems.interval(1.0, 0.01, 5, scale="logit")).all()


def test_no_rows_and_one_row():
    none = np.empty((0, 2), dtype=int)
    assert np.isnan(over_systems.share_interval([], none)).all()
    assert over_systems.share_interval([1.0], np.array([[0, 1]])) == (pytest.approx(0.025), 1.0)
    assert over_systems.variance([], none) == (0.0, 1.0)
    assert over_systems.variance([0.0, 0.0], np.array([[0, 1], [0, 2]])) == (0.0, 1.0)
