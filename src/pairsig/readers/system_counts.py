"""Read the counts or scores of a system from a file of another program, and pair several systems.

Readers of texts and trees need a reference and a metric. The readers of counts read numbers that already exist, with
the metrics that the other program reports, and `align` puts systems on the same segments.
"""

from __future__ import annotations

import math
import re
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, product
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics, label_array
from pairsig.io.errors import InputError, Question, joined, listed, named, quoted
from pairsig.io.files import AnyPath
from pairsig.metrics import Metric, Ratio, Totals, ratio
from pairsig.readers.outputs import text

NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?"
"""A decimal number; `float` would also accept `nan`, `inf` and `1_000`. No float has more than 400 significant digits,
and without bounds the pattern takes minutes to reject a megabyte of digits."""

_SHOWN = 5  # ids that a note lists
_NAMED = 3  # ids that an error lists
_ENOUGH = 3  # scores other than 0 that show a scale

Missing = Literal["wrong", "drop"]
"""How to treat an item without a score for some system."""


@dataclass(frozen=True)
class TaskGroup:
    """A score that an evaluation program reports for several tasks together.

    Attributes
    ----------
    name, metric
        Name of the group, and the metric of the tasks.
    tasks
        Names of the tasks.
    means
        "items" if the score may be the mean over all items, "tasks" if it may be the mean of the tasks' means. Both if
        they are equal, as with equally many items in each task.
    """

    name: str
    metric: str
    tasks: tuple[str, ...]
    means: frozenset[Literal["items", "tasks"]]


@dataclass(frozen=True)
class SystemCounts:
    """Counts of one system, or of one of its runs, on all segments of its test set.

    Attributes
    ----------
    segments, documents
        One id per segment; the document is "" if the file does not contain it.
    counts
        Columns by name, each of shape (segments,).
    metrics
        Metrics that can be computed from the columns, the main one first.
    notes
        Sentences for the user about everything that was left out or changed.
    source
        The file.
    lines
        Line (or row) of each segment in the file.
    place
        Unit of `lines`: "line" or "row".
    shared
        Columns that belong to the test set (gold brackets, lengths) and must be the same for all systems.
    scored
        False for segments that the program left out of its totals; their counts are 0. None if there are none.
    unscored
        For logs and tables, by metric: True for items without a score. Their items are paired by their ids, may come in
        any order, and may be missing.
    common
        Whether a segment that is left out of one system's totals is left out for all systems.
    system, run
        Name of the system and label of its run, if the file contains them; else "".
    domains
        One domain per segment, if the file contains them.
    contents
        Content of each item, if the file contains it, such as a digest of its question. It must be the same for all
        systems.
    texts
        Input and target of the items whose log contains them, shortened.
    settings
        Settings that distinguish systems with the same name, such as a temperature.
    conditions
        For logs: what must be the same for systems to be comparable, such as the version of the task and the number of
        shots; only what the log says.
    other_ids
        For tables: columns without a role in which each row has another text, by name.
    by_row
        Whether the items are the rows in their order, since the table has no ids.
    log
        Whether the file is the log of an evaluation. The name of the system comes from the log, not from the file name.
    design
        "nested" if every item was sampled independently in each run, "crossed" if the items of a run have something in
        common.
    task
        For logs: the task to which the segments belong.
    groups
        For logs: groups of tasks for which the program reports a score.
    """

    segments: tuple[str, ...]
    documents: tuple[str, ...]
    counts: Mapping[str, NDArray[Any]]
    metrics: tuple[Metric, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    lines: Sequence[int] | NDArray[np.intp] = ()
    place: str = "line"
    shared: tuple[str, ...] = ()
    scored: NDArray[np.bool_] | None = None
    unscored: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    common: bool = False
    system: str = ""
    run: str = ""
    domains: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    other_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_row: bool = False
    log: bool = False
    design: str = ""
    task: str = ""
    groups: tuple[TaskGroup, ...] = ()

    def __post_init__(self) -> None:
        if not self.segments:
            raise InputError(f"{self.source}: found no segments, expected at least one")
        sizes = {len(self.documents), *map(len, self.counts.values())}
        if sizes != {len(self.segments)}:
            raise ValueError(f"{len(self.segments)} segments, but documents or columns of {sorted(sizes)}")

    @property
    def label(self) -> str:
        """The file, with the system and the run that it names."""
        labels = [f"{noun} {named(name)}" for noun, name in (("system", self.system), ("run", self.run)) if name]
        return f"{self.source} ({', '.join(labels)})" if labels else self.source

    def where(self, position: int) -> str:
        """The file and line of the segment at `position`."""
        return f"{self.source}, {self.place} {self.lines[position]}" if len(self.lines) else self.source


@dataclass(frozen=True)
class _Kept:
    """The segments that are used for some metrics, notes on the others, and their mention in the signature."""

    metrics: Sequence[Metric]
    segments: NDArray[np.bool_]
    notes: Sequence[str]
    missing: str = ""


def align(
    parts: Sequence[SystemCounts],
    names: Sequence[str],
    *,
    runs: Sequence[str] = (),
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: Missing | None = None,
    even_so: bool = False,
) -> list[Statistics]:
    """Put systems on the same segments, in the order of the first system.

    Items of logs are paired by their ids. Each metric uses the items with a score in it. An item without a score for
    some systems is refused unless `missing` is set, and an item without any score is left out. The result of a metric
    therefore does not depend on the other metrics.

    In other files, a segment on which no system was scored is left out. A segment on which only some systems were
    scored has counts of 0 for the others, so that every score is the one that its own program prints (as in Bikel's
    comparator, which reads evalb's rows unchanged); with `SystemCounts.common` it is left out for all systems.

    Parameters
    ----------
    parts, names
        The systems and their names.
    runs
        Label of the run of each system, see `Statistics.runs`; none by default.
    domains, documents
        One per segment of the files (including those that are left out), or none.
    missing
        For logs: count items without a score in a metric as `wrong` (0, for scores from 0 to 1 of which higher is
        better), or `drop` them for all systems.
    even_so
        Whether to compare logs whose `conditions` differ.

    Returns
    -------
    All metrics on the same segments; for logs, one result for each group of adjacent metrics with scores for the same
    items. Each knows its metrics, in the order of the first system, and what was left out (`notes`).

    Raises
    ------
    InputError
        If segments, documents or `shared` columns differ; if there is not one domain or document per segment, or if
        they differ from those in the files; if counts are impossible for their metric; or if no metric is left. For
        logs, also if an item differs between them, if a metric has no score for `wrong`, and, without `missing`, if a
        system has no score for an item.
    """
    if len(set(names)) < len(names):
        raise InputError(f"the systems are called {listed(names)}, expected different names")
    differences = _conditions_that_differ(parts)
    if differences and not even_so:
        raise Question(f"{differences[0]}; these scores are not comparable", [{"even-so": True}])
    by_items = all(part.unscored for part in parts)
    if by_items:
        parts = _on_the_same_items(parts)
    elif missing is not None:
        raise InputError(
            f"{parts[0].source} is neither a table nor the log of an evaluation, so no items can be missing; omit "
            "--missing"
        )
    first = parts[0]
    for part in parts[1:]:
        _check_same(first, part)
    labels = {
        "domains": domains or first.domains or [""] * len(first.segments),
        "documents": documents or first.documents,
    }
    _check_labels(first, **labels)
    metrics = _checked_metrics(parts)
    notes = [*differences, *_notes(parts, metrics)]
    design = next((part.design for part in parts if part.design), "")  # a log with one run has none
    texts: Mapping[str, tuple[str, str]] = ChainMap(*(cast("dict[str, Any]", part.texts) for part in parts))
    aligned = []
    for segments_kept in _kept_of_items(parts, names, metrics, missing) if by_items else [_kept(parts, names, metrics)]:
        columns = tuple(dict.fromkeys(chain.from_iterable(metric.columns for metric in segments_kept.metrics)))
        rows = segments_kept.segments
        provenance = (("missing", segments_kept.missing), ("design", design)) if by_items else ()
        statistics = Statistics(
            systems=tuple(names),
            segments=label_array(first.segments, f"{first.source}: segment")[rows],
            documents=label_array(labels["documents"], f"{first.source}: document")[rows],
            domains=label_array(labels["domains"], f"{first.source}: domain")[rows],
            columns=columns,
            counts=_stacked(parts, columns, rows),
            provenance={key: value for key, value in provenance if value},
            runs=tuple(runs),
            texts=texts,
            metrics=tuple(segments_kept.metrics),
        )
        all_notes = dict.fromkeys([*notes, *segments_kept.notes, *statistics.inconsistencies()])
        aligned.append(replace(statistics, notes=tuple(all_notes)))
    return aligned


def _checked_metrics(parts: Sequence[SystemCounts]) -> tuple[Metric, ...]:
    """The metrics that all systems have, after checks of their counts, directions and scales."""
    metrics = shared(parts)
    if not metrics:
        each = "; ".join(f"{part.source} has {listed(m.name for m in part.metrics)}" for part in parts)
        raise InputError(f"the files have no metric in common, expected at least one: {each}")
    for part in parts:
        for metric in metrics:
            _check_possible(part, metric)
            _check_direction(part, metric, parts[0])
            _check_scale(part, metric, parts[0])
    return metrics


def _notes(parts: Sequence[SystemCounts], metrics: Sequence[Metric]) -> Iterator[str]:
    """Notes of the files, on metrics that only some have, and on those without a declared direction."""
    for part in parts:
        yield from part.notes
    names = {metric.name for metric in metrics}
    for part in parts:
        if alone := [metric.name for metric in part.metrics if metric.name not in names]:
            yield f"{listed(alone)} left out, since only some files have it ({part.source} does)"
    for metric in metrics:
        if metric.assumed:
            better = f"higher {named(metric.name)} is better (assumed)"
            yield f"{better}; --lower-is-better (lower_is_better=True) reverses it"


def _stacked(parts: Sequence[SystemCounts], columns: Sequence[str], rows: NDArray[np.bool_]) -> NDArray[Any]:
    """The counts of the systems (systems × segments × columns), without another copy of all of them."""
    kinds = [part.counts[column].dtype for part, column in product(parts, columns)]
    counts = np.empty((len(parts), np.count_nonzero(rows), len(columns)), dtype=np.result_type(*kinds))
    for place, part in enumerate(parts):
        for number, column in enumerate(columns):
            counts[place, :, number] = part.counts[column] if rows.all() else part.counts[column][rows]
    return counts


def shared(parts: Sequence[SystemCounts]) -> tuple[Metric, ...]:
    """The metrics that all systems have, in the order of the first."""
    known = [{(metric.name, metric.columns) for metric in part.metrics} for part in parts]
    return tuple(
        metric for metric in parts[0].metrics if all((metric.name, metric.columns) in names for names in known)
    )


def _kept(parts: Sequence[SystemCounts], names: Sequence[str], metrics: Sequence[Metric]) -> _Kept:
    """The segments on which any system was scored, or all systems with `common`."""
    scored = np.stack([_scored(part) for part in parts])
    together = np.logical_and if any(part.common for part in parts) else np.logical_or
    is_kept = together.reduce(scored)
    if not is_kept.any():
        sources = " and ".join(part.source for part in parts)
        raise InputError(f"found no scored segment in {sources}, expected at least one")
    return _Kept(metrics, is_kept, _segments_left_out(parts[0], names, scored, is_kept))


def _on_the_same_items(parts: Sequence[SystemCounts]) -> tuple[SystemCounts, ...]:
    """Logs extended to the items of all logs: those of the first log in its order, then the others."""
    parts = _with_ids(parts)
    first = parts[0]
    for part in parts[1:]:
        _check_other_ids(first, part)
    same = all(_labels(part) == _labels(first) and not part.contents for part in parts)
    if same and len(set(first.segments)) == len(first.segments):  # as in a table without gaps
        return tuple(parts)
    items = {
        item: number for number, item in enumerate(dict.fromkeys(chain.from_iterable(part.segments for part in parts)))
    }
    rows = [np.full(len(items), -1) for _ in parts]  # row of each item, -1 if the log does not have it
    for row_of, part in zip(rows, parts, strict=True):
        row_of[[items[item] for item in part.segments]] = np.arange(len(part.segments))
        if np.count_nonzero(row_of >= 0) < len(part.segments):
            repeated, _ = Counter(part.segments).most_common(1)[0]
            raise InputError(f"{part.label}: found item {named(repeated)} twice, expected it once")
    for row_of, part in zip(rows, parts, strict=True):
        if not ((row_of >= 0) & (rows[0] >= 0)).any():
            raise InputError(
                f"{part.source}: found no item of {parts[0].source}, expected scores of the same items, which pair the "
                f"systems; the first items are {named(parts[0].segments[0])} there and {named(part.segments[0])} here"
            )
    holder = np.argmax(np.stack(rows) >= 0, axis=0)  # the first system with the item
    for label in ("contents", "documents", "domains"):
        _check_items(label, parts, rows)

    def labels(field: str) -> tuple[str, ...]:
        labels_of = [getattr(part, field) for part in parts]
        return tuple(labels_of[part][rows[part][item]] for item, part in enumerate(holder)) if all(labels_of) else ()

    segments, documents, domains = tuple(items), labels("documents"), labels("domains")
    return tuple(
        replace(
            part,
            segments=segments,
            documents=documents,
            domains=domains,
            counts={
                name: np.where(row_of >= 0, values[row_of], 0).astype(values.dtype)
                for name, values in part.counts.items()
            },
            unscored={name: (row_of < 0) | lacking[row_of] for name, lacking in part.unscored.items()},
            lines=np.asarray(part.lines)[row_of] if len(part.lines) and row_of.min() >= 0 else (),
            contents=(),
        )
        for part, row_of in zip(parts, rows, strict=True)
    )


def _check_other_ids(first: SystemCounts, second: SystemCounts) -> None:
    """Ask about a column with the same texts for other items: ids that number the rows of tables in another order."""
    for name in first.other_ids.keys() & second.other_ids.keys():
        known = dict(zip(first.segments, first.other_ids[name], strict=True))
        for place, (item, label) in enumerate(zip(second.segments, second.other_ids[name], strict=True)):
            if known.get(item, label) != label and set(first.other_ids[name]) == set(second.other_ids[name]):
                raise Question(
                    f"{second.where(place)}: item {named(item)} has another {named(name)} than in {first.label}, which "
                    "has all of them for other items, expected the same items",
                    [{"item": joined([name])}],
                )


def _labels(part: SystemCounts) -> tuple[tuple[str, ...], ...]:
    """The ids, documents and domains of the segments."""
    return part.segments, part.documents, part.domains


def _conditions_that_differ(parts: Sequence[SystemCounts]) -> list[str]:
    """Sentences about conditions, such as the version of a task, that are not the same in all logs that have them."""
    sentences = []
    for name in dict.fromkeys(chain.from_iterable(part.conditions for part in parts)):
        known = [(part.conditions[name], part) for part in parts if part.conditions.get(name)]
        conflict = next(((value, part) for value, part in known[1:] if value != known[0][0]), None)
        if conflict is not None:
            (here, first), (there, second) = known[0], conflict
            sentences.append(
                f"{first.source} has the {name} {quoted(here)}, {second.source} has {quoted(there)}, expected the same"
            )
    return sentences


def _with_ids(parts: Sequence[SystemCounts]) -> Sequence[SystemCounts]:
    """Files without ids beside one whose ids are the numbers of its lines have the same ids; others are refused."""
    with_ids = next((part for part in parts if not part.by_row), parts[0])
    without = [part for part in parts if part.by_row]
    if not without or with_ids.by_row:
        return parts
    ids = [str(number) for number in range(1, len(with_ids.segments) + 1)]
    for part in without:
        if len(part.segments) != len(ids) or sorted(with_ids.segments) != sorted(ids):
            raise InputError(
                f"{part.source} has no ids of its {len(part.segments):,} items, but {with_ids.source} has (the "
                f"first one is {named(with_ids.segments[0])}), expected ids in all files or in none; add a column `id`"
            )
    return [replace(part, segments=tuple(ids)) if part.by_row else part for part in parts]


def _kept_of_items(
    parts: Sequence[SystemCounts], names: Sequence[str], metrics: Sequence[Metric], missing: Missing | None
) -> list[_Kept]:
    """The items of every metric; adjacent metrics with scores for the same items stay together."""
    ids = parts[0].segments
    groups = []
    for _, adjacent in groupby(metrics, key=lambda metric: [part.unscored[metric.name].tobytes() for part in parts]):
        metrics_alike = list(adjacent)
        details = listed(metric.name for metric in metrics_alike)
        has = ~np.stack([part.unscored[metrics_alike[0].name] for part in parts])
        n_scored = has.sum(axis=0)
        nowhere, everywhere = n_scored == 0, n_scored == len(parts)
        notes = []
        if nowhere.any():
            fate = "counted as wrong for all systems" if missing == "wrong" else "left out"
            notes.append(f"no system has a score in {details} for {int(nowhere.sum()):,} of {len(ids):,} items: {fate}")
        for name, part, scored in zip(names, parts, has, strict=True):
            without = np.flatnonzero(~scored & ~nowhere)
            lacks = f"{named(name)} has no score in {details} for {len(without):,} of {len(ids):,} items"
            if len(without) and missing is None:
                shown = ", ".join(named(ids[item]) for item in without[:_NAMED])
                more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
                has_worst = all(metric.averaged and metric.higher_is_better for metric in metrics_alike)
                ways = ["wrong", "drop"] if has_worst else ["drop"]
                fates = {"wrong": "count them as wrong", "drop": "leave them out for all systems"}
                raise Question(
                    f"{part.source}: {lacks}, but other systems have one ({shown}{more}), expected the same items, or "
                    f"to {' or '.join(fates[way] for way in ways)}",
                    [{"missing": way} for way in ways],
                )
            if len(without):
                fate = "counted as wrong" if missing == "wrong" else "left out for all systems"
                notes.append(f"{lacks}: {fate}")
        if not everywhere.any() and missing != "wrong":
            raise InputError(
                f"{' and '.join(dict.fromkeys(part.source for part in parts))}: found no item with a score for all "
                f"systems in {details}, expected at least one"
            )
        if missing == "wrong" and not everywhere.all():
            for metric in metrics_alike:
                _check_wrong(parts, metric)
        signed = f"{missing}:{int((~everywhere).sum())}" if missing and not everywhere.all() else ""
        groups.append(_Kept(metrics_alike, everywhere | (missing == "wrong"), notes, signed))
    return groups


def _check_items(field: str, parts: Sequence[SystemCounts], rows: Sequence[NDArray[np.intp]]) -> None:
    """Refuse an item that differs between a log and the first log with it."""
    first: dict[int, tuple[str, SystemCounts]] = {}
    for part, row_of in zip(parts, rows, strict=True):
        values: tuple[str, ...] = getattr(part, field) if any(getattr(part, field)) else ()
        for item in np.flatnonzero(row_of >= 0).tolist() if values else ():
            here = values[row_of[item]]
            if field == "contents" and not here:  # a log may lack the content of an item without a score
                continue
            there, first_part = first.setdefault(item, (here, part))
            if here != there:
                kind = field.removesuffix("s")
                details = (
                    f"belongs to {kind} {quoted(here)}, but to {quoted(there)}"
                    if kind != "content"
                    else "has a different content than"
                )
                raise InputError(
                    f"{part.where(row_of[item])}: item {named(part.segments[row_of[item]])} {details} in "
                    f"{first_part.source}: are these the same test set?"
                )


def _check_wrong(parts: Sequence[SystemCounts], metric: Metric) -> None:
    """Refuse to count items as wrong in a metric without a worst score of 0."""
    if not metric.averaged:
        raise InputError(
            f"{parts[0].source}: found counts for {metric.name}, which are not known for a wrong item, expected scores "
            f"from 0 to 1 for --missing wrong; use --missing drop"
        )
    for part in parts:
        values = part.counts[metric.columns[0]][~part.unscored[metric.name]]
        strange = values[(values < 0) | (values > 1)]
        if metric.higher_is_better and not len(strange):
            continue
        why = f"the score {strange[0]:g}" if metric.higher_is_better else "that lower is better"
        raise InputError(
            f"{part.source}: found {why} in {named(metric.name)}, expected scores from 0 to 1 of which higher is "
            f"better, since --missing wrong counts items without a score as 0; use --missing drop, or choose other "
            f"metrics"
        )


def with_all_classes(parts: Sequence[SystemCounts]) -> list[SystemCounts]:
    """The counts of each class that any of the systems has; those that a file does not have are 0."""
    columns: dict[str, dict[str, None]] = {}
    bounds: dict[str, dict[tuple[str, str], None]] = {}
    for metric in chain.from_iterable(part.metrics for part in parts):
        if metric.labels != "by class":
            continue
        columns.setdefault(metric.name, {}).update(dict.fromkeys(metric.columns))
        bounds.setdefault(metric.name, {}).update(dict.fromkeys(metric.at_most))
    if not columns:
        return list(parts)
    return [
        replace(
            part,
            counts={
                name: np.zeros(len(part.segments), dtype=np.int32) for name in chain.from_iterable(columns.values())
            }
            | dict(part.counts),
            metrics=tuple(
                replace(metric, columns=tuple(columns[metric.name]), at_most=tuple(bounds[metric.name]))
                if metric.name in columns
                else metric
                for metric in part.metrics
            ),
        )
        for part in parts
    ]


def restricted(part: SystemCounts, names: Sequence[str]) -> SystemCounts:
    """The counts with only the named metrics, or unchanged if a name is missing."""
    by_name = {metric.name: metric for metric in part.metrics}
    return (
        replace(part, metrics=tuple(by_name[name] for name in names)) if names and set(names) <= set(by_name) else part
    )


def _check_same(first: SystemCounts, second: SystemCounts) -> None:
    sizes = f"{first.label} has {len(first.segments)} segments, {second.label} has {len(second.segments)}"
    is_same = first.segments == second.segments
    for position, (here, there) in enumerate(() if is_same else zip(first.segments, second.segments, strict=False)):
        if here != there:
            raise InputError(
                f"{sizes}, expected the same ones in the same order; the first difference is at number {position + 1}, "
                f"{named(here)} ({first.where(position)}) and {named(there)} ({second.where(position)})"
            )
    if len(first.segments) != len(second.segments):
        longer, shorter = (first, second) if len(first.segments) > len(second.segments) else (second, first)
        position = len(shorter.segments)
        raise InputError(
            f"{sizes}, expected the same ones; segment {named(longer.segments[position])} ({longer.where(position)}) "
            f"is only in {longer.label}"
        )
    for column, position in _differences(first, second):
        raise InputError(
            f"{second.where(position)}: segment {named(second.segments[position])} has {column} "
            f"{second.counts[column][position]}, expected {first.counts[column][position]} as in "
            f"{first.where(position)}: are these the same test set?"
        )


def _check_possible(part: SystemCounts, metric: Metric) -> None:
    """Refuse counts that `Statistics.of` would refuse, with their line in the file."""
    wrong = [(part.counts[name] < 0, f"{name} below 0") for name in metric.columns if not metric.averaged]
    wrong += [(part.counts[few] > part.counts[many], f"{few} > {many}") for few, many in metric.at_most]
    for where, fault in wrong:
        if where.any():
            position = int(np.argmax(where))
            values = ", ".join(f"{name} {part.counts[name][position]}" for name in metric.columns)
            raise InputError(
                f"{part.where(position)}: segment {named(part.segments[position])} has {fault} ({values}), expected "
                f"valid counts for {metric.name}"
            )


def _check_direction(part: SystemCounts, metric: Metric, first: SystemCounts) -> None:
    """Refuse a metric that is an error or a cost in only one of two files."""
    of_part = next(metric_of_part for metric_of_part in part.metrics if metric_of_part.name == metric.name)
    if of_part.higher_is_better != metric.higher_is_better:
        higher, lower = (part, first) if of_part.higher_is_better else (first, part)
        raise InputError(
            f"higher {named(metric.name)} is better in {higher.source}, but worse in {lower.source}, expected the same "
            f"direction"
        )


def _check_scale(part: SystemCounts, metric: Metric, first: SystemCounts) -> None:
    """Refuse shares beside percentages: scores from 0 to 1, and others up to 100 of which hardly any is below 1."""
    if part is first or not metric.averaged or metric.scale is not None:
        return
    (shares, small), (percentages, large) = sorted(
        ((counts.counts[metric.columns[0]], counts.label) for counts in (part, first)),
        key=lambda labelled: float(labelled[0].max()),
    )
    if not shares.max() <= 1 < percentages.max() <= 100:
        return
    shares, percentages = (values[values != 0].astype(np.float64) for values in (shares, percentages))
    if min(len(shares), len(percentages)) < _ENOUGH or min(shares.min(), percentages.min()) < 0:
        return
    if np.mean(percentages <= 1) < 0.05 and percentages.mean() > 20 * shares.mean():
        raise InputError(
            f"{named(metric.name)} is from 0 to 1 in {small} and from 0 to 100 in {large}, expected the same scale; "
            "divide one of them by 100, or multiply the other one"
        )


def _check_labels(part: SystemCounts, domains: Sequence[str], documents: Sequence[str]) -> None:
    for nouns, labels in (("domains", domains), ("documents", documents)):
        if len(labels) != len(part.segments):
            raise InputError(
                f"{part.source} has {len(part.segments)} segments, but found {len(labels)} {nouns}, expected one per "
                f"segment"
            )
    if not any(part.documents) or part.documents == tuple(documents):
        return
    for position, (document, expected) in enumerate(zip(part.documents, documents, strict=True)):
        if document not in ("", expected):
            raise InputError(
                f"{part.where(position)}: segment {named(part.segments[position])} belongs to document "
                f"{quoted(document)}, but to {quoted(expected)} in the file of documents, expected the same"
            )


def _differences(first: SystemCounts, second: SystemCounts) -> Iterator[tuple[str, int]]:
    """Columns of the test set that differ between two systems, and the first segment with a difference."""
    scored_in_both = _scored(first) & _scored(second)
    for column in first.shared:
        here, there = first.counts[column], second.counts[column]
        # Every sentence has a length, but gold counts are 0 for sentences that were not scored.
        wrong = (here != there) & (scored_in_both | ((here != 0) & (there != 0)))
        if wrong.any():
            yield column, int(np.argmax(wrong))


def _scored(part: SystemCounts) -> NDArray[np.bool_]:
    return np.ones(len(part.segments), dtype=bool) if part.scored is None else part.scored


def _segments_left_out(
    first: SystemCounts, names: Sequence[str], scored: NDArray[np.bool_], is_kept: NDArray[np.bool_]
) -> list[str]:
    """Notes on segments on which only some systems were scored."""
    notes = []
    for name, is_scored in zip(names, scored, strict=True):
        missing = np.flatnonzero(~is_scored & scored.any(axis=0))
        if len(missing):
            ids = ", ".join(named(first.segments[position]) for position in missing[:_SHOWN])
            if len(missing) > _SHOWN:
                ids += f" and {len(missing) - _SHOWN} more"
            fate = (
                f"their counts are 0 for {name}, so that its score is the one in its file; use --option common=true to "
                "leave them out for all systems"
                if is_kept[missing].any()
                else "they are left out for all systems, so scores differ from those in the files"
            )
            notes.append(
                f"{name} was not scored on {len(missing)} of {is_scored.size} segments on which other systems were "
                f"({ids}); {fate}"
            )
    return notes


# What the readers share.


def read_numbers(path: AnyPath, expected: str) -> Iterator[tuple[int, list[int | float]]]:
    """Line number and numbers of every line, with blanks as separators.

    Blank lines at the end are ignored. Blank lines between others are an error, since a missing line would shift all
    later segments against those of the other system. Whole numbers become `int`.
    """
    lines = text.read(path)
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            raise InputError(f"{path}, line {number}: found a blank line, expected {expected}")
        values = []
        for cell in fields:
            value = to_number(cell)
            if value is None:
                raise InputError(f"{path}, line {number}: found {quoted(cell)}, expected {expected}")
            values.append(value)
        yield number, values
    if not lines:
        raise InputError(f"{path}: found only blank lines, expected {expected}")


def of_lines(path: AnyPath, rows: Sequence[Sequence[int | float]], metrics: Sequence[Metric]) -> SystemCounts:
    """Counts with one segment per line, in the columns of the first metric."""
    (first, *_), lines = metrics, range(1, len(rows) + 1)
    return SystemCounts(
        segments=tuple(map(str, lines)),
        documents=("",) * len(rows),
        counts=dict(zip(first.columns, map(to_array, zip(*rows, strict=True)), strict=True)),
        metrics=tuple(metrics),
        source=str(path),
        lines=tuple(lines),
    )


def width(rows: Sequence[str]) -> int:
    """How many numbers the first row has if all rows consist of numbers; else 0."""
    numeric = all(re.fullmatch(rf"\s*{NUMBER}(?:\s+{NUMBER})*\s*", row, re.ASCII) for row in rows)
    return len(rows[0].split()) if rows and numeric else 0


def to_number(field: str) -> int | float | None:
    """The number in a text, as `int` if it is whole; None for other text and for numbers that do not `fit`."""
    if not re.fullmatch(NUMBER, field, re.ASCII):
        return None
    value = int(field) if field.lstrip("+-").isdecimal() else float(field)
    return value if fits(value) else None


def fits(value: int | float) -> bool:
    """Whether a number is finite and, if it is an integer, exact as a float."""
    return abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value)


def to_array(values: Sequence[int | float]) -> NDArray[Any]:
    """An array of numbers that `fit`, as int64 if all are whole, else as float64."""
    whole = all(isinstance(value, int) for value in values)
    return np.array(values, dtype=np.int64 if whole else np.float64)


def f1_of_ratios(totals: Totals) -> NDArray[np.float64]:
    """F1 = 100 × 2PR / (P + R), where R and P have different numerators and denominators.

    The totals are the numerator and denominator of recall, then those of precision. The numerators may differ,
    so this is not `f1` of three counts. A ratio with the denominator 0 is 0, and F1 is 0 if both are 0.
    """
    recall, precision = ratio(totals[..., 0], totals[..., 1]), ratio(totals[..., 2], totals[..., 3])
    score = np.zeros(recall.shape)
    np.divide(2.0 * recall * precision, recall + precision, out=score, where=recall + precision != 0)
    return score


F1_OF_RATIOS = Ratio((0,), (1, 3), factor=200.0, given=((0, 2), (2, 0), (0, 1), (2, 3)), otherwise=f1_of_ratios)
"""`f1_of_ratios` as a ratio: 200 × numerator / (sum of both denominators) if the two numerators are always equal.

They are equal for the counts of sigf.
"""
