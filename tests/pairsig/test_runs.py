"""Systems with several runs: formulas by loops, simulated error rates, notes."""

import math

import numpy as np
import pytest
from scipy import stats

import pairsig
from conftest import repetitions
from pairsig import InputError, compare_runs
from pairsig.comparisons.runs import made_of, render, sum_of_variances, variance_shares
from pairsig.stats.adjust import holm


def scores(rng, k, n, training=0.0, sampling=1.0, shift=0.0):
    """Scores of k runs of a system on n segments: a part of the segment, one of the run, and noise."""
    return rng.normal(size=(1, n)), shift + training * rng.normal(size=(k, 1)) + sampling * rng.normal(size=(k, n))


def two(seed, ka=4, kb=5, n=60, **how):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    return {
        "a": (shared + scores(rng, ka, n, **how)[1])[:, :, None],
        "b": (shared + scores(rng, kb, n, **how)[1])[:, :, None],
    }


def test_the_table_by_loops():
    data = two(1, training=0.3)
    (row,) = compare_runs(data).table.to_dict("records")
    a, b = data["a"][..., 0], data["b"][..., 0]
    n = a.shape[1]
    assert row["difference"] == pytest.approx(a.mean() - b.mean())
    d = a.mean(axis=0) - b.mean(axis=0)
    d = d - d.mean()
    segments = (d**2).sum() / n / (n - 1)
    variance, doubt = segments, 0.0
    kurtosis = n * (d**4).sum() / (d**2).sum() ** 2
    degrees = min(2 * n / (kurtosis - (n - 3) / (n - 1)), n - 1)
    doubt = segments**2 / degrees
    training, rest_of_both, rests = 0.0, 0.0, {}
    for name, runs in (("a", a), ("b", b)):
        k = len(runs)
        means = runs.mean(axis=1)
        total = means.var(ddof=1)
        apart = runs - runs.mean(axis=0)
        apart = apart - apart.mean(axis=1, keepdims=True)
        rest = (apart**2).sum() / (k - 1) / n**2 * n / (n - 1)
        rest_of_both += rest
        rests[name] = rest
        between = max(0.0, total - rest)
        training += between
        variance += between / k
        doubt += ((between + rest) / k) ** 2 / (k - 1)
    freedom = variance**2 / doubt
    assert row["standard_error"] == pytest.approx(math.sqrt(variance))
    assert row["pvalue"] == pytest.approx(2 * stats.t.sf(abs(row["difference"]) / math.sqrt(variance), freedom))
    assert row["pvalue_outputs"] == pytest.approx(2 * stats.t.sf(abs(row["difference"]) / math.sqrt(segments), degrees))
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((row["difference"] - reach, row["difference"] + reach))
    assert row["sd_training"] == pytest.approx(math.sqrt(training), abs=1e-12)
    assert row["sd_rest"] == pytest.approx(math.sqrt(rest_of_both))
    test_set = max(0.0, segments - sum(rests[name] / len(data[name]) for name in "ab"))
    assert row["sd_test_set"] == pytest.approx(math.sqrt(test_set), abs=1e-12)
    assert (row["n_runs_a"], row["n_runs_b"], row["n_segments"]) == (4, 5, n)
    parts = [test_set, training, rest_of_both]
    (named,) = compare_runs(data).table.itertuples(index=False)
    assert variance_shares(named) == [
        (source, pytest.approx(part / sum(parts)))
        for source, part in zip(["the test set", "training", "single segments"], parts, strict=True)
    ]
    sds = [f"{row[f'sd_training{end}']:.2g}" for end in ("", "_low", "_high")]
    assert f"(standard deviation {sds[0]}, 95 % CI {sds[1]} to {sds[2]})" in made_of(named)[0]
    # Graybill and Wang's interval of the sum of both variances between runs, less the rest.
    ends = [0.0, 0.0]
    for name in "ab":
        runs, nu = data[name][..., 0], len(data[name]) - 1
        total = runs.mean(axis=1).var(ddof=1)
        ends[0] += (total * (1 - nu / stats.chi2.ppf(0.975, nu))) ** 2
        ends[1] += (total * (nu / stats.chi2.ppf(0.025, nu) - 1)) ** 2
    sums = sum(data[name][..., 0].mean(axis=1).var(ddof=1) for name in "ab")
    low, high = sums - math.sqrt(ends[0]) - rest_of_both, sums + math.sqrt(ends[1]) - rest_of_both
    assert row["sd_training_low"] == pytest.approx(math.sqrt(max(0.0, low)), abs=1e-12)
    assert row["sd_training_high"] == pytest.approx(math.sqrt(high))


def test_pairs_and_a_baseline():
    rng = np.random.default_rng(2)
    data = {name: rng.random((3, 50, 1)) < share for name, share in (("x", 0.3), ("y", 0.5), ("z", 0.6))}
    rows = compare_runs(data).table
    assert list(zip(rows["system_a"], rows["system_b"], strict=True)) == [("x", "y"), ("x", "z"), ("y", "z")]
    assert rows["pvalue_holm"].tolist() == pytest.approx(holm(rows["pvalue"].to_numpy()).tolist())
    assert compare_runs(data, pairs="first").table["system_b"].tolist() == ["y", "z"]
    based = compare_runs(data, baseline="y").table
    assert based[["system_a", "system_b"]].to_numpy().tolist() == [["x", "y"], ["z", "y"]]
    assert based["difference"].tolist() == pytest.approx([rows["difference"][0], -rows["difference"][2]])
    text = render(rows, "table")
    assert "p (Holm)" in text.splitlines()[0]
    assert text.count("variance of a gain between single runs") == 3
    assert "p (Holm)" not in render(based[:1].assign(n_compared=1), "table")


def test_compare_uses_it_if_the_data_have_runs():
    data = two(3, shift=0.0)
    whole, row = pairsig.compare(data), compare_runs(data).table.iloc[0]
    assert (whole.pvalue, whole.difference) == (row["pvalue"], row["difference"])
    with pytest.raises(InputError, match="only one test knows of runs"):
        pairsig.compare(data, "bootstrap")


def test_lower_is_better():
    rng = np.random.default_rng(2)
    counts = {
        name: np.stack([rng.binomial(20, share, (3, 40)), np.full((3, 40), 20)], axis=2)
        for name, share in (("a", 0.2), ("b", 0.4))
    }
    (row,) = compare_runs(counts, metric="ter").table.to_dict("records")
    assert row["better"] == "a"
    assert row["ci_low"] < row["difference"] < row["ci_high"] < 0


def test_notes():
    few = compare_runs(two(1, ka=2, kb=2, n=20)).notes
    assert any(note.startswith("20 segments are too few") for note in few)
    assert any("a has 2 runs, too few to estimate the training variance" in note for note in few)
    assert any("a failure that befalls one run in ten" in note for note in few)
    many = compare_runs(two(1, ka=25, kb=25)).notes
    assert many == ()
    intervals = [compare_runs(two(1, ka=k, kb=k, training=2.0)).table["ci_low"].isna().item() for k in (2, 3)]
    assert intervals == [True, False]  # 1.4 and 2.4 degrees of freedom
    three = compare_runs(two(1, ka=3, kb=3)).notes
    assert not any("too few to estimate the training variance" in note for note in three)


@pytest.mark.parametrize("shift", [0.25, 0.0])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_systems_that_differ_by_the_same_on_every_segment(shift, noise):
    """Also by rounding errors alone: nothing shows how much the difference varies."""
    base = np.broadcast_to(noise * np.random.default_rng(1).random(60), (3, 60))[..., None]
    result = compare_runs({"a": base + shift, "b": base})
    (row,) = result.table.to_dict("records")
    assert (row["pvalue"], row["pvalue_outputs"], row["better"]) == (1.0, 1.0, "a" if shift else "")
    assert math.isnan(row["ci_low"])
    assert any("the difference is the same on every segment" in note for note in row["notes"])
    assert "variance of a gain" not in render(result.table, "table")


def test_runs_that_cannot_be_compared():
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="system a has one run, expected at least 2"):
        compare_runs({"a": rng.random((1, 9, 1)), "b": rng.random((2, 9, 1))})
    with pytest.raises(InputError, match="found runs of one system only, a"):
        compare_runs({"a": rng.random((3, 9, 1))})
    with pytest.raises(InputError, match="found a test set of one segment"):
        compare_runs({"a": rng.random((3, 1, 1)), "b": rng.random((3, 1, 1))})
    with pytest.raises(InputError, match="the confidence level is 95"):
        compare_runs(two(1), confidence_level=95)


@pytest.mark.parametrize("k", [3, 6])
def test_the_interval_of_a_sum_of_variances(k):
    """Graybill and Wang's interval of σ₁² + σ₂² contains it on 93 to 98 % of samples."""
    rng, times = np.random.default_rng(k), 4000
    samples = rng.normal(size=(times, 2, k)) * np.array([1.0, 2.0])[:, None]
    low, high = sum_of_variances(samples.var(axis=2, ddof=1), np.full((times, 2), k - 1.0), 0.025)
    assert 0.93 < np.mean((low <= 5) & (high >= 5)) < 0.98


@pytest.mark.parametrize(("training", "k"), [(0.0, 5), pytest.param(0.3, 3, marks=pytest.mark.slow)])
def test_error_rates(training, k):
    """Systems whose runs come from the same distribution differ with p < 0.05 about as often as 5 %."""
    times, outputs, over_runs = repetitions(300), 0, 0
    for seed in range(times):
        (row,) = compare_runs(two(1000 + seed, ka=k, kb=k, n=80, training=training)).table.to_dict("records")
        over_runs += row["pvalue"] < 0.05
        outputs += row["pvalue_outputs"] < 0.05
    assert stats.binom.sf(over_runs - 1, times, 0.07) > 0.001
    if training:
        assert outputs > 2 * over_runs
