"""What `make` sets up, with whichever Python it finds: pythons here are scripts that answer as one would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from running import ROOT

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")

PYTHON = """\
#!{bash}
# Answers as Python {version} would.
case "$1 $2" in
"-c import sys"*) printf '{version} %s' "$0";;
"-c import ensurepip, venv") exit {no_venv};;
"-m venv")
	[ "$3" != --clear ] || {{ rm -rf "$4"; shift; }}
	mkdir -p "$3/bin"
	cp "$0" "$3/bin/python";;
"-m pip") echo "{version} $*" >>.venv/log;;
*) echo "unexpected: $*" >&2; exit 1;;
esac
"""


@pytest.fixture
def machine(tmp_path):
    """A folder with the files that `make setup` reads, and a PATH with no Python on it but those that are added."""
    for name in ("Makefile", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("pyproject.toml", "requirements.lock", "requirements-retrain.lock"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "path").mkdir()
    for name in ("bash", "sh", "env", "make", "mkdir", "cp", "rm", "touch", "awk"):
        (tmp_path / "path" / name).symlink_to(shutil.which(name, path="/usr/local/bin:/usr/bin:/bin"))

    def add(name: str, version: str, folder: str = "path", no_venv: int = 0) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PYTHON.format(bash=shutil.which("bash"), version=version, no_venv=no_venv), encoding="utf-8")
        path.chmod(0o755)
        return path

    add.folder = tmp_path
    return add


def make(machine, *arguments, status=0):
    ended = subprocess.run(
        ["make", "setup", *arguments],
        cwd=machine.folder,
        env={"PATH": str(machine.folder / "path")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode != 0) == bool(status), ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def installed(machine):
    """By which version of Python the packages in .venv were installed."""
    return {line.partition(" ")[0] for line in (machine.folder / ".venv/log").read_text(encoding="utf-8").splitlines()}


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        ({"python3": "3.11", "python3.14": "3.14"}, "3.11 of {path}/python3"),
        ({"python3": "3.9", "python3.11": "3.11", "python3.13": "3.13"}, "3.13 of {path}/python3.13"),
        ({"python3": "3.15", "python3.12": "3.12"}, "3.12 of {path}/python3.12"),
        ({"python3.14": "3.14"}, "3.14 of {path}/python3.14"),
    ],
)
def test_the_first_that_suits_is_taken_and_said(machine, there, taken):
    for name, version in there.items():
        machine(name, version)
    printed = make(machine)
    assert f".venv: Python {taken.format(path=machine.folder / 'path')}\n" in printed
    assert installed(machine) == {taken[:4]}
    assert "venv" not in make(machine)  # nothing is left to do


NEEDED = "pairsig needs Python 3.11 to 3.14; found {}: install one or run make PYTHON=/path/to/python\n"


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ({}, "none"),
        ({"python3": ("3.9", 0)}, "3.9 at {path}/python3"),
        (
            {"python3": ("3.10", 0), "python3.11": ("3.11", 1)},
            "3.10 at {path}/python3, 3.11 at {path}/python3.11 without the module venv "
            "(Debian and Ubuntu: apt install python3-venv)",
        ),
    ],
)
def test_where_none_suits_it_stops_with_one_sentence(machine, there, found):
    for name, (version, no_venv) in there.items():
        machine(name, version, no_venv=no_venv)
    assert NEEDED.format(found.format(path=machine.folder / "path")) in make(machine, status=2)
    assert not (machine.folder / ".venv").exists()


def test_the_one_that_is_named_is_taken_or_refused(machine):
    machine("python3", "3.11")
    other = machine("python", "3.13", folder="other")
    make(machine, f"PYTHON={other}")
    assert installed(machine) == {"3.13"}
    old = machine("python", "3.8", folder="old")
    assert NEEDED.format(f"3.8 at {old}") in make(machine, f"PYTHON={old}", status=2)
    assert NEEDED.format("nothing that runs at no/python") in make(machine, "PYTHON=no/python", status=2)
    assert installed(machine) == {"3.13"}  # what was there still is


def test_the_environment_of_another_checkout_is_refused(machine):
    """Behind a symbolic link; this checkout would be installed into it."""
    machine("python3", "3.11")
    make(machine)
    (machine.folder / ".venv").rename(machine.folder / "other")
    (machine.folder / ".venv").symlink_to(machine.folder / "other")
    (machine.folder / "other" / "log").unlink()
    message = (
        ".venv is a symbolic link to the environment of another checkout, into which this one would be installed; "
    )
    assert f"{message}type rm .venv, and repeat" in make(machine, status=2)
    assert not (machine.folder / "other" / "log").exists()


def test_an_environment_of_another_python_is_made_anew(machine):
    machine("python3", "3.11")
    other = machine("python3.14", "3.14")
    make(machine)
    assert installed(machine) == {"3.11"}
    assert "venv" not in make(machine, "PYTHON=python3")  # the same one, named
    make(machine, f"PYTHON={other}")
    assert installed(machine) == {"3.14"}  # no log of 3.11 is left
    assert "venv" not in make(machine)  # none named: what is there stays


def test_an_environment_that_does_not_run_any_more_is_made_anew(machine):
    machine("python3", "3.11")
    make(machine)
    (machine.folder / ".venv/bin/python").unlink()
    (machine.folder / ".venv/bin/python").symlink_to(machine.folder / "uninstalled")
    machine("python3", "3.13")
    make(machine)
    assert installed(machine) == {"3.13"}


def test_a_new_lock_file_is_installed_into_the_environment_that_is_there(machine):
    machine("python3.12", "3.12")
    make(machine)
    machine("python3", "3.14")
    os.utime(machine.folder / "requirements.lock")
    (machine.folder / ".venv/ready").write_text("")
    os.utime(machine.folder / ".venv/ready", (0, 0))
    make(machine)
    assert installed(machine) == {"3.12"}


@pytest.mark.slow
def test_a_real_environment_that_was_left_without_pip_is_made_anew_from_within_itself(tmp_path):
    """Activated, it is itself the `python3` of the PATH."""
    folder = tmp_path / "folder with spaces"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    path = {"PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def venv():
        return subprocess.run(
            [ROOT / "workflow/venv", folder], env=os.environ | path, capture_output=True, text=True, check=True
        ).stdout

    assert venv() == f"{folder}: Python {sys.version_info[0]}.{sys.version_info[1]} of {folder}/bin/python3\n"
    subprocess.run([folder / "bin/python", "-m", "pip", "--version"], check=True, capture_output=True)
    assert venv() == ""


def test_the_pythons_are_the_same_everywhere():
    """Those that `make` takes, the package declares, and workflows try: the oldest and the newest."""
    script = (ROOT / "workflow/venv").read_text(encoding="utf-8")
    assert f"supported=({' '.join(reversed(SUPPORTED))})" in script
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={SUPPORTED[0]}"
    declared = [name.rpartition(" :: ")[2] for name in project["classifiers"] if ":: 3." in name]
    assert tuple(declared) == SUPPORTED
    for name in ("test", "release"):
        jobs = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))["jobs"]
        matrices = [job["strategy"]["matrix"] for job in jobs.values() if "strategy" in job]
        matrices = [one.get("python") or [row["python"] for row in one["include"]] for one in matrices]
        assert matrices
        assert all(matrix == [SUPPORTED[0], SUPPORTED[-1]] for matrix in matrices)
        assert "With Python 3.11 to 3.14 and make" in (ROOT / "README.md").read_text(encoding="utf-8")
