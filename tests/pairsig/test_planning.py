"""Planning: power against simulations of the tests themselves, the variance model against independent code."""

import functools
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

import pairsig
from pairsig import InputError, cli
from pairsig.core import statistics
from pairsig.io.columns import PLAN
from pairsig.metrics import registry
from pairsig.planning import sample_size
from pairsig.planning.power import Items
from pairsig.planning.sample_size import from_outcomes, from_pilot, from_variance_model, power, table_of, units_for
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


# Power.


def test_segments_are_those_of_the_textbook():
    """Two-sided z test: n = (z₀.₉₇₅ + z₀.₈)² S²/δ², and with few units that of Student's test."""
    n = units_for(225.0, 1.0)
    assert n == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * 225, rel=2e-3)
    # Cohen (1988), Table 2.4.1, as statsmodels has it: d = 0.5, paired t test, 80 %: 33.37 pairs.
    assert units_for(4.0, 1.0) == 34
    assert power(4.0, 12, 1.0) == pytest.approx(stats.nct.sf(stats.t.ppf(0.975, 11), 11, math.sqrt(12 / 4)), rel=1e-6)
    n = units_for(225.0, 0.7, 0.01, 0.9)
    assert power(225.0, n - 1, 0.7, 0.01) < 0.9 <= power(225.0, n, 0.7, 0.01)
    assert units_for(1e12, 1e-3) is None


def times_significant(metric, pair, n, times, seed, alpha=0.05, b=500):
    """On how many test sets the first system is better with p < alpha: randomization by its definition."""
    rng = np.random.default_rng(seed)
    sign = 1 if metric.higher_is_better else -1

    def gain(a, b):
        return sign * (metric.score(a) - metric.score(b))

    draws = rng.choice([-0.5, 0.5], (b, n))
    found = 0
    for size in [50] * (times // 50):
        one, other = pair[:, rng.integers(0, pair.shape[1], (size, n))].astype(float)
        observed = gain(one.sum(axis=1), other.sum(axis=1))
        swapped, half = np.einsum("bn,snc->sbc", draws, one - other, optimize=True), (one + other).sum(axis=1) / 2
        resampled = gain(half[:, None] + swapped, half[:, None] - swapped)
        extreme = (np.abs(resampled) >= np.abs(observed)[:, None] - 1e-9).sum(axis=1)
        found += int(((observed > 0) & ((extreme + 1) / (b + 1) < alpha)).sum())
    return found


PAIRS = [
    ("wmt22-en-cs", "bleu", 1, 6),
    ("ewt-test", "uas", 0, 9),
    ("icepahc-23", "parseval", 5, 40),
    ("hansards", "aer", 2, 5),
    ("realsumm", "rouge2_recall", 2, 12),
]
"""Pairs whose segments are the population: all of them together give the true variance."""


@pytest.mark.parametrize(("dataset", "metric", "better", "other"), PAIRS)
def test_power_is_that_of_the_test(dataset, metric, better, other):
    """Test sets are drawn from two real systems' counts; n is where power should be 30 % and 80 %, or `FEW`."""
    chosen, pair, gain, spread = embedded(dataset, metric, better, other)
    times = 200
    for wanted in (0.3, 0.8):
        n = max(sample_size.FEW, units_for(spread.variance, gain, wanted=wanted))
        expected = power(spread.variance, n, gain)
        found = times_significant(chosen, pair, n, times, 11)
        assert within(found, times, expected - 0.03, min(1.0, expected + 0.03)), (n, expected, found / times)


def test_too_few_units_for_any_p_value():
    assert power(1e-12, 5, 1.0) == 0  # 2 of 2⁵ swaps are 6 %
    assert power(1e-12, 6, 1.0) > 0.99
    assert power(1.0, 1, 1.0) == 0


def test_power_of_the_sign_test_is_that_of_all_tables():
    found, total = Items(0.3, 0.12, 0.05).power(40), 0.0
    p, q = (0.3 + 0.12) / 2, (0.3 - 0.12) / 2
    for r in range(41):
        for s in range(min(r, 41 - r)):
            if 2 * stats.binom.sf(r - 1, r + s, 0.5) < 0.05:
                total += stats.multinomial.pmf([r, s, 40 - r - s], 40, [p, q, 1 - p - q])
    assert found == pytest.approx(total, abs=1e-9)
    # The same from S² = ψ − g² in points.
    assert power(1e4 * (0.3 - 0.12**2), 40, 12.0, passed=100.0) == pytest.approx(found)


@pytest.mark.parametrize("psi", [0.05, 0.2, 1.0])
def test_from_the_planned_number_on_all_have_the_power(psi):
    items = Items(psi, 0.05, 0.05)
    n = items.first(0.8, 600)
    assert all(items.power(n + further) >= 0.8 for further in (*range(15), 50, 200))
    assert items.power(n - 1) < 0.8
    assert units_for(1e4 * (psi - 0.05**2), 5.0, passed=100.0) == n


# Where the variance comes from.


def test_documents_are_counted_as_such():
    data = statistics.read("resources/statistics/wmt22-en-cs.parquet")
    chosen = registry.metric("bleu")
    a, b = data.of(chosen)[:2]
    spread = from_pilot(Pair.of(a, b, chosen, data.documents))
    assert spread.segments_per_unit == pytest.approx(2037 / len(set(data.documents)))
    (row,) = table_of("bleu", spread, [1.0]).to_dict("records")
    assert row["n_documents"] == units_for(spread.variance, 1.0)
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
    conll, uas = (from_variance_model(name, score=80, length=20) for name in ("conll_uas", "uas"))
    assert conll.variance == uas.variance
    assert sample_size.VARIANCE_MODEL_FILE.read_bytes() == (ROOT / "results/reference/variance_model.tsv").read_bytes()


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
            predicted = from_outcomes(score=100 * p, correlation=correlation).variance
            assert predicted == pytest.approx(outcomes(p, 0.0, correlation))
            assert predicted == pytest.approx(outcomes(p, 0.05, correlation), rel=0.01)
            assert predicted == pytest.approx(outcomes(p, 0.1, correlation), rel=0.04)
    # Models on MMLU-Pro: correlation and score say all.
    data = statistics.read("resources/statistics/mmlu-pro.parquet")
    chosen = registry.metric("accuracy")
    for a, b in ((0, 1), (3, 9), (20, 27)):
        one, other = data.of(chosen)[[a, b], :, 0].astype(float)
        predicted = from_outcomes(
            score=50 * (one.mean() + other.mean()), correlation=float(np.corrcoef(one, other)[0, 1])
        )
        found = from_pilot(Pair(chosen, data.of(chosen)[[a, b]], None))
        assert predicted.variance == pytest.approx(found.variance, rel=0.1)


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
    (row,) = table_of("mean", heavy, [1.0]).to_dict("records")
    assert row["n_low"] < row["n_segments"] < row["n_high"]
    assert row["power_low"] < 0.8 <= row["power"]
    few = from_pilot(Pair.of(a[:9], b[:9], "mean", None))
    assert any("fewer than 100 segments" in note for note in few.notes)
    assert any("differ on 9 of 9 segments, too few" in note for note in few.notes)


# What is printed, and refused.


def test_the_json_has_what_is_declared(capsys):
    options = "--metric bleu --score 35 --length 25 --gain 1,2"
    assert cli.main(["plan", *options.split(), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [tuple(row) for row in rows] == [PLAN.names] * 2
    assert rows[0]["n_low"] < rows[0]["n_segments"] < rows[0]["n_high"]
    assert [row["gain"] for row in rows] == [1, 2]
    planned = pairsig.plan(metric="bleu", score=35, length=25, gain=[1, 2])
    assert planned.table["n_segments"].tolist() == [row["n_segments"] for row in rows]
    assert planned.to_dict()["rows"] == rows
    assert "segments [95 %]" in str(planned)


def test_scores_and_gains_have_one_unit(capsys):
    """Points and percentages are the same, in Python too; for scores from 0 to 1 a gain is a share."""
    tables = []
    for options in ("--score 70 --gain 20,0.5", "--score 70% --gain 20%,0.5%"):
        assert cli.main(f"plan --metric Accuracy --correlation 0.4 {options}".split()) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    with pytest.raises(InputError, match=re.escape("write --score 70% or --score 0.7%")):
        from_outcomes(score=0.7, correlation=0.4)
    shares = [float(one) for one in "01110110101"], [float(one) for one in "00110100011"]
    pilot = from_pilot(Pair.of(*shares, "mean", None))
    as_points = from_pilot(Pair.of(*([50 * one for one in own] for own in shares), "mean", None))
    percentages = from_pilot(Pair.of(*([100 * one for one in own] for own in shares), "mean", None))
    assert (pilot.best, as_points.best, percentages.best) == (1.0, None, 100.0)
    (row,), (same,) = (table_of("mean", pilot, [gain]).to_dict("records") for gain in (0.02, "2%"))
    assert (row["gain"], row["n_segments"]) == (same["gain"], same["n_segments"])
    (row,) = table_of("mean", percentages, [2]).to_dict("records")
    assert (row["gain"], row["n_segments"]) == (2, same["n_segments"])
    with pytest.raises(InputError, match=re.escape("the scores are from 0 to 1; write --gain 2% or --gain 0.02")):
        table_of("mean", pilot, [2])
    with pytest.raises(InputError, match="these scores are not percentages"):
        table_of("mean", as_points, ["2%"])
    counts = np.array([[3, 5], [4, 6], [2, 2]])
    assert from_pilot(Pair.of(counts, counts - [[1, 0], [0, 0], [2, 0]], "accuracy", None)).best == 100


@pytest.mark.parametrize("n_different", [9, 10])
def test_a_pilot_whose_systems_differ_on_few_segments(n_different):
    a = np.zeros(200)
    a[:n_different] = np.arange(n_different) + 2.5
    notes = from_pilot(Pair.of(a, np.zeros(200), "mean", None)).notes
    assert any("too few for a reliable plan" in note for note in notes) == (n_different < 10)


def test_only_what_is_uncertain_has_an_interval():
    sure = sample_size.render(table_of("accuracy", from_outcomes(score=60), [2]), "table")
    assert "[" not in sure.split("\n\n")[0]
    assert "with 0.65, 0.51 times as many would do" in sure


def test_pilots_that_tell_nothing():
    a = np.array([[3, 5], [4, 6], [2, 2]])
    with pytest.raises(InputError, match="differ on 0 of 3 segments, expected at least two and a difference"):
        from_pilot(Pair.of(a, a, "accuracy", None))
    with pytest.raises(InputError, match="differ on 1 of 1 segments"):
        from_pilot(Pair.of(a[:1], a[:1] - [1, 0], "accuracy", None))
    with pytest.raises(InputError, match="differ by the same on each of 3 segments, expected it to vary"):
        from_pilot(Pair.of([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], "mean", None))


@pytest.mark.parametrize(("gain", "message"), [
    ("100", "but no two systems differ by more than 100 in accuracy"),
    ("70", "systems with a mean score of 70 differ by at most 60"),
    ("20", "the correlation is 0.99, which is impossible for systems that differ by 20 points .* at most 0.61"),
    ("0", "the gain is 0, expected a positive number"),
])  # fmt: skip
def test_gains_and_correlations_that_cannot_be(gain, message):
    with pytest.raises(InputError, match=message):
        table_of("accuracy", from_outcomes(score=70, correlation=0.99), [gain])
    with pytest.raises(InputError, match=r"the correlation is -0\.6, expected at least -0\.43"):
        from_outcomes(score=70, correlation=-0.6)
    with pytest.raises(InputError, match="found 5,000 gains, expected 1 to 1,000"):
        table_of("accuracy", from_outcomes(score=70), [1] * 5000)
