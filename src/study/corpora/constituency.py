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

_TREEBANK_II_TAGS = {
    "HYPH": ":", "NFP": ":", "AFX": "JJ", "XX": "FW", "-LSB-": "-LRB-", "-RSB-": "-RRB-", "WPD": "WDT", "VPZ": "VBZ",
    "UH-ADV": "UH", "NP": "NN", "ADVP|PRT": "ADVP",
}  # fmt: skip
"""Tags of newer guidelines (OntoNotes), and slips of single trees, as tags of Treebank II."""
_NO_BREAK_SPACE = str.maketrans("\xa0", " ")


def read(
    path: AnyPath, *, lemmas: bool = False, treebank_ii: bool = False, max_words: int | None = None
) -> Iterator[Segment]:
    """Read the trees of a file, each on one or several lines; each is a segment after `strip`.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The document is its name without extensions.
    lemmas, treebank_ii
        See `strip`. IcePaHC has lemmas.
    max_words
        Leave out longer sentences.
    """
    lines: Iterable[str] = open_text(path)
    if treebank_ii:
        lines = (line.translate(_NO_BREAK_SPACE) for line in lines)
    for line, tree in trees.nodes(enumerate(lines, start=1), path):
        try:
            stripped = strip(tree, lemmas=lemmas, treebank_ii=treebank_ii)
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
        if stripped is not None and (max_words is None or len(trees.words(stripped)) <= max_words):
            yield Segment(trees.write(stripped), document=document_of(path))


def blank(text: str) -> str:
    """Keep the words of a tree and their tags, without constituents: `(TOP (NN cats) (VBP purr))`."""
    return f"({TOP} {' '.join(_PRETERMINAL.findall(text))})"


def strip(tree: Node, *, lemmas: bool = False, treebank_ii: bool = False) -> Node | None:
    """Reduce a tree of a treebank to the part that a parser predicts; None if no word is left.

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
    treebank_ii
        Whether to convert an English tree with newer guidelines to the categories of Treebank II, those of the Wall
        Street Journal: replace the tags in `_TREEBANK_II_TAGS`, and the label `ADVP|PRT` by ADVP; remove the brackets
        of NML, which Treebank II does not annotate, marks of utterances (tag SU) and traces that are not tagged -NONE-
        (`*PRO*`). A constituent without a label inside a tree, otherwise refused, becomes X.
    """
    nodes: list[Node] = []
    for child in tree[1:] if tree[0] in _WRAPPERS else [tree]:
        nodes += _stripped(as_node(child), lemmas, treebank_ii)
    return [TOP, *nodes] if nodes else None


def _stripped(node: Node, lemmas: bool, treebank_ii: bool) -> list[Node]:
    """What is left of a node: nothing, a node, or the children of a removed one."""
    label = node[0]
    if label in _NO_TEXT:
        return []
    if len(node) == 2 and isinstance(node[1], str):
        word, tag = node[1], _INDEX.sub("", label)
        is_empty = (word == "0" or "*" in word) if lemmas else label == "-NONE-"
        if is_empty or (treebank_ii and (tag == "SU" or word.startswith("*PRO*"))):
            return []
        form = word.rpartition("-")[0] if lemmas else ""
        return [[_TREEBANK_II_TAGS.get(tag, tag) if treebank_ii else tag, form or word]]
    nodes: list[Node] = []
    for child in node[1:]:
        nodes += _stripped(as_node(child), lemmas, treebank_ii)
    if not nodes:
        return []
    label = _FUNCTION.sub("", label)
    if not label and not treebank_ii:
        raise InputError("found a constituent without a label inside a tree, expected one")
    if treebank_ii:
        label = "ADVP" if label == "ADVP|PRT" else label or "X"
    is_repeated = len(nodes) == 1 and nodes[0][0] == label and not isinstance(nodes[0][1], str)
    return nodes if is_repeated or (treebank_ii and label == "NML") else [[label, *nodes]]
