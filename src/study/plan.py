"""What the jobs of a run read and do, from its checked configuration and sheets.

System `malt-half-3` is the base model `malt` trained on `half-3`, the third resampled training set of half the size.
All base models of a task are trained on the same resampled sets. An ensemble votes over the systems from one of them.
The module imports neither numpy nor pandas, because Snakemake reads it for every job.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from study.sheets import Row, Sheet, jars_of, meant, pairs, refuse

WHOLE = "whole-1"
"""Name of the full training set among the resampled ones."""

SELECTION = ("skip", "first", "hold_out", "held_out")
"""Keys of `selection` that select segments; the others are options of the reader, such as `max_words`."""

Job = tuple[dict[str, list[str]], dict[str, Any]]
"""The input files and the settings of a job."""


class Plan:
    """The datasets and systems of a run, and what the rules do with them.

    A method named like a rule returns the input files and the settings of one of its jobs.
    """

    def __init__(self, config: Mapping[str, Any], sheets: Mapping[str, Sheet]) -> None:
        self.config, self.sheets = config, sheets
        self.datasets, self.base_models = sheets["datasets"], sheets["base_models"]
        self._check_datasets_of_config()
        self.systems: dict[str, dict[str, Row]] = {}  # by dataset, the included rows of its systems
        for row in sheets["systems"].values():
            if row["include"] == "yes":
                self.systems.setdefault(row["dataset"], {})[row["system"]] = row
        self.trained_on: dict[tuple[str, str], str] = {}  # by dataset and base model, the training set
        for training_set in sheets["training_sets"] if config["retrain"] else ():
            self._add_base_models(training_set)
        self.selected = [name for name in self.datasets if self._is_chosen(name)]  # in the order of the sheet

    def _check_datasets_of_config(self) -> None:
        named = {"datasets": self.config["datasets"], "split": self.config["split"]}
        named |= {f"figures: {name}": [entry.get("dataset")] for name, entry in self.config["figures"].items()}
        for key, names in named.items():
            for name in names if names != "all" else ():
                if name is not None and name not in self.datasets:
                    refuse(f"config: {key}", repr(name), f"a name in datasets.tsv{meant(name, self.datasets)}")
        for name, entry in self.config["figures"].items():
            shows_parts = entry["kind"] in ("sizes", "domains")
            if shows_parts and "test_sets" not in self.datasets[entry["dataset"]]:
                refuse(f"config: figures: {name}", repr(entry["dataset"]), "a dataset with test_sets in datasets.tsv")

    def _is_chosen(self, dataset: str) -> bool:
        """Whether a dataset is part of the run; `datasets: all` leaves out base models that are not trained."""
        row, chosen = self.datasets[dataset], self.config["datasets"]
        if chosen != "all" and dataset not in chosen:
            return False
        if self.source(dataset) != "counted" or self.systems.get(dataset) or self.retrained(dataset):
            return True
        is_table = row["study"] != "synthetic" and "text" in row
        if not is_table and (chosen != "all" or row["study"] != "synthetic"):
            expected = "a dataset with systems: rows in systems.tsv, or base models and retrain: true"
            refuse("config: datasets", repr(dataset), expected)
        return is_table

    def _add_base_models(self, training_set: str) -> None:
        """Add the base models that are trained on a training set, with members of ensembles, to its datasets."""
        training_sets = self.sheets["training_sets"]
        row = training_sets[training_set]
        for dataset in row["datasets"]:
            for other in self._training_sets(dataset):
                if training_sets[other]["options"] != row["options"]:
                    expected = f"those of {other}, which has the dataset {dataset} too"
                    training_sets.refuse(training_set, "options", repr(row["options"]), expected)
        wanted = set(row["base_models"])
        for ensemble in row["base_models"]:
            wanted.update(self.base_models[ensemble]["members"])
        for base_model, model in self.base_models.items():
            of_task = model["task"] == row["task"] and (row["given"] or not wants_model(model))
            if model["include"] == "no" or not (base_model in wanted if wanted else of_task):
                continue
            for dataset in row["datasets"]:
                other = self.trained_on.setdefault((dataset, base_model), training_set)
                if other != training_set:
                    expected = f"a dataset on which {base_model} of {other} is not tested"
                    training_sets.refuse(training_set, "datasets", repr(dataset), expected)

    # Files of datasets.

    def source(self, dataset: str) -> str:
        """Say where the counts of a dataset come from: embedded, counted or pool."""
        row = self.datasets[dataset]
        if "pool" in row:
            return "pool"
        derived = self.config["retrain"] if row["study"] == "synthetic" else self.config["source"] == "derived"
        return "counted" if derived or "corpus" not in row else "embedded"

    def of_source(self, source: str) -> list[str]:
        """List the datasets of the sheet whose counts have this source."""
        return [name for name in self.datasets if self.source(name) == source]

    def statistics(self, datasets: Sequence[str]) -> list[str]:
        """List the files with the counts of datasets."""
        folders = ["<resources>" if self.source(name) == "embedded" else "<results>" for name in datasets]
        return [f"{folder}/statistics/{name}.parquet" for folder, name in zip(folders, datasets, strict=True)]

    def retrained(self, dataset: str) -> list[tuple[str, str]]:
        """List the systems of a dataset that are base models on resampled training sets, each after its base model."""
        systems = []
        for (tested, name), training_set in self.trained_on.items():
            model = self.base_models[name]
            if tested == dataset and model["include"] == "yes" and dataset in (model["datasets"] or [dataset]):
                sizes = model["sizes"] or self.sheets["training_sets"][training_set]["sizes"]
                systems += [(name, f"{name}-{resampled}") for resampled in sets_of(sizes, self.config["scale"])]
        return systems

    def paths(self, row: Row, names: str) -> list[str]:
        """Find the paths of files of a row: in the folder of corpora, or in the working directory."""
        folder = self.config["data_dir"] if "corpus" in row else ""
        return [str(Path(folder, name)) for name in names.split()]

    def verified(self, row: Row) -> list[str]:
        """Name the verified checksums of the corpus of a row, if it has one."""
        return [f"<results>/corpora/{row['corpus']}.sha256"] if "corpus" in row else []

    # Jobs.

    def count(self, dataset: str) -> Job:
        """Count all systems of a dataset. Files are archives instead of their members, which are settings."""
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
        for base_model, name in self.retrained(dataset):
            documents = [f"{segments}.documents.tsv"]
            trained = {"system": name, "group": base_model, "kind": "synthetic", "output_options": {}}
            trained["output"] = f"<results>/outputs/{dataset}/{name}.txt"
            trained["references"] = reference or [f"{segments}.reference.txt"]
            systems.append(trained)
        paths = [*tables, *documents]
        for system in systems:
            paths += [system["output"], *system["references"]]
        files = [*dict.fromkeys(path.partition("!")[0] for path in paths)]
        about = {"files": files, "reader": row.get("reader"), "metric": row["metric"]}
        about |= {"options": pairs(row.get("options", "")), "tables": tables, "systems": systems}
        about["documents"] = next(iter(documents), None)
        return {"files": files, "verified": self.verified(row)}, about

    def prepare(self, sheet: str, name: str) -> Job:
        """Split the files of a training set, or of a dataset of base models, into segments."""
        row, training_sets = self.sheets[sheet][name], self.sheets["training_sets"]
        # Of a dataset, any of its training sets: all have the same options.
        training_set = name if sheet == "training_sets" else next(self._training_sets(name))
        chosen = {**training_sets[training_set]["options"], **pairs(row.get("selection", {}))}
        named, files = [], []
        for word in row["files"] if "files" in row else row["text"].split():
            domain, equals, names = word.rpartition("=")  # parallel text has several files: `DOMAIN=SOURCE+TARGET`
            joined = [self.paths(row, path)[0] for path in names.split("+")]
            named.append(f"{domain}{equals}{'+'.join(joined)}")
            files += [path.partition("!")[0] for path in joined]
        about = {
            "task": row["task"],
            "files": named,
            "selection": {key: int(chosen[key]) for key in SELECTION if key in chosen},
            "options": {key: value for key, value in chosen.items() if key not in SELECTION},
        }
        return {"files": files, "verified": self.verified(row)}, about

    def predicted_from(self, dataset: str, base_model: str, resampled: str) -> dict[str, list[str]]:
        """Name the models of a system, or the outputs of the members of an ensemble."""
        training_set, members = self.trained_on[dataset, base_model], self.base_models[base_model]["members"]
        model = [] if members else [f"<results>/models/{training_set}/{base_model}-{resampled}"]
        outputs = [f"<results>/outputs/{dataset}/{member}-{resampled}.txt" for member in members]
        return {"members": outputs, "model": model, "given": self.given(training_set, base_model)}

    def given(self, training_set: str, base_model: str) -> list[str]:
        """Name the model of another base model that the commands of a base model get, if any."""
        row = self.sheets["training_sets"][training_set]
        given = row["given"].items() if wants_model(self.base_models[base_model]) else ()
        return [f"<results>/models/{other}/{name}-{WHOLE}" for name, other in given]

    def jars(self, base_model: str) -> list[str]:
        """List the Java libraries of a base model."""
        return [f"<results>/jars/{name}.jar" for name in jars_of(self.base_models[base_model])]

    def drawn(self, dataset: str, *, made: bool = False) -> dict[str, Any]:
        """Say how resamples are drawn; of pools, and on test sets that are made from others, there are fewer."""
        of_run = self.config["resampling"]
        fewer = "n_resamples_resized" if made or "pool" in self.datasets[dataset] else "n_resamples"
        n_resamples = min(of_run["n_resamples"], of_run[fewer])
        return {"n_resamples": n_resamples, "rng": of_run["seed"]}

    def _training_sets(self, dataset: str) -> Iterator[str]:
        """Find the training sets of the base models of a dataset."""
        return (training_set for (tested, _), training_set in self.trained_on.items() if tested == dataset)

    def check_programs(self) -> None:
        """Report the first requirement of a base model of the run that is not installed."""
        needed = {member for name in self.selected for member in self.datasets[name].get("pool", name).split()}
        trained = dict.fromkeys(name for name, _ in chain.from_iterable(map(self.retrained, sorted(needed))))
        members = chain.from_iterable(self.base_models[name]["members"] for name in trained)
        for name in dict.fromkeys((*trained, *members)):
            for need in self.base_models[name]["needs"]:
                kind, _, wanted = need.partition(":")
                if kind == "java" and shutil.which("java") is None:
                    missing = "a Java runtime of version 11 or newer; install one"
                elif kind == "python" and not _is_installed(wanted):
                    missing = f"the Python module {wanted}; type pip install pairsig[retrain]"
                elif kind == "command" and shutil.which(wanted) is None:
                    missing = f"the command {wanted}; install it"
                else:
                    continue
                refuse(self.base_models.places[name], "no such program", f"{missing}, or set include: no")

    def provenance(self, dataset: str) -> dict[str, str]:
        """Describe how counts are made, by rows of the sheets: dataset, corpus, training sets, base models and jars."""
        row = self.datasets[dataset]
        corpus = self.sheets["corpora"].get(row.get("corpus", ""), {})
        described = {key: str(value) for key, value in {**row, **corpus}.items() if key not in ("test_sets", "overlay")}
        for name in dict.fromkeys(name for name, _ in self.retrained(dataset)):
            training_set = self.trained_on[dataset, name]
            of_set = self.sheets["training_sets"][training_set]
            described["seed"] = str(self.config["resampling"]["seed"])
            described[f"training_set {training_set}"] = _words(of_set)
            for other in (name, *self.base_models[name]["members"], *of_set["given"]):
                model = self.base_models[other]
                described[f"base_model {other}"] = _words(model)
                described |= {f"jar {jar}": self.sheets["jars"][jar]["coordinates"] for jar in jars_of(model)}
        return described


def _words(row: Row) -> str:
    """The cells of a training set or base model on which outputs depend."""
    training_set = ("files", "selection", "options", "sizes", "unlabelled", "given")
    base_model = ("train", "predict", "members")
    cells = {key: row[key] for key in (*training_set, *base_model) if row.get(key)}
    return "; ".join(f"{key}: {' '.join(cell) if isinstance(cell, list) else cell}" for key, cell in cells.items())


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that contains it
        return False


def wants_model(base_model: Row) -> bool:
    """Whether the commands of a base model contain `{given}`, the model of another one."""
    return "{given}" in base_model.get("train", "") + base_model["predict"]


def sets_of(sizes: Mapping[str, int], scale: float) -> list[str]:
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
    return [name for name in turns if name in taken]
