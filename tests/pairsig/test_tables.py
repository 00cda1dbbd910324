"""Tables: nothing is lost on the way to a file and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from pairsig.io.columns import DATASET, GAIN, Table
from pairsig.io.errors import InputError
from pairsig.io.tables import read, write

GAINS = Table("gains", (DATASET, GAIN))
SUFFIXES = [".tsv", ".csv", ".parquet"]

# Letters of all alphabets, quotes, separators and look-alikes of numbers, but no line breaks.
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    st.sampled_from(["12", "007", "true", "NA", "nan", "", "1e5", 'a "b"', "a\tb", "a,b", " x ", "None", "#"]),
)
rows = st.tuples(
    texts, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.floats(allow_nan=False, width=64)
)


def frame(cells: list[tuple[str, bool, int, float, float]]) -> pd.DataFrame:
    columns = ["system_a", "same_group", "n_greater", "threshold", "gain"]
    types = {"same_group": bool, "n_greater": "int64", "threshold": float, "gain": float}
    return pd.DataFrame(cells, columns=columns).astype({"system_a": "str", **types})


@pytest.mark.parametrize("suffix", SUFFIXES)
@examples(15)
@given(cells=st.lists(rows, min_size=1, max_size=6))
def test_round_trip(cells: list[tuple[str, bool, int, float, float]], suffix: str, tmp_path: Path) -> None:
    table = frame(cells)
    write(table, tmp_path / f"t{suffix}")
    pd.testing.assert_frame_equal(read(tmp_path / f"t{suffix}"), table, check_exact=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_table_keeps_its_columns(suffix: str, tmp_path: Path) -> None:
    write(frame([]), tmp_path / f"t{suffix}")
    back = read(tmp_path / f"t{suffix}")
    assert list(back.columns) == ["system_a", "same_group", "n_greater", "threshold", "gain"]
    assert len(back) == 0


def test_the_file_to_the_letter(tmp_path: Path) -> None:
    table = frame([("a", True, 7, np.nan, 0.1 + 0.2), ("b", False, 0, 1e-300, 1.0)])
    write(table.set_axis([5, 9]), tmp_path / "t.tsv")
    assert (tmp_path / "t.tsv").read_bytes() == (
        b"system_a\tsame_group\tn_greater\tthreshold\tgain\tn_rows\n"
        b"a\ttrue\t7\t\t0.30000000000000004\t2\n"
        b"b\tfalse\t0\t1e-300\t1.0\t2\n"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    write(frame([(f"s{i}", True, 10 + i, 0.5, 1.25) for i in range(12)]), tmp_path / f"t{suffix}")
    content = (tmp_path / f"t{suffix}").read_bytes()
    header = content.find(b"n_rows") + len(b"n_rows")
    for end in range(header, len(content), 1 if suffix != ".parquet" else 97):
        (tmp_path / f"cut{suffix}").write_bytes(content[:end])
        with pytest.raises(InputError, match=f"cut{suffix}"):
            read(tmp_path / f"cut{suffix}")


def test_a_line_that_comes_twice_is_refused(tmp_path: Path) -> None:
    write(frame([("a", True, 7, 0.5, 0.1), ("b", False, 0, 0.5, 1.0)]), tmp_path / "t.tsv")
    lines = (tmp_path / "t.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "t.tsv").write_text("".join([*lines, lines[1]]))
    with pytest.raises(InputError, match=r"t\.tsv has 3 rows, but its column n_rows says 2: it was truncated"):
        read(tmp_path / "t.tsv")


def test_a_file_of_other_programs_needs_no_number_of_rows(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("dataset\tgain\na\t1\n")
    assert read(tmp_path / "t.tsv")["gain"].tolist() == [1]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "2", "many"], r"t\.tsv, row 3: gain is 'many', expected a number"),
        (["1", "true", "2"], r"t\.tsv, row 2: gain is 'true', expected a number"),
        (["true", "true", "true"], r"t\.tsv, row 1: gain is True, expected a number"),
        (["1", "2", "9" * 5000], r"t\.tsv, row 3: gain is '9+…' \(5,000 characters\), expected a number"),
        (["1", "2", "inf"], r"t\.tsv, row 3: gain is inf, expected a number"),
        (["1_0", "2", "3"], r"t\.tsv, row 1: gain is '1_0', expected a number"),
        (["1", "١", "3"], r"t\.tsv, row 2: gain is '١', expected a number"),
        (["1", "x" * 9000, "3"], r"t\.tsv, row 2: gain is 'x+…' \(9,000 characters\), expected a number"),
    ],
)
def test_columns_that_must_be_numbers(cells: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("dataset\tgain\n\n" + "".join(f"a\t{cell}\n" for cell in cells), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read(tmp_path / "t.tsv", GAINS)


def test_keys_are_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("dataset\ttask\tgain\na\tx\t1\nb\tx\t2\n\na\tx\t3\n")
    assert len(read(tmp_path / "t.tsv", Table("t", (), key=("gain",)))) == 3
    with pytest.raises(InputError, match=r"t\.tsv, row 3: found a, x again, expected it once"):
        read(tmp_path / "t.tsv", Table("t", (), key=("dataset", "task")))


def test_types_of_unknown_columns_are_inferred_from_their_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,x,true,\n2,,false,0.5\n")
    table = read(tmp_path / "t.csv")
    assert [str(dtype) for dtype in table.dtypes[["a", "c", "d"]]] == ["int64", "bool", "float64"]
    assert table["b"].tolist() == ["x", ""]


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"dataset\tgain\r\n2017\t1.5\r\n")
    assert read(tmp_path / "t.tsv").to_dict("list") == {"dataset": ["2017"], "gain": [1.5]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"a\tb\n1\t2\n3\n", r"t\.tsv, line 3: found 1 fields, expected 2"),
        (b"a\tb\n1\t2\t3\n", r"t\.tsv, line 2: found 3 fields, expected 2"),
        (b"a\ta\n1\t2\n", r"t\.tsv, line 1: found 2 columns called 'a'"),
        (b"a\n\xff\n", "expected UTF-8"),
        (b'a\n"open\n', "cannot be read as a table"),
    ],
)
def test_bad_files_are_named(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "t.tsv")
    assert str(tmp_path / "t.tsv") in str(caught.value)


def test_missing_file_folder_and_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "t.tsv")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"does not exist"):
        write(frame([]), tmp_path / "none" / "t.tsv")
    with pytest.raises(InputError, match=r"ends in \.xlsx"):
        write(frame([]), tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="has no suffix"):
        read(tmp_path / "t")
    (tmp_path / "t.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="cannot be read as a table"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failing_write_leaves_the_old_file(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text("old")

    def fail(self: pd.DataFrame, target: Path, **_: object) -> None:
        Path(target).write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_parquet" if suffix == ".parquet" else "to_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write(frame([("a", True, 1, 1.0, 1.0)]), path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(path.name, "old")]


def test_writing_does_not_change_the_table(tmp_path: Path) -> None:
    table = frame([("a", True, 1, 1.0, 1.0)])
    before = table.copy()
    write(table, tmp_path / "t.tsv")
    pd.testing.assert_frame_equal(table, before)
