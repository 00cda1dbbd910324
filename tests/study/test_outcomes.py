"""Outcomes of benchmarks as others publish them, turned into counts."""

import json
import lzma
import tarfile

import numpy as np
import pandas as pd
import pytest

from pairsig.core import statistics
from pairsig.io.errors import InputError
from pairsig.metrics import registry
from study.corpora import counts, outcomes


def read(reader, *files, **options):
    given = {name: str(value) for name, value in options.items()}
    return outcomes.read(reader, [str(path) for path in files], given)


def shares(data):
    """The share of correct outcomes for each system and item."""
    correct, total = (data.counts[:, :, data.columns.index(name)] for name in ("correct", "total"))
    return correct / total


def write_llmbar(path, fragments):
    """`fragments` maps subset → judge → items of (label, verdict, verdict with the outputs swapped)."""
    with tarfile.open(path, "w:xz") as archive:
        for subset, judges in fragments.items():
            for scorer, items in judges.items():
                file = path.parent / "result.json"
                listed = [
                    {"label": label, "results": [{}, {"swap = False": {"winner": a}, "swap = True": {"winner": b}}]}
                    for label, a, b in items
                ]
                file.write_text(json.dumps(listed), encoding="utf-8")
                archive.add(file, f"Dataset/LLMBar/{subset}/evaluators/{scorer}/result.json")
    return path


def test_llmbar(tmp_path):
    first = [(1, "1", "1"), (2, "1", "2"), (2, None, "2")]
    path = write_llmbar(
        tmp_path / "r.tar.xz",
        {
            "Natural": {"GPT/CoT": first, "GPT/Vanilla": [(1, "2", "2"), (2, "2", "2"), (2, "1", None)]},
            "Adversarial/GPTInst": {"GPT/Vanilla": [(1, "1", "2")], "GPT/CoT": [(1, "1", "1")]},
        },
    )
    data = read("llmbar", path)
    assert data.systems == ("GPT-CoT", "GPT-Vanilla")
    assert data.groups == ("GPT", "GPT")
    assert data.domains.tolist() == ["Natural"] * 3 + ["GPTInst"]
    np.testing.assert_array_equal(shares(data), [[1, 0.5, 0.5, 1], [0, 1, 0, 0.5]])
    assert set(data.counts[:, :, data.columns.index("runs")].ravel()) == {2}


def test_mmlu_pro(tmp_path, monkeypatch):
    monkeypatch.setattr(outcomes, "LEAST_MMLU_PRO", 2)
    path = tmp_path / "answers.tsv.xz"
    rows = ["question_id category src answer A B-7 C D", "7 law s1 B B C B -", "9 computer_science s2 A A  - A"]
    text = "\n".join(row.replace(" ", "\t") for row in rows).replace("_science", " science")
    path.write_bytes(lzma.compress(f"{text}\n".encode()))
    data = read("mmlu_pro", path)
    # The empty answer of B-7 is wrong; C and D were not asked both questions.
    assert data.systems == ("A", "B-7")
    np.testing.assert_array_equal(shares(data), [[1, 1], [0, 0]])
    assert (data.segments.tolist(), data.documents.tolist()) == (["7", "9"], ["s1", "s2"])
    assert data.domains.tolist() == ["law", "computer-science"]
    assert [(one["system"], one["reason"]) for one in data.omissions] == [
        (name, "no outcome for 1 of 2 items") for name in ("C", "D")
    ]
    # With one question that is enough there is none that all were asked.
    monkeypatch.setattr(outcomes, "LEAST_MMLU_PRO", 3)
    with pytest.raises(InputError, match="no system with scores for 3 items"):
        read("mmlu_pro", path)


def test_of_livebench_the_last_judgment_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(outcomes, "LEAST_LIVEBENCH", 2)
    rows = [
        ("q1", "spatial", "a", 0.0, "reasoning"), ("q1", "spatial", "a", 1 / 3, "reasoning"),
        ("q1", "spatial", "b", 1.0, "reasoning"), ("q2", "typos", "a", 0.5, "language"),
        ("q2", "typos", "b", 0.0, "language"), ("q3", "typos", "a", 1.0, "language"),
    ]  # fmt: skip
    names = ["question_id", "task", "model", "score", "category"]
    pd.DataFrame(rows, columns=names).to_parquet(tmp_path / "j.parquet")
    data = read("livebench", tmp_path / "j.parquet")
    assert data.segments.tolist() == ["q2", "q1"]
    assert (data.documents.tolist(), data.domains.tolist()) == (["typos", "spatial"], ["language", "reasoning"])
    np.testing.assert_allclose(shares(data), [[0.5, 0.33], [0, 1]])


def test_bfcl(tmp_path):
    rows = ["model category items failed", "m-FC simple 3 2", "m-FC java 2 ", "m java 2 1;2", "m simple 3 "]
    text = "\n".join(row.replace(" ", "\t").replace(";", " ") for row in rows)
    (tmp_path / "f.tsv").write_text(f"{text}\n", encoding="utf-8")
    data = read("bfcl", tmp_path / "f.tsv")
    assert (data.systems, data.groups) == (("m", "m-FC"), ("m", "m"))
    assert data.segments.tolist() == ["java-1", "java-2", "simple-1", "simple-2", "simple-3"]
    np.testing.assert_array_equal(shares(data), [[0, 0, 1, 1, 1], [1, 1, 1, 0, 1]])
    (tmp_path / "f.tsv").write_text(f"{text}\n".replace("m\tjava\t2", "m\tjava\t4"), encoding="utf-8")
    with pytest.raises(InputError, match="found 4 items in java for m, expected 2"):
        read("bfcl", tmp_path / "f.tsv")


@pytest.fixture
def wide(tmp_path):
    """Scores of three systems, one of them run once, on two items; what is said of items and systems."""
    pd.DataFrame({"item": ["i", "j"], "a": [0.2, 1.0], "b": [1.0, 0.0], "c": [-0.01, 0.5]}).to_parquet(
        tmp_path / "scores.parquet"
    )
    (tmp_path / "items.tsv").write_text("item\tdomain\tpair\tcluster\nj\teasy\tx\tk\ni\t\ty\tl\n", encoding="utf-8")
    (tmp_path / "systems.tsv").write_text("system\tgroup\tkind\na\tmaker\tn=5\nb\t\tn=1\nc\t\tn=5\n", encoding="utf-8")
    return [tmp_path / name for name in ("scores.parquet", "items.tsv", "systems.tsv")]


def test_a_table_of_scores(wide):
    data = read("scores", *wide, runs=5)
    assert (data.systems, data.groups) == (("a", "b"), ("maker", "b"))
    assert (data.documents.tolist(), data.domains.tolist()) == (["l", "k"], ["", "easy"])
    assert data.columns == ("correct", "total", "runs")
    np.testing.assert_array_equal(data.counts[0], [[1, 5, 5], [5, 5, 5]])
    np.testing.assert_array_equal(data.counts[1], [[5, 5, 1], [0, 5, 1]])
    assert [one["system"] for one in data.omissions] == ["c"]
    accuracy = registry.metric("accuracy")
    np.testing.assert_allclose(accuracy.score(data.of(accuracy).sum(axis=1)), [60, 50])
    finer = read("scores", *wide, runs=5, total=2520)
    np.testing.assert_array_equal(shares(finer), shares(data))


def test_who_is_left_out_is_said_and_kept(wide, capsys):
    output = str(wide[0].with_name("out.parquet"))
    counts.count("d", output, reader="scores", metric="accuracy", options={"runs": "5"}, tables=[*map(str, wide)],
                 systems=[], documents=None, provenance={"licence": "MIT"})  # fmt: skip
    data = statistics.read(output)
    np.testing.assert_array_equal(data.counts, read("scores", *wide, runs=5).counts)
    assert (data.dataset, data.provenance["licence"], data.omissions[0]["system"]) == ("d", "MIT", "c")
    assert "system c is left out: count: no outcome for 1 of 2 items" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reader", "files", "options", "message"),
    [
        ("mmlu", ["a"], {}, "reader of outcomes"),
        ("scores", ["a"], {}, "cannot be read as outcomes of scores .*missing 2 required positional arguments"),
        ("bfcl", ["a", "b"], {}, "cannot be read as outcomes of bfcl .*takes 1 positional argument but 2 were given"),
        ("scores", ["a", "b", "c"], {"run": "5"}, "option"),
        ("bfcl", ["nowhere.tsv"], {}, "cannot be read as outcomes of bfcl"),
        ("llmbar", [__file__], {}, "cannot be read as outcomes of llmbar"),
        ("livebench", [__file__], {}, "cannot be read as outcomes of livebench"),
        ("mmlu_pro", [__file__], {}, "cannot be read as outcomes of mmlu_pro|no system"),
        ("bfcl", [__file__], {}, "cannot be read as outcomes of bfcl"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(reader, files, options, message):
    with pytest.raises(InputError, match=message) as error:
        read(reader, *files, **options)
    assert len(str(error.value)) < 1000
    assert "\n" not in str(error.value)


def test_scores_above_one_are_refused(wide):
    pd.DataFrame({"item": ["i", "j"], "a": [0.2, 1.2], "b": [1.0, 0.0]}).to_parquet(wide[0])
    with pytest.raises(InputError, match="found 0 to 6 passed of 5, expected 0 to 5"):
        read("scores", *wide, runs=5)
