r"""The rows of a table in LaTeX: cells between `&`, rows that end in `\\`."""

from __future__ import annotations

import re

_TABLE = re.compile(r"\\begin\{(tabular[x*]?|longtable|tabu|tblr|NiceTabular|array)\}(.*?)\\end\{\1\}", re.DOTALL)
_SPECIFICATION = re.compile(r"\s*(?:\[[^\]]*\]\s*)?(?:\{(?:[^{}]|\{[^{}]*\})*\}){1,2}")
_RULE = (
    r"\\(?:top|mid|bottom|h|c|specialrule|addlinespace|cmid|noalign|end(?:first)?(?:head|foot)|caption)\w*"
    r"(?:\[[^\]]*\]|\{[^{}]*\}|\([^()]*\))*"
)
_SPANNING = re.compile(r"\\multicolumn\s*\{(\d+)\}\s*\{[^{}]*\}\s*\{(.*)\}", re.DOTALL)
_COMMAND = re.compile(r"\\(?:multirow\s*\{[^{}]*\}\s*\{[^{}]*\}|[a-zA-Z]+\*?(?:\[[^\]]*\])?)\s*\{([^{}]*)\}")
_SYMBOLS = ((r"\checkmark", "✓"), (r"\cmark", "✓"), (r"\xmark", "✗"), (r"\times", "✗"), ("--", "–"))


def rows(text: str) -> list[tuple[int, list[str]]]:
    """The line and the cells of each row of the first table; none if the text is no LaTeX."""
    match = _TABLE.search(text) if "\\begin{" in text else None
    if match is None:
        return []
    body = re.sub(r"(?<!\\)%.*", "", match[2])
    specification = _SPECIFICATION.match(body)
    first = text.count("\n", 0, match.start(2)) + 1
    found: list[tuple[int, list[str]]] = []
    body = " " * specification.end() + body[specification.end() :] if specification else body
    for part in re.finditer(r"(.*?)(?:\\\\(?:\[[^\]]*\])?|$)", body, re.DOTALL):
        plain = re.sub(_RULE, "", part[1])
        if re.search(r"(?<!\\)&", plain):
            line = first + body.count("\n", 0, part.start()) + (len(part[1]) - len(part[1].lstrip("\n")) > 0)
            cells = [cell for own in re.split(r"(?<!\\)&", plain) for cell in _cells(own.strip())]
            found.append((line, cells))
    return found


def _cells(cell: str) -> list[str]:
    """The text of a cell, and empty ones for the columns over which it extends."""
    match = _SPANNING.fullmatch(cell)
    text = re.sub(r"[_^]?\{?\s*\\pm\s*\{?[\d.]+\}?\}?", "", match[2] if match else cell)
    for symbol, shown in _SYMBOLS:
        text = text.replace(symbol, shown)
    while (plain := _COMMAND.sub(r"\1", text)) != text:
        text = plain
    text = re.sub(r"\\([%&_#$])", r"\1", re.sub(r"\\(bfseries|itshape|bf|it|em|phantom)\b", "", text))
    text = re.sub(r"\\(uparrow)", "↑", re.sub(r"\\(downarrow)", "↓", text))
    return [re.sub(r"(?<!\\)[{}$]|~", " ", text).strip()] + [""] * (int(match[1]) - 1 if match else 0)
