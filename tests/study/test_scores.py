"""Scores and counts of users as datasets of the study, counted by hand."""

import pytest

from pairsig.io.errors import InputError
from study.corpora import scores

LONG = "model\tid\tbleu\tchrf\na\t1\t30.5\t4\na\t2\t20\t3\nb\t1\t10\t4\nb\t2\t11\t3\n"


def test_a_table_with_several_numbers_needs_the_score(file):
    path = file("scores.tsv", LONG)
    with pytest.raises(InputError, match=r"found 2 columns that may be scores \(bleu, chrf\)"):
        scores.read([path], [], "mean", {})
    found = scores.read([path], [], "mean", {"score": "bleu"})
    assert (found.systems, found.groups, found.columns) == (("a", "b"), ("a", "b"), ("value",))
    assert found.counts[:, :, 0].tolist() == [[30.5, 20], [10, 11]]
    with pytest.raises(InputError, match=r"line 2: found 30.5 in column bleu, expected 0 or 1 for --metric accuracy"):
        scores.read([path], [], "accuracy", {"score": "bleu"})


def test_errors_are_no_scores(file):
    path = file("wer.tsv", LONG.replace("bleu", "wer"))
    with pytest.raises(InputError, match="found wer, of which lower is better"):
        scores.read([path], [], "mean", {"score": "wer"})


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("system,item,correct,total\na,1,1,1\na,2,0,1\nb,1,1,1\nb,2,1,1\n", {}),
        ("system,item,correct\na,1,1\na,2,0\nb,1,1\nb,2,1\n", {}),
        ("item,a,b\n1,pass,pass\n2,fail,pass\n", {"systems": "a,b", "true": "pass"}),
    ],
)
def test_accuracy_from_counts_or_from_scores(file, text, options):
    found = scores.read([file("t.csv", text)], [], "accuracy", options)
    assert found.columns == ("correct", "total")
    assert found.counts.tolist() == [[[1, 1], [0, 1]], [[1, 1], [1, 1]]]


def test_counts_of_f1(file):
    text = "system,item,matched,predicted,gold\na,1,1,2,3\na,2,0,1,1\nb,1,2,2,3\nb,2,1,1,1\n"
    found = scores.read([file("t.csv", text)], [], "f1", {})
    assert found.columns == ("matched", "predicted", "gold")
    assert found.counts[1].tolist() == [[2, 2, 3], [1, 1, 1]]
    with pytest.raises(InputError, match="found no column matched"):
        scores.read([file("u.csv", text.replace("matched", "hits"))], [], "f1", {})


def test_one_file_per_system(file):
    files = [file("x.txt", "1\n0\n1\n"), file("y.txt", "0\n0\n1\n")]
    systems = [
        {"system": name, "group": group, "kind": kind, "output": output}
        for name, group, kind, output in (("new", "us", "", files[0]), ("old", None, "k", files[1]))
    ]
    found = scores.read([], systems, "accuracy", {})
    assert (found.systems, found.groups, found.kinds) == (("new", "old"), ("us", "old"), ("", "k"))
    assert found.counts[:, :, 0].tolist() == [[1, 0, 1], [0, 0, 1]]
