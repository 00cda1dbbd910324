"""The code that a job runs: its command's modules, all that they import, and so on.

Code is an input of the rules, so that what an edit can change is made again. The lists are read off the source, without
importing anything: imports inside functions count, and so do modules that are named in strings to be imported when
they are chosen (`"pairsig.readers.text"`; `f"study.corpora.{task}"` may be any module of that package).

The command lines are left out, they only parse and call; and so is `pairsig/__init__.py`, which only exports.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2]
PACKAGES = ("pairsig", "study")
COMMAND_LINES = ("pairsig.cli", "study.cli")


def of(command: str, *programs: str) -> list[Path]:
    """The files that a command of one of the command lines runs, and those of further programs, such as base models."""
    found: frozenset[str] = frozenset()
    wanted = _of_command(command) | _known(programs)
    while wanted:
        found |= wanted
        wanted = frozenset(name for module in wanted for name in _named(module)) - found
    return sorted(modules()[module] for module in found)


@cache
def modules() -> dict[str, Path]:
    """The files of all modules of the packages, by name."""
    named = {}
    for package in PACKAGES:
        for path in (SOURCES / package).rglob("*.py"):
            name = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
            if name not in (*PACKAGES, "pairsig.console", *COMMAND_LINES):
                named[name] = path
    return named


@cache
def _named(module: str) -> frozenset[str]:
    """The modules that a module names, and the packages they are in."""
    return _known(_imports(ast.parse(modules()[module].read_text(encoding="utf-8"))))


@cache
def _commands() -> dict[str, ast.stmt]:
    """What the command lines define; the command NAME is the function `_NAME` of one of them."""
    found: dict[str, ast.stmt] = {}
    for name in COMMAND_LINES:
        body = ast.parse((SOURCES / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")).body
        found |= {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found


@cache
def _of_command(command: str) -> frozenset[str]:
    """The modules that the function of a command names, and the functions beside it that it calls."""
    functions, wanted = _commands(), [f"_{command}"]
    for name in wanted:  # grows
        used = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)} & functions.keys()
        wanted += sorted(used.difference(wanted))
    return _known(found for name in wanted for found in _imports(functions[name]))


def _imports(node: ast.AST) -> Iterator[str]:
    """Dotted names that are imported somewhere in a piece of code, or stand in a string to be imported."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # the head of an f-string is one, too
        yield from re.findall(r"^((?:pairsig|study)\.[\w.]+)(?::\w*)?$", node.value)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _known(names: Iterable[str]) -> frozenset[str]:
    """The modules among dotted names, with the packages around them; `study.corpora.` is all modules in there."""
    files, found = modules(), set[str]()
    for name in names:
        parts = name.split(".")
        found |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        if not parts[-1]:
            found |= {module for module in files if module.startswith(name)}
    return frozenset(found & files.keys())
