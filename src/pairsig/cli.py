"""The command line of the library: parse, call, write.

Everything heavy is imported by the command that needs it, so that `pairsig --help` is there at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsig import console, definitions
from pairsig.choices import choose, once, options_of, sort_options
from pairsig.errors import InputError, listed

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.memory import Memory
    from pairsig.metrics import Metric
    from pairsig.planning import Spread
    from pairsig.statistics import Statistics

_LEVELS = """\
δ = 0: no system is better, p = 1 by definition. p_low and p_high bound the Monte Carlo error of p (95 %).
Of two equal systems, p < 0.05 comes up on no more than 5 % of test sets by the two-sided exact and randomization tests;
one-sided, after one has looked who won, on up to 10 %; by the bootstrap gt2 and percentile on 10 to 21 % (10 of 500
segments, 20 of 20), by percentile on up to 48 % where few segments differ, by the two-sided one on 5 to 10 %.
"""
_VARIANTS = """\
--variant: each test is done in those variants of the list that it has, or else in the first above.
  as Koehn (2004): --test bootstrap --variant percentile       as sigf and art: --test randomization
  as Bikel's comparator: --test randomization --variant one-sided
"""
_MARGIN = """\
--margin M adds the test margin, with Δ the true gain of A over B and s the standard error of δ, here of either sign:
  a-not-worse  p = P(Tν >= (M + δ) / s): Δ > −M    b-not-worse  p = P(Tν >= (M − δ) / s): Δ < M
  equivalence  the larger of the two: |Δ| < M (TOST); of units that are passed or failed all three are exact
"""
_PLAN = """\
with S the standard deviation of the difference of two systems on a unit, the gain on n of them has the standard error
S/√n; the power is that of Student's noncentral distribution. S comes from a pilot, or from a law fitted to the study:
  S² = φ · 10⁴ · 2(1 − likeness) · p(1 − p) / √length, with the score p as a share
For accuracy (items passed or failed) φ and the length are 1, and no law is needed. The power of the exact tests of
items is exact; the segments are the fewest from which on it is reached, since a few items more may lower it a little.
S is uncertain, unless score and likeness are known: [95 %] is the range of the sizes, and of the power that the printed
size has, for the values of S that the pilot or the law leaves possible.
"""
_READERS = """\
--reader, of counts: evalb, sigf, art, coref, table; of logs: inspect, lm_eval, helm, swebench, alpaca_eval,
openai_evals, comet, mt_metrics_eval (files or folders); of outputs, with --reference: text, trees, conllu, conllx,
alignment.
"""
TEST_HELP = f"{definitions.formulas()}{_LEVELS}"

# What ends the help of a command, by its name: works as it stands in a shell, in an empty folder.
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
pairsig compare counts.tsv --n-resamples 1000 --part 1/2 --output 1.tsv
pairsig compare counts.tsv --n-resamples 1000 --part 2/2 --output 2.tsv"""
_EXAMPLES = {
    "test": f"{_TWO}\npairsig test a.txt b.txt",
    "rank": f"{_TWO}\nprintf '%s\\n' 0 1 0 0 1 0 1 0 0 0 0 0 > c.txt\npairsig rank a.txt b.txt c.txt",
    "plan": """\
# How many segments show a gain of 1 BLEU between two systems at 35 BLEU, on segments of 25 words?
pairsig plan --metric bleu --score 35 --length 25 --likeness 0.75 --gain 1""",
    "extract": "\n".join((_TEXTS, _EXTRACTED.splitlines()[0])),
    "collect": "\n".join(
        (_TEXTS, _EXTRACTED, "pairsig collect a.parquet b.parquet --dataset mine --output mine.parquet")
    ),
    "pool": f"{_COUNTS}\ncp counts.tsv more.tsv\npairsig pool counts.tsv more.tsv --dataset both --output both.parquet",
    "compare": f"{_COUNTS}\npairsig compare counts.tsv --test exact --output pairs.tsv",
    "methods": r"""printf 'system\tsegment\tcorrect\ttotal\n' > runs.tsv
printf '%s\t%s\t%s\t1\n' a-1 1 1 a-1 2 1 a-1 3 0 a-2 1 0 a-2 2 1 a-2 3 1 >> runs.tsv
printf '%s\t%s\t%s\t1\n' b-1 1 0 b-1 2 1 b-1 3 0 b-2 1 0 b-2 2 0 b-2 3 1 >> runs.tsv
pairsig methods runs.tsv --numbered --output methods.tsv""",
    "transfer": f"""{_COUNTS}
printf 'system\\tsegment\\tcorrect\\ttotal\\n' > other.tsv
printf '%s\\t%s\\t%s\\t1\\n' a 1 0 a 2 1 a 3 1 b 1 1 b 2 1 b 3 0 >> other.tsv
pairsig compare counts.tsv --test exact --output one.tsv
pairsig compare other.tsv --test exact --output two.tsv
pairsig transfer one.tsv two.tsv""",
    "merge": f"{_COUNTS}\n{_PAIRS}\npairsig merge 1.tsv 2.tsv --output pairs.tsv",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["test"] and "--" in words:  # argparse drops the first one; `_files` wants to see where it was
        words.insert(words.index("--"), "--")
    return _commands().main(words)


def _commands() -> console.Commands:
    """The command line; the documentation is made from it, too."""
    commands = console.Commands("pairsig", "Paired significance tests for NLP: outputs in, counts and p-values out.")
    commands.complete()

    commands.group("from files of systems to a result")
    p = commands.add(
        _test,
        definitions.formulas("exact", "randomization", "bootstrap") + _LEVELS + _VARIANTS + _MARGIN + _READERS,
        _EXAMPLES["test"],
    )
    p.add_argument("systems", nargs="*", metavar="FILE", help="the base system first; each other is held against it")
    runs = "several runs of one system, once for each system, the base first, instead of FILE: tests the method, too"
    p.add_argument("--runs", nargs="+", action="append", default=[], metavar="FILE", help=runs)
    p.add_argument(
        "--design",
        choices=("crossed", "nested"),
        help="crossed: a run is a training, the same for all segments (default); nested: each segment is sampled anew",
    )
    borrowed = "of a score between trainings, in points, known from elsewhere: one run each is enough then"
    p.add_argument("--training-sd", type=float, metavar="SD", help=f"standard deviation {borrowed}")
    cost = "of nested runs: what a segment costs, in answers to one; tells how many answers to each are cheapest"
    p.add_argument("--item-cost", type=float, metavar="R", help=cost)
    p.add_argument("--reader", help="by default what fits the content; see below")
    p.add_argument("--reference", nargs="+", default=[], help="for outputs")
    p.add_argument("--metric", default="", metavar="M[,M…]", help="by default all that the files have")
    p.add_argument("--test", default="", metavar="T[,T…]", help="default: exact,randomization,bootstrap")
    p.add_argument("--variant", default="", metavar="V[,V…]", help="for those of the tests that have it; see below")
    p.add_argument("--n-resamples", type=console.whole, default=100_000, metavar="B", help="default: 100,000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn or swapped")
    p.add_argument("--stop-at", type=float, metavar="ALPHA", help="draw only until p is known to be below it or not")
    p.add_argument("--confidence", type=float, default=0.99, help="of that decision; default: 0.99")
    p.add_argument("--margin", type=float, metavar="M", help="also: are they equally good, up to M points? see below")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--documents", help="file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--missing", choices=("wrong", "drop"), help="items of a log that not all have a score for")
    p.add_argument("--like", metavar="FAMILY", default="", help="who wins on the next test set like wmt-domains, too")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    formats = ("table", "sentence", "json", "markdown", "latex")
    p.add_argument("--format", choices=formats, default="table", help="sentence: one to put into a paper")
    p.add_argument("--html", type=console.page, metavar="FILE", help="write a report to open in a browser, too")
    p.add_argument(
        "--plot", type=console.picture, metavar="FILE", help="draw gains and their laws, too: .svg, .pdf, .png"
    )

    p = commands.add(_rank, example=_EXAMPLES["rank"])
    p.add_argument("systems", nargs="+", metavar="FILE", help="one a system, or one of statistics (.parquet, …) of all")
    p.add_argument("--reader", help="as for `pairsig test`")
    p.add_argument("--reference", nargs="+", default=[], help="for outputs")
    p.add_argument("--metric", help="may be left out where there is one only")
    p.add_argument(
        "--adjust", choices=("max-t", "holm"), default="max-t",
        help="max-t: shuffles common to all pairs, step-down (default); holm: exact p-values where there are some",
    )  # fmt: skip
    p.add_argument("--alpha", type=float, default=0.05, help="chance that anything told is false; default: 0.05")
    p.add_argument("--n-resamples", type=console.whole, default=100_000, metavar="B", help="default: 100,000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is swapped")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--documents", help="file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--missing", choices=("wrong", "drop"), help="items of a log that not all have a score for")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--memory", type=console.size, metavar="SIZE", help="of the process; default: half of what is free")
    p.add_argument("--format", choices=("table", "markdown", "latex", "html", "json"), default="table")
    p.add_argument("--pairs", type=console.table, metavar="FILE", help="write all pairs, too")
    p.add_argument("--plot", type=console.picture, metavar="FILE", help="draw the ranks, too: .svg, .pdf, .png")

    p = commands.add(_plan, _PLAN, _EXAMPLES["plan"])
    p.add_argument("pilot", nargs="*", metavar="FILE", help="two systems, as for test; or statistics (Parquet)")
    p.add_argument("--reader", help="of the pilot, as for test")
    p.add_argument("--reference", nargs="+", default=[], help="for outputs; without one their likeness is guessed")
    p.add_argument("--systems", nargs=2, metavar=("A", "B"), help="names of two systems of the statistics")
    p.add_argument("--metric", help="may be left out where the pilot has one only")
    p.add_argument("--gain", type=console.numbers, default=[], metavar="G[,G…]", help="how many segments show it?")
    p.add_argument("--margin", type=console.numbers, default=[], metavar="M[,M…]", help="how many show equivalence?")
    p.add_argument("--segments", type=console.numbers, default=[], metavar="N[,N…]", help="what gain do they show?")
    p.add_argument("--power", type=float, default=0.8, help="default: 0.8")
    p.add_argument("--alpha", type=float, default=0.05, help="level of the test; default: 0.05")
    p.add_argument("--test", default="randomization", metavar="T[:VARIANT]", help="default: randomization")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="of the pilot")
    p.add_argument("--documents", help="of the pilot: file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--missing", choices=("wrong", "drop"), help="of the pilot: items of a log without a score")
    p.add_argument("--score", type=float, help="without a pilot: that the systems will have, 0 to 100")
    p.add_argument("--length", type=float, help="without a pilot: mean length of a segment, in words")
    p.add_argument("--likeness", type=float, help="without a pilot: correlation of the systems, as compare has it")
    p.add_argument("--design-effect", type=float, default=1.0, help="without a pilot: of documents; default: 1")
    p.add_argument("--runs", type=console.whole, metavar="K", help="of each method; with --training-sd")
    p.add_argument("--training-sd", type=float, metavar="SD", help="of a method's score from run to run, in points")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--format", choices=("table", "json", "markdown", "latex"), default="table")

    commands.group("counts, kept in a file")
    p = commands.add(_extract, example=_EXAMPLES["extract"])
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
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_collect, example=_EXAMPLES["collect"])
    p.add_argument("counts", nargs="*", type=Path)
    p.add_argument("--onto", type=Path, metavar="FILE", help="statistics whose systems of the groups --keep come first")
    p.add_argument("--keep", nargs="*", default=[], metavar="GROUP", help="of --onto; those given anew are left out")
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--dated", action="store_true", help="the provenance tells the day, too")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_pool, example=_EXAMPLES["pool"])
    p.add_argument("statistics", nargs="+", type=Path)
    p.add_argument("--dataset", required=True)
    p.add_argument("--output", type=console.table, required=True)

    commands.group("tables of all pairs, from such counts")
    p = commands.add(_compare, TEST_HELP, _EXAMPLES["compare"])
    p.add_argument("statistics", type=Path)
    add_test_options(p)
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_methods, example=_EXAMPLES["methods"])
    p.add_argument("statistics", type=Path)
    p.add_argument("--metric", help="may be left out when the columns fit one metric only")
    p.add_argument("--numbered", action="store_true", help="systems called NAME-1, NAME-2, … are runs of NAME")
    p.add_argument("--design", choices=("crossed", "nested"), default="crossed", help="default: crossed, as trainings")
    p.add_argument("--training-sd", type=float, metavar="SD", help=f"standard deviation {borrowed}")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn")
    p.add_argument("--n-resamples", type=console.whole, default=0, metavar="B", help="of the bootstrap; default: none")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_transfer, example=_EXAMPLES["transfer"])
    p.add_argument("comparisons", nargs="+", type=Path, help="tables of compare, one a test set")
    p.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="two or more of them; by default all")
    p.add_argument("--heterogeneity", type=float, metavar="TAU", help="borrowed: known from other test sets, in points")
    p.add_argument(
        "--like", metavar="FAMILY", default="", help="borrowed: that of a family of test sets, such as wmt-domains"
    )
    p.add_argument("--output", type=console.table, help="the table; by default it is printed, with what it means")

    p = commands.add(_merge, example=_EXAMPLES["merge"])
    p.add_argument("parts", nargs="+", type=Path)
    p.add_argument("--output", type=console.table, required=True)
    return commands


def add_test_options(parser: argparse.ArgumentParser) -> None:
    """What commands that test all pairs let one choose."""
    parser.add_argument("--metric", help="may be left out when the columns fit one metric only")
    parser.add_argument("--test", default="bootstrap", help="default: bootstrap; see below")
    parser.add_argument("--variant", help="of the test; by default the first below")
    parser.add_argument("--or-draw", action="store_true", help="draw where an exact test cannot be had")
    parser.add_argument("--n-resamples", type=console.whole, default=1_000_000, metavar="B", help="default: 1,000,000")
    parser.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    parser.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn or swapped")
    parser.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    parser.add_argument("--batch", type=console.whole, help="resamples a batch; changes nothing but time and memory")
    parser.add_argument(
        "--memory", type=console.size, metavar="SIZE",
        help="of the process, such as 500M or 4G; default: half of what is free; changes nothing but time",
    )  # fmt: skip
    parser.add_argument(
        "--part", type=console.part, default=(1, 1), metavar="K/M", help="only part K of M of the resamples"
    )


def _test(arguments: argparse.Namespace) -> None:
    """Two systems (or more against the first): scores, gain, interval and p-values, ready to paste."""
    import pandas as pd

    from pairsig import methods, sentences, versus

    chosen, tests, variants = (
        [name for name in names.split(",") if name] for names in (arguments.metric, arguments.test, arguments.variant)
    )
    once(chosen, "metric")
    as_sentence = arguments.format == "sentence"
    if as_sentence and arguments.stop_at is not None:
        raise InputError("--format sentence gives p-values, which --stop-at does not go on to, expected one of them")
    with console.progress("read"):
        data, notes = _read_systems(arguments, _files(arguments.systems, arguments.runs), chosen)
    if arguments.plot:
        from pairsig import pictures  # noqa: F401  says what is missing before anything is drawn
    found: list[tuple[Statistics, list[Metric], pd.DataFrame]] = []
    if arguments.runs or arguments.design or arguments.training_sd is not None or any(data[0][0].runs):
        for option in ("test", "variant", "stop_at", "margin", "like"):
            if getattr(arguments, option) not in (None, ""):
                raise InputError(f"--{option.replace('_', '-')} is given, but what tests runs has no choice of tests")
        for systems, metrics in data:
            for first, second in systems.duplicates():
                console.warn(f"{first} and {second} have the same counts on every segment{_where(metrics, data)}")
            for metric in metrics:
                with console.progress("test", arguments.n_resamples) as progress:
                    table = methods.compare_methods(
                        systems,
                        metric=metric,
                        design=arguments.design or methods.design_of(systems),
                        training_sd=arguments.training_sd,
                        unit=arguments.unit,
                        against=systems.methods[0],
                        n_resamples=arguments.n_resamples,
                        seed=arguments.seed,
                        threads=arguments.threads,
                        progress=progress,
                    )
                found.append((systems, [metric], table))
        for note in notes:
            console.note(note)
        _report(arguments, found)
        whole = pd.concat([table for *_, table in found], ignore_index=True)
        print(
            sentences.of_methods(whole) if as_sentence else methods.render(whole, arguments.format, arguments.item_cost)
        )
        return
    if arguments.item_cost is not None:
        raise InputError("--item-cost is given, but no system has several runs, expected k samples of every segment")
    for systems, metrics in data:
        for first, second in systems.duplicates():
            where = _where(metrics, data)
            console.warn(f"systems {first} and {second} have the same counts on every segment{where}, p = 1")
        n_drawn = versus.n_drawn(systems, metrics, tests or versus.TESTS, variants) * arguments.n_resamples
        with console.progress("test", n_drawn or None) as progress:
            table, further = versus.versus(
                systems,
                metrics,
                tests or versus.TESTS,
                variants=variants,
                n_resamples=arguments.n_resamples,
                seed=arguments.seed,
                unit=arguments.unit,
                stop_at=None if arguments.stop_at is None else (arguments.stop_at, arguments.confidence),
                margin=arguments.margin,
                threads=arguments.threads,
                like=arguments.like,
                progress=progress,
            )
        found.append((systems, metrics, table))
        notes += further
    for note in notes:
        console.note(note)
    _report(arguments, found)
    whole = pd.concat([table for *_, table in found], ignore_index=True)
    if as_sentence:
        for note in versus.footnotes(sentences.rows_told(whole)):
            console.note(note)
    print(sentences.of_systems(whole) if as_sentence else versus.render(whole, arguments.format))


def _report(arguments: argparse.Namespace, found: Sequence[tuple[Statistics, list[Metric], pd.DataFrame]]) -> None:
    """Tables of `versus` or `compare_methods` as a page or a picture, where one is asked for."""
    if not (arguments.html or arguments.plot):
        return
    from pairsig import report
    from pairsig.engine import Resampling

    resampling = Resampling(arguments.n_resamples, arguments.seed, arguments.threads)
    evidence = [
        own
        for systems, metrics, table in found
        for metric in metrics
        for own in (
            report.of_methods(systems, metric, table, unit=arguments.unit, training_sd=arguments.training_sd)
            if "method_a" in table
            else report.of_systems(systems, metric, table, unit=arguments.unit, resampling=resampling)
        )
    ]
    if arguments.plot:
        report.draw(evidence, arguments.plot)
    if arguments.html:
        report.write(evidence, arguments.html)


def _where(metrics: Sequence[Metric], data: Sequence[object]) -> str:
    """The metrics that a warning is about, where others have statistics of their own."""
    return f" in {listed(metric.name for metric in metrics)}" if len(data) > 1 else ""


def _rank(arguments: argparse.Namespace) -> None:
    """Many systems: their ranks with intervals, clusters, and which are told from which, all pairs together."""
    from pairsig import ranking, statistics, tables, versus
    from pairsig.memory import Memory

    memory = Memory.of(arguments.memory)
    files, metric = arguments.systems, arguments.metric
    if (
        arguments.reader is None
        and len(files) == 1
        and Path(files[0]).suffix in tables.SEPARATORS.keys() | {".parquet"}
    ):
        data = statistics.read(Path(files[0]), memory=memory)
        for sentence in data.unlike():
            console.warn(sentence)
    else:
        found, notes = _read_systems(arguments, files, [metric] if metric else [])
        for note in notes:
            console.note(note)
        data, metric = versus.only(found)
    for first, second in data.duplicates():
        console.warn(f"systems {first} and {second} have the same counts on every segment, p = 1")
    with console.progress("rank", arguments.n_resamples) as progress:
        ranked = ranking.rank(
            data,
            metric=metric,
            adjustment=arguments.adjust,
            alpha=arguments.alpha,
            n_resamples=arguments.n_resamples,
            seed=arguments.seed,
            unit=arguments.unit,
            threads=arguments.threads,
            memory=memory,
            progress=progress,
        )
    if arguments.plot:
        ranking.draw(ranked, arguments.plot)
    if arguments.pairs:
        tables.write(ranked.pairs, arguments.pairs)
    print(ranking.render(ranked, arguments.format))


def _plan(arguments: argparse.Namespace) -> None:
    """Before the experiment: how many segments show a gain, and what gain so many segments show."""
    from pairsig import planning

    name, variant = (*arguments.test.split(":", 1), None)[:2]
    runs, deviation = arguments.runs, arguments.training_sd
    if (runs is None) != (deviation is None):
        raise InputError("--runs and --training-sd belong together, found one of them")
    if runs is not None and not (runs >= 1 and deviation >= 0):
        raise InputError(f"found {runs} runs of standard deviation {deviation:g}, expected 1 or more, and 0 or more")
    sizes = [int(size) for size in arguments.segments if float(size).is_integer()]
    if len(sizes) < len(arguments.segments):
        raise InputError(f"found {arguments.segments} segments, expected whole numbers")
    design = planning.Design(
        test=definitions.find(name, variant),
        alpha=arguments.alpha,
        power=arguments.power,
        training=0.0 if runs is None else 2 * deviation**2 / runs,
    )
    metric, spread = _spread(arguments)
    table = planning.plan(metric, spread, design, gains=arguments.gain, margins=arguments.margin, sizes=sizes)
    print(planning.render(table, arguments.format))


def _spread(arguments: argparse.Namespace) -> tuple[str, Spread]:
    """The metric, and how much two systems' difference varies: by the pilot that is given, or by the law."""
    from pairsig import planning, readers

    files, options = arguments.pilot, console.pairs(arguments.option)
    assumed = {name: getattr(arguments, name) for name in ("score", "length", "likeness")}
    if files and (arguments.reader != "text" or arguments.reference):
        for option, value in assumed.items():
            if value is not None:
                raise InputError(f"--{option} is for planning without a pilot, found {listed(files)}, too")
        return _pilot(arguments)
    if files:
        if len(files) != 2:
            raise InputError(f"found {len(files)} outputs, expected two")
        assumed["overlap"] = planning.overlap_of(*(readers.read("text", path) for path in files), **options)
        console.note(f"BLEU of the outputs against each other: {100 * assumed['overlap']:.1f}")
    for option, value in (("metric", arguments.metric), ("score", arguments.score)):
        if value is None:
            raise InputError(f"planning without a pilot needs --{option}, or give two systems' files, or statistics")
    if arguments.metric == planning.OUTCOMES:
        if files or arguments.length is not None:
            found = listed(files) if files else f"--length {arguments.length:g}"
            raise InputError(f"found {found}, but planning for {arguments.metric} takes --score and --likeness alone")
        return arguments.metric, planning.from_outcomes(
            score=arguments.score, likeness=arguments.likeness, design_effect=arguments.design_effect
        )
    return arguments.metric, planning.from_law(arguments.metric, **assumed, design_effect=arguments.design_effect)


def _pilot(arguments: argparse.Namespace) -> tuple[str, Spread]:
    """The same by a pilot: two systems' files, or two systems of some statistics."""
    from pairsig import planning, versus
    from pairsig.all_pairs import only_metric
    from pairsig.metrics import registry
    from pairsig.paired import Pair

    files = arguments.pilot
    if len(files) == 1 and arguments.reader is None:
        data = read_statistics(Path(files[0]))
        if arguments.systems is None:
            raise InputError(f"{files[0]} has {len(data.systems)} systems, expected --systems with two of their names")
        for system in arguments.systems:
            choose(system, data.systems, f"system of {files[0]}:")
        once(arguments.systems, "system")
        data = data.select(systems=arguments.systems)
        metric = registry.metric(arguments.metric) if arguments.metric else only_metric(data)
    elif len(files) != 2 or arguments.reader is None:
        raise InputError(f"found {len(files)} files, expected two of a pilot and their --reader, or one of statistics")
    else:
        found, notes = _read_systems(arguments, files, [arguments.metric] if arguments.metric else [])
        for note in notes:
            console.note(note)
        data, metric = versus.only(found)
        if len(data.systems) != 2:
            raise InputError(f"the pilot has {listed(data.systems)}, expected two systems with one run each")
    a, b = data.of(metric)[:, :, : len(metric.columns)]
    documents_of = data.documents if arguments.unit == "document" else None
    return metric.name, planning.from_pilot(Pair.of(a, b, metric, documents_of))


def _read_systems(
    arguments: argparse.Namespace, files: Sequence[str | Sequence[str]], metrics: Sequence[str]
) -> tuple[list[tuple[Statistics, list[Metric]]], list[str]]:
    """Systems of the files, with the options of reading that are given; see `versus.read_systems`."""
    from pairsig import versus

    options = console.pairs(arguments.option)
    domains, documents = _labels(arguments.documents, options)
    return versus.read_systems(
        files,
        arguments.reader,
        references=arguments.reference,
        metrics=metrics,
        options=options,
        domains=domains,
        documents=documents,
        missing=arguments.missing,
    )


def _files(systems: Sequence[str], runs: Sequence[Sequence[str]]) -> Sequence[str | Sequence[str]]:
    """The file of each system, or those of its runs."""
    files = [*systems]
    if files[:1] == ["--"]:
        files = files[1:]
    if "--" in files:
        raise InputError(
            "found -- between files, which only ends the options: the runs of each system are named as "
            "--runs a1 a2 a3 --runs b1 b2"
        )
    if files and runs:
        raise InputError(f"found {files[0]} beside --runs, expected every system as --runs FILE …")
    if not files and not runs:
        raise InputError("found no file, expected one a system, or --runs FILE … for each system")
    return runs or files


def _extract(arguments: argparse.Namespace) -> None:
    """Counts of one system from its output and the reference."""
    from pairsig import statistics
    from pairsig.extraction import extract
    from pairsig.omission import Omission

    options = console.pairs(arguments.option)
    domains, documents = _labels(arguments.documents, options)

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
            metric=arguments.metric,
            reader=arguments.reader,
            options=options,
            output_options=console.pairs(arguments.output_option),
            system=arguments.system,
            group=arguments.group,
            kind=arguments.kind,
            domains=domains,
            documents=documents,
            note=console.note,
        )
    except InputError as error:
        if not arguments.leave_out_broken:
            raise
        leave_out(Omission("extract", str(error)))
        return
    statistics.write(counted, arguments.output)


def _labels(path: str | None, options: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments; lines that are skipped in the outputs are skipped there too."""
    from pairsig.readers import read_documents

    if path is None:
        return [], []
    own = {name: value for name, value in options.items() if name in options_of(read_documents)}
    (typed,) = sort_options(own, "documents", read_documents)
    return read_documents(path, **typed)


def _collect(arguments: argparse.Namespace) -> None:
    """Statistics of a dataset from the counts of its systems."""
    from datetime import date

    from pairsig import statistics
    from pairsig.omission import Omission

    omissions = {path: found for path in arguments.counts if (found := Omission.read(path))}
    for omission in omissions.values():
        console.warn(f"dataset {arguments.dataset}: system {omission.system} is left out: {omission}")
    parts = [statistics.read(path) for path in arguments.counts if path not in omissions]
    if arguments.onto:
        given = {system for part in parts for system in part.systems} | {one.system for one in omissions.values()}
        onto = statistics.read(arguments.onto)
        kept = [
            system
            for system, group in zip(onto.systems, onto.groups, strict=True)
            if group in arguments.keep and system not in given
        ]
        parts[:0] = [onto.select(systems=kept)] * bool(kept)
    if not parts:
        raise InputError(
            f"dataset {arguments.dataset}: all {len(omissions)} systems are left out, expected some to remain"
        )
    provenance = dict(console.pairs(arguments.provenance))
    if arguments.dated:
        provenance["date"] = f"{date.today():%Y-%m-%d}"
    whole = statistics.collect(
        parts, dataset=arguments.dataset, provenance=provenance, omissions=tuple(omissions.values())
    )
    for first, second in whole.duplicates():
        console.warn(f"dataset {whole.dataset}: systems {first} and {second} have the same counts on every segment")
    statistics.write(whole, arguments.output)


def _pool(arguments: argparse.Namespace) -> None:
    """One test set out of several, for the systems present in all of them."""
    from pairsig import statistics

    parts = [statistics.read(path) for path in arguments.statistics]
    statistics.write(statistics.pool(parts, dataset=arguments.dataset), arguments.output)


def _compare(arguments: argparse.Namespace) -> None:
    """Test every pair of systems of a dataset, on draws shared by all."""
    from pairsig import all_pairs, tables
    from pairsig.memory import Memory

    options = test_options(arguments)
    options["memory"] = Memory.of(arguments.memory)
    data = read_statistics(arguments.statistics, options["memory"])
    # Where --memory asks for it, and where somebody looks on.
    note = console.note if arguments.memory or sys.stderr.isatty() else None
    with console.progress(f"compare {data.dataset}", arguments.n_resamples // arguments.part[1]) as progress:
        table = all_pairs.compare(data, progress=progress, note=note, **options)
    tables.write(table, arguments.output)


def _methods(arguments: argparse.Namespace) -> None:
    """Test every pair of methods that were run several times, over their runs and the test set."""
    from pairsig import methods, tables

    data = read_statistics(arguments.statistics)
    with console.progress(f"methods of {data.dataset}", arguments.n_resamples) as progress:
        table = methods.compare_methods(
            data.numbered() if arguments.numbered else data,
            metric=arguments.metric,
            design=arguments.design,
            training_sd=arguments.training_sd,
            unit=arguments.unit,
            n_resamples=arguments.n_resamples,
            seed=arguments.seed,
            threads=arguments.threads,
            progress=progress,
        )
    tables.write(table, arguments.output)


def _transfer(arguments: argparse.Namespace) -> None:
    """What gains on several test sets say of the next one: how much they differ, and who wins there."""
    import pandas as pd

    from pairsig import comparisons, heterogeneity, tables

    given = pd.concat(map(comparisons.read, arguments.comparisons), ignore_index=True)
    found = heterogeneity.transfers(
        given, systems=arguments.systems, heterogeneity=arguments.heterogeneity, like=arguments.like
    )
    smallest = int(given["n_segments"].min())
    if arguments.output is None:
        print(heterogeneity.render(found, smallest=smallest))
        return
    tables.write(found, arguments.output)
    for sentence in heterogeneity.notes(found, smallest):
        console.note(sentence)


def _merge(arguments: argparse.Namespace) -> None:
    """Comparisons over all resamples from those over parts of them."""
    from pairsig import comparisons, tables

    tables.write(comparisons.merge(map(comparisons.read, arguments.parts)), arguments.output)


def read_statistics(path: Path, memory: Memory | None = None) -> Statistics:
    """The statistics of a dataset; warns of systems that are the same, and of what ought to be and is not."""
    from pairsig import statistics

    data = statistics.read(path, memory=memory)
    for first, second in data.duplicates():
        console.warn(
            f"dataset {data.dataset}: systems {first} and {second} have the same counts on every segment, p = 1"
        )
    for sentence in data.unlike():
        console.warn(f"dataset {data.dataset}: {sentence}")
    return data


def test_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `add_test_options` added, as `compare` takes it."""
    names = (
        "metric",
        "test",
        "variant",
        "n_resamples",
        "seed",
        "unit",
        "threads",
        "batch",
        "memory",
        "part",
        "or_draw",
    )
    return {name: getattr(arguments, name) for name in names}


if __name__ == "__main__":
    sys.exit(main())
