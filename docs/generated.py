"""Pages that are made of what is elsewhere: the command line of its parser, the configuration, pictures of p-values.

They are written to `docs/made/`, which is in no commit. `linked` makes links between files of the repository
links between pages; to files that are no pages they become downloads.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from pairsig import cli

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
"""Files of the repository that are pages, too."""

_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]*)(#[^)\s]*)?\)")


def linked(text: str, page: Path, home: Path | None = None) -> str:
    """The text of a page with links that lead to pages; `home` is where the file itself is, if not there."""
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
    """All of them; a file that would not change is left alone."""
    MADE.mkdir(exist_ok=True)
    for source, page in PAGES.items():
        if source != "README.md":
            _put(ROOT / page, linked(_read(ROOT / source), ROOT / page, ROOT / source))
    _put(MADE / "command-line.md", command_line())
    _picture(MADE / "p-values.svg")


def _read(path: Path) -> str:
    text = path.read_text(encoding="utf-8").replace("```tsv\n", "```text\n")  # which no highlighter knows
    before, findings, after = text.partition("\n# Findings\n")  # of two titles in one file, the second is the page
    return f"# Findings\n{after}" if findings and before.startswith("# Results") else text


def _put(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def command_line() -> str:
    """Every command and option of `pairsig`, from its parser."""
    commands = cli._commands()
    (of_commands,) = (action for action in commands.parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = ["# Command line", "", commands.parser.description or "", ""]
    parts += [*_options(commands.parser), ""]
    for name, parser in of_commands.choices.items():
        summary, _, rest = (parser.description or "").partition("\n")
        parts += [f"## pairsig {name}", "", summary, rest, "", "```text", _usage(parser), "```", ""]
        parts += [*_options(parser), ""]
        if parser.epilog:
            about, _, example = parser.epilog.partition("example, in an empty folder:\n")
            if about.strip():
                parts += ["```text", about.rstrip(), "```", ""]
            if example:
                lines = "\n".join(line.removeprefix("  ") for line in example.rstrip().splitlines())
                parts += ["For example, in an empty folder:", "", "```bash", lines, "```", ""]
    return "\n".join(parts)


def _usage(parser: argparse.ArgumentParser) -> str:
    positional = [action for action in parser._actions if not action.option_strings]
    required = [action for action in parser._actions if action.option_strings and action.required]
    shown = [*(_called(action) for action in positional), *(_called(action) for action in required)]
    return " ".join([parser.prog, *shown, "[options]"])


def _options(parser: argparse.ArgumentParser) -> list[str]:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        text = (action.help or "").replace("|", r"\|").replace("<", r"\<").replace("%%", "%")
        if action.choices and action.metavar is None:
            text += f"{'; ' if text else ''}one of {', '.join(f'`{choice}`' for choice in action.choices)}"
        rows.append(f"| `{_called(action).replace('|', chr(92) + '|')}` | {text} |")
    return ["| argument | |", "|---|---|", *rows] if rows else []


def _called(action: argparse.Action) -> str:
    """An argument as it is written: `FILE …`, `--metric M`."""
    value = action.metavar or (action.dest.upper() if not action.choices else "…")
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    if action.nargs in ("+", "*"):
        value += " …"
    if not action.option_strings:
        return value
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"


def _picture(path: Path) -> None:
    """The law of δ* and that of δ', of one example, with what each p-value counts."""
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
        for axes, law, title in (
            (left, swapped, "gains after shuffles, δ'"),
            (right, drawn, "gains on resamples, δ*"),
        ):
            axes.hist(law, bins, color="#c9d3dc")
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
        right.text(0.8, 0.75, "gt2:\nδ* > 2δ", transform=right.transAxes, color="#d55e00")
        right.text(0.02, 0.75, "percentile:\nδ* < 0", transform=right.transAxes, color="#0072b2")
        figure.savefig(path, metadata={"Date": None, "Creator": None})
