"""Planning: power against simulations of the tests themselves, the variance model against independent code."""

import functools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import chdtri

from pairsig import InputError, cli, margin_test, readers
from pairsig.core import statistics
from pairsig.core.definitions import find
from pairsig.io import tables
from pairsig.io.columns import PLAN
from pairsig.metrics import registry
from pairsig.planning import sample_size
from pairsig.planning.sample_size import (
    Design,
    Spread,
    from_pilot,
    from_variance_model,
    plan,
    power,
    size_for,
    units_for,
)
from pairsig.stats import intervals
from pairsig.stats.paired import Pair
from running import ROOT
from test_levels import within

NORMAL = Spread(variance=225.0, low=150.0, high=400.0, source="variance model", given="correlation")


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
        ("randomization", "observed", stats.t.ppf(0.95, 11)),
        ("bootstrap", "observed", stats.norm.ppf(0.95) * math.sqrt(11 / 12)),
        ("bootstrap", "two-sided", stats.norm.ppf(0.975) * math.sqrt(11 / 12)),
    ],
)
def test_power_by_the_noncentral_distribution(test, alternative, critical):
    expected = power(4.0, 12, 1.0, Design(test=find(test, alternative=alternative)))
    assert expected == pytest.approx(stats.nct.sf(critical, 11, math.sqrt(12 / 4)), rel=1e-6)


@pytest.mark.parametrize("claim", sample_size.CLAIMS)
@pytest.mark.parametrize("training", [0.0, 0.02])
def test_what_is_found_is_the_first_and_there_and_back(claim, training):
    design = Design(claim=claim, margin=None if claim == "difference" else 0.7, training=training)
    gain = 0.7 if claim == "difference" else 0.0
    n = units_for(225.0, gain, design)
    assert power(225.0, n - 1, gain, design) < 0.8 <= power(225.0, n, gain, design)
    assert size_for(225.0, n, design) == pytest.approx(0.7, rel=2e-3)


@pytest.mark.parametrize(("claim", "missed"), [("equivalence", 0.1), ("not-worse", 0.2), ("difference", 0.2)])
def test_runs_that_a_size_takes_without_end_of_segments(claim, missed):
    """Two equal systems miss equivalence on either side, hence each side may be missed half as often."""
    level = 0.025 if claim == "difference" else 0.05
    needed = 0.5 * (stats.norm.ppf(1 - level) + stats.norm.ppf(1 - missed)) ** 2
    gain, margin = (1.0, None) if claim == "difference" else (0.0, 1.0)
    found = plan("bleu", NORMAL, Design(training=0.5), gains=[1.0] * (margin is None), margins=[1.0] * (margin == 1))
    (row,) = found[found["claim"] == claim].to_dict("records")
    assert row["notes"] == [
        "no number of segments is sufficient for 1, since runs vary too much; use at least "
        f"{needed:.1f} times as many runs"
    ]
    assert np.isnan(row["power_low"])
    assert pd.isna(row["n_segments"])
    for times, enough in ((1.02, True), (0.98, False)):
        design = Design(claim=claim, margin=margin, training=0.5 / (times * needed))
        assert (units_for(225.0, gain, design) is not None) == enough


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


def test_few_units_are_off_by_no_more_than_is_said():
    n = 20
    for dataset, metric, better, other in PAIRS:
        chosen, pair, gain, spread = embedded(dataset, metric, better, other)
        expected = power(spread.variance, n, gain, Design())
        found = times_shown(chosen, pair, n, 200, 5)
        off = sample_size.OFF_FEW / 100
        assert within(found, 200, max(0.0, expected - off), min(1.0, expected + off)), (dataset, expected, found / 200)


def test_too_few_units_for_any_p_value():
    assert power(1e-12, 5, 1.0, Design()) == 0  # 2 of 2⁵ swaps are 6 %
    assert power(1e-12, 6, 1.0, Design()) > 0.99
    assert power(1.0, 1, 1.0, Design()) == 0


HELD_OUT = [
    ("wmt23-en-de", "bleu"), ("wmt24-en-es", "bleu"), ("wmt21-zh-en", "bleu"), ("conll2018-fi_tdt", "conll_uas"),
    ("conll2018-no_bokmaal", "conll_uas"), ("craft-test", "parseval"), ("icepahc-modern", "parseval"),
    ("llmbar", "accuracy"), ("mmlu-pro", "accuracy"),
]  # fmt: skip
"""Test sets of the page's table on pilots, by segments."""

BY_DOCUMENT = [
    ("wmt22-ja-en", "bleu"), ("wmt22-uk-en", "bleu"), ("wmt22-en-ja", "bleu"), ("wmt22-ru-en", "bleu"),
    ("wmt24-en-es", "bleu"), ("ewt-dev", "uas"),
]  # fmt: skip


def pilots(dataset, metric, m, *, by_document=False, n_pairs=20, times=100, seed=77):
    """Of pilots of m units, whether S² lies in its interval, and the power of what is planned for 80 % with each."""
    data = statistics.read(f"resources/statistics/{dataset}.parquet")
    chosen = registry.metric(metric)
    counts = data.of(chosen)
    if by_document:
        counts = statistics.by_document(data.documents, counts)
    rng = np.random.default_rng(seed)
    covered, reached = [], []
    for _ in range(n_pairs):
        pair = counts[rng.choice(len(counts), 2, replace=False)].astype(float)
        total = pair.sum(axis=1, keepdims=True)
        influence = (pair.shape[1] - 1) * np.subtract(*chosen.score(total - pair))
        _, error, degrees = intervals.jackknifed(
            pair[:, rng.integers(0, pair.shape[1], (times, m))].swapaxes(0, 1), chosen
        )
        ratio = m * error**2 / np.var(influence)
        covered.append(
            (degrees * ratio / chdtri(degrees, 0.025) <= 1) & (degrees * ratio / chdtri(degrees, 0.975) >= 1)
        )
        reached.append(stats.norm.cdf(2.8016 * np.sqrt(ratio) - 1.96))
    return np.concatenate(covered), np.concatenate(reached)


def test_intervals_of_pilots_have_the_documented_coverage():
    covered, reached = pilots("conll2018-no_bokmaal", "conll_uas", 100)
    assert within(covered.sum(), len(covered), 0.86, 0.97)
    # What is planned from a pilot of 100 segments is nowhere near 3 points of what was asked for.
    low, high = np.quantile(reached, [0.025, 0.975])
    assert low < 0.7
    assert high > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("by_document", [False, True])
def test_the_pages_table_on_pilots(by_document):
    for m in (30, 50, 100, 200) if by_document else (30, 50, 100, 200, 500):
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {m} | ")]
        cells = [[int(number) for number in re.findall(r"\d+", cell)] for cell in line.split("|")[2:5]]
        found = [pilots(*own, m, by_document=by_document) for own in (BY_DOCUMENT if by_document else HELD_OUT)]
        shares = [100 * covered.mean() for covered, _ in found]
        assert [min(shares), max(shares)] == pytest.approx(cells[2 if by_document else 1], abs=0.6)
        if not by_document:
            ends = np.median([np.quantile(reached, [0.025, 0.975]) for _, reached in found], axis=0)
            assert 100 * ends == pytest.approx(cells[0], abs=0.6)


def test_the_interval_of_the_power_is_that_of_the_pilot():
    """It covers the power that the planned number of segments has in truth as often as the interval of S² does."""
    chosen, pair, _, truth = embedded("craft-test", "parseval", 0, 3)
    covered = 0
    for units in drawn(pair, 100, 30, 4):
        spread = from_pilot(Pair(chosen, units, None))
        (row,) = plan("parseval", spread, gains=[2.0]).to_dict("records")
        true = power(truth.variance, int(row["n_segments"]), 2.0, Design())
        assert row["power_low"] < 0.8 <= row["power"] < row["power_high"]
        assert (row["power_low"] <= true <= row["power_high"]) == (spread.low <= truth.variance <= spread.high)
        covered += row["power_low"] <= true <= row["power_high"]
    assert within(covered, 30, 0.9, 0.97)


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


def test_the_page_on_leaderboards_agrees_with_their_table():
    boards = pd.read_csv("results/reference/leaderboards.tsv", sep="\t")
    low, high = boards["correlation"].min(), boards["correlation"].max()
    assert (
        f"median pair of eleven leaderboards of language models had {low:.2f} to {high:.2f}"
        in (sample_size.from_outcomes(score=50, correlation=0.5).notes[0])
    )
    assert len(boards) == 11
    low, high = boards["overdispersion"].min(), boards["overdispersion"].max()
    assert f"{low:.2f} to {high:.2f} times this" in sample_size.from_outcomes.__doc__


def independent(datasets):
    """Residuals of log S² from the variance model, for all pairs: with loops and leave-one-out influence values."""
    residuals = {}
    for dataset, metric in datasets:
        data = statistics.read(f"resources/statistics/{dataset}.parquet")
        chosen = registry.metric(metric)
        counts = data.of(chosen).astype(float)
        n = counts.shape[1]
        total = counts.sum(axis=1)
        influence = np.array(
            [(n - 1) * (chosen.score(t) - chosen.score(t - c)) for t, c in zip(total, counts, strict=True)]
        )
        length = {"bleu": "reference_length", "parseval": "gold", "conll_uas": "gold"}[metric]
        words = counts[0, :, chosen.columns.index(length)].mean()
        found = []
        for i in range(len(counts)):
            for j in range(i):
                variance = np.var(influence[i] - influence[j])
                rho = np.corrcoef(influence[i], influence[j])[0, 1]
                p = (chosen.score(total[i]) + chosen.score(total[j])) / 200
                if variance > 0:
                    found.append(math.log(variance / (2e4 * (1 - rho) * p * (1 - p) / math.sqrt(words))))
        residuals[dataset] = np.array(found)
    return residuals


def test_the_variance_model_fits_the_embedded_statistics():
    """φ and the scatter, from the counts of some test sets, by code that the analysis does not share."""
    table = sample_size.fitted().set_index(["metric", "given"])
    found = independent([(f"wmt22-{pair}", "bleu") for pair in ("en-cs", "en-ja", "ja-en", "uk-en")])
    means = np.array([values.mean() for values in found.values()])
    row = table.loc[("bleu", "correlation")]
    # The mean of four of 31 test sets lies within t · τ/√4 of that of all.
    assert abs(means.mean() - math.log(row["overdispersion"])) < 3 * row["between"] / 2
    assert 0.02 < np.mean([values.std() for values in found.values()]) < 2 * row["within"]


@pytest.mark.slow
def test_the_constant_of_a_metric_is_recomputed():
    """F1 has four test sets, whose pairs are few enough for loops: φ to three digits."""
    names = ("icepahc-23", "icepahc-domains", "icepahc-modern", "craft-test")
    found = independent([(name, "parseval") for name in names])
    expected = math.exp(np.mean([values.mean() for values in found.values()]))
    table = sample_size.fitted().set_index(["metric", "given"])
    assert table.loc[("parseval", "correlation")]["overdispersion"] == pytest.approx(expected, rel=2e-3)


@pytest.mark.slow
def test_the_page_states_the_correlations_of_the_study():
    """Correlations of leave-one-out influence values: published systems, and retrained ones of one base model."""
    sheet = tables.read(ROOT / "config/datasets.tsv")
    sheet = sheet[(sheet["pool"] == "") & sheet["task"].isin(["mt", "dependency", "constituency"])]
    found = {(study, task): [] for study in ("natural", "synthetic") for task in ("translation", "parsers")}
    for row in sheet.itertuples():
        if row.metric == "mean" or not (ROOT / f"resources/statistics/{row.dataset}.parquet").is_file():
            continue
        data = statistics.read(f"resources/statistics/{row.dataset}.parquet")
        chosen = registry.metric(row.metric)
        influence = [chosen.score(own.sum(axis=0) - own) for own in data.of(chosen).astype(float)]
        same = np.equal.outer(data.groups, data.groups) | (row.study != "synthetic")
        pairs = np.triu(same, 1) & ~np.isclose(np.var(influence, axis=1), 0)
        task = "translation" if row.task == "mt" else "parsers"
        found["synthetic" if row.study == "synthetic" else "natural", task].extend(np.corrcoef(influence)[pairs])
    fragments = {key: "{:.2f} to {:.2f}".format(*np.quantile(values, [0.1, 0.9])) for key, values in found.items()}
    page = (ROOT / "docs/planning.md").read_text(encoding="utf-8")
    for name, key in {
        "published translation systems, WMT": ("natural", "translation"),
        "published parsers, CoNLL": ("natural", "parsers"),
        "retrained translation systems with one base model": ("synthetic", "translation"),
        "retrained parsers with one base model": ("synthetic", "parsers"),
    }.items():
        assert f"| {name} | {fragments[key]} |" in page


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


def test_pilots_that_tell_nothing():
    a = np.array([[3, 5], [4, 6], [2, 2]])
    with pytest.raises(InputError, match="differ on 0 of 3 segments, expected at least two and a difference"):
        from_pilot(Pair.of(a, a, "accuracy", None))
    with pytest.raises(InputError, match="differ on 1 of 1 segments"):
        from_pilot(Pair.of(a[:1], a[:1] - [1, 0], "accuracy", None))
    with pytest.raises(InputError, match="differ by the same on each of 3 segments, expected it to vary"):
        from_pilot(Pair.of([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], "mean", None))


def test_a_pilot_may_name_its_scores(tmp_path, capsys):
    path = tmp_path / "pilot.csv"
    path.write_text("id,old,new\n" + "".join(f"{k},{int(k % 3 > 0)},{int(k % 5 > 0)}\n" for k in range(60)))
    long = tmp_path / "long.csv"
    rows = [line.split(",") for line in path.read_text().split()[1:]]
    cells = [f"{k},{name},{cell},7\n" for k, *pair in rows for name, cell in zip(("old", "new"), pair, strict=True)]
    long.write_text("id,system,correct,words\n" + "".join(cells))
    answers = []
    for words in (["pilot.csv", "--systems", "old,new"], ["long.csv", "--score", "correct"]):
        assert cli.main(["plan", str(tmp_path / words[0]), *words[1:], "--gain", "5%", "--format", "json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        answers.append(row["n_segments"])
    assert answers[0] == answers[1]


def test_two_outputs_without_a_reference(tmp_path, capsys):
    table = sample_size.fitted()
    if not ((table["given"] == "outputs") & (table["metric"] == "bleu")).any():
        pytest.skip("the variance model was fitted without outputs")
    lines = ["the cat sat on the mat today", "a dog barked at the moon all night", "no one knows what comes next here"]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "b.txt").write_text("\n".join([lines[0], lines[1].replace("night", "day"), lines[2]]) + "\n")
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    options = ["--reader", "text", "--metric", "bleu", "--score", "30", "--length", "25", "--gain", "1"]
    assert cli.main(["plan", *files, *options, "--format", "json"]) == 0
    fragments = capsys.readouterr()
    (row,) = json.loads(fragments.out)["rows"]
    assert (row["given"], row["source"]) == ("outputs", "variance model")
    assert "BLEU of the outputs against each other: 9" in fragments.err


PAGE = (ROOT / "docs/planning.md").read_text(encoding="utf-8")


def test_the_numbers_of_the_page_are_those_of_the_table():
    """Factors are e to the power of the errors of `variance_model_errors`, as committed."""
    errors = pd.read_csv(ROOT / "results/reference/variance_model_errors.tsv", sep="\t").set_index("model")
    fragments = {
        "| correlation, score, √length": "correlation, score, √length",
        "| … length instead": "correlation, score, length", "| … without length": "correlation, score",
        "| … all exponents": "all exponents fitted", "| correlation alone": "correlation",
        "| score, √length": "score, √length", "| the metric alone": "constant",
        "| BLEU of one's": "BLEU of outputs, score, √length", "| share of the same": "same outputs, score, √length",
    }  # fmt: skip
    for start, variance_model in fragments.items():
        (line,) = [line for line in PAGE.splitlines() if line.startswith(start)]
        row = errors.loc[variance_model]
        factors = [math.exp(row[name]) for name in ("error", "error_low", "error_high")]
        shares = [100 * row[name] for name in ("coverage", "coverage_low", "coverage_high")]
        assert "{:.2f} [{:.2f}, {:.2f}]".format(*factors) in line
        assert "{:.0f} % [{:.0f}, {:.0f}]".format(*shares) in line


def test_the_variance_model_of_the_library_is_that_of_the_study():
    assert sample_size.VARIANCE_MODEL_FILE.read_bytes() == (ROOT / "results/reference/variance_model.tsv").read_bytes()


def test_overlaps_are_those_of_the_outputs(data_dir):
    """The committed overlaps are those of the outputs."""
    rows = pd.read_csv(ROOT / "resources/overlaps.tsv", sep="\t")
    sheet = pd.read_csv(ROOT / "config/systems.tsv", sep="\t", dtype=str).set_index(["dataset", "system"])["output"]
    for row in rows[rows["dataset"] == "wmt22-ja-en"].head(1).to_dict("records"):
        one, other = (
            readers.read("text", str(data_dir / sheet[row["dataset"], row[side]])) for side in ("system_a", "system_b")
        )
        assert 100 * sample_size.overlap_of(one, other) == pytest.approx(row["bleu"], abs=1e-3)
        assert np.mean([a == b for a, b in zip(one, other, strict=True)]) == pytest.approx(row["same"], abs=1e-5)


@pytest.mark.parametrize("gain", [0.2, 0.7])
def test_the_power_of_equivalence_is_the_same_in_both_directions(gain):
    design = Design(claim="equivalence", margin=1.0)
    one, other, centre = (power(225.0, 2_000, change, design) for change in (gain, -gain, 0.0))
    assert one == pytest.approx(other, rel=1e-12)
    assert one < centre


@pytest.mark.parametrize(("gain", "message"), [
    ("100", "but no two systems differ by more than 100 in accuracy"),
    ("70", "systems with a mean score of 70 differ by at most 60"),
    ("20", "the correlation is 0.99, which is impossible for systems that differ by 20"),
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
