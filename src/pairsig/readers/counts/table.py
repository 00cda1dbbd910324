"""Read tables of counts or scores: text with any separator, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from os import fspath
from typing import Any

from pairsig.io.errors import InputError, check_distinct, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_JSON, MAX_LINES, AnyPath, content, open_text
from pairsig.io.packages import need
from pairsig.io.tables import decoded_bytes, open_parquet
from pairsig.readers import Beginning, Reader, layout, records, rows
from pairsig.readers.logs.items import json_objects
from pairsig.readers.system_counts import SystemCounts, are_consecutive, width

_CELL = 32
"""Bytes of memory for a number and its place in a list."""
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite format 3": "an SQLite database", b"\x93NUMPY": "a NumPy array", b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF document",
    b"<?xml": "an XML document",
}  # fmt: skip
_FEWEST = 2
"""Rows of a table in a page, since pages have other tables, too."""
_ARROW = b"ARROW1"
_ZIP = b"PK\3\4"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read(
    path: AnyPath,
    *,
    system: str | None = None,
    item: str | None = None,
    score: str | None = None,
    gold: str | None = None,
    run: str | None = None,
    document: str | None = None,
    domain: str | None = None,
    lower_is_better: str | None = None,
    one_system: bool = False,
) -> tuple[SystemCounts, ...]:
    """Read a table of counts or scores: one row per item, or one row per system, run and item.

    `pairsig.readers.layout` finds out what the columns are. The metrics are pairsig's own if all their columns are
    present (such as `correct` and `total` for accuracy). Otherwise, each column of scores is averaged and gives a
    metric with the name of the column.

    Parameters
    ----------
    path
        Text with tabs, commas, semicolons or bars between cells (UTF-8, UTF-16 or Windows-1252, with a line of names
        or without), JSON, JSON Lines or Parquet; also with `.gz` or `.xz`, or in an archive; see `pairsig.readers`.
    system
        Column with the names of systems; or columns of scores, one per system, separated by commas.
    item
        Column with the ids of items, or several columns with commas.
    score
        Columns to average, or names of pairsig's metrics.
    gold
        Column with the right answers, with which the columns of answers are compared.
    run, document, domain
        Columns with these labels.
    lower_is_better
        Averaged columns that are errors or costs.
    one_system
        Whether several columns of numbers are metrics of one system. Default: only if there are several files.

    Returns
    -------
    Counts, one per system and run, in the order of the file. True and pass count as 1, false and fail as 0.

    Raises
    ------
    InputError
        With file and line (or row), for a wrong number of fields, invalid JSON, and all that `layout.read` refuses.
    """
    chosen = layout.Chosen(
        system=system,
        item=item,
        score=score,
        gold=gold,
        run=run,
        document=document,
        domain=domain,
        lower_is_better=lower_is_better,
        one_system=one_system,
    )
    return layout.read(cells(fspath(path), chosen), chosen)


def cells(path: str, chosen: layout.Chosen) -> layout.Cells:
    """The cells of a file; chosen systems decide which level of nested JSON objects has them."""
    if path.removesuffix(".gz").removesuffix(".xz").endswith(".parquet"):
        return _of_parquet(path)
    data = content(path)
    if data.startswith(b"PAR1"):
        return _of_parquet(path)
    if data.startswith(_ARROW):
        return _of_arrow(path, data)
    if data.startswith(_ZIP):
        return rows.of_workbook(path, data)
    if kind := next((kind for start, kind in _OTHERS.items() if data.startswith(start)), ""):
        raise InputError(f"{path}: found {kind}, expected a table; save it as CSV (UTF-8), JSON or Parquet")
    if data.startswith(_UTF16):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError:
            raise InputError(f"{path}: found damaged UTF-16, expected text in UTF-8 or UTF-16") from None
        encoding = "utf-16"
    else:
        file = open_text(path, windows=not _is_json(path, data.decode("utf-8", "ignore")))
        text, encoding = file.read(), file.encoding
    if not text.strip():
        raise InputError(f"{path}: found an empty file, expected a table")
    if _is_json(path, text):
        return _of_json(path, text, chosen)
    found = rows.of_text(path, text)
    if len(found.lines) < _FEWEST and text.lstrip("\ufeff \n").startswith("<"):
        raise InputError(f"{path}: found an HTML page, expected a table; save it as CSV (UTF-8), JSON or Parquet")
    if encoding != "cp1252":
        return found
    return replace(found, notes=(f"{path}: read as Windows-1252, since it is not UTF-8", *found.notes))


def _is_json(path: str, text: str) -> bool:
    start = re.match(r'\ufeff?\s*(\[|\{\s*("|\}))', text)
    return start is not None or path.endswith((".json", ".jsonl", ".ndjson"))


# JSON.


def _of_json(path: str, text: str, chosen: layout.Chosen) -> layout.Cells:
    notes: list[str] = []
    lines = text.split("\n")
    first = [line.strip() for line in islice(filter(str.strip, lines), 2)]
    objects = [line.startswith("{") and line.endswith("}") for line in first] == [True, True]
    if objects or path.removesuffix(".gz").removesuffix(".xz").endswith((".jsonl", ".ndjson")):
        found, numbers = [], []
        for number, item in json_objects(path, lines, object_pairs_hook=_object):
            own = records.of_object(item)
            found += own
            numbers += [number] * len(own)
        place = "line"
        names = [{path[0] for path in row} for row in found]
        if len(found) > 3 and not names[0] & names[1] and all(own & names[1] for own in names[1:]):
            notes.append(f"{path}: left out line {numbers[0]}, which has no names in common with the others")
            found, numbers = found[1:], numbers[1:]
    else:
        if len(text) > MAX_JSON:
            raise InputError(f"{path}: found {len(text):,} characters of JSON, expected at most {MAX_JSON:,}")
        try:
            document = json.loads(text, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: found invalid JSON ({reason(error)}), expected a complete document") from None
        found = records.of_document(document, path, chosen)
        numbers, place = list(range(1, len(found) + 1)), "item"
    columns, levels = records.columns(found)
    return layout.Cells(path, columns, numbers, place, "thousands", levels=levels, notes=tuple(notes))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without repeated names, of which Python would silently keep the last."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"the name {quoted(name)} twice")
    return dict(pairs)


# Parquet.


def _of_parquet(path: str) -> layout.Cells:
    need("pyarrow")
    import pyarrow as pa

    data = content(path)
    try:
        file = open_parquet(pa.BufferReader(data), path)
        if file.metadata.num_rows > MAX_LINES or decoded_bytes(file, _CELL) > MAX_BYTES:
            raise InputError(
                f"{path}: found {file.metadata.num_rows:,} rows with {file.metadata.num_columns:,} columns, expected "
                f"at most {MAX_LINES:,} rows and {MAX_BYTES:,} bytes of memory"
            )
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        check_distinct(schema.names, path)
        columns = {
            # Lists and structures are not numbers and may be huge when unpacked, so only their type is read.
            field.name: [str(field.type)] * n_rows
            if pa.types.is_nested(field.type)
            else _cells(file.read([field.name]).column(0))
            for field in schema
        }
    except InputError:
        raise
    except (OSError, ValueError, OverflowError, pa.ArrowException, AttributeError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    for name, cells in columns.items():
        if len(cells) != n_rows:
            raise InputError(
                f"{path}: found {len(cells):,} cells in column {quoted(name)}, expected {n_rows:,}, one per row"
            )
    return layout.Cells(path, columns, range(1, n_rows + 1))


def _of_arrow(path: str, data: bytes) -> layout.Cells:
    """The cells of a Feather file."""
    need("pyarrow")
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        if table.nbytes > MAX_BYTES or table.num_rows > MAX_LINES:
            raise InputError(f"{path}: found {table.nbytes:,} bytes, expected at most {MAX_BYTES:,}")
        check_distinct(table.column_names, path)
        columns = {
            name: [str(own.type)] * len(own) if pa.types.is_nested(own.type) else _cells(own)
            for name, own in zip(table.column_names, table.columns, strict=True)
        }
    except (OSError, ValueError, OverflowError, pa.ArrowException, AttributeError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Feather file") from None
    return layout.Cells(path, columns, range(1, table.num_rows + 1))


def _cells(column: Any) -> list[Any]:
    """The cells of a pyarrow column; repeated texts share one object."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        found: list[Any] = column.to_pylist()
        return found
    cells = []
    for chunk in column.chunks:
        texts = [*chunk.dictionary.to_pylist(), None]
        cells += [texts[index] for index in chunk.indices.fill_null(len(texts) - 1).to_pylist()]
    return cells


_FEW = 5
"""In more rows, one may have no number, such as the last one with the sums of others."""


def _recognizes(file: Beginning) -> bool:
    """Whether a file is Parquet, JSON or UTF-16, or text in at least two columns, one of them with numbers."""
    if file.data.startswith((b"PAR1", _ARROW, _ZIP, *_UTF16, *_OTHERS)) or re.match(
        r'\{\s*"|\[\s*[-\[{\d]|<(!|html|table)', file.text
    ):
        return True
    try:
        cells = rows.of_text("", "\n".join(file.rows))
    except InputError:
        return False
    # Numbers between blanks may also be counts for sigf or art.
    divided = not cells.unnamed or any(separator in file.text for separator in rows.SEPARATORS)
    divided = divided or (width(file.rows) == 2 and are_consecutive(file.rows))
    return (
        divided
        and len(cells.lines) > 1 < len(cells.columns)
        and any(list(map(layout.is_number, own)).count(None) <= (len(own) > _FEW) for own in cells.columns.values())
    )


READER = Reader(
    read=read,
    content="a table as text, Excel, LaTeX, JSON, JSON Lines or Parquet: one row per item, or per system and item",
    metrics="means of the columns, or a metric from its counts",
    suffixes=(".tsv", ".csv", ".parquet"),
    recognizes=_recognizes,
    example=(
        '{"id": "q1", "correct": true, "score": 0.5, "answer": "a"}\n'
        '{"id": "q2", "correct": false, "score": 1, "other": [1]}\n'
        '{"id": "q3", "correct": true, "score": -2e3, "answer": null}\n'
    ),
    example_name="scores.jsonl",
)
