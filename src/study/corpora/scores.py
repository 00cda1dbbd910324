"""Read scores or counts of the user's own systems: a table of all systems, or one file per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pairsig.core.statistics import Statistics
from pairsig.io.choices import typed_options
from pairsig.io.errors import InputError, listed
from pairsig.metrics import registry
from pairsig.readers import inputs

SCORED = ("accuracy", "mean")
"""Metrics whose counts are scores."""


def roles(
    *, item: str = "", system: str = "", systems: str = "", score: str = "", document: str = "", domain: str = "",
    true: str = "", missing: str = "", sep: str = "", sheet: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Declare the columns of a table, as the options of `pairsig compare` do; commas separate several columns."""
    declared = {key: value for key, value in locals().items() if value}
    several = {key: declared[key].split(",") for key in ("item", "systems", "score", "true") if key in declared}
    return declared | several


def read(
    files: Sequence[str],
    options: Mapping[str, str],
    *,
    metric: str,
    systems: Sequence[str] = (),
    groups: Sequence[str] = (),
    kinds: Sequence[str] = (),
    dataset: str,
    provenance: Mapping[str, str],
) -> Statistics:
    """Read the counts of a metric for all systems, from one table or one file per system (then with their names).

    A table has the counts in columns of the metric's names, such as `matched`, `predicted` and `gold`. For accuracy and
    mean, it may instead have one score per item. `options` are the `roles` of columns, as text.
    """
    data = dict(zip(systems, files, strict=True)) if systems else files[0] if len(files) == 1 else list(files)
    chosen = typed_options(options, "the reader table", roles)
    declared = roles(**chosen)

    counted = partial(inputs.read, data, reader="table", **declared)
    statistics = None
    if metric not in SCORED or not {"score", "systems"} & declared.keys():
        try:
            statistics = counted(metric=metric)
        except InputError:
            if metric not in SCORED:
                raise
    if statistics is None or statistics.columns != registry.metric(metric).columns:
        statistics = _of_scores(statistics or counted(), metric)
    if len(statistics.systems) < 2:
        raise InputError(f"{listed(files)}: found {len(statistics.systems)} system, expected at least two")
    names = statistics.systems
    return replace(
        statistics,
        dataset=dataset,
        groups=tuple(group or name for group, name in zip(groups or names, names, strict=True)),
        kinds=tuple(kinds) or statistics.kinds,
        provenance=dict(provenance),
    )


def _of_scores(statistics: Statistics, metric: str) -> Statistics:
    """Scores as the counts of accuracy or mean."""
    (score,) = statistics.metrics
    if not score.higher_is_better:
        raise InputError(f"found {score.name}, of which lower is better, expected scores of which higher is better")
    values = statistics.counts[:, :, [statistics.columns.index(score.columns[0])]]
    if metric == "accuracy":
        if not np.isin(values, (0, 1)).all():
            raise InputError(
                f"found {values[~np.isin(values, (0, 1))][0]:g} in {score.name}, expected 0 or 1 for the metric "
                "accuracy; use the metric mean for other scores"
            )
        values = np.concatenate([values, np.ones_like(values)], axis=-1).astype(np.int64)
    chosen = registry.metric(metric)
    return replace(statistics, columns=chosen.columns, counts=values, metrics=(chosen,))
