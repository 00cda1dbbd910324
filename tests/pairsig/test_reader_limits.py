"""Where readers decide: the smallest inputs on both sides of each decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairsig.io.errors import InputError
from pairsig.readers import Beginning
from pairsig.readers.counts import evalb
from pairsig.readers.outputs import alignment, conllu, iob, trees


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def written(text: str, name: str = "file.txt") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return written


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
    assert iob.sentences(path, (2, 3)) == iob.sentences(path, (-3, -2)) == [[("O", "I-Y"), ("B-X", "O")]]
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
    assert len(read(file("1 1 1\n  \n2 1 1 P\n"), layout="naacl", n_segments=2)) == 2
    assert len(read(file("1 1 1\n"), layout="naacl", n_segments=1)) == 1
    assert read(file("1 0 1\n"), layout="naacl") == []
    for text, n_segments, words in (
        ("1 1 1\n", 0, "found n_segments 0, expected one from 1"),
        ("3 1 1\n", 2, "line 1: found sentence 3, expected one from 1 to 2"),
    ):
        with pytest.raises(InputError, match=words):
            read(file(text), layout="naacl", n_segments=n_segments)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S)", [["S"]]),
        ("( )", []),
        ("(())", []),
        ("(A b c)", [["A", "b", "c"]]),
        ("( (S (A b)) )", [["", ["S", ["A", "b"]]]]),
        ("(S (A b)) (T (B c))", [["S", ["A", "b"]], ["T", ["B", "c"]]]),
    ],
)
def test_trees_have_a_label_or_a_word(text: str, expected: list[Any]) -> None:
    assert [tree for _, tree in trees.nodes([(1, text)], "t")] == expected


# Listings of evalb, whose example has sentences of 6, 5 (failed) and 2 words.


@pytest.mark.parametrize(
    ("max_length", "scored"),
    [(None, [True, False, True]), (6, [True, False, True]), (5, [False, False, True]), (2, [False, False, True])],
)
def test_sentences_up_to_a_length_are_scored(max_length: int | None, scored: list[bool], file: Any) -> None:
    counts = evalb.read(file(evalb.READER.example), max_length=max_length)
    assert counts.scored is not None
    assert counts.scored.tolist() == scored
    assert counts.values["words"].tolist() == [words * valid for words, valid in zip([5, 4, 2], scored, strict=True)]


def test_summaries_of_short_sentences_count_those_of_their_length(file: Any) -> None:
    for n, is_right in ((1, True), (2, False), (0, False)):
        path = file(f"{evalb.READER.example}\n-- len<=2 --\nNumber of sentence        =      {n}\n")
        if is_right:
            assert len(evalb.read(path).items) == 3
        else:
            with pytest.raises(InputError, match=f"found Number of sentence {n}, expected 1.00"):
                evalb.read(path)


def test_trees_are_complete_if_all_three_counts_are_equal_and_crossing_is_counted_up_to_2() -> None:
    rows = [
        evalb._Row(number, number, 5, 0, matched, gold, predicted, crossing, 5, 5)
        for number, (matched, gold, predicted, crossing) in enumerate(
            [(3, 4, 3, 0), (3, 3, 4, 2), (2, 2, 2, 3), (0, 0, 0, 9)]
        )
    ]
    assert evalb._columns(rows, np.array([True, True, True, True]))["complete"].tolist() == [0, 0, 1, 1]
    summary = evalb._summary(rows)
    assert [summary[name] for name in ("Complete match", "No crossing", "2 or less crossing")] == [50, 25, 50]
