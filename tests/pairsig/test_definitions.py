"""Tests as values: names, formulas, sentences and borders."""

import numpy as np
import pytest

import oracles
from pairsig import InputError
from pairsig.core import definitions
from pairsig.core.definitions import TESTS, find


def test_every_test_is_found_by_its_name_method_and_alternative():
    for test in TESTS:
        assert find(test.name, test.method, test.alternative) is test
    assert find("exact").label == "exact"
    assert find("bootstrap", "percentile", "observed").label == "bootstrap percentile observed"
    assert [test.label for test in TESTS if test.often] == ["bootstrap observed", "bootstrap percentile observed"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("sign",), "unknown test 'sign', expected one of exact, randomization, bootstrap"),
        (("exact", "shifted"), "the exact test has no methods to choose from, found method 'shifted'"),
        (("bootstrap", "basic"), "unknown method of the bootstrap test: 'basic'"),
        (("exact", None, "observed"), "unknown alternative of the exact test: 'observed', expected one of two-sided"),
    ],
)
def test_tests_that_do_not_exist(wanted, message):
    with pytest.raises(InputError, match=message):
        find(*wanted)


def test_the_formulas_are_printed():
    text = definitions.formulas()
    text = " ".join(text.split())
    for line in (
        "exact two-sided p = P(|δ'| >= δ) (Zmigrod et al. 2022)",
        "randomization two-sided p = (#{|δ'| >= δ} + 1) / (b + 1) (Noreen 1989; sigf; art)",
        "bootstrap shifted observed p = #{δ* > 2δ} / b (Berg-Kirkpatrick et al. 2012, Figure 1)",
        "bootstrap percentile two-sided p = min(1, 2 (#{δ* <= 0} + 1) / (b + 1)) (Efron and Tibshirani 1993)",
    ):
        assert line in text


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.signature)
def test_p_and_borders_are_those_of_the_documentation(test):
    """For gains around the borders, of either direction of the difference."""
    beyond = oracles.BEYOND[test.method, test.alternative]
    gains = np.arange(-10, 11) / 2
    for d in (2.0, -2.0):
        favoured = test.favours(d, higher_is_better=True)
        better = gains * (1 if d >= 0 else -1)  # of the better system over the other one
        n_greater = sum(int((sign * better > multiple * abs(d)).sum()) for sign, multiple in test.borders(favoured))
        n_equal = sum(int((sign * better == multiple * abs(d)).sum()) for sign, multiple in test.borders(favoured))
        far = np.array([beyond(d, gain) for gain in gains])
        assert (n_greater, n_equal) == ((far > 0).sum(), (far == 0).sum())
        extreme = test.extreme(n_greater, n_equal)
        strict = (test.method, test.alternative) in oracles.STRICT
        assert extreme == n_greater + (0 if strict else n_equal)
        plus = 0 if strict else 1
        assert test.pvalue(extreme, 21) == min(1, oracles.sides(test) * (extreme + plus) / (21 + plus))


def test_a_direction_is_of_scores_and_not_of_quality():
    up = find("exact", None, "greater")
    assert up.favours(1.0, True)
    assert not up.favours(1.0, False)
    assert not up.favours(-1.0, True)
    assert up.favours(0.0, True)
    assert find("exact").favours(-1.0, True)


def test_the_sentence_on_a_p_value():
    how = {"a": "new", "b": "old", "ahead": "new", "behind": "old", "statistic": 2.0, "gain": 2.0}

    def sentence(*wanted):
        return find(*wanted).meaning("(p = 0.03)", "segments", "{:.1f}".format, **how)

    assert sentence("exact") == (
        "p is the probability that they would differ by 2.0 points or more if the two outputs were swapped at random "
        "on each of these segments (p = 0.03)."
    )
    assert "twice the probability that old is at least as good as new on test sets drawn" in sentence(
        "bootstrap", "percentile"
    )
    assert "the score of new minus that of old is at least 4.0 points, twice the observed" in sentence(
        "bootstrap", "shifted", "greater"
    )
    assert find("bootstrap").in_a_paper(1000) == "two-sided paired shifted bootstrap with 1,000 resamples"
    assert find("exact", None, "less").in_a_paper(0) == "one-sided exact permutation test (alternative: less)"
    assert find("exact", None, "less").monte_carlo is find("randomization", None, "less")
    assert find("bootstrap").monte_carlo is find("bootstrap")
