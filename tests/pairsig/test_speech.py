"""Word and character error rate: jiwer's counts, and edit distances by brute force."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairsig import InputError
from pairsig.metrics import speech
from pairsig.metrics.registry import METRICS
from pairsig.metrics.speech import character_errors, edits, word_errors

PRINTED = json.loads((Path(__file__).parents[1] / "data/speech/jiwer.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("count", "place"), [(word_errors, 2), (character_errors, 3)])
def test_the_errors_are_those_of_jiwer(count, place):
    """Substitutions, deletions and insertions apart: of several best alignments, the same one."""
    outputs, references = [row[1] for row in PRINTED], [row[0] for row in PRINTED]
    columns = list(count(outputs, references).values())
    assert [list(row) for row in zip(*columns[:3], strict=True)] == [row[place] for row in PRINTED]
    length = [len(text.split() if count is word_errors else text) for text in references]
    assert columns[3].tolist() == length


def distance(output, reference):
    """Levenshtein's distance by its recursion."""

    @cache
    def between(i, j):
        if not i or not j:
            return i + j
        changed = between(i - 1, j - 1) + (output[i - 1] != reference[j - 1])
        return min(changed, between(i - 1, j) + 1, between(i, j - 1) + 1)

    return between(len(output), len(reference))


@given(st.text("abc", max_size=14), st.text("abc", max_size=14))
def test_there_is_no_alignment_with_fewer_errors(output, reference):
    substitutions, deletions, insertions = edits(output, reference)
    assert substitutions + deletions + insertions == distance(output, reference)
    assert len(output) - insertions == len(reference) - deletions >= substitutions


@pytest.mark.parametrize(
    ("metric", "outputs", "references", "rate"),
    [
        ("wer", ["hello duck", "i like python"], ["hello world", "i like monthy python"], 2 / 6),
        ("cer", ["i kan cpell", "i hop"], ["i can spell", "i hope"], 3 / 17),
    ],
)
def test_the_examples_in_the_documentation_of_jiwer(metric, outputs, references, rate):
    """jiwer prints 0.3333333333333333 and 0.17647058823529413."""
    counts = METRICS[metric].statistics(outputs, references)
    assert float(METRICS[metric].score([column.sum() for column in counts.values()])) == pytest.approx(100 * rate)


def test_blank_texts_and_capitals():
    assert edits([], []) == (0, 0, 0)
    counts = word_errors(["", "a b", "A"], ["a b", "", "a"])
    assert [column.tolist() for column in counts.values()] == [[0, 0, 1], [2, 0, 0], [0, 2, 0], [2, 0, 1]]
    assert word_errors(["A"], ["a"], lowercase=True)["substitutions"].tolist() == [0]
    nothing = METRICS["wer"].score([[0, 0, 3, 0], [0, 0, 0, 0]])
    assert nothing.tolist() == [100.0, 0.0]


def test_of_several_references_the_nearest_counts():
    counts = word_errors(["the cat sat", "no"], [("a dog sat here", "the cat sits"), ("yes", "no no")])
    assert [column.tolist() for column in counts.values()] == [[1, 0], [0, 1], [0, 0], [3, 2]]


def test_texts_that_are_too_long_for_a_table(monkeypatch):
    monkeypatch.setattr(speech, "_LARGEST_TABLE", 6)
    with pytest.raises(InputError, match="segment 1: found 3 tokens and 3 in the reference, expected shorter"):
        word_errors(["a b c"], ["d e f"])


def test_a_table_with_counts_is_a_ratio_of_sums(tmp_path, answer):
    path = tmp_path / "counts.csv"
    rows = [("a", 1, 1, 0, 0, 4), ("a", 2, 0, 0, 1, 10), ("b", 1, 2, 1, 0, 4), ("b", 2, 0, 0, 1, 10)]
    head = "system,id,substitutions,deletions,insertions,reference_words\n"
    path.write_text(head + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    (row,), _ = answer(path, "--metric", "wer")
    assert [row["score_a"], row["score_b"]] == pytest.approx([100 * 2 / 14, 100 * 4 / 14])
    assert (row["better"], row["pvalue"]) == ("a", 1.0)  # both swaps have the same difference
