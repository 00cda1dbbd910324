"""How much gains differ between test sets of a family: from the embedded counts, by brute force, simulated."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import erf, sqrt

import numpy as np
import pandas as pd
import pytest

import simulate
from pairsig import InputError
from pairsig.core.influence import errors_and_correlations
from pairsig.io import tables
from pairsig.metrics import registry
from running import ROOT
from study.beyond.heterogeneity import heterogeneity as measured
from study.beyond.heterogeneity import left_out, mean_excess
from study.tables import columns
from test_recomputed import BLEU, STATISTICS, bleu, counts, gains_without_each, reference

SHEET = tables.read(ROOT / "config/families.tsv", columns.FAMILIES, known=[columns.FAMILIES])


def embedded(pattern):
    return sorted(path.stem for path in STATISTICS.glob(f"{pattern}.parquet"))


def wmt_domains():
    for dataset in embedded("wmt*"):
        names, sums, _, domains = counts(dataset, BLEU)
        parts = [d for d in sorted(set(domains)) if d not in ("", "-") and (domains == d).sum() >= 100]
        own = {d: (names, *gains_without_each(sums[:, domains == d], bleu), (domains == d).sum()) for d in parts}
        yield from (((dataset, one), own[one], (dataset, other), own[other]) for one, other in combinations(parts, 2))


def between(datasets, columns, measure):
    """All pairs of whole test sets."""
    own = {}
    for dataset in datasets:
        names, sums, *_ = counts(dataset, columns)
        own[dataset] = (names, *measure(sums), sums.shape[1])
    return [(one, own[one], other, own[other]) for one, other in combinations(datasets, 2)]


def translations():
    yield from between(embedded("mt-*"), BLEU, lambda sums: gains_without_each(sums, bleu))


@pytest.mark.parametrize(
    ("family", "cells"),
    [
        pytest.param("wmt-domains", wmt_domains, marks=pytest.mark.slow),
        ("fr-en-corpora", translations),
    ],
)
def test_what_the_reference_says_from_the_counts(family, cells):
    """κ² of two families, and what follows from it for a test set of any size."""
    rows = []
    for one, (names_1, d_1, s_1, n_1), other, (names_2, d_2, s_2, n_2) in cells():
        pairs_2 = {pair: at for at, pair in enumerate(combinations(names_2, 2))}
        for at, (a, b) in enumerate(combinations(names_1, 2)):
            sign = 1 if (a, b) in pairs_2 else -1
            there = pairs_2.get((a, b), pairs_2.get((b, a)))
            if there is not None and s_1[at] > 0 and s_2[there] > 0:
                gained = (d_1[at], sign * d_2[there], s_1[at] ** 2, s_2[there] ** 2, n_1, n_2)
                rows.append((one, other, a, b, *gained))
    d_1, d_2, v_1, v_2, n_1, n_2 = np.array([row[4:] for row in rows]).T
    excess = ((d_1 - d_2) ** 2 - v_1 - v_2) / (n_1 * v_1 + n_2 * v_2)

    published = reference("heterogeneity", family=family)
    assert int(published["n_test_sets"]) == len({name for row in rows for name in row[:2]})
    assert int(published["n_systems"]) == len({name for row in rows for name in row[2:4]})
    # The standard errors here are of the score without each segment, those there of its derivative.
    assert float(published["kappa_squared"]) == pytest.approx(excess.mean(), rel=0.02)
    assert float(published["effective_sample_size"]) == pytest.approx(1 / (2 * excess.mean()), rel=0.02)


def rows_by_loops(data, metric):
    """Of every pair of systems on every two test sets: (gain, variance, segments) on each; groups; test sets."""
    rows = []
    for one, other in combinations(data, 2):
        for a, b in combinations(sorted(set(one.systems) & set(other.systems)), 2):
            own = []
            for each in (one, other):
                at = [each.systems.index(name) for name in (a, b)]
                scores = metric.score(each.of(metric)[at].sum(axis=1))
                error, _ = errors_and_correlations(each.of(metric)[at], metric, np.array([[0, 1]]))
                own.append((scores[0] - scores[1], error[0] ** 2, len(each.segments)))
            if all(v > 0 for _, v, _ in own):
                groups = {one.groups[one.systems.index(name)] for name in (a, b)}
                rows.append((own, groups, {one.dataset, other.dataset}))
    return rows


def small_family(metric):
    """Test sets of different sizes, systems that are not on all, two that are equal, a gain of 0."""
    data = []
    for n in (320, 150, 90, 240):
        one = simulate.statistics(
            "accuracy", n_systems=9, n_segments=n, n_groups=5, spread=1.0, seed=n, dataset=f"d{n}"
        )
        counts = one.counts.copy()
        if n == 320:  # as good, but right elsewhere: a row, but no winner to predict
            counts[1] = counts[0][::-1]
        if n == 150:  # the same outputs: no error, no row
            counts[5] = counts[4]
        kept = slice(0, 8 if n == 90 else 9)
        data.append(replace(one, systems=one.systems[kept], groups=one.groups[kept], kinds=one.kinds[kept],
                            runs=one.runs[kept], counts=counts[kept]))  # fmt: skip
    return data, rows_by_loops(data, metric)


def test_every_number_and_prediction_of_a_small_family_by_loops():
    metric = registry.metric("accuracy")
    data, rows = small_family(metric)
    assert any(d == 0 for own, *_ in rows for d, _, _ in own)
    assert len(rows) == 3 * 36 + 3 * 28 - 3
    table = measured([(one, metric) for one in data], sheet(("f", "about", "d*", "whole", "all")))
    (found,) = table.to_dict("records")
    assert (found["n_pairs"], found["n_test_sets"], found["n_systems"]) == (len(rows), 4, 9)

    (d, v, n), (e, w, m) = np.array([own for own, *_ in rows]).transpose(1, 2, 0)
    excess = ((d - e) ** 2 - v - w) / (n * v + m * w)
    assert found["kappa_squared"] == pytest.approx(excess.mean())

    replicated, chance = [], []
    for own, groups, names in rows:
        seen = [not groups & of and not names & there for _, of, there in rows]
        kappa = max(excess[seen].mean(), 0)
        for (d, v, n), (e, _, m) in (own, own[::-1]):
            if d * e != 0:
                replicated.append(d * e > 0)
                errors = [sqrt(v + v * n / m + 2 * more) for more in (0, v * n * kappa)]
                chance.append([min(0.5 + erf(abs(d) / one / sqrt(2)) / 2, 1 - 1e-6) for one in errors])
    replicated, chance = np.array(replicated), np.array(chance)
    assert len(replicated) < 2 * len(rows)
    assert (chance[:, 0] == 1 - 1e-6).any()
    loss = -np.log(np.where(replicated[:, None], chance, 1 - chance)).mean(axis=0)
    expected = {
        "n_validated": len(replicated), "replicated": replicated.mean(), "predicted_iid": chance[:, 0].mean(),
        "predicted": chance[:, 1].mean(), "loss_reduction": loss[0] - loss[1],
    }  # fmt: skip
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-6), name


def test_sums_over_rows_that_share_nothing():
    rng = np.random.default_rng(7)
    groups, test_sets = rng.integers(0, 5, (200, 2)), rng.integers(0, 6, (200, 2))
    values = rng.normal(size=(200, 2))
    found = left_out(values, groups, test_sets)
    for row in range(200):
        apart = ~np.isin(groups, groups[row]).any(axis=1) & ~np.isin(test_sets, test_sets[row]).any(axis=1)
        assert found[row] == pytest.approx(values[apart].sum(axis=0), abs=1e-9)


def simulated(rng, sizes, n_test_sets, kappa, *, n=500, strength=0.0):
    """Rows of pairs of systems; each has a true score of its own on every test set, u of mean 0 and variance κ²σ².

    `sizes` are numbers of systems, which are compared on so many test sets of their own each. On every test set all u
    are multiplied by its strength, which is lognormal; `strength` is the standard deviation of its logarithm, and its
    square has the mean 1.
    """
    excess, systems, test_sets, before = [], [], [], 0
    for number, n_systems in enumerate(sizes):
        sigma, shape = rng.uniform(0.5, 2, n_systems), (n_test_sets, n_systems)
        noise, u = rng.standard_normal(shape) / np.sqrt(n), kappa * rng.standard_normal(shape)
        if strength:
            u *= np.exp(rng.normal(-(strength**2), strength, (n_test_sets, 1)))
        score = 0.1 * rng.standard_normal(n_systems) + sigma * (u + noise)
        a, b = np.triu_indices(n_systems, 1)
        spread = sigma[a] ** 2 + sigma[b] ** 2
        for i, j in combinations(range(n_test_sets), 2):
            d = (score[i, a] - score[i, b]) - (score[j, a] - score[j, b])
            excess.append((d**2 - 2 * spread / n) / (2 * spread))
            systems.append(before + np.stack([a, b], axis=1))
            test_sets.append(np.tile(number * n_test_sets + np.array([i, j]), (len(a), 1)))
        before += n_systems
    return np.concatenate(excess), np.concatenate(systems), np.concatenate(test_sets)


@pytest.mark.parametrize(
    ("sizes", "n_test_sets", "kappa", "strength"),
    [
        ([8] * 8, 2, 0.0, 0.0),
        ([8], 4, 0.1, 0.6),
        pytest.param([20], 6, 0.1, 0.6, marks=pytest.mark.slow),
        pytest.param([40, 12, 12, 12, 12], 2, 0.1, 0.6, marks=pytest.mark.slow),
    ],
)
def test_intervals_of_simulated_families(sizes, n_test_sets, kappa, strength):
    """Where test sets differ in how heterogeneous they are, too; κ² itself is that of the mean test set."""
    rng = np.random.default_rng(1)
    draws = (simulated(rng, sizes, n_test_sets, kappa, strength=strength) for _ in range(200))
    found = np.array([mean_excess(*one) for one in draws])
    missed = (found[:, 1] > kappa**2) | (found[:, 2] < kappa**2)
    assert missed.mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert found[:, 0].mean() == pytest.approx(kappa**2, abs=4 * found[:, 0].std() / np.sqrt(200))


def family(seeds, **options):
    for seed in seeds:
        data = simulate.statistics("accuracy", n_systems=8, n_segments=300, seed=seed, dataset=f"d{seed}", **options)
        yield data, registry.metric("accuracy")


def sheet(*rows):
    return pd.DataFrame(rows, columns=columns.FAMILIES.names)


def test_what_is_compared_with_what():
    about = "simulated"
    table = measured(family(range(4)), sheet(("f", about, "d*", "whole", "all")))
    assert (table["n_test_sets"].iloc[0], table["n_pairs"].iloc[0]) == (4, 6 * 28)
    table = measured(family(range(2)), sheet(("f", about, "d*", "half:*", "within datasets")))
    assert (table["n_test_sets"].iloc[0], table["n_pairs"].iloc[0]) == (4, 2 * 28)
    again = sheet(("f", about, "d0 d1", "whole", "all"), ("f", about, "d*", "whole", "all"))
    with pytest.raises(
        InputError, match=r"families, line 3: found d0 whole and d1 whole again, .* in families, line 2"
    ):
        measured(family(range(3)), again)
    nothing = measured(family([1]), sheet(("f", about, "d*", "whole", "all")))
    assert nothing.empty


@pytest.mark.parametrize(
    ("kind", "labels", "compared", "cells"),
    [
        # A part of 99 segments is too small, one of all is the test set itself; the same domain is no other one.
        ("domain", ("a" * 100 + "b" * 99, "a" * 150, "a" * 100 + "c" * 120), "all", {"d0 a", "d2 a", "d2 c"}),
        ("domain", ("a" * 100 + "b" * 100, "a" * 100 + "b" * 100), "all", {"d0 a", "d0 b", "d1 a", "d1 b"}),
        ("domain", ("a" * 100 + "b" * 100, "c" * 100 + "-" * 100), "within datasets", {"d0 a", "d0 b"}),
        # A document is the same one wherever it is.
        ("document", ("x" * 100 + "y" * 100, "x" * 100 + "z" * 100), "all", {"d0 x", "d0 y", "d1 z"}),
    ],
)
def test_parts_of_test_sets(kind, labels, compared, cells):
    data = []
    for number, label in enumerate(labels):
        one = simulate.statistics("accuracy", n_systems=4, n_segments=len(label), seed=number, dataset=f"d{number}")
        data.append(replace(one, **{f"{kind}s": np.array(list(label))}))
    table = measured(
        [(one, registry.metric("accuracy")) for one in data], sheet(("f", "", "d*", f"{kind}:*", compared))
    )
    pairs = [
        (one, other)
        for one, other in combinations(sorted(cells), 2)
        if one[-1] != other[-1] and (compared == "all" or one[:2] == other[:2])
    ]
    assert (table["n_test_sets"].item(), table["n_pairs"].item()) == (len(cells), 6 * len(pairs))
