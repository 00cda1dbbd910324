"""Test sets made from one, and all pairs of systems on them."""

from dataclasses import replace

import numpy as np
import pytest

import simulate
from pairsig.io.columns import COMPARISONS
from study.test_sets.resize import other_test_sets, resize


@pytest.fixture(scope="module")
def systems():
    return simulate.statistics("f1", n_systems=5, n_segments=60, n_groups=2, spread=0.1, document_size=4)


def labelled(made):
    return {how.label: data for how, data in made}


def test_initial_segments_of_a_shuffled_test_set(systems):
    """Each is a random sample of the whole, and part of the next; the test set's own order is kept in it."""
    sets = labelled(other_test_sets(systems, initial="10,20,40", shuffle=5))
    samples = [data.segments.astype(int).tolist() for data in sets.values()]
    assert list(sets) == ["first-10", "first-20", "first-40"]
    for size, sample in zip((10, 20, 40), samples, strict=True):
        assert len(set(sample)) == size
        assert sample == sorted(sample)
    assert set(samples[0]) < set(samples[1]) < set(samples[2])
    again = labelled(other_test_sets(systems, initial="10", shuffle=5, halves=1, seed=3))
    np.testing.assert_array_equal(again["first-10"].segments, sets["first-10"].segments)
    # Every segment is as likely as any other: 400 orders, 10 of 60 segments, 66.7 times each, sd 7.5.
    times = np.zeros(60)
    for seed in range(400):
        (data,) = labelled(other_test_sets(systems, initial="10", shuffle=seed)).values()
        times[data.segments.astype(int) - 1] += 1
    assert np.abs(times - 400 / 6).max() < 4.5 * 7.5


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("domain", ("news", "speech", "news")), ("document", ("a", "b", "a"))],
    ids=["domain", "document"],
)
def test_domains_and_documents_at_equal_size(systems, kind, labels):
    members = np.array(labels * 20)
    data = replace(systems, **{f"{kind}s": members})
    first, second = labels[:2]
    sets = labelled(other_test_sets(data, **{f"{kind}_size": 20}))
    assert list(sets) == [f"{first}-first-20", f"{second}-first-20"]
    for label in (first, second):
        expected = data.counts[:, members == label][:, :20]
        np.testing.assert_array_equal(sets[f"{label}-first-20"].counts, expected)
    assert list(labelled(other_test_sets(data, **{f"{kind}_size": 30}))) == [f"{first}-first-30"]
    for none in ("", "-"):
        without = replace(data, **{f"{kind}s": np.array([none] * 60)})
        assert not labelled(other_test_sets(without, **{f"{kind}_size": 20}))
    table = resize(data, {f"{kind}_size": "20"}, metric="f1", n_resamples=20)
    described = table.drop_duplicates("test_set")[["test_set", "derived", "domain", "n_segments"]]
    assert described.to_numpy().tolist() == [[f"{label}-first-20", kind, label, 20] for label in (first, second)]


def test_halves_part_the_test_set(systems):
    sets = labelled(other_test_sets(systems, halves=2))
    assert list(sets) == ["half-1", "half-2", "half-3", "half-4"]
    for one, other in (("half-1", "half-2"), ("half-3", "half-4")):
        both = [*sets[one].segments, *sets[other].segments]
        assert sorted(both, key=int) == list(systems.segments)
    assert sets["half-1"].segments.tolist() != sets["half-3"].segments.tolist()


def test_a_test_set_is_described_by_columns(systems):
    """What the label says, and the size of what was tested, in columns; a domain may be called like a draw."""
    data = replace(systems, domains=np.array(["draw-1", "first-9", "draw-1"] * 20))
    kinds = {"initial": "10,60", "domain_size": "15", "draws": "2", "draw_size": "7", "halves": "1"}
    table = resize(data, kinds, metric="f1", n_resamples=20)
    described = table.drop_duplicates("test_set")[["test_set", "derived", "domain", "number", "n_segments"]]
    assert described.to_numpy().tolist() == [
        ["first-10", "initial", "", 0, 10],
        ["draw-1-first-15", "domain", "draw-1", 0, 15],
        ["first-9-first-15", "domain", "first-9", 0, 15],
        ["draw-1", "draw", "", 1, 7],
        ["draw-2", "draw", "", 2, 7],
        ["half-1", "half", "", 1, 30],
        ["half-2", "half", "", 2, 30],
    ]
    assert list(table.columns) == list(COMPARISONS.names)
