"""Malformed sheets, configs and tables: one sentence or a result, never a traceback, never a file left."""

import math
import random
import re
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import simulate
from conftest import examples
from malformed import malformed
from pairsig import cli as library
from pairsig.core import statistics
from pairsig.io.errors import InputError
from running import ROOT
from study import cli, sheets
from study.sheets import checks

SEEDS = st.integers(0, 10**9)


KEPT = {"wmt21-de-en", "wmt22-en-zh", "hansards", "hansards-synthetic", "hansards-110", "alibi-synthetic"}
NAMES = {"datasets": [0], "systems": [0], "calibrations": [2, 4], "families": [2]}
"""Columns with the names of datasets."""


def path_of(name):
    """A sheet: a table, or a mapping in YAML."""
    return next(path for ending in ("tsv", "yaml") if (path := Path("config") / f"{name}.{ending}").is_file())


def entries(text):
    """The entries of a mapping, and what stands before them."""
    return re.split(r"^(?=[^\s#])", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The shipped sheets cut down to a few datasets, with (empty) embedded statistics."""
    folder = tmp_path_factory.mktemp("sheets")
    shutil.copytree(ROOT / "config", folder / "config")
    for name, lost in (("base_models", "task: (constituency|mt)"), ("training_sets", "icepahc|craft|ewt|task: mt")):
        path = folder / "config" / f"{name}.yaml"
        kept = [entry for entry in entries(path.read_text(encoding="utf-8")) if not re.search(lost, entry)]
        assert len(kept) > 1
        path.write_text("".join(kept), encoding="utf-8")
    for path in sorted((folder / "config").glob("*.tsv")):
        name = path.stem
        header, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        rows = [row for row in rows if all(set(row[column].split()) <= KEPT for column in NAMES.get(name, ()))]
        if name == "datasets":
            pool = {"dataset": "both", "task": "mt", "metric": "bleu", "pool": "wmt21-de-en wmt22-en-zh"}
            rows.append([*(dict.fromkeys(header, "") | pool | {"test_sets": "draws=2 draw_size=50"}).values()])
        path.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
    (folder / sheets.STATISTICS).mkdir(parents=True)
    for name in KEPT:
        (folder / sheets.STATISTICS / f"{name}.parquet").touch()
    return folder


@pytest.fixture
def plan(shipped, monkeypatch):
    """Plan the study of a config: true if it can be, false after one bounded sentence about what is wrong."""
    monkeypatch.chdir(shipped)
    monkeypatch.setattr(checks, "check_programs", lambda *_: None)
    monkeypatch.setattr(checks, "check_file", lambda *_: None)

    def plan(config):
        before, message = sorted(Path().rglob("*")), ""
        try:
            sheets.check_config(config)
            sheets.read(config)
        except InputError as error:
            message = str(error)
        assert sorted(Path().rglob("*")) == before
        assert re.fullmatch(r"(\S.{20,2100})?", message), message[:3000]
        return not message

    return plan


def config():
    return yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))


def test_the_sheets_are_well_formed(plan):
    assert plan(config())


@pytest.mark.parametrize("name", sheets.SHEETS)
@examples(6, simplified=False)
@given(seed=SEEDS)
def test_malformed_sheets(plan, name, seed):
    path = path_of(name)
    text = path.read_text(encoding="utf-8")
    try:
        path.write_bytes(malformed(text, "\t" if path.suffix == ".tsv" else " ", random.Random(f"{name} {seed}")))
        plan(config() | {"retrain": seed % 2 == 0})
    finally:
        path.write_text(text, encoding="utf-8")


VALUES = (
    None, True, -1, 0, 0.5, 1.0, 10**30, 16**5000, math.nan, math.inf, -math.inf, "", "x" * 100_000, "{x}", "\0", "all",
    "true", "١", [], [[]], [1, 1], ["x"], [None], {}, {1: 2}, {None: {}}, date(2012, 7, 12), b"\xff", {1, 2}, (1,),
)  # fmt: skip


@examples(40, simplified=False)
@given(seed=SEEDS)
def test_malformed_configs(plan, seed):
    choice = random.Random(seed)
    spoilt = config()
    part = spoilt
    while True:
        key = choice.choice([*part])
        if not isinstance(part[key], dict) or not part[key] or choice.random() < 0.2:
            break
        part = part[key]
    part[choice.choice([key, key, key, key, None, 1, "x" * 9000, ("a", 1)])] = choice.choice(VALUES)
    plan(spoilt)


SHEET = "calibration distance on_dataset on_test_set against_dataset against_test_set"
PUBLISHED = "item page what published unit n_segments information information_from n_systems n_pairs compared_with why"
ROWS = {
    "datasets.tsv": ["dataset task pool", "s parsing ."],
    "sheet.tsv": [SHEET, "parsing iid s half-1 s half-2", "parsing near s first-* s whole"],
    "published.tsv": [
        PUBLISHED,
        "t 998 threshold 1.1 points 800 9000 . . 47 threshold:s:all .",
        "e 999 exponent -0.5 . . . . . . exponent:s:all .",
        "c 1000 share 90 % . . . . 58 share:parsing:iid:0.04-0.06 .",
        "p 1 p 0.1 p . . . . . p:250:f1 .",
        "f 1 faster 250 sentences . . . . . faster:100:f1 other",
    ],
}
STUDY = [
    "all-pairs s.parquet --test bootstrap --metric f1 --n-resamples 200 --output >c.tsv",
    "all-pairs s.parquet --test bootstrap --metric f1 --n-resamples 200 --part 1/2 --output >1.tsv",
    "all-pairs s.parquet --test bootstrap --metric f1 --n-resamples 200 --part 2/2 --output >2.tsv",
    "resize s.parquet --test bootstrap --metric f1 --n-resamples 200 --initial 50,100,200 --halves 1 --domain-size 50"
    " --output >sizes.tsv",
    "approximate --n-resamples 100 1000 --n-simulated 4 --n-pairs 1 --n-runs 2 --n-sizes 2 --output >error.tsv",
    "race --n-segments 250 500 --n-repeats 1 --output >seconds.tsv",
    "merge 1.tsv 2.tsv --output >out.tsv",
    "thresholds c.tsv sizes.tsv --datasets datasets.tsv --min-pairs 2 --size-scaling >scaling.tsv --output >t.tsv",
    "validate c.tsv sizes.tsv --output >v.tsv",
    "calibrate c.tsv sizes.tsv --sheet sheet.tsv --published published.tsv --table-1 >table-1.tsv --output >k.tsv",
    "threshold-errors s.parquet:f1 --published published.tsv --output >te.tsv",
    "check --published published.tsv --thresholds t.tsv --threshold-errors te.tsv --size-scaling scaling.tsv"
    " --calibration k.tsv --relative-error error.tsv --run-time seconds.tsv --output >r.tsv",
    "tabulate k.tsv --output >out.csv >out.md >out.tex >out.html",
    "plot gain_confidence c.tsv t.tsv --output >out.svg",
]
"""A whole study of simulated systems: every command but those before `compare`, `>` before what it writes."""


FIRST = 6
"""The first of them that reads tables."""


def run(command):
    """Status of a command."""
    try:
        main = library.main if command.split()[0] in ("all-pairs", "merge") else cli.main
        return main(command.split())
    except SystemExit as stop:  # argparse
        return stop.code


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The tables of a study, and those that each of its commands reads."""
    folder = tmp_path_factory.mktemp("study")
    data = simulate.statistics("f1", n_systems=8, n_segments=400, n_groups=2, spread=0.02, correlation=0.5)
    domains = np.array(["news", "speech"] * 200)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        statistics.write(replace(data, dataset="s", domains=domains), "s.parquet")
        for name, rows in ROWS.items():
            text = "".join("\t".join(cell.strip(".") for cell in row.split()) + "\n" for row in rows)
            Path(name).write_text(text, encoding="utf-8")
        for command in STUDY[:-1]:  # figures are no tables
            assert run(command.replace(">", "")) == 0, command
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")  # a glyph that the font lacks, a name longer than the figure
@pytest.mark.parametrize(
    "command",
    [pytest.param(command, id=command.partition(" -")[0]) for command in STUDY[FIRST:]],
)
@examples(3, simplified=False)
@given(seed=SEEDS)
def test_malformed_tables(study, command, seed, monkeypatch, capsys):
    monkeypatch.chdir(study)
    choice = random.Random(f"{command} {seed}")
    path = Path(choice.choice(re.findall(r"(?<= )[\w-]+\.tsv", command)))
    text = path.read_text(encoding="utf-8")
    path.write_bytes(malformed(text, "\t", choice))
    status = run(command.replace(">", "new-"))
    message = [line for line in capsys.readouterr().err.splitlines() if "pairsig: warning: " not in line]
    path.write_text(text, encoding="utf-8")
    left = list(Path().glob("*new-*"))
    assert (status, len(message), bool(left)) in ((0, 0, True), (2, 1, False)), (message, left)
    assert all(len(line) < 2200 for line in message)
    for file in left:
        file.unlink()
