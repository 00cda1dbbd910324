"""Tests of all pairs of systems of a dataset, over all resamples or a part of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons.inputs import chosen_metric
from pairsig.comparisons.pair_tables import P_COLUMNS, p_columns, with_pvalues
from pairsig.core import definitions, engine
from pairsig.core.compiled import check_few
from pairsig.core.engine import Estimator, Progress, Resampling, Seed, seed_of
from pairsig.core.influence import errors_and_correlations
from pairsig.core.statistics import Statistics, by_document
from pairsig.io.columns import NEAR_EXACT
from pairsig.io.errors import InputError
from pairsig.io.memory import Memory, shown
from pairsig.io.packages import pd
from pairsig.metrics import Metric
from pairsig.stats import kernels, paired
from pairsig.stats.exact.pairs import n_bytes as exact_bytes
from pairsig.stats.paired import Unit

WHOLE = "whole"
"""Label of a test set with all segments."""

_BYTES_PER_PAIR = 1024
"""Bytes per pair for the result and for the borders that resamples are compared with."""


def compare(
    data: Statistics,
    test: str = "randomization",
    *,
    metric: str | Metric | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 1_000_000,
    rng: Seed = 2012,
    unit: Unit = "segment",
    part: tuple[int, int] = (1, 1),
    threads: int | None = None,
    batch: int | None = None,
    estimator: Estimator = "near-exact",
    memory: Memory | int | str | None = None,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    test_set: str = WHOLE,
    or_draw: bool = False,
) -> pd.DataFrame:
    """Test every pair of systems of a dataset on the same draws (the paper's footnote 5): table `COMPARISONS`.

    Parameters
    ----------
    data
        Counts of all systems.
    metric
        A name or a `Metric`; it may be omitted if the statistics have only one.
    alternative
        "two-sided", or "observed": one-sided in the direction of the better system.
    part
        (k, m): only the k-th of m parts of the resamples. `merge` combines the parts.
    estimator
        Of randomization, see `randomization_test`.
    memory
        Memory that the process may take, in bytes or as "500M" or "4G". The default is what it takes already and half
        of what is free on the machine. It only changes time: see below.
    note
        Called with a sentence on the memory that is needed, before the tests begin.
    or_draw
        If there is no exact test for this metric and these systems, use the Monte Carlo test instead of raising an
        error. The column `test` shows which was used.

    Returns
    -------
    One row per pair, in the order of the systems. `system_a` is the better one (the first if the scores are equal). The
    p-value is in `pvalue_one_sided` if the alternative is "observed", otherwise in `pvalue`; the other is missing. For
    exact tests, `n_resamples` is 0, the relative error of p is about 1e-12, and p below 1e-300 is 0. Pairs for which an
    exact test is out of reach get the Monte Carlo test: see the column `test`, and `drawn_instead`.

    Notes
    -----
    N systems on n segments with k columns of i bytes take N·n·k·i of memory, beside the program's 200 MB and 130·N·n
    bytes while it reads a Parquet file. Metrics that are a `Ratio` take N·n·2·j more, for numerators and denominators
    of j bytes. In addition, exact tests of pass/fail items take 20·N² bytes and 80 MB, other exact tests 64 MB per
    thread, Monte Carlo tests what `engine.Work` says, and standard errors 8 bytes per system and unit; the latter two
    take some systems at a time if memory is short. The result takes about a kilobyte per pair.
    """
    memory = Memory.of(memory)
    chosen = chosen_metric(data, metric)
    chosen_test = definitions.find(test, method, alternative)
    resampling = Resampling(n_resamples, seed_of(rng), threads, batch, estimator=estimator)
    documents = data.documents_if(unit)
    _check(data, chosen_test, part, n_resamples)
    memory.require(data.copied_by(chosen), "the counts of this metric")
    counts = data.of(chosen)
    if documents is not None:
        memory.require(2 * 8 * counts.size, "the counts by document")
        counts = by_document(documents, counts)
    scorer = engine.Scorer(counts, chosen, data.systems, memory)
    if or_draw and chosen_test.exact and not kernels.applies(scorer, chosen_test, unit):
        chosen_test = chosen_test.drawn
    resampling = _within(memory, scorer, chosen_test, resampling, part, note)
    resamples = resampling.part(*part)
    pairs, gains = scorer.better_first()
    pvalue = np.full(len(pairs), np.nan)
    if chosen_test.exact:
        pvalue = kernels.pvalues(scorer, pairs, chosen_test, unit, threads=resampling.threads, progress=progress)
    drawn, drawn_test = np.isnan(pvalue), chosen_test.drawn
    work = replace(resampling, memory=memory.left) if chosen_test.exact else resampling
    counted = _counted(scorer, pairs, drawn, drawn_test, work, resamples, progress)
    pvalue[drawn] = 0.0  # `with_pvalues` computes it
    standard_error, correlation = errors_and_correlations(
        scorer.counts, chosen, pairs, threads=threads, n_bytes=memory.left
    )
    signature = paired.signature(chosen, drawn_test, unit, resampling.signature)
    if part[1] > 1:
        signature += f"|part:{part[0]}/{part[1]}"
    table = pd.DataFrame(
        {
            "dataset": data.dataset,
            "test_set": test_set,
            "derived": WHOLE,
            "domain": "",
            "number": 0,
            "metric": chosen.name,
            "test": np.where(drawn, drawn_test.name, chosen_test.name),
            **_systems(data, scorer, pairs),
            "gain": gains,
            "standard_error": standard_error,
            "correlation": correlation,
            "n_resamples": np.where(drawn, len(resamples), 0),
            "n_greater": counted.pop("n_greater"),
            "n_equal": counted.pop("n_equal"),
            "estimator": "",
            **counted,
            **p_columns(pvalue, chosen_test),
            "pvalue_low": pvalue,
            "pvalue_high": pvalue,
            "signature": np.where(drawn, signature, paired.signature(chosen, chosen_test, unit)),
        }
    )
    if drawn.any():
        columns = ["estimator", *P_COLUMNS]
        table.loc[drawn, columns] = with_pvalues(table[drawn])[columns]
    return table


def _check(data: Statistics, test: definitions.Test, part: tuple[int, int], n_resamples: int) -> None:
    """Raise an `InputError` if the test, the unit or the part does not suit a comparison of all pairs."""
    if test.directed:
        raise InputError(
            f"alternative={test.alternative!r} needs two systems in a fixed order; to compare all pairs, in which the "
            "better system comes first, expected two-sided or observed"
        )
    if len(part) != 2 or not all(isinstance(number, int) for number in part):
        raise InputError(f"the part is {part!r}, expected two whole numbers, as in (1, 4) for the first of four")
    k, m = part
    if not 1 <= k <= m:
        raise InputError(f"the part is {k}/{m}, expected one from 1/{m} to {m}/{m}")
    if test.exact and m > 1:
        raise InputError(f"the {test.name} test draws nothing that could be split into {m} parts, expected part 1/1")
    if m > n_resamples:
        raise InputError(f"{n_resamples} resamples cannot be split into {m} parts, expected at most {n_resamples}")
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
    check_few(math.comb(len(data.systems), 2))


def _counted(
    scorer: engine.Scorer,
    pairs: NDArray[np.intp],
    drawn: NDArray[np.bool_],
    test: definitions.Test,
    resampling: Resampling,
    resamples: range,
    progress: Progress | None,
) -> dict[str, NDArray[Any]]:
    """The columns with the counts of the Monte Carlo test, for the pairs that are `drawn`; 0 or NaN for the others."""
    counted: dict[str, NDArray[Any]] = {
        name: np.zeros(len(pairs), dtype=np.int64) for name in ("n_greater", "n_equal")
    } | {column.name: np.full(len(pairs), np.nan) for column in NEAR_EXACT[1:]}
    if drawn.any():
        for name, values in kernels.counted(scorer, pairs[drawn], test, resampling, resamples, progress).items():
            counted[name][drawn] = values
    return counted


def _systems(data: Statistics, scorer: engine.Scorer, pairs: NDArray[np.intp]) -> dict[str, Any]:
    """The columns about the two systems of each pair; system A is the first."""
    a, b = pairs.T
    names, groups, kinds = (np.array(labels) for labels in (data.systems, data.groups, data.kinds))
    return {
        "system_a": names[a],
        "system_b": names[b],
        "same_group": groups[a] == groups[b],
        "kind_a": kinds[a],
        "kind_b": kinds[b],
        "n_segments": data.counts.shape[1],
        "score_a": scorer.scores[a],
        "score_b": scorer.scores[b],
    }


def drawn_instead(table: pd.DataFrame) -> str:
    """A sentence on the pairs that got a Monte Carlo test instead of an exact one; "" if all pairs got the same."""
    exact = table["test"].isin(definitions.names(exact=True))
    if exact.all() or not exact.any():
        return ""
    n_drawn, n_resamples = int((~exact).sum()), int(table["n_resamples"].max())
    wanted, used = (table["test"][rows].iloc[0] for rows in (exact, ~exact))
    return (
        f"for {n_drawn:,} of {len(table):,} pairs the totals can take too many values for the {wanted} test, so they "
        f"were tested by {used} (b = {n_resamples:,}); the column test shows which"
    )


def _within(
    memory: Memory,
    scorer: engine.Scorer,
    test: definitions.Test,
    resampling: Resampling,
    part: tuple[int, int],
    note: Callable[[str], object] | None,
) -> Resampling:
    """Settings that fit into the memory; `note` gets a sentence on it."""
    n_systems = len(scorer.counts)
    table = _BYTES_PER_PAIR * n_systems * (n_systems - 1) // 2
    memory.require(table, f"the comparisons of {n_systems:,} systems")
    left = memory.left - table
    if test.exact:
        threads = resampling.threads or os.cpu_count() or 1
        while threads > 1 and exact_bytes(scorer, threads) > left:
            threads //= 2
        taken, how = exact_bytes(scorer, threads), "without drawing"
        memory.require(table + taken, f"the exact tests of {n_systems:,} systems")
        chosen = replace(resampling, threads=threads)
    else:
        chosen = replace(resampling, memory=left)
        work = engine.Work.of(scorer.product, test, chosen, len(resampling.part(*part)))
        taken, how = work.n_bytes, str(work)
    if note is not None:
        note(
            f"{n_systems:,} systems on {scorer.counts.shape[1]:,} units need {shown(table + taken)} of memory in "
            f"addition to the counts ({how}); {shown(left + table)} of {shown(memory.limit)} are left"
        )
    return chosen
