"""Check a sheet as a whole, and against other sheets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pairsig.io.errors import InputError, named
from study.tables.rows import Place, R, Row, Sheet


def unique(sheet: Sheet[R]) -> None:
    """Check that no two rows have the same key."""
    first: dict[tuple[str, ...], R] = {}
    for row in sheet.rows:
        key = tuple(getattr(row, column) for column in row.key)
        if first.setdefault(key, row) is not row:
            expected = f"it once: it is in line {first[key].place.line} already"
            row.place.complain(row.key[-1], f"{' '.join(named(cell) for cell in key)} again", expected)


def known(sheet: Sheet[R], column: str, other: Sheet[Row]) -> None:
    """Check that every cell of a column is empty or the name of a row in another sheet."""
    for row in sheet.rows:
        row.place.check_names(column, filter(None, [getattr(row, column)]), other.named, f"a name in {other.path}")


@contextmanager
def cell(place: Place, column: str) -> Iterator[None]:
    """Add the place of this cell to errors in this block."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place.cell(column)}: {error}") from None


def is_file(path: str) -> bool:
    """Whether a file with this name exists; names that are too long do not."""
    try:
        return Path(path).is_file()
    except OSError:  # a name too long
        return False
