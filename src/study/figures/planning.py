"""Figure of the number of segments that a gain requires, by the variance model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pairsig.io.pictures import GREY, MARKERS, styled
from pairsig.metrics.names import metric_name
from pairsig.planning import sample_size
from study.figures.style import PAGE, explained, metric_look, plain_numbers, says, sentence, sequence, side_by_side

GAINS = np.geomspace(0.2, 5, 30)
CORRELATION = 0.75
CORRELATIONS = (0.5, 0.75, 0.9)
MOST, LEAST = 200_000, 30
"""Limits of the axis of segments."""


@styled
def segments_needed(variance_model: pd.DataFrame, systems: pd.DataFrame) -> Figure:
    """Segments that detect a gain with 80 % power (two-sided, 5 %) against the gain, both on logarithmic scales.

    The left panel shows each metric of the variance model for systems with correlation 0.75, at the score and length of
    the study's median test set. The right panel shows BLEU for several correlations. The band is the 95 % interval of
    one line: it covers 95 % of pairs on test sets from other sources.

    Parameters
    ----------
    variance_model
        Table `variance_model` of `study.beyond.variance_model`.
    systems
        Table of `describe`, for scores and lengths.
    """
    figure = Figure(figsize=(PAGE, 2.5))
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    typical = _typical(systems)
    known = variance_model[variance_model["given"] == "correlation"]
    metrics = [metric for metric in known["metric"] if metric in typical and metric != "all"]
    metrics.sort(key=lambda metric: -int(known.loc[known["metric"] == metric, "n_pairs"].iloc[0]))
    for axes, title in ((left, f"by metric, at correlation {CORRELATION:g}"), (right, "BLEU, by correlation")):
        axes.set(xscale="log", yscale="log", xlim=(GAINS[0], GAINS[-1]), ylim=(LEAST, MOST), title=title)
        axes.set_xlabel("true gain (points)")
        axes.set_xticks((0.2, 0.5, 1, 2, 5))
        axes.set_yticks((100, 1_000, 10_000, 100_000))
        plain_numbers(axes.xaxis, axes.yaxis)
        axes.axhline(1_000, color=GREY, linewidth=0.6, linestyle=":")
    left.set_ylabel("segments for 80 % power")
    if not metrics:
        sentence(left, "too few pairs for a variance model")
    spreads = {}
    for metric in metrics:
        score, length = typical[metric]
        at = f"score {score:.0f}" + ("" if length is None else f", length {length:.0f}")
        spread = sample_size.from_variance_model(
            metric, score=score, length=length, correlation=CORRELATION, variance_model=variance_model
        )
        spreads[metric] = spread
        _line(left, spread, f"{metric_name(metric)} ({at})", *metric_look(metric_name(metric)))
    if "bleu" in metrics:
        score, length = typical["bleu"]
        for correlation, colour, marker in zip(CORRELATIONS, sequence(len(CORRELATIONS)), MARKERS, strict=False):
            spread = sample_size.from_variance_model(
                "bleu", score=score, length=length, correlation=correlation, variance_model=variance_model
            )
            _line(right, spread, f"correlation {correlation:g}", colour, marker, band=correlation == CORRELATION)
        spread = sample_size.from_variance_model("bleu", score=score, length=length, variance_model=variance_model)
        _line(right, spread, "correlation unknown", GREY, "x")
    else:
        sentence(right, "too few pairs with BLEU")
    handles = side_by_side(left.get_lines()[1:], [*right.get_lines()[1:], *right.collections])
    explained(figure, handles, ncols=2)
    return says(figure, _of_one_point(spreads))


def _of_one_point(spreads: Mapping[str, sample_size.Spread]) -> str:
    """State the segments that a gain of one point needs: for the metrics with the fewest and the most."""
    ordered = sorted(spreads, key=lambda metric: spreads[metric].variance)
    if not ordered:
        return "Segments that a gain needs for 80 % power"
    each = dict.fromkeys(
        f"{_rounded(spreads[metric].variance)} [{_rounded(spreads[metric].low)}, {_rounded(spreads[metric].high)}] "
        f"segments ({metric_name(metric)})"
        for metric in (ordered[0], ordered[-1])
    )
    return f"A gain of one point needs {' to '.join(each)} for 80 % power"


def _rounded(variance: float) -> str:
    """Segments that a gain of one point needs, with two significant digits."""
    needed = sample_size.units_for(variance, 1.0, sample_size.Design())
    return f"{float(f'{needed:.2g}'):,.0f}" if needed else "–"


def _typical(systems: pd.DataFrame) -> dict[str, tuple[float, float | None]]:
    """Median over datasets of mean score and length, by metric (without the prefix `conll_`)."""
    whole = systems[systems["group"] == "all"]
    typical = {}
    for metric, rows in whole.groupby(whole["metric"].str.removeprefix("conll_"), sort=True):
        length = float(rows["length_per_segment"].median())
        typical[str(metric)] = (float(rows["score_mean"].median()), None if np.isnan(length) else length)
    return typical


def _line(axes: Axes, spread: sample_size.Spread, label: str, colour: str, marker: str, *, band: bool = False) -> None:
    design = sample_size.Design()

    def needed(variance: float) -> list[float]:
        return [float(sample_size.units_for(variance, gain, design) or np.nan) for gain in GAINS]

    style = "--" if marker == "x" else "-"
    axes.plot(GAINS, needed(spread.variance), style, color=colour, marker=marker, markevery=(2, 7), label=label)
    if band:
        axes.fill_between(GAINS, needed(spread.low), needed(spread.high), color=colour, alpha=0.2, linewidth=0,
                          label="95 % of pairs on other test sets")  # fmt: skip
