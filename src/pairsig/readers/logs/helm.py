"""Read the statistics of every instance from HELM's `per_instance_stats.json`, in the folder of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named
from pairsig.io.files import AnyPath, read_json
from pairsig.readers import Reader, begins
from pairsig.readers.align import shared
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Kind, Score, field_of, label, names_of, outputs, part_of, picked
from pairsig.readers.output import Output, TaskGroup

FILE = "per_instance_stats.json"

_HEADLINES = (
    "exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "final_number_exact_match",
    "math_equiv", "math_equiv_chain_of_thought", "chain_of_thought_correctness", "ifeval_strict_accuracy",
    "omni_math_accuracy", "wildbench_score_rescaled", "f1_score", "rouge_l", "rouge_2", "bleu_4",
)  # fmt: skip
"""Statistics on HELM's own leaderboards, the default; others (runtimes, numbers of tokens) must be requested."""
_PROMPT = (
    "method", "global_prefix", "instructions", "input_prefix", "input_suffix", "reference_prefix", "reference_suffix",
    "chain_of_thought_prefix", "chain_of_thought_suffix", "output_prefix", "output_suffix", "instance_prefix",
    "global_suffix", "substitutions", "multi_label",
)  # fmt: skip
"""Fields of `adapter_spec` that decide what a model is asked."""


def read(path: AnyPath, *, stat: str | None = None, any_content: bool = False) -> tuple[Output, ...]:
    """Read the statistics of every instance in one or more runs of HELM.

    Perturbed instances are left out, since they are different items. Every `train_trial_index` is a run.

    Parameters
    ----------
    path
        `per_instance_stats.json`, or a folder with such files, from one or more models. Each HELM run of a model is a
        task, with the name of the run (without the model). The name of the model is that in `run_spec.json`, or in the
        name of the folder, or the name of the folder.
    stat
        Statistics to read, separated by commas. Default: those on HELM's leaderboards.
    any_content
        Whether instances with the same id may have another input and references in `instances.json` of each run.

    Returns
    -------
    Counts, one per model, HELM run and trial; each statistic is the mean over instances. The groups are the `groups`
    in `run_spec.json` with several runs, over whose means HELM's leaderboards average.
    """
    source = fspath(path)
    paths = items.files_below(path, FILE) if Path(source).is_dir() else [Path(source)]
    if not paths:
        raise InputError(f"{source}: found no {FILE} in the folder, expected at least one")
    models: dict[str, dict[str, tuple[Output, ...]]] = {}
    members: dict[tuple[str, str], list[str]] = {}
    specs = {file: _Spec(file) for file in paths}
    items.once(source, ((spec.model, spec.run, str(file)) for file, spec in specs.items()))
    for file, spec in specs.items():
        notes: list[str] = []
        used, instances = _items(file, stat, notes, {} if any_content else _contents(file, notes))
        models.setdefault(spec.model, {})[spec.run] = outputs(
            str(file), spec.model, instances, notes=notes, place="entry", task=spec.run,
            conditions=spec.conditions | {"split": used},
        )  # fmt: skip
        for group in spec.groups:
            members.setdefault((spec.model, group), []).append(spec.run)
    for (name, group), runs in members.items():
        parts_of_run = models[name]
        metrics = [metric.name for metric in shared([parts_of_run[run][0] for run in runs])] if len(runs) > 1 else []
        more = tuple(TaskGroup(group, metric, tuple(runs), frozenset(["tasks"])) for metric in metrics)
        parts_of_run[runs[0]] = tuple(replace(part, groups=part.groups + more) for part in parts_of_run[runs[0]])
    return tuple(chain.from_iterable(chain.from_iterable(runs.values()) for runs in models.values()))


class _Spec:
    """What `run_spec.json`, or else the name of the folder, says: the model, the run without it, and the groups."""

    def __init__(self, path: Path) -> None:
        self._beside = path.parent / "run_spec.json"
        self._spec = read_json(self._beside) if self._beside.exists() else {}
        run = self._part("name", kind=str) or path.absolute().parent.name
        called = [self._part("adapter_spec", name, kind=str) for name in ("model", "model_deployment")]
        in_name = re.search(r"(?:^|[:,])model=([^,]+)", run)
        self.model = called[0] or called[1] or (in_name[1] if in_name else run)
        self.run = re.sub(r"(?<=[:,])model=[^,]+,?|,model=[^,]+$", "", run).rstrip(":,")
        self.groups = [label(group) for group in self._part("groups", kind=list)]

    def _part(self, *names: str, kind: type[Kind]) -> Kind:
        return part_of(self._spec, names, str(self._beside), kind)

    @property
    def conditions(self) -> dict[str, str]:
        """What must be the same in two runs: the scenario, the number of shots and the prompt."""
        adapter = self._part("adapter_spec", kind=dict)
        scenario = self._part("scenario_spec", kind=dict)
        # HELM numbers the instances of every scenario from id0, so that those of any two scenarios would be paired.
        conditions = {"scenario": label(scenario) if scenario else self.run if ":" in self.run else ""}
        if "max_train_instances" in adapter:
            conditions["number of shots"] = label(adapter["max_train_instances"])
        return conditions | {f"{name} of the prompt": json.dumps(adapter[name]) for name in _PROMPT if name in adapter}


def _contents(path: Path, notes: list[str]) -> dict[str, str]:
    """The digest of every instance in `instances.json`."""
    beside = path.parent / "instances.json"
    if not beside.exists():
        notes.append(f"{path}: there is no instances.json beside it, so instances are paired by their ids alone")
        return {}
    contents: dict[str, str] = {}
    for number, instance in enumerate(read_json(beside), start=1):
        where = f"{beside}, entry {number}"
        if field_of(instance, [], where, dict).get("perturbation") is None:
            name = label(field_of(instance, ["id"], where, (str, int)))
            contents[name] = items.digest(instance.get("input"), instance.get("references"))
    return contents


def _items(path: Path, stat: str | None, notes: list[str], contents: Mapping[str, str]) -> tuple[str, list[Item]]:
    """The split, and its instances that are not perturbed; entries for the same instance are merged."""
    source = str(path)
    values: dict[tuple[str, str], dict[tuple[str, str, str], Score]] = {}
    first: dict[tuple[str, str], int] = {}
    n_perturbed = 0
    for number, entry in enumerate(field_of(read_json(path), [], source, list), start=1):
        where = f"{source}, entry {number}"
        instance = label(field_of(entry, ["instance_id"], where, (str, int)))
        trial = label(field_of(entry, ["train_trial_index"], where, int))
        stats = field_of(entry, ["stats"], where, list)
        if entry.get("perturbation") is not None:
            n_perturbed += 1
            continue
        of_instance = values.setdefault((instance, trial), {})
        first.setdefault((instance, trial), number)
        for value in stats:
            name = field_of(value, ["name", "name"], where, str)
            if value["name"].get("perturbation") is not None:
                continue
            key = label(value["name"].get("split")), name, label(value["name"].get("sub_split"))
            if key in of_instance:
                again = f"found {named(name)} again for instance {named(instance)} in trial {trial}"
                raise InputError(f"{where}: {again}, expected it once")
            of_instance[key] = _value(value, where)
    if n_perturbed:
        notes.append(f"{source}: {n_perturbed:,} entries for perturbed instances are left out")
    keys = dict.fromkeys(chain.from_iterable(values.values()))
    splits, names = dict.fromkeys(part for part, *_ in keys), dict.fromkeys(name for _, name, _ in keys)
    if len(splits) > 1 and "test" not in splits:
        raise InputError(f"{source}: found the splits {listed(splits)}, expected one, or test")
    used = "test" if "test" in splits else next(iter(splits), "")
    wanted = names_of(stat) or [name for name in _HEADLINES if name in names]
    if not wanted:
        problem = f"found the statistics {listed(sorted(names)) or '(none)'}, but none from HELM's leaderboards"
        raise InputError(f"{source}: {problem}; choose one with --stat NAME")
    picked(names, ",".join(wanted), source, "statistic")
    chosen, n_others = [], 0
    for (instance, trial), of_instance in values.items():
        of_split = [(name, value) for (part, name, _), value in of_instance.items() if part == used]
        n_others += not of_split
        scores: dict[str, Score] = dict.fromkeys(wanted)
        for name, value in of_split:
            if scores.get(name) is not None:
                problem = f"found {named(name)} for several sub-splits of instance {named(instance)}"
                raise InputError(f"{source}, entry {first[instance, trial]}: {problem}, expected one")
            if name in scores:
                scores[name] = value
        if of_split:
            line = first[instance, trial]
            chosen.append(Item(instance, scores, run=trial, content=contents.get(instance, ""), line=line))
    if n_others:
        notes.append(f"{source}: {n_others:,} instances outside the split {named(used)} are left out")
    return used, chosen


def _value(stat: Mapping[str, Any], where: str) -> Score:
    """The mean of a statistic; None if HELM recorded no number."""
    count = field_of(stat, ["count"], where, int)
    total = items.score(stat.get("sum"), f"{where}, sum") if count else None
    return total if total is None or count == 1 else total / count  # one value keeps its type


READER = Reader(
    read=read,
    content="`per_instance_stats.json` of HELM, or a folder with such files; trials are runs",
    metrics="the statistics on HELM's leaderboards",
    recognizes=begins(r'\[\s*\{\s*"instance_id"\s*:.*"train_trial_index"\s*:'),
    in_folder=(FILE,),
    example="""\
[{"instance_id": "id0", "train_trial_index": 0,
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 0}]},
 {"instance_id": "id1", "train_trial_index": 0,
  "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1}]}]
""",
    example_name=FILE,
)
