"""Constituency parsing as sequence labelling, after Gómez-Rodríguez and Vilares (2018).

A tree with n words corresponds to n - 1 labels of the gaps between neighbours and n labels of the words. The label of a
gap is the innermost constituent with both neighbours, and the number of such constituents (`--encoding absolute`) or
its change from the gap before (`relative`). The label of a word is the chain of unary constituents above its tag. A
unary chain counts as one constituent. CRFsuite learns a linear-chain model of the gaps and one of the words
(`--algorithm ap` or `pa`). All predictions are trees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from base_models import program
from base_models.formats import TOP, read_trees
from pairsig.io.errors import InputError
from pairsig.readers.outputs.trees import Node, words, write

Gap: TypeAlias = tuple[int, str]
"""Number of constituents that contain two neighbours, and the innermost one."""

ENCODINGS = ("relative", "absolute")
ALGORITHMS = ("ap", "pa")
"""CRFsuite's names of the averaged perceptron and of passive-aggressive learning."""
ITERATIONS = 6
"""More iterations hardly improve the scores of held-out sagas."""

_RARE = 10
"""Minimal frequency of a label of gaps. A rarer one is replaced by the most frequent label with its number, because
time grows with the square of the number of labels (109 of 256 labels remain for 10,000 trees of sagas)."""
_DEEPEST = 100
_NOTHING = "-"
"""Label without unary constituents, also after the last word; CRFsuite does not accept an empty label."""

_VERB = re.compile(r"(?:VB|BE|HV|MD|DO|RD)[DP][IS]|VBI|VB[DPZ]|MD")
_OPENER = re.compile(r"C|IN|W\w+")
_LANDMARK = re.compile(r"VB\w*|BE\w*|HV\w*|MD\w*|DO\w*|RD\w*|CONJ|CC|C|P|IN|TO|W\w+|\W+")
"""Tags of finite verbs, openers of clauses, and other signs of clauses, in IcePaHC and the Penn Treebank."""


def encode(tree: Node) -> tuple[list[Gap], list[str]]:
    """Encode a tree as labels of gaps and words; the constituents of a chain are separated by a space.

    The outermost constituent has number 1. It is TOP with the unary constituents below it; TOP itself is not written.
    """
    gaps: list[Gap] = []
    chains: list[str] = []

    def walk(node: Node, depth: int, chain: list[str]) -> None:
        while len(node) == 2 and not isinstance(node[1], str):
            chain.append(node[0])
            node = node[1]
        if isinstance(node[1], str):
            chains.append(" ".join(chain[depth == 1 :]))
            return
        chain.append(node[0])
        innermost = " ".join(chain[depth == 1 :])
        for child in node[1:]:
            walk(child, depth + 1, [])
            gaps.append((depth, innermost))
        gaps.pop()

    walk(tree, 1, [])
    return gaps, chains


def decode(tagged: Sequence[tuple[str, str]], gaps: Sequence[Gap], chains: Sequence[str]) -> Node:
    """Decode labels to a tree, as the inverse of `encode`.

    If the labels do not match a tree, a constituent has the first label of its gaps, constituents without a label are
    left out, and numbers below 1 become 1.
    """
    leaves = [_below(chain, [[tag, word]]) for chain, (tag, word) in zip(chains, tagged, strict=True)]
    root: Node = [""]
    open_nodes = [root]

    def close() -> None:
        label, *children = open_nodes.pop()
        open_nodes[-1] += _below(label, children)

    for leaf, (number, label) in zip(leaves, gaps, strict=False):  # there is one more leaf than gaps
        depth = max(1, min(number, _DEEPEST))
        open_nodes += ([""] for _ in range(depth - len(open_nodes)))
        open_nodes[-1] += leaf
        while len(open_nodes) > depth:
            close()
        open_nodes[-1][0] = open_nodes[-1][0] or label
    open_nodes[-1] += leaves[-1]
    while len(open_nodes) > 1:
        close()
    label, *children = root
    return [TOP, *_below(label, children)]


def train(training_set: Path, model: Path, seed: int, *, encoding: str, algorithm: str) -> None:
    """Train a model and write it to a folder.

    The seed determines the order of the trees. CRFsuite shuffles them again with the C library's rand(), which has no
    seed there; a separate process per model makes this reproducible.
    """
    pycrfsuite = program.package("pycrfsuite", "sequence labelling")
    trees = [tree for tree in read_trees(training_set) if len(words(tree)) > 1]
    if not trees:
        raise InputError(f"{training_set}: found no tree with two or more words, expected at least one for training")
    order = np.argsort(np.random.PCG64(seed % 2**64).random_raw(len(trees)), kind="stable")
    trees = [trees[index] for index in order]
    labels = [encode(tree) for tree in trees]
    gaps = [_written(gaps, encoding) for gaps, _ in labels]
    counts = Counter(chain.from_iterable(gaps))
    instead = _common_labels(counts)
    trainers = [pycrfsuite.Trainer(algorithm, {"max_iterations": ITERATIONS}, verbose=False) for _ in range(2)]
    for tree, gap_labels, (_, chains) in zip(trees, gaps, labels, strict=True):
        items = pycrfsuite.ItemSequence(_features(words(tree)))
        trainers[0].append(items, [instead[label] for label in gap_labels])
        trainers[1].append(items, [chain or _NOTHING for chain in chains])
    model.mkdir()
    for trainer, name in zip(trainers, (f"gaps.{encoding}", "words"), strict=True):
        trainer.train(str(model / name))


def predict(model: Path, segments: Path, output: Path) -> None:
    """Write a tree for every line of tagged words."""
    pycrfsuite = program.package("pycrfsuite", "sequence labelling")
    encodings = [encoding for encoding in ENCODINGS if (model / f"gaps.{encoding}").is_file()]
    if len(encodings) != 1 or not (model / "words").is_file():
        raise InputError(f"{model}: found no model of gaps and words, expected one that train wrote")
    gaps, chains = pycrfsuite.Tagger(), pycrfsuite.Tagger()
    gaps.open(str(model / f"gaps.{encodings[0]}"))
    chains.open(str(model / "words"))
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in read_trees(segments):
            tagged = words(tree)
            items = pycrfsuite.ItemSequence(_features(tagged))
            above = ["" if label == _NOTHING else label for label in chains.tag(items)]
            file.write(f"{write(decode(tagged, _read(gaps.tag(items), encodings[0]), above))}\n")


def _below(chain: str, children: list[Node]) -> list[Node]:
    """Put the children below a chain of constituents, unless it is empty."""
    for label in reversed(chain.split()):
        children = [[label, *children]]
    return children


def _written(gaps: Sequence[Gap], encoding: str) -> list[str]:
    """Format labels of the gaps for CRFsuite, one per word; the last word has a special label."""
    written = []
    before = 0
    for number, label in gaps:
        written.append(f"{number - before:d} {label}")
        if encoding == "relative":
            before = number
    return [*written, _NOTHING]


def _read(written: Sequence[str], encoding: str) -> list[Gap]:
    """Parse a label from `_written`, or a similar one."""
    gaps: list[Gap] = []
    before = 0
    for line in written[:-1]:
        number, _, label = line.partition(" ")
        depth = max(1, before + (0 if number == _NOTHING else int(number)))
        gaps.append((depth, label))
        if encoding == "relative":
            before = depth
    return gaps


def _common_labels(counts: Counter[str]) -> dict[str, str]:
    """Replace rare labels by the most frequent one with their number, unless the number is rare too."""
    instead: dict[str, str] = {}
    best: dict[str, str] = {}
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        common = best.setdefault(label.partition(" ")[0], label)
        instead[label] = label if count >= _RARE else common
    return instead


def _features(tagged: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Features of each word: itself and its neighbours, their tags, and the nearest landmarks."""
    size = len(tagged)
    tags = ["<2", "<1", *(tag for tag, _ in tagged), "1>", "2>", "3>"]
    kinds = [tag.partition("-")[0] or tag for tag in tags]  # lower case
    forms = ["<2", "<1", *(word.lower() for _, word in tagged), "1>", "2>"]
    inner = kinds[2:-3]
    landmarks = [tag if _LANDMARK.fullmatch(kind) else "" for kind, (tag, _) in zip(inner, tagged, strict=True)]
    ahead = _last_two(landmarks[::-1])[::-1]
    behind = _last_two(landmarks)
    features = []
    openers = verbs = 0
    for index in range(size):
        t2, t1, tag, n1, n2, n3 = tags[index : index + 6]
        k2, k1, kind, m1, m2, m3 = kinds[index : index + 6]
        f2, f1, form, g1, g2 = forms[index : index + 5]
        (next_landmark, after_next), (last_landmark, before_last) = ahead[index], behind[index]
        values = (
            "", form, f1, g1, f2, g2, form[:3], form[-2:], form[-3:],
            tag, t1, n1, t2, n2, n3, f"{tag}|{n1}", f"{t1}|{tag}", f"{n1}|{n2}", f"{t2}|{t1}",
            f"{t1}|{tag}|{n1}", f"{tag}|{n1}|{n2}", f"{kind}|{m1}|{m2}|{m3}", f"{k1}|{kind}|{m1}|{m2}",
            f"{k2}|{k1}|{kind}|{m1}", f"{form}|{n1}", f"{tag}|{g1}", f"{form}|{g1}",
            f"{next_landmark}|{after_next}", f"{last_landmark}|{before_last}",
            f"{last_landmark}|{tag}|{next_landmark}", f"{openers}|{verbs}", f"{openers}|{verbs}|{tag}|{n1}",
        )  # fmt: skip
        features.append([f"{number}={value}" for number, value in enumerate(values)])
        openers = min(3, openers + bool(_OPENER.fullmatch(kind)))
        verbs = min(3, verbs + bool(_VERB.fullmatch(kind)))
    return features


def _last_two(landmarks: Sequence[str]) -> list[tuple[str, str]]:
    """Find the two landmarks before each place, the nearer first."""
    pairs = []
    last = before_last = ""
    for landmark in landmarks:
        pairs.append((last, before_last))
        if landmark:
            last, before_last = landmark, last
    return pairs


if __name__ == "__main__":
    options = {
        "encoding": {"choices": ENCODINGS, "required": True},
        "algorithm": {"choices": ALGORITHMS, "required": True},
    }
    raise SystemExit(program.run("base_models.sequence_labelling", options, train=train, predict=predict))
