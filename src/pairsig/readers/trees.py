"""Bracketed trees in the style of the Penn Treebank: `(S (NP (PRP it)) (VP (VBZ works)))`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pairsig.errors import InputError, quoted
from pairsig.files import MAX_LINE, AnyPath, open_text

if TYPE_CHECKING:
    from nltk.tree import Tree

# Words and labels end at ASCII space only: words hold no-break spaces, and evalb does not know them.
_PIECE = re.compile(r"[()]|[^() \t\n\r\f\v]+")
_DEEPEST = 500
"""Levels of a tree. NLTK's methods recur, and Python ends a recursion at 1,000."""


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
        With file and line for brackets that do not balance, words outside brackets, a tree of more than 500 levels
        or `MAX_LINE` characters, and for a file with no tree.
    """
    from nltk.tree import Tree  # takes a second

    trees: list[Tree | None] = []
    if one_per_line:
        for number, line in enumerate(open_text(path), start=1):
            parts = list(_trees([(number, line)], path))
            trees.append(
                Tree(None, [part for part in parts if part is not None]) if parts[1:] else (parts or [None])[0]
            )
    else:
        trees = list(_trees(enumerate(open_text(path), start=1), path))
    if all(tree is None for tree in trees):
        raise InputError(f"{path}: found no tree, expected bracketed trees")
    return trees


def _trees(lines: Iterable[tuple[int, str]], path: AnyPath) -> Iterator[Tree | None]:
    """The trees on numbered lines, each from an opening bracket to the one that closes it."""
    from nltk.tree import Tree

    nodes: list[Tree] = []  # from the root to where we are
    first = size = 0
    has_text = follows_bracket = False
    for number, line in lines:
        for piece in _PIECE.finditer(line):
            found = piece[0]
            if found == "(":
                if not nodes:
                    first, size, has_text = number, 0, False
                if len(nodes) == _DEEPEST:
                    raise InputError(
                        f"{path}, line {first}: found a tree of more than {_DEEPEST} levels, expected fewer"
                    )
                nodes.append(Tree("", []))
                follows_bracket = True
                continue
            if not nodes:
                raise InputError(f"{path}, line {number}: found {quoted(found)} outside a tree, expected '('")
            if found == ")":
                node = nodes.pop()
                if nodes:
                    nodes[-1].append(node)
                else:
                    yield node if has_text else None
            elif follows_bracket:
                nodes[-1].set_label(found)
            else:
                nodes[-1].append(found)
            follows_bracket = False
            has_text = has_text or not (found == ")" or found.isspace())
        size += len(line)
        if nodes and size > MAX_LINE:
            raise InputError(
                f"{path}, line {first}: found a tree of more than {MAX_LINE:,} characters, expected shorter ones"
            )
    if nodes:
        raise InputError(
            f"{path}, line {first}: found a tree with {len(nodes)} more '(' than ')', expected equally many"
        )
