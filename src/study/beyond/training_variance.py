"""Training variance, and how often two runs of the same method differ significantly.

A method is a base model with a size of training set. Its runs are trained on resampled training sets of that size, with
different seeds. To first order, a score is a sum over segments. All results for pairs of runs, or means of runs,
therefore follow from their scores and the products of their influence values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis import over_systems
from study.analysis.first_order import Scored
from study.analysis.over_systems import Floats
from study.analysis.pairs import MIN_PAIRS
from study.tables.columns import numeric, optional_count, with_interval
from study.test_sets import doubling

TRAINING_VARIANCE = Table(
    "training_variance",
    (
        DATASET,
        METRIC,
        N_SEGMENTS,
        count("n_methods", "methods (a base model with a size of training set) that have several runs"),
        count("n_runs", "runs of these methods"),
        *with_interval("sd_training", "standard deviation of the score between training runs of a method, on an "
            "infinite test set", "two decimals", "points"),
        *with_interval("share", "share of training in the variance of the gain between single runs of two methods",
            "share"),
        optional_count("n_pairs", "pairs of runs with the same method"),
        *with_interval("share_significant", "share of these with two-sided p < 0.05 by their outputs; 5 % by chance",
            "share"),
        numeric("least_of_methods", "smallest such share of a method", shown="share", missing=True),
        numeric("most_of_methods", "largest such share of a method", shown="share", missing=True),
        *with_interval("share_significant_by_method", "share of these whose method has three or more other runs with p "
            "< 0.05 by the method-level test", "share"),
        Column("verdict", str, "whether there are enough runs for an estimate", choices=("estimated", "too few")),
    ),
    key=("dataset", "metric", "n_segments"),
    caption="Training variance, and significant differences between runs of the same method",
)  # fmt: skip

ALPHA = 0.05
LEAST_METHODS = 2
"""Minimal number of methods with several runs. With fewer, or fewer than `MIN_PAIRS` pairs of runs: `too few`."""

LEAST_OTHERS = 3
"""Minimal number of other runs of a method for estimating its training variance."""

_FIRST, _STEP = 100, 4
"""Test sets have 100, 400, 1,600, … segments, and half of all."""


def training_variance(data: Iterable[tuple[Statistics, Metric]], *, splits: int = 10, seed: int = 2012) -> pd.DataFrame:
    """Estimate training variance, and how often two runs of the same method differ significantly.

    A random half of the segments is drawn `splits` times. Test sets of 100, 400, 1,600, … segments are the first ones
    of this half. The half itself and the whole test set are added. Standard errors s of gains are first-order ones
    (`pairsig.core.influence`).

    **Variance.** The variance of the gain between single runs of two methods, averaged over methods, has three parts,
    as in `pairsig.compare_runs`: training, single segments, and the test set. 2σ²_training is twice the variance of
    the runs' scores minus the part from single segments. `share` is the share of training. Intervals are those of
    Graybill and Wang (1980) over runs, for independent methods.

    **Two runs of the same method.** `share_significant` is the share with two-sided p = 2Φ(−|d|/s) < 0.05, where d is
    the gain; by chance it is 5 % on test sets of any size. `share_significant_by_method` uses the method-level test:
    Student's p from d/(√2 · standard deviation of the *other* runs' scores).

    Returns
    -------
    Table `TRAINING_VARIANCE`, one row per dataset and size of test set. Intervals of shares are those of
    `over_systems.share`, over runs. Datasets with fewer than 2 methods with several runs, or fewer than 10 pairs of
    runs, have the verdict `too few`. Cost: 7 CPU seconds for the study's ten datasets.
    """
    rows: list[dict[str, object]] = []
    for statistics, metric in data:
        numbered = _numbered(statistics)
        several = [system for system, run in zip(numbered.systems, numbered.runs, strict=True) if run]
        methods = [method for method, run in zip(numbered.methods, numbered.runs, strict=True) if run]
        n = len(numbered.segments)
        base: dict[str, object] = {"dataset": numbered.dataset, "metric": metric.name}
        times = Counter(methods)
        if len(times) < LEAST_METHODS or sum(k * (k - 1) // 2 for k in times.values()) < MIN_PAIRS:
            few = {"n_segments": n, "n_methods": len(times), "n_runs": len(several), "verdict": "too few"}
            rows.append(base | few)
            continue
        runs = _Runs(methods)
        counts = numbered.select(systems=several).of(metric)
        for size, parts in _scores(counts, metric, splits, seed).items():
            rows.append(base | {"n_segments": size} | runs.differences(parts) | runs.variances(parts))
    return frame(TRAINING_VARIANCE, rows)


def _numbered(statistics: Statistics) -> Statistics:
    """Systems called METHOD-1, METHOD-2, … as runs of METHOD, for methods that have at least two."""
    matches = [re.fullmatch(r"(.+)-(\d+)", system, re.ASCII) for system in statistics.systems]
    times = Counter(match[1] for match in matches if match)
    return replace(statistics, runs=tuple(match[2] if match and times[match[1]] > 1 else "" for match in matches))


def _scores(counts: NDArray[np.float64], metric: Metric, splits: int, seed: int) -> dict[int, list[Scored]]:
    """Score runs on parts of random halves of the segments, then on the whole test set, by number of segments."""
    n = counts.shape[1]
    parts: dict[int, list[Scored]] = {}
    for split in range(splits):
        half = np.random.default_rng([seed, split]).permutation(n)[: n // 2]
        for size in (*doubling(_FIRST, n // 2, factor=_STEP), n // 2):
            parts.setdefault(size, []).append(_scored(counts[:, half[:size]], metric))
    return parts | {n: [_scored(counts, metric)]}


def _scored(counts: NDArray[np.float64], metric: Metric) -> Scored:
    """Score runs, with unbiased variances."""
    scored = Scored.of(counts, metric)
    return replace(scored, products=scored.n / (scored.n - 1) * scored.products)


class _Runs:
    """Runs of methods, with the results that follow from their scores and the products of their influence values."""

    def __init__(self, methods: Sequence[str]) -> None:
        codes, names = pd.factorize(np.array(methods, dtype=object))
        self.methods = codes.astype(np.intp)
        same = self.methods[:, None] == self.methods
        self.k = same.sum(axis=1)
        self.k_of_method = np.bincount(self.methods)
        self.averaging = np.eye(len(names))[:, self.methods] / self.k
        self.pairs = np.argwhere(np.triu(same, k=1))

    def per_method(self, scored: Scored) -> tuple[Floats, Floats, Floats]:
        """Variance of the scores of each method's runs, the part of it from single segments, and products of means."""
        k = self.k_of_method
        squares_of_runs = self.averaging @ scored.products.diagonal()
        means = self.averaging @ scored.products @ self.averaging.T
        squares = self.averaging @ np.square(scored.quality - (self.averaging @ scored.quality)[self.methods])
        return k / (k - 1) * squares, k / (k - 1) * (squares_of_runs - means.diagonal()), means

    def variances(self, parts: list[Scored]) -> dict[str, object]:
        """Parts of the variance of the gain between single runs of two methods."""
        from pairsig.comparisons.runs import sum_of_variances

        total, rest, means = (np.mean(each, axis=0) for each in zip(*map(self.per_method, parts), strict=True))
        k = self.k_of_method
        first, second = np.triu_indices(len(k), k=1)
        of_set = means.diagonal() - rest / k
        test_set = max(0.0, float((of_set[first] + of_set[second] - 2 * means[first, second]).mean()))
        low, high = sum_of_variances(np.array([total / len(k)]), np.array([k - 1.0]), 0.025)
        single = float(rest.mean())
        cells: dict[str, object] = {}
        for end, runs in {"": float(total.mean()), "_low": low.item(), "_high": high.item()}.items():
            training = max(0.0, runs - single)
            cells[f"sd_training{end}"] = training**0.5
            cells[f"share{end}"] = 2 * training / (2 * training + 2 * single + test_set)
        return cells

    def significant(self, scored: Scored) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark pairs of runs of the same method with p < 0.05: by outputs, and by the method-level test."""
        from scipy.special import ndtr, stdtr

        a, b = self.pairs.T
        gain, variance = scored.gains(self.pairs)
        # Variance of the other runs' scores: all squared deviations from the mean, minus those of the two runs.
        q = scored.quality - (self.averaging @ scored.quality)[self.methods]
        left = self.k[a] - 2
        squares = (self.averaging @ q**2)[self.methods[a]] * self.k[a]
        with np.errstate(divide="ignore", invalid="ignore"):
            others = (squares - q[a] ** 2 - q[b] ** 2 - (q[a] + q[b]) ** 2 / left) / (left - 1)
            by_outputs = 2 * ndtr(-np.abs(gain) / np.sqrt(variance))
            by_runs = 2 * stdtr(np.maximum(left - 1, 1), -np.abs(gain) / np.sqrt(2 * others))
        return (by_outputs < ALPHA) & (gain != 0), by_runs < ALPHA

    def differences(self, parts: list[Scored]) -> dict[str, object]:
        """How often two runs of the same method differ significantly, on all test sets of one size together."""
        by_outputs, by_method = map(np.concatenate, zip(*map(self.significant, parts), strict=True))
        pairs, first = np.tile(self.pairs, (len(parts), 1)), self.pairs[:, 0]
        enough = np.tile(self.k[first] - 2 >= LEAST_OTHERS, len(parts))
        row: dict[str, object] = {
            "n_methods": len(self.k_of_method), "n_runs": len(self.methods), "n_pairs": len(self.pairs),
            "verdict": "estimated",
        }  # fmt: skip
        row |= over_systems.cells("share_significant", over_systems.share(by_outputs, pairs))
        row |= over_systems.cells("share_significant_by_method", over_systems.share(by_method[enough], pairs[enough]))
        # Range over methods with enough pairs.
        methods = pd.Series(by_outputs).groupby(np.tile(self.methods[first], len(parts)))
        shares = methods.mean()[methods.size() >= MIN_PAIRS * len(parts)].to_numpy(float)
        return row | {"least_of_methods": min(shares, default=np.nan), "most_of_methods": max(shares, default=np.nan)}
