"""The cells of a table: CSV, TSV, JSON, JSON Lines, Parquet, Excel, data frames, and files with one score per line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, islice
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, check_distinct, listed, named, quoted, reason
from pairsig.io.files import MAX_LINE, MAX_LINES, content, text_of
from pairsig.io.packages import installed, need
from pairsig.readers import SUFFIXES_OF_TABLES, plain_name

SCORE = "score"
"""The name of scores without one."""
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "<NA>")
"""Cells without a value."""

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
    index: Sequence[str] = ()
    """Columns from the index of a data frame, if it identifies the rows."""

    def __post_init__(self) -> None:
        if not len(self.lines):
            raise InputError(f"{self.source}: found no rows below the names of the columns, expected one per item")

    @property
    def names(self) -> list[str]:
        """The names of the columns that have one."""
        return [name for name in self.columns if name]

    def where(self, row: int) -> str:
        """The place of a row."""
        return f"{self.source}, {self.place} {self.lines[row]}"

    def first(self, name: str) -> list[Any]:
        """The first cells of a column."""
        cells = self.columns[name][:_SHOWN]
        return cells if isinstance(cells, list) else list(cells.to_pylist())

    def is_numeric(self, name: str) -> bool:
        """Whether the first cells are numbers."""
        values = [number(cell) for cell in self.first(name)]
        return None not in values and not all(map(math.isnan, values))  # type: ignore[arg-type]

    def description(self) -> str:
        """The columns with their types and first values."""
        shown: list[str] = []
        for name in self.names[:30]:
            first = dict.fromkeys(filter(None, map(label, self.first(name))))
            kind = "numbers" if self.is_numeric(name) else "text" if first else "empty"
            few = ", ".join(named(text) if len(text) <= 20 else quoted(f"{text[:17]}…") for text in islice(first, 3))
            shown.append(f"{named(name)} ({kind}{f': {few}' if few else ''}{', …' if len(first) > 3 else ''})")
        more = len(self.names) - len(shown)
        return f"columns: {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"


def label(cell: Any) -> str:
    """A cell as a label, "" if it is missing. Missing cells turn integers into floats: whole numbers have no point."""
    if isinstance(cell, str):
        text = cell.strip()
        return "" if text in MISSING else text
    if type(cell) is int:
        return str(cell)
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, dict | list):
        return json.dumps(cell, sort_keys=True, default=str)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def number(cell: Any, missing: Sequence[str] = (), decimal: str = ".") -> float | None:
    """The number in a cell; NaN if it is missing, None if it is something else."""
    if isinstance(cell, str):
        text = cell.strip()
        if text in MISSING or text in missing:
            return math.nan
        value = _number_in(text, decimal)
    elif isinstance(cell, int | np.integer):
        value = float(cell) if abs(int(cell)) <= 2**53 else None
    elif label(cell) == "":
        return math.nan
    else:  # durations and times of numpy are real, too
        is_number = isinstance(cell, float | np.floating | np.bool_ | Decimal) or (
            isinstance(cell, Real) and type(cell).__module__ != "numpy"
        )
        value = float(cell) if is_number else None
    if missing and value is not None and any(value == float(word) for word in missing if _is_number(word)):
        return math.nan
    return value


def _number_in(text: str, decimal: str) -> float | None:
    """The number that a text without blanks around it is; true and false are 1 and 0."""
    if (word := text.lower()) in ("true", "false"):
        return float(word == "true")
    text = text.removesuffix("%").rstrip()
    if decimal != ".":
        text = text.replace(".", "_").replace(decimal, ".")
    if "_" in text or not text.isascii() or text.lstrip("+-")[:1].lower() in ("n", "") or not _is_number(text):
        return None
    is_exact = not text.lstrip("+-").isdecimal() or len(text) < 16 or abs(int(text)) <= 2**53
    return float(text) if is_exact else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def coded(cells: Cells) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each cell's label, in the order of their first rows, and the labels; "" where one is missing."""
    if isinstance(cells, list):
        known: dict[str, int] = {}
        by_text: dict[str, int] = {}
        codes = np.empty(len(cells), dtype=np.intp)
        for row, cell in enumerate(cells):
            code = by_text.get(cell) if isinstance(cell, str) else None
            if code is None:
                code = known.setdefault(label(cell), len(known))
                if isinstance(cell, str):
                    by_text[cell] = code
            codes[row] = code
        return codes, list(known)
    import pyarrow as pa

    encoded = cells.combine_chunks()
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
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


def numbers(
    table: Table, name: str, missing: Sequence[str] = (), true: Sequence[str] = (), decimal: str = "."
) -> NDArray[np.float64]:
    """The numbers in a column, NaN where one is missing."""
    cells = table.columns[name]
    if not isinstance(cells, list):
        import pyarrow as pa

        if (pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type)) and not missing and not true:
            return _finite(table, name, cells.to_numpy().astype(np.float64))
        cells = cells.to_pylist()
    values = np.empty(len(cells))
    by_text: dict[str, float] = {}
    has_percent: set[bool] = set()
    for row, cell in enumerate(cells):
        value = by_text.get(cell) if isinstance(cell, str) else None
        if value is None:
            value = float(label(cell) in true) if true and label(cell) else number(cell, missing, decimal)
            if value is None:
                raise _no_number(table, name, row, cell)
            if isinstance(cell, str):
                by_text[cell] = value
            if not math.isnan(value):
                has_percent.add(isinstance(cell, str) and cell.rstrip().endswith("%"))
        values[row] = value
    if len(has_percent) > 1:
        raise InputError(f"{table.source}: found numbers with and without % in column {named(name)}, expected one kind")
    if true and not (values == 1).any():
        words = listed(dict.fromkeys(filter(None, map(label, table.first(name)))))
        raise InputError(f"{table.source}: found no {listed(true)} in column {named(name)}, expected one of {words}")
    return _finite(table, name, values)


def _no_number(table: Table, name: str, row: int, cell: Any) -> InputError:
    text = cell.strip() if isinstance(cell, str) else ""
    advice = "--true names words that count as 1, --missing-value those of missing scores"
    if text.count("/") == 1 and text.replace("/", "").replace(" ", "").isdecimal():
        advice = "write the points alone, such as 4 for 4/5, if all items have the same number of points"
    elif "," in text and text.replace(",", "").replace(".", "").lstrip("+-").isdecimal():
        advice = "--decimal , reads decimal commas; thousands have no separator"
    found = quoted(text) if isinstance(cell, str) else quoted(cell)
    expected = "expected a number such as 0.5, true or false"
    return InputError(f"{table.where(row)}: found {found} in column {named(name)}, {expected}\n{advice}")


def _finite(table: Table, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, none of which is infinite."""
    if (wrong := np.isinf(values)).any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.where(row)}: found {values[row]:g} in column {named(name)}, expected a finite number\n"
            "--missing-value names values that stand for a missing score"
        )
    return values


# Files.


def open_table(source: Any, sep: str | None = None, sheet: str | None = None) -> Table:
    """The table in a file, or a data frame of any library that narwhals knows."""
    if not isinstance(source, str | Path):
        return _of_frame(source)
    path, kind = str(source), suffix(source)
    is_text = kind not in SUFFIXES_OF_TABLES or kind in (".csv", ".tsv")
    for option, value, is_useful in (("--sheet", sheet, kind == ".xlsx"), ("--sep", sep, is_text)):
        if value is not None and not is_useful:
            why = "the file is no workbook" if option == "--sheet" else f"a {kind} file has no separators"
            raise InputError(f"{path}: found {option}, which does nothing here: {why}\nleave it out")
    if kind == ".parquet":
        return _of_parquet(path, content(path))
    if kind == ".xlsx":
        return _of_workbook(path, content(path), sheet)
    text = text_of(path)
    if not text.strip():
        raise InputError(f"{path}: found an empty file, expected a table")
    if not is_text:
        return _of_json(path, text, kind != ".json")
    separator = {"tab": "\t", r"\t": "\t"}.get(sep or "", sep) or {".csv": ",", ".tsv": "\t"}.get(kind, "")
    if len(separator) > 1:
        raise InputError(f"found --sep {quoted(separator)}, expected one character, or tab")
    if not separator or number(text.partition("\n")[0].partition("\r")[0]) is not None:
        return _of_scores(path, text)
    if len(text) > _LARGE and '"' not in text and "\r" not in text and (table := _of_large(path, text, separator)):
        return table
    return _of_text(path, text, separator)


def suffix(path: Any) -> str:
    """The suffix of a path, without that of a compression."""
    return Path(plain_name(path)).suffix.lower()


def _of_text(path: str, text: str, separator: str) -> Table:
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
            f"{path}, lines {before + 1} to {reader.line_num}: a quotation mark opens a cell and is not closed as it "
            f'should be ({error})\nexpected cells in quotation marks, with "" for one inside, or none at all'
        ) from None
    table = _of_rows(path, rows, lines, "line", separator)
    if reader.line_num > len(rows):
        about = f"{len(rows) - 1:,} rows in {reader.line_num:,} lines, since cells span lines or lines are blank"
        table.notes.append(f"{path}: {about}")
    return table


def _of_rows(path: str, rows: Sequence[Sequence[Any]], lines: Sequence[int], place: str, separator: str = "") -> Table:
    """A table from its rows, of which the first has the names of the columns."""
    names = [name.strip() if isinstance(name, str) else label(name) for name in (rows[0] if rows else ())]
    _check_header(path, names, lines[0] if rows else 1, separator)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            raise InputError(f"{path}, {place} {line}: found {len(row)} cells, expected {len(names)}")
    columns = map(list, zip(*rows[1:], strict=True)) if len(rows) > 1 else ([] for _ in names)
    return Table(path, dict(zip(names, columns, strict=True)), lines[1:], place)


def _check_quotes(path: str, row: Sequence[str], separator: str, first: int, last: int, width: int) -> None:
    """Refuse a cell that has swallowed rows: each of its lines has as many separators as a row."""
    swallowed = all(line.count(separator) == width - 1 for line in separator.join(row).splitlines())
    if swallowed or separator == "\t":
        raise InputError(
            f"{path}: a quotation mark opens a cell in line {first} and closes it in line {last}, expected a row in "
            'each line\nwrite "" for a quotation mark inside a quoted cell; JSON Lines can have cells of several lines'
        )


def _check_header(path: str, names: Sequence[str], line: int, separator: str) -> None:
    """Refuse names of columns that are numbers, repeated, or a row with another separator."""
    where = f"{path}, line {line}"
    if wrong := [name for name in names if name and _is_number(name) and not name.isalpha()]:
        raise InputError(f"{where}: found {quoted(wrong[0])}, expected the names of the columns in the first line")
    if len(names) == 1 and (other := next((mark for mark in ";\t|," if mark != separator and mark in names[0]), "")):
        raise InputError(
            f"{where}: found one column called {quoted(names[0])}, expected several with {quoted(separator)} between "
            f"them\n--sep '{'tab' if other == chr(9) else other}' reads {quoted(other)} as the separator; with decimal "
            "commas, add --decimal ,"
        )
    check_distinct(filter(None, names), path)


def _of_large(path: str, text: str, separator: str) -> Table | None:
    """A table without quotation marks, read by pyarrow; None if it cannot, so that the standard library says why."""
    if not installed("pyarrow") or text.count("\n") > MAX_LINES or "\n\n" in text:
        return None
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = [name.strip() for name in text.partition("\n")[0].split(separator)]
    _check_header(path, names, 1, separator)
    columns = [name or f"\0{place}" for place, name in enumerate(names)]
    try:
        whole = arrow.read_csv(
            pa.BufferReader(text.encode()),
            arrow.ReadOptions(column_names=columns, skip_rows=1),
            arrow.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            arrow.ConvertOptions(
                null_values=[*MISSING], strings_can_be_null=True, true_values=[], false_values=[],
                timestamp_parsers=["%"],
            ),
        )  # fmt: skip
    except pa.ArrowException:
        return None
    return Table(path, _of_arrow(dict(zip(names, whole.columns, strict=True))), range(2, len(whole) + 2))


def _of_arrow(columns: dict[str, Any]) -> dict[str, Cells]:
    """Columns of pyarrow: texts, small whole numbers and floats as they are, and lists of all others."""
    import pyarrow as pa

    cells: dict[str, Cells] = {}
    for name, column in columns.items():
        if pa.types.is_integer(column.type):
            try:
                cells[name] = column.cast(pa.int32())
            except pa.ArrowException:
                cells[name] = column.cast(pa.string())
        elif (
            pa.types.is_floating(column.type) or pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)
        ):
            cells[name] = column
        else:
            cells[name] = column.cast(pa.string()) if pa.types.is_temporal(column.type) else column.to_pylist()
    return cells


def _of_scores(path: str, text: str) -> Table:
    """A file with one score per line; a blank line is a missing score."""
    lines = text.split("\r" if "\r" in text and "\n" not in text else "\n")  # \r: of an old Macintosh
    lines = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    for row, line in enumerate(lines, start=1):
        is_infinite = line.strip().lower().lstrip("+-").startswith("inf")
        if number(line) is None and number(line, decimal=",") is None and not is_infinite:
            raise InputError(
                f"{path}, line {row}: found {quoted(line.strip())}, expected one number per line, or a table\n"
                "--sep names the separator of a table; texts need --reference and --metric, counts need --reader"
            )
    return Table(path, {SCORE: lines}, range(1, len(lines) + 1), is_scores=True)


def _of_json(path: str, text: str, is_lines: bool) -> Table:
    records: list[tuple[int, Any]] = []
    line = 0
    try:
        if is_lines:
            for line, row in enumerate(text.split("\n"), start=1):
                if row.strip():
                    records.append((line, json.loads(row, object_pairs_hook=_once)))
        else:
            document = json.loads(text, object_pairs_hook=_once)
            records = list(enumerate(document if isinstance(document, list) else [None], start=1))
    except (ValueError, RecursionError) as error:
        where = f"{path}, line {line}" if is_lines else path
        raise InputError(f"{where}: found invalid JSON ({reason(error)}), expected objects with a row each") from None
    if not all(isinstance(record, dict) for _, record in records):
        raise InputError(f"{path}: found JSON that is no list of objects, expected one object per item")
    columns: dict[str, Cells] = {}
    for name in dict.fromkeys(chain.from_iterable(record for _, record in records)):
        cells = [record.get(name) for _, record in records]
        inner = list(dict.fromkeys(chain.from_iterable(cell for cell in cells if isinstance(cell, dict))))
        if inner and len(inner) <= 50:  # an object within: its fields are columns called OUTER.INNER
            for key in inner:
                columns[f"{name}.{key}"] = [cell.get(key) if isinstance(cell, dict) else None for cell in cells]
        else:
            columns[name] = cells
    return Table(path, columns, [place for place, _ in records], "line" if is_lines else "object")


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
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    return Table(path, _of_arrow(dict(zip(table.column_names, table.columns, strict=True))),
                 range(1, len(table) + 1), "row")  # fmt: skip


def _of_workbook(path: str, data: bytes, sheet: str | None) -> Table:
    need("openpyxl")
    import openpyxl

    rows: list[tuple[Any, ...]] = []
    lines: list[int] = []
    n_cells = 0
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        if sheet is not None and sheet not in book.sheetnames:
            raise InputError(f"{path}: found no sheet {quoted(sheet)}, expected one of {listed(book.sheetnames)}")
        for line, row in enumerate((book[sheet] if sheet else book.worksheets[0]).iter_rows(values_only=True), start=1):
            if filled := max((place for place, cell in enumerate(row, start=1) if cell is not None), default=0):
                rows.append(row[: max(filled, len(rows[0]) if rows else 0)])
                lines.append(line)
            n_cells += len(row)
            if n_cells > _MOST_CELLS:
                raise InputError(
                    f"{path}: found more than {_MOST_CELLS:,} cells, expected fewer: the sheet has cells far from the "
                    "table\ndelete empty rows and columns, or write the sheet as CSV"
                )
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever the damage causes
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected an Excel workbook") from None
    width = len(rows[0]) if rows else 0
    return _of_rows(path, [(*row, *[None] * (width - len(row))) for row in rows], lines, "row")


def _of_frame(frame: Any) -> Table:
    import narwhals.stable.v2 as nw

    source = "the data frame"
    frame, index = _with_index(frame, source) if hasattr(frame, "reset_index") else (frame, ())
    try:
        whole = nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise InputError(f"found a {kind}, expected a path or a data frame (pandas, polars, pyarrow)") from None
    columns = {str(name): whole[name].to_list() for name in whole.columns}
    return Table(source, columns, range(1, len(whole) + 1), "row", index=index)


def _with_index(frame: Any, source: str) -> tuple[Any, list[str]]:
    """A frame of pandas with the levels of its index as columns, and their names if they identify the rows."""
    if frame.columns.nlevels > 1:
        raise InputError(f"{source}: found columns of {frame.columns.nlevels} levels, expected one level")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_distinct(frame.columns, source)
    names = ["index" if name is None else str(name) for name in frame.index.names]
    if names == ["index"] and (not frame.index.is_unique or is_range(frame.index) or "index" in frame.columns):
        return frame.reset_index(drop=True), []
    if None in frame.index.names and len(names) > 1:
        raise InputError(f"{source}: found an index with a level without a name, expected names for all")
    if both := set(names) & set(frame.columns):
        raise InputError(f"{source}: found {listed(sorted(both))} in the index and as a column, expected it once")
    return frame.reset_index(names=names), names if frame.index.is_unique else []


def is_range(index: Any) -> bool:
    """Whether an index of pandas only numbers the rows."""
    return type(index).__name__ == "RangeIndex" and index.name is None
