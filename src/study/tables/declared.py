"""Find the declarations of the tables of all analyses, which stand in their modules, and read tables by them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pandas as pd

from pairsig.io import tables
from pairsig.io.columns import Table


@cache
def all_declared() -> dict[str, Table]:
    """Declarations of the tables of the study, by the names of their files: all in `reproduction` and `beyond`.

    Sheets, which these modules read, have no caption.
    """
    by_name: dict[str, Table] = {}
    for package in ("study.reproduction", "study.beyond"):
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            values = vars(import_module(module.name)).values()
            by_name.update({value.name: value for value in values if isinstance(value, Table) and value.caption})
    return by_name


def declared(name: str) -> Table:
    """Find the declaration of a table."""
    return all_declared()[name]


def read(paths: Iterable[str | Path]) -> dict[str, pd.DataFrame]:
    """Read tables of the study, by the names of their files."""
    return {path.stem: tables.read(path, declared(path.stem)) for path in map(Path, paths)}
