"""What the scripts of the workflow read and write: comparisons, counts, sheets and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS, Table
from pairsig.metrics import registry

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics
    from pairsig.metrics import Metric


def comparisons(paths: Sequence[str]) -> pd.DataFrame:
    """Read comparisons of all pairs of systems, and concatenate them."""
    table = pd.concat([tables.read(path, COMPARISONS) for path in paths], ignore_index=True)
    # Analyses take thousands of small groups of rows, for which pandas' own type of text is slow. By way of categories,
    # equal texts become one object; a copy has all columns of a type in one array.
    texts = table.columns[table.dtypes == "str"]
    return table.astype(dict.fromkeys(texts, "category")).astype(dict.fromkeys(texts, object)).copy()


def data(paths: Sequence[str], metrics: Sequence[str]) -> Iterator[tuple[Statistics, Metric]]:
    """Read the counts of datasets, each with the metric of its comparisons."""
    for path, metric in zip(paths, metrics, strict=True):
        yield statistics.read(path), registry.metric(metric)


def sheet(paths: Sequence[str], declared: Table) -> pd.DataFrame:
    """Read a sheet, which may be in several files; messages name the places of its rows (`row_place`)."""
    parts = {path: tables.read(path, declared, known=[declared]) for path in paths}
    whole = pd.concat(parts.values(), ignore_index=True)
    whole.attrs = {"source": " and ".join(parts), "n_rows": {path: len(part) for path, part in parts.items()}}
    return whole


def row_place(sheet: pd.DataFrame, index: int, name: str) -> str:
    """Describe the place of a row in the files of a sheet; a sheet that is in no file has a name."""
    for path, n_rows in sheet.attrs.get("n_rows", {}).items():
        if index < n_rows:
            return f"{path}, line {index + 2}"
        index -= n_rows
    return f"{sheet.attrs.get('source', name)}, line {index + 2}"


def write(table: pd.DataFrame, declared: Table, paths: Sequence[str]) -> None:
    """Write a table to files by their suffixes: `.tsv` or `.parquet` for programs, `.html` or `.tex` for readers."""
    from study.tables.presentation import FORMATS, rendered

    for path in paths:
        suffix = Path(path).suffix[1:]
        if suffix in FORMATS:
            tables.write_text(rendered(table, declared, suffix), path)
        else:
            tables.write(table, path)
