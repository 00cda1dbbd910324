"""What OpenAI's evals record: JSONL of events, with the specification of the run in the first line."""

from __future__ import annotations

import math
from os import fspath
from typing import Any

from pairsig.errors import InputError, listed, named, quoted
from pairsig.files import AnyPath
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Log, digest, field_of, json_lines, label, part_of, picked

_SAME = 1e-9


def read(path: AnyPath, *, metric: str | None = None, verify: bool = True) -> tuple[Counted, ...]:
    """Scores of the samples of one run of an eval.

    Parameters
    ----------
    path
        The file that `oaieval --record_path` names.
    metric
        Only these metrics, with commas: `accuracy` is the share of samples whose event `match` is correct; others are
        numbers in events `metrics`, or true and false.
    verify
        Samples of one id must have the same `expected` answer in all logs.

    Returns
    -------
    Counts of the model; each metric is the mean over samples. A sample that has events but no such one has no score.

    Raises
    ------
    InputError
        For a file without specification, for more than one run in it, a sample with two events that score it, a metric
        that is not there.
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
                raise InputError(f"{where}: found another specification, expected the events of one run")
            functions = field_of(event, ["spec", "completion_fns"], where, list)
            model, run = "+".join(map(label, functions)), label(event["spec"].get("run_id"))
            settings = {
                "eval": label(event["spec"].get("eval_name")),
                **{name: label(value) for name, value in part_of(event, ["spec", "run_config"], where, dict).items()},
            }
            continue
        if not model:
            raise InputError(f"{where}: found no specification of a run, expected it in the first line")
        if run and label(event.get("run_id")) not in ("", run):
            raise InputError(
                f"{where}: found an event of run {quoted(event['run_id'])}, expected the events of {quoted(run)}"
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
            found[item.name] = Item(item.name, item.scores, content=expected, line=line)
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
                raise InputError(f"{where}: found {named(name)} of sample {named(item.name)} again, expected it once")
            item.scores[name] = score
    if not model:
        raise InputError(f"{source}: found no line, expected the specification of a run")
    chosen = picked((name for item in found.values() for name in item.scores), metric, source, "metric")
    if not chosen:
        raise InputError(f"{source}: found no event of type match or metrics with a number, expected some")
    for item in found.values():
        scores = {name: item.scores.get(name) for name in chosen}
        item.scores.clear()
        item.scores.update(scores)
    notes = [f"{source}: {listed(left_out)} left out, no numbers"] if left_out else []
    values = [item.scores["accuracy"] for item in found.values() if item.scores.get("accuracy") is not None]
    told = report.get("accuracy")
    mean = math.fsum(value or 0 for value in values) / max(len(values), 1)
    if values and isinstance(told, float) and abs(told - mean) > _SAME:
        notes.append(f"{source}: its final report has the accuracy {told:.6g}, which is not the mean of its samples")
    return Log(source, model, list(found.values()), notes=notes, settings=settings).counted()
