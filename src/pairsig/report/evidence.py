"""Content of a report beside p-values: the null distribution of the gain, the gain by domain, influential segments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons import methods
from pairsig.comparisons.baseline import decisive, label, shown_adjusted, shown_p
from pairsig.core import engine
from pairsig.core.definitions import Test, find
from pairsig.core.engine import Resampling
from pairsig.core.influence import errors_and_correlations
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records
from pairsig.metrics import Metric
from pairsig.metrics.exact_arithmetic import steps_by_column
from pairsig.report import sentences
from pairsig.stats import exact, intervals
from pairsig.stats.exact import Ratios
from pairsig.stats.exact.distributions import LARGEST, TooLargeError, mass
from pairsig.stats.paired import Pair, Unit

Floats = NDArray[np.float64]
Borders = tuple[tuple[int, int], ...]

BINS = 60
"""Approximate number of bins in the figure of a null distribution."""

REACH = 4.5
"""Standard deviations on each side of that figure."""

MOST_DRAWN = 100_000
"""Maximum number of shuffles or resamples for that figure."""

_TIED = 1e-10
"""Contributions below this, relative to the largest one, are numerically zero."""


@dataclass(frozen=True)
class Null:
    """Null distribution of the better system's gain, as if neither system were better."""

    edges: Floats  # of the bins, in points
    mass: Floats  # probability of each bin
    border: float
    borders: Borders  # the p-value counts gains with sign · gain > multiple · border for any (sign, multiple)
    n_drawn: int  # shuffles or resamples; 0 if the distribution is exact
    # Whether outputs are swapped. Otherwise segments (or documents) are drawn with replacement, and the observed gain
    # is subtracted.
    swaps: bool

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Mask of the bins that the p-value counts."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        sides = [sign * middle > multiple * self.border for sign, multiple in self.borders]
        counted: NDArray[np.bool_] = np.any(sides, axis=0)
        return counted

    @property
    def bars(self) -> list[tuple[float, float, float, bool]]:
        """Left, right, height as a share of the highest, and whether the p-value counts it, of each bin."""
        density = self.mass / np.diff(self.edges)
        heights = density / (float(density.max()) or 1.0)
        columns = (self.edges[:-1], self.edges[1:], heights, self.counted)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def reach(self, gain: float) -> float:
        """Half of the width of an axis with all bins and the gain."""
        return max(abs(float(self.edges[0])), float(self.edges[-1]), 1.06 * gain)

    def ticks(self, gain: float, n_ticks: int) -> list[float]:
        """About so many round numbers on that axis."""
        least_step = 2 * self.reach(gain) / n_ticks
        power = 10.0 ** math.floor(math.log10(least_step))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= least_step)
        most = math.floor(self.reach(gain) / step)
        return [place * step for place in range(-most, most + 1)]


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
    test: Test | None = None  # the first test, to which the null distribution belongs; None for methods with runs
    p: float  # of the first test
    decides: float  # the value that decides whether a system is called better: p adjusted, or a bound if it is 0
    null: Null | None = None
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

    @property
    def enough(self) -> int:
        """Smallest number of segments whose contributions add up to the gain, starting from the largest."""
        most = np.sort(self.segments["carried"].to_numpy())[::-1]
        reached = np.flatnonzero(np.cumsum(most) >= self.gain * (1 - _TIED))
        return int(reached[0]) + 1 if len(reached) and self.better else 0


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
    statistics: Statistics, metric: Metric, table: pd.DataFrame | Sequence[Row], *, unit: Unit, resampling: Resampling
) -> Iterator[Evidence]:
    """Evidence for every pair of systems, from a table of `compare_with_one` for this metric."""
    counts = statistics.of(metric)
    documents = statistics.documents_if(unit)
    rows_of: dict[tuple[str, str], list[Row]] = {}
    table = records(table)
    several = any(row["n_compared"] > 1 for row in table)
    for row, holm, decides in zip(table, shown_adjusted(table), decisive(table), strict=True):
        if row["metric"] == metric.name:
            shown = row | {"holm": holm if several else "", "pvalue_holm": decides}
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
            null=null(pair, test, resampling),
            unit=unit,
            segments=by_segment(statistics, metric, counts[places[:1]], counts[places[1:]], ahead),
            domains=_domains(statistics, lambda rows, p=pair, order=ahead: _on_segments(p, rows, order)),
            correlation=float(errors_and_correlations(pair.units, metric, np.array([[0, 1]]))[1][0]),
            sentence=sentences.of_systems(rows).replace("\n", " "),
            notes=tuple(dict.fromkeys(chain.from_iterable(row["notes"] for row in rows))),
            signatures=tuple(row["signature"] for row in rows),
        )


def of_methods(
    statistics: Statistics, metric: Metric, table: pd.DataFrame, *, unit: Unit, training_sd: float | None
) -> Iterator[Evidence]:
    """Evidence for methods with several runs, from a table of `compare_methods`."""
    counts = statistics.of(metric)
    n_documents = len(set(statistics.documents)) if unit == "document" else 0
    several = max(table.get("n_compared", [len(table)])) > 1
    paragraphs = sentences.of_methods(table, n_documents).split("\n")
    for row, sentence in zip(table.itertuples(index=False), paragraphs, strict=True):
        rows_a, rows_b = (
            [place for place, method in enumerate(statistics.methods) if method == name]
            for name in (row.method_a, row.method_b)
        )
        ahead = [1, 0] if row.better == row.method_b else [0, 1]
        runs = statistics.select(systems=[statistics.systems[place] for place in rows_a + rows_b])

        def on(
            segments: NDArray[np.intp], runs: Statistics = runs, row: Any = row, sign: int = 1 - 2 * ahead[0]
        ) -> tuple[float, float, float]:
            (compared,) = methods.compare_methods(
                runs.select(segments=segments), metric=metric, design=row.design, training_sd=training_sd, unit=unit
            ).table.itertuples(index=False)
            return _turned(
                compared.gain, compared.ci_low, compared.ci_high, sign * (-1 if compared.better == row.method_b else 1)
            )

        yield Evidence(
            metric=metric.name,
            system_a=row.method_a,
            system_b=row.method_b,
            score_a=row.score_a,
            score_b=row.score_b,
            better=row.better,
            gain=row.gain,
            low=row.ci_low,
            high=row.ci_high,
            tests=tuple(
                (f"p ({of})", f"{p:.3g}", f"{row.pvalue_holm:.3g}" if of == "method" and several else "")
                for of in ("method", "outputs", "bootstrap")
                if not math.isnan(p := getattr(row, f"pvalue_{of}"))
            ),
            p=row.pvalue_method,
            decides=row.pvalue_holm,
            parts=tuple(methods.variance_shares(row)),
            unit=unit,
            segments=by_segment(statistics, metric, counts[rows_a], counts[rows_b], ahead),
            domains=_domains(statistics, on),
            runs=(row.n_runs_a, row.n_runs_b),
            sentence=sentence,
            notes=(*methods.made_of(row), *filter(None, row.doubt.split("; "))),
        )


def by_segment(
    statistics: Statistics, metric: Metric, of_a: NDArray[Any], of_b: NDArray[Any], ahead: Sequence[int]
) -> pd.DataFrame:
    """One row per segment, from the counts of both methods' runs, (runs, segments, columns)."""
    contributions = np.mean([carried(np.stack([a, b]), metric) for a, b in product(of_a, of_b)], axis=0)
    texts = zip(*(statistics.texts.get(name, ("", "")) for name in statistics.segments.tolist()), strict=True)
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
        | dict(zip(("input", "target"), texts, strict=True))
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
    interval = intervals.signed(part)
    interval = interval if pair.metric.higher_is_better else interval.turned
    if not interval.passed_or_failed and interval.n_different < intervals.ENOUGH:
        return part.difference, math.nan, math.nan
    return part.difference, interval.low, interval.high


def _turned(gain: float, low: float, high: float, sign: int) -> tuple[float, float, float]:
    return (gain, low, high) if sign > 0 else (-gain, -high, -low)


def null(pair: Pair, test: Test, resampling: Resampling) -> Null | None:
    """The null distribution with which a test compares the gain; None if it compares none or no system is better."""
    if pair.better is None or not test.favoured or test.statistic:
        return None
    (order,) = pair.order.tolist()
    units = pair.units[order]
    steps = carried(units, pair.metric)
    spread = float(np.sqrt(np.square(steps).sum()))
    if spread == 0:
        return None
    gain = abs(pair.difference)
    resampling = replace(resampling, n_resamples=min(resampling.n_resamples, MOST_DRAWN))
    borders = test.null_borders(pair.favours(test))
    if test.draw == "resample":
        gains = _resampled(pair, order, resampling)
        return _counted(gains, gain, spread, borders, swaps=False)
    highest = _highest(units, steps, pair.metric)
    try:
        return _exact(pair, spread, highest, borders)
    except (InputError, TooLargeError):
        return _counted(_shuffled(pair, order, resampling), gain, spread, borders, swaps=True)


def _highest(units: NDArray[Any], steps: Floats, metric: Metric) -> float:
    """The gain if every unit that favours the second system is swapped: the largest one for a linear metric."""
    best = np.where((steps >= 0)[None, :, None], units, units[::-1]).astype(np.float64).sum(axis=1)
    first, second = (float(score) for score in metric.score(best))
    return first - second if metric.higher_is_better else second - first


def _edges(start: float, reach: float, width: float) -> Floats:
    """Edges from 0 upwards with distance `width`; one of them is `start`, and 0 is included only if it is an edge."""
    below = np.arange(math.floor(start / width + 1e-9), 0, -1)
    above = np.arange(1, max(1, math.ceil((reach - start) / width)) + 1) if reach > start else np.empty(0)
    edges = start + width * np.concatenate([-below, [0.0], above])
    edges[np.abs(edges) < 1e-6 * width] = 0.0
    return np.asarray(edges[(edges <= reach + width) & (edges >= 0)])


def _mirrored(edges: Floats) -> Floats:
    return np.concatenate([-edges[::-1], edges[1:] if edges[0] == 0 else edges])


def _exact(pair: Pair, spread: float, highest: float, borders: Borders) -> Null:
    """The distribution over all swaps: the mass beyond each edge is computed like the p-value beyond the gain."""
    scorer = pair.scorer
    ratios = Ratios.of(exact.fractions(scorer, find("exact"), pair.unit), *pair.order[0].tolist())
    assert scorer.fractions is not None  # otherwise `exact.fractions` would have refused the metric
    factor, gain = scorer.fractions.factor, abs(pair.difference)
    distribution, _, (below, _, _, least, units) = ratios.swapped()
    step = 0.0
    if not distribution.steps[:, 1].any():
        # With one denominator, gains are multiples of a step apart, which bins must not cut.
        step = factor * float(units[0]) * (1 / least[1] + 1 / (below - least[1]))
    reach = min(REACH * spread, highest + step)
    width = 2 * reach / BINS
    if step:
        width = step * max(1, round(width / step))
    edges = _edges(gain - step / 2, max(reach, width), width)
    if len(edges) * float(distribution.times.sum()) > LARGEST:
        raise TooLargeError
    tails = np.zeros(len(edges))
    for place, edge in enumerate(edges.tolist()):
        if edge == 0:
            tails[place] = 0.5
        elif edge < highest * (1 - 1e-12):
            at = replace(ratios, delta=Fraction(edge / factor))
            swapped, event, _ = at.swapped()
            tails[place] = math.exp(mass(swapped, event).log)
    halves = tails[:-1] - tails[1:]
    centre = [] if edges[0] == 0 else [max(0.0, 1 - 2 * tails[0])]
    masses = np.concatenate([halves[::-1], centre, halves])
    return Null(_mirrored(edges), masses, gain - step / 2, borders, 0, swaps=True)


def _counted(gains: Floats, gain: float, spread: float, borders: Borders, *, swaps: bool) -> Null:
    # As in the p-value, ties with the gain count as beyond it for shuffles, but not for the strict bootstrap tests.
    start = gain * (1 - 1e-9) if swaps else gain * (1 + 1e-9)
    edges = _mirrored(_edges(start, REACH * spread, 2 * REACH * spread / BINS))
    return Null(edges, np.histogram(gains, edges)[0] / len(gains), start, borders, len(gains), swaps=swaps)


def _resampled(pair: Pair, order: Sequence[int], resampling: Resampling) -> Floats:
    """Gains on resamples minus the observed gain."""
    gains = np.empty(resampling.n_resamples)

    def take(scores: Floats, number: int) -> None:
        gains[number : number + scores.shape[1]] = scores[order[0]] - scores[order[1]]

    pair.scorer.for_each_batch(take, resampling)
    return gains - abs(pair.difference)


def _shuffled(pair: Pair, order: Sequence[int], resampling: Resampling) -> Floats:
    """Gains after shuffles."""
    gains = np.empty(resampling.n_resamples)
    counts = pair.units[list(order)]
    product = engine.Product(list(np.moveaxis(counts, -1, 0)), steps_by_column(counts))
    totals = product.observed[:, :, None]
    sign = 1.0 if pair.metric.higher_is_better else -1.0

    def take(moved: Floats, number: int) -> None:
        exchanged = np.moveaxis(moved[:, 1] - moved[:, 0], 0, -1)  # (shuffles, columns)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = pair.metric.score(totals[0, :, 0] + exchanged)
            second = pair.metric.score(totals[1, :, 0] - exchanged)
        gains[number : number + len(first)] = sign * (first - second)

    engine.for_each_batch(take, find("randomization"), product, resampling, range(resampling.n_resamples))
    return gains
