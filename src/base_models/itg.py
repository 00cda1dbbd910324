"""Word alignment by the best alignment of an inversion transduction grammar (Wu 1997; Haghighi et al. 2009).

The score of an alignment is the sum of the scores of its links, and that of a link the product of weights and features:
the posteriors of a joint HMM (`base_models.joint_hmm`), which is given, those of links around it, positions, spelling.
The best alignment of the grammar is found exactly, in O(n³m³) steps for n and m words; pairs with more than 60 words on
a side are refused. The weights are learned from sentence pairs with links by annotators, with the margin infused
relaxed algorithm (Crammer and Singer 2003), and averaged. docs/base-models.md has the formulas.

337 pairs with links take 4 CPU seconds and 0.3 GB, and 21 more for the HMM, which is trained once for all systems.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from base_models import formats, joint_hmm, program
from base_models.formats import Pair
from pairsig.io.errors import InputError
from pairsig.io.tables import write_text
from pairsig.readers.outputs.alignment import Alignment, Link

Floats = NDArray[np.float64]

EPOCHS = 6
"""Number of passes over the pairs."""
LARGEST_STEP = 0.05
"""C, the maximum size of a step. On the last 87 of the 337 pairs, values from 0.01 to 0.2 are as good (error rates from
8.5 to 8.8, the HMM's is 9.0), and so are 12 passes."""
LONGEST = 60
"""Maximum number of words on a side. The best alignments of all spans take 8 (n + 1)² (m + 1)² bytes of memory, at most
110 MB."""
LIKELY = (0.1, 0.3, 0.5, 0.9)
"""Bounds of the features that compare the posterior with a bound."""
_LEAST = 1e-6


def features(pair: Pair, forward: Floats, backward: Floats) -> dict[str, Floats]:
    """Compute the features of all links of a sentence pair, by name.

    Parameters
    ----------
    pair
        n source words and m target words.
    forward, backward
        Posteriors of the two models of a joint HMM, each of shape (n, m).

    Returns
    -------
    For each feature, an array of shape (n, m). `both` is the geometric mean of the posteriors. Diagonal neighbours are
    links between the next words on both sides, or between the previous ones; the other four are `other neighbours`.
    """
    shape = forward.shape
    p, q = np.clip(forward, _LEAST, 1), np.clip(backward, _LEAST, 1)
    geometric_mean = np.sqrt(p * q)
    positions = [np.arange(size) / size for size in shape]
    distance = np.abs(positions[0][:, None] - positions[1])
    source, target = (np.array([word.lower() for word in side], dtype=object) for side in pair)
    signs = [np.array([not word.isalnum() for word in side]) for side in (source, target)]
    same = source[:, None] == target
    around = np.pad(geometric_mean, 1)
    best = [geometric_mean >= geometric_mean.max(axis=axis, keepdims=True) for axis in (1, 0)]
    columns = {
        "any": np.ones(shape),
        "forward": p,
        "backward": q,
        "both": geometric_mean,
        "log forward": np.log(p) / 10,
        "log backward": np.log(q) / 10,
        **{f"both above {bound}": geometric_mean > bound for bound in LIKELY},
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
    return {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}


def best_alignment(scores: Floats) -> list[Link]:
    """Find the links of the alignment with the highest score, in order.

    Parameters
    ----------
    scores
        Finite scores of all links; shape (n, m). Ties are always resolved in the same way.
    """
    rows, columns = (np.flatnonzero((scores > 0).any(axis=axis)) for axis in (1, 0))
    links = _search(np.ascontiguousarray(scores[np.ix_(rows, columns)], dtype=np.float64))
    return sorted((int(rows[i]), int(columns[j])) for i, j in links)


def fit(
    examples: Iterable[tuple[Pair, Alignment]], hmm: joint_hmm.Model, *, seed: int, epochs: int = EPOCHS
) -> dict[str, float]:
    """Learn the weights of the features from sentence pairs with links; `seed` determines their order in each epoch."""
    seen = [(_stacked(pair, hmm), _loss(pair, gold)) for pair, gold in examples]
    weights, total = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for order in np.random.PCG64(seed % 2**64).random_raw((epochs, len(seen))):
        for index in np.argsort(order, kind="stable"):
            weights = _learn(weights, *seen[index])
            total += weights
    return dict(zip(NAMES, (total / (epochs * len(seen))).tolist(), strict=True))


def decode(weights: dict[str, float], hmm: joint_hmm.Model, pair: Pair) -> list[Link]:
    """Align a sentence pair; the links are sorted."""
    return best_alignment(_stacked(pair, hmm) @ np.array([weights[name] for name in NAMES]))


def train(training_set: Path, model: Path, seed: int, *, hmm: Path) -> None:
    """Learn weights from a training set with links."""
    examples = formats.read_linked_pairs(training_set)
    _check_lengths([pair for pair, _ in examples], training_set)
    weights = fit(examples, joint_hmm.read(hmm), seed=seed)
    write_text(json.dumps(weights, indent=1), model)


def predict(model: Path, segments: Path, output: Path, *, hmm: Path) -> None:
    """Align sentence pairs."""
    weights, hidden_markov = read(model), joint_hmm.read(hmm)
    pairs = formats.read_pairs(segments)
    _check_lengths(pairs, segments)
    formats.write_links(output, (decode(weights, hidden_markov, pair) for pair in pairs))


def read(path: Path) -> dict[str, float]:
    """Read weights written by `train`."""
    with program.reading(path, "itg"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {name: float(stored[name]) for name in NAMES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hmm", type=Path, required=True, help="a model of base_models.joint_hmm")
    chosen, others = parser.parse_known_args(arguments)
    commands = {"train": partial(train, hmm=chosen.hmm), "predict": partial(predict, hmm=chosen.hmm)}
    return program.run("base_models.itg", **commands, arguments=others)


NAMES = tuple(features((["a"], ["a"]), np.ones((1, 1)), np.ones((1, 1))))
"""Names of the features."""


def _check_lengths(pairs: Sequence[Pair], path: Path) -> None:
    for number, (source, target) in enumerate(pairs, start=1):
        if max(len(source), len(target)) > LONGEST:
            fault = f"found a pair of {len(source)} and {len(target)} words, expected at most {LONGEST} on a side"
            raise InputError(
                f"{path}, line {number}: {fault}, since the search takes their product to the power of three"
            )


def _stacked(pair: Pair, hmm: joint_hmm.Model) -> Floats:
    """Compute the features of all links, as an array of shape (n, m, features)."""
    return np.stack(list(features(pair, *joint_hmm.posteriors(hmm, pair)).values()), axis=-1)


def _loss(pair: Pair, gold: Alignment) -> Floats:
    """Compute what each link adds to the loss L: 1, or 0 if it is possible, or -1 if it is sure."""
    loss = np.ones((len(pair[0]), len(pair[1])))
    for links, value in ((gold.possible, 0), (gold.sure, -1)):
        for link in links:
            loss[link] = value
    return loss


def _learn(weights: Floats, features: Floats, loss: Floats) -> Floats:
    """Update the weights by the features and losses of the links of a pair."""
    scores = features @ weights
    # All scores of an alignment together weigh less than one link's loss.
    least = best_alignment(scores / (1 + np.abs(scores).sum()) - loss)
    wrong = best_alignment(scores + loss)

    def total(values: Floats, links: list[Link]) -> Floats:
        chosen: Floats = values[tuple(np.array(links, dtype=np.intp).reshape(-1, 2).T)]
        return np.asarray(chosen.sum(axis=0))

    step = total(features, least) - total(features, wrong)
    violation = float(total(loss, wrong) - total(loss, least) - weights @ step)
    if violation <= 0 or not step.any():
        return weights
    return weights + min(LARGEST_STEP, violation / float(step @ step)) * step


@njit(cache=True)
def _search(scores):  # type: ignore[no-untyped-def]
    """Find the links of the best alignment; see `best_alignment`.

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
            continue
        for span in ((i1, i2 - 1, j1, j2), (i1 + 1, i2, j1, j2), (i1, i2, j1, j2 - 1), (i1, i2, j1 + 1, j2)):
            if best[span] == top:
                spans.append(span)
                break
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
