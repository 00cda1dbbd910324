"""The 2012 paper's claims on later data: translation from 2008 to 2024, and evaluations of language models.

Everything follows from the influence values of each system on each test set. With u the influence values of two
systems in points, dᵢ = uᵢᴬ − uᵢᴮ minus their mean, and n segments, the standard error of the gain is
√(n/(n − 1) Σ dᵢ²), and p is that of Student's t with n − 1 degrees of freedom, two-sided. The gain at which p,
one-sided, is 0.05 is 1.645 standard errors; the critical difference of a test set is its median over the pairs.

Intervals are those of `study.analysis.over_systems`, over groups of systems (a team, or a model in several modes) and
over test sets or domains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from pairsig.core.influence import influence_values
from pairsig.core.statistics import Statistics
from pairsig.io.columns import Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import registry
from study.analysis.first_order import Scored, squared_differences
from study.analysis.over_systems import (
    Codes,
    Estimate,
    Floats,
    cells,
    drawn,
    exp,
    joined,
    mean_of_independent,
    n_members,
    share,
    slope,
)
from study.analysis.pairs import Z_05, quantile_interval
from study.tables.columns import numeric, with_interval
from study.test_sets import doubling

N_SPLITS = 20
"""Random splits of each test set into halves."""
PAPER = 2034
"""Segments of the paper's translation test set."""
TWO_SIDED = (0.04, 0.08)
"""The range of two-sided p in which replication is counted."""
LEAST = 100
"""Segments that a domain of a translation test set must have."""

ERAS = {"WMT 2008–2014": (2008, 2014), "WMT 2021–2024": (2021, 2024)}
MODELS = {"mmlu-pro": "MMLU-Pro", "livebench": "LiveBench", "bfcl": "BFCL", "llmbar": "LLMBar"}
"""Benchmarks of language models with categories."""

YEARS = Table(
    "years",
    (
        Column("dataset", str, "translation test set"),
        count("year", "year of the shared task"),
        Column("language_pair", str, "source and target language"),
        count("n_systems", "systems with different outputs", "systems", "systems"),
        count("n_segments", "segments of the test set", "segments", "segments"),
        *with_interval("critical_difference",
            f"gain in BLEU at which the median pair reaches p = 0.05, scaled to {PAPER:,} segments", "two decimals",
            "points", over=" over systems"),
        numeric("spread", "standard deviation of BLEU's influence values per segment, median system", "points"),
        numeric("correlation", "correlation of two systems' influence values, median pair"),
        numeric("score", "BLEU of the median system", "points"),
    ),
    key=("dataset",),
    caption="Critical difference of every WMT test set at the size of the paper's, and its two parts",
)  # fmt: skip

TODAY = Table(
    "today",
    (
        Column("claim", str, "name of the claim"),
        Column("data", str, "test sets, or a benchmark"),
        Column("measured", str, "what is measured"),
        count("n", "pairs of systems behind the number; one pair may count on several test sets", "pairs", "pairs"),
        count("n_test_sets", "test sets or categories", "test sets", "test sets"),
        *with_interval("value", "the number measured", over=" over systems and test sets"),
        numeric("expected", "what is expected if the second test set comes from the same source", missing=True),
    ),
    key=("claim", "data", "measured"),
    caption="The 2012 paper's claims on translation from 2008 to 2024 and on evaluations of language models",
)  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """All pairs of different systems on one or several test sets; arrays have one row per pair."""

    groups: Codes  # (pairs, 2): numbers of the systems' groups, −1 instead of the same one again
    gain: Floats  # score of the first minus that of the second, in points
    error: Floats  # standard error of the gain
    correlation: Floats
    n: Codes  # segments
    sets: Codes  # (pairs, 2): number of the test set, and −1

    def needed(self, size: int) -> Floats:
        """Gain at which each pair reaches p = 0.05, one-sided, on so many segments."""
        scaled: Floats = Z_05 * self.error * np.sqrt(self.n / size)
        return scaled


def _pvalue(gain: Floats, error: Floats, n: int) -> Floats:
    from scipy.special import stdtr

    pvalue: Floats = np.minimum(1.0, 2 * stdtr(n - 1, -np.abs(gain) / error))
    return pvalue


def year_of(data: Statistics) -> int | None:
    """Year of a WMT test set, from a name such as `wmt08-de-en`."""
    match = re.fullmatch(r"wmt(\d\d)-[a-z]{2}-[a-z]{2}", data.dataset)
    return 2000 + int(match[1]) if match else None


class _Measured:
    """The systems of a dataset: counts without repeated outputs, and the numbers of their groups."""

    def __init__(self, data: Statistics) -> None:
        self.name, self.domains = data.dataset, np.asarray(data.domains)
        self.metric = registry.metric("bleu" if "match_1" in data.columns else "accuracy")
        counts = data.of(self.metric)
        _, first = np.unique(counts.reshape(len(counts), -1), axis=0, return_index=True)
        chosen = np.sort(first)
        self.counts = np.asarray(counts[chosen], dtype=np.float64)
        _, group = np.unique(np.asarray(data.groups)[chosen], return_inverse=True)
        self.pair = np.stack(np.triu_indices(len(chosen), 1), axis=1)
        self.n_groups, self.groups = int(group.max()) + 1, _each_once(group[self.pair])

    def __len__(self) -> int:
        return int(self.counts.shape[1])

    def pairs(self, segments: Any = slice(None)) -> Pairs:
        """All pairs on some segments."""
        scored = Scored.of(self.counts[:, segments], self.metric)
        products = scored.products * (scored.n / (scored.n - 1))
        a, b = self.pair.T
        variance = products.diagonal()
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = products[a, b] / np.sqrt(variance[a] * variance[b])
        error = np.sqrt(squared_differences(products, self.pair))
        gain, n = scored.quality[a] - scored.quality[b], np.full(len(a), scored.n)
        return Pairs(self.groups, gain, error, correlation, n, np.tile(np.array([0, -1]), (len(a), 1)))


def _each_once(codes: Codes) -> Codes:
    """The two members of each row, −1 instead of the same one again."""
    repeated = np.stack([np.zeros(len(codes), dtype=bool), codes[:, 0] == codes[:, 1]], axis=1)
    return np.where(repeated, -1, codes)


def _after(start: int, codes: Codes) -> Codes:
    """Numbers from `start`; −1 stays."""
    return np.where(codes < 0, -1, codes + start)


def _together(chosen: Sequence[_Measured]) -> Pairs:
    """Pairs of several test sets, each with groups of its own."""
    parts, start = [], 0
    for number, item in enumerate(chosen):
        part = item.pairs()
        parts.append(replace(part, groups=_after(start, part.groups), sets=_after(number, part.sets)))
        start += item.n_groups
    return joined(parts)


def _median(values: Floats, groups: Codes) -> Estimate:
    """The median over the pairs of one test set, with its interval over systems."""
    return exp(quantile_interval(np.log(values), groups))


def years(data: Iterable[Statistics]) -> pd.DataFrame:
    """Critical difference of every WMT test set at the size of the paper's, and what it consists of."""
    rows = []
    for statistics in data:
        year = year_of(statistics)
        if year is None:
            continue
        measured = _Measured(statistics)
        pairs, n = measured.pairs(), len(measured)
        u = influence_values(measured.counts, measured.metric)
        u -= u.mean(axis=1, keepdims=True)
        row = {
            "dataset": measured.name, "year": year, "language_pair": measured.name[6:],
            "n_systems": len(measured.counts), "n_segments": n, "spread": float(np.median(u.std(axis=1, ddof=1))) * n,
            "correlation": float(np.nanmedian(pairs.correlation)),
            "score": float(np.median(measured.metric.score(measured.counts.sum(axis=1)))),
        }  # fmt: skip
        rows.append(row | cells("critical_difference", _median(pairs.needed(PAPER), pairs.groups)))
    rows.sort(key=lambda row: (row["year"], row["dataset"]))
    return frame(YEARS, rows)


def today(data: Iterable[Statistics]) -> pd.DataFrame:
    """Each claim of the paper on later data, with its interval over systems and test sets.

    Parameters
    ----------
    data
        Statistics of WMT test sets (by BLEU) and of the benchmarks in `MODELS` (by accuracy).
    """
    rows: list[dict[str, Any]] = []
    test_sets = {statistics.dataset: statistics for statistics in data}
    translation = {name: _Measured(item) for name, item in test_sets.items() if year_of(item)}
    for era, (first, last) in ERAS.items():
        chosen = [item for name, item in translation.items() if first <= 2000 + int(name[3:5]) <= last]
        rows += _of_era(era, chosen)
    with_domains = [item for item in translation.values() if item.name.startswith(("wmt22", "wmt24"))]
    rows += _replication("WMT 2022 and 2024", with_domains, LEAST)
    for name, noun in MODELS.items():
        if name in test_sets:
            item = _Measured(test_sets[name])
            rows += [*_similar(noun, [item]), *_replication(noun, [item], 1), *_items(noun, item)]
    return frame(TODAY, rows)


def _row(
    claim: str, data: str, measured: str, n: int, n_sets: int, value: Estimate, expected: float = np.nan
) -> dict[str, Any]:
    row = {"claim": claim, "data": data, "measured": measured, "n": n, "n_test_sets": n_sets, "expected": expected}
    return row | cells("value", value)


def _of_era(era: str, chosen: Sequence[_Measured]) -> list[dict[str, Any]]:
    """The half-point rule, the critical difference, and how it depends on correlation and size."""
    if not chosen:
        return []
    pairs = _together(chosen)
    gain, scaled = np.abs(pairs.gain), pairs.error * np.sqrt(pairs.n / PAPER)
    rows = []
    for low, high, which in ((0.5, np.inf, "gains above 0.5 BLEU"), (0.5, 1.0, "gains from 0.5 to 1 BLEU")):
        inside = (gain > low) & (gain <= high)
        for size, error in (("", pairs.error), (f" at {PAPER:,} segments", scaled)):
            missed = _pvalue(gain[inside], error[inside], PAPER) >= 0.05
            value = share(missed, pairs.groups[inside], drawn(pairs.sets[inside]))
            measured = f"share of {which} with two-sided p of 0.05 or more{size}"
            rows.append(_row("half a point", era, measured, int(inside.sum()), len(chosen), value))
    medians = [float(np.median(item.pairs().needed(PAPER))) for item in chosen]
    measured = f"critical difference at {PAPER:,} segments, mean over test sets"
    value = mean_of_independent(medians)
    rows.append(_row("critical difference", era, measured, len(gain), len(chosen), value))
    return rows + _similar(era, chosen) + _sizes(era, chosen)


def _similar(name: str, chosen: Sequence[_Measured]) -> list[dict[str, Any]]:
    """Exponent of 1 − correlation in the standard error, with a level of its own for each test set."""
    pairs = _together(chosen)
    usable = (pairs.error > 0) & (pairs.correlation < 1 - 1e-9)
    x, y = np.log(1 - pairs.correlation[usable]), np.log(pairs.error[usable])
    sets = pairs.sets[usable]
    value = slope(y, x, sets[:, 0], sets if len(chosen) > 1 else pairs.groups[usable])
    measured = "exponent of 1 − correlation in the standard error"
    return [_row("similar systems", name, measured, len(x), len(chosen), value)]


def _sizes(name: str, chosen: Sequence[_Measured]) -> list[dict[str, Any]]:
    """Exponent of the number of segments in the median standard error, over the first 100, 200, 400 … segments."""
    slopes = []
    for item in chosen:
        sizes = np.array([*doubling(100, len(item)), len(item)])
        medians = [float(np.median(item.pairs(slice(0, int(size))).error)) for size in sizes]
        slopes.append(float(np.polyfit(np.log(sizes), np.log(medians), 1)[0]))
    measured = "exponent of the number of segments, first 100, 200, 400 … segments, mean over test sets"
    n_pairs = sum(len(item.pair) for item in chosen)
    return [_row("size", name, measured, n_pairs, len(chosen), mean_of_independent(slopes))]


def _replication(name: str, chosen: Sequence[_Measured], least: int) -> list[dict[str, Any]]:
    """How often the winner on a part of a test set wins again on another: another domain, or the other random half."""
    from scipy.special import ndtr

    records: dict[str, list[tuple[Any, ...]]] = {"the other random half": [], "another domain or category": []}
    start_group = start_set = 0
    for item in chosen:
        sized = zip(*np.unique(item.domains, return_counts=True), strict=True)
        named = [domain for domain, size in sized if size >= least and domain not in ("", "-")]
        parts = [np.flatnonzero(item.domains == domain) for domain in named]
        rng, half = np.random.default_rng([2012, *item.name.encode()]), len(item) // 2
        cuts = [rng.permutation(len(item)) for _ in range(0 if len(parts) < 2 else N_SPLITS)]
        compared = [("the other random half", cut[:half], cut[half:], 0, 0) for cut in cuts]
        for i, j in permutations(range(len(parts)), 2):
            compared.append(("another domain or category", parts[i], parts[j], i, j))
        for kind, first, second, a, b in compared:
            on, against = item.pairs(np.sort(first)), item.pairs(np.sort(second))
            usable = (on.error > 0) & (on.gain != 0)
            with np.errstate(invalid="ignore", divide="ignore"):
                z = np.abs(on.gain) / (on.error * np.sqrt(1 + on.n / against.n))
            again = np.where(against.gain == 0, 0.5, np.sign(on.gain) == np.sign(against.gain))
            pvalue = _pvalue(on.gain[usable], on.error[usable], len(first))
            groups = _after(start_group, on.groups[usable])
            sets = _each_once(np.tile(np.array([start_set + a, start_set + b]), (len(groups), 1)))
            records[kind].append((pvalue, again[usable], ndtr(z[usable]), groups, sets))
        start_group += item.n_groups
        start_set += max(1, len(parts))
    rows = []
    for kind, record in records.items():
        if not record:
            continue
        pvalue, again, expected, groups, sets = (np.concatenate(part) for part in zip(*record, strict=True))
        low, high = TWO_SIDED
        inside = (pvalue > low) & (pvalue <= high)
        value = share(again[inside], groups[inside], drawn(sets[inside]))
        n, n_sets = int(inside.sum()), n_members(sets[inside])
        measured = f"the winner wins again on {kind}, two-sided p from {low:g} to {high:g}"
        rows.append(_row("wins again", name, measured, n, n_sets, value, float(expected[inside].mean())))
    return rows


def _items(name: str, item: _Measured) -> list[dict[str, Any]]:
    """The critical difference of a benchmark with 500 items, and with all that it has."""
    pairs, rows = item.pairs(), []
    for size in (500, len(item)):
        value, measured = _median(pairs.needed(size), pairs.groups), f"critical difference with {size:,} items"
        rows.append(_row("critical difference", name, measured, len(pairs.gain), 1, value))
    return rows
