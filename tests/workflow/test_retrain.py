"""Resample, train, predict, extract, collect, compare: the chain as its users run it, on small corpora."""

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from conftest import add_rows, own_code, own_environment, own_statistics, use_own_sheets, worked_example
from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.errors import InputError
from running import BIN, ROOT, jobs, run, snakemake
from study import sheets
from study.sheets import synthetic
from study.training.training_sets import SIZES, size_of

SHEETS = {
    "datasets": "example/datasets.tsv",
    "systems": "example/systems.tsv",
    "training_sets": "example/training_sets.yaml",
    "base_models": "example/base_models.yaml",
}
"""The user's own sheets of the worked example."""


@pytest.fixture
def example(project):
    """The project with the sheets of the worked example."""
    _, command, promised = worked_example("Your own base model")
    use_own_sheets(project)
    return project, command, promised


@pytest.fixture
def planned(example, monkeypatch, sheets_read_once):
    """The study that Snakemake plans its jobs from, without Snakemake."""
    monkeypatch.chdir(example[0])

    def plan(**changes):
        config = {
            "tests": {"bootstrap": {"method": "shifted", "alternative": "observed"}},
            "retrain": True,
            "datasets": ["example-alignment"],
            "own_sheets": {name: f"config/{path}" for name, path in SHEETS.items()},
        } | changes
        sheets.check_config(config)
        return sheets.read(config)

    return plan


RETRAIN = ("--config", "retrain=true", "datasets=[example-alignment]")
STATISTICS = "results/statistics/example-alignment.parquet"
FEWER = ("{full: 4, quarter: 4}", "{full: 2, quarter: 2}")
"""An edit of the training sets: half as many systems."""


def make_command():
    """`make retrain` as the README says it."""
    (command,) = re.findall(r"^make retrain .*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return command


@pytest.mark.slow
def test_make_retrain(example):
    """On a small corpus, a fifth of its systems; the overlay's list of datasets is another."""
    project = example[0]
    own_environment(project)
    corpus = project / "path/to/corpora/small"
    corpus.mkdir(parents=True)
    files = sorted((ROOT / "config/example").glob("parallel*"))
    for path in files:
        shutil.copy(path, corpus)
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (corpus / "SHA256SUMS").write_text(sums, encoding="utf-8")
    digest = hashlib.sha256(sums.encode()).hexdigest()
    add_rows(project, corpora=f"small\thttps://example.org\t{digest}\tCC0\tnone\n")
    edit(project, "training_sets", "  files: [config/example/", "  corpus: small\n  files: [config/example/")
    edit(project, "datasets", "\taer\t\t\t\tconfig/example/", "\taer\tsmall\t\t\tconfig/example/")
    for sheet in (project / "config" / SHEETS[name] for name in ("training_sets", "datasets")):
        sheet.write_text(sheet.read_text(encoding="utf-8").replace("config/example/", "small/"), encoding="utf-8")
    overlay = project / "config/retrain.yaml"
    text = overlay.read_text(encoding="utf-8")
    less = "datasets: [example-alignment]\nfigure_formats: [svg]\n"
    overlay.write_text(re.sub(r"^datasets:\n(  .*\n)+", less, text, flags=re.MULTILINE))
    command = make_command()
    assert "DATA_DIR=path/to/corpora SCALE=0.2" in command
    printed = run("bash", "-e", "-c", f"{command} CORES=2", cwd=project)
    assert "results/site/index.html is up to date" in printed
    made = statistics.read(project / STATISTICS)
    assert set(made.systems) == {"dice-quarter-1", "joint-hmm-quarter-1"}
    assert "scale 0.2" in made.provenance["resampled"]
    assert "Nothing to be done" in run("bash", "-e", "-c", f"{command} CORES=2", cwd=project)


def edit(project, sheet, old, new):
    path = project / "config" / SHEETS[sheet]
    if old not in path.read_text(encoding="utf-8"):
        path = project / "config" / path.name  # a sheet of the study
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(new.join(text.rsplit(old, 1)), encoding="utf-8")


@pytest.mark.slow
def test_the_worked_example_of_the_readme(example):
    project, command, promised = example
    assert len(promised) == 3
    own_code(project)
    # What it promises, and a table; all there is comes out of `make retrain` above.
    wanted = ("--", *promised, "results/tables/systems.tsv")
    command = " ".join([command, *wanted])
    run("bash", "-e", "-c", command, cwd=project)
    for path in promised:
        assert (project / path).stat().st_size > 0
    made = statistics.read(project / promised[0])
    assert len(made.systems) == 16
    assert set(made.groups) == {"dice", "joint-hmm"}
    assert "base_model dice" in made.provenance
    assert made.provenance["resampled"] == "full=4 quarter=4 (scale 1, seed 2012)"
    compared = tables.read(project / promised[1])
    assert len(compared) == 16 * 15 / 2
    assert compared["same_group"].sum() == 2 * 8 * 7 / 2
    # More training data helps, and so does a model of word order.
    systems = tables.read(project / "results/tables/systems.tsv").set_index("group")
    assert systems.loc["joint-hmm", "score_mean"] < systems.loc["dice", "score_mean"]
    assert not list((project / "results/models").rglob("model"))
    assert "Nothing to be done" in run("bash", "-e", "-c", command, cwd=project)
    # An edited base model trains its own systems again, and no other.
    with (project / "src" / "base_models" / "joint_hmm.py").open("a", encoding="utf-8") as module:
        module.write("# edited\n")
    planned = jobs(snakemake("--dry-run", *RETRAIN, *wanted, cwd=project))
    assert (planned["train"], planned["predict"]) == (8, 8)
    snakemake("--touch", *RETRAIN, *wanted, cwd=project)
    # One more base model trains its own systems, and no other.
    edit(project, "training_sets", "[dice, joint-hmm]", "[dice, joint-hmm, dice-2]")
    entry = worked_example("Your own base model")[0][0]
    add_rows(project, base_models=entry.replace("dice:", "dice-2:", 1))
    planned = jobs(snakemake("--dry-run", *RETRAIN, *wanted, cwd=project))
    assert (planned["train"], planned["predict"], planned["extract"]) == (8, 8, 8)


def test_the_plan_shrinks_with_the_scale(planned):
    before: set[str] = set()
    for scale, dice in (
        (0.01, {"quarter-1"}),
        (0.37, {"quarter-1", "full-1"}),
        (0.38, {"quarter-1", "full-1", "quarter-2"}),
        (1, {f"{size}-{k}" for size in ("full", "quarter") for k in range(1, 5)}),
    ):
        systems = {system for name, system in planned(scale=scale).training_runs if name == "example-parallel"}
        assert systems == {f"{base_model}-{resampled}" for base_model in ("dice", "joint-hmm") for resampled in dice}
        assert before <= systems
        before = systems


def test_every_share_keeps_the_proportions_of_the_sizes():
    sizes = {"full": 27, "half": 38, "quarter": 35}
    for percent in range(1, 101):
        taken = [name.partition("-")[0] for name in synthetic._resampled(sizes, percent / 100)]
        assert len(taken) == percent  # also where 0.29 * 100 is a little less than 29 as a float
        assert all(abs(taken.count(size) - n * percent / 100) < 1.5 for size, n in sizes.items())


def embed(study, systems, dataset="example-alignment"):
    """Statistics of some systems of a plan, made as it says, as if they were embedded."""
    options = study.datasets[dataset].provenance
    fragments = dict(option.split("=", 1) for word, option in pairwise(options) if word == "--provenance")
    counts = {system: np.ones((3, 4), dtype=int) for system in systems}
    made = statistics.Statistics.from_arrays(counts, ["sure_hits", "possible_hits", "predicted", "sure"])
    groups = tuple(system.rsplit("-", 2)[0] for system in systems)
    if Path("resources").is_symlink():
        own_statistics(Path())
    path = Path("resources/statistics") / f"{dataset}.parquet"
    statistics.write(replace(made, dataset=dataset, groups=groups, provenance=fragments), path)


SOME = ("dice-full-1", "dice-quarter-2", "joint-hmm-full-1")


def test_one_system_is_not_trained_alone(planned):
    edit(Path(), "training_sets", "[dice, joint-hmm]", "[dice]")
    edit(Path(), "training_sets", "{full: 4, quarter: 4}", "{full: 1}")
    with pytest.raises(InputError, match="found example-alignment has 1 system to train, expected at least two"):
        planned()


def test_what_is_embedded_is_not_trained_again(planned):
    whole = planned()
    every = set(whole.datasets["example-alignment"].systems)
    embed(whole, SOME)
    missing = planned(retrain="missing")
    assert set(missing.datasets["example-alignment"].systems) == every - set(SOME)
    assert missing.datasets["example-alignment"].onto == ("resources/statistics/example-alignment.parquet",)
    assert set(planned().datasets["example-alignment"].systems) == every
    # How many were to be trained does not matter: they are called by number.
    edit(Path(), "training_sets", "{full: 4, quarter: 4}", "{full: 5, quarter: 4}")
    assert len(planned(retrain="missing", scale=1).datasets["example-alignment"].systems) == 18 - 3
    embed(planned(), sorted(set(planned().datasets["example-alignment"].systems)))
    assert planned(retrain="missing").datasets["example-alignment"].systems == ()


@pytest.mark.parametrize(
    ("sheet", "old", "new", "kept"),
    [
        ("base_models", "dice-train.awk {train} >", "dice-train.awk {train} | cat >", {"joint-hmm-full-1"}),
        ("training_sets", "  sizes: {full: 4", "  selection: {first: 200}\n  sizes: {full: 4", set()),
        ("training_sets", "  note: invented", "  unlabelled: [example-alignment]\n  note: invented", set()),
        ("datasets", "\tconfig/example/parallel-test.en+", "\tnews=config/example/parallel-test.en+", set()),
    ],
)
def test_what_is_embedded_and_would_be_made_in_another_way_is_trained_again(planned, sheet, old, new, kept):
    whole = planned()
    embed(whole, SOME)
    edit(Path(), sheet, old, new)
    missing = set(planned(retrain="missing").datasets["example-alignment"].systems)
    assert set(whole.datasets["example-alignment"].systems) - missing == kept


def test_another_seed_trains_all_again(planned):
    embed(planned(), SOME)
    assert len(planned(retrain="missing", resampling={"seed": 1}).datasets["example-alignment"].systems) == 16


@pytest.mark.parametrize("content", [b"", b"PAR1 cut off", None])
def test_unreadable_embedded_statistics_are_reported(planned, content):
    embed(planned(), SOME)
    path = Path("resources/statistics/example-alignment.parquet")
    if content is None:
        pd.DataFrame({"system": ["a"], "n": [1]}).to_parquet(path)
    else:
        path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"resources/statistics/example-alignment\.parquet: cannot be read as statistics"
    ):
        planned(retrain="missing")


@pytest.mark.slow
def test_going_on_from_what_is_embedded_gives_what_one_run_gives(example):
    project = example[0]
    edit(project, "training_sets", *FEWER)
    carried = own_statistics(project) / "example-alignment.parquet"
    snakemake(STATISTICS, *RETRAIN, "scale=0.5", cwd=project)
    shutil.copy(project / STATISTICS, carried)
    shutil.rmtree(project / "results")
    missing = ["--config", "retrain=missing", "datasets=[example-alignment]"]
    assert jobs(snakemake("--dry-run", STATISTICS, *missing, cwd=project))["train"] == 4
    snakemake(STATISTICS, *missing, cwd=project)
    joined = statistics.read(project / STATISTICS)
    snakemake(STATISTICS, *RETRAIN, "--forcerun", "collect", cwd=project)
    whole = statistics.read(project / STATISTICS)
    assert len(whole.systems) == 8
    joined = joined.select(systems=whole.systems)
    np.testing.assert_array_equal(joined.counts, whole.counts)
    assert (joined.groups, joined.columns) == (whole.groups, whole.columns)


@pytest.mark.slow
def test_a_base_model_that_fails_is_left_out_and_reported(example):
    project = example[0]
    train, predict = "awk -f config/example/dice-train.awk {train}", "dice-predict.awk {model} {input} > {output}"
    fails = "case {train} in *quarter-2*) echo too small >&2; exit 7;; *quarter-1*) kill -9 $PPID;; esac"
    stops = "if [ $(cksum < {model} | cut -c1) -le 1 ]; then head -n 3; else cat; fi > {output}"
    edit(project, "base_models", train, f"{fails}; {train}")
    edit(project, "base_models", predict, predict.replace("> {output}", f"| {stops}"))
    edit(project, "training_sets", "[dice, joint-hmm]", "[dice]")
    snakemake(STATISTICS, "results/tables/systems.tsv", *RETRAIN, cwd=project)
    made = statistics.read(project / STATISTICS)
    fragments = {omission.system: str(omission) for omission in made.omissions}
    assert "exit status 7" in fragments["dice-quarter-2"]
    assert "too small" in fragments["dice-quarter-2"]
    killed = "train: killed in attempt 2 of 2 (memory or time; requested: 1000 MB, 10 minutes)"
    assert killed in fragments["dice-quarter-1"]
    log = project / "results/logs/train/example-parallel/dice-quarter-1.log"
    assert killed.removeprefix("train: ") in log.read_text(encoding="utf-8")
    assert len(fragments) + len(made.systems) == 8
    assert not set(fragments) & set(made.systems)
    for name in set(fragments) - {"dice-quarter-1", "dice-quarter-2"}:
        assert "has 3 segments" in fragments[name]
    table = (project / "results/tables/systems.tsv").read_text(encoding="utf-8")
    assert "dice-quarter-2: train: exit status 7" in table


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_trains_nothing_twice(example):
    project = example[0]
    edit(project, "training_sets", *FEWER)
    edit(project, "training_sets", "[dice, joint-hmm]", "[dice]")
    edit(project, "base_models", "awk -f config/example/dice-train.awk {train} > {model}",
         "echo {train} >> trained.txt; sleep 0.5; awk -f config/example/dice-train.awk {train} > {model}")  # fmt: skip
    arguments = [str(BIN / "snakemake"), "--cores", "2", STATISTICS, *RETRAIN]
    environment = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(project), "XDG_CACHE_HOME": str(project / ".cache")}
    process = subprocess.Popen(arguments, cwd=project, env=environment, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    models = project / "results/outputs/example-alignment"
    while len(list(models.glob("*.txt"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)  # Snakemake, its jobs and what they run
    process.wait()
    predicted = {path.stem for path in models.glob("dice-*.txt")}
    snakemake("--unlock", *RETRAIN, cwd=project)
    snakemake("--rerun-incomplete", STATISTICS, *RETRAIN, cwd=project)
    trained = (project / "trained.txt").read_text(encoding="utf-8").split()
    for system in predicted:
        assert sum(f"{system.removeprefix('dice-')}.txt" in path for path in trained) == 1, system
    interrupted = statistics.read(project / STATISTICS)
    shutil.rmtree(project / "results")
    snakemake(STATISTICS, *RETRAIN, cwd=project)
    whole = statistics.read(project / STATISTICS)
    pd.testing.assert_frame_equal(interrupted.to_table(), whole.to_table())


@pytest.mark.parametrize(
    ("sheet", "old", "new", "message"),
    [
        ("training_sets", "[dice, joint-hmm]", "[dise, joint-hmm]", "expected base models of the task alignment"),
        ("training_sets", "full: 4", "whole: 4", "key sizes: found 'whole=4"),
        ("training_sets", "[example-alignment]", "[example]", "expected datasets of the study synthetic"),
        ("base_models", "  runtime: 5\n", "  runtime: 5\n  include: maybe\n", "key include: found 'maybe', expected"),
        ("training_sets", "  note: invented\n", "  given: {dice: x}\n", "another training set"),
        ("training_sets", "  note: invented\n", "  given: {dise: ewt}\n", "key given: found 'dise', expected a base"),
        ("training_sets", "  note: invented\n", "  given: {malt: hansards}\n", "found malt and hansards, which are of"),
        ("training_sets", "  note: invented\n", "  given: {dice: example-parallel}\n", "found 'example-parallel'"),
        ("training_sets", "[dice, joint-hmm]", "[dice, itg]", "key given: found nothing, expected a model to give to"),
        ("training_sets", "[example-alignment]", "[example-alignment, hansards-110]", "on which hansards has dice"),
        ("base_models", "joint_hmm train", "joint_hm train", "did you mean base_models.joint_hmm?"),
        ("base_models", "  threads: 1\n", "  threads: one\n", "key threads: found 'one', expected a whole number"),
        ("base_models", "  threads: 1\n", "  threads: 1\n  needs: [command:no-such-aligner]\n",
         "base model dice requires the command no-such-aligner; install it"),
        ("training_sets", "[config/example/parallel.en+", "[config/example/paralel.en+",
         "key files: found config/example/paralel.en, which is missing, expected a file; did you mean config/example/"),
        ("datasets", "parallel-test.wa", "parallel-test.aw",
         "column text: found config/example/parallel-test.aw, which is missing, expected a file; did you mean config/"),
        ("base_models", "dice-train.awk", "dice-trian.awk",
         "base model dice, key train: found config/example/dice-trian.awk, which is missing, expected a file; did you "
         "mean config/example/dice-train.awk?"),
        ("base_models", "predict: awk", "predict: X=1 no-such-program",
         "key predict: found the program no-such-program, which is not installed, expected one that is"),
    ],
)  # fmt: skip
def test_mistakes_in_the_sheets_get_one_sentence(planned, sheet, old, new, message):
    edit(Path(), sheet, old, new)
    with pytest.raises(InputError, match=re.escape(message)):
        planned()


def test_only_what_a_run_needs_must_be_there_and_what_is_complex_is_left_to_the_shell(planned):
    edit(Path(), "base_models", "predict: awk", "predict: cd /; no-such-program")
    planned()
    edit(Path(), "datasets", "parallel-test.wa", "parallel-test.aw")
    planned(retrain=False, datasets=["hansards"])


def test_a_given_model_is_trained_once_on_the_whole(planned):
    again = (
        "\nexample-given:\n  task: alignment\n  files: [config/example/parallel.en+config/example/parallel.fr]\n"
        "  sizes: {full: 2}\n  base_models: [dice-given]\n  datasets: [example-alignment]\n"
        "  given: {joint-hmm: example-parallel}\n"
    )
    wants = (
        "\ndice-given:\n  task: alignment\n  train: cat {train} {given} > {model}\n  predict: cat {model} > {output}\n"
    )
    add_rows(Path(), training_sets=again, base_models=wants)
    study = planned()
    model = "results/models/example-parallel/joint-hmm-whole-1"
    trained = study.training_runs["example-given", "dice-given-full-2"]
    for made in (trained, study.predictions["example-alignment", "dice-given-full-1"]):
        assert made.given == (model,)
    whole = study.training_runs["example-parallel", "joint-hmm-whole-1"]
    assert whole.resampled == "results/resampled/example-parallel/whole-1.txt"
    assert study.resampled["example-parallel", "whole-1"].drawn == ("--whole",)
    assert study.resampled["example-parallel", "full-1"].drawn == ("--size", "1")
    # The systems of both training sets are compared with each other, but not the model that is given.
    names = study.datasets["example-alignment"].systems
    assert len(names) == 18
    assert "dice-given-full-2" in names
    assert "joint-hmm-whole-1" not in names
    fragments = dict(word.split("=", 1) for word in study.datasets["example-alignment"].provenance if "=" in word)
    assert fragments["training_set"] == "example-given, example-parallel"
    assert fragments["given"] == "example-given: joint-hmm=example-parallel"
    assert fragments["resampled"].startswith(
        "example-given: full=2 (scale 1, seed 2012); example-parallel: full=4 quarter=4"
    )
    assert {"base_model dice", "base_model dice-given", "base_model joint-hmm"} <= set(fragments)


def test_programs_of_ours_are_known(planned):
    training_runs = planned().training_runs
    assert training_runs["example-parallel", "joint-hmm-full-1"].programs == ("base_models.joint_hmm",)
    assert training_runs["example-parallel", "dice-full-1"].programs == ()


BASE_MODELS = yaml.safe_load((ROOT / "config" / "base_models.yaml").read_text(encoding="utf-8"))
MEMBERS = {member for row in BASE_MODELS.values() for member in row.get("members", [])}
REBUILT = [
    name
    for name, row in BASE_MODELS.items()
    if row["include"] is True and row["reproducible"] is True and name not in MEMBERS
]
"""Base models whose systems are embedded and come out the same; members of ensembles are rebuilt with these."""
SOON = ("joint-hmm", "itg", "mst", "joshua-phrase")
"""Those that are rebuilt within a minute or two."""


def smallest_systems(base_models):
    """The smallest dataset that the first of some base models is tested on, and of each its least trained system."""
    sets = yaml.safe_load((ROOT / "config" / "training_sets.yaml").read_text(encoding="utf-8")).values()
    names = {name for one in sets if one["task"] == BASE_MODELS[base_models[0]]["task"] for name in one["datasets"]}
    paths = (ROOT / "resources" / "statistics" / f"{name}.parquet" for name in names)
    tested = [data for path in paths if path.exists() if base_models[0] in (data := statistics.read(path)).groups]
    if not tested:
        pytest.skip(f"no system of {base_models[0]} is embedded")
    data = min(tested, key=lambda data: len(data.segments))

    def least(base_model):
        own = [system for system, group in zip(data.systems, data.groups, strict=True) if group == base_model]
        sizes = size_of(pd.Series(own)).map(SIZES)
        return own[int(sizes.argmin())] if own else None

    return data, [system for system in map(least, base_models) if system]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(
    "base_model", [name if name in SOON else pytest.param(name, marks=pytest.mark.rebuilt) for name in REBUILT]
)
def test_embedded_statistics_are_what_their_base_models_give(project, data_dir, base_model):
    members = BASE_MODELS[base_model].get("members", [])
    for need in {need for name in (base_model, *members) for need in BASE_MODELS[name].get("needs", [])}:
        kind, _, name = need.partition(":")
        if kind == "python" and importlib.util.find_spec(name) is None:
            pytest.skip(f"no module {name}: install pairsig[retrain]")
        if kind in ("java", "jar") and not (shutil.which("java") and shutil.which("mvn")):
            pytest.skip("no Java or no Maven")
    embedded, systems = smallest_systems([base_model, *members])
    counts = [f"results/counts/{embedded.dataset}/{system}.parquet" for system in systems]
    settings = ["--configfile", "config/retrain.yaml", "--config", f"data_dir={data_dir}"]
    # Only what these systems need is asked for; the HMM is given to others.
    kept = tuple(f"{name}:" for name in (base_model, *members, "joint-hmm"))
    text = (project / "config/base_models.yaml").read_text(encoding="utf-8")
    for entry in re.findall(r"^\S+:\n(?:  .*\n)+", text, re.MULTILINE):
        if not entry.startswith(kept):
            edit(project, "base_models", entry, re.sub(r"  include: \w+\n", "  include: no\n", entry))
    # As long as it takes: some train for minutes, and five of an ensemble.
    snakemake(*counts, *settings, f"datasets=[{embedded.dataset}]", cwd=project, timeout=None)
    for system, path in zip(systems, counts, strict=True):
        rebuilt, mine = statistics.read(project / path), embedded.select(systems=[system])
        assert rebuilt.columns == mine.columns
        np.testing.assert_array_equal(rebuilt.counts, mine.counts, err_msg=system)
        np.testing.assert_array_equal(rebuilt.documents, mine.documents)
