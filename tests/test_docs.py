"""What the documents say is what happens: every command and every Python block is run."""

import re
import shlex
from pathlib import Path

import pytest

from pairsig import cli

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data/coming_from"


def blocks(document, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


def commands(document):
    lines = (line for block in blocks(document, "bash") for line in block.splitlines())
    return [line.split("#")[0].strip() for line in lines if line.startswith("pairsig ")]


@pytest.mark.parametrize("command", commands("docs/coming-from.md") + commands("README.md"))
def test_commands_work_as_written(command, monkeypatch, capsys):
    monkeypatch.chdir(DATA)
    assert cli.main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert "gain" in capsys.readouterr().out


def test_the_output_in_the_readme_is_what_the_command_prints(monkeypatch, capsys):
    monkeypatch.chdir(DATA)
    (command,) = commands("README.md")
    (printed,) = (block for block in blocks("README.md", "text") if "randomization" in block)
    assert cli.main(shlex.split(command)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == printed.splitlines()


@pytest.mark.parametrize("code", blocks("README.md", "python"))
def test_python_in_the_readme_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {"a": [[1, 1, 1], [1, 1, 1]], "b": [[0, 1, 1], [1, 1, 1]]})
    assert "0.25" in capsys.readouterr().out or "print" not in code


@pytest.mark.parametrize("code", blocks("docs/coming-from.md", "python"))
def test_python_in_coming_from_runs(code):
    import numpy as np

    columns = 2 if "accuracy" in code else 3
    counts = {"a": np.ones((4, columns), dtype=int), "b": np.ones((4, columns), dtype=int)}
    counts["b"][0, 0] = 0
    exec(compile(f"import pairsig\n{code}", "coming-from.md", "exec"), counts)


def test_the_example_of_methods_is_what_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    (code,) = blocks("docs/methods.md", "python")
    exec(compile(code, "methods.md", "exec"), {})
    first, second = commands("docs/methods.md")
    (printed,) = blocks("docs/methods.md", "text")
    assert cli.main(shlex.split(first)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == printed.splitlines()
    assert cli.main(shlex.split(second)[1:]) == 0
    assert (tmp_path / "methods.tsv").is_file()


def test_links_lead_somewhere():
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/coming-from.md", "results/README.md"):
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", (ROOT / document).read_text(encoding="utf-8")):
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"
