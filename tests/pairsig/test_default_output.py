"""Error rates and coverage of what `pairsig compare` prints by default, in populations on which nothing was tuned.

Test sets are drawn from finite populations with a known difference. The bounds are those of Clopper and Pearson on the
simulated rates.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from against import compare_with_one
from conftest import repetitions
from pairsig import Statistics
from pairsig.metrics import registry

POPULATION = 20_000

LOWEST = {10: 0.91, 20: 0.93, 50: 0.94, 500: 0.94}
"""What docs/false-positive-rate.md promises of the 95 % interval, by number of units."""


def skills(rng, gap):
    """Logits of both systems on every unit: hard, easy and middling units, which the systems find so alike."""
    difficulty = rng.choice([-2.5, 0.3, 2.5], POPULATION, p=[0.2, 0.5, 0.3]) + 0.4 * rng.standard_t(4, POPULATION)
    return difficulty + np.array([[0.0], [gap]]) + 0.8 * rng.standard_normal((2, POPULATION))


def pass_fail(rng, gap):
    passed = rng.random((2, POPULATION)) < 1 / (1 + np.exp(-skills(rng, gap)))
    return "accuracy", ("correct", "total"), np.stack([passed, np.ones_like(passed)], axis=2).astype(int)


def shares(rng, gap):
    """Shares of four answers per question that are right."""
    right = rng.binomial(4, 1 / (1 + np.exp(-skills(rng, gap))))
    return "mean", ("value",), (right / 4)[..., None]


def lengths(rng):
    return 1 + rng.geometric(1 / np.maximum(2, rng.gamma(2.0, 6.0, POPULATION)))


def f1(rng, gap):
    gold = lengths(rng)
    predicted = np.maximum(1, gold + rng.poisson(1.5, (2, POPULATION)) - rng.poisson(1.5, (2, POPULATION)))
    matched = rng.binomial(np.minimum(predicted, gold), 1 / (1 + np.exp(-skills(rng, gap) - 0.5)))
    columns = ("matched", "predicted", "gold")
    return "f1", columns, np.stack([matched, predicted, np.broadcast_to(gold, predicted.shape)], axis=2)


def bleu(rng, gap):
    reference = 3 + lengths(rng)
    hypothesis = np.maximum(4, reference + rng.integers(-3, 4, (2, POPULATION)))
    totals = np.stack([hypothesis - order for order in range(4)], axis=2)
    share = 1 / (1 + np.exp(-0.5 * skills(rng, gap) - 0.8))
    matches = [rng.binomial(np.minimum(hypothesis, reference), share)]
    for order in range(1, 4):
        matches.append(rng.binomial(np.minimum(matches[-1], totals[..., order]), 0.4 + 0.6 * share))
    metric = registry.metric("bleu")
    lengths_ = [hypothesis, np.broadcast_to(reference, hypothesis.shape)]
    return "bleu", metric.columns, np.concatenate([np.stack([*lengths_, *matches], axis=2), totals], axis=2)


WORLDS = {"pass/fail": pass_fail, "shares": shares, "F1": f1, "BLEU": bleu}


def outputs(world, n, times, *, gap, seed, tests=(), **options):
    """The default table of `times` test sets of n units, one after the other, and the true difference."""
    name, columns, counts = WORLDS[world](np.random.default_rng([seed, 1]), gap)
    metric = registry.metric(name)
    rng = np.random.default_rng([seed, n])
    if gap == 0:  # whose output is whose is chance, unit by unit
        counts = np.concatenate([counts, counts[::-1]], axis=1)
    full = np.concatenate([counts, np.ones_like(counts)], axis=2) if metric.averaged else counts
    truth = np.subtract(*metric.score(full.sum(axis=1, dtype=float)))
    rows = []
    for _ in range(times):
        drawn = counts[:, rng.integers(0, counts.shape[1], n)]
        data = Statistics.from_arrays({"a": drawn[0], "b": drawn[1]}, columns)
        found, _ = compare_with_one(data, [metric], tests, n_resamples=999, threads=1, **options)
        rows.append(found)
    return pd.concat(rows, ignore_index=True), float(truth)


def bounds(count, n, level=0.999):
    """Clopper and Pearson's interval of a probability."""
    low = beta.ppf((1 - level) / 2, count, n - count + 1) if count else 0.0
    return low, beta.ppf((1 + level) / 2, count + 1, n - count) if count < n else 1.0


def check(table, truth, n):
    """Raise if the intervals contradict p, cover too rarely or, where the systems are equal, p is too often small."""
    outside = (table["ci_low"] > 0) | (table["ci_high"] < 0)
    assert (outside == (table["pvalue"] < 0.05)).all()
    known = table["ci_low"].notna()
    covered = int(((table["ci_low"] <= truth) & (truth <= table["ci_high"]))[known].sum())
    assert bounds(covered, known.sum())[1] >= LOWEST[n], covered / known.sum()
    if abs(truth) < 1e-9:
        rejected = int((table["pvalue"] < 0.05).sum())
        assert bounds(rejected, len(table))[0] <= 0.05, rejected / len(table)


@pytest.mark.parametrize("world", WORLDS)
def test_the_default_output_on_few_units(world):
    check(*outputs(world, 10, 12, gap=0, seed=3), 10)


def test_the_check_finds_intervals_that_are_too_short_and_contradictions():
    """Half an interval covers about two thirds, and a p-value of 0.06 contradicts an interval without 0."""
    table, truth = outputs("shares", 20, 60, gap=0, seed=3)
    short = table.assign(**{end: (table["difference"] + table[end]) / 2 for end in ("ci_low", "ci_high")})
    short["pvalue"] = np.where((short["ci_low"] > 0) | (short["ci_high"] < 0), 0.0, 1.0)
    with pytest.raises(AssertionError, match=r"0\.7\d+\D"):
        check(short, truth, 20)
    with pytest.raises(AssertionError, match=r"all\(\)"):
        check(short.assign(pvalue=0.06), truth, 20)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0, 0.6])
@pytest.mark.parametrize("n", LOWEST)
@pytest.mark.parametrize("world", WORLDS)
def test_the_default_output(world, n, gap):
    check(*outputs(world, n, repetitions(100 if n == 500 else 400), gap=gap, seed=4), n)
