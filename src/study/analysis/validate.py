"""Whether synthetic comparisons agree with natural ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.tables import frame
from study.analysis import expected
from study.analysis.over_systems import interval, jackknife, members, replicates
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, by_test_set, quantile_interval, subsets, weighted_quantile
from study.analysis.thresholds import Z_05, near
from study.columns import VALIDATION

Floats = NDArray[np.float64]
Estimate = tuple[float, float, float]
"""A number on the scale of logarithms, and the ends of its interval."""


def validate(comparisons: pd.DataFrame, overlays: Mapping[str, str]) -> pd.DataFrame:
    """Whether synthetic comparisons agree with natural ones (the paper overlays them, section 3.2).

    The two gain-confidence curves are compared where they are used, at p = 0.05: the need of a pair is 1.645 times the
    standard error of its gain. Two ratios are told:

    ratio
        Of the median needs of the pairs near p = 0.05 (weights as in `thresholds`).
    alike_ratio
        The same for pairs that are equally alike: exp(c) of the least-squares fit log need = a + b·log(1 − ρ) + c, c
        for the synthetic side only, ρ the similarity of the two systems, over the pairs near p = 0.05 whose ρ lies in
        the range that both sides have, weighted likewise and so that both sides have the same total. (With σ² the
        variance of a contribution, SE² = 2σ²(1 − ρ)/n for two systems of equal variance.)

    Intervals (95 %) are over systems of both sides, on the scale of logarithms: of medians those of
    `pairs.quantile_interval`, which that of their ratio is made of (Zou and Donner 2008); of `alike_ratio` by the
    delete-one-system jackknife. How often they hold the truth stands in docs/coverage.md.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other.
    overlays
        For a synthetic dataset the natural one it is compared with, on the test sets that both have in the same size.

    Returns
    -------
    Table `VALIDATION`, one row a synthetic dataset, test set and subset of pairs. Verdicts are `agrees` if the interval
    of the ratio contains 1, else `differs`; `too few` where one side has fewer than 10 pairs near p = 0.05 or fewer
    than 6 systems.
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
                if subset in natural:
                    found.append(
                        {
                            "dataset": dataset,
                            "overlay": key[0],
                            "test_set": test_set,
                            "metric": metric,
                            "test": test,
                            "subset": subset,
                            "n_segments": n_segments,
                            **_confronted(_Side(pairs), _Side(natural[subset])),
                        }
                    )
    return frame(VALIDATION, found)


class _Side:
    """Pairs near p = 0.05: logarithms of their needs and of 1 − similarity, weights, and the systems."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        pairs = pairs[(pairs["standard_error"] > 0) & (pairs["similarity"] < 1)]
        weights = near(pairs)
        pairs = pairs[weights > 0]
        self.weights = weights[weights > 0]
        self.needs = np.log(Z_05 * pairs["standard_error"].to_numpy(float))
        self.unlike = np.log1p(-pairs["similarity"].to_numpy(float))
        self.systems = members(pairs["system_a"], pairs["system_b"])
        self.enough = len(pairs) >= MIN_PAIRS and len(np.unique(self.systems)) >= MIN_SYSTEMS

    def drawn(self) -> Floats:
        """Weights of all pairs, and of those without each system."""
        return replicates(self.systems, self.weights)


def _confronted(ours: _Side, theirs: _Side) -> dict[str, object]:
    row: dict[str, object] = {"n_synthetic": len(ours.needs), "n_natural": len(theirs.needs)}
    if not (ours.enough and theirs.enough):
        return row | {"verdict": "too few", "alike_verdict": "too few"}
    sides = [quantile_interval(side.needs, side.systems, weights=side.weights) for side in (ours, theirs)]
    for name, side, estimate in zip(("synthetic", "natural"), (ours, theirs), sides, strict=True):
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), np.exp(estimate), strict=True))
        row[f"{name}_similarity"] = -np.expm1(weighted_quantile(side.unlike, side.weights, 0.5)[0])
    row |= _ratio("ratio", "verdict", (sides[0][0] - sides[1][0], *expected.difference(*sides[0], *sides[1])))
    return row | _ratio("alike_ratio", "alike_verdict", _at_equal_likeness(ours, theirs))


def _ratio(name: str, verdict: str, estimate: Estimate | None) -> dict[str, object]:
    if estimate is None:
        return {verdict: "too few"}
    found, low, high = np.exp(estimate)
    told = "agrees" if low <= 1 <= high else "differs"
    return {name: found, f"{name}_low": low, f"{name}_high": high, verdict: told}


def _at_equal_likeness(ours: _Side, theirs: _Side) -> Estimate | None:
    low = max(ours.unlike.min(), theirs.unlike.min())
    high = min(ours.unlike.max(), theirs.unlike.max())
    inside = [(side.unlike >= low) & (side.unlike <= high) for side in (ours, theirs)]
    shared = [np.unique(side.systems[kept]) for side, kept in zip((ours, theirs), inside, strict=True)]
    if min(kept.sum() for kept in inside) < MIN_PAIRS or min(map(len, shared)) < MIN_SYSTEMS:
        return None
    both = [(side.drawn()[:, kept], side.unlike[kept], side.needs[kept])
            for side, kept in zip((ours, theirs), inside, strict=True)]  # fmt: skip
    (drawn, x, y), (other_drawn, other_x, other_y) = both
    difference: Callable[[Floats, Floats], float] = lambda w, v: _shift(w, x, y, v, other_x, other_y)  # noqa: E731
    estimate = difference(drawn[0], other_drawn[0])
    varied = [
        jackknife([difference(one, other_drawn[0]) for one in drawn[1:] if one.any()]),
        jackknife([difference(drawn[0], one) for one in other_drawn[1:] if one.any()]),
    ]
    total = sum(variance for variance, _ in varied)
    degrees = total**2 / sum(variance**2 / degrees for variance, degrees in varied) if total else 1.0
    return estimate, *interval(estimate, total, degrees)


def _shift(w: Floats, x: Floats, y: Floats, v: Floats, other_x: Floats, other_y: Floats) -> float:
    """C of the fit y = a + b·x + c, c for the first side only, by least squares; both sides have the same weight."""
    w, v = w / w.sum(), v / v.sum()
    means = w @ x, w @ y, v @ other_x, v @ other_y
    dx, dy, other_dx, other_dy = x - means[0], y - means[1], other_x - means[2], other_y - means[3]
    spread = w @ dx**2 + v @ other_dx**2
    slope = (w @ (dx * dy) + v @ (other_dx * other_dy)) / spread if spread else 0.0
    return float(means[1] - means[3] - slope * (means[0] - means[2]))
