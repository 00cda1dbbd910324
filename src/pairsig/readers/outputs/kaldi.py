"""Read the `text` of Kaldi: lines with the id of an utterance and its words, which are paired by id."""

from __future__ import annotations

from collections.abc import Sequence

from pairsig.io.errors import InputError, named
from pairsig.io.files import AnyPath
from pairsig.readers import Reader
from pairsig.readers.outputs import text


def read(path: AnyPath) -> dict[str, str]:
    """Read the words of each utterance.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The id is the first word of a line; an utterance may
        have no words.

    Returns
    -------
    The words by the id of the utterance, in the order of the file.
    """
    parts = [[*line.split(maxsplit=1), "", ""] for line in text.read(path)]
    return by_id(path, [(name, words) for name, words, *_ in parts])


def by_id(path: AnyPath, utterances: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The words by the id of the utterance, one for each line, which is "" in a line without one."""
    words: dict[str, str] = {}
    for number, (name, spoken) in enumerate(utterances, start=1):
        if not name:
            raise InputError(f"{path}, line {number}: found no id of an utterance, expected one in each line")
        if name in words:
            raise InputError(f"{path}, line {number}: found utterance {named(name)} again, expected it once")
        words[name] = spoken.strip()
    return words


READER = Reader(
    read=read,
    content="the id of an utterance, then its words, in each line (`text` of Kaldi); needs `--reference`",
    metric="wer",
    like="text",
    parallel=True,
    recognizes=lambda _: False,  # any text has first words
    suffixes=(".kaldi",),
    example_name="example.kaldi",
    example="spk-001 the tea is hot\nspk-002\nspk-003 it is gone\n",
)
