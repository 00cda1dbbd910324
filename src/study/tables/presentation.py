"""Format tables of the study for readers, as LaTeX or a page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from typing import Any

import pandas as pd

from pairsig.io import rendering
from pairsig.io.choices import choose
from pairsig.io.columns import Column, Table
from pairsig.io.tables import check, records

FORMATS = {"tex": "latex", "html": "html"}
"""Formats by the suffix of a file."""

LEAST = 0.001
"""Smaller p-values are shown as below this number."""

LEADING = ("verdict", "ours", "published", "expected", "unit", "what")
"""Leading columns on the page of published numbers beside ours."""

WIDE = 9
"""Number of columns on a page; the remaining ones are folded."""


def rendered(
    table: pd.DataFrame, formats: Sequence[str], caption: str | None = None, *, known: Sequence[Table]
) -> dict[str, str]:
    """Format a table as `tex` (LaTeX with booktabs) or `html` (a complete page).

    Cells are rounded as their columns declare; undeclared columns have 3 significant digits. P-values below `LEAST`
    are shown as below it. See `pairsig.io.rendering.render`. `known` has the tables whose columns are recognised.

    Raises
    ------
    InputError
        If a format is unknown, a number is text, or a share is not between 0 and 1.
    """
    names = [str(name) for name in table.columns]
    declared = _declared(names, known)
    numbers = tuple(replace(column, missing=True) for column in declared if column and column.type is float)
    checked = check(table.reset_index(drop=True), Table("the table", numbers))
    columns = [column or _of(name, table[name]) for name, column in zip(names, declared, strict=True)]
    rows = records(checked) or checked  # without rows, the names of the columns
    texts = {}
    for name in formats:
        choose(name, list(FORMATS), "format")
        if name == "html" and {"ours", "published"} <= set(names):
            columns = sorted(columns, key=lambda column: (*LEADING, column.name).index(column.name))
        text = rendering.render(rows, columns, FORMATS[name], caption=caption or "", least=LEAST, most=WIDE)
        page = _PAGE.format(title=escape(caption or "Table"), table=text)
        texts[name] = page if name == "html" else f"{text}\n"
    return texts


def _of(name: str, cells: pd.Series[Any]) -> Column:
    """Declare a column that no table declares by its cells, which are shown as they are."""
    is_number = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
    return Column(name, float if is_number else object, "")


def _declared(names: Sequence[str], known: Sequence[Table]) -> list[Column | None]:
    """Declarations of these columns, from the table with exactly these columns, else from the first with the name."""
    table = next((table for table in known if table.names == tuple(names)), None)
    if table is not None:
        return list(table.columns)
    first = {column.name: column for column in chain.from_iterable(table.columns for table in reversed(known))}
    return [first.get(name) for name in names]


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 13px/1.4 system-ui, sans-serif; color: #222; margin: 1em; }}
table {{ border-collapse: collapse; width: 100%; border-top: 2px solid #222; border-bottom: 2px solid #222; }}
caption {{ text-align: left; padding-bottom: .6em; max-width: 48em; }}
th, td {{ padding: .25em .5em; font-variant-numeric: tabular-nums; vertical-align: top; overflow-wrap: break-word; }}
thead th {{ border-bottom: 1px solid #222; position: sticky; top: 0; background: #fff; text-align: left; }}
tbody tr:nth-child(even) {{ background: #f4f4f4; }}
details dl {{ margin: .4em 0; text-align: left; }}
details dt {{ color: #666; }}
details dd {{ margin: 0 0 .2em; }}
</style>
</head>
<body>
{table}
</body>
</html>
"""
