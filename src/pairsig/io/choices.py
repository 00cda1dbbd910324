"""Things that users choose by name (metrics, readers, tests), and their options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pairsig.io.errors import InputError, quoted

_NAME = 100  # characters of a misspelt name that are compared with the known names


def choose(name: str, known: Collection[str], noun: str) -> str:
    """The name itself if it is known; otherwise an `InputError` that lists the known names and suggests one."""
    if not isinstance(name, str) or name not in known:
        raise InputError(f"unknown {noun} {quoted(name)}, expected {one_of(str(name), known)}")
    return name


def spelled(name: str, known: Collection[str]) -> str:
    """The known name that is the same except for upper and lower case; the name itself if none is, or several."""
    same = [candidate for candidate in known if candidate.casefold() == name.casefold()]
    return same[0] if len(same) == 1 and name not in known else name


def once(names: Collection[str], noun: str) -> None:
    """Refuse a repeated name: the adjustment for multiple tests would count it several times."""
    for name in names:
        times = list(names).count(name)
        if times > 1:
            raise InputError(f"{noun} {name} is named {times} times, expected once")


def check_level(value: float, noun: str) -> None:
    """Refuse a level, such as a power, that is not between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"the {noun} is {value}, expected a number between 0 and 1")


def one_of(name: str, known: Collection[str]) -> str:
    """All possible names, and the one that was probably meant."""
    return f"one of {', '.join(known)}{near(name, known)}" if known else "none"


def near(name: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, or "" if no known name is similar."""
    known = list(known)
    begun = [candidate for candidate in known if len(name) > 1 and candidate.lower().startswith(name.lower())]
    if len(begun) == 1:
        return f"; did you mean {begun[0]}?"
    nearest = get_close_matches(name[:_NAME].lower(), known, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""


@lru_cache
def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Options of a reader or an extractor, which are its parameters with a default."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.default is not inspect.Parameter.empty}


def typed_options(texts: Mapping[str, str], noun: str, function: Callable[..., Any]) -> dict[str, Any]:
    """Options from text, in the annotated types of the function."""
    known = options_of(function)
    return {name: _typed(name, text, known[choose(name, known, f"option of {noun}:")]) for name, text in texts.items()}


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
