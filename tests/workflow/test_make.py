"""Commands for developers that `.ci/run` does not call: make help, clean, fuzz and mutants, and the hooks before a
commit.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from running import BIN, ROOT, environment, run

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def tree(tmp_path):
    """The Makefile in a folder where it has nothing to set up."""
    for name in ("Makefile", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("pyproject.toml", "requirements.lock"):
        (tmp_path / name).touch()
    (tmp_path / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (tmp_path / ".venv" / name).symlink_to(Path(sys.prefix, name))
    (tmp_path / ".venv/ready").touch()
    return tmp_path


def test_make_help_and_clean(tree):
    assert "make reproduce   run the study" in run("make", "help", cwd=tree)
    (tree / "results/reference").mkdir(parents=True)
    (tree / "results/tables").mkdir()
    (tree / "results/README.md").touch()
    run("make", "clean", cwd=tree)
    assert {path.name for path in (tree / "results").iterdir()} == {"README.md", "reference"}


PROPERTY = """\
import os

from hypothesis import given, strategies


@given(strategies.integers())
def test_property(number):
    assert os.environ["EXAMPLES"] == "3"


def test_of_another_kind():
    raise AssertionError
"""


@pytest.mark.slow
def test_make_fuzz_runs_the_property_tests_alone(tree):
    (tree / "tests/pairsig").mkdir(parents=True)
    (tree / "tests/pairsig/test_property.py").write_text(PROPERTY, encoding="utf-8")
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n", encoding="utf-8")
    (tree / ".venv/ready").touch()
    command = "PYTEST_XDIST_AUTO_NUM_WORKERS=1 make fuzz EXAMPLES=3"
    assert "1 passed" in run("sh", "-c", command, cwd=tree)


MODULE = '''\
"""A module with two functions."""

from numba import njit


@njit(cache=True)
def twice(a: int) -> int:
    """Compiled."""
    return a + a


def larger(a: int, b: int) -> int:
    """The larger of two, at most 10."""
    if a > b:
        return min(a, 10)
    return min(b, 10)
'''
TEST = """\
from pairsig.metrics.exact_arithmetic import larger, twice


def test_twice():
    assert twice(3) == 6


def test_larger():
    assert larger(3, 2) == larger(1, 3) == 3
"""
EQUIVALENT = (
    "module\tscope\tbefore\tafter\treason\n"
    "src/pairsig/metrics/exact_arithmetic.py\tlarger\tif a > b: return min(a, 10)\tif (a >= b): return min(a, 10)\t"
    "either, if equal\n"
)


@pytest.mark.slow
def test_make_mutants(tree):
    """In a tree of one module, whose test does not try its bound of 10."""
    files = {
        "src/pairsig/__init__.py": "",
        "src/pairsig/metrics/exact_arithmetic.py": MODULE,
        "tests/pairsig/test_random_streams.py": TEST,
        "tests/pairsig/test_comparisons.py": TEST,
        "tests/conftest.py": "",
        "tests/oracles.py": "",
        "tests/mutation_equivalents.tsv": EQUIVALENT,
        ".gitignore": ".venv\n.mutants\n",
        "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow', 'packages', 'slurm']\n",
    }
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "tests/mutation.py", tree / "tests")
    (tree / ".venv/ready").touch()
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    printed = run("make", "mutants", "SECONDS=300", cwd=tree)
    killed, tried, equivalent, endless = re.search(
        r"^src/pairsig/metrics/exact_arithmetic\.py +(\d+) +(\d+) +(\d+) +(\d+)   [\d.]+ % ", printed, re.MULTILINE
    ).groups()
    assert 0 < int(killed) < int(tried)
    assert (equivalent, endless) == ("1", "0")
    lived = re.findall(
        r"^lives: src/pairsig/metrics/exact_arithmetic\.py larger\n +(.*)\n +(.*)$", printed, re.MULTILINE
    )
    assert lived == [  # its bound; all that is wrong about the comparison is noticed
        ("if a > b: return min(a, 10)", "if a > b: return min(a, (11))"),
        ("if a > b: return min(a, 10)", "if a > b: return min(a, (9))"),
        ("return min(b, 10)", "return min(b, (11))"),
        ("return min(b, 10)", "return min(b, (9))"),
    ]
    again = run("make", "mutants", "SAMPLE=2", "SECONDS=300", cwd=tree)
    assert re.search(r"of [12] mutants that are not equivalent", again)
    assert "killed: " not in again  # known from the first time


@pytest.mark.slow
def test_the_hooks_before_a_commit_run(tmp_path):
    """On two files; mypy, which reads all of them, is left to `make lint`."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for hook in config["repos"][0]["hooks"]:
        program = Path(hook["entry"].split()[0])
        assert program.parent == Path(".venv/bin")
        assert f"$(BIN)/{program.name}" in MAKEFILE
        assert (BIN / program.name).exists()
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in (".pre-commit-config.yaml", "pyproject.toml", "Snakefile"):
        shutil.copy(ROOT / name, folder)
    (folder / "module.py").write_text('"""A module."""\n', encoding="utf-8")
    (folder / ".venv").symlink_to(sys.prefix)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "add", "Snakefile", "module.py", ".pre-commit-config.yaml"], check=True)
    done = subprocess.run(
        [BIN / "pre-commit", "run", "--all-files", "--color", "never"],
        cwd=folder,
        env=environment(tmp_path) | {"SKIP": "mypy"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^([\w ]+)\.\.+(\w+)$", done.stdout, re.MULTILINE) == [
        ("ruff check", "Passed"), ("ruff format", "Passed"), ("snakefmt", "Passed"), ("mypy", "Skipped"),
    ]  # fmt: skip
