"""The gain that systems need for p = 0.05, and how it falls with the size of the test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.errors import InputError
from pairsig.tables import frame
from study.analysis.over_systems import Codes, interval, jackknife, members, replicates
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, by_test_set, quantile_interval, subsets, weighted_quantile
from study.columns import SIZE_LAW, THRESHOLDS
from study.training_sets import SYNTHETIC

TASK = "task"
"""Stands for all natural datasets of a task in the `dataset` column: `task=mt`."""

Z_05 = 1.6448536269514722
"""Standard errors that a gain is for a one-sided p of 0.05, by the normal law."""

NEAR = 0.8
"""Pairs that count for the threshold: gains of 1.645 ± 0.8 standard errors (p from 0.2 to 0.007)."""

WIDENED = 2.0
"""Factor on the upper reach of a threshold: of 1, 1.5, 2 … the least with a coverage of at least 95 % in every world it
was chosen on. Its coverage in other worlds is reported in docs/coverage.md."""


def thresholds(
    comparisons: pd.DataFrame,
    *,
    tasks: Mapping[str, str] | None = None,
    p_low: float = 0.04,
    p_high: float = 0.06,
    percentile: float = 95.0,
    min_pairs: int = MIN_PAIRS,
) -> pd.DataFrame:
    """The gain that two systems need for p = 0.05, and the one above which they will probably have it.

    A gain of 1.645 standard errors has a one-sided p of 0.05, so the *need* of a pair is 1.645 times the
    `standard_error` of its gain, whatever that gain is. Three numbers are made of the needs:

    need
        That of the median pair, over all pairs. Half of the pairs need more. It depends on no window of p-values.
    threshold
        The `percentile`-th percentile of the needs of pairs near p = 0.05, each weighted by 1 − (|z − 1.645|/0.8)², z
        the gain in standard errors: what the paper's threshold (section 3.1.1) aims at, estimated from about six times
        as many pairs.
    printed
        The paper's own: that percentile of the gains of the pairs with a p-value in [p_low, p_high], for comparison
        with the paper. With fewer than 20 pairs it is the largest gain, and the smallest of too many: no interval from
        these pairs can hold it, so it has none.

    Intervals (95 %) are over *systems*, on the scale of logarithms: they say how far a number depends on which systems
    took part, on this test set. That of the need is the interval of a median, `pairs.quantile_interval`. That of the
    threshold is the one of the percentile, extended to at least threshold − r and threshold + 2r, since so few pairs
    say little of the tail beyond them: r is the reach of Student's interval of the mean plus 1.645 standard deviations,
    by the delete-one-system jackknife. The printed one has none. How often the intervals cover in simulations, and
    which of these the factor 2 was chosen on, stands in docs/coverage.md.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    tasks
        Task of each dataset. The natural pairs of all datasets of a task are also taken together, as dataset `task=…`,
        on initial segments of the sizes that all of these datasets have: the same pairs at every size. Datasets without
        a task (pools of other datasets) take no part in this.
    min_pairs
        With fewer pairs in the window there is no threshold, with fewer at all, or fewer than 6 systems, no need.

    Raises
    ------
    InputError
        If a pair is compared twice on a test set, as when a table is given twice.

    Returns
    -------
    Table `THRESHOLDS`, one row a test set and subset of pairs (see `subsets`). Pairs without any difference (a standard
    error of 0) need nothing and are left out.
    """
    if not 0 <= p_low <= p_high <= 1:
        raise InputError(f"the window of p-values is {p_low} to {p_high}, expected two numbers from 0 to 1, in order")
    if not 0 < percentile <= 100:
        raise InputError(f"the percentile is {percentile}, expected more than 0 and at most 100")
    if min_pairs < 1:
        raise InputError(f"the least number of pairs is {min_pairs}, expected at least 1")
    tasks = tasks or {}
    frames = [(tasks.get(key[0], ""), *key, rows) for key, rows in by_test_set(comparisons)]
    for (task, metric, test), rows in _tasks(comparisons, tasks):
        frames += [
            (task, f"{TASK}={task}", test_set, metric, test, own)
            for test_set, own in rows.groupby("test_set", sort=False)
        ]
    found = []
    for name, dataset, test_set, metric, test, rows in frames:
        for subset, own in subsets(rows):
            pairs = own[own["standard_error"] > 0]
            window = pairs[pairs["p_value"].between(p_low, p_high)]
            found.append(
                {
                    "task": name,
                    "dataset": dataset,
                    "test_set": test_set,
                    "metric": metric,
                    "test": test,
                    "subset": subset,
                    "n_segments": int(rows["n_segments"].iloc[0]),
                    **_needs(pairs, window, percentile, min_pairs),
                }
            )
    return frame(THRESHOLDS, found)


def _needs(pairs: pd.DataFrame, window: pd.DataFrame, percentile: float, min_pairs: int) -> dict[str, object]:
    systems = members(pairs["system_a"], pairs["system_b"])
    n_systems = len(np.unique(systems))
    row: dict[str, object] = {"n_all": len(pairs), "n_systems": n_systems, "n_pairs": len(window), "verdict": "too few"}
    if len(pairs) < min_pairs or n_systems < MIN_SYSTEMS:
        return row
    needs = np.log(Z_05 * pairs["standard_error"].to_numpy(float))
    ends = np.exp(quantile_interval(needs, systems))
    row |= dict(zip(("need", "need_low", "need_high"), ends, strict=True)) | {"verdict": "need only"}
    if len(window) < min_pairs:
        return row
    weights = near(pairs)
    inside = weights > 0
    needs, weights, systems = needs[inside], weights[inside], systems[inside]
    _, reach = interval(0.0, *jackknife(_mean_and_spread(needs, replicates(systems, weights))[1:]))
    if len(np.unique(systems)) < MIN_SYSTEMS or not np.isfinite(reach):
        return row
    threshold, low, high = quantile_interval(needs, systems, percentile / 100, weights)
    return row | {
        "threshold": np.exp(threshold),
        "low": np.exp(min(low, threshold - reach)),
        "high": np.exp(max(high, threshold + WIDENED * reach)),
        "printed": float(np.percentile(window["gain"], percentile, method="inverted_cdf")),
        "verdict": "estimated",
    }


def near(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """How much pairs count that are near p = 0.05: 1 − (|z − 1.645|/0.8)², z the gain in standard errors, or 0."""
    distance = (pairs["gain"] / pairs["standard_error"] - Z_05) / NEAR
    weights: NDArray[np.float64] = np.clip(1 - distance.to_numpy(float) ** 2, 0, None)
    return weights


def _mean_and_spread(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.where(weights.any(axis=1), weights.sum(axis=1), np.nan)
    mean = weights @ values / total
    centred = values - mean[0]
    variance = weights @ centred**2 / total - (weights @ centred / total) ** 2
    high: NDArray[np.float64] = mean + Z_05 * np.sqrt(np.clip(variance, 0, None))
    return high


def _tasks(comparisons: pd.DataFrame, tasks: Mapping[str, str]) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Natural pairs of each task, on initial segments of the sizes that all its datasets have."""
    initial = comparisons[
        (comparisons["derived"] == "initial")
        & (comparisons["kind_a"].fillna("") != SYNTHETIC)
        & (comparisons["kind_b"].fillna("") != SYNTHETIC)
    ]
    task = initial["dataset"].map(lambda dataset: tasks.get(dataset, ""))
    for (name, metric, test), rows in initial.groupby([task, "metric", "test"], sort=False):
        sizes = rows.groupby("test_set")["dataset"].nunique()
        shared = sizes.index[sizes == rows["dataset"].nunique()]
        if name and len(shared):
            yield (str(name), str(metric), str(test)), rows[rows["test_set"].isin(shared)]


def size_law(comparisons: pd.DataFrame, *, tasks: Mapping[str, str] | None = None, min_sizes: int = 3) -> pd.DataFrame:
    """The law need = coefficient · n^exponent over nested initial segments; for independent segments −1/2 is expected.

    Least squares of the logarithm of the median pair's need (see `thresholds`) on that of n, over the initial segments
    and the whole test set, for the pairs that are there at all sizes. The interval (95 %) is over systems, by the
    delete-one-system jackknife: the test set is given. So an exponent off −1/2 is one of these segments in this order;
    whether another order of the same segments would have it too is another question (table `claims`).

    How often the interval covers the exponent among infinitely many systems on the same segments stands in
    docs/coverage.md.

    Parameters
    ----------
    comparisons, tasks
        See `thresholds`; `task=…` has the natural pairs of all datasets of a task, at the sizes that all of these have.

    Returns
    -------
    Table `SIZE_LAW`, one row a dataset and subset with at least `min_sizes` sizes (and 3) and 6 systems.
    """
    tasks = tasks or {}
    series = [((dataset, metric, test), rows) for (dataset, metric, test), rows in _series(comparisons)]
    series += [((f"{TASK}={task}", metric, test), rows) for (task, metric, test), rows in _tasks(comparisons, tasks)]
    found = []
    for (dataset, metric, test), rows in series:
        for subset, own in subsets(rows):
            law = _law(own, max(min_sizes, 3))
            if law:
                found.append({"dataset": dataset, "metric": metric, "test": test, "subset": subset, **law})
    return frame(SIZE_LAW, found)


def nested(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Those on initial segments and on whole test sets; the initial ones first, which count where sizes are equal."""
    return comparisons[comparisons["derived"].isin(["initial", "whole"])].sort_values("derived", kind="stable")


def _series(comparisons: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    for key, rows in nested(comparisons).groupby(["dataset", "metric", "test"], sort=False):
        if (rows["derived"] == "initial").any():
            yield (str(key[0]), str(key[1]), str(key[2])), rows


def same_pairs(rows: pd.DataFrame) -> tuple[pd.DataFrame, Codes]:
    """Standard errors (pairs × sizes) of the pairs that have one above 0 at every size, and their systems."""
    names = np.sort(rows[["system_a", "system_b"]].to_numpy(dtype=str), axis=1)
    told = pd.DataFrame(
        {
            "dataset": rows["dataset"].to_numpy(),
            "first": names[:, 0],
            "second": names[:, 1],
            "n_segments": rows["n_segments"].to_numpy(),
            "standard_error": rows["standard_error"].to_numpy(float),
        }
    )
    wide = told.pivot_table(
        index=["dataset", "first", "second"], columns="n_segments", values="standard_error", aggfunc="first"
    )
    kept = wide[(wide > 0).all(axis=1)]
    return kept, members(kept.index.get_level_values("first"), kept.index.get_level_values("second"))


def _law(rows: pd.DataFrame, min_sizes: int) -> dict[str, Any] | None:
    if rows.empty:
        return None
    errors, systems = same_pairs(rows)
    sizes = errors.columns.to_numpy(float)
    if len(sizes) < min_sizes or errors.empty:
        return None
    n_systems = len(np.unique(systems))
    if n_systems < MIN_SYSTEMS:
        return None
    weights = replicates(systems)
    needs = np.log(Z_05 * errors.to_numpy())
    medians = np.stack([weighted_quantile(column, weights, 0.5) for column in needs.T])  # sizes × replicates
    x = np.log(sizes) - np.log(sizes).mean()
    slopes = x @ medians / (x @ x)
    low, high = interval(slopes[0], *jackknife(slopes[1:]))
    if not np.isfinite(low):
        return None
    return {
        "n_sizes": len(sizes),
        "n_low": int(sizes[0]),
        "n_high": int(sizes[-1]),
        "n_all": len(errors),
        "n_systems": n_systems,
        "exponent": slopes[0],
        "exponent_low": low,
        "exponent_high": high,
        "coefficient": np.exp(medians[:, 0].mean() - slopes[0] * np.log(sizes).mean()),
    }
