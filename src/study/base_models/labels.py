"""Trees whose labels no parser takes for its own, for programs made for the Penn Treebank.

Parsers of English cut labels at hyphens, treat `S`, `,` or `VB` in ways of their own, and now and then give a word
another tag than the one they were told. `hide` puts a mark before every label and in place of every hyphen; `show`
takes the marks away, and puts the tags of the input back, since punctuation is scored by its tag. `heads` writes head
rules in OpenNLP's format for all labels of a training set: the head is the leftmost child, as elsewhere here.

`python -m study.base_models.labels hide FROM TO [--form tagged|tagged-trees|columns]`
`python -m study.base_models.labels heads FROM TO`
`python -m study.base_models.labels show FROM TO --input FLAT_TREES`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pairsig.errors import InputError
from pairsig.files import open_text
from pairsig.tables import replacing
from study.corpora.constituency import TOP, Node, parse, words, write

MARK = "·"
ROOT = "ROOT"
BETWEEN = "@@@"
"""Stands between a word and its tag."""


def hide(tree: Node) -> Node:
    """The tree with marked labels below ROOT."""
    return [ROOT, *(_relabelled(child, _hidden) for child in tree[1:])]


def show(tree: Node, tagged: Sequence[tuple[str, str]]) -> Node:
    """The tree with its own labels below TOP, its words and tags those of the input."""
    children = tree[1:] if tree[0] in ("", ROOT, TOP) else [tree]
    shown = [TOP, *(_relabelled(child, _shown) for child in children)]
    leaves = list(_preterminals(shown))
    if len(leaves) != len(tagged):
        raise InputError(f"found a tree of {len(leaves)} words, expected the {len(tagged)} of the input")
    for leaf, (tag, word) in zip(leaves, tagged, strict=True):
        leaf[:] = [tag, word]
    return shown


def tag(tree: Node) -> Node:
    """The hidden tree below TOP, every word with its tag: for programs that take no tags, but look at how words end."""
    tagged = _relabelled(tree, str)
    for leaf in _preterminals(tagged):
        leaf[1] = f"{leaf[1]}{BETWEEN}{leaf[0]}"
    return [TOP, *tagged[1:]]


def heads(trees: Iterable[Node]) -> Iterator[str]:
    """Head rules in OpenNLP's format, a line a label: so many fields, the label, from left to right."""
    found = {label for tree in trees for label in _phrases(hide(tree))}
    return (f"2 {label} 1" for label in sorted(found - {ROOT} | {TOP}))


FORMS: dict[str, Callable[[Node], str]] = {
    "trees": write,
    "tagged": lambda tree: " ".join(f"{word}{BETWEEN}{tag}" for tag, word in words(tree)),
    "tagged-trees": lambda tree: write(tag(tree)),
    "columns": lambda tree: "".join(f"{word}\t{tag}\n" for tag, word in words(tree)),
}
"""How hidden trees are written: whole; words with tags; both; a line a word and an empty one after each sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m study.base_models.labels", description=__doc__)
    parser.add_argument("action", choices=("hide", "show", "heads"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--form", choices=FORMS, default="trees", help="of what is hidden")
    parser.add_argument("--input", type=Path, help="the flat trees that were parsed, for show")
    given = parser.parse_args(arguments)
    try:
        if given.action == "hide":
            texts = [FORMS[given.form](hide(parse(line))) for line in open_text(given.source)]
        elif given.action == "heads":
            texts = list(heads(map(parse, open_text(given.source))))
        else:
            texts = _show_all(given.source, given.input)
    except InputError as error:
        print(f"study.base_models.labels: {error}", file=sys.stderr)
        return 2
    with replacing(given.target) as temporary:
        temporary.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return 0


def _show_all(source: Path, segments: Path) -> list[str]:
    inputs = [words(parse(line)) for line in open_text(segments)]
    lines = list(open_text(source))
    if len(lines) != len(inputs):
        raise InputError(f"{source} has {len(lines)} trees, {segments} has {len(inputs)}, expected equally many")
    texts = []
    for number, (line, tagged) in enumerate(zip(lines, inputs, strict=True), start=1):
        if not line.strip("() \n"):  # a failed parse
            texts.append("")
            continue
        try:
            texts.append(write(show(parse(line), tagged)))
        except InputError as error:
            raise InputError(f"{source}, line {number}: {error}") from None
    return texts


def _hidden(label: str) -> str:
    return MARK + label.replace("-", MARK)


def _shown(label: str) -> str:
    return label.removeprefix(MARK).replace(MARK, "-")


def _relabelled(tree: Node, change: Callable[[str], str]) -> Node:
    return [change(tree[0]), *(child if isinstance(child, str) else _relabelled(child, change) for child in tree[1:])]


def _phrases(tree: Node) -> Iterator[str]:
    """Labels of all nodes above the tags."""
    if not isinstance(tree[1], str):
        yield tree[0]
        for child in tree[1:]:
            yield from _phrases(child)


def _preterminals(tree: Node) -> Iterator[Node]:
    if len(tree) == 2 and isinstance(tree[1], str):
        yield tree
    else:
        for child in tree[1:]:
            yield from _preterminals(child)


if __name__ == "__main__":
    raise SystemExit(main())
