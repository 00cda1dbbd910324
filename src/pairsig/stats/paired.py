"""Two systems on one test set, prepared once for every test of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Named, Test
from pairsig.core.labels import arrays_of
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics, by_document
from pairsig.io.errors import InputError
from pairsig.metrics import Metric, registry

Unit = Literal["segment", "document"]


@dataclass(frozen=True)
class Pair:
    """Counts of two systems, A and B, for a metric."""

    metric: Metric
    segments: NDArray[Any]  # counts per segment, (2, segments, columns)
    documents: NDArray[np.str_] | None  # one id per segment where documents are drawn or swapped

    @classmethod
    def of(cls, a: ArrayLike, b: ArrayLike, metric: str | Metric | None, documents: ArrayLike | None) -> Pair:
        """The checked counts of two systems, as users give them to tests."""
        ids = None if documents is None else _ids(documents)
        arrays = arrays_of({"a": a, "b": b})
        arrays = {name: counts.astype(np.int64) if counts.dtype == bool else counts for name, counts in arrays.items()}
        chosen = _only_metric(arrays) if metric is None else registry.metric(metric)
        if chosen.name == "accuracy" and all(counts.ndim == 1 for counts in arrays.values()):
            arrays = {name: np.stack([counts, np.ones_like(counts)], axis=1) for name, counts in arrays.items()}
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
        """Counts per unit, (2, units, columns)."""
        return self.segments if self.documents is None else by_document(self.documents, self.segments)

    @cached_property
    def scorer(self) -> Scorer:
        """Scores of the two systems, on the test set and on resamples."""
        return Scorer(self.units, self.metric, ("a", "b"))

    @cached_property
    def difference(self) -> float:
        """By how much A is better than B; exactly 0 if they are equal. Where lower is better, −`statistic`."""
        return float(self.scorer.gains(np.array([[0, 1]]))[0])

    @property
    def statistic(self) -> float:
        """score(a) − score(b); exactly 0 if they are equal."""
        return self.difference if self.metric.higher_is_better else 0.0 - self.difference

    @property
    def better(self) -> Literal["a", "b"] | None:
        """The system with the better score, if one is better."""
        return None if self.difference == 0 else "a" if self.difference > 0 else "b"

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of the better and the other system, (1 × 2); A is first if they are equal."""
        return np.array([[0, 1] if self.difference >= 0 else [1, 0]])

    def favours(self, test: Test) -> bool:
        """Whether the alternative of a test is that the system that is first in `order` is better."""
        return test.favours(self.difference, self.metric.higher_is_better)

    def described(self, test: Named, drawn: str = "") -> dict[str, Any]:
        """All attributes of `TestResult` except the p-value; `drawn` is the part of the signature about resamples."""
        score_a, score_b = (float(score) for score in self.scorer.scores)
        return {
            "metric": self.metric.name,
            "test": test.name,
            "method": test.method,
            "alternative": test.alternative,
            "score_a": score_a,
            "score_b": score_b,
            "statistic": self.statistic,
            "gain": abs(self.difference),
            "better": self.better,
            "n_segments": self.n_segments,
            "n_different": self.n_different,
            "signature": signature(self.metric, test, self.unit, drawn),
        }


def signature(metric: Metric, test: Named, unit: str, drawn: str = "", data: Statistics | None = None) -> str:
    """All settings of a test in one line; `drawn` is the part about resamples.

    With `data`, it also has what was declared when they were read and changes a number.
    """
    from pairsig import __version__

    declared = {} if data is None else data.provenance
    missing = f"missing:{declared['missing']}" if declared.get("missing") else ""
    parts = [f"metric:{metric.name}|{test.signature}", drawn, f"unit:{unit}", declared.get("settings", ""), missing]
    return "|".join(filter(None, [*parts, f"version:{__version__}"]))


def _only_metric(arrays: dict[str, NDArray[Any]]) -> Metric:
    """The metric of arrays whose number of columns leaves no choice; scores per item are averaged."""
    columns = {counts.shape[1] if counts.ndim == 2 else counts.ndim for counts in arrays.values()}
    if columns == {1}:
        return registry.metric("mean")
    n_columns = max(columns)
    fitting = registry.fitting(n_columns)
    if len(columns) == 1 and len(fitting) == 1:
        return fitting[0]
    shapes = " and ".join(dict.fromkeys(str(counts.shape) for counts in arrays.values()))
    names = ", ".join(metric.name for metric in fitting)
    known = f" (with {n_columns} columns: {names})" if fitting else ""
    raise InputError(f"found arrays with the shape {shapes}, which do not determine the metric; specify metric={known}")


def _ids(documents: ArrayLike) -> list[str]:
    """Ids of documents as text; "" for missing ones (None, NaN), which `by_document` refuses."""
    ids = np.asarray(documents)
    if ids.ndim != 1:
        raise InputError(f"the ids of documents have the shape {ids.shape}, expected one per segment")
    missing = {"None", "nan", "NaT", "<NA>"}  # as numpy and pandas print them; an id that is text may be "nan"
    return ["" if not isinstance(label, str) and str(label) in missing else str(label) for label in ids.tolist()]
