"""Going on from embedded statistics: which of their systems a run would train to the same counts, and can keep.

Statistics tell how their systems were made. Those of a base model are kept if its commands and versions are still the
same, and so are the training set, the seed, the test set and the metric; how many were trained does not matter, since
a resampled training set is a function of its name. What is not kept is trained again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

from pairsig.errors import InputError, reason

_SAME = (
    "task", "metric", "command", "sha256", "test_set", "training_set", "files", "selection", "options", "unlabelled",
    "given", "training_corpus",
)  # fmt: skip
"""Of the provenance, what the counts of all systems depend on."""
_NEW = ("test_set",)
"""Of these, what older statistics do not tell."""


def systems(path: Path, told: Mapping[str, str]) -> dict[str, str]:
    """The base model of each system of a file of statistics that `told`, the provenance of a run, would make again.

    None, if the test set, the training set or the seed are others.
    """
    try:
        found = json.loads((pq.read_schema(path).metadata or {}).get(b"provenance", b"{}"))
        named = pq.read_table(path, columns=["system", "group"]).group_by(["system", "group"]).aggregate([])
        groups = {str(row["system"]): str(row["group"]) for row in named.to_pylist()}
    except (OSError, KeyError, ValueError) as error:  # pyarrow's own are ValueErrors
        raise InputError(f"{path}: cannot be read as statistics ({reason(error)})") from None
    known = [key for key in _SAME if key in found or key not in _NEW]
    if any(found.get(key) != told.get(key) for key in known) or _seeds(found) != _seeds(told):
        return {}
    same = {key for key in told if key.startswith("base_model ") and _made(found.get(key, "")) == _made(told[key])}
    return {system: group for system, group in groups.items() if f"base_model {group}" in same}


def _seeds(told: Mapping[str, str]) -> set[str]:
    return set(re.findall(r"seed (\d+)", told.get("resampled", "")))


def _made(told: str) -> str:
    """What is told of a base model, but for how many systems it has and for the old name of the package."""
    return re.sub(r"(^|; )sizes: [^;]*", "", told).replace("-m pairsig.base_models.", "-m study.base_models.")
