"""One style for all figures: sizes, colours, markers, and how a figure is saved."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pairsig.columns import Table
from pairsig.errors import InputError, named
from pairsig.metrics.names import metric_name
from pairsig.tables import check, replacing

COLUMN, PAGE = 3.15, 6.3
"""Widths of one and of two columns of an ACL paper, in inches."""

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same letters on every machine
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.fontsize": 8,
    "legend.frameon": True,
    "legend.framealpha": 1,
    "legend.edgecolor": "white",
    "legend.fancybox": False,
    "legend.borderpad": 0.2,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.3,
    "legend.borderaxespad": 0.1,
    "lines.linewidth": 1,
    "lines.markersize": 4.5,
    "errorbar.capsize": 0,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.h_pad": 0.02,
    "savefig.facecolor": "white",
    "svg.hashsalt": "pairsig",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a name may have dollars
}

# Okabe and Ito's colours, in an order in which neighbours differ in lightness too; markers differ as well.
BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
RUST = "#A84300"  # vermilion, darker: far from the sky blue in grey too
GREY, INK = "#767676", "#222222"
COLOURS = (BLUE, ORANGE, "#000000", SKY, VERMILION, GREEN, PURPLE)
MARKERS = ("o", "^", "s", "D", "v", "P", "X")

RASTERIZE_ABOVE = 2_000
"""Scatters of more points are drawn as an image inside SVG and PDF, so that the files stay small."""

_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "pairsig"},
    ".pdf": {"CreationDate": None, "Creator": "pairsig", "Producer": None},
    ".png": {"Software": None},
}
_DPI = {".svg": 300, ".pdf": 300, ".png": 200}

Parameters = ParamSpec("Parameters")


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """`draw` in this style, whatever the user's own matplotlib settings are."""

    @wraps(draw)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Figure:
        with matplotlib.style.context(["default", STYLE]):
            return draw(*args, **kwargs)

    return drawn


def save(figure: Figure, path: str | Path) -> None:
    """Write `figure` to `path` as its suffix says: `.svg`, `.pdf` or `.png` (200 dpi).

    The bytes depend only on the figure and the version of matplotlib: no dates, no random ids. The
    file appears under its name when it is complete.
    """
    path = Path(path)
    if path.suffix not in _METADATA:
        raise InputError(f"{path}: a figure ends in .svg, .pdf or .png, not in {path.suffix or 'nothing'}")
    with replacing(path) as temporary, matplotlib.style.context(["default", STYLE]):
        figure.savefig(temporary, dpi=_DPI[path.suffix], metadata=_METADATA[path.suffix])


def require(declared: Table, table: pd.DataFrame) -> pd.DataFrame:
    """`table`, after it has been found to have the declared columns, and what they should hold."""
    return check(table, declared)


def only(name: str, table: pd.DataFrame, columns: str) -> None:
    """Raise `InputError` unless each of `columns` (separated by blanks) has one value in `table`."""
    for column in columns.split():
        values = table[column].unique()
        if len(values) > 1:
            shown = ", ".join(named(str(value)) for value in values[:5]) + (", ..." if len(values) > 5 else "")
            raise InputError(f"{name}: this figure shows one {column} at a time, found {len(values)}: {shown}")


def gain_label(metrics: pd.Series[str]) -> str:
    """The label of a gain axis: names the metric where there is only one."""
    names = metrics.unique()
    return f"{metric_name(names[0])} gain (points)" if len(names) == 1 else "gain (points)"


def sentence(axes: Axes, text: str, place: tuple[float, float] | None = None) -> None:
    """Write `text` in the middle of empty `axes`, without their ticks, or at a `place` (fractions) of others."""
    if place is None:
        axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axes.text(*(place or (0.5, 0.5)), text, transform=axes.transAxes, ha="center", va="center", color=GREY)


def sequence(n: int) -> list[str]:
    """`n` blues from light to dark, which keep their order in grey.

    >>> sequence(2)
    ['#9ccbe8', '#08213d']
    """
    stops = np.array([[156, 203, 232], [33, 113, 181], [8, 33, 61]], dtype=float)
    places = np.linspace(0, 2, n) if n > 1 else np.array([2.0])
    channels = [np.interp(places, [0, 1, 2], stops[:, channel]) for channel in range(3)]
    return ["#" + "".join(f"{round(value):02x}" for value in rgb) for rgb in zip(*channels, strict=True)]
