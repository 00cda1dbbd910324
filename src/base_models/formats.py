"""The formats of training sets, inputs and outputs, for each task.

docs/sheets.md describes them, under `base_models.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.io.tables import replacing, write_text
from pairsig.readers.outputs.alignment import Alignment, Link
from pairsig.readers.outputs.trees import Node, parse, words

Arc: TypeAlias = tuple[int, str]
"""The head of a word (its number, or 0 for the root) and the label of the arc."""
Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The words of a source sentence and those of its translation."""
Sentence: TypeAlias = list[list[str]]
"""The ten columns of each word."""

TOP = "TOP"
"""The root label of every tree."""

_WORD = re.compile(r"[^ \t\n\r\f\v]+")
"""Annotators of word alignments counted words that are separated by ASCII space only."""
_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


def read_sentences(path: Path) -> list[Sentence]:
    """Read sentences in CoNLL-U, without comments, multiword tokens and empty nodes."""
    with open_text(path) as file:
        content = file.read()
    if not content.endswith("\n\n"):
        raise InputError(f"{path}: found no empty line at the end, expected one; the file may be truncated")
    sentences = [[line.split("\t") for line in text.split("\n")] for text in content[:-2].split("\n\n")]
    for number, sentence in enumerate(sentences, start=1):
        for word in sentence:
            if len(word) != 10:
                raise InputError(f"{path}, sentence {number}: found {len(word)} columns, expected the 10 of CoNLL-U")
    return sentences


def write_sentences(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences in CoNLL-U."""
    lines = (["\t".join(word) for word in sentence] for sentence in sentences)
    write_text("".join("\n".join(lines_of_sentence) + "\n\n" for lines_of_sentence in lines), path)


def with_arcs(sentence: Sentence, arcs: Sequence[Arc]) -> Sentence:
    """Replace the heads and labels of a sentence."""
    return [[*word[:6], str(head), label, "_", "_"] for word, (head, label) in zip(sentence, arcs, strict=True)]


def read_trees(path: Path) -> Iterator[Node]:
    """Read a tree, or tagged words below TOP, from every line."""
    for number, line in enumerate(open_text(path), start=1):
        yield read_tree(line, path, number)


def read_tree(line: str, path: Path, number: int) -> Node:
    """Read the tree on a line, and check that every word has a tag."""
    tree = parse(line, path, number)
    try:
        words(tree)
    except InputError as error:
        raise InputError(f"{path}, line {number}: {error}") from None
    return tree


def read_pairs(path: Path) -> list[Pair]:
    """Read sentence pairs for word alignment; links are ignored."""
    return [(source, target) for _, _, (source, target, *_) in _sides(path)]


def read_linked_pairs(path: Path) -> list[tuple[Pair, Alignment]]:
    """Read sentence pairs with the links of annotators: `i-j` for sure and `ipj` for possible links, from 0."""
    linked_pairs: list[tuple[Pair, Alignment]] = []
    for place, line, (source, target, *annotated) in _sides(path):
        end = f"{place}: found {line.strip()[-40:]!r} at the end"
        matches = [_LINK.fullmatch(link) for link in chain.from_iterable(annotated)]
        if not annotated or not all(matches):
            raise InputError(f"{end}, expected ||| and links")
        links = [(int(match[1]), int(match[3]), match[2]) for match in matches if match]
        if any(i >= len(source) or j >= len(target) for i, j, _ in links):
            raise InputError(f"{end}, expected links for a pair of {len(source)} and {len(target)} words")
        sure = frozenset((i, j) for i, j, mark in links if mark == "-")
        linked_pairs.append(((source, target), Alignment(sure, frozenset((i, j) for i, j, _ in links))))
    return linked_pairs


def folded(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Convert words to lower case, so that they are the same at the beginning of a sentence and in headings."""
    source, target = (tuple(word.lower() for word in side) for side in pair)
    return source, target


def write_links(path: Path, aligned: Iterable[Iterable[Link]]) -> None:
    """Write the links of each sentence pair, sorted."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for links in aligned:
            print(" ".join(f"{i}-{j}" for i, j in sorted(links)), file=file)


def read_translations(path: Path) -> tuple[list[Pair], list[list[str]]]:
    """Read sentence pairs for translation, and the source sentences without a target."""
    pairs: list[Pair] = []
    sources: list[list[str]] = []
    for number, line in enumerate(open_text(path), start=1):
        sides = _split(line.split())
        if len(sides) > 2 or not all(sides):
            raise _no_pair(f"{path}, line {number}", line)
        if len(sides) == 2:
            pairs.append((sides[0], sides[1]))
        else:
            sources.append(sides[0])
    return pairs, sources


def _sides(path: Path) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Read source, target and, if present, links from every line, with the place and the line itself for messages."""
    for number, line in enumerate(open_text(path), start=1):
        place, sides = f"{path}, line {number}", _split(_WORD.findall(line))
        if len(sides) not in (2, 3) or not sides[0] or not sides[1]:
            raise _no_pair(place, line)
        yield place, line, sides


def _split(words: Iterable[str]) -> list[list[str]]:
    """Split the words of a line at |||."""
    sides: list[list[str]] = [[]]
    for word in words:
        if word == "|||":
            sides.append([])
        else:
            sides[-1].append(word)
    return sides


def _no_pair(place: str, line: str) -> InputError:
    return InputError(f"{place}: found {line.strip()[:40]!r}, expected source words ||| target words")
