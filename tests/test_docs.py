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


LOGS = Path(__file__).parent / "data/evaluation_logs"


@pytest.fixture
def files(tmp_path):
    """The folder in which the commands of the documents are run."""
    parts = ("inspect", "helm", "swebench", "alpaca_eval", "openai_evals", "translation")
    for path in [*DATA.iterdir(), *(path for part in parts for path in (LOGS / part).iterdir())]:
        if path.suffix != ".py" and path.name != "reported.json":
            (tmp_path / path.name).symlink_to(path)
    for name in "ab":
        (tmp_path / f"out-{name}").symlink_to(LOGS / "lm_eval" / name)
    return tmp_path


@pytest.mark.parametrize("command", commands("docs/coming-from.md") + commands("README.md"))
def test_commands_work_as_written(command, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert cli.main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert "gain" in capsys.readouterr().out


def test_the_output_in_the_readme_is_what_the_command_prints(monkeypatch, capsys):
    monkeypatch.chdir(DATA)
    (command,) = commands("README.md")
    (printed,) = (block for block in blocks("README.md", "text") if "randomization" in block)
    assert cli.main(shlex.split(command)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == printed.splitlines()


def test_the_output_in_the_page_of_ranks_is_what_the_command_prints(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    (command,) = commands("docs/ranks.md")
    (printed,) = blocks("docs/ranks.md", "text")
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


def test_links_lead_somewhere():
    for document in (
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/coming-from.md",
        "results/README.md",
        "docs/ranks.md",
    ):
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", (ROOT / document).read_text(encoding="utf-8")):
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"
