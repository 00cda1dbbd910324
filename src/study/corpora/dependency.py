"""Dependency treebanks in CoNLL-U.

A segment is a sentence with one word per line, without comments, multiword tokens and empty nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, open_text
from study.corpora.segments import Segment, document_of

_COMMENT = re.compile(r"# ?(newdoc id|sent_id) *= *(.+)")


def read(path: AnyPath, *, genre: bool = False) -> Iterator[Segment]:
    """Read the sentences of a treebank.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The document is that of the last `newdoc id`, or the
        name of the file without extensions.
    genre
        Whether the domain is the part of `sent_id` before the first hyphen, as in the English Web Treebank.
    """
    document, domain = document_of(path), ""
    words: list[str] = []
    for number, line in enumerate([*open_text(path), "\n"], start=1):
        text = line.rstrip("\r\n")
        if text.startswith("#"):
            if comment := _COMMENT.match(text):
                if comment[1] == "newdoc id":
                    document = comment[2].strip()
                elif genre:
                    domain = comment[2].partition("-")[0]
        elif text:
            columns = text.split("\t")
            if len(columns) != 10:
                raise InputError(f"{path}, line {number}: found {len(columns)} columns, expected the 10 of CoNLL-U")
            if "-" in columns[0] or "." in columns[0]:
                continue
            if columns[0] != str(len(words) + 1) or not columns[6].isdecimal():
                word = f"word {columns[0]!r} with head {columns[6]!r}"
                raise InputError(f"{path}, line {number}: found {word}, expected word {len(words) + 1} and a head")
            words.append("\t".join([*columns[:8], "_", "_"]))
        elif words:
            yield Segment("\n".join(words), document=document, domain=domain)
            words = []


def blank(text: str) -> str:
    """Keep the words with their gold lemmas and tags, without heads and labels."""
    return "\n".join("\t".join([*line.split("\t")[:6], "_", "_", "_", "_"]) for line in text.split("\n"))
