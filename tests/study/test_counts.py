"""Counts of single systems, combined to those of all systems of a test set."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pairsig import InputError, Statistics
from study.corpora.counts import combined


def part(system: str, **changes) -> Statistics:
    return replace(Statistics.from_arrays({system: np.ones((3, 1))}, ["value"], dataset=system), **changes)


def test_all_systems_and_the_new_provenance():
    settings = {"settings": "tokenize:13a", "reference": "x"}
    whole = combined([part("a", provenance=settings), part("b", provenance=settings)], "d", {"corpus": "c"})
    assert (whole.dataset, whole.systems) == ("d", ("a", "b"))
    assert whole.provenance == {"corpus": "c", "settings": "tokenize:13a"}
    assert whole.counts.shape == (2, 3, 1)
    runs = Statistics.from_arrays({"a": np.ones((3, 5, 1)), "b": np.ones((5, 1))}, ["value"])
    assert combined([runs.select(systems=[name]) for name in runs.systems], "", {}).runs == runs.runs


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"segments": np.array(["1", "2", "4"])}, "system b: number 3 of the segments is '4', expected '3' as of a"),
        ({"segments": np.array(["1", "2"]), "documents": None, "domains": None, "counts": np.ones((1, 2, 1))},
         "system b has 2 segments, expected 3 as a"),
        ({"columns": ("correct",)}, "system b has the columns correct, expected value"),
        ({"systems": ("a",)}, "found system a more than once, expected it once"),
        ({"documents": np.array(["", "", "x"])}, "system b: number 3 of the documents is 'x', expected ''"),
        ({"provenance": {"reference": "y"}}, "system b was counted with other references, or the same in another"),
        ({"provenance": {"settings": "lowercase:yes"}}, "system b was counted with other options than a"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit(changes, message):
    first = part("a", provenance={"reference": "x", "settings": "lowercase:no"})
    with pytest.raises(InputError, match=f"d: {re.escape(message)}"):
        combined([first, part("b", **changes)], "d", {})
