"""Render texts in Markdown whose numbers are cells of tables: the findings, and the parts of pages that quote them.

A template addresses a number by table, cells and column, and writes it with its interval::

    {% set near = one("calibration", calibration="constituency", distance="near", **window) %}
    The winner wins again in {{ near.share }} of {{ near.n_pairs }} pairs.

A misspelt table or column is an error. If the run has no such row, the paragraph, list item or table row that contains
the number is left out, and so is a heading without text. `require(condition)` does the same for a conclusion that the
numbers of a run do not support.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import chain
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt

from pairsig.io.columns import Column, Table
from pairsig.io.errors import InputError
from pairsig.io.rendering import by_unit, change, count, escaped, percent
from pairsig.io.tables import frame
from pairsig.metrics.names import metric_name
from study.analysis import expected
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, Window
from study.tables.declared import all_declared

Tables = Mapping[str, pd.DataFrame]

ABSENT = "\ue000"
"""Stands in the rendered text for a number that the run does not have."""

REFERENCE = "reference"
"""Folder of the tables of the committed findings, beside their page."""

NOT_IN_THIS_RUN = "this run did not compute our number"
"""The cell `why` of `reproduction` for a number that needs data which the run does not have."""

NO_PART = "not part of this run"
"""What pages say of such numbers."""

TASKS = {
    "mt": "machine translation",
    "dependency": "dependency parsing",
    "constituency": "constituency parsing",
    "alignment": "word alignment",
    "questions": "question answering",
    "code": "code generation",
    "functions": "function calling",
}
"""Names of tasks that are not called as in the sheets."""


def rows(tables: Tables, table: str, **cells: object) -> pd.DataFrame:
    """Select the rows of a table with these cells; text with a `*` is a pattern."""
    if unknown := sorted(set(cells) - set(tables[table].columns)):
        raise InputError(f"found the column {unknown[0]}, expected one of {table}: {', '.join(tables[table].columns)}")
    selected = tables[table]
    for name, cell in cells.items():
        if isinstance(cell, str) and "*" in cell:
            selected = selected[selected[name].map(partial(fnmatchcase, pat=cell)).astype(bool)]
        else:
            selected = selected[selected[name] == cell]
    return selected


def _fixed(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:,.{digits}f}".replace("-", "−")


_TWO_DECIMALS = _fixed(2)


def _share(value: float) -> str:
    """Format a share in per cent, with two decimals if it is below 1 %."""
    return f"{100 * value:.2f} %" if 0 < abs(value) < 0.00995 else percent(value)


@dataclass(frozen=True)
class Number:
    """A number with its 95 % interval, if it has one.

    >>> str(Number(0.896, 0.856, 0.928, percent)), str(Number(-0.484, form=_fixed(2)))
    ('90 % [86, 93]', '−0.48')
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    form: Callable[[float], str] = _TWO_DECIMALS
    note: str = ""  # why the number has no interval

    def __str__(self) -> str:
        if not self.known:
            return ABSENT
        ends = [self.form(end).removesuffix(" %") for end in (self.low, self.high) if not math.isnan(end)]
        note = f" ({self.note})" if self.note else ""
        return self.form(self.value) + (f" [{', '.join(ends)}]" if ends else note)

    @property
    def known(self) -> bool:
        """Whether the run has the number."""
        return not math.isnan(self.value)

    @property
    def shown(self) -> str:
        """The number as text, or a dash."""
        return str(self) if self.known else "–"

    def holds(self, value: float) -> bool:
        """Whether the interval contains a value."""
        return self.low <= value <= self.high

    @property
    def alone(self) -> Number:
        """The number without its interval."""
        return replace(self, low=math.nan, high=math.nan, note="")

    @property
    def share(self) -> Number:
        """A share, written in per cent.

        >>> str(Number(0.00156, 0.00104, 0.0122).share)
        '0.16 % [0.10, 1]'
        """
        return replace(self, form=_share)

    @property
    def exp(self) -> Number:
        """A logarithm, written as a factor."""
        return replace(self, value=math.exp(self.value), low=math.exp(self.low), high=math.exp(self.high))

    @property
    def sqrt(self) -> Number:
        """The square root, as of a factor between variances: that between standard errors."""
        return replace(self, value=math.sqrt(self.value), low=math.sqrt(self.low), high=math.sqrt(self.high))

    def digits(self, digits: int) -> Number:
        """Write the number with so many decimals."""
        return replace(self, form=_fixed(digits))


class Row:
    """A row of a table, or none: `row["gain"]` is a `Number` with its interval, or text; templates write `row.gain`."""

    def __init__(self, table: Table, cells: Mapping[str, Any] | None) -> None:
        self._columns = {column.name: column for column in table.columns}
        self._cells = {} if cells is None else cells
        self._name = table.name

    def __bool__(self) -> bool:
        return bool(self._cells)

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise InputError(f"found the column {name}, expected one of {self._name}: {', '.join(self._columns)}")
        column, cell = self._columns[name], self._cells.get(name)
        if column.type is str:
            return ABSENT if cell is None else str(cell)
        low, high = (self._value(end) for end in column.interval)
        note = self._without_interval(column) if math.isnan(low) and math.isnan(high) else ""
        return Number(self._value(name), low, high, self._form(column), note)

    def _without_interval(self, column: Column) -> str:
        """Say why an estimate over test sets has no interval: there are too few systems or, if not, test sets."""
        if not {"n_test_sets", *column.interval} <= self._columns.keys():
            return ""
        return "too few systems" if self._value("n_systems") < MIN_SYSTEMS else "too few test sets"

    def _value(self, name: str) -> float:
        cell = self._cells.get(name, math.nan)
        return math.nan if pd.isna(cell) else float(cell)

    def _form(self, column: Column) -> Callable[[float], str]:
        if column.shown == "by unit":
            unit = self._cells.get("unit", "")
            return lambda value: f"{count(value)} %" if unit == "%" else by_unit(value, unit)
        forms = {"share": percent, "change of share": change, "count": count}
        return count if column.type is int else forms.get(column.shown, _TWO_DECIMALS)


def verdict(row: Row) -> str:
    """The verdict on a printed number, a row of `reproduction`; `NO_PART` if the run has no data for it."""
    return NO_PART if row["why"] == NOT_IN_THIS_RUN else str(row["verdict"])


def compared(row: Row, otherwise: str = "differs") -> str:
    """Put the verdict on a printed number in words; with too few pairs or systems, say how many there are."""
    if not row or verdict(row) == NO_PART:
        return ABSENT
    words = {"agrees": "reproduced", "too few": few(row), "not comparable": "not comparable"}
    return words.get(row["verdict"], otherwise)


def few(row: Row) -> str:
    """Say of what a printed number has too few: `too few pairs in the window: 3`."""
    return str(row["why"]).replace("number of our", "too few")


def judged(holds: bool, n_pairs: Number) -> str:
    """Put a verdict in words unless it would rest on too few pairs."""
    if n_pairs.value < MIN_PAIRS:
        return f"too few pairs: {n_pairs.digits(0)}"
    return "reproduced" if holds else "differs"


def enough(row: Row) -> bool:
    """Whether a row has enough pairs and systems for a conclusion."""
    return bool(row["n_pairs"].value >= MIN_PAIRS and row["n_systems"].value >= MIN_SYSTEMS)


def least(numbers: Iterable[Number]) -> Number:
    """The smallest number."""
    return min(numbers, key=lambda number: number.value, default=Number())


def most(numbers: Iterable[Number]) -> Number:
    """The largest number."""
    return max(numbers, key=lambda number: number.value, default=Number())


def minus(first: Number, second: Number) -> Number:
    """Difference of two numbers, with its interval from theirs as if they were independent (Zou and Donner 2008)."""
    ends = ((number.value, number.low, number.high) for number in (first, second))
    return Number(*expected.difference(*ends), first.form)


def all_hold(numbers: Iterable[Number], value: float) -> bool:
    """Whether there are numbers, and the intervals of all of them contain a value."""
    inside = [number.holds(value) for number in numbers]
    return bool(inside) and all(inside)


def require(condition: object) -> str:
    """Leave the paragraph out unless the condition is true."""
    return "" if condition else ABSENT


def task_name(task: str) -> str:
    """Format the name of a task.

    >>> task_name("mt"), task_name("question-answering")
    ('machine translation', 'question answering')
    """
    return TASKS.get(task, task.replace("-", " ").replace("_", " "))


@cache  # with its compiled templates
def environment() -> Environment:
    """Make the environment of the templates."""
    templates = Environment(
        loader=PackageLoader("study.findings", "."),
        autoescape=False,  # Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["metric"] = metric_name
    templates.tests["enough"] = enough
    templates.filters["escaped"] = lambda cell: escaped(str(cell), "markdown")
    return templates


def _names(tables: Tables, where: str) -> dict[str, Any]:
    """Names that templates can use."""
    declared = all_declared()
    # The tables of the study that a run lacks have no rows.
    tables = {name: frame(table, []) for name, table in declared.items() if name not in tables} | dict(tables)

    def known(name: str) -> str:
        """The name of a table, if it is one."""
        if name not in declared:
            raise InputError(f"found the table {name}, expected one of {', '.join(sorted(declared))}")
        return name

    def every(name: str, **cells: object) -> list[Row]:
        """Rows of a table with these cells."""
        return [Row(declared[name], row) for row in rows(tables, known(name), **cells).to_dict("records")]

    def one(name: str, **cells: object) -> Row:
        """The row with these cells; a row without cells if the run does not have it."""
        selected = every(name, **cells)
        if len(selected) > 1:
            raise InputError(f"found {len(selected)} rows of {name} with {cells}, expected one")
        return selected[0] if selected else Row(declared[name], None)

    return {
        "one": one,
        "rows": every,
        "require": require,
        "compared": compared,
        "judged": judged,
        "all_hold": all_hold,
        "minus": minus,
        "least": least,
        "most": most,
        "number": Number,
        "window": _window(tables),
        "reference": where == REFERENCE,
        "covered": _covered(tables),
        "missing": NOT_IN_THIS_RUN,
        "table": lambda name: f"[`{name}`]({where}/{known(name)}.tsv)",
        "figure": lambda name: f"{where}/{name}.png" if where == REFERENCE else f"figures/{name}.svg",
    }


def _window(tables: Tables) -> dict[str, float]:
    """The range of p-values near 0.05 of a run, or the paper's."""
    used = tables["thresholds"][["p_low", "p_high"]].drop_duplicates().to_dict("records")
    return Window(**used[0])._asdict() if used else Window()._asdict()


def _covered(tables: Tables) -> str:
    """Describe the datasets of a run: `3 datasets (machine translation 2, word alignment 1)`."""
    datasets = rows(tables, "systems", group="all").drop_duplicates("dataset")
    tasks = Counter(task_name(task) for task in datasets["task"] if task).most_common(4)
    others = len(datasets) - sum(size for _, size in tasks)
    described = ", ".join(f"{name} {size}" for name, size in [*tasks, *([("others", others)] if others else [])])
    n = f"{len(datasets)} dataset{'s' * (len(datasets) != 1)}"
    return f"{n} ({escaped(described, 'markdown')})" if described else n


def findings(tables: Tables, where: str = "tables") -> str:
    """Render the findings of a run in Markdown; those of a run that lacks most numbers are short.

    Parameters
    ----------
    tables
        Tables by the names of their files.
    where
        Folder of the tables, relative to the page; the committed findings are about `reference`.
    """
    names = _names(tables, where)
    absent = [verdict(row) == NO_PART for row in names["rows"]("reproduction")]
    is_small = sum(absent) > len(absent) / 2
    rendered = environment().get_template("small.jinja" if is_small else "findings.jinja").render(**names)
    return pruned(rendered)


def pruned(text: str) -> str:
    r"""Leave out paragraphs, list items and table rows with a number that the run lacks, and headings without text.

    >>> pruned(f"# A\n\n- one {ABSENT}\n- two\n\n## B\n\nthree {ABSENT}\n")
    '# A\n\n- two\n'
    """
    blocks = filter(None, map(_kept, map(_wrapped, re.split(r"\n{2,}", text.strip("\n")))))
    complete: list[str] = []
    for block in reversed([*blocks]):
        level = re.match(r"#+ ", block)
        following = re.match(r"#+ ", complete[-1]) if complete else None
        if not (level and (not complete or (following and len(following[0]) <= len(level[0])))):
            complete.append(block)
    return "\n\n".join(reversed(complete)) + "\n"


def _wrapped(block: str) -> str:
    """A paragraph or the items of a list in lines of at most 120 characters; tables and headings as they are."""
    if block.startswith(("|", "#")):
        return block
    items = re.split(r"\n(?=- )", block)
    indent = "  " if block.startswith("- ") else ""
    lines = (
        textwrap.wrap(
            " ".join(item.split()), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        for item in items
    )
    return "\n".join(chain.from_iterable(lines))


def _kept(block: str) -> str:
    """What stays of a paragraph, list or table."""
    if block.startswith("|"):
        head, rows = block.split("\n")[:2], block.split("\n")[2:]
        body = [row for row in rows if ABSENT not in row]
        if not body or ABSENT in "".join(head):
            return ""
        return "\n".join([*head, *body])
    items = re.split(r"\n(?=- )", block) if block.startswith("- ") else [block]
    return "\n".join(item for item in items if ABSENT not in item)


_FRAGMENT = re.compile(r"(?P<begin><!-- (?P<name>[a-z0-9_]+) -->)(?P<text>.*?)(?P<end><!-- /(?P=name) -->)", re.DOTALL)


def filled(page: str, tables: Tables, where: str = "tables") -> str:
    """Fill in the fragments of a page: what stands between `<!-- NAME -->` and `<!-- /NAME -->`.

    Each is a macro in `fragments.jinja`.

    Raises
    ------
    InputError
        If there is no such fragment, or if the tables do not have its numbers.
    """
    if not _FRAGMENT.search(page):
        return page
    macros = environment().get_template("fragments.jinja").make_module(_names(tables, where))

    def fill(fragment: re.Match[str]) -> str:
        name = fragment["name"]
        if not hasattr(macros, name):
            raise InputError(f"found the fragment {name}, expected a macro with this name in fragments.jinja")
        text = str(getattr(macros, name)()).strip("\n")
        if ABSENT in text:
            raise InputError(f"the tables have no row for a number of the fragment {name}: {text}")
        if "\n" in fragment["text"]:
            text = "\n\n".join(["", *map(_wrapped, text.split("\n\n")), ""])
        return f"{fragment['begin']}{text}{fragment['end']}"

    return _FRAGMENT.sub(fill, page)


def html_page(text: str) -> str:
    """Convert the findings to HTML for a report that stands alone: links to other files become text."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    plain = re.sub(r"!\[[^]]*\]\([^)]*\)\n*|(?<!!)\[([^]]*)\]\([^)]*\)", r"\1", text)
    return f'{_STYLE}<div class="findings">\n{markdown.render(plain)}</div>\n'


# Snakemake centres what its report begins with, so that the top of a long page, and the left of one on a narrow screen,
# would be out of reach.
_STYLE = """<style>
.overflow-auto:has(.findings) { align-items: flex-start; justify-content: safe center; }
.prose:has(.findings) { max-width: 60em; }
.findings { font: 15px/1.5 system-ui, sans-serif; max-width: min(60em, 100vw - 2em); }
.findings h1 { font-size: 1.6em; margin: .3em 0; }
.findings h2 { font-size: 1.25em; margin: 1.2em 0 .3em; }
.findings p, .findings ul { margin: .7em 0; }
.findings code::before, .findings code::after { content: none; }
.findings table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0; font-size: 13px; }
.findings td:first-child { min-width: 12em; }
.findings :is(th, td) { padding: .3em .6em; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
</style>
"""
