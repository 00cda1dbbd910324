"""The memory needed is reported or refused before any computation; less memory only takes more time."""

import gc
import os
import platform
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import simulate
from pairsig import InputError, Statistics, cli
from pairsig.comparisons import all_pairs
from pairsig.core import definitions, engine, statistics
from pairsig.io import memory
from pairsig.metrics import registry
from pairsig.stats import pass_fail
from running import ROOT

MIB = 2**20


def items(n_systems=12, n_items=400, seed=1):
    rng = np.random.default_rng(seed)
    passed = rng.random((n_systems, n_items)) < np.linspace(0.4, 0.6, n_systems)[:, None]
    counts = np.stack([passed, np.ones_like(passed)], axis=2).astype(np.int64)
    return Statistics.from_arrays({f"s{row}": own for row, own in enumerate(counts)}, ["correct", "total"])


def data(metric, n_systems=12):
    if metric == "accuracy":
        return items(n_systems)
    return simulate.statistics(metric, n_systems=n_systems, n_segments=400, spread=0.02)


class Told(memory.Memory):
    """So many bytes are left, whatever the process takes."""

    left = property(lambda self: self.limit)


CASES = [
    ("f1", "bootstrap"), ("accuracy", "bootstrap"), ("bleu", "randomization"), ("accuracy", "exact"),
    ("mean", "exact-bootstrap"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "test"), CASES)
def test_the_table_is_the_same_in_little_memory(metric, test, monkeypatch):
    exact = definitions.find(test).exact
    given = data(metric, 6 if exact or metric == "bleu" else 12)  # pairs of these take longer
    if metric == "mean":  # a tenth each, which the exact tests need
        given = replace(given, counts=np.rint(given.counts * 10) / 10)
    arguments = {"metric": metric, "n_resamples": 150, "rng": 3, "threads": 2}
    if metric in ("accuracy", "mean"):  # near-exact shuffles take long here; the other metrics have them
        arguments["estimator"] = "plain"
    whole = all_pairs.compare(given, test, **arguments)
    seen, refused = [], []
    enough = 2 if exact else 5  # without drawing all that little memory changes is the threads
    monkeypatch.setattr(engine, "_SHUFFLED_ELEMENTS", 64)
    if metric != "accuracy":
        monkeypatch.setattr(all_pairs, "exact_bytes", lambda *_: 0)
    monkeypatch.setattr(pass_fail, "PRODUCT_ELEMENTS", 100)
    for left in range(8_000, 400_000, 8_000):
        try:
            little = all_pairs.compare(given, test, **arguments, memory=Told(left), note=seen.append)
        except InputError as error:
            refused.append(str(error))
            continue
        pd.testing.assert_frame_equal(little, whole, check_exact=True)
        if len(seen) == enough:
            break
    assert refused
    assert all("of memory are needed" in message for message in refused)
    assert len(seen) == enough
    assert all("of memory in addition to" in message for message in seen)
    if not exact:
        assert "columns of systems at a time" in seen[0]


@pytest.mark.parametrize(("metric", "test"), [("accuracy", "bootstrap"), ("bleu", "randomization")])
def test_needed_memory_stays_within_the_plan(metric, test, monkeypatch):
    """What is allocated while drawing is no more than was planned, and in the memory that was given."""
    given = simulate.statistics(metric, n_systems=40, n_segments=3000)
    chosen, kind = registry.metric(metric), definitions.find(test)
    scorer = engine.Scorer(given.of(chosen), chosen)
    all_pairs = np.column_stack(np.triu_indices(40, k=1))
    scorer.exceedances(all_pairs[:3], kind, engine.Resampling(10))  # compile
    for size in (500 * MIB, 150 * MIB, 50 * MIB):
        scorer = engine.Scorer(given.of(chosen), chosen)
        resampling = engine.Resampling(2000, threads=2, memory=size)
        plan = engine.Work.of(scorer.product, kind, resampling, 2000)
        assert plan.n_bytes <= size
        tracemalloc.start()
        scorer.exceedances(all_pairs, kind, resampling)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= plan.n_bytes + 2 * MIB


def test_the_collector_runs_again_after_reading():
    with memory.without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide by themselves what they keep")
def test_the_memory_of_a_batch_serves_the_next():
    """The system hands out pages once, not for every batch: without that, 4,000 pages for each of ten."""
    code = """
import resource
import simulate
from pairsig.comparisons import all_pairs
data = simulate.statistics("f1", n_systems=40, n_segments=600)
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    all_pairs.compare(data, "randomization", n_resamples=10 * 1024, estimator="plain", threads=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    _, *again = map(int, printed.stdout.split())
    assert max(again) < 10 * 400


@pytest.mark.parametrize("n_bytes", [None, 55_000])
def test_the_plan_is_the_documented_sum(n_bytes):
    """`Work`: u·n·s + t·r·((n + m + u + 3v)·s + c·N·(s + 8 + 24)), and t·h·n·s for columns that are prepared again."""
    given = items(n_systems=12, n_items=400)
    product = engine.Scorer(given.of(registry.metric("accuracy")), registry.metric("accuracy")).product
    u, n, s, c, n_systems = 13, 400, 4, 2, 12  # a column of each system and the shared number of items; no derived ones
    found = engine.Work.of(
        product, definitions.find("bootstrap"), engine.Resampling(5000, threads=2, memory=n_bytes), 5000
    )
    t, r, h = found.n_threads, found.n_rows, found.n_in_memory
    columns = u * n * s if h == u else t * h * n * s
    assert found.n_bytes == columns + t * r * ((n + u) * s + c * n_systems * (s + 8 + 24))
    assert (h < u) == (n_bytes is not None)


def test_too_little_is_refused_before_anything_is_drawn(monkeypatch):
    monkeypatch.setattr(engine, "for_each_batch", None)
    for metric, test in CASES:
        with pytest.raises(InputError, match=r"at least [0-9]+ MiB of memory are needed, and [0-9]+ MiB are left"):
            all_pairs.compare(data(metric), test, metric=metric, memory=1 * MIB)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1K", 1024), ("500M", 500 * MIB), ("1.5G", 1536 * MIB), ("2 GiB", 2048 * MIB), ("3gb", 3072 * MIB)],
)
def test_sizes(text, expected):
    assert memory.parse(text) == memory.Memory.of(text).limit == expected


@pytest.mark.parametrize("wrong", ["", "4", "-4G", "4X", "G", "nanG", "1e3G", 0, -1, True, 2.5])
def test_what_is_no_size(wrong):
    with pytest.raises(InputError, match=r"found the memory .*, expected .*500M or 4G"):
        memory.Memory.of(wrong)


class TestReading:
    @pytest.mark.parametrize("n_rows", [1, 7, 1000])
    def test_groups_of_rows_are_put_together(self, n_rows, tmp_path):
        """Rows in any order, names that are numbers, categories, missing labels: as the table in memory."""
        given = simulate.statistics("f1", n_systems=4, n_segments=12, document_size=7, n_groups=2)
        table = given.to_table().sample(frac=1, random_state=1)
        table["segment"] = table["segment"].astype(int)
        table["kind"] = None
        # With the index, which is no count.
        table.to_parquet(tmp_path / "x.parquet", row_group_size=n_rows)
        expected = Statistics.from_table(table, dataset="x")
        for room in (None, memory.Memory.of("8G")):
            read = statistics.read(tmp_path / "x.parquet", memory=room)
            assert read.columns == expected.columns == given.columns
            for name in ("systems", "groups", "kinds", "segments", "documents", "domains", "counts"):
                np.testing.assert_array_equal(getattr(read, name), getattr(expected, name))

    def test_small_integers_take_few_bytes(self, tmp_path):
        for largest, dtype in ((1, "int8"), (127, "int8"), (128, "int16"), (2**31, "int64")):
            table = pd.DataFrame({"system": ["a", "a", "b", "b"], "segment": [1, 2, 1, 2], "x": [0, 1, largest, 0]})
            table.to_parquet(tmp_path / "x.parquet")
            read = statistics.read(tmp_path / "x.parquet", memory=memory.Memory.of("8G"))
            assert read.counts.dtype == dtype
            assert read.counts.ravel().tolist() == [0, 1, largest, 0]

    @pytest.mark.parametrize(
        ("row", "change", "message"),
        [
            (17, {"correct": np.nan}, "row 18: correct is empty or NaN, expected a number"),
            (17, {"segment": "17"}, "row 18: found segment 17 of system s0 again, expected it once"),
        ],
    )
    def test_what_is_wrong_in_a_later_group_of_rows(self, row, change, message, tmp_path):
        table = items(3, 20).to_table().astype({"system": str, "group": str, "kind": str})
        for column, cell in change.items():
            if column == "correct":
                table[column] = table[column].astype(float)
            table.loc[row, column] = cell
        table.to_parquet(tmp_path / "x.parquet", row_group_size=6)
        with pytest.raises(InputError, match=message):
            statistics.read(tmp_path / "x.parquet")

    def test_a_file_too_large_is_refused(self, tmp_path):
        statistics.write(items(50, 1000), tmp_path / "x.parquet")
        with pytest.raises(InputError, match=r"reading .*x\.parquet: at least [0-9] MiB of memory are needed, and 0"):
            statistics.read(tmp_path / "x.parquet", memory=memory.Memory(1))
        items(3, 10).to_table().to_csv(tmp_path / "x.tsv", sep="\t", index=False)
        with pytest.raises(InputError, match=r"reading .*x\.tsv .*: at least 1 MiB of memory"):
            statistics.read(tmp_path / "x.tsv", memory=memory.Memory(1))


class TestCommand:
    def test_it_says_what_is_needed(self, tmp_path, capsys):
        statistics.write(items(3, 40), tmp_path / "x.parquet")
        command = ["all-pairs", str(tmp_path / "x.parquet"), "--n-resamples", "100", "--output"]
        assert cli.main([*command, str(tmp_path / "a.tsv")]) == 0
        assert capsys.readouterr().err == ""
        assert cli.main([*command, str(tmp_path / "b.tsv"), "--memory", "8G"]) == 0
        assert "pairsig: note: 3 systems on 40 units need " in capsys.readouterr().err
        assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()

    @pytest.mark.parametrize("size", ["1M", "1K"])
    def test_too_little(self, size, tmp_path, capsys):
        statistics.write(items(), tmp_path / "x.parquet")
        output = tmp_path / "a.tsv"
        assert cli.main(["all-pairs", str(tmp_path / "x.parquet"), "--output", str(output), "--memory", size]) == 2
        assert "of memory are needed, and 0 MiB are left" in capsys.readouterr().err
        assert not output.exists()
