"""Hide the labels of trees from programs that treat labels of the Penn Treebank specially.

Parsers of English cut labels at hyphens, have special rules for `S`, `,` or `VB`, and sometimes change the given tag of
a word. `hide` puts a mark before every label and in place of every hyphen. `show` removes the marks and restores the
tags of the input, because punctuation is scored by its tag. `heads` writes head rules in OpenNLP's format for all
labels of a training set; the head is the leftmost child.

`python -m base_models.labels hide FROM TO [--form tagged|tagged-trees|columns]`
`python -m base_models.labels heads FROM TO`
`python -m base_models.labels show FROM TO --input FLAT_TREES`
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from base_models.formats import TOP, read_tree, read_trees
from base_models.program import exit_status
from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.io.tables import write_text
from pairsig.readers.outputs.trees import Node, words, write

MARK = "·"
ROOT = "ROOT"
BETWEEN = "@@@"
"""Separator between a word and its tag."""


def hide(tree: Node) -> Node:
    """Mark the labels of a tree, below ROOT."""
    hidden = _changed(tree, _hidden, lambda leaf: [_hidden(leaf[0]), leaf[1]])
    return [ROOT, *hidden[1:]]


def show(tree: Node, tagged: Sequence[tuple[str, str]]) -> Node:
    """Restore the labels of a tree below TOP, with the words and tags of the input."""
    if (n_words := len(words(tree))) != len(tagged):
        raise InputError(f"found a tree with {n_words} words, expected {len(tagged)} as in the input")
    leaves = iter(tagged)
    children = tree[1:] if tree[0] in ("", ROOT, TOP) else [tree]
    return [TOP, *(_changed(child, _shown, lambda _: [*next(leaves)]) for child in children)]


def tag(tree: Node) -> Node:
    """Attach the tags of a hidden tree to its words, for programs that accept no tags but use word endings."""
    tagged = _changed(tree, str, lambda leaf: [leaf[0], f"{leaf[1]}{BETWEEN}{leaf[0]}"])
    return [TOP, *tagged[1:]]


def heads(trees: Iterable[Node]) -> Iterator[str]:
    """Write head rules in OpenNLP's format, one line per label: number of fields, label, from left to right."""
    labels = {TOP}

    def note(label: str) -> str:
        labels.add(label)
        return label

    for tree in trees:
        _changed(hide(tree), note, list)
    return (f"2 {label} 1" for label in sorted(labels - {ROOT}))


FORMS: dict[str, Callable[[Node], str]] = {
    "trees": write,
    "tagged": lambda tree: " ".join(f"{word}{BETWEEN}{tag}" for tag, word in words(tree)),
    "tagged-trees": lambda tree: write(tag(tree)),
    "columns": lambda tree: "".join(f"{word}\t{tag}\n" for tag, word in words(tree)),
}
"""Formats of hidden trees: complete; words with tags; both; one line per word, and an empty one per sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m base_models.labels", description=__doc__)
    parser.add_argument("action", choices=("hide", "show", "heads"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--form", choices=FORMS, default="trees", help="of what is hidden")
    parser.add_argument("--input", type=Path, help="the flat trees that were parsed, for show")
    options = parser.parse_args(arguments)

    def chosen() -> None:
        if options.action == "hide":
            texts = [FORMS[options.form](hide(tree)) for tree in read_trees(options.source)]
        elif options.action == "heads":
            texts = list(heads(read_trees(options.source)))
        else:
            texts = _show_all(options.source, options.input)
        write_text("".join(f"{text}\n" for text in texts), options.target)

    return exit_status("base_models.labels", chosen)


def _show_all(source: Path, segments: Path) -> list[str]:
    inputs = [words(tree) for tree in read_trees(segments)]
    lines = list(open_text(source))
    if len(lines) != len(inputs):
        raise InputError(f"{source}: found {len(lines)} trees, expected {len(inputs)} as in {segments}")
    texts = []
    for number, (line, tagged) in enumerate(zip(lines, inputs, strict=True), start=1):
        if not line.strip("() \n"):  # a failed parse
            texts.append("")
            continue
        parsed = read_tree(line, source, number)
        try:
            texts.append(write(show(parsed, tagged)))
        except InputError as error:
            raise InputError(f"{source}, line {number}: {error}") from None
    return texts


def _hidden(label: str) -> str:
    return MARK + label.replace("-", MARK)


def _shown(label: str) -> str:
    return label.removeprefix(MARK).replace(MARK, "-")


def _changed(node: Node, label: Callable[[str], str], leaf: Callable[[Node], Node]) -> Node:
    """A tree with other labels of constituents, and other leaves (a tag and a word) from left to right."""
    if len(node) == 2 and isinstance(node[1], str):
        return leaf(node)
    return [label(node[0]), *(_changed(child, label, leaf) for child in node[1:])]


if __name__ == "__main__":
    raise SystemExit(main())
