"""The law of standard errors: what tells how many segments a gain takes before there is a test set.

Of a pair of systems S² = n · (standard error)², in points², is what each segment adds to the variance of its gain. The
law says what it is from the metric, the systems' score and likeness and the length of segments; `pairsig.planning` has
it. Everything here is about log S²: an error of 0.1 is one of 10 % in the number of segments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.columns import LAW
from pairsig.errors import InputError, named
from pairsig.planning import reach
from pairsig.tables import frame
from pairsig.tally import clopper_pearson
from study.analysis.pairs import of_one_test
from study.columns import LAW_ERRORS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """A law: log S² = a constant of the metric + Σ exponent · feature.

    Attributes
    ----------
    name
        What the table calls it.
    given
        What it is told of the likeness of two systems, see `pairsig.columns.GIVEN`.
    fixed
        Exponents that are not fitted.
    fitted
        Features whose exponents are: one for all metrics.
    """

    name: str
    given: str
    fixed: dict[str, float] = field(default_factory=dict)
    fitted: tuple[str, ...] = ()


_SCORE = {"score": 1.0, "length": -0.5}
LAWS = {
    "likeness": Model("likeness, score, √length", "likeness", {"unlikeness": 1.0} | _SCORE),
    "outputs": Model("BLEU of outputs, score, √length", "outputs", {"overlap": 1.0} | _SCORE),
    "nothing": Model("score, √length", "nothing", _SCORE),
}
"""Those that `pairsig plan` uses, by what is given."""

MODELS = (
    Model("constant", "nothing"),
    LAWS["nothing"],
    Model("likeness", "likeness", {"unlikeness": 1.0}),
    Model("likeness, score", "likeness", {"unlikeness": 1.0, "score": 1.0}),
    LAWS["likeness"],
    Model("likeness, score, length", "likeness", {"unlikeness": 1.0, "score": 1.0, "length": -1.0}),
    Model("likeness, score, fitted length", "likeness", {"unlikeness": 1.0, "score": 1.0}, ("length",)),
    Model("all exponents fitted", "likeness", {}, ("unlikeness", "score", "length")),
    Model("same outputs, score, √length", "outputs", {"different": 1.0} | _SCORE),
    LAWS["outputs"],
    Model("BLEU of outputs and same outputs, fitted", "outputs", _SCORE, ("overlap", "different")),
)
"""Laws that are held against each other, simple ones first."""


def law(
    comparisons: pd.DataFrame, systems: pd.DataFrame, overlaps: pd.DataFrame | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The law, and the error of it and of simpler and richer ones on test sets that were left out.

    Datasets on the same segments (as many, and equally long in two digits) are one test set: they are left out
    together, and each test set weighs the same, as its datasets do in it and their pairs in these. The constant of a
    metric is the mean over its test sets; τ² the variance between them, of all metrics together, each about its own
    mean; ω² the mean square of pairs about their test set's mean.

    Parameters
    ----------
    comparisons
        Of whole test sets, those that are no pools of others; of several tests the bootstrap counts. Pairs without a
        standard error or likeness are left out.
    systems
        Table of `describe`: how long the segments are.
    overlaps
        Table `OVERLAPS`: how alike the outputs of some of the pairs are, for what is given `outputs`.

    Returns
    -------
    Table `LAW` and table `LAW_ERRORS`.
    """
    pairs = _features(comparisons, systems, overlaps)
    rows, errors = [], []
    for given, model in LAWS.items():
        own = _known(pairs, model)
        if own.empty:
            continue
        arrays = _Arrays.of(own, model)
        left_out, fit = list(_left_out(arrays)), _Fit.of(arrays)
        for number, metric in enumerate(arrays.metrics):
            rows.append(
                {
                    "metric": metric,
                    "given": given,
                    # The constant beside the 2·10⁴ of `pairsig.planning.expected`, whose exponents the law has.
                    "overdispersion": math.exp(fit.constants[number]) / 2e4,
                    "n_datasets": int(fit.n_test_sets[number]),
                    "n_pairs": int((arrays.metric == number).sum()),
                    "between": math.sqrt(fit.between),
                    "within": math.sqrt(fit.within),
                    "degrees": fit.degrees,
                }
                | _accuracy([one for one in left_out if one["metric"] == metric])
            )
        everywhere = rows[-1] | {"metric": "all", "overdispersion": math.nan, "n_pairs": len(own)}
        everywhere["n_datasets"] = int(fit.n_test_sets.sum())
        rows.append(everywhere | _accuracy(left_out))
    for model in MODELS:
        own = _known(pairs, model)
        # Where a metric has one test set, nothing of it can be left out.
        own = own[own.groupby("metric")["test_set"].transform("nunique") > 1]
        if own.empty:
            continue
        left_out = list(_left_out(_Arrays.of(own, model)))
        measured = _accuracy(left_out)
        low, high = _interval_of_error([one["square"] for one in left_out])
        errors.append(
            {
                "law": model.name,
                "given": model.given,
                "used": model in LAWS.values(),
                "n_datasets": measured["n_left_out"],
                "n_pairs": sum(one["n_pairs"] for one in left_out),
                "error": measured["error"],
                "error_low": round(low, 4),
                "error_high": round(high, 4),
            }
            | {name: measured[name] for name in ("coverage", "coverage_low", "coverage_high")}
        )
    # Digits that another machine's last bits do not reach.
    table = frame(LAW, rows).round({"overdispersion": 4, "between": 4, "within": 4})
    return table, frame(LAW_ERRORS, errors)


def _features(comparisons: pd.DataFrame, systems: pd.DataFrame, overlaps: pd.DataFrame | None) -> pd.DataFrame:
    """One row a pair: log S² and the logarithms of what may explain it, with its test set and weight."""
    pairs = of_one_test(comparisons)
    pairs = pairs[(pairs["derived"] == "whole") & (pairs["standard_error"] > 0) & (pairs["similarity"] < 1)]
    if pairs.empty:
        raise InputError("there are no comparisons of whole test sets with a standard error, expected some")
    lengths = systems[systems["group"] == "all"].set_index("dataset")["per_segment"]
    for dataset in pairs["dataset"].unique():
        if dataset not in lengths.index:
            raise InputError(f"dataset {named(str(dataset))} is compared, but not in the table of systems")
    length = pairs["dataset"].map(lengths).to_numpy(float)
    # Lengths that are not known are all the same: those of a metric must all be, or none.
    length = np.where(np.isnan(length), 1.0, length)
    # What is no percentage has no p(1 − p): it is left out.
    p = (pairs["score_a"] + pairs["score_b"]).to_numpy(float) / 200
    n = pairs["n_segments"].to_numpy(float)
    with np.errstate(divide="ignore"):
        score = np.log(np.maximum(p * (1 - p), 0.0))
    found = pd.DataFrame(
        {
            "dataset": pairs["dataset"].to_numpy(),
            "metric": pairs["metric"].str.removeprefix("conll_").to_numpy(),
            "system_a": pairs["system_a"].to_numpy(),
            "system_b": pairs["system_b"].to_numpy(),
            "test_set": [f"{size:g} of {words:.2g}" for size, words in zip(n, length, strict=True)],
            "target": np.log(pairs["standard_error"].to_numpy(float) ** 2 * n),
            "unlikeness": np.log(1 - pairs["similarity"].to_numpy(float)),
            "score": score,
            "length": np.log(length),
        }
    )
    found["test_set"] = found["metric"] + " " + found["test_set"]
    found = found[np.isfinite(found["score"])]
    if overlaps is not None:
        either = pd.concat([overlaps, overlaps.rename(columns={"system_a": "system_b", "system_b": "system_a"})])
        found = found.merge(either, how="left", on=["dataset", "system_a", "system_b"], validate="many_to_one")
        with np.errstate(divide="ignore"):  # of systems with the same outputs
            found["overlap"] = np.log(1 - found.pop("bleu").to_numpy(float) / 100)
            found["different"] = np.log(1 - found.pop("same").to_numpy(float))
    return found


def _known(pairs: pd.DataFrame, model: Model) -> pd.DataFrame:
    """Pairs of which all is known that the model needs, each with its weight."""
    needed = [*model.fixed, *model.fitted]
    if not set(needed) <= set(pairs.columns):
        return pairs.iloc[:0]
    if model.given == "outputs":
        needed = [*needed, "overlap", "different"]  # all on the same pairs
    own = pairs[np.isfinite(pairs[needed].to_numpy(float)).all(axis=1)].copy()
    per_dataset = own.groupby("dataset")["target"].transform("size")
    own["weight"] = 1 / per_dataset / own.groupby("test_set")["dataset"].transform("nunique")
    return own


@dataclass(frozen=True)
class _Arrays:
    """Pairs as arrays: log S² less what the fixed exponents say, features to fit, metric and test set by number."""

    rest: Floats
    features: Floats
    weight: Floats
    metric: NDArray[np.intp]
    test_set: NDArray[np.intp]
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, pairs: pd.DataFrame, model: Model) -> _Arrays:
        told = np.zeros(len(pairs))
        for name, exponent in model.fixed.items():
            told += exponent * pairs[name].to_numpy(float)
        metrics, metric = np.unique(pairs["metric"].to_numpy(str), return_inverse=True)
        return cls(
            pairs["target"].to_numpy(float) - told,
            pairs[list(model.fitted)].to_numpy(float),
            pairs["weight"].to_numpy(float),
            metric,
            np.unique(pairs["test_set"].to_numpy(str), return_inverse=True)[1],
            tuple(metrics.tolist()),
        )

    def select(self, rows: NDArray[np.bool_]) -> _Arrays:
        """The same of some of the pairs."""
        return replace(
            self,
            rest=self.rest[rows],
            features=self.features[rows],
            weight=self.weight[rows],
            metric=self.metric[rows],
            test_set=self.test_set[rows],
        )


@dataclass(frozen=True)
class _Fit:
    """A model fitted to some pairs: its constants, by metric, exponents, τ² with its degrees of freedom and ω²."""

    constants: Floats
    exponents: Floats
    n_test_sets: NDArray[np.intp]
    between: float
    within: float
    degrees: int

    @classmethod
    def of(cls, pairs: _Arrays) -> _Fit:
        weight, n_metrics = pairs.weight, len(pairs.metrics)
        total = np.bincount(pairs.metric, weight, n_metrics)

        def constants_of(values: Floats) -> Floats:
            """Its mean by metric; nan without pairs of it."""
            with np.errstate(invalid="ignore"):
                return np.asarray(np.bincount(pairs.metric, weight * values, n_metrics) / total)

        # Least squares with a constant a metric: everything about its metric's mean.
        means = [constants_of(column) for column in pairs.features.T]
        about = [column - mean[pairs.metric] for column, mean in zip(pairs.features.T, means, strict=True)]
        constants = constants_of(pairs.rest)
        exponents = np.zeros(len(about))
        if about:
            root = np.sqrt(weight)
            design, target = np.stack(about, axis=1), pairs.rest - constants[pairs.metric]
            exponents = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0]
            constants = constants - sum(one * mean for one, mean in zip(exponents, means, strict=True))
        left = pairs.rest - constants[pairs.metric] - pairs.features @ exponents
        # The weights of a test set add up to 1.
        of_test_set = np.bincount(pairs.test_set, weight * left)
        there = np.bincount(pairs.test_set) > 0
        first = np.unique(pairs.test_set, return_index=True)[1]
        n_test_sets = np.bincount(pairs.metric[first], minlength=n_metrics)
        degrees = int(there.sum() - (n_test_sets > 0).sum())
        scatter = float((weight * (left - of_test_set[pairs.test_set]) ** 2).sum() / there.sum())
        between = float((of_test_set[there] ** 2).sum() / degrees) if degrees else math.nan
        return cls(constants, exponents, n_test_sets, between, scatter, degrees)

    def error(self, pairs: _Arrays) -> Floats:
        """By how much log S² of pairs is larger than it says."""
        return np.asarray(pairs.rest - self.constants[pairs.metric] - pairs.features @ self.exponents)


def _left_out(pairs: _Arrays) -> Iterator[dict[str, Any]]:
    """For every test set that is not its metric's only one: how well the others' law tells its pairs' S².

    None where the others do not tell how much test sets differ: it takes a metric with two of them.
    """
    for test_set in np.unique(pairs.test_set):
        here = pairs.test_set == test_set
        own, others = pairs.select(here), pairs.select(~here)
        metric = int(own.metric[0])
        if not (others.metric == metric).any():
            continue
        fit = _Fit.of(others)
        if not fit.degrees:
            continue
        error = fit.error(own)
        farthest = reach(math.sqrt(fit.between), math.sqrt(fit.within), int(fit.n_test_sets[metric]), fit.degrees)
        yield {
            "metric": pairs.metrics[metric],
            "n_pairs": len(error),
            "square": float(own.weight @ error**2),
            "inside": round(float(own.weight @ (np.abs(error) <= farthest)), 9),
        }


def _accuracy(left_out: list[dict[str, Any]]) -> dict[str, Any]:
    """Error and coverage over test sets that were left out."""
    n = len(left_out)
    if not n:
        return {
            "n_left_out": 0,
            "error": math.nan,
            "coverage": math.nan,
            "coverage_low": math.nan,
            "coverage_high": math.nan,
        }
    inside = np.array([one["inside"] for one in left_out])
    low, high = _interval_of_share(inside)
    return {
        "n_left_out": n,
        "error": round(math.sqrt(float(np.mean([one["square"] for one in left_out]))), 4),
        "coverage": round(float(inside.mean()), 6),
        "coverage_low": round(low, 6),
        "coverage_high": round(high, 6),
    }


def _interval_of_share(shares: Floats) -> tuple[float, float]:
    """Clopper and Pearson's interval for as many trials as have the variance of a mean of shares of test sets.

    Where all are the same that is one trial a test set. In simulations of 50 test sets (shares with a beta distribution
    of mean 94 %, from nearly 0 and 1 to nearly the same) it held the mean in 91 to 98 %.
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


def _interval_of_error(squares: list[float]) -> tuple[float, float]:
    """Student's interval of the mean square over test sets, on a logarithmic scale, as a root."""
    from scipy.special import stdtrit

    n = len(squares)
    if n < 2:
        return math.nan, math.nan
    mean, spread = float(np.mean(squares)), float(np.std(squares, ddof=1))
    ratio = math.exp(float(stdtrit(n - 1, 0.975)) * spread / math.sqrt(n) / mean / 2)
    return math.sqrt(mean) / ratio, math.sqrt(mean) * ratio
