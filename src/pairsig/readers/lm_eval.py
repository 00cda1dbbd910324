"""Logged samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl` beside `results_TIME.json`."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, listed, named
from pairsig.files import AnyPath, read_json
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Log, Score, digest, field_of, json_lines, label, of_metadata, picked

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_OF_A_ROW = frozenset(
    (
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
        "prompt_hash", "target_hash",
    )
)  # fmt: skip
_SAME = 1e-9  # a mean that lm_eval has computed in another order


def read(
    path: AnyPath,
    *,
    task: str | None = None,
    filter: str | None = None,  # noqa: A002
    cluster: str | None = None,
    domain: str | None = None,
    model: str | None = None,
    verify: bool = True,
) -> tuple[Counted, ...]:
    """Scores of the documents of one task or of several, as `--log_samples` has them.

    A metric is here what is the mean of its samples; others (a corpus's BLEU, perplexity) are left out with a note. Its
    score is compared with the one in the results.

    Parameters
    ----------
    path
        The folder that was given as `--output_path`, or one in it, of one model or several; or
        `samples_TASK_TIME.jsonl`.
    task
        Only these tasks, with commas; or a group, whose subtasks are then the domains. Several are one test set.
    filter
        Only these filters, with commas. Where there is more than one, a metric is called METRIC/FILTER.
    cluster, domain
        Keys of the documents, such as `passage` or `meta.source`, that say which belong together, for `--unit
        document`, and of which domain they are.
    model
        What the model is called; by default as in the results.
    verify
        Documents of one id must have the same `doc_hash` in all logs.

    Returns
    -------
    Counts, one for each model; each metric is the mean of its samples, lower being better where the results say so.

    Raises
    ------
    InputError
        For lines that are no JSON, for a document that comes twice with one filter, for samples without results or less
        of them than the results tell; for a task, filter or cluster that is not there, and for more than one task.
    """
    source = fspath(path)
    folder = Path(source).is_dir()
    paths = items.files_below(path, "samples_*.jsonl") if folder else [_samples_of(source, task)]
    if not paths:
        raise InputError(
            f"{source}: found no samples_TASK_TIME.jsonl in the folder, expected those that --log_samples writes"
        )
    models: dict[str, list[_Task]] = {}
    for one in paths:
        read_task = _Task(str(one), model)
        models.setdefault(read_task.model, []).append(read_task)
    if model is not None and len({str(one.parent) for one in paths}) > 1:
        raise InputError(f"{source}: found samples in several folders, expected one model to call {named(model)}")
    return tuple(
        part
        for name, tasks in models.items()
        for part in _read(source, name, tasks, task, filter=filter, cluster=cluster, domain=domain, verify=verify)
    )


def _samples_of(source: str, task: str | None) -> Path:
    """The samples a file stands for: its own, or those beside the results it is."""
    path = Path(source)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return path
    beside = [(match, one) for one in path.parent.iterdir() if (match := _SAMPLES.fullmatch(one.name))]
    names = {match["task"]: one for match, one in beside if match["time"] in path.name}
    if task in names:
        return names[task]
    if len(names) == 1:
        return next(iter(names.values()))
    raise InputError(
        f"{source}: found {len(names)} files of samples beside these results{f' ({listed(names)})' if names else ''}, "
        f"expected one: give the folder, or --option task=NAME"
    )


class _Task:
    """The samples of one task, and what the results say of it."""

    def __init__(self, source: str, model: str | None) -> None:
        self.source = source
        path = Path(source)
        match = _SAMPLES.fullmatch(path.name)
        self.results: Mapping[str, Any] = {}
        results = [] if match is None else sorted(path.parent.glob(f"*{match['time']}.json"))
        if results:
            self.results = field_of(read_json(results[0]), [], str(results[0]), dict)
        self.name = match["task"] if match else path.name.removesuffix(".jsonl")
        config = self.results.get("config") or {}
        pretrained = re.search(r"(?:pretrained|model)=([^,]+)", str(config.get("model_args")))
        self.model: str = (
            model
            or self.results.get("model_name")
            or (pretrained[1] if pretrained else "")
            or str(config.get("model") or "")
        )
        if not self.model:
            raise InputError(
                f"{source}: found no results_TIME.json beside it, which names the model, expected one, or --option "
                f"model=NAME"
            )

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells two evaluations of one model apart."""
        config = self.results.get("config") or {}
        given = {name: config.get(name) for name in ("model_args", "gen_kwargs", "limit")} | {
            "n-shot": (self.results.get("n-shot") or {}).get(self.name),
            "chat_template": self.results.get("chat_template_sha"),
            "system_instruction": self.results.get("system_instruction_sha"),
        }
        return {name: label(value) for name, value in given.items()}

    def aggregate(self, metric: str, filter_: str) -> float | None:
        """What the results report for a metric."""
        value = ((self.results.get("results") or {}).get(self.name) or {}).get(f"{metric},{filter_}")
        return value if isinstance(value, int | float) else None

    def lower_is_better(self, metric: str) -> bool:
        """Whether the results say so."""
        return ((self.results.get("higher_is_better") or {}).get(self.name) or {}).get(metric) is False

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Its samples, with their lines."""
        n_documents = set()
        for line, row in json_lines(self.source):
            n_documents.add(label(field_of(row, ["doc_id"], f"{self.source}, line {line}", (int, str))))
            yield line, row
        told = ((self.results.get("n-samples") or {}).get(self.name) or {}).get("effective")
        if isinstance(told, int) and told != len(n_documents):
            raise InputError(
                f"{self.source}: found {len(n_documents):,} documents, expected {told:,} as the results say: the file "
                f"is not whole"
            )


def _chosen(source: str, model: str, tasks: Sequence[_Task], asked: str | None) -> list[_Task]:
    """The tasks asked for, groups as their subtasks."""
    by_name: dict[str, _Task] = {}
    for one in tasks:
        if one.name in by_name:
            raise InputError(
                f"{source}: found samples of {named(model)} on {named(one.name)} twice, "
                f"{Path(by_name[one.name].source).name} and {Path(one.source).name}, expected them once: name the file"
            )
        by_name[one.name] = one
    groups: dict[str, list[str]] = {}
    for one in tasks:
        groups |= one.results.get("group_subtasks") or {}

    def leaves(name: str, depth: int = 0) -> list[str]:
        if name in by_name or not groups.get(name) or depth > 20:
            return [name]
        return list(dict.fromkeys(leaf for part in groups[name] for leaf in leaves(part, depth + 1)))

    whole = {name: own for name in groups if len(own := leaves(name)) > 1 and set(own) <= set(by_name)}
    if asked is None:
        all_of_it = [name for name, own in whole.items() if set(own) == set(by_name)]
        if len(by_name) > 1 and not all_of_it:
            raise InputError(
                f"{source}: found the tasks {listed([*whole, *by_name])}, expected one: --option task=NAME, or several "
                f"with commas"
            )
        return list(by_name.values())
    names = picked([*by_name, *whole], asked, source, "task")
    return [by_name[leaf] for leaf in dict.fromkeys(leaf for name in names for leaf in whole.get(name, [name]))]


def _read(
    source: str,
    model: str,
    tasks: Sequence[_Task],
    asked: str | None,
    *,
    filter: str | None,  # noqa: A002
    cluster: str | None,
    domain: str | None,
    verify: bool,
) -> tuple[Counted, ...]:
    chosen = _chosen(source, model, tasks, asked)
    several = len(chosen) > 1
    documents: dict[str, Item] = {}
    notes: list[str] = []
    of_tasks: list[set[str]] = []
    lower: set[str] = set()
    for one in chosen:
        where = one.source
        rows = list(one.rows())
        filters = picked((str(row.get("filter", "none")) for _, row in rows), filter, where, "filter")
        values: dict[tuple[str, str], dict[str, Score]] = {}
        others: dict[str, None] = {}
        edited = 0
        for line, row in rows:
            place = f"{where}, line {line}"
            name, used = label(row["doc_id"]), str(row.get("filter", "none"))
            document = field_of(row, ["doc"], place)
            if verify and isinstance(hashed := row.get("doc_hash"), str):
                edited += (
                    hashed != hashlib.sha256(json.dumps(document, indent=2, ensure_ascii=False).encode()).hexdigest()
                )
                content = hashed
            else:
                content = digest(document) if verify else ""
            own = f"{one.name}/{name}" if several else name
            item = Item(
                own,
                {},
                document="" if cluster is None else of_metadata(document, cluster, place, "the document"),
                domain=of_metadata(document, domain, place, "the document")
                if domain is not None
                else one.name * several,
                content=content,
                line=0 if several else line,
            )
            known = documents.setdefault(own, item)
            if known.content != content:
                raise InputError(f"{place}: document {named(name)} is another one than in line {known.line}")
            if used not in filters:
                continue
            for metric in row.get("metrics") or [key for key in row if key not in _OF_A_ROW]:
                try:
                    value = items.score(row.get(metric))
                except ValueError:
                    others[metric] = None
                    continue
                own_values = values.setdefault((metric, used), {})
                if own in own_values:
                    raise InputError(
                        f"{place}: found document {named(name)} with the filter {named(used)} again, expected it once"
                    )
                own_values[own] = value
        if edited:
            notes.append(f"{where}: the doc_hash of {edited:,} of {len(rows):,} lines is not that of their doc")
        if others:
            notes.append(f"{where}: {listed(others)} left out: no number for each document, and no mean of such")
        for (metric, used), scores in list(values.items()):
            told, mean = one.aggregate(metric, used), _mean(scores)
            if metric in others or (
                told is not None and mean is not None and abs(told - mean) > _SAME * max(1, abs(told))
            ):
                if metric not in others:
                    notes.append(
                        f"{where}: {named(metric)} left out: the results report {told:.6g}, which is not the mean of "
                        f"its samples, {mean:.6g}"
                    )
                del values[metric, used]
            elif one.lower_is_better(metric):
                lower |= {metric, f"{metric}/{used}"}
        repeats = ((one.results.get("configs") or {}).get(one.name) or {}).get("repeats", 1)
        if isinstance(repeats, int) and repeats > 1:
            notes.append(
                f"{where}: each document was answered {repeats} times, and the log has one score of them all, after "
                f"the filter"
            )
        called = {(metric, used): metric if len(filters) == 1 else f"{metric}/{used}" for metric, used in values}
        of_tasks.append(set(called.values()))
        for key, scores in values.items():
            for own, value in scores.items():
                documents[own].scores[called[key]] = value
    shared = set.intersection(*of_tasks)
    if not shared:
        found = "; ".join(
            f"{one.name} has {listed(sorted(own)) or 'none'}" for one, own in zip(chosen, of_tasks, strict=True)
        )
        raise InputError(
            f"{source}: found no metric that is the mean of a number for each document{' in all tasks' * several}, "
            f"expected one ({found})"
        )
    if alone := set.union(*of_tasks) - shared:
        notes.append(f"{source}: {listed(sorted(alone))} left out: not in every task")
    for item in documents.values():
        for metric in [name for name in item.scores if name not in shared]:
            del item.scores[metric]
    return Log(
        source if several else chosen[0].source,
        model,
        list(documents.values()),
        lower_is_better=frozenset(lower),
        notes=notes,
        settings=chosen[0].settings,
    ).counted()


def _mean(scores: Mapping[str, Score]) -> float | None:
    values = [value for value in scores.values() if value is not None]
    return math.fsum(values) / len(values) if values else None
