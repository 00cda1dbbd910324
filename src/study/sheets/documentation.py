"""The tables of columns and keys on the pages in `docs/sheets`, made from the models."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from study.sheets.config import Config
from study.sheets.models import CLASSES

SHEETS = {f"{name}.{'yaml' if of.yaml else 'tsv'}": of for name, of in CLASSES.items()}
"""Models by the name of the file, which is the heading on the page."""

_TABLE = re.compile(r"(?<=\n)## (?P<name>\S+)\n(?P<text>(?:(?!\|)[^\n]*\n)*)(?P<table>(?:\|[^\n]*\n)+)")


def filled(page: str) -> str:
    """Replace the first table below the heading of each sheet, or of the config."""
    return _TABLE.sub(lambda match: f"## {match['name']}\n{match['text']}{table(match['name'])}", page)


def table(name: str) -> str:
    """The table of the columns of a sheet, or of the keys of the config."""
    if name in SHEETS:
        fields = SHEETS[name].model_fields.items()
        rows = [(f"`{key}`{' (optional)' * (not field.is_required())}", field) for key, field in fields]
    else:
        rows = [(f"`{key}`", field) for key, field in keys(Config)]
    cells = [f"| {key} | {field.description} | `{(field.examples or [''])[0]}` |\n" for key, field in rows]
    return f"| {'column' if name in SHEETS else 'key'} | description | example |\n|---|---|---|\n{''.join(cells)}"


def keys(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """All keys with their blocks, such as `resampling.seed`; a block with an example is one key."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel) and not field.examples:
            yield from keys(field.annotation, f"{above}{name}.")
        else:
            yield f"{above}{name}", field
