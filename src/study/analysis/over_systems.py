"""Intervals of statistics over pairs of systems, which are not independent because pairs share systems.

To first order, a statistic over pairs is a sum of residuals, one per row (a pair on a test set, or on two). Two rows
covary if they share a system or a test set; `variance` sums these covariances.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.core.exceedances import clopper_pearson

T = TypeVar("T")
Floats = NDArray[np.float64]
Estimate = tuple[float, float, float]
"""A number with the ends of its interval."""

_LEAST = float(np.finfo(np.float64).tiny)
"""A variance whose square is below this value is numerically zero."""

_NOTHING = 1e-9
"""A member whose rows have all but this share of the weight cannot be left out."""

_SPARSE = 8
"""Labels up to so many times their number are numbered by counting, which is faster than hashing."""

Codes = NDArray[np.intp]
"""Shape (rows, 2): the numbers of the two systems (or test sets) of each row, from 0; −1 for none."""


def members(first: ArrayLike, second: ArrayLike) -> Codes:
    """Number the two systems (or test sets) of each row by name, or by any other number."""
    names = np.stack([np.asarray(first), np.asarray(second)], axis=1)
    names = names if np.issubdtype(names.dtype, np.integer) else names.astype(object)
    codes: Codes = pd.factorize(names.ravel())[0].astype(np.intp).reshape(-1, 2)
    return codes


def n_members(systems: Codes) -> int:
    """Number of different systems."""
    return int(np.count_nonzero(np.bincount(systems[systems >= 0])))


def drawn(test_sets: Codes) -> Codes:
    """Replace test sets that appear in every row by −1: they are fixed effects."""
    fixed = [code for code in np.unique(test_sets[:1]) if (test_sets == code).any(axis=1).all()]
    return np.where(np.isin(test_sets, fixed), -1, test_sets)


def replicates(systems: Codes, weights: ArrayLike = 1.0) -> Floats:
    """Weights of all rows, then of the rows that remain without each system; shape (1 + systems, rows)."""
    deleted = np.unique(systems[systems >= 0])[:, None]
    remains = (systems[:, 0] != deleted) & (systems[:, 1] != deleted)
    replicated: Floats = np.asarray(weights) * np.vstack([np.ones(remains.shape[1]), remains])
    return replicated


def jackknife(replicates: ArrayLike) -> tuple[float, float]:
    """Variance by the delete-one-system jackknife, (m − 1)/m Σ (θ₍ₖ₎ − mean)², and its degrees of freedom.

    This is for statistics that are not sums. Its expectation is between the true variance and twice that (Efron and
    Stein 1981), because each row is deleted twice, once with either system.

    Parameters
    ----------
    replicates
        The statistic without each of the m systems (see `replicates`), on a scale on which it is nearly normal.
    """
    left = np.asarray(replicates, dtype=np.float64)
    m = len(left)
    if m < 2 or not np.isfinite(left).all():
        return math.nan, math.nan
    return (m - 1) / m * float(((left - left.mean()) ** 2).sum()), degrees(left)


def jackknifed(replicates: Floats) -> Estimate:
    """The first replicate, the statistic of all rows, with Student's interval by the jackknife over the others."""
    return float(replicates[0]), *interval(float(replicates[0]), *jackknife(replicates[1:]))


def variance(
    residuals: ArrayLike,
    systems: Codes,
    test_sets: Codes | None = None,
    *,
    weights: ArrayLike | None = None,
    own_variance: bool = True,
) -> tuple[float, float]:
    """Variance of a sum of residuals whose rows share systems, and its degrees of freedom for Student's distribution.

    Let eᵣ be the residual of row r, and hₖ the share of the weight in rows with system k. Leaving out k changes the
    estimate by

        Δₖ = Σ_{r with system k} eᵣ / (1 − hₖ)

    exactly for means and ratios of sums. The sum of Δₖ² is the delete-one-system jackknife, without its factor
    (m − 1)/m, with which the coverage was too low. It counts rows of the same two systems twice, which the second term
    corrects:

        V = Σₖ Δₖ² − Σ_{pairs of systems} ½ (1/(1 − hₖ)² + 1/(1 − hₗ)²) (Σ_{r of the pair k, l} eᵣ)².

    Without hₖ, V is Σ eᵣeᵩ over all (r, q) that share a system (Fafchamps and Gubert 2007; Aronow, Samii and Assenova
    2015). That is too small if there are few systems, or if one of them has many of the rows (MacKinnon, Nielsen and
    Webb 2023). If rows also share random test sets, the result is V over systems plus V over test sets, minus that of
    rows that share both, as in two-way clustering (Cameron, Gelbach and Miller 2011). V is at least the variance for
    independent pairs of systems. The result is at least either V, and at least Σ eᵣ², the variance for independent
    rows. Systems or test sets that appear in every row are treated as fixed effects.

    Parameters
    ----------
    residuals
        Influence of each row on the estimate; the sum is 0.
    systems, test_sets
        Systems and test sets of each row, see `members`. Fixed test sets (see `drawn`) are −1.
    weights
        Weight of each row in the estimate: the denominators of a ratio of sums, or 1 for a mean.
    own_variance
        Whether rows have much variance of their own, as outcomes do. If not, as for probabilities, the second term is
        left out, because with heavy tails the result would be too small.

    Returns
    -------
    The variance and its degrees of freedom, 0 and 1 if there is no variation. Degrees of freedom follow from the
    kurtosis of Δₖ, as in `pairsig.difference_interval`; for two ways they are Satterthwaite's. Two systems (or halves
    of a test set) that only appear together count as one. Cost: a few sorts of the rows.
    """
    e = np.asarray(residuals, dtype=np.float64)
    share = np.ones(len(e)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = np.divide(share, share.sum(), out=np.zeros(len(e)), where=share.sum() > 0)
    # V and its degrees of freedom over systems, and over test sets.
    ways = [_way(members) for members in (systems, test_sets) if members is not None and (members >= 0).any()]
    estimates = [_one_way(e, share, *way, own_variance=own_variance) for way in ways]
    # The lower bound: either V, and Σ eᵣ².
    lowest = max([float(np.square(e).sum()), *(v for v, _ in estimates)])
    total, degrees = added(*estimates)
    if total**2 < _LEAST:
        return lowest, degrees
    # Two ways: the sum, minus Σ eᵣeᵩ of rows that share both.
    of_common_rows = _of_both(e, *ways) if len(ways) == 2 else 0.0
    return max(lowest, total - max(of_common_rows, 0.0)), degrees


def added(*variances: tuple[float, float]) -> tuple[float, float]:
    """Add variances V with degrees of freedom ν; those of the sum are (Σ V)² / Σ V²/ν (Satterthwaite 1946), 1 for 0."""
    total = math.fsum(v for v, _ in variances)
    if total**2 < _LEAST:
        return total, 1.0
    return total, total**2 / math.fsum(v**2 / degrees for v, degrees in variances)


def interval(
    estimate: float,
    variance: float,
    degrees: float,
    *,
    scale: Literal["plain", "log", "logit"] = "plain",
) -> tuple[float, float]:
    """Student's 95 % interval of an estimate on the given scale; nan if it cannot be computed.

    The variance is that of the estimate itself. If `jackknife` was computed on another scale, pass the estimate on that
    scale too, with `plain`, and transform the ends back.
    """
    from scipy.special import expit, logit, stdtrit

    if not (math.isfinite(estimate) and variance >= 0):
        return math.nan, math.nan
    reach = float(stdtrit(degrees, 0.975)) * math.sqrt(variance)
    if scale == "log":
        with np.errstate(over="ignore"):  # the logarithm of an estimate near 0 may overflow
            return estimate * math.exp(-reach / estimate), float(estimate * np.exp(reach / estimate))
    if scale == "logit":
        if not 0 < estimate < 1:
            return math.nan, math.nan
        reach /= estimate * (1 - estimate)
        return float(expit(logit(estimate) - reach)), float(expit(logit(estimate) + reach))
    return estimate - reach, estimate + reach


def cells(name: str, estimate: Iterable[float]) -> dict[str, float]:
    """Cells of an estimate with the ends of its interval: `NAME`, `NAME_low` and `NAME_high`."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(float, estimate), strict=True))


def exp(estimate: Iterable[float]) -> Estimate:
    """Transform an estimate and its interval back from the logarithmic scale."""
    value, low, high = np.exp(list(estimate)).tolist()
    return value, low, high


def mean_of_independent(values: ArrayLike, scale: Literal["plain", "log"] = "plain") -> Estimate:
    """Mean of independent values with Student's interval, nan for a single value."""
    v = np.asarray(values, dtype=np.float64)
    middle, n = float(v.mean()), len(v)
    return middle, *(interval(middle, float(v.var(ddof=1)) / n, n - 1, scale=scale) if n > 1 else (math.nan, math.nan))


def mean(values: Floats, systems: Codes, test_sets: Codes | None = None) -> Estimate:
    """Mean over rows with its interval."""
    middle = float(values.mean())
    return middle, *interval(middle, *variance((values - middle) / len(values), systems, test_sets))


def slope(y: Floats, x: Floats, level: NDArray[np.intp], members: Codes) -> Estimate:
    """Slope of y on x by least squares, with a level of its own for the rows of each number in `level`.

    The interval is Student's, by the jackknife that leaves out one of the `members` (systems or test sets) at a time.
    """

    def of(weights: Floats) -> float:
        total = np.maximum(np.bincount(level, weights), _LEAST)  # a level may be left out
        dx, dy = (values - (np.bincount(level, weights * values) / total)[level] for values in (x, y))
        # Sums instead of dot products, whose last digits depend on the number of threads.
        return float((weights * dx * dy).sum() / (weights * dx**2).sum())

    return jackknifed(np.array([of(weights) for weights in replicates(members)]))


def joined(parts: Sequence[T], **others: Any) -> T:
    """Concatenate the arrays of several instances of a dataclass, except those given as `others`."""
    names = [field.name for field in fields(parts[0]) if field.name not in others]  # type: ignore[arg-type]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return type(parts[0])(**arrays, **others)


def share(
    successes: ArrayLike, systems: Codes, test_sets: Codes | None = None, *, weights: ArrayLike | None = None
) -> Estimate:
    """(Weighted) share of rows with its 95 % interval, by an effective number of independent rows; nan without rows.

    The interval is that of Korn and Graubard (1998). With V the `variance` of the share P, the effective number is P(1
    − P)/V, at most n, times the squared ratio of the t quantiles with n − 1 and with V's degrees of freedom. The ends
    are Clopper and Pearson's for this number. If P is 0 or 1, V = 0 is uninformative; the effective number is then n
    divided by the largest number of rows with the same two systems. docs/coverage.md reports the coverage in
    simulations.
    """
    y = np.asarray(successes, dtype=np.float64)
    n = len(y)
    if not n:
        return math.nan, math.nan, math.nan
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    share = float((w * y).sum() / w.sum())
    if not 0 < share < 1:
        trials = n / float(np.unique(_pairs(systems), return_counts=True)[1].max())
    else:
        from scipy.special import stdtrit

        v, degrees = variance(w * (y - share) / w.sum(), systems, test_sets, weights=w)
        student = float(stdtrit(n - 1, 0.975) / stdtrit(min(degrees, n - 1), 0.975))
        trials = min(share * (1 - share) / v, n) * student**2
    low, high = clopper_pearson(share * trials, trials)
    return share, float(low), float(high)


def _pairs(way: Codes) -> NDArray[np.intp]:
    """Number the pair of members of each row; −1 if a row does not have two."""
    low, high = np.minimum(*way.T), np.maximum(*way.T)
    return np.where(low >= 0, low * (way.max() + 1) + high, -1)


_Way = tuple[Codes, NDArray[np.intp]]
"""The members of each row, from 0 without gaps, and the number of their pair."""


def _way(members: Codes) -> _Way:
    has_member = members >= 0
    numbers = np.full_like(members, -1)
    numbers[has_member] = _numbered(members[has_member])
    return numbers, _pairs(numbers)


def _one_way(
    e: Floats, share: Floats, way: Codes, numbers: NDArray[np.intp], *, own_variance: bool
) -> tuple[float, float]:
    """V over the members of one way (systems or test sets), and its degrees of freedom."""
    row, column = np.nonzero(way >= 0)
    code = way[row, column]
    rows = np.bincount(code)
    # 1 − hₖ; a member of all rows is fixed, not drawn.
    left = 1 - np.bincount(code, share[row])
    drawn = left > _NOTHING
    # Δₖ, and 1 / (1 − hₖ)².
    change, factor = np.zeros((2, len(rows)))
    change[drawn] = np.bincount(code, e[row])[drawn] / left[drawn]
    factor[drawn] = left[drawn] ** -2

    # (Σ eᵣ)² of each pair, and the second term of V.
    of_pairs = np.flatnonzero(numbers >= 0)
    pair = _numbered(numbers[of_pairs])
    rows_of_pair = np.bincount(pair)
    first = np.empty(len(rows_of_pair), dtype=np.intp)
    first[pair[::-1]] = np.arange(len(of_pairs))[::-1]
    a, b = way[of_pairs[first]].T
    squares = np.bincount(pair, e[of_pairs], minlength=len(first)) ** 2
    twice = np.where(drawn[a] & drawn[b], (factor[a] + factor[b]) / 2, 0.0) * squares
    # Two members that only appear together are one draw, for the degrees of freedom.
    one_draw = b[(rows[a] == rows_of_pair) & (rows[b] == rows_of_pair)]
    separate = change[drawn & ~np.isin(np.arange(len(rows)), one_draw)]
    return max(float(np.square(change).sum() - own_variance * twice.sum()), float(squares.sum())), degrees(separate)


def _of_both(e: Floats, systems: _Way, test_sets: _Way) -> float:
    """Σ eᵣeᵩ over rows that share a system and a test set, by inclusion and exclusion over the members of both ways."""
    ways = [((members, 1), (pairs[:, None], -1)) for members, pairs in (systems, test_sets)]
    return math.fsum(
        sign * other_sign * _squares(e, code, other_code) for (code, sign), (other_code, other_sign) in product(*ways)
    )


def _squares(e: Floats, code: Codes, other_code: Codes) -> float:
    """Σ over all pairs of labels, one from each way, of the squared sum of the residuals with both labels."""
    rows, labels, width = [], [], other_code.max() + 1
    for labels_of_code in code.T:
        for labels_of_other in other_code.T:
            rows_of_labels = np.flatnonzero((labels_of_code >= 0) & (labels_of_other >= 0))
            rows.append(rows_of_labels)
            labels.append(labels_of_code[rows_of_labels] * width + labels_of_other[rows_of_labels])
    sums = np.bincount(_numbered(np.concatenate(labels)), e[np.concatenate(rows)])
    return float(np.square(sums).sum())  # not a dot product, whose result depends on the number of threads


def _numbered(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The number of each label among the different ones, in ascending order."""
    if not len(labels) or labels.max() > _SPARSE * len(labels):
        numbers: NDArray[np.intp] = pd.factorize(labels, sort=True)[0]
        return numbers
    occurs = np.zeros(labels.max() + 1, dtype=bool)
    occurs[labels] = True
    return (np.cumsum(occurs) - 1)[labels]


def degrees(values: Floats) -> float:
    """Degrees of freedom of the variance of values, from their kurtosis; at most n − 1, and 1 without values."""
    from pairsig.core.influence import degrees_of_freedom

    if len(values) < 2:
        return 1.0
    squares = (values - values.mean()) ** 2
    if float(squares.mean()) ** 2 < _LEAST:
        return 1.0
    return max(float(degrees_of_freedom(squares)), 1.0)
