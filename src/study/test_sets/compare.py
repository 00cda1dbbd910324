"""Compare all pairs of systems by the bootstrap of the paper, on a whole test set or on test sets made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pairsig.core.statistics import Statistics
from study.test_sets import all_pairs, doubling
from study.test_sets.resize import resize


def whole(data: Statistics, metric: str, part: str = "1-of-1", **options: Any) -> pd.DataFrame:
    """Compare all pairs on a test set, by one of several parts of the resamples, such as `2-of-8`."""
    number, _, parts = part.partition("-of-")
    return all_pairs.compare(data, metric=metric, part=(int(number), int(parts)), **options)


def made(data: Statistics, metric: str, test_sets: Mapping[str, str], **options: Any) -> pd.DataFrame:
    """Compare all pairs on test sets made from one; `initial` is a list of sizes, or `doubling:100`."""
    kinds: dict[str, Any] = {key: value if key == "initial" else int(value) for key, value in test_sets.items()}
    if "initial" in kinds:
        first = kinds["initial"].removeprefix("doubling:")
        doubled = first != kinds["initial"]
        n = len(data.segments)
        kinds["initial"] = doubling(int(first), n) if doubled else [int(size) for size in first.split(",")]
    return resize(data, metric=metric, **kinds, **options)
