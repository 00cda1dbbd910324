"""The paper's claims today, and its Figure 2, once more from the embedded counts with numpy and pyarrow alone.

In simulated worlds, the coverage of the intervals.
"""

from __future__ import annotations

from itertools import permutations
from math import lgamma

import numpy as np
import pytest
from scipy.special import ndtr

from pairsig import Statistics
from pairsig.core import statistics
from study.analysis import over_systems
from study.beyond import today
from test_recomputed import BLEU, STATISTICS, bleu, bleu_influence, counts, influence, reference

LATE = sorted(path.stem for path in STATISTICS.glob("wmt2[1-4]-*.parquet"))


def different(sums):
    """Without repeated outputs."""
    _, first = np.unique(sums.reshape(len(sums), -1), axis=0, return_index=True)
    return sums[np.sort(first)]


def gains_and_errors(sums, score, u):
    """Gains of all pairs and their standard errors, n − 1 in the denominator."""
    a, b = np.triu_indices(len(sums), 1)
    scores, n = score(sums.sum(axis=1)), sums.shape[1]
    difference = u[a] - u[b]
    return scores[a] - scores[b], difference.std(axis=1, ddof=1) * np.sqrt(n)


def accuracy(totals):
    return 100 * totals[..., 0] / totals[..., 1]


def student(z, n):
    """Two-sided p of Student's t with n − 1 degrees of freedom, by adding up its density, as a function of |z|."""
    grid = np.linspace(0, 12, 48_001)
    log = lgamma(n / 2) - lgamma((n - 1) / 2) - np.log((n - 1) * np.pi) / 2
    density = np.exp(log - n / 2 * np.log1p(grid**2 / (n - 1)))
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    return 1 - 2 * np.interp(np.abs(z), grid, below)


def test_figure_2_has_the_papers_pairs_and_threshold():
    """47 pairs with p from .04 to .06 and 1.10: the paper's bootstrap, one-sided, strict, on its own systems."""
    _, sums, *_ = counts("tac08", ["value"])
    scores = sums[:, :, 0]
    assert scores.shape == (58, 48)
    rng, b = np.random.default_rng(1), 100_000
    draws = rng.multinomial(48, np.full(48, 1 / 48), size=b).astype(np.float32) / 48
    resampled = draws @ scores.T.astype(np.float32)
    first, second = np.triu_indices(58, 1)
    gain = scores.mean(axis=1)[first] - scores.mean(axis=1)[second]
    sign = np.where(gain < 0, -1, 1)
    p = np.array([(s * (resampled[:, i] - resampled[:, j]) > 2 * s * d).mean()
                  for i, j, s, d in zip(first, second, sign, gain, strict=True)])  # fmt: skip
    inside = (p >= 0.04) & (p <= 0.06)
    assert inside.sum() == pytest.approx(47, abs=2)
    assert np.percentile(np.abs(gain)[inside], 95, method="inverted_cdf") == pytest.approx(1.10, abs=0.02)
    row = reference("thresholds", dataset="tac08", test_set="whole", subset="all")
    assert abs(int(row["n_pairs"]) - 47) <= 1
    assert float(row["printed"]) == pytest.approx(1.09, abs=0.01)


@pytest.fixture(scope="module")
def late():
    """Gains, standard errors, segments and correlations of the test sets from 2021 to 2024."""
    values = []
    for name in LATE:
        sums = different(counts(name, BLEU)[1])
        u = bleu_influence(sums)
        correlation = np.corrcoef(u)[np.triu_indices(len(sums), 1)]
        values.append((*gains_and_errors(sums, bleu, u), sums.shape[1], correlation))
    return values


def test_half_a_point_of_bleu_from_2021_to_2024(late):
    gain = np.concatenate([np.abs(d) for d, _, _, _ in late])
    z = np.concatenate([np.abs(d) / s for d, s, _, _ in late])
    z_equal = np.concatenate([np.abs(d) / s / np.sqrt(n / 2034) for d, s, n, _ in late])
    between = (gain > 0.5) & (gain <= 1)
    for which, inside in (("gains above 0.5 BLEU", gain > 0.5), ("gains from 0.5 to 1 BLEU", between)):
        for size, errors in (("", z), (" at 2,034 segments", z_equal)):
            row = reference("today", claim="half a point", data="WMT 2021–2024",
                            measured=f"share of {which} with two-sided p of 0.05 or more{size}")  # fmt: skip
            assert int(row["n"]) == inside.sum()
            assert float(row["value"]) == pytest.approx((student(errors[inside], 2034) >= 0.05).mean(), abs=0.004)
            assert float(row["value_low"]) < float(row["value"]) < float(row["value_high"])


def test_critical_difference_from_2021_to_2024(late):
    medians = [1.6448536 * np.median(s) * np.sqrt(n / 2034) for _, s, n, _ in late]
    row = reference("today", claim="critical difference", data="WMT 2021–2024",
                    measured="critical difference at 2,034 segments, mean over test sets")  # fmt: skip
    assert float(row["value"]) == pytest.approx(np.mean(medians), rel=2e-3)
    for name, median in zip(LATE, medians, strict=True):
        assert float(reference("years", dataset=name)["critical_difference"]) == pytest.approx(median, rel=1e-2)


@pytest.mark.parametrize(("name", "data"), [("mmlu-pro", "MMLU-Pro"), ("livebench", "LiveBench"), ("bfcl", "BFCL"),
                                            ("llmbar", "LLMBar")])  # fmt: skip
def test_how_often_the_better_model_wins_in_another_category(name, data):
    _, sums, _, domains = counts(name, ["correct", "total"])
    sums = different(sums)
    by_domain = []
    for domain in np.unique(domains):
        part = sums[:, domains == domain]
        by_domain.append((*gains_and_errors(part, accuracy, influence(part[..., 0], part[..., 1])), part.shape[1]))
    right = expected = n_pairs = 0.0
    for (d_1, s_1, n_1), (d_2, _, n_2) in permutations(by_domain, 2):
        usable = (s_1 > 1e-9) & (d_1 != 0)
        z = np.divide(np.abs(d_1), s_1, out=np.zeros_like(d_1), where=usable)
        p = student(z, n_1)
        inside = usable & (p > 0.04) & (p <= 0.08)
        again = np.where(np.abs(d_2) < 1e-9, 0.5, np.sign(d_1) == np.sign(d_2))
        right += again[inside].sum()
        expected += (1 - student(z[inside] / np.sqrt(1 + n_1 / n_2), 10**6) / 2).sum()
        n_pairs += inside.sum()
    measured = "the winner wins again on another domain or category, two-sided p from 0.04 to 0.08"
    row = reference("today", claim="wins again", data=data, measured=measured)
    assert int(row["n"]) == pytest.approx(n_pairs, abs=3)
    assert float(row["value"]) == pytest.approx(right / n_pairs, abs=0.003)
    assert float(row["expected"]) == pytest.approx(expected / n_pairs, abs=0.003)
    assert float(row["value_high"]) < float(row["expected"])  # what the page says of all four


def test_the_exponent_of_the_correlation_from_2021_to_2024(late):
    """Least squares with a level for each test set; the interval leaves out one test set at a time."""
    products, squares = [], []
    for _, errors, _, correlation in late:
        y, x = np.log(errors), np.log(1 - correlation)
        products.append(((x - x.mean()) * (y - y.mean())).sum())
        squares.append(((x - x.mean()) ** 2).sum())
    products, squares = np.array(products), np.array(squares)
    slope = products.sum() / squares.sum()
    left = (products.sum() - products) / (squares.sum() - squares)
    m = len(left)
    error = np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum())
    row = reference("today", claim="similar systems", data="WMT 2021–2024",
                    measured="exponent of 1 − correlation in the standard error")  # fmt: skip
    assert float(row["value"]) == pytest.approx(slope, abs=2e-3)
    reach = (float(row["value_high"]) - float(row["value_low"])) / 2
    assert 1.96 * error < reach < 3 * error  # Student's, with some five degrees of freedom


def test_the_exponent_of_several_test_sets_varies_with_them_and_not_with_their_systems():
    """Copies of a test set say nothing about other ones: leaving one out does not change the exponent."""
    measured = today._Measured(statistics.read(STATISTICS / "wmt10-cz-en.parquet"))
    (alone,), (twice,) = (today._similar("WMT", [measured] * times) for times in (1, 2))
    assert alone["value"] == pytest.approx(twice["value"])
    assert alone["value_low"] < alone["value"] < alone["value_high"]
    assert [twice["value_low"], twice["value_high"]] == pytest.approx([twice["value"]] * 2)


def test_the_critical_difference_of_a_test_set_is_that_of_its_median_pair():
    name = "wmt08-de-en"
    sums = different(counts(name, BLEU)[1])
    _, errors = gains_and_errors(sums, bleu, bleu_influence(sums))
    (row,) = today.years([statistics.read(STATISTICS / f"{name}.parquet")]).to_dict("records")
    expected = 1.6448536 * np.median(errors) * np.sqrt(sums.shape[1] / 2034)
    assert row["critical_difference"] == pytest.approx(expected, rel=1e-2)
    assert row["critical_difference_low"] < row["critical_difference"] < row["critical_difference_high"]
    assert (row["year"], row["language_pair"], row["n_systems"]) == (2008, "de-en", len(sums))


def test_pairs_of_one_group_have_one_member_and_test_sets_have_members_of_their_own():
    systems = ("a-1", "a-2", "b")
    parts = []
    for dataset in ("mmlu-pro", "bfcl"):
        counts = np.array([[[1, 1], [0, 1], [1, 1]], [[1, 1], [1, 1], [0, 1]], [[0, 1], [1, 1], [1, 1]]])
        about = {"systems": systems, "groups": ("a", "a", "b"), "segments": np.array(["1", "2", "3"])}
        data = Statistics(columns=("correct", "total"), counts=counts, dataset=dataset, **about)
        parts.append(today._Measured(data))
    pairs = today._together(parts)
    assert pairs.groups.tolist() == [[0, -1], [0, 1], [0, 1], [2, -1], [2, 3], [2, 3]]
    assert pairs.sets.tolist() == [[0, -1]] * 3 + [[1, -1]] * 3


def coverage_of_rates(n_groups: int, n_sets: int, in_pairs: bool, n_worlds: int) -> float:
    """How often intervals contain the true rate of wins that depend on both systems and on one test set or two."""
    rng, covered = np.random.default_rng(5), 0
    first, second = np.triu_indices(n_groups, 1)
    ordered = permutations(range(n_sets), 2) if in_pairs else ((number, -1) for number in range(n_sets))
    test_sets = np.array([*ordered])
    sd_systems, sd_test_sets = 0.2, 0.3
    variance = 2 * sd_systems**2 + (2 if in_pairs else 1) * sd_test_sets**2
    truth = ndtr(0.6 / np.sqrt(1 + variance))
    for _ in range(n_worlds):
        of_system, of_set = rng.normal(0, sd_systems, n_groups), rng.normal(0, sd_test_sets, n_sets)
        of_row = of_set[test_sets].sum(axis=1) if in_pairs else of_set
        level = 0.6 + of_system[first] + of_system[second] + of_row[:, None]
        wins = (rng.random(level.shape) < ndtr(level)).ravel()
        systems = np.tile(np.stack([first, second], axis=1), (len(test_sets), 1))
        value, low, high = over_systems.share(wins, systems, np.repeat(test_sets, len(first), axis=0))
        assert low <= value <= high
        covered += low <= truth <= high
    return covered / n_worlds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_groups", "n_sets", "in_pairs", "documented"),
    [(12, 8, False, 0.95), (30, 5, False, 0.95), (28, 14, True, 0.95), (12, 6, True, 0.91), (11, 5, True, 0.92)],
)
def test_intervals_cover_the_true_rate(n_groups, n_sets, in_pairs, documented):
    assert coverage_of_rates(n_groups, n_sets, in_pairs, 150) > documented - 3 * np.sqrt(0.05 * 0.95 / 150)


def coverage_of_slopes(n_systems: int, n_sets: int, n_worlds: int) -> float:
    """How often intervals contain the true slope, with levels and slopes of test sets and heavy tails of systems."""
    rng, covered = np.random.default_rng(9), 0
    first, second = np.triu_indices(n_systems, 1)
    for _ in range(n_worlds):
        parts = []
        for number in range(n_sets):
            of_x, of_y = rng.normal(0, 0.4, n_systems), 0.1 * rng.standard_t(4, n_systems)
            x = of_x[first] + of_x[second] + rng.normal(0, 0.2, len(first))
            slope = rng.normal(0.45, 0.05) if n_sets > 1 else 0.45
            noise = of_y[first] + of_y[second] + rng.normal(0, 0.05, len(first))
            parts.append((rng.normal() + slope * x + noise, x, np.full(len(first), number)))
        y, x, level = map(np.concatenate, zip(*parts, strict=True))
        systems = np.stack([first, second], axis=1)
        members = np.stack([level, np.full(len(level), -1)], axis=1) if n_sets > 1 else systems
        _, low, high = over_systems.slope(y, x, level, members)
        covered += low <= 0.45 <= high
    return covered / n_worlds


@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "n_sets"), [(12, 1), (28, 1), (12, 4), (12, 14)])
def test_intervals_cover_the_true_slope(n_systems, n_sets):
    assert coverage_of_slopes(n_systems, n_sets, 100) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 100)
