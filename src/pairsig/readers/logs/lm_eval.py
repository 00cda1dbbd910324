"""Read logged samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl` beside `results_TIME.json`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any, Literal

from pairsig.io.errors import InputError, listed, named
from pairsig.io.files import AnyPath, read_json
from pairsig.readers import Reader, begins, plain_name
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Kind, field_of, label, mean_of, of_metadata, outputs, part_of, picked
from pairsig.readers.output import Output, TaskGroup

_NAMED = re.compile(r"""(peft|delta|pretrained|model|model_version|model_name|model_id|path|engine)['"]?[=:]""")
"""Arguments of a model from which lm_eval takes its name."""

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_OF_A_ROW = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip
_DEEPEST = 20  # levels of nested groups of tasks


def read(
    path: AnyPath,
    *,
    task: str | None = None,
    document: str | None = None,
    domain: str | None = None,
    any_content: bool = False,
) -> tuple[Output, ...]:
    """Read the score of every sample that `--log_samples` wrote, for one or more tasks.

    Only metrics that are the mean over samples are read; others (corpus BLEU, perplexity) are left out with a note. To
    decide this, the mean is compared with the score in the results.

    Parameters
    ----------
    path
        The folder that was passed as `--output_path`, or a folder in it, with one or more models; or
        `samples_TASK_TIME.jsonl`. The name of the model is that in the results, else that of the folder.
    task
        Tasks or groups of tasks to read, separated by commas. Default: all.
    document, domain
        Keys of a sample's `doc`, such as `passage` or `meta.source`, with the document (for `--unit document`) and with
        the domain.
    any_content
        Whether samples with the same id may have another `doc_hash` in each log.

    Returns
    -------
    Counts, one per model and task; each metric is the mean over samples, and lower is better if the results say so.
    The groups are those for which the results report a score: lm_eval averages over all samples
    (`weight_by_size: true`) or over the subtasks, and the reported score says which.
    """
    source = fspath(path)
    tasks = [_Task(path) for path in _paths(source)]
    models: dict[str, list[_Task]] = {}
    for log in tasks:
        models.setdefault(log.model, []).append(log)
    items.once(source, ((model, log.name, log.source) for model, logs in models.items() for log in logs))
    parts: list[Output] = []
    for model, of_model in models.items():
        chosen, subtasks = _chosen(source, of_model, task)
        for log in chosen:
            log.read(document, domain, verify=not any_content)
        if not (scored := [log for log in chosen if log.metrics]):
            raise InputError(f"{source}: found no metric that is a mean over samples, expected at least one")
        groups, notes = _groups(source, scored, subtasks)
        notes += chain.from_iterable(log.notes for log in chosen if not log.metrics)
        for log in scored:
            parts += outputs(
                log.source, model, list(log.items.values()), lower_is_better=log.lower_is_better,
                notes=[*log.notes, *notes], conditions=log.conditions, task=log.name,
                groups=tuple(groups),
            )  # fmt: skip
            notes = []
    return tuple(parts)


def _paths(source: str) -> list[Path]:
    """The files of samples: those in a folder, the path itself, or those that belong to a file of results."""
    path = Path(source)
    if path.is_dir():
        files = items.files_below(path, "samples_*.jsonl")
    elif plain_name(path).endswith(".jsonl"):
        files = [path]
    else:
        beside = [(match, file) for file in path.parent.iterdir() if (match := _SAMPLES.fullmatch(file.name))]
        files = sorted(file for match, file in beside if match["time"] in path.name)
    if not files:
        where = "in the folder" if path.is_dir() else "beside these results"
        raise InputError(
            f"{source}: found no samples_TASK_TIME.jsonl {where}, expected files that --log_samples writes"
        )
    return files


class _Task:
    """The samples of one task, and the part of the results beside them that is about it.

    After `read`: the `items`, the name of the metric by its key in the results (`acc,none`), those of which lower is
    better, and notes.
    """

    def __init__(self, path: Path) -> None:
        match = _SAMPLES.fullmatch(plain_name(path.name))
        files = [] if match is None else sorted(path.parent.glob(f"*{match['time']}.json"))
        self.source, self._beside = str(path), str(files[0]) if files else ""
        self._results = field_of(read_json(files[0]), [], self._beside, dict) if files else {}
        self.name = match["task"] if match else path.name.partition(".jsonl")[0]
        self.items: dict[str, Item] = {}
        self.metrics: dict[str, str] = {}
        self.lower_is_better: list[str] = []
        self.notes: list[str] = []
        self._prompts: list[str] = []
        self._filters: list[str] = []
        config = self.reported("config", kind=dict)
        arguments = label(config.get("model_args"))
        self.model = self.reported("model_name", kind=str)
        if self.model and not _NAMED.search(arguments) and isinstance(config.get("model"), str):
            self.model = config["model"]  # the name in the results is a random word then
        if not self.model and (pretrained := re.search(r"(?:pretrained|model)=([^,]+)", arguments)):
            self.model = pretrained[1]
        if not self.model:  # lm_eval calls the folder like the model
            self.model = path.absolute().parent.name if match else self.name

    def reported(self, *path: str, kind: type[Kind]) -> Kind:
        """A field of the results; an empty value if it is missing."""
        return part_of(self._results, path, self._beside, kind)

    @property
    def conditions(self) -> Mapping[str, object]:
        """What must be the same in two evaluations of the task: its version, data, number of shots and prompt."""
        config = self.reported("configs", self.name, kind=dict)
        data = [config.get(name) for name in ("dataset_path", "dataset_name") if config.get(name)]
        prompt = [config.get(name) for name in ("description", "doc_to_text", "doc_to_choice", "doc_to_target")]
        return {
            "version of the task": self.reported("versions", kind=dict).get(self.name),
            "dataset": " ".join(map(label, data)),
            "split": config.get("test_split") or config.get("validation_split"),
            "number of shots": self.reported("n-shot", kind=dict).get(self.name),
            "prompt template": items.digest(prompt) if any(prompt) else "",
            "digest of the prompts": items.digest(sorted(self._prompts)) if self._prompts else "",
            "filter": ",".join(self._filters),
        }

    def read(self, document: str | None, domain: str | None, *, verify: bool) -> None:
        """Read the samples with their scores, first by key and then by the names of the metrics that are means."""
        keys: dict[str, str] = {}  # with the reason for which a metric is left out
        for line, row in items.json_lines(self.source):
            where, filter_ = f"{self.source}, line {line}", label(row.get("filter", "none"))
            item = self._item(row, where, line, document, domain, verify=verify)
            for metric in part_of(row, ["metrics"], where, list) or [key for key in row if key not in _OF_A_ROW]:
                key, value = f"{label(metric)},{filter_}", row.get(label(metric))
                if key in item.scores:
                    again = f"found doc_id {named(item.name)} again with the filter {named(filter_)}"
                    raise InputError(f"{where}: {again}, expected it once")
                is_score = isinstance(value, int | float | None)
                item.scores[key] = items.score(value, self.source) if is_score else None
                keys[key] = keys.get(key, "") if is_score else "samples have no number for it"
        n_samples = self.reported("n-samples", self.name, "effective", kind=int)
        if n_samples and n_samples != len(self.items):
            problem = f"found {len(self.items):,} samples, expected {n_samples:,} as in the results"
            raise InputError(f"{self.source}: {problem}: the file is incomplete")
        self._filters = list(dict.fromkeys(key.rpartition(",")[2] for key in keys))
        for key, why in keys.items():
            metric, _, filter_ = key.rpartition(",")
            called = metric if len(self._filters) == 1 else f"{metric}/{filter_}"
            if why := why or self._is_no_mean(key):
                self.notes.append(f"{self.source}: {named(called)} left out, since {why}")
            else:
                self.metrics[key] = called
        for item in self.items.values():
            item.scores = {called: item.scores[key] for key, called in self.metrics.items() if key in item.scores}
        better = self.reported("higher_is_better", self.name, kind=dict)
        directions = {called: better.get(key.rpartition(",")[0]) for key, called in self.metrics.items()}
        if unsaid := [called for called, higher in directions.items() if higher is None]:
            note = f"the results have no direction for {listed(unsaid)}; higher counts as better"
            self.notes.append(f"{self.source}: {note}")
        self.lower_is_better = [called for called, higher in directions.items() if higher is False]

    def _item(
        self, row: Mapping[str, Any], where: str, line: int, document: str | None, domain: str | None, *, verify: bool
    ) -> Item:
        """The item of a row, which is the same for all filters."""
        name = label(field_of(row, ["doc_id"], where, (int, str)))
        doc = field_of(row, ["doc"], where)
        content = (part_of(row, ["doc_hash"], where, str) or items.digest(doc)) if verify else ""
        if content and (target := row.get("target_hash")):
            content = f"{content}/{target}"
        item = self.items.get(name)
        if item is None:
            if isinstance(row.get("prompt_hash"), str):
                self._prompts.append(f"{name} {row['prompt_hash']}")
            item = self.items[name] = Item(
                name, {}, content=content, line=line,
                document=of_metadata(doc, document, where, "the doc", "document"),
                domain=of_metadata(doc, domain, where, "the doc", "domain"),
            )  # fmt: skip
        elif item.content != content:
            problem = f"found a doc with doc_id {named(name)} that differs from the one in line {item.line}"
            raise InputError(f"{where}: {problem}, expected the same")
        return item

    def scores(self, metric: str) -> list[int | float]:
        """The scores of all items that have one."""
        return [score for item in self.items.values() if (score := item.scores.get(metric)) is not None]

    def _is_no_mean(self, key: str) -> str:
        """How the value of a metric in the results differs from the mean over samples; "" if it does not."""
        value, mean = self.reported("results", self.name, kind=dict).get(key), mean_of(self.scores(key))
        if not isinstance(value, int | float) or math.isnan(mean) or items.same(value, mean):
            return ""
        return f"the results report {value:.6g} and not the mean over samples, {mean:.6g}"


def _chosen(source: str, tasks: Sequence[_Task], asked: str | None) -> tuple[list[_Task], dict[str, list[str]]]:
    """The requested tasks, with groups replaced by their subtasks, and the subtasks of each group."""
    by_name = {log.name: log for log in tasks}
    # Groups may consist of groups: `leaves` are the tasks below a name.
    groups: dict[str, list[str]] = {}
    for log_of_task in tasks:
        for name in log_of_task.reported("group_subtasks", kind=dict):
            groups[name] = list(map(label, log_of_task.reported("group_subtasks", name, kind=list)))

    def leaves(name: str, depth: int = 0) -> list[str]:
        if name in by_name or not groups.get(name) or depth > _DEEPEST:
            return [name]
        return list(dict.fromkeys(chain.from_iterable(leaves(part, depth + 1) for part in groups[name])))

    # Groups of which all tasks are there can be requested, too.
    below = {name: leaves(name) for name in groups}
    whole = {name: of_group for name, of_group in below.items() if len(of_group) > 1 and set(of_group) <= set(by_name)}
    names = picked([*whole, *by_name], asked, source, "task")
    chosen = list(dict.fromkeys(chain.from_iterable(whole.get(name, [name]) for name in names)))
    subtasks = {name: of_group for name, of_group in whole.items() if set(of_group) <= set(chosen)}
    return [by_name[name] for name in chosen], subtasks


def _groups(
    source: str, tasks: Sequence[_Task], subtasks: Mapping[str, list[str]]
) -> tuple[list[TaskGroup], list[str]]:
    """The groups for which the results report a mean, and notes on other scores of groups.

    The results do not say whether a mean is weighted by the size of the tasks (`weight_by_size`), so both are computed.
    """
    groups, notes = [], []
    for group, leaves in subtasks.items():
        members = [log for name in leaves for log in tasks if log.name == name]
        reported = members[0].reported if members else tasks[0].reported
        for key, value in (reported("groups", group, kind=dict) or reported("results", group, kind=dict)).items():
            of_metric = [log for log in members if key in log.metrics]
            metrics = {log.metrics[key] for log in of_metric}
            if len(metrics) != 1 or not isinstance(value, int | float):
                continue
            (metric,) = metrics
            scores = [log.scores(metric) for log in of_metric]
            means: dict[Literal["items", "tasks"], float] = {
                "items": mean_of(chain(*scores)), "tasks": mean_of(map(mean_of, scores)),
            }  # fmt: skip
            same = frozenset(name for name, mean in means.items() if items.same(value, mean))
            if not same:
                notes.append(
                    f"{source}: {group}/{metric} left out, since the results report {value:.6g}, which is neither the "
                    f"mean over samples, {means['items']:.6g}, nor over tasks, {means['tasks']:.6g}"
                )
            elif len(of_metric) > 1:
                groups.append(TaskGroup(group, metric, tuple(log.name for log in of_metric), same))
    return groups, notes


READER = Reader(
    read=read,
    content="logged samples of lm-evaluation-harness: the folder, or `samples_*.jsonl` beside `results_*.json`",
    metrics="every metric that is a mean over samples",
    recognizes=begins(
        r'\{\s*"results"\s*:\s*\{\s*(?:\}|"[^"]*"\s*:\s*\{[^{}]*(?:"alias"|_stderr|,\w[\w-]*"\s*:))',
        r'\{[^\n]*"doc_id"\s*:[^\n]*"(?:resps|filtered_resps|arguments)"\s*:',
    ),
    in_folder=("samples_*.jsonl",),
    example=(
        '{"doc_id": 0, "doc": {"x": 1}, "resps": [["a"]], "filter": "none", "metrics": ["acc"], "acc": 0}\n'
        '{"doc_id": 1, "doc": {"x": 2}, "resps": [["b"]], "filter": "none", "metrics": ["acc"], "acc": 1}\n'
        '{"doc_id": 2, "doc": {"x": 3}, "resps": [["c"]], "filter": "none", "metrics": ["acc"], "acc": 1}\n'
    ),
    example_name="samples_sums.jsonl",
)
