"""The checked configuration and sheets, and functions for the inputs and params of rules.

The plan (src/study/plan.py) says what the jobs of a run read and do; it imports neither numpy nor pandas. Cells of long
sheets are taken without lookup(), which searches a whole sheet for every job.
"""

import re
import sys
from hashlib import sha256
from pathlib import Path

from snakemake.exceptions import WorkflowError

# Where Snakemake is installed without pairsig, as with conda, the study is taken from the folder of the workflow.
sys.path.append(str(Path(str(workflow.current_basedir), "../../src")))
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

DATASETS, BASE_MODELS = PLAN.datasets, PLAN.base_models
DRAWN = config["resampling"]


def one_of(names):
    """A regular expression that matches exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def sheet(name):
    """The files of a sheet."""
    paths = [f"{folder}/{name}.tsv" for folder in config["sheets"]]
    return [path for path in paths if Path(path).is_file()]


def code(*modules, files=()):
    """Digest of the modules that a script calls, with pairsig's version: jobs are repeated when it changes."""
    paths = [f"{module.replace('.', '/')}.py" for module in modules]
    paths += [*files, "pairsig/__init__.py"]
    paths = [Path(workflow.source_path(f"../../src/{path}")) for path in paths]
    text = b"".join(path.read_bytes() for path in paths)
    return sha256(text).hexdigest()[:12]


def grown(amount):
    """Request more of a resource in each attempt: clusters kill jobs that exceed their request."""
    return lambda wildcards, attempt: attempt * (
        amount(wildcards) if callable(amount) else amount
    )


def comparisons(datasets):
    """Comparisons on whole test sets, and on those made from them."""
    resized = [name for name in datasets if "test_sets" in DATASETS[name]]
    whole = collect("<results>/comparisons/{dataset}.parquet", dataset=datasets)
    return whole + collect("<results>/test_sets/{dataset}.parquet", dataset=resized)


# The names of all tables, to which every rule adds its own.
TABLES = []


def metrics(datasets):
    """The metrics of datasets."""
    return [DATASETS[name]["metric"] for name in datasets]


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


def check_tables(key, names):
    """Refuse a name in the configuration that is no table."""
    if unknown := [name for name in names if name not in TABLES]:
        expected = sheets.one_among(unknown[0], TABLES)
        raise WorkflowError(f"config: {key}: found {unknown[0]!r}, expected {expected}")


def of_dataset(folder):
    """Comparisons of the dataset of a figure."""
    return collect(
        f"<results>/{folder}/{{dataset}}.parquet",
        dataset=lookup(dpath="{figure}/dataset", within=config["figures"]),
    )


def overlay(wildcards):
    """The published systems that are drawn over retrained ones, if they are part of the run."""
    name = DATASETS[config["figures"][wildcards.figure]["dataset"]].get("overlay")
    shown = [name] if name in PLAN.selected else []
    return collect("<results>/comparisons/{dataset}.parquet", dataset=shown)


def in_report():
    """A figure with its caption and its title, which else is how the caption begins."""

    def labels(wildcards):
        of_figure = config["figures"][wildcards.figure]
        begins = re.split(r"[,:;(]|\. ", of_figure["caption"])[0].strip()
        return {"figure": wildcards.figure, "title": of_figure["title"] or begins}

    path = "<results>/figures/{figure}.svg"
    return report(
        path, caption="../report/figure.rst", category="1. Figures", labels=labels
    )


wildcard_constraints:
    base_model=one_of(BASE_MODELS),
    corpus=one_of(PLAN.sheets["corpora"]),
    dataset=one_of(DATASETS),
    figure=one_of(config["figures"]),
    jar=one_of(PLAN.sheets["jars"]),
    resampled=r"[a-z]+-\d+",
    training_set=one_of(PLAN.sheets["training_sets"]),
