"""Two systems on one test set, and what every test says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.engine import Judge
from pairsig.errors import InputError
from pairsig.metrics import Metric, registry
from pairsig.statistics import Statistics, by_document

Unit = Literal["segment", "document"]


class Named(Protocol):
    """What a test is called."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def variant(self) -> str:
        """Its variant."""


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

    @cached_property
    def units(self) -> NDArray[Any]:
        """Counts by unit, (2, units, columns)."""
        return self.segments if self.documents is None else by_document(self.documents, self.segments)

    @cached_property
    def judge(self) -> Judge:
        """Says who is ahead, on the test set and on resamples of it."""
        return Judge(self.units, self.metric, ("a", "b"))

    @cached_property
    def lead(self) -> float:
        """By how much A is better than B; exactly 0 where they are equal."""
        return float(self.judge.gains(np.array([[0, 1]]))[0])

    @property
    def better(self) -> Literal["a", "b"] | None:
        """The system with the better score, if one is better."""
        return None if self.lead == 0 else "a" if self.lead > 0 else "b"

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of the better and the other system, (1 × 2)."""
        return np.array([[0, 1] if self.lead >= 0 else [1, 0]])

    def said(self, test: Named, drawn: str = "") -> dict[str, Any]:
        """What every test says of the two systems: the attributes of `Result`, but for the p-value."""
        score_a, score_b = (float(score) for score in self.judge.scores)
        return {
            "metric": self.metric.name,
            "test": test.name,
            "score_a": score_a,
            "score_b": score_b,
            "gain": abs(self.lead),
            "better": self.better,
            "n_segments": self.n_segments,
            "n_different": self.n_different,
            "signature": signature(self.metric, test, self.unit, drawn),
        }


def signature(metric: Metric, test: Named, unit: str, drawn: str = "") -> str:
    """Everything needed to get the same numbers again, in one line; `drawn` says how much was drawn."""
    from pairsig import __version__

    parts = [
        f"metric:{metric.name}|test:{test.name}|variant:{test.variant}",
        drawn,
        f"unit:{unit}|version:{__version__}",
    ]
    return "|".join(part for part in parts if part)


def _ids(documents: ArrayLike) -> list[str]:
    """Ids of documents as text; "" for what is no id (None, NaN), which `by_document` refuses."""
    ids = np.asarray(documents)
    if ids.ndim != 1:
        raise InputError(f"the ids of documents have the shape {ids.shape}, expected one a segment")
    return ["" if missing else str(own) for own, missing in zip(ids.tolist(), pd.isna(ids), strict=True)]
