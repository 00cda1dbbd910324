"""Verdicts on pairs of systems, such as those of a judge: who wins each item, with ties, in one order or in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics.counts import average
from pairsig.readers.cells import labels
from pairsig.readers.output import Output
from pairsig.readers.table import Reading

_A, _B = ("a", "system_a", "model_a", "model_1", "first"), ("b", "system_b", "model_b", "model_2", "second")
"""Words for the two systems of a row, in upper or lower case."""

METRIC = average("win rate")

Verdicts = dict[tuple[str, str, str], tuple[int, list[float]]]
"""By item, sample and first system of the row: the row, and 1, ½ or 0 for the first system of the pair."""


def outputs(reading: Reading) -> tuple[Output, ...]:
    """Two outputs per pair of systems: the share of wins of each item, with a tie as half, and 1 minus it.

    Verdicts on an item in both orders, and its samples, are averaged, so that an item counts once. The difference of
    the two win rates is 2 · win rate − 1, and swapping the systems on an item changes the sign of its contribution.
    """
    table = reading.table
    if "item" not in reading.columns_of:
        raise reading.refusal("no column with the items, expected one called item, id, … or --item")
    item_of, items = reading.items()
    sides = [name for side in ("system_a", "system_b") for name in reading.columns_of.get(side, ())]
    if len(sides) == 1:
        raise reading.refusal("one of --system-a and --system-b, expected both")
    verdicts = {name: labels(table.columns[name]) for name in reading.columns_of["winner"]}
    ties = [word.lower() for word in reading.names("tie") or ["tie", "draw", "both"]]
    first, second = [labels(table.columns[name]) for name in sides] or _names_in(reading, verdicts, ties)
    sample_of, samples = reading.labels("sample") or (item_of * 0, [""])
    pairs: dict[tuple[str, str], Verdicts] = {}
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        if not a or not b or a == b:
            found = f"a verdict on {named(a) or '(empty)'} and {named(b) or '(empty)'}"
            raise InputError(f"{table.where(row)}: found {found}, expected two different systems")
        is_turned = (a, b) not in pairs and (b, a) in pairs
        of_pair = pairs.setdefault((b, a) if is_turned else (a, b), {})
        key = (items[item_of[row]], samples[sample_of[row]], a)
        if key in of_pair:
            lines = f"{table.place}s {table.lines[of_pair[key][0]]} and {table.lines[row]}"
            raise reading.refusal(
                f"verdicts on the item {named(key[0])} in {lines}, expected one per order: name the column that "
                "differs with --sample COL (turns, orders, repeats: averaged), or --item COL,COL (a part of the id)"
            )
        values = [
            _value(words[row], a, b, sides, ties, f"{table.where(row)}, column {named(column)}")
            for column, words in verdicts.items()
        ]
        of_pair[key] = row, [1 - value for value in values] if is_turned else values
    is_by_sample = len(verdicts) > 1 or bool(sides)
    return tuple(chain.from_iterable(
        _outputs(reading, pair, of_pair, f"{pair[0]} and {pair[1]}" if len(pairs) > 1 else "", is_by_sample)
        for pair, of_pair in pairs.items()
    ))  # fmt: skip


def _names_in(reading: Reading, verdicts: Mapping[str, Sequence[str]], ties: Sequence[str]) -> list[list[str]]:
    """The two systems, if the verdicts name them."""
    words = dict.fromkeys(word for word in chain(*verdicts.values()) if word and word.lower() not in ties)
    if len(words) != 2:
        raise reading.refusal(
            f"the verdicts {listed(words) or '(none)'} beside ties, expected the names of two systems: --tie names the "
            "words for a tie, --system-a and --system-b the columns with the systems"
        )
    names = sorted(words) if {word.lower() for word in words} == {"a", "b"} else list(words)
    return [[name] * len(reading.table.lines) for name in names]


def _value(word: str, a: str, b: str, sides: Sequence[str], ties: Sequence[str], where: str) -> float:
    """1 if system A of the row wins, ½ for a tie, 0 if B wins."""
    if word in (a, b):
        return float(word == a)
    lower = word.lower()
    if lower in ties:
        return 0.5
    column_a, column_b = [name.lower() for name in sides] or ("a", "b")
    if lower in (column_a, *_A):
        return 1.0
    if lower in (column_b, *_B):
        return 0.0
    raise InputError(
        f"{where}: found {quoted(word)}, expected {named(a)}, {named(b)}, a, b or {' or '.join(ties)}\n--tie names "
        "other words for a tie; an empty verdict has to be deleted with the other verdicts on its item"
    )


def _outputs(
    reading: Reading, pair: tuple[str, str], verdicts: Verdicts, task: str, is_by_sample: bool
) -> list[Output]:
    """The win rates of both systems on each item."""
    table = reading.table
    row_of: dict[str, int] = {}
    by_item: dict[str, list[float]] = {}
    by_order: dict[tuple[str, str], list[float]] = {}
    for (item, sample, _), (row, of_row) in verdicts.items():
        row_of.setdefault(item, row)
        by_item.setdefault(item, []).extend(of_row)
        by_order.setdefault((item, sample if is_by_sample else ""), []).extend(of_row)
    rates = np.array([np.mean(values) for values in by_item.values()])
    values = list(chain.from_iterable(by_item.values()))
    note = (
        f"{pair[0]} against {pair[1]}: {values.count(1):,} wins, {values.count(0.5):,} ties, {values.count(0):,} "
        f"losses in {len(values):,} verdicts on {len(rates):,} items"
    )
    if repeated := [of_item for of_item in by_order.values() if len(of_item) > 1]:
        changed = sum(len(set(of_item)) > 1 for of_item in repeated)
        share = f"{changed:,} of {len(repeated):,} verdicts change ({100 * changed / len(repeated):.1f} %)"
        note += f"; with another order or repeat, {share}"
    rows = list(row_of.values())
    of_items = {
        role: tuple(of[1][of[0][row]] for row in rows) if (of := reading.labels(role)) else ()
        for role in ("document", "domain")
    }
    return [
        Output(
            source=table.source, system=system, task=task, items=tuple(by_item),
            by=", ".join(reading.columns_of["item"]), metrics=(METRIC,),
            values={METRIC.name: rates if system == pair[0] else 1 - rates},
            documents=of_items["document"], domains=of_items["domain"],
            notes=(*table.notes, note), lines=[table.lines[row] for row in rows], place=table.place,
        )
        for system in pair
    ]  # fmt: skip
