"""Effect of documents on p-values: design effects, and calibration by segments and by documents."""

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
from study.analysis import expected, over_systems
from study.analysis.over_systems import Floats
from study.analysis.pairs import WINDOW
from study.analysis.record import SEED, Analysis, Data, Figure, Output
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
        numeric(
            f"replicated_{unit}",
            f"replication rate: share of pairs with p near 0.05 {by} on one half that replicate on the other",
            shown="share",
            missing=True,
        ),
        numeric(
            f"expected_{unit}", f"replication rate expected from the standard errors {by}", shown="share", missing=True
        ),
        *with_interval(f"difference_{unit}", "replication rate minus the expected rate", "change of share"),
    ]


DOCUMENTS = Table(
    "documents",
    (
        replace(
            DATASET,
            meaning="name of the dataset; `all` for the halves of all datasets with this metric, equally weighted",
        ),
        METRIC,
        N_SEGMENTS,
        count("n_documents", "documents", "documents", "documents"),
        count("n_systems", "systems", "systems", "systems"),
        count("n_pairs", "pairs of systems whose outputs differ", "pairs", "pairs"),
        *with_interval(
            "design_effect",
            "variance of a gain by documents divided by that by segments, mean over pairs",
            "two decimals",
        ),
        numeric(
            "by_chance_low",
            "2.5th percentile of the design effect with segments assigned to documents at random",
            missing=True,
        ),
        numeric("by_chance_high", "97.5th percentile of the same", missing=True),
        *_by_unit("segment", "by segments"),
        *_by_unit("document", "by documents"),
    ),
    key=("dataset", "metric"),
)


ENOUGH = 15
"""Minimal number of documents for a design effect."""

SHUFFLES = 200
"""Number of random assignments of segments to documents of the same sizes, for design effects by chance."""

SPLITS = 50
"""Number of random splits of the documents into two halves."""


def documents(data: Iterable[tuple[Statistics, Metric]], *, seed: int = 2012) -> pd.DataFrame:
    """Estimate design effects of documents, and calibrate p-values on halves of the documents.

    The design effect of a pair of systems is the variance of their gain by documents divided by that by segments
    (`pairsig.core.influence.design_effect`); the table has the mean over pairs. Its interval is over systems and
    documents. It adds the variance over systems (`over_systems.variance`) and that over documents (the sum of squared
    influence values), which is conservative. The values by chance are the central 95 % of mean design effects with
    segments assigned to documents at random.

    For calibration, the documents are split into two random halves, `SPLITS` times. If standard errors are correct, the
    expectation of the squared difference between the gains on both halves is the sum of the squared standard errors;
    `excess` is the mean ratio over pairs (datasets have equal weight in the row `all`). Of the pairs with p =
    Φ(−gain/standard error) in `WINDOW` on one half, as many should replicate on the other as `expected.on_another`
    predicts. Both numbers are computed by segments and by documents. Standard errors on halves use the influence values
    on the whole test set.

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
        if not _squares(u - u.mean(axis=1, keepdims=True), pairs).any():
            continue
        names = np.array(statistics.systems)
        split = _Halves.of(counts, u, metric, document, pairs, names, rng)
        rows.append(row | _effect(u, document, pairs, rng) | split.row())
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


def _effect(u: Floats, of: NDArray[np.intp], pairs: NDArray[np.intp], rng: np.random.Generator) -> dict[str, float]:
    """Mean design effect over pairs, with its interval and the range by chance."""
    n, sizes = len(of), np.bincount(of)
    u = u - u.mean(axis=1, keepdims=True)
    by_segment = n / (n - 1) * _squares(u, pairs)
    differs = by_segment > 0
    pairs, by_segment = pairs[differs], by_segment[differs]
    a, b = pairs.T
    sums = _by_document(u, of)
    share = _correction(sizes) * (sums[a] - sums[b]) ** 2 / by_segment[:, None]  # (pairs × documents)
    effects = share.sum(axis=1)
    middle = float(effects.mean())
    # Influence of each document: its part of the numerator, minus the part of its segments in the denominator.
    parts = np.array_split(np.arange(len(a)), len(a) * n // 20_000_000 + 1)
    squares = np.concatenate([_by_document((u[a[part]] - u[b[part]]) ** 2, of) for part in parts])
    influence = (share - effects[:, None] * (n / (n - 1)) * squares / by_segment[:, None]).mean(axis=0)
    over, degrees = over_systems.variance((effects - middle) / len(effects), pairs)
    over_documents = len(sizes) / (len(sizes) - 1) * float(np.square(influence - influence.mean()).sum())
    variance = over + over_documents
    degrees = variance**2 / (over**2 / degrees + over_documents**2 / over_systems.degrees(influence))
    ends = over_systems.interval(middle, variance, degrees, scale="log")
    chance = []
    for _ in range(SHUFFLES):
        assigned = _by_document(u, rng.permutation(of))
        chance.append(float((_correction(sizes) * _squares(assigned, pairs) / by_segment).mean()))
    less, more = np.quantile(chance, [0.025, 0.975])
    effect = over_systems.cells("design_effect", (middle, *ends))
    return {"n_pairs": len(pairs), **effect, "by_chance_low": float(less), "by_chance_high": float(more)}


@dataclass(frozen=True)
class _Halves:
    """Gains and squared errors on two halves of the documents: one row per pair and split, one column per half."""

    gain: Floats
    by_segment: Floats
    by_document: Floats
    names: NDArray[np.str_]
    dataset: NDArray[np.intp]

    @classmethod
    def of(
        cls, counts: NDArray[Any], u: Floats, metric: Metric, of: NDArray[np.intp], pairs: NDArray[np.intp],
        names: NDArray[np.str_], rng: np.random.Generator,
    ) -> _Halves:  # fmt: skip
        n, n_documents, (a, b) = len(of), int(of.max()) + 1, pairs.T
        gain, by_segment, by_document = np.empty((3, SPLITS, len(pairs), 2))
        for split in range(SPLITS):
            first = np.isin(of, rng.permutation(n_documents)[: n_documents // 2])
            for side, members in enumerate((first, ~first)):
                score = metric.score(counts[:, members].sum(axis=1)) * (1 if metric.higher_is_better else -1)
                gain[split, :, side] = score[a] - score[b]
                centred = u[:, members] * (n / members.sum())
                centred = centred - centred.mean(axis=1, keepdims=True)
                m = int(members.sum())
                labels = np.unique(of[members], return_inverse=True)[1]
                by_segment[split, :, side] = m / (m - 1) * _squares(centred, pairs)
                together = _by_document(centred, labels)
                by_document[split, :, side] = _correction(np.bincount(labels)) * _squares(together, pairs)
        gain, by_segment, by_document = (values.reshape(-1, 2) for values in (gain, by_segment, by_document))
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
            columns |= self._replication(np.sqrt(squared), weights, systems, drawn, unit)
        return columns

    def _replication(
        self, error: Floats, weights: Floats, systems: over_systems.Codes, drawn: over_systems.Codes, unit: str
    ) -> dict[str, float]:
        """Replication rate on the second half for pairs with p in the window on the first, and the expected rate."""
        from scipy.special import ndtr

        usable = (error > 0).all(axis=1) & (self.gain != 0).all(axis=1)
        gain, error, weights = (values[usable] for values in (self.gain, error, weights))
        systems, drawn = systems[usable], drawn[usable]
        p = ndtr(-np.abs(gain[:, 0]) / error[:, 0])
        inside = (p >= WINDOW[0]) & (p <= WINDOW[1])
        replicated = (gain[:, 0] > 0)[inside] == (gain[:, 1] > 0)[inside]
        weights_inside = weights[inside]
        ends = over_systems.share_interval(replicated, systems[inside], drawn[inside], weights=weights_inside)
        right, wrong = expected.on_another(gain[:, 0], error[:, 0], gain[:, 1], error[:, 1], *WINDOW)
        predicted = expected.share(weights * right, weights * wrong, systems, drawn)
        middle = float((weights_inside * replicated).sum() / weights_inside.sum()) if len(replicated) else np.nan
        difference = over_systems.cells(f"difference_{unit}", expected.difference((middle, *ends), predicted))
        return {f"replicated_{unit}": middle, f"expected_{unit}": predicted[0], **difference}


def _squares(u: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Σ (uᴬ − uᴮ)² for each pair."""
    products = u @ u.T
    a, b = pairs.T
    squares = products.diagonal()
    differences: Floats = squares[a] + squares[b] - 2 * products[a, b]
    return np.where(differences > 1e-12 * (squares[a] + squares[b]), differences, 0.0)


def _by_document(u: Floats, of: NDArray[np.intp]) -> Floats:
    """Sums over the segments of each document, shape (rows, documents)."""
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(int(of.max()) + 1))
    sums: Floats = np.add.reduceat(u[:, order], starts, axis=1)
    return sums


def _correction(sizes: NDArray[np.intp]) -> float:
    return len(sizes) / (len(sizes) - 1)


ANALYSIS = Analysis(
    documents,
    {"data": Data("measured"), "seed": SEED},
    tables=(
        Output(
            DOCUMENTS,
            "one row per dataset whose segments form documents",
            "Effects of documents on the variance of gains and on p-values",
        ),
    ),
    figures=(
        Figure(
            "documents",
            "elsewhere",
            ("documents",),
            "Effect of documents on the variance of a gain and on p.",
            "Sentences from the same document are not independent. Left: the design effect, that is, the variance of "
            "a gain by documents divided by that by sentences, as a mean over pairs of systems. Intervals (95 %) are "
            "over systems and documents. Grey: the design effect if sentences are assigned to documents at random. "
            "Right: the squared difference between the gains on two halves of the documents, divided by its variance "
            "by sentences and by documents, with intervals over systems.",
        ),
    ),
)
