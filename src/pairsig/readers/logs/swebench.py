"""Read reports of SWE-bench and related benchmarks, which list the ids of instances by outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from os import fspath
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
_ALL = ("submitted_ids", "completed_ids", "generated", "with_logs", "applied")
_VERSIONS = (1, 2)
_RUN_ID = re.compile(r"(?<=.)\.[^.]*[A-Za-z_-][^.]*$")  # `.my-run`, but not the `.1` of gpt-4.1
_DATE = re.compile(r"^(?:19|20)\d{6}[_-]")
_REPO = re.compile(r"(?P<repo>.+)-\d+")


def read(
    path: AnyPath, *, instances: str | None = None, document: str | None = None, systems: str | None = None
) -> tuple[Output, ...]:
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
    document
        `repo` uses the repository as the document of an instance, for `--unit document`.
    systems
        Names of the systems to read from a folder, separated by commas.

    Returns
    -------
    Counts, one per system; the metric `resolved` is the share of resolved instances. The repository is the domain.
    """
    if document not in (None, "repo"):
        raise InputError(f"{fspath(path)}: found --document {quoted(document)}, expected repo")
    source = Path(path)
    files = [source]
    if source.is_dir():
        details = items.files_below(source, "per_instance_details.json")
        files = details or items.files_below(source, "results.json") or sorted(source.glob("*.json"))
    if not files:
        raise InputError(f"{source}: found no report in the folder, expected MODEL.RUN_ID.json or results.json")
    all_of_them = None if instances is None else _ids_in(instances)
    named_files = [(_name(file), file) for file in files]
    chosen = picked((name for name, _ in named_files), systems, str(source), "system")
    named_files.sort(key=lambda entry: chosen.index(entry[0]) if entry[0] in chosen else len(chosen))
    chosen_files = [(name, file) for name, file in named_files if name in chosen]
    parts = (_read(file, name, all_of_them, document == "repo") for name, file in chosen_files)
    return tuple(chain.from_iterable(parts))


def _read(path: Path, name: str, instances: list[str] | None, by_repo: bool) -> tuple[Output, ...]:
    source = str(path)
    report = field_of(read_json(path), [], source, dict)
    verdicts, listed_all = _verdicts(report, source)
    notes: list[str] = []
    if instances is not None:
        if unlisted := [instance for instance in verdicts if instance not in set(instances)]:
            raise InputError(
                f"{source}: found {len(unlisted):,} instances outside the test set ({listed(unlisted[:3])}), expected "
                f"only those in the list of instances"
            )
        verdict_of_others = 0 if not listed_all else None
        verdicts = {instance: verdicts.get(instance, verdict_of_others) for instance in instances}
    elif not listed_all:
        raise InputError(
            f"{source}: found no list of unresolved instances, expected one; name a file with all ids by --"
            f"instances=FILE"
        )
    total = report.get("total_instances")
    if isinstance(total, int) and total != len(verdicts):
        notes.append(f"{source}: the report lists only {len(verdicts):,} of its {total:,} instances")
    repos = {instance: match["repo"] if (match := _REPO.fullmatch(instance)) else "" for instance in verdicts}
    return outputs(
        source,
        name,
        [
            Item(instance, {"resolved": verdict}, domain=repos[instance], document=repos[instance] if by_repo else "")
            for instance, verdict in verdicts.items()
        ],
        notes=notes,
    )


def _verdicts(report: Mapping[str, Any], source: str) -> tuple[dict[str, int | None], bool]:
    """1, 0 or None for each listed instance; and whether unresolved instances are listed."""
    if report and all(isinstance(value, dict) and "resolved" in value for value in report.values()):
        verdict_of: dict[str, int | None] = {}
        for name, value in report.items():
            verdict = value["resolved"]
            if not isinstance(verdict, bool | None):
                raise InputError(
                    f"{source}: found {quoted(verdict)} as resolved for {named(name)}, expected true or false"
                )
            verdict_of[name] = None if verdict is None else int(verdict)
        return verdict_of, True
    version = report.get("schema_version", 1)
    if version not in _VERSIONS:
        raise InputError(
            f"{source}: found schema_version {quoted(version)}, expected one of {', '.join(map(str, _VERSIONS))}"
        )
    lists = {
        name: _ids(report[name], f"{source}, {name}")
        for name in (*_RESOLVED, *_FAILED, *_WITHOUT, *_ALL)
        if name in report
    }
    resolved = next((lists[name] for name in _RESOLVED if name in lists), None)
    if resolved is None:
        raise InputError(
            f"{source}: found the keys {listed(report) or '(none)'}, expected resolved_ids or resolved, as in SWE-bench"
        )
    for name, ids in lists.items():
        stated = report.get(f"{name.removesuffix('_ids')}_instances")
        if isinstance(stated, int) and stated != len(ids):
            raise InputError(f"{source}: found {len(ids):,} {name}, expected {stated:,} as the report says elsewhere")
    failed = set(chain.from_iterable(lists.get(name, ()) for name in _FAILED))
    unknown = [name for name in report if name.endswith("_ids") and name not in lists]
    lists |= {name: _ids(report[name], f"{source}, {name}") for name in unknown}
    without = set(chain.from_iterable(lists.get(name, ()) for name in (*_WITHOUT, *unknown)))
    if contradictory := set(resolved) & (failed | without):
        raise InputError(
            f"{source}: found {named(min(contradictory))} both as resolved and as not resolved, expected only one"
        )
    verdicts: dict[str, int | None] = dict.fromkeys(chain.from_iterable(lists.values()))
    for instance in verdicts:
        verdicts[instance] = 1 if instance in set(resolved) else None if instance in without else 0
    return verdicts, any(name in lists for name in ("unresolved_ids", "submitted_ids", "completed_ids", "generated"))


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
    if lines[0].startswith(("{", "[")):
        document = read_json(path)
        if isinstance(document, dict):
            return list(_verdicts(document, path)[0])
        return _ids(document, path)
    return _ids([line for line in lines if line], path)


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
