"""What a change of the settings plans: every job that depends on it, and no other."""

import copy
import re
import shutil
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
import yaml

from conftest import clone
from planning import Planner
from running import BIN, ROOT, run
from study import analysis, cli, sheets
from study.analysis.record import Rows
from study.sheets import models, synthetic
from study.site.build import documentation

DATASETS = ["conll2017-zh", "hansards", "realsumm"]
"""With initial segments, with correlations, and of documents."""

# A changed value of each key, and the rules that depend on it. Rules after these run because their inputs change.
COMPARED = {"compare", "resize"}
CHANGES = {
    "datasets": (
        ["conll2017-zh", "hansards"],
        {"calibrate", "claims", "describe", "documents", "heterogeneity", "plot", "plot_datasets", "ranks", "site",
         "threshold_errors",
         "thresholds", "validate"},
    ),
    "tests": ({"bootstrap": {"method": "shifted", "alternative": "two-sided"}}, COMPARED),
    "figure_formats": (["svg", "pdf"], {"plot", "plot_datasets"}),
    "resampling.n_resamples": (5000, COMPARED | {"claims", "leaderboards", "ranks"}),
    "resampling.n_resamples_resized": (1000, {"resize"}),
    "resampling.seed": (
        1, COMPARED | {"threshold_errors", "approximate", "claims", "documents", "leaderboards", "race"}
        | {"ranks", "training_variance"}
    ),
    "resampling.unit": ("document", COMPARED),
    "thresholds.percentile": (50, {"thresholds", "threshold_errors"}),
    "thresholds.min_pairs": (3, {"thresholds"}),
    "montecarlo.n_simulated": (9, {"approximate"}),
    "montecarlo.n_pairs": (2, {"approximate"}),
    "montecarlo.n_runs": (2, {"approximate"}),
    "montecarlo.n_resamples": ([300, 20000], {"approximate"}),
    "montecarlo.n_segments": ([300, 20000], {"race"}),
    "montecarlo.n_repeats": (2, {"race"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Plans in a project in which everything is up to date."""
    project = clone(tmp_path_factory.mktemp("project"))
    path = project / "config" / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8")) | {"datasets": DATASETS}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    with Planner(project) as planner:
        planner.pretend()
        yield planner, path, config


@pytest.mark.slow
@pytest.mark.parametrize("key", CHANGES)
def test_a_changed_setting_plans_the_jobs_that_depend_on_it(planned, key):
    planner, path, config = planned
    value, expected = CHANGES[key]
    changed = copy.deepcopy(config)
    *blocks, last = key.split(".")
    block = changed
    for name in blocks:
        block = block[name]
    assert block[last] != value
    block[last] = value
    path.write_text(yaml.safe_dump(changed), encoding="utf-8")
    all_planned, for_this_reason = planner.plan()
    assert for_this_reason <= expected <= all_planned.keys()


# A changed cell of each column of the user's sheets, and what the jobs take from it: the fields of `Study`, which the
# rules read (`test_the_rules_read_every_field`).
CELLS = {
    ("datasets", "example", "task"): ("other", {"datasets.provenance"}),
    ("datasets", "example", "metric"): ("chrf", {"datasets.metric", "systems.metric"}),
    ("datasets", "example", "reader"): ("", {"systems.options"}),
    ("datasets", "example", "reference"): ("config/example/tuned.txt", {"systems.reference", "systems.files"}),
    ("datasets", "example", "options"): ("lowercase=true", {"systems.options"}),
    ("datasets", "example", "documents"): ("config/example/scores.tsv", {"systems.options"}),
    ("datasets", "example", "test_sets"): ("halves=1", {"datasets.test_sets"}),
    ("datasets", "example", "figures"): ("correlation", {"datasets.figures"}),
    ("datasets", "example", "note"): ("other", {"datasets.provenance"}),
    ("datasets", "example-alignment", "text"): (
        "config/example/parallel.en+config/example/parallel.fr", {"test_sets.files", "test_sets.read"}
    ),
    ("datasets", "example-alignment", "selection"): ("first=3", {"test_sets.options"}),
    ("datasets", "example-alignment", "overlay"): ("example", {"datasets.overlay"}),
    ("systems", "tuned", "system"): ("renamed", {"systems"}),
    ("systems", "tuned", "group"): ("theirs", {"systems.options"}),
    ("systems", "tuned", "kind"): ("baseline", {"systems.options"}),
    ("systems", "tuned", "output"): ("config/example/reference.txt", {"systems.output", "systems.files"}),
    ("systems", "tuned", "reference"): ("config/example/baseline.txt", {"systems.reference", "systems.files"}),
    ("systems", "tuned", "options"): ("skip_lines=1", {"systems.options"}),
    ("training_sets", "example-parallel", "files"): (
        ["config/example/parallel-test.en+config/example/parallel-test.fr"],
        {"training_sets.files", "training_sets.read"},
    ),
    ("training_sets", "example-parallel", "selection"): ({"first": "5"}, {"training_sets.options"}),
    ("training_sets", "example-parallel", "options"): ({"reverse": "true"}, {"training_sets.options"}),
    ("training_sets", "example-parallel", "sizes"): ({"full": "4", "half": "4"}, {"resampled", "training_runs"}),
    ("training_sets", "example-parallel", "base_models"): (["dice"], {"training_runs", "predictions"}),
    ("base_models", "dice", "train"): (
        "awk -f config/example/dice-train.awk  {train} > {model}", {"training_runs.command"}
    ),
    ("base_models", "dice", "predict"): (
        "awk -f config/example/dice-predict.awk  {model} {input} > {output}", {"predictions.command"}
    ),
    ("base_models", "dice", "sizes"): ({"full": "2"}, {"training_runs", "predictions"}),
    ("base_models", "dice", "threads"): ("2", {"training_runs.threads"}),
    ("base_models", "dice", "mem_mb"): ("600", {"training_runs.mem_mb"}),
    ("base_models", "dice", "runtime"): ("6", {"training_runs.runtime"}),
    ("base_models", "dice", "include"): ("no", {"training_runs", "predictions"}),
}  # fmt: skip
NAMES = {"dataset", "training_set", "base_model", "study"}
"""Columns that name the jobs, and the kind of a dataset, which other cells must fit."""
OTHERS = {
    "datasets": {"corpus", "pool"}, "systems": {"include", "reason"},
    "training_sets": {"corpus", "task", "datasets", "unlabelled", "given", "note"},
    "base_models": {"task", "members", "needs", "datasets", "reproducible", "note"},
}  # fmt: skip
"""Columns that need another row or a corpus, which tests of retraining change, and notes for readers of a sheet."""


def changed_fields(before, after):
    """The fields of jobs that differ, or a whole kind of jobs if there are other ones."""
    found = set()
    for name in ("datasets", "systems", "training_sets", "test_sets", "resampled", "training_runs", "predictions"):
        old, new = getattr(before, name), getattr(after, name)
        if old.keys() != new.keys():
            found.add(name)
        else:
            pairs = [(old[key], new[key]) for key in old if old[key] != new[key]]
            found |= {f"{name}.{one.name}" for a, b in pairs for one in fields(a)
                      if getattr(a, one.name) != getattr(b, one.name)}  # fmt: skip
    return found


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A project with the user's sheets of the worked examples; reads them, with another cell if there is one."""
    project = clone(tmp_path_factory.mktemp("own"))
    folder = project / "config" / "example"
    config = yaml.safe_load((project / "config/config.yaml").read_text(encoding="utf-8"))
    config |= yaml.safe_load((project / "config/own.yaml").read_text(encoding="utf-8")) | {"retrain": True}
    config["datasets"] = ["example", "example-alignment", "example-scores"]

    def read(sheet="", row="", column="", value=""):
        (path,) = folder.glob(f"{sheet}.*") if sheet else (folder / "reference.txt",)
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".tsv":
            table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
            table.loc[table.iloc[:, : 2 if sheet == "systems" else 1].eq(row).any(axis=1), column] = value
            table.fillna("").to_csv(path, sep="\t", index=False)
        elif sheet:
            rows = yaml.load(text, yaml.BaseLoader)
            rows[row][column] = value
            path.write_text(yaml.safe_dump(rows), encoding="utf-8")
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(project)
                sheets.check_config(config)
                return sheets.read(config)
        finally:
            path.write_text(text, encoding="utf-8")

    return read, read()


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_a_changed_cell_changes_what_its_jobs_take(own, cell):
    read, before = own
    value, expected = CELLS[cell]
    assert expected <= changed_fields(before, read(*cell, value))


def test_every_column_of_these_sheets_is_changed():
    for sheet, others in OTHERS.items():
        changed = {column for name, _, column in CELLS if name == sheet}
        assert changed | others == set(models.CLASSES[sheet].model_fields) - NAMES, sheet


RULES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk"))


@pytest.mark.parametrize(
    "kind", [sheets.System, synthetic.Segments, synthetic.Resampled, synthetic.Training, synthetic.Prediction]
)
def test_the_rules_read_every_field(kind):
    for field in {one.name for one in fields(kind)} - {"base_model", "counted"}:  # names of messages and systems
        assert re.search(rf"study\.\w+\[[^]]+\]\.{field}\b", RULES), field


def test_other_sheets_are_inputs_as_a_whole():
    """An edit of any cell then runs the analyses again that read the sheet."""
    readers = {}
    for name, record in analysis.every().items():
        for source in record.inputs.values():
            if isinstance(source, Rows) and source.is_sheet:
                readers.setdefault(source.name, set()).add(name)
    assert {name: readers[name] for name in ("calibrations", "families", "published")} == {
        "calibrations": {"calibrate"},
        "families": {"heterogeneity"},
        "published": {"calibrate", "check", "threshold_errors"},
    }


@pytest.mark.slow
def test_the_whole_study_after_a_quick_run_repeats_what_a_clone_makes(tmp_path):
    """The order of commands in the README."""
    plans = []
    for name in ("after", "clone"):
        project = tmp_path / name
        project.mkdir()
        clone(project)
        shutil.copy(ROOT / "config" / "config.yaml", project / "config")
        with Planner(project) as planner:
            if name == "after":
                planner.pretend("--configfile", "config/quick.yaml")
            plans.append(planner.plan()[0])
    assert plans[0] == plans[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "--dag", "--rulegraph", "--filegraph", "--summary", "--detailed-summary", "--list-input-changes",
        "--list-params-changes", "--list-rules", "--unlock", "--cleanup-metadata results/findings.md", "--lint",
    ],
)  # fmt: skip
def test_commands_that_run_no_job_need_no_cores(planned, command):
    planner, path, config = planned
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    planner.run(*command.split())


@pytest.mark.slow
def test_the_pages_are_made_from_the_documentation(planned):
    """Every page of it that they contain is an input, so that an edit makes them again."""
    planner, path, config = planned
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    summary = planner.run("--detailed-summary")
    (described,) = (line for line in summary.splitlines() if line.startswith("results/site\t"))
    read = {Path(path).with_suffix(".html").name for path in re.split("[,\t]", described) if "docs/" in path}
    assert {Path(name).name for name in documentation()} <= read


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("results/figures/documents.svg", {"documents": 1, "plot_figure": 1}),
        ("results/figures/correlation/realsumm.bootstrap.svg", {"compare": 1, "plot_dataset": 1}),
        ("results/tables/documents.html", {"documents": 1, "tabulate_one": 1}),
    ],
)
def test_a_figure_or_table_alone_plans_what_it_needs(tmp_path, target, expected):
    with Planner(clone(tmp_path)) as planner:
        jobs, _ = planner.plan("--configfile", "config/quick.yaml", "--", target)
    assert jobs == expected | {"total": 2}


@pytest.mark.slow
def test_a_changed_setting_is_seen_by_jobs_that_run_together(tmp_path):
    quick = ("--configfile", "config/quick.yaml")
    with Planner(clone(tmp_path)) as planner:
        planner.pretend(*quick)
        for changed, expected in (
            ("resampling: {n_resamples_resized: 5000}", {"compare_together"}),
            ("thresholds: {min_pairs: 3}", {"analyse"}),
            ("figure_formats: [svg, pdf]", {"show"}),
        ):
            (tmp_path / "changed.yaml").write_text(changed, encoding="utf-8")
            assert planner.plan(*quick, "changed.yaml")[1] == expected


def test_one_process_runs_several_commands_until_one_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "segments.txt").write_text("a\tb\n", encoding="utf-8")

    def resample(segments, name):
        return ["resample", segments, "--task", "mt", "--name", name, "--whole", "--output", f"{name}.txt"]

    first, second, third = (resample("segments.txt", name) for name in ("first", "second", "third"))
    assert cli.main([*first, "--then", *second]) == 0
    assert (tmp_path / "first.txt").read_bytes() == (tmp_path / "second.txt").read_bytes()
    assert cli.main([*first, "--then", *resample("absent.txt", "absent"), "--then", *third]) == 2
    assert "absent.txt" in capsys.readouterr().err
    assert not (tmp_path / "third.txt").exists()


@pytest.mark.slow
def test_from_elsewhere_code_is_the_workflow_s_and_data_are_those_of_the_working_directory(tmp_path):
    """With an environment's own modules, which stay on the path."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sitecustomize.py").write_text("open('seen', 'a').close()\n", encoding="utf-8")
    command = [str(BIN / "snakemake"), "--cores", "1", "--snakefile", str(ROOT / "Snakefile"), "--config"]
    command += ["datasets=[realsumm]", "--", "results/tables/documents.html"]
    run("env", "PYTHONPATH=modules", *command, cwd=tmp_path)
    assert (tmp_path / "results" / "tables" / "documents.html").stat().st_size > 0
    assert (tmp_path / "seen").exists()


@pytest.mark.slow
def test_as_a_module_it_plans_the_same(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "Snakefile").write_text(
        f"""configfile: "config/config.yaml"
module pairsig:
    snakefile: "{ROOT}/Snakefile"
    config: config
use rule * from pairsig as pairsig_*
rule mine:
    input: rules.pairsig_all.input
    output: "results/mine.txt"
    shell: "touch {{output}}"
""",
        encoding="utf-8",
    )
    (tmp_path / "ours").mkdir()
    with Planner(clone(tmp_path / "ours")) as planner:
        expected, _ = planner.plan("--configfile", "config/quick.yaml")
    with Planner(tmp_path) as planner:
        planned, _ = planner.plan("--configfile", "config/quick.yaml", "--", "mine")
    renamed = {f"pairsig_{rule}" * (rule not in ("all", "total")) or rule: number for rule, number in expected.items()}
    renamed["mine"] = renamed.pop("all")
    assert planned == renamed
