"""How often gains were extreme, and the p-values that follow: with Monte Carlo error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.definitions import Test


@dataclass(frozen=True)
class Tally:
    """How often each pair's resampled gain was extreme, over a number of resamples: what parts add up."""

    n_resamples: int
    n_greater: NDArray[np.int64]
    n_equal: NDArray[np.int64]


def p_values(
    tally: Tally, gains: NDArray[np.float64], test: Test
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """P-values and their 95 % intervals for Monte Carlo error; 1 by definition where there is no gain."""
    extreme = test.extreme(tally.n_greater, tally.n_equal)
    p = test.p_value(extreme, tally.n_resamples)
    low, high = clopper_pearson(extreme, tally.n_resamples)
    equal = gains == 0
    return np.where(equal, 1.0, p), np.where(equal, 1.0, low), np.where(equal, 1.0, high)


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper-Pearson (1934) interval of a binomial proportion; (0, 1) where there are no trials.

    Neither number need be whole: an effective number of trials is none.
    """
    from scipy.special import betaincinv  # scipy.stats would cost a second to import

    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    tail = (1.0 - level) / 2.0
    low = np.where(k > 0, betaincinv(np.where(k > 0, k, 1), n - k + 1, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.where(k < n, n - k, 1), 1.0 - tail), 1.0)
    return low, high
