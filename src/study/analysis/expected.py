"""Expected replication rates in closed form: the limit of infinitely many random draws."""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from study.analysis import over_systems
from study.analysis.over_systems import Codes, Estimate, Floats


def on_population(gain: ArrayLike, error: ArrayLike, p_low: float, p_high: float) -> tuple[Floats, Floats]:
    """Probability that p on a drawn test set lies in a range and the better system is the right one, or the wrong one.

    The gain on a drawn test set is normally distributed around the true gain. With z the gain in standard errors, its
    bootstrap has p = Φ(−|z|). With θ = δ/s, and |z| from z₁ to z₂ for p in the range,

        right = Φ(z₂ − |θ|) − Φ(z₁ − |θ|),   wrong = Φ(z₂ + |θ|) − Φ(z₁ + |θ|).

    The replication rate over infinitely many draws of all pairs is Σ right / Σ (right + wrong).

    Parameters
    ----------
    gain
        True gains δ of pairs, on the whole population.
    error
        Standard errors s of the gain on a drawn test set of n segments: √(N/n) times that on the population of N.

    Returns
    -------
    Two numbers per pair; nan where the error is 0, because the systems are equal.
    """
    from scipy.special import ndtr

    z_low, z_high = _in_errors(p_low, p_high)
    error = np.asarray(error, dtype=np.float64)
    theta = np.abs(np.divide(gain, error, out=np.full(error.shape, np.nan), where=error > 0))
    return ndtr(z_high - theta) - ndtr(z_low - theta), ndtr(z_high + theta) - ndtr(z_low + theta)


def on_another(
    gain_on: ArrayLike,
    error_on: ArrayLike,
    gain_against: ArrayLike,
    error_against: ArrayLike,
    p_low: float,
    p_high: float,
) -> tuple[Floats, Floats]:
    """Probability that p on one test set lies in a range and the better system is also better on another, or is not.

    Both test sets come from the *same* source. Nothing else is assumed about it, because the probabilities are
    conditional on the gain on both test sets together. With gains d₁, d₂ and variances v₁, v₂ (squared standard
    errors), m = (d₁/v₁ + d₂/v₂)/(1/v₁ + 1/v₂) is sufficient for the true gain. Given m,

        d₁ ~ N(m, v₁²/(v₁ + v₂)),   d₂ = m + (m − d₁)v₂/v₁,

    as if the segments of both test sets were shuffled and split again. For m > 0, the second gain has the sign of the
    first where 0 < d₁ < m(1 + v₁/v₂), so that right and wrong are differences of normal probabilities. The standard
    errors account for the number and lengths of segments.

    docs/coverage.md reports what happens if the sources differ, and how the formula compares
    with shuffling.

    Parameters
    ----------
    gain_on, error_on, gain_against, error_against
        Gains of the same system of each pair on both test sets, and their standard errors.

    Returns
    -------
    Two numbers per pair; nan where an error is 0.
    """
    from scipy.special import ndtr

    z_low, z_high = _in_errors(p_low, p_high)
    v_on, v_against = np.square(error_on, dtype=np.float64), np.square(error_against, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        v_sum = v_on + v_against
        # m, made positive. From here on in standard errors of the first test set.
        m = np.abs((np.asarray(gain_on) * v_against + np.asarray(gain_against) * v_on) / v_sum)
        mean, spread = m / error_on, np.sqrt(v_on / v_sum)
        edge = m / error_on * v_sum / v_against  # m(1 + v₁/v₂), where the second gain changes its sign
        degenerate = ~((v_on > 0) & (v_against > 0))

        def below(z: Floats | float) -> Floats:
            probability: Floats = ndtr((z - mean) / spread)
            return probability

        # d₁ in the range, and below the edge; wrong is the rest, and d₁ < 0 in the range, where d₂ > 0.
        inside = below(z_high) - below(z_low)
        right = below(np.minimum(z_high, edge)) - below(np.minimum(z_low, edge))
        wrong = inside - right + below(-z_low) - below(-z_high)
    return np.where(degenerate, np.nan, right), np.where(degenerate, np.nan, wrong)


def on_next(theta: ArrayLike, size: float, p_low: float, p_high: float) -> tuple[Floats, Floats]:
    """Same as `on_population`, for a second test set drawn from the population with `size` times as many segments.

    With S = Φ(θ √size), the probability that the second test set favours the right system, the result is
    right·S + wrong·(1 − S), and the rest.

    Parameters
    ----------
    theta
        True gains of pairs, in standard errors on the first test set.
    """
    from scipy.special import ndtr

    right, wrong = on_population(theta, np.ones(np.shape(theta)), p_low, p_high)
    same = ndtr(np.abs(np.asarray(theta, dtype=np.float64)) * np.sqrt(size))
    return right * same + wrong * (1 - same), right * (1 - same) + wrong * same


def share(right: ArrayLike, wrong: ArrayLike, systems: Codes, test_sets: Codes | None = None) -> Estimate:
    """Expected rate Σ right / Σ (right + wrong), with Student's interval on the logit scale over systems and test sets.

    Rows with nan are ignored. The result is nan without usable rows. It has no interval with fewer than three systems,
    nor with fewer than `FEWEST_DEGREES` degrees of freedom: there are too few test sets (or systems), and the interval
    would cover nearly all rates. docs/coverage.md reports the coverage in simulations.
    """
    right = np.nan_to_num(np.asarray(right, dtype=np.float64))
    total = right + np.nan_to_num(np.asarray(wrong, dtype=np.float64))
    if not total.sum():
        return np.nan, np.nan, np.nan
    rate = float(right.sum() / total.sum())
    if over_systems.n_members(systems) < 3:
        return rate, np.nan, np.nan
    residuals = (right - rate * total) / total.sum()
    variance, degrees = over_systems.variance(residuals, systems, test_sets, weights=total, own_variance=False)
    if degrees < FEWEST_DEGREES and variance > 0:
        return rate, np.nan, np.nan
    low, high = over_systems.interval(rate, variance, degrees, scale="logit")
    return rate, low, high


FEWEST_DEGREES = 2.0
"""Below so many degrees of freedom, Student's distribution has no variance: its 97.5th percentile reaches 12.7."""


def difference(share: Estimate, expected: Estimate) -> Estimate:
    """Difference between a share and the expected one, with its interval from theirs (Zou and Donner 2008).

    Both are treated as independent. As they depend on the same systems, the interval is conservative.
    """
    middle = share[0] - expected[0]
    below = float(np.hypot(share[0] - share[1], expected[2] - expected[0]))
    above = float(np.hypot(share[2] - share[0], expected[0] - expected[1]))
    return middle, middle - below, middle + above


def beside(name: str, share: Estimate, expected: Estimate) -> dict[str, float]:
    """Cells of a share called `name`, of the expected one, and of their difference."""
    parts = {name: share, "expected": expected, "difference": difference(share, expected)}
    return dict(chain.from_iterable(over_systems.cells(part, estimate).items() for part, estimate in parts.items()))


def _in_errors(p_low: float, p_high: float) -> tuple[float, float]:
    """Range of |z| for which p = Φ(−|z|) lies in a range of p-values; p is at most 1/2."""
    from scipy.special import ndtri

    return float(-ndtri(min(p_high, 0.5))), float(-ndtri(min(p_low, 0.5)))
