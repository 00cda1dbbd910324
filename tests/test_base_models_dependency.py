"""The ensemble of dependency parsers, against all trees of short sentences."""

from itertools import product

import numpy as np
import pytest

from base_models import ensemble

pytest.importorskip("ufal.chu_liu_edmonds")
pytestmark = pytest.mark.packages


def trees(size):
    """Heads of all trees with one root."""
    for heads in product(range(size + 1), repeat=size):
        if heads.count(0) != 1:
            continue
        reached = {0}
        for _ in range(size):
            reached |= {word for word, head in enumerate(heads, start=1) if head in reached}
        if len(reached) == size + 1:
            yield heads


def reparse(members):
    """Heads of the tree that members with these heads vote for."""
    return tuple(head for head, _ in ensemble.vote([[(head, "r") for head in heads] for heads in members]))


def votes(heads, members):
    return sum(ours == theirs for member in members for ours, theirs in zip(heads, member, strict=True))


def write(path, heads, relations=None, words=None):
    rows = []
    for number, head in enumerate(heads, start=1):
        word = words[number - 1] if words else f"w{number}"
        relation = relations[number - 1] if relations else "r"
        rows.append("\t".join([str(number), word, word, "X", "X", "_", str(head), relation, "_", "_"]))
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    return path


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


def test_a_unanimous_vote_stands():
    generator = np.random.default_rng(7)
    every = list(trees(5))
    for number in generator.integers(0, len(every), 50):
        heads = every[number]
        assert reparse([heads] * 3) == heads


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


def test_members_with_other_words(tmp_path, capsys):
    first = write(tmp_path / "a", [2, 0])
    second = write(tmp_path / "b", [2, 0], words=["w1", "other"])
    assert ensemble.main(["--output", str(tmp_path / "output"), str(first), str(second)]) == 2
    assert "sentence 1: found other words than" in capsys.readouterr().err
    assert not (tmp_path / "output").exists()
