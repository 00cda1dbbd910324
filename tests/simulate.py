"""Systems with known truth: for tests of the tests, benchmarks, and a quick look without any data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics

FAMILIES = ("accuracy", "f1", "bleu", "mean")
"""Metrics whose counts can be simulated."""


def items(only_a: int, only_b: int, n: int) -> NDArray[np.int64]:
    """Outcomes of two systems on n items: A alone passes some, B alone passes some, and both pass the rest."""
    outcomes = np.ones((2, n), dtype=np.int64)
    outcomes[1, :only_a] = outcomes[0, only_a : only_a + only_b] = 0
    return outcomes


def statistics(
    metric: str,
    *,
    n_systems: int,
    n_segments: int,
    n_groups: int | None = None,
    spread: float = 0.2,
    correlation: float = 0.5,
    document_size: int = 1,
    document_effect: float = 0.0,
    seed: int = 2012,
    dataset: str = "simulated",
) -> Statistics:
    """Counts of systems that solve words of segments, some segments being harder than others for everybody.

    The chance of system s to get a word of segment i right is logistic(skill_s + difficulty_i + group_gi + own_si).
    Skills are normal with standard deviation `spread`; 0 makes all systems equal on the population, which is the
    null hypothesis of every test here.

    Parameters
    ----------
    metric
        One of `FAMILIES`.
    n_systems, n_segments, n_groups
        Systems take turns in being of group 1, 2, …; by default every system is a group.
    spread
        Standard deviation of the skills, in logits.
    correlation
        Share (0 to 1) of the variance of a system's peculiarities (own and group) that is its group's.
    document_size, document_effect
        Segments a document, and the standard deviation of a peculiarity that a system has on a whole document: with
        it segments are not independent.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    group = np.arange(n_systems) % (n_groups or n_systems)
    n_documents = -(-n_segments // document_size)
    document = np.arange(n_segments) // document_size
    logit = 1.0 + spread * rng.standard_normal((n_systems, 1)) + rng.standard_normal(n_segments)
    logit = logit + 0.5 * np.sqrt(correlation) * rng.standard_normal((group.max() + 1, n_segments))[group]
    logit += 0.5 * np.sqrt(1 - correlation) * rng.standard_normal((n_systems, n_segments))
    logit += document_effect * rng.standard_normal((n_systems, n_documents))[:, document]
    chance = 1 / (1 + np.exp(-logit))
    length = 1 + rng.negative_binomial(2, 0.1, size=n_segments)
    columns, counts = _count(metric, chance, length, rng)
    width = len(str(n_systems))
    return Statistics(
        dataset=dataset,
        systems=tuple(f"system{number:0{width}}" for number in range(1, n_systems + 1)),
        groups=tuple(f"group{number + 1}" for number in group),
        kinds=("simulated",) * n_systems,
        segments=np.arange(1, n_segments + 1).astype(str),
        documents=np.char.add("document", (document + 1).astype(str)),
        domains=np.full(n_segments, "", dtype="<U1"),
        columns=columns,
        counts=counts,
        provenance={"metric": metric, "source": f"simulated, seed {seed}"},
    )


def _count(
    metric: str, chance: NDArray[np.float64], length: NDArray[np.int64], rng: np.random.Generator
) -> tuple[tuple[str, ...], NDArray[Any]]:
    correct = rng.binomial(length, chance)
    if metric == "accuracy":
        return ("correct", "total"), np.stack([correct, np.broadcast_to(length, chance.shape)], axis=-1)
    if metric == "mean":
        return ("value",), (correct / length)[..., None]
    predicted = np.maximum(correct, length + rng.integers(-2, 3, size=chance.shape)).clip(min=1)
    gold = np.broadcast_to(length, chance.shape)
    if metric == "f1":
        return ("matched", "predicted", "gold"), np.stack([correct, predicted, gold], axis=-1)
    totals = np.stack([(predicted - order).clip(min=0) for order in range(4)], axis=-1)
    matches = [correct]
    for order in range(1, 4):
        matches.append(rng.binomial(np.minimum(matches[-1], totals[..., order]), chance))
    names = [f"{column}_{order}" for column in ("match", "total") for order in range(1, 5)]
    counts = np.concatenate([np.stack([predicted, gold, *matches], axis=-1), totals], axis=-1)
    return ("hypothesis_length", "reference_length", *names), counts
