"""Read sheets: tab-separated tables, or YAML for cells with code or lists.

Both have the same rows: cells of text by column. In YAML, a sheet maps the names of rows to their columns. Lists and
mappings may be written as such (`[a, b]` is the cell `a b`, `{full: 2}` is `full=2`), and every scalar is text: `no` is
"no".
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from pairsig.io.choices import one_of
from pairsig.io.errors import InputError, named, quoted, reason
from study.tables.rows import LISTS, Place, R, Row, Sheet, columns, make, readers

Cells = tuple[Place, dict[str, str]]


def read(path: str, of: type[R]) -> Sheet[R]:
    """Read a sheet, and check its rows one by one."""
    found, how = [], (columns(of), readers(of))
    for place, cells in (_yaml if of.yaml else _table)(path, of):
        for column, cell in cells.items():
            if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", cell) or ("\n" in cell and not of.yaml):
                place.complain(column, quoted(cell), "no control characters")
        found.append(make(of, place, cells, *how))
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


def _table(path: str, of: type[Row]) -> Iterator[Cells]:
    """Read the rows of a tab-separated file, without empty cells."""
    known = columns(of)
    try:
        lines = list(csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    except csv.Error as error:  # a cell of more than 131,072 characters
        raise _unreadable(path, error) from None
    header = lines[0] if lines else []
    for column in header:
        if column not in known:
            raise InputError(f"{path}, line 1: found the column {quoted(column)}, expected {one_of(column, known)}")
        if header.count(column) > 1:
            raise InputError(f"{path}, line 1: found the column {quoted(column)} twice, expected it once")
    for column, one in known.items():
        if one.default is None and column not in header:
            raise InputError(f"{path}, line 1: found no column {column!r}, expected one")
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: found {len(cells)} cells, expected {len(header)} as in line 1")
        yield Place(path, number), {column: cell for column, cell in zip(header, cells, strict=True) if cell}


def _yaml(path: str, of: type[Row]) -> Iterator[Cells]:
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
    known = {column: one for column, one in columns(of).items() if column != name}
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(f"{path}, line {_line(key)}: found {_kind(key)}, expected the name of a {what}")
        row = f"{what} {named(key.value)}"
        if not isinstance(value, yaml.MappingNode):
            expected = f"{', '.join(key for key, one in known.items() if one.default is None)} and other keys"
            raise InputError(f"{path}, line {_line(value)}, {row}: found {_kind(value)}, expected {expected}")
        lines: dict[str, int] = {}
        cells = {name: key.value}
        for inner, cell in value.value:
            column, line = inner.value, _line(inner)
            if not isinstance(inner, yaml.ScalarNode):
                raise InputError(f"{path}, line {line}, {row}: found {_kind(inner)}, expected {one_of('', known)}")
            if column not in known:
                found, expected = f"the key {quoted(column)}", one_of(column, known)
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
