"""Any task: metrics that are ratios or means of plain counts, accuracy, precision, recall, F1, mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pairsig.metrics import Metric, Ratio

accuracy = Ratio((0,), (1,))
"""100 × correct / total."""

precision = Ratio((0,), (1,))
"""100 × matched / predicted."""

recall = Ratio((0,), (2,))
"""100 × matched / gold."""

f1 = Ratio((0,), (1, 2), factor=200.0)
"""100 × 2·matched / (predicted + gold), the harmonic mean of precision and recall."""

mean = Ratio((0,), (1,), factor=1.0)
"""Sum of the values / number of segments, in the unit of the values."""


def average(name: str, *, higher_is_better: bool = True, factor: float = 1.0, assumed: bool = False) -> Metric:
    """The mean of a column of numbers, with the name of the column; the mean is multiplied by the factor."""
    return Metric(
        name,
        (name,),
        mean if factor == 1 else replace(mean, factor=factor),
        f"{'' if factor == 1 else f'{factor:g} · '}Σ {name} / number of segments",
        higher_is_better=higher_is_better,
        averaged=True,
        scale=None,
        assumed=assumed,
    )


MATCHED = ("matched", "predicted", "gold")
"""Columns of F1, precision and recall."""
AT_MOST = (("matched", "predicted"), ("matched", "gold"))
_OF_MATCHES = (
    (f1, "100 · 2 Σ matched / (Σ predicted + Σ gold)"),
    (precision, "100 · Σ matched / Σ predicted"),
    (recall, "100 · Σ matched / Σ gold"),
)


def of_matches(
    names: Sequence[str], *, titles: Sequence[str] = ("", "", ""), how: str = "", **about: Any
) -> tuple[Metric, ...]:
    """F1, precision and recall by these names; `how` ends the formula, and `about` are further attributes."""
    return tuple(
        Metric(name, MATCHED, function, formula + how, at_most=AT_MOST, title=title, **about)
        for name, title, (function, formula) in zip(names, titles, _OF_MATCHES, strict=True)
    )


METRICS: tuple[Metric, ...] = (
    Metric(
        "accuracy", ("correct", "total"), accuracy, "100 · Σ correct / Σ total", at_most=(("correct", "total"),),
        title="accuracy",
    ),
    *of_matches(("f1", "precision", "recall"), titles=("", "precision", "recall"), labels="pooled"),
    Metric("mean", ("value",), mean, "Σ value / number of segments", averaged=True, scale=None, title="mean"),
)  # fmt: skip
