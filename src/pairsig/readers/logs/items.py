"""Common parts of the readers of evaluation logs: items, their conversion to counts, and checks of JSON fields.

A log contains items (questions, instances), scored in one or more runs (epochs, trials) by one or more scorers. A
reader turns each of them into an `Item`, and `outputs` turns these into one `Output` per run.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairsig.io.choices import near
from pairsig.io.errors import InputError, encodable, listed, named, quoted, reason
from pairsig.io.files import AnyPath, open_text
from pairsig.metrics.counts import average
from pairsig.readers.output import Output, fits, over_samples, to_array

Score = int | float | None
"""A score, or None if it is missing."""

Kind = TypeVar("Kind")

_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number"}

MAX_FILES = 20_000
"""Maximum number of files that are listed in a folder."""


@dataclass(slots=True)  # not frozen, since logs have many
class Item:
    """The scores of one run of a system on an item.

    Attributes
    ----------
    name
        The id by which systems are paired.
    scores
        Scores by metric; a missing score is None or has no entry.
    run
        Label of the run: an epoch, a trial, a sample.
    document, domain
        The document and the domain to which the item belongs; "" if unknown.
    content
        Content of the item, which must be the same for all systems, for example a `digest` of the question.
    line
        Line of the item in the file.
    """

    name: str
    scores: dict[str, Score]
    run: str = ""
    document: str = ""
    domain: str = ""
    content: str = ""
    line: int = 0


def outputs(
    source: str,
    system: str,
    items: Sequence[Item],
    *,
    lower_is_better: Sequence[str] = (),
    by: str = "id",
    estimators: Sequence[str] | None = None,
    task: str = "",
    conditions: Mapping[str, object] | None = None,
    notes: Sequence[str] = (),
    **about: Any,
) -> tuple[Output, ...]:
    """Convert the items of one system in a log, in the order of the file: one `Output` per run.

    With `estimators`, runs are samples of an item, over which its scores are averaged: by pass@k and pass^k, or by the
    mean if there are none. All others are attributes of `Output`; conditions that are null or "" are unknown.
    """
    if not items:
        raise InputError(f"{source}: found no item with a score, expected at least one")
    if not system:
        raise InputError(f"{source}: found no name of the model, expected one")
    runs = _by_run(source, items, about.get("place", "line"))
    names = list(dict.fromkeys(chain.from_iterable(item.scores for item in items)))
    scored = [name for name in names if any(item.scores.get(name) is not None for item in items)]
    if not scored:
        of = f" in {listed(names)}" if names else ""
        raise InputError(f"{source}: found no score for any item{of}, expected at least one")
    if unscored := listed(name for name in names if name not in scored):
        notes = [*notes, f"{source}: {unscored} left out, since no item has a score in it"]
    if estimators is not None and len(runs) > 1:
        about["samples"] = f"{len(runs)} samples per item, averaged"
    if estimators is not None:
        runs, scored = (
            {"": _over_runs(source, runs, scored, estimators)},
            [name.lower() for name in estimators] or scored,
        )
    if estimators:  # in percent
        metrics = [replace(average(name, factor=100), title=name) for name in scored]
    else:
        metrics = [average(encodable(name), higher_is_better=name not in lower_is_better) for name in scored]
    return tuple(
        Output(
            source=source, system=encodable(system), run=run if len(runs) > 1 else "", task=encodable(task),
            items=tuple(by_name), by=by,
            values={encodable(name): _array([item.scores.get(name) for item in by_name.values()]) for name in scored},
            metrics=tuple(metrics),
            documents=_filled(item.document for item in by_name.values()),
            domains=_filled(item.domain for item in by_name.values()),
            contents=_filled(item.content for item in by_name.values()),
            conditions=_labelled(conditions or {}), is_log=True, notes=tuple(notes),
            lines=[item.line for item in by_name.values()] if next(iter(by_name.values())).line else (), **about,
        )
        for run, by_name in runs.items()
    )  # fmt: skip


def _over_runs(
    source: str, runs: Mapping[str, Mapping[str, Item]], names: Sequence[str], estimators: Sequence[str]
) -> dict[str, Item]:
    """The items with the means over their samples, or with pass@k."""
    if estimators and len(names) > 1:
        several = f"found the scores {listed(names)} with --metric {estimators[0]}"
        raise InputError(f"{source}: {several}, expected one\n--scorer NAME chooses it")
    samples = list(chain.from_iterable(by_name.values() for by_name in runs.values()))
    merged: dict[str, Item] = {}
    for item in samples:
        merged.setdefault(item.name, replace(item, scores={}))
    places = {name: place for place, name in enumerate(merged)}
    item_of = np.array([places[item.name] for item in samples])
    for estimator in estimators or names:
        name = names[0] if estimators else estimator
        scores = np.array([math.nan if (score := item.scores.get(name)) is None else score for item in samples])
        for item, mean in zip(
            merged.values(), over_samples(scores, item_of, list(merged), estimator, source), strict=True
        ):
            item.scores[estimator.lower() if estimators else name] = None if math.isnan(mean) else float(mean)
    return merged


def _array(scores: Sequence[Score]) -> NDArray[Any]:
    """The scores, NaN where one is missing."""
    if None in scores:
        return np.array([math.nan if score is None else score for score in scores])
    return to_array([score for score in scores if score is not None])


def _filled(labels: Iterable[str]) -> tuple[str, ...]:
    """The labels of all items; none if all are empty."""
    known = tuple(labels)
    return known if any(known) else ()


def _labelled(values: Mapping[str, object]) -> dict[str, str]:
    """The known values as text."""
    return {name: label(value) for name, value in values.items() if value not in (None, "")}


def _by_run(source: str, items: Sequence[Item], place: str) -> dict[str, dict[str, Item]]:
    """The items of every run by name, which must be the same in all runs."""
    runs: dict[str, dict[str, Item]] = {}
    first: dict[str, Item] = {}
    for item in items:
        where = f"{source}, {place} {item.line}" if item.line else source
        by_name = runs.setdefault(item.run, {})
        if item.name in by_name:
            of = f" of run {named(item.run)}" if item.run else ""
            before = f" (first in {place} {by_name[item.name].line})" if item.line else ""
            raise InputError(f"{where}: found item {named(item.name)}{of} again{before}, expected it once")
        by_name[item.name] = item
        known = first.setdefault(item.name, item)
        for field in ("content", "document", "domain") if known is not item else ():
            if getattr(item, field) != getattr(known, field):
                both = f"the runs {named(item.run)} and {named(known.run)}"
                problem = f"found different {field} for item {named(item.name)} in {both}"
                raise InputError(f"{where}: {problem}, expected the same")
        for name, score in item.scores.items():
            if score is not None and not fits(score):
                problem = f"found the score {quoted(score)} in {named(name)} for item {named(item.name)}"
                raise InputError(f"{where}: {problem}, expected a finite number")
    return runs


def once(source: str, logs: Iterable[tuple[str, str, str]]) -> None:
    """Refuse two logs of a model on a task; each log is named by its model, its task and its file."""
    first: dict[tuple[str, str], str] = {}
    for model, task, file in logs:
        if (earlier := first.setdefault((model, task), file)) != file:
            problem = f"found two logs of {named(model)} on {named(task)}, {earlier} and {file}"
            raise InputError(f"{source}: {problem}, expected one; name the file")


# Values of JSON.


def score(value: object, where: str) -> Score:
    """A JSON value as a number: true and false become 1 and 0, and NaN becomes None."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if value is None or isinstance(value, int):
        return None if value is None else int(value)
    raise InputError(f"{where}: found the score {quoted(value)}, expected a number")


def same(reported: float, mean: float, tolerance: float = 1e-9) -> bool:
    """Whether a program that added the scores in another order would report this mean."""
    return math.isclose(reported, mean, rel_tol=tolerance, abs_tol=tolerance)


def mean_of(scores: Iterable[Score]) -> float:
    """The mean of the scores that are known; NaN if none is."""
    known = [score for score in scores if score is not None]
    return math.fsum(known) / len(known) if known else math.nan


def digest(*values: object) -> str:
    """A short hash that is equal for equal JSON values, and different for all others."""
    plain = all(type(value) is str for value in values)  # json.dumps takes four times as long as repr
    description = repr(values) if plain else json.dumps(values, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(description.encode(), digest_size=8).hexdigest()


def label(value: object) -> str:
    """A JSON value as the name of a document or a domain; "" for null."""
    if isinstance(value, str):
        return value
    if type(value) is int:  # most ids; json.dumps takes ten times as long
        return str(value)
    return "" if value is None else json.dumps(value, sort_keys=True)


def field_of(record: object, path: Sequence[str], where: str, kind: type | tuple[type, ...] = object) -> Any:
    """The value at a path of names in a JSON document, with a check of its type."""
    value = record
    for depth, name in enumerate(path):
        if not isinstance(value, dict) or name not in value:
            problem = f"found no {'.'.join(path[: depth + 1])}"
            raise InputError(f"{where}: {problem}, expected one; is it another version of the log?")
        value = value[name]
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(_KINDS.get(known, known.__name__) for known in kinds)
        at = f" as {'.'.join(path)}" if path else ""
        raise InputError(f"{where}: found {quoted(value)}{at}, expected {expected}")
    return value


def part_of(record: object, path: Sequence[str], where: str, kind: type[Kind]) -> Kind:
    """The value at a path of names in a JSON document, with a check of its type; an empty value if it is missing."""
    value: Any = record
    for name in path:
        value = None if value is None else field_of(value, [], where, dict).get(name)
    if value is None:
        return kind()
    known: Kind = field_of({path[-1]: value}, path[-1:], where, kind)
    return known


def of_metadata(record: object, key: str | None, where: str, place: str, of: str) -> str:
    """The document or domain of an item: the field called `key`, or at a path of names with dots; "" for None."""
    value = record
    path = [] if key is None else [key] if isinstance(record, dict) and key in record else key.split(".")
    for name in path:
        fields = list(value) if isinstance(value, dict) else []
        if not isinstance(value, dict) or value.get(name) is None:
            known = f"; the fields are {listed(fields)}{near(str(key), fields)}" if fields else ""
            raise InputError(f"{where}: found no {named(str(key))} in {place}, expected the {of} of the item{known}")
        value = value[name]
    return label(value) if path else ""


def json_lines(path: AnyPath) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line of JSONL; blank lines are skipped."""
    for number, line in enumerate(open_text(path), start=1):
        if line.isspace():
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            fault = f"invalid JSON ({reason(error)})"
            raise InputError(f"{path}, line {number}: found {fault}, expected a JSON object") from None
        if not isinstance(document, dict):
            raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
        yield number, document


# Choices.


def names_of(option: str | None) -> list[str]:
    """Names in a text with commas; none for None."""
    return [] if option is None else [name.strip() for name in option.split(",")]


def picked(there: Iterable[str], asked: str | None, source: str, noun: str) -> list[str]:
    """The requested names in the requested order, or all that were found if none is requested."""
    known = list(dict.fromkeys(there))
    names = names_of(asked)
    for name in names:
        if name not in known:
            problem = f"found no {noun} {quoted(name)}"
            raise InputError(f"{source}: {problem}, expected one of {listed(known)}{near(name, known)}")
    return list(dict.fromkeys(names)) or known


def files_below(folder: AnyPath, *patterns: str) -> list[Path]:
    """Sorted files below a folder whose names match one of the patterns."""
    files: list[Path] = []
    for seen, path in enumerate(Path(folder).rglob("*")):
        if seen >= MAX_FILES:
            raise InputError(f"{fspath(folder)}: found more than {MAX_FILES:,} files, expected a folder of logs")
        if any(path.match(pattern) for pattern in patterns) and path.is_file():
            files.append(path)
    return sorted(files)
