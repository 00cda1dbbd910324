"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# The threads of Thot sleep while they wait: on busy cores, waiting in a loop costs twenty times what they compute.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
"""Examples of every property test, if more are wanted: `EXAMPLES=2000 make test`."""

# Every run uses the same examples, so that a failure is due to a change. `EXAMPLES` looks for others.
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
    """Set how many examples a property test has, unless `EXAMPLES` says otherwise. Its fixtures last for all of them.

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
