"""Sizes of resampled training sets, and the comparisons of systems that were trained on them."""

from __future__ import annotations

import pandas as pd

SYNTHETIC = "synthetic"
"""Kind of retrained systems, whose group is their base model."""

SIZES = {"full": 1.0, "half": 0.5, "quarter": 0.25, "eighth": 0.125, "sixteenth": 0.0625}
"""Sizes of resampled training sets, as shares of the full set."""

FULL_SETS = "full sets"
"""Name of the subset of pairs by `of_full_sets`."""


def size_of(systems: pd.Series[str]) -> pd.Series[str]:
    """Read the size of the training set from the names of retrained systems; missing for other systems.

    >>> size_of(pd.Series(["joint-hmm-full-3", "malt-quarter-10", "Online-A"])).fillna("").tolist()
    ['full', 'quarter', '']
    """
    sizes: pd.Series[str] = systems.astype("str").str.extract(rf"-({'|'.join(SIZES)})-[0-9]+$", expand=False)
    return sizes


def base_model_of(systems: pd.Series[str]) -> pd.Series[str]:
    """Read the base model from the names of retrained systems; other names stay as they are.

    >>> base_model_of(pd.Series(["joint-hmm-full-3", "Online-A"])).tolist()
    ['joint-hmm', 'Online-A']
    """
    names: pd.Series[str] = systems.astype("str").str.replace(rf"-({'|'.join(SIZES)})-[0-9]+$", "", regex=True)
    return names


def of_full_sets(comparisons: pd.DataFrame) -> pd.Series[bool]:
    """Mark pairs of two systems that were both trained on full-size resampled training sets."""
    full = pd.Series(True, index=comparisons.index)
    for side in ("a", "b"):
        numbers, names = pd.factorize(comparisons[f"system_{side}"])
        of_full_size = (size_of(pd.Series(names)) == "full").to_numpy(bool)[numbers]
        full &= (comparisons[f"kind_{side}"] == SYNTHETIC) & of_full_size
    return full
