"""The rows of Excel workbooks (.xlsx), as texts: what a spreadsheet would save as CSV."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from pairsig.io.errors import InputError
from pairsig.io.files import MAX_BYTES

_REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def sheets(data: bytes, source: str) -> dict[str, list[list[str]]]:
    """The rows of each sheet that has any; cells that are merged over several rows have the same text in each.

    Raises
    ------
    InputError
        If it is no workbook, is damaged, or is larger than other files may be.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise InputError(f"{source}: found a workbook of more than {MAX_BYTES:,} bytes, expected a smaller one")
            texts = list(_shared_texts(archive))
            found = {name: _rows(_parsed(archive, path), texts) for name, path in _paths(archive)}
    except (zipfile.BadZipFile, KeyError, IndexError, ValueError, EOFError, NotImplementedError, RuntimeError):
        raise InputError(
            f"{source}: found an Excel workbook that cannot be read or another archive, expected a table; save it as "
            "CSV (UTF-8), JSON or Parquet"
        ) from None
    except ElementTree.ParseError:
        raise InputError(
            f"{source}: found a damaged Excel workbook, expected a table; save it as CSV (UTF-8)"
        ) from None
    return {name: rows for name, rows in found.items() if rows}


def _parsed(archive: zipfile.ZipFile, path: str) -> ElementTree.Element:
    data = archive.read(path)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # which no spreadsheet writes, and which may expand without limit
        raise ValueError
    return ElementTree.fromstring(data)


def _paths(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """The name and the path of each sheet, in the order of the workbook."""
    targets = {
        own.get("Id"): own.get("Target", "").removeprefix("/xl/")
        for own in _parsed(archive, "xl/_rels/workbook.xml.rels").iter(_PACKAGE)
    }
    for sheet in _parsed(archive, "xl/workbook.xml").iter():
        if _tag(sheet) == "sheet" and sheet.get("state", "visible") == "visible":
            target = targets[sheet.get(_REL)]
            if "worksheets/" in target:
                yield sheet.get("name", ""), f"xl/{target}"


def _shared_texts(archive: zipfile.ZipFile) -> Iterator[str]:
    if "xl/sharedStrings.xml" in archive.namelist():
        for item in _parsed(archive, "xl/sharedStrings.xml"):
            yield _text(item)


def _text(node: ElementTree.Element) -> str:
    """The text of a cell without its phonetic guides."""
    return "".join(own.text or "" for part in node if _tag(part) != "rPh" for own in part.iter() if _tag(own) == "t")


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _rows(sheet: ElementTree.Element, texts: list[str]) -> list[list[str]]:
    cells: dict[tuple[int, int], str] = {}
    row = column = 0
    for node in sheet.iter():
        if _tag(node) == "row":
            row, column = int(node.get("r") or row + 1), 0
        elif _tag(node) == "c":
            column = _place(node.get("r", ""))[1] or column + 1
            if text := _cell(node, texts):
                cells[row, column] = text
        elif _tag(node) == "mergeCell":
            (top, left), (bottom, right) = map(_place, f"{node.get('ref')}:{node.get('ref')}".split(":")[:2])
            if left == right and top < bottom <= row:
                cells |= {(place, left): cells[top, left] for place in range(top, bottom + 1) if (top, left) in cells}
    if not cells:
        return []
    height, width = (max(place) for place in zip(*cells, strict=True))
    if height * width > MAX_BYTES // 100:
        raise ValueError
    return [[cells.get((r, c), "") for c in range(1, width + 1)] for r in range(1, height + 1)]


def _place(reference: str) -> tuple[int, int]:
    """Row and column of a reference such as `B3`, 0 if it has none."""
    match = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", reference)
    if not match:
        return 0, 0
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(match[2]), column


def _cell(node: ElementTree.Element, texts: list[str]) -> str:
    kind = node.get("t", "n")
    if kind == "inlineStr":
        return "".join(_text(own) for own in node if _tag(own) == "is")
    value: Any = next((own.text for own in node if _tag(own) == "v"), None)
    if value is None or kind == "e":  # an error such as #N/A
        return ""
    if kind == "s":
        return texts[int(value)]
    return {"1": "TRUE", "0": "FALSE"}.get(value, value) if kind == "b" else str(value)
