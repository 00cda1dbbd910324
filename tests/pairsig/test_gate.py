"""The gate for releases: its verdicts, limits, error rates and sentences."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import pairsig
import simulate
from conftest import repetitions
from pairsig.comparisons import gate
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError
from pairsig.metrics import registry
from pairsig.metrics.counts import average
from pairsig.stats.adjust import holm


def of(metric, **systems):
    """Statistics of two systems, as the gate takes them."""
    metric = registry.metric(metric) if isinstance(metric, str) else metric
    arrays = {name: np.asarray(values) for name, values in systems.items()}
    if metric.name == "accuracy":
        arrays = {name: np.stack([values, np.ones_like(values)], axis=1) for name, values in arrays.items()}
    arrays = {name: values[:, None] if values.ndim == 1 else values for name, values in arrays.items()}
    return replace(Statistics.from_arrays(arrays, metric.columns), metrics=(metric,))


def only(data, margin, **options):
    (row,) = gate.gate([data], margin, **options).table.itertuples()
    return row


def test_documents_that_were_not_used_are_a_note():
    data = replace(of("accuracy", old=[1, 0] * 40, new=[0, 1] * 40), documents=np.repeat([*"abcdefgh"], 10))
    assert "80 segments come from 8 documents" in " ".join(gate.gate([data], 20).notes)
    assert "documents" not in " ".join(gate.gate([data], 20, unit="document").notes)


@pytest.mark.parametrize(
    ("won", "lost", "n", "margin", "verdict"),
    [(5, 5, 1000, 2, "passed"), (2, 30, 1000, 1, "worse"), (5, 9, 100, 1, "undecided"), (0, 0, 300, 1, "passed"),
     (0, 0, 298, 1, "undecided"), (0, 9, 3000, 1, "passed")],
)  # fmt: skip
def test_verdicts_on_items_that_pass_or_fail(won, lost, n, margin, verdict):
    """0.99²⁹⁸ > 0.05 > 0.99²⁹⁹: without a loss, 299 items are needed for a margin of 1 %."""
    new, old = simulate.items(won, lost, n)
    check = only(of("accuracy", old=old, new=new), str(margin))
    assert check.verdict == verdict
    p = stats.binomtest(lost, won + lost, alternative="greater").pvalue if won + lost else 1.0
    assert check.pvalue_worse == pytest.approx(p)
    if check.largest_loss > 100 * (1 - 0.05 ** (1 / n)) + 1e-9:  # the smallest margin that passes
        for step, shown in ((-0.01, False), (0.01, True)):
            p = pairsig.margin_test(old, new, check.largest_loss + step, "b-not-worse", metric="accuracy").pvalue
            assert (p < 0.05) == shown


def test_a_candidate_that_is_shown_to_be_better_is_not_worse():
    """On 20 segments, a loss too rare to be seen could be 14 % of the range; the exact test finds no loss at all."""
    old = np.random.default_rng(3).integers(0, 50, 20)
    check = only(of("mean", old=old, new=old + 5), "1")
    assert (check.verdict, check.largest_loss) == ("passed", 0)
    four = only(of("mean", old=old[:4], new=old[:4] + 5), "1")  # p is 1/16, which shows nothing
    assert (four.verdict, four.largest_loss > 1) == ("undecided", True)
    worse = only(of("mean", old=old + 5, new=old), "1")
    assert (worse.verdict, worse.pvalue_worse) == ("worse", 2**-20)


def test_the_largest_loss_of_other_scores_is_the_end_of_an_interval():
    old, new = np.random.default_rng(1).random((2, 400))
    check = only(of("mean", old=old, new=0.9 * new), "20%")
    interval = pairsig.difference_interval(0.9 * new, old, confidence_level=0.9)
    assert check.largest_loss == pytest.approx(-interval.low)
    assert check.change == pytest.approx((0.9 * new - old).mean())
    assert check.verdict == "passed"
    assert only(of("mean", old=old, new=0.9 * new), str(check.largest_loss * 0.999)).verdict != "passed"


@pytest.mark.parametrize("n", [60, 400, 4000])
def test_losses_too_rare_to_be_seen(n):
    """Where nothing else bounds the loss, it is S (1 − α^(1/n)), S the largest score, or the range of the values."""
    rare = 1 - 0.05 ** (1 / n)
    values = np.random.default_rng(n).integers(-3, 50, n)
    assert only(of("mean", old=values, new=values), "20").largest_loss == pytest.approx(np.ptp(values) * rare)
    assert only(of("accuracy", old=values % 2, new=values * 0 + 1), "20").largest_loss == pytest.approx(100 * rare)


def test_rare_disasters_do_not_pass_on_few_units():
    old = np.linspace(0.5, 0.99, 100)
    new = old + 0.001 * (-1) ** np.arange(100)
    assert only(of("mean", old=old, new=new), "1%").verdict == "undecided"
    assert only(of("mean", old=old, new=new), "5%").verdict == "passed"


def test_items_that_tell_nothing_are_mentioned():
    check = only(of("accuracy", old=np.zeros(400, int), new=np.zeros(400, int)), "1")
    assert check.verdict == "passed"
    assert "cannot tell them apart" in check.notes[-1]


def test_lower_is_better_is_the_mirror_image():
    old, new = np.random.default_rng(4).random((2, 60))
    lower = average("value", higher_is_better=False)
    one = only(of(average("value"), old=old, new=new), "5%")
    other = only(of(lower, old=1 - old, new=1 - new), "5%")
    assert one.verdict == other.verdict
    for name in ("largest_loss", "pvalue_worse"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))
    assert one.change == pytest.approx(-other.change)
    assert "lower is better" in str(gate.gate([of(lower, old=1 - old, new=1 - new)], "5%"))


def test_all_scores_must_pass_and_worse_ones_are_adjusted_by_holm():
    data = [of(average(name), **dict(zip(("new", "old"), simulate.items(*table), strict=True)))
            for name, table in (("one", (4, 4, 900)), ("two", (3, 12, 100)), ("three", (2, 14, 100)))]  # fmt: skip
    data = [part.select(systems=["old", "new"]) for part in data]
    result = gate.gate(data, "3%")
    p = [check.pvalue_worse for check in result.table.itertuples()]
    assert [check.pvalue_holm for check in result.table.itertuples()] == pytest.approx(holm(np.array(p)).tolist())
    assert (result.verdict, result.status) == ("worse", 1)
    assert str(result).splitlines()[0].startswith("worse: ")
    assert gate.gate(data[:1], "3%").status == 0
    new, old = simulate.items(3, 10, 100)  # p is 0.046, and 0.092 if two scores are checked
    twice = [of(average(name), old=old, new=new) for name in ("one", "two")]
    assert [gate.gate(twice[:number], "3%").verdict for number in (1, 2)] == ["worse", "undecided"]
    equal = of(average("four"), old=[1, 0] * 20, new=[0, 1] * 20)
    undecided = gate.gate(equal, "3%")
    assert (undecided.verdict, undecided.status) == ("undecided", 3)
    assert gate.gate([*data[2:], equal], "3%").verdict == "worse"


def test_the_line_and_json_say_the_same():
    result = gate.gate([of("accuracy", old=[1, 0] * 200, new=[1, 0] * 200)], "2%")
    assert str(result) == (
        "passed: accuracy: new is not worse than old by 2 or more: 50.00 against 50.00 (+0.00); it loses at most 0.75 "
        "(95 % confidence), n = 400 segments"
    )
    last = result.to_markdown().splitlines()[-1]
    assert "".join(last.split()) == "|accuracy|passed|50.00|50.00|+0.00|2|0.75|"
    small = gate.gate({"old": [1, 0] * 200, "new": [1, 0] * 200}, "1%")
    assert "0.5000 against 0.5000 (+0.0000); it loses at most 0.0075" in str(small)
    written = json.loads(result.to_json())
    assert (written["verdict"], written["status"], written["rows"][0]["margin"]) == ("passed", 0, 2.0)
    assert str(result) == f"passed: {written['rows'][0]['sentence']}"


@pytest.mark.parametrize(
    ("margin", "message"),
    [("0", "the margin is 0, expected a number above 0"), ("200", "no two systems differ by more than 100"),
     ("0.01", "expected points from 0 to 100"), ("x", "expected a number or a percentage")],
)  # fmt: skip
def test_bad_margins(margin, message):
    with pytest.raises(InputError, match=message):
        only(of("accuracy", old=[1, 0], new=[1, 1]), margin)


def test_all_metrics_of_the_data_are_checked():
    data = simulate.statistics("f1", n_systems=2, n_segments=80)
    both = replace(data, metrics=(registry.metric("f1"), registry.metric("recall")))
    assert [check.score for check in gate.gate(both, 5).table.itertuples()] == ["f1", "recall"]
    assert [check.score for check in gate.gate(both, 5, metric="recall").table.itertuples()] == ["recall"]


def test_what_cannot_be_checked():
    with pytest.raises(InputError, match="expected two with one run each"):
        gate.gate([of("mean", a=[1, 2], b=[2, 2], c=[1, 1])], 1)
    runs = Statistics.from_arrays({name: np.ones((2, 9, 1)) for name in "ab"}, ["value"])
    with pytest.raises(InputError, match="expected two with one run each: the baseline and the candidate"):
        gate.gate(runs, 1, metric="mean")
    with pytest.raises(InputError, match="without a direction"):
        gate.gate(replace(of("mean", a=[1], b=[2]), metrics=(average("x", assumed=True),)), 1)


@pytest.mark.parametrize(("n", "margin"), [(40, 10), pytest.param(400, 4, marks=pytest.mark.slow)])
def test_error_rates(n, margin):
    """A candidate that is worse by the margin passes, and an equal one is called worse, on about 5 % of test sets."""
    rng, times, passed, worse = np.random.default_rng(n), repetitions(300), 0, 0
    share, loss = 0.3, margin / 100
    for _ in range(times):
        kind = rng.random(n)
        old = (kind < (share + loss) / 2).astype(int)
        new = ((kind >= (share + loss) / 2) & (kind < share)).astype(int)
        both = (kind > 0.8).astype(int)
        passed += only(of("accuracy", old=old | both, new=new | both), str(margin)).verdict == "passed"
        flips = rng.permutation(2) if rng.random() < 0.5 else np.arange(2)
        a, b = np.stack([(kind < share / 2), (kind >= share / 2) & (kind < share)])[flips].astype(int)
        worse += only(of("accuracy", old=a | both, new=b | both), str(margin)).verdict == "worse"
    assert stats.binom.sf(passed - 1, times, 0.07) > 0.001
    assert stats.binom.sf(worse - 1, times, 0.05) > 0.001
