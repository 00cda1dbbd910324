"""All pairs at once against one pair at a time, parts against the whole."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pairsig
import simulate
from pairsig import InputError, bootstrap_test, randomization_test
from pairsig.comparisons import all_pairs, pair_tables
from pairsig.io import tables
from pairsig.metrics import registry
from study.test_sets.resize import resize


@pytest.fixture(scope="module")
def systems():
    return simulate.statistics("f1", n_systems=5, n_segments=60, n_groups=2, spread=0.1, document_size=4)


@pytest.mark.parametrize("metric", simulate.FAMILIES)
@pytest.mark.parametrize(("test", "alone"), [("bootstrap", bootstrap_test), ("randomization", randomization_test)])
def test_shared_draws_are_one_pair_at_a_time(metric, test, alone):
    data = simulate.statistics(metric, n_systems=4, n_segments=50, spread=0.1)
    table = all_pairs.compare(data, test, metric=metric, n_resamples=3000)
    assert len(table) == 6
    counts = dict(zip(data.systems, data.counts, strict=True))
    columns = [data.columns.index(column) for column in registry.metric(metric).columns]
    for row in table.itertuples():
        a, b = (counts[system][:, columns] for system in (row.system_a, row.system_b))
        one = alone(a, b, metric=metric, n_resamples=3000)
        assert (row.n_greater, row.n_equal, row.pvalue) == (one.n_greater, one.n_equal, one.pvalue)
        assert (row.score_a, row.score_b) == (pytest.approx(one.score_a), pytest.approx(one.score_b))
        assert row.signature == one.signature
        assert one.better == "a"


def test_the_better_system_comes_first_and_groups_are_compared(systems):
    table = all_pairs.compare(systems, metric="f1", n_resamples=100)
    assert list(table.columns) == list(pair_tables.COLUMNS)
    assert (table["gain"] >= 0).all()
    np.testing.assert_allclose(table["gain"], table["score_a"] - table["score_b"])
    groups = dict(zip(systems.systems, systems.groups, strict=True))
    same = [groups[a] == groups[b] for a, b in zip(table["system_a"], table["system_b"], strict=True)]
    assert table["same_group"].tolist() == same
    assert 0 < sum(same) < len(same)
    pairs = {frozenset(pair) for pair in table[["system_a", "system_b"]].to_numpy()}
    assert len(pairs) == 10


def test_the_metric_may_be_left_out_where_the_columns_fit_one():
    """UAS and LAS are accuracy by another name; matched, predicted and gold are those of F1, precision and recall."""
    data = simulate.statistics("accuracy", n_systems=2, n_segments=9)
    assert set(all_pairs.compare(replace(data, provenance={}), n_resamples=10)["metric"]) == {"accuracy"}
    assert set(all_pairs.compare(replace(data, provenance={"metric": "las"}), n_resamples=10)["metric"]) == {"las"}
    several = replace(simulate.statistics("f1", n_systems=2, n_segments=9), provenance={})
    with pytest.raises(InputError, match=r"fit the metrics: .*f1, precision, recall.*; specify one"):
        all_pairs.compare(several, n_resamples=10)
    none = pairsig.Statistics.from_arrays({"a": np.ones((3, 1)), "b": np.ones((3, 1))}, ["hits"])
    with pytest.raises(InputError, match="fit the metrics: none; specify one"):
        all_pairs.compare(none, n_resamples=10)


@pytest.mark.parametrize(("test", "n_parts"), [("bootstrap", 2), ("randomization", 7)])
def test_merged_parts_are_the_whole(systems, test, n_parts):
    whole, *parts = (
        all_pairs.compare(systems, test, n_resamples=1000, metric="f1", part=part)
        for part in [(1, 1), *((k, n_parts) for k in range(1, n_parts + 1))]
    )
    pd.testing.assert_frame_equal(pair_tables.merge(parts[::-1]), whole, check_exact=True)
    assert parts[0]["signature"].str.endswith(f"|part:1/{n_parts}").all()


def test_merge_refuses_what_does_not_belong_together(systems):
    def part(k, m, **options):
        return all_pairs.compare(systems, "bootstrap", metric="f1", part=(k, m), **({"n_resamples": 100} | options))

    with pytest.raises(InputError, match="part 2/3 is missing, expected all 3"):
        pair_tables.merge([part(1, 3), part(3, 3)])
    with pytest.raises(InputError, match="part 1/2 is given twice"):
        pair_tables.merge([part(1, 2), part(1, 2)])
    with pytest.raises(InputError, match=r"not parts of one run: .*seed:2012.*seed:1"):
        pair_tables.merge([part(1, 2), part(2, 2, rng=1)])
    with pytest.raises(InputError, match="is not a part: its signature is metric:f1"):
        pair_tables.merge([part(1, 1)])
    with pytest.raises(InputError, match="compare different pairs or test sets"):
        pair_tables.merge([part(1, 2), part(2, 2).iloc[1:]])


@pytest.fixture(scope="module")
def thirds(systems):
    """The comparisons in three parts."""
    return [all_pairs.compare(systems, n_resamples=1000, metric="f1", part=(k, 3)) for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("n_resamples", 7, "part 2/3, {pair}: n_resamples is 7, expected 333, its part of 1000"),
        ("n_greater", -5, "part 2/3, {pair}: n_greater is -5, expected a whole number"),
        ("n_greater", 1.5, "part 2/3, {pair}: n_greater is 1.5, expected a whole number"),
        ("n_greater", np.nan, "part 2/3, {pair}: n_greater is nan, expected a whole number"),
        ("n_greater", "many", "part 2/3, {pair}: n_greater is 'many', expected a whole number"),
        ("n_greater", 999, "{pair}: n_greater is 999, expected a sum of n_greater and n_equal up to n_resamples"),
        ("n_equal", 334, "part 2/3, {pair}: n_greater is"),
        ("pvalue", 1.5, "part 2/3, {pair}: pvalue is 1.5, expected a number from 0 to 1"),
        ("gain", -1.0, "part 2/3, {pair}: gain is -1.0, expected a number, 0 or more: A is the better system"),
        # Scores, groups and numbers of pairs are the same: only the name shows that another system was compared.
        ("system_a", "stranger", "the tables to merge compare different pairs or test sets"),
        ("system_b", "stranger", "the tables to merge compare different pairs or test sets"),
        ("score_b", 12.5, "the tables to merge compare different pairs or test sets"),
        ("n_segments", 61, "the tables to merge compare different pairs or test sets"),
        ("test", "bootstrp", "the tables to merge compare different pairs or test sets"),
        ("signature", "metric:f1|part:2/3", "has 2 signatures"),
    ],
)
def test_merge_refuses_what_a_part_cannot_have_found(thirds, column, value, message):
    parts = [part.copy() for part in thirds]
    cells = parts[1][column].astype(object)
    cells.iloc[4] = value
    parts[1][column] = cells
    pair = " and ".join(parts[1].loc[4, ["system_a", "system_b"]])
    with pytest.raises(InputError, match=re.escape(message.format(pair=pair))):
        pair_tables.merge(parts)


@pytest.mark.parametrize("part", ["0/3", "4/3", "2/0", "1/2000"])
def test_merge_refuses_a_part_that_there_is_not(thirds, part):
    table = thirds[0].copy()
    table["signature"] = table["signature"].str.replace("1/3", part)
    with pytest.raises(InputError, match=f"part {part} of 1000 resamples"):
        pair_tables.merge([table])


def test_a_table_that_lost_pairs_is_refused(systems, tmp_path):
    for table in (
        all_pairs.compare(systems, n_resamples=100, metric="f1"),
        resize(systems, n_resamples=100, metric="f1", initial=[20, 40]),
    ):
        tables.write(table, tmp_path / "c.tsv")
        pd.testing.assert_frame_equal(pair_tables.read(tmp_path / "c.tsv"), table, check_exact=True)
        lines = (tmp_path / "c.tsv").read_text().splitlines(keepends=True)
        for kept in (1, 2, len(lines) // 2 + 1, len(lines) - 1):
            (tmp_path / "c.tsv").write_text("".join(lines[:kept]))
            with pytest.raises(InputError, match=rf"c\.tsv has {kept - 1} rows, but its column n_rows says"):
                pair_tables.read(tmp_path / "c.tsv")


def test_a_pair_without_a_p_value_is_refused(systems):
    part = all_pairs.compare(systems, metric="f1", n_resamples=100, part=(1, 2))
    part.loc[1, ["pvalue", "pvalue_one_sided"]] = np.nan
    with pytest.raises(InputError, match="pvalue is nan, expected a number from 0 to 1"):
        pair_tables.merge([part])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": (3, 2)}, "part is 3/2, expected one from 1/2 to 2/2"),
        ({"metric": "bleu"}, "expected those of metric bleu: hypothesis_length"),
        (
            {"test": "permutation"},
            "unknown test 'permutation', expected one of exact, randomization, bootstrap, exact",
        ),
        ({"n_resamples": 3, "part": (1, 4)}, "3 resamples cannot be split into 4 parts"),
        ({"unit": "word"}, "unknown unit 'word', expected one of segment, document"),
        ({"n_resamples": 10.5}, "number of resamples is 10.5, expected a whole number"),
    ],
)
def test_bad_input(systems, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        all_pairs.compare(systems, **{"metric": "f1", **options})


def test_one_system_and_no_table():
    with pytest.raises(InputError, match="has one system, expected at least two"):
        all_pairs.compare(simulate.statistics("f1", n_systems=1, n_segments=9), metric="f1")
    with pytest.raises(InputError, match="found no table to merge"):
        pair_tables.merge([])
