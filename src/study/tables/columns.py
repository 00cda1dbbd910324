"""The columns of the study's tables, declared in the same way as those of the library (`pairsig.io.columns`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pairsig.io.columns import Column, Shown, Table, count

if TYPE_CHECKING:
    import pandas as pd

TASK = Column("task", str, "task of the dataset")
SUBSET = Column(
    "subset",
    str,
    "which pairs of systems: all, same group, different group, two kinds, `full sets` (full training sets only), or "
    "`single systems` (no system combinations)",
)
ONE_SIDED = "one-sided p-value, as in the paper"
"""What the p-values are that analyses of the paper's numbers take from comparisons."""

N_PAIRS = count("n_pairs", f"pairs with p in the window around 0.05 ({ONE_SIDED})", "pairs", "pairs in range")
CALIBRATION = Column("calibration", str, "name of the calibration")
FAMILY = Column("family", str, "name of a family of test sets")
DISTANCE = Column("distance", str, "how different the second test set is from the first")


ENDS = ("low", "high")
"""Columns with the ends of the only interval of a table."""


def numeric(
    name: str,
    meaning: str,
    unit: str = "",
    heading: str = "",
    shown: Shown = "as it is",
    *,
    missing: bool = False,
    ends: tuple[str, ...] = (),
) -> Column:
    """A column of numbers."""
    return Column(name, float, meaning, unit, heading, shown, missing, ends=ends)


def optional_count(*declaration: str) -> Column:
    """A column of counts that may be missing, which floats can be."""
    return replace(count(*declaration, missing=True), type=float)


def with_interval(
    name: str,
    meaning: str,
    shown: Shown = "as it is",
    unit: str = "",
    *,
    over: str = "",
    missing: bool = True,
    ends: tuple[str, str] | None = None,
) -> list[Column]:
    """Columns of an estimate and the ends of its interval, `NAME_low` and `NAME_high` unless `ends` names them."""
    low, high = ends or (f"{name}_low", f"{name}_high")
    return [
        Column(name, float, meaning, unit, "", shown, missing, ends=ends or ()),
        Column(low, float, f"lower end of its 95 % interval{over}", unit, "", shown, missing),
        Column(high, float, f"upper end of its 95 % interval{over}", unit, "", shown, missing),
    ]


def _sheet(name: str, *names: str) -> Table:
    """The columns of a sheet that analyses read, all of them text; workflow/schemas describes and checks them."""
    return Table(name, tuple(Column(column, str, f"column of the sheet {name}") for column in names))


CALIBRATIONS = _sheet(
    "calibrations", "calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set"
)
FAMILIES = _sheet("families", "family", "about", "dataset", "test_set", "compared")

IN_ORDER = "size exponent of the critical difference, segments in the given order (interval: 95 % of random orders)"
"""The `measured` cell of `claims` for the exponent of a test set with its segments in their given order."""


ITEM = (
    Column("item", str, "name of the number"),
    Column("page", str, "page in the proceedings"),
    Column("what", str, "what the paper reports; in brackets, what we measured instead where that differs"),
    numeric(
        "published",
        "the published number; missing where the paper prints none",
        "see `unit`",
        shown="by unit",
        missing=True,
    ),
    Column("unit", str, "unit of the number"),
    optional_count("n_segments", "segments in the paper's test set"),
)
COMPARED_WITH = Column("compared_with", str, "address of our number in the tables of the study")

PUBLISHED = Table(
    "published",
    (
        *ITEM,
        optional_count("information", "words, brackets or links in the paper's test set", ""),
        Column("information_from", str, "source of `information`"),
        optional_count("n_systems", "systems that the number is based on", "systems"),
        optional_count("n_pairs", "pairs that the number is based on, where the paper reports them", "pairs"),
        Column("evidence", str, "whose test set and systems our number has"),
        Column("comparison", str, "the comparison that the number belongs to; empty for one of its own"),
        COMPARED_WITH,
        Column("why", str, "why the two cannot be compared; empty where they can"),
    ),
    key=("item",),
)  # fmt: skip
"""The sheet of numbers printed in the papers."""


def addressed(table: pd.DataFrame, kind: str | tuple[str, ...], *names: str) -> pd.DataFrame:
    """Select the numbers compared with ours of a kind (or several), with columns of these names for parts of addresses.

    A part that an address leaves out is empty.
    """
    kinds = (kind,) if isinstance(kind, str) else kind
    addresses = [str(address).split(":") for address in table.get("compared_with", ())]
    chosen = [row for row, (of_kind, *_) in enumerate(addresses) if of_kind in kinds]
    parts = [[*addresses[row][1:], *("" for _ in names)] for row in chosen]
    rows = table.iloc[chosen]
    return rows.assign(**{name: [str(of_row[place]) for of_row in parts] for place, name in enumerate(names)})
