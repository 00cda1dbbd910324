"""All pairs of systems of a dataset, in one go or a part of the resamples."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import definitions, engine, exact, paired, statistics
from pairsig.comparisons import with_p_values
from pairsig.contributions import likeness
from pairsig.engine import Progress, Resampling
from pairsig.errors import InputError
from pairsig.exact.pairs import n_bytes as exact_bytes
from pairsig.exact.pairs import p_values as exact_p_values
from pairsig.memory import Memory, shown
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.statistics import Statistics
from pairsig.tally import Tally

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
    or_draw: bool = False,
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
    or_draw
        Where an exact test cannot be had for this metric and these systems, do the test that draws instead of raising
        (`bootstrap` for `exact-bootstrap`, `randomization` for `exact`): the column `test` tells.

    Returns
    -------
    One row a pair, columns `COLUMNS`, in the order of the systems. `system_a` is the better one (the first where
    the scores are equal), so `gain` >= 0; scores and gains are in points. `standard_error` and `similarity` are first
    order (`contributions.likeness`). `p_low` and `p_high` bound the Monte Carlo error of `p_value` at 95 %
    (Clopper-Pearson).

    Notes
    -----
    Memory, beside the program's own 200 MB and some 200 MB more while a Parquet file is read (of 100,000 segments; this
    is not held against the memory given): N systems on n segments with k columns of i bytes take N·n·k·i (integers of a
    Parquet file as few bytes as hold them), and for metrics that are a `Ratio` N·n·2·j more, for numerators and
    denominators that fit in j bytes. Exact tests of pass/fail items take 20·N² and 80 MB beside these, other exact
    tests 64 MB a thread, tests that draw what `engine.Work` says, standard errors 8 bytes a system and unit: they do
    with little by taking some systems at a time. The result takes about a kilobyte a pair.

    Raises
    ------
    InputError
        For input that cannot be tested so, and where the memory does not suffice; nothing has been drawn then.
    """
    memory = Memory.of(memory)
    data = _as_statistics(statistics, memory)
    chosen = registry.metric(metric) if metric is not None else only_metric(data)
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
    if or_draw and chosen_test.exact and not _in_reach(judge, chosen_test, unit):
        chosen_test = chosen_test.drawn
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
    standard_error, similarity = likeness(judge.counts, chosen, pairs, threads=threads, n_bytes=memory.left)
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
            "test": chosen_test.name,
            "system_a": names[better],
            "system_b": names[other],
            "same_group": groups[better] == groups[other],
            "kind_a": kinds[better],
            "kind_b": kinds[other],
            "n_segments": data.counts.shape[1],
            "score_a": scores[better],
            "score_b": scores[other],
            "gain": np.abs(gains),
            "standard_error": standard_error,
            "similarity": similarity,
            "n_resamples": counted.n_resamples,
            "n_greater": counted.n_greater,
            "n_equal": counted.n_equal,
            "p_value": p_value,
            "p_low": p_value,
            "p_high": p_value,
            "signature": signature if m == 1 else f"{signature}|part:{k}/{m}",
        }
    )
    return table if chosen_test.exact else with_p_values(table)


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


def _in_reach(judge: engine.Judge, test: definitions.Test, unit: Unit) -> bool:
    try:
        exact.fractions(judge, test, unit)
    except InputError:
        return False
    return True


def _by_document(data: Statistics, counts: NDArray[Any]) -> NDArray[Any]:
    return statistics.by_document(data.documents, counts)


def _as_statistics(data: Statistics | pd.DataFrame | str | Path, memory: Memory) -> Statistics:
    if isinstance(data, Statistics):
        return data
    if isinstance(data, pd.DataFrame):
        return Statistics.from_table(data, dataset="")
    return statistics.read(data, memory=memory)


def only_metric(data: Statistics) -> Metric:
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
