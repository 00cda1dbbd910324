"""The synthetic systems of a study, from the sheets of training sets and base models.

System `malt-half-3` is the base model `malt` trained on `half-3`, the third resampled training set of half the size.
All base models of a task are trained on the same resampled sets, and an ensemble votes over the systems of one of them.
"""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import pandas as pd

from pairsig.choices import near
from pairsig.errors import InputError, quoted
from study import corpora
from study.sheets import checks, code
from study.sheets.checks import complain, split

SIZES = {"full": 1.0, "half": 0.5, "quarter": 0.25, "eighth": 0.125}
"""Sizes of resampled training sets, as shares of the whole."""

RESULTS = Path("results")

PLACEHOLDERS = {
    "train": ("train", "model", "seed", "jars", "threads"),
    "predict": ("input", "output", "outputs", "model", "jars", "threads"),
}
"""What stands in braces in the commands of a base model."""


@dataclass(frozen=True)
class Synthetic:
    """What the rules that train and predict need.

    Attributes
    ----------
    training_sets
        By training set: `task`, `files` and `options` (of `python -m study prepare`), `read` (paths), `corpora`.
    test_sets
        By dataset: `training_set`, and as above.
    resampled
        By training set and resampled set: `size`, `unlabelled` (files of segments).
    trainings
        By training set and system: `command`, `resampled`, `threads`, `mem_mb`, `runtime`, `seed`, `jars`, `programs`
        (modules of this package that the command runs).
    predictions
        By dataset and system: `command`, `model` (one or none) and `model_option`, `members` (outputs), and as above.
    jars
        By jar: `coordinates`, `sha256`.
    provenance
        By dataset: what its statistics should tell of their making.
    data_dir
        The folder with the corpora.
    """

    training_sets: pd.DataFrame
    test_sets: pd.DataFrame
    resampled: pd.DataFrame
    trainings: pd.DataFrame
    predictions: pd.DataFrame
    jars: pd.DataFrame
    provenance: Mapping[str, Mapping[str, str]]
    data_dir: str


@dataclass(frozen=True)
class _System:
    name: str
    base_model: str
    resampled: str
    counted: bool
    """Is it a system of the study, or only a member of an ensemble?"""


def check(tables: Mapping[str, pd.DataFrame], paths: Mapping[str, str]) -> None:
    """What the schemas cannot say about the sheets of training sets, base models and jars."""
    tested = _check_training_sets(tables, paths)
    sheet = paths["datasets"]
    for row in tables["datasets"].itertuples():
        if row.study == "natural" and row.text:
            complain(sheet, row.Index, "text", quoted(row.text), "nothing, since its study is natural")
        if row.study == "synthetic" and not row.text:
            complain(
                sheet, row.Index, "text", "nothing", "files of the segments to predict, since its study is synthetic"
            )
        if row.study == "synthetic" and row.dataset not in tested:
            complain(sheet, row.Index, "dataset", row.dataset, f"it in the column datasets of {paths['training_sets']}")
    sheet = paths["base_models"]
    rows = {row.base_model: row for row in tables["base_models"].itertuples()}
    for row in rows.values():
        _check_datasets(row, tables, sheet)
        trained = [name for name, other in rows.items() if other.task == row.task and other.train]
        for name in row.members.split():
            if name not in trained or (rows[name].include == "no" and row.include != "no"):
                expected = f"base models of the task {row.task} that are trained and included{near(name, trained)}"
                complain(sheet, row.Index, "members", quoted(name), expected)
        for column, known in PLACEHOLDERS.items():
            command = getattr(row, column)
            for name in re.findall(r"\{(\w+)\}", command):
                if name not in known or (name == "model" and not row.train):
                    complain(sheet, row.Index, column, quoted(f"{{{name}}}"), f"one of {{{'}, {'.join(known)}}}")
            for name in _programs(command):
                if name not in code.modules():
                    expected = f"a module of pairsig{near(name, code.modules())}"
                    complain(sheet, row.Index, column, quoted(name), expected)
        for kind, name in _needs(row.needs):
            if kind == "jar" and name not in set(tables["jars"]["jar"]):
                expected = f"a jar of {paths['jars']}{near(name, tables['jars']['jar'])}"
                complain(sheet, row.Index, "needs", f"jar:{name}", expected)


def _check_training_sets(tables: Mapping[str, pd.DataFrame], paths: Mapping[str, str]) -> dict[str, str]:
    """Every dataset is tested by the systems of one training set: returns which."""
    sheet = paths["training_sets"]
    tested: dict[str, str] = {}
    rows = {row.dataset: row for row in tables["datasets"].itertuples()}
    for row in tables["training_sets"].itertuples():
        _check_datasets(row, tables, sheet)
        own = dict(split(row.options))
        _check_selection(row, row.task, own | dict(split(row.selection)), sheet)
        models = tables["base_models"]
        known = models["base_model"][models["task"] == row.task]
        for name in row.base_models.split():
            if name not in set(known):
                expected = f"base models of the task {row.task}{near(name, known)}"
                complain(sheet, row.Index, "base_models", quoted(name), expected)
        for name in row.unlabelled.split():
            if name not in row.datasets.split():
                complain(sheet, row.Index, "unlabelled", quoted(name), "names in its column datasets")
        for name in row.datasets.split():
            if name in tested:
                complain(sheet, row.Index, "datasets", f"{name}, which {tested[name]} has too", "each dataset once")
            tested[name] = row.training_set
            _check_selection(rows[name], row.task, own | dict(split(rows[name].selection)), paths["datasets"])
    return tested


def _check_selection(row: Any, task: str, given: dict[str, str], sheet: str) -> None:
    """Which segments of a corpus are taken can be told, and how its files are read."""
    with checks.cell(sheet, row.Index, "selection"):
        corpora.check(task, {key: value for key, value in given.items() if key not in ("skip", "first")})
    for key in given.keys() & {"skip", "first"}:
        if not re.fullmatch("[0-9]{1,9}", given[key]):
            complain(sheet, row.Index, "selection", quoted(f"{key}={given[key]}"), f"{key}= with a whole number")


def _check_datasets(row: Any, tables: Mapping[str, pd.DataFrame], sheet: str) -> None:
    datasets = tables["datasets"]
    known = datasets["dataset"][(datasets["study"] == "synthetic") & (datasets["task"] == row.task)]
    for name in row.datasets.split():
        if name not in set(known):
            expected = f"datasets of the study synthetic and the task {row.task}{near(name, known)}"
            complain(sheet, row.Index, "datasets", quoted(name), expected)


def check_needs(tables: Mapping[str, pd.DataFrame], paths: Mapping[str, str], training_sets: set[str]) -> None:
    """What the base models need is installed, as far as can be told before the jobs."""
    rows = tables["training_sets"].set_index("training_set", drop=False).loc[sorted(training_sets)].to_dict("records")
    trained = {line for row in rows for line in _trained(row, tables["base_models"]).index}
    for row in tables["base_models"].loc[sorted(trained)].itertuples():
        for kind, name in _needs(row.needs):
            if kind == "java" and shutil.which("java") is None:
                missing = "a Java runtime, 11 or newer: there is no command java"
            elif kind == "python" and importlib.util.find_spec(name) is None:
                missing = f"the Python module {name}: install pairsig[retrain]"
            elif kind == "command" and shutil.which(name) is None:
                missing = (
                    f"the command {name}: install what provides it (pairsig[retrain] has what the shipped ones need)"
                )
            else:
                continue
            where = f"{paths['base_models']}, line {row.Index}"
            raise InputError(f"{where}: base model {row.base_model} needs {missing}, or leave it out (include: no)")


def expand(tables: Mapping[str, pd.DataFrame], config: Mapping[str, Any]) -> Synthetic:
    """All systems of all training sets, and what makes them."""
    data_dir, scale, seed = str(config["data_dir"]), float(config["scale"]), int(config["resampling"]["seed"])
    of_dataset = tables["datasets"].set_index("dataset").to_dict("index")
    of_base_model = tables["base_models"].set_index("base_model").to_dict("index")
    training_sets: dict[str, Any] = {}
    test_sets: dict[str, Any] = {}
    resampled: dict[tuple[str, str], Any] = {}
    trainings: dict[tuple[str, str], Any] = {}
    predictions: dict[tuple[str, str], Any] = {}
    provenance: dict[str, dict[str, str]] = {}
    for row in tables["training_sets"].to_dict("records"):
        name, task = str(row["training_set"]), str(row["task"])
        training_sets[name] = _prepared(task, row["files"], row["corpus"], data_dir, row["options"], row["selection"])
        unlabelled = [str(RESULTS / "segments" / f"{dataset}.input.txt") for dataset in row["unlabelled"].split()]
        for dataset in row["datasets"].split():
            cells = of_dataset[dataset]
            prepared = _prepared(task, cells["text"], cells["corpus"], data_dir, row["options"], cells["selection"])
            test_sets[dataset] = prepared | {"training_set": name}
            provenance[dataset] = _provenance(row, tables, scale, seed)
        for system in _systems(row, tables["base_models"], scale):
            base_model = of_base_model[system.base_model]
            size, _, number = system.resampled.partition("-")
            resampled[name, system.resampled] = {"task": task, "size": SIZES[size], "unlabelled": unlabelled}
            jars = [jar for kind, jar in _needs(base_model["needs"]) if kind == "jar"]
            made = {
                "base_model": system.base_model,
                "resampled": str(RESULTS / "resampled" / name / f"{system.resampled}.txt"),
                "seed": seed + int(number),
                "jars": [str(RESULTS / "jars" / f"{jar}.jar") for jar in jars],
                "programs": _programs(base_model["train"], base_model["predict"]),
            } | {key: int(base_model[key]) for key in ("threads", "mem_mb", "runtime")}
            model = [str(RESULTS / "models" / name / system.name)] if base_model["train"] else []
            if model:
                trainings[name, system.name] = made | {"command": base_model["train"]}
            members = [f"{member}-{system.resampled}" for member in base_model["members"].split()]
            limited = base_model["datasets"].split()
            for dataset in row["datasets"].split():
                if system.counted and limited and dataset not in limited:
                    continue
                predictions[dataset, system.name] = made | {
                    "command": base_model["predict"],
                    "model": model,
                    "model_option": [word for path in model for word in ("--model", path)],
                    "members": [output(dataset, member) for member in members],
                    "counted": system.counted,
                }
    return Synthetic(
        training_sets=frame(training_sets, "training_set"),
        test_sets=frame(test_sets, "dataset"),
        resampled=frame(resampled, "training_set", "resampled"),
        trainings=frame(trainings, "training_set", "system"),
        predictions=frame(predictions, "dataset", "system"),
        jars=tables["jars"].set_index("jar"),
        provenance=provenance,
        data_dir=data_dir,
    )


def segments(dataset: str, what: str) -> str:
    """Where the rule `prepare` writes a test set: its `reference.txt`, `input.txt` and `documents.tsv`."""
    return str(RESULTS / "segments" / f"{dataset}.{what}")


def output(dataset: str, system: str) -> str:
    """Where the rule `predict` writes."""
    return str(RESULTS / "outputs" / dataset / f"{system}.txt")


def _systems(row: Mapping[str, Any], base_models: pd.DataFrame, scale: float) -> Iterator[_System]:
    """The systems of a training set: every base model on every resampled set, members of ensembles too."""
    for base_model in _trained(row, base_models).to_dict("records"):
        for size, number in split(base_model["sizes"] or row["sizes"]):
            for k in range(1, math.ceil(int(number) * scale) + 1):
                name = f"{base_model['base_model']}-{size}-{k}"
                yield _System(name, base_model["base_model"], f"{size}-{k}", base_model["include"] == "yes")


def _trained(row: Mapping[str, Any], base_models: pd.DataFrame) -> pd.DataFrame:
    """The base models that are trained on a training set, those that an ensemble of them needs included."""
    own = base_models[(base_models["task"] == row["task"]) & (base_models["include"] != "no")]
    if not row["base_models"]:
        return own
    named = own[own["base_model"].isin(row["base_models"].split())]
    return own[own["base_model"].isin({*named["base_model"], *" ".join(named["members"]).split()})]


def _prepared(
    task: str, files: str, corpus: str, data_dir: str, options: str, selection: str
) -> dict[str, str | list[str]]:
    """A row of files, ready for `python -m study prepare`."""
    folder = Path(data_dir if corpus else "")
    # Parallel text is in more than one file: `DOMAIN=SOURCE+TARGET`.
    named = [(domain, [str(folder / path) for path in paths.split("+")]) for domain, _, paths in _files(files)]
    chosen = dict(split(options)) | dict(split(selection))
    words = [f"--{key}={chosen.pop(key)}" for key in ("skip", "first") if key in chosen]
    words += [word for key, value in chosen.items() for word in ("--option", f"{key}={value}")]
    return {
        "task": task,
        "files": [f"{domain}={'+'.join(paths)}" if domain else "+".join(paths) for domain, paths in named],
        "read": [path.split("!")[0] for _, paths in named for path in paths],
        "options": words,
        "corpora": [corpus] if corpus else [],
    }


def _files(cell: str) -> Iterator[tuple[str, str, str]]:
    return (file.rpartition("=") for file in cell.split())


def _provenance(row: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], scale: float, seed: int) -> dict[str, str]:
    """What the statistics of a training set's systems should tell: which programs were trained on what, and how."""
    base_models, jars = tables["base_models"], tables["jars"]
    corpora = tables["corpora"].set_index("corpus")[["url", "sha256"]].to_dict("index")
    told = {key: str(row[key]) for key in ("training_set", "files", "selection", "options", "unlabelled")}
    told["training_corpus"] = " ".join([str(row["corpus"]), *corpora.get(row["corpus"], {}).values()])
    told["resampled"] = f"{row['sizes']} (scale {scale:g}, seed {seed})"
    coordinates = dict(zip(jars["jar"], jars["coordinates"], strict=True))
    for base_model in _trained(row, base_models).to_dict("records"):
        name = f"base_model {base_model['base_model']}"
        versions = [coordinates[jar] for kind, jar in _needs(base_model["needs"]) if kind == "jar"]
        versions += [_version(module) for kind, module in _needs(base_model["needs"]) if kind == "python"]
        told[name] = "; ".join(
            part
            for part in (
                base_model["train"] and f"train: {base_model['train']}",
                f"predict: {base_model['predict']}",
                base_model["members"] and f"members: {base_model['members']}",
                base_model["sizes"] and f"sizes: {base_model['sizes']}",
                versions and f"versions: {', '.join(versions)}",
                f"reproducible: {base_model['reproducible']}",
            )
            if part
        )
    return {key: value for key, value in told.items() if value}


@cache
def _version(module: str) -> str:
    """The installed package that provides a module; of several that share a namespace, the one of its name."""
    packages = packages_distributions().get(module.split(".")[0], [module])
    named = [package for package in packages if re.sub(r"[-_.]+", ".", package) == re.sub(r"[-_.]+", ".", module)]
    package = (named or packages)[0]
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _programs(*commands: str) -> list[str]:
    """The modules of this package that shell commands run."""
    return sorted({name for command in commands for name in re.findall(r"-m\s+((?:pairsig|study)\.[\w.]*\w)", command)})


def _needs(cell: str) -> list[tuple[str, str]]:
    return [(kind, name) for kind, _, name in (word.partition(":") for word in cell.split())]


def frame(rows: Mapping[Any, Mapping[str, Any]], *names: str) -> pd.DataFrame:
    """Rows by their keys, tuples where there is more than one name of a key."""
    keys: Sequence[Any] = list(rows)
    index = pd.MultiIndex.from_tuples(keys, names=names) if names[1:] and keys else pd.Index(keys, name=names[0])
    return pd.DataFrame(list(rows.values()), index=index)
