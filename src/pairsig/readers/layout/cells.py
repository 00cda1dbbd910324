"""The cells of a column, and the numbers that they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pairsig.readers.system_counts import NUMBER, fits, to_number

Number = int | float | bool

_TRUTH_WORDS = (
    ("true", "false"), ("pass", "fail"), ("passed", "failed"), ("yes", "no"), ("correct", "incorrect"),
    ("right", "wrong"), ("success", "failure"), ("solved", "unsolved"), ("resolved", "unresolved"),
    ("✓", "✗"), ("✔", "✘"), ("✅", "❌"), ("✔️", "❌"), ("☑", "☒"), ("👍", "👎"), ("🟢", "🔴"), ("🟩", "🟥"),
    ("○", "×"), ("◯", "×"), ("〇", "×"), ("○", "✕"), ("○", "✗"),
    ("ok", "ko"), ("ok", "not ok"), ("succeeded", "failed"), ("success", "fail"), ("accepted", "rejected"),
    ("ja", "nein"), ("richtig", "falsch"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("juste", "faux"),
    ("sí", "no"), ("si", "no"), ("verdadero", "falso"), ("vero", "falso"), ("sim", "não"), ("correcto", "incorrecto"),
    ("waar", "onwaar"), ("goed", "fout"), ("right", "false"),
)  # fmt: skip
_TRUTHS = {word: not place for pair in _TRUTH_WORDS for place, word in enumerate(pair)}
_LETTERS = (("t", "f"), ("y", "n"))
"""True and false if a column has both."""
MISSING = frozenset(
    ("", "nan", "na", "n/a", "n.a.", "null", "none", "<na>", "#n/a", "-", "--", "–", "—", "missing", "skipped")
)
_COMMA = re.compile(r"[-+]?\d{1,400},\d{1,400}", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d{1,400})?", re.ASCII)
_MARKED = re.compile(r"[*_`]*([^*_`]*?)[*_`†‡§¶]*", re.ASCII)
"""A number in bold letters of Markdown, or with a mark of significance."""
_DEVIATION = re.compile(r"(.*\d)\s*(?:±|\+/?-|\\pm)\s*\d.*|([-+]?\d+[.,]\d+)\s*\(\s*[\d.,]+\s*\)")
"""A number with its deviation: `0.71 ± 0.02` or `0.71 (0.02)`."""
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+,\d{1,400}", re.ASCII)
_BLANK_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f' ](?=\d{3}(?!\d))")


@dataclass(frozen=True)
class Column:
    """The cells of a column, and the numbers that they are."""

    cells: Sequence[Any]
    comma: str = ""
    """What a comma in a number separates: "decimals", "thousands" or "" if only the cells can tell."""

    @cached_property
    def labels(self) -> list[str]:
        """The text of each cell, "" if it is missing."""
        missing = (cell is None or (isinstance(cell, float) and cell != cell) for cell in self.cells)
        return ["" if none else str(cell).strip() for cell, none in zip(self.cells, missing, strict=True)]

    @cached_property
    def numbers(self) -> list[Number | str | None]:
        """Each cell as a number, None if it is missing, or a description of why it is no number."""
        cells, comma = self.cells, self.comma
        if comma != "thousands" and any(isinstance(cell, str) and _POINTS.fullmatch(cell.strip()) for cell in cells):
            plain = [cell.replace(".", "").replace(",", ".") if isinstance(cell, str) else cell for cell in cells]
            return Column(plain).numbers
        if not comma:
            texts = {cell.strip() for cell in self.cells if isinstance(cell, str) and "," in cell}
            if all(_THOUSANDS.fullmatch(text) for text in texts):
                clear = any(text.count(",") > 1 or "." in text for text in texts)
                comma = "thousands" if clear else "unclear"
            else:
                comma = "decimals"
        words = {cell.strip().lower() for cell in self.cells if isinstance(cell, str)}
        letters = next((pair for pair in _LETTERS if words >= set(pair)), ("", ""))
        known: dict[tuple[type, Any], Number | str | None] = {}
        found: list[Number | str | None] = []
        for cell in self.cells:
            if isinstance(cell, list | dict | tuple):
                found.append("")
                continue
            key = type(cell), cell
            if key not in known:
                word = cell.strip().lower() if isinstance(cell, str) else ""
                known[key] = word == letters[0] if word and word in letters else _number(cell, comma)
            found.append(known[key])
        return found

    @cached_property
    def kinds(self) -> Counter[type]:
        """How many cells are numbers (float), truths (bool), text (str) or missing (NoneType)."""
        types = Counter(map(type, self.numbers))
        return Counter({bool: types[bool], float: types[int] + types[float], str: types[str]})

    @property
    def is_numeric(self) -> bool:
        """Whether no cell is text, and some are numbers."""
        return not self.kinds[str] and self.kinds.total() > 0

    @property
    def is_mostly_numeric(self) -> bool:
        """Whether less than half of the cells are text."""
        return self.kinds.total() > 0 and 2 * self.kinds[str] < self.kinds.total()

    @cached_property
    def values(self) -> set[Number]:
        """The different numbers."""
        return {value for value in self.numbers if value is not None and not isinstance(value, str)}

    @property
    def counts_rows(self) -> bool:
        """Whether the cells are 0, 1, 2, … or 1, 2, 3, …, as in an index."""
        own = self.numbers
        if own and (own[-1] is None or isinstance(own[-1], str)):  # a mean of the rows above
            own = own[:-1]
        return len(own) > 2 and own[0] in (0, 1) and own == list(range(int(own[0]), int(own[0]) + len(own)))

    @property
    def scale(self) -> str:
        """What a score looks like; the systems of a wide table share it."""
        if self.values <= {0, 1}:
            return "0 and 1"
        if len(self.values) == 1:
            return f"only {next(iter(self.values))}"
        low, high = min(self.values), max(self.values)
        if all(isinstance(value, int) for value in self.values):
            return "whole numbers"
        return "shares" if low >= 0 and high <= 1 else "numbers"


def is_number(cell: Any) -> type | None:
    """The kind of number that a cell is, `bool` or `float`; None for text and for missing cells."""
    found = _number(cell, "decimals")
    return bool if isinstance(found, bool) else float if isinstance(found, int | float) else None


def _number(cell: Any, comma: str) -> Number | str | None:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, str):
        text = _BLANK_THOUSANDS.sub("", cell.strip()).replace("\u2212", "-")
        word = text.lower()
        if word in MISSING:
            return None
        if word in _TRUTHS:
            return _TRUTHS[word]
        if not text[-1].isdigit() or not text[0].isdigit():
            deviation = _DEVIATION.fullmatch(text)
            text = (deviation[1] or deviation[2]) if deviation else text
            marked = _MARKED.fullmatch(text)
            text = marked[1].strip() if marked and marked[1] else text
        elif deviation := _DEVIATION.fullmatch(text):
            text = deviation[1] or deviation[2]
        text = text.removesuffix("%").rstrip()
        if "," in text and (_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text)):
            if comma == "unclear":
                return "a number with a decimal point, since the comma may separate decimals or thousands"
            if comma == "decimals" and text.count(",") == 1:
                text = text.replace(",", ".")
            elif comma == "thousands" and _THOUSANDS.fullmatch(text):
                text = text.replace(",", "")
        if not re.fullmatch(NUMBER, text, re.ASCII):
            return ""
        found = to_number(text)
        if found is None:
            return "up to 2**53" if text.lstrip("+-").isdecimal() else ""
        return float(found) if cell.rstrip().endswith("%") else found
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, int | float):
        return cell if fits(cell) else "up to 2**53" if isinstance(cell, int) else "a finite number"
    try:
        return float(cell) if type(cell).__name__ in ("Decimal", "Fraction") else ""
    except ValueError:
        return ""
