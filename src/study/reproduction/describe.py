"""Describe the systems of a study: their number, their scores, and those that were left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis.record import Analysis, Data, Output
from study.tables.columns import TASK, numeric
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
        numeric("length_per_segment", "mean number of length units (words, brackets, links) per segment", missing=True),
        Column("length_unit", str, "the unit in which the length of a segment is measured"),
        numeric("score_low", "lowest of their scores", "points"),
        numeric("score_mean", "mean of their scores", "points"),
        numeric("score_high", "highest of their scores", "points"),
        Column("left_out", str, "systems that failed, each with the reason; empty if none did"),
    ),
    key=("dataset", "metric", "group"),
)


LENGTH_UNITS = {
    "bleu": ("reference_length", "reference words"),
    "conll_uas": ("gold", "words"),
    "uas": ("total", "words"),
    "parseval": ("gold", "gold brackets"),
    "aer": ("sure", "sure links"),
}
"""By metric, the column that measures the length of a segment, and its length unit."""


def describe(data: Iterable[tuple[Statistics, Metric]]) -> pd.DataFrame:
    """List the number and scores of the systems, and those that were left out.

    Returns
    -------
    Table `SYSTEMS`, for each dataset a row for `all` systems and, for retrained systems, one per base model. Scores are
    those on the whole test set.
    """
    found = []
    for statistics, metric in data:
        counts = statistics.of(metric)
        scores = metric.score(counts.sum(axis=1))
        groups = np.array(statistics.groups)
        retrained = {group for group, kind in zip(groups.tolist(), statistics.kinds, strict=True) if kind == SYNTHETIC}
        column, length_unit = LENGTH_UNITS.get(metric.name, ("", ""))
        length = counts[0, :, metric.columns.index(column)].mean() if column in metric.columns else np.nan
        for group in ("all", *sorted(retrained)):
            own = scores if group == "all" else scores[groups == group]
            its = [one for one in statistics.omissions if group == "all" or one.system.startswith(f"{group}-")]
            found.append({
                "dataset": statistics.dataset, "task": statistics.provenance.get("task", ""), "metric": metric.name,
                "group": group, "n_systems": len(own), "n_segments": len(statistics.segments),
                "length_per_segment": float(length), "length_unit": length_unit,
                "score_low": own.min(), "score_mean": own.mean(), "score_high": own.max(),
                "left_out": "; ".join(f"{one.system}: {one}" for one in its) or "none",
            })  # fmt: skip
    return frame(SYSTEMS, found)


ANALYSIS = Analysis(
    describe,
    {"data": Data()},
    tables=(
        Output(SYSTEMS, "one row per dataset and base model", "Number and scores of the systems of every dataset"),
    ),
    minutes=10,
)
