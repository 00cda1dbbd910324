"""What the explorer draws: scripts that a page loads, since one that is opened from disk may not fetch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pairsig.columns import COMPARISONS
from pairsig.errors import InputError
from pairsig.tables import N_ROWS

READ = (
    "dataset", "test_set", "derived", "domain", "metric", "system_a", "system_b", "same_group", "kind_a", "kind_b",
    "n_segments", "score_a", "score_b", "gain", "standard_error", "similarity", "p_value", "signature",
)  # fmt: skip
"""Columns of comparisons that are drawn."""

DRAWN = ("whole", "initial", "domain", "document")
"""How test sets were made that are drawn; of draws and halves there are too many."""

MOST = 3_000
"""Pairs of a calibration that are drawn, at most, of a range of p-values."""

BOUNDS = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
"""The ranges of the paper's Table 1."""


def read(paths: Sequence[Path]) -> pd.DataFrame:
    """Comparisons on whole test sets and on those made of one, of the columns that are drawn.

    The tables are large and were checked by those who read them before: only what is drawn is read, by pyarrow, and
    that no row is missing is looked at.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    typed = {name: pa.dictionary(pa.int32(), pa.string()) if COMPARISONS[name].type is str else None for name in READ}
    found = []
    for path in paths:
        try:
            table = csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter="\t"),
                convert_options=csv.ConvertOptions(
                    include_columns=[*READ, N_ROWS],
                    column_types={name: type_ for name, type_ in typed.items() if type_ is not None},
                    strings_can_be_null=False,
                ),
            )
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: expected a table of comparisons, {str(error).splitlines()[0]}") from None
        if table.num_rows and table[N_ROWS][0].as_py() != table.num_rows:
            raise InputError(
                f"{path}: found {table.num_rows:,} rows, expected {table[N_ROWS][0].as_py():,}: it was cut"
            )
        kept = pc.is_in(pc.cast(table["derived"], pa.string()), pa.array(DRAWN))
        found.append(table.filter(kept).drop_columns([N_ROWS]))
    return pa.concat_tables(found, promote_options="permissive").unify_dictionaries().to_pandas()


def pairs(comparisons: pd.DataFrame) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """A dataset at a time: what it is, and one object a test set, in the order the explorer offers them.

    System numbers are places in the list of the dataset, of which the best on the whole test set is the first. `gain`
    is that of the better system `a`; `error` its standard error, `like` how alike the two are.
    """
    for dataset, rows in comparisons.groupby("dataset", sort=False, observed=True):
        systems = _systems(rows)
        places = {one["name"]: place for place, one in enumerate(systems)}
        about: dict[str, Any] = {
            "dataset": str(dataset),
            "metric": str(rows["metric"].iloc[0]),
            "systems": systems,
            "test_sets": [],
        }
        drawn = []
        keys = ["test_set", "derived", "domain", "n_segments"]
        for (label, derived, domain, n), mine in rows.groupby(keys, sort=False, observed=True):
            about["test_sets"].append(
                {"label": str(label), "derived": str(derived), "domain": str(domain), "n": int(n), "pairs": len(mine)}
            )
            first, second = (mine[f"system_{side}"].map(places).to_numpy(dtype=int) for side in "ab")
            scores = np.full(len(systems), np.nan)
            scores[first], scores[second] = mine["score_a"], mine["score_b"]
            drawn.append(
                {
                    "two_sided": "variant:two-sided" in str(mine["signature"].iloc[0]),
                    "a": first.tolist(),
                    "b": second.tolist(),
                    "gain": _digits(mine["gain"], 4),
                    "p": _significant(mine["p_value"], 4),
                    "like": _digits(mine["similarity"], 3),
                    "error": _digits(mine["standard_error"], 4),
                    "same": mine["same_group"].astype(int).tolist(),
                    "score": _digits(scores, 2),
                }
            )
        order = sorted(range(len(drawn)), key=lambda place: _place(about["test_sets"][place]))
        about["test_sets"] = [about["test_sets"][place] for place in order]
        yield about, [drawn[place] for place in order]


def _place(test_set: Mapping[str, Any]) -> tuple[int, int, str]:
    return DRAWN.index(test_set["derived"]), test_set["n"] if test_set["derived"] == "initial" else 0, test_set["label"]


def _systems(rows: pd.DataFrame) -> list[dict[str, str]]:
    """The systems of a dataset with their kinds, in the order of how many others they are better than."""
    sides = [rows[[f"system_{side}", f"kind_{side}"]].drop_duplicates().astype(str).to_numpy() for side in "ab"]
    kinds = {name: kind for side in sides for name, kind in side}
    whole = rows[rows["derived"] == "whole"]
    won = (whole if len(whole) else rows)["system_a"].value_counts()
    ordered = sorted(kinds, key=lambda name: (-int(won.get(name, 0)), name))
    return [{"name": name, "kind": kinds[name]} for name in ordered]


def _digits(values: ArrayLike, digits: int) -> list[float | None]:
    rounded: list[float] = np.round(np.asarray(values, dtype=float), digits).tolist()
    return [None if math.isnan(value) else value for value in rounded]


def _significant(values: pd.Series, digits: int) -> list[float]:
    """P-values to so many digits that matter."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def cells(calibrated: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The pairs behind a calibration at a time: of each range of p-values `MOST`, evenly taken from the table.

    `gain` is that on the first test set, `against` that of the same system on the second: below 0 where it did not
    hold.
    """
    for (calibration, distance), rows in calibrated.groupby(["calibration", "distance"], sort=False, observed=True):
        found = []
        for low, high in pairwise(BOUNDS):
            inside = rows[(rows["p_value"] >= low) & (rows["p_value"] < high)]
            found.append(inside.iloc[np.unique(np.linspace(0, len(inside) - 1, min(len(inside), MOST)).astype(int))])
        drawn = pd.concat(found)
        systems = sorted({*drawn["system_a"], *drawn["system_b"]})
        sides = [drawn[f"{side}_dataset"] + " / " + drawn[f"{side}_test_set"] for side in ("on", "against")]
        test_sets = sorted({name for side in sides for name in side})
        places = {name: place for place, name in enumerate(systems)}
        numbers = {name: place for place, name in enumerate(test_sets)}
        yield {
            "calibration": str(calibration),
            "distance": str(distance),
            "n_all": len(rows),
            "systems": systems,
            "test_sets": test_sets,
            "a": drawn["system_a"].map(places).tolist(),
            "b": drawn["system_b"].map(places).tolist(),
            "on": sides[0].map(numbers).tolist(),
            "other": sides[1].map(numbers).tolist(),
            "p": _significant(drawn["p_value"], 4),
            "gain": _digits(drawn["gain"], 3),
            "against": _digits(drawn["gain_against"], 3),
        }


def script(function: str, *values: object) -> str:
    r"""A call with JSON arguments, as a script; nothing in it ends a script tag.

    >>> script("explore.add", "a", {"name": "</script>"})
    'explore.add("a", {"name":"<\\/script>"});\n'
    """
    told = [json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for value in values]
    safe = ", ".join(told).replace("</", "<\\/").replace("<!--", "<\\!--")
    return f"{function}({safe});\n"
