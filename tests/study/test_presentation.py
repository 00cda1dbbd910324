"""Tables for readers: rounded as their columns declare, p-values never 0, escaped in HTML and LaTeX."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

from pairsig.io.columns import COMPARISONS, Table
from study import inputs
from study.tables.columns import numeric, with_interval
from study.tables.declared import all_declared
from study.tables.presentation import rendered

PAIRS = pd.DataFrame(
    {
        "dataset": ["wmt22_en|de", "a & b"], "system_a": ["A<1>", "online-A"], "same_group": [True, False],
        "n_segments": [2037, 1_000_000], "gain": [0.4567, -0.004], "pvalue_one_sided": [0.0, 0.043216],
        "pvalue_low": [0.0, 0.04], "pvalue_high": [3.7e-6, 0.0466],
    }
)  # fmt: skip


def text(table, suffix, known=COMPARISONS):
    return rendered(table, replace(known, caption="A caption"), suffix)


def test_html_is_one_page_with_rounded_and_escaped_cells():
    page = text(PAIRS, "html")
    assert page.startswith("<!DOCTYPE html>")
    assert "A caption" in page
    assert not re.search(r"<script|https?://", page)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page)
    assert cells[:6] == ["wmt22_en|de", "A&lt;1&gt;", "yes", "2,037", "0.46", "&lt; 0.001 [&lt; 0.001, &lt; 0.001]"]
    assert cells[9:12] == ["1,000,000", "−0.00", "0.0432 [0.04, 0.0466]"]


def test_latex_is_escaped_and_has_rules():
    page = text(PAIRS, "tex")
    assert r"\toprule" in page
    assert r"a \& b" in page
    assert r"wmt22\_en" in page


def test_shares_stand_with_their_interval():
    table = Table("t", (*with_interval("share", "a share", "share"), numeric("p", "a bound", shown="bound")))
    rows = pd.DataFrame({"share": [0.8276], "share_low": [0.8], "share_high": [0.85], "p": [0.00125]})
    assert re.findall(r"<td[^>]*>(.*?)</td>", text(rows, "html", table)) == ["83 % (80–85 %)", "0.00125"]


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "html", "tex"])
def test_a_table_is_written_by_the_suffix_of_its_file(suffix, tmp_path):
    table = Table("t", (numeric("x", "a number"),), caption="A caption")
    inputs.write(pd.DataFrame({"x": [1.5]}), table, [str(tmp_path / f"a.{suffix}")])
    assert (tmp_path / f"a.{suffix}").stat().st_size > 0


def test_sheets_are_no_tables_of_the_study():
    assert "heterogeneity" in all_declared()
    assert not {"published", "calibrations", "families"} & all_declared().keys()
