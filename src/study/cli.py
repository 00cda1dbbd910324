"""The command line of the study: one command per stage, called by the workflow.

Each command imports what it needs, so that the others start quickly. The commands of analyses follow from their records
(`study.analysis.record`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsig.cli import FORMULAS, add_all_pairs, add_test_options, read_statistics, test_options
from pairsig.io import console
from pairsig.io.choices import choose
from pairsig.io.errors import InputError

if TYPE_CHECKING:
    from pairsig.core.omission import Omission
    from study.analysis.record import Analysis, Figure

_NUMBER: dict[str, Any] = {"type": console.whole, "metavar": "N"}
_SIZE: dict[str, Any] = {"type": int, "metavar": "N"}
_TIMES: dict[str, Any] = {"type": int, "default": 0, "metavar": "K"}
_PAIRS: dict[str, Any] = {"action": "append", "default": [], "metavar": "KEY=VALUE"}
_SEED: dict[str, Any] = {"type": console.whole, "default": 2012, "help": "default: 2012"}
_FIGURE = partial(console.output, suffixes=(".svg", ".pdf", ".png"))
_TEXT = partial(console.output, suffixes=(".csv", ".md", ".tex", ".html"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, or several with `--then` between them; return 0 on success, 2 with one sentence on invalid input.

    Several commands in one process import numpy, pandas and the library once.
    """
    words_given = list(sys.argv[1:] if argv is None else argv)
    ends = [place for place, word in enumerate(words_given) if word == "--then"]
    for start, end in pairwise([-1, *ends, len(words_given)]):
        words = words_given[start + 1 : end]
        words[:1] = [word.replace("_", "-") for word in words[:1]]  # analyses are called like their modules, too
        if status := _commands(words[0] if words else "").main(words):
            return status
    return 0


def _commands(wanted: str = "") -> console.Commands:
    """Build the parser; of the analyses, it has only the wanted command if that is a command."""
    commands = console.Commands(
        "python -m study", "The study: prepare corpora, train base models, run analyses, make figures and tables."
    )

    for add in (_add_corpora, _add_training, _add_statistics, _add_pages):
        add(commands)

    from study import analysis

    names: Collection[str] = analysis.MODULES
    if (module_name := wanted.replace("-", "_")) in analysis.MODULES:
        names = [module_name]
    elif wanted in commands.names:
        names = []
    for name in names:
        if (record := analysis.load(name)).function:
            _add_analysis(commands, name, record)
    return commands


def _add_corpora(commands: console.Commands) -> None:
    """Add the commands that read corpora."""
    p = commands.add(_fetch)
    p.add_argument("corpus", type=Path, metavar="FOLDER")
    p.add_argument("--sha256", required=True, help="expected checksum of the file SHA256SUMS in the folder")
    p.add_argument("--output", type=console.output, required=True, help="file to write: the verified checksums")

    p = commands.add(_prepare)
    p.add_argument("files", nargs="+", metavar="[DOMAIN=]FILE", help="files of a corpus")
    p.add_argument("--task", required=True, help="dependency, constituency, alignment or mt")
    p.add_argument("--option", **_PAIRS, help="option of the corpus reader")
    p.add_argument("--skip", **_NUMBER, default=0, help="skip the first N segments of every file")
    p.add_argument("--first", **_NUMBER, help="then take at most N segments of every file")
    p.add_argument("--hold-out", **_NUMBER, default=0, help="skip every Nth of the remaining segments")
    complement = "take only every Nth of the remaining segments, except those whose text occurs in the others"
    p.add_argument("--held-out", **_NUMBER, default=0, help=complement)
    p.add_argument("--input", type=console.output, help="file to write: the input that a base model may see")
    p.add_argument("--reference", type=console.output, help="file to write: the reference for scoring")
    lines = "file to write: `domain<TAB>document`, one line per segment"
    p.add_argument("--documents", type=console.output, help=lines)
    p.add_argument("--output", type=console.output, help="file to write: the segments in the format of the task")

    p = commands.add(_resample)
    p.add_argument("segments", type=Path, help="a full training set, made by prepare")
    p.add_argument("--task", required=True, help="dependency, constituency, alignment or mt")
    share = "number of segments to draw, as a share of the full set; default: 1"
    p.add_argument("--size", type=float, default=1.0, help=share)
    p.add_argument("--whole", action="store_true", help="take all segments once instead of drawing")
    p.add_argument("--seed", **_SEED)
    name = "name of this training set; sets with the same seed and different names differ"
    p.add_argument("--name", required=True, help=name)
    p.add_argument("--unlabelled", nargs="*", type=Path, default=[], help="unlabelled segments to add")
    p.add_argument("--output", type=console.output, required=True)


def _add_training(commands: console.Commands) -> None:
    """Add the commands that train and apply base models."""
    p = commands.add(_jar)
    p.add_argument("coordinates", metavar="GROUP:ARTIFACT:VERSION")
    p.add_argument("--sha256", required=True, help="checksum of the jar")
    p.add_argument("--output", type=console.output, required=True)

    p = commands.add(_train)
    p.add_argument("training_set", type=Path)
    p.add_argument("--command", required=True, help="shell command with {train}, {model}, {seed}, {jars}, {threads}")
    p.add_argument("--seed", **_SEED)
    p.add_argument("--given", nargs="?", type=Path, help="folder of another model made by train, for {given}")
    p.add_argument("--model", type=Path, required=True, help="folder to create")
    _add_attempt_options(p)

    p = commands.add(_predict)
    p.add_argument("segments", type=Path, help="input of a test set for base models, made by prepare")
    p.add_argument("--command", required=True, help="shell command with {model}, {input}, {output}, {outputs}, …")
    p.add_argument("--model", nargs="?", type=Path, help="folder of the model, made by train")
    p.add_argument("--given", nargs="?", type=Path, help="folder of another model, for {given}")
    p.add_argument("--members", nargs="*", type=Path, default=[], help="outputs of the members of an ensemble")
    p.add_argument("--output", type=console.output, required=True)
    _add_attempt_options(p)


def _add_statistics(commands: console.Commands) -> None:
    """Add the commands that count and compare."""
    add_all_pairs(commands)

    p = commands.add(_resize, FORMULAS)
    p.add_argument("statistics", type=Path)
    sizes = "numbers of initial segments, or doubling:100 for 100, 200, 400, …"
    p.add_argument("--initial", metavar="100,200,…", help=sizes)
    order = "shuffle the segments first, with this seed; default: the order of the test set"
    p.add_argument("--shuffle", type=int, metavar="SEED", help=order)
    p.add_argument("--domain-size", **_SIZE, help="make test sets of the first N segments of each domain")
    p.add_argument("--document-size", **_SIZE, help="make test sets of the first N segments of each document")
    p.add_argument("--draws", **_TIMES, help="draw K test sets with replacement")
    p.add_argument("--draw-size", **_SIZE, help="size of the drawn test sets; default: that of the test set")
    p.add_argument("--halves", **_TIMES, help="split the test set K times into two random halves")
    p.add_argument("--whole", type=console.table, metavar="FILE", help="file to write: the whole test set as well")
    p.add_argument("--whole-n-resamples", **_NUMBER, help="number of resamples on it; default: as on the others")
    p.add_argument("--metric", help="required if the columns fit several metrics")
    add_test_options(p)
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_count)
    p.add_argument("files", nargs="+", metavar="FILE", help="outcomes or scores of all systems, or one file per system")
    p.add_argument("--reader", required=True, help="llmbar, mmlu_pro, livebench, bfcl, scores, values or table")
    p.add_argument("--metric", default="mean", help="for the reader table, the metric to count for; default: mean")
    of_file = "for the reader table, of the system in a file; repeated for each file"
    p.add_argument("--system", action="append", default=[], help=f"name {of_file}")
    p.add_argument("--group", action="append", default=[], help=f"group {of_file}")
    p.add_argument("--kind", action="append", default=[], help=f"kind {of_file}")
    p.add_argument("--option", **_PAIRS, help="option of the reader")
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", **_PAIRS, help="information to store with the statistics")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_overlaps)
    p.add_argument("dataset")
    p.add_argument("outputs", nargs="+", metavar="SYSTEM=FILE", help="outputs of the systems, one segment per line")
    p.add_argument("--option", **_PAIRS, help="option of the metric, such as tokenize=zh")
    p.add_argument("--pairs", **_NUMBER, default=8, help="number of random pairs; default: 8")
    p.add_argument("--seed", **_SEED)
    p.add_argument("--output", type=console.table, required=True)


def _add_pages(commands: console.Commands) -> None:
    """Add the commands that make figures, tables and pages."""
    p = commands.add(_plot)
    p.add_argument("figure")
    p.add_argument("tables", nargs="+", metavar="TABLE")
    formats = "one file per format: .svg, .pdf, .png"
    p.add_argument("--output", nargs="+", action="append", type=_FIGURE, required=True, metavar="FILE", help=formats)
    more = "one more figure; requires one more --output"
    p.add_argument("--and", nargs="+", action="append", default=[], dest="more", metavar=("FIGURE", "TABLE"), help=more)

    p = commands.add(_figure)
    p.add_argument("figure")
    p.add_argument("--dataset", help="dataset, for a figure of one dataset; default: the first one with comparisons")
    p.add_argument(
        "--results", nargs="+", type=Path, default=[Path("results"), Path("results/reference")], metavar="FOLDER",
        help="folders in which tables are looked up; default: results results/reference",
    )  # fmt: skip
    p.add_argument("--output", type=_FIGURE, required=True)

    p = commands.add(_tabulate)
    p.add_argument("tables", nargs="+", type=Path, metavar="TABLE")
    p.add_argument("--caption", default="")
    formats = "one file per format: .csv, .md, .tex, .html; with several tables, named after the tables"
    p.add_argument("--output", nargs="+", type=_TEXT, required=True, metavar="FILE", help=formats)

    p = commands.add(_site)
    p.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="tables of the study: results/tables/*.tsv")
    whole = "comparisons on whole test sets, by one test"
    p.add_argument("--comparisons", nargs="+", type=Path, required=True, help=whole)
    p.add_argument("--test-sets", nargs="*", type=Path, default=[], help="comparisons made by resize")
    p.add_argument("--calibrated", type=Path, required=True, help="pairs written by calibrate")
    p.add_argument("--datasets", nargs="+", type=Path, required=True, help="sheet of datasets")
    p.add_argument("--corpora", nargs="+", type=Path, required=True, help="sheet of corpora")
    p.add_argument("--figures", nargs="*", type=Path, default=[], metavar="SVG", help="figures made by plot")
    p.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="folder to create or replace")

    p = commands.add(_page)
    p.add_argument("statistics", type=Path)
    p.add_argument("--metric", help="required if the columns fit several metrics")
    p.add_argument("--n-resamples", type=console.whole, default=100_000, metavar="B", help="default: 100,000")
    p.add_argument("--seed", **_SEED)
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="unit that is swapped")
    p.add_argument("--threads", type=console.whole, help="default: all cores; only changes time")
    p.add_argument("--output", type=partial(console.output, suffixes=(".html",)), required=True)

    p = commands.add(_findings)
    p.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="tables of the study, all in one folder")
    p.add_argument("--output", type=Path, required=True, metavar="FILE", help="page in Markdown, beside this folder")
    pages = "pages whose fragments to fill in, in place"
    p.add_argument("--fill", nargs="*", type=Path, default=[], metavar="PAGE", help=pages)

    p = commands.add(_sheets)
    p.add_argument("pages", nargs="+", type=Path, metavar="PAGE", help="pages to fill in: docs/sheets/*.md")


def _add_analysis(commands: console.Commands, name: str, record: Analysis) -> None:
    """Add the command of an analysis: files first, then an option per input, setting and table."""
    from study.analysis.record import Comparisons, Data, Rows, Setting

    def run(arguments: argparse.Namespace) -> None:
        _analyse(record, arguments)

    run.__name__, run.__doc__ = name, (record.function.__doc__ or "").partition("\n")[0]
    p = commands.add(run)
    for place, (key, source) in enumerate(record.inputs.items()):
        option = f"--{key.replace('_', '-')}"
        match source:
            case Comparisons():
                p.add_argument(key, nargs="+", type=Path)
            case Data():
                files: dict[str, Any] = {"nargs": "*" if source.optional else "+", "metavar": "STATISTICS:METRIC"}
                files["help"] = "file of statistics and the metric to use"
                p.add_argument(option, default=[], **files) if place else p.add_argument(key, **files)
            case Rows():
                several = {"nargs": "+"} if source.is_sheet else {}
                p.add_argument(option, type=Path, required=not source.optional, help=f"table {source.name}", **several)
            case Setting():
                p.add_argument(option, type=source.type, help=source.about, nargs="+" if source.several else None)
    for output in record.tables[1:]:
        p.add_argument(f"--{output.name.replace('_', '-')}", type=console.table, help=f"table to write: {output.rows}")
    p.add_argument("--output", type=console.table, required=True, help=f"table to write: {record.tables[0].rows}")


def _add_attempt_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jars", type=Path, default=Path("jars"), help="folder of Java libraries; default: jars")
    parser.add_argument("--threads", type=console.whole, default=1, help="default: 1")
    attempt = "this is attempt K of M; if the last one fails or was killed, record the reason and succeed"
    parser.add_argument("--attempt", type=_attempt_number, metavar="K/M", help=attempt)
    parser.add_argument("--requested", default="", help="the memory and time of the job, for messages")


def _attempt_number(text: str) -> tuple[int, int]:
    """K/M, with 1 <= K <= M + 1."""
    number, last = (int(word) for word in text.split("/"))
    if not 1 <= number <= last + 1:
        raise argparse.ArgumentTypeError(f"found attempt {text}, expected one from 1/{last} to {last + 1}/{last}")
    return number, last


_attempt_number.__name__ = "K/M"


def _fetch(arguments: argparse.Namespace) -> None:
    """Verify the checksums of all files of a corpus."""
    from pairsig.io import tables
    from study import corpora

    verified = corpora.verify(arguments.corpus, arguments.sha256)
    tables.write_text("".join(f"{digest}  {name}\n" for name, digest in verified.items()), arguments.output)


def _prepare(arguments: argparse.Namespace) -> None:
    """Split a corpus into segments: a training set, or a test set with its input and reference."""
    from pairsig.io import tables
    from study import corpora

    options = console.pairs(arguments.option)
    selection = {name: getattr(arguments, name) for name in corpora.SELECTION}
    segments = corpora.read(arguments.task, arguments.files, options, **selection)
    task, whole, module = arguments.task, [segment.text for segment in segments], corpora.module(arguments.task)
    texts = {
        arguments.output: corpora.join(task, whole),
        arguments.input: corpora.join(task, [module.blank(text) for text in whole]),
        arguments.reference: corpora.join(task, [module.gold(text) for text in whole]),
        arguments.documents: "".join(f"{segment.domain or '-'}\t{segment.document or '-'}\n" for segment in segments),
    }
    for path, text in texts.items():
        if path:
            tables.write_text(text, path)


def _resample(arguments: argparse.Namespace) -> None:
    """Draw the segments of a training set with replacement."""
    from pairsig.io import tables
    from study import corpora

    whole = corpora.cut(arguments.task, arguments.segments)
    drawn = whole
    if not arguments.whole:
        drawn = corpora.resample(whole, arguments.size, arguments.seed, arguments.name)
    for path in arguments.unlabelled:
        drawn += corpora.cut(arguments.task, path)
    tables.write_text(corpora.join(arguments.task, drawn), arguments.output)


def _jar(arguments: argparse.Namespace) -> None:
    """Download a Java library by its Maven coordinates and verify its checksum."""
    from study import training

    training.jar(arguments.coordinates, arguments.sha256, arguments.output)


def _train(arguments: argparse.Namespace) -> None:
    """Train a base model on a training set."""
    from study import training

    words = {name: getattr(arguments, name) for name in ("seed", "given", "jars", "threads")}
    make = partial(training.train, arguments.command, arguments.training_set, arguments.model, **words)
    _attempt(arguments, "train", make, arguments.model, partial(training.give_up, arguments.model))


def _predict(arguments: argparse.Namespace) -> None:
    """Predict a test set with a base model."""
    from study import training

    words = {name: getattr(arguments, name) for name in ("members", "given", "jars", "threads")}
    make = partial(training.predict, arguments.command, arguments.model, arguments.segments, arguments.output, **words)
    _attempt(arguments, "predict", make, arguments.output, lambda omission: omission.write(arguments.output))


def _attempt(
    arguments: argparse.Namespace,
    stage: str,
    make: Callable[[], None],
    made: Path,
    leave_out: Callable[[Omission], None],
) -> None:
    """Run a command of a base model, as one of several attempts if `--attempt` says so."""
    from study.training.attempts import attempt

    if arguments.attempt is None:
        make()
    else:
        number, last = arguments.attempt
        attempt(make, made, leave_out, stage=stage, number=number, last=last, requested=arguments.requested)


def _resize(arguments: argparse.Namespace) -> None:
    """Test every pair of systems on parts of a test set: initial segments, domains, draws, halves."""
    from pairsig.comparisons.all_pairs import compare
    from pairsig.io import tables
    from study.test_sets import KINDS
    from study.test_sets.resize import other_test_sets, resize

    data = read_statistics(arguments.statistics)
    arguments.initial = _initial(arguments.initial, len(data.segments))
    kinds = {name: getattr(arguments, name) for name in KINDS}
    n_sets = sum(1 for _ in other_test_sets(data, seed=arguments.seed, **kinds))
    n_whole = (arguments.whole_n_resamples or arguments.n_resamples) if arguments.whole else 0
    n_resamples = (n_sets * arguments.n_resamples + n_whole) // arguments.part[1]
    options = test_options(arguments) | {"metric": arguments.metric}
    with console.progress(f"resize {data.dataset}", n_resamples) as progress:
        table = resize(data, progress=progress, **kinds, **options)
        if arguments.whole:
            whole = compare(data, progress=progress, **options | {"n_resamples": n_whole})
            tables.write(whole, arguments.whole)
    tables.write(table, arguments.output)


def _count(arguments: argparse.Namespace) -> None:
    """Convert the outcomes or scores of all systems to statistics."""
    from pairsig.core import statistics
    from study.corpora import outcomes, scores

    options, provenance = console.pairs(arguments.option), console.pairs(arguments.provenance)
    about: dict[str, Any] = {"dataset": arguments.dataset, "provenance": provenance}
    if arguments.reader == "table":
        about |= {"systems": arguments.system, "groups": arguments.group, "kinds": arguments.kind}
        counted = scores.read(arguments.files, options, metric=arguments.metric, **about)
    else:
        counted = outcomes.read(arguments.reader, arguments.files, options, **about)
    for omission in counted.omissions:
        console.warn(f"dataset {counted.dataset}: system {omission.system} is left out: {omission}")
    for first, second in counted.duplicates():
        console.warn(f"dataset {counted.dataset}: systems {first} and {second} have the same counts on every segment")
    statistics.write(counted, arguments.output)


def _overlaps(arguments: argparse.Namespace) -> None:
    """Measure the overlap between the outputs of pairs of systems, without a reference."""
    from itertools import combinations

    import numpy as np

    from pairsig import readers
    from pairsig.io import tables
    from pairsig.planning import sample_size
    from study.tables import columns

    outputs = dict(console.pairs(arguments.outputs))
    options = console.pairs(arguments.option)
    pairs = list(combinations(outputs, 2))
    chosen = np.random.default_rng(arguments.seed).permutation(len(pairs))[: arguments.pairs]
    rows = []
    for place in sorted(chosen.tolist()):
        first, second = (readers.read("text", outputs[name]) for name in pairs[place])
        bleu = round(100 * sample_size.overlap_of(first, second, **options), 3)
        same = round(sum(a == b for a, b in zip(first, second, strict=True)) / len(first), 5)
        rows.append(dict(zip(columns.OVERLAPS.names, (arguments.dataset, *pairs[place], bleu, same), strict=True)))
    tables.write(tables.frame(columns.OVERLAPS, rows), arguments.output)


def _analyse(record: Analysis, arguments: argparse.Namespace) -> None:
    """Run an analysis: read its inputs, and write its tables."""
    from pairsig.io import tables
    from study import analysis
    from study.analysis.record import Rows, Setting

    taken = {}
    for key, source in record.inputs.items():
        value = getattr(arguments, key)
        if value is None:  # the default of the function
            continue
        if isinstance(source, Rows):
            declared = analysis.table(source.name) if isinstance(source.table, str) else source.table
            value = analysis.read_sheet(value, declared) if source.is_sheet else tables.read(value, declared)
        elif not isinstance(source, Setting):
            value = source.read(value)
        taken[key] = value
    results = record.run(**taken)
    paths = {
        output.name: getattr(arguments, output.name if place else "output")
        for place, output in enumerate(record.tables)
    }
    wanted = {name: table for name, table in results.items() if paths[name]}
    for name, table in wanted.items():
        if table is None:
            others = (key for key, source in record.inputs.items() if isinstance(source, Rows) and key not in taken)
            missing = " and ".join(f"--{key}" for key in others)
            raise InputError(f"found --{name.replace('_', '-')} without {missing}, expected both")
    for name, table in wanted.items():
        tables.write(table, paths[name])
    for table in results.values():
        if table is not None and "verdict" in table:
            for verdict, number in table["verdict"].value_counts().items():
                print(f"{verdict}: {number}")


def _plot(arguments: argparse.Namespace) -> None:
    """Plot figures from tables."""
    from study import analysis

    known = analysis.figures()
    wanted = [(arguments.figure, arguments.tables), *((name, paths) for name, *paths in arguments.more)]
    figures = [known[choose(name, known, "figure")] for name, _ in wanted]
    functions = list(map(_drawing, figures))  # an unknown figure, or a missing package, is found before any is drawn
    read = lru_cache(8)(analysis.read)  # figures of the same dataset share tables
    drawn = []
    for figure, draw, (_, paths) in zip(figures, functions, wanted, strict=True):
        names = [*figure.tables, *figure.tables[-1:] * len(paths)]  # further tables are of the last kind
        drawn.append(draw(*(read(Path(path), name) for path, name in zip(paths, names, strict=False))))
    from pairsig.io.pictures import save

    for figure, files in zip(drawn, arguments.output, strict=True):
        for path in files:
            save(figure, path, transparent=path.suffix == ".svg")  # the pages show SVG on their own background


def _drawing(figure: Figure) -> Callable[..., Any]:
    """Import the function that draws a figure, with its title."""
    try:
        module = import_module(f"study.figures.{figure.module}")
        from study.figures.style import titled
    except ModuleNotFoundError as error:
        package = (error.name or "matplotlib").partition(".")[0]
        raise InputError(
            f"found no Python module {package}, expected it for figures; type pip install pairsig[workflow]"
        ) from None
    draw = getattr(module, figure.function or figure.name)
    return lambda *tables: titled(draw(*tables), figure.subject)


def _figure(arguments: argparse.Namespace) -> None:
    """Plot one figure from the tables of the last run, or else from the reference tables."""
    from study import analysis

    known = analysis.figures()
    figure = known[choose(arguments.figure, known, "figure")]
    paths = []
    dataset, overlay = arguments.dataset or "*", ""
    if figure.once and not arguments.dataset:
        import pandas as pd

        sheet = pd.read_csv("config/datasets.tsv", sep="\t", dtype=str, keep_default_na=False)
        listed = sheet[[figure.name in names.split() for names in sheet["figures"]]]
        dataset, overlay = next(listed[["dataset", "overlay"]].itertuples(index=False, name=None), ("*", ""))
    for name in figure.tables:
        pattern = f"{name}.tsv"
        if name in ("comparisons", "test_sets"):
            pattern = f"{name}/{dataset}.*.parquet"
        elif name == "overlay" and overlay:
            pattern = f"comparisons/{overlay}.*.parquet"
        by_folder = [sorted([*folder.glob(pattern), *folder.glob(f"tables/{pattern}")]) for folder in arguments.results]
        files = next(filter(None, by_folder), [])
        if not files and name != "overlay":
            folders = " and ".join(map(str, arguments.results))
            raise InputError(f"found no {pattern} in {folders}, expected the table of a run; type make quick")
        paths += files[:1] if figure.per_dataset or figure.once else files
    _plot(argparse.Namespace(figure=figure.name, tables=paths, more=[], output=[[arguments.output]]))
    print(f"{arguments.output}: {figure.name} from {', '.join(map(str, paths))}")


def _tabulate(arguments: argparse.Namespace) -> None:
    """Convert tables to CSV, Markdown, LaTeX and HTML."""
    from pairsig.io import tables
    from study import analysis
    from study.tables import presentation

    named = {path.stem: path for path in arguments.tables}
    if len(named) < len(arguments.tables):
        raise InputError("found two tables with the same name, expected distinct names for their outputs")
    only = next(iter(named)) if len(named) == 1 else None
    wanted: dict[Path, list[Path]] = {}
    for path in arguments.output:
        wanted.setdefault(named[only or choose(path.stem, named, "table")], []).append(path)
    known = analysis.known()
    texts: dict[Path, str] = {}
    for table, paths in wanted.items():
        formats = {path: path.suffix.lstrip(".") for path in paths}
        rendered = presentation.rendered(analysis.read(table), [*formats.values()], arguments.caption, known=known)
        texts |= {path: rendered[suffix] for path, suffix in formats.items()}
    for path, text in texts.items():
        tables.write_text(text, path)


def _site(arguments: argparse.Namespace) -> None:
    """Build the web pages of the study."""
    from study import analysis, site
    from study.tables import columns

    run = site.Run(
        tables={path.stem: analysis.read(path) for path in arguments.tables},
        comparisons=arguments.comparisons,
        test_sets=arguments.test_sets,
        calibrated=analysis.read(arguments.calibrated, "calibrated"),
        datasets=analysis.read_sheet(arguments.datasets, columns.DATASETS),
        corpora=analysis.read_sheet(arguments.corpora, columns.CORPORA),
        figures=arguments.figures,
    )
    site.replace(run, arguments.output)


def _page(arguments: argparse.Namespace) -> None:
    """Write a web page about the systems of one dataset: ranks, significant differences, all pairs."""
    from pairsig.comparisons.ranking import rank
    from pairsig.io import tables
    from study.site import own_data

    ranking = rank(
        read_statistics(arguments.statistics),
        metric=arguments.metric,
        n_resamples=arguments.n_resamples,
        rng=arguments.seed,
        unit=arguments.unit,
        threads=arguments.threads,
    )
    tables.write_text(own_data.page(ranking), arguments.output)


def _findings(arguments: argparse.Namespace) -> None:
    """Write the findings, with numbers from tables, and fill in the numbers on other pages."""
    from pairsig.io import tables
    from study import analysis
    from study.site import text

    read = {path.stem: analysis.read(path) for path in arguments.tables}
    written = {arguments.output: text.findings(read, arguments.tables[0].parent.name)}
    written |= {page: text.filled(page.read_text(encoding="utf-8"), read) for page in arguments.fill}
    for path, page in written.items():
        tables.write_text(page, path)


def _sheets(arguments: argparse.Namespace) -> None:
    """Fill in the tables of columns and keys on the pages about the sheets."""
    from pairsig.io import tables
    from study.sheets import documentation

    for path in arguments.pages:
        tables.write_text(documentation.filled(path.read_text(encoding="utf-8")), path)


def _initial(text: str | None, n_segments: int) -> list[int] | None:
    from study.test_sets import doubling

    if text is None:
        return None
    try:
        if text.startswith("doubling:"):
            return doubling(int(text.removeprefix("doubling:")), n_segments)
        sizes = [int(size) for size in text.split(",")]
        if min(sizes) < 1:
            raise InputError(f"--initial: found {text}, expected sizes of at least 1")
        return sizes
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--initial: found {text!r}, expected sizes such as 100,200,400 or doubling:100") from None
