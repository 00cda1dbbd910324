"""Rows of a table from nested JSON: `{system: {item: score}}`, `{"results": [{"id": …, "scores": {…}}]}` and so on.

Objects that describe one row are flattened, and lists or objects with a member per row are unfolded. The names of the
members of an object are the labels of its rows if they all contain the same kind of value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

from pairsig.io.errors import InputError
from pairsig.readers import layout

_NO_TABLES = (
    "config", "configuration", "settings", "args", "params", "parameters", "hyperparameters", "summary", "aggregate",
    "aggregated", "averages", "means", "overall", "meta", "metadata", "info",
)  # fmt: skip
"""Members of a document that describe the scores or summarize them."""
Row: TypeAlias = dict[tuple[str, ...], Any]
"""Cells by the names that lead to them."""


def columns(rows: Sequence[Row]) -> tuple[dict[str, list[Any]], dict[str, tuple[str, ...]]]:
    """Cells by column, and the names of the levels of nested columns; a column has its last name if no other has it."""
    paths = dict.fromkeys(path for row in rows for path in row)
    last = Counter(path[-1] for path in paths)
    names = {path: path[-1] if len(path) == 1 or last[path[-1]] == 1 else ".".join(path) for path in paths}
    levels = {name: path for path, name in names.items() if len(path) > 1}
    return {name: [row.get(path) for row in rows] for path, name in names.items()}, levels


def of_object(item: Mapping[str, Any]) -> list[Row]:
    """The row that an object describes, or those of the only list of scored objects or of scores in it."""
    lists = {name: own for name, own in item.items() if isinstance(own, list) and own}
    row = {path: cell for path, cell in _flat(item).items() if path[0] not in lists}
    if any(layout.is_a("score", path[-1]) and _is_number(cell) for path, cell in row.items()):
        return [row | {(name,): own for name, own in lists.items()}]
    numbers = [path for path, cell in row.items() if _is_number(cell) and layout.role(path[-1]) not in ("item", "run")]
    scored = {
        name: own
        for name, own in lists.items()
        if _all(dict, own) and any(_is_scored(cell, not numbers) for cell in own)
    }
    plain = {name: own for name, own in lists.items() if all(map(_is_number, own))}
    if len(scored) == 1:
        return [row | own for each in next(iter(scored.values())) for own in of_object(each)]
    if len(plain) == 1 and not scored and not numbers:
        ((name, own),) = plain.items()
        label = "rater" if any(layout.role(path[-1]) == "item" for path in row) else "item"
        return [row | {(label,): place, (name,): score} for place, score in enumerate(own, start=1)]
    return [row | {(name,): own for name, own in lists.items()}]


def of_document(document: Any, path: str, chosen: layout.Chosen) -> list[Row]:
    """The rows of a document.

    Raises
    ------
    InputError
        If it is no table, or if either of two levels may have the systems.
    """
    try:
        return _Unfolding(path, chosen).rows(document)
    except RecursionError:
        raise InputError(f"{path}: found deeply nested JSON, expected a table") from None


class _Unfolding:
    def __init__(self, path: str, chosen: layout.Chosen) -> None:
        self.path, self.chosen = path, chosen
        self.unknown = InputError(
            f"{path}: found JSON that is no table, expected a list of objects, one per row, or one list or object of "
            "scores per system"
        )

    def rows(self, node: Any, labels: tuple[str, ...] = ()) -> list[Row]:
        """The rows below a node; `labels` are the names that lead to it."""
        if isinstance(node, list) and node:
            if _all(dict, node):
                return [row for item in node for row in self._of_row(item, labels)]
            if _all(list, node):
                head, *below = node
                if not (below and _all(str, head) and not _all(str, below[0])):
                    head, below = [str(place) for place in range(1, max(map(len, node)) + 1)], node
                return [self._labelled(_flat(dict(zip(head, row, strict=False))), labels) for row in below]
            if all(map(_is_number, node)):
                return self._of_lists({"score": node}, labels)
        if not isinstance(node, dict) or not node:
            raise self.unknown
        if {"columns", "data"} <= node.keys() and _all(list, (node["columns"], node["data"])):  # pandas: split
            return self.rows([list(map(str, node["columns"])), *node["data"]], labels)
        if {"schema", "data"} <= node.keys():  # pandas: table
            return self.rows(node["data"], labels)
        nested = {name: own for name, own in node.items() if _is_nested(own) and own}
        tables = {name: own for name, own in nested.items() if name.lower() not in _NO_TABLES}
        if not labels and 0 < len(tables) < len(nested):
            return self._of_the_table_in(node, tables, labels)
        if (
            not nested
            and len(node) > 2 * layout.MANY
            and all(map(_is_number, node.values()))
            and not any(map(layout.role, node))
        ):
            return [self._labelled({("item",): name, ("score",): score}, labels) for name, score in node.items()]
        if not nested:
            return [self._labelled(_flat(node), labels)]
        if _all(list, nested.values()) and all(not _is_nested(cell) for own in nested.values() for cell in own):
            return self._of_lists(nested, labels, _metric(node))
        if len(nested) == len(node) > 1 and (_all(dict, node.values()) or _all(list, node.values())):
            return self._of_members(node, labels)
        return self._of_the_table_in(node, nested, labels)

    def _of_row(self, item: Mapping[str, Any], labels: Sequence[str]) -> list[Row]:
        """The rows of an object in a list: one, or those of the only object with many members that are alike."""
        members = [
            own
            for own in item.values()
            if isinstance(own, dict)
            and len(own) > 2 * layout.MANY
            and (
                all(map(_is_number, own.values()))
                or (_all(dict, own.values()) and len({*map(frozenset, own.values())}) == 1)
            )
        ]
        if len(members) != 1:
            return [self._labelled(row, labels) for row in of_object(item)]
        beside: Row = {(name,): own for name, own in item.items() if not _is_nested(own)}
        rows: list[Row] = [
            {("item",): name} | (_flat(own) if isinstance(own, dict) else {("score",): own})
            for name, own in members[0].items()
        ]
        return [self._labelled(beside | row, labels) for row in rows]

    def _labelled(self, row: Row, labels: Sequence[str]) -> Row:
        """The row with the names that lead to it: the system, the run and the item, as far as the row has none."""
        own = {layout.role(path[-1]) for path in row}
        rest = list(labels)
        found: Row = {}
        if rest and "system" not in own:
            found["system",] = rest.pop(0)
        item = rest[-1:] if "item" not in own else []
        rest = rest[: len(rest) - len(item)]
        if rest and "run" not in own and layout.is_run(rest[0]):
            found["run",] = rest.pop(0)
        if rest or item:
            found["item" if item else "task",] = " / ".join([*rest, *item])
        return found | row

    def _of_lists(
        self, lists: Mapping[str, list[Any]], labels: tuple[str, ...], beside: Row | None = None
    ) -> list[Row]:
        """Rows of lists of equal lengths, one per column, and the same cells beside each of them."""
        if len({len(own) for own in lists.values()}) > 1:
            sizes = ", ".join(f"{name} has {len(own)}" for name, own in islice(lists.items(), 5))
            raise InputError(
                f"{self.path}: found lists of different lengths ({sizes}), expected one score per item in each"
            )
        rows: list[Row] = [
            (beside or {}) | {(name,): cell for name, cell in zip(lists, cells, strict=True)}
            for cells in zip(*lists.values(), strict=True)
        ]
        if labels and not any(layout.role(name) == "item" for name in lists):
            rows = [{("item",): place} | row for place, row in enumerate(rows, start=1)]
        return [self._labelled(row, labels) for row in rows]

    def _of_members(self, node: Mapping[str, Any], labels: tuple[str, ...]) -> list[Row]:
        """Rows of an object whose members are alike."""
        outer = list(node)
        inner = list(dict.fromkeys(name for own in node.values() if isinstance(own, dict) for name in own))
        if not _all(dict, node.values()) or any(_is_nested(cell) for own in node.values() for cell in own.values()):
            regular = _all(dict, node.values()) and all(
                _is_nested(cell) for own in node.values() for cell in own.values()
            )
            if regular and len(inner) == 1:
                return self._of_members({name: own[inner[0]] for name, own in node.items() if own}, labels)
            scored = any(layout.is_a("score", name) for name in inner)
            if regular and not labels and not scored and not self._systems_first(outer, inner):
                node = {name: {one: own[name] for one, own in node.items() if name in own} for name in inner}
            return [row for name, own in node.items() for row in self.rows(own, (*labels, name))]
        scores = any(layout.is_a("score", name) for name in inner)
        if labels and scores:
            return [self._labelled(_flat(own), (*labels, name)) for name, own in node.items()]
        many = layout.are_numbered(outer) or len(outer) >= layout.MANY * len(inner)
        if layout.has_roles(inner) or (scores and many):  # pandas: index
            return [{("",): name} | _flat(own) for name, own in node.items()]
        if layout.has_roles(outer):  # pandas: columns
            return [{("",): name} | {(column,): own.get(name) for column, own in node.items()} for name in inner]
        if labels:
            return [
                self._labelled({("score",): score}, (*labels, one, two))
                for one, own in node.items()
                for two, score in own.items()
            ]
        if self._systems_first(outer, inner):
            return [{("item",): item} | {(name,): own.get(item) for name, own in node.items()} for item in inner]
        return [{("item",): name} | _flat(own) for name, own in node.items()]

    def _systems_first(self, outer: Sequence[str], inner: Sequence[str]) -> bool:
        asked = self.chosen.system or []
        wanted = [name.strip() for name in asked.split(",")] if isinstance(asked, str) else list(asked)
        if wanted:
            return set(wanted) <= set(outer)
        if layout.are_numbered(outer) != layout.are_numbered(inner):
            return layout.are_numbered(inner)
        if layout.MANY * min(len(outer), len(inner)) <= max(len(outer), len(inner)):
            return len(outer) < len(inner)
        hint = self.chosen.hint("system", outer[:2])
        raise InputError(
            f"{self.path}: found {len(outer)} objects with {len(inner)} names each, either of which may be the "
            f"systems, expected many more items than systems; name the systems, for example with {hint}"
        )

    def _of_the_table_in(
        self, node: Mapping[str, Any], nested: Mapping[str, Any], labels: tuple[str, ...]
    ) -> list[Row]:
        """Rows of the only member that may be a table, with the texts beside it; or of lists beside settings."""
        lists = {name: own for name, own in nested.items() if isinstance(own, list)}
        settings = [cell for name, own in nested.items() if name not in lists for cell in own.values()]
        if lists and all(map(_is_number, chain(*lists.values()))) and not any(map(_is_nested, settings)):
            return self._of_lists(lists, labels, _metric(node))
        tables = [own for own in nested.values() if isinstance(own, list) and _all(dict, own)]
        if len(tables) != 1:
            tables = [own for own in nested.values() if len(nested) == 1 or _is_table(own)]
        if len(tables) != 1:  # also of members that are less than a fifth of it, such as settings and means
            sizes = {name: _size(own) for name, own in nested.items()}
            largest = max(sizes, key=lambda name: sizes[name])
            others = [size for name, size in sizes.items() if name != largest]
            if layout.MANY * max(others) > sizes[largest]:
                raise self.unknown
            tables = [nested[largest]]
        beside: Row = {(name,): own for name, own in node.items() if isinstance(own, str) or layout.role(name) == "run"}
        beside = _metric(node) | {path: own for path, own in beside.items() if not _is_nested(own)}
        return [beside | row for row in self.rows(tables[0], labels)]


def _metric(node: Mapping[str, Any]) -> Row:
    """The metric and its direction that a document states beside its scores, or in an object of settings."""
    inner = [own for own in node.values() if isinstance(own, dict)]
    stated = [one for own in (node, *inner) for one in own.items()]
    names = {(name,): own for name, own in stated if layout.is_a("metric", name) and isinstance(own, str)}
    return names | {(name,): own for name, own in stated if layout.is_a("direction", name) and isinstance(own, bool)}


def _size(node: Any) -> int:
    """The number of cells in a node."""
    if not _is_nested(node):
        return 1
    return sum(map(_size, node.values() if isinstance(node, dict) else node))


def _is_table(node: Any) -> bool:
    """Whether all values of a node are nested, which those of settings are not."""
    values = list(node.values()) if isinstance(node, dict) else node
    return all(_is_nested(own) for own in values) and len(values) > 1


def _flat(node: Mapping[str, Any], above: tuple[str, ...] = ()) -> Row:
    """The cells of nested objects by the names that lead to them."""
    row: Row = {}
    for name, own in node.items():
        if isinstance(own, dict):
            row |= _flat(own, (*above, name))
        else:
            row[*above, name] = own
    return row


def _is_scored(node: Mapping[str, Any], by_any_name: bool) -> bool:
    """Whether an object has a score, or any number."""
    return any(
        _is_number(cell) and (by_any_name or layout.is_a("score", path[-1])) for path, cell in _flat(node).items()
    )


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, list | dict)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float)


def _all(kind: Any, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)
