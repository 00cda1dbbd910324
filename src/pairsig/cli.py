"""The command line of the library: parse, read, call, write.

Everything heavy is imported by the command that needs it, so that `pairsig --help` is there at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pairsig.core import definitions
from pairsig.io import console
from pairsig.io.choices import choose
from pairsig.io.errors import InputError, listed

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics
    from pairsig.io.tables import Row
    from pairsig.metrics import Metric

_GATE = """\
Each score of the candidate is checked against the baseline (with several tasks: TASK/METRIC):
  0  passed: every score is shown to be not worse by its margin or more
  1  worse: some score is shown to be worse, and to be not worse by the margin is not shown (Holm's adjustment)
  3  undecided: the data cannot tell; more segments are needed
  2  the input cannot be used
--margin M is for all scores, in their unit or as a percentage (1%).
If the candidate is worse by the margin or more, it passes with a probability of at most ALPHA for pass/fail items, and
of about ALPHA for other scores (more if losses are rare and large). If its outputs and those of the baseline are
exchangeable, it is called worse with a probability of at most ALPHA. Both hold for any number of scores.
"""
# Example at the beginning of each command's help. It runs unchanged in an empty folder.
_TWO = """\
printf '%s\\n' 1 1 1 0 1 1 1 1 0 1 1 1 > a.txt
printf '%s\\n' 0 1 1 0 1 0 1 0 0 1 0 0 > b.txt"""
_EXAMPLES = {
    "compare": f"{_TWO}\npairsig compare a.txt b.txt",
    "gate": f"{_TWO}\npairsig gate b.txt a.txt --margin 15% --higher-is-better",
    "rank": f"{_TWO}\nprintf '%s\\n' 0 1 0 0 1 0 1 0 0 0 0 0 > c.txt\npairsig rank a.txt b.txt c.txt",
    "runs": r"""printf 'id,system,seed,score\n' > runs.csv
printf '%s,%s,%s,%s\n' 1 a 1 1 2 a 1 1 3 a 1 0 1 a 2 0 2 a 2 1 3 a 2 1 >> runs.csv
printf '%s,%s,%s,%s\n' 1 b 1 0 2 b 1 1 3 b 1 0 1 b 2 0 2 b 2 0 3 b 2 1 >> runs.csv
pairsig runs runs.csv""",
    "plan": """\
# How many segments show a gain of 1 BLEU between two systems at 35 BLEU, on segments of 25 words?
pairsig plan --metric bleu --score 35 --length 25 --correlation 0.75 --gain 1""",
    "metrics": "pairsig metrics",
}

SHORT = {"metric": "-m", "reference": "-r"}
"""Short names of options, as in sacrebleu."""
FORMULAS = """\
`pairsig metrics` lists the metrics, and further options of metrics and formats (--tokenize, --true, --sep, …);
docs/p-values.md has the formulas and error rates of all tests.
"""

_RARE = """\
rare: --method shifted|percentile (of the bootstrap), --details (all notes), --threads N (changes only time)
"""

Tested: TypeAlias = "tuple[Statistics, Metric, list[Row]]"
"""Systems, a metric, and the rows of its comparisons."""

_SHARED: dict[str, dict[str, Any]] = {
    "alpha": {"type": float, "default": 0.05, "help": "significance level; default: 0.05"},
    "flips": {"type": console.table, "metavar": "FILE", "help": "also write the items that only one system passes"},
    "format": {"default": "table"},
    "n-resamples": {"type": console.whole, "default": 100_000, "metavar": "B", "help": "default: 100,000"},
    "output": {"type": console.result, "metavar": "FILE", "help": "write it: .json, .csv, .tsv, .parquet, .md, .tex"},
    "plot": {"type": console.picture, "metavar": "FILE", "help": "also plot it: .svg, .pdf, .png"},
    "runs": {"nargs": "+", "action": "append", "default": [], "metavar": "FILE", "help": "instead: runs of a system"},
    "seed": {"type": console.whole, "default": 2012, "metavar": "N", "help": "default: 2012"},
    "threads": {"type": console.whole, "metavar": "N", "help": "default: all cores; only changes time"},
    "unit": {"choices": ("segment", "document"), "metavar": "U", "default": "segment", "help": "segment or document"},
}  # fmt: skip
"""Options of several commands."""


def _add(parser: argparse._ActionsContainer, *names: str, **declaration: Any) -> None:
    """Add options of several commands; `declaration` overrides what they share."""
    for name in names:
        parser.add_argument(f"--{name}", **(_SHARED[name] | declaration))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with a message when the input cannot be used, else what `gate` found."""
    return _commands().main(sys.argv[1:] if argv is None else argv)


def _commands() -> console.Commands:
    """The command line, from which the documentation is also generated."""
    about = (
        "Paired significance tests for NLP: which of two systems is better, from scores, logs, or "
        "outputs and references."
    )
    commands = console.Commands("pairsig", about, _EXAMPLES)
    for add in (_add_compare, _add_rank, _add_runs, _add_gate, _add_plan):
        add(commands)
    commands.add(_metrics)
    return commands


def _add_compare(commands: console.Commands) -> None:
    p = commands.add(_compare, f"{_RARE}\n{FORMULAS}")
    group = p.add_argument_group("systems")
    group.add_argument(
        "files", nargs="*", metavar="FILE", help="A, then each B (NAME=FILE names it), or one of all systems"
    )
    _add(group, "runs")
    group.add_argument(
        "--counts",
        nargs=4,
        type=console.whole,
        metavar=("BOTH", "A", "B", "NEITHER"),
        help="instead: items that both, one or none get right",
    )
    group.add_argument("--baseline", metavar="NAME", help="B is this system, and A every other one")
    group.add_argument("--all", action="store_true", help="every pair instead of the first with the others")
    _add_input(p, "of counts or outputs; which of a log's scores")
    group = p.add_argument_group("test")
    group.add_argument("--test", metavar="T", help=", ".join(definitions.names()))
    group.add_argument("--alternative", metavar="A", help="two-sided (default), greater, less")
    group.add_argument("--margin", metavar="M", help="also test equality up to M, such as 1%%")
    _add(group, "unit", "n-resamples", "seed")
    group = p.add_argument_group("output")
    formats = ("table", "sentence", "json", "csv", "markdown", "latex")
    _add(group, "format", choices=formats, metavar="F", help=", ".join(formats))
    _add(group, "output")
    group.add_argument("--html", type=console.page, metavar="FILE", help="also write a report to open in a browser")
    _add(group, "plot", "flips")
    group.add_argument("--details", action="store_true", help=argparse.SUPPRESS)
    group.add_argument("--method", help=argparse.SUPPRESS)
    _add(group, "threads", help=argparse.SUPPRESS)


def _add_gate(commands: console.Commands) -> None:
    p = commands.add(_gate, f"{_GATE}\n{FORMULAS}")
    group = p.add_argument_group("systems")
    group.add_argument("files", nargs="*", metavar="FILE", help="the baseline, then the candidate")
    _add(group, "runs")
    group.add_argument("--margin", required=True, metavar="M", help="tolerated loss; see below")
    _add(group, "alpha")
    _add_input(p, "scores to check; default: all")
    group = p.add_argument_group("test")
    _add(group, "unit", "n-resamples", "seed", "threads")
    group = p.add_argument_group("output")
    _add(group, "format", choices=("line", "json", "markdown"), default="line", help="line (default), json, markdown")
    _add(group, "output", type=console.verdict, help="also write all numbers as JSON")
    _add(group, "flips")


def _add_rank(commands: console.Commands) -> None:
    p = commands.add(_rank, FORMULAS)
    p.add_argument_group("systems").add_argument(
        "files", nargs="+", metavar="FILE", help="one per system, or one of all systems"
    )
    _add_input(p, "required if the files have several")
    group = p.add_argument_group("test")
    _add(group, "alpha", help="family-wise error rate; default: 0.05")
    _add(group, "n-resamples", default=10_000, help="default: 10,000")
    _add(group, "seed", "unit", "threads")
    group = p.add_argument_group("output")
    _add(group, "format", choices=("table", "markdown", "latex", "json", "csv"))
    _add(group, "output")
    group.add_argument("--pairs", type=console.table, metavar="FILE", help="also write a table of all pairs")


def _add_runs(commands: console.Commands) -> None:
    p = commands.add(_runs, FORMULAS)
    group = p.add_argument_group("systems")
    group.add_argument("files", nargs="*", metavar="FILE", help="a file with the runs of all systems, or one per run")
    _add(group, "runs")
    _add_input(p, "required if the files have several")
    group = p.add_argument_group("test")
    _add(group, "unit")
    group = p.add_argument_group("output")
    _add(group, "format", choices=("table", "markdown", "latex", "json", "csv"))
    _add(group, "output")


def _add_plan(commands: console.Commands) -> None:
    p = commands.add(_plan, f"docs/planning.md has the formulas, and what they assume.\n\n{FORMULAS}")
    group = p.add_argument_group("question")
    group.add_argument("files", nargs="*", metavar="FILE", help="a pilot: files of two systems, or one of all")
    group.add_argument("--gain", default="", metavar="G[,G]", help="find the segments to detect G: 2 points or 2%%")
    group.add_argument("--power", type=float, default=0.8, help="default: 0.8")
    _add(group, "alpha")
    group.add_argument("--between", nargs=2, default=[], metavar=("A", "B"), help="names of two systems of the pilot")
    _add(group, "unit", help="unit of the pilot")
    group = p.add_argument_group("without a pilot")
    group.add_argument("--length", type=float, help="mean length of a segment, in words")
    group.add_argument("--correlation", type=float, help="correlation of the systems' segments")
    _add_input(p, "required without a pilot, or if it has several", score="score of both systems, without a pilot")
    group = p.add_argument_group("output")
    _add(group, "format", choices=("table", "markdown", "latex", "json", "csv"))
    _add(group, "output")


def _add_input(parser: console.Parser, metric: str, **others: str) -> None:
    """Add the options that say what is in the files; rare ones have no line in the help of the command."""
    from pairsig.readers.options import OPTIONS, flag

    group = parser.add_argument_group(
        "input", "columns with standard names (item, id, system, model, score, …) need no option"
    )
    for name, option in OPTIONS.items():
        about = metric if name == "metric" else others.get(name, option.about)
        how: dict[str, Any] = {"help": about.replace("%", "%%"), "dest": name}
        if not option.value:
            has_no_opposite = name in ("lower_is_better", "higher_is_better", "no_punct")
            how |= {"action": "store_true" if has_no_opposite else argparse.BooleanOptionalAction, "default": None}
        elif name == "reference":
            how |= {"nargs": "+", "default": [], "metavar": "FILE"}
        else:
            how["metavar"] = option.value.replace(" …", "")
        if name == "missing":
            how["choices"] = ("wrong", "drop")
        if option.rare:
            how["help"] = argparse.SUPPRESS
        group.add_argument(*filter(None, [SHORT.get(name)]), flag(name), **how)


# Reading.


def _read(arguments: argparse.Namespace) -> list[Statistics]:
    """The systems of the files, read as the options of the command declare."""
    from pairsig.readers import inputs
    from pairsig.readers.options import OPTIONS

    declared = {name: value for name in OPTIONS if (value := getattr(arguments, name, None)) not in (None, "", [])}
    if getattr(arguments, "counts", None) is not None:
        if too_much := [
            *arguments.files,
            *chain(*arguments.runs),
            *(f"--{name.replace('_', '-')}" for name in declared),
        ]:
            raise InputError(f"found {too_much[0]} in addition to --counts, expected only one of them")
        return [inputs.of_outcomes(*arguments.counts)]
    groups, names = _files(arguments.files, getattr(arguments, "runs", []), arguments.reference)
    in_options = [declared[name] for name in declared if OPTIONS[name].value == "FILE"]
    console.check_outputs(arguments, [*chain(*groups), *arguments.reference, *in_options])
    return inputs.read_all(groups, declared, names_of_systems=names if any(names) else ())


def _files(
    systems: Sequence[str], runs: Sequence[Sequence[str]], references: Sequence[str]
) -> tuple[list[list[str]], list[str]]:
    """The file of each system, or the files of its runs, and the names that `NAME=FILE` declares."""
    if systems and runs:
        raise InputError(f"found {systems[0]} in addition to --runs, expected every system as --runs FILE …")
    if not systems and not runs:
        late = " before --reference, which takes all that follow" if len(references) > 1 else ""
        raise InputError(f"found no file{late}, expected one per system, or --runs FILE … for each system")
    groups, names = [], []
    for group in runs or [[path] for path in systems]:
        name, _, file = group[0].partition("=")
        is_named = bool(name and file) and not Path(group[0]).exists()
        groups.append([file if is_named else group[0], *group[1:]])
        names.append(name if is_named else "")
    return groups, names


def _notes(data: Sequence[Statistics]) -> list[str]:
    """How the files were read: the summary first."""
    return list(dict.fromkeys(chain.from_iterable(systems.notes for systems in data)))


def _show_notes(notes: Sequence[str]) -> None:
    """Print the summary of what was read, and the notes if they are wanted."""
    console.note(*notes[:1], always=True)
    console.note(*notes[1:])


def _read_one(arguments: argparse.Namespace) -> Statistics:
    """The systems of the files, for commands that compare in one metric."""
    parts = _read(arguments)
    names = [metric.name for metric in chain.from_iterable(part.metrics for part in parts)]
    if len(names) > 1:
        raise InputError(f"found the metrics {listed(names)}, expected one\n--metric chooses it")
    data = parts[0]
    if len(arguments.files) == 1 and not data.dataset:
        data = replace(data, dataset=Path(arguments.files[0]).stem)
    return data


def _names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in text.split(",") if name]


def _note_documents(data: Statistics, unit: str) -> None:
    """Note that documents are known, but not used."""
    from pairsig.core.statistics import unused_documents

    if unit == "segment" and (sentence := unused_documents(data.documents)):
        console.note(sentence)


def _warn_of_duplicates(data: Statistics) -> None:
    """Warn about systems with the same counts."""
    for first, second in data.duplicates():
        console.warn(f"{first} and {second} have the same counts on every segment, so p = 1")


# Commands.


def _compare(arguments: argparse.Namespace) -> None:
    """Compare the first system with the others: scores, differences with intervals, and p-values."""
    if arguments.all and arguments.baseline:
        raise InputError("found --all and --baseline, expected only one of them")
    data = _read(arguments)
    notes = _notes(data)
    _show_notes(notes)
    if all(len(set(systems.methods)) == 1 for systems in data):
        _one_system(arguments, data, notes)
        return
    for systems in data:
        _warn_of_duplicates(systems)
    if arguments.domain and not (arguments.html or arguments.plot):
        raise InputError(
            "found --domain, which does nothing here: only --html and --plot show domains\n"
            "leave it out, or add one of them"
        )
    has_runs = bool(arguments.runs) or any(any(systems.runs) for systems in data)
    tested = (_compare_runs if has_runs else _compare_outputs)(arguments, data, notes)
    _flips(arguments, data, arguments.baseline)
    if arguments.html or arguments.plot:
        from pairsig import report

        evidence = report.of_methods if has_runs else report.of_systems
        comparisons: list[report.Evidence] = []
        for systems, metric, rows in tested:
            comparisons += evidence(systems, metric, rows, unit=arguments.unit)
        if arguments.plot:
            console.note(*report.draw(comparisons, arguments.plot))
        if arguments.html:
            report.write(comparisons, arguments.html, notes)


def _one_system(arguments: argparse.Namespace, data: Sequence[Statistics], notes: Sequence[str]) -> None:
    """The score of the only system with its interval; nothing is compared."""
    from pairsig.comparisons import scores

    for option in ("baseline", "all", "margin", "test", "alternative", "html", "plot", "flips", "method"):
        if getattr(arguments, option):
            raise InputError(
                f"found one system, {data[0].methods[0]}, and --{option.replace('_', '-')}, expected at least "
                "two systems"
            )
    rows: list[Row] = []
    for systems in data:
        for metric in systems.metrics:
            rows += scores.of_each(systems, metric, arguments.unit)
    console.note("one system was read, so nothing was compared: this is its score", always=True)
    _show(arguments, rows, lambda form: scores.render(rows, form), notes)


def _compare_outputs(arguments: argparse.Namespace, data: Sequence[Statistics], notes: Sequence[str]) -> list[Tested]:
    """Compare systems with one output each, and print the result."""
    from pairsig.comparisons import compare, wording
    from pairsig.core.totals import Resampling

    test = definitions.find(arguments.test or definitions.DEFAULT_TEST, arguments.method, arguments.alternative)
    how: dict[str, Any] = {"pairs": "all" if arguments.all else "first"}
    how |= _settings(arguments, "baseline", "unit", "margin")
    resampling = Resampling(arguments.n_resamples, arguments.seed, arguments.threads)
    tested: list[Tested] = []
    for systems in data:
        rows = compare.compare(systems, systems.metrics, test, resampling=resampling, **how)
        for metric in systems.metrics:
            tested.append((systems, metric, [row for row in rows if row["metric"] == metric.name]))
    whole = compare.adjust(list(chain.from_iterable(rows for *_, rows in tested)))
    if arguments.format == "sentence":
        from pairsig.report import sentences

        console.note(*wording.footnotes(sentences.rows_reported(whole)), always=True)
        _show(arguments, whole, lambda _: "\n".join([sentences.of_systems(whole), *_assumed(data)]), notes)
    else:
        details = arguments.details or arguments.margin is not None
        _show(arguments, whole, lambda form: wording.render(whole, form, details=details), notes)
    return tested


def _assumed(data: Sequence[Statistics]) -> list[str]:
    """A sentence on the scores whose direction nobody declared."""
    metrics = chain.from_iterable(systems.metrics for systems in data)
    names = dict.fromkeys(metric.name for metric in metrics if metric.assumed)
    return [f"Higher {listed(names)} is assumed to be better."] if names else []


def _compare_runs(arguments: argparse.Namespace, data: Sequence[Statistics], notes: Sequence[str]) -> list[Tested]:
    """Compare systems with several runs, and print the result."""
    import pandas as pd

    from pairsig.comparisons import runs
    from pairsig.io.tables import records
    from pairsig.report import sentences
    from pairsig.stats.adjust import holm

    for option in ("test", "method", "alternative", "margin"):
        if getattr(arguments, option):
            raise InputError(
                f"found --{option.replace('_', '-')}, which does nothing here: it does not apply to the test for "
                "several runs\nleave it out"
            )
    how: dict[str, Any] = {"pairs": "all" if arguments.all else "first"}
    how |= _settings(arguments, "baseline", "unit")
    compared = []
    for systems in data:
        _note_documents(systems, arguments.unit)
        for metric in systems.metrics:
            compared.append((systems, metric, runs.compare_runs(systems, metric=metric, **how).table))
    whole = pd.concat([table for *_, table in compared], ignore_index=True)
    whole["pvalue_holm"] = holm(whole["pvalue"].to_numpy())
    whole["n_compared"] = len(whole)
    if arguments.format == "sentence":
        n_documents = len(set(data[0].documents)) if arguments.unit == "document" else 0
        console.note(*runs.caveats(whole), always=True)
        _show(arguments, whole, lambda _: "\n".join([sentences.of_methods(whole, n_documents), *_assumed(data)]), notes)
    else:
        _show(arguments, whole, lambda form: runs.render(whole, form), notes)
    rows = iter(records(whole))
    return [(systems, metric, list(islice(rows, len(table)))) for systems, metric, table in compared]


def _flips(arguments: argparse.Namespace, data: Sequence[Statistics], baseline: str | None) -> None:
    """Write the table of items that flipped, if it is requested."""
    if arguments.flips:
        import pandas as pd

        from pairsig.io import tables
        from pairsig.report import flips

        parts: list[pd.DataFrame] = []
        for systems in data:
            parts += [flips.table(systems, metric, baseline) for metric in systems.metrics]
        tables.write(pd.concat(parts, ignore_index=True), arguments.flips)


def _show(arguments: argparse.Namespace, table: Any, render: Callable[[str], str], notes: Sequence[str] = ()) -> None:
    """Print a result in the format of `--format`, or write it in that of the suffix of `--output`."""
    from pairsig.io import tables

    path: Path | None = arguments.output
    if path and path.suffix == ".tex" and arguments.format == "sentence":
        raise InputError(f"found --format sentence for {path}, expected an output that ends in .md")
    form = {".json": "json", ".md": "markdown", ".tex": "latex"}.get(path.suffix, "") if path else arguments.format
    if path is not None and not form:
        tables.write(tables.flat(table), path)
        return
    if form == "json":
        text = tables.as_json(table, notes)
    elif form == "csv":
        text = tables.as_csv(table).rstrip("\n")
    else:
        text = render(form)
    if path is None:
        print(text)
    else:
        tables.write_text(f"{text}\n", path)


def _gate(arguments: argparse.Namespace) -> int:
    """Check a candidate for a release: exit status 0 if it is not worse by a margin, 1 if it is worse, 3 if unknown."""
    from pairsig.comparisons import gate
    from pairsig.io.tables import write_text

    data = _read(arguments)
    _show_notes(_notes(data))
    how = _settings(arguments, "alpha", "unit", "n_resamples", "rng", "threads")
    verdict = gate.gate(data, arguments.margin, **how)
    console.note(*verdict.notes)
    _flips(arguments, data, data[0].methods[0])
    if arguments.output:
        write_text(f"{verdict.to_json()}\n", arguments.output)
    print({"json": verdict.to_json, "markdown": verdict.to_markdown}.get(arguments.format, verdict.__str__)())
    return verdict.status


def _rank(arguments: argparse.Namespace) -> None:
    """Rank many systems: simultaneous intervals of ranks, and which pairs differ significantly."""
    from pairsig.comparisons import ranks
    from pairsig.io import tables

    data = _read_one(arguments)
    _show_notes(data.notes)
    _warn_of_duplicates(data)
    _note_documents(data, arguments.unit)
    how = _settings(arguments, "alpha", "n_resamples", "rng", "unit", "threads")
    ranked = ranks.rank(data, **how)
    console.note(*(note for note in ranked.notes if note not in data.notes))
    _show(arguments, ranked.table, lambda form: ranks.render(ranked, form), ranked.notes)
    if arguments.pairs:
        tables.write(ranked.pairs, arguments.pairs)


def _runs(arguments: argparse.Namespace) -> None:
    """Compare systems with several runs (trainings, seeds) in pairs, over their runs and the test set."""
    from pairsig.comparisons import runs

    data = _read_one(arguments)
    _show_notes(data.notes)
    _note_documents(data, arguments.unit)
    compared = runs.compare_runs(data, **_settings(arguments, "unit"))
    _show(arguments, compared.table, lambda form: runs.render(compared.table, form), data.notes)


def _plan(arguments: argparse.Namespace) -> None:
    """Plan an experiment: the number of segments that detects a gain."""
    from pairsig.planning import sample_size

    data, score = None, arguments.score
    if arguments.files:
        data, score = _read_one(arguments), None  # `--score` names the column of the pilot's scores
        _show_notes(data.notes)
        for system in arguments.between:
            choose(system, data.systems, f"system of {listed(arguments.files)}:")
    planned = sample_size.plan(
        data,
        metric=data.metrics[0] if data else arguments.metric,
        gain=_names(arguments.gain),
        systems=arguments.between,
        score=score,
        **_settings(arguments, "length", "correlation", "alpha", "power", "unit"),
    )
    if data is not None:
        _note_documents(data, arguments.unit)
    _show(arguments, planned.table, lambda form: sample_size.render(planned.table, form), data.notes if data else ())


def _metrics(_: argparse.Namespace) -> None:
    """List the metrics by task with their formulas, and the options of metrics and formats."""
    from pairsig.metrics import registry
    from pairsig.readers import COUNTS, LOGS, OUTPUTS, TABLES, options

    print(registry.listing())
    print(
        "\nOther names of metrics: f0.5, f2, … from tp, fp and fn; pass@K and pass^K with --sample; mae "
        "and mse with --gold."
    )
    print(
        f"\nFormats (--reader)\n  tables and scores: {', '.join(TABLES)}; counts: {', '.join(COUNTS)}; "
        f"logs: {', '.join(LOGS)}"
    )
    print(f"  outputs, with --reference: {', '.join(OUTPUTS)}\n\nOptions of formats and metrics")
    print(options.listing())


def _settings(arguments: argparse.Namespace, *names: str) -> Mapping[str, Any]:
    """Options as arguments of functions, which call the seed `rng`."""
    return {name: getattr(arguments, "seed" if name == "rng" else name) for name in names}


if __name__ == "__main__":
    sys.exit(main())
