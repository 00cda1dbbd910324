"""Quantiles of the normal, Student's and the beta distribution, for few values without scipy.

Importing `scipy.special` takes 0.4 CPU seconds, more than everything else that a comparison of two systems needs. Up to
`FEW` values are therefore computed here, to 1e-8; more are left to scipy. Which of the two computes depends on the
number of values alone, so that results do not depend on what was imported before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEW = 16
"""Quantiles up to which scipy is not needed."""
_FEW_TAILS = 1024
"""The same for `normal_cdf`, whose values take a tenth of a microsecond each."""
_SMALLEST = 1e-300
_CLOSE = 1e-14
"""Relative error at which iterations end."""


def normal_cdf(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Φ of each value."""
    if values.size > _FEW_TAILS:
        from scipy.special import ndtr

        return np.asarray(ndtr(values))
    tails = [0.5 * math.erfc(-value / math.sqrt(2)) for value in values.ravel().tolist()]
    return np.array(tails, dtype=np.float64).reshape(values.shape)


def normal_quantile(probability: float) -> float:
    """Φ⁻¹ of a probability, from -inf to inf."""
    if 0 < probability < 1:
        return NormalDist().inv_cdf(probability)
    return -math.inf if probability == 0 else math.inf if probability == 1 else math.nan


def student_quantile(degrees: ArrayLike, probability: float) -> NDArray[np.float64]:
    """The quantile of Student's distribution for each number of degrees of freedom, of a probability of ½ or more."""

    def few(degrees: float) -> float:
        # T² / (T² + degrees) has the beta distribution with ½ and degrees / 2.
        share = _beta_quantile(0.5, degrees / 2, 2 * probability - 1)
        if share > 0.5:
            complement = _beta_quantile(degrees / 2, 0.5, 2 - 2 * probability)
            return math.sqrt(degrees * (1 - complement) / complement)
        return math.sqrt(degrees * share / (1 - share))

    def many(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import stdtrit  # scipy.stats would take a second to import

        return np.asarray(stdtrit(degrees, probability))

    return _each(few, many, degrees)


def beta_quantile(a: ArrayLike, b: ArrayLike, probability: float) -> NDArray[np.float64]:
    """The quantile of the beta distribution for each pair of parameters."""

    def many(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import betaincinv  # scipy.stats would take a second to import

        return np.asarray(betaincinv(a, b, probability))

    return _each(lambda a, b: _beta_quantile(a, b, probability), many, a, b)


def _each(
    few: Callable[..., float], many: Callable[..., NDArray[np.float64]], *parameters: ArrayLike
) -> NDArray[np.float64]:
    """The values of `few`, one at a time, or of `many`, all at once; nan where a parameter is nan."""
    arrays = np.broadcast_arrays(*(np.asarray(values, dtype=np.float64) for values in parameters))
    if arrays[0].size > FEW:
        return many(*arrays)
    rows = zip(*(values.ravel().tolist() for values in arrays), strict=True)
    values = [math.nan if any(map(math.isnan, row)) else few(*row) for row in rows]
    return np.array(values, dtype=np.float64).reshape(arrays[0].shape)


def _beta_quantile(a: float, b: float, probability: float) -> float:
    """Newton's method, and bisection where a step would leave the bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        below, density = _beta(x, a, b)
        low, high = (x, high) if below < probability else (low, x)
        step = (below - probability) / density if density > 0 else math.inf
        before, x = x, x - step
        if not low < x < high:
            x = (low + high) / 2
        if abs(x - before) <= _CLOSE * x or not low < x < high:
            break
    return x


def _beta(x: float, a: float, b: float) -> tuple[float, float]:
    """Distribution function and density of the beta distribution.

    Differences of large logarithms are avoided as in Loader's binomial probabilities (2000).
    """
    n, off = a + b, x * (a + b) - a
    log = (a * math.log1p(off / a) if off > -a / 2 else a * math.log(x * n / a)) + b * math.log1p(-off / b)
    scale = math.exp(log + _stirling(n) - _stirling(a) - _stirling(b)) * math.sqrt(a * b / (2 * math.pi * n))
    upper = x > (a + 1) / (a + b + 2)
    tail = scale * (_fraction(1 - x, b, a) / b if upper else _fraction(x, a, b) / a)
    return (1 - tail if upper else tail), scale / (x * (1 - x))


def _stirling(z: float) -> float:
    """By how much log Γ exceeds Stirling's formula."""
    if z < 16:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * math.log(2 * math.pi)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z**2)) / z**2) / z**2) / z


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes, 6.4)."""
    numerator, denominator = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _SMALLEST)
    value = denominator
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 / ((1 + term * denominator) or _SMALLEST)
            numerator = (1 + term / numerator) or _SMALLEST
            change = numerator * denominator
            value *= change
        if abs(change - 1) <= _CLOSE:
            break
    return value
