"""Bootstrap and randomization tests on shared draws.

The totals of every system on every resample are one matrix product: the bootstrap's counts matrix (resamples ×
units) or the randomization's 0/1 swap matrix, times the statistics of all systems. Draws, product, metric and the
counting of pairs are done batch by batch on worker threads; only integers leave a batch. Since the draws belong to
the resample (see `streams`) and the products are exact integers, the counts are the same for any batch size, number
of threads and split into parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairsig import streams
from pairsig.choices import at_least
from pairsig.errors import InputError
from pairsig.metrics import Metric

Progress = Callable[[int], object]
"""Called with a number of resamples as they are finished, from any thread."""

TESTS = {"bootstrap": ("gt2", "percentile"), "randomization": ("two-sided", "one-sided")}
"""The tests and their variants, the default first."""

FORMULAS = {
    "gt2": "p = #{δ(x*) > 2δ(x)} / b, one-sided, strict, no +1 (Berg-Kirkpatrick et al. 2012, Figure 1)",
    "percentile": "p = #{δ(x*) < 0} / b, one-sided, strict, no +1 (Koehn 2004)",
    "two-sided": "p = (#{|δ'| >= |δ|} + 1) / (b + 1), ties count (Noreen 1989; Yeh 2000; sigf; art)",
    "one-sided": "p = (#{δ' >= δ} + 1) / (b + 1) in the observed direction, ties count (Bikel's comparator)",
}

TIE_TOLERANCE = 1e-13
"""Gains closer than this, relative to the metric's scale, are equal.

Rounding errors of a difference of two scores are a few 1e-16 of the scale. Attainable differences are larger: two
ratios of counts with denominators up to D differ by at least 1/D², 1e-12 for a test set of a million words.
"""

_EXACT_FLOAT32 = 2.0**24
_EXACT_FLOAT64 = 2.0**53
_BATCH_ELEMENTS = 2**21
"""Elements of a batch's draws matrix: 8 MiB in float32, so that a batch stays near the processor's cache."""


@dataclass(frozen=True)
class Tally:
    """How often each pair's resampled gain was extreme, over a number of resamples: what parts add up."""

    n_resamples: int
    n_greater: NDArray[np.int64]
    n_equal: NDArray[np.int64]


def tally(
    counts: NDArray[Any],
    metric: Metric,
    pairs: NDArray[np.intp],
    *,
    test: str,
    variant: str,
    resamples: range,
    seed: int,
    threads: int | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Count the extreme resamples of many pairs of systems over the same draws.

    Parameters
    ----------
    counts
        Statistics (systems × units × columns of the metric's totals), see `Statistics.of`.
    pairs
        Positions (pairs × 2) of the better and the other system.
    resamples
        Which resamples of the seed to draw: `range(n)`, or a part of it.
    test, variant, seed, threads, batch, progress
        See `pairsig.bootstrap_test`.
    """
    if variant not in TESTS.get(test, ()):
        known = "; ".join(f"{name}: {', '.join(variants)}" for name, variants in TESTS.items())
        raise InputError(f"there is no {variant} variant of a {test} test, expected one of {known}")
    product = Product(counts)
    quality = score(product.observed, metric)
    gains = quality[pairs[:, 0]] - quality[pairs[:, 1]]
    tolerance = tie_tolerance(metric, counts)
    count = _count_bootstrap if test == "bootstrap" else _count_randomization
    beyond = np.zeros(len(pairs), dtype=np.int64)
    at_least = np.zeros(len(pairs), dtype=np.int64)
    adding = Lock()

    def add(draws: NDArray[Any], _: int) -> None:
        greater, or_equal = count(product, draws, metric, pairs, gains, tolerance, variant)
        with adding:
            np.add(beyond, greater, out=beyond)
            np.add(at_least, or_equal, out=at_least)

    for_each_batch(add, test, product, resamples, seed, threads, batch, progress)
    return Tally(len(resamples), beyond, at_least - beyond)


def for_each_batch(
    take: Callable[[NDArray[Any], int], None],
    test: str,
    product: Product,
    resamples: range,
    seed: int,
    threads: int | None,
    batch: int | None,
    progress: Progress | None = None,
) -> None:
    """Draw the resamples batch by batch on worker threads; `take` gets the draws and their first one's position."""
    at_least(1, threads, "the number of threads")
    at_least(1, batch, "the batch size")
    n_units = product.matrix.shape[1]
    n_threads = min(threads or os.cpu_count() or 1, max(1, len(resamples)))
    n_rows = batch or max(16, min(1024, _BATCH_ELEMENTS // n_units))
    draw = streams.bootstrap_counts if test == "bootstrap" else streams.swaps

    def work(worker: int) -> None:
        buffer = np.empty((n_rows, n_units), dtype=product.dtype)
        for start in range(worker * n_rows, len(resamples), n_threads * n_rows):
            rows = min(n_rows, len(resamples) - start)
            take(draw(seed, resamples.start + start, rows, n_units, out=buffer[:rows]), start)
            if progress is not None:
                progress(rows)

    # The workers are the parallelism; a BLAS that starts threads of its own would only get in their way.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as workers:
        for _ in workers.map(work, range(n_threads)):
            pass


def tie_tolerance(metric: Metric, counts: NDArray[Any]) -> float:
    """Gains closer than this are equal; see `TIE_TOLERANCE`."""
    scale = metric.scale if metric.scale is not None else float(np.abs(counts).max(initial=0.0))
    return TIE_TOLERANCE * scale


def quality(counts: NDArray[Any], metric: Metric) -> NDArray[np.float64]:
    """Score of each system on all units, turned so that more is better."""
    return score(Product(counts).observed, metric)


class Product:
    """Draws times statistics, exactly.

    Values that are not whole are put on a lattice of step 2⁻ᵏ, as fine as exact sums in float64 allow (about 15
    significant digits of the largest possible total): so every total is a whole number of steps and the order of
    summation cannot matter. The product is made in float32 where no possible total reaches 2²⁴, else in float64.
    Columns that are the same for several systems (gold sizes, reference lengths) are multiplied once.
    """

    def __init__(self, counts: NDArray[Any]) -> None:
        n_systems, n_units, n_columns = counts.shape
        columns = counts.astype(np.float64).transpose(2, 0, 1)  # columns × systems × units
        bounds = np.abs(columns).max(axis=(1, 2), initial=0.0) * n_units
        whole = (columns == np.rint(columns)).all(axis=(1, 2))
        exponents = np.zeros(n_columns)
        for column in np.flatnonzero(~whole):
            exponents[column] = np.floor(np.log2(_EXACT_FLOAT64 / 2 / bounds[column]))
        self.step = np.exp2(-exponents)[:, None, None]
        integers = np.rint(columns / self.step)
        bounds = np.abs(integers).max(axis=(1, 2), initial=0.0) * n_units
        if (bounds >= _EXACT_FLOAT64).any():
            raise InputError(
                f"counts are as large as {np.abs(columns).max():g} on {n_units} units: their sums cannot be exact"
            )
        self.dtype = np.dtype(np.float32 if bounds.max() < _EXACT_FLOAT32 else np.float64)
        unique: dict[bytes, int] = {}
        rows = integers.reshape(n_columns * n_systems, n_units)
        index = np.array([unique.setdefault(row.tobytes(), len(unique)) for row in rows])
        first = np.unique(index, return_index=True)[1]
        self.matrix = np.ascontiguousarray(rows[first], dtype=self.dtype)
        self.index = index.reshape(n_columns, n_systems)
        self.all_whole = bool(whole.all())
        self.observed = (integers.sum(axis=2, keepdims=True) * self.step).transpose(1, 2, 0)[:, 0]

    def __call__(self, draws: NDArray[Any]) -> NDArray[np.float64]:
        """Totals, shape (columns, systems, resamples), contiguous along the resamples."""
        totals: NDArray[np.float64] = (self.matrix @ draws.T)[self.index].astype(np.float64)
        if not self.all_whole:
            totals *= self.step
        return totals


def score(totals: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """Scores of totals (…, columns), turned so that more is better."""
    scores = metric.score(totals)
    return scores if metric.higher_is_better else -scores


def _count_bootstrap(
    product: Product,
    draws: NDArray[Any],
    metric: Metric,
    pairs: NDArray[np.intp],
    gains: NDArray[np.float64],
    tolerance: float,
    variant: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    beyond, at_least = np.zeros((2, len(pairs)), dtype=np.int64)
    scores = np.ascontiguousarray(score(np.moveaxis(product(draws), 0, -1), metric))
    if variant == "gt2":
        _count_pairs(scores, pairs[:, 0], pairs[:, 1], 2 * gains, tolerance, beyond, at_least)
    else:  # δ(x*) < 0 is "the other system wins by more than 0"
        _count_pairs(scores, pairs[:, 1], pairs[:, 0], np.zeros_like(gains), tolerance, beyond, at_least)
    return beyond, at_least


def _count_randomization(
    product: Product,
    draws: NDArray[Any],
    metric: Metric,
    pairs: NDArray[np.intp],
    gains: NDArray[np.float64],
    tolerance: float,
    variant: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    beyond, at_least = np.zeros((2, len(pairs)), dtype=np.int64)
    # With M the totals over the swapped units and T those over all, A's shuffled totals are T_A − M_A + M_B, and a
    # swap leaves T_A + T_B as it was: one product a system serves all pairs.
    moved = product(draws)
    total = product.observed.T[:, :, None]
    rows = draws.shape[0]
    chunk = max(1, 2**19 // (rows * moved.shape[0]))
    for start in range(0, len(pairs), chunk):
        a, b = pairs[start : start + chunk].T
        shuffled_a = moved[:, b] - moved[:, a] + total[:, a]
        shuffled_b = (total[:, a] + total[:, b]) - shuffled_a
        gain = score(np.moveaxis(shuffled_a, 0, -1), metric) - score(np.moveaxis(shuffled_b, 0, -1), metric)
        if variant == "two-sided":
            np.abs(gain, out=gain)
        observed = gains[start : start + chunk, None]
        beyond[start : start + chunk] = (gain > observed + tolerance).sum(axis=1)
        at_least[start : start + chunk] = (gain >= observed - tolerance).sum(axis=1)
    return beyond, at_least


@njit(nogil=True, cache=True)
def _count_pairs(scores, winners, losers, thresholds, tolerance, beyond, at_least):  # type: ignore[no-untyped-def]
    for pair in range(len(winners)):
        winner, loser = scores[winners[pair]], scores[losers[pair]]
        upper, lower = thresholds[pair] + tolerance, thresholds[pair] - tolerance
        n_beyond = n_at_least = 0
        for resample in range(scores.shape[1]):
            gain = winner[resample] - loser[resample]
            n_beyond += gain > upper
            n_at_least += gain >= lower
        beyond[pair] += n_beyond
        at_least[pair] += n_at_least
