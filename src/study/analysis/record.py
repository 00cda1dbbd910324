"""What an analysis declares about itself, in one record at the end of its module.

The command `python -m study NAME`, its rule, the report, captions of pages and the documentation of its tables follow
from the record (CONTRIBUTING.md has the recipe). Snakemake reads the records for every job. Modules of analyses
therefore import whatever needs numba, scipy or matplotlib inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pairsig.io import console
from pairsig.io.columns import Table

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.core.statistics import Statistics
    from pairsig.metrics import Metric

SECTIONS = {
    "3": "Section 3: gains and confidence",
    "4.1": "Section 4.1: size",
    "4.2": "Section 4.2: other test sets",
    "exact": "Exact tests",
    "beyond": "Beyond the paper",
}
"""Sections of the report."""


@dataclass(frozen=True)
class Data:
    """Statistics of datasets, passed as an iterator over statistics with their metrics."""

    datasets: str | tuple[str, ...] = "all"
    """Which datasets of a run, by `study.sheets.jobs.SELECTIONS` (several words: all of them must hold) or by name."""
    optional: bool = False  # whether the command accepts no file

    def read(self, items: Sequence[str]) -> Iterator[tuple[Statistics, Metric]]:
        """Read files of statistics with their metrics, specified as `statistics.parquet:bleu`."""
        from pathlib import Path

        from pairsig.core import statistics
        from pairsig.metrics import registry

        for item in items:
            path, _, metric = item.rpartition(":")
            yield statistics.read(Path(path)), registry.metric(metric)


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of all pairs of systems, passed as one table."""

    datasets: str = "all"  # as for `Data`
    once: bool = False
    """Whether only the first test of the configuration and whole test sets are used, so that each pair occurs once."""

    def read(self, paths: Sequence[str]) -> pd.DataFrame:
        """Read tables of `all-pairs` and `resize`, and concatenate them."""
        import pandas as pd

        from pairsig.comparisons import pair_tables

        table = pd.concat(map(pair_tables.read, paths), ignore_index=True)
        # Analyses take thousands of small groups of rows, for which pandas' own type of text is slow. By way of
        # categories, equal texts become one object; a copy has all columns of a type in one array.
        texts = table.columns[table.dtypes == "str"]
        return table.astype(dict.fromkeys(texts, "category")).astype(dict.fromkeys(texts, object)).copy()


@dataclass(frozen=True)
class Rows:
    """A table of another analysis, a sheet, or a table in `resources`."""

    table: Table | str  # the columns of a sheet or a table in `resources`; of the table of another analysis, its name
    path: str = ""  # the file, if it is in `resources`
    optional: bool = False  # whether the command works without it

    @property
    def is_sheet(self) -> bool:
        """Whether it is a sheet, which may be in several files."""
        return not isinstance(self.table, str) and not self.path

    @property
    def name(self) -> str:
        """Name of the table."""
        return self.table if isinstance(self.table, str) else self.table.name


@dataclass(frozen=True)
class Setting:
    """A number or a word."""

    about: str  # help of the option
    key: str = ""  # in the configuration, such as `resampling/seed`; `threads` is the number of threads of the job
    type: Callable[[str], Any] = console.whole  # converts the word of the command line
    at_most: int | None = None  # largest value in a run
    several: bool = False  # whether it is a list


SEED = Setting("default: 2012", "resampling/seed")
THREADS = Setting("threads; default: all cores; does not change the results", "threads")

Input = Data | Comparisons | Rows | Setting


@dataclass(frozen=True)
class Output:
    """A table that an analysis writes."""

    table: Table
    rows: str  # what a row stands for, as in "one row per dataset"
    caption: str = ""  # without one, the report does not show the table
    path: str = ""  # the file; by default `results/tables/NAME.tsv`

    @property
    def file(self) -> str:
        """The file in a run."""
        return self.path or f"results/tables/{self.table.name}.tsv"

    @property
    def name(self) -> str:
        """Name of the file without its suffix."""
        return self.file.rpartition("/")[2].partition(".")[0]


@dataclass(frozen=True)
class Figure:
    """A figure."""

    name: str  # of the file
    module: str  # of `study.figures`, with its function
    tables: tuple[str, ...]
    """Names of the tables that the function takes: tables of analyses, `comparisons`, `test_sets`, or `overlay`
    (comparisons of the published systems). More tables are further ones of the last kind."""
    caption: str  # on the pages
    details: str = ""  # what the report adds to the caption
    section: str = "beyond"  # of the report, a key of `SECTIONS`
    function: str = ""  # its name; default: the name of the figure
    per_dataset: bool = False  # whether it is drawn for each test and each dataset that lists it in the sheet
    once: bool = False
    """Whether it is drawn for the first test and the only dataset that lists it: a counterpart of a figure of the
    2012 paper, with its number as name."""
    needs: str | None = None  # for a figure of a dataset, the test sets that it requires (a column of the sheet)
    subject: str = ""
    """Written above it, before the title that the function gives it (`figures.style.says`): the number and the systems
    of a counterpart."""


@dataclass(frozen=True)
class Analysis:
    """An analysis, with the resources of its job."""

    function: Callable[..., Any] | None = None
    """Takes the inputs by name, and returns its table, or its tables in the order of `tables`. The first line of its
    docstring is the help. An analysis without a function only has figures."""
    inputs: Mapping[str, Input] = field(default_factory=dict)
    tables: tuple[Output, ...] = ()  # on the command line the first is `--output`; the others have options of their own
    figures: tuple[Figure, ...] = ()
    memory: int = 2000  # MB
    minutes: int = 20
    threads: int = 1  # 0 for all cores
    group: str = "analyse"  # on a cluster

    def run(self, **arguments: Any) -> dict[str, pd.DataFrame | None]:
        """Call the function; return its tables by name."""
        assert self.function is not None
        results = self.function(**arguments)
        results = results if isinstance(results, tuple) else (results,)
        return dict(zip((output.name for output in self.tables), results, strict=True))
