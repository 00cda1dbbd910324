"""Figures on questions that p-values leave open: the next test set, and sentences from the same document."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from pairsig.io.pictures import BLUE, INK, VERMILION, styled
from pairsig.metrics.names import metric_name
from study.figures.style import DASHED, PAGE, bars, explained, mark, nothing, plain_numbers, says

BY: dict[str, dict[str, Any]] = {"i.i.d.": {"color": VERMILION, "marker": "^"}, "next": {"color": BLUE, "marker": "o"}}
"""Methods of predicting chances, and their markers."""

MOST, FEWEST, ENOUGH = 4, 10, 1000
"""Maximal number of families. Minimal numbers of pairs per range of chances, and of predictions per family."""


@styled
def next_test_sets(heterogeneity: pd.DataFrame, next_test_sets: pd.DataFrame) -> Figure:
    """Predicted chances to win on another test set against the replication rate, and effective sample sizes.

    The figure shows families whose gains differ between test sets: the interval of κ² lies above 0. The upper panels
    show the `MOST` families with most predictions, of those with `ENOUGH`.
    """
    known = heterogeneity[heterogeneity["kappa_squared_low"] > 0]
    validated = known[known["n_validated"] >= ENOUGH].sort_values("n_validated", ascending=False, kind="stable")
    if validated.empty:
        return nothing("Predicted and observed rates of winning on another test set")
    keys = list(validated[["family", "metric"]].head(MOST).itertuples(index=False, name=None))
    n_rows = math.ceil(len(keys) / 2)
    below = 0.9 + 0.24 * len(known)
    figure = Figure(figsize=(PAGE, 0.5 + 2.0 * n_rows + below))
    rows = figure.add_gridspec(2, 1, height_ratios=[0.3 + 2.0 * n_rows, below])
    upper = figure.add_subfigure(rows[0])
    grid = upper.subplots(n_rows, 2 if len(keys) > 1 else 1, sharex=True, sharey=True, squeeze=False)
    for axes, (family, metric) in zip(grid.flat, keys, strict=False):
        bins = next_test_sets[(next_test_sets["family"] == family) & (next_test_sets["metric"] == metric)]
        _chances(axes, bins[bins["n_pairs"] >= FEWEST])
        axes.set_title(family)
    for axes in list(grid.flat)[len(keys) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("replication rate (%)")
    for axes in grid[-1]:
        axes.set_xlabel("predicted rate (%)")
    handles = [
        mark("predicted as if from the same source", **BY["i.i.d."]),
        mark("predicted with heterogeneity", **BY["next"]),
        Line2D([], [], **DASHED, label="prediction = rate"),
    ]
    upper.legend(handles=handles, loc="outside lower left", ncols=2)
    _effective_sample_size(figure.add_subfigure(rows[1]).subplots(), known)
    better = int((validated["loss_reduction_low"] > 0).sum())
    return says(
        figure, f"Heterogeneity improves the predictions for {better} of {len(validated)} families of test sets"
    )


def _chances(axes: Axes, rows: pd.DataFrame) -> None:
    axes.plot([50, 100], [50, 100], **DASHED, zorder=0.5)
    for by, key in BY.items():
        line = rows[rows["by"] == by].sort_values("chance_low")
        axes.errorbar(
            100 * line["predicted"], 100 * line["replicated"], 100 * bars(line, "replicated"), elinewidth=0.7,
            linewidth=0.9, markersize=3.5, gid=by, **key,
        )  # fmt: skip
    axes.set(xlim=(48, 102), ylim=(40, 102), xticks=[50, 75, 100], yticks=[50, 75, 100])


def _effective_sample_size(axes: Axes, known: pd.DataFrame) -> None:
    axes.set_title("Effective sample size for another test set")
    places = np.arange(len(known))[::-1]
    name = "effective_sample_size"
    middle = known[name].to_numpy()
    axes.errorbar(middle, places, xerr=bars(known, name), linestyle="none", color=INK, marker="s", markersize=4,
                  elinewidth=0.9, gid=name)  # fmt: skip
    for place, value in zip(places, middle, strict=True):
        axes.annotate(f"{value:,.0f}", (value, place), xytext=(0, 3), textcoords="offset points", ha="center")
    axes.set_yticks(places, [f"{row.family} ({metric_name(row.metric)})" for row in known.itertuples()])
    axes.set(xscale="log", ylim=(-0.7, len(known) - 0.2), xlabel="segments, at most")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 100 * low else (1, 2, 5)))
    plain_numbers(axes.xaxis)


@styled
def documents(documents: pd.DataFrame) -> Figure:
    """Design effects of documents, and how much the gains on two halves differ relative to their standard errors."""
    rows = documents[documents["design_effect"].notna()].sort_values("design_effect", kind="stable")
    if rows.empty:
        return nothing("Effect of documents on the variance of gains")
    above = int((rows["design_effect_low"] > rows["by_chance_high"]).sum())
    message = f"Documents increase the variance of gains beyond chance on {above} of {len(rows)} test sets"
    figure = Figure(figsize=(PAGE, 0.6 + 0.17 * max(len(rows), 4)))
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(rows))
    left.barh(
        places, rows["by_chance_high"] - rows["by_chance_low"], left=rows["by_chance_low"], height=0.8, color="#D9D9D9",
        gid="chance",
    )  # fmt: skip
    for axes, shift, name, look in (
        (left, 0.0, "design_effect", {"color": INK, "marker": "s"}),
        (right, 0.14, "excess_segment", BY["i.i.d."]),
        (right, -0.14, "excess_document", BY["next"]),
    ):
        axes.errorbar(rows[name], places + shift, xerr=bars(rows, name), gid=name, linestyle="none", elinewidth=0.8,
                      markersize=4, **look)  # fmt: skip
    drawn = rows[["design_effect_high", "excess_segment_high", "excess_document_high"]]
    most = max(6.0, 1.1 * float(drawn.max(axis=None)))
    ticks = [tick for tick in (1, 2, 4, 8, 16) if tick < most]
    for axes in (left, right):
        axes.axvline(1, **DASHED, zorder=0.5)
        axes.set(xscale="log", xlim=(0.7, most))
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
    left.set_yticks(places, rows["dataset"])
    left.set_xlabel("design effect\nof documents")
    right.set_xlabel("squared difference\n/ expected")
    handles = [
        Patch(color="#D9D9D9", label="left: by chance; squares: found"),
        mark("right: difference of halves, expected from sentences", **BY["i.i.d."]),
        mark("right: expected from documents", **BY["next"]),
    ]
    explained(figure, handles)
    return says(figure, message)
