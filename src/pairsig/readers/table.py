"""Read a table with declared roles: one row per item, or one per item, system and run.

A column has a role because it has one of the few `STANDARD` names, or because the user said so (`Roles`). Whatever
could be read in more than one way is a `Question`, whose answers have been tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.io.choices import near, spelled
from pairsig.io.errors import InputError, Question, columns_in, listed, quoted
from pairsig.metrics import Metric, registry
from pairsig.readers.cells import SCORE, Cells, load
from pairsig.readers.system_counts import SystemCounts, average

Names: TypeAlias = str | Sequence[str] | None
"""Names of columns: one, several, or a text in which commas separate them."""

STANDARD: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id", "item_id", "segment", "question_id", "doc_id", "task_id"),
    "system": ("system", "model"),
    "run": ("run", "seed", "epoch"),
    "document": ("document",),
    "domain": ("domain",),
}
"""Names of columns that have a role without being declared, in upper or lower case."""

LOWER_IS_BETTER = ("wer", "cer", "ter", "mer", "aer", "loss", "perplexity", "mae", "mse", "rmse")
"""Names of scores of which lower ones are better, in upper or lower case."""


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the user declared about a table.

    Attributes
    ----------
    item
        The column or columns that identify an item. Default: a standard name, or an unnamed first column; in a table
        without any, the rows are the items.
    system, run
        The columns with the name of the system and of its run.
    systems
        The columns with the scores of one system each.
    score
        The columns with scores, of which the means are compared; `edits/words` is the ratio of two sums. Default: the
        only column of numbers without a role.
    gold, prediction
        The column with the right answers, and that with the answers; or `systems` names the columns with answers.
    document, domain
        The columns with these labels.
    metric
        Names of metrics, or metrics, whose counts the table has in columns of the same names.
    lower_is_better, higher_is_better
        Whether lower or higher scores are better, if their name does not say so.
    true
        Words that count as 1, and all other words as 0.
    missing_value
        Values that stand for a missing score.
    any_value
        Whether scores that look like codes of missing ones, and rows that look like totals, are read like all others.
    sep
        The separator of a text file, or "tab".
    sheet
        The sheet of an Excel workbook.
    """

    item: Names = None
    system: str | None = None
    systems: Names = None
    run: str | None = None
    score: Names = None
    gold: str | None = None
    prediction: str | None = None
    document: str | None = None
    domain: str | None = None
    metric: str | Metric | Sequence[str | Metric] | None = None
    lower_is_better: bool = False
    higher_is_better: bool = False
    true: Names = None
    missing_value: Names = None
    any_value: bool = False
    sep: str | None = None
    sheet: str | None = None


_LABELS = ("item", "system", "run", "document", "domain", "gold", "prediction")
"""Roles of columns whose cells are labels, in the order in which columns are assigned."""


def read(source: Any, roles: Roles = Roles(), *, several: bool = False) -> tuple[SystemCounts, ...]:
    """Read a table of scores or counts.

    Parameters
    ----------
    source
        The path of a file (CSV, TSV, JSON, JSON Lines, Parquet, Excel, or one score per line), or a data frame.
    roles
        What was declared about its columns.
    several
        Whether other files are read with the same roles, so that this one has a single system.

    Returns
    -------
    tuple of SystemCounts
        One per system and run, in the order of the table.

    Raises
    ------
    Question
        If the table can be read in more than one way.
    InputError
        If a declared column does not exist, or if the file is damaged.
    """
    cells = load(source, lambda names: _labelled(names, roles), sep=roles.sep, sheet=roles.sheet)
    return _Reading(cells, roles, several).counts()


def _names(cells: Iterable[str], given: Names, role: str, source: str) -> list[str]:
    """The columns that were declared for a role."""
    known = list(cells)
    if given is None:
        return []
    wanted = [given] if given in known else columns_in(given) if isinstance(given, str) else list(map(str, given))
    found = []
    for name in wanted:
        name = spelled(str(name).strip(), known)
        if name not in known:
            raise InputError(
                f"{source}: found no column {quoted(name)} for {role}, expected one of {listed(known)}"
                f"{near(name, known)}"
            )
        found.append(name)
    return found


def _labelled(names: Sequence[str], roles: Roles) -> set[str]:
    """The columns whose cells are labels."""
    declared = [
        name
        for role in _LABELS
        for given in [getattr(roles, role)]
        if given
        for name in columns_in(given)
        if isinstance(given, str)
    ]
    wanted = {name.lower() for name in declared} | {name for own in STANDARD.values() for name in own}
    return {name for name in names if name.lower() in wanted}


class _Reading:
    """A table and the roles of its columns."""

    def __init__(self, cells: Cells, roles: Roles, several: bool) -> None:
        self.cells, self.roles, self.several = cells, roles, several
        self.free = list(cells.columns)
        self.of: dict[str, list[str]] = {}
        for role in (*_LABELS, "systems"):
            given = getattr(roles, role)
            self.of[role] = self._taken(_names(cells.columns, given, role, cells.source))
        for role, standard in STANDARD.items():
            if not self.of[role] and not (role == "system" and roles.systems is not None):
                self.of[role] = self._taken([name for name in self.free if name.lower() in standard][:1])

    def _taken(self, names: list[str]) -> list[str]:
        self.free = [name for name in self.free if name not in names]
        return names

    def counts(self) -> tuple[SystemCounts, ...]:
        """The counts of every system and run."""
        metrics, columns = self._scores()
        items, ids = self._items()
        outputs, names = self._outputs()
        parts = []
        n_ids = len(ids)
        whole = tuple(ids)
        for number, (system, run) in enumerate(names):
            rows = np.flatnonzero(outputs == number) if len(names) > 1 else np.arange(len(items))
            rows = rows[np.argsort(items[rows], kind="stable")]
            segments = whole if len(rows) == n_ids else tuple(ids[item] for item in items[rows])
            for system_name, by_metric in columns.items():
                values = {name: column[rows] for name, column in by_metric.items()}
                parts.append(
                    SystemCounts(
                        segments=segments,
                        documents=self._labels("document", rows) or ("",) * len(rows),
                        domains=self._labels("domain", rows),
                        counts={name: _whole(column) for name, column in values.items()},
                        unscored={
                            m.name: np.isnan(np.stack([values[c] for c in m.columns])).any(axis=0) for m in metrics
                        },
                        metrics=metrics,
                        notes=self.cells.notes,
                        source=self.cells.source,
                        lines=tuple(self.cells.lines[row] for row in rows.tolist()),
                        place=self.cells.place,
                        system=system_name or system,
                        run=run,
                        by_row=not self.of["item"],
                    )
                )
        return tuple(parts)

    def _items(self) -> tuple[NDArray[np.intp], list[str]]:
        if not self.of["item"]:
            n = len(self.cells.lines)
            return np.arange(n), list(map(str, range(1, n + 1)))
        codes, labels = self.cells.columns[self.of["item"][0]].labels
        for name in self.of["item"][1:]:
            more, names = self.cells.columns[name].labels
            both, first = np.unique(codes * len(names) + more, return_index=True)
            labels = [f"{labels[codes[row]]}/{names[more[row]]}" for row in first]
            codes = np.searchsorted(both, codes * len(names) + more)
        return codes, labels

    def _outputs(self) -> tuple[NDArray[np.intp], list[tuple[str, str]]]:
        """The number of the output (the system and run) that each row belongs to, and their names."""
        n = len(self.cells.lines)
        codes, names = [np.zeros(n, dtype=np.intp)] * 2, [[""], [""]]
        for place, role in enumerate(("system", "run")):
            if self.of[role]:
                codes[place], names[place] = self.cells.columns[self.of[role][0]].labels
        both = codes[0] * len(names[1]) + codes[1]
        pairs, outputs = np.unique(both, return_inverse=True)
        return outputs, [(names[0][pair // len(names[1])], names[1][pair % len(names[1])]) for pair in pairs.tolist()]

    def _scores(self) -> tuple[tuple[Metric, ...], dict[str, dict[str, NDArray[Any]]]]:
        """The metrics, and their columns by the system in whose columns they are ("" if there is one set)."""
        columns, roles = self.cells.columns, self.roles
        if roles.metric is not None:
            named_metrics = [roles.metric] if isinstance(roles.metric, str | Metric) else list(roles.metric)
            metrics = tuple(registry.metric(name) for name in named_metrics)
            own = {name: columns[name].numbers[0] for metric in metrics for name in metric.columns}
            return metrics, {"": own}
        if self.of["gold"]:
            answers = self.of["systems"] or self.of["prediction"]
            gold = columns[self.of["gold"][0]].cells.astype(str)
            right = {name: (columns[name].cells.astype(str) == gold).to_numpy() for name in answers}
            metric = average("accuracy", factor=100)
            named_systems = bool(self.of["systems"])
            return (metric,), {
                name if named_systems else "": {"accuracy": own.astype(np.int64)} for name, own in right.items()
            }
        if self.of["systems"]:
            metric = self._averaged(SCORE)
            return (metric,), {name: {SCORE: columns[name].numbers[0]} for name in self.of["systems"]}
        scores = _names(columns, roles.score, "score", self.cells.source)
        if not scores:
            scores = [name for name in self.free if columns[name].kind in ("numbers", "mixed")]
            if len(scores) != 1:
                raise Question(
                    f"{self.cells.source}: found {listed(scores) or 'no numbers'} without a role, expected one column "
                    "of scores",
                    [{"score": name} for name in scores],
                )
        return tuple(map(self._averaged, scores)), {"": {name: columns[name].numbers[0] for name in scores}}

    def _averaged(self, name: str) -> Metric:
        """The mean of a column."""
        known = name.lower() in LOWER_IS_BETTER, name.lower() in registry.METRICS
        lower = known[0] or self.roles.lower_is_better
        return replace(
            average(name, higher_is_better=not lower),
            assumed=not any((*known, self.roles.lower_is_better, self.roles.higher_is_better)),
        )

    def _labels(self, role: str, rows: NDArray[np.intp]) -> tuple[str, ...]:
        if not self.of[role]:
            return ()
        codes, labels = self.cells.columns[self.of[role][0]].labels
        return tuple(np.array([*labels, ""], dtype=object)[codes[rows]])


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Counts without NaN, as integers if all are whole."""
    counts = np.nan_to_num(values) if values.dtype.kind == "f" else values
    return counts.astype(np.int64) if (counts == np.rint(counts)).all() else counts
