"""Tables of scores, counts, answers and verdicts: columns get roles, and rows become one `Output` per system and run.

A column has a role because it has a standard name, or because an option names it. Nothing else is looked at: a table
without the columns that it needs is refused in one message with its columns and the options that give roles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.io.choices import near
from pairsig.io.errors import InputError, columns_in, listed, named, quoted
from pairsig.metrics import Metric, Ratio, registry
from pairsig.metrics.classification import label_counts, of_classes
from pairsig.metrics.counts import average
from pairsig.readers.cells import SCORE, Table, labels, numbers, open_table
from pairsig.readers.options import check, flag
from pairsig.readers.output import Labels, Output, over_samples, passes

STANDARD: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id", "item_id", "segment", "question_id", "doc_id", "task_id"),
    "system": ("system", "model"),
    "run": ("run", "seed"),
    "document": ("document",),
    "domain": ("domain",),
}
"""Names of columns that have a role without being declared, in upper or lower case."""

LOWER_IS_BETTER = ("wer", "cer", "ter", "mer", "aer", "loss", "perplexity", "ppl", "mae", "mse", "rmse")
"""Names of scores of which lower is better without being declared."""
SCORES = (SCORE, "correct", "accuracy", "value", "passed", *LOWER_IS_BETTER, *registry.METRICS)
"""Names of columns of scores, in upper or lower case."""
TOTALS = ("total", "mean", "average", "avg", "sum", "overall", "all", "std", "median", "macro", "micro")
"""Ids of rows that are no items."""
_CORRELATIONS = ("pearson", "spearman", "kendall", "correlation", "pearsonr", "spearmanr", "r2")
_BRACKETS = (("matched", "predicted", "gold"), ("tp", "fp", "fn"))
"""Columns of which F-measures, precision and recall can be computed."""

_GROUPS = ("document", "domain", "macro")
_TEXTS = (
    "item", "system", "run", "sample", "systems", "gold", "prediction", "winner", "system_a", "system_b", *_GROUPS,
)  # fmt: skip
"""Roles of columns, in the order in which they are looked up, beside `score`."""
_OF_SEVERAL_COLUMNS = ("item", "systems", "sample", "winner")
_NEEDS = {"prediction": "gold", "system_a": "winner", "system_b": "winner", "tie": "winner"}
_EXCLUDES = (
    ("systems", "score"), ("systems", "prediction"), ("gold", "score"),
    *((role, "winner") for role in ("systems", "score", "gold", "true", "macro", "run", "metric")),
)  # fmt: skip

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]


def split(names: Any, known: Sequence[str] = ()) -> list[str]:
    """Names that are separated by commas, or a list of them; a known name may itself contain a comma."""
    if isinstance(names, str):
        return [names] if names in known else [name.strip() for name in columns_in(names)]
    if isinstance(names, Iterable):
        return [str(name) for name in names]
    return [] if names is None else [str(names)]


def beta(name: Any) -> Fraction | None:
    """The β of an F-measure such as f0.5; None for other names."""
    match = re.fullmatch(r"f_?(\d{1,2}(?:\.\d{1,3})?)", str(name).lower())
    return Fraction(match[1]) if match and float(match[1]) > 0 and match[1] != "1" else None


def f_measure(name: str) -> Metric:
    """The F-measure with the β in its name, as a ratio of sums of whole numbers.

    With β = p/q, it is (p² + q²) Σ matched / (p² Σ gold + q² Σ predicted).
    """
    square = Fraction(beta(name) or 1) ** 2
    p, q = square.numerator, square.denominator
    return Metric(name.lower(), ("matched", f"{name.lower()}_denominator"), Ratio((0,), (1,), factor=100.0 * (p + q)),
                  f"100 · {p + q} Σ matched / Σ ({p} gold + {q} predicted)", title=name.upper())  # fmt: skip


class _Lacking(Exception):
    """A role that is missing or ambiguous; the message that lists the columns has it."""


@dataclass(frozen=True)
class _Scored:
    """The metrics, by the system that a column names (or "") the columns to read, and what makes values of these."""

    metrics: tuple[Metric, ...]
    columns: Mapping[str, Sequence[str]]
    values: Callable[[_Scored, Sequence[str]], Mapping[str, Numbers]]


def read(source: Any, declared: Mapping[str, Any], *, texts: Iterable[str] = (), may_be_wide: bool = False) -> Reading:
    """A table from a path or a data frame, with what is declared about it, in which options do not contradict.

    `texts` are columns of text beside those with roles. `may_be_wide` says whether a frame with ids as its index and
    only columns of numbers has a system in each column.
    """
    if (decimal := declared.get("decimal", ".")) not in (".", ",") or decimal == "," == declared.get("sep"):
        raise InputError(f"found --decimal {decimal}, expected a comma or a point, and another separator")
    texts = chain(texts, *STANDARD.values(), *(split(declared.get(role)) for role in _TEXTS))
    table = open_table(source, declared.get("sep"), declared.get("decimal"), {name.lower() for name in texts})
    reading = Reading(table, declared, may_be_wide)
    if table.is_scores:
        check(declared, {"scores"}, table.source)
    for option, other in _EXCLUDES:
        if option in declared and other in declared:
            raise reading.error(f"{flag(option)} with {flag(other)}, expected one of them")
    for option, other in _NEEDS.items():
        if option in declared and other not in declared:
            raise reading.error(f"{flag(option)} without {flag(other)}, expected it, too")
    if correlation := next((name for name in reading.asked if str(name).lower() in _CORRELATIONS), ""):
        raise reading.error(
            f"--metric {correlation}, expected a score that is a mean or a ratio over items: a correlation is "
            "neither\n--metric mae or mse with --gold compares errors"
        )
    return reading


@dataclass
class Reading:
    """A table, and what is declared about it."""

    table: Table
    declared: Mapping[str, Any]
    may_be_wide: bool = False
    notes: list[str] = field(default_factory=list)

    def names(self, option: str) -> list[str]:
        """What an option names."""
        return split(self.declared.get(option), self.table.names)

    @property
    def asked(self) -> Sequence[Any]:
        """The metrics that are named."""
        return list(self.declared.get("metric", ()))

    def column(self, name: str) -> str | None:
        """The column with a name, in upper or lower case."""
        return name if name in self.table.names else self._by_lower.get(name.lower())

    @cached_property
    def _by_lower(self) -> dict[str, str]:
        return {name.lower(): name for name in self.table.names}

    def has(self, names: Iterable[str]) -> bool:
        """Whether the table has columns with all the names."""
        return all(self.column(name) is not None for name in names)

    def error(self, what: str) -> InputError:
        """An error about the whole table."""
        return InputError(f"{self.table.source}: found {what}")

    def refusal(self, *missing: str) -> InputError:
        """The message for all roles that are missing: what is wrong, the columns, and the options that give roles."""
        options = "--item, --system, --systems, --run, --sample, --score, --gold, --winner, --document"
        return self.error(f"{'; '.join(missing)}\n{self.table.description()}; {options} give columns their roles")

    @cached_property
    def columns_of(self) -> dict[str, list[str]]:
        """The columns of each role, declared or with a standard name."""
        columns: dict[str, list[str]] = {}
        role_of: dict[str, str] = {}
        for role in _TEXTS:
            for name in self.names(role):
                if (column := self.column(name)) is None:
                    raise self.refusal(f"no column {quoted(name)} for {flag(role)}{near(name, self.table.names)}")
                first = role_of.setdefault(column, role)
                is_shared = role in _GROUPS and (first in ("item", *_GROUPS) or (first, role) == ("sample", "document"))
                if column in columns.get(role, ()) or (first != role and not is_shared):
                    both = listed(dict.fromkeys([flag(first), flag(role)]))
                    raise self.error(f"{named(column)} repeatedly in {both}, expected it once")
                columns.setdefault(role, []).append(column)
            if len(columns.get(role, ())) > 1 and role not in _OF_SEVERAL_COLUMNS:
                raise self.error(f"the columns {listed(columns[role])} for {flag(role)}, expected one")
        scores: list[str | None] = []
        for name in self.names("score"):
            scores += map(self.column, (name, *name.split("/")))
        if clash := next((name for name in scores if name in role_of), None):
            raise self.error(f"{named(clash)} repeatedly in {flag(role_of[clash])}, --score, expected it once")
        taken = {*role_of, *scores}
        for role, names in STANDARD.items():
            instead = {"system": ("systems", "winner"), "domain": ("macro",)}.get(role, ())
            if role in columns or any(option in self.declared for option in instead):
                continue
            known = [column for name in names if (column := self._by_lower.get(name)) and column not in taken]
            if len(known) > 1:
                raise self.refusal(f"the columns {listed(known)}, expected one {role}: choose it with --{role}")
            if known:
                columns[role] = known
        if "item" not in columns and self.table.index not in ("", *taken, *chain.from_iterable(columns.values())):
            columns["item"] = [self.table.index]
        return {role: names for role, names in columns.items() if names}

    def outputs(self) -> tuple[Output, ...]:
        """One `Output` per system and run."""
        problems: list[str] = []
        scored = None
        try:
            scored = self._scored()
        except _Lacking as error:
            problems.append(str(error))
        try:
            self._check_items(scored)
        except _Lacking as error:
            problems.append(str(error))
        if problems or scored is None:
            raise self.refusal(*problems)
        return tuple(self._outputs(scored))

    def _check_items(self, scored: _Scored | None) -> None:
        """A table of several systems or runs needs ids, and so does one of a single system with other columns."""
        if "item" in self.columns_of:
            return
        system = self.labels("system")
        if system and len(system.names) == len(self.table.lines):
            raise _Lacking("one row per system, expected one per system and item (totals say nothing about the items)")
        used = {*chain.from_iterable(scored.columns.values())} if scored else set()
        others = set(self.table.names) - used - set(self.columns_of.get("gold", ()))
        if (
            scored is None
            or any(role in self.columns_of for role in ("system", "run", "sample"))
            or (others and "systems" not in self.declared)  # rows pair the systems of one table
        ):
            raise _Lacking(f"no column with the items, expected one called {listed(STANDARD['item'])}, or --item")

    # Which columns are scores.

    def _scored(self) -> _Scored:
        if "gold" in self.declared:
            return self._of_answers()
        if not self.columns_of.get("systems") and (counted := self._of_metrics()):
            return counted
        if len(self.asked) > 1:
            names = listed(getattr(metric, "name", metric) for metric in self.asked)
            raise self.error(f"the metrics {names} for scores, expected one of them")
        if systems := self.columns_of.get("systems") or self._wide():
            asked = self.asked[0] if self.asked else ""
            if isinstance(asked, str) and asked.lower() not in ("", "accuracy", "mean"):
                raise self.error(f"--systems with --metric {asked}, expected scores, whose mean is compared, or --gold")
            return _Scored((self._named_mean(asked, SCORE),), {name: [name] for name in systems}, self._scores)
        return self._of_columns()

    def _wide(self) -> list[str]:
        """The columns of a frame with ids as its index and only numbers, if nothing else is said about them."""
        others = [name for name in self.table.names if name != self.table.index]
        usual = {*chain.from_iterable(STANDARD.values()), *SCORES[:3]} & {name.lower() for name in others}
        roles = self.declared.keys() & {*_TEXTS, "score", "metric"} - {*_GROUPS}
        is_wide = self.may_be_wide and self.columns_of.get("item") == [self.table.index] and not usual and not roles
        return others if is_wide and len(others) > 1 and all(map(self.table.is_numeric, others)) else []

    def _of_metrics(self) -> _Scored | None:
        """Counts of metrics that are named; None if they are means of scores."""
        metrics: list[Metric] = []
        columns: list[str] = []
        for name in self.asked:
            if isinstance(name, str) and passes(name):
                return None
            is_f = isinstance(name, str) and beta(name) is not None
            metric = f_measure(name) if is_f else registry.metric(name)
            if scores := self.names("score"):
                if metric.name in ("accuracy", "mean"):
                    return None
                counted = f"counts in columns: {listed(metric.columns)}"
                raise self.error(
                    f"--score {listed(scores)} with --metric {metric.name}, expected one of them ({counted})"
                )
            needed = metric.columns
            if is_f or (metric.name in ("f1", "precision", "recall") and not self.has(needed)):
                needed = next(filter(self.has, _BRACKETS), _BRACKETS[0])
            lacking = [column for column in needed if self.column(column) is None]
            if lacking and metric.name in ("accuracy", "mean"):
                return None
            if lacking:
                other = "; --reference computes them from outputs" if metric.extractor else ""
                other = other or "; --gold computes them from labels" * bool(metric.labels)
                raise _Lacking(f"no column {listed(lacking)}, expected the counts of {metric.name}{other}")
            metrics.append(metric)
            columns += [self.column(column) or "" for column in needed]
        return _Scored(tuple(metrics), {"": list(dict.fromkeys(columns))}, self._counts) if metrics else None

    def _of_columns(self) -> _Scored:
        """The mean of the columns of scores that are declared, or of the one with a standard name."""
        names = self.names("score") or [self._standard_score()]
        pairs: list[tuple[str, ...]] = []
        for name in names:
            parts = [name] if self.column(name) else name.split("/")
            if len(parts) > 2 or not self.has(parts):
                raise _Lacking(f"no column {quoted(name)} for --score{near(name, self.table.names)}")
            pairs.append(tuple(self.column(part) or "" for part in parts))
            if pairs[-1] in pairs[:-1]:
                raise self.error(f"{named(name)} repeatedly in --score, expected it once")
        if self.asked:
            if len(pairs) > 1:
                raise _Lacking(f"the scores {listed(names)} with --metric, expected one of them")
            return _Scored((self._named_mean(self.asked[0], pairs[0][0]),), {"": pairs[0][:1]}, self._scores)
        columns = list(dict.fromkeys(chain.from_iterable(pairs)))
        values = self._scores if len(columns) == 1 else self._counts
        return _Scored(tuple(self._mean(*pair) for pair in pairs), {"": columns}, values)

    def _standard_score(self) -> str:
        """The only column with the name of a score, or the only column at all."""
        others = {*chain.from_iterable(self.columns_of.values())}
        left = [name for name in self.table.names if name not in others]
        by_lower = {name.lower(): name for name in left if name.lower() not in chain(*STANDARD.values())}
        counted = [of for of in registry.METRICS.values() if len(of.columns) > 1 and {*of.columns} <= by_lower.keys()]
        if counted and not self.asked:
            counts = f"the counts of {counted[0].name} ({listed(counted[0].columns)})"
            raise _Lacking(f"{counts}, expected --metric {counted[0].name}, or --score")
        scores = [name for lower, name in by_lower.items() if lower in SCORES]
        scores = scores or (left if len(self.table.names) == 1 else [])
        if not scores and {*_BRACKETS[1]} <= by_lower.keys():
            raise _Lacking("the counts TP, FP and FN, expected --metric f1, precision, recall or f0.5")
        if len(scores) != 1:
            what = f"{len(scores)} columns that may be scores ({listed(scores)})"
            what = what if scores else "no column with the name of a score"
            several = "the columns of several systems with --systems"
            raise _Lacking(f"{what}, expected one: choose it with --score, or {several}")
        if scores[0].lower() == "wer" and self.has(("edits", "words")):
            raise _Lacking(
                f"the ratio {scores[0]} beside its counts, whose sums give another number than its mean: choose "
                f"--score {scores[0]}, or a ratio of sums with A/B"
            )
        return scores[0]

    def _named_mean(self, asked: Any, column: str) -> Metric:
        """The mean of a column by the name of a metric: accuracy (of 0 and 1, in percent), mean, pass@k."""
        if isinstance(asked, Metric):
            return asked
        if asked.lower() == "accuracy" or passes(asked):
            return replace(average(asked.lower(), factor=100), title=asked.lower())
        return self._mean(column)

    def _mean(self, name: str, below: str = "") -> Metric:
        """The mean of a column, or the ratio of the sums of two, with its direction."""
        known = registry.METRICS.get(name.lower())
        lower = not known.higher_is_better if known else name.lower() in LOWER_IS_BETTER
        assumed = not known and not lower
        for option in ("lower_is_better", "higher_is_better"):
            if self.declared.get(option):
                lower, assumed = option == "lower_is_better", False
        mean = average(name, higher_is_better=not lower, assumed=assumed)
        if not below:
            return mean
        both = f"{name}/{below}"
        return replace(mean, name=both, columns=(name, below), function=Ratio((0,), (1,), factor=1.0), title=both,
                       formula=f"Σ {name} / Σ {below}", averaged=False)  # fmt: skip

    def _of_answers(self) -> _Scored:
        """Answers that are compared with the right ones."""
        answers = self.columns_of.get("systems") or self.columns_of.get("prediction")
        if not answers:
            raise _Lacking("--gold without answers, expected --prediction or --systems (a column per system), too")
        columns = {name if "systems" in self.declared else "": [name] for name in answers}
        if len(self.asked) > 1:
            raise self.error("several metrics with --gold, expected one")
        asked = self.asked[0] if self.asked else "accuracy"
        name = str(getattr(asked, "name", asked)).lower()
        has_classes, of_one = bool(self.names("true")), ("f1", "precision", "recall")
        if has_classes and name not in (*of_one, "macro_f1", "micro_f1"):
            raise self.error(
                f"--true with --gold and --metric {name}, which is of all classes\n"
                "--metric f1, precision, recall, macro_f1 and micro_f1 are also of some classes"
            )
        if name in of_one and not has_classes:
            raise self.error(
                f"--gold with --metric {name}, expected the class that it is about\n--true WORD names it; macro_f1 and "
                "micro_f1 are of all classes"
            )
        if name in ("mae", "mse"):
            return _Scored((average(name, higher_is_better=False),), columns, self._errors)
        if name == "accuracy":
            return _Scored((self._named_mean(name, ""),), columns, self._answers)
        metric = registry.metric(asked)
        if not metric.labels:
            known = listed(known.name for known in registry.METRICS.values() if known.labels)
            raise self.error(f"--gold with --metric {metric.name}, expected accuracy, mae, mse or one of {known}")
        return _Scored((of_classes(metric, self._classes),), columns, self._answers)

    # Rows.

    def labels(self, role: str) -> Labels | None:
        """The labels of a role by row; those of several columns are joined with slashes."""
        if not (names := self.columns_of.get(role)):
            return None
        whole = labels(self.table.columns[names[0]])
        for name in names[1:]:
            whole = whole.joined(labels(self.table.columns[name]))
        if role not in _GROUPS and "" in whole.names:
            row = int(np.argmax(whole.codes == whole.names.index("")))
            raise InputError(
                f"{self.table.where(row)}: found an empty cell in column {listed(names)}, expected the "
                f"{'right answer' if role == 'gold' else role}"
            )
        return whole

    def items(self) -> Labels:
        """The id of each row, or its number; totals are refused."""
        items = self.labels("item") or Labels.of(map(str, range(1, len(self.table.lines) + 1)))
        if total := next((item for item in items.names if item[:1].isalpha() and item.lower() in TOTALS), ""):
            row = int(np.argmax(items.codes == items.names.index(total)))
            raise InputError(
                f"{self.table.where(row)}: found the item {quoted(total)}, expected no rows of totals\n"
                "delete the row, or name another column with --item"
            )
        return items

    def _outputs(self, scored: _Scored) -> Iterator[Output]:
        """One `Output` per system and run, with samples averaged per item."""
        table, items = self.table, self.items()
        system, run = (self.labels(role) or Labels.same(len(table.lines)) for role in ("system", "run"))
        keys = system.codes * len(run.names) + run.codes
        self._check_repeats(items, keys)
        of_rows = {role: self.labels(role) for role in (*_GROUPS, "gold")}
        values_of = {name: scored.values(scored, columns) for name, columns in scored.columns.items()}
        others = {} if "sample" in self.declared else self._others(scored)
        groups = rows_by(keys)
        is_only_run = len(groups) == len({system.codes[rows[0]] for rows in groups})
        for rows in groups:
            first, item_in = rows, None
            if "sample" in self.declared:
                _, places, item_in = np.unique(items.codes[rows], return_index=True, return_inverse=True)
                order = np.argsort(places)
                first, item_in = rows[places[order]], np.argsort(order)[item_in]
            ids = items[first]
            picked = {role: of[first] for role, of in of_rows.items() if of}
            for name, values in values_of.items():
                columns = {column: array[rows] for column, array in values.items()}
                if item_in is not None:
                    columns = {column: self._averaged(array, item_in, ids, scored) for column, array in columns.items()}
                yield Output(
                    source=table.source, system=name or system[rows[0]], run="" if is_only_run else run[rows[0]],
                    items=ids, by=", ".join(self.columns_of.get("item", ())),
                    values=columns, metrics=scored.metrics,
                    documents=picked.get("document", ()), domains=picked.get("macro", picked.get("domain", ())),
                    contents=picked["gold"].renamed(_content) if "gold" in picked else (),
                    others={name: of[first] for name, of in others.items()},
                    samples=self._samples(item_in), notes=tuple(self.notes),
                    lines=table.lines[first], place=table.place,
                )  # fmt: skip

    def _samples(self, item_in: Rows | None) -> str:
        """How many rows of an item were averaged."""
        if item_in is None:
            return ""
        sizes = sorted(set(np.bincount(item_in).tolist()))
        number = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        return f"{number} rows per item averaged ({', '.join(self.columns_of['sample'])})"

    def _averaged(self, values: Numbers, item_in: Rows, ids: Sequence[str], scored: _Scored) -> Numbers:
        """The mean, or pass@k, over the samples of each item."""
        if self.declared.get("missing") == "wrong" and (n_missing := int(np.isnan(values).sum())):
            self.notes.append(f"{self.table.source}: {n_missing:,} samples without a score count as wrong")
            values = np.nan_to_num(values)
        return over_samples(values, item_in, ids, scored.metrics[0].name, self.table.source)

    def _check_repeats(self, items: Labels, keys: Rows) -> None:
        """Refuse an item, or a sample of it, that a system and run has twice."""
        keys, words = keys.astype(np.int64) * len(items.names) + items.codes, "item"
        if (sample := self.labels("sample")) is not None:
            keys, words = keys * len(sample.names) + sample.codes, f"item and {listed(self.columns_of['sample'])}"
        if keys.max() < 4 * len(keys) and np.bincount(keys).max() == 1:
            return
        order = np.argsort(keys, kind="stable")
        again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
        if len(again):
            place = int(again[np.argmin(order[again + 1])])
            before, row = int(order[place]), int(order[place + 1])
            lines = f"{self.table.place}s {self.table.lines[before]} and {self.table.lines[row]}"
            raise self.refusal(
                f"the {words} {named(items[row])} in {lines}, expected it once per system: say what the other "
                "rows are, with --run COL (a training; crossed with the items), --sample COL (draws, raters, turns or "
                "orders of an item, which are averaged), or --item COL,COL (a part of the id)"
            )

    # Values: the numbers of one system by the columns of the metrics, NaN where a score is missing.

    def _numbers(self, name: str, true: Sequence[str] = ()) -> Numbers:
        return numbers(self.table, name, self.names("missing_value"), true, self.declared.get("decimal", "."))

    def _scores(self, scored: _Scored, columns: Sequence[str]) -> dict[str, Numbers]:
        """A score per row."""
        (metric,) = scored.metrics
        values = self._numbers(columns[0], self.names("true"))
        if metric.name == "accuracy" and (wrong := ~np.isnan(values) & (values != 0) & (values != 1)).any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"{self.table.where(row)}: found {values[row]:g} in column {named(columns[0])}, expected 0 or 1 for "
                "--metric accuracy\nleave --metric out for the mean of other scores"
            )
        if passes(metric.name) and "sample" not in self.declared:
            raise self.error(f"--metric {metric.name} without --sample, expected the column with samples of an item")
        return {metric.columns[0]: values}

    def _errors(self, scored: _Scored, columns: Sequence[str]) -> dict[str, Numbers]:
        """Absolute or squared errors."""
        (metric,) = scored.metrics
        errors = np.abs(self._numbers(columns[0]) - self._numbers(self.columns_of["gold"][0]))
        return {metric.name: errors**2 if metric.name == "mse" else errors}

    def _counts(self, scored: _Scored, columns: Sequence[str]) -> dict[str, Numbers]:
        """Counts; those of brackets follow from TP, FP and FN, and the denominators of F-measures from these."""
        by_name = {name: self._numbers(name, self.names("true")) for name in columns}
        values = {name.lower(): array for name, array in by_name.items()} | by_name
        wanted = dict.fromkeys(chain.from_iterable(metric.columns for metric in scored.metrics))
        if any(column not in values and column.lower() not in values for column in wanted):
            if "tp" in values:
                values |= {"matched": values["tp"], "predicted": values["tp"] + values["fp"],
                           "gold": values["tp"] + values["fn"]}  # fmt: skip
            matched, predicted, gold = (values[name] for name in _BRACKETS[0])
            wrong = np.minimum(matched, np.minimum(predicted, gold) - matched) < 0
            if wrong.any():
                where = self.table.where(int(np.argmax(wrong)))
                raise InputError(f"{where}: found counts below 0, expected no more matched than predicted or gold")
            for metric in scored.metrics:
                square = Fraction(beta(metric.name) or 1) ** 2
                values.setdefault(metric.columns[1], square.numerator * gold + square.denominator * predicted)
        return {column: values[column if column in values else column.lower()] for column in wanted}

    def _answers(self, scored: _Scored, columns: Sequence[str]) -> dict[str, Numbers]:
        """Whether each answer is the right one, or the counts of each class."""
        gold = self.labels("gold") or Labels.of(())
        answers = labels(self.table.columns[columns[0]])
        keys = {key: place for place, key in enumerate(dict.fromkeys(map(_plain, [*gold.names, *answers.names])))}
        right = np.array([keys[_plain(text)] for text in gold.names])[gold.codes]
        given = np.array([keys[_plain(text)] for text in answers.names])[answers.codes]
        lacks = np.array([text in ("", *self.names("missing_value")) for text in answers.names])[answers.codes]
        if not (right == given).any():
            shown = f"the same words, such as {listed(gold.names[:2])} (found {listed(answers.names[:2])})"
            both = f"{named(columns[0])} that equals {named(self.columns_of['gold'][0])}"
            raise self.error(f"no answer in column {both}, expected {shown}")
        (metric,) = scored.metrics
        if not metric.labels:
            return {metric.name: np.where(lacks, np.nan, (right == given).astype(float))}
        classes = {_plain(text): place for place, text in enumerate(self._classes)}
        place_of = np.array([classes.get(key, -1 - place) for key, place in keys.items()])
        counts = label_counts(place_of[right], place_of[given], range(len(classes)), metric)
        return {name: np.where(lacks, np.nan, array) for name, array in zip(metric.columns, counts, strict=True)}

    @cached_property
    def _classes(self) -> list[str]:
        """The classes of labels: those of `--true`, or all that occur."""
        answers = self.columns_of.get("systems") or self.columns_of["prediction"]
        texts: dict[str, str] = {}
        for name in [*self.columns_of["gold"], *answers]:
            for text in labels(self.table.columns[name]).names:
                if text not in ("", *self.names("missing_value")):
                    texts.setdefault(_plain(text), text)
        for word in self.names("true"):
            if _plain(word) not in texts:
                raise self.error(f"no class {quoted(word)}, expected one of {listed(sorted(texts.values()))}")
        return self.names("true") or sorted(texts.values())

    def _others(self, scored: _Scored) -> dict[str, Labels]:
        """Columns of text without a role, which tell whether equal ids mean equal items."""
        used = {*chain.from_iterable(self.columns_of.values()), *chain.from_iterable(scored.columns.values())}
        free = [name for name in self.table.names if name not in used and not self.table.is_numeric(name)]
        return {name: labels(self.table.columns[name]) for name in free[:20]}


def rows_by(keys: Rows) -> list[Rows]:
    """The rows of each key, in the order of their first rows."""
    keys = keys.astype(np.min_scalar_type(int(keys.max())))  # small numbers are sorted faster
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order])) + 1
    return sorted(np.split(order, starts), key=lambda rows: int(rows[0]))


def _plain(text: str) -> str:
    """A label that is a number as others that are equal, so that 2 and 2.0 are one class."""
    integer, _, fraction = text.partition(".")
    if not re.fullmatch(r"[+-]?[0-9]+", integer) or not re.fullmatch("[0-9]*", fraction):
        return text
    decimals = fraction.rstrip("0")
    sign = "-" if integer.startswith("-") and (int(integer) or decimals) else ""
    return f"{sign}{abs(int(integer))}.{decimals}" if decimals else f"{sign}{abs(int(integer))}"


def _content(gold: str) -> str:
    """A right answer as the content of an item, in which a slash separates digests."""
    return _plain(gold).replace("/", "|")
