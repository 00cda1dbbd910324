"""Checks of a sheet as a whole, and beside another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pairsig.choices import near
from pairsig.errors import InputError, named, quoted
from study.sheets.rows import Place, R, Row, Sheet


def unique(sheet: Sheet[R]) -> None:
    """No two rows have the same key."""
    first: dict[tuple[str, ...], R] = {}
    for row in sheet.rows:
        key = tuple(getattr(row, column) for column in row.key)
        if first.setdefault(key, row) is not row:
            expected = f"it once: it is in line {first[key].place.line} already"
            row.place.complain(row.key[-1], f"{' '.join(named(cell) for cell in key)} again", expected)


def known(sheet: Sheet[R], column: str, other: Sheet[Row]) -> None:
    """Every cell of a column is empty or the name of a row of another sheet."""
    for row in sheet.rows:
        name = getattr(row, column)
        if name and name not in other.named:
            row.place.complain(column, quoted(name), f"a name in {other.path}{near(name, other.named)}")


@contextmanager
def cell(place: Place, column: str) -> Iterator[None]:
    """What is refused in this block is the fault of this cell."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place.cell(column)}: {error}") from None


def is_file(path: str) -> bool:
    """Whether there is a file of this name, whatever the name."""
    try:
        return Path(path).is_file()
    except OSError:  # a name too long
        return False
