"""What each role does to a table, on tables of a few rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pairsig.io.errors import InputError, Question
from pairsig.readers.system_counts import SystemCounts
from pairsig.readers.table import Roles, read

LONG = "id,system,score\n1,A,1\n1,B,0\n2,A,0\n2,B,1\n3,A,1\n3,B,1\n"


@pytest.fixture
def parts(tmp_path: Path) -> Any:
    def read_text(text: str, *, several: bool = False, **roles: Any) -> tuple[SystemCounts, ...]:
        (tmp_path / "t.csv").write_text(text)
        return read(tmp_path / "t.csv", Roles(**roles), several=several)

    return read_text


# Labels.


@pytest.mark.parametrize("name", ["code", "CODE", " code "])
def test_declared_labels_keep_their_zeros(name: str, parts: Any) -> None:
    rows = "Code,system,score\n01,A,1\n01,B,0\n1,A,0\n1,B,1\n"
    first, second = parts(rows, item=name)
    assert (first.segments, second.segments) == (("01", "1"), ("01", "1"))
    first, _ = parts("id,system,score,Code\n1,A,1,07\n1,B,0,07\n2,A,0,7\n2,B,1,7\n", document=name)
    assert first.documents == ("07", "7")


def test_several_columns_identify_an_item_together(parts: Any) -> None:
    rows = "task,n,system,score\nx,1,A,1\nx,1,B,0\nx,2,A,0\nx,2,B,1\ny/z,1,A,1\ny/z,1,B,1\n"
    first, _ = parts(rows, item="task,n")
    assert first.segments == ("x/1", "x/2", r"y\/z/1")


def test_columns_with_a_slash_in_their_name_are_no_ratio(parts: Any) -> None:
    rows = "a/b,system,c/d\n1,A,1\n1,B,0\n2,A,0\n2,B,1\n"
    first, _ = parts(rows, item="a/b", score="c/d")
    assert (first.segments, list(first.counts)) == (("1", "2"), ["c/d"])


def test_items_of_a_column_per_system_have_their_ids(parts: Any) -> None:
    first, second = parts("id,a,b\nx,0,1\ny,1,1\n", systems="a,b")
    assert (first.system, second.system, first.segments, first.by_row) == ("a", "b", ("x", "y"), False)
    first, _ = parts("a,b\n0,1\n1,1\n", systems="a,b")
    assert (first.segments, first.by_row) == (("1", "2"), True)


def test_lines_are_those_of_each_system(parts: Any) -> None:
    first, second = parts(LONG)
    assert (list(first.lines), list(second.lines)) == ([2, 4, 6], [3, 5, 7])
    (only,) = parts("id,score\n1,1\n2,0\n", several=True)
    assert list(only.lines) == [2, 3]


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["x", "y", "z"], {"name": ("x", "y", "z")}), (["x", "y", "x"], {}), (["x", "y", ""], {}), (["x"], {})],
)
def test_other_ids_are_texts_that_differ_in_all_rows(names: list[str], expected: dict[str, Any], parts: Any) -> None:
    rows = "".join(f"{number},{name},1\n" for number, name in enumerate(names))
    (part,) = parts(f"id,name,score\n{rows}", several=True)
    assert part.other_ids == expected


def test_right_answers_are_the_contents_of_items_in_rows_of_systems(parts: Any) -> None:
    first, second = parts("id,system,g,p\n1,A,x,x\n1,B,x,y\n2,A,y,y\n2,B,y,y\n", gold="g", prediction="p")
    assert first.contents == second.contents == ("x", "y")
    first, _ = parts("id,g,a,b\n1,x,x,y\n2,y,y,y\n", gold="g", systems="a,b")
    assert first.contents == ()


def test_notes_say_what_is_not_used_and_warn_of_folds(parts: Any) -> None:
    first, _ = parts(LONG)
    assert not first.notes
    first, _ = parts("id,system,score,text\n1,A,1,x\n1,B,0,y\n2,A,0,z\n2,B,1,w\n")
    assert [note.partition(": ")[2] for note in first.notes] == ["not used: text"]
    folds = "id,system,Fold,score\n1,A,1,1\n1,B,1,0\n2,A,2,0\n2,B,2,1\n1,A,2,1\n1,B,2,1\n2,A,1,1\n2,B,1,0\n"
    first, *_ = parts(folds, run="Fold")
    assert any("warning: the runs are folds" in note for note in first.notes)
    first, *_ = parts(folds.replace("Fold", "run"))
    assert not any("folds" in note for note in first.notes)


# What is refused or asked.


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"item": "id", "score": "id"}, "found column id as item and score, expected one role"),
        ({"run": "id,score"}, "found id, score as run, expected one column"),
        ({"score": "scores"}, "found no column 'scores' for score, expected one of id, system, score"),
        ({"score": "score", "metric": "f1"}, "found --metric and --score, expected one of them"),
        ({"systems": "score,id", "system": "system"}, "found --systems and --system, expected one of them"),
        ({"prediction": "score"}, "found --prediction, expected it with --gold and without --systems"),
    ],
)
def test_roles_that_contradict_each_other_are_refused(roles: dict[str, Any], words: str, parts: Any) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        parts(LONG, **roles)


def test_columns_of_systems_are_for_one_file(parts: Any) -> None:
    with pytest.raises(InputError, match="found --systems and several files"):
        parts("id,a,b\n1,0,1\n2,1,1\n", systems="a,b", several=True)


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("wer", {}, (False, False)), ("WER", {}, (False, False)),
        ("grade", {}, (True, True)), ("f1", {}, (True, False)),
        ("grade", {"lower_is_better": True}, (False, False)), ("grade", {"lower_is_better": False}, (True, False)),
        ("loss", {"lower_is_better": True}, (False, False)),
    ],
)  # fmt: skip
def test_directions_are_known_declared_or_assumed(name: str, declared: Any, expected: Any, parts: Any) -> None:
    first, _ = parts(LONG.replace("score", name), **declared)
    (metric,) = first.metrics
    assert (metric.higher_is_better, metric.assumed) == expected


def test_a_known_direction_is_not_turned(parts: Any) -> None:
    for name, declared in (("wer", "higher"), ("f1", "lower")):
        opposite = {"higher": "lower", "lower": "higher"}[declared]
        with pytest.raises(InputError, match=f"found --{declared}-is-better, but {opposite} {name} is better"):
            parts(LONG.replace("score", name), lower_is_better=declared == "lower")


def test_words_count_as_1_if_they_are_named(parts: Any) -> None:
    rows = LONG.replace(",1\n", ",pass\n").replace(",0\n", ",fail\n")
    first, _ = parts(rows, true="pass", score="score")
    assert first.counts["score"].tolist() == [1, 0, 1]
    assert [note.partition(": ")[2] for note in first.notes] == ["pass count as 1, fail as 0"]
    with pytest.raises(InputError, match="found no yes among the scores, expected words for --true such as fail, pass"):
        parts(rows, true="yes", score="score")
    with pytest.raises(Question, match="found Pass beside pass") as caught:
        parts(rows.replace("1,A,pass", "1,A,Pass"), true="pass", score="score")
    assert caught.value.answers == ({"true": "pass,Pass"},)


def test_infinite_scores_are_asked_about(parts: Any) -> None:
    for word in ("inf", "-inf"):
        with pytest.raises(Question, match=f"line 5: found {word} in column score") as caught:
            parts(LONG.replace("2,B,1", f"2,B,{word}"), missing_value="9")
        assert caught.value.answers == ({"missing-value": f"9,{word}"},)


def test_accuracy_of_columns_of_0_and_1_only(parts: Any) -> None:
    first, _ = parts(LONG, metric="accuracy", score="score")
    (metric,) = first.metrics
    assert (metric.name, metric.assumed, first.counts["accuracy"].tolist()) == ("accuracy", False, [1, 0, 1])
    with pytest.raises(InputError, match=r"found 0\.5 in column 'score', expected 0 or 1 for --metric accuracy"):
        parts(LONG.replace("2,B,1", "2,B,0.5"), metric="accuracy", score="score")
    with pytest.raises(Question, match="found --metric grade, which is the name of a column") as caught:
        parts(LONG.replace("score", "grade"), metric="grade")
    assert caught.value.answers == ({"metric": None, "score": "grade"},)


def test_of_winners_the_first_two_systems_are_compared(parts: Any) -> None:
    with pytest.raises(Question, match="found one system") as caught:
        parts("id,first,second,third,winner\n1,A,B,x,0\n2,B,A,x,1\n3,A,C,x,1\n4,A,C,x,0\n")
    assert 'frame["first"]' in caught.value.text
    assert 'frame["second"]' in caught.value.text
    assert 'frame["third"]' not in caught.value.text


def test_missing_cells_of_a_frame_are_no_labels() -> None:
    frame = pd.DataFrame(
        {"id": [1, 2, 1, 2], "system": list("AABB"), "score": [1, 0, 0, 1], "document": ["x", None] * 2}
    )
    assert read(frame)[0].documents == ("x", "")


# Tables that do not say what each item is.


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ("a,b\n5,3\n2,10\n", "5 3 2 10"),
        ("a,b\n5,0\n2,10\n", "5 0 2 10"),
        ("a,b\n2,0\n0,1\n", "2 0 0 1"),
        ("x,a,b\nr,2,0\ns,0,1\n", "2 0 0 1"),
        ("a,b\n5,-1\n2,10\n", ""),
        ("a,b\n0.5,3\n2,10\n", ""),
        ("a,b\n1,0\n0,1\n", ""),
        ("id,x,a,b\n1,r,5,3\n2,s,2,10\n", ""),
        ("a,b\n5,3\n2,10\n3,3\n", ""),
    ],
)
def test_two_rows_of_two_numbers_may_be_the_table_of_two_systems(rows: str, counts: str, parts: Any) -> None:
    with pytest.raises(Question) as caught:
        parts(rows)
    commands = [line for line in caught.value.text.splitlines() if line.startswith("pairsig compare --counts")]
    assert commands == ([f"pairsig compare --counts {counts}"] if counts else [])


@pytest.mark.parametrize(
    ("labels", "columns", "refused"),
    [
        ("cat dog", "cat dog", True),
        ("cat dog", "predicted_cat predicted_dog", True),
        ("cat dog cow", "cat dog", True),
        ("cat dog cow", "cat other", False),
        ("cat dog cow pig", "cat dog", False),
    ],
)
def test_a_confusion_matrix_is_refused(labels: str, columns: str, refused: bool, parts: Any) -> None:
    names, classes = columns.split(), labels.split()
    rows = [
        f"{label},{','.join(f'{place + row}.5' for place in range(len(names)))}" for row, label in enumerate(classes)
    ]
    with pytest.raises(InputError) as caught:
        parts("\n".join([f"gold,{','.join(names)}", *rows, ""]))
    assert ("as in a confusion matrix" in str(caught.value)) == refused


@pytest.mark.parametrize(("classes", "left_out", "refused"), [("xy", 0, True), ("xyz", 0, True), ("xyz", 1, False)])
def test_a_row_for_each_two_labels_is_refused(classes: str, left_out: int, refused: bool, parts: Any) -> None:
    rows = [f"{gold},{predicted},{place}" for place, gold in enumerate(classes) for predicted in classes]
    with pytest.raises(InputError) as caught:
        parts("\n".join(["gold,predicted,n", *rows[left_out:], ""]))
    assert ("found one row for each two labels of gold, predicted" in str(caught.value)) == refused


@pytest.mark.parametrize(("n", "is_wide"), [(4, False), (5, True)])
def test_a_row_per_system_is_shown_how_to_become_a_row_per_item(n: int, is_wide: bool, parts: Any) -> None:
    names = ",".join(f"q{number}" for number in range(n))
    with pytest.raises(Question) as caught:
        parts(f"model,{names}\nA,{','.join('1' * n)}\nB,{','.join('0' * n)}\n")
    assert ('.set_index("model").T.rename_axis(' in caught.value.text) == is_wide


# Suspicious cells.


@pytest.mark.parametrize("n", [1, 4, 5])
def test_a_few_other_numbers_among_zeros_and_ones_are_asked_about(n: int, parts: Any) -> None:
    scores = [row % 2 for row in range(100)]
    scores[10 : 10 + n] = range(2, 2 + n)
    with pytest.raises(Question, match=r"line 12: found 2.*among zeros and ones in column score") as caught:
        parts("id,score\n" + "".join(f"{row},{score}\n" for row, score in enumerate(scores)), several=True)
    codes = ",".join(map(str, range(2, 2 + n)))
    assert caught.value.answers == (*([{"missing-value": codes}] if n < 5 else []), {"any-value": True})


def test_a_negative_number_that_comes_again_is_asked_about(parts: Any) -> None:
    for low in ("-1", "-1,0.5", "0.5"):
        codes = [*low.split(","), low.split(",")[0]]
        rows = "id,score\n" + "".join(f"{row},{score}\n" for row, score in enumerate([0.3, *codes, 0.7, 0.4]))
        if low == "0.5":
            assert len(parts(rows, several=True)) == 1
            continue
        with pytest.raises(Question, match="found -1 among numbers from 0 in column score") as caught:
            parts(rows, several=True)
        assert caught.value.answers == ({"missing-value": "-1"}, {"any-value": True})


# Right answers and predictions.


def test_answers_that_are_nearly_right_are_wrong_and_noted(parts: Any) -> None:
    first, second = parts("id,g,a,b\n1,x,X,x\n2,y, y,x\n3,z,z,\n", gold="g", systems="a,b")
    assert first.counts["accuracy"].tolist() == [0, 1, 1]
    assert second.unscored["accuracy"].tolist() == [False, False, True]
    (note,) = [note for note in first.notes if "capitals" in note]
    assert "1 cells of a differ from g only in capitals, and count as wrong" in note


def test_numbers_are_equal_to_numbers_and_not_to_texts(parts: Any) -> None:
    first, second = parts("id,g,a,b\n1,1,1.0,1\n2,2,3,x\n3,2,02,2\n", gold="g", systems="a,b")
    assert first.counts["accuracy"].tolist() == second.counts["accuracy"].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"gold": "g", "systems": "a,b"}, "found no cell of a that is equal to that of g, expected the same words"),
        ({"gold": "g", "systems": "b", "prediction": "a"}, "found --prediction, expected it with --gold and without"),
        ({"gold": "g", "score": "b", "systems": "a"}, "found --score and --systems, expected one of them"),
    ],
)
def test_answers_without_a_right_one_are_refused(roles: dict[str, Any], words: str, parts: Any) -> None:
    with pytest.raises(InputError, match=words):
        parts("id,g,a,b\n1,x,p,x\n2,y,q,y\n", **roles)


def test_no_word_for_1_in_one_of_several_files_is_no_fault(parts: Any) -> None:
    (part,) = parts("id,score\n1,no\n2,no\n", true="yes", score="score", several=True)
    assert part.counts["score"].tolist() == [0, 0]
