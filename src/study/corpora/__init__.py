"""Verify corpora, split them into segments, and resample training sets.

Each task has a module with three functions: `read` converts a file of a corpus to segments in the format of the task,
`blank` reduces a segment to the input of a base model, and `gold` to the reference for its output.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from os import fspath
from pathlib import Path, PurePosixPath
from types import ModuleType

import numpy as np

from pairsig.io import tables
from pairsig.io.choices import choose, sort_options
from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, matching, open_text
from study.training.training_sets import SIZES

_LINE = re.compile(r"([0-9a-f]{64}) [ *](?:\./)?(.+)")
"""A line of `sha256sum`; the asterisk marks binary mode."""


@dataclass(frozen=True)
class Segment:
    """One training or test instance of a corpus, with its source if the corpus contains it."""

    text: str  # in the format of the task, without the final line ends
    document: str = ""
    domain: str = ""


TASKS = {"dependency": "\n\n", "constituency": "\n", "alignment": "\n", "mt": "\n"}
"""Tasks with base models, each the name of a module in this package, with the end of a segment."""

PARALLEL = {"alignment": ("target", "links"), "mt": ("target",)}
"""Options of `read` with further files of the same segments."""

SELECTION = ("skip", "first", "hold_out", "held_out")
"""Parameters of `read` that select segments; each is a whole number."""


def document_of(path: AnyPath) -> str:
    """Name of a file, or of a member of an archive, without extensions."""
    name = PurePosixPath(fspath(path).rpartition("!")[2]).name
    return name.removesuffix(".gz").removesuffix(".xz").rpartition(".")[0] or name


def verify(folder: Path, sha256: str) -> dict[str, str]:
    """Verify the checksums of all files of a corpus, and return them.

    Parameters
    ----------
    folder
        Folder with `SHA256SUMS` (lines `digest  name`) and the files in it.
    sha256
        Checksum of `SHA256SUMS` itself, which identifies the whole corpus.

    Returns
    -------
    SHA-256 digest of each file, by name.
    """
    sums = folder / "SHA256SUMS"
    if not sums.is_file():
        raise InputError(f"{sums}: found no file, expected the checksums of the corpus")
    digest_of_sums = _digest(sums)
    if digest_of_sums != sha256:
        raise InputError(
            f"{sums}: found the checksum {digest_of_sums}, expected {sha256}; it may be another version of the corpus"
        )
    verified = {}
    for number, line in enumerate(open_text(sums), start=1):
        match = _LINE.fullmatch(line.removesuffix("\n"))
        if match is None:
            raise InputError(f"{sums}, line {number}: found {line!r}, expected a SHA-256 digest and a file name")
        digest, name = match.groups()
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: found no file, expected it by {sums}, line {number}")
        if _digest(path) != digest:
            raise InputError(f"{path}: found the checksum {_digest(path)}, expected {digest} by {sums}, line {number}")
        verified[name] = digest
    if not verified:
        raise InputError(f"{sums}: found no lines, expected one line per file of the corpus")
    return verified


def read(
    task: str,
    files: Sequence[str],
    options: Mapping[str, str],
    *,
    skip: int = 0,
    first: int | None = None,
    hold_out: int = 0,
    held_out: int = 0,
) -> list[Segment]:
    """Read the segments of the files of a corpus, one file after another.

    Parameters
    ----------
    task
        A name in `TASKS`.
    files
        Paths as for `pairsig.readers`; `domain=path` sets the domain of the segments. Parallel text has several files,
        `source+target` or `source+target+links`.
    options
        Options of `read` of the task, as text.
    skip, first
        Number of segments to skip in every file, and maximal number to take from it.
    hold_out, held_out
        Select every n-th segment after `skip` in a file: `hold_out` skips these segments, and `held_out` takes only
        these. `held_out` also skips segments whose text occurs among the others, so that no test segment is in the
        training set.
    """
    if hold_out and held_out:
        raise InputError(f"found hold_out={hold_out} and held_out={held_out}, expected only one of them")
    reader = module(task)
    (chosen,) = sort_options(options, f"corpora of the task {task}", reader.read)
    segments = []
    for file in files:
        domain, _, paths = file.rpartition("=")
        taken: list[Segment] = []
        for part in [paths] if "+" in paths else matching(paths):
            path, *others = part.split("+")
            if len(others) > len(PARALLEL.get(task, ())):
                raise InputError(f"found {part} for the task {task}, expected fewer files joined by +")
            of_file = reader.read(path, **dict(zip(PARALLEL.get(task, ()), others, strict=False)), **chosen)
            left: Iterable[Segment] = islice(of_file, skip, None)
            if every := hold_out or held_out:
                left = _split(list(left), every)[bool(held_out)]
            taken += [replace(segment, domain=domain or segment.domain) for segment in islice(left, first)]
        if not taken:
            raise InputError(
                f"{paths}: found no segment{f' after the first {skip}' * bool(skip)}, expected at least one"
            )
        segments += taken
    return segments


def _split(segments: Sequence[Segment], every: int) -> tuple[list[Segment], list[Segment]]:
    """Split the segments of a file into those kept and those selected with another text."""
    remaining = [segment for number, segment in enumerate(segments, start=1) if number % every]
    known = {segment.text for segment in remaining}
    return remaining, [segment for segment in segments[every - 1 :: every] if segment.text not in known]


def join(task: str, texts: Sequence[str]) -> str:
    """Join segments to the text of a file."""
    return "".join(text + TASKS[task] for text in texts)


def cut(task: str, path: AnyPath) -> list[str]:
    """Split a file made by `join` into segments."""
    content = open_text(path).read()
    end = TASKS[choose(task, TASKS, "task")]
    if not content.endswith(end):
        raise InputError(
            f"{path}: found an incomplete segment at the end, expected complete ones for {task}; it may be truncated"
        )
    return content.removesuffix(end).split(end)


def resample(texts: Sequence[str], size: float, seed: int, name: str) -> list[str]:
    """Draw the segments of a training set with replacement.

    Parameters
    ----------
    texts
        The n segments of the full training set.
    size
        Number of segments to draw as a share of n: ceil(size · n).
    seed, name
        Draw i is ⌊wᵢ·n / 2⁶⁴⌋ for the i-th 64-bit word w of numpy's PCG64, seeded with `seed` and the bytes of
        `name`. The raw output of a bit generator is the same in every version of numpy and on every machine. The bias
        is below n / 2⁶⁴ and negligible.
    """
    words = np.random.PCG64([seed, *name.encode()]).random_raw(math.ceil(size * len(texts)))
    return [texts[int(word) * len(texts) >> 64] for word in np.atleast_1d(words)]


def resampled(texts: Sequence[str], training_set: str, name: str, seed: int) -> list[str]:
    """Draw the resampled training set `half-3` of a training set, or take `whole-1`, which is all of it."""
    size = name.partition("-")[0]
    return list(texts) if size == "whole" else resample(texts, SIZES[size], seed, f"{training_set}/{name}")


def write(task: str, segments: Sequence[Segment], /, **paths: str) -> None:
    """Write the segments of a training set, or the input, reference and documents of a test set, to files."""
    whole = [segment.text for segment in segments]
    texts = {
        "segments": lambda: join(task, whole),
        "input": lambda: join(task, [module(task).blank(text) for text in whole]),
        "reference": lambda: join(task, [module(task).gold(text) for text in whole]),
        "documents": lambda: "".join(f"{each.domain or '-'}\t{each.document or '-'}\n" for each in segments),
    }
    for kind, path in paths.items():
        tables.write_text(texts[kind](), path)


def module(task: str) -> ModuleType:
    """Import the module of a task, with the functions `read`, `blank` and `gold`."""
    return import_module(f"study.corpora.{choose(task, TASKS, 'task')}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
