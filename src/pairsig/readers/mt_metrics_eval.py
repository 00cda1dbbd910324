"""Scores of segments in the format of mt-metrics-eval: lines `SYSTEM<TAB>SCORE`, all systems in one file."""

from __future__ import annotations

import re
from os import fspath
from pathlib import Path

from pairsig.errors import InputError, quoted
from pairsig.files import AnyPath
from pairsig.readers import text
from pairsig.readers.counted import Counted, to_number
from pairsig.readers.items import Item, Log, Score, picked

_METRIC = re.compile(r"(?P<name>.+)\.seg\.score")
_HUMAN = re.compile(r"(?P<pair>[^.]+-[^.]+)\.(?P<name>.+)\.seg\.score")


def read(path: AnyPath, *, systems: str | None = None, docs: str | None = None) -> tuple[Counted, ...]:
    """Scores of every segment, of all systems.

    Parameters
    ----------
    path
        `metric-scores/SRC-TGT/NAME-REF.seg.score` or `human-scores/SRC-TGT.NAME.seg.score`: the segments of each system
        in the order of the test set, `None` where there is no score. Higher is better, as in mt-metrics-eval.
    systems
        Only these, with commas, the base first.
    docs
        `documents/SRC-TGT.docs`, a line DOMAIN DOCUMENT a segment. By default the one of the folder that the scores are
        in, if there is one.

    Returns
    -------
    Counts, one for each system; the metric has the file's name, such as `XCOMET-refA`; `score` for one elsewhere.

    Raises
    ------
    InputError
        With file and line for a score that is no number; for systems, or documents, of other numbers of segments.
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
    first, n_segments = next((name, len(own)) for name, own in scores.items())
    for name, own in scores.items():
        if len(own) != n_segments:
            raise InputError(
                f"{source}: found {len(own):,} segments of {quoted(name)} and {n_segments:,} of {quoted(first)}, "
                f"expected equally many"
            )
    metric, beside = _names(Path(source))
    notes = []
    found = Path(docs) if docs is not None else beside if beside is not None and beside.is_file() else None
    domains, documents = [""] * n_segments, [""] * n_segments
    if found is not None:
        domains, documents = _documents(found, n_segments)
        notes.append(f"{source}: documents and domains are those of {found}")
    return tuple(
        part
        for name in picked(scores, systems, source, "system")
        for part in Log(
            source,
            name,
            [
                Item(str(row + 1), {metric: score}, document=documents[row], domain=domains[row], line=line)
                for row, (line, score) in enumerate(scores[name])
            ],
            notes=notes,
        ).counted()
    )


def _names(path: Path) -> tuple[str, Path | None]:
    """The metric of a file, and where its documents are."""
    folder = path.parent
    if folder.name == "human-scores" and (match := _HUMAN.fullmatch(path.name)):
        return match["name"], folder.parent / "documents" / f"{match['pair']}.docs"
    if folder.parent.name == "metric-scores" and (match := _METRIC.fullmatch(path.name)):
        return match["name"], folder.parent.parent / "documents" / f"{folder.name}.docs"
    return "score", None


def _documents(path: Path, n_segments: int) -> tuple[list[str], list[str]]:
    """Domains and documents, one a segment; blanks part them."""
    domains, documents = [], []
    lines = text.read(path)
    if len(lines) != n_segments:
        raise InputError(f"{path}: found {len(lines):,} lines, expected one for each of {n_segments:,} segments")
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if len(fields) != 2:
            raise InputError(f"{path}, line {number}: found {quoted(line)}, expected DOMAIN DOCUMENT")
        domains.append(fields[0])
        documents.append(fields[1])
    return domains, documents
