"""Counts per segment of all systems of a dataset: from their outputs, from tables, or from published outcomes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pairsig import readers
from pairsig.core import statistics
from pairsig.core.statistics import Statistics
from pairsig.io import console
from pairsig.io.errors import InputError
from pairsig.readers import extraction
from pairsig.readers.options import typed
from study.corpora import outcomes, scores
from study.training.omission import Omission
from study.training.training_sets import SYNTHETIC

COUNTING = ("pairsig", "sacrebleu", "rouge-score")
"""Packages whose version can change the counts and is recorded in the provenance."""

System = Mapping[str, Any]
"""The arguments of `pairsig.extract` for a system: its name, group, kind, output, references and options."""


def count(
    dataset: str,
    path: str,
    *,
    reader: str | None,
    metric: str,
    options: Mapping[str, Any],
    tables: Sequence[str],
    systems: Sequence[System],
    documents: str | None,
    provenance: Mapping[str, str],
) -> None:
    """Count the statistics of every segment for all systems of a dataset, and write them with their provenance.

    Parameters
    ----------
    reader, metric, options
        Of the dataset, as in the sheet.
    tables
        Published outcomes, or tables of scores or counts, which have all systems; none for outputs.
    systems
        The systems with an output, or with scores in a file of their own.
    documents
        File with the domain and document of every segment, for outputs.
    """
    if reader in outcomes.READERS:
        counted = outcomes.read(reader, tables, options)
    elif reader == "table":
        counted = scores.read(tables, systems, metric, options)
    else:
        counted = of_outputs(systems, documents, metric=metric, reader=reader, options=options)
    for omission in (Omission(**omitted) for omitted in counted.omissions):
        console.warn(f"dataset {dataset}: system {omission.system} is left out: {omission}")
    for first, second in counted.duplicates():
        console.warn(f"dataset {dataset}: systems {first} and {second} have the same counts on every segment")
    sys.stderr.flush()
    described = {**provenance, "versions": ", ".join(f"{name} {version(name)}" for name in COUNTING)}
    if any(key.startswith("training_set ") for key in provenance):
        described["date"] = f"{date.today():%Y-%m-%d}"
    if settings := counted.provenance.get("settings"):
        described = {"settings": settings, **described}
    statistics.write(replace(counted, dataset=dataset, provenance=described), path)


def of_outputs(
    systems: Sequence[System],
    documents: str | None = None,
    *,
    metric: str,
    reader: str | None = None,
    options: Mapping[str, Any],
) -> Statistics:
    """Count the outputs of all systems; a trained system without a usable output is left out, with the reason."""
    labels: dict[str, Any] = {}
    if documents is not None:
        read = readers.read_documents(documents, skip_lines=typed("skip_lines", options.get("skip_lines", 0)))
        labels = dict(zip(("domains", "documents"), read, strict=True))
    parts, omissions = [], []
    for system in systems:
        trained = system["kind"] == SYNTHETIC
        omission = Omission.read(Path(system["output"])) if trained else None
        try:
            if omission is None:
                parts.append(extraction.extract(**system, metric=metric, reader=reader, **labels, **options))
                console.note(*parts[-1].notes)
        except InputError as error:
            if not trained:
                raise
            omission = Omission("count", str(error))
        if omission is not None:
            omissions.append(replace(omission, system=system["system"]).to_dict())
    if not parts:
        why = f"; the first: {omissions[0]['reason']}" if omissions else ""
        raise InputError(f"all {len(omissions)} systems are left out, expected at least one{why}")
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    return replace(
        first,
        systems=tuple(chain.from_iterable(part.systems for part in parts)),
        groups=tuple(chain.from_iterable(part.groups for part in parts)),
        kinds=tuple(chain.from_iterable(part.kinds for part in parts)),
        runs=(),
        counts=np.concatenate([part.counts for part in parts]),
        omissions=tuple(omissions),
    )


def placed(counting: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of `count` with the place of each file, or of the archive of which it is a member."""

    def place(path: str) -> str:
        archive, mark, member = path.partition("!")
        return f"{places[archive]}{mark}{member}"

    systems = [
        {**system, "output": place(system["output"]), "references": [*map(place, system["references"])]}
        for system in counting["systems"]
    ]
    documents = counting["documents"] and place(counting["documents"])
    return {**counting, "tables": [*map(place, counting["tables"])], "documents": documents, "systems": systems}


def _check_alike(first: Statistics, part: Statistics) -> None:
    """Refuse a system that was counted by a reference with other segments."""
    if not np.array_equal(first.segments, part.segments):
        sizes = f"{part.systems[0]} has {len(part.segments):,} segments, {first.systems[0]} has {len(first.segments):,}"
        raise InputError(f"{sizes}, expected the same segments of all references")
    if first.columns != part.columns:
        columns = f"{part.systems[0]} has the columns {', '.join(part.columns)}"
        raise InputError(f"{columns}, expected those of {first.systems[0]}: {', '.join(first.columns)}")
