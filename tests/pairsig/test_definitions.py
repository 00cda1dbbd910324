"""A test that is defined in one place is known everywhere: tried with one that only this module defines."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, wilcoxon

import pairsig
from pairsig import InputError, cli
from pairsig.comparisons import all_pairs
from pairsig.core import definitions
from pairsig.core.engine import Resampling
from pairsig.stats import kernels
from pairsig.stats.exact import ExactResult
from pairsig.stats.paired import Pair

WON, LOST, N = 9, 1, 20
P = binomtest(LOST, WON + LOST).pvalue
"""The sign test's p-value of `SYSTEMS`; the exact test differs, because some segments are won by more than others."""

SYSTEMS = {
    name: np.repeat(scores, [WON, LOST, N - WON - LOST]) for name, scores in (("old", [0, 5, 0]), ("new", [1, 0, 0]))
}


def sign(pair, test):
    """The kernel: how many segments each system wins."""
    one, other = (pair.metric.score(counts) for counts in pair.units)
    won, lost = int((one > other).sum()), int((one < other).sum())
    p = binomtest(won, won + lost).pvalue if won + lost else 1.0
    return ExactResult(**pair.described(test), pvalue=p, log10_pvalue=math.log10(p), p_equal=0.0, error_bound=0.0)


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Two systems' files, and the sign test, which is defined while this fixture is used."""
    own = replace(
        definitions.find("exact"), name="sign", favoured=(), share="|W' − L'| >= |W − L|", source="Arbuthnot",
        title="sign test", event="one of {a} and {b} would win so many segments",
    )  # fmt: skip
    monkeypatch.setattr(definitions, "TESTS", (*definitions.TESTS, own))
    monkeypatch.setitem(kernels.KERNELS, "sign", sign)
    paths = []
    for name, scores in SYSTEMS.items():
        paths.append(str(tmp_path / f"{name}.txt"))
        np.savetxt(paths[-1], scores, fmt="%d")
    return paths


def test_the_command_line(files, capsys, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "page.svg"
    assert cli.main(["compare", *files, "--test", "sign", "--format", "json", "--html", str(page)]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["test"], row["pvalue"], row["n_resamples"]) == ("sign", pytest.approx(P), None)
    text = page.read_text()
    assert "p is the probability that one of old and new would win so many segments if the two outputs were" in text
    assert "If neither system were better" not in text  # a null distribution of gains is not what it compares
    assert f"two-sided sign test, p = {P:.3g}, n = {N}" in text
    assert cli.main(["compare", *files, "--test", "sign", "--format", "sentence", "--plot", str(picture)]) == 0
    assert f"two-sided sign test, p = {P:.3g}, n = {N}" in capsys.readouterr().out
    assert picture.exists()


@pytest.mark.parametrize("command", ["compare", "all-pairs", "plan"])
def test_help(files, command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "exact, randomization, bootstrap, exact-bootstrap, sign" in text


def test_python(files):
    result = pairsig.compare(SYSTEMS, "sign")
    assert result.pvalue == pytest.approx(P)
    assert f"sign test, p = {P:.3g}" in str(result)
    assert definitions.from_signature(result.signature).name == "sign"
    with pytest.raises(InputError, match="expected one of exact, randomization, bootstrap, exact-bootstrap, sign"):
        pairsig.compare(SYSTEMS, "signs")


def test_all_pairs(files):
    statistics = pairsig.Statistics.from_arrays(SYSTEMS | {"same": SYSTEMS["new"]}, ("value",))
    table = all_pairs.compare(statistics, "sign", metric="mean").set_index(["system_a", "system_b"])
    assert table["test"].unique().tolist() == ["sign"]
    assert table["pvalue"].tolist() == [pytest.approx(P), pytest.approx(P), 1.0]


def test_every_test_without_draws_has_a_kernel_and_every_kernel_a_test():
    assert tuple(kernels.KERNELS) == definitions.names(exact=True)


@pytest.mark.parametrize("test", definitions.TESTS, ids=lambda test: test.label)
def test_the_function_of_a_test_is_its_kernel(test):
    """`Test.function` names a public function, which returns what the command line and `compare` run."""
    a, b = np.random.default_rng(1).integers(0, 3, (2, 12))
    how = {} if test.exact else {"n_resamples": 50}
    how |= {"method": test.method} if test.method else {}
    found = getattr(pairsig, test.function)(a, b, alternative=test.alternative, **how)
    assert found == kernels.run(Pair.of(a, b, None, None), test, Resampling(50))


def test_a_method_may_have_some_alternatives_only(monkeypatch):
    own = replace(definitions.find("bootstrap"), method="invented")
    monkeypatch.setattr(definitions, "TESTS", (*definitions.TESTS, own))
    assert definitions.find("bootstrap", "invented") is own
    assert re.fullmatch(
        r".*of bootstrap: shifted \(default\), .*, invented; of exact-bootstrap: .*", definitions.described_methods()
    )
    with pytest.raises(
        InputError, match="unknown alternative of the bootstrap test: 'less', expected one of two-sided"
    ):
        definitions.find("bootstrap", "invented", "less")


def test_words_of_a_test_follow_its_formula():
    """The words of each event name the quantities of the formula, in the same direction."""
    for test in definitions.TESTS:
        systems = {"a": "A", "b": "B", "ahead": "A", "behind": "B"}
        said = test.meaning("(p = 0.5)", "segments", "{:g}".format, statistic=1.5, gain=1.5, **systems)
        assert said.startswith("p is twice the prob" if "min(1, 2" in test.formula else "p is the prob")
        assert (test.statistic in said) == (not test.statistic or "t" in test.share or "τ" in test.share)
        if test.statistic:
            assert "points" not in said
            assert ("at least as large" in said, "at least as small" in said) == (
                "t' >= t" in test.formula,
                "t' <= t" in test.formula,
            )
            continue
        assert ("the score of A minus that of B" in said) == test.directed
        assert ("with replacement" in said) == (test.draw == "resample")
        assert ("3 points, twice" in said) == any(border in test.formula for border in ("2δ", "− d "))
        assert ("at least" in said) == ((">=" in test.formula and test.directed) or "δ* <= 0" in test.formula)


def test_words_follow_the_statistic_of_the_test(monkeypatch, tmp_path, capsys):
    """A signed-rank test of SYSTEMS, by scipy: nothing that is printed speaks of differences of so many points."""
    own = definitions.declared(
        "signed-rank", "swap", "Wilcoxon signed-rank test", exact=True, statistic="sum of signed ranks"
    )
    monkeypatch.setattr(definitions, "TESTS", (*definitions.TESTS, *own))

    def signed_rank(pair, test):
        one, other = (pair.metric.score(counts) for counts in pair.units)
        p = float(wilcoxon(one, other, alternative=test.alternative).pvalue)
        return ExactResult(**pair.described(test), pvalue=p, log10_pvalue=math.log10(p), p_equal=0.0, error_bound=0.0)

    monkeypatch.setitem(kernels.KERNELS, "signed-rank", signed_rank)
    for name, scores in SYSTEMS.items():
        np.savetxt(tmp_path / f"{name}.txt", scores, fmt="%d")
    files, page = [str(tmp_path / f"{name}.txt") for name in SYSTEMS], tmp_path / "page.html"
    assert cli.main(["compare", *files, "--test", "signed-rank", "--format", "sentence", "--html", str(page)]) == 0
    assert "two-sided Wilcoxon signed-rank test, p = " in capsys.readouterr().out
    text = page.read_text()
    assert "p is the probability that the sum of signed ranks would be at least as extreme as on this test set" in text
    assert "they would differ by" not in text
    assert "If neither system were better" not in text  # the distribution of gains is not that of the statistic
