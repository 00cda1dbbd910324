"""Scores and counts of users as datasets of the study, counted by hand."""

import pytest

from pairsig.core import statistics
from pairsig.io.errors import InputError
from study.corpora import counts, scores

LONG = "model\tid\tbleu\tchrf\na\t1\t30.5\t4\na\t2\t20\t3\nb\t1\t10\t4\nb\t2\t11\t3\n"
ABOUT = {"dataset": "d", "provenance": {}}


def test_a_table_with_several_numbers_needs_the_score(file):
    path = file("scores.tsv", LONG)
    with pytest.raises(InputError, match=r"found 2 columns that may be scores \(bleu, chrf\)"):
        scores.read([path], {}, metric="mean", **ABOUT)
    found = scores.read([path], {"score": "bleu"}, metric="mean", **ABOUT)
    assert (found.systems, found.groups, found.columns) == (("a", "b"), ("a", "b"), ("value",))
    assert found.counts[:, :, 0].tolist() == [[30.5, 20], [10, 11]]
    with pytest.raises(InputError, match=r"found 30.5 in bleu, expected 0 or 1 for the metric accuracy"):
        scores.read([path], {"score": "bleu"}, metric="accuracy", **ABOUT)


def test_errors_are_no_scores(file):
    path = file("wer.tsv", LONG.replace("bleu", "wer"))
    with pytest.raises(InputError, match="found wer, of which lower is better"):
        scores.read([path], {"score": "wer"}, metric="mean", **ABOUT)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("system,item,correct,total\na,1,1,1\na,2,0,1\nb,1,1,1\nb,2,1,1\n", {}),
        ("system,item,correct\na,1,1\na,2,0\nb,1,1\nb,2,1\n", {}),
        ("item,a,b\n1,pass,pass\n2,fail,pass\n", {"systems": "a,b", "true": "pass"}),
    ],
)
def test_accuracy_from_counts_or_from_scores(file, text, options):
    found = scores.read([file("t.csv", text)], options, metric="accuracy", **ABOUT)
    assert found.columns == ("correct", "total")
    assert found.counts.tolist() == [[[1, 1], [0, 1]], [[1, 1], [1, 1]]]


def test_counts_of_f1(file):
    text = "system,item,matched,predicted,gold\na,1,1,2,3\na,2,0,1,1\nb,1,2,2,3\nb,2,1,1,1\n"
    found = scores.read([file("t.csv", text)], {}, metric="f1", **ABOUT)
    assert found.columns == ("matched", "predicted", "gold")
    assert found.counts[1].tolist() == [[2, 2, 3], [1, 1, 1]]
    with pytest.raises(InputError, match="found no column matched"):
        scores.read([file("u.csv", text.replace("matched", "hits"))], {}, metric="f1", **ABOUT)


def test_one_file_per_system(file, tmp_path):
    files = [file("x.txt", "1\n0\n1\n"), file("y.txt", "0\n0\n1\n")]
    output, systems = str(tmp_path / "counts.parquet"), [("new", "us", ""), ("old", "", "k")]
    counts.count(files, output, "d", reader="table", metric="accuracy", options={}, systems=systems, provenance={})
    found = statistics.read(output)
    assert (found.systems, found.groups, found.kinds) == (("new", "old"), ("us", "old"), ("", "k"))
    assert found.counts[:, :, 0].tolist() == [[1, 0, 1], [0, 0, 1]]
