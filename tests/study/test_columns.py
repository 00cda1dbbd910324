"""Every table that a command writes is the one that is declared, and so are the tables of columns in the documents."""

from __future__ import annotations

import csv
import math
import re
from importlib import import_module
from itertools import chain
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from pairsig import InputError
from pairsig.io import tables
from pairsig.io.columns import TABLES as LIBRARY
from pairsig.io.columns import Column, Table
from running import ROOT
from study import analysis
from study.sheets.models import CLASSES
from study.tables import columns


def possible(cell: str, column: Column) -> bool:
    """Whether a cell of a text file is of the declared type."""
    if column.choices:
        return cell in column.choices
    if column.type is str:
        return True
    if cell == "":
        return column.missing
    if column.type is bool:
        return cell in ("true", "false")
    return bool(re.fullmatch(r"-?\d+" if column.type is int else r"-?\d+\.\d+(e-\d+)?|-?\de-\d+", cell))


def check_cells(path, table):
    """That a file has the columns of a table, each cell is of the declared type, and no key is repeated."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    assert header == [*table.names, *(["n_rows"] if rows else [])]
    for row in rows:
        for cell, column in zip(row[:-1], table.columns, strict=True):
            assert possible(cell, column), (path.name, column.name, cell)
    read = analysis.read(path, table)
    assert not read.duplicated(list(table.key)).any()
    return read


def run(main, *arguments):
    assert main([str(argument) for argument in arguments]) == 0


def test_text_is_text_in_all_tables():
    """A table is read by the names of its columns before it is known which table it is."""
    everywhere = {}
    for column in chain.from_iterable(table.columns for table in analysis.known()):
        is_text = column.type if column.type in (str, bool) else None
        if column.name != "significant":  # of JSON only
            assert everywhere.setdefault(column.name, is_text) == is_text, column.name


def test_columns_and_keys_are_declared_once_with_a_heading_and_a_meaning():
    for table in analysis.known():
        assert len(set(table.names)) == len(table.names)
        assert set(table.key) <= set(table.names)
        for column in table.columns:
            assert column.meaning
            assert "\n" not in column.meaning
            assert column.title
            assert column.type in (int, float) or (column.unit, column.shown) == ("", "as it is")


def test_the_page_on_tables_has_every_column(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs")
    page = import_module("generated").tables()
    for table in (*LIBRARY, *analysis.known()):
        if table not in columns.SHEETS:
            section = page.split(f"\n## {table.name}\n")
            assert any(re.findall(r"^\| `(\w+)`", one.split("\n## ")[0], re.M) == [*table.names] for one in section[1:])


@pytest.mark.parametrize("table", columns.SHEETS, ids=lambda table: table.name)
def test_sheets_have_what_the_analyses_read(table):
    fields = CLASSES[table.name].model_fields
    assert set(table.names) <= set(fields)
    for name in table.names:
        choices = get_args(fields[name].annotation)
        assert table[name].choices in ((), choices)


def test_frames_have_exactly_the_declared_columns():
    table = Table("t", (Column("a", int, "x"), Column("b", float, "x", missing=True), Column("c", str, "x")))
    found = tables.frame(table, [{"c": "x", "a": 1}, {"a": 2, "b": 3, "c": "12"}])
    assert [str(dtype) for dtype in found.dtypes] == ["int64", "float64", "str"]
    assert found["c"].tolist() == ["x", "12"]
    assert math.isnan(found["b"].iloc[0])
    empty = tables.frame(table, [])
    assert (list(empty.columns), empty["a"].dtype) == (["a", "b", "c"], np.int64)
    for rows in ([{"a": 1}], [{"a": 1, "c": "x", "d": 0}]):
        with pytest.raises(TypeError, match=r"the columns of the table t differ from the declared ones: [cd]"):
            tables.frame(table, rows)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("1.5\t1\tx", "a is 1.5, expected a whole number"),
        ("\t1\tx", "a is nan, expected a whole number"),
        ("many\t1\tx", "a is 'many', expected a whole number"),
        ("1\tinf\tx", "b is inf, expected a number"),
        ("1\tinitial\tx", "b is 'initial', expected a number"),
        ("1\t1\ty", "c is 'y', expected one of x, 12"),
    ],
)
def test_what_a_column_cannot_hold_is_refused(cells, message, tmp_path):
    choices = Column("c", str, "x", choices=("x", "12"))
    table = Table("t", (Column("a", int, "x"), Column("b", float, "x", missing=True), choices), key=("c",))
    (tmp_path / "t.tsv").write_text("a\tb\tc\n7\t\t12\n" + cells + "\n")
    with pytest.raises(InputError, match=f"t.tsv, line 3: {message}"):
        tables.read(tmp_path / "t.tsv", table)
    (tmp_path / "t.tsv").write_text("a\tb\tc\n7\t\t12\n")
    assert tables.read(tmp_path / "t.tsv", table)["c"].tolist() == ["12"]


def test_cells_of_parquet_are_checked_too(tmp_path):
    table = Table("t", (Column("a", str, "x"), Column("b", bool, "x"), Column("c", int, "x")), key=("a",))
    good = pd.DataFrame({"a": [12, 13], "b": [True, False], "c": [1.0, 2.0]})
    good.to_parquet(tmp_path / "t.parquet")
    read = tables.read(tmp_path / "t.parquet", table)
    assert read.to_dict("list") == {"a": ["12", "13"], "b": [True, False], "c": [1, 2]}
    for wrong, message in (
        ({"b": [1, 2]}, "row 1: b is 1, expected true or false"),
        ({"c": [1.0, 1e30]}, r"row 2: c is 1e\+30, expected a whole number"),
        ({"c": [1.0, None]}, "row 2: c is nan, expected a whole number"),
        ({"a": [12, 12]}, "row 2: found 12 again, expected it once: row 1 has it"),
    ):
        good.assign(**wrong).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(InputError, match=message):
            tables.read(tmp_path / "t.parquet", table)
    good.assign(a=[None, "x"]).to_parquet(tmp_path / "t.parquet")
    assert tables.read(tmp_path / "t.parquet", table)["a"].tolist() == ["", "x"]


def test_a_missing_cell_of_a_key_is_repeated_as_others_are(tmp_path):
    path = tmp_path / "t.tsv"
    row = "accuracy\t{}\texact\t\t1\t0.5\t0.5\t0.5\n"
    path.write_text("\t".join(analysis.table("run_time").names) + "\n" + "".join(row.format(n) for n in (50, 60, 60)))
    with pytest.raises(InputError, match=r"line 4: found accuracy, 60, exact, nan again, .*: line 3 has it"):
        analysis.read(path, analysis.table("run_time"))
