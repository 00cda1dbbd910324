"""Bootstrap and randomization tests of many pairs of systems on the same draws.

The totals of every system on every resample are one matrix product. Its first factor is the bootstrap's matrix of
counts (resamples × units) or the randomization's 0/1 matrix of swaps; the second holds the statistics of all systems.
Worker threads draw, multiply, score and count batch by batch, and only integers leave a batch. Draws depend on the
number of the resample alone (see `random_streams`) and products are exact integers. Therefore the counts are the same
for any batch size, number of threads and split into parts.

The engine counts how often a gain is beyond a border, and how often it is on the border. Both counts are exact if the
metric is a ratio of whole numbers: rounding errors are bounded, and gains that are nearer to the border than the bound
are compared as integers. Gains of other metrics tie within `TIE_TOLERANCE`.
"""

from __future__ import annotations

import operator
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from pairsig.core import random_streams
from pairsig.core.compiled import compiled, summed
from pairsig.core.definitions import Test, find
from pairsig.core.exceedances import ExceedanceCounts
from pairsig.core.random_streams import fill_counts
from pairsig.core.threads import on_threads
from pairsig.io.choices import choose
from pairsig.io.errors import InputError, LongRun
from pairsig.io.memory import Memory, too_little
from pairsig.metrics import Metric
from pairsig.metrics.exact_arithmetic import (
    EXACT,
    fingerprint,
    in_steps,
    largest,
    some_systems,
    steps_by_column,
    too_large,
    totals,
    whole_numbers,
)
from pairsig.metrics.ratios import Fractions

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Progress = Callable[[int], object]
"""Called with a number of resamples as they are finished, from any thread."""

Place = Callable[[tuple[int, ...]], str]
"""Names the system and the resample of the score at a position."""

Estimator = Literal["near-exact", "plain"]
"""How the p-value of randomization follows from shuffles."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TIE_TOLERANCE = 1e-13
"""Gains that differ by less than this share of the metric's scale are equal.

It is used where whole numbers cannot decide (see `ratios`): for metrics of another form (BLEU, chrF) and for values
that are not multiples of a common step (1/3). Rounding errors of a difference of two scores are some 1e-16 of the
scale.
"""

MAX_RESAMPLES = 10**12
"""The limit for a test; counters cannot overflow below it."""

MOST_SECONDS = 24 * 3600
"""What would take longer is refused."""
LONG_SECONDS = 60
"""What will take longer is announced."""

Seed: TypeAlias = "int | Sequence[int] | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None"
"""What `numpy.random.default_rng` takes."""

MAX_SEED = 2**128 - 1
MAX_THREADS = 1024

_EXACT_FLOAT32 = 2.0**24
_BATCH_ELEMENTS = 2**22
"""Elements of a batch's draws matrix: 16 MiB in float32. Products of few rows with many units are slower."""
_CACHE_ELEMENTS = 2**16
"""Elements of the draws that are multiplied at once where there are few columns: 256 KiB in float32."""
_FEW_COLUMNS = 16
_FOUR = 4
"""Resamples that are multiplied with few columns at a time."""
_FEW_UNITS = 8
"""A column is derived from another one if they differ on at most one in so many units; see `Product`."""
_SCORED_ELEMENTS = 2**15
"""Resamples of systems that are scored at once: 256 KiB for each column of their totals."""
_SHUFFLED_ELEMENTS = 2**19
"""Totals after shuffles that are scored at once: 4 MiB for each of the two systems of the pairs."""
_FEWEST_ROWS = 16
_SCORING = 24
"""Bytes that scoring takes for each total, in addition to the total."""
_DRAWS = {"resample": random_streams.bootstrap_counts, "swap": random_streams.swaps}
_MOST_ELEMENTS = 2**28
"""Largest draws matrix for a batch size that the user chooses: 1 GiB in float32."""


@dataclass(frozen=True)
class Resampling:
    """Number of resamples, seed and computing resources of a Monte Carlo test.

    Attributes
    ----------
    n_resamples
        b, at most `MAX_RESAMPLES`.
    seed
        The same seed gives the same counts for any batch size, number of threads or machine.
    threads, batch
        Worker threads (default: all cores) and resamples per batch; they only change time and memory.
    memory
        Bytes that drawing, multiplying and scoring may take; by default there is no limit. See `Work`.
    estimator
        Of randomization: "near-exact", see `pairsig.stats.near_exact`, or "plain", the share of extreme shuffles.
    """

    n_resamples: int = 1_000_000
    seed: int = 2012
    threads: int | None = None
    batch: int | None = None
    memory: int | None = None
    estimator: Estimator = "near-exact"

    def __post_init__(self) -> None:
        check_whole("number of resamples", self.n_resamples, 1, MAX_RESAMPLES)
        check_whole("seed", self.seed, 0, MAX_SEED)
        choose(self.estimator, get_args(Estimator), "estimator")
        if self.threads is not None:
            check_whole("number of threads", self.threads, 1, MAX_THREADS)
        if self.batch is not None:  # how many are too many depends on the number of units
            check_whole("batch size", self.batch, 1, MAX_RESAMPLES)

    def part(self, k: int, m: int) -> range:
        """The resamples of the k-th of m parts."""
        return range((k - 1) * self.n_resamples // m, k * self.n_resamples // m)

    @property
    def signature(self) -> str:
        """The part of a signature that the counts depend on."""
        estimator = "" if self.estimator == "near-exact" else f"|estimator:{self.estimator}"
        return f"resamples:{self.n_resamples}|seed:{self.seed}{estimator}"


def seed_of(rng: Seed) -> int:
    """The seed that a user gives: an integer, or one that is drawn from what `numpy.random.default_rng` makes of it."""
    try:
        seed = operator.index(rng)  # type: ignore[arg-type]
    except TypeError:
        try:
            return int(np.random.default_rng(rng).integers(2**63))
        except (TypeError, ValueError):
            raise InputError(
                f"rng is {rng!r}, expected a whole number, or what numpy.random.default_rng takes"
            ) from None
    check_whole("seed", seed, 0, MAX_SEED)
    return seed


class Scorer:
    """Scores of systems, on the test set and on resamples of it.

    Parameters
    ----------
    counts
        Statistics (systems × units × columns of the metric's totals), see `Statistics.of`.
    metric
        Metric of the scores.
    names
        Names of the systems, for messages; by default their numbers.
    memory
        Memory that is available; by default there is no limit.

    Attributes
    ----------
    quality
        Scores of the systems, their sign changed where lower is better.

    Raises
    ------
    InputError
        For counts whose sums cannot be exact, and for scores that are not finite.
    """

    def __init__(
        self,
        counts: NDArray[Any],
        metric: Metric,
        names: Sequence[str] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.counts = counts
        self.metric = metric
        self.names = names or [str(number) for number in range(1, len(counts) + 1)]
        self.quality = score(totals(counts), metric, lambda at: f"system {self.names[at[0]]} on the whole test set")
        self.fractions = Fractions.of(metric, counts, memory)
        if self.fractions is None and metric.form(counts) is not None and whole_numbers(counts):
            raise too_large(counts)
        self.band = self.fractions.rounding if self.fractions else TIE_TOLERANCE * _scale(metric, counts)

    @cached_property
    def product(self) -> Product:
        """Draws times statistics."""
        if self.fractions is None:
            return Product(list(np.moveaxis(self.counts, -1, 0)), steps_by_column(self.counts))
        return Product([self.fractions.numerators, self.fractions.denominators], np.ones(2))

    @property
    def scores(self) -> Floats:
        """Scores of the systems, with the sign of the metric."""
        return self.quality if self.metric.higher_is_better else -self.quality

    def gains(self, pairs: NDArray[np.intp]) -> Floats:
        """By how much the first of each pair is better than the second; exactly 0 where they are equal."""
        gains = self.quality[pairs[:, 0]] - self.quality[pairs[:, 1]]
        if self.fractions is None:
            return np.where(np.abs(gains) <= self.band, 0.0, gains)
        factor = self.fractions.factor
        for row in np.flatnonzero(np.abs(gains) <= factor * self.band):
            top, bottom = self.fractions.gain(*pairs[row].tolist())
            if top * gains[row] <= 0:  # rounding has invented a gain, lost one or changed its sign
                gains[row] = factor * (top / bottom)
        return gains

    def better_first(self) -> tuple[NDArray[np.intp], Floats]:
        """Positions of all pairs of systems (pairs × 2), the better one first, and their gains, which are >= 0."""
        pairs = np.column_stack(np.triu_indices(len(self.counts), k=1))
        gains = self.gains(pairs)
        return np.where(gains[:, None] < 0, pairs[:, ::-1], pairs), np.abs(gains)

    def exceedances(
        self,
        pairs: NDArray[np.intp],
        test: Test,
        resampling: Resampling,
        *,
        favoured: bool = True,
        resamples: range | None = None,
        progress: Progress | None = None,
    ) -> ExceedanceCounts:
        """Count the extreme resamples of pairs of systems over the same draws.

        Parameters
        ----------
        pairs
            Positions (pairs × 2) of the better and the other system.
        test
            A Monte Carlo test.
        favoured
            Whether its alternative is that the first system of a pair is better, see `Test.favours`.
        resamples
            Some of the resamples of `resampling`; by default all.
        progress
            Called with numbers of resamples as they are finished.

        Raises
        ------
        InputError
            For a score that is not finite on a resample, and for the bootstrap of a single unit.
        """
        if test.draw == "resample" and self.product.n_units < 2:
            raise InputError(
                "the test set is a single segment (or a single document, if documents are drawn), so every resample is "
                "the test set itself; the bootstrap needs at least two"
            )
        resamples = range(resampling.n_resamples) if resamples is None else resamples
        borders = [Border.of(self, pairs, *border) for border in test.borders(favoured)]
        beyond, at_least = np.zeros((2, len(pairs)), dtype=np.int64)
        adding = Lock()
        # If whole numbers decide for all pairs, they are counted where the product left them.
        small = test.draw == "resample" and all((border.kinds == _SMALL).all() for border in borders)
        counts = [border.count_of_small(self.product.index, pairs) for border in borders if small]

        def add(drawn: Floats, number: int) -> None:
            in_batch = np.zeros((2, len(pairs)), dtype=np.int64)
            if small:
                for count in counts:
                    count(drawn, in_batch)
            elif test.draw == "resample":
                scored = self.resampled(drawn, number)
                for border in borders:
                    border.count(scored, pairs, slice(None), in_batch)
            else:
                for scored, positions, _, rows in self.shuffled(drawn, pairs, number):
                    for border in borders:
                        border.count(scored, positions, rows, in_batch)
            with adding:
                np.add(beyond, in_batch[0], out=beyond)
                np.add(at_least, in_batch[1], out=at_least)

        for_each_batch(add, test, self.product, resampling, resamples, progress)
        equal = at_least - beyond
        if len(borders) > 1:  # without a better system, both sides have the same border
            equal[self.gains(pairs) == 0] //= 2
        return ExceedanceCounts(len(resamples), beyond, equal)

    def for_each_batch(
        self, take: Callable[[Floats, int], None], resampling: Resampling, progress: Progress | None = None
    ) -> None:
        """Draw the bootstrap's resamples; `take` gets scores (systems × resamples) and the number of the first one.

        Higher is better in these scores, and only their differences matter: a constant may be left out.
        """
        factor = self.fractions.factor if self.fractions else 1.0

        def scored(drawn: Floats, number: int) -> None:
            take(factor * self.resampled(drawn, number).scores, number)

        resamples = range(resampling.n_resamples)
        for_each_batch(scored, find("bootstrap"), self.product, resampling, resamples, progress)

    def shuffled(
        self, moved: Floats, pairs: NDArray[np.intp], number: int, places: NDArray[np.intp] | None = None
    ) -> Iterator[tuple[Scored, NDArray[np.intp], Floats, slice]]:
        """Scores of some pairs after the swaps, all first systems before all second ones.

        `moved` has the totals over the swapped units (columns × systems × shuffles), of which the first is `number`. If
        it has other systems than the scorer, `places` are the positions (pairs × 2) in it. Also returned are the
        positions of each pair among the scores (pairs × 2), what the first systems gained by the swaps (columns × pairs
        × shuffles), and which pairs these are.
        """
        # With M the totals over the swapped units and T those over all, A's shuffled totals are T_A + (M_B − M_A), and
        # B's are T_B − (M_B − M_A): one product per system serves all pairs.
        n_columns, _, n_rows = moved.shape
        total = self.product.observed.T[:, :, None]
        chunk = max(1, _SHUFFLED_ELEMENTS // (n_rows * (n_columns + 2)))  # 2: for what is made of the scores
        for start in range(0, len(pairs), chunk):
            a, b = pairs[start : start + chunk].T
            from_a, from_b = (a, b) if places is None else places[start : start + chunk].T
            exchanged = moved[:, from_b] - moved[:, from_a]
            shuffled = np.empty((n_columns, 2 * len(a), n_rows))
            np.add(total[:, a], exchanged, out=shuffled[:, : len(a)])
            np.subtract(total[:, b], exchanged, out=shuffled[:, len(a) :])
            systems = np.concatenate([a, b])

            def place(at: tuple[int, ...], systems: NDArray[np.intp] = systems) -> str:
                return f"system {self.names[systems[at[0]]]} after shuffle {number + at[1]}"

            positions = np.arange(2 * len(a)).reshape(2, -1).T
            yield self.scored(shuffled, place), positions, exchanged, slice(start, start + len(a))

    def resampled(self, distinct: NDArray[Any], number: int) -> Scored:
        """Scores from the totals of the distinct columns on resamples, of which the first is `number`.

        A few systems are scored at a time, because their totals then stay in the processor's cache.
        """
        at_once = max(1, _SCORED_ELEMENTS // distinct.shape[1])

        def of_some(first: int) -> Scored:
            totals = self.product.totals(distinct, slice(first, first + at_once))
            return self.scored(totals, lambda at: f"system {self.names[first + at[0]]} on resample {number + at[1]}")

        parts = [of_some(first) for first in range(0, len(self.counts), at_once)]
        return parts[0] if len(parts) == 1 else Scored(*map(np.concatenate, zip(*parts, strict=True)))

    def scored(self, drawn: Floats, place: Place) -> Scored:
        """Scores of totals (columns, systems, resamples)."""
        if self.fractions is None:
            scores = np.ascontiguousarray(score(np.moveaxis(drawn, 0, -1), self.metric, place))
            return Scored(scores, *np.empty((2, 0, 0)))
        above, below = drawn
        if self.fractions.over_nothing_occurs:
            nothing = (below == 0) & (above != 0)
            above[nothing] = self.fractions.over_nothing.numerator
            below[nothing] = self.fractions.over_nothing.denominator
        np.maximum(below, 1.0, out=below)  # 0 / 0 is 0
        return Scored(above / below, above, below)


class Scored(NamedTuple):
    """Scores (systems × resamples) and, for ratios, their numerators and denominators, whole numbers."""

    scores: Floats
    above: Floats
    below: Floats


@dataclass(frozen=True)
class Border:
    """Border beyond which gains of pairs of systems are extreme: a multiple of the observed gains.

    Attributes
    ----------
    sign
        1 for the gain of the first system over the second, −1 for the gain of the second over the first.
    values
        One border per pair.
    band
        For gains this close to the border, floating-point numbers cannot decide on which side they are.
    exact
        The borders as numerators and denominators; empty if gains within the band are ties.
    whole
        The same (2 × pairs) modulo 2⁶⁴.
    kinds
        How gains within the band are compared: `_TIE`, `_SMALL`, `_WRAPPED` or `_LARGE`.
    precision
        The floating-point type in which `_SMALL` borders are compared exactly.
    """

    sign: int
    values: Floats
    band: float
    exact: list[tuple[int, int]]
    whole: Integers
    kinds: NDArray[np.int8]
    precision: type[np.floating[Any]] = np.float64

    @classmethod
    def of(cls, scorer: Scorer, pairs: NDArray[np.intp], sign: int, multiple: int) -> Border:
        """The borders of pairs, the better system first, for the (sign, multiple) of `Test.borders`."""
        n, fractions = len(pairs), scorer.fractions
        if fractions is None:
            values = multiple * scorer.gains(pairs)
            return cls(sign, values, scorer.band, [], np.zeros((2, n), dtype=np.int64), np.full(n, _TIE, dtype=np.int8))
        # The border as top / bottom; a gain n₁/d₁ − n₂/d₂ is beyond it if (n₁d₂ − n₂d₁) bottom > top d₁d₂.
        exact = [fractions.gain(first, second, multiple) for first, second in pairs.tolist()]
        tops, bottoms = np.array(exact, dtype=np.float64).T
        # With d₁ = d₂ = d, it is beyond it if (n₁ − n₂) bottom > top d.
        shared = np.equal(*scorer.product.index[1, pairs.T])
        # Bounds on |n|, on d, and on the two sides of the latter inequality.
        highest, longest = map(float, fractions.largest)
        products = np.maximum(2.0 * highest * bottoms, np.abs(tops) * longest)
        # A bound on the difference of the two sides of the inequality that applies, for gains within the band.
        distances = 2 * scorer.band * bottoms * longest * np.where(shared, 1.0, longest)
        small = shared & (products < EXACT) & (not fractions.over_nothing_occurs)
        kinds = np.select([small, distances < 2.0**62], [_SMALL, _WRAPPED], _LARGE)
        return cls(
            sign=sign,
            values=np.array([top / bottom for top, bottom in exact]),
            band=scorer.band,
            exact=exact,
            whole=((np.array(exact, dtype=object) + 2**63) % 2**64 - 2**63).T.astype(np.int64, order="C"),
            kinds=kinds.astype(np.int8),
            precision=np.float32 if products[small].max(initial=0) < _EXACT_FLOAT32 else np.float64,
        )

    def sides(self, scored: Scored, pairs: NDArray[np.intp], rows: slice) -> NDArray[np.int8]:
        """Side of the border (1 beyond, 0 on it, −1) on which each gain is, (pairs × resamples); see `count`."""
        firsts, seconds = pairs.T[:: self.sign]
        gains = scored.scores[firsts] - scored.scores[seconds]
        values, kinds = self.values[rows, None], self.kinds[rows]
        if not self.exact:
            return np.asarray((gains > values + self.band).astype(np.int8) + (gains >= values - self.band) - 1, np.int8)
        far = gains - values
        sides: NDArray[np.int8] = np.sign(far).astype(np.int8)
        place, resample = np.nonzero(np.abs(far) <= 2 * self.band)
        first, second = (firsts[place], resample), (seconds[place], resample)
        n1, n2 = scored.above[first].astype(np.int64), scored.above[second].astype(np.int64)
        d1, d2 = scored.below[first].astype(np.int64), scored.below[second].astype(np.int64)
        top, bottom = self.whole[:, rows][:, place]
        # Modulo 2⁶⁴, as in `_count_pairs`; both products are needed where the denominators differ.
        side = np.where(d1 == d2, (n1 - n2) * bottom - top * d1, (n1 * d2 - n2 * d1) * bottom - top * d1 * d2)
        sides[place, resample] = np.sign(side)
        for large in np.flatnonzero(kinds == _LARGE):
            near = np.abs(far[large]) <= 2 * self.band
            sides[large, near] = _sides(scored, firsts[large], seconds[large], near, self.exact[rows][large])
        return sides

    def count(self, scored: Scored, pairs: NDArray[np.intp], rows: slice, out: Integers) -> None:
        """Add to `out` (2 × pairs) the numbers of resamples beyond the border, and of those beyond or on it.

        `pairs` has the positions in `scored` of the systems of these `rows`.
        """
        scores, above, below = scored
        firsts, seconds = np.ascontiguousarray(pairs.T[:: self.sign])  # numba compiles for one layout
        values, kinds, whole = self.values[rows], self.kinds[rows], self.whole[:, rows]
        beyond, at_least = out[:, rows]
        if len(small := np.flatnonzero(kinds == _SMALL)):
            totals = above.astype(self.precision), below.astype(self.precision)
            border = whole.astype(self.precision)
            _count_small(*totals, firsts, seconds, firsts, small, *border, beyond, at_least)
        if len(small) < len(kinds):
            extremes = scores.min(axis=1), scores.max(axis=1)
            _count_pairs(
                scores, *extremes, above, below, firsts, seconds, values, self.band, kinds, *whole, beyond, at_least
            )
        for place in np.flatnonzero(kinds == _LARGE):
            far = scores[firsts[place]] - scores[seconds[place]] - values[place]
            near = np.abs(far) <= 2 * self.band
            far[near] = _sides(scored, firsts[place], seconds[place], near, self.exact[rows][place])
            beyond[place] += (far > 0).sum()
            at_least[place] += (far >= 0).sum()

    def count_of_small(
        self, index: NDArray[np.intp], pairs: NDArray[np.intp]
    ) -> Callable[[NDArray[Any], Integers], None]:
        """The same for pairs of the kind `_SMALL`, from the totals (columns × resamples) that `index` refers to."""
        above, below = index
        first, second = pairs.T[:: self.sign]
        columns, border = (above[first], above[second], below[first]), self.whole.astype(self.precision)

        def count(totals: NDArray[Any], out: Integers) -> None:
            totals = totals.astype(self.precision, copy=False)
            _count_small(totals, totals, *columns, np.arange(len(pairs)), *border, *out)

        return count


_TIE = 0
"""Gains within the band are ties."""
_SMALL = 1
"""The systems share their denominators, and products of whole numbers are exact in float64: there is no band."""
_WRAPPED = 2
"""Differences of products are below 2⁶³ within the band, so the products modulo 2⁶⁴ determine them."""
_LARGE = 3
"""Python's integers, which cannot overflow."""


def _sides(
    scored: Scored, first: int, second: int, resamples: NDArray[np.bool_], border: tuple[int, int]
) -> NDArray[Any]:
    """Sign of (gain − border) of one system over another on some resamples; 0 on the border."""

    def integers(totals: Floats, system: int) -> NDArray[np.object_]:
        values: NDArray[np.int64] = totals[system, resamples].astype(np.int64)
        return values.astype(np.object_)

    n1, n2 = integers(scored.above, first), integers(scored.above, second)
    d1, d2 = integers(scored.below, first), integers(scored.below, second)
    top, bottom = border
    # The sign of n₁/d₁ − n₂/d₂ − top/bottom, multiplied by d₁ d₂ bottom > 0.
    return np.array(np.sign((n1 * d2 - n2 * d1) * bottom - top * d1 * d2), dtype=np.float64)


@compiled
def _count_small(above, below, firsts, seconds, shared, pairs, tops, bottoms, beyond, at_least):  # type: ignore[no-untyped-def]
    """Count for those of the pairs whose kind is `_SMALL`: (n₁ − n₂) bottom > top d, where 0 / 0 is 0."""
    for pair in pairs:
        n1, n2, d = above[firsts[pair]], above[seconds[pair]], below[shared[pair]]
        top, bottom = tops[pair], bottoms[pair]
        least = d.dtype.type(1)
        n_beyond = n_at_least = np.int32(0)  # of four bytes, like the totals, so that eight are compared at once
        for resample in range(len(d)):
            gain, far = (n1[resample] - n2[resample]) * bottom, top * max(d[resample], least)
            n_beyond = np.int32(n_beyond + np.int32(gain > far))
            n_at_least = np.int32(n_at_least + np.int32(gain >= far))
        beyond[pair] += n_beyond
        at_least[pair] += n_at_least


@compiled
def _count_pairs(  # type: ignore[no-untyped-def]
    scores, lowest, highest, above, below, firsts, seconds, borders, band, kinds, tops, bottoms, beyond, at_least
):
    """Count for the pairs of kind `_TIE` or `_WRAPPED`; `lowest` and `highest` are scores of each system."""
    n_resamples = scores.shape[1]
    for pair in range(len(firsts)):
        kind, first, second = kinds[pair], firsts[pair], seconds[pair]
        n_beyond = n_at_least = 0
        if kind in (_TIE, _WRAPPED):  # score₁ − score₂ > border ± band
            score1, score2 = scores[first], scores[second]
            upper, lower = borders[pair] + band, borders[pair] - band
            if highest[first] - lowest[second] < lower:  # no gain is larger, which spares half of the pairs
                continue
            for resample in range(n_resamples):
                gain = score1[resample] - score2[resample]
                n_beyond += gain > upper
                n_at_least += gain >= lower
            if kind == _WRAPPED and n_at_least > n_beyond:  # within the band: (n₁d₂ − n₂d₁) bottom > top d₁d₂
                for resample in range(n_resamples):
                    if lower <= score1[resample] - score2[resample] <= upper:
                        n1, d1 = np.int64(above[first, resample]), np.int64(below[first, resample])
                        n2, d2 = np.int64(above[second, resample]), np.int64(below[second, resample])
                        if d1 == d2:
                            side = (n1 - n2) * bottoms[pair] - tops[pair] * d1
                        else:
                            side = (n1 * d2 - n2 * d1) * bottoms[pair] - tops[pair] * d1 * d2
                        n_beyond += side > 0
                        n_at_least -= side < 0
        beyond[pair] += n_beyond
        at_least[pair] += n_at_least


def for_each_batch(
    take: Callable[[Floats, int], None],
    test: Test,
    product: Product,
    resampling: Resampling,
    resamples: range,
    progress: Progress | None = None,
    *,
    thresholds: NDArray[np.uint64] | None = None,
) -> None:
    """Draw the resamples batch by batch on worker threads; `take` gets the totals and the number of the first one.

    The totals of resamples are those of the product's distinct columns, those of swaps are of every system (see
    `Product.totals`). `thresholds` are those of `random_streams.tilted_swaps`, for other swaps than those of the test.
    """
    check_time(len(resamples), product.n_units, product.shape[0], resampling.threads)
    plan = Work.of(product, test, resampling, len(resamples))
    n_rows, n_threads = plan.n_rows, plan.n_threads
    stopped = Event()
    _keep_freed_memory()

    def work(worker: int) -> None:
        try:
            drawn = product.buffers(min(n_rows, len(resamples)), plan.n_in_memory, test.draw, thresholds)
            for start in range(worker * n_rows, len(resamples), n_threads * n_rows):
                if stopped.is_set():
                    return
                rows = min(n_rows, len(resamples) - start)
                totals = drawn(resampling.seed, resamples.start + start, rows)
                take(totals if test.draw == "resample" else product.totals(totals), resamples.start + start)
                if progress is not None:
                    progress(rows)
        except BaseException:
            stopped.set()
            raise

    # The workers already use all cores; additional threads of the BLAS would only slow them down.
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        on_threads(work, range(n_threads), n_threads, stopped.set)  # which they check between two batches


@cache
def _keep_freed_memory() -> None:
    """Free an array once, so that the memory of one batch serves the next.

    The C library of Linux keeps twice as much free memory as the largest array that it has freed, at most 64 MiB, and
    returns more than that to the system. Without this array, that of each batch would go back and come again page by
    page, which took half of the time of short test sets. Since nothing is written to it, it takes no memory itself.
    """
    np.empty(2**25 - 2**16, dtype=np.int8)


@lru_cache(maxsize=1)
def _libraries(_n_modules: int) -> ThreadpoolController:
    """Find the libraries that have threads, again only after an import, because the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Product:
    """Exact product of draws and statistics.

    Values are multiplied in whole steps (see `steps_by_column`), so the order of summation does not matter. The product
    is computed in float32 if no possible total reaches 2²⁴, else in float64. Columns that several systems share (gold
    sizes, reference lengths) are multiplied once. If a column is another one of the same system plus a constant, except
    on a few units, its totals follow from the totals of the other one: a text of m words has m − 3 sequences of four
    words, unless it is shorter than that.

    Parameters
    ----------
    columns
        Arrays (systems × units), all of one type. They are not copied.
    steps
        Number of steps in 1, per column.

    Attributes
    ----------
    n_units
        Number of units to draw from.
    index
        Position of each column among the distinct columns, (columns × systems).
    observed
        Totals on the test set, (systems × columns).
    """

    def __init__(self, columns: Sequence[NDArray[Any]], steps: Floats) -> None:
        n_systems, self.n_units = columns[0].shape
        self._columns, self._steps = columns, steps
        distinct: list[tuple[int, int]] = []
        derived: dict[int, tuple[int, float]] = {}
        corrected = np.zeros(self.n_units, dtype=bool)
        self.index = np.empty((len(columns), n_systems), dtype=np.intp)
        self.observed = np.empty((n_systems, len(columns)))
        unique: dict[bytes, int] = {}
        most = 0.0
        for column, step in enumerate(steps):
            for system in range(n_systems):
                row = self._row(column, system)
                number = unique.setdefault(fingerprint(row), len(unique))
                self.index[column, system] = number
                self.observed[system, column] = row.sum() / step
                if number < len(distinct):
                    continue
                distinct.append((column, system))
                most = max(most, largest(row))
                for base in dict.fromkeys(self.index[:column, system].tolist()):
                    if base in derived or (near := self._near(row, self._row(*distinct[base]))) is None:
                        continue
                    units = corrected | near[1]
                    if np.count_nonzero(units) * _FEW_UNITS <= self.n_units:
                        derived[number], corrected = (base, near[0]), units
                        break
        self._units = np.flatnonzero(corrected)
        self.dtype = np.dtype(np.float32 if most * self.n_units < _EXACT_FLOAT32 else np.float64)
        self.steps = None if (steps == 1).all() else steps
        # The columns to multiply come first, then a column of ones if others are derived, then those.
        multiplied = [place for place in range(len(distinct)) if place not in derived]
        self._first: list[tuple[int, int] | None] = [distinct[place] for place in multiplied]
        self._first += [None] * bool(derived)
        places = np.empty(len(distinct), dtype=np.intp)
        places[multiplied] = np.arange(len(multiplied))
        places[list(derived)] = len(self._first) + np.arange(len(derived))
        self.index = places[self.index]
        self._bases = places[[base for base, _ in derived.values()]]
        # What is added to a column: corrections on some units, and a constant on all.
        self._added = np.empty((len(derived), len(self._units) + 1), dtype=self.dtype)
        for row, (place, (base, constant)) in zip(self._added, derived.items(), strict=True):
            values, base_values = (
                self._row(*distinct[which])[self._units].astype(np.float64) for which in (place, base)
            )
            row[:-1], row[-1] = values - base_values - constant, constant

    def _near(self, row: NDArray[Any], base: NDArray[Any]) -> tuple[float, NDArray[np.bool_]] | None:
        """By how much a row exceeds another one on most units, and a mask of the other units; None if not on most."""
        sample, all_units = slice(None, None, 1 + self.n_units // 64), slice(None)
        for units in (sample, all_units):  # the sample excludes most rows quickly
            difference = row[units].astype(np.float64) - base[units]
            constant = float(np.partition(difference, len(difference) // 2)[len(difference) // 2])
            others = difference != constant
            if np.count_nonzero(others) * _FEW_UNITS > 2 * len(difference):
                return None
        # Sums of what is drawn of the base, the constant and the corrections must be exact in any order.
        exact = _EXACT_FLOAT32 if largest(base) * self.n_units < _EXACT_FLOAT32 else EXACT
        if (largest(base) + 3 * largest(difference)) * self.n_units >= exact:
            return None
        return constant, others

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of columns that are multiplied and of units."""
        return len(self._first), self.n_units

    @cached_property
    def matrix(self) -> NDArray[Any]:
        """The distinct columns of the systems (columns × units), ready to be multiplied."""
        matrix = np.empty(self.shape, dtype=self.dtype)
        self._fill(matrix, 0)
        return matrix

    def _fill(self, rows: NDArray[Any], first: int) -> None:
        for row, where in zip(rows, self._first[first : first + len(rows)], strict=True):
            row[:] = 1 if where is None else self._row(*where)

    def _derive(self, totals: NDArray[Any], drawn: NDArray[Any]) -> None:
        """Fill in the totals (columns × resamples) of derived columns."""
        if len(self._bases):
            n = len(self._first)
            some = np.empty((len(drawn), len(self._units) + 1), dtype=self.dtype)
            np.take(drawn, self._units, axis=1, out=some[:, :-1], mode="clip")  # otherwise it is buffered
            some[:, -1] = totals[n - 1]
            np.matmul(self._added, some.T, out=totals[n:])
            totals[n:] += totals[self._bases]

    def _row(self, column: int, system: int) -> NDArray[Any]:
        return in_steps(self._columns[column][system], self._steps[column])

    def n_bytes(self, test: Test, n_rows: int, n_in_memory: int) -> tuple[int, int]:
        """Bytes that a batch takes, for all threads together and for each; see `Work`."""
        n_columns, size = len(self._first), self.dtype.itemsize
        n_drawn = self.n_units + len(self._units) + n_columns + 3 * len(self._bases)
        each = n_rows * (n_drawn * size + self.index.size * (size + 8 + _SCORING))
        if test.draw == "swap":
            each += 8 * 8 * max(_SHUFFLED_ELEMENTS, n_rows * len(self.index))
        columns = n_in_memory * self.n_units * size
        return (columns, each) if n_in_memory == n_columns else (0, columns + each)

    def buffers(
        self, n_rows: int, n_in_memory: int, draw: str, thresholds: NDArray[np.uint64] | None = None
    ) -> Callable[[int, int, int], NDArray[Any]]:
        """A function (seed, first, rows) that returns the totals of up to so many resamples, for one worker.

        The totals are those of the distinct columns (columns × resamples), in steps; see `totals`. Arrays are allocated
        once for all batches, which saves a fifth of the CPU time of a test of two systems. `n_in_memory` distinct
        columns are prepared for multiplication: all of them, which the workers share, or a few, which each worker
        prepares again for every batch.
        """
        n_columns = len(self._first)
        n_all = n_columns + len(self._bases)
        block = self.matrix if n_in_memory == n_columns else np.empty((n_in_memory, self.n_units), dtype=self.dtype)
        fill = partial(random_streams.tilted_swaps, thresholds) if thresholds is not None else _DRAWS[draw]
        # With few columns the product would wait for memory, so draws are multiplied while they are in the cache.
        if n_in_memory == n_columns <= _FEW_COLUMNS and random_streams.pays(self.n_units):
            at_once = _FOUR * min(max(2, _CACHE_ELEMENTS // self.n_units // _FOUR), -(-n_rows // _FOUR))
            some_draws = np.empty((at_once, self.n_units), dtype=self.dtype)
            some_products = np.empty((n_all, -(-n_rows // at_once) * at_once), dtype=self.dtype)
            arrays = some_draws, block, self._units, self._bases, self._added, some_products

            def multiplied(seed: int, first: int, rows: int) -> NDArray[Any]:
                if fill is random_streams.bootstrap_counts:  # in one step, for which threads do not wait for each other
                    _resample(*random_streams.key(seed), first, rows, *arrays)
                else:
                    for start in range(0, rows, at_once):
                        fill(seed, first + start, at_once, self.n_units, out=some_draws)
                        _multiply(*arrays, start)
                return np.ascontiguousarray(some_products[:, :rows])

            return multiplied
        counts = np.empty((n_rows, self.n_units), dtype=self.dtype)
        products = np.empty((n_all, n_rows), dtype=self.dtype)

        def drawn(seed: int, first: int, rows: int) -> NDArray[Any]:
            draws = counts[:rows]
            fill(seed, first, rows, self.n_units, out=draws)
            for start in range(0, n_columns, n_in_memory):
                columns = block[: n_columns - start]
                if n_in_memory < n_columns:
                    self._fill(columns, start)
                np.matmul(columns, draws.T, out=products[start : start + len(columns), :rows])
            self._derive(products[:, :rows], draws)
            return np.ascontiguousarray(products[:, :rows])

        return drawn

    def totals(self, distinct: NDArray[Any], systems: slice = slice(None)) -> Floats:
        """The totals (columns × systems × resamples) of some systems, from those of the distinct columns."""
        totals = distinct[self.index[:, systems]].astype(np.float64)
        if self.steps is not None:
            totals /= self.steps[:, None, None]
        return totals


@compiled
def _resample(k0, k1, first, n_rows, draws, columns, units, bases, added, totals):  # type: ignore[no-untyped-def]
    """Draw at least so many resamples, some at a time, and fill in their totals."""
    for start in range(0, n_rows, len(draws)):
        fill_counts(k0, k1, first + start, draws.shape[1], draws)
        _multiply(draws, columns, units, bases, added, totals, start)


@summed
def _multiply(draws, columns, units, bases, added, totals, start):  # type: ignore[no-untyped-def]
    """The totals (columns × resamples), from `start` on, of few columns and of those derived from them, see `Product`.

    Four resamples at a time share what is read of a column.
    """
    n_columns, n_units = columns.shape
    for row in range(0, len(draws), _FOUR):
        draws1, draws2, draws3, draws4 = draws[row], draws[row + 1], draws[row + 2], draws[row + 3]
        for column in range(n_columns):
            values = columns[column]
            total1 = total2 = total3 = total4 = draws.dtype.type(0)
            for unit in range(n_units):
                value = values[unit]
                total1 += draws1[unit] * value
                total2 += draws2[unit] * value
                total3 += draws3[unit] * value
                total4 += draws4[unit] * value
            place = start + row
            totals[column, place], totals[column, place + 1] = total1, total2
            totals[column, place + 2], totals[column, place + 3] = total3, total4
    for row in range(len(draws)):
        for column in range(len(bases)):
            place = start + row
            total = totals[bases[column], place] + added[column, len(units)] * totals[n_columns - 1, place]
            for number in range(len(units)):
                total += added[column, number] * draws[row, units[number]]
            totals[n_columns + column, place] = total


@dataclass(frozen=True)
class Work:
    """How draws and products are split to fit into memory; the counts do not depend on it.

    Let s be the bytes of a number (4 if no total reaches 2²⁴, else 8), n the units, u the columns that are multiplied,
    v those derived from them with corrections on m units (see `Product`), c the columns of each of N systems, and t the
    threads, which take r resamples at a time. The bytes are

        u·n·s + t·r·((n + m + u + 3v)·s + c·N·(s + 8 + 24)),    where 24 is for temporary results of the metric,

    and 32 MiB more per thread for swaps. If memory is short, r becomes smaller, down to 16. Next, each thread prepares
    the columns h at a time, again for every batch (t·h·n·s instead of u·n·s). Finally, there are fewer threads.

    Attributes
    ----------
    n_threads, n_rows, n_in_memory, n_columns
        t, r, h and u; h is u if all columns are kept.
    n_bytes
        Bytes that this takes.
    """

    n_threads: int
    n_rows: int
    n_in_memory: int
    n_columns: int
    n_bytes: int

    def __str__(self) -> str:
        """A phrase for notes."""
        columns = f"{self.n_in_memory:,} columns of systems at a time, " if self.n_in_memory < self.n_columns else ""
        return f"{columns}{self.n_rows:,} resamples at a time on each of the {self.n_threads} threads"

    @classmethod
    def of(cls, product: Product, test: Test, resampling: Resampling, n_resamples: int) -> Work:
        """The fastest split that the memory allows.

        Raises
        ------
        InputError
            If memory does not suffice for one thread, 16 resamples and one column at a time.
        """
        n_columns, n_units = product.shape
        if resampling.batch is not None:
            check_whole("batch size", resampling.batch, 1, max(1, _MOST_ELEMENTS // n_units))
        n_rows = resampling.batch or max(_FEWEST_ROWS, min(1024, _BATCH_ELEMENTS // n_units))
        n_threads = min(resampling.threads or os.cpu_count() or 1, max(1, -(-n_resamples // n_rows)))
        memory = resampling.memory

        def planned(n_threads: int, n_rows: int, n_in_memory: int) -> Work:
            shared, per_thread = product.n_bytes(test, n_rows, n_in_memory)
            return cls(n_threads, n_rows, n_in_memory, n_columns, shared + n_threads * per_thread)

        fastest = planned(n_threads, n_rows, n_columns)
        if memory is None or fastest.n_bytes <= memory:
            return fastest
        least = min(n_rows, _FEWEST_ROWS)
        while n_threads:
            # All columns, or as many as take a quarter of the memory; for each, fewer and fewer resamples at a time.
            some_columns = max(1, memory // 4 // (n_threads * n_units * product.dtype.itemsize))
            for n_in_memory in (n_columns, min(some_columns, n_columns)):
                rows = n_rows
                while rows > least and planned(n_threads, rows, n_in_memory).n_bytes > memory:
                    rows = max(least, rows // 2)
                smaller = planned(n_threads, rows, n_in_memory)
                if smaller.n_bytes <= memory:
                    return smaller
            n_threads //= 2
        raise too_little(planned(1, least, 1).n_bytes, memory, "the draws of this test")


def score(totals: Floats, metric: Metric, place: Place = lambda _: "a system") -> Floats:
    """Scores of totals (…, columns), their sign changed where lower is better.

    Raises
    ------
    InputError
        For a score that is not finite; `place` names the system and the resample of a position.
    """
    scores = metric.score(totals)
    if not (np.isfinite(scores.min()) and np.isfinite(scores.max())):  # either is NaN where any score is
        position = tuple(int(index) for index in np.argwhere(~np.isfinite(scores))[0])
        raise InputError(
            f"{metric.name} of {place(position)} is {scores[position]}, expected a finite number; the metric must "
            "define its score for a denominator of 0, as a pairsig.Ratio does"
        )
    return scores if metric.higher_is_better else -scores


def expected_seconds(n_resamples: int, n_units: int, n_columns: int, threads: int | None) -> float:
    """A rough time for resamples of units with so many columns of all systems, within a factor of about three."""
    return n_resamples * (100 + n_units * (1 + n_columns / 2)) * 1e-9 / (threads or os.cpu_count() or 1)


def check_time(n_resamples: int, n_units: int, n_columns: int, threads: int | None) -> None:
    """Raise `InputError` for resamples that would take more than a day, and warn of those that take minutes."""
    seconds = expected_seconds(n_resamples, n_units, n_columns, threads)
    if seconds > MOST_SECONDS:
        most = int(float(f"{n_resamples * MOST_SECONDS / seconds:.0e}"))  # one digit
        raise InputError(
            f"{n_resamples:,} resamples of {n_units:,} units would take about {seconds / 3600:,.0f} hours, "
            f"expected at most about {most:,}, which take a day; 1,000,000 are enough for three digits of p = 0.05"
        )
    if seconds > LONG_SECONDS:
        minutes = seconds / 60
        time = f"{minutes / 60:,.1f} hours" if minutes > 90 else f"{minutes:.0f} minute{'s' * (minutes >= 1.5)}"
        message = f"{n_resamples:,} resamples of {n_units:,} units will take about {time}"
        warnings.warn(message, LongRun, stacklevel=2)


def check_whole(noun: str, number: object, least: int, most: int) -> None:
    """Raise `InputError` for anything but a whole number from `least` to `most`."""
    try:
        value = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"the {noun} is {number!r}, expected a whole number") from None
    if not least <= value <= most:
        description = value if abs(value) < 10**40 else "beyond 10⁴⁰"
        lowest = f"at least {least}" if least else "0 or more"
        expected = f"at most {most:,}" if value > most else lowest
        raise InputError(f"the {noun} is {description}, expected {expected}")


def _scale(metric: Metric, counts: NDArray[Any]) -> float:
    """A bound on the size of scores that are not ratios of whole numbers."""
    if metric.scale is not None:
        return metric.scale
    most = 0.0
    for rows in some_systems(counts):
        values = counts[rows].astype(np.float64)
        if metric.averaged:  # sums over documents become means per segment
            values = values[:, :, :-1] / values[:, :, -1:]
        most = max(most, largest(values))
    return most
