"""Simulated systems for the experiments of Zmigrod, Vieira and Cotterell with Monte Carlo tests.

`approximate` measures the relative error of the randomization test by the number of samples (their Figure 3), and
`race` the run time of both tests (Figure 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

ACCURACY = (0.9543, 0.1116)
"""Mean and standard deviation of the accuracy per sentence (Table 1)."""

LENGTH = (12.08, 10.60)
"""Mean and standard deviation of the length of sentences (Table 1)."""

FACTORS = {250: 0.95, 500: 0.96, 1000: 0.97, 2000: 0.98, 4000: 0.985, 8000: 0.99}
"""Factor on the mean accuracy of system b, by the number of sentences (Table 2)."""

SAMPLES = (1_000, 2_000, 5_000, 10_000, 20_000, 40_000, 100_000)
SENTENCES = (250, 500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000, 100_000)
METRICS = ("accuracy", "f1")

P_RANGE = (0.001, 0.1)
"""The p-values of interest: "a typical range for α" (section 4)."""


def systems(
    n: int, factor: float = 1.0, metric: str = "accuracy", seed: int = 2012
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Simulate counts of two taggers on `n` sentences; the mean accuracy of the second is `factor` times the first's.

    Accuracies and lengths are normal with the moments of Table 1. The paper does not explain how it handles accuracies
    outside [0, 1] and lengths below 0. The authors' code (github.com/rycolab/paired-perm-test) draws them again, rounds
    lengths up and correct tokens down, and so does this function. The result reproduces the p-values of Table 2, but
    truncation changes the moments: mean and standard deviation are 0.892 and 0.076 for accuracies, and 14.6 and 8.7 for
    lengths. After rounding, 0.856 of all tokens are correct.

    Parameters
    ----------
    metric
        "accuracy" (columns correct, total) or "f1" (matched, predicted, gold), which the paper could not run. For F1, a
        gold item is matched if its token is correct, and each missed item has 0, 1 or 2 wrong predictions, the number
        of heads in two coin tosses.
    """
    rng = np.random.Generator(np.random.PCG64([seed, n]))
    total = np.ceil(_truncated(rng, *LENGTH, np.inf, n)).astype(np.int64)
    mean, spread = ACCURACY
    made = []
    for times in (1.0, factor):
        correct = np.floor(_truncated(rng, mean * times, spread, 1.0, n) * total).astype(np.int64)
        columns = [correct, total]
        if metric == "f1":
            columns.insert(1, correct + rng.binomial(2 * (total - correct), 0.5))
        made.append(np.stack(columns, axis=1))
    return made[0], made[1]


def _truncated(rng: np.random.Generator, mean: float, spread: float, highest: float, n: int) -> NDArray[np.float64]:
    """Normal draws; those outside [0, highest] are drawn again."""
    from scipy.special import ndtr, ndtri

    low, high = ndtr((0.0 - mean) / spread), ndtr((highest - mean) / spread)
    draws: NDArray[np.float64] = mean + spread * ndtri(rng.uniform(low, high, n))
    return draws.clip(np.nextafter(0.0, 1.0), highest)


def mean_error(p: ArrayLike, n_resamples: ArrayLike, plus: int = 1) -> NDArray[np.float64]:
    """Exact expected relative error E|p̂ − p| / p of a Monte Carlo p-value with K samples.

    The number of extreme samples X is binomial(K, p). With `plus` = 0, p̂ = X/K, this is De Moivre's mean absolute
    deviation of the binomial distribution. With `plus` = 1, p̂ = (X + 1)/(K + 1), as in `randomization_test`. The
    deviation is then from c = (K + plus)·p − plus instead of Kp. With m = ⌊c⌋ and F_K the distribution function,

        E|X − c| = Kp − c + 2·(c·F_K(m) − Kp·F_{K−1}(m − 1)),  divided by (K + plus)·p.

    For Kp above about 10, both are approximately sqrt(2(1 − p) / (πKp)), which falls with the square root of K.

    Examples
    --------
    >>> [float(error.round(3)) for error in mean_error([0.05, 0.01, 0.001], 20_000)]
    [0.025, 0.056, 0.181]
    """
    from scipy.special import bdtr

    share, k = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(n_resamples, dtype=float))
    centre = (k + plus) * share - plus
    # Sum over whole numbers up to c. Rounding errors of c near a whole number do not matter, because its term is 0.
    most = np.clip(np.floor(centre), 0, k)
    fewer = np.where(most > 0, bdtr(np.maximum(most - 1, 0), np.maximum(k - 1, 0).astype(int), share), 0.0)
    below = np.where(centre >= 0, centre * bdtr(most, k.astype(int), share) - k * share * fewer, 0.0)
    error: NDArray[np.float64] = (k * share - centre + 2 * below) / ((k + plus) * share)
    return error
