"""The columns of a table: CSV, TSV, JSON, JSON Lines, Parquet, data frames, and files with one score per line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, check_distinct, listed, named, quoted, reason
from pairsig.io.files import MAX_LINE, MAX_LINES, text_of
from pairsig.io.packages import installed
from pairsig.readers import SUFFIXES_OF_TABLES, plain_name
from pairsig.readers.output import Labels, to_number

if TYPE_CHECKING:
    import pyarrow as pa

SCORE = "score"
"""The name of scores without one."""
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "<NA>")
"""Cells without a value."""

_SHOWN = 100
"""Rows from which a refusal shows the type and the first values of each column."""
_LARGE = 2**21
"""Bytes from which a text is read by pyarrow, if it is installed."""
_LARGEST = 2**53
"""Numbers above it are not exact as floats."""

Column: TypeAlias = list[Any] | NDArray[Any] | Labels
"""Cells as they are; an array has numbers only."""


@dataclass
class Table:
    """The columns of a table by name, and the line (or row, or object) of each row in the file."""

    source: str
    columns: dict[str, Column]
    lines: NDArray[np.intp]
    place: str = "line"
    is_scores: bool = False
    index: str = ""
    """The column from the index of a data frame, if it identifies the rows."""

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

    def first(self, name: str) -> list[str]:
        """The first different labels in a column."""
        return list(filter(None, dict.fromkeys(labels(self.columns[name][:_SHOWN]))))

    def is_numeric(self, name: str) -> bool:
        """Whether the first cells are numbers."""
        first = self.first(name)
        return bool(first) and None not in map(number, first)

    def description(self) -> str:
        """The columns with their types and first values."""
        shown: list[str] = []
        for name in self.names[:30]:
            first = self.first(name)
            kind = "numbers" if self.is_numeric(name) else "text" if first else "empty"
            few = ", ".join(named(text) if len(text) <= 20 else quoted(f"{text[:17]}…") for text in first[:3])
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
    if isinstance(cell, dict | list):
        return json.dumps(cell, sort_keys=True, default=str)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def number(text: str, decimal: str = ".") -> float | None:
    """The number that a label is, NaN for "", None for other text; true and false are 1 and 0."""
    if (text := text.strip()) in MISSING:
        return math.nan
    if (word := text.lower()) in ("true", "false"):
        return float(word == "true")
    text = text.removesuffix("%").rstrip()
    if decimal != ".":
        text = text.replace(".", "_").replace(decimal, ".")
    digits = text.lstrip("+-")
    if "_" in text or not text.isascii() or digits[:1].lower() in ("n", ""):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if len(digits) < 16 or not digits.isdecimal() or int(digits) <= _LARGEST else None


def labels(column: Column) -> Labels:
    """The label of each cell."""
    if isinstance(column, np.ndarray):
        values, codes = np.unique(column, return_inverse=True)
        return Labels(codes, list(map(label, values.tolist())))
    if not isinstance(column, Labels):
        column = Labels.encoded(cell if isinstance(cell, str) else label(cell) for cell in column)
    return column.renamed(label)


def numbers(
    table: Table, name: str, missing: Sequence[str] = (), true: Sequence[str] = (), decimal: str = "."
) -> NDArray[np.float64]:
    """The numbers in a column, NaN where one is missing."""
    column = table.columns[name]
    if isinstance(column, np.ndarray) and not missing and not true:
        values = column.astype(np.float64)
    else:
        texts = labels(column)
        values = _numbers(table, name, texts, missing, true, decimal)[texts.codes]
    if (wrong := np.abs(values) > _LARGEST).any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{table.where(row)}: found {values[row]:g} in column {named(name)}, expected a finite number of at most "
            f"{_LARGEST:,}\n--missing-value names values that stand for a missing score"
        )
    return values


def _numbers(
    table: Table, name: str, texts: Labels, missing: Sequence[str], true: Sequence[str], decimal: str
) -> NDArray[np.float64]:
    """The number of each different label in a column."""
    excluded = {*missing, *(number(word) for word in missing)} - {None}
    values: list[float] = []
    for code, text in enumerate(texts.names):
        value = float(text in true) if true and text else number(text, decimal)
        if value is None and text not in missing:
            raise _no_number(f"{table.where(int(np.argmax(texts.codes == code)))}: found {quoted(text)}", name, text)
        values.append(math.nan if value is None or text in excluded or value in excluded else value)
    of_names = np.array(values)
    has_percent = {text.endswith("%") for text, value in zip(texts.names, values, strict=True) if value == value}
    if len(has_percent) > 1 and not true:
        raise InputError(f"{table.source}: found numbers with and without % in column {named(name)}, expected one kind")
    if true and not (of_names == 1).any():
        words = listed(filter(None, texts.names[:_SHOWN]))
        raise InputError(f"{table.source}: found no {listed(true)} in column {named(name)}, expected one of {words}")
    return of_names


def _no_number(problem: str, name: str, text: str) -> InputError:
    advice = "--true names words that count as 1, --missing-value those of missing scores"
    if text.count("/") == 1 and text.replace("/", "").replace(" ", "").isdecimal():
        advice = "write the points alone, such as 4 for 4/5, if all items have the same number of points"
    elif "," in text and text.replace(",", "").replace(".", "").lstrip("+-").rstrip("% ").isdecimal():
        advice = "--decimal , reads decimal commas; thousands have no separator"
    return InputError(f"{problem} in column {named(name)}, expected a number such as 0.5, true or false\n{advice}")


# Files.


def open_table(source: Any, sep: str | None = None, decimal: str | None = None, texts: Collection[str] = ()) -> Table:
    """The table in a file, or a data frame of any library that narwhals knows.

    `texts` are the columns, in lower case, of which a large file should not become numbers: 007 and 7 are two items.
    """
    if not isinstance(source, str | Path):
        return _of_frame(source)
    path, kind = str(source), suffix(source)
    is_text = kind not in SUFFIXES_OF_TABLES or kind in (".csv", ".tsv")
    if not is_text and (sep or decimal):
        option = "sep" if sep else "decimal"
        raise InputError(
            f"{path}: found --{option}, which does nothing here: it is for text with columns\nleave it out"
        )
    if kind == ".parquet":
        return _of_parquet(path)
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
    if len(text) > _LARGE and (table := _of_large(path, text, separator, texts)):
        return table
    return _of_text(path, text, separator)


def suffix(path: Any) -> str:
    """The suffix of a path, without that of a compression."""
    return Path(plain_name(path)).suffix.lower()


def _of_text(path: str, text: str, separator: str) -> Table:
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    before = 0
    try:
        for row in reader:
            line, before = before + 1, reader.line_num
            if row and not names:
                names = _checked_header(path, row, line, separator)
            elif row:
                rows.append(row)
                lines.append(line)
                if len(row) != len(names):
                    raise InputError(f"{path}, line {line}: found {len(row)} cells, expected {len(names)}")
                if before > line:
                    _check_quotes(path, row, separator, line, before)
    except csv.Error as error:
        raise InputError(
            f"{path}, lines {before + 1} to {reader.line_num}: a quotation mark opens a cell and is not closed as it "
            f'should be ({error})\nexpected cells in quotation marks, with "" for one inside, or none at all'
        ) from None
    columns = map(list, zip(*rows, strict=True)) if rows else ([] for _ in names)
    return Table(path, dict(zip(names, columns, strict=True)), np.array(lines, dtype=np.intp))


def _check_quotes(path: str, row: Sequence[str], separator: str, first: int, last: int) -> None:
    """Refuse a cell that has swallowed rows: each of its lines has as many separators as a row."""
    swallowed = all(line.count(separator) == len(row) - 1 for line in separator.join(row).splitlines())
    if swallowed or separator == "\t":
        raise InputError(
            f"{path}: a quotation mark opens a cell in line {first} and closes it in line {last}, expected a row in "
            'each line\nwrite "" for a quotation mark inside a quoted cell; JSON Lines can have cells of several lines'
        )


def _checked_header(path: str, cells: Sequence[str], line: int, separator: str) -> list[str]:
    """The names of the columns: no numbers, none repeated, and no row with another separator."""
    where, names = f"{path}, line {line}", [cell.strip() for cell in cells]
    if wrong := [name for name in names if to_number(name) is not None]:
        raise InputError(f"{where}: found {quoted(wrong[0])}, expected the names of the columns in the first line")
    if len(names) == 1 and (other := next((mark for mark in ";\t|," if mark != separator and mark in names[0]), "")):
        raise InputError(
            f"{where}: found one column called {quoted(names[0])}, expected several with {quoted(separator)} between "
            f"them\n--sep '{'tab' if other == chr(9) else other}' reads {quoted(other)} as the separator; with decimal "
            "commas, add --decimal ,"
        )
    check_distinct(filter(None, names), path)
    return names


def _of_large(path: str, text: str, separator: str, texts: Collection[str]) -> Table | None:
    """A table without quotation marks, read by pyarrow; None if it cannot, so that the standard library says why."""
    has_hexadecimal = any(x in text and f"0{x}" in text for x in "xX")  # which pyarrow takes for numbers
    if not installed("pyarrow") or '"' in text or "\r" in text or has_hexadecimal:
        return None
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = _checked_header(path, text.partition("\n")[0].split(separator), 1, separator)
    if len(names) == 1:  # in which a blank line would be a missing cell
        return None
    keys = [name or f"\0{place}" for place, name in enumerate(names)]
    as_text = dict.fromkeys((key for key in keys if key.lower() in texts), pa.dictionary(pa.int32(), pa.string()))
    try:
        whole = arrow.read_csv(
            pa.BufferReader(text.encode()),
            arrow.ReadOptions(column_names=keys, skip_rows=1),
            arrow.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            arrow.ConvertOptions(
                column_types=as_text, null_values=[*MISSING], strings_can_be_null=True, true_values=[],
                false_values=[], timestamp_parsers=["%"], auto_dict_encode=True, auto_dict_max_cardinality=MAX_LINES,
            ),
        )  # fmt: skip
    except pa.ArrowException:
        return None
    columns = _of_arrow(names, whole)
    for name, of_arrow in zip(names, whole.columns, strict=True):
        column = columns[name]
        if not name or not isinstance(column, np.ndarray) or column.dtype.kind != "f":
            continue
        if np.count_nonzero(np.isnan(column)) > of_arrow.null_count:  # -nan is no missing value
            return None
    return Table(path, columns, np.arange(2, len(whole) + 2))


def _of_arrow(names: Sequence[str], table: pa.Table) -> dict[str, Column]:
    """Columns of pyarrow: text as labels, numbers as arrays, and lists of all others."""
    import pyarrow as pa

    columns: dict[str, Column] = {}
    for name, column in zip(names, table.unify_dictionaries().columns, strict=True):
        chunks = [chunk for chunk in column.chunks if len(chunk)]
        if pa.types.is_dictionary(column.type) and chunks:
            of_names = chunks[0].dictionary.to_pylist()
            codes = _array([chunk.indices for chunk in chunks])
            if codes.dtype.kind == "f":
                codes = np.nan_to_num(codes, nan=len(of_names))
                of_names.append("")
            columns[name] = Labels(codes.astype(np.intp), of_names)
        elif chunks and (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            is_exact = pa.types.is_floating(column.type) or not column.null_count
            columns[name] = _array(chunks) if is_exact else column.to_pylist()
        else:
            columns[name] = column.to_pylist()
    return columns


def _array(chunks: Sequence[Any]) -> NDArray[Any]:
    """Numbers of pyarrow, as floats with NaN if any is missing. Its own conversion would import pandas."""
    return np.concatenate(
        [np.asarray(chunk.to_numpy(zero_copy_only=False)) if chunk.null_count else np.from_dlpack(chunk)
         for chunk in chunks]
    )  # fmt: skip


def _of_scores(path: str, text: str) -> Table:
    """A file with one score per line; a blank line is a missing score."""
    lines = text.split("\r" if "\r" in text and "\n" not in text else "\n")  # \r: of an old Macintosh
    lines = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    for row, line in enumerate(lines, start=1):
        if number(line) is None and number(line, decimal=",") is None:
            raise InputError(
                f"{path}, line {row}: found {quoted(line.strip())}, expected one number per line, or a table\n"
                "--sep names the separator of a table; texts need --reference and --metric, counts need --reader"
            )
    return Table(path, {SCORE: lines}, np.arange(1, len(lines) + 1), is_scores=True)


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
    rows = [_flat(record) for _, record in records]
    names = dict.fromkeys(chain.from_iterable(rows))
    columns: dict[str, Column] = {name: [row.get(name) for row in rows] for name in names}
    lines = np.array([place for place, _ in records], dtype=np.intp)
    return Table(path, columns, lines, "line" if is_lines else "object")


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of an object; the fields of an object within it are called OUTER.INNER."""
    cells: dict[str, Any] = {}
    for name, cell in record.items():
        cells |= {f"{name}.{key}": value for key, value in cell.items()} if isinstance(cell, dict) else {name: cell}
    return cells


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, in which a name occurs once."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return record


def _of_parquet(path: str) -> Table:
    from pairsig.io.tables import read_parquet

    table = read_parquet(Path(path), nested=True)
    return Table(path, _of_arrow(table.column_names, table), np.arange(1, len(table) + 1), "row")


def _of_frame(frame: Any) -> Table:
    import narwhals.stable.v2 as nw

    source = "the data frame"
    frame, index = _with_index(frame, source) if hasattr(frame, "reset_index") else (frame, "")
    try:
        whole = nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise InputError(f"found a {kind}, expected a path or a data frame (pandas, polars, pyarrow)") from None
    columns: dict[str, Column] = {}
    for name in whole.columns:
        has_numbers = whole.schema[name].is_float() or (
            whole.schema[name].is_integer() and not whole[name].null_count()
        )
        columns[str(name)] = np.asarray(whole[name].to_numpy()) if has_numbers else whole[name].to_list()
    return Table(source, columns, np.arange(1, len(whole) + 1), "row", index=index)


def _with_index(frame: Any, source: str) -> tuple[Any, str]:
    """A frame of pandas with its index as a column, and the name of this column if it identifies the rows."""
    if max(frame.columns.nlevels, frame.index.nlevels) > 1:
        raise InputError(
            f"{source}: found columns or an index of several levels, expected one\nreset_index() makes columns"
        )
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_distinct(frame.columns, source)
    name = "index" if frame.index.name is None else str(frame.index.name)
    is_number = frame.index.name is None and (not frame.index.is_unique or name in frame.columns)
    if is_number or is_range(frame.index):
        return frame.reset_index(drop=True), ""
    if name in frame.columns:
        raise InputError(f"{source}: found {named(name)} as the index and as a column, expected it once")
    return frame.reset_index(names=name), name if frame.index.is_unique else ""


def is_range(index: Any) -> bool:
    """Whether an index of pandas only numbers the rows."""
    return type(index).__name__ == "RangeIndex" and index.name is None
