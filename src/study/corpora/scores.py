"""Read scores or counts of the user's own systems: a table of all systems, or one file per system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pairsig.io.choices import sort_options
from pairsig.io.errors import InputError, listed

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics


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
    """Read the counts of a metric for all systems.

    A table has the counts in columns of the metric's names, such as `matched`, `predicted` and `gold`. For accuracy and
    mean, it may instead have one score per item.

    Parameters
    ----------
    files
        One table of all systems, or one file per system.
    options
        Roles of columns, as text.
    systems, groups, kinds
        Names of the systems, their groups ("" for their own) and the kinds of entries, one per file.
    """
    from pairsig.readers import inputs

    data = dict(zip(systems, files, strict=True)) if systems else files[0] if len(files) == 1 else list(files)
    (chosen,) = sort_options(options, "the reader table", roles)
    declared = roles(**chosen)

    def attempt(**others: Any) -> Statistics:
        return inputs.read(data, reader="table", **declared, **others)

    statistics = _counted(attempt, metric, declared)
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


def _counted(attempt: Callable[..., Statistics], metric: str, declared: Mapping[str, Any]) -> Statistics:
    """Read the counts of a metric, or scores that are as good."""
    from pairsig.metrics import registry

    scored = metric in ("accuracy", "mean")
    if not scored or not {"score", "systems"} & declared.keys():
        try:
            statistics = attempt(metric=metric)
            fits = statistics.columns == registry.metric(metric).columns
            return statistics if fits else _as_counts(statistics, metric)
        except InputError:
            if not scored:
                raise
    return _as_counts(attempt(), metric)


def _as_counts(statistics: Statistics, metric: str) -> Statistics:
    """Scores as the counts of accuracy or mean."""
    import numpy as np

    from pairsig.metrics import registry

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
