"""Non-inferiority and equivalence tests, in closed form: nothing is drawn.

A p-value above 0.05 does not show that two systems are equally good. A small p-value of these tests does, because their
null hypothesis is that the systems differ by the margin or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.definitions import Named
from pairsig.io.choices import choose
from pairsig.io.errors import InputError
from pairsig.metrics import Metric
from pairsig.stats.intervals import jackknifed, passed_or_failed
from pairsig.stats.paired import Pair
from pairsig.stats.pass_fail import exact_p
from pairsig.stats.results import Result

Floats = NDArray[np.float64]

CLAIMS = ("equivalence", "a-not-worse", "b-not-worse")
"""Claims about two systems: they differ by less than the margin, or A (B) is not worse by the margin or more."""


@dataclass(frozen=True, kw_only=True)
class MarginResult(Result):
    """Result of a test against a margin: the attributes of `Result`, and the claim.

    Attributes
    ----------
    margin
        M, in points.
    claim, alternative
        The claim that a small `pvalue` supports, one of `CLAIMS`.
    exact
        Whether it is the exact test for pass/fail units.

    See Also
    --------
    margin_test : Returns this.

    Examples
    --------
    >>> result = margin_test([1, 0, 1, 1] * 50, [1, 1, 0, 1] * 50, margin=0.2)
    >>> result.pvalue < 0.05
    True
    """

    margin: float
    claim: str
    exact: bool

    def says(self, name_a: str, name_b: str) -> str:
        """A sentence on the meaning of a small p-value."""
        by = f"{self.margin:g} in {self.metric}"
        if self.claim == "equivalence":
            return f"a small p shows that {name_a} and {name_b} differ by less than {by}; a large p shows nothing"
        not_worse, rival = (name_a, name_b) if self.claim == "a-not-worse" else (name_b, name_a)
        return f"a small p shows that {not_worse} is not worse than {rival} by {by} or more; a large p shows nothing"


def margin_test(
    a: ArrayLike,
    b: ArrayLike,
    margin: float,
    claim: str = "equivalence",
    *,
    metric: str | Metric | None = None,
    document: ArrayLike | None = None,
) -> MarginResult:
    """Test whether two systems are equally good up to a margin, or one is not worse than the other by it.

    Parameters
    ----------
    a, b, metric
        See `exact_test`.
    margin
        M, in points: 0.5 is half a point of BLEU, and 0.02 is two hundredths of a mean of values from 0 to 1. Choose it
        before the systems are scored.
    claim
        "equivalence", "a-not-worse" or "b-not-worse".
    document
        One id per segment: documents are the units instead of segments.

    Returns
    -------
    MarginResult

    Raises
    ------
    InputError
        For a margin that is not a finite number above 0 or is larger than any difference can be, and where
        `difference_interval` raises one.

    See Also
    --------
    difference_interval : A confidence interval of the difference.
    exact_test : Tests for a difference of any size.

    Notes
    -----
    Let δ be by how much A is better than B on the test set (negative if A is worse), and Δ the same on the population
    that the test set was drawn from. The null hypothesis of "a-not-worse" is Δ <= −M, that of "b-not-worse" Δ >= M, and
    that of "equivalence" |Δ| >= M, whose p is the larger of the two others (two one-sided tests: Schuirmann 1987).

    **Studentized**, for every metric: p = P(Tν >= (M + δ) / s) for "a-not-worse" and P(Tν >= (M − δ) / s) for
    "b-not-worse", with the jackknife's standard error s and its degrees of freedom ν as in `difference_interval`, and
    Student's distribution Tν. Systems with the same counts on every unit have no s, and p = 1. If only few of many
    units differ, p can be too small, see `Interval.doubt`.

    **Exact**, for pass/fail units (as in `difference_interval`), with any number of them: the test by Tango's (1998)
    score, with the maximum over the nuisance parameter (Berger and Sidik 2003). docs/equivalence.md has the
    formula.

    Examples
    --------
    Each of two systems fails five of 200 items, not the same ones. They differ by less than 0.05.

    >>> import numpy as np
    >>> a, b = np.ones((2, 200))
    >>> a[:5] = b[5:10] = 0
    >>> round(margin_test(a, b, 0.05).pvalue, 4)
    0.0066
    """
    return against(Pair.of(a, b, metric, document), margin, claim)


def against(pair: Pair, margin: float, claim: str) -> MarginResult:
    """The result of `margin_test` for two systems that are prepared."""
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
    test = Named("exact" if exact else "studentized", claim, name="margin")
    described = pair.described(test, f"margin:{margin!r}")
    return MarginResult(**described, pvalue=float(p), margin=margin, claim=claim, exact=exact)


def check_margin(margin: float, metric: Metric, largest: float | None = None) -> None:
    """Raise `InputError` for impossible margins; `largest` is the largest possible gain, by default the scale."""
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"the margin is {margin:g}, expected a number above 0, in points")
    largest = metric.scale if largest is None else largest
    if largest is not None and margin >= largest:
        raise InputError(
            f"the margin is {margin:g}, but no two systems differ by more than {largest:g} in {metric.name}, expected "
            "a smaller number, in points"
        )


def studentized_p(units: Floats, metric: Metric, margin: float, sign: int = 1) -> Any:
    """P(Tν >= (M + sign · δ) / s) of counts (..., 2, units, columns), see `margin_test`; 1 where no unit differs."""
    from scipy.special import stdtr  # scipy.stats would cost a second to import

    if units.shape[-2] < 2:
        return np.ones(units.shape[:-3])
    gain, error, degrees = jackknifed(units, metric)
    # An error of 0 says nothing about other units: the outputs are the same, or differ equally on every unit.
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(degrees, -(margin + sign * gain) / error)
    return np.where(error > 0, p, 1.0)
