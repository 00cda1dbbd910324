"""Word alignment by eflomal (Östling and Tiedemann 2016), by Gibbs sampling; links are what both directions agree on.

A model is the training set with its links. A pair that is in it gets these links; others are aligned together with the
training set. (With priors from the training set, as `eflomal-makepriors` makes them, the error rate on the Hansards
is 2 points higher: they lose what the sampler was unsure of.) eflomal takes no seed, so that no two models are equal.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pairsig.base_models import command
from pairsig.corpora import alignment
from pairsig.errors import InputError
from pairsig.tables import replacing

Pair = tuple[Sequence[str], Sequence[str]]


def align(pairs: Sequence[Pair]) -> list[str]:
    """Links of all pairs that both directions have, a line a pair."""
    from eflomal import Aligner

    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/forward", f"{folder}/backward"]
        # eflomal ends words at any space of Unicode, our corpora at ASCII space only.
        sides = [[" ".join(re.sub(r"\s", "_", word) for word in pair[side]) for pair in pairs] for side in (0, 1)]
        Aligner().align(*sides, links_filename_fwd=paths[0], links_filename_rev=paths[1])
        forward, backward = (Path(path).read_text(encoding="ascii").splitlines() for path in paths)
    if not len(forward) == len(backward) == len(pairs):
        raise InputError(f"eflomal aligned {len(forward)} of {len(pairs)} pairs, expected all: see its own words above")
    return [alignment.write(_links(one) & _links(other)) for one, other in zip(forward, backward, strict=True)]


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - eflomal takes none
    """The training set and its links."""
    pairs = alignment.pairs(training_set)
    with replacing(model) as temporary, temporary.open("w", encoding="utf-8") as file:
        for pair, links in zip(pairs, align(pairs), strict=True):
            print(*map(" ".join, pair), links, sep=alignment.BETWEEN, file=file)


def predict(model: Path, segments: Path, output: Path) -> None:
    """Links of sentence pairs."""
    with model.open(encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").rpartition(alignment.BETWEEN) for line in file]
    known = {text: links for text, _, links in reversed(lines)}
    pairs = alignment.pairs(segments)
    texts = [alignment.BETWEEN.join(map(" ".join, pair)) for pair in pairs]
    unknown = {text: pair for text, pair in zip(texts, pairs, strict=True) if text not in known}
    if unknown:
        found = align([*alignment.pairs(model), *unknown.values()])
        known |= dict(zip(unknown, found[len(lines) :], strict=True))
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for text in texts:
            print(known[text], file=file)


def _links(line: str) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in (link.split("-") for link in line.split())}


if __name__ == "__main__":
    raise SystemExit(command("pairsig.base_models.eflomal_aligner", train=train, predict=predict))
