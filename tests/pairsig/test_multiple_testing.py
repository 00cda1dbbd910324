"""Adjusted p-values: Holm's method is the closed test of Bonferroni's; scipy has that of Benjamini and Hochberg."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from pairsig.stats.multiple_testing import benjamini_hochberg, holm

FAMILIES = [
    np.array(own)
    for own in ([0.03], [1.0, 0.0], [0.01, 0.04, 0.03, 0.005], [0.2, 0.2, 0.01, 0.2], [0.6, 0.9, 0.01, 0.011, 0.5])
]


@pytest.mark.parametrize("p", FAMILIES)
def test_holm_rejects_what_every_intersection_rejects(p):
    """A claim's adjusted p is the largest over all sets of claims with it of Bonferroni's p for the set."""
    for claim, adjusted in enumerate(holm(p)):
        sets = [own for size in range(1, len(p) + 1) for own in combinations(range(len(p)), size) if claim in own]
        assert adjusted == pytest.approx(max(min(1, len(own) * p[list(own)].min()) for own in sets), rel=1e-12)


@pytest.mark.parametrize("p", FAMILIES)
def test_benjamini_hochberg_is_scipys(p):
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p), rtol=1e-12)
