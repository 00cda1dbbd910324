"""Answers to offer where a table can be read in more than one way: nothing here decides how a table is read.

`readers.table` asks, tries each of these answers, and offers those that lead on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations, product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pairsig.io.errors import columns_in, joined
from pairsig.metrics import registry
from pairsig.readers.cells import NEARLY

if TYPE_CHECKING:
    from pairsig.readers.table import Reading

Answer: TypeAlias = dict[str, str | bool | None]

FEW = 4
"""Columns or words for which there is an answer each."""
_COLUMNS = 12
"""Columns that are tried as runs or parts of items."""
_CLASSES = 20
"""Different cells of a column that may have right answers or predictions."""


def of_rows(table: Reading) -> list[Answer]:
    """Roles of one or two more columns with which every row has another item, system or run.

    The rows must fill at least half of the table of all items, systems and runs, which lengths, dates and outputs do
    not. There are none if each item of a system and run has one row.
    """
    keys, items = table.keys, table.columns_of["item"]
    if not keys or (items and table.codes(keys)[1] == table.n_rows):
        return []
    sizes = {name: len(table.columns[name].labels[1]) for name in keys}
    others = []
    for name in table.free:
        sizes[name] = len(table.columns[name].labels[1])
        if sizes[name] > 1:
            others.append(name)
    for width in (1, 2):
        answers: list[Answer] = []
        for names in combinations(others[:_COLUMNS], width):
            n_cells = math.prod(sizes[name] for name in (*keys, *names))
            if 2 * table.n_rows >= n_cells and table.codes([*keys, *names])[1] == table.n_rows:
                answers += _roles_of(table, names)
        if answers:
            return answers
    return []


def _roles_of(table: Reading, names: Sequence[str]) -> Iterator[Answer]:
    """The ways in which columns may be a run, a system, and more parts of the item."""
    for roles in product(("run", "item", "system"), repeat=len(names)):
        answer: Answer = {role: joined([name]) for role, name in zip(roles, names, strict=True) if role != "item"}
        inner = [name for role, name in zip(roles, names, strict=True) if role == "item"]
        items = [*table.columns_of["item"], *inner]
        if len(answer) + len(inner) < len(names) or not items or any(table.columns_of[role] for role in answer):
            continue
        if "system" not in answer or not (table.several or table.declared["systems"]):
            yield {**answer, "item": joined(items)} if inner else answer


def of_items(table: Reading) -> list[str]:
    """Columns that may identify the items of a table in which none does: each row has another text or whole number."""
    if table.columns_of["item"]:
        return []
    return [
        name
        for name in table.free
        if table.codes([*table.keys, name])[1] == table.n_rows > 1
        and table.columns[name].labels[0].min() >= 0
        and not _has_fractions(table, name)
    ]


def _has_fractions(table: Reading, name: str) -> bool:
    """Whether a column has other numbers than whole ones."""
    values = table.columns[name].numbers[0]
    return table.columns[name].kind != "text" and not np.array_equal(values, np.rint(values))


def of_scores(table: Reading, names: Sequence[str], ratios: Sequence[tuple[str, str, str]]) -> list[Answer]:
    """Roles of several columns of numbers."""
    if resolutions := of_rows(table):
        return list(chain.from_iterable(_with_score(resolution, names) for resolution in resolutions))
    items = of_items(table)
    names = [name for name in names if name not in items] or list(names)
    alone = table.several or bool(table.columns_of["system"])
    answers: list[Answer] = []
    for value, above, below in ratios:
        lower: Answer = {"lower-is-better": True} if value.lower() in table.lower else {}
        answers += [{"score": joined([value])}, {"score": joined([f"{above}/{below}"]), **lower}]
    counts = {name.lower() for name in table.free}
    metrics = {
        m.columns: m.name for m in reversed(registry.METRICS.values()) if not m.averaged and {*m.columns} <= counts
    }
    answers += [{"metric": name} for name in metrics.values()]
    if alone:
        answers += [{"score": joined([name])} for name in names[:FEW]]
    else:
        outcomes = [name for name in names if set(table.columns[name].first(3)) <= {"0", "1", "True", "False"}]
        others = [name for name in names if name not in outcomes]
        answers += [{"systems": joined(names_alike)} for names_alike in (outcomes, others) if len(names_alike) > 1]
    answers += of_answers(table, names)
    if not names and not answers:
        answers = _of_words(table, alone=alone)
    if alone and len(names) == 1:
        answers = [{"item": joined([item])} for item in items]
    elif alone:
        answers = [{"item": joined([item]), **answer} for item, answer in product(items, answers)] or answers
    return [answer for place, answer in enumerate(answers) if answer not in answers[:place]]


def _with_score(resolution: Answer, names: Sequence[str]) -> list[Answer]:
    """Roles of columns, with each of the scores that are left if there are several."""
    used = set(chain.from_iterable(columns_in(str(names_of_role)) for names_of_role in resolution.values()))
    unused = [name for name in names if name not in used]
    return [resolution] if len(unused) == 1 else [{**resolution, "score": joined([name])} for name in unused[:FEW]]


def of_answers(table: Reading, among: Sequence[str] = (), gold: str = "") -> list[Answer]:
    """Columns with mostly the same few labels, as right answers (one of `among`, or `gold`) and predictions."""
    classes = {}
    for name in [*table.free, *([gold] if gold else [])]:
        labels = table.columns[name].first(_CLASSES + 1)
        if 1 < len(labels) <= _CLASSES and not _has_fractions(table, name):
            classes[name] = {label.strip() for label in labels}
    pairs = [
        (right, name)
        for right, name in permutations(classes, 2)
        if 2 * len(classes[right] & classes[name]) >= len(classes[right] | classes[name])
        and (right == gold if gold else not among or right in among)
    ]
    answers: list[Answer] = []
    if table.several or table.columns_of["system"]:
        places = list(classes).index
        pairs = [(right, name) for right, name in pairs if gold or places(right) < places(name)]
        answers = [{"gold": joined([right]), "prediction": joined([name])} for right, name in pairs]
    else:
        beside = {right: [name for gold_of, name in pairs if gold_of == right] for right, _ in pairs}
        answers = [
            {"gold": joined([right]), "systems": joined(predictions)}
            for right, predictions in beside.items()
            if len(predictions) > 1
        ]
    return answers[: 2 * FEW]


def _of_words(table: Reading, *, alone: bool) -> list[Answer]:
    """Columns of a few words as scores, for each word that may be the right one."""
    words = {name: table.columns[name].first(FEW + 1) for name in table.free}
    few = {name: cells for name, cells in words.items() if 1 < len(cells) <= FEW}
    if alone:
        choices = chain.from_iterable(product([name], cells) for name, cells in few.items())
        return [{"score": joined([name]), "true": joined([word])} for name, word in choices]
    answers: dict[str, Answer] = {}
    for cells in few.values():
        alike = [name for name in few if set(few[name]) == set(cells)]
        if len(alike) > 1:
            answers |= {word: {"systems": joined(alike), "true": joined([word])} for word in cells}
    return list(answers.values())


def of_words(words: Mapping[str, int], missing: Sequence[str], *, only_words: bool) -> list[Answer]:
    """What words among scores may mean: the right one, or a missing score."""
    if any(map(NEARLY.fullmatch, words)):  # numbers in another notation
        return []
    if only_words:
        return [{"true": joined([word])} for word in words] if len(words) <= 2 * FEW else []
    return [{"missing-value": joined([*missing, *words])}] if len(words) <= FEW else []


def ratios(table: Reading, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Columns that are the ratio of two others, which are counts, in each row, after rounding, perhaps in percent."""
    values = {name: np.asarray(table.columns[name].numbers[0], dtype=np.float64) for name in names[: 2 * FEW]}
    triples = []
    for value, above, below in permutations(values, 3):
        with np.errstate(all="ignore"):
            shares = values[above] / values[below]
        known = np.isfinite(shares) & np.isfinite(values[value])
        whole = {name: bool((column[known] == np.rint(column[known])).all()) for name, column in values.items()}
        counts = whole[below] and (whole[above] or not whole[value])
        if not counts or np.count_nonzero(known) < FEW - 1 or np.ptp(shares[known]) < 1e-9:
            continue
        if values[below][known].max() <= 1:
            continue
        shown, exact = values[value][known], shares[known]
        if any(np.allclose(shown, factor * exact, rtol=0, atol=factor * 6e-3) for factor in (1, 100)):
            triples.append((value, above, below))
    return triples
