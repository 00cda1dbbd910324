"""Verdicts on pairs of systems, such as those of a judge: who wins each item, with ties, in one order or in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics.counts import average
from pairsig.readers.cells import labels
from pairsig.readers.output import Labels, Output
from pairsig.readers.table import Reading

_A, _B = ("a", "system_a", "model_a", "model_1", "first"), ("b", "system_b", "model_b", "model_2", "second")
"""Words for the two systems of a row, in upper or lower case."""

METRIC = average("win rate")

Verdict = tuple[int, str, list[float]]
"""The row, the sample, and for each column of verdicts 1, ½ or 0 for the first system of the pair."""


def outputs(reading: Reading) -> tuple[Output, ...]:
    """Two outputs per pair of systems: the share of wins of each item, with a tie as half, and 1 minus it.

    Verdicts on an item in both orders, and its samples, are averaged, so that an item counts once. The difference of
    the two win rates is 2 · win rate − 1, and swapping the systems on an item changes the sign of its contribution.
    """
    table = reading.table
    if "item" not in reading.columns_of:
        raise reading.refusal("no column with the items, expected one called item, id, … or --item")
    items = reading.items()
    sides = [name for side in ("system_a", "system_b") for name in reading.columns_of.get(side, ())]
    if len(sides) == 1:
        raise reading.refusal("one of --system-a and --system-b, expected both")
    words = {name: labels(table.columns[name]) for name in reading.columns_of["winner"]}
    ties = [word.lower() for word in reading.names("tie") or ["tie", "draw", "both"]]
    first, second = [labels(table.columns[name]) for name in sides] or _names_in(reading, words, ties)
    samples = reading.labels("sample") or Labels.same(len(items))
    pairs: dict[tuple[str, str], dict[str, list[Verdict]]] = {}
    rows: dict[tuple[str, str, str, str], int] = {}
    for row, (item, sample, a, b) in enumerate(zip(items, samples, first, second, strict=True)):
        if not a or not b or a == b:
            both = f"a verdict on {named(a) or '(empty)'} and {named(b) or '(empty)'}"
            raise InputError(f"{table.where(row)}: found {both}, expected two different systems")
        if (before := rows.setdefault((item, sample, a, b), row)) != row:
            lines = f"{table.place}s {table.lines[before]} and {table.lines[row]}"
            raise reading.refusal(
                f"verdicts on the item {named(item)} in {lines}, expected one per order: name the column that "
                "differs with --sample COL (turns, orders, repeats: averaged), or --item COL,COL (a part of the id)"
            )
        is_turned = (a, b) not in pairs and (b, a) in pairs
        values = [
            _value(of[row], a, b, sides, ties, f"{table.where(row)}, column {named(name)}")
            for name, of in words.items()
        ]
        verdict = row, sample, [1 - value for value in values] if is_turned else values
        pairs.setdefault((b, a) if is_turned else (a, b), {}).setdefault(item, []).append(verdict)
    is_by_sample = len(words) > 1 or bool(sides)
    return tuple(chain.from_iterable(
        _outputs(reading, pair, of_pair, f"{pair[0]} and {pair[1]}" if len(pairs) > 1 else "", is_by_sample)
        for pair, of_pair in pairs.items()
    ))  # fmt: skip


def _names_in(reading: Reading, words: dict[str, Labels], ties: Sequence[str]) -> list[Labels]:
    """The two systems, if the verdicts name them."""
    names = list(dict.fromkeys(
        name for of in words.values() for name in of.names if name and name.lower() not in ties
    ))  # fmt: skip
    if len(names) != 2:
        raise reading.refusal(
            f"the verdicts {listed(names) or '(none)'} beside ties, expected the names of two systems: --tie names the "
            "words for a tie, --system-a and --system-b the columns with the systems"
        )
    names = sorted(names) if {name.lower() for name in names} == {"a", "b"} else names
    return [Labels.same(len(reading.table.lines), name) for name in names]


def _value(word: str, a: str, b: str, sides: Sequence[str], ties: Sequence[str], where: str) -> float:
    """1 if system A of the row wins, ½ for a tie, 0 if B wins."""
    if word in (a, b):
        return float(word == a)
    lower, of_sides = word.lower(), [name.lower() for name in sides] or ["a", "b"]
    for value, known in ((0.5, ties), (1.0, (of_sides[0], *_A)), (0.0, (of_sides[1], *_B))):
        if lower in known:
            return value
    raise InputError(
        f"{where}: found {quoted(word)}, expected {named(a)}, {named(b)}, a, b or {' or '.join(ties)}\n--tie names "
        "other words for a tie; an empty verdict has to be deleted with the other verdicts on its item"
    )


def _outputs(
    reading: Reading, pair: tuple[str, str], of_items: dict[str, list[Verdict]], task: str, is_by_sample: bool
) -> Iterator[Output]:
    """The win rates of both systems on each item."""
    table, rates = reading.table, []
    values: list[float] = []
    n_repeated = n_changed = 0
    for verdicts in of_items.values():
        of_item = list(chain.from_iterable(of_row for *_, of_row in verdicts))
        rates.append(np.mean(of_item))
        values += of_item
        by_sample: dict[str, list[float]] = {}
        for _, sample, of_row in verdicts:
            by_sample.setdefault(sample if is_by_sample else "", []).extend(of_row)
        repeated = [of_sample for of_sample in by_sample.values() if len(of_sample) > 1]
        n_repeated += len(repeated)
        n_changed += sum(len(set(of_sample)) > 1 for of_sample in repeated)
    note = (
        f"{pair[0]} against {pair[1]}: {values.count(1):,} wins, {values.count(0.5):,} ties, {values.count(0):,} "
        f"losses in {len(values):,} verdicts on {len(rates):,} items"
    )
    if n_repeated:
        share = f"{n_changed:,} of {n_repeated:,} verdicts change ({100 * n_changed / n_repeated:.1f} %)"
        note += f"; with another order or repeat, {share}"
    rows = np.array([verdicts[0][0] for verdicts in of_items.values()])
    groups = {role: of[rows] for role in ("document", "domain") if (of := reading.labels(role))}
    for system, of_system in zip(pair, (np.array(rates), 1 - np.array(rates)), strict=True):
        yield Output(
            source=table.source, system=system, task=task, items=tuple(of_items),
            by=", ".join(reading.columns_of["item"]), metrics=(METRIC,), values={METRIC.name: of_system},
            documents=groups.get("document", ()), domains=groups.get("domain", ()),
            notes=(note,), lines=table.lines[rows], place=table.place,
        )  # fmt: skip
