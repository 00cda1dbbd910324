"""All metrics by name."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from itertools import chain
from typing import Any

from pairsig.io.choices import choose, spelled
from pairsig.metrics import Metric

MODULES = (
    "counts",
    "translation",
    "summarization",
    "speech",
    "alignment",
    "constituency",
    "dependency",
    "entities",
    "classification",
)
"""Modules of this folder that have metrics, each in a tuple `METRICS`."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in chain.from_iterable(import_module(f"pairsig.metrics.{module}").METRICS for module in MODULES)
}
"""Every metric by name."""


def metric(name: str | Metric) -> Metric:
    """Look up a metric by its name in upper or lower case; a `Metric` object is returned unchanged."""
    if isinstance(name, Metric):
        return name
    return METRICS[choose(spelled(name, METRICS) if isinstance(name, str) else name, METRICS, "metric")]


def fitting(columns: Collection[str] | int) -> list[Metric]:
    """The metrics of counts in these columns, or in so many columns; of equal functions, the first."""
    first: dict[Any, Metric] = {}
    for known in METRICS.values():
        same = len(known.columns) == columns if isinstance(columns, int) else set(known.columns) == set(columns)
        if same and known.labels != "by class":
            first.setdefault(known.function, known)
    return list(first.values())


def listing() -> str:
    """Every metric with its formula, by task, in one line each."""
    width = max(map(len, METRICS))
    parts = []
    for module in MODULES:
        home = import_module(f"pairsig.metrics.{module}")
        task = str(home.__doc__).partition(":")[0]
        reader = home.METRICS[0].reader
        labels = "tables of labels, with --gold" if home.METRICS[0].labels else "tables of counts"
        parts.append(f"{task} ({f'--reader {reader}' if reader else labels})")
        for described in home.METRICS:
            direction = "" if described.higher_is_better else " (lower is better)"
            parts.append(f"  {described.name:{width}}  {described.formula}{direction}")
        parts.append("")
    return "\n".join([*parts, "Upper and lower case are the same: --metric BLEU is --metric bleu."])
