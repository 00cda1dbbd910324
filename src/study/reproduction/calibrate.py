"""Replication rates: how often the better system on one test set is also better on another, and the expected rate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.exceedances import clopper_pearson
from pairsig.io import console
from pairsig.io.columns import Column, Table, count
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from study.analysis import expected, over_systems
from study.analysis.pairs import PAPER_WINDOW, Window, by_test_set, pvalues
from study.inputs import row_place
from study.tables.columns import (
    CALIBRATION,
    CALIBRATIONS,
    DISTANCE,
    ONE_SIDED,
    addressed,
    numeric,
    optional_count,
    with_interval,
)
from study.test_sets import SAME, is_whole, matches

CALIBRATION_TABLE = Table(
    "calibration",
    (
        CALIBRATION,
        DISTANCE,
        numeric("p_low", f"lower end of the range of p on the first test set ({ONE_SIDED})", shown="bound"),
        numeric("p_high", "upper end of the range", shown="bound"),
        count("n_systems", "systems"),
        count("n_test_sets", "ordered pairs of test sets", "pairs", "pairs of test sets"),
        count("n_pairs", "pairs of systems with a p-value in the range on the first test set", "pairs",
            "pairs in range"),
        count("n_replicated", "those whose better system is also the better one on the second test set", "pairs",
            "replicated"),
        *with_interval("share", "replication rate: share of these pairs that replicate", "share"),
        *with_interval("expected", "rate expected if both test sets came from the same source", "share"),
        *with_interval("difference", "replication rate minus the expected rate", "change of share"),
        numeric("between", "standard deviation of the replication rate between pairs of test sets, beyond that of "
            "independent pairs of systems", shown="share", missing=True),
    ),
    key=("calibration", "distance", "p_low", "p_high"),
    caption="Replication rates by p-value, observed and expected",
)  # fmt: skip

DISTANCES = ("near", "middle", "far")
"""Distances of the paper's Table 1: sections 22 and 24 of the treebank, and another corpus."""


def _rates(distance: str) -> list[Column]:
    """Columns on the replication rate at a distance, as observed and as expected."""
    observed = f"replication rate at this distance ({distance})"
    expected = "rate expected if both test sets came from the same source"
    return [
        *with_interval(distance, observed, "share"),
        optional_count(f"{distance}_pairs", "pairs of systems behind it", "pairs", "pairs"),
        *with_interval(f"{distance}_expected", expected, "share"),
    ]


TABLE_1 = Table(
    "table_1",
    (
        replace(CALIBRATION, meaning="name of the calibration, or `the paper`"),
        numeric("p_low", f"lower end of the range of p on the first test set ({ONE_SIDED})", shown="bound"),
        numeric("p_high", "upper end of the range", shown="bound"),
        *chain.from_iterable(map(_rates, DISTANCES)),
    ),
    key=("calibration", "p_low", "p_high"),
    caption=(
        "The paper's Table 1 beside the rates expected if both test sets came from the same source. Expected "
        "rates in the paper's rows assume its sizes of test sets and the gains of our parsers"
    ),
)  # fmt: skip


P_RANGES = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)
"""Bounds of the ranges of p-values: the six ranges of the paper's Table 1, and further ones on both sides."""


def calibrate(comparisons: pd.DataFrame, sheet: pd.DataFrame, window: Window = PAPER_WINDOW) -> pd.DataFrame:
    """Measure the replication rate on a second test set, by range of p-values on the first (Table 1).

    The replication rate is the share of pairs whose better system on the first test set is also the better one on the
    second. Beside it, the table has the rate expected if both test sets came from the same source, in closed form:
    `expected.on_population` if one was drawn from the other, and `expected.on_another` for two finite ones. Both rates
    include the noise of the second test set; their difference is the effect of its domain.

    Parameters
    ----------
    comparisons
        Comparisons of all pairs, on whole test sets and on those made from them.
    sheet
        Table `CALIBRATIONS`. P-values on the first test set are compared with the winner on the second. Cells contain
        one or more patterns, separated by blanks, where `*` matches anything and `=` repeats the first side. A line
        selects all ordered pairs of different test sets that match, except those of an earlier line of the same
        calibration. Rows with the same `calibration` and `distance` are pooled. Its index counts the lines below the
        header, from 0.
    window
        A range of p-values near 0.05, beside the paper's.

    Raises
    ------
    InputError
        If a side matches no comparisons, or if a row without patterns compares a test set with itself or repeats a pair
        of test sets.

    Returns
    -------
    Table `CALIBRATION_TABLE`, one row per calibration, distance and range [p_low, p_high); the last range includes 1,
    and the windows around 0.05 include both ends. Ties on either test set are left out.

    Notes
    -----
    Intervals (95 %) are over systems, and over test sets where there are several: `over_systems.share` for the
    replication rate, and Student's on the logit scale for the expected rate. The interval of the difference combines
    both as if they were independent (Zou and Donner 2008), which is conservative. The expected rate is nan if two test
    sets of a dataset overlap, unless one is drawn from the other. Overlaps between datasets, such as a pool and its
    members, are not detected. `between` is what `check` takes for the error of a rate from one pair of test sets: with
    nᶜ pairs of systems and rate Pᶜ on each of C pairs of test sets, N = Σ nᶜ, and P the rate of all, its square is Σ
    nᶜ(Pᶜ − P)²/N − P(1 − P)·C/N, or 0 if that is negative. Cost: 22 CPU seconds and 0.55 GB for the 856 ordered pairs
    of test sets in the study.
    """
    rates = []
    for (name, distance), replications in _replications(comparisons, sheet).items():
        key = {"calibration": name, "distance": distance}
        for low, high in dict.fromkeys([*pairwise(P_RANGES), PAPER_WINDOW, window]):
            rates.append({**key, "p_low": low, "p_high": high, **replications.row(low, high)})
    return frame(CALIBRATION_TABLE, rates)


def _replications(comparisons: pd.DataFrame, sheet: pd.DataFrame) -> dict[tuple[str, str], _Replications]:
    """Find the pairs of systems on two test sets for each calibration and distance."""
    keyed = dict(by_test_set(comparisons))
    names = np.sort(pd.unique(comparisons[["system_a", "system_b"]].to_numpy(dtype=object).ravel()))
    numbers = {name: number for number, name in enumerate(names)}
    by_pair = cache(lambda key: _by_pair(keyed[key], numbers))
    replications = {}
    for which, cells in _cells(keyed, sheet).items():
        keys, parts = sorted({*chain.from_iterable(cells)}), []
        for number, (on, against) in enumerate(cells):
            both = by_pair(on).join(by_pair(against)[["gain", "error"]].add_suffix("_against"), how="inner")
            of_on, of_against = keyed[on].iloc[0], keyed[against].iloc[0]
            drawn = _is_population(of_on, of_against)
            if drawn:
                both["error_against"] *= np.sqrt(of_against["n_segments"] / of_on["n_segments"])
            both = both.assign(cell=number, on=keys.index(on), against=keys.index(against))
            parts.append(both.assign(population=bool(drawn), overlaps=drawn is None))
        replications[which] = _Replications(pd.concat(parts), len(cells), len(names))
    return replications


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


def _by_pair(rows: pd.DataFrame, numbers: Mapping[str, int]) -> pd.DataFrame:
    """Comparisons on a test set by the number of the pair, a · n_systems + b for system numbers a < b; gains of a."""
    a, b = (rows[side].map(numbers).to_numpy(np.int64) for side in ("system_a", "system_b"))
    gain, error = np.where(a < b, rows["gain"], -rows["gain"]), rows["standard_error"].to_numpy(float)
    columns = {"gain": gain, "error": error, "p": pvalues(rows)}
    return pd.DataFrame(columns, index=np.minimum(a, b) * len(numbers) + np.maximum(a, b)).sort_index()


class _Replications:
    """Pairs of systems on two test sets: one row per pair of systems and ordered pair of test sets.

    Gains are those of the same system on both test sets. `population` marks rows whose first test set was drawn from
    the second, and `overlaps` those whose test sets overlap otherwise, for which no rate can be expected.
    """

    def __init__(self, rows: pd.DataFrame, n_cells: int, n_names: int) -> None:
        self.rows, self.n_cells = rows, n_cells
        self.systems = np.stack(np.divmod(rows.index, n_names), axis=1).astype(np.intp)
        against = rows["against"].mask(rows["population"], -1)
        self.test_sets = over_systems.drawn(np.stack([rows["on"], against], axis=1).astype(np.intp))
        self.decided = (rows["gain"] != 0) & (rows["gain_against"] != 0)

    def row(self, low: float, high: float) -> dict[str, object]:
        """Compute the row of the table for a range of p-values."""
        rows, closed = self.rows, high == 1 or (low, high) not in pairwise(P_RANGES)
        # Pairs with a p-value in the range, which have a better system on both test sets.
        inside = np.asarray(self.decided & rows["p"].between(low, high, inclusive="both" if closed else "left"))
        replicated = ((rows["gain"] > 0) == (rows["gain_against"] > 0)).to_numpy()[inside]
        share = over_systems.share(replicated, self.systems[inside], self.test_sets[inside])
        predicted = (np.nan,) * 3 if rows["overlaps"].any() else self._expected(low, high)
        return {
            "n_systems": over_systems.n_members(self.systems),
            "n_test_sets": self.n_cells,
            "n_pairs": len(replicated),
            "n_replicated": int(replicated.sum()),
            "between": _between(replicated, rows["cell"].to_numpy()[inside]),
            **expected.beside("share", share, predicted),
        }

    def _expected(self, low: float, high: float) -> tuple[float, float, float]:
        """Expected replication rate with its interval."""
        drawn = self.rows["population"].to_numpy()
        gain, error, gain_against, error_against = (
            self.rows[name].to_numpy() for name in ("gain", "error", "gain_against", "error_against")
        )
        right, wrong = np.empty((2, len(drawn)))
        right[drawn], wrong[drawn] = expected.on_population(gain_against[drawn], error_against[drawn], low, high)
        right[~drawn], wrong[~drawn] = expected.on_another(
            gain[~drawn], error[~drawn], gain_against[~drawn], error_against[~drawn], low, high
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


def _is_population(on: pd.Series, against: pd.Series) -> bool | None:
    """Whether the first test set was drawn from the second, by a row of each; None if they overlap in another way."""
    derived = on["derived"], against["derived"]
    if on["dataset"] != against["dataset"]:
        return False
    if derived == ("draw", "whole"):
        return True
    if derived == ("half", "half"):  # halves 1 and 2 belong to the first split, 3 and 4 to the next
        return False if (on["number"] - 1) // 2 == (against["number"] - 1) // 2 else None
    return False if derived in (("domain", "domain"), ("document", "document")) else None


PAPER = {"near": 1700, "middle": 1346, "far": 24000}
"""Sentences in the second test sets of the paper's Table 1: sections 22 and 24 of the treebank, and Brown."""

SECTION_23 = 2416
"""Sentences in the first test set of the paper's Table 1."""

PAPER_PAIRS: dict[tuple[float, ...], int] = {PAPER_WINDOW: 58}
"""Number of pairs in the ranges for which the paper reports it."""

POPULATION = "icepahc-modern"
"""Dataset whose gains replace the paper's true gains in table 1."""


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
    shares = addressed(published, "share", "calibration", "distance", "p_range")
    paper = {
        (row.distance, *map(float, row.p_range.split("-"))): float(row.published) / 100 for row in shares.itertuples()
    }
    spans = [*pairwise(P_RANGES), tuple(PAPER_WINDOW)]
    ranges = [span for span in spans if any((distance, *span) in paper for distance in DISTANCES)]
    lines = []
    for low, high in ranges:
        row: dict[str, object] = {"calibration": "the paper", "p_low": low, "p_high": high}
        for distance in DISTANCES:
            share, n = paper.get((distance, low, high)), PAPER_PAIRS.get((low, high))
            if share is None:
                continue
            ends = clopper_pearson(round(share * n), n) if n else (np.nan, np.nan)
            row |= over_systems.cells(distance, (share, *ends)) | {f"{distance}_pairs": n or np.nan}
            if population is not None:
                theta = population["gain"] / population["standard_error"]
                theta *= np.sqrt(SECTION_23 / population["n_segments"])
                right, wrong = expected.on_next(theta, PAPER[distance] / SECTION_23, low, high)
                systems = over_systems.members(population["system_a"], population["system_b"])
                row |= over_systems.cells(f"{distance}_expected", expected.share(right, wrong, systems))
        lines.append(row)
    placed = calibration[calibration["distance"].isin(DISTANCES) & (calibration["n_pairs"] > 0)]
    for name in calibration.loc[calibration["distance"].isin(DISTANCES), "calibration"].unique():
        for low, high in ranges:
            row = {"calibration": str(name), "p_low": low, "p_high": high}
            of_range = placed[(placed["calibration"] == name) & (placed["p_low"] == low) & (placed["p_high"] == high)]
            for cells in of_range.to_dict("records"):
                distance = str(cells["distance"])
                row |= over_systems.cells(distance, [cells[f"share{end}"] for end in ("", "_low", "_high")])
                row |= over_systems.cells(
                    f"{distance}_expected", [cells[f"expected{end}"] for end in ("", "_low", "_high")]
                )
                row[f"{distance}_pairs"] = cells["n_pairs"]
            lines.append(row)
    return frame(TABLE_1, lines)


def calibrate_and_arrange(
    comparisons: pd.DataFrame, sheet: pd.DataFrame, published: pd.DataFrame, window: Window = PAPER_WINDOW
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute `calibrate` for the rows of a sheet whose datasets were compared, and arrange `table_1`.

    Returns
    -------
    Tables `CALIBRATION_TABLE` and `TABLE_1`.
    """
    datasets = set(comparisons["dataset"])
    run = sheet[["on_dataset", "against_dataset"]].map(
        lambda patterns: any(matches(dataset, patterns) for dataset in datasets)
    )
    for index in sheet.index[~run.all(axis=1)]:
        dataset = sheet.loc[index, run.columns[~run.loc[index]][0]]
        where = row_place(sheet, index, CALIBRATIONS.name)
        console.warn(f"{where}: found no comparisons of dataset {dataset}, skipped this line")
    rates = calibrate(comparisons, sheet[run.all(axis=1)], window)
    population = comparisons[(comparisons["dataset"] == POPULATION) & is_whole(comparisons)]
    if population.empty:
        console.warn(f"found no comparisons of dataset {POPULATION}, skipped the expected rates for the paper")
    return rates, table_1(rates, published, None if population.empty else population)
