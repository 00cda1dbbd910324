"""The sheets: one class per sheet, whose attributes declare the columns.

The type of a column determines how its cells are read, before rows are compared with each other. Lists have no repeated
items. `required` and `optional` declare what a cell must be. Messages say what was expected in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, NoReturn, TypeVar, get_args, get_type_hints

from pairsig.io.choices import near, one_of
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
    """Read a number, which matches its pattern."""
    return int(cell)


def _once(place: Place, column: str, found: Sequence[str]) -> tuple[str, ...]:
    seen = set[str]()
    for word in found:
        if word in seen:
            place.complain(column, f"{named(word)} again", "it once")
        seen.add(word)
    return tuple(found)


Reader = Callable[[Place, str, str], Any]
Words = Annotated[tuple[str, ...], words]
Pairs = Annotated[Mapping[str, str], pairs]
Files = Annotated[tuple[str, ...], files]
File = Annotated[str, file]
Whole = Annotated[int, whole]

LISTS = (words, pairs, files)
"""Readers of cells that may be lists or mappings in YAML."""

TASKS = ("dependency", "constituency", "alignment", "mt")
UNITS = (
    "ROUGE", "UAS", "BLEU", "AER", "F1", "pairs", "exponent", "ratio", "p", "samples", "sentences", "seconds", "%",
)  # fmt: skip
NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
WORD = "[a-z][a-z0-9_-]{0,99}"
COUNT = "[1-9][0-9]{0,8}"
SHA256 = "[0-9a-f]{64}"
SIZES = "{0}=[1-9][0-9]{{0,3}}( {0}=[1-9][0-9]{{0,3}})*".format("(full|half|quarter|eighth)")
ADDRESS = "|".join((
    "threshold:[^:]+:[^:]+(:[^:]+)?", "exponent:[^:]+:[^:]+", "p:[0-9]{1,9}:[^:]+", "samples:[^:]+",
    "share:[^:]+:[^:]+:[0-9]+([.][0-9]+)?-[0-9]+([.][0-9]+)?", "faster:[0-9]{1,9}:[^:]+",
    "seconds:[^:]+:[0-9]{1,9}:[^:]+", "(claim|below):[^:]+:[^:]+:[^:]+",
))  # fmt: skip
"""Address of our number; docs/sheets/comparisons.md explains what follows its kind."""


@dataclass(frozen=True)
class Cell:
    """What a cell must be: a text that matches the pattern, one of a few, or a name in another sheet."""

    about: str  # description, for messages
    pattern: str = ""
    of: tuple[str, ...] = ()
    default: str | None = None  # of an empty cell; None if it may not be empty
    sheet: str = ""  # whose names are in the column


def required(about: str, pattern: str = "", **others: Any) -> Any:
    """Declare a column whose cells may not be empty, with other attributes of its `Cell`."""
    return field(metadata={"cell": Cell(about, pattern, **others)})


def optional(about: str, pattern: str = "", *, default: str = "", **others: Any) -> Any:
    """Declare a column that may be left out, and whose cells may be empty."""
    return field(metadata={"cell": Cell(about, pattern, default=default, **others)})


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

    @classmethod
    def misfits(cls, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:  # noqa: ARG003
        """Find columns whose cells do not fit the others, with what is expected there ("": any text)."""
        yield from ()


@dataclass(frozen=True)
class DatasetRow(Row):
    """One row per test set."""

    key = ("dataset",)

    dataset: str = required("a name of letters, digits, `_` and `-`, unique in the sheet", NAME)
    task: str = required(
        "a word such as mt, dependency, summarization, alignment; thresholds are also estimated for all datasets of a"
        " task together",
        WORD,
    )
    metric: str = required("the metric of the comparisons, one of those in `pairsig extract --help`")
    corpus: str = optional("the corpus of the files, in `corpora.tsv`; empty for files of your own", sheet="corpora")
    reader: str = optional(
        "the reader of the files (text, alignment, trees, conllu, ...; of a benchmark llmbar, mmlu_pro, livebench, "
        "bfcl, scores or values); empty for the metric's own reader"
    )
    reference: Files = optional(
        "reference files separated by spaces, relative to `data_dir` (with a corpus) or to the working directory "
        "(without)"
    )
    text: Files = optional(
        "for a synthetic dataset, the files of its segments as `[DOMAIN=]FILE`, separated by spaces; also the "
        "reference if that is empty; for a benchmark, the files of its outcomes"
    )
    selection: Pairs = optional(
        "the segments of these files to use, as options of `python -m study prepare`, KEY=VALUE separated by spaces"
    )
    options: Pairs = optional("options of the reader and the metric, KEY=VALUE separated by spaces")
    documents: File = optional("a file with one `domain<TAB>document` line per segment")
    pool: Words = optional("datasets to concatenate to this one, for the systems in all of them")
    test_sets: Pairs = optional(
        "other test sets made from this one (initial, shuffle, domain_size, document_size, draws, draw_size, halves),"
        " KEY=VALUE separated by spaces"
    )
    figures: Words = optional(
        "figures of this dataset (gain_confidence, correlation, sizes, domains; figure_2 to figure_11 for one dataset"
        " each), separated by spaces"
    )
    overlay: str = optional(
        "for a synthetic dataset, the dataset of published systems to compare it with", sheet="datasets"
    )
    note: str = optional("a remark for readers of the results")
    study: str = optional(
        "natural (published systems), synthetic (base models trained on resampled training sets) or benchmark "
        "(published outcomes, all systems in one file)",
        of=("natural", "synthetic", "benchmark"),
        default="natural",
    )

    @classmethod
    def misfits(cls, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Find files of a pool, which has none of its own."""
        if "pool" in cells:
            own = ("corpus", "reference", "documents")
            yield from ((column, "nothing, since the dataset is a pool") for column in own if column in cells)


@dataclass(frozen=True)
class SystemRow(Row):
    """One row per system and dataset."""

    key = ("dataset", "system")

    dataset: str = required("the test set, in `datasets.tsv`", sheet="datasets")
    system: str = required(
        "a name of letters, digits, `_`, `-`, `+` and `.`, unique in its dataset", r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}"
    )
    group: str = optional("the group that made it; empty for a group of its own")
    kind: str = optional("the kind of entry, such as submission, online, baseline")
    output: File = required(
        "the file of its outputs, or `archive.tar.xz!member`; relative to `data_dir` (with a corpus) or to the "
        "working directory (without)"
    )
    reference: Files = optional("reference files of this system alone; empty for those of its dataset")
    options: Pairs = optional(
        "options for reading the output of this system alone, such as `reverse=true`, KEY=VALUE separated by spaces"
    )
    reason: str = optional("the reason why the system is left out")
    include: str = optional("yes or no", of=("yes", "no"), default="yes")

    @classmethod
    def misfits(cls, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Find a system that is left out without a reason."""
        if cells.get("include") == "no" and "reason" not in cells:
            yield "reason", ""


@dataclass(frozen=True)
class CorpusRow(Row):
    """One row per corpus, which is a folder in `data_dir`."""

    key = ("corpus",)

    corpus: str = required("the name of its folder", NAME)
    url: str = required("its source, as repository and commit; several separated by spaces", r"https://.*")
    sha256: str = required(
        "the SHA-256 checksum of its file SHA256SUMS, which lists the checksums of all its files", SHA256
    )
    licence: str = required("its licence or terms")
    citation: str = required("the publication to cite")


@dataclass(frozen=True)
class TrainingSetRow(Row):
    """One entry per training set, from which resampled ones are drawn."""

    key = ("training_set",)
    yaml = True

    training_set: str = required("a name of letters, digits, `_` and `-`, unique in the sheet", NAME)
    task: str = required("dependency, constituency, alignment or mt", of=TASKS)
    corpus: str = optional("the corpus of the files, in `corpora.tsv`; empty for files of your own", sheet="corpora")
    files: Files = required(
        "a list of its files, relative to `data_dir` (with a corpus) or to the working directory (without)"
    )
    selection: Pairs = optional(
        "the segments of these files to use, as options of `python -m study prepare`, `{key: value}`"
    )
    options: Pairs = optional("options of the reader for its files and those of its datasets, as `{key: value}`")
    sizes: Pairs = required(
        "the number of resampled training sets of each size, such as `{full: 5, half: 10, quarter: 10}`", SIZES
    )
    base_models: Words = optional("a list of the base models to train on it; empty for all base models of its task")
    datasets: Words = required("a list of the datasets to test its systems on")
    unlabelled: Words = optional(
        "a list of those datasets whose text is added to every resampled training set, without labels"
    )
    given: Pairs = optional(
        "a base model and another training set, on all of which it is trained once; commands receive the model as "
        "`{given}`",
        f"{NAME}={NAME}",
    )
    note: str = optional("a remark for readers of the results")


@dataclass(frozen=True)
class BaseModelRow(Row):
    """One entry per base model."""

    key = ("base_model",)
    yaml = True

    base_model: str = required(
        "a name of letters, digits, `_` and `-`, unique in the sheet; the group of its systems", NAME
    )
    task: str = required("dependency, constituency, alignment or mt", of=TASKS)
    train: str = optional(
        "a shell command with `{train}` and `{model}`, and optionally `{seed}`, `{given}`, `{jars}`, `{threads}`; "
        "empty for an ensemble"
    )
    predict: str = required(
        "a shell command with `{input}` and `{output}`, and optionally `{model}`, `{given}`, `{outputs}`, `{jars}`, "
        "`{threads}`"
    )
    members: Words = optional("for an ensemble, a list of the base models whose outputs it receives as `{outputs}`")
    needs: Words = optional(
        "a list of requirements, such as `java`, `jar:NAME`, `python:MODULE`, `command:NAME`",
        r"((java|(jar|python|command):[^ ]+)( |$))*",
    )
    sizes: Pairs = optional(
        "as in `training_sets.yaml`, if it shall have fewer systems than the others; empty for all", SIZES
    )
    datasets: Words = optional(
        "the datasets to test it on, if it is too slow for others; empty for all datasets of its training set"
    )
    threads: Whole = optional("a whole number of cores", COUNT, default="1")
    mem_mb: Whole = optional(
        "a whole number of megabytes, the memory required for a full training set", COUNT, default="2000"
    )
    runtime: Whole = optional(
        "a whole number of minutes, the maximal time for a full training set", COUNT, default="60"
    )
    reproducible: str = optional(
        "yes, if the same training set and seed always give the same output; else no", of=("yes", "no"), default="no"
    )
    note: str = optional("a remark for readers of the results")
    include: str = optional(
        "yes, member (trained for an ensemble only) or no", of=("yes", "member", "no"), default="yes"
    )

    @classmethod
    def misfits(cls, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Find a train command of an ensemble, which votes over outputs, or none of another base model."""
        if ("members" in cells) == ("train" in cells):
            yield "train", "nothing, since the base model is an ensemble" if "members" in cells else ""

    def needed(self, kind: str) -> list[str]:
        """Names of its requirements of a kind: jars, Python modules, commands."""
        return [name for found, _, name in (need.partition(":") for need in self.needs) if found == kind]


@dataclass(frozen=True)
class JarRow(Row):
    """One row per Java library that base models require."""

    key = ("jar",)

    jar: str = required("its name in `needs` and in commands, without `.jar`", r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
    coordinates: str = required("its Maven coordinates, as `group:artifact:version`", r"[^: ]+:[^: ]+:[^: ]+(:[^: ]+)*")
    sha256: str = required("the SHA-256 checksum of the jar", SHA256)
    licence: str = optional("its licence")


@dataclass(frozen=True)
class CalibrationRow(Row):
    """One row per set of pairs of test sets; p-values on the first are compared with the winner on the second."""

    key = ("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set")

    calibration: str = required("a name; rows with the same calibration and distance are pooled", WORD)
    distance: str = required(
        "how different the second test set is from the first (iid, halves, near, middle, far)",
        of=("iid", "halves", "near", "middle", "far"),
    )
    on_dataset: str = required("the dataset that the p-values come from; patterns are allowed")
    on_test_set: str = required("its test set (whole, half-1, news-first-400); patterns are allowed")
    against_dataset: str = required("the dataset on which replication is checked; patterns, or `=` for the same")
    against_test_set: str = required("its test set; patterns, or `=` for the same")


@dataclass(frozen=True)
class FamilyRow(Row):
    """One row per set of test sets whose gains are compared with each other."""

    key = ("family", "dataset", "test_set")

    family: str = required("a name; rows with the same name are pooled", WORD)
    about: str = required("a description of its test sets for readers")
    dataset: str = required("its datasets; patterns are allowed")
    test_set: str = required(
        "their test sets (`whole`, `domain:news`, `document:1310.grettir.nar-sag`, `half:1`); patterns are allowed",
        r"((whole|domain:\S+|document:\S+|half:[12*])( |$))+",
    )
    compared: str = required(
        "all, to compare test sets across datasets, or within datasets", of=("all", "within datasets")
    )


@dataclass(frozen=True)
class PublishedRow(Row):
    """One row per published number."""

    key = ("item",)

    item: str = required("a name", r"[a-z0-9][a-z0-9.-]{0,99}")
    page: str = required(
        "its page in the proceedings, in the order of the text (for items `exact-`, in the draft of the exact-test "
        "paper)",
        r"[0-9]{1,9}",
    )
    what: str = required("a description of the number; in brackets, what we measured instead where that differs")
    published: str = optional("the number", r"-?[0-9]{1,9}([.][0-9]{1,9})?")
    unit: str = required("its unit", of=UNITS)
    n_segments: str = optional(
        "segments in the paper's test set; thresholds are expected to shrink with its square root", COUNT
    )
    information: str = optional("words, brackets or links in the paper's test set", COUNT)
    information_from: str = optional("the source of that number")
    n_systems: str = optional("systems that the number is based on", COUNT)
    n_pairs: str = optional("pairs of systems that the number is based on, where the paper reports them", COUNT)
    compared_with: str = optional(
        "the address of our number, such as `threshold:realsumm:all`",
        ADDRESS,
    )
    why: str = optional("the reason why the number cannot be compared; empty where it can")

    @classmethod
    def misfits(cls, cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Find a number without an address or a reason, or one that is not comparable with ours.

        A threshold is scaled to our size, which requires the size of the paper's test set.
        """
        if "why" not in cells:
            yield from ((column, "") for column in ("published", "compared_with") if column not in cells)
        address = cells.get("compared_with", "")
        if address.startswith("threshold:") and "n_segments" not in cells:
            yield "n_segments", ""
        may_be_0 = address.startswith(("exponent:", "claim:"))
        if "published" in cells and not may_be_0 and not re.match("[0-9.]*[1-9]", cells["published"]):
            yield "published", "a number, more than 0"


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


def columns(of: type[Row]) -> dict[str, Cell]:
    """What the cells of each column of a sheet must be."""
    return {one.name: one.metadata["cell"] for one in fields(of) if one.name != "place"}


def readers(of: type[Row]) -> dict[str, Reader]:
    """Readers of the cells of those columns that are not plain text."""
    hints = get_type_hints(of, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


def make(
    of: type[R], place: Place, cells: Mapping[str, str], known: Mapping[str, Cell], how: Mapping[str, Reader]
) -> R:
    """Make a row from its cells that are not empty, after a check of each."""
    for column, one in known.items():
        if one.default is None and column not in cells:
            place.complain(column, "nothing", one.about)
    for column, one in known.items():
        cell = cells.get(column)
        if cell is not None and one.of and cell not in one.of:
            place.complain(column, quoted(cell), one_of(cell, one.of))
        if cell is not None and one.pattern and not re.fullmatch(one.pattern, cell):
            place.complain(column, quoted(cell), one.about)
    for column, expected in of.misfits(cells):
        place.complain(column, quoted(cells[column]) if column in cells else "nothing", expected or known[column].about)
    whole: dict[str, Any] = {column: cells.get(column, one.default or "") for column, one in known.items()}
    return of(place, **whole | {column: read(place, column, whole[column]) for column, read in how.items()})


def option_words(option: str, cell: Mapping[str, str]) -> list[str]:
    """Words of a command line: the option before each KEY=VALUE of a cell."""
    return [word for pair in text(cell).split() for word in (option, pair)]


def text(cell: Sequence[str] | Mapping[str, str]) -> str:
    """Text of the cell that a list was read from."""
    return " ".join(f"{key}={value}" for key, value in cell.items()) if isinstance(cell, Mapping) else " ".join(cell)
