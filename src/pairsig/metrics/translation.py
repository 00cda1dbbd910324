"""Machine translation: BLEU, chrF, chrF++ and TER.

The counts are sacrebleu's segment statistics, so tokenizers, references and signatures are also sacrebleu's. The
scores use its formulas, vectorized over leading axes of the totals, with its default smoothing (`exp` for BLEU,
effective order for chrF).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, quoted, reason
from pairsig.io.packages import need
from pairsig.metrics import Extractor, Metric, Ratio, Totals, check_lengths, ratio

References = Sequence[str] | Sequence[tuple[str, ...]]
Counts = dict[str, NDArray[Any]]

_BLEU = (
    "hypothesis_length",
    "reference_length",
    *(f"{kind}_{n}" for kind, n in product(("match", "total"), range(1, 5))),
)
_SIDES = ("hypothesis", "reference", "match")
_CHRF = tuple(f"char_{side}_{n}" for n, side in product(range(1, 7), _SIDES))
_CHRF_PP = _CHRF + tuple(f"word_{side}_{n}" for n, side in product((1, 2), _SIDES))
_TER = ("ter_edits", "ter_reference_length")

_SACREBLEU: dict[str, tuple[str, dict[str, Any]]] = {
    "bleu": ("BLEU", {}),
    "chrf": ("CHRF", {"word_order": 0}),
    "chrf++": ("CHRF", {"word_order": 2}),
    "ter": ("TER", {}),
}
"""The class of each metric in `sacrebleu.metrics`, and what sets it apart from others of this class."""


def bleu_counts(
    output: Sequence[str], reference: References, *, tokenize: str = "13a", lowercase: bool = False
) -> Counts:
    """Count the n-grams of every segment for BLEU.

    Parameters
    ----------
    output
        Detokenized hypotheses, which may be blank.
    reference
        One detokenized reference, or a tuple of several, per hypothesis.
    tokenize
        One of sacrebleu's tokenizers: "13a", "intl", "char", "zh", "ja-mecab", "none", ...
    lowercase
        Ignore case.

    Returns
    -------
    Integer columns of shape (segments,): `hypothesis_length`, `reference_length` (of the reference with the closest
    length), `match_1` to `match_4` (clipped n-gram matches), `total_1` to `total_4` (n-grams of the hypothesis).
    """
    return _counts("bleu", _BLEU, output, reference, tokenize=tokenize, lowercase=lowercase)


def chrf_counts(output: Sequence[str], reference: References, *, lowercase: bool = False) -> Counts:
    """Count the character n-grams of every segment for chrF, with the best of several references.

    Parameters
    ----------
    output, reference, lowercase
        As for `bleu_counts`.

    Returns
    -------
    Integer columns of shape (segments,): `char_hypothesis_n`, `char_reference_n`, `char_match_n`, n = 1 to 6.
    """
    return _counts("chrf", _CHRF, output, reference, lowercase=lowercase)


def chrfpp_counts(output: Sequence[str], reference: References, *, lowercase: bool = False) -> Counts:
    """Count the character and word n-grams of every segment for chrF++.

    The columns are those of `chrf_counts`, and `word_hypothesis_n`, `word_reference_n`, `word_match_n` for n = 1 and 2.
    With several references, the columns `char_...` may differ from those of chrF, since they belong to the reference
    with the best chrF++.
    """
    return _counts("chrf++", _CHRF_PP, output, reference, lowercase=lowercase)


def ter_counts(
    output: Sequence[str],
    reference: References,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Counts:
    """Count the edits of every segment for TER; the options are those of Tercom, as in sacrebleu.

    Parameters
    ----------
    output, reference
        As for `bleu_counts`.
    normalized, no_punct
        Tokenize punctuation; remove punctuation.
    asian_support
        Apply both to Asian characters as well.
    case_sensitive
        Distinguish case.

    Returns
    -------
    Columns of shape (segments,): `ter_edits` (insertions, deletions, substitutions and shifts to the closest
    reference; integer) and `ter_reference_length` (the average of the references' lengths; integer with one
    reference).
    """
    options = {"normalized": normalized, "no_punct": no_punct}
    options |= {"asian_support": asian_support, "case_sensitive": case_sensitive}
    return _counts("ter", _TER, output, reference, **options)


def _counts(
    metric: str, columns: tuple[str, ...], output: Sequence[str], reference: References, **options: Any
) -> Counts:
    check_lengths(output, reference)
    if not output:
        return {name: np.zeros(0, dtype=np.int64) for name in columns}
    references = tuple((r,) if isinstance(r, str) else tuple(r) for r in reference)
    if not all(references):
        raise InputError(f"segment {references.index(()) + 1} has no reference, expected at least one")
    scorer = _scorer(metric, references, **options)
    rows = np.array(scorer._extract_corpus_statistics(output, None), dtype=np.float64)
    counts: Counts = {}
    for name, column in zip(columns, rows.T, strict=True):
        whole = column.astype(np.int64)
        counts[name] = whole if np.array_equal(whole, column) else column.copy()
    return counts


# The systems of a dataset are extracted one after the other, and the cache tokenizes their common references only once.
@lru_cache(maxsize=4)
def _scorer(metric: str, references: tuple[tuple[str, ...], ...], **options: Any) -> Any:
    """The metric object of sacrebleu, with the n-grams of the references (one tuple per segment)."""
    kind, defaults = _SACREBLEU[metric]
    # sacrebleu expects one list per reference position, padded with None for segments with fewer references.
    documents = list(zip_longest(*references))
    return _made(kind, references=documents, **defaults, **options)


def tokenizer(name: str) -> Callable[[str], str]:
    """Find a tokenizer of sacrebleu, which puts spaces between the words of a segment."""
    tokenize: Callable[[str], str] = _made("BLEU", tokenize=name).tokenizer
    return tokenize


def _made(kind: str, **options: Any) -> Any:
    """Make a metric object of sacrebleu."""
    need("sacrebleu")
    from sacrebleu import metrics
    from sacrebleu.metrics.bleu import BLEU

    name = options.get("tokenize", "13a")
    if name not in BLEU.TOKENIZERS:
        raise InputError(f"unknown tokenizer {quoted(name)}, expected one of {', '.join(BLEU.TOKENIZERS)}")
    try:
        return getattr(metrics, kind)(**options)
    except (ImportError, RuntimeError, OSError) as error:  # the package or model of a tokenizer is missing
        raise InputError(f"tokenizer {name} is not available: {reason(error)}") from None


def bleu(totals: Totals) -> NDArray[np.float64]:
    """BLEU with exponential smoothing, sacrebleu's default (Papineni et al., ACL 2002; Post, WMT 2018).

    100 × min(1, exp(1 − r/h)) × (p₁ p₂ p₃ p₄)^(1/4), with pₙ = matchₙ/totalₙ. The k-th order without a match counts as
    1/2ᵏ matches. The score is 0 if no order has a match, or if an order has no n-grams (blank hypotheses). Totals (...,
    10) are h, r, the matches of order 1 to 4, and the n-grams of order 1 to 4.
    """
    hypothesis, reference, *ngrams = (totals[..., column] for column in range(10))
    matches, score, brevity = (np.empty(totals.shape[:-1]) for _ in range(3))
    # Π matchₙ and Π totalₙ
    for orders, factors in ((ngrams[:4], matches), (ngrams[4:], score)):
        np.multiply(orders[0], orders[1], out=factors)
        factors *= orders[2]
        factors *= orders[3]
    # This runs for every system and resample, so it uses only these three temporary arrays. The fourth root is
    # computed as two square roots, which are fast and correctly rounded, so that scores agree between machines.
    with np.errstate(divide="ignore", invalid="ignore"):
        # (p₁ p₂ p₃ p₄)^(1/4)
        np.divide(matches, score, out=score)
        np.sqrt(score, out=score)
        np.sqrt(score, out=score)
        # min(1, exp(1 − r/h))
        np.divide(reference, hypothesis, out=brevity)
        np.subtract(1.0, brevity, out=brevity)
        np.minimum(brevity, 0.0, out=brevity)
        np.exp(brevity, out=brevity)
        score *= brevity
    score *= 100.0
    rare = matches == 0.0
    if rare.any():
        score[rare] = _smoothed_bleu(totals[rare])
    return score


def _smoothed_bleu(totals: Totals) -> NDArray[np.float64]:
    """BLEU for totals (rows, 10) with an order without a match in each row."""
    matches, ngrams = totals[:, 2:6], totals[:, 6:10]
    unmatched = matches == 0.0
    scored = ~unmatched.all(axis=1) & (ngrams > 0.0).all(axis=1)
    # The k-th order without a match counts as 1/2ᵏ matches.
    smoothed = totals.copy()
    smoothed[:, 2:6] = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=1), matches)
    score = np.zeros(len(totals))
    score[scored] = bleu(smoothed[scored])
    return score


def chrf(totals: Totals) -> NDArray[np.float64]:
    """chrF2 or chrF2++ without epsilon smoothing, as in sacrebleu by default (Popović, WMT 2015 and 2017).

    100 × 5PR / (4P + R), where P and R are the means of the n-gram precisions match/hypothesis and recalls
    match/reference over the orders with n-grams on both sides. The score is 0 if there is no such order or no match.
    Totals (..., 3 × orders) are, for each order, the n-grams of the hypothesis, those of the reference, and the
    matches.
    """
    precision, recall, orders, share = (np.zeros(totals.shape[:-1]) for _ in range(4))
    # Sums of match/hypothesis and of match/reference over the orders with n-grams on both sides
    for column in range(0, totals.shape[-1], 3):
        hypothesis, reference, match = totals[..., column], totals[..., column + 1], totals[..., column + 2]
        effective = (hypothesis > 0.0) & (reference > 0.0)
        orders += effective
        for side, mean in ((hypothesis, precision), (reference, recall)):
            share[...] = 0.0
            np.divide(match, side, out=share, where=effective)
            mean += share
    # P and R
    for mean in (precision, recall):
        np.divide(mean, orders, out=mean, where=orders > 0.0)
    return ratio(5.0 * precision * recall, 4.0 * precision + recall)


ter = Ratio((0,), (1,), over_nothing=1)
"""100 × edits / reference length; without reference words, 100 if there are edits, else 0.

Lower is better; very long hypotheses can make it exceed 100. Source: Snover et al. (AMTA 2006).
"""


def _at_most(columns: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Bounds on counts: matches do not exceed n-grams, and unigrams do not exceed words."""
    sides = ("total", "hypothesis", "reference")
    pairs = [(column, column.replace("match", side)) for column, side in product(columns, sides)]
    pairs.append(("total_1", "hypothesis_length"))
    return tuple((small, large) for small, large in pairs if small != large and {small, large} <= set(columns))


_NGRAM_F = "100 · 5PR / (4P + R), P and R means of the precisions and recalls of character 1- to 6-grams"

_BLEU_FORMULA = "100 · min(1, exp(1 − r/h)) · (Π matchₙ/totalₙ)^¼, n = 1 to 4, smoothing exp"

_FORMS: tuple[tuple[str, tuple[str, ...], Callable[[Totals], NDArray[np.float64]], Extractor, str], ...] = (
    ("bleu", _BLEU, bleu, bleu_counts, _BLEU_FORMULA),
    ("chrf", _CHRF, chrf, chrf_counts, _NGRAM_F),
    ("chrf++", _CHRF_PP, chrf, chrfpp_counts, _NGRAM_F + " and word 1- and 2-grams"),
    ("ter", _TER, ter, ter_counts, "100 · Σ edits / Σ reference length"),
)

METRICS: tuple[Metric, ...] = tuple(
    Metric(
        name,
        columns,
        function,
        formula,
        higher_is_better=name != "ter",
        at_most=_at_most(columns),
        reader="text",
        extractor=extractor,
        title=name.replace("chrf", "chrF") if "chrf" in name else "",
    )
    for name, columns, function, extractor, formula in _FORMS
)
