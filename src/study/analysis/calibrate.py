"""How often the better system on one test set is the better one on another."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from pairsig.errors import InputError
from pairsig.tables import frame
from pairsig.tally import clopper_pearson
from study.analysis.pairs import by_test_set, of_one_test
from study.columns import CALIBRATION_TABLE, DISTANCES, TABLE_1

P_RANGES = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)
"""Bounds of the p-value ranges: the six of the paper's Table 1, and the rest on either side."""

WINDOW = (0.04, 0.06)
"""The range around 0.05 of the paper's section 4.2."""


def calibrate(comparisons: pd.DataFrame, sheet: pd.DataFrame, *, source: str = "calibrations") -> pd.DataFrame:
    """How often the better system on one test set is the better one on another, by p-value range (Table 1).

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other. Of several tests the bootstrap counts, as in the paper.
    sheet
        Table `CALIBRATIONS`. P-values on the first test set are compared with who wins on the second. Rows with the
        same `calibration` and `distance` are added up. A `*` in a test set stands for anything, on either side (`on`
        draw-*, `against` whole).
    source
        What messages call the sheet; its index counts the lines below the header, from 0.

    Raises
    ------
    InputError
        If a row has no two test sets to compare, or two rows compare the same two.

    Returns
    -------
    Table `CALIBRATION_TABLE`, one row a calibration, distance and p-value range [p_low, p_high), the last one with 1.
    The interval of the share is Clopper and Pearson's, as if pairs were independent; they share systems, so it is
    rather too narrow than too wide. Ties on either test set are left out. The range [0.04, 0.06] comes as well.
    """
    keyed = dict(by_test_set(of_one_test(comparisons)))
    counted: dict[tuple[str, str], list[pd.DataFrame]] = {}
    lines: dict[tuple[object, ...], int] = {}
    for index, row in zip(sheet.index, sheet.itertuples(index=False), strict=True):
        line, sides = index + 2, []
        for dataset, pattern in ((row.on_dataset, row.on_test_set), (row.against_dataset, row.against_test_set)):
            sides.append([key for key in keyed if key[0] == dataset and fnmatchcase(key[1], pattern)])
            if not sides[-1]:
                raise InputError(f"{source}, line {line}: no comparisons of dataset {dataset} on test set {pattern}")
        name, distance = str(row.calibration), str(row.distance)
        # Another test set, the same metric.
        held = [(on, against) for on, against in product(*sides) if on != against and on[2] == against[2]]
        for on, against in held:
            first = lines.setdefault((name, distance, on, against), line)
            if first != line:
                raise InputError(
                    f"{source}, line {line}: dataset {on[0]} on test set {on[1]} is compared with dataset {against[0]} "
                    f"on test set {against[1]} again, expected once: line {first} does"
                )
        if not held:
            raise InputError(
                f"{source}, line {line}: dataset {row.on_dataset} on test set {row.on_test_set} is compared "
                "with nothing but itself or another metric, expected another test set"
            )
        counted.setdefault((name, distance), []).extend(_held(keyed[on], keyed[against]) for on, against in held)
    found = []
    ranges = [*pairwise(P_RANGES), WINDOW]
    for (name, distance), tables in counted.items():
        table = pd.concat(tables, ignore_index=True)
        for low, high in ranges:
            closed = (low, high) == WINDOW or high == 1
            above = table["p_value"] <= high if closed else table["p_value"] < high
            inside = table.loc[(table["p_value"] >= low) & above, "held"]
            interval = clopper_pearson(inside.sum(), len(inside))
            found.append(
                {
                    "calibration": name,
                    "distance": distance,
                    "p_low": low,
                    "p_high": high,
                    "n_pairs": len(inside),
                    "n_held": int(inside.sum()),
                    "share": inside.mean() if len(inside) else np.nan,
                    "share_low": float(interval[0]),
                    "share_high": float(interval[1]),
                }
            )
    return frame(CALIBRATION_TABLE, found)


def _held(on: pd.DataFrame, against: pd.DataFrame) -> pd.DataFrame:
    """P-value on one test set, and whether the better system there is the better one on the other."""
    winner = {frozenset((a, b)): a for a, b, gain in against[["system_a", "system_b", "gain"]].to_numpy() if gain > 0}
    pairs = [frozenset(pair) for pair in on[["system_a", "system_b"]].to_numpy()]
    other = pd.Series([winner.get(pair) for pair in pairs], index=on.index, dtype=object)
    usable = other.notna() & (on["gain"] > 0)
    return pd.DataFrame({"p_value": on.loc[usable, "p_value"], "held": other[usable] == on.loc[usable, "system_a"]})


def table_1(calibration: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Calibrations in the layout of the paper's Table 1, with the paper's numbers beside ours.

    Parameters
    ----------
    calibration
        Made by `calibrate`.
    published
        The numbers printed in the paper; those compared with `share:…:DISTANCE:P_LOW-P_HIGH` are used.

    Returns
    -------
    Table `TABLE_1`, one row a calibration that has one of the `DISTANCES` and p-value range.
    """
    parts = published["compared_with"].astype(str).str.extract(r"^share:[^:]*:(\w+):([\d.]+)-([\d.]+)$")
    paper = {
        (distance, float(low), float(high)): f"{float(value):g} %"
        for (distance, low, high), value in zip(
            parts.dropna().to_numpy(), published["published"][parts[0].notna()], strict=True
        )
    }
    found = []
    placed = calibration[calibration["distance"].isin(DISTANCES)]
    for (name, low, high), rows in placed.groupby(["calibration", "p_low", "p_high"], sort=False):
        if not any((distance, low, high) in paper for distance in DISTANCES):
            continue
        row = {"calibration": name, "p_range": f"{low:g} to {high:g}"}
        by_distance = {one.distance: one for one in rows.itertuples()}
        for distance in DISTANCES:
            ours = by_distance.get(distance)
            row[distance] = "" if ours is None or not ours.n_pairs else _share(ours)
            row[f"{distance}_paper"] = paper.get((distance, low, high), "")
        found.append(row)
    return frame(TABLE_1, found)


def _share(row: Any) -> str:
    share, low, high = (100 * value for value in (row.share, row.share_low, row.share_high))
    return f"{share:.0f} % ({low:.0f} to {high:.0f}), {row.n_pairs:,} pairs"
