"""Findings on benchmarks once more, from the embedded statistics, with numpy and pyarrow alone: none of our code.

It compares numbers of the reference tables: the effective sample size on another subject and the effect of sources
of questions on a standard error.
"""

import functools
from itertools import combinations
from math import erfc

import numpy as np
import pytest

from test_recomputed import counts, reference


@functools.cache
def outcomes(dataset):
    """Shares of runs passed, (systems × items), and the domains and documents of the items."""
    _, found, documents, domains = counts(dataset, ["correct", "total"])
    return found[..., 0] / found[..., 1], domains, documents


def gains(shares, items):
    own = 100 * shares[:, items]
    a, b = np.triu_indices(len(own), 1)
    difference = own[a] - own[b]
    return difference.mean(axis=1), difference.var(axis=1)


def test_effective_sample_size_on_another_subject():
    row = reference("heterogeneity", family="mmlu-pro-subjects", metric="accuracy")
    shares, domains, _ = outcomes("mmlu-pro")
    of = {name: np.flatnonzero(domains == name) for name in dict.fromkeys(domains.tolist())}
    assert int(row["n_test_sets"]) == len(of) == 14
    excess, replicated, predicted = [], [], []
    for one, other in combinations(of.values(), 2):
        (d, v), (e, w) = gains(shares, one), gains(shares, other)
        known = (v > 0) & (w > 0)
        d, v, e, w = d[known], v[known], e[known], w[known]
        n, m = len(one), len(other)
        excess.append(((d - e) ** 2 - v / n - w / m) / (v + w))
        for gain, spread, against in ((d, v, e), (e, w, d)):
            both = (gain != 0) & (against != 0)
            replicated.append((gain > 0)[both] == (against > 0)[both])
            z = abs(gain)[both] / np.sqrt(spread[both] * (1 / n + 1 / m))
            predicted.append([1 - erfc(one / 2**0.5) / 2 for one in z])
    kappa_squared = np.concatenate(excess).mean()
    assert float(row["kappa_squared"]) == pytest.approx(kappa_squared, rel=1e-3)
    assert float(row["effective_sample_size"]) == pytest.approx(1 / (2 * kappa_squared), rel=1e-3)
    assert float(row["replicated"]) == pytest.approx(np.concatenate(replicated).mean(), abs=1e-3)
    assert float(row["predicted_iid"]) == pytest.approx(np.concatenate(predicted).mean(), abs=1e-3)


def test_what_sources_of_questions_do_to_a_standard_error():
    row = reference("documents", dataset="mmlu-pro")
    shares, _, sources = outcomes("mmlu-pro")
    centred = shares - shares.mean(axis=1, keepdims=True)
    members = [np.flatnonzero(sources == name) for name in dict.fromkeys(sources.tolist())]
    sums = np.stack([centred[:, own].sum(axis=1) for own in members], axis=1)
    n, k = shares.shape[1], len(members)
    effects = []
    for a, b in combinations(range(len(shares)), 2):
        by_source = k / (k - 1) * ((sums[a] - sums[b]) ** 2).sum()
        effects.append(by_source / (n / (n - 1) * ((centred[a] - centred[b]) ** 2).sum()))
    assert (int(row["n_documents"]), int(row["n_pairs"])) == (k, len(effects))
    assert float(row["design_effect"]) == pytest.approx(np.mean(effects), rel=1e-6)
    # By chance 1: sources dealt out to the questions at random.
    rng = np.random.default_rng(1)
    dealt = sources[rng.permutation(n)]
    sums = np.stack([centred[:, dealt == name].sum(axis=1) for name in dict.fromkeys(sources.tolist())], axis=1)
    pairs = list(combinations(range(len(shares)), 2))
    chance = np.mean([((sums[a] - sums[b]) ** 2).sum() / ((centred[a] - centred[b]) ** 2).sum() for a, b in pairs])
    assert chance == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("dataset", ["mmlu-pro", "llmbar"])
def test_the_better_one_on_a_category_on_another(dataset):
    """Of pairs with p from 0.04 to 0.06 on the first questions of one category, who is better on another."""
    row = reference("calibration", calibration=dataset, distance="near", p_low="0.04", p_high="0.06")
    shares, domains, _ = outcomes(dataset)
    size = {"mmlu-pro": 381, "llmbar": 92}[dataset]
    sets = [np.flatnonzero(domains == name)[:size] for name in dict.fromkeys(domains.tolist())]
    sets = [one for one in sets if len(one) == size]
    replicated = n = 0
    for one in sets:
        d, v = gains(shares, one)
        p = np.array([erfc(z / 2**0.5) / 2 for z in abs(d) / np.sqrt(np.maximum(v, 1e-12) / size)])
        near = (p >= 0.04) & (p <= 0.06) & (d != 0)
        for other in sets:
            if other is not one:
                e = gains(shares, other)[0][near]
                replicated += int(((d[near] > 0) == (e > 0))[e != 0].sum()) + 0.5 * int((e == 0).sum())
                n += int(near.sum())
    # p is normal here and resampled there: a pair near a border may be in one window and not in the other.
    assert n == pytest.approx(int(row["n_pairs"]), rel=0.25)
    assert float(row["share"]) == pytest.approx(replicated / n, abs=0.05)
