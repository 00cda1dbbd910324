"""Complaints about cells of a sheet: what was found, where, and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pandas as pd

from pairsig.choices import near
from pairsig.errors import InputError, named, quoted
from pairsig.tables import repetition


def unique(table: pd.DataFrame, sheet: str, columns: Sequence[str]) -> None:
    """No two rows have the same cells in all of these columns."""
    if repeated := repetition(table[list(columns)]):
        row, first = repeated
        cells = " ".join(named(cell) for cell in table[list(columns)].iloc[row])
        expected = f"it once: it is in line {table.index[first]} already"
        complain(sheet, int(table.index[row]), columns[-1], f"{cells} again", expected)


def known(table: pd.DataFrame, sheet: str, column: str, names: Sequence[str], other: str) -> None:
    """Every cell of a column is empty or a name in another sheet."""
    for line, name in table[column].items():
        if name and name not in names:
            complain(sheet, int(str(line)), column, quoted(name), f"a name in {other}{near(name, names)}")


def words(sheet: str, line: int, column: str, cell: str) -> None:
    """No word of a list is repeated."""
    _once(sheet, line, column, cell.split())


def pairs(sheet: str, line: int, column: str, cell: str) -> None:
    """A list of KEY=VALUE, in which no key is repeated."""
    for word in cell.split():
        if not re.fullmatch(r"[^=]+=.+", word):
            complain(sheet, line, column, quoted(word), "KEY=VALUE, separated by spaces")
    _once(sheet, line, column, [key for key, _ in split(cell)])


def paths(sheet: str, line: int, column: str, cell: str) -> None:
    """A list of `[DOMAIN=]FILE` or `FILE+FILE`, none of them empty, without the braces that wildcards have."""
    for word in cell.split():
        if re.search(r"[{}]", word):
            complain(sheet, line, column, quoted(word), "a path without braces")
        if not all(word.rpartition("=")[2].split("+")):
            complain(sheet, line, column, quoted(word), "a path, or several joined by +")


@contextmanager
def cell(sheet: str, line: int, column: str) -> Iterator[None]:
    """What is refused in this block is the fault of this cell."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{sheet}, line {line}, column {column}: {error}") from None


def split(cell: str) -> list[tuple[str, str]]:
    """Keys and values of a cell of the form `KEY=VALUE KEY=VALUE`."""
    return [(key, value) for key, _, value in (word.partition("=") for word in cell.split())]


def is_file(path: str) -> bool:
    """Whether there is a file of this name, whatever the name."""
    try:
        return Path(path).is_file()
    except OSError:  # a name too long
        return False


def complain(sheet: str, line: int, column: str, found: str, expected: str) -> NoReturn:
    """Raise the one sentence about a cell."""
    raise InputError(f"{sheet}, line {line}, column {column}: found {found}, expected {expected}")


def _once(sheet: str, line: int, column: str, found: Sequence[str]) -> None:
    for number, word in enumerate(found):
        if word in found[:number]:
            complain(sheet, line, column, f"{named(word)} again", "it once")
