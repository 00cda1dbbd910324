"""Describe the systems of a study: their number, their scores, and those that were left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.tables.columns import TASK, numeric
from study.training.omission import Omission
from study.training.training_sets import SYNTHETIC

SYSTEMS = Table(
    "systems",
    (
        DATASET,
        TASK,
        METRIC,
        Column("group", str, "`all`, or a base model"),
        count("n_systems", "number of systems", "systems", "n systems"),
        N_SEGMENTS,
        numeric("length_per_segment", "mean number of words, gold brackets or sure links per segment", missing=True),
        numeric("score_low", "lowest of their scores", "points"),
        numeric("score_high", "highest of their scores", "points"),
        Column("left_out", str, "systems that failed, each with the reason; empty if none did"),
    ),
    key=("dataset", "metric", "group"),
    caption="Number and scores of the systems of every dataset",
)  # fmt: skip


LENGTHS = {"bleu": "reference_length", "conll_uas": "gold", "uas": "total", "parseval": "gold", "aer": "sure"}
"""By metric, the column that measures the length of a segment, if one does."""


def describe(data: Iterable[tuple[Statistics, Metric]]) -> pd.DataFrame:
    """List the number and scores of the systems, and those that were left out.

    Returns
    -------
    Table `SYSTEMS`, for each dataset a row for `all` systems and, for retrained systems, one per base model. Scores are
    those on the whole test set.
    """
    rows = []
    for statistics, metric in data:
        counts = statistics.of(metric)
        scores = metric.score(counts.sum(axis=1))
        groups = np.array(statistics.groups)
        retrained = {group for group, kind in zip(groups.tolist(), statistics.kinds, strict=True) if kind == SYNTHETIC}
        column = LENGTHS.get(metric.name, "")
        length = counts[0, :, metric.columns.index(column)].mean() if column in metric.columns else np.nan
        for group in ("all", *sorted(retrained)):
            scores_of_group = scores if group == "all" else scores[groups == group]
            omissions = [
                omission
                for omission in (Omission(**of) for of in statistics.omissions)
                if group == "all" or omission.system.startswith(f"{group}-")
            ]
            rows.append({
                "dataset": statistics.dataset, "task": statistics.provenance.get("task", ""), "metric": metric.name,
                "group": group, "n_systems": len(scores_of_group), "n_segments": len(statistics.segments),
                "length_per_segment": float(length),
                "score_low": scores_of_group.min(), "score_high": scores_of_group.max(),
                "left_out": "; ".join(f"{omission.system}: {omission}" for omission in omissions) or "none",
            })  # fmt: skip
    return frame(SYSTEMS, rows)
