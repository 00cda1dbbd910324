"""The rows of the sheets, as they are written: a class a sheet, an attribute a column.

The type of a column says how its cell is read, and what is refused in it before the rows are held against each other:
nothing in a list counts twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, NoReturn, TypeVar, get_type_hints

from pairsig.errors import InputError, named, quoted


@dataclass(frozen=True)
class Place:
    """Where a row stands, for the complaints.

    Attributes
    ----------
    sheet, line
        The file, and the line of the row: in YAML, of its name.
    row
        In YAML, what the row is: `base model malt`.
    lines
        In YAML, the line of each key.
    """

    sheet: str
    line: int
    row: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.sheet}, line {self.line}{self.row and f', {self.row}'}"

    def cell(self, column: str) -> str:
        """Where one of its cells is."""
        if not self.row:
            return f"{self.sheet}, line {self.line}, column {column}"
        key = "" if column not in self.lines and self.row.startswith(f"{_spaced(column)} ") else f", key {column}"
        return f"{self.sheet}, line {self.lines.get(column, self.line)}, {self.row}{key}"

    def complain(self, column: str, found: str, expected: str) -> NoReturn:
        """Raise the one sentence about a cell."""
        raise InputError(f"{self.cell(column)}: found {found}, expected {expected}")


def _spaced(column: str) -> str:
    return column.replace("_", " ")


def words(place: Place, column: str, cell: str) -> tuple[str, ...]:
    """Words separated by spaces, none of them twice."""
    return _once(place, column, cell.split())


def pairs(place: Place, column: str, cell: str) -> Mapping[str, str]:
    """A list of KEY=VALUE, in which no key is repeated."""
    for word in cell.split():
        if not re.fullmatch(r"[^=]+=.+", word):
            place.complain(column, quoted(word), "KEY=VALUE, separated by spaces")
    split = [(key, value) for key, _, value in (word.partition("=") for word in cell.split())]
    _once(place, column, [key for key, _ in split])
    return dict(split)


def files(place: Place, column: str, cell: str) -> tuple[str, ...]:
    """A list of `[DOMAIN=]FILE` or `FILE+FILE`, none of them empty, without the braces that wildcards have."""
    file(place, column, cell)
    return words(place, column, cell)


def file(place: Place, column: str, cell: str) -> str:
    """A path that can stand in such a list."""
    for word in cell.split():
        if re.search(r"[{}]", word):
            place.complain(column, quoted(word), "a path without braces")
        if not all(word.rpartition("=")[2].split("+")):
            place.complain(column, quoted(word), "a path, or several joined by +")
    return cell


def whole(place: Place, column: str, cell: str) -> int:  # noqa: ARG001
    """A number, whose schema has looked at its digits."""
    return int(cell)


def _once(place: Place, column: str, found: Sequence[str]) -> tuple[str, ...]:
    seen = set[str]()
    for word in found:
        if word in seen:
            place.complain(column, f"{named(word)} again", "it once")
        seen.add(word)
    return tuple(found)


Words = Annotated[tuple[str, ...], words]
Pairs = Annotated[Mapping[str, str], pairs]
Files = Annotated[tuple[str, ...], files]
File = Annotated[str, file]
Whole = Annotated[int, whole]

LISTS = (words, pairs, files)
"""How cells are read that may be a list or a mapping in YAML."""


@dataclass(frozen=True)
class Row:
    """What a row of any sheet has: where it stands, and the columns by which no other row is the same."""

    key: ClassVar[tuple[str, ...]]
    yaml: ClassVar[bool] = False
    """Is the sheet YAML, since it holds commands or long lists? All others are tables."""

    place: Place = field(repr=False, compare=False)


@dataclass(frozen=True)
class DatasetRow(Row):
    """A test set."""

    key = ("dataset",)

    dataset: str
    task: str
    metric: str
    corpus: str
    reader: str
    reference: Files
    text: Files
    selection: Pairs
    options: Pairs
    documents: File
    pool: Words
    test_sets: Pairs
    figures: Words
    overlay: str
    note: str
    study: str


@dataclass(frozen=True)
class SystemRow(Row):
    """A system whose outputs others made."""

    key = ("dataset", "system")

    dataset: str
    system: str
    group: str
    kind: str
    output: File
    reference: Files
    options: Pairs
    reason: str
    include: str


@dataclass(frozen=True)
class CorpusRow(Row):
    """A folder of `data_dir`."""

    key = ("corpus",)

    corpus: str
    url: str
    sha256: str
    licence: str
    citation: str


@dataclass(frozen=True)
class TrainingSetRow(Row):
    """What resampled training sets are drawn from."""

    key = ("training_set",)
    yaml = True

    training_set: str
    task: str
    corpus: str
    files: Files
    selection: Pairs
    options: Pairs
    sizes: Pairs
    base_models: Words
    datasets: Words
    unlabelled: Words
    given: Pairs
    note: str


@dataclass(frozen=True)
class BaseModelRow(Row):
    """A trainer and a predictor: two shell commands."""

    key = ("base_model",)
    yaml = True

    base_model: str
    task: str
    train: str
    predict: str
    members: Words
    needs: Words
    sizes: Pairs
    datasets: Words
    threads: Whole
    mem_mb: Whole
    runtime: Whole
    reproducible: str
    note: str
    include: str

    def needed(self, kind: str) -> list[str]:
        """The names of what it needs of a kind: jars, Python modules, commands."""
        return [name for found, _, name in (need.partition(":") for need in self.needs) if found == kind]


@dataclass(frozen=True)
class JarRow(Row):
    """A Java library."""

    key = ("jar",)

    jar: str
    coordinates: str
    sha256: str
    licence: str


@dataclass(frozen=True)
class CalibrationRow(Row):
    """Which test set is held against which."""

    key = ("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set")

    calibration: str
    distance: str
    on_dataset: str
    on_test_set: str
    against_dataset: str
    against_test_set: str


@dataclass(frozen=True)
class FamilyRow(Row):
    """Which test sets are of one family."""

    key = ("family", "dataset", "test_set")

    family: str
    about: str
    dataset: str
    test_set: str
    compared: str


@dataclass(frozen=True)
class PublishedRow(Row):
    """A number that is printed in a paper."""

    key = ("item",)

    item: str
    page: str
    what: str
    published: str
    unit: str
    n_segments: str
    information: str
    information_from: str
    n_pairs: str
    compared_with: str
    why: str


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Sheet(Generic[R]):
    """The rows of a sheet, in their order."""

    path: str
    rows: tuple[R, ...]

    @cached_property
    def named(self) -> Mapping[str, R]:
        """The rows by their name, where the key is one column."""
        return {getattr(row, row.key[-1]): row for row in self.rows}


@dataclass(frozen=True)
class Sheets:
    """All sheets of a study."""

    datasets: Sheet[DatasetRow]
    systems: Sheet[SystemRow]
    corpora: Sheet[CorpusRow]
    training_sets: Sheet[TrainingSetRow]
    base_models: Sheet[BaseModelRow]
    jars: Sheet[JarRow]
    calibrations: Sheet[CalibrationRow]
    families: Sheet[FamilyRow]
    published: Sheet[PublishedRow]


CLASSES: Mapping[str, type[Row]] = {
    "datasets": DatasetRow,
    "systems": SystemRow,
    "corpora": CorpusRow,
    "training_sets": TrainingSetRow,
    "base_models": BaseModelRow,
    "jars": JarRow,
    "calibrations": CalibrationRow,
    "families": FamilyRow,
    "published": PublishedRow,
}
"""The class of the rows of each sheet."""


def readers(of: type[Row]) -> dict[str, Callable[[Place, str, str], Any] | None]:
    """How the cells of each column are read; None: as they are."""
    hints = get_type_hints(of, include_extras=True)
    names = [one.name for one in fields(of) if one.name != "place"]
    return {name: next(iter(getattr(hints[name], "__metadata__", ())), None) for name in names}


def make(
    of: type[R], place: Place, cells: Mapping[str, str], how: Mapping[str, Callable[[Place, str, str], Any] | None]
) -> R:
    """A row of its cells, each read as `readers` says."""
    made = {column: read(place, column, cells[column]) if read else cells[column] for column, read in how.items()}
    return of(place, **made)


def text(cell: Sequence[str] | Mapping[str, str]) -> str:
    """The cell that a list was read from."""
    return " ".join(f"{key}={value}" for key, value in cell.items()) if isinstance(cell, Mapping) else " ".join(cell)
