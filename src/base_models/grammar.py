"""Translation rules of word-aligned text: phrase pairs, and phrase pairs with holes (Koehn et al. 2003, Chiang 2007).

A source phrase and a target phrase of a sentence pair are *consistent* if a link joins them, and no link joins a word
of either to a word outside the other. Each consistent phrase pair is a rule. With holes, a rule is also a consistent
pair from which one or two smaller ones are cut out: `ne [X,1] pas` becomes `not [X,1]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from base_models.formats import Pair
from base_models.joint_hmm import flat
from pairsig.readers.outputs.alignment import Link

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HOLES = ("[X,1]", "[X,2]")
"""Symbols of the holes of a rule, by their order in the source."""
NARROWEST = 2
"""Minimal number of source words in a hole; narrower holes triple the rules without better translations."""
_BITS = 30


@dataclass(frozen=True)
class Shape:
    """Shape of the rules."""

    width: int  # maximal number of words on either side of a consistent pair
    symbols: int  # maximal number of words and holes on the source side of a rule
    holes: bool
    """Whether rules may have one or two holes. Without holes, phrases may begin and end with unlinked words. With
    holes, both sides begin and end with a linked word, holes are not adjacent in the source, and at least one link
    remains outside them (Chiang 2007, section 3.2)."""
    least: int = 1  # minimal number of extractions of a rule with holes


PHRASES = Shape(width=5, symbols=5, holes=False)
HIERARCHICAL = Shape(width=10, symbols=5, holes=True, least=2)


@dataclass(frozen=True)
class Rule:
    """A rule and its four scores.

    Lexical weights are the product over the words of one side of their mean probability given the linked words, or
    given no word (Koehn et al. 2003), at the first extraction of the rule.
    """

    source: tuple[str, ...]  # words and `HOLES`
    target: tuple[str, ...]
    count: int  # number of extractions
    given_target: float  # share of its source among the rules with its target
    lexical_given_target: float
    given_source: float  # share of its target among the rules with its source
    lexical_given_source: float


def rules(
    pairs: Sequence[Pair],
    links: Sequence[Sequence[Link]],
    repeats: Sequence[int],
    wanted: Sequence[Sequence[str]],
    shape: Shape,
    *,
    best: int = 20,
) -> Iterator[Rule]:
    """Extract the rules of aligned sentence pairs that match some sentence.

    Parameters
    ----------
    pairs, links
        Source and target words, links as (source word, target word), from 0.
    repeats
        Weight of each pair.
    wanted
        Source sentences. Rules whose source side, with filled holes, matches none of them are not extracted, but count
        for the shares. (A few others pass, because matching source sides are stored by hash in a bit table.)
    shape
        Shape of the rules.
    best
        Number of targets per source side, by count; ties are resolved by the lexical weight given the source, then by
        the order of extraction.
    """
    numbers: list[dict[str, int]] = [{}, {}]
    (sources, source_starts), (targets, target_starts) = (
        flat([pair[side] for pair in pairs], numbers[side]) for side in (0, 1)
    )
    linked = np.array(list(chain.from_iterable(map(sorted, links))), dtype=np.int64).reshape(-1, 2)
    link_starts = np.cumsum([0, *map(len, links)], dtype=np.int64)
    times = np.array(repeats, dtype=np.int64)
    text = (sources, source_starts, targets, target_starts, linked, link_starts, times)
    limits = (shape.width, shape.symbols, shape.holes)

    bits = np.zeros(1 << _BITS - 3, dtype=np.uint8)
    _mark(*flat(wanted, dict(numbers[0])), *limits, bits)
    source_keys, target_keys, places, all_targets = _extract(text, *limits, bits)
    if not len(places):
        return
    weights = [_weights(places[:, columns], *part) for columns, part in zip(_COLUMNS, _lexical(text), strict=True)]

    order = np.lexsort((target_keys, source_keys))
    counted = times[places[order, 0]]
    changed = [keys[order][1:] != keys[order][:-1] for keys in (source_keys, target_keys)]
    first = np.flatnonzero(np.concatenate([[True], changed[0] | changed[1]]))
    counts = np.add.reduceat(counted, first)
    chosen = order[first]  # lexsort is stable: the first extraction of each rule
    group = np.cumsum(np.concatenate([[True], source_keys[chosen][1:] != source_keys[chosen][:-1]])) - 1
    of_source = np.bincount(group, weights=counts)[group]
    all_targets.sort()
    of_target = np.searchsorted(all_targets, target_keys[chosen], side="right")
    of_target -= np.searchsorted(all_targets, target_keys[chosen], side="left")

    frequent = np.flatnonzero((counts >= shape.least) | (places[chosen, 5] < 0))
    ranked = frequent[np.lexsort((chosen[frequent], -weights[1][chosen[frequent]], -counts[frequent], group[frequent]))]
    starts = np.flatnonzero(np.concatenate([[True], group[ranked][1:] != group[ranked][:-1]]))
    rank = np.arange(len(ranked)) - np.repeat(starts, np.diff([*starts, len(ranked)]))
    words = [list(numbers_of_side) for numbers_of_side in numbers]
    for k in ranked[rank < best].tolist():
        place = places[chosen[k]].tolist()
        at = place[0]
        yield Rule(
            source=_side(words[0], sources, int(source_starts[at]), *place[1:3], *place[5:7], *place[9:11]),
            target=_side(words[1], targets, int(target_starts[at]), *place[3:5], *place[7:9], *place[11:13]),
            count=int(counts[k]),
            given_target=float(counts[k] / of_target[k]),
            lexical_given_target=float(np.exp(weights[0][chosen[k]])),
            given_source=float(counts[k] / of_source[k]),
            lexical_given_source=float(np.exp(weights[1][chosen[k]])),
        )


# Where a rule was extracted: the pair; first and last word of its source, of its target; the same of the first hole and
# of the second, -1 if there is none. (Columns of `places`; below, those of either side.)
_N_COLUMNS = 13
_COLUMNS = ([0, 1, 2, 5, 6, 9, 10], [0, 3, 4, 7, 8, 11, 12])


def _side(words: Sequence[str], text: Ints, start: int, first: int, last: int, *holes: int) -> tuple[str, ...]:
    """Write one side of a rule, from its place in the text."""
    ends = {holes[0]: (holes[1], HOLES[0]), holes[2]: (holes[3], HOLES[1])}
    symbols, at = [], first
    while at <= last:
        end, symbol = ends.get(at, (at, ""))
        symbols.append(symbol or words[int(text[start + at])])
        at = end + 1
    return tuple(symbols)


def _lexical(text: tuple[Ints, ...]) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]:
    """Compute the logarithm of each word's factor of the lexical weight, for source and target words.

    Every rule with a word contains all words that it is linked to, so the factor is the same in all these rules.
    """
    sources, source_starts, targets, target_starts, linked, link_starts, times = text
    of_link = np.repeat(np.arange(len(times)), np.diff(link_starts))
    ends = source_starts[of_link] + linked[:, 0], target_starts[of_link] + linked[:, 1]
    none = max(sources.max(initial=0), targets.max(initial=0)) + 1
    size = none + 1
    n_links = [np.bincount(at, minlength=len(side)) for at, side in zip(ends, (sources, targets), strict=True)]
    alone = [np.flatnonzero(number == 0) for number in n_links]
    # Words without a link are linked to `none`.
    source_words = np.concatenate([sources[ends[0]], sources[alone[0]], np.full(len(alone[1]), none)])
    target_words = np.concatenate([targets[ends[1]], np.full(len(alone[0]), none), targets[alone[1]]])
    of_sentence = [np.repeat(times, np.diff(starts)) for starts in (source_starts, target_starts)]
    weight = np.concatenate([times[of_link], of_sentence[0][alone[0]], of_sentence[1][alone[1]]])
    _, cell = np.unique(source_words * size + target_words, return_inverse=True)
    together = np.bincount(cell, weights=weight)[cell]
    given_source = together / np.bincount(source_words, weights=weight)[source_words]
    given_target = together / np.bincount(target_words, weights=weight)[target_words]
    n, parts = len(of_link), []
    for side, conditional, lone in (
        (0, given_target, slice(n, n + len(alone[0]))),
        (1, given_source, slice(n + len(alone[0]), None)),
    ):
        total = np.bincount(ends[side], weights=conditional[:n], minlength=len(n_links[side]))
        total[alone[side]] = conditional[lone]
        parts.append((np.log(total / np.maximum(n_links[side], 1)), (source_starts, target_starts)[side]))
    return parts[0], parts[1]


def _weights(places: NDArray[Any], factors: Floats, starts: Ints) -> Floats:
    """Compute the logarithms of the lexical weights of one side of rules: sums over the side, without its holes."""
    totals = np.concatenate([[0.0], np.cumsum(factors)])  # the sum over a phrase is one subtraction
    start = starts[places[:, 0]]
    whole: Floats = totals[start + places[:, 2] + 1] - totals[start + places[:, 1]]
    for a, b in ((3, 4), (5, 6)):
        hole = places[:, a] >= 0
        whole = whole - np.where(hole, totals[start + places[:, b] + 1] - totals[start + places[:, a]], 0.0)
    return np.where(whole > 0, 0.0, whole)


@njit(cache=True, inline="always")
def _mixed(key, symbol):  # type: ignore[no-untyped-def]
    """Extend the 64-bit key of a sequence by a symbol."""
    key = (key + np.uint64(symbol) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    key ^= key >> np.uint64(31)
    key *= np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(29))


@njit(cache=True)
def _key(words, first, last, x1, x2, y1, y2):  # type: ignore[no-untyped-def]
    """Compute the key of a side of a rule from its place in the text; the holes are symbols 0 and 1."""
    key = np.uint64(17)
    at = first
    while at <= last:
        if at == x1:
            key = _mixed(key, 0)
            at = x2 + 1
        elif at == y1:
            key = _mixed(key, 1)
            at = y2 + 1
        else:
            key = _mixed(key, words[at] + 2)
            at += 1
    return key


@njit(cache=True)
def _set(bits, key):  # type: ignore[no-untyped-def]
    at = key & np.uint64((1 << _BITS) - 1)
    bits[at >> np.uint64(3)] |= np.uint8(1 << (at & np.uint64(7)))


@njit(cache=True)
def _mark(words, starts, width, symbols, holes, bits):  # type: ignore[no-untyped-def]
    """Set the bit of every source side that matches somewhere in the sentences."""
    for k in range(len(starts) - 1):
        for i1 in range(starts[k], starts[k + 1]):
            for i2 in range(i1, min(starts[k + 1], i1 + width)):
                size = i2 - i1 + 1
                if size <= symbols:
                    _set(bits, _key(words, i1, i2, -1, -1, -1, -1))
                if not holes:
                    continue
                for x1 in range(i1, i2 + 1):
                    for x2 in range(x1 + NARROWEST - 1, i2 + 1):
                        left = size - (x2 - x1)
                        if x1 == i1 and x2 == i2:
                            continue
                        if left <= symbols:
                            _set(bits, _key(words, i1, i2, x1, x2, -1, -1))
                        for y1 in range(x2 + 2, i2 + 1):
                            for y2 in range(y1 + NARROWEST - 1, i2 + 1):
                                if left - (y2 - y1) <= symbols:
                                    _set(bits, _key(words, i1, i2, x1, x2, y1, y2))


@njit(cache=True)
def _consistent(n, m, lows, highs, target_lows, target_highs, width, loose):  # type: ignore[no-untyped-def]
    """Find the consistent phrase pairs of a sentence pair, by their first source word, and where those of each start.

    The links of each word reach from its low to its high, -1 for none; `loose` phrases may end with unlinked words.
    """
    spans = np.empty((n * width * (width * (width + 1) // 2 if loose else 1), 4), dtype=np.int64)
    starts = np.empty(n + 1, dtype=np.int64)
    size = 0
    for i1 in range(n):
        starts[i1] = size
        if not loose and highs[i1] < 0:
            continue
        low, high = m, -1
        for i2 in range(i1, min(n, i1 + width)):
            if highs[i2] >= 0:
                low, high = min(low, lows[i2]), max(high, highs[i2])
            elif not loose:
                continue
            if high < 0 or high - low >= width:
                continue
            closed = True
            for j in range(low, high + 1):
                if target_highs[j] >= 0 and (target_lows[j] < i1 or target_highs[j] > i2):
                    closed = False
                    break
            if not closed:
                continue
            j1 = low
            while True:
                j2 = high
                while j2 - j1 < width:
                    spans[size] = i1, i2, j1, j2
                    size += 1
                    j2 += 1
                    if not loose or j2 >= m or target_highs[j2] >= 0:
                        break
                j1 -= 1
                if not loose or j1 < 0 or target_highs[j1] >= 0 or high - j1 >= width:
                    break
    starts[n] = size
    return spans[:size], starts


@njit(cache=True)
def _extract(text, width, symbols, holes, bits):  # type: ignore[no-untyped-def]
    """Extract keys of source and target and places of all wanted rules, and the keys of the targets of all rules.

    The latter are repeated by the weight of their pair.
    """
    sources, source_starts, targets, target_starts, linked, link_starts, repeats = text
    source_keys = np.empty(1 << 16, dtype=np.uint64)
    target_keys = np.empty(1 << 16, dtype=np.uint64)
    places = np.empty((1 << 16, _N_COLUMNS), dtype=np.int32)
    all_targets = np.empty(1 << 20, dtype=np.uint64)
    size = n_all = 0
    for k in range(len(repeats)):
        s0, t0 = source_starts[k], target_starts[k]
        n, m = source_starts[k + 1] - s0, target_starts[k + 1] - t0
        lows, highs = np.full(n, m), np.full(n, -1)
        target_lows, target_highs = np.full(m, n), np.full(m, -1)
        for link in range(link_starts[k], link_starts[k + 1]):
            i, j = linked[link]
            lows[i], highs[i] = min(lows[i], j), max(highs[i], j)
            target_lows[j], target_highs[j] = min(target_lows[j], i), max(target_highs[j], i)
        spans, starts = _consistent(n, m, lows, highs, target_lows, target_highs, width, not holes)
        for p in range(len(spans)):
            i1, i2, j1, j2 = spans[p]
            begin, end = starts[i1], starts[i2 + 1]
            for x in range(begin - 1, end if holes else begin):
                x1, x2, u1, u2 = -1, -1, -1, -1
                left = i2 - i1 + 1
                if x >= begin:
                    x1, x2, u1, u2 = spans[x]
                    if x2 > i2 or x2 - x1 + 1 < NARROWEST or x == p:
                        continue
                    left -= x2 - x1
                second = starts[min(x2 + 2, i2 + 1)] if x >= begin else end
                for y in range(second - 1, end):
                    y1, y2, v1, v2 = -1, -1, -1, -1
                    if y >= second:
                        y1, y2, v1, v2 = spans[y]
                        if y2 > i2 or y2 - y1 + 1 < NARROWEST:
                            continue
                    if left - (y2 - y1) > symbols:
                        continue
                    whole = not holes
                    for i in range(i1, i2 + 1):
                        if whole:
                            break
                        whole = highs[i] >= 0 and not x1 <= i <= x2 and not y1 <= i <= y2
                    if not whole:
                        continue
                    # A missing hole begins before the sentence, where no word is read.
                    target = _key(targets, t0 + j1, t0 + j2, t0 + u1, t0 + u2, t0 + v1, t0 + v2)
                    while n_all + repeats[k] > len(all_targets):
                        all_targets = np.concatenate((all_targets, np.empty_like(all_targets)))
                    for _ in range(repeats[k]):
                        all_targets[n_all] = target
                        n_all += 1
                    source = _key(sources, s0 + i1, s0 + i2, s0 + x1, s0 + x2, s0 + y1, s0 + y2)
                    bit = source & np.uint64((1 << _BITS) - 1)
                    if not bits[bit >> np.uint64(3)] >> (bit & np.uint64(7)) & np.uint8(1):
                        continue
                    if size == len(places):
                        source_keys = np.concatenate((source_keys, np.empty_like(source_keys)))
                        target_keys = np.concatenate((target_keys, np.empty_like(target_keys)))
                        places = np.concatenate((places, np.empty_like(places)))
                    source_keys[size], target_keys[size] = source, target
                    places[size] = np.array([k, i1, i2, j1, j2, x1, x2, u1, u2, y1, y2, v1, v2], dtype=np.int32)
                    size += 1
    return source_keys[:size], target_keys[:size], places[:size], all_targets[:n_all]
