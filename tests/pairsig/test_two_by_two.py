"""Items on which only one system is right: their counts in results, and tests of a 2 × 2 table."""

import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest

import pairsig
from conftest import examples
from pairsig import cli


def refused(capsys, *words):
    """The sentence of a refusal."""
    with pytest.raises(SystemExit, match="2"):
        sys.exit(cli.main(["compare", *map(str, words)]))
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "table", [(45, 13, 8, 18), (0, 1, 0, 0), (5, 0, 0, 5), (794, 150, 86, 570), (0, 2000, 1800, 0)]
)
def test_a_table_is_tested_exactly(table, rows):
    """scipy's binomial test of the discordant items is the oracle; with none, p is 1."""
    both, only_a, only_b, _ = table
    (row,) = rows("--counts", *table)
    discordant = only_a + only_b
    p = binomtest(only_a, discordant).pvalue if discordant else 1.0
    assert row["test"] == "exact"
    assert row["pvalue"] == pytest.approx(p, rel=1e-9)
    assert (row["only_a"], row["only_b"], row["n_segments"]) == (only_a, only_b, sum(table))
    assert row["score_a"] == pytest.approx(100 * (both + only_a) / sum(table))
    assert row["score_b"] == pytest.approx(100 * (both + only_b) / sum(table))


def test_what_exact2x2_prints_for_agresti_1990(rows):
    """`mcnemar.exact` of the approval ratings in R's help of mcnemar.test: p-value = 3.716e-05."""
    (row,) = rows("--counts", 794, 150, 86, 570)
    assert f"{row['pvalue']:.3e}" == "3.716e-05"


def test_the_default_table_has_both_counts(capsys):
    assert cli.main(["compare", "--counts", "45", "13", "8", "18"]) == 0
    head, _, line = capsys.readouterr().out.splitlines()
    assert "only A    only B" in head
    assert "A: A    B: B" in head
    assert line.split()[-4:] == ["13", "8", "exact", "0.383"]


@examples(10)
@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.booleans(), st.sampled_from([1, 100])
)
def test_the_counts_of_any_outcomes(outcomes, errors, passed):
    """Each item is compared by itself; where lower is better, the system without the error is right."""
    a, b = (np.array([own[side] for own in outcomes]) for side in (0, 1))
    values = {"a": passed * a, "b": passed * b}
    assume(a.any() or b.any())  # all scores are 0: nothing shows what a passed item would score
    data = pairsig.read(values, lower_is_better=errors)
    row = pairsig.compare(data).table.iloc[0]
    only_a, only_b = sum(x > y for x, y in outcomes), sum(x < y for x, y in outcomes)
    expected = (only_b, only_a) if errors else (only_a, only_b)
    assert (row["only_a"], row["only_b"]) == expected


def test_scores_that_are_no_outcomes_have_no_such_counts(tmp_path, rows, capsys):
    for name, scores in (("a", (1, 0.5, 0)), ("b", (0, 0.5, 1))):
        (tmp_path / name).write_text("".join(f"{score}\n" for score in scores), encoding="utf-8")
    (row,) = rows(tmp_path / "a", tmp_path / "b")
    assert row["only_a"] is row["only_b"] is None
    assert cli.main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "only A" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--counts", 0, 0, 0, 0), "expected numbers of items, 0 or more, and at least one item"),
        (("--counts", 1, -2, 3, 4), "found the counts 1, -2, 3, 4"),
        (("--counts", 10**9, 0, 0, 0), "at most 5,000,000"),
        (("a.txt", "--counts", 1, 2, 3, 4), "found a.txt in addition to --counts"),
        (("--counts", 1, 2, 3, 4, "--metric", "f1"), "found --metric in addition to --counts"),
        (("--counts", 1, 2, 3, 4, "--lower-is-better"), "found --lower-is-better in addition to --counts"),
        (("--counts", 1, 2, 3), "expected 4 arguments"),
        (("--counts", 1, 2, 3.5, 4), "invalid whole number"),
    ],
)
def test_tables_that_are_refused(words, message, capsys):
    assert message in refused(capsys, *words)
