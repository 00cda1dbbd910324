"""Figures: what is drawn is what the tables say. Tables are simulated from a normal model of the gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from matplotlib.text import Text
from scipy.stats import norm

from pairsig.io.errors import InputError
from pairsig.io.pictures import save
from pairsig.io.tables import frame
from pairsig.planning import sample_size
from running import ROOT
from study import analysis, cli
from study.analysis.pairs import subsets as kinds_of_pairs
from study.figures.style import says, titled
from study.test_sets import Derivation

RECORDS = {figure.function or figure.name: figure for figure in analysis.figures().values()}
FIGURES = {name: getattr(import_module(f"study.figures.{figure.module}"), name) for name, figure in RECORDS.items()}
"""Functions that draw figures, by name."""
SIGNATURE = "test:bootstrap|method:shifted|alternative:observed"
TEXTS = {"metric": "bleu", "test": "bootstrap", "test_set": "whole", "subset": "all", "group": "all"}
nan = np.nan


def made(name: str, rows: Sequence[Mapping[str, object]] = ({}, {}, {})) -> pd.DataFrame:
    """A table of an analysis with these cells; the others follow from the declarations of their columns.

    Counts are 2,000. Other numbers and texts differ between rows, and intervals reach 0.1 to either side.
    """
    columns, found = analysis.table(name).columns, []
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
    return frame(analysis.table(name), found)


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


@pytest.mark.parametrize(
    "kinds",
    [{"kind_a": "mst", "kind_b": "mst"}, {"kind_a": None, "kind_b": pd.Categorical(["submission"] * 595)}],
)
def test_kinds_of_one_sort_missing_and_categorical_ones_are_no_class(kinds: dict[str, Any]) -> None:
    points = scatter(FIGURES["gain_confidence"](comparisons().assign(**kinds)).axes[0])
    assert set(points) == {"different groups", "same group"}


def test_an_aligner_and_one_that_uses_its_output_are_a_class() -> None:
    table = of_sizes(comparisons(30))
    for side, model in (("system_a", "itg"), ("system_b", "joint-hmm")):
        table.loc[:9, side] = [f"{model}-full-{number}" for number in range(10)]
    table.loc[:9, "same_group"] = False
    points = scatter(FIGURES["gain_confidence"](table).axes[0])
    np.testing.assert_allclose(points["itg and joint-hmm"][:, 0], table.loc[:9, "gain"])


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


def test_pairs_of_published_systems_are_outlined() -> None:
    ours, theirs = comparisons(20), comparisons(8, dataset="shared-task", n_groups=4, seed=2)
    drawn = scatter(FIGURES["gain_confidence"](ours, None, None, theirs).axes[0])
    published = {label: points for label, points in drawn.items() if "published" in label}
    assert set(published) == {"shared-task, published:\ndifferent groups", "shared-task, published:\nsame group"}
    assert sum(len(points) for points in published.values()) == len(theirs)
    assert sum(len(points) for points in drawn.values()) == len(ours) + len(theirs)


@pytest.mark.parametrize("gains", [[0.5, 9.0, 30.0], [0.0, 0.0, 0.0]])
def test_few_or_tied_pairs_are_all_drawn(gains: list[float], tmp_path: Path) -> None:
    few = comparisons(3, 400).assign(gain=gains, pvalue_one_sided=[0.3 if gain < 1 else 0.0 for gain in gains])
    figure = FIGURES["gain_confidence"](few)
    assert figure.axes[0].get_xlim()[1] > max(gains)
    assert "not drawn" not in words(figure)
    assert sum(len(points) for points in scatter(figure.axes[0]).values()) == len(few)
    save(figure, tmp_path / "few.svg")


def test_limits_follow_saturation() -> None:
    table = comparisons(60)
    table.loc[table["gain"].idxmax(), "gain"] = 80.0
    figure = FIGURES["gain_confidence"](table)
    right = figure.axes[0].get_xlim()[1]
    beyond = int((table["gain"] > right).sum())
    open_ = table.loc[table["pvalue_one_sided"] > 0.001, "gain"]
    assert open_.quantile(0.99) < right < 1.2 * open_.max()
    assert beyond >= 1
    assert f"not drawn: {beyond:,} with gains above" in words(figure)
    assert figure.axes[0].get_ylim() == pytest.approx((0.49, 1.01))


def test_two_sided_tests_get_the_whole_axis() -> None:
    table = comparisons()
    table = table.assign(pvalue=2 * table["pvalue_one_sided"], pvalue_one_sided=nan)
    assert FIGURES["gain_confidence"](table).axes[0].get_ylim()[0] == pytest.approx(-0.02)


def test_tied_pairs_below_the_axis_are_counted() -> None:
    table = comparisons(40)
    table.loc[:1, ["gain", "pvalue_one_sided"]] = [0.0, 1.0]
    assert "not drawn: 2 with confidence below 0.5" in words(FIGURES["gain_confidence"](table))


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
    two_sided = table.assign(signature="test:randomization|alternative:two-sided")
    line, *_ = lines(FIGURES["gain_confidence"](two_sided).axes[0], "expected")
    assert line.get_ydata()[0] == 0
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
    assert "no pairs" in words(FIGURES["full_sets"](comparisons(12)))


def test_the_overview_has_a_line_per_dataset_in_units_of_its_critical_difference() -> None:
    metrics = ["bleu", "bleu", "uas"]
    tables = [comparisons(40, 400 * (i + 1), f"d{i}", metric, seed=i) for i, metric in enumerate(metrics)]
    figure = FIGURES["overview"](*tables)
    (axes,) = figure.axes
    drawn = [line for line in axes.lines if str(line.get_gid()).startswith("d")]
    assert [line.get_gid() for line in drawn] == ["d0", "d1", "d2"]
    for line, table in zip(drawn, tables, strict=True):
        unit = table["gain"] / (1.645 * table["standard_error"].median())
        for gain, confidence in line.get_xydata():
            near = table[(unit - gain).abs() < 0.3]
            assert near["gain"].size >= 5
            assert (1 - near["pvalue_one_sided"]).min() <= confidence <= (1 - near["pvalue_one_sided"]).max()
    (expected_curve,) = lines(axes, "expected")
    np.testing.assert_allclose(expected_curve.get_ydata(), norm.cdf(1.6449 * expected_curve.get_xdata()), atol=1e-4)
    assert {"BLEU (2)", "UAS (1)"} < set(words(figure).split("\n"))


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


def test_a_sample_of_many_pairs_is_drawn() -> None:
    table = pd.concat([comparisons(50, 100, derived="domain", domain=d) for d in ("news", "speech")])
    figure = FIGURES["domains"](table)
    for points in scatter(figure.axes[0]).values():
        assert len(points) == 1_000
        assert {*points[:, 0]} <= {*table["gain"]}
    assert "1,000 random pairs of 1,225 each" in words(figure)


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
    assert not lines(FIGURES["size_scaling"](sized_thresholds).axes[0], "fit")


def test_thresholds_without_a_verdict_are_named() -> None:
    figure = FIGURES["thresholds"](reproductions())
    segments = figure.axes[0].containers[0].lines[2][0].get_segments()[0]
    np.testing.assert_allclose(segments[:, 0], [0.74, 1.02])
    assert "alignment, different models: too few" in words(figure)
    assert "translation, same model: not comparable" in words(figure)
    assert "replicated" not in words(figure)


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
    assert {"same source, 95 % interval", "another text, 95 % interval", "expected for the same source", "chance"} < {
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
    assert 0 < axes.get_xlim()[0] < 0.00125


def test_the_critical_difference_falls_with_the_correlation() -> None:
    table = comparisons(40, n_groups=3)
    axes = FIGURES["correlation"](table).axes[0]
    significant = table["pvalue_one_sided"] < 0.05
    assert [len(points) for points in scatter(axes).values()] == [significant.sum(), (~significant).sum()]
    needed = axes.lines[-1].get_xydata()
    np.testing.assert_allclose(needed[:, 1], 1.645 * 30 * np.sqrt(2 * (1 - needed[:, 0]) / 1_000), rtol=0.02)


def test_segments_needed_are_those_of_plan() -> None:
    left, right = FIGURES["segments_needed"](*arguments("segments_needed")).axes
    drawn = {str(line.get_label()): line.get_xydata() for line in left.lines}
    spread = sample_size.from_variance_model("bleu", score=35.0, length=25.0, correlation=0.75)
    for gain, n in drawn["BLEU (score 35, length 25)"]:
        assert n == sample_size.units_for(spread.variance, gain, sample_size.Design())
    assert "ROUGE-2 recall (score 20)" in drawn
    (band,) = right.collections
    ends = [sample_size.units_for(v, 0.2, sample_size.Design()) for v in (spread.low, spread.high)]
    assert {y for x, y in band.get_paths()[0].vertices if x == 0.2} == set(ends)


CHANCES = {"i.i.d.": 0.2, "next": 0.01}
QUESTIONS = {"outputs": 0.94, "method": 0.8, "method-level test": 0.93}
TRAINED = [("small", 100), ("small", 300), ("large", 100), ("large", 1600), ("large", 5000)]
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
    "variance_model": sample_size.fitted(),
    "systems": made("systems", [
        {"metric": metric, "length_per_segment": length, "score_mean": score}
        for metric, length, score in (("bleu", 20.0, 30.0), ("bleu", 30.0, 40.0), ("rouge2_recall", nan, 20.0))
    ]),
    "training_variance": made("training_variance", [
        {"dataset": dataset, "metric": "f1", "n_segments": n, "share_significant": 1 - 10 / n**0.5,
         "verdict": "estimated"}
        for dataset, n in TRAINED
    ]),
    "better_method": made("better_method", [
        {"dataset": dataset, "n_segments": n, "question": question, "replicated": replicated - 10 / n,
         "verdict": "estimated"}
        for (dataset, n), (question, replicated) in product(TRAINED, QUESTIONS.items())
    ]),
    "leaderboards": made("leaderboards", [
        {"dataset": "small", "share_significant_holm": 0.2, "sampling": 0.2},
        {"dataset": "large", "share_significant_holm": 0.3, "sampling": nan},
    ]),
    "items_needed": made("items_needed", [
        {"score_low": 0, "score_high": 100, "correlation_low": low, "correlation_high": high, "gain_500": 5 - low}
        for low, high in ((-1, 1), (-1, 0.5), (0.5, 1))
    ]),
    "dollars": made("dollars", [
        {"dataset": "small", "true_gain": gain, "dollars": dollars} for gain, dollars in (("1", 900.0), ("own", 72.0))
    ]),
}  # fmt: skip
"""Tables with cells that a figure needs or a test expects."""


def arguments(name: str) -> list[pd.DataFrame]:
    """The tables of a figure; those that are not in `TABLES` follow from the declarations of their columns."""
    return [TABLES[table] if table in TABLES else made(table) for table in RECORDS[name].tables]


ERRORS = TABLES["relative_error"].groupby("metric")
TIMES = TABLES["run_time"].query("metric == 'accuracy'").sort_values("n_resamples", na_position="first")
NAMED_AT_LARGE = TABLES["better_method"].query("dataset == 'large'").groupby("question")["replicated"]
DRAWN = [
    ("thresholds", 0, "paper", "x", [1.1, 1.51, 1.12, 0.28]),
    ("thresholds", 0, "scaled", "x", reproductions()["expected"][:3]),
    ("thresholds", 0, "ours", "x", [0.86, 1.2]),
    ("thresholds", 0, "by information", "x", [0.9]),
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
    ("training_variance", 0, "share_significant", "y", TABLES["training_variance"]["share_significant"]),
    ("training_variance", 1, "outputs", "y", NAMED_AT_LARGE.get_group("outputs")),
    ("training_variance", 1, "method-level test", "y", NAMED_AT_LARGE.get_group("method-level test")),
    ("leaderboards", 0, "share_significant_holm", "x", [20, 30]),
    ("leaderboards", 1, "sampling", "x", [20, nan]),
    ("leaderboards", 3, "dollars", "y", [900, 72]),
]
"""What a figure draws of its tables: panel, name of the lines, axis, and the numbers."""


@pytest.mark.parametrize(("name", "panel", "gid", "axis", "expected"), DRAWN)
def test_what_is_drawn_is_what_the_tables_say(
    name: str, panel: int, gid: str, axis: str, expected: Sequence[float]
) -> None:
    drawn = [line.get_xydata()[:, "xy".index(axis)] for line in lines(FIGURES[name](*arguments(name)).axes[panel], gid)]
    np.testing.assert_allclose(np.concatenate([[], *drawn]), expected)


def test_a_benchmark_detects_smaller_gains_the_more_items_it_has() -> None:
    """By the square root of their number; without the line of all pairs."""
    gains = [line.get_xydata() for line in lines(FIGURES["leaderboards"](*arguments("leaderboards")).axes[2], "gain")]
    for line, at_500 in zip(gains, (6.0, 4.5), strict=True):
        assert line[0] == pytest.approx([100, at_500 * 5**0.5])
        assert line[-1] == pytest.approx([10_000, at_500 * 0.05**0.5])


def test_families_that_too_few_pairs_validate_are_named() -> None:
    known, chances = arguments("next_test_sets")
    effective_sample_size = FIGURES["next_test_sets"](known, chances).axes[-1]
    assert [text.get_text() for text in effective_sample_size.texts] == ["15", "16"]
    few = words(FIGURES["next_test_sets"](known.assign(n_validated=90), chances))
    assert "nothing to draw" in few
    assert "domains (BLEU)" in few


@pytest.mark.parametrize("high", [3.0, 5000.0])
def test_effective_sample_sizes_have_numbers_as_ticks(high: float) -> None:
    known, chances = arguments("next_test_sets")
    known = known.assign(effective_sample_size=2.5, effective_sample_size_low=2.0, effective_sample_size_high=high)
    figure = FIGURES["next_test_sets"](known, chances)
    figure.set_layout_engine("none")
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[-1].get_xticklabels(which="both") if label.get_text()]
    assert labels
    assert all(label.replace(",", "").replace(".", "").isdigit() for label in labels)


def test_each_figure_of_the_paper_has_a_counterpart() -> None:
    sheet = pd.read_csv(ROOT / "config" / "datasets.tsv", sep="\t", keep_default_na=False)
    listed = [name for names in sheet["figures"] for name in names.split() if name.startswith("figure_")]
    assert sorted(listed) == sorted(f"figure_{number}" for number in range(2, 12))
    assert {*listed, "table_1"} < analysis.figures().keys()
    assert {name for name, figure in analysis.figures().items() if figure.once} == {*listed}


def test_the_title_stands_above_the_panels() -> None:
    figure = says(FIGURES["table_1"](*arguments("table_1")), "Larger gains mean more confidence, over very many pairs")
    message = "Figure 3. Parsing: larger gains mean more confidence, over very many pairs"
    assert titled(figure, "Figure 3. Parsing").get_suptitle().split() == message.split()
    figure.draw_without_rendering()
    place = figure._suptitle.get_window_extent()
    assert figure.bbox.x0 <= place.x0 < place.x1 <= figure.bbox.x1
    assert all(place.y0 >= axes.get_tightbbox().y1 for axes in figure.axes if axes.axison)


NAMELESS = {"overview", "replication", "table_1", "relative_error", "run_time", "segments_needed"}
"""Figures that show no name of their tables."""


@pytest.mark.parametrize("name", sorted({*FIGURES} - NAMELESS))
def test_names_are_no_formulas(name: str) -> None:
    odd, columns = "a$b_{$ & <c> \\frac", ("dataset", "distance", "family", "what", "kind_a", "kind_b")
    tables = [
        table.assign(**{
            column: table[column].where(table[column] == "synthetic", table[column] + odd)
            for column in columns if column in table
        })
        for table in arguments(name)
    ]  # fmt: skip
    figure = FIGURES[name](*tables)
    figure.set_layout_engine("none")
    figure.draw_without_rendering()
    assert "b_{$ & <c>" in words(figure).replace(r"\$", "$")


NAMED = {
    "gain_confidence": "Confidence against gain, one point per pair",
    "full_sets": "Confidence against gain, one point per pair",
    "overview": "Confidence against gain, in critical differences of each dataset",
    "sizes": "Confidence against gain, by size of the test set",
    "domains": "Confidence against gain on test sets of one size, by source",
    "correlation": "Gain against the correlation of two systems",
    "thresholds": "Thresholds beside the paper's",
    "size_scaling": "Critical differences by size of the test set",
    "replication": "How often the winner on one test set wins again on another",
    "table_1": "Table 1. How often the winner wins again, beside the paper's rates",
    "relative_error": "Mean relative error of Monte Carlo p-values, by the number of samples",
    "run_time": "Run time of the exact test and of Monte Carlo tests",
    "next_test_sets": "Predicted and observed rates of winning on another test set",
    "documents": "Effect of documents on the variance of gains",
    "leaderboards": "Significant neighbours on leaderboards, and what a gain costs",
    "segments_needed": "Segments that a gain needs for 80 % power",
    "training_variance": "How often two runs of one method differ significantly, by size of the test set",
}
"""Titles of figures whose tables show nothing: they name what is plotted."""

STATED: list[tuple[str, dict[str, dict[str, object]], str]] = [
    ("thresholds", {"reproduction": {"verdict": "differs"}}, "4 of 4 comparable thresholds differ from the paper's"),
    ("thresholds", {"reproduction": {"verdict": "agrees"}}, "0 of 4 comparable thresholds differ from the paper's"),
    ("thresholds", {"reproduction": {"verdict": "too few"}}, NAMED["thresholds"]),
    ("replication", {"calibration": {"difference_high": -0.1}},
     "With p near 0.05, winners win again less often than expected in other texts (icepahc)"),
    ("replication", {"calibration": {"difference_high": -0.1, "calibration": "parsing"}},
     "With p near 0.05, winners win again less often than expected in another language"),
    ("replication", {"calibration": {"difference_high": 0.1}}, NAMED["replication"]),
    ("replication", {"calibration": {"difference_high": nan}}, NAMED["replication"]),
    ("size_scaling", {"size_scaling": {"exponent": -0.4, "exponent_low": -0.6, "exponent_high": -0.2}},
     "The size exponent of the critical difference is −0.40 to −0.40; 2 of 2 intervals contain −0.50"),
    ("size_scaling", {"size_scaling": {"exponent": 0.1, "exponent_low": 0.0, "exponent_high": 0.2}},
     "The size exponent of the critical difference is 0.10 to 0.10; 0 of 2 intervals contain −0.50"),
    ("training_variance", {"training_variance": {"share_significant_low": 0.06}},
     "Runs of one method differ significantly in more than 5 % of pairs on 2 of 2 test sets"),
    ("training_variance", {"training_variance": {"share_significant_low": 0.04}},
     "Runs of one method differ significantly in more than 5 % of pairs on 0 of 2 test sets"),
    ("training_variance", {"training_variance": {"verdict": "too few"}}, NAMED["training_variance"]),
    ("next_test_sets", {"heterogeneity": {"loss_reduction_low": 0.1}},
     "Heterogeneity improves the predictions for 2 of 2 families of test sets"),
    ("next_test_sets", {"heterogeneity": {"loss_reduction_low": -0.1}},
     "Heterogeneity improves the predictions for 0 of 2 families of test sets"),
    ("next_test_sets", {"heterogeneity": {"n_validated": 9}}, NAMED["next_test_sets"]),
    ("documents", {"documents": {"design_effect_low": 1.3, "by_chance_high": 1.2}},
     "Documents increase the variance of gains beyond chance on 2 of 2 test sets"),
    ("documents", {"documents": {"design_effect_low": 1.1, "by_chance_high": 1.2}},
     "Documents increase the variance of gains beyond chance on 0 of 2 test sets"),
    ("leaderboards", {"leaderboards": {"share_significant_high": 0.4}},
     "Most neighbours do not differ significantly on 2 of 2 leaderboards"),
    ("leaderboards", {"leaderboards": {"share_significant_high": 0.6}},
     "Most neighbours do not differ significantly on 0 of 2 leaderboards"),
    ("relative_error", {"relative_error": {"error": 0.05, "error_low": 0.03, "error_high": 0.07}},
     "With 20,000 samples, the mean error is 5 % [3, 7] of p"),
    ("relative_error", {"relative_error": {"n_resamples": 1000}}, NAMED["relative_error"]),
    ("run_time", {}, "The exact test was faster than 20,000 samples on 4 of 4 test sets"),
    ("run_time", {"run_time": {"seconds_low": 0.1, "seconds_high": 0.2}},
     "The exact test was faster than 20,000 samples on 0 of 4 test sets"),
]  # fmt: skip
"""Figures, cells that all rows of a table have, and the title that follows from their intervals."""


def title(figure: Figure) -> str:
    """The title, on one line."""
    return " ".join(titled(figure).get_suptitle().split())


@pytest.mark.parametrize(("name", "cells", "expected"), STATED)
def test_a_title_states_what_the_intervals_show(name: str, cells: dict[str, dict[str, object]], expected: str) -> None:
    names = RECORDS[name].tables
    tables = [table.assign(**cells.get(of, {})) for of, table in zip(names, arguments(name), strict=True)]
    assert title(FIGURES[name](*tables)) == expected


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        ((0.5, 0.4, 0.6), "Pairs of one base model need smaller gains"),
        ((0.5, 0.4, 0.8), NAMED["gain_confidence"]),  # the intervals overlap
        ((2.0, 1.9, 2.1), NAMED["gain_confidence"]),
    ],
)
def test_pairs_need_smaller_gains_if_their_interval_lies_below(same: tuple[float, ...], expected: str) -> None:
    table = of_sizes(comparisons(30))
    thresholds = threshold_rows(table).set_index("subset")
    columns = ["critical_difference", "critical_difference_low", "critical_difference_high"]
    thresholds.loc["different group", columns] = [1.0, 0.7, 1.3]
    thresholds.loc["same group", columns] = same
    assert title(FIGURES["gain_confidence"](table, thresholds.reset_index())) == expected


def test_thresholds_in_another_order_than_the_curves_are_explained() -> None:
    """A threshold is a percentile and a curve a median: they may order classes of pairs differently."""
    table = comparisons(60, n_groups=4)  # pairs of one group correlate more: their curve is steeper
    for same, explained in ((9.0, True), (0.1, False)):
        thresholds = threshold_rows(table).assign(verdict="estimated", threshold=[1.0, same, 1.0])
        assert ("their order differs" in words(FIGURES["gain_confidence"](table, thresholds))) == explained


@pytest.mark.parametrize("name", FIGURES)
def test_empty_tables_say_so_below_a_title_of_what_is_plotted(name: str) -> None:
    figure = FIGURES[name](*(table.iloc[:0] for table in arguments(name)))
    assert any(phrase in words(figure) for phrase in ("too few pairs", "nothing to draw"))
    assert title(figure) == NAMED[name]
    figure.set_layout_engine("none")
    figure.draw_without_rendering()


def test_a_missing_column_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.tsv"
    reproductions().drop(columns="verdict").to_csv(path, sep="\t", index=False)
    assert cli.main(["plot", "thresholds", str(path), "--output", str(tmp_path / "f.svg")]) == 2
    assert "t.tsv has no column `verdict`, expected" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_the_same_figure_has_the_same_bytes_whatever_the_users_settings(suffix: str, tmp_path: Path) -> None:
    save(FIGURES["correlation"](comparisons(8)), tmp_path / f"plain{suffix}")
    with rc_context({"font.size": 20, "axes.grid": True, "svg.hashsalt": None, "savefig.bbox": "tight"}):
        save(FIGURES["correlation"](comparisons(8)), tmp_path / f"changed{suffix}")
    assert (tmp_path / f"plain{suffix}").read_bytes() == (tmp_path / f"changed{suffix}").read_bytes()


def test_pages_show_figures_on_their_own_background(tmp_path: Path) -> None:
    comparisons(8).to_csv(tmp_path / "c.tsv", sep="\t", index=False)
    paths = [str(tmp_path / f"f.{suffix}") for suffix in ("svg", "png")]
    assert cli.main(["plot", "correlation", str(tmp_path / "c.tsv"), "--output", *paths]) == 0
    assert "fill: #ffffff" not in Path(paths[0]).read_text(encoding="utf-8").split("axes_1")[0]
    assert imread(paths[1])[0, 0].tolist() == [1, 1, 1, 1]


def test_nothing_is_left_of_a_figure_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = FIGURES["correlation"](comparisons(8))
    path = tmp_path / "a.svg"
    path.write_text("old")

    def fail(self: Figure, target: Path, **_: object) -> None:
        Path(target).write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(figure, path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.svg", "old")]


def test_unknown_suffix_and_folder(tmp_path: Path) -> None:
    figure = FIGURES["correlation"](comparisons(8))
    with pytest.raises(InputError, match=r"a\.gif ends in \.gif, expected \.svg, \.pdf or \.png"):
        save(figure, tmp_path / "a.gif")
    with pytest.raises(InputError, match="does not exist"):
        save(figure, tmp_path / "none" / "a.svg")


def test_large_figures_are_small_files(tmp_path: Path) -> None:
    figure = FIGURES["gain_confidence"](comparisons(150))
    for suffix in (".svg", ".pdf"):
        save(figure, tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").stat().st_size < 400_000
