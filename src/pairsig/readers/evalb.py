"""The listing evalb prints of one run: a row a sentence, then its summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.errors import InputError, named, quoted
from pairsig.files import AnyPath
from pairsig.metrics import Metric, counts
from pairsig.metrics.counts import accuracy
from pairsig.readers import text
from pairsig.readers.counted import NUMBER, Counted

_METRICS = {metric.name: metric for metric in counts.METRICS}
COMPLETE_MATCH = Metric(
    "complete_match",
    ("complete", "sentences"),
    accuracy,
    "100 · Σ sentences whose brackets all match / Σ sentences that were scored",
    at_most=(("complete", "sentences"),),
)
TAGGING_ACCURACY = Metric(
    "tagging_accuracy",
    ("correct_tags", "words"),
    accuracy,
    "100 · Σ words with the right tag / Σ words",
    at_most=(("correct_tags", "words"),),
)

# ID, length, status, recall, precision, matched, gold, test, crossing, words, correct tags, tag accuracy.
_COUNT = r"(\d{1,9})"
_ROW = re.compile(
    rf"\s*{_COUNT}\s+{_COUNT}\s+([012])\s+({NUMBER})\s+({NUMBER})\s+"
    rf"{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+({NUMBER})\s*",
    re.ASCII,
)
_LIKE_A_ROW = re.compile(r"\s*\d+\s+\d+\s", re.ASCII)
_RULE = re.compile(r"={40,}\s*")
_TOTALS = re.compile(
    rf"\s*{NUMBER}\s+{NUMBER}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+\d+\s+{_COUNT}\s+{_COUNT}\s+{NUMBER}\s*", re.ASCII
)
_SUMS = ("matched", "gold", "predicted", "words", "correct_tags")
_PART = re.compile(rf"-- (?:All|len<={_COUNT}) --\s*", re.ASCII)
_SCORE = re.compile(rf"-?nan|{NUMBER}")

_STATUS = {1: "status 1, other words than the gold sentence", 2: "status 2, no parse"}
# evalb prints two decimals; the rest is for its own rounding of exact halves.
_HALF_DIGIT = 0.005 + 1e-9


@dataclass(frozen=True)
class _Row:
    line: int
    identifier: int
    length: int
    status: int
    matched: int
    gold: int
    predicted: int
    crossing: int
    words: int
    correct_tags: int


def read(path: AnyPath, *, max_length: int | None = None, common: bool = False) -> Counted:
    """Counts of a listing of evalb.

    evalb leaves sentences with status 1 (the words differ) and 2 (no parse) out of its totals; here their counts
    are 0, so that every score is the one evalb prints for this run. A sentence that failed in one run only thus
    makes the runs' scores ones over different sentences, in evalb's summaries, in Bikel's comparator and here;
    `pair` says how many there are.

    What evalb prints below the rows is checked: if the totals and scores of the rows are not those of the
    summary, to its digits, the listing is not whole or not evalb's. (The sum of `Cross` is not checked: it is a
    number of sentences in evalb's source of 1997.)

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    max_length
        Longer sentences are left out as well, as in the second part of evalb's summary (`len<=40`).
    common
        Leave sentences that failed in one run out of all: the scores are of the same sentences, but they are not
        those of evalb's summaries.

    Returns
    -------
    Counts, with the metrics `f1`, `precision`, `recall`, `complete_match` and `tagging_accuracy`.

    Raises
    ------
    InputError
        With file and line, for rows that are not 12 columns of numbers, that come again or that contradict
        themselves, and for a summary of other sentences.
    """
    lines = text.read(path)
    end = _end_of_rows(lines)
    rows = _rows(path, lines[:end])
    notes = _check_summary(path, lines, end, rows)
    if max_length is not None:
        if max_length < 0:
            raise InputError(f"{path}: found max_length {max_length}, expected 0 or more")
        if not any(row.length <= max_length for row in rows):
            raise InputError(f"{path}: found no sentence of {max_length} words or less, expected some")
    asked = [row for row in rows if max_length is None or row.length <= max_length]
    failed = {status: sum(row.status == status for row in asked) for status in _STATUS}
    if any(failed.values()):
        told = "; ".join(f"{number} with {_STATUS[status]}" for status, number in failed.items() if number)
        notes.append(f"{path}: {sum(failed.values())} of {len(asked)} sentences are left out, as evalb does ({told})")
    scored = np.array([row.status == 0 and (max_length is None or row.length <= max_length) for row in rows])
    return Counted(
        segments=tuple(str(row.identifier) for row in rows),
        documents=("",) * len(rows),
        counts=_columns(rows, scored),
        metrics=(_METRICS["f1"], _METRICS["precision"], _METRICS["recall"], COMPLETE_MATCH, TAGGING_ACCURACY),
        notes=tuple(notes),
        source=str(path),
        lines=tuple(row.line for row in rows),
        # Not the words: evalb puts quotes back that a system has tagged as something else.
        shared=("length", "gold"),
        scored=scored,
        common=common,
    )


def _end_of_rows(lines: Sequence[str]) -> int:
    """Where the rows end: at the second rule, or at the summary, or with the file."""
    rules = 0
    for position, line in enumerate(lines):
        rules += _RULE.fullmatch(line) is not None
        if rules == 2 or line.startswith("=== Summary ==="):
            return position
    return len(lines)


def _rows(path: AnyPath, lines: Iterable[str]) -> list[_Row]:
    """The rows; other lines are evalb's messages (`3 : Length unmatch (12|14)`) and debugging output."""
    rows: list[_Row] = []
    seen: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        if not _LIKE_A_ROW.match(line):
            continue
        match = _ROW.fullmatch(line)
        if match is None:
            raise InputError(
                f"{path}, line {number}: found {quoted(line.strip())}, expected the 12 columns of a sentence: ID, "
                f"length, status (0, 1 or 2), recall, precision, matched, gold, test, crossing, words, correct tags, "
                f"tag accuracy"
            )
        identifier, length, status = (int(field) for field in match.group(1, 2, 3))
        matched, gold, predicted, crossing, words, tags = (int(field) for field in match.group(6, 7, 8, 9, 10, 11))
        row = _Row(number, identifier, length, status, matched, gold, predicted, crossing, words, tags)
        if identifier in seen:
            raise InputError(
                f"{path}, line {number}: found sentence {identifier} again (first in line {seen[identifier]}), "
                f"expected the listing of one run"
            )
        seen[identifier] = number
        recall, precision, tagging = (float(field) for field in match.group(4, 5, 12))
        for name, printed, part, whole in (
            ("recall", recall, matched, gold),
            ("precision", precision, matched, predicted),
            ("tag accuracy", tagging, tags, words),
        ):
            if part > whole or (status == 0 and abs(printed - _percent(part, whole)) > _HALF_DIGIT):
                raise InputError(
                    f"{path}, line {number}: found {name} {printed:.2f} of {part} out of {whole}, expected "
                    f"{'at most all of them' if part > whole else f'{_percent(part, whole):.2f}'}"
                )
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: found no sentence, expected evalb's listing with 12 columns a sentence")
    return rows


def _columns(rows: Sequence[_Row], scored: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The counts, 0 for sentences that are left out of the totals; the length is kept."""
    valid = scored.astype(np.int64)
    columns = {name: np.array([getattr(row, name) for row in rows], dtype=np.int64) * valid for name in _SUMS}
    # evalb compares the counts: a sentence without brackets in either tree is complete, though it prints 0.00.
    matched, predicted, gold = columns["matched"], columns["predicted"], columns["gold"]
    columns["complete"] = ((matched == predicted) & (matched == gold)) * valid
    columns["sentences"] = valid
    columns["length"] = np.array([row.length for row in rows], dtype=np.int64)
    return columns


def _check_summary(path: AnyPath, lines: Sequence[str], end: int, rows: Sequence[_Row]) -> list[str]:
    """Compare what evalb printed below the rows with the rows; notes if it printed nothing."""
    expected: Mapping[str, float] | None = None
    for number, line in enumerate(lines[end:], start=end + 1):
        if _ROW.fullmatch(line):
            raise InputError(
                f"{path}, line {number}: found a sentence below the totals, expected the listing of one run"
            )
        if totals := _TOTALS.fullmatch(line):
            valid = [row for row in rows if row.status == 0]
            for name, printed in zip(_SUMS, totals.groups(), strict=True):
                ours = sum(getattr(row, name) for row in valid)
                if ours != int(printed):
                    raise _other_sentences(path, number, f"{name} {printed}", str(ours))
        elif part := _PART.fullmatch(line):
            longest = part[1]
            expected = _summary([row for row in rows if longest is None or row.length <= int(longest)])
        elif expected is not None:
            name, _, score = (part.strip() for part in line.partition("="))
            if name not in expected or not _SCORE.fullmatch(score):
                continue
            printed_score = 0.0 if score.endswith("nan") else float(score)  # the F measure without a match
            if abs(printed_score - expected[name]) > _HALF_DIGIT:
                raise _other_sentences(path, number, f"{name} {named(score)}", f"{expected[name]:.2f}")
    if expected is None:
        return [f"{path}: there is no summary below the sentences, so nothing shows that the listing is whole"]
    return []


def _other_sentences(path: AnyPath, line: int, found: str, expected: str) -> InputError:
    return InputError(
        f"{path}, line {line}: found {found}, expected {expected} from the sentences above: the listing is not "
        f"whole, or not evalb's"
    )


def _summary(rows: Sequence[_Row]) -> dict[str, float]:
    """What evalb's summary says of these sentences, by its own words."""
    valid = [row for row in rows if row.status == 0]
    matched, gold, predicted, crossing, words, tags = (
        sum(getattr(row, name) for row in valid)
        for name in ("matched", "gold", "predicted", "crossing", "words", "correct_tags")
    )
    return {
        "Number of sentence": len(rows),
        "Number of Error sentence": sum(row.status == 1 for row in rows),
        "Number of Skip  sentence": sum(row.status == 2 for row in rows),
        "Number of Valid sentence": len(valid),
        "Bracketing Recall": _percent(matched, gold),
        "Bracketing Precision": _percent(matched, predicted),
        "Bracketing FMeasure": _percent(2 * matched, gold + predicted),
        "Complete match": _percent(sum(row.matched == row.gold == row.predicted for row in valid), len(valid)),
        "Average crossing": _percent(crossing, len(valid)) / 100,
        "No crossing": _percent(sum(row.crossing == 0 for row in valid), len(valid)),
        "2 or less crossing": _percent(sum(row.crossing <= 2 for row in valid), len(valid)),
        "Tagging accuracy": _percent(tags, words),
    }


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0
