"""Replication rates: how often the better system on one test set is also better on another, and the expected rate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.exceedances import clopper_pearson
from pairsig.io import columns, console
from pairsig.io.columns import Column, Table, count, points
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from study.analysis import expected, over_systems, row_place
from study.analysis.over_systems import Floats
from study.analysis.pairs import WINDOW, by_test_set, of_one_test, pvalues
from study.analysis.record import Analysis, Comparisons, Figure, Output, Rows, Setting
from study.tables.columns import CALIBRATION, CALIBRATIONS, DISTANCE, ONE_SIDED, PUBLISHED, numeric, with_interval
from study.test_sets import SAME, is_whole, matches

CALIBRATION_TABLE = Table(
    "calibration",
    (
        CALIBRATION,
        DISTANCE,
        numeric("p_low", f"lower end of the range of p on the first test set ({ONE_SIDED})", shown="bound"),
        numeric("p_high", "upper end of the range", shown="bound"),
        count("n_systems", "systems", "systems", "systems"),
        count("n_test_sets", "ordered pairs of test sets", "pairs", "pairs of test sets"),
        count(
            "n_pairs", "pairs of systems with a p-value in the range on the first test set", "pairs", "pairs in range"
        ),
        count(
            "n_replicated",
            "those whose better system is also the better one on the second test set",
            "pairs",
            "replicated",
        ),
        *with_interval("share", "replication rate: share of these pairs that replicate", "share"),
        *with_interval("expected", "rate expected if both test sets came from the same source", "share"),
        *with_interval("difference", "replication rate minus the expected rate", "change of share"),
        numeric(
            "between",
            "standard deviation of the replication rate between pairs of test sets, beyond that of "
            "independent pairs of systems",
            shown="share",
            missing=True,
        ),
    ),
    key=("calibration", "distance", "p_low", "p_high"),
)

DISTANCES = ("near", "middle", "far")
"""Distances of the paper's Table 1: sections 22 and 24 of the treebank, and another corpus."""

CALIBRATED = Table(
    "calibrated",
    (
        CALIBRATION,
        DISTANCE,
        Column("on_dataset", str, "dataset of the first test set"),
        Column("on_test_set", str, "name of the first test set"),
        Column("against_dataset", str, "dataset of the second test set"),
        Column("against_test_set", str, "name of the second test set"),
        Column("system_a", str, "the better system of the pair on the first test set", heading="system A"),
        columns.SYSTEM_B,
        replace(columns.PVALUE, meaning="two-sided p-value on the first test set, if the bootstrap is", missing=True),
        replace(columns.PVALUE_ONE_SIDED, meaning="one-sided p-value on the first test set, as in the paper"),
        columns.GAIN,
        points("gain_against", "score of A minus score of B on the second test set; negative where B is better"),
    ),
    key=(
        "calibration", "on_dataset", "on_test_set", "against_dataset", "against_test_set", "system_a", "system_b"
    ),
)  # fmt: skip


def _rates(distance: str) -> tuple[Column, Column]:
    """Columns on the replication rate at a distance, as observed and as expected."""
    observed = f"replication rate at this distance ({distance}) with its interval and number of pairs"
    expected = "rate expected if both test sets came from the same source, with its interval"
    return Column(distance, str, observed), Column(f"{distance}_expected", str, expected)


TABLE_1 = Table(
    "table_1",
    (
        replace(CALIBRATION, meaning="name of the calibration, or `the paper`"),
        Column("p_range", str, f"range of p on the first test set ({ONE_SIDED})"),
        *chain.from_iterable(map(_rates, DISTANCES)),
    ),
    key=("calibration", "p_range"),
)


P_RANGES = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)
"""Bounds of the ranges of p-values: the six ranges of the paper's Table 1, and further ones on both sides."""


def calibrate(comparisons: pd.DataFrame, sheet: pd.DataFrame) -> pd.DataFrame:
    """Measure the replication rate on a second test set, by range of p-values on the first (Table 1).

    The replication rate is the share of pairs whose better system on the first test set is also the better one on the
    second. Beside it, the table has the rate expected if both test sets came from the same source, in closed form:
    `expected.on_population` if one was drawn from the other, and `expected.on_another` for two finite ones. Both rates
    include the noise of the second test set; their difference is the effect of its domain.

    Parameters
    ----------
    comparisons
        Tables of `all-pairs` and `resize`, concatenated. Of several tests, the bootstrap is used, as in the paper.
    sheet
        Table `CALIBRATIONS`. P-values on the first test set are compared with the winner on the second. Cells contain
        one or more patterns, separated by blanks, where `*` matches anything and `=` repeats the first side. A line
        selects all ordered pairs of different test sets that match, except those of an earlier line of the same
        calibration. Rows with the same `calibration` and `distance` are pooled. Its index counts the lines below the
        header, from 0.

    Raises
    ------
    InputError
        If a side matches no comparisons, or if a row without patterns compares a test set with itself or repeats a pair
        of test sets.

    Returns
    -------
    Table `CALIBRATION_TABLE`, one row per calibration, distance and range [p_low, p_high); the last range includes 1,
    and the window around 0.05 is added. Ties on either test set are left out.

    Notes
    -----
    Intervals (95 %) are over systems, and over test sets where there are several: `over_systems.share_interval` for the
    replication rate, and Student's on the logit scale for the expected rate. The interval of the difference combines
    both as if they were independent (Zou and Donner 2008), which is conservative. The expected rate is nan if two test
    sets of a dataset overlap, unless one is drawn from the other. Overlaps between datasets, such as a pool and its
    members, are not detected. `between` is what `check` takes for the error of a rate from one pair of test sets: with
    nᶜ pairs of systems and rate Pᶜ on each of C pairs of test sets, N = Σ nᶜ, and P the rate of all, its square is Σ
    nᶜ(Pᶜ − P)²/N − P(1 − P)·C/N, or 0 if that is negative. Cost: 22 CPU seconds and 0.55 GB for the 856 ordered pairs
    of test sets in the study.
    """
    rows = []
    for (name, distance), cells in _compared(comparisons, sheet).items():
        replicated, known = _Replications.of(cells)
        counts = {"n_systems": over_systems.n_members(replicated.systems), "n_test_sets": len(cells)}
        for low, high in [*pairwise(P_RANGES), WINDOW]:
            row: dict[str, object] = {"calibration": name, "distance": distance, "p_low": low, "p_high": high}
            rows.append(row | counts | replicated.row(low, high, known))
    return frame(CALIBRATION_TABLE, rows)


def calibrated(comparisons: pd.DataFrame, sheet: pd.DataFrame) -> pd.DataFrame:
    """List the pairs that `calibrate` counts in the ranges of the paper's Table 1; see there for parameters and errors.

    Returns
    -------
    Table `CALIBRATED`, one row per pair of systems and ordered pair of test sets, in the order of the sheet. `system_a`
    is the better one on the first test set; the result replicates where `gain_against` is above 0.
    """
    names = _names(comparisons)
    parts = []
    for (name, distance), cells in _compared(comparisons, sheet).items():
        for on, first_compared, against, second_compared in cells:
            pair, left, right = np.intersect1d(
                first_compared.pair, second_compared.pair, assume_unique=True, return_indices=True
            )
            pvalue, gain, gain_against = (
                first_compared.pvalue[left],
                first_compared.gain[left],
                second_compared.gain[right],
            )
            chosen = (pvalue >= P_RANGES[1]) & (pvalue < P_RANGES[7]) & (gain != 0) & (gain_against != 0)
            first, second = (
                names[first_compared] for first_compared in np.divmod(pair[chosen], first_compared.n_systems)
            )
            ahead, sign = gain[chosen] > 0, np.sign(gain[chosen])
            listed = {
                "system_a": np.where(ahead, first, second), "system_b": np.where(ahead, second, first),
                first_compared.p_column: pvalue[chosen],
                "gain": sign * gain[chosen], "gain_against": sign * gain_against[chosen],
                "calibration": name, "distance": distance, "on_dataset": on[0], "on_test_set": on[1],
                "against_dataset": against[0], "against_test_set": against[1],
            }  # fmt: skip
            parts.append(pd.DataFrame(listed))
    return frame(CALIBRATED, pd.concat(parts, ignore_index=True) if parts else [])


def _names(comparisons: pd.DataFrame) -> NDArray[np.object_]:
    """Sort the names of all systems; the position of a name is its number."""
    return np.sort(pd.unique(comparisons[["system_a", "system_b"]].to_numpy(dtype=object).ravel()))


def _compared(comparisons: pd.DataFrame, sheet: pd.DataFrame) -> dict[tuple[str, str], list[_Cell]]:
    """Find the ordered pairs of test sets of each calibration and distance, with their comparisons."""
    keyed = dict(by_test_set(of_one_test(comparisons)))
    numbers = {name: number for number, name in enumerate(_names(comparisons))}
    compared = cache(lambda key: _Compared.of(keyed[key], numbers))
    return {
        which: [(on, compared(on), against, compared(against)) for on, against in cells]
        for which, cells in _cells(keyed, sheet).items()
    }


Key = tuple[str, ...]
"""Dataset, test set, metric and test."""


def _cells(test_sets: Collection[Key], sheet: pd.DataFrame) -> dict[tuple[str, str], list[tuple[Key, Key]]]:
    """Find the ordered pairs of test sets of each calibration and distance."""
    cells: dict[tuple[str, str], list[tuple[Key, Key]]] = {}
    taken: dict[tuple[str, Key, Key], str] = {}
    for index, row in zip(sheet.index, sheet.itertuples(index=False), strict=True):
        name = str(row.calibration)
        sides, where = [], row_place(sheet, index, CALIBRATIONS.name)
        for dataset, test_set in ((row.on_dataset, row.on_test_set), (row.against_dataset, row.against_test_set)):
            sides.append([key for key in test_sets if matches(key[0], dataset) and matches(key[1], test_set)])
            if not sides[-1]:
                raise InputError(f"{where}: found no comparisons of dataset {dataset} on test set {test_set}")
        # Both sides need different test sets and the same metric.
        test_set_pairs = [(on, against) for on, against in product(*sides) if on != against and on[2] == against[2]]
        for place, cell in ((0, row.against_dataset), (1, row.against_test_set)):
            if cell == SAME:
                test_set_pairs = [(on, against) for on, against in test_set_pairs if on[place] == against[place]]
        new = [(on, against) for on, against in test_set_pairs if taken.setdefault((name, on, against), where) == where]
        # Patterns may match no pairs if only some datasets are run; plain names must match.
        if not new and not any(cell == SAME or set(cell) & set("* ?[") for cell in row[2:]):
            if not test_set_pairs:
                raise InputError(
                    f"{where}: found dataset {row.on_dataset}, test set {row.on_test_set} compared with itself or "
                    "another metric only, expected another test set with the same metric"
                )
            on, against = test_set_pairs[0]
            again = f"{on[0]} {on[1]} and {against[0]} {against[1]} again"
            raise InputError(f"{where}: found {again}, expected them once: they are in {taken[name, on, against]}")
        if new:
            cells.setdefault((name, str(row.distance)), []).extend(new)
    return cells


@dataclass(frozen=True)
class _Compared:
    """Sorted pairs of a test set; `pair` is a · n_systems + b for system numbers a < b, and gains are those of a."""

    pair: NDArray[np.int64]
    gain: Floats
    error: Floats
    pvalue: Floats
    p_column: str
    n_systems: int
    n_segments: int
    derived: str
    number: int

    @classmethod
    def of(cls, rows: pd.DataFrame, numbers: Mapping[str, int]) -> _Compared:
        a, b = (rows[side].map(numbers).to_numpy(np.int64) for side in ("system_a", "system_b"))
        pair = np.minimum(a, b) * len(numbers) + np.maximum(a, b)
        order = np.argsort(pair)
        first = rows.iloc[0]
        return cls(
            pair[order],
            np.where(a < b, rows["gain"], -rows["gain"])[order],
            rows["standard_error"].to_numpy(dtype=float)[order],
            pvalues(rows)[order],
            "pvalue" if rows["pvalue_one_sided"].isna().all() else "pvalue_one_sided",
            len(numbers),
            int(first["n_segments"]),
            str(first["derived"]),
            int(first["number"]),
        )


_Cell = tuple[Key, _Compared, Key, _Compared]
"""A test set with its comparisons, and another one with its comparisons."""


@dataclass(frozen=True)
class _Replications:
    """Pairs of systems on two test sets: one row per pair of systems and ordered pair of test sets.

    Gains are those of the same system on both test sets. `population` marks rows whose first test set was drawn from
    the second.
    """

    pvalue: Floats
    gain_on: Floats
    error_on: Floats
    gain_against: Floats
    error_against: Floats
    population: NDArray[np.bool_]
    systems: over_systems.Codes
    test_sets: over_systems.Codes
    cell: NDArray[np.intp]  # number of the ordered pair of test sets

    @classmethod
    def of(cls, cells: Sequence[_Cell]) -> tuple[_Replications, bool]:
        """Collect all rows, and whether a rate can be expected: only draws may overlap, with their population."""
        parts: list[_Replications] = []
        numbers = {
            key: number for number, key in enumerate(sorted({*chain.from_iterable(cell[::2] for cell in cells)}))
        }
        known = True
        for number, (on, first, against, second) in enumerate(cells):
            pair, left, right = np.intersect1d(first.pair, second.pair, assume_unique=True, return_indices=True)
            population = _is_population(on, first, against, second)
            known &= population is not None
            scale = np.sqrt(second.n_segments / first.n_segments) if population else 1.0
            labels = (numbers[on], -1 if population else numbers[against])
            rows = len(pair)
            parts.append(
                cls(
                    pvalue=first.pvalue[left],
                    gain_on=first.gain[left],
                    error_on=first.error[left],
                    gain_against=second.gain[right],
                    error_against=scale * second.error[right],
                    population=np.full(rows, bool(population)),
                    systems=np.stack(np.divmod(pair, first.n_systems), axis=1).astype(np.intp),
                    test_sets=np.tile(np.array(labels, dtype=np.intp), (rows, 1)),
                    cell=np.full(rows, number),
                )
            )
        test_sets = over_systems.drawn(np.concatenate([part.test_sets for part in parts]))
        return over_systems.joined(parts, test_sets=test_sets), known

    def row(self, low: float, high: float, known: bool) -> dict[str, object]:
        """Compute the row of the table for a range of p-values."""
        inside = (self.pvalue >= low) & (self.gain_on != 0) & (self.gain_against != 0)
        inside &= self.pvalue <= high if (low, high) == WINDOW or high == 1 else self.pvalue < high
        replicated = ((self.gain_on > 0) == (self.gain_against > 0))[inside]
        share = over_systems.share(replicated, self.systems[inside], self.test_sets[inside])
        predicted = self._expected(low, high) if known else (np.nan,) * 3
        return {
            "n_pairs": len(replicated),
            "n_replicated": int(replicated.sum()),
            "between": _between(replicated, self.cell[inside]),
            **expected.beside("share", share, predicted),
        }

    def _expected(self, low: float, high: float) -> tuple[float, float, float]:
        """Expected replication rate with its interval."""
        drawn, apart = self.population, ~self.population
        right, wrong = np.empty((2, len(drawn)))
        right[drawn], wrong[drawn] = expected.on_population(
            self.gain_against[drawn], self.error_against[drawn], low, high
        )
        right[apart], wrong[apart] = expected.on_another(
            self.gain_on[apart], self.error_on[apart], self.gain_against[apart], self.error_against[apart], low, high
        )
        return expected.share(right, wrong, self.systems, self.test_sets)


def _between(replicated: NDArray[np.bool_], cell: NDArray[np.intp]) -> float:
    """Standard deviation between cells of the share of rows that replicate, beyond that of independent rows."""
    _, cell, n = np.unique(cell, return_inverse=True, return_counts=True)
    if len(n) < 2:
        return np.nan
    share, shares = replicated.mean(), np.bincount(cell, replicated) / n
    by_chance = share * (1 - share) * len(n) / len(cell)
    return float(np.sqrt(max((n * (shares - share) ** 2).sum() / len(cell) - by_chance, 0.0)))


def _is_population(on: Key, first: _Compared, against: Key, second: _Compared) -> bool | None:
    """Whether the first test set was drawn from the second; None if they overlap in another way."""
    if on[0] != against[0]:
        return False
    if (first.derived, second.derived) == ("draw", "whole"):
        return True
    if first.derived == second.derived == "half":  # halves 1 and 2 belong to the first split, 3 and 4 to the next
        return False if (first.number - 1) // 2 == (second.number - 1) // 2 else None
    return False if first.derived == second.derived and first.derived in ("domain", "document") else None


PAPER = {"near": 1700, "middle": 1346, "far": 24000}
"""Sentences in the second test sets of the paper's Table 1: sections 22 and 24 of the treebank, and Brown."""

SECTION_23 = 2416
"""Sentences in the first test set of the paper's Table 1."""

PAPER_PAIRS = {WINDOW: 58}
"""Number of pairs in the ranges for which the paper reports it."""


def table_1(calibration: pd.DataFrame, published: pd.DataFrame, population: pd.DataFrame | None = None) -> pd.DataFrame:
    """Arrange calibrations as in the paper's Table 1, each replication rate beside the expected one.

    Parameters
    ----------
    calibration
        Table of `calibrate`.
    published
        The published numbers; those with the address `share:…:DISTANCE:P_LOW-P_HIGH` are used.
    population
        Comparisons on one test set, whose gains are used as true gains. The expected rates for the paper are those of
        these pairs on test sets of the paper's sizes, with `SECTION_23` and `PAPER` sentences.

    Returns
    -------
    Table `TABLE_1`, one row per p-value range and calibration with one of the `DISTANCES`, after the paper's rows. The
    paper's intervals are Clopper and Pearson's for independent pairs, where it reports the number of pairs.
    """
    parts = published["compared_with"].astype(str).str.extract(r"^share:[^:]*:(\w+):([\d.]+)-([\d.]+)$")
    paper = {
        (distance, float(low), float(high)): float(value) / 100
        for (distance, low, high), value in zip(
            parts.dropna().to_numpy(), published["published"][parts[0].notna()], strict=True
        )
    }
    ranges = [
        span for span in [*pairwise(P_RANGES), WINDOW] if any((distance, *span) in paper for distance in DISTANCES)
    ]
    lines = []
    for low, high in ranges:
        row = dict.fromkeys(TABLE_1.names, "") | {"calibration": "the paper", "p_range": f"{low:g} to {high:g}"}
        for distance in DISTANCES:
            share, n = paper.get((distance, low, high)), PAPER_PAIRS.get((low, high))
            if share is None:
                continue
            low_end, high_end = clopper_pearson(round(share * n), n) if n else (np.nan, np.nan)
            row[distance] = _share(share, float(low_end), float(high_end), n)
            if population is not None:
                theta = population["gain"] / population["standard_error"]
                theta *= np.sqrt(SECTION_23 / population["n_segments"])
                right, wrong = expected.on_next(theta, PAPER[distance] / SECTION_23, low, high)
                systems = over_systems.members(population["system_a"], population["system_b"])
                row[f"{distance}_expected"] = _share(*expected.share(right, wrong, systems))
        lines.append(row)
    placed = calibration[calibration["distance"].isin(DISTANCES)]
    for name, rows in placed.groupby("calibration", sort=False):
        for low, high in ranges:
            row = dict.fromkeys(TABLE_1.names, "") | {"calibration": str(name), "p_range": f"{low:g} to {high:g}"}
            for span in rows[(rows["p_low"] == low) & (rows["p_high"] == high)].itertuples():
                if span.n_pairs:
                    row[str(span.distance)] = _share(span.share, span.share_low, span.share_high, span.n_pairs)
                    row[f"{span.distance}_expected"] = _share(span.expected, span.expected_low, span.expected_high)
            lines.append(row)
    return frame(TABLE_1, lines)


def _share(share: float, low: float, high: float, n_pairs: int | None = None) -> str:
    if np.isnan(share):
        return ""
    between = "" if np.isnan(low) else f" ({100 * low:.0f} to {100 * high:.0f})"
    return f"{100 * share:.0f} %{between}" + (f", {n_pairs:,} pairs" if n_pairs else "")


def _with_pairs(
    comparisons: pd.DataFrame, sheet: pd.DataFrame, published: pd.DataFrame | None = None, population: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame]:
    """Measure how often the better system on one test set is also better on another, by p-value."""
    datasets = set(comparisons["dataset"])
    run = sheet[["on_dataset", "against_dataset"]].map(
        lambda patterns: any(matches(dataset, patterns) for dataset in datasets)
    )
    for index in sheet.index[~run.all(axis=1)]:
        dataset = sheet.loc[index, run.columns[~run.loc[index]][0]]
        where = row_place(sheet, index, CALIBRATIONS.name)
        console.warn(f"{where}: found no comparisons of dataset {dataset}, skipped this line")
    sheet = sheet[run.all(axis=1)]
    rates, paper = calibrate(comparisons, sheet), None
    if published is not None:
        of_population = comparisons[(comparisons["dataset"] == population) & is_whole(comparisons)]
        if of_population.empty and population:
            console.warn(f"found no comparisons of dataset {population}, skipped the expected rates for the paper")
        paper = table_1(rates, published, None if of_population.empty else of_population)
    return rates, paper, calibrated(comparisons, sheet)


ANALYSIS = Analysis(
    _with_pairs,
    {
        "comparisons": Comparisons(),
        "sheet": Rows(CALIBRATIONS),
        "published": Rows(PUBLISHED, optional=True),
        "population": Setting(
            "dataset whose gains replace the paper's true gains in table_1", type=str, fixed="icepahc-modern"
        ),
    },
    tables=(
        Output(
            CALIBRATION_TABLE,
            "one row per calibration, distance and range of p-values",
            "Replication rates by p-value, observed and expected",
        ),
        Output(
            TABLE_1,
            "the paper's Table 1 beside ours",
            "The paper's Table 1: replication rates by the p-value on the first test set, beside the rates expected "
            "if both test sets came from the same source. The first rows contain the paper's rates; their expected "
            "rates assume test sets of the paper's sizes and the gains of our parsers",
        ),
        Output(
            CALIBRATED, "one row per pair of systems and ordered pair of test sets", path="results/calibrated.parquet"
        ),
    ),
    figures=(
        Figure(
            "replication",
            "summaries",
            ("calibration",),
            "How often the better system on one test set is also the better one on a second, by p-value on the first.",
            "Black circles: the second test set is the population that the first was drawn from. Orange triangles: it "
            "is in another language, domain or genre. Dashed lines: rate expected if both came from the same source.",
            section="4.2",
        ),
        Figure(
            "table_1",
            "summaries",
            ("calibration", "reproduction"),
            "Replication rate: how often the better system on one test set is also the better one on another, by p on "
            "the first. Dashed lines: rate expected if both test sets came from the same source.",
            "This is the paper's section 4.2 and Table 1. Markers show the observed rates with 95 % intervals over "
            "systems and test sets. The expected rates already include the noise of the second test set. A marker "
            "below its line therefore shows the effect of another domain. *iid*: test sets drawn from a population, "
            "compared with that population. *halves*: two halves of a test set. *near*, *middle*, *far*: all ordered "
            "pairs of test sets of a family; docs/sheets/comparisons.md defines them.",
            section="4.2",
        ),
    ),
    minutes=10,
)
