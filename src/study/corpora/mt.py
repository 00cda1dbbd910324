"""Parallel text for machine translation.

A segment is a sentence pair on a line, `source words ||| target words`. Base models see the source, and are scored by
the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from os import fspath

from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text
from study.corpora import Segment, alignment, dependency
from study.corpora.alignment import BETWEEN

Pair = tuple[list[str], list[str]]

SHARED = ((r"[’‘]", "'"), (r"“", '"'), (r"”", "''"), (r"[–—]|--", "-"), (r"…", "..."))
"""Characters that the Hansards write in one way, and other texts in several: patterns, and what stands for them."""
STYLES = {
    "fr": (
        (r"-t-(?=ils?\b|elles?\b|on\b)", ""),
        (r"\baujourd'hui\b", "aujourd' hui"),
        (r"\b(\w*)qu' ?", r"\1que "),
        (r"\bl' ?", "le "),
        (r"\b([cdjmnst])' ?", r"\1e "),
        (r"(?<= )du(?= )", "de le"),
        (r"(?<= )des(?= )", "de les"),
        (r"(?<= )au(?= )", "à le"),
        (r"(?<= )aux(?= )", "à les"),
        (r"(?<= )m\.(?= )", "m ."),
        (r"(?<=\w)-|-(?=\w)", " - "),
    ),
    "en": (
        (r" ?n't\b", "n ' t"),
        (r"(?<!')'(?!')", " ' "),
        (r"(?<=\w)-|-(?=\w)", " - "),
    ),
}
"""How the Hansards of HLT-NAACL 2003 write French and English, beyond `SHARED`: French elisions and contractions are
written out (*l'orateur du* is *le orateur de le*), hyphens and apostrophes are words. Patterns, in order."""


def read(
    path: AnyPath, *, target: str = "", numbered: bool = False, lowercase: bool = False, hansards: str = ""
) -> Iterator[Segment]:
    """Sentence pairs of a file, or of two.

    Parameters
    ----------
    path
        Source sentences, one a line, or a treebank in CoNLL-U, of which the words are taken; without `target`, lines as
        those of a segment. The document is the name of the file without extensions, or that of the treebank.
    target
        Target sentences, one a line, or a treebank.
    numbered
        Every line of text begins with a number and a tab, which go.
    lowercase
        Write all words in lower case.
    hansards
        Write the words as the Hansards do: languages of the two sides, such as `fr-en`, each in `STYLES`.
    """
    styles = hansards.split("-") if hansards else []
    if styles and (len(styles) != 2 or not set(styles) <= STYLES.keys()):
        raise InputError(f"found hansards={hansards}, expected two of {', '.join(STYLES)} joined by a hyphen")
    if ".conllu" in fspath(path):
        found = _treebanks(path, target)
    else:
        found = alignment.read(path, target=target, numbered=numbered)
    for segment in found:
        sides = segment.text.split(BETWEEN)
        if lowercase:
            sides = [side.lower() for side in sides]
        sides = [_written(side, style) for side, style in zip(sides, styles, strict=True)] if styles else sides
        yield replace(segment, text=BETWEEN.join(sides))


def blank(text: str) -> str:
    """The source sentence."""
    return text.partition(BETWEEN)[0]


def gold(text: str) -> str:
    """The target sentence."""
    return text.partition(BETWEEN)[2]


def cut(path: AnyPath) -> tuple[list[Pair], list[list[str]]]:
    """Sentence pairs of a training set, and the source sentences without target in it, for base models written here."""
    pairs, sources = [], []
    for number, line in enumerate(open_text(path), start=1):
        sides = [side.split() for side in line.split(BETWEEN)]
        if len(sides) > 2 or not all(sides):
            raise InputError(f"{path}, line {number}: found {line[:40]!r}, expected source words ||| target words")
        if len(sides) == 2:
            pairs.append((sides[0], sides[1]))
        else:
            sources.append(sides[0])
    return pairs, sources


def _treebanks(path: AnyPath, target: AnyPath) -> Iterator[Segment]:
    """Sentences of two treebanks, in their order."""
    sides = [list(dependency.read(one)) for one in (path, target)]
    if len(sides[0]) != len(sides[1]):
        found = f"{path} has {len(sides[0])} sentences, {target} has {len(sides[1])}"
        raise InputError(f"{found}, expected equally many")
    for pair in zip(*sides, strict=True):
        words = [" ".join(line.split("\t")[1].replace(" ", "") for line in one.text.split("\n")) for one in pair]
        yield replace(pair[0], text=BETWEEN.join(words))


def _written(text: str, style: str) -> str:
    """A sentence in lower case as the Hansards would write it."""
    for pattern, written in SHARED + STYLES[style]:
        text = re.sub(pattern, written, f" {text} ")
    return " ".join(text.split())
