"""Which columns have the scores, and of which system, run and metric each of them is."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed, quoted
from pairsig.metrics import Metric
from pairsig.readers.layout.cells import Column, Number
from pairsig.readers.layout.table import Table
from pairsig.readers.layout.vocabulary import (
    BESIDE_OR_SYSTEM,
    GENERIC,
    TIME,
    WEAK,
    is_a,
    is_error,
    is_run,
    is_summary,
    key,
    metric_in,
    metrics_in,
    of_kind,
    role,
    shown,
    split_run,
    split_score,
    with_metric,
)
from pairsig.readers.system_counts import average

Scores: TypeAlias = dict[tuple[str, str], list[tuple[Metric, dict[str, str]]]]
"""By the system and the run that the names of columns contain ("" if they do not): metrics, and the column of the table
for each column of the metric."""
_DERIVED = r"[δ∆]|\b(delta|diff|best|oracle|mean|avg|average)\b"
_FEW = 12
"""Maximum number of columns whose pairwise differences are tried."""
_ByName: TypeAlias = dict[tuple[str, str], dict[str, str]]
"""By system and run: the name of a metric and its column."""


def of_systems(scores: Scores) -> bool:
    """Whether columns are those of systems, runs or levels of names, and not of metrics only."""
    return list(scores) != [("", "")]


def find(table: Table) -> Scores:
    """The columns of scores.

    Raises
    ------
    InputError
        If there are none, or if several columns of numbers may have them.
    """
    if table.systems is None and (named := [table.column(name, "system") for name in table.wanted("system")]):
        return _metrics_of(table, _by_system(table, named))
    lower = [table.column(name, "lower_is_better") for name in table.wanted("lower_is_better")]
    free = {key(name): name for name in table.free} | {name: name for name in table.free}
    metrics = _chosen(table, lower, free) or _counts(table, free)
    if not metrics and not (columns := _known(table)):
        columns = _without_derived(table, _candidates(table))
        if table.systems and not table.runs and len(columns) > 1 and all(map(is_run, columns)):
            return _metrics_of(table, {("", name): {"score": name} for name in columns})
        if table.systems is None and len(columns) > 1 and (wide := _wide(table, columns)):
            return _metrics_of(table, wide)
        columns = _only_score(table, columns)
    metrics = metrics or [_averaged(table, name, lower) for name in columns]
    # The user may average a column that has another role, too.
    free |= {name: name for metric in metrics if metric.averaged for name in metric.columns if name in table.columns}
    return {("", ""): [(metric, _columns_of(metric, free)) for metric in metrics]}


def _averaged(table: Table, name: str, lower: Sequence[str]) -> Metric:
    """The mean of a column, which may be one of those that the user named as errors or costs."""
    from pairsig.metrics.registry import METRICS

    stated = _stated(table, name)
    lower_is_better = name in lower or _is_lower_better(table, stated)
    if name == "value" and stated == name and not lower_is_better:
        return METRICS["mean"]
    return replace(average(name, higher_is_better=not lower_is_better), name=stated)


def _is_lower_better(table: Table, metric: str) -> bool:
    """Whether the user, the table or the name of the metric says so, in this order."""
    if table.chosen.lower_is_better is True:
        return True
    return is_error(metric) if table.lower_is_better is None else table.lower_is_better


def _stated(table: Table, name: str) -> str:
    """The metric that a column of metrics has in all rows, if the name of the scores says none; else this name."""
    known = key(name) not in GENERIC and (is_a("score", name) or metric_in(name) or name in table.wanted("score"))
    for column in () if known else of_kind("metric", table.columns):
        labels = set(table.labels([column]))
        if len(labels) == 1 and (is_a("score", metric := labels.pop()) or metric_in(metric)):
            if (note := f"{table.source}: the scores are {metric}, as `{shown(column)}` says") not in table.notes:
                table.notes.append(note)
            return metric
    return name


def _chosen(table: Table, lower: Sequence[str], by_name: Mapping[str, str]) -> list[Metric]:
    """The metrics and columns that the user named."""
    from pairsig.metrics.registry import METRICS

    metrics = []
    for name in table.wanted("score"):
        known = name if isinstance(name, Metric) else METRICS.get(name)
        free = table.free
        if known is not None and _columns_of(known, by_name):
            metrics.append(known)
        elif isinstance(name, str) and (known is None or name in free):
            if name not in table.columns and known is None and not any(name == own.strip() for own in free):
                raise table.error(
                    f"found the columns {listed(table.columns)}, expected the name of one of them, or of a metric, "
                    f"instead of {quoted(name)}{near(name, table.columns)}"
                )
            metrics.append(_averaged(table, table.column(name, "score"), lower))
        else:
            assert known is not None
            raise table.error(
                f"found the columns {listed(table.columns)}, expected {', '.join(known.columns)} for {known.name}"
            )
    return metrics


def _columns_of(metric: Metric, by_name: Mapping[str, str]) -> dict[str, str]:
    """The column for each column of a metric; none if one is missing.

    `by_name` has the columns without a role, by their names and without regard to capitals.
    """
    found = {name: by_name.get(name) or by_name.get(key(name), "") for name in metric.columns}
    return found if all(found.values()) else {}


def _counts(table: Table, by_name: Mapping[str, str]) -> list[Metric]:
    """The metrics of pairsig whose counts the table has."""
    from pairsig.metrics.registry import METRICS

    # UAS, LAS and accuracy are the same function of the same columns; only the first is used.
    found: dict[Any, Metric] = {}
    for metric in METRICS.values():
        if metric.columns != ("value",) and _columns_of(metric, by_name):
            found.setdefault((metric.function, metric.columns), metric)
    if found:
        used = {column for metric in found.values() for column in _columns_of(metric, by_name).values()}
        table.beside += [name for name in table.free if table.columns[name].is_numeric and name not in used]
    return list(found.values())


def _known(table: Table) -> list[str]:
    """Columns whose names are known names of scores."""
    columns = {name: table.columns[name] for name in table.free}
    numeric = [name for name, own in columns.items() if own.is_numeric]
    found = [name for name in numeric if is_a("score", name)]
    for name, own in columns.items():
        if is_a("score", name) and own.is_mostly_numeric and own.kinds[str]:
            if found and not own.kinds[float]:  # descriptions such as `failed: no output` beside a verdict
                table.beside.append(name)
            else:
                table.array(name)  # the error shows the first cell that is no number
    if found and all(key(name) in WEAK for name in found) and _with_metric(table, numeric):
        return []
    if not found and (table.systems is not None or table.chosen.one_system):
        found = [name for name in numeric if metrics_in(name) and not is_a("beside", name)]
        found = found if len(found) == 1 else []
    if found:
        table.beside += [name for name in numeric if name not in found]
    return found


def _with_metric(table: Table, names: Sequence[str]) -> dict[str, str]:
    """The columns that share a metric, with the systems in which they differ."""
    return {} if table.systems is not None or table.chosen.one_system else with_metric(names)


def _below_metric(table: Table, names: Sequence[str]) -> list[str]:
    """The columns that stand below the name of a metric, as in `{"item": 1, "correct": {"gpt": 1, "llama": 0}}`."""
    if table.systems is not None or table.chosen.one_system:
        return []
    levels = table.cells.levels
    found = [name for name in names if len(levels.get(name, ())) == 2 and is_a("score", levels[name][0])]
    return found if len(found) > 1 and len({levels[name][0] for name in found}) == 1 else []


def _candidates(table: Table) -> list[str]:
    """The columns of numbers without a known name that may have scores.

    Columns that share a metric win over one with a score that may describe the item, over those on another scale, and
    over others with the same systems in their names, such as `prob_gpt` beside `correct_gpt`.
    """
    numeric = [name for name in table.free if table.columns[name].is_mostly_numeric]
    if below := _below_metric(table, numeric):
        return below
    found = [name for name in numeric if not any(is_a(kind, name) for kind in ("beside", "item", "person"))]
    found = [name for name in found if not is_a("label of items", name)] or found
    found = [name for name in found if not table.columns[name].counts_rows] or found[-1:]
    if (steps := of_kind("step", table.free)) and not of_kind("item", table.free):
        raise table.error(
            f"found column {shown(steps[0])}, so the rows may be steps of a training instead of items; if they are "
            f"items, use {table.chosen.hint('item', steps[:1])}"
        )
    if shared := _with_metric(table, found):
        columns = table.columns
        scales = {columns[name].scale for name in shared}
        systems = "|".join(re.escape(key(system)) for system in shared.values())
        others = [name for name in found if name not in shared and key(name) not in WEAK]
        others = [name for name in others if not re.search(rf"(?<![^\W_])({systems})(?![^\W_])", key(name))]
        found = [
            name
            for name in found
            if name in shared
            or (
                name in others
                and ("whole numbers" in scales or columns[name].scale != "whole numbers")
                and any(_are_similar(table, name, own) for own in shared)
            )
        ]
    found = _without_ids(table, found)
    return _check_suffixes(table, found) if table.systems is None and not table.chosen.one_system else found


def _without_derived(table: Table, candidates: list[str]) -> list[str]:
    """The columns without differences, means and so on of the others, if both names and numbers say so."""

    def is_derived(name: str) -> bool:
        others = [own for own in candidates if own != name]
        of_two = [(a, b) for a in others for b in others if a != b and key(name) == key(f"{a}-{b}")]
        if not (of_two or is_a("summary", name) or is_a("beside", name) or re.search(_DERIVED, name.lower())):
            return False
        columns = [table.columns[one].numbers for one in (name, *others)]
        cells = [[cell if isinstance(cell, int | float) else np.nan for cell in column] for column in columns]
        own, *rest = np.array(cells, dtype=float)
        known = [summary(rest, 0) for summary in (np.mean, np.sum, np.max, np.min, np.median, np.std)]
        known += [one for a, b in itertools.combinations(rest[:_FEW], 2) for one in (a - b, b - a, abs(a - b))]
        near = 0.006 * max(1, np.nanmax(np.abs(own)))
        return any(np.nanmax(np.abs(own - one)) <= near for one in known if not np.isnan(own - one).all())

    kept = [name for name in candidates if not is_derived(name)] if len(candidates) > 2 else candidates
    return kept if len(kept) > 1 else candidates


def _without_ids(table: Table, candidates: list[str]) -> list[str]:
    """The columns without the first one if only its cells are different whole numbers, as ids are."""
    distinct = [len(table.columns[name].values) == len(table.lines) > 2 for name in candidates]
    first = candidates[:1] == list(table.columns)[:1] and table.columns[candidates[0]].scale == "whole numbers"
    return candidates[1:] if len(candidates) > 2 and first and distinct[0] and not any(distinct[1:]) else candidates


def _check_suffixes(table: Table, candidates: list[str]) -> list[str]:
    """The columns that may have systems; those with names such as `t5-size` if there are no others.

    One other column alone is no comparison, so that those with such names and similar numbers are systems, too.
    """
    unclear, free = [], table.free
    for name in free:
        match = BESIDE_OR_SYSTEM.fullmatch(key(name))
        of = role(match[1]) if match else ""
        if match and table.columns[name].is_numeric and (not of or (of == "score" and match[2] in ("size", "level"))):
            unclear += [name] * (not any(key(other) in match[1] for other in candidates))
    if not candidates:
        return unclear
    scales = {"0 and 1" if own == "shares" else own for own in (table.columns[name].scale for name in candidates)}
    alike = [name for name in unclear if table.columns[name].scale.replace("shares", "0 and 1") in scales]
    if len(candidates) == 1 and alike and all(_are_similar(table, candidates[0], name) for name in alike):
        return [name for name in free if name in (*candidates, *alike)]
    if alike:
        systems = candidates if len(candidates) > 1 else [*candidates, *alike]
        raise table.error(
            f"found column {shown(alike[0])}, which may be a system or describe the items; "
            f"name the columns of systems with {table.chosen.hint('system', systems)}"
        )
    return candidates


def _are_similar(table: Table, one: str, other: str) -> bool:
    """Whether the mean of each column is between the lowest and the highest number of the other."""
    columns = table.columns[one], table.columns[other]
    return all(min(b.values) <= _mean(a) <= max(b.values) for a, b in (columns, columns[::-1]))


def _wide(table: Table, candidates: Sequence[str]) -> _ByName:
    """The columns of systems in a table with one row per item."""
    columns = table.columns
    by_metric: dict[str, list[str]] = {}
    if table.chosen.one_system and len({system for system, _ in _by_system(table, candidates)}) > 1:
        return {}
    for own in _by_system(table, candidates).values():
        for metric, name in own.items():
            by_metric.setdefault(metric, []).append(name)
    # A metric in the names of columns says that these have its scores.
    found = [
        name
        for metric, own in by_metric.items()
        for name in (own if is_a("score", metric) and metric != "score" else _on_one_scale(table, own))
    ]
    if len(found) < 2:
        return {}
    table.beside += [
        name for name in columns if name not in found and columns[name].is_numeric and not is_a("item", name)
    ]
    return _by_system(table, found)


def _on_one_scale(table: Table, candidates: Sequence[str]) -> Sequence[str]:
    """The columns with scores, which must be on the same scale.

    Counts that are far from the scores of several other columns, such as numbers of turns, are no scores of a system.
    """
    columns = _without_summaries(table, candidates)
    scales: dict[str, list[str]] = {}
    for name in candidates:
        scale = columns[name].scale
        scales.setdefault("0 and 1" if scale == "shares" and not is_a("gold", name) else scale, []).append(name)
    whole, numbers = scales.get("whole numbers", []), scales.get("numbers", [])
    for scale in [scale for scale in scales if scale.startswith("only ")]:
        (value,) = columns[scales[scale][0]].values
        if whole and min(_values(columns, whole)) <= value <= max(_values(columns, whole)):
            scales["whole numbers"] += scales.pop(scale)
    grades = whole and numbers and all(float(4 * value).is_integer() for value in _values(columns, numbers))
    if grades and all(_are_similar(table, one, other) for one in whole for other in numbers):
        scales["numbers"] += scales.pop("whole numbers")  # grades such as 14 and 14.5
    if numbers and "0 and 1" in scales and max(map(abs, _values(columns, numbers))) <= 10:
        scales["numbers"] += scales.pop("0 and 1")  # COMET may be above 1
    best = max(scales.values(), key=len)
    systems = [name for name in best if not is_a("gold", name)]
    low, high = min(_values(columns, best)), max(_values(columns, best))
    others = [name for own in scales.values() if own is not best for name in own if not is_a("gold", name)]
    if len(systems) > 1 and all(len(own) < len(systems) for own in scales.values() if own is not best):
        others = [
            name
            for name in others
            if columns[name].scale in ("shares", "numbers") or low <= _mean(columns[name]) <= high
        ]
    if others:
        differing = ", ".join(f"{shown(own[0])} has {columns[own[0]].scale}" for own in scales.values())
        raise table.error(
            f"found several columns of numbers ({listed(map(shown, candidates))}) on different scales ({differing}), "
            f"expected one per system; name them with {table.chosen.hint('system', systems)}"
        )
    if gold := [name for name in best if is_a("gold", name)]:
        right = "" if table.chosen.python else f", and for predictions --option gold={gold[0].strip()}"
        raise table.error(
            f"found column {shown(gold[0])} beside {listed(systems)}, which may be predictions instead of scores; for "
            f"scores, use {table.chosen.hint('system', systems)}{right}"
        )
    return [name for name in candidates if name in systems]  # in the order that the user wrote


def _without_summaries(table: Table, names: Sequence[str]) -> dict[str, Column]:
    """The columns without rows that are called like a mean of the others, which may be on another scale."""
    texts = [own.labels for own in table.columns.values() if not own.is_mostly_numeric]
    summaries = {row for own in texts for row, label in enumerate(own) if is_summary(label)}
    kept = [row for row in range(len(table.lines)) if row not in summaries]
    if not summaries or len(kept) < len(table.lines) / 2:
        return table.columns
    own = {name: table.columns[name] for name in names}
    return {name: Column([column.cells[row] for row in kept], column.comma) for name, column in own.items()}


def _values(columns: Mapping[str, Column], names: Sequence[str]) -> set[Number]:
    return set().union(*(columns[name].values for name in names))


def _mean(column: Column) -> float:
    return sum(column.values) / len(column.values)


def _by_system(table: Table, names: Sequence[str]) -> _ByName:
    """Columns of scores by system, run and metric, which stand in their names or in several rows of names."""
    parts: dict[str, tuple[str, str, str]] = {name: (name.strip(), "", "score") for name in names}
    levels = [table.cells.levels.get(name, ()) for name in names]
    if table.chosen.system is None and len(set(map(len, levels))) == 1 and levels[0]:
        varying = [own for own in zip(*levels, strict=True) if len(set(own)) > 1]
        scores = [own for own in varying if all(is_a("score", name) or metrics_in(name) for name in own)]
        runs = [own for own in varying if all(map(is_run, own)) and own not in scores and len(varying) > 1]
        systems = [own for own in varying if own not in scores and own not in runs]
        if len(systems) > 1 or len(scores) > 1 or len(runs) > 1:
            raise table.error(
                f"found the columns {listed(names)}, whose names may be of systems, metrics or "
                f"runs, expected one column per system; name them with {table.chosen.hint('system', names[:2])}"
            )
        blank, unnamed = ("",) * len(names), ("score",) * len(names)
        both = zip((systems or [blank])[0], (runs or [blank])[0], (scores or [unnamed])[0], strict=True)
        parts = dict(zip(names, both, strict=True))
    elif table.chosen.system is None and all(times := [re.fullmatch(TIME, name.strip()) for name in names]):
        parts = {name: (match[1], "", "time") for name, match in zip(names, times, strict=True) if match}
    elif table.chosen.system is None:
        runs_of = {name: split_run(name, table.columns) for name in names}
        if not table.chosen.one_system and not any(system for system, _ in runs_of.values()):
            runs_of = {name: (name, "") for name in names}  # `run1` and `run2` of one file are its systems
        runs_of = _numbered_runs(list(names)) or runs_of
        if max(Counter(system for system, _ in runs_of.values()).values()) > 1 and any(
            run for _, run in runs_of.values()
        ):
            # A column without a run is the only run of its system, or the first one.
            parts = {name: (system, run or "1", "score") for name, (system, run) in runs_of.items()}
        whole = {name: split_score(own[0]) for name, own in parts.items()}
        for place in (0, 1):
            found = {name: own[place] for name, own in whole.items()}
            if all(system for system, _ in found.values()):
                parts = {name: (found[name][0], parts[name][1], found[name][1]) for name in names}
                break
    wide: _ByName = {}
    for name, (system, run, metric) in parts.items():
        if wide.setdefault((system, run), {}).setdefault(metric, name) != name:
            raise table.error(
                f"found {wide[system, run][metric]} and {name}, expected one column per system; "
                f"name them with {table.chosen.hint('system', names)}"
            )
    return wide


def _numbered_runs(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Systems and runs of names such as `lstm_0`, `lstm_1`, `gru_0` and `gru_1`; empty for others."""
    found = {name: match for name in names if (match := re.fullmatch(r"(.*[^\W\d].*?)[_. ](\d{1,2})", name.strip()))}
    numbers: dict[str, list[int]] = {}
    for match in found.values():
        numbers.setdefault(match[1], []).append(int(match[2]))
    first, *others = numbers.values() or [[]]
    ordered = [list(range(start, start + len(first))) for start in (0, 1)]
    numbered = len(others) > 0 and len(first) > 1 and sorted(first) in ordered
    if len(found) < len(names) or not numbered or any(sorted(own) != sorted(first) for own in others):
        return {}
    return {name: (match[1], match[2]) for name, match in found.items()}


def _only_score(table: Table, candidates: list[str]) -> list[str]:
    """The only column of numbers without a known name, or several from 0 to 1."""
    scales = {table.columns[name].scale for name in candidates}
    if answers := [name for name in candidates if is_a("prediction", name) or is_a("gold", name)]:
        gold = next((name.strip() for name in answers if is_a("gold", name)), "COLUMN")
        more = "" if table.chosen.python else f", and for predictions --option gold={gold} with the right answers"
        scores = [name for name in answers if not is_a("gold", name)] or answers
        raise table.error(
            f"found column {shown(scores[0])}, which may be predictions instead of scores; for "
            f"scores, use {table.chosen.hint('score', scores[:1])}{more}"
        )
    metrics = table.chosen.one_system and scales <= {"0 and 1", "shares"} and not all(map(is_run, candidates))
    if not candidates:
        raise table.error(
            f"found the columns {listed(map(shown, table.columns))}, expected a column of scores, which are numbers, "
            f"true or false, or pass or fail; name it with {table.chosen.hint('score', ['COLUMN'])}"
        )
    if len(candidates) > 1 and not metrics and table.systems and with_metric(candidates):
        raise table.error(
            f"found several columns of numbers ({listed(candidates)}) beside column {shown(table.systems)}; if each "
            f"has a system, use {table.chosen.hint('system', candidates)}; if that column has the systems, name the "
            f"score with {table.chosen.hint('score', candidates[:1])}"
        )
    if len(candidates) > 1 and not metrics:
        raise table.error(
            f"found several columns of numbers ({listed(candidates)}), expected one of scores; name it with "
            f"{table.chosen.hint('score', candidates[:1])}"
        )
    return candidates


def _metrics_of(table: Table, wide: _ByName) -> Scores:
    """Metrics with one column for each system."""
    return {
        output: [(metric := _of_one_column(table, name), {metric.columns[0]: column}) for name, column in own.items()]
        for output, own in wide.items()
    }


def _of_one_column(table: Table, name: str) -> Metric:
    """The metric that the user chose, or the mean with the name of a column."""
    asked = table.wanted("score")
    (metric,) = asked if len(asked) == 1 else (name,)
    if not isinstance(metric, Metric):
        stated = _stated(table, metric)
        lower_is_better = bool(table.chosen.lower_is_better) or _is_lower_better(table, stated)
        return replace(average(metric, higher_is_better=not lower_is_better), name=stated)
    if len(metric.columns) > 1:
        raise InputError(
            f"metric {metric.name} is computed from {len(metric.columns)} columns ({', '.join(metric.columns)}), which "
            "one column per system cannot hold: expected one row per system and segment"
        )
    return metric
