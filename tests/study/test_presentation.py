"""Tables for people: nothing is rounded to a lie, and every format is escaped."""

from __future__ import annotations

import re
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairsig.io import rendering
from pairsig.io.columns import COMPARISONS, GAIN, METRIC, PVALUE, SYSTEM_A, TRANSFER, Table
from pairsig.io.rendering import pvalue
from study import analysis
from study.tables import presentation


def render(table, suffix, caption=None):
    return presentation.rendered(table, [suffix], caption, known=analysis.known())[suffix]


PAIRS = pd.DataFrame(
    {
        "dataset": ["wmt22_en|de", "a & b"], "system_a": ["A<1>", "online-A"], "same_group": [True, False],
        "n_segments": [2037, 1_000_000], "gain": [0.4567, -0.004], "pvalue": [0.0, 0.043216],
        "pvalue_low": [0.0, 0.04], "pvalue_high": [3.7e-6, 0.0466], "threshold": [np.nan, 1.1],
    }
)  # fmt: skip


def cells(table: pd.DataFrame) -> list[list[str]]:
    """The cells of the rows in Markdown."""
    rows = [line.strip("| ").split(" | ") for line in render(table, "md").splitlines()[2:]]
    return [[cell.strip().replace("\\", "") for cell in row] for row in rows]


@given(st.floats(0, 1))
def test_p_values_are_never_shown_as_zero(value: float) -> None:
    shown = pvalue(value)
    if value < 0.001:
        assert shown == "< 0.001"
    else:
        assert float(shown) == pytest.approx(value, rel=5.1e-3)
        assert float(shown) > 0


def test_cells_are_rounded_by_their_kind() -> None:
    first, second = cells(PAIRS)
    assert first == ["wmt22_en|de", "A<1>", "yes", "2,037", "0.46", "< 0.001 [< 0.001, < 0.001]", "–"]
    assert second[3:] == ["1,000,000", "−0.00", "0.0432 [0.04, 0.0466]", "1.10"]


def test_shares_come_with_their_interval() -> None:
    nan = np.nan
    table = pd.DataFrame({
        "calibration": "c", "distance": "near", "p_low": [0.0, 0.04], "p_high": [0.00125, 0.08], "n_systems": 9,
        "n_test_sets": 1, "n_pairs": [1200, 8], "n_replicated": [993, 4], "share": [0.8276, 0.5],
        "share_low": [0.71, nan], "share_high": [0.912, nan], "expected": [0.95, nan], "expected_low": [0.94, nan],
        "expected_high": [0.96, nan], "difference": [-0.122, nan], "difference_low": [-0.25, nan],
        "difference_high": [0.004, nan], "between": [0.05, nan],
    })  # fmt: skip
    assert cells(table) == [
        [
            "c",
            "near",
            "0",
            "0.00125",
            "9",
            "1",
            "1,200",
            "993",
            "83 % (71–91 %)",
            "95 % (94–96 %)",
            "−12 (−25 to 0)",
            "5 %",
        ],
        ["c", "near", "0.04", "0.08", "9", "1", "8", "4", "50 %", "–", "–", "–"],
    ]


def test_an_interval_is_shown_where_a_number_or_an_end_is_missing() -> None:
    nan = np.nan
    table = pd.DataFrame({"ours": [nan, 2.0, nan], "low": [1.0, 1.5, nan], "high": [nan, nan, nan]})
    assert cells(table) == [["– [1.00, –]"], ["2.00 [1.50, –]"], ["–"]]


def test_the_table_tells_what_a_column_is() -> None:
    """`pvalue_low` bounds a p-value in comparisons, where it is never 0; `p_low` is the end of a range."""
    frames = {
        table.name: pd.DataFrame([dict.fromkeys(table.names, 0.0)])
        for table in (COMPARISONS, analysis.table("calibration"))
    }
    shown = {name: pd.read_csv(StringIO(render(frame, "csv")), dtype=str).iloc[0] for name, frame in frames.items()}
    assert shown["comparisons"]["pvalue_low"] == "< 0.001"
    assert shown["calibration"]["p_low"] == "0"


def test_reproduction_rounds_by_unit() -> None:
    table = pd.DataFrame({"unit": ["%", "BLEU"], "published": [92.0, 0.28], "ours": [92.6, 0.314], "ratio": [1.01, 1]})
    assert [row[1:3] for row in cells(table)] == [["92", "93"], ["0.28", "0.31"]]


def test_csv_is_rounded_and_plain() -> None:
    back = pd.read_csv(StringIO(render(PAIRS, "csv")))
    assert list(back.columns) == list(PAIRS.columns)
    assert back["n_segments"].tolist() == [2037, 1_000_000]
    assert back["gain"].tolist() == [0.46, 0.0]
    assert back["pvalue"].tolist() == ["< 0.001", "0.0432"]
    named = pd.DataFrame({"system_a": ["1 − r"], "gain": [-0.5]})
    assert render(named, "csv") == "system_a,gain\n1 − r,-0.50\n"


def test_markdown() -> None:
    lines = render(PAIRS, "md", caption="All pairs").splitlines()
    assert lines[0] == "All pairs"
    assert lines[2].split("|")[1].strip() == "dataset"
    assert lines[3].count("-:") == 4, "numbers are aligned to the right"
    assert "wmt22\\_en\\|de" in lines[4]
    assert "A\\<1>" in lines[4]
    assert lines[4].rstrip(" |").endswith("–")


def test_latex_is_escaped_and_has_rules() -> None:
    text = render(PAIRS, "tex", caption="p < 5 % & more – δ")
    for part in (
        r"\toprule", r"\midrule", r"\bottomrule", r"wmt22\_en\textbar{}de", r"a \& b", r"\ensuremath{<} 0.001",
        r"\ensuremath{-}0.00", r"\caption{p \ensuremath{<} 5 \% \& more -- \ensuremath{\delta}}", r"\end{table}",
    ):  # fmt: skip
        assert part in text
    assert text.isascii()
    assert "table}" not in render(PAIRS, "tex")


def test_html_is_one_page_without_outside_parts() -> None:
    text = render(PAIRS, "html", caption="a < b")
    assert text.startswith("<!DOCTYPE html>")
    assert "<caption>a &lt; b</caption>" in text
    assert "A&lt;1&gt;" in text
    assert "a &amp; b" in text
    assert "http" not in text
    assert "src=" not in text
    assert "<caption>" not in render(PAIRS, "html")


def test_html_fits_a_window_and_hides_nothing() -> None:
    """Intervals stand beside their numbers, what leads comes first, and all else can be unfolded."""
    names = [column.name for column in analysis.table("reproduction").columns]
    cells = {
        name: [1.5] if column.type is float else ["x"]
        for name, column in zip(names, analysis.table("reproduction").columns, strict=True)
    }
    cells |= {"ours": [1.479], "low": [1.34], "high": [1.63], "unit": ["UAS"], "verdict": ["agrees"], "why": ["a < b"]}
    text = render(pd.DataFrame(cells)[names], "html")
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", text)
    assert heads[:3] == ["verdict", "ours", "published"]
    assert len(heads) == 10
    assert ">1.48 [1.34, 1.63]</td>" in text
    (folded,) = re.findall(r"<dl>(.*?)</dl>", text)
    assert "<dd>a &lt; b</dd>" in folded
    assert len(heads) - 1 + folded.count("<dt>") == len(names) - 2  # all but the ends of the interval


PRINTED = Table("t", (METRIC, SYSTEM_A, GAIN, PVALUE))
ROWS = pd.DataFrame(
    {
        "metric": ["f1", "f1", "f1"], "system_a": ["a−b", "a−b", "c"], "gain": [1.234, 1.234, -0.5],
        "ci_low": [-0.1, -0.1, np.nan], "ci_high": [2.5, 2.5, np.nan], "pvalue": [0.0, "0.04 or so", 1e-20],
    }
)  # fmt: skip


def printed(form: str) -> list[str]:
    """Lines of `ROWS` with a line above the last row, and a note."""
    columns = PRINTED.view(metric="", system_a="A", gain="gain [95 %]", pvalue="")
    return rendering.render(ROWS, columns, form, notes=["a < b"], once=3, borders=[2]).splitlines()


def test_a_table_for_a_terminal() -> None:
    assert printed("table") == [
        "metric    A           gain [95 %]           p",
        "--------  ---  ------------------  ----------",
        "f1        a−b  1.23 [-0.10, 2.50]    < 1e-300",
        "                                   0.04 or so",
        "········  ···  ··················  ··········",
        "f1        c                 -0.50       1e-20",
        "",
        "- a < b",
    ]


def test_names_of_any_script_keep_columns_aligned() -> None:
    """Letters of East Asian scripts take two columns of a terminal, and an accent of its own takes none."""
    names = ["日本語", "cafe\u0301", "ab\ncd"]
    rows = pd.DataFrame({"system_a": names, "gain": [1.0, 22.0, 3.0]})
    assert rendering.render(rows, Table("t", (SYSTEM_A, GAIN)).view(system_a="A", gain=""), "table").splitlines()[
        2:
    ] == [
        "日本語    1.00",
        "cafe\u0301     22.00",
        "ab cd     3.00",
    ]


def test_a_latex_row_begins_with_no_command() -> None:
    """After the end of a row, LaTeX takes a bracket for a distance and a star for a row that no page break follows."""
    rows = pd.DataFrame({"system_a": ["[a", "*b", "c"]})
    text = rendering.render(rows, Table("t", (SYSTEM_A,)).view(system_a="A"), "latex")
    assert text.splitlines()[4:-2] == [r" {}[a \\", r" {}*b \\", r" c    \\"]


def test_the_same_table_in_other_formats() -> None:
    markdown, latex, html = (printed(form) for form in ("markdown", "latex", "html"))
    assert markdown[2:] == [
        "| f1       | a−b | 1.23 [−0.10, 2.50] |  \\< 1e-300 |",
        "|          |     |                    | 0.04 or so |",
        "| f1       | c   |              −0.50 |      1e-20 |",
        "",
        "- a \\< b",
    ]
    assert latex[6] == "\\midrule"
    assert latex[-1] == "% a < b"
    assert html[-5].endswith('<td style="text-align: right">0.04 or so</td></tr>')
    assert html[-4].startswith('<tr style="border-top: 1px solid"><td>f1</td><td>c</td>')
    assert html[-1] == "<ul><li>a &lt; b</li></ul>"
    csv = rendering.render(ROWS, [*PRINTED.columns], "csv").splitlines()
    assert csv == ["metric,system_a,gain,pvalue", "f1,a−b,1.23,< 1e-300", "f1,a−b,1.23,0.04 or so", "f1,c,-0.50,1e-20"]


def test_a_bound_of_a_column_holds_where_it_is_the_larger_one() -> None:
    columns = [TRANSFER["p_next"], PVALUE]
    rows = pd.DataFrame({"p_next": [0.009, 0.01], "pvalue": [0.009, 0.0001]})
    assert rendering.cells(rows, columns, least=0.001) == {"p_next": ["< 0.01", "0.01"], "pvalue": ["0.009", "< 0.001"]}
