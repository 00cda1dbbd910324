"""Word alignment by SIL's library Thot, in both directions.

`--aligner eflomal` samples links (Östling and Tiedemann 2016). Thot's sampler accepts a seed, which eflomal's own does
not; its number of iterations, which falls with the number of pairs, is that of eflomal. Pairs in the training set have
the links that were sampled for them; other pairs are aligned by the learned model. (Aligning all pairs by the model
raises the error rate on the Hansards by half a point.) Links are those of both directions.

`--aligner ibm4` trains IBM model 4 as GIZA++ does (Och and Ney 2003): it starts from model 3, model 3 from the HMM, and
the HMM from model 1. Every word is in the same word class, because no package here makes classes. Links are those of
both directions and their neighbours (`grow-diag`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from base_models import formats, program
from base_models.formats import Pair
from pairsig.io.errors import InputError

STAGES = {
    "eflomal": {"EflomalAlignmentModel": 0},
    "ibm4": {"Ibm1AlignmentModel": 5, "HmmAlignmentModel": 5, "Ibm3AlignmentModel": 3, "Ibm4AlignmentModel": 3},
}
"""Thot's models for each aligner, in the order in which they are trained, and their iterations; 0 for the number that
the model schedules. The iterations of IBM model 4 are those of Moses and GIZA++."""
DECODING = (10, 40, 10)
"""Number of eflomal's samplers for a pair outside the training set, their iterations, and those to discard."""
LONGEST = 20
"""Maximal number of words per side in training IBM model 4, because longer pairs take most of the time."""
_DIRECTIONS = ("forward", "backward")


def train(training_set: Path, model: Path, seed: int, *, aligner: str) -> None:
    """Train Thot's models of both directions, in a folder; only eflomal draws."""
    thot = program.package("thot.alignment", aligner)
    pairs = formats.read_pairs(training_set)
    if aligner == "ibm4":
        pairs = [pair for pair in map(formats.folded, pairs) if max(map(len, pair)) <= LONGEST]
        if not pairs:
            problem = f"found no pair with at most {LONGEST} words per side"
            raise InputError(f"{training_set}: {problem}, expected at least one")
    model.mkdir(exist_ok=True)
    for direction in _DIRECTIONS:
        trained: Any = None
        for name, iterations in STAGES[aligner].items():
            if trained is None:
                trained = getattr(thot, name)()
                for pair in pairs:
                    trained.add_sentence_pair(*_ordered(pair, direction))
            else:
                trained = getattr(thot, name)(trained)
            if aligner == "eflomal":
                trained.seed, trained.emit_training_alignments = seed, True
            trained.start_training()
            for _ in range(iterations or trained.scheduled_iterations):
                trained.train()
            trained.end_training()
        if not trained.print(str(model / direction)):
            raise InputError(f"{model}: cannot be written")


def predict(model: Path, segments: Path, output: Path, *, aligner: str) -> None:
    """Align sentence pairs; eflomal gives sentences with more than 1,024 words no links."""
    thot = program.package("thot.alignment", aligner)
    pairs = formats.read_pairs(segments)
    loaded = {}
    for direction in _DIRECTIONS:
        loaded[direction] = getattr(thot, [*STAGES[aligner]][-1])()
        if not (model / f"{direction}.src").exists() or not loaded[direction].load(str(model / direction)):
            raise InputError(f"{model}: found no model of {aligner}, expected one that train wrote")
    if aligner == "eflomal":
        links = [_sampled(of_direction, pairs, direction) for direction, of_direction in loaded.items()]
        formats.write_links(output, (forward & backward for forward, backward in zip(*links, strict=True)))
    else:
        symmetrized = thot.SymmetrizedAligner(*loaded.values())
        symmetrized.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG
        matrices = (symmetrized.get_best_alignment(*formats.folded(pair))[1] for pair in pairs)
        formats.write_links(
            output, ([(i, j) for i, j in np.argwhere(matrix.to_numpy()).tolist()] for matrix in matrices)
        )


def _sampled(eflomal: Any, pairs: Iterable[Pair], direction: str) -> list[set[Any]]:
    """Links of eflomal in one direction: those sampled for pairs in the training set, others from the model."""
    eflomal.set_decode_params(*DECODING)
    sampled = {tuple(map(tuple, eflomal.get_sentence_pair(n)[:2])): n for n in range(eflomal.num_sentence_pairs)}
    links = []
    for pair in pairs:
        sides = tuple(map(tuple, _ordered(pair, direction)))
        known = sides in sampled
        _, matrix = eflomal.get_training_alignment(sampled[sides]) if known else eflomal.get_best_alignment(*sides)
        links.append({_ordered(link, direction) for link in np.argwhere(matrix.to_numpy()).tolist()})
    return links


def _ordered(pair: Iterable[Any], direction: str) -> tuple[Any, ...]:
    """Swap source and target for the reverse direction, and back."""
    return tuple(pair) if direction == "forward" else tuple(pair)[::-1]


if __name__ == "__main__":
    options = {"aligner": {"choices": STAGES, "required": True}}
    raise SystemExit(program.run("base_models.thot", options, train=train, predict=predict))
