"""Rows of `compare` as text: a table, p-values, intervals and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from typing import Any

from pairsig.core.definitions import find
from pairsig.io import rendering
from pairsig.io.columns import BASELINE
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records
from pairsig.metrics.names import metric_name
from pairsig.stats.near_exact import BOUNDED

SHOWN = 2
"""Number of notes that are shown without `--details`."""


def render(table: pd.DataFrame | Sequence[Row], format: str, *, details: bool = True) -> str:  # noqa: A002
    """Render the table of `compare` as `table` (for a terminal), `markdown` or `latex`.

    The notes of its rows are printed below it, in LaTeX as comments, without `details` at most `SHOWN`; in Markdown and
    LaTeX the signatures follow.
    """
    table = records(table)
    a, b = (list(dict.fromkeys(row[side] for row in table)) for side in ("system_a", "system_b"))
    headings = {"score_a": f"A: {a[0]}"} if len(a) == 1 else {"system_a": "A", "score_a": "score"}
    headings |= {"score_b": f"B: {b[0]}"} if len(b) == 1 else {"system_b": "B", "score_b": "score"}
    of_pair = {"metric": "", "n_units": "n"} | headings | {"difference": "A − B [95 %]"}
    alone = {"only_a": "", "only_b": ""} if any(row["only_a"] is not None for row in table) else {}
    columns = BASELINE.view(**of_pair, **alone, test="", pvalue="")
    falls = {row["metric"] for row in table if lower_is_better(row, row["system_b"])}
    rows = [
        row
        | {
            "metric": metric_name(row["metric"]) + " ↓" * (row["metric"] in falls),  # lower is better
            "difference": _with_interval(row),
            "test": label(row["test"], row["method"], row["alternative"]),
            "pvalue": shown_p(row),
            "pvalue_holm": adjusted,
        }
        for row, adjusted in zip(table, shown_adjusted(table), strict=True)
    ]
    if any(row["n_compared"] > 1 for row in table):
        columns += BASELINE.view(pvalue_holm="")
    notes = footnotes(table) if details else most_important(footnotes(table))
    signatures = [row["signature"] for row in table]
    return rendering.render(rows, columns, format, notes=notes, signatures=signatures, once=len(of_pair))


def lower_is_better(row: Any, b: str) -> bool:
    """Whether the better of two systems, of which `b` is the second, has the lower score."""
    return bool(row["better"]) and (row["better"] == b) == (row["score_b"] < row["score_a"])


def _with_interval(row: Row) -> str:
    shown = rounded(row["difference"], 2)
    return shown if row["ci_low"] is None else f"{shown} [{rounded(row['ci_low'], 2)}, {rounded(row['ci_high'], 2)}]"


def rounded(value: float, places: int) -> str:
    """A number with decimals; one that is not 0 never looks like 0, because an interval may end just beside it.

    >>> rounded(-1.234, 2), rounded(0.0004, 2), rounded(0.0, 2)
    ('−1.23', '0.0004', '0.00')
    """
    text = f"{value:.{places}f}" if value == 0 or round(value, places) else f"{value:.1g}"
    return text.replace("-", "−")


def most_important(notes: Sequence[str]) -> list[str]:
    """The first notes, and how many more there are."""
    left = len(notes) - SHOWN
    return [*notes[:SHOWN], *([f"{left} more note{'s' * (left > 1)}: --details"] if left > 0 else [])]


def shown_p(row: Row) -> str:
    """A p-value with three digits; as a bound if the resamples only show one, or if it is too small for a float."""
    p = row["pvalue"]
    if p == 0 and row["n_resamples"]:
        return below(row["pvalue_high"])
    if row["estimator"] == BOUNDED:
        return below(p)
    if p < 1e-300 and math.isfinite(row["log10_pvalue"]):
        return f"1e{row['log10_pvalue']:.1f}"
    return f"{p:.3g}" if p > 0 else below(0)


def shown_adjusted(table: pd.DataFrame | Sequence[Row]) -> list[str]:
    """The p-values adjusted by Holm as text, as `shown_p`."""
    return [
        below(row["pvalue_holm"]) if row["estimator"] == BOUNDED or row["pvalue"] == 0 else f"{row['pvalue_holm']:.3g}"
        for row in records(table)
    ]


def below(bound: float) -> str:
    """The text "< bound" with three digits; the bound 0 stands for exact p-values that are too small for a float."""
    if bound <= 0:
        return "< 1e-300"
    return f"< {float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(float(bound))):.3g}"


def equation(shown: str) -> str:
    """The output of `shown_p` and `shown_adjusted` in a sentence: "p = 0.03", "p < 0.001"."""
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def label(test: str, method: str, alternative: str) -> str:
    """The label of a test in printed tables."""
    return f"margin {alternative}" if test == "margin" else find(test, method, alternative).label


def footnotes(table: pd.DataFrame | Sequence[Row]) -> list[str]:
    """Every note once, with the metrics and systems that it is about unless these are all."""
    rows = records(table)
    several = len({(row["system_a"], row["system_b"]) for row in rows}) > 1
    about: dict[str, dict[str, None]] = {}
    everything = set()
    for row in rows:
        name = row["metric"] + f" for {row['system_a']} and {row['system_b']}" * several
        everything.add(name)
        for note in row["notes"]:
            about.setdefault(note, {})[name] = None
    return [note if len(on) == len(everything) else f"{'; '.join(on)}: {note}" for note, on in about.items()]
