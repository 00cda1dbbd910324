"""Bootstrap and randomization tests on shared draws.

The totals of every system on every resample are one matrix product: the bootstrap's counts matrix (resamples ×
units) or the randomization's 0/1 swap matrix, times the statistics of all systems. Draws, product, metric and the
counting of pairs are done batch by batch on worker threads; only integers leave a batch. Since the draws belong to
the resample (see `streams`) and the products are exact integers, the counts are the same for any batch size, number
of threads and split into parts.

What is counted is how often a gain is beyond a border, and how often it ties with it. Where the metric is a ratio of
whole numbers, both are exact: rounding errors of the gains have a bound, and those that are nearer to the border are
compared by integers. Other metrics have ties within `TIE_TOLERANCE`.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pairsig import streams
from pairsig.definitions import Test, find
from pairsig.errors import InputError
from pairsig.lattice import (
    EXACT,
    fingerprint,
    in_steps,
    largest,
    lattice,
    some_systems,
    too_large,
    totals,
    whole_numbers,
)
from pairsig.memory import Memory, too_little
from pairsig.metrics import Metric
from pairsig.ratios import Fractions
from pairsig.tally import Tally

Progress = Callable[[int], object]
"""Called with a number of resamples as they are finished, from any thread."""

Place = Callable[[tuple[int, ...]], str]
"""Which system, and on which resample, the score at a position is of."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TIE_TOLERANCE = 1e-13
"""Gains closer than this, relative to the metric's scale, are equal, unless whole numbers tell (see `ratios`).

So for metrics of another form (BLEU, chrF) and for values on no lattice (1/3). Rounding errors of a difference of two
scores are a few 1e-16 of the scale.
"""

MAX_RESAMPLES = 10**12
"""The most a test takes: days for one pair, and far from where counts or the streams' numbers would end."""

MAX_SEED = 2**128 - 1
MAX_THREADS = 1024

_EXACT_FLOAT32 = 2.0**24
_BATCH_ELEMENTS = 2**21
"""Elements of a batch's draws matrix: 8 MiB in float32, so that a batch stays near the processor's cache."""
_CACHE_ELEMENTS = 2**16
"""Elements of the draws that are multiplied at once where there are few columns: 256 KiB in float32."""
_FEW_COLUMNS = 16
_SHUFFLED_ELEMENTS = 2**19
"""Totals after shuffles that are scored at once: 4 MiB of each system of the pairs."""
_FEWEST_ROWS = 16
_SCORING = 24
"""Bytes that scoring takes for each total, beside the total."""
_DRAWS = {"resample": streams.bootstrap_counts, "swap": streams.swaps}
_MOST_ELEMENTS = 2**28
"""The same at most, when the batch is chosen by hand: 1 GiB in float32."""


@dataclass(frozen=True)
class Resampling:
    """How much a Monte Carlo test draws, and how.

    Attributes
    ----------
    n_resamples
        b, at most `MAX_RESAMPLES`.
    seed
        One seed gives the same counts for any batch size, number of threads or machine.
    threads, batch
        Worker threads (default: all cores) and resamples a batch; they change nothing but time and memory.
    memory
        Bytes that drawing, multiplying and scoring may take; by default it is not looked at. See `Work`.
    """

    n_resamples: int = 1_000_000
    seed: int = 2012
    threads: int | None = None
    batch: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        check_whole("number of resamples", self.n_resamples, 1, MAX_RESAMPLES)
        check_whole("seed", self.seed, 0, MAX_SEED)
        if self.threads is not None:
            check_whole("number of threads", self.threads, 1, MAX_THREADS)
        if self.batch is not None:  # how many are too many depends on the number of units
            check_whole("batch size", self.batch, 1, MAX_RESAMPLES)

    def part(self, k: int, m: int) -> range:
        """Which of the resamples are the k-th of m parts."""
        return range((k - 1) * self.n_resamples // m, k * self.n_resamples // m)

    @property
    def signature(self) -> str:
        """What the counts depend on."""
        return f"resamples:{self.n_resamples}|seed:{self.seed}"


class Judge:
    """Says who is ahead, on the test set and on resamples of it.

    Parameters
    ----------
    counts
        Statistics (systems × units × columns of the metric's totals), see `Statistics.of`.
    metric
        What the systems are compared by.
    names
        Of the systems, for messages; by default their numbers.
    memory
        What there is; by default it is not looked at.

    Attributes
    ----------
    quality
        Scores of the systems, turned so that more is better.

    Raises
    ------
    InputError
        For counts whose sums cannot be exact and scores that are not finite.
    """

    def __init__(
        self,
        counts: NDArray[Any],
        metric: Metric,
        names: Sequence[str] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.counts = counts
        self.metric = metric
        self.names = names or [str(number) for number in range(1, len(counts) + 1)]
        self.quality = score(totals(counts), metric, lambda at: f"system {self.names[at[0]]} on the whole test set")
        self.fractions = Fractions.of(metric, counts, memory)
        if self.fractions is None and metric.form(counts) is not None and whole_numbers(counts):
            raise too_large(counts)
        self.band = self.fractions.rounding if self.fractions else TIE_TOLERANCE * _scale(metric, counts)

    @cached_property
    def product(self) -> Product:
        """Draws times statistics."""
        if self.fractions is None:
            return Product(list(np.moveaxis(self.counts, -1, 0)), lattice(self.counts))
        return Product([self.fractions.numerators, self.fractions.denominators], np.ones(2))

    @property
    def scores(self) -> Floats:
        """Scores of the systems, as the metric has them."""
        return self.quality if self.metric.higher_is_better else -self.quality

    def gains(self, pairs: NDArray[np.intp]) -> Floats:
        """By how much the first of each pair is better than the second; exactly 0 where they are equal."""
        gains = self.quality[pairs[:, 0]] - self.quality[pairs[:, 1]]
        if self.fractions is None:
            return np.where(np.abs(gains) <= self.band, 0.0, gains)
        factor = self.fractions.factor
        for row in np.flatnonzero(np.abs(gains) <= factor * self.band):
            top, bottom = self.fractions.gain(*pairs[row].tolist())
            if top * gains[row] <= 0:  # rounding has made a gain of none, or lost or turned one
                gains[row] = factor * (top / bottom)
        return gains

    def tally(
        self,
        pairs: NDArray[np.intp],
        test: Test,
        resampling: Resampling,
        *,
        resamples: range | None = None,
        progress: Progress | None = None,
    ) -> Tally:
        """Count the extreme resamples of pairs of systems over the same draws.

        Parameters
        ----------
        pairs
            Positions (pairs × 2) of the better and the other system.
        test
            One that draws.
        resamples
            A part of those of `resampling`; by default all.
        progress
            Called with numbers of resamples as they are finished.

        Raises
        ------
        InputError
            For a score that is not finite on one of the resamples, and for the bootstrap of a single unit.
        """
        if test.draw == "resample" and self.product.n_units < 2:
            raise InputError(
                "the test set is a single segment (or document, where these are drawn), so every resample is the test "
                "set itself: a bootstrap needs at least two"
            )
        resamples = range(resampling.n_resamples) if resamples is None else resamples
        borders = [_Border.of(self, pairs, *border) for border in test.borders]
        beyond, at_least = np.zeros((2, len(pairs)), dtype=np.int64)
        adding = Lock()

        def add(drawn: Floats, number: int) -> None:
            found = np.zeros((2, len(pairs)), dtype=np.int64)
            if test.draw == "resample":
                scored = self._scored(drawn, lambda at: f"system {self.names[at[0]]} on resample {number + at[1]}")
                for border in borders:
                    border.count(scored, pairs, slice(None), found)
            else:
                for scored, rows in self._shuffled(drawn, pairs, number):
                    sides = np.arange(2 * (rows.stop - rows.start)).reshape(2, -1).T
                    for border in borders:
                        border.count(scored, sides, rows, found)
            with adding:
                np.add(beyond, found[0], out=beyond)
                np.add(at_least, found[1], out=at_least)

        for_each_batch(add, test, self.product, resampling, resamples, progress)
        equal = at_least - beyond
        if len(borders) > 1:  # on both sides of 0 the border is the same where no system is better
            equal[self.gains(pairs) == 0] //= 2
        return Tally(len(resamples), beyond, equal)

    def for_each_batch(
        self, take: Callable[[Floats, int], None], resampling: Resampling, progress: Progress | None = None
    ) -> None:
        """Draw the bootstrap's resamples; `take` gets scores (systems × resamples) and the number of the first one.

        More is better in them, and their differences are gains: what all scores have in common may be left out.
        """
        factor = self.fractions.factor if self.fractions else 1.0

        def scored(drawn: Floats, number: int) -> None:
            place = lambda at: f"system {self.names[at[0]]} on resample {number + at[1]}"  # noqa: E731
            take(factor * self._scored(drawn, place).scores, number)

        resamples = range(resampling.n_resamples)
        for_each_batch(scored, find("bootstrap"), self.product, resampling, resamples, progress)

    def _shuffled(self, moved: Floats, pairs: NDArray[np.intp], number: int) -> Iterator[tuple[_Scored, slice]]:
        """Both systems of some pairs after the swaps, all first ones before all second ones; and which pairs."""
        # With M the totals over the swapped units and T those over all, A's shuffled totals are T_A + (M_B − M_A), and
        # B's are T_B − (M_B − M_A): one product a system serves all pairs.
        n_columns, _, n_rows = moved.shape
        total = self.product.observed.T[:, :, None]
        chunk = max(1, _SHUFFLED_ELEMENTS // (n_rows * n_columns))
        for start in range(0, len(pairs), chunk):
            a, b = pairs[start : start + chunk].T
            exchanged = moved[:, b] - moved[:, a]
            shuffled = np.empty((n_columns, 2 * len(a), n_rows))
            np.add(total[:, a], exchanged, out=shuffled[:, : len(a)])
            np.subtract(total[:, b], exchanged, out=shuffled[:, len(a) :])
            systems = np.concatenate([a, b])

            def place(at: tuple[int, ...], systems: NDArray[np.intp] = systems) -> str:
                return f"system {self.names[systems[at[0]]]} after shuffle {number + at[1]}"

            yield self._scored(shuffled, place), slice(start, start + len(a))

    def _scored(self, drawn: Floats, place: Place) -> _Scored:
        """Scores of totals (columns, systems, resamples)."""
        if self.fractions is None:
            scores = np.ascontiguousarray(score(np.moveaxis(drawn, 0, -1), self.metric, place))
            return _Scored(scores, *np.empty((2, 0, 0)))
        above, below = drawn
        if self.fractions.over_nothing_occurs:
            nothing = (below == 0) & (above != 0)
            above[nothing] = self.fractions.over_nothing.numerator
            below[nothing] = self.fractions.over_nothing.denominator
        np.maximum(below, 1.0, out=below)  # 0 / 0 is 0
        return _Scored(above / below, above, below)


class _Scored(NamedTuple):
    """Scores (systems × resamples) and, of ratios, the whole numbers they are quotients of."""

    scores: Floats
    above: Floats
    below: Floats


@dataclass(frozen=True)
class _Border:
    """Where the gains of pairs of systems become extreme: beyond a multiple of the observed ones.

    Attributes
    ----------
    sign
        1; or −1: the gain is that of the second system over the first.
    values
        One border a pair.
    band
        Gains at most so far from the border may be on either side of it, or on it.
    exact
        The borders as numerators and denominators; none where gains within the band are ties.
    whole
        The same (2 × pairs) modulo 2⁶⁴.
    kinds
        How gains within the band are compared: `_TIE`, `_SMALL`, `_WRAPPED` or `_LARGE`.
    """

    sign: int
    values: Floats
    band: float
    exact: list[tuple[int, int]]
    whole: Integers
    kinds: NDArray[np.int8]

    @classmethod
    def of(cls, judge: Judge, pairs: NDArray[np.intp], sign: int, multiple: int) -> _Border:
        n, found = len(pairs), judge.fractions
        if found is None:
            values = multiple * judge.gains(pairs)
            return cls(sign, values, judge.band, [], np.zeros((2, n), dtype=np.int64), np.full(n, _TIE, dtype=np.int8))
        exact = [found.gain(first, second, multiple) for first, second in pairs.tolist()]
        shared = np.equal(*judge.product.index[1, pairs.T])
        tops, bottoms = np.array(exact, dtype=np.float64).T
        products = np.maximum(2.0 * found.largest_numerator * bottoms, np.abs(tops) * found.largest_denominator)
        longest = float(found.largest_denominator)
        distances = 2 * judge.band * bottoms * longest * np.where(shared, 1.0, longest)
        small = shared & (products < EXACT) & (not found.over_nothing_occurs)
        kinds = np.select([small, distances < 2.0**62], [_SMALL, _WRAPPED], _LARGE)
        return cls(
            sign=sign,
            values=np.array([top / bottom for top, bottom in exact]),
            band=judge.band,
            exact=exact,
            whole=np.array([[_wrapped(part) for part in border] for border in exact]).T,
            kinds=kinds.astype(np.int8),
        )

    def count(self, scored: _Scored, pairs: NDArray[np.intp], rows: slice, out: Integers) -> None:
        """Add to `out` (2 × pairs) in how many resamples the `rows` are beyond their border, and at least on it.

        `pairs` has the positions of these rows' systems in `scored`.
        """
        scores, above, below = scored
        one, other = pairs.T[:: self.sign]
        values, kinds, (tops, bottoms) = self.values[rows], self.kinds[rows], self.whole[:, rows]
        beyond, at_least = out[:, rows]
        _count_pairs(scores, above, below, one, other, values, self.band, kinds, tops, bottoms, beyond, at_least)
        for place in np.flatnonzero(kinds == _LARGE):
            far = scores[one[place]] - scores[other[place]] - values[place]
            near = np.abs(far) <= 2 * self.band
            far[near] = _sides(scored, one[place], other[place], near, self.exact[rows][place])
            beyond[place] += (far > 0).sum()
            at_least[place] += (far >= 0).sum()


_TIE = 0
"""Gains within the band are ties."""
_SMALL = 1
"""The systems share their denominators, and products of whole numbers are exact in float64: there is no band."""
_WRAPPED = 2
"""Differences of products are below 2⁶³ within the band, so they are known from the products modulo 2⁶⁴."""
_LARGE = 3
"""Python's integers, which have no end."""


def _wrapped(number: int) -> int:
    """The number modulo 2⁶⁴, as an int64."""
    return (number + 2**63) % 2**64 - 2**63


def _sides(
    scored: _Scored, one: int, other: int, resamples: NDArray[np.bool_], border: tuple[int, int]
) -> NDArray[Any]:
    """On which side of the border the gain of one system over another is, on some resamples; 0: on it."""
    n1, d1, n2, d2 = (
        totals[system, resamples].astype(np.int64).astype(object)
        for system in (one, other)
        for totals in (scored.above, scored.below)
    )
    top, bottom = border
    return np.array(np.sign((n1 * d2 - n2 * d1) * bottom - top * d1 * d2), dtype=np.float64)


@njit(nogil=True, cache=True)
def _count_pairs(  # type: ignore[no-untyped-def]
    scores, above, below, one, other, borders, band, kinds, tops, bottoms, beyond, at_least
):
    n_resamples = scores.shape[1]
    for pair in range(len(one)):
        kind, first, second = kinds[pair], one[pair], other[pair]
        n_beyond = n_at_least = 0
        if kind == _SMALL:
            n1, n2, shared = above[first], above[second], below[first]
            top, bottom = float(tops[pair]), float(bottoms[pair])
            for resample in range(n_resamples):
                lead, far = (n1[resample] - n2[resample]) * bottom, top * shared[resample]
                n_beyond += lead > far
                n_at_least += lead >= far
        elif kind != _LARGE:
            score1, score2 = scores[first], scores[second]
            upper, lower = borders[pair] + band, borders[pair] - band
            for resample in range(n_resamples):
                gain = score1[resample] - score2[resample]
                n_beyond += gain > upper
                n_at_least += gain >= lower
            if kind == _WRAPPED and n_at_least > n_beyond:
                for resample in range(n_resamples):
                    if lower <= score1[resample] - score2[resample] <= upper:
                        a1, b1 = np.int64(above[first, resample]), np.int64(below[first, resample])
                        a2, b2 = np.int64(above[second, resample]), np.int64(below[second, resample])
                        if b1 == b2:
                            side = (a1 - a2) * bottoms[pair] - tops[pair] * b1
                        else:
                            side = (a1 * b2 - a2 * b1) * bottoms[pair] - tops[pair] * b1 * b2
                        n_beyond += side > 0
                        n_at_least -= side < 0
        beyond[pair] += n_beyond
        at_least[pair] += n_at_least


def for_each_batch(
    take: Callable[[Floats, int], None],
    test: Test,
    product: Product,
    resampling: Resampling,
    resamples: range,
    progress: Progress | None = None,
) -> None:
    """Draw the resamples batch by batch on worker threads; `take` gets the totals and the number of the first one."""
    plan = Work.of(product, test, resampling, len(resamples))
    n_rows, n_threads = plan.n_rows, plan.n_threads
    stopped = Event()

    def work(worker: int) -> None:
        try:
            drawn = product.buffers(min(n_rows, len(resamples)), plan.n_held)
            for start in range(worker * n_rows, len(resamples), n_threads * n_rows):
                if stopped.is_set():
                    return
                rows = min(n_rows, len(resamples) - start)
                take(drawn(test, resampling.seed, resamples.start + start, rows), resamples.start + start)
                if progress is not None:
                    progress(rows)
        except BaseException:
            stopped.set()
            raise

    # The workers are the parallelism; a BLAS that starts threads of its own would only get in their way.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as workers:
        try:
            for _ in workers.map(work, range(n_threads)):
                pass
        finally:  # also when it is interrupted: the workers look at this between two batches
            stopped.set()


class Product:
    """Draws times statistics, exactly.

    Values are multiplied in whole steps (see `lattice`), so the order of summation cannot matter. The product is made
    in float32 where no possible total reaches 2²⁴, else in float64. Columns that are the same for several systems
    (gold sizes, reference lengths) are multiplied once.

    Parameters
    ----------
    columns
        Arrays (systems × units), all of one type. They are not copied.
    steps
        How many steps make a unit, by column.

    Attributes
    ----------
    n_units
        How many units there are to draw from.
    index
        Which of the distinct columns of systems is meant, (columns × systems).
    observed
        Totals on the test set, (systems × columns).
    """

    def __init__(self, columns: Sequence[NDArray[Any]], steps: Floats) -> None:
        n_systems, self.n_units = columns[0].shape
        self._columns, self._steps = columns, steps
        self._first: list[tuple[int, int]] = []
        self.index = np.empty((len(columns), n_systems), dtype=np.intp)
        self.observed = np.empty((n_systems, len(columns)))
        unique: dict[bytes, int] = {}
        most = 0.0
        for column, own in enumerate(steps):
            for system in range(n_systems):
                row = self._row(column, system)
                found = unique.setdefault(fingerprint(row), len(unique))
                self.index[column, system] = found
                self.observed[system, column] = row.sum() / own
                if found == len(self._first):
                    self._first.append((column, system))
                    most = max(most, largest(row))
        self.dtype = np.dtype(np.float32 if most * self.n_units < _EXACT_FLOAT32 else np.float64)
        self.steps = None if (steps == 1).all() else steps

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct columns of the systems, and units."""
        return len(self._first), self.n_units

    @cached_property
    def matrix(self) -> NDArray[Any]:
        """The distinct columns of the systems (columns × units), ready to be multiplied."""
        matrix = np.empty(self.shape, dtype=self.dtype)
        self._fill(matrix, 0)
        return matrix

    def _fill(self, rows: NDArray[Any], first: int) -> None:
        for row, where in zip(rows, self._first[first : first + len(rows)], strict=True):
            row[:] = self._row(*where)

    def _row(self, column: int, system: int) -> NDArray[Any]:
        return in_steps(self._columns[column][system], self._steps[column])

    def n_bytes(self, test: Test, n_rows: int, n_held: int) -> tuple[int, int]:
        """What a batch takes, of all threads together and of each; see `Work`."""
        n_columns, size = len(self._first), self.dtype.itemsize
        each = n_rows * ((self.n_units + n_columns) * size + self.index.size * (size + 8 + _SCORING))
        if test.draw == "swap":
            each += 8 * 8 * max(_SHUFFLED_ELEMENTS, n_rows * len(self.index))
        held = n_held * self.n_units * size
        return (held, each) if n_held == n_columns else (0, held + each)

    def buffers(self, n_rows: int, n_held: int) -> Callable[[Test, int, int, int], Floats]:
        """What a worker calls for the totals of up to so many resamples: (test, seed, first, rows).

        The totals have the shape (columns, systems, resamples), contiguous along the resamples. Of the distinct columns
        `n_held` are ready to be multiplied: all of them, which the workers share, or a few, which each makes ready
        again for every batch.
        """
        n_columns = len(self._first)
        # With few columns the product would wait for the draws to come from memory: they are multiplied in the cache.
        in_cache = n_held == n_columns <= _FEW_COLUMNS
        at_once = min(n_rows, max(8, _CACHE_ELEMENTS // self.n_units)) if in_cache else n_rows
        counts = np.empty((at_once, self.n_units), dtype=self.dtype)
        transposed = np.ascontiguousarray(self.matrix.T) if in_cache else counts[:0]
        products = np.empty((n_rows, n_columns) if in_cache else (n_columns, n_rows), dtype=self.dtype)
        block = self.matrix if n_held == n_columns else np.empty((n_held, self.n_units), dtype=self.dtype)

        def drawn(test: Test, seed: int, first: int, rows: int) -> Floats:
            for start in range(0, rows, at_once):
                some = counts[: min(at_once, rows - start)]
                _DRAWS[test.draw](seed, first + start, len(some), self.n_units, out=some)
                if in_cache:
                    np.matmul(some, transposed, out=products[start : start + len(some)])
            if in_cache:
                found = products[:rows].T.astype(np.float64, order="C")[self.index]
            else:
                for start in range(0, n_columns, n_held):
                    own = block[: n_columns - start]
                    if n_held < n_columns:
                        self._fill(own, start)
                    np.matmul(own, some.T, out=products[start : start + len(own), :rows])
                found = products[:, :rows][self.index].astype(np.float64)
            if self.steps is not None:
                found /= self.steps[:, None, None]
            return found

        return drawn


@dataclass(frozen=True)
class Work:
    """How draws and products are cut so that they fit into memory; what a test counts does not depend on it.

    With s the bytes of a number (4 where no total reaches 2²⁴, else 8), n units, u distinct columns of the systems, c
    columns of each of N systems, and t threads that take r resamples at a time, bytes are

        u·n·s + t·r·((n + u)·s + c·N·(s + 8 + 24)),    the 24 for what a metric computes with,

    and 32 MiB more a thread for swaps. In too little memory r becomes smaller, down to 16, then the columns are made
    ready h at a time by each thread and again for every batch (t·h·n·s instead of u·n·s), then there are fewer threads.

    Attributes
    ----------
    n_threads, n_rows, n_held, n_columns
        t, r, h and u, which h is where all columns are kept.
    n_bytes
        What that takes.
    """

    n_threads: int
    n_rows: int
    n_held: int
    n_columns: int
    n_bytes: int

    def __str__(self) -> str:
        """For people."""
        held = f"{self.n_held:,} columns of systems at a time, " if self.n_held < self.n_columns else ""
        return f"{held}{self.n_rows:,} resamples at a time on each of the {self.n_threads} threads"

    @classmethod
    def of(cls, product: Product, test: Test, resampling: Resampling, n_resamples: int) -> Work:
        """The fastest that the memory allows.

        Raises
        ------
        InputError
            Where it does not allow the least: one thread, 16 resamples and one column at a time.
        """
        n_columns, n_units = product.shape
        if resampling.batch is not None:
            check_whole("batch size", resampling.batch, 1, max(1, _MOST_ELEMENTS // n_units))
        n_rows = resampling.batch or max(_FEWEST_ROWS, min(1024, _BATCH_ELEMENTS // n_units))
        n_threads = min(resampling.threads or os.cpu_count() or 1, max(1, -(-n_resamples // n_rows)))
        memory = resampling.memory

        def planned(n_threads: int, n_rows: int, n_held: int) -> Work:
            shared, each = product.n_bytes(test, n_rows, n_held)
            return cls(n_threads, n_rows, n_held, n_columns, shared + n_threads * each)

        found = planned(n_threads, n_rows, n_columns)
        if memory is None or found.n_bytes <= memory:
            return found
        least = min(n_rows, _FEWEST_ROWS)
        while n_threads:
            block = max(1, memory // 4 // (n_threads * n_units * product.dtype.itemsize))
            for n_held in (n_columns, min(block, n_columns)):
                rows = n_rows
                while rows > least and planned(n_threads, rows, n_held).n_bytes > memory:
                    rows = max(least, rows // 2)
                found = planned(n_threads, rows, n_held)
                if found.n_bytes <= memory:
                    return found
            n_threads //= 2
        raise too_little(planned(1, least, 1).n_bytes, memory, "the draws of this test")


def score(totals: Floats, metric: Metric, place: Place = lambda _: "a system") -> Floats:
    """Scores of totals (…, columns), turned so that more is better.

    Raises
    ------
    InputError
        For a score that is not finite; `place` says of which system and resample it is, from its position.
    """
    scores = metric.score(totals)
    if not (np.isfinite(scores.min()) and np.isfinite(scores.max())):  # either is NaN where any score is
        position = tuple(int(index) for index in np.argwhere(~np.isfinite(scores))[0])
        raise InputError(
            f"{metric.name} of {place(position)} is {scores[position]}, expected a finite number: the metric must "
            "define its score where a denominator is 0, as a pairsig.Ratio does"
        )
    return scores if metric.higher_is_better else -scores


def check_whole(what: str, number: object, least: int, most: int) -> None:
    """Refuse what is no whole number from `least` to `most`."""
    try:
        value = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"the {what} is {number!r}, expected a whole number") from None
    if not least <= value <= most:
        told = value if abs(value) < 10**40 else "beyond 10⁴⁰"
        expected = f"at most {most:,}" if value > most else f"at least {least}" if least else "0 or more"
        raise InputError(f"the {what} is {told}, expected {expected}")


def _scale(metric: Metric, counts: NDArray[Any]) -> float:
    """A bound on the size of scores that are no ratios of whole numbers."""
    if metric.scale is not None:
        return metric.scale
    most = 0.0
    for rows in some_systems(counts):
        values = counts[rows].astype(np.float64)
        if metric.averaged:  # of sums over documents: what a segment has
            values = values[:, :, :-1] / values[:, :, -1:]
        most = max(most, largest(values))
    return most
