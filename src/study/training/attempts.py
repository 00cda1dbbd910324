"""Attempts at a command of a base model, whose process may be killed for its memory or time.

A process that is killed cannot say so. Therefore each attempt leaves a marker beside what it makes, and removes it when
it ends in any other way. The next attempt finds the marker of one that was killed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pairsig.core.omission import Omission
from pairsig.io import console
from study.training import CommandError, sweep


@dataclass(frozen=True)
class Attempt:
    """One of several attempts; the workflow starts the next one if it fails or is killed."""

    number: int
    last: int  # the number of attempts; one more only records that the last one was killed
    requested: str = ""  # memory and time, for messages

    def run(self, stage: str, made: Path, make: Callable[[], None], leave_out: Callable[[Omission], None]) -> None:
        """Make a file or folder.

        Parameters
        ----------
        stage
            The command: train or predict.
        made
            What the attempt makes.
        make
            Makes it; raises `CommandError` if the command fails.
        leave_out
            Writes the record of a failure in its place.

        Raises
        ------
        CommandError
            The command failed, and this was not the last attempt.
        """
        marker = made.with_name(f".{made.name}.attempt")
        killed = self._killed(marker)
        sweep(made)
        if killed:
            console.warn(f"{made}: {killed}")
        if killed and self.number > self.last:
            leave_out(Omission(stage, killed))
            marker.unlink()
            return
        marker.write_text(f"{self.number}\t{self.requested}\n", encoding="utf-8")
        try:
            make()
        except CommandError as error:
            if self.number < self.last:
                raise
            leave_out(Omission(stage, str(error)))
            console.warn(f"{made} is left out: {error}")
        finally:
            marker.unlink(missing_ok=True)

    def _killed(self, marker: Path) -> str:
        """Describe the end of the attempt before this one if it was killed; else ""."""
        if not marker.is_file():
            return ""
        number, _, requested = marker.read_text(encoding="utf-8").strip().partition("\t")
        if number != str(self.number - 1):  # of an earlier run, which was stopped
            return ""
        return f"killed in attempt {number} of {self.last} (memory or time{requested and f'; requested: {requested}'})"
