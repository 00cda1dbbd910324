"""What a change of the settings plans: every job that depends on it, and no other."""

import copy
import re
import shutil
from pathlib import Path

import pytest
import yaml

from conftest import clone
from planning import Planner
from running import BIN, ROOT, run
from study import cli
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
def test_containerize_only_asks_for_conda(planned):
    assert "Is conda installed and accessible?" in planned[0].run("--containerize", status=1)


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
