"""Read the input files of art (Martschat): one, two or four numbers per line, depending on the aggregator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsig.io.files import AnyPath
from pairsig.metrics import Metric, Ratio, Totals, ratio
from pairsig.metrics.counts import accuracy, mean
from pairsig.readers import Reader
from pairsig.readers.output import Output, of_numbers

_RECALL = ("recall_numerator", "recall_denominator")
_PRECISION = ("precision_numerator", "precision_denominator")


def f1_of_ratios(totals: Totals) -> NDArray[np.float64]:
    """F1 = 100 × 2PR / (P + R), where R and P have different numerators and denominators.

    The totals are the numerator and denominator of recall, then those of precision. The numerators may differ,
    so this is not `f1` of three counts. A ratio with the denominator 0 is 0, and F1 is 0 if both are 0.
    """
    recall, precision = ratio(totals[..., 0], totals[..., 1]), ratio(totals[..., 2], totals[..., 3])
    score = np.zeros(recall.shape)
    np.divide(2.0 * recall * precision, recall + precision, out=score, where=recall + precision != 0)
    return score


# As a ratio, it is 200 × numerator / (sum of both denominators) if the two numerators are always equal.
_F1 = Ratio((0,), (1, 3), factor=200.0, given=((0, 2), (2, 0), (0, 1), (2, 3)), otherwise=f1_of_ratios)

# No `at_most`: art divides any two numbers, and not every quotient is a share.
_METRICS = {
    1: (Metric("mean", ("value",), mean, "Σ value / number of segments", averaged=True, scale=None),),
    2: (Metric("ratio", ("numerator", "denominator"), accuracy, "100 · Σ numerator / Σ denominator"),),
    4: (
        Metric("f1_ratio", (*_RECALL, *_PRECISION), _F1,
               "100 · 2PR / (P + R), R = Σ recall numerator / Σ recall denominator, P likewise"),
        Metric("precision_ratio", _PRECISION, accuracy, "100 · Σ precision numerator / Σ precision denominator"),
        Metric("recall_ratio", _RECALL, accuracy, "100 · Σ recall numerator / Σ recall denominator"),
    ),
}  # fmt: skip
"""By the number of columns: the metrics of art's `average`, `enum_sum_div_by_denom_sum` and `f_1`."""


def read(path: AnyPath) -> Output:
    """Read counts from an input file of art.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The number of columns says which aggregator of art it
        is for: `average` (1), `enum_sum_div_by_denom_sum` (2: numerator and denominator) or `f_1` (4: numerator and
        denominator of recall, then of precision; the numerators may differ).

    Returns
    -------
    Counts with the metric `mean`, `ratio`, or `f1_ratio` (and then `precision_ratio` and `recall_ratio`). art prints
    shares; all metrics here except the mean are percentages.
    """
    expected = "1 number, 2 (numerator, denominator) or 4 (both for recall, both for precision), separated by blanks"
    return of_numbers(path, _METRICS, expected)


READER = Reader(
    read=read,
    content="numerators and denominators, one segment per line",
    metrics="ratios, F1",
    recognizes=lambda _: False,  # any file of numbers looks like it
    suffixes=(".art",),
    example_name="example.art",
    example="2 3 7 8\n4 12 33 50\n1 2 3 4\n",
)
