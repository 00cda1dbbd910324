"""Read reports of SWE-bench and related benchmarks, which list the ids of instances by outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import AnyPath, read_json
from pairsig.readers import Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, field_of, outputs, picked
from pairsig.readers.output import Output
from pairsig.readers.outputs import text

_RESOLVED = ("resolved_ids", "resolved")
_FAILED = ("unresolved_ids", "empty_patch_ids", "no_apply", "test_errored", "test_timeout", "reset_failed")
"""Outcomes that count as not resolved, including empty patches and patches that cannot be applied."""
_WITHOUT = ("incomplete_ids", "error_ids", "no_generation", "no_logs", "install_fail")
"""Outcomes without a score: the instance was not submitted, or it could not be run."""
_SUBMITTED = ("submitted_ids", "completed_ids", "generated")
_VERSIONS = (1, 2)
_RUN_ID = re.compile(r"(?<=.)\.[^.]*[A-Za-z_-][^.]*$")  # `.my-run`, but not the `.1` of gpt-4.1
_DATE = re.compile(r"^(?:19|20)\d{6}[_-]")


def read(path: AnyPath, *, instances: str | None = None, systems: str | None = None) -> tuple[Output, ...]:
    """Read which instances were resolved, from one report or a folder of submissions.

    An instance with an answer that does not resolve it scores 0, even if the patch is empty. An instance that was not
    submitted, or could not be run, has no score: `--missing wrong` counts it as 0, as SWE-bench does, and `--missing
    drop` leaves it out.

    Parameters
    ----------
    path
        `MODEL.RUN_ID.json`, as `run_evaluation` writes it; `results.json` or `per_instance_details.json` of a
        submission to the leaderboard; or a folder with such files, one per system.
    instances
        A file with the ids of the test set, one per line, or a report that lists them. Required for reports that do not
        list unresolved instances.
    systems
        Names of the systems to read from a folder, separated by commas.

    Returns
    -------
    Counts, one per system; the metric `resolved` is the share of resolved instances. The repository of an instance is
    its document, for `--unit document`, and its domain.
    """
    source = Path(path)
    files = [source]
    if source.is_dir():
        in_folders = (items.files_below(source, name) for name in ("per_instance_details.json", "results.json"))
        files = next(filter(None, in_folders), sorted(source.glob("*.json")))
    if not files:
        raise InputError(f"{source}: found no report in the folder, expected MODEL.RUN_ID.json or results.json")
    ids = None if instances is None else _ids_in(instances)
    chosen = picked(map(_name, files), systems, str(source), "system")
    reports = sorted((chosen.index(_name(file)), file) for file in files if _name(file) in chosen)
    return tuple(chain.from_iterable(_read(file, _name(file), ids) for _, file in reports))


def _read(path: Path, name: str, instances: list[str] | None) -> tuple[Output, ...]:
    source = str(path)
    report = field_of(read_json(path), [], source, dict)
    verdicts, lists_all = _verdicts(report, source)
    if instances is None and not lists_all:
        raise InputError(
            f"{source}: found no list of unresolved instances, expected one\n--instances names a file of all ids"
        )
    if instances is not None:
        if unlisted := [instance for instance in verdicts if instance not in set(instances)]:
            problem = f"{len(unlisted):,} instances outside the test set ({listed(unlisted[:3])})"
            raise InputError(f"{source}: found {problem}, expected only those in the list of instances")
        verdicts = {instance: verdicts.get(instance, None if lists_all else 0) for instance in instances}
    total = report.get("total_instances")
    is_short = isinstance(total, int) and total != len(verdicts)
    notes = [f"{source}: the report lists only {len(verdicts):,} of its {total:,} instances"] if is_short else []
    of_repos = []
    for instance, verdict in verdicts.items():
        match = re.fullmatch(r"(.+)-\d+", instance)
        repo = match[1] if match else ""
        of_repos.append(Item(instance, {"resolved": verdict}, domain=repo, document=repo))
    return outputs(source, name, of_repos, notes=notes)


def _verdicts(report: Mapping[str, Any], source: str) -> tuple[dict[str, int | None], bool]:
    """1, 0 or None for each listed instance; and whether unresolved instances are listed."""
    if report and all(isinstance(value, dict) and "resolved" in value for value in report.values()):
        outcomes = {name: value["resolved"] for name, value in report.items()}
        for name, outcome in outcomes.items():
            if not isinstance(outcome, bool | None):
                problem = f"{quoted(outcome)} as resolved for {named(name)}"
                raise InputError(f"{source}: found {problem}, expected true or false")
        return {name: None if outcome is None else int(outcome) for name, outcome in outcomes.items()}, True
    if (version := report.get("schema_version", 1)) not in _VERSIONS:
        raise InputError(f"{source}: found schema_version {quoted(version)}, expected one of 1, 2")
    known = (*_RESOLVED, *_FAILED, *_WITHOUT, *_SUBMITTED, "with_logs", "applied")
    unknown = [name for name in report if name.endswith("_ids") and name not in known]
    lists = {name: _ids(report[name], f"{source}, {name}") for name in (*known, *unknown) if name in report}
    resolved = next((set(lists[name]) for name in _RESOLVED if name in lists), None)
    if resolved is None:
        problem = f"the keys {listed(report) or '(none)'}"
        raise InputError(f"{source}: found {problem}, expected resolved_ids or resolved, as in SWE-bench")
    for name, ids in lists.items():
        stated = report.get(f"{name.removesuffix('_ids')}_instances")
        if isinstance(stated, int) and stated != len(ids):
            raise InputError(f"{source}: found {len(ids):,} {name}, expected {stated:,} as the report says elsewhere")
    failed, without = (set(chain.from_iterable(lists.get(name, ()) for name in names))
                       for names in (_FAILED, (*_WITHOUT, *unknown)))  # fmt: skip
    if both := resolved & (failed | without):
        raise InputError(f"{source}: found {named(min(both))} both as resolved and as not resolved, expected only one")
    verdicts: dict[str, int | None] = dict.fromkeys(chain.from_iterable(lists.values()))
    for instance in verdicts:
        verdicts[instance] = 1 if instance in resolved else None if instance in without else 0
    return verdicts, any(name in lists for name in ("unresolved_ids", *_SUBMITTED))


def _ids(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(instance, str) for instance in value):
        raise InputError(f"{where}: found {quoted(value)}, expected a list of ids")
    if len(set(value)) < len(value):
        twice = next(instance for instance in value if value.count(instance) > 1)
        raise InputError(f"{where}: found {named(twice)} twice, expected it once")
    return value


def _ids_in(path: str) -> list[str]:
    """The ids of a test set: one per line, a JSON list, or all that a report lists."""
    lines = [line.strip() for line in text.read(path)]
    if not lines[0].startswith(("{", "[")):
        return _ids([line for line in lines if line], path)
    document = read_json(path)
    return list(_verdicts(document, path)[0]) if isinstance(document, dict) else _ids(document, path)


def _name(path: Path) -> str:
    """The model of a report, or the name of a submission without its date."""
    if path.name in ("results.json", "per_instance_details.json"):
        folder = path.resolve().parent
        return _DATE.sub("", (folder.parent if folder.name == "results" else folder).name)
    return _DATE.sub("", _RUN_ID.sub("", path.name.removesuffix(".json"))).replace("__", "/")


READER = Reader(
    read=read,
    content="reports of SWE-bench, or a folder of submissions",
    metrics="share of resolved instances",
    recognizes=lambda file: (
        not file.is_json_lines  # a table, which may have a column `resolved`
        and begins(r'\{.*"(?:total_instances|resolved_ids|no_generation|resolved)"\s*:')(file)
    ),
    in_folder=("results.json", "per_instance_details.json"),
    example="""\
{"total_instances": 4, "resolved_instances": 1, "schema_version": 2,
 "submitted_ids": ["a__b-1", "a__b-2", "a__b-3"],
 "resolved_ids": ["a__b-1"], "unresolved_ids": ["a__b-2"], "error_ids": ["a__b-3"], "incomplete_ids": ["a__b-4"]}
""",
    example_name="model.run.json",
)
