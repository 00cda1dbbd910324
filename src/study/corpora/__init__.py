"""Corpora: verified, cut into segments, and resampled into training sets.

What is particular to a task is in the module of its name. Each has `read`, which turns a file of a corpus into
segments in the task's own format, `blank`, which leaves of a segment what a base model may see at prediction, and
`gold`, which leaves what its output is held against.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from pairsig.choices import choose, sort_options
from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text

_LINE = re.compile(r"([0-9a-f]{64}) [ *](?:\./)?(.+)")
"""What `sha256sum` prints for a file; the asterisk stands for its binary mode."""


@dataclass(frozen=True)
class Segment:
    """One training or test instance of a corpus.

    Attributes
    ----------
    text
        In the task's own format, without the line ends that close it.
    document, domain
        Where it is from, as far as the corpus tells.
    """

    text: str
    document: str = ""
    domain: str = ""


class _Task(Protocol):
    """The module of a task."""

    def read(self, path: AnyPath, **options: Any) -> Iterator[Segment]: ...

    def blank(self, text: str) -> str: ...

    def gold(self, text: str) -> str: ...


TASKS = {"dependency": "\n\n", "constituency": "\n", "alignment": "\n", "mt": "\n"}
"""The tasks whose base models are trained here, each the name of a module beside this one, with what ends a segment."""

PARALLEL = {"alignment": ("target", "links"), "mt": ("target",)}
"""Options of `read` that name further files of the same segments."""

SELECTION = ("skip", "first", "hold_out", "held_out")
"""Parameters of `read` that say which segments are taken; each is a whole number."""


def verify(folder: Path, sha256: str) -> dict[str, str]:
    """Checksums of all files of a corpus, verified.

    Parameters
    ----------
    folder
        Holds `SHA256SUMS` (lines `digest  name`) and the files it names.
    sha256
        Checksum of `SHA256SUMS` itself, so that one number stands for the whole corpus.

    Returns
    -------
    SHA-256 digest of each file by name.
    """
    sums = folder / "SHA256SUMS"
    if not sums.is_file():
        raise InputError(f"{sums} is missing: expected the corpus and its checksums there")
    found = _digest(sums)
    if found != sha256:
        raise InputError(f"{sums} has the checksum {found}, expected {sha256}: another version of the corpus?")
    verified = {}
    for number, line in enumerate(open_text(sums), start=1):
        match = _LINE.fullmatch(line.removesuffix("\n"))
        if match is None:
            raise InputError(f"{sums}, line {number}: found {line!r}, expected a SHA-256 digest and a file name")
        digest, name = match.groups()
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path} is missing: {sums}, line {number} lists it")
        if _digest(path) != digest:
            raise InputError(f"{path} has the checksum {_digest(path)}, expected {digest} ({sums}, line {number})")
        verified[name] = digest
    if not verified:
        raise InputError(f"{sums} is empty: expected a line a file of the corpus")
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
    """Segments of the files of a corpus, one file after another.

    Parameters
    ----------
    task
        A name in `TASKS`.
    files
        Paths as `pairsig.readers` takes them; `domain=path` says which domain the segments of a file are of. Parallel
        text is in several files, `source+target` or `source+target+links`.
    options
        Of the task's own `read`, as text.
    skip, first
        Leave out so many segments of every file, and take at most so many of what is taken of it.
    hold_out, held_out
        Of what `skip` leaves of a file, every so-manieth segment is held out: leave these out, or take these alone.
        A segment that was held out and whose text is also that of one that was not is never taken: a corpus that
        repeats itself would be tested on what it was trained on.
    """
    if hold_out and held_out:
        raise InputError(f"found hold_out={hold_out} and held_out={held_out}, expected one of them")
    module, chosen = _module(task), check(task, options)
    segments = []
    for file in files:
        domain, _, paths = file.rpartition("=")
        path, *others = paths.split("+")
        if len(others) > len(PARALLEL.get(task, ())):
            raise InputError(f"found {paths} for the task {task}, expected fewer files joined by +")
        found = module.read(path, **dict(zip(PARALLEL.get(task, ()), others, strict=False)), **chosen)
        left: Iterable[Segment] = islice(found, skip, None)
        if every := hold_out or held_out:
            left = _split(list(left), every)[bool(held_out)]
        taken = [replace(one, domain=domain or one.domain) for one in islice(left, first)]
        if not taken:
            raise InputError(f"{path}: found no segment{f' after the first {skip}' * bool(skip)}, expected some")
        segments += taken
    return segments


def _split(segments: Sequence[Segment], every: int) -> tuple[list[Segment], list[Segment]]:
    """What is kept of a file, and what is held out of it and has another text."""
    kept = [one for number, one in enumerate(segments, start=1) if number % every]
    known = {one.text for one in kept}
    return kept, [one for one in segments[every - 1 :: every] if one.text not in known]


def check(task: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Options of the task's own `read`, given as text, in their types."""
    (chosen,) = sort_options(options, f"corpora of the task {task}", _module(task).read)
    return chosen


def blank(task: str, text: str) -> str:
    """What a base model may see of a segment at prediction."""
    return _module(task).blank(text)


def gold(task: str, text: str) -> str:
    """What the output of a base model for a segment is held against."""
    return _module(task).gold(text)


def join(task: str, texts: Sequence[str]) -> str:
    """The file of these segments."""
    return "".join(text + TASKS[task] for text in texts)


def cut(task: str, path: AnyPath) -> list[str]:
    """The segments of a file that `join` made."""
    content = open_text(path).read()
    end = TASKS[task]
    if not content.endswith(end):
        raise InputError(f"{path} does not end like a whole file of segments of the task {task}: is it cut off?")
    return content.removesuffix(end).split(end)


def resample(texts: Sequence[str], size: float, seed: int, name: str) -> list[str]:
    """A training set: segments drawn with replacement, in the order they are drawn in.

    Parameters
    ----------
    texts
        The segments of the whole training set, n of them.
    size
        How many to draw, as a share of n: ceil(size · n).
    seed, name
        Draw i is ⌊wᵢ·n / 2⁶⁴⌋ for the i-th 64-bit word w of numpy's PCG64, seeded with `seed` and the bytes of
        `name`. The words of a bit generator are the same in every version of numpy and on every machine; the bias,
        below n / 2⁶⁴, cannot be seen.
    """
    if not texts:
        raise InputError("there is nothing to resample, expected segments")
    if not 0 < size <= 1:
        raise InputError(f"the size of a resampled training set is {size:g}, expected a share from 0 to 1")
    words = np.random.PCG64([seed, *name.encode()]).random_raw(math.ceil(size * len(texts)))
    return [texts[int(word) * len(texts) >> 64] for word in np.atleast_1d(words)]


def _module(task: str) -> _Task:
    return cast(_Task, import_module(f"study.corpora.{choose(task, TASKS, 'task')}"))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
