"""The result of every test of two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pairsig.io.results import OneRow


@dataclass(frozen=True, kw_only=True)
class TestResult(OneRow):
    """Result of a test of two systems.

    Attributes
    ----------
    metric, test, method, alternative
        Names of the metric and of the test. `method` is "" where the test has no choice of methods. The alternative of
        a margin test is its claim.
    margin
        Of a margin test, in points; None for other tests.
    score_a, score_b
        Scores on the test set, in the order in which the systems were given.
    statistic
        score_a − score_b, in points. Where lower is better, it is negative if A is better.
    gain
        δ >= 0: by how much the better system is better, in points.
    better
        "a", "b", or None if the scores are equal.
    pvalue, pvalue_low, pvalue_high
        The p-value, and its 95 % interval for infinitely many resamples: p itself if nothing is drawn.
    log10_pvalue
        Of an exact test: the decimal logarithm, also of a p-value that is too small for a float; -inf if it is 0.
    n_segments, n_different
        Segments of the test set, and those on which the two systems' counts differ.
    n_resamples, n_greater, n_equal
        Resamples or shuffles drawn; those beyond the border that the formula names, and those exactly on it.
    estimator
        How `pvalue` follows from them: "plain", as a share; for randomization also "near-exact", corrected by a linear
        approximation, or "bound" if the shuffles only show that p is at most `pvalue`. "" if nothing is drawn.
    signature
        All settings of the test in one line, enough to get the same numbers again.
    """

    __test__ = False  # not a pytest class

    metric: str
    test: str
    method: str
    alternative: str
    margin: float | None = None
    score_a: float
    score_b: float
    statistic: float
    gain: float
    better: Literal["a", "b"] | None
    pvalue: float
    pvalue_low: float
    pvalue_high: float
    log10_pvalue: float | None = None
    n_segments: int
    n_different: int
    n_resamples: int = 0
    n_greater: int = 0
    n_equal: int = 0
    estimator: str = ""
    signature: str
