"""Shapes of the source: what a reader can take in at once."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FOLDERS = ("pairsig/core", "pairsig/io", "pairsig/metrics")
MODULES = [path for folder in FOLDERS for path in sorted((SOURCE / folder).rglob("*.py"))]

LONGEST = 80
"""Lines of a function, with its docstring."""

SAY_NOTHING = {"found", "kept", "one", "own", "said"}
"""Names that variables must not have, because they do not say what the variable holds."""

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def places(path, condition):
    """Lines of the nodes of a module for which a condition holds."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [f"{path.relative_to(SOURCE)}:{node.lineno}" for node in ast.walk(tree) if condition(node)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_function_is_too_long_to_be_seen_at_once(path):
    def is_long(node):
        return isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 > LONGEST

    assert places(path, is_long) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_comprehension_has_one_loop_and_one_condition(path):
    def is_nested(node):
        return isinstance(node, COMPREHENSIONS) and (
            len(node.generators) > 1 or sum(len(loop.ifs) for loop in node.generators) > 1
        )

    assert places(path, is_nested) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_variable_is_named_for_what_it_holds(path):
    def says_nothing(node):
        is_variable = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        name = node.id if is_variable else node.arg if isinstance(node, ast.arg) else ""
        return name in SAY_NOTHING

    assert places(path, says_nothing) == []
