"""Where jobs run: every rule is in a group or local, and every profile plans every configuration.

On a cluster a rule without a group can stop the workflow before its first job, because a group must not depend on a job
that depends on the group. Snakemake finds that when it plans, so that a dry run notices it.
"""

import csv
import itertools
import json
import shutil
from importlib.util import find_spec

import pytest
import yaml

from conftest import clone
from running import BIN, ROOT, jobs, run, snakemake
from study import sheets

PROFILES = ("slurm", "cluster-generic")
LISTED = """\
include: "Snakefile"

import json

# Private, because Snakemake shows groups only to an executor that submits jobs.
groups = {rule.name: rule._group or ("local" if rule.name in workflow._localrules else None) for rule in workflow.rules}
groups["collect"] = groups["collect"] and "by size"  # a function
with open("groups.json", "w", encoding="utf-8") as file:
    json.dump(groups, file)
"""


def profile(name):
    (path,) = (ROOT / "workflow" / "profiles" / name).glob("config*.yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("together", "rules"),
    [("true", ["analyse", "show"]), pytest.param("false", ["check", "findings", "site"], marks=pytest.mark.slow)],
)
def test_every_rule_is_in_a_group_or_local_and_a_study_in_parts_is_planned(project, together, rules):
    (project / "Listed").write_text(LISTED, encoding="utf-8")
    # Comparisons that are cut into parts have rules of their own.
    settings = f"--config together={together} --snakefile Listed --configfile config/quick.yaml"
    settings += " --set-scatter resamples=3 -- all"
    found = planned(project, "slurm", *settings.split())
    assert [found[rule] for rule in rules] == [1] * len(rules)
    assert found["compare_part"] + 2 * found["resize_part"] == 3 * found["merge"] > 0
    groups = json.loads((project / "groups.json").read_text(encoding="utf-8"))
    assert {"compare", "compare_part", "merge", "train", "count", *rules} < set(groups)
    assert [name for name, group in groups.items() if group is None] == []
    for name in PROFILES:
        assert {entry.partition("=")[0] for entry in profile(name)["group-components"]} <= set(groups.values())


def test_all_profiles_plan_the_same():
    assert sorted(PROFILES) == sorted(path.name for path in (ROOT / "workflow" / "profiles").iterdir())
    slurm, other = map(profile, PROFILES)
    shared = {key for key in other if not key.startswith("cluster-generic")} - {"executor"}
    assert {key: slurm[key] for key in shared} == {key: other[key] for key in shared}


def planned(project, name, *options):
    """The number of jobs of every rule, once Snakemake has found all groups valid."""
    return jobs(snakemake("--dry-run", "--workflow-profile", f"workflow/profiles/{name}", *options, cwd=project))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "config"), [*zip(PROFILES, ("config", "quick"), strict=True)])
def test_a_study_is_planned(project, name, config):
    found = planned(project, name, "--configfile", f"config/{config}.yaml")
    if yaml.safe_load((ROOT / f"config/{config}.yaml").read_text(encoding="utf-8")).get("together", False):
        assert found == {"compare_together": 1, "analyse": 1, "show": 1, "all": 1, "total": 4}
        return
    for rule in ("calibrate", "check", "approximate", "race", "thresholds", "plot", "tabulate", "findings", "site"):
        assert found[rule] == 1
    assert "extract" not in found
    assert found["compare"] + found["resize"] > 5


@pytest.fixture
def corpora(project, monkeypatch):
    """A folder of corpora whose files are empty: a plan asks which there are, not what is in them."""

    def touch(*paths):
        for path in map(project.joinpath, paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    rows = (ROOT / "config" / "corpora.tsv").read_text(encoding="utf-8").splitlines()[1:]
    touch(*(f"corpora/{row.split()[0]}/SHA256SUMS" for row in rows))
    with (ROOT / "config" / "datasets.tsv").open(encoding="utf-8", newline="") as lines:
        cells = [
            row[name] for row in csv.DictReader(lines, delimiter="\t") for name in ("reference", "text", "documents")
        ]
    training_sets = yaml.safe_load((ROOT / "config" / "training_sets.yaml").read_text(encoding="utf-8"))
    cells += itertools.chain.from_iterable(training_set["files"] for training_set in training_sets.values())
    paths = itertools.chain.from_iterable(cell.replace("+", " ").split() for cell in cells)
    touch(*(f"corpora/{path.rpartition('=')[2].partition('!')[0]}" for path in paths))
    config = {"data_dir": "corpora"}
    for name in ("retrain", "config"):
        config = yaml.safe_load((project / "config" / f"{name}.yaml").read_text(encoding="utf-8")) | config
    monkeypatch.chdir(project)
    study = sheets.read(config)
    for one in (*study.training_sets.values(), *study.test_sets.values()):
        touch(*one.read)
    return "corpora"


@pytest.mark.packages
def test_retraining_from_a_folder_of_corpora_is_planned(project, request):
    needed = [module for module in ("pycrfsuite", "thot", "ufal.udpipe") if not find_spec(module.partition(".")[0])]
    needed += [command for command in ("java", "mvn") if not shutil.which(command)]
    if needed:
        pytest.skip(f"base models need {', '.join(needed)}: make setup-retrain, Java and Maven")
    data_dir = request.getfixturevalue("corpora")
    settings = ("--configfile", "config/retrain.yaml", "--config", f"data_dir={data_dir}", "scale=0.05")
    found = planned(project, "slurm", *settings)
    assert found["train"] > 20
    assert min(found[rule] for rule in ("fetch", "resample", "predict", "extract", "collect", "compare", "check")) > 0


@pytest.mark.slow
def test_a_cluster_that_is_not_slurm(project, tmp_path_factory):
    """A trivial one: what is submitted runs in the background, and its process number is printed."""
    table = "results/comparisons/wmt21-de-en.bootstrap.parquet"
    study = ("--config", "datasets=[wmt21-de-en]", "--set-scatter", "resamples=2", "--", table)
    few = "resampling: {n_resamples: 3000}\n"
    here = clone(tmp_path_factory.mktemp("here"))
    for folder in (project, here):
        (folder / "few.yaml").write_text(few, encoding="utf-8")
    snakemake("--configfile", "few.yaml", *study, cwd=here)
    submit = project / "submit"
    submit.write_text('#!/bin/sh\nnohup sh "$@" >>submitted.txt 2>&1 &\necho $!\n', encoding="utf-8")
    submit.chmod(0o755)
    run(
        *(str(BIN / "snakemake"), "--workflow-profile", "workflow/profiles/cluster-generic", "--latency-wait", "15"),
        *("--cluster-generic-submit-cmd", str(submit), "--cluster-generic-cancel-cmd", "kill"),
        *("--configfile", "few.yaml", *study),
        cwd=project,
    )
    assert (project / table).read_bytes() == (here / table).read_bytes()
    assert (project / "submitted.txt").read_text(encoding="utf-8").count("Finished jobid") >= 3
