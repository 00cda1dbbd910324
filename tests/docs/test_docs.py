"""What the pages say is what happens: every command and every block of Python is run.

`make docs` runs the examples of pages that say where, and compares what they print.
"""

import contextlib
import importlib.util
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

import pairsig
from pairsig import cli

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data/coming_from"
LOGS = Path(__file__).parents[1] / "data/evaluation_logs"
EXAMPLE = ROOT / "config/example"
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "results/README.md", "config/README.md"] + [
    f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))
]


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", read(page), flags=re.DOTALL)


def commands(page):
    lines = (line for block in blocks(page, "bash") for line in block.splitlines())
    return [line.split("#")[0].strip() for line in lines if line.startswith("pairsig ")]


def load(name):
    """A module of the folder of the documentation, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def files(tmp_path):
    """The folder in which the commands of the page are run."""
    parts = ("inspect", "helm", "swebench", "translation")
    for path in [*DATA.iterdir(), *(path for part in parts for path in (LOGS / part).iterdir())]:
        if path.suffix != ".py" and path.name != "reported.json":
            (tmp_path / path.name).symlink_to(path)
    for name in "ab":
        (tmp_path / f"out-{name}").symlink_to(LOGS / "lm_eval" / name)
    return tmp_path


@pytest.mark.parametrize("command", commands("docs/coming-from.md"))
def test_commands_work_as_written(command, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert cli.main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert "[95 %]" in capsys.readouterr().out


def test_the_readme_prints_what_the_commands_print(monkeypatch, capsys):
    monkeypatch.chdir(EXAMPLE)
    (command,), (printed,) = commands("README.md"), blocks("README.md", "text")
    assert cli.main(shlex.split(command)[1:]) == 0
    result = capsys.readouterr()
    assert [line.rstrip() for line in (result.err + result.out).splitlines()] == printed.splitlines()
    (code,) = blocks("README.md", "python")
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1] == "0.25"
    assert cli.main(["plan", "--metric", "bleu", "--score", "35", "--gain", "0.5", "--length", "25"]) == 0
    planned = re.search(r"[\d,]+ \[[\d,]+, [\d,]+\]", capsys.readouterr().out)[0]
    assert f"For a pair of unknown correlation, `plan` says {planned}" in read("README.md")


@pytest.mark.parametrize("code", blocks("docs/coming-from.md", "python"))
def test_python_in_coming_from_runs(code, tmp_path, monkeypatch):
    """A draw of AlpacaEval is half a win, whether it is coded 0 or 1.5."""
    monkeypatch.chdir(tmp_path)
    preferences = [1, 2, 0, 1.5, 2]
    verdicts = [{"instruction": f"i{k}", "preference": value} for k, value in enumerate(preferences)]
    Path("annotations.json").write_text(json.dumps(verdicts), encoding="utf-8")
    counts = {"a": np.ones((4, 3), dtype=int), "b": np.ones((4, 3), dtype=int)}
    counts["b"][0, 0] = 0
    exec(compile(code, "coming-from.md", "exec"), counts)
    for path in Path().glob("*.csv"):
        assert path.read_text().splitlines()[1:] == ["i0,0.0", "i1,1.0", "i2,0.5", "i3,0.5", "i4,1.0"]
        shutil.copy(path, "other.csv")
        assert cli.main(["compare", str(path), "other.csv", "--score", "win"]) == 0


def test_python_in_the_page_on_documents_prints_what_it_says(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (code,) = blocks("docs/documents.md", "python")
    exec(compile(code, "documents.md", "exec"), {})
    assert [f"{float(line):.4f}" for line in capsys.readouterr().out.split()] == re.findall(r"# ([\d.]+):", code)


def test_own_metric_runs():
    (code,) = blocks("docs/own-metric.md", "python")
    exec(compile(code, "own-metric.md", "exec"), {})


def test_every_option_is_in_the_page_of_the_command_line():
    text = load("generated").command_line()
    names = re.findall(r"^## pairsig ([a-z-]+)$", text, re.MULTILINE)
    assert {"compare", "gate", "rank", "plan", "runs"} <= set(names)
    for name in names:
        section = text.split(f"## pairsig {name}\n")[1].split("\n## ")[0]
        with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
            cli.main([name, "--help", "all"])
        assert set(re.findall(r"^  (--[a-z-]+)", printed.getvalue(), re.MULTILINE)) <= set(
            re.findall(r"--[a-z-]+", section)
        )


def test_every_public_name_has_a_page_in_the_reference():
    listed = re.findall(r"^   (pairsig\.\w+)$", read("docs/api.md"), re.MULTILINE)
    assert sorted(listed) == sorted(f"pairsig.{name}" for name in pairsig.__all__ if name != "__version__")


def test_an_example_that_prints_something_else_is_reported():
    executed = load("executed")
    (message,) = executed.differences("```python\n>>> 1 + 1\n3\n\n```\n")
    assert "Got:\n    2" in message
    assert list(executed.differences("```console\n$ echo a \\\n  b\na b\n$ false || echo c\nc\n```\n")) == []
    assert len(list(executed.differences("```console\n$ false\n```\n"))) == 1
