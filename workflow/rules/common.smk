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

# The captions of all tables, by name; the rules of analyses add theirs.
TABLES = config["captions"] = {}


def one_of(names):
    """A regular expression that matches exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def sheet(name):
    """The files of a sheet."""
    return [
        path
        for folder in config["sheets"]
        if Path(path := f"{folder}/{name}.tsv").is_file()
    ]


def code(*modules):
    """Digest of the modules that a script calls, with pairsig's version: jobs are repeated when it changes."""
    files = [f"../../src/{module.replace('.', '/')}.py" for module in modules]
    files.append("../../src/pairsig/__init__.py")
    text = b"".join(Path(workflow.source_path(file)).read_bytes() for file in files)
    return sha256(text).hexdigest()[:12]


def grown(amount):
    """Request more of a resource in each attempt: clusters kill jobs that exceed their request."""
    return lambda wildcards, attempt: attempt * (
        amount(wildcards) if callable(amount) else amount
    )


def table(name, caption):
    """The files of a table: for programs, and for the report with its caption."""
    TABLES[name] = caption
    html = report(
        f"<results>/tables/{name}.html",
        caption="../report/table.rst",
        category="3. Tables" if name != "table_1" else "2. Table 1",
        labels={"table": name},
    )
    return [f"<results>/tables/{name}.tsv", html]


def whole(datasets):
    """Comparisons of all pairs of systems on whole test sets."""
    return collect("<results>/comparisons/{dataset}.parquet", dataset=datasets)


def comparisons(datasets):
    """Comparisons on whole test sets, and on those made from them."""
    made = collect(
        "<results>/test_sets/{dataset}.parquet", dataset=PLAN.resized(datasets)
    )
    return whole(datasets) + made


def statistics(datasets):
    """Counts of datasets."""
    return [PLAN.statistics(name) for name in datasets]


def metrics(datasets):
    return [DATASETS[name]["metric"] for name in datasets]


# Compare all pairs of systems of a dataset: on its test set, and on test sets made from it.


def drawn(made):
    """How resamples are drawn, as arguments of `compare`; on test sets that are made from others, there are fewer."""

    def of_dataset(wildcards):
        few = made or "pool" in DATASETS[wildcards.dataset]
        most = DRAWN["n_resamples_resized"] if few else DRAWN["n_resamples"]
        n_resamples = min(DRAWN["n_resamples"], most)
        return {"n_resamples": n_resamples, "rng": DRAWN["seed"], "unit": DRAWN["unit"]}

    return of_dataset


# Verify corpora, split them into segments in the format of their task, and resample training sets.


def prepared(key):
    """What `study.plan` says of a training set or a test set."""
    return lambda wildcards: PLAN.prepared(
        wildcards.get("training_set") or wildcards.dataset
    )[key]


def verified(of):
    """The checksums of a corpus, for the rules that read its files."""
    return lambda wildcards: collect(
        "<results>/corpora/{corpus}.sha256", corpus=PLAN.corpora(of(wildcards))
    )


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


# Counts per segment: of the outputs of each system, collected by dataset; of published outcomes; and pooled ones.


def read(wildcards):
    """The files of a system: archives instead of their members, and the checksums of the corpus."""
    of_system = PLAN.counted(wildcards.dataset, wildcards.system)
    files = {
        key: [path.partition("!")[0] for path in of_system[key]]
        for key in ("output", "reference", "documents")
    }
    corpora = PLAN.corpora(DATASETS[wildcards.dataset])
    return files | {
        "verified": [f"<results>/corpora/{name}.sha256" for name in corpora]
    }


def counting(wildcards):
    """How an output is counted: metric, reader, options, group and kind, and the members of archives."""
    counted = dict(PLAN.counted(wildcards.dataset, wildcards.system))
    for key in ("output", "reference"):
        counted[key] = [path.partition("!")[2] for path in counted[key]]
    counted.pop("documents")
    return counted


# Figures: one rule for each kind; config/figures.yaml has one entry for each figure.


def shown(wildcards):
    """The entry of a figure."""
    return config["figures"][wildcards.figure]


def of_kind(*kinds):
    return one_of(
        name for name, entry in config["figures"].items() if entry["kind"] in kinds
    )


def of_dataset(folder):
    return lambda wildcards: f"<results>/{folder}/{shown(wildcards)['dataset']}.parquet"


def overlay(wildcards):
    """Comparisons of the published systems that are drawn over retrained ones, if they are part of the run."""
    name = DATASETS[shown(wildcards)["dataset"]].get("overlay")
    return whole([name] if name in PLAN.selected else [])


def picture(suffix):
    return f"<results>/figures/{{figure}}.{suffix}"


def in_report():
    return report(
        picture("svg"),
        caption="../report/figure.rst",
        category="1. Figures",
        labels={"figure": "{figure}"},
    )


wildcard_constraints:
    corpus=one_of(PLAN.sheets["corpora"]),
    dataset=one_of(DATASETS),
    figure=one_of(config["figures"]),
    jar=one_of(PLAN.sheets["jars"]),
    resampled=r"[a-z]+-\d+",
    system=r"[^/]+",
    training_set=one_of(PLAN.sheets["training_sets"]),
