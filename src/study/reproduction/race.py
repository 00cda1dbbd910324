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
from study.analysis.record import SEED, Analysis, Figure, Output, Setting
from study.reproduction.montecarlo import METRICS, SENTENCES, systems
from study.tables.columns import numeric, optional_count

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
)


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
    from pairsig.stats.resampling import randomization_test

    rows: list[dict[str, object]] = []
    for name in metrics:
        for n in [min(n_segments), *sorted(set(n_segments))]:  # the first run is a warm-up
            a, b = systems(n, 0.98, name, seed)
            tests: dict[int, Callable[[], object]] = {0: partial(exact_test, a, b, metric=name)}
            for k in n_resamples:
                tests[k] = partial(
                    randomization_test, a, b, metric=name, n_resamples=k, rng=seed, threads=threads, estimator="plain"
                )
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


ANALYSIS = Analysis(
    race,
    {
        "n_segments": Setting(
            "numbers of sentences; default: those of the paper", "montecarlo/n_segments", several=True
        ),
        "n_repeats": Setting("timed runs, of which the median counts; default: 3", "montecarlo/n_repeats"),
        "seed": SEED,
    },
    tables=(
        Output(
            RUN_TIME,
            "one row per metric, number of sentences and test",
            "Run time of the exact test and of Monte Carlo tests on simulated systems, measured in this run",
        ),
    ),
    figures=(
        Figure(
            "run_time",
            "montecarlo",
            ("run_time",),
            "Run time of the exact test and of Monte Carlo tests, in seconds.",
            "The tests use one core; the claims of the exact-test paper (its Figure 4) are marked. The times were "
            "measured on the machine of this run and differ between runs.",
            section="exact",
        ),
    ),
    memory=1000,
    threads=0,  # it needs one core, and reserves all, so that no other job takes time from it
    group="race",
)
