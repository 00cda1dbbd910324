"""Numbers from files of other programs, their scales, and the mean of tasks of any size."""

from dataclasses import replace

import numpy as np
import pytest

import pairsig
from pairsig import InputError, Statistics
from pairsig.metrics.counts import average
from pairsig.readers import system_counts, tasks


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("107", 107),
        ("9007199254740992", 2**53),
        ("-9007199254740992", -(2**53)),
        ("9007199254740993", None),  # 2⁵³ + 1 is no float
        ("1e308", 1e308),
        ("1e309", None),
        ("1_0", None),
        ("nan", None),
    ],
)
def test_numbers_are_those_that_floats_hold(text, number):
    assert system_counts.to_number(text) == number


@pytest.mark.parametrize(
    ("percentages", "refused"),
    [
        ([90, 80, 70, 0, 60], True),
        ([100, 80, 70, 0, 60], True),
        ([101, 80, 70, 0, 60], False),  # no percentage
        ([21, 19.5, 20, 19.5], False),  # 20 times the mean of the shares
        ([21, 19.5, 20, 19.6], True),
        ([-1, 80, 70, 60], False),
        ([90, 80], False),  # two numbers show no scale
        ([90, 0.5, 80, 0.7], False),  # half of them are below 1
        ([1, 1, 1, 1], False),
        ([90, 80, 70], True),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_shares_beside_percentages_are_refused(percentages, refused, is_first, tmp_path):
    """The shares have the mean 1, or are 0."""
    columns = [[1] * len(percentages), percentages]
    paths = [tmp_path / "shares.txt", tmp_path / "percentages.txt"]
    for path, column in zip(paths, columns, strict=True):
        path.write_text("".join(f"{score}\n" for score in column))
    files = paths if is_first else paths[::-1]
    if refused:
        with pytest.raises(InputError, match=r"score is from 0 to 1 in .*shares\.txt and from 0 to 100 in .*perc"):
            pairsig.read(files)
    else:
        assert len(pairsig.read(files).systems) == 2


@pytest.mark.parametrize("numbers", [[0.5, 2, 1, 0.5], [1, 0, 0, 0]])
def test_numbers_above_1_and_few_numbers_are_no_shares(numbers, tmp_path):
    for name, column in (("a.txt", numbers), ("b.txt", [90, 80, 70, 60])):
        (tmp_path / name).write_text("".join(f"{score}\n" for score in column))
    assert len(pairsig.read([tmp_path / "a.txt", tmp_path / "b.txt"]).systems) == 2


@pytest.mark.parametrize(("sizes", "is_whole"), [((2, 3, 4), True), ((9_949, 9_967, 9_973), False)])
def test_each_task_has_the_same_weight(sizes, is_whole):
    """In whole numbers only if the sums of 1/size, times the common multiple of the sizes, are exact."""
    group = system_counts.TaskGroup("g", "acc", ("x", "y", "z"), frozenset(["tasks"]))
    metric = average("acc")
    rng, members = np.random.default_rng(1), []
    for size in sizes:
        right = {name: rng.integers(0, 2, (size, 1)) for name in "ab"}
        members.append(replace(Statistics.from_arrays(right, ["acc"]), metrics=(metric,)))
    pooled = tasks.pooled(group, members, over_items=False)
    means = np.mean([data.counts[:, :, 0].mean(axis=1) for data in members], axis=0)
    np.testing.assert_allclose(pooled.metrics[0].score(pooled.counts.sum(axis=1)), means, rtol=1e-12)
    assert (pooled.counts[..., 1] == np.rint(pooled.counts[..., 1])).all() == is_whole
