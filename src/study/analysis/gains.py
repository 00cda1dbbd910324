"""The gain that is probably significant, and how it falls with the size of the test set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.errors import InputError
from study.analysis.pairs import by_test_set, drawn_systems, subsets, weighted_percentile

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
    systems happened to take part; it is conditional on the test set. With few pairs it ends too low: in simulations it
    held the 95th percentile among all systems 90 times of 100 with some 90 pairs in the window, but only 54 times with
    23, among which there is often no gain beyond that percentile.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    tasks
        Task of each dataset. Initial segments of one size (`first-…`) of all datasets of a task are also taken
        together, as dataset `task=…`; whole test sets are not, since they differ in size and so in threshold.
        Datasets without a task (pools of other datasets) stay out of that.
    min_pairs
        With fewer pairs in the window there is no threshold but the verdict `too few`.
    n_resamples, seed
        Of the bootstrap over systems.

    Raises
    ------
    InputError
        If a pair is compared twice on a test set, as when a table is given twice.

    Returns
    -------
    One row a test set and subset of pairs (see `subsets`): `task, dataset, test_set, metric, test, subset, n_segments,
    n_all` pairs, of which `n_pairs` are in the window, `threshold, low, high, median` (of the window), `verdict`.
    """
    if not 0 <= p_low <= p_high <= 1:
        raise InputError(f"the window of p-values is {p_low} to {p_high}, expected two numbers from 0 to 1, in order")
    if not 0 < percentile <= 100:
        raise InputError(f"the percentile is {percentile}, expected more than 0 and at most 100")
    if min_pairs < 1:
        raise InputError(f"the least number of pairs is {min_pairs}, expected at least 1")
    tasks = tasks or {}
    frames = [(tasks.get(key[0], ""), *key, rows) for key, rows in by_test_set(comparisons)]
    initial = comparisons[comparisons["test_set"].str.startswith("first-")]
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
                "threshold": np.nan,
                "low": np.nan,
                "high": np.nan,
                "median": np.nan,
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
    return pd.DataFrame(found)


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

    Least squares on the logarithms over the sizes `first-…` (and the whole test set, for a dataset that has these)
    whose threshold could be estimated, each weighted by the number of pairs behind it. The interval of the exponent is
    Student's, and approximate: the test sets are nested and the pairs are the same, so the thresholds are not
    independent (on simulated systems it held −1/2 in 19 of 24 runs).

    Returns
    -------
    One row a dataset and subset with at least `min_sizes` sizes (and 3, below which there is no interval): `dataset,
    metric, test, subset, n_sizes, exponent, exponent_low, exponent_high, coefficient`.
    """
    from scipy.special import stdtrit

    initial = thresholds["test_set"].str.startswith("first-")
    series = thresholds["dataset"].isin(thresholds.loc[initial, "dataset"])
    estimated = thresholds[
        (initial | (series & (thresholds["test_set"] == "whole")))
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
    columns = "dataset metric test subset n_sizes exponent exponent_low exponent_high coefficient"
    return pd.DataFrame(found, columns=columns.split())


AROUND = (0.01, 0.2)
"""P-values from which the gain at p = 0.05 is told: near enough for the normal law, wide enough to hold many pairs."""


def validation(
    comparisons: pd.DataFrame, overlays: Mapping[str, str], *, n_resamples: int = 2000, seed: int = 2012
) -> pd.DataFrame:
    """Whether synthetic comparisons tell what natural ones do (the paper lays one over the other, section 3.2).

    Compared is the height of the two gain-confidence curves where they are used: the gain at p = 0.05. A pair with
    gain δ and p-value p has a standard error of about δ / Φ⁻¹(1 − p), so it would have had p = 0.05 at
    δ·Φ⁻¹(0.95) / Φ⁻¹(1 − p). The gain at p = 0.05 is the median of that over the pairs with p in `AROUND`, its
    interval (95 %) by a bootstrap over systems.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    overlays
        For a synthetic dataset the natural one it is held against, on the test sets that both have in the same size.
    n_resamples, seed
        Of the bootstrap over systems.

    Returns
    -------
    One row a synthetic dataset, test set and subset of pairs: `dataset, overlay, test_set, metric, test, subset,
    n_segments, n_synthetic` and `n_natural` pairs, `synthetic, synthetic_low, synthetic_high, natural, natural_low,
    natural_high` (gains at p = 0.05), `ratio, ratio_low, ratio_high` of synthetic to natural, and the verdict: `agrees`
    if the interval of the ratio holds 1, else `differs`; `too few` where one side has fewer than 10 pairs.
    """
    keyed = dict(by_test_set(comparisons))
    found = []
    for (dataset, test_set, metric, test), rows in keyed.items():
        others = [key for key in keyed if key[0] == overlays.get(dataset) and key[1] == test_set and key[3] == test]
        for key in others:
            n_segments = int(rows["n_segments"].iloc[0])
            if n_segments != int(keyed[key]["n_segments"].iloc[0]):
                continue
            natural = {name: pairs for name, pairs in subsets(keyed[key]) if " / " not in name}
            for subset, pairs in subsets(rows):
                if subset not in natural:
                    continue
                ours = _gain_at_05(rows, pairs, n_resamples, seed)
                theirs = _gain_at_05(keyed[key], natural[subset], n_resamples, seed + 1)
                found.append(
                    {
                        "dataset": dataset,
                        "overlay": key[0],
                        "test_set": test_set,
                        "metric": metric,
                        "test": test,
                        "subset": subset,
                        "n_segments": n_segments,
                        **_confronted(ours, theirs),
                    }
                )
    columns = "dataset overlay test_set metric test subset n_segments n_synthetic n_natural synthetic synthetic_low "
    columns += "synthetic_high natural natural_low natural_high ratio ratio_low ratio_high verdict"
    return pd.DataFrame(found, columns=columns.split())


def _gain_at_05(
    rows: pd.DataFrame, pairs: pd.DataFrame, n_resamples: int, seed: int
) -> tuple[int, float, NDArray[np.float64]]:
    """Number of pairs, their median gain at p = 0.05, and the same for each bootstrap over systems."""
    from scipy.special import ndtri

    window = pairs[pairs["p_value"].between(*AROUND)]
    gains = window["gain"].to_numpy() * ndtri(0.95) / -ndtri(window["p_value"].to_numpy())
    order = np.argsort(gains, kind="stable")
    if not len(order):
        return 0, np.nan, np.array([])
    weights = drawn_systems(rows, window.iloc[order], n_resamples, seed)
    return len(order), float(np.median(gains)), weighted_percentile(gains[order], weights, 50)


def _confronted(
    ours: tuple[int, float, NDArray[np.float64]], theirs: tuple[int, float, NDArray[np.float64]]
) -> dict[str, object]:
    row: dict[str, object] = {"n_synthetic": ours[0], "n_natural": theirs[0]}
    if min(ours[0], theirs[0]) < 10:
        return row | {"verdict": "too few"}
    for name, (_, value, drawn) in (("synthetic", ours), ("natural", theirs)):
        low, high = np.percentile(drawn, [2.5, 97.5])
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    n = min(len(ours[2]), len(theirs[2]))
    low, high = np.percentile(ours[2][:n] / theirs[2][:n], [2.5, 97.5])
    verdict = "agrees" if low <= 1 <= high else "differs"
    return row | {"ratio": ours[1] / theirs[1], "ratio_low": low, "ratio_high": high, "verdict": verdict}
