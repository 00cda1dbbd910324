"""The exact test against enumeration, whole-number counting, closed forms, printed values and shuffles."""

import math
import warnings

import numpy as np
import pytest

import oracles
import simulate
from pairsig import InputError, Metric, Ratio, exact_test, randomization_test
from pairsig.core.definitions import TESTS, find
from pairsig.core.scores import Scorer
from pairsig.metrics import registry
from pairsig.metrics.classification import of_classes
from pairsig.readers.counts import art
from pairsig.stats import exact, lattice
from pairsig.stats.exact import log_pvalues, probability, swap_event
from pairsig.stats.pass_fail import log_sign_tail, score_of_a_pass

EXACT = [test for test in TESTS if test.name == "exact"]


def random_pair(metric, n, seed, quality=(0.8, 0.7), size=6):
    """Two systems of the shape of real ones; `size` is about the gold count of a segment."""
    rng = np.random.default_rng(seed)
    gold = rng.poisson(size, n) + (metric in ("accuracy", "ter"))

    def system(q):
        matched = rng.binomial(gold, q)
        predicted = matched + rng.binomial(gold - matched, 0.9)
        return {
            "accuracy": np.stack([matched, gold], axis=1),
            "mean": matched[:, None],
            "ter": np.stack([gold - matched + rng.poisson(0.3, n), gold], axis=1),
            "aer": np.stack([matched // 2, matched, predicted, gold], axis=1),
        }.get(metric, np.stack([matched, predicted, gold], axis=1))

    return tuple(system(q) for q in quality)


# Enumeration


@pytest.mark.parametrize("metric", oracles.SCORES)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_p_is_that_of_all_swaps(metric, n, monkeypatch):
    """By enumeration, and by the lattice where that is not used."""
    for seed in range(3):
        a, b = random_pair(metric, n, seed, size=3)
        for few in (exact.FEW, 0):
            monkeypatch.setattr(exact, "FEW", few)
            for test in EXACT:
                wanted, _ = oracles.exact(metric, a, b, test)
                result = exact_test(a, b, metric=metric, alternative=test.alternative)
                assert result.pvalue == float(wanted), (test.alternative, seed, few)
                assert result.log10_pvalue == pytest.approx(math.log10(wanted), abs=1e-9)


@pytest.mark.parametrize("n", [40, 1500])
def test_a_system_that_is_better_on_every_segment_is_one_of_two_swaps_of_all(n):
    """The event is the end of the lattice, and p is 2/2ⁿ, far below what a float of p itself would hold."""
    rng = np.random.default_rng(n)
    gold = rng.integers(5, 30, n)
    a = np.stack([gold, gold + rng.integers(0, 3, n), gold], axis=1)
    b = np.stack([gold - rng.integers(1, 4, n), gold + rng.integers(0, 3, n), gold], axis=1)
    for metric in ("f1", "recall"):
        assert exact_test(a, b, metric=metric).log10_pvalue == pytest.approx((1 - n) * math.log10(2), abs=1e-8)


def test_up_to_33_segments_p_is_a_whole_number_of_swaps():
    rng = np.random.default_rng(1)
    for n in (32, 33):
        a, b = rng.integers(3, 9, n), rng.integers(0, 3, n)
        b[:14] = a[:14] + rng.integers(1, 6, 14)
        assert exact_test(a, b).pvalue * 2.0**n % 1 == 0


@pytest.mark.parametrize("name", ["bleu", "chrf", "mean", "macro_f1"])
def test_any_metric_has_an_exact_test_if_few_segments_differ(name):
    """BLEU, chrF, floats and macro-F1: all 2⁷ swaps, scored one by one."""
    rng = np.random.default_rng(4)
    metric = registry.metric(name)
    if name == "mean":
        counts = rng.random((2, 30, 1))
    elif name == "bleu":
        counts = simulate.statistics("bleu", n_systems=2, n_segments=30, spread=0.5).counts
    else:
        width = 9 if name == "macro_f1" else metric.width
        counts = np.sort(rng.integers(1, 9, (2, 30, width)), axis=2)  # matched items are the fewest of each three
        counts = counts if name == "macro_f1" else counts[:, :, ::-1]
        metric = of_classes(metric, "xyz")
    differ = np.array([3, 8, 9, 14, 20, 21, 29])
    a, b = counts[0].copy(), counts[0].copy()
    b[differ] = counts[1][differ]
    swaps = np.arange(128)[:, None] >> np.arange(7) & 1
    totals = [own.astype(float).sum(axis=0) for own in (a, b)]
    moved = swaps @ (b - a)[differ]
    if name == "mean":
        gains = (totals[0] + moved - totals[1] + moved)[:, 0] / 30
    else:
        gains = metric.score(totals[0] + moved) - metric.score(totals[1] - moved)
    d = gains[0]
    for alternative, extreme in (
        ("two-sided", abs(gains) >= abs(d) - 1e-9), ("greater", gains >= d - 1e-9), ("less", gains <= d + 1e-9),
    ):  # fmt: skip
        chosen = "mean" if name == "mean" else metric
        assert exact_test(a, b, metric=chosen, alternative=alternative).pvalue == extreme.mean()


def test_more_segments_need_a_ratio_of_whole_steps():
    rng = np.random.default_rng(2)
    with pytest.raises(InputError, match="no exact test for mean with these counts: more than 16 segments differ"):
        exact_test(rng.random(40), rng.random(40))
    bleu = simulate.statistics("bleu", n_systems=2, n_segments=40, spread=0.5).counts
    with pytest.raises(InputError, match=r"no exact test for bleu .*; use randomization_test"):
        exact_test(*bleu, metric="bleu")
    most = np.where((np.arange(40) < 16)[:, None], bleu[1], bleu[0])  # 16 segments that differ can be enumerated
    assert exact_test(bleu[0], most, metric="bleu").pvalue * 2**16 % 1 == 0
    with pytest.raises(InputError, match="more than 16 segments differ"):
        exact_test(bleu[0], np.where((np.arange(40) < 17)[:, None], bleu[1], bleu[0]), metric="bleu")
    # Steps of a thousandth are whole ones.
    a, b = rng.integers(0, 1000, (2, 40)) / 1000
    assert exact_test(a, b).pvalue == exact_test(np.rint(1000 * a), np.rint(1000 * b)).pvalue


def test_a_shuffle_may_have_only_units_without_a_denominator():
    """Where systems differ in that, a ratio over nothing decides; the lattice does not know it."""
    odd = Metric("odd", ("x", "y"), registry.metric("ter").function, "Σ x / Σ y")
    a = np.array([[1, 0]] * 20)
    b = np.array([[2, 1]] * 20)
    with pytest.raises(InputError, match="no exact test"):
        exact_test(a, b, metric=odd)


# Whole numbers


@pytest.mark.parametrize(("metric", "n"), [("accuracy", 600), ("mean", 300), ("f1", 60), ("f1", 140)])
def test_p_is_that_of_whole_numbers(metric, n):
    for quality in ((0.8, 0.78), (0.9, 0.6)):
        a, b = random_pair(metric, n, n, quality, size=3)
        wanted = oracles.f1_tail(a, b) if metric == "f1" else oracles.far_tail(a[:, 0] - b[:, 0])
        result = exact_test(a, b, metric=metric)
        assert result.log10_pvalue == pytest.approx(oracles.log10(wanted), abs=1e-9)
        assert result.pvalue == pytest.approx(float(wanted), rel=1e-9, abs=0)


@pytest.mark.parametrize("seed", range(6))
def test_few_large_documents_of_very_unequal_size(seed):
    """A border that bends: few documents, and a system that predicts far too much."""
    rng = np.random.default_rng(seed)
    gold = np.maximum(1, (rng.pareto(1.2, 30) * 2).astype(int).clip(0, 20))

    def system(q, over):
        matched = rng.binomial(gold, q)
        return np.stack([matched, matched + rng.poisson(over * (gold - matched + 0.5)), gold], axis=1)

    a, b = system(0.9, 3.0), system(0.2, 1.0)
    assert exact_test(a, b, metric="f1").log10_pvalue == pytest.approx(oracles.log10(oracles.f1_tail(a, b)), abs=1e-9)


@pytest.mark.parametrize(("n", "agreed"), [(28, 500), (2000, 0), (5000, 0)])
def test_one_system_is_better_on_all(n, agreed):
    """p = 2·2⁻ⁿ: published code that drops small entries gives 0 for 28 segments; for 5,000 no float holds it."""
    same = [[3, 7]] * agreed
    result = exact_test([[5, 5]] * n + same, [[4, 5]] * n + same, metric="accuracy")
    assert (result.n_segments, result.n_different) == (n + agreed, n)
    assert result.pvalue == pytest.approx(2.0 ** (1 - n), rel=1e-9, abs=0)
    assert result.log10_pvalue == pytest.approx((1 - n) * math.log10(2), abs=1e-9)


@pytest.mark.parametrize(("won", "lost"), [(0, 1), (3, 3), (12, 5), (400, 300), (2000, 1), (1500, 0)])
def test_items_have_the_sign_test(won, lost):
    """P(Bin(n, ½) >= won), doubled, with whole numbers; also for 0 and 100."""
    n = won + lost
    ways = sum(math.comb(n, k) for k in range(max(won, lost), n + 1))
    a, b = [1] * won + [0] * lost + [1, 0], [0] * won + [1] * lost + [1, 0]
    for factor in (1, 100):
        result = exact_test(np.multiply(a, factor), np.multiply(b, factor))
        assert result.log10_pvalue == pytest.approx(
            min(0, math.log10(2) + math.log10(ways) - n * math.log10(2)), abs=1e-9
        )
    up = exact_test(a, b, alternative="greater").log10_pvalue
    ways = sum(math.comb(n, k) for k in range(won, n + 1))
    assert up == pytest.approx(math.log10(ways) - n * math.log10(2), abs=1e-9)


def test_p_is_exactly_a_whole_number_of_swaps():
    """Up to 33 units that differ, p·2ⁿ is a whole number, and p that number."""
    for n in (17, 25, 33):
        a, b = random_pair("f1", n, n, size=5)
        assert exact_test(a, b, metric="f1").pvalue == float(oracles.f1_tail(a, b))
    assert probability(math.log(3 * 2.0**-33))[0] == 3 * 2.0**-33
    assert probability(math.log(1.23456789012345e-20))[0] == 1.23456789e-20
    assert probability(-math.inf) == (0.0, -math.inf)
    assert probability(-5000.0) == (0.0, -2171.4724095163)


# Properties


def test_common_factors_and_decimals_change_nothing():
    a, b = random_pair("mean", 150, 9)
    wanted = exact_test(a, b, metric="mean").pvalue
    for change in (lambda x: 7 * x, lambda x: x / 10, lambda x: x / 1e5, lambda x: x * 0.125, lambda x: x - 1000):
        assert exact_test(change(a), change(b), metric="mean").pvalue == wanted
    assert exact_test(b, a, metric="mean").pvalue == wanted


def test_documents_are_sums():
    a, b = random_pair("f1", 120, 11)
    documents = np.arange(120) // 5
    sums = [counts.reshape(24, 5, 3).sum(axis=1) for counts in (a, b)]
    result = exact_test(a, b, metric="f1", document=documents)
    assert result.pvalue == exact_test(*sums, metric="f1").pvalue != exact_test(a, b, metric="f1").pvalue
    assert (result.n_segments, "unit:document" in result.signature) == (120, True)


def test_equal_systems_have_p_1_unless_a_direction_was_chosen():
    for counts in ([1, 0, 1], [0.1, 0.2, 0.3]):
        assert exact_test(counts, counts).pvalue == 1.0
    assert exact_test([1, 0, 1, 0], [0, 1, 0, 1]).pvalue == 1.0
    assert exact_test([1, 0, 1, 0], [0, 1, 0, 1], alternative="greater").pvalue == 11 / 16
    for sides in ("greater", "less"):
        assert exact_test([3, 3], [3, 3], alternative=sides).pvalue == 1.0


def test_tiny_scores_have_a_p_of_at_most_1():
    """Differences that no float tells from 0 tie."""
    assert exact_test([1e-300, 2e-300], [2e-300, 1e-300]).pvalue == 1.0
    assert exact_test([5e-324], [0.0]).pvalue == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exact_test([1e-300] * 3, [0.0] * 3).pvalue == 0.25


@pytest.mark.parametrize("metric", ["f1", "aer", "accuracy", "ter"])
def test_shuffles_estimate_it(metric):
    a, b = random_pair(metric, 200, 5, (0.8, 0.77))
    for alternative in ("two-sided", "greater", "less"):
        p = exact_test(a, b, metric=metric, alternative=alternative).pvalue
        drawn = randomization_test(a, b, metric=metric, alternative=alternative, n_resamples=20_000)
        assert abs(drawn.pvalue - p) < 0.006
        assert drawn.pvalue_low - 0.002 < p < drawn.pvalue_high + 0.002


# Many pairs


@pytest.mark.parametrize("metric", ["accuracy", "mean", "f1", "aer", "ter"])
def test_many_pairs_are_one_pair_at_a_time(metric):
    """Seven systems, 21 pairs: threads, equal systems."""
    systems = [random_pair(metric, 90, 7, (q, q))[0] for q in (0.5, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9)]
    counts = np.stack(systems)
    if metric == "mean":
        counts = np.concatenate([counts, np.ones_like(counts)], axis=2)
    scorer = Scorer(counts, registry.metric(metric))
    pairs, gains = scorer.better_first()
    together = log_pvalues(scorer, pairs, find("exact"), threads=2)
    for pair, gain, log in zip(pairs, gains, together, strict=True):
        alone = log_pvalues(scorer, pair[None], find("exact"))[0]
        assert log == pytest.approx(alone, abs=1e-10)
        assert (gain == 0) <= (log == 0)


def test_many_pairs_of_items_are_one_pair_at_a_time(monkeypatch):
    monkeypatch.setattr("pairsig.stats.pass_fail._PRODUCT_ELEMENTS", 8 * 100)  # a hundred items at a time
    outcomes = np.random.default_rng(1).random((8, 300, 1)) < np.linspace(0.3, 0.7, 8)[:, None, None]
    counts = np.concatenate([outcomes.astype(int), np.ones((8, 300, 1), int)], axis=2)
    scorer = Scorer(counts, registry.metric("accuracy"))
    pairs, _ = scorer.better_first()
    together = log_pvalues(scorer, pairs, find("exact"))
    for pair, log in zip(pairs, together, strict=True):
        a, b = counts[pair]
        assert math.exp(log) == pytest.approx(exact_test(a, b, metric="accuracy").pvalue, rel=1e-9)


def test_the_border_of_swap_event_is_the_gain():
    """Every swap of five sentences is on the side of the border on which its gain is, ties included."""
    a, b = random_pair("f1", 5, 3, size=4)
    above, below = 2 * np.stack([a[:, 0], b[:, 0]]), np.stack([a[:, 1:].sum(axis=1), b[:, 1:].sum(axis=1)])
    for strict in (False, True):
        steps, times, border = swap_event(above, below, strict=strict)
        delta = above.sum(axis=1) / below.sum(axis=1)
        gains = []
        for swap in range(32):
            turned = (swap >> np.arange(5)) & 1 == 1
            n, d = (np.where(turned, part[::-1], part).sum(axis=1) for part in (above, below))
            gains.append(n[0] / d[0] - n[1] / d[1])
        far = np.array(gains) - (delta[0] - delta[1])
        wanted = (far > 1e-12).mean() if strict else (far >= -1e-12).mean()
        assert math.exp(lattice.log_tail(steps, times, border)) == pytest.approx(wanted, rel=1e-12)


def test_arts_f_of_sigfs_counts():
    """Four numbers a line, the two numerators the same: matched / gold and matched / predicted."""
    a, b = random_pair("f1", 40, 0)
    result, three = (
        exact_test(a[:, [0, 2, 0, 1]], b[:, [0, 2, 0, 1]], metric=art._METRICS[4][0]),
        exact_test(a, b, metric="f1"),
    )
    assert (result.pvalue, result.better) == (three.pvalue, three.better)
    assert (result.score_a, result.score_b) == (pytest.approx(three.score_a), pytest.approx(three.score_b))


def test_something_over_nothing():
    """Edits without a reference word: swaps never get rid of the words elsewhere."""
    a, b = np.array([[2, 0], [1, 4], [0, 3]]), np.array([[0, 0], [2, 4], [2, 3]])
    assert exact_test(a, b, metric="ter").pvalue == oracles.exact("ter", a, b, find("exact"))[0]


@pytest.mark.parametrize("metric", ["precision", "f1", "aer"])
def test_a_system_that_may_have_no_denominator_after_swaps(metric, monkeypatch):
    """On every unit only one of the systems predicts something, so a few swaps leave the other one without anything."""
    monkeypatch.setattr(exact, "FEW", 0)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 6
        gold = rng.integers(0 if metric == "f1" else 1, 4, n)
        predicted = rng.integers(1, 5, n)
        matched = rng.binomial(np.minimum(predicted, gold), 0.6)
        full = np.stack([matched, predicted, gold], axis=1)
        if metric == "aer":
            full = np.stack([matched, matched, predicted, gold], axis=1)
        nothing = full * 0
        nothing[:, -1] = gold
        first = rng.random(n) < 0.7
        if seed > 3:  # all that the one says is right, and nothing that the other one says: more than both together
            right = np.minimum(predicted, gold) * first
            full[:, : full.shape[1] - 2] = right[:, None]
        a, b = np.where(first[:, None], full, nothing), np.where(first[:, None], nothing, full)
        for test in EXACT:
            wanted, _ = oracles.exact(metric, a, b, test)
            assert exact_test(a, b, metric=metric, alternative=test.alternative).pvalue == float(wanted), (seed, test)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 1000, 1001, 3000])
def test_sign_tails(n):
    """Whole numbers up to 1,000 items, then the incomplete beta function, and a series far in the tail."""
    for k in {0, 1, n // 3, n // 2, (2 * n) // 3, n, n + 1}:
        ways = sum(math.comb(n, j) for j in range(k, n + 1))
        wanted = math.log(ways) - n * math.log(2) if ways else -math.inf
        assert log_sign_tail(n, k) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("form", "units", "passed"),
    [
        (Ratio((0,), (1,)), [[0, 1], [1, 1]], 100.0),
        (Ratio((0,), (1,)), [[0, 2], [1, 2]], None),  # documents of two segments
        (Ratio((0,), (1,)), [[0, 1], [2, 1]], None),
        (Ratio((0,), (1,), complement=True), [[0, 1], [1, 1]], None),
        (Ratio((1,), (0,)), [[1, 1], [1, 1]], None),
    ],
)
def test_which_units_pass_or_fail(form, units, passed):
    metric = Metric("own", ("x", "y"), form, "Σ x / Σ y")
    assert score_of_a_pass(np.array(units), metric) == passed
