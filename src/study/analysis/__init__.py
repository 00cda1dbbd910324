"""The analyses of the study, one module each, and what they share.

A module of an analysis contains the declarations of its tables, a function from tables to tables, which reads no files
and plots no figures, and the record `ANALYSIS`. `REPRODUCTION` and `BEYOND` list them; the modules in this folder serve
several analyses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pairsig.io.columns import COMPARISONS, TABLES, Table

if TYPE_CHECKING:
    import pandas as pd

    from study.analysis.record import Analysis, Figure, Output

REPRODUCTION = (
    "describe",
    "thresholds",
    "comparisons",
    "claims",
    "calibrate",
    "validate",
    "approximate",
    "race",
    "threshold_errors",
    "check",
)
"""Analyses that the two papers have, in `study.reproduction`: names of their modules, commands, rules and logs."""

BEYOND = ("ranks", "training_variance", "heterogeneity", "documents", "variance_model", "leaderboards")
"""Analyses that the papers have not, in `study.beyond`."""

MODULES = {name: f"study.reproduction.{name}" for name in REPRODUCTION} | {
    name: f"study.beyond.{name}" for name in BEYOND
}
"""The modules of all analyses, by name."""


def load(name: str) -> Analysis:
    """Load the record of an analysis."""
    record: Analysis = import_module(MODULES[name]).ANALYSIS
    return record


@cache
def every() -> dict[str, Analysis]:
    """Load the records of all analyses, by name."""
    return {name: load(name) for name in MODULES}


def figures() -> dict[str, Figure]:
    """Figures of all analyses, by name."""
    return {figure.name: figure for figure in chain.from_iterable(record.figures for record in every().values())}


def outputs() -> dict[str, Output]:
    """Tables of all analyses, by the name of their file."""
    return {output.name: output for output in chain.from_iterable(record.tables for record in every().values())}


def table(name: str) -> Table:
    """Declaration of a table, by the name of its file; all comparisons have the same columns."""
    return COMPARISONS if name in ("comparisons", "test_sets", "overlay") else outputs()[name].table


def known() -> tuple[Table, ...]:
    """Declarations of all tables, in which columns are looked up by name."""
    from study.tables.columns import OVERLAPS, SHEETS

    return (*TABLES, OVERLAPS, *SHEETS, *(output.table for output in outputs().values()))


def read_sheet(paths: Sequence[Path], declared: Table) -> pd.DataFrame:
    """Read the columns of a sheet that are declared; it may be in several files, see `row_place`."""
    import pandas as pd

    from pairsig.io import tables
    from study.tables.columns import OPTIONAL

    required = replace(declared, columns=tuple(column for column in declared.columns if column not in OPTIONAL))
    parts = {str(path): tables.read(path, required, known=[declared]) for path in paths}
    sheet = pd.concat(parts.values(), ignore_index=True)
    for column in {*declared.columns}.intersection(OPTIONAL):
        sheet[column.name] = sheet[column.name].fillna("") if column.name in sheet else ""
    sheet.attrs = {"source": " and ".join(parts), "n_rows": {path: len(part) for path, part in parts.items()}}
    return sheet


def row_place(sheet: pd.DataFrame, index: int, name: str) -> str:
    """Describe the place of a row in the files of a sheet; a sheet that is in no file has a name."""
    for path, n_rows in sheet.attrs.get("n_rows", {}).items():
        if index < n_rows:
            return f"{path}, line {index + 2}"
        index -= n_rows
    return f"{sheet.attrs.get('source', name)}, line {index + 2}"


def read(path: Path, declared: Table | str | None = None) -> pd.DataFrame:
    """Read a table of the study; it must have the columns that are declared, or those of the table with this name."""
    from pairsig.io import tables

    return tables.read(path, table(declared) if isinstance(declared, str) else declared, known=known())
