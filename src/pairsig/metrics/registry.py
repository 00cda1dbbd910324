"""All metrics by name."""

from __future__ import annotations

from pairsig.choices import choose
from pairsig.metrics import Metric, alignment, constituency, counts, dependency, summarization, translation

_FAMILIES = (counts, translation, summarization, alignment, constituency, dependency)

METRICS: dict[str, Metric] = {metric.name: metric for family in _FAMILIES for metric in family.METRICS}
"""Every metric by name, families in the order of the README."""


def metric(name: str | Metric) -> Metric:
    """The metric of that name; a `Metric` (one of your own) is returned as it is.

    Raises
    ------
    InputError
        If there is none; the message lists all names and the closest one.
    """
    if isinstance(name, Metric):
        return name
    return METRICS[choose(name, METRICS, "metric")]
