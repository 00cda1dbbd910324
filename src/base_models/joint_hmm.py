"""Word alignment by two hidden Markov models trained to agree (Liang, Taskar and Klein 2006).

One model generates the target words from the source words, the other the source words from the target words. In the
E-step, a link counts as the product of its two posterior probabilities, so that each model learns from both. Five
iterations of IBM model 1 are followed by five of the HMM; links are those of posterior decoding.
docs/base-models.md describes the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from base_models import formats, program
from base_models.formats import Pair
from pairsig.io.tables import replacing

Floats = NDArray[np.float64]

ITERATIONS = 5
"""Iterations of each model, as in the paper."""
NULL = 0.2
"""Probability that a word is a translation of no word, fixed as in Och and Ney (2003)."""
WIDEST = 7
"""Maximum length of a jump with its own weight; longer ones have the same weight."""
THRESHOLD = 0.25
"""A link is taken if the product of its two posteriors is larger, their geometric mean above one half.

The paper combines the posteriors in this way and does not specify the threshold. On the trial pairs of the Hansards
every value from 0.1 to 0.4 is as good (error rates from 9.8 to 10.5)."""
UNSEEN = 1e-9
"""Minimal probability of a translation, for example of words that never occurred in the same sentence pair."""
_N_JUMPS = 2 * WIDEST + 1
_SIDES = ("sources", "targets")


@dataclass
class Direction:
    """Parameters of the model that generates one side from the other."""

    translation: Floats  # probability of the generated word given the other one, for each pair of `Model.keys`
    null: Floats  # probability of each generated word if it is linked to no word
    jumps: Floats = field(default_factory=lambda: np.full(_N_JUMPS, 1 / _N_JUMPS))
    """Weights of jumps between positions, from -`WIDEST` to +`WIDEST`; longer jumps have the weights at the ends. The
    probability of a jump is its weight divided by the sum over all jumps that stay in the sentence."""


@dataclass
class Model:
    """The models of both directions."""

    sources: list[str]  # words in the order of their numbers
    targets: list[str]
    keys: NDArray[np.int64]
    """Pairs of words that occurred in the same sentence pair, as source · len(targets) + target, ascending."""
    forward: Direction  # generates target words
    backward: Direction  # generates source words
    likelihoods: list[tuple[float, float]] = field(default_factory=list)
    """Log-likelihoods of the training set in both directions, before each iteration."""

    @cached_property
    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """Numbers of the source words, and of the target words."""
        sources, targets = ({word: n for n, word in enumerate(side)} for side in (self.sources, self.targets))
        return sources, targets


def fit(pairs: Iterable[Pair], *, iterations: int = ITERATIONS, joint: bool = True) -> Model:
    """Train on sentence pairs.

    Parameters
    ----------
    pairs
        Source words and target words. Repeated pairs count as often as they occur.
    iterations
        Number of iterations of model 1, and of the HMM.
    joint
        Whether to train both directions to agree; otherwise each is trained alone by EM.
    """
    # A third of a resampled training set consists of copies.
    repeats = Counter(map(formats.folded, pairs))
    sources: dict[str, int] = {}
    targets: dict[str, int] = {}
    words, starts = flat([pair[0] for pair in repeats], sources)
    others, others_starts = flat([pair[1] for pair in repeats], targets)
    keys, cells = np.unique(_keys(words, starts, others, others_starts, len(targets)), return_inverse=True)
    text = (words, starts, others, others_starts, cells.astype(np.int32), np.array(list(repeats.values()), dtype=float))
    givens = [(keys // max(len(targets), 1), len(sources)), (keys % max(len(targets), 1), len(targets))]

    forward, backward = directions = [
        Direction(np.full(len(keys), 1 / max(size, 1)), np.full(size, 1 / max(size, 1)))
        for size in (len(targets), len(sources))
    ]
    model = Model(list(sources), list(targets), keys, forward, backward)
    for hmm in (False, True):
        for _ in range(iterations):
            counts = [
                (np.zeros(len(keys)), np.zeros(len(direction.null)), np.zeros(_N_JUMPS), np.zeros(_N_JUMPS))
                for direction in directions
            ]
            parameters = tuple((direction.translation, direction.null, direction.jumps) for direction in directions)
            model.likelihoods.append(_expect(text, parameters, tuple(counts), hmm, joint))
            for direction, counted, conditioning in zip(directions, counts, givens, strict=True):
                _maximize(direction, counted, *conditioning)
    return model


def posteriors(model: Model, pair: Pair) -> tuple[Floats, Floats]:
    """Compute the posterior probabilities of all links by both HMMs, each of shape (source, target)."""
    sides = zip(model.numbers, formats.folded(pair), strict=True)
    numbers = [np.array([of.get(word, -1) for word in side]) for of, side in sides]
    keys = numbers[0][:, None] * len(model.targets) + numbers[1]
    at = np.minimum(np.searchsorted(model.keys, keys), len(model.keys) - 1)
    known = (model.keys[at] == keys) & (numbers[0][:, None] >= 0) & (numbers[1] >= 0)

    def looked_up(direction: Direction, generated: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        cells = np.where(known, direction.translation[at], 0.0)
        return cells, np.where(generated >= 0, direction.null[generated], 0.0), direction.jumps

    cells, null, jumps = looked_up(model.forward, numbers[1])
    forward = _infer(np.ascontiguousarray(cells.T), null, jumps, True)[0]
    return forward.T, _infer(*looked_up(model.backward, numbers[0]), True)[0]


def decode(model: Model, pair: Pair, *, threshold: float = THRESHOLD) -> list[tuple[int, int]]:
    """Find the links for which the product of both posteriors is above the threshold, in order."""
    forward, backward = posteriors(model, pair)
    return [(int(i), int(j)) for i, j in np.argwhere(forward * backward > threshold)]


def write(model: Model, path: Path) -> None:
    """Write a model to an npz file."""
    texts: dict[str, Any] = {
        side: np.frombuffer("\n".join(getattr(model, side)).encode(), dtype=np.uint8) for side in _SIDES
    }
    parameters: dict[str, Any] = {}
    for name in ("forward", "backward"):
        direction = vars(getattr(model, name))
        parameters |= {f"{name}_{parameter}": values for parameter, values in direction.items()}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, keys=model.keys, **texts, **parameters)


def read(path: Path) -> Model:
    """Read a model from `write`."""
    with program.reading(path, "joint_hmm"), np.load(path) as arrays:
        sources, targets = (arrays[side].tobytes().decode().split("\n") for side in _SIDES)
        forward, backward = (
            Direction(*(arrays[f"{name}_{parameter}"] for parameter in ("translation", "null", "jumps")))
            for name in ("forward", "backward")
        )
        return Model(sources, targets, arrays["keys"], forward, backward)


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - nothing is drawn
    """Train a model on a training set."""
    write(fit(formats.read_pairs(training_set)), model)


def predict(model: Path, segments: Path, output: Path) -> None:
    """Align sentence pairs."""
    trained = read(model)
    formats.write_links(output, (decode(trained, pair) for pair in formats.read_pairs(segments)))


def flat(sentences: Iterable[Sequence[str]], numbers: dict[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number words by first appearance, and concatenate the sentences; sentence k is from start k to start k + 1."""
    words = [[numbers.setdefault(word, len(numbers)) for word in sentence] for sentence in sentences]
    starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return np.array([*chain.from_iterable(words)], dtype=np.int64), starts


def _maximize(
    direction: Direction, counts: tuple[Floats, Floats, Floats, Floats], conditioning: NDArray[np.int64], size: int
) -> None:
    """Run the M-step, in place; `conditioning` is the conditioning word of each pair, one of `size` words."""
    links, nulls, jumps, expected = counts
    totals = np.bincount(conditioning, weights=links, minlength=size)[conditioning]
    direction.translation = np.divide(links, totals, out=np.zeros_like(links), where=totals > 0)
    if nulls.any():
        direction.null = nulls / nulls.sum()
    if jumps.any():
        # An MM step, which never lowers the likelihood (Hunter 2004); the best weights have no closed form.
        direction.jumps *= np.divide(jumps, expected, out=np.ones_like(jumps), where=expected > 0)
        direction.jumps = np.maximum(direction.jumps / direction.jumps.sum(), UNSEEN)


@njit(cache=True)
def _keys(words, starts, others, others_starts, n_others):  # type: ignore[no-untyped-def]
    """List the key of the two words at each (source position, target position) of all sentence pairs."""
    n_cells = 0
    for k in range(len(starts) - 1):
        n_cells += (starts[k + 1] - starts[k]) * (others_starts[k + 1] - others_starts[k])
    keys = np.empty(n_cells, dtype=np.int64)
    cell = 0
    for k in range(len(starts) - 1):
        for a in range(starts[k], starts[k + 1]):
            for b in range(others_starts[k], others_starts[k + 1]):
                keys[cell] = words[a] * n_others + others[b]
                cell += 1
    return keys


@njit(cache=True)
def _expect(text, parameters, counts, hmm, joint):  # type: ignore[no-untyped-def]
    """Run the E-step over all sentence pairs: add to the counts, and return both log-likelihoods."""
    words, starts, others, others_starts, cells, repeats = text
    (translation, null, jumps), (back_translation, back_null, back_jumps) = parameters
    (links, nulls, jumped, expected), (back_links, back_nulls, back_jumped, back_expected) = counts
    likelihood = back_likelihood = 0.0
    cell = 0
    for k in range(len(repeats)):
        sources, targets = words[starts[k] : starts[k + 1]], others[others_starts[k] : others_starts[k + 1]]
        n, m = len(sources), len(targets)
        pairs = cells[cell : cell + n * m]
        inferred = _infer(np.ascontiguousarray(translation[pairs].reshape(n, m).T), null[targets], jumps, hmm)
        back_inferred = _infer(back_translation[pairs].reshape(n, m), back_null[sources], back_jumps, hmm)
        weight = repeats[k]
        for i in range(n):
            for j in range(m):
                p, q = inferred[0][j, i], back_inferred[0][i, j]
                links[cells[cell]] += weight * (p * q if joint else p)
                back_links[cells[cell]] += weight * (p * q if joint else q)
                cell += 1
            back_nulls[sources[i]] += weight * back_inferred[1][i]
        for j in range(m):
            nulls[targets[j]] += weight * inferred[1][j]
        jumped += weight * inferred[2]
        expected += weight * inferred[3]
        back_jumped += weight * back_inferred[2]
        back_expected += weight * back_inferred[3]
        likelihood += weight * inferred[4]
        back_likelihood += weight * back_inferred[4]
    return likelihood, back_likelihood


@njit(cache=True)
def _infer(emission, null, jumps, hmm):  # type: ignore[no-untyped-def]
    """Run one of the two models with probabilities of at least `UNSEEN`; see `_hmm`."""
    emission, null = np.maximum(emission, UNSEEN), np.maximum(null, UNSEEN)
    return _hmm(emission, null, jumps) if hmm else _model1(emission, null, jumps)


@njit(cache=True)
def _model1(emission, null, jumps):  # type: ignore[no-untyped-def]
    """Compute the same as `_hmm` for IBM model 1, in which positions do not matter."""
    n, m = emission.shape
    links, nulls = np.empty((n, m)), np.empty(n)
    likelihood = 0.0
    for j in range(n):
        total = NULL * null[j]
        for i in range(m):
            links[j, i] = (1 - NULL) / m * emission[j, i]
            total += links[j, i]
        for i in range(m):
            links[j, i] /= total
        nulls[j] = NULL * null[j] / total
        likelihood += np.log(total)
    return links, nulls, np.zeros(len(jumps)), np.zeros(len(jumps)), likelihood


@njit(cache=True)
def _hmm(emission, null, jumps):  # type: ignore[no-untyped-def]
    """Run the forward-backward algorithm for n words, given m words; position 0 is before the sentence.

    A state consists of the position of the last linked word, and of whether the current word is linked. The result are
    posteriors of links (n, m) and of no link (n,), numbers of jumps found and expected, and the log-likelihood.
    """
    n, m = emission.shape
    move = np.empty((m + 1, m))
    for p in range(m + 1):
        total = 0.0
        for i in range(m):
            move[p, i] = jumps[min(max(i + 1 - p, -WIDEST), WIDEST) + WIDEST]
            total += move[p, i]
        for i in range(m):
            move[p, i] *= (1 - NULL) / total
    back = np.ascontiguousarray(move.T)

    # Inner loops add up rows, never a sum of products: compilers vectorize the former without reordering sums.
    reached, linked, scale = np.zeros((n + 1, m + 1)), np.zeros((n, m)), np.empty(n)
    reached[0, 0] = 1.0
    likelihood = 0.0
    for j in range(n):
        row = linked[j]
        for p in range(m + 1):
            weight = reached[j, p]
            for i in range(m):
                row[i] += weight * move[p, i]
        total = 0.0
        for p in range(m + 1):
            reached[j + 1, p] = NULL * null[j] * reached[j, p]
        for i in range(m):
            row[i] *= emission[j, i]
            reached[j + 1, i + 1] += row[i]
        for p in range(m + 1):
            total += reached[j + 1, p]
        for i in range(m):
            row[i] /= total
        for p in range(m + 1):
            reached[j + 1, p] /= total
        scale[j] = total
        likelihood += np.log(total)

    nulls, flow = np.empty(n), np.zeros((m + 1, m))
    ahead, before, onward = np.ones(m + 1), np.empty(m + 1), np.empty(m)
    for j in range(n - 1, -1, -1):
        none = 0.0
        for p in range(m + 1):
            before[p] = NULL * null[j] / scale[j] * ahead[p]
            none += before[p] * reached[j, p]
        nulls[j] = none
        for i in range(m):
            linked[j, i] *= ahead[i + 1]
            onward[i] = emission[j, i] * ahead[i + 1] / scale[j]
        for i in range(m):
            weight = onward[i]
            for p in range(m + 1):
                before[p] += weight * back[i, p]
        for p in range(m + 1):
            weight = reached[j, p]
            for i in range(m):
                flow[p, i] += weight * onward[i]
        ahead[:] = before

    jumped, expected = np.zeros(len(jumps)), np.zeros(len(jumps))
    for p in range(m + 1):
        leaving = 0.0
        for i in range(m):
            flow[p, i] *= move[p, i]
            leaving += flow[p, i]
        for i in range(m):
            jump = min(max(i + 1 - p, -WIDEST), WIDEST) + WIDEST
            jumped[jump] += flow[p, i]
            expected[jump] += leaving * move[p, i] / (1 - NULL)
    return linked, nulls, jumped, expected, likelihood


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.joint_hmm", train=train, predict=predict))
