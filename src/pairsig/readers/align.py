"""Put the outputs of several systems on the same items: by their ids, or by their position if there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.labels import label_array
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics import Metric
from pairsig.readers.output import Labels, Missing, Output, unified, whole

_SHOWN = 5  # ids that a note lists
_ENOUGH = 3  # scores other than 0 that show a scale

_OF_THE_TEST_SET = ("scenario", "split")
"""Conditions of logs without which equal ids do not mean equal items."""

Rows = NDArray[np.intp]
"""For each item, its row in an output; −1 if the output does not have it."""
Used = tuple[Sequence[Metric], NDArray[np.bool_], list[str], str]
"""The items that are used for some metrics, notes on the others, and their mention in the signature."""


def align(
    parts: Sequence[Output],
    names: Sequence[str],
    *,
    runs: Sequence[str] = (),
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: Missing | None = None,
) -> list[Statistics]:
    """Put systems on the same items: one `Statistics` per group of adjacent metrics with scores for the same items.

    Items with ids are paired by these, in any order. Items without ids are paired by their position, and all systems
    must have equally many of them. An item without a score for some systems is refused unless `missing` says what to
    do: count it as `wrong` (0, for scores from 0 to 1 of which higher is better), or `drop` it for all systems. Each
    metric uses the items with a score in it, so that its result does not depend on the other metrics.

    Of the listings of parsers, a sentence that is left out of the totals of some systems has counts of 0 for these, so
    that every score is the one that its program prints. `domains` and `documents` are of outputs without ids.
    """
    first = parts[0]
    if len(set(names)) < len(names):
        raise InputError(f"the systems are called {listed(names)}, expected different names\nNAME=FILE names them")
    items, rows = _on_the_same_items(parts)
    labels: Mapping[str, Sequence[str]] = {
        "documents": documents or _of_items(parts, rows, items, "documents"),
        "domains": domains or _of_items(parts, rows, items, "domains"),
    }
    for nouns, of_items in labels.items():
        if of_items and len(of_items) != len(items):
            both = f"{first.source} has {len(items):,} segments, but found {len(of_items):,} {nouns}"
            raise InputError(f"{both}, expected one per segment")
    parts = [_extended(part, of_part) for part, of_part in zip(parts, rows, strict=True)]
    metrics = _checked_metrics(parts, items)
    notes = [*_conditions(parts), *chain.from_iterable(part.notes for part in parts)]
    for part in parts:
        if alone := [metric.name for metric in part.metrics if metric.name not in {of.name for of in metrics}]:
            notes.append(f"{listed(alone)} left out, since only some files have it ({part.source} does)")
    arrays: dict[str, NDArray[np.str_]] = {"segments": label_array(items, f"{first.source}: item")}
    for nouns, of_items in labels.items():
        if of_items:
            arrays[nouns] = label_array(of_items, f"{first.source}: {nouns[:-1]}")
    aligned = []
    for alike, used, more_notes, signed in _used(parts, names, items, metrics, missing):
        columns = tuple(dict.fromkeys(chain.from_iterable(metric.columns for metric in alike)))
        of_used: dict[str, Any] = {nouns: array[used] for nouns, array in arrays.items()}
        statistics = Statistics(
            systems=tuple(names), **of_used, columns=columns, counts=_stacked(parts, columns, used), runs=tuple(runs),
            provenance={"missing": signed} if signed else {}, metrics=tuple(alike),
        )  # fmt: skip
        all_notes = dict.fromkeys([*notes, *more_notes, *statistics.inconsistencies()])
        aligned.append(replace(statistics, notes=tuple(all_notes)))
    return aligned


# The same items.


def _on_the_same_items(parts: Sequence[Output]) -> tuple[list[str], list[Rows]]:
    """The items of all outputs, those of the first in its order, and the row of each in every output."""
    first = parts[0]
    for part in parts[1:]:
        if bool(part.by) != bool(first.by):
            with_ids, without = (part, first) if part.by else (first, part)
            has_ids = f"{with_ids.label} has ids ({with_ids.by}), {without.label} has none"
            raise InputError(f"{has_ids}, expected ids in all files or in none")
        if not first.by and len(part.items) != len(first.items):
            raise InputError(
                f"{first.label} has {len(first.items):,} items, {part.label} has {len(part.items):,}, expected equally "
                "many: without ids, items are paired by their position\n"
                "add a column with ids to all files if some items are missing"
            )
        if {*part.by.lower().split(", ")} != {*first.by.lower().split(", ")} and not part.is_log:
            raise InputError(
                f"{first.source} has items by {first.by}, {part.source} by {part.by}, expected the same\n"
                "--item names the column in both"
            )
    codes, names = unified([_labels(part.items) for part in parts])
    places = np.full(len(names), -1)
    n_items = 0
    for of_part in codes:
        new = of_part[places[of_part] < 0]
        places[new] = np.arange(n_items, n_items + len(new))
        n_items += len(new)
    rows = [np.full(n_items, -1) for _ in parts]
    for of_part, of_rows in zip(codes, rows, strict=True):
        of_rows[places[of_part]] = np.arange(len(of_part))
    items = [names[code] for code in np.argsort(places).tolist()[len(names) - n_items :]]
    if not (np.min(rows, axis=0) >= 0).any():
        raise _without_common_item(parts)
    for column in first.shared:
        _check_shared(parts, rows, items, column)
    for part, of_part in zip(parts[1:], rows[1:], strict=True):
        both = np.flatnonzero((rows[0] >= 0) & (of_part >= 0))
        _check_others(first, rows[0][both], part, of_part[both])
        _check_contents(first, rows[0][both], part, of_part[both])
    return items, rows


def _labels(texts: Sequence[str]) -> Labels:
    return texts if isinstance(texts, Labels) else Labels.of(texts)


def _without_common_item(parts: Sequence[Output]) -> InputError:
    """The message about other ids, with columns of text that have values in common."""
    first = parts[0]
    common = [
        column for column, texts in first.others.items()
        if all(column in part.others and {*part.others[column].names} & {*texts.names} for part in parts)
    ]  # fmt: skip
    shown = "; ".join(f"{part.label}: {listed(part.items[:3])}" for part in parts[:2])
    advice = "--item names the column whose values are the same in all files"
    advice += f"; {listed(common)} has values that all systems have" if common else ""
    return InputError(
        f"found no item that all systems have ({first.by or 'ids'}: {shown}), expected the same ids\n{advice}"
    )


def _check_others(first: Output, rows: Rows, part: Output, of_part: Rows) -> None:
    """Refuse items with the same ids and different texts in a column that would pair them otherwise.

    Columns that differ in most items are answers of the systems. A column whose texts are the same in both files, but
    belong to other ids, identifies the items, and the ids only number the rows.
    """
    for column in filter(part.others.__contains__, first.others):
        (here, there), names = unified([first.others[column], part.others[column]])
        texts, others = set(here.tolist()), set(there.tolist())
        wrong = here[rows] != there[of_part]
        are_classes = len(texts) < max(3, 0.2 * len(here))
        are_answers = len(texts & others) < 0.5 * min(len(texts), len(others))
        if not wrong.any() or are_classes or are_answers:
            continue
        row, of_row = int(rows[np.argmax(wrong)]), int(of_part[np.argmax(wrong)])
        raise InputError(
            f"{part.where(of_row)}: item {named(part.items[of_row])} has {quoted(names[there[of_row]])} in column "
            f"{named(column)}, but {quoted(names[here[row]])} in {first.where(row)}: the ids "
            f"({first.by or 'positions'}) number other items in each file\n--item names the column that identifies the "
            f"items, such as {named(column)} if its values differ between items"
        )


def _check_contents(first: Output, rows: Rows, part: Output, of_part: Rows) -> None:
    """Refuse an item whose content, such as a digest of its question, differs between two outputs."""
    if not (any(first.contents) and any(part.contents)):
        return
    (here, there), names = unified([_labels(first.contents), _labels(part.contents)])
    for place in np.flatnonzero(here[rows] != there[of_part]).tolist():
        both = [names[here[rows[place]]], names[there[of_part[place]]]]
        # A log may have more digests than another, such as that of a whole input beside that of its beginning.
        if all(both) and any(a != b for a, b in zip(*(digests.split("/") for digests in both), strict=False)):
            raise InputError(
                f"{part.where(of_part[place])}: item {named(part.items[of_part[place]])} has a different content than "
                f"in {first.source}: are these the same test set?\n"
                "--any-content compares items with the same ids, whatever they contain"
            )


def _check_shared(parts: Sequence[Output], rows: Sequence[Rows], items: Sequence[str], column: str) -> None:
    """Refuse counts of the test set that differ between two systems."""
    first = parts[0]
    for part, of_part in zip(parts, rows, strict=True):
        if (alone := (rows[0] < 0) | (of_part < 0)).any() or (np.diff(of_part) < 0).any():
            difference = f"item {named(items[int(np.argmax(alone))])} is in one of them only" if alone.any() else ""
            raise InputError(
                f"{first.label} has {len(first.items):,} segments, {part.label} has {len(part.items):,}, expected the "
                f"same ones in the same order; {difference or 'they come in another order'}"
            )
        here, there = first.values[column], part.values[column]
        # Every sentence has a length, but gold counts are 0 for sentences that were not scored.
        wrong = (here != there) & (_scored(first) & _scored(part) | (here != 0) & (there != 0))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                f"{part.where(place)}: segment {named(part.items[place])} has {column} {there[place]}, expected "
                f"{here[place]} as in {first.where(place)}: are these the same test set?"
            )


def _of_items(parts: Sequence[Output], rows: Sequence[Rows], items: Sequence[str], field: str) -> list[str]:
    """The document or the domain of each item, from whichever file has it; files that disagree are refused."""
    labelled = [(part, of_part) for part, of_part in zip(parts, rows, strict=True) if any(getattr(part, field))]
    if not labelled:
        return []
    codes, names = unified(
        [Labels.same(1), *(_labels(getattr(part, field)).renamed(str.strip) for part, _ in labelled)]
    )  # the code of "" is 0
    known, source = np.zeros(len(items), dtype=np.intp), np.zeros(len(items), dtype=np.intp)
    for number, ((part, of_part), of_rows) in enumerate(zip(labelled, codes[1:], strict=True)):
        of_items = np.where(of_part >= 0, of_rows[of_part], 0)
        if (wrong := (of_items != known) & (of_items > 0) & (known > 0)).any():
            place = int(np.argmax(wrong))
            raise InputError(
                f"{part.where(of_part[place])}: item {named(items[place])} belongs to the {field[:-1]} "
                f"{quoted(names[of_items[place]])}, but to {quoted(names[known[place]])} in "
                f"{labelled[source[place]][0].source}, expected the same"
            )
        source[known == 0] = number
        known = np.maximum(known, of_items)
    return [names[code] for code in known.tolist()]


def _extended(part: Output, rows: Rows) -> Output:
    """An output with all items, NaN where it has none."""
    if len(rows) == len(part.items) and (rows == np.arange(len(rows))).all():
        return part
    lacking = rows < 0
    values = {name: column[rows] for name, column in part.values.items()}
    if lacking.any():
        values = {name: np.where(lacking, np.nan, column.astype(np.float64)) for name, column in values.items()}
    items = _labels(part.items)
    return replace(
        part,
        items=Labels(np.where(lacking, len(items.names), items.codes[rows]), [*items.names, ""]),
        values=values,
        lines=np.asarray(part.lines)[rows] if len(part.lines) else (),
        scored=None if part.scored is None else part.scored[rows],
    )


# The same metrics.


def shared(parts: Sequence[Output]) -> tuple[Metric, ...]:
    """The metrics that all systems have, in the order of the first."""
    known = [{(metric.name, metric.columns) for metric in part.metrics} for part in parts]
    return tuple(
        metric for metric in parts[0].metrics if all((metric.name, metric.columns) in names for names in known)
    )


def _checked_metrics(parts: Sequence[Output], items: Sequence[str]) -> tuple[Metric, ...]:
    """The metrics that all systems have, after checks of their counts, directions and scales."""
    metrics = shared(parts)
    if not metrics:
        each = "; ".join(f"{part.source} has {listed(metric.name for metric in part.metrics)}" for part in parts)
        raise InputError(f"the files have no metric in common, expected at least one: {each}")
    for part in parts:
        for metric in metrics:
            _check_possible(part, metric, items)
            of_part = next(known for known in part.metrics if known.name == metric.name)
            if of_part.higher_is_better != metric.higher_is_better:
                higher, lower = (part, parts[0]) if of_part.higher_is_better else (parts[0], part)
                raise InputError(
                    f"higher {named(metric.name)} is better in {higher.source}, but worse in {lower.source}, expected "
                    "the same direction"
                )
            if part is not parts[0] and metric.averaged and metric.scale is None:
                _check_scale(metric.name, parts[0], part, metric.columns[0])
    return metrics


def _check_possible(part: Output, metric: Metric, items: Sequence[str]) -> None:
    """Refuse counts that `Statistics.of` would refuse, with their line in the file."""
    wrong = [(part.values[name] < 0, f"{name} below 0") for name in metric.columns if not metric.averaged]
    wrong += [(part.values[few] > part.values[many], f"{few} > {many}") for few, many in metric.at_most]
    for where, fault in wrong:
        if where.any():
            place = int(np.argmax(where))
            values = ", ".join(f"{name} {part.values[name][place]:g}" for name in metric.columns)
            raise InputError(
                f"{part.where(place)}: segment {named(items[place])} has {fault} ({values}), expected valid "
                f"counts for {metric.name}"
            )


def _check_scale(name: str, first: Output, part: Output, column: str) -> None:
    """Refuse shares beside percentages: scores from 0 to 1, and others up to 100 of which hardly any is below 1."""
    small, large = sorted((first, part), key=lambda of: np.nanmax(of.values[column], initial=0))
    shares, percentages = (of.values[column][of.values[column] != 0] for of in (small, large))
    shares, percentages = shares[~np.isnan(shares)], percentages[~np.isnan(percentages)]
    if min(len(shares), len(percentages)) < _ENOUGH or not shares.max() <= 1 < percentages.max() <= 100:
        return
    are_two_scales = np.mean(percentages <= 1) < 0.05 and percentages.mean() > 20 * shares.mean()
    if are_two_scales and min(shares.min(), percentages.min()) > 0:
        raise InputError(
            f"{named(name)} is from 0 to 1 in {small.label} and from 0 to 100 in {large.label}, expected the same "
            "scale\ndivide one of them by 100, or multiply the other one"
        )


def _conditions(parts: Sequence[Output]) -> Iterator[str]:
    """Warnings of logs that differ in the version of the task, the data, the prompt or the number of shots."""
    for name in dict.fromkeys(chain.from_iterable(part.conditions for part in parts)):
        values: dict[str, Output] = {}
        for part in parts:
            if name in part.conditions:
                values.setdefault(part.conditions[name], part)
        if len(values) > 1:
            (here, first), (there, part) = list(values.items())[:2]
            both = f"{quoted(there)}, but {quoted(here)} in {first.source}"
            if name in _OF_THE_TEST_SET:
                raise InputError(
                    f"{part.source}: found the {name} {both}, expected the same: are these the same test set?"
                )
            yield f"{part.source}: warning: the {name} is {both}: these scores may not be comparable"


# Items without a score.


def _used(
    parts: Sequence[Output],
    names: Sequence[str],
    items: Sequence[str],
    metrics: Sequence[Metric],
    missing: Missing | None,
) -> Iterator[Used]:
    """For each group of adjacent metrics with scores for the same items, the items that are used."""
    if any(part.scored is not None for part in parts):
        yield _used_of_parsers(parts, names, items, metrics)
        return
    lacking = {metric.name: np.stack([part.lacks(metric) for part in parts]) for metric in metrics}
    for _, group in groupby(metrics, key=lambda metric: lacking[metric.name].tobytes()):
        alike = list(group)
        lacks = lacking[alike[0].name]
        nowhere, everywhere = np.asarray(lacks.all(axis=0)), np.asarray(~lacks.any(axis=0))
        n_nowhere, some = int(nowhere.sum()), ~everywhere & ~nowhere
        n_scored = len(nowhere) - n_nowhere
        called = listed(metric.name for metric in alike)
        notes = []
        if n_nowhere and n_scored:
            notes = [f"{n_nowhere:,} items without a score for any system left out ({called})"]
        if missing is None and not parts[0].by and not parts[0].is_log:
            some = some | nowhere  # a position
        each = ", ".join(
            f"{name} lacks {int(of_part.sum()):,}"
            for name, of_part in zip(names, lacks & some, strict=True) if of_part.any()
        )  # fmt: skip
        if some.any() and missing is None:
            place = int(np.argmax(some))
            number = int(np.argmax(lacks[:, place]))
            part = parts[number]
            where = part.where(place) if part.items[place] else part.label
            what = f"the items in {called} that {each}" if len(names) > 1 else called
            raise InputError(
                f"{where}: found no score of item {named(items[place])} for {named(names[number])}, expected one for "
                f"every system ({int(some.sum()):,} of {some.size:,} items; {what})\n"
                "--missing wrong counts an item without a score as 0, --missing drop leaves it out for all systems"
            )
        used = ~nowhere if missing == "wrong" else everywhere
        if not used.any():
            lack = f"no item with a score for all systems in {called}"
            raise InputError(f"{parts[0].source}: found {lack}, expected at least one")
        signed = ""
        if n_some := int(some.sum()):
            for metric in alike if missing == "wrong" else ():
                _check_wrong(parts, metric)
            fate = "counted as wrong" if missing == "wrong" else "left out for all systems"
            notes.append(f"{n_some:,} of {n_scored:,} items have no score in {called} for some system ({each}): {fate}")
            signed = f"{missing}:{n_some}"
        yield alike, used, notes, signed


def _check_wrong(parts: Sequence[Output], metric: Metric) -> None:
    """Refuse to count items as wrong in a metric without a worst score of 0."""
    for part in parts:
        values = part.values[metric.columns[0]][~part.lacks(metric)]
        strange = values[(values < 0) | (values > 1)]
        if not metric.averaged:
            what = f"counts for {metric.name}, which are not known for a wrong item"
        elif not metric.higher_is_better:
            what = f"that lower {named(metric.name)} is better"
        elif len(strange):
            what = f"the score {strange[0]:g} in {named(metric.name)}"
        else:
            continue
        raise InputError(
            f"{part.source}: found {what}, expected scores from 0 to 1 of which higher is better, since --missing "
            "wrong counts items without a score as 0\nuse --missing drop, or choose other metrics"
        )


def _scored(part: Output) -> NDArray[np.bool_]:
    return np.ones(len(part.items), dtype=bool) if part.scored is None else part.scored


def _used_of_parsers(
    parts: Sequence[Output], names: Sequence[str], items: Sequence[str], metrics: Sequence[Metric]
) -> Used:
    """The sentences on which any system was scored, and notes on the others."""
    scored = np.stack(list(map(_scored, parts)))
    used = np.asarray(scored.any(axis=0))
    if not used.any():
        sources = " and ".join(part.source for part in parts)
        raise InputError(f"found no scored segment in {sources}, expected at least one")
    notes = []
    for name, is_scored in zip(names, scored, strict=True):
        absent = np.flatnonzero(~is_scored & used)
        if not len(absent):
            continue
        ids = listed(items[place] for place in absent[:_SHOWN])
        more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
        notes.append(
            f"{name} was not scored on {len(absent)} of {is_scored.size} segments on which other systems were "
            f"({ids}{more}); their counts are 0 for {name}, so that its score is the one in its file"
        )
    return metrics, used, notes, ""


def _stacked(parts: Sequence[Output], columns: Sequence[str], used: NDArray[np.bool_]) -> NDArray[Any]:
    """The counts of the systems (systems × items × columns), as whole numbers if all are; what is missing is 0."""
    arrays = []
    for part in parts:
        for column in columns:
            values = part.values[column] if used.all() else part.values[column][used]
            arrays.append(whole(np.nan_to_num(values)) if values.dtype.kind == "f" else values)
    shape = len(parts), int(np.count_nonzero(used)), len(columns)
    counts = np.empty(shape, dtype=np.result_type(*(array.dtype for array in arrays)))
    for place, array in enumerate(arrays):
        counts[place // len(columns), :, place % len(columns)] = array
    return counts


def with_all_classes(parts: Iterable[Output]) -> list[Output]:
    """The counts of each class that any of the systems has; those that a file does not have are 0."""
    parts = list(parts)
    columns: dict[str, dict[str, None]] = {}
    bounds: dict[str, dict[tuple[str, str], None]] = {}
    for metric in chain.from_iterable(part.metrics for part in parts):
        if metric.labels == "by class":
            columns.setdefault(metric.name, {}).update(dict.fromkeys(metric.columns))
            bounds.setdefault(metric.name, {}).update(dict.fromkeys(metric.at_most))
    if not columns:
        return parts

    def extended(metric: Metric) -> Metric:
        if metric.name not in columns:
            return metric
        return replace(metric, columns=tuple(columns[metric.name]), at_most=tuple(bounds[metric.name]))

    return [
        replace(
            part, metrics=tuple(map(extended, part.metrics)),
            values=dict.fromkeys(chain(*columns.values()), np.zeros(len(part.items), np.int32)) | {**part.values},
        )
        for part in parts
    ]  # fmt: skip
