"""The command line of the library: parse, call, write.

Everything heavy is imported by the command that needs it, so that `pairsig --help` is there at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsig import readers
from pairsig.core import definitions
from pairsig.io import console
from pairsig.io.choices import choose, options_of, sort_options
from pairsig.io.errors import InputError, listed

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.core.statistics import Statistics
    from pairsig.io.memory import Memory
    from pairsig.io.tables import Row
    from pairsig.metrics import Metric
    from pairsig.report import Evidence

_GATE = """\
Each score of the candidate is checked against the baseline (with several tasks: TASK/METRIC):
  0  passed: every score is shown to be not worse by its margin or more
  1  worse: some score is shown to be worse, and to be not worse by the margin is not shown (Holm's adjustment)
  3  undecided: the data cannot tell; the number of segments that would is printed
  2  the input cannot be used
--margin M is for all scores, NAME=M for a score, task or metric; in the unit of the scores, or as a percentage (1%).
If the candidate is worse by the margin or more, it passes with a probability of at most ALPHA for pass/fail items, and
of about ALPHA for other scores (more if losses are rare and large). If its outputs and those of the baseline are
exchangeable, it is called worse with a probability of at most ALPHA. Both hold for any number of scores.
"""
_PLAN = """\
With S the standard deviation of the difference of two systems on a unit, the gain on n units has the standard error
S/√n, and the power is that of Student's noncentral distribution. S comes from a pilot, or from a variance model
that was fitted to the study:
  S² = φ · 10⁴ · 2(1 − correlation) · p(1 − p) / √length, where the score p is a share
For accuracy (pass/fail items) φ and the length are 1, and no variance model is needed. The power of the exact tests for
such items is exact. More items may lower it slightly; the number of segments is one from which on it is always reached.
S is uncertain, unless score and correlation are known. [95 %] is the range of sizes, and the range of the power at the
printed size, for the values of S that the pilot or the variance model leaves plausible.
"""

# Example at the end of each command's help. It runs unchanged in an empty folder.
_TWO = """\
printf '%s\\n' 1 1 1 0 1 1 1 1 0 1 1 1 > a.txt
printf '%s\\n' 0 1 1 0 1 0 1 0 0 1 0 0 > b.txt"""
_TEXTS = """\
printf '%s\\n' 'the cat sat on the mat' 'it was happy there' > reference.txt
printf '%s\\n' 'the cat sat on a mat' 'it was happy there' > a.txt
printf '%s\\n' 'a cat on the mat' 'it was so happy' > b.txt"""
_EXTRACTED = """\
pairsig extract a.txt --reference reference.txt --metric bleu --system a --output a.parquet
pairsig extract b.txt --reference reference.txt --metric bleu --system b --output b.parquet"""
_COUNTS = r"""printf 'system\tsegment\tcorrect\ttotal\n' > counts.tsv
printf '%s\t%s\t%s\t1\n' a 1 1 a 2 1 a 3 0 a 4 1 b 1 0 b 2 1 b 3 0 b 4 0 >> counts.tsv"""
_PAIRS = """\
pairsig all-pairs counts.tsv --metric accuracy --n-resamples 1000 --part 1/2 --output 1.tsv
pairsig all-pairs counts.tsv --metric accuracy --n-resamples 1000 --part 2/2 --output 2.tsv"""
_EXAMPLES = {
    "compare": f"{_TWO}\npairsig compare a.txt b.txt",
    "gate": f"{_TWO}\npairsig gate b.txt a.txt --margin 15% --higher-is-better",
    "rank": f"{_TWO}\nprintf '%s\\n' 0 1 0 0 1 0 1 0 0 0 0 0 > c.txt\npairsig rank a.txt b.txt c.txt",
    "plan": """\
# How many segments show a gain of 1 BLEU between two systems at 35 BLEU, on segments of 25 words?
pairsig plan --metric bleu --score 35 --length 25 --correlation 0.75 --gain 1""",
    "extract": "\n".join((_TEXTS, _EXTRACTED.splitlines()[0])),
    "collect": "\n".join(
        (_TEXTS, _EXTRACTED, "pairsig collect a.parquet b.parquet --dataset mine --output mine.parquet")
    ),
    "pool": f"{_COUNTS}\ncp counts.tsv more.tsv\npairsig pool counts.tsv more.tsv --dataset both --output both.parquet",
    "all-pairs": f"{_COUNTS}\npairsig all-pairs counts.tsv --metric accuracy --test exact --output pairs.tsv",
    "runs": r"""printf 'system\tsegment\tcorrect\ttotal\n' > runs.tsv
printf '%s\t%s\t%s\t1\n' a-1 1 1 a-1 2 1 a-1 3 0 a-2 1 0 a-2 2 1 a-2 3 1 >> runs.tsv
printf '%s\t%s\t%s\t1\n' b-1 1 0 b-1 2 1 b-1 3 0 b-2 1 0 b-2 2 0 b-2 3 1 >> runs.tsv
pairsig runs runs.tsv --metric accuracy --numbered --output runs.json""",
    "merge": f"{_COUNTS}\n{_PAIRS}\npairsig merge 1.tsv 2.tsv --output pairs.tsv",
    "metrics": "pairsig metrics",
}


_DRAWN_OR_SWAPPED = "what is drawn or swapped: segment (default) or document"
_RUNS = "the runs of one system; repeat it for each system"
FORMULAS = """\
documentation: docs/p-values.md (formulas and error rates of all tests),
docs/formats.md (formats and columns), `pairsig metrics` (metrics)
"""
_FLIPS = "also write the items that only one system passes"
_SHARED: dict[str, dict[str, Any]] = {
    "alpha": {"type": float, "default": 0.05, "help": "significance level; default: 0.05"},
    "alternative": {"default": "two-sided", "help": "two-sided (default), or observed for the bootstrap"},
    "design": {"choices": ("crossed", "nested"), "metavar": "D"},
    "document-file": {"metavar": "FILE", "help": "file of `domain<TAB>document` lines, one per segment"},
    "flips": {"type": console.table, "metavar": "FILE", "help": _FLIPS},
    "format": {"default": "table"},
    "memory": {"type": console.size, "metavar": "SIZE"},
    "method": {"help": definitions.described_methods()},
    "metric": {"default": "", "metavar": "M[,M…]"},
    "missing": {"choices": ("wrong", "drop"), "help": "items without a score for every system"},
    "n-resamples": {"type": console.whole, "default": 100_000, "metavar": "B", "help": "default: 100,000"},
    "name": {"action": "append", "default": [], "metavar": "OLD=NEW", "help": "rename a system"},
    "option": {"action": "append", "default": [], "metavar": "KEY=VALUE", "help": "option of the reader or the metric"},
    "output": {"type": console.table, "required": True},
    "plot": {"type": console.picture, "metavar": "FILE"},
    "reader": {"metavar": "NAME", "help": "format of the files, if they do not show it"},
    "reference": {"nargs": "+", "default": [], "metavar": "FILE", "help": "reference files, for outputs"},
    "runs": {"nargs": "+", "action": "append", "default": [], "metavar": "FILE", "help": _RUNS},
    "seed": {"type": console.whole, "default": 2012, "metavar": "N", "help": "default: 2012"},
    "test": {"default": "randomization"},
    "threads": {"type": console.whole, "metavar": "N", "help": "default: all cores; only changes time"},
    "unit": {"choices": ("segment", "document"), "metavar": "UNIT", "default": "segment", "help": _DRAWN_OR_SWAPPED},
}
"""Options of several commands."""


SHORT = {"metric": "-m", "reference": "-r"}
"""Short names of options, as in sacrebleu."""

_RESULT = {"type": console.result, "required": False, "metavar": "FILE",
           "help": "write the result instead of printing it: .json, .csv, .tsv, .parquet, .md, .tex"}  # fmt: skip


def _add(parser: argparse._ActionsContainer, *names: str, **declaration: Any) -> None:
    """Add options of several commands; `declaration` overrides what they share."""
    for name in names:
        parser.add_argument(*filter(None, [SHORT.get(name)]), f"--{name}", **(_SHARED[name] | declaration))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used, else what `gate` found."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["compare"] and "--" in words:  # argparse drops the first one, which `_files` checks
        words.insert(words.index("--"), "--")
    return _commands().main(words)


def _readers() -> str:
    """What `--reader` accepts."""
    return f"""\
--reader
  outputs, with --reference: {", ".join(readers.OUTPUTS)}
  scores: {", ".join(readers.TABLES)}; counts: {", ".join(readers.COUNTS)}
  logs: {", ".join(readers.LOGS)}
"""


def _commands() -> console.Commands:
    """The command line, from which the documentation is also generated."""
    about = "Paired significance tests for NLP: from outputs or counts to p-values."
    commands = console.Commands("pairsig", about, _EXAMPLES)
    commands.complete()

    commands.group("compare systems, from their files to a result")
    _add_compare(commands)
    _add_gate(commands)
    _add_rank(commands)
    _add_plan(commands)
    commands.add(_metrics)
    _add_runs(commands)
    commands.group("stages of a workflow: files of counts, then tables of all pairs")
    _add_extract(commands)
    _add_stages(commands)
    return commands


def _add_compare(commands: console.Commands) -> None:
    p = commands.add(_compare, f"{_readers()}\n{FORMULAS}")
    group = p.group("input", "what is in the files; columns with standard names need no option")
    group.add_argument("files", nargs="*", metavar="FILE", help="A, then each B; A − B is the difference of scores")
    group.add_argument("--baseline", metavar="NAME", help="B is this system, and A every other one")
    group.add_argument("--all", action="store_true", help="compare every pair")
    _add(group, "runs", help="instead of FILE: the runs of a system, each time")
    counts = "instead of FILE: how many items both systems, only A, only B and neither of them get right"
    p.group(console.MORE).add_argument(
        "--counts", nargs=4, type=console.whole, metavar=("BOTH", "A", "B", "NEITHER"), help=counts
    )
    metric = "default: all in the files (of a table: --score)"
    _add_input(p, metric)
    group = p.group("test")
    test = ", ".join(definitions.names())
    group.add_argument("--test", default="", metavar="T[,T…]", help=test)
    group.add_argument("--method", default="", metavar="M[,M…]", help="of the bootstrap: shifted or percentile")
    alternative = "two-sided (default), greater, less; observed (bootstrap)"
    group.add_argument("--alternative", default="", metavar="A[,A…]", help=alternative)
    group.add_argument("--all-tests", action="store_true", help="run every test")
    margin = "also test equality up to M, such as 1%%"
    group.add_argument("--margin", metavar="M", help=margin)
    _add(group, "unit", help="segment (default) or document")
    _add(group, "n-resamples", "seed")
    group = p.group("output")
    formats = ("table", "sentence", "json", "csv", "markdown", "latex")
    _add(group, "format", choices=formats, metavar="F", help=f"{', '.join(formats)}")
    _add(group, "output", **_RESULT | {"help": "write it to .json, .csv, .md or .tex instead"})
    group.add_argument("--html", type=console.page, metavar="FILE", help="also write a report to open in a browser")
    _add(group, "plot", help="also plot the differences: .svg, .pdf, .png")
    _add(group, "flips")
    group.add_argument("--details", action="store_true", help="show all notes")
    _add(group, "name")
    group = p.group(console.MORE)
    intervals = "also show the 95 %% interval of each system's score"
    group.add_argument("--score-intervals", action="store_true", help=intervals)
    _add(group, "design", help="crossed (default): a run is a training; nested: every segment is sampled anew")
    _add(group, "threads")


def _add_gate(commands: console.Commands) -> None:
    p = commands.add(_gate, _GATE)
    p.add_argument("files", nargs="*", metavar="FILE", help="the baseline, then the candidate")
    _add(p, "runs")
    p.add_argument("--margin", action="append", required=True, metavar="[NAME=]M", help="tolerated loss; see below")
    _add(p, "alpha")
    _add_input(p, "scores to check; default: all that are found")
    _add(p, "unit")
    _add(p, "design", help="of several runs, as for `pairsig compare`")
    _add(p, "n-resamples", "seed", "threads")
    _add(p, "format", choices=("line", "json"), default="line", help="default: line")
    _add(p, "flips")
    _add(p, "output", required=False, type=console.verdict, metavar="FILE.json", help="also write all numbers as JSON")


def _add_rank(commands: console.Commands) -> None:
    p = commands.add(_rank)
    _add_files(p)
    _add(p, "alpha", help="family-wise error rate; default: 0.05")
    _add(p, "n-resamples", default=10_000, help="default: 10,000")
    _add(p, "seed")
    _add(p, "unit", help="unit that is swapped")
    _add(p, "name", "threads")
    _add(p, "memory", help="memory limit of the process; default: half of what is free")
    _add(p, "format", choices=("table", "markdown", "latex", "html", "json", "csv"))
    _add(p, "output", **_RESULT)
    p.add_argument("--pairs", type=console.table, metavar="FILE", help="also write a table of all pairs")
    _add(p, "plot", help="also plot the ranks: .svg, .pdf, .png")


def _add_plan(commands: console.Commands) -> None:
    p = commands.add(_plan, _PLAN)
    pilot = "files of two systems, as for test, or a file of statistics"
    p.add_argument("files", nargs="*", metavar="FILE", help=pilot)
    _add_input(p, "required if the pilot has several, and without a pilot")
    p.add_argument("--between", nargs=2, default=[], metavar=("A", "B"), help="names of two systems of the pilot")
    p.add_argument("--gain", default="", metavar="G[,G…]", help="find the segments to detect G: 2 points or 2%%")
    p.add_argument("--margin", default="", metavar="M[,M…]", help="find the segments to show equivalence up to M")
    segments = "find the gain that N segments detect"
    p.add_argument("--segments", type=console.numbers, default=[], metavar="N[,N…]", help=segments)
    p.add_argument("--power", type=float, default=0.8, help="default: 0.8")
    _add(p, "alpha")
    _add(p, "test", help=f"{', '.join(definitions.names())}; default: randomization")
    _add(p, "method")
    _add(p, "alternative", help="default: two-sided")
    _add(p, "unit", help="unit of the pilot")
    p.add_argument("--length", type=float, help="without a pilot: mean length of a segment, in words")
    correlation = "without a pilot: correlation of the systems, as in the table of all-pairs"
    p.add_argument("--correlation", type=float, help=correlation)
    effect = "without a pilot: design effect of documents; default: 1"
    p.add_argument("--design-effect", type=float, default=1.0, help=effect)
    _add(p, "format", choices=("table", "markdown", "latex", "json", "csv"))
    _add(p, "output", **_RESULT)


def _add_runs(commands: console.Commands) -> None:
    p = commands.add(_runs)
    _add_files(p)
    p.add_argument("--numbered", action="store_true", help="systems named NAME-1, NAME-2, … are runs of NAME")
    _add(p, "name", help="rename a system")
    _add(p, "design", help="see `pairsig compare`; default: crossed")
    _add(p, "unit", help="unit that is drawn")
    _add(p, "output", **_RESULT | {"required": True})


def _add_extract(commands: console.Commands) -> None:
    p = commands.add(_extract)
    p.add_argument("system_output", metavar="OUTPUT", help="file of outputs; archive.tar.xz!member works too")
    _add(p, "reference", required=True, help="reference files; several for metrics of texts")
    p.add_argument("--metric", required=True)
    _add(p, "reader", help="default: that of the metric")
    _add(p, "option")
    only_output = "for the reader of the output only"
    p.add_argument("--output-option", action="append", default=[], metavar="KEY=VALUE", help=only_output)
    _add(p, "document-file")
    p.add_argument("--system", required=True, help="name of the system")
    broken = "if the output cannot be used, write the reason instead"
    p.add_argument("--leave-out-broken", action="store_true", help=broken)
    p.add_argument("--group", help="who made the system; default: its name")
    p.add_argument("--kind", default="", help="kind of entry, such as submission or online")
    _add(p, "output")


def _add_stages(commands: console.Commands) -> None:
    p = commands.add(_collect)
    p.add_argument("counts", nargs="*", type=Path)
    onto = "statistics to extend: their systems in the groups --keep come first"
    p.add_argument("--onto", type=Path, metavar="FILE", help=onto)
    keep = "groups of --onto to keep, except systems in the new counts"
    p.add_argument("--keep", nargs="*", default=[], metavar="GROUP", help=keep)
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--dated", action="store_true", help="add the date to the provenance")
    _add(p, "output")

    p = commands.add(_pool)
    p.add_argument("statistics", nargs="+", type=Path)
    p.add_argument("--dataset", required=True)
    _add(p, "output")

    add_all_pairs(commands)

    p = commands.add(_merge)
    p.add_argument("parts", nargs="+", type=Path)
    _add(p, "output")


def add_all_pairs(commands: console.Commands) -> None:
    """Add the command that compares all pairs of systems, which the study also runs together with others."""
    p = commands.add(_all_pairs, FORMULAS)
    _add_files(p)
    add_test_options(p)
    _add(p, "output")


def _add_files(parser: console.Parser) -> None:
    """Add the files of systems, and how they are read."""
    files = "one per system, or one of all systems: a table, a log or statistics"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    _add_input(parser, "required if the files have several")


def _add_input(parser: console.Parser, metric: str) -> None:
    """Add the options that say what is in the files; `metric` is the help of `--metric`. Rare ones are in `metrics`."""
    from pairsig.readers.options import OPTIONS, flag

    group = parser.group("input", "what is in the files; columns with standard names need no option")
    for name, option in OPTIONS.items():
        how: dict[str, Any] = {"help": argparse.SUPPRESS if option.rare else metric if name == "metric" else option.about, "dest": name}
        if not option.value:
            how["action"] = "store_true"
        elif name == "reference":
            how |= {"nargs": "+", "default": [], "metavar": "FILE"}
        else:
            how["metavar"] = option.value
        if name == "missing":
            how["choices"] = ("wrong", "drop")
        group.add_argument(*filter(None, [SHORT.get(name)]), flag(name), **how)


def add_test_options(parser: argparse._ActionsContainer) -> None:
    """Add the options of commands that test all pairs."""
    _add(parser, "test", help=f"{', '.join(definitions.names())}; default: randomization")
    _add(parser, "method", "alternative")
    _add(parser, "n-resamples", default=1_000_000, help="default: 1,000,000")
    _add(parser, "seed", "unit", "threads")
    parser.add_argument("--batch", type=console.whole, help="resamples per batch; only changes time and memory")
    memory = "memory limit of the process, such as 500M or 4G; default: half of what is free; only changes time"
    _add(parser, "memory", help=memory)
    part = "draw only the K-th of M parts of the resamples"
    parser.add_argument("--part", type=console.part, default=(1, 1), metavar="K/M", help=part)


def _compare(arguments: argparse.Namespace) -> None:
    """Compare one system with others: scores, difference, confidence interval and p-values."""
    if arguments.all_tests and arguments.test:
        raise InputError(f"found --all-tests and --test {arguments.test}, expected only one of them")
    read = _read_all if arguments.counts is None else _of_counts
    data = [_renamed(systems, arguments.name) for systems in read(arguments)]
    if arguments.plot:
        from pairsig import report

        report.check_drawn(sum((len(set(systems.methods)) - 1) * len(systems.metrics) for systems in data))
    runs = arguments.runs or arguments.design or any(any(systems.runs) for systems in data)
    compare = _compare_runs if runs else _compare_outputs
    evidence = compare(arguments, data)
    _flips(arguments, data, arguments.baseline)
    if arguments.html or arguments.plot:
        from pairsig import report

        comparisons = list(evidence())
        if arguments.plot:
            report.draw(comparisons, arguments.plot)
        if arguments.html:
            report.write(comparisons, arguments.html)


def _read_all(arguments: argparse.Namespace) -> list[Statistics]:
    """The systems of `compare` and `gate`."""
    with console.progress("read"):
        return _read_systems(arguments, _files(arguments.files, arguments.runs, arguments.reference))


def _of_counts(arguments: argparse.Namespace) -> list[Statistics]:
    """The two systems of a 2 × 2 table."""
    from pairsig.readers import inputs

    from pairsig.readers.options import OPTIONS

    for name in ("files", "runs", *OPTIONS):
        value = getattr(arguments, name, None)
        if value not in (None, "", False, []):
            too_much = listed(value) if name == "files" else f"--{name.replace('_', '-')}"
            raise InputError(f"found {too_much} in addition to --counts, expected only one of them")
    return [inputs.of_outcomes(*arguments.counts)]


def _notes(data: Sequence[Statistics]) -> list[str]:
    """What the user should know about how the files were read."""
    return list(dict.fromkeys(chain.from_iterable(systems.notes for systems in data)))


def _names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in text.split(",") if name]


def _compare_runs(arguments: argparse.Namespace, data: Sequence[Statistics]) -> Callable[[], Iterator[Evidence]]:
    """Compare systems with several runs, and return what a report shows."""
    import pandas as pd

    from pairsig.comparisons import runs
    from pairsig.report import sentences
    from pairsig.stats.adjust import holm

    for option in ("test", "method", "alternative", "margin", "score_intervals"):
        value = getattr(arguments, option)
        if value not in (None, "") and value is not False:
            raise InputError(f"--{option.replace('_', '-')} does not apply to the test for several runs; leave it out")
    nested = any(runs.design_of(systems) == "nested" for systems in data)
    tested: list[tuple[Statistics, Metric, pd.DataFrame]] = []
    for systems in data:
        _note_documents(systems, arguments.unit)
        _warn_of_duplicates(systems, "", _where(systems, data))
        for metric in systems.metrics:
            table = runs.compare_runs(
                systems,
                metric=metric,
                pairs="all" if arguments.all else "first",
                design=arguments.design or ("nested" if nested else "crossed"),
                **_settings(arguments, "baseline", "unit"),
            )._rows
            tested.append((systems, metric, table))
    console.note(*_notes(data))
    whole = pd.concat([table for *_, table in tested], ignore_index=True)
    whole["pvalue_holm"] = holm(whole["pvalue"].to_numpy())
    whole["n_compared"] = len(whole)
    if arguments.format == "sentence":
        n_documents = len(set(data[0].documents)) if arguments.unit == "document" else 0
        console.note(*runs.caveats(whole), always=True)
        _show(arguments, whole, lambda _: sentences.of_methods(whole, n_documents))
    else:
        _show(arguments, whole, lambda form: runs.render(whole, form))

    def evidence() -> Iterator[Evidence]:
        from pairsig import report

        first = 0
        for systems, metric, table in tested:
            rows = whole.iloc[first : first + len(table)]
            first += len(table)
            yield from report.of_methods(systems, metric, rows, unit=arguments.unit)

    return evidence


def _compare_outputs(arguments: argparse.Namespace, data: Sequence[Statistics]) -> Callable[[], Iterator[Evidence]]:
    """Compare systems with one output each, and return what a report shows."""
    from pairsig.comparisons import compare, wording
    from pairsig.core.totals import Resampling

    names, ways, alternatives = map(_names, (arguments.test, arguments.method, arguments.alternative))
    if arguments.all_tests:
        names = list(definitions.names())
    tests = compare.planned(names, ways, alternatives)
    resampling = Resampling(arguments.n_resamples, arguments.seed, arguments.threads)
    tested: list[list[Row]] = []
    for systems in data:
        _warn_of_duplicates(systems, "systems ", f"{_where(systems, data)}, p = 1")
        with console.progress("test") as progress:
            tested.append(
                compare.compare(
                    systems,
                    systems.metrics,
                    tests,
                    pairs="all" if arguments.all else "first",
                    resampling=resampling,
                    progress=progress,
                    **_settings(arguments, "baseline", "unit", "margin", "score_intervals"),
                )
            )
    console.note(*_notes(data))
    whole = compare.adjust(list(chain.from_iterable(tested)))
    details = arguments.details or arguments.margin is not None
    if arguments.format == "sentence":
        from pairsig.report import sentences

        about = wording.footnotes(sentences.rows_reported(whole))
        console.note(*about, always=True)
        _show(arguments, whole, lambda _: sentences.of_systems(whole))
    else:
        _show(arguments, whole, lambda form: wording.render(whole, form, details=details))

    def evidence() -> Iterator[Evidence]:
        from pairsig import report

        for systems, rows in zip(data, tested, strict=True):
            for metric in systems.metrics:
                yield from report.of_systems(systems, metric, rows, unit=arguments.unit, resampling=resampling)

    return evidence


def _flips(arguments: argparse.Namespace, data: Sequence[Statistics], baseline: str | None) -> None:
    """Write the table of items that flipped, if it is requested."""
    if arguments.flips:
        import pandas as pd

        from pairsig.io import tables
        from pairsig.report import flips

        parts: list[pd.DataFrame] = []
        for systems in data:
            parts += [flips.table(systems, metric, baseline) for metric in systems.metrics]
        flipped = flips.for_spreadsheets(pd.concat(parts, ignore_index=True))
        tables.write(flipped, arguments.flips)


def _show(arguments: argparse.Namespace, table: pd.DataFrame | Sequence[Row], render: Callable[[str], str]) -> None:
    """Print a result in the format of `--format`, or write it in that of the suffix of `--output`."""
    from pairsig.io import tables

    path: Path | None = arguments.output
    form = {".json": "json", ".md": "markdown", ".tex": "latex"}.get(path.suffix, "") if path else arguments.format
    if not form:
        tables.write(tables.flat(table), arguments.output)
        return
    as_data = {"json": tables.as_json, "csv": tables.as_csv}.get(form)
    text = render(form) if as_data is None else as_data(table).rstrip("\n")
    if path is None:
        print(text)
    else:
        tables.write_text(f"{text}\n", path)


def _where(systems: Statistics, data: Sequence[Statistics]) -> str:
    """The metrics that a warning is about, if other metrics have separate statistics."""
    return f" in {listed(metric.name for metric in systems.metrics)}" if len(data) > 1 else ""


def _gate(arguments: argparse.Namespace) -> int:
    """Check a candidate for a release: exit status 0 if it is not worse by a margin, 1 if it is worse, 3 if unknown."""
    from pairsig.comparisons import gate
    from pairsig.io.tables import write_text

    data = _read_all(arguments)
    how = _settings(arguments, "alpha", "unit", "design", "n_resamples", "rng", "threads")
    with console.progress("test") as progress:
        verdict = gate.gate(data, arguments.margin, progress=progress, **how)
    console.note(*_notes(data), *verdict.notes())
    _flips(arguments, data, data[0].methods[0])
    if arguments.output:
        write_text(f"{verdict.to_json()}\n", arguments.output)
    print(verdict.to_json() if arguments.format == "json" else verdict)
    return verdict.status


def _rank(arguments: argparse.Namespace) -> None:
    """Rank many systems: simultaneous intervals of ranks, and which pairs differ significantly."""
    from pairsig.comparisons import ranks
    from pairsig.io import tables
    from pairsig.io.memory import Memory

    memory = Memory.of(arguments.memory)
    data = _renamed(_read_one(arguments, memory), arguments.name)
    _note_documents(data, arguments.unit)
    how = _settings(arguments, "alpha", "n_resamples", "rng", "unit", "threads")
    with console.progress("rank", arguments.n_resamples) as progress:
        ranked = ranks.rank(data, memory=memory, progress=progress, **how)
    console.note(*ranked.notes)
    _show(arguments, ranked._rows, lambda form: ranks.render(ranked, form))
    if arguments.pairs:
        tables.write(ranked.pairs, arguments.pairs)
    if arguments.plot:
        ranked.plot(arguments.plot)


def _plan(arguments: argparse.Namespace) -> None:
    """Plan an experiment: the number of segments that detects a gain, or the gain that so many segments detect."""
    from pairsig.planning import plans, sample_size

    sizes = [int(size) for size in arguments.segments if float(size).is_integer()]
    if len(sizes) < len(arguments.segments):
        raise InputError(f"found {arguments.segments} segments, expected whole numbers")
    data, files = None, arguments.files
    if files:
        data = _read_one(arguments)
        arguments.score = None  # it named the column of the pilot's scores
        for system in arguments.between:
            choose(system, data.systems, f"system of {listed(files)}:")
    planned = plans.plan(
        data,
        metric=data.metrics[0] if data else arguments.metric,
        gain=_names(arguments.gain),
        margin=_names(arguments.margin),
        segments=sizes,
        systems=arguments.between,
        **_settings(
            arguments, "score", "length", "correlation", "design_effect", "test", "method", "alternative", "alpha",
            "power", "unit",
        ),
    )  # fmt: skip
    if data is not None:
        _note_documents(data, arguments.unit)
    _show(arguments, planned._rows, lambda form: sample_size.render(planned._rows, form))


def _read_one(arguments: argparse.Namespace, memory: Memory | None = None) -> Statistics:
    """The systems of the files, for commands that compare in one metric."""
    files = arguments.files
    parts = _read_systems(arguments, files, memory)
    console.note(*_notes(parts))
    names = [metric.name for metric in chain.from_iterable(part.metrics for part in parts)]
    if len(names) > 1:
        raise InputError(f"found the metrics {listed(names)}, expected one\n--metric chooses it")
    data = parts[0]
    if len(files) == 1 and not data.dataset:
        data = replace(data, dataset=Path(files[0]).stem)
    _warn_of_duplicates(data)
    return data


def _read_systems(
    arguments: argparse.Namespace, files: Sequence[str | Sequence[str]], memory: Memory | None = None
) -> list[Statistics]:
    """Systems of the files, read as the options of the command declare."""
    from pairsig.readers import inputs
    from pairsig.readers.options import OPTIONS

    declared = {name: value for name in OPTIONS if (value := getattr(arguments, name, None)) is not False}
    return inputs.read_all(list(files), declared, memory=memory)


def _metrics(_: argparse.Namespace) -> None:
    """List the metrics by task: their names, formulas and formats."""
    from pairsig.metrics import registry

    print(registry.listing())


def _note_documents(data: Statistics, unit: str) -> None:
    """Note that documents are known, but not used."""
    if unit == "segment" and (sentence := data.unused_documents()):
        console.note(sentence)


def _renamed(data: Statistics, names: Sequence[str]) -> Statistics:
    """The systems with the names of `--name OLD=NEW`; the old name may contain an equals sign."""
    pairs = [text.rpartition("=") for text in names]
    for old, _, new in pairs:
        if not (old and new):
            raise InputError(f"found --name {old}{new}, expected --name OLD=NEW for a system of {listed(data.methods)}")
    return data.renamed({old: new for old, _, new in pairs})


def _files(
    systems: Sequence[str], runs: Sequence[Sequence[str]], references: Sequence[str]
) -> Sequence[str | Sequence[str]]:
    """The file of each system, or the files of its runs."""
    files = [*systems]
    if files[:1] == ["--"]:
        files = files[1:]
    if "--" in files:
        raise InputError(
            "found -- between files, which does not separate systems; specify the runs of each system as "
            "--runs a1 a2 a3 --runs b1 b2"
        )
    if files and runs:
        raise InputError(f"found {files[0]} in addition to --runs, expected every system as --runs FILE …")
    if not files and not runs and len(references) > 1:
        raise InputError("found no file before --reference, which takes all that follow; put the systems before it")
    if not files and not runs:
        raise InputError("found no file, expected one per system, or --runs FILE … for each system")
    return runs or files


def _extract(arguments: argparse.Namespace) -> None:
    """Extract the counts of one system from its output and the reference."""
    from pairsig.core import statistics
    from pairsig.core.omission import Omission
    from pairsig.readers.extraction import extract

    options = console.pairs(arguments.option)
    domains, documents = _labels(arguments.document_file, options)

    def leave_out(omission: Omission) -> None:
        replace(omission, system=arguments.system).write(arguments.output)
        console.warn(f"system {arguments.system} is left out: {omission}")

    if arguments.leave_out_broken and (omission := Omission.read(Path(arguments.system_output))):
        leave_out(omission)
        return
    try:
        counted = extract(
            arguments.system_output,
            arguments.reference,
            output_options=console.pairs(arguments.output_option),
            domains=domains,
            documents=documents,
            **_settings(arguments, "metric", "reader", "system", "group", "kind"),
            **{name: value for name, value in options.items()},
        )
        console.note(*counted.notes)
    except InputError as error:
        if not arguments.leave_out_broken:
            raise
        leave_out(Omission("extract", str(error)))
        return
    statistics.write(counted, arguments.output)


def _labels(path: str | None, options: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments, without the lines that are skipped in the outputs."""
    if path is None:
        return [], []
    of_documents = {name: value for name, value in options.items() if name in options_of(readers.read_documents)}
    (typed,) = sort_options(of_documents, "documents", readers.read_documents)
    return readers.read_documents(path, **typed)


def _collect(arguments: argparse.Namespace) -> None:
    """Collect the counts of several systems in one file of statistics."""
    from datetime import date

    from pairsig.core import statistics
    from pairsig.core.omission import Omission

    omissions = {path: omission for path in arguments.counts if (omission := Omission.read(path))}
    for omission in omissions.values():
        console.warn(f"dataset {arguments.dataset}: system {omission.system} is left out: {omission}")
    parts = [statistics.read(path) for path in arguments.counts if path not in omissions]
    if arguments.onto:
        systems_counted = set(chain.from_iterable(part.systems for part in parts)) | {
            omission.system for omission in omissions.values()
        }
        onto = statistics.read(arguments.onto)
        staying = [
            system
            for system, group in zip(onto.systems, onto.groups, strict=True)
            if group in arguments.keep and system not in systems_counted
        ]
        parts[:0] = [onto.select(systems=staying)] * bool(staying)
    if not parts:
        raise InputError(
            f"dataset {arguments.dataset}: all {len(omissions)} systems are left out, expected at least one"
        )
    provenance = dict(console.pairs(arguments.provenance))
    if arguments.dated:
        provenance["date"] = f"{date.today():%Y-%m-%d}"
    whole = statistics.collect(
        parts, dataset=arguments.dataset, provenance=provenance, omissions=tuple(omissions.values())
    )
    _warn_of_duplicates(whole, end="")
    statistics.write(whole, arguments.output)


def _pool(arguments: argparse.Namespace) -> None:
    """Pool several test sets into one, for the systems that are in all of them."""
    from pairsig.core import statistics

    parts = [statistics.read(path) for path in arguments.statistics]
    statistics.write(statistics.pool(parts, dataset=arguments.dataset), arguments.output)


def _all_pairs(arguments: argparse.Namespace) -> None:
    """Test every pair of systems of a dataset, on the same draws."""
    from pairsig.comparisons import all_pairs
    from pairsig.io import tables
    from pairsig.io.memory import Memory

    options = test_options(arguments)
    options["memory"] = Memory.of(arguments.memory)
    data = _read_one(arguments, options["memory"])
    # Memory is reported to users who limit it, and on terminals.
    note = console.note if arguments.memory or sys.stderr.isatty() else None
    with console.progress(f"compare {data.dataset}", arguments.n_resamples // arguments.part[1]) as progress:
        table = all_pairs.compare(data, progress=progress, note=note, **options)
    console.note(*filter(None, [all_pairs.drawn_instead(table)]))
    tables.write(table, arguments.output)


def _runs(arguments: argparse.Namespace) -> None:
    """Compare every pair of systems with several runs, over their runs and the test set."""
    from pairsig.comparisons import runs

    data = _read_one(arguments)
    _note_documents(data, arguments.unit)
    named = _renamed(data.numbered() if arguments.numbered else data, arguments.name)
    compared = runs.compare_runs(named, **_settings(arguments, "design", "unit"))
    _show(arguments, compared._rows, lambda form: runs.render(compared._rows, form))


def _merge(arguments: argparse.Namespace) -> None:
    """Merge comparisons over parts of the resamples."""
    from pairsig.comparisons import all_pairs
    from pairsig.io import tables

    tables.write(all_pairs.merge(map(all_pairs.read, arguments.parts)), arguments.output)


def read_statistics(path: Path) -> Statistics:
    """The statistics of a dataset; warns about identical systems and about inconsistent counts."""
    from pairsig.core import statistics

    data = statistics.read(path)
    _warn_of_duplicates(data)
    for sentence in data.inconsistencies():
        console.warn(f"dataset {data.dataset}: {sentence}")
    return data


def _warn_of_duplicates(data: Statistics, before: str | None = None, end: str = ", p = 1") -> None:
    """Warn about systems with the same counts."""
    if before is None:
        before = f"dataset {data.dataset}: systems " if data.dataset else "systems "
    for first, second in data.duplicates():
        console.warn(f"{before}{first} and {second} have the same counts on every segment{end}")


def test_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_test_options`, as arguments of `compare`."""
    tests = _settings(arguments, "test", "method", "alternative", "unit")
    return tests | _settings(arguments, "n_resamples", "rng", "threads", "batch", "memory", "part")


def _settings(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Options as arguments of functions, which call the seed `rng`."""
    return {name: getattr(arguments, "seed" if name == "rng" else name) for name in names}


if __name__ == "__main__":
    sys.exit(main())
