"""Tables are read by declared roles: `data/tables.tsv` says what becomes of each file in `data/tables`.

The expected means are those of the few scores in each file, computed by hand. `refused` is followed by a part of the
message. The kinds are `clean`; `hostile`, which must not be read without options; and `answer`, a hostile file with
options. With `several`, the file is one of several, so that one system is enough.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pairsig.io.errors import FLAGS, InputError, Question
from pairsig.readers.system_counts import SystemCounts
from pairsig.readers.table import Roles, read

DATA = Path(__file__).parent / "data"
CASES = pd.read_csv(DATA / "tables.tsv", sep="\t", dtype=str, keep_default_na=False, quoting=3)
HOSTILE = CASES[CASES["kind"].str.endswith("hostile")]
_ROLES = {field.name for field in fields(Roles)}


def roles_of(words: list[str], roles: Roles | None = None) -> Roles:
    """The roles that options of the command line declare."""
    given: dict[str, Any] = {}
    words = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while words:
        option = words.pop(0).removeprefix("--")
        name = option.replace("-", "_")
        assert name in _ROLES, option
        given[name] = True if option in FLAGS else words.pop(0)
    return replace(roles or Roles(), **given)


def means(part: SystemCounts) -> list[float]:
    """The score of every metric on the items that have one."""
    found = []
    for metric in part.metrics:
        scored = ~part.unscored[metric.name]
        totals = [part.counts[name][scored].sum() for name in metric.columns]
        found.append(float(metric.score([*totals, scored.sum()] if metric.averaged else totals)))
    return found


def read_case(case: Any, roles: Roles | None = None) -> tuple[SystemCounts, ...]:
    """Read the file of a case, which needs two systems if it is the only one."""
    parts = read(DATA / "tables" / case.file, roles, several=is_several(case))
    if not is_several(case) and len({part.system for part in parts}) < 2:
        raise InputError("found one system, expected two")
    return parts


def is_several(case: Any) -> bool:
    return case.kind.startswith("several")


@pytest.mark.parametrize("case", list(CASES.itertuples()), ids=lambda case: f"{case.file} {case.options}".strip())
def test_each_file_is_read_or_refused_as_expected(case: Any) -> None:
    roles = roles_of(shlex.split(case.options))
    if case.expected.startswith("refused: "):
        with pytest.raises(InputError) as caught:
            read_case(case, roles)
        text = caught.value.text if isinstance(caught.value, Question) else str(caught.value)
        assert case.expected.removeprefix("refused: ") in text.replace(f"{DATA}/tables/", "")
        return
    parts = read_case(case, roles)
    *expected, sizes = re.fullmatch(r"(.+) n=([\d/]+)(?: (?:lower|higher|assumed))?", case.expected).groups()
    found = {f"{part.system}/{part.run}" if part.run else part.system: means(part) for part in parts}
    wanted = {name.strip(): value for name, value in re.findall(r"(.*?)=(\S+)", expected[0])}
    assert list(found) == list(wanted)
    for name, values in found.items():
        assert values == pytest.approx([float(value) for value in wanted[name].split("/")], rel=1e-12)
    assert list(map(len, (part.segments for part in parts))) == (
        [int(size) for size in sizes.split("/")] if "/" in sizes else [int(sizes)] * len(parts)
    )
    for metric in parts[0].metrics:
        if case.expected.endswith("assumed"):
            assert (metric.assumed, metric.higher_is_better) == (True, True)
        elif case.expected.endswith(("lower", "higher")):
            assert (metric.assumed, metric.higher_is_better) == (False, case.expected.endswith("higher"))


def test_there_are_at_least_150_files_of_which_two_thirds_are_hostile() -> None:
    files = {path.name for path in (DATA / "tables").iterdir()}
    assert files == set(CASES["file"])
    assert len(files) >= 150
    assert len(set(HOSTILE["file"])) >= 2 / 3 * len(files)


@pytest.mark.parametrize("case", list(HOSTILE.itertuples()), ids=lambda case: case.file)
def test_no_hostile_file_is_read_without_options(case: Any) -> None:
    with pytest.raises(InputError):
        read_case(case)


def check_answers(case: Any, roles: Roles, before: tuple[str, ...] = ()) -> None:
    """Every answer leads to a result, or to another question with answers."""
    try:
        read_case(case, roles)
    except Question as question:
        text, answers = question.text, question.answers
    except InputError:
        if before:
            raise
        return
    else:
        return
    assert text not in before
    assert answers or not before
    for answer in answers:
        check_answers(case, roles.answered(answer), (*before, text))


@pytest.mark.parametrize("case", list(HOSTILE.itertuples()), ids=lambda case: case.file)
def test_every_answer_to_every_question_leads_to_a_result(case: Any) -> None:
    check_answers(case, Roles())
