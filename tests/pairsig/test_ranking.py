"""Ranks of many systems: brute force over all swaps and all claims, simulated families of equal systems, bad input."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pairsig
import simulate
from pairsig import InputError, Statistics, rank
from pairsig.comparisons import all_pairs, ranking
from pairsig.core import engine, statistics
from pairsig.metrics import registry


def items(counts, metric="mean", documents=None):
    columns = registry.metric(metric).columns
    named = {f"s{number}": with_totals(own, len(columns)) for number, own in enumerate(counts)}
    return Statistics.from_arrays(named, columns, documents=documents)


def with_totals(values, n_columns):
    return np.stack([values, np.ones_like(values)][:n_columns], axis=1)


def brute_max_t(x):
    """Adjusted p of every ordered claim over all 2ⁿ signs, by Romano and Wolf's step-down written out with sets."""
    n_systems, n = x.shape
    claims = list(itertools.permutations(range(n_systems), 2))
    d = {(i, j): x[i] - x[j] for i, j in claims}
    size = {claim: np.sqrt((own**2).sum()) for claim, own in d.items()}
    signs = np.array(list(itertools.product((1, -1), repeat=n)))
    t = {claim: d[claim].sum() / size[claim] if size[claim] else 0.0 for claim in claims}
    shuffled = {claim: signs @ d[claim] / size[claim] if size[claim] else np.zeros(len(signs)) for claim in claims}
    left, p, least = list(claims), {}, 0.0
    while left:
        claim = max(left, key=lambda own: (t[own], [-place for place in own]))
        largest = np.max([shuffled[own] for own in left], axis=0)
        least = p[claim] = max(least, float((largest >= t[claim] - 1e-9).mean()))
        left.remove(claim)
    return p


@pytest.mark.parametrize("name", ["f1", "bleu"])
def test_what_a_swap_moves_is_half_of_what_it_takes_from_the_gain(name):
    """Of 200 segments, each swapped alone: a gain spread evenly over short and long ones would be off by more."""
    metric = registry.metric(name)
    counts = simulate.statistics(name, n_systems=2, n_segments=200, spread=1.0, seed=3).of(metric)
    moving = ranking._Moving.of(engine.Scorer(counts, metric))
    moved = (moving.rows[0] - moving.rows[1]) * moving.unit

    def gain(counts):
        return float(np.subtract(*metric.score(counts.sum(axis=1))))

    for unit, own in enumerate(moved):
        swapped = counts.copy()
        swapped[:, unit] = swapped[::-1, unit]
        assert own == pytest.approx((gain(counts) - gain(swapped)) / 2, abs=abs(gain(counts)) / 200)


@pytest.fixture
def every_swap(monkeypatch):
    """The i-th of 2ⁿ − 1 shuffles swaps the units of i + 1 in binary; (count + 1) / 2ⁿ is then over all swaps."""

    def swaps(seed, first, n_rows, n_units, *, out):
        out[:] = (np.arange(first + 1, first + n_rows + 1)[:, None] >> np.arange(n_units)) & 1

    monkeypatch.setitem(engine._DRAWS, "swap", swaps)


def small_sets():
    """Sets with many ties: values by system, and what else `items` needs to make statistics of them."""
    passed = ["1111011", "1101101", "0000101", "1111111", "0000010"]
    yield np.array([[int(digit) for digit in own] for own in passed]), "accuracy", None
    for seed in range(8):
        rng = np.random.default_rng([seed, 3])
        n_systems, n = int(rng.integers(3, 6)), int(rng.integers(5, 11))
        x = rng.integers(0, 2, (n_systems, n))
        if seed % 4 == 0:
            yield x, "accuracy", None
        elif seed % 4 == 1:
            yield rng.integers(-2, 4, (n_systems, n)), "mean", None
        elif seed % 4 == 2:
            yield 100 + rng.integers(0, 4, (n_systems, n)) / (3 if seed % 8 == 2 else 10), "mean", None
        else:  # words that are right, of as many as all systems have
            yield x, "accuracy", rng.integers(1, 5, n)


@pytest.mark.parametrize(("x", "metric", "totals"), list(small_sets()))
def test_every_p_value_is_that_of_all_swaps(every_swap, x, metric, totals):
    """Statistics of two pairs tie on most of these sets; whole numbers tell, and so p is right to the last digit."""
    data = items(x, metric)
    if totals is not None:
        data = Statistics.from_arrays(
            {f"s{number}": np.stack([own * totals, totals], axis=1) for number, own in enumerate(x)}, data.columns
        )
        x = x * totals
    pairs = rank(data, metric=metric, n_resamples=2 ** x.shape[1] - 1).pairs
    expected = brute_max_t(x.astype(float))
    for row in pairs.itertuples():
        p = expected[int(row.system_a[1:]), int(row.system_b[1:])] if row.gain > 0 else 1.0
        assert row.pvalue_adjusted == pytest.approx(p, rel=1e-12)


def ends_by_search(d, weights, c):
    """Where |Σ(d − δw)| / sqrt(Σ(d − δw)²) is c, on either side of Σd, with the weights w adding up to 1."""
    gain = d.sum()

    def too_far(delta):
        left = d - delta * weights
        return abs(left.sum()) > c * np.sqrt((left**2).sum())

    for side in (-1, 1):
        near, far = 0.0, 1.0
        while not too_far(gain + side * far):
            far *= 2
        for _ in range(100):
            middle = (near + far) / 2
            near, far = (near, middle) if too_far(gain + side * middle) else (middle, far)
        yield gain + side * near


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("apart", [0, 3])
def test_intervals_hold_the_gains_that_the_test_does_not_reject(every_swap, weighted, apart):
    """The critical value by brute force, of values and of values less the gain; the ends of intervals by bisection."""
    rng = np.random.default_rng(8)
    n = 11
    totals = rng.integers(1, 5, n) if weighted else np.ones(n, dtype=int)
    x = (rng.integers(0, 9, (4, n)) + apart * np.arange(4)[:, None]) * totals
    data = Statistics.from_arrays(
        {f"s{number}": np.stack([own, totals], axis=1) for number, own in enumerate(x)}, ["correct", "total"]
    )
    weights = totals / totals.sum()
    signs = np.array(list(itertools.product((1, -1), repeat=n)))[1:]
    largest = np.zeros((2, len(signs)))
    for one, other in itertools.combinations(x, 2):
        d = (one - other).astype(float)
        for row, values in enumerate((d, d - d.sum() * weights)):
            largest[row] = np.maximum(largest[row], abs(signs @ values) / np.sqrt((values**2).sum()))
    c = np.sort(largest)[:, int(np.ceil(0.9 * 2**n)) - 1].max()
    # The metric's own checks refuse more correct than total: a metric of the same form without them.
    free = pairsig.Metric("free", ("correct", "total"), pairsig.Ratio((0,), (1,)), "")
    for row in rank(data, metric=free, alpha=0.1, n_resamples=2**n - 1).pairs.itertuples():
        d = (x[int(row.system_a[1:])] - x[int(row.system_b[1:])]) * 100 / totals.sum()
        assert [row.ci_low, row.ci_high] == pytest.approx(list(ends_by_search(d, weights, c)), rel=1e-9)


def test_holm_is_written_out():
    x = np.random.default_rng(2).integers(0, 2, (5, 80)) * 1
    x[3:] |= np.random.default_rng(3).integers(0, 2, (2, 80))
    found = rank(items(x, "accuracy"), metric="accuracy", adjustment="holm").pairs
    counts = [with_totals(own, 2) for own in x]
    one_sided = sorted(
        pairsig.exact_test(one, other, metric="accuracy").pvalue / 2 for one, other in itertools.combinations(counts, 2)
    )
    least = 0.0
    for k, (p, adjusted) in enumerate(zip(one_sided, found["pvalue_adjusted"], strict=True)):
        least = max(least, min(1.0, (20 - k) * p))
        assert adjusted == pytest.approx(least, rel=1e-9)


def block_of_equals(rng, kind, n):
    """Ten systems in two blocks, equal in truth within each; a higher level is a better block."""
    level = np.repeat([1, 0], 5) if kind.endswith("two blocks") else np.zeros(10, dtype=int)
    difficulty = rng.beta(2, 1, n)
    if kind.startswith("passed"):
        x = rng.random((10, n)) < np.where(level[:, None] == 1, difficulty, 0.85 * difficulty)
    else:
        x = rng.normal(size=n) + rng.normal(size=(10, n)) + 0.4 * level[:, None]
    return x * (1 if kind.startswith("passed") else 1.0), level


@pytest.mark.parametrize("kind", ["passed", "normal, two blocks"])
def test_family_wise_error_rate_is_at_most_alpha(kind):
    """No more families with ties have a false claim than 5 % give (99.9 % bound); ranks hold as often."""
    wrong = missed = message = 0
    for number in range(20):
        rng = np.random.default_rng([number, 5])
        x, level = block_of_equals(rng, kind, 60)
        metric = "accuracy" if kind.startswith("passed") else "mean"
        found = rank(items(x, metric), metric=metric, n_resamples=499, rng=number, threads=1)
        of = {f"s{place}": own for place, own in enumerate(level)}
        sure = found.pairs[found.pairs["pvalue_adjusted"] <= 0.05]
        wrong += any(of[a] <= of[b] for a, b in sure[["system_a", "system_b"]].to_numpy())
        assert (found.pairs["ci_low"] <= 0)[found.pairs["pvalue_adjusted"] > 0.05].all()
        message += len(sure)
        for row in found.table.itertuples():
            better, worse = int((level > of[row.system]).sum()), int((level < of[row.system]).sum())
            if row.rank_low > 1 + better or row.rank_high < 10 - worse:
                missed += 1
                break
    assert wrong <= binom.ppf(0.999, 20, 0.05)
    assert missed <= wrong
    assert message > 0 or "blocks" not in kind


@pytest.mark.parametrize(("n", "apart"), [pytest.param(20, 0.0, marks=pytest.mark.slow), (20, 5.0)])
def test_intervals_cover_all_gains_simultaneously(n, apart):
    """On sets of ten systems, equal or far from each other, no more rarely than 95 % give (99.9 % bound)."""
    covered = 0
    for number in range(20):
        x = np.random.default_rng([number, 6]).normal(size=(10, n)) + apart * np.arange(10)[:, None]
        pairs = rank(items(x), metric="mean", n_resamples=499, rng=number, threads=1).pairs
        truth = [apart * (int(a[1:]) - int(b[1:])) for a, b in pairs[["system_a", "system_b"]].to_numpy()]
        covered += bool(((pairs["ci_low"] <= truth) & (truth <= pairs["ci_high"])).all())
    assert covered >= binom.ppf(0.001, 20, 0.95)


def no_interval(pairs):
    assert pairs["ci_low"].isna().tolist() == pairs["ci_high"].isna().tolist()
    return pairs["ci_low"].isna()


@pytest.mark.parametrize(
    ("n", "n_resamples", "none"), [(1, 999, True), (5, 999, True), (6, 999, False), (6, 18, True), (6, 19, False)]
)
def test_no_interval_where_the_test_could_reject_no_gain(n, n_resamples, none):
    """At 5 %: of 2⁵ swaps two are extreme whatever the data are, and of 18 shuffles p is 1/19 at least."""
    found = rank(items(np.random.default_rng(9).normal(size=(3, n))), metric="mean", n_resamples=n_resamples)
    assert (no_interval(found.pairs) == none).all()
    assert ("gains have no intervals" in ranking.render(found, "table")) == none
    for text in (found.to_json(), *(ranking.render(found, form) for form in FORMATS)):
        assert "nan" not in text.lower()


def test_no_interval_where_the_sum_of_equal_steps_is_not_rejected(every_swap):
    """Two systems with differences ±1 on 8 units: the quantile may be sqrt(8), which only equal differences have."""
    x = np.array([[1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1]])
    found = rank(items(x), metric="mean", alpha=0.0079, n_resamples=255).pairs
    assert no_interval(found).all()


def test_no_interval_of_systems_that_differ_by_the_same_everywhere():
    x = np.random.default_rng(10).normal(size=(2, 30))
    found = rank(items(np.stack([x[0], x[0] + 0.1, x[0], x[1]])), metric="mean", n_resamples=200)
    of_last = (found.pairs[["system_a", "system_b"]] == "s3").any(axis=1)
    assert (no_interval(found.pairs) == ~of_last).all()
    assert "3 of 6 pairs differ by the same amount on every unit" in ranking.render(found, "table")


def test_first_order_is_near_the_swaps_of_segments():
    """BLEU: p of every pair beside that of the randomization test, which computes the metric anew."""
    data = statistics.read("resources/statistics/wmt22-ja-en.parquet")
    data = data.select(systems=data.systems[:6])
    found = rank(data, n_resamples=20_000).pairs.set_index(["system_a", "system_b"])["pvalue"]
    drawn = all_pairs.compare(data, "randomization", n_resamples=20_000)
    expected = drawn.set_index(["system_a", "system_b"])["pvalue"].reindex(found.index)
    assert expected.notna().all()
    error = np.sqrt(2 * expected * (1 - expected) / 20_000)
    assert (np.abs(found - expected) <= 4 * error + 0.03 * expected + 1e-4).all()


def test_equal_systems_share_rank_and_cluster():
    x = np.array([[1] * 30 + [0] * 10, [1] * 30 + [0] * 10, [0] * 40])
    found = rank(items(x, "accuracy"), metric="accuracy", n_resamples=2_000)
    assert found.table["rank"].tolist() == [1, 1, 3]
    assert found.table["cluster"].tolist() == [1, 1, 2]
    assert found.table["rank_high"].tolist() == [2, 2, 3]
    assert found.pairs["pvalue_adjusted"].iloc[-1] == 1.0


def ranked(n_systems, *significant):
    """Ranks of s0, s1, …, each better than the next, where these pairs (better, worse) are significantly different."""
    pairs = [
        {"system_a": f"s{better}", "system_b": f"s{worse}", "score_a": 10.0 - better, "score_b": 10.0 - worse,
         "gain": float(worse - better), "pvalue_adjusted": 0.01 if (better, worse) in significant else 0.06,
         "ci_low": np.nan, "ci_high": np.nan, "signature": "metric:mean|x"}
        for better, worse in itertools.combinations(range(n_systems), 2)
    ]  # fmt: skip
    names = [f"s{number}" for number in range(n_systems)]
    return ranking._ranked(names, pd.DataFrame(pairs), registry.metric("mean"), 0.05)


def test_clusters_end_where_all_above_are_significantly_better_than_all_below():
    """Neighbours that differ significantly are not enough, nor one system that differs from all on the other side."""
    assert ranked(4, (1, 2)).cluster.tolist() == [1, 1, 1, 1]
    assert ranked(4, (1, 2), (1, 3)).cluster.tolist() == [1, 1, 1, 1]
    assert ranked(4, (0, 2), (1, 2)).cluster.tolist() == [1, 1, 1, 1]
    assert ranked(4, (0, 2), (1, 2), (0, 3), (1, 3)).cluster.tolist() == [1, 1, 2, 2]
    assert ranked(4, (0, 1), (0, 2), (0, 3), (1, 3), (2, 3)).cluster.tolist() == [1, 2, 2, 3]


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_of_scores_that_count_as_equal_the_better_one_stands_first(higher_is_better):
    """Scores of 1 and 1 + 5·10⁻¹⁴ are within the tolerance of a metric that is no `Ratio`."""
    metric = pairsig.Metric(
        "own", ("value", "of"), lambda totals: totals[..., 0] / totals[..., 1], "", higher_is_better, scale=1.0
    )
    more, fewer, whole = ([10**14 + further] * 10 for further in (5, 0, 0))
    counts = {name: np.column_stack([own, whole]) for name, own in (("more", more), ("fewer", fewer))}
    for order in (["more", "fewer"], ["fewer", "more"]):
        data = Statistics.from_arrays({name: counts[name] for name in order}, metric.columns)
        found = rank(data, metric=metric, n_resamples=100).table
        assert found["rank"].tolist() == [1, 1]
        assert found["system"].tolist() == (["more", "fewer"] if higher_is_better else ["fewer", "more"])


def test_the_same_for_any_threads_and_batches():
    x = np.random.default_rng(4).normal(size=(7, 50))
    one, two = (rank(items(x), metric="mean", n_resamples=3_001, threads=threads) for threads in (1, 3))
    pd.testing.assert_frame_equal(one.pairs, two.pairs)
    pd.testing.assert_frame_equal(one.table, two.table)


def test_documents_are_swapped_as_wholes():
    rng = np.random.default_rng(5)
    lift = np.repeat(rng.normal(size=10), 30)  # segments of a document go up and down together
    x = np.stack([lift + rng.normal(size=300) / 10, rng.normal(size=300) / 10])
    data = items(x, documents=np.repeat(np.arange(10).astype(str), 30))
    by_segment, by_document = (
        rank(data, metric="mean", unit=unit, n_resamples=2_000) for unit in ("segment", "document")
    )
    assert by_document.pairs["pvalue"][0] > by_segment.pairs["pvalue"][0]
    assert "unit:document" in by_document.table["signature"][0]


FORMATS = ("table", "markdown", "latex", "html")


@pytest.mark.parametrize("form", FORMATS)
def test_rendered(form):
    x = np.array([[1] * 40, [1] * 38 + [0] * 2, [0] * 40])
    data = Statistics.from_arrays(
        {name: with_totals(own, 2) for name, own in zip(("a_1&<b", "b", "c"), x, strict=True)}, ["correct", "total"]
    )
    ranked = rank(data, n_resamples=500)
    rows = json.loads(ranked.to_json())["rows"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[0]["behind_low"] is None
    text = ranking.render(ranked, form)
    shown = {"latex": r"a\_1\&\ensuremath{<}b", "html": "a_1&amp;&lt;b", "markdown": r"a\_1&\<b"}.get(form, "a_1&<b")
    assert shown in text
    assert "2 of 3 pairs differ significantly, 2 of 3 systems may be the best" in text
    line = {
        "table": "··",
        "latex": "\\midrule\n 3 ",
        "html": 'border-top: 1px solid"><td>3',
        "markdown": "|         2 | 3",
    }
    assert line[form] in text


def test_unknown_adjustment():
    with pytest.raises(InputError, match="unknown adjustment 'bonferroni', expected one of max-t, holm"):
        rank(items(np.eye(2)), metric="mean", adjustment="bonferroni")


def test_rare_and_skewed_values_have_a_note():
    rng = np.random.default_rng(1)
    rare = {name: (rng.random(40) < rate).astype(int) for name, rate in (("a", 0.05), ("b", 0.1))}
    common = {name: (rng.random(40) < rate).astype(int) for name, rate in (("a", 0.4), ("b", 0.5))}
    lognormal = {name: rng.lognormal(0, 1.5, 40).round(3) for name in "ab"}
    said = ["84 to 92 %" in str(rank(data, n_resamples=200)) for data in (rare, common, lognormal)]
    assert said == [True, False, True]


@pytest.mark.parametrize(("offset", "scale"), [(0.1, 1.0), (1 / 3, 1e-6), (1e-3, 1e6)])
def test_a_difference_that_does_not_vary_is_one_everywhere(offset, scale):
    """Scores that differ by the same amount, whose last digits round: intervals, ranks and methods with runs agree.

    If one unit differs by a millionth of the scores more, the difference varies for all of them.
    """
    rng = np.random.default_rng(3)
    a = rng.random(50) * scale
    for moved, varies in ((0.0, False), (1e-6, True)):
        b = a - offset * scale
        b[7] -= moved * scale
        alone = pairsig.difference_interval(a, b)
        ranked = pairsig.rank({"a": a, "b": b})
        runs = {name: np.stack([own, own])[:, :, None] for name, own in (("a", a), ("b", b))}
        methods = pairsig.compare_methods(runs, design="nested")
        assert (alone.low < alone.high) == varies
        assert bool(ranked.pairs["ci_low"].notna().all()) == varies
        assert (methods.table["ci_low"].iloc[0] < methods.table["ci_high"].iloc[0]) == varies
