"""Test sets made from one, and all pairs of systems on them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pairsig
import simulate
from pairsig import InputError
from study import test_sets


@pytest.fixture(scope="module")
def systems():
    return simulate.statistics("f1", n_systems=5, n_segments=60, n_groups=2, spread=0.1, document_size=4)


def test_initial_segments(systems):
    table = test_sets.resize(systems, initial=[10, 20, 500], metric="f1", n_resamples=200)
    assert list(dict.fromkeys(table["test_set"])) == ["first-10", "first-20"]
    first = pairsig.compare(systems.select(segments=slice(20)), metric="f1", n_resamples=200)
    mine = table[table["test_set"] == "first-20"].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine.drop(columns="test_set"), first.drop(columns="test_set"))
    assert test_sets.doubling(100, 1000) == [100, 200, 400, 800]


def test_initial_segments_are_smaller_than_the_whole(systems):
    """The whole is the business of `compare`: it would come twice in every table and figure."""
    assert list(dict(test_sets.other_test_sets(systems, initial=[59, 60, 61]))) == ["first-59"]
    assert test_sets.doubling(100, 800) == [100, 200, 400]
    assert test_sets.doubling(100, 801) == [100, 200, 400, 800]
    assert test_sets.doubling(100, 100) == []


def test_domains_at_equal_size(systems):
    domains = np.array(["news", "speech", "news"] * 20)
    data = replace(systems, domains=domains)
    sets = dict(test_sets.other_test_sets(data, domain_size=20))
    assert list(sets) == ["news-first-20", "speech-first-20"]
    np.testing.assert_array_equal(sets["news-first-20"].counts, data.counts[:, domains == "news"][:, :20])
    assert list(dict(test_sets.other_test_sets(data, domain_size=30))) == ["news-first-30"]


def test_draws_are_with_replacement_and_of_the_size_asked_for(systems):
    sets = dict(test_sets.other_test_sets(systems, draws=400, draw_size=30))
    assert len(sets) == 400
    drawn = np.concatenate([data.segments for data in sets.values()]).astype(int)
    assert len(drawn) == 400 * 30
    # 12,000 draws from 60 segments: 200 each, standard deviation 14.
    assert np.abs(np.bincount(drawn, minlength=61)[1:] - 200).max() < 5 * np.sqrt(200)
    assert any(len(set(data.segments)) < 30 for data in sets.values())


def test_halves_part_the_test_set(systems):
    sets = dict(test_sets.other_test_sets(systems, halves=2))
    assert list(sets) == ["half-1", "half-2", "half-3", "half-4"]
    for one, other in (("half-1", "half-2"), ("half-3", "half-4")):
        both = [*sets[one].segments, *sets[other].segments]
        assert sorted(both, key=int) == list(systems.segments)
    assert sets["half-1"].segments.tolist() != sets["half-3"].segments.tolist()


def test_bad_input(systems):
    with pytest.raises(InputError, match="yields no test set"):
        test_sets.resize(systems, metric="f1")
    for wrong, message in (
        ({"initial": [5, 0]}, "the initial size is 0"),
        ({"domain_size": -1}, "the domain size is -1"),
        ({"draws": -2}, "the number of draws is -2"),
        ({"draws": 1, "draw_size": 0}, "the draw size is 0"),
    ):
        with pytest.raises(InputError, match=message):
            test_sets.resize(systems, metric="f1", **wrong)
    with pytest.raises(InputError, match="first size is 0"):
        test_sets.doubling(0, 10)
