"""What documents do to a p-value: from the embedded counts, by closed forms, on simulated documents."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from pairsig import Statistics
from pairsig.core import statistics
from pairsig.metrics import registry
from study.beyond.documents import documents
from test_recomputed import BLEU, STATISTICS, bleu, counts

MEAN = registry.metric("mean")


def simulated(share, *, n_documents=40, length=10, n_systems=12, seed=1, **options):
    """Systems whose contributions share that much of their variance within a document: 1 + (length − 1)·share."""
    rng = np.random.default_rng(seed)
    own, common = rng.normal(size=(n_systems, n_documents, length)), rng.normal(size=(n_systems, n_documents, 1))
    values = np.sqrt(1 - share) * own + np.sqrt(share) * common + rng.normal(0, 0.1, (n_systems, 1, 1))
    values = np.round(1000 * values).reshape(n_systems, -1)
    arrays = {f"s{k}": row for k, row in enumerate(values)}
    ids = np.repeat(np.arange(n_documents), length).astype(str)
    return Statistics.from_arrays(arrays, MEAN.columns, documents=ids, **options)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_effect_is_that_of_the_correlation_within_documents(share):
    """Kish's 1 + (m − 1)ρ; and by documents gains on halves differ as errors say, by segments by that much more."""
    rows = [documents([(simulated(share, seed=seed), MEAN)]).iloc[0] for seed in range(12)]
    true = 1 + 9 * share
    assert np.mean([row["design_effect"] for row in rows]) == pytest.approx(true, rel=0.07)
    assert np.mean([row["excess_segment"] for row in rows]) == pytest.approx(true, rel=0.12)
    assert np.mean([row["excess_document"] for row in rows]) == pytest.approx(1, abs=0.1)
    assert sum(row["design_effect_low"] <= true <= row["design_effect_high"] for row in rows) >= 10
    for row in rows:
        assert row["by_chance_low"] < 1 < row["by_chance_high"]
    outside = [row["design_effect"] > row["by_chance_high"] for row in rows]
    assert sum(outside) == 12 if share else sum(outside) <= 3


def by_hand(u, of, score, sums, rng, n_splits):
    """Mean design effect over pairs, and mean excess on halves by segments and by documents; loops, u by segment."""
    n, n_documents = len(of), of.max() + 1
    effects, excess = [], []
    for a, b in combinations(range(len(u)), 2):
        d = u[a] - u[b]
        d = d - d.mean()
        together = np.array([d[of == k].sum() for k in range(n_documents)])
        effects.append(n_documents / (n_documents - 1) * (together**2).sum() / (n / (n - 1) * (d**2).sum()))
    for _ in range(n_splits):
        first = np.isin(of, rng.permutation(n_documents)[: n_documents // 2])
        sides = []
        for half in (first, ~first):
            scores, own, labels = score(sums[:, half].sum(axis=1)), u[:, half] * (n / half.sum()), of[half]
            own = own - own.mean(axis=1, keepdims=True)
            at = np.unique(labels, return_inverse=True)[1]
            together = np.stack([np.bincount(at, row) for row in own])
            k, m = at.max() + 1, half.sum()
            sides.append((scores, own, together, m / (m - 1), k / (k - 1)))
        for a, b in combinations(range(len(u)), 2):
            change = sum(sign * (s[0][a] - s[0][b]) for sign, s in zip((1, -1), sides, strict=True)) ** 2
            segments = sum(s[3] * ((s[1][a] - s[1][b]) ** 2).sum() for s in sides)
            drawn = sum(s[4] * ((s[2][a] - s[2][b]) ** 2).sum() for s in sides)
            excess.append((change / segments, change / drawn))
    return np.mean(effects), *np.mean(excess, axis=0)


def contributed(sums, score):
    """What leaving out each segment takes from the score."""
    totals = sums.sum(axis=1)
    return score(totals)[:, None] - score(totals[:, None] - sums)


@pytest.mark.slow
def test_the_headline_from_the_counts():
    """On halves of documents, gains by BLEU differ by 1.8 times what errors by sentences say, by documents by 1.06."""
    data, found = [], []
    for path in sorted(STATISTICS.glob("wmt*.parquet")):
        _, sums, ids, _ = counts(path.stem, BLEU)
        of = np.unique(ids, return_inverse=True)[1]
        if of.max() + 1 >= 15:
            u = contributed(sums, bleu)
            found += [by_hand(u, of, bleu, sums, np.random.default_rng(5), 20)[1:]]
            data.append((statistics.read(path), registry.metric("bleu")))
    by_segment, by_document = np.mean(found, axis=0)  # a test set counts as much as another
    row = documents(data).query("dataset == 'all'").iloc[0]
    assert row["excess_segment"] == pytest.approx(by_segment, rel=0.1)
    assert row["excess_document"] == pytest.approx(by_document, rel=0.1)


def test_datasets_without_enough_documents_have_no_row():
    data = simulated(0.0)
    none = replace(data, documents=np.full(400, ""))
    each = replace(data, documents=np.arange(400).astype(str))
    few = replace(data, documents=np.repeat(np.arange(14), 29)[:400].astype(str))
    assert documents([(one, MEAN) for one in (none, each, few)]).empty
    equal = replace(data, counts=np.repeat(data.counts[:1], 12, axis=0))
    assert documents([(equal, MEAN)]).empty
    both = documents([(replace(data, dataset=name), MEAN) for name in ("a", "b")])
    assert both["dataset"].tolist() == ["a", "b", "all"]
