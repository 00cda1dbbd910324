"""Scores of totals against the formulas, worked out with fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairsig.metrics import registry

RATIOS = {
    # How often each total is in the numerator, and in the denominator.
    "accuracy": ([1, 0], [0, 1]),
    "uas": ([1, 0], [0, 1]),
    "las": ([1, 0], [0, 1]),
    "precision": ([1, 0, 0], [0, 1, 0]),
    "recall": ([1, 0, 0], [0, 0, 1]),
    "f1": ([2, 0, 0], [0, 1, 1]),
    "parseval": ([2, 0, 0], [0, 1, 1]),
    "conll_uas": ([2, 0, 0], [0, 1, 1]),
    "conll_las": ([2, 0, 0], [0, 1, 1]),
    "aer": ([-1, -1, 1, 1], [0, 0, 1, 1]),
    "alignment_precision": ([0, 1, 0, 0], [0, 0, 1, 0]),
    "alignment_recall": ([1, 0, 0, 0], [0, 0, 0, 1]),
    "rouge1_f": ([1, 0], [0, 1]),
    "mean": ([Fraction(1, 100), 0], [0, 1]),
}


def expected(name, totals):
    above, below = (sum(times * total for times, total in zip(of, totals, strict=True)) for of in RATIOS[name])
    return float(100 * Fraction(above) / below) if below else 0.0


@pytest.mark.parametrize("name", RATIOS)
def test_scores_are_those_of_the_formula(name):
    """Small totals, so that denominators of 0 (the score is 0), 1 and 2 come up; any shape in front."""
    metric = registry.metric(name)
    width = len(RATIOS[name][0])

    @given(st.lists(st.lists(st.integers(0, 4), min_size=width, max_size=width), min_size=2, max_size=5))
    def agrees(totals):
        found = metric.score(totals)
        assert found.tolist() == pytest.approx([expected(name, row) for row in totals], abs=1e-12)
        assert metric.score(totals[0]) == found[0]
        np.testing.assert_array_equal(metric.score([totals, totals[::-1]]), [found, found[::-1]])

    agrees()


@pytest.mark.parametrize("name", RATIOS)
def test_a_denominator_of_one_is_not_an_empty_one(name):
    """One word that is right, one that is predicted and wrong, one document: 100, 0, or its value."""
    width = len(RATIOS[name][0])
    row = [1, 1] if width == 2 else [0, 0, 1, 0] if name == "aer" else [0, 1, 0] if name[-1] == "1" else [1] * width
    assert float(registry.metric(name).score(row)) == expected(name, row)
