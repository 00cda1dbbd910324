"""What the documents say can be run is run by something: a command that no check runs is a promise nobody keeps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from running import BIN, ROOT, environment, run

DOCUMENTS = [
    *ROOT.glob("*.md"), *ROOT.glob("docs/*.md"),
    ROOT / "config/README.md", ROOT / "results/README.md",
    *ROOT.glob("config/*.yaml"), ROOT / ".github/workflows/test.yml", ROOT / ".github/workflows/release.yml",
]  # fmt: skip
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.search(r"^\.PHONY: (help .*)$", MAKEFILE, re.MULTILINE)[1].split())

ELSEWHERE = {
    "help": "tests/docs/test_promises.py",
    "clean": "tests/docs/test_promises.py",
    "mutants": "tests/docs/test_promises.py",
    "reproduce": "tests/docs/test_promises.py: the command of `make quick`, which .ci/run calls, but for an overlay",
    "retrain": "tests/workflow/test_retrain.py",
    "slurm": "tests/slurm/quick, which .ci/run calls",
    "findings": "tests/study/test_findings.py: what it would write is what is committed",
    "lock": ".ci/run, in a clone",
    "test-slurm": "by hand; .ci/run calls tests/slurm/quick, its first part",
    "test-all": ".github/workflows/test.yml, every week",
    "test-rebuilt": "by hand, half an hour: a system of every base model, from the public corpora",
}
"""Targets that `.ci/run` need not call by this name, and what runs their commands instead."""


def test_every_target_that_a_document_names_exists():
    for document in DOCUMENTS:
        named = re.findall(r"(?:`|^ *|- run: )make ([a-z][a-z-]*)", document.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(named) <= TARGETS, document


def test_every_target_is_run_by_something():
    lines = re.findall(r"\bstep make (?!--directory)([^;\n]*)", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    called = {word for line in lines for word in line.split() if re.fullmatch("[a-z][a-z-]*", word)}
    assert called <= TARGETS
    assert TARGETS - called <= ELSEWHERE.keys() <= TARGETS


def test_every_variable_that_a_document_sets_is_one_of_the_makefile():
    known = set(re.findall(r"\$\((?:if \$\()?([A-Z_]+)\)", MAKEFILE))
    for document in DOCUMENTS:
        for command in re.findall(r"\bmake [a-z-]+((?: [A-Z_]+=\S*)+)", document.read_text(encoding="utf-8")):
            assert set(re.findall(r"([A-Z_]+)=", command)) <= known, document


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


def test_make_reproduce_is_make_quick_without_its_overlay():
    recipes = dict(re.findall(r"^(reproduce|quick): \$\(READY\)\n\t(.*)$", MAKEFILE, re.MULTILINE))
    assert recipes["reproduce"] == "workflow/run --cores $(CORES) --"
    assert recipes["quick"] == f"{recipes['reproduce']} --configfile config/quick.yaml"


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
        r"^src/pairsig/metrics/exact_arithmetic\.py +(\d+) +(\d+) +(\d+) +(\d+)$", printed, re.MULTILINE
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


def test_the_container_is_set_up_as_a_clone_is():
    """The steps are compared with those of a fresh clone, so the test needs no container engine."""
    path = ROOT / "workflow/envs/Containerfile"
    text = path.read_text(encoding="utf-8")
    steps = [line.split(maxsplit=1) for line in text.replace("\\\n", "").splitlines() if line and line[0] != "#"]
    supported = re.search(r"^supported=\((.*)\)$", (ROOT / "workflow/venv").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(r"python:(3\.\d+)-slim-bookworm", dict(steps)["FROM"])[1] in supported[1].split()
    install, *made = [words for name, words in steps if name == "RUN"]
    needed = re.search(r"--no-install-recommends ([a-z0-9 -]+?) *&&", install)[1].split()
    assert needed == ["make", "openjdk-17-jre-headless", "maven"]
    assert made == ["make setup-retrain"]
    assert (dict(steps)["ENTRYPOINT"], dict(steps)["CMD"]) == ('["make"]', '["reproduce"]')
    ignored = (ROOT / "workflow/envs/Containerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv"} <= set(ignored)
    assert set(ignored) <= {".git", *(ROOT / ".gitignore").read_text(encoding="utf-8").replace("/", "").split()}
    command = f"docker build --file {path.relative_to(ROOT)} --tag pairsig ."
    assert f"#   {command}\n" in text
    assert command in (ROOT / "docs/cluster.md").read_text(encoding="utf-8")


def steps_of(workflow):
    jobs = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text(encoding="utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job.get("steps", ()) if "run" in step]


@pytest.mark.parametrize("workflow", ["test", "release"])
def test_the_two_files_that_a_workflow_tests(workflow, tmp_path):
    for step in (step for step in steps_of(workflow) if "--format sentence" in step):
        assert "p = 0.0625" in run("bash", "-e", "-o", "pipefail", "-c", step, cwd=tmp_path)


def test_files_that_a_workflow_names_are_there():
    for step in (step for workflow in ("test", "release") for step in steps_of(workflow)):
        for name in re.findall(r"\btests/[\w/.]+", step):
            assert (ROOT / name).exists(), step
    assert os.access(ROOT / "tests/wheel", os.X_OK)
