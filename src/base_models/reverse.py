"""Reverse the words of CoNLL-U sentences, for parsers that read from left to right.

`python -m base_models.reverse FROM TO`; doing this twice restores the file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from base_models.formats import Sentence, read_sentences, write_sentences
from base_models.program import exit_status


def reverse(sentence: Sentence) -> Sentence:
    """Reverse the order of the words, with the same tree; a head is `_` in a sentence to be parsed."""
    size = len(sentence)
    heads = [head if head in ("0", "_") else str(size + 1 - int(head)) for head in (word[6] for word in sentence)]
    words = zip(reversed(sentence), reversed(heads), strict=True)
    return [[str(number), *word[1:6], head, *word[7:]] for number, (word, head) in enumerate(words, start=1)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    source, target = map(Path, sys.argv[1:] if arguments is None else arguments)
    return exit_status("base_models.reverse", lambda: write_sentences(target, map(reverse, read_sentences(source))))


if __name__ == "__main__":
    raise SystemExit(main())
