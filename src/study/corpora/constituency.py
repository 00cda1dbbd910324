"""Bracketed corpora: IcePaHC, CRAFT, GUM and others in the style of the Penn Treebank.

A segment is a tree on a line, `(TOP (NP (NN cats)) (VP (VBP purr)))`: words, their tags, and the constituents that hold
words. What else treebanks write into their trees is taken away, in `strip` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import fspath
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text
from study.corpora import Segment

# A node is the list of its label and its children, a leaf a string: trees of this kind are read five times as fast
# as NLTK's. (mypy would need a cast at every step down if the type were recursive.)
Node: TypeAlias = list[Any]

TOP = "TOP"
"""The outermost label of every tree."""

# Words and labels end at ASCII space only, as in `pairsig.readers.trees`.
_WORD = r"[^() \t\n\r\f\v]+"
_PIECE = re.compile(rf"\(\s*({_WORD})?|(\))|({_WORD})")
_PRETERMINAL = re.compile(rf"\({_WORD} {_WORD}\)")

_NO_TEXT = frozenset(["ID", "META", "CODE", "REF", "TRANSLATION"])
"""IcePaHC's nodes that hold no text: numbers, headings and references, editors' remarks, modern translations."""
_WRAPPERS = frozenset(["", TOP, "ROOT", "S1"])
"""Outermost labels that say no more than that a tree begins."""
_INDEX = re.compile(r"(?<=.)[-=](?:\d+|NaN)(?=$|[-=])")
_FUNCTION = re.compile(r"(?<=.)[-=].*")
_DEEPEST = 300


def read(
    path: AnyPath, *, lemmas: bool = False, functions: bool = False, max_words: int | None = None
) -> Iterator[Segment]:
    """Trees of a file, one or several lines a tree; each is a segment after `strip`.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The document is its name without extensions.
    lemmas, functions
        See `strip`. IcePaHC has lemmas.
    max_words
        Leave out longer sentences.
    """
    name = PurePosixPath(fspath(path).rpartition("!")[2]).name
    document = name.removesuffix(".gz").removesuffix(".xz").rpartition(".")[0] or name
    text = open_text(path).read()
    position = 0
    line = 1
    for start, tree in _parse(text, path):
        line += text.count("\n", position, start)
        position = start
        try:
            stripped = strip(tree, lemmas=lemmas, functions=functions)
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
        if stripped is None or (max_words is not None and len(words(stripped)) > max_words):
            continue
        yield Segment(write(stripped), document=document)


def blank(text: str) -> str:
    """The words of a tree and their tags, without the constituents: `(TOP (NN cats) (VBP purr))`."""
    return f"({TOP} {' '.join(_PRETERMINAL.findall(text))})"


def gold(text: str) -> str:
    """The tree itself."""
    return text


def strip(tree: Node, *, lemmas: bool = False, functions: bool = False) -> Node | None:
    """What a parser is to find of a tree of a treebank.

    - Nodes without text go: `ID`, `META`, `CODE`, `REF`, `TRANSLATION`, with all they hold.
    - Empty categories go: leaves tagged `-NONE-`; with lemmas, leaves that are `0` or hold `*` (all words have a
      lemma there, and `0-0` is a number).
    - Constituents that hold no word go, and so do trees.
    - Indices go, from tags too: `NP-SBJ-1` and `IP-MAT=1` are NP-SBJ and IP-MAT.
    - A constituent whose only child is a constituent of the same label goes: `(NP (NP ...))` is left by traces.
    - The outermost label is TOP, in place of an empty one, TOP, ROOT or S1, and else around the tree.

    Tags keep all but their index: `PRO-N`, `-LRB-`. Punctuation is kept, and so is the mark of clitics (`mann$ $inn`).

    Parameters
    ----------
    tree
        From `parse`; it is left as it is.
    lemmas
        Leaves are `form-lemma`; the lemma goes. The form may hold hyphens, the lemma does not; a dash is its own form.
    functions
        Keep function tags: `NP-SBJ`, `IP-MAT-SPE`. Otherwise labels end before their first `-` or `=`. evalb counts
        labels so, some parsers cut them when they read (Stanford's), and others take every one for a category of
        its own: without them all learn the same task. Clause types of IcePaHC (IP-MAT, IP-SUB) go with them, since
        no score that is counted here can tell them apart.
    """
    children = tree[1:] if tree[0] in _WRAPPERS else [tree]
    kept = [node for child in children if (node := _strip(_node(child), lemmas, functions)) is not None]
    return [TOP, *kept] if kept else None


def parse(text: str) -> Node:
    """The one tree of a line."""
    trees = [tree for _, tree in _parse(text)]
    if len(trees) != 1:
        raise InputError(f"found {len(trees)} trees, expected one")
    return trees[0]


def write(tree: Node) -> str:
    """A tree on a line, as `parse` reads it."""
    return f"({' '.join([tree[0], *(child if isinstance(child, str) else write(child) for child in tree[1:])])})"


def words(tree: Node) -> list[tuple[str, str]]:
    """Tags and words."""
    if len(tree) == 2 and isinstance(tree[1], str):
        return [(tree[0], tree[1])]
    if len(tree) == 1:
        raise InputError(f"found the constituent {tree[0]!r} without words, expected some")
    return [pair for child in tree[1:] for pair in words(_node(child))]


def _node(child: Node | str) -> Node:
    if isinstance(child, str):
        raise InputError(f"found the word {child!r} beside another node, expected one word with one tag")
    return child


def _strip(node: Node, lemmas: bool, functions: bool) -> Node | None:
    label = node[0]
    if label in _NO_TEXT:
        return None
    if len(node) == 2 and isinstance(node[1], str):
        word = node[1]
        if (word == "0" or "*" in word) if lemmas else label == "-NONE-":
            return None
        form = word.rpartition("-")[0] if lemmas else ""
        return [_INDEX.sub("", label), form or word]
    kept = [child for one in node[1:] if (child := _strip(_node(one), lemmas, functions)) is not None]
    if not kept:
        return None
    label = _INDEX.sub("", label) if functions else _FUNCTION.sub("", label)
    if not label:
        raise InputError("found a constituent without a label inside a tree, expected one")
    if len(kept) == 1 and kept[0][0] == label and not isinstance(kept[0][1], str):
        return kept[0]
    return [label, *kept]


def _parse(text: str, path: AnyPath = "") -> Iterator[tuple[int, Node]]:
    """Trees of a text, each with the position of its first bracket; errors name the line if there is a path."""

    def bad(position: int, told: str) -> InputError:
        place = f"{path}, line {text.count(chr(10), 0, position) + 1}: " if path else ""
        return InputError(f"{place}found {told}")

    stack: list[Node] = []
    start = 0
    for piece in _PIECE.finditer(text):
        label, closing, word = piece.groups()
        if closing:
            if not stack:
                raise bad(piece.start(), "')' outside a tree, expected '('")
            node = stack.pop()
            if stack:
                stack[-1].append(node)
            else:
                yield start, node
        elif word:
            if not stack:
                raise bad(piece.start(), f"{word!r} outside a tree, expected '('")
            stack[-1].append(word)
        else:
            if not stack:
                start = piece.start()
            elif len(stack) >= _DEEPEST:
                raise bad(start, f"a tree with more than {_DEEPEST} brackets open at once, expected fewer")
            stack.append([label or ""])
    if stack:
        raise bad(start, f"a tree with {len(stack)} more '(' than ')', expected equally many")
