"""Scores of systems on the test set, on resamples and after shuffles, from sums of their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.steps import largest, steps_by_column
from pairsig.core.totals import SHUFFLED_ELEMENTS, Product
from pairsig.io.errors import InputError
from pairsig.metrics import Metric, Ratio

Floats = NDArray[np.float64]
Place = Callable[[tuple[int, ...]], str]
"""Names the system and the resample of the score at a position."""

TIE = 1e-13
"""Gains that differ by less than this share of the metric's scale are equal.

Rounding errors of a difference of two scores are some 10⁻¹⁶ of the scale, and different gains of some hundred random
test sets with 42,531 ties were never as close as this.
"""
_SCORED_ELEMENTS = 2**15
"""Resamples of systems that are scored at once: 256 KiB for each column of their totals."""


class Scorer:
    """Scores of systems, on the test set and on resamples of it.

    `counts` are those of `Statistics.of` (systems × units × columns of the metric's totals), and `names` are those of
    the systems, for messages. An `InputError` is raised for counts whose sums cannot be exact, and for scores that are
    not finite.

    Attributes
    ----------
    form
        The ratio that the metric is, for these counts; None if it is none.
    columns
        Arrays (systems × units) from whose totals scores follow: numerators and denominators of a ratio, else counts.
    quality
        Scores of the systems, their sign changed where lower is better.
    band
        Gains that differ by at most this much tie, see `TIE`.
    """

    def __init__(self, counts: NDArray[Any], metric: Metric, names: Sequence[str] | None = None) -> None:
        self.counts, self.metric = counts, metric
        self.names = names or [str(number) for number in range(1, len(counts) + 1)]
        self.form = metric.form(counts)
        self.columns = list(np.moveaxis(counts, -1, 0)) if self.form is None else _parts(counts, self.form)
        self.quality = self.scored(
            self.product.observed.T[:, :, None], lambda at: f"system {self.names[at[0]]} on the whole test set"
        )[:, 0]
        self.band = TIE * _scale(metric, counts)

    @cached_property
    def product(self) -> Product:
        """Draws times the columns."""
        return Product(self.columns, steps_by_column(self.columns))

    @property
    def scores(self) -> Floats:
        """Scores of the systems, with the sign of the metric."""
        return self.quality if self.metric.higher_is_better else 0.0 - self.quality

    def gains(self, pairs: NDArray[np.intp]) -> Floats:
        """By how much the first of each pair is better than the second; exactly 0 where they are equal."""
        gains = self.quality[pairs[:, 0]] - self.quality[pairs[:, 1]]
        return np.where(np.abs(gains) <= self.band, 0.0, gains)

    def better_first(self) -> tuple[NDArray[np.intp], Floats]:
        """Positions of all pairs of systems (pairs × 2), the better one first, and their gains, which are >= 0."""
        pairs = np.column_stack(np.triu_indices(len(self.counts), k=1))
        gains = self.gains(pairs)
        return np.where(gains[:, None] < 0, pairs[:, ::-1], pairs), np.abs(gains)

    def resampled(self, distinct: NDArray[Any], number: int) -> Floats:
        """Scores (systems × resamples) from totals of the distinct columns; `number` is that of the first resample.

        A few systems are scored at a time, because their totals then stay in the processor's cache.
        """
        scores = np.empty((len(self.counts), distinct.shape[1]))
        at_once = max(1, _SCORED_ELEMENTS // distinct.shape[1])
        for first in range(0, len(scores), at_once):

            def place(at: tuple[int, ...], first: int = first) -> str:
                return f"system {self.names[first + at[0]]} on resample {number + at[1]}"

            some = slice(first, first + at_once)
            scores[some] = self.scored(self.product.totals(distinct, some), place)
        return scores

    def shuffled(
        self, distinct: NDArray[Any], pairs: NDArray[np.intp], number: int
    ) -> Iterator[tuple[Floats, Floats, slice]]:
        """Gains after shuffles (pairs × shuffles), for some pairs at a time, and which these are.

        The second part is what the first systems gained by the swaps (columns × pairs × shuffles). `distinct` are
        totals over the swapped units, and `number` is that of the first shuffle.
        """
        # With M the totals over the swapped units and T those over all, A's shuffled totals are T_A + (M_B − M_A), and
        # B's are T_B − (M_B − M_A): one product per system serves all pairs.
        moved = self.product.totals(distinct)
        n_columns, _, n_rows = moved.shape
        total = self.product.observed.T[:, :, None]
        chunk = max(1, SHUFFLED_ELEMENTS // (n_rows * (n_columns + 2)))  # 2: for what is made of the scores
        for start in range(0, len(pairs), chunk):
            a, b = pairs[start : start + chunk].T
            exchanged = moved[:, b] - moved[:, a]

            def place(at: tuple[int, ...], systems: NDArray[np.intp] = a) -> str:
                return f"system {self.names[systems[at[0]]]} after shuffle {number + at[1]}"

            gains = self.scored(total[:, a] + exchanged, place)
            gains -= self.scored(total[:, b] - exchanged, place)
            yield gains, exchanged, slice(start, start + len(a))

    def scored(self, totals: Floats, place: Place = lambda _: "a system") -> Floats:
        """Scores of totals (columns × systems × resamples), their sign changed where lower is better.

        An `InputError` is raised for a score that is not finite; `place` names the system and the resample.
        """
        if self.form is not None:
            above, below = totals
            scores: Floats
            if below.min(initial=1) > 0:
                scores = above / below
            else:  # 0 / 0 is 0
                scores = np.divide(above, below, out=np.zeros_like(above), where=below != 0)
                scores[(below == 0) & (above != 0)] = self.form.over_nothing
            scores *= self.form.factor if self.metric.higher_is_better else -self.form.factor
            return scores
        scores = np.ascontiguousarray(self.metric.score(np.moveaxis(totals, 0, -1)))
        if not (np.isfinite(scores.min()) and np.isfinite(scores.max())):  # either is NaN where any score is
            position = tuple(int(index) for index in np.argwhere(~np.isfinite(scores))[0])
            raise InputError(
                f"{self.metric.name} of {place(position)} is {scores[position]}, expected a finite number; the metric "
                "must define its score for a denominator of 0, as a pairsig.Ratio does"
            )
        return scores if self.metric.higher_is_better else -scores


def _parts(counts: NDArray[Any], form: Ratio) -> list[NDArray[Any]]:
    """Numerators and denominators (systems × units) of a ratio."""
    signs: list[list[tuple[int, int]]] = [[(column, 1) for column in form.numerator]]
    signs.append([(column, 1) for column in form.denominator])
    if form.complement:  # subtracting before the division makes a perfect error rate exactly 0
        signs[0] = [(column, -1) for column in form.numerator] + signs[1]
    parts = []
    for columns in signs:
        if columns == [(columns[0][0], 1)]:
            parts.append(counts[:, :, columns[0][0]])
            continue
        bound = len(columns) * largest(counts)
        dtype = np.dtype(np.float64) if counts.dtype.kind == "f" else np.min_scalar_type(-1 - round(bound))
        total = np.zeros(counts.shape[:2], dtype=dtype)
        for column, sign in columns:
            total += sign * counts[:, :, column].astype(dtype)
        parts.append(total)
    return parts


def _scale(metric: Metric, counts: NDArray[Any]) -> float:
    """A bound on the size of scores."""
    if metric.scale is not None:
        return metric.scale
    values = counts.astype(np.float64)
    if metric.averaged:  # sums over documents become means per segment
        values = values[:, :, :-1] / values[:, :, -1:]
    return largest(values)
