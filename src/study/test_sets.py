"""How a test set was made of a dataset's: what tables say of it in columns, and its label for people."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Derivation:
    """How a test set was made. The columns `derived`, `domain` and `number` of comparisons say so, too.

    Attributes
    ----------
    derived
        `whole`, `initial`, `domain`, `draw` or `half`.
    size
        Number of segments.
    domain
        The domain that it is of.
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
            "draw": f"draw-{self.number}",
            "half": f"half-{self.number}",
        }[self.derived]


def is_initial(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are about initial segments, in a table that has only the labels and sizes of test sets."""
    labels = [Derivation("initial", int(size)).label for size in table["n_segments"]]
    return table["test_set"] == pd.Series(labels, index=table.index, dtype="str")


def is_whole(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are about whole test sets, in a table that has only the labels of test sets."""
    return table["test_set"] == "whole"
