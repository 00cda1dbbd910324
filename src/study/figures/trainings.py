"""The figure of trainings of one method, and of the method that p names."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from study.columns import BETTER_METHOD, TRAININGS
from study.figures.style import BLUE, COLOURS, GREY, INK, MARKERS, ORANGE, PAGE, VERMILION, require, sentence, styled

CHANCE = 0.05
_QUESTIONS = {
    "outputs": ("the better outputs", BLUE, "o"),
    "method": ("the better method", VERMILION, "s"),
    "accounted": ("the better method,\ntraining accounted for", ORANGE, "^"),
}


@styled
def trainings(trainings: pd.DataFrame, better_method: pd.DataFrame) -> Figure:
    """Two runs of one method, and p near 0.05 for runs of two, against the size of the test set.

    Left: the share of pairs of runs of the *same* method with p < 0.05, by dataset; 5 % by chance at any size, which is
    where they are (crosses) once the spread of the other runs is accounted for. Right: how often p from 0.04 to 0.06
    names what is better on the other half of the segments, on the dataset with the largest test sets; dashed is what
    independent segments predict. Bars are 95 % intervals.
    """
    require(TRAININGS, trainings)
    require(BETTER_METHOD, better_method)
    figure = Figure(figsize=(PAGE, 3.6))
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        axes.set_xlabel("segments in the test set")
    drawn = trainings[(trainings["verdict"] == "estimated") & (trainings["dataset"] != "all")]
    _same(left, drawn)
    known = better_method[(better_method["verdict"] == "estimated") & (better_method["dataset"] != "all")]
    _named(right, known.dropna(subset=["named"]))
    return figure


def _same(axes: Axes, drawn: pd.DataFrame) -> None:
    axes.set_title("two runs of the same method: p < 0.05")
    if drawn.empty:
        sentence(axes, "too few pairs of runs")
        return
    ends = drawn.groupby("dataset", sort=False)["differ"].last().sort_values(ascending=False)
    for position, dataset in enumerate(ends.index):
        rows = drawn[drawn["dataset"] == dataset].sort_values("n_segments")
        colour, marker = COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)]
        n = rows["n_segments"].to_numpy(float)
        filled = colour if position < len(COLOURS) else "white"
        axes.plot(n, rows["differ"], color=colour, marker=marker, markerfacecolor=filled, label=dataset, gid="differ")
        last = rows.iloc[-1]
        axes.vlines(n[-1], last["differ_low"], last["differ_high"], color=colour, linewidth=0.8)
        axes.plot(n, rows["accounted"], "x", color=GREY, markersize=3, zorder=0.8, gid="accounted")
    axes.plot([], [], "x", color=GREY, markersize=3, label="training accounted for")
    axes.axhline(CHANCE, color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5, label="by chance: 5 %")
    axes.set_ylim(0, None)
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=3, fontsize=6.5)  # below: it would hide points


def _named(axes: Axes, known: pd.DataFrame) -> None:
    if known.empty:
        axes.set_title("p ≈ 0.05 names …")
        sentence(axes, "too few pairs of runs")
        return
    dataset = known["dataset"].iloc[int(np.argmax(known["n_segments"]))]
    axes.set_title(f"p ≈ 0.05 names … ({dataset})")
    for shift, (question, (label, colour, marker)) in zip((0.94, 1.0, 1.06), _QUESTIONS.items(), strict=True):
        rows = known[(known["dataset"] == dataset) & (known["question"] == question)].sort_values("n_segments")
        n = rows["n_segments"].to_numpy(float) * shift
        axes.plot(n, rows["named"], color=colour, marker=marker, label=label, gid=question)
        axes.vlines(n, rows["named_low"], rows["named_high"], color=colour, linewidth=0.8)
        if question == "method":
            axes.plot(n, rows["expected"], color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5, gid="expected",
                      label="predicted, did\ntraining not vary")  # fmt: skip
    axes.set_ylim(min(0.4, float(known.loc[known["dataset"] == dataset, "named_low"].min()) - 0.02), 1.01)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=6.5)
