"""Whole numbers detect ties: the counts are those of Python's fractions over the same draws."""

from fractions import Fraction

import numpy as np
import pytest

import oracles
from oracles import how
from pairsig import InputError, Metric, Ratio, bootstrap_test, exact_test, randomization_test
from pairsig.comparisons import all_pairs
from pairsig.core import definitions, engine
from pairsig.core.statistics import Statistics, by_document
from pairsig.metrics import registry
from pairsig.core.steps import in_steps, steps_by_column, steps_to_unit, totals, whole_numbers
from pairsig.metrics.ratios import Fractions
from pairsig.stats.sequential import sequential_test

METRICS = [metric for metric in oracles.SCORES if metric not in ("precision", "recall")]


def extremes(metric, a, b, test, n):
    return oracles.extremes(metric, a, b, test, oracles.seeded_draws(test.draw, len(a), n))


def counts_of(metric, n, size, seed):
    """Two systems that differ by little on units of that size: gains are multiples of almost nothing, and tie often."""
    rng = np.random.default_rng([seed, size])
    gold = size + rng.integers(0, 3, n)
    gold[rng.random(n) < 0.2] = 0  # nothing to find

    def system():
        less = np.minimum(rng.integers(0, 3, n), gold)
        matched, predicted = gold - less, np.maximum(gold + rng.integers(-1, 2, n), 0)
        return {
            "accuracy": np.stack([matched, gold], axis=1),
            "mean": (gold + rng.integers(-1, 2, n))[:, None],
            "ter": np.stack([less + (rng.random(n) < 0.3), gold], axis=1),
            "aer": np.stack([np.minimum(matched, predicted), np.minimum(gold, predicted), predicted, gold], axis=1),
        }.get(metric, np.stack([np.minimum(matched, predicted), predicted, gold], axis=1))

    return system(), system()


TESTS = [test for test in definitions.TESTS if not (test.exact or test.statistic)]
SIZES = (1, 400, 10**4, 10**9, 10**13)


SHIFTED = definitions.find("bootstrap", "shifted", "observed")


def run(test, a, b, **options):
    return (bootstrap_test if test.draw == "resample" else randomization_test)(a, b, **how(test), **options)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("metric", METRICS)
def test_counts_are_those_of_fractions(metric, size):
    a, b = counts_of(metric, 7, size, 1)
    lead = oracles.difference(metric, a, b) * (-1 if metric in oracles.LOWER_IS_BETTER else 1)
    for test in TESTS:
        result = run(test, a, b, metric=metric, n_resamples=30)
        assert (result.n_greater, result.n_equal) == extremes(metric, a, b, test, 30), test.label
        assert result.better == ("a" if lead > 0 else "b" if lead < 0 else None)
        assert (result.gain > 0) == (lead != 0)
        if lead == 0 and not test.directed:
            assert result.pvalue == 1.0


def test_every_way_of_comparing_is_reached():
    """Up to size 400, products of whole numbers are exact with four bytes."""
    kinds = set()
    for metric in METRICS:
        for size in SIZES:
            a, b = counts_of(metric, 7, size, 1)
            counts = np.stack([a, b])
            if metric == "mean":
                counts = np.concatenate([counts, np.ones_like(counts)], axis=2)
            scorer = engine.Scorer(counts, registry.metric(metric))
            border = engine.Border.of(scorer, np.array([[0, 1]]), 1, 2)
            kinds.update(border.kinds.tolist())
            if metric == "accuracy" and border.kinds[0] == engine._SMALL:
                assert border.precision == (np.float32 if size <= 400 else np.float64)
    assert kinds == {engine._SMALL, engine._WRAPPED, engine._LARGE}


@pytest.mark.parametrize("size", SIZES[1::3])
def test_all_pairs_at_once_are_one_pair_at_a_time(size):
    for metric in ("accuracy", "f1", "ter"):
        own = [*counts_of(metric, 8, size, 5), *counts_of(metric, 8, size, 5)[1:]]
        systems = {f"s{number}": counts for number, counts in enumerate(own)}
        if metric in ("accuracy", "ter"):  # one reference
            assert len({tuple(counts[:, -1]) for counts in systems.values()}) == 1
        data = Statistics.from_arrays(systems, registry.metric(metric).columns)
        for test in [test for test in TESTS if not test.directed]:
            table = all_pairs.compare(data, test.name, metric=metric, **how(test), n_resamples=100)
            for row in table.itertuples():
                one = run(test, systems[row.system_a], systems[row.system_b], metric=metric, n_resamples=100)
                p = row.pvalue if test.two_sided else row.pvalue_one_sided
                assert (row.n_greater, row.n_equal, p) == (one.n_greater, one.n_equal, one.pvalue)
                assert (row.gain, one.better) == (one.gain, "a" if one.gain else None)


# What a tolerance got wrong


@pytest.mark.parametrize(
    ("high", "low", "metric"),
    [
        ([10**13 + 1] * 20, [10**13] * 20, "mean"),
        ([1 + 1e-12] * 20, [1.0] * 20, "mean"),
        ([[10**9 + 1, 2 * 10**9]] * 20, [[10**9, 2 * 10**9]] * 20, "accuracy"),
        ([[10**13 + 1, 10**13 + 5]] * 20, [[10**13, 10**13 + 5]] * 20, "accuracy"),
        ([[10**13 + 1, 10**13 + 5, 10**13 + 5]] * 20, [[10**13, 10**13 + 5, 10**13 + 5]] * 20, "f1"),
        ([[2**46 + 1, 2**47, 2**47 - 1]] * 20, [[2**46, 2**47, 2**47 - 1]] * 20, "f1"),
    ],
)
def test_real_differences_are_no_ties(high, low, metric):
    """One system is better on every one of 20 segments, however little: 2 of 2²⁰ shuffles are as extreme."""
    result = randomization_test(low, high, metric=metric, n_resamples=20_000)
    assert result.better == "b"
    assert result.gain > 0
    assert result.n_greater + result.n_equal <= 2
    assert exact_test(low, high, metric=metric).pvalue == 2.0**-19
    drawn = bootstrap_test(low, high, metric=metric, n_resamples=200, alternative="observed")
    assert (drawn.better, drawn.n_greater, drawn.n_equal) == ("b", 0, 0)  # the gain is the same on every resample
    assert sequential_test(low, high, metric=metric, test="randomization").significant is True


@pytest.mark.parametrize("beyond", [1, -1])
def test_a_gain_beside_twice_the_observed_one(beyond):
    """Of two segments the first alone has δ* = 2δ ± a ratio of 1 to some 10¹⁸: L·d − 2D·l = LD ± 1 says so."""
    lead, total = 10**9 + 7, 1_500_000_001
    other = (lead * total + beyond) * pow(lead, -1, 2 * total) % (2 * total)
    less = (lead * other - lead * total - beyond) // (2 * total)
    assert lead * (total + other) - 2 * (lead + less) * total == beyond
    a, b = [[lead, total], [max(less, 0), other]], [[0, total], [max(-less, 0), other]]
    expected = extremes("accuracy", a, b, SHIFTED, 200)
    assert (expected[0] > 20, expected[1]) == (beyond > 0, 0)
    result = bootstrap_test(a, b, n_resamples=200, metric="accuracy", alternative="observed")
    assert (result.n_greater, result.n_equal) == expected


def test_a_gain_whose_whole_numbers_differ_by_more_than_64_bits():
    """On the first segment twice δ* is 2δ and half a band more: a difference of products beyond 2⁶³ that would wrap."""
    a = [[168006989, 280011649], [79950011, 238036146]]
    b = [[157635150, 315270300], [42434850, 151487954]]
    (x, p), (y, q) = a[0], b[0]
    double = 2 * oracles.difference("accuracy", a, b)
    beyond = Fraction(x, p) - Fraction(y, q) - double
    assert beyond < 0.9 * engine.Scorer(np.array([a, b]), registry.metric("accuracy")).band
    assert 2**63 < beyond * 4 * p * q * double.denominator < 2**64
    result = bootstrap_test(a, b, n_resamples=200, metric="accuracy", alternative="observed")
    expected = extremes("accuracy", a, b, SHIFTED, 200)
    assert (result.n_greater, result.n_equal) == expected
    assert expected[0] > 20


def test_a_gain_below_the_digits_of_the_scores():
    """(k + 1) / (2k + 3) is more than k / (2k + 1), by less than a float of either tells."""
    k = 10**9
    a, b = [[k, 2 * k + 1, 9 * k]] * 3, [[k + 1, 2 * k + 3, 9 * k]] * 3
    gain = 100 / ((2 * k + 1) * (2 * k + 3))
    for pair, better in (((a, b), "b"), ((b, a), "a")):
        result = randomization_test(*pair, metric="precision", n_resamples=1000)
        assert result.score_a == result.score_b
        assert (result.better, result.gain) == (better, pytest.approx(gain, rel=1e-12, abs=0))
        assert 0.2 < result.pvalue < 0.3  # 2 of 8
        one = exact_test(*pair, metric="precision")
        assert (one.better, one.gain, one.pvalue) == (better, pytest.approx(gain, rel=1e-12, abs=0), 0.25)
    data = Statistics.from_arrays({"a": np.array(a), "b": np.array(b)}, registry.metric("precision").columns)
    row = all_pairs.compare(data, "randomization", metric="precision", n_resamples=1000).iloc[0]
    assert (row["system_a"], row["gain"]) == ("b", pytest.approx(gain, rel=1e-12, abs=0))
    tenths = Metric("tenths", ("x", "y"), Ratio((0,), (1,)), "100 · Σ x / Σ y")
    result = randomization_test(*(np.array(own)[:, :2] / [10, 1] for own in (a, b)), metric=tenths, n_resamples=100)
    assert (result.better, result.gain) == ("b", pytest.approx(gain / 10, rel=1e-12, abs=0))


def test_counts_too_large_for_whole_numbers_are_refused():
    """Each column can be summed, but predicted and gold together cannot."""
    a, b = [[2**47 + 1, 2**48, 2**48]] * 20, [[2**47, 2**48, 2**48]] * 20
    with pytest.raises(InputError, match=r"counts are as large as 2\.8.*e\+14 on 20 units, so their sums cannot be"):
        randomization_test(a, b, metric="f1", n_resamples=10)


def test_bounds_are_those_of_all_systems(monkeypatch):
    """Looked at one system at a time, what is largest, without a denominator or no whole number may come last."""
    small, large = [[1, 4], [2, 3]], [[10**6, 3], [7, 4]]
    monkeypatch.setattr("pairsig.core.steps._AT_ONCE", 1)
    ter, mean = registry.metric("ter"), registry.metric("mean")
    found = Fractions.of(ter, np.array([small, small, large]))
    assert found.rounding == Fractions.of(ter, np.array([large, small])).rounding > 1e6 / 3 * 2.0**-49
    assert Fractions.of(ter, np.array([small, small, [[1, 4], [2, 0]]])).over_nothing_occurs
    assert not found.over_nothing_occurs
    np.testing.assert_array_equal(found.numerators, -np.array([small, small, large])[:, :, 0])
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.25]])
    assert steps_to_unit(values, 2) == 100
    assert not whole_numbers(values)
    np.testing.assert_array_equal(totals(values[:, :, None])[:, 0], [3.0, 7.0, 11.25])
    assert Fractions.of(mean, np.stack([values / 3, np.ones((3, 2))], axis=2)) is None
    free = Metric("free", ("x",), lambda totals: totals[..., 0], "Σ x", scale=None)
    assert engine._scale(free, values[:, :, None]) == 6.25


def test_decimals_tie_where_decimals_do():
    """0.1 + 0.2 is 0.3, though not in binary: the same total, and twice the gain."""
    a, b = [0.1, 0.2, 0.7], [0.3, 0.0, 0.7]
    for run_test in (bootstrap_test, randomization_test):
        result = run_test(a, b, metric="mean", n_resamples=500)
        assert (result.better, result.gain, result.pvalue) == (None, 0.0, 1.0)
    a, b = [0.3, 0.1, 0.2, 1.1], [0.1, 0.2, 0.3, 0.8]
    whole = [[round(10 * value)] for value in a], [[round(10 * value)] for value in b]
    for test in TESTS:
        one, other = (run(test, *pair, metric="mean", n_resamples=2000) for pair in ((a, b), whole))
        assert (one.n_greater, one.n_equal) == (other.n_greater, other.n_equal)
        assert one.n_equal > 0


def test_decimals_of_documents_are_decimals():
    documents, counts = np.array(["x", "x", "y"]), np.array([[[0.1], [0.2], [0.3]], [[0.3], [0.0], [0.3]]])
    assert by_document(documents, counts).tolist() == [[[0.3], [0.3]], [[0.3], [0.3]]]
    a, b = counts
    result = randomization_test(a, b, metric="mean", document=documents, n_resamples=100)
    assert (result.better, result.n_equal) == (None, 100)


def test_values_on_no_lattice_tie_within_a_tolerance():
    """A third and two ninths more, on other segments: binary fractions differ in the last digit, thirds do not."""
    a, b = [1 / 3 + 2 / 9, 0.0, 1 / 7], [0.0, 5 / 9, 1 / 7]
    result = randomization_test(a, b, metric="mean", n_resamples=1000)
    assert (result.better, result.pvalue) == (None, 1.0)
    tiny = 1e-30
    a, b = [tiny / 3, tiny / 7, tiny / 9], [0.0, 0.0, 0.0]
    assert randomization_test(a, b, metric="mean", n_resamples=4000).pvalue == pytest.approx(2 / 8, abs=0.03)
    documents = ["d", "d", "e"]
    assert randomization_test(a, b, metric="mean", document=documents, n_resamples=100).better == "a"


# Whole numbers


@pytest.mark.parametrize(
    ("values", "n", "expected"),
    [
        ([3, 5, -7], 3, ([3, 5, -7], 1)),
        ([True, False], 2, ([1, 0], 1)),
        ([3.0, -5.0], 2, ([3, -5], 1)),
        ([0.0, 0.0], 2, ([0, 0], 1)),
        ([0.25, 1.5], 2, ([25, 150], 100)),
        ([0.1, 0.7], 2, ([1, 7], 10)),
        ([1e-12, 3e-12], 2, ([1, 3], 10**12)),
        ([3e-20, 7e-20], 2, ([3, 7], 10**20)),
        ([2.0**-40, 3.0], 2, ([1, 3 * 2**40], 2**40)),
        ([1 / 3, 0.5], 2, None),
        ([2.0**-40, 3.0], 2**13, None),  # sums of so many would not be exact
        ([2.0**-40, 1.0], 2**13 - 1, ([1, 2**40], 2**40)),
        ([2.0**-40, 1.0], 2**13, None),
        ([0.5, 1 / 3] + [0.5] * 198, 200, None),
        ([2**52, 1], 2, None),
        ([2**52 - 1, 1], 2, ([2**52 - 1, 1], 1)),
        ([-(2**52), 1], 2, None),
        ([2.0**60, 1.0], 2, None),
    ],
)
def test_multiples(values, n, expected):
    found = steps_to_unit(np.array(values), n)
    assert (None if found is None else (in_steps(np.array(values), found).tolist(), found)) == expected


def test_single_precision_is_no_decimal():
    """The float32 next to 0.1 is a multiple of 2⁻²⁷."""
    single = np.array([0.1], dtype=np.float32)
    assert (steps_to_unit(single, 1), in_steps(single, 2**27).tolist()) == (2**27, [13421773])


def test_totals_do_not_depend_on_the_order():
    rng = np.random.default_rng(1)
    for values in (rng.normal(size=(2, 1000, 1)), rng.integers(0, 1000, (2, 1000, 1)) / 1000):
        assert totals(values).tolist() == totals(values[:, ::-1]).tolist()
        steps = steps_by_column(values)
        whole = in_steps(values[:, :, 0], steps[0])
        assert (whole == np.rint(whole)).all()
        assert np.abs(whole).max() * 1000 < 2**53
        np.testing.assert_allclose(whole / steps[0], values[:, :, 0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(totals(values), values.sum(axis=1), rtol=1e-10)


def test_fractions_of_a_complement_of_decimals():
    """1 − cost / budget, of costs in tenths and budgets in hundredths: both in hundredths."""
    saved = Metric("saved", ("cost", "budget"), Ratio((0,), (1,), complement=True), "1 − Σ cost / Σ budget")
    found = Fractions.of(saved, np.array([[[0.1, 0.25], [1.2, 2.0]]]))
    assert found.numerators.tolist() == [[25 - 10, 200 - 120]]
    assert [Fraction(n, d) for n, d in found.scores] == [Fraction(95, 225)]
    assert found.denominators.tolist() == [[25, 200]]
    assert 100 * float(Fraction(95, 225)) == pytest.approx(float(saved.score([1.3, 2.25])))


@pytest.mark.parametrize("steps", [(1, 1), (0.1, 1), (1, 0.01), (0.5, 0.25)])
def test_something_over_nothing_counts_in_steps(steps):
    """Edits and words that are no whole numbers, and a segment without words: of four of it, the gain is 1, not 2δ."""
    a, b = np.array([[4, 4], [1, 0], [5, 5], [2, 2]]), np.array([[0, 4], [0, 0], [1, 5], [0, 2]])
    scaled = [[[Fraction(str(v)) * Fraction(str(s)) for v, s in zip(row, steps, strict=True)] for row in x.tolist()]
              for x in (a, b)]  # fmt: skip
    for test in TESTS:
        result = run(test, a * steps, b * steps, metric="ter", n_resamples=400)
        assert (result.n_greater, result.n_equal) == extremes("ter", *scaled, test, 400)


@pytest.mark.parametrize("seed", range(2))
def test_much_over_nothing_beside_little_over_something(seed):
    """Edits pile up on segments without words, so that scores are far larger than those of any segment."""
    rng = np.random.default_rng(seed)
    piled = np.stack([rng.integers(10**5, 10**6, 200), np.zeros(200, dtype=int)], axis=1)
    length = rng.integers(1, 3, 3)
    a, b = (np.concatenate([piled, np.stack([rng.integers(0, 9, 3), length], axis=1)]) for _ in range(2))
    for test in [test for test in TESTS if test.draw == "swap"]:
        result = run(test, a, b, metric="ter", n_resamples=100)
        expected = extremes("ter", a, b, test, 100)
        assert (result.n_greater, result.n_equal) == expected
        assert result.n_equal > 0


def test_ties_of_other_metrics_are_relative_to_their_scale():
    """Scores up to 100 that are off by some 1e-12, as those of a long computation may be."""

    def off(totals):
        return 100 * totals[..., 0] / totals[..., 1] + 2e-12 * np.sin(1e3 * totals[..., 0])

    a, b = [[[value, 9] for value in values] for values in ([5, 3, 4, 6, 2, 5], [4, 3, 5, 5, 3, 3])]
    for test in TESTS:
        noisy, plain = (
            run(test, a, b, metric=Metric("own", ("x", "y"), function, ""), n_resamples=2000)
            for function in (off, Ratio((0,), (1,)))
        )
        assert (noisy.n_greater, noisy.n_equal) == (plain.n_greater, plain.n_equal)
        assert noisy.n_equal > 0


# Ratios


@pytest.mark.parametrize(
    ("ratio", "options", "message"),
    [
        (Ratio((0,), (2,)), {}, r"ratio of metric own has the columns \(2,\), expected positions from 0 to 1"),
        (Ratio((-1,), (1,)), {}, r"ratio of metric own has the columns \(-1,\), expected positions from 0 to 1"),
        (Ratio((), (1,)), {}, r"ratio of metric own has the columns \(\), expected positions from 0 to 1"),
        (Ratio((0,), (1,), given=((0, 5),)), {}, r"ratio of metric own has the columns \(0, 5\), expected"),
        (Ratio((0,), (1,), factor=0.0), {}, r"factor of metric own is 0\.0, expected a positive number"),
        (Ratio((0,), (1,), factor=float("nan")), {}, "factor of metric own is nan, expected a positive number"),
        (Ratio((0,), (1,)), {"averaged": True}, r"own, which is averaged, has the columns \(1,\), expected \(2,\)"),
    ],
)
def test_ratios_that_cannot_be(ratio, options, message):
    with pytest.raises(InputError, match=message):
        Metric("own", ("x", "y"), ratio, "", **options)


NO_RATIOS = ("bleu", "chrf", "chrf++", "macro_f1", "balanced_accuracy", "mcc")


def test_what_has_the_form_of_a_ratio_says_so():
    ratios = [name for name in registry.METRICS if isinstance(registry.metric(name).function, Ratio)]
    assert sorted([*ratios, *NO_RATIOS]) == sorted(registry.METRICS)
