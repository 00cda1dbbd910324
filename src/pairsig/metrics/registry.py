"""All metrics by name."""

from __future__ import annotations

from importlib import import_module

from pairsig.io.choices import choose
from pairsig.metrics import Metric

MODULES = ("counts", "translation", "summarization", "alignment", "constituency", "dependency")
"""Modules of this folder that have metrics, each in a tuple `METRICS`."""

METRICS: dict[str, Metric] = {
    metric.name: metric for module in MODULES for metric in import_module(f"pairsig.metrics.{module}").METRICS
}
"""Every metric by name."""


def metric(name: str | Metric) -> Metric:
    """Look up a metric by its name; a `Metric` object is returned unchanged.

    Raises
    ------
    InputError
        If the name is unknown; the message lists all names and suggests one.
    """
    if isinstance(name, Metric):
        return name
    return METRICS[choose(name, METRICS, "metric")]
