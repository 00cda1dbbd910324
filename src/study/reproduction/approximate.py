"""Measure the relative error of Monte Carlo p-values on simulated systems (Figure 3 of the exact-test paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from threading import Lock

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.scores import Scorer
from pairsig.core.totals import Resampling
from pairsig.io.columns import METRIC, N_SEGMENTS, Table, count
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from pairsig.metrics import registry
from pairsig.stats.exact import exact_test
from study.analysis.over_systems import mean_of_independent
from study.reproduction.montecarlo import FACTORS, METRICS, P_RANGE, SAMPLES, mean_error, systems
from study.tables.columns import numeric, with_interval

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
