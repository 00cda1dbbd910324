"""Tables to and from files: every digit is kept."""

from __future__ import annotations

import csv
import math
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from pairsig.errors import InputError, named, quoted, reason

SEPARATORS = {".tsv": "\t", ".csv": ","}

TEXT = frozenset({
    "dataset", "test_set", "metric", "test", "system", "system_a", "system_b", "group", "kind", "kind_a",
    "kind_b", "segment", "document", "domain", "signature", "task", "subset", "verdict", "calibration", "distance",
    "item", "page", "what", "unit", "overlay", "left_out",
    "p_range", "near", "near_paper", "middle", "middle_paper", "far", "far_paper", "pool", "compared_with",
    "on_dataset", "on_test_set", "against_dataset", "against_test_set",
})  # fmt: skip
"""Columns that hold text whatever their cells look like: a system may be called 12, or true."""

FLAGS = frozenset({"same_group"})
"""Columns that hold true or false."""

N_ROWS = "n_rows"
"""The last column of a text file that `write` made: the number of its rows. `read` learns from it that rows are lost,
wherever the file was cut, and leaves it out. (A Parquet file that is cut cannot be read at all.)"""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`, moved there when the block ends well and removed when it does not.

    A reader of `path` sees the old file or the whole new one, never half of it.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    # Jobs of several machines may write to one folder: a process number would not do.
    temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write `table` to `path`, in the format of its suffix: `.tsv`, `.csv` or `.parquet`.

    Text formats have one header line, LF line ends, the shortest digits that restore every float, `true` and
    `false`, nothing for a missing value, no index, and `N_ROWS`. The file appears under its name when it is complete.
    """
    path = Path(path)
    _format_of(path)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            table.to_parquet(temporary, index=False)
            return
        plain = table.copy(deep=False)
        for column in plain.columns:
            if pd.api.types.is_bool_dtype(plain[column]):
                plain[column] = plain[column].map({True: "true", False: "false"})
            elif not pd.api.types.is_numeric_dtype(plain[column]):
                _check_text(plain[column], path)
        if len(plain):
            plain[N_ROWS] = len(plain)
        plain.to_csv(temporary, sep=SEPARATORS[path.suffix], index=False, lineterminator="\n")


def read(path: str | Path, columns: Sequence[str] = (), *, key: Sequence[str] = ()) -> pd.DataFrame:
    """The table in `path`, with the dtypes it was written with.

    Columns named in `TEXT` are text, and an empty cell of theirs is the empty string. Of the other columns
    those whose cells are all numbers are numbers (an empty cell is missing), those that have only `true` and
    `false` are booleans, the rest are text.

    Parameters
    ----------
    columns
        Columns that must be there. Those that are not in `TEXT` or `FLAGS` must be numbers, none of them infinite.
    key
        Columns whose cells, taken together, must not be repeated.

    Raises
    ------
    InputError
        Where it is not such a table, or has not as many rows as it was written with (`N_ROWS`).
    """
    path = Path(path)
    _format_of(path)
    try:
        table, lines = _read_parquet(path) if path.suffix == ".parquet" else _read_lines(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None
    except InputError:
        raise
    except (csv.Error, ValueError, OSError) as error:
        raise InputError(f"{path}: not a table that can be read: {reason(error)}") from None
    table = whole(table, str(path))
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{path} has no column `{column}`, expected {', '.join(columns)}")
        if column not in TEXT | FLAGS:
            _check_numbers(table[column], path, lines)
    if key and (repeated := repetition(table[list(key)])):
        row, first = repeated
        cells = ", ".join(named(str(cell)) for cell in table[list(key)].iloc[row])
        raise InputError(f"{path}, {lines(row)}: found {cells} again, expected it once: {lines(first)} has it")
    return table


def whole(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """`table` without `N_ROWS`, after it has been found to have so many rows."""
    if N_ROWS not in table.columns:
        return table
    told = table[N_ROWS]
    wrong = told[told != len(table)] if len(told) else pd.Series(["some"])
    if len(wrong):
        raise InputError(
            f"{source} has {len(table):,} rows, but its column {N_ROWS} says {shown(wrong.iloc[0])}: was it cut?"
        )
    return table.drop(columns=N_ROWS)


def repetition(keys: pd.DataFrame) -> tuple[int, int] | None:
    """The first row whose keys another row above it has, and that row; by position. None if there is none."""
    repeated = keys.duplicated().to_numpy()
    if not repeated.any():
        return None
    row = int(repeated.argmax())
    return row, int((keys == keys.iloc[row]).all(axis=1).to_numpy().argmax())


def _format_of(path: Path) -> None:
    if path.suffix not in (*SEPARATORS, ".parquet"):
        raise InputError(f"{path}: a table ends in .tsv, .csv or .parquet, not in {path.suffix or 'nothing'}")


def _check_text(cells: pd.Series[Any], path: Path) -> None:
    bad = cells[cells.astype(str).str.contains(r"[\x00-\x08\x0a-\x1f]", regex=True)]
    if len(bad):
        raise InputError(f"{path}: column `{cells.name}` has a control character: {quoted(bad.iloc[0])}")


def _check_numbers(cells: pd.Series[Any], path: Path, lines: Callable[[int], str]) -> None:
    if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        wrong = cells.isin([math.inf, -math.inf])
    else:
        wrong = pd.Series([_column("", [str(cell)]).dtype.kind not in "if" for cell in cells])
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise InputError(f"{path}, {lines(row)}: {cells.name} is {shown(cells.iloc[row])}, expected a number")


def shown(cell: object) -> str:
    """A cell in a message: text in quotes, and numbers as they are."""
    return quoted(cell) if isinstance(cell, str) else str(cell)


def _read_parquet(path: Path) -> tuple[pd.DataFrame, Callable[[int], str]]:
    return pd.read_parquet(path), lambda row: f"row {row + 1}"


def _read_lines(path: Path) -> tuple[pd.DataFrame, Callable[[int], str]]:
    """The table, and where a row of it is to be found."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter=SEPARATORS[path.suffix], strict=True)
        header = next(rows, None)
        if not header:
            raise InputError(f"{path}: empty; a table begins with a line of column names")
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise InputError(f"{path}:1: two columns are called {quoted(twice)}")
        cells, lines = [], []
        for row in rows:
            if row and len(row) != len(header):
                raise InputError(f"{path}:{rows.line_num}: {len(row)} fields, expected {len(header)} as in the header")
            if row:
                cells.append(row)
                lines.append(rows.line_num)
    if N_ROWS in header and not _ends_a_line(path):
        raise InputError(f"{path} does not end in a line end: was it cut?")
    columns = zip(*cells, strict=True) if cells else ((),) * len(header)
    table = pd.DataFrame({name: _column(name, column) for name, column in zip(header, columns, strict=True)})
    return table, lambda row: f"line {lines[row]}"


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _column(name: str, cells: Sequence[str]) -> pd.Series[Any]:
    """The cells of one column with their dtype; Python's own `float` restores every digit."""
    if name in TEXT:
        return pd.Series(cells, dtype="str")
    if name in FLAGS or (cells and {"true", "false"}.issuperset(cells)):
        return pd.Series([_truth(cell, name) for cell in cells], dtype=bool)
    if any("_" in cell or not cell.isascii() for cell in cells):  # which `int` and `float` would pass over
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
        raise ValueError(f"column `{name}` has {quoted(cell)}, expected true or false") from None
