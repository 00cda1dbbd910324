"""Is one system as good as another, up to a margin? Non-inferiority and equivalence, in closed form: nothing is drawn.

A p-value above 0.05 does not say that two systems are equally good. What does is a small p-value against the opposite:
that they differ by the margin or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.choices import choose
from pairsig.errors import InputError
from pairsig.intervals import jackknifed, passed_or_failed
from pairsig.metrics import Metric
from pairsig.paired import Pair, Result
from pairsig.pass_fail import exact_p

Floats = NDArray[np.float64]

CLAIMS = ("equivalence", "a-not-worse", "b-not-worse")
"""What can be claimed of two systems: that they differ by less than the margin, that A (B) is not worse by as much."""


@dataclass(frozen=True, kw_only=True)
class MarginResult(Result):
    """Result of a test against a margin: what `Result` says, where `gain` and `better` are as observed.

    Attributes
    ----------
    margin
        M, in the unit of the score.
    claim
        One of `CLAIMS`, which a small `pvalue` supports.
    exact
        Whether the p-value is that of the exact test, of units that are passed or failed.
    """

    margin: float
    claim: str
    exact: bool

    def says(self, name_a: str, name_b: str) -> str:
        """A sentence on what a small p-value shows."""
        by = f"{self.margin:g} in {self.metric}"
        if self.claim == "equivalence":
            return f"a small p shows that {name_a} and {name_b} differ by less than {by}; a large one shows nothing"
        good, other = (name_a, name_b) if self.claim == "a-not-worse" else (name_b, name_a)
        return f"a small p shows that {good} is not worse than {other} by more than {by}"


@dataclass(frozen=True)
class _Margin:
    """What a signature calls the test."""

    variant: str
    name: str = "margin"


def margin_test(
    a: ArrayLike,
    b: ArrayLike,
    margin: float,
    claim: str = "equivalence",
    *,
    metric: str | Metric = "accuracy",
    documents: ArrayLike | None = None,
) -> MarginResult:
    """Non-inferiority or equivalence of two systems, up to a margin.

    With δ what A is better by on the test set (below 0 if it is worse), Δ the same on the population that the test set
    was drawn from, M > 0 the margin, all in the unit of the score:

    * ``claim="a-not-worse"``: A is not worse than B by M or more. Null hypothesis Δ <= −M.
    * ``claim="b-not-worse"``: B is not worse than A by M or more. Null hypothesis Δ >= M.
    * ``claim="equivalence"``: A and B differ by less than M. Null hypothesis |Δ| >= M; p is the larger of the two
      others (two one-sided tests, TOST: Schuirmann 1987).

    **Studentized**, for every metric. With s the jackknife's standard error of the gain and ν its degrees of freedom,
    both as in `gain_interval`,

        p of "a-not-worse" = P(Tν >= (M + δ) / s),    p of "b-not-worse" = P(Tν >= (M − δ) / s),

    Tν having Student's distribution. So p < 0.05 for equivalence where the 90 % interval of the gain lies within
    (−M, M), and p < 0.025 where the 95 % interval does.

    **Exact**, where every unit is passed or failed (as in `gain_interval`), m = M / the score of a passed unit. A
    passes r units that B fails, B passes s that A fails, of n. For "a-not-worse" with
    Z = (r − s + nm) / sqrt(n(2q − m(1 + m))), where q is the likeliest probability that only B passes, given Δ = −m
    (Tango 1998): the larger root of 2n q² − (r + s + m(2n − r + s)) q + s m(1 + m) = 0;

        p = max over ψ of P(Z' >= Z; n, ψ, −m),

    the probability that a random table (r', s') of n units is as extreme (ties count) where ψ is the probability that
    one system alone passes and Δ = −m (Berger and Sidik 2003 look at this order of tables). The maximum is over
    101 values of ψ from m to 1, equally spaced in arcsin √ψ, and as many between the neighbours of the best: it
    was within 1e-5 of itself of the maximum over 8,001 in 60 random tables of 8 to 300 units. "b-not-worse" is the same
    with r and s exchanged. It keeps its level for any number of units, however few differ.

    How often p < 0.05 where A is worse by exactly M ("a-not-worse" for Δ = −M, the worst case of the null hypothesis),
    in % of test sets of n units from a known population (10,000 a cell, ± 0.4; the last row in closed form):

    ====================================================  =======  =======  =======  =======  =======
    n units of                                            n = 10   20       50       100      500
    ====================================================  =======  =======  =======  =======  =======
    mean, differences normal                              5.0      4.9      5.2      5.0      5.5
    … exponential (skewness 2)                            13 (1)   10 (2)   8.1 (3)  7.2 (3)  6.2 (4)
    … lognormal, σ = 1 (skewness 6)                       20 (1)   15 (1)   12 (1)   10 (1)   7.5 (3)
    F1, lengths lognormal, σ = 1                          6.3      5.5      4.7      4.7      4.9
    … the systems differ on 5 % of the segments           0.1      0.9      3.0      4.0      4.1
    BLEU, two systems of WMT 2022                         7.4 (3)  6.1      5.8      5.8      5.3
    … documents                                           6.9      6.2      6.0      6.2      5.8
    UAS, two parsers of the English Web Treebank          4.9      5.1      5.0      4.8      5.0
    AER, two aligners of the Hansards                     12 (2)   10 (2)   8.3 (2)  7.2 (3)  6.0 (4)
    ROUGE, two systems of REALSumm                        5.6      5.7      5.3      5.0      5.5
    passed or failed: exact                               <= 5     <= 5     <= 5     <= 5     <= 5
    ====================================================  =======  =======  =======  =======  =======

    The larger of the two sides of the margin; in brackets the other, where they differ by much. With skewed differences
    a claim comes too easily where it is rare units that speak against it.

    Systems with the same counts on every unit have no s: p = 1 unless the units are passed or failed. Where they differ
    on few units of many the studentized p can be too small, see `Interval.doubt`.

    Parameters
    ----------
    a, b
        Sufficient statistics of the two systems, (segments × columns of the metric), or (segments,) for one column.
    margin
        M, in the unit of the score: 0.5 is half a point of BLEU, 0.02 two hundredths of a mean of values from 0 to 1.
        To be chosen before the systems are scored.
    claim
        One of `CLAIMS`.
    metric
        A name (see `pairsig.metric_names()`) or a `Metric`.
    documents
        One id a segment: documents are the units instead of segments.

    Returns
    -------
    MarginResult. Cost: that of `gain_interval`; of the exact test 202 sums over some 18√n terms, 20 ms for
    1,000 units.

    Raises
    ------
    InputError
        For a margin that is not a finite number above 0, or that no two systems can differ by; and where
        `gain_interval` raises one.

    References
    ----------
    Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach (J. Pharmacokinetics and
    Biopharmaceutics 15, 1987). Tango, Equivalence Test and Confidence Interval for the Difference in Proportions for
    the Paired-Sample Design (Statistics in Medicine 17, 1998). Berger and Sidik, Exact Unconditional Tests for a 2 × 2
    Matched-Pairs Design (Statistical Methods in Medical Research 12, 2003).

    Examples
    --------
    Two systems that fail different ones of 200 items, five each: that they differ by less than 5 points is shown.

    >>> import numpy as np
    >>> a, b = np.ones((2, 200, 2))
    >>> a[:5, 0] = b[5:10, 0] = 0
    >>> round(margin_test(a, b, 5.0).pvalue, 4)
    0.0066
    """
    return against(Pair.of(a, b, metric, documents), margin, claim)


def against(pair: Pair, margin: float, claim: str) -> MarginResult:
    """The result of the test of two systems that are prepared: `margin_test`."""
    choose(claim, CLAIMS, "claim")
    units = pair.units.astype(np.float64)
    whole = passed_or_failed(units, pair.metric)
    check_margin(margin, pair.metric, whole)
    signs = {"equivalence": (1, -1), "a-not-worse": (1,), "b-not-worse": (-1,)}[claim]
    if whole is not None:
        first, second = units[:, :, 0] if pair.metric.higher_is_better else units[::-1, :, 0]
        r, s, n = int((first > second).sum()), int((first < second).sum()), len(first)
        tables = [(r, s) if sign > 0 else (s, r) for sign in signs]
        p = max(exact_p(*table, n, margin / whole) for table in tables)
    else:
        p = max(studentized_p(units, pair.metric, margin, sign) for sign in signs)
    exact = whole is not None
    said = pair.said(_Margin(claim), f"margin:{margin!r}|method:{'exact' if exact else 'studentized'}")
    return MarginResult(**said, pvalue=float(p), margin=margin, claim=claim, exact=exact)


def check_margin(margin: float, metric: Metric, largest: float | None = None) -> None:
    """Refuse what is no margin of the metric; `largest` is the largest gain there can be, by default its scale."""
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"the margin is {margin:g}, expected a number above 0, in the unit of the score")
    largest = metric.scale if largest is None else largest
    if largest is not None and margin >= largest:
        raise InputError(
            f"the margin is {margin:g}, but no two systems differ by more than {largest:g} in {metric.name}, expected "
            "a smaller one, in the unit of the score"
        )


def studentized_p(units: Floats, metric: Metric, margin: float, sign: int = 1) -> Any:
    """P(Tν >= (M + sign · δ) / s); see `margin_test`. 1 where no unit differs.

    Parameters
    ----------
    units
        Counts of two systems by unit, (..., 2, units, columns): one p-value for each of the leading axes.
    """
    from scipy.special import stdtr  # scipy.stats would cost a second to import

    if units.shape[-2] < 2:
        return np.ones(units.shape[:-3])
    gain, error, degrees = jackknifed(units, metric)
    # Differences of an error of 0 tell nothing of others: the same outputs, or the same lead on every unit.
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(degrees, -(margin + sign * gain) / error)
    return np.where(error > 0, p, 1.0)
