"""All pairs of systems of a dataset, in one go or in parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import definitions, engine, paired, resampling, statistics, tables
from pairsig.columns import COMPARISONS
from pairsig.engine import Progress, Resampling, Tally
from pairsig.errors import InputError, named
from pairsig.exact.pairs import n_bytes as exact_bytes
from pairsig.exact.pairs import p_values as exact_p_values
from pairsig.memory import Memory, shown
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.statistics import Statistics

COLUMNS = COMPARISONS.names
"""Columns of a table of comparisons."""

WHOLE = "whole"
"""The test set of `compare`: all segments."""

_BYTES_A_PAIR = 1024
"""Of the result, and of the borders that resamples are held against."""


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
    memory: Memory | int | str | None = None,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    test_set: str = WHOLE,
) -> pd.DataFrame:
    """Test every pair of systems of a dataset on shared draws.

    Parameters
    ----------
    statistics
        Counts of all systems, a long table of them (see `Statistics.from_table`), or the path of such a file.
    test, variant
        "bootstrap" or "exact-bootstrap" ("gt2", "percentile", "two-sided"), "randomization" or "exact" ("two-sided",
        "one-sided"); the formulas are in `bootstrap_test` and `randomization_test`. The default variant is the first.
        Exact tests draw nothing: `n_resamples` is 0 then, and `p_low` and `p_high` are `p_value`. They are for metrics
        that are a `Ratio` (see `exact_test` and `exact_bootstrap`), and agree with those to about 1e-12 of p; below
        1e-300 p is 0.
    metric
        A name or a `Metric`; may be left out when the columns fit one metric only.
    n_resamples, seed, threads, batch
        See `bootstrap_test`. All pairs see the same resamples (the paper's footnote 5), so their Monte Carlo errors
        are correlated.
    unit
        "segment", or "document" to draw whole documents.
    part
        (k, m): only the k-th of m parts of the resamples; `merge` adds the parts up.
    memory
        What the process may take, in bytes or as "500M" or "4G"; by default what it takes already and half of what is
        free, on the machine or within the limits of a container or job. It changes nothing but time: see below.
    progress
        Called from time to time with the number of resamples finished.
    note
        Called with a sentence on the memory that is needed, before the tests begin.
    test_set
        What to call the test set in the result.

    Returns
    -------
    One row a pair, columns `COLUMNS`, in the order of the systems. `system_a` is the better one (the first where
    the scores are equal), so `gain` >= 0; scores and gains are in points. `p_low` and `p_high` bound the Monte Carlo
    error of `p_value` at 95 % (Clopper-Pearson).

    Notes
    -----
    Memory, beside the program's own 200 MB: N systems on n segments with k columns of i bytes take N·n·k·i (integers of
    a Parquet file as few bytes as hold them), and for metrics that are a `Ratio` N·n·2·j more, for numerators and
    denominators that fit in j bytes. Exact tests of pass/fail items take 20·N² and 80 MB beside these, other exact
    tests 64 MB a thread, tests that draw what `engine.Work` says: they do with little by multiplying some systems at a
    time. The result takes about a kilobyte a pair.

    Raises
    ------
    InputError
        For input that cannot be tested so, and where the memory does not suffice; nothing has been drawn then.
    """
    memory = Memory.of(memory)
    data = _as_statistics(statistics, memory)
    chosen = registry.metric(metric) if metric is not None else _only_metric(data)
    chosen_test = definitions.find(test, variant)
    resampling = Resampling(n_resamples, seed, threads, batch)
    if len(part) != 2 or not all(isinstance(number, int) for number in part):
        raise InputError(f"the part is {part!r}, expected two whole numbers, which of how many")
    k, m = part
    if not 1 <= k <= m:
        raise InputError(f"the part is {k}/{m}, expected one from 1/{m} to {m}/{m}")
    if chosen_test.exact and m > 1:
        raise InputError(f"test {test} draws nothing that could be cut into {m} parts, expected the part 1/1")
    if m > n_resamples:
        raise InputError(f"{n_resamples} resamples cannot be cut into {m} parts, expected at most {n_resamples}")
    if unit not in ("segment", "document"):
        raise InputError(f"the unit is {unit!r}, expected segment or document")
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
    memory.require(data.copied_by(chosen), "the counts of this metric")
    counts = data.of(chosen)
    if unit == "document":
        memory.require(2 * 8 * counts.size, "the counts by document")
        counts = _by_document(data, counts)
    judge = engine.Judge(counts, chosen, data.systems, memory)
    resampling = _within(memory, judge, chosen_test, resampling, part, note)
    pairs = np.column_stack(np.triu_indices(len(data.systems), k=1))
    gains = judge.gains(pairs)
    pairs = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
    if chosen_test.exact:
        p_value = exact_p_values(judge, pairs, chosen_test, unit, threads=resampling.threads, progress=progress)
        counted, drawn = Tally(0, *np.zeros((2, len(pairs)), dtype=np.int64)), ""
    else:
        counted = judge.tally(pairs, chosen_test, resampling, resamples=resampling.part(k, m), progress=progress)
        drawn, p_value = resampling.signature, np.zeros(len(pairs))
    better, other = pairs.T
    scores = judge.scores
    names, groups, kinds = (np.array(values) for values in (data.systems, data.groups, data.kinds))
    signature = paired.signature(chosen, chosen_test, unit, drawn)
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
            "gain": np.abs(gains),
            "n_resamples": counted.n_resamples,
            "n_greater": counted.n_greater,
            "n_equal": counted.n_equal,
            "p_value": p_value,
            "p_low": p_value,
            "p_high": p_value,
            "signature": signature if m == 1 else f"{signature}|part:{k}/{m}",
        }
    )
    return table if chosen_test.exact else _with_p_values(table)


def _within(
    memory: Memory,
    judge: engine.Judge,
    test: definitions.Test,
    resampling: Resampling,
    part: tuple[int, int],
    note: Callable[[str], object] | None,
) -> Resampling:
    """How to compute within the memory, and a note on it."""
    n_systems = len(judge.counts)
    table = _BYTES_A_PAIR * n_systems * (n_systems - 1) // 2
    memory.require(table, f"the comparisons of {n_systems:,} systems")
    left = memory.left - table
    if test.exact:
        threads = resampling.threads or os.cpu_count() or 1
        while threads > 1 and exact_bytes(judge, threads) > left:
            threads //= 2
        taken, how = exact_bytes(judge, threads), "without drawing"
        memory.require(table + taken, f"the exact tests of {n_systems:,} systems")
        chosen = replace(resampling, threads=threads)
    else:
        chosen = replace(resampling, memory=left)
        work = engine.Work.of(judge.product, test, chosen, len(resampling.part(*part)))
        taken, how = work.n_bytes, str(work)
    if note is not None:
        note(
            f"{n_systems:,} systems on {judge.counts.shape[1]:,} units: {shown(table + taken)} of memory are needed "
            f"beside the counts ({how}), {shown(left + table)} are left of {shown(memory.limit)}"
        )
    return chosen


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
        enough = numbers.ge(least)
        if column == "n_resamples":  # an exact test draws nothing
            enough |= numbers.eq(0) & table["test"].isin(definitions.names(exact=True))
        _refuse(table, ~(enough & numbers.mod(1).eq(0)), column, f"a whole number, {least} or more", source)
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
    variant = re.search(r"\|variant:([^|]+)", str(table["signature"].iloc[0]))
    if variant is None:
        raise InputError(f"the signature {table['signature'].iloc[0]} names no variant of the test, expected one")
    test = definitions.find(str(table["test"].iloc[0]), variant[1])
    p, low, high = resampling.p_values(counted, table["gain"].to_numpy(), test)
    return table.assign(p_value=p, p_low=low, p_high=high)


def _by_document(data: Statistics, counts: NDArray[Any]) -> NDArray[Any]:
    return statistics.by_document(data.documents, counts)


def _as_statistics(data: Statistics | pd.DataFrame | str | Path, memory: Memory) -> Statistics:
    if isinstance(data, Statistics):
        return data
    if isinstance(data, pd.DataFrame):
        return Statistics.from_table(data, dataset="")
    return statistics.read(data, memory=memory)


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
