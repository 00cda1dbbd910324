"""What the columns of a table are: systems, items, scores, runs.

Files and data frames share this module. A table is *long* (one row per system and item, with a column of systems),
*wide* (one row per item, with one column of scores per system), or has one system. The names of columns decide; where
they do not suffice, the cells do. Where two readings would give different numbers, the error shows the option to type.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np

from pairsig.core.statistics import OF_THE_TEST_SET
from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics import Metric
from pairsig.readers.system_counts import NUMBER, SystemCounts, average, fits, to_array, to_number

Number = int | float | bool
Wide: TypeAlias = dict[tuple[str, str], dict[str, str]]
"""Columns by system and run, and by metric."""
Names = str | Sequence[str | Metric] | None

SYSTEMS = (
    "system", "model", "model_name", "system_name", "model_id", "sys", "method", "name", "algo", "algorithm", "agent",
    "approach", "classifier", "parser", "engine", "llm", "assistant", "bot", "translator", "policy", "learner",
    "architecture", "variant", "checkpoint", "team", "submission", "run_name", "tool", "strategy",
    "condition", "configuration", "config", "setup", "experiment",
)  # fmt: skip
_SURE = 5
"""How many of `SYSTEMS` mean systems in any table; the others only if items repeat, so that they differ by system."""
ITEMS = (
    "segment", "id", "item", "item_id", "question_id", "sample_id", "segment_id", "doc_id", "example_id", "instance_id",
    "sentence_id", "prompt_id", "task_id", "problem_id", "seg_id", "qid", "sid", "uid", "item_number", "sample",
    "example", "instance", "question", "sentence", "prompt", "problem", "key", "query_id", "q_id", "query", "topic",
    "topic_id", "utt_id", "utterance_id", "utterance", "docid", "document_id", "pair_id", "turn_id", "passage_id",
    "case_id", "test_id", "image_id", "file_id", "user_id", "nodeid", "node_id", "test_name", "test_case", "case",
    "test", "file", "filename", "file_name", "image", "uuid", "guid", "_id", "pmid", "env", "environment", "env_id",
    "game", "task", "task_name", "dataset", "benchmark", "subject", "participant", "participant_id", "fold", "line",
    "line_number", "lineno", "nr", "no", "no.", "#", "number",
    "other_id", *(INDEX := ("index", "idx", "row", "")),
)  # fmt: skip
_IDS = {*SYSTEMS, *ITEMS, "run_id", "document_id"}
RUNS = ("run", "seed", "epoch", "run_id", "trial", "repetition", "replicate", "random_seed", "rep", "iteration")
SCORES = (
    "score", "correct", "acc", "accuracy", "value", "is_correct", "passed", "pass", "success", "result", "outcome",
    "acc_norm", "exact_match", "quasi_exact_match", "em", "f1", "precision", "recall", "bleu", "sacrebleu", "chrf",
    "chrf++", "ter", "wer", "cer", "comet", "xcomet", "cometkiwi", "bleurt", "bertscore", "bert", "meteor", "rouge",
    "rouge1", "rouge2", "rougel", "rougelsum", "rouge_1", "rouge_2", "rouge_l", "mrr", "ndcg", "map", "mqm", "loss",
    "perplexity", "ppl", "nll", "mse", "mae", "rmse", "uas", "las", "resolved", "solved", "win", "rating", "grade",
    "points", "reward", "return", "episode_return", "episode_reward", "hit", "hits", "auc", "fluency",
    "adequacy", "coherence", "relevance", "consistency", "faithfulness", "helpfulness", "mcc", "iou", "dice",
    "status",
)  # fmt: skip
"""Names of columns by what they contain, in lower case and with `_` for blanks; of several, the first is used."""
ERRORS = ("ter", "wer", "cer", "loss", "perplexity", "ppl", "nll", "mse", "mae", "rmse", "rank", "error_rate", "errors")
"""Scores of which lower is better."""
GOLD = ("gold", "label", "target", "answer", "reference", "expected", "truth", "ground_truth", "gold_label", "y_true")
_GOLD = "(gold|true|correct|right|target|expected)_(label|answer|choice|option|class|index|idx|letter|value)"
PREDICTIONS = ("prediction", "pred", "predicted", "y_pred", "predicted_label", "output", "response")
_CORRECT = ("correct", "is_correct", "acc", "accuracy", "exact_match", "em")
"""Names of columns that say whether predictions are right."""
_WINNER = "(.+_)?(winner|preferred|preference|verdict|judge?ment|choice)"
_METRIC = ("metric", "metric_name", "measure", "criterion", "aspect", "dimension")
_TIES = ("tie", "draw", "equal", "both", "neither", "same", "none")
STEPS = ("step", "global_step", "_step")
_SCORE = r"(?:mean_|avg_|raw_|human_|judge_|segment_|sentence_|sent_)?(?P<name>.+?)(?:@\d+|_score)?"
_UNIT = r"[(\[](%|m?s|sec|seconds|min|[\d.]+\s*[-–]\s*[\d.]+)[)\]]|[↑↓%]|[(\[][↑↓][)\]]"
MANY = 5
"""How many times more items than systems a table must have so that their numbers distinguish them."""
_FEW = 100
"""Tables with more columns are wide: trying all pairs of these would take long."""
_SHARED = 0.9
"""The share of all items that each system must have so that their values identify a column of items."""
_PEOPLE = ("annotator", "rater", "judge", "worker", "coder", "assessor", "evaluator", "reviewer")
"""Names of columns with those who score the same item of the same system."""
_OF_ITEMS = (
    "document", "domain", "category", "language", "lang", "split", "genre", "type", "group", "section", "source",
    "user", "speaker", "topic", "class", "difficulty", "site", "country", *_PEOPLE,
)  # fmt: skip
"""Names of columns with labels of items or judges, which are no systems."""
_TASKS = 5
"""From how many columns on a table with one row per system is one of scores on tasks, which are its items."""
_BESIDE = re.compile(
    r"(.+_)?(length|len|tokens|words|chars|difficulty|latency|duration|time|seconds|cost|weight|count|conf|confidence"
    r"|prob|probability|logprob|std|stderr|min|max|date|lower|upper|votes|params|parameters"
    r"|diff|difference|delta|gain|improvement|change|level|size)"
    r"|total|n|year|n_rows|(num|n|length|len|max|min)_.+|temperature|top_p|timestamp|created_at|rank|version|batch_size"
)
"""Names of columns of numbers that describe an item and are no scores."""
_UNCLEAR = re.compile(r"(.+)_(diff|difference|delta|change|gain|level|size|min|max)")
"""Those of them that may also be systems, such as `t5-size`."""
_SUMMARIES = (
    "mean", "average", "avg", "macro avg", "total", "sum", "overall", "all", "std", "mittelwert", "durchschnitt",
    "summe", "moyenne", "promedio", "stdev", "sd", "median", "min", "max", "count",
)  # fmt: skip
_RUN = r"(?:seed|run|trial|rep|repetition|replicate|epoch|fold)[\W_]*\d+"
_IN_NAMES = (
    rf"(?P<system>.*?)[\s_.\-/:([]*(?P<run>{_RUN})[)\]]?", r"(?P<system>.+?)[\s_.\-/:]+(?P<run>[sr]\d+)",
    rf"(?P<run>{_RUN})[\s_.\-/:]+(?P<system>.+)",
)  # fmt: skip
"""Columns with the scores of a run: `gcn_seed1`, `gcn (run 2)`, `gcn_s3`, `seed1.gcn`."""

_PAIRS = (
    ("true", "false"), ("pass", "fail"), ("passed", "failed"), ("yes", "no"), ("correct", "incorrect"),
    ("right", "wrong"), ("success", "failure"), ("solved", "unsolved"), ("resolved", "unresolved"),
    ("✓", "✗"), ("✔", "✘"), ("✅", "❌"),
)  # fmt: skip
_TRUTHS = {word: not place for pair in _PAIRS for place, word in enumerate(pair)}
_LETTERS = (("t", "f"), ("y", "n"))
"""True and false if a column has both."""
_MISSING = frozenset(
    ("", "nan", "na", "n/a", "n.a.", "null", "none", "<na>", "#n/a", "-", "--", "–", "—", "missing", "skipped")
)
_COMMA = re.compile(r"[-+]?\d{1,400},\d{1,400}", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d{1,400})?", re.ASCII)
_BLANK_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f' ](?=\d{3}(?!\d))")
_PYTHON = {"item": "segment"}
"""Names of the options in Python where they differ."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the user says about the columns.

    Attributes
    ----------
    system
        Column with the names of systems; or the columns of scores, one per system.
    item
        Column with the ids of items, or several that identify an item together.
    score
        Columns of scores, or metrics whose counts the table has.
    gold
        Column with the right answers, with which the columns of answers are compared.
    run, document, domain
        Columns with these labels.
    lower_is_better
        Columns that are errors or costs; True for all.
    one_system
        Whether several columns of numbers are metrics of the same system, since other files have other systems.
    python
        Whether options are shown as arguments of a Python function.
    """

    system: Names = None
    item: Names = None
    score: Names = None
    gold: str | None = None
    run: str | None = None
    document: str | None = None
    domain: str | None = None
    lower_is_better: Names | bool = None
    one_system: bool = False
    python: bool = False

    def hint(self, role: str, names: Iterable[str]) -> str:
        """The option to type."""
        names = list(names)
        if not self.python:
            return f"--option {role}={','.join(names)}"
        shown = ", ".join(f'"{name}"' for name in names)
        return f"{_PYTHON.get(role, role)}=[{shown}]" if len(names) > 1 else f"{_PYTHON.get(role, role)}={shown}"


@dataclass(frozen=True)
class Column:
    """The cells of a column, and the numbers that they are."""

    cells: Sequence[Any]
    comma: str = ""
    """What a comma in a number separates: "decimals", "thousands" or "" if only the cells can tell."""

    @cached_property
    def numbers(self) -> list[Number | str | None]:
        """Each cell as a number, None if it is missing, or a description of why it is no number."""
        comma = self.comma
        if not comma:
            texts = {cell.strip() for cell in self.cells if isinstance(cell, str) and "," in cell}
            if all(_THOUSANDS.fullmatch(text) for text in texts):
                clear = any(text.count(",") > 1 or "." in text for text in texts)
                comma = "thousands" if clear else "unclear"
            else:
                comma = "decimals"
        words = {cell.strip().lower() for cell in self.cells if isinstance(cell, str)}
        letters = next((pair for pair in _LETTERS if words >= set(pair)), ("", ""))
        known: dict[tuple[type, Any], Number | str | None] = {}
        found: list[Number | str | None] = []
        for cell in self.cells:
            if isinstance(cell, list | dict | tuple):
                found.append("")
                continue
            key = type(cell), cell
            if key not in known:
                word = cell.strip().lower() if isinstance(cell, str) else ""
                known[key] = word == letters[0] if word and word in letters else _number(cell, comma)
            found.append(known[key])
        return found

    @cached_property
    def kinds(self) -> Counter[type]:
        """How many cells are numbers (float), truths (bool), text (str) or missing (NoneType)."""
        types = Counter(map(type, self.numbers))
        return Counter({bool: types[bool], float: types[int] + types[float], str: types[str]})

    @property
    def is_numeric(self) -> bool:
        """Whether no cell is text, and some are numbers."""
        return not self.kinds[str] and self.kinds.total() > 0

    @property
    def is_mostly_numeric(self) -> bool:
        """Whether less than half of the cells are text."""
        return self.kinds.total() > 0 and 2 * self.kinds[str] < self.kinds.total()

    @cached_property
    def values(self) -> set[Number]:
        """The different numbers."""
        return {value for value in self.numbers if value is not None and not isinstance(value, str)}

    @property
    def counts_rows(self) -> bool:
        """Whether the cells are 0, 1, 2, … or 1, 2, 3, …, as in an index."""
        own = self.numbers
        return len(own) > 2 and own[0] in (0, 1) and own == list(range(int(own[0]), int(own[0]) + len(own)))

    @property
    def scale(self) -> str:
        """What a score looks like; the systems of a wide table share it."""
        if self.values <= {0, 1}:
            return "0 and 1"
        if len(self.values) == 1:
            return f"only {next(iter(self.values))}"
        low, high = min(self.values), max(self.values)
        if all(isinstance(value, int) for value in self.values):
            return "whole numbers"
        return "shares" if low >= 0 and high <= 1 else "numbers"


def is_number(cell: Any) -> type | None:
    """The kind of number that a cell is, `bool` or `float`; None for text and for missing cells."""
    found = _number(cell, "decimals")
    return bool if isinstance(found, bool) else float if isinstance(found, int | float) else None


def _number(cell: Any, comma: str) -> Number | str | None:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, str):
        text = _BLANK_THOUSANDS.sub("", cell.strip()).replace("\u2212", "-")
        word = text.lower()
        if word in _MISSING:
            return None
        if word in _TRUTHS:
            return _TRUTHS[word]
        text = text.removesuffix("%").rstrip()
        if "," in text and (_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text)):
            if comma == "unclear":
                return "a number with a decimal point, since the comma may separate decimals or thousands"
            if comma == "decimals" and text.count(",") == 1:
                text = text.replace(",", ".")
            elif comma == "thousands" and _THOUSANDS.fullmatch(text):
                text = text.replace(",", "")
        if not re.fullmatch(NUMBER, text, re.ASCII):
            return ""
        found = to_number(text)
        if found is None:
            return "up to 2**53" if text.lstrip("+-").isdecimal() else ""
        return float(found) if cell.rstrip().endswith("%") else found
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, int | float):
        return cell if fits(cell) else "up to 2**53" if isinstance(cell, int) else "a finite number"
    try:
        return float(cell) if type(cell).__name__ in ("Decimal", "Fraction") else ""
    except ValueError:
        return ""


@dataclass(frozen=True)
class Cells:
    """A table as it was found.

    Attributes
    ----------
    source
        What messages call the table.
    columns
        Cells by the names of columns; the name may be empty.
    lines, place
        Line (or row) of each row in the file, and which of both it is.
    comma
        What a comma in a number separates, see `Column`.
    unnamed
        Whether the table had no line of names, so that they are numbers.
    levels
        For columns below several names, such as those of a system and a metric: these names.
    notes
        Sentences about what was left out.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    place: str = "row"
    comma: str = ""
    unnamed: bool = False
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass
class _Layout:
    """A table and the roles of its columns, as far as they are known."""

    table: Cells
    chosen: Chosen
    columns: dict[str, Column] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    """Columns of numbers that are not used."""

    def keep(self, rows: Sequence[int]) -> None:
        """Leave out all other rows."""
        self.table = replace(self.table, lines=[self.table.lines[row] for row in rows])
        self.columns = {name: Column([own.cells[row] for row in rows], own.comma) for name, own in self.columns.items()}

    def where(self, row: int) -> str:
        return f"{self.table.source}, {self.table.place} {self.table.lines[row]}"

    def by_name(self, known: Sequence[str], among: Iterable[str]) -> list[str]:
        """The columns that have one of the known names, in the order of these."""
        called: dict[str, list[str]] = {}
        for name in among:
            called.setdefault(_key(name), []).append(name)
        return [name for own in known for name in called.get(own, [])]

    def column(self, name: str, role: str) -> str:
        """The column that the user named."""
        for own in self.columns:
            if own == name or own.strip() == name.strip():
                return own
        raise InputError(
            f"{self.table.source}: found no column {quoted(name)} for {self.chosen.hint(role, [name])}, expected one "
            f"of {listed(self.columns)}{near(name, self.columns)}"
        )

    def labels(self, names: Sequence[str]) -> list[str]:
        """The text of the cells, those of several columns joined."""
        own = [list(map(_label, self.columns[name].cells)) for name in names]
        return own[0] if len(own) == 1 else list(map(" / ".join, zip(*own, strict=True)))

    def array(self, name: str) -> tuple[Any, np.ndarray[Any, np.dtype[np.bool_]]]:
        """The numbers of a column, 0 where they are missing; and where they are."""
        column = self.columns[name]
        truths, plain = column.kinds[bool], column.kinds[float]
        percent = [isinstance(cell, str) and cell.rstrip().endswith("%") for cell in column.cells]
        odd = None
        if truths and plain:
            first = next(value for value in column.numbers if isinstance(value, int | float))
            odd = "true or false" if isinstance(first, bool) else "a number"
        elif any(percent) and plain > sum(percent):
            odd = "%" if percent[0] else "a number without %"
        for row, value in enumerate(column.numbers):
            wrong = isinstance(value, str)
            if odd in ("true or false", "a number"):
                wrong = wrong or (value is not None and isinstance(value, bool) != (odd == "true or false"))
            elif odd:
                wrong = wrong or (value is not None and percent[row] != percent[0])
            if wrong:
                cell = column.cells[row]
                expected = odd and f"{odd} as in {self.table.place} {self.table.lines[0]}"
                more = value if isinstance(value, str) and value else ""
                expected = expected or (more if more.startswith("a ") else f"a number {more}".rstrip())
                raise InputError(
                    f"{self.where(row)}: found {quoted(cell)} in column {named(name)}, expected {expected}"
                )
        missing = np.array([value is None for value in column.numbers])
        return to_array([0 if value is None or isinstance(value, str) else value for value in column.numbers]), missing


def read(table: Cells, chosen: Chosen | None = None) -> tuple[SystemCounts, ...]:
    """The counts or scores of every system and run in a table.

    Parameters
    ----------
    table
        The cells.
    chosen
        What the user said about columns.

    Returns
    -------
    Counts, one per system and run, in the order of the table. Missing scores are `unscored`. The first note says how
    the table was read.

    Raises
    ------
    InputError
        If the table can be read in several ways, if an item is repeated for a system and run, if an item, a system or a
        run has no name, and for cells of scores that are text or do not fit.
    """
    layout = _tidy(table, chosen or Chosen())
    _judge(layout)
    _spread(layout)
    systems, runs = _systems_and_runs(layout)
    labels = {what: _column_of(layout, what, (what,)) for what in ("document", "domain")}
    named_by_user = layout.chosen.system and layout.chosen.item and layout.chosen.score
    if found := _by_values(layout, systems, runs):
        systems, item = found
        layout.chosen = replace(layout.chosen, item=[item])
    roles = {name for name in (systems, runs, *labels.values()) if name is not None}
    items = [layout.column(name, "item") for name in _split(layout, "item", layout.chosen.item)]
    free = [name for name in layout.columns if name not in roles and name not in items]
    _compare_with_gold(layout, free)
    free = [name for name in layout.columns if name not in roles and name not in items]
    if systems is not None and not items and (turned := _turned(layout, systems, runs, free)):
        return read(turned, replace(layout.chosen, system=None, score=None))
    outputs = _outputs(layout, systems, runs)
    metrics: list[Metric] = []
    wide: Wide = {}
    if one_each := _system_columns(layout) if systems is None else ():
        wide = _by_system(layout, one_each)
    else:
        metrics, names = _metrics(layout, free)
        if not metrics:
            ids_by_name = set(layout.by_name(ITEMS, names))
            candidates = [name for name in names if name not in ids_by_name]
            candidates = [name for name in candidates if not layout.columns[name].counts_rows] or candidates[-1:]
            if (steps := layout.by_name(STEPS, free)) and not layout.by_name(ITEMS, free):
                raise InputError(
                    f"{table.source}: found column {_shown(steps[0])}, so the rows may be steps of a training instead "
                    f"of items; if they are items, use {layout.chosen.hint('item', steps[:1])}"
                )
            candidates = _without_ids(layout, candidates)
            if systems is None and not layout.chosen.one_system:
                candidates = _check_suffixes(layout, candidates, free)
            if systems is None and len(candidates) > 1:
                wide = _wide(layout, candidates)
            if not wide:
                metrics = _only_score(layout, candidates)
    used = {column for metric in metrics for column in metric.columns}
    used.update(column for own in wide.values() for column in own.values())
    items = items or _items(layout, [name for name in free if name not in used], outputs, used, systems is not None)
    ids = layout.labels(items) if items else _numbered(outputs)
    if kept := _without_summaries(layout, ids, outputs, sorted(used)):
        ids, outputs = [ids[row] for row in kept], [outputs[row] for row in kept]
    _check_ids(layout, items, ids, outputs)
    if systems is not None and items and role(items[0]) != "item" and len(set(ids)) == 1 < len(ids):
        raise InputError(
            f"{table.source}: found one row per system, expected a score for each item: a test needs more than the "
            "scores of whole test sets"
        )
    n_rows = len(ids)
    documents, domains = (layout.labels([own]) if own else [""] * n_rows for own in labels.values())
    arrays = {name: layout.array(name) for name in layout.columns if name in used}
    parts = []
    for (system, run), rows in _grouped(outputs).items():
        for (own_system, own_run), by_metric in (wide or {("", ""): {}}).items():
            own = metrics or [_of_systems(layout, name) for name in by_metric]
            columns = arrays
            if wide:
                columns = {m.columns[0]: arrays[name] for m, name in zip(own, by_metric.values(), strict=True)}
            parts.append(
                SystemCounts(
                    segments=tuple(ids[row] for row in rows),
                    documents=tuple(documents[row] for row in rows),
                    domains=tuple(domains[row] for row in rows),
                    counts={column: values[rows] for column, (values, _) in columns.items()},
                    unscored={
                        metric.name: np.any([columns[column][1][rows] for column in metric.columns], axis=0)
                        for metric in own
                    },
                    metrics=tuple(own),
                    source=table.source,
                    lines=tuple(layout.table.lines[row] for row in rows),
                    place=table.place,
                    alike=tuple(column for column in OF_THE_TEST_SET if column in columns),
                    system=own_system or system,
                    run=own_run or run,
                )
            )
    how = [] if named_by_user else [_how(layout, parts, items, metrics, systems, runs)]
    return tuple(replace(part, notes=(*how, *layout.notes)) for part in parts)


def _how(
    layout: _Layout,
    parts: Sequence[SystemCounts],
    items: Sequence[str],
    metrics: Sequence[Metric],
    systems: str | None,
    runs: str | None,
) -> str:
    """How the table was read, in one line; `metrics` are those of named columns."""
    clauses = []
    labels = list(dict.fromkeys(part.system for part in parts))
    if len(labels) > 1:
        n = len({segment for part in parts for segment in part.segments})
        clauses.append(f"{len(labels)} systems × {n:,} items from {layout.table.source}: {listed(labels)}")
    if systems and _key(systems) not in SYSTEMS[:_SURE]:
        clauses.append(f"systems from column `{systems}`")
    if metrics and (scores := _scores_of(metrics)):
        clauses.append(scores)
    elif len(parts[0].metrics) > 1:
        clauses.append(f"scores {listed(metric.name for metric in parts[0].metrics)} from the names of columns")
    if items:
        names = " and ".join(f"`{_shown(name)}`" for name in items)
        clauses.append(f"items from column{'s' * (len(items) > 1)} {names}")
    else:
        clauses.append("items are the rows in their order")
    if n_runs := len({part.run for part in parts if part.run}):
        where = f"column `{runs}`" if runs else f"the names of {'systems' if systems else 'columns'}"
        clauses.append(f"{n_runs} runs from {where}")
    if beside := [name for name in layout.beside if name not in items]:
        clauses.append(f"not used: {listed(map(_shown, beside))}")
    lower = [metric.name for metric in parts[0].metrics if not metric.higher_is_better and metric.averaged]
    if lower:
        clauses.append(f"lower is better for {listed(lower)}")
    return "; ".join(clauses)


@cache
def _key(name: str) -> str:
    """The name of a column as the lists above write it; pandas calls an index that it reads `Unnamed: 0`."""
    key = re.sub(r"[\s\-]+", "_", re.sub(_UNIT, "", name).strip().lower())
    if re.fullmatch(r"unnamed:_\d+(_level_\d+)?|__index_level_\d+__|_1|level_0", key):
        return ""
    return "other_id" if re.search(r"[_\s](id|ID|Id)$|[a-z]I[dD]$", name) and key not in _IDS else key


@cache
def is_score(name: str) -> bool:
    """Whether a column is called like a score, such as `BLEU`, `ndcg@10` or `judge_score`."""
    match = re.fullmatch(_SCORE, _key(name))
    return _key(name) in SCORES or (match is not None and match["name"] in SCORES)


def _is_error(name: str) -> bool:
    match = re.fullmatch(_SCORE, _key(name))
    return "↓" in name or (match is not None and match["name"] in ERRORS)


@cache
def role(name: str) -> str:
    """What a column of this name contains: "system", "item", "run", "score", or "" if the name does not say."""
    known = {"system": SYSTEMS, "item": ITEMS, "run": RUNS}
    return next((what for what, names in known.items() if _key(name) in names), "score" if is_score(name) else "")


def is_role(name: str) -> bool:
    """Whether this is a name that columns have."""
    return bool(name) and bool(role(name))


def has_roles(names: Iterable[str]) -> bool:
    """Whether names are those of columns: of scores, and of systems or items."""
    roles = set(map(role, names))
    return "score" in roles and bool(roles & {"system", "item"})


def is_run(label: str) -> bool:
    """Whether this is the label of a run: a number, or `seed 1`."""
    return re.fullmatch(rf"\d+|{_RUN}|[sr]\d+", label.strip(), re.IGNORECASE) is not None


def are_numbered(names: Sequence[str]) -> bool:
    """Whether names differ in a number only, as those of items do (q1, q2, …)."""
    found = [re.fullmatch(r"(.*?)(\d+)", str(name)) for name in names]
    return len({match[1] if match else None for match in found}) == 1 and found[0] is not None


def _shown(name: str) -> str:
    return named(name.strip()) or "(no name)"


def _label(cell: Any) -> str:
    return "" if cell is None or (isinstance(cell, float) and cell != cell) else str(cell).strip()


def _scores_of(metrics: Sequence[Metric]) -> str:
    names = listed(metric.name for metric in metrics)
    if all(metric.averaged for metric in metrics):
        return f"scores from columns {names}" if len(metrics) > 1 else f"scores from column `{metrics[0].columns[0]}`"
    return f"counts for {names}"


def _split(layout: _Layout, role: str, names: Names) -> list[Any]:
    """Names in a sequence, or in a text with commas, each of them once."""
    if names is None:
        return []
    if isinstance(names, str):
        names = [names] if names in layout.columns else [name.strip() for name in names.split(",")]
    found = [name if isinstance(name, Metric) else str(name) for name in names]
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"option {role} contains {quoted(str(name))} twice, expected it once")
    return found


def _tidy(table: Cells, chosen: Chosen) -> _Layout:
    """The table without empty columns of no name and without empty rows."""

    def empty(cell: Any) -> bool:
        return cell is None or (isinstance(cell, str) and not cell.strip())

    columns = {name: cells for name, cells in table.columns.items() if _key(name) != "" or not all(map(empty, cells))}
    columns.pop("n_rows", None)  # pairsig's own mark of a complete file
    rows = [row for row, cells in enumerate(zip(*columns.values(), strict=True)) if not all(map(empty, cells))]
    if not rows:
        raise InputError(f"{table.source}: found no rows, expected one per item")
    if len(rows) < len(table.lines):
        columns = {name: [cells[row] for row in rows] for name, cells in columns.items()}
        table = replace(table, lines=[table.lines[row] for row in rows])
    own = {name: Column(cells, table.comma) for name, cells in columns.items()}
    return _Layout(table, chosen, own, list(table.notes))


def _column_of(layout: _Layout, role: str, known: Sequence[str]) -> str | None:
    """The column that the user named for a role, else the first with a known name that has labels."""
    name = getattr(layout.chosen, role)
    if name is not None:
        (name,) = [name] if isinstance(name, str) else _split(layout, role, name)
        return layout.column(name, role)
    scores = _split(layout, "score", layout.chosen.score)
    named_so = layout.by_name(known, [name for name in layout.columns if name not in scores])
    # The statistics of systems without runs have a column `run` without labels.
    return next((own for own in named_so if any(layout.labels([own]))), None)


def _systems_and_runs(layout: _Layout) -> tuple[str | None, str | None]:
    """The columns of systems and of runs; a column `run` with names has systems if no other column has them."""
    wanted = _split(layout, "system", layout.chosen.system)
    runs = _column_of(layout, "run", RUNS)
    if len(wanted) == 1:
        return layout.column(wanted[0], "system"), runs
    scores = _split(layout, "score", layout.chosen.score)
    found = layout.by_name(SYSTEMS, [name for name in layout.columns if name not in (runs, *scores)])
    found = [name for name in found if all(layout.labels([name]))] or found[:1]
    sure = [name for name in found if _key(name) in SYSTEMS[:_SURE]]
    rows = [name for name in (*found, runs) if name is not None and name not in sure]
    ids = [layout.labels([own]) for own in layout.by_name(ITEMS, layout.columns) if own not in found]
    # These names may also be those of a text about the item.
    repeated = not ids or any(len(set(own)) < len(own) for own in ids)
    systems = next(iter(sure), None) or next((name for name in rows if name != runs and repeated), None)
    if systems is None and repeated and ids and runs and layout.chosen.run is None:
        labels = set(layout.labels([runs]))
        if len(labels) > 1 and not any(map(is_run, labels)) and not layout.chosen.one_system:
            systems, runs = runs, None
    if len(wanted) > 1:
        if systems is None or set(wanted) <= set(layout.columns):
            return None, runs
        labels_of = layout.labels([systems])
        if missing := [name for name in wanted if name not in labels_of]:
            names = list(dict.fromkeys(labels_of))
            raise InputError(
                f"{layout.table.source}: found the systems {listed(names)}, expected {quoted(missing[0])} for "
                f"{layout.chosen.hint('system', wanted)}{near(missing[0], names)}"
            )
        layout.keep([row for row, name in enumerate(labels_of) if name in wanted])
    return systems, runs


def _by_values(layout: _Layout, systems: str | None, runs: str | None) -> tuple[str, str] | None:
    """The columns of systems and items, by their values where names do not decide; None unless only two can be these.

    Systems have few names, and each system has each item once.
    """
    columns, chosen = layout.columns, layout.chosen
    if chosen.item or len(columns) > _FEW or (systems is None and (chosen.system or chosen.one_system)):
        return None
    free = [name for name in columns if name != runs and not _BESIDE.fullmatch(_key(name)) and not _gold(name)]
    known = [name for name in layout.by_name(ITEMS, free) if _key(name) not in INDEX]
    if systems is not None and known:
        return None
    scores = [name for name in free if is_score(name) or name in _split(layout, "score", chosen.score)]
    free = [name for name in free if name not in scores]
    labels = {name: layout.labels([name]) for name in free}
    texts = [name for name in free if not columns[name].is_mostly_numeric]
    ids = known or [
        name for name in free if name in texts or (columns[name].is_numeric and columns[name].scale == "whole numbers")
    ]
    run_of = [""] * len(layout.table.lines) if runs is None else layout.labels([runs])
    found: dict[str, list[str]] = {}
    for system in [systems] if systems is not None else texts:
        if systems is None and (role(system) or _key(system) in _OF_ITEMS or not all(labels[system])):
            continue
        rows = list(_grouped(list(zip(layout.labels([system]), run_of, strict=True))).values())
        n_systems = len(set(layout.labels([system])))
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


def _system_columns(layout: _Layout) -> tuple[str, ...]:
    """The columns that the user named as systems, one each."""
    return tuple(layout.column(name, "system") for name in _split(layout, "system", layout.chosen.system))


def _outputs(layout: _Layout, systems: str | None, runs: str | None) -> list[tuple[str, str]]:
    """The system and the run of each row, "" if the table does not contain them."""
    found = []
    for name, what in ((systems, "system"), (runs, "run")):
        labels = [""] * len(layout.table.lines) if name is None else layout.labels([name])
        if any(labels) and not all(labels):
            where = layout.where(labels.index(""))
            raise InputError(f"{where}: found no name of the {what}, expected one as in other rows")
        found.append(labels)
    if systems is not None and runs is None:
        split = {name: _split_run(layout, name) for name in set(found[0])}
        if all(run for _, run in split.values()) and len({system for system, _ in split.values()}) < len(split):
            found = [[split[name][place] for name in found[0]] for place in (0, 1)]
    outputs = list(zip(*found, strict=True))
    n_runs = Counter(system for system, _ in dict.fromkeys(outputs))
    # A system with one run is compared like one without: nothing is known of the variance between runs.
    return outputs if max(n_runs.values()) > 1 else [(system, "") for system, _ in outputs]


def _grouped(outputs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[int]]:
    rows: dict[tuple[str, str], list[int]] = {}
    for row, output in enumerate(outputs):
        rows.setdefault(output, []).append(row)
    return rows


def _turned(layout: _Layout, systems: str, runs: str | None, free: Sequence[str]) -> Cells | None:
    """The table with rows and columns exchanged, if it has one row per system and one column per item."""
    outputs = _outputs(layout, systems, runs)
    names = [name for name in free if layout.columns[name].is_numeric]
    if len(set(outputs)) < len(outputs) or len(names) < 2 or runs is not None:
        return None
    if layout.by_name([name for name in ITEMS if name not in INDEX], free):
        return None
    ends = [value for own in names for value in (min(layout.columns[own].values), max(layout.columns[own].values))]
    shares = max(ends) <= 1 or min(ends[1::2]) > 1
    tasks = len(names) >= _TASKS and len(names) == len(free) and min(ends) >= 0 and max(ends) <= 100 and shares
    tasks = tasks and not any(_BESIDE.fullmatch(_key(own)) for own in names)
    if not are_numbered(names) and (not tasks or any(map(is_score, names))):
        raise InputError(
            f"{layout.table.source}: found one row per system, with {listed(names)}, expected a score for each item: a "
            "test needs more than the scores of whole test sets"
        )
    columns: dict[str, list[Any]] = {"item": list(names)}
    for row, (system, _) in enumerate(outputs):
        columns[system] = [layout.columns[name].cells[row] for name in names]
    notes = (*layout.notes, f"{layout.table.source}: the columns are items, and the rows are systems")
    return replace(layout.table, columns=columns, lines=range(1, len(names) + 1), place="item", notes=notes)


def _metrics(layout: _Layout, free: Sequence[str]) -> tuple[list[Metric], list[str]]:
    """The metrics of known counts and scores or those that were named; and the other columns of numbers."""
    from pairsig.metrics.registry import METRICS

    numeric = [name for name in free if layout.columns[name].is_numeric]
    lower = layout.chosen.lower_is_better
    errors = (
        []
        if isinstance(lower, bool)
        else [layout.column(name, "lower_is_better") for name in _split(layout, "lower_is_better", lower)]
    )

    def averaged(name: str) -> Metric:
        if name == "value":
            return METRICS["mean"] if not (lower is True or name in errors) else average(name, higher_is_better=False)
        return average(name, higher_is_better=not (lower is True or name in errors or _is_error(name)))

    if wanted := _split(layout, "score", layout.chosen.score):
        metrics = []
        for name in wanted:
            known = name if isinstance(name, Metric) else METRICS.get(name)
            if known is not None and set(known.columns) <= set(free):
                metrics.append(known)
            elif isinstance(name, str) and (known is None or name in free):
                if name not in layout.columns and known is None and not any(name == own.strip() for own in free):
                    raise InputError(
                        f"{layout.table.source}: found the columns {listed(layout.columns)}, expected the name of one "
                        f"of them, or of a metric, instead of {quoted(name)}{near(name, layout.columns)}"
                    )
                metrics.append(averaged(layout.column(name, "score")))
            else:
                assert known is not None
                raise InputError(
                    f"{layout.table.source}: found the columns {listed(layout.columns)}, expected "
                    f"{', '.join(known.columns)} for {known.name}"
                )
        return metrics, []
    # UAS, LAS and accuracy are the same function of the same columns; only the first is used.
    counts: dict[Any, Metric] = {}
    for metric in METRICS.values():
        if metric.columns != ("value",) and set(metric.columns) <= set(free):
            counts.setdefault((metric.function, metric.columns), metric)
    if counts:
        used = {column for metric in counts.values() for column in metric.columns}
        layout.beside += [name for name in numeric if name not in used]
        return list(counts.values()), []
    scores = set(filter(is_score, free))
    columns = {name: layout.columns[name] for name in free}
    if damaged := [
        name for name, own in columns.items() if name in scores and own.is_mostly_numeric and own.kinds[str]
    ]:
        layout.array(damaged[0])
    found = [name for name in numeric if name in scores]
    if found:
        layout.beside += [name for name in numeric if name not in scores]
    return [averaged(name) for name in found], [
        name for name in free if layout.columns[name].is_mostly_numeric and not _BESIDE.fullmatch(_key(name))
    ]


def _only_score(layout: _Layout, candidates: Sequence[str]) -> list[Metric]:
    """The metric of the only column of numbers without a known name, or those of several from 0 to 1."""
    scales = {layout.columns[name].scale for name in candidates}
    if answers := [name for name in candidates if _key(name) in (*PREDICTIONS, *GOLD)]:
        gold = next((name.strip() for name in answers if _gold(name)), "COLUMN")
        more = "" if layout.chosen.python else f", and for predictions --option gold={gold} with the right answers"
        scores = [name for name in answers if not _gold(name)] or answers
        raise InputError(
            f"{layout.table.source}: found column {_shown(scores[0])}, which may be predictions instead of scores; for "
            f"scores, use {layout.chosen.hint('score', scores[:1])}{more}"
        )
    metrics = layout.chosen.one_system and scales <= {"0 and 1", "shares"} and not all(map(is_run, candidates))
    if len(candidates) == 1 or metrics:
        named_by_user = replace(layout, chosen=replace(layout.chosen, score=list(candidates)))
        if candidates:
            return _metrics(named_by_user, list(layout.columns))[0]
    if not candidates:
        raise InputError(
            f"{layout.table.source}: found the columns {listed(map(_shown, layout.columns))}, expected a column of "
            f"scores, which are numbers, true or false, or pass or fail; name it with "
            f"{layout.chosen.hint('score', ['COLUMN'])}"
        )
    raise InputError(
        f"{layout.table.source}: found several columns of numbers ({listed(candidates)}), expected one of scores; name "
        f"it with {layout.chosen.hint('score', candidates[:1])}"
    )


def _without_ids(layout: _Layout, candidates: list[str]) -> list[str]:
    """The columns without the first one if only its cells are different whole numbers, as ids are."""
    distinct = [len(layout.columns[name].values) == len(layout.table.lines) > 2 for name in candidates]
    first = candidates[:1] == list(layout.columns)[:1] and layout.columns[candidates[0]].scale == "whole numbers"
    return candidates[1:] if len(candidates) > 2 and first and distinct[0] and not any(distinct[1:]) else candidates


def _check_suffixes(layout: _Layout, candidates: list[str], free: Sequence[str]) -> list[str]:
    """The columns that may have systems; those with names such as `t5-size` if there are no others.

    One other column alone is no comparison, so that those with such names and similar numbers are systems, too.

    Raises
    ------
    InputError
        If such a column is on the scale of the others, so that it may be a system or describe items.
    """
    unclear = []
    for name in free:
        match = _UNCLEAR.fullmatch(_key(name))
        of = role(match[1]) if match else ""
        if match and layout.columns[name].is_numeric and (not of or (of == "score" and match[2] in ("size", "level"))):
            unclear += [name] * (not any(_key(other) in match[1] for other in candidates))
    if not candidates:
        return unclear
    scales = {"0 and 1" if own == "shares" else own for own in (layout.columns[name].scale for name in candidates)}
    alike = [name for name in unclear if layout.columns[name].scale.replace("shares", "0 and 1") in scales]
    if len(candidates) == 1 and alike and all(_are_similar(layout, candidates[0], name) for name in alike):
        return [name for name in free if name in (*candidates, *alike)]
    if alike:
        systems = candidates if len(candidates) > 1 else [*candidates, *alike]
        raise InputError(
            f"{layout.table.source}: found column {_shown(alike[0])}, which may be a system or describe the items; "
            f"name the columns of systems with {layout.chosen.hint('system', systems)}"
        )
    return candidates


def _are_similar(layout: _Layout, one: str, other: str) -> bool:
    """Whether the mean of each column is between the lowest and the highest number of the other."""
    values = [sorted(layout.columns[name].values) for name in (one, other)]
    return all(b[0] <= sum(a) / len(a) <= b[-1] for a, b in (values, values[::-1]))


def _wide(layout: _Layout, candidates: Sequence[str]) -> Wide:
    """The columns of systems in a table with one row per item."""
    columns = layout.columns
    by_metric: dict[str, list[str]] = {}
    if layout.chosen.one_system and len({system for system, _ in _by_system(layout, candidates)}) > 1:
        return {}
    for own in _by_system(layout, candidates).values():
        for metric, name in own.items():
            by_metric.setdefault(metric, []).append(name)
    found = [name for own in by_metric.values() for name in _on_one_scale(layout, own)]
    if len(found) < 2:
        return {}
    layout.beside += [
        name for name in columns if name not in found and columns[name].is_numeric and _key(name) not in ITEMS
    ]
    return _by_system(layout, found)


def _on_one_scale(layout: _Layout, candidates: Sequence[str]) -> Sequence[str]:
    """The columns, which must have scores on the same scale."""
    columns = layout.columns
    scales: dict[str, list[str]] = {}
    for name in candidates:
        scale = columns[name].scale
        scales.setdefault("0 and 1" if scale == "shares" and not _gold(name) else scale, []).append(name)
    whole = [value for name in scales.get("whole numbers", []) for value in columns[name].values]
    for scale in [scale for scale in scales if scale.startswith("only ")]:
        (value,) = columns[scales[scale][0]].values
        if whole and min(whole) <= value <= max(whole):
            scales["whole numbers"] += scales.pop(scale)
    low = scales.get("0 and 1", [])
    if (
        "numbers" in scales
        and low
        and max(map(abs, set().union(*(columns[n].values for n in scales["numbers"])))) <= 10
    ):
        scales["numbers"] += scales.pop("0 and 1")  # COMET may be above 1
    best = max(scales.values(), key=len)
    systems = [name for name in best if not _gold(name)]
    others = [name for own in scales.values() if own is not best for name in own if not _gold(name)]
    if others:
        shown = ", ".join(f"{_shown(own[0])} has {columns[own[0]].scale}" for own in scales.values())
        raise InputError(
            f"{layout.table.source}: found several columns of numbers ({listed(map(_shown, candidates))}) on different "
            f"scales ({shown}), expected one per system; name them with {layout.chosen.hint('system', systems)}"
        )
    if gold := [name for name in best if _gold(name)]:
        right = "" if layout.chosen.python else f", and for predictions --option gold={gold[0].strip()}"
        raise InputError(
            f"{layout.table.source}: found column {_shown(gold[0])} beside {listed(systems)}, which may be predictions "
            f"instead of scores; for scores, use {layout.chosen.hint('system', systems)}{right}"
        )
    return systems


def _by_system(layout: _Layout, names: Sequence[str]) -> Wide:
    """Columns of scores by system, run and metric, which stand in their names or in several rows of names."""
    parts: dict[str, tuple[str, str, str]] = {name: (name.strip(), "", "score") for name in names}
    levels = [layout.table.levels.get(name, ()) for name in names]
    if layout.chosen.system is None and len(set(map(len, levels))) == 1 and levels[0]:
        varying = [own for own in zip(*levels, strict=True) if len(set(own)) > 1]
        scores = [own for own in varying if all(map(is_score, own))]
        runs = [own for own in varying if all(map(is_run, own)) and own not in scores and len(varying) > 1]
        systems = [own for own in varying if own not in scores and own not in runs]
        if len(systems) > 1 or len(scores) > 1 or len(runs) > 1:
            raise InputError(
                f"{layout.table.source}: found the columns {listed(names)}, whose names may be of systems, metrics or "
                f"runs, expected one column per system; name them with {layout.chosen.hint('system', names[:2])}"
            )
        blank = [""] * len(names)
        both = zip(
            systems[0] if systems else blank,
            runs[0] if runs else blank,
            scores[0] if scores else ["score"] * len(names),
            strict=True,
        )
        parts = dict(zip(names, both, strict=True))
    elif layout.chosen.system is None:
        runs_of = {name: _split_run(layout, name) for name in names}
        if not layout.chosen.one_system and not any(system for system, _ in runs_of.values()):
            runs_of = {name: (name, "") for name in names}  # `run1` and `run2` of one file are its systems
        if max(Counter(system for system, _ in runs_of.values()).values()) > 1 and any(
            run for _, run in runs_of.values()
        ):
            # A column without a run is the only run of its system, or the first one.
            parts = {name: (system, run or "1", "score") for name, (system, run) in runs_of.items()}
        whole = {name: _split_score(own[0]) for name, own in parts.items()}
        for place in (0, 1):
            found = {name: own[place] for name, own in whole.items()}
            if all(system for system, _ in found.values()):
                parts = {name: (found[name][0], parts[name][1], found[name][1]) for name in names}
                break
    wide: Wide = {}
    for name, (system, run, metric) in parts.items():
        if wide.setdefault((system, run), {}).setdefault(metric, name) != name:
            raise InputError(
                f"{layout.table.source}: found {wide[system, run][metric]} and {name}, expected one column per system; "
                f"name them with {layout.chosen.hint('system', names)}"
            )
    return wide


def _split_run(layout: _Layout, name: str) -> tuple[str, str]:
    """The system and the run in the name of a column; the run is "" if there is none."""
    for pattern in _IN_NAMES:
        if match := re.fullmatch(pattern, name.strip(), re.IGNORECASE):
            return match["system"].rstrip(" _.-/:(["), match["run"].lower()
    base, _, number = name.strip().rpartition(".")  # pandas calls the second of two columns `gpt` `gpt.1`
    if number.isdecimal() and base in layout.columns:
        return base, str(int(number) + 1)
    return name.strip(), ""


def _split_score(name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The system and the score in a name such as `gpt_bleu`, and those in `bleu_gpt`; empty if there is none."""
    places = [(match.start(), match.end()) for match in re.finditer(r"[\s_.\-/:|]+", name)]
    after = next(((name[:start], name[end:]) for start, end in places if start and is_score(name[end:])), ("", ""))
    before = next(
        ((name[end:], name[:start]) for start, end in reversed(places) if is_score(name[:start]) and name[end:]),
        ("", ""),
    )
    return after, before


def _of_systems(layout: _Layout, name: str) -> Metric:
    """A metric of a wide table."""
    asked = _split(layout, "score", layout.chosen.score)
    (name,) = asked if len(asked) == 1 else (name,)
    if not isinstance(name, Metric):
        return average(name, higher_is_better=not (layout.chosen.lower_is_better or _is_error(name)))
    if len(name.columns) > 1:
        raise InputError(
            f"metric {name.name} is computed from {len(name.columns)} columns ({', '.join(name.columns)}), which one "
            "column per system cannot hold: expected one row per system and segment"
        )
    return name


def _is_of_people(name: str) -> bool:
    """Whether a column is called like `Annotator`, `rater_id` or `WorkerId`."""
    return re.sub(r"[\s_\-]*(id|name|\d+)$", "", name.strip().lower()) in _PEOPLE


def _gold(name: str) -> bool:
    return _key(name) in GOLD or re.fullmatch(_GOLD, _key(name)) is not None


def _items(
    layout: _Layout,
    free: Sequence[str],
    outputs: Sequence[tuple[str, str]],
    used: Sequence[str] | set[str],
    several: bool,
) -> list[str]:
    """The column of items; none if they are the rows in their order."""
    groups = list(_grouped(outputs).values())

    def fits_all(labels: Sequence[str]) -> bool:
        """Whether every system has each of its items once, and the systems share most of them."""
        own = [{labels[row] for row in rows} for rows in groups]
        n_items = len(set().union(*own))
        return all(len(ids) == len(rows) and 2 * len(ids) > n_items for ids, rows in zip(own, groups, strict=True))

    known = layout.by_name(ITEMS, free)
    texts = [
        name
        for name in free
        if name not in known and (not layout.columns[name].is_mostly_numeric or layout.columns[name].counts_rows)
    ]
    if not known and (several or len(texts) == 1 or len(used) > 1 or layout.table.unnamed):
        known = texts
    labels = {name: layout.labels([name]) for name in known}
    valid = [name for name in known if fits_all(labels[name])]
    named_well = [name for name in valid if _key(name) not in INDEX and not layout.columns[name].counts_rows]
    valid = named_well if named_well and len(groups) == 1 else [n for n in valid if _key(n) not in INDEX] or valid
    if len(groups) > 1:
        for other in valid[1:]:
            one = labels[valid[0]]
            if not len(set(zip(one, labels[other], strict=True))) == len(set(one)) == len(set(labels[other])):
                raise InputError(
                    f"{layout.table.source}: found the columns {_shown(valid[0])}, {_shown(other)}, which pair the "
                    f"systems differently, expected one that identifies an item; name it with "
                    f"{layout.chosen.hint('item', valid[:1])}"
                )
    if valid or known:
        return (valid or known)[:1]
    if several:
        raise InputError(
            f"{layout.table.source}: found the columns {listed(map(_shown, layout.columns))}, expected one with the "
            f"ids of items, by which systems are paired; name it with {layout.chosen.hint('item', ['COLUMN'])}"
        )
    return []


def _numbered(outputs: Sequence[tuple[str, str]]) -> list[str]:
    """Numbers of the rows within each run."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for output in outputs:
        seen[output] += 1
        found.append(str(seen[output]))
    return found


def _check_ids(layout: _Layout, items: Sequence[str], ids: Sequence[str], outputs: Sequence[tuple[str, str]]) -> None:
    first: dict[tuple[str, tuple[str, str]], int] = {}
    for row, (item, output) in enumerate(zip(ids, outputs, strict=True)):
        if not item:
            raise InputError(f"{layout.where(row)}: found no {_shown(items[0])}, expected the id of the item")
        before = first.setdefault((item, output), row)
        if before != row:
            of = "".join(
                f" of {what} {named(name)}" for what, name in zip(("system", "run"), output, strict=True) if name
            )
            texts = [name for name in layout.columns if name not in items and len(set(layout.labels([name]))) > 1]
            enough = [
                name for name in texts if len(set(zip(layout.labels([name, *items]), outputs, strict=True))) == len(ids)
            ]
            people = [name for name in enough if _is_of_people(name)]
            if people and any(run for _, run in outputs):
                more = f"average the scores in column {_shown(people[0])} first"
            elif people:
                more = (
                    f"average over column {_shown(people[0])} first, or use {layout.chosen.hint('run', people[:1])}, "
                    "which treats the scores of each of these people as a run of the system"
                )
            else:
                names = [name for name in enough or texts if not _is_of_people(name)]
                more = layout.chosen.hint("item", [*names[:1], *items])
                more = f"if several columns identify an item, name them as in {more}"
            raise InputError(
                f"{layout.where(row)}: found item {named(item)}{of} again (first in {layout.table.place} "
                f"{layout.table.lines[before]}), expected it once; {more}"
            )


def _without_summaries(
    layout: _Layout, ids: Sequence[str], outputs: Sequence[tuple[str, str]], used: Sequence[str]
) -> list[int]:
    """Leave out rows such as the mean of all others; returns the others, none if all are kept.

    Raises
    ------
    InputError
        If a last row is called like a summary, but has other scores.
    """
    summaries = {row for row, label in enumerate(ids) if label.lower().rstrip(":.") in _SUMMARIES}
    checked = set()
    for rows in _grouped(outputs).values():
        found = [row for row in rows if row in summaries]
        last = rows[len(rows) - len(found) :]
        others = rows[: len(rows) - len(found)]
        if not found or len(others) < 2 or found != last:
            continue
        for name in used:
            numbers = layout.columns[name].numbers
            own = np.array([number for row in others if isinstance(number := numbers[row], int | float)], dtype=float)
            known = [own.mean(), own.sum(), np.median(own), own.min(), own.max(), len(own)] if len(own) else []
            known += [own.std(ddof=ddof) for ddof in (0, 1) if len(own) > ddof]
            for row in found:
                value = numbers[row]
                if (
                    isinstance(value, int | float)
                    and min(abs(value - one) - 0.006 * max(1, abs(one)) for one in known) > 0
                ):
                    raise InputError(
                        f"{layout.where(row)}: found {quoted(ids[row])}, which may be a summary of the other rows, but "
                        f"has {value} in column {_shown(name)}, expected items only; leave the row out or rename it"
                    )
        checked.update(found)
    if not checked:
        return []
    names = listed(dict.fromkeys(ids[row] for row in sorted(checked)))
    layout.notes.append(f"{layout.table.source}: {names} left out, since it summarizes the other rows")
    kept = [row for row in range(len(ids)) if row not in checked]
    layout.keep(kept)
    return kept


def _judge(layout: _Layout) -> None:
    """Turn judgements of which of two systems is better into scores of both: 1 for a win, 0.5 for a tie."""
    winners = [name for name in layout.columns if re.fullmatch(_WINNER, _key(name))]
    sides = _sides(layout)
    if not winners or layout.chosen.score or (sides is None and layout.columns[winners[0]].is_numeric):
        return
    verdicts = [verdict.removesuffix(".0") for verdict in layout.labels(winners[:1])]
    ties = [verdict == "0" or verdict.lower().startswith(_TIES) for verdict in verdicts]
    if sides is None:
        names = list(dict.fromkeys(own for own, tie in zip(verdicts, ties, strict=True) if own and not tie))
        if len(names) != 2:
            return
        sides = [names[0]] * len(verdicts), [names[1]] * len(verdicts)
    systems = list(dict.fromkeys(name for side in sides for name in side))
    wanted = _split(layout, "system", layout.chosen.system) or systems
    if len(wanted) != 2:
        raise InputError(
            f"{layout.table.source}: found judgements between {len(systems)} systems ({listed(systems)}), expected "
            f"two; name them with {layout.chosen.hint('system', systems[:2])}"
        )
    scores: dict[str, list[float | None]] = {name: [] for name in wanted}
    kept = [row for row, pair in enumerate(zip(*sides, strict=True)) if set(pair) == set(wanted)]
    for row in kept:
        pair = {"a": sides[0][row], "b": sides[1][row]}
        verdict = re.sub(r"^(model|system|assistant|output|response)[\s_-]*", "", verdicts[row].lower())
        place = {"1": "a", "left": "a", "2": "b", "right": "b"}.get(verdict, verdict)
        winner = pair.get(place, verdicts[row])
        if winner not in wanted and verdicts[row] and not ties[row]:
            raise InputError(
                f"{layout.where(row)}: found {quoted(verdicts[row])} in column {_shown(winners[0])}, expected "
                f"{wanted[0]}, {wanted[1]} or tie"
            )
        for name in wanted:
            scores[name].append(None if not verdicts[row] else 0.5 if ties[row] else float(name == winner))
    layout.keep(kept)
    layout.columns |= {name: Column(own) for name, own in scores.items()}
    layout.chosen = replace(layout.chosen, system=wanted)
    layout.notes.append(f"{layout.table.source}: a system has 1 if `{winners[0]}` names it, 0.5 for a tie, else 0")


def _spread(layout: _Layout) -> None:
    """Give each metric a column if the table has a row for each metric of an item, with its name in a column."""
    scores = [name for name in layout.columns if is_score(name) and layout.columns[name].is_mostly_numeric]
    names = [
        name
        for name in layout.by_name(_METRIC, layout.columns)
        if len(own := set(layout.labels([name]))) > 1
        or (own != {""} and [*map(_key, scores)] in (["score"], ["value"]))
    ]
    if not names or len(scores) != 1 or layout.chosen.item:
        return
    keys = [
        name for name in layout.columns if role(name) in ("system", "run", "item") and name not in (*names, *scores)
    ]
    metrics = layout.labels(names[:1])
    rows: dict[tuple[str, ...], int] = {}
    places = [
        rows.setdefault(key, row) for row, key in enumerate(zip(*(layout.labels([own]) for own in keys), strict=True))
    ]
    if not keys or len(set(zip(places, metrics, strict=True))) < len(metrics):
        return
    if len(rows) == len(metrics) and len(set(metrics)) > 1:
        return
    cells: dict[str, dict[int, Any]] = {metric: {} for metric in metrics}
    for row, (place, metric) in enumerate(zip(places, metrics, strict=True)):
        cells[metric][place] = layout.columns[scores[0]].cells[row]
    del layout.columns[names[0]], layout.columns[scores[0]]
    layout.keep(list(rows.values()))
    layout.columns |= {metric: Column([own.get(row) for row in rows.values()]) for metric, own in cells.items()}
    counts = [metric for metric in cells if _BESIDE.fullmatch(_key(metric))]
    layout.beside += counts if len(counts) < len(cells) else []
    layout.chosen = replace(layout.chosen, score=[metric for metric in cells if metric not in layout.beside])
    layout.notes.append(f"{layout.table.source}: metrics from column `{_shown(names[0])}`")


def _sides(layout: _Layout) -> tuple[list[str], list[str]] | None:
    """The first and the second system of each judgement."""
    for one in layout.columns:
        match = re.fullmatch(r"(.*?)(_?)(a|1|left)", _key(one))
        if match and (match[1] in SYSTEMS or match[1] in ("generator", "candidate", "assistant")):
            other = match[1] + match[2] + {"a": "b", "1": "2", "left": "right"}[match[3]]
            for second in layout.columns:
                if _key(second) == other:
                    return layout.labels([one]), layout.labels([second])
    return None


def _compare_with_gold(layout: _Layout, free: Sequence[str]) -> None:
    """Turn answers from a small set into scores: whether they are the right answer of the row."""
    chosen = layout.chosen.gold
    golds = [layout.column(chosen, "gold")] if chosen else [name for name in free if _gold(name)]
    for gold in golds:
        right = layout.labels([gold])
        texts = [name for name in free if name != gold and (chosen or not layout.columns[name].is_mostly_numeric)]
        answers = {name: own for name in texts if set(own := layout.labels([name])) - {""} <= set(right)}
        few = 2 * len(set(right)) <= len(right) and not layout.columns[gold].is_mostly_numeric
        if not answers or not (chosen or few):
            continue
        wanted = [*_split(layout, "system", layout.chosen.system), *_split(layout, "score", layout.chosen.score)]
        known = {name: own for name in answers if (own := _correctness_of(layout, name))}
        if chosen:
            twice = [name for name in dict.fromkeys(itertools.chain(*known.values())) if name not in wanted]
        else:  # not for some systems only: their columns may count by another rule
            twice = list(known) if len(known) == len(answers) and not set(known) & set(wanted) else []
        for name in twice:
            answers.pop(name, None)
            del layout.columns[name]
            layout.beside.append(name)
        for name, own in answers.items():
            same = [None if "" in pair else pair[0] == pair[1] for pair in zip(own, right, strict=True)]
            del layout.columns[name]
            layout.columns["correct" if len(answers) == 1 else name] = Column(same)
        del layout.columns[gold]
        if answers:
            layout.notes.append(f"{layout.table.source}: {listed(answers)} is right where it equals `{_shown(gold)}`")
        return


def _correctness_of(layout: _Layout, answer: str) -> list[str]:
    """The columns that say where a column of answers is right, such as `gpt_correct` beside `gpt_pred`."""
    kinds = "|".join(PREDICTIONS)
    system = re.sub(rf"^({kinds})(_|$)|_({kinds})$", "", _key(answer))
    names = {"_".join(filter(None, own)) for word in _CORRECT for own in ((system, word), (word, system))}
    return [
        name
        for name, own in layout.columns.items()
        if _key(name) in names and own.is_numeric and own.scale == "0 and 1"
    ]
