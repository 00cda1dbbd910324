"""Every table that a command writes is the one that is declared, and so are the tables of columns in the documents."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import simulate
from pairsig import InputError, cli
from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.columns import BASELINE, COMPARISONS, STATISTICS, Column, Table
from pairsig.io.columns import TABLES as LIBRARY
from running import ROOT
from study import analysis
from study import cli as study_cli
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


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the commands other than analyses write of two small simulated datasets, by table: paths."""
    work = tmp_path_factory.mktemp("written")
    for name, seed in (("one", 1), ("two", 2)):
        data = simulate.statistics("accuracy", n_systems=8, n_segments=300, n_groups=2, spread=0.03, seed=seed)
        domains = np.array(["news", "speech"] * 150)
        statistics.write(replace(data, dataset=name, domains=domains), work / f"{name}.parquet")
        options = ["--test", "bootstrap", "--metric", "accuracy", "--n-resamples", 200]
        run(cli.main, "all-pairs", work / f"{name}.parquet", *options, "--output", work / f"{name}.tsv")
    made = ["--initial", "50,100,200", "--halves", 1, "--draws", 2, "--domain-size", 100]
    run(study_cli.main, "resize", work / "one.parquet", *made, *options, "--output", work / "one-sets.tsv")
    for k in (1, 2):
        part = ["--part", f"{k}/2", "--output", work / f"part{k}.tsv"]
        run(cli.main, "all-pairs", work / "one.parquet", *options, *part)
    run(cli.main, "merge", work / "part1.tsv", work / "part2.tsv", "--output", work / "merged.tsv")
    run(cli.main, "pool", work / "one.parquet", work / "two.parquet", "--dataset", "p", "--output", work / "pool.tsv")
    for name in "abc":
        (work / f"{name}.txt").write_text(f"the cat sat on the mat\nno one knows what {name} is for\n")
    outputs = [f"{name}={work / name}.txt" for name in "abc"]
    run(study_cli.main, "overlaps", "one", *outputs, "--output", work / "overlaps.tsv")
    compared = [work / f"{name}.tsv" for name in ("merged", "part1", "one", "one-sets", "two")]
    return {"comparisons": compared, "statistics": [work / "pool.tsv"], "overlaps": [work / "overlaps.tsv"]}


@pytest.mark.parametrize("table", [COMPARISONS, columns.OVERLAPS], ids=lambda table: table.name)
def test_commands_write_what_is_declared(written, table):
    for path in written[table.name]:
        read = check_cells(path, table)
        assert len(read)
        pd.testing.assert_frame_equal(tables.frame(table, read), read)


def test_statistics_have_the_declared_keys(written):
    (path,) = written["statistics"]
    assert path.read_text(encoding="utf-8").split("\n")[0].split("\t") == [
        *(name for name in STATISTICS.names if name != "run"), "correct", "total", "n_rows"
    ]  # fmt: skip


def test_pairsig_test_prints_what_is_declared(tmp_path, capsys):
    for name, correct in (("a", [1, 0, 1, 1]), ("b", [1, 1, 0, 0])):
        (tmp_path / f"{name}.tsv").write_text(
            "segment\tcorrect\ttotal\n" + "".join(f"{i}\t{c}\t1\n" for i, c in enumerate(correct))
        )
    files = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    run(
        cli.main,
        "compare",
        *files,
        *["--reader", "table", "--metric", "accuracy", "--n-resamples", "100", "--format", "json"],
    )
    for row in json.loads(capsys.readouterr().out)["rows"]:
        assert list(row) == list(BASELINE.names)
        for column in BASELINE.columns:
            cell = row[column.name]
            if cell is None:
                assert column.missing or column.name == "log10_pvalue"
            else:
                assert isinstance(cell, (int, float) if column.type is float else column.type), column.name


def test_columns_and_keys_are_declared_once():
    for table in analysis.known():
        assert len(set(table.names)) == len(table.names)
        assert set(table.key) <= set(table.names)


def test_text_is_text_in_all_tables():
    """A table is read by the names of its columns before it is known which table it is."""
    everywhere = {}
    for column in chain.from_iterable(table.columns for table in analysis.known()):
        is_text = column.type if column.type in (str, bool) else None
        if column.name != "significant":  # of JSON only
            assert everywhere.setdefault(column.name, is_text) == is_text, column.name


def test_a_unit_a_heading_and_a_meaning():
    for table in analysis.known():
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


def test_a_test_set_made_in_no_known_way_is_refused(written, tmp_path):
    lines = written["comparisons"][2].read_text(encoding="utf-8").replace("\twhole\twhole\t", "\twhole\tall\t", 1)
    (tmp_path / "c.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: derived is 'all', expected one of whole, initial, domain"):
        analysis.read(tmp_path / "c.tsv", COMPARISONS)


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
