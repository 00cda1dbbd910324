"""Mistakes in commands and in files, one per row of `data/mistakes_in_*.tsv`: one sentence, and nothing is written.

In a row, `…` stands for any text in the message.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import simulate
from pairsig import InputError, cli, readers
from pairsig.core import statistics
from pairsig.readers import recognition
from running import ROOT
from study import cli as study_cli


def mistakes(where):
    lines = (ROOT / f"tests/data/mistakes_in_{where}.tsv").read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines[1:-1]]


def pattern(message):
    return re.escape(message).replace("…", ".*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands name."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "resources").symlink_to(ROOT / "resources")
    (folder / "model1").write_text("2 2 2\n2 2 2\n0 1 2\n")
    (folder / "model2").write_text("0 2 2\n1 2 2\n0 1 2\n")
    for name, rows in (("a", "1,2\n2,3\n"), ("b", "1,2\n2,4\n"), ("two", "1,2\n3,3\n")):
        (folder / f"{name}.csv").write_text(f"segment,mean\n{rows}")
    rng = np.random.default_rng(11)
    runs = [
        pd.DataFrame({"system": name, "run": run, "id": [f"q{i}" for i in range(80)], "passed": rng.integers(0, 2, 80)})
        for name, run in (("base", 1), ("base", 2), ("base", 3), ("ours", 1), ("ours", 2))
    ]
    for of in runs:
        of[["id", "passed"]].to_csv(folder / f"{of['system'][0]}{of['run'][0]}.csv", index=False)
    pd.concat(runs).to_csv(folder / "all.csv", index=False)
    scores = pd.concat([runs[0], runs[3]]).drop(columns="run")
    scores.to_json(folder / "scores.jsonl", orient="records", lines=True)
    options = {"n_groups": 2, "spread": 0.1, "document_size": 10, "dataset": "s"}
    statistics.write(simulate.statistics("f1", n_systems=6, n_segments=400, **options), folder / "s.parquet")
    return folder


@pytest.mark.parametrize(("reader", "content", "options", "message"), mistakes("files"))
def test_a_mistake_in_a_file_gets_one_sentence(reader, content, options, message, tmp_path):
    """Each content with \\t and \\n for tabs and ends of lines; a line is named with its file."""
    path = tmp_path / "file"
    path.write_text(content.replace("\\t", "\t").replace("\\n", "\n"), encoding="utf-8")
    given = {name: yaml.safe_load(value) for name, value in (option.split("=") for option in options.split())}
    read = recognition.read_all if reader in readers.COUNTS else readers.read
    with pytest.raises(InputError) as error:
        read(reader, path, **given)
    assert re.search(re.escape(f"{path}, ") * message.startswith("line ") + pattern(message), str(error.value))
    assert "\n" not in str(error.value)
