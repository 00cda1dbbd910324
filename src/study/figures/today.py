"""Figure of the critical difference of translation test sets from 2008 to 2024, and of what it consists of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pairsig.io.pictures import BLUE, GREY, VERMILION, styled
from study.beyond.today import PAPER
from study.figures.style import DASHED, PAGE, bars, explained, line, mark, nothing, plain_numbers, says

LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "de-en": ("German to English", {"color": BLUE, "marker": "o"}),
    "en-de": ("English to German", {"color": VERMILION, "marker": "^"}),
    "other": ("other language pairs", {"color": GREY, "marker": "s"}),
}
PRINTED = {0.28: "paper: 0.28", 0.37: "paper: 0.37", 0.5: "half a point"}
"""Horizontal lines in BLEU."""


@styled
def years(years: pd.DataFrame) -> Figure:
    """Critical difference of every WMT test set at the size of the paper's, and its two parts.

    The left panel has the critical difference with its interval over systems. The right panel has the parts of which it
    is the product, relative to German–English in 2010: the standard deviation of BLEU per segment, and the root of
    1 − correlation.

    Parameters
    ----------
    years
        Table `YEARS` of `study.beyond.today`.
    """
    if years.empty:
        return nothing("Critical difference of translation test sets by year")
    figure = Figure(figsize=(PAGE, 2.7))
    left, right = figure.subplots(1, 2, sharex=True)
    left.set(title=f"critical difference, {PAPER:,} segments", xlabel="WMT test set", ylabel="BLEU (points)")
    right.set(title="relative to German–English 2010", xlabel="WMT test set", ylabel="ratio")
    for value, label in PRINTED.items():
        left.axhline(value, **DASHED)
        left.text(2020.4, value + 0.008, label, fontsize=7, color=GREY, ha="right", va="bottom")
    for kind, (_, look) in LOOKS.items():
        known = years["language_pair"].where(years["language_pair"].isin(LOOKS), "other")
        rows = years[known == kind]
        shift = {"de-en": -0.15, "en-de": 0.15, "other": 0.0}[kind]
        style = {"linestyle": "none", "markersize": 3.5, "elinewidth": 0.7, "alpha": 0.5 if kind == "other" else 1}
        places = rows["year"].to_numpy(float) + shift
        left.errorbar(places, rows["critical_difference"], yerr=bars(rows, "critical_difference"), **style, **look)
        if kind != "other":
            _parts(right, rows, places, years, look)
    right.axhline(1, **DASHED)
    left.set_ylim(0, 1.0)
    for axes in (left, right):
        axes.set_xticks([2008, 2012, 2016, 2020, 2024])
        plain_numbers(axes.xaxis, digits="g")
    handles = [mark(label, **look) for label, look in LOOKS.values()]
    handles += [mark("standard deviation per segment (right)", color=GREY, marker="o")]
    handles += [mark("√(1 − correlation) (right)", color=GREY, marker="o", markerfacecolor="white")]
    handles += [line("half a point, and the paper's thresholds (left)", **DASHED)]
    explained(figure, handles, ncols=2)
    return says(figure, "Newer language pairs need larger gains in BLEU; German–English less so")


def _parts(axes: Axes, rows: pd.DataFrame, places: np.ndarray, years: pd.DataFrame, look: dict[str, Any]) -> None:
    """Draw the spread per segment (filled) and the root of 1 − correlation (open), relative to the paper's test set."""
    paper = years[years["dataset"] == "wmt10-de-en"]
    if paper.empty:
        return
    spread = rows["spread"] / paper["spread"].iloc[0]
    unlike = np.sqrt((1 - rows["correlation"]) / (1 - paper["correlation"].iloc[0]))
    axes.plot(places, spread, linestyle="none", markersize=3.5, **look)
    axes.plot(places, unlike, linestyle="none", markersize=3.5, markerfacecolor="white", **look)
