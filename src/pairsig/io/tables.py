"""Read and write tables without losing a digit."""

from __future__ import annotations

import csv
import io
import json
import math
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.io.columns import TABLES, Column, Table, texts
from pairsig.io.errors import BREAKS, InputError, check_distinct, named, quoted, reason
from pairsig.io.files import content
from pairsig.io.memory import require
from pairsig.io.packages import need, pd

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

SEPARATORS = {".tsv": "\t", ".csv": ","}

_LARGEST = 1e100

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
    if path.is_symlink():
        path = path.resolve()
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


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write `table` to `path` in the format of the suffix: `.parquet`, `.tsv` or `.csv`.

    Text formats have one header line, LF line ends, the fewest digits that restore every float, `true` and `false`,
    empty cells for missing values, no index, and the column `N_ROWS`. The file appears under its name only when it is
    complete.
    """
    path = Path(path)
    _check_suffix(path)
    plain = table.copy(deep=False)
    plain.attrs = {}  # Parquet would store the path from which the table was read
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            plain.to_parquet(temporary, index=False, compression="zstd")
            return
        for column in plain.columns:
            if pd.api.types.is_bool_dtype(plain[column]):
                plain[column] = plain[column].map({True: "true", False: "false"})
        if len(plain):
            plain[N_ROWS] = len(plain)
        plain.to_csv(temporary, sep=SEPARATORS[path.suffix], index=False, lineterminator="\n")


def frame(table: Table, rows: Sequence[Mapping[str, object]] | Mapping[str, object] | pd.DataFrame) -> pd.DataFrame:
    """A data frame of `rows`, or of columns, with the columns of `table`, in its order and with its declared types.

    Cells of optional columns may be missing. A column that is not declared causes a TypeError.
    """
    unordered = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    ordered = unordered.reindex(columns=list(table.names))
    optional = {column.name for column in table.columns if column.missing}
    names = set(table.names if unordered.empty else unordered.columns) | optional
    if names != set(table.names):
        description = ", ".join(sorted(names ^ set(table.names)))
        raise TypeError(f"the columns of the table {table.name} differ from the declared ones: {description}")
    return ordered.astype({column.name: _DTYPES[column.type, column.missing] for column in table.columns})


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
    rows: list[Row] = table.astype(object).to_dict("records")
    for row, column in zip(*table.isna().to_numpy().nonzero(), strict=True):
        rows[row][table.columns[column]] = None
    return rows


SCHEMA = 1
"""Version of the JSON of results: it grows if a name of an object or a column changes its meaning, or goes."""


def as_object(table: pd.DataFrame | Sequence[Row], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The rows with all digits, the version of the schema and notes; numbers that are missing or infinite are None."""
    rows: list[Row] = []
    for row in records(table):
        cells = {name: cell.item() if isinstance(cell, np.generic) else cell for name, cell in row.items()}
        no_numbers = [name for name, cell in cells.items() if isinstance(cell, float) and not math.isfinite(cell)]
        rows.append(cells | dict.fromkeys(no_numbers))
    return {"schema_version": SCHEMA, "rows": rows} | ({"notes": list(notes)} if notes else {})


def as_json(table: pd.DataFrame | Sequence[Row], notes: Sequence[str] = ()) -> str:
    """`as_object` as text."""
    return json.dumps(as_object(table, notes), indent=2)


def as_csv(table: pd.DataFrame | Sequence[Row]) -> str:
    """The rows as CSV with all digits."""
    text: str = flat(table).to_csv(index=False, lineterminator="\n")
    return text


def flat(table: pd.DataFrame | Sequence[Row]) -> pd.DataFrame:
    """The rows as a data frame, with lists of sentences as text."""
    rows = pd.DataFrame(list(table)) if isinstance(table, Sequence) else table.copy(deep=False)
    for column in rows.columns[[isinstance(cell, list | tuple) for cell in rows.iloc[0]]] if len(rows) else []:
        rows[column] = rows[column].map("; ".join)
    return rows


def read(path: str | Path, table: Table | None = None, *, known: Iterable[Table] = TABLES) -> pd.DataFrame:
    """Read a table with the dtypes with which it was written; a truncated file is refused (`N_ROWS`).

    Parquet files have types. In text files, columns of text are recognised by their names in `known` tables, and their
    empty cells are empty strings. Another column is numeric if all cells are numbers (an empty cell is missing),
    boolean if all cells are `true` or `false`, and text otherwise. All columns of a declared `table` must be present
    with their types, and no key may be repeated. Additional columns are kept.
    """
    path = Path(path)
    _check_suffix(path)
    with _readable(path):
        if path.suffix == ".parquet":
            rows = read_parquet(path).to_pandas()
            texts_of = rows.columns[rows.dtypes == "category"]
            rows[texts_of] = rows[texts_of].astype("str")
        else:
            rows = _read_text(path, texts([*known, table] if table else known))
    if N_ROWS in rows.columns:
        stated = rows.pop(N_ROWS)
        if len(wrong := stated[stated != len(rows)]) or not len(rows):
            number = shown(wrong.iloc[0]) if len(wrong) else "some"
            raise InputError(
                f"{path} has {len(rows):,} rows, but its column {N_ROWS} says {number}: it was truncated or edited"
            )
    rows.attrs["source"] = str(path)
    if table is None:
        return rows
    rows = check(rows, table)
    if table.key and (repeated := rows.duplicated([*table.key]).to_numpy()).any():
        row = int(repeated.argmax())
        key = ", ".join(named(str(cell)) for cell in rows[[*table.key]].iloc[row])
        raise InputError(f"{path}, row {row + 1}: found {key} again, expected it once")
    return rows


def read_parquet(path: Path, *, nested: bool = False) -> pa.Table:
    """Read a Parquet file; columns of text become dictionaries, so that repeated text is in memory once.

    The file is refused if it needs more memory than is free, or without `nested` if it has lists or structures.
    """
    need("pyarrow")
    import pyarrow as pa

    with _readable(path):
        if not path.is_file():  # it is read from its end, and a pipe could block for ever
            raise InputError(f"{path}: found a folder, pipe or device, expected a Parquet file")
        with open_parquet(path) as file:
            schema = file.schema_arrow
            check_distinct(schema.names, str(path))
            if not nested and (name := next((f.name for f in schema if pa.types.is_nested(f.type)), "")):
                raise InputError(
                    f"{path}: found lists or structures in column {quoted(name)}, expected numbers or text"
                )
            bytes_per_row = sum(map(_cell_bytes, schema))
            metadata = file.metadata
            of_text = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
            require(of_text + metadata.num_rows * bytes_per_row, f"reading {path}")
            try:
                return file.read().unify_dictionaries()
            except OSError as error:
                if "DeltaByteArray" not in str(error):
                    raise
                # Text without the beginning that it shares with the text above may be a million times its size.
                raise InputError(
                    f"{path}: found text in the encoding DELTA_BYTE_ARRAY, expected another one; write the file again "
                    "with pandas.DataFrame.to_parquet"
                ) from None


def _cell_bytes(field: pa.Field) -> int:
    """Bytes of a cell beside its text and its parts."""
    import pyarrow as pa

    is_fixed = not pa.types.is_null(field.type) and not pa.types.is_nested(field.type)
    return 1 + (int(field.type.bit_width) // 8 if is_fixed else 0)


def open_parquet(file: Path) -> ParquetFile:
    """Open a Parquet file with text as dictionaries, so that repeated text takes little memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_text = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
        pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_dictionary,
    )  # fmt: skip
    names = [field.name for field in pq.read_schema(file) if any(test(field.type) for test in is_text)]
    return pq.ParquetFile(file, read_dictionary=names, pre_buffer=False)  # otherwise the whole file is loaded


def _read_text(path: Path, text_columns: Sequence[str]) -> pd.DataFrame:
    text, separator = content(path).decode("utf-8-sig"), SEPARATORS[path.suffix]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header = next(rows, [])
    if not header:
        raise InputError(f"{path}: found an empty file, expected a table that begins with a line of column names")
    check_distinct(header, f"{path}, line 1")
    if N_ROWS in header and not text.endswith("\n"):
        raise InputError(f"{path} does not end in a line end: it was truncated")
    for row in rows:
        if row and len(row) != len(header):
            raise InputError(
                f"{path}, line {rows.line_num}: found {len(row)} fields, expected {len(header)} as in the header"
            )
    others = [name for name in header if name not in text_columns]
    with warnings.catch_warnings(action="ignore"):  # pandas 2 needs the precision, and pandas 4 will not have it
        table = pd.read_csv(
            io.StringIO(text), sep=separator, names=header, header=0, float_precision="round_trip",
            dtype=dict.fromkeys(set(header).intersection(text_columns), "str"),
            keep_default_na=False, na_values=dict.fromkeys(others, ""),
        )  # fmt: skip
    undeclared = [name for name in others if pd.api.types.is_string_dtype(table[name].dtype)]
    table[undeclared] = table[undeclared].fillna("")
    return table


# pyarrow and pandas raise all these exceptions for damaged Parquet files.
_UNREADABLE = (
    csv.Error, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError
)  # fmt: skip


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of reading a table into an `InputError`."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: found {error.reason} at byte {error.start}, expected UTF-8") from None
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(f"{path}: cannot be read as a table: {reason(error)}") from None


def check(table: pd.DataFrame, declared: Table) -> pd.DataFrame:
    """Convert the declared columns of `table` to their declared types, after a check of every cell."""
    source = table.attrs.get("source", declared.name)
    converted = {}
    for column in declared.columns:
        if column.name not in table.columns:
            raise InputError(f"{source} has no column `{column.name}`, expected {', '.join(declared.names)}")
        cells = table[column.name]
        wrong, expected = _impossible(cells, column)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(f"{source}, row {row + 1}: {column.name} is {shown(cells.iloc[row])}, expected {expected}")
        plain = cells.astype("str").fillna("") if column.type is str else cells
        converted[column.name] = plain.astype(_DTYPES[column.type, column.missing])
    return table.assign(**converted)


def _impossible(cells: pd.Series[Any], column: Column) -> tuple[NDArray[np.bool_], str]:
    """Mask of the cells that do not fit the declaration, and a description of those that would."""
    none = np.zeros(len(cells), dtype=bool)
    is_bool = pd.api.types.is_bool_dtype(cells)
    if column.type is list:
        return none, ""
    if column.type is bool:
        return none if is_bool else ~none, "true or false"
    if column.choices:
        return ~cells.fillna("").isin(column.choices).to_numpy(bool), f"one of {', '.join(column.choices)}"
    if column.type is str:
        broken = [cell for cell in cells.dropna().unique() if BREAKS.search(str(cell))]
        return cells.isin(broken).to_numpy(bool), "text without control characters"
    expected = "a whole number" if column.type is int else "a number"
    if is_bool:
        return ~none, expected
    numbers: NDArray[Any] = cells.to_numpy()
    if numbers.dtype.kind not in "iuf":
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    is_word = np.isnan(numbers) & (cells.notna() & (cells != "")).to_numpy(bool)
    if is_word.any():
        return is_word, expected
    with np.errstate(invalid="ignore"):
        if column.type is int:
            possible = (numbers >= 0) & (numbers <= 2**53) & (numbers % 1 == 0)
        elif column.shown in ("p-value", "share"):
            possible, expected = (numbers >= 0) & (numbers <= 1), "a number from 0 to 1"
        else:
            possible, expected = np.abs(numbers) <= _LARGEST, f"a number up to {_LARGEST:g}"
    return ~(possible | (np.isnan(numbers) & column.missing)), expected


def _check_suffix(path: Path) -> None:
    if path.suffix == ".parquet":
        need("pyarrow")
    if path.suffix not in (*SEPARATORS, ".parquet"):
        end = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        raise InputError(f"{path} {end}, expected .tsv, .csv or .parquet")


def shown(cell: object) -> str:
    """A cell for a message: text in quotes, numbers unchanged."""
    return quoted(cell) if isinstance(cell, str) else str(cell)
