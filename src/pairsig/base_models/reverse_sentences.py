"""Dependency trees from the last word to the first: CoNLL-U in, the same sentences reversed out.

A parser that goes from left to right through reversed sentences goes from right to left through the language; the way
back is the same command. Heads may be missing (`_`).
"""

from __future__ import annotations

import sys

from pairsig.corpora.dependency import HEAD, NOTHING, Words, sentences, write
from pairsig.errors import InputError


def reverse(words: Words) -> Words:
    """A sentence with its words, and the numbers of their heads, in reverse order."""
    return [
        [str(number), *row[1:HEAD], _mirrored(row[HEAD], len(words)), *row[HEAD + 1 :]]
        for number, row in enumerate(reversed(words), start=1)
    ]


def _mirrored(head: str, size: int) -> str:
    return head if head in (NOTHING, "0") else str(size + 1 - int(head))


def main() -> int:
    """Reverse the file that is named, or standard input, to standard output."""
    try:
        found = [reverse(words) for words in sentences(sys.argv[1] if len(sys.argv) > 1 else "/dev/stdin")]
    except InputError as error:
        print(f"pairsig.base_models.reverse_sentences: {error}", file=sys.stderr)
        return 2
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(write(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
