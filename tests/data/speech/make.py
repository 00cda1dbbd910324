"""Makes jiwer.json with jiwer (4.0.0): random strings, and the errors that it counts in them.

`python make.py` writes [reference, output, words, characters], each with substitutions, deletions and insertions.
"""

import json
import random
from pathlib import Path

import jiwer


def counts(found):
    return [found.substitutions, found.deletions, found.insertions]


def main():
    rng = random.Random(41)
    rows = []
    for _ in range(200):
        words = ["a", "b", "ab", "ba"][: rng.randint(2, 4)]
        reference, output = (" ".join(rng.choices(words, k=rng.randint(least, 9))) for least in (1, 0))
        both = reference, output
        rows.append([*both, counts(jiwer.process_words(*both)), counts(jiwer.process_characters(*both))])
    lines = ",\n".join(json.dumps(row) for row in rows)
    Path(__file__).with_name("jiwer.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
