"""The variance model, which predicts how many segments a gain requires before there is a test set.

S² = n · (standard error)², in points², is the variance of the difference between two systems on one segment. The model
predicts it from the metric, the score and correlation of the systems, and the length of segments;
`pairsig.planning.sample_size` uses it. All fits and errors refer to log S²: an error of 0.1 changes the number of
segments by 10 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.exceedances import clopper_pearson
from pairsig.io import columns
from pairsig.io.columns import VARIANCE_MODEL, Column, Table, count
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from study.analysis.over_systems import Floats, cells, mean_of_independent
from study.tables.columns import with_interval

VARIANCE_MODEL_ERRORS = Table(
    "variance_model_errors",
    (
        Column("model", str, "what the variance of the difference on one segment is assumed to depend on"),
        Column("given", str, "what the model knows about the correlation of two systems", choices=columns.GIVEN),
        Column("used", bool, "whether `pairsig plan` uses this model"),
        count("n_datasets", "test sets, each left out in turn", "datasets", "test sets"),
        count("n_pairs", "pairs of systems on these test sets"),
        *with_interval("error", "root mean square error of the predicted logarithm of the variance", "two decimals",
            over=", over test sets"),
        *with_interval("coverage", "share of pairs whose variance lies in the predicted 95 % interval", "share"),
    ),
    key=("model", "given"),
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A variance model: log S² = constant of the metric + Σ exponent · feature."""

    name: str
    given: str  # what is known about the correlation of two systems, see `pairsig.io.columns.GIVEN`
    fixed: dict[str, float] = field(default_factory=dict)  # exponents
    fitted: tuple[str, ...] = ()  # features whose exponents are fitted, jointly for all metrics


_SCORE = {"score": 1.0, "length": -0.5}
USED = {
    "correlation": Model("correlation, score, √length", "correlation", {"1 − correlation": 1.0} | _SCORE),
    "outputs": Model("BLEU of outputs, score, √length", "outputs", {"overlap": 1.0} | _SCORE),
    "nothing": Model("score, √length", "nothing", _SCORE),
}
"""The models that `pairsig plan` uses, by what is known."""

MODELS = (
    Model("constant", "nothing"),
    USED["nothing"],
    Model("correlation", "correlation", {"1 − correlation": 1.0}),
    Model("correlation, score", "correlation", {"1 − correlation": 1.0, "score": 1.0}),
    USED["correlation"],
    Model("correlation, score, length", "correlation", {"1 − correlation": 1.0, "score": 1.0, "length": -1.0}),
    Model("correlation, score, fitted length", "correlation", {"1 − correlation": 1.0, "score": 1.0}, ("length",)),
    Model("all exponents fitted", "correlation", {}, ("1 − correlation", "score", "length")),
    Model("same outputs, score, √length", "outputs", {"different": 1.0} | _SCORE),
    USED["outputs"],
    Model("BLEU of outputs and same outputs, fitted", "outputs", _SCORE, ("overlap", "different")),
)
"""The models to compare, simple ones first."""


def variance_model(
    comparisons: pd.DataFrame, systems: pd.DataFrame, overlaps: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Fit the variance model, and measure its error and that of alternatives on test sets that were left out.

    Datasets with the same segments (the same number, and the same length in two digits) count as one test set and are
    left out together. All test sets have the same weight, as have the datasets of a test set and the pairs of a
    dataset. The constant of a metric is the mean over its test sets. τ² is the variance between test sets about the
    mean of their metric, for all metrics together, and ω² the mean square of pairs about the mean of their test set.

    Parameters
    ----------
    comparisons
        Comparisons on whole test sets, without pools. Pairs without a standard error or correlation are left out.
    systems
        Table of `describe`, for the lengths of segments.
    overlaps
        Table `OVERLAPS`, for the models that know the outputs of the systems.

    Returns
    -------
    Tables `VARIANCE_MODEL` and `VARIANCE_MODEL_ERRORS`.
    """
    pairs = _features(comparisons, systems, overlaps)
    rows, errors = [], []
    for given, model in USED.items():
        known = _known(pairs, model)
        if known.empty:
            continue
        arrays = _Arrays.of(known, model)
        left_out, fit = list(_left_out(arrays)), _Fit.of(arrays)
        scatter = {"between": math.sqrt(fit.between), "within": math.sqrt(fit.within), "degrees": fit.degrees}
        for number, metric in enumerate(arrays.metrics):
            row = {
                "metric": metric,
                "given": given,
                # `pairsig.planning.sample_size.expected` has the same exponents and the factor 2·10⁴.
                "overdispersion": math.exp(fit.constants[number]) / 2e4,
                "n_datasets": int(fit.n_test_sets[number]),
                "n_pairs": int((arrays.metric == number).sum()),
            }
            rows.append(
                row | scatter | _accuracy([prediction for prediction in left_out if prediction["metric"] == metric])
            )
        row = {"metric": "all", "given": given, "n_datasets": int(fit.n_test_sets.sum()), "n_pairs": len(known)}
        rows.append(row | {"overdispersion": math.nan} | scatter | _accuracy(left_out))
    for model in MODELS:
        known = _known(pairs, model)
        # A metric with a single test set cannot be left out.
        known = known[known.groupby("metric")["test_set"].transform("nunique") > 1]
        if known.empty:
            continue
        left_out = list(_left_out(_Arrays.of(known, model)))
        measured = _accuracy(left_out)
        _, low, high = np.sqrt(mean_of_independent([prediction["square"] for prediction in left_out], scale="log"))
        errors.append({
            "model": model.name, "given": model.given, "used": model in USED.values(),
            "n_datasets": measured.pop("n_left_out"), "n_pairs": sum(prediction["n_pairs"] for prediction in left_out),
            "error_low": round(float(low), 4), "error_high": round(float(high), 4), **measured,
        })  # fmt: skip
    # Rounded, so that the result is the same on every machine.
    table = frame(VARIANCE_MODEL, rows).round({"overdispersion": 4, "between": 4, "within": 4})
    return table, frame(VARIANCE_MODEL_ERRORS, errors)


def _features(comparisons: pd.DataFrame, systems: pd.DataFrame, overlaps: pd.DataFrame) -> pd.DataFrame:
    """Compute log S² and the logarithms of the features for each pair, with its test set."""
    usable = (comparisons["standard_error"] > 0) & (comparisons["correlation"] < 1)
    pairs = comparisons[(comparisons["derived"] == "whole") & usable]
    if pairs.empty:
        raise InputError("found no comparisons on whole test sets with a standard error, expected at least one")
    lengths = systems[systems["group"] == "all"].set_index("dataset")["length_per_segment"]
    length = pairs["dataset"].map(lengths).to_numpy(float)
    # Unknown lengths count as 1: within a metric, all lengths are known or none.
    length = np.where(np.isnan(length), 1.0, length)
    # Scores that are not percentages have no p(1 − p) and are left out.
    p = (pairs["score_a"] + pairs["score_b"]).to_numpy(float) / 200
    n = pairs["n_segments"].to_numpy(float)
    with np.errstate(divide="ignore"):
        score = np.log(np.maximum(p * (1 - p), 0.0))
    metric = pairs["metric"].str.removeprefix("conll_").to_numpy()
    features = pd.DataFrame({
        "dataset": pairs["dataset"].to_numpy(), "metric": metric,
        "system_a": pairs["system_a"].to_numpy(), "system_b": pairs["system_b"].to_numpy(),
        "test_set": [f"{name} {size:g} of {words:.2g}" for name, size, words in zip(metric, n, length, strict=True)],
        "target": np.log(pairs["standard_error"].to_numpy(float) ** 2 * n),
        "1 − correlation": np.log(1 - pairs["correlation"].to_numpy(float)),
        "score": score, "length": np.log(length),
    })  # fmt: skip
    features = features[np.isfinite(features["score"])]
    either = pd.concat([overlaps, overlaps.rename(columns={"system_a": "system_b", "system_b": "system_a"})])
    features = features.merge(either, how="left", on=["dataset", "system_a", "system_b"], validate="many_to_one")
    with np.errstate(divide="ignore"):  # systems with identical outputs
        features["overlap"] = np.log(1 - features.pop("bleu").to_numpy(float) / 100)
        features["different"] = np.log(1 - features.pop("same").to_numpy(float))
    return features


def _known(pairs: pd.DataFrame, model: Model) -> pd.DataFrame:
    """Select the pairs with all features of the model, and add their weights."""
    required = [*model.fixed, *model.fitted]
    if model.given == "outputs":
        required = [*required, "overlap", "different"]  # the same pairs for all of these models
    known = pairs[np.isfinite(pairs[required].to_numpy(float)).all(axis=1)].copy()
    per_dataset = known.groupby("dataset")["target"].transform("size")
    known["weight"] = 1 / per_dataset / known.groupby("test_set")["dataset"].transform("nunique")
    return known


@dataclass(frozen=True)
class _Arrays:
    """Pairs as arrays: log S² minus the fixed features, features to fit, numbers of metric and test set."""

    rest: Floats
    features: Floats
    weight: Floats
    metric: NDArray[np.intp]
    test_set: NDArray[np.intp]
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, pairs: pd.DataFrame, model: Model) -> _Arrays:
        fixed = np.zeros(len(pairs))
        for name, exponent in model.fixed.items():
            fixed += exponent * pairs[name].to_numpy(float)
        metrics, metric = np.unique(pairs["metric"].to_numpy(str), return_inverse=True)
        return cls(
            pairs["target"].to_numpy(float) - fixed,
            pairs[list(model.fitted)].to_numpy(float),
            pairs["weight"].to_numpy(float),
            metric,
            np.unique(pairs["test_set"].to_numpy(str), return_inverse=True)[1],
            tuple(metrics.tolist()),
        )

    def select(self, rows: NDArray[np.bool_]) -> _Arrays:
        """Select some of the pairs."""
        arrays = {name: values[rows] for name, values in vars(self).items() if name != "metrics"}
        return replace(self, **arrays)


@dataclass(frozen=True)
class _Fit:
    """A fitted model: constants by metric, exponents, τ² with its degrees of freedom, and ω²."""

    constants: Floats
    exponents: Floats
    n_test_sets: NDArray[np.intp]
    between: float
    within: float
    degrees: int

    @classmethod
    def of(cls, pairs: _Arrays) -> _Fit:
        # Weighted least squares, with one constant per metric; 0 for a metric without pairs.
        weight, n_metrics = pairs.weight, len(pairs.metrics)
        design = np.hstack([np.eye(n_metrics)[pairs.metric], pairs.features])
        weighted = weight[:, None] * design
        coefficients = np.linalg.lstsq(weighted.T @ design, weighted.T @ pairs.rest, rcond=None)[0]
        left = pairs.rest - design @ coefficients
        # The weights of a test set add up to 1.
        of_test_set = np.bincount(pairs.test_set, weight * left)
        there = np.bincount(pairs.test_set) > 0
        first = np.unique(pairs.test_set, return_index=True)[1]
        n_test_sets = np.bincount(pairs.metric[first], minlength=n_metrics)
        degrees = int(there.sum() - (n_test_sets > 0).sum())
        scatter = float((weight * (left - of_test_set[pairs.test_set]) ** 2).sum() / there.sum())
        between = float((of_test_set[there] ** 2).sum() / degrees) if degrees else math.nan
        constants, exponents = np.split(np.asarray(coefficients, float), [n_metrics])
        return cls(constants, exponents, n_test_sets, between, scatter, degrees)

    def error(self, pairs: _Arrays) -> Floats:
        """Observed minus predicted log S² of pairs."""
        return np.asarray(pairs.rest - self.constants[pairs.metric] - pairs.features @ self.exponents)


def _left_out(pairs: _Arrays) -> Iterator[dict[str, Any]]:
    """Predict the S² of each test set from a fit without it, unless it is the only one of its metric.

    Test sets are skipped if no other metric or test set allows an estimate of τ², which requires two test sets.
    """
    from pairsig.planning.sample_size import reach

    for test_set in np.unique(pairs.test_set):
        here = pairs.test_set == test_set
        here_left_out, others = pairs.select(here), pairs.select(~here)
        metric = int(here_left_out.metric[0])
        if not (others.metric == metric).any():
            continue
        fit = _Fit.of(others)
        if not fit.degrees:
            continue
        error = fit.error(here_left_out)
        farthest = reach(math.sqrt(fit.between), math.sqrt(fit.within), int(fit.n_test_sets[metric]), fit.degrees)
        yield {
            "metric": pairs.metrics[metric],
            "n_pairs": len(error),
            "square": float(here_left_out.weight @ error**2),
            "inside": round(float(here_left_out.weight @ (np.abs(error) <= farthest)), 9),
        }


def _accuracy(left_out: list[dict[str, Any]]) -> dict[str, Any]:
    """Compute error and coverage over test sets that were left out."""
    n = len(left_out)
    if not n:
        return {"n_left_out": 0, "error": math.nan} | cells("coverage", (math.nan,) * 3)
    inside = np.array([prediction["inside"] for prediction in left_out])
    coverage = (float(inside.mean()), *_interval_of_share(inside))
    error = round(math.sqrt(float(np.mean([prediction["square"] for prediction in left_out]))), 4)
    return {"n_left_out": n, "error": error} | cells("coverage", (round(end, 6) for end in coverage))


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
