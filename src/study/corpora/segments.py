"""Segments of corpora."""

from __future__ import annotations

from dataclasses import dataclass
from os import fspath
from pathlib import PurePosixPath

from pairsig.io.files import AnyPath


@dataclass(frozen=True)
class Segment:
    """One training or test instance of a corpus, with its source if the corpus contains it."""

    text: str  # in the format of the task, without the final line ends
    document: str = ""
    domain: str = ""


def document_of(path: AnyPath) -> str:
    """Name of a file, or of a member of an archive, without extensions."""
    name = PurePosixPath(fspath(path).rpartition("!")[2]).name
    return name.removesuffix(".gz").removesuffix(".xz").rpartition(".")[0] or name
