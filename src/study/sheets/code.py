"""Find the code that a job runs: the modules of its command, with all their imports.

Code is an input of the rules, so that an edit repeats the jobs that it can change. The source is parsed without
imports. Imports inside functions count, and so do strings with the names of modules that are imported on demand
(`"pairsig.readers.outputs.text"`; `f"study.corpora.{task}"` may be any module of that package).

The command-line modules are left out because they only parse and call, and the `__init__.py` of packages and of
`study.analysis` because they only list names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from study import analysis

SOURCES = Path(__file__).parents[2]
PACKAGES = ("pairsig", "study", "base_models")
COMMAND_LINES = ("pairsig.cli", "study.cli")
LISTS = (*PACKAGES, "study.analysis")
_NAME = re.compile(rf"((?:{'|'.join(PACKAGES)})\.[\w.]+)(?::\w*)?$")


def of(command: str, *programs: str) -> list[Path]:
    """Find the files that a command runs, with those of further programs such as base models."""
    reached: frozenset[str] = frozenset()
    wanted = _of_command(command) | _known(programs)
    while wanted:
        reached |= wanted
        wanted = frozenset().union(*map(_named, wanted)) - reached
    return sorted(modules()[module] for module in reached)


@cache
def modules() -> dict[str, Path]:
    """Find the files of all modules of the packages, by name."""
    named = {}
    for package in PACKAGES:
        for path in (SOURCES / package).rglob("*.py"):
            name = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
            if name not in (*LISTS, "pairsig.io.console", *COMMAND_LINES):
                named[name] = path
    return named


@cache
def _named(module: str) -> frozenset[str]:
    """Find the modules that a module names, with their packages."""
    return _known(_imports(ast.parse(modules()[module].read_text(encoding="utf-8"))))


@cache
def _commands() -> dict[str, ast.stmt]:
    """Collect the functions of the command lines; the command NAME is the function `_NAME`."""
    functions: dict[str, ast.stmt] = {}
    for name in COMMAND_LINES:
        body = ast.parse((SOURCES / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")).body
        functions |= {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return functions


@cache
def _of_command(command: str) -> frozenset[str]:
    """Find the modules in the function of a command, and in the functions of its module that it calls.

    A command without a function is an analysis, which is a module.
    """
    functions, name = _commands(), command.replace("-", "_")
    if f"_{name}" not in functions:
        return _of_command("analyse") | _known([analysis.MODULES[name]] if name in analysis.MODULES else [])
    wanted = [f"_{name}"]
    for name in wanted:  # also those that are appended on the way
        used = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)} & functions.keys()
        wanted += sorted(used.difference(wanted))
    return _known(chain.from_iterable(_imports(functions[name]) for name in wanted))


def _imports(code: ast.AST) -> Iterator[str]:
    """Find dotted names in the imports and strings of a piece of code."""
    left = [code]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and (name := _NAME.match(node.value)):  # including beginnings of f-strings
                yield name[1]
        elif not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            left += ast.iter_child_nodes(node)


def _known(names: Iterable[str]) -> frozenset[str]:
    """Select modules from dotted names, with their packages; `study.corpora.` selects all modules in that package."""
    files, with_packages = modules(), set[str]()
    for name in names:
        parts = name.split(".")
        with_packages |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        if not parts[-1]:
            with_packages |= {module for module in files if module.startswith(name)}
    return frozenset(with_packages & files.keys())
