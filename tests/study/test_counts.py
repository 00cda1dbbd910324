"""Counts of all systems of a dataset: those that are left out, and what stops the study."""

import json
import tarfile

import numpy as np
import pytest

from pairsig import InputError
from pairsig.core import statistics
from running import ROOT
from study import plan, sheets
from study.corpora import counts
from study.training.omission import Omission

GOLD = "0-0\n0-0 1-1\n"


@pytest.fixture
def count(tmp_path):
    """Count alignments of systems by name, and return their statistics."""

    def run(links, kind="synthetic", **others):
        (tmp_path / "gold").write_text(GOLD, encoding="utf-8")
        systems = []
        for name, text in links.items():
            output = tmp_path / name
            output.write_text(text, encoding="utf-8") if isinstance(text, str) else text.write(output)
            system = {"system": name, "group": "g", "kind": kind, "output": str(output), "output_options": {}}
            systems.append(system | {"references": [str(tmp_path / "gold")]})
        how = {"reader": None, "metric": "aer", "options": {}, "tables": [], "documents": None, "provenance": {}}
        counts.count("d", str(tmp_path / "d.parquet"), systems=systems, **how | others)
        return statistics.read(tmp_path / "d.parquet")

    return run


def test_systems_without_outputs_or_with_broken_ones_are_left_out(count, tmp_path, capsys):
    (tmp_path / "documents").write_text("news\ta\nnews\tb\n", encoding="utf-8")
    data = count(
        {"bad": Omission("train", "no\nluck"), "good": "0-0\n0-0\n", "short": "0-0\n", "fair": "0-0\n0-1\n"},
        documents=str(tmp_path / "documents"), provenance={"training_set x": "files: a", "licence": "MIT"},
    )  # fmt: skip
    assert (data.dataset, data.systems, data.groups, data.kinds) == (
        "d",
        ("good", "fair"),
        ("g",) * 2,
        ("synthetic",) * 2,
    )
    assert (data.documents.tolist(), data.domains.tolist()) == (["a", "b"], ["news", "news"])
    reasons = {of["system"]: f"{of['stage']}: {of['reason']}" for of in data.omissions}
    assert reasons["bad"] == "train: no luck"
    assert "short has 1 segments" in reasons["short"]
    assert "dataset d: system short is left out: count: " in capsys.readouterr().err
    assert (data.provenance["licence"], data.provenance["date"][:2]) == ("MIT", "20")
    assert "pairsig" in data.provenance["versions"]
    assert "reader:alignment" in data.provenance["settings"]
    with pytest.raises(InputError, match=r"all 1 systems are left out, .*; the first: no luck"):
        count({"bad": Omission("train", "no luck")})


def test_a_broken_output_of_a_published_system_stops_the_study(count):
    with pytest.raises(InputError, match="short has 1 segments"):
        count({"good": GOLD, "short": "0-0\n"}, kind="")
    with pytest.raises(InputError, match=r"record, line 1"):
        count({"good": GOLD, "record": json.dumps({"pairsig": "left out"})}, kind="")


def test_references_of_systems_have_the_same_segments(tmp_path):
    systems = []
    for name, n_lines in (("a", 2), ("b", 3)):
        (tmp_path / name).write_text("x y\n" * n_lines, encoding="utf-8")
        path = str(tmp_path / name)
        systems.append({"system": name, "group": "", "kind": "", "output": path, "references": [path]})
    with pytest.raises(InputError, match="b has 3 segments, a has 2, expected the same segments of all references"):
        counts.of_outputs(systems, metric="bleu", options={})


def test_files_in_another_folder_and_members_of_archives(tmp_path):
    (tmp_path / "links").write_text(GOLD, encoding="utf-8")
    with tarfile.open(tmp_path / "here.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "links", "links")
    system = {"system": "a", "output": "far.tar.xz!links", "references": ["far.tar.xz!links"]}
    counting = {"tables": ["far.tsv"], "documents": None, "systems": [system], "metric": "aer"}
    places = {"far.tar.xz": str(tmp_path / "here.tar.xz"), "far.tsv": "near.tsv"}
    placed = counts.placed(counting, places)
    assert (placed["tables"], placed["documents"], placed["metric"]) == (["near.tsv"], None, "aer")
    assert counts.of_outputs(
        [placed["systems"][0] | {"group": None, "kind": ""}], metric="aer", options={}
    ).counts.shape == (1, 2, 4)


@pytest.mark.data
@pytest.mark.parametrize(
    "dataset", ["realsumm", "hansards", "wmt24-en-cs", "conll2017-zh", "llmbar", "bfcl", "terminal-bench", "tac11"]
)
def test_counts_of_public_files_are_the_embedded_ones(dataset, data_dir, tmp_path):
    def schema(name):
        return sheets.read_schema(ROOT / f"workflow/schemas/{name}.schema.yaml")

    config = {"sheets": [str(ROOT / "config")], "source": "derived", "data_dir": str(data_dir)}
    config = sheets.check_config(config, schema("config"))
    _, counting = plan.Plan(config, sheets.read(config["sheets"], schema)).count(dataset)
    counting.pop("files")
    counts.count(dataset, str(tmp_path / "d.parquet"), provenance={}, **counting)
    made = statistics.read(tmp_path / "d.parquet")
    embedded = statistics.read(ROOT / f"resources/statistics/{dataset}.parquet")
    for name in ("systems", "groups", "kinds", "omissions", "columns"):
        assert getattr(made, name) == getattr(embedded, name), name
    for name in ("segments", "documents", "domains", "counts"):
        np.testing.assert_array_equal(getattr(made, name), getattr(embedded, name), err_msg=name)
