"""Logs with several tasks: one test set per task, and one per group of tasks for which the program reports a score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.labels import run_name
from pairsig.core.statistics import Statistics, pool
from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed, quoted
from pairsig.metrics import Metric, Ratio
from pairsig.readers.align import align as align_items
from pairsig.readers.align import shared
from pairsig.readers.output import Output, TaskGroup

_EXACT = 2**53
"""Whole numbers below it are exact as floats."""

WEIGHT = "weight"
"""Column with the weights of items in the mean of several tasks' means."""


def several(parts: Sequence[Output], systems: Sequence[str]) -> bool:
    """Whether some system has several tasks. Logs of one task each are compared even if it has another name in each."""
    return len({(system, part.task) for part, system in zip(parts, systems, strict=True)}) > len(set(systems))


def align(
    parts: Sequence[Output], systems: Sequence[str], runs: Sequence[str], *, metrics: Sequence[str] = (), **how: Any
) -> list[Statistics]:
    """Put systems on the same items of each task, and of each group of tasks for which all logs have a score.

    `metrics` are METRIC for every task and group with it, or TASK/METRIC; `how` are options of `align.align`. Returns
    the tasks, then the groups. Metrics are called TASK/METRIC, and the name of the test set is that of the task.
    """
    by_task: dict[str, list[int]] = {}
    for row, part in enumerate(parts):
        by_task.setdefault(part.task, []).append(row)
    order = list(dict.fromkeys(systems))
    common = {
        task: sorted(rows, key=lambda row: order.index(systems[row]))
        for task, rows in by_task.items()
        if {systems[row] for row in rows} == set(order)
    }
    if not common:
        tasks_of = {name: [part.task for part, of in zip(parts, systems, strict=True) if of == name] for name in order}
        each = "; ".join(f"{name} has {listed(tasks)}" for name, tasks in tasks_of.items())
        raise InputError(f"the logs have no task in common, expected at least one: {each}")
    _check_asked(metrics, common, parts)
    asked = [name.casefold() for name in metrics]
    by_name: dict[str, list[Statistics]] = {}
    for task, rows in common.items():
        of_task = [parts[row] for row in rows]
        needed = [
            metric.name for metric in shared(of_task)
            if not asked or any(f"/{name}".endswith(f"/{metric.name.casefold()}") for name in asked)
        ]  # fmt: skip
        if needed:
            names = [run_name(systems[row], runs[row]) for row in rows]
            of_task = [restricted(part, needed) for part in of_task]
            by_name[task] = align_items(of_task, names, runs=[runs[row] for row in rows], **how)
    of_files = set(chain.from_iterable(part.notes for part in parts))
    test_sets: list[Statistics] = []
    for task, of_metrics in by_name.items():
        for data in of_metrics:
            notes = tuple(note if note in of_files else f"{task}: {note}" for note in data.notes)
            test_sets.append(replace(data, dataset=task, notes=notes))
    test_sets += _groups(by_name, parts, systems)
    chosen = []
    for data in test_sets:
        of_data = [metric for metric in data.metrics if _is_asked(asked, data.dataset, metric.name)]
        if of_data:
            full = tuple(replace(metric, name=f"{data.dataset}/{metric.name}") for metric in of_data)
            chosen.append(replace(data, metrics=full))
    if not chosen:
        raise InputError(f"found {listed(metrics)} only in some logs, expected a metric of all")
    if left := [task for task in by_task if task not in (common if asked else by_name)]:
        note = f"{listed(left)} left out, since only some logs have it and its metrics"
        chosen[0] = replace(chosen[0], notes=(note, *chosen[0].notes))
    return chosen


def _check_asked(metrics: Sequence[str], common: Mapping[str, Sequence[int]], parts: Sequence[Output]) -> None:
    """Refuse a metric that no task and no group has."""
    known = [(task, metric.name) for task, rows in common.items() for metric in shared([parts[row] for row in rows])]
    known += [(group.name, group.metric) for group in chain.from_iterable(part.groups for part in parts)]
    for name in metrics:
        if not any(_is_asked([name.casefold()], task, metric) for task, metric in known):
            full = list(dict.fromkeys(map("/".join, known)))
            raise InputError(f"found no metric {quoted(name)}, expected one of {listed(full)}{near(name, full)}")


def _is_asked(asked: Sequence[str], task: str, metric: str) -> bool:
    """Whether METRIC or TASK/METRIC is among the requested names, or none is requested."""
    return not asked or metric.casefold() in asked or f"{task}/{metric}".casefold() in asked


def _groups(
    tasks: Mapping[str, Sequence[Statistics]], parts: Sequence[Output], systems: Sequence[str]
) -> Iterator[Statistics]:
    """The groups for which all systems have a score that is the same mean of the same tasks."""
    by_system: dict[str, dict[tuple[str, str, tuple[str, ...]], TaskGroup]] = {}
    for part, system in zip(parts, systems, strict=True):
        by_system.setdefault(system, {}).update({(g.name, g.metric, g.tasks): g for g in part.groups})
    for key, group in next(iter(by_system.values())).items():
        means = frozenset.intersection(
            *(groups[key].means if key in groups else frozenset() for groups in by_system.values())
        )
        members: list[Statistics] = []
        for task in group.tasks:
            for data in tasks.get(task, ()):
                members += [replace(data, metrics=(m,)) for m in data.metrics if m.name == group.metric]
        alike = {(data.systems, data.metrics[0].higher_is_better) for data in members}
        if means and len(members) == len(group.tasks) and len(alike) == 1:
            yield pooled(group, members, over_items="items" in means)


def restricted(part: Output, names: Sequence[str]) -> Output:
    """The output with only the named metrics, or unchanged if a name is missing."""
    by_name = {metric.name: metric for metric in part.metrics}
    if names and set(names) <= set(by_name):
        return replace(part, metrics=tuple(by_name[name] for name in names))
    return part


def pooled(group: TaskGroup, members: Sequence[Statistics], *, over_items: bool) -> Statistics:
    """The items of all tasks as one test set, whose mean is that of all items or that of the tasks' means."""
    (metric,) = members[0].metrics
    parts = [
        replace(_of_column(data, metric.columns[0]), dataset=task)
        for task, data in zip(group.tasks, members, strict=True)
    ]
    missing = [part.provenance["missing"].split(":") for part in parts if "missing" in part.provenance]
    provenance = {"missing": f"{missing[0][0]}:{sum(int(number) for _, number in missing)}"} if missing else {}
    whole = replace(pool(parts, dataset=group.name), provenance=provenance)
    what = "the mean over the items" if over_items else "the mean of the means"
    notes = (f"{group.name}/{metric.name} is {what} of {len(parts)} tasks",)
    if over_items:
        return replace(whole, metrics=(metric,), notes=notes)
    sizes = np.array([len(part.segments) for part in parts])
    return replace(weighted(whole, metric, sizes, np.repeat(np.arange(len(sizes)), sizes)), notes=notes)


def macro(data: Statistics) -> Statistics:
    """The mean of the scores of the groups in `domains`, for metrics that are means over items."""
    names, group_of = np.unique(data.domains, return_inverse=True)
    if "" in names.tolist():
        raise InputError("found items without a group, expected one for each in the column of --macro")
    metric, *others = data.metrics
    if others:
        scores = listed(metric.name for metric in data.metrics)
        raise InputError(f"found the scores {scores} with --macro, expected one: choose it with --score")
    if not metric.averaged:
        raise InputError(f"found --macro with {metric.name}, which is no mean over items, expected scores of items")
    note = (
        f"{metric.name} is the mean of the means of {len(names):,} groups ({listed(names.tolist())}), each with the "
        "same weight"
    )
    mean = weighted(_of_column(data, metric.columns[0]), metric, np.bincount(group_of), group_of)
    return replace(mean, notes=(*data.notes, note))


def _of_column(data: Statistics, column: str) -> Statistics:
    return replace(data, columns=(column,), counts=data.counts[:, :, [data.columns.index(column)]])


def weighted(whole: Statistics, metric: Metric, sizes: NDArray[np.intp], group_of: NDArray[np.intp]) -> Statistics:
    """The mean of the means of groups: Σ w·score / Σ w, with the weight w = 1/n for all n items of a group.

    The weights are whole numbers, with which exact tests can count, unless the sums would be too large.
    """
    multiple = math.lcm(*sizes.tolist())
    weights = (multiple // sizes if multiple * len(whole.segments) < _EXACT else 1 / sizes)[group_of]
    scores = whole.counts[:, :, 0] * weights
    counts = np.stack([scores, np.broadcast_to(weights, scores.shape)], axis=2)
    factor = metric.function.factor if isinstance(metric.function, Ratio) else 1.0
    formula = f"Σ weight · {metric.name} / Σ weight, with the same weight for each group"
    mean = replace(metric, columns=(metric.columns[0], WEIGHT), function=Ratio((0,), (1,), factor=factor),
                   formula=formula, averaged=False)  # fmt: skip
    return replace(whole, columns=mean.columns, counts=counts, metrics=(mean,))
