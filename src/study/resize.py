"""Other test sets made from one: initial segments, domains, draws, halves; and all pairs of systems on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pairsig import streams
from pairsig.all_pairs import compare
from pairsig.columns import COMPARISONS
from pairsig.errors import InputError
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.test_sets import Derivation


def other_test_sets(
    statistics: Statistics,
    *,
    initial: Sequence[int] | None = None,
    shuffle: int | None = None,
    domain_size: int | None = None,
    document_size: int | None = None,
    draws: int = 0,
    draw_size: int | None = None,
    halves: int = 0,
    seed: int = 2012,
) -> Iterator[tuple[Derivation, Statistics]]:
    """Other test sets made from one, each with how it was made.

    Parameters
    ----------
    initial
        Sizes of initial segments: `first-100`, … Those that are not smaller than the test set are left out: the
        series ends with `compare` on the whole.
    shuffle
        Seed of the order that initial segments are of, where the test set's own goes from one domain to the next: each
        is then a random sample of the test set, without replacement, and the next larger one holds it. (Segments are
        shuffled one by one: where the document is the unit of resampling, small ones have few of each.)
    domain_size
        The first N segments of every domain that has at least N: `news-first-500`, …
    document_size
        The first N segments of every document that has at least N.
    draws, draw_size
        Test sets drawn with replacement, as the paper draws its i.i.d. test sets: `draw-1`, …
    halves
        Random splits into two halves: `half-1` and `half-2` of the first split, then `half-3` and `half-4`, …
    seed
        Seed of the draws and splits, which have streams of their own.
    """
    n_segments = len(statistics.segments)
    numbers = {
        "initial size": (min(initial or [1]), 1),
        "domain size": (domain_size, 1),
        "document size": (document_size, 1),
        "draw size": (draw_size, 1),
        "number of draws": (draws, 0),
        "number of halves": (halves, 0),
        "seed of the order": (shuffle, 0),
    }
    for what, (number, least) in numbers.items():
        if number is not None and number < least:
            raise InputError(f"the {what} is {number}, expected at least {least}")
    if shuffle is not None and initial is None:
        raise InputError(f"found the order {shuffle} of initial segments without their sizes, expected both")
    if initial is not None:
        order = np.arange(n_segments)
        if shuffle is not None:  # sorted by words of a bit generator, which no version of numpy changes
            order = np.argsort(np.random.PCG64(shuffle).random_raw(n_segments), kind="stable")
        for size in sorted(size for size in set(initial) if size < n_segments):
            yield Derivation("initial", size), statistics.select(segments=np.sort(order[:size]))
    for kind, labels, wanted in (
        ("domain", statistics.domains, domain_size),
        ("document", statistics.documents, document_size),
    ):
        for label in dict.fromkeys(labels):
            members = np.flatnonzero(labels == label)
            if wanted is not None and label and len(members) >= wanted:
                yield Derivation(kind, wanted, domain=str(label)), statistics.select(segments=members[:wanted])
    draw_seed, half_seed = (int(word) for word in np.random.SeedSequence(seed).generate_state(4, np.uint32)[2:])
    for number in range(1, draws + 1):
        times = streams.bootstrap_counts(
            draw_seed, number, 1, n_segments, n_draws=draw_size, out=np.empty((1, n_segments), dtype=np.int64)
        )
        members = np.repeat(np.arange(n_segments), times[0])
        yield Derivation("draw", len(members), number=number), statistics.select(segments=members)
    for number in range(1, halves + 1):
        # A random order without replacement: sort by the draws of a stream of its own.
        order = np.random.Generator(np.random.SFC64([half_seed, number])).permutation(n_segments)
        for side, members in enumerate((order[: n_segments // 2], order[n_segments // 2 :]), start=1):
            made = Derivation("half", len(members), number=2 * (number - 1) + side)
            yield made, statistics.select(segments=np.sort(members))


def doubling(first: int, n_segments: int) -> list[int]:
    """Sizes first, 2·first, 4·first, … up to the number of segments."""
    if first < 1:
        raise InputError(f"the first size is {first}, expected at least 1")
    sizes = []
    while first < n_segments:
        sizes.append(first)
        first *= 2
    return sizes


def resize(
    statistics: Statistics,
    test: str = "bootstrap",
    *,
    initial: Sequence[int] | None = None,
    shuffle: int | None = None,
    domain_size: int | None = None,
    document_size: int | None = None,
    draws: int = 0,
    draw_size: int | None = None,
    halves: int = 0,
    seed: int = 2012,
    **options: Any,
) -> pd.DataFrame:
    """`compare` on every test set that `other_test_sets` makes; the arguments are theirs.

    With part = (k, m) every test set is whole, and the resamples of each are split.
    """
    made = other_test_sets(
        statistics,
        initial=initial,
        shuffle=shuffle,
        domain_size=domain_size,
        document_size=document_size,
        draws=draws,
        draw_size=draw_size,
        halves=halves,
        seed=seed,
    )
    found = [
        compare(subset, test, seed=seed, test_set=how.label, **options).assign(
            derived=how.derived, domain=how.domain, number=how.number
        )
        for how, subset in made
    ]
    if not found:
        raise InputError(f"dataset {statistics.dataset} yields no test set: expected sizes, domains, draws or halves")
    return frame(COMPARISONS, pd.concat(found, ignore_index=True))
