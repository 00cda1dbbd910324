"""Our numbers beside those printed in the papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from pairsig.errors import InputError
from pairsig.tables import frame
from study.analysis.pairs import of_one_test
from study.columns import PUBLISHED, REPRODUCTION

_PUBLISHED = tuple(name for name in REPRODUCTION.names if name in PUBLISHED.names)


def check(
    published: pd.DataFrame,
    *,
    thresholds: pd.DataFrame,
    size_law: pd.DataFrame,
    calibration: pd.DataFrame,
    relative_error: pd.DataFrame | None = None,
    run_time: pd.DataFrame | None = None,
    source: str = "published",
) -> pd.DataFrame:
    """Our numbers beside the papers', with a verdict.

    Parameters
    ----------
    published
        The numbers printed in the papers, table `PUBLISHED`.
    thresholds, size_law, calibration
        Tables of `thresholds`, `size_law` and `calibrate`; of several tests the bootstrap counts, as in the paper.
    relative_error, run_time
        Tables of `montecarlo.approximate` and `montecarlo.race`, for the numbers of the exact-test paper.
    source
        What messages call the table of published numbers.

    Notes
    -----
    Addresses: ``threshold:DATASET:SUBSET[:TEST_SET]`` (dataset `task=mt` for a task), ``pairs:DATASET:SUBSET`` (number
    of pairs in the window), ``exponent:DATASET:SUBSET``, ``share:CALIBRATION:DISTANCE:P_LOW-P_HIGH``;
    ``p:N:METRIC`` (mean
    exact p of simulated systems of N sentences), ``samples:METRIC`` (see `_samples`), ``faster:K:METRIC`` (sentences up
    to which the exact test is faster than K samples) and ``seconds:TEST:N:METRIC``. Anything else is a study that has
    not been run.

    A threshold on n segments is expected at the published one times sqrt(n_published / n): other test sets have
    other sizes. The verdict is `agrees` when the expected number lies in our interval, or when ours is within the
    tolerance of it (a factor for thresholds, p-values and numbers of pairs and samples, a difference for shares and
    exponents). Published seconds are an upper bound, published sentences up to which a test is faster a lower one.

    Returns
    -------
    Table `REPRODUCTION`, one row a published number.
    """
    thresholds, size_law = of_one_test(thresholds), of_one_test(size_law)
    finders: dict[str, Callable[..., pd.Series | None]] = {
        "threshold": lambda dataset, subset, test_set=None: _first(
            thresholds, dataset=dataset, subset=subset, test_set=test_set or "whole"
        ),
        "pairs": lambda dataset, subset: _first(thresholds, dataset=dataset, subset=subset, test_set="whole"),
        "exponent": lambda dataset, subset: _first(size_law, dataset=dataset, subset=subset),
        "share": lambda name, distance, between: _share(calibration, name, distance, between),
    }
    if relative_error is not None:
        finders |= {"p": partial(_mean_p, relative_error), "samples": partial(_samples, relative_error)}
    if run_time is not None:
        finders |= {"faster": partial(_faster, run_time), "seconds": partial(_seconds, run_time)}
    found = []
    for line, row in enumerate(published.to_dict("records"), start=2):
        kind, *address = str(row["compared_with"]).split(":")
        ours = None
        if kind in finders:
            try:
                ours = finders[kind](*address)
            except (TypeError, ValueError):  # too many parts or too few; a range that is not two numbers
                raise InputError(
                    f"{source}, line {line}: {row['compared_with']} is not an address of our numbers, expected one as "
                    "threshold:DATASET:SUBSET or share:CALIBRATION:DISTANCE:P_LOW-P_HIGH"
                ) from None
        needed = ["published", "tolerance", *(["n_segments"] if kind == "threshold" else [])]
        for column in needed if ours is not None else []:
            number = pd.to_numeric(row[column], errors="coerce")
            if not (number > 0 or (kind == "exponent" and column == "published" and number < 0)):
                raise InputError(f"{source}, line {line}: {column} is {row[column]}, expected a number above 0")
        found.append({key: row[key] for key in _PUBLISHED} | _verdict(kind, row, ours))
    return frame(REPRODUCTION, found)


def _verdict(kind: str, row: Mapping[str, float], ours: pd.Series | None) -> dict[str, object]:
    if ours is None:
        return {"verdict": "not run"}
    published, tolerance = float(row["published"]), float(row["tolerance"])
    if kind == "pairs":
        return {
            "ours": float(ours["n_pairs"]),
            "ours_n_segments": float(ours["n_segments"]),
            "expected": published,
            "ratio": ours["n_pairs"] / published,
            "verdict": "agrees" if 1 / tolerance <= ours["n_pairs"] / published <= tolerance else "differs",
        }
    if kind in ("p", "samples", "faster", "seconds"):
        ratio = ours["ours"] / published
        near = ours["low"] <= published <= ours["high"] and kind == "p"
        near |= (ratio >= 1 / tolerance or kind == "seconds") and (ratio <= tolerance or kind == "faster")
        verdict = "agrees" if near else "differs"
        return {**ours.to_dict(), "expected": published, "ratio": ratio, "verdict": verdict}
    if kind == "threshold":
        expected = published * np.sqrt(float(row["n_segments"]) / ours["n_segments"])
        value, low, high = ours["threshold"], ours["low"], ours["high"]
        near = low <= expected <= high or 1 / tolerance <= value / expected <= tolerance
        few, n_segments = ours["verdict"] == "too few", ours["n_segments"]
    elif kind == "exponent":
        expected, value, low, high = published, ours["exponent"], ours["exponent_low"], ours["exponent_high"]
        near = low <= expected <= high or abs(value - expected) <= tolerance
        few, n_segments = False, np.nan
    else:
        expected = published
        value, low, high = (100 * ours[name] for name in ("share", "share_low", "share_high"))
        near = low <= expected <= high or abs(value - expected) <= tolerance
        few, n_segments = ours["n_pairs"] < 10, np.nan
    return {
        "ours": value,
        "low": low,
        "high": high,
        "ours_n_segments": n_segments,
        "expected": expected,
        "ratio": value / expected,
        "verdict": "too few" if few else "agrees" if near else "differs",
    }


def _share(calibration: pd.DataFrame, name: str, distance: str, between: str) -> pd.Series | None:
    low, high = (float(bound) for bound in between.split("-"))
    return _first(calibration, calibration=name, distance=distance, p_low=low, p_high=high)


def _mean_p(relative_error: pd.DataFrame, n_segments: str, metric: str) -> pd.Series | None:
    """Mean exact p-value of simulated systems, with its normal 95 % interval."""
    row = _first(relative_error, n_segments=int(n_segments), metric=metric)
    if row is None:
        return None
    margin = 1.96 * row["p_sd"] / np.sqrt(row["n_simulated"])
    return _found(row["p_mean"], max(row["p_mean"] - margin, 0.0), row["p_mean"] + margin, row["n_segments"])


TARGET = 0.1
"""A mean relative error of a Monte Carlo p-value that is small enough to tell 0.05 from 0.045 and 0.055."""


def _samples(relative_error: pd.DataFrame, metric: str) -> pd.Series | None:
    """The first of the numbers of samples whose relative error, averaged over the systems, is at most `TARGET`."""
    errors = relative_error[relative_error["metric"] == metric].groupby("n_resamples")["error"].mean()
    enough = errors.index[errors <= TARGET]
    return _found(enough.min()) if len(enough) else None


def _faster(run_time: pd.DataFrame, n_resamples: str, metric: str) -> pd.Series | None:
    """The largest number of sentences tried up to which the exact test is always faster; 0 if there is none."""
    rows = run_time[run_time["metric"] == metric]
    exact = rows[rows["test"] == "exact"].set_index("n_segments")["seconds"]
    sampled = rows[rows["n_resamples"] == int(n_resamples)].set_index("n_segments")["seconds"].sort_index()
    if sampled.empty:
        return None
    won = (exact.reindex(sampled.index) < sampled).cummin()
    return _found(max(won.index[won], default=0))


def _seconds(run_time: pd.DataFrame, test: str, n_segments: str, metric: str) -> pd.Series | None:
    row = _first(run_time, test=test, n_segments=int(n_segments), metric=metric)
    return None if row is None else _found(row["seconds"], row["seconds_low"], row["seconds_high"], row["n_segments"])


def _found(ours: float, low: float = np.nan, high: float = np.nan, n_segments: float = np.nan) -> pd.Series:
    return pd.Series({"ours": ours, "low": low, "high": high, "ours_n_segments": n_segments}, dtype=float)


def _first(table: pd.DataFrame, **values: object) -> pd.Series | None:
    keep = np.ones(len(table), dtype=bool)
    for column, value in values.items():
        keep &= (table[column] == value).to_numpy()
    return table[keep].iloc[0] if keep.any() else None
