"""Derivations of test sets from a dataset, their columns in tables, and their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.io.errors import InputError


@dataclass(frozen=True)
class Derivation:
    """Derivation of a test set, as in the columns `derived`, `domain` and `number` of comparisons."""

    derived: str  # `whole`, `initial`, `domain`, `document`, `draw` or `half`
    size: int  # number of segments
    domain: str = ""  # domain or document of the segments
    number: int = 0  # of the draw or half, from 1

    @property
    def label(self) -> str:
        """Label for readers; no code parses it.

        >>> Derivation("initial", 400).label, Derivation("domain", 400, domain="news").label
        ('first-400', 'news-first-400')
        >>> Derivation("draw", 400, number=7).label, Derivation("half", 400, number=2).label
        ('draw-7', 'half-2')
        """
        return {
            "whole": "whole",
            "initial": f"first-{self.size}",
            "domain": f"{self.domain}-first-{self.size}",
            "document": f"{self.domain}-first-{self.size}",
            "draw": f"draw-{self.number}",
            "half": f"half-{self.number}",
        }[self.derived]


SAME = "="
"""Pattern on the second side of a calibration for the same dataset, or test set, as on the first side."""


def matches(name: str, patterns: str) -> bool:
    """Whether a name matches one of the patterns, separated by blanks, where `*` and `SAME` match anything.

    >>> matches("conll2018-no_nynorsk", "conll2018-sv_* conll2018-no_*"), matches("whole", "half-*")
    (True, False)
    """
    return patterns == SAME or any(fnmatchcase(name, pattern) for pattern in patterns.split())


def doubling(first: int, n_segments: int, *, factor: int = 2) -> list[int]:
    """Sizes first, 2·first, 4·first, … below the number of segments."""
    if first < 1:
        raise InputError(f"found doubling from {first}, expected a first size of at least 1")
    sizes = []
    while first < n_segments:
        sizes.append(first)
        first *= factor
    return sizes


def labelled(labels: NDArray[np.str_]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yield each domain or document with its segments; those with an empty label or `-` have none."""
    for label in dict.fromkeys(labels.tolist()):
        if label not in ("", "-"):
            yield label, np.flatnonzero(labels == label)


def random_order(n_segments: int, seed: int) -> NDArray[np.intp]:
    """Shuffle segments: sorted by raw output of a bit generator, which is the same in all versions of numpy."""
    return np.argsort(np.random.PCG64(seed).random_raw(n_segments), kind="stable")


def is_initial(table: pd.DataFrame) -> pd.Series[bool]:
    """Mark the rows about initial segments in a table with labels and sizes of test sets."""
    labels = [Derivation("initial", int(size)).label for size in table["n_segments"]]
    return table["test_set"] == pd.Series(labels, index=table.index, dtype="str")


def is_whole(table: pd.DataFrame) -> pd.Series[bool]:
    """Mark the rows about whole test sets in a table with labels of test sets."""
    return table["test_set"] == "whole"
