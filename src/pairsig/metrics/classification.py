"""Classification: macro- and micro-F1, Matthews correlation and balanced accuracy of labels, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError
from pairsig.metrics import Metric, Totals, ratio
from pairsig.metrics.counts import AT_MOST, MATCHED, f1

MOST_CLASSES = 200
"""Classes of which counts are kept, three per item and class."""


def of_classes(metric: Metric, classes: Sequence[str]) -> Metric:
    """The metric of these classes, with three columns for each of them; a metric of pooled classes is unchanged.

    >>> of_classes(METRICS[0], ["no", "yes"]).columns[:4]
    ('matched no', 'predicted no', 'gold no', 'matched yes')
    """
    if not 1 <= len(classes) <= MOST_CLASSES:
        raise InputError(f"found {len(classes):,} different labels, expected 1 to {MOST_CLASSES} classes")
    if metric.labels != "by class":
        return metric
    by_class = [tuple(f"{column} {name}" for column in MATCHED) for name in classes]
    bounds = [((matched, predicted), (matched, gold)) for matched, predicted, gold in by_class]
    return replace(metric, columns=tuple(chain(*by_class)), at_most=tuple(chain(*bounds)))


def label_counts(
    gold: NDArray[np.intp], predicted: NDArray[np.intp], classes: Sequence[int], metric: Metric
) -> list[NDArray[np.int32]]:
    """The columns of the metric for labels, which are numbers: one item per position, in the order of the classes."""
    of_class = [(gold == code, predicted == code) for code in classes]
    counts = [(right & answered, answered, right) for right, answered in of_class]
    if metric.labels == "by class":
        return [column.astype(np.int32) for column in chain(*counts)]
    return [np.sum(columns, axis=0, dtype=np.int32) for columns in zip(*counts, strict=True)]


def _by_class(totals: Totals) -> tuple[Totals, Totals, Totals]:
    """Matched, predicted and gold items of each class, (..., classes)."""
    return totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]


def macro_f1(totals: Totals) -> NDArray[np.float64]:
    """100 × mean of the F1 of the classes that occur, as right answer or as prediction."""
    matched, predicted, gold = _by_class(totals)
    predicted_or_gold = predicted + gold
    return ratio(ratio(2.0 * matched, predicted_or_gold, 1.0).sum(axis=-1), (predicted_or_gold > 0).sum(axis=-1), 100.0)


def balanced_accuracy(totals: Totals) -> NDArray[np.float64]:
    """100 × mean of the recall of the classes that occur as right answer."""
    matched, _, gold = _by_class(totals)
    return ratio(ratio(matched, gold, 1.0).sum(axis=-1), (gold > 0).sum(axis=-1), 100.0)


def mcc(totals: Totals) -> NDArray[np.float64]:
    """100 × Matthews' correlation of right answers and predictions, for any number of classes (Gorodkin 2004).

    With c items that are right, n items, and pₖ and gₖ items of class k among the predictions and the right answers, it
    is (c n − Σ pₖ gₖ) / √((n² − Σ pₖ²)(n² − Σ gₖ²)), and 0 if either of them are all of one class.
    """
    matched, predicted, gold = _by_class(totals)
    c, n = matched.sum(axis=-1), gold.sum(axis=-1)
    spread = [np.maximum(n**2 - (side**2).sum(axis=-1), 0.0) for side in (predicted, gold)]
    return ratio(c * n - (predicted * gold).sum(axis=-1), np.sqrt(spread[0]) * np.sqrt(spread[1]), 100.0)


_FORMS: tuple[tuple[str, str, Callable[[Totals], NDArray[np.float64]], str], ...] = (
    ("macro_f1", "macro-F1", macro_f1, "100 · mean of 2 matched / (predicted + gold) over classes"),
    ("micro_f1", "micro-F1", f1, "100 · 2 Σ matched / (Σ predicted + Σ gold), summed over classes"),
    ("balanced_accuracy", "balanced accuracy", balanced_accuracy, "100 · mean of matched / gold over classes"),
    ("mcc", "MCC", mcc, "100 · (c n − Σ pₖ gₖ) / √((n² − Σ pₖ²)(n² − Σ gₖ²)) over classes k"),
)

METRICS: tuple[Metric, ...] = tuple(
    Metric(
        name,
        MATCHED,
        function,
        formula,
        at_most=AT_MOST,
        title=title,
        labels="pooled" if function is f1 else "by class",
    )
    for name, title, function, formula in _FORMS
)
"""Each with the columns of one class; `of_classes` has those of several."""
