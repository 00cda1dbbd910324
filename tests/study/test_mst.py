"""The first-order parser against all projective trees of short sentences, and what its updates promise."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from base_models import mst
from pairsig import InputError
from toys import projective_trees, sentence, write_sentences


@cache
def every_tree(size):
    return list(projective_trees(size))


def score(heads, scores):
    return sum(scores[head, word] for word, head in enumerate(heads, start=1))


@pytest.mark.parametrize(("size", "number"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_no_projective_tree_has_a_higher_score(size, number):
    every = every_tree(size)
    assert len(every) == number  # binomial(3n - 2, n - 1) / n, of trees with one root
    generator = np.random.default_rng(size)
    for _ in range(15):
        scores = generator.normal(size=(size + 1, size + 1))
        root, *heads = mst.best_tree(scores).tolist()
        found = tuple(heads)
        assert root == -1
        assert found in every
        assert score(found, scores) == pytest.approx(max(score(heads, scores) for heads in every))


def random_sentences(seed, number=12, size=6):
    """Sentences whose trees no features can tell."""
    generator = np.random.default_rng(seed)
    every = every_tree(size)
    sentences = []
    for _ in range(number):
        atoms = generator.integers(1, 5, (size + 1, 4)).astype(np.uint64)
        heads = np.array([-1, *every[generator.integers(len(every))]])
        sentences.append(mst.Sentence(atoms, ("X",) * (size + 1), heads, ("r",) * size))
    return sentences


def score_of(heads, atoms, weights):
    scores = mst._scores(atoms, weights)
    return score(heads[1:], scores)


def test_a_step_mends_the_margin_it_was_taken_for():
    """Unbounded, the smallest change after which the treebank's tree is ahead by as much as the other one is wrong."""
    n_steps = 0
    for drawn in random_sentences(3):
        atoms, gold = drawn.atoms, drawn.heads
        weights, sums, difference = (np.zeros(mst.N_WEIGHTS) for _ in range(3))
        augmented = mst._scores(atoms, weights) + (np.arange(len(gold))[:, None] != gold)
        found = mst.best_tree(augmented)
        wrong = (found != gold).sum()
        mst._learn(atoms, gold, weights, sums, difference, 3, np.inf)
        assert not difference.any()
        assert np.abs(sums - 2 * weights).max() <= 1e-7 * np.abs(sums).max()
        margin = score_of(gold, atoms, weights) - score_of(found, atoms, weights)
        if wrong and weights.any():
            n_steps += 1
            assert margin == pytest.approx(wrong)
            bounded = np.zeros(mst.N_WEIGHTS)
            mst._learn(atoms, gold, bounded, np.zeros(mst.N_WEIGHTS), difference, 1, 1e-4)
            assert np.abs(bounded).max() < np.abs(weights).max()
    assert n_steps > 6


def test_same_seed_same_bytes_another_seed_another_order(tmp_path):
    generator = random.Random(2)
    noisy = [[(w, t, h if generator.random() < 0.8 else 0, r) for w, t, h, r in sentence(generator)] for _ in range(30)]
    training_set = write_sentences(tmp_path / "train", noisy)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        mst.train(training_set, tmp_path / name, seed=seed)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_words_of_one_sentence_and_its_copies_are_unknown():
    one, other = random_sentences(1, number=2)
    forms = np.array([[7], [8], [9], [10], [11], [12], [13]], dtype=np.uint64)
    one = one._replace(atoms=np.hstack([forms, one.atoms[:, 1:]]))
    other = other._replace(atoms=np.hstack([forms + 5, other.atoms[:, 1:]]))
    known = mst._known_words([one, one, other])
    assert set(known.tolist()) == {12, 13, int(mst._UNKNOWN)}
    changed = mst._only_known(one.atoms, known)[:, 0]
    assert changed.tolist() == [*[int(mst._UNKNOWN)] * 5, 12, 13]


def test_bad_input_is_reported_in_one_sentence(tmp_path):
    rows = sentence(random.Random(1))
    for head in (9, 2):
        rows[1] = ("cat", "NOUN", head, "nsubj")
        training_set = write_sentences(tmp_path / "train", [sentence(random.Random(1)), rows])
        message = (
            rf"train, sentence 2: found the head '{head}' of word 2, expected another number from 0 to {len(rows)}"
        )
        with pytest.raises(InputError, match=message):
            mst.train(training_set, tmp_path / "model", seed=1)
