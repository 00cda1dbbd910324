"""Every interval that the documents state is one of the reference tables, rounded: a number that has moved is told.

Of any table: of 357 intervals whose lower end is written one digit too high, 106 are those of another row by chance.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent
NUMBER = r"[−+]?\d[\d,]*(?:\.\d+)?"
STATED = re.compile(rf"({NUMBER})(?:\s?%|\s[A-Za-z0-9]+)?(?:\*\*)?\s*\[({NUMBER}),\s+({NUMBER})\]")
CELL = re.compile(rf"({NUMBER}) % \(({NUMBER}) to ({NUMBER})\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)

OF_COMMANDS = {
    # Printed by `pairsig plan` and held by tests/test_planning.py.
    "1.26 [0.98, 1.62]",
    "6,375 [3,877, 10,483]",
}


def value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def unit(text: str) -> float:
    """Of the last digit."""
    return 10.0 ** -len(text.partition(".")[2])


def stated(path: Path) -> list[tuple[int, tuple[str, str, str]]]:
    """Lines and texts of what is stated with an interval, blocks of code left out."""
    text = FENCED.sub(lambda block: "\n" * block[0].count("\n"), path.read_text(encoding="utf-8"))
    return [(text.count("\n", 0, found.start()) + 1, found.groups()) for found in STATED.finditer(text)]


@cache
def known() -> np.ndarray:
    """What the reference tables say with an interval, (rows × 3); parts as such and in per cent."""
    rows = []
    for path in sorted((ROOT / "results/reference").glob("*.tsv")):
        table = pd.read_csv(path, sep="\t")
        ends = [name.removesuffix("_low") for name in table.columns if name.endswith("_low")]
        triples = [(name, f"{name}_low", f"{name}_high") for name in ends if name in table]
        if "low" in table:
            triples += [(name, "low", "high") for name in ("value", "threshold", "exponent") if name in table]
        for names in triples:
            numbers = table[list(names)].apply(pd.to_numeric, errors="coerce").dropna().to_numpy()
            rows += [numbers, 100 * numbers]
            if path.name == "law_errors.tsv" and names[0] == "error":  # a logarithm, told as a factor
                rows.append(np.exp(numbers))
        for cell in table.to_numpy().ravel() if path.name == "table_1.tsv" else ():
            rows += [[[value(part) for part in found]] for found in CELL.findall(str(cell))]
    return np.concatenate(rows)


def is_known(numbers: tuple[str, str, str], tables: np.ndarray) -> bool:
    """Are all three those of a row, rounded? A loss of 3 points may stand for a change of −3."""
    written = np.array([value(one) for one in numbers])
    half = np.array([0.5001 * unit(one) for one in numbers])
    turned = -tables[:, [0, 2, 1]]
    return bool(any((np.abs(given - written) <= half).all(axis=1).any() for given in (tables, turned)))


PAGES = [ROOT / "README.md", ROOT / "results/README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_intervals_are_those_of_the_reference_tables(page):
    unknown = [
        f"line {line}: {numbers[0]} [{numbers[1]}, {numbers[2]}]"
        for line, numbers in stated(page)
        if "{} [{}, {}]".format(*numbers) not in OF_COMMANDS and not is_known(numbers, known())
    ]
    assert not unknown


def test_what_has_moved_is_told():
    tables = np.array([[76.62, 71.2, 81.49]])
    assert is_known(("77", "71", "81"), tables)
    assert is_known(("−76.6", "−81.5", "−71.2"), tables)
    assert not is_known(("77", "72", "81"), tables)
    assert not is_known(("76.7", "71", "81"), tables)


def test_all_notations_are_read(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "a 77 % [72, 81], **1.83 [1.58,\n2.12]\n```\n5 [4, 6]\n```\n−3 points [−25, −0.0] 1,000 [2, 3,000]\n"
    )
    assert stated(page) == [
        (1, ("77", "72", "81")),
        (1, ("1.83", "1.58", "2.12")),
        (6, ("−3", "−25", "−0.0")),
        (6, ("1,000", "2", "3,000")),
    ]
    assert math.isclose(value("−1,234.5"), -1234.5)
    assert unit("1.25") == pytest.approx(0.01)
