"""Exact p-values of all pairs of many systems at once.

This module computes for thousands of pairs what `exact_test` and `exact_bootstrap_test` compute for two systems. If two
systems have the same denominators (accuracy, UAS, LAS, recall, means, pass/fail items), the p-value of their pair is
the upper tail of a sum of independent steps. Otherwise (F1, AER) it is that of a sum in the plane. `saddle_point`
evaluates either. Pairs for which it is not suited (few units, sums with millions of values, a border that bends much)
are computed as in the two-system test.

Pass/fail items differ by −1, 0 or 1, so a pair is described by two counts, and one matrix product gives the counts of
all pairs. The permutation test is then the sign test, an incomplete beta function; the bootstrap has three steps.

The relative accuracy is that of the two-system tests, about 1e-12; there is no bound for each pair. Scores that are not
whole steps have p-values between two bounds, as in the two-system test: their relative error is at most `MOST_ERROR`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.compiled import compiled
from pairsig.core.definitions import Test
from pairsig.core.engine import Scorer
from pairsig.core.threads import on_threads
from pairsig.io.packages import installed
from pairsig.metrics.ratios import Fractions
from pairsig.stats import exact, pass_fail
from pairsig.stats.exact.distributions import is_enumerable
from pairsig.stats.exact.saddle_point import (
    distinct,
    draw_beyond,
    gcd,
    plane_aim,
    plane_rows,
    plane_tail,
    ratio_tail,
    swap_tail,
)
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import together

Floats = NDArray[np.float64]
Integers = NDArray[np.signedinteger[Any]]

_MOST_ROWS = 2**14
"""Rows of a sum in the plane, each of which takes a division of whole numbers."""
_AT_ONCE = 256
"""Pairs that a thread takes at a time."""
MOST_ERROR = 0.002
"""Bounds of a p-value that are further apart, relative to it, are not an answer."""


def pvalues(
    scorer: Scorer,
    pairs: NDArray[np.intp],
    test: Test,
    unit: Unit,
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Floats:
    """Exact p-values (pairs,) from the positions (pairs × 2) of the better and the other system; 1 for equal systems.

    They are NaN for pairs whose totals take too many values, for which `exact_test` raises an error. The test is
    two-sided or in the observed direction. `progress` is called with a number of pairs as they are finished, from any
    thread.
    """
    p = np.ones(len(pairs))
    different = scorer.gains(pairs) != 0
    chosen, workers = pairs[different], threads or os.cpu_count() or 1
    if progress is not None:
        progress(int((~different).sum()))
    try:
        fractions = exact.fractions(scorer, test, unit)
    except exact.NoStepError:
        if not exact.is_bounded(scorer, test):
            raise
        p[different] = _bounded(scorer, chosen, test, workers, progress)
        return p
    if test.draw == "resample":
        p_different, lengths = np.zeros(len(chosen)), fractions.denominators[0].astype(np.int64)
        for sign, _ in test.borders():
            p_different += bootstrap(
                fractions.numerators, lengths, chosen, below=sign < 0, ties=not test.strict, threads=workers,
                done=progress if sign == test.borders()[0][0] else None,
            )  # fmt: skip
        p_different *= test.sides
    else:
        p_different = _permuted(fractions, scorer.product.index[1], chosen, workers, progress) * len(test.borders())
    for row in np.flatnonzero(np.isnan(p_different)):
        p_different[row] = _two_systems(fractions, scorer, chosen[row], test)
    p[different] = np.minimum(p_different, 1.0)
    return p


def n_bytes(scorer: Scorer, threads: int) -> int:
    """Bytes that `pvalues` takes in addition to the scorer: 20 per pair and 80 MiB, or 64 MiB per thread."""
    if scorer.fractions is not None and _pass_fail(scorer.fractions.numerators):
        return 20 * len(scorer.counts) ** 2 + 5 * pass_fail.PRODUCT_ELEMENTS
    return 64 * 2**20 * threads


def _two_systems(fractions: Fractions, scorer: Scorer, pair: NDArray[np.intp], test: Test) -> float:
    """The p-value of one pair from its distribution, as in the two-system test; NaN if that is out of reach."""
    try:
        if test.draw == "resample":
            return math.exp(exact.resampled(exact.Ratios.of(fractions, *pair.tolist()), scorer, test).log)
        result = exact.permuted(Pair(scorer.metric, scorer.counts[pair], None), test)
    except exact.TooManyValuesError:
        return math.nan
    return result.pvalue if result.error_bound < MOST_ERROR else math.nan


def _bounded(
    scorer: Scorer, pairs: NDArray[np.intp], test: Test, threads: int, done: Callable[[int], object] | None
) -> Floats:
    """P-values of pairs whose scores are not whole steps; NaN where the bounds are too far apart."""

    def of(pair: NDArray[np.intp]) -> float:
        result = exact.permuted(Pair(scorer.metric, scorer.counts[pair], None), test)
        if done is not None:
            done(1)
        return result.pvalue if result.error_bound < MOST_ERROR else math.nan

    return np.array(on_threads(of, pairs, threads))


def _permuted(
    fractions: Fractions,
    kinds: NDArray[np.intp],
    pairs: NDArray[np.intp],
    threads: int,
    done: Callable[[int], object] | None,
) -> Floats:
    """One-sided p-values under swaps; NaN where the saddle point does not suit. Equal `kinds`: equal denominators."""
    same = kinds[pairs[:, 0]] == kinds[pairs[:, 1]]
    p = np.full(len(pairs), np.nan)
    p[same] = permutation(fractions.numerators, pairs[same], threads=threads, done=done)

    def plane(row: int) -> None:
        distribution, event, line = exact.Ratios.of(fractions, *pairs[row].tolist()).swapped()
        tilt = plane_aim(distribution.steps, distribution.times, *line)
        where = distribution.steps, distribution.times, *tilt
        bottom, top = plane_rows(*where)
        highest = int(distribution.support[1][0])
        suits = installed("numba") and top - bottom < _MOST_ROWS and not is_enumerable(distribution)
        if suits:
            # k(v), where the event begins in row v; above every U where it has no place.
            starts = np.full(top - bottom + 1, highest + 1)
            for v in range(bottom, top + 1):
                start, _ = event.starts(v) or (highest + 1, None)
                starts[v - bottom] = min(start, highest + 1)
            p[row] = plane_tail(*where, bottom, starts)
        if done is not None:
            done(1)

    on_threads(plane, np.flatnonzero(~same), threads)
    return p


def permutation(
    numerators: Integers, pairs: NDArray[np.intp], *, threads: int = 1, done: Callable[[int], object] | None = None
) -> Floats:
    """P(D' >= D) over all 2ⁿ swaps, for every pair: the one-sided p-values of `exact_test`.

    `numerators` are whole numbers (systems × units), more is better; the denominators are the same for all systems. D
    is the sum of the differences of a pair, and 0 for equal systems. Each pair takes n steps to find the distinct
    differences, and some thirty cosines for each of these. Pass/fail items take one matrix product for all pairs and an
    incomplete beta function per pair.
    """
    if _pass_fail(numerators):
        from scipy.special import betainc

        won, lost = _discordant(numerators, pairs)
        p = np.ones(len(pairs))
        # P(Bin(won + lost, 1/2) >= won) = I_{1/2}(won, lost + 1).
        some = won > 0
        p[some] = betainc(won[some], lost[some] + 1.0, 0.5)
        if done is not None:
            done(len(pairs))
        return p
    return _each(_permutations, (numerators, pairs), len(pairs), threads, done)


def bootstrap(
    numerators: Integers,
    denominators: Integers,
    pairs: NDArray[np.intp],
    *,
    below: bool = False,
    ties: bool = False,
    threads: int = 1,
    done: Callable[[int], object] | None = None,
) -> Floats:
    """P(δ* > 2δ), or P(δ* < 0) if `below`, over all nⁿ resamples, for every pair: one side of `exact_bootstrap_test`.

    With `ties`, it is >= and <=. `denominators` are (units,), the same for all systems, and equal systems have no
    meaningful result. The cost is that of `permutation`, except that P(δ* > 2δ) takes a millisecond per pair where
    denominators differ from unit to unit.
    """
    if not below and (denominators != denominators[0]).any():
        p = _each(_ratio_bootstraps, (numerators, denominators, int(ties), pairs), len(pairs), threads, done)
        # Resamples without any denominator score 0, which is not twice the gain.
        return p - float((denominators == 0).mean()) ** len(denominators) if ties else p
    if _pass_fail(numerators):
        won, lost = _discordant(numerators, pairs)
        counts = np.stack([won, lost, numerators.shape[1] - won - lost], axis=1)
        return _each(_trinomial_bootstraps, (counts, below, int(ties)), len(pairs), threads, done)
    return _each(_bootstraps, (numerators, below, int(ties), pairs), len(pairs), threads, done)


def _each(
    kernel: Callable[..., None],
    data: tuple[Any, ...],
    n_pairs: int,
    threads: int,
    done: Callable[[int], object] | None,
) -> Floats:
    p = np.full(n_pairs, np.nan)
    if not installed("numba"):  # as in the two-system test
        return p

    def work(first: int) -> None:
        last = min(first + _AT_ONCE, n_pairs)
        kernel(*data, first, last, p)
        if done is not None:
            done(last - first)

    on_threads(work, range(0, n_pairs, _AT_ONCE), threads)
    return p


def _pass_fail(numerators: Integers) -> bool:
    low, high = int(numerators.min()), int(numerators.max())
    return low >= 0 and high <= 1


def _discordant(numerators: Integers, pairs: NDArray[np.intp]) -> tuple[Integers, Integers]:
    """Numbers of items that only the better system of each pair solves, and that only the other one solves."""
    passed_by_both, (a, b) = together(numerators), pairs.T
    each = np.diagonal(passed_by_both)
    return each[a] - passed_by_both[a, b], each[b] - passed_by_both[a, b]


@compiled
def _permutations(numerators, pairs, first, last, out):  # type: ignore[no-untyped-def]
    n = numerators.shape[1]
    sizes = np.empty(n, dtype=np.int64)
    for pair in range(first, last):
        a, b = pairs[pair]
        gain, filled, common = 0, 0, 0
        for unit in range(n):
            difference = numerators[a, unit] - numerators[b, unit]
            gain += difference
            if difference:
                sizes[filled] = abs(difference)
                common = gcd(sizes[filled], common)
                filled += 1
        if filled == 0:
            out[pair] = 1.0
            continue
        steps, times = distinct(sizes[:filled] // common)
        # D' = 2U − Σ|d| with U the sum of the steps that rise; D has the parity of Σ|d|.
        out[pair] = swap_tail(steps, times, (gain // common + (steps * times).sum()) // 2)


@compiled
def _bootstraps(numerators, below, ties, pairs, first, last, out):  # type: ignore[no-untyped-def]
    for pair in range(first, last):
        a, b = pairs[pair]
        differences = numerators[a].astype(np.int64) - numerators[b].astype(np.int64)
        steps, times = distinct(-differences if below else differences)
        # −D* > 0 or D* > 2D; with ties >=, for whole numbers.
        out[pair] = draw_beyond(steps, times, (0 if below else 2 * differences.sum()) - ties)


@compiled
def _trinomial_bootstraps(counts, below, ties, first, last, out):  # type: ignore[no-untyped-def]
    for pair in range(first, last):
        won, lost, same = counts[pair]
        size = 0
        steps, times = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
        for step, number in ((1, won), (-1, lost), (0, same)):
            if number:
                steps[size], times[size] = (-step if below else step), number
                size += 1
        out[pair] = draw_beyond(steps[:size], times[:size], (0 if below else 2 * (won - lost)) - ties)


@compiled
def _ratio_bootstraps(numerators, denominators, ties, pairs, first, last, out):  # type: ignore[no-untyped-def]
    n = numerators.shape[1]
    shortest = denominators.min()
    total = denominators.sum()
    # A pair needs its distinct (difference, denominator), so units are coded by both.
    keys = np.empty(n, dtype=np.int64)
    for pair in range(first, last):
        a, b = pairs[pair]
        gain, low, high = 0, 0, 0
        for unit in range(n):
            difference = numerators[a, unit] - numerators[b, unit]
            gain += difference
            low, high = min(low, difference), max(high, difference)
        for unit in range(n):
            difference = numerators[a, unit] - numerators[b, unit]
            keys[unit] = (denominators[unit] - shortest) * (high - low + 1) + difference - low
        kinds, times = distinct(keys)
        lengths, differences = kinds // (high - low + 1) + shortest, kinds % (high - low + 1) + low
        common = gcd(total, 2 * gain)
        out[pair] = ratio_tail(differences, lengths, times, total // common, 2 * gain // common, 1 - ties)
