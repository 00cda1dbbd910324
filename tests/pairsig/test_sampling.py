"""Bootstrap and randomization against whole-number counting over the same draws, and against scipy."""

import re
import threading

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import oracles
import pairsig
import simulate
from conftest import repetitions
from oracles import how
from pairsig import InputError, Metric, Ratio, bootstrap_test, randomization_test
from pairsig.core import draws, exceedances, scores
from pairsig.core.definitions import TESTS, find
from pairsig.core.scores import Scorer
from pairsig.core.totals import Resampling
from pairsig.metrics import registry
from pairsig.stats import sampling

DRAWING = [test for test in TESTS if not test.exact]


def run(test, a, b, **options):
    return (bootstrap_test if test.draw == "resample" else randomization_test)(a, b, **how(test), **options)


def count(scorer, pairs, test, resampling):
    """Numbers of resamples beyond and on the border."""
    counted, _ = sampling.by_draws(scorer, pairs, test, resampling)
    return np.stack([counted.n_greater, counted.n_equal])


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


@pytest.mark.parametrize("size", [1, 40, 400, 10**4])
@pytest.mark.parametrize("metric", oracles.SCORES)
def test_counts_are_those_of_fractions(metric, size):
    """Ties included, for every test, method and alternative."""
    a, b = counts_of(metric, 7, size, 1)
    lead = oracles.difference(metric, a, b) * (-1 if metric in oracles.LOWER_IS_BETTER else 1)
    for test in DRAWING:
        result = run(test, a, b, metric=metric, n_resamples=30)
        wanted = oracles.extremes(metric, a, b, test, oracles.seeded_draws(test.draw, len(a), 30))
        assert (result.n_greater, result.n_equal) == wanted, test.label
        assert result.better == ("a" if lead > 0 else "b" if lead < 0 else None)
        if result.estimator == "plain":
            draws_of = oracles.seeded_draws(test.draw, len(a), 30)
            assert result.pvalue == pytest.approx(float(oracles.pvalue(metric, a, b, test, draws_of)), rel=1e-12)


@pytest.mark.parametrize("name", ["bootstrap", "randomization"])
@pytest.mark.parametrize("metric", simulate.FAMILIES)
def test_counts_do_not_depend_on_batches_threads_or_parts(name, metric, monkeypatch):
    statistics = simulate.statistics(metric, n_systems=3, n_segments=70, spread=0.05)
    scorer = Scorer(statistics.of(registry.metric(metric)), registry.metric(metric))
    pairs = scorer.better_first()[0]

    def counted(some=None, **options):
        return count(scorer, pairs, find(name), Resampling(3000, 5, some=some, **options))

    whole = counted(threads=1)
    assert whole[0].max() > 0
    for rows, threads in ((900, 1), (500, 2), (33, 3)):
        monkeypatch.setattr("pairsig.core.totals._BATCH_ELEMENTS", 70 * rows)
        np.testing.assert_array_equal(whole, counted(threads=threads))
    np.testing.assert_array_equal(whole, counted(range(1100)) + counted(range(1100, 3000)))


@pytest.mark.parametrize("metric", ["accuracy", "f1", "bleu"])
def test_many_pairs_are_one_pair_at_a_time(metric, monkeypatch):
    """Compiled for many pairs, with numpy for few, and some at a time: the counts are the same."""
    statistics = simulate.statistics(metric, n_systems=6, n_segments=40, spread=0.2)
    scorer = Scorer(statistics.of(registry.metric(metric)), registry.metric(metric))
    pairs = scorer.better_first()[0]
    for test in [test for test in DRAWING if not test.directed]:
        together = count(scorer, pairs, test, Resampling(400, 5, threads=1))
        with monkeypatch.context() as patch:
            patch.setattr(scores, "SHUFFLED_ELEMENTS", 3 * 200)
            patch.setattr(scores, "_SCORED_ELEMENTS", 2 * 200)
            np.testing.assert_array_equal(count(scorer, pairs, test, Resampling(400, 5)), together)
        for row, pair in enumerate(pairs):
            alone = count(scorer, pair[None], test, Resampling(400, 5))
            np.testing.assert_array_equal(alone[:, 0], together[:, row])


def test_identical_systems_have_p_1():
    a, _ = simulate.statistics("f1", n_systems=2, n_segments=30).counts
    for test in (bootstrap_test, randomization_test):
        result = test(a, a, metric="f1", n_resamples=1000)
        assert (result.pvalue, result.pvalue_low, result.pvalue_high, result.gain, result.better) == (1, 1, 1, 0, None)


def test_p_is_that_of_scipys_permutations():
    from scipy.stats import permutation_test

    rng = np.random.default_rng(3)
    a, b = rng.normal(0.2, 1, 12), rng.normal(0, 1, 12)
    for alternative in ("two-sided", "greater", "less"):
        wanted = permutation_test(
            (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", alternative=alternative
        ).pvalue
        assert pairsig.exact_test(a, b, alternative=alternative).pvalue == wanted
        drawn = randomization_test(a, b, alternative=alternative, n_resamples=20_000)
        assert abs(drawn.pvalue - wanted) < 0.006


def test_the_percentile_bootstrap_is_scipys():
    """The share of resampled means below 0 that `scipy.stats.bootstrap` finds, within the error of both."""
    from scipy.stats import bootstrap

    rng = np.random.default_rng(5)
    d = rng.normal(0.25, 1, 60)
    drawn = bootstrap((d,), np.mean, n_resamples=9999, rng=1).bootstrap_distribution
    result = bootstrap_test(d, np.zeros(60), method="percentile", alternative="greater", n_resamples=20_000)
    assert abs(result.pvalue - (drawn <= 0).mean()) < 0.01


def test_shifted_and_percentile_are_what_their_formulas_say():
    """One win among five: a resample gains k/5 with Bin(5, 1/5)."""
    a, b = [1, 0, 0, 0, 0], [0] * 5
    for method, alternative, wanted in (
        ("shifted", "observed", binom.sf(2, 5, 0.2)), ("shifted", "greater", binom.sf(1, 5, 0.2)),
        ("percentile", "greater", binom.pmf(0, 5, 0.2)), ("percentile", "observed", 0.0),
        ("percentile", "two-sided", 2 * binom.pmf(0, 5, 0.2)),
        ("shifted", "two-sided", binom.sf(1, 5, 0.2) + binom.pmf(0, 5, 0.2)),
    ):  # fmt: skip
        p = bootstrap_test(a, b, method=method, alternative=alternative, n_resamples=40_000).pvalue
        assert abs(p - wanted) < 0.012, (method, alternative)


def test_small_differences_are_no_ties():
    """One difference of 10⁸ and twelve of 1: only the two shuffles that swap all or nothing reach the observed gain."""
    difference = np.array([10**8] + [1] * 12)
    for metric in ("mean", Metric("sum", ("value",), lambda totals: totals[..., 0], "Σ value", scale=1e8)):
        result = randomization_test(difference, np.zeros(13), metric=metric, n_resamples=20_000)
        assert binom.sf(result.n_greater + result.n_equal - 1, 20_000, 2.0**-12) > 1e-4


def test_sums_are_exact_up_to_two_to_the_53rd_and_refused_from_there_on():
    largest = np.array([[2**51 - 1, 2**51 - 1]] * 4)
    wrong = largest - np.array([[2**50, 0]])
    assert bootstrap_test(largest, wrong, metric="accuracy", n_resamples=10).gain == pytest.approx(50)
    for test in (bootstrap_test, randomization_test):
        with pytest.raises(InputError, match="cannot be exact"):
            test(largest + 1, wrong, metric="accuracy", n_resamples=10)


def test_clopper_pearson_is_scipys():
    for k, n in ((0, 5), (3, 5), (5, 5), (17, 400), (0, 0)):
        low, high = exceedances.clopper_pearson(k, n)
        wanted = binomtest(k, n).proportion_ci(0.95, method="exact") if n else (0.0, 1.0)
        assert (low, high) == (pytest.approx(wanted[0], abs=1e-12), pytest.approx(wanted[1], abs=1e-12))


def test_the_signature_says_it_all():
    result = bootstrap_test([1, 1], [0, 0], n_resamples=10, rng=4, method="percentile", alternative="observed")
    assert result.signature == (
        "metric:mean|test:bootstrap|method:percentile|alternative:observed|resamples:10|seed:4|unit:segment|"
        f"version:{pairsig.__version__}"
    )
    assert randomization_test([1, 1], [0, 0]).signature.startswith(
        "metric:mean|test:randomization|alternative:two-sided|resamples:100000|seed:2012|unit:segment|"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "blue"}, "unknown metric 'blue', expected one of .*; did you mean bleu"),
        ({"alternative": "two"}, "unknown alternative of the bootstrap test: 'two', expected one of two-sided"),
        ({"method": "none"}, "unknown method of the bootstrap test: 'none', expected one of shifted, percentile"),
        ({"n_resamples": 0}, "number of resamples is 0, expected at least 1"),
        ({"n_resamples": 10**12 + 1}, "number of resamples is 1000000000001, expected at most 1,000,000,000,000"),
        ({"rng": -1}, "seed is -1, expected 0 or more"),
        ({"rng": 10**5000}, "seed is beyond 10⁴⁰, expected at most 340,282,366"),
        ({"rng": 1.5}, r"seed is 1\.5, expected a whole number"),
        ({"threads": 0}, "number of threads is 0, expected at least 1"),
        ({"threads": 10**6}, "number of threads is 1000000, expected at most 1,024"),
        ({"document": ["d"]}, "found 1 documents for 2 segments"),
        ({"document": [None, None]}, "found no documents for the unit document"),
        ({"document": ["d", None]}, "segment number 2 has no document"),
        ({"document": "de"}, r"ids of documents have the shape \(\), expected one per segment"),
        ({"b": [[2, 1], [1, 1]]}, r"system b, segment 1 .* has correct > total \(correct 2, total 1\)"),
        ({"b": [[1, 1], [1]]}, "rows of counts have different lengths"),
        ({"a": [[1j, 1]] * 2}, "counts of type complex128, expected numbers"),
        ({"a": None}, r"system a has counts of shape \(\), expected"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(change, message):
    arguments = {"a": [[1, 1], [0, 1]], "b": [[1, 1], [1, 1]], "metric": "accuracy", "n_resamples": 10} | change
    a, b = arguments.pop("a"), arguments.pop("b")
    with pytest.raises(InputError, match=message):
        bootstrap_test(a, b, **arguments)


def test_a_single_unit():
    """A bootstrap says nothing of it, and a shuffle is as extreme whatever it does."""
    a, b = [[1, 1]] * 3, [[0, 1]] * 3
    for options in ({"document": ["d"] * 3}, {}):
        pair = (a, b) if options else (a[:1], b[:1])
        assert randomization_test(*pair, metric="accuracy", n_resamples=50, **options).pvalue == 1.0
        with pytest.raises(InputError, match="the bootstrap needs at least two"):
            bootstrap_test(*pair, metric="accuracy", n_resamples=50, **options)


def rate(totals):
    """The word error rate as one writes it: 0 / 0 where there are no words."""
    return 100 * totals[..., 0] / totals[..., 1]


WER = Metric("wer", ("errors", "words"), rate, "100 · Σ errors / Σ words", higher_is_better=False)
SENTENCE = "expected a finite number; the metric must define its score for a denominator of 0, as a pairsig.Ratio does"


@pytest.mark.parametrize("name", ["bootstrap", "randomization"])
@pytest.mark.parametrize("threads", [1, 3])
def test_scores_that_are_not_finite_are_refused(name, threads):
    """The message names the system and the resample, of which each leaves a system without a word."""
    a, b = np.array([[0, 0], [0, 0], [1, 5]]), np.array([[0, 0], [0, 0], [1, 0]])
    test = find(name)
    with pytest.raises(InputError, match=f"^wer of system b on the whole test set is inf, {re.escape(SENTENCE)}$"):
        run(test, a, b, metric=WER, n_resamples=100)
    words = np.array([[0, 0], [0, 0], [0, 5]])
    pair = (a, words) if name == "bootstrap" else (np.array([[0, 4], [0, 0]]), np.array([[0, 0], [0, 4]]))
    noun = "resample" if name == "bootstrap" else "shuffle"
    place = rf"^wer of system [ab] (on|after) {noun} (\d+) is nan, {re.escape(SENTENCE)}$"
    with pytest.raises(InputError, match=place) as error:
        run(test, *pair, metric=WER, n_resamples=5000, threads=threads)
    number = int(re.match(place, str(error.value))[2])
    if name == "bootstrap":
        assert draws.bootstrap_counts(2012, number, 1, 3)[0, 2] == 0
    else:
        assert len(set(draws.swaps(2012, number, 1, 2)[0])) == 2


def test_a_function_may_mend_its_own_zeros():
    """What it divides by before it does raises no warning, on no thread."""
    mended = Metric("wer", WER.columns, lambda t: np.where(t[..., 1] > 0, rate(t), 0.0), "", higher_is_better=False)
    ratio = Metric("wer", WER.columns, Ratio((0,), (1,)), "", higher_is_better=False)
    a, b = np.array([[0, 0], [0, 0], [1, 5]]), np.array([[0, 0], [0, 0], [2, 5]])
    for test in (bootstrap_test, randomization_test):
        one, other = (test(a, b, metric=metric, n_resamples=2000, threads=2) for metric in (mended, ratio))
        assert (one.n_greater, one.n_equal, one.better) == (other.n_greater, other.n_equal, other.better)


@pytest.mark.parametrize("function", [lambda t: t.sum(), lambda t: t, lambda t: t[0], lambda _: 1.0])
def test_functions_that_make_no_scores(function):
    with pytest.raises(InputError, match=r"the function of metric own returns scores of shape .*, expected \("):
        bootstrap_test([1, 2, 3], [2, 3, 3], metric=Metric("own", ("value",), function, ""), n_resamples=10)


@pytest.mark.parametrize("which", [1, 2])
def test_an_error_stops_the_other_threads(which):
    """One of two threads comes upon a score that is none; the other one's share is hours, so it must stop."""
    threads = {}

    def function(totals):
        number = threads.setdefault(threading.get_ident(), len(threads))  # 0 is the main thread
        return np.full(totals.shape[:-1], np.nan) if number == which else rate(totals)

    a, b = np.array([[0, 5], [0, 5]]), np.array([[0, 5], [1, 5]])
    with pytest.raises(InputError, match="is nan"):
        bootstrap_test(a, b, metric=Metric("own", WER.columns, function, ""), n_resamples=10**11, threads=2)


def test_documents_are_the_unit_when_segments_are_not_independent():
    """With a shared effect on documents, segments reject equal systems far too often, documents do not."""
    data = simulate.statistics(
        "accuracy", n_systems=80, n_segments=400, spread=0.0, document_size=20, document_effect=0.5, seed=7
    )
    counts = data.of(registry.metric("accuracy"))
    rejected = {"segment": 0, "document": 0}
    for a, b in zip(counts[::2], counts[1::2], strict=True):
        for unit, documents in (("segment", None), ("document", data.documents)):
            p = randomization_test(a, b, metric="accuracy", n_resamples=199, document=documents).pvalue
            rejected[unit] += p <= 0.05
    assert binom.sf(rejected["segment"] - 1, 40, 0.05) < 1e-4
    assert binom.sf(rejected["document"] - 1, 40, 0.05) > 0.001


# How often the tests find a difference between equally good systems


def items(n_systems, n, rng):
    return (rng.random((n_systems, n)) < 0.5)[:, :, None].astype(int)


WORLDS = {
    "items": ("mean", items),
    "means": ("mean", lambda k, n, rng: rng.normal(size=(k, n, 1)).round(4)),
    "f1": ("f1", lambda k, n, rng: simulate.statistics("f1", n_systems=k, n_segments=n, spread=0.0,
                                                       seed=int(rng.integers(2**31))).counts),
}  # fmt: skip


def rejected(world, n, n_pairs, seed):
    """How many of the pairs of equally good systems every test finds different."""
    name, make = WORLDS[world]
    metric = registry.metric(name)
    counts = make(2 * n_pairs, n, np.random.default_rng([seed, n]))
    if metric.averaged:
        counts = np.concatenate([counts, np.ones_like(counts)], axis=2)
    scorer = Scorer(counts, metric)
    pairs = np.arange(2 * n_pairs).reshape(-1, 2)
    gains = scorer.gains(pairs)
    pairs = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
    numbers = {}
    for test in [test for test in DRAWING if not test.directed]:
        n_greater, n_equal = count(scorer, pairs, test, Resampling(1000, seed))
        counted = exceedances.Exceedances(1000, n_greater, n_equal, *np.full((3, n_pairs), np.nan))
        p = exceedances.pvalues(counted, np.abs(gains), test)[0]
        numbers[test] = int((p < 0.05 if test.strict else p <= 0.05).sum())
    return numbers


@pytest.mark.parametrize(
    ("world", "n", "n_pairs"),
    [
        ("items", 50, 300),
        *(pytest.param(world, n, 1000, marks=pytest.mark.slow) for world in WORLDS for n in (20, 100)),
    ],
)
def test_rates(world, n, n_pairs):
    n_pairs = repetitions(n_pairs) if n_pairs > 300 else n_pairs
    for test, number in rejected(world, n, n_pairs, seed=1).items():
        low, high = (0.0, 0.05) if test.draw == "swap" else oracles.RATES[test.method, test.alternative][n]
        assert binom.cdf(number, n_pairs, low) > 0.001, (test.label, number / n_pairs)
        assert binom.sf(number - 1, n_pairs, high) > 0.001, (test.label, number / n_pairs)


@pytest.mark.parametrize("draw", ["resample", "swap"])
def test_threads_and_rows_fit_into_the_memory(draw):
    """The bytes of the docstring of `Product.split`: fewer rows first at the same share of a thread, then a refusal."""
    statistics = simulate.statistics("bleu", n_systems=8, n_segments=300, spread=0.2)
    product = Scorer(statistics.of(registry.metric("bleu")), registry.metric("bleu")).product
    size, u, v, m = product.dtype.itemsize, product.n_multiplied, len(product._bases), len(product._units)
    per_row = (300 + m + u + 3 * v) * size + product.index.size * (size + 8 + 24)
    swapped = 64 * 2**19 if draw == "swap" else 0
    for part in (0.03, 0.2, 1.0, 3.0):
        memory = round(u * 300 * size + 16 * per_row + swapped + part * 4 * (1024 * per_row + swapped))
        threads, rows = product.split(draw, Resampling(10**6, threads=4, memory=memory))
        assert 16 <= rows <= 1024
        assert u * 300 * size + threads * (rows * per_row + swapped) <= memory
    assert (threads, rows) == (4, 1024)
    with pytest.raises(InputError, match="of memory are needed"):
        product.split(draw, Resampling(10**6, memory=u * 300 * size + 15 * per_row + swapped))
