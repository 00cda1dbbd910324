"""Name the reader of a file, from what only its format has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairsig import readers
from pairsig.io.choices import spelled
from pairsig.io.errors import InputError, listed, quoted
from pairsig.metrics import registry
from pairsig.readers import Beginning, reader_of
from pairsig.readers.cells import number, suffix
from pairsig.readers.logs.items import files_below
from pairsig.readers.output import width

_BY_WIDTH = {2: "art", 3: "sigf", 4: "art"}
"""Programs whose files have so many numbers per line."""


def recognize(paths: Sequence[str], references: Sequence[str], declared: Mapping[str, Any]) -> str:
    """Name of the reader for all files: a reader of outputs if there are references, else of scores, counts or logs.

    Outputs are in a format of the metrics, if any are named.

    Raises
    ------
    InputError
        If the format of a file is unknown, if the files have different formats, or if a reference is missing.
    """
    if "sep" in declared:
        return "table"
    asked = declared.get("metric", ())
    if references:
        return _of_outputs([*paths, *references], asked)
    known = [registry.METRICS.get(spelled(name, registry.METRICS)) for name in asked if isinstance(name, str)]
    of_outputs = [metric for metric in known if metric and metric.extractor]
    try:
        reader_of_path = {path: _of_file(path) for path in paths}
    except InputError:
        if not of_outputs or any(Path(path).is_dir() for path in paths):
            raise
        reader_of_path = dict.fromkeys(paths, "scores")
    formats = set(reader_of_path.values())
    if of_outputs and "scores" in formats:
        title = of_outputs[0].title or of_outputs[0].name.upper()
        raise InputError(
            f"{paths[0]}: {title} is computed from outputs and a reference, found no reference\n"
            "--reference FILE names it"
        )
    if formats == {"table", "scores"}:
        return "table"
    if len(formats) > 1:
        each = ", ".join(f"{path} is for {reader}" for path, reader in reader_of_path.items())
        raise InputError(f"found files in different formats ({each}), expected one; choose it with --reader")
    return formats.pop()


def _of_outputs(paths: Sequence[str], metrics: Sequence[Any]) -> str:
    """The most specific reader of outputs for all files and metrics; any file is text."""
    if folder := next(filter(lambda path: Path(path).is_dir(), paths), ""):
        raise InputError(
            f"{folder}: found a folder and --reference, expected files of outputs\nleave --reference out for logs"
        )
    files, wanted = [Beginning(path) for path in paths], {registry.metric(metric).reader for metric in metrics} - {None}
    known = {name: reader_of(name) for name in reversed(readers.OUTPUTS)}
    fitting = [name for name, reader in known.items() if wanted <= {name, reader.like}] or list(known)
    for name in fitting:
        if all(known[name].reads(file) for file in files):
            return name
    return fitting[-1]


def _of_file(path: str) -> str:
    if Path(path).is_dir():
        return _of_folder(path)
    file = Beginning(path)
    for name in (*readers.LOGS, *readers.COUNTS):
        if reader_of(name).reads(file):
            return name
    if suffix(path) in readers.SUFFIXES_OF_TABLES:
        return "table"
    if suffix(path) in (".xlsx", ".xls", ".ods"):
        raise InputError(f"{path}: found a workbook, expected a table\nsave the sheet with the table as CSV")
    if not file.text:
        raise InputError(f"{path}: found an empty file, expected scores, a table or the log of an evaluation")
    if (n_numbers := width(file.rows)) in _BY_WIDTH:
        raise InputError(
            f"{path}: found {n_numbers} numbers per line, expected one score per line\n--reader names a format "
            f"of counts (these have the width of {_BY_WIDTH[n_numbers]}), --sep the separator of a table"
        )
    # What is in the other lines, the reader of scores says.
    if n_numbers or number(file.rows[0]) is not None or number(file.rows[0], decimal=",") is not None:
        return "scores"
    raise InputError(
        f"{path}: found {quoted(file.rows[0].strip())} in the first line, expected scores, a table "
        f"({', '.join(readers.SUFFIXES_OF_TABLES)}), counts or the log of an evaluation\ntexts need --reference and "
        "--metric; --sep names the separator of a table, --reader another format"
    )


def _of_folder(path: str) -> str:
    for name in readers.LOGS:
        reader = reader_of(name)
        if reader.in_folder and files_below(path, *reader.in_folder):
            return name
    kinds = set()
    for file in files_below(path, "*.json"):
        try:
            kinds.add(_of_file(str(file)))
        except InputError:
            continue
    if len(kinds) == 1 and kinds <= set(readers.LOGS):
        return kinds.pop()
    what = f"files for {listed(sorted(kinds))}" if kinds else "no log of an evaluation"
    raise InputError(
        f"{path}: found {what} in the folder, expected logs of one kind; name the files instead of the "
        "folder, or choose a kind of log with --reader"
    )
