"""Error and run time of Monte Carlo and exact tests (Figures 3 and 4 of the exact-test paper)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from pairsig.io.pictures import BLUE, GREY, INK, MARKERS, ORANGE, VERMILION, styled
from pairsig.io.rendering import count
from pairsig.metrics.names import metric_name
from study.figures import style

NEEDED = 20_000
"""The paper's minimum of Monte Carlo samples (section 4)."""

FASTER = {20_000: 6_000, 40_000: 10_000}
"""For each number of samples, the sentences up to which the paper's exact test is faster (sections 1 and 4)."""

SECONDS = (10_000, 3.0)
"""Number of sentences, and the upper bound in seconds on the paper's exact test (section 1)."""


def _panels(table: pd.DataFrame, xlabel: str, ylabel: str) -> tuple[Figure, dict[str, Axes]]:
    """Make one panel per metric with logarithmic axes and a shared vertical axis."""
    metrics = list(table["metric"].unique())
    figure = Figure(figsize=(style.PAGE, 2.4))
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    panels[0].set_ylabel(ylabel)
    for axes, metric in zip(panels, metrics, strict=True):
        axes.set(title=metric_name(metric), xscale="log", yscale="log", xlabel=xlabel)
        style.plain_numbers(axes.xaxis, axes.yaxis)
    return figure, dict(zip(metrics, panels, strict=True))


@styled
def relative_error(relative_error: pd.DataFrame) -> Figure:
    """Relative error of Monte Carlo p-values against the number of samples, one line per number of sentences.

    Points are measurements with intervals. Lines are the closed form for the same systems, with slope −1/2. The dashed
    line marks the minimal number of samples that the paper recommends.
    """
    if relative_error.empty:
        return style.nothing("Mean relative error of Monte Carlo p-values, by the number of samples")
    figure, panels = _panels(relative_error, "Monte Carlo samples, K", "mean relative error |p̂ − p| / p")
    sizes = sorted(relative_error["n_segments"].unique())
    looks = dict(zip(sizes, zip(style.sequence(len(sizes)), MARKERS * len(sizes), strict=False), strict=True))
    for metric, axes in panels.items():
        rows = relative_error[relative_error["metric"] == metric]
        for position, (size, line) in enumerate(rows.sort_values("n_resamples").groupby("n_segments")):
            colour, marker = looks[size]
            k, error = line["n_resamples"].to_numpy(dtype=float), line["error"].to_numpy()
            axes.plot(k, line["closed_form"], color=colour, linewidth=0.7, gid="closed form")
            ends = style.bars(line, "error")
            ends[0] = np.minimum(ends[0], 0.9 * error)  # a logarithmic axis cannot show 0
            beside = k * 1.07 ** (position - (len(sizes) - 1) / 2)
            axes.errorbar(beside, error, ends, fmt=marker, color=colour, markersize=3, elinewidth=0.6, gid="measured")
        axes.axvline(NEEDED, **style.DASHED, zorder=0.5, gid="paper")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    handles = []
    for size, (colour, marker) in looks.items():
        handles.append(style.mark(count(size), marker=marker, markersize=3, color=colour))
    handles.append(style.line("closed form", color=INK, linewidth=0.7))
    handles.append(style.line("the paper's minimum", **style.DASHED))
    style.explained(figure, handles, "sentences in the test set", ncols=3)
    return style.says(figure, _error_of_needed(relative_error))


def _error_of_needed(relative_error: pd.DataFrame) -> str:
    """State the mean errors with the paper's number of samples, the smallest and the largest with their intervals."""
    rows = relative_error[relative_error["n_resamples"] == NEEDED].sort_values("error")
    each = dict.fromkeys(
        f"{100 * row.error:.2g} %"
        + ("" if np.isnan(row.error_low) else f" [{100 * row.error_low:.2g}, {100 * row.error_high:.2g}]")
        for row in (*rows.head(1).itertuples(), *rows.tail(1).itertuples())
    )
    return f"With {count(NEEDED)} samples, the mean error is {' to '.join(each)} of p"


@styled
def run_time(run_time: pd.DataFrame) -> Figure:
    """Run time of the exact test and of Monte Carlo tests against the number of sentences.

    The paper could only run accuracy. In its panel, the star is the paper's bound for the exact test. Triangles at
    the bottom mark the sentences up to which the paper's exact test is faster than Monte Carlo.
    """
    if run_time.empty:
        return style.nothing("Run time of the exact test and of Monte Carlo tests")
    figure, panels = _panels(run_time, "sentences, N", "seconds (median)")
    samples = sorted(run_time["n_resamples"].dropna().astype(int).unique())
    looks = {0: (BLUE, "o")} | dict(zip(samples, ((ORANGE, "^"), (VERMILION, "s"), (INK, "D")), strict=False))
    handles = []
    for k, (colour, marker) in looks.items():
        label = f"Monte Carlo, K = {count(k)}" if k else "exact test"
        handles.append(style.line(label, color=colour, marker=marker))
        for metric, axes in panels.items():
            rows = run_time[(run_time["metric"] == metric) & (run_time["n_resamples"].fillna(0) == k)]
            rows = rows.sort_values("n_segments")
            axes.errorbar(rows["n_segments"].astype(float), rows["seconds"].to_numpy(), style.bars(rows, "seconds"),
                          color=colour, marker=marker, elinewidth=0.7, gid="seconds")  # fmt: skip
            if k in FASTER and metric == "accuracy":
                axes.plot(FASTER[k], 0, "^", markersize=7, color=colour, clip_on=False, zorder=3, gid="faster",
                          transform=axes.get_xaxis_transform())  # fmt: skip
    panels["accuracy"].plot(*SECONDS, **style.STAR, linestyle="none", gid="paper")
    handles.append(style.mark("the paper: exact test takes less", **style.STAR))
    handles.append(style.mark("the paper: exact is faster up to here", marker="^", markersize=7, color=GREY))
    style.explained(figure, handles, ncols=2)
    return style.says(figure, _faster(run_time))


def _faster(run_time: pd.DataFrame) -> str:
    """Count the test sets on which the exact test is faster than the paper's number of samples, by the intervals."""
    exact, sampled = (run_time[run_time["n_resamples"].fillna(0) == k] for k in (0, NEEDED))
    timed = exact.merge(sampled, on=["metric", "n_segments"], suffixes=("", "_sampled"))
    n_faster = int((timed["seconds_high"] < timed["seconds_low_sampled"]).sum())
    return f"The exact test was faster than {count(NEEDED)} samples on {n_faster} of {len(timed)} test sets"
