"""Turn an error of a model into what a message says: where, what was found, what was expected, what was probably meant.

For most errors, the description of the field says what was expected. Validators whose message needs other words raise a
`Fault`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from pairsig.io.choices import one_of
from pairsig.io.errors import quoted

_UNKNOWN = ("extra_forbidden", "invalid_key")
_FIRST = (*_UNKNOWN, "missing")
"""Kinds of errors that are reported before others, since they may be the cause of these."""


class Fault(ValueError):
    """What validators raise.

    Parameters
    ----------
    actual
        Default: the value.
    expected
        Default: the description of the field.
    field
        The field to change, if a validator compares several fields of a model.
    """

    def __init__(self, actual: str = "", expected: str = "", field: str = "") -> None:
        super().__init__(actual)
        self.actual, self.expected, self.field = actual, expected, field


def sentence(where: str, actual: str, expected: str) -> str:
    """Phrase a message."""
    return f"{where}: found {actual}, expected {expected}"


def explain(error: ValidationError, model: type[BaseModel]) -> tuple[list[str], str, str]:
    """Find the first error: the names of the fields that lead to it, what was found there and what was expected."""
    first = min(error.errors(include_url=False), key=lambda details: details["type"] not in _FIRST)
    fault = first.get("ctx", {}).get("error")
    fault = fault if isinstance(fault, Fault) else Fault()
    path: list[str] = []
    field = None
    for name in filter(None, [*first["loc"], fault.field]):
        if name not in model.model_fields:  # a position in a list, or an alternative of the type
            break
        path.append(str(name))
        field = model.model_fields[str(name)]
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            model = field.annotation
    if first["type"] in _UNKNOWN:
        return [], *_unknown(first, path, model)
    assert field is not None
    actual = "nothing" if first["type"] == "missing" else fault.actual or _shown(first, path)
    return path, actual, fault.expected or _expected(field, first)


def description(field: FieldInfo) -> str:
    """The description of a field, without its links."""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", field.description or "")


def choices(field: FieldInfo) -> list[str]:
    """The values of a field that has a few."""
    values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in values]


def _unknown(error: Mapping[str, Any], path: list[str], model: type[BaseModel]) -> tuple[str, str]:
    """Describe a key that a block of the config does not have."""
    name = error["input"] if error["type"] == "invalid_key" else error["loc"][-1]
    inside = f" in {'.'.join(path)}" if path else ""
    return f"the key {quoted(name)}{inside}", one_of(str(name), model.model_fields)


def _shown(error: Mapping[str, Any], path: list[str]) -> str:
    """Quote the value, which may be an item of a list."""
    in_list = any(isinstance(step, int) for step in error["loc"][len(path) :])
    return quoted(error["input"]) + " in it" * in_list


def _expected(field: FieldInfo, error: Mapping[str, Any]) -> str:
    known = choices(field)
    return one_of(str(error["input"]), known) if known and error["type"] != "missing" else description(field)
