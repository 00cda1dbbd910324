"""Tables for people: rounded as their columns are declared, as CSV, Markdown, LaTeX or HTML.

A p-value never becomes 0 by rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd

from pairsig.columns import Column, Shown, Table
from pairsig.errors import InputError
from pairsig.tables import check, escaped
from study.columns import declared

_ENDS = ("_low", "_high")
"""A share is shown with its interval, whose ends are in columns of their own."""
_WITH_ENDS = ("share", "change of share")

FORMATS = ("csv", "md", "tex", "html")


def p_value(value: float) -> str:
    """A p-value with 3 significant digits; below 0.001 it is said to be, never 0.

    >>> p_value(0.043216), p_value(0.00125), p_value(0.0), p_value(1.0)
    ('0.0432', '0.00125', '< 0.001', '1')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share as a percentage without decimals.

    >>> percent(0.8276)
    '83 %'
    """
    return f"{100 * share:.0f} %"


def change(share: float) -> str:
    """A difference of two shares in percentage points.

    >>> change(-0.306), change(0.021), change(0.001)
    ('−31', '+2', '0')
    """
    points = round(100 * share)
    return f"{points:+d}".replace("-", "−") if points else "0"


def count(value: float) -> str:
    """A count with thousands separators.

    >>> count(1000000)
    '1,000,000'
    """
    return f"{value:,.0f}"


def present(table: pd.DataFrame) -> pd.DataFrame:
    """`table` as text: cells rounded as their column is declared, the interval of a share beside it.

    Raises
    ------
    InputError
        For a share that is none, since its row's other cells are shown with it.
    """
    shares = tuple(replace(column, missing=True) for column in _columns(table) if column.shown in _WITH_ENDS)
    table = check(table.reset_index(drop=True), Table("the table", shares))
    rows, texts = table.to_dict("records"), {}
    shown = {column.name for column in _columns(table) if column.shown in _WITH_ENDS}
    beside = {f"{name}{end}" for name in shown for end in _ENDS}
    for name, column in zip(table.columns, _columns(table), strict=True):
        if name in beside:
            continue
        texts[name] = [_cell(column, value, row) for value, row in zip(table[name], rows, strict=True)]
    return pd.DataFrame(texts, index=table.index, dtype=str)


def _columns(table: pd.DataFrame) -> list[Column]:
    """The columns as they are declared; one that is not is shown as it is."""
    names = [str(name) for name in table.columns]
    return [column or Column(name, object, "") for name, column in zip(names, declared(names), strict=True)]


def _cell(column: Column, value: Any, row: Mapping[Any, Any]) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if column.shown in _WITH_ENDS:
        low, high = (float(row.get(f"{column.name}{end}", "nan")) for end in _ENDS)
        if not (pd.isna(low) or pd.isna(high)):
            if column.shown == "share":
                return f"{percent(value)} ({100 * low:.0f}–{percent(high)})"
            return f"{change(value)} ({change(low)} to {change(high)})"
    return _ROUNDED[column.shown](value, row)


def _plain(value: float) -> str:
    return f"{value:,}" if pd.api.types.is_integer(value) else f"{value:.3g}".replace("-", "−")


def _two_decimals(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def by_unit(value: float, unit: str) -> str:
    """A number with the digits that its unit deserves.

    >>> by_unit(2034, "sentences"), by_unit(0.0512, "p"), by_unit(-0.484, "exponent")
    ('2,034', '0.0512', '−0.48')
    """
    if unit in ("%", "pairs", "samples", "sentences"):
        return count(value)
    return f"{value:.3g}" if unit in ("p", "seconds") else _two_decimals(value)


_ROUNDED: dict[Shown, Callable[[Any, Mapping[Any, Any]], str]] = {
    "as it is": lambda value, _: _plain(value),
    "count": lambda value, _: count(value),
    "p-value": lambda value, _: p_value(value),
    "bound": lambda value, _: f"{value:.6g}",
    "share": lambda value, _: percent(value),
    "change of share": lambda value, _: change(value),
    "two decimals": lambda value, _: _two_decimals(value),
    "by unit": lambda value, row: by_unit(value, row.get("unit", "")),
}


def render(table: pd.DataFrame, format: str, caption: str | None = None) -> str:  # noqa: A002
    """`table` for readers: `csv`, `md` (Markdown), `tex` (LaTeX with booktabs) or `html` (a whole page).

    p-values have 3 significant digits and are never 0 (`< 0.001`), gains 2 decimals, counts thousands
    separators; shares are percentages with their interval. `csv` keeps the table's column names and has no
    thousands separators in counts; the others print headings.
    """
    if format not in FORMATS:
        raise InputError(f"{format} is not a format of tables; known are {', '.join(FORMATS)}")
    texts = present(table)
    columns = {column.name: column for column in _columns(table)}
    if format == "csv":
        plain = texts.replace({"−": "-"}, regex=True)
        for name in plain.columns:
            if columns[name].shown == "count" or columns[name].type is int:
                plain[name] = plain[name].str.replace(",", "")
        return str(plain.to_csv(index=False, lineterminator="\n"))
    if format == "html":
        texts = _for_a_page(texts)
    texts = texts.replace({"": "–"})
    numeric = [
        pd.api.types.is_numeric_dtype(table[name]) and not pd.api.types.is_bool_dtype(table[name])
        for name in texts.columns
    ]
    headers = [columns[name].title for name in texts.columns]
    align = ["right" if number else "left" for number in numeric]
    return _RENDERERS[format](headers, texts.to_numpy().tolist(), align, caption)


LEADING = ("verdict", "ours", "published", "expected", "unit", "what")
"""What a reader looks for first in the table of ours beside the papers'."""

WIDE = 9
"""Columns of a page; the others of a row are shown when they are asked for."""


def _for_a_page(texts: pd.DataFrame) -> pd.DataFrame:
    """The columns as a page has them: intervals beside their numbers, `LEADING` first."""
    merged = _merged(texts)
    leading = [name for name in LEADING if name in merged] if {"ours", "published"} <= set(merged.columns) else []
    return merged[[*leading, *(name for name in merged.columns if name not in leading)]]


def _merged(texts: pd.DataFrame) -> pd.DataFrame:
    """The ends of intervals in the cell of what they are of: `1.48 [1.34, 1.63]`.

    Ends are in columns that are named after it, or in `low` and `high` behind it.
    """
    merged = texts.copy()
    names = list(texts.columns)
    ends = {name: (f"{name}_low", f"{name}_high") for name in names}
    if "low" in names and names.index("low") and "high" in names:
        ends[names[names.index("low") - 1]] = ("low", "high")
    for name, (low, high) in ends.items():
        if low in texts and high in texts:
            known = (texts[low] != "") & (texts[high] != "")
            merged[name] = texts[name].where(~known, texts[name] + " [" + texts[low] + ", " + texts[high] + "]")
            merged = merged.drop(columns=[low, high])
    return merged


def _tabulate(headers: list[str], rows: list[list[str]], align: list[str], form: str) -> str:
    from tabulate import tabulate

    return str(tabulate(rows, headers, tablefmt=form, colalign=align if rows else None, disable_numparse=True))


def _markdown(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    rows = [[escaped(cell.replace("\n", " "), "markdown") for cell in row] for row in rows]
    body = _tabulate([escaped(header, "markdown") for header in headers], rows, align, "pipe")
    return f"{body}\n" if caption is None else f"{caption}\n\n{body}\n"


_TEX_SYMBOLS = str.maketrans({
    "–": "--", "−": r"\ensuremath{-}", "≈": r"\ensuremath{\approx}", "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}", "×": r"\ensuremath{\times}", "δ": r"\ensuremath{\delta}",
})  # fmt: skip


def _latex(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    body = _tabulate(headers, rows, align, "latex_booktabs").translate(_TEX_SYMBOLS)
    if caption is None:
        return f"{body}\n"
    from tabulate import LATEX_ESCAPE_RULES

    escaped = "".join(LATEX_ESCAPE_RULES.get(letter, letter) for letter in caption)
    words = escaped.translate(_TEX_SYMBOLS)
    return f"\\begin{{table}}[t]\n\\centering\n{body}\n\\caption{{{words}}}\n\\end{{table}}\n"


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
.right {{ text-align: right; }}
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


def _html(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    """A page that fits a window: what a row has beyond `WIDE` columns is folded away."""
    shown = len(headers) if len(headers) <= WIDE + 1 else WIDE
    lines = [] if caption is None else [f"<caption>{escape(caption)}</caption>"]
    heads = [f'<th class="{side}">{escape(head)}</th>' for head, side in zip(headers[:shown], align, strict=False)]
    lines += ["<thead>", f"<tr>{''.join(heads)}{'<th>more</th>' if shown < len(headers) else ''}</tr>", "</thead>"]
    lines.append("<tbody>")
    for row in rows:
        cells = [f'<td class="{side}">{escape(cell)}</td>' for cell, side in zip(row[:shown], align, strict=False)]
        rest = [(head, cell) for head, cell in zip(headers[shown:], row[shown:], strict=True) if cell != "–"]
        if shown < len(headers):
            told = "".join(f"<dt>{escape(head)}</dt><dd>{escape(cell)}</dd>" for head, cell in rest)
            cells.append(f'<td><details><summary title="the other columns"></summary><dl>{told}</dl></details></td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(["<table>", *lines, "</tbody>", "</table>"])
    return _PAGE.format(title=escape(caption or "Table"), table=body)


_RENDERERS: dict[str, Callable[[list[str], list[list[str]], list[str], str | None], str]] = {
    "md": _markdown,
    "tex": _latex,
    "html": _html,
}
