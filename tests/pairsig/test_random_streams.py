"""Draws against numpy's own SFC64, and against the multinomial distribution."""

from math import factorial

import numpy as np
import pytest
from scipy.stats import chi2

from pairsig.core import draws


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"])
def by_both(request, monkeypatch):
    """With the compiled loops, and with numpy alone, as where numba is not installed."""
    if request.param:
        pytest.importorskip("numba")
    monkeypatch.setattr(draws, "installed", lambda _: request.param)
    monkeypatch.setattr(draws, "_FEW_UNITS", 0)


def sfc64(seed, resample):
    """numpy's generator in the state the documentation promises, warmed up as numpy does it."""
    generator = np.random.SFC64(0)
    state = generator.state
    state["state"]["state"] = np.array([*draws.key(seed), resample, 1], dtype=np.uint64)
    generator.state = state
    generator.random_raw(12)
    return generator


def drawn_by_hand(seed, resample, n_units, n_draws):
    generator = sfc64(seed, resample)
    counts = np.zeros(n_units, dtype=int)
    left = n_draws
    while left:
        word = int(generator.random_raw())
        for half in (word & 0xFFFFFFFF, word >> 32):
            product = half * n_units
            if left and product % 2**32 >= 2**32 % n_units:
                counts[product >> 32] += 1
                left -= 1
    return counts


@pytest.mark.parametrize(("n_units", "n_draws"), [(1, 1), (7, 7), (1000, 1000), (3, 100), (2034, 5)])
def test_bootstrap_counts_are_those_of_numpys_sfc64(n_units, n_draws, by_both):
    counts = draws.bootstrap_counts(2012, 41, 3, n_units, n_draws=n_draws)
    for row in range(3):
        np.testing.assert_array_equal(counts[row], drawn_by_hand(2012, 41 + row, n_units, n_draws))


@pytest.mark.parametrize(
    ("n_units", "resample", "above"),
    [
        (4682, 14265, 0), (18888, 3716, 0), (33511, 14146, 0), (72233, 341825, 0),  # just kept
        (70453, 29356, -1), (10993, 95727, -1),  # just drawn anew
    ],
)  # fmt: skip
def test_the_bound_of_rejection_is_sharp(n_units, resample, above, by_both):
    """Resamples, found by search, whose first word has a low part at Lemire's bound 2³² mod n, or one below it."""
    word = int(sfc64(2012, resample).random_raw())
    assert above in [half * n_units % 2**32 - 2**32 % n_units for half in (word & 0xFFFFFFFF, word >> 32)]
    counts = draws.bootstrap_counts(2012, resample, 1, n_units, n_draws=2)
    np.testing.assert_array_equal(counts[0], drawn_by_hand(2012, resample, n_units, 2))


def test_powers_of_two_reject_nothing(by_both):
    """2³² mod n is 0: low parts of 0, which come up every 2¹⁶ words here, are kept."""
    counts = draws.bootstrap_counts(3, 0, 1, 2**16, n_draws=3 * 2**16)
    np.testing.assert_array_equal(counts[0], drawn_by_hand(3, 0, 2**16, 3 * 2**16))


@pytest.mark.parametrize("n_units", [1, 63, 64, 65, 500])
def test_swaps_are_the_bits_of_numpys_sfc64(n_units, by_both):
    swapped = draws.swaps(7, 5, 2, n_units)
    for row in range(2):
        words = sfc64(7, 5 + row).random_raw(-(-n_units // 64))
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(swapped[row], bits[:n_units])


def test_counts_follow_the_multinomial_distribution():
    """Neighbouring resamples differ in one bit of their state: together, they must be multinomial."""
    seed, n_units, n_rows = 2012, 4, 200_000
    counts = draws.bootstrap_counts(seed, 0, n_rows, n_units).astype(int)
    vectors, observed = np.unique(counts, axis=0, return_counts=True)
    ways = np.array([factorial(n_units) / np.prod([factorial(c) for c in vector]) for vector in vectors])
    expected = n_rows * ways / n_units**n_units
    assert expected.sum() == pytest.approx(n_rows)  # all 35 vectors have come up
    assert chi2.sf(((observed - expected) ** 2 / expected).sum(), len(vectors) - 1) > 1e-3


def test_swaps_are_fair_and_independent():
    seed, n_rows = 2012, 200_000
    patterns = draws.swaps(seed, 0, n_rows, 8).astype(int) @ (1 << np.arange(8))
    observed = np.bincount(patterns, minlength=256)
    assert chi2.sf(((observed - n_rows / 256) ** 2 / (n_rows / 256)).sum(), 255) > 1e-3
