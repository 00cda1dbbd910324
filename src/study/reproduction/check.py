"""Compare our numbers with those printed in the papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pairsig.io.columns import Column, Table
from pairsig.io.tables import frame
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, WINDOW, of_one_test
from study.analysis.record import Analysis, Figure, Output, Rows
from study.tables import columns
from study.tables.columns import ENDS, IN_ORDER, PUBLISHED, addressed, numeric, optional_count, with_interval

_WHY = "why the two cannot be compared, or what the comparison assumes"

REPRODUCTION = Table(
    "reproduction",
    (
        *columns.ITEM,
        columns.COMPARED_WITH,
        *with_interval("ours", "our number", "by unit", "see `unit`", ends=ENDS),
        optional_count("ours_n_segments", "segments in our test set", "segments", "our segments"),
        numeric(
            "expected", "the published number scaled to the number of segments in our test set", "see `unit`",
            "published, scaled", "by unit", missing=True,
        ),
        columns.INFORMATION,
        optional_count("ours_information", "words, brackets or links in our test set", "", "our information"),
        numeric(
            "expected_by_information", "the published number scaled to the words, brackets or links in our test set",
            "see `unit`", "scaled by information", "by unit", missing=True,
        ),
        numeric(
            "ratio", "our number divided by the expected one (scaled by information where that is known)",
            shown="two decimals", missing=True,
        ),
        numeric(
            "error", "standard error of our number, over systems and segments or test sets; of its logarithm for "
            "thresholds, of its logit for shares", missing=True,
        ),
        numeric(
            "published_error", "standard error of the published number on the same scale, as in a study of its size "
            "with our systems", missing=True,
        ),
        numeric(
            "z", "difference divided by the standard error of both numbers together", shown="two decimals", missing=True
        ),
        Column(
            "verdict",
            str,
            "whether the two numbers agree",
            choices=("agrees", "differs", "better", "too few", "not comparable"),
        ),
        Column("why", str, _WHY),
    ),
    key=("item",),
)  # fmt: skip


VERDICTS = {
    "agrees": "the two numbers differ by at most 1.96 standard errors of their difference",
    "differs": "the two numbers differ by more than that",
    "better": "our number is better than a bound (a time or a size) that the paper reports",
    "too few": f"our number is based on fewer than {MIN_PAIRS} pairs in the window or fewer than {MIN_SYSTEMS} systems",
    "not comparable": "the two numbers measure different things, or this run did not compute ours; `why` explains it",
}
"""Meaning of each verdict."""

Z_95 = 1.959963984540054

_PUBLISHED = tuple(name for name in REPRODUCTION.names if name in PUBLISHED.names and name != "why")


def check(
    published: pd.DataFrame,
    *,
    thresholds: pd.DataFrame,
    threshold_errors: pd.DataFrame,
    size_scaling: pd.DataFrame,
    calibration: pd.DataFrame,
    systems: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
    relative_error: pd.DataFrame | None = None,
    run_time: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compare each published number with ours and give a verdict (see `VERDICTS`).

    Parameters
    ----------
    published
        The numbers printed in the papers, table `PUBLISHED`.
    thresholds, threshold_errors, size_scaling, calibration
        Tables of `thresholds`, `threshold_errors` and `calibrate`. Where there are several tests, the bootstrap is
        used, as in the paper.
    systems
        Table of `describe`, for the number of words, brackets or links per segment.
    claims
        Table of `claims`, for its numbers and for the variation of exponents when the segments are in random order.
    relative_error, run_time
        Tables of `approximate` and `race`, for the numbers of the exact-test paper.

    Notes
    -----
    The column `compared_with` has the address of our number (docs/sheets/comparisons.md lists the kinds). If there is
    none, the column `why` of the sheet gives the reason.

    Test sets differ in size, and a threshold falls with the square root of the amount of information. The expected
    threshold is therefore the published one times sqrt(n_published / n), where n is the number of segments. Where the
    sheet contains the number of words, brackets or links in the paper's test set, a second expected threshold
    (`expected_by_information`) uses these instead; ours are the dataset's average per segment times the number of
    segments. The verdict uses the second one where it exists. If our threshold differs from both but lies between
    them, the verdict is `not comparable`.

    Two numbers are compared on the scale on which they are nearly normal: thresholds as logarithms, shares as logits.
    Both have a standard error. The error of a published number is that of a study of its size with systems like ours:

    threshold
        Ours has the error over systems (its interval in `thresholds`) and over segments (`threshold_errors`), added in
        squares; the interval combines both. Where the test set is one of many windows, ours is the mean over all of
        them. With the errors σ over segments and σ₊ over segments and systems of the *paper's* percentile in studies
        redrawn from ours, n segments and m systems, the square of the paper's is σ²n/n′ + (σ₊² − σ²)m/m′. The size of
        its test set is n′ (by information, if that is known), and m′ its number of systems, where the sheet has it.
    share
        Ours has the error over systems and test sets. The square of the paper's, P′, is 1/(n′P′(1 − P′)) +
        B²/(c Q²(1 − Q)²) with its n′ pairs of systems. B is the standard deviation of our rate between pairs of test
        sets (`between` in `calibration`), and Q the mean of both rates. The paper has c pairs of test sets: as many as
        we draw for its population, otherwise one. Where it reports n′ only for the window around 0.05, n′ for other
        ranges follows from our numbers of pairs.
    exponent
        Ours has the error over systems and, if `claims` is given, over orders of the segments. The paper's follows from
        its two thresholds, from which it is computed, and their errors.

    For other numbers without a known error, the paper's is assumed to be as large as ours. Published run times
    are upper bounds, and published numbers of sentences up to which a test is faster are lower bounds: the verdict
    beyond them is `better`.

    Returns
    -------
    Table `REPRODUCTION`, one row per published number.
    """
    thresholds, size_scaling = of_one_test(thresholds), of_one_test(size_scaling)
    kinds: dict[str, tuple[Callable[..., pd.Series | None], Callable[..., dict[str, object]]]] = {
        "threshold": (
            lambda dataset, subset, test_set="": _first(
                thresholds, dataset=dataset, subset=subset, test_set=test_set or "whole"
            ),
            partial(_threshold, lengths=_lengths(systems), errors=threshold_errors),
        ),
        "exponent": (partial(_exponent_of, size_scaling, claims), partial(_exponent, errors=threshold_errors)),
        "share": (partial(_share, calibration), partial(_percentage, in_window=_in_window(published))),
    }
    if claims is not None:
        claim = partial(_claim, claims)
        kinds |= {"claim": (claim, partial(_mean, theirs=0.0)), "below": (claim, _below)}
    if relative_error is not None:
        kinds["p"] = partial(_mean_p, relative_error), partial(_mean, theirs=None)
        kinds["samples"] = partial(_samples, relative_error), _bend
    if run_time is not None:
        kinds["faster"] = partial(_faster, run_time), partial(_bound, upper=False)
        kinds["seconds"] = partial(_seconds, run_time), partial(_bound, upper=True)
    rows = []
    for row in published.to_dict("records"):
        # The form of the address, and numbers above 0, are checked with the sheet (`study.sheets.models`).
        kind, *address = str(row["compared_with"]).split(":")
        find, compare = kinds.get(kind, (lambda *_: None, dict))
        ours = find(*address)
        beside = {} if ours is None else compare(row, ours)
        if ours is None or row["why"]:
            beside |= {"verdict": "not comparable", "why": row["why"] or "this run did not compute our number"}
        rows.append({key: row.get(key) for key in _PUBLISHED} | beside)
    return frame(REPRODUCTION, rows)


def _lengths(systems: pd.DataFrame | None) -> Mapping[str, float]:
    """Words, brackets or links per segment, by dataset; the mean over the datasets for a task."""
    if systems is None:
        return {}
    known = systems[(systems["group"] == "all") & systems["length_per_segment"].notna()]
    natural = known[~known["dataset"].isin(systems.loc[systems["group"] != "all", "dataset"]) & (known["task"] != "")]
    tasks = natural.groupby("task")["length_per_segment"].mean()
    return dict(zip(known["dataset"], known["length_per_segment"], strict=True)) | {
        f"task={task}": value for task, value in tasks.items()
    }


def _threshold(
    row: Mapping[str, Any], ours: pd.Series, *, lengths: Mapping[str, float], errors: pd.DataFrame
) -> dict[str, object]:
    published, n = float(row["published"]), float(ours["n_segments"])
    expected = published * math.sqrt(float(row["n_segments"]) / n)
    beside: dict[str, object] = {"ours_n_segments": n, "expected": expected}
    length_per_segment = lengths.get(str(ours["dataset"]), math.nan)
    information = _positive(row, "information")
    if information and length_per_segment > 0:
        beside["ours_information"] = round(length_per_segment * n)
        expected = published * math.sqrt(information / (length_per_segment * n))
        beside["expected_by_information"] = expected
    if ours["verdict"] != "estimated":
        return beside | _too_few(ours, "in the window")
    value, low, high = (float(ours[name]) for name in ("threshold", "low", "high"))
    redrawn = _first(errors, **{name: ours[name] for name in ("dataset", "test_set", "subset")})
    if redrawn is None:
        return beside | {"verdict": "not comparable", "why": "this run did not compute the error of our number"}
    of_segments = redrawn["error_segments"] / math.sqrt(redrawn["n_windows"])
    below, above = (math.hypot(math.log(end / value), Z_95 * of_segments) for end in (low, high))
    value = float(redrawn["threshold"]) if redrawn["n_windows"] > 1 else value
    error = math.hypot(math.log(high / low) / (2 * Z_95), of_segments)
    beside |= {
        "ours": value,
        "low": value * math.exp(-below),
        "high": value * math.exp(above),
        "ratio": value / expected,
    }
    # The square root of the ratio of the two sizes of test sets, by which thresholds are scaled.
    theirs = _of_a_study(redrawn, (published / expected) ** 2, _positive(row, "n_systems"))
    beside |= _tested(math.log(value / expected), error, theirs)
    by_segments = float(str(beside["expected"]))
    theirs = _of_a_study(redrawn, (published / by_segments) ** 2, _positive(row, "n_systems"))
    scaled_by_segments = _tested(math.log(value / by_segments), error, theirs)
    between = min(by_segments, expected) < value < max(by_segments, expected)
    if beside["verdict"] == scaled_by_segments["verdict"] == "differs" and between:
        why = f"expected {by_segments:.2f} scaled by segments and {expected:.2f} by information; ours lies between"
        beside |= {"verdict": "not comparable", "why": why}
    return beside


def _of_a_study(redrawn: pd.Series, ours_over_theirs: float, n_systems: float | None) -> float:
    """Standard error of the logarithm of a published threshold, by studies of its size with our systems."""
    of_segments, of_both = (float(redrawn[name]) ** 2 for name in ("printed_error_segments", "printed_error"))
    of_systems = max(of_both - of_segments, 0.0) * (redrawn["n_systems"] / n_systems if n_systems else 1.0)
    return math.sqrt(of_segments * ours_over_theirs + of_systems)


def _positive(row: Mapping[str, Any], name: str) -> float | None:
    """A number of the sheet, if it has one."""
    number = pd.to_numeric(row.get(name), errors="coerce")
    return float(number) if number > 0 else None


def _beside(row: Mapping[str, float], ours: pd.Series, name: str = "", factor: int = 1) -> dict[str, object]:
    """Our number with its interval (columns `name`, or those of `_found`) beside the published one."""
    published = float(row["published"])
    cells: dict[str, Any] = ours.to_dict()
    if name:
        names = zip(("ours", "low", "high"), ("", "_low", "_high"), strict=True)
        cells = {column: factor * float(ours[f"{name}{end}"]) for column, end in names}
    return cells | {"expected": published, "ratio": cells["ours"] / published if published else math.nan}


def _exponent(row: Mapping[str, Any], ours: pd.Series, *, errors: pd.DataFrame) -> dict[str, object]:
    beside = _beside(row, ours, "exponent")
    error = math.hypot((ours["exponent_high"] - ours["exponent_low"]) / (2 * Z_95), float(ours["of_order"]))
    of_dataset = errors[(errors["dataset"] == ours["dataset"]) & (errors["subset"] == ours["subset"])]
    ends = [of_dataset[of_dataset["n_segments"] == ours[end]]["printed_error"] for end in ("n_low", "n_high")]
    if not all(len(end) for end in ends):
        return beside | {"verdict": "not comparable", "why": "this run did not compute the errors of two thresholds"}
    theirs = math.hypot(*(float(end.iloc[0]) for end in ends)) / math.log(ours["n_high"] / ours["n_low"])
    return beside | _tested(ours["exponent"] - float(row["published"]), error, theirs)


def _percentage(
    row: Mapping[str, Any], ours: pd.Series, *, in_window: Mapping[tuple[str, str], float]
) -> dict[str, object]:
    published = float(row["published"])
    value, low, high = (100 * float(ours[name]) for name in ("share", "share_low", "share_high"))
    beside = _beside(row, ours, "share", 100)
    if ours["n_pairs"] < MIN_PAIRS or ours["n_systems"] < MIN_SYSTEMS:
        return beside | _too_few(ours, "in the range")
    n_ours, n_pairs, why = float(ours["n_pairs"]), _positive(row, "n_pairs"), ""
    of_window = in_window.get((ours["calibration"], ours["distance"]))
    if n_pairs is None and of_window and ours["n_in_window"] > 0:
        n_pairs = of_window * n_ours / ours["n_in_window"]
        why = f"the paper's number of pairs is estimated: {n_pairs:.0f}"
    error = (_logit(high, n_ours) - _logit(low, n_ours)) / (2 * Z_95)
    if n_pairs is None:
        return beside | _tested(_logit(value, n_ours) - _logit(published, n_ours), error, None)
    share = min(max(published / 100, 0.5 / n_pairs), 1 - 0.5 / n_pairs)
    n_test_sets = float(ours["n_test_sets"]) if ours["distance"] == "iid" else 1.0
    pooled = (ours["share"] + share) / 2
    between = float(ours["between"]) / (pooled * (1 - pooled)) if ours["between"] > 0 else 0.0
    theirs = math.hypot(1 / math.sqrt(n_pairs * share * (1 - share)), between / math.sqrt(n_test_sets))
    return beside | _tested(_logit(value, n_ours) - _logit(published, n_pairs), error, theirs, why)


def _logit(percentage: float, n: float) -> float:
    """Logit of a share of n, kept half a count away from 0 and 1."""
    share = min(max(percentage / 100, 0.5 / n), 1 - 0.5 / n)
    return math.log(share / (1 - share))


def _mean(row: Mapping[str, float], ours: pd.Series, *, theirs: float | None) -> dict[str, object]:
    error = (ours["high"] - ours["low"]) / (2 * Z_95)
    return _beside(row, ours) | _tested(ours["ours"] - float(row["published"]), error, theirs)


def _below(row: Mapping[str, float], ours: pd.Series) -> dict[str, object]:
    below = ours["high"] < float(row["published"])
    why = " than this one" if below else "; our interval includes larger ones"
    verdict = {"verdict": "agrees" if below else "differs", "why": f"the paper claims a smaller number{why}"}
    return _beside(row, ours) | verdict


def _bound(row: Mapping[str, float], ours: pd.Series, *, upper: bool) -> dict[str, object]:
    ratio = ours["ours"] / float(row["published"])
    surpassed = ratio < 1 if upper else ratio > 1
    verdict = "agrees" if ratio == 1 else "better" if surpassed else "differs"
    why = "the published number is a bound" if verdict != "differs" else "beyond the published bound"
    return _beside(row, ours) | {"verdict": verdict, "why": why}


def _bend(row: Mapping[str, float], ours: pd.Series) -> dict[str, object]:
    place = float(row["published"])
    errors = ours["errors"]
    before, after = (_slope(errors[side]) for side in (errors.index <= place, errors.index >= place))
    if after is None or before is None:
        why = "too few numbers of samples on one side of the published number"
        return {"expected": place, "verdict": "too few", "why": why}
    why = f"the error falls as K^{before[0]:.2f} up to this number and as K^{after[0]:.2f} beyond it"
    bent = after[0] - before[0] > Z_95 * math.hypot(before[1], after[1])
    why = why.replace("-", "−") + ("" if bent else ": without a bend, no number of samples is a minimum")
    return {"expected": place, "verdict": "agrees" if bent else "differs", "why": why}


def _slope(errors: pd.Series[float]) -> tuple[float, float] | None:
    """Fit the exponent of the relative error in the number of samples; with its standard error."""
    x, y = np.log(errors.index.to_numpy(float)), np.log(errors.to_numpy(float))
    centred = x - x.mean()
    spread = float(centred @ centred)
    if len(x) < 3 or not spread:
        return None
    slope = float(centred @ y) / spread
    residual = y - y.mean() - slope * centred
    return slope, math.sqrt(float(residual @ residual) / (len(x) - 2) / spread)


def _tested(difference: float, ours: float, theirs: float | None, why: str = "") -> dict[str, object]:
    """Divide the difference by its standard error; `theirs` is None where the paper's error is unknown."""
    if theirs is None:
        theirs, why = ours, "the paper's standard error is unknown and assumed to be as large as ours"
    error = math.hypot(ours, theirs)
    exact = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    z = difference / error if error else exact
    if not math.isfinite(difference) or math.isnan(z):
        return {"verdict": "too few", "why": "our number has no interval"}
    return {
        "error": ours,
        "published_error": theirs,
        "z": z if math.isfinite(z) else math.nan,
        "verdict": "agrees" if abs(z) <= Z_95 else "differs",
        "why": why,
    }


def _too_few(ours: pd.Series, where: str) -> dict[str, object]:
    noun = "pairs" if ours["n_pairs"] < MIN_PAIRS else "systems"
    return {"verdict": "too few", "why": f"number of our {noun} {where}: {int(ours[f'n_{noun}'])}"}


def _exponent_of(
    size_scaling: pd.DataFrame, claims: pd.DataFrame | None, dataset: str, subset: str
) -> pd.Series | None:
    """Find a row of `size_scaling` and add the standard error from the order of the segments (0 if unknown)."""
    row = _first(size_scaling, dataset=dataset, subset=subset)
    order = None if row is None or claims is None else _first(claims, claim="order", dataset=dataset, measured=IN_ORDER)
    spread = 0.0 if order is None else (order["high"] - order["low"]) / (2 * Z_95)
    return None if row is None else pd.concat([row, pd.Series({"of_order": spread})])


def _claim(claims: pd.DataFrame, claim: str, dataset: str, measured: str) -> pd.Series | None:
    row = _first(claims, claim=claim, dataset=dataset, measured=measured)
    return None if row is None else _found(row["value"], row["low"], row["high"])


def _share(calibration: pd.DataFrame, name: str, distance: str, between: str) -> pd.Series | None:
    low, high = (float(bound) for bound in between.split("-"))
    row, window = (
        _first(calibration, calibration=name, distance=distance, p_low=p_low, p_high=p_high)
        for p_low, p_high in ((low, high), WINDOW)
    )
    n_in_window = 0 if window is None else window["n_pairs"]
    return None if row is None else pd.concat([row, pd.Series({"n_in_window": n_in_window})])


def _in_window(published: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The paper's number of pairs in the window around 0.05, by calibration and distance."""
    shares = addressed(published, "share", "calibration", "distance", "p_range")
    known = shares[(shares["p_range"] == "-".join(map(str, WINDOW))) & (shares["n_pairs"] > 0)]
    return {(row.calibration, row.distance): float(row.n_pairs) for row in known.itertuples()}


def _mean_p(relative_error: pd.DataFrame, n_segments: str, metric: str) -> pd.Series | None:
    """Mean exact p-value of simulated systems, with its normal 95 % interval."""
    row = _first(relative_error, n_segments=int(n_segments), metric=metric)
    if row is None:
        return None
    margin = 1.96 * row["p_sd"] / np.sqrt(row["n_simulated"])
    return _found(row["p_mean"], max(row["p_mean"] - margin, 0.0), row["p_mean"] + margin, row["n_segments"])


def _samples(relative_error: pd.DataFrame, metric: str) -> pd.Series | None:
    """Relative error for each number of samples, averaged over sizes, to look for a bend."""
    errors = relative_error[relative_error["metric"] == metric].groupby("n_resamples")["error"].mean()
    return pd.Series({"errors": errors}) if len(errors) else None


def _faster(run_time: pd.DataFrame, n_resamples: str, metric: str) -> pd.Series | None:
    """Largest number of sentences tried up to which the exact test is always faster; 0 if there is none."""
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
    rows = table[(table[list(values)] == list(values.values())).all(axis=1)]
    return rows.iloc[0] if len(rows) else None


ANALYSIS = Analysis(
    check,
    {
        "published": Rows(PUBLISHED),
        "thresholds": Rows("thresholds"),
        "threshold_errors": Rows("threshold_errors"),
        "size_scaling": Rows("size_scaling"),
        "calibration": Rows("calibration"),
        "systems": Rows("systems", optional=True),
        "claims": Rows("claims", optional=True),
        "relative_error": Rows("relative_error", optional=True),
        "run_time": Rows("run_time", optional=True),
    },
    tables=(Output(REPRODUCTION, "one row per published number", "Published numbers beside ours, with verdicts"),),
    figures=(
        Figure(
            "thresholds",
            "summaries",
            ("reproduction",),
            "Our thresholds beside the published ones; ticks: published thresholds scaled to our test-set sizes.",
            "A tick is the published value times the square root of the ratio of the two test-set sizes, which is the "
            "value expected on a test set of our size. A cross uses the number of words, brackets or links instead of "
            "segments.",
            section="3",
        ),
    ),
    memory=500,
    minutes=5,
)
