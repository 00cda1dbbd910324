"""Word alignment by IBM model 2 in both directions, trained by NLTK; links are what both directions agree on."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from nltk.translate import AlignedSent, IBMModel2

from pairsig.errors import InputError
from pairsig.tables import replacing
from study.base_models import command
from study.corpora import alignment

Pair = tuple[Sequence[str], Sequence[str]]
Translation: TypeAlias = dict[str, dict[str | None, float]]

ITERATIONS = 1
"""Of model 2, after twice as many of model 1: NLTK needs about two minutes for one over 25,000 pairs."""
LONGEST = 40
"""Pairs with more words on a side are left out of the training: they cost most of the time."""


class Direction(NamedTuple):
    """What NLTK has learned of one direction, in plain dictionaries.

    Attributes
    ----------
    translation
        Of each generated word, its probability given each other word; None is the null word.
    positions
        By the lengths of both sides, the probabilities of positions: that of the null word, then of the words that a
        word is generated from, a row a generated word.
    """

    translation: Translation
    positions: dict[tuple[int, int], list[list[float]]]


def fit(pairs: Iterable[Pair], *, iterations: int = ITERATIONS, longest: int = LONGEST) -> tuple[Direction, Direction]:
    """Models that generate the target from the source, and the source from the target."""
    short = [pair for pair in map(_folded, pairs) if max(map(len, pair)) <= longest]
    if not short:
        raise InputError(f"found no pair of at most {longest} words a side, expected some to train on")
    return _fit(short, iterations), _fit([(target, source) for source, target in short], iterations)


def links(direction: Direction, pair: Pair) -> set[tuple[int, int]]:
    """The best link of every word of the second side, as positions (first side, second side); none if the null word."""
    given, generated = _folded(pair)
    # Lengths never seen together say nothing of positions: what is left is model 1.
    uniform = [[1.0] * (len(given) + 1)] * len(generated)
    positions = direction.positions.get((len(given), len(generated)), uniform)
    found = set()
    for j, word in enumerate(generated):
        translation = direction.translation.get(word, {})
        scores = [translation.get(other, 0.0) * positions[j][i] for i, other in enumerate([None, *given])]
        best = max(range(len(scores)), key=scores.__getitem__)
        if best:
            found.add((best - 1, j))
    return found


def decode(model: tuple[Direction, Direction], pair: Pair) -> set[tuple[int, int]]:
    """Links that both directions have; what NLTK 3.10 calls grow-diag-final-and is all that either has."""
    forward, backward = model
    return links(forward, pair) & {(i, j) for j, i in links(backward, (pair[1], pair[0]))}


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - nothing is drawn
    """Model of a training set."""
    trained = fit(alignment.pairs(training_set))
    with replacing(model) as temporary, temporary.open("wb") as file:
        pickle.dump([tuple(direction) for direction in trained], file)


def predict(model: Path, segments: Path, output: Path) -> None:
    """Links of sentence pairs."""
    with model.open("rb") as file:
        forward, backward = (Direction(*fields) for fields in pickle.load(file))
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for pair in alignment.pairs(segments):
            print(alignment.write(decode((forward, backward), pair)), file=file)


def _fit(pairs: Sequence[tuple[list[str], list[str]]], iterations: int) -> Direction:
    """NLTK's model, from which a side is generated given another."""
    trained = IBMModel2([AlignedSent(generated, given) for given, generated in pairs], iterations)
    least = IBMModel2.MIN_PROB
    positions = {}
    for n, m in sorted({(len(given), len(generated)) for given, generated in pairs}):
        table = trained.alignment_table
        positions[n, m] = [[table[i][j][n][m] for i in range(n + 1)] for j in range(1, m + 1)]
    translation = {
        word: {other: value for other, value in row.items() if value > least}
        for word, row in sorted(trained.translation_table.items())
    }
    return Direction(translation, positions)


def _folded(pair: Pair) -> tuple[list[str], list[str]]:
    """Words in lower case: a word is the same at the beginning of a sentence, and in a heading."""
    first, second = ([word.lower() for word in side] for side in pair)
    return first, second


if __name__ == "__main__":
    raise SystemExit(command("study.base_models.ibm_model2", train=train, predict=predict))
