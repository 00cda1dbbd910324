"""Exact tests of scores that are no whole steps, such as COMET's: enumeration, closed forms, whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest

import pairsig
from pairsig import exact_test, randomization_test
from pairsig.comparisons.baseline import compare_with_one
from pairsig.core.definitions import find
from pairsig.core.engine import Resampling
from pairsig.core.statistics import Statistics
from pairsig.metrics.registry import METRICS
from pairsig.stats import exact
from pairsig.stats.exact.signed_sums import common_step, log_bounds, log_tails
from pairsig.stats.paired import Pair


def all_swaps(a, b, alternative):
    """P-value over all 2ⁿ swaps in rational numbers; sums within the last digits of the scores tie."""
    first, second = ([Fraction(score) for score in scores.tolist()] for scores in (a, b))
    tie = Fraction(2) ** -49 * sum(abs(score) for score in first + second)
    sums = [Fraction(0)]
    for x, y in zip(first, second, strict=True):
        sums = [total + sign * (x - y) for total in sums for sign in (1, -1)]
    observed = sum(first) - sum(second)
    extreme = {
        "two-sided": lambda total: abs(total) >= abs(observed) - tie,
        "observed": lambda total: total >= abs(observed) - tie,
        "greater": lambda total: total >= observed - tie,
        "less": lambda total: total <= observed + tie,
    }[alternative]
    return sum(map(extreme, sums)) / len(sums)


def scores(kind, n, rng):
    a, b = rng.random((2, n))
    sizes = 10.0 ** rng.integers(-300, 300, (2, n))
    return {
        "floats": (a, b),
        "thirds": tuple(rng.integers(0, 4, (2, n)) / 3),
        "huge spread": (a * sizes[0], b * sizes[1]),
        "tiny": (a * 1e-300, b * 1e-300),
        "equal sizes": (a, a + rng.choice([-1, 1], n) * math.pi / 10),
        "near ties": (np.round(a, 1) + 1e-9 * rng.integers(-1, 2, n) / 3, np.round(b, 1)),
        "same but for one": (a, np.where(np.arange(n) == 0, b, a)),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["floats", "thirds", "huge spread", "tiny", "equal sizes", "near ties", "same but for one"]
)
@pytest.mark.parametrize("n", [1, 2, 9])
def test_enumeration(kind, n):
    a, b = scores(kind, n, np.random.default_rng(n))
    for alternative in ("two-sided", "greater", "less", "observed"):
        result = exact_test(a, b, alternative=alternative)
        if result.better is None and alternative in ("two-sided", "observed"):
            assert result.pvalue == 1.0  # by definition
            continue
        assert result.pvalue == pytest.approx(all_swaps(a, b, alternative), rel=1e-12), alternative
        assert result.error_bound < 1e-12


@pytest.mark.parametrize("n", [1, 30, 200])
def test_wins_on_all_segments(n):
    """Only the observed choice of swaps and its opposite are as extreme."""
    b = np.random.default_rng(n).random(n)
    result = exact_test(b + np.pi * np.arange(1, n + 1), b)
    assert result.log10_pvalue == pytest.approx((1 - n) * math.log10(2))
    less = exact_test(b + np.pi * np.arange(1, n + 1), b, alternative="less")
    assert less.pvalue == 1.0


@pytest.mark.parametrize(
    ("n", "gain"), [(45, 0.0), (45, 3.0), (45, 7.0), pytest.param(70, 3.0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("shape", ["normal", "exponential", "one large", "heavy"])
def test_bounds_contain_the_tail_of_whole_numbers(n, gain, shape):
    """Whole numbers up to some thousand have a distribution that is known exactly."""
    rng = np.random.default_rng(n)
    sizes = {
        "normal": rng.normal(0, 300, n),
        "exponential": rng.exponential(200, n) * rng.choice([-1, 1], n),
        "one large": np.append(rng.normal(0, 20, n - 1), 5000),
        "heavy": np.clip(rng.standard_cauchy(n) * 20, -5000, 5000),
    }[shape]
    a = np.rint(sizes + gain * np.sqrt(np.square(sizes).mean() / n)).astype(int)
    result = exact_test(a, np.zeros(n, dtype=int), alternative="observed")
    low, high = np.exp(log_bounds(a.astype(float), abs(a.sum()) - 0.5))
    assert low * (1 - 1e-9) <= result.pvalue <= high * (1 + 1e-9)
    # These sums are at least 2 apart, and more if they have few large parts: nothing is nearer than their own mass.
    assert high - low <= 0.01 * result.pvalue + result.p_equal


def test_bounds_of_a_median():
    """The sum is symmetric, and continuous for all that matters."""
    weights = np.sqrt(np.arange(1, 101))
    low, high = np.exp(log_bounds(weights, 0.0))
    assert low <= 0.5 <= high < low + 0.001
    for border in (3.0, 30.0):
        below = np.exp(log_bounds(weights, -border))
        np.testing.assert_allclose(1 - below, np.exp(log_bounds(weights, border))[::-1], atol=0.001)


def test_rough_tails_are_as_accurate_as_they_say():
    weights = np.random.default_rng(1).lognormal(0, 1, 80)
    borders = np.sqrt(np.square(weights).sum()) * np.array([1.9, 2.0, 2.1])
    for noise in (0.5, 0.01):
        fine, rough = log_tails(weights, noise, borders), log_tails(weights, noise, borders, 13.0)
        np.testing.assert_allclose(rough, fine, atol=10 * math.exp(-13))


def test_many_segments_agree_with_shuffles():
    n, rng = 1000, np.random.default_rng(1000)
    a = rng.random(n)
    b = a + rng.normal(0.2 / math.sqrt(n), 0.1, n)
    result, shuffled = exact_test(a, b), randomization_test(a, b, estimator="plain", n_resamples=200_000)
    assert shuffled.pvalue_low <= result.pvalue <= shuffled.pvalue_high
    assert 1e-6 < result.error_bound < 1.5e-3
    assert f"p is exact to ±{result.pvalue * result.error_bound:.2g}" in result.doubt
    both = [exact_test(a, b, alternative=direction).pvalue for direction in ("greater", "less")]
    assert sum(both) == pytest.approx(1, abs=1e-3)
    assert 2 * min(both) == pytest.approx(result.pvalue, rel=2e-3)


def test_scores_in_thirds_are_whole_numbers():
    """Three judges: many sums tie, which last digits must not decide."""
    a, b = np.random.default_rng(3).integers(0, 4, (2, 300))
    expected = exact_test(a, b)
    for unit in (3, 0.03, 7):
        result = exact_test(a / unit, b / unit)
        assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
        assert result.p_equal == pytest.approx(expected.p_equal, rel=1e-9)


def test_common_step():
    rounding = np.full(4, 1e-16)
    assert common_step(np.array([1 / 3, -2 / 3, 1.0, 0.0]), rounding) == pytest.approx(1 / 3, rel=1e-15)
    assert common_step(np.array([1.0, math.sqrt(2), 1.0, 1.0]), rounding) is None
    assert common_step(np.array([1.0, 1e-13, 0.5, 0.0]), rounding) is None  # too near to rounding errors


def test_documents_and_percentages():
    rng = np.random.default_rng(8)
    a, b = rng.random((2, 60))
    documents = np.arange(60) // 6
    result = exact_test(a, b, document=documents)
    sums = [scores.reshape(10, 6).sum(axis=1) for scores in (a, b)]
    assert result.pvalue == pytest.approx(all_swaps(*sums, "two-sided"), rel=1e-12)
    assert exact_test(a[:11], b[:11], metric="rouge1_f").pvalue == pytest.approx(
        all_swaps(a[:11], b[:11], "two-sided"), rel=1e-12
    )


def test_all_pairs_are_the_same_as_two_systems():
    rng = np.random.default_rng(9)
    systems = {name: rng.random(80) for name in "abc"}
    rows = pairsig.compare(systems).to_frame()
    assert set(rows["test"]) == {"exact"}
    for a, b, p in rows[["system_a", "system_b", "pvalue"]].itertuples(index=False):
        assert p == exact_test(systems[a], systems[b]).pvalue


def test_a_p_value_that_is_too_rough_is_drawn_instead(monkeypatch):
    monkeypatch.setattr("pairsig.stats.exact.pairs.MOST_ERROR", 1e-9)
    rng = np.random.default_rng(9)
    rows = pairsig.compare({name: rng.random(80) for name in "ab"}, n_resamples=100).to_frame()
    assert rows["test"].tolist() == ["randomization"]


def test_the_table_prints_how_exact_p_is():
    rng = np.random.default_rng(10)
    counts = {name: np.stack([rng.random(100), np.ones(100)], axis=1) for name in "ab"}
    metric = METRICS["mean"]
    statistics = Statistics.from_arrays({name: values[:, 0] for name, values in counts.items()}, metric.columns)
    (row,), _ = compare_with_one(statistics, [metric], resampling=Resampling(1000))
    result = exact.permuted(Pair(metric, np.stack(list(counts.values())), None), find("exact"))
    assert (row["test"], row["pvalue"], row["error_bound"]) == ("exact", result.pvalue, result.error_bound)
    assert row["pvalue_high"] - row["pvalue_low"] == pytest.approx(2 * result.pvalue * result.error_bound)
    assert result.doubt in row["notes"]
