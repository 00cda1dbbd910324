"""Counts as whole multiples of a step, so that their sums are exact in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError

EXACT = 2**53
"""Integers up to this one are exact in float64."""

_STEPS = (*(10**k for k in range(23)), *(2**k for k in range(1, 1024)))
"""Candidates for the number of steps per unit: first decimal, then binary steps, each kind from coarse to fine. All
are exact in float64."""


def adjacent(columns: Sequence[int]) -> slice | list[int]:
    """Positions of columns as an index that makes no copy if they are adjacent."""
    together = range(columns[0], columns[0] + len(columns))
    return slice(together.start, together.stop) if list(columns) == list(together) else list(columns)


def largest(values: NDArray[Any]) -> float:
    """The largest absolute value."""
    return max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))


def fingerprint(values: NDArray[Any]) -> bytes:
    """A hash that is equal for equal arrays of one type, and different for all others."""
    import hashlib

    return hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()


def steps_to_unit(values: NDArray[Any], n: int) -> int | None:
    """Number of steps per unit for the coarsest step (1, 10⁻ᵏ or 2⁻ᵏ) of which all values are multiples.

    A value counts as a multiple if it is the float64 nearest to one: 0.12345, as a program prints it with five
    digits, is 12345 steps of 10⁻⁵. Returns None if there is no such step: 1/3 is a multiple of none, and sums of `n`
    values must stay below 2⁵³ steps.
    """
    most: float = EXACT / n / max(largest(values), 1e-300)
    if values.dtype.kind in "biu":
        return 1 if most > 1 else None
    # A sample of the values rules out most steps quickly.
    few = values.flat[:: 1 + values.size // 64]
    steps: int
    for steps in _STEPS:
        if steps >= most:
            if steps % 10 == 0:  # no decimal step fits; the binary ones start again from the coarsest
                continue
            break
        if _are_multiples(few, steps) and _are_multiples(values, steps):
            return steps
    return None


def _are_multiples(values: NDArray[Any], steps: int) -> bool:
    # Division is correctly rounded, so equality holds only if each value is the float nearest to its multiple.
    values = values.astype(np.float64)
    return np.array_equal(np.rint(values * float(steps)) / steps, values)


def in_steps(values: NDArray[Any], steps: float) -> NDArray[Any]:
    """The values in steps: integers unchanged, others rounded in float64."""
    return values if values.dtype.kind in "biu" else np.rint(values.astype(np.float64) * float(steps))


def steps_by_column(columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Number of steps per unit for each of some columns (systems × units).

    Values that are not multiples of any step are rounded to the finest step 2⁻ᵏ with exact sums over the units: about
    15 significant digits of the largest possible total.

    Raises
    ------
    InputError
        For whole numbers whose sums may reach 2⁵³.
    """
    steps = np.ones(len(columns))
    for column, values in enumerate(columns):
        n_units = values.shape[1]
        n_steps = steps_to_unit(values, n_units)
        if n_steps is not None:
            steps[column] = n_steps
        elif whole_numbers(values):
            raise InputError(
                f"counts are as large as {largest(values):g} on {n_units} units, so their sums cannot be exact; "
                "expected sums below 2**53"
            )
        else:  # the largest 2ᵏ with 2ᵏ · n · max |value| < 2⁵³, and no larger than floats are
            steps[column] = np.exp2(min(np.floor(52 - np.log2(largest(values)) - np.log2(n_units)), 1023.0))
    return steps


def whole_numbers(values: NDArray[Any]) -> bool:
    """Whether all values are whole numbers."""
    return values.dtype.kind in "biu" or bool((values == np.rint(values)).all())
