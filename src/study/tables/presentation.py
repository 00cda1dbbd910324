"""Format tables of the study for readers as CSV, Markdown, LaTeX or a page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import chain

import pandas as pd

from pairsig.io import rendering
from pairsig.io.choices import choose
from pairsig.io.columns import Column, Table
from pairsig.io.tables import check

FORMATS = {"csv": "csv", "md": "markdown", "tex": "latex", "html": "html"}
"""Formats by the suffix of a file."""

LEAST = 0.001
"""Smaller p-values are shown as below this number."""

LEADING = ("verdict", "ours", "published", "expected", "unit", "what")
"""Leading columns on the page of published numbers beside ours."""

WIDE = 9
"""Number of columns on a page; the remaining ones are folded."""


def render(
    table: pd.DataFrame,
    format: str,  # noqa: A002
    caption: str | None = None,
    *,
    known: Sequence[Table],
) -> str:
    """Format a table as `csv`, `md` (Markdown), `tex` (LaTeX with booktabs) or `html` (a complete page).

    Cells are rounded as their columns declare; undeclared columns have 3 significant digits. P-values below `LEAST`
    are shown as below it. See `pairsig.io.rendering.render`. `known` has the tables whose columns are recognised.

    Raises
    ------
    InputError
        If the format is unknown, a number is text, or a share is not between 0 and 1.
    """
    choose(format, list(FORMATS), "format")
    names = [str(name) for name in table.columns]
    columns = [column or Column(name, object, "") for name, column in zip(names, _declared(names, known), strict=True)]
    numbers = tuple(replace(column, missing=True) for column in columns if column.type is float)
    rows = check(table.reset_index(drop=True), Table("the table", numbers))
    if format == "html" and {"ours", "published"} <= set(names):
        columns.sort(key=lambda column: (*LEADING, column.name).index(column.name))
    text = rendering.render(rows, columns, FORMATS[format], caption=caption or "", least=LEAST, most=WIDE)
    if format == "html":
        return _PAGE.format(title=escape(caption or "Table"), table=text)
    return text if format == "csv" else f"{text}\n"


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
