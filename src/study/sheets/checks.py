"""Check what single cells do not show: rows against each other, and what a run needs against this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.util import find_spec
from itertools import chain
from typing import Any, get_args

from pairsig.io.choices import near, one_of, sort_options
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics.registry import METRICS
from pairsig.readers import OUTPUTS
from pairsig.readers.extraction import functions
from study import analysis, corpora
from study.corpora import outcomes, scores
from study.sheets import code, commands, synthetic
from study.sheets.models import (
    BENCHMARK,
    TABLE,
    BaseModelRow,
    DatasetRow,
    FamilyRow,
    In,
    R,
    Row,
    Sheet,
    Sheets,
    SystemRow,
    Task,
    TrainingSetRow,
    text,
)  # fmt: skip
from study.test_sets import KINDS, SAME, matches

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

FIGURES = {name: figure for name, figure in analysis.figures().items() if figure.per_dataset or figure.once}
"""Figures that datasets list."""

PLACEHOLDERS = {
    "train": ("train", "model", "seed", "given", "jars", "threads"),
    "predict": ("input", "output", "outputs", "model", "given", "jars", "threads"),
}
"""Placeholders in the commands of a base model."""

WRITTEN = {"train": "model", "predict": "output"}
"""Placeholders without which a command cannot do its job."""

_CLOSE = 0.8
"""Similarity of two words, from 0 to 1, above which one is taken for a misspelling of the other."""


def check(sheets: Sheets) -> None:
    """Check the sheets by themselves, whatever a run uses of them."""
    for sheet in sheets:
        _check_unique(sheet)
    for sheet in sheets:
        _check_references(sheet, sheets)
    _check_tasks(sheets.datasets)
    for dataset in sheets.datasets.rows:
        _check_dataset(dataset)
        _check_pool(dataset, sheets)
        _check_test_sets(dataset)
    _check_figures(sheets.datasets)
    _check_options(sheets)
    _check_outputs(sheets.systems)
    _check_training_sets(sheets)
    for dataset in sheets.datasets.rows:
        _check_text(dataset, sheets)
    for base_model in sheets.base_models.rows:
        _check_base_model(base_model, sheets)
    _check_calibrations(sheets)
    _check_families(sheets)


# Any sheet.


def _check_unique(sheet: Sheet[R]) -> None:
    """Check that no two rows have the same key."""
    first: dict[tuple[str, ...], R] = {}
    for row in sheet.rows:
        key = tuple(getattr(row, column) for column in row.key)
        if key in first:
            expected = f"it once: it is in {first[key].line} already"
            row.refuse(row.key[-1], f"{' '.join(map(named, key))} again", expected)
        first[key] = row


def _check_references(sheet: Sheet[R], sheets: Sheets) -> None:
    """Check that cells with the name of a row in another sheet are empty, or that there is such a row."""
    for row in sheet.rows:
        for column, field in type(row).model_fields.items():
            for mark in field.metadata:
                if isinstance(mark, In):
                    referred: Sheet[Row] = getattr(sheets, mark.sheet)
                    row.check_names(
                        column, filter(None, [getattr(row, column)]), referred.named, f"a name in {referred.path}"
                    )


# Test sets and their systems.


def _check_tasks(datasets: Sheet[DatasetRow]) -> None:
    """Check that new tasks are not misspelt ones: those of base models, or of earlier rows."""
    known = dict.fromkeys(get_args(Task))
    for row in datasets.rows:
        if row.task not in known and (meant := near(row.task, known, _CLOSE)):
            row.refuse("task", quoted(row.task), f"a known task, or a new one with a name that differs more{meant}")
        known[row.task] = None


def _check_dataset(row: DatasetRow) -> None:
    """Check that the metric and the reader of a dataset exist."""
    if row.metric not in METRICS:
        row.refuse("metric", quoted(row.metric), one_of(row.metric, METRICS))
    readers = {"benchmark": (TABLE, *outcomes.READERS), "natural": (TABLE, *OUTPUTS), "synthetic": OUTPUTS}[row.study]
    if row.reader and row.reader not in readers:
        row.refuse("reader", quoted(row.reader), one_of(row.reader, readers))
    if row.reader == TABLE:
        for column in ("reference", "selection", "documents"):
            if getattr(row, column):
                row.refuse(column, quoted(text(getattr(row, column))), "nothing, since its reader is table")
    elif row.study == BENCHMARK:
        for column in ("corpus", "reader", "text"):
            if not getattr(row, column):
                row.refuse(column, "nothing", "one, since its study is benchmark")


def _check_pool(row: DatasetRow, sheets: Sheets) -> None:
    """Check that a pool consists of several datasets with files, which have its metric."""
    if len(row.pool) == 1:
        row.refuse("pool", f"{row.pool[0]} alone", "at least two datasets; a single one needs no pool")
    for name in row.pool:
        members = {candidate.dataset: candidate for candidate in sheets.datasets.rows if not candidate.pool}
        row.check_names("pool", [name], members, "datasets of this sheet that are not pools")
        if members[name].metric != row.metric:
            wrong = f"{name}, whose metric is {members[name].metric}"
            row.refuse("pool", wrong, f"datasets with the metric {row.metric}")


def _check_test_sets(row: DatasetRow) -> None:
    """Check the options of `resize`."""
    for key, value in row.test_sets.items():
        if key not in TEST_SETS or not re.fullmatch(TEST_SETS[key], value):
            expected = (
                f"{', '.join(TEST_SETS)} with a number each{near(key, TEST_SETS) if key not in TEST_SETS else ''}"
            )
            row.refuse("test_sets", quoted(f"{key}={value}"), expected)
    if "shuffle" in row.test_sets and "initial" not in row.test_sets:
        row.refuse("test_sets", quoted("shuffle"), "initial too, because shuffle is their order")


def _check_figures(datasets: Sheet[DatasetRow]) -> None:
    """Check that the figures of the datasets exist, that they have their test sets, and that some are listed once."""
    listed_by: dict[str, str] = {}
    for row in datasets.rows:
        for name in row.figures:
            if name not in FIGURES:
                row.refuse("figures", quoted(name), one_of(name, FIGURES))
            figure = FIGURES[name]
            if figure.needs and figure.needs not in row.test_sets:
                row.refuse("figures", name, f"{figure.needs} in the column test_sets too")
            if figure.once and listed_by.setdefault(name, row.dataset) != row.dataset:
                row.refuse("figures", f"{name}, which {listed_by[name]} lists", "it for one dataset only")


def _check_options(sheets: Sheets) -> None:
    """Check that the reader, the metric and their options fit each other."""
    readers: dict[str, tuple[str, Callable[..., Any]]] = {}
    for row in sheets.datasets.rows:
        if row.pool:
            continue
        if row.reader == TABLE:
            with row.naming("options"):
                scores.check(row.options)
            readers[row.dataset] = TABLE, scores.no_options
            continue
        if row.study == BENCHMARK:
            with row.naming("options"):
                outcomes.check(row.reader, row.text, row.options)
            continue
        with row.naming("metric"):
            name, read, count = functions(METRICS[row.metric], row.reader or None)
        with row.naming("options"):
            sort_options(row.options, f"reader {name} and metric {row.metric}", read, count)
        readers[row.dataset] = name, read
    for system in sheets.systems.rows:
        if system.dataset not in readers:
            kind = "pool" if sheets.datasets.named[system.dataset].pool else "benchmark"
            system.refuse("dataset", f"the {kind} {system.dataset}", "a dataset with files of its own")
        if sheets.datasets.named[system.dataset].reader == TABLE and sheets.datasets.named[system.dataset].text:
            system.refuse(
                "dataset", f"{system.dataset}, whose column text has the scores of its systems", "another one"
            )
        name, read = readers[system.dataset]
        with system.naming("options"):
            sort_options(system.options, f"reader {name}", read)


def _check_outputs(systems: Sheet[SystemRow]) -> None:
    """Check that no two systems of a dataset are the same file, read in the same way."""
    first: dict[tuple[str, str, str], SystemRow] = {}
    for row in systems.rows:
        first_row = first.setdefault((row.dataset, row.output, text(row.options)), row)
        if first_row is not row and row.include == first_row.include == "yes":
            expected = f"another file: it is the output of {first_row.system} in {first_row.line}"
            row.refuse("output", named(row.output), expected)


def check_systems(sheets: Sheets, systems: Mapping[str, Collection[str]], trained: Collection[str]) -> None:
    """Check that there are enough systems.

    Parameters
    ----------
    systems
        Names of the systems by dataset.
    trained
        Datasets whose systems are trained in this run.
    """
    for row in sheets.datasets.rows:
        number = len(systems[row.dataset])
        if (
            number < 2
            and not row.pool
            and not (row.counted and row.text)
            and (row.study == "natural" or row.dataset in trained)
        ):
            where = "to train" if row.dataset in trained else f"in {sheets.systems.path}"
            few = f"{row.dataset} has {number} system{'s' * (number != 1)} {where}"
            row.refuse("dataset", few, "at least two")
        members = {name: systems[name] for name in row.pool if not sheets.datasets.named[name].counted}
        common = set.intersection(*map(set, members.values())) if members else set()
        if members and len(common) < 2:
            names = "; ".join(f"{name}: {listed(system_names)}" for name, system_names in members.items())
            few = f"{len(common) or 'no'} system{'s' * (len(common) != 1)} in all of {', '.join(members)}"
            row.refuse("pool", few, f"datasets that share at least two systems ({names}){_alike(members.values())}")


def _alike(members: Iterable[Collection[str]]) -> str:
    """A suggestion, if the members of a pool write the name of a system in upper and lower case."""
    spelled: dict[str, str] = {}
    for name in chain.from_iterable(members):
        if spelled.setdefault(name.casefold(), name) != name:
            return f"; did you mean the same system by {spelled[name.casefold()]} and {name}?"
    return ""


# Training sets and base models.


def _check_text(row: DatasetRow, sheets: Sheets) -> None:
    """Check that a dataset has text if base models are tested on it, and only then."""
    if row.study == "natural" and row.text and row.reader != TABLE:
        row.refuse("text", quoted(text(row.text)), "nothing, since its study is natural")
    if synthetic.tests_base_models(row):
        if not row.text:
            row.refuse("text", "nothing", "files of the segments to predict, since its study is synthetic")
        if all(row.dataset not in training_set.datasets for training_set in sheets.training_sets.rows):
            row.refuse("dataset", row.dataset, f"it in the column datasets of {sheets.training_sets.path}")


def _check_training_sets(sheets: Sheets) -> None:
    """Check the training sets, and that each system of a dataset has one of them."""
    earlier: dict[str, list[TrainingSetRow]] = {}
    for row in sheets.training_sets.rows:
        _check_tested(row, sheets)
        _check_selection(row, row.task, row.options)
        of_task = [base_model.base_model for base_model in sheets.base_models.rows if base_model.task == row.task]
        row.check_names("base_models", row.base_models, of_task, f"base models of the task {row.task}")
        _check_given(row, sheets)
        row.check_names("unlabelled", row.unlabelled, row.datasets, "names in its column datasets")
        for name in row.datasets:
            for earlier_row in earlier.setdefault(name, []):
                _check_both(row, earlier_row, name, sheets)
            earlier[name].append(row)
            _check_selection(sheets.datasets.named[name], row.task, row.options)


def _check_both(row: TrainingSetRow, earlier_row: TrainingSetRow, dataset: str, sheets: Sheets) -> None:
    """Check two training sets whose systems are tested on the same dataset."""
    names, others = (
        {base_model.base_model for base_model in synthetic.trained(training_set, sheets)}
        for training_set in (row, earlier_row)
    )
    for base_model in sorted(names & others):
        twice = f"{dataset}, on which {earlier_row.training_set} has {base_model} too"
        row.refuse("datasets", twice, "each base model once")
    if earlier_row.options != row.options:
        wrong = f"{dataset}, which {earlier_row.training_set} reads with other options"
        row.refuse("datasets", wrong, "datasets with the same options for reading")


def _check_given(row: TrainingSetRow, sheets: Sheets) -> None:
    """Check that the model for `{given}` can be trained, and is used by the commands."""
    trained = [base_model for base_model in sheets.base_models.rows if base_model.train and base_model.include != "no"]
    alone = [base_model.base_model for base_model in trained if not base_model.wants_model]
    others = [name for name in sheets.training_sets.named if name != row.training_set]
    for base_model, training_set in row.given.items():
        expected = "a base model that is trained, included, and not given one itself"
        row.check_names("given", [base_model], alone, expected)
        row.check_names("given", [training_set], others, "another training set")
        if sheets.base_models.named[base_model].task != sheets.training_sets.named[training_set].task:
            wrong = f"{base_model} and {training_set}, which are of two tasks"
            row.refuse("given", wrong, "a base model and a training set of the same task")
    for name in row.base_models:
        if sheets.base_models.named[name].wants_model and not row.given:
            row.refuse("given", "nothing", f"a model to give to {name}, whose commands have {{given}}")


def _check_selection(row: TrainingSetRow | DatasetRow, task: str, options: Mapping[str, str]) -> None:
    """Check the options that select segments of a corpus and read its files."""
    all_options = {**options, **row.selection}
    with row.naming("selection"):
        corpora.check(task, {key: value for key, value in all_options.items() if key not in corpora.SELECTION})
    for key in corpora.SELECTION:
        if key in all_options and not re.fullmatch("[0-9]{1,9}", all_options[key]):
            row.refuse("selection", quoted(f"{key}={all_options[key]}"), f"{key}= with a whole number")


def _check_tested(row: TrainingSetRow | BaseModelRow, sheets: Sheets) -> None:
    """Check that base models can be tested on the datasets of a row."""
    tested = filter(synthetic.tests_base_models, sheets.datasets.rows)
    of_task = [dataset.dataset for dataset in tested if dataset.task == row.task]
    row.check_names("datasets", row.datasets, of_task, f"datasets of the study synthetic and the task {row.task}")


def _check_base_model(row: BaseModelRow, sheets: Sheets) -> None:
    """Check the datasets, members, commands and jars of a base model."""
    _check_tested(row, sheets)
    named_rows = sheets.base_models.named
    trained = [name for name, candidate in named_rows.items() if candidate.task == row.task and candidate.train]
    for name in row.members:
        if name not in trained or (named_rows[name].include == "no" and row.include != "no"):
            expected = f"base models of the task {row.task} that are trained and included{near(name, trained)}"
            row.refuse("members", quoted(name), expected)
    for column, known in PLACEHOLDERS.items():
        command = getattr(row, column)
        for name in re.findall(r"\{(\w+)\}", command):
            if name not in known or (name == "model" and not row.train):
                row.refuse(column, quoted(f"{{{name}}}"), f"one of {{{'}, {'.join(known)}}}{near(name, known)}")
        if command and f"{{{WRITTEN[column]}}}" not in command:
            row.refuse(column, quoted(command), f"{{{WRITTEN[column]}}} in it, which is what the command writes")
        row.check_names(column, commands.modules(command), code.modules(), "a module of pairsig")
    for name in row.needed("jar"):
        if name not in sheets.jars.named:
            row.refuse("needs", f"jar:{name}", f"a jar of {sheets.jars.path}{near(name, sheets.jars.named)}")


# Calibrations and families.


def _check_calibrations(sheets: Sheets) -> None:
    """Check that the test sets of the calibrations are made."""
    for row in sheets.calibrations.rows:
        matching: list[DatasetRow] = []
        for side, datasets, test_sets in (
            ("on", row.on_dataset, row.on_test_set),
            ("against", row.against_dataset, row.against_test_set),
        ):
            if datasets != SAME:
                patterns = datasets.split()
                matching = [*chain.from_iterable(_matching(sheets, row, f"{side}_dataset", name) for name in patterns)]
            made = {"whole"}.union(*(dataset.test_sets for dataset in matching))
            for pattern in test_sets.split() if test_sets != SAME else []:
                if not any(key in made and re.fullmatch(name, pattern) for key, name in NAMES.items()):
                    expected = f"whole, or what the column test_sets of {sheets.datasets.path} makes of {datasets}"
                    row.refuse(f"{side}_test_set", quoted(pattern), expected)


def _check_families(sheets: Sheets) -> None:
    """Check that the datasets of the families exist, and that lines of a family have the same description."""
    first: dict[str, FamilyRow] = {}
    for row in sheets.families.rows:
        for pattern in row.dataset.split():
            _matching(sheets, row, "dataset", pattern)
        first_row = first.setdefault(row.family, row)
        if first_row.about != row.about:
            row.refuse("about", quoted(row.about), f"the description of {row.family} in {first_row.line}")


def _matching(sheets: Sheets, row: Row, column: str, pattern: str) -> list[DatasetRow]:
    """Find the datasets that a pattern matches, at least one."""
    datasets = [dataset for dataset in sheets.datasets.rows if matches(dataset.dataset, pattern)]
    if not datasets:
        row.check_names(column, [pattern], sheets.datasets.named, f"a name in {sheets.datasets.path}")
    return datasets


# What a run needs.


def check_file(row: Row, column: str, path: str, also: str = "") -> None:
    """Check that a file exists."""
    if not commands.is_file(path):
        row.refuse(column, f"{named(path)}, which is missing", f"a file{also}{commands.near_file(path)}")


def check_programs(sheets: Sheets, training_sets: Collection[str]) -> None:
    """Check that the programs of the base models are installed, as far as possible before the jobs."""
    chosen = [row for row in sheets.training_sets.rows if row.training_set in training_sets]
    names = {
        base_model.base_model for base_model in chain.from_iterable(synthetic.trained(row, sheets) for row in chosen)
    }
    names.update(chain.from_iterable(row.given for row in chosen))
    for row in sheets.base_models.rows:
        if row.base_model in names:
            _check_needs(row)
            for column in PLACEHOLDERS:
                for missing, expected in commands.missing(getattr(row, column)):
                    row.refuse(column, missing, expected)


def _check_needs(row: BaseModelRow) -> None:
    """Check that the requirements of a base model are installed."""
    for need in row.needs:
        kind, _, name = need.partition(":")
        if kind == "java" and shutil.which("java") is None:
            missing = "a Java runtime of version 11 or newer; install one"
        elif kind == "python" and find_spec(name) is None:
            missing = f"the Python module {name}; type pip install pairsig[retrain]"
        elif kind == "command" and shutil.which(name) is None:
            missing = f"the command {name}; install it, for example with pip install pairsig[retrain]"
        else:
            continue
        raise InputError(f"{row.line}: base model {row.base_model} requires {missing}, or set include: no")
