"""Unusual tables turned into ordinary ones, which have scores by system and item.

A conversion is a function that changes a table of its kind in place, with a note, and leaves all others as they are.
Those of `BEFORE_ROLES` see all columns, those of `AFTER_ROLES` know which have systems and runs, and those of
`AFTER_ITEMS` also know the columns of items and of scores. A new kind of table is a new function in one of these lists.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pairsig.io.errors import listed, quoted
from pairsig.readers.layout import roles
from pairsig.readers.layout.cells import MISSING, Column
from pairsig.readers.layout.table import Table, grouped
from pairsig.readers.layout.vocabulary import (
    KINDS,
    PREDICTIONS,
    are_numbered,
    is_a,
    is_index,
    is_run,
    is_setting,
    is_summary,
    is_system,
    key,
    of_kind,
    role,
    shown,
)

_TIES = ("tie", "draw", "equal", "both", "neither", "same", "none")
_PASSED = {
    "pass", "passed", "ok", "success", "succeeded", "accepted", "ac", "solved", "resolved", "correct", "completed",
}  # fmt: skip
_NOT_PASSED = {
    "fail", "failed", "failure", "error", "errored", "timeout", "timed out", "crash", "crashed", "wrong",
    "wrong answer", "wa", "tle", "mle", "re", "ce", "rte", "runtime error", "partial",
    "compile error", "compilation error", "syntax error", "exception", "aborted", "skipped", "empty",
    "incorrect", "rejected", "unsolved", "unresolved", "not attempted", "no answer", "invalid", "empty patch",
}  # fmt: skip
_FRACTION = re.compile(r"(\d{1,9}(?:[.,]\d{1,3})?)\s*/\s*(\d{1,9})")
_LABELLED = (
    re.compile(r"(?P<value>\d{1,2})\s*(?:[-–—:=.,(]|\s)\s*(?P<label>[^\W\d][^()]*?)\)?"),
    re.compile(r"(?P<label>[^\W\d][^()]*?)\s*[-–—:=(]\s*(?P<value>\d{1,2})\)?"),
)
_STARS = re.compile(r"[★⭐]\ufe0f?(?:[★⭐]\ufe0f?)*[☆]*|☆+")
_SHARED = 0.9
"""The share of all items that each system must have so that several columns identify an item."""
_GRADES = 11
"""How many different grades with labels a table may have."""
_ENDS = 12
"""How many rows at the beginning and the end of a system may summarize the others."""
_WEIGHTED = r"[*_`]*(micro|weighted)[-_ ]?(avg|average|mean)"
"""Rows that weight the others by their size."""
_TASKS = 5
"""A one-row-per-system table with at least this many columns has one score per task; tasks are its items."""


def judgements(table: Table) -> None:
    """Judgements of which of two systems is better become scores of both: 1 for a win, 0.5 for a tie."""
    winners = [name for name in table.columns if is_a("winner", name)]
    sides = _sides(table)
    if not winners or table.chosen.score or (sides is None and table.columns[winners[0]].is_numeric):
        return
    verdicts = [verdict.removesuffix(".0") for verdict in table.labels(winners[:1])]
    ties = [verdict == "0" or verdict.lower().startswith(_TIES) for verdict in verdicts]
    if sides is None:
        names = list(dict.fromkeys(own for own, tie in zip(verdicts, ties, strict=True) if own and not tie))
        numeric = [name for name in table.columns if table.columns[name].is_numeric]
        if len(names) != 2 or {name.lower() for name in names} <= {key(name) for name in numeric}:
            return
        sides = [names[0]] * len(verdicts), [names[1]] * len(verdicts)
    systems = list(dict.fromkeys(name for side in sides for name in side))
    wanted = table.wanted("system") or systems
    if len(wanted) != 2:
        raise table.error(
            f"found judgements between {len(systems)} systems ({listed(systems)}), expected two; name them with "
            f"{table.chosen.hint('system', systems[:2])}"
        )
    scores: dict[str, list[float | None]] = {name: [] for name in wanted}
    kept = [row for row, pair in enumerate(zip(*sides, strict=True)) if set(pair) == set(wanted)]
    for row in kept:
        pair = {"a": sides[0][row], "b": sides[1][row]}
        verdict = re.sub(r"^(model|system|assistant|output|response)[\s_-]*", "", verdicts[row].lower())
        place = {"1": "a", "left": "a", "2": "b", "right": "b"}.get(verdict, verdict)
        winner = pair.get(place, verdicts[row])
        if winner not in wanted and verdicts[row] and not ties[row]:
            raise table.error(
                f"found {quoted(verdicts[row])} in column {shown(winners[0])}, expected {wanted[0]}, {wanted[1]} or "
                "tie",
                row,
            )
        for name in wanted:
            scores[name].append(None if not verdicts[row] else 0.5 if ties[row] else float(name == winner))
    table.keep(kept)
    table.columns |= {name: Column(own) for name, own in scores.items()}
    table.chosen = replace(table.chosen, system=wanted)
    table.note(f"a system has 1 if `{winners[0]}` names it, 0.5 for a tie, else 0")


def _sides(table: Table) -> tuple[list[str], list[str]] | None:
    """The first and the second system of each judgement."""
    for one in table.columns:
        match = re.fullmatch(r"(.*?)(_?)(a|1|left)", key(one))
        if match and (is_system(match[1]) or match[1] in ("generator", "candidate", "assistant")):
            other = match[1] + match[2] + {"a": "b", "1": "2", "left": "right"}[match[3]]
            for second in table.columns:
                if key(second) == other:
                    return table.labels([one]), table.labels([second])
    return None


def metrics_in_rows(table: Table) -> None:
    """Each metric gets a column if there is a row for each metric of an item, with its name in a column."""
    scores = [name for name in table.columns if is_a("score", name) and table.columns[name].is_mostly_numeric]
    names = [
        name
        for name in of_kind("metric", table.columns)
        if len(own := set(table.labels([name]))) > 1 or (own != {""} and [*map(key, scores)] in (["score"], ["value"]))
    ]
    if not names or len(scores) != 1 or table.chosen.item:
        return
    keys = [name for name in table.columns if role(name) in ("system", "run", "item") and name not in (*names, *scores)]
    metrics = table.labels(names[:1])
    rows: dict[tuple[str, ...], int] = {}
    places = [
        rows.setdefault(own, row) for row, own in enumerate(zip(*(table.labels([one]) for one in keys), strict=True))
    ]
    if not keys or len(set(zip(places, metrics, strict=True))) < len(metrics):
        return
    if len(rows) == len(metrics) and len(set(metrics)) > 1:
        return
    cells: dict[str, dict[int, Any]] = {metric: {} for metric in metrics}
    for row, (place, metric) in enumerate(zip(places, metrics, strict=True)):
        cells[metric][place] = table.columns[scores[0]].cells[row]
    del table.columns[names[0]], table.columns[scores[0]]
    table.keep(list(rows.values()))
    table.columns |= {metric: Column([own.get(row) for row in rows.values()]) for metric, own in cells.items()}
    counts = [metric for metric in cells if is_a("beside", metric)]
    table.beside += counts if len(counts) < len(cells) else []
    table.chosen = replace(table.chosen, score=[metric for metric in cells if metric not in table.beside])
    table.note(f"metrics from column `{shown(names[0])}`")


def answers(table: Table) -> None:
    """Answers from a small set become scores: whether they are the right answer of the row."""
    chosen, free = table.chosen.gold, table.free
    golds = [table.column(chosen, "gold")] if chosen else [name for name in free if is_a("gold", name)]
    for gold in golds:
        right = table.labels([gold])
        texts = [name for name in free if name != gold and (chosen or not table.columns[name].is_mostly_numeric)]
        given = {name: own for name in texts if set(own := table.labels([name])) - {""} <= set(right)}
        few = 2 * len(set(right)) <= len(right) and not table.columns[gold].is_mostly_numeric
        if not given or not (chosen or few):
            continue
        wanted = [*table.wanted("system"), *table.wanted("score")]
        known = {name: own for name in given if (own := _correctness_of(table, name))}
        if chosen:
            twice = [name for name in dict.fromkeys(itertools.chain(*known.values())) if name not in wanted]
        else:  # not for some systems only: their columns may count by another rule
            twice = list(known) if len(known) == len(given) and not set(known) & set(wanted) else []
        for name in twice:
            given.pop(name, None)
            del table.columns[name]
            table.beside.append(name)
        bare = {name: _without_prediction(name) for name in given}
        distinct = all(bare.values()) and len({*bare.values(), *table.columns}) == len(bare) + len(table.columns)
        if chosen or known or wanted or not distinct:
            bare = {name: name for name in given}
        for name, own in given.items():
            same = [None if "" in pair else pair[0] == pair[1] for pair in zip(own, right, strict=True)]
            del table.columns[name]
            table.columns["correct" if len(given) == 1 else bare[name]] = Column(same)
        del table.columns[gold]
        if given:
            table.note(f"{listed(given)} is right where it equals `{shown(gold)}`")
        return


def _without_prediction(name: str) -> str:
    """The system in the name of a column of answers, such as `pred_gpt`; "" if there is no such word."""
    kinds = "|".join(PREDICTIONS)
    found = re.sub(rf"^({kinds})[\s_.\-/:]+|[\s_.\-/:]+({kinds})$", "", name.strip(), flags=re.IGNORECASE)
    return "" if found == name.strip() else found


def _correctness_of(table: Table, answer: str) -> list[str]:
    """The columns that say where a column of answers is right, such as `gpt_correct` beside `gpt_pred`."""
    kinds = "|".join(PREDICTIONS)
    system = re.sub(rf"^({kinds})(_|$)|_({kinds})$", "", key(answer))
    words = KINDS["correctness"].names
    names = {"_".join(filter(None, own)) for word in words for own in ((system, word), (word, system))}
    return [
        name for name, own in table.columns.items() if key(name) in names and own.is_numeric and own.scale == "0 and 1"
    ]


def systems_in_rows(table: Table) -> None:
    """Rows and columns are exchanged if there is one row per system, or run of it, and one column per item."""
    if table.systems is None and not table.chosen.system and not table.chosen.one_system:
        table.systems = _with_numbered_items(table)
    if table.systems is None or table.items:
        return
    outputs, free = table.outputs(), table.free
    tasks = _of_tasks([name for name in free if table.columns[name].is_numeric])
    if table.runs is not None and not tasks:
        return
    names = tasks or [name for name in free if table.columns[name].is_numeric]
    numbered = [name for name in names if name.strip()[-1:].isdigit()]
    if len(numbered) > max(_TASKS, roles.MANY * (len(names) - len(numbered))) and are_numbered(numbered):
        names = numbered  # without a sum or a mean of them
    names = _without_settings(table, names)
    if len(set(outputs)) < len(outputs) or len(names) < 2:
        return
    if any(is_a("item", name) and not is_index(name) for name in free):
        return
    ends = [value for own in names for value in (min(table.columns[own].values), max(table.columns[own].values))]
    shares = max(ends) <= 1 or min(ends[1::2]) > 1
    alike = len(names) >= _TASKS and min(ends) >= 0 and max(ends) <= 100 and shares
    if not tasks and not are_numbered(names) and (not alike or any(is_a("score", own) for own in names)):
        raise table.error(
            f"found one row per system, with {listed(names)}, expected a score for each item: a test needs more than "
            "the scores of whole test sets"
        )
    table.beside += [name for name in free if table.columns[name].is_numeric and name not in names]
    labels = [f"{name} seed{run}" if run.isdecimal() else f"{name} {run}".rstrip() for name, run in outputs]
    own = {name: Column([table.columns[item].cells[row] for item in names]) for row, name in enumerate(labels)}
    table.columns = {"item": Column(names), **own}
    table.lines = range(1, len(names) + 1)
    table.cells = replace(table.cells, place="item")
    table.chosen = replace(table.chosen, system=None, score=None)
    table.note("the columns are items, and the rows are systems")
    roles.assign(table)


def _of_tasks(names: Sequence[str]) -> list[str]:
    """The columns that have the same metric on many tasks, such as `test/rte/acc` and `test/cola/acc`."""
    parts = {name: own for name in names if len(own := re.split(r"[/|]", name)) > 2 and is_a("score", own[-1])}
    families = grouped((own[0], own[-1]) for own in parts.values())
    largest = max(families.values(), key=len, default=[])
    return [list(parts)[place] for place in largest] if len(largest) >= _TASKS else []


def _with_numbered_items(table: Table) -> str | None:
    """The only column of text beside at least as many numbered columns, such as `q1`, as there would be of systems."""
    numeric = [name for name, own in table.columns.items() if own.is_numeric]
    texts = [name for name in table.columns if name not in numeric]
    many = len(numeric) >= max(10, roles.MANY * len(table.lines))
    numbered = many and len(texts) == 1 and are_numbered(numeric) and not any(map(is_run, numeric))
    return texts[0] if numbered and len(set(table.labels(texts))) == len(table.lines) > 1 else None


def _without_settings(table: Table, names: Sequence[str]) -> list[str]:
    """The columns of numbers without those that describe systems, such as their size, and without means of others."""
    names = [name for name in names if not is_a("beside", name)]
    whole = [name for name in names if all(float(value).is_integer() for value in table.columns[name].values)]
    kinds = {re.sub(r"\d+", "#", name) for name in names if name not in whole}
    whole = [
        name for name in whole if "#" not in (kind := re.sub(r"\d+", "#", name)) or kind not in kinds
    ]  # not of q1, q2
    names = [name for name in names if name not in whole] if len(names) - len(whole) >= _TASKS else names
    tasks = [name for name in names if not is_a("summary", name)]
    return tasks if len(tasks) > 1 else names


def without_summaries(table: Table, used: Sequence[str]) -> None:
    """Leave out first and last rows such as the mean of all others.

    Raises
    ------
    InputError
        If a last row is called like a summary, but has other scores.
    """
    ids = table.labels(table.items) if table.items else _summaries(table, used)
    left_out: list[int] = []
    for rows in grouped(table.outputs()).values() if ids else ():
        ends = {*rows[:_ENDS], *rows[-_ENDS:]}
        middle = rows[_ENDS:-_ENDS][:100] or rows
        numbered = sum(any(map(str.isdigit, ids[row])) for row in middle) > len(middle) / 2
        named = {row for row in ends if is_summary(ids[row])}
        odd = {row for row in ends if not any(map(str.isdigit, ids[row])) and (numbered or not ids[row])} - named
        for each in (rows, rows[::-1]):
            found = list(itertools.takewhile((odd | named).__contains__, each))
            others = [row for row in rows if row not in found] if found else []
            if not found or len(others) < 2:
                continue
            weighted = {row for row in found if re.match(_WEIGHTED, ids[row].lower())}
            wrong = [
                (row, name)
                for row in found
                for name in used
                if row not in weighted and not _summarizes(table, row, name, others)
            ]
            if not wrong and (named.intersection(found) or any(_is_new(table, found, name, others) for name in used)):
                left_out += found
            elif each is not rows and (wrong := [own for own in wrong if own[0] in named]) and rows[-1] in named:
                row, name = wrong[0]
                raise table.error(
                    f"found {quoted(ids[row])}, which may be a summary of the other rows, but has "
                    f"{table.columns[name].numbers[row]} in column {shown(name)}, expected items only; leave the row "
                    "out or rename it",
                    row,
                )
    if left_out:
        names = [ids[row] or f"{table.cells.place} {table.lines[row]}" for row in sorted(left_out)]
        table.note(f"{listed(dict.fromkeys(names))} left out, since it summarizes the other rows")
        table.keep([row for row in range(len(ids)) if row not in left_out])


def _summaries(table: Table, used: Sequence[str]) -> list[str]:
    """The label of each row that is called like a summary, else its number; empty if no row is."""
    columns = [table.labels([name]) for name in table.columns if name not in used]
    found = [next(filter(is_summary, row), "") for row in zip(*columns, strict=True)]
    return [label or str(row) for row, label in enumerate(found)] if any(found) else []


def _summarizes(table: Table, row: int, name: str, others: Sequence[int]) -> bool:
    """Whether a number is the mean, sum and so on of others; `8/30` is the sum 8."""
    numbers = table.columns[name].numbers
    value = numbers[row]
    if isinstance(value, str) and (match := _FRACTION.fullmatch(table.labels([name])[row].strip("*_` "))):
        value = float(match[1].replace(",", "."))
    own = np.array([number for other in others if isinstance(number := numbers[other], int | float)], dtype=float)
    if not isinstance(value, int | float) or not len(own):
        return value is None
    known = [own.mean(), own.sum(), np.median(own), own.min(), own.max(), len(own), 100 * own.mean()]
    known += [own.std(ddof=ddof) for ddof in (0, 1) if len(own) > ddof]
    return any(abs(value - one) <= 0.006 * max(1, abs(one)) for one in known)


def _is_new(table: Table, rows: Sequence[int], name: str, others: Sequence[int]) -> bool:
    """Whether rows have numbers that no other row has."""
    numbers = table.columns[name].numbers
    return any(numbers[row] is not None and numbers[row] not in {numbers[other] for other in others} for row in rows)


def repeated_items(table: Table, used: Sequence[str]) -> None:
    """Several rows of an item become one: they are items of several documents, scores by several people, or runs.

    Numbers of items may begin anew in each document or subject: then both identify an item. Scores by several people
    are averaged. If each item has equally many rows without a label, they are samples of the system.
    """
    outputs, ids = table.outputs(), table.labels(table.items) if table.items else []
    keys = list(zip(outputs, ids, strict=False))
    if table.chosen.item or not all(ids) or len(set(keys)) == len(keys):
        return
    free = [name for name in (table.document, table.domain, *table.free) if name not in (None, *used, *table.items)]
    labels = {name: table.labels([name]) for name in free if name is not None}
    telling = [name for name, own in labels.items() if len(set(zip(keys, own, strict=True))) == len(keys)]
    people = [name for name in telling if is_a("person", name)]
    parts = [
        name
        for name, own in labels.items()
        if _is_of_items(table, name) and not is_a("person", name) and all(own) and len(set(own)) < len(own)
    ]
    if table.systems is None and not table.chosen.one_system and len(used) > 1:  # each row is an item of all systems
        texts = [name for name in telling if not table.columns[name].is_mostly_numeric]
        parts += [name for name in texts if name not in parts and not is_a("person", name)]
    several = [*itertools.combinations(parts, 1), *itertools.combinations(parts, 2)]
    rows = list(grouped(keys).values())
    if people:
        for name in used:
            table.array(name)  # refuses what is no number
            cells: list[Any] = [None] * len(keys)
            for own in rows:
                known = [value for row in own if isinstance(value := table.columns[name].numbers[row], int | float)]
                cells[own[0]] = sum(known) / len(known) if known else None
            table.columns[name] = Column(cells)
        table.keep([own[0] for own in rows])
        table.note(f"the score of an item is its mean over column `{shown(people[0])}`")
    elif found := next((own for own in several if _identify(own, labels, ids, outputs)), None):
        table.items = [*found, *table.items]
        table.note(
            f"{listed(map(shown, table.items))} identify an item together, since {shown(table.items[-1])} repeats"
        )
    elif is_setting(setting := roles.crossed(table, ids, [name for name in telling if name not in parts])):
        table.systems = table.joined([table.systems or "", setting])
        table.note(f"a system is a combination of {table.systems}")
    elif table.runs is None and _are_samples(
        rows, table, [labels[name] for name in telling if not is_a("output", name)]
    ):
        places = {row: place for own in rows for place, row in enumerate(own, start=1)}
        table.runs = "row of the item"
        table.columns[table.runs] = Column([str(places[row]) for row in range(len(keys))])
        table.note(f"the {len(rows[0])} rows of each item are runs, in their order")


def _is_of_items(table: Table, name: str) -> bool:
    """Whether a column has parts of the test set, such as documents, or numbers of items, but not conditions."""
    numbered = role(name) == "item" and key(name) != "" and table.columns[name].is_mostly_numeric
    labelled = is_a("label of items", name) or is_a("text of several items", name)
    return labelled or numbered or key(name) in ("tok", "token", "word", "position")


def _identify(
    names: Sequence[str], labels: Mapping[str, list[str]], ids: list[str], outputs: Sequence[tuple[str, str]]
) -> bool:
    """Whether labels and ids together differ in all rows of a system, and systems have most of them in common."""
    keys = list(zip(ids, *(labels[name] for name in names), strict=True))
    own = [[keys[row] for row in rows] for rows in grouped(outputs).values()]
    n_shared = min(len(set(one)) for one in own)
    return all(len(set(one)) == len(one) for one in own) and n_shared >= _SHARED * len(set(keys))


def _are_samples(rows: Sequence[Sequence[int]], table: Table, telling: Sequence[list[str]]) -> bool:
    """Whether all items have equally many rows, several of which differ, and no label distinguishes them.

    Two rows without a text of the system may also be of two systems.
    """
    n_rows, cells = len(rows[0]), table.labels(list(table.columns))
    factor = any(len({frozenset(own[row] for row in each) for each in rows}) == 1 for own in telling)
    differ = any(len({cells[row] for row in each}) > 1 for each in rows)
    enough = n_rows > 2 or any(is_a("output", name) for name in table.free)
    return len(rows) > 1 and {len(own) for own in rows} == {n_rows} and differ and enough and not factor


def merged_cells(table: Table) -> None:
    """Names of systems and items that stand once above all their rows, as in merged cells, are repeated."""
    for name, column in list(table.columns.items()):
        labels = table.labels([name])
        if len(labels) < 2 or labels[1] or not labels[0]:
            continue
        starts = [row for row, label in enumerate(labels) if label]
        sizes = {b - a for a, b in itertools.pairwise([*starts, len(labels)])}
        names = [labels[row] for row in starts]
        if len(starts) > 1 and starts[0] == 0 and len(sizes) == 1 < min(sizes) and len(set(names)) == len(names):
            cells = [column.cells[starts[row // min(sizes)]] for row in range(len(labels))]
            if role(name) in ("system", "item", "run") or is_a("label of items", name):
                table.columns[name] = Column(cells, column.comma)
                table.note(f"a cell of column `{shown(name)}` belongs to all rows up to the next one")


def numbers_in_texts(table: Table) -> None:
    """Numbers in texts of one form become numbers: `3/5`, `4 - good`, `good (4)` and stars."""
    texts = {}
    for name, column in table.columns.items():
        first = next((label for label in column.labels if label.lower() not in MISSING), "")
        formed = any(form.fullmatch(first) for form in (_STARS, _FRACTION, *_LABELLED))
        if formed and not column.is_numeric and not is_a("item", name):
            texts[name] = {label for label in column.labels if label.lower() not in MISSING}

    def convert(form: re.Pattern[str], number: Callable[[re.Match[str]], float]) -> None:
        for name, own in texts.items():
            matches = {text: form.fullmatch(text) for text in own}
            if own and all(matches.values()):
                numbers = {text: number(match) for text, match in matches.items() if match}
                table.columns[name] = Column([numbers.get(label) for label in table.labels([name])])

    convert(_STARS, lambda match: sum(map(match[0].count, "★⭐")))
    fractions = [
        match for own in texts.values() if all(found := [_FRACTION.fullmatch(one) for one in own]) for match in found
    ]
    pairs = [(float(match[1].replace(",", ".")), int(match[2])) for match in fractions if match]
    if all(a <= b for a, b in pairs):
        same = len({b for _, b in pairs}) == 1  # points of a scale; otherwise shares of different totals
        convert(_FRACTION, lambda match: float(match[1].replace(",", ".")) / (1 if same else int(match[2])))
    for form in _LABELLED:
        columns = {name: own for name, own in texts.items() if own and all(map(form.fullmatch, own))}
        labelled = {
            match[0]: int(match["value"]) for own in columns.values() for text in own if (match := form.fullmatch(text))
        }
        n_cells = sum(map(len, (table.labels([name]) for name in columns)))
        if 1 < len(labelled) <= _GRADES and len(set(labelled.values())) == len(labelled) < n_cells:
            convert(form, lambda match: int(match["value"]))


def statuses(table: Table) -> None:
    """Statuses of tests become true for those that passed and false for all others, such as `timeout`."""
    for name, column in list(table.columns.items()):
        if _status(next(filter(None, column.labels), "")) not in _PASSED | _NOT_PASSED:
            continue
        labels = list(map(_status, column.labels))
        words = set(filter(None, labels))
        passed, failed = words & _PASSED, words & _NOT_PASSED
        if passed and failed and words == passed | failed and not column.is_numeric:
            cells = [label in _PASSED if label else None for label in labels]
            table.columns[name] = Column(cells)
            table.note(f"{listed(sorted(passed))} counts as 1 in column `{shown(name)}`, {listed(sorted(failed))} as 0")


def _status(label: str) -> str:
    return label.lower().replace("_", " ")


def systems_side_by_side(table: Table) -> None:
    """Rows with two systems, such as `model_a, score_a, model_b, score_b`, become two rows."""
    pairs, by_key = {}, {key(name): name for name in reversed(table.columns)}
    for first in table.columns:
        if match := re.fullmatch(r"(.*?_?)(a|1|left)(_.*)?", key(first)):
            other = match[1] + {"a": "b", "1": "2", "left": "right"}[match[2]] + (match[3] or "")
            if (second := by_key.get(other)) is not None:
                pairs[(match[1] + (match[3] or "")).strip("_").replace("__", "_")] = (first, second)
    systems = [name for name in pairs if is_system(name)]
    scores = [
        name for name, own in pairs.items() if is_a("score", name) and all(table.columns[c].is_numeric for c in own)
    ]
    if len(systems) != 1 or not scores or table.chosen.system or table.chosen.score:
        return
    table.keep([row for row in range(len(table.lines)) for _ in (0, 1)])
    for name, (first, second) in pairs.items():
        a, b = table.columns.pop(first), table.columns.pop(second)
        table.columns[name] = Column([(a, b)[row % 2].cells[row] for row in range(len(table.lines))], a.comma)
    table.note(f"each row has two systems, with scores {listed(scores)}")


def people_in_columns(table: Table) -> None:
    """Columns of several people who score the same, such as `rater1` and `rater2`, become their mean."""
    numeric = [name for name, own in table.columns.items() if own.is_numeric and not is_a("score", name)]
    people = [
        name for name in numeric if is_a("person", name) or is_a("person", re.sub(r"[\s_\-.:]+\w{1,12}$", "", name))
    ]
    of_one = table.chosen.one_system or any(is_a("system", name) for name in table.columns)
    if len(people) < 2 or not of_one or table.chosen.score or table.chosen.system:
        return
    rows = zip(*(table.columns[name].numbers for name in people), strict=True)
    known = [[value for value in row if isinstance(value, int | float)] for row in rows]
    for name in people:
        del table.columns[name]
    table.columns["score"] = Column([sum(own) / len(own) if own else None for own in known])
    table.note(f"the score of an item is the mean of columns {listed(people)}")


def batches_of_crowdsourcing(table: Table) -> None:
    """Of the results of Mechanical Turk, only the answers may be scores, and not times or rewards."""
    answers, given = ([name for name in table.columns if name.lower().startswith(own)] for own in ("answer.", "input."))
    if not given or not any(table.columns[name].is_numeric for name in answers):
        return
    chosen = {table.chosen.run, *table.wanted("item"), *table.wanted("score"), *table.wanted("system")}
    for name in [name for name in table.columns if name not in (*answers, *given)]:
        if name not in chosen and not is_a("person", name):
            numeric = table.columns[name].is_numeric
            del table.columns[name]
            table.beside += [name] * numeric


BEFORE_ROLES = (
    batches_of_crowdsourcing,
    merged_cells,
    numbers_in_texts,
    statuses,
    systems_side_by_side,
    people_in_columns,
    judgements,
    metrics_in_rows,
)
AFTER_ROLES = (answers, systems_in_rows)
AFTER_ITEMS = (without_summaries, repeated_items)
