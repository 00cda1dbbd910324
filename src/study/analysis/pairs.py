"""Tables of comparisons, split by test set and by kind of pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import definitions
from pairsig.errors import InputError
from study.analysis.over_systems import Codes, share_interval
from study.training_sets import FULL_SETS, of_full_sets

MIN_PAIRS = 10
MIN_SYSTEMS = 6
"""With fewer pairs, or pairs of fewer systems, nothing is said of pairs of a kind: `too few`."""


def subsets(comparisons: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All pairs; those of one group and of different groups; those of each two kinds, where there are kinds.

    Where synthetic systems were trained on sets of several sizes, the first three again of full sets alone.
    """
    yield "all", comparisons
    yield from _by_group(comparisons)
    full = of_full_sets(comparisons)
    if full.any() and not full.all():
        yield FULL_SETS, comparisons[full]
        for name, pairs in _by_group(comparisons[full]):
            yield f"{FULL_SETS}, {name}", pairs
    kinds = np.sort(comparisons[["kind_a", "kind_b"]].fillna("").to_numpy(dtype=str), axis=1)
    label = np.array([" / ".join(pair) for pair in kinds], dtype=str)
    named = np.unique(label[(kinds != "").all(axis=1)])
    for name in named if len(named) > 1 else ():
        yield str(name), comparisons[label == name]


def _by_group(comparisons: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, same in (("same group", True), ("different group", False)):
        yield name, comparisons[comparisons["same_group"] == same]


def by_test_set(comparisons: pd.DataFrame) -> Sequence[tuple[tuple[str, ...], pd.DataFrame]]:
    """The comparisons of each (dataset, test set, metric, test), after a check that no pair is repeated."""
    keys = ["dataset", "test_set", "metric", "test"]
    if comparisons.empty:
        raise InputError("there are no comparisons, expected at least one")
    twice = comparisons.duplicated([*keys, "system_a", "system_b"])
    if twice.any():
        row = comparisons[twice].iloc[0]
        raise InputError(
            f"{row['system_a']} and {row['system_b']} are compared more than once by {row['metric']} and {row['test']} "
            f"on dataset {row['dataset']}, test set {row['test_set']}, expected once"
        )
    return [(tuple(map(str, key)), rows) for key, rows in comparisons.groupby(keys, sort=False)]


def of_one_test(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the bootstrap, drawn or exact, or, where neither has been run, of the first test, drawn or exact."""
    draws = table["test"].map({name: definitions.find(name).draw for name in definitions.names()})
    return table[draws == ("resample" if (draws == "resample").any() else draws.iloc[0])] if len(table) else table


def weighted_quantile(values: NDArray[np.float64], weights: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """For each row of weights the value below which that share of them lies, between two values in proportion.

    Of n equal weights the i-th smallest value is the (i − 1/2)/n quantile (Hazen), the first and last are the ends.

    Parameters
    ----------
    values
        Shape (pairs,).
    weights
        Shape (rows, pairs), not negative; a row of zeros has nan.
    """
    if not len(values):
        return np.full(len(np.atleast_2d(weights)), np.nan)
    order = np.argsort(values, kind="stable")
    ascending, heavy = values[order], np.atleast_2d(weights)[:, order]
    held = heavy > 0
    reached = heavy.cumsum(axis=1)
    target = share * reached[:, -1:]
    middle = reached - heavy / 2
    # The first value with any weight whose middle is not before the target, and the last one with any weight before it.
    above = held & (middle >= target)
    places = np.arange(len(ascending))
    last = np.where(held, places, -1).max(axis=1, initial=-1)
    first = np.where(held, places, len(ascending)).min(axis=1, initial=len(ascending))
    after = np.where(above.any(axis=1), above.argmax(axis=1), last)
    before = np.where(held & (places < after[:, None]), places, -1).max(axis=1, initial=-1)
    rows = np.arange(len(heavy))
    some = last >= 0
    found = np.full(len(heavy), np.nan)
    found[some] = ascending[after[some]]
    short = middle[rows, after] > target[:, 0]  # else it is the value itself, to the last digit
    between = some & (before >= 0) & above.any(axis=1) & (after > first) & short
    rows, before, after = rows[between], before[between], after[between]
    step = (target[between, 0] - middle[rows, before]) / (middle[rows, after] - middle[rows, before])
    found[between] = ascending[before] + step * (ascending[after] - ascending[before])
    return found


def quantile_interval(
    values: NDArray[np.float64], systems: Codes, share: float = 0.5, weights: NDArray[np.float64] | None = None
) -> tuple[float, float, float]:
    """A quantile over pairs and its 95 % interval over systems, by inverting that of a share (Woodruff 1952).

    With F(q) the share of the pairs whose value is at most q, the interval of F(q) by `share_interval` goes from a to
    b, and that of the quantile q from the quantile a to the quantile b; for a, pairs that equal q count as above it.
    Nothing is assumed of the density at q, which may be 0: a median may lie between two kinds of pairs. How often
    such intervals hold the truth stands in docs/coverage.md.

    Parameters
    ----------
    values, weights
        One per pair, all weights above 0; equal by default.
    systems
        The two systems of each pair, see `over_systems.members`.

    Returns
    -------
    The quantile and the two ends; no ends (nan) with fewer than 6 pairs or systems.
    """
    heavy = np.ones(len(values)) if weights is None else weights
    found = float(weighted_quantile(values, heavy, share)[0])
    if min(len(values), len(np.unique(systems))) < MIN_SYSTEMS:
        return found, np.nan, np.nan
    low, _ = share_interval(values < found, systems, weights=weights)
    _, high = share_interval(values <= found, systems, weights=weights)
    low, high = (float(weighted_quantile(values, heavy, end)[0]) for end in (low, high))
    return found, low, high
