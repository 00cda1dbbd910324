"""How often the better system on one test set is the better one on another, and how often it should be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.errors import InputError
from pairsig.tables import frame
from pairsig.tally import clopper_pearson
from study.analysis import expected, over_systems
from study.analysis.pairs import by_test_set, of_one_test
from study.columns import CALIBRATED, CALIBRATION_TABLE, DISTANCES, TABLE_1
from study.test_sets import SAME, matches

P_RANGES = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)
"""Bounds of the p-value ranges: the six of the paper's Table 1, and the rest on either side."""

WINDOW = (0.04, 0.06)
"""The range around 0.05 of the paper's section 4.2."""


def calibrate(comparisons: pd.DataFrame, sheet: pd.DataFrame, *, source: str = "calibrations") -> pd.DataFrame:
    """How often the better system on one test set is the better one on another, by p-value range (Table 1).

    Beside the share that is counted stands the one that is expected if both test sets were drawn from one population,
    in closed form: `expected.on_population` for test sets drawn from the other, `expected.on_another` for two finite
    ones. What is lost to the noise of the second test set is in both; the difference is what its domain changes.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other. Of several tests the bootstrap counts, as in the paper.
    sheet
        Table `CALIBRATIONS`. P-values on the first test set are compared with who wins on the second. Cells hold
        one pattern or several, separated by blanks, with `*` for anything; `=` is what the first side has. All
        ordered pairs of the test sets that match are taken, those excepted that an earlier line of the calibration
        has taken, and a test set against itself. Rows with the same `calibration` and `distance` are added up.
    source
        What messages call the sheet; its index counts the lines below the header, from 0.

    Raises
    ------
    InputError
        If a side matches nothing that has been compared, or a row without patterns compares a test set with itself, or
        two that an earlier one compares.

    Returns
    -------
    Table `CALIBRATION_TABLE`, one row a calibration, distance and p-value range [p_low, p_high), the last one with 1.
    The range [0.04, 0.06] comes as well. Ties on either test set are left out.

    Intervals (95 %) are over systems, and over test sets where there are several: `over_systems.share_interval` for
    what is counted, Student's on the logit scale for what is expected. That of the difference is made of both (Zou and
    Donner 2008), as if they were independent: rather too wide than too narrow. Nothing is expected (nan) where two
    test sets of a dataset overlap otherwise than by a draw; that two datasets do, as a pool and its members, is not
    seen. Cost: 22 CPU seconds and 0.55 GB for the 856 ordered pairs of test sets of the study's sheet.
    """
    found = []
    for (name, distance), cells in _compared(comparisons, sheet, source).items():
        held, known = _Held.of(cells)
        for low, high in [*pairwise(P_RANGES), WINDOW]:
            row: dict[str, object] = {"calibration": name, "distance": distance, "p_low": low, "p_high": high}
            found.append(row | {"n_test_sets": len(cells)} | held.row(low, high, known))
    return frame(CALIBRATION_TABLE, found)


def calibrated(comparisons: pd.DataFrame, sheet: pd.DataFrame, *, source: str = "calibrations") -> pd.DataFrame:
    """The pairs that `calibrate` counts, of the p-value ranges of the paper's Table 1; its parameters and errors.

    Returns
    -------
    Table `CALIBRATED`, one row a pair of systems and ordered pair of test sets, in the order of the sheet; `system_a`
    is the better one on the first test set, so that it holds where `gain_against` is above 0.
    """
    names = _names(comparisons)
    found = []
    for (name, distance), cells in _compared(comparisons, sheet, source).items():
        for on, one, against, other in cells:
            pair, left, right = np.intersect1d(one.pair, other.pair, assume_unique=True, return_indices=True)
            p_value, gain, gain_against = one.p_value[left], one.gain[left], other.gain[right]
            chosen = (p_value >= P_RANGES[1]) & (p_value < P_RANGES[7]) & (gain != 0) & (gain_against != 0)
            first, second = (names[one] for one in np.divmod(pair[chosen], one.n_systems))
            ahead, sign = gain[chosen] > 0, np.sign(gain[chosen])
            found.append(
                pd.DataFrame(
                    {
                        "system_a": np.where(ahead, first, second),
                        "system_b": np.where(ahead, second, first),
                        "p_value": p_value[chosen],
                        "gain": sign * gain[chosen],
                        "gain_against": sign * gain_against[chosen],
                    }
                ).assign(
                    calibration=name,
                    distance=distance,
                    on_dataset=on[0],
                    on_test_set=on[1],
                    against_dataset=against[0],
                    against_test_set=against[1],
                )
            )
    return frame(CALIBRATED, pd.concat(found, ignore_index=True) if found else [])


def _names(comparisons: pd.DataFrame) -> NDArray[np.object_]:
    """The names of all systems; their places are their numbers."""
    return np.sort(pd.unique(comparisons[["system_a", "system_b"]].to_numpy(dtype=object).ravel()))


def _compared(comparisons: pd.DataFrame, sheet: pd.DataFrame, source: str) -> dict[tuple[str, str], list[_Cell]]:
    """The ordered pairs of test sets of each calibration and distance, with what was compared on them."""
    keyed = dict(by_test_set(of_one_test(comparisons)))
    numbers = {name: number for number, name in enumerate(_names(comparisons))}
    compared: dict[Key, _Compared] = {}
    found = {}
    for which, cells in _cells(keyed, sheet, source).items():
        for key in {key for cell in cells for key in cell} - set(compared):
            compared[key] = _Compared.of(keyed[key], numbers)
        found[which] = [(on, compared[on], against, compared[against]) for on, against in cells]
    return found


Key = tuple[str, ...]
"""Dataset, test set, metric and test."""

Floats = NDArray[np.float64]


def _cells(
    test_sets: Collection[Key], sheet: pd.DataFrame, source: str
) -> dict[tuple[str, str], list[tuple[Key, Key]]]:
    """The ordered pairs of test sets of each calibration and distance."""
    found: dict[tuple[str, str], list[tuple[Key, Key]]] = {}
    taken: dict[tuple[str, Key, Key], int] = {}
    for index, row in zip(sheet.index, sheet.itertuples(index=False), strict=True):
        line, name = index + 2, str(row.calibration)
        sides = []
        for dataset, test_set in ((row.on_dataset, row.on_test_set), (row.against_dataset, row.against_test_set)):
            sides.append([key for key in test_sets if matches(key[0], dataset) and matches(key[1], test_set)])
            if not sides[-1]:
                raise InputError(f"{source}, line {line}: no comparisons of dataset {dataset} on test set {test_set}")
        # Another test set, the same metric.
        both = [(on, against) for on, against in product(*sides) if on != against and on[2] == against[2]]
        for place, cell in ((0, row.against_dataset), (1, row.against_test_set)):
            if cell == SAME:
                both = [(on, against) for on, against in both if on[place] == against[place]]
        new = [(on, against) for on, against in both if taken.setdefault((name, on, against), line) == line]
        # Patterns may match too little where only some datasets are run; names that stand alone are meant.
        if not new and not any(cell == SAME or set(cell) & set("* ?[") for cell in row[2:]):
            if not both:
                raise InputError(
                    f"{source}, line {line}: dataset {row.on_dataset} on test set {row.on_test_set} is compared "
                    "with nothing but itself or another metric, expected another test set"
                )
            on, against = both[0]
            raise InputError(
                f"{source}, line {line}: dataset {on[0]} on test set {on[1]} is compared with dataset {against[0]} "
                f"on test set {against[1]} again, expected once: line {taken[name, on, against]} does"
            )
        if new:
            found.setdefault((name, str(row.distance)), []).extend(new)
    return found


@dataclass(frozen=True)
class _Compared:
    """The pairs of a test set, in order; `pair` is a · n_systems + b for systems number a < b, and gains are a's."""

    pair: NDArray[np.int64]
    gain: Floats
    error: Floats
    p_value: Floats
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
            rows["p_value"].to_numpy(dtype=float)[order],
            len(numbers),
            int(first["n_segments"]),
            str(first["derived"]),
            int(first["number"]),
        )


_Cell = tuple[Key, _Compared, Key, _Compared]
"""A test set, what was compared on it, and another one with what was compared there."""


@dataclass(frozen=True)
class _Held:
    """Pairs on test sets held against others: a row a pair and an ordered pair of test sets.

    Gains are those of the same system on both. `population`: where the second test set is what the first was drawn
    from.
    """

    p_value: Floats
    gain_on: Floats
    error_on: Floats
    gain_against: Floats
    error_against: Floats
    population: NDArray[np.bool_]
    systems: over_systems.Codes
    test_sets: over_systems.Codes

    @classmethod
    def of(cls, cells: Sequence[_Cell]) -> tuple[_Held, bool]:
        """All rows, and whether one can tell what to expect: no test sets overlap but draws and their population."""
        parts = []
        numbers = {key: number for number, key in enumerate(sorted({key for cell in cells for key in cell[::2]}))}
        known = True
        for on, one, against, other in cells:
            pair, left, right = np.intersect1d(one.pair, other.pair, assume_unique=True, return_indices=True)
            population = _is_population(on, one, against, other)
            known &= population is not None
            scale = np.sqrt(other.n_segments / one.n_segments) if population else 1.0
            labels = (numbers[on], -1 if population else numbers[against])
            rows = len(pair)
            parts.append(
                cls(
                    p_value=one.p_value[left],
                    gain_on=one.gain[left],
                    error_on=one.error[left],
                    gain_against=other.gain[right],
                    error_against=scale * other.error[right],
                    population=np.full(rows, bool(population)),
                    systems=np.stack(np.divmod(pair, one.n_systems), axis=1).astype(np.intp),
                    test_sets=np.tile(np.array(labels, dtype=np.intp), (rows, 1)),
                )
            )
        whole = {one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)}
        return cls(**whole | {"test_sets": over_systems.drawn(whole["test_sets"])}), known

    def row(self, low: float, high: float, known: bool) -> dict[str, object]:
        """What the table says of a range of p-values."""
        inside = (self.p_value >= low) & (self.gain_on != 0) & (self.gain_against != 0)
        inside &= self.p_value <= high if (low, high) == WINDOW or high == 1 else self.p_value < high
        held = ((self.gain_on > 0) == (self.gain_against > 0))[inside]
        share = held.mean() if len(held) else np.nan
        share_low, share_high = over_systems.share_interval(held, self.systems[inside], self.test_sets[inside])
        centre, least, most = self._expected(low, high) if known else (np.nan,) * 3
        less, more = expected.difference(share, share_low, share_high, centre, least, most)
        return {
            "n_systems": len(np.unique(self.systems)),
            "n_pairs": len(held),
            "n_held": int(held.sum()),
            "share": share,
            "share_low": share_low,
            "share_high": share_high,
            "expected": centre,
            "expected_low": least,
            "expected_high": most,
            "difference": share - centre,
            "difference_low": less,
            "difference_high": more,
        }

    def _expected(self, low: float, high: float) -> tuple[float, float, float]:
        """The share that is expected, with its interval."""
        drawn = self.population
        right, wrong = np.empty((2, len(drawn)))
        right[drawn], wrong[drawn] = expected.on_population(
            self.gain_against[drawn], self.error_against[drawn], low, high
        )
        right[~drawn], wrong[~drawn] = expected.on_another(
            self.gain_on[~drawn],
            self.error_on[~drawn],
            self.gain_against[~drawn],
            self.error_against[~drawn],
            low,
            high,
        )
        return expected.share(right, wrong, self.systems, self.test_sets)


def _is_population(on: Key, one: _Compared, against: Key, other: _Compared) -> bool | None:
    """Is the second test set the population that the first was drawn from? None where they overlap otherwise."""
    if on[0] != against[0]:
        return False
    if (one.derived, other.derived) == ("draw", "whole"):
        return True
    if one.derived == other.derived == "half":  # 1 and 2 are of one split, 3 and 4 of the next
        return False if (one.number - 1) // 2 == (other.number - 1) // 2 else None
    return False if one.derived == other.derived and one.derived in ("domain", "document") else None


PAPER = {"near": 1700, "middle": 1346, "far": 24000}
"""Sentences of the second test sets of the paper's Table 1: sections 22 and 24 of the treebank, and Brown."""

SECTION_23 = 2416
"""Sentences of its first one."""

PAPER_PAIRS = {WINDOW: 58}
"""How many pairs the paper counted, where it says so."""


def table_1(calibration: pd.DataFrame, published: pd.DataFrame, population: pd.DataFrame | None = None) -> pd.DataFrame:
    """Calibrations in the layout of the paper's Table 1, each share beside the one that is expected.

    Parameters
    ----------
    calibration
        Made by `calibrate`.
    published
        The numbers printed in the paper; those compared with `share:…:DISTANCE:P_LOW-P_HIGH` are used.
    population
        Comparisons on one test set, whose gains stand for true ones: what is expected of the paper's pairs is that of
        these pairs on test sets of the paper's sizes, `SECTION_23` and `PAPER` sentences.

    Returns
    -------
    Table `TABLE_1`, one row a calibration that has one of the `DISTANCES` and p-value range; the paper's come first.
    Its interval is Clopper and Pearson's as if pairs were independent, where it says how many there were.
    """
    parts = published["compared_with"].astype(str).str.extract(r"^share:[^:]*:(\w+):([\d.]+)-([\d.]+)$")
    paper = {
        (distance, float(low), float(high)): float(value) / 100
        for (distance, low, high), value in zip(
            parts.dropna().to_numpy(), published["published"][parts[0].notna()], strict=True
        )
    }
    ranges = [one for one in [*pairwise(P_RANGES), WINDOW] if any((distance, *one) in paper for distance in DISTANCES)]
    found = []
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
        found.append(row)
    placed = calibration[calibration["distance"].isin(DISTANCES)]
    for name, rows in placed.groupby("calibration", sort=False):
        for low, high in ranges:
            row = dict.fromkeys(TABLE_1.names, "") | {"calibration": str(name), "p_range": f"{low:g} to {high:g}"}
            for one in rows[(rows["p_low"] == low) & (rows["p_high"] == high)].itertuples():
                if one.n_pairs:
                    row[str(one.distance)] = _share(one.share, one.share_low, one.share_high, one.n_pairs)
                    row[f"{one.distance}_expected"] = _share(one.expected, one.expected_low, one.expected_high)
            found.append(row)
    return frame(TABLE_1, found)


def _share(share: float, low: float, high: float, n_pairs: int | None = None) -> str:
    if np.isnan(share):
        return ""
    between = "" if np.isnan(low) else f" ({100 * low:.0f} to {100 * high:.0f})"
    return f"{100 * share:.0f} %{between}" + (f", {n_pairs:,} pairs" if n_pairs else "")
