"""Monte Carlo against exact: the experiments of Zmigrod, Vieira and Cotterell's exact-test paper, and F1 beside them.

How far the randomization test lies from the exact p-value for a number of samples (their Figure 3), and how long either
takes (Figure 4), on systems simulated as theirs were. Numbers in, tables out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.definitions import find
from pairsig.engine import Judge, Resampling
from pairsig.errors import InputError
from pairsig.exact import exact_test
from pairsig.metrics import registry
from pairsig.resampling import randomization_test
from pairsig.tables import frame
from study.columns import RELATIVE_ERROR, RUN_TIME

ACCURACY = (0.9543, 0.1116)
"""Mean and standard deviation of a sentence's accuracy (Table 1)."""

LENGTH = (12.08, 10.60)
"""Mean and standard deviation of a sentence's length (Table 1)."""

FACTORS = {250: 0.95, 500: 0.96, 1000: 0.97, 2000: 0.98, 4000: 0.985, 8000: 0.99}
"""What the mean accuracy of system b is multiplied by, by the number of sentences (Table 2)."""

SAMPLES = (1_000, 2_000, 5_000, 10_000, 20_000, 40_000, 100_000)
SENTENCES = (250, 500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000, 100_000)
METRICS = ("accuracy", "f1")

P_RANGE = (0.001, 0.1)
"""The p-values of interest: "a typical range for α" (section 4)."""


def systems(
    n: int, factor: float = 1.0, metric: str = "accuracy", seed: int = 2012
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of two simulated taggers on `n` sentences; the mean accuracy of the second is `factor` times the first's.

    Accuracies and lengths are normal with the moments of Table 1. The paper does not say what becomes of draws outside
    [0, 1] and of lengths below 0; the authors' code (github.com/rycolab/paired-perm-test) draws them again, rounds
    lengths up and correct tokens down, and so does this. It gives the p-values of Table 2, but the truncated normal
    distributions have other moments than those of Table 1: accuracies 0.892 and 0.076, lengths 14.6 and 8.7; with
    correct tokens rounded down, 0.856 of all tokens are.

    Parameters
    ----------
    metric
        "accuracy" (columns correct, total), or "f1" (matched, predicted, gold), which the paper could not run: a gold
        item is matched where a token is correct, and for each missed one there are 0, 1 or 2 wrong ones, as two
        coins fall.
    """
    if metric not in METRICS:
        raise InputError(f"taggers cannot be simulated for {metric}, expected one of {', '.join(METRICS)}")
    if n < 1:
        raise InputError(f"the number of sentences is {n}, expected at least 1")
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
    """Normal draws of which those outside [0, highest] are replaced by others."""
    from scipy.special import ndtr, ndtri

    low, high = ndtr((0.0 - mean) / spread), ndtr((highest - mean) / spread)
    draws: NDArray[np.float64] = mean + spread * ndtri(rng.uniform(low, high, n))
    return draws.clip(np.nextafter(0.0, 1.0), highest)


def mean_error(p: ArrayLike, n_resamples: ArrayLike, plus: int = 1) -> NDArray[np.float64]:
    """Expected relative error E|p̂ − p| / p of a Monte Carlo p-value; exact, for any p and number of samples K.

    The number of extreme samples X is binomial(K, p). With `plus` = 0, p̂ = X/K, this is De Moivre's mean absolute
    deviation of the binomial; with 1, p̂ = (X + 1)/(K + 1), as `randomization_test` has it, the deviation is from
    c = (K + plus)·p − plus instead of Kp, and with m = ⌊c⌋ and F_K the distribution function

        E|X − c| = Kp − c + 2·(c·F_K(m) − Kp·F_{K−1}(m − 1)),  divided by (K + plus)·p.

    For Kp beyond some 10 either is about sqrt(2(1 − p) / (πKp)): it falls with the square root of K, without a bend.

    Examples
    --------
    >>> [float(error.round(3)) for error in mean_error([0.05, 0.01, 0.001], 20_000)]
    [0.025, 0.056, 0.181]
    """
    from scipy.special import bdtr

    share, k = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(n_resamples, dtype=float))
    centre = (k + plus) * share - plus
    # The whole numbers up to c; rounding of c beside a whole number changes nothing, its term being 0.
    most = np.clip(np.floor(centre), 0, k)
    fewer = np.where(most > 0, bdtr(np.maximum(most - 1, 0), np.maximum(k - 1, 0).astype(int), share), 0.0)
    below = np.where(centre >= 0, centre * bdtr(most, k.astype(int), share) - k * share * fewer, 0.0)
    found: NDArray[np.float64] = (k * share - centre + 2 * below) / ((k + plus) * share)
    return found


def approximate(
    n_resamples: Sequence[int] = SAMPLES,
    *,
    n_simulated: int = 40,
    n_pairs: int = 10,
    n_runs: int = 5,
    factors: Mapping[int, float] = FACTORS,
    metrics: Sequence[str] = METRICS,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """Relative error of Monte Carlo p-values by the number of samples (Figure 3), and the exact p-values (Table 2).

    For each number of sentences `n_simulated` pairs of systems are simulated and tested exactly. The first `n_pairs` of
    them whose p lies in `P_RANGE` are tested by randomization, `n_runs` times with different draws; the errors
    |p̂ − p| / p are averaged. (The paper takes five pairs as they come, five runs each, and drops errors above 10.)
    One run of draws serves all numbers of samples, and all pairs.

    Returns
    -------
    Table `RELATIVE_ERROR`, one row a metric, number of sentences and number of samples. The interval of the error is
    Student's over runs, the closed form is `mean_error` averaged over the pairs.
    """
    _check(n_resamples=n_resamples, n_simulated=[n_simulated], n_pairs=[n_pairs], n_runs=[n_runs])
    samples = sorted(set(n_resamples))
    rows: list[dict[str, object]] = []
    for name in metrics:
        metric = registry.metric(name)
        for n, factor in factors.items():
            simulated = [systems(n, factor, name, seed + number) for number in range(n_simulated)]
            exact = [exact_test(a, b, metric=metric) for a, b in simulated]
            p = np.array([result.pvalue for result in exact])
            chosen = np.flatnonzero((p >= P_RANGE[0]) & (p <= P_RANGE[1]))[:n_pairs]
            if not len(chosen):
                raise InputError(
                    f"none of {n_simulated} simulated pairs of {n} sentences has p from {P_RANGE[0]} to {P_RANGE[1]} "
                    f"by {name}, expected at least one: simulate more"
                )
            counts = np.stack([counts for number in chosen for counts in simulated[number]])
            first = 2 * np.arange(len(chosen))
            b_wins = np.array([exact[number].better == "b" for number in chosen], dtype=np.intp)
            pairs = np.stack([first + b_wins, first + 1 - b_wins], axis=1)
            judge, resampling = Judge(counts, metric), Resampling(seed=seed + n, threads=threads)
            estimates = []
            for run in range(n_runs):
                start, extreme = run * samples[-1], np.zeros(len(pairs), dtype=np.int64)
                for low, high in pairwise([0, *samples]):
                    some = range(start + low, start + high)
                    counted = judge.tally(pairs, find("randomization"), resampling, resamples=some)
                    extreme = extreme + counted.n_greater + counted.n_equal
                    estimates.append((extreme + 1) / (high + 1))
            # runs × numbers of samples × pairs, averaged over the pairs
            errors = np.abs(np.array(estimates) / p[chosen] - 1).reshape(n_runs, len(samples), -1).mean(axis=2)
            for column, k in enumerate(samples):
                error_low, error_high = _student(errors[:, column])
                rows.append({
                    "metric": name, "n_segments": n, "factor": factor, "n_simulated": n_simulated,
                    "p_mean": p.mean(), "p_sd": p.std(ddof=1) if n_simulated > 1 else np.nan,
                    "n_pairs": len(chosen), "n_runs": n_runs, "n_resamples": k, "error": errors[:, column].mean(),
                    "error_low": error_low, "error_high": error_high, "closed_form": mean_error(p[chosen], k).mean(),
                })  # fmt: skip
    return frame(RELATIVE_ERROR, rows)


def _student(values: NDArray[np.float64]) -> tuple[float, float]:
    """Student's 95 % interval of the mean; unknown for a single value."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return np.nan, np.nan
    margin = stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values))
    return float(max(values.mean() - margin, 0.0)), float(values.mean() + margin)


def race(
    n_segments: Sequence[int] = SENTENCES,
    *,
    n_resamples: Sequence[int] = (20_000, 40_000),
    n_repeats: int = 3,
    metrics: Sequence[str] = METRICS,
    seed: int = 2012,
    threads: int = 1,
) -> pd.DataFrame:
    """Seconds of `exact_test` and of `randomization_test` by the number of sentences (Figure 4).

    Two simulated systems, b's mean accuracy 0.98 of a's, one thread. Compiling and loading are not part of the time.
    These are measurements: no two runs give the same.

    Returns
    -------
    Table `RUN_TIME`, one row a metric, number of sentences and test. Where one takes longer than a second, it is not
    repeated.
    """
    _check(n_segments=n_segments, n_resamples=n_resamples, n_repeats=[n_repeats])
    rows: list[dict[str, object]] = []
    for name in metrics:
        for n in [min(n_segments), *sorted(set(n_segments))]:  # the first one only warms up
            a, b = systems(n, 0.98, name, seed)
            tests: dict[int, Callable[[], object]] = {0: partial(exact_test, a, b, metric=name)}
            for k in n_resamples:
                tests[k] = partial(randomization_test, a, b, metric=name, n_resamples=k, seed=seed, threads=threads)
            for k, test in tests.items():
                seconds = [_seconds(test)]
                while len(seconds) < n_repeats and seconds[0] < 1:
                    seconds.append(_seconds(test))
                rows.append({
                    "metric": name, "n_segments": n, "test": "randomization" if k else "exact",
                    "n_resamples": k or np.nan, "n_repeats": len(seconds), "seconds": float(np.median(seconds)),
                    "seconds_low": min(seconds), "seconds_high": max(seconds),
                })  # fmt: skip
    return frame(RUN_TIME, rows).drop_duplicates(list(RUN_TIME.key), keep="last")


def _seconds(test: Callable[[], object]) -> float:
    started = time.perf_counter()
    test()
    return time.perf_counter() - started


def _check(**numbers: Sequence[int]) -> None:
    for name, values in numbers.items():
        if not values or min(values) < 1:
            raise InputError(f"{name} is {', '.join(map(str, values)) or 'empty'}, expected whole numbers, at least 1")
