"""Our numbers beside those printed in the papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from pairsig.errors import InputError
from pairsig.tables import frame
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, of_one_test
from study.columns import IN_ORDER, PUBLISHED, REPRODUCTION

VERDICTS = {
    "agrees": "the two numbers differ by no more than 1.96 standard errors, both sides' errors taken together",
    "differs": "they differ by more",
    "better": "what the paper gives as a bound (a time, a size) is surpassed",
    "too few": f"ours rests on fewer than {MIN_PAIRS} pairs in the window, or fewer than {MIN_SYSTEMS} systems",
    "not comparable": "the two are not of the same thing, or this run has none of ours; `why` says which",
}
"""The verdicts and what they mean."""

Z_95 = 1.959963984540054

_PUBLISHED = tuple(name for name in REPRODUCTION.names if name in PUBLISHED.names and name != "why")


def check(
    published: pd.DataFrame,
    *,
    thresholds: pd.DataFrame,
    size_law: pd.DataFrame,
    calibration: pd.DataFrame,
    systems: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
    relative_error: pd.DataFrame | None = None,
    run_time: pd.DataFrame | None = None,
    source: str = "published",
) -> pd.DataFrame:
    """Our numbers beside the papers', with a verdict (see `VERDICTS`).

    Parameters
    ----------
    published
        The numbers printed in the papers, table `PUBLISHED`.
    thresholds, size_law, calibration
        Tables of `thresholds`, `size_law` and `calibrate`; of several tests the bootstrap counts, as in the paper.
    systems
        Table of `describe`: how many words, brackets or links our segments have.
    claims
        Table of `claims`: how exponents vary when the segments are in random order.
    relative_error, run_time
        Tables of `montecarlo.approximate` and `montecarlo.race`, for the numbers of the exact-test paper.
    source
        What messages call the table of published numbers.

    Notes
    -----
    Addresses: ``threshold:DATASET:SUBSET[:TEST_SET]`` (dataset `task=mt` for a task), ``exponent:DATASET:SUBSET``,
    ``share:CALIBRATION:DISTANCE:P_LOW-P_HIGH``; ``p:N:METRIC`` (mean exact p of simulated systems of N sentences),
    ``samples:METRIC`` (see `_samples`), ``faster:K:METRIC`` (sentences up to which the exact test is faster than K
    samples) and ``seconds:TEST:N:METRIC``. Without an address, the sheet's `why` says why there is none.

    Test sets differ in size, and a threshold falls with the square root of what carries the information. It is expected
    at the published one times sqrt(n_published / n), n the segments, and likewise with n the words, brackets or links
    where the sheet knows the paper's (`expected_by_information`; ours are the average of the dataset per segment times
    the segments). The verdict is by the second where there is one; where ours
    differs from both, but lies between them, it is `not comparable`.

    Two numbers are compared on the scale on which they are nearly normal: thresholds by logarithms, shares by logits.
    Our standard error is that of our interval. The paper's: of a share of n pairs, that of the binomial law, which
    counts pairs that share systems as independent; of a threshold, ours times sqrt(our pairs / its pairs in the
    window). Where the paper does not say how many pairs it has, its error is unknown and taken to be as large as ours,
    and `why` says so. −1/2 is a theory's and has no error; ours has that of the systems and, where `claims` tells it,
    that of the order of the segments. Published seconds are an upper bound, published sentences up
    to which a test is faster a lower one: `better` beyond them.

    Returns
    -------
    Table `REPRODUCTION`, one row a published number.
    """
    thresholds, size_law = of_one_test(thresholds), of_one_test(size_law)
    finders: dict[str, Callable[..., pd.Series | None]] = {
        "threshold": lambda dataset, subset, test_set=None: _first(
            thresholds, dataset=dataset, subset=subset, test_set=test_set or "whole"
        ),
        "exponent": lambda dataset, subset: _exponent_of(size_law, claims, dataset, subset),
        "share": lambda name, distance, between: _share(calibration, name, distance, between),
    }
    if relative_error is not None:
        finders |= {"p": partial(_mean_p, relative_error), "samples": partial(_samples, relative_error)}
    if run_time is not None:
        finders |= {"faster": partial(_faster, run_time), "seconds": partial(_seconds, run_time)}
    carried = _carried(systems)
    found = []
    for line, row in enumerate(published.to_dict("records"), start=2):
        told = str(row["compared_with"]) if pd.notna(row["compared_with"]) else ""
        kind, *address = told.split(":")
        ours = None
        if kind in finders:
            try:
                ours = finders[kind](*address)
            except (TypeError, ValueError):  # too many parts or too few; a range that is not two numbers
                raise InputError(
                    f"{source}, line {line}: {told} is not an address of our numbers, expected one as "
                    "threshold:DATASET:SUBSET or share:CALIBRATION:DISTANCE:P_LOW-P_HIGH"
                ) from None
        for column in ("published", *(["n_segments"] if kind == "threshold" else [])) if ours is not None else ():
            number = pd.to_numeric(row[column], errors="coerce")
            if not (number > 0 or (kind == "exponent" and column == "published" and number < 0)):
                raise InputError(f"{source}, line {line}: {column} is {row[column]}, expected a number above 0")
        reason = "" if pd.isna(row.get("why")) else str(row.get("why", "") or "")
        beside: dict[str, object] = {"verdict": "not comparable", "why": reason or "this run has no such number"}
        if ours is not None:
            beside = _KINDS[kind](row, ours, carried)
            if reason:
                beside |= {"verdict": "not comparable", "why": reason}
        found.append({key: row.get(key) for key in _PUBLISHED} | beside)
    return frame(REPRODUCTION, found)


def _carried(systems: pd.DataFrame | None) -> Mapping[str, float]:
    """Words, brackets or links a segment, by dataset; of the datasets of a task their mean."""
    if systems is None:
        return {}
    known = systems[(systems["group"] == "all") & systems["per_segment"].notna()]
    natural = known[~known["dataset"].isin(systems.loc[systems["group"] != "all", "dataset"]) & (known["task"] != "")]
    tasks = natural.groupby("task")["per_segment"].mean()
    return dict(zip(known["dataset"], known["per_segment"], strict=True)) | {
        f"task={task}": value for task, value in tasks.items()
    }


def _threshold(row: Mapping[str, float], ours: pd.Series, carried: Mapping[str, float]) -> dict[str, object]:
    published, n = float(row["published"]), float(ours["n_segments"])
    expected = published * math.sqrt(float(row["n_segments"]) / n)
    beside: dict[str, object] = {"ours_n_segments": n, "expected": expected}
    per_segment = carried.get(str(ours["dataset"]), math.nan)
    information = pd.to_numeric(row.get("information"), errors="coerce")
    if information > 0 and per_segment > 0:
        beside["ours_information"] = round(per_segment * n)
        expected = published * math.sqrt(information / (per_segment * n))
        beside["expected_by_information"] = expected
    if ours["verdict"] != "estimated":
        return beside | _too_few(ours["n_pairs"], "in the window")
    value, low, high = (float(ours[name]) for name in ("threshold", "low", "high"))
    error = math.log(high / low) / (2 * Z_95)
    beside |= {"ours": value, "low": low, "high": high, "ratio": value / expected}
    n_pairs = pd.to_numeric(row.get("n_pairs"), errors="coerce")
    theirs = error * math.sqrt(ours["n_pairs"] / n_pairs) if n_pairs > 0 else None
    beside |= _tested(math.log(value / expected), error, theirs)
    by_segments = float(str(beside["expected"]))
    other = _tested(math.log(value / by_segments), error, theirs)
    between = min(by_segments, expected) < value < max(by_segments, expected)
    if beside["verdict"] == other["verdict"] == "differs" and between:
        why = f"by segments {by_segments:.2f} would be expected, by what is in them {expected:.2f}: ours is between"
        beside |= {"verdict": "not comparable", "why": why}
    return beside


def _exponent(row: Mapping[str, float], ours: pd.Series, _: Mapping[str, float]) -> dict[str, object]:
    published = float(row["published"])
    value, low, high = (float(ours[name]) for name in ("exponent", "exponent_low", "exponent_high"))
    beside = {"ours": value, "low": low, "high": high, "expected": published, "ratio": value / published}
    return beside | _tested(value - published, math.hypot((high - low) / (2 * Z_95), float(ours["of_order"])), 0.0)


def _percentage(row: Mapping[str, float], ours: pd.Series, _: Mapping[str, float]) -> dict[str, object]:
    published = float(row["published"])
    value, low, high = (100 * float(ours[name]) for name in ("share", "share_low", "share_high"))
    beside = {"ours": value, "low": low, "high": high, "expected": published, "ratio": value / published}
    if ours["n_pairs"] < MIN_PAIRS:
        return beside | _too_few(ours["n_pairs"], "in the range")
    n_pairs = pd.to_numeric(row.get("n_pairs"), errors="coerce")
    n_ours = float(ours["n_pairs"])
    error = (_logit(high, n_ours) - _logit(low, n_ours)) / (2 * Z_95)
    share = min(max(published / 100, 0.5 / n_pairs), 1 - 0.5 / n_pairs) if n_pairs > 0 else math.nan
    theirs = 1 / math.sqrt(n_pairs * share * (1 - share)) if n_pairs > 0 else None
    return beside | _tested(
        _logit(value, n_ours) - _logit(published, n_pairs if n_pairs > 0 else n_ours), error, theirs
    )


def _logit(percentage: float, n: float) -> float:
    """Of a share of n, none nearer to 0 or 1 than half of one."""
    share = min(max(percentage / 100, 0.5 / n), 1 - 0.5 / n)
    return math.log(share / (1 - share))


def _mean(row: Mapping[str, float], ours: pd.Series, _: Mapping[str, float]) -> dict[str, object]:
    published = float(row["published"])
    beside = {**ours.to_dict(), "expected": published, "ratio": ours["ours"] / published}
    return beside | _tested(ours["ours"] - published, (ours["high"] - ours["low"]) / (2 * Z_95), None)


def _bound(row: Mapping[str, float], ours: pd.Series, _: Mapping[str, float], *, upper: bool) -> dict[str, object]:
    published = float(row["published"])
    ratio = ours["ours"] / published
    surpassed = ratio < 1 if upper else ratio > 1
    verdict = "agrees" if ratio == 1 else "better" if surpassed else "differs"
    why = "the published number is a bound" if verdict != "differs" else "beyond the published bound"
    return {**ours.to_dict(), "expected": published, "ratio": ratio, "verdict": verdict, "why": why}


def _bend(row: Mapping[str, float], ours: pd.Series, _: Mapping[str, float]) -> dict[str, object]:
    place = float(row["published"])
    errors = ours["errors"]
    before, after = (_slope(errors[side]) for side in (errors.index <= place, errors.index >= place))
    if after is None or before is None:
        return {"expected": place, "verdict": "too few", "why": "too few numbers of samples on one side"}
    told = f"the error falls as K^{before[0]:.2f} up to there and as K^{after[0]:.2f} beyond".replace("-", "−")
    bent = after[0] - before[0] > Z_95 * math.hypot(before[1], after[1])
    return {
        "expected": place,
        "verdict": "agrees" if bent else "differs",
        "why": told + ("" if bent else ": no bend, so no number of samples is the least"),
    }


def _slope(errors: pd.Series[float]) -> tuple[float, float] | None:
    """Exponent of the relative error by the number of samples, and its standard error."""
    x, y = np.log(errors.index.to_numpy(float)), np.log(errors.to_numpy(float))
    centred = x - x.mean()
    spread = float(centred @ centred)
    if len(x) < 3 or not spread:
        return None
    slope = float(centred @ y) / spread
    residual = y - y.mean() - slope * centred
    return slope, math.sqrt(float(residual @ residual) / (len(x) - 2) / spread)


_KINDS: Mapping[str, Callable[[Mapping[str, float], pd.Series, Mapping[str, float]], dict[str, object]]] = {
    "threshold": _threshold,
    "exponent": _exponent,
    "share": _percentage,
    "p": _mean,
    "samples": _bend,
    "faster": partial(_bound, upper=False),
    "seconds": partial(_bound, upper=True),
}


def _tested(difference: float, ours: float, theirs: float | None) -> dict[str, object]:
    """The difference in standard errors of both sides; the paper's error is None where it is unknown."""
    error = math.hypot(ours, ours if theirs is None else theirs)
    z = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    if not math.isfinite(difference) or math.isnan(z):
        return {"verdict": "too few", "why": "ours has no interval"}
    return {
        "z": z if math.isfinite(z) else math.nan,
        "verdict": "agrees" if abs(z) <= Z_95 else "differs",
        "why": "the paper's error is unknown and taken to be as large as ours" if theirs is None else "",
    }


def _too_few(n_pairs: float, where: str) -> dict[str, object]:
    return {"verdict": "too few", "why": f"{int(n_pairs)} pairs of ours are {where}"}


def _exponent_of(size_law: pd.DataFrame, claims: pd.DataFrame | None, dataset: str, subset: str) -> pd.Series | None:
    """A row of `size_law`, with the standard error that the order of the segments makes; 0 where it is not known."""
    row = _first(size_law, dataset=dataset, subset=subset)
    order = None if row is None or claims is None else _first(claims, claim="order", dataset=dataset, measured=IN_ORDER)
    spread = 0.0 if order is None else (order["high"] - order["low"]) / (2 * Z_95)
    return None if row is None else pd.concat([row, pd.Series({"of_order": spread})])


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


def _samples(relative_error: pd.DataFrame, metric: str) -> pd.Series | None:
    """Relative errors by the number of samples, averaged over the sizes: what a bend would show in."""
    errors = relative_error[relative_error["metric"] == metric].groupby("n_resamples")["error"].mean()
    return pd.Series({"errors": errors}) if len(errors) else None


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
