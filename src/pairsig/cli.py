"""The command line: one command a stage. Parse, call the library, write; the only place that prints or exits.

Everything heavy is imported by the command that needs it, so that `pairsig --help` is there at once.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pairsig.choices import choose
from pairsig.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.engine import Progress

TEST_HELP = """\
formulas (δ >= 0 is the gain of the better system, * a resample, ' a shuffle, b the number of resamples):
  bootstrap      gt2         p = #{δ* > 2δ} / b           one-sided, strict, no +1 (Berg-Kirkpatrick et al. 2012)
  bootstrap      percentile  p = #{δ* < 0} / b            one-sided, strict, no +1 (Koehn 2004)
  randomization  two-sided   p = (#{|δ'| >= |δ|} + 1) / (b + 1)   ties count (Noreen 1989; sigf; art)
  randomization  one-sided   p = (#{δ' >= δ} + 1) / (b + 1)       in the observed direction (Bikel's comparator)
δ = 0: no system is better, p = 1 by definition. p_low and p_high bound the Monte Carlo error of p (95 %).
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # δ and names of files, on a terminal that has not got them
            stream.reconfigure(errors="backslashreplace")
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], None] = arguments.run
    try:
        run(arguments)
    except InputError as error:
        print(f"pairsig: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `pairsig … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a full disk, a folder without permission
        print(f"pairsig: error: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence and the command's own help, instead of the usage of everything."""
        self.exit(2, f"{self.prog}: error: {message} (see `{self.prog} --help`)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pairsig",
        description="Paired significance tests for NLP: outputs in, counts, comparisons, tables and figures out.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def command(run: Callable[[argparse.Namespace], None], epilog: str = "") -> argparse.ArgumentParser:
        text = run.__doc__ or ""
        added: argparse.ArgumentParser = commands.add_parser(
            run.__name__.strip("_"),
            help=text.splitlines()[0],
            description=text,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(run=run)
        return added

    p = command(_test, TEST_HELP)
    p.add_argument("systems", nargs="+", metavar="FILE", help="the base system first; each other is held against it")
    p.add_argument("--reader", required=True, help="counts: evalb, sigf, art, coref, table; outputs: text, trees, …")
    p.add_argument("--reference", nargs="+", default=[], help="for outputs")
    p.add_argument("--metric", default="", metavar="M[,M…]", help="by default all that the files have")
    p.add_argument("--test", default="bootstrap,randomization,exact", metavar="T[,T…]", help="default: all three")
    p.add_argument("--n-resamples", type=_whole, default=100_000, metavar="B", help="default: 100,000")
    p.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn or swapped")
    p.add_argument("--one-sided", action="store_true", help="randomization and exact in the observed direction only")
    p.add_argument("--stop-at", type=float, metavar="ALPHA", help="draw no more than it takes to tell p from alpha")
    p.add_argument("--confidence", type=float, default=0.99, help="of that decision; default: 0.99")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--documents", help="file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--threads", type=_whole, help="default: all cores; changes nothing but time")
    p.add_argument("--format", choices=("table", "json", "markdown", "latex"), default="table")

    p = command(_fetch)
    p.add_argument("corpus", type=Path, metavar="FOLDER")
    p.add_argument("--sha256", required=True, help="checksum of the folder's own SHA256SUMS")
    p.add_argument("--output", type=_output, required=True, help="what was verified: the list of checksums")

    p = command(_prepare)
    p.add_argument("files", nargs="+", metavar="[DOMAIN=]FILE", help="of a corpus")
    p.add_argument("--task", required=True, help="dependency, constituency or alignment")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for reading the corpus")
    p.add_argument("--skip", type=_whole, default=0, metavar="N", help="leave out the first N segments of every file")
    p.add_argument("--first", type=_whole, metavar="N", help="then take no more than N of every file")
    p.add_argument("--input", type=_output, help="to write: what a base model may see of the segments")
    p.add_argument("--reference", type=_output, help="to write: what its output is held against")
    p.add_argument("--documents", type=_output, help="to write: a `domain<TAB>document` line a segment")
    p.add_argument("--output", type=_output, help="to write: the segments in the task's own format")

    p = command(_resample)
    p.add_argument("segments", type=Path, help="a whole training set, made by prepare")
    p.add_argument("--task", required=True, help="dependency, constituency or alignment")
    p.add_argument("--size", type=float, default=1.0, help="how many to draw, as a share of the whole; default: 1")
    p.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    p.add_argument("--name", required=True, help="tells this training set from others of the same seed")
    p.add_argument("--unlabelled", nargs="*", type=Path, default=[], help="segments to add as they are, without labels")
    p.add_argument("--output", type=_output, required=True)

    p = command(_jar)
    p.add_argument("coordinates", metavar="GROUP:ARTIFACT:VERSION")
    p.add_argument("--sha256", required=True, help="checksum of the jar")
    p.add_argument("--output", type=_output, required=True)

    p = command(_train)
    p.add_argument("training_set", type=Path)
    p.add_argument("--command", required=True, help="shell command with {train}, {model}, {seed}, {jars}, {threads}")
    p.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    p.add_argument("--model", type=Path, required=True, help="folder to make")
    _add_attempt_options(p)

    p = command(_predict)
    p.add_argument("segments", type=Path, help="what a base model may see of a test set, made by prepare")
    p.add_argument("--command", required=True, help="shell command with {model}, {input}, {output}, {outputs}, …")
    p.add_argument("--model", type=Path, help="folder made by train")
    p.add_argument("--members", nargs="*", type=Path, default=[], help="outputs of the members of an ensemble")
    p.add_argument("--output", type=_output, required=True)
    _add_attempt_options(p)

    p = command(_extract)
    p.add_argument("system_output", metavar="OUTPUT", help="file of outputs; archive.tar.xz!member works too")
    p.add_argument("--reference", nargs="+", required=True, help="reference file(s), several for BLEU, chrF and TER")
    p.add_argument("--metric", required=True)
    p.add_argument("--reader", help="by default the metric's own")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--output-option", action="append", default=[], metavar="KEY=VALUE", help="for reading the output")
    p.add_argument("--documents", help="file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--system", required=True, help="name of the system")
    p.add_argument("--leave-out-broken", action="store_true", help="write why, where the output cannot be used")
    p.add_argument("--group", help="who made it; the system itself by default")
    p.add_argument("--kind", default="", help="sort of entry, such as submission or online")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_collect)
    p.add_argument("counts", nargs="+", type=Path)
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--dated", action="store_true", help="the provenance tells the day, too")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_pool)
    p.add_argument("statistics", nargs="+", type=Path)
    p.add_argument("--dataset", required=True)
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_compare, TEST_HELP)
    p.add_argument("statistics", type=Path)
    _add_test_options(p)
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_merge)
    p.add_argument("parts", nargs="+", type=Path)
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_resize, TEST_HELP)
    p.add_argument("statistics", type=Path)
    p.add_argument("--initial", metavar="100,200,…", help="sizes of initial segments, or doubling:100")
    p.add_argument("--domain-size", type=int, metavar="N", help="first N segments of each domain")
    p.add_argument("--draws", type=int, default=0, metavar="K", help="K test sets drawn with replacement")
    p.add_argument("--draw-size", type=int, metavar="N", help="their size; by default the test set's")
    p.add_argument("--halves", type=int, default=0, metavar="K", help="K random splits into two halves")
    _add_test_options(p)
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_describe)
    p.add_argument("statistics", nargs="+", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_thresholds)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--datasets", type=Path, help="sheet with the columns dataset, task, pool: adds a row a task")
    p.add_argument("--p-low", type=float, default=0.04)
    p.add_argument("--p-high", type=float, default=0.06)
    p.add_argument("--percentile", type=float, default=95.0)
    p.add_argument("--min-pairs", type=int, default=10, help="below this many pairs in the window: too few")
    p.add_argument("--size-law", type=_TABLE, help="second output: the law of size fitted to initial segments")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_validate)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--overlay", action="append", default=[], metavar="SYNTHETIC=NATURAL", help="datasets to confront")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_similarity)
    p.add_argument("statistics", type=Path)
    p.add_argument("--metric", required=True)
    p.add_argument("--comparisons", type=Path, required=True)
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_calibrate)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--sheet", type=Path, required=True, help="which test set is held against which")
    p.add_argument("--published", type=Path, help="the paper's numbers, for --table-1")
    p.add_argument("--table-1", type=_TABLE, help="second output: in the layout of the paper's Table 1, beside it")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_approximate)
    p.add_argument(
        "--n-resamples", type=_whole, nargs="+", metavar="K", help="numbers of samples; default: the paper's"
    )
    p.add_argument("--n-simulated", type=_whole, default=40, metavar="N", help="pairs of systems simulated a size")
    p.add_argument(
        "--n-pairs", type=_whole, default=10, metavar="N", help="of them, tested by Monte Carlo; default: 10"
    )
    p.add_argument("--n-runs", type=_whole, default=5, metavar="N", help="times each, by other draws; default: 5")
    p.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    p.add_argument("--threads", type=_whole, help="default: all cores; changes nothing but time")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_race)
    p.add_argument("--n-segments", type=_whole, nargs="+", metavar="N", help="numbers of sentences")
    p.add_argument("--n-repeats", type=_whole, default=3, metavar="N", help="of which the median; default: 3")
    p.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    p.add_argument("--output", type=_TABLE, required=True)

    p = command(_plot)
    p.add_argument("figure")
    p.add_argument("tables", nargs="+", type=Path)
    p.add_argument("--output", nargs="+", type=_FIGURE, required=True, help="one file a format: .svg, .pdf, .png")

    p = command(_tabulate)
    p.add_argument("table", type=Path)
    p.add_argument("--caption", default="")
    p.add_argument("--output", nargs="+", type=_TEXT, required=True, help="one file a format: .csv, .md, .tex, .html")

    p = command(_check)
    p.add_argument("--published", type=Path, required=True)
    p.add_argument("--thresholds", type=Path, required=True)
    p.add_argument("--size-law", type=Path, required=True)
    p.add_argument("--calibration", type=Path, required=True)
    p.add_argument("--relative-error", type=Path, help="table of approximate")
    p.add_argument("--run-time", type=Path, help="table of race")
    p.add_argument("--output", type=_TABLE, required=True)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pairsig import __version__

        print(f"pairsig {__version__}")
        parser.exit()


def _add_attempt_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jars", type=Path, default=Path("jars"), help="folder of jars; default: jars")
    parser.add_argument("--threads", type=_whole, default=1, help="default: 1")
    parser.add_argument("--attempt", type=_part, metavar="K/M", help="if the last of M fails, write why and end well")


def _add_test_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--metric", help="may be left out when the columns fit one metric only")
    parser.add_argument("--test", default="bootstrap", help="bootstrap (default) or randomization")
    parser.add_argument("--variant", help="gt2 (default) or percentile; two-sided (default) or one-sided")
    parser.add_argument("--n-resamples", type=_whole, default=1_000_000, metavar="B", help="default: 1,000,000")
    parser.add_argument("--seed", type=_whole, default=2012, help="default: 2012")
    parser.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn or swapped")
    parser.add_argument("--threads", type=_whole, help="default: all cores; changes nothing but time")
    parser.add_argument("--batch", type=_whole, help="resamples a batch; changes nothing but time and memory")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/M", help="only part K of M of the resamples")


def _whole(text: str) -> int:
    """A whole number; 1e6 and 1_000_000 are understood too."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


_whole.__name__ = "whole number"  # argparse says "invalid … value"


def _part(text: str) -> tuple[int, int]:
    k, m = (int(number) for number in text.split("/"))
    if not 1 <= k <= m:
        raise argparse.ArgumentTypeError(f"found {text}, expected one from 1/{m} to {m}/{m}")
    return k, m


_part.__name__ = "K/M"


def _output(text: str, suffixes: Sequence[str] = ()) -> Path:
    """A file that can be written, as far as one can tell before the work is done."""
    path = Path(text)
    if suffixes and path.suffix not in suffixes:
        known = ", ".join(suffixes)
        raise argparse.ArgumentTypeError(f"{text} ends in {path.suffix or 'nothing'}, expected one of {known}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: the folder {path.parent} does not exist")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


_TABLE = partial(_output, suffixes=(".tsv", ".csv", ".parquet"))
_FIGURE = partial(_output, suffixes=(".svg", ".pdf", ".png"))
_TEXT = partial(_output, suffixes=(".csv", ".md", ".tex", ".html"))


def _test(arguments: argparse.Namespace) -> None:
    """Two systems (or more against the first): scores, gain, interval and p-values, ready to paste."""
    import pandas as pd

    from pairsig import readers, versus

    domains, documents = readers.read_documents(arguments.documents) if arguments.documents else ([], [])
    data, notes = versus.read_systems(
        arguments.systems,
        arguments.reader,
        references=arguments.reference,
        metrics=[name for name in arguments.metric.split(",") if name],
        options=_pairs(arguments.option),
        domains=domains,
        documents=documents,
    )
    found = []
    for systems, metrics in data:
        for first, second in systems.duplicates():
            _warn(f"systems {first} and {second} have the same counts on every segment, p = 1")
        table, further = versus.versus(
            systems,
            metrics,
            arguments.test.split(","),
            n_resamples=arguments.n_resamples,
            seed=arguments.seed,
            unit=arguments.unit,
            one_sided=arguments.one_sided,
            stop_at=None if arguments.stop_at is None else (arguments.stop_at, arguments.confidence),
            threads=arguments.threads,
        )
        found.append(table)
        notes += further
    for note in notes:
        print(f"pairsig: note: {note}", file=sys.stderr)
    print(versus.render(pd.concat(found, ignore_index=True), arguments.format))


def _fetch(arguments: argparse.Namespace) -> None:
    """Verify that a corpus folder holds the files it should, byte for byte."""
    from pairsig import corpora, tables

    verified = corpora.verify(arguments.corpus, arguments.sha256)
    with tables.replacing(arguments.output) as temporary:
        temporary.write_text("".join(f"{digest}  {name}\n" for name, digest in verified.items()), encoding="utf-8")


def _prepare(arguments: argparse.Namespace) -> None:
    """Segments of a corpus in the task's own format: a training set, or a test set and what may be seen of it."""
    from pairsig import corpora, tables

    options = _pairs(arguments.option)
    segments = corpora.read(arguments.task, arguments.files, options, skip=arguments.skip, first=arguments.first)
    task, whole = arguments.task, [one.text for one in segments]
    texts = {
        arguments.output: corpora.join(task, whole),
        arguments.input: corpora.join(task, [corpora.blank(task, text) for text in whole]),
        arguments.reference: corpora.join(task, [corpora.gold(task, text) for text in whole]),
        arguments.documents: "".join(f"{one.domain or '-'}\t{one.document or '-'}\n" for one in segments),
    }
    for path, text in texts.items():
        if path:
            with tables.replacing(path) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _resample(arguments: argparse.Namespace) -> None:
    """A training set whose segments are drawn with replacement from a whole one."""
    from pairsig import corpora, tables

    whole = corpora.cut(arguments.task, arguments.segments)
    drawn = corpora.resample(whole, arguments.size, arguments.seed, arguments.name)
    for path in arguments.unlabelled:
        drawn += corpora.cut(arguments.task, path)
    with tables.replacing(arguments.output) as temporary:
        temporary.write_text(corpora.join(arguments.task, drawn), encoding="utf-8")


def _jar(arguments: argparse.Namespace) -> None:
    """A Java library by its Maven coordinates, checksum enforced."""
    from pairsig import base_models

    base_models.jar(arguments.coordinates, arguments.sha256, arguments.output)


def _train(arguments: argparse.Namespace) -> None:
    """A base model's train command, run on a training set."""
    from pairsig import base_models

    try:
        base_models.train(
            arguments.command,
            arguments.training_set,
            arguments.model,
            seed=arguments.seed,
            jars=arguments.jars,
            threads=arguments.threads,
        )
    except base_models.CommandError as error:
        if not _is_last(arguments.attempt):
            raise
        base_models.give_up(arguments.model, f"train: {error}")
        _warn(f"{arguments.model} is left out: {error}")


def _predict(arguments: argparse.Namespace) -> None:
    """A base model's predict command, run on what it may see of a test set."""
    from pairsig import base_models

    try:
        base_models.predict(
            arguments.command,
            arguments.model,
            arguments.segments,
            arguments.output,
            members=arguments.members,
            jars=arguments.jars,
            threads=arguments.threads,
        )
    except base_models.CommandError as error:
        if not _is_last(arguments.attempt):
            raise
        base_models.record(arguments.output, f"predict: {error}")
        _warn(f"{arguments.output} is left out: {error}")


def _is_last(attempt: tuple[int, int] | None) -> bool:
    return attempt is not None and attempt[0] == attempt[1]


def _extract(arguments: argparse.Namespace) -> None:
    """Counts of one system from its output and the reference."""
    from pairsig import base_models, readers, statistics
    from pairsig.extraction import extract

    options = _pairs(arguments.option)
    domains: list[str] = []
    documents: list[str] = []
    if arguments.documents:
        skip = options.get("skip_lines", "0")
        if not skip.isdecimal():
            raise InputError(f"option skip_lines is {skip!r}, expected a whole number")
        domains, documents = readers.read_documents(arguments.documents, skip_lines=int(skip))
    try:
        if arguments.leave_out_broken and (reason := base_models.failure(Path(arguments.system_output))):
            raise base_models.CommandError(reason)
        counted = extract(
            arguments.system_output,
            arguments.reference,
            metric=arguments.metric,
            reader=arguments.reader,
            options=options,
            output_options=_pairs(arguments.output_option),
            system=arguments.system,
            group=arguments.group,
            kind=arguments.kind,
            domains=domains,
            documents=documents,
        )
    except InputError as error:
        if not arguments.leave_out_broken:
            raise
        statistics.write_left_out(arguments.system, str(error), arguments.output)
        _warn(f"system {arguments.system} is left out: {error}")
        return
    statistics.write(counted, arguments.output)


def _collect(arguments: argparse.Namespace) -> None:
    """Statistics of a dataset from the counts of its systems."""
    from datetime import date

    from pairsig import statistics

    left_out = {path: found for path in arguments.counts if (found := statistics.read_left_out(path))}
    for system, reason in left_out.values():
        _warn(f"dataset {arguments.dataset}: system {system} is left out: {reason}")
    parts = [statistics.read(path) for path in arguments.counts if path not in left_out]
    if not parts:
        raise InputError(
            f"dataset {arguments.dataset}: all {len(left_out)} systems are left out, expected some to remain"
        )
    provenance = dict(_pairs(arguments.provenance))
    if arguments.dated:
        provenance["date"] = f"{date.today():%Y-%m-%d}"
    if left_out:
        provenance["left_out"] = "\n".join(f"{system}\t{reason}" for system, reason in left_out.values())
    whole = statistics.collect(parts, dataset=arguments.dataset, provenance=provenance)
    for first, second in whole.duplicates():
        _warn(f"dataset {whole.dataset}: systems {first} and {second} have the same counts on every segment")
    statistics.write(whole, arguments.output)


def _pool(arguments: argparse.Namespace) -> None:
    """One test set out of several, for the systems present in all of them."""
    from pairsig import statistics

    parts = [statistics.read(path) for path in arguments.statistics]
    statistics.write(statistics.pool(parts, dataset=arguments.dataset), arguments.output)


def _compare(arguments: argparse.Namespace) -> None:
    """Test every pair of systems of a dataset, on draws shared by all."""
    from pairsig import comparisons, tables

    data = _read_statistics(arguments.statistics)
    with _progress(f"compare {data.dataset}", arguments.n_resamples // arguments.part[1]) as progress:
        table = comparisons.compare(data, progress=progress, **_test_options(arguments))
    tables.write(table, arguments.output)


def _merge(arguments: argparse.Namespace) -> None:
    """Comparisons over all resamples from those over parts of them."""
    from pairsig import comparisons, tables

    tables.write(comparisons.merge(map(comparisons.read, arguments.parts)), arguments.output)


def _resize(arguments: argparse.Namespace) -> None:
    """Test every pair on other test sets made from this one: initial segments, domains, draws, halves."""
    from pairsig import comparisons, tables

    data = _read_statistics(arguments.statistics)
    kinds = {
        "initial": _initial(arguments.initial, len(data.segments)),
        "domain_size": arguments.domain_size,
        "draws": arguments.draws,
        "draw_size": arguments.draw_size,
        "halves": arguments.halves,
    }
    n_sets = sum(1 for _ in comparisons.other_test_sets(data, seed=arguments.seed, **kinds))
    n_resamples = arguments.n_resamples // arguments.part[1]
    with _progress(f"resize {data.dataset}", n_sets * n_resamples) as progress:
        table = comparisons.resize(data, progress=progress, **kinds, **_test_options(arguments))
    tables.write(table, arguments.output)


def _describe(arguments: argparse.Namespace) -> None:
    """How many systems there are, how good they are, and which had to be left out."""
    import pandas as pd

    from pairsig import analysis, statistics, tables
    from pairsig.metrics import registry

    given = [(Path(path), metric) for path, _, metric in (item.rpartition(":") for item in arguments.statistics)]
    found = [analysis.systems(statistics.read(path), registry.metric(metric)) for path, metric in given]
    tables.write(pd.concat(found, ignore_index=True), arguments.output)


def _thresholds(arguments: argparse.Namespace) -> None:
    """The gain above which a comparison is probably significant, and the law of test-set size."""
    from pairsig import analysis, tables

    tasks = None
    if arguments.datasets:
        sheet = tables.read(arguments.datasets, ("dataset", "task", "pool"), key=("dataset",))
        own = sheet[sheet["pool"] == ""]
        tasks = dict(zip(own["dataset"], own["task"], strict=True))
    found = analysis.thresholds(
        _read_comparisons(arguments.comparisons),
        tasks=tasks,
        p_low=arguments.p_low,
        p_high=arguments.p_high,
        percentile=arguments.percentile,
        min_pairs=arguments.min_pairs,
    )
    law = analysis.size_law(found)
    tables.write(found, arguments.output)
    if arguments.size_law:
        tables.write(law, arguments.size_law)


def _validate(arguments: argparse.Namespace) -> None:
    """Whether synthetic comparisons tell what natural ones do: the gains at p = 0.05 of both."""
    from pairsig import analysis, tables

    found = analysis.validation(_read_comparisons(arguments.comparisons), _pairs(arguments.overlay))
    tables.write(found, arguments.output)


def _similarity(arguments: argparse.Namespace) -> None:
    """How alike the systems of each pair are, and the standard error of their gain."""
    from pairsig import analysis, tables
    from pairsig.metrics import registry

    metric = registry.metric(arguments.metric)
    data = _read_statistics(arguments.statistics)
    compared = _read_comparisons([arguments.comparisons])
    tables.write(analysis.similarity(data, metric, compared), arguments.output)


def _calibrate(arguments: argparse.Namespace) -> None:
    """How often the better system on one test set is the better one on another, by p-value."""
    from pairsig import analysis, tables

    columns = ("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set")
    sheet = tables.read(arguments.sheet, columns, key=columns)
    published = None
    if arguments.table_1:
        if arguments.published is None:
            raise InputError("--table-1 needs the paper's numbers: expected --published too")
        published = tables.read(arguments.published, ("item", "published", "compared_with"), key=("item",))
    compared = _read_comparisons(arguments.comparisons)
    run = sheet[["on_dataset", "against_dataset"]].isin(set(compared["dataset"]))
    for index in sheet.index[~run.all(axis=1)]:
        dataset = sheet.loc[index, run.columns[~run.loc[index]][0]]
        _warn(f"{arguments.sheet}, line {index + 2}: dataset {dataset} has not been compared, the line is left out")
    found = analysis.calibration(compared, sheet[run.all(axis=1)], source=str(arguments.sheet))
    beside = None if published is None else analysis.beside(found, published)
    tables.write(found, arguments.output)
    if beside is not None:
        tables.write(beside, arguments.table_1)


def _approximate(arguments: argparse.Namespace) -> None:
    """Relative error of Monte Carlo p-values on simulated systems, by the number of samples."""
    from pairsig import montecarlo, tables

    found = montecarlo.approximate(
        arguments.n_resamples or montecarlo.SAMPLES,
        n_simulated=arguments.n_simulated,
        n_pairs=arguments.n_pairs,
        n_runs=arguments.n_runs,
        seed=arguments.seed,
        threads=arguments.threads,
    )
    tables.write(found, arguments.output)


def _race(arguments: argparse.Namespace) -> None:
    """Seconds of the exact test and of Monte Carlo on simulated systems, by the number of sentences."""
    from pairsig import montecarlo, tables

    sizes = arguments.n_segments or montecarlo.SENTENCES
    tables.write(montecarlo.race(sizes, n_repeats=arguments.n_repeats, seed=arguments.seed), arguments.output)


def _plot(arguments: argparse.Namespace) -> None:
    """A figure from tables."""
    from pairsig import tables

    try:
        from pairsig import figures
    except ModuleNotFoundError as error:
        module = (error.name or "matplotlib").partition(".")[0]
        raise InputError(f"figures need the Python module {module}: install pairsig[workflow]") from None
    draw = figures.FIGURES[choose(arguments.figure, figures.FIGURES, "figure")]
    taken = inspect.signature(draw)
    try:
        taken.bind(*arguments.tables)
    except TypeError:
        found = len(arguments.tables)
        raise InputError(f"found {found} tables for {arguments.figure}, expected {_told(taken)}") from None
    figure = draw(*(tables.read(path) for path in arguments.tables))
    for path in arguments.output:
        figures.save(figure, path)


def _told(signature: inspect.Signature) -> str:
    """Parameters of a function as a user gives them: `thresholds [size_law]`, `comparisons …`."""
    return " ".join(
        f"{one.name} …" if one.kind is one.VAR_POSITIONAL else one.name if one.default is one.empty else f"[{one.name}]"
        for one in signature.parameters.values()
    )


def _tabulate(arguments: argparse.Namespace) -> None:
    """A table in the formats papers and pages need."""
    from pairsig import tables

    table = tables.read(arguments.table)
    texts = {
        path: tables.render(table, path.suffix.lstrip("."), caption=arguments.caption) for path in arguments.output
    }
    for path, text in texts.items():
        with tables.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _check(arguments: argparse.Namespace) -> None:
    """Ours beside the paper's, with a verdict."""
    from pairsig import analysis, tables

    published = "item page what published unit n_segments tolerance compared_with"
    threshold = "dataset test_set test subset n_segments n_pairs threshold low high verdict"
    law = "dataset test subset exponent exponent_low exponent_high"
    calibration = "calibration distance p_low p_high n_pairs share share_low share_high"
    error = "metric n_segments n_simulated p_mean p_sd n_resamples error"
    seconds = "metric n_segments test n_resamples seconds seconds_low seconds_high"
    found = analysis.check(
        tables.read(arguments.published, published.split(), key=("item",)),
        thresholds=tables.read(arguments.thresholds, threshold.split()),
        size_law=tables.read(arguments.size_law, law.split()),
        calibration=tables.read(arguments.calibration, calibration.split()),
        relative_error=tables.read(arguments.relative_error, error.split()) if arguments.relative_error else None,
        run_time=tables.read(arguments.run_time, seconds.split()) if arguments.run_time else None,
        source=str(arguments.published),
    )
    tables.write(found, arguments.output)
    for verdict, number in found["verdict"].value_counts().items():
        print(f"{verdict}: {number}")


def _read_statistics(path: Path) -> Any:
    from pairsig import statistics

    data = statistics.read(path)
    for first, second in data.duplicates():
        _warn(f"dataset {data.dataset}: systems {first} and {second} have the same counts on every segment, p = 1")
    return data


def _read_comparisons(paths: Sequence[Path]) -> pd.DataFrame:
    import pandas as pd

    from pairsig import comparisons

    return pd.concat(map(comparisons.read, paths), ignore_index=True)


def _test_options(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("metric", "test", "variant", "n_resamples", "seed", "unit", "threads", "batch", "part")
    return {name: getattr(arguments, name) for name in names}


def _initial(text: str | None, n_segments: int) -> list[int] | None:
    from pairsig.comparisons import doubling

    if text is None:
        return None
    try:
        if text.startswith("doubling:"):
            return doubling(int(text.removeprefix("doubling:")), n_segments)
        sizes = [int(size) for size in text.split(",")]
        if min(sizes) < 1:
            raise InputError(f"the initial sizes are {text}, expected them to be at least 1")
        return sizes
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the initial sizes are {text!r}, expected 100,200,… or doubling:100") from None


def _pairs(items: Sequence[str]) -> Mapping[str, str]:
    pairs = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not (key and equals):
            raise InputError(f"found {item!r}, expected KEY=VALUE")
        pairs[key] = value
    return pairs


def _warn(sentence: str) -> None:
    print(f"pairsig: warning: {sentence}", file=sys.stderr)


@contextmanager
def _progress(label: str, total: int) -> Iterator[Progress | None]:
    """A progress bar on a terminal, for what takes longer than two seconds; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import Progress as Bar

    started = time.monotonic()
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, visible=False)

        def advance(resamples: int) -> None:
            bar.update(task, advance=resamples, visible=time.monotonic() - started > 2)

        yield advance


if __name__ == "__main__":
    sys.exit(main())
