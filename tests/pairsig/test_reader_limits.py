"""Where readers decide: the smallest inputs on both sides of each decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pairsig.io.errors import InputError, Question
from pairsig.readers import Beginning, markup
from pairsig.readers.logs import items
from pairsig.readers.outputs import alignment, conllu, iob, trees


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def written(text: str, name: str = "file.txt") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return written


# Plain text or not.

PLAIN = [f"line {letter} of a plain text" for letter in "abcdefghij"]
OBJECT = '{"a": 1}'
IDS = [f"utt-{number} hello" for number in range(20)]


def check(lines: list[str], reference: list[str] = PLAIN, path: str = "a.txt") -> None:
    markup.check_texts(path, lines, reference)


@pytest.mark.parametrize(
    ("lines", "reference", "words"),
    [
        ([OBJECT] * 9 + PLAIN[:1], PLAIN, "JSON in 9 of 10 lines"),
        ([f" {OBJECT} ", " ", " "], PLAIN, "JSON in 1 of 1 lines"),
        ([" q1 Q0 d1 1 0.5 run "] * 2, PLAIN, "a TREC run in 2 of 2"),
        (["id\ttext", "1\ta b"], PLAIN, "cells of a table in 2 of 2"),
        (["id\ttext\tnote", *["1\ta b\tc"] * 9], PLAIN, "cells of a table in 10 of 10"),
        (["yes", "no"], ["yes", " ", "yes"], "one token in each line"),
        (IDS[: markup._FEW], IDS, "utterance ids"),
    ],
)
def test_texts_that_are_none_are_asked_about(lines: list[str], reference: list[str], words: str) -> None:
    with pytest.raises(Question, match=words):
        check(lines, reference)


@pytest.mark.parametrize(
    ("lines", "reference"),
    [
        ([OBJECT, *PLAIN[1:]], PLAIN),
        ([OBJECT] * 8 + PLAIN[:2], PLAIN),
        (["{not json"] * 3, PLAIN),
        (['"a quoted line"', "12 34", "[1, 2"], PLAIN),
        (["id\ttext\tnote", *["1\ta b"] * 9], PLAIN),
        (["yes"], ["yes"]),
        (["yes", "no no"], ["yes", "no"]),
        (["yes", "no"], ["yes", "no no"]),
        (IDS[: markup._FEW - 1], IDS),
        ([IDS[0]] * 20, IDS),
        ([" ", ""], PLAIN),
    ],
)
def test_plain_texts_are_not_asked_about(lines: list[str], reference: list[str]) -> None:
    check(lines, reference)


def test_the_fields_of_the_first_object_are_offered() -> None:
    with pytest.raises(Question) as caught:
        check(['{"n": 1, "text": "a"}', '{"other": "b"}'], path="a.jsonl")
    assert caught.value.answers == ({"column": "text"}, {"text-as-is": True})


# IOB tags.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EU NNP B-ORG\nx NN O\n", True),
        ("a B-X\nb I-X\n", True),
        ("a b c B-X\n", True),
        ("a O\nb O\n", False),
        ("O\nB-X\n", False),
        ("a B-X\nb NN\n", False),
        ("", False),
    ],
)
def test_iob_tags_are_recognized_in_the_last_of_several_columns(text: str, expected: bool, file: Any) -> None:
    assert iob._recognizes(Beginning(file(text))) is expected


def test_columns_of_tags_are_counted_from_either_end(file: Any) -> None:
    path = file("w O B-X n\nw I-Y O n\n\n")
    assert iob.sentences(path, (2, 3)) == iob.sentences(path, (-3, -2)) == [[("O", "B-X"), ("I-Y", "O")]]
    assert iob.read(file("B-X w O\nO w O\n", "first.txt"), tag_column=1) == [("B-X", "O")]
    for columns in ((0, -1), (0, 0), (5,), (-5,)):
        with pytest.raises(InputError, match="line 1: found 4 columns, expected tags in column"):
            iob.sentences(path, columns)


def test_only_tags_in_all_columns_are_refused(file: Any) -> None:
    with pytest.raises(InputError, match="found only tags in all columns"):
        iob.read(file("O O\nB-X O\n"))
    assert iob.read(file("O NN B-X\n")) == [("B-X",)]
    assert iob.read(file("B-X O\n\nO\n"), layout="lines") == [("B-X", "O"), (), ("O",)]
    with pytest.raises(InputError, match="found no tags"):
        iob.read(file("\n\n"), layout="lines")


# Word alignments.


def test_links_of_the_shared_task_lie_in_as_many_sentences_as_are_declared(file: Any) -> None:
    read = alignment.read
    assert len(read(file("1 1 1\n  \n2 1 1 P\n"), format="naacl", n_segments=2)) == 2
    assert len(read(file("1 1 1\n"), format="naacl", n_segments=1)) == 1
    assert read(file("1 0 1\n"), format="naacl") == []
    for text, n_segments, words in (
        ("1 1 1\n", 0, "found n_segments 0, expected one from 1"),
        ("3 1 1\n", 2, "line 1: found sentence 3, expected one from 1 to 2"),
        ("0 1 1\n", None, "line 1: found sentence 0"),
    ):
        with pytest.raises(InputError, match=words):
            read(file(text), format="naacl", n_segments=n_segments)
    assert len(read(file("  \n1 1 1 S\n"))) == 1  # the first line that is not blank shows the format


# Trees.


def test_a_label_may_stand_below_its_bracket() -> None:
    ((line, tree),) = trees.nodes([(1, "("), (2, "S (A b))")], "t")
    assert (line, tree) == (1, ["S", ["A", "b"]])


def test_words_of_trees_have_one_tag_each() -> None:
    assert trees.words(trees.parse("(S (A b) (C d))")) == [("A", "b"), ("C", "d")]
    with pytest.raises(InputError, match="found the word 'c' beside another node"):
        trees.words(trees.parse("(S (A b) c)"))
    with pytest.raises(InputError, match="found the constituent 'S' without words"):
        trees.words(["S"])


def test_the_last_sentence_of_conllu_needs_no_blank_line_and_comments_no_blank(file: Any) -> None:
    rows = [
        "#sent_id=5",
        "1-2\tab" + "\t_" * 8,
        "1\ta" + "\t_" * 4 + "\t0\troot\t_\t_",
        "2\tb" + "\t_" * 4 + "\t1\tx\t_\t_",
    ]
    (sentence,) = conllu.read(file("\n".join(rows)))
    assert (sentence.words, sentence.forms, sentence.comments) == (["a", "b"], ["ab"], {"sent_id": "5"})


# Items of logs.


def test_digests_are_equal_for_equal_values_only() -> None:
    assert items.digest({"a": 1, "b": 2}) == items.digest({"b": 2, "a": 1}) != items.digest({"a": 2, "b": 1})
    assert items.digest("\ud800") != items.digest("\ud801")  # half of a pair, which no encoding has
    assert len(items.digest("x")) == 16


def test_excerpts_are_the_start_or_the_end_of_a_text_on_one_line() -> None:
    most = items.MOST_TEXT
    text = "a" * 2000 + "b" * most
    assert items.excerpt(text) == "a" * most + "…"
    assert items.excerpt(text, end=True) == "…" + "b" * most
    assert items.excerpt("c" * most) == items.excerpt("c" * most, end=True) == "c" * most
    blanks = ("x" + " " * 9) * 200  # of which 4 times as many characters are looked at
    assert items.excerpt(blanks) == items.excerpt(blanks, end=True) == " ".join("x" * (4 * most // 10))
