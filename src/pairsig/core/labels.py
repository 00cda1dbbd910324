"""Names of systems, runs and segments; and arrays of several systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, encodable, named

_MOST_LETTERS = 2**28
"""Limit of all characters of an array of labels, each as long as the longest: a gigabyte."""


def run_name(system: str, run: str) -> str:
    """The name of this run of a system."""
    return f"{system}-{run}" if run else system


def without_run(names: Iterable[str], runs: Iterable[str]) -> tuple[str, ...]:
    """The name that all runs of a system share; a system without a run keeps its name, even one that ends in a -."""
    return tuple(name.removesuffix(f"-{run}") if run else name for name, run in zip(names, runs, strict=True))


def label_arrays(**labels: Iterable[Any] | None) -> dict[str, Any]:
    """Labels of segments as arguments of `Statistics`, without those that are unknown (None)."""
    return {name: np.array(list(map(str, texts)), dtype=str) for name, texts in labels.items() if texts is not None}


def label_array(labels: Iterable[str], noun: str) -> NDArray[np.str_]:
    """Labels as a numpy array; refuse labels whose array would be too large."""
    labels = list(labels)
    if not all(map(str.isascii, labels)):
        labels = list(map(encodable, labels))
    longest = max(labels, key=len, default="")
    if len(labels) * len(longest) > _MOST_LETTERS:
        raise InputError(
            f"{noun} {named(longest)} is too long, expected at most {_MOST_LETTERS // len(labels):,} characters for "
            f"{len(labels):,} names"
        )
    return np.array(labels, dtype=f"<U{max(1, len(longest))}")


def arrays_of(scores: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The scores of all systems as arrays; series of pandas, whose ids numpy would ignore, must have the same ones."""
    indices = {name: of.index for name, of in scores.items() if hasattr(of, "index") and not callable(of.index)}
    for name, index in indices.items():
        first = next(iter(indices))
        if not index.equals(indices[first]):
            raise InputError(
                f"{named(first)} and {named(name)} have different ids as their index, expected the same in the same "
                "order; .reset_index(drop=True) pairs by position"
            )
    return {name: _array(values) for name, values in scores.items()}


def _array(values: Any) -> NDArray[Any]:
    """An array, without masked values, which numpy would silently unmask."""
    if isinstance(values, np.ndarray) and hasattr(values, "mask"):
        raise InputError("found a masked array, expected numbers, NaN where one is missing (.filled(np.nan))")
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError("the rows of counts have different lengths, expected a table of numbers") from None


def two_dimensional(system: str, array: NDArray[Any], columns: Sequence[str]) -> NDArray[Any]:
    """Counts (segments × columns) of numbers; a single column may be flat."""
    array = np.asarray(array)
    if array.ndim == 1 and len(columns) == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise InputError(
            f"system {system} has counts of shape {array.shape}, "
            f"expected (segments, {len(columns)}): {', '.join(columns)}"
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"system {system} has counts of type {array.dtype}, expected numbers")
    if array.dtype.itemsize > 8:  # np.longdouble, which neither products nor files know
        array = array.astype(np.float64)
    return array
