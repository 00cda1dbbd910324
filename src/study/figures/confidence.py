"""Plot confidence against gain, one point per pair of systems (the paper's Figures 2 to 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

from pairsig.io.errors import InputError
from pairsig.io.pictures import BLUE, COLOURS, GREY, INK, MARKERS, ORANGE, RUST, SKY, styled
from pairsig.io.rendering import count
from study.analysis.pairs import COMBINATIONS, SINGLE, Window, combinations_in, pvalues
from study.figures import style
from study.reproduction.claims import POSTERIORS
from study.reproduction.thresholds import thresholds
from study.tables.columns import addressed
from study.training.training_sets import FULL_SETS, SYNTHETIC, base_model_of, of_full_sets

CONFIDENCE = "confidence = 1 − p"
SATURATED = 0.999
"""Confidence above which a curve is flat."""


@dataclass(frozen=True, eq=False)
class Class:
    """Pairs with the same marker; `subset` is their name in the table of thresholds."""

    label: str
    subset: str
    pairs: pd.DataFrame
    marker: str
    colour: str
    ink: str = INK
    """Variant of the colour that is dark enough for thin lines and text."""
    filled: bool = True


def classes(comparisons: pd.DataFrame) -> list[Class]:
    """Classify pairs by what their systems have in common, in drawing order.

    The classes are: pairs from the same group; pairs of two systems of the same special kind (online, llm, ...), for
    the two most frequent such kinds; and all other pairs. The kind `submission`, or else the most frequent kind, is not
    special. The group of a retrained system is its base model, and pairs of the two `POSTERIORS` are special.

    If some systems are combinations of others, the classes are those of the paper's Figure 4: pairs of combinations,
    and pairs of single systems by group. Pairs of a combination and a single system, which it may contain, are in none.
    """
    if (combined := combinations_in(comparisons)).any():
        single, same = comparisons[combined == 0], comparisons["same_group"].astype(bool)[combined == 0]
        of_pairs = [
            Class("different groups", f"{SINGLE}, different group", single[~same], "o", SKY, BLUE),
            Class("both combinations", COMBINATIONS, comparisons[combined == 2], "s", ORANGE, style.BROWN),
            Class("same group", f"{SINGLE}, same group", single[same], "^", RUST, RUST),
        ]
        return [drawn for drawn in of_pairs if len(drawn.pairs)]
    same_group = comparisons["same_group"].astype(bool)
    kind_a, kind_b = (comparisons[column].astype(object).fillna("").astype(str) for column in ("kind_a", "kind_b"))
    kinds = pd.concat([kind_a, kind_b])
    frequent = kinds[kinds != ""].value_counts()
    ordinary = "submission" if "submission" in frequent.index else next(iter(frequent.index), "")
    kind_of_both = kind_a.mask((kind_a != kind_b) | (kind_a == ordinary) | same_group, "")
    retrained = ordinary == SYNTHETIC
    if retrained:
        models = (base_model_of(comparisons[f"system_{side}"]) for side in "ab")
        related = np.logical_and.reduce([model.isin(POSTERIORS) for model in models])
        kind_of_both = kind_of_both.mask(related & ~same_group, " and ".join(POSTERIORS))
    particular = sorted(kind_of_both[kind_of_both != ""].value_counts().index[:2])
    different = comparisons[~same_group & ~kind_of_both.isin(particular)]
    groups = "base model" if retrained else "group"
    of_pairs = [Class(f"different {groups}s", "different group", different, "o", SKY, BLUE)]
    for kind, colour, ink, marker in zip(particular, (ORANGE, "#000000"), (style.BROWN, "#000000"), "sD", strict=False):
        word = {"abs": "abstractive", "ext": "extractive"}.get(kind, kind)
        label = word if " and " in kind else f"both {word}"
        of_pairs.append(Class(label, f"{kind} / {kind}", comparisons[kind_of_both == kind], marker, colour, ink))
    of_pairs.append(Class(f"same {groups}", "same group", comparisons[same_group], "^", RUST, RUST))
    return [drawn for drawn in of_pairs if len(drawn.pairs)]


LOWEST = 0.5
"""Lower limit of confidence, the minimum of the one-sided test."""

FEW_POINTS = 30
"""Up to so many pairs, every one is shown."""


def saturation(pairs: pd.DataFrame) -> float:
    """Gain above which nearly all confidences are saturated: the right limit of the axis.

    This is 1.1 times the 99.5th percentile of the gains of pairs whose confidence is below 0.999. Few pairs are all
    shown.
    """
    gains = pairs["gain"].to_numpy(dtype=float)
    open_ = gains[1 - pvalues(pairs) < SATURATED]
    few = len(gains) <= FEW_POINTS
    chosen = gains if few or not len(open_) else open_
    limit = 1.1 * float(np.quantile(chosen, 1.0 if few else 0.995)) if len(chosen) else 0.0
    return limit if limit > 0 else 1.0


def _frame(axes: Axes, pairs: pd.DataFrame, title: str) -> list[str]:
    """Set the limits and labels, and draw the line p = 0.05; return notes on the pairs outside the limits."""
    confidence = 1 - pvalues(pairs)
    gains = pairs["gain"].to_numpy(dtype=float)
    right = saturation(pairs)
    axes.set(xlim=(-0.02 * right, right), ylim=(LOWEST - 0.02 * (1 - LOWEST), 1 + 0.02 * (1 - LOWEST)))
    axes.set(title=title, xlabel=style.gain_label(pairs["metric"]), ylabel=CONFIDENCE)
    axes.axhline(0.95, color=GREY, linewidth=0.6, zorder=0.5)
    bottom, top = axes.get_ylim()
    at_the_right = blended_transform_factory(axes.transAxes, axes.transData)
    axes.text(1.0, 0.95 - 0.012 * (top - bottom), "p = 0.05", transform=at_the_right, ha="right", va="top",
              color="#555555")  # fmt: skip
    beyond = int((gains > right).sum())
    below = int(((confidence < bottom) & (gains <= right)).sum())
    notes = [f"not drawn: {count(beyond)} with gains above {right:.3g} points"] if beyond else []
    return notes + ([f"not drawn: {count(below)} with confidence below {LOWEST:g}"] if below else [])


def _scatter(axes: Axes, drawn: Class, total: int, rasterized: bool, scale: float = 1.0) -> None:
    size, alpha = (14.0, 0.9) if total <= 700 else (9.0, 0.6) if total <= 3_000 else (5.0, 0.45)
    size *= scale * (1.0 if len(drawn.pairs) > 0.1 * total or total <= 700 else 1.5)
    axes.scatter(
        drawn.pairs["gain"].to_numpy(dtype=float),
        1 - pvalues(drawn.pairs),
        s=size,
        marker=drawn.marker,
        facecolors=drawn.colour if drawn.filled else "none",
        edgecolors="none" if drawn.filled else drawn.colour,
        linewidths=0.0 if drawn.filled else 0.6,
        alpha=alpha,
        rasterized=rasterized,
        label=drawn.label,
    )


def _draw_expected(axes: Axes, pairs: pd.DataFrame, colour: str = INK, width: float = 0.9) -> None:
    """Draw the expected confidence of a pair with the median standard error: Φ(gain / median standard error).

    Pairs with larger gains than the axes show may have other standard errors, and do not count.
    """
    from scipy.special import ndtr

    gains = np.linspace(0, axes.get_xlim()[1], 200)
    errors = pairs.loc[(pairs["gain"] <= gains[-1]) & (pairs["standard_error"] > 0), "standard_error"].to_numpy(float)
    if len(errors):
        axes.plot(gains, ndtr(gains / np.median(errors)), color=colour, linewidth=width, zorder=2.6, gid="expected")


def _key(drawn: Class, label: str) -> Line2D:
    filling = drawn.colour if drawn.filled else "none"
    return style.mark(label, marker=drawn.marker, markersize=4.5, markerfacecolor=filling, markeredgecolor=drawn.colour)


LINE: dict[str, Any] = {"color": INK, "linewidth": 1.0}
"""Lines in the legend."""


EXPECTED = "expected for the median standard error"


def _title(pairs: pd.DataFrame, series: str) -> str:
    sizes = pairs["n_segments"].unique()
    segments = f", {count(sizes[0])} segments" if len(sizes) == 1 else ""
    return f"{pairs['dataset'].iloc[0]}{segments}" + (f", {series}" if series else "")


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Select the pairs with a gain and a p-value."""
    return table[table["gain"].notna() & np.isfinite(pvalues(table))]


@styled
def gain_confidence(
    comparisons: pd.DataFrame,
    thresholds: pd.DataFrame,
    published: pd.DataFrame | None = None,
    overlay: pd.DataFrame | None = None,
    *,
    series: str = "",
) -> Figure:
    """Confidence against gain for all pairs of a dataset (the paper's Figures 2 to 8).

    Parameters
    ----------
    comparisons
        The comparisons of one dataset, test set, metric and test. Pairs from the same group, from different groups
        and of two systems of a special kind have different markers.
    thresholds
        Table `THRESHOLDS` of these comparisons. A dashed line marks the `threshold` of each class for which it is
        estimated, or that of all pairs if no class has one.
    published
        Dotted lines mark the paper's thresholds, scaled to the number of segments by the central limit theorem.
    overlay
        The comparisons of a dataset with published systems, drawn in outline over those of retrained systems.
    series
        The prefix of the subsets in `thresholds`, if only a part of the pairs is drawn.

    Notes
    -----
    Solid lines are the expectation for a pair with the median standard error of its class (`expected`).
    """
    comparisons = _pairs(comparisons)
    if comparisons.empty:
        return style.nothing(NAMED)
    drawn = classes(comparisons)
    estimates = _estimates(drawn, thresholds, series)
    message = _message(drawn, estimates)
    laid_over = [] if overlay is None else _laid_over(overlay)
    figure, axes = style.column()
    for of_class in drawn:
        _scatter(axes, of_class, len(comparisons), rasterized=len(comparisons) > style.RASTERIZE_ABOVE)
    for of_class in laid_over:
        _scatter(axes, of_class, len(comparisons), rasterized=False, scale=1.2)
    mixed = combinations_in(comparisons) == 1
    notes = _frame(axes, comparisons[~mixed], _title(comparisons, series))
    if mixed.any():
        notes.append(f"not drawn: {count(int(mixed.sum()))} with only one combination")
    for of_class in drawn:
        _draw_expected(axes, of_class.pairs, of_class.ink)
    keys = []
    for of_class in (*drawn, *laid_over):
        n = len(of_class.pairs)
        keys.append(_key(of_class, f"{of_class.label}: {count(n)} pair{'s' * (n != 1)}"))
    keys.append(style.line(EXPECTED, **LINE))
    ours = _ours(drawn, estimates)
    compared = _theirs(published, comparisons)
    theirs = {
        row.subset.removeprefix(f"{FULL_SETS}, "): _at_size(row, comparisons["n_segments"].iloc[0]) for row in compared
    }
    every = Class("all pairs", "all", comparisons, "o", INK)
    if "all" in theirs:  # the paper does not divide these pairs
        printed = any(row.compared_with.startswith("printed:") for row in compared)
        # Its own number is the percentile of the pairs near p = 0.05, ours of other figures a smoother estimate.
        ours, drawn = _ours([every], estimates.assign(threshold=estimates["printed"]) if printed else estimates), []
    for label, marked, dashes in (
        ("threshold here", ours, (4, 2)),
        ("the paper's threshold, at our size", theirs, (1, 1.2)),
    ):
        values = [(of_class, marked[of_class.subset]) for of_class in (*drawn, every) if of_class.subset in marked]
        for of_class, value in values:
            axes.axvline(value, color=of_class.ink, linewidth=1.1, dashes=dashes, zorder=2.7, gid=label)
        if values:
            described = f"{label}:{chr(10) if len(values) > 1 else ' '}{_listed(values)}"
            keys.append(style.line(described, dashes=dashes, **LINE))
    if len({of_class.subset for of_class in drawn} & ours.keys()) > 1:
        notes.append(_of_thresholds(drawn, ours))
    style.explained(figure, [*keys, *map(style.mark, filter(None, notes))])
    return style.says(figure, message)


@styled
def full_sets(comparisons: pd.DataFrame, *others: pd.DataFrame) -> Figure:
    """`gain_confidence` for pairs of systems with full training sets (the paper's Figure 7 has only such pairs).

    Our systems with half and quarter training sets correlate less.
    """
    return gain_confidence(comparisons[of_full_sets(comparisons)], *others, series=FULL_SETS)


NAMED = "Confidence against gain, one point per pair"
"""Title of a figure whose classes of pairs need gains that do not differ significantly."""


def _message(drawn: Sequence[Class], estimates: pd.DataFrame) -> str:
    """Say which pairs need smaller gains than the first class: those whose intervals lie below its interval."""
    names = {"same group": "pairs of one group", f"{SINGLE}, same group": "pairs of one group"}
    names[COMBINATIONS] = "pairs of combinations"
    noun = "base model" if any("base model" in of_class.label for of_class in drawn) else "group"
    usual = estimates["critical_difference_low"].get(drawn[0].subset, math.nan)
    smaller = [
        names.get(of_class.subset, f"pairs that are {of_class.label}").replace("group", noun)
        for of_class in drawn[1:]
        if estimates["critical_difference_high"].get(of_class.subset, math.nan) < usual
    ]
    return f"{' and '.join(smaller).capitalize()} need smaller gains" if smaller else NAMED


def _estimates(drawn: Sequence[Class], thresholds: pd.DataFrame, series: str) -> pd.DataFrame:
    """Select the estimates of classes, by subset; `all` for all pairs drawn."""
    names = {f"{series}, {of_class.subset}" if series else of_class.subset: of_class.subset for of_class in drawn}
    subsets = thresholds["subset"].map({series or "all": "all"} | names)
    return thresholds[subsets.notna()].set_index(subsets.dropna())


def _of_thresholds(drawn: Sequence[Class], ours: Mapping[str, float]) -> str:
    """Explain thresholds whose order is not that of the curves; empty if the orders agree."""
    marked = [of_class for of_class in drawn if of_class.subset in ours]
    by_curve = sorted(marked, key=lambda of_class: float(of_class.pairs["standard_error"].median()))
    if by_curve == sorted(marked, key=lambda of_class: ours[of_class.subset]):
        return ""
    return "lines are medians, thresholds 95th percentiles:\ntheir order differs, as pairs of a class differ"


def _listed(values: Sequence[tuple[Class, float]]) -> str:
    """Thresholds with the first word of their classes: `0.56 (same), 0.63 (different)`."""
    return ", ".join(
        f"{value:.2f}" + (f" ({of_class.label.split()[0]})" if len(values) > 1 else "") for of_class, value in values
    )


def _laid_over(overlay: pd.DataFrame) -> list[Class]:
    """Classify the pairs of published systems; they are outlined in black, to stand out against any colour."""
    overlay = _pairs(overlay)
    name = overlay["dataset"].iloc[0] if len(overlay) else ""
    return [
        replace(of_class, label=f"{name}, published:\n{of_class.label}", subset="", colour="#000000", filled=False)
        for of_class in classes(overlay)
    ]


def _ours(drawn: Sequence[Class], estimates: pd.DataFrame) -> dict[str, float]:
    """Find our thresholds by subset: those of classes, or else that of all pairs."""
    values = estimates.loc[estimates["verdict"] == "estimated", "threshold"].dropna().to_dict()
    marked = {of_class.subset: values[of_class.subset] for of_class in drawn if of_class.subset in values}
    return marked or {subset: value for subset, value in values.items() if subset == "all"}


def _theirs(published: pd.DataFrame | None, pairs: pd.DataFrame) -> list[Any]:
    """Find the paper's thresholds that are compared with those of a dataset: rows with its `subset` and `test_set`."""
    if published is None:
        return []
    rows = addressed(published, ("threshold", "printed"), "dataset", "subset", "test_set")
    rows = rows[(rows["dataset"] == str(pairs["dataset"].iloc[0])) & (rows["published"] > 0)]
    return [*rows.itertuples(index=False)]


def _at_size(row: Any, n: int) -> float:
    """A threshold of the paper at a number of segments, by the central limit theorem."""
    return float(row.published) * math.sqrt(float(row.n_segments) / n)


MOST_SIZES = 6
"""Sizes of test sets in one figure."""

MOST_POINTS = 1_000
"""Points per class in `sizes` and `domains`: a random sample of the pairs, so that no class hides another."""


def _series(
    name: str,
    by_part: list[Class],
    whole: pd.DataFrame,
    heading: str,
    theirs: Mapping[str, float] = MappingProxyType({}),
) -> Figure:
    """Draw `sizes` or `domains`: one panel with one class per size or domain, and the paper's thresholds by class."""
    figure, axes = style.column()
    most = max(len(part.pairs) for part in by_part)
    for part in by_part:
        drawn = part.pairs.sample(MOST_POINTS, random_state=2012) if len(part.pairs) > MOST_POINTS else part.pairs
        _scatter(axes, replace(part, pairs=drawn), len(drawn) * len(by_part), len(whole) > style.RASTERIZE_ABOVE)
    notes = _frame(axes, whole, heading)
    if most > MOST_POINTS:
        notes.append(f"dots: {count(MOST_POINTS)} random pairs of {count(most)} each")
    for part in by_part:
        if most > FEW_POINTS:  # a halo sets the line off from many points, but would hide few
            _draw_expected(axes, part.pairs, "white", width=2.4)
        _draw_expected(axes, part.pairs, part.ink, width=1.2)
        if part.subset in theirs:
            axes.axvline(theirs[part.subset], color=part.ink, linewidth=1.1, dashes=(1, 1.2), zorder=2.7, gid="paper")
    if theirs:
        values = ", ".join(f"{value:.2f} ({label})" for label, value in theirs.items())
        notes.append(f"dotted: the paper's threshold, at our size:\n{values}")
    title = "\n".join([*notes, f"lines: {EXPECTED}", name])
    style.explained(figure, [_key(part, part.label) for part in by_part], title, ncols=2)
    return figure


@styled
def sizes(
    test_sets: pd.DataFrame, comparisons: pd.DataFrame | None = None, published: pd.DataFrame | None = None
) -> Figure:
    """Confidence against gain on initial segments of a test set (Figures 9 and 10).

    Lighter colours stand for smaller test sets. The figure shows initial segments and the whole test set, for at most
    `MOST_SIZES` sizes; other test sets are ignored. Dotted lines mark the thresholds in `published`.
    """
    tables = [test_sets] if comparisons is None else [test_sets, comparisons]
    whole = pd.concat([_pairs(table) for table in tables], ignore_index=True)
    chosen = whole[whole["derived"].isin(["initial", "whole"])]
    if chosen.empty:
        return style.nothing(BY_SIZE)
    every = sorted(chosen["n_segments"].unique())
    sizes_shown = {every[round(place)] for place in np.linspace(0, len(every) - 1, min(len(every), MOST_SIZES))}
    groups = [pairs for n, pairs in chosen.groupby("n_segments") if n in sizes_shown]
    looks = [(marker, colour, colour) for colour, marker in zip(style.sequence(len(groups)), MARKERS, strict=False)]
    classes = []
    for pairs, look in zip(groups, looks, strict=False):
        size = count(pairs["n_segments"].iloc[0])
        classes.append(Class(size, size, pairs.drop_duplicates(["system_a", "system_b"]), *look))
    theirs: dict[str, float] = {}
    for row in _theirs(published, chosen):
        if row.subset == "all":
            n = int(row.test_set.removeprefix("first-")) if row.test_set else every[-1]
            theirs[count(n)] = _at_size(row, n)
    theirs = {shown.label: theirs[shown.label] for shown in classes if shown.label in theirs}
    drawn = pd.concat([shown.pairs for shown in classes])
    figure = _series("segments in the test set:", classes, drawn, str(chosen["dataset"].iloc[0]), theirs)
    return style.says(figure, BY_SIZE)


BY_SIZE = "Confidence against gain, by size of the test set"
BY_SOURCE = "Confidence against gain on test sets of one size, by source"


@styled
def domains(test_sets: pd.DataFrame) -> Figure:
    """Confidence against gain on test sets of one size from several domains (Figure 11).

    The figure shows the test sets with segments from a single domain, in the largest size that most domains have.
    """
    test_sets = _pairs(test_sets)
    chosen = test_sets[test_sets["derived"] == "domain"]
    if chosen.empty:
        return style.nothing(BY_SOURCE)
    per_size = chosen.groupby("n_segments")["domain"].nunique()
    size = int(max(per_size.index, key=lambda n: (per_size[n], n)))
    chosen = chosen[chosen["n_segments"] == size]
    names = list(dict.fromkeys(chosen["domain"]))
    if len(names) > len(COLOURS):
        raise InputError(f"comparisons: found {len(names)} domains, expected at most {len(COLOURS)} in one figure")
    classes = [
        Class(name, "", chosen[chosen["domain"] == name], marker, colour, colour)
        for name, colour, marker in zip(names, COLOURS, MARKERS, strict=False)
    ]
    heading = f"{chosen['dataset'].iloc[0]}, first {count(size)} segments"
    return style.says(_series("source of the segments:", classes, chosen, heading), BY_SOURCE)


def draw(
    kind: str,
    window: Window,
    published: pd.DataFrame,
    *,
    comparisons: pd.DataFrame | None = None,
    test_sets: pd.DataFrame | None = None,
    overlay: pd.DataFrame | None = None,
) -> Figure:
    """Draw a kind of figure from the comparisons that it needs; the others are None."""
    if kind == "domains":
        return domains(test_sets)
    if kind == "sizes":
        return sizes(test_sets, comparisons, published)
    estimates = thresholds(comparisons, window=window)
    if kind == "full_sets":
        return full_sets(comparisons, estimates, published, overlay)
    return gain_confidence(comparisons, estimates, published, overlay)
