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
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.errors import InputError

Totals = NDArray[np.float64]
Counts = Mapping[str, NDArray[Any]]


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
        of an `averaged` metric carry the number of segments as one more, last column.
    formula
        The definition, for `--help` and docstrings.
    higher_is_better
        False for error rates; the gain is always "better minus worse".
    averaged
        The score is a mean over segments: the number of segments is appended to the counts.
    scale
        A bound on the size of the score; ties are judged relative to it. None: the largest value in the data.
    at_most
        Pairs of columns `(small, large)` with `small <= large` in every segment; anything else is bad input.
    reader
        The reader of the outputs and references that `extract` takes.
    extractor
        `module:function` that turns segments into counts; imported when needed, since tokenizers are heavy.
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
    extractor: str | None = field(default=None, repr=False)

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Scores of `totals` of shape (..., columns), or of a mapping's worth of them; see `formula`."""
        array = np.asarray(totals, dtype=np.float64)
        width = len(self.columns) + self.averaged
        if array.shape[-1:] != (width,):
            raise ValueError(f"`totals` of {self.name} must have {width} columns, not shape {array.shape}")
        return self.function(array)

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
        module, function = self.extractor.split(":")
        counts: Counts = getattr(import_module(module), function)(output, reference, **options)
        return counts


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """100 × numerator / denominator, and 0 where the denominator is 0 (nothing to find, nothing found)."""
    score = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=score, where=denominator != 0)
    score *= 100.0
    return score
