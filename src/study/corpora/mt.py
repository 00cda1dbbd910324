"""Parallel text for machine translation.

A segment is a sentence pair on a line, `source words ||| target words`. Base models see the source and are scored by
the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from os import fspath

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath
from pairsig.metrics import translation
from study.corpora import Segment, alignment, dependency
from study.corpora.alignment import BETWEEN

SHARED = ((r"[’‘]", "'"), (r"“", '"'), (r"”", "''"), (r"[–—]|--", "-"), (r"…", "..."))
"""Normalization of characters that other texts write in several ways: patterns and their form in the Hansards."""
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
    "en": ((r" ?n't\b", "n ' t"), (r"(?<!')'(?!')", " ' "), (r"(?<=\w)-|-(?=\w)", " - ")),
}
"""Patterns, in order, for the style of French and English in the Hansards of HLT-NAACL 2003, in addition to `SHARED`:
French elisions and contractions are expanded (*l'orateur du* is *le orateur de le*); hyphens and apostrophes are
words."""


def read(
    path: AnyPath,
    *,
    target: str = "",
    numbered: bool = False,
    lowercase: bool = False,
    tokenize: str = "none",
    hansards: str = "",
) -> Iterator[Segment]:
    """Read sentence pairs from one or two files.

    Parameters
    ----------
    path
        Source sentences, one per line, or a treebank in CoNLL-U, or segments if there is no `target`. The document is
        the name of the file without extensions, or that of the treebank.
    target
        Target sentences, one per line, or a treebank.
    numbered
        Whether every line begins with a number and a tab, which are removed.
    lowercase
        Whether to write all words in lower case.
    tokenize
        A tokenizer of sacrebleu for raw text, such as `13a`; `none` for text with spaces between all words. It is the
        same for both sides.
    hansards
        Write words in the style of the Hansards: the languages of the two sides, such as `fr-en`, each in `STYLES`.
    """
    styles = hansards.split("-") if hansards else []
    if styles and (len(styles) != 2 or not set(styles) <= STYLES.keys()):
        raise InputError(f"found hansards={hansards}, expected two of {', '.join(STYLES)} joined by a hyphen")
    tokenizer = translation.tokenizer(tokenize)
    if ".conllu" in fspath(path):
        sides_of_file = _treebanks(path, target)
    else:
        sides_of_file = alignment.read(path, target=target, numbered=numbered)
    for segment in sides_of_file:
        sides = segment.text.split(BETWEEN)
        if lowercase:
            sides = [side.lower() for side in sides]
        sides = [tokenizer(side) for side in sides]
        sides = [_written(side, style) for side, style in zip(sides, styles, strict=True)] if styles else sides
        yield replace(segment, text=BETWEEN.join(sides))


def blank(text: str) -> str:
    """Extract the source sentence."""
    return text.partition(BETWEEN)[0]


def gold(text: str) -> str:
    """Extract the target sentence."""
    return text.partition(BETWEEN)[2]


def _treebanks(path: AnyPath, target: AnyPath) -> Iterator[Segment]:
    """Read the sentences of two treebanks in order."""
    sides = [list(dependency.read(side)) for side in (path, target)]
    if len(sides[0]) != len(sides[1]):
        sizes = f"{path} has {len(sides[0])} sentences, {target} has {len(sides[1])}"
        raise InputError(f"{sizes}, expected equally many")
    for pair in zip(*sides, strict=True):
        words = [" ".join(line.split("\t")[1].replace(" ", "") for line in side.text.split("\n")) for side in pair]
        yield replace(pair[0], text=BETWEEN.join(words))


def _written(text: str, style: str) -> str:
    """Write a lower-case sentence in the style of the Hansards."""
    for pattern, written in SHARED + STYLES[style]:
        text = re.sub(pattern, written, f" {text} ")
    return " ".join(text.split())
