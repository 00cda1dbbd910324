"""How alike two systems are, and what that does to the gain they need."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.errors import InputError
from pairsig.metrics import Metric
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.columns import SIMILARITY


def similarity(statistics: Statistics, metric: Metric, comparisons: pd.DataFrame) -> pd.DataFrame:
    """How alike two systems are, and what that does to the gain they need.

    To first order a resampled score is f(T) + Σ (cᵢ* − 1) uᵢ with uᵢ = ∇f(T)·xᵢ, the segment's contribution (the delta
    method). The similarity of two systems is the correlation of their contributions over the segments, and the
    standard error of their gain is sqrt(Σ (uᵢᴬ − uᵢᴮ − mean)²): the more alike, the smaller. `p_normal` =
    1 − Φ(gain / standard error) is what the bootstrap's p would be if the gain were normal.

    Returns
    -------
    Table `SIMILARITY`, one row a pair of `comparisons`. The similarity is missing where one
    system's contributions do not vary; `p_normal` is 1 where there is no gain.
    """
    from scipy.special import ndtr

    for column, expected in (("metric", metric.name), ("n_segments", len(statistics.segments))):
        other = comparisons.loc[comparisons[column] != expected, column]
        if len(other):
            raise InputError(f"the comparisons are of {column} {other.iloc[0]}, expected {expected}")
    u = contributions(statistics, metric)
    u -= u.mean(axis=1, keepdims=True)
    spread = np.sqrt((u**2).sum(axis=1))
    positions = {system: index for index, system in enumerate(statistics.systems)}
    unknown = set(comparisons["system_a"]) | set(comparisons["system_b"])
    unknown -= set(positions)
    if unknown:
        raise InputError(
            f"system {min(unknown)} is in the comparisons, but not in the statistics of {statistics.dataset}"
        )
    a = comparisons["system_a"].map(positions).to_numpy(dtype=np.intp)
    b = comparisons["system_b"].map(positions).to_numpy(dtype=np.intp)
    error = np.sqrt(((u[a] - u[b]) ** 2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = (u[a] * u[b]).sum(axis=1) / (spread[a] * spread[b])
        p_normal = ndtr(-comparisons["gain"].to_numpy() / error)
    found = {
        "similarity": alike,
        "gain_se": error,
        "p_normal": np.where(comparisons["gain"].to_numpy() == 0, 1.0, p_normal),
    }
    taken = [name for name in SIMILARITY.names if name not in found]
    return frame(SIMILARITY, comparisons[taken].assign(**found))


def contributions(statistics: Statistics, metric: Metric) -> NDArray[np.float64]:
    """First-order contribution of every segment to every system's score, (systems × segments), in points.

    The gradient of the score at the totals is taken by central differences, 1e-5 of each total wide.
    """
    counts = statistics.of(metric).astype(np.float64)
    totals = counts.sum(axis=1)
    largest = np.abs(totals).max(axis=1, keepdims=True)
    # A column without counts contributes nothing, whatever its derivative (for BLEU there is none there).
    step = 1e-5 * np.where(totals != 0, np.abs(totals), largest) * (counts != 0).any(axis=1)
    contributed = np.zeros(counts.shape[:2])
    noise = np.zeros(len(counts))
    for column in range(totals.shape[1]):
        shift = np.zeros_like(totals)
        shift[:, column] = step[:, column]
        rise = metric.score(totals + shift) - metric.score(totals - shift)
        gradient = np.divide(rise, 2 * step[:, column], out=np.zeros_like(rise), where=step[:, column] > 0)
        part = gradient[:, None] * counts[:, :, column]
        contributed += part
        noise += np.abs(part).max(axis=1)
    # What is left of a system without any error is rounding, not a contribution.
    contributed[np.abs(contributed) < 1e-8 * noise[:, None]] = 0.0
    return contributed if metric.higher_is_better else -contributed
