"""Random draws with one independent stream per resample.

Resample `i` with seed `s` depends on (s, i) alone. Its stream is SFC64 (Doty-Humphrey's generator, as in
`numpy.random.SFC64`) with the initial state (k₀, k₁, i, 1), where k₀ and k₁ come from `numpy.random.SeedSequence(s)`,
after numpy's own twelve warm-up steps. The result of a test therefore does not depend on how its resamples are divided
among batches, threads, jobs or machines, and any range of them can be drawn separately.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from pairsig.core.loops import compiled, inlined
from pairsig.io.packages import installed

_FEW_UNITS = 512
"""Up to so many units, numpy draws the swaps of 100,000 resamples in a twentieth of a second."""


@lru_cache(maxsize=64)
def key(seed: int) -> tuple[np.uint64, np.uint64]:
    """The two words of SFC64's initial state that depend on the seed."""
    first, second = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return first, second


@inlined
def _step(a, b, c, w):  # type: ignore[no-untyped-def]
    word = a + b + w
    rotated = (c << uint64(24)) | (c >> uint64(40))
    return word, b ^ (b >> uint64(11)), c + (c << uint64(3)), rotated + word, w + uint64(1)


@inlined
def _start(k0, k1, resample):  # type: ignore[no-untyped-def]
    a, b, c, w = k0, k1, uint64(resample), uint64(1)
    for _ in range(12):
        _, a, b, c, w = _step(a, b, c, w)
    return a, b, c, w


@compiled
def fill_counts(k0, k1, first, n_draws, counts):  # type: ignore[no-untyped-def]
    """Count how often each unit is drawn, in as many resamples as `counts` has rows, from `first` on."""
    n_rows, n_units = counts.shape
    n = uint64(n_units)
    # Lemire (2019): (32 random bits × n) >> 32 is uniform if products with a low part below 2³² mod n are redrawn.
    reject = (uint64(1) << uint64(32)) % n
    for row in range(n_rows):
        a, b, c, w = _start(k0, k1, first + row)
        for unit in range(n_units):
            counts[row, unit] = 0
        left = n_draws
        while left > 0:
            word, a, b, c, w = _step(a, b, c, w)
            product = (word & uint64(0xFFFFFFFF)) * n
            if (product & uint64(0xFFFFFFFF)) >= reject:
                counts[row, product >> uint64(32)] += 1
                left -= 1
            product = (word >> uint64(32)) * n
            if left > 0 and (product & uint64(0xFFFFFFFF)) >= reject:
                counts[row, product >> uint64(32)] += 1
                left -= 1


@compiled
def _swaps(k0, k1, first, swapped):  # type: ignore[no-untyped-def]
    n_rows, n_units = swapped.shape
    for row in range(n_rows):
        a, b, c, w = _start(k0, k1, first + row)
        for start in range(0, n_units, 64):
            word, a, b, c, w = _step(a, b, c, w)
            for unit in range(start, min(start + 64, n_units)):
                swapped[row, unit] = (word >> uint64(unit - start)) & uint64(1)


def bootstrap_counts(
    seed: int, first: int, n_rows: int, n_units: int, *, n_draws: int | None = None, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """How often each unit is drawn in `n_rows` consecutive bootstrap resamples, (n_rows, n_units).

    Resample number `first` is the first one. Every row is `n_draws` (by default `n_units`) draws with replacement.
    `out` is an array of any numeric type to fill; float32 by default, ready for a matrix product.
    """
    counts = np.empty((n_rows, n_units), dtype=np.float32) if out is None else out
    n_draws = n_units if n_draws is None else n_draws
    if installed("numba"):
        fill_counts(*key(seed), first, n_draws, counts)
        return counts
    for row, words in zip(counts, _words(seed, first, n_rows), strict=True):
        left = n_draws
        row[:] = 0
        while left:
            # 32 random bits × n, whose upper half is the unit (Lemire 2019, see `fill_counts`)
            product = words(-(-left // 2)).view("<u4").astype(np.uint64) * np.uint64(n_units)
            drawn = (product >> np.uint64(32))[(product & np.uint64(2**32 - 1)) >= 2**32 % n_units][:left]
            row += np.bincount(drawn.astype(np.intp), minlength=n_units)
            left -= len(drawn)
    return counts


def swaps(seed: int, first: int, n_rows: int, n_units: int, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """1 if the two systems are swapped on a unit, else 0, with probability 1/2 each; parameters as above."""
    swapped = np.empty((n_rows, n_units), dtype=np.float32) if out is None else out
    if pays(n_units):
        _swaps(*key(seed), first, swapped)
        return swapped
    words = _many_words(seed, first, n_rows, -(-n_units // 64))
    swapped[:] = np.unpackbits(words.view(np.uint8), axis=1, count=n_units, bitorder="little")
    return swapped


def pays(n_units: int) -> bool:
    """Whether numba, which takes half a second to import, is faster than numpy for so many units."""
    return (n_units > _FEW_UNITS or "numba" in sys.modules) and installed("numba")


def _many_words(seed: int, first: int, n_rows: int, n_words: int) -> NDArray[np.uint64]:
    """The first words of consecutive resamples, (n_rows, n_words), all resamples at a time."""
    step = _step.py_func
    k0, k1 = key(seed)
    state = [np.full(n_rows, k0), np.full(n_rows, k1), np.arange(first, first + n_rows, dtype=np.uint64)]
    state.append(np.ones(n_rows, dtype=np.uint64))
    for _ in range(12):
        _, *state = step(*state)
    words = np.empty((n_rows, n_words), dtype="<u8")
    for word in range(n_words):
        words[:, word], *state = step(*state)
    return words


def _words(seed: int, first: int, n_rows: int) -> Iterator[Callable[[int], NDArray[np.uint64]]]:
    """For each resample, a function that returns its next words: the same streams, from numpy's generator."""
    generator = np.random.SFC64()
    state: Any = generator.state
    k0, k1 = key(seed)
    for resample in range(first, first + n_rows):
        state["state"]["state"] = np.array([k0, k1, resample, 1], dtype=np.uint64)
        generator.state = state
        generator.random_raw(12)
        yield lambda n: generator.random_raw(n).astype("<u8")
