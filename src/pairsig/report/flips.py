"""Items that flipped between two systems, in both directions: what people read after a p-value."""

from __future__ import annotations

import numpy as np

from pairsig.comparisons.compare import named_pairs
from pairsig.core.statistics import Statistics
from pairsig.io.columns import FLIPS
from pairsig.io.packages import pd
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.report.evidence import Evidence, by_segment

MOST = 50
"""Segments in each direction, if they are not only passed or failed: those with the largest contributions."""


def table(statistics: Statistics, metric: Metric, baseline: str | None = None) -> pd.DataFrame:
    """Table `FLIPS`: the first system with every other, or every other with the baseline, as in `compare_with_one`.

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


def passed_or_failed(segments: pd.DataFrame) -> bool:
    """Whether every segment has the lowest or the highest score, so that a change is a flip."""
    return bool(np.isin(segments[["score_a", "score_b"]].to_numpy(), (0.0, 1.0, 100.0)).all())


def flipped(segments: pd.DataFrame, most: int | None = None) -> pd.DataFrame:
    """Segments from `by_segment` that changed, the lost ones first, with their `direction`.

    If all segments are passed or failed, these are all that flipped, in the order of the test set. Otherwise they are
    the `MOST` with the largest contributions in each direction. `carried` must be positive where system A is better;
    `most` is another limit, for both cases.
    """
    changed = segments.assign(direction=np.where(segments["carried"] > 0, "gained", "lost"))
    if not passed_or_failed(segments):
        changed, most = changed.sort_values("carried", key=lambda size: -size.abs(), kind="stable"), most or MOST
    parts = [
        changed[(changed["carried"] != 0) & (changed["direction"] == direction)] for direction in ("lost", "gained")
    ]
    return pd.concat([part.head(len(part) if most is None else most) for part in parts], ignore_index=True)


def changed(evidence: Evidence, most: int) -> list[tuple[str, str, int, pd.DataFrame]]:
    """What a report lists: the items that only one system passes; nothing if they are not only passed or failed.

    Returns, for each direction, the system that wins, the other one, the number of items, and at most so many of them.
    """
    if not passed_or_failed(evidence.segments):
        return []
    sign = 1 if evidence.ahead == evidence.system_a else -1
    segments = evidence.segments.assign(carried=sign * evidence.segments["carried"])
    listed_items = flipped(segments, most)
    directions = []
    for direction, winner, loser in (
        ("lost", evidence.system_b, evidence.system_a),
        ("gained", evidence.system_a, evidence.system_b),
    ):
        n_changed = int(((segments["carried"] < 0) if direction == "lost" else (segments["carried"] > 0)).sum())
        if n_changed:
            rows = listed_items[listed_items["direction"] == direction]
            directions.append((winner, loser, n_changed, rows))
    return directions
