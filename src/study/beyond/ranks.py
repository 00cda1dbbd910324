"""Rank the systems of a test set, with intervals for scores and ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io import columns
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis.record import SEED, THREADS, Analysis, Data, Output, Setting
from study.tables.columns import with_interval

if TYPE_CHECKING:
    from pairsig.comparisons.ranking import Ranking

RANKED = Table(
    "ranked",
    (
        DATASET,
        METRIC,
        *(columns.RANKS[name] for name in ("rank", "rank_low", "rank_high", "cluster", "system")),
        Column("group", str, "who made the system, or its base model"),
        Column("kind", str, "kind of entry: a published system or one that the study trained"),
        N_SEGMENTS,
        *with_interval("score", "score of the system", "two decimals", "points", over=", over segments"),
        columns.RANKS["p_next"],
    ),
    key=("dataset", "metric", "system"),
)


def ranks(
    data: Iterable[tuple[Statistics, Metric]],
    *,
    n_resamples: int = 10_000,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """Rank the systems of every dataset, with intervals for scores and ranks.

    Ranks come from `pairsig.comparisons.ranking.rank` (step-down max-T) and hold simultaneously (family-wise
    error rate 5 %). The intervals of scores come from `reaches`.

    Returns
    -------
    Table `RANKED`, one row per system of a dataset, the best first.
    """
    from pairsig.comparisons.ranking import rank

    rows = [
        described(rank(statistics, metric=metric, n_resamples=n_resamples, rng=seed, threads=threads))
        for statistics, metric in data
    ]
    return frame(RANKED, pd.concat([frame(RANKED, []), *rows], ignore_index=True))


def described(ranked: Ranking) -> pd.DataFrame:
    """Arrange a ranking as table `RANKED`: with the groups and kinds of systems, and intervals of scores."""
    statistics, metric, table = ranked.statistics, ranked.metric, ranked.table
    reach = reaches(statistics.of(metric), metric)
    place = [statistics.systems.index(name) for name in table["system"]]
    known = ["metric", "rank", "rank_low", "rank_high", "cluster", "system", "score", "p_next"]
    return frame(
        RANKED,
        table[known].assign(
            dataset=statistics.dataset,
            group=[statistics.groups[index] for index in place],
            kind=[statistics.kinds[index] for index in place],
            n_segments=len(statistics.segments),
            score_low=table["score"] - reach[place],
            score_high=table["score"] + reach[place],
        ),
    )


def reaches(counts: NDArray[Any], metric: Metric) -> NDArray[np.float64]:
    """Half-widths of the 95 % intervals of scores; nan for a single segment.

    These are Student's intervals from the influence values of the segments. With u the centred influence values, the
    half-width is t · sqrt(Σu² n / (n − 1)), with degrees of freedom from the kurtosis of u.

    Parameters
    ----------
    counts
        Shape (systems, segments, columns).
    """
    from scipy.special import stdtrit

    from pairsig.core.influence import influence_values
    from pairsig.stats.intervals import degrees_of_freedom

    u = influence_values(counts, metric)
    n = u.shape[1]
    if n < 2:
        return np.full(len(u), np.nan)
    u -= u.mean(axis=1, keepdims=True)
    largest = np.abs(u).max(axis=1)
    squares = (u / np.where(largest > 0, largest, 1.0)[:, None]) ** 2
    error = largest * np.sqrt(squares.sum(axis=1) * (n / (n - 1)))
    reach: NDArray[np.float64] = stdtrit(degrees_of_freedom(squares), 0.975) * error
    return reach


ANALYSIS = Analysis(
    ranks,
    {
        "data": Data(),
        "n_resamples": Setting("number of shuffles; default: 10000", "resampling/n_resamples", at_most=10_000),
        "seed": SEED,
        "threads": THREADS,
    },
    tables=(
        Output(
            RANKED,
            "one row per system of a dataset, the best first",
            "The systems of every dataset with their scores (95 % intervals over segments) and ranges of ranks. The "
            "ranges hold simultaneously for all systems of a dataset (family-wise error rate 5 %, step-down max-T)",
            path="results/tables/ranks.tsv",
        ),
    ),
    minutes=10,
    threads=2,
)
