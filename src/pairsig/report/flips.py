"""Items that flipped between two systems, in both directions: what people read after a p-value."""

from __future__ import annotations

import numpy as np

from pairsig.comparisons.compare import named_pairs
from pairsig.core.statistics import Statistics
from pairsig.io.columns import FLIPS
from pairsig.io.packages import pd
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.report.evidence import by_segment

MOST = 50
"""Segments in each direction, if they are not only passed or failed: those with the largest contributions."""


def table(statistics: Statistics, metric: Metric, baseline: str | None = None) -> pd.DataFrame:
    """Table `FLIPS`: the first system with every other, or every other with the baseline, as in `compare`.

    Several runs of a system are averaged.
    """
    counts = statistics.of(metric)
    names = list(dict.fromkeys(statistics.methods))
    rows = {name: [row for row, method in enumerate(statistics.methods) if method == name] for name in names}
    parts = [
        flipped(by_segment(statistics, metric, counts[rows[a]], counts[rows[b]], (0, 1))).assign(
            metric=metric.name, system_a=a, system_b=b
        )
        for a, b in named_pairs(names, baseline=baseline)
    ]
    changed = pd.concat(parts, ignore_index=True).rename(columns={"carried": "contribution"})
    return frame(FLIPS, changed[list(FLIPS.names)])


def flipped(segments: pd.DataFrame) -> pd.DataFrame:
    """Segments from `by_segment` that changed, the lost ones first, with their `direction`.

    If all segments are passed or failed, these are all that flipped, in the order of the test set. Otherwise they are
    the `MOST` with the largest contributions in each direction. `carried` must be positive where system A is better.
    """
    changed = segments[segments["carried"] != 0]
    most = len(changed)
    if not np.isin(segments[["score_a", "score_b"]].to_numpy(), (0.0, 1.0, 100.0)).all():
        changed, most = changed.sort_values("carried", key=lambda size: -size.abs(), kind="stable"), MOST
    lost, gained = changed[changed["carried"] < 0].head(most), changed[changed["carried"] > 0].head(most)
    return pd.concat([lost.assign(direction="lost"), gained.assign(direction="gained")], ignore_index=True)
