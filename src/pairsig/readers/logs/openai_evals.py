"""Read records of OpenAI evals: JSONL of events, with the specification of the run in the first line."""

from __future__ import annotations

import math
from dataclasses import replace
from os import fspath
from typing import Any

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import AnyPath
from pairsig.readers import Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, counted, digest, field_of, json_lines, label, part_of, picked
from pairsig.readers.system_counts import SystemCounts

_SAME = 1e-9


def read(path: AnyPath, *, metric: str | None = None, verify: bool = True) -> tuple[SystemCounts, ...]:
    """Read the score of every sample in one run of an eval.

    Parameters
    ----------
    path
        The file of `oaieval --record_path`.
    metric
        Metrics to read, separated by commas. `accuracy` is the share of samples whose event `match` is correct; other
        metrics are numbers or booleans in events `metrics`.
    verify
        Whether samples with the same id must have the same `expected` answer in all logs.

    Returns
    -------
    Counts of the model; each metric is the mean over samples. A sample without such an event has no score.

    Raises
    ------
    InputError
        If the specification is missing, if the file has several runs, if two events score one sample, or if a requested
        metric is missing.
    """
    source = fspath(path)
    model = run = ""
    report: dict[str, Any] = {}
    found: dict[str, Item] = {}
    left_out: dict[str, None] = {}
    settings = {}
    for line, event in json_lines(source):
        where = f"{source}, line {line}"
        if "spec" in event:
            if model:
                raise InputError(f"{where}: found a second specification, expected the events of a single run")
            functions = field_of(event, ["spec", "completion_fns"], where, list)
            model, run = "+".join(map(label, functions)), label(event["spec"].get("run_id"))
            settings = {
                "eval": label(event["spec"].get("eval_name")),
                **{name: label(value) for name, value in part_of(event, ["spec", "run_config"], where, dict).items()},
            }
            continue
        if not model:
            raise InputError(f"{where}: found no specification of the run, expected it in the first line")
        if run and label(event.get("run_id")) not in ("", run):
            raise InputError(
                f"{where}: found an event of run {quoted(event['run_id'])}, expected only events of run {quoted(run)}"
            )
        if "final_report" in event:
            report = part_of(event, ["final_report"], where, dict)
            continue
        kind = field_of(event, ["type"], where, str)
        sample = event.get("sample_id")
        if sample is None:
            continue
        data: dict[str, Any] = part_of(event, ["data"], where, dict) if kind in ("match", "metrics") else {}
        item = found.setdefault(label(sample), Item(label(sample), {}, line=line))
        if kind == "match":
            scores = {"accuracy": field_of(data, ["correct"], f"{where}, data", bool)}
            expected = digest(data.get("expected")) if verify else ""
            item = found[item.name] = replace(item, content=expected, line=line)
        elif kind == "metrics":
            scores = data
        else:
            continue
        for name, value in scores.items():
            try:
                score = items.score(value)
            except ValueError:
                left_out[name] = None
                continue
            if item.scores.get(name) is not None:
                raise InputError(f"{where}: found {named(name)} for sample {named(item.name)} again, expected it once")
            item.scores[name] = score
    if not model:
        raise InputError(f"{source}: found an empty file, expected the specification of a run")
    chosen = picked((name for item in found.values() for name in item.scores), metric, source, "metric")
    if not chosen:
        raise InputError(f"{source}: found no event of type match or metrics with a number, expected at least one")
    notes = [f"{source}: {listed(left_out)} left out, since the values are not numbers"] if left_out else []
    samples = [replace(item, scores={name: item.scores.get(name) for name in chosen}) for item in found.values()]
    values = [value for item in samples if (value := item.scores.get("accuracy")) is not None]
    reported = report.get("accuracy")
    mean = math.fsum(values) / max(len(values), 1)
    if values and isinstance(reported, float) and abs(reported - mean) > _SAME:
        notes.append(
            f"{source}: the final report has the accuracy {reported:.6g}, which differs from the mean over samples"
        )
    return counted(source, model, samples, notes=notes, settings=settings)


READER = Reader(
    read=read,
    content="JSONL of OpenAI evals",
    metrics="accuracy in events of type `match`, and the numbers in those of type `metrics`",
    recognizes=begins(r'\{\s*"spec"\s*:\s*\{'),
    example=(
        '{"spec": {"completion_fns": ["m"], "run_id": "r", "run_config": {}}}\n'
        '{"run_id": "r", "event_id": 0, "sample_id": "s.0", "type": "match", "data": {"correct": true}}\n'
        '{"run_id": "r", "event_id": 1, "sample_id": "s.1", "type": "match", "data": {"correct": false}}\n'
        '{"final_report": {"accuracy": 0.5}}\n'
    ),
    example_name="events.jsonl",
)
