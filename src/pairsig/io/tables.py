"""Read and write tables without losing a digit."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.io import cpu_time
from pairsig.io.columns import TABLES, Column, Table, kinds
from pairsig.io.errors import BREAKS, InputError, check_distinct, named, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_LINE, opened
from pairsig.io.memory import Memory
from pairsig.io.packages import need, pd

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

SEPARATORS = {".tsv": "\t", ".csv": ","}

_LARGEST = 1e100

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f]")

N_ROWS = "n_rows"
"""The last column of a text file from `write`: the number of rows. `read` checks and drops it, so that a truncated file
is rejected. (A truncated Parquet file cannot be read at all.)"""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`; it replaces `path` if the block succeeds and is removed otherwise.

    A reader of `path` sees either the old file or the complete new one. An error of the operating system, such as a
    full disk, names `path`.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; create it first")
    # Jobs on several machines may write to one folder, so a process number would not be unique.
    temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:  # the library that writes the file names the temporary path, or none
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> None:
    """Write a text to `path` with LF line ends; the file appears under its name only when it is complete."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@cpu_time.of("writing")
def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write `table` to `path` in the format of the suffix: `.tsv`, `.csv` or `.parquet`.

    Text formats have one header line, LF line ends, the fewest digits that restore every float, `true` and `false`,
    empty cells for missing values, no index, and the column `N_ROWS`. The file appears under its name only when it is
    complete.
    """
    path = Path(path)
    _format_of(path)
    plain = table.copy(deep=False)
    plain.attrs = {}  # Parquet would store the path from which the table was read
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            plain.to_parquet(temporary, index=False)
            return
        for column in plain.columns:
            if pd.api.types.is_bool_dtype(plain[column]):
                plain[column] = plain[column].map({True: "true", False: "false"})
            elif not pd.api.types.is_numeric_dtype(plain[column]):
                _check_text(plain[column], path)
                if plain[column].dtype == "str":  # written faster as categories, because most texts occur many times
                    plain[column] = plain[column].astype("category")
        if len(plain):
            plain[N_ROWS] = len(plain)
        plain.to_csv(temporary, sep=SEPARATORS[path.suffix], index=False, lineterminator="\n")


def frame(table: Table, rows: Sequence[Mapping[str, object]] | Mapping[str, object] | pd.DataFrame) -> pd.DataFrame:
    """A data frame of `rows`, or of columns, with the columns of `table`, in its order and with its declared types.

    Cells of optional columns may be missing. A column that is not declared causes a TypeError.
    """
    given = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    found = given.reindex(columns=list(table.names)) if given.empty else given
    optional = {column.name for column in table.columns if column.missing}
    if set(found.columns) | optional != set(table.names):
        description = ", ".join(sorted((set(found.columns) | optional) ^ set(table.names)))
        raise TypeError(f"the columns of the table {table.name} differ from the declared ones: {description}")
    found = found.reindex(columns=list(table.names))
    return found.astype({column.name: _DTYPES[column.type, column.missing] for column in table.columns})


_DTYPES: dict[tuple[type[Any], bool], str] = {
    (str, False): "str",
    (bool, False): "bool",
    (bool, True): "boolean",
    (int, False): "int64",
    (int, True): "Int64",
    (float, False): "float64",
    (float, True): "float64",
    (list, False): "object",
}
"""The pandas dtype of a column, by its type and whether cells may be missing."""


Row: TypeAlias = dict[str, Any]
"""The cells of a row by column; None where one is missing."""


def records(table: pd.DataFrame | Sequence[Row]) -> Sequence[Row]:
    """The rows of a table, which may be rows already."""
    if isinstance(table, Sequence):
        return table
    found: list[Row] = table.astype(object).where(table.notna(), None).to_dict("records")
    return found


def as_json(table: pd.DataFrame | Sequence[Row]) -> str:
    """The rows as a JSON list of objects with all digits; missing values and the logarithm of 0 are null."""
    null = (None, -math.inf)
    rows = [
        {name: None if cell in null or cell != cell else cell for name, cell in row.items()} for row in records(table)
    ]
    return json.dumps(rows, indent=2)


@cpu_time.of("reading")
def read(path: str | Path, table: Table | None = None, *, known: Iterable[Table] = TABLES) -> pd.DataFrame:
    """Read a table with the dtypes with which it was written; a truncated file is refused (`N_ROWS`).

    Text and boolean columns of `known` tables are recognised by name, and their empty cells are empty strings. Another
    column is numeric if all cells are numbers (an empty cell is missing), boolean if all cells are `true` or `false`,
    and text otherwise. All columns of a declared `table` must be present with their types, and no key may be repeated.
    Additional columns are kept.
    """
    path = Path(path)
    _format_of(path)
    typed = kinds([*known, table] if table else known)
    with _readable(path):
        if path.suffix == ".parquet":
            found, lines = _read_parquet(path)
        elif (plain := _read_plain(path, typed)) is not None:
            found, lines = plain, lambda row: f"line {row + 2}"
        else:
            found, lines = _read_lines(path, typed)
    found = whole(found, str(path))
    found.attrs["source"] = str(path)
    if table is None:
        return found
    found = check(found, table, where=lines)
    if table.key and (repeated := repetition(found[list(table.key)])):
        row, first = repeated
        cells = ", ".join(named(str(cell)) for cell in found[list(table.key)].iloc[row])
        raise InputError(f"{path}, {lines(row)}: found {cells} again, expected it once: {lines(first)} has it")
    return found


def pieces(path: Path, room: Memory) -> tuple[int, dict[bytes, bytes], Iterator[pd.DataFrame]]:
    """Read a Parquet file in pieces: the number of rows, the file's metadata, and an iterator over the pieces.

    `room` must hold the decompressed pages of the largest row group if these exceed `_PAGES`.
    """
    need("pyarrow")
    import pyarrow as pa

    with _readable(path):
        _check_regular(path)
        file = open_parquet(path, str(path))
        schema = file.schema_arrow
        names = list(schema.names)
        check_distinct(names, str(path))
        metadata = dict(schema.metadata or {})
        index = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
        chosen = [name for name in names if name not in [own for own in index if isinstance(own, str)]]
        texts = [name for name in chosen if pa.types.is_dictionary(schema.field(name).type)]
        pages = max(_group_bytes(file), default=0)
        nested = [field.name for field in schema if pa.types.is_nested(field.type) and field.name in chosen]
        if nested:
            raise InputError(f"{path}: found lists or structures in column {quoted(nested[0])}, expected numbers")
        n_rows = max(1, min(_ROWS, _PAGES // max(1, _width(file, 8))))
    if pages > _PAGES:
        room.require(pages, f"reading {path}, which has large row groups")

    def rows() -> Iterator[pd.DataFrame]:
        with _readable(path), file:
            yield schema.empty_table().select(chosen).to_pandas(ignore_metadata=True)
            labelled = {name: _Labels() for name in texts}
            for batch in file.iter_batches(n_rows, columns=chosen, use_threads=False):
                frame = pa.Table.from_batches([batch]).drop_columns(texts).to_pandas(ignore_metadata=True)
                found = {name: own.of(batch.column(name)) for name, own in labelled.items()}
                yield frame.assign(**found)[chosen]

    return file.metadata.num_rows, metadata, rows()


_ROWS = 2**18
"""Maximum rows of a piece."""
_PAGES = 2**27
"""Bytes of decompressed pages, or of a piece, that are read without checking the available memory."""
_FEW = 64
"""Rows of text that are read together if their length is unknown."""


def open_parquet(given: Any, source: str) -> ParquetFile:
    """Open a Parquet file (a path or a buffer) with text as dictionaries, so that repeated text takes little memory.

    Text with an encoding that pyarrow cannot read as a dictionary may have up to `MAX_BYTES`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
        pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_dictionary,
    )  # fmt: skip
    schema = pq.read_schema(given)
    texts = [field.name for field in schema if any(own(field.type) for own in kinds)]
    file = pq.ParquetFile(given, read_dictionary=texts, pre_buffer=False)  # otherwise the whole file is loaded
    # The declared encoding of a chunk is not read: if it is damaged, pyarrow terminates the process.
    shared = [name for name in texts if _leaves_out_beginnings(file, name)]
    if not shared:
        return file
    size = 0
    for batch in pq.ParquetFile(given, pre_buffer=False).iter_batches(_FEW, columns=shared):
        size += batch.nbytes
        if size > MAX_BYTES:
            raise InputError(f"{source}: found more than {MAX_BYTES:,} bytes of text, expected at most that many")
    return pq.ParquetFile(given, read_dictionary=[name for name in texts if name not in shared], pre_buffer=False)


def _leaves_out_beginnings(file: ParquetFile, name: str) -> bool:
    """Whether a text column is delta-encoded, each text without the prefix it shares with the previous one."""
    try:
        next(file.iter_batches(1, columns=[name]), None)
    except OSError as error:
        if "DeltaByteArray" not in str(error):  # the encoding that pyarrow cannot read as a dictionary
            raise
        return True
    return False


def decoded_bytes(file: ParquetFile, cell: int) -> int:
    """Maximum bytes of memory for a whole file, with `cell` bytes for each cell beside its text."""
    return int(sum(_group_bytes(file)) + file.metadata.num_rows * _width(file, cell))


def _group_bytes(file: ParquetFile) -> list[int]:
    """Decompressed bytes of every row group."""
    return [file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups)]


def _width(file: ParquetFile, cell: int) -> int:
    """Maximum bytes of memory for a row, see `decoded_bytes`."""
    columns = [file.metadata.schema.column(place) for place in range(file.metadata.num_columns)]
    return sum(cell + max(0, column.length) for column in columns)


def _check_regular(path: Path) -> None:
    """Refuse pipes and devices: a Parquet file is read from its end, and opening a pipe could block for ever."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: found a folder, pipe or device, expected a Parquet file")


class _Labels:
    """Common labels for all pieces of a Parquet column, since every piece has its own dictionary."""

    def __init__(self) -> None:
        import pyarrow as pa

        self._known = pa.array([], type=pa.string())
        self._dtype = pd.CategoricalDtype([])
        self._last, self._codes = self._known, np.full(1, -1, dtype=np.int32)

    def of(self, column: Any) -> pd.Categorical:
        """A piece of the column as codes of the labels in this and all earlier pieces."""
        import pyarrow as pa
        import pyarrow.compute as pc

        own = column.dictionary.cast(pa.string())
        if not own.equals(self._last):
            places = pc.index_in(own, value_set=self._known)
            if places.null_count:
                self._known = pa.concat_arrays([self._known, own.filter(pc.is_null(places)).drop_null().unique()])
                self._dtype = pd.CategoricalDtype(pd.Index(self._known.to_pandas(), dtype="str"))
                places = pc.index_in(own, value_set=self._known)
            # The last code is for missing cells.
            self._last, self._codes = own, np.append(places.fill_null(-1).to_numpy(), np.int32(-1))
        return pd.Categorical.from_codes(self._codes[column.indices.fill_null(len(own)).to_numpy()], dtype=self._dtype)


# pyarrow and pandas raise all these exceptions for damaged Parquet files.
_UNREADABLE = (
    csv.Error, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError
)  # fmt: skip


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of reading a table into an `InputError`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: found {error.reason} at byte {error.start}, expected UTF-8") from None
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(f"{path}: cannot be read as a table: {reason(error)}") from None


def check(
    table: pd.DataFrame, declared: Table, *, where: Callable[[int], str] = lambda row: f"row {row + 1}"
) -> pd.DataFrame:
    """Convert the declared columns of `table` to their declared types, after a check of every cell.

    `where` returns the name of a row for messages, such as "line 7", from its position.
    """
    source = table.attrs.get("source", declared.name)
    converted = {}
    for column in declared.columns:
        if column.name not in table.columns:
            raise InputError(f"{source} has no column `{column.name}`, expected {', '.join(declared.names)}")
        cells = table[column.name]
        wrong, expected = _impossible(cells, column)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(f"{source}, {where(row)}: {column.name} is {shown(cells.iloc[row])}, expected {expected}")
        plain = cells.astype("str").fillna("") if column.type is str else cells
        converted[column.name] = plain.astype(_DTYPES[column.type, column.missing])
    return table.assign(**converted)


def _impossible(cells: pd.Series[Any], column: Column) -> tuple[NDArray[np.bool_], str]:
    """Mask of the cells that do not fit the declaration, and a description of those that would."""
    none = np.zeros(len(cells), dtype=bool)
    is_bool = pd.api.types.is_bool_dtype(cells)
    if column.type is bool:
        return none if is_bool else ~none, "true or false"
    if column.type is list:
        return none, ""
    if column.type is str:
        texts = cells.dropna().unique()
        broken = [cell for cell in texts if BREAKS.search(str(cell))]
        expected = "text without control characters"
        if column.choices:
            broken = [cell for cell in texts if str(cell) not in column.choices]
            broken += ["", np.nan] if "" not in column.choices else []
            expected = f"one of {', '.join(column.choices)}"
        return cells.isin(broken).to_numpy(bool) if broken else none, expected
    expected = "a whole number" if column.type is int else "a number"
    if is_bool or not pd.api.types.is_numeric_dtype(cells):
        return np.array([not _is_number(cell) for cell in cells], dtype=bool), expected
    numbers = cells.to_numpy() if cells.dtype.kind in "iuf" else cells.to_numpy(np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        if column.type is int:
            possible = (numbers >= 0) & (numbers <= 2**53) & (numbers % 1 == 0)
        elif column.shown in ("p-value", "share"):
            possible, expected = (numbers >= 0) & (numbers <= 1), "a number from 0 to 1"
        else:
            possible, expected = np.abs(numbers) <= _LARGEST, f"a number up to {_LARGEST:g}"
    return ~(possible | (np.isnan(numbers) & column.missing)), expected


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and _column("", [cell], {}).dtype.kind in "if"


def whole(table: pd.DataFrame, source: str, n_rows: int | None = None) -> pd.DataFrame:
    """Check the number of rows against the column `N_ROWS`, and drop it; `n_rows` if `table` is only a piece."""
    if N_ROWS not in table.columns:
        return table
    stated, found = table[N_ROWS], len(table) if n_rows is None else n_rows
    wrong = stated[stated != found] if found else pd.Series(["some"])
    if len(wrong):
        raise InputError(
            f"{source} has {found:,} rows, but its column {N_ROWS} says {shown(wrong.iloc[0])}: it was truncated or "
            "edited"
        )
    return table.drop(columns=N_ROWS)


def repetition(keys: pd.DataFrame) -> tuple[int, int] | None:
    """Positions of the first row that repeats the keys of an earlier row, and of that row; None if all differ."""
    repeated = keys.duplicated().to_numpy()
    if not repeated.any():
        return None
    row = int(repeated.argmax())
    same = keys.groupby(list(keys.columns), sort=False, dropna=False).ngroup().to_numpy()  # missing cells are equal
    return row, int((same == same[row]).argmax())


def _format_of(path: Path) -> None:
    if path.suffix == ".parquet":
        need("pyarrow")
    if path.suffix not in (*SEPARATORS, ".parquet"):
        found = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        raise InputError(f"{path} {found}, expected .tsv, .csv or .parquet")


def _check_text(cells: pd.Series[Any], path: Path) -> None:
    bad = cells[cells.astype(str).str.contains(_CONTROL.pattern, regex=True)]
    if len(bad):
        raise InputError(
            f"{path}: found a control character in column `{cells.name}` ({quoted(bad.iloc[0])}), expected plain text"
        )


def shown(cell: object) -> str:
    """A cell for a message: text in quotes, numbers unchanged."""
    return quoted(cell) if isinstance(cell, str) else str(cell)


def _read_parquet(path: Path) -> tuple[pd.DataFrame, Callable[[int], str]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    _check_regular(path)
    with open_parquet(path, str(path)) as file:
        texts = [field.name for field in file.schema_arrow if pa.types.is_dictionary(field.type)]
        size = decoded_bytes(file, 8)
        Memory.whole().require(size, f"reading {path}")
        for chunk in (chunk for column in file.read(texts).columns for chunk in column.chunks):
            size += pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0
        Memory.whole().require(size, f"reading {path}")
    return pd.read_parquet(path), lambda row: f"row {row + 1}"


def _read_plain(path: Path, typed: Mapping[str, type[Any]]) -> pd.DataFrame | None:
    """What `_read_lines` returns, several times as fast, or None: for a file of `write` that has plain cells only."""
    separator = SEPARATORS[path.suffix]
    if not path.is_file() or path.stat().st_size > MAX_BYTES:  # /dev/zero never ends
        return None
    data = path.read_bytes()
    header = data[: data.find(b"\n")].decode("utf-8", "replace").split(separator)
    if N_ROWS not in header or len(set(header)) < len(header) or not data.endswith(b"\n"):
        return None
    if not data.isascii() or b'"' in data:
        return None
    # The only control characters end fields and lines; every line has as many fields as the header, and is neither
    # empty nor too long.
    bytes_ = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero((bytes_ < ord(" ")) | (bytes_ == ord(separator)))
    breaks = np.flatnonzero(bytes_[ends] == ord("\n"))
    if np.count_nonzero(bytes_[ends] == ord(separator)) + len(breaks) < len(ends):
        return None
    n_fields, lengths = np.diff(breaks, prepend=-1), np.diff(ends[breaks], prepend=-1)
    if (n_fields != len(header)).any() or lengths.min() == 1 or lengths.max() > MAX_LINE:
        return None
    numbers = [name for name in header if name not in typed]
    texts = dict.fromkeys(set(header).intersection(typed), "str")
    try:
        with warnings.catch_warnings(action="ignore"):  # pandas 2 needs the precision, and pandas 4 will not have it
            table = pd.read_csv(
                io.BytesIO(data), sep=separator, quoting=csv.QUOTE_NONE, float_precision="round_trip",
                skip_blank_lines=False, dtype=texts, keep_default_na=False, na_values=dict.fromkeys(numbers, ""),
            )  # fmt: skip
        for name in texts:
            if typed[name] is bool:
                table[name] = table[name].map({cell: _truth(cell, name) for cell in table[name].unique()}).astype(bool)
    except (ValueError, OverflowError):
        return None
    return table if all(table[name].dtype in ("int64", "float64") for name in numbers) else None


def _read_lines(path: Path, typed: Mapping[str, type[Any]]) -> tuple[pd.DataFrame, Callable[[int], str]]:
    """The table, and a function from a row's position to its line in the file."""
    with io.TextIOWrapper(opened(path), encoding="utf-8", newline="") as file:
        rows = csv.reader(_lines(file, path), delimiter=SEPARATORS[path.suffix], strict=True)
        header = next(rows, None)
        if not header:
            raise InputError(f"{path}: found an empty file, expected a table that begins with a line of column names")
        check_distinct(header, f"{path}, line 1")
        cells, lines = [], []
        for row in rows:
            if row and len(row) != len(header):
                where = f"{path}, line {rows.line_num}"
                raise InputError(f"{where}: found {len(row)} fields, expected {len(header)} as in the header")
            if row and _CONTROL.search("".join(row)):
                raise InputError(f"{path}, line {rows.line_num}: found a control character, expected plain text")
            if row:
                cells.append(row)
                lines.append(rows.line_num)
    if N_ROWS in header and not _ends_a_line(path):
        raise InputError(f"{path} does not end in a line end: it was truncated")
    by_column = zip(*cells, strict=True) if cells else ((),) * len(header)
    table = pd.DataFrame({name: _column(name, column, typed) for name, column in zip(header, by_column, strict=True)})
    return table, lambda row: f"line {lines[row]}"


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file, with a limit on their length: the line of /dev/zero never ends."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            where = f"{path}, line {number}"
            raise InputError(f"{where}: found a line of more than {MAX_LINE:,} characters, expected shorter lines")
        yield line


def _ends_a_line(path: Path) -> bool:
    with opened(path) as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _column(name: str, cells: Sequence[str], typed: Mapping[str, type[Any]]) -> pd.Series[Any]:
    """The cells of one column with their dtype; Python's own `float` restores every digit."""
    if typed.get(name) is str:
        return pd.Series(cells, dtype="str")
    if typed.get(name) is bool or (cells and {"true", "false"}.issuperset(cells)):
        return pd.Series([_truth(cell, name) for cell in cells], dtype=bool)
    if any("_" in cell or not cell.isascii() for cell in cells):  # `int` and `float` would accept such digits
        return pd.Series(cells, dtype="str")
    if cells and all(cells):
        try:
            return pd.Series([int(cell) for cell in cells], dtype="int64")
        except (ValueError, OverflowError):
            pass
    try:
        return pd.Series([float(cell) if cell else math.nan for cell in cells], dtype="float64")
    except ValueError:
        return pd.Series(cells, dtype="str")


def _truth(cell: str, name: str) -> bool:
    try:
        return {"true": True, "false": False}[cell.lower()]
    except KeyError:
        raise ValueError(f"found {quoted(cell)} in column `{name}`, expected true or false") from None
