"""Word alignment by the best alignment of an inversion transduction grammar (Wu 1997; Haghighi et al. 2009).

The score of an alignment is the sum of the scores of its links, and that of a link the product of weights and features:
the posteriors of a joint HMM (`study.base_models.joint_hmm`), which is given, what is around them, positions, spelling.
Of all alignments in which every word has at most one link and which the grammar

    X → [X X] | ⟨X X⟩ | e/f | e/ε | ε/f

can make, two neighbouring parts being in the same or in the inverted order, the best is found exactly, without pruning,
in O(n³m³) steps for n and m words. (Words all of whose links have scores of 0 or less have none in the best alignment,
and are set aside first.) Pairs with more than 60 words on a side are refused.

Weights are learned from sentence pairs with the annotators' links, by the margin infused relaxed algorithm (Crammer and
Singer 2003),

    y' = argmax_y w·f(y) + L(y),    Δ = f(y*) - f(y'),    w ← w + min(C, (L(y') - L(y*) - w·Δ) / |Δ|²) · Δ,

with L(y) the links of y that are not even possible less its sure ones, and y* the alignment of the grammar with the
least L, of several the one with the highest score. The weights of a model are averages over all steps. Blocks, which
link several words on a side, are left out: with those of three words, alignments of the Hansards are worse.

337 pairs with links take 4 CPU seconds and 0.3 GB, and 21 more for the HMM, which is trained once for all systems.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pairsig.errors import InputError
from pairsig.readers.alignment import Alignment, Link
from pairsig.tables import replacing
from study.base_models import command, joint_hmm
from study.corpora import alignment

Pair = tuple[Sequence[str], Sequence[str]]
Floats = NDArray[np.float64]

EPOCHS = 6
"""Passes over the pairs."""
LARGEST_STEP = 0.05
"""C, the bound of a step. On the last 87 of the 337 pairs, values from 0.01 to 0.2 are as good (error rates from 8.5 to
8.8, the HMM's is 9.0), and so are 12 passes."""
LONGEST = 60
"""Words on a side; memory for the best alignments of all spans is 8 (n + 1)² (m + 1)² bytes, 110 MB at most."""
LIKELY = (0.1, 0.3, 0.5, 0.9)
"""Bounds of posteriors that have features of their own."""
_LEAST = 1e-6


def features(pair: Pair, forward: Floats, backward: Floats) -> dict[str, Floats]:
    """Features of all links of a sentence pair, by name.

    Parameters
    ----------
    pair
        n source words and m target words.
    forward, backward
        Posteriors of the two models of a joint HMM, each of shape (n, m). What is called `both` is their geometric
        mean, and neighbours are links whose two words are next to these: diagonal ones, or the other four.
    """
    shape = forward.shape
    p, q = np.clip(forward, _LEAST, 1), np.clip(backward, _LEAST, 1)
    both = np.sqrt(p * q)
    positions = [np.arange(size) / size for size in shape]
    distance = np.abs(positions[0][:, None] - positions[1])
    source, target = (np.array([word.lower() for word in side], dtype=object) for side in pair)
    signs = [np.array([not word.isalnum() for word in side]) for side in (source, target)]
    same = source[:, None] == target
    around = np.pad(both, 1)
    best = [both >= both.max(axis=axis, keepdims=True) for axis in (1, 0)]
    found = {
        "any": np.ones(shape),
        "forward": p,
        "backward": q,
        "both": both,
        "log forward": np.log(p) / 10,
        "log backward": np.log(q) / 10,
        **{f"both above {bound}": both > bound for bound in LIKELY},
        "best of source word": best[0],
        "best of target word": best[1],
        "best of both words": best[0] & best[1],
        "diagonal neighbours": (around[:-2, :-2] + around[2:, 2:]) / 2,
        "other neighbours": (around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]) / 2,
        "distance": distance,
        "distance squared": distance**2,
        "same word": same,
        "same word nearby": same & (distance < 0.2),
        "word and sign": signs[0][:, None] != signs[1],
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}


def best_alignment(scores: Floats) -> list[Link]:
    """The links of the grammar's alignment with the highest score, in order.

    Parameters
    ----------
    scores
        Of all links, shape (n, m), finite. Of alignments with equal scores always the same one is taken.
    """
    rows, columns = (np.flatnonzero((scores > 0).any(axis=axis)) for axis in (1, 0))
    links = _search(np.ascontiguousarray(scores[np.ix_(rows, columns)], dtype=np.float64))
    return sorted((int(rows[i]), int(columns[j])) for i, j in links)


def fit(
    examples: Iterable[tuple[Pair, Alignment]], hmm: joint_hmm.Model, *, seed: int, epochs: int = EPOCHS
) -> dict[str, float]:
    """Weights of the features, learned from sentence pairs with links; `seed` is of their order in each epoch."""
    seen = [(_stacked(pair, hmm), _loss(pair, gold)) for pair, gold in examples]
    weights, total = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for order in np.random.PCG64(seed % 2**64).random_raw((epochs, len(seen))):
        for index in np.argsort(order, kind="stable"):
            weights = _learn(weights, *seen[index])
            total += weights
    return dict(zip(NAMES, (total / (epochs * len(seen))).tolist(), strict=True))


def decode(weights: dict[str, float], hmm: joint_hmm.Model, pair: Pair) -> list[Link]:
    """Links of a sentence pair, in order."""
    return best_alignment(_stacked(pair, hmm) @ np.array([weights[name] for name in NAMES]))


def train(training_set: Path, model: Path, seed: int, *, hmm: Path) -> None:
    """Weights from a training set with links."""
    examples = alignment.labelled(training_set)
    for number, (pair, _) in enumerate(examples, start=1):
        _check_length(pair, training_set, number)
    weights = fit(examples, joint_hmm.read(hmm), seed=seed)
    with replacing(model) as temporary:
        temporary.write_text(json.dumps(weights, indent=1), encoding="utf-8")


def predict(model: Path, segments: Path, output: Path, *, hmm: Path) -> None:
    """Links of sentence pairs."""
    weights, given = read(model), joint_hmm.read(hmm)
    with replacing(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for number, pair in enumerate(alignment.pairs(segments), start=1):
            _check_length(pair, segments, number)
            file.write(alignment.write(decode(weights, given, pair)) + "\n")


def read(path: Path) -> dict[str, float]:
    """Weights that `train` has written."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: float(found[name]) for name in NAMES}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a model of itg ({error})") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hmm", type=Path, required=True, help="a model of study.base_models.joint_hmm")
    chosen, others = parser.parse_known_args(arguments)

    def train_so(training_set: Path, model: Path, seed: int) -> None:
        train(training_set, model, seed, hmm=chosen.hmm)

    def predict_so(model: Path, segments: Path, output: Path) -> None:
        predict(model, segments, output, hmm=chosen.hmm)

    return command("study.base_models.itg", train=train_so, predict=predict_so, arguments=others)


NAMES = tuple(features((["a"], ["a"]), np.ones((1, 1)), np.ones((1, 1))))
"""Of the features."""


def _check_length(pair: Pair, path: Path, number: int) -> None:
    if max(map(len, pair)) > LONGEST:
        told = f"found a pair of {len(pair[0])} and {len(pair[1])} words, expected at most {LONGEST} on a side"
        raise InputError(f"{path}, line {number}: {told}, since the search takes their product to the power of three")


def _stacked(pair: Pair, hmm: joint_hmm.Model) -> Floats:
    """Features of all links, shape (n, m, features)."""
    return np.stack(list(features(pair, *joint_hmm.posteriors(hmm, pair)).values()), axis=-1)


def _loss(pair: Pair, gold: Alignment) -> Floats:
    """What each link adds to L: 1, or 0 if it is possible, or -1 if it is sure."""
    loss = np.ones((len(pair[0]), len(pair[1])))
    for links, value in ((gold.possible, 0), (gold.sure, -1)):
        for link in links:
            loss[link] = value
    return loss


def _learn(weights: Floats, found: Floats, loss: Floats) -> Floats:
    """The weights after one step, from the features and losses of a pair's links."""
    scores = found @ weights
    # All scores of an alignment together weigh less than one link's loss.
    least = best_alignment(scores / (1 + np.abs(scores).sum()) - loss)
    wrong = best_alignment(scores + loss)

    def total(values: Floats, links: list[Link]) -> Floats:
        chosen: Floats = values[tuple(np.array(links, dtype=np.intp).reshape(-1, 2).T)]
        return np.asarray(chosen.sum(axis=0))

    step = total(found, least) - total(found, wrong)
    violation = float(total(loss, wrong) - total(loss, least) - weights @ step)
    if violation <= 0 or not step.any():
        return weights
    return weights + min(LARGEST_STEP, violation / float(step @ step)) * step


@njit(cache=True)
def _search(scores):  # type: ignore[no-untyped-def]
    """Links of the best alignment; see `best_alignment`.

    `best[i1, i2, j1, j2]` is the score of the best alignment of source words i1 to i2 and target words j1 to j2 (ends
    not included): that of one link, of a span that is a word shorter, or of two parts in one of the two orders.
    """
    n, m = scores.shape
    best = np.zeros((n + 1, n + 1, m + 1, m + 1))
    for height in range(1, n + 1):
        for width in range(1, m + 1):
            for i1 in range(n - height + 1):
                i2 = i1 + height
                for j1 in range(m - width + 1):
                    j2 = j1 + width
                    top = scores[i1, j1] if height == 1 and width == 1 else 0.0
                    top = max(top, best[i1, i2 - 1, j1, j2], best[i1 + 1, i2, j1, j2])
                    top = max(top, best[i1, i2, j1, j2 - 1], best[i1, i2, j1 + 1, j2])
                    for i in range(i1 + 1, i2):
                        for j in range(j1 + 1, j2):
                            straight = best[i1, i, j1, j] + best[i, i2, j, j2]
                            if straight > top:
                                top = straight
                            inverted = best[i1, i, j, j2] + best[i, i2, j1, j]
                            if inverted > top:
                                top = inverted
                    best[i1, i2, j1, j2] = top
    links = [(0, 0) for _ in range(0)]
    spans = [(0, n, 0, m)]
    while len(spans) > 0:
        i1, i2, j1, j2 = spans.pop()
        top = best[i1, i2, j1, j2]
        if top <= 0:
            continue
        if i2 - i1 == 1 and j2 - j1 == 1:
            links.append((i1, j1))
        elif best[i1, i2 - 1, j1, j2] == top:
            spans.append((i1, i2 - 1, j1, j2))
        elif best[i1 + 1, i2, j1, j2] == top:
            spans.append((i1 + 1, i2, j1, j2))
        elif best[i1, i2, j1, j2 - 1] == top:
            spans.append((i1, i2, j1, j2 - 1))
        elif best[i1, i2, j1 + 1, j2] == top:
            spans.append((i1, i2, j1 + 1, j2))
        else:
            for cut in range((i2 - i1 - 1) * (j2 - j1 - 1)):
                i, j = i1 + 1 + cut // (j2 - j1 - 1), j1 + 1 + cut % (j2 - j1 - 1)
                if best[i1, i, j1, j] + best[i, i2, j, j2] == top:
                    spans.append((i1, i, j1, j))
                    spans.append((i, i2, j, j2))
                    break
                if best[i1, i, j, j2] + best[i, i2, j1, j] == top:
                    spans.append((i1, i, j, j2))
                    spans.append((i, i2, j1, j))
                    break
    return links


if __name__ == "__main__":
    raise SystemExit(main())
