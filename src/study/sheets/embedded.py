"""Find the systems in embedded statistics that a run can keep, because training would give the same counts.

The provenance of statistics describes how their systems were made. Systems of a base model are kept if its commands and
versions, the training set, the seed, the test set and the metric are unchanged. The number of systems does not matter,
because a resampled training set depends only on its name. All other systems are trained again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

from pairsig.io.errors import InputError, reason

STATISTICS = Path("resources/statistics")
"""Folder of the embedded statistics."""

_SAME = (
    "task", "metric", "command", "sha256", "test_set", "training_set", "files", "selection", "options", "unlabelled",
    "given", "training_corpus",
)  # fmt: skip
"""Keys of the provenance that affect the counts of all systems."""
_NEW = ("test_set",)
"""Those of these keys that older statistics do not have."""


def path(dataset: str) -> Path:
    """The file of the embedded statistics of a dataset."""
    return STATISTICS / f"{dataset}.parquet"


def systems(path: Path, description: Mapping[str, str]) -> dict[str, str]:
    """Find the base models of the systems in a file that a run with the provenance `description` would reproduce.

    The result is empty if the test set, the training set or the seed differ.
    """
    try:
        provenance_of = json.loads((pq.read_schema(path).metadata or {}).get(b"provenance", b"{}"))
        named = pq.read_table(path, columns=["system", "group"]).group_by(["system", "group"]).aggregate([])
        groups = {str(row["system"]): str(row["group"]) for row in named.to_pylist()}
    except (OSError, KeyError, ValueError) as error:  # errors of pyarrow are ValueErrors
        raise InputError(f"{path}: cannot be read as statistics ({reason(error)})") from None
    known = [key for key in _SAME if key in provenance_of or key not in _NEW]
    if any(provenance_of.get(key) != description.get(key) for key in known) or _seeds(provenance_of) != _seeds(
        description
    ):
        return {}
    same = {
        key
        for key in description
        if key.startswith("base_model ") and _made(provenance_of.get(key, "")) == _made(description[key])
    }
    return {system: group for system, group in groups.items() if f"base_model {group}" in same}


def _seeds(description: Mapping[str, str]) -> set[str]:
    return set(re.findall(r"seed (\d+)", description.get("resampled", "")))


def _made(description: str) -> str:
    """Normalize the description of a base model: without its number of systems."""
    return re.sub(r"(^|; )sizes: [^;]*", "", description)
