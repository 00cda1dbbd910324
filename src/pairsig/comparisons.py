"""All pairs of systems of a dataset, in one go or in parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import engine, resampling, statistics, tables
from pairsig.choices import choose
from pairsig.columns import COMPARISONS
from pairsig.engine import Progress, Tally
from pairsig.errors import InputError, named
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.statistics import Statistics

COLUMNS = COMPARISONS.names
"""Columns of a table of comparisons."""

WHOLE = "whole"
"""The test set of `compare`: all segments."""


def compare(
    statistics: Statistics | pd.DataFrame | str | Path,
    test: str = "bootstrap",
    *,
    metric: str | Metric | None = None,
    variant: str | None = None,
    n_resamples: int = 1_000_000,
    seed: int = 2012,
    unit: Unit = "segment",
    part: tuple[int, int] = (1, 1),
    threads: int | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
    test_set: str = WHOLE,
) -> pd.DataFrame:
    """Test every pair of systems of a dataset on shared draws.

    Parameters
    ----------
    statistics
        Counts of all systems, a long table of them (see `Statistics.from_table`), or the path of such a file.
    test, variant
        "bootstrap" ("gt2", "percentile") or "randomization" ("two-sided", "one-sided"); the formulas are in
        `bootstrap_test` and `randomization_test`. The default variant is the first.
    metric
        A name or a `Metric`; may be left out when the columns fit one metric only.
    n_resamples, seed, threads, batch
        See `bootstrap_test`. All pairs see the same resamples (the paper's footnote 5), so their Monte Carlo errors
        are correlated.
    unit
        "segment", or "document" to draw whole documents.
    part
        (k, m): only the k-th of m parts of the resamples; `merge` adds the parts up.
    progress
        Called from time to time with the number of resamples finished.
    test_set
        What to call the test set in the result.

    Returns
    -------
    One row a pair, columns `COLUMNS`, in the order of the systems. `system_a` is the better one (the first where
    the scores are equal), so `gain` >= 0; scores and gains are in points. `p_low` and `p_high` bound the Monte Carlo
    error of `p_value` at 95 % (Clopper-Pearson).
    """
    data = _as_statistics(statistics)
    chosen = registry.metric(metric) if metric is not None else _only_metric(data)
    variant = variant or engine.TESTS[choose(test, engine.TESTS, "test")][0]
    resampling.check_resamples(n_resamples, seed)
    k, m = part
    if not 1 <= k <= m:
        raise InputError(f"the part is {k}/{m}, expected one from 1/{m} to {m}/{m}")
    if m > n_resamples:
        raise InputError(f"{n_resamples} resamples cannot be cut into {m} parts, expected at most {n_resamples}")
    if unit not in ("segment", "document"):
        raise InputError(f"the unit is {unit!r}, expected segment or document")
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
    counts = data.of(chosen)
    if unit == "document":
        counts = _by_document(data, counts)
    quality = engine.quality(counts, chosen)
    first, second = np.triu_indices(len(data.systems), k=1)
    swapped = quality[second] > quality[first]
    pairs = np.column_stack([np.where(swapped, second, first), np.where(swapped, first, second)])
    resamples = range((k - 1) * n_resamples // m, k * n_resamples // m)
    counted = engine.tally(
        counts,
        chosen,
        pairs,
        test=test,
        variant=variant,
        resamples=resamples,
        seed=seed,
        threads=threads,
        batch=batch,
        progress=progress,
    )
    better, other = pairs.T
    scores = quality if chosen.higher_is_better else -quality
    tolerance = engine.tie_tolerance(chosen, counts)
    gains = quality[better] - quality[other]
    gains[gains <= tolerance] = 0.0
    names, groups, kinds = (np.array(values) for values in (data.systems, data.groups, data.kinds))
    signature = resampling.signature(chosen, test, variant, n_resamples, seed, unit)
    table = pd.DataFrame(
        {
            "dataset": data.dataset,
            "test_set": test_set,
            "derived": WHOLE,
            "domain": "",
            "number": 0,
            "metric": chosen.name,
            "test": test,
            "system_a": names[better],
            "system_b": names[other],
            "same_group": groups[better] == groups[other],
            "kind_a": kinds[better],
            "kind_b": kinds[other],
            "n_segments": data.counts.shape[1],
            "score_a": scores[better],
            "score_b": scores[other],
            "gain": gains,
            "n_resamples": counted.n_resamples,
            "n_greater": counted.n_greater,
            "n_equal": counted.n_equal,
            "p_value": 0.0,
            "p_low": 0.0,
            "p_high": 0.0,
            "signature": signature if m == 1 else f"{signature}|part:{k}/{m}",
        }
    )
    return _with_p_values(table)


def read(path: str | Path) -> pd.DataFrame:
    """A table of comparisons, or a part of one, that `compare` or `merge` gave and `tables.write` wrote.

    Raises
    ------
    InputError
        If rows are missing, or if what it says of a pair is impossible.
    """
    return _checked(tables.read(path, COMPARISONS), str(path))


def merge(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Comparisons over all resamples from those over parts of them: the same table as without parts.

    Parameters
    ----------
    parts
        Results of `compare` with part = (1, m), …, (m, m), in any order. They are taken one by
        one: of an iterator no more than two are in memory.

    Raises
    ------
    InputError
        If they are not all the parts of one run, or if one of them cannot be right: part k of m of b resamples has
        ⌊k·b/m⌋ − ⌊(k − 1)·b/m⌋ of them, and its pairs, scores and gains are those of every other part.
    """
    summed = ["n_resamples", "n_greater", "n_equal"]
    same = [column for column in COLUMNS if column not in (*summed, "p_value", "p_low", "p_high", "signature")]
    merged, expected, n_parts = None, "", 0
    found: set[int] = set()
    for given in parts:
        table = given.reset_index(drop=True)
        run, n_resamples, k, m = _part(table)
        source = f"part {k}/{m}"
        whole = f"{run}, one of {m} parts"
        expected = expected or whole
        if whole != expected:
            raise InputError(f"the tables to merge are not parts of one run: {expected}; {whole}")
        if k in found:
            raise InputError(f"{source} is given twice, expected once")
        found.add(k)
        n_parts = m
        n_own = k * n_resamples // m - (k - 1) * n_resamples // m
        _refuse(table, table["n_resamples"] != n_own, "n_resamples", f"{n_own}, its part of {n_resamples}", source)
        table = _checked(table, source)
        if merged is None:
            merged = table
        elif not table[same].equals(merged[same]):
            raise InputError("the tables to merge do not compare the same pairs on the same test sets")
        else:
            merged[summed] += table[summed]
    if merged is None:
        raise InputError("there is nothing to merge, expected the tables of all parts")
    if len(found) < n_parts:
        missing = next(k for k in range(1, n_parts + 1) if k not in found)
        raise InputError(f"part {missing}/{n_parts} is missing, expected all {n_parts}")
    merged["signature"] = merged["signature"].str.replace(r"\|part:.*", "", regex=True)
    return _with_p_values(merged)


def _part(table: pd.DataFrame) -> tuple[str, int, int, int]:
    """The signature of the run that a table is a part of, its resamples, and which part it is: k of m."""
    for column in COLUMNS:
        if column not in table.columns:
            raise InputError(f"a table to merge has no column `{column}`, expected {', '.join(COLUMNS)}")
    signatures = table["signature"].astype(str).unique()
    if len(signatures) != 1:
        told = "; ".join(signatures[:2]) or "it has no pairs"
        raise InputError(f"a table to merge has {len(signatures)} signatures ({told}), expected one")
    match = re.fullmatch(r"(.*\|resamples:([0-9]{1,18})\|.*)\|part:([0-9]{1,18})/([0-9]{1,18})", signatures[0])
    if match is None:
        raise InputError(f"a table to merge is not a part: its signature is {signatures[0]}")
    n_resamples, k, m = (int(number) for number in match.groups()[1:])
    if not 1 <= k <= m <= n_resamples:
        raise InputError(
            f"a table to merge is part {k}/{m} of {n_resamples} resamples, expected one from 1/{m} to {m}/{m}"
        )
    return match[1], n_resamples, k, m


def _checked(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """`table`, its counts as integers, after what it says of every pair has been found possible."""
    for column in ("n_segments", "n_resamples", "n_greater", "n_equal"):
        numbers = pd.to_numeric(table[column], errors="coerce")
        least = 1 if column in ("n_segments", "n_resamples") else 0
        _refuse(table, ~(numbers.ge(least) & numbers.mod(1).eq(0)), column, f"a whole number, {least} or more", source)
        table = table.assign(**{column: numbers.astype(np.int64)})
    many = table["n_greater"] + table["n_equal"] > table["n_resamples"]
    for column in ("n_greater", "n_equal"):
        _refuse(table, many, column, "no more of both than n_resamples", source)
    for column in ("score_a", "score_b", "gain", "p_value", "p_low", "p_high"):
        numbers = pd.to_numeric(table[column], errors="coerce")
        possible, expected = np.isfinite(numbers), "a number"
        if column == "gain":
            possible, expected = possible & (numbers >= 0), "a number, 0 or more: A is the better system"
        elif column.startswith("p_"):
            possible, expected = numbers.between(0, 1), "a number from 0 to 1"
        _refuse(table, ~possible, column, expected, source)
        table = table.assign(**{column: numbers.astype(np.float64)})
    return table


def _refuse(table: pd.DataFrame, wrong: pd.Series[bool], column: str, expected: str, source: str) -> None:
    """Raise `InputError` about the first pair that is wrong."""
    if wrong.any():
        row = table[wrong].iloc[0]
        pair = f"{named(str(row['system_a']))} and {named(str(row['system_b']))}"
        raise InputError(f"{source}, {pair}: {column} is {tables.shown(row[column])}, expected {expected}")


def _with_p_values(table: pd.DataFrame) -> pd.DataFrame:
    counted = Tally(
        int(table["n_resamples"].iloc[0]),
        table["n_greater"].to_numpy(dtype=np.int64),
        table["n_equal"].to_numpy(dtype=np.int64),
    )
    # Equal scores have been given a gain of exactly 0, so no tolerance is needed here.
    p, low, high = resampling.p_values(counted, table["gain"].to_numpy(), str(table["test"].iloc[0]), 0.0)
    return table.assign(p_value=p, p_low=low, p_high=high)


def _by_document(data: Statistics, counts: NDArray[Any]) -> NDArray[Any]:
    return statistics.by_document(data.documents, counts)


def _as_statistics(data: Statistics | pd.DataFrame | str | Path) -> Statistics:
    if isinstance(data, Statistics):
        return data
    if isinstance(data, pd.DataFrame):
        return Statistics.from_table(data, dataset="")
    return statistics.read(data)


def _only_metric(data: Statistics) -> Metric:
    """The metric whose columns are all the columns there are."""
    named = data.provenance.get("metric")
    if named:
        return registry.metric(named)
    fitting = [m for m in registry.METRICS.values() if set(m.columns) == set(data.columns)]
    if len({m.function for m in fitting}) != 1:
        told = ", ".join(m.name for m in fitting) or "none"
        raise InputError(
            f"dataset {data.dataset or '(arrays)'} has the columns {', '.join(data.columns)}, which fit the "
            f"metrics: {told}; expected the name of one"
        )
    return fitting[0]
