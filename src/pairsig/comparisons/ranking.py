"""Ranks of many systems, with simultaneous intervals, adjusted p-values and clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons import all_pairs, inputs
from pairsig.core import definitions, engine
from pairsig.core.compiled import check_few, compiled, inlined
from pairsig.core.engine import Progress, Resampling, Seed, seed_of
from pairsig.core.influence import ROUNDING, errors_and_correlations, influence_values
from pairsig.core.statistics import Statistics
from pairsig.io import rendering
from pairsig.io.choices import check_level, choose
from pairsig.io.columns import RANKED_PAIRS, RANKS
from pairsig.io.errors import InputError, named
from pairsig.io.memory import Memory
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.metrics.exact_arithmetic import steps_by_column
from pairsig.stats import paired
from pairsig.stats.paired import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Adjustment = Literal["max-t", "holm"]
ADJUSTMENTS = ("max-t", "holm")
"""How the p-values of all pairs are adjusted for their number."""

_TIE = 1e-11
"""A statistic of a shuffle that is closer than this to the observed one, relative to it, counts as a tie.

The sums are whole numbers, so rounding errors are a few 1e-16 of them (about 1e-13 for values such as 1/3, which
are not multiples of any step). Whole sums x and y with x/√X ≠ y/√Y differ by at least 1/(2y²X) of themselves: 1e-10 for
y = 4√X and 10,000 items that only one system passes.
"""
_AT_ONCE = 64
"""Number of shuffles that are processed together, so that the results of all pairs stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(TableResult):
    """Systems in the order of their scores, with simultaneous intervals of their ranks: what `rank` returns.

    `print` shows the table that `pairsig rank` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per system, the best first, in the kind of data frame that was passed; the columns are those of
        `pairsig rank`.
    pairs
        One row per pair, the most certain first; `system_a` is the better one. The columns are those of
        `pairsig rank --pairs`.
    alpha
        Family-wise error rate: the probability, at most, that any of the statements "is better than", and so any
        interval of a rank, is false.
    statistics, metric
        What was ranked. Every other function of pairsig accepts them.
    notes
        Sentences about the data.

    See Also
    --------
    rank : Returns this.

    Examples
    --------
    >>> ranking = rank({"a": [1, 1, 1, 1, 1, 1, 1, 0], "b": [0, 0, 1, 0, 0, 0, 0, 0]}, n_resamples=1000)
    >>> ranking.table["system"].tolist()
    ['a', 'b']
    """

    pairs: Any
    alpha: float
    statistics: Statistics
    metric: Metric
    _pairs: pd.DataFrame

    def _figure(self) -> Figure:
        """How far each system is behind the first, and its possible ranks."""
        return _drawn(self)

    def _rendered(self, format: str) -> str:  # noqa: A002
        notes = [f"<p>{escape(note)}</p>" if format == "html" else f"- {note}" for note in self.notes]
        return "\n".join([render(self, format), *notes])


def rank(
    data: inputs.Data,
    *,
    metric: str | Metric | None = None,
    adjustment: Adjustment = "max-t",
    alpha: float = 0.05,
    n_resamples: int = 100_000,
    rng: Seed = 2012,
    unit: Unit = "segment",
    threads: int | None = None,
    memory: Memory | int | str | None = None,
    progress: Progress | None = None,
) -> Ranking:
    """Rank many systems, with simultaneous intervals of their ranks and adjusted p-values for all pairs.

    With probability 1 − `alpha`, none of the statements "A is better than B" is false, however many systems are equally
    good. This is what `pairsig rank` does on the command line.

    Parameters
    ----------
    data, metric
        The scores of all systems, as for `compare`. Every run counts as a system of its own.
    adjustment
        "max-t": swaps that are common to all pairs, step-down max-T. "holm": exact p-values where the metric has them,
        else randomization, adjusted by Holm.
    alpha
        Family-wise error rate of the ranks, the p-values and (max-t only) the intervals of gains.
    n_resamples
        Number of shuffles.
    rng
        Seed of the random numbers: a whole number, or anything else that `numpy.random.default_rng` takes.
    unit
        "document" to swap whole documents instead of segments.
    threads
        Number of threads; default: all cores. It changes nothing but time.
    memory
        Limit for the process in bytes, or a size such as "4G"; default: what it uses and half of what is free.
    progress
        Called with numbers of shuffles as they are finished.

    Returns
    -------
    Ranking
        `print` it for the table of `pairsig rank`; `.table` has one row per system, `.pairs` one per pair.

    Raises
    ------
    InputError
        If the data cannot be read or compared, if `alpha` is not between 0 and 1, or if the memory does not suffice.

    See Also
    --------
    compare : P-values and intervals of single pairs.

    Notes
    -----
    A shuffle swaps the same units for all pairs. With the gain δ of a pair and dᵢ the difference of the two systems'
    contributions on unit i, T = δ / sqrt(Σ dᵢ²), and T' is the same after the shuffle. In falling order of T, the k-th
    pair has the adjusted p-value (#{q'ₖ ≥ Tₖ} + 1) / (b + 1), at least that of the pair before, where q'ₖ is the
    largest T' of all claims that are still open (Westfall and Young 1993; Romano and Wolf 2005). Ranks follow Mogstad
    et al. (2024). docs/ranks.md has the intervals, Holm's adjustment and the simulated error rate.

    The cost is N·n·b multiplications and about 5·N²·b other operations, for N systems, n units and b shuffles: 150
    systems on 2,034 segments take 5 CPU seconds.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> items = np.arange(60)
    >>> scores = {"good": items % 10 > 0, "same": items % 10 > 0, "bad": items % 3 > 0}
    >>> result = pairsig.rank(scores, n_resamples=10_000)
    >>> result.table[["rank", "rank_low", "rank_high", "system"]]
       rank  rank_low  rank_high system
    0     1         1          2   good
    1     1         1          2   same
    2     3         3          3    bad
    """
    choose(adjustment, ADJUSTMENTS, "adjustment")
    check_level(alpha, "significance level")
    memory = Memory.of(memory)
    resampling = Resampling(n_resamples, seed_of(rng), threads)
    statistics, chosen = inputs.prepared(data, metric)
    if adjustment == "holm":
        compared = all_pairs.compare(
            statistics,
            "exact",
            metric=chosen,
            n_resamples=n_resamples,
            rng=rng,
            unit=unit,
            threads=threads,
            memory=memory,
            progress=progress,
            or_draw=True,
        )
        pairs, notes = _holm(compared), tuple(filter(None, [all_pairs.drawn_instead(compared)]))
    else:
        pairs = _max_t(statistics, chosen, alpha, unit, resampling, memory, progress)
        notes = tuple(filter(None, [_skewed(statistics, chosen, unit)]))
    systems, pairs = _ranked(statistics.systems, pairs, chosen, alpha), frame(RANKED_PAIRS, pairs)
    return Ranking(
        table=statistics.as_read(systems),
        pairs=statistics.as_read(pairs),
        alpha=alpha,
        statistics=statistics,
        metric=chosen,
        notes=(*notes, *statistics.notes),
        _rows=systems,
        _pairs=pairs,
    )


_SKEWED = 0.3
"""Skewness of a system's values, divided by √units, from which on a note warns about simultaneous intervals.

With rates of 2 to 10 % and with lognormal scores it is mostly above this for 20 to 60 units, where the intervals
covered all gains on 84 to 92 % of test sets."""


def _skewed(statistics: Statistics, metric: Metric, unit: Unit) -> str:
    """A warning if the simultaneous intervals may be too narrow, because large values are rare; else ""."""
    counts = statistics.of_units(metric, unit)
    values = influence_values(counts, metric)
    values = values - values.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(values).mean(axis=1))
    cubes = np.abs((values**3).mean(axis=1))
    skewness = np.divide(cubes, spread**3, out=np.zeros_like(cubes), where=spread > 0)
    if skewness.max() <= _SKEWED * math.sqrt(values.shape[1]):
        return ""
    return (
        f"large or rare values decide the scores on {values.shape[1]:,} {unit}s: the intervals of gains may contain "
        "all true gains on 84 to 92 % of test sets only, not 95 %; ranks and p-values are not affected"
    )


def _holm(compared: pd.DataFrame) -> pd.DataFrame:
    """The pairs, with p-values adjusted by Holm for two claims per pair."""
    pairs = compared.sort_values("pvalue", kind="stable", ignore_index=True)
    claims_left = 2 * len(pairs) - np.arange(len(pairs))
    adjusted = np.maximum.accumulate(claims_left * pairs["pvalue"].to_numpy() / 2)
    return pairs.assign(
        pvalue_adjusted=np.minimum(np.where(pairs["gain"] == 0, 1.0, adjusted), 1.0),
        ci_low=np.nan,
        ci_high=np.nan,
        signature=pairs["signature"].str.replace("|", "|adjustment:holm|", n=1, regex=False),
    )[list(RANKED_PAIRS.names)]


def _max_t(
    statistics: Statistics,
    metric: Metric,
    alpha: float,
    unit: Unit,
    resampling: Resampling,
    memory: Memory,
    progress: Progress | None,
) -> pd.DataFrame:
    """The pairs, with p-values adjusted by step-down max-T over common shuffles."""
    if len(statistics.systems) < 2:
        raise InputError(f"found one system, {named(statistics.systems[0])}, expected at least two to rank")
    check_few(math.comb(len(statistics.systems), 2))
    counts = statistics.of_units(metric, unit)
    n_systems, n_units = counts.shape[:2]
    # Influence values, the same in whole steps, and a copy while these are computed; about a kilobyte per pair.
    n_pairs = n_systems * (n_systems - 1) // 2
    memory.require(3 * 8 * n_systems * n_units + 1024 * n_pairs, f"ranking {n_systems:,} systems")
    scorer = engine.Scorer(counts, metric, statistics.systems, memory)
    pairs, gains = scorer.better_first()
    _, correlation = errors_and_correlations(
        scorer.counts, metric, pairs, threads=resampling.threads, n_bytes=memory.left
    )
    moving = _Moving.of(scorer)
    ordered = _Ordered.of(moving, pairs, gains)
    work = replace(resampling, memory=memory.left)
    n_extreme, n_alone, largest_t = _shuffled(moving, ordered, work, progress)

    test, b = definitions.find("randomization"), resampling.n_resamples
    first, second, order, gains = ordered.first, ordered.second, ordered.order, gains[ordered.order]
    adjusted = np.maximum.accumulate(test.pvalue(n_extreme, b))
    critical = _critical(largest_t, n_units, alpha)
    below, above = moving.unit * _reach(critical, ordered.spread, ordered.lean, float((moving.weights**2).sum()))
    low = np.where(np.abs(ordered.t - critical) <= _TIE * critical, 0.0, gains - below)
    names = np.array(statistics.systems)
    signature = paired.signature(metric, test, unit, f"adjustment:max-t|{resampling.signature}")
    return pd.DataFrame(
        {
            "metric": metric.name,
            "system_a": names[first],
            "system_b": names[second],
            "score_a": scorer.scores[first],
            "score_b": scorer.scores[second],
            "gain": gains,
            "ci_low": np.where(np.isnan(below), np.nan, low),
            "ci_high": gains + above,
            "correlation": correlation[order],
            "pvalue": np.where(gains == 0, 1.0, test.pvalue(n_alone, b)),
            "pvalue_adjusted": np.where(gains == 0, 1.0, adjusted),
            "signature": signature,
        }
    )


class _Moving(NamedTuple):
    """Per-unit values that a swap exchanges, as integer multiples of a step so that sums are exact.

    If all systems have the same denominators, a swap exchanges numerators, and nothing is approximate. Otherwise the
    values are first-order influence values.
    """

    # (systems + 1, units): the values of every system, then the weights. The difference between two rows of values sums
    # to their gain; the part of a gain that no unit explains is distributed like the weights.
    rows: NDArray[np.float64]
    unit: float  # size of a step, in points of the score
    rounded: bool  # whether some values were no whole numbers of steps

    @property
    def values(self) -> NDArray[np.float64]:
        """The values of every system (systems × units)."""
        return self.rows[:-1]

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of the units, w, with Σw = 1."""
        return np.asarray(self.rows[-1] / self.rows[-1].sum())

    @classmethod
    def of(cls, scorer: engine.Scorer) -> _Moving:
        metric, counts = scorer.metric, scorer.counts
        rows = np.ones((len(counts) + 1, counts.shape[1]))
        values, weights = rows[:-1], rows[-1]
        form, unit, shared = metric.form(counts), 1.0, False
        sizes = slice(None) if form is None else form.denominator
        for row, system_counts in zip(values, counts, strict=True):
            system_counts[:, sizes].sum(axis=1, dtype=np.float64, out=row)
        if values.min() >= 0 and values.sum(axis=1).min() > 0:
            shared = form is not None and bool((values == values[0]).all())
            weights[:] = values[0] if shared else (values / values.sum(axis=1, keepdims=True)).sum(axis=0)
        if form is not None and shared:
            for row, system_counts in zip(values, counts, strict=True):
                numerator = system_counts[:, form.numerator].sum(axis=1, dtype=np.float64)
                row[:] = weights - numerator if form.complement else numerator
            if not metric.higher_is_better:
                np.negative(values, out=values)
            unit = form.factor / float(weights.sum())
        else:
            values[:] = influence_values(counts, metric)
            values += (scorer.quality - values.sum(axis=1))[:, None] * (weights / weights.sum())
        rounded = False
        for part in (values, rows[-1:]):
            (steps,) = steps_by_column(part[:, :, None])
            part *= steps
            whole = np.rint(part)
            rounded |= part is values and bool(np.abs(part - whole).max() > 1e-3)
            part[:] = whole
            unit /= steps if part is values else 1.0
        return cls(rows, unit, rounded)


class _Ordered(NamedTuple):
    """All pairs in descending order of T = Σd / √Σd², with d the difference of their values in steps (`_Moving`)."""

    order: NDArray[np.intp]  # their places among the pairs in the order of the systems
    first: NDArray[np.intp]  # the better system of each pair
    second: NDArray[np.intp]
    t: NDArray[np.float64]  # T, or 0 for equal systems
    lead: NDArray[np.float64]  # Σd
    size: NDArray[np.float64]  # √Σd²
    spread: NDArray[np.float64]  # Σe², with e = d − w Σd and w the weights
    lean: NDArray[np.float64]  # Σew
    borders: NDArray[np.float64]  # from which on a shuffle's |T'| counts as at least T

    @classmethod
    def of(cls, moving: _Moving, pairs: NDArray[np.intp], gains: NDArray[np.float64]) -> _Ordered:
        values = moving.values
        lead, squares, spread, lean = _moments(values, moving.weights, *pairs.T)
        spread[spread <= ROUNDING * squares] = 0.0
        size = np.sqrt(squares)
        t = np.divide(lead, size, out=np.zeros_like(size), where=(gains > 0) & (lead > 0))
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -t))
        first, second = np.ascontiguousarray(pairs[order].T)
        t, lead, size, spread, lean = (of_pairs[order] for of_pairs in (t, lead, size, spread, lean))
        # Rounding to steps moves each d by at most one step, and a sum of n by n, before and after a shuffle.
        n_units = values.shape[1]
        apart = np.divide(2.0 * n_units, lead, out=np.zeros_like(lead), where=lead > 0) if moving.rounded else 0.0
        borders = t * (1 - np.minimum(np.maximum(_TIE, apart), 1e-6))
        return cls(order, first, second, t, lead, size, spread, lean, borders)


def _shuffled(
    moving: _Moving, ordered: _Ordered, resampling: Resampling, progress: Progress | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Shuffles in which an open claim is as extreme as each pair, in which the pair itself is, and their largest |T'|.

    The largest |T'| (2 × shuffles) is that of the differences d and that of the centred differences e.
    """
    product = engine.Product([moving.rows], np.ones(1))
    sums, weight = moving.values.sum(axis=1, keepdims=True), moving.rows[-1].sum()
    per_step, per_centred = _inverse(ordered.size), _inverse(np.sqrt(ordered.spread))
    n_extreme, n_alone = np.zeros((2, len(ordered.order)), dtype=np.int64)
    largest_t = np.empty((2, resampling.n_resamples))
    adding = Lock()

    def add(moved: NDArray[np.float64], number: int) -> None:
        extreme, alone = np.zeros((2, len(ordered.order)), dtype=np.int64)
        swapped, share = moved[0, :-1], moved[0, -1] / weight
        shuffles = slice(number, number + len(share))
        _step_down(
            swapped, ordered.first, ordered.second, ordered.lead, per_step, ordered.borders, extreme, alone,
            largest_t[0, shuffles],
        )  # fmt: skip
        _largest(swapped - sums * share, ordered.first, ordered.second, per_centred, largest_t[1, shuffles])
        with adding:
            np.add(n_extreme, extreme, out=n_extreme)
            np.add(n_alone, alone, out=n_alone)

    shuffles = range(resampling.n_resamples)
    engine.for_each_batch(add, definitions.find("randomization"), product, resampling, shuffles, progress)
    return n_extreme, n_alone, largest_t


@compiled
def _moments(values, weights, first, second):  # type: ignore[no-untyped-def]
    """Σd, Σd², Σe² and Σew of every pair, with d the difference of values, w the weights (Σw = 1) and e = d − w Σd.

    The order of the additions does not depend on the machine.
    """
    moments = np.zeros((4, len(first)))
    for pair in range(len(first)):
        a, b = values[first[pair]], values[second[pair]]
        lead = 0.0
        for unit in range(len(a)):
            lead += a[unit] - b[unit]
        squares = spread = lean = 0.0
        for unit in range(len(a)):
            d = a[unit] - b[unit]
            e = d - lead * weights[unit]
            squares += d * d
            spread += e * e
            lean += e * weights[unit]
        moments[0, pair], moments[1, pair], moments[2, pair], moments[3, pair] = lead, squares, spread, lean
    return moments


@inlined
def _double(moved, start, rows, doubled):  # type: ignore[no-untyped-def]
    """Fill in 2 Σ v for some shuffles; numba takes seconds to compile the same with slices, for their messages."""
    for system in range(len(moved)):
        for row in range(rows):
            doubled[system, row] = 2 * moved[system, start + row]


@compiled
def _step_down(moved, first, second, leads, per_step, borders, n_extreme, n_alone, largest_t):  # type: ignore[no-untyped-def]
    """Count, for each pair, the shuffles in which some open claim has a statistic as large as the pair's T.

    `moved` is Σ v over the swapped units of every system (systems × shuffles), so that T' is (Σd − 2 · difference of
    both) / sqrt(Σd²). The claims of a pair are that its first system is better, and that its second one is. Open are
    those that do not come before the claim in descending order of T, which for the second system is −T.
    """
    n_pairs, n_rows = len(first), moved.shape[1]
    doubled, largest = np.empty((len(moved), _AT_ONCE)), np.empty(_AT_ONCE)
    n_before = np.empty(_AT_ONCE, dtype=np.int64)
    for start in range(0, n_rows, _AT_ONCE):
        rows = min(_AT_ONCE, n_rows - start)
        _double(moved, start, rows, doubled)
        # Forwards: how many pairs come before the first whose border is reached by −T' of a pair before it, whose
        # reverse claim is open. All pairs behind it are reached, too: the largest −T' rises, and borders fall.
        largest[:] = -np.inf
        n_before[:] = 0
        for pair in range(n_pairs):
            a, b, lead, scale = doubled[first[pair]], doubled[second[pair]], leads[pair], per_step[pair]
            border, n_open = borders[pair], 0
            for row in range(rows):
                largest_reverse = largest[row]
                is_before = largest_reverse < border
                n_before[row] += is_before
                n_open += is_before
                reverse = -((lead - (a[row] - b[row])) * scale)
                largest[row] = reverse if reverse > largest_reverse else largest_reverse
            if n_open == 0:
                break
        # Backwards: the largest |T'| of the pair and of those behind it. From `all_reached` on, all are extreme.
        largest[:] = 0.0
        all_reached = n_before[:rows].max()
        for pair in range(n_pairs - 1, all_reached - 1, -1):
            a, b, lead, scale = doubled[first[pair]], doubled[second[pair]], leads[pair], per_step[pair]
            border, alone = borders[pair], 0
            for row in range(rows):
                size = abs((lead - (a[row] - b[row])) * scale)
                largest[row] = size if size > largest[row] else largest[row]
                alone += size >= border
            n_extreme[pair] += rows
            n_alone[pair] += alone
        for pair in range(all_reached - 1, -1, -1):
            a, b, lead, scale = doubled[first[pair]], doubled[second[pair]], leads[pair], per_step[pair]
            border = borders[pair]
            extreme = alone = 0
            for row in range(rows):
                size = abs((lead - (a[row] - b[row])) * scale)
                largest[row] = size if size > largest[row] else largest[row]
                extreme += (largest[row] >= border) | (pair >= n_before[row])
                alone += size >= border
            n_extreme[pair] += extreme
            n_alone[pair] += alone
        for row in range(rows):
            largest_t[start + row] = largest[row]


@compiled
def _largest(moved, first, second, per_step, largest_t):  # type: ignore[no-untyped-def]
    """The largest |T'| of all pairs for centred values, whose sum over units is 0 for every system."""
    n_rows = moved.shape[1]
    largest = np.empty(_AT_ONCE)
    doubled = np.zeros((len(moved), _AT_ONCE))
    for start in range(0, n_rows, _AT_ONCE):
        rows = min(_AT_ONCE, n_rows - start)
        _double(moved, start, rows, doubled)
        largest[:] = 0.0
        for pair in range(len(first)):
            a, b, scale = doubled[first[pair]], doubled[second[pair]], per_step[pair]
            for row in range(_AT_ONCE):
                largest[row] = max(largest[row], abs(a[row] - b[row]) * scale)
        for row in range(rows):
            largest_t[start + row] = largest[row]


def _critical(largest_t: NDArray[np.float64], n_units: int, alpha: float) -> float:
    """The 1 − `alpha` quantile of the largest |T'|, the larger of both rows; inf if no gain can be rejected.

    That is the case if 2^(1 − n) is above `alpha`, the share of the observed swap of n units and its opposite, or if
    1/(b + 1) is, the share of the observed one among b shuffles.
    """
    place = math.ceil((1 - alpha) * (largest_t.shape[1] + 1))
    if place > largest_t.shape[1] or 2.0 ** (1 - n_units) > alpha:
        return math.inf
    return float(np.sort(largest_t)[:, place - 1].max())


def _reach(
    critical: float, spread: NDArray[np.float64], lean: NDArray[np.float64], concentration: float
) -> NDArray[np.float64]:
    """How far intervals reach below and above the gains (2 × pairs), in steps; nan where there is no interval.

    A gain of δ − Δ is in the interval if |Σ(e + Δw)| <= c sqrt(Σ(e + Δw)²), with Σe = 0 and Σw = 1, that is where
    (1 − c²Σw²) Δ² − 2c²Σew Δ − c²Σe² <= 0: between the roots, or always if c²Σw² >= 1.
    """
    square = critical**2
    opening = 1 - square * concentration
    if not opening > _TIE:
        return np.full((2, len(spread)), np.nan)
    middle = square * lean
    half = np.sqrt(middle**2 + opening * square * spread)
    return np.where(spread > 0, np.stack([half + middle, half - middle]) / opening, np.nan)


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The reciprocals of the values; 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _ranked(systems: Sequence[str], pairs: pd.DataFrame, metric: Metric, alpha: float) -> pd.DataFrame:
    """The systems in the order of their scores, with the ranks that the pairs leave possible."""
    positions = {name: position for position, name in enumerate(systems)}
    n = len(systems)
    scores = np.empty(n)
    # Squares (systems × systems): whether a system has the better score, and significantly so; the rest symmetric.
    ahead, beats, adjusted, gain, low, high = np.zeros((6, n, n))
    for side in ("a", "b"):
        scores[pairs[f"system_{side}"].map(positions).to_numpy()] = pairs[f"score_{side}"].to_numpy()
    a, b = (pairs[side].map(positions).to_numpy(dtype=np.intp) for side in ("system_a", "system_b"))
    ahead[a, b] = pairs["gain"] > 0
    beats[a, b] = pairs["pvalue_adjusted"] <= alpha
    for square, column in ((adjusted, "pvalue_adjusted"), (gain, "gain"), (low, "ci_low"), (high, "ci_high")):
        square[a, b] = square[b, a] = pairs[column].to_numpy()
    rank = 1 + ahead.sum(axis=0).astype(np.int64)
    # Nearly equal scores count as equal, which is not transitive; the score itself decides then.
    order = np.lexsort((np.arange(n), -scores if metric.higher_is_better else scores, rank))
    # A cluster begins where all systems before it are significantly better than all from it on.
    in_order = beats[np.ix_(order, order)]
    begins = [position == 0 or bool(in_order[:position, position:].all()) for position in range(n)]
    best = order[0]
    p_next = [adjusted[position, following] for position, following in pairwise(order)]
    return frame(
        RANKS,
        {
            "metric": metric.name,
            "rank": rank[order],
            "rank_low": 1 + beats.sum(axis=0).astype(np.int64)[order],
            "rank_high": n - beats.sum(axis=1).astype(np.int64)[order],
            "cluster": np.cumsum(begins),
            "system": [systems[position] for position in order],
            "score": scores[order],
            "behind": gain[best][order],
            "behind_low": np.where(order == best, np.nan, low[best][order]),
            "behind_high": np.where(order == best, np.nan, high[best][order]),
            "p_next": [*p_next, np.nan],
            "signature": pairs["signature"].iloc[0],
        },
    )


def render(ranking: Ranking, format: str) -> str:  # noqa: A002
    """The ranks in a format of `rendering`.

    A line separates clusters; in Markdown, which has no such lines, a column has the number of the cluster. A dagger
    marks a system that is significantly better than the next one. In Markdown and LaTeX the signature follows.
    """
    table = ranking._rows
    rows = table.assign(
        ranks=[
            f"{low}" if low == high else f"{low}–{high}"
            for low, high in table[["rank_low", "rank_high"]].itertuples(index=False)
        ],
        score=[
            f"{score:.2f}" + "†" * (p <= ranking.alpha)
            for score, p in table[["score", "p_next"]].itertuples(index=False)
        ],
        behind=table["behind"].where(table.index > 0),
    )
    level = f" [{100 * (1 - ranking.alpha):g} %]" if table["behind_low"].notna().any() else ""
    columns = RANKS.view(
        cluster="", ranks="rank", system="", score=str(table["metric"].iloc[0]), behind=f"behind{level}", p_next=""
    )
    return rendering.render(
        rows,
        columns if format == "markdown" else columns[1:],
        format,
        notes=[_summary(ranking)],
        signatures=ranking._pairs["signature"],
        borders=(np.flatnonzero(np.diff(table["cluster"])) + 1).tolist(),
    )


def _summary(ranking: Ranking) -> str:
    """One sentence about what the ranks show."""
    pairs, n = ranking._pairs, len(ranking._rows)
    significant = int((pairs["pvalue_adjusted"] <= ranking.alpha).sum())
    first = ranking._rows.loc[ranking._rows["rank_low"] == 1, "system"]
    method = "Holm" if "adjustment:holm" in str(pairs["signature"].iloc[0]) else "step-down max-T"
    which = f"{len(first):,} of {n:,} systems may be the best" if len(first) > 1 else f"{first.iloc[0]} is the best"
    return (
        f"{significant:,} of {len(pairs):,} pairs differ significantly, {which}; ranks and intervals hold "
        f"simultaneously (family-wise error rate {100 * ranking.alpha:g} %, {method}); † significantly better than the "
        "next system"
        f"{_without_interval(pairs) if method != 'Holm' else ''}"
    )


def _without_interval(pairs: pd.DataFrame) -> str:
    """A clause about gains without an interval, if there are any."""
    none = int(pairs["ci_low"].isna().sum())
    if not none:
        return ""
    if none == len(pairs):
        return "; gains have no intervals, because too few units differ or too few shuffles were drawn"
    return (
        f"; {none:,} of {len(pairs):,} pairs differ by the same amount on every unit, so their gains have no interval"
    )


def _drawn(ranking: Ranking) -> Figure:
    from pairsig.io.pictures import BLUE, GREY, INK, Picture

    table = ranking._rows
    n = len(table)
    height = np.arange(n)
    figure = Picture(figsize=(6.3, 0.9 + 0.17 * n))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    left.plot(-table["behind"], height, "o", color=INK, markersize=3.5, zorder=3)
    left.hlines(height, -table["behind_high"], -table["behind_low"], color=BLUE, linewidth=1.2)
    left.set_xlabel(f"gain over {table['system'].iloc[0]}, points of {table['metric'].iloc[0]}")
    left.set_yticks(height, [f"{name}  {score:.2f}" for name, score in table[["system", "score"]].to_numpy()])
    right.hlines(height, table["rank_low"], table["rank_high"], color=BLUE, linewidth=1.2)
    right.plot(table["rank"], height, "o", color=INK, markersize=3.5, zorder=3)
    right.set_xlabel("rank")
    right.set_xlim(0.5, n + 0.5)
    right.xaxis.get_major_locator().set_params(integer=True)
    for axes in (left, right):
        for border in np.flatnonzero(np.diff(table["cluster"])):
            axes.axhline(border + 0.5, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    left.set_ylim(n - 0.4, -0.6)
    return figure
