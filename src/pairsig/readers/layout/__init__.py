"""What the columns of a table are: systems, items, scores, runs.

Files and data frames share this package. A table is *long* (one row per system and item, with a column of systems),
*wide* (one row per item, with one column of scores per system), or has one system. The names of columns decide
(`vocabulary`); where they do not suffice, the cells do (`cells`). Unusual tables are first turned into ordinary ones
(`conversions`), whose systems, runs and items (`roles`) and scores (`scores`) are then found. Where two readings would
give different numbers, the error shows the option to type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pairsig.core.statistics import OF_THE_TEST_SET
from pairsig.io.errors import listed
from pairsig.metrics import Metric
from pairsig.readers.layout import conversions, roles, scores
from pairsig.readers.layout.cells import is_number
from pairsig.readers.layout.roles import MANY
from pairsig.readers.layout.table import Cells, Chosen, Table, grouped
from pairsig.readers.layout.vocabulary import are_numbered, has_roles, is_a, is_role, is_run, is_system, role, shown
from pairsig.readers.system_counts import SystemCounts

__all__ = [
    "MANY", "Cells", "Chosen", "are_numbered", "has_roles", "is_a", "is_number", "is_role", "is_run", "is_system",
    "read", "role",
]  # fmt: skip


def read(table: Cells, chosen: Chosen | None = None) -> tuple[SystemCounts, ...]:
    """The counts or scores of every system and run in a table.

    Parameters
    ----------
    table
        The cells.
    chosen
        What the user said about columns.

    Returns
    -------
    Counts, one per system and run, in the order of the table. Missing scores are `unscored`. The first note says how
    the table was read.

    Raises
    ------
    InputError
        If the table can be read in several ways, if an item is repeated for a system and run, if an item, a system or a
        run has no name, and for cells of scores that are text or do not fit.
    """
    found = Table.of(table, chosen or Chosen())
    for convert in conversions.BEFORE_ROLES:
        convert(found)
    roles.assign(found)
    for convert in conversions.AFTER_ROLES:
        convert(found)
    by_output = scores.find(found)
    used = {name for own in by_output.values() for _, columns in own for name in columns.values()}
    found.items = found.items or roles.items(found, sorted(used))
    for convert_items in conversions.AFTER_ITEMS:
        convert_items(found, sorted(used))
    ids, arrays = roles.ids(found), {name: found.array(name) for name in found.columns if name in used}
    labels = {
        name: found.labels([own]) if own else [""] * len(ids)
        for name, own in (("documents", found.document), ("domains", found.domain))
    }
    parts = []
    for (system, run), rows in grouped(found.outputs()).items():
        for (own_system, own_run), own in by_output.items():
            counts = {count: arrays[name][0][rows] for _, columns in own for count, name in columns.items()}
            parts.append(
                SystemCounts(
                    segments=tuple(ids[row] for row in rows),
                    documents=tuple(labels["documents"][row] for row in rows),
                    domains=tuple(labels["domains"][row] for row in rows),
                    counts=counts,
                    unscored={
                        metric.name: np.any([arrays[name][1][rows] for name in columns.values()], axis=0)
                        for metric, columns in own
                    },
                    metrics=tuple(metric for metric, _ in own),
                    source=found.source,
                    lines=tuple(found.lines[row] for row in rows),
                    place=found.cells.place,
                    by_row=not found.items,
                    alike=tuple(name for name in OF_THE_TEST_SET if name in counts),
                    system=own_system or system,
                    run=own_run or run,
                )
            )
    named_by_user = found.chosen.system and found.chosen.item and found.chosen.score
    how = [] if named_by_user else [_how(found, parts, scores.of_systems(by_output))]
    return tuple(replace(part, notes=(*how, *found.notes)) for part in parts)


def _how(table: Table, parts: Sequence[SystemCounts], wide: bool) -> str:
    """How the table was read, in one line; `wide` says whether names of columns have the systems."""
    clauses, metrics = [], parts[0].metrics
    labels = list(dict.fromkeys(part.system for part in parts))
    if len(labels) > 1:
        n = len({segment for part in parts for segment in part.segments})
        clauses.append(f"{len(labels)} systems × {n:,} items from {table.source}: {listed(labels)}")
    if table.systems and not is_a("system", table.systems):
        clauses.append(f"systems from column `{table.systems}`")
    if not wide:
        clauses.append(_scores_of(metrics))
    elif len(metrics) > 1:
        clauses.append(f"scores {listed(metric.name for metric in metrics)} from the names of columns")
    if table.items:
        names = " and ".join(f"`{shown(name)}`" for name in table.items)
        clauses.append(f"items from column{'s' * (len(table.items) > 1)} {names}")
    else:
        clauses.append("items are the rows in their order")
    if n_runs := len({part.run for part in parts if part.run}):
        where = f"column `{table.runs}`" if table.runs else f"the names of {'systems' if table.systems else 'columns'}"
        clauses.append(f"{n_runs} runs from {where}")
    if beside := [name for name in table.beside if name not in table.items]:
        clauses.append(f"not used: {listed(map(shown, beside))}")
    if lower := [metric.name for metric in metrics if not metric.higher_is_better and metric.averaged]:
        clauses.append(f"lower is better for {listed(lower)}")
    return "; ".join(clauses)


def _scores_of(metrics: Sequence[Metric]) -> str:
    names = listed(metric.name for metric in metrics)
    if all(metric.averaged for metric in metrics):
        return f"scores from columns {names}" if len(metrics) > 1 else f"scores from column `{metrics[0].columns[0]}`"
    return f"counts for {names}"
