"""Logs of Inspect (inspect_ai): `.eval`, an archive, and `.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, listed, named, quoted
from pairsig.files import AnyPath, beginning, parse_json, read_json, zip_members
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Kind, Log, Score, digest, field_of, label, of_metadata, part_of, picked

# `value_to_float` of Inspect.
_VALUES = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
_VERSIONS = (1, 2)


def read(
    path: AnyPath,
    *,
    scorer: str | None = None,
    cluster: str | None = None,
    domain: str | None = None,
    task: str | None = None,
    reducer: str | None = None,
    verify: bool = True,
) -> tuple[Counted, ...]:
    """Scores of the samples of a log of Inspect.

    The value of a sample is the number Inspect makes of it: C, I, P and N are 1, 0, 0.5 and 0, as are yes, no, true and
    false. Every epoch is a run. A sample that was not scored, because of an error or since the scorer said so (NaN),
    has no score; one that a limit or an error ended has the score it was given all the same, as in Inspect's own
    figures.

    Parameters
    ----------
    path
        A log, `.eval` or `.json`; or a folder of logs of one model or several, one of each task.
    scorer
        Only these scorers, with commas. A scorer whose values are dictionaries is one for every key: `SCORER/KEY`.
    cluster, domain
        Keys of the samples' metadata that say which belong together, for `--unit document`, and of which domain they
        are.
    task
        Of a folder: only these tasks, with commas. Several are one test set, the task being the domain.
    reducer
        One score a sample instead of one an epoch: as Inspect has reduced them, by the reducer of this name.
    verify
        Samples of one id must have the same input in all logs. False where an input has the date in it, say.

    Returns
    -------
    Counts, one for each model and epoch; each scorer is a metric, the mean of the values, as Inspect's `accuracy` and
    `mean` are of the means over epochs.

    Raises
    ------
    InputError
        For a log that is damaged, not finished or of another version; for a value that is no number and has no text
        that Inspect knows; for a scorer, task or cluster that is not there; for two logs of one model and task.
    """
    source = fspath(path)
    paths = items.files_below(path, "*.eval", "*.json") if Path(source).is_dir() else [Path(source)]
    logs = [_Log(str(one) if Path(source).is_dir() else source) for one in paths]
    if not logs:
        raise InputError(f"{source}: found no log of Inspect in the folder, expected .eval or .json")
    tasks = picked([log.task for log in logs], task, source, "task")
    logs = [log for log in logs if log.task in tasks]
    if len(tasks) > 1 and task is None:
        raise InputError(
            f"{source}: found the tasks {listed(tasks)}, expected one: --option task=NAME, or several with commas"
        )
    models: dict[str, list[_Log]] = {}
    for log in logs:
        own = models.setdefault(log.model, [])
        if other := next((other for other in own if other.task == log.task), None):
            raise InputError(
                f"{source}: found two logs of {named(log.model)} on {named(log.task)}, {Path(other.source).name} and "
                f"{Path(log.source).name}, expected one: name the file"
            )
        own.append(log)
    found: list[Counted] = []
    for model, own in models.items():
        notes = [note for log in own for note in log.notes(reducer)]
        scored = [
            (log, list(log.items(scorer, cluster, domain, reducer, verify, prefix=len(tasks) > 1))) for log in own
        ]
        found += Log(
            own[0].source if len(own) == 1 else source,
            model,
            [item for _, part in scored for item in part],
            notes=notes,
            settings=own[0].settings,
            design="nested",
        ).counted()
    return tuple(found)


class _Log:
    """One log: its header, and its samples, which are read when asked for."""

    def __init__(self, source: str) -> None:
        self.source = source
        if beginning(source, 4) == b"PK\3\4":
            self._members = zip_members(source)
            if "header.json" not in self._members:
                what = "has not finished" if "_journal/start.json" in self._members else "is none of Inspect"
                raise InputError(f"{source}: found no header.json, the evaluation {what}, expected a whole log")
            self._header = self._member("header.json")
        else:
            self._members = {}
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
            raise InputError(f"{self.source}: found no {name} in the archive, expected one: a log of another version?")
        return parse_json(f"{self.source}!{name}", self._members[name]())

    def _part(self, *path: str, kind: type[Kind]) -> Kind:
        return part_of(self._header, path, self.source, kind)

    @property
    def settings(self) -> Mapping[str, str]:
        """What tells two evaluations of one model apart."""
        settings = {
            name: label(value)
            for part in ("model_generate_config", "model_args", "task_args")
            for name, value in self._part("eval", part, kind=dict).items()
            if isinstance(value, str | int | float)
        }
        solvers = [part_of(step, ["solver"], self.source, str) for step in self._part("plan", "steps", kind=list)]
        return settings | {"solver": self._part("eval", "solver", kind=str) or "+".join(solvers)}

    def notes(self, reducer: str | None) -> list[str]:
        """What the reader of the scores should know."""
        notes = []
        if self.status != "success":
            notes.append(f"{self.source}: the evaluation ended with the status {named(self.status)}")
        if self._header.get("invalidated"):
            notes.append(f"{self.source}: somebody has marked samples of this log as invalid")
        reducers = self._part("eval", "config", "epochs_reducer", kind=list) or ["mean"]
        if reducer is None and "mean" not in reducers:
            notes.append(
                f"{self.source}: Inspect has reduced epochs by {listed(map(str, reducers))}, here the score of a "
                f"sample is their mean (--option reducer={reducers[0]} takes its scores)"
            )
        return notes

    def items(
        self,
        scorer: str | None,
        cluster: str | None,
        domain: str | None,
        reducer: str | None,
        verify: bool,
        prefix: bool,
    ) -> Iterator[Item]:
        """The samples; with `prefix` the task is part of their names, and their domain."""
        samples = self._samples()
        chosen = picked(self._scorers(samples), scorer, self.source, "scorer")
        reduced = None if reducer is None else self._reduced(reducer, chosen)
        n_epochs = len({label(sample.get("epoch")) for sample in samples})
        seen: set[str] = set()
        for number, sample in enumerate(samples, start=1):
            where = f"{self.source}, sample {number}"
            name = label(field_of(sample, ["id"], where, (str, int)))
            metadata = part_of(sample, ["metadata"], where, dict)
            if reduced is not None and name in seen:
                continue
            seen.add(name)
            own = f"{self.task}/{name}" if prefix else name
            scores = self._scores(sample, chosen, where) if reduced is None else reduced.get(name, {})
            yield Item(
                own,
                {scorer: scores.get(scorer) for scorer in chosen},
                run=label(sample.get("epoch")) if n_epochs > 1 and reduced is None else "",
                document="" if cluster is None else of_metadata(metadata, cluster, where, "the metadata"),
                domain=self.task
                if domain is None and prefix
                else ""
                if domain is None
                else of_metadata(metadata, domain, where, "the metadata"),
                content=digest(_text(sample.get("input"))) if verify else "",
            )

    def _samples(self) -> Sequence[Mapping[str, Any]]:
        samples = self._member("summaries.json") if self._members else self._header.get("samples")
        if samples is None:
            raise InputError(f"{self.source}: found no samples, expected those of a whole log, not of its header")
        if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
            raise InputError(f"{self.source}: found {quoted(samples)} as samples, expected a list of objects")
        return samples

    def _scorers(self, samples: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        for number, sample in enumerate(samples, start=1):
            for name, value in self._values(sample, f"{self.source}, sample {number}"):
                if not isinstance(value, dict | list):
                    yield name

    def _values(self, sample: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
        for name, given in part_of(sample, ["scores"], where, dict).items():
            value = field_of(given, ["value"], where)
            if isinstance(value, dict):
                yield from ((f"{name}/{key}", part) for key, part in value.items())
            else:
                yield name, value

    def _scores(self, sample: Mapping[str, Any], chosen: Sequence[str], where: str) -> dict[str, Score]:
        return {name: _number(value, name, where) for name, value in self._values(sample, where) if name in chosen}

    def _reduced(self, reducer: str, chosen: Sequence[str]) -> dict[str, dict[str, Score]]:
        """The scores of each sample by a reducer of Inspect's."""
        if self._members:
            parts = self._member("reductions.json") if "reductions.json" in self._members else []
        else:
            parts = self._part("reductions", kind=list)
        where = f"{self.source}, reductions"
        known = [part_of(part, ["reducer"], where, str) or "mean" for part in parts]
        picked(known, reducer, self.source, "reducer")
        found: dict[str, dict[str, Score]] = {}
        for part, name in zip(parts, known, strict=True):
            if name != reducer:
                continue
            for sample in field_of(part, ["samples"], where, list):
                own = found.setdefault(label(field_of(sample, ["sample_id"], where)), {})
                scores = {field_of(part, ["scorer"], where, str): sample}
                own |= self._scores({"scores": scores}, chosen, where)
        return found


def _text(question: object) -> object:
    """What of an input is the same in a log and in its summary, which leaves out all but text, and the end of that."""
    if isinstance(question, list):
        return [
            (message.get("role"), _start(message.get("content"))) if isinstance(message, dict) else None
            for message in question
        ]
    return _start(question)


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
        return items.score(value)
    except ValueError:
        raise InputError(
            f"{where}: found the value {quoted(value)} of {named(scorer)}, expected a number or one of C, I, P, N"
        ) from None
