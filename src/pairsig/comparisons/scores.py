"""The scores of systems with their intervals, without a comparison: what `pairsig compare one.csv` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pairsig.core.statistics import Statistics
from pairsig.io import rendering
from pairsig.io.columns import METRIC, Column, Table, count, ends, points
from pairsig.io.tables import Row
from pairsig.metrics import Metric
from pairsig.metrics.names import metric_name
from pairsig.stats.intervals import of_scores
from pairsig.stats.paired import Unit

SCORES = Table(
    "scores",
    (
        METRIC,
        Column("system", str, "name of the system, or of its run"),
        points("score", "score of the system", ends=("ci_low", "ci_high")),
        *ends("ci", missing=True),
        count("n_segments", "size of the test set"),
        count("n_units", "segments, or documents if these are the unit"),
    ),
    key=("metric", "system"),
)
"""One row per system and metric."""


def of_each(statistics: Statistics, metric: Metric, unit: Unit) -> list[Row]:
    """The score of each system with its 95 % interval: Wilson's for pass/fail items, else by influence values."""
    units = statistics.of_units(metric, unit)
    scores = metric.score(units.sum(axis=1))
    rows = []
    for name, score, (low, high) in zip(statistics.systems, scores.tolist(), of_scores(units, metric), strict=True):
        interval = {"ci_low": low, "ci_high": high} if math.isfinite(low) else {"ci_low": None, "ci_high": None}
        rows.append(
            {
                "metric": metric.name,
                "system": name,
                "score": score,
                **interval,
                "n_segments": len(statistics.segments),
                "n_units": units.shape[1],
            }
        )
    return rows


def render(rows: Sequence[Row], form: str) -> str:
    """The scores as a table for a terminal, Markdown or LaTeX, or as sentences."""
    if form == "sentence":
        return "\n".join(map(_sentence, rows))
    shown = [row | {"metric": metric_name(row["metric"])} for row in rows]
    return rendering.render(
        shown, SCORES.view(metric="", system="", n_units="n", score="score [95 %]", ci_low="", ci_high=""), form
    )


def _sentence(row: Row) -> str:
    interval = "" if row["ci_low"] is None else f", 95 % CI {row['ci_low']:.4g} to {row['ci_high']:.4g}"
    return (
        f"The {metric_name(row['metric'])} of {row['system']} is {row['score']:.4g} (n = {row['n_units']:,}{interval})."
    )
