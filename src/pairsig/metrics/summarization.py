"""Summarization: ROUGE-1, -2, -L and -Lsum, recall and F, averaged over documents (Lin 2004)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError
from pairsig.io.packages import need
from pairsig.metrics import Metric, Ratio, check_lengths

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_PARTS = {"recall": "recall", "f": "F"}
"""Parts of ROUGE by the end of their column, with their names."""
_MARKER = re.compile(r"</?t>")
_LARGEST_TABLE = 10**8
"""Maximum size of rouge-score's table of common subsequences, words × words: 10,000 words each, almost a gigabyte."""


class _Words:
    """Tokenizer for RougeScorer that can keep case and punctuation, which its own tokenizer removes."""

    def __init__(self, *, stem: bool, lowercase: bool, strip_punctuation: bool) -> None:
        from nltk.stem.porter import PorterStemmer

        self._stemmer = PorterStemmer() if stem else None
        self._lowercase = lowercase
        self._strip_punctuation = strip_punctuation

    def tokenize(self, text: str) -> list[str]:
        if self._lowercase:
            text = text.lower()
        if self._strip_punctuation:  # rouge-score's rule, which keeps ASCII letters and digits only
            text = re.sub(r"[^A-Za-z0-9]+", " ", text)
        words = text.split()
        if self._stemmer is not None:  # only longer words, as in rouge-score and ROUGE-1.5.5
            words = [self._stemmer.stem(w, to_lowercase=self._lowercase) if len(w) > 3 else w for w in words]
        return words


def rouge_scores(
    output: Sequence[str],
    reference: Sequence[str] | Sequence[tuple[str, ...]],
    *,
    stem: bool = False,
    lowercase: bool = True,
    strip_punctuation: bool = True,
) -> dict[str, NDArray[np.float64]]:
    """Compute ROUGE for every document with the rouge-score package.

    Parameters
    ----------
    output, reference
        The same number of summaries. Sentences may be marked as `<t> ... </t>` or be on separate lines. Only ROUGE-Lsum
        uses this, and treats a summary without either as one sentence. With a tuple of references, each ROUGE uses the
        reference with the largest F, as in rouge-score.
    stem
        Porter-stem words of more than three characters (`-m` of ROUGE-1.5.5).
    lowercase
        Ignore case.
    strip_punctuation
        Split at all characters except ASCII letters and digits, as rouge-score does; otherwise at white space.

    Returns
    -------
    Columns of shape (segments,), from 0 to 1: `rouge1_recall`, `rouge1_f`, and the same for `rouge2`, `rougeL`,
    `rougeLsum`. All are 0 if the summary or the reference is empty.
    """
    check_lengths(output, reference)
    need("rouge_score")
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    tokenizer: Any
    if lowercase and strip_punctuation:
        tokenizer = DefaultTokenizer(stem)
    else:
        tokenizer = _Words(stem=stem, lowercase=lowercase, strip_punctuation=strip_punctuation)
    scorer = RougeScorer(list(_TYPES), tokenizer=tokenizer)
    columns = {f"{rouge}_{part}": np.zeros(len(output)) for rouge, part in product(_TYPES, _PARTS)}
    for i, (summary, references) in enumerate(zip(output, reference, strict=True)):
        targets = (references,) if isinstance(references, str) else references
        if not targets:
            raise InputError(f"segment {i + 1} has no reference, expected at least one")
        for target in targets:
            _check_size(i, summary, target, tokenizer)
        scores = scorer.score_multi([_sentences(target) for target in targets], _sentences(summary))
        for rouge in _TYPES:
            columns[f"{rouge}_recall"][i] = scores[rouge].recall
            columns[f"{rouge}_f"][i] = scores[rouge].fmeasure
    return columns


def _check_size(index: int, summary: str, target: str, tokenizer: Any) -> None:
    """Refuse texts that are too long for summaries, before rouge-score makes a table of all their pairs of words."""
    if len(summary) * len(target) <= 4 * _LARGEST_TABLE:  # a word takes at least two characters, with its separator
        return
    ours, theirs = len(tokenizer.tokenize(summary)), len(tokenizer.tokenize(target))
    if ours * theirs > _LARGEST_TABLE:
        raise InputError(
            f"segment {index + 1} has {ours:,} words and its reference {theirs:,}, expected shorter texts: the product "
            f"exceeds {_LARGEST_TABLE:,}"
        )


def _sentences(summary: str) -> str:
    """The summary with line ends instead of sentence markers, which only ROUGE-Lsum distinguishes from other space."""
    return "\n".join(map(str.strip, _MARKER.split(summary)))


macro_average = Ratio((0,), (1,))
"""100 × sum of the documents' ROUGE / number of documents."""

METRICS: tuple[Metric, ...] = tuple(
    Metric(
        f"{rouge}_{part}",
        (f"{rouge}_{part}",),
        macro_average,
        f"100 · Σ {rouge.replace('rouge', 'ROUGE-')} {word} / number of documents",
        averaged=True,
        reader="text",
        extractor=rouge_scores,
        title=f"{rouge.replace('rouge', 'ROUGE-')} {word}",
    )
    for rouge, (part, word) in product(_TYPES, _PARTS.items())
)
