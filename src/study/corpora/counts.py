"""Counts per segment: of the output of a system, collected for all systems of a dataset, or of published outcomes."""

from __future__ import annotations

import sys
from collections import Counter
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
from pairsig.io.choices import options_of, typed_options
from pairsig.io.errors import InputError, listed, quoted
from pairsig.readers import extraction
from study.corpora import outcomes, scores
from study.training.omission import Omission

SYNTHETIC = "synthetic"

COUNTING = ("pairsig", "sacrebleu", "rouge-score")
"""Packages whose version can change the counts and is recorded in the provenance."""


def members(files: Sequence[str], names: Sequence[str]) -> list[str]:
    """Join files with the names of their members in archives, `archive.tar.xz!member`; "" for a plain file."""
    return [f"{path}!{name}" if name else path for path, name in zip(files, names, strict=True)]


def extract(
    output: str,
    references: Sequence[str],
    path: str,
    *,
    documents: str | None,
    system: str,
    kind: str,
    options: Mapping[str, Any],
    **chosen: Any,
) -> None:
    """Count the output of a system, and write the counts, or why the output of a base model cannot be used."""

    def leave_out(omission: Omission) -> None:
        replace(omission, system=system).write(Path(path))
        console.warn(f"system {system} is left out: {omission}")

    trained = kind == SYNTHETIC
    if trained and (omission := Omission.read(Path(output))):
        return leave_out(omission)
    labels: dict[str, Any] = dict(zip(("domains", "documents"), _labels(documents, options), strict=True))
    try:
        counted = extraction.extract(output, references, system=system, kind=kind, **labels, **chosen, **options)
        console.note(*counted.notes)
    except InputError as error:
        if not trained:
            raise
        return leave_out(Omission("extract", str(error)))
    return statistics.write(counted, path)


def _labels(path: str | None, options: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments, without the lines that are skipped in the outputs."""
    if path is None:
        return [], []
    of_documents = {name: value for name, value in options.items() if name in options_of(readers.read_documents)}
    typed = typed_options(of_documents, "documents", readers.read_documents)
    return readers.read_documents(path, **typed)


def collect(paths: Sequence[str], path: str, dataset: str, provenance: Mapping[str, str]) -> None:
    """Combine the counts of all systems of a dataset, with the reasons why others are left out."""
    omissions = {name: omission for name in paths if (omission := Omission.read(Path(name)))}
    for omission in omissions.values():
        console.warn(f"dataset {dataset}: system {omission.system} is left out: {omission}")
    parts = [statistics.read(name) for name in paths if name not in omissions]
    if not parts:
        raise InputError(f"dataset {dataset}: all {len(omissions)} systems are left out, expected at least one")
    whole = replace(
        combined(parts, dataset, _described(provenance)),
        omissions=tuple(omission.to_dict() for omission in omissions.values()),
    )
    _warn(whole)
    statistics.write(whole, path)


def combined(parts: Sequence[Statistics], dataset: str, provenance: Mapping[str, str]) -> Statistics:
    """Combine the statistics of single systems into those of all systems of a test set, in the order of `parts`.

    An `InputError` is raised if segments, columns, documents, domains, references or options differ, or if a system
    appears twice.
    """
    first = parts[0]
    names = first.systems[0]
    for part in parts[1:]:
        about = f"{dataset}: system {part.systems[0]}"
        for what in ("segments", "documents", "domains"):
            ours, theirs = getattr(first, what), getattr(part, what)
            if len(ours) != len(theirs):
                raise InputError(f"{about} has {len(theirs)} segments, expected {len(ours)} as {names}")
            if (wrong := ours != theirs).any():
                place = int(np.argmax(wrong))
                raise InputError(
                    f"{about}: number {place + 1} of the {what} is {quoted(str(theirs[place]))}, expected "
                    f"{quoted(str(ours[place]))} as of {names}"
                )
        if part.columns != first.columns:
            raise InputError(f"{about} has the columns {listed(part.columns)}, expected {listed(first.columns)}")
        for key, what in (
            ("reference", "other references, or the same in another order"),
            ("settings", "other options"),
        ):
            before, here = (of.provenance.get(key, "") for of in (first, part))
            if before and here and before != here:
                raise InputError(f"{about} was counted with {what} than {names}, expected the same for all systems")
    labels: dict[str, Any] = {
        name: tuple(chain.from_iterable(getattr(part, name) for part in parts))
        for name in ("systems", "groups", "kinds", "runs")
    }
    repeated = [system for system, times in Counter(labels["systems"]).items() if times > 1]
    if repeated:
        raise InputError(f"{dataset}: found system {min(repeated)} more than once, expected it once")
    settings = first.provenance.get("settings", "")
    return replace(
        first,
        dataset=dataset,
        counts=np.concatenate([part.counts for part in parts]),
        provenance={**({"settings": settings} if settings else {}), **provenance},
        **labels,
    )


def count(
    files: Sequence[str],
    path: str,
    dataset: str,
    *,
    reader: str,
    metric: str,
    options: Mapping[str, str],
    systems: Sequence[tuple[str, str, str]],
    provenance: Mapping[str, str],
) -> None:
    """Count published outcomes, or scores or counts in tables, for all systems of a dataset at once.

    Parameters
    ----------
    systems
        For scores in one file per system: the name, group ("" for its own) and kind of each.
    """
    about: dict[str, Any] = {"dataset": dataset, "provenance": _described(provenance)}
    if reader == "table":
        names, groups, kinds = zip(*systems, strict=True) if systems else ((), (), ())
        counted = scores.read(files, options, metric=metric, systems=names, groups=groups, kinds=kinds, **about)
    else:
        counted = outcomes.read(reader, files, options, **about)
    for omission in (Omission(**of) for of in counted.omissions):
        console.warn(f"dataset {dataset}: system {omission.system} is left out: {omission}")
    _warn(counted)
    statistics.write(counted, path)


def _described(provenance: Mapping[str, str]) -> dict[str, str]:
    """Add the versions of the packages that count, and for retrained systems the date of the training."""
    described = {**provenance, "versions": ", ".join(f"{name} {version(name)}" for name in COUNTING)}
    trained = any(key.startswith("training_set ") for key in provenance)
    return described | ({"date": f"{date.today():%Y-%m-%d}"} if trained else {})


def _warn(counted: Statistics) -> None:
    for first, second in counted.duplicates():
        console.warn(f"dataset {counted.dataset}: systems {first} and {second} have the same counts on every segment")
    sys.stderr.flush()
