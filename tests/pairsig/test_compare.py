"""`compare`: the p-values of two systems, one adjustment, and notes."""

import math

import numpy as np
import pytest

import pairsig
import simulate
from pairsig import (
    InputError,
    Statistics,
    bootstrap_test,
    difference_interval,
    exact_test,
    margin_test,
    randomization_test,
)
from pairsig.comparisons import wording
from pairsig.comparisons.compare import adjust, compare
from pairsig.core.definitions import TESTS, find
from pairsig.core.totals import Resampling
from pairsig.io.columns import BASELINE
from pairsig.metrics import registry
from pairsig.metrics.counts import average
from pairsig.stats.adjust import holm
from pairsig.stats.margins import meaning

FEW = Resampling(2000, 7)


def systems(metric="f1", n_systems=3, **options):
    options = {"n_segments": 40, "spread": 0.3, "seed": 3} | options
    return simulate.statistics(metric, n_systems=n_systems, **options), registry.metric(metric)


def scores(**values):
    return Statistics.from_arrays({name: np.asarray(array) for name, array in values.items()}, ["score"])


SCORE = average("score")


@pytest.mark.parametrize("metric", ["f1", "bleu", "accuracy"])
def test_every_row_is_the_test_of_two_systems(metric):
    """Every test, method and alternative that a pair in a fixed order has."""
    data, chosen = systems(metric)
    rows = [
        row for test in TESTS if test.alternative != "observed" for row in compare(data, [chosen], test, resampling=FEW)
    ]
    assert len(rows) == 24
    functions = {"exact": exact_test, "randomization": randomization_test, "bootstrap": bootstrap_test}
    for row in rows:
        assert set(row) == set(BASELINE.names)
        a, b = (data.select(systems=[row[f"system_{side}"]]).counts[0] for side in "ab")
        how = {"alternative": row["alternative"]} | ({"method": row["method"]} if row["method"] else {})
        drawing = {} if row["test"] == "exact" else {"n_resamples": 2000, "rng": 7}
        result = functions[row["test"]](a, b, metric=metric, **how, **drawing)
        assert (row["pvalue"], row["difference"], row["better"]) == (
            pytest.approx(result.pvalue, rel=1e-9), result.statistic,
            {"a": row["system_a"], "b": row["system_b"], None: ""}[result.better],
        )  # fmt: skip
        assert (row["n_segments"], row["n_different"]) == (result.n_segments, result.n_different)
        assert row["signature"] == result.signature
        names = ("pvalue_low", "pvalue_high", "n_resamples", "n_greater", "n_equal", "estimator")
        if row["test"] != "exact":
            estimator = "" if row["test"] == "bootstrap" else result.estimator
            assert [row[name] for name in names] == [*(getattr(result, name) for name in names[:-1]), estimator]
        interval = difference_interval(a, b, metric=metric)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high))
    if metric == "bleu":  # which has no exact test if more segments differ
        assert {row["test"] for row in rows} == {"randomization", "bootstrap"}
        assert any("tested by randomization, because more than 16 segments differ" in row["notes"][-1] for row in rows)


def test_which_pairs():
    data, chosen = systems(n_systems=4)
    names = data.systems
    assert [(r["system_a"], r["system_b"]) for r in compare(data, [chosen])] == [(names[0], b) for b in names[1:]]
    assert len(compare(data, [chosen], pairs="all")) == 6
    rows = compare(data, [chosen], baseline=names[2])
    assert [(r["system_a"], r["system_b"]) for r in rows] == [(name, names[2]) for name in names if name != names[2]]
    with pytest.raises(InputError, match="unknown baseline 'x'"):
        compare(data, [chosen], baseline="x")
    with pytest.raises(InputError, match="metric f1 is named 2 times, expected once"):
        compare(data, [chosen, chosen])
    with pytest.raises(InputError, match="found one system, expected at least two to compare"):
        compare(data.select(systems=names[:1]), [chosen])
    with pytest.raises(InputError, match="found the alternative 'greater' for all pairs of 3 systems"):
        compare(data.select(systems=names[:3]), [chosen], find("exact", None, "greater"), pairs="all")
    assert len(compare(data.select(systems=names[:2]), [chosen], find("exact", None, "greater"), pairs="all")) == 1
    assert len(compare(data, [chosen], find("exact", None, "greater"), pairs="all", baseline=names[2])) == 3


def test_command_line_and_python_have_the_same_adjustment(tmp_path):
    """Three systems are two comparisons unless all pairs are asked for, whoever asks."""
    data, chosen = systems("accuracy")
    counts = dict(zip(data.systems, data.counts, strict=True))
    rows = compare(data, [chosen])
    result = pairsig.compare(counts, metric="accuracy")
    assert result.to_frame()["pvalue_holm"].tolist() == [row["pvalue_holm"] for row in rows]
    assert {row["n_compared"] for row in rows} == {2}
    everything = pairsig.compare(counts, metric="accuracy", pairs="all").to_frame()
    wanted = compare(data, [chosen], pairs="all")
    assert everything["pvalue_holm"].tolist() == holm(np.array([row["pvalue"] for row in wanted])).tolist()


def test_holm_is_over_pairs_and_metrics_for_each_claim():
    data, chosen = systems()
    rows = compare(data, [chosen, registry.metric("recall")], margin="3%")
    for claim in ("two-sided", "equivalence"):
        of_claim = [row for row in rows if row["alternative"] == claim]
        p = np.array([row["pvalue"] for row in of_claim])
        assert [row["pvalue_holm"] for row in of_claim] == pytest.approx(holm(p).tolist())
        assert {row["n_compared"] for row in of_claim} == {4}
    # Randomization that stands for the exact test is of its family.
    mixed = [*compare(data, [chosen]), *compare(systems("bleu")[0], [registry.metric("bleu")], resampling=FEW)]
    assert {row["n_compared"] for row in adjust(mixed)} == {4}
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_p_of_0_is_adjusted_as_its_bound():
    values = np.arange(30) % 3 + 2.0
    data = scores(a=values + 1, b=values, c=values + 0.9)
    rows = compare(data, [SCORE], find("bootstrap", None, "observed"), resampling=Resampling(100))
    assert [row["pvalue"] for row in rows] == [0.0, 0.0]
    assert rows[0]["pvalue_holm"] == pytest.approx(2 * rows[0]["pvalue_high"])
    assert wording.shown_p(rows[0]) == wording.below(rows[0]["pvalue_high"]) == "< 0.0363"
    assert wording.shown_adjusted(rows)[0] == "< 0.0725"


def test_margins_add_a_row_for_each_claim():
    data, chosen = systems("accuracy")
    rows = compare(data, [chosen], margin="3%")
    assert [row["alternative"] for row in rows[:4]] == ["two-sided", "equivalence", "a-not-worse", "b-not-worse"]
    a, b = data.counts[:2]
    for row in rows[1:4]:
        result = margin_test(a, b, 3.0, row["alternative"], metric="accuracy")
        assert (row["pvalue"], row["margin"]) == (result.pvalue, 3.0)
        assert row["log10_pvalue"] == pytest.approx(math.log10(result.pvalue))
        assert meaning("accuracy", 3.0, row["alternative"], row["system_a"], row["system_b"]) in row["notes"]
        assert row["n_compared"] == 2
    same = scores(a=[0, 1] * 3000, b=[0, 1] * 3000)
    assert [(row["pvalue"], row["log10_pvalue"]) for row in compare(same, [SCORE], margin=0.5)[1:]] == [
        (0.0, -math.inf)
    ] * 3
    failed = scores(a=[0] * 40, b=[0] * 40)
    rows = compare(failed, [SCORE], margin=0.2)
    assert rows[0]["pvalue"] == 1.0
    assert "cannot tell them apart" in rows[1]["notes"][-1]
    rows = compare(scores(a=[0, 1] * 20, b=[0, 1] * 20), [SCORE], margin=0.2)
    assert not any("cannot tell" in note for row in rows for note in row["notes"])


def test_notes_of_a_row():
    a, b = [1.0] * 4 + [0.5] * 8, [0.0] * 4 + [0.5] * 8
    (row,) = compare(scores(a=a, b=b), [SCORE])
    assert row["notes"][0].startswith("the systems differ on 4 of 12 segments, too few (below 10)")
    assert row["notes"][1].startswith("the 95 % interval excludes 0 although p is not below 0.05")
    (row,) = compare(scores(a=a, b=b), [SCORE], find("exact", None, "greater"))
    assert not any("although p is" in note for note in row["notes"])
    (row,) = compare(scores(a=a, b=b), [SCORE], find("bootstrap", None, "observed"), resampling=FEW)
    assert "10 to 21 % of test sets instead of 5 %" in row["notes"][-1]
    data, chosen = systems("accuracy", n_segments=70, document_size=5)
    for row in compare(data, [chosen]):
        assert "the 70 segments come from 14 documents, which were not used (--unit document)" in row["notes"]
    (row, *_) = compare(data, [chosen], unit="document")
    assert row["n_units"] == 14
    assert not any("not used" in note for note in row["notes"])


def test_the_better_system_is_better_by_however_little():
    data = scores(a=[0.5, 0.25, 0.5], b=[0.25, 0.25, 0.5], c=[0.5, 0.25, 0.5])
    rows = compare(data, [SCORE], pairs="all")
    assert [row["better"] for row in rows] == ["a", "", "c"]
    assert [row["difference"] for row in rows] == pytest.approx([1 / 12, 0.0, -1 / 12])


def test_items_that_only_one_system_gets_right():
    data = scores(a=[1, 1, 1, 0, 1, 0], b=[0, 0, 1, 1, 1, 0], c=[0.5, 0, 1, 1, 1, 0])
    rows = compare(data, [SCORE], pairs="all")
    assert [(row["only_a"], row["only_b"]) for row in rows] == [(2, 1), (None, None), (None, None)]
    lower = average("score", higher_is_better=False)
    (row,) = compare(data.select(systems=["a", "b"]), [lower])
    assert (row["better"], row["only_a"], row["only_b"], row["difference"]) == ("b", 1, 2, pytest.approx(1 / 6))


def test_a_table_of_rows():
    data, chosen = systems()
    rows = compare(data, [chosen], margin="3%")
    text = wording.render(rows, "table")
    assert text.count("margin equivalence") == 2
    assert "p (Holm)" in text
    assert "for f1" not in text
    assert wording.shown_p({"pvalue": 0.0, "n_resamples": None, "estimator": "", "log10_pvalue": -400.25}) == "1e-400.2"
    bound = {"pvalue": 3.6889e-5, "n_resamples": 10**5, "estimator": "bound", "log10_pvalue": -4.4}
    assert wording.shown_p(bound) == "< 3.69e-05"
    assert wording.equation("< 3.69e-05") == "p < 3.69e-05"


def test_log10_p_goes_beyond_floats():
    rows = compare(scores(a=np.ones(2000), b=np.zeros(2000)), [SCORE])
    assert rows[0]["pvalue"] == 0.0
    assert rows[0]["log10_pvalue"] == pytest.approx(-1999 * math.log10(2))
