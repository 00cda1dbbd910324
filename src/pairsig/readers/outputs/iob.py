"""Read IOB tags of entities or chunks: columns with one token per line (CoNLL), or the tags of a sentence per line."""

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
        return [tags for (tags,) in sentences(path, (tag_column,))]
    if layout != "lines":
        raise InputError(f"{path}: unknown layout {quoted(layout)}, expected columns or lines")
    tags = [_checked(path, number, line.split()) for number, line in enumerate(text.read(path), start=1)]
    if not any(tags):
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    return tags


def sentences(path: AnyPath, columns: Sequence[int]) -> list[list[Tagged]]:
    """By sentence, the tags in each of some columns, of a file with one token per line."""
    rows_of_sentences: list[list[tuple[str, Tags]]] = [[]]
    words = set()
    for number, line in enumerate(text.read(path), start=1):
        cells = line.split()
        if not cells or cells[0] == _DOCUMENT:
            rows_of_sentences.append([])
            continue
        places = [column - 1 if column > 0 else column for column in columns]
        if 0 in columns or not all(-len(cells) <= place < len(cells) for place in places):
            wanted = f"tags in column {' and '.join(map(str, columns))}"
            raise InputError(f"{path}, line {number}: found {len(cells)} columns, expected {wanted}")
        tags = _checked(path, number, [cells[place] for place in places])
        rows_of_sentences[-1].append((cells[0] if len(cells) > len(places) else "", tags))
        words.update(cells[:-1])
    rows_of_sentences = [rows for rows in rows_of_sentences if rows]
    if not rows_of_sentences:
        raise InputError(f"{path}: found no tags, expected {_EXPECTED}")
    if words and all(map(_TAG.fullmatch, words)):
        raise InputError(
            f"{path}: found only tags in all columns, expected a token and its tag in each line; --layout lines reads "
            "the tags of one sentence per line"
        )
    return list(map(_tagged, rows_of_sentences))


def _tagged(rows: Sequence[tuple[str, Tags]]) -> list[Tagged]:
    """The tags in each column, with the words of the sentence."""
    words = tuple(word for word, _ in rows)
    in_columns = [Tagged(tags) for tags in zip(*(tags for _, tags in rows), strict=True)]
    for tagged in in_columns if all(words) else ():
        tagged.words = words
    return in_columns


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
