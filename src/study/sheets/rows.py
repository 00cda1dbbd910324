"""The rows of the sheets as written: one class per sheet, one attribute per column.

The type of a column determines how its cells are read and checked, before rows are compared with each other. Lists have
no repeated items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, NoReturn, TypeVar, get_args, get_type_hints

from pairsig.io.choices import near
from pairsig.io.errors import InputError, named, quoted


@dataclass(frozen=True)
class Place:
    """Place of a row, for error messages."""

    sheet: str
    line: int  # in YAML, that of its name
    row: str = ""  # in YAML, the description of the row: `base model malt`
    lines: Mapping[str, int] = field(default_factory=dict)  # in YAML, those of the keys

    def __str__(self) -> str:
        return f"{self.sheet}, line {self.line}{self.row and f', {self.row}'}"

    def cell(self, column: str) -> str:
        """Place of a cell of the row."""
        if not self.row:
            return f"{self.sheet}, line {self.line}, column {column}"
        is_name = column not in self.lines and self.row.startswith(f"{column.replace('_', ' ')} ")
        key = "" if is_name else f", key {column}"
        return f"{self.sheet}, line {self.lines.get(column, self.line)}, {self.row}{key}"

    def complain(self, column: str, found: str, expected: str) -> NoReturn:
        """Raise an error about a cell."""
        raise InputError(f"{self.cell(column)}: found {found}, expected {expected}")

    def check_names(self, column: str, names: Iterable[str], known: Collection[str], expected: str) -> None:
        """Raise an error about the first name of a cell that is not known."""
        for name in names:
            if name not in known:
                self.complain(column, quoted(name), f"{expected}{near(name, known)}")


def words(place: Place, column: str, cell: str) -> tuple[str, ...]:
    """Read distinct words, separated by spaces."""
    return _once(place, column, cell.split())


def pairs(place: Place, column: str, cell: str) -> Mapping[str, str]:
    """Read a list of KEY=VALUE with distinct keys."""
    for word in cell.split():
        if not re.fullmatch(r"[^=]+=.+", word):
            place.complain(column, quoted(word), "KEY=VALUE, separated by spaces")
    split = [(key, value) for key, _, value in (word.partition("=") for word in cell.split())]
    _once(place, column, [key for key, _ in split])
    return dict(split)


def files(place: Place, column: str, cell: str) -> tuple[str, ...]:
    """Read a list of `[DOMAIN=]FILE` or `FILE+FILE`, without empty names and without the braces of wildcards."""
    file(place, column, cell)
    return words(place, column, cell)


def file(place: Place, column: str, cell: str) -> str:
    """Check a path of such a list."""
    for word in cell.split():
        if re.search(r"[{}]", word):
            place.complain(column, quoted(word), "a path without braces")
        if not all(word.rpartition("=")[2].split("+")):
            place.complain(column, quoted(word), "a path, or several joined by +")
    return cell


def whole(place: Place, column: str, cell: str) -> int:  # noqa: ARG001
    """Read a number that the schema has checked."""
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
"""Readers of cells that may be lists or mappings in YAML."""


@dataclass(frozen=True)
class Row:
    """A row of any sheet: its place, and the columns of its key."""

    key: ClassVar[tuple[str, ...]]
    yaml: ClassVar[bool] = False
    """Whether the sheet is YAML, because it contains commands or long lists."""

    place: Place = field(repr=False, compare=False)

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpus of its files, or none."""
        return tuple(filter(None, [getattr(self, "corpus", "")]))


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
    """A published system."""

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
    """A corpus: a folder in `data_dir`."""

    key = ("corpus",)

    corpus: str
    url: str
    sha256: str
    licence: str
    citation: str


@dataclass(frozen=True)
class TrainingSetRow(Row):
    """A full training set, from which resampled ones are drawn."""

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
    """A base model: shell commands for training and prediction."""

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
        """Names of its requirements of a kind: jars, Python modules, commands."""
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
    """A calibration: test sets that are compared with each other."""

    key = ("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set")

    calibration: str
    distance: str
    on_dataset: str
    on_test_set: str
    against_dataset: str
    against_test_set: str


@dataclass(frozen=True)
class FamilyRow(Row):
    """A family of test sets."""

    key = ("family", "dataset", "test_set")

    family: str
    about: str
    dataset: str
    test_set: str
    compared: str


@dataclass(frozen=True)
class PublishedRow(Row):
    """A published number."""

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
    """The rows of a sheet in order."""

    path: str
    rows: tuple[R, ...]

    @cached_property
    def named(self) -> Mapping[str, R]:
        """Rows by name, if the key is a single column."""
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


CLASSES: Mapping[str, type[Row]] = {name: get_args(sheet)[0] for name, sheet in get_type_hints(Sheets).items()}
"""Class of the rows of each sheet."""


def readers(of: type[Row]) -> dict[str, Callable[[Place, str, str], Any] | None]:
    """Reader of the cells of each column; None for plain text."""
    hints = get_type_hints(of, include_extras=True)
    names = [one.name for one in fields(of) if one.name != "place"]
    return {name: next(iter(getattr(hints[name], "__metadata__", ())), None) for name in names}


def make(
    of: type[R], place: Place, cells: Mapping[str, str], how: Mapping[str, Callable[[Place, str, str], Any] | None]
) -> R:
    """Make a row from its cells, each read by its reader."""
    made = {column: read(place, column, cells[column]) if read else cells[column] for column, read in how.items()}
    return of(place, **made)


def option_words(option: str, cell: Mapping[str, str]) -> list[str]:
    """Words of a command line: the option before each KEY=VALUE of a cell."""
    return [word for pair in text(cell).split() for word in (option, pair)]


def text(cell: Sequence[str] | Mapping[str, str]) -> str:
    """Text of the cell that a list was read from."""
    return " ".join(f"{key}={value}" for key, value in cell.items()) if isinstance(cell, Mapping) else " ".join(cell)
