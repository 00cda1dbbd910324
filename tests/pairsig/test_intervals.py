"""Intervals: their formulas by loops, other programs' values, and how often they hold a known truth."""

import math

import numpy as np
import pytest
from scipy import stats

import simulate
from conftest import repetitions
from pairsig import InputError, Metric, difference_interval, exact_test, score_interval
from pairsig.metrics import registry
from pairsig.stats.intervals import Intervals, of_scores

FAMILIES = ("accuracy", "f1", "bleu", "mean")


def by_loops(metric, a, b, level=0.95):
    """Student's interval from influence values, which are numerical derivatives here: the docstring's formulas."""

    def influence(counts):
        totals = counts.sum(axis=0)
        slope = [
            (metric.score(totals * (1 + h)) - metric.score(totals * (1 - h))) / (2 * 1e-4 * totals[c])
            for c in range(len(totals))
            for h in [1e-4 * (np.arange(len(totals)) == c)]
        ]
        return counts @ np.array(slope)

    d = influence(a) - influence(b)
    d = d - sum(d) / len(d)
    n = len(d)
    error = math.sqrt(n / (n - 1) * sum(x * x for x in d))
    kurtosis = n * sum(x**4 for x in d) / sum(x * x for x in d) ** 2
    degrees = min(2 * n / (kurtosis - (n - 3) / (n - 1)), n - 1)
    difference = float(metric.score(a.sum(axis=0)) - metric.score(b.sum(axis=0)))
    reach = stats.t.ppf((1 + level) / 2, degrees) * error
    return difference - reach, difference + reach, 2 * stats.t.sf(abs(difference) / error, degrees)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_students_by_loops(family, level):
    """For score(a) − score(b), whose ends change places with the systems."""
    metric = registry.metric(family)
    data = simulate.statistics(family, n_systems=2, n_segments=30, seed=4)
    a, b = data.counts
    full_a, full_b = data.of(metric).astype(float)
    for pair, full in (((a, b), (full_a, full_b)), ((b, a), (full_b, full_a))):
        interval = difference_interval(*pair, metric=metric, confidence_level=level)
        low, high, p = by_loops(metric, *full, level)
        assert (interval.low, interval.high, interval.pvalue) == pytest.approx((low, high, p), rel=1e-4)
        assert (interval.n_units, interval.unit, interval.passed_or_failed) == (30, "segment", False)
        assert interval.n_different == sum(list(one) != list(other) for one, other in zip(a, b, strict=True))


def test_that_of_a_mean_is_the_paired_t_interval():
    """With normal differences, whose kurtosis leaves nearly all degrees of freedom."""
    d = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    interval = difference_interval(d + 3, np.zeros(40))
    error = d.std(ddof=1) / math.sqrt(40)
    low, high = stats.t.interval(0.95, 39, 3, error)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-3)


def test_lower_is_better_changes_no_sign():
    errors = Metric("wer", ("errors", "words"), lambda t: 100 * t[..., 0] / t[..., 1], "…", higher_is_better=False)
    a, b = np.array([[3, 10], [1, 9], [4, 12]]), np.array([[1, 10], [0, 9], [3, 12]])
    interval = difference_interval(a, b, metric=errors)
    assert interval.low + interval.high == pytest.approx(2 * 100 * 4 / 31)
    assert (interval.low, interval.high) == pytest.approx(
        by_loops(errors, a.astype(float), b.astype(float))[:2], rel=1e-4
    )


@pytest.mark.parametrize("factor", [1e-200, 1e150])
def test_the_unit_of_the_score_does_not_matter(factor):
    difference = np.random.default_rng(2).normal(1, 3, 25)
    one, other = (difference_interval(f * difference, np.zeros(25)) for f in (1.0, factor))
    assert (other.low / factor, other.high / factor) == pytest.approx((one.low, one.high))


@pytest.mark.parametrize(("r", "s", "n"), [(0, 0, 10), (5, 2, 40), (0, 3, 12), (7, 0, 7), (40, 20, 5000)])
def test_that_of_items_is_bonett_and_prices(r, s, n):
    """By the formula, for 0 and 1, 0 and 100, accuracy, and error rates, whatever the number that differs."""
    a, b = (np.r_[[x] * r, [1 - x] * s, np.ones(n - r - s)].astype(int) for x in (1, 0))
    p, q = (r + 1) / (n + 2), (s + 1) / (n + 2)
    reach = stats.norm.ppf(0.975) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    low, high = max(-1, p - q - reach), min(1, p - q + reach)
    for factor, points, metric in ((1, 1, "mean"), (100, 100, "mean"), (1, 100, "rouge1_f")):
        interval = difference_interval(factor * a, factor * b, metric=metric)
        assert (interval.low, interval.high) == pytest.approx((points * low, points * high))
        assert interval.passed_or_failed
        assert interval.doubt == ""
    counts = (np.stack([x, np.ones_like(x)], axis=1) for x in (a, b))
    assert difference_interval(*counts, metric="accuracy").low == pytest.approx(100 * low)


def test_where_there_is_no_interval_or_a_doubt():
    one = difference_interval([0.5], [0.2])
    assert math.isnan(one.low)
    same = difference_interval([0.5, 0.25, 0.125] * 8, [0.25, 0.0, -0.125] * 8)
    assert math.isnan(same.high)
    assert "all 24 segments differ by the same amount" in same.doubt
    few = difference_interval([0.5, 0.2, 0.1] + [0.3] * 50, [0.2, 0.3, 0.5] + [0.3] * 50)
    assert "differ on 3 of 53 segments, too few (below 10) for a reliable 95 %" in few.doubt
    equal = difference_interval([0.3] * 5, [0.3] * 5)
    assert equal.doubt == "the systems differ on 0 of 5 segments, so there is no confidence interval of the gain"
    assert difference_interval(np.arange(20) / 7, np.arange(20)[::-1] / 9).doubt == ""


def test_three_segments_that_carry_more_than_half_of_a_gain_are_mentioned():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.1, (2, 60))
    noise[0, :3] += 5
    assert "three segments carry more than half of the gain" in difference_interval(*noise).doubt
    noise[0] += 1
    assert difference_interval(*noise).doubt == ""
    noise[0, :3] -= 200  # the other system is ahead by these
    assert "three segments" in difference_interval(*noise).doubt


def test_p_and_the_interval_may_disagree_and_say_so():
    """Four wins in twelve items without a loss: p = 0.125, but the interval excludes 0; and the reverse."""
    a, b = [1.0] * 4 + [0.5] * 8, [0.0] * 4 + [0.5] * 8
    interval, p = difference_interval(a, b), exact_test(a, b).pvalue
    assert p == 0.125
    assert interval.low > 0
    note = interval.disagrees(p)
    assert note.startswith("the 95 % interval excludes 0 although p is not below 0.05")
    assert f"p would be {interval.pvalue:.2g}" in note
    assert interval.disagrees(0.04) == ""
    wide = difference_interval([3.0, 2.5, 0.1, 0.2, 0.4] * 3, [0.0, 4.0, 0.0, 0.1, 0.1] * 3)
    assert wide.low < 0 < wide.high
    assert wide.disagrees(0.01).startswith("the 95 % interval contains 0 although p is below 0.05")
    assert wide.disagrees(0.05) == ""
    narrow = difference_interval([0.03, 0.025, 0.001, 0.002] * 3, [0.0, 0.04, 0.0, 0.001] * 3)
    assert narrow.low < 0 < narrow.high < 1
    assert narrow.disagrees(0.05) == ""


def test_many_pairs_have_the_intervals_of_each():
    for family in FAMILIES:
        metric = registry.metric(family)
        data = simulate.statistics(family, n_systems=4, n_segments=25, seed=2)
        together = Intervals(data.of(metric), metric, "segment")
        for a, b in ((0, 1), (3, 1), (2, 0)):
            alone = difference_interval(data.counts[a], data.counts[b], metric=metric)
            assert (together.of(a, b).low, together.of(a, b).high) == pytest.approx((alone.low, alone.high))
    # Two of three systems pass or fail every item: only they get the interval of items.
    scores = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [0.5, 0.25, 1, 0]])[:, :, None]
    counts = np.concatenate([scores, np.ones_like(scores)], axis=2)
    mixed = Intervals(counts, registry.metric("mean"), "segment")
    assert [mixed.of(*pair).passed_or_failed for pair in ((0, 1), (0, 2), (1, 2))] == [True, False, False]


def test_two_systems_of_items_beside_one_that_is_none():
    rng = np.random.default_rng(2)
    values = np.stack([rng.integers(0, 2, 40), rng.integers(0, 2, 40), rng.integers(0, 9, 40)])
    counts = np.stack([values, np.ones_like(values)], axis=2)
    many = Intervals(counts, registry.metric("mean"), "segment")
    for a, b in ((0, 1), (1, 0)):
        assert many.of(a, b) == difference_interval(values[a], values[b])
        assert many.of(a, b).passed_or_failed
    assert not many.of(0, 2).passed_or_failed


@pytest.mark.parametrize("n_different", [9, 10])
def test_fewer_than_ten_segments_that_differ_are_too_few(n_different):
    a = np.zeros(60)
    a[:n_different] = np.arange(n_different) + 2.5
    assert ("too few (below 10)" in difference_interval(a, np.zeros(60)).doubt) == (n_different < 10)


def test_bad_input():
    with pytest.raises(InputError, match=r"the confidence level is 1.5, expected a number between 0 and 1"):
        difference_interval([0.1, 0.3], [0.2, 0.2], confidence_level=1.5)
    root = Metric("root", ("x",), lambda t: np.sqrt(t[..., 0]), "√Σx", gradient=lambda t: 1 / t * np.inf)
    with pytest.raises(InputError, match=r"the influence of unit number \d of 2 on root is not a finite number"):
        difference_interval([1.0, 2.0], [2.0, 2.0], metric=root)


# Intervals of one score


def test_that_of_a_share_is_wilsons():
    for passed, n in ((0, 8), (3, 8), (8, 8), (900, 1000)):
        wanted = stats.binomtest(passed, n).proportion_ci(0.95, method="wilson")
        interval = score_interval([1] * passed + [0] * (n - passed))
        counts = np.stack([np.arange(n) < passed, np.ones(n)], axis=1).astype(int)
        assert score_interval(counts, metric="accuracy") == pytest.approx(tuple(100 * end for end in interval))
        assert (interval.low, interval.high) == pytest.approx(tuple(wanted), abs=1e-12)


def test_that_of_other_scores_is_students():
    values = np.random.default_rng(3).normal(2, 1, 30)
    interval = score_interval(values)
    reach = difference_interval(values, np.zeros(30))
    assert (interval.low, interval.high) == pytest.approx((reach.low, reach.high))
    assert math.isnan(score_interval([0.4]).low)
    assert math.isnan(score_interval([0.4, 0.4]).high)
    counts = simulate.statistics("bleu", n_systems=3, n_segments=20, seed=1)
    ends = of_scores(counts.counts, registry.metric("bleu"))
    assert ends[1] == pytest.approx((lambda i: (i.low, i.high))(score_interval(counts.counts[1], metric="bleu")))


def test_documents_are_the_units_if_they_are_given():
    data = simulate.statistics("f1", n_systems=2, n_segments=60, document_size=5, seed=2)
    sums = data.counts.reshape(2, 12, 5, -1).sum(axis=2)
    one = difference_interval(*data.counts, metric="f1", document=data.documents)
    other = difference_interval(*sums, metric="f1")
    assert (one.low, one.high, one.n_units, one.unit) == (other.low, other.high, 12, "document")


# Coverage


def normal(rng, n):
    return rng.normal(size=(2, n, 1)), "mean", 0.0


def skewed(rng, n):
    return rng.exponential(size=(2, n, 1)) * np.array([1, 1])[:, None, None], "mean", 0.0


def f1(rng, n):
    data = simulate.statistics("f1", n_systems=2, n_segments=n, spread=0.0, seed=int(rng.integers(2**31)))
    return data.counts, "f1", 0.0


COVERAGE = {normal: {20: (0.93, 0.965), 100: (0.935, 0.965)}, skewed: {20: (0.925, 0.975), 100: (0.93, 0.97)},
            f1: {20: (0.91, 0.97), 100: (0.92, 0.97)}}  # fmt: skip
"""Shares of test sets whose interval contains the truth, by world and number of segments: docs/coverage.md."""


@pytest.mark.slow
@pytest.mark.parametrize("world", COVERAGE, ids=lambda world: world.__name__)
@pytest.mark.parametrize("n", [20, 100])
def test_coverage(world, n):
    rng, times, inside = np.random.default_rng([5, n]), repetitions(2000), 0
    for _ in range(times):
        counts, metric, truth = world(rng, n)
        interval = difference_interval(*counts, metric=metric)
        inside += interval.low <= truth <= interval.high
    low, high = COVERAGE[world][n]
    assert stats.binom.cdf(inside, times, low) > 0.001
    assert stats.binom.sf(inside - 1, times, high) > 0.001
