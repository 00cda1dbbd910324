"""Intervals of what is counted over pairs of systems: pairs share systems, so they are not independent.

A statistic of pairs is to first order a sum of residuals, one a row (a pair on a test set, or on one held against
another). Two rows covary when they share a system or a test set; `variance` adds these covariances up.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.intervals import degrees_of_freedom
from pairsig.tally import clopper_pearson

Floats = NDArray[np.float64]
_LEAST = float(np.finfo(np.float64).tiny)
"""A variance whose square is below this, no normal float, is as good as 0."""

_NOTHING = 1e-9
"""Without a member that has all the weight but so much, nothing is left."""

Codes = NDArray[np.intp]
"""Shape (rows × 2): numbers from 0 of the two systems (or two test sets) of each row; −1 is none."""


def members(first: ArrayLike, second: ArrayLike) -> Codes:
    """Numbers of the two systems of each row, or of its two test sets, by name."""
    names = np.stack([np.asarray(first, dtype=object), np.asarray(second, dtype=object)], axis=1)
    codes: Codes = pd.factorize(names.ravel())[0].astype(np.intp).reshape(-1, 2)
    return codes


def drawn(test_sets: Codes) -> Codes:
    """Test sets without those that are in every row: what never changes is given, not drawn from others."""
    given = [code for code in np.unique(test_sets[:1]) if (test_sets == code).any(axis=1).all()]
    return np.where(np.isin(test_sets, given), -1, test_sets)


def without_each(systems: Codes) -> NDArray[np.bool_]:
    """Which rows are left when a system is deleted, (systems × rows): for statistics that are no sums."""
    deleted = np.unique(systems)[:, None]
    kept: NDArray[np.bool_] = (systems[:, 0] != deleted) & (systems[:, 1] != deleted)
    return kept


def replicates(systems: Codes, weights: ArrayLike = 1.0) -> Floats:
    """Weights of all rows, and of those that are left without each system: (1 + systems) × rows."""
    kept = without_each(systems)
    found: Floats = np.asarray(weights) * np.vstack([np.ones(kept.shape[1]), kept])
    return found


def jackknife(replicates: ArrayLike) -> tuple[float, float]:
    """Variance by the delete-one-system jackknife, (m − 1)/m Σ (θ₍ₖ₎ − mean)², and its degrees of freedom.

    For statistics that are no sums. Not below the truth in expectation and up to twice it (Efron and Stein 1981),
    since rows of two systems are deleted twice.

    Parameters
    ----------
    replicates
        The statistic without each of the m systems (see `without_each`), on the scale on which it is nearly normal.
    """
    left = np.asarray(replicates, dtype=np.float64)
    m = len(left)
    if m < 2 or not np.isfinite(left).all():
        return math.nan, math.nan
    return (m - 1) / m * float(((left - left.mean()) ** 2).sum()), degrees(left)


def variance(
    residuals: ArrayLike, systems: Codes, test_sets: Codes | None = None, *, weights: ArrayLike | None = None
) -> tuple[float, float]:
    """Variance of a sum of residuals whose rows share systems, and its degrees of freedom for Student's distribution.

    With eᵣ the residual of row r and hₖ the share of the weight that rows with system k have, the estimate changes by

        Δₖ = Σ_{r with system k} eᵣ / (1 − hₖ)

    when k is left out, exactly for means and ratios of sums. The sum of Δₖ² is the delete-one-system jackknife (without
    its factor (m − 1)/m: intervals held too little with it); it counts rows of the same two systems twice, once with
    either. That is taken off:

        V = Σₖ Δₖ² − Σ_{pairs of systems} ½ (1/(1 − hₖ)² + 1/(1 − hₗ)²) (Σ_{r of the pair k, l} eᵣ)².

    Without hₖ it is Σ eᵣeᵩ over all (r, q) that share a system (Fafchamps and Gubert 2007; Aronow, Samii and Assenova
    2015), which is too small the fewer systems there are, and the more of all rows one of them has (MacKinnon, Nielsen
    and Webb 2023). Where rows also share drawn test sets, V of the systems and V of the test sets are added, less that
    of rows that share both, as for clusters of two ways (Cameron, Gelbach and Miller 2011). V is not below that of
    independent pairs of systems, and the result not below either V, nor below Σ eᵣ², that of independent rows. What is
    in all rows is given: nothing is left without it.

    Parameters
    ----------
    residuals
        One a row, influences of an estimate; they sum to 0.
    systems, test_sets
        Those of each row, see `members`. Test sets that are given (see `drawn`) are −1.
    weights
        How much each row has to say of the estimate: the denominators of a ratio of sums. 1 of a mean.

    Returns
    -------
    Degrees of freedom are those that the kurtosis of Δₖ implies, as in `pairsig.gain_interval`, where systems (or the
    two halves of a test set) that are only ever with each other count as one; of two ways Satterthwaite's. 0 and 1
    where nothing varies. Cost: a few sorts of the rows.
    """
    e = np.asarray(residuals, dtype=np.float64)
    share = np.ones(len(e)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = np.divide(share, share.sum(), out=np.zeros(len(e)), where=share.sum() > 0)
    ways = [(way, _pairs(way)) for way in (systems, test_sets) if way is not None and (way >= 0).any()]
    found = [_one_way(e, share, *way) for way in ways]
    largest = max([float(np.square(e).sum()), *(value for value, _ in found)])
    added = math.fsum(value for value, _ in found)
    if not largest or added**2 < _LEAST:
        return largest, 1.0
    degrees = added**2 / math.fsum(value**2 / degrees for value, degrees in found)
    both = _of_both(e, *ways) if len(ways) == 2 else 0.0
    return max(largest, added - max(both, 0.0)), degrees


def interval(
    estimate: float,
    variance: float,
    degrees: float,
    *,
    level: float = 0.95,
    scale: Literal["plain", "log", "logit"] = "plain",
) -> tuple[float, float]:
    """Student's interval of an estimate, on the scale on which it is nearly normal; nan where there is none.

    The variance is that of the estimate itself, or for `jackknife` on another scale that on that scale: then pass the
    estimate on it, too, with `plain`, and turn the ends back.
    """
    from scipy.special import expit, logit, stdtrit

    if not (math.isfinite(estimate) and variance >= 0):
        return math.nan, math.nan
    reach = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(variance)
    if scale == "log":
        with np.errstate(over="ignore"):  # an estimate next to 0 may be anything on this scale
            return estimate * math.exp(-reach / estimate), float(estimate * np.exp(reach / estimate))
    if scale == "logit":
        if not 0 < estimate < 1:
            return math.nan, math.nan
        reach /= estimate * (1 - estimate)
        return float(expit(logit(estimate) - reach)), float(expit(logit(estimate) + reach))
    return estimate - reach, estimate + reach


def share_interval(
    held: ArrayLike,
    systems: Codes,
    test_sets: Codes | None = None,
    *,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Interval of a (weighted) share of rows, by an effective number of independent rows (Korn and Graubard 1998).

    With V the `variance` of the share P, that number is P(1 − P)/V, at most n, times (t of n − 1 degrees of freedom
    over t of V's)²; the ends are Clopper and Pearson's for it. Where all rows held, or none, V = 0 says nothing: there
    it is n over the most rows that any two systems have, as if these were one.

    How often an interval at level 95 % held the truth, in % of 1,000 sets of systems of five base models (± 1.4; in
    brackets the mean width in percentage points). The truth is the share among infinitely many systems of these base
    models. All pairs of a system share its own error and its base model's; the naive interval is Clopper and Pearson's
    for n.

    =============================================  ===========  ===========  ===========  ===========
    pairs in the window, about                     15           30           55           150
    =============================================  ===========  ===========  ===========  ===========
    held against the population: naive             98.3 (30)    97.1 (19)    97.0 (13)    91.8 (7)
    … the share                                    99.4 (35)    99.0 (26)    98.9 (18)    97.1 (10)
    … the expected share                           98.5 (3)     99.3 (2)     98.4 (1)     97.5 (1)
    … share less expected                          99.4 (36)    98.9 (26)    98.9 (18)    96.9 (10)
    against another test set: naive                98.1 (38)    96.0 (26)    95.0 (19)    89.8 (11)
    … the share                                    99.0 (46)    97.6 (33)    97.5 (24)    96.1 (15)
    … the expected share                           98.5 (8)     98.2 (6)     98.1 (4)     97.3 (3)
    … share less expected                          99.1 (48)    97.9 (34)    98.1 (25)    96.7 (15)
    against one of another domain: naive           97.5 (45)    95.8 (32)    93.5 (24)    89.6 (14)
    … the share                                    98.5 (53)    97.8 (38)    97.4 (28)    95.9 (18)
    … the expected share                           98.2 (8)     98.2 (6)     97.6 (4)     97.0 (3)
    … share less expected                          98.5 (54)    98.1 (39)    97.5 (29)    96.4 (18)
    =============================================  ===========  ===========  ===========  ===========

    The same where test sets are drawn, too, held against their population or every one against every other (350 sets of
    systems and test sets, ± 2.3):

    ====================================================  ==========  ==========  ==========  ==========
    systems and test sets                                 naive       share       expected    difference
    ====================================================  ==========  ==========  ==========  ==========
    12 systems, 20 draws of a population, 46 pairs        97.1 (15)   99.1 (25)   98.9 (9)    99.7 (29)
    22 systems, 20 draws, 161 pairs                       90.9 (8)    98.3 (11)   98.6 (4)    99.1 (12)
    12 systems, 4 test sets of as many domains, 26 pairs  86.3 (34)   99.1 (65)   99.1 (16)   99.1 (69)
    12 systems, 12 test sets, 301 pairs                   60.0 (8)    95.4 (26)   99.4 (13)   98.9 (30)
    30 systems, 3 test sets, 91 pairs                     85.1 (15)   95.1 (25)   99.7 (7)    96.6 (27)
    20 systems each on halves of 2 test sets, 26 pairs    92.6 (29)   98.9 (67)   99.4 (24)   99.4 (79)
    … of 5 test sets, 66 pairs                            92.3 (17)   97.7 (28)   99.1 (6)    98.6 (29)
    40 on halves of one, 10 of each of 5, 69 pairs        83.4 (17)   97.1 (43)   99.4 (11)   98.0 (46)
    ====================================================  ==========  ==========  ==========  ==========

    tests/test_over_systems.py prints both tables.
    """
    y = np.asarray(held, dtype=np.float64)
    n = len(y)
    if not n:
        return math.nan, math.nan
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    share = float((w * y).sum() / w.sum())
    if not 0 < share < 1:
        low, high = np.sort(systems, axis=1).T
        most = np.unique(low * (systems.max() + 1) + high, return_counts=True)[1].max()
        return _of_share(share, n / float(most), level)
    from scipy.special import stdtrit

    v, degrees = variance(w * (y - share) / w.sum(), systems, test_sets, weights=w)
    quantile = (1 + level) / 2
    student = float(stdtrit(n - 1, quantile) / stdtrit(min(degrees, n - 1), quantile))
    return _of_share(share, min(share * (1 - share) / v, n) * student**2, level)


def _of_share(share: float, n: float, level: float) -> tuple[float, float]:
    low, high = clopper_pearson(share * n, n, level)
    return float(low), float(high)


def _pairs(way: Codes) -> NDArray[np.intp]:
    """A number of the two members of each row, −1 where there are not two."""
    low, high = np.sort(way, axis=1).T
    return np.where(low >= 0, low * (way.max() + 1) + high, -1)


_Way = tuple[Codes, NDArray[np.intp]]
"""The members of each row, and the number of the two."""


def _one_way(e: Floats, share: Floats, way: Codes, numbers: NDArray[np.intp]) -> tuple[float, float]:
    """V over the members of one way, and its degrees of freedom."""
    row, column = np.nonzero(way >= 0)
    names, code, rows = np.unique(way[row, column], return_inverse=True, return_counts=True)
    left = 1 - np.bincount(code, share[row])
    drawn = left > _NOTHING
    change, factor = np.zeros((2, len(names)))
    change[drawn] = np.bincount(code, e[row])[drawn] / left[drawn]
    factor[drawn] = left[drawn] ** -2

    two = np.flatnonzero(numbers >= 0)
    _, first, pair, rows_of_pair = np.unique(numbers[two], return_index=True, return_inverse=True, return_counts=True)
    a, b = np.searchsorted(names, way[two[first]].T)
    squares = np.bincount(pair, e[two], minlength=len(first)) ** 2
    twice = np.where(drawn[a] & drawn[b], (factor[a] + factor[b]) / 2, 0.0) * squares
    one_draw = b[(rows[a] == rows_of_pair) & (rows[b] == rows_of_pair)]
    apart = change[drawn & ~np.isin(np.arange(len(names)), one_draw)]
    return max(float(np.square(change).sum() - twice.sum()), float(squares.sum())), degrees(apart)


def _of_both(e: Floats, systems: _Way, test_sets: _Way) -> float:
    """Σ eᵣeᵩ over rows that share a system and a test set: sharing one, or the other, less sharing both, of either."""
    ways = [((members, 1), (pairs[:, None], -1)) for members, pairs in (systems, test_sets)]
    return math.fsum(
        sign * other_sign * _squares(e, code, other) for code, sign in ways[0] for other, other_sign in ways[1]
    )


def _squares(e: Floats, code: Codes, other: Codes) -> float:
    """Σ over pairs of labels, one of either, of the square of the sum of the residuals that have both."""
    rows, labels, width = [], [], other.max() + 1
    for one in code.T:
        for two in other.T:
            held = np.flatnonzero((one >= 0) & (two >= 0))
            rows.append(held)
            labels.append(one[held] * width + two[held])
    _, dense = np.unique(np.concatenate(labels), return_inverse=True)
    sums = np.bincount(dense, e[np.concatenate(rows)])
    return float(np.square(sums).sum())  # not a product of vectors, which depends on the number of threads


def degrees(values: Floats) -> float:
    """Degrees of freedom of the variance of values by their kurtosis, at most one less than there are; 1 of none."""
    if len(values) < 2:
        return 1.0
    squares = (values - values.mean()) ** 2
    if float(squares.mean()) ** 2 < _LEAST:
        return 1.0
    return max(float(degrees_of_freedom(squares)), 1.0)
