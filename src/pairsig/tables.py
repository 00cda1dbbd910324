"""Tables to and from files, and tables for readers.

`write` and `read` are for machines: every digit is kept. `render` is for people: it rounds, by the kind of
the column, and a p-value never becomes 0 by rounding.
"""

from __future__ import annotations

import csv
import math
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from pairsig.errors import InputError, named, quoted, reason

SEPARATORS = {".tsv": "\t", ".csv": ","}
FORMATS = ("csv", "md", "tex", "html")

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

_SHARES = frozenset({"p_value", "p_low", "p_high", "p_normal", "p_mean", "p_sd"})
_LARGEST = 1e100

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f]")

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
    plain = table.copy(deep=False)
    plain.attrs = {}  # Parquet would keep where it was read from
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            plain.to_parquet(temporary, index=False)
            return
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
        Columns that must be there, and hold what `check` expects of them.
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
    table.attrs["source"] = str(path)
    check(table, columns, where=lines)
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


def check(
    table: pd.DataFrame,
    columns: Sequence[str],
    *,
    name: str = "the table",
    where: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> None:
    """Raise `InputError` unless these columns are there, and hold numbers that are possible in columns of their names.

    Columns in `TEXT` and `FLAGS` hold what they hold. Of the others, p-values and shares are from 0 to 1, numbers of
    things (`n_…`) are whole, and none is infinite; missing ones (NaN) are not refused here.

    Parameters
    ----------
    name, where
        What to call the table, unless it was read from a file, and a row, by its position.
    """
    source = table.attrs.get("source", name)
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{source} has no column `{column}`, expected {', '.join(columns)}")
        if column in TEXT | FLAGS:
            continue
        cells = table[column]
        if pd.api.types.is_bool_dtype(cells) or not pd.api.types.is_numeric_dtype(cells):
            wrong, expected = pd.Series([not _is_number(cell) for cell in cells], dtype=bool), "a number"
        elif column.startswith("share") or column in _SHARES:
            wrong, expected = ~(cells.between(0, 1) | cells.isna()), "a number from 0 to 1"
        elif column.startswith("n_") or column.endswith("_n_segments"):
            wrong, expected = ~((cells.between(0, 2**53) & (cells % 1 == 0)) | cells.isna()), "a whole number"
        else:
            wrong, expected = cells.abs() > _LARGEST, f"a number up to {_LARGEST:g}"
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise InputError(f"{source}, {where(row)}: {column} is {shown(cells.iloc[row])}, expected {expected}")


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
    bad = cells[cells.astype(str).str.contains(_CONTROL.pattern, regex=True)]
    if len(bad):
        raise InputError(f"{path}: column `{cells.name}` has a control character: {quoted(bad.iloc[0])}")


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and _column("", [cell]).dtype.kind in "if"


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
            if row and _CONTROL.search("".join(row)):
                raise InputError(f"{path}:{rows.line_num}: found a control character, expected text")
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


# Presentation: cells are rounded by the kind of their column.

HEADERS = {
    "system_a": "system A", "system_b": "system B", "kind_a": "kind A", "kind_b": "kind B",
    "score_a": "score A", "score_b": "score B", "n_segments": "segments", "n_resamples": "resamples",
    "n_greater": "greater", "n_equal": "ties", "n_all": "pairs", "n_pairs": "pairs in range",
    "n_sizes": "sizes", "n_held": "held", "ours_n_segments": "our segments", "gain_se": "s.e. of gain",
    "n_simulated": "simulated pairs", "n_runs": "runs", "n_repeats": "repeats", "p_mean": "mean p", "p_sd": "s.d. of p",
    "expected": "published, scaled", "p_normal": "p (normal)", "p_value": "p",
}  # fmt: skip

_P_VALUES = frozenset({"p_value", "p_low", "p_high", "p_normal"})
_IN_UNIT = frozenset({"published", "ours", "low", "high", "expected"})
_GAINS = _IN_UNIT | {"gain", "gain_se", "score_a", "score_b", "threshold", "median"}


def p_value(value: float) -> str:
    """A p-value with 3 significant digits; below 0.001 it is said to be, never 0.

    >>> p_value(0.043216), p_value(0.00125), p_value(0.0), p_value(1.0)
    ('0.0432', '0.00125', '< 0.001', '1')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3g}"


def p_range(low: float, high: float) -> str:
    """A range of p-values as the paper prints it.

    >>> p_range(0.00125, 0.0025)
    '0.00125 – 0.0025'
    """
    return f"{low:.6g} – {high:.6g}"


def percent(share: float) -> str:
    """A share as a percentage without decimals.

    >>> percent(0.8276)
    '83 %'
    """
    return f"{100 * share:.0f} %"


def count(value: float) -> str:
    """A count with thousands separators.

    >>> count(1000000)
    '1,000,000'
    """
    return f"{value:,.0f}"


def calibration_table(calibration: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 1: how often the better system on one test set is the better one on another.

    One row a range of p-values, one column a calibration and distance, cells like `83 % (48 of 58)`; a range
    without pairs has `–`.
    """
    needed = ["calibration", "distance", "p_low", "p_high", "n_pairs", "n_held"]
    for column in needed:
        if column not in calibration.columns:
            raise InputError(f"calibration: column `{column}` is missing")
    ordered = calibration.sort_values(["p_low", "p_high"], kind="stable")
    several = len(calibration["calibration"].unique()) > 1
    names = calibration[["calibration", "distance"]].drop_duplicates()
    ranges = ordered[["p_low", "p_high"]].drop_duplicates()
    pivot = {"p-value": [p_range(low, high) for low, high in ranges.itertuples(index=False)]}
    for name, distance in names.itertuples(index=False):
        mine = ordered[(ordered["calibration"] == name) & (ordered["distance"] == distance)]
        cells = {
            p_range(low, high): f"{percent(held / pairs)} ({count(held)} of {count(pairs)})"
            for low, high, pairs, held in mine.loc[mine["n_pairs"] > 0, needed[2:]].itertuples(index=False)
        }
        heading = f"{name}, {distance}" if several else str(distance)
        pivot[heading] = [cells.get(label, "–") for label in pivot["p-value"]]
    return pd.DataFrame(pivot)


def present(table: pd.DataFrame) -> pd.DataFrame:
    """`table` as text: cells rounded by the kind of their column, the interval of a share beside it."""
    table = table.reset_index(drop=True)
    check(table, [column for column in table.columns if str(column).startswith("share")])
    texts = {}
    for column in table.columns:
        if column in ("share_low", "share_high") and "share" in table.columns:
            continue
        texts[column] = [_cell(str(column), value, row, table) for row, value in enumerate(table[column])]
    return pd.DataFrame(texts, index=table.index, dtype=str)


def _cell(column: str, value: Any, row: int, table: pd.DataFrame) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if column == "share" and {"share_low", "share_high"} <= set(table.columns):
        low, high = table["share_low"].iloc[row], table["share_high"].iloc[row]
        return percent(value) if pd.isna(low) else f"{percent(value)} ({100 * low:.0f}–{percent(high)})"
    return _number(column, value, table, row)


def _number(column: str, value: float, table: pd.DataFrame, row: int) -> str:
    if column.startswith("share"):
        return percent(value)
    if column.startswith("n_") or column.endswith("_n_segments"):
        return count(value)
    if column in _P_VALUES:
        is_range = column in ("p_low", "p_high") and "p_value" not in table.columns
        return f"{value:.6g}" if is_range else p_value(value)
    unit = table["unit"].iloc[row] if column in _IN_UNIT and "unit" in table.columns else ""
    if unit in ("%", "pairs", "samples", "sentences"):
        return count(value)
    if unit in ("p", "seconds"):
        return f"{value:.3g}"
    if column in _GAINS or column == "ratio" or column.startswith("exponent") or column == "similarity":
        return f"{value:.2f}".replace("-", "−")
    return f"{value:,}" if pd.api.types.is_integer(value) else f"{value:.3g}".replace("-", "−")


def render(table: pd.DataFrame, format: str, caption: str | None = None) -> str:  # noqa: A002
    """`table` for readers: `csv`, `md` (Markdown), `tex` (LaTeX with booktabs) or `html` (a whole page).

    p-values have 3 significant digits and are never 0 (`< 0.001`), gains 2 decimals, counts thousands
    separators; shares are percentages with their interval. `csv` keeps the table's column names and has no
    thousands separators; the others print words.
    """
    if format not in FORMATS:
        raise InputError(f"{format} is not a format of tables; known are {', '.join(FORMATS)}")
    texts = present(table)
    if format == "csv":
        plain = texts.replace({"−": "-"}, regex=True)
        for column in plain.columns:
            if str(column).startswith("n_") or str(column).endswith("_n_segments"):
                plain[column] = plain[column].str.replace(",", "")
        return str(plain.to_csv(index=False, lineterminator="\n"))
    texts = texts.replace({"": "–"})
    numeric = [
        pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column])
        for column in texts.columns
    ]
    headers = [HEADERS.get(str(column), str(column).replace("_", " ")) for column in texts.columns]
    align = ["right" if number else "left" for number in numeric]
    return _RENDERERS[format](headers, texts.to_numpy().tolist(), align, caption)


def _tabulate(headers: list[str], rows: list[list[str]], align: list[str], form: str) -> str:
    from tabulate import tabulate

    return str(tabulate(rows, headers, tablefmt=form, colalign=align if rows else None, disable_numparse=True))


def _markdown(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    def safe(cell: str) -> str:
        return re.sub(r"([|\\*_`<])", r"\\\1", cell).replace("\n", " ")

    rows = [[safe(cell) for cell in row] for row in rows]
    body = _tabulate([safe(header) for header in headers], rows, align, "pipe")
    return f"{body}\n" if caption is None else f"{caption}\n\n{body}\n"


_TEX_SYMBOLS = str.maketrans({
    "–": "--", "−": r"\ensuremath{-}", "≈": r"\ensuremath{\approx}", "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}", "×": r"\ensuremath{\times}", "δ": r"\ensuremath{\delta}",
})  # fmt: skip


def _latex(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    body = _tabulate(headers, rows, align, "latex_booktabs").translate(_TEX_SYMBOLS)
    if caption is None:
        return f"{body}\n"
    from tabulate import LATEX_ESCAPE_RULES

    escaped = "".join(LATEX_ESCAPE_RULES.get(letter, letter) for letter in caption)
    words = escaped.translate(_TEX_SYMBOLS)
    return f"\\begin{{table}}[t]\n\\centering\n{body}\n\\caption{{{words}}}\n\\end{{table}}\n"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px/1.45 system-ui, sans-serif; color: #222; margin: 1.5em; }}
table {{ border-collapse: collapse; border-top: 2px solid #222; border-bottom: 2px solid #222; }}
caption {{ text-align: left; padding-bottom: .6em; max-width: 48em; }}
th, td {{ padding: .25em .8em; white-space: nowrap; font-variant-numeric: tabular-nums; }}
thead th {{ border-bottom: 1px solid #222; position: sticky; top: 0; background: #fff; }}
tbody tr:nth-child(even) {{ background: #f4f4f4; }}
</style>
</head>
<body>
{table}
</body>
</html>
"""


def _html(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    body = _tabulate(headers, rows, align, "html")
    if caption is not None:
        body = body.replace("<table>", f"<table>\n<caption>{escape(caption)}</caption>", 1)
    return _PAGE.format(title=escape(caption or "Table"), table=body)


_RENDERERS: dict[str, Callable[[list[str], list[list[str]], list[str], str | None], str]] = {
    "md": _markdown,
    "tex": _latex,
    "html": _html,
}
