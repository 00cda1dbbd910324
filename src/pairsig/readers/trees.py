"""Bracketed trees in the style of the Penn Treebank: `(S (NP (PRP it)) (VP (VBZ works)))`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pairsig.errors import InputError, quoted, reason
from pairsig.readers import MAX_LINE, AnyPath, open_text

if TYPE_CHECKING:
    from nltk.tree import Tree

# Words and labels end at ASCII space only: words hold no-break spaces, and evalb does not know them.
_WORD = r"[^() \t\n\r\f\v]+"
_PIECE = re.compile(rf"[()]|{_WORD}")
_NOTHING = re.compile(r"[()\s]*")


def read(path: AnyPath, *, one_per_line: bool = False) -> list[Tree | None]:
    """Trees of a file.

    Parameters
    ----------
    path
        A file, or a member of an archive (`runs.tar.xz!team/wsj.mrg`).
    one_per_line
        Every line is one segment, as evalb reads them: an empty line is a failed parse, and a line with
        several trees is one fragmentary parse. Otherwise a tree ends where its brackets balance, and trees
        may share a line or spread over many; empty lines mean nothing.

    Returns
    -------
    One item a segment: the tree with its labels as they are read (an empty, TOP or ROOT label on the outside
    included); None for a parse without labels or words, `(())` or, with `one_per_line`, an empty line. A line
    of several trees is a tree labelled None, which is no bracket.

    Raises
    ------
    InputError
        With file and line for brackets that do not balance and words outside brackets, and for a file with no
        tree.
    """
    from nltk.tree import Tree  # takes a second

    def parse(number: int, text: str) -> Tree | None:
        if _NOTHING.fullmatch(text):
            return None
        try:
            return Tree.fromstring(text, node_pattern=_WORD, leaf_pattern=_WORD)
        except ValueError as error:  # brackets are balanced, but NLTK has a limit of its own on their depth
            raise InputError(f"{path}, line {number}: found a tree that NLTK refuses: {reason(error)}") from None

    trees: list[Tree | None] = []
    if one_per_line:
        for number, line in enumerate(open_text(path), start=1):
            parts = [parse(*tree) for tree in _balanced([(number, line)], path)]
            trees.append(
                Tree(None, [part for part in parts if part is not None]) if parts[1:] else (parts or [None])[0]
            )
    else:
        trees = [parse(*tree) for tree in _balanced(enumerate(open_text(path), start=1), path)]
    if all(tree is None for tree in trees):
        raise InputError(f"{path}: found no tree, expected bracketed trees")
    return trees


def _balanced(lines: Iterable[tuple[int, str]], path: AnyPath) -> Iterator[tuple[int, str]]:
    """The stretches of text from an opening bracket to the one that closes it, with their first lines."""
    depth = first = size = 0
    text: list[str] = []
    for number, line in lines:
        start = 0
        for piece in _PIECE.finditer(line):
            found = piece[0]
            if found == "(":
                if depth == 0:
                    first, start, size = number, piece.start(), 0
                depth += 1
            elif depth == 0:
                raise InputError(f"{path}, line {number}: found {quoted(found)} outside a tree, expected '('")
            elif found == ")":
                depth -= 1
                if depth == 0:
                    yield first, "".join((*text, line[start : piece.end()]))
                    text.clear()
        if depth:
            text.append(line[start:])
            size += len(line)
            if size > MAX_LINE:
                raise InputError(
                    f"{path}, line {first}: found a tree of more than {MAX_LINE:,} characters, expected shorter ones"
                )
    if depth:
        raise InputError(f"{path}, line {first}: found a tree with {depth} more '(' than ')', expected equally many")
