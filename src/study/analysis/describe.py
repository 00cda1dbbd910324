"""The systems of a study: how many there are, how good they are, and which had to be left out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pairsig.metrics import Metric
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.columns import SYSTEMS
from study.training_sets import SYNTHETIC

CARRIERS = {
    "bleu": ("reference_length", "reference words"),
    "conll_uas": ("gold", "words"),
    "uas": ("total", "words"),
    "parseval": ("gold", "gold brackets"),
    "aer": ("sure", "sure links"),
}
"""Of a metric, the column that says how much a segment tells, and what it counts."""


def describe(statistics: Statistics, metric: Metric) -> pd.DataFrame:
    """Number and scores of the systems of a dataset, and of each of its base models where they are synthetic.

    Returns
    -------
    Table `SYSTEMS`, one row for `all` systems, and one a base model; scores are on the whole test set.
    """
    scores = metric.score(statistics.of(metric).sum(axis=1))
    groups = np.array(statistics.groups)
    made_here = {group for group, kind in zip(statistics.groups, statistics.kinds, strict=True) if kind == SYNTHETIC}
    column, carrier = CARRIERS.get(metric.name, ("", ""))
    carried = statistics.of(metric)[0, :, metric.columns.index(column)].mean() if column in metric.columns else np.nan
    found = []
    for group in ("all", *sorted(made_here)):
        own = scores if group == "all" else scores[groups == group]
        told = [
            f"{omission.system}: {omission}"
            for omission in statistics.omissions
            if group == "all" or omission.system.startswith(f"{group}-")
        ]
        found.append(
            {
                "dataset": statistics.dataset,
                "task": statistics.provenance.get("task", ""),
                "metric": metric.name,
                "group": group,
                "n_systems": len(own),
                "n_segments": len(statistics.segments),
                "per_segment": float(carried),
                "carrier": carrier,
                "score_low": own.min(),
                "score_mean": own.mean(),
                "score_high": own.max(),
                "left_out": "; ".join(told) or "none",
            }
        )
    return frame(SYSTEMS, found)
