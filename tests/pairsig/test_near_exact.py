"""Near-exact p-values of randomization against enumeration of all swaps, and against plain shuffles."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2

import simulate
from pairsig import InputError, Metric, randomization_test
from pairsig.comparisons import all_pairs, pair_tables
from pairsig.core import definitions, engine, statistics
from pairsig.core.definitions import find
from pairsig.core.engine import Resampling
from pairsig.metrics import registry
from pairsig.stats import near_exact
from pairsig.stats.exact.signed_sums import log_tails
from pairsig.stats.near_exact import counted, estimates
from pairsig.stats.paired import Pair

STATISTICS = Path(__file__).parents[2] / "resources" / "statistics"

GEOMETRIC = Metric("geometric", ("x", "y"), lambda t: np.sqrt(np.abs(t[..., 0] * t[..., 1])), "√(Σx · Σy)", scale=None)
"""A user's metric of values that are no whole numbers."""
MACRO = Metric(
    "macro", ("right_1", "of_1", "right_2", "of_2"),
    lambda t: 50 * (t[..., 0] / np.maximum(t[..., 1], 1) + t[..., 2] / np.maximum(t[..., 3], 1)), "two rates",
)  # fmt: skip
STEPS = Metric("steps", ("right", "of"), lambda t: np.floor(5 * t[..., 0] / np.maximum(t[..., 1], 1)), "grades")
"""A metric that is not smooth: its derivative is 0 or does not exist."""


def some_counts(metric, n, seed=1):
    """Counts of two systems on n segments."""
    rng = np.random.default_rng(seed)
    if metric in ("bleu", "f1", "accuracy"):
        return simulate.statistics(metric, n_systems=2, n_segments=n, spread=0.5, seed=seed).counts
    if metric == "chrf":
        rows = []
        for order in range(6):
            hypothesis, reference = rng.integers(0, 40 - 3 * order, (2, 2, n))
            rows += [hypothesis, reference, np.minimum(hypothesis, reference) * rng.random((2, n)) // 1]
        return np.stack(rows, axis=2)
    if metric == "aer":
        sure, output = rng.integers(1, 9, n), rng.integers(1, 9, (2, n))
        matched = rng.integers(0, np.minimum(sure, output) + 1)
        return np.stack([matched, matched + rng.integers(0, output - matched + 1), output, output * 0 + sure], axis=2)
    if metric == "ter":
        return np.stack([rng.integers(0, 9, (2, n)), np.tile(rng.integers(1, 9, n), (2, 1))], axis=2)
    if metric == "rouge1_f":
        return rng.random((2, n, 1))
    if metric == "geometric":
        return rng.random((2, n, 2)) * [1, 30]
    of = rng.integers(0, 9, (2, n, 1)) * np.ones((2, 1, 1), int)
    of[1] = of[0]
    right = rng.integers(0, of + 1)
    return np.concatenate(
        [right, of] if metric == "steps" else [right, of, rng.integers(0, of[:, ::-1] + 1), of[:, ::-1]], 2
    )


def the_metric(name):
    return {"geometric": GEOMETRIC, "macro": MACRO, "steps": STEPS}.get(name) or registry.metric(name)


def pair_of(metric, counts):
    return Pair.of(*counts, the_metric(metric) if isinstance(metric, str) else metric, None)


def all_differences(pair):
    """By how much A is better after each of the 2ⁿ swaps, the first of which swaps nothing."""
    swaps = np.array(list(product((0, 1), repeat=pair.units.shape[1])))
    a, b = pair.units.astype(float)
    better = a.sum(axis=0) + swaps @ (b - a), b.sum(axis=0) + swaps @ (a - b)
    scores = [pair.metric.score(np.round(totals, 9)) for totals in better]
    return (scores[0] - scores[1]) * (1 if pair.metric.higher_is_better else -1)


def enumerated(pair, alternative):
    d = all_differences(pair)
    tie = 1e-9 * max(1, abs(d).max())
    if abs(d[0]) < tie and alternative in ("two-sided", "observed"):
        return 1.0
    up = (alternative == "greater") == pair.metric.higher_is_better
    return {
        "two-sided": (abs(d) >= abs(d[0]) - tie).mean(),
        "observed": (d * np.sign(d[0]) >= abs(d[0]) - tie).mean(),
    }.get(alternative, (d >= d[0] - tie).mean() if up else (d <= d[0] + tie).mean())


def every_swap(patch):
    """Shuffle number i swaps the units of the ones in the binary number i: 2ⁿ shuffles are all there are."""

    def bits(_seed, first, n_rows, n_units, *, out):
        out[:] = (np.arange(first, first + n_rows)[:, None] >> np.arange(n_units)) & 1
        return out

    patch.setitem(engine._DRAWS, "swap", bits)


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
    from scipy.stats import binom

    for n, k in [(400, 230), (2000, 1300)]:
        (tail,) = np.exp(log_tails(np.ones(n), 0.02, np.array([2.0 * k - 1 - n])))
        assert tail == pytest.approx(binom.sf(k - 1, n, 0.5), rel=1e-8)


CASES = {
    "nothing": lambda c: c,
    "one large segment": lambda c: np.concatenate([c[:, :1] * 40, c[:, 1:]], axis=1),
    "segments without counts": lambda c: np.concatenate([c[:, :-2], 0 * c[:, -2:]], axis=1),
    "segments on which they agree": lambda c: np.concatenate([c[:, :3], c[:1].repeat(2, axis=0)[:, 3:]], axis=1),
    "systems with equal totals": lambda c: np.stack([c[0], c[0][::-1]]),
}


@pytest.mark.parametrize("metric", ["bleu", "f1", "ter", "rouge1_f", "geometric", "macro", "steps"])
@pytest.mark.parametrize(("case", "n"), [(case, n) for case in CASES for n in ((1, 11) if case == "nothing" else (3,))])
def test_over_all_swaps_the_estimate_is_the_exact_p_value(monkeypatch, metric, n, case):
    """The mean of the estimate over draws is its value over all 2ⁿ swaps, so this is its lack of bias, for any n.

    Also with a wrong slope, where the kink of BLEU lies within the shuffles, and for counts of 0.
    """
    every_swap(monkeypatch)
    monkeypatch.setattr(near_exact, "RARE", 0.0)
    counts = CASES[case](some_counts(metric, n, seed=n))
    pair = pair_of(metric, counts)
    for alternative in definitions.alternatives("randomization"):
        test = find("randomization", alternative=alternative)
        favoured = pair.favours(test)
        found = counted(pair.scorer, pair.order, test, Resampling(2**n, 1, threads=1), favoured=favoured)
        if np.isnan(found.linear[0]) or pair.difference == 0:
            continue
        both = found.linear[0] + (found.n_added[0] - found.n_removed[0]) / 2**n
        p = both if test.two_sided else both / 2 if favoured else 1 - both / 2
        assert p == pytest.approx(enumerated(pair, alternative), abs=2e-6), (alternative, found)


def test_bleu_at_its_kink_and_with_a_wrong_slope(monkeypatch):
    """Half of the shuffles have more words than the reference, half have fewer; no slope is right for both."""
    every_swap(monkeypatch)
    monkeypatch.setattr(near_exact, "RARE", 0.0)
    counts = some_counts("bleu", 12)
    counts[0, :, [0, 6, 7, 8, 9]] += 4
    counts[:, :, 1] = np.ceil(counts[:, :, 0].mean(axis=0))
    pair = pair_of("bleu", counts)
    test = find("randomization")
    for slope in (
        None,
        lambda totals: np.ones_like(totals),
        lambda totals: np.random.default_rng(1).random(totals.shape),
    ):
        metric = Metric("kinked", pair.metric.columns, pair.metric.function, "BLEU", gradient=slope)
        other = pair_of(metric, counts)
        found = counted(other.scorer, other.order, test, Resampling(2**12, 1))
        p = found.linear[0] + (found.n_added[0] - found.n_removed[0]) / 2**12
        assert p == pytest.approx(enumerated(pair, "two-sided"), abs=2e-6)


@pytest.mark.parametrize("metric", ["bleu", "f1", "geometric"])
@pytest.mark.parametrize("test", [t for t in definitions.TESTS if t.name == "randomization"], ids=lambda t: t.label)
def test_the_shuffles_are_those_of_the_plain_estimate(metric, test):
    pair = pair_of(metric, some_counts(metric, 30))
    favoured = pair.favours(test)
    plain = pair.scorer.exceedances(pair.order, test, Resampling(3000, 5), favoured=favoured)
    found = counted(pair.scorer, pair.order, test, Resampling(3000, 5), favoured=favoured).exceedances
    assert (found.n_resamples, found.n_greater, found.n_equal) == (3000, plain.n_greater, plain.n_equal)


def test_it_does_not_depend_on_batches_threads_or_parts():
    data = simulate.statistics("bleu", n_systems=5, n_segments=60, spread=0.6)
    options = {"metric": "bleu", "n_resamples": 3000, "rng": 3}
    whole = all_pairs.compare(data, threads=1, **options)
    assert {"near-exact", "tilted"} <= set(whole["estimator"])
    for how in ({"threads": 2, "batch": 77}, {"threads": 3, "batch": 1000}):
        assert all_pairs.compare(data, **options, **how).equals(whole)
    parts = [all_pairs.compare(data, part=(k, 3), **options) for k in (2, 1, 3)]
    assert pair_tables.merge(parts).equals(whole)
    row = whole.iloc[4]
    alone = randomization_test(
        *data.select(systems=[row["system_a"], row["system_b"]]).counts, metric="bleu", n_resamples=3000, rng=3
    )
    assert (alone.estimator, alone.pvalue, alone.pvalue_low) == (row["estimator"], row["pvalue"], row["pvalue_low"])


def test_documents_are_swapped_as_a_whole():
    data = simulate.statistics("bleu", n_systems=2, n_segments=240, document_size=20, document_effect=0.5, seed=4)
    pair = Pair.of(*data.counts, "bleu", data.documents)
    result = randomization_test(*data.counts, metric="bleu", document=data.documents)
    assert pair.units.shape[1] == 12
    assert result.estimator == "near-exact"
    assert result.pvalue_low <= enumerated(pair, "two-sided") <= result.pvalue_high
    assert result.pvalue == pytest.approx(enumerated(pair, "two-sided"), abs=0.001)


@pytest.mark.parametrize("seed", [0, 10])
def test_a_small_p_value_is_found(seed):
    """Down to 2·10⁻⁶, by all 2²⁰ swaps; 20,000 plain shuffles would find none."""
    counts = some_counts("bleu", 20, seed=2 * seed + 2).copy()
    counts[0, :, 2:6] = np.minimum(counts[0, :, 6:10], counts[0, :, 2:6] + 3)
    pair = pair_of("bleu", counts)
    result = randomization_test(*counts, metric="bleu", n_resamples=20_000, rng=seed)
    a, b = pair.units.astype(float)
    swapped = np.zeros((1, 10))
    for difference in b - a:
        swapped = np.concatenate([swapped, swapped + difference])
    d = pair.metric.score(a.sum(axis=0) + swapped) - pair.metric.score(b.sum(axis=0) - swapped)
    p = (abs(d) >= abs(d[0]) - 1e-9).mean()
    width = result.pvalue_high - result.pvalue_low
    assert abs(result.pvalue - p) <= width
    if result.estimator == "tilted":
        assert result.pvalue == pytest.approx(p, rel=0.3)


def test_a_metric_that_is_not_smooth_gets_the_plain_estimate():
    counts = some_counts("steps", 60, seed=2)
    plain = randomization_test(*counts, metric=STEPS, n_resamples=5000, estimator="plain")
    result = randomization_test(*counts, metric=STEPS, n_resamples=5000)
    assert (result.estimator, result.pvalue, result.pvalue_low) == ("plain", plain.pvalue, plain.pvalue_low)
    assert result.signature != plain.signature


def test_the_plain_estimate_on_request():
    a, b = some_counts("bleu", 50)
    result = randomization_test(a, b, metric="bleu", n_resamples=999, estimator="plain")
    assert result.estimator == "plain"
    assert math.isnan(result.disagreement)
    assert result.pvalue == (result.n_greater + result.n_equal + 1) / 1000
    assert "|estimator:plain|" in result.signature
    with pytest.raises(InputError, match="unknown estimator 'exact', expected one of near-exact, plain"):
        randomization_test(a, b, metric="bleu", estimator="exact")


def test_the_gradient_of_a_metric_is_used_and_checked():
    calls = []

    def slopes(totals):
        calls.append(totals.shape)
        return np.stack([np.full(len(totals), 1.0), np.zeros(len(totals))], axis=1)

    declared = Metric("first", ("x", "y"), lambda t: t[..., 0], "Σx", scale=None, gradient=slopes)
    a, b = np.random.default_rng(1).random((2, 30, 2))
    result = randomization_test(a, b, metric=declared, n_resamples=1000)
    assert calls
    assert result.estimator == "near-exact"
    wrong = Metric("first", ("x", "y"), lambda t: t[..., 0], "Σx", scale=None, gradient=lambda t: t[..., 0])
    with pytest.raises(InputError, match="the gradient of metric first has the shape"):
        randomization_test(a, b, metric=wrong, n_resamples=1000)


def test_exact_test_and_near_exact_agree_where_both_exist():
    from pairsig import exact_test

    for metric in ("f1", "ter"):
        a, b = some_counts(metric, 300, seed=3)
        for alternative in definitions.alternatives("randomization"):
            p = exact_test(a, b, metric=metric, alternative=alternative).pvalue
            result = randomization_test(a, b, metric=metric, alternative=alternative, n_resamples=20_000)
            width = result.pvalue_high - result.pvalue_low
            assert abs(result.pvalue - p) <= width, (metric, alternative, p, result)
            assert width < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["bleu", "chrf", "macro"])
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
        own = estimates(counts, np.array([abs(pair.difference)]), test)
        results.append((own.pvalue[0], own.low[0], own.high[0]))
    p, low, high = np.array(results).T
    assert abs(p.mean() - exact) < 4.5 * p.std() / math.sqrt(n_seeds)
    assert ((low <= exact) & (exact <= high)).mean() >= 0.94
    assert p.var() < exact * (1 - exact) / b / 4


@pytest.mark.slow
def test_the_interval_of_tilted_p_values_covers():
    counts = some_counts("bleu", 16, seed=5).copy()
    counts[0, :, 2:6] = np.minimum(counts[0, :, 6:10], counts[0, :, 2:6] + 4)
    pair = pair_of("bleu", counts)
    exact = enumerated(pair, "two-sided")
    assert exact < near_exact.RARE
    results = [randomization_test(*counts, metric="bleu", n_resamples=1000, rng=seed) for seed in range(400)]
    tilted = [r for r in results if r.estimator == "tilted"]
    assert len(tilted) > 380
    assert np.mean([r.pvalue_low <= exact <= r.pvalue_high for r in tilted]) >= 0.92
    assert np.mean([r.pvalue for r in tilted]) == pytest.approx(exact, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "metric", "systems", "n_pairs"),
    [("mt-447", "bleu", range(0, 150, 38), 6), ("realsumm", "rouge2_f", range(4), 6), ("hansards", "aer", range(4), 1)],
)
def test_real_pairs_against_ten_million_plain_shuffles(dataset, metric, systems, n_pairs):
    """The pairs with p above 1e-5, of which each is within the errors of both: z-scores, alone and together."""
    data = statistics.read(STATISTICS / f"{dataset}.parquet")
    data = data.select(systems=[data.systems[k] for k in systems])
    plain, near = (
        all_pairs.compare(data, "randomization", metric=metric, n_resamples=n, rng=seed, estimator=estimator)
        for n, seed, estimator in ((10**7, 1, near_exact.PLAIN), (10**5, 2, near_exact.NEAR_EXACT))
    )
    p, found = plain["pvalue"].to_numpy(), near["pvalue"].to_numpy()
    own = (near["pvalue_high"] - near["pvalue_low"]).to_numpy() / (2 * 1.96)
    rows = p > 1e-5
    z = ((found - p) / np.sqrt(p * (1 - p) / 10**7 + own**2))[rows]
    assert rows.sum() == n_pairs
    assert np.abs(z).max() < 4
    assert (z**2).sum() < chi2.ppf(0.999, rows.sum())
    assert (near["estimator"] != near_exact.PLAIN)[rows].all()
