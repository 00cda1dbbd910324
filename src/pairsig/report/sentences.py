"""Results as sentences for a paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from pairsig.comparisons.wording import equation, lower_is_better, rounded, shown_adjusted, shown_p
from pairsig.core import definitions
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records
from pairsig.metrics.names import metric_name
from pairsig.metrics.registry import METRICS

ALPHA = 0.05
"""A sentence says that a system is better if p is below this level; it also reports p."""


def of_systems(table: pd.DataFrame | Sequence[Row]) -> str:
    """One sentence per metric on the table of `compare`, for the first of its tests.

    A sentence calls a system better if p (with several systems: adjusted by Holm's method) is below `ALPHA`. Otherwise
    it says that the difference is not significant, never that there is none, which only a margin test can show; that
    gets a sentence of its own. A Monte Carlo p of 0 is replaced by its upper bound. Gains have two significant digits
    relative to the width of their interval.

    Parameters
    ----------
    table
        Table of `compare`. For one pair of several, a column `holm` may contain the adjusted p as text
        (`wording.shown_adjusted`).
    """
    reported = rows_reported([as_gains(row) for row in records(table)])
    by_metric = groupby(reported, lambda row: row["metric"])
    return "\n".join(chain.from_iterable(_of_metric(list(rows)) for _, rows in by_metric))


def as_gains(row: Row) -> Row:
    """The row with the `gain` of the better system, and with its interval instead of that of the difference."""
    low, high = (math.nan if row[end] is None else row[end] for end in ("ci_low", "ci_high"))
    low, high = (-high, -low) if row["difference"] < 0 else (low, high)
    return row | {"gain": abs(row["difference"]), "ci_low": low, "ci_high": high}


def rows_reported(rows: Sequence[Row]) -> list[Row]:
    """The rows that `of_systems` reports: those of the test, and of equivalence up to the margin."""
    return [row for row in rows if row["margin"] is None or row["alternative"] == "equivalence"]


def verdict(a: str, b: str, better: str, p: float, gain: str) -> str:
    """Which of two systems is better, or that their difference is not significant.

    `p` is compared with `ALPHA`: adjusted if several systems were tested, and an upper bound instead of 0.

    >>> verdict("a", "b", "b", 0.01, "1.2 BLEU")
    'b is better than a by 1.2 BLEU'
    >>> verdict("a", "b", "b", 0.2, "0.3 BLEU")
    'a and b are not significantly different: b is ahead by 0.3 BLEU'
    """
    if p < ALPHA:
        return f"{better} is better than {b if better == a else a} by {gain}"
    return f"{a} and {b} are not significantly different: {better} is ahead by {gain}"


def digits(gain: float, low: float, high: float) -> int:
    """Decimals of a gain and its scores: two significant digits of the interval's width, or of the gain.

    >>> digits(1.45, 0.76, 2.15), digits(0.026, 0.015, 0.037), digits(4.1, -8.0, 16.2)
    (2, 3, 1)
    >>> digits(0.0, float("nan"), float("nan"))
    2
    """
    least, size = (1, (high - low) / 2) if high > low else (2, gain)
    return min(6, max(least, 1 - math.floor(math.log10(size)))) if size > 0 else 2


def of_methods(table: pd.DataFrame, n_documents: int = 0) -> str:
    """The table of `compare_runs` as one sentence per metric and pair, by the p-value of the method.

    With several rows, or a column `n_compared` above 1, the p-value adjusted by Holm decides, and the sentence reports
    both. `n_documents` is the number of documents if these are the units.
    """
    sentences = []
    for row in map(as_gains, records(table)):
        p, n_compared = f"p = {row['pvalue']:.3g}", row["n_compared"]
        if n_compared > 1:
            holm = adjusted_by_holm(f"{row['pvalue_holm']:.3g}", n_compared)
            p += f" ({holm})"
        runs = f"{row['n_runs_a']} and {row['n_runs_b']} runs, {size(row['n_segments'], n_documents)}"
        interval = "" if math.isnan(row["ci_low"]) else f"95 % CI {_interval(row)}; "
        about = f"{interval}over runs and test sets, {p}, {runs}"
        sentences.append(_of_pair(row, row["system_a"], row["system_b"], row["pvalue_holm"], about))
    return "\n".join(sentences)


def _of_metric(rows: Sequence[Row]) -> Iterator[str]:
    chosen = [row for row in rows if row["margin"] is None]
    if len(chosen) == 1:
        (row,) = chosen
        (holm,) = [row["holm"]] if "holm" in row else shown_adjusted(chosen)
        yield of_pair(row, holm, chosen[0]["pvalue_holm"])
    else:
        yield _of_several(chosen)
    for row in (row for row in rows if row["margin"] is not None):
        margin, p = _points(row, f"{row['margin']:g}"), row["pvalue_holm"]
        shown = "are" if p < ALPHA else "could not be shown to be"
        adjusted = f" ({adjusted_by_holm(f'{p:.3g}', row['n_compared'])})" if row["n_compared"] > 1 else ""
        yield (
            f"{row['system_a']} and {row['system_b']} {shown} equally good up to {margin} "
            f"(two one-sided tests, p = {row['pvalue']:.3g}{adjusted}, {_size(row)})."
        )


def of_pair(row: Row, holm: str, decides: float) -> str:
    """The sentence on a row of `as_gains`; `holm` is the adjusted p-value as text, and `decides` what decides."""
    adjusted = f" ({adjusted_by_holm(holm, row['n_compared'])})" if row["n_compared"] > 1 else ""
    about = f"{_test(row)}, {equation(shown_p(row))}{adjusted}, {_size(row)}"
    if not math.isnan(row["ci_low"]):
        about = f"95 % CI {_interval(row)}; {about}"
    return _of_pair(row, row["system_a"], row["system_b"], decides, about)


def of_scores(row: Row) -> str:
    """The scores of both systems, with the digits of the gain."""
    shown = (f"{row[f'system_{side}']} {_decimals(row, row[f'score_{side}'])}" for side in "ab")
    return f"Scores: {', '.join(shown)}."


def _of_pair(row: Any, a: str, b: str, p: float, about: str) -> str:
    """The sentence on two systems."""
    if not row["better"]:
        same = f"{a} and {b} have the same {_named(row['metric'])} on this test set"
        return f"{same} ({_size(row)}), so p = 1 by definition." if p == 1 else f"{same} ({about})."
    if lower_is_better(row, b):
        about = f"lower is better; {about}"
    doubt = "" if p < ALPHA else "; this does not show that they are equally good"
    if p >= ALPHA and row.get("alternative") in ("greater", "less"):
        ahead = f"{row['better']} is ahead by {_points(row, _decimals(row, row['gain']))}"
        return f"The score of {a} is not significantly {row['alternative']} than that of {b}: {ahead} ({about}){doubt}."
    return f"{verdict(a, b, row['better'], p, _points(row, _decimals(row, row['gain'])))} ({about}){doubt}."


def _of_several(rows: Sequence[Row]) -> str:
    """The sentence on several systems that are compared with the same one: the first system, or the baseline."""
    by_verdict: dict[str, list[str]] = {"better": [], "worse": [], "not significantly different": []}
    first = rows[0]
    common, compared = (
        ("system_a", "system_b") if first["system_a"] == rows[1]["system_a"] else ("system_b", "system_a")
    )
    for row, p in zip(rows, shown_adjusted(rows), strict=True):
        decides = row["pvalue_holm"]
        ahead = row["better"] == row[compared]
        verdict = ("better" if ahead else "worse") if decides < ALPHA else "not significantly different"
        gain = f"by {_decimals(row, row['gain'])}"
        if decides >= ALPHA:
            gain = f"{'ahead' if ahead else 'behind'} {gain}" if row["better"] else "same score"
        by_verdict[verdict].append(f"{row[compared]} ({gain}, {equation(p)})")
    verdicts = [
        f"{_and(systems)} {'is' if len(systems) == 1 else 'are'} {verdict}"
        for verdict, systems in by_verdict.items()
        if systems
    ]
    lower = " (lower is better)" if any(lower_is_better(row, row["system_b"]) for row in rows) else ""
    return (
        f"Of {len(rows)} systems compared with {first[common]} by {_named(first['metric'])}{lower}, "
        f"{_and(verdicts)} ({_test(first)}, p adjusted by Holm for {first['n_compared']} comparisons, {_size(first)})."
    )


def _test(row: Any) -> str:
    """The name of the test in a text, and its number of resamples."""
    return definitions.find(row["test"], row["method"], row["alternative"]).in_a_paper(row["n_resamples"])


def _size(row: Any) -> str:
    if "signature" not in row:  # methods
        return size(row["n_segments"])
    return size(row["n_segments"], row["n_units"] if "|unit:document" in row["signature"] else 0)


def size(n_segments: int, n_documents: int = 0) -> str:
    """The size of a test set: segments, or the documents that are the units.

    >>> size(1200), size(12, 4)
    ('n = 1,200', 'n = 4 documents with 12 segments')
    """
    return f"n = {n_documents:,} documents with {n_segments:,} segments" if n_documents else f"n = {n_segments:,}"


def adjusted_by_holm(p: str, n_compared: int) -> str:
    """The adjusted p-value, and the size of the family: "0.04 adjusted by Holm for 3 comparisons"."""
    return f"{p} adjusted by Holm for {n_compared} comparisons"


def _named(metric: str) -> str:
    """Name of the metric for people."""
    return metric_name(metric) if metric in METRICS else metric


def _points(row: Any, number: str) -> str:
    """A gain with its unit: 1.2 BLEU, 0.8 points of accuracy."""
    name = _named(row["metric"])
    if row["metric"] not in METRICS or name == "mean":
        return f"{number} in {name}" if name != "mean" else f"{number} on average"
    return f"{number} points of {name}" if name.islower() else f"{number} {name}"


def _interval(row: Any) -> str:
    low, high = (_decimals(row, row[end]) for end in ("ci_low", "ci_high"))
    return f"{low} to {high}"


def _decimals(row: Any, value: float) -> str:
    return rounded(value, digits(row["gain"], row["ci_low"], row["ci_high"]))


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
