"""Config and sheets: what is shipped passes, what is wrong gets one sentence before any job."""

import re
import shutil
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from pairsig.io.errors import InputError
from study import sheets
from study.analysis import figures
from study.sheets import checks, documentation, files
from study.sheets.config import Config
from study.sheets.jobs import Jobs
from study.sheets.models import CLASSES
from study.test_sets import matches

ROOT = Path(__file__).parents[2]
CONFIGS = [ROOT / "config" / name for name in ("config.yaml", "quick.yaml", "retrain.yaml")]


PAPERS = {"method": "shifted", "alternative": "observed"}
TWO_SIDED = {"alternative": "two-sided"}


_loaded = cache(yaml.safe_load)


def load(*paths):
    """A config with overlays laid over it, key by key, as Snakemake does."""
    config = {}
    for path in paths:
        for key, value in deepcopy(_loaded(path.read_text(encoding="utf-8"))).items():
            block = isinstance(value, dict) and isinstance(config.get(key), dict)
            config[key] = config[key] | value if block else value
    return config


def test_exact_tests_are_instead_of_those_that_draw():
    config = load(CONFIGS[0]) | {"tests": {"bootstrap": PAPERS, "randomization": TWO_SIDED, "exact": TWO_SIDED}}
    sheets.check_config(config)
    assert list(config["tests"].items()) == [("bootstrap", PAPERS), ("exact", TWO_SIDED)]
    config["tests"] = {"exact-bootstrap": PAPERS}
    sheets.check_config(config)
    assert config["tests"] == {"exact-bootstrap": PAPERS}


@pytest.fixture
def project(tmp_path, monkeypatch, sheets_read_once):
    """A working directory with the shipped sheets and (empty) embedded statistics; a sheet is read once per content."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    sheets.STATISTICS.mkdir(parents=True)
    for row in cells("datasets"):
        (sheets.STATISTICS / f"{row['dataset']}.parquet").touch()
    return tmp_path


def read(others=None, **changes):
    config = load(Path("config/config.yaml")) | (others or {}) | changes
    sheets.check_config(config)
    return sheets.read(config)


def cells(name):
    """The rows of a table as they are shipped, cells by column."""
    header, *rows = (line.split("\t") for line in (ROOT / f"config/{name}.tsv").read_text("utf-8").splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


def sheet_path(name):
    return Path("config") / f"{name}.{'yaml' if CLASSES[name].yaml else 'tsv'}"


def edit(name, old, new):
    """Change the first occurrence of `old` in a sheet; returns the number of its line."""
    path = sheet_path(name)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_shipped_configs_and_sheets_pass(project, path, monkeypatch):
    # Whether they are valid has nothing to do with what is installed here.
    monkeypatch.setattr(checks, "check_programs", lambda *_: None)
    monkeypatch.setattr(checks, "check_file", lambda *_: None)
    config = load(ROOT / "config" / "config.yaml", path)
    sheets.check_config(config)
    study = sheets.read(config)
    assert any(dataset.selected for dataset in study.datasets.values())


def test_defaults_are_those_of_the_full_reproduction():
    config = {"tests": {"bootstrap": PAPERS}}
    sheets.check_config(config)
    assert config == load(ROOT / "config" / "config.yaml")


def test_quick_can_calibrate(project):
    quick = load(ROOT / "config" / "quick.yaml")
    study = read(**quick)
    assert {name for name, dataset in study.datasets.items() if dataset.selected} == set(quick["datasets"])

    def run(patterns):
        return any(matches(dataset, patterns) for dataset in quick["datasets"])

    rows = [row for row in cells("calibrations") if run(row["on_dataset"]) and run(row["against_dataset"])]
    assert {row["distance"] for row in rows} >= {"halves", "near", "far"}


def test_sheets_come_out_ready(project):
    study = read(data_dir="corpora")
    giza = study.systems["hansards", "giza-reverse"]
    assert giza.reference == ("corpora/hansards-wa/test/test.wa.nonullalign",)
    assert giza.options[-2:] == ("--output-option", "reverse=true")
    parser = study.systems["conll2018-en_ewt", "Stanford-18"]
    assert parser.files == ("corpora/conll2018-ud/en_ewt.tar.xz",)
    assert parser.corpora == ("conll2018-ud",)
    chinese = study.datasets["wmt22-en-zh"]
    assert chinese.test_sets == ("--initial=doubling:100", "--domain-size=400")
    assert chinese.source == "embedded"
    assert study.datasets["wmt23-into-english"].source == "pool"


def test_what_is_left_out_has_a_reason_and_is_left_out(project):
    study = read()
    left_out = [row for row in cells("systems") if row["include"] == "no"]
    assert left_out
    for row in left_out:
        assert row["reason"]
        assert (row["dataset"], row["system"]) not in study.systems


def test_what_the_terms_do_not_let_be_carried_is_not():
    """Non-commercial corpora are for benchmarks alone, counted from the data folder; so are those without a licence."""
    assert not re.search(r"-nc[\t\n/]", (ROOT / "config" / "systems.tsv").read_text(encoding="utf-8"))
    assert not re.search(r"-nc[\t\n/,\]]", (ROOT / "config" / "training_sets.yaml").read_text(encoding="utf-8"))
    licences = {row["corpus"]: row["licence"] for row in cells("corpora")}
    benchmarks = {row["dataset"]: row["corpus"] for row in cells("datasets") if row["study"] == "benchmark"}
    assert {row["corpus"] for row in cells("datasets") if row["corpus"].endswith("-nc")} <= set(benchmarks.values())
    carried = {name for name in benchmarks if (ROOT / f"resources/statistics/{name}.parquet").is_file()}
    assert {name: licences[benchmarks[name]] for name in carried} == {"llmbar": "MIT", "mmlu-pro": "Apache-2.0"}


def test_benchmarks_that_are_not_there_are_left_out_with_a_reason(project):
    for path in sheets.STATISTICS.iterdir():  # the project carries two benchmarks
        if not (ROOT / "resources/statistics" / path.name).is_file():
            path.unlink()
    study = read()
    assert {"livebench", "swebench-bash-only", "wmt25-xcomet"} <= set(study.missing)
    assert study.missing["bfcl"] == "its statistics are counted from data_dir, where data/bfcl/SHA256SUMS is missing"
    assert not {"llmbar", "mmlu-pro"} & set(study.missing)
    for name, dataset in study.datasets.items():
        assert not (dataset.selected and name in study.missing)
    with pytest.raises(
        InputError, match=r"column text: found data/bfcl/failed.tsv.xz, which is missing, expected a file"
    ):
        read(datasets=["bfcl"])
    sums = Path("corpora/bfcl/SHA256SUMS")
    sums.parent.mkdir(parents=True)
    sums.touch()
    Path("corpora/bfcl/failed.tsv.xz").touch()
    there = read(data_dir="corpora")
    assert there.datasets["bfcl"].selected
    assert (there.datasets["bfcl"].source, there.datasets["mmlu-pro"].source) == ("counted", "embedded")
    assert there.datasets["bfcl"].outcomes == ("corpora/bfcl/failed.tsv.xz",)


def test_shared_tasks_have_ten_systems(project):
    study = read()
    shared = [name for name in study.datasets if re.match(r"wmt2[1-4]|conll", name)]
    for name in shared:
        members = study.datasets[name].pool or [name]
        systems = set.intersection(*(set(study.datasets[member].systems) for member in members))
        assert len(systems) >= 10, name


@pytest.mark.parametrize("page", sorted((ROOT / "docs/sheets").glob("*.md")), ids=lambda page: page.stem)
def test_the_pages_of_the_sheets_are_those_of_the_models(page):
    """If not, type `make findings`."""
    text = page.read_text(encoding="utf-8")
    assert documentation.filled(text) == text


def test_every_sheet_and_the_config_have_their_table():
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/sheets").glob("*.md")))
    assert {*re.findall(r"^## (\S+)\n", text, re.MULTILINE)} == {"config.yaml", *documentation.SHEETS}
    assert documentation.filled(text.replace("`licence`", "`license`")) == text


def test_every_column_and_key_is_described_with_an_example():
    fields = [field for of in CLASSES.values() for field in of.model_fields.values()]
    for field in (*fields, *(field for _, field in documentation.keys(Config))):
        assert field.description
        assert field.examples
        assert "|" not in field.description + field.examples[0]


def mistakes(where):
    return (ROOT / f"tests/data/mistakes_in_{where}.tsv").read_text(encoding="utf-8").splitlines()[1:]


@pytest.mark.parametrize("mistake", mistakes("sheets"))
def test_a_mistake_in_a_sheet_gets_one_sentence(project, mistake):
    """Each with `…` for any text in the message, and \\t and \\n for tabs and ends of lines."""
    sheet, old, new, message = mistake.split("\t")
    line = edit(sheet, *(text.replace("\\t", "\t").replace("\\n", "\n") for text in (old, new)))
    pattern = re.escape(message.replace("{line}", str(line))).replace("…", ".*")
    with pytest.raises(InputError, match=rf"^{sheet_path(sheet)}, (?=line ).*{pattern}") as error:
        read()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


ROW, ENTRY = r"(?<=\n)({}\S*)\t.*\n", r"^(\S+):\n(?:  .*\n)+"


@pytest.mark.parametrize(
    ("sheet", "repeated", "found"),
    [
        ("calibrations", ROW.format("parsing\tnear"), r"column \w+: found .*"),
        ("published", ROW.format("threshold-rouge"), r"column \w+: found .*"),
        *((name, ROW.format(""), r"column \w+: found .*") for name in ("datasets", "systems", "corpora", "jars")),
        *((name, ENTRY, ".* {0}: found {0}") for name in ("training_sets", "base_models")),
    ],
)
def test_what_is_repeated_is_refused_with_both_lines(project, sheet, repeated, found):
    path = sheet_path(sheet)
    text = path.read_text(encoding="utf-8")
    whole = re.search(repeated, text, re.MULTILINE)
    first, second = (text[:end].count("\n") + 1 for end in (whole.start(), len(text)))
    path.write_text(text + whole[0], encoding="utf-8")
    message = f"{found.format(whole[1])} again, expected it once: it is in {path}, line {first} already"
    with pytest.raises(InputError, match=f"{path.name}, line {second}, {message}"):
        read()


def test_yaml_that_is_no_mapping(project):
    path = sheet_path("base_models")
    for text, found in (("- a\n", "a list"), ("word\n", "'word'")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(
            InputError, match=f"yaml, line 1: found {found}.*, expected the name of a base model and a colon"
        ):
            read()
    path.write_bytes(b"malt: \xff\n")
    with pytest.raises(InputError, match=r"base_models\.yaml: cannot be read"):
        read()


def test_yaml_holds_text(tmp_path):
    """A scalar is the text that stands there, and a list its words, whatever YAML would make of them."""
    text = (
        "a-b:\n  task: alignment\n  include: no\n  threads: 010\n  train: |\n    one\n    two\n"
        "  predict: >-\n    one;\n    two\n  sizes: {full: 2, half: 1}\n  needs:\n  - java\n  - jar:x\n  note: ~\n"
    )
    path = tmp_path / "base_models.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 4, base model a-b, key threads: found '010'"):
        files.read([str(path)], CLASSES["base_models"])
    path.write_text(text.replace("010", "10"), encoding="utf-8")
    (row,) = files.read([str(path)], CLASSES["base_models"]).rows
    assert (row.include, row.threads, row.train, row.predict, row.note) == ("no", 10, "one\ntwo", "one; two", "")
    assert (row.sizes, row.needs, row.members) == ({"full": 2, "half": 1}, ("java", "jar:x"), ())
    assert row.needed("jar") == ["x"]


TASK = "joint-hmm:\n  task: alignment\n"


@pytest.mark.parametrize(
    ("sheet", "old", "new", "message"),
    [
        ("datasets", "each output", "x" * 200_000, r": cannot be read \(field larger than field limit \(131072\)\)$"),
        ("datasets", "each output", "x\0y", r"line \d+, column note: found 'x\\x00y.*, expected no control characters"),
        ("datasets", "realsumm\tsum", "r" * 100_000 + "\tsum", r"line \d+, column dataset: found 'r{60}…' \(100,000 "),
        ("datasets", "rouge2_recall", "x" * 100_000, r"column metric: found 'x{60}…' \(100,000 characters\), expected"),
        ("datasets", "dataset\t", "x" * 100_000 + "\t", r"line 1: found the column 'x{60}…' \(100,000 characters"),
        ("base_models", TASK, f"{'[' * 1500}\n{TASK}", r"cannot be read"),
        ("base_models", TASK, f"{TASK}  note: \0\n", r"cannot be read"),
        ("base_models", TASK, f"{TASK}  note: {'x' * 200_000}\n  ? {'y' * 100_000}\n  : a\n",
         r"found the key 'y{60}…' \(100,000 char"),
    ],
)  # fmt: skip
def test_what_is_quoted_is_bounded(project, sheet, old, new, message):
    edit(sheet, old, new)
    with pytest.raises(InputError, match=rf"{sheet_path(sheet)}.*{message}") as error:
        read()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


def test_embedded_statistics_must_be_there(project):
    (sheets.STATISTICS / "realsumm.parquet").unlink()
    with pytest.raises(InputError, match=r"realsumm.parquet, or source: derived"):
        read()
    read(datasets=["hansards"])
    (sheets.STATISTICS / "wmt22-ja-en.parquet").unlink()
    with pytest.raises(InputError, match="found wmt22-ja-en without its statistics"):
        read(datasets=["wmt22-into-english"])


def test_outputs_must_be_there_in_derived_mode(project):
    with pytest.raises(
        InputError, match=r"systems.tsv, line \d+, column output: found data/realsumm/.*, which is missing"
    ):
        read(source="derived", datasets=["realsumm"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(line.split("\t") for line in mistakes("config")),
        (f"{{sheets: {{systems: {'n' * 5000}}}}}", "cannot be read (File name too long)"),
        (f"{{resampling: {{seed: 0x{'f' * 5000}}}}}", "config: found a number with thousands of digits"),
    ],
)
def test_a_mistake_in_the_config_gets_one_sentence(project, changes, message):
    """Changes in YAML, each with `…` for any text in the message."""
    with pytest.raises(InputError, match=re.escape(message).replace("…", ".*")) as error:
        read(yaml.safe_load(changes))
    assert "\n" not in str(error.value)


def test_a_figure_of_a_run_of_its_own_needs_no_table_of_the_study(project):
    config = load(Path("config") / "config.yaml")
    study = read()
    figure = figures()["gain_confidence"]
    alone = {"hansards": replace(study.datasets["hansards"], own_data=True, overlay=())}
    of_study, own = (Jobs(one, config) for one in (study, replace(study, datasets=alone)))
    assert not of_study.own_data
    assert own.own_data
    compared = "results/comparisons/hansards.bootstrap.parquet"
    assert own.tables(figure, "hansards", "bootstrap") == [compared]
    assert {compared, "results/tables/thresholds.tsv"} < {*of_study.tables(figure, "hansards", "bootstrap")}


def test_test_sets_made_from_others_draw_fewer_resamples(project):
    config = load(Path("config") / "config.yaml")
    jobs = Jobs(read(), config)
    assert {jobs.n_resamples(name) for name in ("hansards", "wmt22-en-zh")} == {1_000_000}
    assert {jobs.n_resamples(name) for name in ("mt-domains", "conll2018-all")} == {25_000}
    assert jobs.n_resamples("hansards", resized=True) == 25_000
