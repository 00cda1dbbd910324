"""A generator of malformed text: what editors, disks and people make of a table."""

from __future__ import annotations

import random

CELLS = (
    "", " ", "\0", "\r", "x" * 200_000, "x" * 5_000, "{x}", "{", "nan", "inf", "-inf", "-1", "0", "1.5", "1e400",
    "9" * 30, "9" * 5_000, "1_0", "١", "+1", "true", "null", "=", "a=", "=a", "a=b a=b", "a b", "a a", "a+b", "+", "..",
    "/", "$(x)", "a$b_{$", "\\", "%s", "'", '"', '"x', "\ufeff", "\u2028", "é", "日本", "\U0001f600", "whole", "all",
    "*", "[", "first-", "first-0", "first-x", "threshold:", "share:a:b:c", "p:x:y",
)  # fmt: skip
LETTERS = ("", "0", "9", ".", "-", "=", " ", ":", "/", "+", "{", "$", "١", "\t", '"')


def malformed(text: str, separator: str, choice: random.Random) -> bytes:
    """`text`, a table with a header line, with one or two faults."""
    lines = [line.split(separator) for line in text.splitlines()]
    for _ in range(choice.randint(1, 2)):
        row = choice.choice(lines if choice.random() < 0.1 else lines[1:] or lines)
        _spoil(lines, row, choice.randrange(len(row)), choice)
    content = "".join(separator.join(row) + "\n" for row in lines).encode("utf-8", errors="surrogatepass")
    match choice.randrange(12):
        case 0:
            return content[: choice.randrange(len(content) + 1)]
        case 1:
            place = choice.randrange(len(content) + 1)
            return content[:place] + choice.randbytes(choice.randint(1, 9)) + content[place:]
    return content


def _spoil(lines: list[list[str]], row: list[str], place: int, choice: random.Random) -> None:
    cell = row[place]
    match choice.randrange(16):
        case 0 | 1 | 2 | 3:
            row[place] = choice.choice(CELLS)
        case 4 | 5:
            row[place] = cell + choice.choice(("", " ", "=", ",")) + choice.choice(CELLS)
        case 6 | 7 | 8:
            letter = choice.randrange(len(cell) + 1)
            row[place] = cell[:letter] + choice.choice(LETTERS) + cell[letter + 1 :]
        case 9:
            row[place] = ""
        case 10 | 11:
            row[place] = choice.choice(choice.choice(lines))
        case 12:
            lines.insert(choice.randrange(len(lines) + 1), list(row))
        case 13 if len(lines) > 1:
            lines.remove(row)
        case 14 if len(row) > 1:
            del row[place]
        case _:
            for line in lines[1:]:
                line[min(place, len(line) - 1)] = cell
