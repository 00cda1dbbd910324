"""An ensemble of dependency parsers that vote (Surdeanu and Manning 2010; Sagae and Lavie 2006).

Every member gives one vote to each of its arcs. The tree is the one with the most votes that has a single root (found
by the algorithm of Chu, Liu and Edmonds); the label of an arc is that of most members that have the arc, of the first
of them in case of a tie.

`python -m study.base_models.ensemble --output FILE MEMBER …`
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from pairsig.errors import InputError
from pairsig.tables import replacing
from study.corpora import cut, join

Arc = tuple[int, str]
"""Head and label of a word."""


def vote(members: Sequence[Sequence[Arc]]) -> list[Arc]:
    """The tree of a sentence that has the most votes.

    Parameters
    ----------
    members
        For each member the arcs of all n words. A member's arcs need not be a tree.

    Notes
    -----
    Trees with a single root are preferred by taking n·k + 1 votes, more than all together, off every arc from the root.
    Of trees with equally many votes, that of `ufal.chu_liu_edmonds` is taken, which is the same every time.
    """
    try:
        chu_liu_edmonds = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds
    except ImportError:
        raise InputError("there is no module ufal.chu_liu_edmonds: install pairsig[retrain]") from None
    size = len(members[0])
    votes = np.zeros((size + 1, size + 1))
    for arcs in members:
        for word, (head, _) in enumerate(arcs, start=1):
            votes[word, head] += 1
    votes[1:, 0] -= size * len(members) + 1
    np.fill_diagonal(votes, -np.inf)
    votes[0] = -np.inf  # the root has no head
    heads, _ = chu_liu_edmonds(votes)
    chosen = []
    for word, head in enumerate(heads[1:]):
        labels = Counter(arcs[word][1] for arcs in members if arcs[word][0] == head)
        label = labels.most_common(1)[0][0] if labels else "root" if head == 0 else "dep"
        chosen.append((int(head), label))
    return chosen


def ensemble(outputs: Sequence[Path], output: Path) -> None:
    """Vote over the outputs of the members, sentence by sentence."""
    members = [cut("dependency", path) for path in outputs]
    for path, sentences in zip(outputs, members, strict=True):
        if len(sentences) != len(members[0]):
            raise InputError(
                f"{path} has {len(sentences)} sentences, {outputs[0]} has {len(members[0])}, expected equally many"
            )
    texts = []
    for number, parses in enumerate(zip(*members, strict=True), start=1):
        rows = [[line.split("\t") for line in parse.split("\n")] for parse in parses]
        for path, own in zip(outputs, rows, strict=True):
            if [row[1] for row in own] != [row[1] for row in rows[0]]:
                raise InputError(
                    f"{path}, sentence {number}: found other words than {outputs[0]} has, expected the same"
                )
            if not all(row[6].isdecimal() for row in own):
                raise InputError(f"{path}, sentence {number}: found a word without a head, expected a number")
        chosen = vote([[(int(row[6]), row[7]) for row in own] for own in rows])
        texts.append(
            "\n".join(
                "\t".join([*row[:6], str(head), label, "_", "_"])
                for row, (head, label) in zip(rows[0], chosen, strict=True)
            )
        )
    with replacing(output) as temporary:
        temporary.write_text(join("dependency", texts), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m study.base_models.ensemble", description=__doc__)
    parser.add_argument("outputs", nargs="+", type=Path, help="parses of the same sentences, CoNLL-U or CoNLL-X")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    try:
        ensemble(given.outputs, given.output)
    except InputError as error:
        print(f"study.base_models.ensemble: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
