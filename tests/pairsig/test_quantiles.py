"""Quantiles without scipy agree with scipy's."""

import itertools

import numpy as np
import pytest

from pairsig.core import quantiles


def test_beta_quantiles_are_those_of_scipy():
    from scipy.special import betaincinv

    for n, probability in itertools.product((1, 2, 20, 1000, 10**6, 10**7), (1e-6, 0.025, 0.5, 0.975, 0.9999)):
        k = np.unique([0, 1, 2, n // 20, n // 3, n // 2, n - 1, n])
        k = k[(k >= 0) & (k <= n)]
        for a, b in ((np.maximum(k, 1), n - k + 1), (k + 1, np.maximum(n - k, 1)), (k + 1.25, n - k + 0.5)):
            expected = betaincinv(a, b, probability)
            np.testing.assert_allclose(quantiles.beta_quantile(a, b, probability), expected, rtol=1e-9)


def test_student_quantiles_are_those_of_scipy():
    from scipy.special import stdtrit

    degrees = np.array([1, 1.5, 2, 3, 7.7, 19, 2033, 1e7])
    for probability in (0.6, 0.975, 0.9999995):
        expected = stdtrit(degrees, probability)
        np.testing.assert_allclose(quantiles.student_quantile(degrees, probability), expected, rtol=1e-9)
    assert quantiles.student_quantile(1, 0.75) == pytest.approx(1)  # tan(π/4)


def test_the_normal_distribution_is_scipys():
    from scipy.special import ndtr, ndtri

    values = np.linspace(-37, 8, 1000)
    np.testing.assert_allclose(quantiles.normal_cdf(values), ndtr(values), rtol=1e-12)
    for probability in (0, 1e-300, 0.025, 0.5, 0.975, 1):
        assert quantiles.normal_quantile(probability) == pytest.approx(ndtri(probability), rel=1e-12)
    assert np.isnan(quantiles.normal_quantile(1.5))


def test_many_values_are_left_to_scipy_and_agree():
    degrees = np.linspace(2, 50, 4 * quantiles.FEW).reshape(4, -1)
    for row, expected in zip(degrees, quantiles.student_quantile(degrees, 0.975), strict=True):
        np.testing.assert_allclose(quantiles.student_quantile(row, 0.975), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_shapes_and_missing_values_are_kept(shape):
    quantile = quantiles.beta_quantile(np.full(shape, np.nan), 1.0, 0.5)
    assert quantile.shape == shape
    assert np.isnan(quantile).all()
