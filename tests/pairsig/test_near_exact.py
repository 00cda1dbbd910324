"""Near-exact p-values of randomization against enumeration of all swaps, and against plain shuffles."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom, binomtest

import simulate
from pairsig import InputError, Metric, exact_test, randomization_test
from pairsig.core import totals
from pairsig.core.definitions import find
from pairsig.core.exceedances import Exceedances
from pairsig.core.scores import Scorer
from pairsig.core.totals import Resampling
from pairsig.metrics import registry
from pairsig.stats import near_exact
from pairsig.stats.near_exact import counted, estimates, log_tails
from pairsig.stats.paired import Pair
from pairsig.stats.sampling import by_draws

GEOMETRIC = Metric("geometric", ("x", "y"), lambda t: np.sqrt(np.abs(t[..., 0] * t[..., 1])), "√(Σx · Σy)", scale=None)
"""A user's metric of values that are no whole numbers."""
STEPS = Metric("steps", ("right", "of"), lambda t: np.floor(5 * t[..., 0] / np.maximum(t[..., 1], 1)), "grades")
"""A metric that is not smooth: its derivative is 0 or does not exist."""
METRICS = {"geometric": GEOMETRIC, "steps": STEPS}


def some_counts(metric, n, seed=1):
    """Counts of two systems on n segments."""
    rng = np.random.default_rng(seed)
    if metric in ("bleu", "f1"):
        return simulate.statistics(metric, n_systems=2, n_segments=n, spread=0.5, seed=seed).counts
    if metric == "ter":
        return np.stack([rng.integers(0, 9, (2, n)), np.tile(rng.integers(1, 9, n), (2, 1))], axis=2)
    if metric == "rouge1_f":
        return rng.random((2, n, 1))
    if metric == "geometric":
        return rng.random((2, n, 2)) * [1, 30]
    of = rng.integers(0, 9, (2, n, 1)) * np.ones((2, 1, 1), int)
    of[1] = of[0]
    return np.concatenate([rng.integers(0, of + 1), of], axis=2)


def pair_of(metric, counts):
    return Pair.of(*counts, METRICS.get(metric) or registry.metric(metric), None)


def enumerated(pair, alternative):
    """The p-value over all 2ⁿ swaps, the first of which swaps nothing."""
    swaps = np.array(list(product((0, 1), repeat=pair.units.shape[1])))
    a, b = pair.units.astype(float)
    better = a.sum(axis=0) + swaps @ (b - a), b.sum(axis=0) + swaps @ (a - b)
    scores = [pair.metric.score(np.round(totals_of, 9)) for totals_of in better]
    d = (scores[0] - scores[1]) * (1 if pair.metric.higher_is_better else -1)
    tie = 1e-9 * max(1, abs(d).max())
    if abs(d[0]) < tie and alternative == "two-sided":
        return 1.0
    if alternative == "two-sided":
        return (abs(d) >= abs(d[0]) - tie).mean()
    up = (alternative == "greater") == pair.metric.higher_is_better
    return (d >= d[0] - tie).mean() if up else (d <= d[0] + tie).mean()


def every_swap(patch):
    """Shuffle number i swaps the units of the ones in the binary number i: 2ⁿ shuffles are all there are."""

    def bits(_seed, first, n_rows, n_units, *, out):
        out[:] = (np.arange(first, first + n_rows)[:, None] >> np.arange(n_units)) & 1
        return out

    patch.setattr(totals.draws, "swaps", bits)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", ["different", "equal", "one large"])
def test_tails_of_the_linear_approximation_are_those_of_all_swaps(kind, n):
    rng = np.random.default_rng(n)
    weights = {"different": rng.normal(size=n), "equal": np.ones(n), "one large": np.r_[50.0, rng.random(n - 1)]}[kind]
    sums = np.array(list(product((1, -1), repeat=n))) @ weights
    noise = 0.001 * math.sqrt(weights @ weights)
    for border in np.abs(weights).sum() * np.array([0.02, 0.3, 0.7, 1.0]):
        borders = border + noise * np.array([-4, 0, 4])
        wanted = ndtr((sums - borders[:, None]) / noise).mean(axis=1)
        np.testing.assert_allclose(np.exp(log_tails(weights, noise, borders)), wanted, rtol=1e-7, atol=1e-15)


def test_far_tails_of_many_units_are_binomial():
    """Steps of ±1, split by a border between two sums: P(Bin(n, ½) >= k), down to 10⁻⁴¹."""
    for n, k in [(400, 230), (2000, 1300)]:
        (tail,) = np.exp(log_tails(np.ones(n), 0.02, np.array([2.0 * k - 1 - n])))
        assert tail == pytest.approx(binom.sf(k - 1, n, 0.5), rel=1e-8)


CASES = {
    "nothing": lambda c: c,
    "one large segment": lambda c: np.concatenate([c[:, :1] * 40, c[:, 1:]], axis=1),
    "segments on which they agree": lambda c: np.concatenate([c[:, :3], c[:1].repeat(2, axis=0)[:, 3:]], axis=1),
    "systems with equal totals": lambda c: np.stack([c[0], c[0][::-1]]),
}


@pytest.mark.parametrize("metric", ["bleu", "f1", "ter", "rouge1_f", "geometric", "steps"])
@pytest.mark.parametrize(("case", "n"), [(case, n) for case in CASES for n in ((1, 9) if case == "nothing" else (6,))])
def test_over_all_swaps_the_estimate_is_the_exact_p_value(monkeypatch, metric, n, case):
    """The mean of the estimate over draws is its value over all 2ⁿ swaps, so this is its lack of bias, for any n."""
    every_swap(monkeypatch)
    pair = pair_of(metric, CASES[case](some_counts(metric, n, seed=n)))
    for alternative in ("two-sided", "greater", "less"):
        test = find("randomization", alternative=alternative)
        favoured = pair.favours(test)
        found = counted(pair.scorer, pair.order, test, Resampling(2**n, 1, threads=1), favoured=favoured)
        if pair.difference == 0:
            continue
        share = (found.n_greater[0] + found.n_equal[0]) / 2**n
        assert share == pytest.approx(enumerated(pair, alternative)), alternative
        if np.isnan(found.linear[0]):
            continue
        both = found.linear[0] + (found.n_added[0] - found.n_removed[0]) / 2**n
        p = both if test.two_sided else both / 2 if favoured else 1 - both / 2
        assert p == pytest.approx(enumerated(pair, alternative), abs=2e-6), alternative


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_where_the_approximation_is_exact_no_shuffle_corrects_it(alternative):
    """Means of grades: δ is one of few values of L, and the border lies where no value is, beyond it or before it."""
    grades = np.random.default_rng(5).integers(1, 5, (2, 200))
    pair, test = Pair.of(*grades, "mean", None), find("randomization", alternative=alternative)
    favoured = pair.favours(test)
    found = counted(pair.scorer, pair.order, test, Resampling(2000, 1), favoured=favoured)
    assert max(found.n_added[0], found.n_removed[0]) < 0.1  # what little noise leaves
    p = found.linear[0] / (1 if test.two_sided else 2)
    wanted = exact_test(*grades, metric="mean", alternative=alternative).pvalue
    assert (p if favoured else 1 - p) == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize("metric", ["f1", "bleu"])
def test_shuffles_on_which_the_approximation_is_wrong_are_few(metric):
    """Otherwise the estimate would be right, but no better than a plain share: at most a tenth of its variance."""
    pair = Pair.of(*simulate.statistics(metric, n_systems=2, n_segments=400, spread=0.01, seed=5).counts, metric, None)
    found = counted(pair.scorer, pair.order, find("randomization"), Resampling(20_000, 1))
    share = (found.n_greater[0] + found.n_equal[0]) / 20_000
    assert 0.1 < share < 0.95
    assert (found.n_added[0] + found.n_removed[0]) / 20_000 < share * (1 - share) / 10


def test_where_no_shuffle_of_the_approximation_is_as_large_as_the_gain():
    """A is better on each of 30 segments, by a cube: the border is the largest value of L, of 2 swaps in 2³⁰."""
    cube = Metric("cube", ("x",), lambda t: t[..., 0] ** 3, "(Σx)³", scale=None)
    a = np.arange(30) % 3 + 2.0
    pair = Pair.of(a, a - 1, cube, None)
    found = counted(pair.scorer, pair.order, find("randomization"), Resampling(100, 1))
    assert 0.99 < found.linear[0] * 2**30 < 2.01


def test_with_a_wrong_slope_it_has_no_bias_either(monkeypatch):
    """Half of the shuffles have more words than the reference, half have fewer; no slope is right for both."""
    every_swap(monkeypatch)
    counts = some_counts("bleu", 10)
    counts[0, :, [0, 6, 7, 8, 9]] += 4
    counts[:, :, 1] = np.ceil(counts[:, :, 0].mean(axis=0))
    pair = pair_of("bleu", counts)
    test = find("randomization")
    for slope in (None, lambda t: np.ones_like(t), lambda t: np.random.default_rng(1).random(t.shape)):
        metric = Metric("kinked", pair.metric.columns, pair.metric.function, "BLEU", gradient=slope)
        other = Pair.of(*counts, metric, None)
        found = counted(other.scorer, other.order, test, Resampling(2**10, 1))
        p = found.linear[0] + (found.n_added[0] - found.n_removed[0]) / 2**10
        assert p == pytest.approx(enumerated(pair, "two-sided"), abs=2e-6)


def test_it_does_not_depend_on_batches_threads_or_parts(monkeypatch):
    data = simulate.statistics("bleu", n_systems=5, n_segments=60, spread=0.6)
    scorer = Scorer(data.of(registry.metric("bleu")), registry.metric("bleu"))
    pairs, test, resampling = scorer.better_first()[0], find("randomization"), Resampling(3000, 3, 1)
    whole, estimate = by_draws(scorer, pairs, test, resampling)
    assert {"near-exact", "bound"} <= set(estimate.estimator)
    names = ("n_greater", "n_equal", "linear", "n_added", "n_removed")
    for rows, threads in ((77, 2), (500, 3)):
        monkeypatch.setattr(totals, "_BATCH_ELEMENTS", 60 * rows)
        other, _ = by_draws(scorer, pairs, test, replace(resampling, threads=threads))
        assert all(np.array_equal(getattr(whole, name), getattr(other, name)) for name in names)
    parts = [counted(scorer, pairs, test, resampling.part(k, 3)) for k in (2, 1, 3)]
    for name in ("n_greater", "n_equal", "n_added", "n_removed"):
        assert np.array_equal(sum(getattr(part, name) for part in parts), getattr(whole, name))
    a, b = pairs[4]
    alone = randomization_test(*data.counts[[a, b]], metric="bleu", n_resamples=3000, rng=3)
    assert (alone.estimator, alone.pvalue) == (estimate.estimator[4], estimate.pvalue[4])
    assert alone.pvalue_low == estimate.low[4]


def test_the_interval_is_that_of_a_difference_of_two_shares():
    """MOVER with the intervals of Clopper and Pearson, written out; one-sided p is half of it."""
    few = np.array([[30], [5]])
    counts = Exceedances(1000, *few, *np.array([[0.02], [3.0], [9.0]]))
    (add_low, add_high), (less_low, less_high) = (binomtest(k, 1000).proportion_ci(0.95, "exact") for k in (3, 9))
    p = 0.02 + (3 - 9) / 1000
    low = p - math.hypot(0.003 - add_low, less_high - 0.009)
    high = p + math.hypot(add_high - 0.003, 0.009 - less_low)
    for alternative, sides in (("two-sided", 1), ("greater", 2)):
        found = estimates(counts, np.ones(1), find("randomization", alternative=alternative))
        assert found.estimator == ["near-exact"]
        assert (found.pvalue[0], found.low[0], found.high[0]) == pytest.approx((p / sides, low / sides, high / sides))
    # With more disagreement than a plain share has variance, p is the share.
    worse = Exceedances(1000, *few, *np.array([[0.02], [25.0], [31.0]]))
    found = estimates(worse, np.ones(1), find("randomization"))
    assert (found.estimator, found.pvalue[0]) == (["plain"], pytest.approx(36 / 1001))
    # Where the upper end is more than twice p, that end is reported.
    for linear, estimator in ((0.002, "bound"), (0.0045, "bound"), (0.0055, "near-exact")):
        found = estimates(
            Exceedances(1000, *few, *np.array([[linear], [1.0], [1.0]])), np.ones(1), find("randomization")
        )
        assert (found.estimator, found.pvalue[0] == found.high[0]) == ([estimator], estimator == "bound")
    one_sided = Exceedances(1000, *few, *np.array([[0.02], [45.0], [51.0]]))  # 0.096 / 4 < 0.036 · 0.964
    assert estimates(one_sided, np.ones(1), find("randomization", alternative="greater")).estimator != ["plain"]


def test_documents_are_swapped_as_a_whole():
    data = simulate.statistics("bleu", n_systems=2, n_segments=240, document_size=20, document_effect=0.5, seed=4)
    pair = Pair.of(*data.counts, "bleu", data.documents)
    result = randomization_test(*data.counts, metric="bleu", document=data.documents, n_resamples=20_000)
    assert pair.units.shape[1] == 12
    assert result.pvalue_low <= enumerated(pair, "two-sided") <= result.pvalue_high
    assert result.pvalue == exact_test(*data.counts, metric="bleu", document=data.documents).pvalue or (
        result.pvalue == pytest.approx(enumerated(pair, "two-sided"), abs=0.002)
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_p_value_that_shuffles_cannot_reach_is_a_bound(seed):
    """Down to 2·10⁻⁶, by all 2²⁰ swaps: 2,000 shuffles find none, and the result says that p is below its upper end."""
    counts = some_counts("bleu", 20, seed=2 * seed + 2).copy()
    counts[0, :, 2:6] = np.minimum(counts[0, :, 6:10], counts[0, :, 2:6] + 3)
    pair = pair_of("bleu", counts)
    a, b = pair.units.astype(float)
    swapped = np.zeros((1, 10))
    for difference in b - a:
        swapped = np.concatenate([swapped, swapped + difference])
    d = pair.metric.score(a.sum(axis=0) + swapped) - pair.metric.score(b.sum(axis=0) - swapped)
    p = (abs(d) >= abs(d[0]) - 1e-9).mean()
    result = randomization_test(*counts, metric="bleu", n_resamples=2000, rng=seed)
    if p < 1e-4:
        assert result.estimator == "bound"
        assert p <= result.pvalue == result.pvalue_high < 0.01
    else:
        assert result.pvalue_low <= p <= result.pvalue_high


def test_a_metric_that_is_not_smooth_gets_the_plain_estimate():
    result = randomization_test(*some_counts("steps", 60, seed=2), metric=STEPS, n_resamples=5000)
    assert result.estimator == "plain"
    assert result.pvalue == (result.n_greater + result.n_equal + 1) / 5001


def test_the_gradient_of_a_metric_is_used_and_checked():
    calls = []

    def slopes(totals_of):
        calls.append(totals_of.shape)
        return np.stack([np.full(len(totals_of), 1.0), np.zeros(len(totals_of))], axis=1)

    declared = Metric("first", ("x", "y"), lambda t: t[..., 0], "Σx", scale=None, gradient=slopes)
    a, b = np.random.default_rng(1).random((2, 30, 2))
    result = randomization_test(a, b, metric=declared, n_resamples=1000)
    assert calls
    assert result.estimator == "near-exact"
    wrong = Metric("first", ("x", "y"), lambda t: t[..., 0], "Σx", scale=None, gradient=lambda t: t[..., 0])
    with pytest.raises(InputError, match="the gradient of metric first has the shape"):
        randomization_test(a, b, metric=wrong, n_resamples=1000)


def test_where_it_has_the_larger_variance_the_plain_share_is_used():
    """The disagreement is compared with p (1 − p); both estimates come from the same counts."""
    counts = near_exact.Exceedances(
        1000, np.array([40, 40]), np.array([0, 0]), np.array([0.04, 0.04]),
        n_added=np.array([3.0, 60.0]), n_removed=np.array([2.0, 60.0]),
    )  # fmt: skip
    found = estimates(counts, np.ones(2), find("randomization"))
    assert found.estimator == ["near-exact", "plain"]
    assert found.pvalue == pytest.approx([0.041, 41 / 1001])
    one_sided = estimates(counts, np.ones(2), find("randomization", alternative="greater"))
    assert one_sided.pvalue[0] == pytest.approx(0.0205)
    rest = replace(counts, n_greater=np.array([980, 980]))
    other = estimates(rest, np.ones(2), find("randomization", alternative="less"), favoured=False)
    assert other.pvalue[0] == pytest.approx(1 - 0.0205)
    assert other.low[0] == pytest.approx(1 - one_sided.high[0])


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["bleu", "geometric"])
def test_over_ten_thousand_seeds_it_has_no_bias_and_its_interval_covers(monkeypatch, metric):
    n_seeds, b = 10_000, 300
    pair = pair_of(metric, some_counts(metric, 14, seed=2))
    test = find("randomization")
    found = near_exact._approximations(
        pair.scorer, pair.order, np.array([abs(pair.difference)]), strict=False, threads=1
    )
    monkeypatch.setattr(near_exact, "_approximations", lambda *_, **__: found)
    exact = enumerated(pair, "two-sided")
    results = []
    for seed in range(n_seeds):
        counts = counted(pair.scorer, pair.order, test, Resampling(b, seed, threads=1))
        of_seed = estimates(counts, np.array([abs(pair.difference)]), test)
        results.append((of_seed.pvalue[0], of_seed.low[0], of_seed.high[0]))
    p, low, high = np.array(results).T
    assert abs(p.mean() - exact) < 4.5 * p.std() / math.sqrt(n_seeds)
    assert ((low <= exact) & (exact <= high)).mean() >= 0.94
    assert p.var() < exact * (1 - exact) / b / 4
