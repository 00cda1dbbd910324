"""Tables for people: rounded by the kind of the column, in words, as CSV, Markdown, LaTeX or HTML.

A p-value never becomes 0 by rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

import pandas as pd

from pairsig.errors import InputError

FORMATS = ("csv", "md", "tex", "html")

HEADERS = {
    "system_a": "system A", "system_b": "system B", "kind_a": "kind A", "kind_b": "kind B",
    "score_a": "score A", "score_b": "score B", "n_segments": "segments", "n_resamples": "resamples",
    "n_greater": "greater", "n_equal": "ties", "n_all": "pairs", "n_pairs": "pairs in range",
    "n_sizes": "sizes", "n_held": "held", "ours_n_segments": "our segments", "gain_se": "s.e. of gain",
    "n_simulated": "simulated pairs", "n_runs": "runs", "n_repeats": "repeats", "p_mean": "mean p", "p_sd": "s.d. of p",
    "expected": "published, scaled", "p_normal": "p (normal)", "p_value": "p",
}  # fmt: skip

_P_VALUES = frozenset({"p_value", "p_low", "p_high", "p_normal"})
_IN_UNIT = frozenset({"published", "ours", "low", "high", "expected"})
_GAINS = _IN_UNIT | {"gain", "gain_se", "score_a", "score_b", "threshold", "median"}


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


def count(value: float) -> str:
    """A count with thousands separators.

    >>> count(1000000)
    '1,000,000'
    """
    return f"{value:,.0f}"


def present(table: pd.DataFrame) -> pd.DataFrame:
    """`table` as text: cells rounded by the kind of their column, the interval of a share beside it."""
    table = table.reset_index(drop=True)
    texts = {}
    for column in table.columns:
        if column in ("share_low", "share_high") and "share" in table.columns:
            continue
        texts[column] = [_cell(str(column), value, row, table) for row, value in enumerate(table[column])]
    return pd.DataFrame(texts, index=table.index, dtype=str)


def _cell(column: str, value: Any, row: int, table: pd.DataFrame) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if column == "share" and {"share_low", "share_high"} <= set(table.columns):
        low, high = table["share_low"].iloc[row], table["share_high"].iloc[row]
        return percent(value) if pd.isna(low) else f"{percent(value)} ({100 * low:.0f}–{percent(high)})"
    return _number(column, value, table, row)


def _number(column: str, value: float, table: pd.DataFrame, row: int) -> str:
    if column.startswith("share"):
        return percent(value)
    if column.startswith("n_") or column.endswith("_n_segments"):
        return count(value)
    if column in _P_VALUES:
        is_range = column in ("p_low", "p_high") and "p_value" not in table.columns
        return f"{value:.6g}" if is_range else p_value(value)
    unit = table["unit"].iloc[row] if column in _IN_UNIT and "unit" in table.columns else ""
    if unit in ("%", "pairs", "samples", "sentences"):
        return count(value)
    if unit in ("p", "seconds"):
        return f"{value:.3g}"
    if column in _GAINS or column == "ratio" or column.startswith("exponent") or column == "similarity":
        return f"{value:.2f}".replace("-", "−")
    return f"{value:,}" if pd.api.types.is_integer(value) else f"{value:.3g}".replace("-", "−")


def render(table: pd.DataFrame, format: str, caption: str | None = None) -> str:  # noqa: A002
    """`table` for readers: `csv`, `md` (Markdown), `tex` (LaTeX with booktabs) or `html` (a whole page).

    p-values have 3 significant digits and are never 0 (`< 0.001`), gains 2 decimals, counts thousands
    separators; shares are percentages with their interval. `csv` keeps the table's column names and has no
    thousands separators; the others print words.
    """
    if format not in FORMATS:
        raise InputError(f"{format} is not a format of tables; known are {', '.join(FORMATS)}")
    texts = present(table)
    if format == "csv":
        plain = texts.replace({"−": "-"}, regex=True)
        for column in plain.columns:
            if str(column).startswith("n_") or str(column).endswith("_n_segments"):
                plain[column] = plain[column].str.replace(",", "")
        return str(plain.to_csv(index=False, lineterminator="\n"))
    texts = texts.replace({"": "–"})
    numeric = [
        pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column])
        for column in texts.columns
    ]
    headers = [HEADERS.get(str(column), str(column).replace("_", " ")) for column in texts.columns]
    align = ["right" if number else "left" for number in numeric]
    return _RENDERERS[format](headers, texts.to_numpy().tolist(), align, caption)


def _tabulate(headers: list[str], rows: list[list[str]], align: list[str], form: str) -> str:
    from tabulate import tabulate

    return str(tabulate(rows, headers, tablefmt=form, colalign=align if rows else None, disable_numparse=True))


def _markdown(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    def safe(cell: str) -> str:
        return re.sub(r"([|\\*_`<])", r"\\\1", cell).replace("\n", " ")

    rows = [[safe(cell) for cell in row] for row in rows]
    body = _tabulate([safe(header) for header in headers], rows, align, "pipe")
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
<title>{title}</title>
<style>
body {{ font: 14px/1.45 system-ui, sans-serif; color: #222; margin: 1.5em; }}
table {{ border-collapse: collapse; border-top: 2px solid #222; border-bottom: 2px solid #222; }}
caption {{ text-align: left; padding-bottom: .6em; max-width: 48em; }}
th, td {{ padding: .25em .8em; white-space: nowrap; font-variant-numeric: tabular-nums; }}
thead th {{ border-bottom: 1px solid #222; position: sticky; top: 0; background: #fff; }}
tbody tr:nth-child(even) {{ background: #f4f4f4; }}
</style>
</head>
<body>
{table}
</body>
</html>
"""


def _html(headers: list[str], rows: list[list[str]], align: list[str], caption: str | None) -> str:
    body = _tabulate(headers, rows, align, "html")
    if caption is not None:
        body = body.replace("<table>", f"<table>\n<caption>{escape(caption)}</caption>", 1)
    return _PAGE.format(title=escape(caption or "Table"), table=body)


_RENDERERS: dict[str, Callable[[list[str], list[list[str]], list[str], str | None], str]] = {
    "md": _markdown,
    "tex": _latex,
    "html": _html,
}
