"""What a change of the settings plans: every job that depends on it, and no other."""

import copy
import shutil

import pytest
import yaml

from conftest import clone
from planning import Planner
from running import ROOT

DATASETS = ["conll2017-zh", "hansards", "realsumm"]
"""With initial segments, with correlations, and of documents."""

# A changed value of each key, and the rules that depend on it. Rules after these run because their inputs change.
COMPARED = {"compare", "resize"}
CHANGES = {
    "datasets": (
        ["conll2017-zh", "hansards"],
        {"calibrate", "claims", "describe", "documents", "heterogeneity", "plot", "plot_datasets", "ranks", "site",
         "thresholds", "validate"},
    ),
    "tests": ({"bootstrap": {"method": "shifted", "alternative": "two-sided"}}, COMPARED),
    "figure_formats": (["svg", "pdf"], {"plot", "plot_datasets"}),
    "resampling.n_resamples": (5000, COMPARED | {"claims", "leaderboards", "ranks"}),
    "resampling.n_resamples_resized": (1000, {"resize"}),
    "resampling.seed": (
        1, COMPARED | {"approximate", "claims", "documents", "leaderboards", "race", "ranks", "training_variance"}
    ),
    "resampling.unit": ("document", COMPARED),
    "thresholds.p_low": (0.03, {"thresholds"}),
    "thresholds.p_high": (0.08, {"thresholds"}),
    "thresholds.percentile": (50, {"thresholds"}),
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
