"""The rows of the table with most rows in a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser


def rows(text: str) -> list[tuple[int, list[str]]]:
    """The line and the cells of each row; none if the text has no table in HTML."""
    if re.search(r"<t[dh][\s>]", text) is None or re.match(r"\ufeff?\s*<", text) is None:
        return []
    parser = _Parser()
    parser.feed(text)
    found = max(parser.tables, key=len, default=[])
    return [(line, [" ".join(cell.split()) for cell in cells]) for line, cells in found]


class _Parser(HTMLParser):
    """Collects the tables; a cell that extends over several columns is followed by empty ones."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[tuple[int, list[str]]]] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append((self.getpos()[0], []))
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            own = self.tables[-1][-1][1]
            self._inside = len(own) + 1
            span = str(dict(attrs).get("colspan") or 1)
            own += [""] * (int(span) if span.isdecimal() and len(span) < 4 else 1)

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        if tag in ("td", "th", "tr", "table"):
            self._inside = 0

    def handle_data(self, data: str) -> None:
        """Add to the cell."""
        if self._inside:
            self.tables[-1][-1][1][self._inside - 1] += data
