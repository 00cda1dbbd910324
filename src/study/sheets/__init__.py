"""Check the config and sheets of the workflow before the first job, and prepare them for the rules.

Each error message is one sentence with the sheet, the line, the column, what was found and what was expected. The
result contains one object per job, with complete paths and with options as the commands expect them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from pairsig.io.choices import near
from pairsig.io.errors import InputError, quoted
from study.sheets import checks, embedded, files, models, synthetic
from study.sheets.config import check_config as check_config
from study.sheets.config import sheet_paths
from study.sheets.messages import sentence
from study.sheets.models import CLASSES, TABLE, DatasetRow, Row, Sheets, SystemRow, option_words, text

SHEETS = tuple(CLASSES)
STATISTICS = embedded.STATISTICS

COUNTING = ("pairsig", "sacrebleu", "rouge-score")
"""Packages whose version can change the counts and is recorded in the provenance."""


@dataclass(frozen=True)
class Dataset:
    """Inputs of the jobs of a dataset."""

    metric: str  # of its comparisons
    study: str  # natural, synthetic or benchmark
    source: str  # of its statistics: embedded, derived, counted (from outcomes or tables) or pool
    statistics: str  # the file
    selected: bool  # whether it is part of this run
    own_data: bool  # whether its files, or those of all members of a pool, belong to no corpus: data of the user
    trained: bool  # whether its systems are retrained base models
    systems: tuple[str, ...]  # names of those whose outputs are counted one by one
    outcomes: tuple[str, ...]  # files of a benchmark, or tables of scores or counts
    corpora: tuple[str, ...]  # the corpus of its files, or none
    counting: tuple[str, ...]  # other options of `python -m study count` for them
    pool: tuple[str, ...]  # datasets that it pools
    test_sets: tuple[str, ...]  # options of `python -m study resize`
    figures: tuple[str, ...]  # those that are drawn for several datasets
    counterparts: tuple[str, ...]  # those that are drawn for this dataset alone
    overlay: tuple[str, ...]  # dataset to compare it with in this run, or none
    onto: tuple[str, ...]  # embedded statistics to which its systems are added, or none
    provenance: tuple[str, ...]  # options of `pairsig collect`


@dataclass(frozen=True)
class System:
    """Inputs for counting the outputs of a system on a dataset."""

    output: str
    reference: tuple[str, ...]
    metric: str
    options: tuple[str, ...]  # of `pairsig extract`
    files: tuple[str, ...]  # to read, with archives instead of their members
    corpora: tuple[str, ...]  # the corpus of the files, or none


@dataclass(frozen=True, kw_only=True)
class Study(synthetic.Synthetic):
    """The checked sheets of a study, with the inputs of each job by its wildcards.

    Calibrations and published numbers are checked here and read by the commands that use them.
    """

    datasets: Mapping[str, Dataset]
    systems: Mapping[tuple[str, str], System]  # by dataset and system, included ones only
    corpora: Mapping[str, models.CorpusRow]
    jars: Mapping[str, models.JarRow]
    missing: Mapping[str, str]  # datasets that `all` leaves out, with the reason


def read(config: Mapping[str, Any]) -> Study:
    """Read the sheets of a checked config, and check them row by row and against each other."""
    by_name: dict[str, Any] = {name: files.read(sheet_paths(config, name), of) for name, of in CLASSES.items()}
    sheets = Sheets(**by_name)
    checks.check(sheets)
    plan = _Plan(sheets, config)
    checks.check_systems(sheets, plan.system_names, plan.trained)
    plan.check_files()
    checks.check_programs(sheets, plan.training_sets)
    return Study(
        datasets={row.dataset: plan.dataset(row) for row in sheets.datasets.rows},
        systems=plan.systems,
        corpora=sheets.corpora.named,
        jars=sheets.jars.named,
        missing=plan.missing,
        **vars(plan.made),
    )


@dataclass(frozen=True)
class _Plan:
    """What a run needs of the sheets."""

    sheets: Sheets
    config: Mapping[str, Any]

    @cached_property
    def made(self) -> synthetic.Synthetic:
        """The systems of base models."""
        return synthetic.expand(self.sheets, self.config)

    @cached_property
    def sources(self) -> dict[str, str]:
        """The source of the statistics of each dataset; only datasets with a corpus can be embedded."""
        return {row.dataset: self._source(row) for row in self.sheets.datasets.rows}

    def _source(self, row: DatasetRow) -> str:
        if row.pool:
            return "pool"
        if row.counted:
            may_be = self.config["source"] == "embedded" and row.corpus
            is_embedded = may_be and embedded.path(row.dataset).is_file()
            return "embedded" if is_embedded else "counted"
        if row.study == "synthetic":
            derived = self.config["retrain"] is not False
        else:
            derived = self.config["source"] == "derived"
        return "derived" if derived or not row.corpus else "embedded"

    @cached_property
    def missing(self) -> dict[str, str]:
        """Benchmarks that `all` leaves out, without embedded statistics and corpus, with what is missing."""
        missing = {}
        for row in self.sheets.datasets.rows if self.config["datasets"] == "all" else ():
            sums = Path(self.made.data_dir, row.corpus, "SHA256SUMS")
            if self.sources[row.dataset] == "counted" and row.corpus and not sums.is_file():
                missing[row.dataset] = f"its statistics are counted from data_dir, where {sums} is missing"
        return missing

    @cached_property
    def selected(self) -> set[str]:
        """The datasets of the run; `all` excludes retrained ones that are neither embedded nor to be retrained."""
        known, chosen = self.sheets.datasets.named, self.config["datasets"]
        if chosen == "own":
            return set(self._own_datasets())
        if chosen != "all":
            for name in chosen:
                if name not in known:
                    expected = f"'all', 'own' or names in the sheet of datasets{near(name, known)}"
                    raise InputError(sentence("config: datasets", quoted(name), expected))
            return set(chosen)
        retrained = {name for name, row in known.items() if row.study == "synthetic"}
        absent = {name for name in retrained if not embedded.path(name).is_file()}
        return known.keys() - self.missing.keys() - {name for name in absent if self.sources[name] == "embedded"}

    def _own_datasets(self) -> list[str]:
        """The datasets in the user's own sheet."""
        path = self.config["own_sheets"].get("datasets")
        names = [row.dataset for row in self.sheets.datasets.rows if row.sheet == path]
        if not names:
            expected = (
                "a row in own_sheets.datasets, the path of your own sheet of datasets (config/own.yaml has an example)"
            )
            raise InputError(sentence("config: datasets", quoted("own"), expected))
        return names

    @cached_property
    def needed(self) -> set[str]:
        """These datasets, and the members of those that are pools."""
        return self.selected.union(*(self.sheets.datasets.named[name].pool for name in self.selected))

    @cached_property
    def provenance(self) -> dict[str, dict[str, str]]:
        """The provenance of the statistics of each dataset."""
        return {row.dataset: self._provenance(row) for row in self.sheets.datasets.rows}

    def _provenance(self, row: DatasetRow) -> dict[str, str]:
        corpus = self.sheets.corpora.named.get(row.corpus)
        reader = ["--reader", row.reader] if row.reader else []
        command = ["pairsig extract OUTPUT --reference", text(row.reference) or "REFERENCE", "--metric", row.metric]
        if row.counted:
            command = ["python -m study count", text(row.text) or "OUTPUT"]
        description: Mapping[str, str] = {
            "task": row.task,
            "corpus": row.corpus,
            **{name: getattr(corpus, name, "") for name in ("url", "sha256", "licence", "citation")},
            "metric": row.metric,
            "note": row.note,
            "command": " ".join([*command, *reader, *option_words("--option", row.options)]),
            "test_set": " ".join([text(row.text), text(row.selection)]).strip() if not row.counted else "",
            "versions": _versions(),
            **self.made.provenance.get(row.dataset, {}),
        }
        return {key: value for key, value in description.items() if value}

    @cached_property
    def predicted(self) -> dict[tuple[str, str], System]:
        """The systems of base models, whose outputs are scored against the output of `prepare`."""
        counted = (key for key, prediction in self.made.predictions.items() if prediction.counted)
        return {(dataset, system): self._predicted(dataset, system) for dataset, system in counted}

    def _predicted(self, dataset: str, system: str) -> System:
        row = self.sheets.datasets.named[dataset]
        reference = self._paths(row, row.reference) or (synthetic.segments(dataset, "reference.txt"),)
        options = {
            "--document-file": synthetic.segments(dataset, "documents.tsv"),
            "--group": self.made.predictions[dataset, system].base_model,
            "--kind": "synthetic",
            "--reader": row.reader,
        }
        return _scored(row, synthetic.output(dataset, system), reference, options, "--leave-out-broken")

    def _paths(self, dataset: DatasetRow, names: Iterable[str]) -> tuple[str, ...]:
        """Find the paths of files of a dataset: in the folder of corpora, or in the working directory."""
        folder = self.made.data_dir if dataset.corpus else ""
        return tuple(str(Path(folder, name)) for name in names)

    @cached_property
    def kept_counts(self) -> dict[str, dict[str, str]]:
        """For each retrained dataset, the embedded systems that the run would reproduce, with their base models."""
        if self.config["retrain"] != "missing":
            return {}
        names = sorted({dataset for dataset, _ in self.predicted} & self.needed)
        paths = {name: embedded.path(name) for name in names if embedded.path(name).is_file()}
        return {name: embedded.systems(path, self.provenance[name]) for name, path in paths.items()}

    @cached_property
    def systems(self) -> dict[tuple[str, str], System]:
        """The systems to count, by dataset and name."""
        named = self.sheets.datasets.named
        included = [row for row in self.included if not named[row.dataset].counted]
        systems = {(row.dataset, row.system): self._published(row) for row in included}
        for (dataset, name), system in self.predicted.items():
            if name not in self.kept_counts.get(dataset, {}):
                systems[dataset, name] = system
        return systems

    @cached_property
    def included(self) -> list[SystemRow]:
        """The rows of systems that are not left out."""
        return [row for row in self.sheets.systems.rows if row.include == "yes"]

    def _published(self, row: SystemRow) -> System:
        dataset = self.sheets.datasets.named[row.dataset]
        (output,) = self._paths(dataset, [row.output])
        options = {
            "--reader": dataset.reader,
            "--document-file": "".join(self._paths(dataset, filter(None, [dataset.documents]))),
            "--group": row.group,
            "--kind": row.kind,
        }
        reference = self._paths(dataset, row.reference or dataset.reference)
        return _scored(dataset, output, reference, options, *option_words("--output-option", row.options))

    @cached_property
    def counted_names(self) -> dict[str, list[str]]:
        """The names of the systems to count on each dataset."""
        names: dict[str, list[str]] = {row.dataset: [] for row in self.sheets.datasets.rows}
        for dataset, system in self.systems:
            names[dataset].append(system)
        return names

    @property
    def system_names(self) -> dict[str, list[str]]:
        """The names of all systems of each dataset that the sheets name."""
        names = {name: [*counted, *self.kept_counts.get(name, {})] for name, counted in self.counted_names.items()}
        for row in self.included:
            if self.sheets.datasets.named[row.dataset].counted:
                names[row.dataset].append(row.system)
        return names

    @cached_property
    def trained(self) -> set[str]:
        """The datasets whose systems are trained in the run."""
        derived = {name for name in self.needed if self.sources[name] == "derived"}
        return {dataset for dataset, system in self.predicted if (dataset, system) in self.systems} & derived

    @property
    def training_sets(self) -> list[str]:
        """The training sets of these systems."""
        tested = self.made.tested.items()
        return [*dict.fromkeys(chain.from_iterable(names for dataset, names in tested if dataset in self.trained))]

    def check_files(self) -> None:
        """Check that the first files of the run exist: statistics, outcomes, outputs, references, training sets."""
        for row in self.sheets.datasets.rows:
            if row.dataset in self.needed:
                self._check_files(row)
        derived = {name for name in self.needed if self.sources[name] == "derived"}
        for system in self.included:
            if system.dataset in derived:
                self._check_files_of(system)
        training_sets = self.sheets.training_sets.named
        for name in self.training_sets:
            for needed in (name, *training_sets[name].given.values()):
                for path in self.made.training_sets[needed].read:
                    checks.check_file(training_sets[needed], "files", path)

    def _check_files(self, row: DatasetRow) -> None:
        """Check the files of a dataset."""
        path = embedded.path(row.dataset)
        if self.sources[row.dataset] == "embedded" and not path.is_file():
            expected = f"the file {path}, or source: derived in the config"
            row.refuse("dataset", f"{row.dataset} without its statistics", expected)
        if self.sources[row.dataset] == "counted":
            for name in self._paths(row, row.text):
                checks.check_file(row, "text", name)
            for system in self._in_files(row):
                checks.check_file(system, "output", *self._paths(row, [system.output]))
        if row.dataset in self.trained:
            for name in self.made.test_sets[row.dataset].read:
                checks.check_file(row, "text", name)

    def _check_files_of(self, row: SystemRow) -> None:
        """Check the output of a system, and what it is counted with."""
        dataset = self.sheets.datasets.named[row.dataset]
        if not (row.reference or dataset.reference):
            row.refuse("reference", "nothing here or in its dataset", "reference files")
        owners: list[tuple[Row, str, Iterable[str]]] = [
            (row, "output", [row.output]),
            (row if row.reference else dataset, "reference", row.reference or dataset.reference),
            (dataset, "documents", filter(None, [dataset.documents])),
        ]
        for owner, column, names in owners:
            for path in self._paths(dataset, names):
                checks.check_file(owner, column, path.split("!")[0])

    def _in_files(self, row: DatasetRow) -> list[SystemRow]:
        """The systems of a dataset whose scores or counts are in files of their own."""
        return [system for system in self.included if system.dataset == row.dataset] if row.counted else []

    def dataset(self, row: DatasetRow) -> Dataset:
        """Prepare a dataset for the rules."""
        name, in_files = row.dataset, self._in_files(row)
        is_embedded = self.sources[name] == "embedded"
        description = [f"{key}={value}" for key, value in self.provenance[name].items()]
        provenance = [*chain.from_iterable(("--provenance", word) for word in description)]
        provenance += ["--dated"] * (row.study == "synthetic")
        kept_from = self.kept_counts.get(name, {})
        onto = (str(embedded.path(name)),) if kept_from else ()
        if kept_from:
            provenance += ["--onto", *onto, "--keep", *dict.fromkeys(kept_from.values())]
        return Dataset(
            metric=row.metric,
            study=row.study,
            source=self.sources[name],
            statistics=str(embedded.path(name) if is_embedded else Path("results", "statistics", f"{name}.parquet")),
            selected=name in self.selected,
            own_data=not any(self.sheets.datasets.named[member].corpus for member in row.pool or (name,)),
            trained=synthetic.tests_base_models(row),
            systems=tuple(self.counted_names[name]),
            outcomes=self._paths(row, row.text or (system.output for system in in_files)) if row.counted else (),
            corpora=row.corpora,
            counting=("--reader", row.reader, *option_words("--option", row.options), *_counting(row, in_files)),
            pool=row.pool,
            test_sets=tuple(f"--{key.replace('_', '-')}={value}" for key, value in row.test_sets.items()),
            figures=tuple(figure for figure in row.figures if not checks.FIGURES[figure].once),
            counterparts=tuple(figure for figure in row.figures if checks.FIGURES[figure].once),
            overlay=(row.overlay,) if row.overlay in self.selected else (),
            onto=onto,
            provenance=tuple(provenance),
        )


def _counting(row: DatasetRow, systems: Iterable[SystemRow]) -> Iterator[str]:
    """List the options of `python -m study count` for a table: its metric, and what the sheets say of its systems."""
    if row.reader == TABLE:
        yield from ("--metric", row.metric)
    for system in systems:
        yield from ("--system", system.system, "--group", system.group, "--kind", system.kind)


@cache
def _versions() -> str:
    """List the versions of the packages that count."""
    return ", ".join(f"{package} {version(package)}" for package in COUNTING)


def _scored(
    dataset: DatasetRow, output: str, reference: tuple[str, ...], options: Mapping[str, str], *others: str
) -> System:
    """Describe how an output is counted, with the options of its dataset."""
    read = (path.split("!")[0] for path in (output, *reference, options["--document-file"]) if path)
    return System(
        output=output,
        reference=reference,
        metric=dataset.metric,
        options=(
            *chain.from_iterable((name, value) for name, value in options.items() if value),
            *option_words("--option", dataset.options),
            *others,
        ),
        files=tuple(dict.fromkeys(read)),
        corpora=dataset.corpora,
    )
