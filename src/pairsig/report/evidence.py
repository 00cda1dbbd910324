"""What there is to see of two systems beside p: the law of the gain if nobody is better, domains, segments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import engine, exact, intervals, methods, sentences
from pairsig.contributions import likeness
from pairsig.definitions import Test, find
from pairsig.engine import Resampling
from pairsig.errors import InputError
from pairsig.exact import Ratios
from pairsig.exact.laws import LARGEST, TooLargeError, mass
from pairsig.lattice import lattice
from pairsig.metrics import Metric
from pairsig.paired import Pair, Unit
from pairsig.statistics import Statistics
from pairsig.versus import decisive, label, shown_adjusted, shown_p

Floats = NDArray[np.float64]
Side = Literal["both", "above", "below"]

BINS = 60
"""Of the picture of a law, about."""

REACH = 4.5
"""Standard deviations on either side that it shows."""

MOST_DRAWN = 100_000
"""Shuffles and resamples that it is made of, at most."""

_TIED = 1e-10
"""What a segment carries is nothing, relative to the largest."""


@dataclass(frozen=True)
class Null:
    """The law of the better system's gain if neither is better.

    Attributes
    ----------
    edges, mass
        Of bins, in points, and the probability of each.
    border, extreme
        What the p-value counts: beyond this edge, on these sides.
    n_drawn
        Shuffles or resamples that it is counted from; 0 where it is exact.
    swaps
        Whether outputs are swapped; else segments (or documents) are drawn with replacement, and the gain subtracted.
    """

    edges: Floats
    mass: Floats
    border: float
    extreme: Side
    n_drawn: int
    swaps: bool

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which bins the p-value counts."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        above, below = middle > self.border, middle < -self.border
        return {"both": above | below, "above": above, "below": below}[self.extreme]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One system held against another, by one metric.

    Attributes
    ----------
    system_a, system_b, better
        Names; `better` is "" where the scores are equal.
    gain, low, high
        Of the better system, with its 95 % interval (nan where there is none).
    tests
        Label, p as printed, and p adjusted for the number of systems ("" where there is one only).
    test
        The first of the tests, which the law is of; None for runs of methods.
    p, decides
        Of the first of the tests; and what decides whether a system is called better: adjusted, a bound where p is 0.
    parts
        Of runs: shares of the variance of a gain, by what they are due to.
    segments
        One row a segment: `segment`, `document`, `domain`, both systems' scores on it, and what it carries (see
        `carried`), which is above 0 where it speaks for the better system.
    domains
        One row a domain: `domain`, `n_segments`, `gain`, `low`, `high`, of the better system; none where there are not
        at least two.
    likeness
        Correlation of what units contribute to either score; nan where there is none.
    sentence
        To put into a paper.
    notes, signatures
        As `versus` and `compare_methods` have them.
    """

    metric: str
    system_a: str
    system_b: str
    score_a: float
    score_b: float
    better: str
    gain: float
    low: float
    high: float
    tests: tuple[tuple[str, str, str], ...]
    test: Test | None
    p: float
    decides: float
    null: Null | None
    parts: tuple[tuple[str, float], ...]
    unit: Unit
    segments: pd.DataFrame
    domains: pd.DataFrame
    likeness: float
    runs: tuple[int, int]
    sentence: str
    notes: tuple[str, ...]
    signatures: tuple[str, ...]

    @property
    def ahead(self) -> str:
        """The better system; the first where the scores are equal."""
        return self.better or self.system_a

    @property
    def behind(self) -> str:
        """The other one."""
        return self.system_b if self.ahead == self.system_a else self.system_a

    @property
    def digits(self) -> int:
        """Digits behind the point that its scores and gains are printed with."""
        return sentences.digits(self.gain, self.low, self.high)

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """Segments that speak for the better system, for neither, and for the other one."""
        carried = self.segments["carried"]
        return int((carried > 0).sum()), int((carried == 0).sum()), int((carried < 0).sum())

    @property
    def n_documents(self) -> int:
        """Documents that are known; 0 where those of some segments are not."""
        documents = self.segments["document"]
        return 0 if (documents == "").any() else documents.nunique()

    @property
    def enough(self) -> int:
        """The least number of segments that carry all of the gain: those that speak most for the better system."""
        most = np.sort(self.segments["carried"].to_numpy())[::-1]
        reached = np.flatnonzero(np.cumsum(most) >= self.gain * (1 - _TIED))
        return int(reached[0]) + 1 if len(reached) and self.better else 0


def carried(counts: NDArray[Any], metric: Metric) -> Floats:
    """What each unit carries of the gain of the first of two systems over the second, (units,).

    Half of what the gain would lose if the two outputs were swapped on that unit alone: exactly 0 where their counts
    are the same. Of a mean, and of a ratio whose denominators are the same for both, it is the difference of the two on
    the unit over the total, and the sum over units is the gain; of other metrics it is so to first order.

    Parameters
    ----------
    counts
        Shape (2, units, columns), see `Statistics.of`.
    """
    one, other = counts.astype(np.float64)
    sign = 1.0 if metric.higher_is_better else -1.0
    total_one, total_other = one.sum(axis=0), other.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = metric.score(total_one[None]) - metric.score(total_other[None])
        swapped = metric.score(total_one - one + other) - metric.score(total_other - other + one)
    found: Floats = sign * (gain - swapped) / 2
    found[~np.isfinite(found) | (one == other).all(axis=1)] = 0.0
    found[np.abs(found) <= _TIED * np.abs(found).max(initial=0.0)] = 0.0
    return found


def of_systems(
    statistics: Statistics, metric: Metric, table: pd.DataFrame, *, unit: Unit, resampling: Resampling
) -> Iterator[Evidence]:
    """The evidence of every system against the first one, for a table of `versus` over this metric."""
    counts = statistics.of(metric)
    documents = statistics.documents if unit == "document" else None
    several = len(set(table["system_b"])) > 1
    table = table.assign(holm=shown_adjusted(table, "p_holm") if several else "", p_holm=decisive(table, "p_holm"))
    for name, rows in table[table["metric"] == metric.name].groupby("system_b", sort=False):
        first = rows.iloc[0]
        both = [statistics.systems.index(system) for system in (first["system_a"], name)]
        pair = Pair(metric, counts[both], documents)
        ahead = [1, 0] if first["better"] == name else [0, 1]
        tested = rows[rows["test"] != "margin"]
        if not len(tested):
            raise InputError(f"a report needs a test beside the margin, found none for {metric.name}")
        test = find(tested["test"].iloc[0], tested["variant"].iloc[0])
        yield Evidence(
            metric=metric.name,
            system_a=first["system_a"],
            system_b=str(name),
            score_a=first["score_a"],
            score_b=first["score_b"],
            better=first["better"],
            gain=first["gain"],
            low=first["ci_low"],
            high=first["ci_high"],
            tests=tuple((label(row["test"], row["variant"]), shown_p(row), row["holm"]) for _, row in rows.iterrows()),
            test=test,
            p=float(tested["p_value"].iloc[0]),
            decides=float(tested["p_holm"].iloc[0]),
            null=null(pair, test, resampling),
            parts=(),
            unit=unit,
            segments=_segments(statistics, metric, counts[both[:1]], counts[both[1:]], ahead),
            domains=_domains(statistics, lambda rows, p=pair, order=ahead: _on_segments(p, rows, order)),
            likeness=float(likeness(pair.units, metric, np.array([[0, 1]]))[1][0]),
            runs=(1, 1),
            sentence=sentences.of_systems(rows).replace("\n", " "),
            notes=tuple(dict.fromkeys(note for notes in rows["notes"] for note in notes)),
            signatures=tuple(rows["signature"]),
        )


def of_methods(
    statistics: Statistics, metric: Metric, table: pd.DataFrame, *, unit: Unit, training_sd: float | None
) -> Iterator[Evidence]:
    """The same of methods that were run several times, for a table of `compare_methods`."""
    counts = statistics.of(metric)
    for row in table.itertuples(index=False):
        rows_a, rows_b = (
            [place for place, method in enumerate(statistics.methods) if method == name]
            for name in (row.method_a, row.method_b)
        )
        ahead = [1, 0] if row.better == row.method_b else [0, 1]
        own = statistics.select(systems=[statistics.systems[place] for place in rows_a + rows_b])
        shares = {"the test set": row.sd_test_set**2, "training": row.sd_training**2, "single segments": row.sd_rest**2}
        if row.design == "nested":
            shares = {"the test set": row.sd_test_set**2, "sampling": row.sd_rest**2}
        whole = math.fsum(shares.values())

        def on(
            segments: NDArray[np.intp], own: Statistics = own, row: Any = row, sign: int = 1 - 2 * ahead[0]
        ) -> tuple[float, float, float]:
            (found,) = methods.compare_methods(
                own.select(segments=segments), metric=metric, design=row.design, training_sd=training_sd, unit=unit
            ).itertuples(index=False)
            return _turned(found.gain, found.ci_low, found.ci_high, sign * (-1 if found.better == row.method_b else 1))

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
                (f"p ({of})", f"{p:.3g}", "")
                for of, p in (("method", row.p_method), ("outputs", row.p_outputs), ("bootstrap", row.p_bootstrap))
                if not math.isnan(p)
            ),
            test=None,
            p=row.p_method,
            decides=row.p_method,
            null=None,
            parts=tuple((name, share / whole) for name, share in shares.items()) if whole > 0 else (),
            unit=unit,
            segments=_segments(statistics, metric, counts[rows_a], counts[rows_b], ahead),
            domains=_domains(statistics, on),
            likeness=math.nan,
            runs=(row.n_runs_a, row.n_runs_b),
            sentence=sentences.of_methods(pd.DataFrame([row])),
            notes=(*methods.made_of(row), *filter(None, row.doubt.split("; "))),
            signatures=(),
        )


def _segments(
    statistics: Statistics, metric: Metric, of_a: NDArray[Any], of_b: NDArray[Any], ahead: Sequence[int]
) -> pd.DataFrame:
    """One row a segment, from the counts of the runs of both, (runs, segments, columns)."""
    found = np.mean([carried(np.stack([a, b]), metric) for a in of_a for b in of_b], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        score_a, score_b = (metric.score(own.astype(np.float64)).mean(axis=0) for own in (of_a, of_b))
    return pd.DataFrame(
        {
            "segment": statistics.segments,
            "document": statistics.documents,
            "domain": statistics.domains,
            "score_a": score_a,
            "score_b": score_b,
            "carried": -found if ahead[0] else found,
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
        except InputError:  # one segment, or a score that is none without the others
            continue
        rows.append({"domain": domain or "(none)", "n_segments": len(segments), "gain": gain, "low": low, "high": high})
    table = pd.DataFrame(rows, columns=["domain", "n_segments", "gain", "low", "high"])
    return table.sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _on_segments(pair: Pair, segments: NDArray[np.intp], ahead: Sequence[int]) -> tuple[float, float, float]:
    documents = None if pair.documents is None else pair.documents[segments]
    part = Pair(pair.metric, pair.segments[ahead][:, segments], documents)
    found = intervals.interval(part)
    low, high = (found.low, found.high) if found.passed_or_failed or found.n_different >= intervals.ENOUGH else (
        math.nan, math.nan,
    )  # fmt: skip
    return _turned(abs(part.lead), low, high, -1 if part.lead < 0 else 1)


def _turned(gain: float, low: float, high: float, sign: int) -> tuple[float, float, float]:
    return (gain, low, high) if sign > 0 else (-gain, -high, -low)


def null(pair: Pair, test: Test, resampling: Resampling) -> Null | None:
    """The law that a test holds the gain of the better system against; None where no system is better."""
    if pair.better is None:
        return None
    (order,) = pair.order.tolist()
    units = pair.units[order]
    steps = carried(units, pair.metric)
    spread = float(np.sqrt(np.square(steps).sum()))
    if spread == 0:
        return None
    gain = abs(pair.lead)
    resampling = replace(resampling, n_resamples=min(resampling.n_resamples, MOST_DRAWN))
    extreme: Side = "both" if test.two_sided else "below" if test.variant == "percentile" else "above"
    if test.draw == "resample":
        gains = _resampled(pair, order, resampling)
        return _counted(gains, gain, spread, extreme, swaps=False)
    highest = _highest(units, steps, pair.metric)
    try:
        return _exact(pair, spread, highest, extreme)
    except (InputError, TooLargeError):
        return _counted(_shuffled(pair, order, resampling), gain, spread, extreme, swaps=True)


def _highest(units: NDArray[Any], steps: Floats, metric: Metric) -> float:
    """The gain where the first system gets whatever speaks for it: no swaps give more where the metric is linear."""
    best = np.where((steps >= 0)[None, :, None], units, units[::-1]).astype(np.float64).sum(axis=1)
    one, other = (float(score) for score in metric.score(best))
    return one - other if metric.higher_is_better else other - one


def _edges(start: float, reach: float, width: float) -> Floats:
    """Edges above 0, `width` apart, one of them `start`; 0 itself where it is one."""
    below = np.arange(math.floor(start / width + 1e-9), 0, -1)
    above = np.arange(1, max(1, math.ceil((reach - start) / width)) + 1) if reach > start else np.empty(0)
    edges = start + width * np.concatenate([-below, [0.0], above])
    edges[np.abs(edges) < 1e-6 * width] = 0.0
    return np.asarray(edges[(edges <= reach + width) & (edges >= 0)])


def _mirrored(edges: Floats) -> Floats:
    return np.concatenate([-edges[::-1], edges[1:] if edges[0] == 0 else edges])


def _exact(pair: Pair, spread: float, highest: float, extreme: Side) -> Null:
    """The law over all swaps: the mass beyond each edge is that of an event, as the p-value is beyond the gain."""
    judge = pair.judge
    ratios = Ratios.of(exact.fractions(judge, find("exact"), pair.unit), *pair.order[0].tolist())
    assert judge.fractions is not None  # else it would have been refused
    factor, gain = judge.fractions.factor, abs(pair.lead)
    law, _, (below, _, _, least, units) = ratios.swapped()
    step = 0.0
    if not law.steps[:, 1].any():  # one denominator: gains are multiples of a step apart, which bins must not cut
        step = factor * float(units[0]) * (1 / least[1] + 1 / (below - least[1]))
    reach = min(REACH * spread, highest + step)
    width = 2 * reach / BINS
    if step:
        width = step * max(1, round(width / step))
    edges = _edges(gain - step / 2, max(reach, width), width)
    if len(edges) * float(law.times.sum()) > LARGEST:
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
    return Null(_mirrored(edges), masses, gain - step / 2, extreme, 0, swaps=True)


def _counted(gains: Floats, gain: float, spread: float, extreme: Side, *, swaps: bool) -> Null:
    # Ties with the gain count with the shuffles beyond it, as they do in the p-value; of strict tests they do not.
    start = gain * (1 - 1e-9) if swaps else gain * (1 + 1e-9)
    edges = _mirrored(_edges(start, REACH * spread, 2 * REACH * spread / BINS))
    return Null(edges, np.histogram(gains, edges)[0] / len(gains), start, extreme, len(gains), swaps=swaps)


def _resampled(pair: Pair, order: Sequence[int], resampling: Resampling) -> Floats:
    """Gains on resamples, less the gain."""
    gains = np.empty(resampling.n_resamples)

    def take(scores: Floats, number: int) -> None:
        gains[number : number + scores.shape[1]] = scores[order[0]] - scores[order[1]]

    pair.judge.for_each_batch(take, resampling)
    return gains - abs(pair.lead)


def _shuffled(pair: Pair, order: Sequence[int], resampling: Resampling) -> Floats:
    """Gains after shuffles."""
    gains = np.empty(resampling.n_resamples)
    counts = pair.units[list(order)]
    product = engine.Product(list(np.moveaxis(counts, -1, 0)), lattice(counts))
    totals = product.observed[:, :, None]
    sign = 1.0 if pair.metric.higher_is_better else -1.0

    def take(moved: Floats, number: int) -> None:
        exchanged = np.moveaxis(moved[:, 1] - moved[:, 0], 0, -1)  # (shuffles, columns)
        with np.errstate(divide="ignore", invalid="ignore"):
            one = pair.metric.score(totals[0, :, 0] + exchanged)
            other = pair.metric.score(totals[1, :, 0] - exchanged)
        gains[number : number + len(one)] = sign * (one - other)

    engine.for_each_batch(take, find("randomization"), product, resampling, range(resampling.n_resamples))
    return gains
