"""Figure on training variance: runs of the same method, and predicting the better method."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from pairsig.io.pictures import BLUE, GREY, INK, ORANGE, VERMILION, styled
from pairsig.metrics.names import metric_name
from study.figures.style import PAGE, explained, mark, metric_look, plain_numbers, says, sentence, side_by_side

CHANCE = 0.05
_QUESTIONS = {
    "outputs": ("better outputs, p near 0.05", BLUE, "o"),
    "method": ("better method, p near 0.05", VERMILION, "s"),
    "method-level test": ("better method, method-level test", ORANGE, "^"),
}


@styled
def training_variance(training_variance: pd.DataFrame, better_method: pd.DataFrame) -> Figure:
    """Significant differences between runs of the same method, and replication, against the size of the test set.

    Left: the share of pairs of runs of the *same* method with p < 0.05, one line per dataset,
    coloured by metric. By chance it is 5 % at any size;
    crosses show the method-level test. Right: the replication rate on the other half of the segments, for p near
    0.05 on the dataset with the largest test sets. The dashed line is the rate expected from independent
    segments. Bars are 95 % intervals.
    """
    figure = Figure(figsize=(PAGE, 2.6))
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    for axes in (left, right):
        axes.set_xscale("log")
        plain_numbers(axes.xaxis, digits=",.0f")
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        axes.set_xlabel("segments in the test set")
    drawn = training_variance[(training_variance["verdict"] == "estimated") & (training_variance["dataset"] != "all")]
    known = better_method[(better_method["verdict"] == "estimated") & (better_method["dataset"] != "all")]
    handles = side_by_side(_same(left, drawn), _replicated(right, known.dropna(subset=["replicated"])))
    explained(figure, handles, ncols=2)
    return says(figure, _more_than_chance(drawn))


def _more_than_chance(drawn: pd.DataFrame) -> str:
    """Count the datasets on whose largest test set the share of p < 0.05 is above chance, by its interval."""
    if drawn.empty:
        return "How often two runs of one method differ significantly, by size of the test set"
    largest = drawn.sort_values("n_segments").groupby("dataset").tail(1)
    above = int((largest["share_significant_low"] > CHANCE).sum())
    return f"Runs of one method differ significantly in more than 5 % of pairs on {above} of {len(largest)} test sets"


def _same(axes: Axes, drawn: pd.DataFrame) -> list[Artist]:
    axes.set_title("pairs of runs of one method\nwith p < 0.05")
    if drawn.empty:
        sentence(axes, "too few pairs of runs")
        return []
    handles: dict[str, Artist] = {}
    for _, rows in drawn.sort_values("n_segments").groupby("dataset", sort=False):
        metric = metric_name(str(rows["metric"].iloc[0]))
        (colour, marker), n = metric_look(metric), rows["n_segments"].to_numpy(float)
        (line,) = axes.plot(n, rows["share_significant"], color=colour, marker=marker, markersize=3.5, label=metric,
                            gid="share_significant")  # fmt: skip
        handles.setdefault(metric, line)
        last = rows.iloc[-1]
        axes.vlines(n[-1], last["share_significant_low"], last["share_significant_high"], color=colour, linewidth=0.8)
        axes.plot(n, rows["share_significant_by_method"], "x", color=GREY, markersize=3, zorder=0.8,
                  gid="share_significant_by_method")  # fmt: skip
    chance = axes.axhline(CHANCE, color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5, label="by chance: 5 %")
    axes.set_ylim(0, None)
    return [*handles.values(), mark("method-level test", color=GREY, marker="x", markersize=3), chance]


def _replicated(axes: Axes, known: pd.DataFrame) -> list[Artist]:
    axes.set_title("the winner wins again")
    if known.empty:
        sentence(axes, "too few pairs of runs")
        return []
    dataset = known["dataset"].iloc[int(np.argmax(known["n_segments"]))]
    axes.set_title(f"the winner wins again\n({dataset})")
    handles: list[Artist] = []
    for shift, (question, (label, colour, marker)) in zip((0.94, 1.0, 1.06), _QUESTIONS.items(), strict=True):
        rows = known[(known["dataset"] == dataset) & (known["question"] == question)].sort_values("n_segments")
        n = rows["n_segments"].to_numpy(float) * shift
        handles += axes.plot(n, rows["replicated"], color=colour, marker=marker, label=label, gid=question)
        axes.vlines(n, rows["replicated_low"], rows["replicated_high"], color=colour, linewidth=0.8)
        if question == "method":
            handles += axes.plot(n, rows["expected"], color=INK, linewidth=0.8, dashes=(4, 2), zorder=0.5,
                                 gid="expected", label="expected without training variance")  # fmt: skip
    axes.set_ylim(min(0.4, float(known.loc[known["dataset"] == dataset, "replicated_low"].min()) - 0.02), 1.01)
    return handles
