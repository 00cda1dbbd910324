"""Split corpora into segments, and resample training sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from pairsig.io import tables
from pairsig.io.choices import choose, typed_options
from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, matching, open_text
from study.corpora import constituency, dependency, parallel
from study.corpora.segments import Segment
from study.training.training_sets import SIZES


@dataclass(frozen=True)
class Task:
    """How corpora of a task are read, and what base models see of a segment."""

    read: Callable[..., Iterator[Segment]]  # segments of a file, or of several files of parallel text
    blank: Callable[[str], str]  # input of a base model
    gold: Callable[[str], str] = str  # reference for its output
    end: str = "\n"  # end of a segment in a file
    files: str = "FILE"  # as messages name them


TASKS = {
    "dependency": Task(dependency.read, dependency.blank, end="\n\n"),
    "constituency": Task(constituency.read, constituency.blank),
    "alignment": Task(parallel.read_linked, parallel.without_links, parallel.links_of, "\n", "SOURCE+TARGET[+LINKS]"),
    "mt": Task(parallel.read_translated, parallel.source_of, parallel.target_of, "\n", "SOURCE+TARGET"),
}
"""Tasks with base models."""


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
    of_task = TASKS[choose(task, TASKS, "task")]
    chosen = typed_options(options, f"corpora of the task {task}", of_task.read)
    segments = []
    for file in files:
        domain, _, paths = file.rpartition("=")
        taken: list[Segment] = []
        for part in [paths] if "+" in paths else matching(paths):
            names = part.split("+")
            if not of_task.files.partition("[")[0].count("+") <= part.count("+") <= of_task.files.count("+"):
                raise InputError(f"found {part} for the task {task}, expected {of_task.files}")
            left: Iterable[Segment] = islice(of_task.read(*names, **chosen), skip, None)
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
    return "".join(text + TASKS[task].end for text in texts)


def cut(task: str, path: AnyPath) -> list[str]:
    """Split a file made by `join` into segments."""
    content, end = open_text(path).read(), TASKS[task].end
    if not content.endswith(end):
        raise InputError(
            f"{path}: found an incomplete segment at the end, expected complete ones for {task}; it may be truncated"
        )
    return content.removesuffix(end).split(end)


def resampled(texts: Sequence[str], training_set: str, name: str, seed: int) -> list[str]:
    """Draw the resampled training set `half-3` of a training set with replacement, or take `whole-1`, which is all.

    Draw i is ⌊wᵢ·n / 2⁶⁴⌋ for the i-th 64-bit word w of numpy's PCG64, seeded with `seed` and the bytes of
    `TRAINING_SET/NAME`; there are ceil(size · n) draws from n segments. The raw output of a bit generator is the same
    in every version of numpy and on every machine. The bias is below n / 2⁶⁴ and negligible.
    """
    size = name.partition("-")[0]
    if size == "whole":
        return list(texts)
    words = np.random.PCG64([seed, *f"{training_set}/{name}".encode()]).random_raw(math.ceil(SIZES[size] * len(texts)))
    return [texts[int(word) * len(texts) >> 64] for word in np.atleast_1d(words)]


def write(task: str, segments: Sequence[Segment], /, **paths: str) -> None:
    """Write the segments of a training set, or the input, reference and documents of a test set, to files."""
    parts: dict[str, Callable[[str], str]] = {
        "segments": str,
        "input": TASKS[task].blank,
        "reference": TASKS[task].gold,
    }
    for kind, path in paths.items():
        if kind == "documents":
            text = "".join(f"{segment.domain or '-'}\t{segment.document or '-'}\n" for segment in segments)
        else:
            text = join(task, [parts[kind](segment.text) for segment in segments])
        tables.write_text(text, path)
