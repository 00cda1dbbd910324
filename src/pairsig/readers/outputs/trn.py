"""Read the `trn` files of sclite: lines with the words of an utterance and its id, which are paired by id."""

from __future__ import annotations

import re

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath
from pairsig.readers import Reader
from pairsig.readers.outputs import text
from pairsig.readers.outputs.kaldi import by_id

_LINE = re.compile(r"(.*?)\s*\((\S+)\)\s*")


def read(path: AnyPath) -> dict[str, str]:
    """Read the words of each utterance.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. The id stands in parentheses at the end of a line.

    Returns
    -------
    The words by the id of the utterance, in the order of the file.
    """
    utterances = []
    for number, line in enumerate(text.read(path), start=1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise InputError(f"{path}, line {number}: found {quoted(line)}, expected words and (id) at the end")
        if re.search(r"\{.*/.*\}", line):
            raise InputError(
                f"{path}, line {number}: found alternatives in braces, which sclite chooses from, expected plain words"
            )
        utterances.append((parts[2], parts[1]))
    return by_id(path, utterances)


READER = Reader(
    read=read,
    content="words, then the id of the utterance in parentheses, in each line (`trn` of sclite); needs `--reference`",
    metric="wer",
    like="text",
    parallel=True,
    recognizes=lambda _: False,  # a sentence may end with a word in parentheses
    suffixes=(".trn",),
    example_name="example.trn",
    example="the tea is hot (spk-001)\n(spk-002)\nit is gone (spk-003)\n",
)
