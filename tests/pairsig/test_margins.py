"""Non-inferiority and equivalence: p-values against loops and closed forms, and their level at the margin."""

import bisect
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simulate
from against import compare_with_one
from pairsig import InputError, cli, margin_test
from pairsig.metrics import registry
from pairsig.stats import intervals, margins, pass_fail
from simulate import items
from test_intervals import POPULATIONS, heavy, jackknife, quality
from test_levels import within
from test_pass_fail import tables


def by_hand(r, s, n, m):
    """Tango's Z by maximizing the likelihood over a grid, for one table."""
    q = np.linspace(m, 1, 200_001)  # only B passes with q, only A with q − m
    q = q[2 * q - m <= 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = stats.multinomial.logpmf(
            np.array([[r, s, n - r - s]]), n, np.stack([q - m, q, 1 - 2 * q + m], axis=1).clip(0, 1)
        )
    best = q[np.nanargmax(likelihood)]
    return (r - s + n * m) / math.sqrt(n * (2 * best - m - m * m))


@pytest.mark.parametrize(("r", "s", "n", "m"), [(3, 5, 40, 0.1), (0, 4, 30, 0.2), (12, 9, 60, 0.05), (2, 0, 25, 0.3)])
def test_tangos_statistic_is_that_of_the_likeliest_table(r, s, n, m):
    assert pass_fail.tango(r, s, n, m) == pytest.approx(by_hand(r, s, n, m), abs=1e-3)


@pytest.mark.parametrize("m", [0.02, 0.4])
def test_the_exact_p_is_the_worst_sum_over_all_tables(m):
    """Every table of 12 units, every one that is as extreme, on a finer grid of the unknown probability."""
    n, counts = 12, tables(12)
    z = pass_fail.tango(counts[:, 0], counts[:, 1], n, m)
    psi = np.linspace(m, 1, 4001)
    cells = np.stack([(psi - m) / 2, (psi + m) / 2, 1 - psi], axis=1)
    chance = stats.multinomial.pmf(counts, n, cells[:, None])
    for place, (r, s, _) in list(enumerate(counts.tolist()))[::3]:
        worst = chance[:, z >= z[place] - 1e-9].sum(axis=1).max()
        assert pass_fail.exact_p(r, s, n, m) == pytest.approx(worst, rel=1e-4)


@pytest.mark.parametrize(("n", "m"), [(20, 0.1), (50, 0.02), (100, 0.05)])
def test_false_positive_rate_of_the_exact_test_however_few_differ(n, m):
    """In closed form: all tables that are rejected, weighted by their probability where Δ is exactly at the margin."""
    r, s, _ = tables(n).T
    order = np.argsort(pass_fail.tango(r, s, n, m))
    r, s = r[order], s[order]
    # p falls with Z.
    first = bisect.bisect(range(len(r)), False, key=lambda at: pass_fail.exact_p(int(r[at]), int(s[at]), n, m) < 0.05)
    r, s = r[first:], s[first:]
    levels = [
        float((stats.binom.pmf(r + s, n, psi) * stats.binom.pmf(r, r + s, (psi - m) / (2 * psi))).sum())
        for psi in (m, 1.2 * m, 2 * m, 0.3, 0.7, 1.0)
    ]
    assert 0 < max(levels) < 0.05


def test_both_sides_and_the_larger():
    a, b = items(9, 4, 80)
    first, second, both = (
        margin_test(a, b, 10.0, claim, metric="accuracy") for claim in ("a-not-worse", "b-not-worse", "equivalence")
    )
    assert first.pvalue == pass_fail.exact_p(9, 4, 80, 0.1)
    assert second.pvalue == pass_fail.exact_p(4, 9, 80, 0.1)
    assert both.pvalue == max(first.pvalue, second.pvalue) == second.pvalue
    assert (first.exact, first.test, first.gain, first.better) == (True, "margin", pytest.approx(6.25), "a")
    swapped = margin_test(b, a, 10.0, "b-not-worse", metric="accuracy")
    assert swapped.pvalue == first.pvalue
    # Where lower is better, who fails more is the better one.
    errors = replace(registry.metric("mean"), higher_is_better=False)
    assert margin_test(a, b, 0.1, "a-not-worse", metric=errors).pvalue == second.pvalue


def test_studentized_by_loops_and_the_interval_that_lies_within():
    rng = np.random.default_rng(4)
    a, b = simulate.statistics("f1", n_systems=2, n_segments=60, spread=0.4, seed=2).counts
    metric = registry.metric("f1")
    delta, s, degrees = jackknife(metric, a, b)
    margin = abs(delta) + 1.3 * s
    p = {claim: margin_test(a, b, margin, claim, metric=metric).pvalue for claim in margins.CLAIMS}
    assert p["a-not-worse"] == pytest.approx(stats.t.sf((margin + delta) / s, degrees), rel=1e-9)
    assert p["b-not-worse"] == pytest.approx(stats.t.sf((margin - delta) / s, degrees), rel=1e-9)
    assert p["equivalence"] == max(p["a-not-worse"], p["b-not-worse"])
    # p = alpha where the interval at 1 − 2 alpha ends at the margin.
    for alpha in rng.uniform(0.01, 0.2, 4):
        interval = intervals.difference_interval(a, b, metric=metric, confidence_level=1 - 2 * alpha)
        assert margin_test(a, b, max(-interval.low, interval.high), metric=metric).pvalue == pytest.approx(
            alpha, rel=1e-6
        )


def test_documents_are_the_units():
    data = simulate.statistics("accuracy", n_systems=2, n_segments=120, document_size=6, spread=0.2)
    a, b = data.counts
    summed = [counts.reshape(20, 6, -1).sum(axis=1) for counts in (a, b)]
    assert (
        margin_test(a, b, 4.0, document=data.documents, metric="accuracy").pvalue
        == margin_test(*summed, 4.0, metric="accuracy").pvalue
    )


def test_what_has_no_spread():
    a, b = simulate.statistics("f1", n_systems=2, n_segments=30).counts
    assert margin_test(a, a, 1.0, metric="f1").pvalue == 1  # nothing differs: nothing is known of what might
    assert margin_test(a[:1], b[:1], 1.0, metric="f1").pvalue == 1
    for claim in margins.CLAIMS:  # passed or failed units tell, by how many they are
        assert 0.95**100 < margin_test(*items(0, 0, 100), 5.0, claim, metric="accuracy").pvalue < 0.05
        assert 0.05 < 0.95**50 < margin_test(*items(0, 0, 50), 5.0, claim, metric="accuracy").pvalue
    assert margin_test(*items(0, 40, 40), 5.0, "a-not-worse", metric="accuracy").pvalue == 1


@pytest.mark.parametrize("margin", [0.0, -1.0, math.nan, math.inf, 100.0, 250.0])
def test_what_is_no_margin(margin):
    a, b = items(3, 2, 20)
    with pytest.raises(InputError, match=r"expected a (number above 0|smaller number), in points"):
        margin_test(a, b, margin, metric="accuracy")


def test_a_margin_beyond_a_mean_of_zeros_and_ones():
    values = np.array([0.0, 1.0, 1.0, 0.0])
    with pytest.raises(InputError, match="no two systems differ by more than 1 in mean"):
        margin_test(values, values[::-1], 5.0, metric="mean")
    with pytest.raises(InputError, match="unknown claim 'better', expected one of equivalence, a-not-worse"):
        margin_test(values, values, 0.1, "better", metric="mean")


def rejected(metric, population, n, times, seed=1):
    """How often p < 0.05 where the gain is exactly at the margin, on either side of it."""
    chosen = registry.metric(metric)
    rng = np.random.default_rng(seed)
    truth = float(np.subtract(*(quality(chosen, totals) for totals in population.sum(axis=1))))
    counts = np.zeros(2, dtype=int)
    size = max(1, 200_000 // n)
    for start in range(0, times, size):
        here = min(size, times - start)
        units = population[:, rng.integers(0, population.shape[1], (here, n))].swapaxes(0, 1)
        for place, sign in enumerate((1, -1)):
            counts[place] += (margins.studentized_p(units, chosen, -sign * truth, sign) < 0.05).sum()
    return counts


LEVELS = {
    "normal": {10: 0.055, 50: 0.055, 500: 0.055},
    "heavy": {10: 0.07, 50: 0.055, 500: 0.055},
    "exponential": {10: 0.13, 50: 0.085, 500: 0.065},
    "bleu": {10: 0.065, 50: 0.06, 500: 0.06},
}
"""The table in docs/false-positive-rate.md: at most so often."""


@pytest.mark.parametrize("n", [10, *(pytest.param(n, marks=pytest.mark.slow) for n in (50, 500))])
@pytest.mark.parametrize("name", LEVELS)
def test_the_level_at_the_margin(name, n):
    times = 1500
    for count in rejected(*POPULATIONS[name](), n, times):
        assert within(count, times, 0.0, LEVELS[name][n])


def test_few_differences_do_not_claim_too_much():
    """Where 5 % of the segments differ, test sets without any difference claim nothing."""
    assert all(within(count, 1500, 0.0, 0.05) for count in rejected(*heavy(0.05), 10, 1500))


def test_rows_of_the_command(tmp_path, capsys):
    paths = []
    for name, counts in zip("ab", items(6, 5, 300), strict=True):
        paths.append(str(tmp_path / f"{name}.tsv"))
        table = pd.DataFrame({"correct": counts, "total": 1})
        table.to_csv(paths[-1], sep="\t", index_label="segment")
    command = ["compare", *paths, "--reader", "table", "--metric", "accuracy", "--test", "exact"]
    assert cli.main([*command, "--margin", "4", "--format", "json"]) == 0
    first, *rows = json.loads(capsys.readouterr().out)["rows"]
    assert (first["test"], first["margin"]) == ("exact", None)
    assert [(row["test"], row["alternative"]) for row in rows] == [("margin", claim) for claim in margins.CLAIMS]
    assert [row["pvalue"] for row in rows] == [
        max(pass_fail.exact_p(6, 5, 300, 0.04), pass_fail.exact_p(5, 6, 300, 0.04)),
        pass_fail.exact_p(6, 5, 300, 0.04),
        pass_fail.exact_p(5, 6, 300, 0.04),
    ]
    assert all("|test:margin|method:exact|alternative:" in row["signature"] for row in rows)
    assert all("|margin:4.0|" in row["signature"] for row in rows)
    assert cli.main([*command, "--margin", "4", "--stop-at", "0.05"]) == 0
    assert "- a small p shows that a is not worse than b by 4 in accuracy or more" in capsys.readouterr().out
    assert cli.main([*command, "--margin", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_a_margin_there_is_nothing_of_it():
    data = simulate.statistics("accuracy", n_systems=3, n_segments=40)
    table, _ = compare_with_one(data, [registry.metric("accuracy")], ["exact"])
    assert table["margin"].isna().all()
    table, _ = compare_with_one(data, [registry.metric("accuracy")], ["exact"], margin=10.0)
    assert table.groupby("test").size().to_dict() == {"exact": 2, "margin": 6}
    family = table[(table["test"] == "margin") & (table["alternative"] == "equivalence")]
    p = np.sort(family["pvalue"])
    np.testing.assert_allclose(np.sort(family["pvalue_holm"]), np.maximum.accumulate(np.minimum(1, p * [2, 1])))
