"""Tables for readers: text, Markdown, LaTeX or HTML, rounded, headed and aligned as their columns declare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any
from unicodedata import category, east_asian_width

from pairsig.io.columns import Column, Shown
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records

_SMALLEST = 1e-300
"""Smaller p-values may be 0 as floats."""

_WIDE = 100
"""Columns of a terminal that a table should not exceed."""


def render(
    rows: pd.DataFrame | Sequence[Row],
    columns: Sequence[Column],
    format: str,  # noqa: A002
    *,
    caption: str = "",
    notes: Iterable[str] = (),
    signatures: Iterable[str] = (),
    once: int = 0,
    borders: Sequence[int] = (),
    least: float = _SMALLEST,
    most: int | None = None,
) -> str:
    """Format a table for readers, as "table" (for a terminal), "markdown", "latex" or "html".

    Cells that are text already are shown as they are. A column whose interval is in `rows` gets it beside each number,
    and the columns with its ends are left out.

    `notes` are listed below the table (in LaTeX as comments), and `signatures` in the last lines, see `footnote`. The
    first `once` columns are blank in a row that repeats all of them. `borders` are the rows above which there is a
    line, in formats that have such lines (not in Markdown). P-values are shown as below `least`, unless their
    column declares more. HTML folds the columns after the first `most`.
    """
    texts = cells(rows, columns, least=least)
    chosen = [column for column in columns if column.name in texts]
    numeric = [_is_numeric(column, rows) for column in chosen]
    body = [[cell or "–" for cell in row] for row in zip(*texts.values(), strict=True)]
    for row in range(len(body) - 1, 0, -1):
        if once and body[row][:once] == body[row - 1][:once]:
            body[row][:once] = [""] * once
    heads = [column.title for column in chosen]
    if format == "html":
        return _html(heads, body, numeric, caption, notes, borders, most)
    if format == "table":  # some terminals lack the sign
        body = [[cell.replace("−", "-") if is_number else cell for cell, is_number in zip(row, numeric, strict=True)]
                for row in body]  # fmt: skip
    text = _TEXTS[format](heads, body, numeric, sorted(borders, reverse=True))
    below = "".join(f"\n{'%' if format == 'latex' else '-'} {escaped(note, format)}" for note in notes)
    below += footnote(signatures, format)
    if format == "latex" and caption:
        words = caption.translate(_IN_LATEX)
        return f"\\begin{{table}}[t]\n\\centering\n{text}\n\\caption{{{words}}}\n\\end{{table}}{below}"
    return (f"{caption}\n\n" if caption else "") + text + ("\n" if below and format != "latex" else "") + below


def cells(
    table: pd.DataFrame | Sequence[Row], columns: Sequence[Column], *, least: float = _SMALLEST
) -> dict[str, list[str]]:
    """The cells of each column as text, "" where one is missing, with intervals beside their numbers."""
    rows = records(table)
    known = set(next(iter(table), {}) if isinstance(table, Sequence) else table.columns)
    ends = {column.name: column.interval for column in columns if {*column.interval} <= known}
    merged = set(chain.from_iterable(ends.values()))
    return {
        column.name: [_cell(column, row, ends.get(column.name, ()), least) for row in rows]
        for column in columns
        if column.name not in merged
    }


def _cell(column: Column, row: Mapping[Any, Any], ends: Sequence[str], least: float) -> str:
    value = row[column.name]
    if isinstance(value, str):
        return value
    numbers = [None if number != number else number for number in (value, *(row[end] for end in ends))]
    if numbers.count(None) == len(numbers):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.shown == "p-value":
        texts = ["–" if number is None else pvalue(number, max(least, column.least)) for number in numbers]
    elif column.shown == "by unit":
        texts = ["–" if number is None else by_unit(number, str(row.get("unit", ""))) for number in numbers]
    else:
        texts = ["–" if number is None else _ROUNDED[column.shown](number) for number in numbers]
    if numbers[1:].count(None) == len(ends):
        return texts[0]
    if column.shown == "share":
        return "{} ({}–{})".format(texts[0], texts[1].removesuffix(" %"), texts[2])
    return ("{} ({} to {})" if column.shown == "change of share" else "{} [{}, {}]").format(*texts)


def pvalue(value: float, least: float = 0.001) -> str:
    """Format a p-value with 3 significant digits, or as below the number `least`; never as 0.

    >>> pvalue(0.043216), pvalue(0.00125), pvalue(0.0), pvalue(1.0)
    ('0.0432', '0.00125', '< 0.001', '1')
    """
    return f"< {least:g}" if value < least else f"{value:.3g}"


def percent(share: float) -> str:
    """Format a share as a percentage without decimals: 0.8276 as "83 %"."""
    return f"{100 * share:.0f} %"


def change(share: float) -> str:
    """Format a difference between shares in percentage points.

    >>> change(-0.306), change(0.021), change(0.001)
    ('−31', '+2', '0')
    """
    points = round(100 * share)
    return f"{points:+d}".replace("-", "−") if points else "0"


def count(value: float) -> str:
    """Format a count with thousands separators: 1,000,000."""
    return f"{value:,.0f}"


def by_unit(value: float, unit: str) -> str:
    """Format a number with the digits for its unit.

    >>> by_unit(2034, "sentences"), by_unit(0.0512, "p"), by_unit(-0.484, "exponent")
    ('2,034', '0.0512', '−0.48')
    """
    if unit in ("%", "pairs", "samples", "sentences"):
        return count(value)
    return _plain(float(value)) if unit in ("p", "seconds") else two_decimals(value)


def two_decimals(value: float) -> str:
    """Format a number with two decimals."""
    return f"{value:.2f}".replace("-", "−")


def _plain(value: float) -> str:
    return f"{value:,}" if not isinstance(value, float) else f"{value:.3g}".replace("-", "−")


_ROUNDED: dict[Shown, Callable[[Any], str]] = {
    "as it is": _plain,
    "count": count,
    "bound": "{:.6g}".format,
    "share": percent,
    "change of share": change,
    "two decimals": two_decimals,
}


def _is_numeric(column: Column, rows: pd.DataFrame | Sequence[Row]) -> bool:
    """Whether a column has numbers, by its declaration or, if there is none, by its cells."""
    if column.type is not object or isinstance(rows, Sequence):
        return column.type in (int, float)
    return pd.api.types.is_numeric_dtype(rows[column.name]) and not pd.api.types.is_bool_dtype(rows[column.name])


_MARKDOWN = re.compile(r"[\\|*_`<$~]|&(?=#?\w+;)|\](?=[(\[:])")


def escaped(text: str, format: str) -> str:  # noqa: A002
    r"""A text on one line, with markup escaped in Markdown.

    >>> escaped("a|b <i> f_1", "markdown")
    'a\\|b \\<i> f\\_1'
    """
    text = text.replace("\n", " ")
    return _MARKDOWN.sub(r"\\\g<0>", text) if format == "markdown" else text


_IN_LATEX = str.maketrans({
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "–": "--", "−": r"\ensuremath{-}", "≈": r"\ensuremath{\approx}",
    "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}", "×": r"\ensuremath{\times}", "δ": r"\ensuremath{\delta}",
    "†": r"$^\dagger$", "↓": r"\ensuremath{\downarrow}",
})  # fmt: skip
"""What is a command in LaTeX, and symbols that its font for text may not have."""

Rows = list[list[str]]


def _text(heads: list[str], body: Rows, numeric: list[bool], borders: Sequence[int]) -> str:
    """The table for a terminal."""
    rows = [[cell.replace("\n", " ") for cell in row] for row in (heads, *body)]
    widths = _widths(rows, 2)
    if sum(widths) + 2 * len(widths) - 2 > _WIDE:
        widths = _widths(rows, 0)
    head, *lines = ("  ".join(_padded(row, widths, numeric)).rstrip() for row in rows)
    rule = "  ".join("-" * width for width in widths)
    for place in borders:
        lines.insert(place, rule.replace("-", "·"))
    return "\n".join([head, rule, *lines])


def _markdown(heads: list[str], body: Rows, numeric: list[bool], _: Sequence[int]) -> str:
    rows = [[escaped(cell, "markdown") for cell in row] for row in (heads, *body)]
    widths = _widths(rows, 2)
    head, *lines = (f"| {' | '.join(_padded(row, widths, numeric))} |" for row in rows)
    dashes = ("-" * (width + 1) for width in widths)
    rule = "|".join(f"{run}:" if right else f":{run}" for run, right in zip(dashes, numeric, strict=True))
    return "\n".join([head, f"|{rule}|", *lines])


def _latex(heads: list[str], body: Rows, numeric: list[bool], borders: Sequence[int]) -> str:
    """The table with booktabs."""
    rows = [[cell.replace("\n", " ").translate(_IN_LATEX) for cell in row] for row in (heads, *body)]
    for row in rows:  # after `\\` LaTeX would take a bracket for extra space and a star for an unbreakable page
        row[0] = "{}" * row[0].startswith(("[", "*")) + row[0]
    widths = _widths(rows, 2)
    head, *lines = (f" {' & '.join(_padded(row, widths, numeric))} \\\\" for row in rows)
    for place in borders:
        lines.insert(place, r"\midrule")
    sides = "".join("r" if right else "l" for right in numeric)
    begin = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*begin, *lines, r"\bottomrule", r"\end{tabular}"])


_TEXTS = {"table": _text, "markdown": _markdown, "latex": _latex}


def _widths(rows: Rows, margin: int) -> list[int]:
    """The width of each column, with a margin for its heading."""
    return [max([_width(head) + margin, *map(_width, column)]) for head, *column in zip(*rows, strict=True)]


def _padded(row: list[str], widths: list[int], numeric: list[bool]) -> list[str]:
    padded = []
    for cell, width, right in zip(row, widths, numeric, strict=True):
        blanks = " " * (width - _width(cell))
        padded.append(blanks + cell if right else cell + blanks)
    return padded


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: two for each wide letter of Asian scripts, none for an accent."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(letter) in ("Mn", "Me", "Cf") else 2 if east_asian_width(letter) in "FW" else 1 for letter in text
    )


def _html(
    heads: list[str],
    body: Rows,
    numeric: list[bool],
    caption: str,
    notes: Iterable[str],
    borders: Sequence[int],
    most: int | None,
) -> str:
    shown = len(heads) if most is None or len(heads) <= most + 1 else most

    def row(tag: str, texts: list[str]) -> str:
        styles = (' style="text-align: right"' * right for right in numeric)
        return "".join(
            f"<{tag}{style}>{escape(text)}</{tag}>" for style, text in zip(styles, texts[:shown], strict=False)
        )

    folded = shown < len(heads)
    lines = ["<table>", *([f"<caption>{escape(caption)}</caption>"] if caption else [])]
    lines += ["<thead>", f"<tr>{row('th', heads)}{'<th>more</th>' * folded}</tr>", "</thead>", "<tbody>"]
    for number, texts in enumerate(body):
        folded_cells = [(head, cell) for head, cell in zip(heads[shown:], texts[shown:], strict=True) if cell != "–"]
        terms = "".join(f"<dt>{escape(head)}</dt><dd>{escape(cell)}</dd>" for head, cell in folded_cells)
        more = f'<td><details><summary title="the other columns"></summary><dl>{terms}</dl></details></td>' * folded
        border = ' style="border-top: 2px solid"' * (number in borders)
        lines.append(f"<tr{border}>{row('td', texts)}{more}</tr>")
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return "\n".join([*lines, "</tbody>", "</table>", *([f"<ul>{items}</ul>"] if items else [])])


def footnote(signatures: Iterable[str], format: str) -> str:  # noqa: A002
    r"""The signatures of a table's rows as its last lines, with which others can reproduce its numbers.

    Signatures that differ only in the metric are merged. LaTeX gets them in small type below the tabular. Formats that
    nobody pastes into a paper get "".

    >>> footnote(["metric:f1|test:exact|seed:1", "metric:recall|test:exact|seed:1"], "markdown")
    '\n- `metric:f1,recall|test:exact|seed:1`'
    """
    metrics: dict[str, list[str]] = {}
    for signature in dict.fromkeys(signatures):
        metric, settings = signature.removeprefix("metric:").split("|", 1)
        metrics.setdefault(settings, []).append(metric)
    whole = [f"metric:{','.join(names)}|{settings}" for settings, names in metrics.items()]
    if format == "markdown":
        # The name of a metric may contain backticks, so the code span is delimited by a longer row of them.
        fences = ["`" * (1 + max(map(len, re.findall("`+", signature)), default=0)) for signature in whole]
        return "".join(f"\n- {fence}{signature}{fence}" for fence, signature in zip(fences, whole, strict=True))
    if format == "latex":
        return "".join(f"\n\\par{{\\footnotesize\\texttt{{{signature.translate(_IN_LATEX)}}}}}" for signature in whole)
    return ""
