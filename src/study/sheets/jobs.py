"""Jobs of analyses and figures, derived from their records: files, arguments of the command line and captions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from pairsig.io.tables import write_text
from study import analysis
from study.analysis.record import Analysis, Comparisons, Data, Figure, Rows, Setting
from study.sheets import Dataset, Study, embedded
from study.sheets.config import sheet_paths
from study.sheets.models import BENCHMARK

SELECTIONS: dict[str, Callable[[Dataset], bool]] = {
    "all": lambda _: True,
    "measured": lambda dataset: dataset.source != "pool",  # the members of pools are included
    "text": lambda dataset: dataset.study != BENCHMARK,  # with the metrics of the papers
    "trained": lambda dataset: dataset.trained,
    # Other exact tests take minutes.
    "leaderboards": lambda dataset: dataset.study == BENCHMARK and dataset.metric == "accuracy",
}
"""Selections of datasets, by name."""

READABLE = (".csv", ".md", ".tex", ".html")
"""The formats of tables for readers."""

_SETTINGS = """

Settings: {% set drawn = snakemake.config["resampling"] %}{{ "{:,}".format(drawn["n_resamples"]) }} resamples, at most
{{ "{:,}".format(drawn["n_resamples_resized"]) }} on test sets made from others.
"""


@dataclass(frozen=True)
class Jobs:
    """The jobs of a run, from its checked sheets and its configuration."""

    study: Study
    config: Mapping[str, Any]

    def datasets(self, which: str | tuple[str, ...] = "all") -> dict[str, Dataset]:
        """Select datasets of the run, by names of `SELECTIONS` or by their own names."""
        selected = {name: dataset for name, dataset in self.study.datasets.items() if dataset.selected}
        if isinstance(which, tuple):
            return {name: selected[name] for name in which if name in selected}
        rules = [SELECTIONS[word] for word in which.split()]
        return {name: dataset for name, dataset in selected.items() if all(rule(dataset) for rule in rules)}

    @property
    def own_data(self) -> bool:
        """Whether the run contains no dataset of the study: then it makes pages of its own, not those of the study."""
        return all(dataset.own_data for dataset in self.datasets().values())

    def sheet(self, name: str) -> list[str]:
        """List the files of a sheet."""
        return sheet_paths(self.config, name)

    def comparisons(self, which: str = "all", *, once: bool = False) -> list[str]:
        """List comparisons on whole test sets by all tests; if `once`, only by the first one."""
        tests = list(self.config["tests"])[: 1 if once else None]
        return [
            f"results/comparisons/{dataset}.{test}.parquet" for dataset, test in product(self.datasets(which), tests)
        ]

    def test_sets(self, which: str = "all") -> list[str]:
        """List comparisons on test sets that `resize` makes."""
        resized = [name for name, row in self.datasets(which).items() if row.test_sets]
        return [
            f"results/test_sets/{dataset}.{test}.parquet" for dataset, test in product(resized, self.config["tests"])
        ]

    def n_resamples(self, dataset: str, *, resized: bool = False) -> int:
        """Number of resamples on a whole test set, or on those that `resize` makes; a pool is made from others, too."""
        drawn = self.config["resampling"]
        made = resized or self.study.datasets[dataset].source == "pool"
        return int(min(drawn["n_resamples"], drawn["n_resamples_resized"]) if made else drawn["n_resamples"])

    def inputs(self, record: Analysis) -> dict[str, list[str]]:
        """List the files that an analysis reads, by the name of its argument."""
        files: dict[str, list[str]] = {}
        for name, source in record.inputs.items():
            match source:
                case Comparisons():
                    files[name] = self.comparisons(source.datasets, once=source.once)
                    files[name] += [] if source.once else self.test_sets(source.datasets)
                case Data():
                    files[name] = [dataset.statistics for dataset in self.datasets(source.datasets).values()]
                case Rows(table=str()):
                    files[name] = [analysis.outputs()[source.name].file]
                case Rows():
                    in_resources = str(embedded.STATISTICS.parent.parent / source.path)
                    files[name] = [in_resources] if source.path else self.sheet(source.name)
        return files

    def compared(self, dataset: str, test: str) -> list[str]:
        """Build the command that compares all systems of a dataset, but for parts, threads and the files to write."""
        row, drawn = self.study.datasets[dataset], self.config["resampling"]
        words = ["resize" if row.test_sets else "all-pairs", row.statistics, *row.test_sets]
        words += [f"--metric={row.metric}", f"--test={test}", "--or-draw"]
        words += [f"--{key}={value}" for key, value in self.config["tests"][test].items()]
        words += [f"--seed={drawn['seed']}", f"--unit={drawn['unit']}"]
        if row.test_sets:
            words.append(f"--whole-n-resamples={self.n_resamples(dataset)}")
        return [*words, f"--n-resamples={self.n_resamples(dataset, resized=bool(row.test_sets))}"]

    def compared_whole(self, dataset: str, test: str, threads: int) -> list[str]:
        """Build the whole command."""
        whole, others = (f"results/{folder}/{dataset}.{test}.parquet" for folder in ("comparisons", "test_sets"))
        made = ["--whole", whole, "--output", others] if self.study.datasets[dataset].test_sets else ["--output", whole]
        return [*self.compared(dataset, test), f"--threads={threads}", *made]

    def words(self, record: Analysis) -> list[str]:
        """Build the arguments of the command of an analysis, but for the number of threads, which its rule knows."""
        files, arguments = self.inputs(record), []
        for place, (name, source) in enumerate(record.inputs.items()):
            match source:
                case Data():
                    datasets = self.datasets(source.datasets).values()
                    words = [f"{dataset.statistics}:{dataset.metric}" for dataset in datasets]
                case Setting():
                    words = self._setting(source)
                case _:
                    words = files[name]
            is_first = place == 0 and isinstance(source, Comparisons | Data)
            arguments += words if is_first or not words else [f"--{name.replace('_', '-')}", *words]
        for output in record.tables[1:]:
            arguments += [f"--{output.name.replace('_', '-')}", output.file]
        return [*arguments, "--output", record.tables[0].file]

    def _setting(self, setting: Setting) -> list[str]:
        if setting.key in ("", "threads"):
            return []
        section, _, key = setting.key.partition("/")
        value = self.config[section][key]
        if setting.several:
            return list(map(str, value))
        return [str(value if setting.at_most is None else min(value, setting.at_most))]

    def tables(self, figure: Figure, dataset: str = "", test: str = "") -> list[str]:
        """List the tables of a figure, for a dataset and test if it is drawn for each of them."""
        if figure.once:
            dataset, test = self._owner(figure), next(iter(self.config["tests"]))
        if not dataset:
            files = {"comparisons": self.comparisons("measured", once=True)}
        else:
            files = {name: [f"results/{name}/{dataset}.{test}.parquet"] for name in ("comparisons", "test_sets")}
            overlay = self.study.datasets[dataset].overlay
            files["overlay"] = [f"results/comparisons/{overlaid}.{test}.parquet" for overlaid in overlay]
        written = analysis.outputs()
        # A run of its own leaves the tables of the study alone. Only overlays come after these two.
        without = {"thresholds", "reproduction"} if self.own_data and not files.get("overlay") else set()
        names = [name for name in figure.tables if name not in without]
        return [*chain.from_iterable(files[name] if name in files else [written[name].file] for name in names)]

    def _owner(self, figure: Figure) -> str:
        """Find the dataset of the run that lists a figure."""
        return next((name for name, dataset in self.datasets().items() if figure.name in dataset.counterparts), "")

    def figures(self) -> list[Figure]:
        """List the figures of the whole study; counterparts of figures of the paper need their dataset in the run."""
        return [
            figure
            for figure in analysis.figures().values()
            if (self._owner(figure) if figure.once else not figure.per_dataset)
        ]

    def picture(self, figure: Figure, dataset: str = "", test: str = "", suffix: str = "svg") -> str:
        """Name the file of a figure."""
        return f"results/figures/{figure.name}" + (f"/{dataset}.{test}.{suffix}" if dataset else f".{suffix}")

    def drawn(self, figures: Iterable[tuple[Figure, str, str]]) -> list[str]:
        """Build the command that plots figures from their tables, each with a dataset and a test, or ""."""
        words = []
        for figure in figures:
            files = [self.picture(*figure, suffix) for suffix in self.config["figure_formats"]]
            words += ["--and", figure[0].name, *self.tables(*figure), "--output", *files]
        return ["plot", *words[1:]]

    def tabulated(self, tables: Iterable[str]) -> list[str]:
        """Build the command that writes tables as readers want them."""
        names = [f"results/tables/{table}" for table in tables]
        files = map("".join, product(names, READABLE))
        return ["tabulate", *(f"{name}.tsv" for name in names), "--output", *files]


def chained(commands: Iterable[Sequence[str]]) -> list[str]:
    """Join commands that run one after another in one process."""
    return [*chain.from_iterable(["--then", *words] for words in commands)][1:]


def captions(folder: Path) -> None:
    """Write the captions of the report, `tables/NAME.rst` and `figures/NAME.rst`, if they differ from those there."""
    texts = {
        f"tables/{name}": f"{output.caption}. Also as CSV, Markdown and LaTeX in results/tables."
        for name, output in analysis.outputs().items()
        if output.caption
    }
    for name, figure in analysis.figures().items():
        texts[f"figures/{name}"] = f"{figure.caption} {figure.details}"
    for name, text in texts.items():
        _renew(folder / f"{name}.rst", text + _SETTINGS)


def first_page(about: Path, findings: Path, page: Path) -> None:
    """Write the first page of the report: the verdict of the findings, if there are any, above the text `about` it.

    The report cannot scroll to the top of a longer text.
    """
    text = about.read_text(encoding="utf-8")
    if findings.exists():
        newest = max(path.stat().st_mtime for path in (about, findings))
        if page.exists() and page.stat().st_mtime >= newest:  # the Snakefile is read for every job
            return
        from study.site.text import html

        verdict = findings.read_text(encoding="utf-8").partition("\n![")[0].removeprefix("# Findings\n")
        lines = re.sub(r'<div [^>]*>|</div>| id="[^"]*"', "", html(verdict, lambda _: "")[0]).splitlines()
        body = "\n".join(f"   {line}".rstrip() for line in ("{% raw %}", *lines, "{% endraw %}"))
        text = f".. raw:: html\n\n{body}\n\n{text}"
    _renew(page, text)
    page.touch()  # newer than the findings, even if their verdict is the same


def _renew(path: Path, text: str) -> None:
    """Write a text to a file unless it is there already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(text, path)
