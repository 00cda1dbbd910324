"""Results as sentences to put into a paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from pairsig import definitions
from pairsig.metrics.names import metric_name
from pairsig.metrics.registry import METRICS
from pairsig.versus import decisive, equation, shown_adjusted, shown_p

ALPHA = 0.05
"""The level at which a sentence says that a system is better; p is there for any other."""

_TESTS = {
    "exact": "exact permutation test",
    "randomization": "approximate randomization",
    "bootstrap": "paired bootstrap",
}
_OF = {"gt2": "δ* > 2δ", "percentile": "δ* < 0"}


def of_systems(table: pd.DataFrame) -> str:
    """What the table of `versus` says, a sentence a metric; of the first of its tests.

    A system is called better where p (of several systems, that adjusted by Holm) is below `ALPHA`. Where it is not, it
    is said that no difference was shown, never that there is none: that is the margin's to show, which gets a
    sentence of its own. A p of 0 of a test that draws is as large as its bound. Gains have the decimals that their
    interval leaves two certain digits of.

    Parameters
    ----------
    table
        Of `versus`, without `stop_at`. Of one pair of several, a column `holm` may have the adjusted p as it is
        printed (`versus.shown_adjusted`).
    """
    return "\n".join(
        sentence for _, rows in rows_told(table).groupby("metric", sort=False) for sentence in _of_metric(rows)
    )


def rows_told(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that `of_systems` speaks of: those of a metric's first test, and of equivalence up to the margin."""
    rows = []
    for _, own in table.groupby("metric", sort=False):
        test, variant = own.iloc[0][["test", "variant"]]
        first = (own["test"] == test) & (own["variant"] == variant)
        rows.append(own[first | (own["test"] == "margin") & (own["variant"] == "equivalence")])
    return pd.concat(rows)


def told(a: str, b: str, better: str, p: float, gain: str) -> str:
    """What is said of two systems wherever they are spoken of: which one is better, or that it was not shown.

    Parameters
    ----------
    a, b, better
        Names; `better` is one of them, the one with the better score.
    p
        What decides, against `ALPHA`: adjusted where several were tested, and above 0 (a bound, if need be).
    gain
        As it is to be printed.

    >>> told("a", "b", "b", 0.01, "1.2 BLEU"), told("a", "b", "b", 0.2, "0.3 BLEU")
    ('b is better than a by 1.2 BLEU', 'A difference between a and b was not shown: b is ahead by 0.3 BLEU')
    """
    if p < ALPHA:
        return f"{better} is better than {b if better == a else a} by {gain}"
    return f"A difference between {a} and {b} was not shown: {better} is ahead by {gain}"


def digits(gain: float, low: float, high: float) -> int:
    """Digits behind the point of a gain and its scores: two that the interval leaves, or the gain where it has none.

    >>> digits(1.45, 0.76, 2.15), digits(0.026, 0.015, 0.037), digits(4.1, -8.0, 16.2)
    (2, 3, 1)
    >>> digits(0.0, float("nan"), float("nan"))
    2
    """
    least, size = (1, (high - low) / 2) if high > low else (2, gain)
    return min(6, max(least, 1 - math.floor(math.log10(size)))) if size > 0 else 2


def of_methods(table: pd.DataFrame) -> str:
    """What the table of `compare_methods` says, a sentence a metric and pair, by the p-value of the method."""
    sentences = []
    for row in table.to_dict("records"):
        runs = f"{row['n_runs_a']} and {row['n_runs_b']} runs, n = {row['n_segments']:,}"
        about = f"95 % CI {_interval(row)}; over runs and test sets, p = {row['p_method']:.3g}, {runs}"
        sentences.append(_of_pair(row, row["method_a"], row["method_b"], row["p_method"], about))
    return "\n".join(sentences)


def _of_metric(rows: pd.DataFrame) -> Iterator[str]:
    margins, chosen = rows[rows["test"] == "margin"], rows[rows["test"] != "margin"]
    if len(chosen) == 1:
        row = chosen.iloc[0]
        adjusted = f" ({row['holm']} adjusted by Holm)" if row.get("holm") else ""
        about = f"{_test(row)}, {equation(shown_p(row))}{adjusted}, {_size(row)}"
        if not math.isnan(row["ci_low"]):
            about = f"95 % CI {_interval(row)}; {about}"
        yield _of_pair(row, row["system_a"], row["system_b"], decisive(chosen, "p_holm").iloc[0], about)
    else:
        yield _of_several(chosen)
    for row in margins.to_dict("records"):
        shown = "are" if row["p_value"] < ALPHA else "were not shown to be"
        yield (
            f"{row['system_a']} and {row['system_b']} {shown} equally good up to {_points(row, row['margin'], '')} "
            f"(two one-sided tests, p = {row['p_value']:.3g}, {_size(row)})."
        )


def _of_pair(row: Any, a: str, b: str, p: float, about: str) -> str:
    """The sentence on two systems."""
    if not row["better"]:
        same = f"{a} and {b} have the same {_named(row['metric'])} on this test set"
        return f"{same} (n = {row['n_segments']:,}), so that p = 1 by definition."
    doubt = "" if p < ALPHA else ", which does not say that they are equally good"
    return f"{told(a, b, row['better'], p, _points(row, row['gain']))} ({about}){doubt}."


def _of_several(rows: pd.DataFrame) -> str:
    """The sentence on several systems held against the first."""
    found: dict[str, list[str]] = {"better": [], "worse": [], "not shown to differ": []}
    first = rows.iloc[0]
    told_p = zip(decisive(rows, "p_holm"), shown_adjusted(rows, "p_holm"), strict=True)
    for row, (decides, p) in zip(rows.to_dict("records"), told_p, strict=True):
        ahead = row["better"] == row["system_b"]
        sign = "+" if ahead else "−" if row["better"] else "±"
        verdict = ("better" if ahead else "worse") if decides < ALPHA else "not shown to differ"
        found[verdict].append(f"{row['system_b']} ({sign}{_decimals(row, row['gain'])}, {equation(p)})")
    verdicts = [
        f"{_and(systems)} {'is' if len(systems) == 1 else 'are'} {verdict}"
        for verdict, systems in found.items()
        if systems
    ]
    return (
        f"Of {len(rows)} systems held against {first['system_a']} by {_named(first['metric'])}, {_and(verdicts)} "
        f"({_test(first)}, p adjusted by Holm, {_size(first)})."
    )


def _test(row: Any) -> str:
    """What the test is called in a text, and how much it drew."""
    test = definitions.find(row["test"], row["variant"])
    name = _TESTS[test.name] + (f" ({_OF[test.variant]})" if test.variant in _OF else "")
    if not test.two_sided:
        name = f"one-sided {name}"
    if test.exact:
        return name
    return f"{name} with {row['n_resamples']:,} {'shuffles' if test.draw == 'swap' else 'resamples'}"


def _size(row: Any) -> str:
    whole = " in whole documents" if "|unit:document" in row["signature"] else ""
    return f"n = {row['n_segments']:,}{whole}"


def _named(metric: str) -> str:
    """The metric; one of the user's own by the user's name."""
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
