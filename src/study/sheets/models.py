"""The sheets: one model per sheet, whose fields are the columns.

The type of a field says what its cells may be. Its description is what a message expects and, with the example, what
`docs/sheets` shows. Cells are text, as `files` reads them; in YAML, they are also lists and keys with values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NoReturn,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)  # fmt: skip

from pairsig.io.choices import near
from pairsig.io.errors import InputError, named, quoted
from study.sheets.messages import Fault, sentence
from study.tables.columns import Compared, Distance
from study.training.training_sets import SIZES

# What cells may be.


class Keys(list[tuple[Any, Any]]):
    """Keys with their values, as written in YAML: a key may be repeated."""


def kind(cell: object) -> str:
    """Describe a cell: its text, or what it is in YAML."""
    if isinstance(cell, str):
        return quoted(cell) if cell else "nothing"
    return "keys" if isinstance(cell, Keys) else "a list"


def _words(cell: str | list[object]) -> tuple[str, ...]:
    """Read distinct words: separated by spaces, or in YAML a list, `[a, b]`, or keys, `{a: b}`, as `a=b`."""
    words = cell.split() if isinstance(cell, str) else [_word(item) for item in cell]
    seen = set[str]()
    for word in words:
        if word in seen:
            raise Fault(f"{named(word)} again", "it once")
        seen.add(word)
    return tuple(words)


def _word(item: object) -> str:
    """Read an item of a list, or a key with its value."""
    parts = item if isinstance(item, tuple) else (item,)
    for part in parts:
        if not isinstance(part, str):
            raise Fault(f"{kind(part)} in it", "words")
        if not part or re.search(r"\s", part):
            raise Fault(quoted(part), "a word, without spaces")
    return "=".join(parts)


def _pairs(cell: str | list[object]) -> dict[str, str]:
    """Read KEY=VALUE with distinct keys."""
    pairs: dict[str, str] = {}
    for word in cell.split() if isinstance(cell, str) else map(_word, cell):
        key, _, value = word.partition("=")
        if not key or not value:
            raise Fault(quoted(word), "KEY=VALUE, separated by spaces")
        if key in pairs:
            raise Fault(f"{named(key)} again", "it once")
        pairs[key] = value
    return pairs


def _each(pattern: str) -> Callable[[Any], Any]:
    """Make a check of each word or KEY=VALUE."""

    def check(words: Any) -> Any:
        for word in text(words).split():
            if not re.fullmatch(pattern, word):
                raise Fault(quoted(word))
        return words

    return check


def _paths(words: Any) -> Any:
    """Check `[DOMAIN=]FILE` or `FILE+FILE`: no empty names, and no braces, which would be wildcards."""
    for word in text(words).split():
        if re.search(r"[{}]", word):
            raise Fault(quoted(word), "a path without braces")
        if not all(word.rpartition("=")[2].split("+")):
            raise Fault(quoted(word), "a path, or several joined by +")
    return words


def _count(cell: object) -> int:
    """Read a whole number above 0."""
    if not re.fullmatch("[1-9][0-9]{0,8}", str(cell)):
        raise Fault()
    return int(str(cell))


def text(cell: str | Sequence[str] | Mapping[str, object]) -> str:
    """The text of a cell that was read as words or KEY=VALUE."""
    if isinstance(cell, Mapping):
        return " ".join(f"{key}={value}" for key, value in cell.items())
    return cell if isinstance(cell, str) else " ".join(cell)


def option_words(option: str, cell: Mapping[str, str]) -> list[str]:
    """Words of a command line: the option before each KEY=VALUE of a cell."""
    return [*chain.from_iterable((option, pair) for pair in text(cell).split())]


@dataclass(frozen=True)
class In:
    """Marks columns with names of rows in a sheet."""

    sheet: str


def _matching(pattern: str) -> Any:
    return Field(pattern=f"^(?:{pattern})$")


_NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
_SIZE = f"({'|'.join(SIZES)})=[1-9][0-9]{{0,3}}"
_ADDRESS = "|".join((
    "threshold:[^:]+:[^:]+(:[^:]+)?", "exponent:[^:]+:[^:]+", "p:[0-9]{1,9}:[^:]+", "samples:[^:]+",
    "share:[^:]+:[^:]+:[0-9]+([.][0-9]+)?-[0-9]+([.][0-9]+)?", "faster:[0-9]{1,9}:[^:]+",
    "seconds:[^:]+:[0-9]{1,9}:[^:]+", "(claim|below):[^:]+:[^:]+:[^:]+",
))  # fmt: skip
"""Address of our number; docs/sheets/comparisons.md explains what follows its kind."""

Name = Annotated[str, _matching(_NAME)]
Word = Annotated[str, _matching("[a-z][a-z0-9_-]{0,99}")]
Digits = Annotated[str, _matching("[1-9][0-9]{0,8}")]
Sha256 = Annotated[str, _matching("[0-9a-f]{64}")]
Count = Annotated[int, BeforeValidator(_count)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Pairs = Annotated[Mapping[str, str], BeforeValidator(_pairs)]
Sizes = Annotated[Mapping[str, int], AfterValidator(_each(_SIZE)), BeforeValidator(_pairs)]
Files = Annotated[Words, AfterValidator(_paths)]
File = Annotated[str, AfterValidator(_paths)]
CorpusName = Annotated[str, In("corpora")]
DatasetName = Annotated[str, In("datasets")]
BENCHMARK = "benchmark"
"""Value of `study` for datasets with published outcomes, all systems in one file."""
TABLE = "table"
"""Value of `reader` for tables of scores or counts."""
Task = Literal["dependency", "constituency", "alignment", "mt"]
YesNo = Literal["yes", "no"]
Unit = Literal[
    "ROUGE", "UAS", "BLEU", "AER", "F1", "pairs", "exponent", "ratio", "p", "samples", "sentences", "seconds", "%"
]


def required(about: str, example: str) -> Any:
    """Declare a column whose cells may not be empty."""
    return Field(description=about, examples=[example])


def optional(about: str, example: str, default: object = "") -> Any:
    """Declare a column that may be left out, and whose cells may be empty."""
    return Field(default, description=about, examples=[example])


class Row(BaseModel):
    """A row of any sheet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: ClassVar[tuple[str, ...]]
    """Columns that identify the row."""
    yaml: ClassVar[bool] = False
    """Whether the sheet is YAML, because it contains commands or long lists."""

    _place: Callable[[str], str] = PrivateAttr()

    def model_post_init(self, context: Callable[[str], str], /) -> None:
        """Keep the function that describes the place of a column, or for "" that of the row."""
        self._place = context

    @field_validator("*", mode="before")
    @classmethod
    def _is_text(cls, cell: object, info: ValidationInfo) -> object:
        """Refuse control characters, and lists in columns of text."""
        if isinstance(cell, str):
            if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", cell) or ("\n" in cell and not cls.yaml):
                raise Fault(expected="no control characters")
        elif get_origin(cls.model_fields[str(info.field_name)].annotation) not in (tuple, Mapping):
            raise Fault(kind(cell), "text")
        return cell

    def place(self, column: str) -> str:
        """Describe the place of a column in the sheet."""
        return self._place(column)

    @property
    def sheet(self) -> str:
        """The path of the sheet."""
        return self.line.rpartition(", line ")[0]

    @property
    def line(self) -> str:
        """The place of the row: the sheet, and the line where it begins."""
        return self._place("")

    def refuse(self, column: str, actual: str, expected: str) -> NoReturn:
        """Raise an error about a cell."""
        raise InputError(sentence(self.place(column), actual, expected))

    @contextmanager
    def naming(self, column: str) -> Iterator[None]:
        """Add the place of a cell to errors in this block."""
        try:
            yield
        except InputError as error:
            raise InputError(f"{self.place(column)}: {error}") from None

    def check_names(self, column: str, names: Iterable[str], known: Collection[str], expected: str) -> None:
        """Raise an error about the first name of a cell that is not known."""
        for name in names:
            if name not in known:
                self.refuse(column, quoted(name), f"{expected}{near(name, known)}")

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpus of its files, or none."""
        return tuple(filter(None, [getattr(self, "corpus", "")]))


class DatasetRow(Row):
    """One row per test set."""

    key = ("dataset",)

    dataset: Name = required("a name of letters, digits, `_` and `-`, unique in the sheet", "wmt24-en-es")
    task: Word = required(
        "a word such as mt, dependency, summarization, alignment; datasets of the same task also get a joint threshold",
        "mt",
    )
    metric: str = required("the metric for the comparisons; `pairsig metrics` lists them", "bleu")
    corpus: CorpusName = optional("the corpus of the files, from `corpora.tsv`; empty for your own files", "wmt24")
    reader: str = optional(
        "how the files are read: text, alignment, trees, conllu, ...; table for scores or counts of segments; for a "
        "benchmark llmbar, mmlu_pro, livebench, bfcl, scores or values; empty for the default reader of the metric",
        "text",
    )
    reference: Files = optional(
        "reference files, separated by spaces; relative to `data_dir` (with a corpus) or to the working directory "
        "(without)",
        "wmt24/txt/references/en-es.refA.txt.gz",
        (),
    )
    text: Files = optional(
        "for a synthetic dataset, the files with its segments as `[DOMAIN=]FILE`, separated by spaces; they are also "
        "the reference if `reference` is empty; for a benchmark, the files with its outcomes; for the reader table, a "
        "table of all systems, or one file per system",
        "craft-treebank/a.tree b.tree",
        (),
    )
    selection: Pairs = optional(
        "which segments of these files are used (options of `python -m study prepare`), as KEY=VALUE separated by "
        "spaces",
        "skip=1600 first=1600 max_words=40",
        {},
    )
    options: Pairs = optional(
        "options of the reader and the metric, as KEY=VALUE separated by spaces", "skip_lines=1", {}
    )
    documents: File = optional(
        "a file with one line `domain<TAB>document` per segment", "wmt24/txt/documents/en-es.docs.gz"
    )
    pool: Words = optional(
        "datasets that are concatenated to make this one; it has the systems that all of them share",
        "wmt22-ja-en wmt22-zh-en",
        (),
    )
    test_sets: Pairs = optional(
        "further test sets made from this one (initial, shuffle, domain_size, document_size, draws, draw_size, "
        "halves), as KEY=VALUE separated by spaces",
        "initial=doubling:100 domain_size=400 draws=20 draw_size=1600 halves=1",
        {},
    )
    figures: Words = optional(
        "figures of this dataset (gain_confidence, correlation, sizes, domains; figure_2 to figure_11 for one dataset "
        "each), separated by spaces",
        "gain_confidence domains",
        (),
    )
    overlay: DatasetName = optional(
        "for a synthetic dataset, the natural one that is shown in the same figure and compared with it",
        "conll2018-en_ewt",
    )
    note: str = optional("what readers of the results should know about this test set", "segments are paragraphs")
    study: Literal["natural", "synthetic", "benchmark"] = optional(
        "natural ([published systems](../glossary.md#published-systems)), synthetic (base models trained on resampled "
        "training sets) or benchmark (published outcomes, all systems in one file)",
        "natural",
        "natural",
    )

    @property
    def counted(self) -> bool:
        """Whether its files contain scores or counts of systems, which are read all at once."""
        return self.study == BENCHMARK or self.reader == TABLE

    @model_validator(mode="after")
    def _has_own_files_or_is_a_pool(self) -> Self:
        for column in ("corpus", "reference", "documents"):
            if self.pool and getattr(self, column):
                raise Fault(quoted(text(getattr(self, column))), "nothing, since the dataset is a pool", column)
        return self


class SystemRow(Row):
    """One row per system and dataset."""

    key = ("dataset", "system")

    dataset: DatasetName = required("the test set, from `datasets.tsv`", "hansards")
    system: Annotated[str, _matching("[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")] = required(
        "a name of letters, digits, `_`, `-`, `+` and `.`, unique in its dataset", "giza-reverse"
    )
    group: str = optional(
        "who made the system; empty if it is the only one of its [group](../glossary.md#group)", "lilt-giza"
    )
    kind: str = optional("the kind of entry, such as submission, online, baseline", "giza")
    output: File = required(
        "the file with its outputs, or `archive.tar.xz!member`; relative to `data_dir` (with a corpus) or to the "
        "working directory (without)",
        "hansards-wa/outputs/lilt-alignment-scripts/results/giza/test.enfr.reverse.talp",
    )
    reference: Files = optional(
        "reference files for this system only; empty for those of its dataset", "config/example/reference.txt", ()
    )
    options: Pairs = optional(
        "options for reading the output of this system only, such as `reverse=true`, as KEY=VALUE separated by spaces",
        "reverse=true",
        {},
    )
    reason: str = optional("the reason why the system is left out", "output identical to that of KwaiNLP")
    include: YesNo = optional("yes or no", "no", "yes")

    @model_validator(mode="after")
    def _is_left_out_for_a_reason(self) -> Self:
        if self.include == "no" and not self.reason:
            raise Fault("nothing", field="reason")
        return self


class CorpusRow(Row):
    """One row per corpus, which is a folder in `data_dir`."""

    key = ("corpus",)

    corpus: Name = required("the name of its folder", "wmt24")
    url: Annotated[str, _matching("https://.*")] = required(
        "its source, as repository at commit; several are separated by spaces",
        "https://github.com/wmt-conference/wmt24-news-systems/tree/bfa937ee53586aa173d68657b89b8642693f7b66",
    )
    sha256: Sha256 = required(
        "the SHA-256 checksum of its file SHA256SUMS, which lists the checksums of all its files",
        "7b1e401a…12d8 (64 digits)",
    )
    licence: str = required("its licence or terms", "CC BY 4.0")
    citation: str = required(
        "the publication to cite", "Bhandari et al. (2020), Re-evaluating Evaluation in Text Summarization, EMNLP"
    )


class TrainingSetRow(Row):
    """One entry per training set, from which resampled ones are drawn."""

    key = ("training_set",)
    yaml = True

    training_set: Name = required("a name of letters, digits, `_` and `-`, unique in the sheet", "ewt")
    task: Task = required("dependency, constituency, alignment or mt", "dependency")
    corpus: CorpusName = optional(
        "the corpus of the files, from `corpora.tsv`; empty for your own files", "ud-english-ewt"
    )
    files: Files = required(
        "a list of files, relative to `data_dir` (with a corpus) or to the working directory (without)",
        "[ud-english-ewt/en_ewt-ud-train.conllu.xz]",
    )
    selection: Pairs = optional(
        "which segments of these files are used (options of `python -m study prepare`), as `{key: value}`",
        "{skip: 447}",
        {},
    )
    options: Pairs = optional(
        "options for reading its files and those of its datasets, as `{key: value}`", "{lemmas: true}", {}
    )
    sizes: Sizes = required(
        "the number of resampled training sets of each size, such as `{full: 5, half: 10, quarter: 10}`",
        "{full: 5, half: 10, quarter: 10}",
    )
    base_models: Words = optional(
        "a list of base models to train on it; empty for all base models of its task", "[malt, mst]", ()
    )
    datasets: Words = required("a list of datasets on which its systems are tested", "[ewt-dev, ewt-test]")
    unlabelled: Words = optional(
        "those datasets whose text is added to every resampled training set, without labels", "[hansards-test]", ()
    )
    given: Annotated[Pairs, AfterValidator(_each(f"{_NAME}={_NAME}"))] = optional(
        "a base model and another training set; the base model is trained once on the whole of that set, and commands "
        "get its model as `{given}`",
        "{joint-hmm: hansards}",
        {},
    )
    note: str = optional("what readers of the results should know about it", "tags are gold")


class BaseModelRow(Row):
    """One entry per base model."""

    key = ("base_model",)
    yaml = True

    base_model: Name = required(
        "a name of letters, digits, `_` and `-`, unique in the sheet; also the group of its systems", "malt"
    )
    task: Task = required("dependency, constituency, alignment or mt", "dependency")
    train: str = optional(
        "a shell command with `{train}` and `{model}`, and optionally `{seed}`, `{given}`, `{jars}`, `{threads}`; "
        "empty for an ensemble",
        "mytrainer --seed {seed} {train} {model}",
    )
    predict: str = required(
        "a shell command with `{input}` and `{output}`, and optionally `{model}`, `{given}`, `{outputs}`, `{jars}`, "
        "`{threads}`",
        "myparser {model} < {input} > {output}",
    )
    members: Words = optional(
        "for an ensemble, a list of base models; it gets their outputs on the same segments as `{outputs}`",
        "[malt, mst]",
        (),
    )
    needs: Annotated[Words, AfterValidator(_each("java|(jar|python|command):.+"))] = optional(
        "a list of requirements: `java`, `jar:NAME`, `python:MODULE`, `command:NAME`", "[java, jar:maltparser]", ()
    )
    sizes: Sizes = optional(
        "as in `training_sets.yaml`, for other numbers of systems than the other base models have; empty for the same "
        "numbers",
        "{full: 2, half: 2}",
        {},
    )
    datasets: Words = optional(
        "the datasets on which it is tested, if it is too slow for the others; empty for all datasets of its training "
        "set",
        "[ewt-test]",
        (),
    )
    threads: Count = optional("a whole number of cores that it uses", "1", 1)
    mem_mb: Count = optional(
        "a whole number of megabytes, the memory that it needs for a full training set", "2000", 2000
    )
    runtime: Count = optional("a whole number of minutes, the most that it takes for a full training set", "60", 60)
    reproducible: YesNo = optional(
        "yes, if the same training set and seed give the same output; no, otherwise", "yes", "no"
    )
    note: str = optional("what readers of the results should know about it", "takes gold tags")
    include: Literal["yes", "member", "no"] = optional(
        "yes, no, or member (trained for an ensemble only)", "yes", "yes"
    )

    @model_validator(mode="after")
    def _is_trained_or_an_ensemble(self) -> Self:
        if self.members and self.train:
            raise Fault(quoted(self.train), "nothing, since the base model is an ensemble", "train")
        if not self.members and not self.train:
            raise Fault("nothing", field="train")
        return self

    @property
    def wants_model(self) -> bool:
        """Whether its commands contain `{given}`, the model of another base model."""
        return "{given}" in self.train + self.predict

    def needed(self, kind: str) -> list[str]:
        """Names of its requirements of a kind: jars, Python modules, commands."""
        return [need.removeprefix(f"{kind}:") for need in self.needs if need.startswith(f"{kind}:")]


class JarRow(Row):
    """One row per Java library that base models require."""

    key = ("jar",)

    jar: Annotated[str, _matching("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")] = required(
        "the name that `needs` and commands use, without `.jar`", "maltparser"
    )
    coordinates: Annotated[str, _matching("[^: ]+:[^: ]+:[^: ]+(:[^: ]+)*")] = required(
        "its Maven coordinates, `group:artifact:version`", "org.maltparser:maltparser:1.9.2"
    )
    sha256: Sha256 = required("the SHA-256 checksum of the jar", "1f2e…9a (64 digits)")
    licence: str = optional("its licence", "BSD")


class CalibrationRow(Row):
    """One row per set of pairs of test sets; p-values on the first are compared with the winner on the second."""

    key = ("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set")

    calibration: Word = required("a name; rows with the same calibration and distance are combined", "parsing")
    distance: Distance = required(
        "how different the second test set is from the first (iid, halves, near, middle, far)", "near"
    )
    on_dataset: str = required("the dataset with the p-values; patterns", "conll2018-en_* conll2018-de_gsd")
    on_test_set: str = required("its test set (whole, half-1, news-first-400); patterns", "*-first-400")
    against_dataset: str = required("the dataset of the second test set; patterns, or `=` for the same dataset", "=")
    against_test_set: str = required("the second test set; patterns, or `=` for the same one", "*-first-400")


class FamilyRow(Row):
    """One row per set of test sets whose gains are compared with each other."""

    key = ("family", "dataset", "test_set")

    family: Word = required("a name; rows with the same name are combined", "wmt-domains")
    about: str = required("a description of its test sets for readers", "treebanks of one language")
    dataset: str = required("its datasets; patterns", "conll2018-fi_*")
    test_set: Annotated[str, AfterValidator(_each(r"whole|domain:\S+|document:\S+|half:[12*]"))] = required(
        "its test sets: `whole`, `domain:news`, `document:1310.grettir.nar-sag`, `half:1`; patterns", "domain:*"
    )
    compared: Compared = required(
        "all, to compare test sets of different datasets with each other, or within datasets", "all"
    )


class PublishedRow(Row):
    """One row per published number."""

    key = ("item",)

    item: Annotated[str, _matching("[a-z0-9][a-z0-9.-]{0,99}")] = required("a name", "threshold-rouge")
    page: Annotated[str, _matching("[0-9]{1,9}")] = required(
        "its page in the proceedings, in the order of the text (items `exact-`: in the draft of the exact-test paper)",
        "998",
    )
    what: str = required(
        "what it is, and what our number is if that differs", "gain above which a difference is probably significant"
    )
    published: Annotated[str, _matching("-?[0-9]{1,9}([.][0-9]{1,9})?")] = optional("the number", "1.10")
    unit: Unit = required("its unit", "ROUGE")
    n_segments: Digits = optional(
        "the number of segments in the paper's test set; thresholds are expected to shrink with its square root", "48"
    )
    information: Digits = optional(
        "the number of words, brackets or links in the paper's test set; thresholds shrink with its square root, too",
        "44276",
    )
    information_from: str = optional("the source of that number", "Nivre et al. (2007), Table 1")
    n_systems: Digits = optional(
        "the number of systems behind a threshold, for its error; if it is missing, as many as ours", "150"
    )
    n_pairs: Digits = optional(
        "the number of pairs of systems behind a rate, for its error; if it is missing, it is estimated from the "
        "window around 0.05",
        "942",
    )
    compared_with: Annotated[str, _matching(_ADDRESS)] = optional(
        "the address of our number, such as `threshold:realsumm:all`", "threshold:realsumm:all"
    )
    why: str = optional("why the number cannot be compared; empty if it can", "the paper does not say which ROUGE")

    @model_validator(mode="after")
    def _can_be_compared_or_says_why(self) -> Self:
        """A threshold is scaled to our size, which requires the size of the paper's test set."""
        for column in ("published", "compared_with"):
            if not self.why and not getattr(self, column):
                raise Fault("nothing", field=column)
        if self.compared_with.startswith("threshold:") and not self.n_segments:
            raise Fault("nothing", field="n_segments")
        may_be_0 = self.compared_with.startswith(("exponent:", "claim:"))
        if self.published and not may_be_0 and float(self.published) <= 0:
            raise Fault(quoted(self.published), "a number, more than 0", "published")
        return self


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

    def __iter__(self) -> Iterator[Sheet[Any]]:
        return iter(vars(self).values())


CLASSES: Mapping[str, type[Row]] = {name: get_args(sheet)[0] for name, sheet in get_type_hints(Sheets).items()}
"""Class of the rows of each sheet."""
