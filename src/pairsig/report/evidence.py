"""Content of a report beside p-values: the gain by domain, and the segments that contribute most to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons import runs as several_runs
from pairsig.comparisons.wording import label, shown_adjusted, shown_p
from pairsig.core.definitions import Test, find
from pairsig.core.influence import errors_and_correlations
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records
from pairsig.metrics import Metric
from pairsig.report import sentences
from pairsig.stats import intervals
from pairsig.stats.paired import Pair, Unit

Floats = NDArray[np.float64]

_TIED = 1e-10
"""Contributions below this, relative to the largest one, are numerically zero."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Comparison of two systems by one metric."""

    metric: str
    system_a: str
    system_b: str
    score_a: float
    score_b: float
    better: str  # name of the better system; "" if the scores are equal
    gain: float  # of the better system
    low: float  # the 95 % interval of the gain; nan if there is none
    high: float
    # For each test, its label, p as printed, and p adjusted for the number of systems ("" with a single comparison).
    tests: tuple[tuple[str, str, str], ...]
    test: Test | None = None  # the first test; None for systems with runs
    p: float  # of the first test
    decides: float  # the value that decides whether a system is called better: p adjusted, or a bound if it is 0
    parts: tuple[tuple[str, float], ...] = ()  # for methods with runs: shares of the variance of a gain, by source
    unit: Unit
    segments: pd.DataFrame  # see `by_segment`; a positive contribution (`carried`) favours the better system
    domains: pd.DataFrame  # the better system's gain by domain, see `_domains`; empty with fewer than two domains
    correlation: float = math.nan  # between the two systems' per-unit contributions to their scores
    runs: tuple[int, int] = (1, 1)
    sentence: str  # for a paper
    notes: tuple[str, ...]
    signatures: tuple[str, ...] = ()

    @property
    def ahead(self) -> str:
        """The better system, or the first if the scores are equal."""
        return self.better or self.system_a

    @property
    def behind(self) -> str:
        """The other system."""
        return self.system_b if self.ahead == self.system_a else self.system_a

    @property
    def signed(self) -> tuple[float, float, float]:
        """The score of system A minus that of system B, and its interval."""
        sign = 1 if self.score_a >= self.score_b or not self.better else -1
        return _turned(self.gain, self.low, self.high, sign)

    @property
    def adjusted(self) -> bool:
        """Whether p-values are adjusted for the number of systems."""
        return any(holm for *_, holm in self.tests)

    @property
    def domain_ends(self) -> tuple[float, float]:
        """Ends of an axis with the intervals of all domains and 0."""
        limits = self.domains[["gain", "low", "high"]].to_numpy(dtype=np.float64)
        return min(0.0, float(np.nanmin(limits))), max(0.0, float(np.nanmax(limits)))

    def contributing(self, most: int) -> pd.DataFrame:
        """The segments with the largest contributions, at most so many."""
        table = self.segments[self.segments["carried"] != 0]
        return table.sort_values("carried", key=lambda size: -size.abs(), kind="stable").head(most)

    def filled(self, *columns: str) -> list[str]:
        """Those columns of `segments` that are not empty."""
        return [name for name in columns if (self.segments[name] != "").any()]

    @property
    def digits(self) -> int:
        """Number of decimals of printed scores and gains."""
        return sentences.digits(self.gain, self.low, self.high)

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """Numbers of segments that favour the better system, neither, and the other system."""
        carried = self.segments["carried"]
        return int((carried > 0).sum()), int((carried == 0).sum()), int((carried < 0).sum())


def carried(counts: NDArray[Any], metric: Metric) -> Floats:
    """Contribution of each unit to the gain of the first of two systems over the second, (units,).

    It is half of the decrease of the gain if the two outputs were swapped on that unit alone, and exactly 0 if their
    counts are equal. For a mean, and for a ratio with equal denominators of both systems, it is the difference between
    the two on the unit, divided by the total, and the sum over units is the gain. For other metrics this holds to first
    order. The shape of the counts is (2, units, columns), see `Statistics.of`.
    """
    first, second = counts.astype(np.float64)
    sign = 1.0 if metric.higher_is_better else -1.0
    total_first, total_second = first.sum(axis=0), second.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = metric.score(total_first[None]) - metric.score(total_second[None])
        swapped = metric.score(total_first - first + second) - metric.score(total_second - second + first)
    contributions: Floats = sign * (gain - swapped) / 2
    contributions[~np.isfinite(contributions) | (first == second).all(axis=1)] = 0.0
    contributions[np.abs(contributions) <= _TIED * np.abs(contributions).max(initial=0.0)] = 0.0
    return contributions


def of_systems(
    statistics: Statistics, metric: Metric, table: pd.DataFrame | Sequence[Row], *, unit: Unit
) -> Iterator[Evidence]:
    """Evidence for every pair of systems, from rows of `compare` for this metric."""
    counts = statistics.of(metric)
    documents = statistics.documents_if(unit)
    rows_of: dict[tuple[str, str], list[Row]] = {}
    table = records(table)
    several = any(row["n_compared"] > 1 for row in table)
    for row, holm in zip(table, shown_adjusted(table), strict=True):
        if row["metric"] == metric.name:
            shown = row | {"holm": holm if several else ""}
            rows_of.setdefault((row["system_a"], row["system_b"]), []).append(shown)
    for names, rows in rows_of.items():
        first = sentences.as_gains(rows[0])
        places = [statistics.systems.index(name) for name in names]
        pair = Pair(metric, counts[places], documents)
        ahead = [1, 0] if first["better"] == names[1] else [0, 1]
        tested = next((row for row in rows if row["margin"] is None), None)
        if tested is None:
            raise InputError(f"found only the test against the margin for {metric.name}, expected another test as well")
        test = find(tested["test"], tested["method"], tested["alternative"])
        yield Evidence(
            metric=metric.name,
            system_a=names[0],
            system_b=names[1],
            score_a=first["score_a"],
            score_b=first["score_b"],
            better=first["better"],
            gain=first["gain"],
            low=first["ci_low"],
            high=first["ci_high"],
            tests=tuple(
                (label(row["test"], row["method"], row["alternative"]), shown_p(row), row["holm"]) for row in rows
            ),
            test=test,
            p=tested["pvalue"],
            decides=tested["pvalue_holm"],
            unit=unit,
            segments=by_segment(statistics, metric, counts[places[:1]], counts[places[1:]], ahead),
            domains=_domains(statistics, lambda rows, p=pair, order=ahead: _on_segments(p, rows, order)),
            correlation=float(errors_and_correlations(pair.units, metric, np.array([[0, 1]]))[1][0]),
            sentence=sentences.of_systems(rows).replace("\n", " "),
            notes=tuple(dict.fromkeys(chain.from_iterable(row["notes"] for row in rows))),
            signatures=tuple(row["signature"] for row in rows),
        )


def of_methods(
    statistics: Statistics, metric: Metric, table: pd.DataFrame | Sequence[Row], *, unit: Unit
) -> Iterator[Evidence]:
    """Evidence for systems with several runs, from a table of `compare_runs`."""
    counts = statistics.of(metric)
    table = pd.DataFrame(records(table))
    n_documents = len(set(statistics.documents)) if unit == "document" else 0
    paragraphs = sentences.of_methods(table, n_documents).split("\n")
    for row, sentence in zip(table.itertuples(index=False), paragraphs, strict=True):
        rows_a, rows_b = (
            [place for place, name in enumerate(statistics.methods) if name == wanted]
            for wanted in (row.system_a, row.system_b)
        )
        ahead = [1, 0] if row.better == row.system_b else [0, 1]
        runs = statistics.select(systems=[statistics.systems[place] for place in rows_a + rows_b])
        turned = ahead[0] == 0 if metric.higher_is_better else ahead[0] == 1

        def on(
            segments: NDArray[np.intp], runs: Statistics = runs, sign: int = 1 if turned else -1
        ) -> tuple[float, float, float]:
            (compared,) = several_runs.compare_runs(
                runs.select(segments=segments), metric=metric, unit=unit
            ).table.itertuples(index=False)
            return _turned(compared.difference, compared.ci_low, compared.ci_high, sign)

        gain = sentences.as_gains(row._asdict())
        yield Evidence(
            metric=metric.name,
            system_a=row.system_a,
            system_b=row.system_b,
            score_a=row.score_a,
            score_b=row.score_b,
            better=row.better,
            gain=gain["gain"],
            low=gain["ci_low"],
            high=gain["ci_high"],
            tests=(
                ("p (runs)", f"{row.pvalue:.3g}", f"{row.pvalue_holm:.3g}" if row.n_compared > 1 else ""),
                ("p (outputs)", f"{row.pvalue_outputs:.3g}", ""),
            ),
            p=row.pvalue,
            decides=row.pvalue_holm,
            parts=tuple(several_runs.variance_shares(row)),
            unit=unit,
            segments=by_segment(statistics, metric, counts[rows_a], counts[rows_b], ahead),
            domains=_domains(statistics, on),
            runs=(row.n_runs_a, row.n_runs_b),
            sentence=sentence,
            notes=(*several_runs.made_of(row), *row.notes),
        )


def by_segment(
    statistics: Statistics, metric: Metric, of_a: NDArray[Any], of_b: NDArray[Any], ahead: Sequence[int]
) -> pd.DataFrame:
    """One row per segment, from the counts of both methods' runs, (runs, segments, columns)."""
    contributions = np.mean([carried(np.stack([a, b]), metric) for a, b in product(of_a, of_b)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        score_a, score_b = (metric.score(runs.astype(np.float64)).mean(axis=0) for runs in (of_a, of_b))
    return pd.DataFrame(
        {
            "segment": statistics.segments,
            "document": statistics.documents,
            "domain": statistics.domains,
            "score_a": score_a,
            "score_b": score_b,
            "carried": -contributions if ahead[0] else contributions,
        }
    )


def _domains(statistics: Statistics, on: Any) -> pd.DataFrame:
    """The gain on the segments of each domain, the domain where it is largest first."""
    names = np.where(np.isin(statistics.domains, ("", "-")), "", statistics.domains)
    domains = list(dict.fromkeys(names.tolist()))
    rows = []
    for domain in domains if len(domains) > 1 else []:
        segments = np.flatnonzero(names == domain)
        try:
            gain, low, high = on(segments)
        except InputError:  # a single segment, or a score that is undefined on this domain
            continue
        rows.append({"domain": domain or "(none)", "n_segments": len(segments), "gain": gain, "low": low, "high": high})
    table = pd.DataFrame(rows, columns=["domain", "n_segments", "gain", "low", "high"])
    return table.sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _on_segments(pair: Pair, segments: NDArray[np.intp], ahead: Sequence[int]) -> tuple[float, float, float]:
    documents = None if pair.documents is None else pair.documents[segments]
    part = Pair(pair.metric, pair.segments[ahead][:, segments], documents)
    interval = intervals.of_pair(part)
    if not interval.passed_or_failed and interval.n_different < intervals.ENOUGH:
        return part.difference, math.nan, math.nan
    low, high = interval.low, interval.high
    return part.difference, *((low, high) if pair.metric.higher_is_better else (-high, -low))


def _turned(gain: float, low: float, high: float, sign: int) -> tuple[float, float, float]:
    return (gain, low, high) if sign > 0 else (-gain, -high, -low)
