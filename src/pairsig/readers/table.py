"""Tables of scores, counts, answers and verdicts: columns get roles, and rows become one `Output` per system and run.

A column has a role because it has a standard name, or because an option names it. Nothing else is looked at: a table
without the columns that it needs is refused in one message with its columns and the options that give roles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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
from pairsig.readers.cells import SCORE, Table, coded, numbers, open_table
from pairsig.readers.output import Output, whole

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
TOTALS = ("total", "mean", "average", "avg", "sum", "overall", "all", "std", "median", "macro", "micro")
"""Ids of rows that are no items."""
_CORRELATIONS = ("pearson", "spearman", "kendall", "correlation", "pearsonr", "spearmanr", "r2")

Names = str | Sequence[str] | None


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What is declared about a table; the parameters of `pairsig.read` of the same names."""

    item: Names = None
    system: str | None = None
    systems: Names = None
    run: str | None = None
    sample: Names = None
    score: Names = None
    gold: str | None = None
    prediction: str | None = None
    winner: Names = None
    system_a: str | None = None
    system_b: str | None = None
    tie: Names = None
    document: str | None = None
    domain: str | None = None
    macro: str | None = None
    metric: Sequence[Any] = ()
    lower_is_better: bool | None = None
    true: Names = None
    missing: str | None = None
    missing_value: Names = None
    sep: str | None = None
    decimal: str = "."
    sheet: str | None = None


def split(names: Names, known: Sequence[str] = ()) -> list[str]:
    """Names that are separated by commas; a known name may itself contain one."""
    if isinstance(names, str):
        return [names] if names in known else [name.strip() for name in columns_in(names)]
    return [str(name) for name in names or ()]


def read(source: Any, roles: Roles | None = None, *, several: bool = False) -> tuple[Output, ...]:
    """Read a table: one `Output` per system and run, in the order of the table.

    Parameters
    ----------
    source
        A path or a data frame.
    roles
        What is declared.
    several
        Whether the table is one of several files, so that one system is enough.

    Raises
    ------
    InputError
        If a role is missing or ambiguous, if an item is repeated, or if a cell is not what its column needs.
    """
    roles = roles or Roles()
    return _Reading(open_table(source, roles.sep, roles.sheet), roles, several).outputs()


def beta(name: str) -> Fraction | None:
    """The β of an F-measure such as f0.5; None for other names."""
    match = re.fullmatch(r"f_?(\d{1,2}(?:\.\d{1,3})?)", name.lower())
    return Fraction(match[1]) if match and float(match[1]) > 0 and match[1] != "1" else None


def passes(name: str) -> tuple[str, int] | None:
    """The kind and the k of pass@k and pass^k; None for other names."""
    match = re.fullmatch(r"pass([@^])(\d{1,4})", name.lower())
    return (match[1], int(match[2])) if match else None


@dataclass
class _Scored:
    """How columns become values: the metrics, and by the system that a column names (or "") the columns to read."""

    metrics: tuple[Metric, ...]
    columns: dict[str, list[str]]
    kind: str = "numbers"  # numbers, answers, errors of answers, labels, or counts of an F-measure


@dataclass
class _Reading:
    """A table, and what is declared about it."""

    table: Table
    roles: Roles
    several: bool
    notes: list[str] = field(default_factory=list)

    @cached_property
    def by_lower(self) -> dict[str, str]:
        return {name.lower(): name for name in self.table.names}

    @cached_property
    def declared(self) -> dict[str, list[str]]:
        """The columns that are declared for each role; a column that does not exist is refused."""
        declared: dict[str, list[str]] = {}
        roles = (
            "item",
            "system",
            "systems",
            "run",
            "sample",
            "gold",
            "prediction",
            "winner",
            "system_a",
            "system_b",
            "document",
            "domain",
            "macro",
        )
        for role in roles:
            for name in split(getattr(self.roles, role), self.table.names):
                column = name if name in self.table.names else self.by_lower.get(name.lower())
                if column is None:
                    raise self.refusal(
                        f"no column {quoted(name)} for --{role.replace('_', '-')}{near(name, self.table.names)}"
                    )
                declared.setdefault(role, []).append(column)
        taken: dict[str, str] = {}
        for role, names in declared.items():
            if repeated := [name for name in names if names.count(name) > 1]:
                raise InputError(
                    f"{self.table.source}: found {named(repeated[0])} repeatedly in --{role}, expected it once"
                )
            for name in names:
                if taken.setdefault(name, role) != role and {taken[name], role} not in (
                    {"document", "item"},
                    {"domain", "macro"},
                    {"document", "macro"},
                    {"document", "domain"},
                    {"item", "macro"},
                    {"document", "sample"},
                ):
                    raise InputError(
                        f"{self.table.source}: found the column {named(name)} as --{taken[name]} and as --{role}, "
                        "expected one role"
                    )
        return declared

    @cached_property
    def columns_of(self) -> dict[str, list[str]]:
        """The columns of each role, declared or with a standard name."""
        columns = dict(self.declared)
        scores = split(self.roles.score, self.table.names)
        taken = {*chain.from_iterable(columns.values()), *scores, *chain.from_iterable(map(_parts, scores))}
        for role, names in STANDARD.items():
            if (
                role in columns
                or (role == "system" and (self.roles.systems or self.roles.winner))
                or (role == "domain" and self.roles.macro)
            ):
                continue
            known = [
                self.by_lower[name] for name in names if name in self.by_lower and self.by_lower[name] not in taken
            ]
            if len(known) > 1:
                raise self.refusal(
                    f"the columns {listed(known)}, expected one with the {role}: choose it with --{role}"
                )
            if known and not (role == "run" and "sample" in columns and columns["sample"] == known):
                columns[role] = known
        return columns

    def refusal(self, *missing: str) -> InputError:
        """The message for all roles that are missing: what is wrong, the columns, and the options that give roles."""
        options = "--item, --system, --systems, --run, --sample, --score, --gold, --winner, --document"
        return InputError(
            f"{self.table.source}: found {'; '.join(missing)}\n"
            f"{self.table.description()}; {options} give columns their roles"
        )

    def outputs(self) -> tuple[Output, ...]:
        """One `Output` per system and run."""
        if self.table.is_scores:
            return self._of_lines()
        if self.roles.winner:
            from pairsig.readers.verdicts import outputs

            return outputs(self.table, self.roles, self.columns_of, self.labels, self.refusal)
        for role in ("system_a", "system_b", "tie"):
            if getattr(self.roles, role):
                raise InputError(
                    f"{self.table.source}: found --{role.replace('_', '-')} without --winner, expected the column "
                    "with the verdicts, too"
                )
        problems: list[str] = []
        scored = self._scored(problems)
        self._check_items(problems, scored)
        if problems or scored is None:
            raise self.refusal(*problems)
        return self._grouped(scored)

    def _of_lines(self) -> tuple[Output, ...]:
        """A file with one score per line."""
        undeclared = Roles(
            lower_is_better=self.roles.lower_is_better,
            metric=self.roles.metric,
            missing=self.roles.missing,
            missing_value=self.roles.missing_value,
            decimal=self.roles.decimal,
        )
        if self.roles != undeclared:
            name = next(name for name in vars(self.roles) if getattr(self.roles, name) != getattr(undeclared, name))
            raise InputError(
                f"{self.table.source}: found --{name.replace('_', '-')}, which does nothing here: the file has "
                "one score per line\nleave it out"
            )
        metric = self._mean(SCORE)
        for asked in self.roles.metric:
            if not isinstance(asked, Metric) and asked.lower() not in ("accuracy", "mean", SCORE):
                registry.metric(asked)  # with a suggestion, if it is unknown
                raise InputError(
                    f"{self.table.source}: found one score per line and --metric {asked}, expected outputs and "
                    "--reference, a table of counts, or no --metric"
                )
            if not isinstance(asked, Metric) and asked.lower() == "accuracy":
                metric = replace(average("accuracy", factor=100), title="accuracy")
        values = numbers(self.table, SCORE, split(self.roles.missing_value), (), self.roles.decimal)
        if metric.name == "accuracy":
            self._check_outcomes(values, SCORE)
        n = len(values)
        return (
            Output(
                source=self.table.source,
                items=tuple(map(str, range(1, n + 1))),
                values={metric.name: _kept_whole(values)},
                metrics=(metric,),
                lines=self.table.lines,
                notes=tuple(self.table.notes),
            ),
        )

    # Scores.

    def _scored(self, problems: list[str]) -> _Scored | None:
        """Which columns are scores; what is missing or ambiguous is added to the problems."""
        for role, rival in (("systems", "score"), ("systems", "prediction"), ("gold", "score")):
            if getattr(self.roles, role) and getattr(self.roles, rival):
                raise InputError(f"{self.table.source}: found --{role} with --{rival}, expected one of them")
        if self.roles.prediction and not self.roles.gold:
            raise InputError(f"{self.table.source}: found --prediction without --gold, expected the right answers, too")
        names_of_metrics = [name if isinstance(name, Metric) else str(name) for name in self.roles.metric]
        for name in names_of_metrics:
            if not isinstance(name, Metric) and name.lower() in _CORRELATIONS:
                raise InputError(
                    f"{self.table.source}: found --metric {name}, expected a score that is a mean or a ratio over "
                    "items: a correlation is neither\n--metric mae or mse with --gold compares errors; the "
                    "correlations of two systems with the same gold scores need Williams' test"
                )
        systems = self.columns_of.get("systems", [])
        if self.roles.gold:
            return self._of_answers(names_of_metrics, systems, problems)
        if systems:
            for name in names_of_metrics:
                if not isinstance(name, Metric) and name.lower() not in ("accuracy", "mean"):
                    raise InputError(
                        f"{self.table.source}: found --systems with --metric {name}, expected scores, whose mean is "
                        "compared, or --gold"
                    )
            metric = self._named_mean(names_of_metrics[0] if names_of_metrics else "", SCORE)
            return _Scored((metric,), {name: [name] for name in systems})
        if names_of_metrics and (known := self._of_metrics(names_of_metrics, problems)):
            return known
        return self._of_columns(names_of_metrics, problems)

    def _of_metrics(self, asked: Sequence[Any], problems: list[str]) -> _Scored | None:
        """Counts of metrics that are named; None if they are means of scores."""
        metrics: list[Metric] = []
        kind = "numbers"
        columns: list[str] = []
        for name in asked:
            if not isinstance(name, Metric) and beta(name) is not None:
                kind = "f"
                metrics.append(f_measure(name))
                columns += self._brackets(name, problems)
                continue
            if not isinstance(name, Metric) and passes(name):
                return None
            metric = registry.metric(name)
            if (
                metric.name in ("f1", "precision", "recall")
                and not {*metric.columns} <= self.by_lower.keys()
                and {"tp", "fp", "fn"} <= self.by_lower.keys()
            ):
                kind = "f"
                metrics.append(metric)
                columns += [self.by_lower[column] for column in ("tp", "fp", "fn")]
                continue
            lacking = [column for column in metric.columns if column.lower() not in self.by_lower]
            if metric.name in ("accuracy", "mean") and lacking:
                return None
            if lacking:
                suggestion = (
                    "; it is computed from outputs with --reference, too"
                    if metric.extractor
                    else "; with --gold, from labels"
                    if metric.labels
                    else ""
                )
                problems.append(f"no column {listed(lacking)}, expected the counts of {metric.name}{suggestion}")
                return None
            metrics.append(metric)
            columns += [self.by_lower[column.lower()] for column in metric.columns]
        return _Scored(tuple(metrics), {"": list(dict.fromkeys(columns))}, kind)

    def _brackets(self, name: str, problems: list[str]) -> list[str]:
        for names in (("tp", "fp", "fn"), ("matched", "predicted", "gold")):
            if {*names} <= self.by_lower.keys():
                return [self.by_lower[column] for column in names]
        problems.append(f"no columns tp, fp, fn or matched, predicted, gold, expected the counts of {name}")
        return []

    def _of_columns(self, asked: Sequence[Any], problems: list[str]) -> _Scored | None:
        """The mean of the columns of scores that are declared, or of the one with a standard name, or that is left."""
        used = {
            *chain.from_iterable(self.columns_of.values()),
            *(self.by_lower[name] for name in chain(*STANDARD.values()) if name in self.by_lower),
        }
        left = [name for name in self.table.names if name not in used]
        names = split(self.roles.score, self.table.names)
        if not names:
            counts = next(
                (
                    metric
                    for metric in registry.METRICS.values()
                    if len(metric.columns) > 1
                    and {column.lower() for column in metric.columns} <= {name.lower() for name in left}
                ),
                None,
            )
            if counts and not asked:
                problems.append(
                    f"the counts of {counts.name} ({listed(counts.columns)}), expected --metric {counts.name}, or "
                    "--score"
                )
                return None
            standard = [
                name
                for name in left
                if name.lower()
                in (SCORE, "correct", "accuracy", "value", "passed", *LOWER_IS_BETTER, *registry.METRICS)
            ]
            names = standard or (left if len(self.table.names) == 1 else [])
            if {"tp", "fp", "fn"} <= {name.lower() for name in left} and not standard:
                problems.append(
                    "the counts TP, FP and FN, expected --metric f1, precision, recall or an F-measure such as f0.5"
                )
                return None
            if len(names) != 1:
                shown = (
                    f"{len(names)} columns that may be scores ({listed(names)})"
                    if names
                    else "no column with the name of a score"
                )
                problems.append(
                    f"{shown}, expected one: choose it with --score, or the columns of several systems with --systems"
                )
                return None
        pairs: list[tuple[str, ...]] = []
        for name in names:
            parts = (name,) if name in self.table.names or name.lower() in self.by_lower else tuple(name.split("/"))
            if len(parts) > 2 or any(
                part not in self.table.names and part.lower() not in self.by_lower for part in parts
            ):
                problems.append(f"no column {quoted(name)} for --score{near(name, self.table.names)}")
                return None
            pairs.append(tuple(part if part in self.table.names else self.by_lower[part.lower()] for part in parts))
        if repeated := {pair for pair in pairs if pairs.count(pair) > 1}:
            raise InputError(
                f"{self.table.source}: found {listed(chain(*repeated))} repeatedly in --score, expected it once"
            )
        if asked:
            if len(pairs) > 1:
                problems.append(f"the scores {listed(chain(*pairs))} with --metric, expected one of them")
                return None
            return _Scored((self._named_mean(asked[0], pairs[0][0]),), {"": [pairs[0][0]]})
        metrics = [self._mean(*pair) for pair in pairs]
        columns = list(dict.fromkeys(chain.from_iterable(pairs)))
        if not self.roles.score and columns[0].lower() == "wer" and {"edits", "words"} <= self.by_lower.keys():
            problems.append(
                f"the ratio {named(columns[0])} beside its counts edits and words, whose sums give another "
                f"number than the mean of the ratios: choose --score {named(columns[0])}, or a ratio of sums "
                "with A/B"
            )
            return None
        return _Scored(tuple(metrics), {"": columns})

    def _named_mean(self, asked: Any, column: str) -> Metric:
        """The mean of a column by the name of a metric: accuracy (of 0 and 1, in percent), mean, pass@k."""
        if isinstance(asked, Metric):
            return asked
        if asked.lower() == "accuracy":
            return replace(average("accuracy", factor=100), title="accuracy")
        if asked and passes(asked):
            return replace(average(asked.lower(), factor=100), title=asked.lower())
        return self._mean(column if column != SCORE or not asked else SCORE)

    def _mean(self, name: str, below: str = "") -> Metric:
        """The mean of a column, or the ratio of the sums of two, with its direction."""
        known = registry.METRICS.get(name.lower())
        lower = not known.higher_is_better if known else name.lower() in LOWER_IS_BETTER
        assumed = not known and not lower
        if self.roles.lower_is_better is not None:
            lower, assumed = self.roles.lower_is_better, False
        if below:
            both = f"{name}/{below}"
            return Metric(
                both,
                (name, below),
                Ratio((0,), (1,), factor=1.0),
                f"Σ {name} / Σ {below}",
                scale=None,
                title=both,
                higher_is_better=not lower,
                assumed=assumed,
            )
        return average(name, higher_is_better=not lower, assumed=assumed)

    def _of_answers(self, asked: Sequence[Any], systems: Sequence[str], problems: list[str]) -> _Scored | None:
        """Answers that are compared with the right ones."""
        predictions = systems or self.columns_of.get("prediction", [])
        if not predictions:
            problems.append(
                "--gold without answers, expected --prediction (one column) or --systems (a column per system), too"
            )
            return None
        columns = {name if systems else "": [name] for name in predictions}
        if len(asked) > 1:
            raise InputError(f"{self.table.source}: found several metrics with --gold, expected one")
        asked_for = str(getattr(asked[0], "name", asked[0])).lower() if asked else "accuracy"
        is_of_a_class = asked_for in ("f1", "precision", "recall")
        if self.roles.true and not is_of_a_class and asked_for not in ("macro_f1", "micro_f1"):
            raise InputError(
                f"{self.table.source}: found --true with --gold and --metric {asked_for}, which is of all classes\n"
                "--metric f1, precision, recall, macro_f1 and micro_f1 are also of some classes"
            )
        if is_of_a_class and not self.roles.true:
            raise InputError(
                f"{self.table.source}: found --metric {asked_for} of labels, expected the class that it is about\n"
                "--true CLASS names it; --metric macro_f1 and micro_f1 are of all classes"
            )
        if not asked or (isinstance(asked[0], str) and asked[0].lower() == "accuracy"):
            return _Scored((replace(average("accuracy", factor=100), title="accuracy"),), columns, "answers")
        name = asked[0]
        if isinstance(name, str) and name.lower() in ("mae", "mse"):
            return _Scored((average(name.lower(), higher_is_better=False),), columns, name.lower())
        metric = registry.metric(name)
        if not metric.labels:
            raise InputError(
                f"{self.table.source}: found --gold with --metric {metric.name}, expected accuracy, mae, mse or "
                f"one of {listed(m.name for m in registry.METRICS.values() if m.labels)}"
            )
        return _Scored((metric,), columns, "labels")

    def _check_items(self, problems: list[str], scored: _Scored | None) -> None:
        """A table of several systems or runs needs ids, and so does one of a single system with other columns."""
        if "item" in self.columns_of:
            return
        used = {*chain.from_iterable(scored.columns.values())} if scored else set()
        used |= {*self.columns_of.get("gold", ()), *self.columns_of.get("systems", ())}
        others = [name for name in self.table.names if name not in used]
        if systems := self.columns_of.get("system"):
            codes, known = coded(self.table.columns[systems[0]])
            if len(known) == len(codes):
                problems.append(
                    "one row per system, expected one per system and item (totals say nothing about the items)"
                )
                return
        if (
            self.columns_of.get("system")
            or self.columns_of.get("run")
            or self.columns_of.get("sample")
            or (others and not self.roles.systems)  # rows pair the systems of one table
            or scored is None
        ):
            problems.append(f"no column with the items, expected one called {listed(STANDARD['item'])}, or --item")

    # Rows.

    def labels(self, role: str) -> tuple[NDArray[np.intp], list[str]] | None:
        """The labels of a role by row; those of several columns are joined with slashes."""
        names = self.columns_of.get(role, [])
        if not names:
            return None
        codes, known = coded(self.table.columns[names[0]])
        for name in names[1:]:
            more_codes, more = coded(self.table.columns[name])
            pairs, codes = np.unique(codes * np.intp(len(more)) + more_codes, return_inverse=True)
            known = [f"{known[pair // len(more)]}/{more[pair % len(more)]}" for pair in pairs.tolist()]
            first = np.full(len(known), len(codes))
            np.minimum.at(first, codes, np.arange(len(codes)))
            order = np.argsort(first)
            known = [known[place] for place in order]
            codes = np.argsort(order)[codes]
        lacking = [text for text in known if not all(_parts(text))] if names[1:] else [""] * ("" in known)
        if role in ("item", "system", "run", "sample") and lacking:
            empty = known.index(lacking[0])
            raise InputError(
                f"{self.table.where(int(np.argmax(codes == empty)))}: found an empty cell in column "
                f"{listed(names)}, expected the {role}"
            )
        return codes, known

    def _grouped(self, scored: _Scored) -> tuple[Output, ...]:
        """One `Output` per system and run, with samples averaged per item."""
        table, n_rows = self.table, len(self.table.lines)
        numbered = (np.arange(n_rows), [str(place) for place in range(1, n_rows + 1)])
        item_of, items = self.labels("item") or numbered
        if total := next((item for item in items if item[:1].isalpha() and item.lower() in TOTALS), ""):
            row = int(np.argmax(item_of == items.index(total)))
            raise InputError(
                f"{table.where(row)}: found the item {quoted(total)}, expected no rows of totals\n"
                "delete the row, or name another column with --item"
            )
        same = (np.zeros(n_rows, dtype=np.intp), [""])
        system_of, systems = self.labels("system") or same
        run_of, runs = self.labels("run") or same
        sample = self.labels("sample")
        output_of = system_of * len(runs) + run_of
        groups = [int(code) for code in dict.fromkeys(output_of.tolist())] if len(systems) * len(runs) > 1 else [0]
        self._check_repeats(item_of, items, output_of, sample)
        labels = {role: self.labels(role) for role in ("document", "domain", "macro", "gold")}
        others = self._others(scored)
        is_only_run = len(groups) == len({code // len(runs) for code in groups})
        values_of = {system: self._values(scored, columns) for system, columns in scored.columns.items()}
        metrics = (of_classes(scored.metrics[0], self._classes(scored)),) if scored.kind == "labels" else scored.metrics
        given = table.lines
        lines = np.arange(given.start, given.stop) if isinstance(given, range) else np.array(given)
        outputs: list[Output] = []
        for code in groups:
            rows = np.flatnonzero(output_of == code) if len(groups) > 1 else np.arange(n_rows)
            is_whole = len(groups) == 1 and len(items) == n_rows  # each row has its item
            ids = tuple(items if is_whole else [items[item] for item in item_of[rows].tolist()])
            first = np.arange(len(rows))
            inverse = None
            if sample is not None:
                _, first, inverse = np.unique(item_of[rows], return_index=True, return_inverse=True)
                order = np.argsort(first)
                first, inverse = first[order], np.argsort(order)[inverse]
                ids = tuple(ids[place] for place in first.tolist())
            of_items = rows[first]
            picked = {
                role: tuple(np.array(columns[1], dtype=object)[columns[0][of_items]].tolist()) if columns else ()
                for role, columns in labels.items()
            }
            for name, values in values_of.items():
                columns = {column: array[rows] if len(groups) > 1 else array for column, array in values.items()}
                if inverse is not None:
                    columns = {
                        column: self._over_samples(array, inverse, len(first), ids, scored.metrics[0].name)
                        for column, array in columns.items()
                    }
                outputs.append(
                    Output(
                        source=table.source,
                        system=name or systems[code // len(runs)],
                        run="" if is_only_run else runs[code % len(runs)],
                        items=ids,
                        by=", ".join(self.columns_of.get("item", [])),
                        values={column: _kept_whole(array) for column, array in columns.items()},
                        metrics=metrics,
                        documents=picked["document"],
                        domains=picked["macro"] or picked["domain"],
                        contents=tuple(_plain(gold).replace("/", "|") for gold in picked["gold"]),
                        others={}
                        if sample
                        else {name: [of[row] for row in of_items.tolist()] for name, of in others.items()},
                        design="crossed",
                        samples=self._samples(inverse),
                        notes=(*table.notes, *self.notes),
                        lines=lines[of_items],
                        place=table.place,
                    )
                )
        return tuple(outputs)

    def _samples(self, inverse: NDArray[np.intp] | None) -> str:
        """How many rows of an item were averaged."""
        if inverse is None:
            return ""
        return f"{_range(np.bincount(inverse))} rows per item averaged ({', '.join(self.columns_of['sample'])})"

    def _check_repeats(
        self, item_of: NDArray[np.intp], items: Sequence[str], output_of: NDArray[np.intp], sample: Any
    ) -> None:
        """Refuse an item, or a sample of it, that a system and run has twice."""
        keys, n = output_of.astype(np.int64) * len(items) + item_of, len(items)
        words = "item"
        if sample is not None:
            keys, words = keys * len(sample[1]) + sample[0], f"item and {listed(self.columns_of['sample'])}"
        if len(keys) == n and sample is None:  # as many ids as rows
            return
        order = np.argsort(keys, kind="stable")
        again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
        if not len(again):
            return
        place = int(again[np.argmin(order[again + 1])])
        before, row = int(order[place]), int(order[place + 1])
        lines = f"{self.table.place}s {self.table.lines[before]} and {self.table.lines[row]}"
        raise self.refusal(
            f"the {words} {named(items[item_of[row]])} in {lines}, expected it once per system: say what the "
            "other rows are, "
            "with --run COL (a training; crossed with the items), --sample COL (draws, raters, turns or "
            "orders of an item, which "
            "are averaged), or --item COL,COL (a part of the id)"
        )

    def _over_samples(
        self, values: NDArray[np.float64], inverse: NDArray[np.intp], n: int, ids: Sequence[str], name: str
    ) -> NDArray[np.float64]:
        """The mean over the samples of each item, or the unbiased estimator of pass@k or pass^k."""
        if np.isnan(values).any() and self.roles.missing == "wrong":
            self.notes.append(
                f"{self.table.source}: {int(np.isnan(values).sum()):,} samples without a score count as wrong"
            )
            values = np.nan_to_num(values)
        sums, sizes = np.zeros(n), np.bincount(inverse, minlength=n)
        np.add.at(sums, inverse, values)
        if asked := passes(name):
            kind, k = asked
            if (few := sizes < k).any():
                place = int(np.argmax(few))
                raise InputError(
                    f"{self.table.source}: found {sizes[place]} samples of item {named(ids[place])}, expected at "
                    f"least {k} for {name}"
                )
            if not np.isin(values[~np.isnan(values)], (0, 1)).all():
                raise InputError(
                    f"{self.table.source}: found samples that are neither 0 nor 1, expected outcomes for {name}"
                )
            pairs = zip(sizes.tolist(), sums.tolist(), strict=True)
            return np.array([math.nan if math.isnan(c) else pass_at(m, int(c), k, kind) for m, c in pairs])
        return sums / sizes

    def _values(self, scored: _Scored, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The numbers of one system by the columns of the metrics, NaN where a score is missing."""
        if scored.kind in ("answers", "labels"):
            return self._answers(scored, columns[0])
        missing, true = split(self.roles.missing_value), split(self.roles.true)
        by_name = {name: numbers(self.table, name, missing, true, self.roles.decimal) for name in columns}
        if scored.kind in ("mae", "mse"):
            gold = numbers(self.table, self.columns_of["gold"][0], missing, (), self.roles.decimal)
            errors = np.abs(by_name[columns[0]] - gold)
            return {scored.kind: errors**2 if scored.kind == "mse" else errors}
        if scored.kind == "f":
            return _of_brackets(self.table, by_name, scored.metrics)
        (metric, *more) = scored.metrics
        if not more and metric.averaged and len(columns) == 1:
            values = by_name[columns[0]]
            if metric.name == "accuracy":
                self._check_outcomes(values, columns[0])
            if passes(metric.name) and "sample" not in self.columns_of:
                raise InputError(
                    f"{self.table.source}: found --metric {metric.name} without --sample, expected the column with "
                    "the samples of an item"
                )
            return {metric.columns[0]: values}
        by_lower = {name.lower(): values for name, values in by_name.items()}
        columns_of_metrics = chain.from_iterable(metric.columns for metric in scored.metrics)
        return {
            column: by_name[column] if column in by_name else by_lower[column.lower()] for column in columns_of_metrics
        }

    def _check_outcomes(self, values: NDArray[np.float64], name: str) -> None:
        wrong = ~np.isnan(values) & (values != 0) & (values != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"{self.table.where(row)}: found {values[row]:g} in column {named(name)}, expected 0 or 1 for "
                "--metric accuracy\nleave --metric out for the mean of other scores"
            )

    def _answers(self, scored: _Scored, name: str) -> dict[str, NDArray[np.float64]]:
        """Whether each answer is the right one, or the counts of each class."""
        (gold_codes, golds), (codes, answers) = (
            coded(self.table.columns[self.columns_of["gold"][0]]),
            coded(self.table.columns[name]),
        )
        if "" in golds:
            raise InputError(
                f"{self.table.where(int(np.argmax(gold_codes == golds.index(''))))}: found no right answer, "
                "expected one in each row"
            )
        keys = {key: place for place, key in enumerate(dict.fromkeys(map(_plain, [*golds, *answers])))}
        right = np.array([keys[_plain(text)] for text in golds])[gold_codes]
        given = np.array([keys[_plain(text)] for text in answers])[codes]
        lacking = {"", *split(self.roles.missing_value)}
        lacks = np.array([text in lacking for text in answers], dtype=bool)[codes]
        if not (right == given).any():
            raise InputError(
                f"{self.table.source}: found no answer in column {named(name)} that equals "
                f"{named(self.columns_of['gold'][0])}, expected the same words in both, such as "
                f"{listed(golds[:2])} (found {listed(answers[:2])})"
            )
        if scored.kind == "answers":
            return {"accuracy": np.where(lacks, math.nan, (right == given).astype(float))}
        metric, classes = scored.metrics[0], self._classes(scored)
        known = {_plain(text): place for place, text in enumerate(classes)}
        place_of = np.array([known.get(key, -1 - number) for number, key in enumerate(keys)])
        counts = label_counts(place_of[right], place_of[given], range(len(classes)), metric)
        return {
            column: np.where(lacks, math.nan, array)
            for column, array in zip(of_classes(metric, classes).columns, counts, strict=True)
        }

    def _classes(self, scored: _Scored) -> list[str]:
        """The classes of labels: those of `--true`, or all that occur."""
        texts: dict[str, str] = {}
        lacking = {"", *split(self.roles.missing_value)}
        for name in [*self.columns_of["gold"], *chain.from_iterable(scored.columns.values())]:
            for text in coded(self.table.columns[name])[1]:
                if text not in lacking:
                    texts.setdefault(_plain(text), text)
        chosen = split(self.roles.true)
        for word in chosen:
            if _plain(word) not in texts:
                raise InputError(
                    f"{self.table.source}: found no class {quoted(word)}, expected one of "
                    f"{listed(sorted(texts.values()))}"
                )
        return chosen or sorted(texts.values())

    def _others(self, scored: _Scored) -> dict[str, list[str]]:
        """Columns of text without a role, which tell whether equal ids mean equal items."""
        from pairsig.readers.cells import labels

        used = {*chain.from_iterable(self.columns_of.values()), *chain.from_iterable(scored.columns.values())}
        free = [name for name in self.table.names if name not in used and not self.table.is_numeric(name)]
        return {name: labels(self.table.columns[name]) for name in free[:20]}


def _parts(text: str) -> list[str]:
    """What slashes separate."""
    return text.split("/")


def pass_at(n: int, c: int, k: int, kind: str = "@") -> float:
    """The unbiased estimator of pass@k, or of pass^k, from c of n samples that pass (Chen et al. 2021).

    >>> pass_at(4, 1, 2), pass_at(4, 2, 2, "^")
    (0.5, 0.16666666666666666)
    """
    if kind == "^":
        return math.comb(c, k) / math.comb(n, k)
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def f_measure(name: str) -> Metric:
    """The F-measure with the β in its name, as a ratio of sums of whole numbers.

    With β = p/q, it is (p² + q²) Σ matched / (p² Σ gold + q² Σ predicted).
    """
    square = Fraction(beta(name) or 1) ** 2
    p, q = square.numerator, square.denominator
    return Metric(name.lower(), ("matched", f"{name.lower()}_denominator"), Ratio((0,), (1,), factor=100.0 * (p + q)),
                  f"100 · {p + q} Σ matched / Σ ({p} gold + {q} predicted)", title=name.upper())  # fmt: skip


def _of_brackets(
    table: Table, columns: Mapping[str, NDArray[np.float64]], metrics: Sequence[Metric]
) -> dict[str, NDArray[np.float64]]:
    """Matched, predicted and gold items, and the denominators of F-measures, from these or from TP, FP and FN."""
    by_lower = {name.lower(): values for name, values in columns.items()}
    if "tp" in by_lower:
        matched = by_lower["tp"]
        predicted, gold = matched + by_lower["fp"], matched + by_lower["fn"]
    else:
        matched, predicted, gold = by_lower["matched"], by_lower["predicted"], by_lower["gold"]
    for values in (matched, predicted - matched, gold - matched):
        if (wrong := values < 0).any():
            raise InputError(
                f"{table.where(int(np.argmax(wrong)))}: found counts below 0, or more matched than predicted or "
                "gold items, expected valid counts"
            )
    columns = {"matched": matched, "predicted": predicted, "gold": gold}
    for metric in metrics:
        if (b := beta(metric.name)) is not None:
            square = b**2
            columns[metric.columns[1]] = square.numerator * gold + square.denominator * predicted
    used = set(chain.from_iterable(metric.columns for metric in metrics))
    return {name: values for name, values in columns.items() if name in used}


def _kept_whole(values: NDArray[np.float64]) -> NDArray[Any]:
    return values if values.dtype.kind == "f" and np.isnan(values).any() else whole(values)


def _plain(text: str) -> str:
    """A label that is a number as others that are equal, so that 2 and 2.0 are one class."""
    whole, _, fraction = text.partition(".")
    if not re.fullmatch(r"[+-]?[0-9]+", whole) or not re.fullmatch("[0-9]*", fraction):
        return text
    decimals = fraction.rstrip("0")
    sign = "-" if whole.startswith("-") and (int(whole) or decimals) else ""
    return f"{sign}{abs(int(whole))}.{decimals}" if decimals else f"{sign}{abs(int(whole))}"


def _range(sizes: NDArray[np.intp]) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low}" if low == high else f"{low} to {high}"
