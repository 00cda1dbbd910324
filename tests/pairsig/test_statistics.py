"""The container of statistics: round trips, what it refuses, and what summing over documents does."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulate
from conftest import examples
from pairsig import InputError, Statistics
from pairsig.core import statistics
from pairsig.metrics import registry

FIELDS = ("systems", "groups", "kinds", "columns", "runs")
ARRAYS = ("segments", "documents", "domains", "counts")


def assert_same(one: Statistics, other: Statistics) -> None:
    for field in FIELDS:
        assert getattr(one, field) == getattr(other, field), field
    for field in ARRAYS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), strict=field == "counts")


def message(*words: str) -> str:
    """A pattern for a message in which all words occur, in this order."""
    return ".*".join(re.escape(word) for word in words)


# No control characters (tables refuse them) and no NUL; anything else may name a system or a document.
names = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=6).filter(str.strip)


@st.composite
def all_statistics(draw):
    systems = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    segments = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    columns = draw(st.lists(st.sampled_from(["matched", "predicted", "gold", "value"]), min_size=1, unique=True))
    shape = len(systems), len(segments), len(columns)
    whole = draw(st.booleans())
    numbers = st.integers(-(2**53), 2**53) if whole else st.floats(allow_nan=False, allow_infinity=False)
    flat = draw(st.lists(numbers, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    texts = st.lists(st.one_of(st.just(""), names), min_size=len(segments), max_size=len(segments))
    return Statistics(
        dataset=draw(names),
        systems=tuple(systems),
        groups=tuple(draw(names) for _ in systems),
        kinds=tuple(draw(st.one_of(st.just(""), names)) for _ in systems),
        segments=np.array(segments),
        documents=np.array(draw(texts)),
        domains=np.array(draw(texts)),
        columns=tuple(columns),
        counts=np.array(flat, dtype=np.int64 if whole else np.float64).reshape(shape),
        provenance=draw(st.dictionaries(names, names, max_size=2)),
    )


class TestRoundTrip:
    def test_a_name_may_end_in_a_hyphen(self, tmp_path):
        data = Statistics.from_arrays({name: np.ones((1, 1)) for name in ("a-", "a", "-")}, ["value"], dataset="x")
        assert data.methods == data.systems
        statistics.write(data, tmp_path / "x.parquet")
        assert_same(statistics.read(tmp_path / "x.parquet"), data)

    @examples(12)
    @given(given_statistics=all_statistics())
    def test_file(self, tmp_path, given_statistics):
        path = tmp_path / "some.statistics.parquet"
        statistics.write(given_statistics, path)
        restored = statistics.read(path)
        assert_same(restored, given_statistics)
        assert (restored.dataset, restored.provenance) == (given_statistics.dataset, given_statistics.provenance)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]

    def test_the_caller_may_name_the_dataset(self, tmp_path):
        statistics.write(simulate.statistics("f1", n_systems=2, n_segments=3), tmp_path / "x.parquet")
        assert statistics.read(tmp_path / "x.parquet").dataset == "simulated"
        assert statistics.read(tmp_path / "x.parquet", dataset="other").dataset == "other"

    def test_integers_take_few_bytes_in_a_file_and_eight_when_read(self, tmp_path):
        largest = [127, 128, -128, 2**15, 2**31, 2**53]
        columns = [f"c{index}" for index in range(len(largest))]
        counts = np.array([[[0] * 6, largest], [largest, [1] * 6]], dtype=np.int64)
        given = Statistics.from_arrays({"a": counts[0], "b": counts[1]}, columns, dataset="x")
        statistics.write(given, tmp_path / "x.parquet")
        schema = pq.read_schema(tmp_path / "x.parquet")
        assert [str(schema.field(name).type)[3:] for name in columns] == ["8", "16", "16", "32", "64", "64"]
        assert_same(statistics.read(tmp_path / "x.parquet"), given)
        small = given.select(segments=slice(0, 1))
        statistics.write(replace(small, counts=small.counts.astype(np.int8)), tmp_path / "x.parquet")
        assert statistics.read(tmp_path / "x.parquet").counts.dtype == np.int64

    def test_systems_that_are_alike_take_little(self, tmp_path):
        """Forty that differ on one segment in a hundred take less than four that are not alike."""
        random = np.random.default_rng(0)
        one = random.integers(0, 100, (2000, 2))
        many = {
            f"s{k}": np.where(random.random((2000, 1)) < 0.01, random.integers(0, 100, (2000, 2)), one)
            for k in range(40)
        }
        statistics.write(Statistics.from_arrays({"one": one}, ["x", "y"]), tmp_path / "one.parquet")
        statistics.write(Statistics.from_arrays(many, ["x", "y"]), tmp_path / "many.parquet")
        assert (tmp_path / "many.parquet").stat().st_size < 4 * (tmp_path / "one.parquet").stat().st_size

    def test_same_bytes_twice(self, tmp_path):
        data = simulate.statistics("bleu", n_systems=3, n_segments=40)
        provenance = {"corpus": "c", "commit": "1"}
        for name, fragments in (("one", provenance), ("two", dict(reversed(list(provenance.items()))))):
            statistics.write(replace(data, provenance=fragments), tmp_path / f"{name}.parquet")
        assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


class TestRefused:
    """Files that were changed, or that something else wrote."""

    def wrote(self, path, change) -> str:
        data = simulate.statistics("f1", n_systems=2, n_segments=3)
        statistics.write(data, path)
        table = pq.read_table(path)
        changed = change(table.to_pandas().astype({"system": str}))
        pq.write_table(pa.Table.from_pandas(changed, preserve_index=False).replace_schema_metadata(
            {"dataset": "d", "provenance": "{}"}), path)  # fmt: skip
        return str(path)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda t: t.iloc[:5], "different numbers of segments"),
            (lambda t: t.iloc[:0], "different numbers of segments, or none"),
            (lambda t: t.iloc[[0, 3, 1, 4, 2, 5]], "the column segment"),
            (lambda t: t.assign(segment=list("123124")), "the column segment has an empty cell, or differs"),
            (lambda t: t.assign(document=list("xyyxxy")), "the column document"),
            (lambda t: t.assign(domain=[None, "x", "x"] * 2), "the column domain has an empty cell"),
            (lambda t: t.assign(group=list("gghkkk")), "the column group"),
            (lambda t: t.assign(matched=list("123456")), "counts are no numbers"),
            (lambda t: t.assign(system=["a", "b", "a", "b", "a", "b"]), "the column segment"),
            (lambda t: pd.concat([t, t]), "a system appears twice"),
            (lambda t: t.drop(columns="kind"), "kind"),
        ],
    )
    def test_changed(self, tmp_path, change, reason):
        path = self.wrote(tmp_path / "x.parquet", change)
        with pytest.raises(InputError, match=message(path, reason, "expected one that pairsig.write_statistics wrote")):
            statistics.read(path)

    def test_another_file(self, tmp_path):
        pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "x.parquet")
        with pytest.raises(InputError, match="expected one that pairsig"):
            statistics.read(tmp_path / "x.parquet")
        with pytest.raises(InputError, match=r"found the suffix '\.tsv', expected"):
            statistics.write(simulate.statistics("f1", n_systems=2, n_segments=3), tmp_path / "x.tsv")


class TestFromArrays:
    @pytest.mark.parametrize(
        ("arrays", "documents", "fragments"),
        [
            ({"a": np.ones((2, 1)), "b": np.ones((3, 1))}, None, ["different numbers of segments", "a has 2, b has 3"]),
            ({"a": np.ones((2, 1)), "b": np.ones((2, 3))}, None, ["shape (2, 3)", "expected (segments, 1): value"]),
            ({"a": np.array([["1"], ["2"]])}, None, ["a", "expected numbers"]),
            ({}, None, ["no systems"]),
            ({"a": np.ones((0, 1))}, None, ["dataset (arrays) has 1 systems and 0 segments"]),
            ({"a": np.ones((2, 1))}, ["d"], ["found 1 documents for 2 segments", "expected one document per segment"]),
        ],
    )
    def test_refused(self, arrays, documents, fragments):
        with pytest.raises(InputError, match=message(*fragments)):
            Statistics.from_arrays(arrays, ["value"], documents=documents)

    def test_ids_of_series_are_not_ignored(self):
        a = pd.Series([1, 2], index=["x", "y"])
        assert Statistics.from_arrays({"a": a, "b": a + 1}, ["value"]).counts[:, :, 0].tolist() == [[1, 2], [2, 3]]
        for other in (a[::-1], a.reset_index(drop=True)):
            with pytest.raises(InputError, match="a and b have different ids as their index"):
                Statistics.from_arrays({"a": a, "b": other}, ["value"])
        with pytest.raises(InputError, match="masked array"):
            Statistics.from_arrays({"a": np.ma.masked_equal([1, 2], 1)}, ["value"])

    def test_one_column_may_be_flat(self):
        data = Statistics.from_arrays({"a": np.array([1, 2]), "b": np.array([3, 4])}, ["value"])
        assert data.counts.tolist() == [[[1], [2]], [[3], [4]]]


class TestOfMetric:
    def counts(self, *rows) -> Statistics:
        return Statistics.from_arrays({"good": np.full((len(rows), 3), 5), "bad": np.array(rows)}, F1.columns)

    @pytest.mark.parametrize(
        ("row", "fragments"),
        [
            ((3, 2, 4), ["matched > predicted", "matched 3, predicted 2, gold 4"]),
            ((3, 4, 2), ["matched > gold"]),
            ((-1, 2, 2), ["a negative count", "matched -1"]),
            ((np.nan, 2.0, 2.0), ["not a finite number"]),
            ((1.0, np.inf, 2.0), ["not a finite number", "inf"]),
        ],
    )
    def test_impossible_counts(self, row, fragments):
        with pytest.raises(InputError, match=message("system bad, segment 2 of dataset", *fragments)):
            self.counts((1, 2, 3), row).of(F1)

    def test_columns_are_put_in_the_order_of_the_metric(self):
        data = Statistics.from_arrays({"a": np.array([[9, 1, 7]])}, ["gold", "matched", "predicted"])
        assert data.of(F1).tolist() == [[[1, 7, 9]]]

    def test_missing_columns(self):
        data = Statistics.from_arrays({"a": np.ones((2, 2))}, ["correct", "total"], dataset="d")
        with pytest.raises(InputError, match=message("dataset d", "correct, total", "metric f1: matched")):
            data.of(F1)

    def test_means_count_their_segments_and_may_be_negative(self):
        data = Statistics.from_arrays({"a": np.array([-1.5, 2.0])}, ["value"])
        assert data.of(registry.metric("mean")).tolist() == [[[-1.5, 1], [2.0, 1]]]


F1 = registry.metric("f1")


class TestByDocument:
    @examples(30)
    @given(st.lists(st.sampled_from("xyzw"), min_size=1, max_size=12), st.integers(0, 1000))
    def test_sums_are_those_of_pandas(self, documents, seed):
        counts = np.random.default_rng(seed).integers(0, 9, size=(2, len(documents), 3))
        sums = statistics.by_document(np.array(documents), counts)
        for system in range(2):
            expected = pd.DataFrame(counts[system]).groupby(documents, sort=False).sum().to_numpy()
            np.testing.assert_array_equal(sums[system], expected)

    @pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.float32])
    def test_sums_do_not_overflow(self, dtype):
        counts = np.ones((1, 300, 1), dtype=dtype)
        assert statistics.by_document(np.array(["d"] * 300), counts).tolist() == [[[300]]]

    def test_without_documents(self):
        with pytest.raises(InputError, match=message("found no documents for the unit document", "column `document`")):
            statistics.by_document(np.array(["", ""]), np.ones((1, 2, 1)))
        with pytest.raises(InputError, match=message("segment number 2 has no document", "expected one")):
            statistics.by_document(np.array(["d", ""]), np.ones((1, 2, 1)))


class TestSelect:
    data = simulate.statistics("f1", n_systems=4, n_segments=6, n_groups=2)

    def test_systems_and_segments(self):
        chosen = self.data.select(systems=["system3", "system1"], segments=np.array([5, 0, 0]))
        assert (chosen.systems, chosen.groups) == (("system3", "system1"), ("group1", "group1"))
        assert chosen.segments.tolist() == ["6", "1", "1"]
        assert chosen.documents.tolist() == ["document6", "document1", "document1"]
        np.testing.assert_array_equal(chosen.counts, self.data.counts[[2, 0]][:, [5, 0, 0]])

    def test_duplicates_are_reported_against_the_first_of_any_group_and_kind(self):
        """Two people who hand in the same output are what the message is for."""
        assert self.data.duplicates() == []
        counts = self.data.counts[[0, 1, 1, 1]]
        same = replace(self.data, counts=counts, groups=tuple("wxyz"), kinds=tuple("klmn"))
        assert same.duplicates() == [("system2", "system3"), ("system2", "system4")]


class TestPool:
    def part(self, dataset: str, systems: str, n_segments: int, columns=("value",)) -> Statistics:
        counts = {system: np.full((n_segments, 1), ord(system)) for system in systems}
        return Statistics.from_arrays(counts, columns, dataset=dataset, documents=["d"] * n_segments)

    def test_shared_systems_and_prefixed_ids(self):
        first, second = self.part("one", "abc", 2), self.part("two", "cab", 3)
        second = replace(second, domains=np.array(["news", "", "-"]), documents=np.array(["d", "", "d"]))
        third = self.part("three", "xac", 1)
        pooled = statistics.pool([first, second, third], dataset="all")
        assert (pooled.dataset, pooled.systems) == ("all", ("a", "c"))
        assert pooled.segments.tolist() == ["one/1", "one/2", "two/1", "two/2", "two/3", "three/1"]
        assert pooled.documents.tolist() == ["one/d", "one/d", "two/d", "", "two/d", "three/d"]
        assert pooled.domains.tolist() == ["one", "one", "news", "two", "two", "three"]
        assert pooled.counts[:, :, 0].tolist() == [[ord("a")] * 6, [ord("c")] * 6]

    @pytest.mark.parametrize(
        ("second", "fragments"),
        [
            (("two", "bc", 2), ["all: found 1 systems that are in all of one, two", "at least two"]),
            (("two", "ab", 2, ["correct"]), ["two has the columns correct", "expected those of one: value"]),
            (("one", "ab", 2), ["found 2 datasets", "called one"]),
        ],
    )
    def test_parts_that_do_not_fit(self, second, fragments):
        with pytest.raises(InputError, match=message(*fragments)):
            statistics.pool([self.part("one", "ab", 2), self.part(*second)], dataset="all")


class TestRuns:
    """Several runs of a method: each is a system, called METHOD-RUN."""

    def test_written_and_read(self, tmp_path):
        ones = np.arange(30).reshape(3, 10, 1)
        given = Statistics.from_arrays({"a": ones, "b": ones[0], "c-": ones[:2]}, ["value"], dataset="d")
        statistics.write(given, tmp_path / "a.parquet")
        assert_same(statistics.read(tmp_path / "a.parquet"), given)

    def test_selected_and_from_arrays(self):
        ones = np.ones((3, 5, 1), dtype=int)
        found = Statistics.from_arrays({"a": ones, "b": ones[0]}, ["value"])
        assert (found.systems, found.runs) == (("a-1", "a-2", "a-3", "b"), ("1", "2", "3", ""))
        assert found.select(systems=["b", "a-2"]).methods == ("b", "a")

    def test_a_run_must_end_the_name(self):
        given = Statistics.from_arrays({"a": [[1]]}, ["value"])
        with pytest.raises(ValueError, match="expected a name that ends in -1"):
            replace(given, runs=("1",))


@pytest.mark.parametrize(
    ("ids", "order"),
    [
        (["10", "9", "1"], ["1", "9", "10"]),
        (["2", "3", "1"], ["1", "2", "3"]),
        (["10", "010", "9"], ["9", "010", "10"]),
        (["1", "2", "10"], ["1", "2", "10"]),
        (["q10", "q9"], ["q9", "q10"]),
        (["2", "1a", "10"], ["1a", "2", "10"]),
        (["2", "", "1"], ["", "1", "2"]),
        (["²", "x2", "③4"], ["x2", "²", "③4"]),  # digits, but no numbers
    ],
)
def test_segments_in_the_order_of_their_ids(ids, order):
    counts = np.arange(len(ids))[None, :, None]
    data = replace(Statistics.from_arrays({"a": counts[0]}, ["value"]), segments=np.array(ids))
    assert data.in_order().segments.tolist() == order
    assert [ids[count] for count in data.in_order().counts[0, :, 0]] == order
