"""What a leaderboard tells: neighbours told apart, the items that a gain needs, the share of sampling, dollars.

A benchmark gives every system a score on the same items, most often passed or failed, and its leaderboard lists them by
it. All standard errors are first order (`pairsig.contributions.likeness`), of the items given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.contributions import likeness
from pairsig.metrics import Metric
from pairsig.planning import expected
from pairsig.ranking import rank
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.analysis.over_systems import interval, members, share_interval, variance
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, quantile_interval
from study.columns import DOLLARS, ITEMS_NEEDED, LEADERBOARDS

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]

ALPHA = 0.05
POWERED = 1.959963984540054 + 0.8416212335729143
"""Standard errors that a true gain is for 80 % power at p < 0.05, two-sided, by the normal law."""

SHUFFLES = 100
"""Times that the outcomes of each item are dealt out to systems, or those of each system to items."""

SIZES = (500, 1000)
"""Items of a benchmark whose gains are told."""

SCORES = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
LIKENESSES = (-1.0, 0.25, 0.5, 0.75, 1.0)
"""Ends of the ranges of the mean score of two systems, and of their likeness."""

GAINS = (1.0, 2.0, 5.0, 10.0)
"""True gains, in points, whose dollars are told."""

MICRO = 1e-6
"""Dollars of a microdollar."""


@dataclass
class _Pooled:
    """Pairs of pass/fail benchmarks, one array a dataset."""

    datasets: list[str] = field(default_factory=list)
    score: list[Floats] = field(default_factory=list)
    likeness: list[Floats] = field(default_factory=list)
    spread: list[Floats] = field(default_factory=list)
    names: list[NDArray[np.str_]] = field(default_factory=list)


def leaderboards(
    data: Iterable[tuple[Statistics, Metric]], *, n_resamples: int = 100_000, seed: int = 2012
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """What the leaderboards of benchmarks tell.

    **Neighbours** are systems that follow each other by score. Told is how many have p < 0.05 by the exact two-sided
    test (randomization with `n_resamples` shuffles where there is none), uncorrected, and by Holm's correction over all
    pairs (`pairsig.rank`); and how many pairs of all have the second. By chance: the outcomes of each item are dealt
    out to the systems at random, `SHUFFLES` times, which makes all of them equal, and the neighbours of *that* order
    are looked at, by normal p-values.

    **Sampling.** Of k runs of an item with the share x passed, the variance of one run is estimated by
    w = x(1 − x) k/(k − 1). With d the difference of two systems' shares on an item, Var d its variance over items, what
    items differ by is b = Var d − w_A/k_A − w_B/k_B, or 0 where that is below. Sampling's share of the variance of a
    gain is (w_A + w_B) / (b + w_A + w_B) with one run each, and (w_A/k_A + w_B/k_B) / Var d with the k there are: means
    over pairs. By chance (each system's runs dealt out to its items at random: all items are alike) it is 1.

    **The law.** Of pass/fail items the variance of an answer is p(1 − p), so the law of `pairsig.planning` has φ = 1
    but for unequal scores: φ is the geometric mean over pairs of S² / (2·10⁴ (1 − likeness) p(1 − p)), p the mean of
    both scores. Scores that are fractions have less variance.

    **Items needed**: the gain in points that n items show at 80 % power (two-sided p < 0.05) is 2.80 S/√n; told is that
    of the median pair, by score and likeness, over all benchmarks that are percentages of items, and `expected`, what
    φ = 1 gives at the medians of score and likeness.

    **Dollars** to decide a pair with 80 % power: n = (2.80 S/gain)² items times what an item costs with both systems;
    for true gains of 1, 2, 5 and 10 points, and for the gain observed (`own`), were it the true one. Of equal systems
    p < 0.05 comes up on 5 % whatever is spent. Told are quartiles over pairs.

    Parameters
    ----------
    data
        Statistics with their metrics; columns `runs` and `microdollars` say how often an item was run and what it cost.

    Returns
    -------
    Tables `LEADERBOARDS` and `DOLLARS`, one row a dataset (and gain), and `ITEMS_NEEDED`, one a range of scores and
    likeness with at least 10 pairs of 6 systems. Intervals (95 %) are over systems.
    """
    boards, dollars, pooled = [], [], _Pooled()
    for statistics, metric in data:
        counts = statistics.of(metric)
        n = counts.shape[1]
        pairs = np.stack(np.triu_indices(len(counts), k=1), axis=1)
        error, alike = likeness(counts, metric, pairs)
        scores = metric.score(counts.sum(axis=1))
        names = np.array(statistics.systems)
        row: dict[str, Any] = {
            "dataset": statistics.dataset,
            "metric": metric.name,
            "n_systems": len(counts),
            "n_segments": n,
            "n_pairs": len(pairs),
        }
        row |= _apart(statistics, metric, n_resamples, seed)
        row |= _apart_by_chance(counts, metric, seed)
        usable = (error > 0) & (alike < 1)
        own, spread = pairs[usable], n * error[usable] ** 2
        middle = scores[own].mean(axis=1)
        row |= _median("likeness", alike[usable], own)
        if metric.scale == 100.0 and not metric.averaged:
            told = expected(middle, 1.0, 1 - alike[usable])
            row |= _mean("overdispersion", np.log(spread / told), own, exponential=True)
            pooled.datasets.append(statistics.dataset)
            pooled.score.append(middle)
            pooled.likeness.append(alike[usable])
            pooled.spread.append(spread)
            pooled.names.append(np.char.add(f"{statistics.dataset}/", names[own]))
        if "runs" in statistics.columns:
            row |= _sampling(statistics, counts, seed)
        boards.append(row)
        if "microdollars" in statistics.columns:
            cost = statistics.counts[:, :, statistics.columns.index("microdollars")].mean(axis=1) * MICRO
            gain = np.abs(scores[own[:, 0]] - scores[own[:, 1]])
            about = {"dataset": statistics.dataset, "metric": metric.name}
            dollars += [about | one for one in _dollars(gain, spread, cost[own].sum(axis=1), own)]
    return frame(LEADERBOARDS, boards), frame(ITEMS_NEEDED, list(_needed(pooled))), frame(DOLLARS, dollars)


def _apart(statistics: Statistics, metric: Metric, n_resamples: int, seed: int) -> dict[str, Any]:
    """Neighbours and pairs that are told apart."""
    found = rank(statistics, metric=metric, adjustment="holm", alpha=ALPHA, n_resamples=n_resamples, seed=seed)
    places = {name: place for place, name in enumerate(found.systems["system"])}
    first, second = (found.pairs[side].map(places).to_numpy(int) for side in ("system_a", "system_b"))
    next_to = np.abs(first - second) == 1
    told = (found.pairs["p_adjusted"] < ALPHA).to_numpy()
    systems = np.stack([first, second], axis=1).astype(np.intp)
    return {
        "n_neighbours": int(next_to.sum()),
        **_share("apart", (found.pairs["p_value"] < ALPHA).to_numpy()[next_to], systems[next_to]),
        **_share("told", told[next_to], systems[next_to]),
        **_share("pairs_told", told, systems),
    }


def _apart_by_chance(counts: NDArray[Any], metric: Metric, seed: int) -> dict[str, float]:
    """Shares of neighbours told apart where all systems are equal."""
    from scipy.special import ndtr

    rng = np.random.Generator(np.random.SFC64([seed, counts.shape[1]]))
    n_pairs = len(counts) * (len(counts) - 1) // 2
    apart, told = [], []
    for _ in range(SHUFFLES):
        dealt = rng.permuted(np.broadcast_to(np.arange(len(counts))[:, None], counts.shape[:2]), axis=0)
        own = np.take_along_axis(counts, dealt[:, :, None], axis=0)
        score = metric.score(own.sum(axis=1))
        order = np.argsort(score, kind="stable")
        following = np.stack([order[:-1], order[1:]], axis=1)
        error, _ = likeness(own, metric, following, threads=1)
        gain = np.abs(score[following[:, 0]] - score[following[:, 1]])
        p = 2 * ndtr(-np.divide(gain, error, out=np.zeros(len(gain)), where=error > 0))
        apart.append((p < ALPHA).mean())
        told.append((p * n_pairs < ALPHA).mean())  # the smallest of all p; Holm's others are no smaller
    return {"apart_by_chance": float(np.mean(apart)), "told_by_chance": float(np.mean(told))}


def _sampling(statistics: Statistics, counts: NDArray[Any], seed: int) -> dict[str, Any]:
    """Sampling's share of the variance of gains, of systems with several runs of an item."""
    runs = statistics.counts[:, 0, statistics.columns.index("runs")].astype(float)
    several = runs > 1
    if several.sum() < MIN_SYSTEMS:
        return {}
    shares, k = (counts[..., 0] / counts[..., 1])[several], runs[several]
    pairs = np.stack(np.triu_indices(len(k), k=1), axis=1)
    one, given = _sampled(shares, k, pairs)
    rng = np.random.Generator(np.random.SFC64([seed, shares.shape[1]]))
    n_runs = np.rint(k).astype(np.int64)
    passed = np.rint(shares * k[:, None]).astype(np.int64)
    chance = []
    for _ in range(SHUFFLES // 10):
        dealt = np.stack(
            [
                rng.permuted(np.arange(own.size * times) < own.sum()).reshape(own.size, times).mean(axis=1)
                for own, times in zip(passed, n_runs.tolist(), strict=True)
            ]
        )
        chance.append(float(_sampled(dealt, k, pairs)[0].mean()))
    return {
        "n_runs": int(np.median(k)),
        **_mean("sampling", one, pairs),
        "sampling_by_chance": float(np.mean(chance)),
        **_mean("sampling_of_all", given, pairs),
    }


def _sampled(shares: Floats, k: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Of every pair sampling's share of the variance with one run each, and with all that there are."""
    of_one = (shares * (1 - shares)).mean(axis=1) * k / (k - 1)
    a, b = pairs.T
    w, left = of_one[a] + of_one[b], (of_one / k)[a] + (of_one / k)[b]
    covariance = np.cov(shares)
    total = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    with np.errstate(divide="ignore", invalid="ignore"):
        one, given = w / (np.maximum(total - left, 0.0) + w), np.minimum(left / total, 1.0)
    return np.nan_to_num(one, nan=1.0), np.nan_to_num(given, nan=1.0)


def _needed(pooled: _Pooled) -> Iterator[dict[str, Any]]:
    """The gains that benchmarks of some sizes show, by score and likeness; first those of all pairs."""
    if not pooled.datasets:
        return
    score, alike, spread = (np.concatenate(one) for one in (pooled.score, pooled.likeness, pooled.spread))
    systems = members(*np.concatenate(pooled.names).T)
    dataset = np.repeat(pooled.datasets, [len(one) for one in pooled.score])
    everything = [(SCORES[0], SCORES[-1])], [(LIKENESSES[0], LIKENESSES[-1])]
    bands = [
        (scores, likenesses)
        for of_score, of_likeness in (
            everything,
            (list(pairwise(SCORES)), everything[1]),
            (everything[0], list(pairwise(LIKENESSES))),
            tuple(list(pairwise(ends)) for ends in (SCORES, LIKENESSES)),
        )
        for scores in of_score
        for likenesses in of_likeness
    ]
    for (low, high), (less, more) in bands:
        inside = (score >= low) & (score < high) & (alike >= less) & (alike < more)
        own = systems[inside]
        if inside.sum() < MIN_PAIRS or len(np.unique(own)) < MIN_SYSTEMS:
            continue
        row: dict[str, Any] = {
            "score_low": low, "score_high": high, "likeness_low": less, "likeness_high": more,
            "n_datasets": len(np.unique(dataset[inside])), "n_systems": len(np.unique(own)),
            "n_pairs": int(inside.sum()),
        }  # fmt: skip
        by_law = expected(float(np.median(score[inside])), 1.0, 1 - float(np.median(alike[inside])))
        for n in SIZES:
            row |= _median(f"gain_{n}", POWERED * np.sqrt(spread[inside] / n), own, logarithm=True)
            row[f"expected_{n}"] = POWERED * float(np.sqrt(by_law / n))
        yield row


def _dollars(gain: Floats, spread: Floats, cost: Floats, pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Items and dollars that decide a pair, of the median pair and quartiles, by its true gain."""
    for true in (*GAINS, None):
        size = gain if true is None else np.full(len(gain), true)
        kept = size > 0
        if not kept.any():
            continue
        items = np.ceil(POWERED**2 * spread[kept] / size[kept] ** 2)
        paid = items * cost[kept]
        low, high = np.quantile(paid, [0.25, 0.75])
        yield {
            "true_gain": "own" if true is None else f"{true:g}",
            "n_pairs": int(kept.sum()),
            "n_systems": len(np.unique(pairs[kept])),
            "items": float(np.median(items)),
            **_median("dollars", paid, pairs[kept], logarithm=True),
            "dollars_quarter": float(low),
            "dollars_three_quarters": float(high),
        }


def _share(name: str, held: NDArray[np.bool_], systems: Pairs) -> dict[str, float]:
    low, high = share_interval(held, systems)
    return {name: float(held.mean()) if len(held) else np.nan, f"{name}_low": low, f"{name}_high": high}


def _mean(name: str, values: Floats, systems: Pairs, *, exponential: bool = False) -> dict[str, float]:
    """A mean and its interval; of logarithms the geometric mean. Nothing of no pairs."""
    if not len(values):
        return {}
    middle = float(values.mean())
    ends = interval(middle, *variance((values - middle) / len(values), systems))
    found = (middle, *ends) if exponential else (middle, *np.clip(ends, 0.0, 1.0).tolist())  # shares
    if exponential:
        found = tuple(np.exp(found).tolist())
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def _median(name: str, values: Floats, systems: Pairs, *, logarithm: bool = False) -> dict[str, float]:
    """A median over pairs (of logarithms: between the middle two their geometric mean). Nothing of no pairs."""
    if not len(values):
        return {}
    found = quantile_interval(np.log(values) if logarithm else values, systems)
    if logarithm:
        found = tuple(np.exp(found).tolist())
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))
