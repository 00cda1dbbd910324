"""What the readers of evaluation logs share: from scored items to counts, and JSON that has what is expected.

A log has items (questions, instances), each scored once or in several runs (epochs, trials), by one scorer or more. A
reader makes an `Item` of each and gives them to `collect`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import fspath
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pairsig.choices import near
from pairsig.errors import InputError, listed, named, quoted, reason
from pairsig.files import AnyPath
from pairsig.readers import text
from pairsig.readers.counted import Counted, average, fits, to_array

Score = int | float | None
"""A score, or None where there is none."""


Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Item:
    """An item as one run of a system was scored on it.

    Attributes
    ----------
    name
        The id by which systems are paired.
    scores
        By the name of the metric; None, or no entry, where there is no score.
    run
        Which of several: an epoch, a trial, a sample.
    document, domain
        The cluster and the domain it belongs to; "" where unknown.
    content
        What it is, the same for all systems: a `digest` of the question, say.
    line
        Where it is in the file.
    """

    name: str
    scores: dict[str, Score]
    run: str = ""
    document: str = ""
    domain: str = ""
    content: str = ""
    line: int = 0


@dataclass
class Log:
    """The items of one system, and what is said of them all.

    Attributes
    ----------
    source
        The file.
    system
        What the log calls the system.
    items
        In the order of the file.
    lower_is_better
        Metrics that are errors or costs.
    notes
        Sentences for the user.
    settings
        What tells systems apart that are called the same.
    place
        What the lines of items count: "line", "entry".
    factor
        What the means are multiplied with: 100 where a program prints percentages of scores from 0 to 1.
    is_reference
        The system is what others in the file were held against.
    design
        What runs are, see `Counted`.
    """

    source: str
    system: str
    items: list[Item]
    lower_is_better: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)
    place: str = "line"
    factor: float = 1.0
    is_reference: bool = False
    design: str = ""

    def counted(self) -> tuple[Counted, ...]:
        """The counts, one `Counted` a run.

        Raises
        ------
        InputError
            For an item that comes twice in a run, one that is not the same in all runs, a score that is no finite
            number, and where there is no item or no metric with a score.
        """
        if not self.items:
            raise InputError(f"{self.source}: found no item with a score, expected some")
        if not self.system:
            raise InputError(f"{self.source}: found no name of the model, expected one")
        runs: dict[str, dict[str, Item]] = {}
        first: dict[str, Item] = {}
        for item in self.items:
            own = runs.setdefault(item.run, {})
            if item.name in own:
                of = f" of run {named(item.run)}" if item.run else ""
                raise InputError(
                    f"{self._where(item)}: found item {named(item.name)}{of} again"
                    f"{f' (first in {self.place} {own[item.name].line})' if item.line else ''}, expected it once"
                )
            own[item.name] = item
            known = first.setdefault(item.name, item)
            for what in ("content", "document", "domain"):
                if getattr(item, what) != getattr(known, what):
                    raise InputError(
                        f"{self._where(item)}: item {named(item.name)} has another {what} in run {named(item.run)} "
                        f"than in run {named(known.run)}, expected the same"
                    )
            for name, score in item.scores.items():
                if score is not None and not fits(score):
                    raise InputError(
                        f"{self._where(item)}: item {named(item.name)} has the score {quoted(score)} in "
                        f"{named(name)}, expected a finite number"
                    )
        known_metrics = dict.fromkeys(name for item in self.items for name in item.scores)
        if not known_metrics:
            raise InputError(f"{self.source}: found no score, expected some")
        metrics = [name for name in known_metrics if any(item.scores.get(name) is not None for item in self.items)]
        if unscored := listed(name for name in known_metrics if name not in metrics):
            if not metrics:
                raise InputError(f"{self.source}: {unscored} has no score for any item, expected some")
            self.notes.append(f"{self.source}: {unscored} left out: no score for any item")
        only = next(iter(runs)) if len(runs) == 1 else None
        return tuple(self._run("" if run == only else run, list(own.values()), metrics) for run, own in runs.items())

    def _run(self, run: str, items: Sequence[Item], metrics: Sequence[str]) -> Counted:
        return Counted(
            segments=tuple(item.name for item in items),
            documents=tuple(item.document for item in items),
            counts={encodable(name): to_array([item.scores.get(name) or 0 for item in items]) for name in metrics},
            metrics=tuple(
                average(encodable(name), higher_is_better=name not in self.lower_is_better, factor=self.factor)
                for name in metrics
            ),
            notes=tuple(self.notes),
            source=self.source,
            lines=tuple(item.line for item in items) if items[0].line else (),
            place=self.place,
            unscored={encodable(name): np.array([item.scores.get(name) is None for item in items]) for name in metrics},
            system=encodable(self.system),
            run=run,
            domains=tuple(item.domain for item in items) if any(item.domain for item in items) else (),
            contents=tuple(item.content for item in items) if any(item.content for item in items) else (),
            settings=self.settings,
            log=True,
            is_reference=self.is_reference,
            design=self.design if run else "",
        )

    def _where(self, item: Item) -> str:
        return f"{self.source}, {self.place} {item.line}" if item.line else self.source


def score(value: object) -> Score:
    """The number that a value of JSON is, true and false as 1 and 0, NaN as None; ValueError for anything else."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    raise ValueError(value)


def encodable(name: str) -> str:
    """A name that can be written: JSON may have half of a surrogate pair in it."""
    return name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def digest(*values: object) -> str:
    """A short text that is the same for equal values of JSON, and for no others."""
    told = json.dumps(values, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def label(value: object) -> str:
    """A value of JSON as the name of a cluster or a domain; "" for none."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def field_of(record: object, path: Sequence[str], where: str, kind: type | tuple[type, ...] = object) -> Any:
    """What a document of JSON has at a path of names, of the kind expected.

    Raises
    ------
    InputError
        Where there is none, or something else: the file is of another version, or no such log.
    """
    found = record
    for depth, name in enumerate(path):
        if not isinstance(found, dict) or name not in found:
            raise InputError(
                f"{where}: found no {'.'.join(path[: depth + 1])}, expected one: a log of another version?"
            )
        found = found[name]
    if not isinstance(found, kind):
        names = kind if isinstance(kind, tuple) else (kind,)
        told = " or ".join(_KINDS.get(one, one.__name__) for one in names)
        raise InputError(f"{where}: found {quoted(found)} as {'.'.join(path)}, expected {told}")
    return found


def part_of(record: object, path: Sequence[str], where: str, kind: type[Kind]) -> Kind:
    """What a document of JSON has at a path of names, of the kind expected; an empty one where it has nothing."""
    found: Any = record
    for name in path:
        found = None if found is None else field_of({"it": found}, ["it"], where, dict).get(name)
    if found is None:
        return kind()
    checked: Kind = field_of({path[-1]: found}, [path[-1]], where, kind)
    return checked


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def of_metadata(record: object, key: str, where: str, what: str) -> str:
    """The cluster that an item is of: its field of that name, or a path of names with dots.

    Raises
    ------
    InputError
        Where there is none: nothing would say with what the item belongs together.
    """
    found = record
    for name in [key] if isinstance(record, dict) and key in record else key.split("."):
        if not isinstance(found, dict) or found.get(name) is None:
            names = list(found) if isinstance(found, dict) else []
            raise InputError(
                f"{where}: found no {named(key)} in {what}, expected the cluster of the item"
                f"{f'; there is {listed(names)}' if names else ''}{near(key, names)}"
            )
        found = found[name]
    return label(found)


def json_lines(path: AnyPath) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of every line of JSONL; blank lines are none."""
    for number, line in enumerate(text.read(path), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: found no JSON ({reason(error)}), expected an object") from None
        if not isinstance(item, dict):
            raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
        yield number, item


def names_of(option: str | None) -> list[str]:
    """Names given as text with commas; none for None."""
    return [] if option is None else [name.strip() for name in option.split(",")]


def picked(found: Iterable[str], asked: str | None, source: str, what: str) -> list[str]:
    """Those of the names found that are asked for, in that order; all where none is.

    Raises
    ------
    InputError
        For a name that is not there.
    """
    known = list(dict.fromkeys(found))
    names = names_of(asked)
    for name in names:
        if name not in known:
            raise InputError(
                f"{source}: found no {what} {quoted(name)}, expected one of {listed(known)}{near(name, known)}"
            )
    return list(dict.fromkeys(names)) or known


MAX_FILES = 20_000
"""Files that are looked at in a folder."""


def files_below(folder: AnyPath, *patterns: str) -> list[Path]:
    """Files below a folder whose names fit one of the patterns, sorted."""
    found: list[Path] = []
    for seen, path in enumerate(Path(folder).rglob("*")):
        if seen >= MAX_FILES:
            raise InputError(f"{fspath(folder)}: found more than {MAX_FILES:,} files, expected the folder of the logs")
        if any(path.match(pattern) for pattern in patterns) and path.is_file():
            found.append(path)
    return sorted(found)
