"""Totals of all systems on resamples: one matrix product of draws and counts, batch by batch on several threads.

The first factor is the bootstrap's matrix of counts (resamples × units) or the randomization's 0/1 matrix of swaps; the
second holds the counts of all systems. Draws depend on the number of the resample alone (see `draws`), and products are
exact integers. Therefore results are the same for any batch size, number of threads and split into parts.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairsig.core import draws
from pairsig.core.draws import fill_counts
from pairsig.core.loops import compiled, summed
from pairsig.core.steps import EXACT, fingerprint, in_steps, largest
from pairsig.core.threads import on_threads
from pairsig.io.errors import InputError
from pairsig.io.memory import too_little

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Draw = Literal["resample", "swap"]
"""Units with replacement, or the systems' counts on some of them."""
Floats = NDArray[np.float64]

MAX_RESAMPLES = 10**12
"""The limit for a test; counters cannot overflow below it."""
MAX_SEED = 2**128 - 1
MAX_THREADS = 1024
_EXACT_FLOAT32 = 2.0**24
_BATCH_ELEMENTS = 2**22
"""Elements of a batch's draws matrix: 16 MiB in float32. Products of few rows with many units are slower."""
_CACHE_ELEMENTS = 2**16
"""Elements of the draws that are multiplied at once where there are few columns: 256 KiB in float32."""
_FEW_COLUMNS = 16
_FOUR = 4
"""Resamples that are multiplied with few columns at a time."""
_FEW_UNITS = 8
"""A column is derived from another one if they differ on at most one in so many units; see `Product`."""
_FEWEST_ROWS = 16
_SCORING = 24
"""Bytes that scoring takes for each total, in addition to the total."""
SHUFFLED_ELEMENTS = 2**19
"""Totals after shuffles that are scored at once: 4 MiB for each of the two systems of the pairs."""


@dataclass(frozen=True)
class Resampling:
    """Number of resamples, seed and computing resources of a Monte Carlo test.

    Attributes
    ----------
    n_resamples
        b, at most `MAX_RESAMPLES`.
    seed
        The same seed gives the same counts for any batch size, number of threads or machine.
    threads
        Worker threads (default: all cores); they only change time and memory.
    memory
        Bytes that drawing, multiplying and scoring may take; by default there is no limit.
    some
        Which of the resamples to draw; by default all.
    """

    n_resamples: int = 1_000_000
    seed: int = 2012
    threads: int | None = None
    memory: int | None = None
    some: range | None = None

    def __post_init__(self) -> None:
        check_whole("number of resamples", self.n_resamples, 1, MAX_RESAMPLES)
        check_whole("seed", self.seed, 0, MAX_SEED)
        if self.threads is not None:
            check_whole("number of threads", self.threads, 1, MAX_THREADS)

    def part(self, k: int, m: int) -> Resampling:
        """The k-th of m parts of the resamples."""
        return replace(self, some=range((k - 1) * self.n_resamples // m, k * self.n_resamples // m))

    @property
    def drawn(self) -> range:
        """Numbers of the resamples that are drawn."""
        return range(self.n_resamples) if self.some is None else self.some

    @property
    def signature(self) -> str:
        """The part of a signature that the counts depend on."""
        return f"resamples:{self.n_resamples}|seed:{self.seed}"


class Product:
    """Exact product of draws and columns (systems × units), all of one type, with their steps in 1.

    Values are multiplied in whole steps (see `steps_by_column`), so the order of summation does not matter. The product
    is computed in float32 if no possible total reaches 2²⁴, else in float64. Columns that several systems share (gold
    sizes, reference lengths) are multiplied once. If a column is another one of the same system plus a constant, except
    on a few units, its totals follow from the totals of the other one: a text of m words has m − 3 sequences of four
    words, unless it is shorter than that.

    Attributes
    ----------
    n_units
        Number of units to draw from.
    index
        Position of each column among the distinct columns, (columns × systems).
    observed
        Totals on the test set, (systems × columns).
    """

    def __init__(self, columns: Sequence[NDArray[Any]], steps: Floats) -> None:
        n_systems, self.n_units = columns[0].shape
        self._columns, self.column_steps = columns, steps
        distinct: list[tuple[int, int]] = []
        derived: dict[int, tuple[int, float]] = {}
        corrected = np.zeros(self.n_units, dtype=bool)
        self.index = np.empty((len(columns), n_systems), dtype=np.intp)
        self.observed = np.empty((n_systems, len(columns)))
        unique: dict[bytes, int] = {}
        most = 0.0
        for column, step in enumerate(steps):
            for system in range(n_systems):
                row = self._row(column, system)
                number = unique.setdefault(fingerprint(row), len(unique))
                self.index[column, system] = number
                self.observed[system, column] = row.sum() / step
                if number < len(distinct):
                    continue
                distinct.append((column, system))
                most = max(most, largest(row))
                for base in dict.fromkeys(self.index[:column, system].tolist()):
                    if base in derived or (near := self._near(row, self._row(*distinct[base]))) is None:
                        continue
                    units = corrected | near[1]
                    if np.count_nonzero(units) * _FEW_UNITS <= self.n_units:
                        derived[number], corrected = (base, near[0]), units
                        break
        self._units = np.flatnonzero(corrected)
        self.dtype = np.dtype(np.float32 if most * self.n_units < _EXACT_FLOAT32 else np.float64)
        self.steps = None if (steps == 1).all() else steps
        # The columns to multiply come first, then a column of ones if others are derived, then those.
        multiplied = [place for place in range(len(distinct)) if place not in derived]
        self._first: list[tuple[int, int] | None] = [distinct[place] for place in multiplied]
        self._first += [None] * bool(derived)
        places = np.empty(len(distinct), dtype=np.intp)
        places[multiplied] = np.arange(len(multiplied))
        places[list(derived)] = len(self._first) + np.arange(len(derived))
        self.index = places[self.index]
        self._bases = places[[base for base, _ in derived.values()]]
        # What is added to a column: corrections on some units, and a constant on all.
        self._added = np.empty((len(derived), len(self._units) + 1), dtype=self.dtype)
        for row, (place, (base, constant)) in zip(self._added, derived.items(), strict=True):
            values, base_values = (
                self._row(*distinct[which])[self._units].astype(np.float64) for which in (place, base)
            )
            row[:-1], row[-1] = values - base_values - constant, constant

    def _near(self, row: NDArray[Any], base: NDArray[Any]) -> tuple[float, NDArray[np.bool_]] | None:
        """By how much a row exceeds another one on most units, and a mask of the other units; None if not on most."""
        sample, all_units = slice(None, None, 1 + self.n_units // 64), slice(None)
        for units in (sample, all_units):  # the sample excludes most rows quickly
            difference = row[units].astype(np.float64) - base[units]
            constant = float(np.partition(difference, len(difference) // 2)[len(difference) // 2])
            others = difference != constant
            if np.count_nonzero(others) * _FEW_UNITS > 2 * len(difference):
                return None
        # Sums of what is drawn of the base, the constant and the corrections must be exact in any order.
        exact = _EXACT_FLOAT32 if largest(base) * self.n_units < _EXACT_FLOAT32 else EXACT
        if (largest(base) + 3 * largest(difference)) * self.n_units >= exact:
            return None
        return constant, others

    @property
    def n_multiplied(self) -> int:
        """Number of columns that are multiplied."""
        return len(self._first)

    @cached_property
    def matrix(self) -> NDArray[Any]:
        """The columns that are multiplied, (columns × units)."""
        matrix = np.empty((self.n_multiplied, self.n_units), dtype=self.dtype)
        for row, where in zip(matrix, self._first, strict=True):
            row[:] = 1 if where is None else self._row(*where)
        return matrix

    def _derive(self, totals: NDArray[Any], drawn: NDArray[Any]) -> None:
        """Fill in the totals (columns × resamples) of derived columns."""
        if len(self._bases):
            n = len(self._first)
            some = np.empty((len(drawn), len(self._units) + 1), dtype=self.dtype)
            np.take(drawn, self._units, axis=1, out=some[:, :-1], mode="clip")  # otherwise it is buffered
            some[:, -1] = totals[n - 1]
            np.matmul(self._added, some.T, out=totals[n:])
            totals[n:] += totals[self._bases]

    def _row(self, column: int, system: int) -> NDArray[Any]:
        return in_steps(self._columns[column][system], self.column_steps[column])

    def multiplier(self, n_rows: int, draw: Draw) -> Callable[[int, int, int], NDArray[Any]]:
        """A function (seed, first, rows) that returns the totals of up to so many resamples, for one worker.

        The totals are those of the distinct columns (columns × resamples), in steps; see `totals`. Arrays are allocated
        once for all batches, which saves a fifth of the CPU time of a test of two systems.
        """
        n_columns = len(self._first)
        n_all = n_columns + len(self._bases)
        fill = {"resample": draws.bootstrap_counts, "swap": draws.swaps}[draw]
        # With few columns the product would wait for memory, so draws are multiplied while they are in the cache.
        if n_columns <= _FEW_COLUMNS and draws.pays(self.n_units):
            at_once = _FOUR * min(max(2, _CACHE_ELEMENTS // self.n_units // _FOUR), -(-n_rows // _FOUR))
            some_draws = np.empty((at_once, self.n_units), dtype=self.dtype)
            some_products = np.empty((n_all, -(-n_rows // at_once) * at_once), dtype=self.dtype)
            arrays = some_draws, self.matrix, self._units, self._bases, self._added, some_products

            def multiplied(seed: int, first: int, rows: int) -> NDArray[Any]:
                if draw == "resample":  # in one step, for which threads do not wait for each other
                    _resample(*draws.key(seed), first, rows, *arrays)
                else:
                    for start in range(0, rows, at_once):
                        fill(seed, first + start, at_once, self.n_units, out=some_draws)
                        _multiply(*arrays, start)
                return np.ascontiguousarray(some_products[:, :rows])

            return multiplied
        counts = np.empty((n_rows, self.n_units), dtype=self.dtype)
        products = np.empty((n_all, n_rows), dtype=self.dtype)

        def drawn(seed: int, first: int, rows: int) -> NDArray[Any]:
            fill(seed, first, rows, self.n_units, out=counts[:rows])
            np.matmul(self.matrix, counts[:rows].T, out=products[:n_columns, :rows])
            self._derive(products[:, :rows], counts[:rows])
            return np.ascontiguousarray(products[:, :rows])

        return drawn

    def totals(self, distinct: NDArray[Any], systems: slice = slice(None)) -> Floats:
        """The totals (columns × systems × resamples) of some systems, from those of the distinct columns."""
        totals = distinct[self.index[:, systems]].astype(np.float64)
        if self.steps is not None:
            totals /= self.steps[:, None, None]
        return totals

    def for_each_batch(self, take: Callable[[NDArray[Any], int], None], draw: Draw, resampling: Resampling) -> None:
        """Draw the resamples batch by batch on worker threads; `take` gets totals and the number of the first one.

        The totals are those of the distinct columns, (columns × resamples), in steps; see `totals`.
        """
        resamples = resampling.drawn
        n_threads, n_rows = self.split(draw, resampling)
        self.matrix  # noqa: B018
        stopped = Event()
        _keep_freed_memory()

        def work(worker: int) -> None:
            try:
                drawn = self.multiplier(min(n_rows, len(resamples)), draw)
                for start in range(worker * n_rows, len(resamples), n_threads * n_rows):
                    if stopped.is_set():
                        return
                    rows = min(n_rows, len(resamples) - start)
                    take(drawn(resampling.seed, resamples.start + start, rows), resamples.start + start)
            except BaseException:
                stopped.set()
                raise

        with one_blas_thread():
            on_threads(work, range(n_threads), n_threads, stopped.set)  # which they check between two batches

    def split(self, draw: Draw, resampling: Resampling) -> tuple[int, int]:
        """Threads, and resamples per batch: as many as the memory allows, down to `_FEWEST_ROWS` on one thread.

        With s bytes per number, n units, u columns that are multiplied, v derived from them with corrections on m
        units, and c totals of all systems, t threads with r resamples each take u·n·s + t·r·((n + m + u + 3v)·s + c·(s
        + 8 + 24)) bytes, and 32 MiB more per thread for swaps.
        """
        n_rows = max(_FEWEST_ROWS, min(1024, _BATCH_ELEMENTS // self.n_units))
        n_threads = min(resampling.threads or os.cpu_count() or 1, max(1, -(-len(resampling.drawn) // n_rows)))
        if resampling.memory is None:
            return n_threads, n_rows
        size = self.dtype.itemsize
        per_row = (self.n_units + len(self._units) + self.n_multiplied + 3 * len(self._bases)) * size
        per_row += self.index.size * (size + 8 + _SCORING)
        shuffled = 64 * max(SHUFFLED_ELEMENTS, n_rows * len(self.index)) * (draw == "swap")
        left = resampling.memory - self.n_multiplied * self.n_units * size
        least = _FEWEST_ROWS * per_row + shuffled  # of a thread
        if left < least:
            raise too_little(least + resampling.memory - left, resampling.memory, "the draws of this test")
        n_threads = min(n_threads, left // least)
        return n_threads, min(n_rows, (left // n_threads - shuffled) // per_row)


@compiled
def _resample(k0, k1, first, n_rows, draws, columns, units, bases, added, totals):  # type: ignore[no-untyped-def]
    """Draw at least so many resamples, some at a time, and fill in their totals."""
    for start in range(0, n_rows, len(draws)):
        fill_counts(k0, k1, first + start, draws.shape[1], draws)
        _multiply(draws, columns, units, bases, added, totals, start)


@summed
def _multiply(draws, columns, units, bases, added, totals, start):  # type: ignore[no-untyped-def]
    """The totals (columns × resamples), from `start` on, of few columns and of those derived from them, see `Product`.

    Four resamples at a time share what is read of a column.
    """
    n_columns, n_units = columns.shape
    for row in range(0, len(draws), _FOUR):
        draws1, draws2, draws3, draws4 = draws[row], draws[row + 1], draws[row + 2], draws[row + 3]
        for column in range(n_columns):
            values = columns[column]
            total1 = total2 = total3 = total4 = draws.dtype.type(0)
            for unit in range(n_units):
                value = values[unit]
                total1 += draws1[unit] * value
                total2 += draws2[unit] * value
                total3 += draws3[unit] * value
                total4 += draws4[unit] * value
            place = start + row
            totals[column, place], totals[column, place + 1] = total1, total2
            totals[column, place + 2], totals[column, place + 3] = total3, total4
    for row in range(len(draws)):
        for column in range(len(bases)):
            place = start + row
            total = totals[bases[column], place] + added[column, len(units)] * totals[n_columns - 1, place]
            for number in range(len(units)):
                total += added[column, number] * draws[row, units[number]]
            totals[n_columns + column, place] = total


@cache
def _keep_freed_memory() -> None:
    """Free an array once, so that the memory of one batch serves the next.

    The C library of Linux keeps twice as much free memory as the largest array that it has freed, at most 64 MiB, and
    returns more than that to the system. Without this array, that of each batch would go back and come again page by
    page, which took half of the time of short test sets. Since nothing is written to it, it takes no memory itself.
    """
    np.empty(2**25 - 2**16, dtype=np.int8)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Leave the cores to the worker threads, which additional threads of the BLAS would only slow down."""
    limited: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _libraries(_n_modules: int) -> ThreadpoolController:
    """Find the libraries that have threads, again only after an import, because the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def check_whole(noun: str, number: object, least: int, most: int) -> None:
    """Raise `InputError` for anything but a whole number from `least` to `most`."""
    try:
        value = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"the {noun} is {number!r}, expected a whole number") from None
    if not least <= value <= most:
        description = value if abs(value) < 10**40 else "beyond 10⁴⁰"
        lowest = f"at least {least}" if least else "0 or more"
        expected = f"at most {most:,}" if value > most else lowest
        raise InputError(f"the {noun} is {description}, expected {expected}")
