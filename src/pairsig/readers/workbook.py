"""The rows of Excel workbooks (.xlsx), as texts: what a spreadsheet would save as CSV."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

from pairsig.io.errors import InputError
from pairsig.io.files import MAX_BYTES
from pairsig.io.packages import need


def sheets(data: bytes, source: str) -> dict[str, list[list[str]]]:
    """The rows of each visible sheet that has any; cells that are merged over several rows have the same text in each.

    Raises
    ------
    InputError
        If openpyxl is not installed, or if the data are no workbook, damaged, or larger than other files may be.
    """
    need("openpyxl")
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= MAX_BYTES:
            with warnings.catch_warnings(action="ignore"):  # about charts and validation, which no reader needs
                book = load_workbook(io.BytesIO(data), data_only=True)
            found = {sheet.title: _rows(sheet) for sheet in book.worksheets if sheet.sheet_state == "visible"}
    except Exception:  # openpyxl raises whatever the damage causes
        raise InputError(
            f"{source}: found an Excel workbook that cannot be read or another archive, expected a table; save it as "
            "CSV (UTF-8), JSON or Parquet"
        ) from None
    if size > MAX_BYTES:
        raise InputError(f"{source}: found a workbook of more than {MAX_BYTES:,} bytes, expected a smaller one")
    return {name: rows for name, rows in found.items() if any(map(any, rows))}


def _rows(sheet: Any) -> list[list[str]]:
    if sheet.max_row * sheet.max_column > MAX_BYTES // 100:  # a single cell far away would fill the memory
        raise ValueError
    rows = [[_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    for merged in sheet.merged_cells.ranges:
        if merged.min_col == merged.max_col:
            for row in rows[merged.min_row - 1 : merged.max_row]:
                row[merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
    return rows


def _text(cell: object) -> str:
    if cell is None or (isinstance(cell, str) and cell.startswith("#")):  # an error such as #N/A
        return ""
    return str(cell).upper() if isinstance(cell, bool) else str(cell)
