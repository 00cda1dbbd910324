"""Analyses of leaderboards: significant neighbours, detectable gains, answer sampling and costs.

A benchmark scores every system on the same items, which mostly pass or fail, and its leaderboard lists the systems by
score. All standard errors are first-order ones over the items (`pairsig.core.influence.errors_and_correlations`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis.over_systems import Floats, cells, exp, mean, members, n_members, share
from study.analysis.pairs import MIN_SYSTEMS, enough, quantile_interval
from study.analysis.record import SEED, Analysis, Data, Figure, Output, Setting
from study.tables.columns import numeric, with_interval

LEADERBOARDS = Table(
    "leaderboards",
    (
        DATASET,
        METRIC,
        count("n_systems", "systems on the leaderboard"),
        replace(N_SEGMENTS, meaning="items of the benchmark"),
        count("n_pairs", "pairs of systems"),
        count("n_neighbours", "pairs of systems that are adjacent by score", "pairs", "neighbours"),
        *with_interval(
            "share_significant", "share of neighbours with p < 0.05 in the exact two-sided test, uncorrected", "share"
        ),
        numeric("share_significant_by_chance", "the same share if all systems were equally good", shown="share"),
        *with_interval(
            "share_significant_holm", "share of significant neighbours, with Holm's correction over all pairs", "share"
        ),
        numeric(
            "share_significant_holm_by_chance",
            "about the same share if all systems were equally good (Bonferroni's correction)",
            shown="share",
        ),
        *with_interval(
            "share_significant_pairs_holm",
            "share of significant pairs among all pairs, with Holm's correction",
            "share",
        ),
        *with_interval(
            "correlation", "correlation of the outcomes of two systems, for the median pair", "two decimals"
        ),
        *with_interval(
            "overdispersion",
            "overdispersion φ of the variance model; 1 for metrics that only pass or fail an item",
            "two decimals",
        ),
        Column("n_runs", int, "runs per item, where there are several", "runs", "runs", "count", missing=True),
        *with_interval(
            "sampling", "share of answer sampling in the variance of the gain, with one run per item", "share"
        ),
        numeric("sampling_by_chance", "the same share if items did not differ", shown="share", missing=True),
        *with_interval("sampling_of_all", "the same share for means over all runs", "share"),
    ),
    key=("dataset", "metric"),
)


def _detectable(n_items: int) -> tuple[Column, ...]:
    """Columns on the gain that so many items detect."""
    gain = f"gain in points that {n_items:,} items detect with 80 % power (two-sided, 5 %), for the median pair"
    expected = "the same for median score and correlation, by the variance model with φ = 1"
    return *with_interval(f"gain_{n_items}", gain, "two decimals"), numeric(f"expected_{n_items}", expected, "points")


ITEMS_NEEDED = Table(
    "items_needed",
    (
        numeric("score_low", "lower end of the range of the two systems' mean score", "points"),
        numeric("score_high", "upper end of the range", "points"),
        numeric("correlation_low", "lower end of the range of the two systems' correlation", shown="bound"),
        numeric("correlation_high", "upper end of the range", shown="bound"),
        count("n_datasets", "benchmarks", "datasets", "benchmarks"),
        count("n_systems", "systems in these pairs, counted once per benchmark"),
        count("n_pairs", "pairs of systems in the range"),
        *_detectable(500),
        *_detectable(1000),
    ),
    key=("score_low", "score_high", "correlation_low", "correlation_high"),
)

DOLLARS = Table(
    "dollars",
    (
        DATASET,
        METRIC,
        Column(
            "true_gain", str, "assumed true gain in points; `own`: the gain observed for each pair", heading="true gain"
        ),
        count("n_pairs", "pairs of systems"),
        count("n_systems", "systems in these pairs"),
        numeric("items", "items that detect it with 80 % power (two-sided, 5 %), for the median pair", "items"),
        *with_interval("dollars", "cost of running both systems on these items, for the median pair", "two decimals"),
        numeric("dollars_quarter", "lower quartile of this cost over the pairs", "dollars"),
        numeric("dollars_three_quarters", "upper quartile of this cost over the pairs", "dollars"),
    ),
    key=("dataset", "metric", "true_gain"),
)


Pairs = NDArray[np.intp]

ALPHA = 0.05
POWERED = 1.959963984540054 + 0.8416212335729143
"""A true gain of this many standard errors has 80 % power at two-sided p < 0.05, by the normal distribution."""

SHUFFLES = 100
"""Number of random permutations of the outcomes over systems, or over items."""

SIZES = (500, 1000)
"""Numbers of items for which detectable gains are computed."""

SCORES = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
CORRELATIONS = (-1.0, 0.25, 0.5, 0.75, 1.0)
"""Bounds of the ranges of the mean score of two systems, and of their correlation."""

GAINS = (1.0, 2.0, 5.0, 10.0)
"""True gains in points for which costs are computed."""

MICRO = 1e-6
"""Dollars per microdollar."""


def leaderboards(
    data: Iterable[tuple[Statistics, Metric]], *, n_resamples: int = 100_000, seed: int = 2012
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Analyse leaderboards: significant neighbours, answer sampling, detectable gains and costs.

    **Neighbours** are systems that are adjacent by score. The table has their share with p < 0.05 in the exact
    two-sided test (or randomization with `n_resamples` shuffles if there is no exact test), uncorrected and with Holm's
    correction over all pairs (`pairsig.rank`), and the latter share among all pairs. The shares by chance are for equal
    systems: the outcomes of each item are permuted over the systems, `SHUFFLES` times, and the neighbours of the
    resulting order are tested with normal p-values.

    **Sampling.** An item with k runs, of which the share x passed, has the estimated variance w = x(1 − x) k/(k − 1)
    for one run. Let d be the difference between two systems' shares on an item, and Var d its variance over items. The
    variance between items is b = Var d − w_A/k_A − w_B/k_B, at least 0. The share of sampling in the variance of a gain
    is (w_A + w_B) / (b + w_A + w_B) with one run per item, and (w_A/k_A + w_B/k_B) / Var d with the available runs. The
    table has means over pairs. By chance, with each system's runs permuted over its items, the share is 1.

    **Overdispersion.** For pass/fail items the variance of an answer is p(1 − p). The variance model of
    `pairsig.planning.sample_size` then has φ = 1 except for unequal scores. Here φ is the geometric mean over pairs
    of S² / (2·10⁴ (1 − correlation) p(1 − p)), with p the mean of both scores. Scores that are fractions
    have less variance.

    **Items needed.** The gain in points that n items detect with 80 % power (two-sided p < 0.05) is 2.80 S/√n. The
    table has the median over pairs, by score and correlation, over all benchmarks that are percentages of items. The
    column `expected` has the value for φ = 1 at the median score and correlation.

    **Dollars.** Detecting a gain with 80 % power requires n = (2.80 S/gain)² items, times the cost of an item for both
    systems. The table has quartiles over pairs for true gains of 1, 2, 5 and 10 points, and for the observed gain
    (`own`) if it were the true one. For equal systems, p < 0.05 occurs in 5 % of cases at any cost.

    Parameters
    ----------
    data
        Statistics with their metrics. The columns `runs` and `microdollars` contain the number of runs and the cost of
        each item.

    Returns
    -------
    Tables `LEADERBOARDS` (one row per dataset), `DOLLARS` (one row per dataset and gain) and `ITEMS_NEEDED` (one row
    per range of scores and correlation with at least 10 pairs of 6 systems). Intervals (95 %) are over systems.
    """
    from pairsig.core.influence import errors_and_correlations
    from pairsig.planning.sample_size import expected

    boards, dollars = [], []
    percentages: list[pd.DataFrame] = []
    for statistics, metric in data:
        counts = statistics.of(metric)
        n = counts.shape[1]
        pairs = np.stack(np.triu_indices(len(counts), k=1), axis=1)
        error, correlation = errors_and_correlations(counts, metric, pairs)
        scores = metric.score(counts.sum(axis=1))
        names = np.array(statistics.systems)
        about = {"dataset": statistics.dataset, "metric": metric.name}
        row: dict[str, Any] = about | {"n_systems": len(counts), "n_segments": n, "n_pairs": len(pairs)}
        row |= _significant(statistics, metric, n_resamples, seed)
        row |= _significant_by_chance(counts, metric, seed)
        usable = (error > 0) & (correlation < 1)
        usable_pairs, spread = pairs[usable], n * error[usable] ** 2
        middle = scores[usable_pairs].mean(axis=1)
        row |= _median("correlation", correlation[usable], usable_pairs)
        if metric.scale == 100.0 and not metric.averaged:
            predicted = expected(middle, 1.0, correlation[usable])
            row |= _mean("overdispersion", np.log(spread / predicted), usable_pairs, exponential=True)
            first, second = np.char.add(f"{statistics.dataset}/", names[usable_pairs]).T
            percentages.append(pd.DataFrame({
                "dataset": statistics.dataset, "system_a": first, "system_b": second,
                "score": middle, "correlation": correlation[usable], "spread": spread,
            }))  # fmt: skip
        if "runs" in statistics.columns:
            row |= _sampling(statistics, counts, seed)
        boards.append(row)
        if "microdollars" in statistics.columns:
            cost = statistics.counts[:, :, statistics.columns.index("microdollars")].mean(axis=1) * MICRO
            gain = np.abs(scores[usable_pairs[:, 0]] - scores[usable_pairs[:, 1]])
            dollars += [
                about | prices for prices in _dollars(gain, spread, cost[usable_pairs].sum(axis=1), usable_pairs)
            ]
    needed = list(_needed(pd.concat(percentages))) if percentages else []
    return frame(LEADERBOARDS, boards), frame(ITEMS_NEEDED, needed), frame(DOLLARS, dollars)


def _significant(statistics: Statistics, metric: Metric, n_resamples: int, seed: int) -> dict[str, Any]:
    """Compute the shares of significant neighbours and pairs."""
    from pairsig.comparisons.ranking import rank

    ranking = rank(statistics, metric=metric, adjustment="holm", alpha=ALPHA, n_resamples=n_resamples, rng=seed)
    places = {name: place for place, name in enumerate(ranking.table["system"])}
    first, second = (ranking.pairs[side].map(places).to_numpy(int) for side in ("system_a", "system_b"))
    next_to = np.abs(first - second) == 1
    adjusted = (ranking.pairs["pvalue_adjusted"] < ALPHA).to_numpy()
    systems = np.stack([first, second], axis=1).astype(np.intp)
    uncorrected = (ranking.pairs["pvalue"] < ALPHA).to_numpy()
    return {
        "n_neighbours": int(next_to.sum()),
        **cells("share_significant", share(uncorrected[next_to], systems[next_to])),
        **cells("share_significant_holm", share(adjusted[next_to], systems[next_to])),
        **cells("share_significant_pairs_holm", share(adjusted, systems)),
    }


def _significant_by_chance(counts: NDArray[Any], metric: Metric, seed: int) -> dict[str, float]:
    """Compute the shares of significant neighbours if all systems are equal."""
    from scipy.special import ndtr

    from pairsig.core.influence import errors_and_correlations

    rng = np.random.Generator(np.random.SFC64([seed, counts.shape[1]]))
    n_pairs = len(counts) * (len(counts) - 1) // 2
    uncorrected, adjusted = [], []
    for _ in range(SHUFFLES):
        permuted = rng.permuted(np.broadcast_to(np.arange(len(counts))[:, None], counts.shape[:2]), axis=0)
        shuffled = np.take_along_axis(counts, permuted[:, :, None], axis=0)
        score = metric.score(shuffled.sum(axis=1))
        order = np.argsort(score, kind="stable")
        following = np.stack([order[:-1], order[1:]], axis=1)
        error, _ = errors_and_correlations(shuffled, metric, following, threads=1)
        gain = np.abs(score[following[:, 0]] - score[following[:, 1]])
        p = 2 * ndtr(-np.divide(gain, error, out=np.zeros(len(gain)), where=error > 0))
        uncorrected.append((p < ALPHA).mean())
        adjusted.append((p * n_pairs < ALPHA).mean())  # Holm's factor for the smallest p
    return {
        "share_significant_by_chance": float(np.mean(uncorrected)),
        "share_significant_holm_by_chance": float(np.mean(adjusted)),
    }


def _sampling(statistics: Statistics, counts: NDArray[Any], seed: int) -> dict[str, Any]:
    """Compute the share of answer sampling in the variance of gains, for systems with several runs per item."""
    runs = statistics.counts[:, 0, statistics.columns.index("runs")].astype(float)
    several = runs > 1
    if several.sum() < MIN_SYSTEMS:
        return {}
    shares, k = (counts[..., 0] / counts[..., 1])[several], runs[several]
    pairs = np.stack(np.triu_indices(len(k), k=1), axis=1)
    of_one_run, of_all_runs = _sampled(shares, k, pairs)
    rng = np.random.Generator(np.random.SFC64([seed, shares.shape[1]]))
    n_runs = np.rint(k).astype(np.int64)
    passed = np.rint(shares * k[:, None]).astype(np.int64)
    chance = []
    for _ in range(SHUFFLES // 10):
        permuted = np.stack(
            [
                rng.permuted(np.arange(n_passed.size * times) < n_passed.sum())
                .reshape(n_passed.size, times)
                .mean(axis=1)
                for n_passed, times in zip(passed, n_runs.tolist(), strict=True)
            ]
        )
        chance.append(float(_sampled(permuted, k, pairs)[0].mean()))
    return {
        "n_runs": int(np.median(k)),
        **_mean("sampling", of_one_run, pairs),
        "sampling_by_chance": float(np.mean(chance)),
        **_mean("sampling_of_all", of_all_runs, pairs),
    }


def _sampled(shares: Floats, k: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Share of sampling in the variance of each pair's gain, with one run and with all available runs."""
    of_one = (shares * (1 - shares)).mean(axis=1) * k / (k - 1)
    a, b = pairs.T
    w, left = of_one[a] + of_one[b], (of_one / k)[a] + (of_one / k)[b]
    covariance = np.cov(shares)
    total = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_one_run, of_all_runs = w / (np.maximum(total - left, 0.0) + w), np.minimum(left / total, 1.0)
    return np.nan_to_num(of_one_run, nan=1.0), np.nan_to_num(of_all_runs, nan=1.0)


def _needed(pooled: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield detectable gains by score and correlation, first for all pairs."""
    from pairsig.planning.sample_size import expected

    score, correlation, spread = (pooled[name].to_numpy() for name in ("score", "correlation", "spread"))
    systems = members(pooled["system_a"], pooled["system_b"])
    every_score, every_correlation = [(SCORES[0], SCORES[-1])], [(CORRELATIONS[0], CORRELATIONS[-1])]
    scores, correlations = list(pairwise(SCORES)), list(pairwise(CORRELATIONS))
    bands = [
        *product(every_score, every_correlation), *product(scores, every_correlation),
        *product(every_score, correlations), *product(scores, correlations),
    ]  # fmt: skip
    for (low, high), (less, more) in bands:
        inside = (score >= low) & (score < high) & (correlation >= less) & (correlation < more)
        systems_inside = systems[inside]
        if not enough(systems_inside):
            continue
        row: dict[str, Any] = {
            "score_low": low, "score_high": high, "correlation_low": less, "correlation_high": more,
            "n_datasets": pooled["dataset"][inside].nunique(), "n_systems": n_members(systems_inside),
            "n_pairs": int(inside.sum()),
        }  # fmt: skip
        variance_by_model = expected(float(np.median(score[inside])), 1.0, float(np.median(correlation[inside])))
        for n in SIZES:
            row |= _median(f"gain_{n}", POWERED * np.sqrt(spread[inside] / n), systems_inside, logarithm=True)
            row[f"expected_{n}"] = POWERED * float(np.sqrt(variance_by_model / n))
        yield row


def _dollars(gain: Floats, spread: Floats, cost: Floats, pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Yield the median number of items and the quartiles of the cost of detecting a gain, by true gain."""
    for true in (*GAINS, None):
        size = gain if true is None else np.full(len(gain), true)
        differs = size > 0
        if not differs.any():
            continue
        items = np.ceil(POWERED**2 * spread[differs] / size[differs] ** 2)
        paid = items * cost[differs]
        low, high = np.quantile(paid, [0.25, 0.75])
        yield {
            "true_gain": "own" if true is None else f"{true:g}",
            "n_pairs": int(differs.sum()),
            "n_systems": n_members(pairs[differs]),
            "items": float(np.median(items)),
            **_median("dollars", paid, pairs[differs], logarithm=True),
            "dollars_quarter": float(low),
            "dollars_three_quarters": float(high),
        }


def _mean(name: str, values: Floats, systems: Pairs, *, exponential: bool = False) -> dict[str, float]:
    """Mean of shares with its interval, or the geometric mean for logarithms; empty without pairs."""
    if not len(values):
        return {}
    middle, *ends = mean(values, systems)
    return cells(name, exp((middle, *ends)) if exponential else (middle, *np.clip(ends, 0.0, 1.0)))


def _median(name: str, values: Floats, systems: Pairs, *, logarithm: bool = False) -> dict[str, float]:
    """Median over pairs with its interval, optionally on the logarithmic scale; empty without pairs."""
    if not len(values):
        return {}
    return cells(
        name, np.exp(quantile_interval(np.log(values), systems)) if logarithm else quantile_interval(values, systems)
    )


ANALYSIS = Analysis(
    leaderboards,
    {
        "data": Data("leaderboards", optional=True),
        "n_resamples": Setting(
            "shuffles where there is no exact test; default: 100000", "resampling/n_resamples", at_most=100_000
        ),
        "seed": SEED,
    },
    tables=(
        Output(
            LEADERBOARDS,
            "one row per benchmark",
            "Leaderboards of benchmarks: significant neighbours, correlation of systems, share of answer sampling",
        ),
        Output(
            ITEMS_NEEDED,
            "one row per range of scores and of correlation",
            "Gains that benchmarks of 500 and 1,000 items detect, by score and correlation",
        ),
        Output(
            DOLLARS, "one row per benchmark with costs and true gain", "Cost of detecting a gain between two systems"
        ),
    ),
    figures=(
        Figure(
            "leaderboards",
            "leaderboards",
            ("leaderboards", "items_needed", "dollars"),
            "Leaderboards: significant neighbours, answer sampling, detectable gains and costs.",
            "Top left: the share of significantly different neighbours by the exact test, uncorrected and with Holm's "
            "correction over all pairs; grey: the share for equal systems. Top right: the share of answer sampling in "
            "the variance of a gain, with one run per item and with all available runs; grey: the share for equal "
            "items. Bottom left: the gain that a benchmark detects with 80 % power, by the correlation of the two "
            "systems. Bottom right: the cost of detecting a true gain for the median pair; the bar contains half of "
            "the pairs. Intervals (95 %) are over systems.",
        ),
    ),
)
