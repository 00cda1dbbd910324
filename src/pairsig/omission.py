"""A system that is left out, and why: one record, in whatever file would have held its output or counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pairsig.tables import replacing

_KEY = "pairsig: left out"
_LONGEST = 1 << 16
"""Bytes of a record; a longer file holds something else."""


@dataclass(frozen=True)
class Omission:
    """A system that is left out.

    Attributes
    ----------
    stage
        Where it failed: train, predict or extract.
    reason
        Why, in one line.
    system
        Its name; "" where that is known from the place of the record only.
    """

    stage: str
    reason: str
    system: str = ""

    def write(self, path: Path) -> None:
        """Write the record in place of what `path` should have held, whatever its suffix."""
        told = {_KEY: self.to_dict()}
        with replacing(path) as temporary:
            temporary.write_text(f"{json.dumps(told, ensure_ascii=False)}\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Omission | None:
        """The record in a file; None for a file that holds what it should, and for one that is not there."""
        if not path.is_file() or path.stat().st_size > _LONGEST:
            return None
        try:
            told = json.loads(path.read_bytes())
        except (UnicodeDecodeError, ValueError, RecursionError):
            return None
        return cls(**told[_KEY]) if isinstance(told, dict) and set(told) == {_KEY} else None

    def to_dict(self) -> dict[str, str]:
        """Its attributes."""
        return asdict(self) | {"reason": " ".join(self.reason.split())}

    def __str__(self) -> str:
        """One line: the stage and the reason."""
        return f"{self.stage}: {' '.join(self.reason.split())}"
