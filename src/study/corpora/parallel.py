"""Parallel text, for word alignment and for machine translation.

A segment is a sentence pair on a line, `source words ||| target words`. In a test set for alignment, the links of the
annotators follow after another `|||`; base models do not see them. For translation, base models see the source and are
scored by the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from os import fspath

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, open_text
from pairsig.metrics import translation
from pairsig.readers.outputs import alignment
from study.corpora import dependency
from study.corpora.segments import Segment, document_of

BETWEEN = " ||| "
"""Separator between the two sides of a pair."""

# Words are separated by ASCII space only, as in the other corpora, because annotators counted words this way.
_SPACE = re.compile(r"[ \t\r\f\v]+")
_NUMBER = re.compile(r"\d+\t")

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


def read_linked(
    path: AnyPath, target: str, *links: str, reverse: bool = False, numbered: bool = False
) -> Iterator[Segment]:
    """Read sentence pairs for word alignment.

    Parameters
    ----------
    path, target
        Source and target sentences, one per line. The document is the name of the first file without extensions.
    links
        Links of the annotators in any format of `pairsig.readers.outputs.alignment`. In the segment they are `i-j` for
        sure and `ipj` for possible links, from 0.
    reverse
        Whether the links are target-source.
    numbered
        Whether every line begins with a number and a tab, which are removed.
    """
    pairs = _pairs(path, target, numbered)
    if not links:
        return (replace(pair, text=pair.text.rstrip(" ")) for pair in pairs)
    (file,) = links
    gold = alignment.read(file, reverse=reverse)
    if len(gold) > len(pairs):
        raise InputError(f"{file}: found links for {len(gold)} pairs, expected {len(pairs)} as in {path}")
    # The HLT-NAACL format omits pairs without links.
    gold += [alignment.Alignment(frozenset(), frozenset())] * (len(pairs) - len(gold))
    linked = []
    for number, (pair, line) in enumerate(zip(pairs, gold, strict=True), start=1):
        n, m = (len(side.split(" ")) for side in pair.text.split(BETWEEN))
        for i, j in sorted(line.possible):
            if i >= n or j >= m:
                size = f"a pair of {n} and {m} words"
                raise InputError(f"{file}, pair {number}: found a link {i}-{j} (from 0), expected one for {size}")
        written = " ".join(f"{i}{'-' if (i, j) in line.sure else 'p'}{j}" for i, j in sorted(line.sure | line.possible))
        linked.append(replace(pair, text=f"{pair.text}{BETWEEN}{written}".rstrip(" ")))
    return iter(linked)


def read_translated(
    path: AnyPath, target: str, *, numbered: bool = False, lowercase: bool = False, tokenize: str = "none",
    hansards: str = "",
) -> Iterator[Segment]:  # fmt: skip
    """Read sentence pairs for machine translation.

    Parameters
    ----------
    path, target
        Source and target sentences, one per line, or two treebanks in CoNLL-U.
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
    for pair in _pairs(path, target, numbered):
        sides = (pair.text.lower() if lowercase else pair.text).split(BETWEEN)
        sides = [tokenizer(side) for side in sides]
        sides = [_written(side, style) for side, style in zip(sides, styles, strict=True)] if styles else sides
        yield replace(pair, text=BETWEEN.join(sides))


def without_links(text: str) -> str:
    """Remove the links of a pair."""
    return BETWEEN.join(f"{text} ".split(BETWEEN)[:2]).rstrip(" ")


def links_of(text: str) -> str:
    """Extract the links of a pair."""
    return f"{text} ".split(BETWEEN)[2].strip(" ") if text.count(BETWEEN.rstrip(" ")) == 2 else ""


def source_of(text: str) -> str:
    """Extract the source sentence."""
    return text.partition(BETWEEN)[0]


def target_of(text: str) -> str:
    """Extract the target sentence."""
    return text.partition(BETWEEN)[2]


def _pairs(path: AnyPath, target: AnyPath, numbered: bool) -> list[Segment]:
    """Join the sentences of two files, with words separated by single spaces."""
    sides = [
        list(_of_treebank(file) if ".conllu" in fspath(file) else _of_lines(file, numbered)) for file in (path, target)
    ]
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"{target}: found {len(sides[1])} sentences, expected {len(sides[0])} as in {path}")
    return [replace(source, text=f"{source.text}{BETWEEN}{other.text}") for source, other in zip(*sides, strict=True)]


def _of_lines(path: AnyPath, numbered: bool) -> Iterator[Segment]:
    for number, line in enumerate(open_text(path), start=1):
        match = _NUMBER.match(line) if numbered else None
        if numbered and match is None:
            raise InputError(f"{path}, line {number}: found {line[:40]!r}, expected a number and a tab at the start")
        text = _SPACE.sub(" ", line[match.end() if match else 0 :].rstrip("\n")).strip(" ")
        if not text or "|||" in text.split(" "):
            raise InputError(f"{path}, line {number}: found {text[:40]!r}, expected words without '|||'")
        yield Segment(text, document=document_of(path))


def _of_treebank(path: AnyPath) -> Iterator[Segment]:
    for sentence in dependency.read(path):
        words = [line.split("\t")[1].replace(" ", "") for line in sentence.text.split("\n")]
        yield replace(sentence, text=" ".join(words))


def _written(text: str, style: str) -> str:
    """Write a lower-case sentence in the style of the Hansards."""
    for pattern, written in SHARED + STYLES[style]:
        text = re.sub(pattern, written, f" {text} ")
    return " ".join(text.split())
