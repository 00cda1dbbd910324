"""Scores of systems on a test set, and the variance of their gains to first order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.influence import influence_values
from pairsig.metrics import Metric

Floats = NDArray[np.float64]

_ROUNDING = 1e-9
"""A variance below this share of its terms is a rounding error: the two outputs are equal."""


@dataclass(frozen=True)
class Scored:
    """Systems on a test set of n segments: scores (larger is better), and products of centred influence values."""

    quality: Floats
    products: Floats  # Σ uᴬuᴮ; shape (systems, systems)
    n: int

    @classmethod
    def of(cls, counts: NDArray[Any], metric: Metric) -> Scored:
        """Score systems, from counts of shape (systems, segments, columns)."""
        u = influence_values(counts, metric)
        u -= u.mean(axis=1, keepdims=True)
        scores = metric.score(counts.sum(axis=1, dtype=np.float64))
        return cls(scores if metric.higher_is_better else -scores, u @ u.T, counts.shape[1])

    def gains(self, pairs: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Gain of the first over the second of each pair, with its variance over test sets."""
        a, b = pairs.T
        return self.quality[a] - self.quality[b], squared_differences(self.products, pairs)


def squared_differences(products: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Σ (uᴬ − uᴮ)² for each pair of systems, from the products Σ uᴬuᴮ of all systems."""
    a, b = pairs.T
    squares = products.diagonal()
    squares_of_both = squares[a] + squares[b]
    differences = squares_of_both - 2 * products[a, b]
    return np.where(differences > _ROUNDING * squares_of_both, differences, 0.0)
