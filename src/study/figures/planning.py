"""How many segments a gain takes, by the law of standard errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from pairsig import planning
from pairsig.columns import LAW
from pairsig.metrics.names import metric_name
from study.columns import SYSTEMS
from study.figures.style import COLOURS, GREY, MARKERS, PAGE, require, sentence, sequence, styled

GAINS = np.geomspace(0.2, 5, 30)
LIKENESS = 0.75
LIKENESSES = (0.5, 0.75, 0.9)
MOST, LEAST = 200_000, 30
"""Ends of the axis of segments."""


@styled
def segments_needed(law: pd.DataFrame, systems: pd.DataFrame) -> Figure:
    """Segments that show a gain at 80 % power (two-sided, 5 %) against the gain, both on logarithmic scales.

    On the left the metrics of the law, for systems of likeness 0.75, at the score and length of the median test set of
    the study; on the right BLEU, for systems more and less alike. The band is the 95 % interval of one of the lines:
    where the number for a pair on a test set of another source lies.

    Parameters
    ----------
    law
        Table of `python -m study law`.
    systems
        Table of `describe`: scores and lengths.
    """
    law, systems = require(LAW, law), require(SYSTEMS, systems)
    figure = Figure(figsize=(PAGE, 2.9))
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    typical = _typical(systems)
    known = law[law["given"] == "likeness"]
    metrics = [metric for metric in known["metric"] if metric in typical and metric != "all"]
    metrics.sort(key=lambda metric: -int(known.loc[known["metric"] == metric, "n_pairs"].iloc[0]))
    for axes, title in (
        (left, f"by metric (likeness {LIKENESS:g})"),
        (right, "BLEU, by likeness (band: 95 % of pairs)"),
    ):
        axes.set(xscale="log", yscale="log", xlim=(GAINS[0], GAINS[-1]), ylim=(LEAST, MOST), title=title)
        axes.set_xlabel("true gain (points)")
        for axis, ticks in ((axes.xaxis, (0.2, 0.5, 1, 2, 5)), (axes.yaxis, (100, 1_000, 10_000, 100_000))):
            axis.set_ticks(ticks)
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.axhline(1_000, color=GREY, linewidth=0.6, linestyle=":")
    left.set_ylabel("segments for 80 % power")
    if not metrics:
        sentence(left, "too few pairs for a law")
    for place, metric in enumerate(metrics):
        score, length = typical[metric]
        told = f"{metric_name(metric)} ({score:.0f}" + (")" if length is None else f"; {length:.0f})")
        spread = planning.from_law(metric, score=score, length=length, likeness=LIKENESS, law=law)
        _line(left, spread, told, COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
    if metrics:
        left.legend(loc="upper right", title="metric (score; length)", title_fontsize=8)
    if "bleu" in metrics:
        score, length = typical["bleu"]
        for likeness, colour, marker in zip(LIKENESSES, sequence(len(LIKENESSES)), MARKERS, strict=False):
            spread = planning.from_law("bleu", score=score, length=length, likeness=likeness, law=law)
            _line(right, spread, f"{likeness:g}", colour, marker, band=likeness == LIKENESS)
        spread = planning.from_law("bleu", score=score, length=length, law=law)
        _line(right, spread, "not known", GREY, "x")
        right.legend(loc="upper right", title="likeness", title_fontsize=8)
    else:
        sentence(right, "too few pairs by BLEU")
    return figure


def _typical(systems: pd.DataFrame) -> dict[str, tuple[float, float | None]]:
    """Of each metric, without `conll_`, the median over datasets of the mean score and of the length."""
    whole = systems[systems["group"] == "all"]
    found = {}
    for metric, rows in whole.groupby(whole["metric"].str.removeprefix("conll_"), sort=True):
        length = float(rows["per_segment"].median())
        found[str(metric)] = (float(rows["score_mean"].median()), None if np.isnan(length) else length)
    return found


def _line(
    axes: Axes,
    spread: planning.Spread,
    label: str,
    colour: str,
    marker: str,
    *,
    band: bool = False,
) -> None:
    design = planning.Design()

    def needed(variance: float) -> list[float]:
        return [float(planning.units_for(variance, gain, design) or np.nan) for gain in GAINS]

    style = "--" if marker == "x" else "-"
    axes.plot(GAINS, needed(spread.variance), style, color=colour, marker=marker, markevery=(2, 7), label=label)
    if band:
        axes.fill_between(GAINS, needed(spread.low), needed(spread.high), color=colour, alpha=0.2, linewidth=0)
