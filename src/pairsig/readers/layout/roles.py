"""Which columns of a table have the systems, the runs and the items: their names decide, and then their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.readers.layout.table import Table, grouped
from pairsig.readers.layout.vocabulary import is_a, is_index, is_run, is_setting, is_system, of_kind, role, shown

MANY = 5
"""How many times more items than systems a table must have so that their numbers distinguish them."""
_FEW = 100
"""Tables with more columns are wide: trying all pairs of these would take long."""
_SHARED = 0.9
"""The share of all items that each system must have so that their values identify a column of items."""


def assign(table: Table) -> None:
    """Find the columns of systems, runs and labels, and those of items as far as the user named them."""
    table.runs = _column_of(table, "run")
    table.systems = _systems(table)
    table.document = _column_of(table, "document")
    table.domain = _column_of(table, "domain")
    found = _by_values(table)
    if found:
        table.systems, item = found
        table.items = [item]
    else:
        table.items = [table.column(name, "item") for name in table.wanted("item")]


def _column_of(table: Table, kind: str) -> str | None:
    """The column that the user named for a role, else the first with a known name that has labels."""
    if getattr(table.chosen, kind) is not None:
        (name,) = table.wanted(kind)
        return table.column(name, kind)
    scores = table.wanted("score")
    among = [name for name in table.columns if name not in scores]
    # The statistics of systems without runs have a column `run` without labels.
    found = [own for own in of_kind(kind, among) if any(table.labels([own]))]
    if kind == "run" and len(table.lines) > 2:  # ids that differ in each row are no runs
        found = [own for own in found if len(set(table.labels([own]))) < len(table.lines)]
    return next(iter(found), None)


def _systems(table: Table) -> str | None:
    """The column of systems; `run` if it has names and no other column has systems."""
    wanted = table.wanted("system")
    if len(wanted) == 1:
        return table.column(wanted[0], "system")
    if len(wanted) > 1 and set(wanted) <= set(table.columns):
        texts = any(not table.columns[name].is_mostly_numeric for name in wanted)
        answers = table.chosen.gold or any(is_a("gold", name) for name in table.columns)
        return table.joined(wanted) if texts and (any(map(is_system, wanted)) or not answers) else None
    runs, scores = table.runs, table.wanted("score")
    among = [name for name in table.columns if name not in (runs, *scores)]
    sure, maybe = (
        [name for name in own if all(table.labels([name]))]
        for own in (of_kind("system", among), of_kind("maybe system", among))
    )
    if not sure and not maybe:
        sure, maybe = of_kind("system", among)[:1], of_kind("maybe system", among)[:1]
    ids = [table.labels([own]) for own in of_kind("item", table.columns) if own not in (*sure, *maybe)]
    # These names may also be those of a text about the item.
    repeated = not ids or any(len(set(own)) < len(own) for own in ids)
    found = [*sure, *(maybe if repeated else [])]
    if runs is not None:
        found = [name for name in found if not any(_is_with_run(table, name, other) for other in found)] or found
    # Of prompts or settings of one model, these are the systems.
    systems = next((name for name in found if len(set(table.labels([name]))) > 1), next(iter(found), None))
    if systems is None and repeated and ids and runs and table.chosen.run is None:
        labels = set(table.labels([runs]))
        if len(labels) > 1 and not any(map(is_run, labels)) and not table.chosen.one_system:
            systems, table.runs = runs, None
    if len(wanted) > 1:
        if systems is None or set(wanted) <= set(table.columns):
            return None
        labels_of = table.labels([systems])
        if missing := [name for name in wanted if name not in labels_of]:
            names = list(dict.fromkeys(labels_of))
            raise table.error(
                f"found the systems {listed(names)}, expected {quoted(missing[0])} for "
                f"{table.chosen.hint('system', wanted)}{near(missing[0], names)}"
            )
        # In the order that the user wrote.
        table.keep([row for name in wanted for row, label in enumerate(labels_of) if label == name])
    return systems


def _is_with_run(table: Table, name: str, system: str) -> bool:
    """Whether a column has names of runs, such as `react-s1`, that consist of those in two others."""
    assert table.runs is not None
    names, systems, runs = (table.labels([own]) for own in (name, system, table.runs))
    both = set(zip(systems, runs, strict=True))
    return 1 < len(set(systems)) < len(set(names)) == len(both) == len(set(zip(names, systems, runs, strict=True)))


def crossed(table: Table, ids: Sequence[str], names: Sequence[str]) -> str:
    """The only column in which rows of the same system and item differ, if all systems have all items with each label.

    Systems are then combinations with this column, such as the style of the prompt; "" if there is none.
    """
    found = []
    for name in names if table.systems is not None else ():
        labels = table.labels([name])
        rows = list(grouped(zip(table.outputs(), labels, strict=True)).values())
        n_items, n_labels = len(set(ids)), len(set(labels))
        enough = n_labels > 1 and n_labels < n_items and all(labels)
        if enough and all(len({ids[row] for row in own}) == len(own) >= _SHARED * n_items for own in rows):
            found.append(name)
    settings = [name for name in found if is_setting(name)]
    return (settings or found)[0] if len(settings) == 1 or len(found) == 1 else ""


def _by_values(table: Table) -> tuple[str, str] | None:
    """The columns of systems and items, by their values where names do not decide; None unless only two can be these.

    Systems have few names, and each system has each item once.
    """
    columns, chosen, systems, runs = table.columns, table.chosen, table.systems, table.runs
    if chosen.item or len(columns) > _FEW or (systems is None and (chosen.system or chosen.one_system)):
        return None
    free = [name for name in columns if name != runs and not is_a("beside", name) and not is_a("gold", name)]
    known = [name for name in of_kind("item", free) if not is_index(name)]
    if systems is not None and known:
        return None
    scores = [name for name in free if is_a("score", name) or name in table.wanted("score")]
    free = [name for name in free if name not in scores]
    labels = {name: table.labels([name]) for name in free}
    texts = [name for name in free if not columns[name].is_mostly_numeric]
    ids = known or [
        name for name in free if name in texts or (columns[name].is_numeric and columns[name].scale == "whole numbers")
    ]
    run_of = [""] * len(table.lines) if runs is None else table.labels([runs])
    found: dict[str, list[str]] = {}
    for system in [systems] if systems is not None else texts:
        if systems is None and (role(system) or is_a("label of items", system) or not all(labels[system])):
            continue
        rows = list(grouped(zip(table.labels([system]), run_of, strict=True)).values())
        n_systems = len(set(table.labels([system])))
        for item in ids:
            n_items = len(set(labels[item]))
            enough = n_systems > 1 and n_items > 1 and (systems or known or n_items >= MANY * n_systems)
            own = [{labels[item][row] for row in each} for each in rows]
            paired = zip(own, rows, strict=True)
            if item != system and enough and all(len(a) == len(b) and _SHARED * n_items <= len(a) for a, b in paired):
                found.setdefault(system, []).append(item)
    if len(found) != 1:
        return None
    ((system, (item, *others)),) = found.items()
    if any(len(set(zip(labels[item], labels[one], strict=True))) > len(set(labels[item])) for one in others):
        return None
    numbers = [name for name in free if name not in (system, item, *others) and columns[name].is_mostly_numeric]
    return (system, item) if scores or len(numbers) == 1 else None


def items(table: Table, used: Sequence[str]) -> list[str]:
    """The column of items beside those of scores that are used; none if they are the rows in their order."""
    several, groups = table.systems is not None, list(grouped(table.outputs()).values())
    free = [name for name in table.free if name not in used]

    def fits_all(labels: Sequence[str]) -> bool:
        """Whether every system has each of its items once, and the systems share most of them."""
        own = [{labels[row] for row in rows} for rows in groups]
        n_items = len(set().union(*own))
        return all(len(ids) == len(rows) and 2 * len(ids) > n_items for ids, rows in zip(own, groups, strict=True))

    known = of_kind("item", free)
    known = [name for name in known if not is_a("person", name)] or known
    texts = [
        name
        for name in free
        if name not in known and (not table.columns[name].is_mostly_numeric or table.columns[name].counts_rows)
    ]
    if not several:
        texts = [name for name in texts if len(set(table.labels([name]))) > 1]
    if known:
        texts = [name for name in texts if not is_a("person", name)]
    if not known and (several or len(texts) == 1 or len(used) > 1 or table.cells.unnamed):
        known = texts
    labels = {name: table.labels([name]) for name in known}
    valid = [name for name in known if fits_all(labels[name])]
    if several and not valid:
        labels |= {name: table.labels([name]) for name in texts}
        valid = [name for name in texts if fits_all(labels[name])]
    named_well = [name for name in valid if not is_index(name) and not table.columns[name].counts_rows]
    valid = named_well if named_well and len(groups) == 1 else [n for n in valid if not is_index(n)] or valid
    if len(groups) > 1:
        for other in valid[1:]:
            one = labels[valid[0]]
            if not len(set(zip(one, labels[other], strict=True))) == len(set(one)) == len(set(labels[other])):
                raise table.error(
                    f"found the columns {shown(valid[0])}, {shown(other)}, which pair the systems differently, "
                    f"expected one that identifies an item; name it with {table.chosen.hint('item', valid[:1])}"
                )
    if not valid and table.document and fits_all(table.labels([table.document])):
        return [table.document]
    if valid or known:
        return (valid or known)[:1]
    if several:
        raise table.error(
            f"found the columns {listed(map(shown, table.columns))}, expected one with the ids of items, by which "
            f"systems are paired; name it with {table.chosen.hint('item', ['COLUMN'])}"
        )
    return []


def ids(table: Table) -> list[str]:
    """The id of the item of each row, which a system and run has once; numbers of rows if there is no column of them.

    Raises
    ------
    InputError
        If an item has no id or is repeated, or if a table with one row per system has no items.
    """
    outputs = table.outputs()
    if not table.items:
        seen: Counter[tuple[str, str]] = Counter()
        numbers = []
        for output in outputs:
            seen[output] += 1
            numbers.append(str(seen[output]))
        return numbers
    found = table.labels(table.items)
    first: dict[tuple[str, tuple[str, str]], int] = {}
    for row, (item, output) in enumerate(zip(found, outputs, strict=True)):
        if not item:
            raise table.error(f"found no {shown(table.items[0])}, expected the id of the item", row)
        if first.setdefault((item, output), row) != row:
            raise _repeated(table, found, outputs, first[item, output], row)
    if table.systems is not None and role(table.items[0]) != "item" and len(set(found)) == 1 < len(found):
        raise table.error(
            "found one row per system, expected a score for each item: a test needs more than the scores of whole "
            "test sets"
        )
    return found


def _repeated(
    table: Table, found: Sequence[str], outputs: Sequence[tuple[str, str]], before: int, row: int
) -> InputError:
    """An item that a system and run has twice, with the columns that may distinguish the two."""
    of = "".join(
        f" of {what} {named(name)}" for what, name in zip(("system", "run"), outputs[row], strict=True) if name
    )
    items, hint = table.items, table.chosen.hint
    texts = [name for name in table.columns if name not in items and len(set(table.labels([name]))) > 1]
    enough = [name for name in texts if len(set(zip(table.labels([name, *items]), outputs, strict=True))) == len(found)]
    people = [name for name in enough if is_a("person", name)]
    if people and any(run for _, run in outputs):
        more = f"average the scores in column {shown(people[0])} first"
    elif people:
        more = (
            f"average over column {shown(people[0])} first, or use {hint('run', people[:1])}, which treats the scores "
            "of each of these people as a run of the system"
        )
    elif setting := crossed(table, found, enough):
        more = (
            f"if {shown(setting)} distinguishes systems, use {hint('system', [table.systems or '', setting])}; if it "
            f"identifies an item, use {hint('item', [setting, *items])}"
        )
    else:
        names = [name for name in enough or texts if not is_a("person", name) and not is_a("score", name)]
        more = f"if several columns identify an item, name them as in {hint('item', [*names[:1], *items])}"
        both = [*names[:1], *items]
        numbers = [name for name in both if table.columns[name].is_numeric]
        others = [name for name in both if name not in numbers[:1]]
        if numbers and names and not any(run for _, run in outputs):
            use = f"{hint('item', others)}{',' * table.chosen.python} {hint('run', numbers[:1])}"
            more += f"; if {shown(numbers[0])} has the number of the run, use {use}"
    return table.error(
        f"found item {named(found[row])}{of} again (first in {table.cells.place} {table.lines[before]}), expected it "
        f"once; {more}",
        row,
    )
