"""Ranks of many systems, with simultaneous intervals, adjusted p-values and clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons.compare import Data, prepared
from pairsig.core.definitions import find
from pairsig.core.influence import errors_and_correlations, influence_values
from pairsig.core.loops import check_few
from pairsig.core.scores import Scorer
from pairsig.core.steps import steps_by_column
from pairsig.core.totals import Product, Resampling
from pairsig.io import rendering
from pairsig.io.choices import check_level
from pairsig.io.columns import RANKED_PAIRS, RANKS
from pairsig.io.errors import InputError, named
from pairsig.io.memory import free, require
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.metrics.names import metric_name
from pairsig.stats import paired
from pairsig.stats.paired import Unit

Floats = NDArray[np.float64]

_TIE = 1e-11
"""A statistic of a shuffle that is closer than this to the observed one, relative to it, counts as a tie."""
_NOISE = 2.0**-46
"""Differences below this share of the largest contribution are rounding errors."""
_AT_ONCE = 2**18
"""Numbers of pairs that are computed at once: 2 MiB, which stay in the processor's cache."""

_SKEWED = 0.3
"""Skewness of a system's values, divided by √units, from which on large or rare values decide.

Of simulated test sets of equally good systems with skewed values, those beyond it had false claims on 12 to 15 %."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(TableResult):
    """Systems in the order of their scores, with simultaneous intervals of their ranks: what `rank` returns.

    `print` shows the table that `pairsig rank` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per system, the best first; the columns are those of `pairsig rank`.
    pairs
        One row per pair, the most certain first; `system_a` is the better one. The columns are those of
        `pairsig rank --pairs`.
    alpha
        Family-wise error rate: the probability, at most, that any of the statements "is better than", and so any
        interval of a rank, is false.
    notes
        Sentences about the data.
    """

    pairs: pd.DataFrame
    alpha: float

    def _rendered(self, format: str) -> str:  # noqa: A002
        notes = [f"<p>{escape(note)}</p>" if format == "html" else f"- {note}" for note in self.notes]
        return "\n".join([render(self, format), *notes])


def rank(
    data: Data,
    *,
    metric: str | Metric | None = None,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    rng: int = 2012,
    unit: Unit = "segment",
    threads: int | None = None,
) -> Ranking:
    """Rank many systems, with simultaneous intervals of their ranks and adjusted p-values for all pairs.

    With probability 1 − `alpha`, none of the statements "A is better than B" is false, however many systems are equally
    good. This is what `pairsig rank` does on the command line.

    Parameters
    ----------
    data, metric
        The scores of all systems, as for `compare`. Every run counts as a system of its own.
    alpha
        Family-wise error rate of the ranks, the p-values and the intervals of gains.
    n_resamples
        Number of shuffles.
    rng
        Seed of the random numbers.
    unit
        "document" to swap whole documents instead of segments.
    threads
        Number of threads; default: all cores. It changes nothing but time.

    Returns
    -------
    Ranking
        `print` it for the table of `pairsig rank`; `.table` has one row per system, `.pairs` one per pair.

    Raises
    ------
    InputError
        If the data cannot be compared, if `alpha` is not between 0 and 1, or if half of the free memory does not
        suffice.

    Notes
    -----
    A shuffle swaps the same units for all pairs. With the gain δ of a pair and dᵢ the difference of the two systems'
    contributions on unit i, T = |δ| / sqrt(Σ dᵢ²), and T' is the same after the shuffle. In falling order of T, the
    k-th pair has the adjusted p-value (#{maxⱼ≥ₖ T'ⱼ >= Tₖ} + 1) / (b + 1), at least that of the pair before: step-down
    max-T (Westfall and Young 1993; Romano and Wolf 2005). Ranks follow Mogstad et al. (2024): a system has as many
    better ones as are significantly better. The intervals of gains are single-step: with c the 1 − α quantile of the
    largest T' of all pairs, for differences eᵢ = dᵢ − δwᵢ that are centred (w the units' shares of the test set), they
    contain all Δ with |Σ eᵢ + wᵢ(δ − Δ)| <= c sqrt(Σ (eᵢ + wᵢ(δ − Δ))²). docs/ranks.md has the simulated error rate.

    The cost is N·n·b multiplications and about 5·N²·b other operations, for N systems, n units and b shuffles.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> items = np.arange(60)
    >>> scores = {"good": items % 10 > 0, "same": items % 10 > 0, "bad": items % 3 > 0}
    >>> result = pairsig.rank(scores)
    >>> result.table[["rank", "rank_low", "rank_high", "system"]]
       rank  rank_low  rank_high system
    0     1         1          2   good
    1     1         1          2   same
    2     3         3          3    bad
    """
    check_level(alpha, "significance level")
    statistics, chosen = prepared(data, metric)
    if len(statistics.systems) < 2:
        raise InputError(f"found one system, {named(statistics.systems[0])}, expected at least two to rank")
    n_pairs = math.comb(len(statistics.systems), 2)
    check_few(n_pairs)
    counts = statistics.of_units(chosen, unit)
    # Influence values, the same in whole steps, and a copy while these are computed; about a kilobyte per pair.
    require(3 * 8 * counts[:, :, 0].size + 1024 * n_pairs, f"ranking {len(counts):,} systems", 0.5)
    scorer = Scorer(counts, chosen, statistics.systems)
    pairs, gains = scorer.better_first()
    values, weights = _contributions(scorer)
    resampling = Resampling(n_resamples, rng, threads, memory=free() // 2)
    order, p_alone, p_adjusted, low, high = _max_t(values, weights, pairs, gains, alpha, resampling)
    pairs, gains = pairs[order], gains[order]
    _, correlation = errors_and_correlations(counts, chosen, pairs, threads=threads)
    names, (a, b) = np.array(statistics.systems), pairs.T
    drawn = f"adjustment:max-t|{resampling.signature}"
    signature = paired.signature(chosen, find("randomization"), unit, drawn, statistics)
    compared = frame(
        RANKED_PAIRS,
        {
            "metric": chosen.name,
            "system_a": names[a],
            "system_b": names[b],
            "score_a": scorer.scores[a],
            "score_b": scorer.scores[b],
            "gain": gains,
            "ci_low": low,
            "ci_high": high,
            "correlation": correlation,
            "pvalue": p_alone,
            "pvalue_adjusted": p_adjusted,
            "signature": signature,
        },
    )
    systems = _ranked(scorer, pairs, gains, p_adjusted, low, high, alpha)
    systems = frame(RANKS, systems | {"metric": chosen.name, "signature": signature})
    return Ranking(
        table=systems,
        pairs=compared,
        alpha=alpha,
        notes=tuple(dict.fromkeys([*filter(None, [_skewed(values, unit)]), *statistics.notes])),
    )


def _contributions(scorer: Scorer) -> tuple[Floats, Floats]:
    """What each unit contributes to each score, (systems × units), and the units' shares of the test set, (units,).

    The contributions are influence values plus the unit's share of the score, so they sum to the score (its negative
    where lower is better), and swapping a unit exchanges its contributions to both systems. For ratios with the same
    denominators they are exact, otherwise they hold to first order.
    """
    n_units = scorer.counts.shape[1]
    weights = np.full(n_units, 1 / n_units)
    if scorer.form is None:
        values = influence_values(scorer.counts, scorer.metric)
    else:  # the same, without rounding errors of numerical derivatives, which would break ties
        above, below = (column.astype(np.float64) for column in scorer.columns)
        of_all = below.sum(axis=0)
        if of_all.min() >= 0 and of_all.sum() > 0:
            weights = of_all / of_all.sum()
        size = np.maximum(below.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        factor = scorer.form.factor if scorer.metric.higher_is_better else -scorer.form.factor
        values = factor * (above - above.sum(axis=1, keepdims=True) / size * below) / size
    values += (scorer.quality - values.sum(axis=1))[:, None] * weights
    return values, weights


def _max_t(
    values: Floats,
    weights: Floats,
    pairs: NDArray[np.intp],
    gains: Floats,
    alpha: float,
    resampling: Resampling,
) -> tuple[NDArray[np.intp], Floats, Floats, Floats, Floats]:
    """Order of the pairs by T, and in this order: p of each pair alone, adjusted p, and ends of the intervals."""
    noise = _NOISE * float(np.abs(values).max())
    squares, spread, lean = (np.empty(len(pairs)) for _ in range(3))  # Σd², Σe² and Σew
    for start in range(0, len(pairs), max(1, _AT_ONCE // values.shape[1])):
        some = slice(start, start + max(1, _AT_ONCE // values.shape[1]))
        d = values[pairs[some, 0]] - values[pairs[some, 1]]
        squares[some] = np.einsum("pu,pu->p", d, d)
        d -= weights * d.sum(axis=1, keepdims=True)
        d[np.abs(d) <= noise] = 0.0
        spread[some], lean[some] = np.einsum("pu,pu->p", d, d), d @ weights
    t = np.where(gains > 0, gains * _inverse(np.sqrt(squares)), 0.0)
    order = np.argsort(-t, kind="stable")
    first, second = pairs[order].T
    t, gains, spread, lean = t[order], gains[order], spread[order], lean[order]
    border = t[:, None] * (1 - _TIE)
    inverse, inverse_centred = _inverse(np.sqrt(squares[order]))[:, None], _inverse(np.sqrt(spread))[:, None]
    rows = np.vstack([values, weights])
    product = Product([rows], steps_by_column([rows]))
    total = values.sum(axis=1)
    n_alone, n_extreme = np.zeros((2, len(pairs)), dtype=np.int64)
    largest = np.empty(resampling.n_resamples)
    adding = Lock()

    def add(distinct: Floats, number: int) -> None:
        moved = product.totals(distinct)[0]  # Σ v of the swapped units, (systems + 1) × shuffles
        signed = total[:, None] - 2 * moved[:-1]  # Σ ±v
        centred = signed - total[:, None] * (1 - 2 * moved[-1])  # Σ ±(v − w Σv)
        for start in range(0, signed.shape[1], max(1, _AT_ONCE // len(pairs))):
            some = slice(start, start + max(1, _AT_ONCE // len(pairs)))
            statistic = signed[first, some]
            statistic -= signed[second, some]
            np.abs(statistic, out=statistic)
            statistic *= inverse
            alone = (statistic >= border).sum(axis=1)
            # Step-down: the largest statistic of a pair and of all pairs behind it.
            extreme = (np.maximum.accumulate(statistic[::-1], axis=0)[::-1] >= border).sum(axis=1)
            single_step = (np.abs(centred[first, some] - centred[second, some]) * inverse_centred).max(axis=0)
            largest[number + start : number + start + len(single_step)] = single_step
            with adding:
                np.add(n_alone, alone, out=n_alone)
                np.add(n_extreme, extreme, out=n_extreme)

    product.for_each_batch(add, "swap", resampling)
    b = resampling.n_resamples
    p_alone, p_adjusted = (n_alone + 1) / (b + 1), np.maximum.accumulate((n_extreme + 1) / (b + 1))
    below, above = _reach(_critical(largest, values.shape[1], alpha), spread, lean, float(weights @ weights))
    equal = gains == 0
    return (
        order, np.where(equal, 1.0, p_alone), np.where(equal, 1.0, p_adjusted), gains - below, gains + above,
    )  # fmt: skip


def _critical(largest: Floats, n_units: int, alpha: float) -> float:
    """The 1 − `alpha` quantile of the largest T'; inf if no gain can be rejected.

    That is the case if 2^(1 − n) is above `alpha`, the share of the observed swap of n units and its opposite, or if
    1/(b + 1) is, the share of the observed one among b shuffles.
    """
    place = math.ceil((1 - alpha) * (len(largest) + 1))
    if place > len(largest) or 2.0 ** (1 - n_units) > alpha:
        return math.inf
    return float(np.sort(largest)[place - 1])


def _reach(critical: float, spread: Floats, lean: Floats, concentration: float) -> tuple[Floats, Floats]:
    """How far intervals reach below and above the gains, (pairs,) each; nan where there is no interval.

    A gain of δ − Δ is in the interval if |Σ(e + Δw)| <= c sqrt(Σ(e + Δw)²), with Σe = 0 and Σw = 1, that is where
    (1 − c²Σw²) Δ² − 2c²Σew Δ − c²Σe² <= 0: between the roots, or always if c²Σw² >= 1.
    """
    square = critical**2
    opening = 1 - square * concentration
    if not opening > _TIE:
        return np.full(len(spread), np.nan), np.full(len(spread), np.nan)
    middle = square * lean
    half = np.sqrt(middle**2 + opening * square * spread)
    none = np.where(spread > 0, 1.0, np.nan)
    return none * (half + middle) / opening, none * (half - middle) / opening


def _skewed(values: Floats, unit: Unit) -> str:
    """A warning if large or rare values decide, so that the family-wise error rate may exceed its level; else ""."""
    values = values - values.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(values).mean(axis=1))
    cubes = np.abs((values**3).mean(axis=1))
    skewness = np.divide(cubes, spread**3, out=np.zeros_like(cubes), where=spread > 0)
    if skewness.max() <= _SKEWED * math.sqrt(values.shape[1]):
        return ""
    return (
        f"large or rare values decide the scores on {values.shape[1]:,} {unit}s: ranks, p-values and intervals of "
        "gains contain a false claim on 6 to 15 % of such test sets, not on 5 %, and on a third of them where the "
        "spread of the values differs much between systems"
    )


def _inverse(values: Floats) -> Floats:
    """The reciprocals of the values; 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _ranked(
    scorer: Scorer, pairs: NDArray[np.intp], gains: Floats, p: Floats, low: Floats, high: Floats, alpha: float
) -> dict[str, Any]:
    """Columns of table `RANKS`: the systems in the order of their scores, with the ranks that pairs leave possible."""
    n, scores, (a, b) = len(scorer.names), scorer.scores, pairs.T
    # Squares (systems × systems): whether a system has the better score, and significantly so; the rest symmetric.
    ahead, beats, adjusted, behind, lowest, highest = np.zeros((6, n, n))
    ahead[a, b], beats[a, b] = gains > 0, p <= alpha
    for square, of_pairs in ((adjusted, p), (behind, gains), (lowest, low), (highest, high)):
        square[a, b] = square[b, a] = of_pairs
    rank = 1 + ahead.sum(axis=0).astype(np.int64)
    # Nearly equal scores count as equal, which is not transitive; the score itself decides then.
    order = np.lexsort((np.arange(n), -scorer.quality, rank))
    # A cluster begins where all systems before it are significantly better than all from it on.
    in_order = beats[np.ix_(order, order)]
    best, others = order[0], order != order[0]
    return {
        "rank": rank[order],
        "rank_low": 1 + beats.sum(axis=0).astype(np.int64)[order],
        "rank_high": n - beats.sum(axis=1).astype(np.int64)[order],
        "cluster": np.cumsum([place == 0 or bool(in_order[:place, place:].all()) for place in range(n)]),
        "system": [scorer.names[system] for system in order],
        "score": scores[order],
        "behind": behind[best][order],
        "behind_low": np.where(others, lowest[best][order], np.nan),
        "behind_high": np.where(others, highest[best][order], np.nan),
        "p_next": [*adjusted[order[:-1], order[1:]], np.nan],
    }


def render(ranking: Ranking, format: str) -> str:  # noqa: A002
    """The ranks in a format of `rendering`.

    A line separates clusters; in Markdown, which has no such lines, a column has the number of the cluster. A dagger
    marks a system that is significantly better than the next one. In Markdown and LaTeX the signature follows.
    """
    table = ranking.table
    dagger = np.where(table["p_next"] <= ranking.alpha, "†", "")
    rows = table.assign(
        ranks=[f"{a}" if a == b else f"{a}–{b}" for a, b in zip(table["rank_low"], table["rank_high"], strict=True)],
        score=[f"{score:.2f}{mark}" for score, mark in zip(table["score"], dagger, strict=True)],
        behind=table["behind"].where(table.index > 0),
    )
    level = f" [{100 * (1 - ranking.alpha):g} %]" if table["behind_low"].notna().any() else ""
    columns = RANKS.view(
        cluster="",
        ranks="rank",
        system="",
        score=metric_name(table["metric"].iloc[0]),
        behind=f"behind{level}",
        p_next="",
    )
    return rendering.render(
        rows,
        columns if format == "markdown" else columns[1:],
        format,
        notes=[_summary(ranking), *_key(ranking, "a new cluster" if format == "markdown" else "a line")],
        signatures=ranking.pairs["signature"],
        borders=(np.flatnonzero(np.diff(table["cluster"])) + 1).tolist(),
    )


def _summary(ranking: Ranking) -> str:
    """One sentence about what the ranks show."""
    pairs, n = ranking.pairs, len(ranking.table)
    significant = int((pairs["pvalue_adjusted"] <= ranking.alpha).sum())
    first = ranking.table.loc[ranking.table["rank_low"] == 1, "system"]
    which = f"{len(first):,} of {n:,} systems may be the best" if len(first) > 1 else f"{first.iloc[0]} is the best"
    without, n_without = "", int(pairs["ci_low"].isna().sum())
    if n_without == len(pairs):
        without = "; gains have no intervals, because too few units differ or too few shuffles were drawn"
    elif n_without:
        without = (
            f"; {n_without:,} of {len(pairs):,} pairs differ by the same amount on every unit, so their gains have no "
            "interval"
        )
    return (
        f"{significant:,} of {len(pairs):,} pairs differ significantly, {which}; ranks and intervals hold "
        f"simultaneously (family-wise error rate {100 * ranking.alpha:g} %, max-T){without}"
    )


def _key(ranking: Ranking, border: str) -> list[str]:
    """What the columns and lines of the table mean."""
    p = f"p (next): p-value of the system and the next one, adjusted for all pairs; †: at most {ranking.alpha:g}"
    if ranking.table["cluster"].iloc[-1] == 1:
        return [p]
    return [p, f"{border}: all systems above are significantly better than all below"]
