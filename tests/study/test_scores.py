"""Scores and counts of users as datasets of the study, counted by hand."""

import re
from pathlib import Path

import pytest
import yaml

from pairsig.core import statistics
from pairsig.io.errors import InputError
from running import ROOT
from study import cli, sheets
from study.corpora import scores

LONG = "model\tid\tbleu\tlength\na\t1\t30.5\t4\na\t2\t20\t3\nb\t1\t10\t4\nb\t2\t11\t3\n"
ABOUT = {"dataset": "d", "provenance": {}}


def test_a_table_with_several_numbers_needs_the_score(file):
    path = file("scores.tsv", LONG)
    with pytest.raises(InputError, match=r"found 2 columns of numbers .*; write in the column options: score=bleu"):
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
    with pytest.raises(InputError, match=r"column 'matched'"):
        scores.read([file("u.csv", text.replace("matched", "hits"))], {}, metric="f1", **ABOUT)


def test_one_file_per_system_on_the_command_line(file, tmp_path):
    files = [file("x.txt", "1\n0\n1\n"), file("y.txt", "0\n0\n1\n")]
    named = ["--system", "new", "--group", "us", "--kind", "", "--system", "old", "--group", "", "--kind", "k"]
    output = tmp_path / "counts.parquet"
    options = ["--reader", "table", "--metric", "accuracy", "--dataset", "d", "--output", str(output)]
    assert cli.main(["count", *files, *named, *options]) == 0
    found = statistics.read(output)
    assert (found.systems, found.groups, found.kinds) == (("new", "old"), ("us", "old"), ("", "k"))
    assert found.counts[:, :, 0].tolist() == [[1, 0, 1], [0, 0, 1]]


DATASET = "dataset\ttask\tmetric\treader\ttext\toptions\treference\nmine\tqa\tmean\ttable\tscores.tsv\tscore=bleu\t\n"
SYSTEMS = "dataset\tsystem\tgroup\toutput\nmine\ta\tus\ta.txt\nmine\tb\t\tb.txt\n"


@pytest.fixture
def plan(tmp_path, monkeypatch, sheets_read_once):
    """Read the sheets of the study with those of a user, who has scores."""
    monkeypatch.chdir(tmp_path)
    for name in ("config", "resources"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("scores.tsv", "a.txt", "b.txt"):
        Path(name).write_text(LONG, encoding="utf-8")

    def plan(datasets=DATASET, systems=""):
        Path("datasets.tsv").write_text(datasets, encoding="utf-8")
        Path("systems.tsv").write_text(systems, encoding="utf-8")
        config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
        own = {"datasets": "datasets.tsv"} | ({"systems": "systems.tsv"} if systems else {})
        config |= {"datasets": "own", "own_sheets": own}
        sheets.check_config(config)
        return sheets.read(config).datasets["mine"]

    return plan


def test_a_table_needs_no_corpus_and_no_systems(plan):
    mine = plan()
    assert (mine.selected, mine.own_data, mine.source, mine.systems, mine.corpora) == (True, True, "counted", (), ())
    assert mine.outcomes == ("scores.tsv",)
    assert mine.counting == ("--reader", "table", "--option", "score=bleu", "--metric", "mean")


def test_systems_may_have_files_of_their_own(plan):
    mine = plan(DATASET.replace("scores.tsv\tscore=bleu", "\t"), SYSTEMS)
    assert mine.outcomes == ("a.txt", "b.txt")
    assert mine.counting[4:] == (
        "--system",
        "a",
        "--group",
        "us",
        "--kind",
        "",
        "--system",
        "b",
        "--group",
        "",
        "--kind",
        "",
    )


@pytest.mark.parametrize(
    ("datasets", "systems", "message"),
    [
        (DATASET.replace("scores.tsv", "score.tsv"), "",
         "line 2, column text: found score.tsv, which is missing, expected a file; did you mean scores.tsv?"),
        (DATASET.replace("score=", "scores="), "",
         "datasets.tsv, line 2, column options: unknown option of the reader table: 'scores', expected one of item, "),
        (DATASET.replace("\t\n", "\ta.txt\n"), "", "column reference: found 'a.txt', expected nothing, since its"),
        (DATASET, SYSTEMS, "systems.tsv, line 2, column dataset: found mine, whose column text has the scores"),
        (DATASET.replace("scores.tsv", ""), "", "column dataset: found mine has 0 systems in config/systems.tsv"),
        (DATASET.replace("scores.tsv", ""), SYSTEMS.replace("b.txt", "c.txt"),
         "systems.tsv, line 3, column output: found c.txt, which is missing, expected a file; did you mean b.txt?"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence_before_the_first_job(plan, datasets, systems, message):
    with pytest.raises(InputError, match=re.escape(message)):
        plan(datasets, systems)
