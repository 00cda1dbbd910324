"""The statistics that the project carries: whole, plausible, and the same when they are derived again."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from pairsig import cli
from pairsig.core import statistics
from pairsig.metrics import registry
from study import cli as study_cli
from study import sheets
from study.sheets import checks
from study.sheets.embedded import systems as kept

ROOT = Path(__file__).parents[2]
STATISTICS = sorted((ROOT / "resources/statistics").glob("*.parquet"))

COPY = "koc-combo-secondary-competitivetrans"
BOTH_COUNTED = {
    "wmt10-de-en": [("kit", COPY)],
    "wmt10-en-de": [(COPY, "uppsala")],
    "wmt10-en-es": [("dcu", COPY)],
    "wmt10-en-fr": [(COPY, "rwth")],
}
"""Equal outputs that are both kept, because the paper counts both (on the first of these test sets)."""


def study(monkeypatch, **changes):
    monkeypatch.chdir(ROOT)
    config = yaml.safe_load(Path("config/config.yaml").read_text()) | changes
    sheets.check_config(config)
    return sheets.read(config)


def test_they_are_small_enough_to_carry():
    assert sum(path.stat().st_size for path in STATISTICS) < 40e6
    assert sum(path.stat().st_size for path in STATISTICS if path.stem.startswith("mt-")) < 6e6


@pytest.mark.slow
def test_they_are_those_of_the_sheets(monkeypatch):
    ready = study(monkeypatch)
    selected = {
        name: dataset for name, dataset in ready.datasets.items() if dataset.selected and dataset.source == "embedded"
    }
    assert sorted(path.stem for path in STATISTICS) == sorted(selected)
    for path in STATISTICS:
        data = statistics.read(path)
        known = set(selected[path.stem].systems)
        if selected[path.stem].study == "benchmark":  # its outcomes name its systems
            assert not known
        elif set(data.kinds) == {"synthetic"}:  # perhaps fewer: the scale, or base models that failed
            assert set(data.systems) <= known
            assert {"training_set", "resampled", "date"} <= set(data.provenance)
            assert {f"base_model {group}" for group in data.groups} <= set(data.provenance)
        else:
            assert set(data.systems) == known
        # Two trainings may give the same outputs for a hundred segments. Published systems must all differ.
        most = len(data.systems) // 50 if set(data.kinds) == {"synthetic"} else 0
        assert data.duplicates() == BOTH_COUNTED.get(data.dataset, []) or len(data.duplicates()) <= most
        assert {"corpus", "url", "sha256", "licence", "command", "versions"} <= set(data.provenance)
        metric = registry.metric(selected[path.stem].metric)
        scores = metric.score(data.of(metric).sum(axis=1))
        assert (scores > 0).all()
        assert (scores < 100).all()


def test_published_alignment_error_rates():
    """AER that other people's programs printed beside their alignments (hansards: lilt's and IBM models' tables)."""
    data = statistics.read(ROOT / "resources/statistics/hansards.parquet")
    aer = registry.metric("aer")
    scores = dict(zip(data.systems, aer.score(data.of(aer).sum(axis=1)), strict=True))
    assert round(scores["giza-grow-diagonal"], 1) == 5.9
    assert round(max(scores.values()), 1) == 28.9


@pytest.mark.parametrize("dataset", ["craft-test", "icepahc-23", "icepahc-domains", "icepahc-modern"])
def test_no_parser_failed_where_there_was_something_to_find(dataset):
    """The sentences that evalb skips are those without words but punctuation, for every system the same.

    But for Berkeley's parser, which finds no parse of a sentence or two.
    """
    data = statistics.read(ROOT / f"resources/statistics/{dataset}.parquet")
    status, gold = (data.counts[:, :, data.columns.index(name)] for name in ("status", "gold"))
    berkeley = np.array(data.groups) == "berkeley"
    assert (status[~berkeley] == status[0]).all()
    assert not gold[~berkeley][status[~berkeley] != 0].any()
    assert (status[berkeley] != status[0]).sum(axis=1).max(initial=0) <= 2


@pytest.mark.data
@pytest.mark.parametrize(
    ("dataset", "n_systems"),
    [
        ("hansards", 3),
        ("realsumm", 2),
        ("wmt21-en-ja", 1),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in ("wmt21-ru-en", "wmt24-en-es", "conll2018-zh_gsd")),
    ],
)
def test_derived_again_they_are_equal(dataset, n_systems, data_dir, tmp_path, monkeypatch):
    embedded = statistics.read(ROOT / f"resources/statistics/{dataset}.parquet")
    ready = study(monkeypatch, source="derived", data_dir=str(data_dir), datasets=[dataset])
    for system in embedded.systems[:: len(embedded.systems) // n_systems][:n_systems]:
        row = ready.systems[dataset, system]
        argv = ["extract", row.output, "--reference", *row.reference, "--metric", row.metric, *row.options]
        assert cli.main([*argv, "--system", system, "--output", str(tmp_path / "counts.parquet")]) == 0
        derived = statistics.read(tmp_path / "counts.parquet")
        mine = embedded.select(systems=[system])
        assert derived.columns == mine.columns
        for name in ("segments", "documents", "domains", "counts"):
            np.testing.assert_array_equal(getattr(derived, name), getattr(mine, name))
        assert (derived.groups, derived.kinds) == (mine.groups, mine.kinds)


@pytest.mark.data
@pytest.mark.parametrize("dataset", ["llmbar", "mmlu-pro"])
def test_benchmarks_counted_again_are_equal(dataset, data_dir, tmp_path, monkeypatch):
    ready = study(monkeypatch, source="derived", data_dir=str(data_dir), datasets=[dataset]).datasets[dataset]
    output = tmp_path / "counts.parquet"
    argv = ["count", *ready.outcomes, *ready.counting, "--dataset", dataset, *ready.provenance]
    assert study_cli.main([*argv, "--output", str(output)]) == 0
    assert output.read_bytes() == (ROOT / f"resources/statistics/{dataset}.parquet").read_bytes()


def test_retrain_missing_goes_on_from_all_that_is_embedded(monkeypatch):
    """What counts depend on is stated as in a run of today; package versions are those of the machine that trains."""
    config = yaml.safe_load((ROOT / "config/retrain.yaml").read_text(encoding="utf-8"))
    monkeypatch.setattr(checks, "check_programs", lambda *_: None)
    monkeypatch.setattr(checks, "check_file", lambda *_: None)
    ready = study(monkeypatch, retrain=True, data_dir="corpora", datasets=config["datasets"])
    trained = [name for name in config["datasets"] if any(name == dataset for dataset, _ in ready.predictions)]
    assert len(trained) == 14
    for dataset in trained:
        path = ROOT / f"resources/statistics/{dataset}.parquet"
        stated = dict(word.split("=", 1) for word in ready.datasets[dataset].provenance if "=" in word)
        provenance = json.loads(pq.read_schema(path).metadata[b"provenance"])
        stated |= {key: value for key, value in provenance.items() if key.startswith("base_model ")}
        systems = pq.read_table(path, columns=["system"])["system"].unique().to_pylist()
        assert sorted(kept(path, stated)) == sorted(systems), dataset


def test_another_number_of_systems_keeps_a_base_model(monkeypatch, tmp_path):
    """A base model is the same whatever training sets it gets (`sizes`), and another one for any other change."""
    path = tmp_path / "counts.parquet"
    whole = statistics.read(ROOT / "resources/statistics/hansards.parquet")
    model = whole.groups[0]
    statistics.write(replace(whole, provenance=whole.provenance | {f"base_model {model}": "a; sizes: 1, 2"}), path)
    stated = dict(statistics.read(path).provenance)
    of_model = {name for name, group in zip(whole.systems, whole.groups, strict=True) if group == model}
    assert of_model
    for described, same in [("a; sizes: 1", True), ("a; sizes: 1, 2, 3", True), ("b; sizes: 1, 2", False)]:
        assert of_model.issubset(kept(path, stated | {f"base_model {model}": described})) == same, described
