"""The version to build: that of the tag or, without tags (a shallow clone, an archive), that of CITATION.cff.

The build stops if the tag and CITATION.cff disagree. Commits between releases keep the version of the last release,
because signatures contain it, and the same code must write the same bytes with and without tags.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def of_tag(root: Path = ROOT) -> str | None:
    """The version that a tag gives the commit of this folder; None without git, a repository of its own, or a tag."""

    def git(*arguments: str) -> str:
        ended = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True, encoding="utf-8")
        return ended.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != root:  # unpacked in somebody else's repository
            return None
        return git("describe", "--tags", "--exact-match", "--match", "v[0-9]*").removeprefix("v")
    except (OSError, subprocess.CalledProcessError):
        return None


def cited(root: Path = ROOT) -> str:
    """The version that CITATION.cff says."""
    found = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise ValueError("CITATION.cff: found no version, expected a line `version: …`")
    return found[1]


def version(root: Path = ROOT) -> str:
    """The version to build; an error of one sentence if the tag and CITATION.cff differ."""
    tagged, stated = of_tag(root), cited(root)
    if tagged not in (None, stated):
        raise ValueError(f"the tag says version {tagged}, CITATION.cff {stated}: expected the same")
    return stated


__version__ = version()
