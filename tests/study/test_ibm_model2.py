"""IBM model 2: what NLTK has learned is taken over whole, and decoded as NLTK does."""

from __future__ import annotations

import pytest
from nltk.translate import AlignedSent, IBMModel2

from base_models import ibm_model2
from pairsig import InputError
from toys import TINY, write_pairs


def test_links_are_those_of_nltk():
    model = ibm_model2.fit(TINY, iterations=3)
    bitext = [AlignedSent(target, source) for source, target in TINY]
    IBMModel2(bitext, 3)
    for pair, aligned in zip(TINY, bitext, strict=True):
        assert ibm_model2.links(model[0], pair) == {(i, j) for j, i in aligned.alignment if i is not None}


def test_only_links_of_both_directions_remain():
    model = ibm_model2.fit(TINY, iterations=3)
    for source, target in TINY:
        forward = ibm_model2.links(model[0], (source, target))
        backward = {(i, j) for j, i in ibm_model2.links(model[1], (target, source))}
        assert ibm_model2.decode(model, (source, target)) == forward & backward


def test_unseen_lengths_and_words():
    model = ibm_model2.fit(TINY, iterations=3)
    assert ibm_model2.decode(model, (["Book", "dog"], ["oh", "livre", "chien"])) == {(0, 1)}


def test_long_pairs_are_left_out():
    assert ibm_model2.fit([TINY[0], TINY[1]], longest=3) == ibm_model2.fit([TINY[1]])
    with pytest.raises(InputError, match="found no pair with at most 1 words per side"):
        ibm_model2.fit(TINY, longest=1)


def test_files(tmp_path):
    write_pairs(tmp_path / "train", TINY)
    (tmp_path / "input").write_text("the house ||| la maison\ndog ||| chien\n")
    ibm_model2.train(tmp_path / "train", tmp_path / "model", 1)
    ibm_model2.predict(tmp_path / "model", tmp_path / "input", tmp_path / "output")
    lines = (tmp_path / "output").read_text().split("\n")
    model = ibm_model2.fit(TINY)
    assert lines == [" ".join(f"{i}-{j}" for i, j in sorted(ibm_model2.decode(model, TINY[1]))), "", ""]
