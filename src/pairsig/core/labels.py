"""Names of systems, runs and segments; and arrays of several systems, which may be paired by their index."""

from __future__ import annotations

from collections import Counter
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


def paired_by_index(scores: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], list[str] | None]:
    """The scores of all systems as arrays in the order of the first one, and the ids in the index of series.

    An index of pandas that does not simply number the rows is taken as ids, which pair the series. The ids are None for
    arrays, lists and numbered series, which are paired by position.
    """
    arrays = {name: _array(values) for name, values in scores.items()}
    places = {name: _places(name, values) for name, values in scores.items()}
    first, order = next(((name, list(of)) for name, of in places.items() if of is not None), ("", None))
    if order is None:
        return arrays, None
    for other, of_other in places.items():
        if of_other is None:
            raise InputError(
                f"{named(first)} has ids as its index, {named(other)} has none, expected ids for all systems or for "
                f"none; {_INSTEAD}"
            )
        of_first = places[first] or {}
        for here, there, ids, others in ((first, other, of_first, of_other), (other, first, of_other, of_first)):
            if alone := [label for label in ids if label not in others]:
                raise InputError(
                    f"the index of {named(here)} has {named(alone[0])}, that of {named(there)} has not, expected the "
                    f"same ids for all systems; {_INSTEAD}"
                )
        arrays[other] = arrays[other][[of_other[label] for label in order]]
    return arrays, order


_INSTEAD = ".reset_index(drop=True) pairs by position"


def _places(name: str, values: Any) -> dict[str, int] | None:
    """The position of each id in the index of a series or frame of pandas; None if it only numbers the rows."""
    index = getattr(values, "index", None)
    if index is None or callable(index):
        return None
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return None
    ids = [str(label) for label in index]
    places = {label: position for position, label in enumerate(ids)}
    if len(places) < len(ids):
        repeated, times = Counter(ids).most_common(1)[0]
        raise InputError(
            f"the index of {named(name)} has {named(repeated)} {times} times, expected different ids; {_INSTEAD}"
        )
    return places


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
