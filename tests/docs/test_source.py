"""The source can be read: variables named for what they hold, short functions, plain comprehensions.

Tests, too, have short functions, and every file of them begins by saying what it compares with what.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from running import ROOT

VAGUE = {"found", "kept", "one", "own", "said"}
"""Names that do not say what a variable holds."""
MOST_LINES = 80
"""Lines of a function, from `def` to its end, without its docstring."""

Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def variables(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of every variable that is bound: by assignment, as a parameter, in a loop, by a pattern."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def vague(tree: ast.AST) -> list[tuple[int, str]]:
    return [(line, name) for line, name in variables(tree) if name in VAGUE]


def long(tree: ast.AST) -> list[tuple[int, str]]:
    """Functions with more than `MOST_LINES` lines."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [(node.lineno, node.name) for node in functions if n_lines(node) > MOST_LINES]


def n_lines(function: ast.FunctionDef) -> int:
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    return function.end_lineno - function.lineno + 1 - documented * (first.end_lineno - first.lineno + 1)


def nested(tree: ast.AST) -> list[tuple[int, str]]:
    """Comprehensions with several `for`, or with several `if`."""
    several = []
    for node in ast.walk(tree):
        if isinstance(node, Comprehension):
            n_conditions = sum(len(loop.ifs) for loop in node.generators)
            if len(node.generators) > 1 or n_conditions > 1:
                several.append((node.lineno, type(node).__name__))
    return several


def undescribed(tree: ast.Module) -> list[tuple[int, str]]:
    return [] if ast.get_docstring(tree) else [(1, "no docstring")]


@cache
def modules(folder: str) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / folder).rglob("*.py"))}


@pytest.mark.parametrize(
    ("folder", "wrong"), [("src", vague), ("src", long), ("src", nested), ("tests", long), ("tests", undescribed)]
)
def test_no_module_has(folder, wrong):
    """The assertion shows file:line of each."""
    places = []
    for path, tree in modules(folder).items():
        places += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in wrong(tree)]
    assert places == []


def test_what_is_looked_for_is_found():
    source = "def f(own, *, n):\n    for one in own:\n        kept = {x for y in one for x in y}\n    return kept\n"
    tree = ast.parse(source)
    assert sorted(vague(tree)) == [(1, "own"), (2, "one"), (3, "kept")]
    assert nested(tree) == [(3, "SetComp")]
    assert long(tree) == []
    assert long(ast.parse("def g():\n" + '    """Of many\n\n    lines."""\n' + "    pass\n" * 79)) == []
    assert long(ast.parse("def g():\n" + "    pass\n" * 80)) == [(1, "g")]
    assert undescribed(tree) == [(1, "no docstring")]
