"""Numbers as whole multiples of a step, so that their sums are exact whatever their order.

Nothing here makes a copy of all counts but what it returns: large ones are taken some systems at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.errors import InputError

EXACT = 2**53
"""Integers below are exact in float64."""

_STEPS = (*(10**k for k in range(23)), *(2**k for k in range(1, 1024)))
"""Steps to the unit, the coarsest lattice of either kind first; each is exact in float64."""

_AT_ONCE = 2**21
"""Values that are looked at together: 16 MiB in float64."""


def some_systems(counts: NDArray[Any]) -> Iterator[slice]:
    """The first axis of an array, cut so that copies of a piece take little memory."""
    n_rows = max(1, _AT_ONCE * len(counts) // max(1, counts.size))
    return (slice(first, first + n_rows) for first in range(0, len(counts), n_rows))


def largest(values: NDArray[Any]) -> float:
    """The largest size among the values."""
    return max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))


def fingerprint(values: NDArray[Any]) -> bytes:
    """The same for arrays of one type that are equal, and for no others."""
    return hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()


def steps_to_unit(values: NDArray[Any], n: int) -> int | None:
    """How many steps make a unit on the coarsest lattice, of step 1, 10⁻ᵏ or 2⁻ᵏ, on which all values lie.

    A value lies on a lattice if it is the float64 nearest to a multiple of the step: 0.12345, as a program prints it
    with five digits, is 12345 steps of 10⁻⁵. None where no lattice will do: 1/3 lies on none, and sums of `n` such
    values must stay below 2⁵³ steps.
    """
    most: float = EXACT / n / max(largest(values), 1e-300)
    if values.dtype.kind in "biu":
        return 1 if most > 1 else None
    # Where few values tell already, the rest need not be looked at.
    few = values.flat[:: 1 + values.size // 64]
    steps: int
    for steps in _STEPS:
        if steps >= most:
            if steps % 10 == 0:  # the decimal ones are through, the binary ones begin anew
                continue
            break
        if _on_lattice(few, steps) and all(_on_lattice(values[rows], steps) for rows in some_systems(values)):
            return steps
    return None


def _on_lattice(values: NDArray[Any], steps: int) -> bool:
    # Division rounds correctly: this is equal only if each value is the float nearest to its multiple.
    values = values.astype(np.float64)
    return np.array_equal(np.rint(values * float(steps)) / steps, values)


def multiples(values: NDArray[Any], n: int) -> tuple[NDArray[np.int64], int] | None:
    """Values as multiples of one step, and how many steps make a unit; None where there is none: `steps_to_unit`."""
    steps = steps_to_unit(values, n)
    return None if steps is None else (in_steps(values, steps).astype(np.int64), steps)


def in_steps(values: NDArray[Any], steps: float) -> NDArray[Any]:
    """The values in whole steps: integers as they are, others in float64."""
    return values if values.dtype.kind in "biu" else np.rint(values.astype(np.float64) * float(steps))


def lattice(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Steps to the unit by column of counts (systems, units, columns).

    Values on no lattice are put on one of step 2⁻ᵏ, as fine as exact sums over the units allow: about 15 significant
    digits of the largest possible total.
    """
    n_units = counts.shape[1]
    steps = np.ones(counts.shape[2])
    for column in range(counts.shape[2]):
        values = counts[:, :, column]
        found = steps_to_unit(values, n_units)
        if found is not None:
            steps[column] = found
            continue
        if whole_numbers(values):
            raise too_large(counts[:, :, [column]])
        steps[column] = np.exp2(np.floor(np.log2(EXACT / 2 / (largest(values) * n_units))))
    return steps


def whole_numbers(values: NDArray[Any]) -> bool:
    """Whether all values are whole numbers."""
    return values.dtype.kind in "biu" or all(
        bool((values[rows] == np.rint(values[rows])).all()) for rows in some_systems(values)
    )


def too_large(counts: NDArray[Any]) -> InputError:
    """What is said of counts (systems, units, columns) whose sums are not below 2⁵³."""
    told = f"counts are as large as {largest(counts):g} on {counts.shape[1]} units"
    return InputError(f"{told}: their sums cannot be exact")


def totals(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Sums of counts (systems, units, columns) over the units, whatever their order."""
    steps = lattice(counts)
    sums = np.empty((len(counts), counts.shape[2]))
    for rows in some_systems(counts):
        for column, own in enumerate(steps):
            sums[rows, column] = in_steps(counts[rows, :, column], own).sum(axis=1) / own
    return sums
