"""Build the pages of the study from the tables of a run."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment

from pairsig.io.errors import InputError
from pairsig.io.rendering import count
from pairsig.metrics.names import metric_name
from study import analysis
from study.analysis.pairs import MIN_PAIRS, WINDOW
from study.analysis.record import SECTIONS
from study.site import explorer, text
from study.site.text import Row, Source, Tables

ASSETS = Path(__file__).parent / "assets"

TASKS = ("mt", "dependency", "constituency", "alignment", "summarization")
"""Tasks in the order in which the page of datasets lists them; other tasks follow."""

CAPTIONS = {name: figure.caption for name, figure in analysis.figures().items()}

DISTANCES = {
    "iid": "test sets drawn from the second",
    "halves": "two halves of a test set",
    "near": "near",
    "middle": "further",
    "far": "far",
}
"""Names of the distances of calibrations."""


@dataclass(frozen=True)
class Run:
    """The results of a run, and the sheets that describe its datasets."""

    tables: Tables  # by their names in `results/tables`
    comparisons: Sequence[Path]  # by the first test
    test_sets: Sequence[Path]  # comparisons on test sets made by `resize`
    calibrated: pd.DataFrame  # the pairs behind the calibrations, table `CALIBRATED`
    datasets: pd.DataFrame  # the sheet, with all its columns
    corpora: pd.DataFrame
    figures: Sequence[Path] = ()  # SVG: `FIGURE.svg` for the study, `FIGURE/DATASET.TEST.svg` for a dataset


@dataclass(frozen=True)
class Figure:
    """A figure on a page: its address, caption and maximal width in px."""

    href: str
    caption: str
    width: int


def replace(run: Run, folder: Path) -> None:
    """Build the pages in a new folder, and replace `folder` only when they are complete."""
    part = folder.with_name(f"{folder.name}.part")
    if folder.exists() and not (folder / "site.css").is_file() and any(folder.iterdir()):
        raise InputError(f"{folder}: found files that are not pages of the study, expected an empty or new folder")
    shutil.rmtree(part, ignore_errors=True)
    try:
        build(run, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)


@cache
def environment() -> Environment:
    """Make the environment of the templates in HTML."""
    templates = text.environment(autoescape=True)
    templates.filters.update(count=count, few=text.few, link=lambda name: quote(str(name)))
    return templates


def build(run: Run, folder: Path) -> None:
    """Write the pages of a run into `folder`, which must not exist."""
    pages = environment()
    folder.mkdir(parents=True)
    for name in ("data", "datasets", "figures", "tables"):
        (folder / name).mkdir()
    for asset in ASSETS.iterdir():
        shutil.copyfile(asset, folder / asset.name)
    (folder / "vega.js").write_text(_vega(), encoding="utf-8")
    figures = _copied(run.figures, folder / "figures")
    names = sorted(run.tables)
    for name, table in run.tables.items():
        table.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")

    source = Source(run.tables)
    compared = explorer.read([*run.comparisons, *run.test_sets])
    explored = _explored(compared, folder / "data")
    cells = _cells(run.calibrated, source, folder / "data")
    datasets = list(_datasets(run, source, explored, figures))
    made = _made(compared)
    p_name = "one-sided p" if made.get("alternative") == "observed" else "p"
    shared = {"made": made, "tables": names, "depth": "", "p_window": WINDOW, "p_name": p_name}

    def write(path: str, template: str, **description: object) -> None:
        depth = "../" * path.count("/")
        text = pages.get_template(template).render(**{**shared, "page": path, "depth": depth}, **description)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")

    findings, headings = _findings(run.tables, names, figures)
    write("index.html", "index.html", findings=findings, headings=headings)
    write("paper.html", "paper.html", papers=_papers(source), table_1=_table_1(source.tables), figures=figures)
    write("figures.html", "figures.html", sections=_by_section(figures))
    write("explorer.html", "explorer.html", index=explored)
    write("cells.html", "cells.html", index=cells)
    write("datasets.html", "datasets.html", tasks=_by_task(datasets))
    for dataset in datasets:
        write(f"datasets/{dataset['name']}.html", "dataset.html", dataset=dataset)
    for name, findings in _documentation(figures):
        write(name, "docs.html", found=findings, heading=documentation()[name].partition("\n")[0].lstrip("# "))


def _findings(tables: Tables, names: Sequence[str], figures: Mapping[str, Figure]) -> tuple[str, list[tuple[str, str]]]:
    """Convert the findings to HTML: links lead to other pages, tables and figures of the folder."""

    def link(target: str) -> str:
        folder, _, name = target.rpartition("/")
        stem = name.partition(".")[0]
        if target.startswith("../docs/") and name != "paper.md":
            return _of_documentation(target.removeprefix("../"))
        if folder == "tables":
            return f"tables/{quote(stem)}.csv" if stem in names else ""
        if folder == "figures":
            return figures[stem].href if stem in figures else ""
        return "paper.html" if name == "paper.md" else ""

    return text.html(text.findings(tables), link)


DOCS = Path(__file__).parents[3] / "docs"
"""The documentation, of which the pages have all that is plain Markdown."""

_NO_TEXT = re.compile(r"\A---\n.*?^---\n|^```\{.*?^```\n|<!--.*?-->", re.DOTALL | re.MULTILINE)
"""What pages of the documentation have beside text: front matter, directives of Sphinx, and comments."""

_MADE = re.compile(r"^```\{(toctree|include)\}", re.MULTILINE)


@cache
def documentation() -> dict[str, str]:
    """Read the pages of the documentation by their address: `docs/ranks.html`.

    Pages that Sphinx makes from docstrings, other files or lists of pages are left out.
    """
    paths = [*DOCS.glob("*.md"), *DOCS.glob("sheets/*.md")]
    texts = {path.relative_to(DOCS): path.read_text(encoding="utf-8") for path in sorted(paths)}
    return {
        f"docs/{path.with_suffix('.html').as_posix()}": _NO_TEXT.sub("", page).strip()
        for path, page in texts.items()
        if path.name == "index.md" or (path.name != "api.md" and not _MADE.search(page))
    }


def _of_documentation(target: str) -> str:
    """Address of a page of the documentation; empty if it is not among the pages of the study."""
    path, mark, fragment = target.partition("#")
    address = posixpath.normpath(path).removesuffix(".md") + ".html"
    return address + mark + fragment if address in documentation() else ""


def _documentation(figures: Mapping[str, Figure]) -> Iterator[tuple[str, str]]:
    """Convert the documentation to HTML: links lead to its other pages, and pictures are the figures of this run."""
    for name, page in documentation().items():
        folder = posixpath.dirname(name)

        def link(target: str, folder: str = folder) -> str:
            if target.startswith(("#", "https://")):
                return target
            if "/results/" in target:
                stem = posixpath.basename(target).partition(".")[0]
                address = figures[stem].href if stem in figures and target.endswith((".png", ".svg")) else ""
            else:
                address = _of_documentation(posixpath.join(folder, target))
            return posixpath.relpath(address, folder) if address else ""

        yield name, text.html(page, link)[0]


def _by_section(figures: Mapping[str, Figure]) -> list[tuple[str, list[Figure]]]:
    """Sort the figures of the whole study by the sections of the report."""
    known = analysis.figures()
    by_heading = {
        heading: [figures[name] for name, figure in known.items() if figure.section == section and name in figures]
        for section, heading in SECTIONS.items()
    }
    return [(heading, drawn) for heading, drawn in by_heading.items() if drawn]


@cache
def _vega() -> str:
    """Bundle Vega, Vega-Lite and Vega-Embed in one script."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise InputError(
            "found no Python module vl_convert, expected it for the explorer; type pip install pairsig[workflow]"
        ) from None
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # the stub lacks a default


def _copied(paths: Sequence[Path], folder: Path) -> dict[str, Figure]:
    """Copy the figures; return them by name, `calibration` or `sizes/DATASET`."""
    figures: dict[str, Figure] = {}
    for path in paths:
        of_dataset = path.parent.name in CAPTIONS
        figure, name = (path.parent.name, path.stem.rpartition(".")[0]) if of_dataset else (path.stem, "")
        key = f"{figure}/{name}" if name else figure
        file = f"{key.replace('/', '-')}.svg"
        if key in figures:  # the figure of a second test
            continue
        text = path.read_text(encoding="utf-8")
        (folder / file).write_text(text, encoding="utf-8")
        size = re.search(r'<svg [^>]*?width="([\d.]+)pt"', text)
        width = float(size[1]) if size else 340.0
        figures[key] = Figure(f"figures/{quote(file)}", CAPTIONS.get(figure, ""), round(1.9 * width))
    return figures


def _explored(compared: pd.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Write one script per dataset and test set; return the description of each dataset."""
    descriptions = []
    for about, drawn in explorer.pairs(compared):
        for place, arrays in enumerate(drawn):
            script = explorer.script("explore.add", about["dataset"], place, arrays)
            (folder / f"{about['dataset']}.{place}.js").write_text(script, encoding="utf-8")
        descriptions.append(about | {"metric": metric_name(about["metric"])})
    return descriptions


def _cells(calibrated: pd.DataFrame, source: Source, folder: Path) -> list[dict[str, Any]]:
    """Write one script per calibration and distance; return the replication rates by range of p-values."""
    calibrations: list[dict[str, Any]] = []
    for drawn_pairs in explorer.cells(calibrated):
        rates = source.rows("calibration", calibration=drawn_pairs["calibration"], distance=drawn_pairs["distance"])
        if not rates:
            continue
        file = f"cells.{len(calibrations)}.js"
        (folder / file).write_text(
            explorer.script("explore.add", "cells", len(calibrations), drawn_pairs), encoding="utf-8"
        )
        ranges = [
            {
                "low": row["p_low"].value, "high": row["p_high"].value,
                "n": int(row["n_pairs"].value), "replicated": int(row["n_replicated"].value),
                "share": row["share"].shown, "expected": row["expected"].shown,
            }
            for row in rates
            if row["p_low"].value >= explorer.BOUNDS[0] and row["p_high"].value <= explorer.BOUNDS[-1]
        ]  # fmt: skip
        name = f"{drawn_pairs['calibration']}, {DISTANCES.get(drawn_pairs['distance'], drawn_pairs['distance'])}"
        calibrations.append({"name": name, "file": file, "ranges": ranges})
    return calibrations


def _made(compared: pd.DataFrame) -> dict[str, str]:
    """Read the settings of the run from the signature of its comparisons."""
    if compared.empty:
        return {}
    return dict(part.split(":", 1) for part in str(compared["signature"].iloc[0]).split("|") if ":" in part)


IN_SMALL_RUN = "differs in this small run"
"""The verdict that rests on fewer simulated pairs than a verdict on real systems requires."""

PAPERS = {
    False: ("paper-2012", "The 2012 paper", "Berg-Kirkpatrick, Burkett and Klein: significance in NLP"),
    True: ("paper-2022", "The 2022 paper", "Zmigrod, Vieira and Cotterell: exact tests"),
}
"""Identifier, name and description of each paper: the one on exact tests, or the other."""


def _papers(source: Source) -> list[dict[str, Any]]:
    """Divide the published numbers by paper, and those of which the run has ours from the others."""
    papers: dict[bool, dict[str, Any]] = {
        exact: {"id": name, "name": heading, "about": about, "verdicts": Counter(), "rows": [], "others": []}
        for exact, (name, heading, about) in PAPERS.items()
    }
    small = all(row["n_pairs"].value < MIN_PAIRS for row in source.rows("relative_error"))
    for place, row in enumerate(source.rows("reproduction")):
        paper, verdict = papers[text.of_exact_paper(row)], text.verdict(row)
        if small and text.of_exact_paper(row) and verdict == "differs":
            verdict = IN_SMALL_RUN
        name, note = split_name(row["what"])
        number = {"row": row, "place": place, "group": _group(row["item"], row["unit"]), "name": name, "note": note}
        paper["others" if verdict == text.NO_PART else "rows"].append(number | {"verdict": verdict})
        paper["verdicts"][verdict] += 1
    return [paper for paper in papers.values() if paper["verdicts"]]


def split_name(title: str) -> tuple[str, str]:
    """Split the name of a published number from the note in brackets after it.

    >>> split_name("threshold, same base model (ours: English Web Treebank)")
    ('Threshold, same base model', 'ours: English Web Treebank')
    """
    name, bracket, remainder = title.partition(" (")
    note = remainder.removesuffix(")") if bracket and remainder.endswith(")") else ""
    name = name if note else title
    return name[:1].upper() + name[1:], note


def _group(item: str, unit: str) -> str:
    """Find the group of a published number, for the filter."""
    heads = {"table": "Table 1", "calibration": "p near 0.05", "size": "Size", "exact": "Exact test"}
    return heads.get(item.partition("-")[0], f"Thresholds, {unit}")


def _table_1(tables: Tables) -> list[dict[str, Any]]:
    """Arrange Table 1 by calibration: ranges of p-values, each with the paper's row and ours."""
    table = tables["table_1"]
    if table.empty:
        return []
    paper = {row["p_range"]: row for row in table[table["calibration"] == "the paper"].to_dict("records")}
    verdicts = dict(zip(tables["reproduction"]["compared_with"], tables["reproduction"]["verdict"], strict=True))
    blocks = []
    for calibration, rows in table[table["calibration"] != "the paper"].groupby("calibration", sort=False):
        ranges, judged = [], False
        for row in rows.to_dict("records"):
            bounds = str(row["p_range"]).replace(" to ", "-")
            printed = paper.get(row["p_range"], dict.fromkeys(row, ""))
            cells: list[dict[str, Any]] = [
                {
                    "distance": distance,
                    "ours": _cell(str(row[distance]), str(row[f"{distance}_expected"])),
                    "paper": _cell(str(printed[distance]), str(printed[f"{distance}_expected"])),
                    "verdict": verdicts.get(f"share:{calibration}:{distance}:{bounds}", ""),
                }
                for distance in ("near", "middle", "far")
            ]
            judged |= any(cell["verdict"] for cell in cells)
            ranges.append({"p": str(row["p_range"]).replace(" to ", "–"), "cells": cells})
        blocks.append({"name": str(calibration), "judged": judged, "ranges": ranges})
    return sorted(blocks, key=lambda block: not block["judged"])


def _cell(share: str, expected: str) -> dict[str, str]:
    """Split a cell of the table into its parts.

    >>> _cell("94 % (91 to 96), 4,538 pairs", "98 % (98 to 98)")
    {'share': '94 %', 'interval': '[91, 96]', 'pairs': '4,538 pairs', 'expected': '98 %'}
    """
    match = re.fullmatch(r"(\d+ %)(?: \((\d+) to (\d+)\))?(?:, (.+ pairs?))?", share)
    if match is None:
        return dict.fromkeys(("share", "interval", "pairs", "expected"), "")
    ends = f"[{match[2]}, {match[3]}]" if match[2] else ""
    return {"share": match[1], "interval": ends, "pairs": match[4] or "", "expected": expected.partition(" (")[0]}


def _datasets(
    run: Run, source: Source, explored: Sequence[Mapping[str, Any]], figures: Mapping[str, Figure]
) -> Iterator[dict[str, Any]]:
    """Collect the content of each dataset's page, in the order of the sheet."""
    sheet = run.datasets.set_index("dataset")
    corpora = run.corpora.set_index("corpus")
    drawn = {entry["dataset"]: entry for entry in explored}
    for row in source.rows("systems", group="all"):
        name, whole = row["dataset"], source.rows("thresholds", dataset=row["dataset"], test_set="whole")
        in_sheet = sheet.loc[name] if name in sheet.index else pd.Series(dtype=object)
        pool = str(in_sheet.get("pool", "")).split()
        members = [str(sheet.loc[entry].get("corpus", "")) for entry in pool or [name] if entry in sheet.index]
        yield {
            "name": name,
            "task": str(in_sheet.get("task", row["task"])),
            "metric": row["metric"],
            **{key: str(in_sheet.get(key, "")) for key in ("study", "note", "options")},
            "n_segments": int(row["n_segments"].value),
            "n_systems": int(row["n_systems"].value),
            "length": row["length_per_segment"].digits(1) if row["length_per_segment"].known else None,
            "length_unit": row["length_unit"],
            "left_out": "" if row["left_out"] == "none" else row["left_out"],
            "pool": pool,
            "corpora": [corpora.loc[entry] for entry in dict.fromkeys(members) if entry in corpora.index],
            "ranks": ranked(text.rows(source.tables, "ranks", dataset=name)),
            "groups": [entry for entry in source.rows("systems", dataset=name) if entry["group"] != "all"],
            "sizes": _critical_differences(source, name, "initial", drawn.get(name)),
            "domains": _critical_differences(source, name, "domain", drawn.get(name)),
            "subsets": [(entry["subset"], entry) for entry in whole if entry["n_all"].value],
            "figures": [figure for key, figure in figures.items() if key.partition("/")[2] == name],
            "explored": name in drawn,
        }  # fmt: skip


def ranked(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """List the systems of a dataset by rank, with the positions of their intervals on the axis, in per cent."""
    if rows.empty:
        return []
    low, high = rows["score_low"].fillna(rows["score"]).min(), rows["score_high"].fillna(rows["score"]).max()
    wide = (high - low) or 1.0

    def at(value: float) -> float:
        return round(100 * float(value - low) / wide, 2)

    lines, cluster = [], 1
    for row in rows.to_dict("records"):
        known, first, last = pd.notna(row["score_low"]), row["rank_low"], row["rank_high"]
        lines.append({
            "rank": row["rank"], "ranks": f"{first}–{last}" if first < last else f"{first}",
            "system": row["system"], "group": row["group"], "kind": row["kind"],
            "score": f"{row['score']:.2f}",
            "interval": f"[{row['score_low']:.2f}, {row['score_high']:.2f}]" if known else "",
            "left": at(row["score_low"] if known else row["score"]),
            "width": at(row["score_high"]) - at(row["score_low"]) if known else 0.0,
            "dot": at(row["score"]),
            "significant": pd.notna(row["p_next"]) and row["p_next"] <= 0.05,
            "line": row["cluster"] != cluster,
        })  # fmt: skip
        cluster = row["cluster"]
    return lines


def _critical_differences(
    source: Source, name: str, derived: str, drawn: Mapping[str, Any] | None
) -> list[tuple[str, Row]]:
    """List critical differences on test sets of one kind; the whole test set counts as initial segments."""
    rows = {row["test_set"]: row for row in reversed(source.rows("thresholds", dataset=name, subset="all"))}
    if drawn is None:
        return []
    kinds = ("initial", "whole") if derived == "initial" else ("domain", "document")
    chosen = [test_set for test_set in drawn["test_sets"] if test_set["derived"] in kinds and test_set["label"] in rows]
    if derived == "initial":
        chosen.sort(key=lambda test_set: test_set["n"])
    elif len(chosen) < 2:
        return []
    labels = [test_set["domain"] or ("whole" if test_set["derived"] == "whole" else "first") for test_set in chosen]
    return [(label, rows[test_set["label"]]) for label, test_set in zip(labels, chosen, strict=True)]


def _by_task(datasets: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Group the datasets by task, with pools at the end of each group."""
    tasks = [*TASKS, *(str(dataset["task"]) for dataset in datasets)]
    by_task: dict[str, list[Mapping[str, Any]]] = {task: [] for task in tasks}
    for dataset in sorted(datasets, key=lambda dataset: bool(dataset["pool"])):
        by_task[str(dataset["task"])].append(dataset)
    return [(text.task_name(task), of_task) for task, of_task in by_task.items() if of_task]
