"""Read tables of counts or scores: text with any separator, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from os import fspath
from typing import Any

from pairsig.io.errors import InputError, check_distinct, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_JSON, MAX_LINE, MAX_LINES, AnyPath, content, open_text
from pairsig.io.packages import need
from pairsig.io.tables import decoded_bytes, open_parquet
from pairsig.readers import Beginning, Reader, layout
from pairsig.readers.system_counts import SystemCounts

_SEPARATORS = "\t;|,"
_SAMPLE = 20
"""Rows from which the separator is found."""
_CELL = 32
"""Bytes of memory for a number and its place in a list."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read(
    path: AnyPath,
    *,
    system: str | None = None,
    item: str | None = None,
    score: str | None = None,
    run: str | None = None,
    document: str | None = None,
    domain: str | None = None,
    lower_is_better: str | None = None,
) -> tuple[SystemCounts, ...]:
    """Read a table of counts or scores: one row per item, or one row per system, run and item.

    `pairsig.readers.layout` finds out what the columns are. The metrics are pairsig's own if all their columns are
    present (such as `correct` and `total` for accuracy). Otherwise, each column of scores is averaged and gives a
    metric with the name of the column.

    Parameters
    ----------
    path
        Text with tabs, commas, semicolons or bars between cells (UTF-8 or UTF-16, with a line of names or without),
        JSON, JSON Lines or Parquet; also with `.gz` or `.xz`, or in an archive; see `pairsig.readers`.
    system
        Column with the names of systems; or columns of scores, one per system, separated by commas.
    item
        Column with the ids of items, or several columns with commas.
    score
        Columns to average, or names of pairsig's metrics.
    run, document, domain
        Columns with these labels.
    lower_is_better
        Averaged columns that are errors or costs.

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
        run=run,
        document=document,
        domain=domain,
        lower_is_better=lower_is_better,
    )
    return layout.read(cells(fspath(path), chosen), chosen)


def cells(path: str, chosen: layout.Chosen) -> layout.Cells:
    """The cells of a file; chosen systems decide which level of nested JSON objects has them."""
    if path.removesuffix(".gz").removesuffix(".xz").endswith(".parquet"):
        return _of_parquet(path)
    data = content(path)
    if data.startswith(b"PAR1"):
        return _of_parquet(path)
    if data.startswith(_UTF16):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError:
            raise InputError(f"{path}: found damaged UTF-16, expected text in UTF-8 or UTF-16") from None
    else:
        text = open_text(path).read()
    start = text.lstrip()
    if not start:
        raise InputError(f"{path}: found an empty file, expected a table")
    if start[0] == "[" or re.match(r'\{\s*("|\})', start) or path.endswith((".json", ".jsonl", ".ndjson")):
        return _of_json(path, text, chosen)
    return _of_text(path, text)


# Text.


def _of_text(path: str, text: str) -> layout.Cells:
    whole = text.split("\n")
    first = 0
    separator = ""
    while first < len(whole) and (not whole[first].strip() or whole[first].startswith(("#", "sep="))):
        if whole[first].startswith("sep="):
            separator = whole[first].rstrip("\r")[4:5]
        first += 1
    before = csv.field_size_limit(MAX_LINE)  # the default, 131,072 characters, is too short for some model answers
    body = [f"{line}\n" for line in whole[first:]]
    separator = separator or _separator(body)
    reader = csv.reader(body, delimiter=separator, strict=True, skipinitialspace=True)
    rows, lines = [], []
    try:
        for row in reader:
            if separator == "|" and len(row) > 2 and not (row[0].strip() or row[-1].strip()):
                row = row[1:-1]  # Markdown
            if any(cell.strip() for cell in row) and not all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in row):
                rows.append(row)
                lines.append(first + reader.line_num)
    except csv.Error as error:
        where = f"{path}, line {first + reader.line_num}"
        raise InputError(f"{where}: found a damaged field ({error}), expected a valid table") from None
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise InputError(f"{path}: found no rows, expected one per item")
    unnamed = not _is_header(rows)
    header = [str(number) for number in range(1, len(rows[0]) + 1)] if unnamed else [cell.strip() for cell in rows[0]]
    if unnamed:
        header = _numbered(rows)
    for row, line in zip(rows, lines, strict=True):
        while len(row) > len(header) and not row[-1].strip():
            row.pop()
        if len(row) != len(header):
            where = f"{path}, line {line}"
            expected = "the first row" if unnamed else "the header"
            raise InputError(f"{where}: found {len(row)} fields, expected {len(header)} as in {expected}")
    check_distinct([name for name in header if name], f"{path}, line {lines[0]}")
    header = [name or ("" if place == header.index("") else f" {place}") for place, name in enumerate(header)]
    kept = slice(0 if unnamed else 1, None)
    columns = {name: [row[place] for row in rows[kept]] for place, name in enumerate(header)}
    comma = {";": "decimals", ",": "thousands"}.get(separator, "")
    if separator == "," and any(
        re.fullmatch(r"-?0?,\d+|-?\d+,\d{1,2}", cell) for row in rows[kept] for cell in row if "," in cell
    ):
        comma = "decimals"
    return layout.Cells(path, columns, lines[kept], "line", comma, unnamed)


def _separator(lines: Sequence[str]) -> str:
    """The separator that divides the first rows into equally many cells."""
    widths = {}
    for separator in _SEPARATORS:
        try:
            rows = [row for row in islice(csv.reader(lines, delimiter=separator, strict=True), _SAMPLE) if row]
        except csv.Error:
            continue
        widths[separator] = [len(row) for row in rows]
    for separator, own in widths.items():
        if own and own[0] > 1 and len(set(own)) == 1:
            return separator
    return max(_SEPARATORS, key=lambda separator: (widths.get(separator) or [0])[0] if separator != "," else 1.5)


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has names: known ones, or no numbers above numbers of the same kind."""
    columns = list(zip_longest(*rows, fillvalue=""))
    if any(layout.is_role(name) and name not in below for name, *below in columns):
        return True
    head = [layout.is_number(cell) for cell in rows[0]]
    if not any(head):
        return True
    places = [place for place, kind in enumerate(head) if kind]
    numbers = [rows[0][place].strip() for place in places]
    if (
        places[0] > 0
        and not rows[0][0].strip()
        and numbers in ([str(k) for k in range(len(numbers))], [str(k) for k in range(1, len(numbers) + 1)])
    ):  # pandas calls columns 0, 1, … if they have no names
        return True
    below = rows[1] if len(rows) > 1 else rows[0]
    return not any(place < len(below) and layout.is_number(below[place]) == head[place] for place in places)


def _numbered(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names for the columns of a table without names: numbers for those of numbers, `score` if there is only one."""
    numeric = [layout.is_number(cell) is not None for cell in rows[0]]
    return [
        ("score" if sum(numeric) == 1 else str(sum(numeric[: place + 1]))) if own else f"column {place + 1}"
        for place, own in enumerate(numeric)
    ]


# JSON.


def _of_json(path: str, text: str, chosen: layout.Chosen) -> layout.Cells:
    rows = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if path.removesuffix(".gz").removesuffix(".xz").endswith((".jsonl", ".ndjson")) or (
        len(rows) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in rows[:2])
    ):
        items = []
        for number, line in rows:
            item = _parsed(f"{path}, line {number}", line, "a JSON object")
            if not isinstance(item, dict):
                raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
            items.append(item)
        return layout.Cells(path, _columns(items), [number for number, _ in rows], "line", "thousands")
    if len(text) > MAX_JSON:
        raise InputError(f"{path}: found {len(text):,} characters of JSON, expected at most {MAX_JSON:,}")
    columns = _unfolded(_parsed(path, text, "a complete document"), path, chosen)
    n_rows = len(next(iter(columns.values()), []))
    return layout.Cells(path, columns, range(1, n_rows + 1), "item", "thousands")


def _parsed(where: str, text: str, expected: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: found invalid JSON ({reason(error)}), expected {expected}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without repeated names, of which Python would silently keep the last."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"the name {quoted(name)} twice")
    return dict(pairs)


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _all(kind: Any, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _unfolded(document: Any, path: str, chosen: layout.Chosen) -> dict[str, list[Any]]:
    """Columns of the ways in which programs write a table as one document."""
    unknown = InputError(
        f"{path}: found JSON that is no table, expected a list of objects, one per row, or one list or object of "
        "scores per system"
    )
    if isinstance(document, list) and document:
        if _all(dict, document):
            return _columns(document)
        if _all(list, document):
            return _columns([{str(place): cell for place, cell in enumerate(row, start=1)} for row in document])
        raise unknown
    if not isinstance(document, dict) or not document:
        raise unknown
    values = list(document.values())
    if {"columns", "data"} <= document.keys() and _all(list, (document["columns"], document["data"])):  # pandas: split
        return _columns([dict(zip(map(str, document["columns"]), row, strict=False)) for row in document["data"]])
    if {"schema", "data"} <= document.keys():  # pandas: table
        return _unfolded(document["data"], path, chosen)
    if _all(list, values):
        nested = [_all(dict, own) for own in values]
        if all(nested):
            if len(values) == 1:
                return _unfolded(values[0], path, chosen)
            return _columns([{"system": name} | row for name, own in document.items() for row in own])
        if len({len(own) for own in values}) > 1:
            sizes = ", ".join(f"{name} has {len(own)}" for name, own in islice(document.items(), 5))
            raise InputError(f"{path}: found lists of different lengths ({sizes}), expected one score per item in each")
        return document
    if _all(dict, values):
        return _nested(document, path, chosen)
    lists = [own for own in values if isinstance(own, list) and own and _all(dict, own)]
    if len(lists) == 1:
        return _unfolded(lists[0], path, chosen)
    raise unknown


def _nested(document: Mapping[str, Mapping[str, Any]], path: str, chosen: layout.Chosen) -> dict[str, list[Any]]:
    """Columns of objects in an object: rows by their index, columns by their name, or scores by system and item."""
    outer, inner = list(document), list(dict.fromkeys(name for own in document.values() for name in own))
    if layout.has_roles(inner):  # pandas: index
        return {"": outer} | _columns(list(document.values()))
    if layout.has_roles(outer):  # pandas: columns
        return {"": inner} | {name: [own.get(row) for row in inner] for name, own in document.items()}
    if _all(dict, (cell for own in document.values() for cell in own.values())):
        return _columns(
            [{"system": one, "item": two} | row for one, own in document.items() for two, row in own.items()]
        )
    asked = chosen.system or []
    wanted = [name.strip() for name in asked.split(",")] if isinstance(asked, str) else list(asked)
    if wanted:
        by_system = set(wanted) <= set(outer)
    elif layout.are_numbered(outer) != layout.are_numbered(inner):
        by_system = layout.are_numbered(inner)
    elif 5 * min(len(outer), len(inner)) <= max(len(outer), len(inner)):
        by_system = len(outer) < len(inner)
    else:
        hint = chosen.hint("system", outer[:2])
        raise InputError(
            f"{path}: found {len(outer)} objects with {len(inner)} names each, either of which may be the systems, "
            f"expected many more items than systems; name the systems, for example with {hint}"
        )
    if by_system:
        return {"item": inner} | {name: [own.get(item) for item in inner] for name, own in document.items()}
    return {"item": outer} | {name: [own.get(name) for own in document.values()] for name in inner}


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


def _recognizes(file: Beginning) -> bool:
    """Whether a file is Parquet, JSON or UTF-16, or text with equally many cells in each row, some of them numbers."""
    if file.data.startswith((b"PAR1", *_UTF16)) or re.match(r'\{\s*"|\[\s*[\[{]', file.text):
        return True
    lines = [f"{row}\n" for row in file.rows if not row.startswith("#")][:_SAMPLE]
    if len(lines) < 2:
        return False
    separator = _separator(lines)
    try:
        rows = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return False
    rows = [row for row in rows if not all(re.fullmatch(r"\s*:?-+:?\s*|", cell) for cell in row)]
    return len({len(row) for row in rows}) == 1 < len(rows[0]) and any(
        all(layout.is_number(cell) for cell in column) for column in zip(*rows[1:], strict=True)
    )


READER = Reader(
    read=read,
    content="a table with any separator, JSON, JSON Lines or Parquet: one row per item, or per system and item",
    metrics="means of the columns, or a metric from its counts",
    suffixes=(".tsv", ".csv", ".parquet"),
    recognizes=_recognizes,
    line=r"(?!(?:[^\t]*\t){5})[^\t,;]+(?:[\t,;][^\t,;]*)+",
    example=(
        '{"id": "q1", "correct": true, "score": 0.5, "answer": "a"}\n'
        '{"id": "q2", "correct": false, "score": 1, "other": [1]}\n'
        '{"id": "q3", "correct": true, "score": -2e3, "answer": null}\n'
    ),
    example_name="scores.jsonl",
)
