"""The interval of the gain: its formulas by loops, other programs' values, and how often it holds a known truth."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import pairsig
import simulate
from pairsig import InputError, Metric, Ratio, difference_interval, exact_test, margin_test
from pairsig.core import statistics
from pairsig.metrics import registry
from pairsig.metrics.counts import average
from pairsig.stats import intervals
from simulate import items


def quality(metric, totals):
    return metric.score(totals) * (1 if metric.higher_is_better else -1)


def jackknife(metric, a, b):
    """By how much A is better, the standard error and its degrees of freedom: the docstring's formulas, by loops."""

    def gain(kept):
        return float(quality(metric, a[kept].sum(axis=0)) - quality(metric, b[kept].sum(axis=0)))

    n = len(a)
    without = [gain(np.arange(n) != unit) for unit in range(n)]
    influence = [(n - 1) * (sum(without) / n - one) for one in without]
    second, fourth = sum(u**2 for u in influence) / n, sum(u**4 for u in influence) / n
    degrees = min(2 * n / (fourth / second**2 - (n - 3) / (n - 1)), n - 1)
    return gain(slice(None)), math.sqrt(second / (n - 1)), degrees


def by_loops(metric, a, b, level=0.95):
    gain, error, degrees = jackknife(metric, a, b)
    reach = stats.t.ppf((1 + level) / 2, degrees) * error
    return gain - reach, gain + reach


@pytest.mark.parametrize(("family", "level"), [("accuracy", 0.8), ("f1", 0.95), ("bleu", 0.95), ("mean", 0.8)])
def test_studentized_by_loops(family, level):
    """The interval of the first system's gain over the second, whose ends change places with the systems."""
    metric = registry.metric(family)
    data = simulate.statistics(family, n_systems=2, n_segments=14, seed=4)
    a, b = data.counts
    full_a, full_b = data.of(metric).astype(float)
    for pair, full in (((a, b), (full_a, full_b)), ((b, a), (full_b, full_a))):
        interval = difference_interval(*pair, metric=metric, confidence_level=level)
        assert (interval.low, interval.high) == pytest.approx(by_loops(metric, *full, level), rel=1e-9)
        assert (interval.n_units, interval.unit) == (14, "segment")
        assert interval.n_different == sum(list(one) != list(other) for one, other in zip(a, b, strict=True))


def test_lower_is_better():
    errors = Metric("wer", ("errors", "words"), lambda t: 100 * t[..., 0] / t[..., 1], "…", higher_is_better=False)
    a, b = np.array([[3, 10], [1, 9], [4, 12]]), np.array([[1, 10], [0, 9], [3, 12]])
    interval = difference_interval(a, b, metric=errors)
    assert (interval.low, interval.high) == pytest.approx(by_loops(errors, b, a))
    assert interval.low + interval.high == pytest.approx(2 * 100 * 4 / 31)


@pytest.mark.parametrize("factor", [1e-200, 1e150])
def test_the_unit_of_the_score_does_not_matter(factor):
    difference = np.random.default_rng(2).normal(1, 3, 25)
    one, other = (difference_interval(f * difference, np.zeros(25), metric="mean") for f in (1.0, factor))
    assert (other.low, other.high) == pytest.approx((factor * one.low, factor * one.high), rel=1e-9)


OWN = Metric("own", ("matched", "total"), Ratio((0,), (1,)), "100 · Σ matched / Σ total")


def test_passed_or_failed_as_another_program_prints_it():
    """contingencytables 3.1 (R), Wald_CI_BonettPrice_paired_2x2(cavo_2012): -0.0621 (95% CI -0.1195 to -0.0032)."""
    a, b = items(6, 16, 161)
    ones = np.ones_like(a)
    for scale, counts, metric in (
        (100, (np.stack([a, ones], 1), np.stack([b, ones], 1)), "accuracy"),
        (1, (a, b), "mean"),
        (100, (100.0 * a, 100.0 * b), "mean"),
        (1, (a.astype(bool), b.astype(bool)), "mean"),
        (100, (np.stack([a, ones], 1), np.stack([b, ones], 1)), OWN),
        (100, (a, b), average("passed", factor=100.0)),
    ):
        for pair in (counts, counts[::-1]):
            interval = difference_interval(*pair, metric=metric)
            assert interval.passed_or_failed
            ends = (-0.1195, -0.0032) if pair is counts else (0.0032, 0.1195)
            assert (interval.low / scale, interval.high / scale) == pytest.approx(ends, abs=5e-5)


def test_what_is_not_passed_or_failed():
    ones = np.ones(12, dtype=int)
    mixed = np.arange(12) % 2
    for values, metric in (
        ((0.5 * mixed, 0 * mixed), "mean"),
        ((mixed - 1, -mixed), "mean"),
        ((np.stack([mixed, 2 * ones], 1), np.stack([ones, 2 * ones], 1)), "accuracy"),
        ((np.stack([mixed, ones, ones], 1), np.stack([ones, ones, ones], 1)), "f1"),
    ):
        assert not difference_interval(*values, metric=metric).passed_or_failed
    # Two segments each: a document is not passed or failed.
    assert not difference_interval(mixed, ones, metric="mean", document=np.arange(12) // 2).passed_or_failed


def test_passed_or_failed_without_a_difference():
    """All 20 passed by both: a difference of 100·1.96·√(2·22)/22² is not excluded."""
    interval = difference_interval(np.ones(20), np.ones(20), metric="mean")
    reach = stats.norm.ppf(0.975) * math.sqrt(2 / 22 / 22)
    assert (interval.low, interval.high) == pytest.approx((-reach, reach))
    assert interval.doubt == ""


def test_documents_are_the_units():
    a, b = simulate.statistics("f1", n_systems=2, n_segments=60, seed=8).counts
    documents = np.arange(60) // 4
    summed = [counts.reshape(15, 4, 3).sum(axis=1) for counts in (a, b)]
    one, other = difference_interval(a, b, metric="f1", document=documents), difference_interval(*summed, metric="f1")
    assert (one.low, one.high, one.n_units) == (other.low, other.high, 15)
    assert (one.unit, other.unit) == ("document", "segment")


def test_where_there_is_no_interval_or_a_doubt():
    a, b = simulate.statistics("f1", n_systems=2, n_segments=50, seed=1).counts
    assert difference_interval(a, b, metric="f1").doubt == ""
    few = difference_interval(np.concatenate([a[:3], b[3:]]), b, metric="f1", confidence_level=0.9)
    assert few.doubt == (
        "the systems differ on 3 of 50 segments, too few (below 10) for a reliable 90 % confidence interval of the gain"
    )
    assert few.low < few.high
    for none, on in (
        (difference_interval(a, a, metric="f1"), "0 of 50"),
        (difference_interval(a[:1], b[:1], metric="f1"), "1 of 1"),
    ):
        assert math.isnan(none.low)
        assert math.isnan(none.high)
        assert none.doubt == f"the systems differ on {on} segments, so there is no confidence interval of the gain"


def test_bad_input():
    ratio = Metric("mine", ("errors", "words"), lambda t: t[..., 0] / t[..., 1], "…")
    a, b = np.array([[0, 0], [1, 5], [0, 0]]), np.array([[0, 0], [2, 5], [0, 0]])
    with pytest.raises(InputError, match=r"mine without unit number 2 of 3 is not a finite number"):
        difference_interval(a, b, metric=ratio)
    with pytest.raises(InputError, match=r"mine without unit number 2 of 2 is not a finite number"):
        difference_interval(a, b, metric=ratio, document=["x", "y", "x"])
    with pytest.raises(InputError, match=r"mean without unit number \d of 3 is not a finite number"):
        difference_interval([1e308] * 3, [0.0, 1.0, 2.0], metric="mean")
    for level in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match=f"the confidence level is {level}, expected a number between 0 and 1"):
            difference_interval([1, 2], [2, 2], metric="mean", confidence_level=level)


P_VALUES = (1.0, 0.99, 0.5, 0.2, 0.0500001, 0.05, math.nextafter(0.05, 0), 0.01, 1e-9, 0.0)


@pytest.mark.parametrize("pvalue", P_VALUES)
@pytest.mark.parametrize(("low", "high"), [(0.1, 1.9), (-0.1, 2.1), (0.9, 1.1), (1.0, 1.0), (-50.0, 52.0), (0.0, 2.0)])
def test_an_interval_that_agrees_with_p(pvalue, low, high):
    """0 is outside exactly if p < α, the difference is inside, the far end stays, and the sign does not matter."""
    plain = replace(difference_interval([1, 0], [0, 0]), low=low, high=high)
    own = intervals.agreeing(plain, 1.0, pvalue)
    assert (own.low > 0) == (pvalue < 0.05)
    assert own.low <= 1 <= own.high == high
    assert own.low >= min(low, -high)
    turned = intervals.agreeing(plain.turned, -1.0, pvalue)
    assert (turned.low, turned.high) == (-own.high, -own.low)
    if (low > 0) == (pvalue < 0.05):
        assert own == plain
    elif 0.1 < pvalue < 0.9 or pvalue == 0.01:
        z = [stats.norm.isf(p / 2) for p in (0.05, pvalue)]
        assert own.low == pytest.approx(max(1 - z[0] / z[1], -high))


def test_the_interval_of_a_result_agrees_with_its_p_at_every_level():
    """Five wins in five: p = 0.0625 is below 0.1 and above 0.05; one-sided tests leave the interval as it is."""
    a, b = np.repeat([1, 0, 1], [5, 0, 15]), np.repeat([0, 1, 1], [5, 0, 15])
    found = exact_test(a, b)
    assert found.pvalue == 0.0625
    for level, excludes in ((0.8, True), (0.9, True), (0.95, False), (0.99, False)):
        low, high = found.confidence_interval(level)
        assert (low > 0) == excludes
        assert low < found.statistic < high
    alone = difference_interval(a, b)
    assert exact_test(a, b, alternative="greater").confidence_interval() == (alone.low, alone.high)
    same = exact_test(a, a).confidence_interval()
    assert same.low < 0 < same.high


# How often the interval holds the truth. Populations are finite, so that the truth is known: test sets are drawn from
# them with replacement. Each is a metric and counts (2 systems, units, columns).

POPULATION = 100_000


def differences(draw):
    values = draw(np.random.default_rng(7), POPULATION)
    ones = np.ones(POPULATION)
    return "mean", np.stack([np.stack([values, ones], 1), np.stack([0 * values, ones], 1)])


def simulated(family, **options):
    data = simulate.statistics(family, n_systems=2, n_segments=POPULATION, seed=3, **options)
    return family, data.of(registry.metric(family)).astype(float)


def heavy(share=1.0):
    """F1 on sentences whose lengths are lognormal; the systems differ on a share of them."""
    rng = np.random.default_rng(5)
    length = np.maximum(1, np.rint(rng.lognormal(2.8, 1.0, POPULATION))).astype(int)
    logit = rng.normal(0, 1, POPULATION) + np.array([[1.1], [1.0]]) + 0.5 * rng.normal(0, 1, (2, POPULATION))
    matched = rng.binomial(length, 1 / (1 + np.exp(-logit)))
    predicted = np.maximum(matched, length + rng.integers(-2, 3, (2, POPULATION)))
    counts = np.stack([matched, predicted, np.broadcast_to(length, matched.shape)], axis=2).astype(float)
    same = rng.random(POPULATION) >= share
    counts[1, same] = counts[0, same]
    return "f1", counts


def documents():
    family, counts = simulated("accuracy", document_size=5, document_effect=1.0)
    return family, counts.reshape(2, POPULATION // 5, 5, -1).sum(axis=2)


def outcomes(only_a, only_b):
    uniform = np.random.default_rng(9).random(POPULATION)
    a = (uniform < only_a) | (uniform > 0.6)
    b = ((uniform >= only_a) & (uniform < only_a + only_b)) | (uniform > 0.6)
    return "accuracy", np.stack([np.stack([one, np.ones(POPULATION)], 1) for one in (a, b)])


POPULATIONS = {
    "normal": lambda: differences(lambda rng, n: rng.normal(0.1, 0.3, n)),
    "counts": lambda: differences(lambda rng, n: rng.poisson(3.2, n) - rng.poisson(3.0, n)),
    "exponential": lambda: differences(lambda rng, n: rng.exponential(1, n)),
    "heavy": heavy,
    "bleu": lambda: simulated("bleu"),
    "documents": documents,
}
POPULATIONS = {name: functools.cache(population) for name, population in POPULATIONS.items()}


def coverage(metric, population, n, times, seed=1, *, level=0.95):
    """Share of `times` test sets of n units whose interval holds the true gain."""
    chosen = registry.metric(metric)
    rng = np.random.default_rng(seed)
    truth = np.subtract(*(quality(chosen, totals) for totals in population.sum(axis=1)))
    covered = done = 0
    while done < times:
        size = min(times - done, max(1, 400_000 // n))
        units = population[:, rng.integers(0, population.shape[1], (size, n))].swapaxes(0, 1)
        low, high = intervals.studentized(units, chosen, level)
        covered += int(((low <= truth) & (truth <= high)).sum())
        done += size
    return covered / times


LOWEST = {10: 0.93, 20: 0.935, 50: 0.94, 100: 0.94, 500: 0.94}
LOWEST_SKEWED = {10: 0.90, 20: 0.92, 50: 0.935, 100: 0.94, 500: 0.94}


def check(name, n, times):
    covered = coverage(*POPULATIONS[name](), n, times)
    error = 3.5 * math.sqrt(0.95 * 0.05 / times)
    lowest = (LOWEST_SKEWED if name == "exponential" else LOWEST)[n]
    assert lowest - error < covered < 0.965 + error


@pytest.mark.parametrize("name", ["normal", "heavy", "exponential"])
def test_coverage(name):
    check(name, 10, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("n", LOWEST)
def test_coverage_of_the_truth(name, n):
    check(name, n, 10_000 if n < 500 else 4000)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_coverage_at_other_levels(level):
    covered = coverage(*POPULATIONS["bleu"](), 30, 10_000, level=level)
    assert covered == pytest.approx(level, abs=0.012)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "metric", "better", "other", "unit"),
    [
        ("wmt22-en-cs", "bleu", 2, 5, "segment"),
        ("wmt22-ja-en", "bleu", 2, 5, "document"),
        ("ewt-test", "accuracy", 0, 5, "segment"),
        ("craft-test", "f1", 0, 4, "segment"),
        ("hansards", "aer", 1, 4, "segment"),
        ("realsumm", "rouge1_recall", 2, 6, "segment"),
    ],
)
def test_coverage_on_the_counts_of_real_systems(dataset, metric, better, other, unit):
    """Test sets are drawn from the embedded statistics of two systems, whose gain on all of them is the truth."""
    data = statistics.read(f"resources/statistics/{dataset}.parquet")
    chosen = registry.metric(metric)
    counts = data.of(chosen)
    if unit == "document":
        counts = statistics.by_document(data.documents, counts)
    counts = counts.astype(float)
    order = np.argsort([-quality(chosen, totals) for totals in counts.sum(axis=1)])
    pair = counts[[order[better], order[other]]]
    for n, lowest in ((10, 0.915), (20, 0.925), (50, 0.94), (100, 0.94)):
        assert lowest - 0.008 < coverage(metric, pair, n, 10_000) < 0.975


def test_few_differences_are_what_the_doubt_is_about():
    """Where 2 of 40 segments differ on average the interval often misses; where 20 do, it holds."""
    assert coverage(*heavy(0.05), 40, 2000) < 0.87
    assert coverage(*heavy(0.5), 40, 2000) > 0.94


@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_coverage_for_pass_fail_items_however_few_differ(n):
    """In closed form: the interval of every table (only A, only B), weighted by its multinomial probability."""
    tables = np.array([(r, s, n - r - s) for r in range(n + 1) for s in range(n + 1 - r)])
    ends = np.full((len(tables), 2), [-0.5, 0.5])
    for row, (r, s, _) in enumerate(tables):
        if r + s:
            interval = difference_interval(*items(r, s, n), metric="mean")
            ends[row] = interval.low, interval.high
    for only_a, only_b in ((0.3, 0.2), (0.2, 0.2), (0.05, 0.01), (0.02, 0.02), (0.5, 0.05)):
        chances = stats.multinomial.pmf(tables, n, [only_a, only_b, 1 - only_a - only_b])
        gain = only_a - only_b
        assert chances[(ends[:, 0] <= gain) & (gain <= ends[:, 1])].sum() > 0.935


def test_a_result_of_one_pair_is_what_many_are():
    """The coverage above is that of `difference_interval` itself: the leading axes change nothing."""
    metric, population = heavy()
    chosen = registry.metric(metric)
    units = population[:, :60].reshape(2, 3, 20, 3).swapaxes(0, 1)
    low, high = intervals.studentized(units, chosen, 0.95)
    for place in range(3):
        alone = difference_interval(*units[place], metric=replace(chosen, at_most=()))
        assert (alone.low, alone.high) == pytest.approx((low[place], high[place]))


def test_equal_differences_have_no_interval_whatever_their_last_digits():
    """0.2, 0.3, 0.4 differ from 0.1, 0.2, 0.3 by 0.1 each, up to rounding: three units do not show that this is all."""
    for a, b in (([2, 3, 4], [1, 2, 3]), ([0.2, 0.3, 0.4], [0.1, 0.2, 0.3]), ([1 / 3, 5 / 3], [1 / 7, 31 / 21])):
        found = difference_interval(a, b, metric="mean")
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert "differ by the same amount" in found.doubt
        assert margin_test(a, b, 5 * (a[0] - b[0]), metric="mean").pvalue == 1
    assert not math.isnan(difference_interval([0.2, 0.3, 0.4], [0.1, 0.2, 0.3 + 1e-9], metric="mean").low)


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_intervals_of_many_pairs_are_those_of_each_pair(lower_is_better):
    """Of pass/fail items, and of the same items with a third system whose scores are shares."""
    rng = np.random.default_rng(5)
    outcomes = {name: (rng.random(40) < share).astype(int) for name, share in (("a", 0.2), ("b", 0.6), ("c", 0.7))}
    metric = replace(registry.metric("mean"), higher_is_better=not lower_is_better)
    for systems in (outcomes, outcomes | {"d": rng.random(40)}):
        table = pairsig.compare(systems, metric=metric).table
        for row in table.itertuples():
            a, b = systems[row.system_a], systems[row.system_b]
            alone = difference_interval(a, b, metric=metric)
            expected = intervals.agreeing(alone, float(np.mean(a) - np.mean(b)), row.pvalue)
            assert (row.ci_low, row.ci_high) == pytest.approx((expected.low, expected.high), abs=1e-12)
            if row.system_b != "d":
                better = (a < b) if lower_is_better else (a > b)
                worse = (a > b) if lower_is_better else (a < b)
                assert (row.only_a, row.only_b) == (better.sum(), worse.sum())
            else:
                assert math.isnan(row.only_a)
