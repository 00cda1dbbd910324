"""Record of a system that was left out and the reason, stored in place of its output or counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pairsig.io.tables import write_text

_MARK = {"pairsig": "left out"}
"""The first key of a record, which no output begins with."""


@dataclass(frozen=True)
class Omission:
    """A system that was left out."""

    stage: str  # the step that failed: train, predict or count
    reason: str  # in one line
    system: str = ""  # its name; "" if only the path of the record names it

    def write(self, path: Path) -> None:
        """Write the record to `path` instead of the output or counts, whatever the suffix."""
        write_text(f"{json.dumps(_MARK | self.to_dict(), ensure_ascii=False)}\n", path)

    @classmethod
    def read(cls, path: Path) -> Omission | None:
        """The record in a file, or None if the file does not exist or is not a record."""
        begin = json.dumps(_MARK).removesuffix("}").encode()
        if not path.is_file():
            return None
        with path.open("rb") as file:
            if file.read(len(begin)) != begin:
                return None
        record = json.loads(path.read_bytes())
        return cls(record["stage"], record["reason"], record["system"])

    def to_dict(self) -> dict[str, str]:
        """The attributes as a dictionary."""
        return asdict(self) | {"reason": " ".join(self.reason.split())}

    def __str__(self) -> str:
        """One line: the stage and the reason."""
        return f"{self.stage}: {' '.join(self.reason.split())}"
