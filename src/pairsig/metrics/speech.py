"""Speech recognition: word and character error rate (WER, CER), as in jiwer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError
from pairsig.metrics import Metric, Ratio, as_columns, check_lengths
from pairsig.metrics.translation import References

_EDITS = ("substitutions", "deletions", "insertions")
_WORDS = (*_EDITS, "reference_words")
_CHARACTERS = (*(f"character_{edit}" for edit in _EDITS), "reference_characters")

_LARGEST_TABLE = 10**8
"""Maximum size of the table of edit distances, tokens × tokens: 10,000 each, 400 megabytes."""


def word_errors(
    output: Sequence[str], reference: References, *, lowercase: bool = False
) -> dict[str, NDArray[np.int64]]:
    """Count the words of every segment that were substituted, deleted and inserted.

    Parameters
    ----------
    output
        Transcripts, which may be blank. White space separates words, and nothing else is changed.
    reference
        One reference, or a tuple of several, per transcript; of several, the one with the lowest error rate counts.
    lowercase
        Ignore case.

    Returns
    -------
    Columns of shape (segments,): `substitutions`, `deletions`, `insertions`, `reference_words`. Of several alignments
    with the fewest errors, the one of jiwer counts.
    """
    return _errors(_WORDS, output, reference, lowercase=lowercase)


def character_errors(
    output: Sequence[str], reference: References, *, lowercase: bool = False
) -> dict[str, NDArray[np.int64]]:
    """Count the characters that were substituted, deleted and inserted, with spaces between words.

    The parameters are those of `word_errors`, and the columns are `character_substitutions`, `character_deletions`,
    `character_insertions`, `reference_characters`.
    """
    return _errors(_CHARACTERS, output, reference, lowercase=lowercase)


def _errors(
    columns: Sequence[str], output: Sequence[str], reference: References, *, lowercase: bool
) -> dict[str, NDArray[np.int64]]:
    check_lengths(output, reference)

    def tokens(text: str) -> Sequence[str]:
        text = text.lower() if lowercase else text
        return text.split() if columns is _WORDS else text.strip()

    rows = []
    for number, (transcript, references) in enumerate(zip(output, reference, strict=True), start=1):
        targets = [tokens(target) for target in ([references] if isinstance(references, str) else references)]
        if not targets:
            raise InputError(f"segment {number} has no reference, expected at least one")
        try:
            counts = [(*edits(tokens(transcript), target), len(target)) for target in targets]
        except InputError as error:
            raise InputError(f"segment {number}: {error}") from None
        rows.append(min(counts, key=lambda row: sum(row[:3]) / max(row[3], 1)))
    return as_columns(columns, rows)


def edits(output: Sequence[str], reference: Sequence[str]) -> tuple[int, int, int]:
    """Substitutions, deletions and insertions of an alignment with the fewest of them.

    Where several have the fewest, the end of the texts is aligned first, and a deletion comes before an insertion and
    an insertion before a substitution, as in rapidfuzz, which jiwer uses.

    >>> edits("a b d d".split(), "a c b d".split())
    (2, 0, 0)
    """
    start, end = _in_common(output, reference)
    output, reference = output[start : len(output) - end], reference[start : len(reference) - end]
    if not output or not reference:
        return 0, len(reference), len(output)
    distances = _distances(output, reference)
    counts = {"substitution": 0, "deletion": 0, "insertion": 0}
    row, column = len(output), len(reference)
    while row and column:
        if distances[row, column] == distances[row, column - 1] + 1:
            counts["deletion"] += 1
            column -= 1
            continue
        row -= 1
        if row and distances[row, column] == distances[row, column - 1] - 1:
            counts["insertion"] += 1
        else:
            column -= 1
            counts["substitution"] += output[row] != reference[column]
    return counts["substitution"], counts["deletion"] + column, counts["insertion"] + row


def _in_common(output: Sequence[str], reference: Sequence[str]) -> tuple[int, int]:
    """How many tokens both begin with, and how many both end with after these."""
    shorter = min(len(output), len(reference))
    start = 0
    while start < shorter and output[start] == reference[start]:
        start += 1
    end = 0
    while end < shorter - start and output[-1 - end] == reference[-1 - end]:
        end += 1
    return start, end


def _distances(output: Sequence[str], reference: Sequence[str]) -> NDArray[np.int32]:
    """Edit distances between the beginnings of both, (output + 1, reference + 1)."""
    if len(output) * len(reference) > _LARGEST_TABLE:
        raise InputError(
            f"found {len(output):,} tokens and {len(reference):,} in the reference, expected shorter segments: the "
            f"product exceeds {_LARGEST_TABLE:,}"
        )
    codes: dict[str, int] = {}
    gold = np.array([codes.setdefault(token, len(codes)) for token in reference])
    steps = np.arange(len(reference) + 1, dtype=np.int32)
    distances = np.empty((len(output) + 1, len(reference) + 1), dtype=np.int32)
    distances[0] = steps
    for row, token in enumerate(output, start=1):
        above, here = distances[row - 1], distances[row]
        here[0] = row
        np.minimum(above[1:] + 1, above[:-1] + (gold != codes.get(token, -1)), out=here[1:])
        # Deletions: the smallest of all distances to the left, plus one for each token in between.
        here -= steps
        np.minimum.accumulate(here, out=here)
        here += steps
    return distances


error_rate = Ratio((0, 1, 2), (3,), over_nothing=1)
"""100 × (substitutions + deletions + insertions) / reference length; without a reference, 100 if there are errors.

Lower is better; insertions can make it exceed 100.
"""

METRICS: tuple[Metric, ...] = tuple(
    Metric(
        name,
        columns,
        error_rate,
        f"100 · (Σ {columns[0]} + Σ deletions + Σ insertions) / Σ {columns[3].replace('_', ' ')}",
        higher_is_better=False,
        at_most=((columns[0], columns[3]), (columns[1], columns[3])),
        reader="text",
        extractor=extractor,
    )
    for name, columns, extractor in (("wer", _WORDS, word_errors), ("cer", _CHARACTERS, character_errors))
)
