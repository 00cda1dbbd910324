"""Read COMET scores from the JSON of `comet-score` or `comet-compare`, or from what `comet-score` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, named, quoted
from pairsig.io.files import AnyPath, open_text, read_json
from pairsig.readers import Beginning, Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, digest, field_of, outputs, part_of, picked
from pairsig.readers.output import NUMBER, Output


def read(path: AnyPath, *, systems: str | None = None) -> tuple[Output, ...]:
    """Read the COMET score of every segment for one or more systems.

    Segments are identified by their number; source and reference must be the same in all files.

    Parameters
    ----------
    path
        File that `comet-score` or `comet-compare` wrote with `--to_json`, or the lines that `comet-score` printed.
    systems
        Names of the systems to read, separated by commas. The name of a system is that of its file
        of translations, without the suffix.

    Returns
    -------
    Counts, one per file of translations; the metric `comet` is the mean over segments.
    """
    source = fspath(path)
    if re.match(_PRINTED, Beginning(path).text):
        items_of = _printed(source)
    else:
        document = field_of(read_json(source), [], source, dict)
        by_path = dict(_compared(document, source) if "translations" in document else _scored(document, source))
        stems = [Path(name).stem for name in by_path]
        names = stems if len(set(stems)) == len(stems) else list(by_path)
        items_of = dict(zip(names, by_path.values(), strict=True))
    if not items_of:
        raise InputError(f"{source}: found no system, expected at least one")
    chosen = picked(items_of, systems, source, "system")
    return tuple(chain.from_iterable(outputs(source, name, items_of[name], by="") for name in chosen))


def _printed(source: str) -> dict[str, list[Item]]:
    """The scores that `comet-score` prints."""
    by_system: dict[str, list[Item]] = {}
    for number, line in enumerate(open_text(source).read().splitlines(), start=1):
        match = re.fullmatch(_PRINTED, line.strip())
        if match is None and line.strip() and "\tscore: " not in line:
            problem = f"found {quoted(line.strip())}"
            raise InputError(f"{source}, line {number}: {problem}, expected FILE, Segment and score: of comet-score")
        if match:
            item = Item(str(int(match["segment"])), {"comet": float(match["score"])}, line=number)
            by_system.setdefault(Path(match["name"]).name, []).append(item)
    return by_system


def _scored(document: dict[str, Any], source: str) -> Iterator[tuple[str, list[Item]]]:
    for name in document:
        where, segments = f"{source}, {named(name)}", enumerate(field_of(document, [name], source, list), start=1)
        scores = ((n, field_of(segment, ["COMET"], f"{where}, segment {n}"), segment) for n, segment in segments)
        yield name, [_item(*score, where) for score in scores]


def _compared(document: dict[str, Any], source: str) -> Iterator[tuple[str, list[Item]]]:
    sources = part_of(document, ["source"], source, list)
    for number, system in enumerate(field_of(document, ["translations"], source, list), start=1):
        where = f"{source}, system {number}"
        scores = field_of(system, ["scores"], where, list)
        if len(scores) != len(sources):
            raise InputError(f"{where}: found {len(scores):,} scores, expected {len(sources):,}, one per source")
        numbered = enumerate(zip(scores, sources, strict=True), start=1)
        yield (
            field_of(system, ["name"], where, str),
            [_item(n, score, {"src": src}, where) for n, (score, src) in numbered],
        )


def _item(number: int, value: object, segment: dict[str, Any], where: str) -> Item:
    score = items.score(value, f"{where}, segment {number}")
    return Item(str(number), {"comet": score}, content=digest(segment.get("src"), segment.get("ref")))


_PRINTED = rf"(?P<name>\S.*?)\tSegment (?P<segment>\d+)\tscore: (?P<score>{NUMBER})"

READER = Reader(
    read=read,
    content="JSON of comet-score or comet-compare, or what comet-score prints",
    metrics="COMET",
    recognizes=begins(
        r"[^\n\t]+\tSegment 0\tscore: ",
        r'\{(?:\s*"model"\s*:\s*"[^"]*"\s*,)?\s*"statistical_results"\s*:',
        r'\{\s*"[^"]*"\s*:\s*\[\s*\{\s*"(?:src|mt)"\s*:',
    ),
    example="""\
{"out/m.txt": [
 {"src": "s0", "mt": "x", "ref": "r", "COMET": 0.25},
 {"src": "s1", "mt": "y", "ref": "r", "COMET": 0.75}]}
""",
    example_name="comet.json",
)
