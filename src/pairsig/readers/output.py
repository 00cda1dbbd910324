"""`Output`: what a file says about one run of one system, and the numbers that readers of files share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from pairsig.io.errors import InputError, named, quoted
from pairsig.io.files import AnyPath
from pairsig.metrics import Metric

NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?"
"""A decimal number; `float` would also accept `nan`, `inf` and `1_000`. No float has more than 400 significant digits,
and without bounds the pattern takes minutes to reject a megabyte of digits."""

Missing = Literal["wrong", "drop"]
"""What becomes of an item without a score for some system."""


@dataclass(frozen=True)
class Labels(Sequence[str]):
    """Texts, such as the ids of items, of which each different one is stored once: `names[codes]`."""

    codes: NDArray[np.intp]
    names: Sequence[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Labels:
        """Texts that mostly differ."""
        names = list(texts)
        return cls(np.arange(len(names)), names)

    @classmethod
    def encoded(cls, texts: Iterable[str]) -> Labels:
        """Texts of which many are the same."""
        known: dict[str, int] = {}
        codes = np.fromiter((known.setdefault(text, len(known)) for text in texts), dtype=np.intp)
        return cls(codes, list(known))

    @classmethod
    def same(cls, size: int, name: str = "") -> Labels:
        """One text, repeated."""
        return cls(np.zeros(size, dtype=np.intp), [name])

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> str: ...
    @overload
    def __getitem__(self, rows: slice | NDArray[Any]) -> Labels: ...
    def __getitem__(self, rows: Any) -> str | Labels:
        if isinstance(rows, int | np.integer):
            return self.names[int(self.codes[rows])]
        return Labels(self.codes[rows], self.names)

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def renamed(self, rename: Callable[[str], str]) -> Labels:
        """Other texts; those that become the same are one."""
        names = list(map(rename, self.names))
        if len(set(names)) == len(names):
            return Labels(self.codes, names)
        merged = Labels.encoded(names)
        return Labels(merged.codes[self.codes], merged.names)

    def joined(self, other: Labels) -> Labels:
        """The texts of both, with a slash between them; "" where one of them is ""."""
        keys, codes = np.unique(self.codes * len(other.names) + other.codes, return_inverse=True)
        pairs = [(self.names[key // len(other.names)], other.names[key % len(other.names)]) for key in keys.tolist()]
        return Labels(codes, ["/".join(pair) if all(pair) else "" for pair in pairs]).renamed(str)


def unified(parts: Sequence[Labels]) -> tuple[list[NDArray[np.intp]], list[str]]:
    """The codes of several labels for the same names, and these names."""
    known: dict[str, int] = {}
    codes_of: dict[int, NDArray[np.intp]] = {}
    for part in parts:
        if id(part.names) not in codes_of:  # the systems of a table share them
            codes_of[id(part.names)] = np.array([known.setdefault(name, len(known)) for name in part.names], np.intp)
    return [codes_of[id(part.names)][part.codes] for part in parts], list(known)


@dataclass(frozen=True)
class TaskGroup:
    """A score that an evaluation program reports for several tasks together.

    Attributes
    ----------
    name, metric
        Name of the group, and the metric of the tasks.
    tasks
        Names of the tasks.
    means
        "items" if the score may be the mean over all items, "tasks" if it may be the mean of the tasks' means. Both if
        they are equal, as with equally many items in each task.
    """

    name: str
    metric: str
    tasks: tuple[str, ...]
    means: frozenset[Literal["items", "tasks"]]


@dataclass(frozen=True, kw_only=True)
class Output:
    """The counts or scores of one run of one system on all items of a test set.

    Attributes
    ----------
    source
        The file.
    system, run, task
        Names as the file has them; "" where it has none.
    items
        The id of each item, or its number if the file has no ids.
    by
        What identifies the items, such as the names of columns; "" for their position.
    values
        Columns by name, each of shape (items,), NaN where a score is missing.
    metrics
        Metrics that can be computed from the columns, the main one first.
    documents, domains
        One label per item, "" where unknown; () if the file has none.
    contents
        What must be the same for all systems, such as a digest of the question of each item; () if unknown.
    others
        Columns of text without a role, by name: they tell whether equal ids mean equal items.
    shared, scored
        For listings of parsers: columns that belong to the test set; and False for sentences that are left out of the
        totals, whose counts are 0.
    conditions
        What should be the same for all systems, such as the version of the task.
    groups
        Groups of tasks for which the program reports a score.
    samples
        How many samples of each item were averaged; "" if none were.
    is_log
        Whether the name of the system comes from the log of an evaluation.
    notes
        Sentences about what was left out or changed.
    lines, place
        The line (or row, or entry) of each item.
    """

    source: str
    system: str = ""
    run: str = ""
    task: str = ""
    items: Sequence[str]
    by: str = ""
    values: Mapping[str, NDArray[Any]]
    metrics: tuple[Metric, ...]
    documents: Sequence[str] = ()
    domains: Sequence[str] = ()
    contents: Sequence[str] = ()
    others: Mapping[str, Labels] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    scored: NDArray[np.bool_] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[TaskGroup, ...] = ()
    samples: str = ""
    is_log: bool = False
    notes: tuple[str, ...] = ()
    lines: Sequence[int] | NDArray[np.intp] = ()
    place: str = "line"

    def __post_init__(self) -> None:
        if not len(self.items):
            raise InputError(f"{self.source}: found no items, expected at least one")
        sizes = set(map(len, self.values.values()))
        if sizes != {len(self.items)}:
            raise ValueError(f"{len(self.items)} items, but columns of {sorted(sizes)}")

    @property
    def label(self) -> str:
        """The file, with the system and the run that it names."""
        labels = [f"{noun} {named(name)}" for noun, name in (("system", self.system), ("run", self.run)) if name]
        return f"{self.source} ({', '.join(labels)})" if labels else self.source

    def where(self, position: int) -> str:
        """The file and line of the item at `position`."""
        return f"{self.source}, {self.place} {self.lines[position]}" if len(self.lines) else self.source

    def lacks(self, metric: Metric) -> NDArray[np.bool_]:
        """Which items have no score in a metric."""
        lacking = np.zeros(len(self.items), dtype=bool)
        for column in metric.columns:
            if self.values[column].dtype.kind == "f":
                lacking |= np.isnan(self.values[column])
        return lacking


# Files of counts: numbers with blanks between them, one segment per line.


def of_numbers(path: AnyPath, metrics: Mapping[int, tuple[Metric, ...]], expected: str) -> Output:
    """Read counts with one segment per line, in the columns of the first metric for so many numbers per line.

    Blank lines at the end are ignored. Blank lines between others are an error, since a missing line would shift all
    later segments against those of the other system.
    """
    from pairsig.readers.outputs import text

    rows: list[list[int | float]] = []
    for line, row in enumerate("\n".join(text.read(path)).rstrip().split("\n"), start=1):
        where = f"{path}, line {line}"
        values = [to_number(cell) for cell in row.split()]
        if None in values:
            raise InputError(f"{where}: found {quoted(row.split()[values.index(None)])}, expected {expected}")
        if len(values) not in metrics:
            problem = f"{len(values)} numbers" if values else "a blank line"
            raise InputError(f"{where}: found {problem}, expected {expected}")
        if rows and len(values) != len(rows[0]):
            raise InputError(f"{where}: found {len(values)} numbers, expected {len(rows[0])} as in the first line")
        rows.append([value for value in values if value is not None])
    chosen = metrics[len(rows[0])]
    columns = map(to_array, zip(*rows, strict=True))
    lines = range(1, len(rows) + 1)
    return Output(source=str(path), items=tuple(map(str, lines)), lines=lines, metrics=chosen,
                  values=dict(zip(chosen[0].columns, columns, strict=True)))  # fmt: skip


def width(rows: Sequence[str]) -> int:
    """How many numbers the first row has if all rows consist of numbers; else 0."""
    numeric = all(re.fullmatch(rf"\s*{NUMBER}(?:\s+{NUMBER})*\s*", row, re.ASCII) for row in rows)
    return len(rows[0].split()) if rows and numeric else 0


def to_number(text: str) -> int | float | None:
    """The number in a text, as `int` if it is whole; None for other text and for numbers that do not `fit`."""
    if not re.fullmatch(NUMBER, text, re.ASCII):
        return None
    value = int(text) if text.lstrip("+-").isdecimal() else float(text)
    return value if fits(value) else None


def fits(value: int | float) -> bool:
    """Whether a number is finite and, if it is an integer, exact as a float."""
    return abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value)


def to_array(values: Sequence[int | float]) -> NDArray[Any]:
    """An array of numbers that `fit`, as int64 if all are whole, else as float64."""
    whole = all(isinstance(value, int) for value in values)
    return np.array(values, dtype=np.int64 if whole else np.float64)


def whole(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as integers, if they are whole and small enough and none is missing."""
    is_whole = values.dtype.kind == "f" and (values == np.rint(values)).all() and np.abs(values).max(initial=0) <= 2**53
    return values.astype(np.int64) if is_whole else values


def passes(name: str) -> tuple[str, int] | None:
    """The kind and the k of pass@k and pass^k; None for other names."""
    match = re.fullmatch(r"pass([@^])(\d{1,4})", name.lower())
    return (match[1], int(match[2])) if match else None


def pass_at(n: int, c: int, k: int, kind: str = "@") -> float:
    """The unbiased estimator of pass@k, or of pass^k, from c of n samples that pass (Chen et al. 2021).

    >>> pass_at(4, 1, 2), pass_at(4, 2, 2, "^")
    (0.5, 0.16666666666666666)
    """
    return math.comb(c, k) / math.comb(n, k) if kind == "^" else 1 - math.comb(n - c, k) / math.comb(n, k)


def over_samples(
    values: NDArray[Any], item_of: NDArray[np.intp], items: Sequence[str], metric: str, source: str
) -> NDArray[np.float64]:
    """The mean over the samples of each item, or pass@k or pass^k if the metric is one of these.

    Parameters
    ----------
    values, item_of
        A value per sample, and the position of its item.
    items
        The ids of the items.
    """
    sums, sizes = np.zeros(len(items)), np.bincount(item_of, minlength=len(items))
    np.add.at(sums, item_of, values)
    if (estimator := passes(metric)) is None:
        return sums / sizes
    kind, k = estimator
    if (few := sizes < k).any():
        place = int(np.argmax(few))
        raise InputError(
            f"{source}: found {sizes[place]} samples of item {named(items[place])}, expected at least {k} for {metric}"
        )
    if not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InputError(f"{source}: found samples that are neither 0 nor 1, expected outcomes for {metric}")
    pairs = zip(sizes.tolist(), sums.tolist(), strict=True)
    return np.array([math.nan if math.isnan(c) else pass_at(n, int(c), k, kind) for n, c in pairs])
