"""Dependency parsing: attachment scores on gold tokens or for raw text as in CoNLL 2017 and 2018."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, quoted
from pairsig.metrics import Counts, Extractor, Metric, as_columns
from pairsig.metrics.counts import accuracy, f1

if TYPE_CHECKING:
    from pairsig.readers.outputs.conllu import Sentence

Spans = list[tuple[int, int]]

_LONGEST_SPAN = 1_000
"""Maximum words in adjacent multiword tokens; the common subsequence of so many takes a second. Real data has a few."""

# Unicode category Zs; the ideographic space is its last character.
_SPACES = {code: None for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs"}


def gold_uas(
    output: Sequence[Sentence],
    reference: Sequence[Sentence],
    *,
    punctuation: bool = True,
    deprel_subtypes: bool = False,
) -> Counts:
    """Count the words with the correct head in every sentence, for parses of the gold tokens.

    UAS = 100 · Σ correct / Σ total (Buchholz and Marsi 2006, CoNLL-X shared task).

    Parameters
    ----------
    output, reference
        Sentences with the same words.
    punctuation
        False leaves out words that consist only of punctuation (Unicode category P), as in the scorers of the CoNLL
        shared tasks of 2006 and 2007. Symbols (category S: `$`, `+`) are words.
    deprel_subtypes
        Ignored; used by `gold_las`.

    Returns
    -------
    `correct` and `total`, int64 of shape (sentences,).
    """
    del deprel_subtypes
    return _equal_words(output, reference, lambda parse: parse.heads, punctuation)


def gold_las(
    output: Sequence[Sentence],
    reference: Sequence[Sentence],
    *,
    punctuation: bool = True,
    deprel_subtypes: bool = False,
) -> Counts:
    """Count the words with the correct head and relation in every sentence: LAS, otherwise as `gold_uas`.

    With `deprel_subtypes`, relations are compared in full (`nsubj:pass`), without up to the first colon (`nsubj`).
    """
    relation = str if deprel_subtypes else _universal
    return _equal_words(
        output, reference, lambda parse: list(zip(parse.heads, map(relation, parse.deprels), strict=True)), punctuation
    )


def _equal_words(
    output: Sequence[Sentence],
    reference: Sequence[Sentence],
    edges: Callable[[Sentence], Sequence[object]],
    punctuation: bool,
) -> Counts:
    """Count the words with equal edges in every sentence, and all words."""
    _check_same_words(output, reference)
    rows = []
    for system, gold in zip(output, reference, strict=True):
        words = zip(gold.words, edges(system), edges(gold), strict=True)
        right = [ours == theirs for word, ours, theirs in words if punctuation or not _is_punctuation(word)]
        rows.append((sum(right), len(right)))
    return as_columns(("correct", "total"), rows)


def _universal(deprel: str) -> str:
    """A relation without its language-specific subtype."""
    return deprel.partition(":")[0]


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] == "P" for character in word)


def _check_same_words(output: Sequence[Sentence], reference: Sequence[Sentence]) -> None:
    for number, (system, gold) in enumerate(zip(output, reference, strict=False), start=1):
        if system.words == gold.words:
            continue
        shared = list(zip(system.words, gold.words, strict=False))
        token = next((index for index, (ours, theirs) in enumerate(shared) if ours != theirs), len(shared))
        ours, theirs = (
            quoted(words[token]) if token < len(words) else "missing" for words in (system.words, gold.words)
        )
        raise InputError(
            f"sentence {number} (line {system.line} of the output, {gold.line} of the reference): "
            f"token {token + 1} is {ours} in the output and {theirs} in the reference, expected the same "
            "tokens; use conll_uas and conll_las for parses of raw text"
        )
    if len(output) != len(reference):
        raise InputError(
            f"the output has {len(output)} sentences, expected {len(reference)} as in the reference; the words of the "
            f"first {min(len(output), len(reference))} are the same"
        )


def aligned_attachment(output: Sequence[Sentence], reference: Sequence[Sentence]) -> Counts:
    """Count correct attachments in every gold sentence, for parses of raw text, as in the CoNLL 2018 evaluation.

    F1 = 100 · 2 Σ matched / (Σ predicted + Σ gold), where system words are aligned to gold words by the characters of
    the text (Zeman et al. 2018, CoNLL 2018 shared task, section 5; the same as in 2017). The sums over sentences are
    the counts of that evaluation.

    Spaces (Unicode category Zs) are ignored. A word is aligned to the gold word with the same span. If either side has
    a multiword token, the words in the smallest span around all overlapping multiword tokens are aligned by the longest
    common subsequence of their lower-cased forms. An aligned word is correct if its head is aligned to the gold head
    (or both are roots); for LAS the relations must also be equal up to the first colon.

    Parameters
    ----------
    output, reference
        Sentences with the same characters; their division into sentences, tokens and words may differ.

    Returns
    -------
    Columns, int64 of shape (gold sentences,): `uas_matched`, `las_matched`, the `gold` words of the sentence, and
    `predicted`, the system words that are aligned to a word of the sentence or, if unaligned, begin in it. Matched
    words therefore never exceed predicted ones. (Only near a multiword token at the start of a gold sentence can an
    aligned word begin in another sentence; this never happens in the 10 million words of CoNLL 2017 and 2018.)
    """
    if not reference:
        raise InputError("the reference has no sentence, expected at least one")
    system, gold = _Text(output), _Text(reference)
    if system.characters != gold.characters:
        raise _different_text(system, gold, reference)

    partner = _align(system, gold)
    is_aligned = partner >= 0
    # Heads as indices of gold words, with -1 for the root and -2 for an unaligned word.
    heads = np.where(system.heads < 0, -1, np.where(partner[system.heads] < 0, -2, partner[system.heads]))
    right_head = is_aligned & (heads == gold.heads[partner])
    right = np.array(
        [
            head and _universal(deprel) == _universal(gold.deprels[word])
            for head, deprel, word in zip(right_head.tolist(), system.deprels, partner.tolist(), strict=True)
        ],
        dtype=bool,
    )

    starts = np.array([start for start, _ in system.spans])
    sentence_starts = np.array([gold.spans[word][0] for word in gold.first_words])
    sentence_of_gold = np.repeat(np.arange(len(reference)), [len(sentence.words) for sentence in reference])
    sentence = np.where(
        is_aligned, sentence_of_gold[partner], np.searchsorted(sentence_starts, starts, side="right") - 1
    )

    def per_sentence(sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(sentences, minlength=len(reference)).astype(np.int64)

    return {
        "uas_matched": per_sentence(sentence[right_head]),
        "las_matched": per_sentence(sentence[right]),
        "predicted": per_sentence(sentence),
        "gold": per_sentence(sentence_of_gold),
    }


class _Text:
    """The words of all sentences, as spans of the characters of the whole text."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        pieces: list[str] = []
        self.spans: Spans = []
        self.is_multiword: list[bool] = []
        self.forms: list[str] = []
        self.deprels: list[str] = []
        heads: list[int] = []
        end = 0
        for sentence in sentences:
            first = len(self.forms) - 1  # word 1 comes after it, and HEAD 1 is that word
            heads += [first + head if head else -1 for head in sentence.heads]
            tokens = [form.translate(_SPACES) for form in sentence.forms]
            pieces += tokens
            ends = list(accumulate(map(len, tokens), initial=end))
            end = ends[-1]
            self.spans += [(ends[token], ends[token + 1]) for token in sentence.tokens]
            self.is_multiword += [sentence.multiword[token] for token in sentence.tokens]
            self.forms += sentence.words
            self.deprels += sentence.deprels
        self.characters = "".join(pieces)
        self.heads = np.array(heads, dtype=np.int64)
        self.first_words = list(accumulate((len(sentence.words) for sentence in sentences), initial=0))[:-1]

    def key(self, word: int) -> str:
        """Key for the comparison of words inside a multiword span."""
        form = self.forms[word]
        return (form if self.is_multiword[word] else form.translate(_SPACES)).lower()


def _align(system: _Text, gold: _Text) -> NDArray[np.int64]:
    """For each system word, the index of the aligned gold word, or -1."""
    partner = np.full(len(system.forms), -1)
    s = g = 0
    while s < len(system.forms) and g < len(gold.forms):
        if system.is_multiword[s] or gold.is_multiword[g]:
            system_words, gold_words = _multiword_span(system, gold, s, g)
            if max(len(system_words), len(gold_words)) > _LONGEST_SPAN:
                raise InputError(
                    f"found multiword tokens of {len(system_words):,} words in the output and {len(gold_words):,} in "
                    f"the reference at word {quoted(system.forms[s])}, expected at most {_LONGEST_SPAN:,}"
                )
            for ours, theirs in _common(
                [system.key(word) for word in system_words], [gold.key(word) for word in gold_words]
            ):
                partner[system_words[ours]] = gold_words[theirs]
            s, g = system_words.stop, gold_words.stop
        elif system.spans[s] == gold.spans[g]:
            partner[s] = g
            s, g = s + 1, g + 1
        elif gold.spans[g][0] <= system.spans[s][0]:
            g += 1
        else:
            s += 1
    return partner


def _multiword_span(system: _Text, gold: _Text, s: int, g: int) -> tuple[range, range]:
    """Words from `s` and `g`, one of them in a multiword token, to the end of all overlapping multiword tokens."""
    if gold.is_multiword[g]:
        end = gold.spans[g][1]
        # A word that begins before the token does not fit into the span. Like the evaluation, this skips one
        # such word, not all of them.
        s += not system.is_multiword[s] and system.spans[s][0] < gold.spans[g][0]
    else:
        end = system.spans[s][1]
        g += gold.spans[g][0] < system.spans[s][0]
    first_s, first_g = s, g

    def is_inside(text: _Text, word: int) -> bool:
        if word == len(text.forms):
            return False
        start, stop = text.spans[word]
        return start < end if text.is_multiword[word] else stop <= end

    while is_inside(system, s) or is_inside(gold, g):
        if s == len(system.forms) or (g < len(gold.forms) and gold.spans[g][0] <= system.spans[s][0]):
            text, word, g = gold, g, g + 1
        else:
            text, word, s = system, s, s + 1
        if text.is_multiword[word]:
            end = max(end, text.spans[word][1])
    return range(first_s, s), range(first_g, g)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indices of a longest common subsequence; if there are several, the one in the CoNLL evaluation."""
    # length[i][j] is the length of the longest one from (i, j) to the ends.
    length = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            if ours[i] == theirs[j]:
                length[i][j] = 1 + length[i + 1][j + 1]
            else:
                length[i][j] = max(length[i + 1][j], length[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif length[i][j] == length[i][j + 1]:
            j += 1
        else:
            i += 1
    return pairs


def _different_text(system: _Text, gold: _Text, reference: Sequence[Sentence]) -> InputError:
    """The error for two texts that differ, with the first difference."""
    pairs = zip(system.characters, gold.characters, strict=False)
    shorter = min(len(system.characters), len(gold.characters))
    place = next((index for index, (ours, theirs) in enumerate(pairs) if ours != theirs), shorter)
    starts = [gold.spans[word][0] for word in gold.first_words]
    number = int(np.searchsorted(starts, place, side="right"))
    line = reference[number - 1].line
    ours, theirs = (
        quoted(text.characters[place : place + 20]) if place < len(text.characters) else "the end"
        for text in (system, gold)
    )
    return InputError(
        f"the first difference between the texts is at character {place + 1} (without spaces), in sentence {number} of "
        f"the reference (line {line}): found {ours} in the output, expected {theirs}"
    )


def _gold_metric(name: str, description: str, extractor: Extractor) -> Metric:
    return Metric(
        name,
        ("correct", "total"),
        accuracy,
        f"100 · Σ {description} / Σ words, on gold tokens",
        at_most=(("correct", "total"),),
        reader="conllu",
        extractor=extractor,
    )


def _aligned_metric(name: str, matched: str, description: str) -> Metric:
    return Metric(
        name,
        (matched, "predicted", "gold"),
        f1,
        f"100 · 2 Σ {matched} / (Σ predicted + Σ gold), {description}, words aligned by characters as in CoNLL 2018",
        at_most=((matched, "predicted"), (matched, "gold")),
        reader="conllu",
        extractor=aligned_attachment,
        title=name.removeprefix("conll_").upper(),
    )


METRICS: tuple[Metric, ...] = (
    _gold_metric("uas", "words with the correct head", gold_uas),
    _gold_metric("las", "words with the correct head and relation", gold_las),
    _aligned_metric("conll_uas", "uas_matched", "matched = words with the correct head"),
    _aligned_metric("conll_las", "las_matched", "matched = words with the correct head and relation"),
)
