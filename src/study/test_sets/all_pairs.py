"""The bootstrap of all pairs of systems of a dataset, over all resamples or a part of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pandas as pd

from pairsig.core import definitions
from pairsig.core.exceedances import Exceedances, pvalues
from pairsig.core.influence import errors_and_correlations
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics
from pairsig.core.totals import Resampling
from pairsig.io.columns import COMPARISONS
from pairsig.io.errors import InputError, listed
from pairsig.io.memory import free
from pairsig.metrics import Metric, registry
from pairsig.stats import paired, sampling
from study.test_sets import Derivation

_BYTES_PER_PAIR = 1024
"""Bytes per pair for the result and for the borders that resamples are compared with."""


def compare(
    data: Statistics,
    *,
    metric: str | Metric,
    method: str = "shifted",
    n_resamples: int = 1_000_000,
    rng: int = 2012,
    part: tuple[int, int] = (1, 1),
    threads: int | None = None,
    made: Derivation | None = None,
) -> pd.DataFrame:
    """Bootstrap every pair of systems of a dataset on the same draws (the paper's footnote 5): table `COMPARISONS`.

    Parameters
    ----------
    method
        By default the paper's. The test is one-sided in the direction of the better system, as the paper's.
    part
        (k, m): only the k-th of m parts of the resamples. `merge` combines the parts.
    made
        How the test set was made from another one.

    Returns
    -------
    One row per pair, in the order of the systems. `system_a` is the better one (the first if the scores are equal).
    """
    chosen, test = registry.metric(metric), definitions.find("bootstrap", method, "observed")
    k, m = part
    if not 1 <= k <= m <= n_resamples:
        raise InputError(
            f"found part {k}/{m} of {n_resamples} resamples, expected one from 1/{m} to {m}/{m}, and a resample in each"
        )
    if len(data.systems) < 2:
        first = (
            f"; left out: {len(data.omissions)}, the first for {data.omissions[0]['reason']}" if data.omissions else ""
        )
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two{first}")
    made = made or Derivation("whole", len(data.segments))
    scorer = Scorer(data.of(chosen), chosen, data.systems)
    pairs, gains = scorer.better_first()
    resampling = Resampling(n_resamples, rng, threads, free() // 2 - _BYTES_PER_PAIR * len(pairs)).part(k, m)
    counts = sampling.exceedances(scorer, pairs, test, resampling)
    standard_error, correlation = errors_and_correlations(scorer.counts, chosen, pairs, threads=threads)
    signature = paired.signature(chosen, test, "segment", resampling.signature)
    a, b = pairs.T
    names, groups, kinds = (np.array(labels) for labels in (data.systems, data.groups, data.kinds))
    cells = {
        "dataset": data.dataset,
        "test_set": made.label,
        "derived": made.derived,
        "domain": made.domain,
        "number": made.number,
        "metric": chosen.name,
        "test": test.name,
        "system_a": names[a],
        "system_b": names[b],
        "same_group": groups[a] == groups[b],
        "kind_a": kinds[a],
        "kind_b": kinds[b],
        "n_segments": data.counts.shape[1],
        "score_a": scorer.scores[a],
        "score_b": scorer.scores[b],
        "gain": gains,
        "standard_error": standard_error,
        "correlation": correlation,
        "n_resamples": counts.n_resamples,
        "n_greater": counts.n_greater,
        "n_equal": counts.n_equal,
        "signature": signature + (f"|part:{k}/{m}" if m > 1 else ""),
    }
    return _with_pvalues(pd.DataFrame({name: cells.get(name, np.nan) for name in COMPARISONS.names}))


_SUMMED = ["n_resamples", "n_greater", "n_equal"]
_SAME = [name for name in COMPARISONS.names if not name.startswith(("pvalue", "signature")) and name not in _SUMMED]
"""Columns of parts that are added up, and those that must be the same in all; the others follow."""


def merge(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Merge comparisons over all parts of the resamples, in any order, into the table of a single run.

    An `InputError` is raised if they are not all the parts of one run, once each, with the same pairs.
    """
    tables = [part.reset_index(drop=True) for part in parts]
    signatures = chain.from_iterable(table["signature"].unique() for table in tables)
    split = [str(signature).partition("|part:") for signature in signatures]
    runs, numbers = {run for run, _, _ in split}, [number for _, _, number in split]
    if len(runs) != 1 or sorted(numbers) != sorted(f"{k}/{len(tables)}" for k in range(1, len(tables) + 1)):
        raise InputError(
            f"found {len(tables)} tables to merge, with the parts {listed(numbers)} of {len(runs)} runs, expected all "
            "parts of one run, each of them once"
        )
    merged, *others = tables
    for table in others:
        if not table[_SAME].equals(merged[_SAME]):
            raise InputError("the tables to merge compare different pairs or test sets, expected the same in all")
        merged[_SUMMED] += table[_SUMMED]
    return _with_pvalues(merged.assign(signature=runs.pop()))


def _with_pvalues(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the p-values, and the bounds of their Monte Carlo error, that follow from its counts."""
    (method,) = re.findall(r"\|method:([^|]+)", str(table["signature"].iloc[0]))
    greater, equal = (table[column].to_numpy(dtype=np.int64) for column in ("n_greater", "n_equal"))
    none = np.full(len(table), np.nan)
    counts = Exceedances(int(table["n_resamples"].iloc[0]), greater, equal, none, none, none)
    test = definitions.find("bootstrap", method, "observed")
    p, low, high = pvalues(counts, table["gain"].to_numpy(), test)
    return table.assign(pvalue_one_sided=p, pvalue_low=low, pvalue_high=high)
