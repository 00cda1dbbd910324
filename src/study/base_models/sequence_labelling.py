"""Constituency parsing as sequence labelling, after Gómez-Rodríguez and Vilares (2018).

A tree of n words is n - 1 labels of the gaps between neighbours and n labels of the words. A gap is labelled with the
number of constituents that hold both neighbours (`--encoding absolute`; `relative`, the default: how many more than at
the gap before) and the innermost of them, a word with the unary constituents above its tag. Unary chains count as one
constituent. CRFsuite learns one linear-chain model of the gaps and one of the words (`--algorithm ap`, the default,
`pa`, `arow` or `lbfgs`), and whatever they predict is a tree.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np

from pairsig.errors import InputError
from pairsig.files import open_text
from study.base_models import command
from study.corpora.constituency import TOP, Node, parse, words, write

Gap: TypeAlias = tuple[int, str]
"""Number of constituents that hold two neighbours, and the innermost one."""

ENCODINGS = ("relative", "absolute")
ALGORITHMS = {
    "ap": {"max_iterations": 6},
    "pa": {"max_iterations": 6},
    "arow": {"max_iterations": 6},
    "lbfgs": {"max_iterations": 40, "c2": 0.5},
}
"""CRFsuite's names of the averaged perceptron, passive-aggressive, AROW and the conditional random field, each with
its options. Scores of held-out sagas hardly rise with more iterations."""

_RARE = 10
"""A label of gaps that is seen less often is learned as the commonest with its number, if that is known: time grows
with the square of the number of labels, and most are rare (of 10,000 sagas' trees, 109 of 256 are left)."""
_DEEPEST = 100
_NOTHING = "-"
"""Label of a word below no unary constituent and of the place after the last word; CRFsuite takes no empty one."""

_VERB = re.compile(r"(?:VB|BE|HV|MD|DO|RD)[DP][IS]|VBI|VB[DPZ]|MD")
_OPENER = re.compile(r"C|IN|W\w+")
_LANDMARK = re.compile(r"VB\w*|BE\w*|HV\w*|MD\w*|DO\w*|RD\w*|CONJ|CC|C|P|IN|TO|W\w+|\W+")
"""Tags of finite verbs, of what opens clauses, and of all that tells where clauses are: IcePaHC's and Penn's."""


def encode(tree: Node) -> tuple[list[Gap], list[str]]:
    """Labels of the gaps and of the words; the constituents of a chain are parted by a space.

    The outermost constituent has number 1. It is TOP and what is unary below it, and TOP itself is not written.
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
    """The tree of these labels; of `encode`'s labels, the very tree.

    Where the labels fit no tree, a constituent gets the first label that one of its gaps has for it, one without label
    is left out, and numbers below 1 are 1.
    """
    leaves = [_below(chain, [[tag, word]]) for chain, (tag, word) in zip(chains, tagged, strict=True)]
    root: Node = [""]
    open_nodes = [root]

    def close() -> None:
        label, *children = open_nodes.pop()
        open_nodes[-1] += _below(label, children)

    for leaf, (number, label) in zip(leaves, gaps, strict=False):  # one leaf more than gaps
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


def train(training_set: Path, model: Path, seed: int, *, encoding: str = "relative", algorithm: str = "ap") -> None:
    """Write a model, a folder.

    The seed is for the order of the trees, which matters to all algorithms but lbfgs. CRFsuite shuffles them again with
    the C library's rand(), which it gives no way to seed: a process of its own a model makes that the same every time.
    """
    pycrfsuite = _crfsuite()
    trees = [tree for tree in _trees(training_set) if len(words(tree)) > 1]
    if not trees:
        raise InputError(f"{training_set}: found no tree of two words or more, expected some to learn from")
    order = np.argsort(np.random.PCG64(seed % 2**64).random_raw(len(trees)), kind="stable")
    trees = [trees[index] for index in order]
    labels = [encode(tree) for tree in trees]
    gaps = [_written(gaps, encoding) for gaps, _ in labels]
    counts = Counter(label for sequence in gaps for label in sequence)
    instead = _common_labels(counts)
    trainers = [pycrfsuite.Trainer(algorithm, ALGORITHMS[algorithm], verbose=False) for _ in range(2)]
    for tree, gap_labels, (_, chains) in zip(trees, gaps, labels, strict=True):
        items = pycrfsuite.ItemSequence(_features(words(tree)))
        trainers[0].append(items, [instead[label] for label in gap_labels])
        trainers[1].append(items, [chain or _NOTHING for chain in chains])
    model.mkdir()
    for trainer, name in zip(trainers, (f"gaps.{encoding}", "words"), strict=True):
        trainer.train(str(model / name))


def predict(model: Path, segments: Path, output: Path) -> None:
    """Write a tree for every line of tagged words."""
    pycrfsuite = _crfsuite()
    found = [encoding for encoding in ENCODINGS if (model / f"gaps.{encoding}").is_file()]
    if len(found) != 1 or not (model / "words").is_file():
        raise InputError(f"{model}: found no model of gaps and words, expected the folder that train wrote")
    gaps, chains = pycrfsuite.Tagger(), pycrfsuite.Tagger()
    gaps.open(str(model / f"gaps.{found[0]}"))
    chains.open(str(model / "words"))
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for tree in _trees(segments):
            tagged = words(tree)
            items = pycrfsuite.ItemSequence(_features(tagged))
            above = ["" if label == _NOTHING else label for label in chains.tag(items)]
            file.write(f"{write(decode(tagged, _read(gaps.tag(items), found[0]), above))}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--encoding", choices=ENCODINGS, default="relative")
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="ap")
    chosen, others = parser.parse_known_args(arguments)

    def train_so(training_set: Path, model: Path, seed: int) -> None:
        train(training_set, model, seed, encoding=chosen.encoding, algorithm=chosen.algorithm)

    return command("study.base_models.sequence_labelling", train=train_so, predict=predict, arguments=others)


def _below(chain: str, children: list[Node]) -> list[Node]:
    """The children below a chain of constituents, or as they are if the chain is empty."""
    for label in reversed(chain.split()):
        children = [[label, *children]]
    return children


def _written(gaps: Sequence[Gap], encoding: str) -> list[str]:
    """Labels of the gaps as CRFsuite learns them, one a word: the last word has a label of its own."""
    written = []
    before = 0
    for number, label in gaps:
        written.append(f"{number - before:d} {label}")
        if encoding == "relative":
            before = number
    return [*written, _NOTHING]


def _read(written: Sequence[str], encoding: str) -> list[Gap]:
    """What `_written` wrote, or something near it."""
    gaps: list[Gap] = []
    before = 0
    for one in written[:-1]:
        number, _, label = one.partition(" ")
        depth = max(1, before + (0 if number == _NOTHING else int(number)))
        gaps.append((depth, label))
        if encoding == "relative":
            before = depth
    return gaps


def _common_labels(counts: Counter[str]) -> dict[str, str]:
    """For a rare label, the commonest with its number; the others, and those of numbers that are rare, stay."""
    instead: dict[str, str] = {}
    best: dict[str, str] = {}
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        common = best.setdefault(label.partition(" ")[0], label)
        instead[label] = label if count >= _RARE else common
    return instead


def _features(tagged: Sequence[tuple[str, str]]) -> list[list[str]]:
    """What the models see of each word: itself and its neighbours, their tags, and the nearest landmarks."""
    size = len(tagged)
    tags = ["<2", "<1", *(tag for tag, _ in tagged), "1>", "2>", "3>"]
    kinds = [tag.partition("-")[0] or tag for tag in tags]  # without case
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
    """At every place, the two landmarks before it, the nearer first."""
    pairs = []
    last = before_last = ""
    for landmark in landmarks:
        pairs.append((last, before_last))
        if landmark:
            last, before_last = landmark, last
    return pairs


def _trees(path: Path) -> Iterator[Node]:
    for number, line in enumerate(open_text(path), start=1):
        try:
            tree = parse(line)
            words(tree)
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        yield tree


def _crfsuite() -> ModuleType:
    try:
        return import_module("pycrfsuite")
    except ImportError:
        raise InputError("there is no module pycrfsuite: install python-crfsuite") from None


if __name__ == "__main__":
    sys.exit(main())
