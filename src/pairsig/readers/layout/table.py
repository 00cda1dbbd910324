"""A table as it was found, what the user says about it, and the roles of its columns as far as they are known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics import Metric
from pairsig.readers.layout.cells import Column
from pairsig.readers.layout.vocabulary import is_a, key, split_run
from pairsig.readers.system_counts import to_array

Label = TypeVar("Label", bound=Hashable)
Names = str | Sequence[str | Metric] | None
_PYTHON = {"item": "segment"}
"""Names of the options in Python where they differ."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the user says about the columns.

    Attributes
    ----------
    system
        Column with the names of systems; or the columns of scores, one per system.
    item
        Column with the ids of items, or several that identify an item together.
    score
        Columns of scores, or metrics whose counts the table has.
    gold
        Column with the right answers, with which the columns of answers are compared.
    run, document, domain
        Columns with these labels.
    lower_is_better
        Columns that are errors or costs; True for all.
    one_system
        Whether several columns of numbers are metrics of the same system, since other files have other systems.
    python
        Whether options are shown as arguments of a Python function.
    """

    system: Names = None
    item: Names = None
    score: Names = None
    gold: str | None = None
    run: str | None = None
    document: str | None = None
    domain: str | None = None
    lower_is_better: Names | bool = None
    one_system: bool = False
    python: bool = False

    def hint(self, role: str, names: Iterable[str]) -> str:
        """The option to type."""
        names = list(names)
        if not self.python:
            return f"--option {role}={','.join(names)}"
        shown = ", ".join(f'"{name}"' for name in names)
        return f"{_PYTHON.get(role, role)}=[{shown}]" if len(names) > 1 else f"{_PYTHON.get(role, role)}={shown}"


@dataclass(frozen=True)
class Cells:
    """A table as it was found.

    Attributes
    ----------
    source
        What messages call the table.
    columns
        Cells by the names of columns; the name may be empty.
    lines, place
        Line (or row) of each row in the file, and which of both it is.
    comma
        What a comma in a number separates, see `Column`.
    unnamed
        Whether the table had no line of names, so that they are numbers.
    levels
        For columns below several names, such as those of a system and a metric: these names.
    notes
        Sentences about what was left out.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    place: str = "row"
    comma: str = ""
    unnamed: bool = False
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass
class Table:
    """A table whose columns get their roles step by step.

    Attributes
    ----------
    cells
        The table as it was found.
    chosen
        What the user said about the columns.
    columns
        The columns by their names.
    lines
        Line (or row) of each row in the file.
    notes
        Sentences about how the table was read.
    beside
        Columns of numbers that are not used.
    lower_is_better
        What a column such as `higher_is_better` says of all rows, or None.
    systems, runs, document, domain
        The columns with these labels, None if there are none.
    items
        The columns that identify an item together; none if the items are the rows in their order.
    """

    cells: Cells
    chosen: Chosen
    columns: dict[str, Column]
    lines: Sequence[int]
    notes: list[str]
    beside: list[str] = field(default_factory=list)
    lower_is_better: bool | None = None
    systems: str | None = None
    runs: str | None = None
    document: str | None = None
    domain: str | None = None
    items: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, cells: Cells, chosen: Chosen) -> Table:
        """The table without empty columns of no name and without empty rows."""

        def empty(cell: Any) -> bool:
            return cell is None or (isinstance(cell, str) and not cell.strip())

        columns = {name: own for name, own in cells.columns.items() if key(name) != "" or not all(map(empty, own))}
        columns.pop("n_rows", None)  # pairsig's own mark of a complete file
        rows = [row for row, own in enumerate(zip(*columns.values(), strict=True)) if not all(map(empty, own))]
        if not rows:
            raise InputError(f"{cells.source}: found no rows, expected one per item")
        whole = {name: Column(own, cells.comma) for name, own in columns.items()}
        table = cls(cells, chosen, whole, cells.lines, list(cells.notes))
        if len(rows) < len(cells.lines):
            table.keep(rows)
        for name in [name for name in columns if is_a("direction", name)]:
            truths = {bool(value) for value in table.columns.pop(name).values}
            if len(truths) == 1 and chosen.lower_is_better is None:
                table.lower_is_better = truths.pop() == key(name).startswith("lower")
                table.note(f"{'lower' if table.lower_is_better else 'higher'} is better, as `{name.strip()}` says")
        return table

    @property
    def source(self) -> str:
        """What messages call the table."""
        return self.cells.source

    @property
    def free(self) -> list[str]:
        """The columns without a role."""
        roles = {self.systems, self.runs, self.document, self.domain, *self.items}
        return [name for name in self.columns if name not in roles]

    def keep(self, rows: Sequence[int]) -> None:
        """Leave out all other rows."""
        self.lines = [self.lines[row] for row in rows]
        self.columns = {name: Column([own.cells[row] for row in rows], own.comma) for name, own in self.columns.items()}

    def note(self, text: str) -> None:
        """Add a sentence about how the table was read."""
        self.notes.append(f"{self.source}: {text}")

    def error(self, text: str, row: int | None = None) -> InputError:
        """An error about the table or one of its rows."""
        return InputError(f"{self.source if row is None else self.where(row)}: {text}")

    def where(self, row: int) -> str:
        """The place of a row in the file."""
        return f"{self.source}, {self.cells.place} {self.lines[row]}"

    def column(self, name: str, role: str) -> str:
        """The column that the user named."""
        for own in self.columns:
            if own == name or own.strip() == name.strip():
                return own
        raise self.error(
            f"found no column {quoted(name)} for {self.chosen.hint(role, [name])}, expected one of "
            f"{listed(self.columns)}{near(name, self.columns)}"
        )

    def wanted(self, role: str) -> list[Any]:
        """The names that the user gave for a role: those in a sequence, or in a text with commas, each of them once."""
        names = getattr(self.chosen, role)
        if names is None or isinstance(names, bool):
            return []
        if isinstance(names, str):
            names = [names] if names in self.columns else [name.strip() for name in names.split(",")]
        found = [name if isinstance(name, Metric) else str(name) for name in names]
        for name in found:
            if found.count(name) > 1:
                raise InputError(f"option {role} contains {quoted(str(name))} twice, expected it once")
        return found

    def labels(self, names: Sequence[str]) -> list[str]:
        """The text of the cells, those of several columns joined."""
        own = [self.columns[name].labels for name in names]
        return own[0] if len(own) == 1 else list(map(" / ".join, zip(*own, strict=True)))

    def joined(self, names: Sequence[str]) -> str:
        """The name of a new column with the cells of several, joined by blanks, instead of these."""
        rows = zip(*(self.labels([name]) for name in names), strict=True)
        cells = [" ".join(row) if all(row) else None for row in rows]
        for name in names:
            del self.columns[name]
        new = " and ".join(name.strip() for name in names)
        self.columns[new] = Column(cells)
        return new

    def outputs(self) -> list[tuple[str, str]]:
        """The system and the run of each row, "" if the table does not contain them."""
        found = []
        for name, what in ((self.systems, "system"), (self.runs, "run")):
            labels = [""] * len(self.lines) if name is None else self.labels([name])
            if any(labels) and not all(labels):
                raise self.error(f"found no name of the {what}, expected one as in other rows", labels.index(""))
            found.append(labels)
        if self.systems is not None and self.runs is None:
            split = {name: split_run(name, self.columns) for name in set(found[0])}
            if all(run for _, run in split.values()) and len({system for system, _ in split.values()}) < len(split):
                found = [[split[name][place] for name in found[0]] for place in (0, 1)]
        outputs = list(zip(*found, strict=True))
        # A system with one run is compared like one without: nothing is known of the variance between runs.
        several = len({system for system, _ in outputs}) < len(set(outputs))
        return outputs if several else [(system, "") for system, _ in outputs]

    def array(self, name: str) -> tuple[Any, np.ndarray[Any, np.dtype[np.bool_]]]:
        """The numbers of a column, 0 where they are missing; and where they are."""
        column = self.columns[name]
        truths, plain = column.kinds[bool], column.kinds[float]
        percent = [isinstance(cell, str) and cell.rstrip().endswith("%") for cell in column.cells]
        odd = None
        if truths and plain:
            first = next(value for value in column.numbers if isinstance(value, int | float))
            odd = "true or false" if isinstance(first, bool) else "a number"
        elif any(percent) and plain > sum(percent):
            odd = "%" if percent[0] else "a number without %"
        for row, value in enumerate(column.numbers):
            wrong = isinstance(value, str)
            if odd in ("true or false", "a number"):
                wrong = wrong or (value is not None and isinstance(value, bool) != (odd == "true or false"))
            elif odd:
                wrong = wrong or (value is not None and percent[row] != percent[0])
            if wrong:
                expected = odd and f"{odd} as in {self.cells.place} {self.lines[0]}"
                more = value if isinstance(value, str) and value else ""
                expected = expected or (more if more.startswith("a ") else f"a number {more}".rstrip())
                cell = quoted(column.cells[row])
                raise self.error(f"found {cell} in column {named(name)}, expected {expected}", row)
        missing = np.array([value is None for value in column.numbers])
        return to_array([0 if value is None or isinstance(value, str) else value for value in column.numbers]), missing


def grouped(labels: Iterable[Label]) -> dict[Label, list[int]]:
    """The rows with each label, such as a system and a run."""
    rows: dict[Label, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return rows
