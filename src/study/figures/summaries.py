"""Figures of the analyses: thresholds, the size law, calibration, similarity."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from pairsig.columns import COMPARISONS
from pairsig.metrics.names import metric_name
from study.columns import CALIBRATION_TABLE, REPRODUCTION, SIZE_LAW, THRESHOLDS
from study.figures.confidence import saturation
from study.figures.style import (
    BLUE,
    COLOURS,
    COLUMN,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    PAGE,
    RASTERIZE_ABOVE,
    SKY,
    VERMILION,
    gain_label,
    only,
    require,
    sentence,
    styled,
)
from study.presentation import count
from study.test_sets import is_initial, is_whole

BROWN = ((100, 3.00), (24_000, 0.22))
"""The paper's thresholds on the Brown corpus: segments, F1 points (section 4.1)."""


def _plain(value: float, _: int = 0) -> str:
    return f"{value:,.6g}"


def _bars(low: pd.Series[float], middle: pd.Series[float], high: pd.Series[float]) -> np.ndarray:
    """Lengths of error bars; none where an interval is missing."""
    below = (middle - low).clip(lower=0).fillna(0)
    above = (high - middle).clip(lower=0).fillna(0)
    return np.vstack([below, above])


@styled
def size_law(thresholds: pd.DataFrame, size_law: pd.DataFrame | None = None) -> Figure:
    """Needs against the number of segments, with the fitted laws (the paper's section 4.1).

    The need is the gain at p = 0.05 of the median pair. Both axes are logarithmic, so need = coefficient · n^exponent
    is a line. Thin dashed lines are what the standard errors on the largest test set predict for smaller ones: 1/√n.
    The stars are the paper's thresholds, the dashed grey line through the first of them falls as 1/√n.

    Parameters
    ----------
    thresholds
        Rows of initial segments and of whole test sets are drawn, of the subset `all` where it is there.
    size_law
        Fits by dataset, metric, test and subset. Of each metric the two on the largest test sets are drawn. Needs
        without a fit are left out, unless there is none.
    """
    require(THRESHOLDS, thresholds)
    keys = ["dataset", "metric", "test", "subset"]
    if size_law is not None:
        size_law = require(SIZE_LAW, size_law)
        if (size_law["subset"] == "all").any():
            size_law = size_law[size_law["subset"] == "all"]
        largest = size_law.sort_values("n_high", ascending=False, kind="stable")
        size_law = size_law.loc[largest.groupby(["metric", "subset"], sort=False).head(2).index.sort_values()]
    drawn = thresholds[is_initial(thresholds) | is_whole(thresholds)]
    drawn = drawn[drawn["need"] > 0]
    if (drawn["subset"] == "all").any():
        drawn = drawn[drawn["subset"] == "all"]
    if size_law is not None and len(size_law):
        drawn = drawn.merge(size_law[keys].drop_duplicates(), on=keys)
    n_series = len(drawn[keys].drop_duplicates())
    figure = Figure(figsize=(PAGE, max(3.0, 0.37 * n_series + 0.7)))
    axes = figure.add_subplot()
    axes.set(xlabel="segments in the test set, n", ylabel="gain at p = 0.05, median pair (points)", xscale="log",
             yscale="log")  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(_plain))
        axis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    handles: list[Line2D] = []
    groups = list(drawn.groupby(keys, sort=False))
    subsets = len(drawn["subset"].unique()) > 1
    for position, (key, rows) in enumerate(groups):
        rows = rows.drop_duplicates("n_segments").sort_values("n_segments")
        colour, marker = COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)]
        filled = "none" if position >= len(COLOURS) else colour
        axes.errorbar(
            rows["n_segments"].astype(float),
            rows["need"],
            _bars(rows["need_low"], rows["need"], rows["need_high"]),
            fmt=marker,
            color=colour,
            markerfacecolor=filled,
            elinewidth=0.8,
            gid="needs",
        )
        sizes, needs = rows["n_segments"].to_numpy(float), rows["need"].to_numpy(float)
        axes.plot(sizes, needs[-1] * np.sqrt(sizes[-1] / sizes), color=colour, linewidth=0.7, dashes=(4, 2), zorder=0.6,
                  gid="predicted")  # fmt: skip
        name = str(key[0]).replace("task=", "all of ")
        label = f"{name}, {metric_name(key[1])}" + (f", {key[3]}" if subsets else "")
        label = label.replace("$", r"\$")  # all but the exponent is text
        if size_law is not None and len(size_law):
            law = size_law[(size_law[keys] == list(key)).all(axis=1)].iloc[0]
            ends = rows["n_segments"].astype(float).iloc[[0, -1]].to_numpy()
            axes.plot(ends, law["coefficient"] * ends ** law["exponent"], color=colour, linewidth=1, gid="law")
            interval = f"[{law['exponent_low']:.2f}, {law['exponent_high']:.2f}]"
            label += f"\n$n^{{{law['exponent']:.2f}}}$ " + interval.replace("-", "−")
        handles.append(Line2D([], [], color=colour, marker=marker, markerfacecolor=filled, linewidth=1, label=label))
    paper = np.array(BROWN)
    axes.plot(*paper.T, "*", markersize=9, markerfacecolor="white", markeredgecolor=INK, linestyle="none", gid="paper")
    ends = np.array([paper[0, 0], max(paper[1, 0], float(drawn["n_segments"].max()) if len(drawn) else 0.0)])
    slope = paper[0, 1] * np.sqrt(paper[0, 0] / ends)
    axes.plot(ends, slope, color=GREY, linewidth=0.8, dashes=(4, 2), zorder=0.5, gid="reference")
    handles += [
        Line2D([], [], marker="*", markersize=9, markerfacecolor="white", markeredgecolor=INK, linestyle="none",
               label="the paper's F1 thresholds, Brown"),
        Line2D([], [], color=GREY, linewidth=0.8, dashes=(4, 2), label="predicted: 1/√n"),
    ]  # fmt: skip
    legend = figure.legend(handles=handles, loc="outside right center", labelspacing=0.5)
    for text in legend.get_texts():
        text.set_parse_math(True)
    if not groups:
        sentence(axes, "too few pairs: no need\nof ours was estimated", place=(0.3, 0.2))
    return figure


@styled
def thresholds(reproduction: pd.DataFrame) -> Figure:
    """Our thresholds beside the paper's, by unit: dots with intervals, diamonds, and ticks for the scaled values.

    The tick is the paper's value times sqrt(n_paper / n_ours), what the central limit theorem makes of it on a
    test set of our size; the cross the same with n the words, brackets or links. Items that are not thresholds are
    ignored.
    """
    require(REPRODUCTION, reproduction)
    rows = reproduction[reproduction["compared_with"].astype(str).str.startswith("threshold:")]
    rows = rows[rows["published"] > 0]
    if rows.empty:
        figure = Figure(figsize=(COLUMN, 2.0))
        axes = figure.add_subplot()
        axes.set(xlabel="threshold (points)", yticks=[])
        sentence(axes, "no item to compare")
        return figure
    units = list(dict.fromkeys(rows["unit"]))
    labels: list[tuple[float, str]] = []
    placed = []
    y = 0.0
    for unit in units:
        labels.append((y, metric_name(str(unit))))
        y += 0.8
        for _, row in rows[rows["unit"] == unit].iterrows():
            lines = textwrap.wrap(str(row["what"]).removeprefix("threshold, "), 38)
            extra = 0.24 * max(len(lines) - 2, _note(row).count("\n") - 1, 0)
            y += extra
            labels.append((y, "\n".join(lines)))
            placed.append((y, row))
            y += 1.0 + extra
    figure = Figure(figsize=(PAGE, 0.33 * y + 0.9))
    axes = figure.add_subplot()
    axes.set_xscale("log")
    for height, row in placed:
        _threshold_row(axes, height, row)
    axes.set_ylim(y - 0.4, -0.7)
    axes.set_yticks([height for height, _ in labels], [words for _, words in labels])
    heights = {height for height, _ in placed}
    for (height, _), words in zip(labels, axes.get_yticklabels(), strict=True):
        words.set_fontweight("normal" if height in heights else "bold")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.6)
    values = rows[["published", "ours", "low", "high", "expected", "expected_by_information"]].to_numpy(dtype=float)
    values = values[np.isfinite(values) & (values > 0)]
    axes.set_xlim(values.min() / 1.25, values.max() * 1.25)
    ticks = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
    axes.set_xticks([tick for tick in ticks if values.min() / 1.25 <= tick <= values.max() * 1.25])
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("threshold at p ≈ 0.05 (points)")
    handles = [
        Line2D([], [], marker="D", markersize=5, markerfacecolor="white", markeredgecolor=INK, linestyle="none",
               label="the paper's"),
        Line2D([], [], marker="|", markersize=9, color=INK, linestyle="none", label="scaled to our segments"),
        Line2D([], [], marker="x", markersize=6, color=INK, linestyle="none", label="… to our words or brackets"),
        *(
            Line2D([], [], marker=marker, color=colour, label=f"ours, {verdict}")
            for verdict, (colour, marker) in {**LOOKS, "not comparable": (GREY, "^")}.items()
            if (rows["verdict"] == verdict).any()
        ),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=1.2)
    return figure


LOOKS = {"agrees": (BLUE, "o"), "differs": (VERMILION, "s")}
"""Colour and marker of our numbers by verdict; any other is grey."""


def _threshold_row(axes: Axes, y: float, row: pd.Series) -> None:
    axes.plot(
        row["published"], y, "D", markersize=5, markerfacecolor="white", markeredgecolor=INK, gid="paper", zorder=2
    )
    if pd.notna(row["expected"]):
        axes.plot(row["expected"], y, "|", markersize=10, color=INK, gid="scaled", zorder=1.9)
    if pd.notna(row["expected_by_information"]):
        axes.plot(row["expected_by_information"], y, "x", markersize=6, color=INK, gid="by information", zorder=1.9)
    if pd.notna(row["ours"]):
        colour, marker = LOOKS.get(str(row["verdict"]), (GREY, "^"))
        ours = pd.Series([row["ours"]], dtype=float)
        bars = _bars(pd.Series([row["low"]], dtype=float), ours, pd.Series([row["high"]], dtype=float))
        axes.errorbar(ours, [y], xerr=bars, fmt=marker, color=colour,
                      elinewidth=1.2, zorder=2.1, gid="ours")  # fmt: skip
    axes.annotate(_note(row), (1, y), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                  va="center", color="#555555", annotation_clip=False)  # fmt: skip


def _note(row: pd.Series[Any]) -> str:
    """What of ours is compared, on how many segments, or why nothing is."""
    address = "" if pd.isna(row["compared_with"]) else str(row["compared_with"]).removeprefix("threshold:")
    lines = textwrap.wrap(address.removeprefix("task=").replace(":", ", "), 26)
    if pd.isna(row["ours"]):
        lines.append(str(row["verdict"]))
    elif pd.notna(row["ours_n_segments"]):
        lines.append(f"n = {count(row['ours_n_segments'])}")
    return "\n".join(lines)


@styled
def calibration(calibration: pd.DataFrame) -> Figure:
    """How often the better system holds on another test set, beside what one population predicts (Table 1).

    One panel a calibration. A distance has marks with intervals for what was counted, and a broken line for what is
    expected if both test sets were drawn from one population; its marks lie on its line where the domain changes
    nothing. A range that lies within another of its line (0.04 to 0.06 within 0.04 to 0.08) is left to the table.
    """
    require(CALIBRATION_TABLE, calibration)
    rows = calibration[(calibration["n_pairs"] > 0) & calibration["share"].notna()]
    panels = {
        str(name): {
            str(distance): outermost(line).sort_values("p_low")
            for distance, line in panel.groupby("distance", sort=False)
        }
        for name, panel in rows.groupby("calibration", sort=False)
    }
    n_columns = min(max(len(panels), 1), 2 if len(panels) <= 6 else 3)
    n_rows = max(math.ceil(len(panels) / n_columns), 1)
    figure = Figure(figsize=(PAGE, 0.4 + n_rows * {1: 3.0, 2: 2.3, 3: 1.9}[n_columns]))
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    if not panels:
        grid[0, 0].set(xlabel="p-value on the first test set", ylabel="better system holds (%)", xscale="log")
        sentence(grid[0, 0], "too few pairs: no range of p-values has any")
        return figure
    every = [line for lines in panels.values() for line in lines.values()]
    edges = {edge for line in every for edge in (*line["p_low"], *line["p_high"]) if edge > 0}
    distances = list(dict.fromkeys(distance for lines in panels.values() for distance in lines))
    start = min(min(edges), min(_middle(line).min() for line in every) / 1.4) / 1.05
    for axes, (name, lines) in zip(grid.flat, panels.items(), strict=False):
        axes.set(xscale="log", xlim=(start, max(edges) * 1.05), ylim=(min(40.0, 100 * rows["share"].min() - 5), 102))
        axes.set_xticks(sorted(edges)[:: -max(n_columns, 2)])
        axes.xaxis.set_major_formatter(FuncFormatter(_plain))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.tick_params(axis="both", labelbottom=True, labelleft=True)
        if len(panels) > 1:
            axes.set_title(name)
        axes.axhline(50, color=GREY, linewidth=0.8, dashes=(4, 2), zorder=0.5)
        for position, (distance, line) in enumerate(lines.items()):
            key = _calibration_key(distances.index(distance))
            middle, aside = _middle(line), 1.05 ** (position - (len(lines) - 1) / 2)
            bars = 100 * _bars(line["share_low"], line["share"], line["share_high"])
            axes.errorbar(middle * aside, 100 * line["share"], bars, elinewidth=0.8, linestyle="none",
                          gid="calibration", **key)  # fmt: skip
            axes.plot(middle, 100 * line["expected"], dashes=(4, 1.5), linewidth=1.1, color=key["color"],
                      zorder=1.5, gid="expected")  # fmt: skip
    for axes in grid[:, 0]:
        axes.set_ylabel("better system holds (%)")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    for axes in list(grid.flat)[max(len(panels) - n_columns, 0) : len(panels)]:
        axes.set_xlabel("p-value on the first test set")
    handles = [
        *(Line2D([], [], linestyle="none", label=one, **_calibration_key(n)) for n, one in enumerate(distances)),
        Line2D([], [], color=INK, dashes=(4, 1.5), linewidth=1.1, label="expected of one population"),
        Line2D([], [], color=GREY, linewidth=0.8, dashes=(4, 2), label="chance"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4 if len(handles) > 4 else len(handles))
    return figure


def _calibration_key(position: int) -> dict[str, Any]:
    """Colour and marker of a distance."""
    colours = (INK, SKY, BLUE, ORANGE, VERMILION)
    return {"color": colours[position % len(colours)], "marker": MARKERS[position % len(MARKERS)], "markersize": 4}


def _middle(rows: pd.DataFrame) -> pd.Series[float]:
    """Geometric middle of the ranges; half the upper end of one that begins at 0."""
    product = rows["p_low"].where(rows["p_low"] > 0, rows["p_high"] / 4) * rows["p_high"]
    return product**0.5


def outermost(rows: pd.DataFrame) -> pd.DataFrame:
    """The ranges of p-values that do not lie within a wider one."""
    kept: list[tuple[float, float]] = []
    order = (rows["p_high"] - rows["p_low"]).sort_values(ascending=False, kind="stable").index
    chosen = []
    for index in order:
        low, high = float(rows.loc[index, "p_low"]), float(rows.loc[index, "p_high"])
        if not any(wide_low <= low and high <= wide_high for wide_low, wide_high in kept):
            kept.append((low, high))
            chosen.append(index)
    return rows.loc[chosen]


@styled
def similarity(comparisons: pd.DataFrame) -> Figure:
    """Gain against the similarity of the two systems, significant pairs and others, and the gain needed.

    The line is the median of 1.645 standard errors of the gain, the gain needed for p = 0.05, among pairs of
    about the same similarity: similar systems need smaller gains.
    """
    require(COMPARISONS, comparisons)
    figure = Figure(figsize=(COLUMN, 2.7))
    axes = figure.add_subplot()
    rows = comparisons.dropna(subset=["similarity", "gain", "p_value"])
    axes.set(xlabel="similarity of the two systems (correlation)", ylabel=gain_label(comparisons["metric"]))
    if rows.empty:
        axes.set_ylabel("gain (points)")
        sentence(axes, "too few pairs: the table has none")
        return figure
    only("comparisons", rows, "dataset metric")
    significant = rows["p_value"] < 0.05
    size = 10.0 if len(rows) <= 700 else 6.0 if len(rows) <= 3_000 else 3.5
    top = saturation(rows)
    kinds = [
        (rows[significant], "^", BLUE, f"p < 0.05: {count(significant.sum())}"),
        (rows[~significant], "o", ORANGE, f"p ≥ 0.05: {count((~significant).sum())}"),
    ]
    for pairs, marker, colour, label in kinds:
        axes.scatter(pairs["similarity"], pairs["gain"], s=size, marker=marker, color=colour, linewidths=0, alpha=0.6,
                     rasterized=len(rows) > RASTERIZE_ABOVE, label=label)  # fmt: skip
    needed = gain_needed(rows)
    if len(needed) > 1:
        axes.plot(needed["similarity"], needed["gain"], color="white", linewidth=3.5)
        axes.plot(needed["similarity"], needed["gain"], color=INK, linewidth=1.4, label="gain needed for p = 0.05")
    axes.set_ylim(-0.02 * top, top)
    beyond = int((rows["gain"] > top).sum())
    note = f", {count(beyond)} pairs above {top:.3g} points" if beyond else ""
    axes.set_title(f"{rows['dataset'].iloc[0]}{note}")
    figure.legend(loc="outside upper left", ncols=2, columnspacing=1.0, markerscale=1.6)
    return figure


def gain_needed(rows: pd.DataFrame, n_bins: int = 12) -> pd.DataFrame:
    """Median similarity and median of 1.645 · `standard_error` of the pairs in `n_bins` equal ranges of similarity.

    Ranges with fewer than 10 pairs are left out.
    """
    needed = rows.assign(gain=1.645 * rows["standard_error"])[["similarity", "gain"]].dropna()
    low, high = needed["similarity"].min(), needed["similarity"].max()
    if not low < high:
        return needed.iloc[:0]
    bins = np.floor((needed["similarity"] - low) / (high - low) * n_bins).clip(upper=n_bins - 1)
    groups = needed.groupby(bins)
    return groups.median()[groups.size() >= 10]
