"""Bracketed corpora: IcePaHC, CRAFT, GUM and others in the style of the Penn Treebank.

A segment is a tree on a line, `(TOP (NP (NN cats)) (VP (VBP purr)))`: words, their tags, and constituents with words.
The function `strip` removes everything else from the trees of a treebank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, open_text
from pairsig.readers.outputs import trees
from pairsig.readers.outputs.trees import Node, as_node
from study.corpora.segments import Segment, document_of

TOP = "TOP"
"""The root label of every tree."""

_PRETERMINAL = re.compile(r"\([^() \t\n\r\f\v]+ [^() \t\n\r\f\v]+\)")

_NO_TEXT = frozenset(["ID", "META", "CODE", "REF", "TRANSLATION"])
"""Nodes of IcePaHC without text: numbers, headings, references, editors' remarks, modern translations."""
_WRAPPERS = frozenset(["", TOP, "ROOT", "S1"])
"""Root labels without information."""
_INDEX = re.compile(r"(?<=.)[-=](?:\d+|NaN)(?=$|[-=])")
_FUNCTION = re.compile(r"(?<=.)[-=].*")


def read(
    path: AnyPath, *, lemmas: bool = False, treebank_ii: bool = False, max_words: int | None = None
) -> Iterator[Segment]:
    """Read the trees of a file, each on one or several lines; each is a segment after `strip`.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The document is its name without extensions.
    lemmas
        See `strip`. IcePaHC has lemmas.
    treebank_ii
        See `as_treebank_ii`. For English treebanks with newer guidelines than the Wall Street Journal's.
    max_words
        Leave out longer sentences.
    """
    lines: Iterable[str] = open_text(path)
    if treebank_ii:
        lines = (line.translate(_NO_BREAK_SPACE) for line in lines)
    for line, tree in trees.nodes(enumerate(lines, start=1), path):
        try:
            stripped = strip(tree, lemmas=lemmas, unlabelled="X" if treebank_ii else "")
            if stripped is not None and treebank_ii:
                stripped = as_treebank_ii(stripped)
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
        if stripped is None or (max_words is not None and len(trees.words(stripped)) > max_words):
            continue
        yield Segment(trees.write(stripped), document=document_of(path))


_TREEBANK_II_TAGS = {
    "HYPH": ":", "NFP": ":", "AFX": "JJ", "XX": "FW", "-LSB-": "-LRB-", "-RSB-": "-RRB-", "WPD": "WDT", "VPZ": "VBZ",
    "UH-ADV": "UH", "NP": "NN", "ADVP|PRT": "ADVP",
}  # fmt: skip
"""Tags of newer guidelines (OntoNotes), and slips of single trees, as tags of Treebank II."""
_NO_BREAK_SPACE = str.maketrans("\xa0", " ")


def as_treebank_ii(tree: Node) -> Node | None:
    """Convert a stripped English tree to the categories of Treebank II, those of the Wall Street Journal.

    - Replace the tags in `_TREEBANK_II_TAGS`, and the label `ADVP|PRT` by ADVP.
    - Remove the brackets of NML, which Treebank II does not annotate, and keep what is in them.
    - Remove marks of utterances (tag SU) and traces that are not tagged -NONE- (`*PRO*`).

    Returns
    -------
    The tree, or None if no word is left.
    """
    nodes = [node for child in tree[1:] for node in _as_treebank_ii(as_node(child))]
    return [tree[0], *nodes] if nodes else None


def _as_treebank_ii(node: Node) -> list[Node]:
    label, word = node[0], node[1]
    if isinstance(word, str):
        return [] if label == "SU" or word.startswith("*PRO*") else [[_TREEBANK_II_TAGS.get(label, label), word]]
    nodes = [part for child in node[1:] for part in _as_treebank_ii(as_node(child))]
    if label == "NML" or not nodes:
        return nodes
    label = "ADVP" if label == "ADVP|PRT" else label
    if len(nodes) == 1 and nodes[0][0] == label and not isinstance(nodes[0][1], str):
        return nodes
    return [[label, *nodes]]


def blank(text: str) -> str:
    """Keep the words of a tree and their tags, without constituents: `(TOP (NN cats) (VBP purr))`."""
    return f"({TOP} {' '.join(_PRETERMINAL.findall(text))})"


def strip(tree: Node, *, lemmas: bool = False, unlabelled: str = "") -> Node | None:
    """Reduce a tree of a treebank to the part that a parser predicts.

    - Remove nodes without text, with their content: `ID`, `META`, `CODE`, `REF`, `TRANSLATION`.
    - Remove empty categories: leaves tagged `-NONE-`; with lemmas, leaves that are `0` or contain `*` (words have
      lemmas there, and `0-0` is a number).
    - Remove constituents and trees without words.
    - Labels end before their first `-` or `=`, as in evalb: `NP-SBJ-1` and `IP-MAT=1` become NP and IP. Without
      function tags all parsers learn the same task; some (Stanford's) remove them, others treat each as a category.
    - Remove constituents whose only child is a constituent with the same label: traces leave `(NP (NP ...))`.
    - Make TOP the root label, in place of an empty one, TOP, ROOT or S1, or else around the tree.

    Tags lose only their index: `PRO-N` and `-LRB-` stay. Punctuation and the mark of clitics (`mann$ $inn`) are kept.

    Parameters
    ----------
    tree
        Tree as nested lists, which are not changed.
    lemmas
        Whether leaves are `form-lemma`; the lemma is removed. The form may contain hyphens, the lemma does not.
    unlabelled
        Label of constituents without one inside a tree, which are refused by default.
    """
    children = tree[1:] if tree[0] in _WRAPPERS else [tree]
    nodes = [node for child in children if (node := _strip(as_node(child), lemmas, unlabelled)) is not None]
    return [TOP, *nodes] if nodes else None


def _strip(node: Node, lemmas: bool, unlabelled: str) -> Node | None:
    label = node[0]
    if label in _NO_TEXT:
        return None
    if len(node) == 2 and isinstance(node[1], str):
        word = node[1]
        if (word == "0" or "*" in word) if lemmas else label == "-NONE-":
            return None
        form = word.rpartition("-")[0] if lemmas else ""
        return [_INDEX.sub("", label), form or word]
    nodes = [child for part in node[1:] if (child := _strip(as_node(part), lemmas, unlabelled)) is not None]
    if not nodes:
        return None
    label = _FUNCTION.sub("", label) or unlabelled
    if not label:
        raise InputError("found a constituent without a label inside a tree, expected one")
    if len(nodes) == 1 and nodes[0][0] == label and not isinstance(nodes[0][1], str):
        return nodes[0]
    return [label, *nodes]
