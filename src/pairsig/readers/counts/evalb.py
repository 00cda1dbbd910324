"""Read the listing of evalb: one row per sentence, then a summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, named, quoted
from pairsig.io.files import AnyPath
from pairsig.metrics import registry
from pairsig.readers import Reader
from pairsig.readers.output import NUMBER, Output
from pairsig.readers.outputs import text

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
    rf"\s*{NUMBER}\s+{NUMBER}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+\d+\s+\d+\s+\d+\s+{NUMBER}\s*", re.ASCII
)
_SUMS = ("matched", "gold", "predicted")
_PART = re.compile(rf"-- (?:All|len<={_COUNT}) --\s*", re.ASCII)
_SCORE = re.compile(rf"-?nan|{NUMBER}")

_STATUS = {1: "status 1, words that differ from the gold sentence", 2: "status 2, no parse"}
# evalb prints two decimals; the small addition allows for its rounding of exact halves.
_HALF_DIGIT = 0.005 + 1e-9


class _Row(NamedTuple):
    line: int
    identifier: int
    length: int
    status: int
    matched: int
    gold: int
    predicted: int


def read(path: AnyPath) -> Output:
    """Read the counts of every sentence from a listing of evalb.

    evalb leaves sentences with status 1 (the words differ) and 2 (no parse) out of its totals. Their counts are 0 here,
    so that every score is the one that evalb prints. If a sentence failed in only one run, the scores of the runs are
    therefore based on different sentences, as in evalb's summaries and in Bikel's comparator; `align` reports their
    number.

    The summary of evalb is checked: if its totals and scores differ from those of the rows, in the printed digits, the
    listing is incomplete or was not written by evalb.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.

    Returns
    -------
    Counts with the metrics `f1`, `precision` and `recall`.
    """
    lines = text.read(path)
    end = _end_of_rows(lines)
    rows = _rows(path, lines[:end])
    notes = _check_summary(path, lines, end, rows)
    failed = {status: sum(row.status == status for row in rows) for status in _STATUS}
    if n_failed := sum(failed.values()):
        description = "; ".join(f"{number} with {_STATUS[status]}" for status, number in failed.items() if number)
        notes.append(f"{path}: {n_failed} of {len(rows)} sentences are left out, as in evalb ({description})")
    scored = np.array([row.status == 0 for row in rows])
    return Output(
        source=str(path), items=tuple(str(row.identifier) for row in rows), by="sentence",
        values=_columns(rows, scored),
        metrics=tuple(map(registry.metric, ("f1", "precision", "recall"))),
        # Not the words, since evalb restores quotation marks that a system has tagged differently.
        shared=("length", "gold"), scored=scored,
        notes=tuple(notes), lines=tuple(row.line for row in rows),
    )  # fmt: skip


def _end_of_rows(lines: Sequence[str]) -> int:
    """Position after the last row: that of the second ruled line, of the summary, or of the end of the file."""
    rules = [position for position, line in enumerate(lines) if _RULE.fullmatch(line)]
    summaries = [position for position, line in enumerate(lines) if line.startswith("=== Summary ===")]
    return min([*rules[1:2], *summaries, len(lines)])


def _rows(path: AnyPath, lines: Iterable[str]) -> list[_Row]:
    """The rows. Other lines are ignored: messages of evalb (`3 : Length unmatch (12|14)`) and debugging output."""
    rows: list[_Row] = []
    seen: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        if not _LIKE_A_ROW.match(line):
            continue
        where = f"{path}, line {number}"
        match = _ROW.fullmatch(line)
        if match is None:
            raise InputError(
                f"{where}: found {quoted(line.strip())}, expected the 12 columns of a sentence: ID, length, status (0, "
                "1 or 2), recall, precision, matched, gold, test, crossing, words, correct tags, tag accuracy"
            )
        row = _Row(number, *map(int, match.group(1, 2, 3, 6, 7, 8)))
        if seen.setdefault(row.identifier, number) != number:
            again = f"found sentence {row.identifier} again (first in line {seen[row.identifier]})"
            raise InputError(f"{where}: {again}, expected the listing of a single run")
        for name, field, part, whole in (
            ("recall", 4, row.matched, row.gold),
            ("precision", 5, row.matched, row.predicted),
        ):
            printed = float(match[field])
            if part > whole or (row.status == 0 and abs(printed - _percent(part, whole)) > _HALF_DIGIT):
                expected = f"at most {whole} out of {whole}" if part > whole else f"{_percent(part, whole):.2f}"
                raise InputError(f"{where}: found {name} {printed:.2f} for {part} out of {whole}, expected {expected}")
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: found no sentence, expected a listing of evalb with 12 columns per sentence")
    return rows


def _columns(rows: Sequence[_Row], scored: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The counts, except the length, are 0 for sentences that are left out of the totals."""
    valid = scored.astype(np.int64)
    table = dict(zip(_Row._fields, np.array(rows, dtype=np.int64).T, strict=True))
    columns = {name: table[name] * valid for name in _SUMS}
    return columns | {"length": table["length"]}


def _check_summary(path: AnyPath, lines: Sequence[str], end: int, rows: Sequence[_Row]) -> list[str]:
    """Refuse a summary that does not agree with the rows; return a note if there is none."""
    expected: Mapping[str, float] | None = None
    for number, line in enumerate(lines[end:], start=end + 1):
        problem = wanted = ""
        name, _, score = (part.strip() for part in line.partition("="))
        if _ROW.fullmatch(line):
            raise InputError(f"{path}, line {number}: found a sentence below the totals, expected a single run")
        if totals := _TOTALS.fullmatch(line):
            for column, printed in zip(_SUMS, totals.groups(), strict=True):
                ours = sum(getattr(row, column) for row in rows if row.status == 0)
                if ours != int(printed):
                    problem, wanted = f"{column} {printed}", str(ours)
                    break
        elif part := _PART.fullmatch(line):
            expected = _summary([row for row in rows if part[1] is None or row.length <= int(part[1])])
        elif expected is not None and name in expected and _SCORE.fullmatch(score):
            value = 0.0 if score.endswith("nan") else float(score)  # the F measure without a match
            if abs(value - expected[name]) > _HALF_DIGIT:
                problem, wanted = f"{name} {named(score)}", f"{expected[name]:.2f}"
        if problem:
            raise InputError(
                f"{path}, line {number}: found {problem}, expected {wanted} from the sentences above: the listing is "
                "incomplete, or was not written by evalb"
            )
    is_whole = expected is not None
    return [] if is_whole else [f"{path}: there is no summary below the sentences, so the listing may be incomplete"]


def _summary(rows: Sequence[_Row]) -> dict[str, float]:
    """The summary that evalb would print for these sentences, by evalb's labels."""
    valid = [row for row in rows if row.status == 0]
    sums = {name: sum(getattr(row, name) for row in valid) for name in _SUMS}
    return {
        "Number of sentence": len(rows),
        "Number of Error sentence": sum(row.status == 1 for row in rows),
        "Number of Skip  sentence": sum(row.status == 2 for row in rows),
        "Number of Valid sentence": len(valid),
        "Bracketing Recall": _percent(sums["matched"], sums["gold"]),
        "Bracketing Precision": _percent(sums["matched"], sums["predicted"]),
        "Bracketing FMeasure": _percent(2 * sums["matched"], sums["gold"] + sums["predicted"]),
    }


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


READER = Reader(
    read=read,
    content="evalb's listing",
    metrics="F1, precision, recall",
    recognizes=lambda file: any(map(_ROW.fullmatch, file.rows)),
    example=(
        f"  Sent.  Matched\n{'=' * 76}\n"
        "   1    6    0   75.00  60.00     3      4    5      1      5     4    80.00\n"
        "   2    5    1    0.00   0.00     0      0    0      0      0     0     0.00\n"
        f"   3    2    0  100.00 100.00     1      1    1      0      2     2   100.00\n{'=' * 76}\n"
        "                 80.00  66.67      4     5     6      1      7     6    85.71\n=== Summary ===\n\n-- All --\n"
        "Number of sentence        =      3\nNumber of Error sentence  =      1\n"
        "Bracketing Recall         =  80.00\n"
    ),
)
