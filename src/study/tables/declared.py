"""Find the declarations of the tables of all analyses, which stand in their modules."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from pairsig.io.columns import Table


@cache
def all_declared() -> dict[str, Table]:
    """Declarations of the tables of the study, by the names of their files: all in `reproduction` and `beyond`."""
    found = {}
    for package in ("study.reproduction", "study.beyond"):
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            values = vars(import_module(module.name)).values()
            found.update({value.name: value for value in values if isinstance(value, Table)})
    return found


def declared(name: str) -> Table:
    """Find the declaration of a table."""
    return all_declared()[name]
