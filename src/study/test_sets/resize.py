"""Compare all pairs of systems on parts of a test set: initial segments, domains, draws and halves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pairsig.core.draws import bootstrap_counts
from pairsig.core.statistics import Statistics
from pairsig.io.columns import COMPARISONS
from pairsig.io.errors import InputError
from pairsig.io.tables import frame
from study.test_sets import Derivation, doubling, labelled, random_order
from study.test_sets.all_pairs import compare


def other_test_sets(
    statistics: Statistics,
    *,
    initial: str = "",
    shuffle: int | None = None,
    domain_size: int | None = None,
    document_size: int | None = None,
    draws: int = 0,
    draw_size: int | None = None,
    halves: int = 0,
    seed: int = 2012,
) -> Iterator[tuple[Derivation, Statistics]]:
    """Yield test sets made from another one, each with its derivation.

    Parameters
    ----------
    initial
        Numbers of initial segments (`100,200`, or `doubling:100`): `first-100`, … Sizes that are not smaller than the
        test set are left out, because `compare` covers the whole test set.
    shuffle
        Seed for shuffling the segments before the initial ones are taken, for test sets that are sorted by domain. Each
        is then a random sample of the test set without replacement, and contained in the next larger one. (Single
        segments are shuffled, so that small samples have few segments of each document.)
    domain_size
        Make test sets of the first N segments of every domain with at least N: `news-first-500`, …
    document_size
        Make test sets of the first N segments of every document with at least N.
    draws, draw_size
        Number and size of test sets drawn with replacement, like the i.i.d. test sets of the paper: `draw-1`, …
    halves
        Number of random splits into two halves: `half-1` and `half-2` of the first split, then `half-3` and `half-4`, …
    seed
        Seed of the draws and splits, which use separate random streams.
    """
    n_segments = len(statistics.segments)
    if initial:
        order = np.arange(n_segments) if shuffle is None else random_order(n_segments, shuffle)
        for size in _sizes(initial, n_segments):
            yield Derivation("initial", size), statistics.select(segments=np.sort(order[:size]))
    for kind, labels, wanted in (
        ("domain", statistics.domains, domain_size),
        ("document", statistics.documents, document_size),
    ):
        for label, members in labelled(labels):
            if wanted is not None and len(members) >= wanted:
                yield Derivation(kind, wanted, domain=label), statistics.select(segments=members[:wanted])
    draw_seed, half_seed = (int(word) for word in np.random.SeedSequence(seed).generate_state(4, np.uint32)[2:])
    for number in range(1, draws + 1):
        times = bootstrap_counts(
            draw_seed, number, 1, n_segments, n_draws=draw_size, out=np.empty((1, n_segments), dtype=np.int64)
        )
        members = np.repeat(np.arange(n_segments), times[0])
        yield Derivation("draw", len(members), number=number), statistics.select(segments=members)
    for number in range(1, halves + 1):
        # A random order without replacement: sort by draws from a separate stream.
        order = np.random.Generator(np.random.SFC64([half_seed, number])).permutation(n_segments)
        for side, members in enumerate((order[: n_segments // 2], order[n_segments // 2 :]), start=1):
            made = Derivation("half", len(members), number=2 * (number - 1) + side)
            yield made, statistics.select(segments=np.sort(members))


def resize(data: Statistics, test_sets: Mapping[str, Any], *, rng: int = 2012, **options: Any) -> pd.DataFrame:
    """Compare all pairs of systems on every test set from `other_test_sets`; see `compare` for further options.

    With part = (k, m), the test sets stay complete, and the resamples of each are split.

    Parameters
    ----------
    test_sets
        Options of `other_test_sets`, as in the sheet of datasets: `initial` is sizes with commas, or `doubling:100`.
    """
    kinds: dict[str, Any] = {key: value if key == "initial" else int(value) for key, value in test_sets.items()}
    tables = [
        compare(subset, rng=rng, made=made, **options) for made, subset in other_test_sets(data, seed=rng, **kinds)
    ]
    if not tables:
        raise InputError(
            f"dataset {data.dataset}: found no test sets to make, expected sizes, domains, draws or halves"
        )
    return frame(COMPARISONS, pd.concat(tables, ignore_index=True))


def _sizes(initial: str, n_segments: int) -> list[int]:
    """Read sizes of initial segments; those that are not smaller than the test set are left out."""
    first = initial.removeprefix("doubling:")
    if first != initial:
        return doubling(int(first), n_segments)
    return sorted({int(size) for size in initial.split(",") if int(size) < n_segments})
