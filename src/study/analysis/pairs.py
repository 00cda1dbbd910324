"""Split tables of comparisons by test set and by kind of pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.io.errors import InputError
from study.analysis import over_systems
from study.analysis.over_systems import Codes, Floats, n_members
from study.training.training_sets import FULL_SETS, of_full_sets


class Window(NamedTuple):
    """A range of p-values near 0.05 in which pairs are looked for, both ends included; by default the paper's."""

    p_low: float = 0.04
    p_high: float = 0.06

    def contains(self, p: ArrayLike) -> NDArray[np.bool_]:
        """Whether p-values lie in the window."""
        return (np.asarray(p) >= self.p_low) & (np.asarray(p) <= self.p_high)

    def __str__(self) -> str:
        """The window in words."""
        return f"p from {self.p_low} to {self.p_high}"


PAPER_WINDOW = Window()
"""The window of the paper."""

Z_05 = 1.6448536269514722
"""A gain of this many standard errors has a one-sided p of 0.05, by the normal distribution."""

MIN_PAIRS = 10
MIN_SYSTEMS = 6
"""Minimal numbers of pairs, and of systems in them; with fewer, the verdict is `too few`."""


COMBINATION = "combination"
"""Kind of systems that combine the translations of others; they correlate more than single systems do."""
SINGLE = "single systems"
"""Prefix of the subsets of pairs of two systems that combine no others."""
COMBINATIONS = f"{COMBINATION} / {COMBINATION}"
MIXED = "single system and combination"
"""Names of the subsets of pairs with two system combinations, and with one."""


def enough(systems: Codes) -> bool:
    """Whether there are enough pairs, of enough systems; see `over_systems.members`."""
    return len(systems) >= MIN_PAIRS and n_members(systems) >= MIN_SYSTEMS


def subsets(comparisons: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield subsets of pairs: all; same group and different groups; and each combination of two kinds.

    If some systems combine others, pairs of two single systems follow by group, and then those of a single system and a
    combination. If retrained systems have training sets of several sizes, the first three follow again for full sets
    only.
    """
    yield "all", comparisons
    yield from _by_group(comparisons)
    combined = combinations_in(comparisons)
    if (combined > 0).any():
        for name, pairs in _by_group(comparisons[combined == 0]):
            yield f"{SINGLE}, {name}", pairs
        yield MIXED, comparisons[combined == 1]
    full = of_full_sets(comparisons)
    if full.any() and not full.all():
        yield FULL_SETS, comparisons[full]
        for name, pairs in _by_group(comparisons[full]):
            yield f"{FULL_SETS}, {name}", pairs
    kinds = comparisons[["kind_a", "kind_b"]].fillna("").to_numpy(dtype=object)
    numbers, names = pd.factorize(kinds.ravel(), sort=True)
    first, second = np.sort(numbers.reshape(-1, 2), axis=1).T
    label = first * len(names) + second
    kinds_of_pairs = {
        f"{names[number // len(names)]} / {names[number % len(names)]}": number
        for number in np.unique(label[names[first] != ""])
    }
    for name, number in sorted(kinds_of_pairs.items()) if len(kinds_of_pairs) > 1 else ():
        yield name, comparisons[label == number]


def combinations_in(comparisons: pd.DataFrame) -> NDArray[np.intp]:
    """Number of system combinations in each pair."""
    kinds = comparisons[["kind_a", "kind_b"]].to_numpy(dtype=object)
    return np.asarray((kinds == COMBINATION).sum(axis=1), dtype=np.intp)


def _by_group(comparisons: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, same in (("same group", True), ("different group", False)):
        yield name, comparisons[comparisons["same_group"] == same]


def by_test_set(comparisons: pd.DataFrame) -> Sequence[tuple[tuple[str, ...], pd.DataFrame]]:
    """Group comparisons by dataset, test set, metric and test, and check that no pair is repeated."""
    keys = ["dataset", "test_set", "metric", "test"]
    if comparisons.empty:
        raise InputError("found no comparisons, expected at least one")
    twice = comparisons.duplicated([*keys, "system_a", "system_b"])
    if twice.any():
        row = comparisons[twice].iloc[0]
        raise InputError(
            f"dataset {row['dataset']}, test set {row['test_set']}: found {row['system_a']} and {row['system_b']} "
            f"again by {row['metric']} and {row['test']}, expected them once"
        )
    return [(tuple(map(str, key)), rows) for key, rows in comparisons.groupby(keys, sort=False)]


def pvalues(comparisons: pd.DataFrame) -> Floats:
    """P-values of comparisons: one-sided in the direction of the better system, as in the paper."""
    p: Floats = comparisons["pvalue_one_sided"].to_numpy(float)
    return p


def weighted_quantile(values: NDArray[np.float64], weights: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Weighted quantile of values for each row of weights, with linear interpolation.

    For n equal weights, the i-th smallest value is the (i − 1/2)/n quantile (Hazen), and the first and last values are
    the limits.

    Parameters
    ----------
    values
        Shape (pairs,).
    weights
        Shape (rows, pairs), not negative; the result for a row of zeros is nan.
    """
    order = np.argsort(values, kind="stable")
    ordered, heavy = values[order], np.atleast_2d(weights)[:, order]
    quantiles = np.full(len(heavy), np.nan)
    for row, weights_of_row in enumerate(heavy):
        has_weight = weights_of_row > 0
        if not has_weight.any():
            continue
        ascending, reached = ordered[has_weight], weights_of_row[has_weight].cumsum()
        middle, target = reached - weights_of_row[has_weight] / 2, share * reached[-1]
        # The first value whose middle is not before the target, or else the last value.
        after = min(int(np.searchsorted(middle, target)), len(middle) - 1)
        quantiles[row] = ascending[after]
        if after and middle[after] > target:
            step = (target - middle[after - 1]) / (middle[after] - middle[after - 1])
            quantiles[row] = ascending[after - 1] + step * (ascending[after] - ascending[after - 1])
    return quantiles


def quantile_interval(
    values: NDArray[np.float64], systems: Codes, share: float = 0.5, weights: NDArray[np.float64] | None = None
) -> tuple[float, float, float]:
    """Quantile over pairs with its 95 % interval over systems, by inverting the interval of a share (Woodruff 1952).

    Let F(q) be the share of pairs whose value is at most q, with the interval [a, b] by `over_systems.share`. The
    interval of q then goes from the quantile a to the quantile b; for a, values equal to q count as above it. The
    density at q may be 0, for example if the median lies between two kinds of pairs. docs/coverage.md reports the
    coverage.

    Parameters
    ----------
    values, weights
        One per pair, all weights above 0; equal by default.
    systems
        The two systems of each pair, see `over_systems.members`.

    Returns
    -------
    The quantile and the two ends, which are nan with fewer than 6 pairs or systems.
    """
    heavy = np.ones(len(values)) if weights is None else weights
    quantile = float(weighted_quantile(values, heavy, share)[0])
    if min(len(values), n_members(systems)) < MIN_SYSTEMS:
        return quantile, np.nan, np.nan
    _, low, _ = over_systems.share(values < quantile, systems, weights=weights)
    _, _, high = over_systems.share(values <= quantile, systems, weights=weights)
    low, high = (float(weighted_quantile(values, heavy, end)[0]) for end in (low, high))
    return quantile, low, high
