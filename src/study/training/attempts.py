"""Attempts at a command of a base model, whose process may be killed for its memory or time.

A process that is killed cannot say so. Therefore each attempt leaves a marker beside what it makes, and removes it when
it ends in any other way. The next attempt finds the marker of one that was killed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pairsig.core.omission import Omission
from pairsig.io import console
from study.training import CommandError, sweep


def attempt(
    make: Callable[[], None],
    made: Path,
    leave_out: Callable[[Omission], None],
    *,
    stage: str,
    number: int,
    last: int,
    requested: str = "",
) -> None:
    """Make a file or folder, in one of several attempts; the workflow starts the next one if it fails or is killed.

    Parameters
    ----------
    make
        Makes it; raises `CommandError` if the command fails.
    made
        What the attempt makes.
    leave_out
        Writes the record of a failure in its place, after the last attempt.
    stage
        The command: train or predict.
    number, last
        The number of this attempt and of the last one; one more only records that the last one was killed.
    requested
        Memory and time, for messages.
    """
    marker = made.with_name(f".{made.name}.attempt")
    before, _, resources = (marker.read_text(encoding="utf-8") if marker.is_file() else "").strip().partition("\t")
    sweep(made)
    if before == str(number - 1):  # otherwise of an earlier run, which was stopped
        killed = f"killed in attempt {before} of {last} (memory or time{resources and f'; requested: {resources}'})"
        console.warn(f"{made}: {killed}")
        if number > last:
            leave_out(Omission(stage, killed))
            marker.unlink()
            return
    marker.write_text(f"{number}\t{requested}\n", encoding="utf-8")
    try:
        make()
    except CommandError as error:
        if number < last:
            raise
        leave_out(Omission(stage, str(error)))
        console.warn(f"{made} is left out: {error}")
    finally:
        marker.unlink(missing_ok=True)
