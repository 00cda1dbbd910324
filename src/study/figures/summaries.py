"""Figures of the analyses: thresholds, size scaling, calibration and correlation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from pairsig.io.pictures import GREY, INK, ORANGE, VERMILION, styled
from pairsig.io.rendering import two_decimals
from pairsig.metrics.names import metric_name
from study.analysis.pairs import PAPER_WINDOW
from study.figures import style
from study.tables.columns import addressed
from study.test_sets import is_initial, is_whole

BROWN = ((100, 3.00), (24_000, 0.22))
"""The paper's thresholds on the Brown corpus, as (segments, F1 points) (section 4.1)."""


@styled
def size_scaling(thresholds: pd.DataFrame, size_scaling: pd.DataFrame) -> Figure:
    """Critical differences against the number of segments, with fitted power laws (the paper's section 4.1).

    Both axes are logarithmic, so that critical difference = coefficient · n^exponent is a straight line. Thin dashed
    lines are predictions from the largest test set for smaller ones: 1/√n. Stars are the paper's thresholds; the dashed
    grey line through the first of them falls as 1/√n.

    Parameters
    ----------
    thresholds
        The figure shows rows of initial segments and of whole test sets, for the subset `all`.
    size_scaling
        Fits by dataset, metric, test and subset. The figure shows the two on the largest test sets for each metric.
    """
    if size_scaling.empty:
        return style.nothing("Critical differences by size of the test set")
    keys = ["dataset", "metric", "test", "subset"]
    size_scaling = size_scaling[size_scaling["subset"] == "all"]
    largest = size_scaling.sort_values("n_high", ascending=False, kind="stable")
    two_per_metric = largest.groupby(largest["metric"].map(metric_name), sort=False).head(2)
    size_scaling = size_scaling.loc[two_per_metric.index.sort_values()]
    message = _exponents(size_scaling)
    drawn = thresholds[is_initial(thresholds) | is_whole(thresholds)]
    drawn = drawn[drawn["critical_difference"] > 0].merge(size_scaling[keys], on=keys)
    figure = Figure(figsize=(style.PAGE, 3.0))
    axes = figure.add_subplot()
    axes.set(xlabel="segments in the test set, n", ylabel="critical difference (points)", xscale="log",
             yscale="log")  # fmt: skip
    style.plain_numbers(axes.xaxis, axes.yaxis)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    handles = []
    taken: set[str] = set()
    for key, rows in drawn.groupby(keys, sort=False):
        rows = rows.drop_duplicates("n_segments").sort_values("n_segments")
        metric = metric_name(str(key[1]))
        colour, marker = style.metric_look(metric)
        filled = "none" if metric in taken else colour  # the second dataset of a metric
        taken.add(metric)
        axes.errorbar(
            rows["n_segments"].astype(float), rows["critical_difference"], style.bars(rows, "critical_difference"),
            fmt=marker, color=colour, markerfacecolor=filled, elinewidth=0.8, gid="critical_differences",
        )  # fmt: skip
        sizes, values = rows["n_segments"].to_numpy(float), rows["critical_difference"].to_numpy(float)
        predicted = values[-1] * np.sqrt(sizes[-1] / sizes)
        axes.plot(sizes, predicted, color=colour, linewidth=0.7, dashes=(4, 2), zorder=0.6, gid="predicted")
        fit = size_scaling[(size_scaling[keys] == list(key)).all(axis=1)].iloc[0]
        ends = sizes[[0, -1]]
        axes.plot(ends, fit["coefficient"] * ends ** fit["exponent"], color=colour, linewidth=1, gid="fit")
        interval = f"[{two_decimals(fit['exponent_low'])}, {two_decimals(fit['exponent_high'])}]"
        label = f"{key[0]}, {metric}: $n^{{{fit['exponent']:.2f}}}$ {interval}"
        handles.append(style.line(label, color=colour, marker=marker, markerfacecolor=filled, linewidth=1))
    paper = np.array(BROWN)
    axes.plot(*paper.T, **style.STAR, linestyle="none", gid="paper")
    ends = np.array([paper[0, 0], max(paper[1, 0], float(drawn["n_segments"].max()))])
    slope = paper[0, 1] * np.sqrt(paper[0, 0] / ends)
    axes.plot(ends, slope, **style.DASHED, zorder=0.5, gid="reference")
    handles.append(style.mark("the paper's F1 thresholds, Brown", **style.STAR))
    handles.append(style.line("predicted: 1/√n", **style.DASHED))
    style.explained(figure, handles, "exponents of the number of segments, with 95 % intervals")
    for text in figure.legends[0].get_texts():
        text.set_parse_math(True)
    return style.says(figure, message)


def _exponents(size_scaling: pd.DataFrame) -> str:
    """State the fitted exponents, and how many of their intervals contain −1/2."""
    steepest, flattest = (two_decimals(size_scaling["exponent"].agg(end)) for end in ("min", "max"))
    name = "The size exponent of the critical difference is"
    if len(size_scaling) == 1:
        low, high = (two_decimals(size_scaling[f"exponent_{end}"].iloc[0]) for end in ("low", "high"))
        return f"{name} {steepest} [{low}, {high}]"
    n = int(((size_scaling["exponent_low"] <= -0.5) & (size_scaling["exponent_high"] >= -0.5)).sum())
    return f"{name} {flattest} to {steepest}; {n} of {len(size_scaling)} intervals contain −0.50"


ELSEWHERE = {
    "parsing": ("far", "parsers", "another language"),
    "translation": ("near", "translation", "another domain"),
    "constituency": ("far", "parsers", "another genre"),
}
"""What the second test set of `replication` is, by calibration: its distance, the systems, and what differs."""


@styled
def table_1(calibration: pd.DataFrame, reproduction: pd.DataFrame) -> Figure:
    """Replication rate by p-value on the first test set, beside the shares in the paper's Table 1 (diamonds).

    The panels are the kinds of second test sets: the population that the first was drawn from (the paper's section 4.2)
    and, as in Table 1, other texts. The calibration is the one that `reproduction` compares with the paper's shares, or
    else the first with these kinds. Dashed lines are the rates expected if both test sets came from the same source.
    """
    shares = addressed(reproduction, "share", "calibration", "distance", "p_range")
    panels = _panels(calibration)
    known = [name for name in (*shares["calibration"], *panels) if {"near", "far"} & panels.get(name, {}).keys()]
    name = known[0] if known else ""
    theirs: dict[str, list[tuple[float, float]]] = {}
    for row in shares.itertuples():
        low, high = map(float, row.p_range.split("-"))
        if (low, high) != PAPER_WINDOW or row.distance == "iid":  # Table 1 has a wider range around it
            theirs.setdefault(row.distance, []).append((math.sqrt(low * high), float(row.published)))
    lines = panels.get(name, {})
    kinds = [kind for kind in THEIR_TEXTS if kind in lines]
    drawn = {kind: {"iid" if kind == "iid" else "far": lines[kind]} for kind in kinds}
    distance, _, text = ELSEWHERE.get(name, ("", "", ""))
    titles = {
        kind: f"{text if kind == distance else ours} (paper: {theirs})" for kind, (ours, theirs) in THEIR_TEXTS.items()
    }
    message = "Table 1. How often the winner wins again, beside the paper's rates"
    return (
        style.says(_drawn(drawn, {"far": "another text"}, titles, theirs), message) if drawn else style.nothing(message)
    )


THEIR_TEXTS = {
    "iid": ("same source", "Brown"),
    "near": ("similar text", "section 22"),
    "middle": ("less similar text", "section 24"),
    "far": ("other text", "Brown"),
}
"""By distance, what our second test set is, unless `ELSEWHERE` is more precise, and which text is the paper's."""


@styled
def replication(calibration: pd.DataFrame) -> Figure:
    """How often the winner wins again: on data from the same source, and in another language, domain or genre.

    P-values are two-sided: twice the paper's, which take the direction from the data.
    Data from the same source are the population that the first test set was drawn from, or else the other half of the
    test set. There are up to three panels: those of `ELSEWHERE` that the table has, or else the first calibrations with
    both kinds of second test sets.
    """
    two_sided = {end: np.minimum(2 * calibration[end], 1.0) for end in ("p_low", "p_high")}
    panels = _panels(calibration.assign(**two_sided))
    same = {name: "iid" if "iid" in lines else "halves" for name, lines in panels.items()}
    far = {name: kind for name, (kind, *_) in ELSEWHERE.items() if name in panels} or dict.fromkeys(panels, "far")
    shown = [name for name, kind in far.items() if {same[name], kind} <= panels[name].keys()][:3]
    lines = {name: {"iid": panels[name][same[name]], "far": panels[name][far[name]]} for name in shown}
    titles = {name: f"{systems}: {text}" for name, (_, systems, text) in ELSEWHERE.items()}
    if not shown:
        return style.nothing("How often the winner on one test set wins again on another")
    figure = _drawn(lines, {"far": "another language, domain\nor genre"}, titles, p="two-sided p")
    return style.says(figure, _less_often(calibration, {name: far[name] for name in shown}))


def _less_often(calibration: pd.DataFrame, shown: Mapping[str, str]) -> str:
    """Say where winners win again less often than expected with p near 0.05 (one-sided), by the interval."""
    near = calibration[(calibration["p_low"] == PAPER_WINDOW.p_low) & (calibration["p_high"] == PAPER_WINDOW.p_high)]
    near = near.set_index(["calibration", "distance"])["difference_high"]
    less = [name for name, distance in shown.items() if near.get((name, distance), math.nan) < 0]
    if not less:
        return "How often the winner on one test set wins again on another"
    texts = dict.fromkeys(ELSEWHERE[name][2] if name in ELSEWHERE else f"other texts ({name})" for name in less)
    return f"Winners win again less often than expected in {style.listed(texts)}"


def _panels(calibration: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Rows of each calibration, by distance."""
    rows = calibration[(calibration["n_pairs"] > 0) & calibration["share"].notna()]
    return {
        str(name): {
            str(distance): outermost(line).sort_values("p_low")
            for distance, line in panel.groupby("distance", sort=False)
        }
        for name, panel in rows.groupby("calibration", sort=False)
    }


def _drawn(
    panels: Mapping[str, Mapping[str, pd.DataFrame]],
    labels: Mapping[str, str],
    titles: Mapping[str, str],
    theirs: Mapping[str, Sequence[tuple[float, float]]] = MappingProxyType({}),
    p: str = "one-sided p",
) -> Figure:
    """Draw panels of lines by kind of second test set; `theirs` are the paper's shares by panel, as (p, %)."""
    n_columns = 2 if len(panels) > 1 else 1
    n_rows = math.ceil(len(panels) / n_columns)
    figure = Figure(figsize=(style.PAGE if n_columns > 1 else style.COLUMN, 0.5 + 1.8 * n_rows))
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    every = [*chain.from_iterable(lines.values() for lines in panels.values())]
    edges = {edge for edge in chain.from_iterable((*line["p_low"], *line["p_high"]) for line in every) if edge > 0}
    start = min(min(edges), min(_middle(line).min() for line in every) / 1.4) / 1.05
    lowest = min(float(line[["share", "share_low"]].min().min()) for line in every)
    for axes, (name, lines) in zip(grid.flat, panels.items(), strict=False):
        axes.set(xscale="log", xlim=(start, max(edges) * 1.05), ylim=(max(-2.0, min(40.0, 100 * lowest - 5)), 102))
        axes.set_xticks([tick for tick in (0.001, 0.01, 0.1, 1) if start <= tick <= max(edges) * 1.05])
        style.plain_numbers(axes.xaxis)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.tick_params(axis="both", labelbottom=True, labelleft=True)
        axes.set_title(titles.get(name, name))
        axes.axhline(50, color=GREY, linewidth=0.8, linestyle=":", zorder=0.5)
        axes.plot(*np.array([*theirs.get(name, [])]).reshape(-1, 2).T, **PAPER, linestyle="none", gid="paper")
        for position, (kind, line) in enumerate(lines.items()):
            middle, aside = _middle(line), 1.05 ** (position - (len(lines) - 1) / 2)
            axes.errorbar(middle * aside, 100 * line["share"], 100 * style.bars(line, "share"), elinewidth=0.8,
                          linestyle="none", gid="calibration", **KINDS[kind])  # fmt: skip
            axes.plot(middle, 100 * line["expected"], dashes=(4, 1.5), linewidth=1.1, color=KINDS[kind]["color"],
                      zorder=1.5, gid="expected")  # fmt: skip
    for axes in grid[:, 0]:
        axes.set_ylabel("the winner wins again (%)")
    spare = list(grid.flat)[len(panels) :]
    for axes in spare:
        axes.set_axis_off()
    for axes in list(grid.flat)[max(len(panels) - n_columns, 0) : len(panels)]:
        axes.set_xlabel(f"{p} on the first test set")
    names = {"iid": "same source", **labels}
    drawn = [kind for kind in KINDS if any(kind in lines for lines in panels.values())]
    handles = [
        *(style.mark(f"{names[kind]}, 95 % interval", **KINDS[kind]) for kind in drawn),
        *([style.mark("the paper's Table 1 and section 4.2", **PAPER)] if theirs else []),
        *(style.line(EXPECTED[kind], color=KINDS[kind]["color"], dashes=(4, 1.5), linewidth=1.1) for kind in drawn),
        style.line("chance", color=GREY, linewidth=0.8, linestyle=":"),
    ]
    if spare:
        spare[0].legend(handles=handles, loc="center", frameon=False).set_in_layout(False)
    else:
        style.explained(figure, handles)
    return figure


EXPECTED = {
    "iid": "same source: expected",
    "far": "other text: expected if it\nwere from the same source",
}
"""What the dashed lines show, by kind of second test set: the other texts have fewer segments than the population."""


KINDS: dict[str, dict[str, Any]] = {
    "iid": {"color": INK, "marker": "o", "markersize": 4},
    "far": {"color": ORANGE, "marker": "^", "markersize": 4},
}
"""Colour and marker by kind of second test set: from the same source, or from another."""

PAPER: dict[str, Any] = {"marker": "D", "markersize": 4.5, "markerfacecolor": "none", "markeredgecolor": VERMILION}
"""Markers of the paper's numbers."""


def _middle(rows: pd.DataFrame) -> pd.Series[float]:
    """Geometric middle of each range, or half the upper end if the range begins at 0."""
    product = rows["p_low"].where(rows["p_low"] > 0, rows["p_high"] / 4) * rows["p_high"]
    return product**0.5


def outermost(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the ranges of p-values that do not lie within a wider one."""
    low, high = rows["p_low"].to_numpy(), rows["p_high"].to_numpy()
    within = (low[:, None] >= low) & (high[:, None] <= high)
    return rows[within.sum(axis=1) == 1]  # within no range but its own
