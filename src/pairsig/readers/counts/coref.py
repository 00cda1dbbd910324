"""Read the output of the CoNLL reference coreference scorer (Pradhan et al. 2014), `scorer.pl METRIC KEY RESPONSE`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, named, quoted
from pairsig.io.files import AnyPath
from pairsig.metrics import Metric, Ratio, Totals
from pairsig.readers import Reader
from pairsig.readers.outputs import text
from pairsig.readers.system_counts import F1_OF_RATIOS, NUMBER, SystemCounts, f1_of_ratios, to_columns, to_number

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
# Lines that the scorer prints when it opens a document in the key and in the response, and before it scores it.
_READING = re.compile(r"====> (.*):\s*")
_HEADER = re.compile(r"(?!File |Entity \d+:)(.*):\s*")
_PART = re.compile(r"\s*\((?P<document>.*)\)\s*;\s*part\s+\d+\s*")

# Numerators are printed with 15 digits, so sums and bounds are checked to about that precision.
_TOLERANCE = 1e-9

Numbers = tuple[int | float, ...]


@dataclass
class _Document:
    """The scorer's output for a document: mentions by the scorer's name for them, and scores by their label."""

    line: int
    name: str
    mentions: dict[str, int] = field(default_factory=dict)
    scores: dict[str, Numbers] = field(default_factory=dict)


@dataclass
class _Section:
    """The scorer's output for one metric: the documents, then their totals."""

    metric: str
    documents: list[_Document] = field(default_factory=list)
    totals: dict[str, Numbers] = field(default_factory=dict)
    totals_line: int = 0


def read(path: AnyPath, *, metric: str | None = None) -> SystemCounts:
    """Read the counts of every document from the output of the coreference scorer.

    The file may contain the output for all metrics (`scorer.pl all KEY RESPONSE`), for one metric, or several such
    outputs one after another, also for single documents. Perl prints the documents in a different order in every run,
    so they are sorted by name. A part of a document, `(bc/cctv/00/cctv_0000); part 003`, is a segment; its document is
    `bc/cctv/00/cctv_0000`.

    Numerators of B³ and CEAF are not integers. Since the scorer prints 15 digits, the sums over documents are checked
    against its totals to about 1e-9, and a numerator that exceeds its denominator by less than that is set equal to it.
    Percentages in the output are not read, since they are truncated.

    BLANC's counts are printed only for all documents together (before version 8, per document but without its name).
    If the file lacks the counts per document, BLANC is left out with a note. To get them, run the scorer on one
    document at a time, `scorer.pl blanc KEY RESPONSE '(DOCUMENT); part 000'`, and write all outputs to one file.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    metric
        Name of the metric (`muc`, `bcub`, `ceafm`, `ceafe` or `blanc`) if the scorer was run with only one, since its
        output does not contain the name then. Default: `coref` (BLANC is recognised).

    Returns
    -------
    Counts with the F1 of every metric under the scorer's name (also with `_recall` and `_precision`), `mentions` (their
    identification) and, first, `conll`, the mean F1 of MUC, B³ and entity-based CEAF.

    Raises
    ------
    InputError
        With file and line, if there are no documents (the scorer was run with the document id `none`), if totals are
        missing or differ from the sums over documents, if a document is repeated or lacks a metric, or if its mentions
        differ between metrics.
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
                f"{path}: blanc is left out, since its counts are printed only for all documents together; to get "
                f"them, run the scorer on one document at a time"
            )
            continue
        documents = found.setdefault(section.metric, {})
        for document in section.documents:
            if document.name in documents:
                raise InputError(
                    f"{path}, line {document.line}: found document {quoted(document.name)} again for {section.metric} "
                    f"(first in line {documents[document.name][0]}), expected it once"
                )
            documents[document.name] = document.line, _counts(path, section.metric, document)
            line, before = mentions.setdefault(document.name, (document.line, _mentions(document)))
            if before != _mentions(document):
                raise InputError(
                    f"{path}, line {document.line}: found numbers of mentions for document {quoted(document.name)} "
                    f"that differ from line {line}, expected the same: do all outputs belong to one response?"
                )
        if not _agree(section.totals.get("Identification of Mentions"), map(_mentions, section.documents)):
            notes["mentions"] = (
                f"{path}: mentions is left out, since the scorer's totals differ from the sums over documents"
            )
    if not found:
        raise InputError(f"{notes['blanc']}; expected at least one other metric")
    names = _same_documents(path, found)
    first = next(iter(found.values()))
    metrics = _metrics([*found] if "mentions" in notes else [*found, "mentions"])
    columns: dict[str, NDArray[Any]] = {}
    for name, by_document in (found | {"mentions": mentions}).items():
        columns |= to_columns(_ratio_columns(name), [by_document[document][1] for document in names])
    return SystemCounts(
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
    """The output, divided into one section per metric and run of the scorer."""
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
                    f"{path}, line {number}: found scores for all documents together, expected scores per document; "
                    f"run the scorer without the document id none"
                )
            scores = section.totals if section.totals_line else section.documents[-1].scores
            scores[match["label"] or ""] = _numbers(path, number, match.groups()[1:])
        elif match := _MENTIONS.fullmatch(line):
            if section.totals_line:  # a new run of a version of the scorer that does not print its version
                section = _Section(section.metric)
                sections.append(section)
            if match[1] == "Total key":
                # For BLANC the header is empty, but the scorer also prints the name when it opens a document.
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
    """Numerators and denominators; no numerator exceeds its denominator."""
    values: list[int | float] = []
    for cells in (fields[:2], fields[2:]):
        numerator, denominator = map(to_number, cells)
        if (
            numerator is None
            or denominator is None
            or not 0 <= numerator <= denominator + _TOLERANCE * max(denominator, 1)
        ):
            shown = " / ".join(map(named, cells))
            raise InputError(f"{path}, line {line}: found ({shown}), expected a share between 0 and 1")
        values += (min(numerator, denominator), denominator)
    return tuple(values)


def _check(path: AnyPath, section: _Section) -> None:
    """Refuse a section without document names or totals, or with totals that are not the sums over documents.

    The scorer's totals of identified mentions may differ (see `_mentions`), but not those of existing mentions.
    """
    for document in section.documents:
        if not document.name and section.metric != "blanc":
            raise InputError(f"{path}, line {document.line}: found a document without a name, expected a name above it")
    if not section.totals:
        raise InputError(
            f"{path}, line {section.documents[-1].line}: found no totals for {section.metric} after this document, "
            f"expected them: the output is incomplete"
        )
    identified = section.totals.get("Identification of Mentions")
    there_are = tuple(sum(column) for column in list(zip(*map(_mentions, section.documents), strict=True))[1::2])
    if identified is not None and identified[1::2] != there_are:
        raise InputError(
            f"{path}, line {section.totals_line}: found {identified[1]} mentions in the key and {identified[3]} in the "
            f"response in the totals for {section.metric}, expected the sums over documents, {there_are[0]} and "
            f"{there_are[1]}"
        )
    for label, total in section.totals.items():
        own = "" if label == "Coreference" else label
        parts = [document.scores[own] for document in section.documents if own in document.scores]
        if label in {"Coreference", *_LINKS} and parts and not _agree(total, parts):
            sums = [f"{math.fsum(column):.15g}" for column in zip(*parts, strict=True)]
            raise InputError(
                f"{path}, line {section.totals_line}: found the totals ({total[0]} / {total[1]}), ({total[2]} / "
                f"{total[3]}) for {section.metric}, expected the sums over documents, ({sums[0]} / {sums[1]}), "
                f"({sums[2]} / {sums[3]})"
            )


def _agree(total: Numbers | None, parts: Iterable[Numbers]) -> bool:
    """Whether the sums of the parts equal the total, to the printed digits."""
    return total is not None and bool(np.allclose(np.sum(list(parts), axis=0), total, rtol=_TOLERANCE, atol=_TOLERANCE))


def _counts(path: AnyPath, metric: str, document: _Document) -> Numbers:
    labels = sorted(_LINKS) if metric == "blanc" else [""]
    for label in labels:
        if label not in document.scores:
            raise InputError(
                f"{path}, line {document.line}: found no scores for document {quoted(document.name)}, expected a line "
                f"that begins with Recall"
            )
    return tuple(number for label in labels for number in document.scores[label])


def _mentions(document: _Document) -> Numbers:
    """Numerators and denominators of mention recall and precision, as in the totals."""
    printed = document.mentions
    correct = printed.get("Strictly correct identified", 0) + printed.get("Partially correct identified", 0)
    return correct, printed.get("Total key", 0), correct, printed.get("Total response", 0)


def _same_documents(path: AnyPath, found: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Sorted names of the documents, which must be the same for every metric."""
    first, *others = found
    for other in others:
        for name in sorted(found[first].keys() ^ found[other].keys()):
            here, there = (first, other) if name in found[first] else (other, first)
            raise InputError(
                f"{path}: found document {quoted(name)} for {here} but not for {there}, expected it for both"
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


def _over_links(score: Callable[[Totals], NDArray[np.float64]], totals: Totals) -> NDArray[np.float64]:
    """Mean over the two kinds of links; a kind that the key lacks does not count, as in the scorer."""
    kinds = np.stack([score(totals[..., 0:4]), score(totals[..., 4:8])], axis=-1)
    present = totals[..., [1, 5]] > 0
    mean = np.zeros(totals.shape[:-1])
    np.divide((kinds * present).sum(axis=-1), present.sum(axis=-1), out=mean, where=present.any(axis=-1))
    return mean


_SCORES = {
    "": (F1_OF_RATIOS, "100 · 2PR / (P + R), R = Σ recall numerator / Σ recall denominator, P likewise"),
    "_recall": (Ratio((0,), (1,)), "100 · Σ recall numerator / Σ recall denominator"),
    "_precision": (Ratio((2,), (3,)), "100 · Σ precision numerator / Σ precision denominator"),
}
BLANC = {suffix: partial(_over_links, score) for suffix, (score, _) in _SCORES.items()}
"""BLANC, its recall and its precision are means of the scores of coreference and non-coreference links."""


def _metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """The headline first, then every F1, then recalls and precisions."""
    metrics = []
    if set(_CONLL) <= set(names):
        columns = tuple(column for name in _CONLL for column in _ratio_columns(name))
        metrics.append(_metric("conll", columns, conll, "(F1 of MUC + F1 of B³ + F1 of entity-based CEAF) / 3"))
    for suffix, (score, formula) in _SCORES.items():
        for name in names:
            of_links = name == "blanc"
            description = f"mean over coreference and non-coreference links: {formula}" if of_links else formula
            function = BLANC[suffix] if of_links else score
            metrics.append(_metric(name + suffix, _ratio_columns(name), function, description))
    return tuple(metrics)


def _metric(
    name: str, columns: tuple[str, ...], function: Callable[[Totals], NDArray[np.float64]], formula: str
) -> Metric:
    shares = tuple(zip(columns[::2], columns[1::2], strict=True))
    return Metric(name, columns, function, formula, at_most=shares)


_EXAMPLE = "".join(
    f"====> (bc/{name}); part 000:\n(bc/{name}); part 000:\nTotal key mentions: 4\nTotal response mentions: 5\n"
    "Strictly correct identified mentions: 3\nPartially correct identified mentions: 0\n"
    "Recall: (1.5 / 4) 37.5%\tPrecision: (1.5 / 5) 30%\tF1: 33.33%\n"
    for name in "ab"
) + (
    "\n====== TOTALS =======\n"
    "Identification of Mentions: Recall: (6 / 8) 75%\tPrecision: (6 / 10) 60%\tF1: 66.66%\n"
    "Coreference: Recall: (3 / 8) 37.5%\tPrecision: (3 / 10) 30%\tF1: 33.33%\n"
)
READER = Reader(
    read=read,
    content="the output of the CoNLL coreference scorer",
    metrics="MUC, B³, CEAF, and their mean; BLANC",
    recognizes=lambda file: any(re.match(r"\s*(?:METRIC \w+:|(?:Coreference: )?Recall: \()", row) for row in file.rows),
    example=f"version: 8.01 /opt/CorScorer.pm\n\nMETRIC muc:\n{_EXAMPLE}\nMETRIC bcub:\n{_EXAMPLE}",
)
