"""Figure on leaderboards: significant neighbours, answer sampling, detectable gains and costs."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pairsig.io.pictures import BLUE, GREY, INK, MARKERS, VERMILION, styled
from study.figures.style import PAGE, across, bars, mark, plain_numbers, says, sentence, sequence

SIGNIFICANT = {"share_significant": "left: p < 0.05", "share_significant_holm": "left: with Holm's correction"}
SAMPLING = {"sampling": "right: one run per item", "sampling_of_all": "right: all runs per item"}
"""Columns of both upper panels, with their entries in the legend."""

LOOKS: tuple[dict[str, Any], ...] = ({"color": VERMILION, "marker": "^"}, {"color": BLUE, "marker": "o"})
"""Markers of the first and the second column."""

ITEMS = np.geomspace(100, 10_000, 21)
"""Numbers of items; the detectable gain falls with their square root."""


@styled
def leaderboards(leaderboards: pd.DataFrame, items_needed: pd.DataFrame, dollars: pd.DataFrame) -> Figure:
    """Significant neighbours and the share of answer sampling by benchmark; detectable gains; costs.

    Parameters
    ----------
    leaderboards, items_needed, dollars
        Tables of `python -m study leaderboards`. Grey lines show the values for equal systems and for equal items.
    """
    boards, needed, paid = leaderboards, items_needed, dollars
    height = 1.2 + 0.24 * max(len(boards), 4)
    figure = Figure(figsize=(PAGE, height + 2.9))
    rows = figure.add_gridspec(2, 1, height_ratios=(height, 2.9))
    upper = figure.add_subfigure(rows[0])
    left, right = upper.subplots(1, 2, sharey=True)
    left.set(title="Neighbours in rank", xlabel="significantly\ndifferent (%)")
    right.set(title="Answer sampling", xlabel="share of the\nvariance (%)")
    _shares(left, boards, SIGNIFICANT, "share_significant_by_chance")
    _shares(right, boards, SAMPLING, "sampling_by_chance")
    labels = (zip(keys.values(), LOOKS, strict=True) for keys in (SIGNIFICANT, SAMPLING))
    handles = [mark(label, **look) for label, look in chain.from_iterable(labels)]
    upper.legend(handles=[*handles, Patch(color=GREY, label="by chance")], loc="outside lower left", ncols=3,
                 columnspacing=1.0)  # fmt: skip
    left, right = figure.add_subfigure(rows[1]).subplots(1, 2)
    _gains(left, needed)
    _dollars(right, paid)
    return says(figure, _not_significant(boards))


def _not_significant(boards: pd.DataFrame) -> str:
    """Count the benchmarks on which less than half of the neighbours differ significantly, by the interval."""
    known = boards.dropna(subset=["share_significant"])
    if known.empty:
        return "Significant neighbours on leaderboards, and what a gain costs"
    most = int((known["share_significant_high"] < 0.5).sum())
    return f"Most neighbours do not differ significantly on {most} of {len(known)} leaderboards"


def _shares(axes: Axes, boards: pd.DataFrame, keys: dict[str, str], chance: str) -> None:
    if not boards[list(keys)].notna().any(axis=None):
        sentence(axes, "nothing to draw: no rows")
        return
    places = np.arange(len(boards))[::-1]
    axes.set_yticks(places, boards["dataset"])
    axes.set(xlim=(-3, 103), ylim=(-0.6, len(boards) - 0.4))
    axes.vlines(100 * boards[chance], places - 0.4, places + 0.4, color=GREY, linewidth=1.5, gid="chance")
    for shift, name, look in zip((0.14, -0.14), keys, LOOKS, strict=True):
        across(axes, boards, places + shift, name, look, scale=100)


def _gains(axes: Axes, needed: pd.DataFrame) -> None:
    every = needed[(needed["score_low"] == needed["score_low"].min()) & (needed["score_high"] == 100)]
    rows = every[(every["correlation_low"] > -1) | (every["correlation_high"] < 1)]
    axes.set(xscale="log", yscale="log", xlim=(ITEMS[0], ITEMS[-1]), xlabel="items of the benchmark")
    axes.set_title("Gain that a benchmark detects")
    axes.set_ylabel("gain, 80 % power (points)")
    if rows.empty:
        sentence(axes, "too few pairs")
        return
    for colour, marker, row in zip(sequence(len(rows)), MARKERS, rows.itertuples(), strict=False):
        fall = np.sqrt(500 / ITEMS)
        low = "−1" if row.correlation_low == -1 else f"{row.correlation_low:g}"
        axes.plot(ITEMS, row.gain_500 * fall, color=colour, marker=marker, markevery=(2, 6),
                  label=f"{low} to {row.correlation_high:g}", gid="gain")  # fmt: skip
        axes.fill_between(ITEMS, row.gain_500_low * fall, row.gain_500_high * fall, color=colour, alpha=0.15,
                          linewidth=0)  # fmt: skip
    axes.set_xticks((100, 1_000, 10_000))
    axes.set_yticks((1, 2, 5, 10, 20))
    plain_numbers(axes.xaxis, axes.yaxis, digits=",.0f")
    axes.legend(title="correlation", loc="upper right", title_fontsize=8)


def _dollars(axes: Axes, paid: pd.DataFrame) -> None:
    rows = paid[paid["dataset"] == paid["dataset"].iloc[0]] if len(paid) else paid
    axes.set(xlabel="true gain (points)", ylabel="cost per pair (dollars)", title="Cost of detecting a gain")
    if rows.empty:
        sentence(axes, "nothing to draw: no costs")
        return
    places, middle = np.arange(len(rows)), rows["dollars"].to_numpy(float)
    axes.vlines(places, rows["dollars_quarter"], rows["dollars_three_quarters"], color="#D9D9D9", linewidth=9,
                gid="half")  # fmt: skip
    axes.errorbar(places, middle, yerr=bars(rows, "dollars"), linestyle="none", color=INK, marker="s", markersize=4,
                  elinewidth=0.9, gid="dollars")  # fmt: skip
    tops = rows[["dollars_three_quarters", "dollars_high"]].max(axis=1)
    for place, value, top in zip(places, middle, tops, strict=True):
        axes.annotate(f"{value:,.0f}", (place, top), xytext=(0, 2), textcoords="offset points", ha="center")
    axes.set_xticks(places, ["its own" if gain == "own" else gain for gain in rows["true_gain"]])
    axes.set(yscale="log", xlim=(-0.8, len(rows) - 0.4), title=f"Cost of detecting a gain\n{rows['dataset'].iloc[0]}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
