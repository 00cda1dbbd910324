"""Intervals of each system's own score: closed forms, the bootstrap, and how often they contain the true score."""

import numpy as np
import pytest
from scipy import stats

from pairsig import cli
from pairsig.stats.intervals import of_scores, score_interval
from pairsig.stats.paired import Pair


def of(a, b, metric, documents=None):
    pair = Pair.of(a, b, metric, documents)
    return of_scores(pair.units, pair.metric)


@pytest.mark.parametrize("passed", [0, 1, 7, 30])
@pytest.mark.parametrize("whole", [1, 100])
def test_pass_fail_items_have_the_interval_of_wilson(passed, whole):
    """scipy's `proportion_ci` is the oracle, also for none and for all items."""
    a = whole * (np.arange(30) < passed)
    b = whole * (np.arange(30) % 2)
    for (low, high), count in zip(of(a, b, "mean"), (passed, 15), strict=True):
        expected = stats.binomtest(count, 30).proportion_ci(method="wilson")
        assert [low / whole, high / whole] == pytest.approx(list(expected), abs=1e-12)


def test_a_mean_has_the_interval_of_student():
    """For values that lie at equal distances from their mean, the degrees of freedom are n − 1."""
    a, b = np.tile([0.25, 0.5], 8), np.tile([0.1, 0.4, 0.4, 0.1], 4)
    for (low, high), scores in zip(of(a, b, "mean"), (a, b), strict=True):
        expected = stats.t.interval(0.95, len(scores) - 1, scores.mean(), stats.sem(scores))
        assert [low, high] == pytest.approx(list(expected), abs=1e-12)


def f1_counts(rng, n):
    gold = rng.integers(1, 9, n)
    predicted = np.maximum(1, gold + rng.integers(-2, 3, n))
    matched = rng.binomial(np.minimum(gold, predicted), 0.7)
    return np.stack([matched, predicted, gold], axis=1)


def f1(counts):
    matched, predicted, gold = np.moveaxis(counts.sum(axis=-2), -1, 0)
    return 200 * matched / (predicted + gold)


def test_the_width_agrees_with_the_bootstrap():
    rng = np.random.default_rng(1)
    n = 400
    a, b = f1_counts(rng, n), f1_counts(rng, n)
    for (low, high), counts in zip(of(a, b, "f1"), (a, b), strict=True):
        drawn = f1(counts[rng.integers(0, n, (4000, n))])
        assert (low + high) / 2 == pytest.approx(f1(counts), abs=1e-9)
        assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, n - 1) * drawn.std(), rel=0.05)


def test_the_intervals_contain_the_true_score_as_often_as_they_should():
    """400 intervals for test sets of 60 sentences from a population: 95 %, within the error of 400 intervals."""
    rng = np.random.default_rng(2)
    population = f1_counts(rng, 20_000)
    truth, covered = f1(population), 0
    for _ in range(200):
        for low, high in of(*population[rng.integers(0, len(population), (2, 60))], "f1"):
            covered += low <= truth <= high
    interval = stats.binomtest(covered, 400).proportion_ci(0.999)
    assert interval.low < 0.95 < interval.high


def test_documents_are_units():
    """Documents whose sentences are all alike have as much information as one sentence each."""
    values = np.repeat([0.2, 0.4, 0.9, 0.5, 0.3, 0.6], 4)
    documents = np.repeat(list("abcdef"), 4)
    (of_documents, _), (of_sentences, _) = of(values, values, "mean", documents), of(values[::4], values[::4], "mean")
    assert of_documents == pytest.approx(of_sentences)


def test_where_there_is_no_interval():
    assert np.isnan(of([0.5], [0.25], "mean")).all()
    assert np.isnan(of([0.5] * 4, [0.5] * 4, "mean")).all()


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(7)
    shared = rng.random(40)
    for name, gain in (("a", 0.08), ("b", 0.0)):
        scores = shared + gain + 0.1 * rng.random(40)
        (tmp_path / name).write_text("".join(f"{score:.4f}\n" for score in scores), encoding="utf-8")
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_overlapping_intervals_of_systems_that_differ_significantly(files, rows, capsys):
    """The table says that overlap does not mean that the systems do not differ."""
    (row,) = rows(*files, "--score-intervals")
    assert row["score_a_low"] < row["score_b_high"]
    assert row["pvalue"] < 0.001
    assert "may overlap although A − B is significant" in row["notes"][0]
    assert cli.main(["compare", *files, "--score-intervals"]) == 0
    out = capsys.readouterr().out
    assert f"{row['score_a']:.2f} [{row['score_a_low']:.2f}, {row['score_a_high']:.2f}]" in out
    assert "- the intervals of two scores may overlap" in out


def test_the_sentence_has_the_scores_with_their_intervals(files, rows, capsys):
    (row,) = rows(*files, "--score-intervals")
    assert cli.main(["compare", *files, "--score-intervals", "--format", "sentence"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("a is better than b by ")
    scores = [f"{side} {row[f'score_{side}']:.3f} ({row[f'score_{side}_low']:.3f} to " for side in "ab"]
    assert all(score in second for score in scores)


def test_one_system_in_python():
    """The same interval as beside another system, with what it is about."""
    rng = np.random.default_rng(3)
    a, b = f1_counts(rng, 50), f1_counts(rng, 50)
    document = np.arange(50) // 5
    for metric, first, second in (("f1", a, b), ("mean", a[:, 0] % 2, b[:, 0] % 2)):
        for ids in (None, document):
            (expected, _) = of(first, second, metric, ids)
            interval = score_interval(first, metric=metric, document=ids)
            assert (interval.low, interval.high) == pytest.approx(expected)
            assert interval.low < interval.score < interval.high
            assert (interval.unit, interval.n_units) == (("segment", 50) if ids is None else ("document", 10))
    assert score_interval(a, metric="f1", confidence_level=0.5).low > score_interval(a, metric="f1").low


def test_without_the_option_there_are_none(files, rows):
    (row,) = rows(*files)
    assert row["score_a_low"] is row["score_b_high"] is None
    assert not any("overlap" in note for note in row["notes"])


def test_where_the_option_does_not_apply(files, capsys):
    assert cli.main(["compare", *files, "--score-intervals", "--training-sd", "0.1"]) == 2
    assert "--score-intervals does not apply to the test for several runs" in capsys.readouterr().err
