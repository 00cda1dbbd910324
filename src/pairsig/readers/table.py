"""Read a table with declared roles: one row per item, or one per item, system and run.

A column has a role because it has one of the few `STANDARD` names, or because the user said so (`Roles`). Whatever
could be read in more than one way is a `Question`, whose answers have been tried.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import chain, combinations, pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairsig.io.choices import near, spelled
from pairsig.io.errors import InputError, Question, columns_in, joined, listed, named, quoted
from pairsig.io.packages import pd
from pairsig.metrics import Metric, Ratio, registry
from pairsig.metrics.classification import label_counts, of_classes
from pairsig.metrics.counts import average
from pairsig.readers import answers
from pairsig.readers.answers import FEW, Answer
from pairsig.readers.cells import (
    FRAME,
    MISSING,
    SCORE,
    UNNAMED,
    Cells,
    Column,
    as_label,
    converted_winners,
    in_pandas,
    load,
    nested,
    renamed,
    unknown,
)
from pairsig.readers.system_counts import SystemCounts

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
    """What the user declared about a table: the parameters of `pairsig.read` of the same names.

    A name may be a text with several in it, separated by commas. With `lower_is_better` False, no note says that higher
    scores are assumed to be better. `sep` may be "tab".
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
    lower_is_better: bool | None = None
    true: Names = None
    missing_value: Names = None
    any_value: bool = False
    sep: str | None = None
    sheet: str | None = None

    def answered(self, answer: Mapping[str, Any]) -> Roles:
        """The roles after an answer to a question."""
        return replace(self, **{role.replace("-", "_"): value for role, value in answer.items()})


_ACCURACY = average("accuracy", factor=100)
"""The share of items of which the answer equals the right one."""

_LABELS = ("item", "system", "run", "document", "domain", "gold", "prediction")
"""Roles of columns whose cells are labels."""
_DEPTH = 1
"""How many questions deep answers are tried."""
_MANY = 100_000
"""Rows of a table for which only the answers to the first question are tried."""
_MOST = 12
"""Answers of a question."""
_SHOWN = 30
"""Columns that a question lists."""
_OUTCOMES = 0.95
"""Share of cells with 0 or 1 from which other numbers may be codes of missing scores."""
_FAR = 9
"""The only other number may be a code from here on, or below 0, if it is in less than half of the cells."""
_SUMMARIES = 3
"""Rows at the end, such as mean, standard deviation and maximum, of which one may be a total."""
_EPSILON = 1e-9

Scores: TypeAlias = dict[str, NDArray[Any]]
"""Numbers by column, NaN where one is missing."""


def read(source: Any, roles: Roles | None = None, *, several: bool = False) -> tuple[SystemCounts, ...]:
    """Read a table of scores or counts.

    Parameters
    ----------
    source
        The path of a file (CSV, TSV, JSON, JSON Lines, Parquet, Excel, or one score per line), or a data frame.
    roles
        What the user declared about its columns.
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
    roles = roles or Roles()
    try:
        cells = load(source, lambda names: _labelled(names, roles), sep=roles.sep, sheet=roles.sheet)
    except Question as question:  # about the separator
        for answer in question.answers:
            try:
                read(source, roles.answered(answer), several=several)
            except Question as further:
                if not further.answers:
                    raise further from None
        raise
    return Reading(cells, roles, several=several).counts()


def _split(names: Names) -> list[str]:
    """Names that the user wrote, as a list or with commas between them."""
    return columns_in(names) if isinstance(names, str) else [str(name) for name in names or ()]


def _labelled(names: Sequence[str], roles: Roles) -> set[str]:
    """The columns of a text file whose cells are labels, even if all of them are numbers."""
    wanted = set(chain.from_iterable(STANDARD.values()))
    for role in (*_LABELS, *(["systems"] if roles.gold else [])):
        declared = getattr(roles, role)
        names_of_role = [*_split(declared), *([declared] if isinstance(declared, str) else [])]
        wanted |= {name.strip().lower() for name in names_of_role}
    return {name for name in names if name.lower() in wanted}


class Reading:
    """A table, the roles of its columns, and the questions about both."""

    lower = LOWER_IS_BETTER

    def __init__(self, cells: Cells, roles: Roles, *, several: bool, depth: int = 0) -> None:
        self.cells, self.roles, self.several, self.depth = cells, roles, several, depth
        self.source, self.columns, self.n_rows = cells.source, cells.columns, len(cells.lines)
        self.notes: list[str] = []
        self.declared = {role: self._declared(role) for role in (*_LABELS, "systems", "score")}
        twice = Counter(chain.from_iterable(self.declared.values()))
        for name, times in twice.items():
            if times > 1:
                wanted = [role for role, names in self.declared.items() if name in names]
                raise InputError(
                    f"{self.source}: found column {named(name)} as {' and '.join(wanted)}, expected one role"
                )
        self.columns_of = {role: self.declared[role] or self._standard(role) for role in _LABELS}
        used = {*twice, *chain.from_iterable(self.columns_of.values())}
        self.free = [name for name in self.columns if name not in used]

    # Roles.

    def _declared(self, role: str) -> list[str]:
        """The columns that the user named for a role."""
        declared = getattr(self.roles, role)
        if declared is None:
            return []
        names = self._split(declared)
        if len(names) > 1 and role not in ("item", "systems", "score"):
            raise InputError(f"found {listed(names)} as {role}, expected one column")
        terms = chain.from_iterable(self._terms(name, role) for name in names)
        return list(dict.fromkeys(self._column(term, role) for term in terms))

    def _split(self, names: Names) -> list[str]:
        """Names of columns, of which one may have a comma."""
        return [names] if isinstance(names, str) and names in self.columns else _split(names)

    def _terms(self, name: str, role: str) -> list[str]:
        """A column, or the two of a score that is a ratio."""
        parts = name.split("/")
        return (
            parts if role == "score" and len(parts) == 2 and spelled(name, self.columns) not in self.columns else [name]
        )

    def _column(self, name: str, role: str) -> str:
        name = spelled(name.strip(), self.columns)
        if name not in self.columns:
            raise InputError(
                f"{self.source}: found no column {quoted(name)} for {role}, expected one of {listed(self.columns)}"
                f"{near(name, self.columns)}"
            )
        return name

    def _standard(self, role: str) -> list[str]:
        """The column whose name says that it has a role."""
        if role == "system" and self.declared["systems"]:
            return []
        taken = set(chain.from_iterable(self.declared.values()))
        names = [name for name in self.columns if name.lower() in STANDARD.get(role, ()) and name not in taken]
        if role == "item" and not names and next(iter(self.columns)) == UNNAMED and UNNAMED not in taken:
            names = [UNNAMED]
        names = [name for name in names if self.columns[name].labels[1]]
        if len(names) > 1:
            raise self._question(
                f"{self.source}: found the columns {listed(names)}, expected one with the {role}; name it",
                lambda: [{role: joined([name])} for name in names],
                names,
                about=role,
            )
        return names

    # Questions.

    def _question(
        self,
        text: str,
        offers: Callable[[], list[Answer]],
        shown: Sequence[str] = (),
        *,
        about: str = "",
        remark: str = "",
    ) -> Question:
        """A question with those of the answers that lead on, and with a line about each of the columns `shown`.

        Answers that lead to another question are left out if others lead to a result with other roles of rows. If only
        a refusal is left, it is returned.
        """
        if self.depth > _DEPTH:  # which nobody will read
            return Question(text, about=about)
        lines = [text + remark, *map(self._description, shown[:_SHOWN])]
        if len(shown) > _SHOWN:
            lines.append(f"  and {len(shown) - _SHOWN:,} more")
        offered = offers()[: 2 * _MOST]
        tried = [self._tried(answer, about or text) for answer in offered]
        ranks = [rank for rank, _ in tried]
        least = 2 if 2 in ranks and any({"item", "run", "system"} & answer.keys() for answer in offered) else 1
        leading_on = [answer for answer, rank in zip(offered, ranks, strict=True) if rank >= least]
        refusals = [question for _, question in tried if question is not None]
        return Question("\n".join(lines), leading_on[:_MOST], about) if leading_on or not refusals else refusals[0]

    def _tried(self, answer: Answer, about: str) -> tuple[int, Question | None]:
        """How far an answer leads: 2 to a result, 1 to another question, 0 to nothing, or to a refusal."""
        depth = self.depth + (1 if self.n_rows < _MANY else _DEPTH + 1)
        try:
            parts = Reading(self.cells, self.roles.answered(answer), several=self.several, depth=depth).counts()
        except Question as question:
            if question.about != about and (question.answers or depth > _DEPTH):
                return 1, None
            return 0, question if question.about == question.text else None
        except InputError:
            return 0, None
        first = parts[0]
        differ = len(first.segments) != len(parts[-1].segments) or any(
            not np.array_equal(first.counts[name], part.counts[name]) for part, name in product(parts, first.counts)
        )
        return 2 if self.several or (differ and len({part.system for part in parts}) > 1) else 0, None

    def _description(self, name: str) -> str:
        column = self.columns[name]
        kind = {"mixed": "numbers and text", "empty": "no cells"}.get(column.kind, column.kind)
        return f"  {named(name)}: {kind} ({listed(column.first(FEW))})"

    # Rows.

    @property
    def keys(self) -> list[str]:
        """The columns that together identify a row."""
        return list(chain.from_iterable(self.columns_of[role] for role in ("item", "system", "run")))

    def codes(self, names: Sequence[str]) -> tuple[NDArray[np.intp], int]:
        """A number for each row by its labels in some columns, and how many different ones there are."""
        codes, n_codes = np.zeros(self.n_rows, dtype=np.intp), 1
        for name in names:
            more, labels = self.columns[name].labels
            codes, distinct = pd.factorize(codes * (len(labels) + 1) + more + 1)
            n_codes = len(distinct)
        return codes, n_codes

    def _check_rows(self) -> None:
        """Refuse rows without a label, and ask about several rows of the same item, system and run."""
        for role in ("item", "system", "run", "gold"):
            for name in self.columns_of[role]:
                if len(empty := np.flatnonzero(self.columns[name].labels[0] < 0)):
                    raise InputError(
                        f"{self.cells.where(int(empty[0]))}: found an empty cell in column {named(name)}, expected the "
                        f"{role}"
                    )
        if not self.keys:
            return
        if not self.columns_of["item"]:
            raise self._question(
                f"{self.source}: found no column that identifies the items, expected a column with one of the names "
                f"{listed(STANDARD['item'])}, or --item",
                lambda: answers.of_rows(self),
                self.free,
                about="items",
            )
        codes, n_codes = self.codes(self.keys)
        if n_codes == self.n_rows:
            return
        same = np.flatnonzero(codes == np.bincount(codes).argmax())
        first = ", ".join(f"{name} {named(str(self.columns[name].cells.iloc[same[0]]))}" for name in self.keys)
        order = np.argsort(codes, kind="stable")
        again = codes[order][1:] == codes[order][:-1]
        differing = []
        for name in [name for name in self.columns if name not in self.keys]:
            cells = self.columns[name].labels[0][order]
            if (again & (cells[1:] != cells[:-1])).any():
                differing.append(name)
        if self.source != FRAME and (of_metrics := [name for name in differing if name.lower() == "metric"]):
            values = [name for name in self.columns if name not in (*self.keys, *self.free)]
            pivot = f"index={self.keys}, columns={of_metrics[0]!r}, values={values[0]!r}"
            expression = f"{in_pandas(self.source)}.pivot({pivot}).reset_index()"
            raise unknown(self.source, f"several metrics per item in column {named(of_metrics[0])}", expression)
        differ = f"they differ in {listed(differing)}" if differing else "all their cells are equal"
        lines = listed(str(self.cells.lines[row]) for row in same.tolist()[:FEW])
        raise self._question(
            f"{self.source}: found {len(same)} rows for {first} ({self.cells.place}s {lines}), expected one; {differ}",
            lambda: answers.of_rows(self),
            [name for name in differing if name in self.free],
            about="rows",
        )

    def _check_shared(
        self, items: NDArray[np.intp], rows_of: Sequence[NDArray[np.intp]], outputs: Sequence[tuple[str, str]]
    ) -> None:
        """Ask for the items if some systems or runs have none in common, as with numbers of rows."""
        known = np.zeros(items.max() + 1, dtype=bool)
        known[items[rows_of[0]]] = True
        for rows, output in zip(rows_of, outputs, strict=True):
            if not known[items[rows]].any():
                here, there = (" ".join(filter(None, names)) for names in (output, outputs[0]))
                raise self._question(
                    f"{self.source}: found no item of {named(here)} that {named(there)} also has, expected the same "
                    f"items; {listed(self.columns_of['item'])} is another one in each row",
                    lambda: [{"item": joined([name])} for name in self.free],
                    self.free,
                    about="items",
                )

    def _items(self) -> tuple[NDArray[np.intp], list[str]]:
        """The number of the item of each row, in the order of the table, and their ids."""
        names = self.columns_of["item"]
        if not names:
            return np.arange(self.n_rows), [str(number) for number in range(1, self.n_rows + 1)]
        if len(names) == 1:
            return self.columns[names[0]].labels
        codes, _ = self.codes(names)
        first = _first_rows(codes)
        parts = [
            [label.replace("\\", "\\\\").replace("/", "\\/") for label in self.columns[name].texts[first]]
            for name in names
        ]
        return codes, list(map("/".join, zip(*parts, strict=True)))

    def _outputs(self) -> tuple[NDArray[np.intp], list[tuple[str, str]]]:
        """The number of the system and run of each row, and their names, in the order of the table."""
        codes, n_codes = self.codes([*self.columns_of["system"], *self.columns_of["run"]])
        first = _first_rows(codes)
        systems, runs = (self._labels_of(role, first) or ("",) * n_codes for role in ("system", "run"))
        if n_codes == len(set(systems)):  # one run of each system
            runs = ("",) * n_codes
        return codes, list(zip(systems, runs, strict=True))

    # Scores.

    def counts(self) -> tuple[SystemCounts, ...]:
        """The counts of every system and run."""
        metrics, scores = self._outcomes() or self._scores()
        metrics = self._directed(metrics)
        used = {*scores, *chain.from_iterable(scores.values())}
        self.free = [name for name in self.free if name not in used]
        self._check_rows()
        (items, ids), (outputs, names) = self._items(), self._outputs()
        order = np.lexsort((items, outputs))
        bounds = np.searchsorted(outputs[order], np.arange(len(names) + 1))
        rows_of = [order[start:end] for start, end in pairwise(bounds.tolist())]
        self._check_shared(items, rows_of, names)
        if not self.roles.any_value and not self.roles.gold:
            if not self.roles.metric:
                self._check_values(scores.values())
            if all(len(rows) == len(ids) for rows in rows_of):
                self._check_totals(scores.values(), rows_of)
        if self.several and not self.columns_of["item"] and (others := answers.of_items(self)):
            raise self._question(
                f"{self.source}: found no column that identifies the items, but another cell of {listed(others)} in "
                "each row, expected --item, or a table without such a column, whose rows are paired in their order",
                lambda: [{"item": joined([name])} for name in others],
                others,
                about="items",
            )
        common, all_ids = {"metrics": metrics, "notes": self._all_notes()}, tuple(ids)
        parts: list[SystemCounts] = []
        for rows, (system, run) in zip(rows_of, names, strict=True):
            ids_of_rows = all_ids if len(rows) == len(ids) else tuple(ids[item] for item in items[rows].tolist())
            parts += self._parts(rows, ids_of_rows, scores, system, run=run, **common)
        if len(parts) == 1 and not (self.several or self.depth or self.source == FRAME):
            raise self._question_of_systems(next(chain.from_iterable(scores.values())))
        return tuple(parts)

    def _parts(
        self, rows: NDArray[np.intp], ids: tuple[str, ...], scores: Mapping[str, Scores], system: str, **common: Any
    ) -> Iterator[SystemCounts]:
        """The counts of a system and run in its rows; of each system if they have a column each."""
        in_order = len(rows) == self.n_rows and bool((rows[1:] > rows[:-1]).all())
        metrics, lines, blank = common["metrics"], np.asarray(self.cells.lines), ("",) * len(rows)
        labels = {role: self._labels_of(role, rows) for role in ("document", "domain", "gold")}
        other_ids = {}
        for name in () if self.declared["item"] else self.free:
            column, codes = self.columns[name], self.columns[name].labels[0][rows]
            is_text = column.cells.dtype in ("str", object)
            if is_text and len(np.unique(codes)) == len(rows) > 1 and codes.min() >= 0:
                other_ids[name] = tuple(column.texts[rows].tolist())
        for name_of_system, counts in scores.items():
            values = {name: numbers if in_order else numbers[rows] for name, numbers in counts.items()}
            lacks = {name: _is_missing(numbers) for name, numbers in values.items()}
            yield SystemCounts(
                segments=ids,
                documents=labels["document"] or blank,
                domains=labels["domain"],
                contents=() if self.declared["systems"] else labels["gold"],
                counts={name: _whole(numbers, lacks[name]) for name, numbers in values.items()},
                unscored={m.name: np.logical_or.reduce([lacks[name] for name in m.columns]) for m in metrics},
                source=self.source,
                lines=lines if in_order else lines[rows],
                place=self.cells.place,
                system=name_of_system or system,
                by_row=not self.columns_of["item"],
                other_ids=other_ids,
                **common,
            )

    def _all_notes(self) -> tuple[str, ...]:
        """Sentences about the file, about its cells, and about columns that are not used or say something else."""
        notes = [*self.cells.notes, *self.notes]
        if self.free:
            notes.append(f"{self.source}: not used: {listed(self.free)}")
        if "fold" in map(str.casefold, self.columns_of["run"]):
            notes.append(
                f"{self.source}: warning: the runs are folds, whose training sets overlap, so scores vary more than "
                "the test assumes; train several times and test on one test set"
            )
        return tuple(notes)

    def _question_of_systems(self, score: str) -> Question:
        """Ask which column names the system of each row, or show how to convert winners of pairs."""
        codes = sorted(self.columns[score].first(FEW))
        sides = [name for name in self.free if 0 < len(self.columns[name].labels[1]) < max(2, self.n_rows)]
        of_pairs = len(sides) > 1 and codes in (["0", "1"], ["1", "2"])
        remark = converted_winners(self.source, score, codes[0], sides[:2]) if of_pairs else ""
        return self._question(
            f"{self.source}: found one system, expected at least two: --system names the column with the system of "
            "each row, and --systems the columns with the scores of one system each",
            lambda: [{"system": joined([name])} for name in self.free],
            self.free,
            about="systems",
            remark=remark,
        )

    def _labels_of(self, role: str, rows: NDArray[np.intp]) -> tuple[str, ...]:
        """The labels in the column of a role, or none if there is no such column."""
        names = self.columns_of[role]
        return tuple(self.columns[names[0]].texts[rows].tolist()) if names else ()

    def _outcomes(self) -> tuple[tuple[Metric, ...], dict[str, Scores]] | None:
        """Accuracy, if it is named for columns of 0 and 1; None for other metrics and for counts."""
        names = self._named_metrics()
        for name in (name for name in names if isinstance(name, str)):
            column = spelled(name, self.columns)
            if column in self.columns and spelled(name, registry.METRICS) not in registry.METRICS:
                answer: Answer = {"metric": None, "score": joined([column])}
                raise self._question(
                    f"{self.source}: found --metric {named(name)}, which is the name of a column and not of a metric, "
                    "expected --score for the mean of a column",
                    partial(list[Answer], [answer]),
                )
        accuracy = registry.METRICS["accuracy"]
        if self.roles.gold or names not in (["accuracy"], [accuracy]) or {*accuracy.columns} <= {*self.columns}:
            return None
        self.roles = replace(self.roles, metric=None)
        metrics, scores = self._scores()
        if len(metrics) > 1:
            raise InputError(f"found --metric accuracy and the scores {listed(m.name for m in metrics)}, expected one")
        used = list(chain.from_iterable(scores.values()))
        self.free = [name for name in self.free if name not in used]
        for system, columns in scores.items():
            for column, values in columns.items():
                wrong = values[~_is_missing(values) & (values != 0) & (values != 1)]
                if len(wrong):
                    raise InputError(
                        f"{self.source}: found {wrong[0]:g} in column {quoted(system or column)}, expected 0 or 1 for "
                        f"--metric accuracy; --score {joined([column])} without it compares means"
                    )
        outcomes = {system: {"accuracy": next(iter(columns.values()))} for system, columns in scores.items()}
        return (_ACCURACY,), outcomes

    def _named_metrics(self) -> list[str | Metric]:
        """The metrics that were named, by name or as they are."""
        named = self.roles.metric
        if isinstance(named, str):
            return list(_split(named))
        return [named] if isinstance(named, Metric) else list(named or ())

    def _scores(self) -> tuple[tuple[Metric, ...], dict[str, Scores]]:
        """The metrics, and their counts by the column that names the system, or by ""."""
        roles, systems, predictions = self.roles, self.declared["systems"], self.declared["prediction"]
        apart = ["score", "gold" if predictions else "systems"]
        for first, second in combinations(apart if roles.gold else ["metric", *apart], 2):
            if getattr(roles, first) is not None and getattr(roles, second) is not None:
                raise InputError(f"found --{first} and --{second}, expected one of them")
        if systems and (self.several or self.columns_of["system"]):
            other_option = "several files" if self.several else "--system"
            raise InputError(
                f"found --systems and {other_option}, expected one of them: it is for one column per system"
            )
        if roles.gold is not None and not systems and not predictions:
            raise self._question(
                f"{self.source}: found --gold without columns of predictions, expected --prediction or --systems, too",
                lambda: answers.of_answers(self, gold=self.declared["gold"][0]),
                self.free,
            )
        if predictions and (roles.gold is None or systems):
            raise InputError("found --prediction, expected it with --gold and without --systems")
        if roles.gold is not None:
            return self._counts_of_labels()
        if roles.metric is not None:
            return self._counts_of_metrics()
        if systems:
            return (self._metric(SCORE),), {name: {SCORE: values} for name, values in self._numbers(systems).items()}
        if roles.score is None:
            scores = [[self._only_score()]]
        else:
            names = self._split(roles.score)
            scores = [[self._column(part, "score") for part in self._terms(name, "score")] for name in names]
        values = self._numbers(list(dict.fromkeys(chain.from_iterable(scores))))
        return tuple(self._metric(*columns) for columns in scores), {"": values}

    def _metric(self, name: str, below: str = "") -> Metric:
        """The mean of a column, or the ratio of the sums of two."""
        if below:
            name_of_ratio, form = f"{name}/{below}", Ratio((0,), (1,), factor=1.0)
            return Metric(
                name_of_ratio,
                (name, below),
                form,
                f"Σ {name} / Σ {below}",
                scale=None,
                title=name_of_ratio,
                assumed=True,
            )
        known = registry.METRICS.get(spelled(name, registry.METRICS))
        lower = not known.higher_is_better if known else name.lower() in LOWER_IS_BETTER
        return replace(average(name, higher_is_better=not lower), assumed=not known and not lower)

    def _directed(self, metrics: Sequence[Metric]) -> tuple[Metric, ...]:
        """The metrics with the direction that was declared for those whose names do not say it."""
        lower = self.roles.lower_is_better
        if lower is None:
            return tuple(metrics)
        wrong = [metric.name for metric in metrics if metric.higher_is_better == lower]
        if wrong and not any(metric.assumed for metric in metrics):
            declared, opposite = ("lower", "higher") if lower else ("higher", "lower")
            raise InputError(f"found --{declared}-is-better, but {opposite} {listed(wrong)} is better; leave it out")
        return tuple(replace(m, higher_is_better=not lower, assumed=False) if m.assumed else m for m in metrics)

    def _counts_of_labels(self) -> tuple[tuple[Metric, ...], dict[str, Scores]]:
        """The metrics that were named, or else accuracy, and their counts in right answers and predictions."""
        (gold,), systems = self.declared["gold"], self.declared["systems"]
        names = systems or self.declared["prediction"]
        right = {name: self._right(name) for name in names}
        of_labels = [self.columns[name] for name in (gold, *names)]
        whole = all(column.kind == "numbers" for column in of_labels)
        codes, labels = _common(of_labels, _plain if whole else str.strip)
        true, chosen = _split(self.roles.true), list(map(registry.metric, self._named_metrics() or [_ACCURACY]))
        self._check_classes(chosen, true, labels)
        classes = [labels.index(name) for name in true] or list(range(len(labels)))
        metrics: list[Metric] = []
        counts: dict[str, Scores] = {name: {} for name in names}
        for metric in chosen:
            if metric.name == _ACCURACY.name:
                metrics.append(_ACCURACY)
                for name in names:
                    counts[name][metric.name] = right[name]
                continue
            metrics.append(of_classes(metric, [labels[place] for place in classes]))
            for name, predicted in zip(names, codes[1:], strict=True):
                columns: list[NDArray[Any]] = label_counts(codes[0], predicted, classes, metric)
                if (lacks := predicted < 0).any():
                    columns = [np.where(lacks, np.nan, column) for column in columns]
                counts[name] |= zip(metrics[-1].columns, columns, strict=True)
        return tuple(metrics), counts if systems else {"": counts[names[0]]}

    def _check_classes(self, metrics: Sequence[Metric], true: Sequence[str], labels: Sequence[str]) -> None:
        """Refuse metrics and classes that labels do not have, and ask for the class of F1, precision and recall."""
        of_all = (_ACCURACY.name, "balanced_accuracy", "mcc")
        for metric in metrics:
            if not metric.labels and metric.name != _ACCURACY.name:
                known = [candidate.name for candidate in registry.METRICS.values() if candidate.labels]
                raise InputError(
                    f"found --metric {metric.name} with --gold, expected one of {', '.join([_ACCURACY.name, *known])}"
                )
            if true and metric.name in of_all:
                raise InputError(f"found --true with --metric {metric.name}, which is of all classes; leave it out")
            if not true and metric.name in ("f1", "precision", "recall"):
                raise self._question(
                    f"{self.source}: found --metric {metric.name} for the labels {listed(labels)}, expected the class "
                    "that it is about; macro_f1 and micro_f1 are of all classes",
                    lambda: [*(Answer(true=joined([label])) for label in labels[:FEW]), {"metric": "macro_f1"}],
                )
        for name in true:
            if name not in labels:
                raise InputError(
                    f"{self.source}: found no {quoted(name)} among the labels, expected classes for --true such as "
                    f"{listed(labels)}"
                )

    def _counts_of_metrics(self) -> tuple[tuple[Metric, ...], dict[str, Scores]]:
        """The metrics that were named, and their counts."""
        metrics, counts = list(map(registry.metric, self._named_metrics())), Scores()
        known = [metric.name for metric in metrics]
        for metric in metrics:
            if metric.labels == "by class":
                raise self._question(
                    f"{self.source}: found --metric {metric.name} without --gold, expected the column with the right "
                    "answers, and --prediction or --systems",
                    lambda: answers.of_answers(self),
                    self.free,
                )
            spellings = {name: spelled(name, self.columns) for name in metric.columns}
            if lacking := [name for name, column in spellings.items() if column not in self.columns]:
                alike = {name: get_close_matches(name, self.free, n=1) for name in lacking}
                names = {columns[0]: name for name, columns in alike.items() if columns}
                raise self._question(
                    f"{self.source}: found no column {listed(map(quoted, lacking))}, expected the counts of "
                    f"{metric.name} in the columns {', '.join(metric.columns)}",
                    lambda: [{"score": joined([free]), "metric": None} for free in self.free if free.lower() in known],
                    self.free,
                    remark=renamed(self.source, names) if len(names) == len(lacking) and self.source != FRAME else "",
                )
            numbers = self._numbers(list(spellings.values()))
            counts |= {name: numbers[column] for name, column in spellings.items()}
        return tuple(replace(m, assumed=True) if m.name == "mean" else m for m in metrics), {"": counts}

    def _right(self, name: str) -> NDArray[Any]:
        """1 where a column has the right answer, 0 where it has another one, NaN where it has none."""
        (gold,) = self.declared["gold"]
        truth, predicted = self.columns[gold], self.columns[name]
        if truth.kind == predicted.kind == "numbers":
            equal = nearly = predicted.numbers[0] == truth.numbers[0]
        else:
            equal = np.equal(*_common([predicted, truth], str.strip)[0])
            nearly = np.equal(*_common([predicted, truth], lambda label: label.strip().casefold())[0])
        if not equal.any():
            raise InputError(
                f"{self.source}: found no cell of {named(name)} that is equal to that of {named(gold)}, expected the "
                f"same words; the cells begin with {listed(predicted.first(FEW))} and {listed(truth.first(FEW))}"
            )
        if n_nearly := int(np.count_nonzero(nearly & ~equal)):
            self.notes.append(
                f"{self.source}: {n_nearly:,} cells of {named(name)} differ from {named(gold)} only in capitals, and "
                "count as wrong"
            )
        return np.where(predicted.labels[0] < 0, np.nan, equal)

    def _numbers(self, names: Sequence[str]) -> Scores:
        """The numbers in columns of scores, after a question about what else is in them."""
        missing, true = _split(self.roles.missing_value), _split(self.roles.true)
        scores: Scores = {}
        words: dict[str, int] = {}  # what is no number, and the first row with it
        labels: set[str] = set()
        for name in names:
            column = self.columns[name]
            values, others = column.numbers
            if missing:
                hit = column.among(missing)
                values, others = np.where(hit, np.nan, values), others & ~hit
            if true:
                if others.any() and not np.isnan(values).all():
                    row = int(np.argmax(~np.isnan(values)))
                    raise InputError(
                        f"{self.cells.where(row)}: found a number in column {named(name)}, expected words for --true"
                    )
                labels |= {as_label(cell).strip() for cell in column.distinct[1]} - {*missing, *MISSING}
                values = np.where(others | ~np.isnan(values), column.among(true), np.nan)
            else:
                codes, cells = column.distinct if others.any() else (np.zeros(0), [])
                rows = np.flatnonzero(others)
                for code, row in zip(*np.unique(codes[rows], return_index=True), strict=True):
                    words.setdefault(str(cells[code]).strip(), int(rows[row]))
            self._check_finite(name, values)
            scores[name] = values
        if words:
            raise self._question_of_words(names, words)
        if true:
            self._check_true(true, labels)
        return scores

    def _question_of_words(self, names: Sequence[str], words: Mapping[str, int]) -> Question:
        """Ask which words count as 1, or which stand for a missing score."""
        word, row = min(words.items(), key=lambda entry: entry[1])
        where, missing = self.cells.where(row), _split(self.roles.missing_value)
        if self.source != FRAME and word.startswith(("{", "[")):
            raise nested(self.source, f"nested JSON in {self.cells.place} {self.cells.lines[row]}")
        if self.source != FRAME and re.fullmatch(r"[-+]?\d*,\d+", word):
            thousands = all(re.fullmatch(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+", text) for text in words)
            separates = "between thousands" if thousands else "before decimals"
            raise unknown(
                self.source,
                f"the comma of {word}, perhaps {separates}",
                f'pd.read_csv({{path}}, sep=None, engine="python", {"thousands" if thousands else "decimal"}=",")',
            )
        only_words = all(np.isnan(self.columns[name].numbers[0]).all() for name in names)
        return self._question(
            f"{where}: found {quoted(word)} among the scores, expected numbers such as 0.5, true or false; "
            f"the words are {listed(words)}",
            lambda: answers.of_words(words, missing, only_words=only_words),
            names,
        )

    def _check_true(self, true: Sequence[str], labels: set[str]) -> None:
        """Refuse words for 1 that do not occur, and ask about those that differ in capitals."""
        alike = sorted(label for label in labels if label.casefold() in map(str.casefold, true) and label not in true)
        if alike:
            raise self._question(
                f"{self.source}: found {listed(alike)} beside {listed(true)}, expected one spelling, or all of them in "
                "--true",
                lambda: [{"true": joined([*true, *alike])}],
            )
        if not labels & set(true) and not self.several:
            raise InputError(
                f"{self.source}: found no {listed(true)} among the scores, expected words for --true such as "
                f"{listed(sorted(labels))}"
            )
        others = sorted(labels - set(true))
        self.notes.append(f"{self.source}: {listed(true)} count as 1, {listed(others) or 'no other words'} as 0")

    def _check_finite(self, name: str, values: NDArray[Any]) -> None:
        if values.dtype.kind in "iu":
            if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > 2**53:
                raise InputError(f"{self.source}: found a number above 2⁵³ in column {named(name)}, expected scores")
        elif np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            word = "inf" if values[row] > 0 else "-inf"
            raise self._question(
                f"{self.cells.where(row)}: found {word} in column {named(name)}, expected a finite number",
                lambda: [{"missing-value": joined([*_split(self.roles.missing_value), word])}],
            )

    def _check_values(self, scores: Iterable[Scores]) -> None:
        """Ask about numbers that may be codes of missing scores."""
        for name, values in list(chain.from_iterable(counts.items() for counts in scores)):
            if codes := _odd(values):
                words = [as_label(float(code)) for code in codes]
                missing = joined([*_split(self.roles.missing_value), *words])
                offers: list[Answer] = [{"missing-value": missing}] if len(words) <= FEW else []
                beside = "among numbers from 0" if codes[0] < 0 else "among zeros and ones"
                raise self._question(
                    f"{self.cells.where(int(np.argmax(values == codes[0])))}: found {listed(words[:FEW])} {beside} in "
                    f"column {named(name)}, expected scores; --missing-value names a code for missing scores, and "
                    "--any-value reads all numbers as scores",
                    partial(list, [*offers, {"any-value": True}]),
                )

    def _check_totals(self, scores: Iterable[Scores], rows_of: Sequence[NDArray[np.intp]]) -> None:
        """Ask about a row that has the sum or the mean of all rows before it, or after it, for every system."""
        columns = list(chain.from_iterable(counts.values() for counts in scores))
        for step in (1, -1):
            of_systems = [values[rows][::step] for rows, values in product(rows_of, columns)]
            for last in (*range(len(of_systems[0]) - _SUMMARIES, len(of_systems[0])), *_subtotals(of_systems)):
                totals = [_is_total(values[: last + 1]) if last + 1 >= FEW else 0 for values in of_systems]
                if all(totals) and 2 in totals:
                    raise self._question(
                        f"{self.cells.where(int(rows_of[0][::step][last]))}: found a row with the sum or the mean of "
                        f"those {'before' if step == 1 else 'after'} it for every system, expected an item; delete "
                        "the row and others like it, or read them as items with --any-value",
                        lambda: [{"any-value": True}],
                    )

    def _check_matrix(self, names: Sequence[str]) -> None:
        """Refuse counts of items by two answers, of which only those of two systems can be tested."""
        expected = "which does not say what each item is, expected one row per item"
        if self.n_rows == len(names) == 2 and len(self.columns) < FEW and not self.columns_of["system"]:
            values = np.stack([self.columns[name].numbers[0] for name in names], axis=1)
            if (values >= 0).all() and (values == np.rint(values)).all() and values.max() > 1:
                raise Question(
                    f"{self.source}: found two rows of two numbers, expected one row per item; unless it is the "
                    "confusion matrix of one system, which cannot be tested, and if they count the items that both "
                    "systems, only A, only B and neither get right, the command is\n"
                    f"pairsig compare --counts {' '.join(map(as_label, map(float, values.ravel())))}"
                )
        texts = [name for name in self.columns if self.columns[name].kind == "text"]
        for name in texts:
            labels = self.columns[name].labels[1]
            of_columns = [label for label in labels if any(_ends_with(column, label) for column in names)]
            if len(of_columns) >= max(2, len(labels) - 1):
                raise InputError(
                    f"{self.source}: found columns of numbers and cells of {named(name)} with the same labels "
                    f"({listed(of_columns)}), as in a confusion matrix, {expected}"
                )
        for pair in combinations(texts, 2) if len(names) == 1 else ():
            labels_of_pair = [set(self.columns[name].labels[1]) for name in pair]
            if (
                labels_of_pair[0] == labels_of_pair[1]
                and len(labels_of_pair[0]) ** 2 == self.codes(pair)[1] == self.n_rows > 1
            ):
                raise InputError(
                    f"{self.source}: found one row for each two labels of {listed(pair)}, as in a confusion matrix, "
                    f"{expected}"
                )

    def _only_score(self) -> str:
        """The only column of numbers without a role."""
        known = {UNNAMED.lower(), *chain.from_iterable(STANDARD.values())}  # of roles that others have
        others = [name for name in self.free if name.lower() not in known]
        names = [name for name in others if self.columns[name].kind in ("numbers", "mixed")]
        self._check_matrix(names)
        if len(names) == 1:
            return names[0]
        if not self.columns_of["item"] and self.keys and self.codes(self.keys)[1] == self.n_rows and len(names) > FEW:
            index = json.dumps(self.keys[0], ensure_ascii=False)
            expression = f"{in_pandas(self.source)}.set_index({index}).T.rename_axis('item').reset_index()"
            raise unknown(self.source, f"one row per system and {len(names)} columns of numbers", expression)
        candidates = f"{len(names)} columns of numbers ({listed(names)})" if names else "no numbers"
        ratios = answers.ratios(self, names)
        remarks = [
            f"; {named(value)} is {named(above)}/{named(below)} in each row, and the mean of {named(value)} is another "
            f"number than the sum of {named(above)} divided by that of {named(below)}"
            for value, above, below in ratios
        ]
        raise self._question(
            f"{self.source}: found {candidates} without a role, expected one column of scores",
            lambda: answers.of_scores(self, names, ratios),
            names or self.free,
            about="scores",
            remark="".join(remarks),
        )


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.broadcast_to(np.False_, len(values))


def _whole(values: NDArray[Any], lacks: NDArray[np.bool_]) -> NDArray[Any]:
    """Counts with 0 for what is missing, as integers if all are whole."""
    if values.dtype.kind == "f":
        counts = np.where(lacks, 0.0, values) if lacks.any() else values
        if not (counts == np.rint(counts)).all() or np.abs(counts).max() > 2**53:
            return counts
        values = counts
    return values if values.dtype == np.int32 else values.astype(np.int64, copy=False)


def _odd(values: NDArray[Any]) -> list[float]:
    """Numbers that may be codes: others than 0 and 1 in few cells or far from them, or one or two negative ones."""
    known = values if values.dtype.kind in "iu" else values[~np.isnan(values)]
    outcomes = (known == 0) | (known == 1)
    n_others = len(known) - np.count_nonzero(outcomes)
    others = np.unique(known[~outcomes])
    is_far = len(others) == 1 and not 0 <= others[0] < _FAR and 2 * n_others < len(known) > FEW
    if 0 < n_others <= (1 - _OUTCOMES) * len(known) + _EPSILON or (is_far and np.ptp(known[outcomes])):
        return list(map(float, others))
    if not len(known) or known.min() >= 0 or known.max() < 0:
        return []
    codes, times = np.unique(known[known < 0], return_counts=True)
    return list(map(float, codes)) if len(codes) < times.sum() and len(codes) <= 2 else []


def _is_total(values: NDArray[Any]) -> int:
    """Whether the last number is the sum or the mean of the others: 0 if not, 2 if so, 1 if that says little.

    A number that others have, too, such as half a point, is no rounded mean: too many are near it by chance.
    """
    others = values[:-1][~_is_missing(values[:-1])].astype(np.float64)
    if not len(others) or np.isnan(values[-1]):
        return 0
    is_sum, is_mean, is_rounded = _are_near(values[-1:], others.sum(keepdims=True), others.mean(keepdims=True))
    if not (is_sum or is_mean or (is_rounded and values[-1] not in others)):
        return 0
    return 2 if np.ptp(others) and (np.count_nonzero(others) > 1 or not is_sum) else 1


def _are_near(numbers: NDArray[Any], sums: NDArray[Any], means: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Whether numbers are sums, means with all digits, or means of 1 to 6 digits or as percentages."""
    is_sum, is_mean, is_rounded = np.isclose(numbers, [sums, means, 100 * means], rtol=1e-9, atol=_EPSILON)
    for exact in (means, 100 * means):
        errors = np.abs(numbers - exact)
        rows = np.flatnonzero((numbers != np.rint(numbers)) & (errors < 0.1))
        for digits in range(1, 7):
            has_digits = np.round(numbers[rows], digits) == numbers[rows]
            is_rounded[rows] |= has_digits & (errors[rows] <= 0.5 * 10.0**-digits + _EPSILON)
    return is_sum, is_mean, is_rounded


def _subtotals(of_systems: Sequence[NDArray[Any]]) -> list[int]:
    """Rows that have the sum or the mean of all rows before them for every system, and hardly by chance.

    Each of several systems has the number nowhere else, or some system has none like it before.
    """
    rows = np.arange(FEW - 1, len(of_systems[0]))
    for values in of_systems:
        sums = np.cumsum(np.nan_to_num(values.astype(np.float64)))[rows - 1]
        means = sums / np.maximum(np.cumsum(~_is_missing(values))[rows - 1], 1)
        rows = rows[np.logical_or.reduce(_are_near(values[rows], sums, means))]
    is_alone = np.full(len(rows), len(of_systems) > 1)
    for values in of_systems if len(rows) else ():
        numbers, times = np.unique(values, return_counts=True)
        is_alone &= times[np.searchsorted(numbers, values[rows])] == 1
    return [
        row
        for row, alone in zip(rows.tolist(), is_alone, strict=True)
        if alone or any(_is_special(values[: row + 1]) for values in of_systems)
    ]


def _is_special(values: NDArray[Any]) -> bool:
    """Whether the last number is more than twice any other, or the only fraction."""
    others, last = values[:-1], values[-1]
    return bool(last > 2 * others.max() or (last != np.rint(last) and (others == np.rint(others)).all()))


def _ends_with(column: str, label: str) -> bool:
    """Whether the name of a column is that of a class, perhaps after a word such as `predicted`."""
    return re.search(rf"(?:^|[\W_]){re.escape(label)}$", column, re.IGNORECASE) is not None


def _first_rows(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first row with each code, of codes that are numbered in the order of the rows."""
    return np.flatnonzero(~pd.Series(codes).duplicated())


def _common(columns: Sequence[Column], key: Callable[[str], str]) -> tuple[list[NDArray[np.intp]], list[str]]:
    """Codes of the labels in several columns, −1 where one is missing, and the keys of the labels by code, in order."""
    keys = [list(map(key, column.labels[1])) for column in columns]
    known = sorted(set(chain.from_iterable(keys)))
    places = {label: place for place, label in enumerate(known)}
    codes = [
        np.array([*map(places.__getitem__, keys_of_column), -1])[column.labels[0]]
        for column, keys_of_column in zip(columns, keys, strict=True)
    ]
    return codes, known


def _plain(label: str) -> str:
    """A label that is a number as others that are equal; `true` or `10 %` stay as they are."""
    try:
        return as_label(float(label))
    except ValueError:
        return label.strip()


def column(path: str, name: str) -> tuple[list[str] | None, list[str]]:
    """The ids of the items, if the table has a column of a standard name, and the texts in a column."""
    cells = load(path, lambda names: list(names))
    column_of_texts = spelled(name, list(cells.columns))
    if column_of_texts not in cells.columns:
        raise InputError(
            f"{path}: found no column {quoted(name)}, expected one of {listed(cells.columns)}"
            f"{near(name, list(cells.columns))}"
        )
    of_items = [known for known in cells.columns if known.lower() in STANDARD["item"] and known != column_of_texts]
    ids = cells.columns[of_items[0]].texts.tolist() if of_items else None
    return ids, cells.columns[column_of_texts].texts.tolist()
