"""Streams of commands: `--output`, `--quiet`, pipes that close, and caveats."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pairsig import cli
from pairsig.io.tables import SCHEMA


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, scores in (("a", "1 0 1 1 1 1 1 0"), ("b", "0 0 1 0 1 0 0 0"), ("c", "0 0 0 0 1 0 0 1")):
        (tmp_path / name).write_text(scores.replace(" ", "\n") + "\n")
    return tmp_path


def piped(text, *words):
    """Status, output and messages of a command with this text in a pipe as its standard input."""
    done = subprocess.run([sys.executable, "-m", "pairsig", *words], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_pipe_is_refused(files):
    """Its format would be looked at, and then there would be nothing to read."""
    status, out, err = piped("1\n0\n", "compare", "a", "/dev/stdin")
    assert (status, out) == (2, "")
    assert "/dev/stdin: found a pipe, which can be read only once, expected a file" in err


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "a", "b"],
        ["plan", "a", "b", "--gain", "0.1"],
        ["compare", "--runs", "a", "b", "--runs", "c", "a2"],
    ],
)
def test_the_output_has_the_format_of_its_suffix(files, command, capsys):
    (files / "a2").write_text((files / "a").read_text())
    printed = {}
    for form in ("json", "markdown", "latex", "csv"):
        assert cli.main([*command, "--format", form]) == 0
        printed[form] = capsys.readouterr().out
    for suffix, form in (("json", "json"), ("md", "markdown"), ("tex", "latex")):
        assert cli.main([*command, "--output", f"result.{suffix}"]) == 0
        assert capsys.readouterr().out == ""
        assert (files / f"result.{suffix}").read_text() == printed[form]
    found = json.loads(printed["json"])
    assert (found["schema_version"], len(found["rows"])) == (SCHEMA, len(pd.read_csv(io.StringIO(printed["csv"]))))
    assert cli.main([*command, "--output", "result.csv"]) == 0
    written = pd.read_csv(files / "result.csv")
    assert list(written)[:-1] == list(found["rows"][0])
    numbers = [name for name, cell in found["rows"][0].items() if isinstance(cell, float)]
    assert [written[name][0] for name in numbers] == [found["rows"][0][name] for name in numbers]


def test_the_summary_is_printed_even_so(files, capsys):
    assert cli.main(["compare", "a", "b"]) == 0
    loud = capsys.readouterr()
    assert "higher is better (assumed)" in loud.err
    assert cli.main(["compare", "a", "b", "--quiet"]) == 0
    assert capsys.readouterr() == (loud.out, loud.err)


def test_quiet_keeps_warnings_about_the_data(tmp_path, monkeypatch, capsys):
    """An empty output is counted, and may be the trace of a crash."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("ref", "a b c\nd e f\n"), ("old", "a b\nd e f\n"), ("new", "a b c\n\n")):
        (tmp_path / f"{name}.txt").write_text(lines)
    command = ["compare", "old.txt", "new.txt", "--reference", "ref.txt", "--metric", "ter", "--test", "exact"]
    warning = "pairsig: warning: new.txt: 1 of 2 outputs are empty, the first in line 2; they count as outputs without"
    for options in ([], ["--quiet"]):
        assert cli.main([*command, *options]) == 0
        assert warning in capsys.readouterr().err


def test_a_sentence_keeps_every_caveat_of_the_table(files, capsys):
    """Those below the table with --details are on standard error beside the sentence, with --quiet as well."""
    for name, mean in (("x.txt", 0.5), ("y.txt", 0.52)):
        scores = np.random.default_rng(1).random(9) * mean
        (files / name).write_text("\n".join(map(str, scores + (name == "y.txt") * scores**2)) + "\n")
    command = ["compare", "x.txt", "y.txt", "--test", "bootstrap", "--alternative", "observed", "--quiet"]
    assert cli.main([*command, "--details"]) == 0
    caveats = [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("- ")]
    assert len(caveats) > 1
    assert cli.main([*command, "--format", "sentence"]) == 0
    printed = capsys.readouterr()
    assert [line for line in caveats if line not in printed.err] == []
    assert printed.out.startswith("y is ")


def test_a_sentence_on_runs_keeps_its_caveats(files, answer, capsys):
    runs = ["--runs", "a", "b", "--runs", "c", "a2", "--quiet"]
    (files / "a2").write_text((files / "a").read_text())
    (row,), _ = answer(*runs)
    assert row["notes"]
    assert cli.main(["compare", *runs, "--format", "sentence"]) == 0
    err = capsys.readouterr().err
    assert [sentence for sentence in row["notes"] if sentence not in err] == []


@pytest.mark.parametrize("words", ["compare a b --test bootstrap --n-resamples 100", "compare --help"])
def test_a_closed_pipe_ends_quietly(files, words):
    """As in `pairsig … | head -1`: no traceback, whether the output is long or still in a buffer."""
    command = f"{sys.executable} -m pairsig {words} | true"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert [line for line in ended.stderr.splitlines() if "note:" not in line] == []
