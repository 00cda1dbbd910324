"""Compare the critical differences of retrained systems with those of published systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, TEST, TEST_SET, Column, Table, count
from pairsig.io.tables import frame
from study.analysis import expected
from study.analysis.over_systems import Estimate, Floats, added, cells, exp, interval, jackknife, members, replicates
from study.analysis.pairs import Z_05, by_test_set, enough, quantile_interval, subsets
from study.reproduction.thresholds import near
from study.tables.columns import SUBSET, with_interval


def _ratio_columns(name: str, verdict: str, meaning: str) -> list[Column]:
    """Columns on a ratio of critical differences, with its verdict."""
    return [
        *with_interval(name, meaning, "two decimals", over=" over systems"),
        Column(verdict, str, "whether that interval contains 1", choices=("agrees", "differs", "too few")),
    ]


VALIDATION = Table(
    "validation",
    (
        replace(DATASET, meaning="name of the synthetic dataset"),
        Column("overlay", str, "name of the dataset of published systems that it is compared with"),
        TEST_SET,
        METRIC,
        TEST,
        SUBSET,
        N_SEGMENTS,
        count("n_synthetic", "pairs of retrained systems near p = 0.05", "pairs", "n synthetic"),
        count("n_natural", "pairs of published systems near p = 0.05", "pairs", "n natural"),
        *_ratio_columns("ratio", "verdict", "critical difference of retrained systems divided by that of published "
            "ones"),
        *_ratio_columns("equal_correlation_ratio", "equal_correlation_verdict",
            "the same ratio for pairs with equal correlation"),
    ),
    key=("dataset", "overlay", "test_set", "metric", "test", "subset"),
    caption="Critical differences of retrained and of published systems on the same test sets",
)  # fmt: skip


def validate(comparisons: pd.DataFrame, overlays: Mapping[str, str]) -> pd.DataFrame:
    """Compare the critical differences of retrained systems with those of published systems (the paper's section 3.2).

    The paper overlays the two gain-confidence curves. Here they are compared at p = 0.05, where a pair needs a gain of
    1.645 times its standard error. The table has two ratios:

    ratio
        Ratio of the medians of this gain over pairs near p = 0.05 (with the weights of `thresholds`).
    equal_correlation_ratio
        The same for pairs with equal correlation: exp(c) of the least-squares fit log gain = a + b·log(1 − ρ) + c. Here
        ρ is the correlation of the two systems, and c applies to retrained systems only. The fit uses the pairs near p
        = 0.05 with ρ in the range that both sides have, with the same weights and the same total weight for both sides.
        (For two systems with equal variance σ² per segment, SE² = 2σ²(1 − ρ)/n.)

    Intervals (95 %) are over systems of both sides, on the logarithmic scale. For medians they come from
    `pairs.quantile_interval`, and their ratio combines both (Zou and Donner 2008). `equal_correlation_ratio` uses the
    delete-one-system jackknife. docs/coverage.md reports the coverage.

    Parameters
    ----------
    comparisons
        Comparisons of all pairs, on whole test sets and on those made from them.
    overlays
        For each dataset of retrained systems, the dataset of published systems to compare it with, on the test sets
        that both have in the same size.

    Returns
    -------
    Table `VALIDATION`, one row per synthetic dataset, test set and subset of pairs. The verdict is `agrees` if the
    interval of the ratio contains 1, else `differs`; it is `too few` if one side has fewer than 10 pairs near p = 0.05
    or fewer than 6 systems.
    """
    keyed = dict(by_test_set(comparisons))
    compared = []
    for (dataset, test_set, metric, test), rows in keyed.items():
        others = [key for key in keyed if key[0] == overlays.get(dataset) and key[1] == test_set and key[3] == test]
        for key in others:
            n_segments = int(rows["n_segments"].iloc[0])
            if n_segments != int(keyed[key]["n_segments"].iloc[0]):
                continue
            natural = {name: pairs for name, pairs in subsets(keyed[key]) if " / " not in name}
            for subset, pairs in subsets(rows):
                if subset in natural:
                    compared.append({
                        "dataset": dataset, "overlay": key[0], "test_set": test_set, "metric": metric, "test": test,
                        "subset": subset, "n_segments": n_segments,
                        **_compared(_Side(pairs), _Side(natural[subset])),
                    })  # fmt: skip
    return frame(VALIDATION, compared)


class _Side:
    """Pairs near p = 0.05: logarithms of 1.645 standard errors and of 1 − correlation, weights, and systems."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        pairs = pairs[(pairs["standard_error"] > 0) & (pairs["correlation"] < 1)]
        weights = near(pairs)
        pairs = pairs[weights > 0]
        self.weights = weights[weights > 0]
        self.critical_differences = np.log(Z_05 * pairs["standard_error"].to_numpy(float))
        self.log_distance = np.log1p(-pairs["correlation"].to_numpy(float))
        self.systems = members(pairs["system_a"], pairs["system_b"])


def _compared(ours: _Side, theirs: _Side) -> dict[str, object]:
    row: dict[str, object] = {
        "n_synthetic": len(ours.critical_differences),
        "n_natural": len(theirs.critical_differences),
    }
    if not (enough(ours.systems) and enough(theirs.systems)):
        return row | {"verdict": "too few", "equal_correlation_verdict": "too few"}
    sides = [
        quantile_interval(side.critical_differences, side.systems, weights=side.weights) for side in (ours, theirs)
    ]
    row |= _ratio("ratio", "verdict", expected.difference(*sides))
    return row | _ratio("equal_correlation_ratio", "equal_correlation_verdict", _at_equal_correlation(ours, theirs))


def _ratio(name: str, verdict: str, estimate: Estimate | None) -> dict[str, object]:
    if estimate is None:
        return {verdict: "too few"}
    ratio, low, high = exp(estimate)
    return cells(name, (ratio, low, high)) | {verdict: "agrees" if low <= 1 <= high else "differs"}


def _at_equal_correlation(ours: _Side, theirs: _Side) -> Estimate | None:
    low = max(ours.log_distance.min(), theirs.log_distance.min())
    high = min(ours.log_distance.max(), theirs.log_distance.max())
    inside = [(side.log_distance >= low) & (side.log_distance <= high) for side in (ours, theirs)]
    if not all(enough(side.systems[shared]) for side, shared in zip((ours, theirs), inside, strict=True)):
        return None
    (drawn, x, y), (other_drawn, other_x, other_y) = (
        (
            replicates(side.systems, side.weights)[:, shared],
            side.log_distance[shared],
            side.critical_differences[shared],
        )
        for side, shared in zip((ours, theirs), inside, strict=True)
    )

    def shift(w: Floats, v: Floats) -> float:
        """Coefficient c of the weighted fit y = a + b·x + c, with c for our side only and equal total weight."""
        w, v = w / w.sum(), v / v.sum()
        means = w @ x, w @ y, v @ other_x, v @ other_y
        dx, dy, other_dx, other_dy = x - means[0], y - means[1], other_x - means[2], other_y - means[3]
        spread = w @ dx**2 + v @ other_dx**2
        slope = (w @ (dx * dy) + v @ (other_dx * other_dy)) / spread if spread else 0.0
        return float(means[1] - means[3] - slope * (means[0] - means[2]))

    estimate = shift(drawn[0], other_drawn[0])
    variance = added(  # over the systems of each side
        jackknife([shift(without_system, other_drawn[0]) for without_system in drawn[1:] if without_system.any()]),
        jackknife([shift(drawn[0], without_system) for without_system in other_drawn[1:] if without_system.any()]),
    )
    return estimate, *interval(estimate, *variance)
