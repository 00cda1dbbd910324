"""Read logs of Inspect (inspect_ai): `.eval` archives and `.json` files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import AnyPath, beginning, parse_json, read_json, zip_members
from pairsig.readers import Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Kind, Score, digest, field_of, label, of_metadata, outputs, part_of, picked
from pairsig.readers.output import Output, passes

# As in Inspect's `value_to_float`.
_VALUES = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
_VERSIONS = (1, 2)


def read(
    path: AnyPath,
    *,
    scorer: str | None = None,
    document: str | None = None,
    domain: str | None = None,
    task: str | None = None,
    any_content: bool = False,
    metric: Sequence[Any] = (),
) -> tuple[Output, ...]:
    """Read the score of every sample from logs of Inspect.

    Values become numbers as in Inspect: C, I, P and N are 1, 0, 0.5 and 0; yes and true are 1, no and false are 0.
    Epochs are samples of an item, which are averaged. A sample without a score, because of an error or because the
    scorer returned NaN, counts as missing. A sample that was ended by a limit or an error keeps the score it received,
    as in Inspect's own results.

    Parameters
    ----------
    path
        A log (`.eval` or `.json`), or a folder of logs from one or more models, with one log per model and task.
    scorer
        Scorers to read, separated by commas. A scorer whose values are dictionaries counts as one scorer per key,
        `SCORER/KEY`.
    document, domain
        Keys of the samples' metadata with the document (for `--unit document`) and with the domain.
    task
        Tasks to read from a folder, separated by commas. Default: all.
    any_content
        Whether samples with the same id may have another input in each log, for example because inputs contain the
        date.
    metric
        Names of metrics, of which pass@k and pass^k are computed from the epochs.

    Returns
    -------
    Counts, one per model and task; each scorer is a metric, the mean of its values, which is Inspect's `accuracy` or
    `mean`.
    """
    source = fspath(path)
    files = items.files_below(path, "*.eval", "*.json") if Path(path).is_dir() else [source]
    logs = [_Log(str(file)) for file in files]
    if not logs:
        raise InputError(f"{source}: found no log of Inspect in the folder, expected .eval or .json files")
    tasks = picked([log.task for log in logs], task, source, "task")
    logs = sorted((log for log in logs if log.task in tasks), key=lambda log: tasks.index(log.task))
    items.once(source, ((log.model, log.task, log.source) for log in logs))
    estimators = [str(name) for name in metric if passes(str(name))]
    parts: list[Output] = []
    for log in logs:
        samples = log.items(scorer, document, domain)
        if any_content:
            for item in samples:
                item.content = ""
        parts += outputs(log.source, log.model, samples, notes=log.notes(), conditions=log.conditions,
                         estimators=estimators, task=log.task)  # fmt: skip
    return tuple(parts)


class _Log:
    """A log: its header, and its samples, which are read on demand."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._members: Mapping[str, Callable[[], bytes]] = {}
        if beginning(source, 4) == b"PK\3\4":
            self._members = zip_members(source)
            if "header.json" not in self._members:
                is_running = "_journal/start.json" in self._members
                why = "the evaluation has not finished" if is_running else "this is not a log of Inspect"
                raise InputError(f"{source}: found no header.json, expected a complete log: {why}")
            self._header = self._member("header.json")
        else:
            self._header = read_json(source)
        version = field_of(self._header, ["version"], source, int)
        if version not in _VERSIONS:
            raise InputError(f"{source}: found version {version} of Inspect's log, expected one of 1, 2")
        self.status: str = field_of(self._header, ["status"], source, str)
        self.task: str = field_of(self._header, ["eval", "task"], source, str)
        self.model: str = field_of(self._header, ["eval", "model"], source, str)

    def _member(self, name: str) -> Any:
        if name not in self._members:
            raise InputError(f"{self.source}: found no {name} in the archive, expected one; is it another version?")
        return parse_json(f"{self.source}!{name}", self._members[name]())

    def _part(self, *path: str, kind: type[Kind]) -> Kind:
        return part_of(self._header, path, self.source, kind)

    @property
    def conditions(self) -> Mapping[str, object]:
        """What must be the same in two evaluations: the task with its version, its data and its arguments."""
        arguments = self._part("eval", "task_args", kind=dict)
        solvers = [part_of(step, ["solver"], self.source, str) for step in self._part("plan", "steps", kind=list)]
        return {
            "task": self.task,
            "version of the task": self._header["eval"].get("task_version"),
            "dataset": self._part("eval", "dataset", kind=dict).get("name"),
            "reducer": "+".join(map(label, self._part("eval", "config", "epochs_reducer", kind=list))),
            "arguments of the task": label(arguments) if arguments else "",
            "solver": self._part("eval", "solver", kind=str) or "+".join(solvers),
        }

    def notes(self) -> list[str]:
        """Caveats about the scores."""
        n_samples = len(self._samples)
        total = self._part("results", "total_samples", kind=int)
        reducers = self._part("eval", "config", "epochs_reducer", kind=list) or ["mean"]
        caveats = {
            f"warning: the header reports {total:,} samples, but the log has {n_samples:,}": total > n_samples,
            "inputs are compared by their first 500 characters": bool(self._members)
            and any(len(str(sample.get("input"))) >= 500 for sample in self._samples),
            f"the evaluation ended with the status {named(self.status)}": self.status != "success",
            "samples of this log were marked as invalid": bool(self._header.get("invalidated")),
            f"Inspect reduced epochs by {listed(map(str, reducers))}, but the score of a sample is their mean "
            "here": "mean" not in reducers,
        }
        return [f"{self.source}: {caveat}" for caveat, applies in caveats.items() if applies]

    def items(self, scorer: str | None, document: str | None, domain: str | None) -> list[Item]:
        """The samples, with those that the header lists and the log lacks, which have no score."""
        samples = list(enumerate(self._samples, start=1))
        values = [_values(sample, f"{self.source}, sample {number}") for number, sample in samples]
        cells = chain.from_iterable(of_sample.items() for of_sample in values)
        known = (name for name, value in cells if not isinstance(value, dict | list))
        chosen = picked(known, scorer, self.source, "scorer")
        epochs = sorted({label(sample.get("epoch")) for _, sample in samples})
        of_epoch = dict.fromkeys(epochs, "") if len(epochs) == 1 else {epoch: epoch for epoch in epochs}
        scored: list[Item] = []
        for (number, sample), of_sample in zip(samples, values, strict=True):
            where = f"{self.source}, sample {number}"
            metadata = part_of(sample, ["metadata"], where, dict)
            scored.append(Item(
                label(field_of(sample, ["id"], where, (str, int))),
                {name: _number(of_sample.get(name), name, where) for name in chosen},
                run=of_epoch[label(sample.get("epoch"))],
                document=of_metadata(metadata, document, where, "the metadata", "document"),
                domain=of_metadata(metadata, domain, where, "the metadata", "domain"),
                content=self._content(sample),
            ))  # fmt: skip
        if self.status == "success":
            self._check_totals(scored)
        ids = dict.fromkeys(map(label, self._part("eval", "dataset", "sample_ids", kind=list)))
        lost = ids.keys() - {item.name for item in scored}
        return scored + [
            Item(name, dict.fromkeys(chosen), run=epoch) for name in ids if name in lost for epoch in of_epoch.values()
        ]

    def _check_totals(self, samples: Sequence[Item]) -> None:
        """Refuse a log whose header reports another mean than its samples have."""
        for scorer, value in self._reported():
            by_name: dict[str, list[Score]] = {}
            for item in samples:
                by_name.setdefault(item.name, []).append(item.scores.get(scorer))
            means = [items.mean_of(scores) for scores in by_name.values() if scores.count(None) < len(scores)]
            if means and not items.same(value, mean := items.mean_of(means), 1e-6):
                raise InputError(
                    f"{self.source}: the header reports {value:.6g} for {named(scorer)}, the samples have the mean "
                    f"{mean:.6g}, expected the same: was the log edited, or are samples missing?"
                )

    def _reported(self) -> Iterator[tuple[str, float]]:
        """The mean that the header has for a scorer, without those of other reducers and of parts of the samples."""
        for part in self._part("results", "scores", kind=list):
            metrics = part_of(field_of(part, [], self.source, dict), ["metrics"], f"{self.source}, results", dict)
            is_mean = part.get("reducer") in (None, "mean") and part.get("name") == part.get("scorer")
            for name in ("accuracy", "mean") if is_mean else ():
                value = metrics.get(name)
                value = value.get("value") if isinstance(value, dict) else value
                if isinstance(value, int | float):
                    yield label(part.get("name")), float(value)

    def _content(self, sample: Mapping[str, Any]) -> str:
        """Digests of the beginning of an input and, in a log that has all of it, of the whole input."""
        question, target = sample.get("input"), label(sample.get("target"))
        start = digest(_text(question, 500), target[:500])
        return start if self._members else f"{start}/{digest(_text(question, None), target)}"

    @cached_property
    def _samples(self) -> Sequence[Mapping[str, Any]]:
        samples = self._member("summaries.json") if self._members else self._header.get("samples")
        if samples is None:
            raise InputError(f"{self.source}: found no samples, expected a complete log instead of its header")
        if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
            raise InputError(f"{self.source}: found {quoted(samples)} as samples, expected a list of objects")
        return samples


def _values(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a sample by scorer, those in dictionaries by `SCORER/KEY`."""
    values: dict[str, Any] = {}
    for name, score in part_of(sample, ["scores"], where, dict).items():
        value = field_of(score, ["value"], where)
        values |= {f"{name}/{key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}
    return values


def _text(question: object, size: int | None) -> object:
    """The roles and texts of an input, of which a summary has only the start, without the random ids of messages."""

    def start(content: object) -> object:
        return content if size is None else content[:size] if isinstance(content, str) else None

    if not isinstance(question, list):
        return start(question)
    return [
        (message.get("role"), start(message.get("content"))) if isinstance(message, dict) else start(message)
        for message in question
    ]


def _number(value: object, scorer: str, where: str) -> Score:
    if isinstance(value, str):
        known = _VALUES.get(value, _VALUES.get(value.lower()))
        if known is not None:
            return known
        with suppress(ValueError):
            value = float(value)
    try:
        return items.score(value, where)
    except InputError:
        problem = f"found the value {quoted(value)} for {named(scorer)}"
        raise InputError(f"{where}: {problem}, expected a number or one of C, I, P, N") from None


READER = Reader(
    read=read,
    content="logs of Inspect (`.eval` or `.json`), or a folder of them; epochs of an item are averaged",
    metrics="every scorer",
    recognizes=lambda file: (
        # not a workbook, which is an archive, too
        (file.data.startswith(b"PK\3\4") and not file.data.startswith((b"[Content", b"_rels", b"docP", b"xl/"), 30))
        or begins(r'\{\s*"version"\s*:\s*\d+\s*,\s*"(?:status|eval)"')(file)
    ),
    in_folder=("*.eval",),
    example="""\
{"version": 2, "status": "success",
 "eval": {"task": "t", "model": "lab/m", "config": {"epochs": 1}, "model_args": {"a": 1}},
 "samples": [
  {"id": 1, "epoch": 1, "input": "?", "scores": {"match": {"value": "C"}}, "metadata": {"p": "x"}},
  {"id": 2, "epoch": 1, "input": "?", "scores": {"match": {"value": "I"}}, "metadata": {"p": "x"}},
  {"id": 3, "epoch": 1, "input": "?", "scores": {"match": {"value": 0.5}}, "metadata": {"p": "y"}}]}
""",
    example_name="log.json",
)
