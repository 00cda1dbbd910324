"""What becomes of every file in `data/tables`: `data/tables.tsv` has commands, and means or words of a refusal.

The expected means are those of the few scores in each file, computed by hand: `NAME=MEAN … n=ITEMS`, with slashes
between
several metrics and semicolons between several pairs of systems. Behind `|` stand words that the summary or a note has.
`refused: ` is followed by words of the message.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pairsig
from pairsig import InputError
from pairsig.core.statistics import Statistics
from pairsig.readers import inputs
from pairsig.readers.options import OPTIONS, of_metric

DATA = Path(__file__).parents[1] / "data"
with (DATA / "tables.tsv").open(encoding="utf-8", newline="") as _file:
    CASES = list(csv.reader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def parsed(command: str) -> tuple[list[str], dict[str, Any], list[str]]:
    """The files, the options and the names of the systems of a command."""
    words = shlex.split(command.replace(";", "';'")) if " ; " in command else shlex.split(command)
    files: list[str] = []
    names: list[str] = []
    declared: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            name, _, file = word.rpartition("=")
            files.append(file)
            names.append(name)
            continue
        option = word.removeprefix("--").replace("-", "_")
        declared[option] = words.pop(0) if OPTIONS[option].value else True
    return files, declared, names if any(names) else []


def scores(data: Statistics) -> dict[str, list[float]]:
    """The score of each system in every metric."""
    return {
        name: [float(metric.score(data.of(metric)[row].sum(axis=0))) for metric in data.metrics]
        for row, name in enumerate(data.systems)
    }


def read(command: str) -> list[Statistics]:
    files, declared, names = parsed(command)
    return inputs.read_all(files, declared, names_of_systems=names)


@pytest.mark.parametrize(("command", "expected"), CASES)
def test_each_file_is_read_or_refused_as_expected(command: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "tables")
    if expected.startswith("refused: "):
        with pytest.raises(InputError) as caught:
            read(command)
        message = str(caught.value)
        assert expected.removeprefix("refused: ") in message.replace("\n", " ")
        assert message.count("\n") <= 1
        assert "pairsig compare" not in message  # no command in which something is filled in
        return
    found = read(command)
    wanted, _, words = expected.partition(" | ")
    values, _, size = wanted.rpartition(" n=")
    assert {len(data.segments) for data in found} == {int(size)}
    for data, pairs in zip(found, values.split(" ; "), strict=True):
        of_systems = dict(pair.split("=") for pair in pairs.split())
        of_systems = {name or data.systems[0]: value for name, value in of_systems.items()}
        assert list(of_systems) == list(data.systems)
        for name, value in of_systems.items():
            assert scores(data)[name] == pytest.approx([float(part) for part in value.split("/")], rel=1e-8)
        assert data.notes[0].startswith("read ")
        assert words in " ".join(data.notes)


def test_every_file_is_a_case_and_half_of_them_are_hostile() -> None:
    used = {Path(file).name for command, _ in CASES for file in [*parsed(command)[0], *_references(command)]}
    assert {path.name for path in (DATA / "tables").iterdir()} == used
    assert 0.4 < sum(expected.startswith("refused") for _, expected in CASES) / len(CASES) < 0.7


def _references(command: str) -> Sequence[str]:
    return re.findall(r"--reference (\S+)", command)


# Options that do nothing are refused.

LOGS = DATA / "evaluation_logs"
KINDS: dict[str, tuple[set[str], list[str], dict[str, Any]]] = {
    "table": ({"tables"}, ["a.csv", "b.csv"], {}),
    "scores": ({"tables", "scores"}, ["a.txt", "b.txt"], {}),
    "wer": ({"outputs", "text", "wer"}, ["hyp-a.txt", "hyp-b.txt"], {"reference": "ref.txt", "metric": "wer"}),
    "ter": ({"outputs", "text", "ter"}, ["hyp-a.txt", "hyp-b.txt"], {"reference": "ref.txt", "metric": "ter"}),
    "tags": ({"outputs", "iob", "entity"}, ["sys.iob"], {"reference": "gold.iob"}),
    "sigf": ({"counts", "sigf"}, ["two.txt"], {"reader": "sigf"}),
    "art": ({"counts", "art"}, ["two.txt"], {"reader": "art"}),
    "inspect": ({"logs", "inspect"}, [str(LOGS / "inspect/strong.eval"), str(LOGS / "inspect/weak.eval")], {}),
    "lm_eval": ({"logs", "lm_eval"}, [str(LOGS / "lm_eval/a"), str(LOGS / "lm_eval/b")], {}),
    "helm": ({"logs", "helm"}, [str(LOGS / "helm/lab_large"), str(LOGS / "helm/lab_small")], {}),
    "swebench": ({"logs", "swebench"}, [str(LOGS / "swebench")], {}),
    "comet": ({"logs", "comet"}, [str(LOGS / "translation/online.json")], {}),
}
"""Inputs of each kind, with the words of `Option.of` that are true of them."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_that_does_nothing_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "tables")
    inputs_of, files, declared = KINDS[kind]
    for name, option in OPTIONS.items():
        if name in declared or name in ("reader", "metric", "reference"):  # with a reference, files are outputs
            continue
        value: Any = True if not option.value else {"N": "2", "wrong|drop": "drop"}.get(option.value, "x")
        try:
            inputs.read_all(files, {**declared, name: value})
            message = ""
        except InputError as error:
            message = str(error)
        is_refused = "does nothing here" in message
        applies = bool(inputs_of & set(option.of))
        if kind == "scores":  # one reader reads tables and files with one score per line
            applies = "scores" in option.of
        assert is_refused != applies or (name in ("sep", "item") and message), (name, message)


def test_every_option_of_a_reader_or_a_metric_is_declared_once() -> None:
    from pairsig import readers
    from pairsig.io.choices import options_of
    from pairsig.metrics.registry import METRICS

    names = (*readers.OUTPUTS, *readers.COUNTS, *readers.LOGS)
    functions = [(name, readers.reader_of(name).read) for name in names]
    functions += [(name, metric.extractor) for name, metric in METRICS.items() if metric.extractor]
    kinds = dict.fromkeys(readers.LOGS, "logs")
    for name, function in functions:
        for option in options_of(function):
            assert {*of_metric(name), kinds.get(name)} & set(OPTIONS[option].of), (name, option)


# Data in memory.


def test_a_frame_with_an_index_and_only_numbers_has_a_system_per_column() -> None:
    frame = pd.DataFrame({"gpt": [1, 0, 1], "llama": [0, 0, 1]}, index=pd.Index(["q1", "q2", "q3"], name="question"))
    data = pairsig.read(frame)
    assert scores(data) == {"gpt": [pytest.approx(2 / 3)], "llama": [pytest.approx(1 / 3)]}
    assert "2 systems (gpt, llama) × 3 items (question)" in data.notes[0]
    with pytest.raises(InputError, match="choose it with --score"):
        pairsig.read(frame.assign(note="x"))


def test_frames_of_systems_are_paired_by_their_index_or_a_column() -> None:
    old = pd.DataFrame({"question": ["a", "b", "c"], "score": [1, 0, 1]})
    new = pd.DataFrame({"question": ["c", "a", "b"], "score": [1, 1, 1]})
    for data in (
        pairsig.read({"old": old, "new": new}, item="question"),
        pairsig.read({"old": old.set_index("question"), "new": new.set_index("question")}, item="question"),
        pairsig.read(
            {"old": old.set_index("question").rename_axis(None), "new": new.set_index("question").rename_axis(None)}
        ),
    ):
        assert scores(data) == {"old": [pytest.approx(2 / 3)], "new": [1.0]}
        assert data.counts[:, 1, 0].tolist() == [0, 1]
    assert pairsig.read([old, new], item="question").systems == ("A", "B")
    with pytest.raises(InputError, match="no column with the items"):
        pairsig.read({"old": old, "new": new})


ROWS = pd.DataFrame({"id": [1, 1, 2, 2, 3, 3], "system": list("ABABAB"), "score": [1, 0, 0, 0, 1, 1]})


def _of(library: str) -> Any:
    module = pytest.importorskip(library)
    return module.from_pandas(ROWS) if library == "polars" else module.Table.from_pandas(ROWS)


FRAMES = {
    "pandas": lambda: ROWS,
    "index": lambda: ROWS.set_index("id"),
    "shuffled index": lambda: ROWS.set_axis([5, 3, 1, 0, 2, 4]),
    "categories": lambda: ROWS.astype({"system": "category", "id": "category"}),
    "nullable": lambda: ROWS.astype({"score": "Int64", "id": "Int64", "system": "string"}),
    "truth": lambda: ROWS.astype({"score": "boolean"}),
    "arrow": lambda: ROWS.astype({"score": "int64[pyarrow]", "system": "string[pyarrow]"}),
    "objects": lambda: ROWS.astype(object),
    "float ids": lambda: ROWS.astype({"id": float}),
    "polars": lambda: _of("polars"),
    "pyarrow": lambda: _of("pyarrow"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_data_frames_are_read_as_files_are(kind: str) -> None:
    assert scores(pairsig.read(FRAMES[kind]())) == {"A": [pytest.approx(2 / 3)], "B": [pytest.approx(1 / 3)]}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_cells_of_data_frames_have_no_score(missing: Any) -> None:
    frame = ROWS.assign(score=pd.Series([1, missing, 0, 0, 1, 1], dtype=object))
    with pytest.raises(InputError, match="found no score of item 1 for B"):
        pairsig.read(frame)
    assert scores(pairsig.read(frame, missing="drop")) == {"A": [0.5], "B": [0.5]}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns called 'a'"),
        (ROWS.iloc[:0], "found no rows"),
        (ROWS.set_index(["id", "system"]), "found columns or an index of several levels"),
        (ROWS.assign(score=[1 + 2j, 0, 0, 0, 1, 1]), "found '(1+2j)' in column score"),
        (ROWS.assign(score=pd.to_datetime(ROWS["score"])), "in column score, expected a number"),
        (ROWS.assign(score=[2**60, 0, 0, 0, 1, 1]), "found 1.15292e+18 in column score"),
        (ROWS.assign(score=[np.inf, 0, 0, 0, 1, 1]), "row 1: found inf in column score"),
        (ROWS.assign(score=[[1], [0], [0], [0], [1], [1]]), "found '[1]' in column score"),
        (ROWS.assign(id=[1, 1, 2, None, 3, 3]), "row 4: found an empty cell in column id"),
        (3, "found a builtins.int"),
    ],
)
def test_data_frames_that_are_refused(frame: Any, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        pairsig.read(frame)


def test_long_doubles_and_unequal_arrays() -> None:
    values = {"a": np.array([1, 0, 1], dtype=np.longdouble), "b": [0, 0, 1]}
    assert scores(pairsig.read(values))["a"] == [pytest.approx(2 / 3)]
    with pytest.raises(InputError, match="different numbers of segments"):
        pairsig.read({"a": [1, 0, 1], "b": [0, 0]}, missing="drop")
    with pytest.raises(InputError, match="--missing-value, which does nothing here"):
        pairsig.read(values, missing_value=-1)


# Pairing.


def test_documents_follow_the_ids_and_not_the_first_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,document,score\n1,x,1\n2,x ,0\n3,y,1\n4,None,0\n")
    (tmp_path / "b.csv").write_text("id,document,score\n4,nan,1\n3,y,0\n1,x,0\n2,x,1\n")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for order in (paths, paths[::-1]):
        data = pairsig.read(order)
        assert dict(zip(data.segments.tolist(), data.documents.tolist(), strict=True)) == {
            "1": "x",
            "2": "x",
            "3": "y",
            "4": "",
        }
    (tmp_path / "b.csv").write_text("id,document,score\n4,,1\n3,x,0\n1,x,0\n2,x,1\n")
    with pytest.raises(InputError, match="item 3 belongs to the document 'x', but to 'y' in"):
        pairsig.read(paths)


def test_large_tables_are_read_as_small_ones_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pyarrow, with the same scores, ids and messages."""
    from pairsig.readers import cells

    rng = np.random.default_rng(1)
    rows = [
        f"q{number},{rng.integers(2)},{rng.random():.6f},{'' if number == 7 else rng.integers(9)}"
        for number in range(200)
    ]
    path = tmp_path / "t.csv"
    path.write_text("item,a,b,c\n" + "\n".join(rows) + "\n")
    small = pairsig.read(str(path), systems="a,b,c", missing="drop")
    monkeypatch.setattr(cells, "_LARGE", 0)
    large = pairsig.read(str(path), systems="a,b,c", missing="drop")
    assert scores(large) == scores(small)
    assert large.segments.tolist() == small.segments.tolist()
    assert large.notes == small.notes
    path.write_text("item,a,b\n1,1,2\n2,1\n")
    with pytest.raises(InputError, match="line 3: found 2 cells, expected 3"):
        pairsig.read(str(path), systems="a,b")
    path.write_text("item,a,b\n1,1,x\n2,1,1\n")
    with pytest.raises(InputError, match="line 2: found 'x' in column b"):
        pairsig.read(str(path), systems="a,b")
    for word in ("-nan", "NAN", "0x1A", "inf", "9007199254740993"):
        path.write_text(f"item,a,b\n1,1,0.5\n2,1,{word}\n")
        with pytest.raises(InputError, match="in column b, expected a"):
            pairsig.read(str(path), systems="a,b", missing="drop")
    path.write_text("id,system,score\n007,a,1\n7,a,0\n1.10,a,1\n007,b,1\n7,b,0\n1.10,b,+5\n")
    data = pairsig.read(str(path))
    assert data.segments.tolist() == ["1.10", "007", "7"]
    assert data.counts[:, :, 0].tolist() == [[1, 1, 0], [5, 1, 0]]


@pytest.mark.parametrize("name", ["question", None])
def test_frames_are_paired_by_the_index_that_they_share(name):
    """Not by position: the second frame is sorted by its scores."""
    first = pd.DataFrame({"score": [1, 0, 1, 1, 0, 1]}, index=pd.Index([4, 5, 6, 7, 8, 9], name=name))
    second = pd.DataFrame({"score": [1, 0, 0, 1, 0, 0]}, index=first.index)
    by_position = pairsig.compare({"a": first["score"].to_numpy(), "b": second["score"].to_numpy()})
    for frames in ({"a": first, "b": second.sort_values("score")}, [first, second.sort_values("score")]):
        assert pairsig.compare(frames).pvalue == by_position.pvalue
        (row,) = pairsig.compare(frames).table.to_dict("records")
        assert (row["only_a"], row["only_b"]) == (2, 0)
    with pytest.raises(InputError, match="no score of item 9"):
        pairsig.compare({"a": first, "b": second[:5]})
