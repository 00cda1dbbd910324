"""Word alignment by IBM model 2 in both directions, trained by NLTK; links are those of both directions."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from nltk.translate import AlignedSent, IBMModel2

from base_models import formats, program
from base_models.formats import Pair
from pairsig.io.errors import InputError
from pairsig.io.tables import replacing

Translation: TypeAlias = dict[str, dict[str | None, float]]

ITERATIONS = 1
"""Iterations of model 2, after twice as many of model 1; each takes NLTK about two minutes for 25,000 pairs."""
LONGEST = 40
"""Maximal number of words per side in training, because longer pairs take most of the time."""


class Direction(NamedTuple):
    """Parameters of one direction, as learned by NLTK, in plain dictionaries."""

    translation: Translation  # probability of each generated word given each other word; None is the null word
    positions: dict[tuple[int, int], list[list[float]]]
    """Probabilities of positions by the lengths of both sides, one row per generated word: the null word, then the
    words that it may be generated from."""


def fit(pairs: Iterable[Pair], *, iterations: int = ITERATIONS, longest: int = LONGEST) -> tuple[Direction, Direction]:
    """Models that generate the target from the source, and the source from the target."""
    short = [pair for pair in map(formats.folded, pairs) if max(map(len, pair)) <= longest]
    if not short:
        raise InputError(f"found no pair with at most {longest} words per side, expected at least one for training")
    return _fit(short, iterations), _fit([(target, source) for source, target in short], iterations)


def links(direction: Direction, pair: Pair) -> set[tuple[int, int]]:
    """Find the best link of every word of the second side, as positions (first side, second side), without null."""
    conditioning, generated = formats.folded(pair)
    # For unseen lengths there are no positions, so model 1 is used.
    uniform = [[1.0] * (len(conditioning) + 1)] * len(generated)
    positions = direction.positions.get((len(conditioning), len(generated)), uniform)
    pairs = set()
    for j, word in enumerate(generated):
        translation = direction.translation.get(word, {})
        scores = [
            translation.get(condition, 0.0) * positions[j][i] for i, condition in enumerate([None, *conditioning])
        ]
        best = max(range(len(scores)), key=scores.__getitem__)
        if best:
            pairs.add((best - 1, j))
    return pairs


def decode(model: tuple[Direction, Direction], pair: Pair) -> set[tuple[int, int]]:
    """Find the links of both directions; NLTK 3.10's grow-diag-final-and gives those of either direction."""
    forward, backward = model
    return links(forward, pair) & {(i, j) for j, i in links(backward, (pair[1], pair[0]))}


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - nothing is drawn
    """Train a model on a training set."""
    trained = fit(formats.read_pairs(training_set))
    with replacing(model) as temporary, temporary.open("wb") as file:
        pickle.dump([tuple(direction) for direction in trained], file)


def predict(model: Path, segments: Path, output: Path) -> None:
    """Align sentence pairs."""
    with model.open("rb") as file:
        forward, backward = (Direction(*fields) for fields in pickle.load(file))
    formats.write_links(output, (decode((forward, backward), pair) for pair in formats.read_pairs(segments)))


def _fit(pairs: Sequence[Pair], iterations: int) -> Direction:
    """Train NLTK's model that generates one side from the other."""
    trained = IBMModel2(
        [AlignedSent(list(generated), list(conditioning)) for conditioning, generated in pairs], iterations
    )
    least = IBMModel2.MIN_PROB
    positions = {}
    for n, m in sorted({(len(conditioning), len(generated)) for conditioning, generated in pairs}):
        table = trained.alignment_table
        positions[n, m] = [[table[i][j][n][m] for i in range(n + 1)] for j in range(1, m + 1)]
    translation = {
        word: {condition: value for condition, value in row.items() if value > least}
        for word, row in sorted(trained.translation_table.items())
    }
    return Direction(translation, positions)


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.ibm_model2", train=train, predict=predict))
