"""The retrained systems of a study, from the sheets of training sets and base models.

System `malt-half-3` is the base model `malt` trained on `half-3`, the third resampled training set of half the size.
All base models of a task are trained on the same resampled sets. An ensemble votes over the systems from one of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from study import corpora
from study.sheets import commands
from study.sheets.models import BaseModelRow, DatasetRow, Sheets, TrainingSetRow, option_words, text
from study.training.training_sets import SIZES

WHOLE = "whole-1"
"""Name of the full training set among the resampled ones."""


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


def expand(sheets: Sheets, config: Mapping[str, Any]) -> Synthetic:
    """Expand the sheets to all systems of all training sets, with their jobs."""
    scale, seed = float(config["scale"]), int(config["resampling"]["seed"])
    made = Synthetic(data_dir=str(config["data_dir"]))
    descriptions: dict[str, list[dict[str, str]]] = {}
    for row in sheets.training_sets.rows:
        made.training_sets[row.training_set] = _segments(row, row.files, row, made.data_dir)
        for name in row.datasets:
            dataset = sheets.datasets.named[name]
            made.tested.setdefault(name, []).append(row.training_set)
            made.test_sets[name] = _segments(row, dataset.text, dataset, made.data_dir)
            descriptions.setdefault(name, []).append(_provenance(row, sheets, scale, seed))
        given = _add_given(made, row, sheets, seed)
        for base_model, resampled in _systems(row, sheets, scale):
            _add_system(made, row, base_model, resampled, given if base_model.wants_model else (), seed)
    made.provenance.update({name: _together(description) for name, description in descriptions.items()})
    return made


def _add_given(made: Synthetic, row: TrainingSetRow, sheets: Sheets, seed: int) -> tuple[str, ...]:
    """Add the training of the model for `{given}`, if there is one; return its folder."""
    folder: tuple[str, ...] = ()
    for name, training_set in row.given.items():
        system = f"{name}-{WHOLE}"
        folder = (f"results/models/{training_set}/{system}",)
        whole = sheets.training_sets.named[training_set]
        made.resampled[training_set, WHOLE] = Resampled(whole.task, ("--whole",), _unlabelled(whole))
        base_model = sheets.base_models.named[name]
        made.training_runs[training_set, system] = _training(base_model, training_set, WHOLE, seed, ())
    return folder


def _add_system(
    made: Synthetic, row: TrainingSetRow, base_model: BaseModelRow, resampled: str, given: tuple[str, ...], seed: int
) -> None:
    """Add a base model on a resampled training set: its training, and its predictions of all test sets."""
    name, system = row.training_set, f"{base_model.base_model}-{resampled}"
    share = SIZES[resampled.partition("-")[0]]
    made.resampled[name, resampled] = Resampled(row.task, ("--size", f"{share:g}"), _unlabelled(row))
    model: tuple[str, ...] = ()
    if base_model.train:
        model = (f"results/models/{name}/{system}",)
        made.training_runs[name, system] = _training(base_model, name, resampled, seed, given)
    counted = base_model.include == "yes"
    for dataset in row.datasets:
        if counted and base_model.datasets and dataset not in base_model.datasets:
            continue
        made.predictions[dataset, system] = Prediction(
            command=base_model.predict,
            model=model,
            members=tuple(output(dataset, f"{member}-{resampled}") for member in base_model.members),
            counted=counted,
            **_needs(base_model, given),
        )


def _needs(base_model: BaseModelRow, given: tuple[str, ...]) -> dict[str, Any]:
    """Collect the requirements of both commands of a base model."""
    return {
        "base_model": base_model.base_model,
        "jars": tuple(f"results/jars/{jar}.jar" for jar in base_model.needed("jar")),
        "programs": commands.modules(base_model.train, base_model.predict),
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


def segments(dataset: str, file: str) -> str:
    """Path of a file of a prepared test set: `reference.txt`, `input.txt` or `documents.tsv`."""
    return f"results/segments/{dataset}.{file}"


def output(dataset: str, system: str) -> str:
    """Output file of the rule `predict`."""
    return f"results/outputs/{dataset}/{system}.txt"


def tests_base_models(dataset: DatasetRow) -> bool:
    """Whether base models are tested on the dataset: it is synthetic and not a pool."""
    return dataset.study == "synthetic" and not dataset.pool


def _systems(row: TrainingSetRow, sheets: Sheets, scale: float) -> Iterator[tuple[BaseModelRow, str]]:
    """List the systems of a training set: every base model on every resampled set, including members of ensembles."""
    base_models = trained(row, sheets)
    chosen = {base_model.base_model: _resampled(base_model.sizes or row.sizes, scale) for base_model in base_models}
    for ensemble in base_models:
        for member in ensemble.members:
            chosen[member] |= chosen[ensemble.base_model]
    for base_model in base_models:
        yield from ((base_model, resampled) for resampled in chosen[base_model.base_model])


def _resampled(sizes: Mapping[str, int], scale: float) -> dict[str, None]:
    """Select the resampled training sets of a base model, such as `half-2`: a share of all, rounded down, at least one.

    Sizes take turns, so that they keep their proportions; in a tie, the size named last (the smallest and cheapest)
    comes first. A larger share contains the sets of every smaller share.
    """
    turns: dict[str, tuple[Fraction, int]] = {}
    for position, (size, number) in enumerate(sizes.items()):
        turns |= {f"{size}-{k}": (Fraction(2 * k - 1, 2 * number), -position) for k in range(1, number + 1)}
    # The decimal share as written: 0.29 of 100 is 29, although the nearest float is slightly less.
    n_taken = max(1, math.floor(Fraction(str(scale)) * len(turns)))
    taken = set(sorted(turns, key=turns.__getitem__)[:n_taken])
    return {name: None for name in turns if name in taken}


def trained(row: TrainingSetRow, sheets: Sheets) -> list[BaseModelRow]:
    """Find the base models to train on a training set, including members of ensembles."""
    of_task = [
        base_model
        for base_model in sheets.base_models.rows
        if base_model.task == row.task and base_model.include != "no"
    ]
    if not row.base_models:
        return [base_model for base_model in of_task if row.given or not base_model.wants_model]
    names = set(row.base_models)
    for base_model in of_task:
        if base_model.base_model in row.base_models:
            names.update(base_model.members)
    return [base_model for base_model in of_task if base_model.base_model in names]


def _segments(
    training_set: TrainingSetRow, files: tuple[str, ...], row: TrainingSetRow | DatasetRow, data_dir: str
) -> Segments:
    """Convert a row of files for `python -m study prepare`."""
    folder = Path(data_dir if row.corpus else "")
    chosen = {**training_set.options, **row.selection}
    selection = [f"--{key.replace('_', '-')}={chosen.pop(key)}" for key in corpora.SELECTION if key in chosen]
    arguments, read = [], []
    for word in files:
        # Parallel text has several files: `DOMAIN=SOURCE+TARGET`.
        domain, equals, names = word.rpartition("=")
        paths = [str(folder / name) for name in names.split("+")]
        arguments.append(f"{domain}{equals}{'+'.join(paths)}")
        read += [path.split("!")[0] for path in paths]
    return Segments(
        task=training_set.task,
        files=tuple(arguments),
        options=(*selection, *option_words("--option", chosen)),
        read=tuple(read),
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
    for base_model in [*trained(row, sheets), *(sheets.base_models.named[name] for name in row.given)]:
        versions = [jars[jar].coordinates for jar in base_model.needed("jar")]
        versions += [_version(module) for module in base_model.needed("python")]
        parts = {
            "train": base_model.train,
            "predict": base_model.predict,
            "members": text(base_model.members),
            "sizes": text(base_model.sizes),
            "versions": ", ".join(versions),
            "reproducible": base_model.reproducible,
        }
        known = [f"{key}: {value}" for key, value in parts.items() if value]
        description[f"base_model {base_model.base_model}"] = "; ".join(known)
    return {key: value for key, value in description.items() if value}


def _together(descriptions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Merge the provenance of several training sets, naming the training set where they differ."""
    merged: dict[str, str] = {}
    for key in dict.fromkeys(chain.from_iterable(descriptions)):
        values = {description["training_set"]: description[key] for description in descriptions if key in description}
        if len(set(values.values())) == 1 and (len(values) == len(descriptions) or key.startswith("base_model ")):
            merged[key] = next(iter(values.values()))
        elif key == "training_set":
            merged[key] = ", ".join(values)
        else:
            merged[key] = "; ".join(f"{name}: {value}" for name, value in values.items())
    return merged


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
