"""Read IOB tags of entities or chunks: columns with one token per line (CoNLL), of which the last has the tags."""

from __future__ import annotations

import re
from collections.abc import Sequence

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


def read(path: AnyPath) -> list[Tags]:
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
    return [tags for (tags,) in sentences(path, 1)]


def sentences(path: AnyPath, n_columns: int) -> list[list[Tagged]]:
    """By sentence, the tags in each of the last columns of a file with one token per line."""
    rows_of_sentences: list[list[tuple[str, Tags]]] = [[]]
    words = set()
    for number, line in enumerate(text.read(path), start=1):
        cells = line.split()
        if not cells or cells[0] == _DOCUMENT:
            rows_of_sentences.append([])
            continue
        if len(cells) < n_columns:
            raise InputError(f"{path}, line {number}: found {len(cells)} columns, expected {n_columns} with tags")
        for tag in cells[-n_columns:]:
            if not _TAG.fullmatch(tag):
                raise InputError(f"{path}, line {number}: found {quoted(tag)}, expected {_EXPECTED}")
        tags = tuple(cells[-n_columns:])
        rows_of_sentences[-1].append((cells[0] if len(cells) > n_columns else "", tags))
        words.update(cells[:-1])
    rows_of_sentences = [rows for rows in rows_of_sentences if rows]
    if not rows_of_sentences:
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    if words and all(map(_TAG.fullmatch, words)):
        raise InputError(f"{path}: found only tags in all columns, expected a token and its tag in each line")
    return list(map(_tagged, rows_of_sentences))


def _tagged(rows: Sequence[tuple[str, Tags]]) -> list[Tagged]:
    """The tags in each column, with the words of the sentence."""
    words = tuple(word for word, _ in rows)
    in_columns = [Tagged(tags) for tags in zip(*(tags for _, tags in rows), strict=True)]
    for tagged in in_columns if all(words) else ():
        tagged.words = words
    return in_columns


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
