"""Examples in the documentation are run: `console` blocks command by command, Python blocks with prompts as doctests.

A page says in its front matter which folder its commands are run in (`executed-in: config/example`): they get a copy
of it. What is printed must be what stands in the page, to the letter; notes and warnings are not shown. `make docs`
runs the examples of every page, and so do the tests, without Sphinx.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FOLDER = re.compile(r"\A---\n(?:.*\n)*?executed-in: (\S+)\n")


def differences(text: str) -> Iterator[str]:
    """What the examples of a page print instead of what stands there, an example each; nothing where all is well."""
    folder = _FOLDER.match(text)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) / "work"
        if folder:
            shutil.copytree(ROOT / folder[1], work)
        else:
            work.mkdir()
        with contextlib.chdir(work):
            names: dict[str, Any] = {}
            for language, block in _BLOCK.findall(text):
                if language == "console":
                    yield from _of_commands(block)
                elif ">>>" in block:
                    yield from _of_python(block, names)


def _of_commands(block: str) -> Iterator[str]:
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, printed = (example + "\n").split("\n", 1)
        while command.endswith("\\"):
            line, printed = printed.split("\n", 1)
            command = command[:-1] + line
        found = _run(command)
        if _compared(found) != _compared(printed):
            yield f"$ {command}\nprints\n{found}\nexpected\n{printed}"


def _compared(printed: str) -> list[str]:
    """Lines without blanks at their ends, and signatures without the version."""
    return [re.sub(r"\bversion:[\w.+]+", "version:", line.rstrip()) for line in printed.rstrip().splitlines()]


def _run(command: str) -> str:
    """What a command prints; those of pairsig are run in this process, which is faster."""
    if not command.startswith("pairsig ") or set("|<>;&$`") & set(re.sub(r"'[^']*'", "", command)):
        ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, encoding="utf-8")
        return ended.stdout if ended.returncode == 0 else f"{ended.stdout}{ended.stderr}status {ended.returncode}"
    from pairsig import cli

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(shlex.split(command)[1:])
        except SystemExit as stop:
            status = int(stop.code or 0)
    errors = [line for line in err.getvalue().splitlines() if "error: " in line]
    return "\n".join([out.getvalue().rstrip("\n"), *errors]).strip("\n") if status else out.getvalue()


def _of_python(block: str, names: dict[str, Any]) -> Iterator[str]:
    example = doctest.DocTestParser().get_doctest(block, names, "page", None, 0)
    runner, told = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), io.StringIO()
    runner.run(example, out=told.write, clear_globs=False)
    names.update(example.globs)
    if runner.failures:
        yield told.getvalue()


def _check(_: Any, page: str, source: list[str]) -> None:
    from sphinx.util import logging

    if os.environ.get("PAIRSIG_DOCS_UNEXECUTED"):  # for whoever writes a page and looks at it every minute
        return
    for difference in differences(source[0]):
        logging.getLogger(__name__).warning(
            "an example does not print what stands there:\n%s", difference, location=page
        )


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("source-read", _check, priority=100)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
