"""Parallel text for word alignment.

A segment is a sentence pair on a line, `source words ||| target words`. That of a test set may have the annotators'
links after another `|||`, which base models do not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import fspath
from pathlib import PurePosixPath

from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text
from pairsig.readers import alignment
from study.corpora import Segment

BETWEEN = " ||| "
"""Stands between the two sides of a pair."""

# Words end at ASCII space only, as in the other corpora: links are numbers of words, and annotators counted so.
_SPACE = re.compile(r"[ \t\r\f\v]+")
_NUMBER = re.compile(r"\d+\t")
_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


def read(
    path: AnyPath, *, target: str = "", links: str = "", reverse: bool = False, numbered: bool = False
) -> Iterator[Segment]:
    """Sentence pairs of a file, or of two.

    Parameters
    ----------
    path
        Source sentences, one a line; without `target`, lines as those of a segment. The document is the name of the
        file without extensions.
    target
        Target sentences, one a line.
    links
        The annotators' links, in any format of `pairsig.readers.alignment`. They follow the pair, `i-j` for sure and
        `ipj` for possible ones, from 0.
    reverse
        The links are target-source.
    numbered
        Every line of text begins with a number and a tab, which go.
    """
    name = PurePosixPath(fspath(path).rpartition("!")[2]).name
    document = name.removesuffix(".gz").removesuffix(".xz").rpartition(".")[0] or name
    lines = _lines(path, numbered)
    if target:
        others = _lines(target, numbered)
        if len(others) != len(lines):
            raise InputError(f"{path} has {len(lines)} lines, {target} has {len(others)}, expected equally many")
        texts = []
        for number, sides in enumerate(zip(lines, others, strict=True), start=1):
            for file, side in zip((path, target), sides, strict=True):
                if not side or "|||" in side.split(" "):
                    raise InputError(f"{file}, line {number}: found {side[:40]!r}, expected words, and no '|||'")
            texts.append(BETWEEN.join(sides))
    else:
        texts = lines
        for number, text in enumerate(texts, start=1):
            if len(_sides(text, path, number)) == 3 and links:
                raise InputError(f"{path}, line {number}: found links after the pair, expected none beside {links}")
    if links:
        gold = alignment.read(links, reverse=reverse)
        if len(gold) > len(texts):
            raise InputError(f"{links} has links of {len(gold)} pairs, {path} has {len(texts)}, expected equally many")
        # The HLT-NAACL format has no line for a pair without links.
        gold += [alignment.Alignment(frozenset(), frozenset())] * (len(texts) - len(gold))
        for number, (text, one) in enumerate(zip(texts, gold, strict=True), start=1):
            n, m = (len(side.split(" ")) for side in text.split(BETWEEN))
            for i, j in sorted(one.possible):
                if i >= n or j >= m:
                    size = f"a pair of {n} and {m} words"
                    raise InputError(f"{links}, pair {number}: found a link {i}-{j} (from 0), expected one for {size}")
        texts = [text + BETWEEN + write(one.sure, one.possible) for text, one in zip(texts, gold, strict=True)]
    for text in texts:
        yield Segment(text.rstrip(" "), document=document)


def blank(text: str) -> str:
    """A pair without links."""
    return BETWEEN.join(f"{text} ".split(BETWEEN)[:2]).rstrip(" ")


def gold(text: str) -> str:
    """The annotators' links of a pair."""
    return f"{text} ".split(BETWEEN)[2].strip(" ") if text.count(BETWEEN.rstrip(" ")) == 2 else ""


def pairs(path: AnyPath) -> list[tuple[list[str], list[str]]]:
    """Words of both sides of every pair of a file, for base models written here."""
    found = []
    for number, line in enumerate(_lines(path), start=1):
        source, target = _sides(line, path, number)[:2]
        found.append((source.split(" "), target.split(" ")))
    return found


def labelled(path: AnyPath) -> list[tuple[tuple[list[str], list[str]], alignment.Alignment]]:
    """Every pair of a file with the annotators' links, for base models that learn from them."""
    found = []
    for number, line in enumerate(_lines(path), start=1):
        source, target, *links = _sides(line, path, number)
        pair = source.split(" "), target.split(" ")
        matches = [_LINK.fullmatch(link) for one in links for link in one.split()]
        if not links or not all(matches):
            raise InputError(f"{path}, line {number}: found {line[-40:]!r} at its end, expected ||| and links")
        placed = [(int(match[1]), int(match[3]), match[2]) for match in matches if match]
        if any(i >= len(pair[0]) or j >= len(pair[1]) for i, j, _ in placed):
            size = f"a pair of {len(pair[0])} and {len(pair[1])} words"
            raise InputError(f"{path}, line {number}: found {line[-40:]!r} at its end, expected links of {size}")
        possible = frozenset((i, j) for i, j, _ in placed)
        found.append((pair, alignment.Alignment(frozenset((i, j) for i, j, mark in placed if mark == "-"), possible)))
    return found


def write(sure: Iterable[alignment.Link], possible: Iterable[alignment.Link] = ()) -> str:
    """Links as `i-j`, those that are merely possible as `ipj`, in order."""
    sure = set(sure)
    return " ".join(f"{i}{'-' if (i, j) in sure else 'p'}{j}" for i, j in sorted(sure | set(possible)))


def _lines(path: AnyPath, numbered: bool = False) -> list[str]:
    """Lines of a file, their words separated by single spaces."""
    lines = []
    for number, line in enumerate(open_text(path), start=1):
        if numbered:
            found = _NUMBER.match(line)
            if found is None:
                raise InputError(f"{path}, line {number}: found {line[:40]!r}, expected a number and a tab first")
            line = line[found.end() :]
        lines.append(_SPACE.sub(" ", line.rstrip("\n")).strip(" "))
    return lines


def _sides(text: str, path: AnyPath, number: int) -> list[str]:
    """Source and target of a line, and links if it has them."""
    sides = [side.strip(" ") for side in f" {text} ".split(BETWEEN)]
    if len(sides) not in (2, 3) or not sides[0] or not sides[1]:
        raise InputError(f"{path}, line {number}: found {text[:40]!r}, expected source words ||| target words")
    return sides
