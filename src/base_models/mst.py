"""First-order dependency parsing as a search for the best tree (McDonald, Crammer and Pereira 2005).

The score of a tree is the sum of the scores of its arcs, and that of an arc the sum of the weights of its features.
Eisner's (1996) algorithm finds the best projective tree with one root, in O(n³) steps for n words. The weights are
learned with the margin infused relaxed algorithm (Crammer and Singer 2003) and averaged. Each arc then gets the label
that is most frequent in the training set for the two coarse tags and the side. docs/base-models.md has the
formulas and the features.

A training set of 12,544 sentences takes some 12 CPU seconds and 0.5 GB.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from base_models import formats, program
from pairsig.io.errors import InputError
from pairsig.io.tables import replacing

EPOCHS = 4
"""Number of passes over the training set."""
LARGEST_STEP = 0.01
"""C, the maximum size of a step."""
N_WEIGHTS = 1 << 22
"""Number of weights, into which features are hashed."""

_NO_WORD = np.uint64(0)
"""Value of the tags before the root and after the last word."""
_LONGEST = 16
"""Maximum number of words between head and dependent that have features, from the left."""
_N_PAIRS = 21
"""Number of feature templates for the two ends of an arc."""
_N_FEATURES = 2 * _N_PAIRS + _LONGEST

Labels = dict[tuple[str, str, str], str]
"""The most frequent label of an arc, by the coarse tags of head and dependent and the side of the dependent."""


class Sentence(NamedTuple):
    """A sentence of n words as numbers."""

    atoms: NDArray[np.uint64]  # hashes of form, lemma, coarse tag and tag, for the root and each word; (n + 1, 4)
    coarse: tuple[str, ...]  # coarse tags of the root and the words
    heads: NDArray[np.int64]
    """Number of the head of each word, 0 if it is the root; shape (n + 1,). The root itself has -1. In a sentence to
    be parsed, all words have 0."""
    labels: tuple[str, ...]  # of the words


@dataclass
class Model:
    """A trained model."""

    weights: NDArray[np.float32]  # averaged weights of the features; shape (`N_WEIGHTS`,)
    known: NDArray[np.uint64]  # hashes of the known forms and of the form for unknown words, ascending
    labels: Labels  # the most frequent ones


def fit(sentences: Sequence[Sentence], *, seed: int, epochs: int = EPOCHS) -> Model:
    """Train on sentences of a treebank.

    Parameters
    ----------
    sentences
        Trees need not be projective. A non-projective tree is never predicted, but still used for learning.
    seed
        Seed of the order of the sentences, which differs between epochs.
    epochs
        Number of passes over the sentences.
    """
    known = _known_words(sentences)
    rows = [_only_known(sentence.atoms, known) for sentence in sentences]
    weights, sums, difference = (np.zeros(N_WEIGHTS) for _ in range(3))
    orders = np.random.PCG64(seed % 2**64).random_raw((epochs, len(sentences)))
    step = 0
    for order in orders:
        for index in np.argsort(order, kind="stable"):
            step += 1
            _learn(rows[index], sentences[index].heads, weights, sums, difference, step, LARGEST_STEP)
    # A step of size a in sentence t adds to the weights after t, …, T: `sums` holds Σ a·(t - 1).
    averages = weights - sums / step
    return Model(averages.astype(np.float32), known, _labels(sentences))


def parse(model: Model, sentence: Sentence) -> list[tuple[int, str]]:
    """Find the head (0 for the root) and the label of each word."""
    heads = best_tree(_scores(_only_known(sentence.atoms, model.known), model.weights))
    chosen = []
    for word, head in enumerate(heads[1:].tolist(), start=1):
        key = _key(sentence.coarse, head, word)
        chosen.append((head, model.labels.get(key, "root" if head == 0 else "dep")))
    return chosen


@njit(cache=True)
def best_tree(scores):  # type: ignore[no-untyped-def]
    """Find the projective tree with one root and the highest score, by Eisner's algorithm.

    Parameters
    ----------
    scores
        Finite score of the arc from each head (0 for the root) to each word; shape (n + 1, n + 1).

    Returns
    -------
    Heads, shape (n + 1,), starting with -1 for the root. Ties are always resolved in the same way.
    """
    n = scores.shape[0] - 1
    # Spans of words: [·, ·, d, c] has its head at the left (d = 1) or right end (d = 0); without dependents outside of
    # the arc between its ends that are still to come (c = 1: complete) or with (c = 0: the span is an arc).
    best = np.zeros((n + 1, n + 1, 2, 2))
    split = np.zeros((n + 1, n + 1, 2, 2), dtype=np.int64)
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            top, at = _highest_sum(best[i, i:j, 1, 1], best[i + 1 : j + 1, j, 0, 1])
            best[i, j, 0, 0], best[i, j, 1, 0] = top + scores[j, i], top + scores[i, j]
            split[i, j, 0, 0] = split[i, j, 1, 0] = i + at
            top, at = _highest_sum(best[i, i:j, 0, 1], best[i:j, j, 0, 0])
            best[i, j, 0, 1], split[i, j, 0, 1] = top, i + at
            top, at = _highest_sum(best[i, i + 1 : j + 1, 1, 0], best[i + 1 : j + 1, j, 1, 1])
            best[i, j, 1, 1], split[i, j, 1, 1] = top, i + 1 + at
    heads = np.full(n + 1, -1, dtype=np.int64)
    if n == 0:
        return heads
    root = 1 + _highest_sum(scores[0, 1:] + best[1, 1:, 0, 1], best[1:, n, 1, 1])[1]
    heads[root] = 0
    spans = [(1, root, 0, 1), (root, n, 1, 1)]
    while len(spans) > 0:
        i, j, direction, complete = spans.pop()
        if i == j:
            continue
        k = split[i, j, direction, complete]
        if not complete:
            if direction:
                heads[j] = i
            else:
                heads[i] = j
            spans.append((i, k, 1, 1))
            spans.append((k + 1, j, 0, 1))
        elif direction:
            spans.append((i, k, 1, 0))
            spans.append((k, j, 1, 1))
        else:
            spans.append((i, k, 0, 1))
            spans.append((k, j, 0, 0))
    return heads


@njit(cache=True, inline="always")
def _highest_sum(left, right):  # type: ignore[no-untyped-def]
    """Find the highest sum of two numbers at the same place, and the first place that has it."""
    top, at = -np.inf, 0
    for k in range(len(left)):
        if left[k] + right[k] > top:
            top, at = left[k] + right[k], k
    return top, at


def read_sentences(path: Path, *, trees: bool) -> Iterator[Sentence]:
    """Read the sentences of a file, with or without their trees."""
    for number, rows in enumerate(formats.read_sentences(path), start=1):
        heads = [-1]
        for row in rows:
            if trees and not (row[6].isdecimal() and int(row[6]) <= len(rows) and row[6] != row[0]):
                actual, expected = f"the head {row[6]!r} of word {row[0]}", f"another number from 0 to {len(rows)}"
                raise InputError(f"{path}, sentence {number}: found {actual}, expected {expected}")
            heads.append(int(row[6]) if trees else 0)
        columns = [["", "", "", ""], *([row[1].lower(), row[2].lower(), row[3], row[4]] for row in rows)]
        atoms = [[_hash(column, text) for column, text in enumerate(word)] for word in columns]
        coarse = ("", *(row[3] for row in rows))
        labels = tuple(row[7] for row in rows)
        yield Sentence(np.array(atoms, dtype=np.uint64), coarse, np.array(heads), labels)


def write(model: Model, path: Path) -> None:
    """Write a model to an npz file."""
    labels = np.array([[*key, label] for key, label in model.labels.items()], dtype=np.str_)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, weights=model.weights, known=model.known, labels=labels)


def read(path: Path) -> Model:
    """Read a model from `write`."""
    with program.reading(path, "mst"), np.load(path) as arrays:
        labels = {(head, word, side): label for head, word, side, label in arrays["labels"].tolist()}
        return Model(arrays["weights"], arrays["known"], labels)


def train(training_set: Path, model: Path, seed: int) -> None:
    """Train a model on a training set."""
    write(fit(list(read_sentences(training_set, trees=True)), seed=seed), model)


def predict(model: Path, segments: Path, output: Path) -> None:
    """Parse sentences."""
    trained = read(model)
    pairs = zip(formats.read_sentences(segments), read_sentences(segments, trees=False), strict=True)
    formats.write_sentences(output, (formats.with_arcs(rows, parse(trained, sentence)) for rows, sentence in pairs))


@cache
def _hash(column: int, text: str) -> int:
    """Hash the text in a column of a word; the result is the same on every machine, and never `_NO_WORD`."""
    return int.from_bytes(blake2b(f"{column}\t{text}".encode(), digest_size=8).digest(), "little") | 1


def _known_words(sentences: Sequence[Sentence]) -> NDArray[np.uint64]:
    """Find the forms that are in at least two different sentences (copies do not count), ascending."""
    different = {sentence.atoms.tobytes(): np.unique(sentence.atoms[:, 0]) for sentence in sentences}
    forms, numbers = np.unique(np.concatenate(list(different.values())), return_counts=True)
    return np.union1d(forms[numbers > 1], _UNKNOWN)


_UNKNOWN = np.uint64(_hash(0, "\t"))
"""Hash of the form for unknown words."""


def _only_known(atoms: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Replace unknown forms by the form for unknown words."""
    changed = atoms.copy()
    at = np.minimum(np.searchsorted(known, atoms[:, 0]), len(known) - 1)
    changed[known[at] != atoms[:, 0], 0] = _UNKNOWN
    return changed


def _labels(sentences: Sequence[Sentence]) -> Labels:
    """Find the most frequent label of each kind of arc; in a tie, the first."""
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, (head, label) in enumerate(zip(sentence.heads[1:].tolist(), sentence.labels, strict=True), start=1):
            counts[_key(sentence.coarse, head, word)][label] += 1
    return {key: of_arc.most_common(1)[0][0] for key, of_arc in counts.items()}


def _key(coarse: Sequence[str], head: int, word: int) -> tuple[str, str, str]:
    return coarse[head], coarse[word], "left" if word < head else "right"


@njit(cache=True)
def _slot(template, a, b, c, d):  # type: ignore[no-untyped-def]
    """Find the index of the weight of a feature: hash a template and up to four values, as in splitmix64."""
    x = np.uint64(template) * np.uint64(0x9E3779B97F4A7C15) + a * np.uint64(0xC2B2AE3D27D4EB4F)
    x ^= x >> np.uint64(29)
    x = x * np.uint64(0xBF58476D1CE4E5B9) + b * np.uint64(0x165667B19E3779F9)
    x ^= x >> np.uint64(32)
    x = x * np.uint64(0x94D049BB133111EB) + c * np.uint64(0x27D4EB2F165667C5)
    x ^= x >> np.uint64(31)
    x = x * np.uint64(0x9E3779B97F4A7C15) + d * np.uint64(0x85EBCA77C2B2AE63)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    return np.int64(x & np.uint64(N_WEIGHTS - 1))


@njit(cache=True)
def _features(atoms, head, word, slots):  # type: ignore[no-untyped-def]
    """Write the indices of the weights of an arc into `slots`, and return their number."""
    n = atoms.shape[0]
    none = np.uint64(0)
    distance = abs(word - head)
    bucket = distance if distance < 5 else 5 if distance < 8 else 6 if distance < 11 else 7
    side = 1 if word > head else 0
    form, lemma, coarse, tag = atoms[head]
    own_form, own_lemma, own_coarse, own_tag = atoms[word]
    before = atoms[head - 1, 3] if head > 0 else _NO_WORD
    after = atoms[head + 1, 3] if head + 1 < n else _NO_WORD
    own_before = atoms[word - 1, 3] if word > 0 else _NO_WORD
    own_after = atoms[word + 1, 3] if word + 1 < n else _NO_WORD
    at = 0
    for with_distance in range(2):
        where = np.uint64(1 + side + 2 * bucket) if with_distance else none
        t = 40 * with_distance
        for template, a, b, c in (
            (1, form, tag, none), (2, form, none, none), (3, tag, none, none),
            (4, own_form, own_tag, none), (5, own_form, none, none), (6, own_tag, none, none),
            (7, tag, own_form, own_tag), (8, form, own_form, own_tag), (9, form, tag, own_tag),
            (10, form, tag, own_form), (11, form, own_form, none), (12, tag, own_tag, none),
            (13, lemma, own_lemma, none), (14, coarse, own_coarse, none),
            (15, lemma, own_tag, none), (16, tag, own_lemma, none),
        ):  # fmt: skip
            slots[at] = _slot(t + template, a, b, c, where)
            at += 1
        # Five values, two of them in one.
        form_and_tag, onward = form ^ (tag << np.uint64(1)), tag ^ (after << np.uint64(1))
        backward = before ^ (tag << np.uint64(1))
        slots[at] = _slot(t + 17, form_and_tag, own_form, own_tag, where)
        slots[at + 1] = _slot(t + 18, onward, own_before, own_tag, where)
        slots[at + 2] = _slot(t + 19, backward, own_before, own_tag, where)
        slots[at + 3] = _slot(t + 20, onward, own_tag, own_after, where)
        slots[at + 4] = _slot(t + 21, backward, own_tag, own_after, where)
        at += 5
    first, last = min(head, word) + 1, max(head, word)
    for between in range(first, min(last, first + _LONGEST)):
        slots[at] = _slot(90, tag, atoms[between, 3], own_tag, np.uint64(side))
        at += 1
    return at


@njit(cache=True)
def _scores(atoms, weights):  # type: ignore[no-untyped-def]
    """Compute the scores of all arcs."""
    n = atoms.shape[0]
    scores = np.zeros((n, n))
    slots = np.empty(_N_FEATURES, dtype=np.int64)
    for head in range(n):
        for word in range(1, n):
            if head != word:
                score = 0.0
                for k in range(_features(atoms, head, word, slots)):
                    score += weights[slots[k]]
                scores[head, word] = score
    return scores


@njit(cache=True)
def _learn(atoms, gold, weights, sums, difference, step, largest):  # type: ignore[no-untyped-def]
    """Update the weights by one sentence, in place; `difference` is all zeros before and after."""
    n = atoms.shape[0]
    scores = _scores(atoms, weights)
    for word in range(1, n):
        for head in range(n):
            if head != gold[word]:
                scores[head, word] += 1.0
    tree = best_tree(scores)
    violation = 0.0
    # The weights of all features of the wrong words: +1 for the arc of the tree, -1 for the arc that was found.
    slots, signs = np.empty(2 * n * _N_FEATURES, dtype=np.int64), np.empty(2 * n * _N_FEATURES)
    end = 0
    for word in range(1, n):
        if tree[word] != gold[word]:
            violation += scores[tree[word], word] - scores[gold[word], word]
            for head, sign in ((gold[word], 1.0), (tree[word], -1.0)):
                start, end = end, end + _features(atoms, head, word, slots[end:])
                signs[start:end] = sign
    for k in range(end):
        difference[slots[k]] += signs[k]
    # |Δ|² is the sum of sign · Δ over all features of all arcs, as often as they come.
    norm = 0.0
    for k in range(end):
        norm += signs[k] * difference[slots[k]]
    size = min(largest, violation / norm) if norm > 0 and violation > 0 else 0.0
    for k in range(end):
        change = size * difference[slots[k]]
        weights[slots[k]] += change
        sums[slots[k]] += change * (step - 1)
        difference[slots[k]] = 0.0


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.mst", train=train, predict=predict))
