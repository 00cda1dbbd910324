"""How a test set was made of a dataset's: what tables say of it in columns, and its label for people."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

import pandas as pd


@dataclass(frozen=True)
class Derivation:
    """How a test set was made. The columns `derived`, `domain` and `number` of comparisons say so, too.

    Attributes
    ----------
    derived
        `whole`, `initial`, `domain`, `document`, `draw` or `half`.
    size
        Number of segments.
    domain
        The domain or document that it is of.
    number
        Which of the draws or halves, from 1.
    """

    derived: str
    size: int
    domain: str = ""
    number: int = 0

    @property
    def label(self) -> str:
        """What people call it; nothing reads it apart.

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
"""On the second side of a calibration: the dataset, or the test set, that the first side has."""


def matches(name: str, patterns: str) -> bool:
    """Whether a name is among patterns, separated by blanks, with `*` for anything; `SAME` is a pattern of all.

    >>> matches("conll2018-no_nynorsk", "conll2018-sv_* conll2018-no_*"), matches("whole", "half-*")
    (True, False)
    """
    return patterns == SAME or any(fnmatchcase(name, pattern) for pattern in patterns.split())


def is_initial(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are about initial segments, in a table that has only the labels and sizes of test sets."""
    labels = [Derivation("initial", int(size)).label for size in table["n_segments"]]
    return table["test_set"] == pd.Series(labels, index=table.index, dtype="str")


def is_whole(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are about whole test sets, in a table that has only the labels of test sets."""
    return table["test_set"] == "whole"
