"""What all rules share: the checked config and sheets, names for wildcards, the library."""

import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

SRC = Path(workflow.basedir, "src").resolve()
SCHEMAS = Path(workflow.basedir, "workflow", "schemas")

# `python -m pairsig` works in every rule, without an install and with whatever Python runs Snakemake.
sys.path.insert(0, str(SRC))
os.environ.update(
    PYTHONPATH=str(SRC),
    PATH=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    ),
)

from study import sheets
from pairsig import definitions
from pairsig.errors import InputError
from study.sheets import code

try:
    sheets.check_config(config, SCHEMAS)
    study = sheets.read(config, SCHEMAS)
except InputError as error:
    raise WorkflowError(str(error)) from None

if study.missing:
    logger.warning(
        f"left out, since data_dir lacks their corpora: {', '.join(study.missing)}"
    )

TESTS = list(config["tests"])
DRAWN_TESTS = [name for name in TESTS if name in definitions.names(exact=False)]
SELECTED = [name for name, dataset in study.datasets.items() if dataset.selected]
RESIZED = [name for name in SELECTED if study.datasets[name].test_sets]
COMPARISONS = collect(
    "results/comparisons/{dataset}.{test}.tsv", dataset=SELECTED, test=TESTS
)
# By the first test, and no segment twice.
COMPARED_ONCE = collect(
    "results/comparisons/{dataset}.{test}.tsv",
    dataset=[name for name in SELECTED if study.datasets[name].source != "pool"],
    test=TESTS[0],
)
TEST_SETS = collect(
    "results/test_sets/{dataset}.{test}.tsv", dataset=RESIZED, test=TESTS
)


def of_text(paths):
    """Those of datasets that are no benchmarks: claims and the law are of the papers' metrics."""
    return [
        path
        for path in paths
        if study.datasets[Path(path).name.partition(".")[0]].study != sheets.BENCHMARK
    ]


def grown(amount):
    """What a job is given: as much again with every attempt, where a cluster has killed it for taking more."""
    return lambda wildcards, attempt: attempt * (
        amount(wildcards) if callable(amount) else amount
    )


def plotted(wildcards):
    """The figures of a dataset and test, each with the tables it is drawn from."""
    dataset = study.datasets[wildcards.dataset]
    known = {**wildcards, "overlay": dataset.overlay}
    return {name: collect(DATASET_TABLES[name], **known) for name in dataset.figures}


def to_plot(tables, file):
    """What `plot` is told to draw: figures, each from its tables and into files named after it."""
    words = []
    for figure, paths in tables.items():
        path = f"results/figures/{file.format(figure=figure)}"
        files = [f"{path}.{suffix}" for suffix in ("svg", "pdf", "png")]
        words += ["--and", figure, *paths, "--output", *files]
    return words[1:]


def one_of(names):
    """A regular expression that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


def from_source(source):
    """The same, for datasets whose statistics come from there."""
    return one_of(
        name for name, dataset in study.datasets.items() if dataset.source == source
    )


@cache
def library(command, *programs):
    """What a command runs, and the programs that it runs in turn: code is an input."""
    return [os.path.relpath(path) for path in code.of(command, *programs)]


wildcard_constraints:
    corpus=one_of(study.corpora),
    dataset=one_of(study.datasets),
    jar=one_of(study.jars),
    resampled=r"[a-z]+-\d+",
    system=r"[^/]+",
    training_set=one_of(study.training_sets),
    test=one_of(TESTS),
