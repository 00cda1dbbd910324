"""Translation rules against their definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("numba")

from base_models.grammar import HOLES, NARROWEST, Shape, rules

pytestmark = pytest.mark.slow  # numba compiles for ten seconds

WORDS = "abcdef"


def bitext(seed, n_pairs=12):
    """Random sentence pairs; most words are linked to one near their own place, some to two, some to none."""
    rng = np.random.default_rng(seed)
    pairs, links = [], []
    for _ in range(n_pairs):
        n, m = rng.integers(1, 9, 2)
        pairs.append(tuple(tuple(str(word) for word in rng.choice(list(WORDS), size)) for size in (n, m)))
        drawn = [
            (i, i * m // n + int(rng.integers(-1, 2))) for i in range(n) for _ in range(rng.choice([0, 1, 1, 1, 2]))
        ]
        links.append(sorted({(int(i), int(j)) for i, j in drawn if 0 <= j < m}))
    return pairs, links, [int(number) for number in rng.integers(1, 4, n_pairs)]


def consistent(pair, links, width):
    """By the definition: spans (i1, i2, j1, j2), ends included."""
    for i1, i2 in spans(len(pair[0]), width):
        for j1, j2 in spans(len(pair[1]), width):
            inside = [(i1 <= i <= i2, j1 <= j <= j2) for i, j in links]
            if (True, True) in inside and (True, False) not in inside and (False, True) not in inside:
                yield i1, i2, j1, j2


def spans(size, width):
    return [(a, b) for a in range(size) for b in range(a, min(size, a + width))]


def written(words, first, last, holes):
    """One side of a rule."""
    side, at = [], first
    while at <= last:
        name = next((name for name, (a, b) in holes.items() if a == at), None)
        side.append(name or words[at])
        at = holes[name][1] + 1 if name else at + 1
    return tuple(side)


def extracted(pair, links, shape):
    """Every rule of a pair, and the source and target words that are not in its holes."""
    spans = list(consistent(pair, links, shape.width))
    if shape.holes:
        ends = [{one[side] for one in links} for side in (0, 1)]
        spans = [s for s in spans if {s[0], s[1]} <= ends[0] and {s[2], s[3]} <= ends[1]]
    for i1, i2, j1, j2 in spans:
        inner = [s for s in spans if i1 <= s[0] and s[1] <= i2 and s[:2] != (i1, i2) and s[1] - s[0] + 1 >= NARROWEST]
        for number in range(3 if shape.holes else 1):
            for holes in combinations(sorted(inner), number):
                if number == 2 and holes[0][1] + 1 >= holes[1][0]:
                    continue
                names = dict(zip(HOLES, holes, strict=False))
                source = written(pair[0], i1, i2, {name: hole[:2] for name, hole in names.items()})
                target = written(pair[1], j1, j2, {name: hole[2:] for name, hole in names.items()})
                left = [i for i in range(i1, i2 + 1) if not any(h[0] <= i <= h[1] for h in holes)]
                others = [j for j in range(j1, j2 + 1) if not any(h[2] <= j <= h[3] for h in holes)]
                if len(source) <= shape.symbols and any(i in left and j in others for i, j in links):
                    yield source, target, left, others


def lexical(pairs, links, repeats):
    """Word translation probabilities w(given, word), None for no word: by target and by source."""
    counts = Counter()
    for (source, target), of, times in zip(pairs, links, repeats, strict=True):
        for i, j in of:
            counts[source[i], target[j]] += times
        for i in set(range(len(source))) - {i for i, _ in of}:
            counts[source[i], None] += times
        for j in set(range(len(target))) - {j for _, j in of}:
            counts[None, target[j]] += times
    totals = defaultdict(int)
    for (one, other), number in counts.items():
        totals["source", one] += number
        totals["target", other] += number
    return {
        side: {key: number / totals[side, key[side == "target"]] for key, number in counts.items()}
        for side in ("source", "target")
    }


def expected(pairs, links, repeats, shape):
    """All rules and their scores, straight from the definitions."""
    probability = lexical(pairs, links, repeats)
    counts, by_source, by_target, weights = Counter(), Counter(), Counter(), {}
    for pair, of, times in zip(pairs, links, repeats, strict=True):
        for source, target, left, others in extracted(pair, of, shape):
            counts[source, target] += times
            by_source[source] += times
            by_target[target] += times
            given_source = given_target = 1.0
            for j in others:
                joined = [pair[0][i] for i, k in of if k == j] or [None]
                given_source *= np.mean([probability["source"][word, pair[1][j]] for word in joined])
            for i in left:
                joined = [pair[1][j] for k, j in of if k == i] or [None]
                given_target *= np.mean([probability["target"][pair[0][i], word] for word in joined])
            weights.setdefault((source, target), set()).add((round(given_target, 9), round(given_source, 9)))
    return {
        key: (number, number / by_target[key[1]], number / by_source[key[0]], weights[key])
        for key, number in counts.items()
    }


SHAPES = [
    Shape(width=5, symbols=5, holes=False),
    Shape(width=2, symbols=2, holes=False),
    Shape(width=8, symbols=5, holes=True),
    Shape(width=6, symbols=3, holes=True),
    Shape(width=8, symbols=5, holes=True, least=3),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_rules_are_those_of_the_definition(shape, seed):
    pairs, links, repeats = bitext(seed)
    wanted = expected(pairs, links, repeats, shape)
    wanted = {key: one for key, one in wanted.items() if one[0] >= shape.least or not set(key[0]) & set(HOLES)}
    found = {
        (rule.source, rule.target): rule
        for rule in rules(pairs, links, repeats, [pair[0] for pair in pairs], shape, best=10**6)
    }
    assert found.keys() == wanted.keys()
    assert not shape.holes or any(HOLES[0] in source for source, _ in found)
    for key, (count, given_target, given_source, weights) in wanted.items():
        rule = found[key]
        assert (rule.count, rule.given_target, rule.given_source) == (count, given_target, given_source)
        lexical_weights = rule.lexical_given_target, rule.lexical_given_source
        assert any(lexical_weights == pytest.approx(one, abs=2e-9) for one in weights)


def test_holes_change_places():
    """ne ... pas, and what Chiang's (2007) example is about: the order of the holes."""
    pair = list("abbcdd"), list("ddzbb")
    links = [(1, 3), (2, 4), (3, 2), (4, 0), (5, 1)]
    found = {(r.source, r.target) for r in rules([pair], [links], [1], [pair[0]], Shape(6, 5, holes=True))}
    assert (("[X,1]", "c", "[X,2]"), ("[X,2]", "z", "[X,1]")) in found


def test_the_best_of_every_source():
    pairs, links, repeats = bitext(5, n_pairs=30)
    text = (pairs, links, repeats, [pair[0] for pair in pairs], SHAPES[0])
    whole, best = list(rules(*text, best=10**6)), list(rules(*text, best=2))
    of_source = defaultdict(list)
    for rule in whole:
        of_source[rule.source].append((rule.count, rule.lexical_given_source))
    kept = defaultdict(list)
    for rule in best:
        kept[rule.source].append((rule.count, rule.lexical_given_source))
    assert any(len(one) > 2 for one in of_source.values())
    assert {source: sorted(one, reverse=True)[:2] for source, one in of_source.items()} == kept
