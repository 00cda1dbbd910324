"""Items that flipped between two systems, in both directions: what people read after a p-value."""

from __future__ import annotations

import numpy as np

from pairsig.core.statistics import Statistics
from pairsig.io.columns import FLIPS
from pairsig.io.packages import pd
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.report.evidence import by_segment

MOST = 50
"""Segments in each direction, if they are not only passed or failed: those with the largest contributions."""


def table(statistics: Statistics, metric: Metric) -> pd.DataFrame:
    """Table `FLIPS` of every system against the first one; several runs of a system are averaged."""
    counts = statistics.of(metric)
    base, *others = dict.fromkeys(statistics.methods)
    rows = {name: [row for row, own in enumerate(statistics.methods) if own == name] for name in (base, *others)}
    parts = [
        flipped(by_segment(statistics, metric, counts[rows[base]], counts[rows[other]], (1, 0))).assign(
            metric=metric.name, system_a=base, system_b=other
        )
        for other in others
    ]
    found = pd.concat(parts, ignore_index=True).rename(columns={"carried": "contribution"})
    return frame(FLIPS, found[list(FLIPS.names)])


def passed_or_failed(segments: pd.DataFrame) -> bool:
    """Whether every segment has the lowest or the highest score, so that a change is a flip."""
    return bool(np.isin(segments[["score_a", "score_b"]].to_numpy(), (0.0, 1.0, 100.0)).all())


def flipped(segments: pd.DataFrame, most: int | None = None) -> pd.DataFrame:
    """Segments from `by_segment` that changed, the lost ones first, with their `direction`.

    If all segments are passed or failed, these are all that flipped, in the order of the test set. Otherwise they are
    the `MOST` with the largest contributions in each direction. `carried` must be positive where the second system is
    better; `most` is another limit, for both cases.
    """
    own = segments.assign(direction=np.where(segments["carried"] > 0, "gained", "lost"))
    if not passed_or_failed(segments):
        own, most = own.sort_values("carried", key=lambda size: -size.abs(), kind="stable"), most or MOST
    parts = [own[(own["carried"] != 0) & (own["direction"] == direction)] for direction in ("lost", "gained")]
    return pd.concat([part.head(len(part) if most is None else most) for part in parts], ignore_index=True)
