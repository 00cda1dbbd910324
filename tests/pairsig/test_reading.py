"""What becomes of every file in `data/tables`: `data/tables.tsv` has commands, and means or words of a refusal.

The expected means are those of the few scores in each file, computed by hand: `NAME=MEAN … n=ITEMS`, with slashes between
several metrics and semicolons between several pairs of systems. Behind `|` stand words that the summary or a note has.
`refused: ` is followed by words of the message.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pairsig import InputError
from pairsig.core.statistics import Statistics
from pairsig.readers import inputs
from pairsig.readers.options import OPTIONS

DATA = Path(__file__).parents[1] / "data"
with (DATA / "tables.tsv").open(encoding="utf-8", newline="") as _file:
    CASES = list(csv.reader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def parsed(command: str) -> tuple[list[str], dict[str, Any], list[str]]:
    """The files, the options and the names of the systems of a command."""
    words = shlex.split(command.replace(";", "';'")) if " ; " in command else shlex.split(command)
    files: list[str] = []
    names: list[str] = []
    declared: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            name, _, file = word.rpartition("=")
            files.append(file)
            names.append(name)
            continue
        option = word.removeprefix("--").replace("-", "_")
        declared[option] = words.pop(0) if OPTIONS[option].value else True
    return files, declared, names if any(names) else []


def scores(data: Statistics) -> dict[str, list[float]]:
    """The score of each system in every metric."""
    return {
        name: [float(metric.score(data.of(metric)[row].sum(axis=0))) for metric in data.metrics]
        for row, name in enumerate(data.systems)
    }


def read(command: str) -> list[Statistics]:
    files, declared, names = parsed(command)
    return inputs.read_all(files, declared, names_of_systems=names)


@pytest.mark.parametrize(("command", "expected"), CASES)
def test_each_file_is_read_or_refused_as_expected(command: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "tables")
    if expected.startswith("refused: "):
        with pytest.raises(InputError) as caught:
            read(command)
        message = str(caught.value)
        assert expected.removeprefix("refused: ") in message.replace("\n", " ")
        assert message.count("\n") <= 1
        assert "pairsig compare" not in message  # no command in which something is filled in
        return
    found = read(command)
    wanted, _, words = expected.partition(" | ")
    values, _, size = wanted.rpartition(" n=")
    assert {len(data.segments) for data in found} == {int(size)}
    for data, pairs in zip(found, values.split(" ; "), strict=True):
        of_systems = dict(pair.split("=") for pair in pairs.split())
        of_systems = {name or data.systems[0]: value for name, value in of_systems.items()}
        assert list(of_systems) == list(data.systems)
        for name, value in of_systems.items():
            assert scores(data)[name] == pytest.approx([float(part) for part in value.split("/")], rel=1e-8)
        assert data.notes[0].startswith("read ")
        assert words in " ".join(data.notes)


def test_every_file_is_a_case_and_half_of_them_are_hostile() -> None:
    used = {Path(file).name for command, _ in CASES for file in [*parsed(command)[0], *_references(command)]}
    assert {path.name for path in (DATA / "tables").iterdir()} == used
    assert 0.4 < sum(expected.startswith("refused") for _, expected in CASES) / len(CASES) < 0.7


def _references(command: str) -> Sequence[str]:
    return re.findall(r"--reference (\S+)", command)
