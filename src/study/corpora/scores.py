"""Read scores or counts of the user's own systems: a table of all systems, or one file per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError, listed
from pairsig.metrics import registry
from pairsig.readers import inputs


def read(
    tables: Sequence[str], systems: Sequence[Mapping[str, Any]], metric: str, options: Mapping[str, Any]
) -> Statistics:
    """Read the counts of a metric for all systems, from tables of all systems, or from one file per system.

    A table has the counts in columns of the metric's names, such as `matched`, `predicted` and `gold`. For accuracy and
    mean, it may instead have one score per item. `options` are those of `pairsig.read`, such as `item` and `score`.
    """
    files = {system["system"]: system["output"] for system in systems} or list(tables)
    data = files if systems or len(files) > 1 else files[0]
    statistics = inputs.read(data, reader="table", metric=metric, **options)
    if len(statistics.systems) < 2:
        raise InputError(f"{listed(files)}: found {len(statistics.systems)} system, expected at least two")
    if systems:
        groups = tuple(system["group"] or system["system"] for system in systems)
        statistics = replace(statistics, groups=groups, kinds=tuple(system["kind"] for system in systems))
    chosen = registry.metric(metric)
    if statistics.columns == chosen.columns:
        return statistics
    # One score per item instead of the counts of accuracy or mean.
    (score,) = statistics.metrics
    if not score.higher_is_better:
        raise InputError(f"found {score.name}, of which lower is better, expected scores of which higher is better")
    counts = statistics.counts[:, :, [statistics.columns.index(score.columns[0])]]
    if metric == "accuracy":
        counts = np.concatenate([counts, np.ones_like(counts)], axis=-1).astype(np.int64)
    return replace(statistics, columns=chosen.columns, counts=counts, metrics=(chosen,))
