"""The command line of the study: one command a stage, called by the workflow.

Everything heavy is imported by the command that needs it.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pairsig import console
from pairsig.choices import choose
from pairsig.cli import TEST_HELP, add_test_options, read_statistics, test_options
from pairsig.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.columns import Table
    from pairsig.metrics import Metric
    from pairsig.statistics import Statistics

_FIGURE = partial(console.output, suffixes=(".svg", ".pdf", ".png"))
_TEXT = partial(console.output, suffixes=(".csv", ".md", ".tex", ".html"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used."""
    return _commands().main(argv)


def _commands() -> console.Commands:
    commands = console.Commands("python -m study", "The study: corpora, base models, analyses, figures and tables.")

    p = commands.add(_fetch)
    p.add_argument("corpus", type=Path, metavar="FOLDER")
    p.add_argument("--sha256", required=True, help="checksum of the folder's own SHA256SUMS")
    p.add_argument("--output", type=console.output, required=True, help="what was verified: the list of checksums")

    p = commands.add(_prepare)
    p.add_argument("files", nargs="+", metavar="[DOMAIN=]FILE", help="files of a corpus")
    p.add_argument("--task", required=True, help="dependency, constituency, alignment or mt")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for reading the corpus")
    p.add_argument("--skip", type=console.whole, default=0, metavar="N", help="leave out the first N of every file")
    p.add_argument("--first", type=console.whole, metavar="N", help="then take no more than N of every file")
    held = "take these alone, but for those whose text is among the others"
    p.add_argument("--hold-out", type=console.whole, default=0, metavar="N", help="leave out every Nth of what is left")
    p.add_argument("--held-out", type=console.whole, default=0, metavar="N", help=held)
    p.add_argument("--input", type=console.output, help="to write: what a base model may see of the segments")
    p.add_argument("--reference", type=console.output, help="to write: what its output is scored against")
    p.add_argument("--documents", type=console.output, help="to write: a `domain<TAB>document` line a segment")
    p.add_argument("--output", type=console.output, help="to write: the segments in the task's own format")

    p = commands.add(_resample)
    p.add_argument("segments", type=Path, help="a whole training set, made by prepare")
    p.add_argument("--task", required=True, help="dependency, constituency, alignment or mt")
    p.add_argument("--size", type=float, default=1.0, help="how many to draw, as a share of the whole; default: 1")
    p.add_argument("--whole", action="store_true", help="draw none: take all, as they are")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--name", required=True, help="distinguishes this training set from others with the same seed")
    p.add_argument("--unlabelled", nargs="*", type=Path, default=[], help="segments to add as they are, without labels")
    p.add_argument("--output", type=console.output, required=True)

    p = commands.add(_jar)
    p.add_argument("coordinates", metavar="GROUP:ARTIFACT:VERSION")
    p.add_argument("--sha256", required=True, help="checksum of the jar")
    p.add_argument("--output", type=console.output, required=True)

    p = commands.add(_train)
    p.add_argument("training_set", type=Path)
    p.add_argument("--command", required=True, help="shell command with {train}, {model}, {seed}, {jars}, {threads}")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--given", type=Path, help="folder of another model, made by train: {given}")
    p.add_argument("--model", type=Path, required=True, help="folder to make")
    _add_attempt_options(p)

    p = commands.add(_predict)
    p.add_argument("segments", type=Path, help="what a base model may see of a test set, made by prepare")
    p.add_argument("--command", required=True, help="shell command with {model}, {input}, {output}, {outputs}, …")
    p.add_argument("--model", type=Path, help="folder made by train")
    p.add_argument("--given", type=Path, help="that of another model: {given}")
    p.add_argument("--members", nargs="*", type=Path, default=[], help="outputs of the members of an ensemble")
    p.add_argument("--output", type=console.output, required=True)
    _add_attempt_options(p)

    p = commands.add(_resize, TEST_HELP)
    p.add_argument("statistics", type=Path)
    p.add_argument("--initial", metavar="100,200,…", help="sizes of initial segments, or doubling:100")
    p.add_argument("--shuffle", type=int, metavar="SEED", help="of the order they are of; by default the test set's")
    p.add_argument("--domain-size", type=int, metavar="N", help="first N segments of each domain")
    p.add_argument("--document-size", type=int, metavar="N", help="first N segments of each document")
    p.add_argument("--draws", type=int, default=0, metavar="K", help="K test sets drawn with replacement")
    p.add_argument("--draw-size", type=int, metavar="N", help="their size; by default the test set's")
    p.add_argument("--halves", type=int, default=0, metavar="K", help="K random splits into two halves")
    add_test_options(p)
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_count)
    p.add_argument("files", nargs="+", metavar="FILE", help="outcomes of a benchmark, all of its systems in one")
    p.add_argument("--reader", required=True, help="llmbar, mmlu_pro, livebench, bfcl, scores or values")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader")
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", action="append", default=[], metavar="KEY=VALUE", help="kept with the statistics")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_describe)
    p.add_argument("statistics", nargs="+", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_ranks)
    p.add_argument("statistics", nargs="+", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--n-resamples", type=console.whole, default=10_000, help="shuffles; default: 10000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_trainings)
    p.add_argument("statistics", nargs="*", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--splits", type=console.whole, default=10, metavar="K", help="of the segments into halves")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--better-method", type=console.table, required=True, help="second output: whom p near 0.05 names")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_thresholds)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--datasets", type=Path, help="sheet with the columns dataset, task, pool: adds a row a task")
    p.add_argument("--p-low", type=float, default=0.04)
    p.add_argument("--p-high", type=float, default=0.06)
    p.add_argument("--percentile", type=float, default=95.0)
    p.add_argument("--min-pairs", type=int, default=10, help="below this many pairs in the window: too few")
    p.add_argument("--size-law", type=console.table, help="second output: the law of size fitted to initial segments")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_validate)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--overlay", action="append", default=[], metavar="SYNTHETIC=NATURAL", help="datasets to compare")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_claims)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--systems", type=Path, help="table of describe: how long the segments are")
    given = "statistics of some datasets, for both variants of the bootstrap, other orders and other metrics"
    p.add_argument("--statistics", nargs="*", default=[], metavar="STATISTICS:METRIC", help=given)
    p.add_argument("--n-resamples", type=console.whole, default=100_000, help="of each variant; default: 100000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_law)
    p.add_argument("comparisons", nargs="+", type=Path, help="of whole test sets; no pools")
    p.add_argument("--systems", type=Path, required=True, help="table of describe: how long the segments are")
    p.add_argument("--overlaps", type=Path, help="how alike the outputs of some pairs are")
    p.add_argument("--errors", type=console.table, help="second output: the error of this law and of others")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_overlaps)
    p.add_argument("dataset")
    p.add_argument("outputs", nargs="+", metavar="SYSTEM=FILE", help="outputs of its systems, a segment a line")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the metric: tokenize=zh")
    p.add_argument("--pairs", type=console.whole, default=8, metavar="N", help="pairs, drawn; default: 8")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_calibrate)
    p.add_argument("comparisons", nargs="+", type=Path)
    p.add_argument("--sheet", type=Path, required=True, help="which test sets are compared with which")
    p.add_argument("--published", type=Path, help="the paper's numbers, for --table-1")
    p.add_argument("--population", metavar="DATASET", help="whose gains stand for the paper's true ones in --table-1")
    p.add_argument("--table-1", type=console.table, help="second output: in the layout of the paper's Table 1")
    p.add_argument("--pairs", type=console.table, help="third output: the pairs that are counted")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_heterogeneity)
    p.add_argument("statistics", nargs="+", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--families", type=Path, required=True, help="sheet: which test sets are of one family")
    p.add_argument("--next", type=console.table, required=True, help="second output: predicted chances, and who won")
    p.add_argument(
        "--borrowed", type=console.table, required=True, help="third output: what the library knows families by"
    )
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_documents)
    p.add_argument("statistics", nargs="+", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--seed", type=console.whole, default=2012, help="of splits and shuffles; default: 2012")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_leaderboards)
    p.add_argument("statistics", nargs="*", metavar="STATISTICS:METRIC", help="a file of statistics, and its metric")
    p.add_argument("--n-resamples", type=console.whole, default=100_000, help="where no exact test is; default: 100000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--items-needed", type=console.table, required=True, help="second output: the gains that items show")
    p.add_argument("--dollars", type=console.table, required=True, help="third output: what it costs to decide a pair")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_approximate)
    p.add_argument(
        "--n-resamples", type=console.whole, nargs="+", metavar="K", help="numbers of samples; default: the paper's"
    )
    p.add_argument("--n-simulated", type=console.whole, default=40, metavar="N", help="pairs simulated a size")
    p.add_argument(
        "--n-pairs", type=console.whole, default=10, metavar="N", help="of them, tested by Monte Carlo; default: 10"
    )
    p.add_argument("--n-runs", type=console.whole, default=5, metavar="N", help="times each; default: 5")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_race)
    p.add_argument("--n-segments", type=console.whole, nargs="+", metavar="N", help="numbers of sentences")
    p.add_argument("--n-repeats", type=console.whole, default=3, metavar="N", help="of which the median; default: 3")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_plot)
    p.add_argument("figure")
    p.add_argument("tables", nargs="+", metavar="TABLE")
    formats = "one file a format: .svg, .pdf, .png"
    p.add_argument("--output", nargs="+", action="append", type=_FIGURE, required=True, metavar="FILE", help=formats)
    more = "one more figure, with an --output of its own"
    p.add_argument("--and", nargs="+", action="append", default=[], dest="more", metavar=("FIGURE", "TABLE"), help=more)

    p = commands.add(_tabulate)
    p.add_argument("tables", nargs="+", type=Path, metavar="TABLE")
    p.add_argument("--caption", default="")
    formats = "one file a format: .csv, .md, .tex, .html; of several tables, each has the name of its table"
    p.add_argument("--output", nargs="+", type=_TEXT, required=True, metavar="FILE", help=formats)

    p = commands.add(_site)
    p.add_argument("tables", nargs="+", type=Path, metavar="TABLE", help="of the study: results/tables/*.tsv")
    p.add_argument("--comparisons", nargs="+", type=Path, required=True, help="of whole test sets, of one test")
    p.add_argument("--test-sets", nargs="*", type=Path, default=[], help="those of resize")
    p.add_argument("--calibrated", type=Path, required=True, help="the pairs of calibrate")
    p.add_argument("--datasets", type=Path, required=True, help="sheet of datasets")
    p.add_argument("--corpora", type=Path, required=True, help="sheet of corpora")
    p.add_argument("--figures", nargs="*", type=Path, default=[], metavar="SVG", help="those of plot")
    p.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="folder to make, or to make anew")

    p = commands.add(_check)
    p.add_argument("--published", type=Path, required=True)
    p.add_argument("--thresholds", type=Path, required=True)
    p.add_argument("--size-law", type=Path, required=True)
    p.add_argument("--calibration", type=Path, required=True)
    p.add_argument("--systems", type=Path, help="table of describe: scales thresholds by words, brackets or links, too")
    p.add_argument("--claims", type=Path, help="table of claims: how exponents vary with the order of the segments")
    p.add_argument("--relative-error", type=Path, help="table of approximate")
    p.add_argument("--run-time", type=Path, help="table of race")
    p.add_argument("--output", type=console.table, required=True)
    return commands


def _add_attempt_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jars", type=Path, default=Path("jars"), help="folder of jars; default: jars")
    parser.add_argument("--threads", type=console.whole, default=1, help="default: 1")
    parser.add_argument(
        "--attempt",
        type=console.part,
        metavar="K/M",
        help="which attempt this is; if the last one fails, record why and succeed",
    )


def _fetch(arguments: argparse.Namespace) -> None:
    """Verify that a corpus folder holds the files it should, byte for byte."""
    from pairsig import tables
    from study import corpora

    verified = corpora.verify(arguments.corpus, arguments.sha256)
    with tables.replacing(arguments.output) as temporary:
        temporary.write_text("".join(f"{digest}  {name}\n" for name, digest in verified.items()), encoding="utf-8")


def _prepare(arguments: argparse.Namespace) -> None:
    """Segments of a corpus in the task's own format: a training set, or a test set and what may be seen of it."""
    from pairsig import tables
    from study import corpora

    options = console.pairs(arguments.option)
    selection = {name: getattr(arguments, name) for name in corpora.SELECTION}
    segments = corpora.read(arguments.task, arguments.files, options, **selection)
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
    from pairsig import tables
    from study import corpora

    whole = corpora.cut(arguments.task, arguments.segments)
    drawn = whole
    if not arguments.whole:
        drawn = corpora.resample(whole, arguments.size, arguments.seed, arguments.name)
    for path in arguments.unlabelled:
        drawn += corpora.cut(arguments.task, path)
    with tables.replacing(arguments.output) as temporary:
        temporary.write_text(corpora.join(arguments.task, drawn), encoding="utf-8")


def _jar(arguments: argparse.Namespace) -> None:
    """A Java library by its Maven coordinates, checksum enforced."""
    from study import base_models

    base_models.jar(arguments.coordinates, arguments.sha256, arguments.output)


def _train(arguments: argparse.Namespace) -> None:
    """A base model's train command, run on a training set."""
    from pairsig.omission import Omission
    from study import base_models

    try:
        base_models.train(
            arguments.command,
            arguments.training_set,
            arguments.model,
            seed=arguments.seed,
            given=arguments.given,
            jars=arguments.jars,
            threads=arguments.threads,
        )
    except base_models.CommandError as error:
        if not _is_last(arguments.attempt):
            raise
        base_models.give_up(arguments.model, Omission("train", str(error)))
        console.warn(f"{arguments.model} is left out: {error}")


def _predict(arguments: argparse.Namespace) -> None:
    """A base model's predict command, run on what it may see of a test set."""
    from pairsig.omission import Omission
    from study import base_models

    try:
        base_models.predict(
            arguments.command,
            arguments.model,
            arguments.segments,
            arguments.output,
            members=arguments.members,
            given=arguments.given,
            jars=arguments.jars,
            threads=arguments.threads,
        )
    except base_models.CommandError as error:
        if not _is_last(arguments.attempt):
            raise
        Omission("predict", str(error)).write(arguments.output)
        console.warn(f"{arguments.output} is left out: {error}")


def _is_last(attempt: tuple[int, int] | None) -> bool:
    return attempt is not None and attempt[0] == attempt[1]


def _resize(arguments: argparse.Namespace) -> None:
    """Test every pair on other test sets made from this one: initial segments, domains, draws, halves."""
    from pairsig import tables
    from study.resize import other_test_sets, resize

    data = read_statistics(arguments.statistics)
    kinds = {
        "initial": _initial(arguments.initial, len(data.segments)),
        "shuffle": arguments.shuffle,
        "domain_size": arguments.domain_size,
        "document_size": arguments.document_size,
        "draws": arguments.draws,
        "draw_size": arguments.draw_size,
        "halves": arguments.halves,
    }
    n_sets = sum(1 for _ in other_test_sets(data, seed=arguments.seed, **kinds))
    n_resamples = arguments.n_resamples // arguments.part[1]
    with console.progress(f"resize {data.dataset}", n_sets * n_resamples) as progress:
        table = resize(data, progress=progress, **kinds, **test_options(arguments))
    tables.write(table, arguments.output)


def _count(arguments: argparse.Namespace) -> None:
    """Statistics of a benchmark from the outcomes that others have published."""
    from pairsig import statistics
    from study import outcomes

    found = outcomes.read(
        arguments.reader,
        arguments.files,
        console.pairs(arguments.option),
        dataset=arguments.dataset,
        provenance=console.pairs(arguments.provenance),
    )
    for omission in found.omissions:
        console.warn(f"dataset {found.dataset}: system {omission.system} is left out: {omission}")
    for first, second in found.duplicates():
        console.warn(f"dataset {found.dataset}: systems {first} and {second} have the same counts on every segment")
    statistics.write(found, arguments.output)


def _describe(arguments: argparse.Namespace) -> None:
    """How many systems there are, how good they are, and which had to be left out."""
    import pandas as pd

    from pairsig import tables
    from study import analysis

    found = [analysis.describe(*given) for given in _read_with_metrics(arguments.statistics)]
    tables.write(pd.concat(found, ignore_index=True), arguments.output)


def _ranks(arguments: argparse.Namespace) -> None:
    """The systems of every dataset with their scores, and the ranks they may have."""
    import pandas as pd

    from pairsig import tables
    from study import analysis

    given = {name: getattr(arguments, name) for name in ("n_resamples", "seed", "threads")}
    found = [analysis.ranks(*one, **given) for one in _read_with_metrics(arguments.statistics)]
    tables.write(pd.concat(found, ignore_index=True), arguments.output)


def _trainings(arguments: argparse.Namespace) -> None:
    """How much trainings of one method differ, and how often p near 0.05 names the better method."""
    from pairsig import tables
    from study import analysis

    datasets = _read_with_metrics(arguments.statistics)
    found, better = analysis.trainings(datasets, splits=arguments.splits, seed=arguments.seed)
    tables.write(found, arguments.output)
    tables.write(better, arguments.better_method)


def _thresholds(arguments: argparse.Namespace) -> None:
    """The gain above which a comparison is probably significant, and the law of test-set size."""
    from pairsig import tables
    from study import analysis, columns

    tasks = None
    if arguments.datasets:
        sheet = columns.read(arguments.datasets, columns.DATASETS)
        own = sheet[sheet["pool"] == ""]
        tasks = dict(zip(own["dataset"], own["task"], strict=True))
    comparisons = _read_comparisons(arguments.comparisons)
    found = analysis.thresholds(
        comparisons,
        tasks=tasks,
        p_low=arguments.p_low,
        p_high=arguments.p_high,
        percentile=arguments.percentile,
        min_pairs=arguments.min_pairs,
    )
    law = analysis.size_law(comparisons, tasks=tasks)
    tables.write(found, arguments.output)
    if arguments.size_law:
        tables.write(law, arguments.size_law)


def _validate(arguments: argparse.Namespace) -> None:
    """Whether synthetic comparisons agree with natural ones: the gains at p = 0.05 of both."""
    from pairsig import tables
    from study import analysis

    found = analysis.validate(_read_comparisons(arguments.comparisons), console.pairs(arguments.overlay))
    tables.write(found, arguments.output)


def _claims(arguments: argparse.Namespace) -> None:
    """Small claims of the papers, and why numbers of ours are not theirs."""
    from pairsig import tables
    from study import analysis, columns

    found = analysis.claims(
        _read_comparisons(arguments.comparisons),
        list(_read_with_metrics(arguments.statistics)),
        systems=columns.read(arguments.systems, columns.SYSTEMS) if arguments.systems else None,
        n_resamples=arguments.n_resamples,
        seed=arguments.seed,
        threads=arguments.threads,
    )
    tables.write(found, arguments.output)


def _law(arguments: argparse.Namespace) -> None:
    """What the standard error of a gain is before there is a test set, and how well that is told of others."""
    from pairsig import tables
    from study import analysis, columns

    found, errors = analysis.law(
        _read_comparisons(arguments.comparisons),
        columns.read(arguments.systems, columns.SYSTEMS),
        columns.read(arguments.overlaps, columns.OVERLAPS) if arguments.overlaps else None,
    )
    tables.write(found, arguments.output)
    if arguments.errors:
        tables.write(errors, arguments.errors)


def _overlaps(arguments: argparse.Namespace) -> None:
    """How alike the outputs of pairs of systems are, without any reference."""
    from itertools import combinations

    import numpy as np

    from pairsig import planning, readers, tables
    from study import columns

    outputs = dict(console.pairs(arguments.outputs))
    options = console.pairs(arguments.option)
    pairs = list(combinations(outputs, 2))
    chosen = np.random.default_rng(arguments.seed).permutation(len(pairs))[: arguments.pairs]
    rows = []
    for place in sorted(chosen.tolist()):
        one, other = (readers.read("text", outputs[name]) for name in pairs[place])
        rows.append(
            {
                "dataset": arguments.dataset,
                "system_a": pairs[place][0],
                "system_b": pairs[place][1],
                "bleu": round(100 * planning.overlap_of(one, other, **options), 3),
                "same": round(sum(a == b for a, b in zip(one, other, strict=True)) / len(one), 5),
            }
        )
    tables.write(tables.frame(columns.OVERLAPS, rows), arguments.output)


def _calibrate(arguments: argparse.Namespace) -> None:
    """How often the better system on one test set is the better one on another, by p-value."""
    from pairsig import tables
    from study import analysis, columns
    from study.test_sets import is_whole, matches

    sheet = columns.read(arguments.sheet, columns.CALIBRATIONS)
    published = None
    if arguments.table_1:
        if arguments.published is None:
            raise InputError("--table-1 needs the paper's numbers: expected --published too")
        published = columns.read(arguments.published, columns.PUBLISHED)
    compared = _read_comparisons(arguments.comparisons)
    datasets = set(compared["dataset"])
    run = sheet[["on_dataset", "against_dataset"]].map(
        lambda patterns: any(matches(dataset, patterns) for dataset in datasets)
    )
    for index in sheet.index[~run.all(axis=1)]:
        dataset = sheet.loc[index, run.columns[~run.loc[index]][0]]
        console.warn(
            f"{arguments.sheet}, line {index + 2}: dataset {dataset} has not been compared, the line is left out"
        )
    sheet = sheet[run.all(axis=1)]
    found = analysis.calibrate(compared, sheet, source=str(arguments.sheet))
    beside = None
    if published is not None:
        of = compared[(compared["dataset"] == arguments.population) & is_whole(compared)]
        if of.empty and arguments.population:
            console.warn(f"dataset {arguments.population} has not been compared: no share is expected of the paper's")
        beside = analysis.table_1(found, published, None if of.empty else of)
    if arguments.pairs:
        tables.write(analysis.calibrated(compared, sheet, source=str(arguments.sheet)), arguments.pairs)
    tables.write(found, arguments.output)
    if beside is not None:
        tables.write(beside, arguments.table_1)


def _heterogeneity(arguments: argparse.Namespace) -> None:
    """How much gains differ between test sets of a family, and whether that tells who wins on the next."""
    from pairsig import tables
    from study import columns
    from study.analysis.heterogeneity import borrowed, heterogeneity

    sheet = columns.read(arguments.families, columns.FAMILIES)
    found, chances = heterogeneity(_read_with_metrics(arguments.statistics), sheet, source=str(arguments.families))
    tables.write(found, arguments.output)
    tables.write(chances, arguments.next)
    tables.write(borrowed(found), arguments.borrowed)


def _documents(arguments: argparse.Namespace) -> None:
    """What documents do to p-values: design effects, and calibration on halves of the documents."""
    from pairsig import tables
    from study.analysis.documents import documents

    tables.write(documents(_read_with_metrics(arguments.statistics), seed=arguments.seed), arguments.output)


def _leaderboards(arguments: argparse.Namespace) -> None:
    """What leaderboards tell: neighbours told apart, the items that a gain needs, the share of sampling, dollars."""
    from pairsig import tables
    from study.analysis.leaderboards import leaderboards

    boards, needed, dollars = leaderboards(
        _read_with_metrics(arguments.statistics), n_resamples=arguments.n_resamples, seed=arguments.seed
    )
    tables.write(boards, arguments.output)
    tables.write(needed, arguments.items_needed)
    tables.write(dollars, arguments.dollars)


def _approximate(arguments: argparse.Namespace) -> None:
    """Relative error of Monte Carlo p-values on simulated systems, by the number of samples."""
    from pairsig import tables
    from study import montecarlo

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
    from pairsig import tables
    from study import montecarlo

    sizes = arguments.n_segments or montecarlo.SENTENCES
    tables.write(montecarlo.race(sizes, n_repeats=arguments.n_repeats, seed=arguments.seed), arguments.output)


def _plot(arguments: argparse.Namespace) -> None:
    """Figures from tables."""
    from study import columns

    try:
        from study import figures
    except ModuleNotFoundError as error:
        module = (error.name or "matplotlib").partition(".")[0]
        raise InputError(f"figures need the Python module {module}: install pairsig[workflow]") from None
    wanted = [(arguments.figure, arguments.tables), *((name, paths) for name, *paths in arguments.more)]
    if len(wanted) != len(arguments.output):
        raise InputError(
            f"found {len(wanted)} figures and --output {len(arguments.output)} times, expected it once each"
        )
    for name, paths in wanted:
        taken = inspect.signature(figures.FIGURES[choose(name, figures.FIGURES, "figure")])
        try:
            taken.bind(*paths)
        except TypeError:
            raise InputError(f"found {len(paths)} tables for {name}, expected {_told(taken)}") from None
    read = cache(columns.read)  # figures of one dataset are drawn from the same tables
    drawn = [figures.FIGURES[name](*(read(Path(path)) for path in paths)) for name, paths in wanted]
    for figure, files in zip(drawn, arguments.output, strict=True):
        for path in files:
            figures.save(figure, path)


def _told(signature: inspect.Signature) -> str:
    """Parameters of a function as a user gives them: `thresholds [size_law]`, `comparisons …`."""
    return " ".join(
        f"{one.name} …" if one.kind is one.VAR_POSITIONAL else one.name if one.default is one.empty else f"[{one.name}]"
        for one in signature.parameters.values()
    )


def _tabulate(arguments: argparse.Namespace) -> None:
    """Tables in the formats papers and pages need."""
    from pairsig import tables
    from study import columns, presentation

    named = {path.stem: path for path in arguments.tables}
    if len(named) < len(arguments.tables):
        raise InputError("found two tables of the same name, expected names that tell their outputs apart")
    only = next(iter(named)) if len(named) == 1 else None
    wanted = {path: named[only or choose(path.stem, named, "table")] for path in arguments.output}
    read = cache(columns.read)
    texts = {
        path: presentation.render(read(table), path.suffix.lstrip("."), caption=arguments.caption)
        for path, table in wanted.items()
    }
    for path, text in texts.items():
        with tables.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _site(arguments: argparse.Namespace) -> None:
    """The study as pages: a folder that opens from disk."""
    from study import columns, site

    try:
        import jinja2  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"the pages need the Python module {error.name}: install pairsig[workflow]") from None
    run = site.Run(
        tables={path.stem: columns.read(path) for path in arguments.tables},
        comparisons=arguments.comparisons,
        test_sets=arguments.test_sets,
        calibrated=columns.read(arguments.calibrated, columns.CALIBRATED),
        datasets=columns.read(arguments.datasets, columns.DATASETS),
        corpora=columns.read(arguments.corpora, columns.CORPORA),
        figures=arguments.figures,
    )
    site.replace(run, arguments.output)


def _check(arguments: argparse.Namespace) -> None:
    """Our numbers beside the papers', with a verdict."""
    from pairsig import tables
    from study import analysis, columns

    def optional(path: Path | None, table: Table) -> pd.DataFrame | None:
        return None if path is None else columns.read(path, table)

    found = analysis.check(
        columns.read(arguments.published, columns.PUBLISHED),
        thresholds=columns.read(arguments.thresholds, columns.THRESHOLDS),
        size_law=columns.read(arguments.size_law, columns.SIZE_LAW),
        calibration=columns.read(arguments.calibration, columns.CALIBRATION_TABLE),
        systems=optional(arguments.systems, columns.SYSTEMS),
        claims=optional(arguments.claims, columns.CLAIMS),
        relative_error=optional(arguments.relative_error, columns.RELATIVE_ERROR),
        run_time=optional(arguments.run_time, columns.RUN_TIME),
        source=str(arguments.published),
    )
    tables.write(found, arguments.output)
    for verdict, number in found["verdict"].value_counts().items():
        print(f"{verdict}: {number}")


def _read_with_metrics(items: Sequence[str]) -> Iterator[tuple[Statistics, Metric]]:
    """Files of statistics, each with its metric, as in `statistics.parquet:bleu`."""
    from pairsig import statistics
    from pairsig.metrics import registry

    for item in items:
        path, _, metric = item.rpartition(":")
        yield statistics.read(Path(path)), registry.metric(metric)


def _read_comparisons(paths: Sequence[Path]) -> pd.DataFrame:
    import pandas as pd

    from pairsig import comparisons

    return pd.concat(map(comparisons.read, paths), ignore_index=True)


def _initial(text: str | None, n_segments: int) -> list[int] | None:
    from study.resize import doubling

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


if __name__ == "__main__":
    sys.exit(main())
