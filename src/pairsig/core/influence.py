"""Influence of every unit on a score, to first order.

The influences of two systems give the correlation of the systems and the standard error of their difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.loops import compiled
from pairsig.core.threads import on_threads
from pairsig.io.errors import InputError
from pairsig.metrics import Metric

Floats = NDArray[np.float64]

_STEP = 1e-5
"""Step of numerical derivatives, relative to the totals."""
ACCURACY = 2.0**-46 / _STEP
"""Differences of influence values below this share of the largest ones are rounding errors.

64 units in the last place of a score, divided by the step of the derivatives."""
_AT_ONCE = 256
"""Pairs that a thread takes at a time."""


def influence_values(counts: NDArray[Any], metric: Metric) -> Floats:
    """Influence of every unit on every system's score, (systems × units), in points; positive values are good.

    With totals T and unit i drawn cᵢ* times, a resampled score is to first order f(T) + Σ (cᵢ* − 1) uᵢ. Here uᵢ =
    ∇f(T)·xᵢ is the influence of unit i (the delta method), with the gradient of `gradient`. The counts (systems, units,
    columns) are those of `Statistics.of`.
    """
    largest_counts = np.abs(counts).max(axis=1).astype(np.float64)
    slope = gradient(counts.sum(axis=1, dtype=np.float64), largest_counts, metric)  # ∇f(T)
    # For a system without any error, these values are rounding errors.
    noise = 1e-8 * (np.abs(slope) * largest_counts).sum(axis=1)
    influence: Floats = np.einsum("suc,sc->su", counts, slope)  # uᵢ = ∇f(T)·xᵢ
    influence[np.abs(influence) < noise[:, None]] = 0.0
    return influence if metric.higher_is_better else -influence


def gradient(totals: Floats, largest_counts: Floats, metric: Metric) -> Floats:
    """Partial derivatives of the score by each column, (rows × columns), at totals (rows × columns).

    They are the metric's own, if it declares them, or central differences of `_STEP` times each total. `largest_counts`
    are the largest absolute counts of a unit: a column without counts has the derivative 0.
    """
    if metric.gradient is not None:
        with np.errstate(all="ignore"):
            slope = np.array(metric.gradient(totals), dtype=np.float64)
        if slope.shape != totals.shape:
            raise InputError(
                f"the gradient of metric {metric.name} has the shape {slope.shape} for totals of shape {totals.shape}, "
                "expected the same shape"
            )
        slope[largest_counts == 0] = 0.0
        return slope
    largest = np.abs(totals).max(axis=1, keepdims=True)
    # A column without counts has no influence, whatever its derivative, which does not exist for BLEU.
    step = _STEP * np.where(totals != 0, np.abs(totals), largest) * (largest_counts != 0)
    slope = np.zeros_like(totals)
    for column in range(totals.shape[1]):
        shift = np.zeros_like(totals)
        shift[:, column] = step[:, column]
        rise = metric.score(totals + shift) - metric.score(totals - shift)
        np.divide(rise, 2 * step[:, column], out=slope[:, column], where=step[:, column] > 0)
    return slope


def standard_error(u_a: Floats, u_b: Floats | float = 0.0) -> tuple[Floats, Floats]:
    """Standard error of score(a) − score(b), and its degrees of freedom, from influence values (..., units).

    With d = u_a − u_b minus its mean and n units, the standard error is s = sqrt(n/(n − 1) Σ dᵢ²), which is that of the
    jackknife to first order (Efron and Tibshirani 1993, section 11.5). Its degrees of freedom are 2n / (κ − (n − 3)/(n
    − 1)), at most n − 1, with the kurtosis κ = n Σ dᵢ⁴ / (Σ dᵢ²)² (Satterthwaite 1946). The error is exactly 0 where
    all units differ by the same amount. For the score of one system, leave out `u_b`.
    """
    apart = np.asarray(u_a - u_b, dtype=np.float64)
    n = apart.shape[-1]
    if n < 2:
        return np.full(apart.shape[:-1], np.nan), np.full(apart.shape[:-1], np.nan)
    size = np.maximum(np.abs(u_a), np.abs(u_b)).max(axis=-1, keepdims=True)
    apart = apart - apart.mean(axis=-1, keepdims=True)
    apart[np.abs(apart) <= ACCURACY * size] = 0.0
    largest = np.abs(apart).max(axis=-1)
    # Relative to the largest one, squares neither overflow nor vanish.
    squares = np.square(apart / np.where(largest > 0, largest, 1.0)[..., None])
    return largest * np.sqrt(n / (n - 1) * squares.sum(axis=-1)), degrees_of_freedom(squares)


def degrees_of_freedom(squares: Floats) -> Floats:
    """Degrees of freedom of sums of squares (..., n), see `standard_error`; n − 1 if all terms are 0."""
    n, mean = squares.shape[-1], squares.mean(axis=-1)
    kurtosis = np.full(mean.shape, 3.0)
    # Means whose square is below the smallest normal float are numerically zero.
    np.divide((squares**2).mean(axis=-1), mean**2, out=kurtosis, where=mean**2 >= np.finfo(float).tiny)
    degrees: Floats = np.minimum(2 * n / (kurtosis - (n - 3) / (n - 1)), n - 1)
    return degrees


def errors_and_correlations(
    counts: NDArray[Any], metric: Metric, pairs: NDArray[np.intp], *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Standard deviation of the bootstrap's gains, in points, and correlation of the two systems, for many pairs.

    With u the influence values minus their mean, the first is to first order sqrt(Σ (uᵢᴬ − uᵢᴮ)²), the standard error
    without the factor n/(n − 1) of `standard_error`. The correlation is Σ uᵢᴬuᵢᴮ / sqrt(Σ (uᵢᴬ)² Σ (uᵢᴮ)²), and nan if
    one system's values do not vary. `pairs` are positions of systems (pairs × 2). Both are rounded to six significant
    digits, so that all machines agree.
    """
    u = influence_values(counts, metric)
    constant = (u == u[:, :1]).all(axis=1)
    u -= u.mean(axis=1, keepdims=True)
    u[constant] = 0.0
    places = np.sort(pairs, axis=1)  # the results are the same for (A, B) and (B, A)
    sums = np.empty((len(pairs), 3))

    def add_up(some: slice) -> None:
        _sums(u, places[some], sums[some])

    on_threads(add_up, [slice(start, start + _AT_ONCE) for start in range(0, len(pairs), _AT_ONCE)], threads)
    # Σ (uᵢᴬ − uᵢᴮ)², Σ uᵢᴬuᵢᴮ and Σ (uᵢᴬ)² Σ (uᵢᴮ)²
    differences, products, spreads = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = products / np.sqrt(spreads)
    return _six_digits(np.sqrt(differences)), _six_digits(correlation)


def _six_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.6g}") for value in values.tolist()])


@compiled
def _sums(u, places, out):  # type: ignore[no-untyped-def]
    """Σ (uᴬ − uᴮ)², Σ uᴬuᴮ and Σ (uᴬ)² Σ (uᴮ)² for each pair, summed in the same order on all machines."""
    for pair in range(len(places)):
        first, second = u[places[pair, 0]], u[places[pair, 1]]
        difference = product = square_a = square_b = 0.0
        for unit in range(len(first)):
            a, b = first[unit], second[unit]
            difference += (a - b) ** 2
            product += a * b
            square_a += a * a
            square_b += b * b
        out[pair, 0], out[pair, 1], out[pair, 2] = difference, product, square_a * square_b
