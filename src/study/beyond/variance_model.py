"""The variance model, which predicts how many segments a gain requires before there is a test set.

S² = n · (standard error)², in points², is the variance of the difference between two systems on one segment. The model
predicts it from the metric, the score and correlation of the systems, and the length of segments;
`pairsig.planning.sample_size` uses it. All fits and errors refer to log S²: an error of 0.1 changes the number of
segments by 10 %.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pairsig.core.exceedances import clopper_pearson
from pairsig.io.columns import VARIANCE_MODEL
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from pairsig.planning.sample_size import expected, reach
from study.analysis.over_systems import Floats, cells, mean_of_independent


def variance_model(comparisons: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """Fit the variance model, and measure its error on test sets that were left out.

    S² = φ · 10⁴ · 2(1 − ρ) · p(1 − p) / √L, with one φ per metric; without the factor 1 − ρ if the correlation is not
    known. log φ is the mean over the test sets of a metric. τ² is the variance between test sets about the mean of
    their metric, for all metrics together, and ω² the mean square of pairs about the mean of their test set.

    Datasets with the same segments (the same number, and the same length in two digits) count as one test set and are
    left out together. All test sets have the same weight, as have the datasets of a test set and the pairs of a
    dataset.

    Parameters
    ----------
    comparisons
        Comparisons on whole test sets, without pools. Pairs without a standard error or correlation are left out.
    systems
        Table of `describe`, for the lengths of segments.

    Returns
    -------
    Table `VARIANCE_MODEL`: a row per metric, and one for `all` metrics, for each of the two models.
    """
    pairs = _log_phi_of_pairs(comparisons, systems)
    rows = []
    for given in ("correlation", "nothing"):
        of_model = pairs.assign(log_phi=pairs[given])
        test_sets = _means(of_model)
        fit, left_out = _fit(test_sets), _left_out(of_model, test_sets)
        for metric in (*fit.constants.index, "all"):
            test_sets_here, pairs_here, left_out_here = (
                table if metric == "all" else table[table["metric"] == metric] for table in (test_sets, pairs, left_out)
            )
            rows.append({
                "metric": metric, "given": given, "overdispersion": math.exp(fit.constants.get(metric, math.nan)),
                "n_datasets": len(test_sets_here), "n_pairs": len(pairs_here),
                "between": math.sqrt(fit.between), "within": math.sqrt(fit.within), "degrees": fit.degrees,
                **_accuracy(left_out_here),
            })  # fmt: skip
    # Rounded, so that the result is the same on every machine.
    return frame(VARIANCE_MODEL, rows).round({"overdispersion": 4, "between": 4, "within": 4})


def _log_phi_of_pairs(comparisons: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """The weight of each pair, and log φ as it would be from this pair alone, by what is known of the correlation."""
    usable = (comparisons["standard_error"] > 0) & (comparisons["correlation"] < 1)
    pairs = comparisons[(comparisons["derived"] == "whole") & usable]
    if pairs.empty:
        raise InputError("found no comparisons on whole test sets with a standard error, expected at least one")
    # Scores that are not percentages have no p(1 − p).
    pairs = pairs[((pairs["score_a"] + pairs["score_b"]) / 2).between(0, 100, inclusive="neither")]
    lengths = systems[systems["group"] == "all"].set_index("dataset")["length_per_segment"]
    # Unknown lengths count as 1: within a metric, all lengths are known or none.
    length = pairs["dataset"].map(lengths).astype(float).fillna(1.0)
    metric, score = pairs["metric"].str.removeprefix("conll_"), (pairs["score_a"] + pairs["score_b"]) / 2
    variance = pairs["standard_error"] ** 2 * pairs["n_segments"]
    segments = zip(metric, pairs["n_segments"], length, strict=True)
    logs = pd.DataFrame({
        "metric": metric,
        "test_set": [f"{name} {n:g} of {words:.2g}" for name, n, words in segments],
        "correlation": np.log(variance / expected(score, length, pairs["correlation"])),
        "nothing": np.log(variance / expected(score, length, 0.0)),
    })  # fmt: skip
    n_pairs = pairs.groupby("dataset")["dataset"].transform("size")
    n_datasets = pairs["dataset"].groupby(logs["test_set"]).transform("nunique")
    return logs.assign(weight=1 / n_pairs / n_datasets)  # those of a test set add up to 1


def _means(pairs: pd.DataFrame) -> pd.DataFrame:
    """Metric, weighted mean and mean square about it of log φ, by test set."""
    groups = pairs.assign(mean=pairs["weight"] * pairs["log_phi"]).groupby("test_set")
    test_sets = groups.agg({"metric": "first", "mean": "sum"})
    square = pairs["weight"] * (pairs["log_phi"] - pairs["test_set"].map(test_sets["mean"])) ** 2
    return test_sets.assign(square=square.groupby(pairs["test_set"]).sum())


class _Fit(NamedTuple):
    """log φ and number of test sets by metric, τ² (nan if it has no degrees of freedom) and ω²."""

    constants: pd.Series
    n_test_sets: pd.Series
    between: float
    degrees: int
    within: float


def _fit(test_sets: pd.DataFrame) -> _Fit:
    means = test_sets.groupby("metric")["mean"]
    degrees = len(test_sets) - means.ngroups
    between = float(((test_sets["mean"] - means.transform("mean")) ** 2).sum())
    between = between / degrees if degrees else math.nan
    return _Fit(means.mean(), means.size(), between, degrees, float(test_sets["square"].mean()))


def _left_out(pairs: pd.DataFrame, test_sets: pd.DataFrame) -> pd.DataFrame:
    """Mean square error and share of pairs in the 95 % interval for each test set, predicted from all others.

    The only test set of a metric cannot be predicted, nor can any if the others do not allow an estimate of τ².
    """
    rows = []
    for name, left in test_sets.iterrows():
        fit = _fit(test_sets.drop(index=name))
        if left["metric"] not in fit.constants or not fit.degrees:
            continue
        constant, n = fit.constants[left["metric"]], int(fit.n_test_sets[left["metric"]])
        farthest = reach(math.sqrt(fit.between), math.sqrt(fit.within), n, fit.degrees)
        here = pairs[pairs["test_set"] == name]
        inside = float(here["weight"] @ ((here["log_phi"] - constant).abs() <= farthest))
        square = left["square"] + (left["mean"] - constant) ** 2
        rows.append({"metric": left["metric"], "square": square, "inside": round(inside, 9)})
    return pd.DataFrame(rows, columns=["metric", "square", "inside"])


def _accuracy(left_out: pd.DataFrame) -> dict[str, Any]:
    """Error and coverage over test sets that were left out, with intervals over test sets."""
    if left_out.empty:
        return {"n_left_out": 0} | cells("error", (math.nan,) * 3) | cells("coverage", (math.nan,) * 3)
    error = np.sqrt(mean_of_independent(left_out["square"], scale="log"))
    inside = left_out["inside"].to_numpy(float)
    coverage = (float(inside.mean()), *_interval_of_share(inside))
    return (
        {"n_left_out": len(left_out)}
        | cells("error", (round(end, 4) for end in error))
        | cells("coverage", (round(end, 6) for end in coverage))
    )


def _interval_of_share(shares: Floats) -> tuple[float, float]:
    """Clopper and Pearson's interval of a mean of shares, for an effective number of trials with the same variance.

    If all shares are equal, there is one trial per test set. In simulations of 50 test sets (beta-distributed shares
    with mean 94 %, from nearly 0 and 1 to nearly equal) the coverage was 91 to 98 %.
    """
    from scipy.special import ndtri, stdtrit

    n, mean = len(shares), float(shares.mean())
    if n < 2:
        return 0.0, 1.0
    variance = float(shares.var(ddof=1)) / n
    trials = float(n)
    if variance > 0:
        trials = mean * (1 - mean) / variance * (float(ndtri(0.975)) / float(stdtrit(n - 1, 0.975))) ** 2
    low, high = clopper_pearson(mean * trials, trials)
    return float(low), float(high)
