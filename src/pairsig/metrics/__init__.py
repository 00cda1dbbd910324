"""Metrics as functions of summed per-segment counts.

A metric of a set of segments follows from its *totals*, the sums of the segments' sufficient statistics. That
is all a resampling test needs to know, so a metric here is its columns and a function of their totals; how the
counts come out of texts, trees or alignments is the business of its `extract`.

Scores are percentages (0 to 100), as in the paper and as sacrebleu prints them, except for `mean`, which is in
the unit of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.errors import InputError

Totals = NDArray[np.float64]
Counts = Mapping[str, NDArray[Any]]
Extractor = Callable[..., Counts]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A function of totals whose form is known: factor × Σ of some columns / Σ of others.

    That is what exact tests need, and what lets ties be told by whole numbers: who has a ratio should say so. Columns
    are given by position; of an `averaged` metric the number of segments is the last.

    Attributes
    ----------
    numerator, denominator
        Positions of the columns that are added up above and below.
    factor
        Above 0. 100 for percentages.
    complement
        1 − the ratio: (Σ denominator − Σ numerator) / Σ denominator.
    over_nothing
        The ratio, before `factor`, where the denominator is 0 and the numerator is not. 0 / 0 is 0: nothing to find,
        nothing found.
    given
        Pairs of positions (small, large): the form holds where small <= large in every unit; everywhere without any.
    otherwise
        The function itself where `given` does not hold. It is what is printed in either case.

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
        # Subtracted before the division: a perfect error rate is exactly 0.
        score = ratio(below - above if self.complement else above, below, self.factor)
        if self.over_nothing:
            score[(below == 0) & (above != 0)] = self.factor * self.over_nothing
        return score

    def holds(self, counts: NDArray[Any]) -> bool:
        """Whether the form is `given` on units with these counts, (..., columns)."""
        return all(bool((counts[..., small] <= counts[..., large]).all()) for small, large in self.given)


class NotedCounts(dict[str, NDArray[Any]]):
    """Counts of an extractor that has something to tell the user: that it took segments for failures, say."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A metric that is a function of summed per-segment counts.

    Attributes
    ----------
    name
        The word for it in commands, sheets and signatures.
    columns
        Names of the sufficient statistics it needs, in the order `score` takes them.
    function
        Totals `(..., len(columns))` in float64 to scores `(...,)`; vectorized over the leading axes. The totals
        of an `averaged` metric carry the number of segments as one more, last column. A `Ratio` where the metric is
        one. Scores must be finite on every resample, also where a denominator is 0.
    formula
        The definition, for `--help` and docstrings.
    higher_is_better
        False for error rates; the gain is always "better minus worse".
    averaged
        The score is a mean over segments: the number of segments is appended to the counts.
    scale
        A bound on the size of the score; ties are judged relative to it where whole numbers do not tell. None: the
        largest value in the data.
    at_most
        Pairs of columns `(small, large)` with `small <= large` in every segment; anything else is bad input.
    reader
        The reader of the outputs and references that `extract` takes.
    extractor
        The function that turns segments into counts; what is heavy in it (tokenizers) it imports when it is called.
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
            raise InputError(f"the factor of metric {self.name} is {form.factor}, expected a number above 0")
        if self.averaged and form.denominator != (width - 1,):
            raise InputError(
                f"metric {self.name} is averaged over segments, but its denominator has the columns "
                f"{form.denominator}, expected the number of segments, {(width - 1,)}"
            )

    @property
    def width(self) -> int:
        """Number of columns of the totals."""
        return len(self.columns) + self.averaged

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Scores of `totals` of shape (..., columns), or of a mapping's worth of them; see `formula`.

        What a function of one's own warns of (a division by 0 that it mends afterwards) is not passed on; whether
        the scores are finite is the caller's to check.
        """
        array = np.asarray(totals, dtype=np.float64)
        if array.shape[-1:] != (self.width,):
            raise ValueError(f"`totals` of {self.name} must have {self.width} columns, not shape {array.shape}")
        with np.errstate(all="ignore"):
            scores = np.asarray(self.function(array), dtype=np.float64)
        if scores.shape != array.shape[:-1]:
            raise InputError(
                f"the function of metric {self.name} makes scores of shape {scores.shape} from totals of shape "
                f"{array.shape}, expected {array.shape[:-1]}: it should compute with totals[..., column]"
            )
        return scores

    def form(self, counts: NDArray[Any]) -> Ratio | None:
        """The ratio that the metric is on units with these counts (..., columns of the totals), if it is one."""
        return self.function if isinstance(self.function, Ratio) and self.function.holds(counts) else None

    def statistics(self, output: Sequence[Any], reference: Sequence[Any], **options: Any) -> Counts:
        """Sufficient statistics of every segment of `output` against `reference`.

        Parameters
        ----------
        output, reference
            Segments as the reader named in `reader` returns them, equally many.
        options
            What the extractor offers (a tokenizer, stemming, ...); its docstring says.

        Returns
        -------
        Columns, each of shape (segments,): those of this metric, and of its sisters that come for free.
        """
        if self.extractor is None:
            raise InputError(f"metric {self.name} is computed from counts: give a table with columns {self.columns}")
        return self.extractor(output, reference, **options)


def ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64], factor: float = 100.0
) -> NDArray[np.float64]:
    """Factor × numerator / denominator, and 0 where the denominator is 0 (nothing to find, nothing found)."""
    score = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=score, where=denominator != 0)
    score *= factor
    return score
