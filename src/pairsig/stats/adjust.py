"""P-values of one family, adjusted for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def holm(p: Floats) -> Floats:
    """P-values that control the family-wise error rate (Holm 1979).

    The k-th smallest of m p-values becomes (m − k + 1) p, at least the one before it and at most 1.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]), 1.0)
    return adjusted
