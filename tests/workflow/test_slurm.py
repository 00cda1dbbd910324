"""The workflow on a real SLURM, and what becomes of it when something is killed. `make test-slurm` starts one.

`tests/slurm/quick` runs the quick study there.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from pairsig.core import statistics
from running import BIN, ROOT, environment, run, snakemake

CLUSTER = ROOT / "tests" / "slurm" / "cluster"
PROFILE = ROOT / "workflow" / "profiles" / "slurm"


pytestmark = pytest.mark.slurm


@pytest.fixture(scope="module", autouse=True)
def cluster():
    if "PAIRSIG_TEST_SLURM" not in os.environ:
        pytest.skip("jobs are submitted by make test-slurm only, which starts a SLURM of its own")


FAST = (
    *("--seconds-between-status-checks", "3", "--slurm-init-seconds-before-status-checks", "3"),
    *("--latency-wait", "15", "--slurm-keep-successful-logs"),
)
ON_SLURM = ("--workflow-profile", "workflow/profiles/slurm", *FAST)
# Three jobs of some ten seconds, and one that adds their counts up.
TABLES = ("results/comparisons/wmt21-de-en.parquet", "results/test_sets/wmt21-de-en.parquet")
STUDY = ("--configfile", "many.yaml", "--set-scatter", "resamples=2", "--", *TABLES)
MANY = (
    "datasets: [wmt21-de-en]\nsplit: [wmt21-de-en]\nresampling: {n_resamples: 6000000, n_resamples_resized: 200000}\n"
)


def prepare(project):
    """Make of a folder the project as after a clone."""
    for name in ("Snakefile", "workflow", "profiles", "config", "resources", "src"):
        (project / name).symlink_to(ROOT / name)
    (project / "many.yaml").write_text(MANY, encoding="utf-8")
    return project


def contents(project, names=TABLES):
    return {name: (project / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What a run on this machine gives, uncut."""
    folder = prepare(tmp_path_factory.mktemp("locally"))
    snakemake("--configfile", "many.yaml", "--", *TABLES, cwd=folder, snakefile="Snakefile")
    return contents(folder)


@pytest.fixture
def running(tmp_path):
    """A run on SLURM of which the first jobs are at work: its process, and their numbers."""
    project = prepare(tmp_path)
    process = start(project)
    yield project, process, at_work(project, process)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    run(str(PROFILE / "cancel"), cwd=project)


def start(project):
    with (project / "printed.txt").open("ab") as printed:
        return subprocess.Popen(
            [str(BIN / "snakemake"), "--cores", "4", *ON_SLURM, *STUDY],
            cwd=project, env=environment(project), start_new_session=True, stdout=printed, stderr=printed,
        )  # fmt: skip


def at_work(project, process):
    """The processes of the scripts `compare.py` and `resize.py` that run in this folder, by SLURM job."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        assert process.poll() is None, (project / "printed.txt").read_text(encoding="utf-8")
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                variables = dict(v.partition(b"=")[::2] for v in (folder / "environ").read_bytes().split(b"\0"))
                is_script = any(word.endswith((b".compare.py", b".resize.py")) for word in words[1:2])
                if is_script and (folder / "cwd").resolve() == project.resolve():
                    found[variables[b"SLURM_JOB_ID"].decode()] = int(folder.name)
            except (OSError, KeyError):
                continue
        if len(found) >= 2:
            return found
        time.sleep(0.2)
    raise AssertionError("no job came to work")


def ends_well(project, process):
    assert process.wait(timeout=900) == 0, (project / "printed.txt").read_text(encoding="utf-8")
    return contents(project)


def test_a_run_on_slurm_gives_the_bytes_of_a_run_here(running, expected):
    project, process, _ = running
    assert ends_well(project, process) == expected
    printed = (project / "printed.txt").read_text(encoding="utf-8")
    # Two parts, one job that adds them up, and the other test sets.
    assert len(re.findall("has been submitted with SLURM jobid", printed)) == 4
    assert not list((project / "results/parts").rglob("*.parquet"))


@pytest.mark.parametrize("cancelled", [True, False], ids=["a job is cancelled", "the process of a job is killed"])
def test_a_job_that_ends_early_is_submitted_again(running, expected, cancelled):
    project, process, jobs = running
    if cancelled:
        run("scancel", min(jobs), cwd=project)
    else:
        os.kill(min(jobs.values()), signal.SIGKILL)
    assert ends_well(project, process) == expected
    assert "Trying to restart job" in (project / "printed.txt").read_text(encoding="utf-8")


def test_a_node_dies_with_all_its_processes(running, expected):
    project, process, jobs = running
    node = run("squeue", "--noheader", "--format=%N", "--jobs", min(jobs), cwd=project).strip()
    doomed = run("squeue", "--noheader", "--format=%i", "--nodelist", node, cwd=project).split()
    variables = {f"SLURM_JOB_ID={job}".encode() for job in doomed}
    steps = tuple(f"slurmstepd: [{job}.".encode() for job in doomed)
    try:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
                of_a_job = variables & set((folder / "environ").read_bytes().split(b"\0"))
                if of_a_job or command.startswith((*steps, f"slurmd\0-N\0{node}\0".encode())):
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                continue
        # SLURM puts them back into its queue, or tells Snakemake that they failed, which submits them again.
        assert ends_well(project, process) == expected
    finally:
        run(str(CLUSTER), "node", node, cwd=ROOT)


@pytest.mark.parametrize("cancelled", [True, False], ids=["orphans cancelled", "orphans go on"])
def test_snakemake_is_killed_and_the_next_run_goes_on(running, expected, cancelled):
    """Orphans of the killed run that nobody cancels write the same bytes, and whole files only."""
    project, process, jobs = running
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if cancelled:
        run(str(PROFILE / "cancel"), cwd=project)
        left = run("squeue", "--noheader", "--format=%i", cwd=project).split()
        assert not set(jobs) & set(left)
    snakemake("--unlock", "--configfile", "many.yaml", cwd=project, snakefile="Snakefile")
    assert ends_well(project, start(project)) == expected
    while run("squeue", "--noheader", "--format=%Z", cwd=project).split().count(str(project)):
        time.sleep(1)
    assert contents(project) == expected
    printed = snakemake("--dry-run", *STUDY, cwd=project, snakefile="Snakefile")
    assert "Nothing to be done" in printed


def test_a_base_model_that_takes_more_memory_than_it_requests_costs_its_system_alone(tmp_path):
    """SLURM kills it twice, and the third attempt records that."""
    project = prepare(tmp_path)
    shutil.copytree(ROOT / "config/example", project / "own")
    hungry = "python -c 'x = b\"1\" * 1500_000_000; import time; time.sleep(60)'"
    hungry = f"case {{train}} in *quarter-2*) {hungry};; esac; awk"
    for name, changes in {
        "base_models.yaml": {"train: awk": f"train: >-\n    {hungry}", "mem_mb: 500": "mem_mb: 800"},
        "training_sets.yaml": {"[dice, joint-hmm]": "[dice]", "{full: 4, quarter: 4}": "{quarter: 3}"},
    }.items():
        text = (project / "own" / name).read_text(encoding="utf-8")
        for old, new in changes.items():
            text = text.replace(old, new)
        (project / "own" / name).write_text(text, encoding="utf-8")
    counted = "results/statistics/example-alignment.parquet"
    arguments = ("--config", "retrain=true", "datasets=[example-alignment]", "sheets=[config,own]")
    snakemake(*ON_SLURM, counted, *arguments, cwd=project, snakefile="Snakefile")
    made = statistics.read(project / counted)
    assert set(made.systems) == {"dice-quarter-1", "dice-quarter-3"}
    (left_out,) = made.omissions
    assert left_out["system"] == "dice-quarter-2"
    assert left_out["reason"] == "killed in attempt 2 of 2 (memory or time; requested: 1600 MB, 10 minutes)"
