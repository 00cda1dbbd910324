"""Exact p-values of all pairs: against enumeration, closed forms, and the distributions of the two-system tests."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import oracles
import pairsig
import simulate
from oracles import how
from pairsig import InputError, Statistics, cli
from pairsig.comparisons import all_pairs, baseline, pair_tables
from pairsig.core import definitions
from pairsig.core.engine import Resampling
from pairsig.core.statistics import read
from pairsig.io import tables
from pairsig.metrics import registry
from pairsig.stats.exact import distributions, exact_bootstrap_test, exact_test, pairs, saddle_point
from running import ROOT


def better_first(numerators):
    """All pairs of systems with a gain, the better one first."""
    sums = numerators.sum(axis=1)
    return np.array([(a, b) for a in range(len(sums)) for b in range(len(sums)) if sums[a] > sums[b]], dtype=np.intp)


def swaps(difference):
    """P(D' >= D) by going through all 2ⁿ swaps."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(difference))))
    return float((signs @ difference >= difference.sum()).mean())


def draws(difference, length, which):
    """The bootstrap's p by going through all nⁿ resamples."""
    drawn = np.array(list(itertools.product(range(len(difference)), repeat=len(difference))))
    gains, lengths = difference[drawn].sum(axis=1), length[drawn].sum(axis=1)
    if which == "percentile":
        return float((gains < 0).mean())
    if which == "two-sided":
        return float(((gains * length.sum() >= 2 * difference.sum() * lengths) | (gains <= 0)).mean())
    return float((gains * length.sum() > 2 * difference.sum() * lengths).mean())


@pytest.mark.parametrize(("n", "most"), [(1, 10), (2, 200), (3, 1), (3, 10)])
def test_every_swap_and_every_resample_of_few_units(n, most):
    rng = np.random.default_rng([n, most])
    for _ in range(2):
        numerators = rng.integers(0, most + 1, (4, n))
        chosen = better_first(numerators)
        if not len(chosen):
            continue
        for length in (np.ones(n, dtype=np.int64), rng.integers(1, 9, n)):
            found = {
                "permutation": pairs.permutation(numerators, chosen),
                "shifted": pairs.bootstrap(numerators, length, chosen),
                "percentile": pairs.bootstrap(numerators, length, chosen, below=True),
                "two-sided": pairs.bootstrap(numerators, length, chosen, ties=True)
                + pairs.bootstrap(numerators, length, chosen, below=True, ties=True),
            }
            for row, (a, b) in enumerate(chosen):
                difference = numerators[a] - numerators[b]
                assert found["permutation"][row] == pytest.approx(swaps(difference), rel=1e-12)
                for which in ("shifted", "percentile", "two-sided"):
                    expected = draws(difference, length, which)
                    assert found[which][row] == pytest.approx(expected, rel=1e-11, abs=0 if expected else 1e-300)


def test_against_the_distributions_of_two_systems():
    n, rng = 200, np.random.default_rng(200)
    length = rng.integers(1, 40, n)
    numerators = rng.binomial(length, np.array([[0.5], [0.52], [0.9]]))
    chosen = better_first(numerators)
    permutation, shifted, percentile = (
        pairs.permutation(numerators, chosen),
        pairs.bootstrap(numerators, length, chosen, threads=2),
        pairs.bootstrap(numerators, length, chosen, below=True),
    )
    for row, (a, b) in enumerate(chosen):
        two = [np.stack([numerators[system], length], axis=1) for system in (a, b)]
        for p, exact in (
            (permutation[row], exact_test(*two, alternative="observed", metric="accuracy")),
            (shifted[row], exact_bootstrap_test(*two, metric="accuracy", alternative="observed")),
            (
                percentile[row],
                exact_bootstrap_test(*two, method="percentile", alternative="observed", metric="accuracy"),
            ),
        ):
            assert p == pytest.approx(exact.pvalue, rel=max(1e-10, 2 * exact.error_bound), abs=1e-307)


def test_a_lattice_that_comes_back():
    """All steps but one are even, so half of the frequencies count that are negligible for a normal distribution."""
    steps, times = np.array([1, 2, 4]), np.array([1, 90, 70])
    total = int(steps @ times)
    for k in (total // 2, total // 2 + 31, total // 2 + 99, total - 4, total):
        ways = np.array([1], dtype=object)
        for step, number in zip(steps.tolist(), times.tolist(), strict=True):
            for _ in range(number):
                ways = np.append(ways, [0] * step) + np.append([0] * step, ways)
        expected = Fraction(sum(ways[k:].tolist()), 2 ** int(times.sum()))
        assert saddle_point.swap_tail(steps, times, k) == pytest.approx(float(expected), rel=1e-11)


def test_the_ends_of_the_support():
    steps, times = np.array([3]), np.array([5])
    assert saddle_point.swap_tail(steps, times, 0) == 1.0
    assert saddle_point.swap_tail(steps, times, 16) == 0.0
    assert saddle_point.swap_tail(steps, times, 15) == pytest.approx(2.0**-5, rel=1e-13)
    assert saddle_point.draw_beyond(np.array([2]), np.array([4]), 7) == 1.0
    assert saddle_point.draw_beyond(np.array([2]), np.array([4]), 8) == 0.0
    assert saddle_point.draw_beyond(np.array([-1, 1]), np.array([1, 1]), 2) == 0.0
    assert saddle_point.draw_beyond(np.array([-1, 1]), np.array([1, 1]), -3) == 1.0


def test_threads_and_their_shares_make_no_difference():
    rng = np.random.default_rng(5)
    numerators = rng.integers(0, 5, (40, 60))
    chosen = better_first(numerators)
    assert len(chosen) > 2 * 256
    fragments = []
    one = pairs.permutation(numerators, chosen, threads=1)
    two = pairs.permutation(numerators, chosen, threads=3, done=fragments.append)
    assert (one == two).all()
    assert sum(fragments) == len(chosen)
    some = pairs.permutation(numerators, chosen[300:310])
    assert (some == one[300:310]).all()


@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy"])
@pytest.mark.parametrize("unit", ["segment", "document"])
def test_compare_is_the_test_of_two_systems(metric, unit):
    data = simulate.statistics("f1", n_systems=3, n_segments=24, spread=0.4, document_size=4, seed=3)
    data = replace(data, columns=("correct", "predicted", "total") if metric == "accuracy" else data.columns)
    documents = data.documents if unit == "document" else None
    own = registry.metric(metric)
    columns = [data.columns.index(column) for column in own.columns]
    tests = [("exact", exact_test), *([("exact-bootstrap", exact_bootstrap_test)] if metric == "accuracy" else [])]
    for name, test in tests:
        for own_test in [test for test in definitions.TESTS if test.name == name and not test.directed]:
            table = all_pairs.compare(data, name, metric=metric, unit=unit, **how(own_test))
            for row in table.itertuples():
                a, b = (data.counts[data.systems.index(system)][:, columns] for system in (row.system_a, row.system_b))
                one = test(a, b, metric=metric, document=documents, **how(own_test))
                p, none = row.pvalue, row.pvalue_one_sided
                if not own_test.two_sided:
                    p, none = none, p
                assert np.isnan(none)
                assert p == row.pvalue_low == row.pvalue_high == pytest.approx(one.pvalue, rel=1e-10, abs=1e-307)
                assert (row.n_resamples, row.n_greater, row.n_equal, row.signature) == (0, 0, 0, one.signature)
                assert (row.gain, row.n_segments) == (pytest.approx(one.gain), 24)


def test_equal_systems_and_lattices_of_millions_of_points():
    """Without a gain, p = 1. Scores with five digits are too fine for inversion: all 2⁸ swaps are enumerated."""
    scores = np.round(np.random.default_rng(7).random((3, 8)), 5)
    data = Statistics.from_arrays({"a": scores[0], "b": scores[1], "c": scores[0], "d": scores[2]}, ["value"])
    table = all_pairs.compare(data, "exact", metric="mean").set_index(["system_a", "system_b"])
    assert table.loc[("a", "c"), "pvalue"] == 1.0
    whole = np.rint(scores * 1e5).astype(np.int64)[[0, 1, 0, 2]]
    assert np.isnan(pairs.permutation(whole, better_first(whole))).all()
    for (a, b), row in table.iterrows():
        one, other = sorted((whole["abcd".index(system)] for system in (a, b)), key=np.sum, reverse=True)
        if (a, b) != ("a", "c"):
            assert row["pvalue"] == pytest.approx(2 * swaps(one - other), rel=1e-13)


@pytest.mark.parametrize("metric", ["f1", "accuracy"])
def test_few_units_of_large_counts_are_enumerated(metric, monkeypatch):
    """Ten documents of 10⁵ words, denominators that differ: 2¹⁰ swaps are fast, and inversion takes minutes."""
    rng = np.random.default_rng(4)
    gold = rng.integers(50_000, 100_001, 10)
    predicted = gold + rng.integers(-9_000, 9_000, (3, 10))
    matched = rng.binomial(np.minimum(gold, predicted), 0.7)
    columns = {"f1": ["matched", "predicted", "gold"], "accuracy": ["correct", "total"]}[metric]
    counts = np.stack([matched, predicted, np.broadcast_to(gold, matched.shape)], axis=2)[:, :, : len(columns)]
    monkeypatch.setattr(pairs, "plane_tail", None)
    monkeypatch.setattr(distributions, "_mass", None)
    data = Statistics.from_arrays(dict(zip("abc", counts, strict=True)), columns)
    for row in all_pairs.compare(data, "exact", metric=metric).itertuples():
        a, b = (counts["abc".index(system)] for system in (row.system_a, row.system_b))
        p, _ = oracles.exact(metric, a, b, definitions.find("exact"))
        assert row.pvalue == pytest.approx(float(p), rel=1e-13)


def test_inversions_that_take_too_long_return_nan():
    """The product of points, rows and steps is bounded. (Run as Python, since compiling takes longer.)"""
    rng = np.random.default_rng(9)
    length = rng.integers(1, 40, 30)
    numerators = rng.binomial(length, np.array([[0.5], [0.52]])) * 3 + rng.integers(0, 2, (2, 30))
    chosen = better_first(numerators)
    difference = numerators[chosen[0, 0]] - numerators[chosen[0, 1]]
    steps, times = np.unique(difference, return_counts=True)
    kinds, kind_times = np.unique(np.stack([length, difference]), axis=1, return_counts=True)
    plane, tilt = (np.array([[1, 0], [2, 1], [3, 1]]), np.array([3, 4, 5])), (0.3, 0.0)
    bottom, top = saddle_point.plane_rows(*plane, *tilt)
    starts = np.full(top - bottom + 1, 16)
    for tail, arguments in (
        (saddle_point.swap_tail, (steps[steps > 0], times[steps > 0], 40)),
        (saddle_point.draw_tail, (steps - steps[0], times, 30 * -steps[0] + 50)),
        (saddle_point.ratio_tail, (kinds[1], kinds[0], kind_times, 7, 2, 20)),
        (saddle_point.plane_tail, (*plane, *tilt, bottom, starts)),
    ):
        found = tail.py_func(*arguments)
        assert 0 < found < 1
        assert np.isnan(tail.py_func(*arguments, 100))


@pytest.mark.parametrize(
    ("metric", "test", "done"),
    [
        ("bleu", "exact", "randomization"),
        ("f1", "exact", "exact"),
        ("f1", "exact-bootstrap", "bootstrap"),
        ("accuracy", "exact-bootstrap", "exact-bootstrap"),
    ],
)
def test_what_cannot_be_exact_is_drawn_if_one_wishes(metric, test, done):
    data = simulate.statistics(metric, n_systems=3, n_segments=30)
    found = all_pairs.compare(data, test, metric=metric, n_resamples=50, or_draw=True)
    expected = all_pairs.compare(data, done, metric=metric, n_resamples=50)
    assert set(found["test"]) == {done}
    assert found.equals(expected)


def test_an_exact_table_is_not_cut_into_parts_but_written_and_read(tmp_path):
    data = simulate.statistics("f1", n_systems=3, n_segments=30)
    with pytest.raises(InputError, match="the exact test draws nothing that could be split into 2 parts"):
        all_pairs.compare(data, "exact", metric="f1", part=(1, 2))
    table = all_pairs.compare(data, "exact", metric="f1")
    tables.write(table, tmp_path / "exact.tsv")
    assert pair_tables.read(tmp_path / "exact.tsv").equals(table)


def partly_out_of_reach(n=80):
    """Three systems: F1 of the first two has small counts, that of the third has totals with too many values."""
    rng = np.random.default_rng(3)
    gold = rng.integers(5, 9, n)
    counts = [np.stack([rng.integers(0, 5, n), rng.integers(4, 8, n), gold], axis=1) for _ in range(2)]
    predicted = rng.integers(10**8, 10**9, n)
    counts.append(np.stack([rng.integers(0, 5, n), predicted, gold], axis=1))
    return Statistics.from_arrays(dict(zip("abc", counts, strict=True)), ("matched", "predicted", "gold"))


def test_pairs_out_of_reach_are_drawn_and_the_others_stay_exact(tmp_path, capsys):
    data = partly_out_of_reach()
    a, b, c = data.counts
    with pytest.raises(InputError, match="can take too many values for the exact test; use randomization_test"):
        pairsig.exact_test(a, c, metric="f1")
    expected = {
        frozenset("ab"): ("exact", pairsig.exact_test(a, b, metric="f1").pvalue),
        frozenset("ac"): ("randomization", pairsig.randomization_test(a, c, metric="f1", n_resamples=500).pvalue),
        frozenset("bc"): ("randomization", pairsig.randomization_test(b, c, metric="f1", n_resamples=500).pvalue),
    }
    for rows in (
        all_pairs.compare(data, "exact", metric="f1", n_resamples=500),
        pairsig.compare(data, metric="f1", n_resamples=500).table,
    ):
        for row in rows.to_dict("records"):
            test, p = expected[frozenset((row["system_a"], row["system_b"]))]
            assert row["test"] == test
            assert row["pvalue"] == pytest.approx(p, rel=1e-9)
            assert (row["pvalue_low"] < p < row["pvalue_high"]) == (test == "randomization")
            assert f"|test:{test}|" in row["signature"]
    tables.write(data.to_table(), tmp_path / "counts.tsv")
    command = ["all-pairs", str(tmp_path / "counts.tsv"), "--metric", "f1", "--test", "exact", "--n-resamples", "500"]
    assert cli.main([*command, "--output", str(tmp_path / "pairs.tsv")]) == 0
    assert "for 2 of 3 pairs the totals can take too many values for the exact test" in capsys.readouterr().err
    assert sorted(pair_tables.read(tmp_path / "pairs.tsv")["test"]) == ["exact", "randomization", "randomization"]


def test_ranks_and_tables_say_which_pairs_were_drawn(tmp_path, capsys):
    data = partly_out_of_reach()
    ranking = pairsig.rank(data, metric="f1", adjustment="holm", n_resamples=500)
    assert [("test:exact" in signature) for signature in ranking.pairs["signature"]].count(True) == 1
    assert "for 2 of 3 pairs" in str(ranking)
    rows, notes = baseline.compare_with_one(data, [registry.metric("f1")], ["exact"], resampling=Resampling(500, 2012))
    assert [row["test"] for row in rows] == ["exact", "randomization"]
    assert any("a and c were tested by randomization" in note for note in notes)


@pytest.mark.slow
def test_all_aligners_of_the_hansards_get_an_answer():
    """AER on 24 systems, 276 pairs: those that no method computes exactly have p near 0."""
    table = pairsig.compare(read(ROOT / "resources/statistics/hansards.parquet")).table
    assert len(table) == 276
    assert table["pvalue"].notna().all()
    drawn = table[table["test"] == "randomization"]
    assert 0 < len(drawn) < 100
    assert (drawn["pvalue"] < 1e-4).all()
