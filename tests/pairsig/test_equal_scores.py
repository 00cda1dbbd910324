"""How often tests that swap outputs report p < 0.05 if true scores are equal but outputs are not exchangeable.

The table is in docs/false-positive-rate.md; its cells are compared with new test sets.
"""

import math
import re

import numpy as np
import pytest

import pairsig
from conftest import ROOT, repetitions
from pairsig.core import definitions, engine
from pairsig.core.exceedances import pvalues
from pairsig.metrics import registry
from test_levels import within


def losses(draw):
    """Scores of two systems that differ by `draw`, whose mean is 0."""
    return lambda rng, shape: np.stack([draw(rng, shape), np.zeros(shape)])[..., None]


def passed(rng, shape):
    """One item in ten passed by each system alone."""
    place = rng.random(shape)
    return np.stack([place < 0.6, (place >= 0.1) & (place < 0.7)]).astype(int)[..., None]


def found(*quality):
    """Matched, predicted and gold of two systems with these (precision, recall); three gold items on average."""

    def make(rng, shape):
        gold = rng.poisson(3, shape)
        systems = []
        for precision, recall in quality:
            matched = rng.binomial(gold, recall)
            wrong = rng.poisson(3 * recall * (1 - precision) / precision, shape)
            systems.append(np.stack([matched, matched + wrong, gold], axis=-1))
        return np.stack(systems)

    return make


def abstaining(rng, shape):
    """A answers 30 % of the segments without a mistake, B predicts six items everywhere; both have an F1 of 0.46."""
    gold, many, answers = np.full(shape, 2), np.full(shape, 6), 2 * (rng.random(shape) < 0.3)
    right = rng.binomial(2, 12 / 13, shape)
    return np.stack([np.stack([answers, answers, gold], axis=-1), np.stack([right, many, gold], axis=-1)])


def predicting(*numbers):
    """Two systems with a precision of 0.6 that make these numbers of predictions on average, at most five."""

    def make(rng, shape):
        predicted = [np.minimum(rng.poisson(number, shape), 5) for number in numbers]
        gold = np.full(shape, 5)
        return np.stack([np.stack([rng.binomial(own, 0.6), own, gold], axis=-1) for own in predicted])

    return make


def shorter(ratio):
    """A's texts are a tenth longer than the reference; B's are shorter, and better enough to make up for it."""

    def make(rng, shape):
        reference = 10 + rng.poisson(15, shape)
        systems = []
        for length, better in ((1.1, 1.0), (ratio, math.exp(1 / ratio - 1))):
            words = np.maximum(4, rng.poisson(reference * length))
            totals = [words - order for order in range(4)]
            chances = (0.6, 0.4, 0.28, 0.2)
            matches = [rng.binomial(own, chance * better) for own, chance in zip(totals, chances, strict=True)]
            systems.append(np.stack([words, reference, *matches, *totals], axis=-1))
        return np.stack(systems)

    return make


POPULATIONS = {
    "items passed or failed": ("mean", passed),
    "means: exponential differences": ("mean", losses(lambda rng, n: (1 - rng.exponential(1, n)).round(3))),
    "means: lognormal differences, σ = 1": (
        "mean", losses(lambda rng, n: (math.exp(0.5) - rng.lognormal(0, 1, n)).round(3)),
    ),
    "means: +0.1 on 90 % of the segments, −0.9 on the others": (
        "mean", losses(lambda rng, n: np.where(rng.random(n) < 0.9, 0.1, -0.9)),
    ),
    "F1: precision 0.9 and recall 0.6, or the reverse": ("f1", found((0.9, 0.6), (0.6, 0.9))),
    "F1: precision 0.98 and recall 0.25, or the reverse": ("f1", found((0.98, 0.25), (0.25, 0.98))),
    "F1: one system answers only 30 % of the segments": ("f1", abstaining),
    "precision: 2 or 4 predictions per segment": ("precision", predicting(2, 4)),
    "precision: 0.5 or 5 predictions per segment": ("precision", predicting(0.5, 5)),
    "BLEU: texts a tenth too long, or a tenth too short": ("bleu", shorter(0.9)),
    "BLEU: texts a tenth too long, or 30 % too short": ("bleu", shorter(0.7)),
}  # fmt: skip
"""Two systems with the same true score, by the words of the page."""


def samples(name, n, times, seed):
    """`times` test sets of n segments, 50 at a time: counts (2 systems, sets, segments, columns) and the metric."""
    metric, make = POPULATIONS[name]
    rng = np.random.default_rng([seed, n])
    for _ in range(times // 50):
        yield make(rng, (50, n)), registry.metric(metric)


def rejected(name, n, times, seed=1):
    """Number of test sets with p < 0.05 by randomization, which approximates the exact test."""
    test, count = definitions.find("randomization"), 0
    for counts, metric in samples(name, n, times, seed):
        if metric.averaged:
            counts = np.concatenate([counts, np.ones_like(counts)], axis=-1)
        scorer = engine.Scorer(np.concatenate([*counts]), metric)
        pairs = np.arange(100).reshape(2, 50).T
        gains = scorer.gains(pairs)
        turned = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
        drawn = scorer.exceedances(turned, test, engine.Resampling(999, seed))
        count += int((pvalues(drawn, np.abs(gains), test)[0] < 0.05).sum())
    return count


def excluded(name, n, times, seed=1):
    """Number of test sets on which the interval of `difference_interval` excludes 0."""
    count = 0
    for counts, metric in samples(name, n, times, seed):
        for a, b in zip(*counts, strict=True):
            interval = pairsig.difference_interval(a, b, metric=metric)
            count += bool(interval.low > 0 or interval.high < 0)
    return count


def table(heading="## Equal scores without exchangeable outputs"):
    """The cells of the page by population and number of segments: percentages of tests, and of intervals."""
    page = (ROOT / "docs/false-positive-rate.md").read_text(encoding="utf-8")
    section = re.split("\n##", page.partition(f"\n{heading}\n")[2])[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    sizes = [int(cell.removeprefix("n = ")) for cell in rows[0][1:]]
    return {
        row[0]: {
            n: tuple(map(float, re.findall(r"[\d.]+", cell))) for n, cell in zip(sizes, row[1:], strict=True)
        }
        for row in rows[2:]
    }  # fmt: skip


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_true_scores_are_equal(name):
    metric, make = POPULATIONS[name]
    counts = make(np.random.default_rng(5), (1, 50_000))[:, 0]
    interval = pairsig.difference_interval(*counts, metric=metric, confidence_level=0.9999)
    assert interval.low < 0 < interval.high


def test_the_page_has_every_population():
    assert list(table()) == list(POPULATIONS)


def check(name, sizes, times):
    for n in sizes:
        for simulated, percent in zip((rejected, excluded), table()[name][n], strict=True):
            count = simulated(name, n, times, seed=2)
            low, high = max(0, percent - 1.5) / 100, (percent + 1.5) / 100  # four standard errors of the page
            assert within(count, times, low, high), (n, simulated.__name__, count / times)


def test_a_system_with_more_predictions_differs_significantly_at_equal_precision():
    check("precision: 0.5 or 5 predictions per segment", [20], 500)


def by_studentized(name, n, times, seed=2):
    """Number of test sets with p <= 0.05 by randomization, and by the studentized test, from the same 299 shuffles."""
    count, number = np.zeros(2, dtype=int), 0
    for counts, metric in samples(name, n, times, seed):
        for a, b in zip(*counts, strict=True):
            results = [
                pairsig.randomization_test(
                    a, b, metric=metric, method=method, n_resamples=299, rng=number, estimator="plain", threads=1
                )
                for method in ("", "studentized")
            ]
            count += [result.pvalue <= 0.05 for result in results]
            number += 1
    return count


def check_studentized(name, sizes, times):
    for n in sizes:
        percents = table("### The studentized test")[name][n]
        for count, percent in zip(by_studentized(name, n, times), percents, strict=True):
            assert within(count, times, max(0, percent - 4) / 100, (percent + 4) / 100), (n, count / times)


def test_the_studentized_test_needs_equal_scores_only():
    """Of the systems of which one answers 30 % of the segments, swaps find a difference in 29 % of the test sets."""
    check_studentized("F1: one system answers only 30 % of the segments", [50], 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in POPULATIONS if name.startswith(("F1", "precision", "BLEU"))])
def test_the_table_of_the_studentized_test(name):
    check_studentized(name, [10, 20, 50], repetitions(200) // 50 * 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_table(name):
    check(name, table()[name], repetitions(1000) // 50 * 50)


if __name__ == "__main__":  # the rows of the page: PYTHONPATH=src python tests/pairsig/test_equal_scores.py
    for own in POPULATIONS:
        rates = [
            tuple(100 * simulated(own, n, 4000) / 4000 for simulated in (rejected, excluded))
            for n in (10, 20, 50, 100, 500)
        ]
        print("|", own, "|", " | ".join(f"{test:.1f} ({interval:.1f})" for test, interval in rates), "|", flush=True)
