"""What the jobs of a run read and do, from its checked configuration and sheets.

System `malt-half-3` is the base model `malt` trained on `half-3`, the third resampled training set of half the size.
All base models of a task are trained on the same resampled sets. An ensemble votes over the systems from one of them.
The module imports neither numpy nor pandas, because Snakemake reads it for every job.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import filter as matching
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from study.sheets import Row, Sheet, meant, pairs, refuse

OF_ANALYSES = {
    "claims": (
        "realsumm hansards-synthetic hansards-110 conll2018-en_ewt ewt-test icepahc-modern mt-hansards wmt10-de-en "
        "wmt21-de-en wmt23-ja-en wmt24-en-de"
    ),
    "threshold_errors": (
        "realsumm ewt-test wmt10-synthetic mt-hansards hansards-110 wsj-near masc icepahc-23 icepahc-modern"
    ),
    "today": "wmt??-??-?? mmlu-pro livebench bfcl llmbar",
}
"""Datasets (or patterns) of analyses that need some: one or two per task, those whose thresholds stand beside the
paper's, and later ones."""

BENCHMARK = "benchmark"
"""Value of `study` for datasets with published outcomes, all systems in one file."""

WHOLE = "whole-1"
"""Name of the full training set among the resampled ones."""

SELECTION = ("skip", "first", "hold_out", "held_out")
"""Keys of `selection` that select segments; the others are options of the reader, such as `max_words`."""


@dataclass(frozen=True)
class Training:
    """A base model to train on a resampled training set."""

    base_model: str
    resampled: str
    given: tuple[str, str] | None  # training set and system of the model for `{given}`
    seed: int


@dataclass(frozen=True)
class Prediction:
    """A test set to predict by a system: by its model, or for an ensemble by the outputs of its members."""

    base_model: str
    training_set: str
    given: tuple[str, str] | None
    members: tuple[str, ...]  # systems
    counted: bool  # whether the system is part of the study, and not only a member of an ensemble


@dataclass
class Plan:
    """The datasets, systems and trainings of a run."""

    config: Mapping[str, Any]
    sheets: Mapping[str, Sheet]
    trainings: dict[tuple[str, str], Training] = field(default_factory=dict)  # by training set and system
    predictions: dict[tuple[str, str], Prediction] = field(default_factory=dict)  # by dataset and system
    tested_by: dict[str, list[str]] = field(default_factory=dict)  # by dataset, the training sets of its systems
    systems: dict[str, dict[str, Row]] = field(default_factory=dict)  # by dataset, the included rows of its systems
    selected: list[str] = field(default_factory=list)  # datasets of the run, in the order of the sheet

    def __post_init__(self) -> None:
        datasets = self.datasets
        chosen = self.config["datasets"]
        for key in ("datasets", "split"):
            for name in self.config[key] if self.config[key] != "all" else ():
                if name not in datasets:
                    refuse(f"config: {key}", repr(name), f"names in datasets.tsv{meant(name, datasets)}")
        for name, figure in self.config["figures"].items():
            if (dataset := figure.get("dataset")) is not None and dataset not in datasets:
                refuse(f"config: figures: {name}", repr(dataset), f"a name in datasets.tsv{meant(dataset, datasets)}")
        for row in self.sheets["systems"].values():
            if row["include"] == "yes":
                self.systems.setdefault(row["dataset"], {})[row["system"]] = row
        for training_set in self.sheets["training_sets"] if self.config["retrain"] else ():
            self._add_systems(training_set)
        self.selected = [name for name in datasets if chosen == "all" or name in chosen]

    @property
    def datasets(self) -> Sheet:
        """The sheet of datasets."""
        return self.sheets["datasets"]

    def source(self, dataset: str) -> str:
        """Say where the counts of a dataset come from: embedded, counted or pool."""
        row = self.datasets[dataset]
        if "pool" in row:
            return "pool"
        derived = self.config["retrain"] if row["study"] == "synthetic" else self.config["source"] == "derived"
        return "counted" if derived or "corpus" not in row else "embedded"

    def statistics(self, datasets: Sequence[str]) -> list[str]:
        """List the files with the counts of datasets."""
        folders = ["<resources>" if self.source(name) == "embedded" else "<results>" for name in datasets]
        return [f"{folder}/statistics/{name}.parquet" for folder, name in zip(folders, datasets, strict=True)]

    def metrics(self, datasets: Sequence[str]) -> list[str]:
        """List the metrics of datasets."""
        return [self.datasets[name]["metric"] for name in datasets]

    def drawn(self, dataset: str, *, made: bool = False) -> dict[str, Any]:
        """Say how resamples are drawn; of pools, and on test sets that are made from others, there are fewer."""
        of_run = self.config["resampling"]
        fewer = "n_resamples_resized" if made or "pool" in self.datasets[dataset] else "n_resamples"
        n_resamples = min(of_run["n_resamples"], of_run[fewer])
        return {"n_resamples": n_resamples, "rng": of_run["seed"]}

    def of_source(self, source: str) -> list[str]:
        """List the datasets of the sheet whose counts have this source."""
        return [name for name in self.datasets if self.source(name) == source]

    def chosen(self, which: str) -> list[str]:
        """List datasets of the run: measured (no pools), text (no benchmarks) or trained, or several of these."""
        tests: dict[str, Callable[[Row], bool]] = {
            "measured": lambda row: "pool" not in row,
            "text": lambda row: row["study"] != BENCHMARK,
            "trained": lambda row: row["study"] == "synthetic" and "pool" not in row,
        }
        chosen = [tests[word] for word in which.split()]
        return [name for name in self.selected if all(test(self.datasets[name]) for test in chosen)]

    def of_analysis(self, name: str) -> list[str]:
        """List the datasets of the run that an analysis needs."""
        return [*chain.from_iterable(matching(self.selected, pattern) for pattern in OF_ANALYSES[name].split())]

    def paths(self, row: Row, names: str) -> list[str]:
        """Find the paths of files of a row: in the folder of corpora, or in the working directory."""
        folder = self.config["data_dir"] if "corpus" in row else ""
        return [str(Path(folder, name)) for name in names.split()]

    def verified(self, name: str) -> list[str]:
        """Name the verified checksums of the corpus of a training set or dataset, if it has one."""
        row = self.datasets[name] if name in self.datasets else self.sheets["training_sets"][name]
        return [f"<results>/corpora/{row['corpus']}.sha256"] if "corpus" in row else []

    @property
    def tasks(self) -> dict[str, str]:
        """The task of each dataset of the run that is no pool."""
        return {name: self.datasets[name]["task"] for name in self.chosen("measured")}

    @property
    def overlays(self) -> dict[str, str]:
        """For datasets of retrained systems, the dataset of published systems to compare them with."""
        return {name: row["overlay"] for name, row in self.datasets.items() if "overlay" in row}

    def counted(self, dataset: str) -> dict[str, Any]:
        """Say how the systems of a dataset are counted: the files (archives instead of their members), and all else."""
        row, segments = self.datasets[dataset], f"<results>/segments/{dataset}"
        reference, documents = (self.paths(row, row.get(key, "")) for key in ("reference", "documents"))
        tables = self.paths(row, row.get("text", "")) if row["study"] != "synthetic" else []
        systems = [
            {
                "system": name,
                "group": system.get("group"),
                "kind": system.get("kind", ""),
                "output": self.paths(row, system["output"])[0],
                "references": self.paths(row, system.get("reference", "")) or reference,
                "output_options": pairs(system.get("options", "")),
            }
            for name, system in self.systems.get(dataset, {}).items()
        ]
        for (tested, name), run in self.predictions.items():
            if tested == dataset and run.counted:
                documents = [f"{segments}.documents.tsv"]
                trained = {"system": name, "group": run.base_model, "kind": "synthetic", "output_options": {}}
                trained["output"] = f"<results>/outputs/{dataset}/{name}.txt"
                trained["references"] = reference or [f"{segments}.reference.txt"]
                systems.append(trained)
        files = [*tables, *documents]
        for system in systems:
            files += [system["output"], *system["references"]]
        return {
            "files": [*dict.fromkeys(path.partition("!")[0] for path in files)],
            "reader": row.get("reader"),
            "metric": row["metric"],
            "options": pairs(row.get("options", "")),
            "tables": tables,
            "systems": systems,
            "documents": next(iter(documents), None),
        }

    # Base models.

    def prepared(self, name: str) -> dict[str, Any]:
        """Say how the files of a training set, or of a dataset of base models, are split into segments."""
        training_sets = self.sheets["training_sets"]
        row = training_sets[name] if name in training_sets else self.datasets[name]
        training_set = name if name in training_sets else self.tested_by[name][0]
        chosen = {**training_sets[training_set]["options"], **pairs(row.get("selection", {}))}
        files = row["files"] if "files" in row else row["text"].split()
        named, read = [], []
        for word in files:  # parallel text has several files: `DOMAIN=SOURCE+TARGET`
            domain, equals, names = word.rpartition("=")
            joined = [self.paths(row, path)[0] for path in names.split("+")]
            named.append(f"{domain}{equals}{'+'.join(joined)}")
            read += [path.partition("!")[0] for path in joined]
        return {
            "task": row["task"],
            "files": named,
            "read": read,
            "selection": {key: int(chosen[key]) for key in SELECTION if key in chosen},
            "options": {key: value for key, value in chosen.items() if key not in SELECTION},
        }

    def unlabelled(self, training_set: str) -> list[str]:
        """List the inputs of test sets that are part of a training set."""
        names = self.sheets["training_sets"][training_set]["unlabelled"]
        return [f"<results>/segments/{name}.input.txt" for name in names]

    def predicted_from(self, dataset: str, system: str) -> dict[str, Any]:
        """Name the model of a system, or the outputs of the members of an ensemble."""
        run = self.predictions[dataset, system]
        members = [f"<results>/outputs/{dataset}/{member}.txt" for member in run.members]
        return {"members": members, "model": [] if members else self.model(run.training_set, system)}

    def _add_systems(self, training_set: str) -> None:
        """Add all systems of a training set: every base model on every resampled set, with members of ensembles."""
        row, base_models = self.sheets["training_sets"][training_set], self.sheets["base_models"]
        seed, scale = self.config["resampling"]["seed"], self.config["scale"]
        given = None
        for name, other in row["given"].items():
            given = (other, f"{name}-{WHOLE}")
            self.trainings[given] = Training(name, WHOLE, None, seed + 1)
        for dataset in row["datasets"]:
            self.tested_by.setdefault(dataset, []).append(training_set)
        trained = self.trained(row)
        resampled = {name: sets_of(base_models[name]["sizes"] or row["sizes"], scale) for name in trained}
        for name in trained:
            for member in base_models[name]["members"]:
                resampled[member] |= resampled[name]
        for name in trained:
            model, needs = base_models[name], given if wants_model(base_models[name]) else None
            counted = model["include"] == "yes"
            for made in resampled[name]:
                if "train" in model:
                    number = int(made.rpartition("-")[2])
                    self.trainings[training_set, f"{name}-{made}"] = Training(name, made, needs, seed + number)
                members = tuple(f"{member}-{made}" for member in model["members"])
                for dataset in row["datasets"]:
                    if not (counted and model["datasets"] and dataset not in model["datasets"]):
                        run = Prediction(name, training_set, needs, members, counted)
                        self.predictions[dataset, f"{name}-{made}"] = run

    def trained(self, row: Row) -> list[str]:
        """List the base models to train on a training set, including members of ensembles."""
        base_models = self.sheets["base_models"]
        wanted = set(row["base_models"])
        for name in row["base_models"]:
            wanted.update(base_models[name]["members"])
        return [
            name
            for name, model in base_models.items()
            if model["task"] == row["task"] and model["include"] != "no"
            and (name in wanted if wanted else row["given"] or not wants_model(model))
        ]  # fmt: skip

    def model(self, training_set: str, system: str) -> str:
        """Name the folder of the model of a system."""
        return f"<results>/models/{training_set}/{system}"

    def jars(self, base_model: str) -> list[str]:
        """List the Java libraries of a base model."""
        needs = self.sheets["base_models"][base_model]["needs"]
        return [f"<results>/jars/{need.removeprefix('jar:')}.jar" for need in needs if need.startswith("jar:")]

    def check_programs(self) -> None:
        """Report the first requirement of a base model of the run that is not installed."""
        base_models = self.sheets["base_models"]
        needed = {member for name in self.selected for member in self.datasets[name].get("pool", name).split()}
        runs = [run.base_model for (dataset, _), run in self.predictions.items() if dataset in needed]
        for name in dict.fromkeys(runs):
            for need in base_models[name]["needs"]:
                kind, _, wanted = need.partition(":")
                if kind == "java" and shutil.which("java") is None:
                    missing = "a Java runtime of version 11 or newer; install one"
                elif kind == "python" and not _is_installed(wanted):
                    missing = f"the Python module {wanted}; type pip install pairsig[retrain]"
                elif kind == "command" and shutil.which(wanted) is None:
                    missing = f"the command {wanted}; install it"
                else:
                    continue
                refuse(base_models.places[name], "no such program", f"{missing}, or set include: no")

    def provenance(self, dataset: str) -> dict[str, str]:
        """Describe how the counts of a dataset are made: corpus, metric, test set, and the training of base models."""
        row, base_models = self.datasets[dataset], self.sheets["base_models"]
        corpus = self.sheets["corpora"].get(row.get("corpus", ""), {})
        described = {key: row.get(key, "") for key in ("task", "corpus", "metric", "reader", "options", "note")}
        described |= {key: corpus.get(key, "") for key in ("url", "sha256", "licence", "citation")}
        described["test_set"] = f"{row.get('text', '')} {row.get('selection', '')}".strip()
        for training_set in self.tested_by.get(dataset, ()):
            of_set = self.sheets["training_sets"][training_set]
            words = {
                key: _words(of_set[key]) for key in ("files", "selection", "options", "sizes", "unlabelled", "given")
            }
            words["seed"], words["scale"] = str(self.config["resampling"]["seed"]), f"{self.config['scale']:g}"
            described[f"training_set {training_set}"] = "; ".join(f"{k}: {v}" for k, v in words.items() if v)
            for name in (*self.trained(of_set), *of_set["given"]):
                model = base_models[name]
                keys = ("train", "predict", "members", "sizes", "reproducible")
                words = {key: _words(model[key]) for key in keys if model.get(key)}
                jars = [self.sheets["jars"][need[4:]]["coordinates"] for need in model["needs"] if need[:4] == "jar:"]
                words |= {"jars": " ".join(jars)} if jars else {}
                described[f"base_model {name}"] = "; ".join(f"{key}: {value}" for key, value in words.items())
        return {key: value for key, value in described.items() if value}


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that contains it
        return False


def wants_model(base_model: Row) -> bool:
    """Whether the commands of a base model contain `{given}`, the model of another one."""
    return "{given}" in base_model.get("train", "") + base_model["predict"]


def sets_of(sizes: Mapping[str, int], scale: float) -> dict[str, None]:
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


def _words(cell: object) -> str:
    if isinstance(cell, Mapping):
        return " ".join(f"{key}={value}" for key, value in cell.items())
    return " ".join(cell) if isinstance(cell, list | tuple) else str(cell)
