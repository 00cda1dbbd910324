"""Report comparisons as a self-contained HTML page or as a figure for a paper.

`evidence` computes the content, `words` phrases it, `page` and `draw` display it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pairsig.comparisons.wording import equation
from pairsig.io.tables import write_text
from pairsig.metrics.names import metric_name
from pairsig.report.evidence import Evidence, of_methods, of_systems
from pairsig.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Evidence", "draw", "drawn", "left_out", "of_methods", "of_systems", "page", "write"]

MOST_DRAWN = 60
"""Number of comparisons in a figure."""


def write(comparisons: Sequence[Evidence], path: str | Path, notes: Sequence[str] = ()) -> None:
    """Write the page to a file, which appears only when it is complete; `notes` say what was read."""
    write_text(page(comparisons, notes), path)


def draw(comparisons: Sequence[Evidence], path: str | Path) -> list[str]:
    """Draw each difference with its interval, as SVG, PDF or PNG; returns a note if some are left out."""
    from pairsig.io import pictures

    pictures.save(pictures.styled(drawn)(comparisons), path)
    note = left_out(comparisons)
    return [f"{path}: {note}"] if note else []


def left_out(comparisons: Sequence[Evidence]) -> str:
    """What the figure leaves out, or ""."""
    n = len(comparisons) - MOST_DRAWN
    return (
        f"the figure shows the first {MOST_DRAWN} of {len(comparisons)} comparisons; {n} are left out" if n > 0 else ""
    )


def drawn(comparisons: Sequence[Evidence]) -> Figure:
    """A row for each comparison, by metric: the difference with its 95 % interval and p; with one, also by domain."""
    from pairsig.io.pictures import Picture, plot_intervals

    by_metric: dict[str, list[tuple[str, float, float, float]]] = {}
    tests = dict.fromkeys(evidence.tests[0][0] for evidence in comparisons)
    for evidence in comparisons[:MOST_DRAWN]:
        label, p, holm = evidence.tests[0]
        about = f"{equation(holm or p)}{', Holm' if holm else ''}{f', {label}' if len(tests) > 1 else ''}"
        name = f"{evidence.system_a} − {evidence.system_b} ({about})"
        rows = by_metric.setdefault(evidence.metric, [])
        rows.append((name, *evidence.signed))
        if len(comparisons) == 1:
            sign = 1 if evidence.signed[0] >= 0 else -1
            for row in evidence.domains.itertuples(index=False):
                low, high = (row.low, row.high) if sign > 0 else (-row.high, -row.low)
                rows.append((f"  {row.domain}", sign * row.gain, low, high))
    heights = [0.55 + 0.2 * len(rows) for rows in by_metric.values()]
    note = left_out(comparisons)
    figure = Picture(figsize=(6.3, math.fsum(heights) + 0.2 * bool(note)))
    axes = figure.subplots(len(by_metric), 1, squeeze=False, height_ratios=heights)[:, 0]
    of_test = f"; test: {next(iter(tests))}" if len(tests) == 1 else ""
    for (metric, rows), ax in zip(by_metric.items(), axes, strict=True):
        plot_intervals(ax, rows, f"difference in {metric_name(metric)} with 95 % interval{of_test}")
    if note:
        figure.supxlabel(note, fontsize=8)
    return figure
