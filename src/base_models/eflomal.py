"""Word alignment by eflomal (Östling and Tiedemann 2016) with Gibbs sampling; links are those of both directions.

The sampler is that of SIL's library Thot, because it accepts a seed, which eflomal's own does not. The number of
iterations, which falls with the number of pairs, is that of eflomal. Pairs in the training set have the links that were
sampled for them; other pairs are aligned by the learned model. (Aligning all pairs by the model raises the error rate
on the Hansards by half a point.)
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np

from base_models import formats, program
from pairsig.io.errors import InputError

T = TypeVar("T")
DECODING = (10, 40, 10)
"""Number of samplers for a pair outside the training set, their iterations, and the iterations to discard."""
_DIRECTIONS = ("forward", "backward")


def train(training_set: Path, model: Path, seed: int) -> None:
    """Train Thot's models of both directions, in a folder."""
    thot = program.package("thot.alignment", "eflomal")
    pairs = formats.read_pairs(training_set)
    model.mkdir(exist_ok=True)
    for direction in _DIRECTIONS:
        aligner = thot.EflomalAlignmentModel()
        aligner.seed = seed
        for pair in pairs:
            aligner.add_sentence_pair(*_ordered(pair, direction))
        aligner.emit_training_alignments = True
        aligner.start_training()
        for _ in range(aligner.scheduled_iterations):
            aligner.train()
        aligner.end_training()
        if not aligner.print(str(model / direction)):
            raise InputError(f"{model}: cannot be written")


def predict(model: Path, segments: Path, output: Path) -> None:
    """Align sentence pairs; sentences with more than 1,024 words have no links."""
    thot = program.package("thot.alignment", "eflomal")
    pairs = [(tuple(source), tuple(target)) for source, target in formats.read_pairs(segments)]
    directions = []
    for direction in _DIRECTIONS:
        aligner = thot.EflomalAlignmentModel()
        if not (model / f"{direction}.src").exists() or not aligner.load(str(model / direction)):
            raise InputError(f"{model}: found no model of eflomal, expected one that train wrote")
        aligner.set_decode_params(*DECODING)
        sampled = {tuple(map(tuple, aligner.get_sentence_pair(n)[:2])): n for n in range(aligner.num_sentence_pairs)}
        links = []
        for pair in pairs:
            sides = _ordered(pair, direction)
            known = sides in sampled
            _, matrix = aligner.get_training_alignment(sampled[sides]) if known else aligner.get_best_alignment(*sides)
            links.append({_ordered(link, direction) for link in np.argwhere(matrix.to_numpy()).tolist()})
        directions.append(links)
    formats.write_links(output, (forward & backward for forward, backward in zip(*directions, strict=True)))


def _ordered(pair: Iterable[T], direction: str) -> tuple[T, ...]:
    """Swap source and target for the reverse direction, and back."""
    return tuple(pair) if direction == "forward" else tuple(pair)[::-1]


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.eflomal", train=train, predict=predict))
