"""Read the input of conlleval: one token per line, with its gold tag and its predicted tag in the last two columns."""

from __future__ import annotations

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath
from pairsig.metrics.entities import METRICS, entity_counts
from pairsig.readers import Reader
from pairsig.readers.logs.items import digest
from pairsig.readers.output import Output
from pairsig.readers.outputs import iob


def read(path: AnyPath, *, scheme: str = "lenient", type: str | None = None) -> Output:  # noqa: A002
    """Count the entities of each sentence.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`. Sentences are separated by blank lines.
    scheme, type
        See `pairsig.metrics.entities.entity_counts`.
    """
    gold, predicted = zip(*iob.sentences(path, 2), strict=True)
    try:
        counts = entity_counts(predicted, gold, scheme=scheme, type=type)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Output(
        items=tuple(str(number) for number in range(1, len(gold) + 1)),
        values=counts,
        metrics=METRICS,
        source=str(path),
        contents=tuple(digest(sentence, sentence.words) for sentence in gold),
        shared=("gold",),
    )


READER = Reader(
    read=read,
    content="one token per line, with the gold tag and the predicted tag in the last two columns; `--reader conlleval`",
    metrics="F1, precision and recall of entities",
    recognizes=lambda _: False,  # the words, or a column of tags, may look like the gold tags
    suffixes=(".conlleval",),
    example_name="example.conlleval",
    example="EU NNP B-ORG B-ORG\nrejects VBZ O O\n\nPeter NNP B-PER B-PER\nBlackburn NNP I-PER O\n",
)
