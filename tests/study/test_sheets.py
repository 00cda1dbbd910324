"""The schemas, and the message on a mistake in the configuration or in a sheet: where, what was found and expected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from pairsig.io.choices import options_of
from pairsig.metrics import registry
from pairsig.readers import extraction, options
from running import ROOT
from study import plan, sheets
from study.corpora import outcomes
from study.sheets import Mistake

SCHEMAS = ROOT / "workflow/schemas"
MISTAKES = yaml.safe_load((ROOT / "tests/data/mistakes_in_sheets.yaml").read_text(encoding="utf-8"))


def schema(name):
    return sheets.read_schema(SCHEMAS / f"{name}.schema.yaml")


def planned(folders=(ROOT / "config",), **config):
    """Check a configuration and its sheets as the workflow does."""
    checked = sheets.check_config({"sheets": [str(folder) for folder in folders], **config}, schema("config"))
    return plan.Plan(checked, sheets.read(checked["sheets"], schema))


@pytest.fixture
def own(tmp_path):
    """A folder with the sheets of the worked examples, which can be edited."""
    shutil.copytree(ROOT / "config/example", tmp_path / "own")
    return tmp_path / "own"


def test_the_sheets_of_the_study_and_of_the_examples_are_right():
    found = planned([ROOT / "config", ROOT / "config/example"])
    assert len(found.selected) > 80
    assert found.source("example") == "counted"
    assert found.source("example-scores") == "counted"
    assert found.source("wmt10-de-en") == "embedded"
    assert found.source("conll2018-all") == "pool"


def test_every_dataset_has_a_reader_and_options_that_exist():
    for name, row in planned([ROOT / "config", ROOT / "config/example"]).datasets.items():
        if row.get("reader") in outcomes.READERS:
            known = {*options_of(outcomes.READERS[row["reader"]])}
        elif row.get("reader") == "table":
            known = {*options.OPTIONS}
        else:
            metric = registry.metric(row["metric"])
            known = extraction.options_for(extraction.reader_for(metric, row.get("reader")), metric)
        assert {*sheets.pairs(row.get("options", ""))} <= known, name


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_key_has_a_description_and_its_example_or_default_is_valid(path):
    of = sheets.read_schema(path)
    of.check_schema(of.schema)
    for name, key in of.schema["properties"].items():
        assert key["description"], name
        for example in key.get("examples", []) if "pattern" in key and "…" not in str(key["examples"]) else []:
            sheets.read_schema(path).evolve(schema=key).validate(example)


def test_every_key_of_the_configuration_has_a_default():
    checked = sheets.check_config({}, schema("config"))
    assert set(schema("config").schema["properties"]) == {*checked, "pathvars"}
    assert checked["resampling"] == {
        "n_resamples": 10**6,
        "n_resamples_resized": 25_000,
        "seed": 2012,
    }


@pytest.mark.parametrize("case", MISTAKES["config"], ids=lambda case: str(case["config"])[:50])
def test_mistakes_in_the_configuration(case, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(Mistake) as raised:
        planned(**case["config"])
    assert case["message"] in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("case", MISTAKES["sheets"], ids=lambda case: f"{case['sheet']} {case['new'][:40]}")
def test_mistakes_in_sheets(own, case):
    name, old, new, message = case.values()
    text = (own / name).read_text(encoding="utf-8")
    assert old in text
    (own / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(Mistake) as raised:
        planned([ROOT / "config", own], retrain=True)
    assert str(raised.value).startswith(str(own / name))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("published.tsv", "printed:tac08:all", "printd:tac08:all", "column compared_with: found 'printd:tac08:all'"),
        ("published.tsv", "printed:tac08:all", "printed:tac80:all", "column compared_with: found 'tac80', expected a"),
        ("published.tsv", "share:constituency:", "share:konstituency:", "did you mean constituency?"),
        ("calibrations.tsv", "mt-hansards\tdraw", "mt-hansard\tdraw", "column on_dataset: found 'mt-hansard', exp"),
        ("families.tsv", "mt-*\twhole", "tm-*\twhole", "column dataset: found 'tm-*', expected names in datasets.tsv"),
    ],
)
def test_what_sheets_of_analyses_name_exists(tmp_path, name, old, new, message):
    """A misspelt name would only leave rows out."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    text = (tmp_path / "config" / name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "config" / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(Mistake) as raised:
        planned([tmp_path / "config"])
    assert name in str(raised.value)
    assert message in str(raised.value)


def test_a_byte_that_is_not_utf8_is_named(own):
    (own / "datasets.tsv").write_bytes((own / "datasets.tsv").read_bytes() + b"caf\xe9")
    with pytest.raises(Mistake, match=r"datasets.tsv: found the byte 0xe9, expected text in UTF-8"):
        planned([ROOT / "config", own])


def test_a_dataset_needs_two_systems(own):
    (own / "systems.tsv").write_text("dataset\tsystem\toutput\nexample\ta\ta.txt\n", encoding="utf-8")
    with pytest.raises(
        Mistake, match=r"datasets.tsv, line 2, column dataset: found 1 of its systems in systems.tsv, exp"
    ):
        planned([ROOT / "config", own])


def test_a_system_has_a_reference_of_its_own_only_if_its_dataset_has_none(own):
    lines = "".join(f"example\t{name}\t{name}.txt\t{reference}\n" for name, reference in (("a", ""), ("b", "r.txt")))
    (own / "systems.tsv").write_text(f"dataset\tsystem\toutput\treference\n{lines}", encoding="utf-8")
    with pytest.raises(
        Mistake, match=r"line 3, column reference: found 'r.txt', expected nothing, since its dataset has a reference"
    ):
        planned([ROOT / "config", own])


def test_a_system_is_left_out_for_a_reason(own):
    with (own / "systems.tsv").open("w", encoding="utf-8") as file:
        file.write("dataset\tsystem\toutput\tinclude\treason\nexample\ta\ta.txt\tno\t\n")
    with pytest.raises(
        Mistake, match="line 2, column reason: found nothing, expected the reason why the system is left"
    ):
        planned([ROOT / "config", own])


def test_a_pool_has_members_of_its_metric(own):
    with (own / "datasets.tsv").open("w", encoding="utf-8") as file:
        file.write("dataset\ttask\tmetric\tpool\np\tmt\tbleu\twmt10-de-en hansards\n")
    (own / "systems.tsv").unlink()
    (own / "training_sets.yaml").unlink()
    with pytest.raises(
        Mistake, match="column pool: found hansards, expected datasets with the metric bleu that are no"
    ):
        planned([ROOT / "config", own])


def test_a_byte_order_mark_and_blank_lines_are_no_mistake(own):
    text = (own / "datasets.tsv").read_text(encoding="utf-8")
    (own / "datasets.tsv").write_text("\ufeff" + text + "\n\n", encoding="utf-8")
    assert "example" in planned([ROOT / "config", own]).selected


def test_systems_are_base_models_on_resampled_sets(own):
    found = planned([ROOT / "config", own], retrain=True, datasets=["example-alignment"])
    names = {
        f"{model}-{size}-{k}" for model in ("dice", "joint-hmm") for size in ("full", "quarter") for k in range(1, 5)
    }
    files, counted = found.count("example-alignment")
    assert {system["system"] for system in counted["systems"]} == names
    first = counted["systems"][0]
    assert (first["group"], first["kind"], counted["metric"]) == ("joint-hmm", "synthetic", "aer")
    assert files["files"][1] == first["output"] == "<results>/outputs/example-alignment/joint-hmm-full-1.txt"
    assert "train: awk" in found.provenance("example-alignment")["base_model dice"]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1, ["full-1", "full-2", "half-1", "half-2", "half-3", "half-4"]), (0.5, ["full-1", "half-1", "half-2"]),
     (0.1, ["half-1"]), (0.34, ["full-1", "half-1"])],
)  # fmt: skip
def test_a_share_of_the_systems_keeps_the_proportions_of_sizes(scale, expected):
    assert plan.sets_of({"full": 2, "half": 4}, scale) == expected


def test_all_trainings_of_the_study_have_what_they_are_given():
    config = yaml.safe_load((ROOT / "config/retrain.yaml").read_text(encoding="utf-8"))
    found = planned([ROOT / "config"], **{key: value for key, value in config.items() if key != "pathvars"})
    assert sum(len(found.retrained(dataset)) for dataset in found.selected) > 1500
    assert found.given("hansards-links", "itg") == ["<results>/models/hansards/joint-hmm-whole-1"]
    ensemble = found.predicted_from("ewt-test", "ensemble", "half-2")
    assert ensemble["model"] == ensemble["given"] == []
    assert len(ensemble["members"]) == 5
    assert "<results>/outputs/ewt-test/malt-standard-half-2.txt" in ensemble["members"]
    alone = {"members": [], "model": ["<results>/models/ewt/malt-half-2"], "given": []}
    assert found.predicted_from("ewt-test", "malt", "half-2") == alone
    files, _ = found.prepare("training_sets", "ewt")
    assert all(Path(path).parts[0] == "data" for path in files["files"])


def test_a_dataset_and_a_training_set_may_have_the_same_name(own):
    for name in ("datasets.tsv", "training_sets.yaml"):
        text = (own / name).read_text(encoding="utf-8")
        text = text.replace("example-parallel", "mine").replace("example-alignment", "mine")
        (own / name).write_text(text, encoding="utf-8")
    (own / "base_models.yaml").unlink()
    text = (own / "training_sets.yaml").read_text(encoding="utf-8").replace("[dice, joint-hmm]", "[joint-hmm]")
    (own / "training_sets.yaml").write_text(text, encoding="utf-8")
    found = planned([ROOT / "config", own], retrain=True, datasets=["mine"])
    assert found.prepare("training_sets", "mine")[0]["files"][0] == "config/example/parallel.en"
    assert found.prepare("datasets", "mine")[0]["files"][0] == "config/example/parallel-test.en"


def test_members_of_an_ensemble_predict_where_it_is_tested(own):
    with (own / "base_models.yaml").open("a", encoding="utf-8") as file:
        file.write("both:\n  task: alignment\n  predict: vote {outputs} > {output}\n  members: [dice, joint-hmm]\n")
    text = (own / "base_models.yaml").read_text(encoding="utf-8")
    (own / "base_models.yaml").write_text(text.replace("[example-alignment]", "[hansards-110]"), encoding="utf-8")
    text = (own / "training_sets.yaml").read_text(encoding="utf-8").replace("[dice, joint-hmm]", "[both]")
    (own / "training_sets.yaml").write_text(text, encoding="utf-8")
    found = planned([ROOT / "config", own], retrain=True, datasets=["example-alignment"])
    assert {model for model, _ in found.retrained("example-alignment")} == {"joint-hmm", "both"}
    assert found.predicted_from("example-alignment", "dice", "full-1")["model"]
    text = (own / "base_models.yaml").read_text(encoding="utf-8").replace("mem_mb: 500", "include: no")
    (own / "base_models.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Mistake, match="base model both, key members: found 'dice', expected trained base models of"):
        planned([ROOT / "config", own], retrain=True)


def test_all_datasets_are_those_with_systems():
    folders = [ROOT / "config", ROOT / "config/example"]
    assert "example-alignment" not in planned(folders).selected
    assert "example-alignment" in planned(folders, retrain=True).selected
