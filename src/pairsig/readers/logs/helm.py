"""Read the statistics of every instance from HELM's `per_instance_stats.json`, in the folder of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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

_Key = tuple[str, str, str]
"""Split, name and sub-split of a statistic."""
_Sum = tuple[Score, int]
"""Sum of the values of a statistic, and their number."""


def read(
    path: AnyPath,
    *,
    stat: str | None = None,
    split: str | None = None,
    model: str | None = None,
    any_content: bool = False,
) -> tuple[Output, ...]:
    """Read the statistics of every instance in one or more runs of HELM.

    Perturbed instances are left out, since they are different items. Every `train_trial_index` is a run.

    Parameters
    ----------
    path
        `per_instance_stats.json`, or a folder with such files, from one or more models. Each HELM run of a model is a
        task, with the name of the run (without the model).
    stat
        Statistics to read, separated by commas. Default: those on HELM's leaderboards.
    split
        `test`, `valid` or `train`. Default: the only one, or `test`.
    model
        Name of the model. Default: the name in `run_spec.json` or in the name of the folder.
    any_content
        Whether instances with the same id may have another input and references in `instances.json` of each run.

    Returns
    -------
    Counts, one per model, HELM run and trial; each statistic is the mean over instances. The groups are the `groups`
    in `run_spec.json` with several runs, over whose means HELM's leaderboards
    average.
    """
    source = fspath(path)
    paths = items.files_below(path, FILE) if Path(source).is_dir() else [Path(source)]
    if not paths:
        raise InputError(f"{source}: found no {FILE} in the folder, expected at least one")
    models: dict[str, dict[str, tuple[Output, ...]]] = {}
    members: dict[tuple[str, str], list[str]] = {}
    specs = {file: _Spec(file, model) for file in paths}
    items.once(source, ((spec.model, spec.run, str(file)) for file, spec in specs.items()))
    for file, spec in specs.items():
        notes: list[str] = []
        used, instances = _items(file, stat, split, notes, {} if any_content else _contents(file, notes))
        models.setdefault(spec.model, {})[spec.run] = outputs(
            str(file),
            spec.model,
            instances,
            notes=notes,
            place="entry",
            design="crossed",
            task=spec.run,
            conditions=spec.conditions | {"split": used},
        )
        for group in spec.groups:
            members.setdefault((spec.model, group), []).append(spec.run)
    for (name, group), runs in members.items():
        parts_of_run = models[name]
        metrics = [metric.name for metric in shared([parts_of_run[run][0] for run in runs])] if len(runs) > 1 else []
        more = tuple(TaskGroup(group, metric, tuple(runs), frozenset(["tasks"])) for metric in metrics)
        parts_of_run[runs[0]] = tuple(replace(part, groups=part.groups + more) for part in parts_of_run[runs[0]])
    runs_of_models = chain.from_iterable(parts_of_run.values() for parts_of_run in models.values())
    return tuple(chain.from_iterable(runs_of_models))


class _Spec:
    """What `run_spec.json`, or else the name of the folder, says about a run.

    These are the model, the name of the run without it, and the groups to which the run belongs.
    """

    def __init__(self, path: Path, model: str | None) -> None:
        self._beside = path.parent / "run_spec.json"
        self._spec = read_json(self._beside) if self._beside.exists() else {}
        run = self._part("name", kind=str) or path.parent.name
        called = self._part("adapter_spec", "model", kind=str) or self._part(
            "adapter_spec", "model_deployment", kind=str
        )
        in_name = re.search(r"(?:^|[:,])model=([^,]+)", run)
        self.model = model or called or (in_name[1] if in_name else "")
        if not self.model:
            raise InputError(
                f"{path}: found the name of the model neither in run_spec.json nor in the name of the folder; set it "
                "with --model NAME"
            )
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
    contents: dict[str, str] = {}
    if not beside.exists():
        notes.append(f"{path}: there is no instances.json beside it, so instances are paired by their ids alone")
        return contents
    for number, instance in enumerate(read_json(beside), start=1):
        where = f"{beside}, entry {number}"
        if field_of(instance, [], where, dict).get("perturbation") is None:
            name = label(field_of(instance, ["id"], where, (str, int)))
            contents[name] = items.digest(instance.get("input"), instance.get("references"))
    return contents


def _items(
    path: Path,
    stat: str | None,
    split: str | None,
    notes: list[str],
    contents: Mapping[str, str],
) -> tuple[str, list[Item]]:
    """The split, and its instances that are not perturbed; entries for the same instance are merged."""
    source = str(path)
    entries = field_of(read_json(path), [], source, list)
    values: dict[tuple[str, str], dict[_Key, _Sum]] = {}
    first: dict[tuple[str, str], int] = {}
    perturbed = 0
    names: dict[str, None] = {}  # in the order of the file
    splits: dict[str, None] = {}
    for number, entry in enumerate(entries, start=1):
        where = f"{source}, entry {number}"
        instance = label(field_of(entry, ["instance_id"], where, (str, int)))
        trial = label(field_of(entry, ["train_trial_index"], where, int))
        stats: Sequence[Mapping[str, Any]] = field_of(entry, ["stats"], where, list)
        if entry.get("perturbation") is not None:
            perturbed += 1
            continue
        of_instance = values.setdefault((instance, trial), {})
        first.setdefault((instance, trial), number)
        for stat_of_entry in stats:
            key = _key(stat_of_entry, where)
            if key is None:
                continue
            part, name, _ = key
            if key in of_instance:
                raise InputError(
                    f"{where}: found {named(name)} again for instance {named(instance)} in trial {trial}, expected "
                    f"it once"
                )
            of_instance[key] = _sum(stat_of_entry, where)
            names[name] = splits[part] = None
    if perturbed:
        notes.append(f"{source}: {perturbed:,} entries for perturbed instances are left out")
    if split is None and len(splits) > 1 and "test" not in splits:
        raise InputError(f"{source}: found the splits {listed(splits)}; choose one with --split NAME")
    (used,) = picked(splits, split or ("test" if "test" in splits else None), source, "split")[:1] or [""]
    wanted = names_of(stat) or [name for name in _HEADLINES if name in names]
    if not wanted:
        raise InputError(
            f"{source}: found the statistics {listed(sorted(names)) or '(none)'}, but none from HELM's leaderboards; "
            f"choose one with --stat NAME"
        )
    picked(names, ",".join(wanted), source, "statistic")
    chosen, left = [], 0
    for (instance, trial), of_instance in values.items():
        of_split = [(name, stat_of_entry) for (part, name, _), stat_of_entry in of_instance.items() if part == used]
        left += not of_split
        scores: dict[str, Score] = dict.fromkeys(wanted)
        for name, (total, count) in of_split:
            if scores.get(name) is not None:
                raise InputError(
                    f"{source}, entry {first[instance, trial]}: found {named(name)} for several sub-splits of instance "
                    f"{named(instance)}, expected one"
                )
            if name in scores:
                scores[name] = total if total is None or count == 1 else total / count  # one value keeps its type
        if of_split:
            chosen.append(
                Item(instance, scores, run=trial, content=contents.get(instance, ""), line=first[instance, trial])
            )
    if left:
        notes.append(f"{source}: {left:,} instances outside the split {named(used)} are left out")
    return used, chosen


def _key(stat: Mapping[str, Any], where: str) -> _Key | None:
    """The split, the name and the sub-split of a statistic; None if it is one of perturbed instances."""
    name = field_of(stat, ["name", "name"], where, str)
    if stat["name"].get("perturbation") is not None:
        return None
    return label(stat["name"].get("split")), name, label(stat["name"].get("sub_split"))


def _sum(stat: Mapping[str, Any], where: str) -> _Sum:
    """The sum of a statistic and the number of its values; the sum is None if HELM recorded no number."""
    count = field_of(stat, ["count"], where, int)
    return items.score(stat.get("sum"), f"{where}, sum") if count else None, count


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
    example_options={"model": "m"},
)
