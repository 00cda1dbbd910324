"""The cells of a table, column by column: from CSV, JSON, Parquet and Excel files, and from data frames."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, Question, check_distinct, encodable, listed, named, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_JSON, MAX_LINE, MAX_LINES, checked_text, content
from pairsig.io.packages import need, pd
from pairsig.io.tables import decoded_bytes, open_parquet

FRAME = "the data frame"
"""Its name in messages."""

MISSING = ("", "NA", "NaN", "nan", "null", "None")
"""Cells without a value in columns of scores. In other columns, all but the first are labels."""

SCORE = "score"
"""Name of scores that come without a name."""

UNNAMED = "Unnamed: 0"
"""The name that pandas gives to a first column without a name."""

_NUMBER = re.compile(
    r"[-+]?(?:(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[-+]?\d{1,4})?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
NEARLY = re.compile(
    r"[-+<>~≈≤≥$€£(]*\s*\d[\d.,'’\s]*\s*(?:(?:[/%‰]|[^\W\d_]{0,3}\b)[\d.,\s%)]*|(?:±|\+/?-|\(|\[).*)"
    r"|(?=[\[{]).*?[\[:,\s]-?\d.*",
    re.DOTALL,
)
"""A number with a unit, percent sign, groups of digits, decimal comma, interval or second number; nested numbers."""

_PADDED = re.compile(rb'\n[ "]*(?:\+|-?0\d|-0)')
"""The beginning of a line with a number that is not written as Python writes it."""

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_NO_SEPARATOR = "\x1f"
_COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
_CELL = 32
"""Bytes of memory for a cell of a Parquet file."""
_MOST_COLUMNS = 10_000
_SMALL = 2**15
_FIRST = 100
"""Rows in which another separator is looked for."""

_STARTS = {
    b"PAR1": "Parquet", b"ARROW1": "Arrow", b"PK\3\4": "Excel or zip", b"\xd0\xcf\x11\xe0": "old Excel",
    b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"(\xb5/\xfd": "Zstandard", b"SQLite format": "SQLite",
    b"\x93NUMPY": "NumPy", b"\x89HDF": "HDF5", b"%PDF": "PDF",
}  # fmt: skip
"""What files contain that begin with these bytes."""

_EXPRESSIONS = {
    ".html": "pd.read_html({path})[0]", ".htm": "pd.read_html({path})[0]", ".xml": "pd.read_xml({path})",
    ".xls": "pd.read_excel({path})", ".ods": "pd.read_excel({path})", ".xlsb": "pd.read_excel({path})",
    ".feather": "pd.read_feather({path})", ".arrow": "pd.read_feather({path})", ".orc": "pd.read_orc({path})",
    ".dta": "pd.read_stata({path})", ".sav": "pd.read_spss({path})", ".sas7bdat": "pd.read_sas({path})",
    ".pkl": "pd.read_pickle({path})", ".h5": "pd.read_hdf({path})",
    ".md": r'pd.read_csv({path}, sep=r"\s*\|\s*", engine="python").iloc[1:, 1:-1]',
    ".tex": r'pd.read_csv({path}, sep=r"\s*(?:&|\\\\)\s*", engine="python", skiprows=1, skipfooter=1)',
}  # fmt: skip
"""How pandas reads the files that `load` does not read, by suffix."""
_OF_TABLES = {
    ".json": "pd.read_json({path})", ".jsonl": "pd.read_json({path}, lines=True)", ".xlsx": "pd.read_excel({path})",
    ".ndjson": "pd.read_json({path}, lines=True)", ".parquet": "pd.read_parquet({path})",
    ".tsv": r'pd.read_csv({path}, sep="\t")',
}  # fmt: skip
"""How pandas reads those that it does read, other than `.csv`."""


def in_pandas(path: str) -> str:
    """The expression with which pandas reads a table that `load` reads."""
    return _OF_TABLES.get(_suffix(path), "pd.read_csv({path})")


def _conversion(path: str, expression: str, *lines: str) -> str:
    """Lines of pandas that read a file, and write a table beside it."""
    target = json.dumps(str(Path(path).with_name(f"{Path(path).stem}-table.csv")), ensure_ascii=False)
    frame = f"frame = {expression.replace('{path}', json.dumps(path, ensure_ascii=False))}"
    *others, last = lines or ("frame",)
    return "\n    ".join([":", "import pandas as pd", frame, *others, f"{last}.to_csv({target}, index=False)"])


def unknown(path: str, actual: str, expression: str = "") -> Question:
    """The error for a file that is not read, with three lines of pandas that convert it."""
    expression = expression or _EXPRESSIONS.get(_suffix(path), r'pd.read_csv({path}, sep=r"\s+")')
    return Question(
        f"{path}: found {actual}, expected a table with one row per item (.csv, .tsv, .json, .jsonl, .parquet, .xlsx; "
        "--sep names another separator), one score per line, a log or counts (--reader), or outputs with --reference "
        f"FILE; pandas converts other tables{_conversion(path, expression)}"
    )


def nested(path: str, actual: str) -> Question:
    """The error for objects in objects."""
    lines = "" if _suffix(path) == ".json" else ", lines=True"
    return unknown(path, actual, f'pd.json_normalize(pd.read_json({{path}}{lines}).to_dict("records"))')


def renamed(path: str, names: Mapping[str, str]) -> str:
    """The end of a question about columns of counts with other names, with the lines of pandas that rename them."""
    pairs = [f"{named(column)} for {name}" for column, name in names.items()]
    expression = f"{in_pandas(path)}.rename(columns={json.dumps(names, ensure_ascii=False)})"
    return f"; if it has {listed(pairs)}, pandas renames{_conversion(path, expression)}"


def converted_winners(path: str, winner: str, first: str, systems: Sequence[str]) -> str:
    """The end of a question about winners of pairs, with the lines of pandas that write one row per system.

    The column `winner` has the value `first` where the system in the first of two columns has won.
    """
    name_1, name_2 = (json.dumps(name, ensure_ascii=False) for name in systems)
    lines = (
        f"won = frame.pop({json.dumps(winner, ensure_ascii=False)}) == {first}",
        f"rows = [frame.assign(system=frame[{name_1}], won=won), frame.assign(system=frame[{name_2}], won=~won)]",
        "pd.concat(rows)",
    )
    return (
        f"; if {named(winner)} says which of two systems won, and {first} means {named(systems[0])}, pandas writes one "
        f"row per system{_conversion(path, in_pandas(path), *lines)}"
    )


class Column:
    """The cells of a column, as numbers and as labels."""

    def __init__(self, cells: pd.Series[Any]) -> None:
        self.cells = cells

    @cached_property
    def distinct(self) -> tuple[NDArray[np.intp], list[Any]]:
        """A code for each cell, −1 where it is missing, and the distinct cells by code."""
        try:
            codes, cells = pd.factorize(self.cells)
        except TypeError:  # lists
            codes, cells = pd.factorize(self.cells.map(str, na_action="ignore"))
        return codes, cells.tolist()

    @cached_property
    def labels(self) -> tuple[NDArray[np.intp], list[str]]:
        """A code for each cell, −1 where it is missing or blank, and the distinct labels by code."""
        codes, cells = self.distinct
        kind = self.cells.dtype
        if kind == np.int64:
            return codes, list(map(str, cells))
        if kind != "str":
            cells = [as_label(cell) for cell in cells]
        if all(map(str.strip, cells)) and (kind == "str" or len(set(cells)) == len(cells)):
            return codes, cells
        known: dict[str, int] = {}
        again = [known.setdefault(cell, len(known)) if cell.strip() else -1 for cell in cells]
        return np.array([*again, -1])[codes], list(known)

    @cached_property
    def texts(self) -> NDArray[np.object_]:
        """The label of each cell, "" where it is missing."""
        codes, labels = self.labels
        return np.array([*labels, ""], dtype=object)[codes]

    @cached_property
    def numbers(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The number in each cell, NaN where there is none, and where a cell has something else than a number."""
        kind = self.cells.dtype
        if isinstance(kind, np.dtype) and kind.kind in "biuf":
            values = self.cells.to_numpy()
            return values.astype(np.int64) if kind.kind == "b" else values, np.broadcast_to(np.False_, len(values))
        codes, cells = self.distinct
        known = [as_number(cell) for cell in cells]
        if all(str(cell).endswith("%") for cell, value in zip(cells, known, strict=True) if value == value):
            known = [as_number(cell.removesuffix("%") if isinstance(cell, str) else cell) for cell in cells]
        values = np.array([math.nan if value is None else value for value in known] + [math.nan])
        return values[codes], np.array([value is None for value in known] + [False])[codes]

    @cached_property
    def kind(self) -> str:
        """What the cells are: "numbers", "text", "mixed" if at least half resemble numbers, or "empty"."""
        values, others = self.numbers
        n_numbers, n_others = np.count_nonzero(~np.isnan(values)), np.count_nonzero(others)
        if not n_others:
            return "numbers" if n_numbers else "empty"
        codes, cells = self.distinct
        nearly = np.array([NEARLY.fullmatch(str(cell).strip()) is not None for cell in cells])
        n_nearly = np.count_nonzero(nearly[codes[others]])
        return "mixed" if 2 * (n_numbers + n_nearly) >= n_numbers + n_others else "text"

    def among(self, words: Collection[str]) -> NDArray[np.bool_]:
        """Where a cell is one of the words, or the number that one of them is."""
        codes, cells = self.distinct
        values = {number for word in words if (number := as_number(word)) is not None}
        is_one = [as_label(cell).strip() in words or as_number(cell) in values for cell in cells]
        return np.array([*is_one, False])[codes]

    def first(self, n: int) -> list[str]:
        """The first distinct cells, as labels."""
        return [as_label(cell) for cell in self.distinct[1][:n]]


def as_label(cell: Any) -> str:
    """A cell as a label; whole numbers have no point, since missing cells turn integers into floats."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def as_number(cell: Any) -> float | None:
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
    notes
        Sentences for the user.
    """

    source: str
    columns: Mapping[str, Column]
    lines: Sequence[int]
    place: str = "line"
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """The file and line of a row."""
        return f"{self.source}, {self.place} {self.lines[row]}"


Labels = Callable[[Sequence[str]], Collection[str]]
"""A function from the names of the columns to those whose cells are labels, even if they look like numbers."""


def load(source: Any, labels: Labels = lambda _: (), *, sep: str | None = None, sheet: str | None = None) -> Cells:
    """The cells of a file, whose path is a text or a `Path`, or of a data frame.

    Parameters
    ----------
    source
        The path of a file, or a data frame.
    labels
        A function from the names of the columns to those whose cells are labels, even if they look like numbers.
    sep
        The separator of a text file. Default: a tab in `.tsv`, a comma in `.csv`.
    sheet
        The sheet of an Excel workbook. Default: the first one.

    Raises
    ------
    InputError
        If the file is damaged or has an unknown format.
    """
    if not isinstance(source, str | PathLike):
        return _of_frame(_pandas(source), FRAME)
    path = fspath(source)
    suffix = _suffix(path)
    if suffix in _EXPRESSIONS and sep is None:
        raise unknown(path, f"a file that ends in {suffix}")
    data = content(path)
    if not data.strip():
        raise InputError(f"{path}: found an empty file, expected a table")
    if suffix == ".parquet":
        return _of_frame(_parquet(path, data), path)
    if suffix == ".xlsx":
        return _of_frame(_workbook(path, data, sheet), path, "row", 2)
    if form := next((kind for start, kind in _STARTS.items() if data.startswith(start)), ""):
        raise InputError(f"{path}: found the beginning of a file in {form} format, expected text; correct its suffix")
    text, notes = _text(path, data)
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _of_json(path, text, lines=suffix != ".json")
    if form := {b"{": "JSON", b"[": "JSON", b"<": "HTML or XML"}.get(text.lstrip()[:1], ""):
        raise InputError(f"{path}: found the beginning of a file in {form} format, expected text; correct its suffix")
    return _of_text(path, text, _separator(path, sep, suffix), labels, notes)


def _suffix(path: str) -> str:
    """The suffix in small letters, without that of a compressed file."""
    name = Path(path)
    return Path(name.stem if name.suffix in _COMPRESSED else name.name).suffix.lower()


def _columns(source: str, names: Sequence[str], cells: Sequence[pd.Series[Any]]) -> dict[str, Column]:
    """The columns by name, without those that have neither a name nor cells."""
    columns = {}
    for place, (name, column) in enumerate(zip(names, map(Column, cells), strict=True)):
        if name or place == 0:
            columns[name or UNNAMED] = column
        elif column.kind != "empty":
            raise InputError(
                f"{source}: found no name of column {place + 1}, expected one; its cells begin with "
                f"{listed(column.first(2))}"
            )
    return columns


def _check_names(source: str, names: Sequence[str]) -> None:
    """Refuse repeated names, and items as columns."""
    if len(names) > _MOST_COLUMNS:
        expression = 'pd.read_csv({path}, index_col=0).T.rename_axis("item").reset_index()'
        raise unknown(source, f"{len(names):,} columns", expression)
    check_distinct(filter(None, names), source)


# Text.


def _text(path: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A text in UTF-8, and a note if it was not."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return checked_text(path, data.decode("utf-16").encode())[0], ()
        except UnicodeError:
            raise InputError(f"{path}: found damaged UTF-16, expected text in UTF-8 or UTF-16") from None
    text, encoding = checked_text(path, data, windows=True)
    if encoding == "utf-8":
        return text, ()
    return text.decode(encoding).encode(), (f"{path}: read as Windows-1252, since it is not UTF-8",)


def _separator(path: str, sep: str | None, suffix: str) -> str:
    """The character between two cells; "" in files with one score per line."""
    if sep is None:
        return _SEPARATORS.get(suffix, "")
    separator = "\t" if sep in ("tab", r"\t") else sep
    if len(separator) != 1 or separator in '"\r\n' or separator.isalnum():
        raise InputError(f"{path}: found --sep {quoted(sep)}, expected one character such as ; or |, or tab")
    return separator


def _rows(path: str, data: bytes, separator: str) -> Iterator[tuple[int, int, list[str]]]:
    """The first and the last line of every row, and its cells."""
    limit = csv.field_size_limit(MAX_LINE)  # the default, 131,072, is too short for some answers of models
    try:
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        reader, line = csv.reader(text, delimiter=separator or _NO_SEPARATOR, skipinitialspace=True), 0
        for cells in reader:
            yield line + 1, reader.line_num, cells
            line = reader.line_num
    except csv.Error as error:
        raise InputError(f"{path}, line {line + 1}: {error}, expected cells of a table") from None
    finally:
        csv.field_size_limit(limit)


def _of_text(path: str, data: bytes, separator: str, labels: Labels, notes: tuple[str, ...]) -> Cells:
    """The cells of a text with a line of names, or of one with a number in each line."""
    header, names = next(((end, cells) for _, end, cells in _rows(path, data, separator) if any(cells)), (0, []))
    if not names:
        raise InputError(f"{path}: found only empty cells, expected the names of columns and one row per item")
    names = [name.strip() for name in names]
    first = names[0]
    if len(names) == 1 and (_NUMBER.fullmatch(first) or (not separator and as_number(first) is not None)):
        names, header = [SCORE], 0
    elif not separator:
        raise unknown(path, f"{quoted(first)} in line {header}")
    _check_names(path, names)
    if len(names) == 1 and header:
        others = [(sep, "tab" if sep == "\t" else sep) for sep in ";\t|," if sep in first and sep != separator]
        answers = [{"sep": sep} for candidate, sep in others if _same_widths(path, data, candidate)]
        if answers:
            raise Question(f"{path}: found one column, {quoted(first)}, expected several; name the separator", answers)
    texts = labels(names)
    if header and not texts and (number := next(filter(_NUMBER.fullmatch, names), "")):
        raise InputError(f"{path}, line {header}: found {quoted(number)}, expected the names of the columns")
    frame = _frame(path, data, separator, names, header, texts)
    gaps = np.flatnonzero(_is_empty(frame.iloc[:, -1]))
    blank = gaps[frame.iloc[gaps].apply(_is_empty).to_numpy(dtype=bool).all(axis=1)]
    while len(blank) and blank[-1] == len(frame) - 1:
        frame, blank = frame.iloc[:-1], blank[:-1]
    if not len(frame):
        raise InputError(f"{path}: found no rows below the names of the columns, expected one per item")
    n_lines = data.rstrip(b"\r\n").count(b"\n") + 1
    whole = data.count(separator.encode() or b"\n") == (len(names) - 1) * n_lines
    if len(gaps) and not (whole and b'"' not in data):
        _check_widths(path, data, separator, len(names))
    lines: Sequence[int] = range(header + 1, header + 1 + len(frame))
    if lines[-1] != n_lines:  # blank lines at the end, or line ends in quotation marks
        lines = [start for start, end, _ in _rows(path, data, separator) if end > header][: len(frame)]
    if len(blank):
        raise InputError(f"{path}, line {lines[blank[0]]}: found a blank line, expected a row of the table; delete it")
    columns = [frame[place] if name in texts else _small(frame[place]) for place, name in enumerate(names)]
    del frame, data
    cells = Cells(path, _columns(path, names, columns), lines, notes=notes)
    if not header and (wrong := cells.columns[SCORE].numbers[1]).any():
        row = int(np.argmax(wrong))
        raise InputError(f"{cells.where(row)}: found {quoted(columns[0].iloc[row])}, expected one number per line")
    return cells


def _small(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Small whole numbers in half of the memory; their products fit, too."""
    if cells.dtype != np.int64 or cells.min() <= -_SMALL or cells.max() >= _SMALL:
        return cells
    return cells.astype(np.int32)


def _same_widths(path: str, data: bytes, separator: str) -> bool:
    """Whether the first rows have equally many cells with this separator."""
    return len({len(cells) for _, _, cells in islice(_rows(path, data, separator), _FIRST)}) == 1


def _is_empty(cells: pd.Series[Any]) -> pd.Series[bool]:
    return cells.isna() | (cells == "") if cells.dtype in ("str", object) else cells.isna()


def _frame(
    path: str, data: bytes, separator: str, names: Sequence[str], header: int, texts: Collection[str]
) -> pd.DataFrame:
    """What pandas reads below the names of the columns."""
    places = {place for place, name in enumerate(names) if name in texts}
    exact = {} if int(pd.__version__.partition(".")[0]) > 2 else {"float_precision": "round_trip"}

    def parsed(labels: Collection[int]) -> pd.DataFrame:
        return pd.read_csv(
            io.BytesIO(data),
            sep=separator or _NO_SEPARATOR,
            header=None,
            names=range(len(names)),
            skiprows=header,
            index_col=False,
            dtype=dict.fromkeys(labels, "str"),
            keep_default_na=False,
            na_values={place: list(MISSING) for place in range(len(names)) if place not in places},
            skip_blank_lines=False,
            skipinitialspace=True,
            encoding="utf-8",
            **exact,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # about cells that would be left out
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        try:
            frame = parsed(places - {0})
            # Whole numbers are read twice as fast as texts, and their labels are the same without zeros before them.
            plain = frame[0].dtype == np.int64 and data.count(b"\n") >= len(frame) and not _PADDED.search(data)
            return frame if 0 not in places or frame[0].dtype == "str" or plain else parsed(places)
        except (ValueError, pd.errors.ParserWarning) as error:
            _check_widths(path, data, separator, len(names))
            raise InputError(f"{path}: cannot be read as a table ({reason(error)})") from None


def _check_widths(path: str, data: bytes, separator: str, width: int) -> None:
    """Refuse the first row with another number of cells than there are columns."""
    for line, _, cells in _rows(path, data, separator):
        if cells and len(cells) != width:
            raise InputError(
                f"{path}, line {line}: found {len(cells)} cells, expected {width}, one for each name of a column"
            )


# JSON, Parquet, Excel and data frames.


def _of_json(path: str, data: bytes, *, lines: bool) -> Cells:
    """The cells of a list of objects, or of lines with an object each."""
    if len(data) > MAX_JSON:
        raise InputError(f"{path}: found {len(data):,} bytes of JSON, expected at most {MAX_JSON:,}")
    text = data.decode()
    places, records = [], []
    if lines:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                places.append(number)
                records.append(_json(f"{path}, line {number}", line))
    else:
        document = _json(path, text)
        if not isinstance(document, list):
            inner = document if isinstance(document, dict) else {}
            key = next((f"[{json.dumps(key)}]" for key, value in inner.items() if isinstance(value, list)), "")
            raise unknown(path, "no list of objects", f"pd.json_normalize(pd.read_json({{path}}, typ='series'){key})")
        records, places = document, list(range(1, len(document) + 1))
    place = "line" if lines else "object"
    for number, record in zip(places, records, strict=True):
        if not isinstance(record, dict):
            raise InputError(f"{path}, {place} {number}: found {quoted(str(record))}, expected an object with names")
    names = list(dict.fromkeys(chain.from_iterable(records)))
    _check_names(path, names)
    if not names:
        raise InputError(f"{path}: found no objects with names, expected one per item")
    cells = [pd.Series([_encodable(record.get(name)) for record in records], dtype=object) for name in names]
    return Cells(path, _columns(path, names, [column.infer_objects() for column in cells]), places, place)


def _encodable(cell: Any) -> Any:
    """A cell of JSON, which may be a text with half of a surrogate pair."""
    return encodable(cell) if isinstance(cell, str) else cell


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: found invalid JSON ({reason(error)}), expected an object or a list") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without repeated names, of which Python would keep the last; what is nested becomes a text."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"the name {quoted(name)} {times} times")
    return dict(pairs)


def _parquet(path: str, data: bytes) -> pd.DataFrame:
    need("pyarrow")
    import pyarrow as pa

    try:
        file = open_parquet(pa.BufferReader(data))
        if file.metadata.num_rows <= MAX_LINES and decoded_bytes(file, _CELL) <= MAX_BYTES:
            return file.read().to_pandas()
    except (OSError, ValueError, TypeError, OverflowError, AttributeError, LookupError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    raise InputError(
        f"{path}: found {file.metadata.num_rows:,} rows with {file.metadata.num_columns:,} columns, expected at most "
        f"{MAX_LINES:,} rows and {MAX_BYTES:,} bytes of memory"
    )


def _workbook(path: str, data: bytes, sheet: str | None) -> pd.DataFrame:
    """A sheet, whose first row has the names of the columns."""
    need("openpyxl")
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise InputError(f"{path}: found a workbook of more than {MAX_BYTES:,} bytes, expected a smaller one")
        with warnings.catch_warnings(action="ignore"):  # about charts and validation
            book = pd.ExcelFile(io.BytesIO(data), engine="openpyxl")
            wanted = book.sheet_names[0] if sheet is None else sheet
            if wanted in book.sheet_names:
                cells = book.parse(wanted, header=None, dtype=object, na_filter=False)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever the damage causes
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected an Excel workbook") from None
    if wanted not in book.sheet_names:
        raise InputError(f"{path}: found no sheet {quoted(wanted)}, expected one of {listed(book.sheet_names)}")
    cells = cells.mask(cells == "")
    if len(cells) < 2:
        raise InputError(
            f"{path}: found no rows in sheet {named(wanted)}, expected the names of the columns and one row per item"
        )
    names = ["" if cell != cell else str(cell).strip() for cell in cells.iloc[0]]
    return cells.iloc[1:].infer_objects().set_axis(names, axis=1).reset_index(drop=True)


def _pandas(data: Any) -> pd.DataFrame:
    """A data frame of any library that narwhals knows, as one of pandas."""
    if isinstance(data, pd.DataFrame):
        return data
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        collect = "; .collect() makes one of a lazy frame" if "Lazy" in kind else ""
        raise InputError(
            f"found a {kind}, expected the path of a table or a data frame (pandas, polars, pyarrow){collect}"
        ) from None
    columns = {
        name: pd.Series(frame[name].to_numpy() if frame[name].dtype.is_numeric() else frame[name].to_list())
        for name in frame.columns
    }
    return pd.DataFrame(columns)


def _of_frame(frame: pd.DataFrame, source: str, place: str = "row", first: int = 1) -> Cells:
    """The cells of a data frame; levels of its columns and of its index are columns."""
    if isinstance(frame.columns, pd.MultiIndex):
        if None in frame.columns.names:
            raise InputError(
                f"{source}: found columns of {frame.columns.nlevels} levels without names, expected names such as "
                "model and seed, or one level"
            )
        scores: Any = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
        frame = scores.rename(SCORE).to_frame()
    index = frame.index
    levels = [] if isinstance(index, pd.RangeIndex) and index.name is None else list(range(index.nlevels))
    if len(levels) > 1 and None in index.names:
        raise InputError(
            f"{source}: found an index with a level without a name, expected names such as item and system"
        )
    names = ["" if index.names[level] is None else str(index.names[level]) for level in levels]
    names += [str(name).strip() for name in frame.columns]
    if not len(frame) or not names:
        raise InputError(f"{source}: found no rows, expected one per item")
    _check_names(source, names)
    cells = [index.get_level_values(level).to_series(index=range(len(frame))) for level in levels]
    cells += [frame.iloc[:, number] for number in range(frame.shape[1])]
    return Cells(source, _columns(source, names, cells), range(first, first + len(frame)), place)
