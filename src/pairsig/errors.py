"""The one exception a user of pairsig can cause, and how its messages show what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHOWN = 60  # characters of a text
_LISTED = 200  # characters of a list of names
_LONGEST = 2_000  # characters of a message: a path may be long
BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What breaks a row, a sentence or a terminal: control characters, line ends, turns of direction, bytes that are not
UTF-8."""


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one sentence that names the file (and the line, where there is one), what was found and
    what was expected. The command line prints it and exits with status 2; nothing has been written by then.

    Text from a file stands in a message through `quoted`, `named` or `listed` only, since a file that is not what it
    is taken for may have all its megabytes in one line. What comes past them is escaped and cut here.
    """

    def __init__(self, message: str) -> None:
        line = plain(message)
        if len(line) > _LONGEST:
            line = f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"
        super().__init__(line)


def plain(text: str) -> str:
    """A text on one line, with escapes for what no reader would see: a terminal obeys some of it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.splitlines()))


def printable(names: Iterable[str], what: str, source: str = "") -> None:
    """Refuse names that would break a row, a sentence or a terminal wherever they are printed.

    These are names with control characters (a line end, a tab, an escape sequence), with characters that turn the
    direction of a line around, and with bytes that are not UTF-8, as the name of a file may have them. The message
    begins with `source`, the file that has the name.
    """
    where = f"{source}: " if source else ""
    for name in names:
        if BREAKS.search(name):
            raise InputError(
                f"{where}found the {what} {quoted(name)}, expected a name without control characters and bytes that "
                "are not UTF-8: rename it"
            )


def quoted(found: object) -> str:
    """What was found, as Python writes it: text in quotes, on one line; of a long one the beginning and its length."""
    if not isinstance(found, str):
        shown = repr(found)
        return shown if len(shown) <= 2 * _SHOWN else f"{shown[: 2 * _SHOWN]}…"
    shown = repr(found[:_SHOWN])
    if len(shown) > 2 * _SHOWN:  # a character may be written as an escape of ten
        shown = shown[: 2 * _SHOWN] + shown[0]
    return shown if len(found) <= _SHOWN else f"{shown[:-1]}…{shown[-1]} ({len(found):,} characters)"


def named(name: str) -> str:
    """A name that a file gives (of a segment, a column, a document): as it is where that is short and printable."""
    return name if len(name) <= _SHOWN and name.isprintable() else quoted(name)


def listed(names: Iterable[str]) -> str:
    """Names that a file gives, with commas; of many the first, and how many more there are."""
    shown: list[str] = []
    names = list(names)
    for name in map(named, names):
        if shown and sum(map(len, shown)) + len(name) > _LISTED:
            return f"{', '.join(shown)} and {len(names) - len(shown):,} more"
        shown.append(name)
    return ", ".join(shown)


def reason(error: Exception) -> str:
    """What an error of another program says, on one line and cut to a sentence or two."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LISTED else f"{text[:_LISTED]}…"
