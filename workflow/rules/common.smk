"""Definitions for all rules: the checked config and sheets, names for wildcards, the library."""

import gc
import math
import os
import re
import sys
from functools import cache
from itertools import chain, product
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

# The workflow's own place: code, captions and embedded statistics. Data, sheets and results are in the working directory,
# which differs if the workflow is a module of another one, or if it is run with `--snakefile`.
HOME = Path(workflow.current_basedir).parent.parent
SRC = Path(HOME, "src").resolve()

# `python -m pairsig` works in every rule without installation, with the Python that runs Snakemake.
sys.path.insert(0, str(SRC))
for variable, folder in (("PYTHONPATH", SRC), ("PATH", Path(sys.executable).parent)):
    before = os.environ.get(variable)
    os.environ[variable] = os.pathsep.join([str(folder), *([before] if before else [])])

from study import analysis, sheets
from pairsig.core import definitions
from pairsig.io.errors import InputError
from study.analysis.record import SECTIONS
from study.sheets import code, embedded
from study.sheets.jobs import READABLE, Jobs, captions, chained, first_page

# The garbage collector need not look at Snakemake and the library again and again, which takes a fifth of the time of a plan.
gc.freeze()

embedded.STATISTICS = Path(os.path.relpath(HOME / "resources" / "statistics"))
try:
    sheets.check_config(config)
    study = sheets.read(config)
except InputError as error:
    raise WorkflowError(str(error)) from None

if study.missing:
    logger.warning(
        f"left out, since data_dir lacks their corpora: {', '.join(study.missing)}"
    )

TESTS = list(config["tests"])
DRAWN_TESTS = [name for name in TESTS if name in definitions.names(exact=False)]
jobs = Jobs(study, config)
SELECTED = list(jobs.datasets())
RESIZED = [name for name, one in jobs.datasets().items() if one.test_sets]
# Tables that readers see.
TABLES = [name for name, one in analysis.outputs().items() if one.caption]
FIGURES = analysis.figures()
CAPTIONS = Path(".snakemake", "captions").resolve()
captions(CAPTIONS)
first_page(
    HOME / "workflow" / "report" / "workflow.rst",
    Path("results", "findings.md"),
    CAPTIONS / "workflow.rst",
)


def grown(amount, attempts=math.inf):
    """Request more of a resource in each of so many attempts, because clusters kill jobs that exceed their request."""
    return lambda wildcards, attempt: min(attempt, attempts) * (
        amount(wildcards) if callable(amount) else amount
    )


def in_report(path, caption, category, **entry):
    """Show a file in the report."""
    return report(path, caption=CAPTIONS / caption, category=category, **entry)


def instead_of(names, name):
    """Prefer a rule to those whose work it does, and list the files that these read and none of them makes."""
    workflow.ruleorder(name, *names)
    replaced = [getattr(rules, rule_name) for rule_name in names]
    read = chain.from_iterable(rule.input for rule in replaced)
    made = chain.from_iterable(rule.output for rule in replaced)
    return sorted({*map(str, read)} - {*map(str, made)})


def one_of(names):
    """Build a regular expression that matches exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def from_source(source):
    """Build the same expression for the datasets whose statistics have this source."""
    return one_of(
        name for name, dataset in study.datasets.items() if dataset.source == source
    )


@cache
def library(command, *programs):
    """List the source files that a command runs, including other programs: code is an input."""
    return [os.path.relpath(path) for path in code.of(command, *programs)]


wildcard_constraints:
    corpus=one_of(study.corpora),
    dataset=one_of(study.datasets),
    jar=one_of(study.jars),
    resampled=r"[a-z]+-\d+",
    system=r"[^/]+",
    training_set=one_of(study.training_sets),
    test=one_of(TESTS),
