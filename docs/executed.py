"""Run the examples in the documentation and compare their output with the page, character by character.

* `console` blocks: each line `$ …`, what it prints below it; Python blocks with prompts as doctests.
* In a page that says where (below), also `bash` blocks, whose lines of pairsig are run, and Python blocks without
  prompts. Of a `text` block that comes next, all lines are what the last of the commands prints.

A page says in its front matter which folder it is run in, of which it gets a copy (`executed-in: config/example`), and
what else of the repository is to be there (`executed-with: resources`). Notes and warnings are not shown. `make docs`
runs the examples of every page.
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
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```(console|python|bash|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FRONT = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


def differences(text: str, pictures: Path | None = None) -> Iterator[str]:
    """What the examples of a page print instead of what stands there, an example each; nothing where all is well.

    Pictures that they draw are copied into the folder `pictures`, where the page shows them.
    """
    front = _FRONT.match(text)
    where = dict(re.findall(r"^(executed-\w+): (\S+)$", front[1], re.MULTILINE)) if front else {}
    blocks = _BLOCK.findall(text)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) / "work"
        if "executed-in" in where:
            shutil.copytree(ROOT / where["executed-in"], work)
        else:
            work.mkdir()
        if "executed-with" in where:
            (work / where["executed-with"]).symlink_to(ROOT / where["executed-with"])
        with contextlib.chdir(work):
            names: dict[str, Any] = {}
            for (language, block), (following, printed) in pairwise([*blocks, ("", "")]):
                if language == "console":
                    yield from _of_commands(block)
                elif language == "python" and ">>>" in block:
                    yield from _of_python(block, names)
                elif language == "python" and where:
                    exec(compile(block, "page", "exec"), names)
                elif language == "bash" and where:
                    yield from _of_script(block, printed if following == "text" else None)
        for picture in sorted(work.glob("*.svg")) if pictures else ():
            shutil.copy(picture, pictures / picture.name)


def _of_script(block: str, printed: str | None) -> Iterator[str]:
    """Commands of pairsig, the last of which prints this; of None it is only asked that they work."""
    commands = [line for line in block.splitlines() if line.startswith("pairsig ")]
    for command in commands:
        found = _run(command)
        if "error: " in found or (printed and command == commands[-1] and _compared(found) != _compared(printed)):
            yield f"$ {command}\nprints\n{found}\nexpected\n{printed}"


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
    runner, description = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), io.StringIO()
    runner.run(example, out=description.write, clear_globs=False)
    names.update(example.globs)
    if runner.failures:
        yield description.getvalue()


def _check(_: Any, page: str, source: list[str]) -> None:
    from sphinx.util import logging

    if os.environ.get("PAIRSIG_DOCS_UNEXECUTED"):  # for whoever writes a page and looks at it every minute
        return
    for difference in differences(source[0], ROOT / "docs" / "made"):
        logging.getLogger(__name__).warning(
            "an example does not print what stands there:\n%s", difference, location=page
        )


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("source-read", _check, priority=100)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
