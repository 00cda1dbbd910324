"""Critical differences and thresholds at p = 0.05, and how they fall with the size of the test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, TEST, TEST_SET, Column, Table, count, points
from pairsig.io.tables import frame
from study.analysis.over_systems import (
    Codes,
    cells,
    exp,
    interval,
    jackknife,
    jackknifed,
    members,
    n_members,
    replicates,
)
from study.analysis.pairs import (
    MIN_PAIRS,
    MIN_SYSTEMS,
    PAPER_WINDOW,
    Z_05,
    Window,
    by_test_set,
    pvalues,
    quantile_interval,
    subsets,
    weighted_quantile,
)
from study.tables.columns import ENDS, N_PAIRS, SUBSET, numeric, optional_count, with_interval
from study.tables.columns import TASK as TASK_COLUMN

THRESHOLDS = Table(
    "thresholds",
    (
        replace(TASK_COLUMN, meaning="task of the dataset; empty for a pool"),
        DATASET,
        TEST_SET,
        METRIC,
        TEST,
        SUBSET,
        N_SEGMENTS,
        count("n_all", "pairs in the subset whose outputs differ", "pairs", "pairs"),
        count("n_systems", "systems in these pairs"),
        *with_interval("critical_difference", "gain at which a pair with the median standard error reaches p = 0.05: "
            "1.645 times that error", "two decimals", "points", over=" over systems"),
        numeric("p_low", "lower end of the window around 0.05", shown="bound"),
        numeric("p_high", "upper end of the window", shown="bound"),
        N_PAIRS,
        optional_count("n_pairs_low", "those among them whose p stays in the window within its Monte Carlo error",
            "pairs"),
        optional_count("n_pairs_high", "pairs whose p may be in the window, within its Monte Carlo error", "pairs"),
        *with_interval("threshold", "95th percentile of the gains at p = 0.05 of the pairs in the window",
            "two decimals", "points", over=" over systems", ends=ENDS),
        points("printed", "the threshold as the paper defines it: 95th percentile of the gains themselves in the "
            "window", missing=True),
        points("printed_low", "smallest value of `printed` by the usual definitions of a percentile and the Monte "
            "Carlo error of p", missing=True),
        points("printed_high", "largest value of `printed` by these", missing=True),
        Column("verdict", str, "whether there are enough pairs for an estimate",
            choices=("estimated", "critical difference only", "too few")),
    ),
    key=("dataset", "test_set", "metric", "test", "subset"),
    caption=(
        "Critical differences (1.645 standard errors of the median pair) and thresholds (95th percentile of this "
        "gain among pairs near p = 0.05), by test set and kind of pair, with intervals over systems. `printed` "
        "follows the paper's definition, the 95th percentile of the gains in the window, and has no interval"
    ),
)  # fmt: skip

SIZE_SCALING = Table(
    "size_scaling",
    (
        DATASET,
        METRIC,
        TEST,
        SUBSET,
        count("n_sizes", "test-set sizes that the exponent is fitted to"),
        count("n_low", "smallest of these sizes", "segments", "from"),
        count("n_high", "largest of these sizes", "segments", "to"),
        count("n_all", "pairs of systems, the same at all sizes", "pairs", "pairs"),
        count("n_systems", "systems in these pairs"),
        *with_interval("exponent", "exponent of the number of segments in the power law of the critical difference",
            "two decimals", over=" over systems", missing=False),
        numeric("coefficient", "critical difference for one segment, by the power law", "points"),
    ),
    key=("dataset", "metric", "test", "subset"),
    caption=(
        "Power laws of the critical difference by number of segments, fitted to initial segments with the same "
        "pairs at every size. With independent segments the exponent is −1/2; `claims` has those for random "
        "orders"
    ),
)  # fmt: skip


NEAR = 0.8
"""Pairs used for the threshold: gains of 1.645 ± 0.8 standard errors (p from 0.2 to 0.007)."""

WIDENED = 2.0
"""Factor on the upper half-width of the interval of a threshold. It is the smallest of 1, 1.5, 2 … with a coverage of
at least 95 % in every simulated world used for the choice; docs/coverage.md reports the coverage in other
worlds."""


def thresholds(
    comparisons: pd.DataFrame,
    *,
    tasks: Mapping[str, str] | None = None,
    window: Window = PAPER_WINDOW,
    percentile: float = 95.0,
) -> pd.DataFrame:
    """Estimate the critical difference of each test set, and the threshold above which gains are probably significant.

    A gain of 1.645 standard errors has a one-sided p of 0.05. For each pair of systems, this gain is 1.645 times the
    `standard_error`, whatever the observed gain is. The table contains three numbers:

    critical_difference
        The median of this gain over all pairs. It does not depend on a window of p-values.
    threshold
        The `percentile`-th percentile of this gain over pairs near p = 0.05. Each pair is weighted by
        1 − (|z − 1.645|/0.8)², where z is its observed gain in standard errors. This estimates the paper's threshold
        (section 3.1.1) from about six times as many pairs.
    printed
        The threshold as the paper defines it: the same percentile of the observed gains of pairs with a p-value in
        the window. With fewer than 20 pairs it is the largest gain. It has no interval, because no interval from
        these pairs alone can cover it; `printed_low` and `printed_high` are its range over the definitions of a
        percentile in Hyndman and Fan (1996) and over the pairs that the Monte Carlo error of p puts in the window.

    Intervals (95 %) are over *systems*, on the logarithmic scale: they show how much a number depends on which systems
    took part, on the given test set. The critical difference has the interval of a median (`pairs.quantile_interval`).
    The threshold has the interval of the percentile, extended to at least threshold − r and threshold + 2r, because a
    few pairs contain little information on the tail. Here r is the half-width of Student's interval of the mean plus
    1.645 standard deviations, by the delete-one-system jackknife. docs/coverage.md reports the coverage in
    simulations.

    Parameters
    ----------
    comparisons
        Comparisons of all pairs, on whole test sets and on those made from them.
    tasks
        Task of each dataset that is no pool.
    window
        The range of p-values for `printed`. The other two numbers do not depend on it, except that a threshold is only
        estimated if there are enough pairs in the window.

    Raises
    ------
    InputError
        If a pair is compared twice on a test set, for example because a table is passed twice.

    Returns
    -------
    Table `THRESHOLDS`, one row per test set and subset of pairs (see `subsets`). Pairs with a standard error of 0 are
    left out.
    """
    tasks = tasks or {}
    estimates = []
    for (dataset, test_set, metric, test), rows in by_test_set(comparisons):
        for subset, of_subset in subsets(rows):
            pairs = of_subset[of_subset["standard_error"] > 0]
            estimates.append({
                "task": tasks.get(dataset, ""), "dataset": dataset, "test_set": test_set, "metric": metric,
                "test": test, "subset": subset, "n_segments": int(rows["n_segments"].iloc[0]),
                **_critical_differences(pairs, window, percentile),
            })  # fmt: skip
    return frame(THRESHOLDS, estimates)


def _critical_differences(pairs: pd.DataFrame, window: Window, percentile: float) -> dict[str, object]:
    systems = members(pairs["system_a"], pairs["system_b"])
    n_systems, p = n_members(systems), pvalues(pairs)
    low, high = (pairs[f"pvalue_{end}"].to_numpy(float) for end in ("low", "high"))
    # In the window; there for certain, and perhaps, by the Monte Carlo error of p.
    inside = window.contains(p)
    certain, possible = (low >= window.p_low) & (high <= window.p_high), (high >= window.p_low) & (low <= window.p_high)
    n_pairs, n_certain, n_possible = (int(chosen.sum()) for chosen in (inside, certain, possible))
    row: dict[str, object] = {
        "n_all": len(pairs), "n_systems": n_systems, **window._asdict(), "n_pairs": n_pairs,
        "n_pairs_low": float(n_certain), "n_pairs_high": float(n_possible), "verdict": "too few",
    }  # fmt: skip
    if len(pairs) < MIN_PAIRS or n_systems < MIN_SYSTEMS:
        return row
    errors = pairs["standard_error"].to_numpy(float)
    row |= cells("critical_difference", exp(quantile_interval(np.log(Z_05 * errors), systems)))
    row["verdict"] = "critical difference only"
    if n_pairs < MIN_PAIRS:
        return row
    weights = near(pairs)
    chosen = weights > 0
    critical_differences, weights, systems = np.log(Z_05 * errors[chosen]), weights[chosen], systems[chosen]
    _, reach = interval(0.0, *jackknife(_mean_and_spread(critical_differences, replicates(systems, weights))[1:]))
    if n_members(systems) < MIN_SYSTEMS or not np.isfinite(reach):
        return row
    threshold, low_end, high_end = quantile_interval(critical_differences, systems, percentile / 100, weights)
    gains = pairs["gain"].to_numpy(float)
    return row | {
        "threshold": np.exp(threshold),
        "low": np.exp(min(low_end, threshold - reach)),
        "high": np.exp(max(high_end, threshold + WIDENED * reach)),
        **_printed([gains[chosen] for chosen in (inside, certain, possible) if chosen.any()], percentile),
        "verdict": "estimated",
    }


_DEFINITIONS: tuple[Any, ...] = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased",
)  # fmt: skip
"""The definitions of a percentile that Hyndman and Fan (1996) number 1 to 9, as numpy calls them."""


def _printed(gains: Sequence[NDArray[np.float64]], percentile: float) -> dict[str, float]:
    """The paper's threshold by the first definition of a percentile, and its range.

    Parameters
    ----------
    gains
        Gains of the pairs in the window, and, for the range, of those that are in it for certain or perhaps.
    """
    values: list[float] = []
    for of_set in gains:
        values += [float(np.percentile(of_set, percentile, method=definition)) for definition in _DEFINITIONS]
    return {"printed": values[0], "printed_low": min(values), "printed_high": max(values)}


def near(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Weights of pairs near p = 0.05: 1 − (|z − 1.645|/0.8)² or 0, where z is the gain in standard errors."""
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


def size_scaling(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Fit how the critical difference falls with the number of segments n: coefficient · n^exponent.

    For independent segments, theory predicts an exponent of −1/2. The fit is a least-squares regression of the
    logarithm of the critical difference (see `thresholds`) on log n, over initial segments and the whole test set, for
    the pairs that exist at all sizes. The interval (95 %) is over systems for the given test set, by the
    delete-one-system jackknife. An exponent other than −1/2 can thus be a property of the order of these segments; the
    table `claims` has exponents for random orders. docs/coverage.md reports the coverage of the interval in
    simulations.

    Parameters
    ----------
    comparisons
        See `thresholds`.

    Returns
    -------
    Table `SIZE_SCALING`, one row per dataset and subset with at least three sizes and 6 systems.
    """
    fits = []
    # Initial segments and whole test sets; for equal sizes, initial segments come first.
    nested = comparisons[comparisons["derived"].isin(["initial", "whole"])].sort_values("derived", kind="stable")
    for (dataset, metric, test), rows in nested.groupby(["dataset", "metric", "test"], sort=False):
        for subset, of_subset in subsets(rows) if (rows["derived"] == "initial").any() else ():
            fit = _fit(of_subset)
            if fit:
                fits.append({"dataset": dataset, "metric": metric, "test": test, "subset": subset, **fit})
    return frame(SIZE_SCALING, fits)


def _same_pairs(rows: pd.DataFrame) -> tuple[pd.DataFrame, Codes]:
    """Standard errors (pairs × sizes) of the pairs with a positive one at every size, and their systems."""
    names = np.sort(rows[["system_a", "system_b"]].to_numpy(dtype=str), axis=1)
    sized = rows[["dataset", "n_segments", "standard_error"]].assign(first=names[:, 0], second=names[:, 1])
    wide = sized.pivot_table(
        index=["dataset", "first", "second"], columns="n_segments", values="standard_error", aggfunc="first"
    )
    errors = wide[(wide > 0).all(axis=1)]
    return errors, members(errors.index.get_level_values("first"), errors.index.get_level_values("second"))


def _fit(rows: pd.DataFrame) -> dict[str, Any] | None:
    if rows.empty:
        return None
    errors, systems = _same_pairs(rows)
    sizes, n_systems = errors.columns.to_numpy(float), n_members(systems)
    if len(sizes) < 3 or n_systems < MIN_SYSTEMS:
        return None
    weights = replicates(systems)
    critical_differences = np.log(Z_05 * errors.to_numpy())
    # sizes × replicates
    medians = np.stack([weighted_quantile(column, weights, 0.5) for column in critical_differences.T])
    x = np.log(sizes) - np.log(sizes).mean()
    slopes = x @ medians / (x @ x)
    exponent = jackknifed(slopes)
    if not np.isfinite(exponent[1]):
        return None
    return {
        "n_sizes": len(sizes),
        "n_low": int(sizes[0]),
        "n_high": int(sizes[-1]),
        "n_all": len(errors),
        "n_systems": n_systems,
        **cells("exponent", exponent),
        "coefficient": np.exp(medians[:, 0].mean() - slopes[0] * np.log(sizes).mean()),
    }
