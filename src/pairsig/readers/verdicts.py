"""Verdicts on pairs of systems, such as those of a judge: who wins each item, with ties, in one order or in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics.counts import average
from pairsig.readers.cells import Table, labels
from pairsig.readers.output import Output
from pairsig.readers.table import TOTALS, Roles, split

_TIE = "tie"
_A, _B = ("a", "system_a", "model_a", "model_1", "first"), ("b", "system_b", "model_b", "model_2", "second")
"""Words for the two systems of a row, in upper or lower case."""

METRIC = average("win rate")


@dataclass
class _Pair:
    """The verdicts on two systems: 1, ½ or 0 for the first of them, by item and by row."""

    by_item: dict[str, list[float]] = field(default_factory=dict)
    rows_of: dict[str, int] = field(default_factory=dict)
    seen: dict[tuple[str, str, str], int] = field(default_factory=dict)
    orders: dict[tuple[str, str], list[float]] = field(default_factory=dict)


def outputs(
    table: Table,
    roles: Roles,
    columns_of: Mapping[str, Sequence[str]],
    labels_of: Callable[[str], Any],
    refusal: Callable[..., InputError],
) -> tuple[Output, ...]:
    """Two outputs per pair of systems: the share of wins of each item, with a tie as half, and 1 minus it.

    Verdicts on an item in both orders, and its samples, are averaged, so that an item counts once. The difference of
    the two win rates is 2 · win rate − 1, and swapping the systems on an item changes the sign of its contribution.
    """
    if undeclared := [
        role for role in ("systems", "score", "gold", "prediction", "true", "macro", "run") if getattr(roles, role)
    ]:
        raise InputError(f"{table.source}: found --{undeclared[0]} with --winner, expected one of them")
    if roles.metric:
        raise InputError(f"{table.source}: found --metric with --winner, whose metric is the win rate\nleave it out")
    if (items := labels_of("item")) is None:
        raise refusal("no column with the items, expected one called item, id, … or --item")
    sides = [columns_of.get(side, []) for side in ("system_a", "system_b")]
    if any(sides) and not all(sides):
        raise refusal("one of --system-a and --system-b, expected both")
    names = [labels(table.columns[side[0]]) for side in sides if side]
    verdicts = {name: labels(table.columns[name]) for name in columns_of["winner"]}
    ties = [word.lower() for word in split(roles.tie) or [_TIE, "draw", "both"]]
    if not names:
        names = _names_in(table, verdicts, ties, refusal)
    sample = labels_of("sample")
    pairs: dict[tuple[str, str], _Pair] = {}
    for row in range(len(table.lines)):
        item, a, b = items[1][items[0][row]], names[0][row], names[1][row]
        if not a or not b or a == b:
            raise InputError(
                f"{table.where(row)}: found a verdict on {named(a) or '(empty)'} and {named(b) or '(empty)'}, "
                "expected two different systems"
            )
        if item.lower() in TOTALS:
            raise InputError(
                f"{table.where(row)}: found the item {quoted(item)}, expected no rows of totals\n"
                "delete the row, or name another column with --item"
            )
        is_turned = (a, b) not in pairs and (b, a) in pairs
        pair = pairs.setdefault((b, a) if is_turned else (a, b), _Pair())
        of_sample = sample[1][sample[0][row]] if sample else ""
        key = (item, of_sample, a)
        if key in pair.seen:
            raise refusal(
                f"verdicts on the item {named(item)} in {table.place}s {table.lines[pair.seen[key]]} and "
                f"{table.lines[row]}, expected one per order: "
                "name the column that differs with --sample COL (turns, orders, repeats: averaged), or --item "
                "COL,COL (a part of the id)"
            )
        pair.seen[key] = row
        pair.rows_of.setdefault(item, row)
        for column, words in verdicts.items():
            value = _value(words[row], a, b, sides, ties, f"{table.where(row)}, column {named(column)}")
            value = 1 - value if is_turned else value
            pair.by_item.setdefault(item, []).append(value)
            pair.orders.setdefault((item, of_sample if len(verdicts) > 1 or any(sides) else ""), []).append(value)
    several = len(pairs) > 1
    results: list[Output] = []
    for (a, b), pair in pairs.items():
        results += _outputs(table, columns_of, a, b, pair, f"{a} and {b}" if several else "")
    return tuple(results)


def _names_in(
    table: Table, verdicts: Mapping[str, Sequence[str]], ties: Sequence[str], refusal: Callable[..., InputError]
) -> list[list[str]]:
    """The two systems, if the verdicts name them."""
    cells = chain.from_iterable(verdicts.values())
    words = dict.fromkeys(word for word in cells if word and word.lower() not in ties)
    if len(words) != 2:
        raise refusal(
            f"the verdicts {listed(words) or '(none)'} beside ties, expected the names of two systems: --tie "
            "names the words for a tie, --system-a and --system-b the columns with the systems"
        )
    first, second = sorted(words) if {word.lower() for word in words} == {"a", "b"} else list(words)
    return [[first] * len(table.lines), [second] * len(table.lines)]


def _value(word: str, a: str, b: str, sides: Sequence[Sequence[str]], ties: Sequence[str], where: str) -> float:
    """1 if system A of the row wins, ½ for a tie, 0 if B wins."""
    columns = [side[0].lower() if side else "" for side in sides]
    if word == a:
        return 1.0
    if word == b:
        return 0.0
    lower = word.lower()
    if lower in ties:
        return 0.5
    if lower and (lower == columns[0] or lower in _A):
        return 1.0
    if lower and (lower == columns[1] or lower in _B):
        return 0.0
    raise InputError(
        f"{where}: found {quoted(word)}, expected {named(a)}, {named(b)}, a, b or {' or '.join(ties)}\n"
        "--tie names other words for a tie; an empty verdict has to be deleted with the other verdicts "
        "on its item"
    )


def _outputs(
    table: Table, columns_of: Mapping[str, Sequence[str]], a: str, b: str, pair: _Pair, task: str
) -> list[Output]:
    """The win rates of both systems on each item."""
    rates = np.array([np.mean(values) for values in pair.by_item.values()])
    values = np.concatenate([np.array(of_item) for of_item in pair.by_item.values()])
    n_wins, n_ties = int((values == 1).sum()), int((values == 0.5).sum())
    note = (
        f"{a} against {b}: {n_wins:,} wins, {n_ties:,} ties, {len(values) - n_wins - n_ties:,} losses in "
        f"{len(values):,} verdicts on {len(rates):,} items"
    )
    repeated = [of_item for of_item in pair.orders.values() if len(of_item) > 1]
    if repeated:
        changed = sum(len(set(of_item)) > 1 for of_item in repeated)
        note += (
            f"; with another order or repeat, {changed:,} of {len(repeated):,} verdicts change "
            f"({100 * changed / len(repeated):.1f} %)"
        )
    labels_of = {
        role: labels(table.columns[columns_of[role][0]]) if columns_of.get(role) else []
        for role in ("document", "domain")
    }
    rows = list(pair.rows_of.values())
    return [
        Output(
            source=table.source, system=system, task=task, items=tuple(pair.by_item), by=", ".join(columns_of["item"]),
            values={METRIC.name: rates if system == a else 1 - rates}, metrics=(METRIC,),
            documents=tuple(labels_of["document"][row] for row in rows) if labels_of["document"] else (),
            domains=tuple(labels_of["domain"][row] for row in rows) if labels_of["domain"] else (),
            notes=(*table.notes, note),
            lines=[table.lines[row] for row in rows], place=table.place,
        )
        for system in (a, b)
    ]  # fmt: skip
