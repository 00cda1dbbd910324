"""Heterogeneity of gains between the test sets of a family, and how well it predicts the winner on another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import METRIC, Column, Table, count, share
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis import over_systems
from study.analysis.over_systems import Floats
from study.inputs import row_place
from study.tables.columns import FAMILIES, FAMILY, numeric, with_interval
from study.test_sets import labelled, matches, random_order

HETEROGENEITY = Table(
    "heterogeneity",
    (
        FAMILY,
        METRIC,
        Column("about", str, "description of its test sets"),
        count("n_test_sets", "test sets"),
        count("n_systems", "systems"),
        count("n_pairs", "pairs of systems, on each pair of test sets"),
        *with_interval("kappa_squared", "κ²: variance of a pair's true gain between test sets, relative to that of its "
            "per-segment contributions", over=" over systems and test sets", missing=False),
        *with_interval("effective_sample_size", "1/(2κ²): segments of the next test set that predict the gain there as "
            "well as an infinite test set here", "count"),
        numeric("effective_sample_size_least", "the smallest such number of a dataset or, if test sets of different "
            "datasets are compared, of a test set", shown="count", missing=True),
        numeric("effective_sample_size_most", "the largest such number", shown="count", missing=True),
        count("n_validated", "held-out cases: pairs of systems on ordered pairs of test sets", "pairs"),
        *with_interval("replicated", "replication rate: share of cases with the same better system on the second test "
            "set", "share"),
        share("predicted_iid", "mean predicted probability of that, if both test sets came from the same source"),
        share("predicted", "mean predicted probability of that, with κ² estimated on other test sets and systems"),
        *with_interval("loss_reduction", "log loss without heterogeneity minus log loss with κ²", "two decimals"),
        Column("verdict", str, "whether κ² improves the prediction for test sets and systems it was not estimated on",
            choices=("better", "no better", "worse", "not validated")),
    ),
    key=("family", "metric"),
    caption=(
        "Heterogeneity of gains between the test sets of a family, and how well it predicts the winner on another "
        "one"
    ),
)  # fmt: skip

LEAST = 100
"""Minimal number of segments of a domain or document; with fewer, the normal approximation of gains is too poor."""

SURE = 1e-6
"""Predicted chances are clipped to at most 1 − SURE, the resolution of p-values from a million resamples."""

VARIED = 2.0
"""Assumed ratio of the variance of κ² between test sets to its squared mean, for the upper end of intervals."""

SEED = 2012
"""Seed of the halves."""


def heterogeneity(data: Iterable[tuple[Statistics, Metric]], families: pd.DataFrame) -> pd.DataFrame:
    """Estimate the heterogeneity of families of test sets, and how well it predicts the winner on the next one.

    With the gains d and standard errors s of a pair on two test sets, and σ² = n s² on each,

        κ² = mean of ((d₁ − d₂)² − s₁² − s₂²) / (σ₁² + σ₂²)

    over pairs of systems and pairs of test sets of the family (docs/next-test-set.md has the model).

    For validation on test sets and systems that were left out, κ² is estimated from all rows without either test set
    *and* without any system of either group. The predicted chance that the better system on the first test set also
    wins on the second, with n₂ segments, is Φ(|d₁| / √(σ₁² (1/n₁ + 1/n₂ + 2κ²))). The i.i.d. prediction has κ² = 0.
    Both directions are used. Chances are clipped to at most 1 − `SURE`.

    Parameters
    ----------
    data
        Statistics with their metrics, used one after the other.
    families
        Table `FAMILIES`. Cells of `dataset` and `test_set` contain patterns: `whole`, `domain:…`, `document:…` (with at
        least `LEAST` segments; a document in two datasets counts once), `half:1` and `half:2`. The test sets of a line
        are compared with each other, or within each dataset, except two of the same domain. Lines of a family are
        pooled.

    Returns
    -------
    Table `HETEROGENEITY`, one row per family and metric. Intervals (95 %) are over systems and test sets.
    """
    test_sets = [*chain.from_iterable(_test_sets(statistics, metric, families) for statistics, metric in data)]
    estimates = []
    for (family, metric), cells in _cells(test_sets, families).items():
        rows = _Rows.of(cells)
        key = {"family": family, "metric": metric}
        about = families["about"][families["family"] == family].iloc[0]
        estimates.append(key | {"about": about} | _estimates(rows) | _validated(rows))
    return frame(HETEROGENEITY, estimates)


@dataclass(frozen=True, eq=False)
class _TestSet:
    """Gains of all pairs of systems on a test set, with standard errors; the first name of a pair comes first."""

    dataset: str
    label: str
    metric: str
    n_segments: int
    pairs: pd.DataFrame

    @property
    def name(self) -> str:
        """Dataset and label, as in messages."""
        return f"{self.dataset} {self.label}"


def _test_sets(statistics: Statistics, metric: Metric, sheet: pd.DataFrame) -> Iterator[_TestSet]:
    from pairsig.core.influence import errors_and_correlations

    wanted = [row for row in sheet.itertuples(index=False) if matches(statistics.dataset, row.dataset)]
    order = np.argsort(statistics.systems, kind="stable")
    systems, groups = (np.array(names, dtype=object)[order] for names in (statistics.systems, statistics.groups))
    a, b = pairs = np.stack(np.triu_indices(len(systems), k=1))
    names = {"system_a": systems[a], "system_b": systems[b], "group_a": groups[a], "group_b": groups[b]}
    counts = statistics.of(metric)
    for label, segments in _parts(statistics):
        if not any(matches(label, row.test_set) for row in wanted):
            continue
        counts_of_part = counts[order][:, segments]
        scores = metric.score(counts_of_part.sum(axis=1)) * (1 if metric.higher_is_better else -1)
        error, _ = errors_and_correlations(counts_of_part, metric, pairs.T)
        gains = pd.DataFrame({"gain": scores[a] - scores[b], "error": error, **names})
        yield _TestSet(statistics.dataset, label, metric.name, len(segments), gains)


def _parts(statistics: Statistics) -> Iterator[tuple[str, NDArray[np.intp]]]:
    n = len(statistics.segments)
    yield "whole", np.arange(n)
    for kind, labels in (("domain", statistics.domains), ("document", statistics.documents)):
        for label, members in labelled(labels):
            if LEAST <= len(members) < n:
                yield f"{kind}:{label}", members
    order = random_order(n, SEED)
    for number, members in enumerate((order[: n // 2], order[n // 2 :]), start=1):
        yield f"half:{number}", np.sort(members)


def _cells(
    test_sets: Sequence[_TestSet], sheet: pd.DataFrame
) -> dict[tuple[str, str], list[tuple[_TestSet, _TestSet]]]:
    """Find the pairs of test sets of each family and metric."""
    cells: dict[tuple[str, str], list[tuple[_TestSet, _TestSet]]] = {}
    taken: dict[tuple[str, str, str], str] = {}
    for index, row in zip(sheet.index, sheet.itertuples(index=False), strict=True):
        where = row_place(sheet, index, FAMILIES.name)
        chosen: dict[tuple[str, ...], _TestSet] = {}
        for first in test_sets:
            if matches(first.dataset, row.dataset) and matches(first.label, row.test_set):
                # The same document may be in several datasets.
                chosen.setdefault(
                    (first.label,) if first.label.startswith("document:") else (first.dataset, first.label), first
                )
        for first, second in combinations(chosen.values(), 2):
            within = row.compared == "within datasets"
            if first.metric != second.metric or (within and first.dataset != second.dataset):
                continue
            if first.label == second.label != "whole":  # of the same domain: not another kind of text
                continue
            key = (str(row.family), first.name, second.name)
            if key in taken:
                again = f"found {first.name} and {second.name} again, expected them once: they are in {taken[key]}"
                raise InputError(f"{where}: {again}")
            taken[key] = where
            cells.setdefault((str(row.family), first.metric), []).append((first, second))
    return cells


@dataclass(frozen=True)
class _Rows:
    """Pairs of systems on two test sets, one row each; values on both test sets have two columns."""

    gain: Floats
    variance: Floats
    n_segments: Floats
    systems: over_systems.Codes
    groups: over_systems.Codes
    test_sets: over_systems.Codes
    datasets: over_systems.Codes

    @classmethod
    def of(cls, cells: Sequence[tuple[_TestSet, _TestSet]]) -> _Rows:
        named = {test_set.name: test_set for test_set in chain.from_iterable(cells)}
        test_sets = [named[name] for name in sorted(named)]
        pairs = pd.concat(
            [
                test_set.pairs.assign(dataset=test_set.dataset, test_set=number, n=test_set.n_segments)
                for number, test_set in enumerate(test_sets)
            ]
        )
        for names in (["system_a", "system_b"], ["group_a", "group_b"], ["dataset"]):
            numbers, _ = pd.factorize(pairs[names].to_numpy(dtype=object).ravel(), sort=True)
            pairs[names] = numbers.reshape(-1, len(names))
        pairs = pairs[pairs["error"] > 0]
        numbers_of = {test_set.name: number for number, test_set in enumerate(test_sets)}
        places = [(numbers_of[first.name], numbers_of[second.name]) for first, second in cells]
        rows = pd.DataFrame(places, columns=["test_set", "test_set_against"]).merge(pairs, on="test_set")
        of_second = pairs.rename(columns={"test_set": "test_set_against"})
        rows = rows.merge(of_second, on=["test_set_against", "system_a", "system_b"], suffixes=("", "_against"))

        def both(name: str, kind: type = float) -> NDArray[Any]:
            return np.asarray(rows[[name, f"{name}_against"]], dtype=kind)

        return cls(
            gain=both("gain"),
            variance=both("error") ** 2,
            n_segments=both("n"),
            systems=rows[["system_a", "system_b"]].to_numpy(dtype=np.intp),
            groups=rows[["group_a", "group_b"]].to_numpy(dtype=np.intp),
            test_sets=both("test_set", np.intp),
            datasets=both("dataset", np.intp),
        )

    @property
    def spread(self) -> Floats:
        """σ² on both test sets: the variance of the contribution of a segment to the gain."""
        return self.variance * self.n_segments

    @property
    def excess(self) -> Floats:
        """Estimate of κ² from each row."""
        between = (self.gain[:, 0] - self.gain[:, 1]) ** 2
        kappa_squared: Floats = (between - self.variance.sum(axis=1)) / self.spread.sum(axis=1)
        return kappa_squared


def mean_excess(excess: Floats, systems: over_systems.Codes, test_sets: over_systems.Codes) -> over_systems.Estimate:
    """Estimate κ² with its interval: a mean over rows that share systems and test sets.

    The mean is unbiased, but it is too small in samples that miss the most heterogeneous test sets, and so is its
    estimated variance. For the upper end, `VARIED` κ⁴ Σ wₜ² is therefore added to the variance, where wₜ is the share
    of test set t. The lower end is Student's on the plain scale. The upper end is Student's on the logarithmic scale,
    but at most twice as far away as on the plain scale.

    docs/coverage.md reports the coverage in simulations.
    """
    middle = float(excess.mean())
    residuals = (excess - middle) / len(excess)
    variance, degrees = over_systems.variance(residuals, systems, over_systems.drawn(test_sets))
    low, high = over_systems.interval(middle, variance, degrees)
    if middle > 0:
        of_test_sets = np.bincount(test_sets.ravel()) / test_sets.size
        variance += VARIED * middle**2 * float(np.square(of_test_sets).sum())
        plain, log = (over_systems.interval(middle, variance, degrees, scale=scale)[1] for scale in ("plain", "log"))
        high = min(log, 2 * plain - middle)
    return middle, low, high


def _estimates(rows: _Rows) -> dict[str, object]:
    """Compute κ² and the numbers derived from it."""
    excess = rows.excess
    kappa, low, high = mean_excess(excess, rows.systems, rows.test_sets)
    return {
        "n_test_sets": over_systems.n_members(rows.test_sets),
        "n_systems": over_systems.n_members(rows.systems),
        "n_pairs": len(rows.gain),
        **over_systems.cells("kappa_squared", (kappa, low, high)),
        **over_systems.cells("effective_sample_size", map(_effective_sample_size, (kappa, high, low))),
        **_range(rows, excess),
    }


def _range(rows: _Rows, excess: Floats) -> dict[str, float]:
    """Range of the effective sample size over datasets or, if they are compared with each other, over test sets."""
    within = (rows.datasets[:, 0] == rows.datasets[:, 1]).all()
    parts = rows.datasets if within and len(np.unique(rows.datasets)) > 1 else rows.test_sets
    sizes = [_effective_sample_size(float(excess[(parts == part).any(axis=1)].mean())) for part in np.unique(parts)]
    limited = [size for size in sizes if size > 0]  # without heterogeneity there is no limit
    least = min(limited, default=np.nan)
    most = max(limited) if len(limited) == len(sizes) else np.nan
    return {"effective_sample_size_least": least, "effective_sample_size_most": most}


def _effective_sample_size(kappa_squared: float) -> float:
    return 1 / (2 * kappa_squared) if kappa_squared > 0 else np.nan


def _validated(rows: _Rows) -> dict[str, object]:
    """Predict who wins again, both ways, without heterogeneity and with that of other test sets and systems."""
    from scipy.special import ndtr

    sums = np.stack([np.ones(len(rows.gain)), rows.excess], axis=1)
    number, total = left_out(sums, rows.groups, rows.test_sets).T
    known = number > 0
    kappa = np.maximum(np.divide(total, number, where=known, out=np.zeros(len(total))), 0.0)
    used = known & (rows.gain != 0).all(axis=1)
    n = 2 * int(used.sum())
    if not n:
        return {"n_validated": 0, "verdict": "not validated"}
    one_over_n = (1 / rows.n_segments[used]).sum(axis=1)
    directions = []
    for on, against in ((0, 1), (1, 0)):
        d, per_segment = rows.gain[used, on], rows.spread[used, on]
        excess = np.stack([np.zeros(len(d)), per_segment * kappa[used]], axis=1)
        spread = np.sqrt((per_segment * one_over_n)[:, None] + 2 * excess)
        chance = np.minimum(ndtr(np.abs(d)[:, None] / spread), 1 - SURE)
        directions.append((chance, (d > 0) == (rows.gain[used, against] > 0)))
    chance, replicated = map(np.concatenate, zip(*directions, strict=True))
    systems, test_sets = (
        np.tile(codes, (2, 1)) for codes in (rows.systems[used], over_systems.drawn(rows.test_sets[used]))
    )
    # −log of the predicted chance of the observed outcome
    loss = -np.log(np.where(replicated[:, None], chance, 1 - chance))
    saved = over_systems.mean(loss[:, 0] - loss[:, 1], systems, test_sets)
    return {
        "n_validated": n,
        **over_systems.cells("replicated", over_systems.share(replicated, systems, test_sets)),
        "predicted_iid": chance[:, 0].mean(),
        "predicted": chance[:, 1].mean(),
        **over_systems.cells("loss_reduction", saved),
        "verdict": "better" if saved[1] > 0 else "worse" if saved[2] < 0 else "no better",
    }


def left_out(sums: Floats, groups: over_systems.Codes, test_sets: over_systems.Codes) -> Floats:
    """For each row, sum over all rows that share neither a group nor a test set with it.

    Parameters
    ----------
    sums
        Values to sum, shape (rows, k).
    groups, test_sets
        Two numbers per row, not negative.
    """
    cells = [np.unique(np.sort(codes, axis=1), axis=0, return_inverse=True) for codes in (groups, test_sets)]
    (by_groups, row), (by_test_sets, column) = cells
    table: NDArray[Any] = np.zeros((len(by_groups), len(by_test_sets), sums.shape[1]))
    np.add.at(table, (row.ravel(), column.ravel()), sums)
    separate = _without(_without(table, by_groups).swapaxes(0, 1), by_test_sets).swapaxes(0, 1)
    of_rows: Floats = separate[row.ravel(), column.ravel()]
    return of_rows


def _without(table: Floats, members: NDArray[np.intp]) -> Floats:
    """For each entry of the first axis, which has two members, sum over the entries with neither of them."""
    having = np.zeros((members.max() + 1, *table.shape[1:]))
    np.add.at(having, members[:, 0], table)
    has_two = members[:, 0] != members[:, 1]
    np.add.at(having, members[has_two, 1], table[has_two])
    others: Floats = table.sum(axis=0) - having[members[:, 0]]
    others[has_two] += table[has_two] - having[members[has_two, 1]]
    return others
