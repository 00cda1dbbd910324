"""The output of the CoNLL reference coreference scorer (Pradhan et al. 2014), `scorer.pl METRIC KEY RESPONSE`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.errors import InputError, named, quoted
from pairsig.files import AnyPath
from pairsig.metrics import Metric, Ratio, Totals
from pairsig.readers import text
from pairsig.readers.counted import F1_OF_RATIOS, NUMBER, Counted, f1_of_ratios, to_columns, to_number

_RATIOS = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
_CONLL = ("muc", "bcub", "ceafe")
_KNOWN = ("muc", "bcub", "ceafm", "ceafe", "blanc")
_LINKS = {"Coreference links", "Non-coreference links"}

_METRIC = re.compile(r"METRIC (\w+):\s*")
_SCORE = re.compile(
    rf"(?:(?P<label>[\w -]+): )?Recall: \(({NUMBER}) / ({NUMBER})\) \S+%\s+"
    rf"Precision: \(({NUMBER}) / ({NUMBER})\) \S+%\s+F1: \S+%\s*"
)
_MENTIONS = re.compile(r"((?:Total|Strictly|Partially) [\w ]+) mentions: (\d{1,9})\s*", re.ASCII)
# What the scorer says when it opens a document in the key and in the response, and before it scores it.
_READING = re.compile(r"====> (.*):\s*")
_HEADER = re.compile(r"(?!File |Entity \d+:)(.*):\s*")
_PART = re.compile(r"\s*\((?P<document>.*)\)\s*;\s*part\s+\d+\s*")

# Numerators are printed with 15 digits, so sums and bounds hold to about that.
_TOLERANCE = 1e-9

Numbers = tuple[int | float, ...]


@dataclass
class _Document:
    """What the scorer prints of a document: mentions by its words for them, scores by their label."""

    line: int
    name: str
    mentions: dict[str, int] = field(default_factory=dict)
    scores: dict[str, Numbers] = field(default_factory=dict)


@dataclass
class _Section:
    """What the scorer prints of one metric: its documents, then their totals."""

    metric: str
    documents: list[_Document] = field(default_factory=list)
    totals: dict[str, Numbers] = field(default_factory=dict)
    totals_line: int = 0


def read(path: AnyPath, *, metric: str | None = None) -> Counted:
    """Counts of an output of the coreference scorer, document by document.

    The output of `scorer.pl all KEY RESPONSE`, or of one metric, or several of them one after another, also of
    single documents. Perl prints the documents in another order in every run; here they are sorted by name.
    A part of a document, `(bc/cctv/00/cctv_0000); part 003`, is a segment; its document is `bc/cctv/00/cctv_0000`.

    Numerators of B³ and CEAF are no whole numbers. The scorer prints 15 digits of them: totals of the documents
    agree with its own to about 1e-9, which is checked, and a numerator larger than its denominator by no more is
    taken for equal to it. Percentages in the output are cut, not rounded, and not read.

    BLANC's counts are printed for all documents together only (before version 8 for each, but without its name):
    where a file does not have them it is left out, with a note. They are there in runs of one document each,
    `scorer.pl blanc KEY RESPONSE '(DOCUMENT); part 000'`, written one after another to one file.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    metric
        Name of the metric where the file does not say it, since the scorer was run with one: `muc`, `bcub`,
        `ceafm`, `ceafe` or `blanc`. None: `coref` (BLANC is recognized).

    Returns
    -------
    Counts, with the F1 of every metric under the scorer's name (and `_recall` and `_precision`), `mentions` (their
    identification) and, first, `conll`: the mean of the F1s of MUC, B³ and entity-based CEAF.

    Raises
    ------
    InputError
        With file and line: no documents (a run with the document id `none`), no totals or others than those of
        the documents, a document twice, with some of the metrics only or with other mentions for another metric.
    """
    if metric is not None and metric not in _KNOWN:
        raise InputError(f"{path}: unknown metric {quoted(metric)}, expected one of {', '.join(_KNOWN)}")
    found: dict[str, dict[str, tuple[int, Numbers]]] = {}
    mentions: dict[str, tuple[int, Numbers]] = {}
    notes: dict[str, str] = {}
    for section in _sections(path, text.read(path), metric or "coref"):
        _check(path, section)
        if section.metric == "blanc" and not all(document.scores.keys() >= _LINKS for document in section.documents):
            notes["blanc"] = (
                f"{path}: blanc is left out, since its counts are printed for all documents together only; run the "
                f"scorer on one document at a time to get them"
            )
            continue
        documents = found.setdefault(section.metric, {})
        for document in section.documents:
            if document.name in documents:
                raise InputError(
                    f"{path}, line {document.line}: found document {quoted(document.name)} again for {section.metric} "
                    f"(first in line {documents[document.name][0]}), expected every document once"
                )
            documents[document.name] = document.line, _counts(path, section.metric, document)
            line, before = mentions.setdefault(document.name, (document.line, _mentions(document)))
            if before != _mentions(document):
                raise InputError(
                    f"{path}, line {document.line}: found other numbers of mentions than in line {line} for document "
                    f"{quoted(document.name)}, expected the output for one response"
                )
        if not _agree(section.totals.get("Identification of Mentions"), map(_mentions, section.documents)):
            notes["mentions"] = f"{path}: mentions is left out, since its totals are not those of the documents"
    if not found:
        raise InputError(f"{notes['blanc']}, and there is no other metric")
    names = _same_documents(path, found)
    first = next(iter(found.values()))
    metrics = _metrics([*found] if "mentions" in notes else [*found, "mentions"])
    columns: dict[str, NDArray[Any]] = {}
    for name, by_document in (found | {"mentions": mentions}).items():
        columns |= to_columns(_ratio_columns(name), [by_document[document][1] for document in names])
    return Counted(
        segments=tuple(names),
        documents=tuple(match["document"] if (match := _PART.fullmatch(name)) else name for name in names),
        counts=columns,
        metrics=metrics,
        notes=tuple(notes.values()),
        source=str(path),
        lines=tuple(first[name][0] for name in names),
        shared=("mentions_recall_denominator",),
    )


def _sections(path: AnyPath, lines: Sequence[str], unnamed: str) -> list[_Section]:
    """The output, cut into one section a metric and run."""
    sections = [_Section(unnamed)]
    header = reading = ""
    for number, line in enumerate(lines, start=1):
        section = sections[-1]
        if (match := _METRIC.fullmatch(line)) or line.startswith("version: "):
            sections.append(_Section(match[1].lower() if match else unnamed))
        elif line.startswith("====== TOTALS"):
            section.totals_line = number
        elif match := _SCORE.fullmatch(line):
            if not section.documents:
                raise InputError(
                    f"{path}, line {number}: found scores of all documents together, expected them document by "
                    f"document (run the scorer without the document id none)"
                )
            scores = section.totals if section.totals_line else section.documents[-1].scores
            scores[match["label"] or ""] = _numbers(path, number, match.groups()[1:])
        elif match := _MENTIONS.fullmatch(line):
            if section.totals_line:  # another run of a scorer that does not print its version
                section = _Section(section.metric)
                sections.append(section)
            if match[1] == "Total key":
                # For BLANC the header is empty, but when the scorer opens a document it says the name too.
                section.documents.append(_Document(number, header or reading))
            if section.documents:
                section.documents[-1].mentions[match[1]] = int(match[2])
        elif match := _READING.fullmatch(line):
            reading = match[1]
        elif match := _HEADER.fullmatch(line):
            header = match[1]
    for section in sections:
        if section.metric == "coref" and section.totals.keys() >= _LINKS:
            section.metric = "blanc"
        if section.metric == "blanc" and len(section.documents) == 1:
            section.documents[0].scores.update(section.totals)
    sections = [section for section in sections if section.documents]
    if not sections:
        raise InputError(f"{path}: found no documents, expected the output of the CoNLL coreference scorer")
    return sections


def _numbers(path: AnyPath, line: int, fields: Sequence[str]) -> Numbers:
    """Numerators and denominators, the first no larger than the second."""
    values: list[int | float] = []
    for told in (fields[:2], fields[2:]):
        numerator, denominator = map(to_number, told)
        if (
            numerator is None
            or denominator is None
            or not 0 <= numerator <= denominator + _TOLERANCE * max(denominator, 1)
        ):
            shown = " / ".join(map(named, told))
            raise InputError(f"{path}, line {line}: found ({shown}), expected a share")
        values += (min(numerator, denominator), denominator)
    return tuple(values)


def _check(path: AnyPath, section: _Section) -> None:
    """A section must be whole: named documents, totals, and these the sums of the documents.

    Of the mentions found (see `_mentions`) the scorer's totals may be others, but not of those there are to find.
    """
    for document in section.documents:
        if not document.name and section.metric != "blanc":
            raise InputError(f"{path}, line {document.line}: found a document without a name, expected one above")
    if not section.totals:
        raise InputError(
            f"{path}, line {section.documents[-1].line}: found no totals of {section.metric} after this document, "
            f"expected them: the output is not whole"
        )
    identified = section.totals.get("Identification of Mentions")
    there_are = tuple(sum(column) for column in list(zip(*map(_mentions, section.documents), strict=True))[1::2])
    if identified is not None and identified[1::2] != there_are:
        raise InputError(
            f"{path}, line {section.totals_line}: found {identified[1]} mentions in the key and {identified[3]} in the "
            f"response in the totals of {section.metric}, expected those of its documents, {there_are[0]} and "
            f"{there_are[1]}"
        )
    for label, total in section.totals.items():
        own = "" if label == "Coreference" else label
        parts = [document.scores[own] for document in section.documents if own in document.scores]
        if label in {"Coreference", *_LINKS} and parts and not _agree(total, parts):
            sums = [f"{math.fsum(column):.15g}" for column in zip(*parts, strict=True)]
            raise InputError(
                f"{path}, line {section.totals_line}: found the totals ({total[0]} / {total[1]}), ({total[2]} / "
                f"{total[3]}) of {section.metric}, expected those of its documents, ({sums[0]} / {sums[1]}), "
                f"({sums[2]} / {sums[3]})"
            )


def _agree(total: Numbers | None, parts: Iterable[Numbers]) -> bool:
    """Whether the sums of the parts are the total, to the digits that are printed."""
    return total is not None and bool(np.allclose(np.sum(list(parts), axis=0), total, rtol=_TOLERANCE, atol=_TOLERANCE))


def _counts(path: AnyPath, metric: str, document: _Document) -> Numbers:
    labels = sorted(_LINKS) if metric == "blanc" else [""]
    for label in labels:
        if label not in document.scores:
            raise InputError(
                f"{path}, line {document.line}: found no scores of document {quoted(document.name)}, expected a line "
                f"that begins with Recall"
            )
    return tuple(number for label in labels for number in document.scores[label])


def _mentions(document: _Document) -> Numbers:
    """Recall and precision of finding the mentions, as in the totals."""
    said = document.mentions
    right = said.get("Strictly correct identified", 0) + said.get("Partially correct identified", 0)
    return right, said.get("Total key", 0), right, said.get("Total response", 0)


def _same_documents(path: AnyPath, found: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Names of the documents, sorted, the same for every metric."""
    first, *others = found
    for other in others:
        for name in sorted(found[first].keys() ^ found[other].keys()):
            here, there = (first, other) if name in found[first] else (other, first)
            raise InputError(
                f"{path}: found document {quoted(name)} for {here} and not for {there}, expected it for both"
            )
    return sorted(found[first])


# Metrics and their columns.


def _ratio_columns(metric: str) -> tuple[str, ...]:
    if metric == "blanc":
        return (*_ratio_columns("blanc_coreference"), *_ratio_columns("blanc_non_coreference"))
    return tuple(f"{metric}_{part}" for part in _RATIOS)


def conll(totals: Totals) -> NDArray[np.float64]:
    """Mean of the F1s of MUC, B³ and entity-based CEAF, each from its four totals."""
    return sum((f1_of_ratios(totals[..., start : start + 4]) for start in (0, 4, 8)), np.zeros(totals.shape[:-1])) / 3


def blanc(totals: Totals) -> NDArray[np.float64]:
    """Mean of the F1s of coreference and non-coreference links; see `_over_links`."""
    return _over_links(totals, f1_of_ratios)


def blanc_recall(totals: Totals) -> NDArray[np.float64]:
    """Mean of the recalls of coreference and non-coreference links; see `_over_links`."""
    return _over_links(totals, recall_of_ratios)


def blanc_precision(totals: Totals) -> NDArray[np.float64]:
    """Mean of the precisions of coreference and non-coreference links; see `_over_links`."""
    return _over_links(totals, precision_of_ratios)


recall_of_ratios = Ratio((0,), (1,))
"""100 × recall numerator / recall denominator."""

precision_of_ratios = Ratio((2,), (3,))
"""100 × precision numerator / precision denominator."""


def _over_links(totals: Totals, score: Callable[[Totals], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean over the two kinds of links; a kind of which the key has none does not count, as in the scorer."""
    kinds = np.stack([score(totals[..., 0:4]), score(totals[..., 4:8])], axis=-1)
    present = totals[..., [1, 5]] > 0
    mean = np.zeros(totals.shape[:-1])
    np.divide((kinds * present).sum(axis=-1), present.sum(axis=-1), out=mean, where=present.any(axis=-1))
    return mean


_FUNCTIONS = (("", F1_OF_RATIOS), ("_recall", recall_of_ratios), ("_precision", precision_of_ratios))
_BLANC_FUNCTIONS = (("", blanc), ("_recall", blanc_recall), ("_precision", blanc_precision))
_FORMULAS = {
    "": "100 · 2PR / (P + R), R = Σ recall numerator / Σ recall denominator, P likewise",
    "_recall": "100 · Σ recall numerator / Σ recall denominator",
    "_precision": "100 · Σ precision numerator / Σ precision denominator",
}


def _metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """The headline first, then every F1, then recalls and precisions."""
    metrics = []
    if set(_CONLL) <= set(names):
        columns = tuple(column for name in _CONLL for column in _ratio_columns(name))
        metrics.append(_metric("conll", columns, conll, "(F1 of MUC + F1 of B³ + F1 of entity-based CEAF) / 3"))
    for suffix, formula in _FORMULAS.items():
        for name in names:
            functions = dict(_BLANC_FUNCTIONS if name == "blanc" else _FUNCTIONS)
            told = f"mean over coreference and non-coreference links of {formula}" if name == "blanc" else formula
            metrics.append(_metric(name + suffix, _ratio_columns(name), functions[suffix], told))
    return tuple(metrics)


def _metric(
    name: str, columns: tuple[str, ...], function: Callable[[Totals], NDArray[np.float64]], formula: str
) -> Metric:
    shares = tuple(zip(columns[::2], columns[1::2], strict=True))
    return Metric(name, columns, function, formula, at_most=shares)
