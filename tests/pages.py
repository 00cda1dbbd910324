"""Pages as the tests see them: a small study built into a folder, and HTML read without what wrote it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

import simulate
from pairsig import cli
from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from running import ROOT
from study import analysis
from study import cli as study_cli
from study.reproduction.calibrate import calibrate
from study.tables import columns

VOID = {"link", "meta", "input", "img", "br"}
HOSTILE = (
    "<b>\"&'x</b>", "</script><script>alert(1)</script>", "a|b `c` {{ d }}", "ünï #1 ?x=%20", "datum['x'] + ${1}",
    '{"expr": "alert(1)"}\\',
)  # fmt: skip
"""Names of systems that are HTML, a template, an address, and expressions of Vega and JavaScript."""
DATASET, MADE = "wmt24-en-de", "hostile"


@dataclass
class Element:
    """A tag, its attributes, and what is in it: elements and text."""

    tag: str
    attributes: dict[str, str]
    children: list = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str, **attributes: str):
        """Elements in it with this tag and these attributes (`class_`: one of its classes), in their order."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        for child in self.children:
            if isinstance(child, str):
                continue
            if child.tag == tag and all(
                value in child.attributes.get(name, "").split()
                if name == "class"
                else child.attributes.get(name) == value
                for name, value in wanted.items()
            ):
                yield child
            yield from child.all(tag, **attributes)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.stack = [Element("document", {})]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_endtag(self, tag):
        assert self.stack[-1].tag == tag, f"</{tag}> ends <{self.stack[-1].tag}>"
        self.stack.pop()

    def handle_data(self, data):
        self.stack[-1].children.append(data)


def page(path: Path) -> Element:
    """A page, of which every element that begins also ends."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert [element.tag for element in reader.stack] == ["document"]
    return reader.stack[0]


def text_of(element: Element) -> str:
    """What is read of an element, without further white space."""
    return re.sub(r"\s+", " ", element.text).strip()


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file as text."""
    if path.suffix == ".parquet":
        return [{name: str(cell) for name, cell in row.items()} for row in pd.read_parquet(path).to_dict("records")]
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_MINIMAL))


def script(path: Path) -> list:
    """The arguments of the call that a data file is."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("explore.add(")
    assert text.endswith(");\n")
    assert "</" not in text
    return json.loads("[" + text.removeprefix("explore.add(").removesuffix(");\n") + "]")


def run(main, *words) -> None:
    assert main([str(word) for word in words]) == 0


def study(folder: Path) -> Path:
    """A study of two datasets, all tables of the last whole run, and its pages in `folder / "site"`."""
    results = folder / "results"
    for name in ("tables", "comparisons", "test_sets", "figures/gain_confidence"):
        (results / name).mkdir(parents=True)
    for path in (ROOT / "results" / "reference").glob("*.tsv"):
        shutil.copyfile(path, results / "tables" / path.name)
    hostile = simulate.statistics("bleu", n_systems=len(HOSTILE), n_segments=60, n_groups=3, dataset=MADE)
    hostile = type(hostile)(**{**vars(hostile), "systems": HOSTILE, "groups": HOSTILE[:3] * 2, "runs": ()})
    statistics.write(hostile, folder / f"{MADE}.parquet")
    whole = statistics.read(ROOT / "resources" / "statistics" / f"{DATASET}.parquet")
    statistics.write(whole.select(systems=whole.systems[:13]), folder / f"{DATASET}.parquet")
    settings = ["--test", "bootstrap", "--metric", "bleu", "--n-resamples", "500", "--threads", "1"]
    for name in (DATASET, MADE):
        output = results / f"comparisons/{name}.bootstrap.parquet"
        run(cli.main, "all-pairs", folder / f"{name}.parquet", *settings, "--output", output)
    made = results / f"test_sets/{DATASET}.bootstrap.parquet"
    options = ["--domain-size", "100", "--initial", "100,400", "--halves", "1"]
    run(study_cli.main, "resize", folder / f"{DATASET}.parquet", *options, *settings, "--output", made)
    of = [f"{folder / name}.parquet:bleu" for name in (DATASET, MADE)]
    run(study_cli.main, "ranks", *of, "--n-resamples", "500", "--output", results / "tables/ranks.tsv")
    run(study_cli.main, "describe", *of, "--output", results / "tables/systems.tsv")
    compared = pd.concat([analysis.read(path, COMPARISONS) for path in results.glob("*/*.bootstrap.parquet")])
    sheet = pd.DataFrame(
        [("translation", "near", DATASET, "*-first-100", "=", "*-first-100")], columns=columns.CALIBRATIONS.names
    )
    for table, name in zip(calibrate(compared, sheet), ("tables/calibration.tsv", "calibrated.parquet"), strict=True):
        tables.write(table, results / name)
    lines = (ROOT / "config/datasets.tsv").read_text(encoding="utf-8").splitlines()
    kept_lines = [line for line in lines if line.split("\t")[0] in ("dataset", DATASET)]
    described = {"dataset": MADE, "task": "<i>task", "metric": "bleu", "note": "a <b>note"}
    cells = dict.fromkeys(kept_lines[0].split("\t"), "") | described
    (folder / "datasets.tsv").write_text("\n".join([*kept_lines, "\t".join(cells.values())]) + "\n", encoding="utf-8")
    for name in ("overview", "size_scaling"):
        (results / f"figures/{name}.svg").write_text('<svg width="100pt" height="80pt"></svg>', encoding="utf-8")
    (results / f"figures/gain_confidence/{DATASET}.bootstrap.svg").write_text("<svg></svg>", encoding="utf-8")
    run(study_cli.main, *words(folder), "--output", folder / "site")
    return folder


def words(folder: Path) -> list[object]:
    """Arguments of `python -m study site` that make the pages of the study in a folder."""
    results = folder / "results"
    return [
        "site", *sorted((results / "tables").glob("*.tsv")),
        "--comparisons", *(results / f"comparisons/{name}.bootstrap.parquet" for name in (DATASET, MADE)),
        "--test-sets", *sorted((results / "test_sets").glob("*.parquet")),
        "--calibrated", results / "calibrated.parquet",
        "--datasets", folder / "datasets.tsv", "--corpora", ROOT / "config/corpora.tsv",
        "--figures", *sorted((results / "figures").rglob("*.svg")),
    ]  # fmt: skip
