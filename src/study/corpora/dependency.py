"""Dependency treebanks in CoNLL-U.

A segment is a sentence: its words, one a line, without comments, multiword tokens and empty nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import fspath
from pathlib import PurePosixPath

from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text
from study.corpora import Segment

_COMMENT = re.compile(r"# ?(newdoc id|sent_id) *= *(.+)")
_LEFT = ("0", "_")
"""What HEAD may be: a number; in a file to be parsed, nothing."""


def read(path: AnyPath, *, genre: bool = False) -> Iterator[Segment]:
    """Sentences of a treebank.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The document is that of the last `newdoc id` or, where
        there is none, the name of the file without extensions.
    genre
        The domain is what `sent_id` begins with, up to the first hyphen, as in the English Web Treebank.
    """
    name = PurePosixPath(fspath(path).rpartition("!")[2]).name
    document = name.removesuffix(".gz").removesuffix(".xz").rpartition(".")[0] or name
    domain = ""
    words: list[str] = []
    for number, line in enumerate([*open_text(path), "\n"], start=1):
        text = line.rstrip("\r\n")
        if text.startswith("#"):
            if found := _COMMENT.match(text):
                if found[1] == "newdoc id":
                    document = found[2].strip()
                elif genre:
                    domain = found[2].partition("-")[0]
        elif text:
            columns = text.split("\t")
            if len(columns) != 10:
                raise InputError(f"{path}, line {number}: found {len(columns)} columns, expected the 10 of CoNLL-U")
            if "-" in columns[0] or "." in columns[0]:
                continue
            if columns[0] != str(len(words) + 1) or not columns[6].isdecimal():
                found_there = f"word {columns[0]!r} with head {columns[6]!r}"
                raise InputError(
                    f"{path}, line {number}: found {found_there}, expected word {len(words) + 1} and a head"
                )
            words.append("\t".join([*columns[:8], "_", "_"]))
        elif words:
            yield Segment("\n".join(words), document=document, domain=domain)
            words = []


def blank(text: str) -> str:
    """The words with their lemmas and tags, which are gold, without heads and labels."""
    return "\n".join("\t".join([*line.split("\t")[:6], "_", "_", "_", "_"]) for line in text.split("\n"))


def gold(text: str) -> str:
    """The tree itself."""
    return text


def reverse(text: str) -> str:
    """The sentence from its last word to its first, with the same tree."""
    lines = [line.split("\t") for line in text.split("\n")]
    size = len(lines)
    turned = []
    for number, columns in enumerate(reversed(lines), start=1):
        head = columns[6]
        if head not in _LEFT:
            head = str(size + 1 - int(head))
        turned.append("\t".join([str(number), *columns[1:6], head, *columns[7:]]))
    return "\n".join(turned)
