"""The cells of a table: CSV, TSV, JSON, JSON Lines, Parquet, Excel, data frames, and files with one score per line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, check_distinct, listed, named, quoted, reason
from pairsig.io.files import MAX_LINE, MAX_LINES, content, text_of
from pairsig.io.packages import need

SCORE = "score"
"""The name of scores without one."""
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "<NA>")
"""Cells without a value."""

SUFFIXES_OF_COMPRESSION = (".gz", ".xz", ".bz2", ".zst")

_SHOWN = 100
"""Rows from which a refusal shows the type and the first values of each column."""
_LARGE = 2**21
"""Bytes from which a text is read by pyarrow, if it is installed."""
_MOST_CELLS = 50_000_000
"""Cells of a sheet of a workbook, whose dimensions a file of 5 KB may exaggerate."""

Cells = Any
"""The cells of a column: a list, or an array of pyarrow."""


@dataclass
class Table:
    """The columns of a table by name, and the line (or row, or object) of each row in the file."""

    source: str
    columns: dict[str, Cells]
    lines: Sequence[int]
    place: str = "line"
    notes: list[str] = field(default_factory=list)
    is_scores: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns that have one."""
        return [name for name in self.columns if name]

    def where(self, row: int) -> str:
        """The place of a row."""
        return f"{self.source}, {self.place} {self.lines[row]}"

    def first(self, name: str) -> list[Any]:
        """The first cells of a column."""
        cells = self.columns[name]
        return list(islice(cells, _SHOWN)) if isinstance(cells, list) else cells[:_SHOWN].to_pylist()

    def is_numeric(self, name: str) -> bool:
        """Whether the first cells are numbers."""
        values = [number(cell) for cell in self.first(name)]
        return None not in values and not all(map(math.isnan, values))  # type: ignore[arg-type]

    def description(self) -> str:
        """The columns with their types and first values."""
        shown: list[str] = []
        for name in self.columns:
            if name and len(shown) < 30:
                first = dict.fromkeys(filter(None, map(label, self.first(name))))
                kind = "numbers" if self.is_numeric(name) else "text" if first else "empty"
                few = ", ".join(
                    named(text) if len(text) <= 20 else quoted(f"{text[:17]}…") for text in islice(first, 3)
                )
                shown.append(f"{named(name)} ({kind}{f': {few}' if few else ''}{', …' if len(first) > 3 else ''})")
        more = len(self.names) - len(shown)
        return f"columns: {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"


def label(cell: Any) -> str:
    """A cell as a label, "" if it is missing. Missing cells turn integers into floats: whole numbers have no point."""
    if isinstance(cell, str):
        text = cell.strip()
        return "" if text in MISSING else text
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def number(cell: Any, missing: Sequence[str] = (), decimal: str = ".") -> float | None:
    """The number in a cell; NaN if it is missing, None if it is something else."""
    if isinstance(cell, str):
        text = cell.strip()
        if text in MISSING or text in missing:
            return math.nan
        if (word := text.lower()) in ("true", "false"):
            value: float = word == "true"
        else:
            text = text.removesuffix("%").rstrip()
            if decimal != ".":
                text = text.replace(".", "_").replace(decimal, ".")
            if "_" in text or not text.isascii() or text.lstrip("+-")[:1].lower() in ("n", ""):
                return None
            try:
                value = float(text)
            except ValueError:
                return None
            if abs(value) >= 2**53 and text.lstrip("+-").isdecimal() and abs(int(text)) > 2**53:
                return None
    elif isinstance(cell, bool | int | float | np.number | np.bool_):
        if isinstance(cell, int | np.integer) and abs(int(cell)) > 2**53:
            return None
        value = float(cell)
    elif label(cell) == "":
        return math.nan
    else:
        from decimal import Decimal
        from numbers import Real

        if not isinstance(cell, Decimal | Real) or type(cell).__module__ == "numpy":  # durations of numpy are real
            return None
        value = float(cell)
    if missing and any(value == float(word) for word in missing if _is_number(word)):
        return math.nan
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def coded(cells: Cells) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each cell's label, in the order of their first rows, and the labels; "" where one is missing."""
    if isinstance(cells, list):
        numbers: dict[str, int] = {}
        by_cell: dict[Any, int] = {}
        codes = np.empty(len(cells), dtype=np.intp)
        for row, cell in enumerate(cells):
            try:
                code = by_cell.get(cell)
            except TypeError:  # a list or an object of JSON
                cell = json.dumps(cell, sort_keys=True, default=str)
                code = by_cell.get(cell)
            if code is None:
                code = numbers.setdefault(label(cell), len(numbers))
                if not isinstance(cell, bool | int | float) or type(cell) is int:  # True, 1 and 1.0 are equal
                    by_cell[cell] = code
            codes[row] = code
        return codes, list(numbers)
    import pyarrow as pa

    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    if pa.types.is_integer(encoded.dictionary.type):
        names = encoded.dictionary.cast(pa.string()).to_pylist()
    else:
        names = list(map(label, encoded.dictionary.to_pylist()))
    codes = encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False).astype(np.intp)
    if (codes == len(names)).any():
        names.append("")
    if len(set(names)) == len(names):
        return codes, names
    order = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names])[codes], list(order)


def labels(cells: Cells) -> list[str]:
    """The label of each cell."""
    codes, names = coded(cells)
    return [names[code] for code in codes.tolist()]


def numbers(table: Table, name: str, missing: Sequence[str], true: Sequence[str], decimal: str) -> NDArray[np.float64]:
    """The numbers in a column, NaN where one is missing."""
    cells = table.columns[name]
    if not isinstance(cells, list):
        import pyarrow as pa

        if pa.types.is_floating(cells.type) or (pa.types.is_integer(cells.type) and cells.type.bit_width <= 32):
            values: NDArray[np.float64] = cells.to_numpy().astype(np.float64)
            if not missing and not true:
                _check_finite(table, name, values)
                return values
        cells = cells.to_pylist()
    known: dict[Any, float] = {}
    values = np.empty(len(cells))
    percents = 0
    for row, cell in enumerate(cells):
        key = (type(cell), cell) if not isinstance(cell, str) else cell
        try:
            value = known.get(key)
        except TypeError:
            raise _no_number(table, name, row, cell) from None
        if value is None:
            value = (1.0 if label(cell) in true else 0.0) if true and label(cell) else number(cell, missing, decimal)
            if value is None:
                raise _no_number(table, name, row, cell)
            known[key] = value
            if not math.isnan(value):
                percents |= 1 if isinstance(cell, str) and cell.rstrip().endswith("%") else 2
        values[row] = value
    if percents == 3:
        raise InputError(f"{table.source}: found numbers with and without % in column {named(name)}, expected one kind")
    if true and not any(label(word) in true for word in _words(known)):
        raise InputError(
            f"{table.source}: found no {listed(true)} in column {named(name)}, expected words for --true "
            f"such as {listed(map(label, _words(known)))}"
        )
    _check_finite(table, name, values)
    return values


def _words(known: Mapping[Any, float]) -> Iterable[Any]:
    return (key[1] if isinstance(key, tuple) else key for key in known)


def _no_number(table: Table, name: str, row: int, cell: Any) -> InputError:
    shown = quoted(cell.strip() if isinstance(cell, str) else cell)
    advice = "--true names words that count as 1, --missing-value those of missing scores"
    if isinstance(cell, str):
        text = cell.strip()
        if text.count("/") == 1 and all(part.strip().isdecimal() for part in text.split("/")):
            advice = (
                "write the points alone, such as 4 for 4/5; if all items had the same number of points, their "
                "mean is the score"
            )
        elif "," in text and text.replace(",", "").replace(".", "").lstrip("+-").isdecimal():
            advice = "--decimal , reads decimal commas; thousands have no separator"
    return InputError(
        f"{table.where(row)}: found {shown} in column {named(name)}, expected a number such as 0.5, true "
        f"or false\n{advice}"
    )


def _check_finite(table: Table, name: str, values: NDArray[np.float64]) -> None:
    wrong = np.isinf(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.where(row)}: found {values[row]:g} in column {named(name)}, expected a finite number\n"
            "--missing-value names values that stand for a missing score"
        )


# Files.


def open_table(source: Any, sep: str | None = None, sheet: str | None = None) -> Table:
    """The table in a file, or a data frame of any library that narwhals knows."""
    if not isinstance(source, str | Path):
        return _of_frame(source)
    path, kind = str(source), suffix(source)
    if sheet is not None and kind != ".xlsx":
        raise InputError(f"{path}: found --sheet, which does nothing here: the file is no workbook\nleave it out")
    if sep is not None and kind in (".parquet", ".xlsx", ".json", ".jsonl", ".ndjson"):
        raise InputError(f"{path}: found --sep, which does nothing here: a {kind} file has no separators\nleave it out")
    if kind == ".parquet":
        return _of_parquet(path, content(path))
    if kind == ".xlsx":
        return _of_workbook(path, content(path), sheet)
    text = text_of(path)
    if not text.strip():
        raise InputError(f"{path}: found an empty file, expected a table")
    if kind in (".json", ".jsonl", ".ndjson"):
        return _of_json(path, text, kind != ".json")
    separator = {"tab": "\t", r"\t": "\t"}.get(sep or "", sep) or {".csv": ",", ".tsv": "\t"}.get(kind, "")
    if len(separator) > 1:
        raise InputError(f"found --sep {quoted(separator)}, expected one character, or tab")
    return _of_text(path, text, separator)


def suffix(path: Any) -> str:
    """The suffix of a path, without that of a compression."""
    name = str(path)
    for compression in SUFFIXES_OF_COMPRESSION:
        name = name.removesuffix(compression)
    return Path(name).suffix.lower()


def _of_text(path: str, text: str, separator: str) -> Table:
    if not separator or number(text.partition("\n")[0].partition("\r")[0]) is not None:
        return of_scores(path, text)
    if len(text) > _LARGE and '"' not in text and "\r" not in text and (table := _of_large(path, text, separator)):
        return table
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    before = 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(before + 1)
                if reader.line_num > before + 1:
                    _check_quotes(path, row, separator, before + 1, reader.line_num, len(rows[0]))
            before = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"{path}, lines {before + 1} to {reader.line_num}: a quotation mark opens a cell and is not "
            f'closed as it should be ({error})\nexpected cells in quotation marks, with "" for a quotation '
            "mark inside, or none at all"
        ) from None
    names = [name.strip() for name in rows[0]]
    check_header(path, names, lines[0], separator)
    width = len(names)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise InputError(
                f"{path}, line {line}: found {len(row)} cells, expected {width} as in the names of the columns"
            )
    if len(rows) < 2:
        raise InputError(f"{path}: found no rows below the names of the columns, expected one per item")
    table = Table(path, dict(zip(names, map(list, zip(*rows[1:], strict=True)), strict=True)), lines[1:])
    if reader.line_num > len(rows):
        table.notes.append(
            f"{path}: {len(rows) - 1:,} rows in {reader.line_num:,} lines, since cells span lines or lines are blank"
        )
    return table


def _check_quotes(path: str, row: Sequence[str], separator: str, first: int, last: int, width: int) -> None:
    """Refuse a cell that has swallowed rows: each of its lines has as many separators as a row."""
    swallowed = all(line.count(separator) == width - 1 for line in separator.join(row).splitlines())
    if swallowed or separator == "\t":
        raise InputError(
            f"{path}: a quotation mark opens a cell in line {first} and closes it in line {last}, expected a "
            "row in each "
            'line\nwrite "" for a quotation mark inside a cell in quotation marks; JSON Lines can have '
            "cells of several lines"
        )


def check_header(path: str, names: Sequence[str], line: int, separator: str) -> None:
    """Refuse names of columns that are numbers, repeated, or a row with another separator."""
    if wrong := [name for name in names if name and _is_number(name) and not name.isalpha()]:
        raise InputError(
            f"{path}, line {line}: found {quoted(wrong[0])}, expected the names of the columns in the first line"
        )
    if len(names) == 1 and (other := next((mark for mark in ";\t|," if mark != separator and mark in names[0]), "")):
        shown = "tab" if other == "\t" else other
        raise InputError(
            f"{path}, line {line}: found one column called {quoted(names[0])}, expected several with "
            f"{quoted(separator)} between them\n--sep '{shown}' reads {quoted(other)} as the separator; with "
            "decimal commas, add --decimal ,"
        )
    check_distinct(filter(None, names), path)


def _of_large(path: str, text: str, separator: str) -> Table | None:
    """A table without quotation marks, read by pyarrow; None if it cannot, so that the standard library says why."""
    from pairsig.io.packages import installed

    if not installed("pyarrow"):
        return None
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = [name.strip() for name in text.partition("\n")[0].split(separator)]
    check_header(path, names, 1, separator)
    if text.count("\n") > MAX_LINES or "\n\n" in text:
        return None
    try:
        whole = arrow.read_csv(
            pa.BufferReader(text.encode()),
            read_options=arrow.ReadOptions(
                column_names=[name or f"\0{place}" for place, name in enumerate(names)], skip_rows=1
            ),
            parse_options=arrow.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            convert_options=arrow.ConvertOptions(
                null_values=[*MISSING],
                strings_can_be_null=True,
                true_values=[],
                false_values=[],
                timestamp_parsers=["%"],
            ),
        )
    except pa.ArrowException:
        return None
    columns = {name or "": whole.column(place) for place, name in enumerate(names)}
    for name, cells in columns.items():
        if pa.types.is_temporal(cells.type) or (pa.types.is_integer(cells.type) and cells.type.bit_width > 32):
            columns[name] = _narrow(cells)
    return Table(path, columns, range(2, len(whole) + 2))


def _narrow(cells: Any) -> Any:
    """Whole numbers as 32 bits where they fit; a temporal column as text."""
    import pyarrow as pa

    try:
        return cells.cast(pa.int32() if pa.types.is_integer(cells.type) else pa.string())
    except pa.ArrowException:
        return cells.cast(pa.string())


def of_scores(path: str, text: str) -> Table:
    """A file with one score per line; a blank line is a missing score."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if "\r" in text and "\n" not in text:  # line ends of an old Macintosh
        lines = text.split("\r")
    if not lines[-1]:
        lines.pop()
    for row, line in enumerate(lines, start=1):
        is_infinite = line.strip().lower().lstrip("+-").startswith("inf")
        if number(line) is None and number(line, decimal=",") is None and not is_infinite:
            raise InputError(
                f"{path}, line {row}: found {quoted(line.strip())}, expected one number per line, or a table\n"
                "--sep names the separator of a table; texts need --reference and --metric, counts need --reader"
            )
    return Table(path, {SCORE: lines}, range(1, len(lines) + 1), is_scores=True)


def _of_json(path: str, text: str, lines: bool) -> Table:
    records: list[tuple[int, Any]] = []
    number_of_line = 0
    try:
        if lines:
            for number_of_line, line in enumerate(text.split("\n"), start=1):
                if line.strip():
                    records.append((number_of_line, json.loads(line, object_pairs_hook=_once)))
        else:
            document = json.loads(text, object_pairs_hook=_once)
            records = list(enumerate(document if isinstance(document, list) else [None], start=1))
    except (ValueError, RecursionError) as error:
        at = f", line {number_of_line}" if lines else ""
        raise InputError(
            f"{path}{at}: found invalid JSON ({reason(error)}), expected objects with the cells of a row"
        ) from None
    wrong = next((place for place, record in records if not isinstance(record, dict)), None)
    if wrong is not None or not records:
        raise InputError(f"{path}: found JSON that is no list of objects, expected one object per item")
    names = list(dict.fromkeys(chain.from_iterable(record for _, record in records)))
    columns: dict[str, Cells] = {}
    for name in names:
        cells = [record.get(name) for _, record in records]
        inner = list(dict.fromkeys(chain.from_iterable(cell for cell in cells if isinstance(cell, dict))))
        if inner and len(inner) <= 50:  # an object within: its fields are columns called OUTER.INNER
            for key in inner:
                columns[f"{name}.{key}"] = [cell.get(key) if isinstance(cell, dict) else None for cell in cells]
        else:
            columns[name] = cells
    return Table(path, columns, [place for place, _ in records], "line" if lines else "object")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, in which a name occurs once."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return record


def _of_parquet(path: str, data: bytes) -> Table:
    need("pyarrow")
    import pyarrow as pa

    from pairsig.io.memory import Memory
    from pairsig.io.tables import decoded_bytes, open_parquet

    try:
        with open_parquet(pa.BufferReader(data)) as file:
            check_distinct(file.schema_arrow.names, path)
            Memory.whole().require(decoded_bytes(file, 8), f"reading {path}")
            table = file.read().unify_dictionaries()
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    if not len(table):
        raise InputError(f"{path}: found no rows, expected one per item")
    columns: dict[str, Cells] = {}
    for name in table.column_names:
        cells = table.column(name)
        plain = pa.types.is_floating(cells.type) or pa.types.is_string(cells.type) or pa.types.is_dictionary(cells.type)
        columns[name] = cells if plain else cells.to_pylist()
    return Table(path, columns, range(1, len(table) + 1), "row")


def _of_workbook(path: str, data: bytes, sheet: str | None) -> Table:
    need("openpyxl")
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises whatever the damage causes
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected an Excel workbook") from None
    if sheet is not None and sheet not in book.sheetnames:
        raise InputError(f"{path}: found no sheet {quoted(sheet)}, expected one of {listed(book.sheetnames)}")
    try:
        cells = book[sheet] if sheet else book.worksheets[0]
        rows, n_cells = [], 0
        for row in cells.iter_rows(values_only=True):
            filled = len(row)
            while filled and row[filled - 1] is None:
                filled -= 1
            rows.append(row[:filled])
            n_cells += len(row)
            if n_cells > _MOST_CELLS:
                raise InputError(
                    f"{path}: found more than {_MOST_CELLS:,} cells, expected fewer: the sheet has cells far from "
                    "the table\ndelete empty rows and columns, or write the sheet as CSV"
                )
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected an Excel workbook") from None
    table = [(line, row) for line, row in enumerate(rows, start=1) if row]
    if len(table) < 2:
        raise InputError(f"{path}: found no rows below the names of the columns, expected one per item")
    names = [label(name) for name in table[0][1]]
    check_header(path, names, table[0][0], "")
    if longer := next((line for line, row in table if len(row) > len(names)), 0):
        raise InputError(f"{path}, row {longer}: found more cells than names of columns, expected {len(names)}")
    columns = {
        name: [row[place] if place < len(row) else None for _, row in table[1:]] for place, name in enumerate(names)
    }
    return Table(path, columns, [line for line, _ in table[1:]], "row")


def _of_frame(frame: Any) -> Table:
    import narwhals.stable.v2 as nw

    source = "the data frame"
    if hasattr(frame, "reset_index"):
        frame = _with_index(frame, source)
    try:
        whole = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"found a {type(frame).__module__.partition('.')[0]}.{type(frame).__name__}, expected a path or "
            "a data frame (pandas, polars, pyarrow)"
        ) from None
    if not len(whole):
        raise InputError(f"{source}: found no rows, expected one per item")
    columns = {str(name): whole[name].to_list() for name in whole.columns}
    return Table(source, columns, range(1, len(whole) + 1), "row")


def _with_index(frame: Any, source: str) -> Any:
    """A frame of pandas with the levels of its index as columns, unless it only numbers the rows."""
    if frame.columns.nlevels > 1:
        if None in frame.columns.names:
            raise InputError(
                f"{source}: found columns of {frame.columns.nlevels} levels without names, expected one level"
            )
        frame = frame.stack(list(range(frame.columns.nlevels)), future_stack=True).rename(SCORE)
        return frame.reset_index()
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_distinct(frame.columns, source)
    index = frame.index
    if index.nlevels == 1 and index.name is None:
        if index.inferred_type in ("integer", "floating", "boolean"):
            return frame.reset_index(drop=True)
        return frame.reset_index(names="item" if "item" not in frame.columns else "index")
    if None in index.names:
        raise InputError(f"{source}: found an index with a level without a name, expected names for all")
    if set(map(str, index.names)) & set(frame.columns):
        raise InputError(
            f"{source}: found {listed(map(str, index.names))} in the index and as a column, expected it once"
        )
    return frame.reset_index()
