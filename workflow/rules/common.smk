"""What all rules share: the checked config and sheets, names for wildcards, the library."""

import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

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
from pairsig.errors import InputError
from study.sheets import code

try:
    sheets.check_config(config, SCHEMAS)
    study = sheets.read(config, SCHEMAS)
except InputError as error:
    raise WorkflowError(str(error)) from None

datasets = study.datasets
TESTS = list(config["tests"])
SELECTED = datasets.query("selected").index.tolist()
RESIZED = datasets.query("selected and test_sets.str.len() > 0").index.tolist()
COMPARISONS = collect(
    "results/comparisons/{dataset}.{test}.tsv", dataset=SELECTED, test=TESTS
)
TEST_SETS = collect(
    "results/test_sets/{dataset}.{test}.tsv", dataset=RESIZED, test=TESTS
)


def cells_of(sheet, *wildcards):
    """What a sheet says of a job: a function of a column, whose value is a function of the job's wildcards."""
    rows = sheet.to_dict(
        "index"
    )  # a thousand times faster to look up in than the frame

    def of_column(column):
        def of_job(job):
            key = tuple(getattr(job, wildcard) for wildcard in wildcards)
            return rows[key if key[1:] else key[0]][column]

        return of_job

    return of_column


of_dataset = cells_of(datasets, "dataset")
of_system = cells_of(study.systems, "dataset", "system")
of_training_set = cells_of(study.synthetic.training_sets, "training_set")
of_test_set = cells_of(study.synthetic.test_sets, "dataset")
of_jar = cells_of(study.synthetic.jars, "jar")
of_resampled = cells_of(study.synthetic.resampled, "training_set", "resampled")
of_training = cells_of(study.synthetic.trainings, "training_set", "system")
of_prediction = cells_of(study.synthetic.predictions, "dataset", "system")


def grown(amount):
    """What a job is given: as much again with every attempt, where a cluster has killed it for taking more."""
    return lambda wildcards, attempt: attempt * (
        amount(wildcards) if callable(amount) else amount
    )


def laid_over(wildcards):
    """The natural pairs that are laid over those of a synthetic dataset."""
    shown = wildcards.figure == "gain_confidence"
    names = datasets.at[wildcards.dataset, "overlay"] if shown else []
    return [f"results/comparisons/{name}.{wildcards.test}.tsv" for name in names]


def one_of(names):
    """A regular expression that matches these names and nothing else."""
    return "|".join(map(re.escape, names)) or "(?!)"


def from_source(source):
    """The same, for datasets whose statistics come from there."""
    return one_of(datasets.query("source == @source").index)


@cache
def library(command, *programs):
    """What a command runs, and the programs that it runs in turn: code is an input."""
    return [os.path.relpath(path) for path in code.of(command, *programs)]


wildcard_constraints:
    corpus=one_of(study.corpora["corpus"]),
    dataset=one_of(datasets.index),
    jar=one_of(study.synthetic.jars.index),
    resampled=r"[a-z]+-\d+",
    system=r"[^/]+",
    training_set=one_of(study.synthetic.training_sets.index),
    test=one_of(TESTS),
