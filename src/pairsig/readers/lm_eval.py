"""Logged samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl` beside `results_TIME.json`."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, listed, named
from pairsig.files import AnyPath, read_json
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Kind, Log, digest, field_of, json_lines, label, of_metadata, part_of, picked

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_OF_A_ROW = frozenset(
    (
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
        "prompt_hash", "target_hash",
    )
)  # fmt: skip
_SAME = 1e-9  # a mean that lm_eval has computed in another order
_DEEPEST = 20  # groups of groups of tasks


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
        for name, own in models.items()
        for part in _read(
            source,
            name,
            _chosen(source, name, own, task),
            filters=filter,
            cluster=cluster,
            domain=domain,
            verify=verify,
        )
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
        found = [] if match is None else sorted(path.parent.glob(f"*{match['time']}.json"))
        self._beside = str(found[0]) if found else ""
        self._results = field_of(read_json(found[0]), [], self._beside, dict) if found else {}
        self.name = match["task"] if match else path.name.removesuffix(".jsonl")
        pretrained = re.search(r"(?:pretrained|model)=([^,]+)", label(self.told("config", kind=dict).get("model_args")))
        self.model = model or self.told("model_name", kind=str) or (pretrained[1] if pretrained else "")
        if not self.model:
            raise InputError(
                f"{source}: found no results_TIME.json beside it that names the model, expected one, or --option "
                f"model=NAME"
            )

    def told(self, *path: str, kind: type[Kind]) -> Kind:
        """What the results say; nothing where they do not."""
        return part_of(self._results, path, self._beside, kind)

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells two evaluations of one model apart."""
        config = self.told("config", kind=dict)
        given = {name: config.get(name) for name in ("model_args", "gen_kwargs", "limit")} | {
            "n-shot": self.told("n-shot", kind=dict).get(self.name),
            "chat_template": self._results.get("chat_template_sha"),
            "system_instruction": self._results.get("system_instruction_sha"),
        }
        return {name: label(value) for name, value in given.items()}

    def read(
        self,
        filters: str | None,
        labels: Callable[[object, str], tuple[str, str]],
        *,
        verify: bool,
        prefix: str,
    ) -> tuple[dict[str, Item], list[str], list[str]]:
        """Its documents with their scores, the metrics that are errors or costs, and notes.

        `labels` tells the cluster and the domain of a document; `prefix` stands before the names of documents.
        """
        rows = list(json_lines(self.source))
        used = picked((_filter(row) for _, row in rows), filters, self.source, "filter")
        found: dict[str, Item] = {}
        lines: dict[str, int] = {}
        other: dict[str, None] = {}
        kinds: dict[str, str] = {}
        edited = 0
        for line, row in rows:
            where = f"{self.source}, line {line}"
            name = prefix + label(field_of(row, ["doc_id"], where, (int, str)))
            document = field_of(row, ["doc"], where)
            hashed = part_of(row, ["doc_hash"], where, str)
            edited += bool(hashed) and hashed != _hash(document)
            content = (hashed or digest(document)) if verify else ""
            if name not in found:
                cluster, domain = labels(document, where)
                lines[name] = line
                found[name] = Item(name, {}, "", cluster, domain, content, 0 if prefix else line)
            item = found[name]
            if item.content != content:
                raise InputError(f"{where}: document {named(name)} is another one than in line {lines[name]}")
            if (filter_ := _filter(row)) not in used:
                continue
            metrics = part_of(row, ["metrics"], where, list) or [key for key in row if key not in _OF_A_ROW]
            for metric in map(label, metrics):
                called = metric if len(used) == 1 else f"{metric}/{filter_}"
                kinds[called] = metric
                try:
                    score = items.score(row.get(metric))
                except ValueError:
                    other[called] = None
                    continue
                if called in item.scores:
                    raise InputError(
                        f"{where}: found document {named(name)} with the filter {named(filter_)} again, expected once"
                    )
                item.scores[called] = score
        whole = self.told("n-samples", self.name, "effective", kind=int)
        if whole and whole != len(found):
            raise InputError(
                f"{self.source}: found {len(found):,} documents, expected {whole:,} as the results say: the file is "
                f"not whole"
            )
        notes = []
        if edited:
            notes.append(f"{self.source}: the doc_hash of {edited:,} of {len(rows):,} lines is not that of their doc")
        if other:
            notes.append(f"{self.source}: {listed(other)} left out: no number for each document, and no mean of such")
        no_means = {called: why for called, why in self._no_means(found, used) if called not in other}
        notes += [f"{self.source}: {named(called)} left out: {why}" for called, why in no_means.items()]
        for item in found.values():
            for called in (*other, *no_means):
                item.scores.pop(called, None)
        if (repeats := self.told("configs", self.name, "repeats", kind=int)) > 1:
            notes.append(
                f"{self.source}: each document was answered {repeats} times, and the log has one score of them all, "
                f"after the filter"
            )
        better = self.told("higher_is_better", self.name, kind=dict)
        unsaid = [called for called, metric in kinds.items() if better.get(metric) is None]
        if unsaid := [called for called in unsaid if called not in other and called not in no_means]:
            notes.append(f"{self.source}: taken as better where higher, which the results do not say: {listed(unsaid)}")
        return found, [called for called, metric in kinds.items() if better.get(metric) is False], notes

    def _no_means(self, found: Mapping[str, Item], used: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Metrics that the results report something else of than the mean of their samples, and what."""
        for key, value in self.told("results", self.name, kind=dict).items():
            metric, _, filter_ = key.rpartition(",")
            called = metric if len(used) == 1 else f"{metric}/{filter_}"
            scores = [score for item in found.values() if (score := item.scores.get(called)) is not None]
            if filter_ in used and scores and isinstance(value, int | float):
                mean = math.fsum(scores) / len(scores)
                if abs(value - mean) > _SAME * max(1, abs(value)):
                    yield called, f"the results report {value:.6g}, which is not the mean of its samples, {mean:.6g}"


def _filter(row: Mapping[str, Any]) -> str:
    return label(row.get("filter", "none"))


def _hash(document: object) -> str:
    """The hash that lm_eval makes of a document."""
    told = json.dumps(document, indent=2, ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", errors="surrogatepass")).hexdigest()


def _chosen(source: str, model: str, tasks: Sequence[_Task], asked: str | None) -> list[_Task]:
    """The tasks asked for, groups as their subtasks."""
    by_name: dict[str, _Task] = {}
    for one in tasks:
        if one.name in by_name:
            first, second = (Path(log.source).name for log in (by_name[one.name], one))
            raise InputError(
                f"{source}: found samples of {named(model)} on {named(one.name)} twice, {first} and {second}, expected "
                f"them once: name the file"
            )
        by_name[one.name] = one
    groups: dict[str, list[str]] = {}
    for one in tasks:
        for name in one.told("group_subtasks", kind=dict):
            groups[name] = list(map(label, one.told("group_subtasks", name, kind=list)))

    def leaves(name: str, depth: int = 0) -> list[str]:
        if name in by_name or not groups.get(name) or depth > _DEEPEST:
            return [name]
        return list(dict.fromkeys(leaf for part in groups[name] for leaf in leaves(part, depth + 1)))

    whole = {name: own for name in groups if len(own := leaves(name)) > 1 and set(own) <= set(by_name)}
    if asked is None:
        if len(by_name) > 1 and not any(set(own) == set(by_name) for own in whole.values()):
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
    *,
    filters: str | None,
    cluster: str | None,
    domain: str | None,
    verify: bool,
) -> tuple[Counted, ...]:
    """The documents of all tasks, as one test set."""
    several = len(tasks) > 1
    documents: list[Item] = []
    errors: list[str] = []
    notes: list[str] = []
    of_tasks: dict[str, list[str]] = {}
    for task in tasks:

        def labels(document: object, where: str, own: str = task.name if several else "") -> tuple[str, str]:
            return (
                "" if cluster is None else of_metadata(document, cluster, where, "the document"),
                own if domain is None else of_metadata(document, domain, where, "the document"),
            )

        found, lower, told = task.read(filters, labels, verify=verify, prefix=f"{task.name}/" if several else "")
        documents += found.values()
        errors += lower
        notes += told
        of_tasks[task.name] = list(dict.fromkeys(metric for item in found.values() for metric in item.scores))
    shared = set.intersection(*map(set, of_tasks.values()))
    if not shared:
        each = "; ".join(f"{name} has {listed(metrics) or 'none'}" for name, metrics in of_tasks.items())
        raise InputError(
            f"{source}: found no metric that is the mean of a number for each document{' in all tasks' * several}, "
            f"expected one ({each})"
        )
    if rest := [metric for metrics in of_tasks.values() for metric in metrics if metric not in shared]:
        notes.append(f"{source}: {listed(dict.fromkeys(rest))} left out: not in every task")
    for item in documents:
        for metric in item.scores.keys() - shared:
            del item.scores[metric]
    return Log(
        source if several else tasks[0].source,
        model,
        documents,
        lower_is_better=frozenset(errors),
        notes=notes,
        settings=tasks[0].settings,
    ).counted()
