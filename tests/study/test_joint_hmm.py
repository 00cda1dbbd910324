"""The joint HMM aligner against sums over all alignments, and against what EM promises."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import defaultdict
from math import log

import numpy as np
import pytest

from base_models import joint_hmm as joint
from toys import TINY, write_pairs


def by_hand(emission, null, jumps, hmm):
    """Posteriors of links and of none, counts of jumps, and the likelihood, by going through all alignments."""
    n, m = emission.shape
    links, nulls, found = np.zeros((n, m)), np.zeros(n), defaultdict(float)
    likelihood = 0.0
    widest = joint.WIDEST
    for states in itertools.product([None, *range(m)], repeat=n):
        probability, last, made = 1.0, -1, []
        for j, i in enumerate(states):
            if i is None:
                probability *= joint.NULL * null[j]
                continue
            weights = jumps[np.clip(np.arange(m) - last, -widest, widest) + widest]
            share = weights[i] / weights.sum() if hmm else 1 / m
            probability *= (1 - joint.NULL) * share * emission[j, i]
            made.append(np.clip(i - last, -widest, widest) + widest)
            last = i
        likelihood += probability
        for j, i in enumerate(states):
            if i is None:
                nulls[j] += probability
            else:
                links[j, i] += probability
        for jump in made:
            found[jump] += probability
    counts = np.array([found[jump] for jump in range(len(jumps))])
    return links / likelihood, nulls / likelihood, counts / likelihood, log(likelihood)


@pytest.mark.parametrize("hmm", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (3, 3), (4, 3), (2, 10)])
def test_posteriors_are_sums_over_all_alignments(n, m, hmm):
    generator = np.random.default_rng([n, m])
    emission, null, jumps = generator.random((n, m)), generator.random(n), generator.random(2 * joint.WIDEST + 1)
    links, nulls, found, expected, likelihood = (joint._hmm if hmm else joint._model1)(emission, null, jumps)
    by_sums = by_hand(emission, null, jumps, hmm)
    np.testing.assert_allclose(links, by_sums[0], rtol=1e-10)
    np.testing.assert_allclose(nulls, by_sums[1], rtol=1e-10)
    assert likelihood == pytest.approx(by_sums[3])
    if hmm:
        np.testing.assert_allclose(found, by_sums[2], rtol=1e-10, atol=1e-15)
        assert expected.sum() == pytest.approx(found.sum())


def test_em_never_lowers_the_likelihood_of_a_direction():
    model = joint.fit(TINY, iterations=6, joint=False)
    for direction in zip(*model.likelihoods, strict=True):
        first, second = direction[:6], direction[6:]
        assert np.diff(first).min() > -1e-9
        assert np.diff(second).min() > -1e-9
        assert second[-1] > first[0]


def test_a_link_needs_both_directions(monkeypatch):
    both = np.array([[0.9, 0.9], [0.9, 0.1]]), np.array([[0.9, 0.1], [0.5, 0.9]])
    monkeypatch.setattr(joint, "posteriors", lambda *_: both)
    assert joint.decode(None, None, threshold=0.5) == [(0, 0)]


def test_a_model_written_and_read_again(tmp_path):
    model = joint.fit([*TINY, (["\u00a0", "x\u2028"], ["naïf\0"])])
    joint.write(model, tmp_path / "model")
    again = joint.read(tmp_path / "model")
    assert (again.sources, again.targets) == (model.sources, model.targets)
    for pair in TINY:
        np.testing.assert_array_equal(joint.posteriors(model, pair), joint.posteriors(again, pair))


def test_same_bytes_whatever_the_hash_seed(tmp_path):
    write_pairs(tmp_path / "train", TINY)
    joint.train(tmp_path / "train", tmp_path / "model1", 1)
    joint.predict(tmp_path / "model1", tmp_path / "train", tmp_path / "output1")
    code = (
        "from pathlib import Path; from base_models import joint_hmm as joint\n"
        "joint.train(Path('train'), Path('model2'), 2)\n"
        "joint.predict(Path('model2'), Path('train'), Path('output2'))"
    )
    other = os.environ | {"PYTHONHASHSEED": "2"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=other)
    for name in ("model", "output"):
        assert (tmp_path / f"{name}1").read_bytes() == (tmp_path / f"{name}2").read_bytes()
    assert (tmp_path / "output1").read_text().splitlines()[1] == "0-0 1-1"
