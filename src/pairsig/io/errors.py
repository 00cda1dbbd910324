"""The exception for input that cannot be used, and how its messages quote what was found."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable

_SHOWN = 60  # characters of a text
_LISTED = 200  # characters of a list of names
_LONGEST = 2_000  # characters of a message: a path may be long
BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that would break a row, a sentence or a terminal: control characters, line ends, characters that reverse
the writing direction, and bytes that are not UTF-8."""


class InputError(ValueError):
    """The input cannot be used; the message says why and what was expected.

    The first line names the file (and the line, if there is one), what was found and what was expected. A second line
    may say what to do. The command line prints both and exits with status 2, before it has written anything. Every
    function that checks its input may raise it; the docstrings of public functions list the cases.

    Text from a file enters a message only through `quoted`, `named` or `listed`, since a file in an unexpected format
    may consist of a single line of many megabytes. Whatever bypasses them is escaped and shortened here.

    Examples
    --------
    >>> import pairsig
    >>> try:
    ...     pairsig.exact_test([1, 0], [1])
    ... except InputError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __init__(self, message: str) -> None:
        what, *advice = message.split("\n", 1)
        super().__init__("\n".join(map(_line, [what, *advice])))


def _line(text: str) -> str:
    """A text on one line, of limited length."""
    line = plain(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"


def columns_in(text: str) -> list[str]:
    """Names with commas between them; one with a comma is in quotation marks, as in CSV."""
    return next(csv.reader([text], skipinitialspace=True), [])


def plain(text: str) -> str:
    """A text on one line, with invisible characters escaped, since a terminal would execute some of them."""
    return escaped(" ".join(text.splitlines()))


def escaped(text: str) -> str:
    """A text with its invisible characters escaped, and those that reverse the writing direction."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def encodable(name: str) -> str:
    """A name that can be encoded in UTF-8, since JSON may contain half of a surrogate pair."""
    return name if name.isascii() else name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def printable(names: Iterable[str], noun: str, source: str = "") -> None:
    """Refuse names that would break a row, a sentence or a terminal when they are printed.

    These are names with control characters (a line end, a tab, an escape sequence), with characters that reverse the
    writing direction, and with bytes that are not UTF-8, which the name of a file may contain. The message begins
    with `source`, the file that contains the name.
    """
    where = f"{source}: " if source else ""
    for name in names:
        if BREAKS.search(name):
            raise InputError(
                f"{where}found the {noun} {quoted(name)}, expected a name without control characters and bytes that "
                "are not UTF-8: rename it"
            )


def check_distinct(columns: Iterable[str], source: str) -> None:
    """Refuse a table in which several columns have the same name."""
    for name, times in Counter(columns).items():
        if times > 1:
            raise InputError(f"{source}: found {times} columns called {quoted(name)}, expected different names")


def quoted(value: object) -> str:
    """The value as Python writes it, on one line; a long text is shortened to its beginning and its length."""
    if not isinstance(value, str):
        shown = repr(value)
        return shown if len(shown) <= 2 * _SHOWN else f"{shown[: 2 * _SHOWN]}…"
    shown = repr(value[:_SHOWN])
    if len(shown) > 2 * _SHOWN:  # a character may be written as an escape of ten
        shown = shown[: 2 * _SHOWN] + shown[0]
    return shown if len(value) <= _SHOWN else f"{shown[:-1]}…{shown[-1]} ({len(value):,} characters)"


def named(name: str) -> str:
    """A name from a file (of a segment, a column or a document): unchanged if short and printable, else quoted."""
    return name if len(name) <= _SHOWN and name.isprintable() else quoted(name)


def listed(names: Iterable[str]) -> str:
    """Names from a file, separated by commas; a long list is shortened to the first names and the number of others."""
    shown: list[str] = []
    names = list(names)
    for name in map(named, names):
        if shown and sum(map(len, shown)) + len(name) > _LISTED:
            return f"{', '.join(shown)} and {len(names) - len(shown):,} more"
        shown.append(name)
    return ", ".join(shown)


def reason(error: Exception) -> str:
    """The message of another library's error, on one line and shortened to a sentence or two."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LISTED else f"{text[:_LISTED]}…"
