"""Exact p-values of all pairs of many systems at once.

What `exact_test` and `exact_bootstrap` compute for two systems, for thousands of pairs, where the denominators are the
same for all systems (accuracy, UAS, LAS, recall, means, pass/fail items). The p-value of a pair is then the upper tail
of one sum of independent steps; `contour` evaluates it.

Pass/fail items differ by −1, 0 or 1, so a pair is two counts, of which all come from one matrix product. The
permutation test is then the sign test, an incomplete beta function; the bootstrap has a law with three steps.

The accuracy is that of the two-system tests, about 1e-12 relative; there is no bound a pair.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pairsig.exact.contour import distinct, draw_beyond, gcd, ratio_tail, swap_tail

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 256
"""Pairs that a thread takes at a time."""


def permutation(
    numerators: Integers, pairs: NDArray[np.intp], *, threads: int = 1, done: Callable[[int], object] | None = None
) -> Floats:
    """P(D' >= D) over all 2ⁿ swaps, for every pair: the one-sided p-values of `exact_test`.

    Parameters
    ----------
    numerators
        Whole numbers (systems × units); more is better. The denominators are the same for all systems.
    pairs
        Positions (pairs × 2) of the better and the other system; D is the sum of their differences.
    threads
        Workers.
    done
        Called with a number of pairs as they are finished, from any thread.

    Returns
    -------
    (pairs,); 1 where D = 0 is 1 by the definition of tests, not here: there it is P(D' >= 0). Cost: n steps a pair for
    the distinct differences, and some thirty times as many cosines as there are of them; for pass/fail items one
    matrix product for all pairs and an incomplete beta function a pair.
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
    variant: str = "gt2",
    threads: int = 1,
    done: Callable[[int], object] | None = None,
) -> Floats:
    """Strict one-sided tails over all nⁿ resamples, for every pair: the p-values of `exact_bootstrap`.

    Parameters
    ----------
    numerators, pairs, threads, done
        As for `permutation`.
    denominators
        (units,), the same for all systems.
    variant
        "gt2": P(δ* > 2δ); "percentile": P(δ* < 0).

    Returns
    -------
    (pairs,); what a pair without a gain gets has no meaning. Cost: as for `permutation`, but for "gt2" with
    denominators that differ from unit to unit a millisecond a pair.
    """
    if variant == "gt2" and (denominators != denominators[0]).any():
        return _each(_ratio_bootstraps, (numerators, denominators, pairs), len(pairs), threads, done)
    twice = 2 if variant == "gt2" else 0
    if _pass_fail(numerators):
        won, lost = _discordant(numerators, pairs)
        counts = np.stack([won, lost, numerators.shape[1] - won - lost], axis=1)
        return _each(_trinomial_bootstraps, (counts, twice), len(pairs), threads, done)
    return _each(_bootstraps, (numerators, twice, pairs), len(pairs), threads, done)


def _each(
    kernel: Callable[..., None],
    data: tuple[Any, ...],
    n_pairs: int,
    threads: int,
    done: Callable[[int], object] | None,
) -> Floats:
    p = np.empty(n_pairs)

    def work(first: int) -> None:
        last = min(first + _AT_ONCE, n_pairs)
        kernel(*data, first, last, p)
        if done is not None:
            done(last - first)

    with ThreadPoolExecutor(threads) as workers:
        for _ in workers.map(work, range(0, n_pairs, _AT_ONCE)):
            pass
    return p


def _pass_fail(numerators: Integers) -> bool:
    low, high = int(numerators.min()), int(numerators.max())
    return low >= 0 and high <= 1


def _discordant(numerators: Integers, pairs: NDArray[np.intp]) -> tuple[Integers, Integers]:
    """How many items the better system of each pair has alone, and how many the other: products of 0 and 1.

    float32 counts exactly up to 2²⁴ items; blocks of systems keep the matrix of all pairs small.
    """
    passed = numerators.astype(np.float32 if numerators.shape[1] < 2**24 else np.float64)
    each = numerators.sum(axis=1)
    both = np.empty(len(pairs), dtype=np.int64)
    n_rows = max(1, 2**24 // len(passed))
    order = np.argsort(pairs[:, 0], kind="stable")
    firsts = pairs[order, 0]
    for start in range(0, len(passed), n_rows):
        inside = order[np.searchsorted(firsts, start) : np.searchsorted(firsts, start + n_rows)]
        together = np.dot(passed[start : start + n_rows], passed.T)
        both[inside] = np.rint(together[pairs[inside, 0] - start, pairs[inside, 1]])
    return each[pairs[:, 0]] - both, each[pairs[:, 1]] - both


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _bootstraps(numerators, twice, pairs, first, last, out):  # type: ignore[no-untyped-def]
    for pair in range(first, last):
        a, b = pairs[pair]
        differences = (numerators[a] - numerators[b]).astype(np.int64)
        gain = differences.sum()
        if twice:  # D* > 2D
            steps, times = distinct(differences)
            out[pair] = draw_beyond(steps, times, 2 * gain)
        else:  # −D* > 0
            steps, times = distinct(-differences)
            out[pair] = draw_beyond(steps, times, 0)


@njit(nogil=True, cache=True)
def _trinomial_bootstraps(counts, twice, first, last, out):  # type: ignore[no-untyped-def]
    for pair in range(first, last):
        won, lost, same = counts[pair]
        size = 0
        steps, times = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
        for step, number in ((1, won), (-1, lost), (0, same)):
            if number:
                steps[size], times[size] = (step if twice else -step), number
                size += 1
        out[pair] = draw_beyond(steps[:size], times[:size], twice * (won - lost))


@njit(nogil=True, cache=True)
def _ratio_bootstraps(numerators, denominators, pairs, first, last, out):  # type: ignore[no-untyped-def]
    n = numerators.shape[1]
    shortest, longest = denominators.min(), denominators.max()
    total = denominators.sum()
    # The units in order of their denominators: what a pair needs are its distinct (difference, denominator).
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
        out[pair] = ratio_tail(differences, lengths, times, total // common, 2 * gain // common, longest)
