"""Figures: what is drawn is what the tables say. Tables are those of the reference, pairs those of two test sets."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.text import Text
from scipy.stats import norm

from pairsig import InputError
from pairsig.core import statistics
from pairsig.io import tables
from running import ROOT
from study.analysis.pairs import subsets
from study.figures import confidence, style
from study.inputs import sheet
from study.reproduction.thresholds import thresholds
from study.tables.columns import PUBLISHED
from study.tables.declared import declared
from study.test_sets import all_pairs
from study.test_sets.resize import resize

ENTRIES = yaml.safe_load((ROOT / "config/figures.yaml").read_text(encoding="utf-8"))["figures"]
OF_TABLES = {name: entry for name, entry in ENTRIES.items() if entry["kind"] == "of_tables"}
PAPER = sheet([str(ROOT / "config/published.tsv")], PUBLISHED)
SETTINGS = {"n_resamples": 2000}


def reference(name):
    return tables.read(ROOT / f"results/reference/{name}.tsv", declared(name))


def draw(name, *others):
    """Draw a figure of tables, of the reference or of others."""
    module, _, function = OF_TABLES[name]["function"].partition(".")
    taken = others or map(reference, OF_TABLES[name]["tables"])
    return getattr(import_module(f"study.figures.{module}"), function)(*taken)


def compared(dataset, metric):
    return all_pairs.compare(
        statistics.read(ROOT / f"resources/statistics/{dataset}.parquet"), metric=metric, **SETTINGS
    )


@pytest.fixture(scope="module")
def tac():
    """All pairs of the paper's Figure 2."""
    return compared("tac08", "mean")


@pytest.fixture(scope="module")
def aligners():
    """All pairs of retrained aligners of three base models, two of which share posteriors."""
    return compared("hansards-110", "aer")


def points(figure):
    """The points of each labelled scatter."""
    scattered = figure.axes[0].collections
    return {str(one.get_label()): np.asarray(one.get_offsets()) for one in scattered if len(one.get_offsets())}


def words(figure):
    return "\n".join(text.get_text() for text in figure.findobj(Text))


def lines(axes, gid):
    """Lines by what they show; error bars carry it on their container's data line too."""
    return [line for line in axes.lines if line.get_gid() == gid]


def at(figure, gid):
    """Where upright lines that show this stand."""
    return [float(line.get_xdata()[0]) for line in lines(figure.axes[0], gid)]


def test_every_pair_is_drawn_once_with_the_thresholds_of_its_class(tac):
    found = thresholds(tac)
    figure = confidence.gain_confidence(tac, found)
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("mean gain (points)", "confidence = 1 − p")
    classes = points(figure)
    assert {label: len(drawn) for label, drawn in classes.items()} == {
        "different groups": (~tac["same_group"]).sum(), "same group": tac["same_group"].sum(),
    }  # fmt: skip
    drawn = np.concatenate(list(classes.values()))
    expected = np.column_stack([tac["gain"], 1 - tac["pvalue_one_sided"]])
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    estimated = found[found["verdict"] == "estimated"].set_index("subset")["threshold"]
    marked = [estimated[name] for name in ("different group", "same group") if name in estimated]
    assert at(figure, "threshold here") == marked
    others = found.assign(verdict=np.where(found["subset"] == "all", "estimated", "too few"))
    assert at(confidence.gain_confidence(tac, others), "threshold here") == [estimated["all"]]
    assert not at(confidence.gain_confidence(tac, found.assign(verdict="too few")), "threshold here")


def test_lines_are_what_theory_expects_of_the_median_pair(tac):
    drawn = lines(confidence.gain_confidence(tac, thresholds(tac)).axes[0], "expected")
    for line, pairs in zip(drawn, (tac[~tac["same_group"]], tac[tac["same_group"]]), strict=True):
        inside = pairs[pairs["gain"] <= line.get_xdata()[-1]]
        expected = norm.cdf(line.get_xdata() / inside["standard_error"].median())
        np.testing.assert_allclose(line.get_ydata(), expected)


def test_aligners_that_share_posteriors_are_a_class_and_full_sets_a_figure(aligners):
    found = thresholds(aligners)
    model = aligners[["system_a", "system_b"]].map(lambda name: name.rsplit("-", 2)[0])
    shared = model.isin(["itg", "joint-hmm"]).all(axis=1) & ~aligners["same_group"]
    classes = points(confidence.gain_confidence(aligners, found))
    assert len(classes["itg and joint-hmm"]) == shared.sum()
    assert sum(map(len, classes.values())) == len(aligners)
    full = aligners[["system_a", "system_b"]].map(lambda name: "-full-" in name).all(axis=1)
    figure = confidence.full_sets(aligners, found, PAPER)
    assert sum(map(len, points(figure).values())) == full.sum()
    estimated = found[found["verdict"] == "estimated"].set_index("subset")["threshold"]
    assert set(at(figure, "threshold here")) <= {value for name, value in estimated.items() if "full sets" in name}
    # The paper's thresholds on 100 sentences, at our 110.
    assert len(at(figure, "the paper's threshold, at our size")) > 0
    for value in at(figure, "the paper's threshold, at our size"):
        printed = PAPER[PAPER["compared_with"].str.startswith("threshold:hansards-110")]
        assert np.isclose(value, printed["published"] * np.sqrt(printed["n_segments"] / 110)).any()


def test_combinations_are_a_class_as_in_the_papers_figure_4():
    """Two combinations are one class whatever their group; pairs with one combination are counted, not drawn."""
    table = compared("wmt10-de-en", "bleu")
    combined = (table[["kind_a", "kind_b"]] == "combination").sum(axis=1)
    same = table["same_group"]
    figure = confidence.gain_confidence(table, thresholds(table), overlay=table.iloc[:100].assign(dataset="over"))
    drawn = points(figure)
    assert {label: len(of_class) for label, of_class in drawn.items() if "published" not in label} == {
        "both combinations": (combined == 2).sum(), "same group": ((combined == 0) & same).sum(),
        "different groups": ((combined == 0) & ~same).sum(),
    }  # fmt: skip
    assert f"not drawn: {(combined == 1).sum()} with only one combination" in words(figure)
    assert any(label.startswith("over, published:") for label in drawn)
    found = dict(subsets(table))
    assert len(found["combination / combination"]) == (combined == 2).sum()
    assert len(found["single system and combination"]) == (combined == 1).sum()


def test_up_to_six_sizes_and_the_domains_of_the_most_common_size():
    data = statistics.read(ROOT / "resources/statistics/llmbar.parquet")
    data = data.select(systems=data.systems[:6])
    made = resize(data, {"initial": "20,30,50,80,100,200,300", "domain_size": 92}, metric="accuracy", **SETTINGS)
    figure = confidence.sizes(made, all_pairs.compare(data, metric="accuracy", **SETTINGS))
    assert len(points(figure)) == 6
    assert set(map(len, points(figure).values())) == {15}
    published = PAPER.iloc[:1].assign(compared_with="threshold:llmbar:all:first-100", published=3.0, n_segments=400.0)
    assert at(confidence.sizes(made, None, published), "paper") == [pytest.approx(6.0)]
    figure = confidence.domains(made)
    assert sorted(points(figure)) == sorted(made.loc[made["derived"] == "domain", "domain"].unique())
    assert "first 92 segments" in words(figure)
    many = pd.concat([made[made["derived"] == "domain"].assign(domain=f"d{k}") for k in range(8)])
    with pytest.raises(InputError, match="found 8 domains, expected at most 7"):
        confidence.domains(many)


ERRORS, TIMES = map(reference, ("relative_error", "run_time"))
OF_ACCURACY = ERRORS[ERRORS["metric"] == "accuracy"].sort_values(["n_segments", "n_resamples"])
TIMED = TIMES[TIMES["metric"] == "accuracy"].sort_values(["n_resamples", "n_segments"], na_position="first")
DRAWN = [
    ("size_scaling", 0, "paper", "y", [3.00, 0.22]),
    ("relative_error", 0, "closed form", "y", OF_ACCURACY["closed_form"]),
    ("relative_error", 0, "measured", "y", OF_ACCURACY["error"]),
    ("relative_error", 1, "paper", "x", [20_000, 20_000]),
    ("run_time", 0, "seconds", "y", TIMED["seconds"]),
    ("run_time", 0, "paper", "y", [3]),
    ("run_time", 0, "faster", "x", [6_000, 10_000]),
    ("run_time", 1, "paper", "y", []),
]
"""What a figure draws of its tables: panel, name of the lines, axis, and the numbers."""


@pytest.mark.parametrize(("name", "panel", "gid", "axis", "expected"), DRAWN)
def test_what_is_drawn_is_what_the_tables_say(name, panel, gid, axis, expected):
    drawn = [line.get_xydata()[:, "xy".index(axis)] for line in lines(draw(name).axes[panel], gid)]
    np.testing.assert_allclose(np.concatenate([[], *drawn]), expected)


def test_size_scaling_curves_are_power_laws_of_the_table():
    fits = reference("size_scaling").query("subset == 'all'")
    drawn = lines(draw("size_scaling").axes[0], "fit")
    assert len(drawn) > 4
    for line in drawn:
        exponent, log = np.polyfit(np.log(line.get_xdata()), np.log(line.get_ydata()), 1)
        of_table = fits[np.isclose(fits["exponent"], exponent)]
        assert np.isclose(np.log(of_table["coefficient"]), log).any()


@pytest.mark.parametrize(("name", "factor"), [("table_1", 1), ("replication", 2)])
def test_shares_stand_beside_the_expected_and_the_papers(name, factor):
    """On the population or the same source (first), and on other texts; p of the figure on replication is two-sided."""
    figure, table = draw(name), reference("calibration")
    calibration, distances = {"table_1": ("constituency", ("iid", "near", "middle", "far")),
                              "replication": ("parsing", ("iid", "far"))}[name]  # fmt: skip
    panels = figure.axes[:4] if name == "table_1" else figure.axes[:1]
    of_window = (table["p_low"] == 0.04) & (table["p_high"] == 0.06)
    for number, distance in enumerate(distances):
        axes = panels[number] if name == "table_1" else panels[0]
        rows = table[(table["calibration"] == calibration) & (table["distance"] == distance) & ~of_window]
        rows = rows[(rows["n_pairs"] > 0)].sort_values("p_low")
        container = axes.containers[0 if name == "table_1" else number]
        shares = container.lines[0].get_xydata()[:, 1]
        assert np.isin(np.round(shares, 9), np.round(100 * rows["share"], 9)).all()
        assert len(shares) >= len(rows) - 1
    published = np.concatenate([line.get_xydata() for axes in panels for line in lines(axes, "paper")])
    printed = PAPER.loc[PAPER["compared_with"].str.startswith("share:"), "published"]
    assert set(published[:, 1]) <= set(printed)
    assert (len(published) > 20) == (name == "table_1")
    assert figure.axes[0].get_xlabel() in ("", f"{'two' if factor == 2 else 'one'}-sided p on the first test set")


def test_years_are_those_of_the_table():
    table = reference("years")
    heights = np.concatenate(
        [container.lines[0].get_ydata().astype(float) for container in draw("years").axes[0].containers]
    )
    np.testing.assert_allclose(np.sort(heights), np.sort(table["critical_difference"]))


@pytest.mark.parametrize("name", OF_TABLES)
def test_tables_without_rows_make_a_figure_that_says_so(name):
    for others in ((), tuple(reference(table).iloc[:0] for table in OF_TABLES[name]["tables"])):
        figure = draw(name, *others)
        assert ("nothing to draw" in words(figure)) == bool(others)
        assert style.titled(figure).get_suptitle()
        figure.set_layout_engine("none")
        figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("same", "expected"),
    [((0.5, 0.4, 0.6), "Pairs of one group need smaller gains"), ((0.5, 0.4, 0.8), confidence.NAMED)],
)
def test_pairs_need_smaller_gains_if_their_interval_lies_below(tac, same, expected):
    columns = ["critical_difference", "critical_difference_low", "critical_difference_high"]
    found = thresholds(tac).set_index("subset")
    found.loc["different group", columns] = [1.0, 0.7, 1.3]
    found.loc["same group", columns] = same
    assert confidence.gain_confidence(tac, found.reset_index()).get_label() == expected


def test_no_pairs_at_all(tac):
    found = thresholds(tac)
    for figure in (confidence.gain_confidence(tac.iloc[:0], found), confidence.full_sets(tac, found),
                   confidence.sizes(tac.iloc[:0]), confidence.domains(tac)):  # fmt: skip
        assert "nothing to draw" in words(figure)
