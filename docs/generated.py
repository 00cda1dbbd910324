"""Pages that are generated: the command line, the columns of tables, pages from other folders, a picture of p-values.

They are written to `docs/made/`, which is not committed; Sphinx writes the pages of the API there, too. `linked` turns
links between files of the repository into links between pages. Links to other files become downloads.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pairsig import cli, readers
from pairsig.core import definitions
from pairsig.io import columns, console
from pairsig.metrics.names import metric_name
from pairsig.metrics.registry import METRICS
from pairsig.readers import options
from study import sheets
from study.tables.declared import all_declared

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MADE = HERE / "made"

PAGES = {
    "README.md": "docs/index.md",
    "config/README.md": "docs/made/configuration.md",
    "results/README.md": "docs/made/findings.md",
    "CHANGELOG.md": "docs/made/changelog.md",
    "ARCHITECTURE.md": "docs/made/architecture.md",
    "CONTRIBUTING.md": "docs/made/contributing.md",
}
"""Files of the repository that are also pages."""

_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]*)(#[^)\s]*)?\)")


def linked(text: str, page: Path, home: Path | None = None) -> str:
    """The text of a page, with its links turned into links to pages; `home` is the path of the file itself."""
    home = home or page

    def link(found: re.Match[str]) -> str:
        before, target, anchor = found[1], found[2], found[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = os.path.relpath(home.parent / target, ROOT).replace(os.sep, "/")
        path = PAGES.get(path, path)
        return f"{before}{os.path.relpath(ROOT / path, page.parent).replace(os.sep, '/')}{anchor})"

    return _LINK.sub(link, text)


def write() -> None:
    """Write all generated pages that have changed."""
    MADE.mkdir(exist_ok=True)
    for source, page in PAGES.items():
        if source != "README.md":
            _put(ROOT / page, linked(_read(ROOT / source), ROOT / page, ROOT / source))
    _put(MADE / "command-line.md", command_line())
    _put(MADE / "formulas.inc", f"```text\n{definitions.formulas()}\n```\n")
    for name in ("config", *sheets.KEYS):
        _put(MADE / f"{name}.inc", keys(name))
    _put(MADE / "tables.md", tables())
    _put(MADE / "readers.inc", formats())
    _put(MADE / "metrics.inc", metrics())
    _picture(MADE / "p-values.svg")


def _read(path: Path) -> str:
    text = path.read_text(encoding="utf-8").replace("```tsv\n", "```text\n")  # no highlighter knows tsv
    before, findings, after = text.partition("\n# Findings\n")  # the page is the second part of the file
    return f"# Findings\n{after}" if findings and before.startswith("# Results") else text


def _put(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def keys(name: str) -> str:
    """The table of the columns of a sheet, or of the keys of the configuration, from its schema."""
    schema = sheets.read_schema(ROOT / "workflow" / "schemas" / f"{name}.schema.yaml").schema
    rows = []
    for key, of_key in _keys(schema):
        optional = " (optional)" if key not in schema.get("required", [key]) else ""
        example = of_key.get("examples", [of_key.get("default", next(iter(of_key.get("enum", [""])), ""))])[0]
        shown = str(example).lower() if isinstance(example, bool) else str(example)
        rows.append(f"| `{key}`{optional} | {of_key['description']} | {f'`{shown}`' if shown else ''} |\n")
    return f"| {'key' if name == 'config' else 'column'} | description | example |\n|---|---|---|\n{''.join(rows)}"


def _keys(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All keys with their blocks, such as `resampling.seed`; a block with an example is one key."""
    for name, of_key in schema["properties"].items():
        if "properties" in of_key and "examples" not in of_key:
            yield from _keys(of_key, f"{above}{name}.")
        else:
            yield f"{above}{name}", of_key


OTHERS = (
    (columns.STATISTICS, "`results/statistics/`: one row per system and segment; further columns are counts"),
    (columns.COMPARISONS, "`results/comparisons/`, `results/test_sets/`: one row per pair of systems"),
    (columns.RUNS, "`pairsig runs`, and `pairsig compare` where there are runs: one row per pair of methods"),
    (columns.RANKS, "`pairsig rank`: one row per system, the best first"),
    (columns.RANKED_PAIRS, "`pairsig rank --pairs`: one row per pair of systems, the most certain first"),
    (columns.GATE, "`pairsig gate --output`: one object per score in `rows`"),
    (columns.PLAN, "`pairsig plan --format json`: one object per gain in `rows`"),
    (columns.BASELINE, "`pairsig compare --format json`: one object per metric, system and test in `rows`"),
    (columns.FLIPS, "`--flips` of `pairsig compare` and `pairsig gate`: one row per segment that flipped"),
)
"""The tables that no analysis of the study writes, with their files and rows."""


def tables() -> str:
    """The page with the columns of every table."""
    written = [(table, f"`results/tables/{name}.tsv`") for name, table in all_declared().items()]
    parts = [
        "# Tables\n\nThis page lists the columns of every table in their order. Text files have one more column, "
        "`n_rows`, with the number of rows, so that a truncated table is rejected.\n"
    ]
    types = {str: "text", bool: "true or false", int: "whole number", float: "number", list: "sentences"}
    for table, where in (*written, *OTHERS):
        key = ", ".join(f"`{name}`" for name in table.key)
        parts += [
            f"## {table.name}",
            "",
            *([f"{table.caption}.", ""] if table.caption else []),
            f"{where}. Key: {key}.",
            "",
        ]
        parts += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        for one in table.columns:
            choices = f": {', '.join(f'`{choice}`' for choice in one.choices)}" if one.choices else ""
            missing = ", may be missing" if one.missing else ""
            parts.append(f"| `{one.name}` | {types[one.type]}{missing} | {one.unit} | {one.meaning}{choices} |")
        parts.append("")
    return "\n".join(parts)


def formats() -> str:
    """The table of all readers, for the page on formats."""
    rows = ["| `--reader` | content of a file | metrics |", "|---|---|---|"]
    for name in readers.OUTPUTS:
        reader = readers.reader_of(name)
        own = [metric_name(metric.name) for metric in METRICS.values() if metric.reader in (name, reader.like or name)]
        rows.append(f"| `{name}` | {reader.content} | {', '.join(dict.fromkeys(own))} |")
    for name in (*readers.COUNTS, *readers.LOGS):
        reader = readers.reader_of(name)
        rows.append(f"| `{name}` | {reader.content} | {reader.metrics} |")
    return "\n".join([*rows, ""])


def metrics() -> str:
    """The table of all metrics, for the same page."""
    rows = ["| `--metric` | | score | from |", "|---|---|---|---|"]
    for name, metric in METRICS.items():
        source = f"`{metric.reader}`" if metric.reader else f"columns {', '.join(metric.columns)}"
        if metric.labels:
            source = "labels (`--gold`)" if metric.labels == "by class" else f"{source}, or labels (`--gold`)"
        formula = metric.formula.replace("|", chr(92) + "|") + "; lower is better" * (not metric.higher_is_better)
        rows.append(f"| `{name}` | {metric_name(name)} | {formula} | {source} |")
    return "\n".join([*rows, ""])


def command_line() -> str:
    """The page with every command and option of `pairsig`."""
    commands = cli._commands()
    (of_commands,) = (action for action in commands.parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = ["# Command line", "", commands.parser.description or "", ""]
    parts += [*_options(commands.parser), ""]
    for name, parser in of_commands.choices.items():
        about, _, example = (parser.description or "").partition(f"\n\n{console.EXAMPLE}\n")
        summary, _, rest = about.partition("\n")
        parts += [
            f"## pairsig {name}",
            "",
            summary,
            rest,
            "",
            "```text",
            console.usage(parser).replace("%%", "%"),
            "```",
            "",
        ]
        parts += [*_options(parser), ""]
        if parser.epilog:
            parts += ["```text", parser.epilog.rstrip(), "```", ""]
        if example:
            lines = "\n".join(line.removeprefix("  ") for line in example.rstrip().splitlines())
            parts += ["For example, in an empty folder:", "", "```bash", lines, "```", ""]
    parts += ["## Further options of metrics and formats", "", "```text", options.listing(), "```", ""]
    return "\n".join(parts)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    rows = []
    for action in parser._actions:
        is_shown = action.help != argparse.SUPPRESS
        if not is_shown or isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        text = (action.help or "").replace("|", r"\|").replace("<", r"\<").replace("%%", "%")
        rows.append(f"| `{console.called(action).replace('|', chr(92) + '|')}` | {text} |")
    return ["| argument | |", "|---|---|", *rows] if rows else []


def _picture(path: Path) -> None:
    """Histograms of δ* and of δ' for one example, with what each p-value counts."""
    import matplotlib as mpl
    import numpy as np
    from matplotlib.figure import Figure

    rng = np.random.default_rng(2012)
    a, b = rng.random((2, 400)) < np.array([[0.74], [0.67]])
    difference = 100 * (a.astype(float) - b)
    gain = float(difference.mean())
    drawn = np.array([difference[rng.integers(0, 400, 400)].mean() for _ in range(20_000)])
    swapped = np.array([(difference * rng.choice([-1, 1], 400)).mean() for _ in range(20_000)])
    with mpl.rc_context({"svg.hashsalt": "pairsig", "svg.fonttype": "path", "font.size": 9}):
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        bins = np.arange(-12, 20.5, 0.5) - 0.125
        for axes, gains, title in (
            (left, swapped, "gains after shuffles, δ'"),
            (right, drawn, "gains on resamples, δ*"),
        ):
            axes.hist(gains, bins, color="#c9d3dc")
            axes.axvline(gain, color="#1b1b1b", lw=1)
            axes.annotate(
                "δ", (gain, 1), xycoords=("data", "axes fraction"), xytext=(3, -11), textcoords="offset points"
            )
            axes.set(title=title, xlabel="gain of the better system (points)", yticks=[])
            axes.spines[["left", "right", "top"]].set_visible(False)
        left.hist(swapped[np.abs(swapped) >= gain], bins, color="#d55e00")
        left.text(0.02, 0.75, "randomization:\n|δ'| ≥ δ", transform=left.transAxes, color="#d55e00")
        right.hist(drawn[drawn > 2 * gain], bins, color="#d55e00")
        right.hist(drawn[drawn < 0], bins, color="#0072b2")
        right.axvline(2 * gain, color="#d55e00", lw=0.8, ls=":")
        right.axvline(0, color="#0072b2", lw=0.8, ls=":")
        right.text(0.66, 0.75, "shifted, one-sided:\nδ* > 2δ", transform=right.transAxes, color="#d55e00")
        right.text(0.02, 0.75, "percentile:\nδ* < 0", transform=right.transAxes, color="#0072b2")
        figure.savefig(path, metadata={"Date": None, "Creator": None})
