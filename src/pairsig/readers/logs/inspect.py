"""Read logs of Inspect (inspect_ai): `.eval` archives and `.json` files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import AnyPath, beginning, parse_json, read_json, zip_members
from pairsig.readers import InMemory, Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Kind, Score, digest, field_of, label, of_metadata, outputs, part_of, picked
from pairsig.readers.output import Output

# As in Inspect's `value_to_float`.
_VALUES = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
_VERSIONS = (1, 2)
_SHOTS = ("fewshot", "num_fewshot", "n_shots", "shots")
"""Arguments of tasks that set the number of shots."""


def read(
    path: AnyPath | InMemory,
    *,
    scorer: str | None = None,
    document: str | None = None,
    domain: str | None = None,
    task: str | None = None,
    reducer: str | None = None,
    any_content: bool = False,
) -> tuple[Output, ...]:
    """Read the score of every sample from logs of Inspect.

    Values become numbers as in Inspect: C, I, P and N are 1, 0, 0.5 and 0; yes and true are 1, no and false are 0.
    Every epoch is a run. A sample without a score, because of an error or because the scorer returned NaN, counts as
    missing. A sample that was ended by a limit or an error keeps the score it received, as in Inspect's own results.

    Parameters
    ----------
    path
        A log (`.eval` or `.json`), or a folder of logs from one or more models, with one log per model and task; or a
        log in memory.
    scorer
        Scorers to read, separated by commas. A scorer whose values are dictionaries counts as one scorer per key,
        `SCORER/KEY`.
    document, domain
        Keys of the samples' metadata with the document (for `--unit document`) and with the domain.
    task
        Tasks to read from a folder, separated by commas. Default: all.
    reducer
        Read the scores that Inspect reduced over epochs with this reducer, instead of one score per epoch.
    any_content
        Whether samples with the same id may have another input in each log, for example because inputs contain the
        date.

    Returns
    -------
    Counts, one per model, task and epoch; each scorer is a metric, the mean of its values. Over all epochs, it is
    Inspect's `accuracy` or `mean`.
    """
    source = path.name if isinstance(path, InMemory) else fspath(path)
    if isinstance(path, InMemory):
        logs = [_Log(source, path.document)]
    elif Path(source).is_dir():
        logs = [_Log(str(file)) for file in items.files_below(path, "*.eval", "*.json")]
    else:
        logs = [_Log(source)]
    if not logs:
        raise InputError(f"{source}: found no log of Inspect in the folder, expected .eval or .json files")
    tasks = picked([log.task for log in logs], task, source, "task")
    logs = [log for log in logs if log.task in tasks]
    logs.sort(key=lambda log: tasks.index(log.task))  # stable
    items.once(source, ((log.model, log.task, log.source) for log in logs))
    parts: list[Output] = []
    for log in logs:
        parts += outputs(
            log.source,
            log.model,
            log.checked(scorer, document, domain, reducer, not any_content),
            notes=log.notes(reducer),
            settings=log.settings,
            conditions=log.conditions,
            design="nested",
            task=log.task,
        )
    return tuple(parts)


class _Log:
    """A log: its header, and its samples, which are read on demand."""

    def __init__(self, source: str, document: Mapping[str, Any] | None = None) -> None:
        self.source = source
        self._members: Mapping[str, Callable[[], bytes]] = {}
        if document is not None:
            self._header = document
        elif beginning(source, 4) == b"PK\3\4":
            self._members = zip_members(source)
            if "header.json" not in self._members:
                why = (
                    "the evaluation has not finished"
                    if "_journal/start.json" in self._members
                    else "this is not a log of Inspect; unpack other archives first"
                )
                raise InputError(f"{source}: found no header.json, expected a complete log: {why}")
            self._header = self._member("header.json")
        else:
            self._header = read_json(source)
        version = field_of(self._header, ["version"], source, int)
        if version not in _VERSIONS:
            raise InputError(
                f"{source}: found version {version} of Inspect's log, expected one of {', '.join(map(str, _VERSIONS))}"
            )
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
    def settings(self) -> Mapping[str, str]:
        """Settings that distinguish two evaluations of one model."""
        settings: dict[str, str] = {}
        for part in ("model_generate_config", "model_args", "task_args"):
            values = self._part("eval", part, kind=dict)
            settings |= {name: label(value) for name, value in values.items() if isinstance(value, str | int | float)}
        solvers = [part_of(step, ["solver"], self.source, str) for step in self._part("plan", "steps", kind=list)]
        return settings | {"solver": self._part("eval", "solver", kind=str) or "+".join(solvers)}

    @property
    def conditions(self) -> Mapping[str, object]:
        """What must be the same in two evaluations: the task with its version, its data and its number of shots."""
        arguments = self._part("eval", "task_args", kind=dict)
        shots = {name: arguments[name] for name in _SHOTS if name in arguments}
        return {
            "task": self.task,
            "version of the task": self._header["eval"].get("task_version"),
            "dataset": self._part("eval", "dataset", kind=dict).get("name"),
            "number of shots": label(shots) if shots else "",
            "reducer": "+".join(map(label, self._part("eval", "config", "epochs_reducer", kind=list))),
            "arguments of the task": label(arguments) if arguments else "",
            "solver": self.settings["solver"],
        }

    def _reported(self) -> Iterator[tuple[str, float]]:
        """The mean that the header has for a scorer, without those of other reducers and of parts of the samples."""
        for part in self._part("results", "scores", kind=list):
            where = f"{self.source}, results"
            metrics = part_of(part, ["metrics"], where, dict)
            reducer = part_of(part, ["reducer"], where, str) or "mean"
            for name in ("accuracy", "mean"):
                value = metrics.get(name)
                value = value.get("value") if isinstance(value, dict) else value
                if reducer == "mean" and isinstance(value, int | float) and part.get("name") == part.get("scorer"):
                    yield label(part.get("name")), float(value)

    def check_totals(self, samples: Sequence[Item]) -> None:
        """Refuse a log whose header reports another mean than its samples have."""
        for scorer, value in self._reported():
            by_name: dict[str, list[int | float]] = {}
            for item in samples:
                if (score := item.scores.get(scorer)) is not None:
                    by_name.setdefault(item.name, []).append(score)
            if not by_name:
                continue
            mean = math.fsum(math.fsum(scores) / len(scores) for scores in by_name.values()) / len(by_name)
            if not items.same(value, mean, 1e-6):
                raise InputError(
                    f"{self.source}: the header reports {value:.6g} for {named(scorer)}, the samples have the mean "
                    f"{mean:.6g}, expected the same: was the log edited, or are samples missing?"
                )

    def notes(self, reducer: str | None) -> list[str]:
        """Caveats about the scores."""
        notes = []
        total = self._part("results", "total_samples", kind=int)
        n_samples = len(self._samples())
        if total > n_samples:
            notes.append(f"{self.source}: warning: the header reports {total:,} samples, but the log has {n_samples:,}")
        if self._members and any(len(str(sample.get("input"))) >= 500 for sample in self._samples()):
            notes.append(f"{self.source}: inputs are compared by their first 500 characters")
        if self.status != "success":
            notes.append(f"{self.source}: the evaluation ended with the status {named(self.status)}")
        if self._header.get("invalidated"):
            notes.append(f"{self.source}: samples of this log were marked as invalid")
        reducers = self._part("eval", "config", "epochs_reducer", kind=list) or ["mean"]
        if reducer is None and "mean" not in reducers:
            notes.append(
                f"{self.source}: Inspect reduced epochs by {listed(map(str, reducers))}, but the score of a sample is "
                f"their mean here; use --reducer={reducers[0]} for Inspect's scores"
            )
        return notes

    def checked(self, scorer: str | None, document: str | None, domain: str | None, *how: Any) -> list[Item]:
        """The samples, whose means are those of the header."""
        samples = list(self.items(scorer, document, domain, *how))
        if how[0] is None and self.status == "success":
            self.check_totals(samples)
        return samples

    def items(
        self, scorer: str | None, document: str | None, domain: str | None, reducer: str | None, verify: bool
    ) -> Iterator[Item]:
        """The samples."""
        samples = self._samples()
        values = [_values(sample, f"{self.source}, sample {number}") for number, sample in enumerate(samples, start=1)]
        cells = chain.from_iterable(values_of_sample.items() for values_of_sample in values)
        known = (name for name, value in cells if not isinstance(value, dict | list))
        chosen = picked(known, scorer, self.source, "scorer")
        reduced = None if reducer is None else self._reduced(reducer, chosen)
        epochs = sorted({label(sample.get("epoch")) for sample in samples})
        n_epochs = len(epochs)
        seen: set[str] = set()
        for number, (sample, values_of_sample) in enumerate(zip(samples, values, strict=True), start=1):
            where = f"{self.source}, sample {number}"
            name = label(field_of(sample, ["id"], where, (str, int)))
            metadata = part_of(sample, ["metadata"], where, dict)
            if reduced is not None and name in seen:
                continue
            seen.add(name)
            scores = _numbers(values_of_sample, chosen, where) if reduced is None else reduced.get(name, {})
            yield Item(
                name,
                {scorer: scores.get(scorer) for scorer in chosen},
                run=label(sample.get("epoch")) if n_epochs > 1 and reduced is None else "",
                document=of_metadata(metadata, document, where, "the metadata", "document"),
                domain=of_metadata(metadata, domain, where, "the metadata", "domain"),
                content=self._content(sample) if verify else "",
            )
        yield from self._lost(seen, epochs if reduced is None else [""], chosen)

    def _content(self, sample: Mapping[str, Any]) -> str:
        """Digests of the beginning of an input and, in a log that has all of it, of the whole input."""
        start = digest(_text(sample.get("input")), _start(label(sample.get("target"))))
        return (
            start if self._members else f"{start}/{digest(_messages(sample.get('input')), label(sample.get('target')))}"
        )

    def _lost(self, seen: set[str], epochs: Sequence[str], chosen: Sequence[str]) -> Iterator[Item]:
        """The samples that the header lists and the log lacks; they have no score."""
        ids = self._part("eval", "dataset", "sample_ids", kind=list)
        for name in map(label, ids):
            if name not in seen:
                for epoch in epochs:
                    yield Item(name, dict.fromkeys(chosen), run=epoch if len(epochs) > 1 else "")

    def _samples(self) -> Sequence[Mapping[str, Any]]:
        samples = self._member("summaries.json") if self._members else self._header.get("samples")
        if samples is None:
            raise InputError(f"{self.source}: found no samples, expected a complete log instead of its header")
        if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
            raise InputError(f"{self.source}: found {quoted(samples)} as samples, expected a list of objects")
        return samples

    def _reduced(self, reducer: str, chosen: Sequence[str]) -> dict[str, dict[str, Score]]:
        """The score of each sample from one of Inspect's reducers."""
        if self._members:
            parts = self._member("reductions.json") if "reductions.json" in self._members else []
        else:
            parts = self._part("reductions", kind=list)
        where = f"{self.source}, reductions"
        known = [part_of(part, ["reducer"], where, str) or "mean" for part in parts]
        picked(known, reducer, self.source, "reducer")
        reduced: dict[str, dict[str, Score]] = {}
        for part, name in zip(parts, known, strict=True):
            if name != reducer:
                continue
            for sample in field_of(part, ["samples"], where, list):
                scores_of_sample = reduced.setdefault(label(field_of(sample, ["sample_id"], where)), {})
                scores = {field_of(part, ["scorer"], where, str): sample}
                scores_of_sample |= _numbers(_values({"scores": scores}, where), chosen, where)
        return reduced


def _values(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a sample by scorer, those in dictionaries by `SCORER/KEY`."""
    values: dict[str, Any] = {}
    for name, score in part_of(sample, ["scores"], where, dict).items():
        value = field_of(score, ["value"], where)
        values |= {f"{name}/{key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}
    return values


def _numbers(values: Mapping[str, Any], chosen: Sequence[str], where: str) -> dict[str, Score]:
    return {name: _number(value, name, where) for name, value in values.items() if name in chosen}


def _text(question: object) -> object:
    """The part of an input that is the same in a log and in its summary, which contains only the start of texts."""
    if isinstance(question, list):
        return [
            (message.get("role"), _start(message.get("content"))) if isinstance(message, dict) else None
            for message in question
        ]
    return _start(question)


def _messages(question: object) -> object:
    """The role and the content of the messages of an input, which also have random ids."""
    if isinstance(question, list):
        return [
            (message.get("role"), message.get("content")) if isinstance(message, dict) else message
            for message in question
        ]
    return question


def _start(content: object) -> object:
    return content[:500] if isinstance(content, str) else None


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
        raise InputError(
            f"{where}: found the value {quoted(value)} for {named(scorer)}, expected a number or one of C, I, P, N"
        ) from None


def _document(log: Any) -> Any:
    """The document of an `EvalLog`."""
    return json.loads(log.model_dump_json()) if hasattr(log, "model_dump_json") and hasattr(log, "eval") else None


READER = Reader(
    read=read,
    document=_document,
    content="logs of Inspect (`.eval` or `.json`), or a folder of them; epochs are runs",
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
