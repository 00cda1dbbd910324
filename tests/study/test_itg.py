"""The ITG aligner against all alignments of tiny sentences, and what its training promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from base_models import itg, joint_hmm
from pairsig import InputError
from toys import mirror_links, mirrored, write_lines, write_pairs


def is_separable(order):
    """Can the grammar make it? Orders that hold 2413 or 3142 are the ones it cannot (Wu 1997)."""
    return not any(
        tuple(sorted(range(4), key=four.__getitem__)) in ((1, 3, 0, 2), (2, 0, 3, 1))
        for four in itertools.combinations(order, 4)
    )


def alignments(n, m):
    """All alignments of the grammar: a word has at most one link."""
    for size in range(min(n, m) + 1):
        for rows in itertools.combinations(range(n), size):
            for columns in itertools.permutations(range(m), size):
                if is_separable(columns):
                    yield list(zip(rows, columns, strict=True))


def total(links, values):
    return sum(values[link] for link in links)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (2, 3), (4, 4), (3, 5), (5, 4), (5, 5)])
def test_no_alignment_of_the_grammar_has_a_higher_score(n, m):
    every = list(alignments(n, m))
    generator = np.random.default_rng([n, m])
    for shift in (-0.5, 0, 1, 1):
        scores = generator.normal(size=(n, m)) + shift
        found = itg.best_alignment(scores)
        assert found in every
        assert total(found, scores) == pytest.approx(max(total(links, scores) for links in every))


def test_a_step_mends_the_margin_it_was_taken_for(monkeypatch):
    """Unbounded, the smallest change after which the gold alignment is ahead by as much as the other one has lost."""
    monkeypatch.setattr(itg, "LARGEST_STEP", np.inf)
    generator = np.random.default_rng(4)
    n_steps = 0
    for _ in range(30):
        found, weights = generator.normal(size=(4, 4, 6)), generator.normal(size=6)
        loss = generator.choice([1.0, 1.0, 0.0, -1.0], size=(4, 4))
        every = list(alignments(4, 4))
        scores = found @ weights
        lowest = min(total(links, loss) for links in every)
        gold = max((links for links in every if total(links, loss) == lowest), key=lambda links: total(links, scores))
        wrong = max(every, key=lambda links: total(links, scores + loss))
        after = found @ itg._learn(weights, found, loss)
        margin = total(gold, after) - total(wrong, after)
        needed = total(wrong, loss) - total(gold, loss)
        before = total(gold, scores) - total(wrong, scores)
        assert margin == pytest.approx(max(needed, before))
        n_steps += gold != wrong
    assert n_steps > 15


TEXT = mirrored(40, seed=1, words=9)
LINKED = [(*pair, [f"{i}-{j}" for i, j in mirror_links(pair)]) for pair in TEXT]


@pytest.fixture
def hmm(tmp_path):
    joint_hmm.write(joint_hmm.fit(TEXT), tmp_path / "hmm")
    return tmp_path / "hmm"


def test_mirror_images_are_learned_and_the_same_with_the_same_seed(tmp_path, hmm):
    training_set = write_pairs(tmp_path / "train", LINKED)
    segments = write_pairs(tmp_path / "input", TEXT)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = ["--hmm", str(hmm), "train", "--train", str(training_set), "--seed", str(seed)]
        assert itg.main([*options, "--model", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    options = ["--hmm", str(hmm), "predict", "--model", str(tmp_path / "a"), "--input", str(segments)]
    assert itg.main([*options, "--output", str(tmp_path / "output")]) == 0
    found = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert found == [" ".join(links) for _, _, links in LINKED]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a ||| b", r"line 2: found 'a \|\|\| b' at the end, expected \|\|\| and links"),
        ("a ||| b ||| 0-0 x", r"line 2: found .* at the end, expected \|\|\| and links"),
        ("a ||| b ||| 0-1", r"line 2: found .* at the end, expected links for a pair of 1 and 1 words"),
        (f"a{' a' * 60} ||| b ||| 0-0", r"line 2: found a pair of 61 and 1 words, expected at most 60 on a side"),
    ],
)
def test_bad_input_is_reported_in_one_sentence(tmp_path, hmm, capsys, line, message):
    training_set = write_lines(tmp_path / "train", ["a ||| b ||| 0-0", line])
    with pytest.raises(InputError, match=f"train, {message}"):
        itg.train(training_set, tmp_path / "model", 1, hmm=hmm)
    assert not (tmp_path / "model").exists()
