"""Probabilities that need no scipy, against scipy's."""

import math

import pytest
from scipy import special, stats

from pairsig.core.student import log_sign_tails, ndtri, stdtr, stdtrit


@pytest.mark.parametrize("degrees", [1, 1.5, 2, 3.7, 9, 40, 299, 9999, 123456])
def test_students_t(degrees):
    for t in (-40, -3, -1.2, -1e-3, 0, 0.3, 2, 12):
        assert stdtr(degrees, t) == pytest.approx(special.stdtr(degrees, t), rel=1e-9)
    for p in (0.0005, 0.2, 0.5, 0.95, 0.975, 0.9995):
        assert stdtrit(degrees, p) == pytest.approx(special.stdtrit(degrees, p), rel=1e-9, abs=1e-12)
        assert ndtri(p) == pytest.approx(special.ndtri(p), abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 1000])
def test_sign_tails(n):
    tails = log_sign_tails(n)
    assert len(tails) == n + 1
    for k in range(0, n + 1, max(1, n // 7)):
        assert math.exp(tails[k]) == pytest.approx(stats.binom.sf(k - 1, n, 0.5), rel=1e-9)
