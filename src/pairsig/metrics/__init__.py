"""Metrics as functions of summed per-segment counts.

The score of a set of segments is a function of its *totals*, the sums of the segments' sufficient statistics, which
are all that a resampling test needs. A metric therefore consists of its columns and a function of their totals, and of
an extractor that computes the columns from texts, trees or alignments.

Scores are percentages (0 to 100), as in the paper and in sacrebleu, except for `mean`, which is in the unit of its
values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.io.errors import InputError

Totals = NDArray[np.float64]
Counts = Mapping[str, NDArray[Any]]
Extractor = Callable[..., Counts]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A metric that is a ratio of sums: factor × Σ of some columns / Σ of other columns.

    Exact tests require this form, and it allows ties to be detected exactly, in integers. Declare metrics that are
    ratios as `Ratio` to get both. Columns are specified by position; for an `averaged` metric, the number of segments
    is the last column.

    Attributes
    ----------
    numerator, denominator
        Positions of the columns whose sums are the numerator and the denominator.
    factor
        Positive factor, 100 for percentages.
    complement
        Whether the score is 1 − the ratio: (Σ denominator − Σ numerator) / Σ denominator.
    over_nothing
        The ratio, before `factor`, if only the denominator is 0. 0 / 0 is always 0.
    given
        Pairs of positions (small, large). The form applies only if small <= large in every unit.
    otherwise
        The function that computes the score; it must equal the ratio if `given` is satisfied.

    Examples
    --------
    >>> f1 = Ratio((0,), (1, 2), factor=200)  # 100 · 2 matched / (predicted + gold)
    >>> f1(np.array([[8.0, 9.0, 7.0], [0.0, 0.0, 0.0]])).tolist()
    [100.0, 0.0]
    """

    numerator: tuple[int, ...]
    denominator: tuple[int, ...]
    factor: float = 100.0
    complement: bool = False
    over_nothing: int = 0
    given: tuple[tuple[int, int], ...] = ()
    otherwise: Callable[[Totals], NDArray[np.float64]] | None = None

    def __call__(self, totals: Totals) -> NDArray[np.float64]:
        """Scores (...,) of totals (..., columns)."""
        if self.otherwise is not None:
            return self.otherwise(totals)
        above, below = (
            reduce(np.add, [totals[..., column] for column in columns])
            for columns in (self.numerator, self.denominator)
        )
        # Subtracting before the division makes a perfect error rate exactly 0.
        score = ratio(below - above if self.complement else above, below, self.factor)
        if self.over_nothing:
            score[(below == 0) & (above != 0)] = self.factor * self.over_nothing
        return score

    def holds(self, counts: NDArray[Any]) -> bool:
        """Whether units with these counts (..., columns) satisfy `given`."""
        return all(bool((counts[..., small] <= counts[..., large]).all()) for small, large in self.given)


class NotedCounts(dict[str, NDArray[Any]]):
    """Counts with notes for the user, for example about segments that were treated as failures."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A metric that is a function of summed per-segment counts.

    Attributes
    ----------
    name
        Name in commands, sheets and signatures.
    columns
        Names of the sufficient statistics, in the order of the totals.
    function
        Function from totals `(..., len(columns))` in float64 to scores `(...,)`, vectorized over the leading axes. It
        should be a `Ratio` if possible. The totals of an `averaged` metric have the number of segments as an additional
        last column. Scores must be finite on every resample, even if a denominator is 0.
    formula
        The definition, for the documentation.
    higher_is_better
        False for error rates; the gain is always "better minus worse".
    averaged
        Whether the score is a mean over segments; then the number of segments is appended to the counts.
    scale
        A bound on the absolute score. Ties that cannot be detected in integers are differences that are tiny relative
        to it. Default: the largest value in the data.
    at_most
        Pairs of columns `(small, large)`; counts with small > large in a segment are refused.
    reader
        Reader of the outputs and references for the extractor.
    extractor
        Function from segments to counts. It imports large packages (tokenizers) only when it is called.
    title
        Name in sentences and figures. Default: in capitals, such as BLEU for `bleu`.
    gradient
        Function from totals `(rows, columns)` to the partial derivatives of `function` by each of them, in the same
        shape. Default: central differences.
    labels
        How the columns follow from labels, the right answers and the predictions of items: "by class", with three
        columns for each class, or "pooled", with their sums; "" if they do not.
    assumed
        Whether nobody declared that higher scores are better; results then say so.

    Examples
    --------
    >>> rate = Metric("rate", ("hits", "total"), Ratio((0,), (1,)), "Σ hits / Σ total")
    >>> float(rate.score([3, 4]))
    75.0
    """

    name: str
    columns: tuple[str, ...]
    function: Callable[[Totals], NDArray[np.float64]] = field(repr=False)
    formula: str
    higher_is_better: bool = True
    averaged: bool = False
    scale: float | None = 100.0
    at_most: tuple[tuple[str, str], ...] = ()
    reader: str | None = None
    extractor: Extractor | None = field(default=None, repr=False)
    title: str = ""
    gradient: Callable[[Totals], NDArray[np.float64]] | None = field(default=None, repr=False)
    labels: Literal["", "by class", "pooled"] = ""
    assumed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.function, Ratio):
            return
        form, width = self.function, self.width
        for columns in (form.numerator, form.denominator, *form.given):
            if not columns or not all(0 <= column < width for column in columns):
                raise InputError(
                    f"the ratio of metric {self.name} has the columns {columns}, expected positions from 0 to "
                    f"{width - 1}"
                )
        if not 0 < form.factor < np.inf:
            raise InputError(f"the factor of metric {self.name} is {form.factor}, expected a positive number")
        if self.averaged and form.denominator != (width - 1,):
            raise InputError(
                f"the denominator of metric {self.name}, which is averaged, has the columns {form.denominator}, "
                f"expected {(width - 1,)}, the number of segments"
            )

    @property
    def width(self) -> int:
        """Number of columns of the totals."""
        return len(self.columns) + self.averaged

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Scores for `totals` of shape (..., columns); see `formula`.

        Floating-point warnings of the function are suppressed, since it may correct a division by 0 afterwards. The
        caller checks whether scores are finite.
        """
        array = np.asarray(totals, dtype=np.float64)
        if array.shape[-1:] != (self.width,):
            raise ValueError(f"`totals` of {self.name} must have {self.width} columns, not shape {array.shape}")
        with np.errstate(all="ignore"):
            scores = np.asarray(self.function(array), dtype=np.float64)
        if scores.shape != array.shape[:-1]:
            raise InputError(
                f"the function of metric {self.name} returns scores of shape {scores.shape} for totals of shape "
                f"{array.shape}, expected {array.shape[:-1]}; use totals[..., column] in the function"
            )
        return scores

    def form(self, counts: NDArray[Any]) -> Ratio | None:
        """The ratio of the metric, if it has one that applies to units with these counts (..., columns)."""
        return self.function if isinstance(self.function, Ratio) and self.function.holds(counts) else None

    def statistics(self, output: Sequence[Any], reference: Sequence[Any], **options: Any) -> Counts:
        """Sufficient statistics of every segment of `output` against `reference`.

        Parameters
        ----------
        output, reference
            The same number of segments, as `reader` returns them. If texts have several references, each element of
            `reference` is a tuple.
        options
            Options of the extractor (a tokenizer, stemming, …), see its docstring.

        Returns
        -------
        Columns, each of shape (segments,), for this metric and for related metrics that share the computation.
        """
        if self.extractor is None:
            columns = ", ".join(self.columns)
            raise InputError(f"metric {self.name} is computed from counts: use a table with the columns {columns}")
        return self.extractor(output, reference, **options)


def ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64], factor: float = 100.0
) -> NDArray[np.float64]:
    """Factor × numerator / denominator, and 0 if the denominator is 0."""
    score = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=score, where=denominator != 0)
    score *= factor
    return score


def check_lengths(output: Sequence[Any], reference: Sequence[Any], noun: str = "segments") -> None:
    """Raise an `InputError` if an output has not as many segments as the reference."""
    if len(output) != len(reference):
        raise InputError(f"the output has {len(output)} {noun}, expected {len(reference)} as in the reference")


def as_columns(names: Sequence[str], rows: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """Columns with these names, from rows of whole numbers, one per segment."""
    table = np.array(rows, dtype=np.int64).reshape(-1, len(names))
    return {name: table[:, place] for place, name in enumerate(names)}
