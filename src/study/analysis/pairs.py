"""Tables of comparisons, split by test set and by kind of pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import definitions
from pairsig.errors import InputError


def subsets(comparisons: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All pairs; those of one group and of different groups; those of each two kinds, where there are kinds."""
    yield "all", comparisons
    for name, same in (("same group", True), ("different group", False)):
        yield name, comparisons[comparisons["same_group"] == same]
    kinds = np.sort(comparisons[["kind_a", "kind_b"]].fillna("").to_numpy(dtype=str), axis=1)
    label = np.array([" / ".join(pair) for pair in kinds], dtype=str)
    named = np.unique(label[(kinds != "").all(axis=1)])
    for name in named if len(named) > 1 else ():
        yield str(name), comparisons[label == name]


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


def drawn_systems(rows: pd.DataFrame, window: pd.DataFrame, n_resamples: int, seed: int) -> NDArray[np.float64]:
    """How often each pair of `window` occurs when the systems of `rows` are drawn with replacement.

    A pair counts as often as both its systems were drawn. Pairs share systems, so drawing pairs would make intervals
    too narrow.

    Returns
    -------
    Shape (resamples with any pair, pairs).
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    weights = np.zeros((n_resamples, len(window)))
    for dataset, pairs in rows.groupby("dataset", sort=True):
        systems = np.unique(pairs[["system_a", "system_b"]].to_numpy(dtype=str))
        times = generator.multinomial(len(systems), np.full(len(systems), 1 / len(systems)), size=n_resamples)
        inside = np.flatnonzero((window["dataset"] == dataset).to_numpy())
        a, b = (np.searchsorted(systems, window[side].to_numpy(dtype=str)[inside]) for side in ("system_a", "system_b"))
        weights[:, inside] = times[:, a] * times[:, b]
    return weights[weights.any(axis=1)]


def weighted_percentile(
    values: NDArray[np.float64], weights: NDArray[np.float64], percentile: float
) -> NDArray[np.float64]:
    """For each row of weights the smallest value that is at least as large as that share of all (values ascending)."""
    cumulative = weights.cumsum(axis=1)
    position: NDArray[np.intp] = (cumulative < percentile / 100 * cumulative[:, -1:]).sum(axis=1)
    return np.take(values, position)
