"""Data of the explorer, as scripts: a page that is opened from disk may not fetch other files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pairsig.io.errors import InputError
from pairsig.io.memory import Memory
from pairsig.io.tables import read_parquet
from study.analysis.over_systems import Floats
from study.analysis.pairs import pvalues

READ = (
    "dataset", "test_set", "derived", "domain", "metric", "system_a", "system_b", "same_group", "kind_a", "kind_b",
    "n_segments", "score_a", "score_b", "gain", "standard_error", "correlation", "pvalue", "pvalue_one_sided",
    "signature",
)  # fmt: skip
"""Columns of comparisons that the explorer reads."""

DRAWN = ("whole", "initial", "domain", "document")
"""Kinds of test sets that the explorer shows; there are too many draws and halves."""

MOST = 3_000
"""Maximal number of pairs shown per calibration and range of p-values."""

BOUNDS = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
"""Bounds of the ranges of p-values in the paper's Table 1."""


def read(paths: Sequence[Path]) -> pd.DataFrame:
    """Read the columns that the explorer needs, for whole test sets and test sets derived from them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    for path in paths:
        table = read_parquet(path, Memory.whole())
        for name in READ:
            if name not in table.column_names:
                raise InputError(f"{path} has no column `{name}`, expected a table of comparisons")
        is_drawn = pc.is_in(pc.cast(table["derived"], pa.string()), pa.array(DRAWN))
        parts.append(table.select(READ).filter(is_drawn))
    return pa.concat_tables(parts).unify_dictionaries().to_pandas()


def pairs(comparisons: pd.DataFrame) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield the description of each dataset with one object per test set, in the order of the explorer.

    Systems are numbered by their place in the dataset's list, which starts with the best one on the whole test set.
    `gain` is the gain of the better system `a`, `error` its standard error, and `correlation` that of the two systems.
    """
    for dataset, rows in comparisons.groupby("dataset", sort=False, observed=True):
        systems = _systems(rows)
        places = {system["name"]: place for place, system in enumerate(systems)}
        drawn: list[tuple[dict[str, Any], dict[str, Any]]] = []
        keys = ["test_set", "derived", "domain", "n_segments"]
        for (label, derived, domain, n), of_test_set in rows.groupby(keys, sort=False, observed=True):
            about = {"label": label, "derived": derived, "domain": str(domain), "n": int(n), "pairs": len(of_test_set)}
            first, second = (of_test_set[f"system_{side}"].map(places).to_numpy(dtype=int) for side in "ab")
            scores = np.full(len(systems), np.nan)
            scores[first], scores[second] = of_test_set["score_a"], of_test_set["score_b"]
            values = {
                "two_sided": bool(of_test_set["pvalue_one_sided"].isna().all()),
                "a": first.tolist(),
                "b": second.tolist(),
                "gain": _digits(of_test_set["gain"], 4),
                "p": _significant(pvalues(of_test_set), 4),
                "correlation": _digits(of_test_set["correlation"], 3),
                "error": _digits(of_test_set["standard_error"], 4),
                "same": of_test_set["same_group"].astype(int).tolist(),
                "score": _digits(scores, 2),
            }
            drawn.append((about, values))
        drawn.sort(key=lambda system: _place(system[0]))
        test_sets, arrays = [about for about, _ in drawn], [values for _, values in drawn]
        metric = str(rows["metric"].iloc[0])
        yield {"dataset": str(dataset), "metric": metric, "systems": systems, "test_sets": test_sets}, arrays


def _place(test_set: Mapping[str, Any]) -> tuple[int, int, str]:
    return DRAWN.index(test_set["derived"]), test_set["n"] if test_set["derived"] == "initial" else 0, test_set["label"]


def _systems(rows: pd.DataFrame) -> list[dict[str, str]]:
    """List the systems of a dataset with their kinds, ordered by the number of systems that they outperform."""
    sides = [rows[[f"system_{side}", f"kind_{side}"]].drop_duplicates().astype(str).to_numpy() for side in "ab"]
    kinds = dict(chain.from_iterable(sides))
    whole = rows[rows["derived"] == "whole"]
    won = (whole if len(whole) else rows)["system_a"].value_counts()
    ordered = sorted(kinds, key=lambda name: (-int(won.get(name, 0)), name))
    return [{"name": name, "kind": kinds[name]} for name in ordered]


def _digits(values: ArrayLike, digits: int) -> list[float | None]:
    rounded: list[float] = np.round(np.asarray(values, dtype=float), digits).tolist()
    return [None if math.isnan(value) else value for value in rounded]


def _significant(values: Floats, digits: int) -> list[float]:
    """Round p-values to this number of significant digits."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def cells(calibrated: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the pairs of each calibration: at most `MOST` per range of p-values, evenly spaced in the table.

    `gain` is the gain on the first test set and `against` that of the same system on the second, negative where the
    result did not replicate.
    """
    for (calibration, distance), rows in calibrated.groupby(["calibration", "distance"], sort=False, observed=True):
        p, chosen = pvalues(rows), []
        for low, high in pairwise(BOUNDS):
            inside = rows[(p >= low) & (p < high)]
            chosen.append(inside.iloc[np.unique(np.linspace(0, len(inside) - 1, min(len(inside), MOST)).astype(int))])
        drawn = pd.concat(chosen)
        systems = sorted({*drawn["system_a"], *drawn["system_b"]})
        sides = [drawn[f"{side}_dataset"] + " / " + drawn[f"{side}_test_set"] for side in ("on", "against")]
        test_sets = sorted({*chain.from_iterable(sides)})
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
            "p": _significant(pvalues(drawn), 4),
            "gain": _digits(drawn["gain"], 3),
            "against": _digits(drawn["gain_against"], 3),
        }


def script(function: str, *values: object) -> str:
    r"""Write a function call with JSON arguments as a script that cannot end its script tag early.

    >>> script("explore.add", "a", {"name": "</script>"})
    'explore.add("a", {"name":"<\\/script>"});\n'
    """
    texts = [json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for value in values]
    safe = ", ".join(texts).replace("</", "<\\/").replace("<!--", "<\\!--")
    return f"{function}({safe});\n"
