"""Who is told from whom among many systems: adjusted p-values, ranks with intervals, clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import NDArray

from pairsig import definitions, engine, paired
from pairsig.all_pairs import compare, only_metric
from pairsig.choices import choose
from pairsig.columns import RANKED_PAIRS, RANKS
from pairsig.contributions import contributions, likeness
from pairsig.engine import Progress, Resampling
from pairsig.errors import InputError
from pairsig.footnotes import of_signatures
from pairsig.lattice import lattice
from pairsig.memory import Memory
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.statistics import Statistics, by_document
from pairsig.tables import as_json, frame, listed_below, printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Adjustment = Literal["max-t", "holm"]
ADJUSTMENTS = ("max-t", "holm")
"""How p-values of all pairs are adjusted for each other."""

FORMATS = ("table", "markdown", "latex", "html", "json")
"""What ranks are printed as."""

_TIE = 1e-11
"""Statistics of a shuffle closer than this, relative to the observed one, tie with it.

Their sums are whole numbers, so that rounding is a few 1e-16 of them (some 1e-13 for values such as 1/3, which lie on
no lattice). Whole sums x and y with x/√X ≠ y/√Y differ by 1/(2y²X) of themselves at least: by 1e-10 for y = 4√X and
10,000 items that are all passed by one system alone.
"""
_FLAT = 1e-8
"""Differences that vary by less than this, relative to themselves, are the same on every unit."""
_AT_ONCE = 16
"""Shuffles that are gone through together: what is kept of all pairs stays in the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What one test set tells of the order of N systems.

    Attributes
    ----------
    systems
        One row a system, the best first, columns `RANKS`.
    pairs
        One row a pair, the most certain first, columns `RANKED_PAIRS`; `system_a` is the better one.
    alpha
        The chance, at most, that any of the statements "is better than", and so any interval of a rank, is false.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    alpha: float


def rank(
    statistics: Statistics,
    *,
    metric: str | Metric | None = None,
    adjustment: Adjustment = "max-t",
    alpha: float = 0.05,
    n_resamples: int = 100_000,
    seed: int = 2012,
    unit: Unit = "segment",
    threads: int | None = None,
    memory: Memory | int | str | None = None,
    progress: Progress | None = None,
) -> Ranking:
    """Rank N systems, and tell which of them are told from which, all pairs taken together.

    Of every pair there are two claims, "A is better than B" and "B is better than A". With probability 1 − `alpha` none
    of those that are made is false, however many systems are equal (the family-wise error, of the direction, too).

    **max-t**: randomization with the same swaps for all pairs, adjusted by the step-down procedure of Westfall and
    Young (1993), over ordered pairs as Romano and Wolf (2005) have it. With uᵢ what unit i contributes to a system's
    score (`contributions`), wᵢ the unit's share of the denominators of all systems (of all counts, where the metric is
    no `Ratio`), vᵢ = uᵢ + (score − Σu) wᵢ and dᵢ = vᵢᴬ − vᵢᴮ, a shuffle multiplies all dᵢ by signs sᵢ = ±1 that are
    common to all pairs:

        T = δ / sqrt(Σ dᵢ²),   T' = Σ sᵢdᵢ / sqrt(Σ dᵢ²)

    for the K pairs in falling order of T. The k-th has the adjusted p-value (#{q'ₖ ≥ Tₖ} + 1) / (b + 1), but at least
    that of the pair before, where q'ₖ is the largest T' of what is not yet claimed: |T'| of the pairs from k on, and
    −T' of those before, whose other direction remains. Where all systems have the same denominators (means, accuracy,
    recall, UAS), T' is exactly what swapping segments gives, and whole numbers tell ties. For BLEU, F1 and other
    functions of sums it is so to first order. Pairs with the same counts have p = 1.

    **Intervals** of gains invert that test: with eᵢ = dᵢ − δwᵢ a gain of δ − Δ is in the interval where

        |Σ (eᵢ + Δwᵢ)| <= c sqrt(Σ (eᵢ + Δwᵢ)²),   that is   (1 − c²Σwᵢ²) Δ² − 2c²Σeᵢwᵢ Δ − c²Σeᵢ² <= 0;

    if wᵢ = 1/n, these are the gains δ ± c/sqrt(1 − c²/n) · sqrt(Σeᵢ²). For c one shuffles dᵢ, as the test does, and eᵢ,
    since that is what is symmetric where systems differ; of the two 1 − `alpha` quantiles of the largest |T'| of all
    pairs c is the larger one. So an interval without 0 has an adjusted p-value of at most `alpha`. There is no interval
    of a pair that differs by the same on every unit. There is none of any pair where no gain would be rejected: if
    2^(1 − n) or 1/(b + 1) is above `alpha`, or c²Σwᵢ² is 1 or more. How often they held is told in the documentation,
    on the page on many systems.

    **holm**: exact p-values where the metric has them, else those of randomization (`compare`), adjusted over the 2K
    claims by Holm (1979): (2K − k + 1) p/2 for the k-th, at least that of the pair before and at most 1. It leans on no
    normal law nor first order, and on no relation between pairs: it is never sharper but for luck.

    **Ranks** (Mogstad, Romano, Shaikh and Wilhelm 2024): a system's rank is between 1 + the number of systems told to
    be better, and N − the number of those told to be worse. All these intervals hold at once. **Clusters**, as those of
    WMT: a line is drawn where every system above is told to be better than every one below.

    How often any claim was false at alpha = 5 %, in % of 2,000 sets of 10 systems (± 1), by max-t and, in brackets, by
    the centred bootstrap in the place of swaps, which is why it is not used:

    ====================================================  ========  ========  ========
    units                                                 20        50        200
    ====================================================  ========  ========  ========
    passed or failed, all systems equal                   3.1 (14)  3.8 (9)   5.2 (7)
    … two blocks of five, equal within                    1.4 (10)  2.4 (5)   3.2 (4)
    … which differ from a common one on 2.5 % of units    0.1 (0)   1.4 (0)   4.0 (2)
    normal, all systems equal                             5.0 (19)  4.7 (8)   4.9 (6)
    … two blocks of five, equal within                    2.1 (11)  2.8 (5)   3.3 (4)
    lognormal, all systems equal                          4.8 (8)   4.7 (5)   4.8 (4)
    ====================================================  ========  ========  ========

    Parameters
    ----------
    statistics
        Counts of all systems, at least two.
    metric
        A name or a `Metric`; may be left out when the columns fit one metric only.
    adjustment
        `max-t` or `holm`.
    alpha
        See above; also of the simultaneous intervals of gains (max-t only).
    n_resamples, seed, unit, threads, memory, progress
        See `compare`. Cost: N·n·b multiplications and some 5·N²·b operations more: 150 systems on 2,034 segments at
        b = 100,000 take 5 CPU seconds, for any metric.

    Raises
    ------
    InputError
        For input that cannot be compared, a level that is none, and too little memory.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm, Inference for Ranks with Applications to Mobility across Neighbourhoods and
    Academic Achievement across Countries (Review of Economic Studies 91, 2024).

    Examples
    --------
    >>> import numpy as np
    >>> from pairsig import Statistics
    >>> items = np.arange(60)[:, None]
    >>> counts = {"good": items % 10 > 0, "same": items % 10 > 0, "bad": items % 3 > 0}
    >>> data = Statistics.from_arrays({name: np.int64(own) for name, own in counts.items()}, ["value"])
    >>> rank(data, metric="mean", n_resamples=10_000).systems[["rank", "rank_low", "rank_high", "system"]]
       rank  rank_low  rank_high system
    0     1         1          2   good
    1     1         1          2   same
    2     3         3          3    bad
    """
    choose(adjustment, ADJUSTMENTS, "adjustment")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}, expected a number between 0 and 1")
    memory = Memory.of(memory)
    resampling = Resampling(n_resamples, seed, threads)
    chosen = registry.metric(metric) if metric is not None else only_metric(statistics)
    if adjustment == "holm":
        compared = compare(
            statistics,
            "exact",
            metric=chosen,
            n_resamples=n_resamples,
            seed=seed,
            unit=unit,
            threads=threads,
            memory=memory,
            progress=progress,
            or_draw=True,
        )
        pairs = _holm(compared)
    else:
        pairs = _max_t(statistics, chosen, alpha, unit, resampling, memory, progress)
    return Ranking(
        systems=_ranked(statistics.systems, pairs, chosen, alpha), pairs=frame(RANKED_PAIRS, pairs), alpha=alpha
    )


def _holm(compared: pd.DataFrame) -> pd.DataFrame:
    """Pairs with p-values adjusted over both claims of each."""
    pairs = compared.sort_values("p_value", kind="stable", ignore_index=True)
    claims_left = 2 * len(pairs) - np.arange(len(pairs))
    adjusted = np.maximum.accumulate(claims_left * pairs["p_value"].to_numpy() / 2)
    return pairs.assign(
        p_adjusted=np.minimum(np.where(pairs["gain"] == 0, 1.0, adjusted), 1.0),
        ci_low=np.nan,
        ci_high=np.nan,
        signature=pairs["signature"].map(lambda own: own.replace("|", "|adjustment:holm|", 1)),
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
    """Pairs with p-values adjusted by the shuffles that all have in common."""
    if len(statistics.systems) < 2:
        raise InputError(f"dataset {statistics.dataset or '(arrays)'} has one system, expected at least two")
    counts = statistics.of(metric)
    if unit == "document":
        counts = by_document(statistics.documents, counts)
    n_systems, n_units = counts.shape[:2]
    # Contributions, their whole steps and a copy in the making; a row of shuffles' worth of all pairs a thread.
    n_pairs = n_systems * (n_systems - 1) // 2
    memory.require(3 * 8 * n_systems * n_units + 1024 * n_pairs, f"the ranks of {n_systems:,} systems")
    judge = engine.Judge(counts, metric, statistics.systems, memory)
    pairs = np.column_stack(np.triu_indices(n_systems, k=1))
    gains = judge.gains(pairs)
    pairs = np.where(gains[:, None] < 0, pairs[:, ::-1], pairs)
    gains = np.abs(gains)
    _, similarity = likeness(judge.counts, metric, pairs, threads=resampling.threads, n_bytes=memory.left)
    moving = _Moving.of(judge)
    values, weights = moving.rows[:-1], moving.rows[-1] / moving.rows[-1].sum()
    sums = values.sum(axis=1, keepdims=True)
    lead, squares, spread, lean = _moments(values, weights, *pairs.T)
    spread[spread <= _FLAT**2 * squares] = 0.0
    size = np.sqrt(squares)
    t = np.divide(lead, size, out=np.zeros_like(size), where=(gains > 0) & (lead > 0))
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -t))
    first, second = np.ascontiguousarray(pairs[order].T)
    t, gains, lead, size, spread, lean = (own[order] for own in (t, gains, lead, size, spread, lean))
    per_step, per_centred = _inverse(size), _inverse(np.sqrt(spread))

    product = engine.Product([moving.rows], np.ones(1))
    n_extreme, n_own = np.zeros((2, n_pairs), dtype=np.int64)
    largest_t = np.empty((2, resampling.n_resamples))
    adding = Lock()

    def add(moved: NDArray[np.float64], number: int) -> None:
        found = np.zeros((2, n_pairs), dtype=np.int64)
        swapped, share = moved[0, :-1], moved[0, -1] / moving.rows[-1].sum()
        rows = slice(number, number + len(share))
        _step_down(swapped, first, second, lead, per_step, t * (1 - _TIE), found[0], found[1], largest_t[0, rows])
        _largest(swapped - sums * share, first, second, per_centred, largest_t[1, rows])
        with adding:
            np.add(n_extreme, found[0], out=n_extreme)
            np.add(n_own, found[1], out=n_own)

    test = definitions.find("randomization", "two-sided")
    work = replace(resampling, memory=memory.left)
    engine.for_each_batch(add, test, product, work, range(resampling.n_resamples), progress)

    b = resampling.n_resamples
    adjusted = np.maximum.accumulate(test.p_value(n_extreme, b))
    critical = _critical(largest_t, n_units, alpha)
    below, above = moving.unit * _reach(critical, spread, lean, float((weights**2).sum()))
    low = np.where(np.abs(t - critical) <= _TIE * critical, 0.0, gains - below)
    names = np.array(statistics.systems)
    signature = paired.signature(metric, test, unit, f"adjustment:max-t|{resampling.signature}")
    return pd.DataFrame(
        {
            "metric": metric.name,
            "system_a": names[first],
            "system_b": names[second],
            "score_a": judge.scores[first],
            "score_b": judge.scores[second],
            "gain": gains,
            "ci_low": np.where(np.isnan(below), np.nan, low),
            "ci_high": gains + above,
            "similarity": similarity[order],
            "p_value": np.where(gains == 0, 1.0, test.p_value(n_own, b)),
            "p_adjusted": np.where(gains == 0, 1.0, adjusted),
            "signature": signature,
        }
    )


class _Moving(NamedTuple):
    """What swapping a unit moves from one system to another, in whole steps, so that sums of it are exact.

    Where all systems have the same denominators, swapping moves numerators, and nothing is approximate. Elsewhere the
    values are contributions to first order.

    Attributes
    ----------
    rows
        Shape (systems + 1, units): the values of every system, and the weights. The difference of two rows of values
        adds up to a gain; a gain that is the same everywhere is spread over the units as the weights are.
    unit
        Points of the score in one step.
    """

    rows: NDArray[np.float64]
    unit: float

    @classmethod
    def of(cls, judge: engine.Judge) -> _Moving:
        metric, counts = judge.metric, judge.counts
        rows = np.ones((len(counts) + 1, counts.shape[1]))
        values, weights = rows[:-1], rows[-1]
        form, unit, shared = metric.form(counts), 1.0, False
        sizes = slice(None) if form is None else form.denominator
        for own, system in zip(values, counts, strict=True):
            system[:, sizes].sum(axis=1, dtype=np.float64, out=own)
        if values.min() >= 0 and values.sum(axis=1).min() > 0:
            shared = form is not None and bool((values == values[0]).all())
            weights[:] = values[0] if shared else (values / values.sum(axis=1, keepdims=True)).sum(axis=0)
        if form is not None and shared:
            for own, system in zip(values, counts, strict=True):
                above = system[:, form.numerator].sum(axis=1, dtype=np.float64)
                own[:] = weights - above if form.complement else above
            if not metric.higher_is_better:
                np.negative(values, out=values)
            unit = form.factor / float(weights.sum())
        else:
            values[:] = contributions(counts, metric)
            values += (judge.quality - values.sum(axis=1))[:, None] * (weights / weights.sum())
        for part in (values, rows[-1:]):
            (steps,) = lattice(part[:, :, None])
            part *= steps
            np.rint(part, out=part)
            unit /= steps if part is values else 1.0
        return cls(rows, unit)


@njit(nogil=True, cache=True)
def _moments(values, weights, first, second):  # type: ignore[no-untyped-def]
    """Σd, Σd², Σe² and Σew of every pair, with d the difference of values, w the weights (Σw = 1) and e = d − w Σd.

    They are added up in an order that does not depend on the machine.
    """
    found = np.zeros((4, len(first)))
    for pair in range(len(first)):
        one, other = values[first[pair]], values[second[pair]]
        lead = 0.0
        for unit in range(len(one)):
            lead += one[unit] - other[unit]
        squares = spread = lean = 0.0
        for unit in range(len(one)):
            d = one[unit] - other[unit]
            e = d - lead * weights[unit]
            squares += d * d
            spread += e * e
            lean += e * weights[unit]
        found[0, pair], found[1, pair], found[2, pair], found[3, pair] = lead, squares, spread, lean
    return found


@njit(nogil=True, cache=True)
def _step_down(moved, first, second, leads, per_step, borders, n_extreme, n_own, largest_t):  # type: ignore[no-untyped-def]
    """Count the shuffles in which what is left of the claims, from each pair on, is at least as large as its T.

    `moved` is Σ v over the swapped units of every system (systems × shuffles), so that T' is (Σd − 2 (difference of the
    two)) / sqrt(Σd²).
    """
    n_pairs, n_rows = len(first), moved.shape[1]
    statistic, before = np.empty((n_pairs, _AT_ONCE)), np.empty((n_pairs, _AT_ONCE))
    own = np.empty((len(moved), _AT_ONCE))
    running = np.empty(_AT_ONCE)
    for start in range(0, n_rows, _AT_ONCE):
        rows = min(_AT_ONCE, n_rows - start)
        own[:, :rows] = 2 * moved[:, start : start + rows]
        own[:, rows:] = 0.0
        running[:] = -np.inf
        for pair in range(n_pairs):
            a, b, lead, scale = own[first[pair]], own[second[pair]], leads[pair], per_step[pair]
            for row in range(_AT_ONCE):
                before[pair, row] = running[row]
                t = (lead - (a[row] - b[row])) * scale
                statistic[pair, row] = t
                running[row] = max(running[row], -t)
        running[:] = 0.0
        for pair in range(n_pairs - 1, -1, -1):
            border = borders[pair]
            extreme = alone = 0
            for row in range(rows):
                size = abs(statistic[pair, row])
                running[row] = max(running[row], size)
                extreme += max(running[row], before[pair, row]) >= border
                alone += size >= border
            n_extreme[pair] += extreme
            n_own[pair] += alone
        for row in range(rows):
            largest_t[start + row] = running[row]


@njit(nogil=True, cache=True)
def _largest(moved, first, second, per_step, largest_t):  # type: ignore[no-untyped-def]
    """The largest |T'| of all pairs, where the values are centred: Σ over all units is 0 for every system."""
    n_rows = moved.shape[1]
    running = np.empty(_AT_ONCE)
    own = np.zeros((len(moved), _AT_ONCE))
    for start in range(0, n_rows, _AT_ONCE):
        rows = min(_AT_ONCE, n_rows - start)
        own[:, :rows] = 2 * moved[:, start : start + rows]
        running[:] = 0.0
        for pair in range(len(first)):
            a, b, scale = own[first[pair]], own[second[pair]], per_step[pair]
            for row in range(_AT_ONCE):
                running[row] = max(running[row], abs(a[row] - b[row]) * scale)
        largest_t[start : start + rows] = running[:rows]


def _critical(largest_t: NDArray[np.float64], n_units: int, alpha: float) -> float:
    """The 1 − `alpha` quantile of the largest |T'|, the larger one of both rows; inf where no swaps could exceed it.

    Of n units the observed swap and its opposite alone are a share of 2^(1 − n), and of b shuffles the observed one is
    1/(b + 1): where either is above `alpha`, there is no gain that the test would reject.
    """
    place = math.ceil((1 - alpha) * (largest_t.shape[1] + 1))
    if place > largest_t.shape[1] or 2.0 ** (1 - n_units) > alpha:
        return math.inf
    return float(np.sort(largest_t)[:, place - 1].max())


def _reach(
    critical: float, spread: NDArray[np.float64], lean: NDArray[np.float64], concentration: float
) -> NDArray[np.float64]:
    """How far intervals reach below gains and above them (2 × pairs), in steps; nan where there is no interval.

    A gain of δ − Δ is in the interval where |Σ(e + Δw)| <= c sqrt(Σ(e + Δw)²), with Σe = 0 and Σw = 1, that is where
    (1 − c²Σw²) Δ² − 2c²Σew Δ − c²Σe² <= 0: between the roots, or everywhere if c²Σw² >= 1.
    """
    square = critical**2
    opening = 1 - square * concentration
    if not opening > _TIE:
        return np.full((2, len(spread)), np.nan)
    middle = square * lean
    half = np.sqrt(middle**2 + opening * square * spread)
    return np.where(spread > 0, np.stack([half + middle, half - middle]) / opening, np.nan)


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / the values, and 0 where they are 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _ranked(systems: Sequence[str], pairs: pd.DataFrame, metric: Metric, alpha: float) -> pd.DataFrame:
    """The systems in the order of their scores, and what the pairs tell of them."""
    positions = {name: position for position, name in enumerate(systems)}
    n = len(systems)
    scores = np.empty(n)
    ahead, told, adjusted, gain, low, high = np.zeros((6, n, n))
    for side in ("a", "b"):
        scores[pairs[f"system_{side}"].map(positions).to_numpy()] = pairs[f"score_{side}"].to_numpy()
    a, b = (pairs[side].map(positions).to_numpy(dtype=np.intp) for side in ("system_a", "system_b"))
    ahead[a, b] = pairs["gain"] > 0
    told[a, b] = pairs["p_adjusted"] <= alpha
    for square, column in ((adjusted, "p_adjusted"), (gain, "gain"), (low, "ci_low"), (high, "ci_high")):
        square[a, b] = square[b, a] = pairs[column].to_numpy()
    rank = 1 + ahead.sum(axis=0).astype(np.int64)
    # Scores that are a hair apart and count as equal need not be transitive; the score decides then.
    order = np.lexsort((np.arange(n), -scores if metric.higher_is_better else scores, rank))
    in_order = told[np.ix_(order, order)]
    new = [position == 0 or bool(in_order[:position, position:].all()) for position in range(n)]
    best = order[0]
    next_one = [*order[1:], -1]
    return frame(
        RANKS,
        pd.DataFrame(
            {
                "metric": metric.name,
                "rank": rank[order],
                "rank_low": 1 + told.sum(axis=0).astype(np.int64)[order],
                "rank_high": n - told.sum(axis=1).astype(np.int64)[order],
                "cluster": np.cumsum(new),
                "system": [systems[position] for position in order],
                "score": scores[order],
                "behind": gain[best][order],
                "behind_low": np.where(order == best, np.nan, low[best][order]),
                "behind_high": np.where(order == best, np.nan, high[best][order]),
                "p_next": [
                    adjusted[position, following] if following >= 0 else np.nan
                    for position, following in zip(order, next_one, strict=True)
                ],
                "signature": pairs["signature"].iloc[0],
            }
        ),
    )


def render(ranking: Ranking, format: str) -> str:  # noqa: A002
    """The ranks as `table` (for a terminal), `markdown`, `latex`, `html`, or `json`: objects with all digits.

    A line is drawn between clusters (in Markdown, which has none, the number of the cluster stands alone). A dagger
    marks a system that is told to be better than the one in the next row. In Markdown and LaTeX the signature follows.
    """
    table = ranking.systems
    if format == "json":
        return as_json(table)
    intervals = table["behind_low"].notna().any()
    level = f" [{100 * (1 - ranking.alpha):g} %]" if intervals else ""
    shown = pd.DataFrame(
        {
            "rank": [_span(*ends) for ends in table[["rank_low", "rank_high"]].itertuples(index=False)],
            "system": table["system"],
            str(table["metric"].iloc[0]): [
                f"{score:.2f}" + ("†" if p <= ranking.alpha else "")
                for score, p in zip(table["score"], table["p_next"], strict=True)
            ],
            f"behind{level}": [
                "" if position == 0 else f"{gain:.2f}" + ("" if np.isnan(low) else f" [{low:.2f}, {high:.2f}]")
                for position, (gain, low, high) in enumerate(
                    table[["behind", "behind_low", "behind_high"]].itertuples(index=False)
                )
            ],
            "p (next)": ["" if np.isnan(p) else f"{p:.3g}" for p in table["p_next"]],
        }
    )
    if format == "markdown":
        shown.insert(0, "cluster", table["cluster"])
    align = ["left" if name in ("system", "cluster", "rank") else "right" for name in shown.columns]
    text = printed(shown, format, align)
    told = _told(ranking)
    borders: list[int] = (np.flatnonzero(np.diff(table["cluster"])) + 1).tolist()
    if format == "html":
        lines = text.splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("<tbody>")) + 1
        for row in borders:
            lines[first + row] = lines[first + row].replace("<tr>", '<tr style="border-top: 1px solid">', 1)
        return "\n".join([*lines, f"<p>{escape(told)}</p>"])
    if format == "latex":
        text = text.replace("†", r"$^\dagger$").replace("–", "--")
    lines = text.splitlines()
    if format != "markdown":
        before = {"table": 2, "latex": 4}[format]
        line = {"table": lines[1].replace("-", "·"), "latex": "\\midrule"}[format]
        for row in reversed(borders):
            lines.insert(before + row, line)
    below = listed_below([told], format) + of_signatures(ranking.pairs["signature"], format)
    return "\n".join(lines) + ("\n" if format == "markdown" else "") + below


def _told(ranking: Ranking) -> str:
    """One sentence on what the ranks say."""
    pairs, n = ranking.pairs, len(ranking.systems)
    told = int((pairs["p_adjusted"] <= ranking.alpha).sum())
    first = ranking.systems.loc[ranking.systems["rank_low"] == 1, "system"]
    method = "Holm" if "adjustment:holm" in str(pairs["signature"].iloc[0]) else "step-down max-T"
    which = f"{len(first):,} of {n:,} systems may be the best" if len(first) > 1 else f"{first.iloc[0]} is the best"
    return (
        f"{told:,} of {len(pairs):,} pairs are told apart, {which}; all that is told, ranks and intervals, holds "
        f"together with {100 * (1 - ranking.alpha):g} % ({method}); † told to be better than the next"
        f"{_without_interval(pairs) if method != 'Holm' else ''}"
    )


def _without_interval(pairs: pd.DataFrame) -> str:
    """What is said where gains have no interval; else nothing."""
    none = int(pairs["ci_low"].isna().sum())
    if 0 < none == len(pairs):
        return "; there are no intervals of gains: too few units differ, or too few shuffles were drawn"
    return (
        f"; {none:,} of {len(pairs):,} pairs differ by the same on every unit, so their gains have no interval"
        if none
        else ""
    )


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def draw(ranking: Ranking, path: str | Path) -> None:
    """A picture of the ranks, as SVG, PDF or PNG: by how much systems are behind the first, and where they may stand.

    Needs matplotlib.

    Raises
    ------
    InputError
        If matplotlib is missing.
    """
    from pairsig import pictures

    pictures.save(pictures.styled(_drawn)(ranking), path)


def _drawn(ranking: Ranking) -> Figure:
    from matplotlib.figure import Figure

    from pairsig.pictures import BLUE, GREY, INK

    table = ranking.systems
    n = len(table)
    height = np.arange(n)
    figure = Figure(figsize=(6.3, 0.9 + 0.17 * n))
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
