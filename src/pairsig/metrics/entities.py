"""Named entities and chunks: F1, precision and recall of entities in IOB tags, as in conlleval and seqeval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pairsig.io.choices import choose
from pairsig.io.errors import InputError, listed, quoted
from pairsig.metrics import as_columns, check_lengths
from pairsig.metrics.counts import MATCHED, of_matches

Step = tuple[str, str, bool]
"""Prefixes of two tags in a row, and whether they have the same type."""

Entity = tuple[str, int, int]
"""Type, first token, and the token after the last one."""


def _steps(text: str) -> frozenset[Step]:
    """Steps such as `BI=` (same type), `II!` (another type) or `?B*` (`?` is any prefix, `*` any type)."""
    steps: set[Step] = set()
    for first, second, types in map(list, text.split()):
        before, here = (prefix.replace("?", "OBIES") for prefix in (first, second))
        steps.update(product(before, here, {"=": (True,), "!": (False,), "*": (True, False)}[types]))
    return frozenset(steps)


@dataclass(frozen=True)
class Scheme:
    """Which steps start an entity, continue it, and end it completely; tags in any other order are no entity."""

    prefixes: str
    starts: frozenset[Step]
    continues: frozenset[Step]
    ends: frozenset[Step]


_ANY = _steps("??*")
_B_TO_E = _steps("BI= BE= II= IE=")
_COMPLETE = Scheme("OBIES", _steps("?B* ?S*"), _B_TO_E, _steps("E?* S?*"))

SCHEMES = {
    "lenient": Scheme("OBIES", _steps("?B* ?I* ?E* ?S*"), _B_TO_E, _ANY),
    "IOB1": Scheme("OBI", _steps("OI* II! BI* IB= BB="), _steps("BI= II="), _steps("II! IO* IB* BO* BI! BB=")),
    "IOB2": Scheme("OBI", _steps("?B*"), _steps("BI= II="), _ANY),
    "IOBES": _COMPLETE,
    "BILOU": _COMPLETE,
}
"""The rules of conlleval, which find an entity in any tags, and those of seqeval's strict mode."""

_FROM_BILOU = str.maketrans("LUES", "ES??")


def entities(tags: Sequence[str], scheme: str = "lenient") -> list[Entity]:
    """The entities in the tags of a sentence.

    >>> entities(["B-PER", "I-PER", "O", "I-LOC"]), entities(["B-PER", "I-PER", "O", "I-LOC"], "IOB2")
    ([('PER', 0, 2), ('LOC', 3, 4)], [('PER', 0, 2)])
    """
    rules = SCHEMES[choose(scheme, SCHEMES, "scheme of tags")]
    complete: list[Entity] = []
    start, before, kind_before = -1, "O", ""
    for place, tag in enumerate([*tags, "O"]):
        prefix, kind = tag[:1], tag[2:]
        if scheme == "BILOU":
            prefix = prefix.translate(_FROM_BILOU)
        if prefix not in rules.prefixes:
            raise InputError(f"found the tag {quoted(tag)}, which the scheme {scheme} does not have")
        step = before, prefix, kind == kind_before
        if start >= 0 and step not in rules.continues:
            if step in rules.ends:
                complete.append((kind_before, start, place))
            start = -1
        if start < 0 and step in rules.starts:
            start = place
        before, kind_before = prefix, kind
    return complete


def entity_counts(
    output: Sequence[Sequence[str]],
    reference: Sequence[Sequence[str]],
    *,
    scheme: str = "lenient",
    type: str | None = None,  # noqa: A002
) -> dict[str, NDArray[np.int64]]:
    """Count the entities of every sentence: an entity matches if its type, its start and its end are the same.

    Parameters
    ----------
    output, reference
        Tags of the same sentences.
    scheme
        "lenient" finds entities in any of B, I, E, S and O, as conlleval and seqeval do by default. "IOB1", "IOB2",
        "IOBES" and "BILOU" only find those that the scheme allows, as with `mode="strict"` of seqeval.
    type
        Count entities of this type only, such as "PER".

    Returns
    -------
    Columns of shape (segments,): `matched`, `predicted`, `gold`.
    """
    check_lengths(output, reference, "sentences")
    rows, types = [], set[str]()
    for number, pair in enumerate(zip(output, reference, strict=True), start=1):
        if len(pair[0]) != len(pair[1]):
            raise InputError(f"sentence {number} has {len(pair[0])} tags, expected {len(pair[1])} as in the reference")
        try:
            predicted, gold = (set(entities(tags, scheme)) for tags in pair)
        except InputError as error:
            raise InputError(f"sentence {number} of the output or the reference: {error}") from None
        types.update(kind for kind, *_ in predicted | gold)
        if type is not None:
            predicted, gold = ({entity for entity in side if entity[0] == type} for side in (predicted, gold))
        rows.append((len(predicted & gold), len(predicted), len(gold)))
    if type is not None and type not in types:
        raise InputError(f"found no entity of type {quoted(type)}, expected one of {listed(sorted(types)) or 'none'}")
    return as_columns(MATCHED, rows)


METRICS = of_matches(
    ("entity_f1", "entity_precision", "entity_recall"),
    titles=("entity F1", "entity precision", "entity recall"),
    reader="iob",
    extractor=entity_counts,
)
