"""The ensemble of dependency parsers, against all trees of short sentences."""

import numpy as np
import pytest

from base_models import ensemble
from toys import trees, write_sentences

pytest.importorskip("ufal.chu_liu_edmonds")
pytestmark = pytest.mark.packages


def reparse(members):
    """Heads of the tree that members with these heads vote for."""
    return tuple(head for head, _ in ensemble.vote([[(head, "r") for head in heads] for heads in members]))


def votes(heads, members):
    return sum(ours == theirs for member in members for ours, theirs in zip(heads, member, strict=True))


def write(path, heads, relations, words=("w1", "w2", "w3")):
    rows = ((word, "X", head, relation) for word, head, relation in zip(words, heads, relations, strict=False))
    return write_sentences(path, [rows])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_no_tree_has_more_votes(size):
    generator = np.random.default_rng(size)
    every = list(trees(size))
    assert len(every) == size ** (size - 1)
    for _ in range(40):
        # Votes of members are no trees here: heads of their own, cycles and several roots are among them.
        members = generator.integers(0, size + 1, (generator.integers(1, 7), size)).tolist()
        found = reparse(members)
        assert found in every
        assert votes(found, members) == max(votes(heads, members) for heads in every)


def test_relations_are_those_of_the_voters(tmp_path):
    members = [
        write(tmp_path / "a", [2, 0, 2], ["a", "root", "first"]),
        write(tmp_path / "b", [2, 0, 2], ["b", "root", "second"]),
        write(tmp_path / "c", [2, 0, 1], ["b", "root", "third"]),
        write(tmp_path / "d", [3, 0, 1], ["c", "root", "third"]),
        write(tmp_path / "e", [3, 0, 2], ["c", "root", "third"]),
    ]
    output = tmp_path / "output"
    assert ensemble.main(["--output", str(output), *map(str, members)]) == 0
    found = [line.split("\t")[6:8] for line in output.read_text(encoding="utf-8").splitlines() if line]
    assert found == [["2", "b"], ["0", "root"], ["2", "first"]]
