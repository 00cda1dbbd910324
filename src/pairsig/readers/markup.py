"""What lines of outputs look like before a metric of texts counts them: markup is no translation."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pairsig.io.errors import Question

if TYPE_CHECKING:
    from pairsig.readers.answers import Answer

_MOST = 0.9
"""Share of lines that look alike."""
_FEW = 3
"""Lines whose first or last words may be ids."""

_TREC = re.compile(r"\S+\s+Q0\s+\S+\s+\d+\s+[-+\d.eE]+\s+\S+")
_IOB = re.compile(r"\S+(?:[ \t]\S+)*[ \t](?:O|[BIES]-\S+)")
_IDS = {"Kaldi": re.compile(r"(\S+)(?:\s+.*)?"), "trn": re.compile(r".*\((\S+)\)\s*")}


def check_texts(path: str, lines: Sequence[str], reference: Sequence[str]) -> None:
    """Refuse lines of a file of outputs, or of a reference, that are no plain text.

    Parameters
    ----------
    path
        The file, for the message.
    lines, reference
        Its lines, and those of the reference.

    Raises
    ------
    Question
        If nine of ten lines are JSON, cells of a table, a TREC run or IOB tags, or begin or end with an id that the
        reference has, too; or if every line of both is a single token.
    """
    filled = [line.strip() for line in lines if line.strip()]
    if not filled:
        return
    kinds: list[tuple[str, list[bool], list[Answer]]] = [
        ("JSON", [_is_json(line) for line in filled], _fields(path, filled[0])),
        ("a TREC run", [_TREC.fullmatch(line) is not None for line in filled], []),
        ("IOB tags", [_IOB.fullmatch(line) is not None for line in filled], [{"reader": "iob", "metric": "entity_f1"}]),
        ("cells of a table", _are_cells(filled), []),
    ]
    for name, pattern in _IDS.items():
        matches = _have_ids(filled, reference, pattern)
        kinds.append((f"utterance ids ({name})", matches, [{"reader": name.lower()}]))
    for kind, matches, answers in kinds:
        if matches and sum(matches) >= _MOST * len(filled):
            raise Question(
                f"{path}: found {kind} in {sum(matches):,} of {len(filled):,} lines, expected plain text, of which "
                "every character would count",
                [*answers, {"text-as-is": True}],
            )
    others = [line for line in reference if line.strip()]
    if others and len(filled) > 1 and all(len(line.split()) == 1 for line in [*filled, *others]):
        raise Question(
            f"{path}: found one token in each line, and in each line of the reference, expected texts; for labels, "
            "accuracy compares a table of answers with --gold",
            [{"text-as-is": True}],
        )


def _fields(path: str, line: str) -> list[Answer]:
    """The fields with texts of the first object of JSON Lines, as answers."""
    if not path.endswith((".jsonl", ".ndjson")) or not _is_json(line) or line[0] != "{":
        return []
    return [{"column": name} for name, value in json.loads(line).items() if isinstance(value, str)]


def _is_json(line: str) -> bool:
    if line[:1] not in "{[":
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _are_cells(lines: Sequence[str]) -> list[bool]:
    """Whether each line has as many tabs as a first line of short names; commas also need a name such as `id`."""
    head = lines[0]
    for separator in "\t,":
        names = [name.strip().strip('"') for name in head.split(separator)]
        named = all(re.fullmatch(r"[A-Za-z_]\w{0,30}", name) for name in names)
        if len(names) > 1 and named and len(lines) > 1:
            return [line.count(separator) >= len(names) - 1 for line in lines]
    return []


def _have_ids(lines: Sequence[str], reference: Sequence[str], pattern: re.Pattern[str]) -> list[bool]:
    """Whether each line has an id (a word with a digit) that a line of the reference has in the same place."""
    known = {
        match[1] for line in reference if (match := pattern.fullmatch(line.strip())) and re.search(r"\d", match[1])
    }
    ids = [match[1] if (match := pattern.fullmatch(line)) else "" for line in lines]
    if len(ids) < _FEW or len(set(ids)) < len(ids):  # ids are different, first words of sentences hardly ever
        return []
    return [name in known for name in ids]
