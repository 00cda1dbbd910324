"""Plot confidence against gain, one point per pair of systems (the paper's Figures 2 to 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from pairsig.core.definitions import from_signature
from pairsig.io.errors import InputError
from pairsig.metrics.names import metric_name
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
    RUST,
    SKY,
    STYLE,
    gain_label,
    only,
    sentence,
    sequence,
    styled,
)  # fmt: skip
from study.tables.presentation import count
from study.training.training_sets import FULL_SETS, of_full_sets

CONFIDENCE = "confidence = 1 − p"
SATURATED = 0.999
"""Confidence above which a curve is flat."""


@dataclass(frozen=True)
class Class:
    """Pairs with the same marker; `subset` is their name in the table of thresholds."""

    label: str
    subset: str
    pairs: pd.DataFrame
    marker: str
    colour: str
    filled: bool = True
    ink: str = INK
    """Variant of the colour that is dark enough for thin lines and text."""


def classes(comparisons: pd.DataFrame) -> list[Class]:
    """Classify pairs by what their systems have in common, in drawing order.

    The classes are: pairs from the same group; pairs of two systems of the same special kind (online, llm, ...), for
    the two most frequent such kinds; and all other pairs. The kind `submission`, or else the most frequent kind, is not
    special.
    """
    same_group = comparisons["same_group"].astype(bool)
    kind_a, kind_b = (comparisons[column].astype(object).fillna("").astype(str) for column in ("kind_a", "kind_b"))
    kinds = pd.concat([kind_a, kind_b])
    frequent = kinds[kinds != ""].value_counts()
    ordinary = "submission" if "submission" in frequent.index else next(iter(frequent.index), "")
    both = kind_a.mask((kind_a != kind_b) | (kind_a == ordinary) | same_group, "")
    particular = sorted(both[both != ""].value_counts().index[:2])
    different = comparisons[~same_group & ~both.isin(particular)]
    found = [Class("different groups", "different group", different, "o", SKY, ink=BLUE)]
    for kind, colour, marker in zip(particular, (ORANGE, "#000000"), ("s", "D"), strict=False):
        word = "LLM" if kind.startswith("llm") else kind.removesuffix("-by-organisers")
        found.append(Class(f"both {word}", f"{kind} / {kind}", comparisons[both == kind], marker, colour, filled=False))
    found.append(Class("same group", "same group", comparisons[same_group], "^", RUST, ink=RUST))
    return [one for one in found if len(one.pairs)]


def saturation(pairs: pd.DataFrame) -> float:
    """Gain above which nearly all confidences are saturated: the right limit of the axis.

    This is 1.1 times the 99.5th percentile of the gains of pairs whose confidence is below 0.999.
    """
    gains = pairs["gain"].to_numpy(dtype=float)
    open_ = gains[1 - pairs["pvalue"].to_numpy(dtype=float) < SATURATED]
    chosen = open_ if len(open_) else gains
    limit = 1.1 * float(np.quantile(chosen, 0.995)) if len(chosen) else 0.0
    return limit if limit > 0 else 1.0


def _frame(axes: Axes, pairs: pd.DataFrame, bottom: float | None = None) -> list[str]:
    """Set the limits and draw the line p = 0.05; return notes on the pairs outside the limits."""
    confidence = 1 - pairs["pvalue"].to_numpy(dtype=float)
    gains = pairs["gain"].to_numpy(dtype=float)
    if bottom is None:
        bottom = lowest(pairs)
    right = saturation(pairs)
    axes.set_xlim(-0.02 * right, right)
    axes.set_ylim(bottom - 0.02 * (1 - bottom), 1 + 0.02 * (1 - bottom))
    axes.axhline(0.95, color=GREY, linewidth=0.6, zorder=0.5)
    beyond = int((gains > right).sum())
    below = int(((confidence < axes.get_ylim()[0]) & (gains <= right)).sum())
    lie = {1: "lies"}
    notes = [f"{count(beyond)} {lie.get(beyond, 'lie')} beyond {right:.3g} points"] if beyond else []
    return notes + ([f"{count(below)} {lie.get(below, 'lie')} below {bottom:g}"] if below else [])


def lowest(pairs: pd.DataFrame) -> float:
    """Lower limit of confidence: 0.5, the minimum of the one-sided test, unless over 1 % of the pairs lie lower."""
    confidence = 1 - pairs["pvalue"].to_numpy(dtype=float)
    return 0.5 if len(pairs) == 0 or (confidence < 0.49).mean() <= 0.01 else 0.0


def _scatter(axes: Axes, one: Class, total: int, rasterized: bool, scale: float = 1.0) -> None:
    size, alpha = (14.0, 0.9) if total <= 700 else (9.0, 0.6) if total <= 3_000 else (5.0, 0.45)
    size *= scale * (1.0 if len(one.pairs) > 0.1 * total or total <= 700 else 1.5)
    axes.scatter(
        one.pairs["gain"].to_numpy(dtype=float),
        1 - one.pairs["pvalue"].to_numpy(dtype=float),
        s=size,
        marker=one.marker,
        facecolors=one.colour if one.filled else "none",
        edgecolors="none" if one.filled else one.colour,
        linewidths=0.0 if one.filled else 0.6,
        alpha=alpha,
        rasterized=rasterized,
        label=one.label,
    )


def expected(pairs: pd.DataFrame, gains: np.ndarray) -> np.ndarray | None:
    """Expected confidence of a pair with the median standard error: Φ(gain / median standard error).

    For a two-sided test it is 2Φ − 1. The result is None if no standard error is above 0.
    """
    from scipy.special import ndtr

    errors = pairs["standard_error"].to_numpy(dtype=float)
    errors = errors[errors > 0]
    if not len(errors):
        return None
    one_sided: np.ndarray = ndtr(gains / np.median(errors))
    return 2 * one_sided - 1 if from_signature(str(pairs["signature"].iloc[0])).two_sided else one_sided


def _draw_expected(axes: Axes, pairs: pd.DataFrame, colour: str = INK, width: float = 0.9) -> None:
    """Draw the expected curve over the points."""
    gains = np.linspace(0, axes.get_xlim()[1], 200)
    curve = expected(pairs, gains)
    if curve is not None:
        axes.plot(gains, curve, color=colour, linewidth=width, zorder=2.6, gid="expected")


LEGEND_LINES = 6
"""Lines of a legend that fit under the curves; longer legends get a smaller font, so that they hide no points."""

EXPECTED = "expected curve"
"""Legend entry of the expectation for the median standard error. Captions define it: a long entry would hide points."""


def _expected_key() -> Line2D:
    return Line2D([], [], color=INK, linewidth=1.0, label=EXPECTED)


def _key(one: Class, label: str) -> Line2D:
    return Line2D(
        [], [], linestyle="none", marker=one.marker, markersize=4.5, label=label,
        markerfacecolor=one.colour if one.filled else "none", markeredgecolor=one.colour,
    )  # fmt: skip


def _title(pairs: pd.DataFrame, series: str) -> str:
    sizes = pairs["n_segments"].unique()
    segments = f", {count(sizes[0])} segments" if len(sizes) == 1 else ""
    return f"{pairs['dataset'].iloc[0]}{segments}" + (f", {series}" if series else "")


def _level_label(axes: Axes) -> None:
    place = blended_transform_factory(axes.transAxes, axes.transData)
    bottom, top = axes.get_ylim()
    y = 0.95 - 0.012 * (top - bottom)
    axes.text(1.0, y, "p = 0.05", transform=place, ha="right", va="top", color="#555555")


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Select the pairs with a gain and a p-value."""
    return table.dropna(subset=["gain", "pvalue"])


def _nothing(xlabel: str, text: str = "nothing to draw: no pairs") -> Figure:
    figure = Figure(figsize=(COLUMN, 2.4))
    axes = figure.add_subplot()
    axes.set(xlabel=xlabel, ylabel=CONFIDENCE, xlim=(0, 1), ylim=(0.49, 1.01))
    sentence(axes, text)
    return figure


@styled
def gain_confidence(
    comparisons: pd.DataFrame, thresholds: pd.DataFrame | None = None, overlay: pd.DataFrame | None = None
) -> Figure:
    """Confidence against gain for all pairs of a dataset (the paper's Figures 2 to 8).

    Parameters
    ----------
    comparisons
        The comparisons of one dataset, test set, metric and test. Pairs from the same group, from different groups
        and of two systems of a special kind have different markers.
    thresholds
        A thin dashed line marks the `threshold` of each class for which it is estimated, or that of all pairs if no
        class has one. Rows of other datasets are ignored.
    overlay
        The comparisons of a dataset with published systems, drawn in outline over those of retrained systems.

    Notes
    -----
    Solid lines are the expectation for a pair with the median standard error of its class (`expected`).
    """
    return _gain_confidence(_pairs(comparisons), thresholds, overlay)


@styled
def full_sets(
    comparisons: pd.DataFrame, thresholds: pd.DataFrame | None = None, overlay: pd.DataFrame | None = None
) -> Figure:
    """Confidence against gain for pairs of systems with full training sets, with the thresholds of these pairs.

    The paper's Figure 7 has only such pairs. Our systems with half and quarter training sets correlate less.
    """
    pairs = _pairs(comparisons)
    return _gain_confidence(pairs[of_full_sets(pairs)], thresholds, overlay, FULL_SETS)


def _gain_confidence(
    comparisons: pd.DataFrame, thresholds: pd.DataFrame | None, overlay: pd.DataFrame | None, series: str = ""
) -> Figure:
    """Draw all pairs, or those of a series whose name is the prefix of its subsets in `thresholds`."""
    if comparisons.empty:
        return _nothing("gain (points)", f"nothing to draw: no pairs{series and f' for {series}'}")
    only("comparisons", comparisons, "dataset test_set metric test")
    figure = Figure(figsize=(COLUMN, 2.6))
    axes = figure.add_subplot()
    found = classes(comparisons)
    for one in found:
        _scatter(axes, one, len(comparisons), rasterized=len(comparisons) > RASTERIZE_ABOVE)
    laid_over = [] if overlay is None else _laid_over(overlay)
    for one in laid_over:
        _scatter(axes, one, len(comparisons), rasterized=False, scale=1.2)
    notes = _frame(axes, comparisons)
    if overlay is not None and laid_over:
        notes.append(f"published: {overlay['dataset'].iloc[0]}")
    for one in found:
        _draw_expected(axes, one.pairs, one.ink)
    marked = [] if thresholds is None else _marked(found, comparisons, thresholds, series)
    keys = [_key(one, f"{one.label}: {count(len(one.pairs))}") for one in (*found, *laid_over)]
    keys.append(_expected_key())
    if marked:
        keys.append(Line2D([], [], color=GREY, linewidth=0.8, dashes=(4, 2), label="threshold"))
    _draw_thresholds(axes, marked)
    _level_label(axes)
    size = STYLE["legend.fontsize"] if len(keys) + len(notes) <= LEGEND_LINES else 6.5
    axes.legend(
        handles=keys, loc="lower right", title="\n".join(notes) or None, alignment="left", fontsize=size,
        title_fontsize=size, bbox_to_anchor=(1.0, 0.02),
    )  # fmt: skip
    axes.set_title(_title(comparisons, series), pad=16 + 9 * max(len(marked) - 2, 0) if marked else 4)
    axes.set(xlabel=gain_label(comparisons["metric"]), ylabel=CONFIDENCE)
    return figure


def _laid_over(overlay: pd.DataFrame) -> list[Class]:
    """Classify the pairs of published systems; they are outlined in black, to stand out against any colour."""
    overlay = _pairs(overlay)
    same_group = overlay["same_group"].astype(bool)
    found = [
        Class(f"published, {label}", "", pairs, marker, "#000000", filled=False)
        for label, pairs, marker in (
            ("different groups", overlay[~same_group], "o"),
            ("same group", overlay[same_group], "^"),
        )
    ]
    return [one for one in found if len(one.pairs)]


def _marked(
    found: Sequence[Class], comparisons: pd.DataFrame, thresholds: pd.DataFrame, series: str = ""
) -> list[tuple[float, Class | None]]:
    """Find the thresholds to mark, from left to right, with their classes (None for all pairs)."""
    keys = ["dataset", "test_set", "metric", "test"]
    mine = thresholds[(thresholds[keys].astype(str) == comparisons[keys].iloc[0].astype(str)).all(axis=1)]
    mine = mine[(mine["verdict"] == "estimated") & mine["threshold"].notna()]
    values = dict(zip(mine["subset"], mine["threshold"].astype(float), strict=True))
    names = [f"{series}, {one.subset}" if series else one.subset for one in found]
    marked: list[tuple[float, Class | None]] = [
        (values[name], one) for name, one in zip(names, found, strict=True) if name in values
    ]
    if not marked and (series or "all") in values:
        return [(values[series or "all"], None)]
    return sorted(marked, key=lambda pair: pair[0])


def _draw_thresholds(axes: Axes, marked: list[tuple[float, Class | None]]) -> None:
    """Draw dashed lines with the marker of the class at the bottom and the value at the top.

    The last value is printed to the right of its line, the others to the left of theirs, each one line higher.
    """
    place = blended_transform_factory(axes.transData, axes.transAxes)
    for position, (value, one) in enumerate(marked):
        ink = INK if one is None else one.ink
        axes.axvline(value, color=ink, linewidth=0.8, dashes=(4, 2), zorder=0.6)
        if one is not None:
            axes.plot([value], [0], one.marker, transform=place, clip_on=False, markersize=4.5, zorder=3,
                      markerfacecolor=one.colour if one.filled else "white", markeredgecolor=ink)  # fmt: skip
        last = position == len(marked) - 1
        level = 0 if last else position
        text = f" {value:.2f}" if last else f"{value:.2f} "
        axes.annotate(text, (value, 1), xycoords=place, xytext=(0, 2 + 9 * level), textcoords="offset points",
                      ha="left" if last else "right", va="bottom", color=ink)  # fmt: skip


@styled
def overview(*comparisons: pd.DataFrame) -> Figure:
    """Confidence against gain for many datasets, one panel each, with the same vertical axis.

    Panels are grouped by metric, below its name. Metrics and panels keep the order of the input.
    """
    filled = [pairs for table in comparisons if len(pairs := _pairs(table))]
    if not filled:
        return _nothing("gain (points)")
    whole = pd.concat(filled, ignore_index=True)
    panels: dict[str, list[pd.DataFrame]] = {}
    for (metric, *_), panel in whole.groupby(["metric", "dataset", "test", "test_set"], sort=False, observed=True):
        panels.setdefault(metric_name(str(metric)), []).append(panel)
    columns = min(max(map(len, panels.values())), 5)
    rows = sum(-(-len(own) // columns) for own in panels.values())
    figure = Figure(figsize=(PAGE if columns > 1 else COLUMN, (1.4 if rows <= 6 else 1.02) * rows + 0.5))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    bottom = min(lowest(panel) for own in panels.values() for panel in own)
    row = 0
    for name, own in panels.items():
        for place, axes in enumerate(grid[row : (row := row - (-len(own) // columns))].flat):
            if place >= len(own):
                axes.remove()
                continue
            _panel(axes, own[place], bottom, rasterized=len(whole) > RASTERIZE_ABOVE)
            axes.tick_params(labelleft=place % columns == 0)
            if place == 0:
                words = f"{name}, {len(own)} datasets" if len(own) > 1 else name
                axes.set_title(
                    f"\n{axes.get_title(loc='left')}", pad=3
                )  # room for the heading, which may be wider than its panel
                head = axes.annotate(
                    words, (0, 1), (0, 14), "axes fraction", "offset points", weight="bold", va="bottom",
                    annotation_clip=False,
                )  # fmt: skip
                head.set_in_layout(False)
    figure.legend(handles=_overview_keys(whole), loc="outside upper left", ncols=3, columnspacing=1.5)
    figure.supxlabel("gain (points)" if len(panels) > 1 else gain_label(whole["metric"]), fontsize=8)
    figure.supylabel(CONFIDENCE, fontsize=8)
    return figure


def _panel(axes: Axes, panel: pd.DataFrame, bottom: float, *, rasterized: bool) -> None:
    """Draw one dataset of the overview: its pairs, with one marker for all special kinds, and the expected curve."""
    for one in _broad(panel):
        _scatter(axes, one, len(panel), rasterized=rasterized, scale=0.6)
    _frame(axes, panel, bottom)
    _draw_expected(axes, panel, width=0.6)
    name = str(panel["dataset"].iloc[0])
    axes.set_title(name, pad=3, fontsize=126 / max(len(name), 18))
    axes.text(0.98, 0.04, f"{count(len(panel))} pairs", transform=axes.transAxes, ha="right", fontsize=7)
    axes.locator_params(axis="x", nbins=3)
    axes.tick_params(labelsize=7)


ONE_KIND = "both of one kind (online, LLM, …)"


def _broad(pairs: pd.DataFrame) -> list[Class]:
    """Classify pairs with one class for all special kinds, so that markers have the same meaning in every panel."""
    found = []
    for one in classes(pairs):
        if one.label.startswith("both "):
            one = replace(one, label=ONE_KIND, marker="s", colour=ORANGE)
        found.append(one)
    return found


def _overview_keys(whole: pd.DataFrame) -> list[Line2D]:
    """Legend entries of the overview."""
    drawn = {one.label: one for one in _broad(whole)}
    return [
        *(_key(one, label) for label, one in drawn.items()),
        _expected_key(),
        Line2D([], [], color=GREY, linewidth=0.6, label="p = 0.05"),
    ]


def _series(name: str, found: list[Class], whole: pd.DataFrame, heading: str) -> Figure:
    """Draw `sizes` or `domains`: one panel with one class per size or domain."""
    figure = Figure(figsize=(COLUMN, 2.6))
    axes = figure.add_subplot()
    for one in found:
        _scatter(axes, one, max(len(whole) // 2, 1), rasterized=len(whole) > RASTERIZE_ABOVE)
    notes = _frame(axes, whole)
    for one in found:
        _draw_expected(axes, one.pairs, INK if one.filled else one.colour, width=0.7 if one.filled else 1.3)
    _level_label(axes)
    axes.legend(
        handles=[*(_key(one, one.label) for one in found), _expected_key()], loc="lower right", alignment="left",
        title="\n".join([*notes, name]), title_fontsize=8, bbox_to_anchor=(1.0, 0.02),
        ncols=1 if len(found) <= 6 else 2, columnspacing=0.8,
    )  # fmt: skip
    axes.set_title(heading)
    axes.set(xlabel=gain_label(whole["metric"]), ylabel=CONFIDENCE)
    return figure


@styled
def sizes(*tables: pd.DataFrame) -> Figure:
    """Confidence against gain on initial segments of a test set (Figures 9 and 10).

    Lighter colours stand for smaller test sets. The figure shows initial segments and the whole test set; other test
    sets are ignored. Several tables are concatenated.
    """
    test_sets = pd.concat([_pairs(table) for table in tables], ignore_index=True)
    chosen = test_sets[test_sets["derived"].isin(["initial", "whole"])]
    if chosen.empty:
        return _nothing("gain (points)", "nothing to draw: no test sets\nmade of initial segments")
    only("test_sets", chosen, "dataset metric test")
    groups = [pairs for _, pairs in chosen.groupby("n_segments")]
    found = [
        Class(
            count(pairs["n_segments"].iloc[0]),
            "",
            pairs.drop_duplicates(["system_a", "system_b"]),
            marker,
            colour,
        )
        for pairs, colour, marker in zip(groups, sequence(len(groups)), MARKERS * len(groups), strict=False)
    ]
    return _series("segments", found, pd.concat([one.pairs for one in found]), str(chosen["dataset"].iloc[0]))


@styled
def domains(test_sets: pd.DataFrame) -> Figure:
    """Confidence against gain on test sets of one size from several domains (Figure 11).

    The figure shows the test sets with segments from a single domain, in the largest size that most domains have.
    """
    test_sets = _pairs(test_sets)
    chosen = test_sets[test_sets["derived"] == "domain"]
    if chosen.empty:
        return _nothing("gain (points)", "nothing to draw: no test sets\nfrom single domains")
    only("test_sets", chosen, "dataset metric test")
    per_size = chosen.groupby("n_segments")["domain"].nunique()
    size = int(max(per_size.index, key=lambda n: (per_size[n], n)))
    chosen = chosen[chosen["n_segments"] == size]
    names = list(dict.fromkeys(chosen["domain"]))
    if len(names) > len(COLOURS):
        raise InputError(f"comparisons: found {len(names)} domains, expected at most {len(COLOURS)} in one figure")
    found = [
        Class(name, "", chosen[chosen["domain"] == name], marker, colour, filled=False)
        for name, colour, marker in zip(names, COLOURS, MARKERS, strict=False)
    ]
    return _series("domain", found, chosen, f"{chosen['dataset'].iloc[0]}, first {count(size)} segments")
