"""Parallel text for word alignment.

A segment is a sentence pair on a line, `source words ||| target words`. In a test set, the links of the annotators may
follow after another `|||`; base models do not see them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, open_text
from pairsig.readers.outputs import alignment
from study.corpora import Segment, document_of

BETWEEN = " ||| "
"""Separator between the two sides of a pair."""

# Words are separated by ASCII space only, as in the other corpora, because annotators counted words this way.
_SPACE = re.compile(r"[ \t\r\f\v]+")
_NUMBER = re.compile(r"\d+\t")


def read(
    path: AnyPath, *, target: str = "", links: str = "", reverse: bool = False, numbered: bool = False
) -> Iterator[Segment]:
    """Read sentence pairs from one or two files.

    Parameters
    ----------
    path
        Source sentences, one per line, or segments if there is no `target`. The document is the name of the file
        without extensions.
    target
        Target sentences, one per line.
    links
        Links of the annotators in any format of `pairsig.readers.outputs.alignment`. In the segment they are `i-j` for
        sure and `ipj` for possible links, from 0.
    reverse
        Whether the links are target-source.
    numbered
        Whether every line begins with a number and a tab, which are removed.
    """
    lines = _lines(path, numbered)
    if target:
        others = _lines(target, numbered)
        if len(others) != len(lines):
            raise InputError(f"{target}: found {len(others)} lines, expected {len(lines)} as in {path}")
        texts = []
        for number, sides in enumerate(zip(lines, others, strict=True), start=1):
            for file, side in zip((path, target), sides, strict=True):
                if not side or "|||" in side.split(" "):
                    raise InputError(f"{file}, line {number}: found {side[:40]!r}, expected words without '|||'")
            texts.append(BETWEEN.join(sides))
    else:
        texts = lines
        for number, text in enumerate(texts, start=1):
            if len(_sides(text, path, number)) == 3 and links:
                raise InputError(f"{path}, line {number}: found links after the pair, expected none because of {links}")
    if links:
        gold = alignment.read(links, reverse=reverse)
        if len(gold) > len(texts):
            raise InputError(f"{links}: found links for {len(gold)} pairs, expected {len(texts)} as in {path}")
        # The HLT-NAACL format omits pairs without links.
        gold += [alignment.Alignment(frozenset(), frozenset())] * (len(texts) - len(gold))
        for number, (text, line) in enumerate(zip(texts, gold, strict=True), start=1):
            n, m = (len(side.split(" ")) for side in text.split(BETWEEN))
            for i, j in sorted(line.possible):
                if i >= n or j >= m:
                    size = f"a pair of {n} and {m} words"
                    raise InputError(f"{links}, pair {number}: found a link {i}-{j} (from 0), expected one for {size}")
        texts = [text + BETWEEN + write(line.sure, line.possible) for text, line in zip(texts, gold, strict=True)]
    for text in texts:
        yield Segment(text.rstrip(" "), document=document_of(path))


def blank(text: str) -> str:
    """Remove the links of a pair."""
    return BETWEEN.join(f"{text} ".split(BETWEEN)[:2]).rstrip(" ")


def gold(text: str) -> str:
    """Extract the links of a pair."""
    return f"{text} ".split(BETWEEN)[2].strip(" ") if text.count(BETWEEN.rstrip(" ")) == 2 else ""


def write(sure: Iterable[alignment.Link], possible: Iterable[alignment.Link] = ()) -> str:
    """Format sorted links as `i-j`, and only possible ones as `ipj`."""
    sure = set(sure)
    return " ".join(f"{i}{'-' if (i, j) in sure else 'p'}{j}" for i, j in sorted(sure | set(possible)))


def _lines(path: AnyPath, numbered: bool) -> list[str]:
    """Read the lines of a file, with words separated by single spaces."""
    lines = []
    for number, line in enumerate(open_text(path), start=1):
        if numbered:
            match = _NUMBER.match(line)
            if match is None:
                raise InputError(
                    f"{path}, line {number}: found {line[:40]!r}, expected a number and a tab at the beginning"
                )
            line = line[match.end() :]
        lines.append(_SPACE.sub(" ", line.rstrip("\n")).strip(" "))
    return lines


def _sides(text: str, path: AnyPath, number: int) -> list[str]:
    """Split a line into source, target and, if present, links."""
    sides = [side.strip(" ") for side in f" {text} ".split(BETWEEN)]
    if len(sides) not in (2, 3) or not sides[0] or not sides[1]:
        raise InputError(f"{path}, line {number}: found {text[:40]!r}, expected source words ||| target words")
    return sides
