"""Compare our numbers with those printed in the papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pairsig.io.columns import Column, Table, count
from pairsig.io.tables import frame
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, PAPER_WINDOW, Window
from study.tables import columns
from study.tables.columns import ENDS, PUBLISHED, addressed, numeric, optional_count, with_interval

_WHY = "why the two cannot be compared, or what the comparison assumes"

VERDICTS = {
    "agrees": "the two numbers differ by at most 1.96 standard errors of their difference, and a difference of a "
    "quarter of the number would have been noticed",
    "differs": "the two numbers differ by more than that",
    "cannot tell": "the two numbers are so uncertain that a difference of a quarter of the number would not have been "
    "noticed",
    "better": "our number is better than a bound (a time or a size) that the paper reports",
    "too few": f"our number is based on fewer than {MIN_PAIRS} pairs in the window or fewer than {MIN_SYSTEMS} systems",
    "not comparable": "the two numbers measure different things, or this run did not compute ours; `why` explains it",
}
"""Meaning of each verdict."""
VERDICT_NAMES = tuple(VERDICTS)

EVIDENCE = {
    "same outputs": "the paper's test set and its systems",
    "same test set": "the paper's test set, our systems",
    "other data": "the same task, other data and systems",
    "formula": "follows from a formula or a simulation, whatever the data",
}
"""Kinds of evidence, the strongest first."""

REPRODUCTION = Table(
    "reproduction",
    (
        *columns.ITEM,
        Column("evidence", str, "whose test set and systems our number has", choices=tuple(EVIDENCE)),
        Column("comparison", str, "the comparison that the number belongs to; numbers of one comparison count once"),
        columns.COMPARED_WITH,
        *with_interval("ours", "our number", "by unit", "see `unit`", ends=ENDS),
        optional_count("ours_n_segments", "segments in our test set", "segments", "our segments"),
        numeric("expected", "the published number scaled to the number of segments in our test set", "see `unit`",
            "published, scaled", "by unit", missing=True),
        numeric("detectable_low", "largest number below the expected one that would have been called different",
            "see `unit`", shown="by unit", missing=True),
        numeric("detectable_high", "smallest number above the expected one that would have been called different",
            "see `unit`", shown="by unit", missing=True),
        numeric("ratio", "our number divided by the expected one", shown="two decimals", missing=True),
        numeric("error", "standard error of our number, over systems and segments or test sets; of its logarithm for "
            "thresholds, of its logit for shares", missing=True),
        numeric("published_error", "standard error of the published number on the same scale, as in a study of its "
            "size with our systems", missing=True),
        numeric("z", "difference divided by the standard error of both numbers together", shown="two decimals",
            missing=True),
        Column("verdict", str, "whether the two numbers agree", choices=VERDICT_NAMES),
        numeric("expected_by_information", "the published number scaled to the words, brackets or links in our test "
            "set", "see `unit`", "scaled by information", "by unit", missing=True),
        Column("verdict_by_information", str, "the verdict by that number; empty where it is unknown"),
        Column("why", str, _WHY),
    ),
    key=("item",),
    caption="Published numbers beside ours, with verdicts",
)  # fmt: skip

TALLY = Table(
    "tally",
    (
        Column("paper", str, "2012 or 2022", choices=("2012", "2022")),
        Column("evidence", str, "whose test set and systems our numbers have", choices=tuple(EVIDENCE)),
        count("n_numbers", "published numbers", "numbers", "numbers"),
        count("n_comparisons", "comparisons: numbers from the same test set and systems count once", "", "comparisons"),
        *(count(verdict.replace(" ", "_"), f"comparisons with the verdict `{verdict}`") for verdict in VERDICT_NAMES),
        *with_interval("detectable", "smallest relative difference that would have been called `differs`, median "
            "comparison", "two decimals", ends=("detectable_least", "detectable_most")),
        count("agrees_by_information", "comparisons that agree if thresholds are scaled by words, brackets or links"),
        count("differs_by_information", "comparisons that differ if they are scaled so"),
    ),
    key=("paper", "evidence"),
    caption="Verdicts on the published numbers, by paper and kind of evidence",
)  # fmt: skip

Z_95 = 1.959963984540054

MIN_SIMULATED = 30
"""Fewer p-values are too skewed for an interval of their mean."""

LARGEST_DETECTABLE = 0.25
"""A comparison that would not have noticed a difference of a quarter of the number cannot tell."""

_PUBLISHED = tuple(name for name in REPRODUCTION.names if name in PUBLISHED.names and name != "why")


def check(published: pd.DataFrame, **tables: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare each published number with ours, give a verdict (see `VERDICTS`), and count the verdicts.

    Parameters
    ----------
    published
        The numbers printed in the papers, table `PUBLISHED`. The column `compared_with` has the address of our number;
        if there is none, the column `why` gives the reason.
    tables
        Tables of the analyses: thresholds, threshold_errors, calibration, systems, relative_error, run_time.

    Notes
    -----
    Test sets differ in size, and a threshold falls with the square root of the number of segments, the paper's own unit
    of size. The expected threshold is therefore the published one times sqrt(n_published / n), for every row. Where the
    sheet has the number of words, brackets or links in the paper's test set, `verdict_by_information` uses these
    instead; it is reported and not counted.

    Two numbers are compared on the scale on which they are nearly normal: thresholds as logarithms, shares as logits.
    Both have a standard error. The error of a published number is that of a study of its size with systems like ours:

    threshold
        Ours has the error over systems (its interval in `thresholds`) and over segments (`threshold_errors`), added in
        squares; the interval combines both. Where the test set is one of many windows, ours is the mean over all of
        them. With the errors σ over segments and σ₊ over segments and systems of the *paper's* percentile in studies
        redrawn from ours, n segments and m systems, the square of the paper's is σ²n/n′ + (σ₊² − σ²)m/m′. The size of
        its test set is n′, and m′ its number of systems, where the sheet has it.
    share
        Ours has the error over systems and test sets. The square of the paper's, P′, is 1/(n′P′(1 − P′)) +
        B²/(c Q²(1 − Q)²) with its n′ pairs of systems. B is the standard deviation of our rate between pairs of test
        sets (`between` in `calibration`), and Q the mean of both rates. The paper has c pairs of test sets: as many as
        we draw for its population, otherwise one. Where it reports n′ only for the window around 0.05, n′ for other
        ranges follows from our numbers of pairs.
    printed, pairs
        On the paper's own outputs there is nothing to redraw. Ours has the range of the Monte Carlo error of the
        p-values and, for a percentile, of its usual definitions (the paper names none).
        The published number agrees if it lies in this range, widened by its rounding.

    With E the standard error of the difference of both numbers, a number differs if it is more than 1.96 E away. The
    same distance on either side of the expected number is the smallest difference that would have been called
    `differs`. Where it exceeds a quarter of the number, the verdict is `cannot tell` in place of `agrees`.

    For other numbers without a known error, the paper's is assumed to be as large as ours. Published run times
    are upper bounds, and published numbers of sentences up to which a test is faster are lower bounds: the verdict
    beyond them is `better`.

    Returns
    -------
    Tables `REPRODUCTION`, one row per published number, and `TALLY`, one row per paper and kind of evidence.
    """

    def of_thresholds(dataset: str, subset: str, test_set: str = "") -> pd.Series | None:
        return _first(tables["thresholds"], dataset=dataset, subset=subset, test_set=test_set or "whole")

    kinds: dict[str, tuple[Callable[..., pd.Series | None], Callable[..., dict[str, object]]]] = {
        "threshold": (
            of_thresholds,
            partial(_threshold, lengths=_lengths(tables["systems"]), errors=tables["threshold_errors"]),
        ),
        "printed": (of_thresholds, partial(_recomputed, name="printed")),
        "pairs": (of_thresholds, partial(_recomputed, name="n_pairs")),
        "share": (partial(_share, tables["calibration"]), partial(_percentage, in_window=_in_window(published))),
        "p": (partial(_mean_p, tables["relative_error"]), _mean),
        "samples": (partial(_samples, tables["relative_error"]), _bend),
        "faster": (partial(_faster, tables["run_time"]), partial(_bound, upper=False)),
        "seconds": (partial(_seconds, tables["run_time"]), partial(_bound, upper=True)),
    }
    rows = []
    for row in published.to_dict("records"):
        # The form of the address, and numbers above 0, are checked with the sheet.
        kind, *address = str(row["compared_with"]).split(":")
        find, compare = kinds.get(kind, (lambda *_: None, dict))
        ours = find(*address)
        beside = {} if ours is None else compare(row, ours)
        if ours is None or row["why"]:
            beside |= {"verdict": "not comparable", "why": row["why"] or "this run did not compute our number"}
        names = {"comparison": row["comparison"] or row["item"], "verdict_by_information": ""}
        rows.append({key: row.get(key) for key in _PUBLISHED} | names | beside)
    reproduction = frame(REPRODUCTION, rows)
    return reproduction, tally(reproduction)


def tally(reproduction: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts by paper and kind of evidence; numbers of one comparison count once.

    Numbers of one comparison have the same systems and first test set, so they depend on each other. The comparison is
    judged by the mean of their differences, with the mean of their standard errors as if all depended entirely.
    """
    rows = []
    paper = np.where(reproduction["item"].str.startswith("exact-"), "2022", "2012")
    for (name, evidence), numbers in reproduction.groupby([paper, "evidence"], sort=False):
        comparisons = [_comparison(group) for _, group in numbers.groupby("comparison", sort=False)]
        verdicts = [comparison["verdict"] for comparison in comparisons]
        others = [comparison["verdict_by_information"] for comparison in comparisons]
        detectable = np.array([comparison["detectable"] for comparison in comparisons])
        detectable = detectable[np.isfinite(detectable)]
        least, median, most = np.quantile(detectable, [0, 0.5, 1]) if len(detectable) else (np.nan,) * 3
        rows.append(
            {"paper": name, "evidence": evidence, "n_numbers": len(numbers), "n_comparisons": len(comparisons)}
            | {verdict.replace(" ", "_"): verdicts.count(verdict) for verdict in VERDICT_NAMES}
            | {"detectable": median, "detectable_least": least, "detectable_most": most}
            | {f"{verdict}_by_information": others.count(verdict) for verdict in ("agrees", "differs")}
        )
    rows.sort(key=lambda row: (row["paper"], list(EVIDENCE).index(row["evidence"])))
    return frame(TALLY, rows)


def _comparison(numbers: pd.DataFrame) -> dict[str, Any]:
    """The verdict of a comparison, and the smallest relative difference that it would have noticed."""
    judged = numbers[numbers["z"].notna()]
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.fmax(
            judged["detectable_high"] / judged["expected"] - 1, 1 - judged["detectable_low"] / judged["expected"]
        )
    detectable = float(away.mean()) if len(away) else math.nan
    verdict = str(numbers["verdict"].iloc[0])
    if len(numbers) > 1 and len(judged):
        error = np.hypot(judged["error"], judged["published_error"])
        verdict = _verdict(float((judged["z"] * error).mean() / error.mean()), detectable)
    other = numbers.loc[numbers["verdict_by_information"] != "", "verdict_by_information"]
    return {
        "verdict": verdict,
        "verdict_by_information": str(other.iloc[0]) if len(other) else verdict,
        "detectable": detectable,
    }


def _verdict(z: float, detectable: float) -> str:
    if abs(z) > Z_95:
        return "differs"
    return "agrees" if detectable <= LARGEST_DETECTABLE else "cannot tell"


def _lengths(systems: pd.DataFrame) -> Mapping[str, float]:
    """Words, brackets or links per segment, by dataset."""
    known = systems[(systems["group"] == "all") & systems["length_per_segment"].notna()]
    return dict(zip(known["dataset"], known["length_per_segment"], strict=True))


def _threshold(
    row: Mapping[str, Any], ours: pd.Series, *, lengths: Mapping[str, float], errors: pd.DataFrame
) -> dict[str, object]:
    published, n = float(row["published"]), float(ours["n_segments"])
    expected = published * math.sqrt(float(row["n_segments"]) / n)
    beside: dict[str, object] = {"ours_n_segments": n, "expected": expected}
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
    beside |= _judged_threshold(row, value, expected, error, redrawn)
    length, information = lengths.get(str(ours["dataset"]), math.nan), _positive(row, "information")
    if information and length > 0:
        expected = published * math.sqrt(information / (length * n))
        other = _judged_threshold(row, value, expected, error, redrawn)
        beside |= {"expected_by_information": expected, "verdict_by_information": other["verdict"]}
    return beside


def _judged_threshold(
    row: Mapping[str, Any], value: float, expected: float, error: float, redrawn: pd.Series
) -> dict[str, object]:
    """Compare the logarithms of a threshold and of the expected one."""
    # The ratio of the two sizes of test sets, whose root scales thresholds.
    theirs = _of_a_study(redrawn, (float(row["published"]) / expected) ** 2, _positive(row, "n_systems"))
    return _tested(math.log(value / expected), error, theirs, lambda distance: expected * math.exp(distance), expected)


def _recomputed(row: Mapping[str, Any], ours: pd.Series, *, name: str) -> dict[str, object]:
    """Compare a number with ours on the paper's own outputs; see `check`."""
    window = Window(float(ours["p_low"]), float(ours["p_high"]))
    if window != PAPER_WINDOW:
        return {
            "verdict": "not comparable",
            "why": f"this run looks at pairs with {window}, the paper with {PAPER_WINDOW}",
        }
    published, value = float(row["published"]), float(ours[name])
    low, high = float(ours[f"{name}_low"]), float(ours[f"{name}_high"])
    # The published number is rounded to hundredths, or it is a whole number.
    rounding = 0.005 if name == "printed" else 0.0
    inside = low - rounding <= published <= high + rounding
    sees_a_quarter = max(value - low, high - value) + rounding <= LARGEST_DETECTABLE * published
    return {
        "ours": value, "low": low, "high": high, "ours_n_segments": float(ours["n_segments"]), "expected": published,
        "detectable_low": published - (value - low) - rounding,
        "detectable_high": published + (high - value) + rounding,
        "ratio": value / published,
        "verdict": "differs" if not inside else "agrees" if sees_a_quarter else "cannot tell",
        "why": f"the range is that of the Monte Carlo error of p{', and of a percentile' * (name == 'printed')}",
    }  # fmt: skip


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

    def away(distance: float) -> float:
        """The percentage at this distance from the published one, on the logit scale."""
        return 100 / (1 + math.exp(-_logit(published, n_pairs or n_ours) - distance))

    if n_pairs is None:
        return beside | _tested(_logit(value, n_ours) - _logit(published, n_ours), error, None, away, published)
    share = min(max(published / 100, 0.5 / n_pairs), 1 - 0.5 / n_pairs)
    n_test_sets = float(ours["n_test_sets"]) if ours["distance"] == "iid" else 1.0
    pooled = (ours["share"] + share) / 2
    between = float(ours["between"]) / (pooled * (1 - pooled)) if ours["between"] > 0 else 0.0
    theirs = math.hypot(1 / math.sqrt(n_pairs * share * (1 - share)), between / math.sqrt(n_test_sets))
    return beside | _tested(_logit(value, n_ours) - _logit(published, n_pairs), error, theirs, away, published, why)


def _logit(percentage: float, n: float) -> float:
    """Logit of a share of n, kept half a count away from 0 and 1."""
    share = min(max(percentage / 100, 0.5 / n), 1 - 0.5 / n)
    return math.log(share / (1 - share))


def _mean(row: Mapping[str, float], ours: pd.Series) -> dict[str, object]:
    error, published = (ours["high"] - ours["low"]) / (2 * Z_95), float(row["published"])
    judged = _tested(ours["ours"] - published, error, None, lambda distance: published + distance, published)
    return _beside(row, ours) | judged


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


def _tested(
    difference: float,
    ours: float,
    theirs: float | None,
    away: Callable[[float], float],
    expected: float,
    why: str = "",
) -> dict[str, object]:
    """Divide our difference from the expected number by its standard error, and find the smallest to be noticed.

    `away` is the number at a distance from the expected one, on the scale on which they are compared.
    """
    if theirs is None:
        theirs, why = ours, "the paper's standard error is unknown and assumed to be as large as ours"
    error = math.hypot(ours, theirs)
    if not math.isfinite(difference) or not error > 0:
        return {"verdict": "too few", "why": "our number has no interval"}
    low, high = away(-Z_95 * error), away(Z_95 * error)
    z = difference / error
    return {
        "error": ours,
        "published_error": theirs,
        "z": z,
        "detectable_low": low,
        "detectable_high": high,
        "verdict": _verdict(z, max(high / expected - 1, 1 - low / expected)),
        "why": why,
    }


def _too_few(ours: pd.Series, where: str) -> dict[str, object]:
    noun = "pairs" if ours["n_pairs"] < MIN_PAIRS else "systems"
    return {"verdict": "too few", "why": f"number of our {noun} {where}: {int(ours[f'n_{noun}'])}"}


def _share(calibration: pd.DataFrame, name: str, distance: str, between: str) -> pd.Series | None:
    low, high = (float(bound) for bound in between.split("-"))
    row, window = (
        _first(calibration, calibration=name, distance=distance, p_low=p_low, p_high=p_high)
        for p_low, p_high in ((low, high), PAPER_WINDOW)
    )
    n_in_window = 0 if window is None else window["n_pairs"]
    return None if row is None else pd.concat([row, pd.Series({"n_in_window": n_in_window})])


def _in_window(published: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The paper's number of pairs in the window around 0.05, by calibration and distance."""
    shares = addressed(published, "share", "calibration", "distance", "p_range")
    known = shares[(shares["p_range"] == "-".join(map(str, PAPER_WINDOW))) & (shares["n_pairs"] > 0)]
    return {(row.calibration, row.distance): float(row.n_pairs) for row in known.itertuples()}


def _mean_p(relative_error: pd.DataFrame, n_segments: str, metric: str) -> pd.Series | None:
    """Mean exact p-value of simulated systems; the normal 95 % interval needs `MIN_SIMULATED`, since p is skewed."""
    row = _first(relative_error, n_segments=int(n_segments), metric=metric)
    if row is None:
        return None
    enough = row["n_simulated"] >= MIN_SIMULATED
    margin = 1.96 * row["p_sd"] / np.sqrt(row["n_simulated"]) if enough else np.nan
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
