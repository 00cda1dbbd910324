"""Ranks of many systems: brute force over all swaps, simulated families of equal systems, bad input."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

import pairsig
import simulate
from conftest import repetitions
from pairsig import InputError, Statistics, rank
from pairsig.comparisons import ranks
from pairsig.core import totals


def statistics(values, metric="mean", documents=None):
    columns = ["correct", "total"] if metric == "accuracy" else ["value"]
    counts = {
        f"s{number}": np.stack([own, np.ones_like(own)][: len(columns)], axis=1) for number, own in enumerate(values)
    }
    return Statistics.from_arrays(counts, columns, documents=documents)


@pytest.fixture
def every_swap(monkeypatch):
    """The i-th of 2ⁿ − 1 shuffles swaps the units of i + 1 in binary; (count + 1) / 2ⁿ is then over all swaps."""

    def swaps(_seed, first, n_rows, n_units, *, out):
        out[:] = (np.arange(first + 1, first + n_rows + 1)[:, None] >> np.arange(n_units)) & 1

    monkeypatch.setattr(totals.draws, "swaps", swaps)


def brute_max_t(x):
    """Adjusted p of every pair over all 2ⁿ signs, by step-down max-T written out with sets."""
    signs = np.array(list(itertools.product((1, -1), repeat=x.shape[1])))
    left, p, least = list(itertools.combinations(range(len(x)), 2)), {}, 0.0
    shuffled, t = {}, {}
    for i, j in left:
        d = x[i] - x[j]
        size = np.sqrt((d**2).sum()) or 1.0
        shuffled[i, j], t[i, j] = abs(signs @ d) / size, abs(d.sum()) / size
    while left:
        pair = max(left, key=lambda own: t[own])
        largest = np.max([shuffled[own] for own in left], axis=0)
        least = p[pair] = max(least, float((largest >= t[pair] - 1e-9).mean()))
        left.remove(pair)
    return p


@pytest.mark.parametrize("seed", range(9))
def test_every_p_value_is_that_of_all_swaps(every_swap, seed):
    """Means and shares, many ties: p is right to the last digit."""
    rng = np.random.default_rng([seed, 3])
    x = rng.integers(-2, 4, (int(rng.integers(3, 6)), int(rng.integers(5, 10))))
    metric = "mean"
    if seed % 3 == 0:
        x, metric = (x > 0).astype(int), "accuracy"
    x = x / 3 if seed % 3 == 1 else x
    wanted = brute_max_t(x.astype(float))
    for row in rank(statistics(x, metric), metric=metric, n_resamples=2 ** x.shape[1] - 1).pairs.itertuples():
        pair = tuple(sorted((int(row.system_a[1:]), int(row.system_b[1:]))))
        assert row.pvalue_adjusted == pytest.approx(wanted[pair] if row.gain > 0 else 1.0, rel=1e-12)


@pytest.mark.parametrize("name", ["f1", "bleu"])
def test_what_a_swap_moves_is_half_of_what_it_takes_from_the_gain(name):
    metric = pairsig.metrics.registry.metric(name)
    counts = simulate.statistics(name, n_systems=2, n_segments=200, spread=1.0, seed=3).of(metric)
    values, weights = ranks._contributions(ranks.Scorer(counts, metric))
    assert weights.sum() == pytest.approx(1)
    moved = values[0] - values[1]

    def gain(of):
        return float(np.subtract(*metric.score(of.sum(axis=1))))

    assert moved.sum() == pytest.approx(gain(counts))
    for unit in range(0, 200, 7):
        swapped = counts.copy()
        swapped[:, unit] = swapped[::-1, unit]
        assert moved[unit] == pytest.approx((gain(counts) - gain(swapped)) / 2, abs=abs(gain(counts)) / 100)


def test_intervals_hold_the_gains_that_single_step_max_t_does_not_reject(every_swap):
    """By search: where |Σ(d − Δw)| is c times the size of these differences, with c over all swaps."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, 9)) + np.array([0.5, 0, 0])[:, None]
    pairs = rank(statistics(x), n_resamples=511, alpha=0.1).pairs
    d = {(i, j): x[i] - x[j] for i, j in itertools.combinations(range(3), 2)}
    signs = np.array(list(itertools.product((1, -1), repeat=9)))[1:]
    largest = np.max([abs(signs @ (e - e.mean())) / np.sqrt(((e - e.mean()) ** 2).sum()) for e in d.values()], axis=0)
    c = np.sort(largest)[int(np.ceil(0.9 * 512)) - 1]
    for row in pairs.itertuples():
        e = x[int(row.system_a[1:])] - x[int(row.system_b[1:])]
        for end in (row.ci_low, row.ci_high):
            left = e / 9 - end / 9
            assert abs(left.sum()) / np.sqrt((left**2).sum()) == pytest.approx(c, rel=1e-6)
        assert row.ci_low < row.gain < row.ci_high


def test_no_interval_where_the_test_could_reject_no_gain():
    few = rank(statistics(np.array([[1, 2, 3, 5], [2, 2, 1, 1]])))
    assert few.pairs["ci_low"].isna().all()
    assert "too few units differ or too few shuffles" in str(few)
    same = rank(statistics(np.array([np.arange(30) + 1, np.arange(30), np.arange(30) % 7])))
    assert same.pairs["ci_low"].isna().tolist() == [True, False, False]
    assert "1 of 3 pairs differ by the same amount on every unit" in str(same)


def test_equal_systems_share_rank_and_cluster():
    items = np.arange(60)
    table = rank({"good": items % 10 > 0, "same": items % 10 > 0, "bad": items % 3 > 0}).table
    assert table[["rank", "rank_low", "rank_high", "cluster"]].to_numpy().tolist() == [
        [1, 1, 2, 1],
        [1, 1, 2, 1],
        [3, 3, 3, 2],
    ]
    assert table["p_next"].tolist()[0] == 1.0


def test_the_same_for_any_threads_and_one_pair_is_a_test():
    data = simulate.statistics("f1", n_systems=6, n_segments=80, spread=0.1, seed=2)
    one, two = (rank(data, metric="f1", threads=threads, n_resamples=3000) for threads in (1, 2))
    assert one.pairs.equals(two.pairs)
    assert (one.pairs["pvalue_adjusted"] >= one.pairs["pvalue"]).all()
    assert one.pairs["pvalue_adjusted"].is_monotonic_increasing


def test_documents_are_swapped_as_wholes():
    data = simulate.statistics("f1", n_systems=3, n_segments=60, document_size=5, seed=2)
    sums = Statistics.from_arrays(
        dict(zip(data.systems, data.counts.reshape(3, 12, 5, -1).sum(axis=2), strict=True)), data.columns
    )
    one, other = rank(data, metric="f1", unit="document"), rank(sums, metric="f1")
    assert one.pairs.drop(columns="signature").equals(other.pairs.drop(columns="signature"))
    assert "|unit:document|" in one.pairs["signature"][0]


def test_lower_is_better_turns_the_order():
    counts = {
        name: np.stack([np.full(30, e) + np.arange(30) % 2, np.full(30, 9)], 1) for name, e in (("x", 2), ("y", 1))
    }
    table = rank(counts, metric="ter").table
    assert table["system"].tolist() == ["y", "x"]
    assert table["score"].is_monotonic_increasing


def test_how_far_systems_are_behind_the_first():
    data = simulate.statistics("f1", n_systems=5, n_segments=80, spread=0.3, seed=2)
    result = rank(data, metric="f1", n_resamples=500)
    table, first = result.table, result.table["system"][0]
    assert table["behind"].tolist() == pytest.approx((table["score"][0] - table["score"]).tolist())
    assert table["behind_low"].isna().tolist() == [True, False, False, False, False]
    rows = result.pairs.set_index(["system_a", "system_b"])
    for row in table[1:].itertuples():
        pair = rows.loc[first, row.system]
        assert (row.behind_low, row.behind_high) == (pair["ci_low"], pair["ci_high"])
    for here, there in itertools.pairwise(table.itertuples()):
        assert here.p_next == rows.loc[here.system, there.system]["pvalue_adjusted"]


def test_skewed_values_on_few_units_have_a_note():
    rng = np.random.default_rng(2)
    skewed = rank({name: np.exp(2 * rng.normal(size=25)) for name in "abc"})
    assert "ranks, p-values and intervals of gains contain a false claim on 6 to 15 %" in skewed.notes[0]
    assert rank({name: rng.normal(size=25) for name in "abc"}).notes == ()
    assert len(skewed.notes) == len(set(skewed.notes))


def test_tables():
    data = {name: np.arange(40) % k > 0 for name, k in zip("abcd", (8, 7, 3, 2), strict=True)}
    result = rank(data)
    text = str(result)
    assert "†" in text
    assert "family-wise error rate 5 %, max-T" in text
    assert "cluster |" in result._rendered("markdown")


@pytest.mark.parametrize(
    ("form", "border"), [("table", "a line"), ("latex", "a line"), ("html", "a line"), ("markdown", "a new cluster")]
)
def test_every_format_explains_its_signs(form, border):
    shown = rank({"a": np.arange(40) % 9 > 0, "b": np.arange(40) % 2 > 0})._rendered(form)
    assert "p (next): p-value of the system and the next one, adjusted for all pairs; †: at most 0.05" in shown
    assert f"{border}: all systems above are significantly better than all below" in shown


def test_bad_input(monkeypatch):
    with pytest.raises(InputError, match=r"found one system, 'a', expected at least two to rank|found one system"):
        rank({"a": [1, 0]})
    with pytest.raises(InputError, match="significance level is 2"):
        rank({"a": [1, 0], "b": [0, 0]}, alpha=2)
    monkeypatch.setattr("pairsig.io.memory.free", lambda: 100)
    with pytest.raises(InputError, match="of memory are needed"):
        rank({"a": [1, 0], "b": [0, 0]})


@pytest.mark.parametrize("kind", ["items", "means", pytest.param("apart", marks=pytest.mark.slow)])
def test_family_wise_error_rate_is_at_most_alpha(kind):
    """Equal systems, and two groups of equal systems far apart: a false claim comes up on at most 5 % of test sets."""
    rng, times, false, missed = np.random.default_rng(7), repetitions(150), 0, 0
    for number in range(times):
        x = rng.random((6, 40)) < 0.5 if kind == "items" else rng.normal(size=(6, 40))
        if kind == "apart":
            x = x + np.repeat([0.0, 2.0], 3)[:, None]
        pairs = rank(statistics(x.astype(float)), n_resamples=499, rng=number).pairs
        group = {f"s{k}": k // 3 if kind == "apart" else 0 for k in range(6)}
        same = pairs["system_a"].map(group) == pairs["system_b"].map(group)
        false += bool((pairs.loc[same, "pvalue_adjusted"] <= 0.05).any())
        truth = np.where(same, 0.0, 2.0)
        missed += bool(((pairs["ci_low"] > truth) | (pairs["ci_high"] < truth)).any())
    assert binom.sf(false - 1, times, 0.05) > 0.001
    assert binom.sf(missed - 1, times, 0.06) > 0.001
