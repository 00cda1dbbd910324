"""Tables are read by declared roles: `data/tables.tsv` says what becomes of each file in `data/tables`.

The expected means are those of the few scores in each file, computed by hand. `refused` is followed by a part of the
message. The kinds are `clean`; `hostile`, which must not be read without options; and `answer`, a hostile file with
options. With `several`, the file is one of several, so that one system is enough.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

import pairsig
from pairsig.io.errors import FLAGS, InputError, Question
from pairsig.readers import table
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
        name, flag = ("lower_is_better", False) if option == "higher-is-better" else (option.replace("-", "_"), True)
        assert name in _ROLES, option
        given[name] = flag if option in FLAGS else words.pop(0)
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


def test_every_file_is_a_case_and_no_hostile_one_is_read_without_options() -> None:
    assert {path.name for path in (DATA / "tables").iterdir()} == set(CASES["file"])
    assert HOSTILE["expected"].str.startswith("refused: ").all()
    for case in HOSTILE[HOSTILE["options"] != ""].itertuples():
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


def polars_frame() -> Any:
    import polars

    return polars.from_pandas(ROWS)


def arrow_table() -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(ROWS)


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: ROWS,
    "index": lambda: ROWS.set_index("id"),
    "several levels": lambda: ROWS.set_index(["id", "system"]),
    "an index without a name": lambda: ROWS.set_index(ROWS["id"].map(str).rename(None)).drop(columns="id"),
    "an index that is repeated": lambda: ROWS.set_axis([0, 0, 1, 1, 2, 2]).drop(columns="id"),
    "a shuffled index beside ids": lambda: ROWS.set_axis([5, 3, 1, 0, 2, 4]),
    "categories": lambda: ROWS.astype({"system": "category", "id": "category"}),
    "categories of numbers": lambda: ROWS.astype({"score": "category"}),
    "nullable": lambda: ROWS.astype({"score": "Int64", "id": "Int64", "system": "string"}),
    "nullable truth": lambda: ROWS.astype({"score": "boolean"}),
    "arrow types": lambda: ROWS.astype({"score": "int64[pyarrow]", "system": "string[pyarrow]"}),
    "objects": lambda: ROWS.astype(object),
    "floats as ids": lambda: ROWS.astype({"id": float}),
    "times as ids": lambda: ROWS.assign(id=pd.to_datetime(ROWS["id"], unit="D")),
    "levels of columns": lambda: ROWS.pivot_table("score", "id", "system").set_axis(
        pd.MultiIndex.from_product([["A", "B"], [7]], names=["model", "seed"]), axis=1
    ),
    "polars": polars_frame,
    "pyarrow": arrow_table,
}
"""The same scores in data frames of several kinds, made when they are needed: polars starts threads."""


@pytest.mark.parametrize("kind", FRAMES)
def test_data_frames_are_read_as_files_are(kind: str) -> None:
    parts = read(FRAMES[kind]())
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


def test_winners_are_converted_as_the_question_shows(tmp_path, monkeypatch, refusal):
    """Of three questions, gpt wins the first and the third."""
    monkeypatch.chdir(tmp_path)
    Path("w.csv").write_text("id,model_a,model_b,winner\n1,gpt,llama,0\n2,gpt,llama,1\n3,gpt,llama,0\n")
    lines = refusal("compare", "w.csv").splitlines()
    assert "found one system" in lines[0]
    exec("\n".join(line.strip() for line in lines if line.startswith("    ")), {})
    data = pairsig.read("w-table.csv", system="system", score="won")
    assert dict(zip(data.systems, data.counts.mean(axis=1)[:, 0], strict=True)) == {"gpt": 2 / 3, "llama": 1 / 3}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 4, 7], 2),  # the sum
        ([1, 2, 6, 3], 2),  # the mean
        ([0, 1, 1, 200 / 3], 2),  # the mean in percent
        ([0.1, 0.15, 0.32, 0.2], 2),  # the mean, 0.19, with one digit
        ([0.1, 0.2, 0.27, 0.2], 0),  # which others have, too, as with grades of half points
        ([0, 1, 0.5, 0.5], 2),  # unless it is the mean with all digits
        ([0, 1, 1, 66.7], 2),  # in percent, with one digit
        ([0, 0, 1, 0.333333], 2),  # with six digits
        ([0, 0, 1, 0.3333333], 0),  # with seven
        ([0, 1, 1, 0.68], 0),
        ([0, 1, 1, 1], 0),  # 0.67 with no digit, which says nothing
        ([0, 0, 1, 1], 1),  # the sum of a single number
        ([3, 3, 3, 3], 1),  # the mean of equal ones
        ([0, 0, 0, 0], 1),
        ([1, np.nan, 2, 3], 2),
        ([1, 2, np.nan], 0),
        ([np.nan, 5], 0),
    ],
)
def test_what_a_last_number_may_be(values, expected):
    assert table._is_total(np.array(values, dtype=float)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1] * 19 + [2], [2]),
        ([0, 1] * 9 + [1, 2], [2]),  # 5 % of 20
        ([0, 1] * 9 + [2], []),  # more than 5 % of 19
        ([0, 1] * 19 + [3, -1], [-1, 3]),
        ([0, 1] * 20, []),
        ([5, 6, -1, -1], [-1]),
        ([5, 6, -1, 7], []),  # once
        ([5, -1, -9, -9], [-9, -1]),
        ([5, -1, -9, -8, -9], []),  # three
        ([-5, -1, -1], []),  # all are negative
        ([5, 6, 0], []),
        ([5, 6, np.nan, -1, -1], [-1]),
        ([0, 1, 1, 0, 99], [99]),
        ([0, 1, 1, 0, -100], [-100]),
        ([0, 1, 1, 9, 9], [9]),
        ([0, 1, 1, 9, 9, 9], []),  # half of them
        ([0, 1, 1, 99], []),  # four
        ([0, 0, 0, 0, 99], []),  # no ones: perhaps edits
        ([0, 1, 1, 0, 8], []),
        ([0, 1, 1, 0, 9, 10], []),  # two numbers
        ([np.nan], []),
        ([0, -1, -1], [-1]),
    ],
)
def test_which_numbers_may_be_codes(values, expected):
    for kind in ("f8", "i8") if not np.isnan(values).any() else ("f8",):
        assert table._odd(np.array(values, dtype=kind)) == expected


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1.0, 2.0], "f8", "int64"),
        ([1.5, 2.0], "f8", "float64"),
        ([1.0, np.nan], "f8", "int64"),
        ([2.0**53, 1.0], "f8", "int64"),
        ([2.0**53 + 2, 1.0], "f8", "float64"),
        ([-(2.0**53) - 2, 1.0], "f8", "float64"),
        ([1, 2], "i4", "int32"),
        ([1, 2], "i2", "int64"),
        ([1, 2], "u1", "int64"),
    ],
)
def test_counts_are_whole_numbers_where_all_scores_are(values, kind, expected):
    numbers = np.array(values, dtype=kind)
    counts = table._whole(numbers, np.isnan(numbers))
    assert counts.dtype == expected
    assert counts.tolist() == [0 if np.isnan(value) else value for value in values]


@pytest.mark.parametrize(
    ("value", "fits"), [(2**53, True), (2**53 + 1, False), (-(2**53), True), (-(2**53) - 1, False)]
)
def test_whole_numbers_that_no_float_holds_are_refused(value, fits):
    frame = pd.DataFrame({"id": [1, 2, 3], "A": [0, value, 5], "B": [1, 2, 3]})
    if fits:
        assert read(frame, Roles(systems="A,B", any_value=True))[0].counts["score"].tolist() == [0, value, 5]
    else:
        with pytest.raises(InputError, match="found a number above 2⁵³ in column A"):
            read(frame, Roles(systems="A,B", any_value=True))


def test_a_question_lists_at_most_thirty_columns_and_a_few_codes():
    many = pd.DataFrame({f"c{k}": [k, k + 1, 0] for k in range(33)}).assign(id=[1, 2, 3])
    with pytest.raises(Question) as error:
        read(many)
    lines = error.value.text.split("\n")
    assert (lines[-1], len(lines)) == ("  and 3 more", 32)
    thirty = many.drop(columns=["c30", "c31", "c32"])
    with pytest.raises(Question) as error:
        read(thirty)
    assert error.value.text.split("\n")[-1].startswith("  c29: numbers")


def test_several_rows_of_an_item_are_counted_where_most_are():
    """Item 2 has three rows, item 1 two: the question is about item 2, with the lines of its rows."""
    frame = pd.DataFrame({"id": [1, 1, 2, 2, 2], "system": ["A"] * 5, "score": [1, 2, 3, 4, 5], "try": [1, 2, 1, 2, 3]})
    with pytest.raises(Question, match=r"found 3 rows for id 2, system A \(rows 3, 4, 5\), expected one"):
        read(frame, Roles(score="score"))


def test_the_mean_of_a_table_has_an_assumed_direction():
    frame = pd.DataFrame({"id": [1, 2, 1, 2], "system": list("AABB"), "value": [1, 2, 3, 4], "matched": [1, 1, 1, 0],
                          "predicted": [1, 2, 1, 2], "gold": [2, 2, 2, 2]})  # fmt: skip
    assert read(frame, Roles(metric="mean"))[0].metrics[0].assumed
    assert not read(frame, Roles(metric="f1"))[0].metrics[0].assumed


@pytest.fixture
def same_questions(tmp_path: Path) -> Path:
    """Two tables with the same questions in another order, of which the first column numbers the rows."""
    questions, right = ["Why?", "Who?", "When?", "How?"], {"a": [1, 1, 0, 1], "b": [1, 0, 0, 1]}
    for system, order in (("a", [0, 1, 2, 3]), ("b", [2, 0, 3, 1])):
        rows = pd.DataFrame({"question": questions, "right": right[system]}).loc[order].reset_index(drop=True)
        rows.assign(system=system).to_csv(tmp_path / f"{system}.csv")
    return tmp_path


def test_row_numbers_do_not_pair_different_questions(same_questions: Path) -> None:
    """By number of row, a would be alone right on two of the four and b on one; by question, a is on one."""
    paths = [same_questions / "a.csv", same_questions / "b.csv"]
    with pytest.raises(Question, match=r"b\.csv, line 2: item 0 has another question than in .*a\.csv") as caught:
        pairsig.read(paths)
    assert caught.value.answers == ({"item": "question"},)
    a, b = pairsig.read(paths, item="question").counts[:, :, 0]
    assert (np.sum(a > b), np.sum(a < b)) == (1, 0)


def test_row_numbers_within_a_table_do_not_pair_different_questions(same_questions: Path) -> None:
    frame = pd.concat([pd.read_csv(same_questions / f"{system}.csv", index_col=0) for system in "ab"])
    frame.rename_axis("id").to_csv(same_questions / "both.csv")
    with pytest.raises(Question, match="item 0 has another question"):
        pairsig.read(same_questions / "both.csv")
    assert len(pairsig.read(same_questions / "both.csv", item="question").segments) == 4


def test_texts_that_are_no_questions_do_not_matter(same_questions: Path) -> None:
    """Outputs differ between systems, and neither has all of the other's."""
    for system in "ab":
        pd.DataFrame({"id": [1, 2, 3], "output": [f"{system}1", "same", f"{system}2"], "right": [1, 0, 1]}).to_csv(
            same_questions / f"{system}.csv", index=False
        )
    assert len(pairsig.read([same_questions / "a.csv", same_questions / "b.csv"]).segments) == 3


def test_a_question_without_a_remark_has_only_its_sentence_and_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b\n1,0,1\n2,1,1\n")
    with pytest.raises(Question) as caught:
        read(tmp_path / "t.csv")
    assert caught.value.text == (
        f"{tmp_path}/t.csv: found 2 columns of numbers (a, b) without a role, expected one column of scores\n"
        "  a: numbers (0, 1)\n  b: numbers (1)"
    )


def test_counts_of_a_metric_under_another_name(tmp_path: Path) -> None:
    """Its value, if the table has it, is a score."""
    (tmp_path / "t.csv").write_text("id,system,match,predicted,gold,f1\n1,A,1,2,2,50\n1,B,2,2,2,100\n")
    with pytest.raises(Question, match="no column 'matched', expected the counts of f1 in the columns") as caught:
        read(tmp_path / "t.csv", Roles(metric="f1"))
    assert caught.value.answers == ({"score": "f1", "metric": None},)


LONG = pd.DataFrame(
    [
        {"id": item, "model": model, "metric": metric, "value": value}
        for model, rows in {"A": [(1, "bleu", 5), (1, "chrf", 6), (2, "bleu", 3), (2, "chrf", 2)],
                            "B": [(1, "bleu", 4), (1, "chrf", 7), (2, "bleu", 1), (2, "chrf", 9)]}.items()
        for item, metric, value in rows
    ]
)  # fmt: skip


def test_counts_under_other_names_are_renamed_as_the_question_shows(tmp_path: Path) -> None:
    """F1 of the sums: 2 · 2 / (5 + 4) and 2 · 2 / (4 + 4)."""
    rows = ["1,A,1,2,2", "1,B,2,2,2", "2,A,1,3,2", "2,B,0,2,2"]
    (tmp_path / "t.csv").write_text("\n".join(["id,system,match,predict,gold", *rows]))
    convert_as_shown(tmp_path / "t.csv", Roles(metric="f1"))
    assert [means(part) for part in read(tmp_path / "t-table.csv", Roles(metric="f1"))] == [[400 / 9], [50]]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ([[0, 1, 1, 1, 3, 0, 1]], [4]),  # more than twice any other
        ([[0, 1, 1, 1, 0.75, 0, 1]], [4]),  # the only fraction
        ([[2, 1, 3, 6, 2, 1]], []),  # no more than twice the others
        ([[2, 1, 3, 7, 2, 1]], []),
        ([[1, 2, 3, 7, 2, 1], [2, 2, 2, 6, 1, 1]], []),  # one system only
        ([[1, 2, 3, 2, 4], [3, 3, 4, 10 / 3, 1]], [3]),  # the only fraction in one
        ([[0.5, 0.7, 0.6, 0.6], [0.1, 0.3, 0.4, 0.267]], []),  # 0.6 twice
        ([[0.5, 0.7, 0.65, 0.617, 0.6], [0.1, 0.3, 0.4, 0.267, 0.2]], [3]),
        ([[0, 1, 0, 1, 50], [1, 1, 0, 1, 75]], [4]),  # percent
        ([[1, np.nan, 3, 2, 9, 5], [1, 2, 2, 2.5, 9, 5]], []),
        ([[1, np.nan, 3, 2, 9, 5], [1, 2, 1, 1.333, 9, 5]], [3]),
    ],
)
def test_which_rows_may_be_subtotals(columns: list[list[float]], rows: list[int]) -> None:
    assert table._subtotals([np.array(column, dtype=float) for column in columns]) == rows


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_several_metrics_per_item_are_converted_as_the_question_shows(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    if suffix == "jsonl":
        LONG.to_json(path, orient="records", lines=True)
    else:
        LONG.to_csv(path, sep="\t" if suffix == "tsv" else ",", index=False)
    convert_as_shown(path)
    a, b = read(tmp_path / "t-table.csv", Roles(score="bleu,chrf"))
    assert (means(a), means(b)) == ([4, 4], [2.5, 8])


def convert_as_shown(path: Path, roles: Roles | None = None) -> None:
    """Run the lines of pandas in the message about a file."""
    with pytest.raises(Question) as caught:
        read(path, roles)
    lines = [line.strip() for line in caught.value.text.split("\n") if line.startswith("    ")]
    assert lines[0] == "import pandas as pd"
    exec("\n".join(lines))


@pytest.mark.parametrize(
    ("cells", "numbers"), [(["1,200", "900", "1,000"], [1200, 900, 1000]), (["0,5", "1,250", "2"], [0.5, 1.25, 2])]
)
def test_commas_in_numbers_are_converted_as_the_question_shows(
    cells: list[str], numbers: list[float], tmp_path: Path
) -> None:
    """They separate thousands if all have three digits after them, and no zero before them."""
    (tmp_path / "t.csv").write_text("id,a,b\n" + "".join(f'{row},"{cell}",1\n' for row, cell in enumerate(cells)))
    convert_as_shown(tmp_path / "t.csv", Roles(systems="a,b"))
    assert pd.read_csv(tmp_path / "t-table.csv")["a"].tolist() == numbers


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """Line ends in quotation marks count, and so do blank lines of JSON Lines and the names in a workbook."""
    rows = [{"id": "q\n1", "a": 0, "b": 1}, {"id": "q2", "a": "x", "b": 1}]
    (tmp_path / "t.csv").write_text('id,a,b\n"q\n1",0,1\nq2,x,1\n')
    (tmp_path / "t.jsonl").write_text("\n  \n".join(map(json.dumps, rows)))
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", index=False)
    for name, where in (("t.csv", "line 4"), ("t.jsonl", "line 3"), ("t.xlsx", "row 3")):
        with pytest.raises(Question, match=f"{name}, {where}: found 'x' among the scores"):
            read(tmp_path / name, Roles(systems="a,b"))


def test_empty_rows_at_the_end_of_a_workbook_are_no_items(tmp_path: Path) -> None:
    """A format is enough for a row to be in the file."""
    book = openpyxl.Workbook()
    for row in (["id", "a", "b"], [1, 0, 1], [2, 1, 1]):
        book.active.append(row)
    for row in (4, 5):
        book.active.cell(row=row, column=2).number_format = "0.00"
    book.save(tmp_path / "t.xlsx")
    assert [len(part.segments) for part in read(tmp_path / "t.xlsx", Roles(systems="a,b"))] == [2, 2]


def crossed(**levels: list[Any]) -> pd.DataFrame:
    """One row for each combination."""
    return pd.DataFrame(product(*levels.values()), columns=list(levels))


def of_classes(n: int) -> pd.DataFrame:
    """Two systems, of whose answers every third is wrong."""
    rows = crossed(id=list(range(2 * n)), system=["A", "B"])
    right = [f"c{item % n}" for item in rows["id"]]
    return rows.assign(gold=right, p=[label if row % 3 else right[row - 2] for row, label in enumerate(right)])


RIGHT = [1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1]
TWICE = crossed(system=["A", "B"], id=[1, 2, 3], number=[0, 1]).drop(columns="number")
RATES = crossed(system=["A", "B"], id=[1, 2, 3])


def labelled(*columns: str) -> pd.DataFrame:
    """Texts of one-letter labels as the columns gold, p and q."""
    return pd.DataFrame({name: list(column) for name, column in zip(("gold", "p", "q"), columns, strict=True)})


OFFERED: dict[str, tuple[pd.DataFrame, list[dict[str, Any]]]] = {
    "samples of an item": (
        crossed(system=["A", "B"], task_id=[1, 2, 3], completion=[0, 1]).assign(passed=RIGHT),
        [{"run": "completion"}, {"item": "task_id,completion"}],
    ),
    "samples of several epochs": (
        crossed(system=["A", "B"], id=[1, 2, 3], round=[0, 1], sample=[0, 1]).assign(passed=[*RIGHT, *RIGHT[::-1]]),
        [
            {"run": "round", "item": "id,sample"},
            {"run": "sample", "item": "id,round"},
            {"item": "id,round,sample"},
        ],
    ),
    "a ratio beside its counts": (  # the words are the same for both systems
        crossed(system=["A", "B"], id=[1, 2, 3]).assign(
            edits=[1, 2, 3, 0, 5, 2], words=[4, 8, 6] * 2, wer=[0.25, 0.25, 0.5, 0, 0.625, 0.333]
        ),
        [{"score": "wer"}, {"score": "edits/words", "lower-is-better": True}, {"score": "edits"}],
    ),
    "a ratio to the number 1": (  # which says nothing
        crossed(system=["A", "B"], id=[1, 2, 3]).assign(right=RIGHT[2:8], tried=[1] * 6, rate=RIGHT[2:8]),
        [{"score": "right"}, {"score": "rate"}],
    ),
    "outcomes and other numbers": (
        pd.DataFrame({"id": [1, 2, 3], "a": [0, 1, 1], "b": [1, 1, 0], "c": [0.5, 0.2, 0.3], "d": [0.1, 0.2, 0.6]}),
        [{"systems": "a,b"}, {"systems": "c,d"}],
    ),
    "answers of two systems": (
        pd.DataFrame({"id": range(6), "label": [*"xyxyxz"], "p": [*"xyxxxz"], "q": [*"xxxyxx"], "note": [*"abcdef"]}),
        [{"gold": "label", "systems": "p,q"}, {"gold": "p", "systems": "label,q"}, {"gold": "q", "systems": "label,p"}],
    ),
    "answers in one column": (
        crossed(system=["A", "B"], id=[1, 2, 3]).assign(label=[*"xyxxyx"], answer=[*"xxxyyx"], text=[*"qwerty"]),
        [{"gold": "label", "prediction": "answer"}],
    ),
    "counts of a metric": (  # gold is the same for both systems
        crossed(system=["A", "B"], id=[1, 2]).assign(matched=[1, 2, 2, 1], predicted=[2, 3, 2, 4], gold=[3, 3, 3, 3]),
        [{"metric": "f1"}, {"score": "matched"}, {"score": "predicted"}],
    ),
    "words of several systems": (
        pd.DataFrame({"id": [1, 2, 3], "a": ["pass", "fail", "pass"], "b": ["fail", "fail", "pass"]}),
        [{"systems": "a,b", "true": "pass"}, {"systems": "a,b", "true": "fail"}],
    ),
    "words in one column": (
        crossed(system=["A", "B"], id=[1, 2]).assign(verdict=["ok", "bad", "bad", "ok"]),
        [{"score": "verdict", "true": "ok"}, {"score": "verdict", "true": "bad"}],
    ),
    "several prompts": (
        crossed(system=["A", "B"], prompt=["p", "q"], id=[1, 2, 3]).assign(score=RIGHT),
        [{"run": "prompt"}, {"item": "id,prompt"}],
    ),
    "items without a standard name": (  # with n as the item, s is the only number that is left
        crossed(model=["A", "B"], q=["a", "b", "c"]).assign(n=[1, 2, 3] * 2, s=[0.1, 0.5, 0.3, 0.7, 0.6, 0.4]),
        [{"item": "q", "score": "s"}, {"item": "n"}],
    ),
    "runs with numbers of their own": (  # half of the combinations of system, item and run have a row
        TWICE.assign(round=[0, 1] * 3 + [2, 3] * 3, passed=RIGHT), [{"run": "round"}],
    ),
    "numbers that are no runs": (  # fewer than half of the combinations have a row
        TWICE.assign(length=[0, 1, 2, 3, 4, 0] * 2, passed=RIGHT), [],
    ),
    "many settings beside a run": (
        crossed(system=["A", "B"], task_id=[1, 2, 3], **{f"c{i}": ["x"] for i in range(12)}, attempt=[0, 1]).assign(
            passed=RIGHT
        ),
        [{"run": "attempt"}, {"item": "task_id,attempt"}],
    ),
    "a ratio in capital letters": (
        RATES.assign(edits=[1, 2, 3, 0, 5, 2], words=[4, 8, 6] * 2, WER=[0.25, 0.25, 0.5, 0, 0.625, 0.333]),
        [{"score": "WER"}, {"score": "edits/words", "lower-is-better": True}, {"score": "edits"}],
    ),
    "a ratio in percent": (
        RATES.assign(hits=[1, 2, 6, 0, 5, 2], words=[4, 8, 6] * 2, rate=[25, 25, 100, 0, 62.5, 33.3]),
        [{"score": "rate"}, {"score": "hits/words"}, {"score": "hits"}],
    ),
    "a ratio to small numbers": (
        RATES.assign(hits=[1, 2, 1, 0, 1, 2], tries=[1, 2, 2] * 2, rate=[1, 1, 0.5, 0, 0.5, 1]),
        [{"score": "rate"}, {"score": "hits/tries"}, {"score": "hits"}, {"gold": "hits", "prediction": "tries"}],
    ),
    "a ratio that is not defined for an item": (
        RATES.assign(edits=[0, 2, 3, 0, 5, 2], words=[0, 8, 6] * 2, rate=[None, 0.25, 0.5, None, 0.625, 0.333]),
        [{"score": "rate"}, {"score": "edits/words"}, {"score": "edits"}],
    ),
    "numbers that are nearly a ratio": (
        RATES.assign(edits=[1, 2, 3, 0, 5, 2], words=[4, 8, 6] * 2, rate=[0.26, 0.25, 0.5, 0, 0.625, 0.333]),
        [{"score": "edits"}, {"score": "rate"}],
    ),
    "a ratio of fractions": (
        RATES.assign(used=[1, 2.5, 3, 0, 5, 2], all=[4, 8.5, 6] * 2, rate=[0.25, 0.294, 0.5, 0, 0.588, 0.333]),
        [{"score": "used"}, {"score": "rate"}],
    ),
    "outcomes and grades": (
        pd.DataFrame({"id": [1, 2, 3], "a": [0, 1, 1], "b": [1, 0, 0], "c": [0, 1, 2], "d": [2, 1, 0]}),
        [{"systems": "a,b"}, {"systems": "c,d"}, {"gold": "d", "systems": "a,b,c"}],
    ),
    "answers of which half are in both columns": (
        labelled("abcabc", "dbcdbc", "abbabc").assign(id=range(6)),
        [{"gold": "gold", "systems": "p,q"}, {"gold": "p", "systems": "gold,q"}, {"gold": "q", "systems": "gold,p"}],
    ),
    "answers of which a third are in both columns": (
        labelled("aabb", "bbcc", "ccaa").assign(id=range(4)), [],
    ),
    "answers with blanks around them": (
        pd.DataFrame({"id": range(4), "gold": ["x", "y"] * 2, "p": [" x", "y "] * 2, "q": ["y", " x", "x ", "y"]}),
        [{"gold": "gold", "systems": "p,q"}, {"gold": "p", "systems": "gold,q"}],
    ),
    "answers of twenty classes": (of_classes(20), [{"gold": "gold", "prediction": "p"}]),
    "answers of more classes": (of_classes(21), []),
    "four words": (
        pd.DataFrame({"id": range(4), "a": list("wxyz"), "b": list("zyxw")}),
        [{"systems": "a,b", "true": word} for word in "wxyz"],
    ),
}  # fmt: skip

ONE_FILE = pd.DataFrame({"id": [1, 1, 2, 2], "attempt": [0, 1, 0, 1], "passed": [1, 0, 1, 1]})
OFFERED_WITH: dict[str, tuple[pd.DataFrame, dict[str, Any], list[dict[str, Any]]]] = {
    "a file of one system with runs": (
        ONE_FILE, {"several": True}, [{"run": "attempt"}, {"item": "id,attempt"}],
    ),
    "a column per system, and runs": (
        ONE_FILE.assign(other=[0, 1, 1, 0]), {"systems": "passed,other"}, [{"run": "attempt"}, {"item": "id,attempt"}],
    ),
    "texts that number the rows": (
        pd.DataFrame({"q": ["x", "y"], "score": [1, 0]}), {"several": True}, [{"item": "q"}],
    ),
    "fractions number no rows": (
        pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [1, 0, 1]}), {"several": True}, [{"score": "a"}, {"score": "b"}],
    ),
    "whole numbers do": (
        pd.DataFrame({"a": [10, 20, 30], "b": [1, 0, 1]}), {"several": True}, [{"item": "a"}],
    ),
    "right answers without predictions": (
        labelled("xyxy", "xxyy", "xxyx").assign(id=range(4)), {"gold": "p"}, [{"gold": "p", "systems": "gold,q"}],
    ),
    "a ratio in three rows": (
        pd.DataFrame({"id": [1, 2, 3], "hits": [1, 2, 6], "words": [4, 8, 9], "rate": [0.25, 0.25, 0.667]}),
        {"several": True},
        [{"score": "rate"}, {"score": "hits/words"}, {"score": "hits"}, {"score": "words"}],
    ),
    "a ratio in two rows": (
        pd.DataFrame({"id": [1, 2], "hits": [1, 3], "words": [4, 8], "rate": [0.25, 0.375]}),
        {"several": True},
        [{"score": "hits"}, {"score": "words"}, {"score": "rate"}],
    ),
    "eight words for right and wrong": (
        crossed(system=["A", "B"], id=list(range(8))).assign(verdict=[*"abcdefgh", *"hgfedcba"]),
        {"score": "verdict"},
        [{"true": word} for word in "abcdefgh"],
    ),
    "nine words for right and wrong": (
        crossed(system=["A", "B"], id=list(range(9))).assign(verdict=[*"abcdefghi", *"ihgfedcba"]),
        {"score": "verdict"},
        [],
    ),
    "four words among numbers": (
        crossed(system=["A", "B"], id=list(range(8))).assign(grade=[1, 2, 3, 4, *"wxyz", 5, 6, 7, 8, *"zyxw"]),
        {"score": "grade"},
        [{"missing-value": "w,x,y,z"}],
    ),
    "numbers with units among words": (
        RATES.assign(time=["1", "2 kg", "x", "3", "4", "5"]), {"score": "time"}, [],
    ),
}  # fmt: skip


QUESTIONS = {case: (frame, {}, expected) for case, (frame, expected) in OFFERED.items()} | OFFERED_WITH


@pytest.mark.parametrize("case", QUESTIONS)
def test_what_is_offered_is_what_the_columns_may_mean(case: str, tmp_path: Path) -> None:
    frame, declared, expected = QUESTIONS[case]
    roles = dict(declared)
    several = roles.pop("several", False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(Question) as caught:
        read(tmp_path / "t.csv", Roles(**roles), several=several)
    assert list(caught.value.answers) == expected


@pytest.mark.parametrize("frame", [{"q": ["x"], "score": [1]}, {"q": ["x", None], "score": [1, 0]}])
def test_texts_of_one_row_or_with_gaps_identify_no_items(frame: dict[str, list[Any]]) -> None:
    (part,) = read(pd.DataFrame(frame), several=True)
    assert part.by_row
