"""The gain that is probably significant, and how it falls with the size of the test set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from pairsig.errors import InputError
from pairsig.tables import frame
from study.analysis.pairs import by_test_set, drawn_systems, subsets, weighted_percentile
from study.columns import SIZE_LAW, THRESHOLDS
from study.test_sets import is_initial, is_whole

TASK = "task"
"""Stands for all datasets of a task in the `dataset` column of `thresholds`: `task=mt`."""


def thresholds(
    comparisons: pd.DataFrame,
    *,
    tasks: Mapping[str, str] | None = None,
    p_low: float = 0.04,
    p_high: float = 0.06,
    percentile: float = 95.0,
    min_pairs: int = 10,
    n_resamples: int = 2000,
    seed: int = 2012,
) -> pd.DataFrame:
    """The gain above which a comparison will probably be significant (the paper's section 3.1.1).

    The `percentile`-th percentile of the gains of the pairs whose p-value lies in [p_low, p_high]: the smallest of
    these gains that is at least as large as that share of them (the inverse of the empirical distribution).

    Its interval (95 %) is by a bootstrap over *systems*: a pair counts as often as both its systems were drawn. Pairs
    share systems, so drawing pairs would make the interval too narrow. It says how far the threshold depends on which
    systems happened to take part; it is conditional on the test set. With few pairs its upper end is too low: in
    simulations it covered the 95th percentile among all systems in 90 of 100 runs with some 90 pairs in the window, but
    in only 54 with 23, among which there is often no gain beyond that percentile.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    tasks
        Task of each dataset. Initial segments of one size of all datasets of a task are also pooled, as dataset
        `task=…`; whole test sets are not, since they differ in size and so in threshold. Datasets without a task
        (pools of other datasets) take no part in this.
    min_pairs
        With fewer pairs in the window no threshold is estimated, and the verdict is `too few`.
    n_resamples, seed
        Of the bootstrap over systems.

    Raises
    ------
    InputError
        If a pair is compared twice on a test set, as when a table is given twice.

    Returns
    -------
    Table `THRESHOLDS`, one row a test set and subset of pairs (see `subsets`).
    """
    if not 0 <= p_low <= p_high <= 1:
        raise InputError(f"the window of p-values is {p_low} to {p_high}, expected two numbers from 0 to 1, in order")
    if not 0 < percentile <= 100:
        raise InputError(f"the percentile is {percentile}, expected more than 0 and at most 100")
    if min_pairs < 1:
        raise InputError(f"the least number of pairs is {min_pairs}, expected at least 1")
    tasks = tasks or {}
    frames = [(tasks.get(key[0], ""), *key, rows) for key, rows in by_test_set(comparisons)]
    initial = comparisons[comparisons["derived"] == "initial"]
    task = initial["dataset"].map(lambda dataset: tasks.get(dataset, ""))
    for (name, test_set, metric, test), rows in initial.groupby([task, "test_set", "metric", "test"], sort=False):
        if name:
            frames.append((name, f"{TASK}={name}", test_set, metric, test, rows))
    found = []
    for name, dataset, test_set, metric, test, rows in frames:
        for subset, pairs in subsets(rows):
            window = pairs[pairs["p_value"].between(p_low, p_high)]
            row: dict[str, object] = {
                "task": name,
                "dataset": dataset,
                "test_set": test_set,
                "metric": metric,
                "test": test,
                "subset": subset,
                "n_segments": int(rows["n_segments"].iloc[0]),
                "n_all": len(pairs),
                "n_pairs": len(window),
                "verdict": "too few",
            }
            if len(window) >= min_pairs:
                gains = window["gain"].to_numpy()
                low, high = _interval(rows, window, percentile, n_resamples, seed)
                row |= {
                    "threshold": float(np.percentile(gains, percentile, method="inverted_cdf")),
                    "low": low,
                    "high": high,
                    "median": float(np.median(gains)),
                    "verdict": "estimated",
                }
            found.append(row)
    return frame(THRESHOLDS, found)


def _interval(
    rows: pd.DataFrame, window: pd.DataFrame, percentile: float, n_resamples: int, seed: int
) -> tuple[float, float]:
    window = window.sort_values(["gain", "dataset", "system_a", "system_b"])
    weights = drawn_systems(rows, window, n_resamples, seed)
    drawn = weighted_percentile(window["gain"].to_numpy(), weights, percentile)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def size_law(thresholds: pd.DataFrame, *, min_sizes: int = 3) -> pd.DataFrame:
    """The law threshold = coefficient · n^exponent over nested initial segments; the central limit theorem says −1/2.

    Least squares on the logarithms over the initial segments (and the whole test set, for a dataset that has these)
    whose threshold could be estimated, each weighted by the number of pairs behind it. The interval of the exponent is
    Student's, and approximate: the test sets are nested and the pairs are the same, so the thresholds are not
    independent (on simulated systems it covered −1/2 in 19 of 24 runs).

    Returns
    -------
    Table `SIZE_LAW`, one row a dataset and subset with at least `min_sizes` sizes (and 3, below which there is no
    interval).
    """
    from scipy.special import stdtrit

    initial = is_initial(thresholds)
    series = thresholds["dataset"].isin(thresholds.loc[initial, "dataset"])
    estimated = thresholds[
        (initial | (series & is_whole(thresholds)))
        & (thresholds["verdict"] == "estimated")
        & (thresholds["threshold"] > 0)
    ]
    found = []
    for key, rows in estimated.groupby(["dataset", "metric", "test", "subset"], sort=False):
        if len(rows) < max(min_sizes, 3):
            continue
        x, y = np.log(rows["n_segments"].to_numpy(float)), np.log(rows["threshold"].to_numpy())
        w = rows["n_pairs"].to_numpy(float)
        w /= w.sum()
        centre = w @ x
        spread = w @ (x - centre) ** 2
        exponent = (w @ ((x - centre) * y)) / spread
        intercept = w @ y - exponent * centre
        residual = y - intercept - exponent * x
        error = np.sqrt((w @ residual**2) / spread / (len(rows) - 2))
        margin = stdtrit(len(rows) - 2, 0.975) * error
        found.append(
            dict(zip(("dataset", "metric", "test", "subset"), key, strict=True))
            | {
                "n_sizes": len(rows),
                "exponent": exponent,
                "exponent_low": exponent - margin,
                "exponent_high": exponent + margin,
                "coefficient": np.exp(intercept),
            }
        )
    return frame(SIZE_LAW, found)
