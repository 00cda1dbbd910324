"""Check the config and sheets of the workflow before the first job, and prepare them for the rules.

Each error message is one sentence with the sheet, the line, the column, what was found and what was expected. The
result contains one object per job, with complete paths and with options as the commands expect them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairsig.io.choices import near, one_of, sort_options
from pairsig.io.errors import InputError, named, quoted
from pairsig.metrics.registry import METRICS
from pairsig.readers import OUTPUTS
from pairsig.readers.extraction import functions
from study import analysis
from study.corpora import outcomes
from study.sheets import checks, embedded, files, synthetic
from study.sheets.config import check_config as check_config
from study.tables import rows
from study.tables.rows import CLASSES, DatasetRow, Sheets, SystemRow, option_words, text
from study.test_sets import KINDS, SAME, matches

SHEETS = tuple(CLASSES)
STATISTICS = Path("resources/statistics")
"""Folder of the embedded statistics."""

BENCHMARK = "benchmark"
"""Value of `study` for datasets with published outcomes, all systems in one file."""

_NUMBER = "[1-9][0-9]{0,8}"

TEST_SETS = dict.fromkeys(KINDS, _NUMBER) | {"initial": f"doubling:{_NUMBER}|{_NUMBER}(,{_NUMBER})*"}
"""Options of `python -m study resize`, with the pattern of their values."""

NAMES = {
    "whole": r"whole",
    "initial": r"first-[\d*]+",
    "domain_size": r".+-first-[\d*]+",
    "document_size": r".+-first-[\d*]+",
    "draws": r"draw-[\d*]+",
    "halves": r"half-[\d*]+",
}
"""Labels of the test sets that each option makes; `*` matches anything."""

COUNTING = ("pairsig", "sacrebleu", "rouge-score")
"""Packages whose version can change the counts and is recorded in the provenance."""

FIGURES = {name: figure for name, figure in analysis.figures().items() if figure.per_dataset or figure.once}
"""Figures that datasets list."""


@dataclass(frozen=True)
class Dataset:
    """Inputs of the jobs of a dataset."""

    metric: str  # of its comparisons
    study: str  # natural, synthetic or benchmark
    source: str  # of its statistics: embedded, derived, counted (outcomes of a benchmark) or pool
    statistics: str  # the file
    selected: bool  # whether it is part of this run
    own: bool  # whether its files, or those of all members of a pool, belong to no corpus: data of the user
    trained: bool  # whether its systems are retrained base models
    systems: tuple[str, ...]  # their names; empty for a benchmark, whose outcomes contain them
    outcomes: tuple[str, ...]  # files of a benchmark
    corpora: tuple[str, ...]  # the corpus of its files, or none
    counting: tuple[str, ...]  # other options of `python -m study count` for a benchmark
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
    corpora: Mapping[str, rows.CorpusRow]
    jars: Mapping[str, rows.JarRow]
    missing: Mapping[str, str]  # datasets that `all` leaves out, with the reason


def read(config: Mapping[str, Any]) -> Study:
    """Read the sheets of a checked config, and check them row by row and against each other."""
    given = {name: files.read(str(config["sheets"][name]), of) for name, of in CLASSES.items()}
    for sheet in given.values():
        checks.unique(sheet)
    for name, of in CLASSES.items():
        for column, cell in rows.columns(of).items():
            if cell.sheet:
                checks.known(given[name], column, given[cell.sheet])
    sheets = Sheets(**given)  # type: ignore[arg-type]  # each of its class

    _check_datasets(sheets)
    _check_options(sheets)
    synthetic.check(sheets)
    made = synthetic.expand(sheets, config)
    description = {row.dataset: _provenance(row, sheets, made.provenance) for row in sheets.datasets.rows}
    sources = {row.dataset: _source(row, config) for row in sheets.datasets.rows}
    missing = _missing(sheets, sources, made.data_dir) if config["datasets"] == "all" else {}
    selected = _selected(sheets, config["datasets"], sources) - missing.keys()
    needed = selected | {member for name in selected for member in sheets.datasets.named[name].pool}
    predicted = _ready_predictions(made, sheets)
    kept = _kept(predicted, description, needed) if config["retrain"] == "missing" else {}
    predicted = {key: one for key, one in predicted.items() if key[1] not in kept.get(key[0], {})}
    included = [row for row in sheets.systems.rows if row.include == "yes"]
    systems = {(row.dataset, row.system): _ready_system(row, sheets, made.data_dir) for row in included}
    trained = {dataset for dataset, _ in predicted} & {name for name in needed if sources[name] == "derived"}
    numbers = Counter([row.dataset for row in included] + [dataset for dataset, _ in predicted])
    _check_numbers(sheets, numbers + Counter({name: len(own) for name, own in kept.items()}), trained)
    _check_calibrations(sheets)
    _check_families(sheets)
    _check_files(sheets, included, systems, sources, needed, made.data_dir)
    synthetic.check_needs(sheets, {one for name in trained for one in made.tested[name]})
    systems |= predicted
    datasets = {}
    for row in sheets.datasets.rows:
        name = row.dataset
        datasets[name] = _ready_dataset(
            row, [system for dataset, system in systems if dataset == name], sources[name], selected,
            not any(sheets.datasets.named[one].corpus for one in row.pool or (name,)), description[name],
            kept.get(name, {}), made.data_dir,
        )  # fmt: skip
    return Study(
        datasets=datasets,
        systems=systems,
        corpora=sheets.corpora.named,
        jars=sheets.jars.named,
        missing=missing,
        **vars(made),
    )


# Checks of single rows, and of rows against each other.


def _check_datasets(sheets: Sheets) -> None:
    """Check what a cell of the sheet of datasets alone does not show."""
    named = sheets.datasets.named
    taken: dict[str, str] = {}
    for row in sheets.datasets.rows:
        if row.metric not in METRICS:
            row.place.complain("metric", quoted(row.metric), one_of(row.metric, METRICS))
        readers = outcomes.READERS if row.study == BENCHMARK else OUTPUTS
        if row.reader and row.reader not in readers:
            row.place.complain("reader", quoted(row.reader), one_of(row.reader, readers))
        if row.study == BENCHMARK:
            for column in ("corpus", "reader", "text"):
                if not getattr(row, column):
                    row.place.complain(column, "nothing", "one, since its study is benchmark")
        for member in row.pool:
            if member not in named or named[member].pool:
                row.place.complain("pool", quoted(member), "datasets of this sheet that are not pools")
            if named[member].metric != row.metric:
                found = f"{member}, whose metric is {named[member].metric}"
                row.place.complain("pool", found, f"datasets with the metric {row.metric}")
        for key, value in row.test_sets.items():
            if key not in TEST_SETS or not re.fullmatch(TEST_SETS[key], value):
                expected = f"{', '.join(TEST_SETS)} with a number each"
                row.place.complain("test_sets", quoted(f"{key}={value}"), expected)
        if "shuffle" in row.test_sets and "initial" not in row.test_sets:
            row.place.complain("test_sets", quoted("shuffle"), "initial too, because shuffle is their order")
        for figure in row.figures:
            if figure not in FIGURES:
                row.place.complain("figures", quoted(figure), one_of(figure, FIGURES))
            if (needs := FIGURES[figure].needs) and needs not in row.test_sets:
                row.place.complain("figures", figure, f"{needs} in the column test_sets too")
            if FIGURES[figure].once and (other := taken.setdefault(figure, row.dataset)) != row.dataset:
                row.place.complain("figures", f"{figure}, which {other} lists", "it for one dataset only")


def _check_options(sheets: Sheets) -> None:
    """Check that the reader, the metric and their options fit each other."""
    readers = {}
    for row in sheets.datasets.rows:
        if row.pool:
            continue
        if row.study == BENCHMARK:
            with checks.cell(row.place, "options"):
                outcomes.check(row.reader, row.text, row.options)
            continue
        with checks.cell(row.place, "metric"):
            name, read, count = functions(METRICS[row.metric], row.reader or None)
        with checks.cell(row.place, "options"):
            sort_options(row.options, f"reader {name} and metric {row.metric}", read, count)
        readers[row.dataset] = name, read
    for system in sheets.systems.rows:
        if system.dataset not in readers:
            kind = "pool" if sheets.datasets.named[system.dataset].pool else "benchmark"
            system.place.complain("dataset", f"the {kind} {system.dataset}", "a dataset with files of its own")
        name, read = readers[system.dataset]
        with checks.cell(system.place, "options"):
            sort_options(system.options, f"reader {name}", read)


def _check_numbers(sheets: Sheets, numbers: Mapping[str, int], trained: Collection[str]) -> None:
    """Check that published datasets and those whose systems are trained now have at least two systems, except pools."""
    for row in sheets.datasets.rows:
        number, is_trained = numbers[row.dataset], row.dataset in trained
        if number < 2 and not row.pool and (row.study == "natural" or is_trained):
            where = "to train" if is_trained else f"in {sheets.systems.path}"
            found = f"{row.dataset} has {number} system{'s' * (number != 1)} {where}"
            row.place.complain("dataset", found, "at least two")


def _check_calibrations(sheets: Sheets) -> None:
    """Check that the test sets of the calibrations are made."""
    for row in sheets.calibrations.rows:
        matched: list[DatasetRow] = []
        for side, datasets, test_sets in (
            ("on", row.on_dataset, row.on_test_set),
            ("against", row.against_dataset, row.against_test_set),
        ):
            if datasets != SAME:
                matched = []
            for pattern in datasets.split() if datasets != SAME else []:
                matched += _matched(sheets, row, f"{side}_dataset", pattern)
            made = {"whole"}.union(*(one.test_sets for one in matched))
            for pattern in test_sets.split() if test_sets != SAME else []:
                if not any(key in made and re.fullmatch(name, pattern) for key, name in NAMES.items()):
                    expected = f"whole, or what the column test_sets of {sheets.datasets.path} makes of {datasets}"
                    row.place.complain(f"{side}_test_set", quoted(pattern), expected)


def _check_families(sheets: Sheets) -> None:
    """Check that the datasets of the families exist, and that lines of a family have the same description."""
    about: dict[str, rows.FamilyRow] = {}
    for row in sheets.families.rows:
        for pattern in row.dataset.split():
            _matched(sheets, row, "dataset", pattern)
        first = about.setdefault(row.family, row)
        if first.about != row.about:
            row.place.complain(
                "about", quoted(row.about), f"the description of {row.family} in line {first.place.line}"
            )


def _matched(sheets: Sheets, row: rows.Row, column: str, pattern: str) -> list[DatasetRow]:
    """Find the datasets that a pattern matches, at least one."""
    of = [one for one in sheets.datasets.rows if matches(one.dataset, pattern)]
    if not of:
        expected = f"a name in {sheets.datasets.path}{near(pattern, sheets.datasets.named)}"
        row.place.complain(column, quoted(pattern), expected)
    return of


def _check_files(
    sheets: Sheets,
    included: Sequence[SystemRow],
    systems: Mapping[tuple[str, str], System],
    sources: Mapping[str, str],
    needed: Collection[str],
    data_dir: str,
) -> None:
    """Check that the first files of a run exist: embedded statistics, or outputs and references."""
    for row in sheets.datasets.rows:
        statistics = _statistics(row.dataset)
        if row.dataset in needed and sources[row.dataset] == "embedded" and not statistics.is_file():
            expected = f"the file {statistics}, or source: derived in the config"
            row.place.complain("dataset", f"{row.dataset} without its statistics", expected)
        for path in row.text if row.dataset in needed and sources[row.dataset] == "counted" else ():
            if not checks.is_file(str(Path(data_dir, path))):
                row.place.complain("text", f"{named(path)}, which is missing in {named(data_dir)}", "a file")
    for system in included:
        if system.dataset in needed and sources[system.dataset] == "derived":
            ready = systems[system.dataset, system.system]
            if not ready.reference:
                system.place.complain("reference", "nothing here or in its dataset", "reference files")
            for path in ready.files:
                if not checks.is_file(path):
                    system.place.complain("output", f"{named(path)}, which is missing", "a file")


def _selected(sheets: Sheets, chosen: str | Sequence[str], sources: Mapping[str, str]) -> set[str]:
    """Select the datasets of a run; `all` excludes retrained ones that are neither embedded nor to be retrained."""
    known = sheets.datasets.named
    if chosen == "all":
        return {
            row.dataset
            for row in known.values()
            if row.study != "synthetic" or sources[row.dataset] != "embedded" or _statistics(row.dataset).is_file()
        }
    for name in chosen:
        if name not in known:
            expected = f"'all' or names in the sheet of datasets{near(name, known)}"
            raise InputError(f"config: datasets: found {quoted(name)}, expected {expected}")
    return set(chosen)


def _missing(sheets: Sheets, sources: Mapping[str, str], data_dir: str) -> dict[str, str]:
    """Find benchmarks without embedded statistics and corpus, with what is missing."""
    found = {}
    for row in sheets.datasets.rows:
        sums = Path(data_dir, row.corpus, "SHA256SUMS")
        if sources[row.dataset] == "counted" and not sums.is_file():
            found[row.dataset] = f"its statistics are counted from data_dir, where {sums} is missing"
    return found


def _statistics(dataset: str) -> Path:
    return STATISTICS / f"{dataset}.parquet"


def _source(row: DatasetRow, config: Mapping[str, Any]) -> str:
    """Find the source of a dataset's statistics; only datasets with a corpus can be embedded."""
    if row.pool:
        return "pool"
    if row.study == BENCHMARK:
        return "embedded" if config["source"] == "embedded" and _statistics(row.dataset).is_file() else "counted"
    derived = config["retrain"] is not False if row.study == "synthetic" else config["source"] == "derived"
    return "derived" if derived or not row.corpus else "embedded"


# Rows prepared for the rules.


def _kept(
    predicted: Collection[tuple[str, str]], description: Mapping[str, Mapping[str, str]], needed: Collection[str]
) -> dict[str, dict[str, str]]:
    """For each retrained dataset, find the embedded systems that a run would reproduce, with their base models."""
    found = {}
    for name in sorted({dataset for dataset, _ in predicted} & set(needed)):
        if _statistics(name).is_file():
            found[name] = embedded.systems(_statistics(name), description[name])
    return found


@cache
def _versions() -> str:
    """List the versions of the packages that count."""
    return ", ".join(f"{package} {version(package)}" for package in COUNTING)


def _provenance(row: DatasetRow, sheets: Sheets, making: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Describe the provenance of the statistics of a dataset."""
    corpus = sheets.corpora.named.get(row.corpus)
    reader = ["--reader", row.reader] if row.reader else []
    command = ["pairsig extract OUTPUT --reference", text(row.reference) or "REFERENCE", "--metric", row.metric]
    if row.study == BENCHMARK:
        command = ["python -m study count", text(row.text)]
    description: Mapping[str, str] = {
        "task": row.task,
        "corpus": row.corpus,
        **{name: getattr(corpus, name, "") for name in ("url", "sha256", "licence", "citation")},
        "metric": row.metric,
        "note": row.note,
        "command": " ".join([*command, *reader, *option_words("--option", row.options)]),
        "test_set": " ".join([text(row.text), text(row.selection)]).strip() if row.study != BENCHMARK else "",
        "versions": _versions(),
        **making.get(row.dataset, {}),
    }
    return {key: value for key, value in description.items() if value}


def _ready_dataset(
    row: DatasetRow, systems: Sequence[str], source: str, selected: Collection[str], own: bool,
    description: Mapping[str, str], kept: Mapping[str, str], data_dir: str,
) -> Dataset:  # fmt: skip
    options = [word for key, value in description.items() for word in ("--provenance", f"{key}={value}")]
    options += ["--dated"] * (row.study == "synthetic")
    onto = (str(_statistics(row.dataset)),) if kept else ()
    for path in onto:
        options += ["--onto", path, "--keep", *dict.fromkeys(kept.values())]
    made = Path("results", "statistics", f"{row.dataset}.parquet")
    return Dataset(
        metric=row.metric,
        study=row.study,
        source=source,
        statistics=str(_statistics(row.dataset) if source == "embedded" else made),
        selected=row.dataset in selected,
        own=own,
        trained=synthetic.tests_base_models(row),
        systems=tuple(systems),
        outcomes=tuple(str(Path(data_dir, path)) for path in row.text) if row.study == BENCHMARK else (),
        corpora=row.corpora,
        counting=("--reader", row.reader, *option_words("--option", row.options)),
        pool=row.pool,
        test_sets=tuple(f"--{key.replace('_', '-')}={value}" for key, value in row.test_sets.items()),
        figures=tuple(name for name in row.figures if not FIGURES[name].once),
        counterparts=tuple(name for name in row.figures if FIGURES[name].once),
        overlay=(row.overlay,) if row.overlay in selected else (),
        onto=onto,
        provenance=tuple(options),
    )


def _ready_system(row: SystemRow, sheets: Sheets, data_dir: str) -> System:
    dataset = sheets.datasets.named[row.dataset]
    folder = Path(data_dir if dataset.corpus else "")
    reference = tuple(str(folder / path) for path in row.reference or dataset.reference)
    documents = str(folder / dataset.documents) if dataset.documents else ""
    given = {"--reader": dataset.reader, "--documents": documents, "--group": row.group, "--kind": row.kind}
    return _scored(dataset, str(folder / row.output), reference, given, *option_words("--output-option", row.options))


def _scored(
    dataset: DatasetRow, output: str, reference: tuple[str, ...], given: Mapping[str, str], *others: str
) -> System:
    """Describe how an output is counted, with the options of its dataset."""
    options = [word for name, value in given.items() if value for word in (name, value)]
    read = (path.split("!")[0] for path in (output, *reference, given["--documents"]) if path)
    return System(
        output=output,
        reference=reference,
        metric=dataset.metric,
        options=(*options, *option_words("--option", dataset.options), *others),
        files=tuple(dict.fromkeys(read)),
        corpora=dataset.corpora,
    )


def _ready_predictions(made: synthetic.Synthetic, sheets: Sheets) -> dict[tuple[str, str], System]:
    """Describe retrained systems: their outputs are predicted, and scored against the output of `prepare`."""
    ready = {}
    for (name, system), prediction in made.predictions.items():
        if not prediction.counted:
            continue
        dataset = sheets.datasets.named[name]
        folder = Path(made.data_dir if dataset.corpus else "")
        gold = tuple(str(folder / path) for path in dataset.reference)
        given = {
            "--documents": synthetic.segments(name, "documents.tsv"), "--group": prediction.base_model,
            "--kind": "synthetic", "--reader": dataset.reader,
        }  # fmt: skip
        gold = gold or (synthetic.segments(name, "reference.txt"),)
        ready[name, system] = _scored(dataset, synthetic.output(name, system), gold, given, "--leave-out-broken")
    return ready
