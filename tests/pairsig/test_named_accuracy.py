"""`--metric accuracy` of columns of 0 and 1 and of answers, and `--metric` with the name of a column."""

import shlex

import pytest

import pairsig
from pairsig import cli
from pairsig.io.errors import InputError

LONG = "id,model,{},length\n1,a,1,5\n2,a,0,7\n3,a,0,4\n1,b,1,6\n2,b,1,6\n3,b,0,9\n"
WIDE = "id,gold,a,b\n1,x,x,x\n2,y,x,y\n3,x,y,y\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_text(text)
        return name

    return write


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LONG.format("correct"), ["--score", "correct"]),
        (LONG.format("labels"), ["--score", "labels"]),
        ("id,a,b\n1,1,1\n2,0,1\n3,0,0\n", ["--systems", "a,b"]),
        (WIDE, ["--gold", "gold", "--systems", "a,b"]),
    ],
)
def test_accuracy_is_the_percentage_of_ones_or_right_answers(file, answer, text, words):
    """One of three and two of three, counted by hand."""
    (row,), _ = answer(file("t.csv", text), *words, "-m", "accuracy")
    assert row["metric"] == "accuracy"
    assert (row["score_a"], row["score_b"]) == (pytest.approx(100 / 3), pytest.approx(200 / 3))
    assert (row["only_a"], row["only_b"]) == (0, 1)


def test_accuracy_of_one_outcome_per_line(file, answer):
    (row,), _ = answer(file("a", "1\n0\n0\n"), file("b", "1\n1\n0\n"), "--metric", "accuracy")
    assert (row["metric"], row["score_b"]) == ("accuracy", pytest.approx(200 / 3))


@pytest.mark.parametrize("option", ["-m", "--metric"])
def test_a_metric_that_is_a_column_gets_the_command_to_type(file, refusal, option):
    message, command = refusal("compare", file("t.csv", LONG.format("acc")), option, "acc").splitlines()
    assert "found --metric acc, which is the name of a column and not of a metric" in message
    assert command == "pairsig compare t.csv --score acc"
    assert cli.main(shlex.split(command)[1:]) == 0
    with pytest.raises(InputError, match='score="acc"'):
        pairsig.read("t.csv", metric="acc")
