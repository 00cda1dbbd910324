"""Recognise the reader for a file from its content."""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from pathlib import Path

from pairsig import readers
from pairsig.io.errors import InputError, listed
from pairsig.io.files import AnyPath
from pairsig.readers import Beginning, Reader, reader_of_outputs
from pairsig.readers.logs.items import files_below
from pairsig.readers.system_counts import reader_of_counts, width


def recognize(paths: Sequence[AnyPath], references: Sequence[AnyPath] = ()) -> str:
    """Name of the reader for all files: a reader of outputs if there are references, else a reader of counts.

    Raises
    ------
    InputError
        If the format of a file is unknown, or if the files have different formats.
    """
    found = {fspath(path): _of_outputs([path, *references]) if references else _of_file(path) for path in paths}
    if len(set(found.values())) > 1:
        description = ", ".join(f"{path} is for {reader}" for path, reader in found.items())
        raise InputError(f"found files in different formats ({description}), expected one; choose it with --reader")
    reader = next(iter(found.values()))
    return "table" if len(paths) == 1 and reader in ("art", "sigf") and not _are_counts(Beginning(paths[0])) else reader


def _are_counts(file: Beginning) -> bool:
    """Whether lines may have counts of one system, and not scores of one system per column."""
    if width(file.rows) < 2:
        return True
    rows = [list(map(float, row.split())) for row in file.rows]
    # The first number is at most each other number in files for sigf, and at most the second one in those for art.
    return all(
        all(map(float.is_integer, row)) and row[0] <= min(row[1 : 2 + len(row) % 2], default=row[0]) for row in rows
    )


def _of_outputs(paths: Sequence[AnyPath]) -> str:
    """The most specific reader of outputs for all files; any file is text."""
    files = [Beginning(path) for path in paths]
    return next(name for name in reversed(readers.OUTPUTS) if all(map(reader_of_outputs(name).recognizes, files)))


def _readers_of_counts() -> dict[str, Reader]:
    """The readers of counts and logs, the most specific first."""
    return {name: reader_of_counts(name) for name in reversed((*readers.COUNTS, *readers.LOGS))}


def _of_file(path: AnyPath) -> str:
    if Path(path).is_dir():
        return _of_folder(path)
    file, known = Beginning(path), _readers_of_counts()
    for name, reader in known.items():
        if file.suffix in reader.suffixes:
            return name
    for name, reader in known.items():
        if reader.recognizes(file):
            return name
    if not file.text:
        raise InputError(f"{fspath(path)}: found an empty file, expected outputs, counts or the log of an evaluation")
    first, second, third = (
        f"{reader} (with --reference FILE)" if reader in readers.OUTPUTS else reader for reader in _likeliest(file)
    )
    raise InputError(
        f"{fspath(path)}: found an unknown format, expected counts, the log of an evaluation, or outputs with "
        f"--reference; try --reader {first}, then {second} or {third}"
    )


def _likeliest(file: Beginning) -> list[str]:
    """The three readers whose files most resemble the beginning of this file; of equal ones, the more general."""
    known = dict(reversed(_readers_of_counts().items())) | {name: reader_of_outputs(name) for name in readers.OUTPUTS}
    return sorted(known, key=lambda name: -known[name].resemblance(file))[:3]


def _of_folder(path: AnyPath) -> str:
    for name, reader in _readers_of_counts().items():
        if reader.in_folder and files_below(path, *reader.in_folder):
            return name
    kinds = []
    for file in files_below(path, "*.json"):
        try:
            kinds.append(_of_file(file))
        except InputError:
            continue
    if len(set(kinds)) == 1 and kinds[0] in readers.LOGS:
        return kinds[0]
    description = f"files for {listed(sorted(set(kinds)))}" if kinds else "no log of an evaluation"
    raise InputError(
        f"{fspath(path)}: found {description} in the folder, expected logs of one kind; name the files "
        "instead of the folder, or choose a kind of log with --reader"
    )
