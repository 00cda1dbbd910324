"""Common parts of the figures: labels and sentences. The style itself is the library's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from pairsig.io.pictures import COLOURS, GREY, INK, MARKERS, save, styled
from pairsig.metrics.names import metric_name

COLUMN, PAGE = 3.15, 4.6
"""Widths of figures with one and with two columns of panels, in inches.

Both are narrower than a page (6.3 inches), so that their letters can still be read when a screen of 390 pixels shrinks
them, and enlarged in print.
"""

BROWN = "#8A5F00"
"""A darker orange for thin lines."""

_METRICS = ("BLEU", "UAS", "PARSEVAL", "AER", "ROUGE-2 recall", "accuracy")


def metric_look(metric: str) -> tuple[str, str]:
    """Colour and marker of a metric, the same in all figures, by the name that readers see."""
    place = _METRICS.index(metric) if metric in _METRICS else len(_METRICS)
    return COLOURS[place], MARKERS[place]


RASTERIZE_ABOVE = 300
"""Larger scatter plots are embedded in SVG and PDF files as images, to keep the files small."""


STAR: dict[str, Any] = {"marker": "*", "markersize": 9, "markerfacecolor": "white", "markeredgecolor": INK}
"""Markers of single numbers of a paper."""

DASHED: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "dashes": (4, 2)}
"""Lines to compare with."""


def column() -> tuple[Figure, Axes]:
    """Make a figure with one panel in a column."""
    figure = Figure(figsize=(COLUMN, 2.4))
    return figure, figure.add_subplot()


def plain_numbers(*each: Axis, digits: str = ",.6g") -> None:
    """Label axes with numbers without powers of ten, and no minor ticks."""
    for axis in each:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:{digits}}"))
        axis.set_minor_formatter(NullFormatter())


def bars(rows: pd.DataFrame, name: str) -> np.ndarray:
    """Lengths of the error bars of a column with its interval, 0 where there is none."""
    middle = rows[name].to_numpy(float)
    ends = np.vstack([middle - rows[f"{name}_low"].to_numpy(float), rows[f"{name}_high"].to_numpy(float) - middle])
    lengths: np.ndarray = np.nan_to_num(ends.clip(min=0))
    return lengths


def line(label: str, **look: Any) -> Line2D:
    """Make the entry of a line in a legend."""
    return Line2D([], [], label=label, **look)


def mark(label: str, **look: Any) -> Line2D:
    """Make the entry of a marker in a legend."""
    return line(label, linestyle="none", **look)


def gain_label(metrics: pd.Series[str]) -> str:
    """Label of a gain axis, with the metric if there is only one."""
    names = metrics.unique()
    return f"{metric_name(names[0])} gain (points)" if len(names) == 1 else "gain (points)"


def explained(figure: Figure, handles: Sequence[Artist], title: str = "", ncols: int = 1) -> None:
    """Add a legend below all axes, where it hides no points, and the height that it needs."""
    labels = sum(str(handle.get_label()).count("\n") + 1 for handle in handles)
    lines = -(-labels // ncols) + (title.count("\n") + 1 if title else 0)
    figure.set_figheight(figure.get_figheight() + 0.155 * lines)
    figure.legend(
        handles=handles, loc="outside lower left", ncols=ncols, columnspacing=1.0, title=title or None,
        title_fontsize=8, alignment="left", frameon=False,
    )  # fmt: skip


def says(figure: Figure, title: str) -> Figure:
    """Give a figure its title: what the intervals of its data show, or else what is plotted."""
    figure.set_label(title)
    return figure


@styled
def titled(figure: Figure, subject: str = "") -> Figure:
    """Write the title of a figure above it, after the subject that config/figures.yaml declares."""
    title, width = str(figure.get_label()), figure.get_figwidth()
    title = f"{subject}: {title[0].lower()}{title[1:]}" if subject else title
    lines = textwrap.wrap(title, int(12.5 * width))
    figure.set_figheight(figure.get_figheight() + 0.16 * len(lines))
    figure.suptitle("\n".join(lines), x=0.05 / width, ha="left", fontsize=9, fontweight="bold")
    return figure


def write(figure: Figure, subject: str, paths: Iterable[str]) -> None:
    """Write a figure with its title to files; an SVG has the background of the page that shows it."""
    figure = titled(figure, subject)
    for path in paths:
        save(figure, path, transparent=path.endswith(".svg"))


def listed(words: Iterable[str]) -> str:
    """Join words with commas and `and`.

    >>> listed(["language", "domain", "genre"])
    'language, domain and genre'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def nothing(title: str) -> Figure:
    """Make a figure of one panel for tables without the rows that it would show."""
    figure, axes = column()
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", color=GREY)
    return says(figure, title)


def sequence(n: int) -> list[str]:
    """Make `n` blues from light to dark, whose order survives printing in grey.

    >>> sequence(2)
    ['#9ccbe8', '#08213d']
    """
    stops = np.array([[156, 203, 232], [33, 113, 181], [8, 33, 61]], dtype=float)
    places = np.linspace(0, 2, n) if n > 1 else np.array([2.0])
    channels = [np.interp(places, [0, 1, 2], stops[:, channel]) for channel in range(3)]
    return ["#" + "".join(f"{round(value):02x}" for value in rgb) for rgb in zip(*channels, strict=True)]
