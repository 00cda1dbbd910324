"""Results as sentences to put into a paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from pairsig import definitions
from pairsig.metrics.names import metric_name
from pairsig.metrics.registry import METRICS
from pairsig.versus import shown_p

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
    sentence of its own. Gains have the decimals that their interval leaves two certain digits of.

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


def of_methods(table: pd.DataFrame) -> str:
    """What the table of `compare_methods` says, a sentence a metric and pair, by the p-value of the method."""
    sentences = []
    for row in table.to_dict("records"):
        runs = f"{row['n_runs_a']} and {row['n_runs_b']} runs, n = {row['n_segments']:,}"
        about = f"95 % CI {_interval(row)}; over runs and test sets, p = {row['p_method']:.3g}, {runs}"
        sentences.append(_told(row, row["method_a"], row["method_b"], row["p_method"], about))
    return "\n".join(sentences)


def _of_metric(rows: pd.DataFrame) -> Iterator[str]:
    margins, chosen = rows[rows["test"] == "margin"], rows[rows["test"] != "margin"]
    if len(chosen) == 1:
        row = chosen.iloc[0]
        p = shown_p(row)
        adjusted = f" ({row['holm']} adjusted by Holm)" if row.get("holm") else ""
        about = f"{_test(row)}, p {p if p.startswith('<') else f'= {p}'}{adjusted}, {_size(row)}"
        if not math.isnan(row["ci_low"]):
            about = f"95 % CI {_interval(row)}; {about}"
        yield _told(row, row["system_a"], row["system_b"], row["p_holm"], about)
    else:
        yield _of_several(chosen)
    for row in margins.to_dict("records"):
        shown = "are" if row["p_value"] < ALPHA else "were not shown to be"
        yield (
            f"{row['system_a']} and {row['system_b']} {shown} equally good up to {_points(row, row['margin'], '')} "
            f"(two one-sided tests, p = {row['p_value']:.3g}, {_size(row)})."
        )


def _told(row: Any, a: str, b: str, p: float, about: str) -> str:
    """The sentence on two systems."""
    if not row["better"]:
        same = f"{a} and {b} have the same {_named(row['metric'])} on this test set"
        return f"{same} (n = {row['n_segments']:,}), so that p = 1 by definition."
    worse = b if row["better"] == a else a
    gain = _points(row, row["gain"])
    if p < ALPHA:
        return f"{row['better']} is better than {worse} by {gain} ({about})."
    return (
        f"A difference between {a} and {b} was not shown: {row['better']} is ahead by {gain} ({about}), "
        "which does not say that they are equally good."
    )


def _of_several(rows: pd.DataFrame) -> str:
    """The sentence on several systems held against the first."""
    told: dict[str, list[str]] = {"better": [], "worse": [], "not shown to differ": []}
    first = rows.iloc[0]
    for row in rows.to_dict("records"):
        ahead = row["better"] == row["system_b"]
        sign = "+" if ahead else "−" if row["better"] else "±"
        verdict = ("better" if ahead else "worse") if row["p_holm"] < ALPHA else "not shown to differ"
        # Of a p of 0, which is below a bound, what is adjusted is the bound.
        bounded = row["p_holm"] == 0
        p = f"p < {min(1.0, len(rows) * row['p_high']):.2g}" if bounded else f"p = {row['p_holm']:.3g}"
        told[verdict].append(f"{row['system_b']} ({sign}{_decimals(row, row['gain'])}, {p})")
    verdicts = [
        f"{_and(systems)} {'is' if len(systems) == 1 else 'are'} {verdict}"
        for verdict, systems in told.items()
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
    """A number with two digits of what is uncertain of it: half the length of the interval of the gain."""
    half = (row["ci_high"] - row["ci_low"]) / 2
    decimals = 2 if math.isnan(half) or half <= 0 else min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{value:.{decimals}f}".replace("-", "−")


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
