"""The cells of a table, column by column: from CSV, JSON, Parquet and Excel files, and from data frames."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, check_distinct, reason
from pairsig.io.files import MAX_LINE, content, open_text
from pairsig.io.packages import need, pd

FRAME = "the data frame"
"""Its name in messages."""

MISSING = ("", "NA", "NaN", "nan", "null", "None")
"""Cells without a value in columns of scores. In other columns, all but the first are labels."""

SCORE = "score"
"""Name of the column in a file with one score per line."""

_NUMBER = re.compile(
    r"[-+]?(?:(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[-+]?\d{1,4})?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
_NEARLY = re.compile(r"[-+<>~≈≤≥$€£(]*\s*\d[\d.,'’\s]*\s*(?:[/%‰]|[^\W\d_]{0,3}\b)[\d.,\s%)]*")
"""A number with a unit, a percent sign, groups of digits, a decimal comma or a second number."""
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
_CELL = 32
"""Bytes of memory for a cell of a Parquet file."""
_MOST_COLUMNS = 50_000


class Column:
    """The cells of a column, as numbers and as labels."""

    def __init__(self, cells: pd.Series[Any]) -> None:
        self.cells = cells

    @cached_property
    def distinct(self) -> tuple[NDArray[np.intp], list[Any]]:
        """A code for each cell, −1 where it is missing, and the distinct cells by code."""
        codes, cells = pd.factorize(self.cells)
        return codes, cells.tolist()

    @cached_property
    def labels(self) -> tuple[NDArray[np.intp], list[str]]:
        """A code for each cell, −1 where it is missing or blank, and the distinct labels by code."""
        codes, cells = self.distinct
        if self.cells.dtype != "str":
            cells = [_label(cell) for cell in cells]
        if len(set(cells)) == len(cells) and all(map(str.strip, cells)):
            return codes, cells
        known: dict[str, int] = {}
        again = np.array([known.setdefault(cell, len(known)) if cell.strip() else -1 for cell in cells] + [-1])
        return again[codes], list(known)

    @cached_property
    def numbers(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The number in each cell, NaN where there is none, and where a cell has something else than a number."""
        kind = self.cells.dtype
        if isinstance(kind, np.dtype) and kind.kind in "biuf":
            values = self.cells.to_numpy()
            return values.astype(np.int64) if kind.kind == "b" else values, np.zeros(len(values), dtype=bool)
        codes, cells = self.distinct
        found = [_number(cell) for cell in cells]
        if all(str(cell).endswith("%") for cell, value in zip(cells, found, strict=True) if value == value):
            found = [_number(cell.removesuffix("%") if isinstance(cell, str) else cell) for cell in cells]
        values = np.array([math.nan if value is None else value for value in found] + [math.nan])
        return values[codes], np.array([value is None for value in found] + [False])[codes]

    @cached_property
    def kind(self) -> str:
        """What the cells are: "numbers", "text", "mixed" if at least half resemble numbers, "empty"."""
        values, others = self.numbers
        n_numbers, n_others = np.count_nonzero(~np.isnan(values)), np.count_nonzero(others)
        if not n_others:
            return "numbers" if n_numbers else "empty"
        codes, cells = self.distinct
        nearly = np.array([_NEARLY.fullmatch(str(cell)) is not None for cell in cells])
        n_numbers += np.count_nonzero(nearly[codes[others]])
        return "mixed" if 2 * n_numbers >= n_numbers + n_others else "text"


def _label(cell: Any) -> str:
    """A cell as a label; whole numbers have no point, since missing cells turn integers into floats."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _number(cell: Any) -> float | None:
    """The number in a cell; NaN if it is missing, None if it is something else or has more digits than a float."""
    if isinstance(cell, str):
        text = cell.strip()
        if text in MISSING:
            return math.nan
        if text.lower() in ("true", "false"):
            return float(text.lower() == "true")
        if not _NUMBER.fullmatch(text):
            return None
        cell = int(text) if text.lstrip("+-").isdecimal() else float(text)
    if type(cell) is np.timedelta64 or not isinstance(cell, numbers.Real | Decimal | np.bool_):
        return None
    try:
        value = float(cell)
    except (OverflowError, ValueError):
        return None
    return value if not isinstance(cell, numbers.Integral) or int(value) == int(cell) else None


@dataclass(frozen=True)
class Cells:
    """A table.

    Attributes
    ----------
    source
        The file, or `FRAME`.
    columns
        The columns by name.
    lines, place
        The line or row of each row in the file, and which of both it is.
    unnamed
        The column that stands first and has no name, or the index of a data frame; "" if there is none.
    notes
        Sentences for the user.
    """

    source: str
    columns: Mapping[str, Column]
    lines: Sequence[int]
    place: str = "line"
    unnamed: str = ""
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """The file and line of a row."""
        return f"{self.source}, {self.place} {self.lines[row]}"


Labels = Callable[[Sequence[str]], Collection[str]]
"""A function from the names of the columns to those whose cells are labels, even if they look like numbers."""


def load(source: Any, labels: Labels = lambda _: (), *, sep: str | None = None, sheet: str | None = None) -> Cells:
    """The cells of a file (its path as text or `Path`) or of a data frame.

    Parameters
    ----------
    source
        The path of a file, or a data frame.
    labels
        A function from the names of the columns to those whose cells are labels, even if they look like numbers.
    sep
        The separator of a text file. Default: a tab in `.tsv`, otherwise a comma.
    sheet
        The sheet of an Excel workbook. Default: the first one.

    Raises
    ------
    InputError
        If the file is damaged or has an unknown format.
    """
    if not isinstance(source, str | PathLike):
        return _of_frame(source, FRAME)
    path = fspath(source)
    suffix = Path(path).suffix.lower()
    if suffix in _COMPRESSED:
        suffix = Path(path.removesuffix(Path(path).suffix)).suffix.lower()
    data = content(path)
    if not data.strip():
        raise InputError(f"{path}: found an empty file, expected a table")
    if suffix == ".parquet":
        return _of_parquet(path, data)
    if suffix == ".xlsx":
        return _of_workbook(path, data, sheet)
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _of_json(path, suffix != ".json")
    return _of_text(path, sep or _SEPARATORS.get(suffix, ""), labels)


# Text.


def _of_text(path: str, separator: str, labels: Labels) -> Cells:
    """The cells of a text with a line of names, or of one with a number in each line if there is no separator."""
    text = open_text(path, windows=True)
    notes = (f"{path}: read as Windows-1252, since it is not UTF-8",) * (text.encoding == "cp1252")
    data = text.read().encode() if notes else text.buffer.getvalue()  # type: ignore[attr-defined]
    names, n_lines = _header(data, separator)
    known = labels(names)
    places = {name: place for place, name in enumerate(names)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        try:
            frame = pd.read_csv(
                io.BytesIO(data),
                sep=separator or "\x1f",
                header=None,
                names=range(len(names) + 1),  # the last one has the cells of a row with too many
                skiprows=n_lines,
                index_col=False,
                dtype={places[name]: "str" for name in known},
                keep_default_na=False,
                na_values={place: list(MISSING) for name, place in places.items() if name not in known},
                skip_blank_lines=False,
                skipinitialspace=True,
                encoding="utf-8",
            )
        except (ValueError, pd.errors.ParserWarning) as error:
            _check_widths(path, data, separator, len(names))
            raise InputError(f"{path}: cannot be read as a table ({reason(error)})") from None
    frame = _without_blank_rows(frame)
    if not len(frame):
        raise InputError(f"{path}: found no rows below the names of the columns, expected one per item")
    if frame.iloc[:, -2:].isna().to_numpy()[:, 0].any() or frame.iloc[:, -1].notna().any():
        _check_widths(path, data, separator, len(names))
    columns = {name: Column(frame[place]) for name, place in places.items()}
    return Cells(
        path, columns, range(n_lines + 1, n_lines + 1 + len(frame)), unnamed="" if names[0] else names[0], notes=notes
    )


def _header(data: bytes, separator: str) -> tuple[list[str], int]:
    """The names of the columns and the number of lines that they take; one name without lines for lines of numbers."""
    first = data.split(b"\n", 1)[0].decode().strip()
    if _NUMBER.fullmatch(first):
        return [SCORE], 0
    _, names = next(_rows(data, separator or ","))
    return [name.strip() for name in names], 1


def _rows(data: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The first line and the cells of every row."""
    limit = csv.field_size_limit(MAX_LINE)
    try:
        reader, line = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator), 1
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def _check_widths(path: str, data: bytes, separator: str, width: int) -> None:
    """Refuse the first row with another number of cells than the line of names."""
    for line, cells in _rows(data, separator or "\x1f"):
        if cells and len(cells) != width:
            raise InputError(f"{path}, line {line}: found {len(cells)} cells, expected {width} as in line 1")


def _without_blank_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


# JSON, Parquet, Excel.


def _of_json(path: str, lines: bool) -> Cells:
    records = []
    text = open_text(path).read()
    if lines:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                records.append((number, json.loads(line)))
    else:
        records = list(enumerate(json.loads(text), start=1))
    frame = pd.DataFrame([record for _, record in records], dtype=object)
    return Cells(
        path,
        {name: Column(frame[name].infer_objects()) for name in frame},
        [number for number, _ in records],
        "line" if lines else "item",
    )


def _of_parquet(path: str, data: bytes) -> Cells:
    need("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    return _of_frame(pq.read_table(pa.BufferReader(data)).to_pandas(), path)


def _of_workbook(path: str, data: bytes, sheet: str | None) -> Cells:
    need("openpyxl")
    frame = pd.read_excel(io.BytesIO(data), sheet_name=sheet or 0)
    return _of_frame(frame, path)


def _of_frame(data: Any, source: str) -> Cells:
    """The cells of a data frame of any library that narwhals knows."""
    import narwhals.stable.v2 as nw

    if not isinstance(data, pd.DataFrame):
        frame = nw.from_native(data, eager_only=True)
        data = pd.DataFrame(
            {
                name: frame[name].to_numpy() if frame[name].dtype.is_numeric() else frame[name].to_list()
                for name in frame.columns
            }
        )
    names = [str(name) for name in data.columns]
    check_distinct(names, source)
    columns = {name: Column(data.iloc[:, place]) for place, name in enumerate(names)}
    return Cells(source, columns, range(1, len(data) + 1), "row")
