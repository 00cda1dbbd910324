"""Planning: power against simulations of the tests themselves, the variance model against independent code."""

import functools
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from pairsig import InputError, cli, margin_test
from pairsig.core import statistics
from pairsig.core.definitions import find
from pairsig.io.columns import PLAN
from pairsig.metrics import registry
from pairsig.planning import sample_size
from pairsig.planning.sample_size import (
    Design,
    from_pilot,
    from_variance_model,
    plan,
    power,
    size_for,
    units_for,
)
from pairsig.stats.paired import Pair
from running import ROOT


def within(count, n, low, high):
    """Whether a count of n is what a probability between two bounds gives, but in one case of a thousand."""
    return stats.binom.cdf(count, n, low) > 0.001 and stats.binom.sf(count - 1, n, high) > 0.001


@functools.cache
def embedded(dataset, metric, better, other):
    """Counts of two systems of some statistics, by rank, their gain, and the spread of all of them as a pilot."""
    data = statistics.read(f"resources/statistics/{dataset}.parquet")
    chosen = registry.metric(metric)
    counts = data.of(chosen)
    scores = chosen.score(counts.sum(axis=1).astype(float)) * (1 if chosen.higher_is_better else -1)
    order = np.argsort(-scores, kind="stable")
    pair = counts[[order[better], order[other]]]
    return chosen, pair, float(scores[order[better]] - scores[order[other]]), from_pilot(Pair(chosen, pair, None))


def test_segments_are_those_of_the_textbook():
    """Two-sided z test: n = (z₀.₉₇₅ + z₀.₈)² S²/δ², and with few units that of Student's test."""
    n = units_for(225.0, 1.0, Design())
    assert n == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * 225, rel=2e-3)
    # Cohen (1988), Table 2.4.1, as statsmodels has it: d = 0.5, paired t test, 80 %: 33.37 pairs.
    assert units_for(4.0, 1.0, Design()) == 34
    assert units_for(225.0, 1.0, Design(test=find("bootstrap", alternative="observed"))) == pytest.approx(
        (stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) ** 2 * 225, rel=2e-3
    )
    # Julious (2004): equivalence of equal means, n = (z₁₋α + z₁₋β/₂)² S²/M².
    n = units_for(225.0, 0.0, Design(claim="equivalence", margin=1.0))
    assert n == pytest.approx((stats.norm.ppf(0.95) + stats.norm.ppf(0.9)) ** 2 * 225, rel=2e-3)
    n = units_for(225.0, 0.0, Design(claim="not-worse", margin=1.0))
    assert n == pytest.approx((stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) ** 2 * 225, rel=2e-3)


@pytest.mark.parametrize(
    ("test", "alternative", "critical"),
    [
        ("randomization", "two-sided", stats.t.ppf(0.975, 11)),
        ("randomization", "greater", stats.t.ppf(0.95, 11)),
        ("bootstrap", "observed", stats.norm.ppf(0.95) * math.sqrt(11 / 12)),
        ("bootstrap", "two-sided", stats.norm.ppf(0.975) * math.sqrt(11 / 12)),
    ],
)
def test_power_by_the_noncentral_distribution(test, alternative, critical):
    expected = power(4.0, 12, 1.0, Design(test=find(test, alternative=alternative)))
    assert expected == pytest.approx(stats.nct.sf(critical, 11, math.sqrt(12 / 4)), rel=1e-6)


@pytest.mark.parametrize("claim", sample_size.CLAIMS)
def test_what_is_found_is_the_first_and_there_and_back(claim):
    design = Design(claim=claim, margin=None if claim == "difference" else 0.7)
    gain = 0.7 if claim == "difference" else 0.0
    n = units_for(225.0, gain, design)
    assert power(225.0, n - 1, gain, design) < 0.8 <= power(225.0, n, gain, design)
    assert size_for(225.0, n, design) == pytest.approx(0.7, rel=2e-3)


def drawn(pair, n, times, seed):
    rng = np.random.default_rng(seed)
    for _ in range(times):
        yield pair[:, rng.integers(0, pair.shape[1], n)]


def shown(metric, units, claim, margin, alpha):
    """Whether the test of `pairsig compare` shows that the first system, which is better in truth, is as good."""
    claim = "equivalence" if claim == "equivalence" else "a-not-worse"
    return margin_test(*units, margin, claim, metric=metric).pvalue < alpha


def times_shown(metric, pair, n, times, seed, test="randomization", alpha=0.05, b=500):
    """On how many test sets p < alpha for the first system: definitions of the tests, with the same b draws on each."""
    rng = np.random.default_rng(seed)
    sign = 1 if metric.higher_is_better else -1

    def gain(a, b):
        return sign * (metric.score(a) - metric.score(b))

    if test == "randomization":
        draws = rng.choice([-0.5, 0.5], (b, n))
    else:
        draws = rng.multinomial(n, np.full(n, 1 / n), b).astype(float)
    found = 0
    for size in [50] * (times // 50):
        one, other = pair[:, rng.integers(0, pair.shape[1], (size, n))].astype(float)
        observed = gain(one.sum(axis=1), other.sum(axis=1))
        if test == "randomization":
            swapped, half = np.einsum("bn,snc->sbc", draws, one - other, optimize=True), (one + other).sum(axis=1) / 2
            resampled = gain(half[:, None] + swapped, half[:, None] - swapped)
            extreme = (np.abs(resampled) >= np.abs(observed)[:, None] - 1e-9).sum(axis=1)
            p = (extreme + 1) / (b + 1)
        else:
            resampled = gain(*(np.einsum("bn,snc->sbc", draws, own, optimize=True) for own in (one, other)))
            p = (resampled > 2 * observed[:, None] + 1e-9).mean(axis=1)
        found += int(((observed > 0) & (p < alpha)).sum())
    return found


PAIRS = [
    ("wmt22-en-cs", "bleu", 1, 6),
    ("ewt-test", "uas", 0, 9),
    ("icepahc-23", "parseval", 5, 40),
    ("hansards", "aer", 2, 5),
    ("realsumm", "rouge2_recall", 2, 12),
]
"""Pairs whose segments are the population: all of them together give the true variance."""


@pytest.mark.parametrize(
    ("dataset", "metric", "better", "other", "test"),
    [(*pair, test) for pair, test in zip(PAIRS, ["randomization", "bootstrap"] * 3, strict=False)],
)
def test_power_is_that_of_the_test(dataset, metric, better, other, test):
    """Test sets are drawn from two real systems' counts; n is where power should be 30 % and 80 %, or `FEW`."""
    chosen, pair, gain, spread = embedded(dataset, metric, better, other)
    times = 200
    for wanted in (0.3, 0.8):
        alternative = "observed" if test == "bootstrap" else "two-sided"
        design = Design(test=find(test, alternative=alternative), power=wanted)
        n = max(sample_size.FEW, units_for(spread.variance, gain, design))
        expected = power(spread.variance, n, gain, design)
        found = times_shown(chosen, pair, n, times, 11, test)
        assert within(found, times, expected - 0.03, min(1.0, expected + 0.03)), (n, expected, found / times)


@pytest.mark.parametrize("claim", ["equivalence", "not-worse"])
def test_power_of_margins_is_that_of_the_test(claim):
    chosen, pair, gain, spread = embedded(*PAIRS[1])
    n, times = 150, 200
    error = math.sqrt(spread.variance / n)
    for far in (2.0, 3.0):
        design = Design(claim=claim, margin=gain + far * error if claim == "equivalence" else far * error)
        expected = power(spread.variance, n, gain, design)
        counted = drawn(pair[:, :, : len(chosen.columns)], n, times, 3)
        found = sum(shown(chosen, units, claim, design.margin, design.alpha) for units in counted)
        assert within(found, times, expected - 0.04, min(1.0, expected + 0.04)), (expected, found / times)


def test_too_few_units_for_any_p_value():
    assert power(1e-12, 5, 1.0, Design()) == 0  # 2 of 2⁵ swaps are 6 %
    assert power(1e-12, 6, 1.0, Design()) > 0.99
    assert power(1.0, 1, 1.0, Design()) == 0
    assert power(1e-12, 2, 0.0, Design(claim="not-worse", margin=1.0)) > 0.99


def test_documents_are_counted_as_such():
    data = statistics.read("resources/statistics/wmt22-en-cs.parquet")
    chosen = registry.metric("bleu")
    a, b = data.of(chosen)[:2]
    spread = from_pilot(Pair.of(a, b, chosen, data.documents))
    assert spread.segments_per_unit == pytest.approx(2037 / len(set(data.documents)))
    (row,) = plan("bleu", spread, gains=[1.0]).to_dict("records")
    assert row["n_documents"] == units_for(spread.variance, 1.0, Design())
    assert row["n_segments"] == math.ceil(row["n_documents"] * spread.segments_per_unit)


def test_the_variance_model_by_hand():
    table = sample_size.fitted()
    row = table[(table["metric"] == "bleu") & (table["given"] == "correlation")].iloc[0]
    spread = from_variance_model("bleu", score=30.0, length=25.0, correlation=0.75)
    variance = row["overdispersion"] * 1e4 * 2 * 0.25 * 0.3 * 0.7 / 5
    assert spread.variance == pytest.approx(variance)
    sd = math.sqrt(row["between"] ** 2 * (1 + 1 / row["n_datasets"]) + row["within"] ** 2)
    ratio = math.exp(stats.t.ppf(0.975, row["degrees"]) * sd)
    assert (spread.low, spread.high) == (pytest.approx(variance / ratio), pytest.approx(variance * ratio))
    in_documents = from_variance_model("bleu", score=30.0, length=25.0, correlation=0.75, design_effect=2)
    assert in_documents.variance == 2 * spread.variance
    conll, uas = (from_variance_model(name, score=80, length=20) for name in ("conll_uas", "uas"))
    assert conll.variance == uas.variance


def test_a_metric_on_one_test_set_is_validated_by_all_others():
    table = sample_size.fitted()
    alone = table[(table["n_left_out"] == 0) & (table["metric"] != "all") & (table["given"] == "nothing")].iloc[0]
    together = table[(table["metric"] == "all") & (table["given"] == "nothing")].iloc[0]
    (note,) = from_variance_model(alone["metric"], score=30).notes
    assert f"on {together['n_left_out']} left-out test sets with other metrics" in note
    assert f"by a factor of {math.exp(together['error']):.2f}" in note


def outcomes(p, gain, correlation):
    """Variance of the difference of two outcomes, in points², from the four cells of their table."""
    a, b = p + gain / 2, p - gain / 2
    both = a * b + correlation * math.sqrt(a * (1 - a) * b * (1 - b))
    only_a, only_b = a - both, b - both
    assert min(both, only_a, only_b, 1 - both - only_a - only_b) > -1e-12, "no such outcomes"
    return 1e4 * (only_a + only_b - (only_a - only_b) ** 2)


def test_pass_fail_items_do_without_the_variance_model():
    for p in (0.2, 0.35, 0.5, 0.8):
        for correlation in (0.0, 0.31, 0.65, 0.7):
            said = sample_size.from_outcomes(score=100 * p, correlation=correlation).variance
            assert said == pytest.approx(outcomes(p, 0.0, correlation))
            assert said == pytest.approx(outcomes(p, 0.05, correlation), rel=0.01)
            assert said == pytest.approx(outcomes(p, 0.1, correlation), rel=0.04)
    spread = sample_size.from_outcomes(score=60, correlation=0.4, design_effect=2)
    assert spread.low == spread.high == spread.variance == pytest.approx(2 * outcomes(0.6, 0.0, 0.4))
    # Models on MMLU-Pro, as `pairsig compare` would find them: correlation and score say all.
    data = statistics.read("resources/statistics/mmlu-pro.parquet")
    chosen = registry.metric("accuracy")
    for a, b in ((0, 1), (3, 9), (20, 27)):
        one, other = data.of(chosen)[[a, b], :, 0].astype(float)
        said = sample_size.from_outcomes(
            score=50 * (one.mean() + other.mean()), correlation=float(np.corrcoef(one, other)[0, 1])
        )
        found = sample_size.from_pilot(Pair(chosen, data.of(chosen)[[a, b]], None))
        assert said.variance == pytest.approx(found.variance, rel=0.1)


def test_the_json_has_what_is_declared(capsys):
    options = ["--metric", "bleu", "--score", "35", "--length", "25"]
    options += ["--gain", "1,2", "--margin", "1", "--segments", "1000"]
    assert cli.main(["plan", *options, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [tuple(row) for row in rows] == [PLAN.names] * 6
    assert [(row["question"], row["claim"]) for row in rows] == [
        ("segments", "difference"), ("segments", "difference"), ("segments", "equivalence"), ("segments", "not-worse"),
        ("gain", "difference"), ("margin", "equivalence"),
    ]  # fmt: skip
    assert rows[0]["n_low"] < rows[0]["n_segments"] < rows[0]["n_high"]
    assert rows[4]["gain_low"] < rows[4]["gain"] < rows[4]["gain_high"]
    assert [row["gain"] for row in rows[:4] + rows[5:]] == [1, 2, 0, 0, 0]
    assert [rows[place]["test"] for place in (0, 2, 5)] == ["randomization", "margin equivalence", "margin equivalence"]
    assert [row["margin"] for row in rows[:5]] == [None, None, 1, 1, None]
    assert [row["power"] for row in rows[4:]] == pytest.approx([0.8, 0.8], abs=1e-6)
    # A gain that n segments show takes n segments.
    spread = from_variance_model("bleu", score=35, length=25)
    assert units_for(spread.variance, rows[4]["gain"], Design()) == 1000


def test_scores_and_gains_have_one_unit(capsys):
    """Points and percentages are the same, in Python too; for scores from 0 to 1 a gain is a share."""
    tables = []
    for options in ("--score 70 --gain 20,0.5 --margin 1", "--score 70% --gain 20%,0.5% --margin 1%"):
        assert cli.main(f"plan --metric Accuracy --correlation 0.4 {options}".split()) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    spread = sample_size.from_outcomes(score="70%", correlation=0.4)
    needed = units_for(spread.variance, 20.0, Design(), passed=100.0)
    for gain in (20, 20.0, "20", "20%"):
        (row,) = plan("accuracy", spread, gains=[gain]).to_dict("records")
        assert (row["gain"], row["n_segments"]) == (20.0, needed)
    with pytest.raises(InputError, match=re.escape("write --score 70% or --score 0.7%")):
        sample_size.from_outcomes(score=0.7, correlation=0.4)
    shares = [float(one) for one in "01110110101"], [float(one) for one in "00110100011"]
    pilot = from_pilot(Pair.of(*shares, "mean", None))
    as_points = from_pilot(Pair.of(*([50 * one for one in own] for own in shares), "mean", None))
    percentages = from_pilot(Pair.of(*([100 * one for one in own] for own in shares), "mean", None))
    assert (pilot.best, as_points.best, percentages.best) == (1.0, None, 100.0)
    (row,), (same,) = (plan("mean", pilot, gains=[gain]).to_dict("records") for gain in (0.02, "2%"))
    assert (row["gain"], row["n_segments"]) == (same["gain"], same["n_segments"])
    (row,) = plan("mean", percentages, gains=[2]).to_dict("records")
    assert (row["gain"], row["n_segments"]) == (2, same["n_segments"])
    with pytest.raises(InputError, match=re.escape("the scores are from 0 to 1; write --gain 2% or --gain 0.02")):
        plan("mean", pilot, gains=[2])
    with pytest.raises(InputError, match="these scores are not percentages"):
        plan("mean", as_points, gains=["2%"])
    counts = np.array([[3, 5], [4, 6], [2, 2]])
    assert from_pilot(Pair.of(counts, counts - [[1, 0], [0, 0], [2, 0]], "accuracy", None)).best == 100


@pytest.mark.parametrize("n_different", [9, 10])
def test_a_pilot_whose_systems_differ_on_few_segments(n_different):
    a = np.zeros(200)
    a[:n_different] = np.arange(n_different) + 2.5
    notes = from_pilot(Pair.of(a, np.zeros(200), "mean", None)).notes
    assert any("too few for a reliable plan" in note for note in notes) == (n_different < 10)


def test_only_what_is_uncertain_has_an_interval():
    sure = sample_size.render(plan("accuracy", sample_size.from_outcomes(score=60), gains=[2]), "table")
    assert "[" not in sure.split("\n\n")[0]
    assert "with 0.65, 0.51 times as many would do" in sure
    unsure = sample_size.render(plan("bleu", from_variance_model("bleu", score=35, length=25), gains=[2]), "table")
    assert "segments [95 %]" in unsure
    assert "gain or margin  " in unsure


def test_pilots_that_tell_nothing():
    a = np.array([[3, 5], [4, 6], [2, 2]])
    with pytest.raises(InputError, match="differ on 0 of 3 segments, expected at least two and a difference"):
        from_pilot(Pair.of(a, a, "accuracy", None))
    with pytest.raises(InputError, match="differ on 1 of 1 segments"):
        from_pilot(Pair.of(a[:1], a[:1] - [1, 0], "accuracy", None))
    with pytest.raises(InputError, match="differ by the same on each of 3 segments, expected it to vary"):
        from_pilot(Pair.of([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], "mean", None))


def test_the_variance_model_of_the_library_is_that_of_the_study():
    assert sample_size.VARIANCE_MODEL_FILE.read_bytes() == (ROOT / "results/reference/variance_model.tsv").read_bytes()


@pytest.mark.parametrize("gain", [0.2, 0.7])
def test_the_power_of_equivalence_is_the_same_in_both_directions(gain):
    design = Design(claim="equivalence", margin=1.0)
    one, other, centre = (power(225.0, 2_000, change, design) for change in (gain, -gain, 0.0))
    assert one == pytest.approx(other, rel=1e-12)
    assert one < centre


@pytest.mark.parametrize(("gain", "message"), [
    ("100", "but no two systems differ by more than 100 in accuracy"),
    ("70", "systems with a mean score of 70 differ by at most 60"),
    ("20", "the correlation is 0.99, which is impossible for systems that differ by 20 points .* at most 0.61"),
])  # fmt: skip
def test_gains_and_correlations_that_cannot_be(gain, message):
    spread = sample_size.from_outcomes(score=70, correlation=0.99)
    with pytest.raises(InputError, match=message):
        sample_size.plan("accuracy", spread, gains=[gain])
    with pytest.raises(InputError, match=r"the correlation is -0\.6, expected at least -0\.43"):
        sample_size.from_outcomes(score=70, correlation=-0.6)


def test_thousands_of_questions_are_refused():
    spread = sample_size.from_outcomes(score=70, correlation=0.5)
    with pytest.raises(InputError, match="found 5,000 gains, margins and sizes, expected at most 1,000"):
        sample_size.plan("accuracy", spread, gains=[1 + k / 1000 for k in range(5000)])


def test_the_interval_of_a_pilot_by_its_formula():
    """ν S² / χ²; a pilot that a few large differences decide says so."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(1, 1, (2, 150))
    spread = from_pilot(Pair.of(a, b, "mean", None))
    d = a - b
    kurtosis = ((d - d.mean()) ** 4).mean() / d.var() ** 2
    degrees = min(2 * 150 / (kurtosis - 147 / 149), 149)
    assert spread.variance == pytest.approx(d.var(ddof=1))
    assert spread.low == pytest.approx(degrees * d.var(ddof=1) / stats.chi2.ppf(0.975, degrees))
    assert spread.high == pytest.approx(degrees * d.var(ddof=1) / stats.chi2.ppf(0.025, degrees))
    assert len(spread.notes) == 1
    d[:3] *= 40
    heavy = from_pilot(Pair.of(d, np.zeros(150), "mean", None))
    assert "65 to 76 % power instead of 80 %" in heavy.notes[1]
    (row,) = plan("mean", heavy, gains=[1.0]).to_dict("records")
    assert row["n_low"] < row["n_segments"] < row["n_high"]
    assert row["power_low"] < 0.8 <= row["power"]
    few = from_pilot(Pair.of(a[:9], b[:9], "mean", None))
    assert any("fewer than 100 segments" in note for note in few.notes)
    assert any("differ on 9 of 9 segments, too few" in note for note in few.notes)
