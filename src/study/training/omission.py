"""Record of a system that was left out and the reason, stored in place of its output or counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pairsig.io.tables import write_text

_KEY = "pairsig: left out"
_LONGEST = 1 << 16
"""Maximum size of a record in bytes; a longer file is not a record."""


@dataclass(frozen=True)
class Omission:
    """A system that was left out."""

    stage: str  # the step that failed: train, predict or extract
    reason: str  # in one line
    system: str = ""  # its name; "" if only the path of the record names it

    def write(self, path: Path) -> None:
        """Write the record to `path` instead of the output or counts, whatever the suffix."""
        description = {_KEY: self.to_dict()}
        write_text(f"{json.dumps(description, ensure_ascii=False)}\n", path)

    @classmethod
    def read(cls, path: Path) -> Omission | None:
        """The record in a file, or None if the file does not exist or is not a record."""
        if not path.is_file() or path.stat().st_size > _LONGEST:
            return None
        try:
            description = json.loads(path.read_bytes())
        except (UnicodeDecodeError, ValueError, RecursionError):
            return None
        return cls(**description[_KEY]) if isinstance(description, dict) and set(description) == {_KEY} else None

    def to_dict(self) -> dict[str, str]:
        """The attributes as a dictionary."""
        return asdict(self) | {"reason": " ".join(self.reason.split())}

    def __str__(self) -> str:
        """One line: the stage and the reason."""
        return f"{self.stage}: {' '.join(self.reason.split())}"
