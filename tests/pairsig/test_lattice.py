"""Tails of sums on a lattice against enumeration, whole-number counting and one another."""

import math
from itertools import product

import numpy as np
import pytest

from pairsig.stats import lattice
from pairsig.stats.lattice import TooLargeError, log_tail


def distinct(steps):
    return np.unique(np.asarray(steps), axis=0, return_counts=True)


def enumerated(steps, border):
    """P(column >= border(row)) over all choices of the steps."""
    made = np.array(list(product((0, 1), repeat=len(steps)))) @ np.asarray(steps)
    return float((made[:, 0] >= border(made[:, 1].astype(float))).mean())


def random_case(seed, n):
    """Steps of either sign, and a border that is flat, sloping or curved, as that of a ratio is."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(-4, 9, (n, 2)) * [1, int(rng.integers(0, 2))]
    steps[(steps == 0).all(axis=1)] = [1, 0]
    top = np.maximum(steps, 0).sum(axis=0)
    at, slope, bend = rng.uniform(0.3, 0.9) * top[0], rng.normal(), rng.normal() / max(top[1], 1) / 4

    def border(rows):
        return at + slope * (rows - top[1] / 2) + bend * (rows - top[1] / 2) ** 2

    return steps, border


@pytest.fixture(params=["filled", "inverted"])
def route(request, monkeypatch):
    """Either of the two ways, whatever the size."""
    if request.param == "inverted":
        monkeypatch.setattr(lattice, "FILLED", 0)
    return request.param


@pytest.mark.parametrize("seed", range(40))
def test_tails_are_those_of_all_choices(seed, route):
    steps, border = random_case(seed, 3 + seed % 10)
    wanted = enumerated(steps, border)
    try:
        found = log_tail(*distinct(steps), border)
    except TooLargeError:  # the border bends much, or no sum is in the event
        assert route == "inverted"
        return
    if wanted:
        assert found == pytest.approx(math.log(wanted), abs=1e-9 if route == "inverted" else 1e-13)
    else:
        assert found == -math.inf


def test_both_routes_agree_on_hundreds_of_units(monkeypatch):
    rng = np.random.default_rng(3)
    steps = np.column_stack([rng.integers(0, 3, 300), rng.integers(-2, 3, 300)])
    steps = steps[(steps != 0).any(axis=1)]
    total = steps[:, 0].sum()
    for at in (0.52, 0.65, 0.8):

        def border(rows, at=at):
            return at * total + 0.3 * rows

        monkeypatch.setattr(lattice, "FILLED", 2**40)
        filled = log_tail(*distinct(steps), border)
        monkeypatch.setattr(lattice, "FILLED", 0)
        assert log_tail(*distinct(steps), border) == pytest.approx(filled, abs=1e-11)


@pytest.mark.parametrize("n", [200, 700, 3000])
def test_far_tails_of_equal_steps_are_binomial(n, monkeypatch):
    """P(Bin(n, ½) >= k) as whole numbers, down to 2⁻ⁿ, which is no float for 3,000 steps."""
    monkeypatch.setattr(lattice, "FILLED", 0)
    for k in (n // 2, n // 2 + n // 10, n - 3, n):
        ways = sum(math.comb(n, made) for made in range(k, n + 1))
        wanted = math.log(ways) - n * math.log(2)
        found = log_tail(np.array([[1, 0]]), np.array([n]), lambda rows, k=k: np.full(len(rows), float(k)))
        assert found == pytest.approx(wanted, abs=1e-10)


def test_steps_beyond_the_window_come_back_as_an_even_lattice(monkeypatch):
    """All steps are even, so that φ has the size 1 at a second frequency, which must not be left out."""
    monkeypatch.setattr(lattice, "FILLED", 0)
    steps = np.array([[2, 0], [4, 2], [6, -2]])
    times = np.array([60, 30, 20])
    half = log_tail(steps // 2, times, lambda rows: 90 + 0.0 * rows)
    assert log_tail(steps, times, lambda rows: 180 + 0.0 * rows) == pytest.approx(half, abs=1e-11)
    # Between two even numbers there is no sum.
    assert log_tail(steps, times, lambda rows: 179 + 0.0 * rows) == pytest.approx(half, abs=1e-11)


def test_steps_parallel_to_the_border_are_not_tilted(monkeypatch):
    """Precision of one unit: every sum is in the event, or none."""
    monkeypatch.setattr(lattice, "FILLED", 0)
    steps, times = np.array([[1, 2]]), np.array([9])
    assert log_tail(steps, times, lambda rows: rows / 2) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(TooLargeError):
        log_tail(steps, times, lambda rows: rows / 2 + 0.25)


def test_too_many_values_are_refused():
    steps = np.random.default_rng(1).integers(-(10**7), 10**7, (60, 2))
    with pytest.raises(TooLargeError):
        log_tail(*distinct(steps), lambda rows: 10**7 + rows / 3)


def test_work_is_bounded_before_it_is_done(monkeypatch):
    """Scores with six decimals: millions of frequencies times 40 steps would take a minute and gigabytes."""
    steps = np.stack([np.random.default_rng(1).integers(1, 10**6, 40), np.zeros(40, np.int64)], axis=1)
    monkeypatch.setattr(lattice, "_characteristic", None)
    with pytest.raises(TooLargeError):
        log_tail(steps, np.ones(40, np.int64), lambda row: np.full(row.shape, 0.6 * steps.sum()))
