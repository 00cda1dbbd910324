"""Read tables of counts or scores: text with any separator, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from os import fspath
from typing import Any, NamedTuple

from pairsig.io.errors import InputError, check_distinct, listed, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_JSON, MAX_LINE, MAX_LINES, AnyPath, content, open_text
from pairsig.io.packages import need
from pairsig.io.tables import decoded_bytes, open_parquet
from pairsig.readers import Beginning, Reader, layout, records
from pairsig.readers.system_counts import SystemCounts

_SEPARATORS = "\t;|,"
_BLANKS = {"\t\t": r"\s{2,}", " ": r"[ \t]"}
"""Blanks between cells, by what stands for them: two or more in columns that are aligned, one in tables of R."""
_COMMENT = r"#(?!\s*[,;\t|])|sep="
_RULE = r"[-+:=|\s]*(--|==)[-+:=|\s]*|\s*(:?-+:?\s*\|\s*)+:?-+:?\s*"
_TREC_EVAL = ("measure", "topic", "value")
_SAMPLE = 20
"""Rows from which the separator is found."""
_CELL = 32
"""Bytes of memory for a number and its place in a list."""
_OTHERS = {
    b"PK\3\4": "an Excel workbook or another archive", b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"SQLite format 3": "an SQLite database", b"\x93NUMPY": "a NumPy array", b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file", b"%PDF": "a PDF document",
    b"<!": "an HTML page", b"<html": "an HTML page", b"<table": "an HTML table", b"<?xml": "an XML document",
}  # fmt: skip
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
    if kind := next((kind for start, kind in _OTHERS.items() if data.startswith(start)), ""):
        raise InputError(f"{path}: found {kind}, expected a table as text; save it as CSV (UTF-8), JSON or Parquet")
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
    found = _of_text(path, text)
    if encoding != "cp1252":
        return found
    return replace(found, notes=(f"{path}: read as Windows-1252, since it is not UTF-8", *found.notes))


def _is_json(path: str, text: str) -> bool:
    start = re.match(r'\ufeff?\s*(\[|\{\s*("|\}))', text)
    return start is not None or path.endswith((".json", ".jsonl", ".ndjson"))


# Text.


def _of_text(path: str, text: str) -> layout.Cells:
    """The cells of a text; what stands above the names of columns and below the rows is left out, with a note."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    whole = text.split("\n")
    first, separator = 0, ""
    while first < len(whole) and (not whole[first].strip() or re.match(_COMMENT, whole[first])):
        if whole[first].startswith("sep="):
            separator = whole[first].rstrip("\r")[4:5]
        first += 1
    before = csv.field_size_limit(MAX_LINE)  # the default, 131,072 characters, is too short for some model answers
    try:
        body = [f"{line}\n" for line in whole[first:]]
        separator = separator or _separator(body)
        rows = [_Row(first + line, cells) for line, cells in _rows(body, separator, path, first)]
        comment = whole[first - 1] if first and whole[first - 1].startswith("#") else ""
        above = [_Row(first, cells) for _, cells in _rows([comment.lstrip("# ")], separator)]
    finally:
        csv.field_size_limit(before)
    if not rows:
        raise InputError(f"{path}: found no rows, expected one per item")
    width = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
    while width > 1 and not any(len(row.cells) >= width and row.cells[width - 1].strip() for row in rows):
        width -= 1
    for row in rows:
        while len(row.cells) > width and not row.cells[-1].strip():
            row.cells.pop()
    top = next((place for place in range(len(rows)) if _starts(rows[place : place + 2], width, separator)), 0)
    left_out = {"above the names of columns": rows[:top]}
    bottom = len(rows)
    while bottom > top + 2 and len(rows[bottom - 1].cells) == 1 < width - 1:
        bottom -= 1
    left_out["below the rows"] = rows[bottom:]
    titles, rows = rows[:top], rows[top:bottom]
    if len(rows[0].cells) == width - 1 and separator in _BLANKS:
        rows[0].cells.insert(0, "")  # R and pandas write no name above those of the rows
    unnamed = not _is_header([row.cells for row in rows])
    if unnamed and (totals := _totals_of_trec_eval(rows)):
        left_out["with values for all topics"] = totals
        rows = [_Row(rows[0].line, list(_TREC_EVAL)), *(row for row in rows if row not in totals)]
        unnamed = False
    notes: list[str] = []
    if unnamed and above and len(above[0].cells) == width and _are_names(above[0].cells, rows[0].cells):
        rows.insert(0, above[0])
        unnamed = False
        notes.append(f"{path}: names of columns from the comment in line {first}")
    expected = "the first row" if unnamed else "the header"
    if unnamed and (names := [row for row in titles if len(row.cells) > 1]):
        rows, width, expected = [names[0], *rows], len(names[0].cells), "the header"
    for row in rows:
        if len(row.cells) != width:
            where = f"{path}, line {row.line}"
            raise InputError(f"{where}: found {len(row.cells)} fields, expected {width} as in {expected}")
    levels: dict[str, tuple[str, ...]] = {}
    if unnamed:
        names_of, n_names = _numbered([row.cells for row in rows]), 0
    else:
        n_names = _rows_of_names([row.cells for row in rows[:4]])
        names_of, levels = _named([row.cells for row in rows[:n_names]], f"{path}, line {rows[0].line}")
        own = rows[0].cells
        left_out["that repeat the names of columns"] = [row for row in rows[n_names:] if row.cells == own]
        rows = rows[:n_names] + [row for row in rows[n_names:] if row.cells != own]
    rows = rows[n_names:]
    columns = {name: [row.cells[place] for row in rows] for place, name in enumerate(names_of)}
    comma = {";": "decimals", ",": "thousands"}.get(separator, "")
    if separator == "," and any(
        re.fullmatch(r"-?0?,\d+|-?\d+,\d{1,2}", cell) for row in rows for cell in row.cells if "," in cell
    ):
        comma = "decimals"
    notes += [
        f"{path}: left out line {listed(str(row.line) for row in own)} {where}"
        for where, own in left_out.items()
        if own
    ]
    return layout.Cells(path, columns, [row.line for row in rows], "line", comma, unnamed, levels, tuple(notes))


class _Row(NamedTuple):
    line: int
    cells: list[str]


def _rows(lines: Sequence[str], separator: str, path: str = "", first: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The number in `lines` and the cells of each row, without blank ones and rules such as `|---|---|`."""
    if separator in _BLANKS:
        lines = [re.sub(_BLANKS[separator], separator[:1], line.strip()) + "\n" for line in lines]
    reader = csv.reader(lines, delimiter=separator[:1], strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if separator == "|" and len(row) > 2 and not (row[0].strip() or row[-1].strip()):
                row = row[1:-1]  # Markdown
            rule = separator in ("|", *_BLANKS) and re.fullmatch(_RULE, "|".join(row))
            if any(map(str.strip, row)) and not rule:
                yield reader.line_num, row
    except csv.Error as error:
        where = f"{path}, line {first + reader.line_num}"
        raise InputError(f"{where}: found a damaged field ({error}), expected a valid table") from None


def _separator(lines: Sequence[str]) -> str:
    """The separator that divides most of the first rows into equally many cells."""
    shares: dict[str, float] = {}
    for separator in (*_SEPARATORS, *_BLANKS):
        try:
            widths = Counter(len(row) for _, row in islice(_rows(lines, separator), _SAMPLE))
        except InputError:
            continue
        (width, times), *_ = widths.most_common(1) or [(1, 0)]
        share = times / max(1, widths.total())
        if width > 1 and (separator in _SEPARATORS or (share > 0.7 and not shares)):
            shares[separator] = share
    return max(shares, key=lambda separator: shares[separator], default=",")


def _starts(rows: Sequence[_Row], width: int, separator: str) -> bool:
    """Whether the table starts with the first of two rows, and not with a title."""
    cells = rows[0].cells
    if len(cells) == width:
        return width == 1 or sum(bool(cell.strip()) for cell in cells) > 1
    below = rows[-1].cells
    return (
        len(cells) == width - 1 and separator in _BLANKS and len(below) == width and any(map(layout.is_number, below))
    )


def _are_names(cells: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a comment above a row names its columns: with known names, or with words above numbers only."""
    if any(map(layout.is_role, cells)):
        return True
    numbers = len(below) > 1 and all(map(layout.is_number, below))
    return numbers and all(cells) and len(set(cells)) == len(cells) and not any(map(layout.is_number, cells))


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


def _totals_of_trec_eval(rows: Sequence[_Row]) -> list[_Row]:
    """The rows for all topics if these are measures, topics and values as trec_eval writes them; else none."""
    if any(len(row.cells) != len(_TREC_EVAL) for row in rows) or layout.is_number(rows[0].cells[0]):
        return []
    totals = [row for row in rows if row.cells[1].strip() == "all"]
    ids = {(row.cells[0].strip(), row.cells[1].strip()) for row in rows}
    values = all(layout.is_number(row.cells[2]) for row in rows if row not in totals)
    return totals if values and len(ids) == len(rows) > len(totals) else []


def _numbered(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names for the columns of a table without names: numbers for those of numbers, `score` if there is only one."""
    numeric = [layout.is_number(cell) is not None for cell in rows[0]]
    places = [place for place, own in enumerate(numeric) if own]
    columns = list(zip(*rows, strict=True)) if len(set(map(len, rows))) == 1 else []
    texts = [place for place, own in enumerate(columns) if not numeric[place] and 1 < len(set(own)) <= len(rows) / 2]
    if columns and len(texts) == 1 and len(places) == 2:  # such as the scores of a shared task
        ids = list(zip(columns[texts[0]], columns[places[0]], strict=True))
        if len(set(ids)) == len(ids) and all(map(str.isdecimal, columns[places[0]])):
            names = {texts[0]: "system", places[0]: "item", places[1]: "score"}
            return [names.get(place, f"column {place + 1}") for place in range(len(numeric))]
    return [
        ("score" if sum(numeric) == 1 else str(sum(numeric[: place + 1]))) if own else f"column {place + 1}"
        for place, own in enumerate(numeric)
    ]


def _rows_of_names(rows: Sequence[Sequence[str]]) -> int:
    """How many rows have names: several if those of the first stand above groups of columns (gpt above bleu, chrf)."""

    def is_index(row: Sequence[str]) -> bool:
        """Whether this is the row in which pandas writes the name of the index."""
        return len(row) > 2 and bool(row[0].strip()) and not any(map(str.strip, row[1:]))

    names = [cell.strip() for cell in rows[0]]
    while names and not names[0]:
        names.pop(0)
    if len(set(names)) == len(names) and all(names):
        return 2 if len(rows) > 2 and is_index(rows[1]) and layout.is_role(rows[1][0]) and names[0] else 1
    for place in (2, 3):
        if len(rows) > place and is_index(rows[place]):
            return place + 1
    if len(rows) < 3:
        return 1
    filled = [place for place, cell in enumerate(rows[1]) if cell.strip()]
    texts = not any(layout.is_number(rows[1][place]) for place in filled)
    numbers = any(layout.is_number(rows[2][place]) for place in filled)
    return 2 if layout.is_role(rows[1][0]) or (texts and numbers) else 1


def _named(rows: Sequence[Sequence[str]], where: str) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """A name for each column, and the names of its levels if there are several rows of names."""
    paths = []
    above = [""] * len(rows)
    for place, cells in enumerate(zip(*rows, strict=True)):
        own = [cell.strip() for cell in cells]
        if any(own[1:]):
            own = [
                cell or (before if level < len(rows) - 1 else "")
                for level, (cell, before) in enumerate(zip(own, above, strict=True))
            ]
        above = own if place else above
        path = tuple(cell for cell in own if cell)
        paths.append(path if place else path[-1:])
    names = ["/".join(path) for path in paths]
    times = Counter(name for name in names if name)
    repeated = [name for name in times if times[name] > 1]
    if len(repeated) > 1 and len({times[name] for name in repeated}) == 1 and not any(map(layout.is_role, repeated)):
        seen: Counter[str] = Counter()
        for place, name in enumerate(names):  # as pandas does it
            names[place] = f"{name}.{seen[name]}" if seen[name] else name
            seen[name] += 1
    check_distinct(filter(None, names), where)
    names = [name or ("" if place == names.index("") else f" {place}") for place, name in enumerate(names)]
    return names, {name: path for name, path in zip(names, paths, strict=True) if len(path) > 1}


# JSON.


def _of_json(path: str, text: str, chosen: layout.Chosen) -> layout.Cells:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if path.removesuffix(".gz").removesuffix(".xz").endswith((".jsonl", ".ndjson")) or (
        len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in lines[:2])
    ):
        rows, numbers = [], []
        for number, line in lines:
            item = _parsed(f"{path}, line {number}", line, "a JSON object")
            if not isinstance(item, dict):
                raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
            own = records.of_object(item)
            rows += own
            numbers += [number] * len(own)
        place = "line"
    else:
        if len(text) > MAX_JSON:
            raise InputError(f"{path}: found {len(text):,} characters of JSON, expected at most {MAX_JSON:,}")
        rows = records.of_document(_parsed(path, text, "a complete document"), path, chosen)
        numbers, place = list(range(1, len(rows) + 1)), "item"
    columns, levels = records.columns(rows)
    return layout.Cells(path, columns, numbers, place, "thousands", levels=levels)


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
    """Whether a file is Parquet, JSON or UTF-16, or text in at least two columns, one of them with numbers."""
    if file.data.startswith((b"PAR1", *_UTF16, *_OTHERS)) or re.match(r'\{\s*"|\[\s*[-\[{\d]', file.text):
        return True
    try:
        cells = _of_text("", "\n".join(file.rows))
    except InputError:
        return False
    # Numbers between blanks may also be counts for sigf or art.
    divided = not cells.unnamed or any(separator in file.text for separator in _SEPARATORS)
    return (
        divided
        and len(cells.lines) > 1 < len(cells.columns)
        and any(all(map(layout.is_number, column)) for column in cells.columns.values())
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
