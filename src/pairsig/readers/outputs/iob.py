"""Read IOB tags of entities or chunks: columns with one token per line (CoNLL), or the tags of a sentence per line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath
from pairsig.readers import Beginning, Reader
from pairsig.readers.outputs import text

Tags = tuple[str, ...]


class Tagged(tuple[str, ...]):
    """The tags of a sentence, and its words if the file has them."""

    words: tuple[str, ...] = ()


_TAG = re.compile(r"O|[BIESLU](?:-\S+)?")
_EXPECTED = "O, or a tag such as B-PER or I-PER"
_DOCUMENT = "-DOCSTART-"


def read(path: AnyPath, *, layout: str = "columns", tag_column: int = -1) -> list[Tags]:
    """Read the tags of every sentence.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    layout
        - "columns": one token per line, with white space between the columns, and a blank line after a sentence, as in
          the CoNLL shared tasks. Lines that begin with -DOCSTART- belong to no sentence.
        - "lines": the tags of one sentence per line; a blank line is a sentence without tokens.
    tag_column
        Position of the column with the tags, from 1, or from the end: −1 is the last one.

    Returns
    -------
    The tags of each sentence.
    """
    if layout == "columns":
        return list(map(_tagged, sentences(path, (tag_column,))))
    if layout != "lines":
        raise InputError(f"{path}: unknown layout {quoted(layout)}, expected columns or lines")
    tags = [_checked(path, number, line.split()) for number, line in enumerate(text.read(path), start=1)]
    if not any(tags):
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    return tags


def sentences(path: AnyPath, columns: Sequence[int]) -> list[list[Tags]]:
    """The tags of each token in some columns, by sentence, of a file with one token per line."""
    tags_of_sentences: list[list[Tags]] = [[]]
    words = set()
    for number, line in enumerate(text.read(path), start=1):
        cells = line.split()
        if not cells or cells[0] == _DOCUMENT:
            tags_of_sentences.append([])
            continue
        places = [column - 1 if column > 0 else column for column in columns]
        if any(column == 0 for column in columns) or not all(-len(cells) <= place < len(cells) for place in places):
            raise InputError(
                f"{path}, line {number}: found {len(cells)} columns, expected tags in column "
                f"{' and '.join(map(str, columns))}"
            )
        tags_of_sentences[-1].append(_token(path, number, cells, places))
        words.update(cells[:-1])
    tags_of_sentences = [rows for rows in tags_of_sentences if rows]
    if not tags_of_sentences:
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    if words and all(map(_TAG.fullmatch, words)):
        raise InputError(
            f"{path}: found only tags in all columns, expected a token and its tag in each line; --layout lines "
            "reads the tags of one sentence per line"
        )
    return tags_of_sentences


class _Token(tuple[str, ...]):
    """The tags of a token, and its word."""

    word = ""


def _token(path: AnyPath, number: int, cells: Sequence[str], places: Sequence[int]) -> Tags:
    token = _Token(_checked(path, number, [cells[place] for place in places]))
    token.word = cells[0] if len(cells) > len(places) else ""
    return token


def _tagged(rows: Sequence[Tags]) -> Tagged:
    sentence = Tagged(tag for (tag,) in rows)
    words = tuple(getattr(row, "word", "") for row in rows)
    sentence.words = words if all(words) else ()
    return sentence


def _checked(path: AnyPath, number: int, tags: Sequence[str]) -> Tags:
    for tag in tags:
        if not _TAG.fullmatch(tag):
            raise InputError(f"{path}, line {number}: found {quoted(tag)}, expected {_EXPECTED}")
    return tuple(tags)


def _recognizes(file: Beginning) -> bool:
    """Whether each line ends with a tag, and some tag is not O."""
    tags = [line.split()[1:][-1:] for line in file.rows]
    return any(tag != ["O"] for tag in tags) and all(tag and _TAG.fullmatch(tag[0]) for tag in tags)


READER = Reader(
    read=read,
    content="IOB tags in the last column of one token per line (CoNLL), or one sentence per line; needs `--reference`",
    metric="entity_f1",
    parallel=True,
    recognizes=_recognizes,
    example="EU NNP B-ORG\nrejects VBZ O\nGerman JJ B-MISC\n\nPeter NNP B-PER\nBlackburn NNP I-PER\n",
)
