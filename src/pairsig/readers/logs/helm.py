"""Read the statistics of every instance from HELM's `per_instance_stats.json`, in the folder of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named
from pairsig.io.files import AnyPath, read_json
from pairsig.readers import Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Score, counted, field_of, label, names_of, part_of, picked
from pairsig.readers.system_counts import SystemCounts, TaskGroup, shared

FILE = "per_instance_stats.json"

_HEADLINES = (
    "exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "final_number_exact_match",
    "math_equiv", "math_equiv_chain_of_thought", "chain_of_thought_correctness", "ifeval_strict_accuracy",
    "omni_math_accuracy", "wildbench_score_rescaled", "f1_score", "rouge_l", "rouge_2", "bleu_4",
)  # fmt: skip
"""Statistics on HELM's own leaderboards, the default; others (runtimes, numbers of tokens) must be requested."""


def read(
    path: AnyPath,
    *,
    stat: str | None = None,
    split: str | None = None,
    model: str | None = None,
    lower_is_better: str | None = None,
) -> tuple[SystemCounts, ...]:
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
    lower_is_better
        Statistics that are errors or costs, separated by commas.

    Returns
    -------
    Counts, one per model, HELM run and trial; each statistic is the mean over instances, as in `stats.json`. The groups
    are the `groups` in `run_spec.json` with several runs, over whose means HELM's leaderboards average.

    Raises
    ------
    InputError
        If the file has another structure, an instance has a statistic twice in a trial, a requested statistic or split
        is missing, or the name of the model is unknown.
    """
    source = fspath(path)
    paths = items.files_below(path, FILE) if Path(source).is_dir() else [Path(source)]
    if not paths:
        raise InputError(f"{source}: found no {FILE} in the folder, expected at least one")
    models: dict[str, dict[str, tuple[SystemCounts, ...]]] = {}
    members: dict[tuple[str, str], list[str]] = {}
    for one in paths:
        name, run, groups = _names(one, model)
        own = models.setdefault(name, {})
        if run in own:
            raise InputError(
                f"{source}: found the run {named(run)} of {named(name)} in {own[run][0].source} and in {one}, expected "
                "it once"
            )
        notes: list[str] = []
        own[run] = counted(
            str(one),
            name,
            _items(one, stat, split, notes),
            lower_is_better=names_of(lower_is_better),
            notes=notes,
            place="entry",
            design="crossed",
            task=run,
        )
        for group in groups:
            members.setdefault((name, group), []).append(run)
    for (name, group), runs in members.items():
        own = models[name]
        metrics = [metric.name for metric in shared([own[run][0] for run in runs])] if len(runs) > 1 else []
        more = tuple(TaskGroup(group, metric, tuple(runs), frozenset(["tasks"])) for metric in metrics)
        own[runs[0]] = tuple(replace(part, groups=part.groups + more) for part in own[runs[0]])
    return tuple(part for own in models.values() for parts in own.values() for part in parts)


def _names(path: Path, model: str | None) -> tuple[str, str, list[str]]:
    """The model, the run without it, and the groups to which it belongs."""
    beside = path.parent / "run_spec.json"
    spec = read_json(beside) if beside.exists() else {}
    run = part_of(spec, ["name"], str(beside), str) or path.parent.name
    called, deployment = (
        part_of(spec, ["adapter_spec", name], str(beside), str) for name in ("model", "model_deployment")
    )
    in_name = re.search(r"(?:^|[:,])model=([^,]+)", run)
    found = model or called or deployment or (in_name[1] if in_name else "")
    if not found:
        raise InputError(
            f"{path}: found the name of the model neither in run_spec.json nor in the name of the folder; set it with "
            f"--option model=NAME"
        )
    groups = [label(group) for group in part_of(spec, ["groups"], str(beside), list)]
    return found, re.sub(r"(?<=[:,])model=[^,]+,?|,model=[^,]+$", "", run).rstrip(":,"), groups


def _items(path: Path, stat: str | None, split: str | None, notes: list[str]) -> list[Item]:
    """Instances that are not perturbed; entries for the same instance are merged."""
    source = str(path)
    entries = field_of(read_json(path), [], source, list)
    values: dict[tuple[str, str], dict[tuple[str, str, str], Score]] = {}  # by split, statistic and sub-split
    first: dict[tuple[str, str], int] = {}
    perturbed = 0
    names: Counter[str] = Counter()
    splits: Counter[str] = Counter()
    for number, entry in enumerate(entries, start=1):
        where = f"{source}, entry {number}"
        instance = label(field_of(entry, ["instance_id"], where, (str, int)))
        trial = label(field_of(entry, ["train_trial_index"], where, int))
        stats: Sequence[Mapping[str, Any]] = field_of(entry, ["stats"], where, list)
        if entry.get("perturbation") is not None:
            perturbed += 1
            continue
        own = values.setdefault((instance, trial), {})
        first.setdefault((instance, trial), number)
        for one in stats:
            name = field_of(one, ["name", "name"], where, str)
            part = label(one["name"].get("split"))
            if one["name"].get("perturbation") is not None:
                continue
            key = part, name, label(one["name"].get("sub_split"))
            if key in own:
                raise InputError(
                    f"{where}: found {named(name)} again for instance {named(instance)} in trial {trial}, expected "
                    f"it once"
                )
            own[key] = _value(one, where)
            names[name] += 1
            splits[part] += 1
    if perturbed:
        notes.append(f"{source}: {perturbed:,} entries for perturbed instances are left out")
    if split is None and len(splits) > 1 and "test" not in splits:
        raise InputError(f"{source}: found the splits {listed(splits)}; choose one with --option split=NAME")
    (used,) = picked(splits, split or ("test" if "test" in splits else None), source, "split")[:1] or [""]
    wanted = names_of(stat) or [name for name in _HEADLINES if names[name]]
    if not wanted:
        raise InputError(
            f"{source}: found the statistics {listed(sorted(names)) or '(none)'}, but none from HELM's leaderboards; "
            f"choose one with --option stat=NAME"
        )
    picked(names, ",".join(wanted), source, "statistic")
    found, left = [], 0
    for (instance, trial), own in values.items():
        of_split = [(name, value) for (part, name, _), value in own.items() if part == used]
        left += not of_split
        scores: dict[str, Score] = dict.fromkeys(wanted)
        for name, value in of_split:
            if scores.get(name) is not None:
                raise InputError(
                    f"{source}, entry {first[instance, trial]}: found {named(name)} for several sub-splits of instance "
                    f"{named(instance)}, expected one"
                )
            if name in scores:
                scores[name] = value
        if of_split:
            found.append(Item(instance, scores, run=trial, line=first[instance, trial]))
    if left:
        notes.append(f"{source}: {left:,} instances outside the split {named(used)} are left out")
    return found


def _value(stat: Mapping[str, Any], where: str) -> Score:
    """The value of a statistic for one instance, or None if HELM recorded no number."""
    count = field_of(stat, ["count"], where, int)
    if count == 0:
        return None
    try:
        total = items.score(stat.get("sum"))
    except ValueError:
        raise InputError(f"{where}: found the sum {stat.get('sum')!r:.60}, expected a number") from None
    return None if total is None else total if count == 1 else total / count


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
