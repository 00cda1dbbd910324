"""Names of systems and runs: of files, or as logs and tables call them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from pathlib import Path

from pairsig.io.errors import InputError, listed
from pairsig.readers.cells import SUFFIXES_OF_COMPRESSION
from pairsig.readers.output import Output

_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1


def of_files(groups: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Names of the method and of the run of every file."""
    stems = iter(_names(list(chain.from_iterable(groups))))
    named = [[next(stems) for _ in group] for group in groups]
    methods = [_in_common(names) for names in named]
    if len(set(methods)) < len(methods) or "" in methods:
        methods = [names[0] for names in named]
    runs: list[str] = []
    for names in named:
        runs += [str(number) for number in range(1, len(names) + 1)] if len(names) > 1 else [""]
    return _repeated(methods, named), runs


def _repeated(methods: Iterable[str], of_methods: Iterable[Sequence[object]]) -> list[str]:
    """The name of each method as often as it has files or results."""
    return list(chain.from_iterable([name] * len(its) for name, its in zip(methods, of_methods, strict=True)))


def _in_common(names: Sequence[str]) -> str:
    """The common prefix of names of runs, without part of a number or a separator at its end."""
    if len(names) == 1:
        return names[0]
    prefix = names[0][: _n_shared(names)]
    if any(name[len(prefix) :][:1].isdigit() for name in names):
        prefix = prefix.rstrip("0123456789")
    return prefix.rstrip("-_./ ")


def _names(paths: Sequence[str]) -> Sequence[str]:
    """Distinct names, one per system: the file's name without suffixes or with them, else the folders that differ."""
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times, expected different files")
    files = [Path(path).name for path in paths]
    stems = [_SUFFIX.sub("", _plain(name)) for name in files]
    return next(names for names in (stems, files, _different(paths), paths) if len(set(names)) == len(names))


def _different(paths: Sequence[str]) -> list[str]:
    """The parts of paths without those that all begin or end with."""
    parts = [Path(path).parts for path in paths]
    first, last = _n_shared(parts), _n_shared([names[::-1] for names in parts])
    return ["/".join(names[first : len(names) - last]) for names in parts]


def _n_shared(sequences: Sequence[Sequence[str]]) -> int:
    """How many entries all of them begin with."""
    return sum(1 for _ in takewhile(lambda entries: len(set(entries)) == 1, zip(*sequences, strict=False)))


def of_outputs(
    files: Sequence[Sequence[Output]], methods: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the method and the run of every system: those in a single file, else those of the files."""
    for of_file, run in zip(files, runs, strict=True):
        systems = list(dict.fromkeys(part.system for part in of_file))
        if len(systems) > 1 and len(files) > 1:
            raise InputError(f"{of_file[0].source}: found the systems {listed(systems)}, expected one system per file")
        if run and of_file[0].run:
            raise InputError(
                f"{of_file[0].source}: found the runs {listed(part.run for part in of_file)}, expected one run per "
                "file if several files are runs of a system"
            )
    if all(part.is_log for part in chain.from_iterable(files)):
        named = _as_logged(files, methods)
    elif len(files) == 1 and all(part.system for part in files[0]):
        named = [part.system for part in files[0]]
    else:
        named = _repeated(methods, files)
    runs_of_files = zip(chain.from_iterable(files), _repeated(runs, files), strict=True)
    return named, [part.run or run for part, run in runs_of_files]


def _as_logged(files: Sequence[Sequence[Output]], methods: Sequence[str]) -> list[str]:
    """Names of the method of every system in logs; files with the same entry in `methods` are runs of it.

    A method has the name that its logs give to the system. Namesakes get the settings in which they differ, and where
    these are the same, the entry in `methods`.
    """
    settings_of: dict[tuple[str, str], Mapping[str, str]] = {}
    methods = _same_model(files, methods)
    for parts, method in zip(files, methods, strict=True):
        for part in parts:
            systems = [system for system, known_method in settings_of if known_method == method]
            others = [system for system in systems if system != part.system]
            if others and len(files) > 1:
                raise InputError(
                    f"{part.source} contains {part.system}, expected a run of {others[0]} as in the previous file"
                )
            settings_of.setdefault((part.system, method), part.settings)
    called = {}
    for system, method in settings_of:
        namesakes = [settings for (name, _), settings in settings_of.items() if name == system]
        keys = dict.fromkeys(chain.from_iterable(namesakes))
        differing = [key for key in keys if len({settings.get(key, "") for settings in namesakes}) > 1]
        own_settings = settings_of[system, method]
        description = ", ".join(f"{key}={own_settings[key]}" for key in differing if own_settings.get(key))
        called[system, method] = f"{system} ({description})" if description else system
    times = Counter(called.values())
    called = {key: f"{name} ({key[1]})" if times[name] > 1 else name for key, name in called.items()}
    methods_of_files = zip(chain.from_iterable(files), _repeated(methods, files), strict=True)
    return [called[part.system, method] for part, method in methods_of_files]


def _same_model(files: Sequence[Sequence[Output]], methods: Sequence[str]) -> Sequence[str]:
    """The names in `methods`, with the same one for files with different tasks of one of several models."""
    tasks: dict[str, list[str]] = {}
    for parts in files:
        tasks.setdefault(parts[0].system, []).extend({part.task for part in parts})
    name_of: dict[str, str] = {}
    names = []
    for parts, name in zip(files, methods, strict=True):
        model = parts[0].system
        different_tasks = len(set(tasks[model])) == len(tasks[model])
        names.append(name_of.setdefault(model, name) if len(tasks) > 1 and different_tasks else name)
    return names


def _plain(name: str) -> str:
    """A name without the suffix of a compression."""
    for suffix in SUFFIXES_OF_COMPRESSION:
        name = name.removesuffix(suffix)
    return name
