"""A report of comparisons: one page of HTML that opens anywhere, or a picture for a paper.

`evidence` finds what there is to see, `words` says it, `page` and `draw` show it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairsig.errors import InputError
from pairsig.report.evidence import Evidence, of_methods, of_systems
from pairsig.report.page import page
from pairsig.report.words import points
from pairsig.tables import replacing
from pairsig.versus import equation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Evidence", "draw", "of_methods", "of_systems", "page", "write"]

MOST_DRAWN = 12
"""Comparisons that one picture has room for."""


def write(found: Sequence[Evidence], path: str | Path) -> None:
    """The page, as a file: whole, or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(page(found), encoding="utf-8", newline="\n")


def draw(found: Sequence[Evidence], path: str | Path) -> None:
    """A picture, as SVG, PDF or PNG: the law of each gain if nobody were better, and the gain by domain.

    Raises
    ------
    InputError
        If matplotlib is missing, and for more comparisons than one picture has room for.
    """
    from pairsig import pictures

    if len(found) > MOST_DRAWN:
        raise InputError(f"a picture has room for {MOST_DRAWN} comparisons, found {len(found)}: choose some, or --html")
    pictures.save(pictures.styled(_drawn)(found), path)


def _drawn(found: Sequence[Evidence]) -> Figure:
    from matplotlib.figure import Figure

    from pairsig.pictures import BLUE, GREY, INK, RUST

    rows = [1 + len(own.domains) for own in found]
    heights = [max(1.5 if own.null else 0.7, 0.6 + 0.17 * n) for own, n in zip(found, rows, strict=True)]
    both = any(own.null is not None for own in found)  # of runs there is no law to draw
    figure = Figure(figsize=(6.3 if both else 4.2, math.fsum(heights)))
    grid = figure.subplots(len(found), 2 if both else 1, squeeze=False, height_ratios=heights)
    for own, (left, *others) in zip(found, grid, strict=True):
        left.set_title(f"{own.ahead} over {own.behind}, {own.metric}", fontsize=8)
        right = others[0] if both else left
        if both and own.null is None:
            left.set_axis_off()
        elif own.null is not None:
            null = own.null
            middle = (null.edges[1:] + null.edges[:-1]) / 2
            width = np.diff(null.edges)
            left.bar(
                middle, null.mass / width, width, color=np.where(null.counted, RUST, "#b9bec5").tolist(), linewidth=0
            )
            left.axvline(own.gain, color=INK, linewidth=1)
            left.spines[["left"]].set_visible(False)
            left.set_yticks([])
            left.set_xlabel(f"gain by chance (points); {equation(own.tests[0][1])}")
        table = [("all", own.gain, own.low, own.high)]
        table += [(str(row.domain), row.gain, row.low, row.high) for row in own.domains.itertuples(index=False)]
        for height, (_, gain, low, high) in enumerate(table):
            right.plot(gain, height, "o", color=INK, markersize=3.5, zorder=3)
            right.hlines(height, low, high, color=BLUE, linewidth=1.2)
        right.axvline(0, color=GREY, linewidth=0.6)
        right.set_yticks(range(len(table)), [name for name, *_ in table])
        right.tick_params(axis="y", length=0)
        right.spines[["left"]].set_visible(False)
        right.set_ylim(len(table) - 0.4, -0.6)
        right.set_xlabel(f"gain, 95 % (points); all: {points(own.gain, own.digits)}")
    return figure
