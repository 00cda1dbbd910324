"""Format tables of the study for readers, as LaTeX or a page of HTML."""

from __future__ import annotations

from html import escape

import pandas as pd

from pairsig.io import rendering
from pairsig.io.columns import Table
from pairsig.io.tables import records

FORMATS = {"tex": "latex", "html": "html"}
"""Formats by the suffix of a file."""

LEAST = 0.001
"""Smaller p-values are shown as below this number."""

MOST_ROWS = 500
"""Number of rows on a page: the report, which has all pages, stays below 10 MB."""

LEADING = ("verdict", "ours", "published", "expected", "unit", "what")
"""Leading columns on the page of published numbers beside ours."""

WIDE = 9
"""Number of columns on a page; the remaining ones are folded."""


def rendered(table: pd.DataFrame, declared: Table, form: str) -> str:
    """Format a table as `tex` (LaTeX with booktabs) or `html` (a complete page).

    Cells are rounded as their columns declare. P-values below `LEAST` are shown as below it. See
    `pairsig.io.rendering.render`.
    """
    columns, caption = [declared[name] for name in table.columns], declared.caption
    if form == "html" and {"ours", "published"} <= set(table.columns):
        columns = sorted(columns, key=lambda column: (*LEADING, column.name).index(column.name))
    rows = records(table) or table  # without rows, the names of the columns
    if form == "html" and len(table) > MOST_ROWS:
        rows = rows[:MOST_ROWS]
        caption += f" (the first {MOST_ROWS:,} of {len(table):,} rows; the file .tsv has all)"
    text = rendering.render(rows, columns, FORMATS[form], caption=caption, least=LEAST, most=WIDE)
    return _PAGE.format(title=escape(caption or "Table"), table=text) if form == "html" else f"{text}\n"


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
