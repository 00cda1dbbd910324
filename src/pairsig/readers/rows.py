"""The rows of a text or of a sheet: where the table begins and ends, and which of them name its columns.

Titles above a table, notes below it and repeated lines of names are left out, with a note.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import NamedTuple

from pairsig.io.errors import InputError, check_distinct, listed
from pairsig.io.files import MAX_LINE
from pairsig.readers import html, latex, layout, workbook

SEPARATORS = "\t;|,"
_BLANKS = {"\t\t": r"\s{2,}", " ": r"[ \t]"}
"""Blanks between cells, by what stands for them: two or more in columns that are aligned, one in tables of R."""
_COMMENT = r"#(?!\s*[,;\t|])|sep="
_RULE = r"[-+:=|\s]*(--|==)[-+:=|\s]*|\s*(:?-+:?\s*\|\s*)+:?-+:?\s*"
_TREC_EVAL = ("measure", "topic", "value"), ("topic", "measure", "value")
"""Columns of trec_eval and of ir_measures."""
_PAIR = r"(?<!\S)([^\W\d][\w@.\-/]*)=(\"[^\"]*\"|[^\s,;]+),?(?=\s|$)"
_FEW_PAIRS = 3
"""Names that a line of a log has at least: of a system, an item and a score."""
_SAMPLE = 20
"""Rows from which the separator is found."""


def of_text(path: str, text: str) -> layout.Cells:
    """The cells of a text with any separator, or of the first table in LaTeX."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if table := _pairs(text):
        found = _of_rows(path, [_Row(line, cells) for line, cells in table])
        note = f"{path}: read the {len(table) - 1:,} lines that have {', '.join(f'{name}=…' for name in table[0][1])}"
        return replace(found, notes=(note, *found.notes))
    if table := latex.rows(text) or html.rows(text):
        width = max(len(cells) for _, cells in table)
        return _of_rows(path, [_Row(line, cells + [""] * (width - len(cells))) for line, cells in table])
    whole = text.split("\n")
    first, separator = 0, ""
    while first < len(whole) and (not whole[first].strip() or re.match(_COMMENT, whole[first])):
        if whole[first].startswith("sep="):
            separator = whole[first].rstrip("\r")[4:5]
        first += 1
    before = csv.field_size_limit(MAX_LINE)  # the default, 131,072 characters, is too short for some model answers
    try:
        body = [f"{line}\n" for line in whole[first:]]
        separator = separator or _separator(body)
        rows = [_Row(first + line, cells) for line, cells in _rows(body, separator, path, first)]
        comment = whole[first - 1] if first and whole[first - 1].startswith("#") else ""
        above = [_Row(first, cells) for _, cells in _rows([comment.lstrip("# ")], separator)]
    finally:
        csv.field_size_limit(before)
    return _of_rows(path, rows, separator, above[0].cells if above else (), first)


def _pairs(text: str) -> list[tuple[int, list[str]]]:
    """The rows of a log whose lines are of the form `system=gpt id=q1 f1=0.5`, without all other lines; else none."""
    if text.count("=") < _FEW_PAIRS * text.count("\n") / 2:  # most texts, which need no closer look
        return []
    found = []
    for line, content in enumerate(text.split("\n"), start=1):
        if len(pairs := dict(re.findall(_PAIR, content))) > 1:
            found.append((line, pairs))
    names, n_rows = Counter(tuple(pairs) for _, pairs in found).most_common(1)[0] if found else ((), 0)
    if len(names) < _FEW_PAIRS or 2 * n_rows < text.count("\n"):
        return []
    first = next(line for line, pairs in found if tuple(pairs) == names)
    rows = [(line, [pairs[name].strip('"') for name in names]) for line, pairs in found if tuple(pairs) == names]
    return [(first, list(names)), *rows]


def of_workbook(path: str, data: bytes) -> layout.Cells:
    """The cells of a workbook: of the sheets of systems, which have the same columns, or of the first large sheet."""
    sheets = workbook.sheets(data, path)
    if not sheets:
        raise InputError(f"{path}: found no cells, expected a table")
    alike: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for name, own in sheets.items():
        metric = layout.is_a("score", name)  # sheets of metrics have columns of systems
        first = next((place for place, row in enumerate(own) if sum(map(bool, row)) > 1), len(own))  # below titles
        if first + 1 < len(own) and not metric and not any(map(layout.is_system, own[first])):
            alike.setdefault(tuple(own[first]), []).append((name, first))
    names, systems = max(alike.items(), key=lambda one: len(one[1]), default=((), []))
    if len(systems) > 1:
        rows = [_Row(systems[0][1] + 1, ["system", *names])]
        for name, first in systems:
            below = enumerate(sheets[name][first + 1 :], start=first + 2)
            rows += [_Row(line, [name, *cells]) for line, cells in below if any(cells)]
        read = [name for name, _ in systems]
    else:
        n_numbers = {name: sum(any(map(layout.is_number, row)) for row in own) for name, own in sheets.items()}
        read = [name for name, n in n_numbers.items() if 2 * n >= max(n_numbers.values())][:1]
        rows = [_Row(line, own) for line, own in enumerate(sheets[read[0]], start=1) if any(map(str.strip, own))]
    found = _of_rows(path, rows, place="row")
    others = [name for name in sheets if name not in read]
    note = f"{path}: read the sheet{'s' * (len(read) > 1)} {listed(read)}, not {listed(others)}"
    return replace(found, notes=(*([note] if others else []), *found.notes))


def _of_rows(
    path: str, rows: list[_Row], separator: str = "", above: Sequence[str] = (), first: int = 0, place: str = "line"
) -> layout.Cells:
    """The cells of rows, perhaps below a comment in line `first` that names their columns."""
    if not rows:
        raise InputError(f"{path}: found no rows, expected one per item")
    width = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
    while width > 1 and not any(len(row.cells) >= width and row.cells[width - 1].strip() for row in rows):
        width -= 1
    for row in rows:
        while len(row.cells) > width and not row.cells[-1].strip():
            row.cells.pop()
    top = next((row for row in range(len(rows)) if _starts(rows[row : row + 2], width, separator)), 0)
    left_out = {"above the names of columns": rows[:top]}
    bottom = len(rows)
    while bottom > top + 2 and len(rows[bottom - 1].cells) == 1 < width - 1:
        bottom -= 1
    left_out["below the rows"] = rows[bottom:]
    titles, rows = rows[:top], rows[top:bottom]
    first_cells = [row.cells[0] for row in rows[1:]]
    numbered = len(first_cells) > 1 and _count_up(first_cells)
    if len(rows[0].cells) == width - 1 and (separator in _BLANKS or numbered):
        rows[0].cells.insert(0, "")  # R and pandas write no name above those of the rows
    unnamed = not _is_header([row.cells for row in rows])
    for of_trec in _TREC_EVAL:
        if unnamed and (totals := _totals_of_trec_eval(rows, of_trec.index("topic"))):
            left_out["with values for all topics"] = totals
            rows = [_Row(rows[0].line, list(of_trec)), *(row for row in rows if row not in totals)]
            unnamed = False
    notes: list[str] = []
    if unnamed and len(above) == width and _are_names(above, rows[0].cells):
        rows.insert(0, _Row(first, list(above)))
        unnamed = False
        notes.append(f"{path}: names of columns from the comment in line {first}")
    expected = "the first row" if unnamed else "the header"
    if unnamed and (names := [row for row in titles if len(row.cells) > 1]):
        rows, width, expected = [names[0], *rows], len(names[0].cells), "the header"
    for row in rows:
        if len(row.cells) != width:
            where = f"{path}, {place} {row.line}"
            raise InputError(f"{where}: found {len(row.cells)} fields, expected {width} as in {expected}")
    levels: dict[str, tuple[str, ...]] = {}
    if unnamed:
        names_of, n_names = _numbered([row.cells for row in rows]), 0
    else:
        n_names = _rows_of_names([row.cells for row in rows[:4]])
        names_of, levels = _named([row.cells for row in rows[:n_names]], f"{path}, {place} {rows[0].line}")
        own = rows[0].cells
        left_out["that repeat the names of columns"] = [row for row in rows[n_names:] if row.cells == own]
        rows = rows[:n_names] + [row for row in rows[n_names:] if row.cells != own]
    rows = rows[n_names:]
    n_descriptions = 0 if unnamed else _rows_of_descriptions([row.cells for row in rows[:_SAMPLE]])
    left_out["that describe the columns"] = rows[:n_descriptions]
    rows = rows[n_descriptions:]
    columns = {name: [row.cells[column] for row in rows] for column, name in enumerate(names_of)}
    comma = {";": "decimals", ",": "thousands"}.get(separator, "")
    if separator == "," and any(
        re.fullmatch(r"-?0?,\d+|-?\d+,\d{1,2}", cell) for row in rows for cell in row.cells if "," in cell
    ):
        comma = "decimals"
    notes += [
        f"{path}: left out {place} {listed(str(row.line) for row in own)} {where}"
        for where, own in left_out.items()
        if own
    ]
    return layout.Cells(path, columns, [row.line for row in rows], place, comma, unnamed, levels, tuple(notes))


class _Row(NamedTuple):
    line: int
    cells: list[str]


def _rows(lines: Sequence[str], separator: str, path: str = "", first: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The number in `lines` and the cells of each row, without blank ones and rules such as `|---|---|`."""
    if separator in _BLANKS:
        lines = [re.sub(_BLANKS[separator], separator[:1], line.strip()) + "\n" for line in lines]
    quote = "'" if lines and re.match(r"\s*'[^']*'\s*" + re.escape(separator[:1]) + r"\s*'", lines[0]) else '"'
    reader = csv.reader(lines, delimiter=separator[:1], quotechar=quote, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if separator == "|" and len(row) > 2 and not (row[0].strip() or row[-1].strip()):
                row = row[1:-1]  # Markdown
            rule = separator in ("|", *_BLANKS) and re.fullmatch(_RULE, "|".join(row))
            if any(map(str.strip, row)) and not rule:
                yield reader.line_num, row
    except csv.Error as error:
        where = f"{path}, line {first + reader.line_num}"
        raise InputError(f"{where}: found a damaged field ({error}), expected a valid table") from None


def _separator(lines: Sequence[str]) -> str:
    """The separator that divides most of the first rows into equally many cells."""
    shares: dict[str, float] = {}
    for separator in (*SEPARATORS, *_BLANKS):
        try:
            widths = Counter(len(row) for _, row in islice(_rows(lines, separator), _SAMPLE))
        except InputError:
            continue
        (width, times), *_ = widths.most_common(1) or [(1, 0)]
        share = times / max(1, widths.total())
        if width > 1 and (separator in SEPARATORS or (share > 0.7 and not shares)):
            shares[separator] = share
    return max(shares, key=lambda separator: shares[separator], default=",")


def _starts(rows: Sequence[_Row], width: int, separator: str) -> bool:
    """Whether the table starts with the first of two rows, and not with a title."""
    cells = rows[0].cells
    if len(cells) == width:
        return width == 1 or sum(bool(cell.strip()) for cell in cells) > 1
    below = rows[-1].cells
    named = len(cells) == width - 1 and len(below) == width and any(map(layout.is_number, below))
    return named and (separator in _BLANKS or below[0].strip() in ("0", "1"))


def _count_up(cells: Sequence[str]) -> bool:
    """Whether these are the numbers of rows or columns, as R and pandas write them."""
    return cells[0] in ("0", "1") and cells == [str(int(cells[0]) + k) for k in range(len(cells))]


def _are_names(cells: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a comment above a row names its columns: with known names, or with words above numbers only."""
    if any(map(layout.is_role, cells)):
        return True
    numbers = len(below) > 1 and all(map(layout.is_number, below))
    return numbers and all(cells) and len(set(cells)) == len(cells) and not any(map(layout.is_number, cells))


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has names: known ones, or no numbers above numbers of the same kind."""
    columns = list(zip_longest(*rows, fillvalue=""))
    if any(layout.is_role(name) and name not in below for name, *below in columns):
        return True
    head = [layout.is_number(cell) for cell in rows[0]]
    if not any(head):
        return True
    places = [place for place, kind in enumerate(head) if kind]
    if not rows[0][0].strip() and _count_up([rows[0][place].strip() for place in places]):
        return True  # pandas calls columns 0, 1, … if they have no names
    below = rows[1] if len(rows) > 1 else rows[0]
    return not any(place < len(below) and layout.is_number(below[place]) == head[place] for place in places)


def _totals_of_trec_eval(rows: Sequence[_Row], topic: int) -> list[_Row]:
    """The rows for all topics if these are measures, topics and values as trec_eval writes them; else none."""
    if any(len(row.cells) != 3 for row in rows) or layout.is_number(rows[0].cells[1 - topic]):
        return []
    totals = [row for row in rows if row.cells[topic].strip() == "all"]
    ids = {(row.cells[0].strip(), row.cells[1].strip()) for row in rows}
    values = all(layout.is_number(row.cells[2]) for row in rows if row not in totals)
    return totals if values and len(ids) == len(rows) > len(totals) else []


def _numbered(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names for the columns of a table without names: numbers for those of numbers, `score` if there is only one."""
    numeric = [layout.is_number(cell) is not None for cell in rows[0]]
    places = [place for place, own in enumerate(numeric) if own]
    columns = list(zip(*rows, strict=True)) if len(set(map(len, rows))) == 1 else []
    texts = [place for place, own in enumerate(columns) if not numeric[place] and 1 < len(set(own)) <= len(rows) / 2]
    if columns and len(texts) == 1 and len(places) == 2:  # such as the scores of a shared task
        ids = list(zip(columns[texts[0]], columns[places[0]], strict=True))
        if len(set(ids)) == len(ids) and all(map(str.isdecimal, columns[places[0]])):
            names = {texts[0]: "system", places[0]: "item", places[1]: "score"}
            return [names.get(place, f"column {place + 1}") for place in range(len(numeric))]
    counted = len(columns) == len(places) == 2 and len(set(columns[0])) == len(rows) > 1
    if counted and all(map(str.isdecimal, columns[0])) and any("." in cell for cell in columns[1]):
        return ["item", "score"]  # such as numbers of queries
    return [
        ("score" if sum(numeric) == 1 else str(sum(numeric[: place + 1]))) if own else f"column {place + 1}"
        for place, own in enumerate(numeric)
    ]


def _rows_of_names(rows: Sequence[Sequence[str]]) -> int:
    """How many rows have names: several if those of the first stand above groups of columns (gpt above bleu, chrf)."""

    def is_index(row: Sequence[str]) -> bool:
        """Whether this is the row in which pandas writes the name of the index."""
        return len(row) > 2 and bool(row[0].strip()) and not any(map(str.strip, row[1:]))

    names = [cell.strip() for cell in rows[0]]
    while names and not names[0]:
        names.pop(0)
    if len(set(names)) == len(names) and all(names):
        return 2 if len(rows) > 2 and is_index(rows[1]) and layout.is_role(rows[1][0]) and names[0] else 1
    for place in (2, 3):
        if len(rows) > place and is_index(rows[place]):
            return place + 1
    if len(rows) < 3:
        return 1
    filled = [place for place, cell in enumerate(rows[1]) if cell.strip()]
    texts = not any(layout.is_number(rows[1][place]) for place in filled)
    numbers = any(layout.is_number(rows[2][place]) for place in filled)
    return 2 if layout.is_role(rows[1][0]) or (texts and numbers) else 1


def _rows_of_descriptions(rows: Sequence[Sequence[str]]) -> int:
    """How many rows below the names have units or questions: texts in all columns that have numbers further below."""
    for n_rows in (2, 1):
        columns = [cells for cells in zip(*rows, strict=True) if len(rows) > n_rows + 2]
        numeric = [cells for cells in columns if all(map(layout.is_number, cells[n_rows:]))]
        above = [cell.strip() for cells in numeric for cell in cells[:n_rows]]
        if len(numeric) > 1 and all(above) and not any(map(layout.is_number, above)):
            return n_rows
    return 0


def _named(rows: Sequence[Sequence[str]], where: str) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """A name for each column, and the names of its levels if there are several rows of names."""
    paths = []
    above = [""] * len(rows)
    for place, cells in enumerate(zip(*rows, strict=True)):
        own = [cell.strip() for cell in cells]
        if any(own[1:]):
            own = [
                cell or (before if level < len(rows) - 1 else "")
                for level, (cell, before) in enumerate(zip(own, above, strict=True))
            ]
        above = own if place else above
        path = tuple(cell for cell in own if cell)
        paths.append(path if place else path[-1:])
    names = ["/".join(path) for path in paths]
    times = Counter(name for name in names if name)
    repeated = [name for name in times if times[name] > 1]
    if len(repeated) > 1 and len({times[name] for name in repeated}) == 1 and not any(map(layout.is_role, repeated)):
        seen: Counter[str] = Counter()
        for place, name in enumerate(names):  # as pandas does it
            names[place] = f"{name}.{seen[name]}" if seen[name] else name
            seen[name] += 1
    check_distinct(filter(None, names), where)
    names = [name or ("" if place == names.index("") else f" {place}") for place, name in enumerate(names)]
    return names, {name: path for name, path in zip(names, paths, strict=True) if len(path) > 1}
