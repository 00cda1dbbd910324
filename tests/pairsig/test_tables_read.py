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

import numpy as np
import pandas as pd
import pytest

import pairsig
from pairsig import cli
from pairsig.io.errors import FLAGS, InputError, Question
from pairsig.readers.system_counts import SystemCounts
from pairsig.readers.table import Roles, read

DATA = Path(__file__).parents[1] / "data"
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


ROWS = pd.DataFrame({"id": [1, 1, 2, 2, 3, 3], "system": list("ABABAB"), "score": [1, 0, 0, 0, 1, 1]})


def frames() -> dict[str, Any]:
    """The same scores in data frames of several kinds."""
    import polars
    import pyarrow

    wide = ROWS.set_index(["id", "system"])
    return {
        "pandas": ROWS,
        "index": ROWS.set_index("id"),
        "several levels": wide,
        "an index without a name": ROWS.set_index(ROWS["id"].map(str).rename(None)).drop(columns="id"),
        "an index that is repeated": pd.concat([ROWS, ROWS.iloc[:0]]).set_axis([0, 0, 1, 1, 2, 2]).drop(columns="id"),
        "a shuffled index beside ids": ROWS.set_axis([5, 3, 1, 0, 2, 4]),
        "categories": ROWS.astype({"system": "category", "id": "category"}),
        "categories of numbers": ROWS.astype({"score": "category"}),
        "nullable": ROWS.astype({"score": "Int64", "id": "Int64", "system": "string"}),
        "nullable truth": ROWS.astype({"score": "boolean"}),
        "arrow types": ROWS.astype({"score": "int64[pyarrow]", "system": "string[pyarrow]"}),
        "objects": ROWS.astype(object),
        "floats as ids": ROWS.astype({"id": float}),
        "times as ids": ROWS.assign(id=pd.to_datetime(ROWS["id"], unit="D")),
        "levels of columns": ROWS.pivot_table("score", "id", "system").set_axis(
            pd.MultiIndex.from_product([["A", "B"], [7]], names=["model", "seed"]), axis=1
        ),
        "polars": polars.from_pandas(ROWS),
        "pyarrow": pyarrow.Table.from_pandas(ROWS),
    }


@pytest.mark.parametrize("kind", frames())
def test_data_frames_are_read_as_files_are(kind: str) -> None:
    parts = read(frames()[kind])
    assert {part.system: means(part) for part in parts} == {"A": [pytest.approx(2 / 3)], "B": [pytest.approx(1 / 3)]}
    assert all(len(part.segments) == 3 for part in parts)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_cells_of_data_frames_have_no_score(missing: Any) -> None:
    scores = pd.Series([1, missing, 0, 0, 1, 1], dtype=object)
    first, second = read(ROWS.assign(score=scores))
    assert first.unscored["score"].tolist() == [False, False, False]
    assert second.unscored["score"].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns called 'a'"),
        (ROWS.iloc[:0], "found no rows"),
        (ROWS.set_index(["id", "system"]).rename_axis(["id", None]), "a level without a name"),
        (ROWS.set_axis(pd.MultiIndex.from_product([["x"], ROWS.columns]), axis=1), "columns of 2 levels without names"),
        (ROWS.assign(score=[1 + 2j, 0, 0, 0, 1, 1]), "found '(1+2j)' among the scores"),
        (ROWS.assign(score=pd.to_datetime(ROWS["score"])), "no numbers without a role"),
        (ROWS.assign(score=[2**60, 0, 0, 0, 1, 1]), "above 2⁵³"),
        (ROWS.assign(score=[np.inf, 0, 0, 0, 1, 1]), "row 1: found inf in column score"),
        (ROWS.assign(score=[[1], [0], [0], [0], [1], [1]]), "among the scores"),
        (ROWS.assign(id=[1, 1, 2, None, 3, 3]), "row 4: found an empty cell in column id"),
        ({"id": [1]}, "found a builtins.dict"),
    ],
)
def test_data_frames_that_are_refused(frame: Any, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        read(frame)


def test_what_pandas_prints_is_converted_by_the_lines_that_the_error_shows(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ROWS.to_stata("scores.dta", write_index=False)
    Path("scores.md").write_text("| id | system | score |\n|---|---|---|\n| 1 | A | 1 |\n| 1 | B | 0 |\n")
    for name in ("scores.dta", "scores.md"):
        with pytest.raises(Question) as caught:
            read(name)
        exec("\n".join(line.strip() for line in caught.value.text.splitlines()[1:]))
        assert [part.system for part in read("scores-table.csv")] == ["A", "B"]


def test_an_item_of_two_columns_is_another_one_if_either_differs() -> None:
    frame = pd.DataFrame({"a": ["x/y", "x"], "b": ["z", "y/z"], "score": [1, 0]})
    (part,) = read(frame, Roles(item=["a", "b"], score="score"))
    assert len(set(part.segments)) == 2


def test_winners_are_converted_as_the_question_shows(tmp_path, monkeypatch, capsys):
    """Of three questions, gpt wins the first and the third."""
    monkeypatch.chdir(tmp_path)
    Path("w.csv").write_text("id,model_a,model_b,winner\n1,gpt,llama,0\n2,gpt,llama,1\n3,gpt,llama,0\n")
    assert cli.main(["compare", "w.csv"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "found one system" in lines[0]
    exec("\n".join(line.strip() for line in lines if line.startswith("    ")), {})
    data = pairsig.read("w-table.csv", system="system", score="won")
    assert dict(zip(data.systems, data.counts.mean(axis=1)[:, 0], strict=True)) == {"gpt": 2 / 3, "llama": 1 / 3}


def test_one_system_lists_the_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("id,who,score\n1,A,1\n2,A,0\n3,B,1\n4,B,1\n")
    assert cli.main(["compare", "t.csv", "--item", "id"]) == 2
    message = capsys.readouterr().err
    assert "found one system, expected at least two" in message
    assert "who: text (A, B)" in message
