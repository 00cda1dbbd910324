"""Monte Carlo against exact tests on simulated systems: the experiments of Zmigrod, Vieira and Cotterell (2022).

`approximate` measures the relative error of the randomization test by the number of samples (their Figure 3), and
`race` the run time of both tests (Figure 4).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, pairwise
from threading import Lock

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.core.scores import Scorer
from pairsig.core.totals import Resampling
from pairsig.io.columns import METRIC, N_SEGMENTS, TEST, Table, count
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from pairsig.metrics import registry
from pairsig.stats.exact import exact_test
from pairsig.stats.sampling import randomization_test
from study.analysis.over_systems import mean_of_independent
from study.tables.columns import numeric, optional_count, with_interval

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


def mean_error(p: ArrayLike, n_resamples: ArrayLike) -> NDArray[np.float64]:
    """Exact expected relative error E|p̂ − p| / p of the p-value p̂ = (X + 1)/(K + 1) of `randomization_test`.

    The number of extreme samples X among K is binomial(K, p). With c = (K + 1)·p − 1, m = ⌊c⌋ and F_K the distribution
    function, the mean absolute deviation of X from c (De Moivre's, for c = Kp) is

        E|X − c| = Kp − c + 2·(c·F_K(m) − Kp·F_{K−1}(m − 1)),  divided by (K + 1)·p.

    For Kp above about 10, this is approximately sqrt(2(1 − p) / (πKp)), which falls with the square root of K.

    Examples
    --------
    >>> [float(error.round(3)) for error in mean_error([0.05, 0.01, 0.001], 20_000)]
    [0.025, 0.056, 0.181]
    """
    from scipy.special import bdtr

    share, k = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(n_resamples, dtype=float))
    centre = (k + 1) * share - 1
    # Sum over whole numbers up to c. Rounding errors of c near a whole number do not matter, because its term is 0.
    most = np.clip(np.floor(centre), 0, k)
    fewer = np.where(most > 0, bdtr(np.maximum(most - 1, 0), np.maximum(k - 1, 0).astype(int), share), 0.0)
    below = np.where(centre >= 0, centre * bdtr(most, k.astype(int), share) - k * share * fewer, 0.0)
    error: NDArray[np.float64] = (k * share - centre + 2 * below) / ((k + 1) * share)
    return error


RELATIVE_ERROR = Table(
    "relative_error",
    (
        METRIC,
        N_SEGMENTS,
        numeric("factor", "mean accuracy of system b over that of system a"),
        count("n_simulated", "pairs of systems simulated", "pairs", "simulated pairs"),
        numeric("p_mean", "mean of their exact p-values", heading="mean p"),
        numeric("p_sd", "standard deviation of their exact p-values", heading="s.d. of p", missing=True),
        count("n_pairs", "pairs whose Monte Carlo error was measured", "pairs", "pairs in range"),
        count("n_runs", "Monte Carlo runs per pair"),
        count("n_resamples", "Monte Carlo samples per run", "samples", "resamples"),
        *with_interval("error", "mean relative error of the Monte Carlo p-value"),
        numeric("closed_form", "relative error expected from the binomial distribution"),
    ),
    key=("metric", "n_segments", "n_resamples"),
    caption="Relative error of Monte Carlo p-values on simulated systems, by number of samples, beside its closed form",
)  # fmt: skip


def approximate(
    n_resamples: Sequence[int] = SAMPLES,
    *,
    n_simulated: int = 40,
    n_pairs: int | None = None,
    n_runs: int = 5,
    n_sizes: int = len(FACTORS),
    factors: Mapping[int, float] = FACTORS,
    metrics: Sequence[str] = METRICS,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """Measure the relative error of Monte Carlo p-values (Figure 3) and exact p-values (Table 2).

    For each number of sentences, `n_simulated` pairs of systems are simulated and tested exactly. The first `n_pairs`
    (default: a quarter as many, at least 3) with p in `P_RANGE` are then tested by randomization, `n_runs` times with
    different draws, and the errors |p̂ − p| / p are averaged. (The paper takes the first five pairs with five runs each,
    and drops errors above 10.) The same draws are used for all numbers of samples and all pairs. The numbers of
    sentences are the first `n_sizes` of `factors`.

    Returns
    -------
    Table `RELATIVE_ERROR`, one row per metric, number of sentences and number of samples. The interval of the error is
    Student's over runs. The closed form is the mean of `mean_error` over the pairs.
    """
    samples = sorted(set(n_resamples))
    rows: list[dict[str, object]] = []
    for name in metrics:
        metric = registry.metric(name)
        for n, factor in islice(factors.items(), n_sizes):
            simulated = [systems(n, factor, name, seed + number) for number in range(n_simulated)]
            exact = [exact_test(a, b, metric=metric) for a, b in simulated]
            p = np.array([result.pvalue for result in exact])
            chosen = np.flatnonzero((p >= P_RANGE[0]) & (p <= P_RANGE[1]))[: n_pairs or max(n_simulated // 4, 3)]
            if not len(chosen):
                raise InputError(
                    f"found no p from {P_RANGE[0]} to {P_RANGE[1]} in {n_simulated} simulated pairs with {n} sentences "
                    f"by {name}, expected at least one; increase montecarlo: n_simulated"
                )
            counts = np.stack([*chain.from_iterable(simulated[number] for number in chosen)])
            first = 2 * np.arange(len(chosen))
            b_wins = np.array([exact[number].better == "b" for number in chosen], dtype=np.intp)
            pairs = np.stack([first + b_wins, first + 1 - b_wins], axis=1)
            scorer, resampling = Scorer(counts, metric), Resampling(seed=seed + n, threads=threads)
            estimates = []
            for run in range(n_runs):
                start, extreme = run * samples[-1], np.zeros(len(pairs), dtype=np.int64)
                for low, high in pairwise([0, *samples]):
                    extreme += _extreme(scorer, pairs, replace(resampling, some=range(start + low, start + high)))
                    estimates.append((extreme + 1) / (high + 1))
            # runs × numbers of samples × pairs, averaged over the pairs
            errors = np.abs(np.array(estimates) / p[chosen] - 1).reshape(n_runs, len(samples), -1).mean(axis=2)
            for column, k in enumerate(samples):
                error, error_low, error_high = mean_of_independent(errors[:, column])
                rows.append({
                    "metric": name, "n_segments": n, "factor": factor, "n_simulated": n_simulated,
                    "p_mean": p.mean(), "p_sd": p.std(ddof=1) if n_simulated > 1 else np.nan,
                    "n_pairs": len(chosen), "n_runs": n_runs, "n_resamples": k,
                    "error": error, "error_low": max(error_low, 0.0), "error_high": error_high,
                    "closed_form": mean_error(p[chosen], k).mean(),
                })  # fmt: skip
    return frame(RELATIVE_ERROR, rows)


def _extreme(scorer: Scorer, pairs: NDArray[np.intp], resampling: Resampling) -> NDArray[np.int64]:
    """Number of shuffles after which the gain of each pair is at least as far from 0 as the observed one."""
    least = scorer.gains(pairs) - scorer.band
    counts, adding = np.zeros(len(pairs), dtype=np.int64), Lock()

    def add(distinct: NDArray[np.float64], number: int) -> None:
        for gains, _, rows in scorer.shuffled(distinct, pairs, number):
            extreme = (np.abs(gains) >= least[rows, None]).sum(axis=1)
            with adding:
                counts[rows] += extreme

    scorer.product.for_each_batch(add, "swap", resampling)
    return counts


FEW = (250, 2000, 10_000)
"""Numbers of sentences in a small run."""

RUN_TIME = Table(
    "run_time",
    (
        METRIC,
        N_SEGMENTS,
        replace(TEST, meaning="exact or randomization"),
        optional_count("n_resamples", "Monte Carlo samples; missing for the exact test", "samples", "resamples"),
        count("n_repeats", "number of timed runs", "runs", "repeats"),
        numeric("seconds", "median time", "seconds"),
        numeric("seconds_low", "shortest time", "seconds"),
        numeric("seconds_high", "longest time", "seconds"),
    ),
    key=("metric", "n_segments", "test", "n_resamples"),
    caption="Run time of the exact test and of Monte Carlo tests on simulated systems, measured in this run",
)  # fmt: skip


def race(
    n_segments: Sequence[int] = SENTENCES,
    *,
    n_resamples: Sequence[int] = (20_000, 40_000),
    n_repeats: int = 3,
    metrics: Sequence[str] = METRICS,
    seed: int = 2012,
    threads: int = 1,
) -> pd.DataFrame:
    """Measure the run time of `exact_test` and `randomization_test` by the number of sentences (Figure 4).

    The two systems are simulated; the mean accuracy of b is 0.98 times that of a. Tests use one thread. The time does
    not include compiling and loading, and differs between runs.

    Returns
    -------
    Table `RUN_TIME`, one row per metric, number of sentences and test. Runs of more than a second are not repeated.
    """
    rows: list[dict[str, object]] = []
    for name in metrics:
        for n in [min(n_segments), *sorted(set(n_segments))]:  # the first run is a warm-up
            a, b = systems(n, 0.98, name, seed)
            tests: dict[int, Callable[[], object]] = {0: partial(exact_test, a, b, metric=name)}
            for k in n_resamples:
                tests[k] = partial(randomization_test, a, b, metric=name, n_resamples=k, rng=seed, threads=threads)
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
