"""Names of systems and runs: of files, or as logs and tables call them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, takewhile
from pathlib import Path

from pairsig.io.errors import InputError, listed
from pairsig.readers import plain_name
from pairsig.readers.output import Output

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1


def of_files(groups: Sequence[Sequence[str]], declared: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Names of the system and of the run of every file, from groups of files with the runs of one system each."""
    stems = iter(_distinct(list(chain.from_iterable(groups))))
    of_groups = [[next(stems) for _ in group] for group in groups]
    systems = [_in_common(names) for names in of_groups]
    if len(set(systems)) < len(systems) or "" in systems:
        systems = [names[0] for names in of_groups]
    systems = [called or name for called, name in zip(declared or systems, systems, strict=True)]
    runs = [[str(number + 1) if len(group) > 1 else "" for number in range(len(group))] for group in groups]
    named = [[name] * len(group) for name, group in zip(systems, groups, strict=True)]
    return list(chain.from_iterable(named)), list(chain.from_iterable(runs))


def _in_common(names: Sequence[str]) -> str:
    """The common prefix of names of runs, without part of a number or a separator at its end."""
    if len(names) == 1:
        return names[0]
    prefix = names[0][: _n_shared(names)]
    if any(name[len(prefix) :][:1].isdigit() for name in names):
        prefix = prefix.rstrip("0123456789")
    return prefix.rstrip("-_./ ")


def _distinct(paths: Sequence[str]) -> Sequence[str]:
    """Distinct names, one per system: the file's name without suffixes or with them, else the folders that differ."""
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times, expected different files")
    files = [Path(path).name for path in paths]
    stems = [_SUFFIX.sub("", plain_name(name)) for name in files]
    parts = [Path(path).parts for path in paths]
    first, last = _n_shared(parts), _n_shared([names[::-1] for names in parts])
    different = ["/".join(names[first : len(names) - last]) for names in parts]
    return next(names for names in (stems, files, different, paths) if len(set(names)) == len(names))


def _n_shared(sequences: Sequence[Sequence[str]]) -> int:
    """How many entries all of them begin with."""
    return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, zip(*sequences, strict=False)))


def of_outputs(
    files: Sequence[Sequence[Output]], systems: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the system and the run of every output: those in a log or a single file, else those of the files."""
    for of_file, run in zip(files, runs, strict=True):
        in_file = list(dict.fromkeys(part.system for part in of_file))
        if len(in_file) > 1 and len(files) > 1:
            raise InputError(f"{of_file[0].source}: found the systems {listed(in_file)}, expected one system per file")
        if run and of_file[0].run:
            several = f"found the runs {listed(part.run for part in of_file)}"
            raise InputError(
                f"{of_file[0].source}: {several}, expected one run per file if several are runs of a system"
            )
    parts = [(part, name, run) for of_file, name, run in zip(files, systems, runs, strict=True) for part in of_file]
    if all(part.is_log for part, *_ in parts):
        called = _as_logged(files, systems)
    elif len(files) == 1 and all(part.system for part in files[0]):
        called = [part.system for part in files[0]]
    else:
        called = [name for _, name, _ in parts]
    return called, [part.run or run for part, _, run in parts]


def _as_logged(files: Sequence[Sequence[Output]], systems: Sequence[str]) -> list[str]:
    """The name that its log gives to the system of every output, with that of the file for systems of the same name.

    Files with different tasks of one of several models are of one system.
    """
    tasks: dict[str, list[str]] = {}
    for of_file in files:
        tasks.setdefault(of_file[0].system, []).extend({part.task for part in of_file})
    first_file: dict[str, str] = {}
    keys: list[tuple[str, str]] = []
    for of_file, name in zip(files, systems, strict=True):
        model = of_file[0].system
        if len(tasks) > 1 and len(set(tasks[model])) == len(tasks[model]):
            name = first_file.setdefault(model, name)
        other = next((system for system, file in keys if file == name and system != model), "")
        if other and len(files) > 1:
            raise InputError(f"{of_file[0].source} contains {model}, expected a run of {other} as in the previous file")
        keys += [(part.system, name) for part in of_file]
    times = Counter(system for system, _ in dict.fromkeys(keys))
    return [f"{system} ({name})" if times[system] > 1 else system for system, name in keys]
