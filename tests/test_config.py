"""Config and sheets: what is shipped passes, what is wrong gets one sentence before any job."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from pairsig.errors import InputError
from study import sheets
from study.sheets import synthetic

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "workflow" / "schemas"
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


def load(*paths):
    """A config with overlays laid over it, key by key, as Snakemake does."""
    config = {}
    for path in paths:
        for key, value in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            block = isinstance(value, dict) and isinstance(config.get(key), dict)
            config[key] = config[key] | value if block else value
    return config


def schema(name):
    return yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working directory with the shipped sheets and (empty) embedded statistics."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    sheets.STATISTICS.mkdir(parents=True)
    for line in Path("config/datasets.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        (sheets.STATISTICS / f"{line.split()[0]}.parquet").touch()
    return tmp_path


def read(**changes):
    config = load(Path("config/config.yaml")) | changes
    sheets.check_config(config, SCHEMAS)
    return sheets.read(config, SCHEMAS)


def edit(name, old, new):
    """Change the first occurrence of `old` in a sheet; returns the number of its line."""
    path = Path("config") / f"{name}.tsv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_shipped_configs_and_sheets_pass(project, path, monkeypatch):
    # Whether they are valid has nothing to do with what is installed here.
    monkeypatch.setattr(synthetic, "check_needs", lambda *_: None)
    config = load(ROOT / "config" / "config.yaml", path)
    sheets.check_config(config, SCHEMAS)
    study = sheets.read(config, SCHEMAS)
    assert study.datasets["selected"].any()


def test_defaults_are_those_of_the_full_reproduction():
    config = {"tests": {"bootstrap": "gt2"}}
    sheets.check_config(config, SCHEMAS)
    assert config == load(ROOT / "config" / "config.yaml")


def test_quick_can_calibrate(project):
    quick = load(ROOT / "config" / "quick.yaml")
    study = read(**quick)
    assert set(study.datasets.index[study.datasets["selected"]]) == set(quick["datasets"])
    rows = [line.split("\t") for line in Path("config/calibrations.tsv").read_text(encoding="utf-8").splitlines()]
    assert {row[1] for row in rows if {row[2], row[4]} <= set(quick["datasets"])} >= {"near", "middle", "far"}


def test_sheets_come_out_ready(project):
    study = read(data_dir="corpora")
    giza = study.systems.loc[("hansards", "giza-reverse")]
    assert giza["reference"] == ["corpora/hansards-wa/test/test.wa.nonullalign"]
    assert giza["options"][-2:] == ["--output-option", "reverse=true"]
    parser = study.systems.loc[("conll2018-en_ewt", "Stanford-18")]
    assert parser["files"] == ["corpora/conll2018-ud/en_ewt.tar.xz"]
    assert parser["corpora"] == ["conll2018-ud"]
    chinese = study.datasets.loc["wmt22-en-zh"]
    assert chinese["test_sets"] == ["--initial=doubling:100", "--domain-size=400"]
    assert chinese["source"] == "embedded"
    assert study.datasets.loc["wmt23-into-english", "source"] == "pool"


def test_what_is_left_out_has_a_reason_and_is_left_out(project):
    study = read()
    rows = [line.split("\t") for line in Path("config/systems.tsv").read_text(encoding="utf-8").splitlines()]
    header = rows[0]
    left_out = [dict(zip(header, row, strict=True)) for row in rows[1:] if row[-1] == "no"]
    assert left_out
    for row in left_out:
        assert row["reason"]
        assert (row["dataset"], row["system"]) not in study.systems.index


def test_non_commercial_corpora_are_not_used():
    for path in (ROOT / "config").glob("*.tsv"):
        assert not re.search(r"-nc[\t/]", path.read_text(encoding="utf-8"))


def test_shared_tasks_have_ten_systems(project):
    study = read()
    shared = [name for name in study.datasets.index if re.match(r"wmt|conll", name)]
    for name in shared:
        members = study.datasets.loc[name, "pool"] or [name]
        systems = set.intersection(*(set(study.datasets.loc[member, "systems"]) for member in members))
        assert len(systems) >= 10, name


def test_the_readme_names_exactly_the_keys_and_columns():
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))

    def named(section):
        table = re.search(r"^\| (?:key|column) \|.*?(?=^$)", sections[section], re.MULTILINE | re.DOTALL)
        return re.findall(r"^\| `([^`]+)`", table.group(), re.MULTILINE)

    keys = []
    for key, part in schema("config")["properties"].items():
        keys += [f"{key}.{inner}" for inner in part["properties"]] if "properties" in part else [key]
    assert named("config.yaml") == keys
    for name in sheets.SHEETS:
        assert named(f"{name}.tsv") == list(schema(name)["properties"])


@pytest.mark.parametrize("name", ["config", *sheets.SHEETS])
def test_schemas_are_strict_and_described(name):
    def check(part):
        assert part["additionalProperties"] is False
        for value in part["properties"].values():
            assert value["description"]
            if "properties" in value:
                check(value)

    check(schema(name))


@pytest.mark.parametrize(
    ("sheet", "old", "new", "message"),
    [
        (
            "datasets",
            "metric",
            "metrik",
            r"line {1}: found the column 'metrik', expected one of .*; did you mean metric\?",
        ),
        ("datasets", "\tmetric", "\tdataset", r"line {1}: found the column 'dataset' twice, expected it once"),
        ("systems", "\toutput", "\treference", r"line 1: found the column 'reference' twice"),
        (
            "datasets",
            "realsumm\tsummarization\trouge2_recall",
            "realsumm\tsummarization\trouge2",
            r"line {}, column metric: found 'rouge2', expected one of .*",
        ),
        (
            "datasets",
            "realsumm\tsummarization",
            "hansards\tsummarization",
            r"column dataset: found hansards again, expected it once: it is in line {} already",
        ),
        (
            "datasets",
            "realsumm\tsummarization",
            "real summ\tsummarization",
            r"line {}, column dataset: found 'real summ', expected a name of letters",
        ),
        ("datasets", "halves=1", "halfs=1", r"line {}, column test_sets: found 'halfs=1', expected initial, .*"),
        ("datasets", "halves=1", "halves=two", r"line {}, column test_sets: found 'halves=two', expected .*"),
        ("datasets", "tokenize=zh", "tokenize", r"line {}, column options: found 'tokenize', expected KEY=VALUE"),
        (
            "datasets",
            "gain_confidence similarity",
            "gain_confidence size",
            r"line {}, column figures: found 'size', expected one of .*; did you mean sizes\?",
        ),
        (
            "datasets",
            "gain_confidence similarity\t\teach output",
            "gain_confidence sizes\t\teach output",
            r"line {}, column figures: found sizes, expected initial in the column test_sets too",
        ),
        (
            "datasets",
            "wmt22-ja-en wmt22-zh-en",
            "wmt22-ja-en wmt22-zh",
            r"line {}, column pool: found 'wmt22-zh', expected datasets of this sheet",
        ),
        (
            "datasets",
            "wmt22-ja-en wmt22-zh-en",
            "wmt22-ja-en realsumm",
            r"line {}, column pool: found realsumm, whose metric is rouge2_recall",
        ),
        (
            "datasets",
            "bleu\twmt21\t",
            "bleu\twmt20\t",
            r"line {}, column corpus: found 'wmt20', expected a name in config/corpora.tsv; did you mean wmt2\d\?",
        ),
        (
            "datasets",
            "bleu\twmt21\ttext",
            "bleu\twmt21\tconll",
            r"line {}, column reader: found 'conll', expected one of .*; did you mean conllu\?",
        ),
        (
            "systems",
            "realsumm\tbart-abs",
            "realsum\tbart-abs",
            r"line {}, column dataset: found 'realsum', expected a name in .*; did you mean realsumm\?",
        ),
        ("systems", "\tbart-ext\t", "\tbart-abs\t", r"line {}, column system: found bart-abs again, expected it once"),
        ("systems", "\tyes\n", "\tmaybe\n", r"line {}, column include: found 'maybe', expected one of yes, no"),
        (
            "systems",
            "output identical to that of KwaiNLP\tno",
            "\tno",
            r"line {}, column reason: found nothing, expected why the system is left out",
        ),
        (
            "systems",
            "\toutput identical",
            "\t\toutput identical",
            r"line {}: found 10 cells, expected 9 as in line 1",
        ),
        ("corpora", "\thttps://", "\thttp://", r"line {}, column url: found 'http://.*', expected where it is from"),
        (
            "calibrations",
            "near\tconll2017-zh",
            "near\tconll2016-zh",
            r"line {}, column on_dataset: found 'conll2016-zh', expected a name in",
        ),
        (
            "calibrations",
            "near\tconll2017-zh\thalf-1",
            "near\tconll2017-zh\tdraw-1",
            r"line {}, column on_test_set: found 'draw-1', expected whole, or what the column test_sets of .* makes",
        ),
        (
            "calibrations",
            "near\t",
            "nearby\t",
            r"line {}, column distance: found 'nearby', expected one of iid, near, middle, far; did you mean near\?",
        ),
        ("published", "\t1.10\t", "\tabout 1\t", r"line {}, column published: found 'about 1', expected the number"),
    ],
)
def test_a_mistake_in_a_sheet_gets_one_sentence(project, sheet, old, new, message):
    line = edit(sheet, old, new)
    with pytest.raises(
        InputError, match=message.replace("{}", r"\d+" if "already" in message else str(line)).replace("{1}", "1")
    ) as error:
        read()
    assert str(error.value).startswith(f"config/{sheet}.tsv, line ")
    assert "\n" not in str(error.value)


def test_a_dataset_needs_two_systems(project):
    systems = Path("config/systems.tsv")
    rows = systems.read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if not row.startswith("realsumm") or "\tbart-abs\t" in row]
    systems.write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(InputError, match=r"found realsumm has 1 system in config/systems.tsv, expected at least two"):
        read()


def test_a_missing_column_is_named(project):
    datasets = Path("config/datasets.tsv")
    rows = [row.split("\t") for row in datasets.read_text(encoding="utf-8").splitlines()]
    datasets.write_text("\n".join("\t".join(row[:1] + row[2:]) for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: found no column 'task', expected one"):
        read()


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
        ({"n_resamples": 1000}, "config: found the key 'n_resamples', expected one of source, .*"),
        (
            {"resampling": {"n_resample": 10}},
            "config: found the key 'n_resample' in resampling, expected .*; did you mean n_resamples?",
        ),
        (
            {"resampling": {"n_resamples": 0}},
            "config: resampling.n_resamples: found 0, expected a whole number of resamples",
        ),
        (
            {"resampling": {"n_resamples": "many"}},
            "config: resampling.n_resamples: found 'many', expected a whole number",
        ),
        (
            {"tests": {"exact": "gt2"}},
            "config: found the key 'exact' in tests, expected one of bootstrap, randomization",
        ),
        (
            {"tests": {"bootstrap": "gt3"}},
            "config: tests.bootstrap: found 'gt3', expected one of gt2, percentile; did you mean gt2?",
        ),
        ({"tests": {}}, "config: tests: found {}, expected the tests to run"),
        (
            {"source": "embeded"},
            "config: source: found 'embeded', expected one of embedded, derived; did you mean embedded?",
        ),
        (
            {"datasets": ["realsum"]},
            "config: datasets is 'realsum', expected 'all' or names .*; did you mean realsumm?",
        ),
        ({"datasets": "realsumm"}, "config: datasets: found 'realsumm', expected 'all' (but synthetic ones"),
        ({"sheets": {"systems": "no.tsv"}}, "no.tsv: cannot be read (No such file or directory)"),
    ],
)
def test_a_mistake_in_the_config_gets_one_sentence(project, changes, message):
    pattern = ".*".join(re.escape(part) for part in message.split(".*"))
    with pytest.raises(InputError, match=pattern) as error:
        read(**changes)
    assert "\n" not in str(error.value)
