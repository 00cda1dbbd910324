"""The studentized randomization test; `test_alternatives.py` compares its p-values with fractions."""

import numpy as np
import pytest

import pairsig
import simulate
from against import compare_with_one
from pairsig import Statistics
from pairsig.comparisons import all_pairs
from pairsig.metrics import registry
from pairsig.stats import studentized
from pairsig.stats.paired import Pair

N = 40


def counts(seed, predictions=(3, 3)):
    """Matched, predicted and gold of two systems that predict so many items on average."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(3, 8, N)
    predicted = [rng.poisson(number, N) for number in predictions]
    return [np.stack([rng.binomial(np.minimum(own, gold), 0.6), own, gold], axis=1) for own in predicted]


@pytest.mark.parametrize("seed", range(3))
def test_with_common_denominators_it_is_the_test_of_the_difference(seed):
    """Σ d² does not change with the signs of d, so that t is a monotone function of Σ d."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, (2, 30))
    how = {"n_resamples": 2000, "rng": seed}
    plain = pairsig.randomization_test(a, b, estimator="plain", **how)
    result = pairsig.randomization_test(a, b, method="studentized", **how)
    assert (result.n_greater, result.n_equal, result.pvalue) == (plain.n_greater, plain.n_equal, plain.pvalue)
    d = a - b
    t = d.mean() / d.std() * np.sqrt(30)
    assert result.statistic / result.standard_error == pytest.approx(t)


@pytest.mark.parametrize(("metric", "seed"), [(metric, seed) for seed in range(4) for metric in ("f1", "precision")])
def test_the_interval_contains_0_exactly_if_the_test_does_not_reject_it(metric, seed):
    a, b = counts(seed)
    result = pairsig.randomization_test(a, b, metric=metric, method="studentized", n_resamples=500)
    for level in (0.5, 0.8, 0.95, 0.99):
        interval = result.confidence_interval(level)
        assert (interval.low > 0 or interval.high < 0) == (result.pvalue < 1 - level)
        assert (interval.low + interval.high) / 2 == pytest.approx(result.statistic)


def test_critical_values_by_their_definition():
    """The smallest value of |t| at which p is still 5 %: one of 19 shuffles is as large, and so is the test set."""
    null = np.sort(np.arange(1.0, 40.0))[::-1]
    for alpha in (0.05, 0.1, 0.3):
        c = studentized.critical(null, alpha)
        assert ((null >= c).sum() + 1) / 40 >= alpha
        assert ((null >= c + 0.5).sum() + 1) / 40 < alpha
    assert np.isnan(studentized.critical(null, 0.01))


@pytest.mark.parametrize("metric", ["bleu", "f1"])
def test_counts_do_not_depend_on_threads_or_parts(metric, monkeypatch):
    a, b = simulate.statistics(metric, n_systems=2, n_segments=30, spread=0.2, seed=1).counts
    how = {"metric": metric, "method": "studentized", "n_resamples": 700}
    whole = pairsig.randomization_test(a, b, threads=1, **how)
    monkeypatch.setattr(studentized, "_AT_ONCE", 30 * 64)
    split = pairsig.randomization_test(a, b, threads=3, **how)
    assert (split.n_greater, split.n_equal) == (whole.n_greater, whole.n_equal)
    assert split == whole
    table = all_pairs.compare(
        Statistics.from_arrays({"a": a, "b": b}, registry.metric(metric).columns), "randomization",
        metric=metric, method="studentized", n_resamples=700,
    )  # fmt: skip
    assert table[["n_greater", "n_equal"]].to_numpy().tolist() == [[whole.n_greater, whole.n_equal]]
    assert table["pvalue"].item() == whole.pvalue


def test_systems_that_differ_by_the_same_amount_everywhere_have_no_interval():
    result = pairsig.randomization_test([2] * 8, [1] * 8, method="studentized", n_resamples=200)
    assert result.standard_error == 0
    assert np.isnan(result.confidence_interval()).all()


def test_a_note_names_the_test_where_it_matters():
    """One system makes ten times as many predictions; with equal numbers there is no note, nor for means."""
    metric = registry.metric("precision")
    for predictions, noted in (((0.2, 6), True), ((3, 3), False)):
        a, b = counts(1, predictions)
        data = Statistics.from_arrays({"a": a, "b": b}, metric.columns)
        table, _ = compare_with_one(data, [metric], ["exact"])
        assert any("--method studentized" in note for note in table["notes"][0]) == noted
        assert any("--method studentized" in note for note in pairsig.compare(data, metric="precision").notes) == noted
        pair = Pair.of(a, b, metric, None)
        ratio = shuffled_spread(pair) / studentized._Data.of(pair).observed[2]
        assert (ratio < 0.8) == noted


def shuffled_spread(pair):
    """Standard deviation of the difference over shuffles."""
    rng = np.random.default_rng(4)
    swaps = rng.integers(0, 2, (4000, N)).astype(float)
    return studentized._Data.of(pair).statistics(swaps)[1].std()


def test_a_score_without_a_derivative_has_no_studentized_test():
    """BLEU jumps from smoothed values with the first match of four words; p was once the smallest possible one here."""
    metric = registry.metric("bleu")
    a, b = simulate.statistics("bleu", n_systems=2, n_segments=12).of(metric).astype(np.int64)
    data = {"a": a, "b": np.where(np.array(metric.columns) == "match_4", 0, b)}
    with pytest.raises(pairsig.InputError, match="bleu has no derivative at the totals of these systems"):
        pairsig.compare(data, "randomization", metric="bleu", method="studentized", n_resamples=20)
    assert not any("nan" in note for note in pairsig.compare(data, metric="bleu", n_resamples=20).notes)
