"""Reports of SWE-bench and its relatives: lists of the ids of instances, by what became of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, listed, named, quoted
from pairsig.files import AnyPath, read_json
from pairsig.readers import items, text
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Log, field_of, picked

_RESOLVED = ("resolved_ids", "resolved")
_FAILED = ("unresolved_ids", "empty_patch_ids", "no_apply", "test_errored", "test_timeout", "reset_failed")
"""Answers that resolve nothing: among them those without a patch, and those whose patch cannot be applied."""
_WITHOUT = ("incomplete_ids", "error_ids", "no_generation", "no_logs", "install_fail")
"""Instances without a verdict: not submitted, or failed to run."""
_ALL = ("submitted_ids", "completed_ids", "generated", "with_logs", "applied")
_VERSIONS = (1, 2)
_RUN_ID = re.compile(r"(?<=.)\.[^.]*[A-Za-z_-][^.]*$")  # `.my-run`, but not the `.1` of gpt-4.1
_DATE = re.compile(r"^(?:19|20)\d{6}[_-]")
_REPO = re.compile(r"(?P<repo>.+)-\d+")


def read(
    path: AnyPath, *, instances: str | None = None, cluster: str | None = None, systems: str | None = None
) -> tuple[Counted, ...]:
    """Whether each instance was resolved, of one system or of a folder of submissions.

    An instance that was answered, and not resolved, is 0, also where the patch is empty. One that was not submitted, or
    could not be run, has no score: `--missing wrong` counts it as SWE-bench does, `--missing drop` leaves it out.

    Parameters
    ----------
    path
        `MODEL.RUN_ID.json`, as `run_evaluation` writes it; `results.json` or `per_instance_details.json` of a
        submission to the leaderboard; or a folder with such files, one a system.
    instances
        A file with the ids of the test set: one a line, or a report that lists them. Needed for reports that do not
        list the instances that were not resolved.
    cluster
        `repo`: instances of one repository belong together, for `--unit document`.
    systems
        Of a folder: only these, with commas, the base first.

    Returns
    -------
    Counts, one for each system; the metric `resolved` is the share of instances. The repository is the domain.

    Raises
    ------
    InputError
        For a file of another form or version, an id that is both resolved and not, and a number that is not that of its
        list.
    """
    if cluster not in (None, "repo"):
        raise InputError(f"{fspath(path)}: found the option cluster={quoted(cluster)}, expected repo")
    source = Path(path)
    files = [source]
    if source.is_dir():
        details = items.files_below(source, "per_instance_details.json")
        files = details or items.files_below(source, "results.json") or sorted(source.glob("*.json"))
    if not files:
        raise InputError(f"{source}: found no report in the folder, expected MODEL.RUN_ID.json or results.json")
    all_of_them = None if instances is None else _ids_in(instances)
    found = [(_name(file), file) for file in files]
    chosen = picked((name for name, _ in found), systems, str(source), "system")
    found.sort(key=lambda one: chosen.index(one[0]) if one[0] in chosen else len(chosen))
    return tuple(
        part for name, file in found if name in chosen for part in _read(file, name, all_of_them, cluster == "repo")
    )


def _read(path: Path, name: str, instances: list[str] | None, by_repo: bool) -> tuple[Counted, ...]:
    source = str(path)
    report = field_of(read_json(path), [], source, dict)
    verdicts, listed_all = _verdicts(report, source)
    notes: list[str] = []
    if instances is not None:
        if other := [one for one in verdicts if one not in set(instances)]:
            raise InputError(
                f"{source}: found {len(other):,} instances that are not in the list of them ({listed(other[:3])}), "
                f"expected those of the test set"
            )
        rest = 0 if not listed_all else None
        verdicts = {one: verdicts.get(one, rest) for one in instances}
    elif not listed_all:
        raise InputError(
            f"{source}: found the instances that were resolved and none that were not, expected a report that lists "
            f"all, or --option instances=FILE with their ids"
        )
    total = report.get("total_instances")
    if isinstance(total, int) and total != len(verdicts):
        notes.append(f"{source}: {len(verdicts):,} instances are listed, of {total:,} that it says there are")
    repos = {one: match["repo"] if (match := _REPO.fullmatch(one)) else "" for one in verdicts}
    return Log(
        source,
        name,
        [
            Item(one, {"resolved": verdict}, domain=repos[one], document=repos[one] if by_repo else "")
            for one, verdict in verdicts.items()
        ],
        notes=notes,
    ).counted()


def _verdicts(report: Mapping[str, Any], source: str) -> tuple[dict[str, int | None], bool]:
    """Of each instance listed 1, 0 or None; and whether those that were not resolved are listed."""
    if report and all(isinstance(value, dict) and "resolved" in value for value in report.values()):
        found: dict[str, int | None] = {}
        for name, value in report.items():
            verdict = value["resolved"]
            if not isinstance(verdict, bool | None):
                raise InputError(
                    f"{source}: found {quoted(verdict)} as resolved of {named(name)}, expected true or false"
                )
            found[name] = None if verdict is None else int(verdict)
        return found, True
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
            f"{source}: found {listed(report) or 'nothing'}, expected resolved_ids or resolved, as in SWE-bench"
        )
    for name, ids in lists.items():
        told = report.get(f"{name.removesuffix('_ids')}_instances")
        if isinstance(told, int) and told != len(ids):
            raise InputError(f"{source}: found {len(ids):,} {name}, expected {told:,} as it says")
    failed = {one for name in _FAILED for one in lists.get(name, ())}
    without = {one for name in _WITHOUT for one in lists.get(name, ())}
    if both := set(resolved) & (failed | without):
        raise InputError(f"{source}: found {named(min(both))} both resolved and not, expected one of them")
    verdicts: dict[str, int | None] = dict.fromkeys(one for ids in lists.values() for one in ids)
    for one in verdicts:
        verdicts[one] = 1 if one in set(resolved) else None if one in without else 0
    return verdicts, any(name in lists for name in ("unresolved_ids", "submitted_ids", "completed_ids", "generated"))


def _ids(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{where}: found {quoted(value)}, expected a list of ids")
    if len(set(value)) < len(value):
        twice = next(one for one in value if value.count(one) > 1)
        raise InputError(f"{where}: found {named(twice)} twice, expected it once")
    return value


def _ids_in(path: str) -> list[str]:
    """The ids of a test set: one a line, a list of JSON, or all that a report lists."""
    lines = [line.strip() for line in text.read(path)]
    if lines[0].startswith(("{", "[")):
        document = read_json(path)
        if isinstance(document, dict):
            return list(_verdicts(document, path)[0])
        return _ids(document, path)
    return _ids([line for line in lines if line], path)


def _name(path: Path) -> str:
    """The model of a report, or the submission that a file is of, without the date before it."""
    if path.name in ("results.json", "per_instance_details.json"):
        folder = path.resolve().parent
        return _DATE.sub("", (folder.parent if folder.name == "results" else folder).name)
    return _DATE.sub("", _RUN_ID.sub("", path.name.removesuffix(".json"))).replace("__", "/")
