"""How much gains differ between the test sets of a family, and whether that says who wins on one that was not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.columns import BORROWED
from pairsig.contributions import likeness
from pairsig.errors import InputError
from pairsig.heterogeneity import FLOOR
from pairsig.metrics import Metric
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.analysis import over_systems
from study.columns import HETEROGENEITY, NEXT_TEST_SETS
from study.test_sets import matches

LEAST = 100
"""Segments that a domain or a document must have to be a test set: with fewer, gains are not normal enough."""

CHANCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
"""Bounds of the ranges of predicted chances."""

SURE = 1e-6
"""Nobody is surer of an outcome than by so much: p-values of a million resamples tell no less."""

VARIED = 2.0
"""Variance of κ² between test sets, over the square of its mean, that the upper end of an interval allows for."""

SEED = 2012
"""Of the halves."""

Floats = NDArray[np.float64]


def heterogeneity(
    data: Iterable[tuple[Statistics, Metric]], sheet: pd.DataFrame, *, source: str = "families"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Heterogeneity of gains between test sets of families, and how well it predicts what it has not seen.

    The law: the true gain of a pair of systems on test set t is δ + uₜ with the variance τ² = κ²σₜ², where σₜ is the
    standard deviation of what a segment contributes to the gain (its standard error times √n): the unliker two systems
    are, the more does another domain change. Of a pair's gains d and standard errors s on two test sets,

        κ² = mean of ((d₁ − d₂)² − s₁² − s₂²) / (σ₁² + σ₂²)

    over pairs of systems and of test sets of the family. It has the expectation κ² whatever the distributions of u and
    of the gains are. A test set of n segments says as much of the true gain on another as n' segments of that one do,
    1/n' = 1/n + 2κ², so that one of any size is worth at most 1/(2κ²).

    Whether heterogeneity grows with the gain besides is told by β² in τ² = κ²σₜ² + β²δ², fitted by least squares with
    d₁d₂ for δ².

    Validation: with κ² from all rows but those with either test set *or* with any system of either group, the chance
    that the better system on the first test set is the better one on the second one of n₂ segments is
    Φ(|d₁| / √(σ₁² (1/n₁ + 1/n₂ + 2κ²))); i.i.d. it is that of κ² = 0. Both directions count. No chance is nearer to 1
    than `SURE`.

    Parameters
    ----------
    data
        Statistics with their metrics; read one after the other.
    sheet
        Table `FAMILIES`. Cells of `dataset` and `test_set` hold patterns: `whole`, `domain:…`, `document:…` (at least
        `LEAST` segments; a document that two datasets have counts once), `half:1` and `half:2`. The test sets of a line
        are compared with each other, or within each dataset; not two of the same domain. Lines of a family add up.
    source
        What messages call the sheet.

    Returns
    -------
    Table `HETEROGENEITY`, one row a family and metric, and table `NEXT_TEST_SETS`, one a range of predicted chances.
    Intervals (95 %) are over systems and test sets (`over_systems.variance`; of κ² `mean_excess`); those of families
    with two test sets are over systems alone, but for the upper end of κ². Cost: 25 CPU seconds and 0.9 GB for the
    study's families.
    """
    test_sets = [one for statistics, metric in data for one in _test_sets(statistics, metric, sheet)]
    found, curves = [], []
    for (family, metric), cells in _cells(test_sets, sheet, source).items():
        rows = _Rows.of(cells)
        key = {"family": family, "metric": metric}
        about = sheet["about"][sheet["family"] == family].iloc[0]
        predicted = _Predicted.of(rows)
        found.append(key | {"about": about} | _law(rows) | predicted.summary())
        curves += [key | row for row in predicted.curve()]
    return frame(HETEROGENEITY, found), frame(NEXT_TEST_SETS, curves)


def borrowed(found: pd.DataFrame) -> pd.DataFrame:
    """What the library knows families by, with four digits: those whose κ² is above 0 and predicts no worse than i.i.d.

    It is the file src/pairsig/borrowed.tsv.
    """
    kept = found[(found["kappa_squared_low"] > 0) & found["verdict"].isin(["better", "no better"])]
    rounded = kept[list(BORROWED.names)].copy()
    for column in BORROWED.columns:
        if column.type is float:
            rounded[column.name] = [float(f"{value:.4g}") for value in rounded[column.name]]
    return frame(BORROWED, rounded.reset_index(drop=True))


@dataclass(frozen=True)
class _TestSet:
    """Gains of all pairs of systems, in the order of their names, on a test set, with their standard errors."""

    dataset: str
    label: str
    metric: str
    n_segments: int
    systems: tuple[str, ...]
    groups: tuple[str, ...]
    gain: Floats
    error: Floats


def _test_sets(statistics: Statistics, metric: Metric, sheet: pd.DataFrame) -> Iterator[_TestSet]:
    wanted = [row for row in sheet.itertuples(index=False) if matches(statistics.dataset, row.dataset)]
    order = np.argsort(statistics.systems, kind="stable")
    systems, groups = (tuple(np.array(names)[order].tolist()) for names in (statistics.systems, statistics.groups))
    pairs = np.stack(np.triu_indices(len(systems), k=1), axis=1)
    counts = statistics.of(metric)
    for label, segments in _parts(statistics):
        if not any(matches(label, row.test_set) for row in wanted):
            continue
        own = counts[order][:, segments]
        scores = metric.score(own.sum(axis=1)) * (1 if metric.higher_is_better else -1)
        error, _ = likeness(own, metric, pairs)
        gain = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        yield _TestSet(statistics.dataset, label, metric.name, len(segments), systems, groups, gain, error)


def _parts(statistics: Statistics) -> Iterator[tuple[str, NDArray[np.intp]]]:
    n = len(statistics.segments)
    yield "whole", np.arange(n)
    for kind, labels in (("domain", statistics.domains), ("document", statistics.documents)):
        for label in dict.fromkeys(labels.tolist()):
            members = np.flatnonzero(labels == label)
            if label not in ("", "-") and LEAST <= len(members) < n:
                yield f"{kind}:{label}", members
    order = np.argsort(np.random.PCG64(SEED).random_raw(n), kind="stable")
    for number, members in enumerate((order[: n // 2], order[n // 2 :]), start=1):
        yield f"half:{number}", np.sort(members)


def _cells(
    test_sets: Sequence[_TestSet], sheet: pd.DataFrame, source: str
) -> dict[tuple[str, str], list[tuple[_TestSet, _TestSet]]]:
    """The pairs of test sets of each family and metric."""
    found: dict[tuple[str, str], list[tuple[_TestSet, _TestSet]]] = {}
    taken: dict[tuple[str, str, str, str, str], int] = {}
    for index, row in zip(sheet.index, sheet.itertuples(index=False), strict=True):
        own: dict[tuple[str, ...], _TestSet] = {}
        for one in test_sets:
            if matches(one.dataset, row.dataset) and matches(one.label, row.test_set):
                # A document is the same one in whatever dataset it is.
                own.setdefault((one.label,) if one.label.startswith("document:") else (one.dataset, one.label), one)
        for one, other in combinations(own.values(), 2):
            within = row.compared == "within datasets"
            if one.metric != other.metric or (within and one.dataset != other.dataset):
                continue
            if one.label == other.label != "whole":  # of the same domain: no other sort of text
                continue
            key = (str(row.family), one.dataset, one.label, other.dataset, other.label)
            if key in taken:
                raise InputError(
                    f"{source}, line {index + 2}: {one.dataset} {one.label} and {other.dataset} {other.label} are "
                    f"compared again, expected once: line {taken[key]} does"
                )
            taken[key] = index + 2
            found.setdefault((str(row.family), one.metric), []).append((one, other))
    return found


@dataclass(frozen=True)
class _Rows:
    """Pairs of systems on two test sets, a row each; what is of both test sets has two columns."""

    gain: Floats
    variance: Floats
    n_segments: Floats
    systems: over_systems.Codes
    groups: over_systems.Codes
    test_sets: over_systems.Codes

    @classmethod
    def of(cls, cells: Sequence[tuple[_TestSet, _TestSet]]) -> _Rows:
        numbers = [
            {
                name: number
                for number, name in enumerate(sorted({name for cell in cells for one in cell for name in names(one)}))
            }
            for names in (lambda one: one.systems, lambda one: one.groups, lambda one: [f"{one.dataset} {one.label}"])
        ]
        parts = [cls._of(one, other, *numbers) for one, other in cells]
        return cls(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)})

    @classmethod
    def _of(
        cls,
        one: _TestSet,
        other: _TestSet,
        systems: dict[str, int],
        groups: dict[str, int],
        test_sets: dict[str, int],
    ) -> _Rows:
        places = [{name: place for place, name in enumerate(side.systems)} for side in (one, other)]
        both = [name for name in one.systems if name in places[1]]
        a, b = np.triu_indices(len(both), k=1)
        gain, error = np.empty((2, len(a), 2))
        for column, (side, own) in enumerate(zip((one, other), places, strict=True)):
            at = np.array([own[name] for name in both], dtype=np.intp)
            n = len(side.systems)
            pair = at[a] * n - at[a] * (at[a] + 1) // 2 + at[b] - at[a] - 1
            gain[:, column], error[:, column] = side.gain[pair], side.error[pair]
        group = [one.groups[places[0][name]] for name in both]
        kept = (error > 0).all(axis=1)
        codes = [
            np.array([known[name] for name in names], dtype=np.intp)
            for names, known in ((both, systems), (group, groups))
        ]
        labels = [test_sets[f"{side.dataset} {side.label}"] for side in (one, other)]
        rows = int(kept.sum())
        return cls(
            gain=gain[kept],
            variance=error[kept] ** 2,
            n_segments=np.tile(np.array([one.n_segments, other.n_segments], dtype=float), (rows, 1)),
            systems=np.stack([codes[0][a], codes[0][b]], axis=1)[kept],
            groups=np.stack([codes[1][a], codes[1][b]], axis=1)[kept],
            test_sets=np.tile(np.array(labels, dtype=np.intp), (rows, 1)),
        )

    @property
    def spread(self) -> Floats:
        """σ² on both test sets: the variance of a segment's contribution to the gain."""
        return self.variance * self.n_segments

    @property
    def excess(self) -> Floats:
        """Of each row what has the expectation κ²."""
        between = (self.gain[:, 0] - self.gain[:, 1]) ** 2
        found: Floats = (between - self.variance.sum(axis=1)) / self.spread.sum(axis=1)
        return found


def mean_excess(
    excess: Floats, systems: over_systems.Codes, test_sets: over_systems.Codes
) -> tuple[float, float, float]:
    """κ² of the mean test set, with its interval: a mean over rows that share systems and test sets.

    The mean is unbiased, however much test sets differ in how heterogeneous they are. But where a few have much of all
    heterogeneity and are not among those that were measured, the estimate is too small, and its variance is, too. So
    for the upper end `VARIED` κ⁴ Σ wₜ² is added to the variance, with wₜ the share of test set t. The lower end is
    Student's on the plain scale, the upper one on that of the logarithm, but at most twice as far as on the plain one
    (near 0 the logarithm knows no end).

    How often an interval at level 95 % held the truth, in % of 300 simulated families (± 2.5); test sets of 500
    segments, κ = 0.1 but in the first column. On each test set u is multiplied by its strength, which is lognormal with
    the standard deviation s of the logarithm: with s = 0.6 a test set's κ² has a variance of 3.2 times the squared
    mean. `VARIED` was chosen on other families, other κ and s up to 0.6. (tests/test_families.py prints this table.)

    ============================  =====  =====  =======  =======  =====  ================  ===============
    systems and test sets         κ = 0  s = 0  s = 0.3  s = 0.6  s = 1  0.6, heavy tails  0.6, u by score
    ============================  =====  =====  =======  =======  =====  ================  ===============
    12 on 2                       85     98     97       82       61     86                79
    8 on 4                        93     99     99       91       63     90                84
    40 on 4                       94     99     99       96       73     94                94
    20 on 6                       95     99     100      99       79     95                95
    15 on 12                      96     99     99       99       83     96                94
    20 of 4 base models on 5      89     98     100      96       72     92                94
    8 each on 2, eight times      94     100    100      96       79     96                91
    12 each on 3, six times       92     99     99       96       81     96                94
    40, and 12 four times, on 2   97     100    99       98       87     99                99
    … of 4 base models            90     99     98       98       85     98                97
    ============================  =====  =====  =======  =======  =====  ================  ===============

    Heavy tails are Student's with 4 degrees of freedom; u by score is larger for systems that are far from the mean, so
    that pairs with large gains are more heterogeneous. Systems of one base model share 60 % of the variance of u and of
    the noise. The truth is missed above: by up to a third of intervals where a few test sets have most of all
    heterogeneity (s = 1), which no sample of a few can tell.
    """
    middle = float(excess.mean())
    residuals = (excess - middle) / len(excess)
    variance, degrees = over_systems.variance(residuals, systems, over_systems.drawn(test_sets))
    low, high = over_systems.interval(middle, variance, degrees)
    if middle > 0:
        share = np.bincount(test_sets.ravel()) / test_sets.size
        variance += VARIED * middle**2 * float(np.square(share).sum())
        plain, log = (over_systems.interval(middle, variance, degrees, scale=scale)[1] for scale in ("plain", "log"))
        high = min(log, 2 * plain - middle)
    return middle, low, high


def _law(rows: _Rows) -> dict[str, object]:
    """What the table says of κ² and β²."""
    excess, n = rows.excess, len(rows.gain)
    drawn = over_systems.drawn(rows.test_sets)
    kappa, low, high = mean_excess(excess, rows.systems, rows.test_sets)
    by_gain = 2 * rows.gain.prod(axis=1) / rows.spread.sum(axis=1)
    design = np.stack([np.ones(n), by_gain], axis=1)
    products = design.T @ design
    beta = float(np.linalg.solve(products, design.T @ excess)[1])
    residuals = excess - design @ np.linalg.solve(products, design.T @ excess)
    own = design @ np.linalg.inv(products)[1]  # what is left of the slope's column without the mean's
    of_beta = over_systems.variance(own * residuals, rows.systems, drawn, weights=own**2)
    beta_low, beta_high = over_systems.interval(beta, *of_beta)
    # The median pair's, on the median test set.
    spread = float(np.sqrt(np.median(rows.spread)))
    floor, floor_low, floor_high = (FLOOR * spread * float(np.sqrt(max(end, 0.0))) for end in (kappa, low, high))
    return {
        "n_test_sets": len(np.unique(rows.test_sets)),
        "n_systems": len(np.unique(rows.systems)),
        "n_pairs": n,
        "kappa_squared": kappa,
        "kappa_squared_low": low,
        "kappa_squared_high": high,
        "worth": _worth(kappa),
        "worth_low": _worth(high),
        "worth_high": _worth(low),
        "beta_squared": beta,
        "beta_squared_low": beta_low,
        "beta_squared_high": beta_high,
        "floor": floor,
        "floor_low": floor_low,
        "floor_high": floor_high,
    }


def _worth(kappa_squared: float) -> float:
    return 1 / (2 * kappa_squared) if kappa_squared > 0 else np.nan


@dataclass(frozen=True)
class _Predicted:
    """Chances of the better system on one test set to be the better one on another, and what came; a row a direction.

    `chance` and `covered` have three columns: i.i.d., with the heterogeneity of other test sets and systems, and with
    one τ in points for all pairs, the mean of those others.
    """

    chance: Floats
    held: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    systems: over_systems.Codes
    test_sets: over_systems.Codes

    @classmethod
    def of(cls, rows: _Rows) -> _Predicted:
        from scipy.special import ndtr

        sums = np.stack([np.ones(len(rows.gain)), rows.excess, rows.excess * rows.spread.sum(axis=1) / 2], axis=1)
        number, *totals = left_out(sums, rows.groups, rows.test_sets).T
        known = number > 0
        kappa, tau = (np.maximum(np.divide(one, number, where=known, out=np.zeros(len(one))), 0.0) for one in totals)
        parts = []
        for on, against in ((0, 1), (1, 0)):
            used = known & (rows.gain != 0).all(axis=1)
            d, other = rows.gain[used, on], rows.gain[used, against]
            per_segment = 1 / rows.n_segments[used].T
            per_pair = rows.spread[used, on]
            excess = np.stack([np.zeros(len(d)), per_pair * kappa[used], tau[used]], axis=1)
            spread = np.sqrt((per_pair * per_segment.sum(axis=0))[:, None] + 2 * excess)
            parts.append(
                cls(
                    chance=np.minimum(ndtr(np.abs(d)[:, None] / spread), 1 - SURE),
                    held=(d > 0) == (other > 0),
                    covered=np.abs(d - other)[:, None] < 1.959963984540054 * spread,
                    systems=rows.systems[used],
                    test_sets=over_systems.drawn(rows.test_sets[used]) if used.any() else rows.test_sets[used],
                )
            )
        return cls(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)})

    @property
    def loss(self) -> Floats:
        """−log of the chance that was given to what came, by either."""
        return -np.log(np.where(self.held[:, None], self.chance, 1 - self.chance))

    def summary(self) -> dict[str, object]:
        """What the table says of a family."""
        n = len(self.held)
        if not n:
            return {"n_validated": 0, "verdict": "not validated"}
        loss = self.loss.mean(axis=0)
        promised = -(self.chance * np.log(self.chance) + (1 - self.chance) * np.log1p(-self.chance)).mean(axis=0)
        saved = self._mean("saved", self.loss[:, 0] - self.loss[:, 1])
        low, high = saved["saved_low"], saved["saved_high"]
        held_low, held_high = over_systems.share_interval(self.held, self.systems, self.test_sets)
        covered_low, covered_high = over_systems.share_interval(self.covered[:, 1], self.systems, self.test_sets)
        return {
            "n_validated": n,
            "held": self.held.mean(),
            "held_low": held_low,
            "held_high": held_high,
            "predicted_iid": self.chance[:, 0].mean(),
            "predicted": self.chance[:, 1].mean(),
            "loss_iid": loss[0],
            "promised_iid": promised[0],
            "loss": loss[1],
            "promised": promised[1],
            **saved,
            "loss_constant": loss[2],
            **self._mean("saved_by_scale", self.loss[:, 2] - self.loss[:, 1]),
            "coverage_iid": self.covered[:, 0].mean(),
            "coverage": self.covered[:, 1].mean(),
            "coverage_low": covered_low,
            "coverage_high": covered_high,
            "verdict": "better" if low > 0 else "worse" if high < 0 else "no better",
        }

    def _mean(self, name: str, values: Floats) -> dict[str, float]:
        """A mean and its interval."""
        middle = float(values.mean())
        residuals = (values - middle) / len(values)
        low, high = over_systems.interval(middle, *over_systems.variance(residuals, self.systems, self.test_sets))
        return {name: middle, f"{name}_low": low, f"{name}_high": high}

    def curve(self) -> Iterator[dict[str, object]]:
        """Predicted chances in ranges, and how many held."""
        for column, by in enumerate(("i.i.d.", "next")):
            chance = self.chance[:, column]
            for low, high in pairwise(CHANCES):
                inside = (chance >= low) & (chance < high)
                if not inside.any():
                    continue
                held = self.held[inside]
                ends = over_systems.share_interval(held, self.systems[inside], self.test_sets[inside])
                yield {
                    "by": by,
                    "chance_low": low,
                    "chance_high": high,
                    "n_pairs": len(held),
                    "predicted": chance[inside].mean(),
                    "held": held.mean(),
                    "held_low": ends[0],
                    "held_high": ends[1],
                }


def left_out(sums: Floats, groups: over_systems.Codes, test_sets: over_systems.Codes) -> Floats:
    """Of each row the sums over all rows that share neither a group nor a test set with it.

    Parameters
    ----------
    sums
        What is added up, (rows × k).
    groups, test_sets
        Of each row two, not negative.
    """
    cells = [np.unique(np.sort(codes, axis=1), axis=0, return_inverse=True) for codes in (groups, test_sets)]
    (by_groups, row), (by_test_sets, column) = cells
    table: NDArray[Any] = np.zeros((len(by_groups), len(by_test_sets), sums.shape[1]))
    np.add.at(table, (row.ravel(), column.ravel()), sums)
    apart = _without(_without(table, by_groups).swapaxes(0, 1), by_test_sets).swapaxes(0, 1)
    found: Floats = apart[row.ravel(), column.ravel()]
    return found


def _without(table: Floats, members: NDArray[np.intp]) -> Floats:
    """For every entry of the first axis, which has two members, the sum over those that have neither."""
    having = np.zeros((members.max() + 1, *table.shape[1:]))
    np.add.at(having, members[:, 0], table)
    two = members[:, 0] != members[:, 1]
    np.add.at(having, members[two, 1], table[two])
    found: Floats = table.sum(axis=0) - having[members[:, 0]]
    found[two] += table[two] - having[members[two, 1]]
    return found
