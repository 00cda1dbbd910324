"""Effect of documents on standard errors: design effects, and gains on halves of the documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis import over_systems
from study.analysis.first_order import squared_differences
from study.analysis.over_systems import Floats
from study.tables.columns import numeric, with_interval


def _by_unit(unit: str, by: str) -> list[Column]:
    return [
        *with_interval(
            f"excess_{unit}",
            f"squared difference between the gains on two halves, divided by its variance {by}",
            "two decimals",
        ),
        numeric(
            f"excess_{unit}_by_pair",
            "the same mean over all datasets, with equal weight for every pair of systems instead of every dataset",
            shown="two decimals",
            missing=True,
        ),
    ]


DOCUMENTS = Table(
    "documents",
    (
        replace(DATASET, meaning="name of the dataset; `all` for the halves of all datasets with this metric, equally "
            "weighted"),
        METRIC,
        N_SEGMENTS,
        count("n_documents", "documents"),
        count("n_systems", "systems"),
        count("n_pairs", "pairs of systems whose outputs differ"),
        *with_interval("design_effect", "variance of a gain by documents divided by that by segments, mean over pairs",
            "two decimals"),
        numeric("by_chance_low", "2.5th percentile of the design effect with segments assigned to documents at random",
            missing=True),
        numeric("by_chance_high", "97.5th percentile of the same", missing=True),
        *_by_unit("segment", "by segments"),
        *_by_unit("document", "by documents"),
    ),
    key=("dataset", "metric"),
    caption="Effects of documents on the variance and the standard errors of gains",
)  # fmt: skip


Ints = NDArray[np.intp]

ENOUGH = 15
"""Minimal number of documents for a design effect."""

SHUFFLES = 200
"""Number of random assignments of segments to documents of the same sizes, for design effects by chance."""

SPLITS = 50
"""Number of random splits of the documents into two halves."""


def documents(data: Iterable[tuple[Statistics, Metric]], *, seed: int = 2012) -> pd.DataFrame:
    """Estimate design effects of documents, and check standard errors on halves of the documents.

    The design effect of a pair of systems is the variance of their gain by documents divided by that by segments
    (`pairsig.core.influence.design_effect`); the table has the mean over pairs. Its interval is over systems and
    documents. It adds the variance over systems (`over_systems.variance`) and that over documents (the sum of squared
    influence values), which is conservative. The values by chance are the central 95 % of mean design effects with
    segments assigned to documents at random.

    For calibration, the documents are split into two random halves, `SPLITS` times. If standard errors are correct, the
    expectation of the squared difference between the gains on both halves is the sum of the squared standard errors;
    `excess` is the mean ratio over pairs (datasets have equal weight in the row `all`), by segments and by documents.
    Standard errors on halves use the influence values on the whole test set.

    Parameters
    ----------
    data
        Statistics with their metrics. There is no row for datasets with fewer than `ENOUGH` documents, with one segment
        per document, or with identical systems only.

    Returns
    -------
    Table `DOCUMENTS`, one row per dataset, and one row `all` per metric for the halves of its datasets together. All
    datasets have the same weight there, whatever their number of systems.
    """
    from pairsig.core.influence import influence_values

    rows: list[dict[str, Any]] = []
    halves: dict[str, list[_Halves]] = {}
    for statistics, metric in data:
        _, document = np.unique(statistics.documents, return_inverse=True)
        n_documents = int(document.max()) + 1
        if not ENOUGH <= n_documents < len(document):
            continue
        rng = np.random.Generator(np.random.SFC64([seed, len(document)]))
        row = {
            "dataset": statistics.dataset, "metric": metric.name,
            "n_segments": len(document), "n_documents": n_documents, "n_systems": len(statistics.systems),
        }  # fmt: skip
        counts = statistics.of(metric)
        u = influence_values(counts, metric)
        pairs = np.stack(np.triu_indices(len(u), k=1), axis=1)
        centred = u - u.mean(axis=1, keepdims=True)
        if not _variances(centred, pairs).any():
            continue
        names = np.array(statistics.systems)
        split = _Halves.of(counts, u, metric, document, pairs, names, rng)
        rows.append(row | _effect(centred, document, pairs, rng) | split.row())
        halves.setdefault(metric.name, []).append(split)
    for name, parts in halves.items():
        if len(parts) > 1:
            of_datasets = [row for row in rows if row["metric"] == name]
            numbers = np.repeat(np.arange(len(parts)), [len(part.gain) for part in parts])
            whole = over_systems.joined(parts, dataset=numbers)
            totals = {name: sum(row[name] for row in of_datasets) for name in ("n_segments", "n_documents", "n_pairs")}
            n_systems = len(np.unique(whole.names))
            rows.append({"dataset": "all", "metric": name, "n_systems": n_systems} | totals | whole.row())
    return frame(DOCUMENTS, rows)


def _effect(u: Floats, document: Ints, pairs: Ints, rng: np.random.Generator) -> dict[str, float]:
    """Mean design effect over pairs, with its interval and the range by chance, from centred influence values."""
    by_segment = _variances(u, pairs)
    differs = by_segment > 0
    pairs, by_segment = pairs[differs], by_segment[differs]
    a, b = pairs.T
    # Part of each document in the design effect, D/(D − 1) (Σ_segments of it d)² / by_segment; (pairs × documents)
    sums = _by_document(u, document)
    n, factor = len(document), _correction(sums)
    shares = factor * (sums[a] - sums[b]) ** 2 / by_segment[:, None]
    effects = shares.sum(axis=1)
    middle = float(effects.mean())
    # Influence of each document: its part of the numerator, minus the part of its segments in the denominator.
    at_once = np.array_split(np.arange(len(a)), len(a) * n // 20_000_000 + 1)
    squares = np.concatenate([_by_document((u[a[part]] - u[b[part]]) ** 2, document) for part in at_once])
    influence = (shares - effects[:, None] * _correction(u) * squares / by_segment[:, None]).mean(axis=0)
    of_documents = factor * float(np.square(influence - influence.mean()).sum())
    variance = over_systems.added(
        over_systems.variance((effects - middle) / len(effects), pairs), (of_documents, over_systems.degrees(influence))
    )
    ends = over_systems.interval(middle, *variance, scale="log")
    by_chance = []
    for _ in range(SHUFFLES):
        shuffled = _by_document(u, rng.permutation(document))
        by_chance.append(float((_variances(shuffled, pairs) / by_segment).mean()))
    low, high = np.quantile(by_chance, [0.025, 0.975]).tolist()
    effect = over_systems.cells("design_effect", (middle, *ends))
    return {"n_pairs": len(pairs), **effect, "by_chance_low": low, "by_chance_high": high}


@dataclass(frozen=True)
class _Halves:
    """Gains and squared errors on two halves of the documents: one row per pair and split, one column per half."""

    gain: Floats
    by_segment: Floats
    by_document: Floats
    names: NDArray[np.str_]
    dataset: Ints

    @classmethod
    def of(
        cls, counts: NDArray[Any], u: Floats, metric: Metric, document: Ints, pairs: Ints, names: NDArray[np.str_],
        rng: np.random.Generator,
    ) -> _Halves:  # fmt: skip
        """Split the documents at random, `SPLITS` times."""
        n_documents, splits = int(document.max()) + 1, []
        for _ in range(SPLITS):
            first = np.isin(document, rng.permutation(n_documents)[: n_documents // 2])
            halves = (np.flatnonzero(first), np.flatnonzero(~first))
            splits.append([_on_half(counts, u, metric, document, pairs, half) for half in halves])
        # (splits, halves, three columns, pairs)
        gain, by_segment, by_document = np.array(splits).transpose(2, 0, 3, 1).reshape(3, -1, 2)
        dataset = np.zeros(len(gain), dtype=np.intp)
        return cls(gain, by_segment, by_document, np.tile(names[pairs], (SPLITS, 1)), dataset)

    def row(self) -> dict[str, float]:
        """Compute the columns of the table."""
        systems = over_systems.members(*self.names.T)
        drawn = over_systems.drawn(np.stack([self.dataset, np.full(len(self.dataset), -1)], axis=1))
        weights = 1 / np.bincount(self.dataset)[self.dataset]
        columns: dict[str, float] = {}
        for unit, squared in (("segment", self.by_segment), ("document", self.by_document)):
            usable = (squared > 0).all(axis=1)
            difference = (self.gain[:, 0] - self.gain[:, 1])[usable] ** 2
            expected_loss = squared[usable].sum(axis=1)
            # A mean of ratios, so that pairs with a high correlation have the same weight as others.
            excess, share_of_weights = difference / expected_loss, weights[usable] / weights[usable].sum()
            middle = float((share_of_weights * excess).sum())
            if self.dataset.any():
                columns[f"excess_{unit}_by_pair"] = float(excess.mean())
            variance = over_systems.variance(
                share_of_weights * (excess - middle), systems[usable], drawn[usable], weights=share_of_weights
            )
            ends = over_systems.interval(middle, *variance, scale="log")
            columns |= over_systems.cells(f"excess_{unit}", (middle, *ends))
        return columns


def _on_half(
    counts: NDArray[Any], u: Floats, metric: Metric, document: Ints, pairs: Ints, half: NDArray[np.intp]
) -> Floats:
    """Gains on half of the documents, and their squared errors by segments and by documents; shape (3, pairs)."""
    quality = metric.score(counts[:, half].sum(axis=1)) * (1 if metric.higher_is_better else -1)
    a, b = pairs.T
    # Influence values on the m segments of the half are n/m times those on all.
    m, (_, document_of) = len(half), np.unique(document[half], return_inverse=True)
    u = u[:, half] * (len(document) / m)
    u = u - u.mean(axis=1, keepdims=True)
    by_segment, by_document = _variances(u, pairs), _variances(_by_document(u, document_of), pairs)
    return np.stack([quality[a] - quality[b], by_segment, by_document])


def _variances(u: Floats, pairs: Ints) -> Floats:
    """n/(n − 1) Σ (uᴬ − uᴮ)² over n units: the variance of the gain of each pair by segments, or by documents."""
    return _correction(u) * squared_differences(u @ u.T, pairs)


def _by_document(u: Floats, document: Ints) -> Floats:
    """Sums over the segments of each document, shape (rows, documents)."""
    order = np.argsort(document, kind="stable")
    starts = np.searchsorted(document[order], np.arange(int(document.max()) + 1))
    sums: Floats = np.add.reduceat(u[:, order], starts, axis=1)
    return sums


def _correction(u: Floats) -> float:
    """n/(n − 1) for n units, segments or documents."""
    n = u.shape[1]
    return float(n / (n - 1))
