"""Figure on training variance: runs of the same method, and predicting the better method."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from study.figures.style import BLUE, COLOURS, GREY, INK, MARKERS, ORANGE, PAGE, VERMILION, sentence, styled

CHANCE = 0.05
_QUESTIONS = {
    "outputs": ("the better outputs", BLUE, "o"),
    "method": ("the better method", VERMILION, "s"),
    "method-level test": ("the better method,\nmethod-level test", ORANGE, "^"),
}


@styled
def training_variance(training_variance: pd.DataFrame, better_method: pd.DataFrame) -> Figure:
    """Significant differences between runs of the same method, and replication, against the size of the test set.

    Left: the share of pairs of runs of the *same* method with p < 0.05, by dataset. By chance it is 5 % at any size;
    crosses show the method-level test. Right: the replication rate on the other half of the segments, for p between
    0.04 and 0.06 on the dataset with the largest test sets. The dashed line is the rate expected from independent
    segments. Bars are 95 % intervals.
    """
    figure = Figure(figsize=(PAGE, 3.6))
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        axes.set_xlabel("segments in the test set")
    drawn = training_variance[(training_variance["verdict"] == "estimated") & (training_variance["dataset"] != "all")]
    _same(left, drawn)
    known = better_method[(better_method["verdict"] == "estimated") & (better_method["dataset"] != "all")]
    _replicated(right, known.dropna(subset=["replicated"]))
    return figure


def _same(axes: Axes, drawn: pd.DataFrame) -> None:
    axes.set_title("runs of the same method: share with p < 0.05")
    if drawn.empty:
        sentence(axes, "too few pairs of runs")
        return
    ends = drawn.groupby("dataset", sort=False)["share_significant"].last().sort_values(ascending=False)
    for position, dataset in enumerate(ends.index):
        rows = drawn[drawn["dataset"] == dataset].sort_values("n_segments")
        colour, marker = COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)]
        n = rows["n_segments"].to_numpy(float)
        filled = colour if position < len(COLOURS) else "white"
        axes.plot(
            n,
            rows["share_significant"],
            color=colour,
            marker=marker,
            markerfacecolor=filled,
            label=dataset,
            gid="share_significant",
        )
        last = rows.iloc[-1]
        axes.vlines(n[-1], last["share_significant_low"], last["share_significant_high"], color=colour, linewidth=0.8)
        axes.plot(
            n,
            rows["share_significant_by_method"],
            "x",
            color=GREY,
            markersize=3,
            zorder=0.8,
            gid="share_significant_by_method",
        )
    axes.plot([], [], "x", color=GREY, markersize=3, label="method-level test")
    axes.axhline(CHANCE, color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5, label="by chance: 5 %")
    axes.set_ylim(0, None)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=3, fontsize=6.5
    )  # below the axes, where it hides no points


def _replicated(axes: Axes, known: pd.DataFrame) -> None:
    if known.empty:
        axes.set_title("replication rate at p ≈ 0.05")
        sentence(axes, "too few pairs of runs")
        return
    dataset = known["dataset"].iloc[int(np.argmax(known["n_segments"]))]
    axes.set_title(f"replication rate at p ≈ 0.05\n({dataset})")
    for shift, (question, (label, colour, marker)) in zip((0.94, 1.0, 1.06), _QUESTIONS.items(), strict=True):
        rows = known[(known["dataset"] == dataset) & (known["question"] == question)].sort_values("n_segments")
        n = rows["n_segments"].to_numpy(float) * shift
        axes.plot(n, rows["replicated"], color=colour, marker=marker, label=label, gid=question)
        axes.vlines(n, rows["replicated_low"], rows["replicated_high"], color=colour, linewidth=0.8)
        if question == "method":
            axes.plot(n, rows["expected"], color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5, gid="expected",
                      label="expected without\ntraining variance")  # fmt: skip
    axes.set_ylim(min(0.4, float(known.loc[known["dataset"] == dataset, "replicated_low"].min()) - 0.02), 1.01)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=6.5)
