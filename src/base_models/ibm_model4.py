"""Word alignment by IBM model 4 in both directions, trained by Thot as GIZA++ does (Och and Ney 2003).

Model 4 starts from model 3, model 3 from the HMM, and the HMM from model 1. Every word is in the same word class,
because no package here makes classes. Links are those of both directions and their neighbours (`grow-diag`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from base_models import formats, program
from pairsig.io.errors import InputError

FIRST = "Ibm1AlignmentModel"
ITERATIONS = {FIRST: 5, "HmmAlignmentModel": 5, "Ibm3AlignmentModel": 3, "Ibm4AlignmentModel": 3}
"""Thot's models, in the order in which they are trained, and their iterations, which are those of Moses and GIZA++."""
LONGEST = 20
"""Maximal number of words per side in training, because longer pairs take most of the time."""
_DIRECTIONS = ("forward", "backward")


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - nothing is drawn
    """Train Thot's models of both directions, in a folder."""
    thot = program.package("thot.alignment", "IBM model 4")
    pairs = [pair for pair in map(formats.folded, formats.read_pairs(training_set)) if max(map(len, pair)) <= LONGEST]
    if not pairs:
        raise InputError(f"{training_set}: found no pair with at most {LONGEST} words per side, expected at least one")
    model.mkdir(exist_ok=True)
    for direction in _DIRECTIONS:
        aligner: Any = None
        for name, iterations in ITERATIONS.items():
            aligner = getattr(thot, name)(*([] if aligner is None else [aligner]))
            if name == FIRST:
                for source, target in pairs:
                    aligner.add_sentence_pair(*((source, target) if direction == "forward" else (target, source)))
            aligner.start_training()
            for _ in range(iterations):
                aligner.train()
            aligner.end_training()
        if not aligner.print(str(model / direction)):
            raise InputError(f"{model}: cannot be written")


def predict(model: Path, segments: Path, output: Path) -> None:
    """Align sentence pairs."""
    thot = program.package("thot.alignment", "IBM model 4")
    directions = []
    for direction in _DIRECTIONS:
        aligner = thot.Ibm4AlignmentModel()
        if not (model / f"{direction}.src").exists() or not aligner.load(str(model / direction)):
            raise InputError(f"{model}: found no IBM model 4, expected one that train wrote")
        directions.append(aligner)
    symmetrized = thot.SymmetrizedAligner(*directions)
    symmetrized.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG
    matrices = (symmetrized.get_best_alignment(*formats.folded(pair))[1] for pair in formats.read_pairs(segments))
    formats.write_links(output, ([(i, j) for i, j in np.argwhere(matrix.to_numpy()).tolist()] for matrix in matrices))


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.ibm_model4", train=train, predict=predict))
