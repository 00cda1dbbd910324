"""An ensemble of dependency parsers that vote (Surdeanu and Manning 2010; Sagae and Lavie 2006).

Every member votes for each of its arcs. The result is the tree with a single root and the most votes, found by the
algorithm of Chu, Liu and Edmonds. The label of an arc is the most frequent one among the members with this arc; in a
tie, that of the first member.

`python -m base_models.ensemble --output FILE MEMBER …`
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from base_models import formats, program
from base_models.formats import Arc
from pairsig.io.errors import InputError


def vote(members: Sequence[Sequence[Arc]]) -> list[Arc]:
    """Find the tree of a sentence with the most votes.

    Parameters
    ----------
    members
        For each member, the arcs of all n words, which need not be a tree.

    Notes
    -----
    To prefer trees with a single root, n·k + 1 votes (more than all votes) are subtracted from every arc from the root.
    Ties are resolved by `ufal.chu_liu_edmonds`, always in the same way.
    """
    chu_liu_edmonds = program.package("ufal.chu_liu_edmonds", "ensembles").chu_liu_edmonds
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
    members = [formats.read_sentences(path) for path in outputs]
    for path, sentences in zip(outputs, members, strict=True):
        if len(sentences) != len(members[0]):
            raise InputError(f"{path}: found {len(sentences)} sentences, expected {len(members[0])} as in {outputs[0]}")
    chosen = []
    for number, rows in enumerate(zip(*members, strict=True), start=1):
        for path, words in zip(outputs, rows, strict=True):
            if [row[1] for row in words] != [row[1] for row in rows[0]]:
                raise InputError(
                    f"{path}, sentence {number}: found other words than in {outputs[0]}, expected the same"
                )
            if not all(row[6].isdecimal() for row in words):
                raise InputError(f"{path}, sentence {number}: found a word without a head, expected a number")
        arcs = vote([[(int(row[6]), row[7]) for row in words] for words in rows])
        chosen.append(formats.with_arcs(rows[0], arcs))
    formats.write_sentences(output, chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m base_models.ensemble", description=__doc__)
    parser.add_argument("outputs", nargs="+", type=Path, help="parses of the same sentences, CoNLL-U or CoNLL-X")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    return program.exit_status("base_models.ensemble", lambda: ensemble(options.outputs, options.output))


if __name__ == "__main__":
    raise SystemExit(main())
