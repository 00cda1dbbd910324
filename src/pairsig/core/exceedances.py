"""How often resampled gains were extreme, and the p-values with their Monte Carlo error that follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Test


@dataclass(frozen=True)
class Exceedances:
    """How often each pair's resampled gain was beyond and on the border, over a number of resamples.

    Of shuffles, `linear` is the probability that the linear approximation of the gain is extreme, and `n_added` and
    `n_removed` are sums of what it lacks and has too much; nan where there is none. See `pairsig.stats.near_exact`.
    """

    n_resamples: int
    n_greater: NDArray[np.int64]
    n_equal: NDArray[np.int64]
    linear: NDArray[np.float64]
    n_added: NDArray[np.float64]
    n_removed: NDArray[np.float64]


def pvalues(
    exceedances: Exceedances, gains: NDArray[np.float64], test: Test
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """P-values and the 95 % intervals of their Monte Carlo error.

    Equal systems get p = 1 by definition, except from a test whose direction was chosen in advance.
    """
    extreme = test.extreme(exceedances.n_greater, exceedances.n_equal)
    p = test.pvalue(extreme, exceedances.n_resamples)
    low, high = (np.minimum(test.sides * end, 1.0) for end in clopper_pearson(extreme, exceedances.n_resamples))
    equal = (gains == 0) & (not test.directed)
    return np.where(equal, 1.0, p), np.where(equal, 1.0, low), np.where(equal, 1.0, high)


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, confidence_level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper-Pearson (1934) interval of a binomial proportion; (0, 1) where there are no trials.

    Both numbers may be fractional, for example an effective number of trials.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    tail = (1.0 - confidence_level) / 2.0
    low = np.where(k > 0, betaincinv(np.where(k > 0, k, 1), n - k + 1, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.where(k < n, n - k, 1), 1.0 - tail), 1.0)
    return low, high
