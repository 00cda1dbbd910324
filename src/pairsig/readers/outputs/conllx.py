"""Read dependency trees in CoNLL-X, without the tokens and the checks of CoNLL-U."""

from __future__ import annotations

from pairsig.io.files import AnyPath
from pairsig.readers import Reader
from pairsig.readers.outputs import conllu


def read(path: AnyPath) -> list[conllu.Sentence]:
    """Read sentences in which heads may form any graph; see `conllu.sentences`."""
    return conllu.sentences(path, is_conllu=False)


READER = Reader(
    read=read,
    content="parsed sentences of CoNLL-X; needs `--reference`",
    metric="uas",
    like="conllu",
    recognizes=lambda file: (
        conllu.READER.recognizes(file) and not any(conllu.ONLY_IN_CONLLU.match(row) for row in file.rows)
    ),
    example=(
        "1\tI\t_\tP\tP\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tV\tV\t_\t0\troot\t_\t_\n\n1\tgo\t_\tV\tV\t_\t0\troot\t_\t_\n\n"
    ),
)
