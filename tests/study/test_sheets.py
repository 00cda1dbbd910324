"""The schemas, and the message on a mistake in the configuration or in a sheet: where, what was found and expected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from running import ROOT
from study import plan, sheets
from study.sheets import Mistake

SCHEMAS = ROOT / "workflow/schemas"
MISTAKES = yaml.safe_load((ROOT / "tests/data/mistakes_in_sheets.yaml").read_text(encoding="utf-8"))


def schema(name):
    return sheets.read_schema(SCHEMAS / f"{name}.schema.yaml")


def planned(folders, **config):
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
def test_mistakes_in_the_configuration(case):
    with pytest.raises(Mistake) as raised:
        planned([ROOT / "config"], **case["config"])
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


def test_a_dataset_needs_two_systems(own):
    (own / "systems.tsv").write_text("dataset\tsystem\toutput\nexample\ta\ta.txt\n", encoding="utf-8")
    with pytest.raises(
        Mistake, match=r"datasets.tsv, line 2, column dataset: found 1 of its systems in systems.tsv, exp"
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
    counted = found.counted("example-alignment")
    assert {system["system"] for system in counted["systems"]} == names
    assert found.trainings["example-parallel", "dice-quarter-3"].seed == 2012 + 3
    first = counted["systems"][0]
    assert (first["group"], first["kind"], counted["metric"]) == ("joint-hmm", "synthetic", "aer")
    assert counted["files"][1] == first["output"] == "<results>/outputs/example-alignment/joint-hmm-full-1.txt"
    assert "train: awk" in found.provenance("example-alignment")["base_model dice"]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(1, ["full-1", "full-2", "half-1", "half-2", "half-3", "half-4"]), (0.5, ["full-1", "half-1", "half-2"]),
     (0.1, ["half-1"]), (0.34, ["full-1", "half-1"])],
)  # fmt: skip
def test_a_share_of_the_systems_keeps_the_proportions_of_sizes(scale, expected):
    assert list(plan.sets_of({"full": 2, "half": 4}, scale)) == expected


def test_all_trainings_of_the_study_have_what_they_are_given():
    config = yaml.safe_load((ROOT / "config/retrain.yaml").read_text(encoding="utf-8"))
    found = planned([ROOT / "config"], **{key: value for key, value in config.items() if key != "pathvars"})
    assert len(found.trainings) > 700
    for (training_set, _), run in found.trainings.items():
        assert run.given is None or run.given in found.trainings, training_set
    for (dataset, system), prediction in found.predictions.items():
        assert prediction.members or (prediction.training_set, system) in found.trainings
        assert all((dataset, member) in found.predictions for member in prediction.members)
    assert all(Path(path).parts[0] == "data" for path in found.prepared("ewt")["read"])
