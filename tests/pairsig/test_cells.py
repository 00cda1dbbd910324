"""The cells of tables, and the beginnings of files: small inputs whose cells are known by hand."""

from __future__ import annotations

import csv
import gzip
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pairsig.io.errors import InputError
from pairsig.readers import Beginning, cells
from pairsig.readers.cells import Column, as_number, load


def column(*values: Any, dtype: Any = None) -> Column:
    return Column(pd.Series(list(values), dtype=dtype))


def written(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


# Beginnings of files.


def test_the_rows_of_a_beginning_are_its_lines_that_are_not_blank(tmp_path: Path) -> None:
    path = written(tmp_path / "t.txt", b"\xef\xbb\xbf \n  a \n \n\nb\n")
    assert Beginning(path).rows == ["a ", "b"]


@pytest.mark.parametrize("extra", [0, 7])
def test_a_line_that_may_be_incomplete_is_not_among_the_rows(extra: int, tmp_path: Path) -> None:
    text = "".join(f"{number:07}\n" for number in range(2**13)) + "x" * extra
    rows = Beginning(written(tmp_path / "t.txt", text)).rows
    assert rows == [f"{number:07}" for number in range(2**13 - 1)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.jsonl", "x", True),
        ("a.ndjson.gz", "x", True),
        ("a.txt", '{"a": 1}\n{"b": 2}\n', True),
        ("a.txt", ' {"a": 1} \n {"b": 2} \n', True),
        ("a.txt", '{"a": 1}\n{"b": 2}\nx\n', True),
        ("a.txt", '{"a": 1}\n', False),
        ("a.txt", '{"a": 1}\nx\n', False),
        ("a.txt", 'x\n{"a": 1}\n', False),
        ("a.txt", '{"a": 1}\n{"b":\n', False),
        ("a.txt", '{"a": 1}\n"b"}\n', False),
    ],
)
def test_json_lines_are_known_by_their_suffix_or_first_two_lines(
    name: str, text: str, expected: bool, tmp_path: Path
) -> None:
    data = gzip.compress(text.encode()) if name.endswith(".gz") else text
    assert Beginning(written(tmp_path / name, data)).is_json_lines is expected


# Columns.


@pytest.mark.parametrize(
    ("values", "codes", "labels"),
    [
        (["a", " ", "b", "a"], [0, -1, 1, 0], ["a", "b"]),
        (["a", None, "b", ""], [0, -1, 1, -1], ["a", "b"]),
        ([1, "1", None, 2.0], [0, 0, -1, 1], ["1", "2"]),
        ([7, 7, 5], [0, 0, 1], ["7", "5"]),
        ([0.5, np.nan, 2.0], [0, -1, 1], ["0.5", "2"]),
        ([[1], [2], [1]], [0, 1, 0], ["[1]", "[2]"]),
    ],
)
def test_labels_are_texts_and_blank_cells_have_none(values: list[Any], codes: list[int], labels: list[str]) -> None:
    codes_of_cells, distinct = column(*values).labels
    assert (codes_of_cells.tolist(), distinct) == (codes, labels)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, "a", "b"], "mixed"),
        ([1, 2, "a", "b", "c"], "text"),
        ([1, " -5 kg", "a", "b"], "mixed"),
        ([1, None, 0.5], "numbers"),
        (["true", "FALSE"], "numbers"),
        (["", None], "empty"),
        (["0.5±0.1", "0.4 [0.3, 0.5]"], "mixed"),
        (["2024-01-01", "2024-01-02"], "text"),
    ],
)
def test_a_column_is_mixed_if_half_of_its_cells_resemble_numbers(values: list[Any], kind: str) -> None:
    assert column(*values, dtype=object).kind == kind


def test_percent_signs_are_read_if_all_cells_have_one() -> None:
    for values, numbers, others in (
        (["50%", "NA", "25%"], [50, np.nan, 25], [False, False, False]),
        (["50%", "25"], [np.nan, 25], [True, False]),
    ):
        read, wrong = column(*values).numbers
        assert read.tolist() == pytest.approx(numbers, nan_ok=True)
        assert wrong.tolist() == others


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (" 5 ", 5.0), (" TRUE ", 1.0), ("False", 0.0), (True, 1.0), (False, 0.0), ("-.5", -0.5), ("1e-3", 1e-3),
        ("Infinity", np.inf), (" NA ", np.nan), ("", np.nan), ("nan", np.nan), (np.float32(0.5), 0.5),
        ("1_000", None), ("1,5", None), ("x", None), (str(2**53 + 1), None), (2**53 + 1, None), ("9" * 400, None),
        (2**53 + 2, 2.0**53 + 2), ("+7", 7.0), (1j, None), (np.timedelta64(1), None), ("٣", None),
    ],
)  # fmt: skip
def test_numbers_are_written_as_python_writes_them(cell: Any, number: float | None) -> None:
    read = as_number(cell)
    assert (read is None) == (number is None)
    assert read is None or read == pytest.approx(number, rel=0, abs=0, nan_ok=True)


def test_words_are_found_among_cells_as_texts_and_as_numbers() -> None:
    assert column("C ", "D", None).among(["C"]).tolist() == [True, False, False]
    assert column(-1.0, 1.0, np.nan).among(["-1"]).tolist() == [True, False, False]
    assert column("-1.0", "x", "1").among(["-1"]).tolist() == [True, False, False]


# Text.


def test_a_column_of_labels_keeps_zeros_before_its_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "id,a\n01,1\n1,0\n")
    table = load(path, lambda _: ["id"])
    assert table.columns["id"].labels[1] == ["01", "1"]
    assert table.columns["a"].numbers[0].tolist() == [1, 0]


def test_large_negative_numbers_beside_small_ones_are_as_they_are(tmp_path: Path) -> None:
    for numbers in ([-(2**40), 5], [2**40, 5], [-(2**15), 2**15 - 1], [-1, 1]):
        path = written(tmp_path / "t.csv", "a\n" + "".join(f"{number}\n" for number in numbers))
        assert load(path).columns["a"].numbers[0].tolist() == numbers


def test_blanks_around_names_and_cells_do_not_count(tmp_path: Path) -> None:
    table = load(written(tmp_path / "t.csv", 'id , "x,y" , b\n q, 1 , 0\n'))
    assert list(table.columns) == ["id", "x,y", "b"]
    assert table.columns["id"].labels[1] == ["q"]


def test_another_separator_in_the_first_of_several_names_is_not_asked_about(tmp_path: Path) -> None:
    assert list(load(written(tmp_path / "t.csv", "id;x,a\n1;2,0\n")).columns) == ["id;x", "a"]


def test_long_cells_of_several_lines_are_refused_and_the_limit_of_others_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MAX_LINE", 10)
    before = csv.field_size_limit()
    path = written(tmp_path / "t.csv", '"' + "x\n" * 20 + '",a\n')
    with pytest.raises(InputError, match=re.escape(f"{path}, line 1: field larger than field limit (10)")):
        load(path)
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,x,y\n\"p,q\",1\n", "line 2: found 2 cells, expected 3"),
        ("id,a\n1,0,5\n", "line 2: found 3 cells, expected 2"),
        ("id,a\n1,0\n2,0,5\n", "line 3: found 3 cells, expected 2"),
        ("id,a\n1,0\n\n2,1\n", "line 3: found a blank line"),
        ('id,a\n1,"0\n', "cannot be read as a table"),
        (",,\n,,\n", "found only empty cells"),
        ("\n{\n", "found the beginning of a file in JSON format"),
        ("id,a\n", "found no rows below the names"),
        ("id,a\n\n\n", "found no rows below the names"),
        ("id,3\n1,0\n", "line 1: found '3', expected the names of the columns"),
        ("id,,a\n1,x,0\n", "found no name of column 2, expected one; its cells begin with x"),
    ],
)  # fmt: skip
def test_damaged_texts_are_refused_with_the_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        load(written(tmp_path / "t.csv", text))


@pytest.mark.parametrize("sep", ["ab", '"', "x", "7", ""])
def test_separators_are_one_character_that_no_cell_has(sep: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"found --sep .{sep}., expected one character"):
        load(written(tmp_path / "t.csv", "id,a\n1,0\n"), sep=sep)


def test_columns_of_many_kinds_of_cells_are_read_without_a_warning(tmp_path: Path) -> None:
    """pandas reads large files in parts, of which one may have integers and another one texts."""
    table = load(written(tmp_path / "t.csv", "a,b\n" + "0,1\n" * 400_000 + "0,x\n"))
    codes, labels = table.columns["b"].labels
    assert (labels, np.bincount(codes).tolist()) == (["1", "x"], [400_000, 1])


def test_suffixes_are_read_in_any_case_and_under_those_of_compression(tmp_path: Path) -> None:
    for name, data in (("T.TSV", b"id\ta\n1\t0\n"), ("t.TSV.gz", gzip.compress(b"id\ta\n1\t0\n"))):
        assert list(load(written(tmp_path / name, data)).columns) == ["id", "a"]


# JSON, Parquet, Excel and data frames.


def test_items_as_columns_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = (
        written(tmp_path / "t.csv", "id,a,b,c\n1,1,0,1\n"),
        written(tmp_path / "t.jsonl", '{"id": 1, "a": 1, "b": 0, "c": 1}\n'),
    )
    for path in paths:
        monkeypatch.setattr(cells, "_MOST_COLUMNS", 4)
        assert len(load(path).columns) == 4
        monkeypatch.setattr(cells, "_MOST_COLUMNS", 3)
        with pytest.raises(InputError, match="found 4 columns"):
            load(path)


@pytest.mark.parametrize("text", ["[{}]", "[]"])
def test_objects_without_names_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no objects with names"):
        load(written(tmp_path / "t.json", text))


def test_names_that_a_parquet_file_repeats_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([0])], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="2 columns called 'a'"):
        load(tmp_path / "t.parquet")


@pytest.mark.parametrize("suffix", ["json", "parquet", "xlsx"])
def test_files_are_read_up_to_the_limits_of_memory(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, path = pd.DataFrame({"id": ["x", "y"], "a": [0, 1]}), tmp_path / f"t.{suffix}"
    if suffix == "json":
        frame.to_json(path, orient="records")
        limits = {"MAX_JSON": path.stat().st_size}
    elif suffix == "parquet":
        frame.to_parquet(path)
        monkeypatch.setattr(cells, "decoded_bytes", lambda *_: 1000)
        limits = {"MAX_BYTES": 1000, "MAX_LINES": 2}
    else:
        frame.to_excel(path, index=False)
        limits = {"MAX_BYTES": sum(member.file_size for member in zipfile.ZipFile(path).infolist())}
    for name, limit in limits.items():
        monkeypatch.setattr(cells, name, limit)
    assert load(path).columns["a"].numbers[0].tolist() == [0, 1]
    for name, limit in limits.items():
        monkeypatch.setattr(cells, name, limit - 1)
        with pytest.raises(InputError, match=r"expected (at most|a smaller one)"):
            load(path)
        monkeypatch.setattr(cells, name, limit)


def workbook(path: Path, *rows: list[Any]) -> str:
    pd.DataFrame(rows).to_excel(path, index=False, header=False, sheet_name="scores")
    return str(path)


def test_a_workbook_is_read_by_the_sheet_that_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [" id ", "a", ""], ["NA", 1, None], ["q", "", None])
    for sheet in (None, "scores"):
        table = load(path, sheet=sheet)
        assert list(table.columns) == ["id", "a"]
        assert table.columns["id"].labels[1] == ["NA", "q"]
        assert table.columns["a"].numbers[0].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    with pytest.raises(InputError, match="found no sheet 'other', expected one of scores"):
        load(path, sheet="other")
    for rows in ([], [["id", "a"]]):
        with pytest.raises(InputError, match="found no rows in sheet scores"):
            load(workbook(tmp_path / "empty.xlsx", *rows))


def test_a_lazy_frame_is_refused_with_what_makes_one_of_it() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match=re.escape("found a polars.LazyFrame")) as caught:
        load(polars.LazyFrame({"a": [1]}))
    assert ".collect()" in str(caught.value)
    with pytest.raises(InputError, match=r"found a builtins\.dict") as caught:
        load({"a": [1]})
    assert ".collect()" not in str(caught.value)


def test_lines_of_pandas_name_files_and_columns_as_they_are() -> None:
    assert "lines=True" in str(cells.nested("a.jsonl", "objects"))
    assert "lines=True" not in str(cells.nested("a.json", "objects"))
    assert '"modèle A"' in cells.converted_winners("é.csv", "wïnner", "0", ["modèle A", "b"])
    assert 'read_csv("é.csv")' in str(cells.unknown("é.csv", "x", "pd.read_csv({path})"))
    assert '"é-table.csv"' in str(cells.unknown("é.csv", "x", "pd.read_csv({path})"))


@pytest.mark.filterwarnings("default")
def test_cells_that_pandas_would_leave_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: found 3 cells, expected 2"):
        load(written(tmp_path / "t.csv", "id,a\n1,0,5\n2,1,5\n"))
