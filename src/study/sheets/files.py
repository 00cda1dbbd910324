"""Read sheets and their schemas: tab-separated tables, or YAML for cells with code or lists.

Both have the same rows: cells of text by column. In YAML, a sheet maps the names of rows to their columns. Lists and
mappings may be written as such (`[a, b]` is the cell `a b`, `{full: 2}` is `full=2`), and every scalar is text: `no` is
"no".
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from pairsig.io.choices import one_of
from pairsig.io.errors import InputError, named, quoted, reason
from study.sheets.rows import LISTS, Place, R, Row, Sheet, make, readers

Cells = tuple[Place, dict[str, str]]


def read(path: str, of: type[R], schema: Mapping[str, Any]) -> Sheet[R]:
    """Read a sheet, check its rows by the schema, and fill in all columns."""
    columns, how = schema["properties"], readers(of)
    found = []
    for place, cells in (_yaml if of.yaml else _table)(path, of, schema):
        for column, cell in cells.items():
            if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", cell) or ("\n" in cell and not of.yaml):
                place.complain(column, quoted(cell), "no control characters")
        for error in errors(cells, schema):
            where, what = sentence(error, schema)
            raise InputError(f"{place.cell(where[0])}: {what}")
        whole = {name: cells.get(name, part.get("default", "")) for name, part in columns.items()}
        found.append(make(of, place, whole, how))
    return Sheet(path, tuple(found))


def _text(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> InputError:
    description = getattr(error, "strerror", None) or reason(error)
    return InputError(f"{named(path)}: cannot be read ({description})")


def _table(path: str, of: type[Row], schema: Mapping[str, Any]) -> Iterator[Cells]:  # noqa: ARG001
    """Read the rows of a tab-separated file, without empty cells."""
    columns = schema["properties"]
    try:
        lines = list(csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise _unreadable(path, error) from None
    header = lines[0] if lines else []
    for column in header:
        if column not in columns:
            raise InputError(f"{path}, line 1: found the column {quoted(column)}, expected {one_of(column, columns)}")
        if header.count(column) > 1:
            raise InputError(f"{path}, line 1: found the column {quoted(column)} twice, expected it once")
    for column in schema["required"]:
        if column not in header:
            raise InputError(f"{path}, line 1: found no column {column!r}, expected one")
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: found {len(cells)} cells, expected {len(header)} as in line 1")
        yield Place(path, number), {column: cell for column, cell in zip(header, cells, strict=True) if cell}


def _yaml(path: str, of: type[Row], schema: Mapping[str, Any]) -> Iterator[Cells]:
    """Read the rows of a YAML file, without empty cells."""
    try:
        root = yaml.compose(_text(path), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else path
        description = reason(ValueError(error.problem or error.context))
        raise InputError(f"{where}: cannot be read as YAML ({description})") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as YAML ({reason(error)})") from None
    name, what = of.key[-1], of.key[-1].replace("_", " ")
    lists = {column for column, cell in readers(of).items() if any(cell is one for one in LISTS)}
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise InputError(f"{path}, line {_line(root)}: found {_kind(root)}, expected the name of a {what} and a colon")
    columns = {column: part for column, part in schema["properties"].items() if column != name}
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(f"{path}, line {_line(key)}: found {_kind(key)}, expected the name of a {what}")
        row = f"{what} {named(key.value)}"
        if not isinstance(value, yaml.MappingNode):
            expected = f"{', '.join(schema['required'][1:])} and other keys"
            raise InputError(f"{path}, line {_line(value)}, {row}: found {_kind(value)}, expected {expected}")
        lines: dict[str, int] = {}
        cells = {name: key.value}
        for inner, cell in value.value:
            column, line = inner.value, _line(inner)
            if not isinstance(inner, yaml.ScalarNode):
                raise InputError(f"{path}, line {line}, {row}: found {_kind(inner)}, expected {one_of('', columns)}")
            if column not in columns:
                found, expected = f"the key {quoted(column)}", one_of(column, columns)
                raise InputError(f"{path}, line {line}, {row}: found {found}, expected {expected}")
            if column in lines:
                again = f"found it again, expected it once: it is in line {lines[column]} already"
                raise InputError(f"{path}, line {line}, {row}, key {column}: {again}")
            lines[column] = line
            place = Place(path, _line(key), row, lines)
            if text := _cell(place, column, cell, may_list=column in lists):
                cells[column] = text
        yield Place(path, _line(key), row, lines), cells


def _cell(place: Place, column: str, node: yaml.Node, *, may_list: bool) -> str:
    """Convert a cell to text; lists and mappings are written as in a table."""
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value).strip("\n")
    if not may_list:
        place.complain(column, _kind(node), "text")
    words = []
    for item in node.value:
        parts = item if isinstance(item, tuple) else (item,)
        for part in parts:
            if not isinstance(part, yaml.ScalarNode):
                place.complain(column, f"{_kind(part)} in it", "words")
            if not part.value or re.search(r"\s", part.value):
                place.complain(column, quoted(part.value), "a word, without spaces")
        words.append("=".join(part.value for part in parts))
    return " ".join(words)


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return quoted(node.value) if node.value else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "keys"


# Schemas.


def schema(schemas: Path, name: str) -> dict[str, Any]:
    """Read the schema of the config or of a sheet."""
    found: dict[str, Any] = yaml.load(  # ten times faster if libyaml is installed
        (schemas / f"{name}.schema.yaml").read_text(encoding="utf-8"),
        Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
    )
    return found


def _is_whole(_: object, number: object) -> bool:
    """Whether a value is an integer; 10.0 is not, because the commands would reject it."""
    return isinstance(number, int) and not isinstance(number, bool)


def _is_number(_: object, number: object) -> bool:
    return _is_whole(_, number) or (isinstance(number, float) and math.isfinite(number))


_VALIDATOR = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_whole, "number": _is_number}),
)


def errors(instance: object, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Validate the config or a row by its schema."""
    try:
        yield from _VALIDATOR(schema).iter_errors(instance)
    except ValueError:  # jsonschema would print this number
        raise InputError("config: found a number with thousands of digits, expected a shorter one") from None


def sentence(error: ValidationError, schema: Mapping[str, Any]) -> tuple[list[str], str]:
    """Path of an error (empty if the message contains it), with what was found and expected there."""
    known = error.schema.get("properties", schema["properties"])
    path = [str(key) for key in error.absolute_path]
    if error.validator == "additionalProperties":
        key = next(key for key in error.instance if key not in known)
        inside = f" in {'.'.join(path)}" if path else ""
        return [], f"found the key {quoted(key)}{inside}, expected {one_of(str(key), known)}"
    found, wanted = quoted(error.instance), error.schema.get("description", error.message)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        path, found, wanted = [*path, missing], "nothing", known[missing]["description"]
    elif error.validator == "anyOf" and not path:  # a row: alternatives of cells that must occur together
        missing = next(key for way in error.validator_value for key in way["required"] if key not in error.instance)
        path, found, wanted = [missing], "nothing", known[missing]["description"]
    elif error.validator == "enum":
        named = [str(one).lower() if isinstance(one, bool) else str(one) for one in error.validator_value]
        wanted = one_of(str(error.instance), named)
    return path, f"found {found}, expected {wanted}"
