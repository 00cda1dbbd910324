"""Where readers of outputs and counts decide: the smallest inputs on both sides of each decision."""

from __future__ import annotations

from typing import Any

import pytest

from pairsig.io.errors import InputError
from pairsig.readers import Beginning
from pairsig.readers.counts import evalb
from pairsig.readers.outputs import alignment, conllu, iob, trees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EU NNP B-ORG\nx NN O\n", True),
        ("a B-X\nb I-X\n", True),
        ("a O\nb O\n", False),
        ("O\nB-X\n", False),
        ("a B-X\nb NN\n", False),
        ("", False),
    ],
)
def test_iob_tags_are_recognized_in_the_last_of_several_columns(text: str, expected: bool, file: Any) -> None:
    assert iob._recognizes(Beginning(file("x", text))) is expected


def test_columns_of_tags(file: Any) -> None:
    """The last ones; only tags in all columns are refused."""
    (sentence,) = iob.read(file("a", "w O B-X\nv I-Y O\n\n"))
    assert (sentence, sentence.words) == (("B-X", "O"), ("w", "v"))
    with pytest.raises(InputError, match="found only tags in all columns"):
        iob.read(file("d", "O O\nB-X O\n"))


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("1 1 1\n  \n2 1 1 P\n", {"n_segments": 2}, 2),
        ("1 1 1\n", {"n_segments": 1}, 1),
        ("1 0 1\n", {}, 0),
        ("  \n1 1 1 S\n", {}, 1),  # the first line that is not blank shows the format
        ("1 1 1\n", {"n_segments": 0}, "found n_segments 0, expected one from 1"),
        ("3 1 1\n", {"n_segments": 2}, "line 1: found sentence 3, expected one from 1 to 2"),
    ],
)
def test_links_lie_in_as_many_sentences_as_are_declared(text: str, options: Any, found: Any, file: Any) -> None:
    if isinstance(found, int):
        assert len(alignment.read(file("x", text), **options)) == found
    else:
        with pytest.raises(InputError, match=found):
            alignment.read(file("x", text), **options)


def test_the_last_sentence_of_conllu_needs_no_blank_line_and_comments_no_blank(file: Any) -> None:
    words = "1\ta" + "\t_" * 4 + "\t0\troot\t_\t_\n2\tb" + "\t_" * 4 + "\t1\tx\t_\t_"
    (sentence,) = conllu.read(file("x", f"#sent_id=5\n1-2\tab{8 * chr(9).join(['', '_'])}\n{words}"))
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
        ("(\nS (A b))", [["S", ["A", "b"]]]),
    ],
)
def test_trees_have_a_label_or_a_word(text: str, expected: list[Any]) -> None:
    assert [tree for _, tree in trees.nodes(enumerate(text.split("\n"), start=1), "t")] == expected


def test_words_of_trees_have_one_tag_each() -> None:
    assert trees.words(trees.parse("(S (A b) (C d))")) == [("A", "b"), ("C", "d")]
    with pytest.raises(InputError, match="found the word 'c' beside another node"):
        trees.words(trees.parse("(S (A b) c)"))
    with pytest.raises(InputError, match="found the constituent 'S' without words"):
        trees.words(["S"])


# Listings of evalb, whose example has sentences of 6, 5 (failed) and 2 words.


def test_summaries_of_short_sentences_count_those_of_their_length(file: Any) -> None:
    def listing(n: int) -> str:
        return file("x", f"{evalb.READER.example}\n-- len<=2 --\nNumber of sentence        =      {n}\n")

    assert len(evalb.read(listing(1)).items) == 3
    for n in (2, 0):
        with pytest.raises(InputError, match=f"found Number of sentence {n}, expected 1.00"):
            evalb.read(listing(n))
