"""The workflow as its users run it: a small study from end to end, plans, other places and configurations, faults."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest
import yaml

from pairsig.core import statistics
from pairsig.io import tables
from running import ROOT, jobs, run, snakemake

SMALL = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text(encoding="utf-8"))
SMALL |= {"sheets": [str(ROOT / "config")]}
SMALL["pathvars"] |= {"resources": str(ROOT / "resources")}


def configured(folder: Path, **others) -> Path:
    """Give a folder the configuration of the small run, with other keys."""
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(SMALL | others), encoding="utf-8")
    shutil.copy(ROOT / ".test/config/figures.yaml", folder / "config/figures.yaml")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of a small run with its report."""
    folder = configured(tmp_path_factory.mktemp("small"))
    snakemake("--report", "results/report.html", "--report-after-run", cwd=folder)
    return folder


def test_a_small_run_has_all_tables_the_findings_and_one_file_with_everything(small):
    for table in SMALL["tables"]:
        page = (small / f"results/tables/{table}.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert "<caption>" in page or table in ("table_1", "calibration")
    assert r"\toprule" in (small / "results/tables/tally.tex").read_text(encoding="utf-8")
    findings = (small / "results/findings.md").read_text(encoding="utf-8")
    assert re.search(r"\*\*A small run: \d+ of \d+ printed numbers", findings)
    report = small / "results/report.html"
    assert 1e5 < report.stat().st_size < 10e6
    assert "Counterpart of the paper" in report.read_text(encoding="utf-8")
    compared = tables.read(small / "results/comparisons/hansards.parquet")
    assert len(compared) == 24 * 23 / 2 - 24 * 0
    assert set(compared["n_resamples"]) == {1000}


def test_after_a_run_nothing_is_left_to_do_whatever_is_asked_for(small):
    for target in ((), ("results/tables/thresholds.tsv",), ("./results/tables/thresholds.tsv",), ("all",)):
        assert "Nothing to be done" in snakemake("-n", *target, cwd=small)
    planned = jobs(snakemake("-n", "-R", "thresholds", "--", "results/tables/thresholds.tsv", cwd=small))
    assert planned == {"thresholds": 1, "total": 1}
    planned = jobs(snakemake("-n", "-R", "check", cwd=small))
    assert planned == {"check": 1, "findings": 1, "of_tables": 1, "all": 1, "total": 4}


def test_a_target_needs_what_it_is_made_from_and_no_more(tmp_path):
    configured(tmp_path)
    planned = jobs(snakemake("-n", "results/tables/thresholds.tsv", cwd=tmp_path))
    assert planned == {"compare": 2, "thresholds": 1, "total": 3}
    planned = jobs(snakemake("-n", "results/figures/figure_2.svg", cwd=tmp_path))
    assert planned == {"compare": 1, "confidence": 1, "total": 2}


def test_parts_of_a_comparison_add_up_to_the_same_bytes(small, tmp_path):
    configured(tmp_path, split=["hansards"])
    target = "results/comparisons/hansards.parquet"
    planned = jobs(snakemake("-n", "--set-scatter", "resamples=3", "--", target, cwd=tmp_path))
    assert planned == {"compare_part": 3, "merge": 1, "total": 4}
    snakemake("--set-scatter", "resamples=3", "--", target, cwd=tmp_path)
    assert (tmp_path / target).read_bytes() == (small / target).read_bytes()
    assert not list((tmp_path / "results/parts").glob("*"))


def test_another_setting_repeats_what_it_can_change(small, tmp_path):
    shutil.copytree(small, tmp_path / "run", symlinks=True)
    configured(tmp_path / "run", resampling=SMALL["resampling"] | {"n_resamples": 2000})
    planned = jobs(snakemake("-n", cwd=tmp_path / "run"))
    assert planned["compare"] == 2
    assert "describe" not in planned
    assert "threshold_errors" not in planned


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), {"compare": 90, "check": 1, "today": 1, "training_variance": 1}),
        (("--configfile", "config/quick.yaml"), {"compare": 8, "resize": 5, "check": 1}),
        (("--configfile", "config/own.yaml"), {"count": 1, "compare": 1, "confidence": 1}),
        (("--configfile", "config/own.yaml", "--config", "retrain=true", "datasets=[example-alignment]"),
         {"train": 16, "predict": 16, "count": 1, "resample": 8, "compare": 1}),
        (("--config", "datasets=[example]", "sheets=[config,config/example]", "tables=[]"), {"count": 1}),
        (("--workflow-profile", "workflow/profiles/slurm", "--executor", "dryrun"), {"compare": 90}),
    ],
)  # fmt: skip
def test_plans_of_every_configuration(arguments, expected, tmp_path):
    """In a copy without results, which has the Snakefile and the profiles that `snakemake` finds by itself."""
    for name in ("Snakefile", "workflow", "profiles", "config", "resources", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    planned = jobs(snakemake("-n", *arguments, cwd=tmp_path, snakefile="Snakefile"))
    for rule, number in expected.items():
        assert planned[rule] >= number if number == 90 else planned[rule] == number, rule


@pytest.mark.parametrize("of_commit", [False, True], ids=["a path", "gitfile"])
def test_as_a_module_with_a_part_of_the_configuration(tmp_path, of_commit):
    """Another workflow takes the rules, with its own sheets."""
    source, options = f'"{ROOT}/workflow/Snakefile"', []
    if of_commit:
        if not (ROOT / ".git").exists():
            pytest.skip("no commit of the repository")
        commit = run("git", "rev-parse", "HEAD", cwd=ROOT).strip()
        source = f'gitfile("{ROOT}", path="workflow/Snakefile", commit="{commit}")'
        # Without the trigger `code`, for which Snakemake 9.27 cannot find the scripts of such a module.
        options = ["--rerun-triggers", "mtime", "params", "input", "software-env", "--"]
    sheets = [str(ROOT / "config"), str(ROOT / "config/example")]
    part = {"sheets": sheets, "datasets": ["example"], "tables": ["thresholds"], "resampling": {"n_resamples": 100}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(part), encoding="utf-8")
    (tmp_path / "config/example").mkdir(parents=True)
    for path in (ROOT / "config/example").glob("*.txt"):
        shutil.copy(path, tmp_path / "config/example")
    (tmp_path / "Snakefile").write_text(
        f'configfile: "config.yaml"\nmodule study:\n    snakefile: {source}\n    config: config\n'
        "use rule * from study as study_*\nrule all:\n    default_target: True\n    input: rules.study_all.input\n",
        encoding="utf-8",
    )
    planned = jobs(snakemake("-n", *options[:-1], cwd=tmp_path, snakefile="Snakefile"))
    assert planned["study_count"] == 1
    assert planned["study_thresholds"] == 1
    snakemake(*options, "results/comparisons/example.parquet", cwd=tmp_path, snakefile="Snakefile")
    assert set(tables.read(tmp_path / "results/comparisons/example.parquet")["n_resamples"]) == {100}


FIGURE = {"kind": "of_tables", "function": "summaries.table_1", "tables": ["calibratoin"], "title": "", "caption": ""}


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            {"datasets": ["hansard"]},
            "datasets: found 'hansard', expected a name in datasets.tsv, did you mean hansards?",
        ),
        ({"tables": ["threshold"]}, "tables: found 'threshold', expected one of systems, thresholds, size_scaling, "),
        ({"figures": {"a": FIGURE}}, "figures: a: tables: found 'calibratoin', expected one of systems, thresholds, "),
    ],
)
def test_a_mistake_is_one_sentence_before_the_first_job(mistake, message, tmp_path):
    configured(tmp_path, **mistake)
    printed = snakemake(cwd=tmp_path, status=1)
    assert f"config: {message}" in printed
    assert "Traceback" not in printed


def test_damaged_counts_stop_what_needs_them_and_the_log_says_why(tmp_path):
    resources = tmp_path / "resources/statistics"
    resources.mkdir(parents=True)
    for name in ("hansards", "tac08"):
        shutil.copy(ROOT / f"resources/statistics/{name}.parquet", resources)
    whole = (resources / "tac08.parquet").read_bytes()
    (resources / "tac08.parquet").write_bytes(whole[: len(whole) // 2])
    configured(tmp_path, pathvars={"resources": "resources", "logs": "results/logs"})
    targets = [f"results/comparisons/{name}.parquet" for name in ("hansards", "tac08")]
    printed = snakemake("--keep-going", *targets, cwd=tmp_path, status=1)
    assert "resources/statistics/tac08.parquet" in (tmp_path / "results/logs/compare/tac08.log").read_text() + printed
    assert (tmp_path / targets[0]).is_file()
    assert not (tmp_path / targets[1]).exists()
    (resources / "tac08.parquet").write_bytes(whole)
    assert jobs(snakemake(*targets, cwd=tmp_path)) == {"compare": 1, "total": 1}


def test_a_corpus_with_a_changed_byte_or_of_another_version_is_refused(tmp_path):
    corpus = tmp_path / "data/sample"
    corpus.mkdir(parents=True)
    (tmp_path / "sheets").mkdir()
    (corpus / "a text.txt").write_bytes(b"first\n")
    sums = f"{hashlib.sha256(b'first' + bytes([10])).hexdigest()}  a text.txt\n"
    (corpus / "SHA256SUMS").write_text(sums, encoding="utf-8")
    checksum = hashlib.sha256(sums.encode()).hexdigest()
    sheet = f"corpus\turl\tsha256\tlicence\tcitation\nsample\thttps://a.b\t{checksum}\tl\tc\n"
    (tmp_path / "sheets/corpora.tsv").write_text(sheet, encoding="utf-8")
    configured(tmp_path, sheets=[str(ROOT / "config"), "sheets"], data_dir="data")
    target = "results/corpora/sample.sha256"
    snakemake(target, cwd=tmp_path)
    assert (tmp_path / target).read_text(encoding="utf-8") == sums
    for name, content in (("a text.txt", b"First\n"), ("SHA256SUMS", sums.encode() + b"abc  a text.txt\n")):
        (corpus / name).write_bytes(content)
        printed = snakemake("-f", target, cwd=tmp_path, status=1)
        assert f"{name}: FAILED" in printed
        assert not (tmp_path / target).exists()


BASE_MODELS = """\
dice:
  task: alignment
  train: awk -f config/example/dice-train.awk {train} > {model}
  predict: awk -f config/example/dice-predict.awk {model} {input} > {output}
  datasets: [example-alignment]
fails:
  task: alignment
  train: echo no luck; test -e {model}
  predict: cat {model} > {output}
  datasets: [example-alignment]
killed:
  task: alignment
  train: touch {model}; kill -9 $PPID $$
  predict: cat {model} > {output}
  datasets: [example-alignment]
short:
  task: alignment
  train: touch {model}
  predict: head -n 1 {input} > {output}
  datasets: [example-alignment]
"""


def test_a_base_model_that_fails_or_is_killed_costs_its_systems_only(tmp_path):
    example = ROOT / "config/example"
    shutil.copytree(example, tmp_path / "config/example")
    sheet = (example / "training_sets.yaml").read_text(encoding="utf-8")
    sheet = sheet.replace("[dice, joint-hmm]", "[dice, fails, killed, short]").replace(
        "{full: 4, quarter: 4}", "{full: 2}"
    )
    (tmp_path / "config/example/training_sets.yaml").write_text(sheet, encoding="utf-8")
    models = BASE_MODELS.replace("train: touch {model}; kill", "train: 'touch {model}; kill").replace("$$", "$$'")
    (tmp_path / "config/example/base_models.yaml").write_text(models, encoding="utf-8")
    configured(
        tmp_path,
        sheets=[str(ROOT / "config"), "config/example"],
        datasets=["example-alignment"],
        tables=[],
        retrain=True,
    )
    snakemake("--keep-going", cwd=tmp_path)
    data = statistics.read(tmp_path / "results/statistics/example-alignment.parquet")
    assert data.systems == ("dice-full-1", "dice-full-2")
    reasons = {of["system"]: f"{of['stage']}: {of['reason']}" for of in data.omissions}
    assert set(reasons) == {f"{name}-full-{k}" for name in ("fails", "killed", "short") for k in (1, 2)}
    assert reasons["fails-full-1"].startswith("train: exit status 1")
    assert "killed in attempt 2 of 2 (memory or time; requested: 4000 MB" in reasons["killed-full-2"]
    assert reasons["short-full-1"].startswith("count: ")
    assert "no luck" in reasons["fails-full-1"]


def examples():
    """The commands in config/README.md, each with the files that the page promises of it."""
    text = (ROOT / "config/README.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        for command in re.findall(r"^\.venv/bin/snakemake (.*)$", section, re.MULTILINE):
            promised = re.findall(r"^\| `(results/[^`]+)`", section, re.MULTILINE)
            yield pytest.param(command, promised, id=section.splitlines()[0])


@pytest.mark.parametrize(("command", "promised"), [*examples()])
def test_the_examples_of_the_page_on_configuration(command, promised, tmp_path):
    for name in ("Snakefile", "workflow", "profiles", "config", "resources", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
    snakemake(*words, *(["scale=0.25"] if "--config" in words else []), cwd=tmp_path, snakefile="Snakefile")
    assert promised
    for path in promised:
        assert (tmp_path / path).stat().st_size > 0, path


def test_what_has_failed_fails_again_and_says_why(tmp_path):
    """A changed input whose job fails: the results of the former one are not up to date."""
    for name in ("Snakefile", "workflow", "profiles", "resources", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    command = ["--configfile", "config/own.yaml", "--", "results/own/statistics/example.parquet"]
    snakemake(*command, cwd=tmp_path, snakefile="Snakefile")
    with (tmp_path / "config/example/tuned.txt").open("a", encoding="utf-8") as file:
        file.write("one more line\n")
    for _ in range(2):
        printed = snakemake(*command, cwd=tmp_path, snakefile="Snakefile", status=1)
        assert "config/example/tuned.txt has 41 segments" in printed


@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_in_a_browser_without_the_network(small, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    wanted, errors = [], []
    page.on("request", lambda request: wanted.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((small / "results/report.html").as_uri())
    heading = page.get_by_role("heading", name="Findings")
    heading.wait_for()
    box = heading.bounding_box()
    assert min(box["x"], box["y"]) >= 0
    assert box["width"] <= width
    for category in ("1. Figures", "3. Tables"):
        assert page.get_by_text(category).count() > 0
    page.screenshot(path=small / f"report-{width}.png")
    assert errors == []
    assert not [url for url in wanted if url.startswith("http")]
    page.close()
