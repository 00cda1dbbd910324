"""One set of versions: what conda is asked for is what the lock files have."""

import ast
import functools
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
import yaml

from pairsig import InputError
from pairsig.io import packages
from running import ROOT


def locked():
    """The version of every package in the lock files, and the checksums of all."""
    lines = "".join(
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "requirements-retrain.lock")
    )
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ]+)", lines, re.MULTILINE)), set(re.findall(r"--hash=(\S+)", lines))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(*extras):
    """The distributions that pairsig requires, with these extras and those that they name."""
    found = set()
    for requirement in [*PROJECT["dependencies"], *(own for extra in extras for own in EXTRAS[extra])]:
        name, also = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", requirement).groups()
        found |= declared(*also.split(",")) if name == "pairsig" else {name.lower()}
    return found


EXTRAS = PROJECT["optional-dependencies"]
HOMES = packages_distributions() | {"pycrfsuite": ["python-crfsuite"], "thot": ["sil-thot"]}


@functools.cache
def imported(path):
    """The distributions that a module imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names, "pairsig", "study", "base_models"}
    return {re.sub(r"[-_.]+", "-", HOMES[top][0]).lower() for top in tops if top != "ufal"}  # three packages


def test_all_that_is_imported_is_declared():
    found = set()
    for package, extras in {"pairsig": ["all"], "study": ["workflow"], "base_models": ["all", "retrain"]}.items():
        for path in (ROOT / "src" / package).rglob("*.py"):
            assert imported(path) <= declared(*extras), path
            found |= imported(path)
    assert {"numpy", "matplotlib", "jinja2", "pyyaml"} <= found


def test_an_optional_package_is_in_the_extra_that_its_message_names():
    for package, (extra, _) in packages.EXTRAS.items():
        (name,) = declared(extra) & {re.sub("_", "-", package)}
        assert name not in declared()
    assert declared("all") == declared(*{extra for extra, _ in packages.EXTRAS.values()})


def modules_of(code, *arguments, cwd=None):
    """The packages that are imported when code has run, and what it printed before."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)", *arguments],
        capture_output=True, text=True, check=True, cwd=cwd,
    )  # fmt: skip
    *printed, modules = ended.stdout.splitlines()
    return {name.partition(".")[0] for name in modules.split()}, "\n".join(printed)


HEAVY = {"numba", "pandas", "pyarrow", "sacrebleu", "rich", "narwhals", "matplotlib", "nltk"}


def test_two_systems_need_numpy_and_scipy_alone():
    """The exact test, its interval and the test with a margin, in Python."""
    loaded, printed = modules_of(
        "import pairsig\n"
        "a, b = [1, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0]\n"
        "result = pairsig.exact_test(a, b)\n"
        "print(result.pvalue, pairsig.difference_interval(a, b), pairsig.margin_test(a, b, 0.3).pvalue)\n"
        "f1 = [[1, 2, 2], [2, 2, 3]] * 9, [[1, 1, 2], [1, 2, 3]] * 9\n"
        "print(pairsig.exact_test(*f1, metric='f1').pvalue, pairsig.difference_interval(*f1, metric='f1'))"
    )
    assert printed.startswith("0.03125 ")
    assert loaded & HEAVY == set()


def commands(*lines, cwd=None):
    """The packages that are imported when commands of `pairsig` have run in one process, and what they printed."""
    code = (
        "import sys\nfrom pairsig import cli\n"
        "for line in sys.argv[1:]:\n"
        "    try: cli.main(line.split())\n"
        "    except SystemExit: pass"
    )
    return modules_of(code, *lines, cwd=cwd)


def test_versions_and_help_import_nothing_heavy():
    loaded, printed = commands("--version", "--help", "compare --help")
    assert printed.count("usage: pairsig") == 2
    assert loaded & (HEAVY | {"numpy", "scipy"}) == set()


@pytest.mark.parametrize(
    ("forms", "unused"),
    [
        (["table"], HEAVY | {"scipy", "concurrent", "tarfile", "zipfile", "tempfile", "email"}),
        (["sentence", "json", "markdown", "latex"], HEAVY | {"scipy"}),
    ],
)
def test_an_exact_test_on_the_command_line_imports_what_it_uses(forms, unused, tmp_path):
    """It compiles and draws nothing, and for its table starts no thread and reads no archive."""
    for name, scores in (("a", "1 0 1 1 1 1"), ("b", "0 0 1 0 1 0")):
        (tmp_path / name).write_text(scores.replace(" ", "\n") + "\n", encoding="utf-8")
    loaded, printed = commands(*(f"compare a b --format {form}" for form in forms), cwd=tmp_path)
    assert printed.count("0.25") >= len(forms)
    assert loaded & unused == set()


COMMANDS = (
    "compare a.txt b.txt --margin 3",
    "compare a.txt b.txt --n-resamples 50 --test randomization",
    "compare a.txt b.txt --n-resamples 50 --test bootstrap",
    "rank a.txt b.txt c.txt --n-resamples 50",
    "compare a.txt b.txt c.txt --all",
    "plan --metric accuracy --score 80 --gain 8 --correlation 0.5",
)


def test_without_numba_the_numbers_are_the_same(tmp_path):
    """Loops are interpreted, draws come from numpy, and exact tests of pairs are done one by one."""
    rng = np.random.default_rng(1)
    for name in "abc":
        np.savetxt(tmp_path / f"{name}.txt", rng.integers(0, 9, 12), fmt="%d")
    code = "import sys\n{}\nfrom pairsig import cli\nfor words in sys.argv[1:]: cli.main(words.split())"
    compiled, interpreted = (
        modules_of(code.format(first), *COMMANDS, cwd=tmp_path)
        for first in ("", "sys.modules.update(dict.fromkeys(['numba', 'pyarrow', 'sacrebleu', 'nltk']))")
    )
    assert "numba" in compiled[0]
    assert "llvmlite" not in interpreted[0]
    assert interpreted[1] == compiled[1]
    assert compiled[1].count("exact") > 1


@pytest.mark.parametrize("package", packages.EXTRAS)
def test_a_missing_package_is_one_sentence(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        InputError, match=rf"need {package}, which is not installed; type pip install 'pairsig\[\w+\]'$"
    ):
        packages.need(package)


def from_pip(name):
    """The requirements of an environment of conda, all of which pip installs."""
    environment = yaml.safe_load((ROOT / f"workflow/envs/{name}.yaml").read_text(encoding="utf-8"))
    *from_conda, requirements = environment["dependencies"]
    assert set(from_conda) == {"python=3.11", "pip"} | ({"openjdk=17", "maven=3.9"} if name == "retrain" else set())
    return requirements["pip"]


@pytest.mark.parametrize("name", ["pairsig", "retrain"])
def test_conda_gets_the_locked_versions_by_their_checksums(name):
    versions, checksums = locked()
    for requirement in from_pip(name):
        package, version, *hashes = re.match(r"([\w.-]+)==(\S+)", requirement).groups()
        hashes = re.findall(r"--hash=(\S+)", requirement)
        assert versions[package] == version
        assert hashes
        assert set(hashes) <= checksums, package


@pytest.mark.parametrize("name", ["pairsig", "retrain"])
def test_conda_gets_all_that_its_rules_import(name):
    """What base models import is left out where it is not needed."""
    needed = declared()
    for path in (ROOT / "src").rglob("*.py"):
        if path.parent.name != "base_models":
            needed |= imported(path)
    if name == "retrain":
        needed |= declared("retrain")
    assert {"jinja2", "numpy"} <= needed
    packages = {requirement.partition("==")[0] for requirement in from_pip(name)}
    assert {re.sub(r"[-_.]+", "-", package) for package in needed} - packages == set()


@pytest.mark.slow  # it downloads 300 MB
def test_pip_installs_what_conda_asks_it_for(tmp_path):
    """Python 3.11 is conda's own; a job needs no more than that, these packages and the sources."""
    if sys.version_info[:2] != (3, 11):
        pytest.skip("needs Python 3.11, as in the environment")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "conda"], check=True)
    (tmp_path / "requirements.txt").write_text("\n".join(from_pip("pairsig")), encoding="utf-8")
    theirs = tmp_path / "conda/bin/python"
    subprocess.run([theirs, "-m", "pip", "install", "--quiet", "-r", tmp_path / "requirements.txt"], check=True)
    printed = [
        subprocess.run(
            [
                python,
                "-m",
                "pairsig",
                "compare",
                "baseline.txt",
                "tuned.txt",
                "--reference",
                "reference.txt",
                "--metric",
                "bleu",
            ],
            env={"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            cwd=ROOT / "config/example",
            check=True,
            capture_output=True,
        ).stdout
        for python in (theirs, sys.executable)
    ]
    assert printed[0] == printed[1] != b""


@pytest.fixture
def not_installed(tmp_path):
    """Runs Python with all that is installed but pairsig, whose sources are on the path instead."""
    site = tmp_path / "site"
    site.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "pairsig" not in path.name:
            (site / path.name).symlink_to(path)

    def python(*arguments, cwd=tmp_path):
        # Without `site`, no .pth file of an editable install is read.
        environment = {"PYTHONPATH": f"{ROOT / 'src'}:{site}", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-S", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )

    return python


def test_the_commands_run_without_an_install(not_installed):
    """As the workflow's jobs do in an environment of conda."""
    missing = not_installed("-c", "import importlib.metadata; importlib.metadata.version('pairsig')")
    assert "PackageNotFoundError" in missing.stderr
    version = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    example = ROOT / "config/example"
    done = not_installed(
        "-m", "pairsig", "compare", "baseline.txt", "tuned.txt", "--reference", "reference.txt", "--metric", "bleu",
        "--n-resamples", "100", "--format", "json", cwd=example,
    )  # fmt: skip
    assert f"version:{version}" in done.stdout, done.stderr
