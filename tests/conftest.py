"""Fixtures shared by all tests."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import re
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from running import ROOT

# The threads of Thot sleep while they wait: on busy cores, waiting in a loop costs twenty times what they compute.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
"""Examples of every property test in `make fuzz`."""

# Every run uses the same examples, so that a failure is due to a change. `make fuzz` looks for others.
# There is no deadline: how long an example takes depends on the machine more than on the code.
settings.register_profile("same", max_examples=25, derandomize=True, database=None, deadline=None)
settings.register_profile("fuzz", max_examples=EXAMPLES or 1, deadline=None)
settings.load_profile("fuzz" if EXAMPLES else "same")


FEWER = int(os.environ.get("FEWER", "1"))
"""By which number the repetitions of every long simulation are divided in `make test-all SMALL=yes`."""


def repetitions(number: int) -> int:
    """How often a long simulation is repeated; the limits that its test allows follow from it."""
    return number // FEWER


def examples(number: int, *, simplified: bool = True) -> settings:
    """Set how many examples a property test has, except in `make fuzz`. Its fixtures last for all of them.

    An example that fails is not simplified where it is the seed of a generator.
    """
    phases = [Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink, Phase.explain] if simplified else [])]
    suppressed = [HealthCheck.function_scoped_fixture]
    return settings(max_examples=EXAMPLES or number, phases=phases, suppress_health_check=suppressed)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep garbage collection away from all that is imported and collected, which it would look at again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def file(tmp_path):
    """Write a text file, by its name; returns its path."""

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def answer(capsys):
    """The rows that `pairsig compare` prints as JSON, and what it says beside them."""
    from pairsig import cli

    def answered(*words: object) -> tuple[list[dict[str, Any]], str]:
        status = cli.main(["compare", *map(str, words), "--format", "json"])
        printed = capsys.readouterr()
        assert status == 0, printed.err
        return json.loads(printed.out)["rows"], printed.err

    return answered


@pytest.fixture
def rows(answer):
    """The rows that `pairsig compare` prints as JSON."""
    return lambda *words: answer(*words)[0]


@pytest.fixture
def refusal(capsys):
    """What a command of `pairsig` says that must fail: with status 2, and nothing on standard output."""
    from pairsig import cli

    def refused(*words: object) -> str:
        status = cli.main(list(map(str, words)))
        printed = capsys.readouterr()
        assert (status, printed.out) == (2, "")
        return printed.err

    return refused


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the public corpora, which are no part of the project."""
    sibling = Path(__file__).resolve().parents[2] / "shared/data"
    folder = Path(os.environ.get("PAIRSIG_DATA_DIR") or sibling)
    if not folder.is_dir():
        pytest.skip("public corpora not found: set PAIRSIG_DATA_DIR")
    return folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A small study with its pages; the processes of a test run share it, because it takes many seconds to build."""
    import pages

    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "study"
    with shared.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            pages.study(shared.with_suffix(".part")).rename(shared)
    return shared


@pytest.fixture(scope="module")
def browser():
    """A Chromium without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    options = ["--no-sandbox", "--disable-background-networking"]
    with ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_api.sync_playwright())
            chromium = playwright.chromium.launch(executable_path=path, args=options)
        except Exception as error:  # a driver that does not start raises no `sync_api.Error`
            pytest.skip(f"no Chromium: {str(error).splitlines()[0]}")
        yield chromium
        chromium.close()


FEW = """\
montecarlo: {n_simulated: 8, n_pairs: 1, n_runs: 1, n_resamples: [100, 20000], n_segments: [250, 10000], n_repeats: 1}
"""


def clone(folder: Path) -> Path:
    """Make of a folder the project as after a clone, its config a copy that can be edited and asks for little."""
    for name in ("Snakefile", "workflow", "src", "resources"):
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    shutil.copytree(ROOT / "config", folder / "config")
    config = folder / "config" / "config.yaml"
    text, n_replaced = re.subn(r"^montecarlo:\n( +.*\n)+", FEW, config.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert n_replaced == 1
    config.write_text(text, encoding="utf-8")
    return folder


def worked_example(heading: str) -> tuple[list[str], str, list[str]]:
    """An example of config/README.md: the rows for each sheet, the command, and the files that it promises."""
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    *rows, command = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return rows, command.strip(), re.findall(r"^\| `(results/[^`]+)`", section, re.MULTILINE)


def add_rows(project: Path, **rows: str) -> None:
    """Append rows to sheets of a project."""
    for name, text in rows.items():
        (path,) = (project / "config").glob(f"{name}.*")
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def use_own_sheets(project: Path) -> None:
    """Let every run of a project read the sheets of the worked examples, as with `config/own.yaml`."""
    own_sheets = re.search(
        r"^own_sheets:\n(  .*\n)+", (project / "config/own.yaml").read_text(encoding="utf-8"), re.MULTILINE
    )
    config = project / "config/config.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("own_sheets: {}\n", own_sheets[0]), encoding="utf-8")


def own_environment(project: Path) -> None:
    """Give a project the Makefile, and our environment as if it had set it up, packages of base models included."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-retrain.lock"):
        (project / name).symlink_to(ROOT / name)
    (project / ".venv").unlink()
    (project / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (project / ".venv" / name).symlink_to(Path(sys.prefix, name))
    for name in ("ready", "retrainable"):
        (project / ".venv" / name).touch()


def own_code(project: Path) -> None:
    """Give a project a copy of the code, which can be edited."""
    (project / "src").unlink()
    shutil.copytree(ROOT / "src", project / "src")


def own_statistics(project: Path) -> Path:
    """Give a project a folder of its own for embedded statistics, which can be added to."""
    (project / "resources").unlink()
    folder = project / "resources" / "statistics"
    folder.mkdir(parents=True)
    for path in (ROOT / "resources").glob("*.tsv"):
        (folder.parent / path.name).symlink_to(path)
    for path in (ROOT / "resources" / "statistics").glob("*.parquet"):
        (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def project(tmp_path):
    return clone(tmp_path)


@pytest.fixture
def sheets_read_once(monkeypatch):
    """Read a sheet of the study once per content; what is checked between sheets is checked every time."""
    from study.sheets import files

    read = _READ.setdefault("read", files.read_file)

    def once(path, of):
        try:
            key = path, of, Path(path).read_bytes()
        except OSError:
            return read(path, of)
        if key not in _READ:
            _READ[key] = read(path, of)
        return _READ[key]

    monkeypatch.setattr(files, "read_file", once)


_READ: dict[object, object] = {}
