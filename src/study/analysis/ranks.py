"""The systems of a test set in their order: scores with intervals, and ranks that say who is told from whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import ranking
from pairsig.contributions import contributions
from pairsig.intervals import degrees_of_freedom
from pairsig.metrics import Metric
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.columns import RANKED


def ranks(
    statistics: Statistics,
    metric: Metric,
    *,
    n_resamples: int = 10_000,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """Every system of a dataset with its score, and the ranks it may have.

    Ranks are those of `pairsig.ranking.rank` (step-down max-T), all of which hold together with 95 %. The intervals of
    scores are those of `reaches`.

    Returns
    -------
    Table `RANKED`, one row a system, the best first.
    """
    ranked = ranking.rank(statistics, metric=metric, n_resamples=n_resamples, seed=seed, threads=threads).systems
    reach = reaches(statistics.of(metric), metric)
    place = [statistics.systems.index(name) for name in ranked["system"]]
    known = ["metric", "rank", "rank_low", "rank_high", "cluster", "system", "score", "p_next"]
    return frame(
        RANKED,
        ranked[known].assign(
            dataset=statistics.dataset,
            group=[statistics.groups[index] for index in place],
            kind=[statistics.kinds[index] for index in place],
            n_segments=len(statistics.segments),
            score_low=ranked["score"] - reach[place],
            score_high=ranked["score"] + reach[place],
        ),
    )


def reaches(counts: NDArray[Any], metric: Metric) -> NDArray[np.float64]:
    """How far the 95 % intervals of scores reach on either side; nan where there is one segment.

    Student's, of what the segments contribute to a score to first order (`contributions`): with u the contributions
    less their mean, t · sqrt(Σu² n / (n − 1)), and degrees of freedom by the kurtosis of u.

    Parameters
    ----------
    counts
        Shape (systems, segments, columns).
    """
    from scipy.special import stdtrit

    own = contributions(counts, metric)
    n = own.shape[1]
    if n < 2:
        return np.full(len(own), np.nan)
    own -= own.mean(axis=1, keepdims=True)
    largest = np.abs(own).max(axis=1)
    squares = (own / np.where(largest > 0, largest, 1.0)[:, None]) ** 2
    error = largest * np.sqrt(squares.sum(axis=1) * (n / (n - 1)))
    reach: NDArray[np.float64] = stdtrit(degrees_of_freedom(squares), 0.975) * error
    return reach
