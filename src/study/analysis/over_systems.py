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
    residuals: ArrayLike,
    systems: Codes,
    test_sets: Codes | None = None,
    *,
    weights: ArrayLike | None = None,
    own: bool = True,
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
    own
        Whether rows vary much on their own account, as outcomes do. Where they do not, as chances, nothing is taken
        off: with heavy tails the rest is too small.

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
    found = [_one_way(e, share, *way, own=own) for way in ways]
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

    How often these intervals cover in simulations stands in docs/coverage.md.
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


def _one_way(e: Floats, share: Floats, way: Codes, numbers: NDArray[np.intp], *, own: bool) -> tuple[float, float]:
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
    return max(float(np.square(change).sum() - own * twice.sum()), float(squares.sum())), degrees(apart)


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
