"""Word alignment by eflomal (Östling and Tiedemann 2016), by Gibbs sampling; links are what both directions agree on.

The sampler is that of Thot, SIL's library, since it takes a seed, which eflomal's own does not; the number of
iterations, which falls with that of pairs, is eflomal's. A pair of the training set has the links it was sampled with,
others are aligned by what was learned. (With these, too, the error rate on the Hansards would be half a point higher.)
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy as np

from pairsig.errors import InputError
from pairsig.tables import replacing
from study.base_models import command
from study.corpora import alignment

T = TypeVar("T")
DECODING = (10, 40, 10)
"""Samplers for a pair that is not in the training set, their iterations, and how many of these are not counted."""
_DIRECTIONS = ("forward", "backward")


def train(training_set: Path, model: Path, seed: int) -> None:
    """A folder of Thot's models of both directions."""
    thot = _thot()
    pairs = alignment.pairs(training_set)
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
    """Links of sentence pairs; none of a sentence of more than 1,024 words."""
    thot = _thot()
    pairs = [(tuple(source), tuple(target)) for source, target in alignment.pairs(segments)]
    found = []
    for direction in _DIRECTIONS:
        aligner = thot.EflomalAlignmentModel()
        if not (model / f"{direction}.src").exists() or not aligner.load(str(model / direction)):
            raise InputError(f"{model} is no model of eflomal")
        aligner.set_decode_params(*DECODING)
        sampled = {tuple(map(tuple, aligner.get_sentence_pair(n)[:2])): n for n in range(aligner.num_sentence_pairs)}
        links = []
        for pair in pairs:
            sides = _ordered(pair, direction)
            known = sides in sampled
            _, matrix = aligner.get_training_alignment(sampled[sides]) if known else aligner.get_best_alignment(*sides)
            links.append({_ordered(link, direction) for link in np.argwhere(matrix.to_numpy()).tolist()})
        found.append(links)
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for forward, backward in zip(*found, strict=True):
            print(alignment.write(forward & backward), file=file)


def _ordered(pair: Iterable[T], direction: str) -> tuple[T, ...]:
    """Source and target, or target and source: from the one to the other, and back."""
    return tuple(pair) if direction == "forward" else tuple(pair)[::-1]


def _thot() -> ModuleType:
    try:
        return import_module("thot.alignment")
    except ImportError:
        raise InputError("there is no module thot: install pairsig[retrain]") from None


if __name__ == "__main__":
    raise SystemExit(command("study.base_models.eflomal", train=train, predict=predict))
