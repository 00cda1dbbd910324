"""Figures: what is drawn is what the tables say. Tables are simulated from a normal model of the gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from scipy.stats import norm

from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from running import ROOT
from study.analysis.pairs import subsets as kinds_of_pairs
from study.figures import confidence
from study.figures.style import titled
from study.tables.declared import declared
from study.test_sets import Derivation

ENTRIES = yaml.safe_load((ROOT / "config/figures.yaml").read_text(encoding="utf-8"))["figures"].values()
OF_TABLES = {entry["function"].partition(".")[2]: entry for entry in ENTRIES if entry["kind"] == "of_tables"}
FIGURES = {
    name: getattr(import_module(f"study.figures.{entry['function'].partition('.')[0]}"), name)
    for name, entry in OF_TABLES.items()
} | {name: getattr(confidence, name) for name in ("gain_confidence", "full_sets", "sizes", "domains")}
"""Functions that draw figures, by name."""
SIGNATURE = "test:bootstrap|method:shifted|alternative:observed"
TEXTS = {"metric": "bleu", "test": "bootstrap", "test_set": "whole", "subset": "all", "group": "all"}
nan = np.nan


def made(name: str, rows: Sequence[Mapping[str, object]] = ({}, {}, {})) -> pd.DataFrame:
    """A table of an analysis with these cells; the others follow from the declarations of their columns.

    Counts are 2,000. Other numbers and texts differ between rows, and intervals reach 0.1 to either side.
    """
    columns, found = declared(name).columns, []
    ends = {end: (one.name, reach) for one in columns for end, reach in zip(one.interval, (-0.1, 0.1), strict=True)}
    for number, given in enumerate(rows):
        cells: dict[str, Any] = dict(given)
        for one in columns:
            if one.type is str:
                choices = one.choices or (TEXTS.get(one.name, f"{one.name} {number + 1}"),)
                cell: Any = choices[number % len(choices)]
            elif one.type is int or one.shown == "count":
                cell = 2000
            elif one.name in ends:
                middle, reach = ends[one.name]
                cell = cells[middle] + reach
            else:
                cell = 0.3 + number / 10
            cells.setdefault(one.name, cell)
        found.append(cells)
    return frame(declared(name), found)


def comparisons(
    n_systems: int = 35,
    n_segments: int = 1_000,
    dataset: str = "dataset 1",
    metric: str = "bleu",
    derived: str = "whole",
    domain: str = "",
    seed: int = 1,
    n_groups: int | None = None,
    kinds: tuple[str, ...] = ("submission",),
) -> pd.DataFrame:
    """All pairs of systems whose segment scores share a common part, a group's and their own.

    Systems of one group correlate more, so the standard error of their gain is smaller, and with it the gain
    that p = 0.05 needs; p is the one-sided normal one.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups or max(n_systems // 3, 1), size=n_systems)
    truth = 30 + rng.normal(0, 1.2, n_systems)
    kind = rng.choice(kinds, n_systems)
    upper = np.triu_indices(n_systems, 1)
    a, b = np.where(truth[upper[0]] >= truth[upper[1]], upper, upper[::-1])
    same = groups[a] == groups[b]
    both = (kind[a] == kind[b]) & (kind[a] != "submission")
    centre = np.where(same, 0.85, np.where(both, 0.7, 0.5))
    correlation = np.clip(centre + rng.normal(0, 0.04, len(a)), 0, 0.97)
    se = 30 * np.sqrt(2 * (1 - correlation) / n_segments)
    gain = np.abs(truth[a] - truth[b] + rng.normal(0, 1, len(a)) * se)
    p = norm.sf(gain / se)
    b_resamples = 10_000
    greater = np.round(p * b_resamples).astype(int)
    return pd.DataFrame(
        {
            "dataset": dataset, "test_set": Derivation(derived, n_segments, domain).label, "derived": derived,
            "domain": domain, "number": 0, "metric": metric, "test": "bootstrap",
            "system_a": [f"s{i}" for i in a], "system_b": [f"s{i}" for i in b], "same_group": same,
            "kind_a": kind[a], "kind_b": kind[b], "n_segments": n_segments, "score_a": truth[b] + gain,
            "score_b": truth[b], "gain": gain, "n_resamples": b_resamples, "n_greater": greater, "n_equal": 0,
            "pvalue": nan, "pvalue_one_sided": greater / b_resamples, "pvalue_low": 0.9 * p, "pvalue_high": 1.1 * p,
            "signature": SIGNATURE,
            "correlation": correlation, "standard_error": se, "estimator": "plain", "pvalue_linear": nan,
            "n_added": nan, "n_removed": nan, "pvalue_tilted": nan, "error_tilted": nan,
        }
    )  # fmt: skip


def threshold_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Thresholds as the analysis makes them: 95th percentiles of gains of pairs with p about 0.05."""
    rows = []
    subsets = {"all": slice(None), "same group": table["same_group"], "different group": ~table["same_group"]}
    for subset, chosen in subsets.items():
        mine = table.loc[chosen]
        gains = mine.loc[mine["pvalue_one_sided"].between(0.04, 0.06), "gain"]
        enough = len(gains) >= 5
        rows.append({
            **table[["dataset", "test_set", "metric", "test", "n_segments"]].iloc[0], "subset": subset,
            "critical_difference": 1.645 * mine["standard_error"].median(),
            "threshold": gains.quantile(0.95) if enough else nan,
            "verdict": "estimated" if enough else "critical difference only",
        })  # fmt: skip
    return made("thresholds", rows)


def of_sizes(table: pd.DataFrame) -> pd.DataFrame:
    """The same of synthetic systems, all but the even ones trained on full sets."""
    named = {f"{side}": table[side].str.replace(r"s(\d*[13579])$", r"m-full-\1", regex=True)
             .str.replace(r"^s(\d+)$", r"m-half-\1", regex=True) for side in ("system_a", "system_b")}  # fmt: skip
    return table.assign(**named, kind_a="synthetic", kind_b="synthetic")


SIZES = (100, 200, 400, 800, 1600)


@pytest.fixture(scope="module")
def sized() -> pd.DataFrame:
    return pd.concat([comparisons(20, n, "craft", "f1", "initial", seed=5) for n in SIZES], ignore_index=True)


@pytest.fixture(scope="module")
def sized_thresholds(sized: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([threshold_rows(sized[sized["n_segments"] == n]) for n in SIZES], ignore_index=True)


def fitted(table: pd.DataFrame) -> pd.DataFrame:
    """The power law of these critical differences."""
    mine = table[table["subset"] == "all"]
    exponent, constant = np.polyfit(np.log(mine["n_segments"].astype(float)), np.log(mine["critical_difference"]), 1)
    key = mine[["dataset", "metric", "test", "subset"]].iloc[0]
    return made("size_scaling", [{**key, "exponent": exponent, "coefficient": np.exp(constant)}])


def calibrations() -> pd.DataFrame:
    rows = []
    edges = [(0.00125, 0.0025), (0.0025, 0.005), (0.005, 0.01), (0.01, 0.02), (0.02, 0.04), (0.04, 0.08), (0.04, 0.06)]
    for (distance, strength), (low, high) in product((("iid", 1.0), ("near", 0.7), ("far", 0.1)), edges):
        cells = {"calibration": "icepahc", "distance": distance, "p_low": low, "p_high": high, "expected": 0.9 - low}
        rows.append(cells | {"share": 0.5 + 0.5 * strength * (1 - 2 * np.sqrt(low * high))})
    return made("calibration", rows)


def reproductions() -> pd.DataFrame:
    columns = (
        "what", "published", "unit", "n_segments", "compared_with", "ours", "low", "high", "ours_n_segments", "verdict"
    )  # fmt: skip
    rows = (
        ("summarization, all pairs", 1.1, "rouge", 48, "threshold:realsumm:all", 0.86, 0.74, 1.02, 100, "agrees"),
        ("parsing, different models", 1.51, "uas", 690, "threshold:ewt:all", 1.2, 1.05, 1.33, 2077, "differs"),
        ("alignment, different models", 1.12, "aer", 100, "threshold:hansards:all", nan, nan, nan, 100, "too few"),
        ("translation, same model", 0.28, "bleu", 2034, "threshold:tanaka:all", nan, nan, nan, nan, "not comparable"),
        ("exponent", -0.5, "exponent", nan, "exponent:ewt:all", -0.5, -0.6, -0.4, nan, "agrees"),
        ("replicated", 92, "%", 1600, "share:icepahc:iid:0.04-0.06", 93, 90, 95, 1600, "agrees"),
    )
    table = made("reproduction", [dict(zip(columns, row, strict=True)) for row in rows])
    table["expected"] = table["published"] * np.sqrt(table["n_segments"] / table["ours_n_segments"])
    table["expected_by_information"] = [0.9, *[nan] * (len(table) - 1)]
    return table


def scatter(axes: Axes) -> dict[str, np.ndarray]:
    """The points of each labelled scatter."""
    return {str(one.get_label()): np.asarray(one.get_offsets()) for one in axes.collections if len(one.get_offsets())}


def words(figure: Figure) -> str:
    """All text in a figure."""
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def lines(axes: Axes, gid: str) -> list[Line2D]:
    """Lines by what they show; error bars carry it on their container's data line too."""
    return [line for line in axes.lines if line.get_gid() == gid]


def at(axes: Axes, gid: str) -> list[float]:
    """Where lines that show this begin on the x-axis."""
    return [float(line.get_xdata()[0]) for line in lines(axes, gid)]


def test_every_pair_is_drawn_once() -> None:
    table = comparisons(kinds=("submission", "submission", "online", "llm-by-organisers"))
    axes = FIGURES["gain_confidence"](table).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("BLEU gain (points)", "confidence = 1 − p")
    points = scatter(axes)
    same = table["same_group"]
    assert set(points) == {"different groups", "same group", "both online", "both LLM"}
    assert len(points["same group"]) == same.sum()
    online = ~same & (table["kind_a"] == "online") & (table["kind_b"] == "online")
    assert len(points["both online"]) == online.sum()
    drawn = np.concatenate(list(points.values()))
    expected = np.column_stack([table["gain"], 1 - table["pvalue_one_sided"]])
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])


def test_combinations_are_a_class_as_in_the_papers_figure_4() -> None:
    """Two combinations are one class whatever their group; pairs with one combination are counted, not drawn."""
    table = comparisons(30, n_groups=4, kinds=("submission", "online", "combination"))
    combined = (table[["kind_a", "kind_b"]] == "combination").sum(axis=1)
    figure = FIGURES["gain_confidence"](table)
    same = table["same_group"]
    expected = {
        "both combinations": combined == 2,
        "same group": (combined == 0) & same,
        "different groups": (combined == 0) & ~same,
    }
    assert {label: len(drawn) for label, drawn in scatter(figure.axes[0]).items()} == {
        label: int(chosen.sum()) for label, chosen in expected.items()
    }
    assert f"not drawn: {(combined == 1).sum()} with only one combination" in words(figure)
    subsets = dict(kinds_of_pairs(table))
    assert len(subsets["combination / combination"]) == (combined == 2).sum()
    assert len(subsets["single system and combination"]) == (combined == 1).sum()
    for name, chosen in (("same group", same), ("different group", ~same)):
        assert len(subsets[f"single systems, {name}"]) == ((combined == 0) & chosen).sum()


def test_thresholds_are_marked_where_estimated() -> None:
    """Those of each class, or else of all pairs."""
    table = comparisons(60, n_groups=4)
    thresholds = threshold_rows(table)
    elsewhere = thresholds.assign(dataset="other", threshold=0.123)
    figure = FIGURES["gain_confidence"](table, pd.concat([elsewhere, thresholds]))
    own = thresholds.set_index("subset")["threshold"][["different group", "same group"]]
    assert at(figure.axes[0], "threshold here") == own.tolist()
    assert f"{own.iloc[0]:.2f} (different), {own.iloc[1]:.2f} (same)" in words(figure)
    thresholds.loc[thresholds["subset"] != "all", ["threshold", "verdict"]] = [np.nan, "too few"]
    axes = FIGURES["gain_confidence"](table, thresholds).axes[0]
    upright = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert upright == [pytest.approx(thresholds["threshold"].iloc[0])]


def test_the_papers_thresholds_are_scaled_to_our_size() -> None:
    published = reproductions().iloc[:2].assign(
        compared_with=["threshold:ewt:same group", "threshold:task=mt:different group:first-400"],
        published=[1.2, 1.5], n_segments=[250.0, 4000.0], unit="BLEU",
    )  # fmt: skip
    scaled = {"same": 1.2 * 0.5, "different": 1.5 * 2}  # our 1,000 segments are 4 times as many, and a quarter
    theirs = "the paper's threshold, at our size"
    retrained = of_sizes(comparisons(60)).assign(dataset="ewt")
    figure = FIGURES["gain_confidence"](retrained, None, published)
    assert at(figure.axes[0], theirs) == pytest.approx([scaled["different"], scaled["same"]])
    assert "3.00 (different), 0.60 (same)" in words(figure)
    assert "different base models" in words(figure)
    own = published.assign(compared_with=["threshold:ewt:same group", "threshold:dataset 1:all"])
    figure = FIGURES["gain_confidence"](comparisons(60), None, own)  # published systems have only their own
    assert at(figure.axes[0], theirs) == [pytest.approx(scaled["different"])]


def test_lines_are_what_theory_expects_of_the_median_pair() -> None:
    table = comparisons(60, n_groups=4)
    drawn = lines(FIGURES["gain_confidence"](table).axes[0], "expected")
    groups = [table[~table["same_group"]], table[table["same_group"]]]
    for line, pairs in zip(drawn, groups, strict=True):
        inside = pairs[pairs["gain"] <= line.get_xdata()[-1]]
        expected_curve = norm.cdf(line.get_xdata() / inside["standard_error"].median())
        np.testing.assert_allclose(line.get_ydata(), expected_curve)
    none = FIGURES["gain_confidence"](table.assign(standard_error=0.0))
    assert not lines(none.axes[0], "expected")


def test_full_sets_alone_have_their_own_pairs_and_thresholds() -> None:
    table = of_sizes(comparisons(40))
    full = table["system_a"].str.contains("full") & table["system_b"].str.contains("full")
    rows = threshold_rows(table)
    own = rows.assign(subset=["full sets", "full sets, same group", "full sets, different group"], verdict="estimated")
    own = own.assign(threshold=[0.7, 0.8, 0.9], n_pairs=20)
    figure = FIGURES["full_sets"](table, pd.concat([rows, own]))
    assert sum(len(points) for points in scatter(figure.axes[0]).values()) == full.sum()
    assert {"0.80", "0.90"} <= set(words(figure).split())
    assert "nothing to draw" in words(FIGURES["full_sets"](comparisons(12)))


def test_up_to_six_sizes_are_drawn_with_the_papers_thresholds(sized: pd.DataFrame) -> None:
    whole = comparisons(20, 2_000, "craft", "f1", seed=5)
    theirs = reproductions().iloc[:2].assign(
        compared_with=["threshold:craft:all:first-100", "threshold:craft:all"],
        published=[3.0, 0.22], n_segments=[100, 8_000],
    )  # fmt: skip
    figure = FIGURES["sizes"](sized, pd.concat([whole, comparisons(20, 100, "craft", "f1", "draw")]), theirs)
    axes = figure.axes[0]
    assert {size: len(points) for size, points in scatter(axes).items()} == dict.fromkeys(
        ["100", "200", "400", "800", "1,600", "2,000"], 190
    )
    assert at(axes, "paper") == pytest.approx([3.0, 0.44])
    many = pd.concat([sized, *(comparisons(20, n, "craft", "f1", "initial") for n in (25, 50))])
    assert list(scatter(FIGURES["sizes"](many).axes[0]))[::5] == ["25", "1,600"]  # six of seven sizes


def test_domains_of_the_most_common_size() -> None:
    parts = [(d, n) for d in ("news", "social") for n in (200, 400)] + [("speech", 200)]
    table = pd.concat([comparisons(8, n, derived="domain", domain=d) for d, n in parts])
    figure = FIGURES["domains"](table)
    assert list(scatter(figure.axes[0])) == ["news", "social", "speech"]
    assert "first 200 segments" in words(figure)
    assert "first 400 segments" in words(FIGURES["domains"](table[table["domain"] != "speech"]))
    many = pd.concat([comparisons(3, 100, derived="domain", domain=f"d{i}") for i in range(8)])
    with pytest.raises(InputError, match="found 8 domains, expected at most 7"):
        FIGURES["domains"](many)


def test_size_scaling_curves_lie_on_their_points(sized_thresholds: pd.DataFrame) -> None:
    fit = fitted(sized_thresholds)
    axes = FIGURES["size_scaling"](sized_thresholds, fit).axes[0]
    (line,) = lines(axes, "fit")
    drawn = np.polyfit(np.log(line.get_xdata()), np.log(line.get_ydata()), 1)
    np.testing.assert_allclose(drawn, [fit["exponent"].iloc[0], np.log(fit["coefficient"].iloc[0])])
    (reference,) = lines(axes, "reference")
    np.testing.assert_allclose(np.polyfit(np.log(reference.get_xdata()), np.log(reference.get_ydata()), 1)[0], -0.5)
    mine = sized_thresholds[sized_thresholds["subset"] == "all"]
    np.testing.assert_allclose(axes.containers[0].lines[0].get_xydata()[:, 1], mine["critical_difference"])
    (predicted,) = lines(axes, "predicted")
    np.testing.assert_allclose(
        predicted.get_ydata(), mine["critical_difference"].iloc[-1] * np.sqrt(1600 / mine["n_segments"])
    )


def test_table_1_shows_shares_beside_the_expected_and_the_papers() -> None:
    table, theirs = calibrations(), reproductions().iloc[[5, 5, 5]]
    addresses = ["share:icepahc:iid:0.04-0.06", "share:icepahc:far:0.04-0.06", "share:icepahc:far:0.01-0.04"]
    figure = FIGURES["table_1"](table, theirs.assign(compared_with=addresses, published=[92, 48, 54]))
    outer = table[~((table["p_low"] == 0.04) & (table["p_high"] == 0.06))]
    panels = zip(figure.axes[:3], ("iid", "near", "far"), ([[0.049, 92]], [], [[0.02, 54]]), strict=True)
    for axes, distance, published in panels:
        rows = outer[outer["distance"] == distance]
        (container,) = axes.containers
        np.testing.assert_allclose(container.lines[0].get_xydata()[:, 1], 100 * rows["share"])
        np.testing.assert_allclose(lines(axes, "expected")[0].get_ydata(), 100 * rows["expected"])
        (paper,) = lines(axes, "paper")
        np.testing.assert_allclose(paper.get_xydata(), np.reshape(published, (-1, 2)), atol=1e-4)
    assert {"same source, 95 % interval", "another text, 95 % interval", "same source: expected", "chance"} < {
        *words(figure).split("\n")
    }


def test_replication_shows_the_same_source_and_elsewhere() -> None:
    table = pd.concat(
        [calibrations().assign(calibration=name) for name in ("parsing", "translation", "constituency", "benchmarks")]
    )
    figure = FIGURES["replication"](table)
    titles = [axes.get_title("left") for axes in figure.axes[:3]]
    assert titles == ["parsers: another language", "translation: another domain", "parsers: another genre"]
    for axes, elsewhere in zip(figure.axes[:3], ("far", "near", "far"), strict=True):
        for container, distance in zip(axes.containers, ("iid", elsewhere), strict=True):
            rows = table[(table["calibration"] == "parsing") & (table["distance"] == distance)]
            rows = rows[~((rows["p_low"] == 0.04) & (rows["p_high"] == 0.06))]
            np.testing.assert_allclose(container.lines[0].get_xydata()[:, 1], 100 * rows["share"])
    without_interval = calibrations().assign(share_low=np.nan)
    without_interval.loc[0, "p_low"] = 0.0
    (axes,) = FIGURES["replication"](without_interval).axes
    assert axes.get_xlabel() == "two-sided p on the first test set"
    assert 0 < axes.get_xlim()[0] < 0.0025


CHANCES = {"i.i.d.": 0.2, "next": 0.01}
TABLES = {
    # Retrained and published systems of a dataset.
    "comparisons": pd.concat([of_sizes(comparisons(12)), comparisons(12, kinds=("submission", "online"))]),
    "overlay": comparisons(8, dataset="shared-task", n_groups=4, seed=2),
    "test_sets": pd.concat([
        *(comparisons(6, n, derived="initial") for n in SIZES),
        *(comparisons(6, 100, derived="domain", domain=domain) for domain in ("news", "speech")),
    ]),
    "reproduction": reproductions(),
    "calibration": calibrations(),
    # Intervals are missing for one size.
    "relative_error": made("relative_error", [
        {"metric": metric, "n_segments": n, "n_resamples": k, "error": error, "error_low": error / 2,
         "error_high": 2 * error if n == 250 else nan, "closed_form": 1.1 * error}
        for metric, n, k in product(("accuracy", "f1"), (250, 500), (1000, 20_000, 100_000))
        for error in [500 / n * k**-0.5]
    ]),
    "run_time": made("run_time", [
        {"metric": metric, "n_segments": n, "n_resamples": k or nan, "seconds": seconds, "seconds_low": seconds / 2,
         "seconds_high": 2 * seconds}
        for metric, n, k in product(("accuracy", "f1"), (250, 10_000), (0, 20_000, 40_000))
        for seconds in [(k or 1) * n / 1e9]
    ]),
    "heterogeneity": made("heterogeneity", [
        {"family": family, "effective_sample_size": size, "effective_sample_size_high": high}
        for family, size, high in (("domains", 15.0, 22.0), ("languages", 16.0, nan))
    ]),
    "next_test_sets": made("next_test_sets", [
        {"family": family, "by": by, "chance_low": low, "chance_high": high, "n_pairs": n,
         "predicted": (low + high) / 2, "replicated": (low + high) / 2 - CHANCES[by]}
        for family, by in product(("domains", "languages"), CHANCES)
        for low, high, n in ((0.5, 0.6, 9), (0.6, 0.8, 50), (0.8, 0.9, 60), (0.9, 1.0, 300))
    ]),
    "documents": made("documents", [
        {"dataset": "small"}, {"dataset": "large"}, {"dataset": "all", "design_effect": nan},
    ]),
}  # fmt: skip
"""Tables with cells that a figure needs or a test expects."""


TAKEN = {
    "gain_confidence": ["comparisons", "thresholds", "reproduction"], "full_sets": ["comparisons"],
    "sizes": ["test_sets", "comparisons"], "domains": ["test_sets"],
}  # fmt: skip
"""Tables of the figures of a dataset."""


def arguments(name: str) -> list[pd.DataFrame]:
    """The tables of a figure; those that are not in `TABLES` follow from the declarations of their columns."""
    return [TABLES[table] if table in TABLES else made(table) for table in TAKEN.get(name) or OF_TABLES[name]["tables"]]


ERRORS = TABLES["relative_error"].groupby("metric")
TIMES = TABLES["run_time"].query("metric == 'accuracy'").sort_values("n_resamples", na_position="first")
DRAWN = [
    ("size_scaling", 0, "paper", "y", [3.00, 0.22]),
    ("relative_error", 0, "closed form", "y", ERRORS.get_group("accuracy")["closed_form"]),
    ("relative_error", 1, "closed form", "y", ERRORS.get_group("f1")["closed_form"]),
    ("relative_error", 1, "measured", "y", ERRORS.get_group("f1")["error"]),
    ("relative_error", 1, "paper", "x", [20_000, 20_000]),
    ("run_time", 0, "seconds", "y", TIMES["seconds"]),
    ("run_time", 0, "paper", "y", [3]),
    ("run_time", 0, "faster", "x", [6_000, 10_000]),
    ("run_time", 1, "paper", "y", []),
    ("next_test_sets", 0, "next", "y", [69, 84, 94]),  # the rate of 9 pairs is left out
    ("next_test_sets", 0, "i.i.d.", "y", [50, 65, 75]),
    ("documents", 1, "excess_document", "x", [0.3, 0.4]),
    ("documents", 0, "design_effect", "x", [0.3, 0.4]),
]
"""What a figure draws of its tables: panel, name of the lines, axis, and the numbers."""


@pytest.mark.parametrize(("name", "panel", "gid", "axis", "expected"), DRAWN)
def test_what_is_drawn_is_what_the_tables_say(
    name: str, panel: int, gid: str, axis: str, expected: Sequence[float]
) -> None:
    drawn = [line.get_xydata()[:, "xy".index(axis)] for line in lines(FIGURES[name](*arguments(name)).axes[panel], gid)]
    np.testing.assert_allclose(np.concatenate([[], *drawn]), expected)


def title(figure: Figure) -> str:
    """The title, on one line."""
    return " ".join(titled(figure).get_suptitle().split())


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        ((0.5, 0.4, 0.6), "Pairs of one base model need smaller gains"),
        ((0.5, 0.4, 0.8), confidence.NAMED),  # the intervals overlap
        ((2.0, 1.9, 2.1), confidence.NAMED),
    ],
)
def test_pairs_need_smaller_gains_if_their_interval_lies_below(same: tuple[float, ...], expected: str) -> None:
    table = of_sizes(comparisons(30))
    thresholds = threshold_rows(table).set_index("subset")
    columns = ["critical_difference", "critical_difference_low", "critical_difference_high"]
    thresholds.loc["different group", columns] = [1.0, 0.7, 1.3]
    thresholds.loc["same group", columns] = same
    assert title(FIGURES["gain_confidence"](table, thresholds.reset_index())) == expected


@pytest.mark.parametrize("name", FIGURES)
def test_empty_tables_say_so_below_a_title_of_what_is_plotted(name: str) -> None:
    figure = FIGURES[name](*(table.iloc[:0] for table in arguments(name)))
    assert "nothing to draw" in words(figure)
    assert title(figure)
    figure.set_layout_engine("none")
    figure.draw_without_rendering()
