"""Read bracketed trees in the style of the Penn Treebank: `(S (NP (PRP it)) (VP (VBZ works)))`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import MAX_LINE, AnyPath, open_text
from pairsig.io.packages import need
from pairsig.readers import Reader

if TYPE_CHECKING:
    from nltk.tree import Tree

T = TypeVar("T")

# A recursive type would require a cast for mypy at every step down.
Node: TypeAlias = list[Any]
"""A node as a list of its label and its children; a word is a string, and the only child of its tag."""

# Words and labels end only at ASCII space, since words contain no-break spaces, which evalb does not treat as space.
_PIECE = re.compile(r"\([ \t\n\r\f\v]*([^() \t\n\r\f\v]+)?|\)|[^() \t\n\r\f\v]+")
_DEEPEST = 500
"""Maximum depth of a tree. NLTK's methods are recursive, and Python ends a recursion at 1,000 levels."""
_DEEPEST_NODES = 300
"""Maximum depth of nested lists, for functions that take up to three calls per level."""


def read(path: AnyPath, *, one_per_line: bool = False) -> list[Tree | None]:
    """Read bracketed trees.

    Parameters
    ----------
    path
        A file, or a member of an archive (`runs.tar.xz!team/wsj.mrg`).
    one_per_line
        Whether every line is one segment, as in evalb: an empty line is a failed parse, and a line with several trees
        is one fragmentary parse. Otherwise, a tree ends when its brackets balance; trees may share a line or span
        several, and empty lines are ignored.

    Returns
    -------
    One item per segment: the tree with its original labels (including an empty, TOP or ROOT label on the outside), or
    None for a parse without labels or words, `(())` or, with `one_per_line`, an empty line. A line with several trees
    becomes a tree with the label None, which does not count as a bracket.
    """
    need("nltk")
    from nltk.tree import Tree  # takes a second

    def built(lines: Iterable[tuple[int, str]]) -> list[Tree | None]:
        return [tree for _, tree in _parse(lines, path, _DEEPEST, lambda node: Tree(node[0], node[1:]))]

    lines = enumerate(open_text(path), start=1)
    trees: list[Tree | None] = []
    if one_per_line:
        for line in lines:
            parts = built([line])
            trees.append(
                Tree(None, [part for part in parts if part is not None]) if parts[1:] else (parts or [None])[0]
            )
    else:
        trees = built(lines)
    if all(tree is None for tree in trees):
        raise InputError(f"{path}: found no tree, expected at least one in brackets")
    return trees


def nodes(lines: Iterable[tuple[int, str]], path: AnyPath) -> Iterator[tuple[int, Node]]:
    """Read trees as nested lists, without NLTK.

    Parameters
    ----------
    lines
        Numbered lines; a tree may span several.
    path
        File for error messages.

    Yields
    ------
    The number of the first line of a tree, and the tree. Trees without labels and words are left out.
    """
    return ((line, tree) for line, tree in _parse(lines, path, _DEEPEST_NODES, lambda node: node) if tree is not None)


def parse(text: str, path: AnyPath = "text", line: int = 1) -> Node:
    """Read the only tree of a line; `path` and `line` are used in error messages."""
    trees = [tree for _, tree in nodes([(line, text)], path)]
    if len(trees) != 1:
        raise InputError(f"{path}, line {line}: found {len(trees)} trees, expected one")
    return trees[0]


def write(tree: Node) -> str:
    """Format a tree on a line, as `parse` reads it."""
    return f"({' '.join([tree[0], *(child if isinstance(child, str) else write(child) for child in tree[1:])])})"


def words(tree: Node) -> list[tuple[str, str]]:
    """List the tag and the form of each word."""
    if len(tree) == 2 and isinstance(tree[1], str):
        return [(tree[0], tree[1])]
    if len(tree) == 1:
        raise InputError(f"found the constituent {tree[0]!r} without words, expected at least one")
    return list(chain.from_iterable(words(as_node(child)) for child in tree[1:]))


def as_node(child: Node | str) -> Node:
    """Return a child of a constituent, and raise an error if it is a word, which has no tag there."""
    if isinstance(child, str):
        raise InputError(f"found the word {child!r} beside another node, expected one word with one tag")
    return child


def _parse(
    lines: Iterable[tuple[int, str]], path: AnyPath, deepest: int, close: Callable[[Node], T]
) -> Iterator[tuple[int, T | None]]:
    """The trees on numbered lines, each with its first line; None for a tree without labels and words.

    `close` makes a node from the list of its label and its children, which are closed already.
    """
    stack: list[Node] = []  # from the root to the current node
    first = size = 0
    has_text = follows_bracket = False
    for number, line in lines:
        for piece in _PIECE.finditer(line):
            token = piece[0]
            if token[0] == "(":
                if not stack:
                    first, size, has_text = number, 0, False
                if len(stack) == deepest:
                    raise InputError(
                        f"{path}, line {first}: found a tree of more than {deepest} levels, expected at most that many"
                    )
                label = piece[1] or ""
                stack.append([label])
                follows_bracket = not label
                has_text = has_text or not (not label or label.isspace())
                continue
            if not stack:
                raise InputError(f"{path}, line {number}: found {quoted(token)} outside a tree, expected '('")
            if token == ")":
                node = close(stack.pop())
                if stack:
                    stack[-1].append(node)
                else:
                    yield first, node if has_text else None
            elif follows_bracket:
                stack[-1][0] = token
            else:
                stack[-1].append(token)
            follows_bracket = False
            has_text = has_text or not (token == ")" or token.isspace())
        size += len(line)
        if stack and size > MAX_LINE:
            raise InputError(
                f"{path}, line {first}: found a tree of more than {MAX_LINE:,} characters, expected a shorter one"
            )
    if stack:
        raise InputError(
            f"{path}, line {first}: found a tree with {len(stack)} more '(' than ')', expected the same number"
        )


READER = Reader(
    read=read,
    content="bracketed trees; needs `--reference`",
    metric="parseval",
    recognizes=lambda file: bool(file.rows) and file.text[0] == "(" and file.rows[-1].rstrip().endswith(")"),
    example="(S (NP (DT the) (NN tea)) (VP (VBZ is) (ADJP (JJ hot))) (. .))\n( (S (VB go)) )\n(S\n  (A b)\n  (C d))\n",
)
