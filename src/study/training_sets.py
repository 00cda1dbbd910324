"""Resampled training sets: their sizes, and which comparisons are of systems that were trained on them."""

from __future__ import annotations

import pandas as pd

SYNTHETIC = "synthetic"
"""The kind of the systems whose group is a base model."""

SIZES = {"full": 1.0, "half": 0.5, "quarter": 0.25, "eighth": 0.125}
"""Sizes of resampled training sets, as shares of the whole."""

FULL_SETS = "full sets"
"""Name of the pairs that `of_full_sets` tells."""


def size_of(systems: pd.Series[str]) -> pd.Series[str]:
    """The size of the training set of synthetic systems, which is in their names; missing where it is not.

    >>> size_of(pd.Series(["joint-hmm-full-3", "malt-quarter-10", "Online-A"])).fillna("").tolist()
    ['full', 'quarter', '']
    """
    found: pd.Series[str] = systems.astype("str").str.extract(rf"-({'|'.join(SIZES)})-[0-9]+$", expand=False)
    return found


def of_full_sets(comparisons: pd.DataFrame) -> pd.Series[bool]:
    """Which pairs are of two systems that were both trained on resampled sets as large as the training set itself."""
    full = pd.Series(True, index=comparisons.index)
    for side in ("a", "b"):
        full &= (comparisons[f"kind_{side}"] == SYNTHETIC) & (size_of(comparisons[f"system_{side}"]) == "full")
    return full
