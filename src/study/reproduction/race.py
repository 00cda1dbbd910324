"""Measure the run time of exact and Monte Carlo tests on simulated systems (Figure 4 of the exact-test paper)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from pairsig.io.columns import METRIC, N_SEGMENTS, TEST, Table, count
from pairsig.io.tables import frame
from study.reproduction.montecarlo import METRICS, SENTENCES, systems
from study.tables.columns import numeric, optional_count

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
    from pairsig.stats.exact import exact_test
    from pairsig.stats.sampling import randomization_test

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
