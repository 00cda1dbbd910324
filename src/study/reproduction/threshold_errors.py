"""How much a threshold would change with other sentences and other systems: redrawn studies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, TEST_SET, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis.first_order import Scored
from study.analysis.pairs import PAPER_WINDOW, Z_05, subsets, weighted_quantile
from study.reproduction.thresholds import near
from study.tables.columns import SUBSET, addressed, numeric
from study.test_sets import Derivation
from study.training.training_sets import SYNTHETIC, size_of

THRESHOLD_ERRORS = Table(
    "threshold_errors",
    (
        DATASET,
        TEST_SET,
        METRIC,
        SUBSET,
        N_SEGMENTS,
        count("n_systems", "systems of the dataset"),
        count("block", "consecutive segments that are redrawn together", "segments", "block"),
        count("n_windows", "windows of this size in the dataset; 1 unless the test set is one of many", "", "windows"),
        numeric("threshold", "geometric mean of the thresholds on the redrawn test sets", "points",
            shown="two decimals"),
        numeric("error_segments", "standard error of the logarithm of the threshold, over segments"),
        numeric("printed_error_segments", "the same for the paper's percentile: root mean square of log printed/ours"),
        numeric("printed_error", "the same, over segments and systems together"),
    ),
    key=("dataset", "test_set", "metric", "subset"),
    caption="Errors of thresholds over the segments and systems of a study, from studies redrawn from ours",
)  # fmt: skip

N_STUDIES = 100
"""Number of redrawn studies per threshold."""

BLOCK = 100
MANY = 10
"""Neighbouring segments are similar. Test sets of at least so many blocks are redrawn in blocks of this size, and
initial segments by other windows of a dataset that has at least so many."""


def threshold_errors(
    data: Iterable[tuple[Statistics, Metric]],
    published: pd.DataFrame,
    *,
    percentile: float = 95.0,
    seed: int = 2012,
    n_studies: int = N_STUDIES,
) -> pd.DataFrame:
    """Estimate the error of each threshold that the papers print, over the segments and systems of a study.

    Each dataset stands for a population, from which whole studies are redrawn: segments alone, then also systems. Each
    study has our threshold (see `thresholds`) and the paper's percentile of the gains in its window.

    Parameters
    ----------
    data
        Statistics of datasets. Those without a threshold in `published` are ignored.
    published
        Table `PUBLISHED`; its addresses `threshold:DATASET:SUBSET[:TEST_SET]` say which thresholds are needed.

    Returns
    -------
    Table `THRESHOLD_ERRORS`, one row per dataset, test set and subset of pairs.

    Notes
    -----
    Segments are drawn with replacement; if there are at least 1,000, consecutive ones are drawn together, in blocks of
    100. An initial segment of a dataset of at least ten times its size is instead replaced by other windows of as many
    consecutive segments. Systems are drawn with replacement, retrained ones from each base model and size of training
    set; two copies of a system are no pair.
    Standard errors follow from influence values, and the window contains pairs whose normal p-value lies in it.

    The error of the paper's percentile is its root mean square deviation from our threshold on the given test set (from
    the mean over all windows, if there are several), on the logarithmic scale. It thus includes the small bias between
    the two definitions. docs/coverage.md reports how often two studies of the same kind disagree.
    """
    needed = _needed(published)
    all_rows = []
    for statistics, metric in data:
        for test_set, subset_names in needed.get(statistics.dataset, {}).items():
            rows = _errors(
                statistics, metric, test_set, subset_names, percentile, np.random.default_rng(seed), n_studies
            )
            key = {"dataset": statistics.dataset, "test_set": test_set, "metric": metric.name}
            all_rows += [key | row for row in rows]
    return frame(THRESHOLD_ERRORS, all_rows)


def _needed(published: pd.DataFrame) -> Mapping[str, dict[str, list[str]]]:
    """Find the subsets of the thresholds in the sheet, by dataset and test set."""
    needed: dict[str, dict[str, list[str]]] = {}
    for row in addressed(published, "threshold", "dataset", "subset", "test_set").itertuples():
        subset_names = needed.setdefault(row.dataset, {}).setdefault(row.test_set or "whole", [])
        subset_names += [row.subset] if row.subset not in subset_names else []
    return needed


def _errors(
    statistics: Statistics,
    metric: Metric,
    test_set: str,
    subset_names: Sequence[str],
    percentile: float,
    rng: np.random.Generator,
    n_studies: int,
) -> Iterator[dict[str, object]]:
    """Redraw studies on one test set, and yield the errors of each subset; nothing if there is no such test set."""
    n_dataset = len(statistics.segments)
    n = n_dataset if test_set == "whole" else _initial(test_set)
    if n is None or n > n_dataset:
        return
    n_windows = n_dataset // n if n_dataset >= MANY * n else 1
    block = n if n_windows > 1 else BLOCK if n >= MANY * BLOCK else 1
    counts = statistics.of(metric)
    counts = counts if n_windows > 1 else counts[:, :n]
    pairs_of = {name: pairs for name, pairs in _pairs(statistics).items() if name in subset_names and len(pairs)}
    strata = _strata(statistics)
    values: dict[str, list[tuple[float, float, float]]] = {name: [] for name in pairs_of}
    for _ in range(n_studies):
        starts = rng.integers(0, counts.shape[1] - block + 1, -(-n // block))
        redrawn = (starts[:, None] + np.arange(block)).ravel()[:n]
        scored = Scored.of(counts[:, redrawn], metric)
        copies = _copies(strata, rng)
        for name, pairs in pairs_of.items():
            gains = _gains(scored, pairs)
            ours, printed = _thresholds(gains, np.ones(len(pairs)), percentile)
            _, printed_by_drawn = _thresholds(gains, copies[pairs[:, 0]] * copies[pairs[:, 1]], percentile)
            values[name].append((ours, printed, printed_by_drawn))
    for name, pairs in pairs_of.items():
        threshold, printed, printed_by_drawn = np.array(values[name]).T
        if np.isfinite(printed_by_drawn).sum() < n_studies / 2:  # too few pairs near p = 0.05
            continue
        centre = np.nanmean(threshold)
        if n_windows == 1:
            gains = _gains(Scored.of(counts, metric), pairs)
            centre, _ = _thresholds(gains, np.ones(len(pairs)), percentile)
        numbers = {
            "threshold": np.exp(np.nanmean(threshold)),
            "error_segments": np.nanstd(threshold, ddof=1),
            "printed_error_segments": np.sqrt(np.nanmean((printed - centre) ** 2)),
            "printed_error": np.sqrt(np.nanmean((printed_by_drawn - centre) ** 2)),
        }
        sizes = {
            "n_segments": n, "n_systems": len(np.unique(pairs)), "block": block, "n_windows": n_windows
        }  # fmt: skip
        # Six digits, so that all machines agree.
        yield {"subset": name} | sizes | {key: float(f"{value:.6g}") for key, value in numbers.items()}


def _initial(test_set: str) -> int | None:
    """Number of segments of an initial test set; None for other labels."""
    size = test_set.removeprefix("first-")
    return int(size) if size.isdecimal() and Derivation("initial", int(size)).label == test_set else None


def _pairs(statistics: Statistics) -> dict[str, NDArray[np.intp]]:
    """Positions of the two systems of each pair, by subset of pairs (`pairs.subsets`)."""
    first, second = np.triu_indices(len(statistics.systems), 1)
    names, groups, kinds = map(np.array, (statistics.systems, statistics.groups, statistics.kinds))
    table = pd.DataFrame(
        {
            "system_a": names[first], "system_b": names[second], "same_group": groups[first] == groups[second],
            "kind_a": kinds[first], "kind_b": kinds[second],
        }
    )  # fmt: skip
    pairs = np.stack([first, second], axis=1)
    return {name: pairs[rows.index] for name, rows in subsets(table)}


def _strata(statistics: Statistics) -> NDArray[np.intp]:
    """Number the base model and size of training set of each retrained system; published systems are one stratum."""
    sizes = size_of(pd.Series(statistics.systems)).fillna("")
    retrained = np.array(statistics.kinds) == SYNTHETIC
    labels = [
        f"{group} {size}" if is_retrained else ""
        for group, size, is_retrained in zip(statistics.groups, sizes, retrained, strict=True)
    ]
    strata: NDArray[np.intp] = np.unique(labels, return_inverse=True)[1]
    return strata


def _copies(strata: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """How often each system is drawn, if as many systems as a stratum has are drawn from it with replacement."""
    copies = np.zeros(len(strata), dtype=np.intp)
    for stratum in np.unique(strata):
        systems = np.flatnonzero(strata == stratum)
        copies += np.bincount(rng.choice(systems, len(systems)), minlength=len(strata))
    return copies


def _gains(scored: Scored, pairs: NDArray[np.intp]) -> pd.DataFrame:
    """Gains of the better systems and their standard errors."""
    gain, variance = scored.gains(pairs)
    return pd.DataFrame({"gain": np.abs(gain), "standard_error": np.sqrt(variance)})


def _thresholds(gains: pd.DataFrame, weights: NDArray[Any], percentile: float) -> tuple[float, float]:
    """Logarithms of our threshold and of the paper's, over weighted pairs; nan without pairs near p = 0.05."""
    from scipy.special import ndtr

    present = (weights > 0) & (gains["standard_error"] > 0).to_numpy()
    gains, weights = gains[present], weights[present]
    gain, error = gains["gain"].to_numpy(), gains["standard_error"].to_numpy()
    ours = weighted_quantile(np.log(Z_05 * error), near(gains) * weights, percentile / 100)[0]
    pvalue = ndtr(-gain / error)
    inside = np.flatnonzero(PAPER_WINDOW.contains(pvalue))
    if not len(inside):
        return float(ours), np.nan
    ascending = inside[np.argsort(gain[inside], kind="stable")]
    reached = weights[ascending].cumsum()
    at_percentile = np.searchsorted(reached, percentile / 100 * reached[-1])
    return float(ours), float(np.log(gain[ascending[at_percentile]]))
