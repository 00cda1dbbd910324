"""The style of all figures of the library and the study (sizes, colours, markers), and how figures are saved.

This module needs matplotlib, an optional dependency, so it is imported only when a figure is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any, ParamSpec

from pairsig.io.errors import InputError
from pairsig.io.packages import need
from pairsig.io.tables import replacing

need("matplotlib")
import matplotlib.style  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: E402

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so figures look the same on every machine
    "font.size": 8,  # also of labels and legends
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
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
    "text.parse_math": False,  # a name may contain dollar signs
}

# The colours of Okabe and Ito, ordered so that neighbours also differ in lightness; markers differ as well.
BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
RUST = "#A84300"  # a darker vermilion that differs from sky blue in greyscale too
GREY, INK = "#767676", "#222222"
COLOURS = (BLUE, ORANGE, "#000000", SKY, VERMILION, GREEN, PURPLE)
MARKERS = ("o", "^", "s", "D", "v", "P", "X")

_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "pairsig"},
    ".pdf": {"CreationDate": None, "Creator": "pairsig", "Producer": None},
    ".png": {"Software": None},
}
"""By format of figures."""


class Picture(Figure):
    """A figure that notebooks show. They show others only after something has imported pyplot."""

    def _repr_svg_(self) -> str:
        file = StringIO()
        with matplotlib.style.context(["default", STYLE]):
            self.savefig(file, format="svg", metadata=_METADATA[".svg"])
        return file.getvalue()


def plot_intervals(axes: Axes, rows: Sequence[tuple[str, float, float, float]], label: str) -> None:
    """Plot numbers with their intervals, one below the other, each with a name, beside a line at 0."""
    for height, (_, value, low, high) in enumerate(rows):
        axes.plot(value, height, "o", color=INK, markersize=3.5, zorder=3)
        axes.hlines(height, low, high, color=BLUE, linewidth=1.2)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0)
    axes.spines[["left"]].set_visible(False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(label)


Parameters = ParamSpec("Parameters")


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """`draw` in this style, independent of the user's matplotlib settings."""

    @wraps(draw)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Figure:
        with matplotlib.style.context(["default", STYLE]):
            return draw(*args, **kwargs)

    return drawn


def save(figure: Figure, path: str | Path, *, transparent: bool = False) -> None:
    """Write `figure` to `path` in the format of the suffix: `.svg`, `.pdf` or `.png` (200 dpi).

    With `transparent`, the background of the page shows through.

    The bytes depend only on the figure and the version of matplotlib, since they contain no dates or random ids.
    The file appears under its name only when it is complete.
    """
    path = Path(path)
    if path.suffix not in _METADATA:
        end = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        raise InputError(f"{path} {end}, expected .svg, .pdf or .png")
    # Without a layout engine, saving draws the figure once instead of twice.
    style = STYLE | {"figure.constrained_layout.use": False}
    with replacing(path) as temporary, matplotlib.style.context(["default", style]):
        if isinstance(layout := figure.get_layout_engine(), ConstrainedLayoutEngine):  # once for all formats
            layout.execute(figure)
            figure.set_layout_engine(None)
        dpi = 200 if path.suffix == ".png" else 300
        figure.savefig(temporary, dpi=dpi, metadata=_METADATA[path.suffix], transparent=transparent)
