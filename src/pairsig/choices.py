"""What users choose by name: metrics, readers, tests, and the options of what they chose."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pairsig.errors import InputError, quoted

_NAME = 100  # characters of a name that is looked for among others


def choose(name: str, known: Collection[str], what: str) -> str:
    """The name itself, if it is a known one of `what`; else an `InputError` that lists them and the nearest."""
    if not isinstance(name, str) or name not in known:
        raise InputError(f"unknown {what} {quoted(name)}, expected {one_of(str(name), known)}")
    return name


def once(names: Collection[str], what: str) -> None:
    """Refuse a name that is given more than once: what is adjusted for many tests would count it as often."""
    for name in names:
        times = list(names).count(name)
        if times > 1:
            raise InputError(f"{what} {name} is named {times} times, expected once")


def one_of(name: str, known: Collection[str]) -> str:
    """All that could stand there, and what was probably meant."""
    return f"one of {', '.join(known)}{near(name, known)}" if known else "none"


def near(name: str, known: Iterable[str]) -> str:
    """What was probably meant, if anything is near."""
    found = get_close_matches(name[:_NAME].lower(), list(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""


def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Options of a reader or an extractor: its parameters that have a default."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.default is not inspect.Parameter.empty}


def sort_options(given: Mapping[str, str], what: str, *functions: Callable[..., Any]) -> tuple[dict[str, Any], ...]:
    """Options given as text, in the types that the functions annotate them with: one dictionary a function.

    Raises
    ------
    InputError
        For an option that none of the functions has, and for a value that is not of its type.
    """
    known = [options_of(function) for function in functions]
    names = {name: None for options in known for name in options}
    for name in given:
        choose(name, names, f"option of {what}:")
    return tuple(
        {name: _typed(name, text, options[name]) for name, text in given.items() if name in options}
        for options in known
    )


def _typed(name: str, text: str, parameter: inspect.Parameter) -> Any:
    kinds = re.findall(r"\w+", str(parameter.annotation))
    if "bool" in kinds:
        if text not in ("true", "false"):
            raise InputError(f"option {name} is {quoted(text)}, expected true or false")
        return text == "true"
    if "int" in kinds:
        if not re.fullmatch("-?[0-9]{1,18}", text):
            raise InputError(f"option {name} is {quoted(text)}, expected a whole number")
        return int(text)
    return text
