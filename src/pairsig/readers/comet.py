"""Scores of COMET: `comet-score --to_json` and `comet-compare --to_json`."""

from __future__ import annotations

from collections.abc import Iterator
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, named
from pairsig.files import AnyPath, read_json
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Log, Score, digest, field_of, part_of, picked


def read(path: AnyPath, *, systems: str | None = None) -> tuple[Counted, ...]:
    """COMET of every segment, of one system or of several.

    Segments are known by their number; source and reference must be the same in all files.

    Parameters
    ----------
    path
        What `comet-score` or `comet-compare` wrote with `--to_json`.
    systems
        Only these, with commas, the base first. A system is called as its file of translations is, without the suffix.

    Returns
    -------
    Counts, one for each file of translations; the metric `comet` is the mean over segments.

    Raises
    ------
    InputError
        For a file of another form, a score that is no number, systems with other numbers of segments.
    """
    source = fspath(path)
    document = field_of(read_json(source), [], source, dict)
    found = dict(_compared(document, source) if "translations" in document else _scored(document, source))
    if not found:
        raise InputError(f"{source}: found no system, expected at least one")
    paths = list(found)
    stems = [Path(name).stem for name in paths]
    called = dict(zip(stems if len(set(stems)) == len(stems) else paths, paths, strict=True))
    chosen = picked(called, systems, source, "system")
    return tuple(part for name in chosen for part in Log(source, name, found[called[name]]).counted())


def _scored(document: dict[str, Any], source: str) -> Iterator[tuple[str, list[Item]]]:
    for name in document:
        segments = field_of(document, [name], source, list)
        where = f"{source}, {named(name)}"
        yield (
            name,
            [
                _item(number, field_of(segment, ["COMET"], f"{where}, segment {number}"), segment, where)
                for number, segment in enumerate(segments, start=1)
            ],
        )


def _compared(document: dict[str, Any], source: str) -> Iterator[tuple[str, list[Item]]]:
    sources = part_of(document, ["source"], source, list)
    for number, system in enumerate(field_of(document, ["translations"], source, list), start=1):
        where = f"{source}, system {number}"
        scores = field_of(system, ["scores"], where, list)
        if len(scores) != len(sources):
            raise InputError(f"{where}: found {len(scores):,} scores, expected {len(sources):,} as there are sources")
        segments = [{"src": src} for src in sources]
        yield (
            field_of(system, ["name"], where, str),
            [
                _item(row, score, segment, where)
                for row, (score, segment) in enumerate(zip(scores, segments, strict=True), start=1)
            ],
        )


def _item(number: int, value: object, segment: dict[str, Any], where: str) -> Item:
    try:
        score: Score = items.score(value)
    except ValueError:
        raise InputError(f"{where}, segment {number}: found the score {value!r:.60}, expected a number") from None
    content = digest(segment.get("src"), segment.get("ref"))
    return Item(str(number), {"comet": score}, content=content)
