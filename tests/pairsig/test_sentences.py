"""Sentences for a paper say what the table says, and never that systems are equal because a test does not tell them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from against import compare_with_one
from pairsig import cli
from pairsig.comparisons import wording
from pairsig.core import statistics
from pairsig.io.rendering import footnote
from pairsig.metrics import registry
from pairsig.report import sentences

ACCURACY = registry.metric("accuracy")


def passed(*wins: int, n: int = 200) -> statistics.Statistics:
    """Systems that pass some items of n; the first passes none of those that others win alone."""
    counts = np.zeros((len(wins) + 1, n, 2), dtype=np.int64)
    counts[:, :, 1] = 1
    counts[:, n // 2 :, 0] = 1
    for system, won in enumerate(wins, start=1):
        counts[system, : max(won, 0), 0] = 1
        counts[system, n // 2 : n // 2 + max(-won, 0), 0] = 0
    names = ["base", *(f"s{number}" for number in range(1, len(wins) + 1))]
    return statistics.Statistics.from_arrays(dict(zip(names, counts, strict=True)), ("correct", "total"))


def said(*wins: int, test: str = "exact", n: int = 200, **options: object) -> str:
    table, _ = compare_with_one(passed(*wins, n=n), [ACCURACY], test, n_resamples=2000, **options)
    return sentences.of_systems(table)


def test_a_difference_that_is_shown():
    """The sign test's own p-value, and the gain of 12 of 200 items."""
    p = binomtest(12, 12).pvalue
    message = said(12)
    assert message.startswith("s1 is better than base by 6.0 points of accuracy (95 % CI ")
    assert message.endswith(f"; two-sided exact permutation test, p = {p:.3g}, n = 200).")
    low, high = (float(end) for end in re.search(r"CI ([\d.]+) to ([\d.]+);", message).groups())
    assert 0 < low < 6 < high


def test_a_difference_that_is_not_shown_is_not_called_none():
    message = said(3)
    assert message.startswith("base and s1 are not significantly different: s1 is ahead by 1.5 points of accuracy (")
    assert f"p = {binomtest(3, 3).pvalue:.3g}" in message
    assert message.endswith("this does not show that they are equally good.")
    assert "better" not in message
    assert "equal" not in message.removesuffix("this does not show that they are equally good.")


def test_the_level_itself_is_not_below_it():
    """Of 6 wins in 6 p is 0.03, of 5 in 5 it is 0.0625."""
    assert "s1 is better" in said(6)
    assert "are not significantly different" in said(5)


def test_the_same_scores():
    message = said(0)
    assert message == "base and s1 have the same accuracy on this test set (n = 200), so p = 1 by definition."


def test_several_systems_are_adjusted():
    wins = (12, -30, 2, 6)
    message = said(*wins)
    alone = [binomtest(abs(won), abs(won)).pvalue for won in wins]
    p = 3 * alone[0], 4 * alone[1], alone[2], 2 * alone[3]  # from the smallest: times 4, 3, 2, 1
    assert p[3] > 0.05 > binomtest(6, 6).pvalue  # which is what the adjustment is for
    assert message == (
        f"Of 4 systems compared with base by accuracy, s1 (by 6.0, p = {p[0]:.3g}) is better, s2 (by 15.0, p = "
        f"{p[1]:.3g}) is worse and s3 (ahead by 1.0, p = {p[2]:.3g}) and s4 (ahead by 3.0, p = {p[3]:.3g}) are not "
        "significantly different (two-sided exact permutation test, p adjusted by Holm for 4 comparisons, n = 200)."
    )


@pytest.mark.parametrize(
    ("test", "method", "alternative", "words"),
    [
        ("randomization", "", "two-sided", "two-sided approximate randomization with 2,000 shuffles"),
        ("bootstrap", "shifted", "observed", "one-sided paired shifted bootstrap with 2,000 resamples"),
        ("bootstrap", "percentile", "two-sided", "two-sided paired percentile bootstrap with 2,000 resamples"),
        ("exact", "", "less", "one-sided exact permutation test (alternative: less)"),
    ],
)
def test_what_the_test_is_called(test, method, alternative, words):
    methods = (method,) if method else ()
    assert f"; {words}, p" in said(12, test=test, method=methods[0] if methods else None, alternative=alternative)


def test_a_p_of_zero_is_a_bound():
    message = said(60, test="bootstrap", alternative="observed")
    bound = float(re.search(r"p < ([\d.e-]+),", message)[1])
    assert bound == pytest.approx(1 - 0.025 ** (1 / 2000), rel=0.01)  # Clopper and Pearson, none of 2,000
    several = said(60, 61, test="bootstrap", alternative="observed")
    assert len(re.findall(r"p < 0\.00369", several)) == 2  # twice that, rounded up


def test_a_p_of_zero_of_few_resamples_shows_nothing():
    """None of 20 resamples: p is below 0.17, and says no more than that."""
    table, _ = compare_with_one(passed(60, 61), [ACCURACY], "bootstrap", alternative="observed", n_resamples=20)
    assert (table["pvalue"] == 0).all()
    said = sentences.of_systems(table)
    assert "s1 (ahead by 30.0, p < 0.337) and s2 (ahead by 30.5, p < 0.337) are not significantly different" in said


def test_an_exact_p_that_no_float_holds_is_a_bound():
    several = said(2000, 2001, 3, test="exact", n=4000)
    assert len(re.findall(r"p < 1e-300", several)) == 2
    assert "p = 0" not in several.replace("p = 0.", "")


def test_documents_are_counted_and_one_of_many_claims_says_so():
    """Twelve segments of four documents are four independent units; two metrics are two claims."""
    a, b = np.ones((2, 12, 2), dtype=int)
    b[:7, 0] = 0
    data = statistics.Statistics.from_arrays({"a": a, "b": b}, ("correct", "total"), documents=list("wwwxxxyyyzzz"))
    table, _ = compare_with_one(data, [ACCURACY], unit="document")
    assert sentences.of_systems(table).split("; ")[1] == (
        "two-sided exact permutation test, p = 0.25, n = 4 documents with 12 segments)"
    )
    both, _ = compare_with_one(data, [ACCURACY, replace(ACCURACY, name="second")])
    for line in sentences.of_systems(both).splitlines():
        assert "p = 0.0156 (0.0312 adjusted by Holm for 2 comparisons), n = 12)" in line


def test_lower_is_better_is_said_and_gains_have_directions():
    errors = replace(ACCURACY, name="errors", higher_is_better=False)
    one, _ = compare_with_one(passed(-12), [errors])
    assert sentences.of_systems(one).startswith("s1 is better than base by 6.0 in errors (lower is better; 95 % CI ")
    two, _ = compare_with_one(passed(-12, 30), [errors])
    assert "by errors (lower is better), s1 (by 6.0, p = " in sentences.of_systems(two)
    assert "is better and s2 (by 15.0, p = " in sentences.of_systems(two)


def test_equally_good_up_to_a_margin_is_a_sentence_of_its_own():
    assert "base and s1 are equally good up to 20 points of accuracy (two one-sided tests, p = " in said(1, margin=20.0)
    assert "base and s1 could not be shown to be equally good up to 1 points" in said(12, margin=1.0)


def test_decimals_follow_the_interval():
    assert [sentences.digits(12.3, 0.0123, high) for high in (0.0567, 1.2, 9.0, 90.0, 1e6)] == [3, 2, 1, 1, 1]
    assert [sentences.digits(gain, np.nan, np.nan) for gain in (0.0, 0.00123, 12.3, 1e-9)] == [2, 4, 2, 6]
    row = {"gain": 0.02, "ci_low": -0.0123, "ci_high": 0.0567}
    assert sentences._interval(row) == "−0.012 to 0.057"


def test_from_the_command_line(file, capsys):
    files = [file("a", "\n".join("111011110111")), file("b", "\n".join("011010100100"))]
    assert cli.main(["compare", *files, "--format", "sentence"]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "a and b are not significantly different: a is ahead by 0.42 in score (95 % CI 0.04 to 0.68; two-sided "
        "exact permutation test, p = 0.0625, n = 12); this does not show that they are equally good.\n"
        "Higher score is assumed to be better.\n"
    )
    assert "bootstrap" not in err  # which the sentence does not speak of
    assert (
        cli.main(["compare", *files, "--test", "bootstrap", "--alternative", "observed", "--format", "sentence"]) == 0
    )
    assert "pairsig: note: bootstrap observed is one-sided" in capsys.readouterr().err


def test_of_methods(file, capsys):
    rng = np.random.default_rng(3)
    a1, a2, b1, b2 = (
        file(name, "\n".join(map(str, (rng.random(400) < share).astype(int))))
        for name, share in (("a1", 0.9), ("a2", 0.88), ("b1", 0.5), ("b2", 0.52))
    )
    assert cli.main(["compare", "--runs", a1, a2, "--runs", b1, b2, "--format", "sentence"]) == 0
    assert re.fullmatch(
        r"a is better than b by 0\.\d+ in score \(over runs and test sets, p = .+, "
        r"2 and 2 runs, n = 400\)\.\nHigher score is assumed to be better\.\n",
        capsys.readouterr().out,
    )


class TestSignatures:
    def test_of_latex_can_be_set(self):
        message = footnote(["metric:my_f1|test:exact|version:1", "metric:a&b|test:exact|version:1"], "latex")
        assert message == (
            "\n\\par{\\footnotesize\\texttt{metric:my\\_f1,a\\&b\\textbar{}test:exact\\textbar{}version:1}}"
        )

    def test_of_other_formats_are_not_printed(self):
        assert footnote(["metric:f1|test:exact"], "table") == ""

    @pytest.mark.parametrize("style", ["markdown", "latex"])
    def test_all_settings_stand_below_a_table(self, style):
        table, _ = compare_with_one(passed(12), [ACCURACY], margin=20)
        last = wording.render(table, style).splitlines()[-4:]
        for line, signature in zip(last, table["signature"], strict=True):
            for setting in signature.split("|"):
                assert setting.replace("_", "\\_" if style == "latex" else "_") in line


def test_a_one_sided_test_names_its_direction_and_has_no_p_by_definition():
    message = said(12, alternative="greater")
    assert message.startswith(
        "The score of base is not significantly greater than that of s1: s1 is ahead by 6.0 points"
    )
    assert "p = 1," in message
    won, lost = np.zeros((2, 4, 2), dtype=np.int64), np.zeros((2, 4, 2), dtype=np.int64)
    won[..., 1] = lost[..., 1] = 1
    won[0, 0, 0] = won[1, 1, 0] = 1  # one item each: P(Bin(2, ½) >= 1) = 3/4
    tied = statistics.Statistics.from_arrays({"a": won[0], "b": won[1]}, ("correct", "total"))
    table, _ = compare_with_one(tied, [ACCURACY], "exact", alternative="greater", n_resamples=100)
    assert "p = 0.75, n = 4" in sentences.of_systems(table)
    assert "by definition" not in sentences.of_systems(table)


def test_equivalence_to_several_systems_is_adjusted():
    """What is below 0.05 for a pair alone, and above it after Holm's adjustment for three pairs, is no claim."""
    alone, together = said(1, n=400, margin=1.2), said(1, 1, 1, n=400, margin=1.2)
    assert "base and s1 are equally good up to 1.2 points" in alone
    assert together.count("could not be shown to be equally good") == 3
    assert together.count("adjusted by Holm for 3 comparisons), n = 400") == 3
