"""The retrained systems of a study, from the sheets of training sets and base models.

System `malt-half-3` is the base model `malt` trained on `half-3`, the third resampled training set of half the size.
All base models of a task are trained on the same resampled sets. An ensemble votes over the systems from one of them.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pairsig.io.choices import near
from pairsig.io.errors import InputError, quoted
from study import corpora
from study.sheets import checks, code
from study.tables.rows import BaseModelRow, DatasetRow, Sheets, TrainingSetRow, option_words, text
from study.training.training_sets import SIZES

WHOLE = "whole-1"
"""Name of the full training set among the resampled ones."""

PLACEHOLDERS = {
    "train": ("train", "model", "seed", "given", "jars", "threads"),
    "predict": ("input", "output", "outputs", "model", "given", "jars", "threads"),
}
"""Pattern of placeholders in the commands of a base model."""


@dataclass(frozen=True)
class Segments:
    """A corpus to split into segments: arguments of `python -m study prepare`, and what it reads."""

    task: str
    files: tuple[str, ...]
    options: tuple[str, ...]
    read: tuple[str, ...]  # the paths in `files`, with archives instead of their members
    corpora: tuple[str, ...]  # the corpus of the files, or none


@dataclass(frozen=True)
class Resampled:
    """A training set to draw."""

    task: str
    drawn: tuple[str, ...]  # options of `python -m study resample` for the number of segments
    unlabelled: tuple[str, ...]  # files to add


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A command of a base model to run, with the resources of its job."""

    base_model: str
    command: str  # with its placeholders
    jars: tuple[str, ...]  # files
    programs: tuple[str, ...]  # modules of this project that the command runs
    given: tuple[str, ...]  # folder of the model for `{given}`, if any
    threads: int
    mem_mb: int
    runtime: int


@dataclass(frozen=True, kw_only=True)
class Training(_Run):
    """A base model to train, on the file of a resampled training set."""

    resampled: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Prediction(_Run):
    """A test set to predict with a model, or for an ensemble, from the outputs of its members.

    `counted` marks systems of the study; the others are only members of an ensemble.
    """

    model: tuple[str, ...]
    members: tuple[str, ...]
    counted: bool


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Inputs of the rules for training and prediction."""

    data_dir: str  # folder with the corpora
    training_sets: dict[str, Segments] = field(default_factory=dict)
    test_sets: dict[str, Segments] = field(default_factory=dict)  # by dataset of retrained systems
    tested: dict[str, list[str]] = field(default_factory=dict)  # by dataset, its training sets
    resampled: dict[tuple[str, str], Resampled] = field(default_factory=dict)  # by training set and resampled set
    training_runs: dict[tuple[str, str], Training] = field(default_factory=dict)  # by training set and system
    predictions: dict[tuple[str, str], Prediction] = field(default_factory=dict)  # by dataset and system
    provenance: dict[str, dict[str, str]] = field(default_factory=dict)  # by dataset, that of its statistics


def check(sheets: Sheets) -> None:
    """Check what single cells do not show in the sheets of training sets, base models and jars."""
    tested = _check_training_sets(sheets)
    for dataset in sheets.datasets.rows:
        if dataset.study == "natural" and dataset.text:
            dataset.place.complain("text", quoted(text(dataset.text)), "nothing, since its study is natural")
        if not tests_base_models(dataset):
            continue
        if not dataset.text:
            expected = "files of the segments to predict, since its study is synthetic"
            dataset.place.complain("text", "nothing", expected)
        if dataset.dataset not in tested:
            expected = f"it in the column datasets of {sheets.training_sets.path}"
            dataset.place.complain("dataset", dataset.dataset, expected)
    named, jars = sheets.base_models.named, sheets.jars.named
    for row in sheets.base_models.rows:
        _check_datasets(row, sheets)
        trained = [name for name, other in named.items() if other.task == row.task and other.train]
        for name in row.members:
            if name not in trained or (named[name].include == "no" and row.include != "no"):
                expected = f"base models of the task {row.task} that are trained and included{near(name, trained)}"
                row.place.complain("members", quoted(name), expected)
        for column, known in PLACEHOLDERS.items():
            command = getattr(row, column)
            for name in re.findall(r"\{(\w+)\}", command):
                if name not in known or (name == "model" and not row.train):
                    row.place.complain(column, quoted(f"{{{name}}}"), f"one of {{{'}, {'.join(known)}}}")
            row.place.check_names(column, _programs(command), code.modules(), "a module of pairsig")
        for name in row.needed("jar"):
            if name not in jars:
                row.place.complain("needs", f"jar:{name}", f"a jar of {sheets.jars.path}{near(name, jars)}")


def _check_training_sets(sheets: Sheets) -> set[str]:
    """Check that each system of a dataset has one training set; return the datasets with systems."""
    tested: dict[str, list[TrainingSetRow]] = {}
    for row in sheets.training_sets.rows:
        _check_datasets(row, sheets)
        _check_selection(row, row.task, row.options)
        known = [other.base_model for other in sheets.base_models.rows if other.task == row.task]
        row.place.check_names("base_models", row.base_models, known, f"base models of the task {row.task}")
        _check_given(row, sheets)
        own = {one.base_model for one in _trained(row, sheets)}
        for name in row.unlabelled:
            if name not in row.datasets:
                row.place.complain("unlabelled", quoted(name), "names in its column datasets")
        for name in row.datasets:
            for other in tested.setdefault(name, []):
                for base_model in sorted(own.intersection(one.base_model for one in _trained(other, sheets))):
                    found = f"{name}, on which {other.training_set} has {base_model} too"
                    row.place.complain("datasets", found, "each base model once")
                if other.options != row.options:
                    found = f"{name}, which {other.training_set} reads with other options"
                    row.place.complain("datasets", found, "datasets with the same options for reading")
            tested[name].append(row)
            _check_selection(sheets.datasets.named[name], row.task, row.options)
    return set(tested)


def _check_given(row: TrainingSetRow, sheets: Sheets) -> None:
    """Check that the model for `{given}` can be trained, and is used by the commands."""
    known = [one.base_model for one in sheets.base_models.rows if one.train and one.include != "no" and not _wants(one)]
    others = [name for name in sheets.training_sets.named if name != row.training_set]
    for base_model, training_set in row.given.items():
        expected = "a base model that is trained, included, and not given one itself"
        row.place.check_names("given", [base_model], known, expected)
        row.place.check_names("given", [training_set], others, "another training set")
        task = sheets.training_sets.named[training_set].task
        if sheets.base_models.named[base_model].task != task:
            found = f"{base_model} and {training_set}, which are of two tasks"
            row.place.complain("given", found, "a base model and a training set of the same task")
    for name in row.base_models:
        if _wants(sheets.base_models.named[name]) and not row.given:
            row.place.complain("given", "nothing", f"a model to give to {name}, whose commands have {{given}}")


def _wants(base_model: BaseModelRow) -> bool:
    """Whether its commands contain `{given}`."""
    return "{given}" in base_model.train + base_model.predict


def _check_selection(row: TrainingSetRow | DatasetRow, task: str, options: Mapping[str, str]) -> None:
    """Check the options that select segments of a corpus and read its files."""
    given = {**options, **row.selection}
    with checks.cell(row.place, "selection"):
        corpora.check(task, {key: value for key, value in given.items() if key not in corpora.SELECTION})
    for key in corpora.SELECTION:
        if key in given and not re.fullmatch("[0-9]{1,9}", given[key]):
            row.place.complain("selection", quoted(f"{key}={given[key]}"), f"{key}= with a whole number")


def tests_base_models(dataset: DatasetRow) -> bool:
    """Whether base models are tested on the dataset: it is synthetic and not a pool."""
    return dataset.study == "synthetic" and not dataset.pool


def _check_datasets(row: TrainingSetRow | BaseModelRow, sheets: Sheets) -> None:
    known = [one.dataset for one in sheets.datasets.rows if tests_base_models(one) and one.task == row.task]
    expected = f"datasets of the study synthetic and the task {row.task}"
    row.place.check_names("datasets", row.datasets, known, expected)


def check_needs(sheets: Sheets, training_sets: Collection[str]) -> None:
    """Check that the requirements of the base models are installed, as far as possible before the jobs."""
    chosen = [row for row in sheets.training_sets.rows if row.training_set in training_sets]
    trained = {one.base_model for row in chosen for one in _trained(row, sheets)}
    trained |= {base_model for row in chosen for base_model in row.given}
    for row in sheets.base_models.rows:
        for need in row.needs if row.base_model in trained else ():
            kind, _, name = need.partition(":")
            if kind == "java" and shutil.which("java") is None:
                missing = "a Java runtime of version 11 or newer; install one"
            elif kind == "python" and find_spec(name) is None:
                missing = f"the Python module {name}; type pip install pairsig[retrain]"
            elif kind == "command" and shutil.which(name) is None:
                missing = f"the command {name}; install it, for example with pip install pairsig[retrain]"
            else:
                continue
            where = f"{row.place.sheet}, line {row.place.line}"
            raise InputError(f"{where}: base model {row.base_model} requires {missing}, or set include: no")


def expand(sheets: Sheets, config: Mapping[str, Any]) -> Synthetic:
    """Expand the sheets to all systems of all training sets, with their jobs."""
    scale, seed = float(config["scale"]), int(config["resampling"]["seed"])
    made = Synthetic(data_dir=str(config["data_dir"]))
    makers: dict[str, list[dict[str, str]]] = {}
    for row in sheets.training_sets.rows:
        name = row.training_set
        made.training_sets[name] = _segments(row, row.files, row, made.data_dir)
        for dataset in row.datasets:
            made.tested.setdefault(dataset, []).append(name)
            its = sheets.datasets.named[dataset]
            made.test_sets[dataset] = _segments(row, its.text, its, made.data_dir)
            makers.setdefault(dataset, []).append(_provenance(row, sheets, scale, seed))
        given: tuple[str, ...] = ()
        for giver, other in row.given.items():
            given = (f"results/models/{other}/{giver}-{WHOLE}",)
            whole, base_model = sheets.training_sets.named[other], sheets.base_models.named[giver]
            made.resampled[other, WHOLE] = Resampled(whole.task, ("--whole",), _unlabelled(whole))
            made.training_runs[other, f"{giver}-{WHOLE}"] = _training(base_model, other, WHOLE, seed, ())
        for base_model, resampled in _systems(row, sheets, scale):
            system, size = f"{base_model.base_model}-{resampled}", resampled.partition("-")[0]
            drawn = ("--size", f"{SIZES[size]:g}")
            made.resampled[name, resampled] = Resampled(row.task, drawn, _unlabelled(row))
            its_given = given if _wants(base_model) else ()
            model: tuple[str, ...] = ()
            if base_model.train:
                model = (f"results/models/{name}/{system}",)
                made.training_runs[name, system] = _training(base_model, name, resampled, seed, its_given)
            members = [f"{member}-{resampled}" for member in base_model.members]
            counted = base_model.include == "yes"
            for dataset in row.datasets:
                if counted and base_model.datasets and dataset not in base_model.datasets:
                    continue
                made.predictions[dataset, system] = Prediction(
                    command=base_model.predict,
                    model=model,
                    members=tuple(output(dataset, member) for member in members),
                    counted=counted,
                    **_needs(base_model, its_given),
                )
    made.provenance.update({dataset: _together(description) for dataset, description in makers.items()})
    return made


def _needs(base_model: BaseModelRow, given: tuple[str, ...]) -> dict[str, Any]:
    """Collect the requirements of both commands of a base model."""
    return {
        "base_model": base_model.base_model,
        "jars": tuple(f"results/jars/{jar}.jar" for jar in base_model.needed("jar")),
        "programs": _programs(base_model.train, base_model.predict),
        "given": given,
        "threads": base_model.threads,
        "mem_mb": base_model.mem_mb,
        "runtime": base_model.runtime,
    }


def _training(
    base_model: BaseModelRow, training_set: str, resampled: str, seed: int, given: tuple[str, ...]
) -> Training:
    return Training(
        command=base_model.train,
        resampled=f"results/resampled/{training_set}/{resampled}.txt",
        seed=seed + int(resampled.rpartition("-")[2]),
        **_needs(base_model, given),
    )


def _unlabelled(row: TrainingSetRow) -> tuple[str, ...]:
    return tuple(segments(dataset, "input.txt") for dataset in row.unlabelled)


def segments(dataset: str, what: str) -> str:
    """Path of a file of a prepared test set: `reference.txt`, `input.txt` or `documents.tsv`."""
    return f"results/segments/{dataset}.{what}"


def output(dataset: str, system: str) -> str:
    """Output file of the rule `predict`."""
    return f"results/outputs/{dataset}/{system}.txt"


def _systems(row: TrainingSetRow, sheets: Sheets, scale: float) -> Iterator[tuple[BaseModelRow, str]]:
    """List the systems of a training set: every base model on every resampled set, including members of ensembles."""
    trained = _trained(row, sheets)
    chosen = {one.base_model: _resampled(one.sizes or row.sizes, scale) for one in trained}
    for ensemble in trained:
        for member in ensemble.members:
            chosen[member] |= chosen[ensemble.base_model]
    for base_model in trained:
        yield from ((base_model, resampled) for resampled in chosen[base_model.base_model])


def _resampled(sizes: Mapping[str, object], scale: float) -> dict[str, None]:
    """Select the resampled training sets of a base model, such as `half-2`: a share of all, rounded down, at least one.

    Sizes take turns, so that they keep their proportions; in a tie, the size named last (the smallest and cheapest)
    comes first. A larger share contains the sets of every smaller share.
    """
    numbers = {size: int(str(number)) for size, number in sizes.items()}
    turns = sorted(
        (Fraction(2 * k - 1, 2 * number), -place, f"{size}-{k}")
        for place, (size, number) in enumerate(numbers.items())
        for k in range(1, number + 1)
    )
    # The decimal share as written: 0.29 of 100 is 29, although the nearest float is slightly less.
    taken = {name for *_, name in turns[: max(1, math.floor(Fraction(str(scale)) * len(turns)))]}
    return {
        name: None for size, number in numbers.items() for k in range(1, number + 1) if (name := f"{size}-{k}") in taken
    }


def _trained(row: TrainingSetRow, sheets: Sheets) -> list[BaseModelRow]:
    """Find the base models to train on a training set, including members of ensembles."""
    own = [one for one in sheets.base_models.rows if one.task == row.task and one.include != "no"]
    if not row.base_models:
        return [one for one in own if row.given or not _wants(one)]
    named = [one for one in own if one.base_model in row.base_models]
    wanted = {one.base_model for one in named} | {member for one in named for member in one.members}
    return [one for one in own if one.base_model in wanted]


def _segments(
    training_set: TrainingSetRow, files: tuple[str, ...], row: TrainingSetRow | DatasetRow, data_dir: str
) -> Segments:
    """Convert a row of files for `python -m study prepare`."""
    folder = Path(data_dir if row.corpus else "")
    # Parallel text has several files: `DOMAIN=SOURCE+TARGET`.
    split = [(domain, paths.split("+")) for domain, _, paths in (file.rpartition("=") for file in files)]
    named = [(domain, [str(folder / path) for path in paths]) for domain, paths in split]
    chosen = {**training_set.options, **row.selection}
    words = [f"--{key.replace('_', '-')}={chosen.pop(key)}" for key in corpora.SELECTION if key in chosen]
    return Segments(
        task=training_set.task,
        files=tuple(f"{domain}={'+'.join(paths)}" if domain else "+".join(paths) for domain, paths in named),
        options=(*words, *option_words("--option", chosen)),
        read=tuple(path.split("!")[0] for _, paths in named for path in paths),
        corpora=row.corpora,
    )


def _provenance(row: TrainingSetRow, sheets: Sheets, scale: float, seed: int) -> dict[str, str]:
    """Describe the provenance of a training set's systems: programs, training data and settings."""
    corpus, jars = sheets.corpora.named.get(row.corpus), sheets.jars.named
    description = {
        "training_set": row.training_set,
        "files": text(row.files),
        "selection": text(row.selection),
        "options": text(row.options),
        "unlabelled": text(row.unlabelled),
        "given": text(row.given),
        "training_corpus": f"{row.corpus} {corpus.url} {corpus.sha256}" if corpus else "",
        "resampled": f"{text(row.sizes)} (scale {scale:g}, seed {seed})",
    }
    for base_model in [*_trained(row, sheets), *(sheets.base_models.named[name] for name in row.given)]:
        versions = [jars[jar].coordinates for jar in base_model.needed("jar")]
        versions += [_version(module) for module in base_model.needed("python")]
        description[f"base_model {base_model.base_model}"] = "; ".join(
            part
            for part in (
                base_model.train and f"train: {base_model.train}",
                f"predict: {base_model.predict}",
                base_model.members and f"members: {text(base_model.members)}",
                base_model.sizes and f"sizes: {text(base_model.sizes)}",
                versions and f"versions: {', '.join(versions)}",
                f"reproducible: {base_model.reproducible}",
            )
            if part
        )
    return {key: value for key, value in description.items() if value}


def _together(description: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Merge the provenance of several training sets, naming the training set where they differ."""
    found: dict[str, str] = {}
    for key in dict.fromkeys(key for one in description for key in one):
        values = {one["training_set"]: one[key] for one in description if key in one}
        if len(set(values.values())) == 1 and (len(values) == len(description) or key.startswith("base_model ")):
            found[key] = next(iter(values.values()))
        elif key == "training_set":
            found[key] = ", ".join(values)
        else:
            found[key] = "; ".join(f"{name}: {value}" for name, value in values.items())
    return found


_packages = cache(packages_distributions)
"""Packages by module: takes seconds, because it reads the list of files of every installed package."""


@cache
def _version(module: str) -> str:
    """Find the installed package of a module; in a shared namespace, the package with its name."""
    name = module.split(".")[0]
    packages = _packages().get(name, [module]) if find_spec(name) else [module]
    named = [package for package in packages if re.sub(r"[-_.]+", ".", package) == re.sub(r"[-_.]+", ".", module)]
    package = (named or packages)[0]
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _programs(*commands: str) -> tuple[str, ...]:
    """Find the modules of this project that shell commands run."""
    found = {
        name for command in commands for name in re.findall(r"-m\s+((?:base_models|pairsig|study)\.[\w.]*\w)", command)
    }
    return tuple(sorted(found))
