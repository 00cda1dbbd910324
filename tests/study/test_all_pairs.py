"""The bootstrap of all pairs: the p-values of `compare`, parts of the resamples, and what is refused."""

import pandas as pd
import pytest

import simulate
from pairsig import InputError
from pairsig.comparisons.compare import compare
from pairsig.core.definitions import find
from pairsig.core.totals import Resampling
from pairsig.io.columns import COMPARISONS
from pairsig.metrics import registry
from study.test_sets import all_pairs


def systems(metric="f1", **options):
    return simulate.statistics(metric, n_systems=4, **{"n_segments": 40, "spread": 0.3, "seed": 3} | options)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "bleu"])
def test_the_table_has_the_p_values_of_compare(metric):
    data = systems(metric, n_groups=2)
    table = all_pairs.compare(data, metric=metric, n_resamples=2000, rng=7)
    assert tuple(table.columns) == COMPARISONS.names
    rows = {
        frozenset((row["system_a"], row["system_b"])): row
        for row in compare(data, [registry.metric(metric)], find("bootstrap", alternative="observed"), pairs="all",
                           resampling=Resampling(2000, 7))
    }  # fmt: skip
    groups = dict(zip(data.systems, data.groups, strict=True))
    for pair in table.itertuples():
        row = rows[frozenset((pair.system_a, pair.system_b))]
        assert (pair.pvalue_one_sided, pair.gain) == (row["pvalue"], pytest.approx(abs(row["difference"])))
        assert pair.gain == 0 or pair.system_a == row["better"]
        assert (pair.n_greater, pair.signature) == (row["n_greater"], row["signature"])
        assert pair.same_group == (groups[pair.system_a] == groups[pair.system_b])


def test_parts_are_merged_to_the_whole():
    data, how = systems("bleu"), {"metric": "bleu", "n_resamples": 900, "rng": 3}
    whole = all_pairs.compare(data, **how)
    parts = [all_pairs.compare(data, part=(k, 4), **how) for k in (3, 1, 4, 2)]
    pd.testing.assert_frame_equal(all_pairs.merge(parts), whole)
    for wrong, message in (
        (parts[:2] + parts[3:], "found 3 tables to merge, with the parts 3/4, 1/4, 2/4 of 1 runs, expected all"),
        ([*parts, parts[0]], "with the parts 3/4, 1/4, .* of 1 runs, expected all parts of one run, each of them once"),
        (
            [*parts[:3], all_pairs.compare(data, part=(2, 4), **how | {"rng": 4})],
            "of 2 runs, expected all parts of one",
        ),
        ([whole], "found 1 tables to merge, .* of 1 runs, expected all parts of one run"),
        ([], "found 0 tables to merge"),
        ([*parts[:3], parts[3].assign(gain=parts[3]["gain"] + 1)], "compare different pairs or test sets"),
    ):
        with pytest.raises(InputError, match=message):
            all_pairs.merge(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": (2, 1)}, "found part 2/1 of 100 resamples, expected one from 1/1 to 1/1"),
        ({"part": (0, 2)}, "found part 0/2 of 100 resamples"),
        ({"part": (1, 5000), "n_resamples": 10}, "found part 1/5000 of 10 resamples, .* and a resample in each"),
        ({"metric": "bleu"}, "expected those of metric bleu"),
    ],
)
def test_impossible_tables(options, message):
    with pytest.raises(InputError, match=message):
        all_pairs.compare(systems(), **{"metric": "f1", "n_resamples": 100} | options)


def test_memory_only_changes_time(monkeypatch):
    data = systems("f1", n_segments=500)
    one = all_pairs.compare(data, metric="f1", n_resamples=300)
    monkeypatch.setattr("study.test_sets.all_pairs.free", lambda: 3 * 2**20)
    pd.testing.assert_frame_equal(one, all_pairs.compare(data, metric="f1", n_resamples=300))
