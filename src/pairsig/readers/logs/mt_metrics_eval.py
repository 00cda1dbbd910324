"""Read segment scores in the format of mt-metrics-eval: lines `SYSTEM<TAB>SCORE`, all systems in one file."""

from __future__ import annotations

import re
from os import fspath
from pathlib import Path

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath
from pairsig.readers import Reader, read_documents
from pairsig.readers.logs.items import Item, Score, outputs, picked
from pairsig.readers.output import NUMBER, Output, to_number, width
from pairsig.readers.outputs import text

_ROW = re.compile(rf"\s*\S+[\t ]+(?:{NUMBER}|None)\s*", re.ASCII)
_METRIC = re.compile(r"(?P<name>.+)\.seg\.score")
_HUMAN = re.compile(r"(?P<pair>[^.]+-[^.]+)\.(?P<name>.+)\.seg\.score")


def read(path: AnyPath, *, systems: str | None = None) -> tuple[Output, ...]:
    """Read the scores of every segment for all systems.

    Parameters
    ----------
    path
        `metric-scores/SRC-TGT/NAME-REF.seg.score` or `human-scores/SRC-TGT.NAME.seg.score`, with the segments of each
        system in the order of the test set and `None` for a missing score. Higher is better, as in mt-metrics-eval.
        Documents and domains are those in `documents/SRC-TGT.docs` of the same data set, if there is such a file.
    systems
        Names of the systems to read, separated by commas.

    Returns
    -------
    Counts, one per system. The metric is named after the file, such as `XCOMET-refA`; in other folders it is `score`.
    """
    source = fspath(path)
    scores: dict[str, list[tuple[int, Score]]] = {}
    for number, line in enumerate(text.read(source), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise InputError(f"{source}, line {number}: found {quoted(line)}, expected SYSTEM<TAB>SCORE")
        value = to_number(fields[1])
        if value is None and fields[1] != "None":
            raise InputError(f"{source}, line {number}: found the score {quoted(fields[1])}, expected a number or None")
        scores.setdefault(fields[0], []).append((number, value))
    first, n_segments = next((name, len(of_system)) for name, of_system in scores.items())
    for name, of_system in scores.items():
        if len(of_system) != n_segments:
            problem = f"{len(of_system):,} segments for {quoted(name)} and {n_segments:,} for {quoted(first)}"
            raise InputError(f"{source}: found {problem}, expected the same number")
    metric, beside = _names(Path(source))
    notes = []
    domains, documents = [""] * n_segments, [""] * n_segments
    if beside is not None and beside.is_file():
        domains, documents = read_documents(beside)
        if len(documents) != n_segments:
            raise InputError(f"{beside}: found {len(documents):,} lines, expected {n_segments:,}, one per segment")
        notes.append(f"{source}: documents and domains were read from {beside}")
    parts: list[Output] = []
    for name in picked(scores, systems, source, "system"):
        segments = [
            Item(str(row + 1), {metric: score}, document=documents[row], domain=domains[row], line=line)
            for row, (line, score) in enumerate(scores[name])
        ]
        parts += outputs(source, name, segments, by="", notes=notes)
    return tuple(parts)


def _names(path: Path) -> tuple[str, Path | None]:
    """The metric of a file, and the path of its documents."""
    folder = path.parent
    if folder.name == "human-scores" and (match := _HUMAN.fullmatch(path.name)):
        return match["name"], folder.parent / "documents" / f"{match['pair']}.docs"
    if folder.parent.name == "metric-scores" and (match := _METRIC.fullmatch(path.name)):
        return match["name"], folder.parent.parent / "documents" / f"{folder.name}.docs"
    return "score", None


READER = Reader(
    read=read,
    content="`NAME-REF.seg.score` of mt-metrics-eval, all systems in one file",
    metrics="the metric of the file",
    recognizes=lambda file: bool(file.rows) and all(map(_ROW.fullmatch, file.rows)) and not width(file.rows),
    example="s\t0.5\ns\t1\ns\tNone\ns\t-3.25\n",
    example_name="system.seg.score",
)
