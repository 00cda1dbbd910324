"""What functions for several systems take: `Statistics`, or a mapping from names of systems to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pairsig.core.statistics import Statistics, only_metric
from pairsig.io.choices import choose, spelled
from pairsig.io.errors import InputError, listed
from pairsig.metrics import Metric, registry
from pairsig.metrics.counts import average

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Data: TypeAlias = "Statistics | Mapping[str, ArrayLike]"
"""The scores of several systems on one test set."""


def prepared(data: Any, metric: str | Metric | None = None) -> tuple[Statistics, Metric]:
    """The counts of all systems, and the metric to compute from them.

    A metric that is not named is the only one of the statistics; for arrays it is the mean of the scores.
    """
    if isinstance(data, Statistics):
        return data, chosen_metric(data, metric)
    if (
        isinstance(data, list | tuple)
        or hasattr(data, "columns")
        or (isinstance(data, Mapping) and any(hasattr(values, "columns") for values in data.values()))
    ):
        from pairsig.readers.inputs import read

        return prepared(read(data), metric)
    if not isinstance(data, Mapping):
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise InputError(
            f"found a {kind}, expected pairsig.Statistics, or a mapping from names of systems to arrays of scores; "
            "pairsig.read(…) reads files, data frames and evaluation logs"
        )
    chosen = average("score") if metric is None else registry.metric(metric)
    arrays: dict[str, Any] = {str(system): scores for system, scores in data.items()}
    return replace(Statistics.from_arrays(arrays, chosen.columns), metrics=(chosen,)), chosen


def chosen_metric(data: Statistics, metric: str | Metric | None = None) -> Metric:
    """The metric that is named, or the only one of the data."""
    if isinstance(metric, Metric):
        return metric
    by_name = {known.name: known for known in data.metrics}
    if metric is not None:
        name = spelled(metric, [*by_name, *registry.METRICS])
        return by_name[name] if name in by_name else registry.metric(choose(name, registry.METRICS, "metric"))
    if len(by_name) > 1:
        raise InputError(f"found the metrics {listed(by_name)}, expected one: choose it with metric= (--metric)")
    return data.metrics[0] if by_name else only_metric(data)
