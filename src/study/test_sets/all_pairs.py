"""The bootstrap of all pairs of systems of a dataset, over all resamples or a part of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

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

WHOLE = "whole"
"""Label of a test set with all segments."""

_BYTES_PER_PAIR = 1024
"""Bytes per pair for the result and for the borders that resamples are compared with."""


def compare(
    data: Statistics,
    *,
    metric: str | Metric,
    method: str = "shifted",
    alternative: str = "observed",
    n_resamples: int = 1_000_000,
    rng: int = 2012,
    part: tuple[int, int] = (1, 1),
    threads: int | None = None,
    test_set: str = WHOLE,
) -> pd.DataFrame:
    """Bootstrap every pair of systems of a dataset on the same draws (the paper's footnote 5): table `COMPARISONS`.

    Parameters
    ----------
    method, alternative
        By default the paper's test, which is one-sided in the direction of the better system.
    part
        (k, m): only the k-th of m parts of the resamples. `merge` combines the parts.

    Returns
    -------
    One row per pair, in the order of the systems. `system_a` is the better one (the first if the scores are equal). The
    p-value is in `pvalue_one_sided` if the alternative is "observed", otherwise in `pvalue`; the other is missing.
    """
    chosen, test = registry.metric(metric), definitions.find("bootstrap", method, alternative)
    k, m = part
    if not 1 <= k <= m <= n_resamples:
        raise InputError(
            f"found part {k}/{m} of {n_resamples} resamples, expected one from 1/{m} to {m}/{m}, and a resample in each"
        )
    if len(data.systems) < 2:
        raise InputError(f"dataset {data.dataset or '(arrays)'} has one system, expected at least two")
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
        "test_set": test_set,
        "derived": WHOLE,
        "domain": "",
        "number": 0,
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

_PART = re.compile(r"(.*\|resamples:([0-9]{1,18})\|.*)\|part:([0-9]{1,9})/([0-9]{1,9})")
"""The signature of a part: that of the run, its number of resamples, and k and m of part k of m."""


def merge(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Merge comparisons over parts of the resamples, in any order, into the table of a single run.

    An `InputError` is raised if they are not all the parts of one run, once each, with the same pairs.
    """
    given = [part.reset_index(drop=True) for part in parts]
    signatures = [str(signature) for table in given for signature in table["signature"].unique()]
    matches = [match for signature in signatures if (match := _PART.fullmatch(signature))]
    if not len(given) == len(signatures) == len(matches) > 0:
        raise InputError(
            f"found {len(given)} tables to merge with the signatures {listed(signatures)}, expected one part of a run "
            "in each"
        )
    runs = dict.fromkeys(f"{match[1]} in {match[4]} parts" for match in matches)
    numbers, m = sorted(int(match[3]) for match in matches), int(matches[0][4])
    if len(runs) > 1:
        raise InputError(f"the tables to merge are not parts of one run: {'; '.join(runs)}")
    if numbers != list(range(1, m + 1)):
        raise InputError(f"found the parts {listed(map(str, numbers))} to merge, expected 1 to {m}, each of them once")
    merged, *others = given
    for table in others:
        if not table[_SAME].equals(merged[_SAME]):
            raise InputError("the tables to merge compare different pairs or test sets, expected the same in all")
        merged[_SUMMED] += table[_SUMMED]
    if (merged["n_resamples"] != int(matches[0][2])).any():
        raise InputError(f"found {merged['n_resamples'].iloc[0]} resamples in all parts, expected {matches[0][2]}")
    return _with_pvalues(merged.assign(signature=matches[0][1]))


def _with_pvalues(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the p-values, and the bounds of their Monte Carlo error, that follow from its counts.

    The column of p-values for the test's number of sides contains them, and the other one nothing.
    """
    method, alternative = re.findall(r"\|(?:method|alternative):([^|]+)", str(table["signature"].iloc[0]))
    test = definitions.find("bootstrap", method, alternative)
    greater, equal = (table[column].to_numpy(dtype=np.int64) for column in ("n_greater", "n_equal"))
    none = np.full(len(table), np.nan)
    counts = Exceedances(int(table["n_resamples"].iloc[0]), greater, equal, none, none, none)
    p, low, high = pvalues(counts, table["gain"].to_numpy(), test)
    two_sided, one_sided = (p, none) if test.two_sided else (none, p)
    return table.assign(pvalue=two_sided, pvalue_one_sided=one_sided, pvalue_low=low, pvalue_high=high)
