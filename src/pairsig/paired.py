"""Two systems on one test set, and what every test says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.errors import InputError
from pairsig.metrics import Metric, registry
from pairsig.statistics import Statistics, by_document

Unit = Literal["segment", "document"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What every test of two systems says.

    Attributes
    ----------
    score_a, score_b
        Scores on the test set, in the order the systems were given.
    gain
        δ(x) >= 0: score of the better system minus that of the other, the sign turned where lower is better.
    better
        "a", "b", or None when the scores are equal.
    pvalue
        See the function that returned it for the formula. 1 by definition when the scores are equal.
    n_segments, n_different
        Segments of the test set, and those on which the two systems' counts differ.
    signature
        Everything needed to get the same numbers again, in one line.
    """

    metric: str
    test: str
    score_a: float
    score_b: float
    gain: float
    better: Literal["a", "b"] | None
    pvalue: float
    n_segments: int
    n_different: int
    signature: str


@dataclass(frozen=True)
class Pair:
    """Counts of two systems.

    Attributes
    ----------
    metric
        Whose columns they are.
    segments
        Of shape (2, segments, columns).
    documents
        One id a segment where documents are drawn or swapped, else None.
    """

    metric: Metric
    segments: NDArray[Any]
    documents: NDArray[np.str_] | None

    @classmethod
    def of(cls, a: ArrayLike, b: ArrayLike, metric: str | Metric, documents: ArrayLike | None) -> Pair:
        """The counts as tests are given them, checked."""
        chosen = registry.metric(metric)
        ids = None if documents is None else _ids(documents)
        try:
            arrays = {"a": np.asarray(a), "b": np.asarray(b)}
        except ValueError:
            raise InputError("the rows of counts have different lengths, expected a table of numbers") from None
        statistics = Statistics.from_arrays(arrays, chosen.columns, documents=ids)
        return cls(chosen, statistics.of(chosen), None if ids is None else statistics.documents)

    @property
    def unit(self) -> Unit:
        """What is drawn or swapped as a whole."""
        return "segment" if self.documents is None else "document"

    @property
    def n_segments(self) -> int:
        """Segments of the test set."""
        return int(self.segments.shape[1])

    @property
    def n_different(self) -> int:
        """Segments on which the two systems' counts differ."""
        return int((self.segments[0] != self.segments[1]).any(axis=1).sum())

    def by_unit(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Counts of the segments, (2, segments, columns), summed over the units."""
        return counts if self.documents is None else by_document(self.documents, counts)


def _ids(documents: ArrayLike) -> list[str]:
    """Ids of documents as text; "" for what is no id (None, NaN), which `by_document` refuses."""
    ids = np.asarray(documents)
    if ids.ndim != 1:
        raise InputError(f"the ids of documents have the shape {ids.shape}, expected one a segment")
    return ["" if missing else str(own) for own, missing in zip(ids.tolist(), pd.isna(ids), strict=True)]
