"""Results as sentences for a paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from pairsig.comparisons.baseline import decisive, equation, shown_adjusted, shown_p
from pairsig.core import definitions
from pairsig.metrics.names import metric_name
from pairsig.metrics.registry import METRICS

ALPHA = 0.05
"""A sentence says that a system is better if p is below this level; it also reports p."""


def of_systems(table: pd.DataFrame) -> str:
    """One sentence per metric on the table of `compare_to_baseline`, for the first of its tests.

    A sentence calls a system better if p (with several systems: adjusted by Holm's method) is below `ALPHA`. Otherwise
    it says that the difference is not significant, never that there is none, which only a margin test can show; that
    gets a sentence of its own. A Monte Carlo p of 0 is replaced by its upper bound. Gains have two significant digits
    relative to the width of their interval.

    Parameters
    ----------
    table
        Table of `compare_to_baseline`, without `stop_at`. For one pair of several, a column `holm` may contain the
        adjusted p as text (`baseline.shown_adjusted`).
    """
    return "\n".join(
        sentence for _, rows in rows_reported(table).groupby("metric", sort=False) for sentence in _of_metric(rows)
    )


def rows_reported(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that `of_systems` reports: those of a metric's first test, and of equivalence up to the margin."""
    rows = []
    for _, own in table.groupby("metric", sort=False):
        keys = ["test", "method", "alternative"]
        first = (own[keys] == own.iloc[0][keys]).all(axis=1)
        rows.append(own[first | (own["margin"].notna()) & (own["alternative"] == "equivalence")])
    return pd.concat(rows)


def verdict(a: str, b: str, better: str, p: float, gain: str) -> str:
    """Which of two systems is better, or that their difference is not significant.

    Parameters
    ----------
    a, b, better
        Names; `better` is one of them, the one with the better score.
    p
        P-value to compare with `ALPHA`: adjusted if several systems were tested, and an upper bound instead of 0.
    gain
        The gain as text.

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


def of_methods(table: pd.DataFrame) -> str:
    """The table of `compare_methods` as one sentence per metric and pair, by the p-value of the method.

    Where a metric has several pairs, the p-value adjusted by Holm decides, and the sentence reports both.
    """
    sentences = []
    several = set(table["metric"][table["metric"].duplicated()])
    for row in table.to_dict("records"):
        holm = f" ({row['pvalue_holm']:.3g} adjusted by Holm)" if row["metric"] in several else ""
        runs = f"{row['n_runs_a']} and {row['n_runs_b']} runs, n = {row['n_segments']:,}"
        about = f"95 % CI {_interval(row)}; over runs and test sets, p = {row['pvalue_method']:.3g}{holm}, {runs}"
        sentences.append(_of_pair(row, row["method_a"], row["method_b"], row["pvalue_holm"], about))
    return "\n".join(sentences)


def _of_metric(rows: pd.DataFrame) -> Iterator[str]:
    margins, chosen = rows[rows["margin"].notna()], rows[rows["margin"].isna()]
    if len(chosen) == 1:
        row = chosen.iloc[0]
        adjusted = f" ({row['holm']} adjusted by Holm)" if row.get("holm") else ""
        about = f"{_test(row)}, {equation(shown_p(row))}{adjusted}, {_size(row)}"
        if not math.isnan(row["ci_low"]):
            about = f"95 % CI {_interval(row)}; {about}"
        yield _of_pair(row, row["system_a"], row["system_b"], decisive(chosen, "pvalue_holm").iloc[0], about)
    else:
        yield _of_several(chosen)
    for row in margins.to_dict("records"):
        shown = "are" if row["pvalue"] < ALPHA else "could not be shown to be"
        yield (
            f"{row['system_a']} and {row['system_b']} {shown} equally good up to {_points(row, row['margin'], '')} "
            f"(two one-sided tests, p = {row['pvalue']:.3g}, {_size(row)})."
        )


def _of_pair(row: Any, a: str, b: str, p: float, about: str) -> str:
    """The sentence on two systems."""
    if not row["better"]:
        same = f"{a} and {b} have the same {_named(row['metric'])} on this test set"
        return f"{same} (n = {row['n_segments']:,}), so p = 1 by definition."
    doubt = "" if p < ALPHA else "; this does not show that they are equally good"
    return f"{verdict(a, b, row['better'], p, _points(row, row['gain']))} ({about}){doubt}."


def _of_several(rows: pd.DataFrame) -> str:
    """The sentence on several systems that are compared with the first."""
    found: dict[str, list[str]] = {"better": [], "worse": [], "not significantly different": []}
    first = rows.iloc[0]
    pvalues = zip(decisive(rows, "pvalue_holm"), shown_adjusted(rows, "pvalue_holm"), strict=True)
    for row, (decides, p) in zip(rows.to_dict("records"), pvalues, strict=True):
        ahead = row["better"] == row["system_b"]
        sign = "+" if ahead else "−" if row["better"] else "±"
        verdict = ("better" if ahead else "worse") if decides < ALPHA else "not significantly different"
        found[verdict].append(f"{row['system_b']} ({sign}{_decimals(row, row['gain'])}, {equation(p)})")
    verdicts = [
        f"{_and(systems)} {'is' if len(systems) == 1 else 'are'} {verdict}"
        for verdict, systems in found.items()
        if systems
    ]
    return (
        f"Of {len(rows)} systems compared with {first['system_a']} by {_named(first['metric'])}, {_and(verdicts)} "
        f"({_test(first)}, p adjusted by Holm, {_size(first)})."
    )


def _test(row: Any) -> str:
    """The name of the test in a text, and its number of resamples."""
    return definitions.find(row["test"], row["method"], row["alternative"]).in_a_paper(row["n_resamples"])


def _size(row: Any) -> str:
    whole = " in whole documents" if "|unit:document" in row["signature"] else ""
    return f"n = {row['n_segments']:,}{whole}"


def _named(metric: str) -> str:
    """Name of the metric for people."""
    return metric_name(metric) if metric in METRICS else metric


def _points(row: Any, value: float, decimals: str | None = None) -> str:
    """A gain with its unit: 1.2 BLEU, 0.8 points of accuracy."""
    number = _decimals(row, value) if decimals is None else f"{value:g}"
    name = _named(row["metric"])
    if row["metric"] not in METRICS or name == "mean":
        return f"{number} in {name}" if name != "mean" else f"{number} on average"
    return f"{number} points of {name}" if name.islower() else f"{number} {name}"


def _interval(row: Any) -> str:
    low, high = (_decimals(row, row[end]) for end in ("ci_low", "ci_high"))
    return f"{low} to {high}"


def _decimals(row: Any, value: float) -> str:
    return f"{value:.{digits(row['gain'], row['ci_low'], row['ci_high'])}f}".replace("-", "−")


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
