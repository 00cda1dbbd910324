"""The tests against closed forms, whole numbers, and the truth of simulated systems."""

import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

import pairsig
import simulate
from conftest import examples
from oracles import how
from pairsig import InputError, Metric, Ratio, bootstrap_test, randomization_test
from pairsig.comparisons import all_pairs
from pairsig.core import definitions, engine, exceedances, draws
from pairsig.metrics import registry
from pairsig.stats.sequential import sequential_test

DRAWS = {"bootstrap": draws.bootstrap_counts, "randomization": draws.swaps}


def settings_of(name):
    """The arguments for every method and alternative of a test."""
    return [how(test) for test in definitions.TESTS if test.name == name]


def within_error(count, share, n, sigmas=4.5):
    return abs(count / n - share) <= sigmas * np.sqrt(max(share * (1 - share), 1 / n) / n)


@pytest.mark.parametrize("test", [bootstrap_test, randomization_test])
def test_identical_systems_have_p_1(test):
    a, _ = simulate.statistics("f1", n_systems=2, n_segments=30).counts
    result = test(a, a, metric="f1", n_resamples=1000)
    assert (result.pvalue, result.pvalue_low, result.pvalue_high, result.gain, result.better) == (1, 1, 1, 0, None)
    assert result.n_different == 0


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("metric", simulate.FAMILIES)
def test_counts_do_not_depend_on_batches_threads_or_parts(test, metric):
    statistics = simulate.statistics(metric, n_systems=3, n_segments=70, spread=0.05)
    counts = statistics.of(registry.metric(metric))
    pairs = np.array([[0, 1], [1, 2], [0, 2]])

    def count(resamples=range(9000), **options):
        scorer = engine.Scorer(counts, registry.metric(metric))
        fragments = scorer.exceedances(
            pairs, definitions.find(test), engine.Resampling(9000, 5, **options), resamples=resamples
        )
        return np.concatenate([fragments.n_greater, fragments.n_equal])

    whole = count(batch=1000, threads=1)
    assert whole[:3].min() > 0
    np.testing.assert_array_equal(whole, count(batch=4096, threads=1))
    np.testing.assert_array_equal(whole, count(batch=1000, threads=2))
    np.testing.assert_array_equal(whole, count(batch=333, threads=3))
    np.testing.assert_array_equal(whole, count(range(4000)) + count(range(4000, 9000)))


@pytest.mark.parametrize("metric", ["accuracy", "f1", "bleu"])
def test_a_few_are_scored_at_a_time(metric, monkeypatch):
    """Seven pairs in chunks of three, or five systems in chunks of two: the counts are those of all together."""
    statistics = simulate.statistics(metric, n_systems=5, n_segments=40, spread=0.3)
    scorer = engine.Scorer(statistics.of(registry.metric(metric)), registry.metric(metric))
    pairs = np.array([[0, 1], [0, 2], [3, 0], [1, 2], [4, 1], [2, 3], [3, 4]])

    def count(test):
        fragments = scorer.exceedances(pairs, test, engine.Resampling(600, 5, threads=1, batch=200))
        return np.stack([fragments.n_greater, fragments.n_equal])

    for test in [test for test in definitions.TESTS if test.draw and not test.statistic]:
        whole = count(test)
        assert len({tuple(own) for own in whole.T}) > 3
        with monkeypatch.context() as patch:
            patch.setattr(engine, "_SHUFFLED_ELEMENTS", 3 * 200 * len(scorer.product.index))
            patch.setattr(engine, "_SCORED_ELEMENTS", 2 * 200)
            np.testing.assert_array_equal(count(test), whole)


@pytest.mark.parametrize("name", ["bootstrap", "randomization"])
def test_a_score_that_is_not_finite_in_a_later_chunk(name, monkeypatch):
    """The system and the resample are named, not those of the first chunk or batch."""
    own = Metric("own", ("x",), lambda totals: np.log(totals[..., 0] - 10), "log(Σ x − 10)")
    counts = np.array([[8, 7, 6], [9, 8, 7], [8, 8, 8], [20, 1, 1], [1, 20, 1]])[:, :, None]
    scorer = engine.Scorer(counts, own, ["a", "b", "c", "d", "e"])
    monkeypatch.setattr(engine, "_SHUFFLED_ELEMENTS", 2 * 50)
    monkeypatch.setattr(engine, "_SCORED_ELEMENTS", 2 * 50)
    pairs, test = np.array([[0, 1], [1, 2], [0, 2], [3, 4]]), definitions.find(name)
    with np.errstate(all="ignore"), pytest.raises(InputError) as refused:
        scorer.exceedances(pairs, test, engine.Resampling(200, 5, threads=1, batch=50), resamples=range(50, 200))
    system, number = re.search(
        r"own of system (\w) (?:after shuffle|on resample) (\d+) is", str(refused.value)
    ).groups()
    x, y = counts[3:, :, 0] if system == "d" else counts[:2:-1, :, 0]
    assert int(number) >= 50
    drawn = DRAWS[name](5, int(number), 1, 3)[0]
    assert (x @ drawn if name == "bootstrap" else np.where(drawn, y, x).sum()) <= 10


@pytest.mark.parametrize("draw", ["bootstrap", "randomization"])
@pytest.mark.parametrize(("n_systems", "compiled"), [(2, True), (2, False), (30, True)])
@pytest.mark.parametrize("size", [40, 3000, 2**17, 2**21, 41_935])
@pytest.mark.parametrize("kept", [1, None])
def test_derived_columns_have_the_totals_of_their_own_numbers(draw, n_systems, compiled, size, kept, monkeypatch):
    """Texts of m words have m − 3 sequences of four words, or none; a last column is near no other one.

    With up to 41,942 words, 400 texts may have nearly 2²⁴: too many for sums in float32 that are exact in any order.
    """
    monkeypatch.setattr(draws, "pays", lambda _: compiled)
    rng = np.random.default_rng(size)
    words = rng.integers(8, 8 + size, (n_systems, 400))
    words[:, :20], words[:, 20] = rng.integers(0, 5, (n_systems, 20)), 7 + size
    columns = [words, *(np.maximum(words - k, 0) for k in range(4)), rng.integers(0, 9, words.shape)]
    product = engine.Product(columns, np.ones(6))
    assert (product.shape[0] == 2 * n_systems + 1) == (size != 41_935)
    distinct = product.buffers(50, kept or product.shape[0], definitions.find(draw).draw)(3, 10, 50)
    drawn = product.totals(distinct)
    draws = DRAWS[draw](3, 10, 50, 400)
    np.testing.assert_array_equal(drawn, np.stack([own @ draws.astype(np.int64).T for own in columns]))


def test_sums_are_exact_up_to_two_to_the_53rd_and_refused_from_there_on():
    largest = np.array([[2**51 - 1, 2**51 - 1]] * 4)
    wrong = largest - np.array([[2**50, 0]])
    assert bootstrap_test(largest, wrong, metric="accuracy", n_resamples=10).gain == pytest.approx(50)
    with pytest.raises(InputError, match="cannot be exact"):
        bootstrap_test(largest + 1, wrong, metric="accuracy", n_resamples=10)
    with pytest.raises(InputError, match="cannot be exact"):
        randomization_test(largest + 1, wrong, metric="accuracy", n_resamples=10)


@pytest.mark.parametrize(
    ("unit", "metric"),
    [(1, "mean"), (1 / 3, "mean"), (1, Metric("sum", ("value",), lambda totals: totals[..., 0], "Σ value", scale=1e8))],
)
def test_small_differences_are_no_ties(unit, metric):
    """One difference of 10⁸ and twelve of 1: only the two shuffles that swap all or nothing reach the observed gain."""
    difference = unit * np.array([10**8] + [1] * 12)
    result = randomization_test(difference, np.zeros(13), metric=metric, n_resamples=20_000)
    assert within_error(result.n_greater + result.n_equal, 2 * 2**-13, 20_000)


def test_documents_are_the_unit_when_segments_are_not_independent():
    """With a shared effect on documents, segments reject equal systems far too often, documents do not."""
    data = simulate.statistics(
        "accuracy", n_systems=80, n_segments=400, spread=0.0, document_size=20, document_effect=0.5, seed=7
    )
    counts = data.of(registry.metric("accuracy"))
    by_segment = by_document = 0
    for a, b in zip(counts[::2], counts[1::2], strict=True):
        how = {"metric": "accuracy", "n_resamples": 199, "estimator": "plain"}
        by_segment += randomization_test(a, b, **how).pvalue <= 0.05
        by_document += randomization_test(a, b, document=data.documents, **how).pvalue <= 0.05
    assert binom.sf(by_segment - 1, 40, 0.05) < 1e-4
    assert binom.sf(by_document - 1, 40, 0.05) > 0.001


@examples(25)
@given(st.integers(0, 50), st.integers(1, 50))
def test_clopper_pearson_is_scipys(successes, more):
    low, high = exceedances.clopper_pearson(successes, successes + more)
    interval = binomtest(successes, successes + more).proportion_ci(0.95, method="exact")
    assert (low, high) == (pytest.approx(interval.low, abs=1e-12), pytest.approx(interval.high, abs=1e-12))


def test_what_is_done_unless_one_says():
    """A million resamples of seed 2012, two-sided, shifted."""
    a, b = [[1, 1], [1, 1], [0, 1]], [[0, 1], [1, 1], [0, 1]]
    for test, name, n_resamples in (
        (bootstrap_test, "bootstrap|method:shifted", 1_000_000),
        (randomization_test, "randomization", 100_000),
    ):
        result = test(a, b, metric="accuracy")
        expected = f"metric:accuracy|test:{name}|alternative:two-sided|resamples:{n_resamples}|seed:2012|unit:segment|"
        assert result.signature.startswith(expected)
        assert result.n_resamples == n_resamples
    table = all_pairs.compare(
        pairsig.Statistics.from_arrays({"a": np.array(a), "b": np.array(b)}, ["correct", "total"])
    )
    expected = "metric:accuracy|test:randomization|alternative:two-sided|resamples:1000000|seed:2012|unit:segment|"
    assert table["signature"][0].startswith(expected)
    assert "|part:" not in table["signature"][0]


def test_the_signature_says_it_all():
    result = bootstrap_test([1, 1], [0, 0], n_resamples=10, rng=4, method="percentile", alternative="observed")
    assert result.signature == (
        "metric:mean|test:bootstrap|method:percentile|alternative:observed|resamples:10|seed:4|unit:segment|"
        f"version:{pairsig.__version__}"
    )
    assert definitions.from_signature(result.signature) == definitions.find("bootstrap", "percentile", "observed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "blue"}, "unknown metric 'blue', expected one of .*; did you mean bleu"),
        (
            {"alternative": "two"},
            "unknown alternative of the bootstrap test: 'two', expected one of two-sided, greater",
        ),
        ({"method": "none"}, "unknown method of the bootstrap test: 'none', expected one of shifted, percentile"),
        ({"n_resamples": 0}, "number of resamples is 0, expected at least 1"),
        ({"rng": -1}, "seed is -1, expected 0 or more"),
        ({"threads": 0}, "number of threads is 0, expected at least 1"),
        ({"batch": 0}, "batch size is 0, expected at least 1"),
        ({"metric": ["f1"]}, r"unknown metric \['f1'\], expected one of accuracy, "),
        ({"batch": 2.5}, r"batch size is 2\.5, expected a whole number"),
        ({"document": ["d"]}, "found 1 documents for 2 segments"),
        ({"b": [[2, 1], [1, 1]]}, r"system b, segment 1 .* has correct > total \(correct 2, total 1\)"),
        ({"b": [[1, 1], [1]]}, "rows of counts have different lengths"),
        ({"rng": 1.5}, r"rng is 1\.5, expected a whole number, or what numpy"),
        (
            {"rng": 10**5000},
            "seed is beyond 10⁴⁰, expected at most 340,282,366,920,938,463,463,374,607,431,768,211,455",
        ),
        ({"n_resamples": 10**12 + 1}, "number of resamples is 1000000000001, expected at most 1,000,000,000,000"),
        ({"threads": 10**6}, "number of threads is 1000000, expected at most 1,024"),
        ({"batch": "x"}, "batch size is 'x', expected a whole number"),
        ({"batch": 10**9}, "batch size is 1000000000, expected at most 134,217,728"),
        ({"document": [None, None]}, "found no documents for the unit document"),
        ({"document": ["d", None]}, "segment number 2 has no document"),
        ({"document": [float("nan"), 2.0]}, "segment number 1 has no document"),
        ({"document": "de"}, r"ids of documents have the shape \(\), expected one per segment"),
        ({"document": [["d"], ["e"]]}, r"ids of documents have the shape \(2, 1\), expected one per segment"),
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
    for one in ({"document": ["d"] * 3}, {}):
        pair = (a, b) if one else (a[:1], b[:1])
        one["metric"] = "accuracy"
        assert randomization_test(*pair, n_resamples=50, **one).pvalue == 1.0
        for own in settings_of("bootstrap"):
            with pytest.raises(InputError, match="the bootstrap needs at least two"):
                bootstrap_test(*pair, n_resamples=50, **own, **one)
            with pytest.raises(InputError, match="the bootstrap needs at least two"):
                sequential_test(*pair, test="bootstrap", **own, **one)
    data = pairsig.Statistics.from_arrays({"a": np.array(a[:1]), "b": np.array(b[:1])}, ["correct", "total"])
    with pytest.raises(InputError, match="the bootstrap needs at least two"):
        all_pairs.compare(data, "bootstrap", metric="accuracy", n_resamples=50)
    assert all_pairs.compare(data, "randomization", metric="accuracy", n_resamples=50)["pvalue"].tolist() == [1.0]


# Scores that are no numbers


def rate(totals):
    """The README's word error rate as one writes it: 0 / 0 where there are no words."""
    return 100 * totals[..., 0] / totals[..., 1]


WER = Metric("wer", ("errors", "words"), rate, "100 · Σ errors / Σ words", higher_is_better=False)
SENTENCE = "expected a finite number; the metric must define its score for a denominator of 0, as a pairsig.Ratio does"


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("threads", [1, 3])
def test_scores_that_are_not_finite_are_refused(test, threads):
    """Two segments without words of three: half of the shuffles and 8 of 27 resamples leave a system without any."""
    a, b = np.array([[0, 0], [0, 0], [1, 5]]), np.array([[0, 0], [0, 0], [1, 0]])
    run = {"bootstrap": bootstrap_test, "randomization": randomization_test}[test]
    with pytest.raises(InputError, match=f"^wer of system b on the whole test set is inf, {re.escape(SENTENCE)}$"):
        run(a, b, metric=WER, n_resamples=100)
    words = np.array([[0, 0], [0, 0], [0, 5]])
    pair = (a, words) if test == "bootstrap" else (np.array([[0, 4], [0, 0]]), np.array([[0, 0], [0, 4]]))
    fragments = "resample" if test == "bootstrap" else "shuffle"
    place = rf"^wer of system [ab] (on|after) {fragments} (\d+) is nan, {re.escape(SENTENCE)}$"
    for own in settings_of(test):
        with pytest.raises(InputError, match=place) as error:
            run(*pair, metric=WER, n_resamples=5000, batch=16, threads=threads, **own)
        number = int(re.match(place, str(error.value))[2])
        if test == "bootstrap":
            assert pairsig.core.draws.bootstrap_counts(2012, number, 1, 3)[0, 2] == 0
        else:
            assert len(set(pairsig.core.draws.swaps(2012, number, 1, 2)[0])) == 2
        with pytest.raises(InputError, match=f"after {fragments}|on {fragments}"):
            sequential_test(*pair, metric=WER, test=test, **own)


def test_scores_that_are_not_finite_are_refused_in_all_pairs():
    own = {"first": [[0, 5]] * 3, "second": [[1, 5]] * 3, "third": [[1, 5], [0, 0], [0, 0]]}
    data = pairsig.Statistics.from_arrays({name: np.array(counts) for name, counts in own.items()}, WER.columns)
    with pytest.raises(InputError, match=r"^wer of system third on resample \d+ is nan, expected a finite number"):
        all_pairs.compare(data, "bootstrap", metric=WER, n_resamples=500)
    # 3 of 8 swaps leave it, or the other one, without a word? None does: the others have words everywhere.
    assert len(all_pairs.compare(data, "randomization", metric=WER, n_resamples=500)) == 3
    data = pairsig.Statistics.from_arrays(
        {"first": np.array(own["first"]), "empty": np.zeros((3, 2), int)}, WER.columns
    )
    with pytest.raises(InputError, match="wer of system empty on the whole test set is nan"):
        all_pairs.compare(data, metric=WER, n_resamples=500)


def test_a_function_may_mend_its_own_zeros():
    """What it divides by before it does raises no warning, on no thread."""
    mended = Metric("wer", WER.columns, lambda t: np.where(t[..., 1] > 0, rate(t), 0.0), "", higher_is_better=False)
    a, b = np.array([[0, 0], [0, 0], [1, 5]]), np.array([[0, 0], [0, 0], [2, 5]])
    ratio = Metric("wer", WER.columns, Ratio((0,), (1,)), "", higher_is_better=False)
    for run in (bootstrap_test, randomization_test):
        one, other = (run(a, b, metric=metric, n_resamples=2000, threads=2) for metric in (mended, ratio))
        assert (one.n_greater, one.n_equal, one.better) == (other.n_greater, other.n_equal, other.better)


@pytest.mark.parametrize(
    "function", [lambda totals: totals.sum(), lambda totals: totals, lambda totals: totals[0], lambda _: 1.0]
)
def test_functions_that_make_no_scores(function):
    with pytest.raises(InputError, match=r"the function of metric own returns scores of shape .*, expected \(2,\)"):
        bootstrap_test([1, 2, 3], [2, 3, 3], metric=Metric("own", ("value",), function, ""), n_resamples=10)


@pytest.mark.filterwarnings("ignore::pairsig.io.errors.LongRun")
@pytest.mark.parametrize("which", [1, 2])
def test_an_error_stops_the_other_threads(which):
    """One of two threads comes upon a score that is none; the other one's share is hours, so it must stop."""
    threads = {}

    def function(totals):
        number = threads.setdefault(threading.get_ident(), len(threads))  # 0 is ours
        return np.full(totals.shape[:-1], np.nan) if number == which else rate(totals)

    a, b = np.array([[0, 5], [0, 5]]), np.array([[0, 5], [1, 5]])
    with pytest.raises(InputError, match="is nan"):
        bootstrap_test(a, b, metric=Metric("own", WER.columns, function, ""), n_resamples=10**11, threads=2)


def test_systems_without_a_name_are_numbered_from_one():
    metric = Metric("odds", ("won", "lost"), lambda totals: totals[..., 0] / totals[..., 1], "won / lost")
    with pytest.raises(InputError, match="odds of system 2 on the whole test set is inf"):
        engine.Scorer(np.array([[[1, 2]], [[1, 0]]]), metric)
