"""Numbers as whole multiples of a step, so that their sums are exact whatever their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.errors import InputError

EXACT = 2**53
"""Integers below are exact in float64."""

_STEPS = (*(10**k for k in range(23)), *(2**k for k in range(1, 1024)))
"""Steps to the unit, the coarsest lattice of either kind first; each is exact in float64."""


def multiples(values: NDArray[Any], n: int) -> tuple[NDArray[np.int64], int] | None:
    """Values as multiples of one step, 1, 10⁻ᵏ or 2⁻ᵏ, the coarsest there is; and how many steps make a unit.

    A value lies on a lattice if it is the float64 nearest to a multiple of the step: 0.12345, as a program prints it
    with five digits, is 12345 steps of 10⁻⁵. None where no lattice will do: 1/3 lies on none, and sums of `n` such
    values must stay below 2⁵³ steps.
    """
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
    largest = max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))
    most = EXACT / n / max(largest, 1e-300)
    if values.dtype.kind in "biu":
        return (values.astype(np.int64), 1) if most > 1 else None
    few = values.ravel()[:: 1 + values.size // 64]  # where these tell already, the rest need not be looked at
    for steps in _STEPS:
        if steps >= most:
            if steps % 10 == 0:  # the decimal ones are through, the binary ones begin anew
                continue
            break
        if np.array_equal(np.rint(few * float(steps)) / steps, few):
            whole = np.rint(values * float(steps))
            # Division rounds correctly: this is equal only if each value is the float nearest to its multiple.
            if np.array_equal(whole / steps, values):
                return whole.astype(np.int64), steps
    return None


def in_steps(counts: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts (systems, units, columns) in whole steps, (columns, systems, units), and the steps to the unit by column.

    Values on no lattice are put on one of step 2⁻ᵏ, as fine as exact sums over the units allow: about 15 significant
    digits of the largest possible total.
    """
    n_systems, n_units, n_columns = counts.shape
    whole, steps = np.empty((n_columns, n_systems, n_units)), np.ones(n_columns)
    for column in range(n_columns):
        values = counts[:, :, column]
        found = multiples(values, n_units)
        if found is not None:
            whole[column], steps[column] = found
            continue
        if (values == np.rint(values)).all():
            raise too_large(counts[:, :, [column]])
        largest = float(np.abs(values).max())
        steps[column] = np.exp2(np.floor(np.log2(EXACT / 2 / (largest * n_units))))
        np.rint(values * steps[column], out=whole[column])
    return whole, steps


def too_large(counts: NDArray[Any]) -> InputError:
    """What is said of counts (systems, units, columns) whose sums are not below 2⁵³."""
    largest = np.abs(counts.astype(np.float64)).max()
    return InputError(f"counts are as large as {largest:g} on {counts.shape[1]} units: their sums cannot be exact")


def totals(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Sums of counts (systems, units, columns) over the units, whatever their order."""
    whole, steps = in_steps(counts)
    sums: NDArray[np.float64] = (whole.sum(axis=2) / steps[:, None]).T
    return sums
