"""Pages from the tables of a run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from pairsig.errors import InputError
from pairsig.metrics.names import metric_name
from study.presentation import by_unit, count, p_value
from study.site import explorer, findings
from study.site.findings import Tables, interval, split_name

ASSETS = Path(__file__).parent / "assets"

TASKS = ("mt", "dependency", "constituency", "alignment", "summarization")
"""In the order in which datasets are listed; others follow."""

CAPTIONS = {
    "overview": "Every pair of systems of every dataset: confidence (1 − p) against gain. The line is what "
    "theory expects of "
    "the median pair.",
    "gain_confidence": "A dot a pair of systems. Lines: what theory expects of the median pair of a kind; "
    "dashed: thresholds.",
    "full_sets": "Pairs of systems trained on full training sets alone, as the paper's.",
    "sizes": "Initial segments of the test set, the smaller the lighter.",
    "domains": "Equally many segments of each domain.",
    "similarity": "Gain against how alike two systems are; the line is what is needed for p = 0.05.",
    "size_law": "Need of the median pair against the number of segments, with the fitted laws; dashed: 1/√n.",
    "calibration": "How often the better system on one test set is the better one on another, by p on the "
    "first. Broken lines: "
    "what one population would give.",
    "next_test_sets": "Chances that were told, and how often they came true.",
    "trainings": "Runs of one method: how often p < 0.05, and whom p near 0.05 names.",
    "documents": "What documents do to the variance of a gain, and to p.",
    "segments_needed": "Segments that show a gain with 80 % power, by the law.",
    "relative_error": "Error of Monte Carlo p-values against the number of samples; lines: the binomial law.",
    "run_time": "Seconds of the exact test and of Monte Carlo.",
    "thresholds": "Ours beside the printed thresholds; ticks: scaled to the size of our test sets.",
}

DERIVED = {"whole": "Whole test set", "initial": "Initial segments", "domain": "Domains", "document": "Documents"}


@dataclass(frozen=True)
class Run:
    """What a run has made, and the sheets that say what its datasets are.

    Attributes
    ----------
    tables
        By name, as they are called in `results/tables`.
    comparisons, test_sets
        Files of comparisons, of the first test.
    calibrated
        The pairs behind the calibrations, table `CALIBRATED`.
    datasets, corpora
        The sheets, with all their columns.
    figures
        SVG files: `FIGURE.svg` of the study, `FIGURE/DATASET.TEST.svg` of a dataset.
    """

    tables: Tables
    comparisons: Sequence[Path]
    test_sets: Sequence[Path]
    calibrated: pd.DataFrame
    datasets: pd.DataFrame
    corpora: pd.DataFrame
    figures: Sequence[Path] = ()


@dataclass(frozen=True)
class Figure:
    """A figure as a page shows it: where it lies, what it is, how wide it may be in px, and whether it is scrolled."""

    href: str
    caption: str
    width: int
    tall: bool


def replace(run: Run, folder: Path) -> None:
    """`build` into a new folder, and only when it is whole put it in the place of `folder`."""
    part = folder.with_name(f"{folder.name}.part")
    if folder.exists() and not (folder / "site.css").is_file() and any(folder.iterdir()):
        raise InputError(f"{folder}: found something else than pages, expected a folder that may be made anew")
    shutil.rmtree(part, ignore_errors=True)
    try:
        build(run, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)


def build(run: Run, folder: Path) -> None:
    """Write the pages of a run into `folder`, which is made, and nothing else."""
    pages = Environment(
        loader=PackageLoader("study.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(count=count, metric=metric_name, p=p_value, link=lambda name: quote(str(name)))
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

    run = replaced(run, tables=findings.complete(run.tables))
    compared = explorer.read([*run.comparisons, *run.test_sets])
    explored = _explored(compared, folder / "data")
    cells = _cells(run, folder / "data")
    datasets = list(_datasets(run, explored, figures))
    shared = {"made": _made(compared), "tables": names, "depth": ""}

    def write(path: str, template: str, **told: object) -> None:
        depth = "../" * path.count("/")
        text = pages.get_template(template).render(**{**shared, "page": path, "depth": depth}, **told)
        (folder / path).write_text(text, encoding="utf-8")

    write(
        "index.html",
        "index.html",
        chapters=findings.chapters(run.tables),
        headline=list(findings.headline(run.tables)),
        figures=figures,
    )
    write("paper.html", "paper.html", rows=_reproduction(run.tables), table_1=_table_1(run.tables), figures=figures)
    write("explorer.html", "explorer.html", index=explored)
    write("cells.html", "cells.html", index=cells)
    write("datasets.html", "datasets.html", tasks=_by_task(datasets))
    for one in datasets:
        write(f"datasets/{one['name']}.html", "dataset.html", dataset=one)


def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise InputError("the explorer needs the Python module vl_convert: install pairsig[workflow]") from None
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its stub forgets a default


def _copied(paths: Sequence[Path], folder: Path) -> dict[str, Figure]:
    """Figures by name, `calibration` or `sizes/DATASET`, copied."""
    found: dict[str, Figure] = {}
    for path in paths:
        own = path.parent.name in CAPTIONS
        figure, name = (path.parent.name, path.stem.rpartition(".")[0]) if own else (path.stem, "")
        key = f"{figure}/{name}" if name else figure
        file = f"{key.replace('/', '-')}.svg"
        if key in found:  # of a second test
            continue
        text = path.read_text(encoding="utf-8")
        (folder / file).write_text(text, encoding="utf-8")
        size = re.search(r'<svg [^>]*?width="([\d.]+)pt" height="([\d.]+)pt"', text)
        width, height = (float(size[1]), float(size[2])) if size else (340.0, 300.0)
        found[key] = Figure(
            f"figures/{quote(file)}", CAPTIONS.get(figure, ""), round(1.9 * width), height > 1.5 * width
        )
    return found


def _explored(compared: pd.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Write a script a dataset and test set; what each dataset has."""
    found = []
    for about, drawn in explorer.pairs(compared):
        for place, one in enumerate(drawn):
            told = explorer.script("explore.add", about["dataset"], place, one)
            (folder / f"{about['dataset']}.{place}.js").write_text(told, encoding="utf-8")
        found.append(about | {"metric": metric_name(about["metric"])})
    return found


def _cells(run: Run, folder: Path) -> list[dict[str, Any]]:
    """Write a script a calibration and distance; what each of them has, with its shares by range of p-values."""
    found: list[dict[str, Any]] = []
    for one in explorer.cells(run.calibrated):
        mine = findings.rows(run.tables, "calibration", calibration=one["calibration"], distance=one["distance"])
        if mine.empty:
            continue
        file = f"cells.{len(found)}.js"
        (folder / file).write_text(explorer.script("explore.add", "cells", len(found), one), encoding="utf-8")
        inside = mine[(mine["p_low"] >= explorer.BOUNDS[0]) & (mine["p_high"] <= explorer.BOUNDS[-1])]
        found.append(
            {
                "name": f"{one['calibration']}, {findings.DISTANCES.get(one['distance'], one['distance'])}",
                "file": file,
                "ranges": [
                    {
                        "low": row["p_low"],
                        "high": row["p_high"],
                        "n": int(row["n_pairs"]),
                        "held": int(row["n_held"]),
                        "share": findings.share(row),
                        "expected": findings.share(row, "expected"),
                    }
                    for _, row in inside.iterrows()
                ],
            }
        )
    return found


def _made(compared: pd.DataFrame) -> dict[str, str]:
    """The settings of the run, as the signatures of its comparisons say them."""
    if compared.empty:
        return {}
    return dict(part.split(":", 1) for part in str(compared["signature"].iloc[0]).split("|") if ":" in part)


def _reproduction(tables: Tables) -> list[dict[str, Any]]:
    """The rows of ours beside the papers'."""
    found = []
    for place, (_, row) in enumerate(tables["reproduction"].iterrows()):
        name, note = split_name(str(row["what"]))
        details = [
            ("size of the paper's test set", _n(row["n_segments"], " segments")),
            ("size of ours", _n(row["ours_n_segments"], " segments")),
            ("words, brackets or links of the paper's", _n(row["information"])),
            ("of ours", _n(row["ours_information"])),
            ("the paper's, scaled by segments", _scaled(row, "expected")),
            ("scaled by what is in them", _scaled(row, "expected_by_information")),
            ("ours over the expected", "" if pd.isna(row["ratio"]) else f"{row['ratio']:.2f}"),
            ("difference in standard errors", "" if pd.isna(row["z"]) else findings.signed(row["z"])),
            ("compared with", str(row["compared_with"])),
        ]
        found.append(
            {
                "place": place,
                "group": _group(str(row["item"]), str(row["unit"])),
                "name": name,
                "note": note,
                "page": str(row["page"]),
                "verdict": str(row["verdict"]),
                "ours": findings.ours(row),
                "published": findings.published(row),
                "expected": findings.expected(row),
                "why": str(row["why"]),
                "details": [(what, told) for what, told in details if told],
                "by_ours": "" if pd.isna(row["ours"]) else repr(float(row["ours"])),
                "by_published": "" if pd.isna(row["published"]) else repr(float(row["published"])),
                "by_ratio": "" if pd.isna(row["ratio"]) else repr(float(row["ratio"])),
            }
        )
    return found


def _n(value: float, unit: str = "") -> str:
    return "" if pd.isna(value) else f"{count(value)}{unit}"


def _scaled(row: pd.Series, column: str) -> str:
    return "" if pd.isna(row[column]) else f"{by_unit(row[column], row['unit'])} {row['unit']}"


def _group(item: str, unit: str) -> str:
    """What a printed number is about, for the filter."""
    heads = {"table": "Table 1", "calibration": "p near 0.05", "size": "Size", "exact": "Exact test"}
    return heads.get(item.partition("-")[0], f"Thresholds, {unit}")


def _table_1(tables: Tables) -> list[dict[str, Any]]:
    """Table 1 by calibration: ranges of p-values, each with the paper's row and ours."""
    table = tables["table_1"]
    if table.empty:
        return []
    paper = table[table["calibration"] == "the paper"].set_index("p_range")
    reproduction = tables["reproduction"]
    verdicts = dict(zip(reproduction["compared_with"], reproduction["verdict"], strict=True))
    found = []
    for calibration, rows in table[table["calibration"] != "the paper"].groupby("calibration", sort=False):
        ranges = []
        judged = False
        for _, row in rows.iterrows():
            bounds = str(row["p_range"]).replace(" to ", "-")
            cells = []
            for distance in ("near", "middle", "far"):
                verdict = verdicts.get(f"share:{calibration}:{distance}:{bounds}", "")
                judged |= bool(verdict)
                own = _cell(str(row[distance]), str(row[f"{distance}_expected"]))
                printed = row["p_range"] in paper.index
                its = paper.loc[row["p_range"]] if printed else None
                cells.append(
                    {
                        "distance": distance,
                        "ours": own,
                        "paper": _cell(str(its[distance]), str(its[f"{distance}_expected"]))
                        if its is not None
                        else _cell("", ""),
                        "verdict": verdict,
                    }
                )
            ranges.append({"p": str(row["p_range"]).replace(" to ", "–"), "cells": cells})
        found.append({"name": str(calibration), "judged": judged, "ranges": ranges})
    return sorted(found, key=lambda one: not one["judged"])


def _cell(share: str, expected: str) -> dict[str, str]:
    """A cell of the table in its parts.

    >>> _cell("94 % (91 to 96), 4,538 pairs", "98 % (98 to 98)")
    {'share': '94 %', 'interval': '[91, 96]', 'pairs': '4,538 pairs', 'expected': '98 %'}
    """
    found = re.fullmatch(r"(\d+ %)(?: \((\d+) to (\d+)\))?(?:, (.+ pairs?))?", share)
    if found is None:
        return {"share": "", "interval": "", "pairs": "", "expected": ""}
    ends = f"[{found[2]}, {found[3]}]" if found[2] else ""
    return {"share": found[1], "interval": ends, "pairs": found[4] or "", "expected": expected.partition(" (")[0]}


def _datasets(
    run: Run, explored: Sequence[Mapping[str, Any]], figures: Mapping[str, Figure]
) -> Iterator[dict[str, Any]]:
    """What the page of each dataset says, in the order of the sheet."""
    sheet = run.datasets.set_index("dataset")
    corpora = run.corpora.set_index("corpus")
    drawn = {one["dataset"]: one for one in explored}
    systems = findings.rows(run.tables, "systems", group="all")
    for _, row in systems.iterrows():
        name = str(row["dataset"])
        told = sheet.loc[name] if name in sheet.index else pd.Series(dtype=object)
        pool = str(told.get("pool", "")).split()
        corpus = str(told.get("corpus", ""))
        source = corpora.loc[corpus] if corpus in corpora.index else None
        members = [str(sheet.loc[one].get("corpus", "")) for one in pool if one in sheet.index]
        yield {
            "name": name,
            "task": str(told.get("task", row["task"])),
            "metric": str(row["metric"]),
            "study": str(told.get("study", "")),
            "note": str(told.get("note", "")),
            "options": str(told.get("options", "")),
            "n_segments": int(row["n_segments"]),
            "n_systems": int(row["n_systems"]),
            "carried": "" if pd.isna(row["per_segment"]) else f"{row['per_segment']:.1f} {row['carrier']} a segment",
            "left_out": "" if row["left_out"] == "none" else str(row["left_out"]),
            "pool": pool,
            "corpora": [
                _corpus(name_, corpora.loc[name_]) for name_ in dict.fromkeys(members) if name_ in corpora.index
            ] if pool else [_corpus(corpus, source)] if source is not None else [],
            "ranks": _ranks(run.tables, name),
            "groups": _groups(run.tables, name),
            "sizes": _needs(run.tables, name, "initial", drawn.get(name)),
            "domains": _needs(run.tables, name, "domain", drawn.get(name)),
            "subsets": _subsets(run.tables, name),
            "figures": [figure for key, figure in figures.items() if key.partition("/")[2] == name],
            "explored": name in drawn,
        }  # fmt: skip


def _corpus(name: str, row: pd.Series) -> dict[str, Any]:
    return {
        "name": name,
        "citation": str(row["citation"]),
        "licence": str(row["licence"]),
        "urls": [url for url in str(row["url"]).split() if url.startswith(("https://", "http://"))],
        "sha256": str(row["sha256"]),
    }


def _ranks(tables: Tables, name: str) -> list[dict[str, Any]]:
    """The systems of a dataset in their order, and where their intervals lie on the axis, in per cent."""
    rows = findings.rows(tables, "ranks", dataset=name)
    if rows.empty:
        return []
    low, high = rows["score_low"].fillna(rows["score"]).min(), rows["score_high"].fillna(rows["score"]).max()
    wide = (high - low) or 1.0

    def at(value: float) -> float:
        return round(100 * float(value - low) / wide, 2)

    found, cluster = [], 1
    for _, row in rows.iterrows():
        known = pd.notna(row["score_low"])
        found.append(
            {
                "rank": int(row["rank"]),
                "ranks": f"{row['rank_low']}–{row['rank_high']}"
                if row["rank_low"] < row["rank_high"]
                else f"{row['rank_low']}",
                "system": str(row["system"]),
                "group": str(row["group"]),
                "kind": str(row["kind"]),
                "score": f"{row['score']:.2f}",
                "interval": interval(
                    row["score"], row["score_low"], row["score_high"], lambda value: f"{value:.2f}"
                ).partition(" ")[2],
                "left": at(row["score_low"] if known else row["score"]),
                "width": at(row["score_high"]) - at(row["score_low"]) if known else 0.0,
                "dot": at(row["score"]),
                "told": pd.notna(row["p_next"]) and row["p_next"] <= 0.05,
                "line": int(row["cluster"]) != cluster,
            }
        )
        cluster = int(row["cluster"])
    return found


def _groups(tables: Tables, name: str) -> list[dict[str, Any]]:
    """Base models, where the systems were trained for the study."""
    rows = findings.rows(tables, "systems", dataset=name)
    return [
        {
            "group": str(row["group"]),
            "n": int(row["n_systems"]),
            "low": f"{row['score_low']:.2f}",
            "mean": f"{row['score_mean']:.2f}",
            "high": f"{row['score_high']:.2f}",
        }
        for _, row in rows.iterrows()
        if row["group"] != "all"
    ]


def _need(row: pd.Series, label: str) -> dict[str, str]:
    def shown(value: float) -> str:
        return f"{value:.2f}"

    return {
        "label": label,
        "n": count(row["n_segments"]),
        "pairs": count(row["n_all"]),
        "need": interval(row["need"], row["need_low"], row["need_high"], shown),
        "threshold": interval(row["threshold"], row["low"], row["high"], shown),
        "near": count(row["n_pairs"]),
        "verdict": str(row["verdict"]),
    }


def _needs(tables: Tables, name: str, derived: str, drawn: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """What the median pair needs, on test sets of one kind; the whole one is among initial segments."""
    rows = findings.rows(tables, "thresholds", dataset=name, subset="all")
    if drawn is None or rows.empty:
        return []
    rows = rows.drop_duplicates("test_set").set_index("test_set")
    kinds = ("initial", "whole") if derived == "initial" else ("domain", "document")
    chosen = [one for one in drawn["test_sets"] if one["derived"] in kinds and one["label"] in rows.index]
    ordered = sorted(chosen, key=lambda one: one["n"]) if derived == "initial" else chosen
    if derived != "initial" and len(ordered) < 2:
        return []
    return [
        _need(rows.loc[one["label"]], one["domain"] or ("whole" if one["derived"] == "whole" else "first"))
        for one in ordered
    ]


def _subsets(tables: Tables, name: str) -> list[dict[str, str]]:
    """What the median pair of each sort of pairs needs on the whole test set."""
    rows = findings.rows(tables, "thresholds", dataset=name, test_set="whole")
    return [_need(row, str(row["subset"])) for _, row in rows.iterrows() if row["n_all"]]


def _by_task(datasets: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The datasets by task, pools at the end of theirs."""
    tasks = dict.fromkeys([*TASKS, *(str(one["task"]) for one in datasets)])
    found = [
        (task, sorted((one for one in datasets if one["task"] == task), key=lambda one: bool(one["pool"])))
        for task in tasks
    ]
    return [(findings.task_name(task), mine) for task, mine in found if mine]
