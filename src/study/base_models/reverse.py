"""Sentences of CoNLL-U from their last word to their first, for parsers that read from left to right.

`python -m study.base_models.reverse FROM TO`; done twice, it leaves everything as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pairsig.tables import replacing
from study import corpora
from study.corpora import dependency


def reverse(source: Path, target: Path) -> None:
    """Reverse all sentences of a file."""
    sentences = [dependency.reverse(text) for text in corpora.cut("dependency", source)]
    with replacing(target) as temporary:
        temporary.write_text(corpora.join("dependency", sentences), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    source, target = map(Path, sys.argv[1:] if arguments is None else arguments)
    reverse(source, target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
