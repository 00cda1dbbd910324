"""Read the input files of art (Martschat): one, two or four numbers per line, depending on the aggregator."""

from __future__ import annotations

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath
from pairsig.metrics import Metric
from pairsig.metrics.counts import accuracy, mean
from pairsig.readers import Reader
from pairsig.readers.output import F1_OF_RATIOS, Output, of_lines, read_numbers

_RECALL = ("recall_numerator", "recall_denominator")
_PRECISION = ("precision_numerator", "precision_denominator")

# No `at_most`: art divides any two numbers, and not every quotient is a share.
RATIO = Metric("ratio", ("numerator", "denominator"), accuracy, "100 · Σ numerator / Σ denominator")
F1_RATIO = Metric(
    "f1_ratio",
    (*_RECALL, *_PRECISION),
    F1_OF_RATIOS,
    "100 · 2PR / (P + R), R = Σ recall numerator / Σ recall denominator, P likewise",
)

_AGGREGATORS = {
    "average": (Metric("mean", ("value",), mean, "Σ value / number of segments", averaged=True, scale=None),),
    "enum_sum_div_by_denom_sum": (RATIO,),
    "f_1": (
        F1_RATIO,
        Metric("precision_ratio", _PRECISION, accuracy, "100 · Σ precision numerator / Σ precision denominator"),
        Metric("recall_ratio", _RECALL, accuracy, "100 · Σ recall numerator / Σ recall denominator"),
    ),
}
"""The metrics of each aggregator of art. The first metric has all columns."""
_BY_WIDTH = {len(metric.columns): name for name, (metric, *_) in _AGGREGATORS.items()}
_EXPECTED = "1 number, 2 (numerator, denominator) or 4 (both for recall, both for precision), separated by blanks"


def read(path: AnyPath, *, aggregator: str | None = None) -> Output:
    """Read counts from an input file of art.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    aggregator
        An aggregator of art: `average` (1 number per line), `enum_sum_div_by_denom_sum` (2: numerator and denominator)
        or `f_1` (4: numerator and denominator of recall, then of precision; the numerators may differ). Default: the
        aggregator for as many numbers as the first line has.

    Returns
    -------
    Counts with the metric `mean`, `ratio`, or `f1_ratio` (and then `precision_ratio` and `recall_ratio`). art prints
    shares; all metrics here except the mean are percentages.
    """
    if aggregator is not None and aggregator not in _AGGREGATORS:
        raise InputError(f"{path}: unknown aggregator {quoted(aggregator)}, expected one of {', '.join(_AGGREGATORS)}")
    rows: list[list[int | float]] = []
    for number, values in read_numbers(path, _EXPECTED):
        if aggregator is None and len(values) not in _BY_WIDTH:
            raise InputError(f"{path}, line {number}: found {len(values)} numbers, expected {_EXPECTED}")
        aggregator = aggregator or _BY_WIDTH[len(values)]
        columns = _AGGREGATORS[aggregator][0].columns
        if len(values) != len(columns):
            raise InputError(
                f"{path}, line {number}: found {len(values)} numbers, expected {len(columns)} for {aggregator}: "
                f"{', '.join(columns)}"
            )
        if aggregator != "average" and min(values) < 0:
            raise InputError(f"{path}, line {number}: found {min(values)}, expected 0 or more")
        rows.append(values)
    return of_lines(path, rows, _AGGREGATORS[_BY_WIDTH[len(rows[0])]])


READER = Reader(
    read=read,
    content="numerators and denominators, one segment per line",
    metrics="ratios, F1",
    recognizes=lambda _: False,  # any file of numbers looks like it
    suffixes=(".art",),
    example_name="example.art",
    example="2 3 7 8\n4 12 33 50\n1 2 3 4\n",
)
