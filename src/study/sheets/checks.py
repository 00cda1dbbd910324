"""Complaints about cells of a sheet: what was found, where, and what was expected."""

from __future__ import annotations

import re
from typing import NoReturn

from pairsig.errors import InputError


def pairs(sheet: str, line: int, column: str, cell: str) -> dict[str, str]:
    """The pairs of a cell, checked."""
    for word in cell.split():
        if not re.fullmatch(r"[^=]+=.+", word):
            complain(sheet, line, column, repr(word), "KEY=VALUE, separated by spaces")
    return dict(split(cell))


def split(cell: str) -> list[tuple[str, str]]:
    """Keys and values of a cell of the form `KEY=VALUE KEY=VALUE`."""
    return [(key, value) for key, _, value in (word.partition("=") for word in cell.split())]


def complain(sheet: str, line: int, column: str, found: str, expected: str) -> NoReturn:
    """Raise the one sentence about a cell."""
    raise InputError(f"{sheet}, line {line}, column {column}: found {found}, expected {expected}")
