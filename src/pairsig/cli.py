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
from pairsig.choices import once, options_of, sort_options
from pairsig.errors import InputError

if TYPE_CHECKING:
    from pairsig.memory import Memory
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
TEST_HELP = f"{definitions.formulas()}{_LEVELS}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used."""
    return _commands().main(argv)


def _commands() -> console.Commands:
    commands = console.Commands("pairsig", "Paired significance tests for NLP: outputs in, counts and p-values out.")

    p = commands.add(_test, definitions.formulas("exact", "randomization", "bootstrap") + _LEVELS + _VARIANTS)
    p.add_argument("systems", nargs="+", metavar="FILE", help="the base system first; each other is held against it")
    p.add_argument("--reader", required=True, help="counts: evalb, sigf, art, coref, table; outputs: text, trees, …")
    p.add_argument("--reference", nargs="+", default=[], help="for outputs")
    p.add_argument("--metric", default="", metavar="M[,M…]", help="by default all that the files have")
    p.add_argument("--test", default="", metavar="T[,T…]", help="default: exact,randomization,bootstrap")
    p.add_argument("--variant", default="", metavar="V[,V…]", help="for those of the tests that have it; see below")
    p.add_argument("--n-resamples", type=console.whole, default=100_000, metavar="B", help="default: 100,000")
    p.add_argument("--seed", type=console.whole, default=2012, help="default: 2012")
    p.add_argument("--unit", choices=("segment", "document"), default="segment", help="what is drawn or swapped")
    p.add_argument("--stop-at", type=float, metavar="ALPHA", help="draw only until p is known to be below it or not")
    p.add_argument("--confidence", type=float, default=0.99, help="of that decision; default: 0.99")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="for the reader or the metric")
    p.add_argument("--documents", help="file of `domain<TAB>document` lines, one a segment")
    p.add_argument("--like", metavar="FAMILY", default="", help="who wins on the next test set like wmt-domains, too")
    p.add_argument("--threads", type=console.whole, help="default: all cores; changes nothing but time")
    p.add_argument("--format", choices=("table", "json", "markdown", "latex"), default="table")

    p = commands.add(_extract)
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

    p = commands.add(_collect)
    p.add_argument("counts", nargs="*", type=Path)
    p.add_argument("--onto", type=Path, metavar="FILE", help="statistics whose systems of the groups --keep come first")
    p.add_argument("--keep", nargs="*", default=[], metavar="GROUP", help="of --onto; those given anew are left out")
    p.add_argument("--dataset", required=True)
    p.add_argument("--provenance", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--dated", action="store_true", help="the provenance tells the day, too")
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_pool)
    p.add_argument("statistics", nargs="+", type=Path)
    p.add_argument("--dataset", required=True)
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_compare, TEST_HELP)
    p.add_argument("statistics", type=Path)
    add_test_options(p)
    p.add_argument("--output", type=console.table, required=True)

    p = commands.add(_transfer)
    p.add_argument("comparisons", nargs="+", type=Path, help="tables of compare, one a test set")
    p.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="two or more of them; by default all")
    p.add_argument("--heterogeneity", type=float, metavar="TAU", help="borrowed: known from other test sets, in points")
    p.add_argument(
        "--like", metavar="FAMILY", default="", help="borrowed: that of a family of test sets, such as wmt-domains"
    )
    p.add_argument("--output", type=console.table, help="the table; by default it is printed, with what it means")

    p = commands.add(_merge)
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

    from pairsig import versus

    chosen, tests, variants = (
        [name for name in names.split(",") if name] for names in (arguments.metric, arguments.test, arguments.variant)
    )
    once(chosen, "metric")
    options = console.pairs(arguments.option)
    domains, documents = _labels(arguments.documents, options)
    data, notes = versus.read_systems(
        arguments.systems,
        arguments.reader,
        references=arguments.reference,
        metrics=chosen,
        options=options,
        domains=domains,
        documents=documents,
    )
    found = []
    for systems, metrics in data:
        for first, second in systems.duplicates():
            console.warn(f"systems {first} and {second} have the same counts on every segment, p = 1")
        table, further = versus.versus(
            systems,
            metrics,
            tests or versus.TESTS,
            variants=variants,
            n_resamples=arguments.n_resamples,
            seed=arguments.seed,
            unit=arguments.unit,
            stop_at=None if arguments.stop_at is None else (arguments.stop_at, arguments.confidence),
            threads=arguments.threads,
            like=arguments.like,
        )
        found.append(table)
        notes += further
    for note in notes:
        console.note(note)
    print(versus.render(pd.concat(found, ignore_index=True), arguments.format))


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
    """The statistics of a dataset; warns of systems that are the same."""
    from pairsig import statistics

    data = statistics.read(path, memory=memory)
    for first, second in data.duplicates():
        console.warn(
            f"dataset {data.dataset}: systems {first} and {second} have the same counts on every segment, p = 1"
        )
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
