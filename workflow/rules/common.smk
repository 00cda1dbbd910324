"""The checked configuration and sheets, and functions for the inputs and params of rules.

The plan (src/study/plan.py) says what the jobs of a run read and do; it imports neither numpy nor pandas.
"""

import re
from hashlib import sha256
from pathlib import Path

from snakemake.exceptions import WorkflowError
from study import plan, sheets


def schema(name):
    return sheets.read_schema(
        Path(workflow.source_path(f"../schemas/{name}.schema.yaml"))
    )


try:
    config |= sheets.check_config(config, schema("config"))
    PLAN = plan.Plan(config, sheets.read(config["sheets"], schema))
    if workflow.is_main_process:
        PLAN.check_programs()
except sheets.Mistake as mistake:
    raise WorkflowError(str(mistake)) from None

DATASETS = PLAN.datasets
DRAWN = config["resampling"]

# The names of all tables, which the rules of analyses add.
TABLES = []


def one_of(names):
    """A regular expression that matches exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def sheet(name):
    """The files of a sheet."""
    paths = [f"{folder}/{name}.tsv" for folder in config["sheets"]]
    return [path for path in paths if Path(path).is_file()]


def code(*modules, files=("pairsig/__init__.py",)):
    """Digest of the modules that a script calls, with pairsig's version: jobs are repeated when it changes."""
    paths = (*(f"{module.replace('.', '/')}.py" for module in modules), *files)
    paths = [Path(workflow.source_path(f"../../src/{path}")) for path in paths]
    text = b"".join(path.read_bytes() for path in paths)
    return sha256(text).hexdigest()[:12]


def grown(amount):
    """Request more of a resource in each attempt: clusters kill jobs that exceed their request."""
    return lambda wildcards, attempt: attempt * (
        amount(wildcards) if callable(amount) else amount
    )


def table(name):
    """The files of a table: for programs, and for the report."""
    TABLES.append(name)
    html = report(
        f"<results>/tables/{name}.html",
        caption="../report/table.rst",
        category="2. Table 1" if name == "table_1" else "3. Tables",
        labels={"table": name},
    )
    return [f"<results>/tables/{name}.tsv", html]


def whole(datasets):
    """Comparisons of all pairs of systems on whole test sets."""
    return collect("<results>/comparisons/{dataset}.parquet", dataset=datasets)


def comparisons(datasets):
    """Comparisons on whole test sets, and on those made from them."""
    made = [name for name in datasets if "test_sets" in DATASETS[name]]
    made = collect("<results>/test_sets/{dataset}.parquet", dataset=made)
    return whole(datasets) + made


def cell(name):
    """A cell of the dataset of a job."""
    return lambda wildcards: DATASETS[wildcards.dataset][name]


def prepared(wildcards):
    """How a training set or a test set is split into segments."""
    return PLAN.prepared(wildcards.get("training_set") or wildcards.dataset)


def verified(wildcards):
    """The checksums of the corpus of a training set or a dataset, for the rules that read its files."""
    return PLAN.verified(wildcards.get("training_set") or wildcards.dataset)


# Retrained systems: base models trained on resampled training sets, and their predictions.

ATTEMPTS = 2
# Only the main process repeats jobs: within a job of a cluster, they would have the same memory again.
RETRIES = ATTEMPTS if workflow.is_main_process else 0


def training(wildcards):
    return PLAN.trainings[wildcards.training_set, wildcards.system]


def prediction(wildcards):
    return PLAN.predictions[wildcards.dataset, wildcards.system]


def base_model(of, key):
    """A cell of the base model of a training or prediction."""
    return lambda wildcards: PLAN.sheets["base_models"][of(wildcards).base_model][key]


def jars(of):
    return lambda wildcards: PLAN.jars(of(wildcards).base_model)


def given(of):
    """The model of another base model that the commands get, if any."""
    return lambda wildcards: (
        PLAN.model(*of(wildcards).given) if of(wildcards).given else []
    )


def shown(wildcards):
    """The entry of a figure in config/figures.yaml."""
    return config["figures"][wildcards.figure]


def of_kind(*kinds):
    entries = config["figures"].items()
    return one_of(name for name, entry in entries if entry["kind"] in kinds)


def of_dataset(folder, *kinds):
    """Comparisons of the dataset of a figure, if figures of its kind show them."""
    path = f"<results>/{folder}/{{}}.parquet"
    return lambda wildcards: (
        path.format(shown(wildcards)["dataset"])
        if shown(wildcards)["kind"] in kinds
        else []
    )


def overlay(wildcards):
    """Comparisons of the published systems that are drawn over retrained ones, if they are part of the run."""
    name = DATASETS[shown(wildcards)["dataset"]].get("overlay")
    return whole([name] if name in PLAN.selected else [])


def in_report():
    """A figure with its caption and its title, which else is how the caption begins."""

    def labels(wildcards):
        of_figure = shown(wildcards)
        begins = re.split(r"[,:;(]|\. ", of_figure["caption"])[0].strip()
        return {"figure": wildcards.figure, "title": of_figure["title"] or begins}

    path = "<results>/figures/{figure}.svg"
    return report(
        path, caption="../report/figure.rst", category="1. Figures", labels=labels
    )


wildcard_constraints:
    corpus=one_of(PLAN.sheets["corpora"]),
    dataset=one_of(DATASETS),
    figure=one_of(config["figures"]),
    jar=one_of(PLAN.sheets["jars"]),
    resampled=r"[a-z]+-\d+",
    system=r"[^/]+",
    training_set=one_of(PLAN.sheets["training_sets"]),
