"""The page about data of one's own: which systems are best, which differences are significant, all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pairsig.io.columns import RANKED_PAIRS
from pairsig.io.rendering import cells
from study.beyond.ranks import described
from study.site.build import ASSETS, environment, ranked

if TYPE_CHECKING:
    from pairsig.comparisons.ranking import Ranking

LISTED = 6
"""Largest number of names that a sentence lists."""


def page(ranking: Ranking) -> str:
    """Write the page of a ranking, one file of HTML that needs no other."""
    systems, pairs = ranking.table, ranking.pairs
    note = dict(ranking.statistics.provenance).get("note", "")  # the note of the dataset in its sheet
    significant = pairs["pvalue_adjusted"] <= ranking.alpha
    columns = RANKED_PAIRS.view(
        system_a="better", system_b="other", gain="gain", correlation="", pvalue_adjusted="p (adjusted)"
    )
    shown = cells(pairs, columns)
    return environment().get_template("own.html").render(
        style=(ASSETS / "site.css").read_text(encoding="utf-8"),
        script=(ASSETS / "site.js").read_text(encoding="utf-8"),
        dataset=ranking.statistics.dataset,
        n_segments=len(ranking.statistics.segments),
        n_systems=len(systems),
        metric=ranking.metric.name,
        best=best(systems),
        differences=differences(pairs, significant),
        level=f"{100 * (1 - ranking.alpha):g} %",
        alpha=f"{ranking.alpha:g}",
        error_rate=f"{100 * ranking.alpha:g} %",
        ranks=ranked(described(ranking)),
        pairs=pd.DataFrame(shown).assign(significant=significant.to_numpy()).to_dict("records"),
        notes=[note, *ranking.notes] if note else ranking.notes,
        signature=str(pairs["signature"].iloc[0]),
    )  # fmt: skip


def best(systems: pd.DataFrame) -> str:
    """Say which systems may be the best: those that no other system is significantly better than."""
    first = systems.loc[systems["rank_low"] == 1, "system"].tolist()
    n = f"{len(systems):,} systems"
    if (systems["rank_high"] == 1).any():
        return f"{first[0]} is the best of {n}: it is significantly better than every other one."
    if len(first) == 1:
        return f"Only {first[0]} may be the best of {n}: some system is significantly better than each other one."
    names = f"{', '.join(first[:-1])} and {first[-1]}" if len(first) <= LISTED else f"{len(first):,}"
    return f"{names} may each be the best of {n}: no system is significantly better than any of them."


def differences(pairs: pd.DataFrame, significant: pd.Series[bool]) -> str:
    """Say how many differences are significant, and which ones if there are few."""
    named = pairs.loc[significant, ["system_a", "system_b"]].itertuples(index=False)
    sentences = [f"{better} is better than {worse}" for better, worse in named]
    count = f"{len(sentences):,} of {len(pairs):,} differences {'is' if len(sentences) == 1 else 'are'} significant"
    return f"{count}: {'; '.join(sentences)}." if 0 < len(sentences) <= LISTED else f"{count}."
