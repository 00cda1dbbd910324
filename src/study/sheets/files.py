"""Read sheets: tab-separated tables, or YAML for cells with code or lists.

Both have the same rows, cells by column; empty cells are left out. In YAML, a sheet maps the names of rows to their
columns. Every scalar is text: `no` is "no".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pairsig.io.choices import one_of
from pairsig.io.errors import InputError, named, quoted, reason
from study.sheets.messages import explain, sentence
from study.sheets.models import Keys, R, Row, Sheet, kind

Cells = tuple[partial[str], dict[str, Any]]
"""The function that describes the place of a column, and the cells."""


def read(paths: Sequence[str], of: type[R]) -> Sheet[R]:
    """Read a sheet, which may be in several files, and check its rows one by one."""
    return Sheet(" or ".join(paths), tuple(chain.from_iterable(read_file(path, of) for path in paths)))


def read_file(path: str, of: type[R]) -> list[R]:
    """Read the rows of a file."""
    rows = []
    for place, cells in (_yaml if of.yaml else _table)(path, of):
        try:
            rows.append(of.model_validate(cells, context=place))
        except ValidationError as error:
            (column,), actual, expected = explain(error, of)
            raise InputError(sentence(place(column), actual, expected)) from None
    return rows


def _text(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> InputError:
    description = getattr(error, "strerror", None) or reason(error)
    return InputError(f"{named(path)}: cannot be read ({description})")


def _check_known(where: str, column: str, word: str, known: Collection[str]) -> None:
    """Refuse an unknown column or key."""
    if column not in known:
        raise InputError(sentence(where, f"the {word} {quoted(column)}", one_of(column, known)))


def _table(path: str, of: type[Row]) -> Iterator[Cells]:
    """Read the rows of a tab-separated file."""
    try:
        lines = list(csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise _unreadable(path, error) from None
    header = lines[0] if lines else []
    for column in header:
        _check_known(f"{path}, line 1", column, "column", of.model_fields)
        if header.count(column) > 1:
            raise InputError(sentence(f"{path}, line 1", f"the column {quoted(column)} twice", "it once"))
    for column, field in of.model_fields.items():
        if field.is_required() and column not in header:
            raise InputError(sentence(f"{path}, line 1", f"no column {column!r}", "one"))
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cells):
            continue
        place = partial(_place_in_table, f"{path}, line {number}")
        if len(cells) != len(header):
            raise InputError(sentence(place(""), f"{len(cells)} cells", f"{len(header)} as in line 1"))
        yield place, {column: cell for column, cell in zip(header, cells, strict=True) if cell}


def _place_in_table(row: str, column: str) -> str:
    return f"{row}, column {column}" if column else row


def _yaml(path: str, of: type[Row]) -> Iterator[Cells]:
    """Read the rows of a YAML file."""
    name, noun = of.key[-1], of.key[-1].replace("_", " ")
    fields = {column: field for column, field in of.model_fields.items() if column != name}
    usual = f"{', '.join(column for column, field in fields.items() if field.is_required())} and other keys"
    root = _composed(path)
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise InputError(
            sentence(f"{path}, line {_line(root)}", kind(_cell(root)), f"the name of a {noun} and a colon")
        )
    for title, row in root.value:
        if not isinstance(title, yaml.ScalarNode):
            raise InputError(sentence(f"{path}, line {_line(title)}", kind(_cell(title)), f"the name of a {noun}"))
        called = f"{noun} {named(title.value)}"
        if not isinstance(row, yaml.MappingNode):
            raise InputError(sentence(f"{path}, line {_line(row)}, {called}", kind(_cell(row)), usual))
        lines: dict[str, int] = {}
        place = partial(_place_in_yaml, path, _line(title), called, lines)
        cells: dict[str, Any] = {name: title.value}
        for key, value in row.value:
            where = f"{path}, line {_line(key)}, {called}"
            if not isinstance(key, yaml.ScalarNode):
                raise InputError(sentence(where, kind(_cell(key)), one_of("", fields)))
            _check_known(where, key.value, "key", fields)
            if key.value in lines:
                again = f"it once: it is in line {lines[key.value]} already"
                raise InputError(sentence(f"{where}, key {key.value}", "it again", again))
            lines[key.value] = _line(key)
            if cell := _cell(value):
                cells[key.value] = cell
        yield place, cells


def _place_in_yaml(path: str, line: int, row: str, lines: dict[str, int], column: str) -> str:
    """Describe the place of a key; a missing one, and the name of the row, have the line of the row."""
    if not column:
        return f"{path}, line {line}"
    is_key = column in lines or not row.startswith(f"{column.replace('_', ' ')} ")
    return f"{path}, line {lines.get(column, line)}, {row}" + f", key {column}" * is_key


def _composed(path: str) -> yaml.Node | None:
    """Parse YAML to its nodes, which know their lines."""
    try:
        root: yaml.Node | None = yaml.compose(_text(path), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else path
        description = reason(ValueError(error.problem or error.context))
        raise InputError(f"{where}: cannot be read as YAML ({description})") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as YAML ({reason(error)})") from None
    return root


def _cell(node: yaml.Node, levels: int = 2) -> str | list[Any]:
    """Convert a node to text, a list or keys with values; what is nested deeper is no cell, and may have no end."""
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value).strip("\n")
    items = node.value if levels else []
    if isinstance(node, yaml.MappingNode):
        return Keys((_cell(key, levels - 1), _cell(value, levels - 1)) for key, value in items)
    return [_cell(item, levels - 1) for item in items]


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1
