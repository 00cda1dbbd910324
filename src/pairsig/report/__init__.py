"""Report comparisons as a self-contained HTML page or as a figure for a paper.

`evidence` computes the content, `words` phrases it, `page` and `draw` display it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairsig.comparisons.wording import equation
from pairsig.io.errors import InputError
from pairsig.io.tables import write_text
from pairsig.report.evidence import Evidence, of_methods, of_systems
from pairsig.report.page import page
from pairsig.report.words import points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Evidence", "draw", "drawn", "of_methods", "of_systems", "page", "write"]

MOST_DRAWN = 12
"""Maximum number of comparisons in a figure."""


def write(comparisons: Sequence[Evidence], path: str | Path) -> None:
    """Write the page to a file, which appears only when it is complete."""
    write_text(page(comparisons), path)


def draw(comparisons: Sequence[Evidence], path: str | Path) -> None:
    """Draw each gain with its null distribution and by domain, as SVG, PDF or PNG; see `check_drawn`."""
    from pairsig.io import pictures

    pictures.save(pictures.styled(drawn)(comparisons), path)


def check_drawn(n_comparisons: int) -> None:
    """Raise `InputError` for more comparisons than fit into a figure."""
    if n_comparisons > MOST_DRAWN:
        raise InputError(
            f"found {n_comparisons} comparisons, expected at most {MOST_DRAWN} in a figure; select systems, or use "
            "--html"
        )


def drawn(comparisons: Sequence[Evidence]) -> Figure:
    """The figure that `draw` writes."""
    from pairsig.io.pictures import INK, RUST, Picture, plot_intervals

    rows = [1 + len(evidence.domains) for evidence in comparisons]
    heights = [
        max(1.5 if evidence.null else 0.7, 0.6 + 0.17 * n) for evidence, n in zip(comparisons, rows, strict=True)
    ]
    with_null = any(
        evidence.null is not None for evidence in comparisons
    )  # methods with runs have no null distribution
    figure = Picture(figsize=(6.3 if with_null else 4.2, math.fsum(heights)))
    grid = figure.subplots(len(comparisons), 2 if with_null else 1, squeeze=False, height_ratios=heights)
    for evidence, (left, *others) in zip(comparisons, grid, strict=True):
        left.set_title(f"{evidence.ahead} over {evidence.behind}, {evidence.metric}", fontsize=8)
        right = others[0] if with_null else left
        if with_null and evidence.null is None:
            left.set_axis_off()
        elif evidence.null is not None:
            null = evidence.null
            middle = (null.edges[1:] + null.edges[:-1]) / 2
            width = np.diff(null.edges)
            left.bar(
                middle, null.mass / width, width, color=np.where(null.counted, RUST, "#b9bec5").tolist(), linewidth=0
            )
            left.axvline(evidence.gain, color=INK, linewidth=1)
            left.spines[["left"]].set_visible(False)
            left.set_yticks([])
            left.set_xlabel(f"gain by chance alone (points); {equation(evidence.tests[0][1])}")
        table = [("all", evidence.gain, evidence.low, evidence.high)]
        table += [(str(row.domain), row.gain, row.low, row.high) for row in evidence.domains.itertuples(index=False)]
        plot_intervals(right, table, f"gain with 95 % interval (points); all: {points(evidence.gain, evidence.digits)}")
    return figure
