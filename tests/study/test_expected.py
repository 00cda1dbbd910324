"""What one population predicts, against drawing from it, and against shuffling the segments of two test sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr
from scipy.stats import t as student

from study.analysis import expected, over_systems

RANGES = [(0.04, 0.06), (0.0, 0.00125), (0.32, 1.0)]


def drawn(first, error, second, p_low, p_high):
    """Shares of draws with p in the range, where the second gain has the sign of the first, or not."""
    p = ndtr(-np.abs(first) / error)
    inside, same = (p >= p_low) & (p <= p_high), (first > 0) == (second > 0)
    return (inside & same).mean(), (inside & ~same).mean()


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("theta", [0.3, 1.5, -2.5])
def test_a_population_and_the_next_test_set(theta, bounds):
    rng = np.random.default_rng(3)
    gains = 2 * (theta + rng.standard_normal(1_000_000))
    found = expected.on_population(2 * theta, 2.0, *bounds)
    assert np.allclose(found, drawn(gains, 2.0, theta, *bounds), atol=1e-3)
    second = theta + rng.standard_normal(1_000_000) / np.sqrt(0.7)
    assert np.allclose(expected.on_next(theta, 0.7, *bounds), drawn(gains, 2.0, second, *bounds), atol=1e-3)


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize(("d_1", "s_1", "d_2", "s_2"), [(1, 1, 0.5, 0.3), (2, 1, 1, 1), (-1, 0.5, 0.4, 1.2)])
def test_two_test_sets_of_one_population(d_1, s_1, d_2, s_2, bounds):
    rng = np.random.default_rng(4)
    v_1, v_2 = s_1**2, s_2**2
    mean = (d_1 / v_1 + d_2 / v_2) / (1 / v_1 + 1 / v_2)
    first = mean + v_1 / np.sqrt(v_1 + v_2) * rng.standard_normal(1_000_000)
    second = mean + (mean - first) * v_2 / v_1
    found = expected.on_another(d_1, s_1, d_2, s_2, *bounds)
    assert np.allclose(found, drawn(first, s_1, second, *bounds), atol=1e-3)


def test_the_interval_of_a_share_is_the_jackknife_over_systems():
    """Nothing is taken off for what is a pair's own: chances are smooth, and the rest is too small with heavy tails."""
    rng = np.random.default_rng(7)
    systems = np.stack(np.triu_indices(9, k=1), axis=1)
    right, wrong = rng.lognormal(0, 1, 36), 0.2 * rng.lognormal(0, 1, 36)
    found, low, high = expected.share(right, wrong, systems)
    assert found == pytest.approx(right.sum() / (right + wrong).sum())
    changes = []
    for system in range(9):
        kept = (systems != system).all(axis=1)
        changes.append(right[kept].sum() / (right + wrong)[kept].sum() - found)
    error = np.sqrt(np.square(changes).sum()) / (found * (1 - found))
    reach = student.ppf(0.975, over_systems.degrees(np.array(changes))) * error
    assert (low, high) == pytest.approx(expit(logit(found) + np.array([-reach, reach])))


def test_two_test_sets_in_which_a_rate_differs_give_no_interval():
    """One degree of freedom: Student's interval would reach from about 0 to 1, and with it that of the difference."""
    systems = np.tile(np.stack(np.triu_indices(9, k=1), axis=1), (2, 1))
    test_sets = np.repeat([[0, -1], [1, -1]], 36, axis=0)
    right = np.repeat([0.9, 0.4], 36)
    found, low, high = expected.share(right, 1 - right, systems, test_sets)
    assert found == pytest.approx(0.65)
    assert np.isnan([low, high]).all()
    cells = expected.beside("share", (0.6, 0.4, 0.8), (found, low, high))
    assert cells["difference"] == pytest.approx(-0.05)
    assert np.isnan([cells["difference_low"], cells["difference_high"]]).all()
    many = np.repeat(np.stack([np.arange(12), np.full(12, -1)], axis=1), 6, axis=0)
    assert np.isfinite(expected.share(right, 1 - right, systems, many)).all()
