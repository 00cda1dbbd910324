"""Whether synthetic comparisons agree with natural ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.tables import frame
from study.analysis.pairs import by_test_set, drawn_systems, subsets, weighted_percentile
from study.columns import VALIDATION

AROUND = (0.01, 0.2)
"""P-values from which the gain at p = 0.05 is estimated: near enough for the normal law, wide enough for many pairs."""


def validate(
    comparisons: pd.DataFrame, overlays: Mapping[str, str], *, n_resamples: int = 2000, seed: int = 2012
) -> pd.DataFrame:
    """Whether synthetic comparisons agree with natural ones (the paper overlays them, section 3.2).

    The two gain-confidence curves are compared where they are used: at p = 0.05. A pair with
    gain δ and p-value p has a standard error of about δ / Φ⁻¹(1 − p), so it would have had p = 0.05 at
    δ·Φ⁻¹(0.95) / Φ⁻¹(1 − p). The gain at p = 0.05 is the median of that over the pairs with p in `AROUND`, its
    interval (95 %) by a bootstrap over systems.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    overlays
        For a synthetic dataset the natural one it is compared with, on the test sets that both have in the same size.
    n_resamples, seed
        Of the bootstrap over systems.

    Returns
    -------
    Table `VALIDATION`, one row a synthetic dataset, test set and subset of pairs: gains at p = 0.05 of both sides, and
    their ratio. The verdict is `agrees` if the interval of the ratio contains 1, else `differs`; `too few` where one
    side has fewer than 10 pairs.
    """
    keyed = dict(by_test_set(comparisons))
    found = []
    for (dataset, test_set, metric, test), rows in keyed.items():
        others = [key for key in keyed if key[0] == overlays.get(dataset) and key[1] == test_set and key[3] == test]
        for key in others:
            n_segments = int(rows["n_segments"].iloc[0])
            if n_segments != int(keyed[key]["n_segments"].iloc[0]):
                continue
            natural = {name: pairs for name, pairs in subsets(keyed[key]) if " / " not in name}
            for subset, pairs in subsets(rows):
                if subset not in natural:
                    continue
                ours = _gain_at_05(rows, pairs, n_resamples, seed)
                theirs = _gain_at_05(keyed[key], natural[subset], n_resamples, seed + 1)
                found.append(
                    {
                        "dataset": dataset,
                        "overlay": key[0],
                        "test_set": test_set,
                        "metric": metric,
                        "test": test,
                        "subset": subset,
                        "n_segments": n_segments,
                        **_confronted(ours, theirs),
                    }
                )
    return frame(VALIDATION, found)


def _gain_at_05(
    rows: pd.DataFrame, pairs: pd.DataFrame, n_resamples: int, seed: int
) -> tuple[int, float, NDArray[np.float64]]:
    """Number of pairs, their median gain at p = 0.05, and the same for each bootstrap over systems."""
    from scipy.special import ndtri

    window = pairs[pairs["p_value"].between(*AROUND)]
    gains = window["gain"].to_numpy() * ndtri(0.95) / -ndtri(window["p_value"].to_numpy())
    order = np.argsort(gains, kind="stable")
    if not len(order):
        return 0, np.nan, np.array([])
    weights = drawn_systems(rows, window.iloc[order], n_resamples, seed)
    return len(order), float(np.median(gains)), weighted_percentile(gains[order], weights, 50)


def _confronted(
    ours: tuple[int, float, NDArray[np.float64]], theirs: tuple[int, float, NDArray[np.float64]]
) -> dict[str, object]:
    row: dict[str, object] = {"n_synthetic": ours[0], "n_natural": theirs[0]}
    if min(ours[0], theirs[0]) < 10:
        return row | {"verdict": "too few"}
    for name, (_, value, drawn) in (("synthetic", ours), ("natural", theirs)):
        low, high = np.percentile(drawn, [2.5, 97.5])
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    n = min(len(ours[2]), len(theirs[2]))
    low, high = np.percentile(ours[2][:n] / theirs[2][:n], [2.5, 97.5])
    verdict = "agrees" if low <= 1 <= high else "differs"
    return row | {"ratio": ours[1] / theirs[1], "ratio_low": low, "ratio_high": high, "verdict": verdict}
