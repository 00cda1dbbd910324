"""Read IOB tags of entities or chunks: columns with one token per line (CoNLL), of which the last has the tags."""

from __future__ import annotations

import re
from itertools import chain

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath
from pairsig.readers import Beginning, Reader
from pairsig.readers.outputs import text

Tags = tuple[str, ...]


class Tagged(Tags):
    """The tags of a sentence, and its words if the file has them."""

    words: tuple[str, ...] = ()


_TAG = re.compile(r"O|[BIESLU](?:-\S+)?")
_EXPECTED = "O, or a tag such as B-PER or I-PER"
_DOCUMENT = "-DOCSTART-"


def read(path: AnyPath) -> list[Tagged]:
    """Read the tags of every sentence.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. Each line has a token, with white space between its
        columns, and a blank line ends a sentence, as in the CoNLL shared tasks. Lines that begin with -DOCSTART- belong
        to no sentence.

    Returns
    -------
    The tags of each sentence.
    """
    sentences: list[list[list[str]]] = [[]]
    for number, line in enumerate(text.read(path), start=1):
        cells = line.split()
        if not cells or cells[0] == _DOCUMENT:
            sentences.append([])
            continue
        if not _TAG.fullmatch(cells[-1]):
            raise InputError(f"{path}, line {number}: found {quoted(cells[-1])}, expected {_EXPECTED}")
        sentences[-1].append(cells)
    rows = list(chain.from_iterable(sentences))
    if not rows:
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    others = set(chain.from_iterable(cells[:-1] for cells in rows))
    if others and all(map(_TAG.fullmatch, others)):
        raise InputError(f"{path}: found only tags in all columns, expected a token and its tag in each line")
    tagged = []
    for sentence in filter(None, sentences):
        tagged.append(Tagged(cells[-1] for cells in sentence))
        if all(len(cells) > 1 for cells in sentence):
            tagged[-1].words = tuple(cells[0] for cells in sentence)
    return tagged


def _recognizes(file: Beginning) -> bool:
    """Whether each line ends with a tag, and some tag is not O."""
    tags = [line.split()[1:][-1:] for line in file.rows]
    return any(tag != ["O"] for tag in tags) and all(tag and _TAG.fullmatch(tag[0]) for tag in tags)


READER = Reader(
    read=read,
    content="IOB tags in the last column, one token per line (CoNLL); needs `--reference`",
    metric="entity_f1",
    parallel=True,
    recognizes=_recognizes,
    example="EU NNP B-ORG\nrejects VBZ O\nGerman JJ B-MISC\n\nPeter NNP B-PER\nBlackburn NNP I-PER\n",
)
