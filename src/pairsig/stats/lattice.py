"""Tails of sums of independent signed steps on a lattice of one or two dimensions, without drawing anything.

A sum Σ bᵢvᵢ of steps vᵢ, each made (bᵢ = 1) or not with probability ½, is tilted exponentially so that its mean lies on
the border of the event (Daniels 1987). Its distribution is then the inverse Fourier transform of the characteristic
function, sampled at as many frequencies as the window has cells; what lies outside of the window comes back as an
alias (Poisson summation; Abate and Whitt 1992). Undoing the tilt gives the tail with full *relative* accuracy.

Small lattices are filled step by step instead, which only adds positive numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Border = Callable[[Floats], Floats]
"""From rows to the real number from which on their columns belong to the event; vectorized."""

OUTSIDE = 34.0
"""The tilted sum leaves the window with a probability of at most e⁻³⁴ ≈ 2·10⁻¹⁵ on each of its four sides."""
NEGLIGIBLE = 30.0
"""Frequencies at which |φ| < e⁻³⁰ ≈ 10⁻¹³ are left out."""
LARGEST = 2**22
"""Elements of the largest array, of complex numbers: 64 MiB."""
MULTIPLIED = 2**25
"""Frequencies times steps up to which φ is computed: a second or two."""
FILLED = 2**25
"""Units times cells up to which a lattice is filled step by step: about 0.02 s."""
_CELLS_OF_A_CALL = 2**16
"""Cells that are filled in the time that a step takes anyway."""
_COARSE = 4
"""The grid on which the decay of φ is known has one in so many of the frequencies in each dimension."""
_PRECISE = 1e-9
"""Largest relative error of the tail from rounding."""
_MOST_UNITS = 900
"""Beyond so many units, the smallest probability 2⁻ⁿ may not be a float any more."""
_AT_ONCE = 2**16
"""Frequencies times steps that are multiplied together; they stay in the processor's cache."""


class TooLargeError(Exception):
    """The sum takes too many values, or the border bends too much within the window."""


def log_tail(steps: Integers, times: Integers, border: Border) -> float:
    """Natural logarithm of P(column >= border(row)), where (column, row) is the sum of the steps; −inf for 0.

    Parameters
    ----------
    steps
        Distinct steps, (steps × 2): column and row.
    times
        How many there are of each. Every one is made with probability ½.
    border
        Where the event begins in each row.
    """
    bottom = (np.minimum(steps, 0) * times[:, None]).sum(axis=0)
    size = 1 + (np.abs(steps) * times[:, None]).sum(axis=0)
    n_units = int(times.sum())
    if (float(size[0]) * float(size[1]) + _CELLS_OF_A_CALL) * n_units <= FILLED and n_units <= _MOST_UNITS:
        mass = _filled(steps, times, bottom, size)
        first = _first(border, bottom, size)
        inside = np.arange(size[0])[:, None] >= first
        total = float(mass[inside].sum())
        return math.log(total) if total > 0 else -math.inf
    theta, point = _aim(steps, times, border)
    return _inverted(steps, times, border, theta, point)


def _filled(steps: Integers, times: Integers, bottom: Integers, size: Integers) -> Floats:
    """Probability of every sum, (columns × rows)."""
    mass = np.zeros(size)
    low, high = -bottom, -bottom + 1  # the cells that are not 0 yet
    mass[tuple(low)] = 1.0
    for step, n_steps in zip(steps, times.tolist(), strict=True):
        for _ in range(n_steps):
            some = mass[low[0] : high[0], low[1] : high[1]] / 2
            low, high = low + np.minimum(step, 0), high + np.maximum(step, 0)
            made, left = low + np.maximum(step, 0), low - np.minimum(step, 0)
            mass[low[0] : high[0], low[1] : high[1]] = 0.0
            for start in (made, left):
                mass[start[0] : start[0] + some.shape[0], start[1] : start[1] + some.shape[1]] += some
    return mass


def _first(border: Border, low: Integers, size: Any) -> Floats:
    """The first column of the event in each row, counted from the lowest column of the window."""
    first: Floats = np.ceil(border(low[1] + np.arange(size[1], dtype=np.float64)) - low[0])
    return first


def _log_mgf(steps: Integers, times: Integers, theta: Floats) -> float:
    """K(θ) = Σ log((1 + e^{θ·v}) / 2)."""
    return float(times @ (np.logaddexp(0.0, steps @ theta) - math.log(2)))


def _aim(steps: Integers, times: Integers, border: Border) -> tuple[Floats, Floats]:
    """The tilt θ, orthogonal to the border, with which the mean of the sum is on it; and this point of the border."""
    halves = times / 2
    spread = math.sqrt(float((times / 4) @ steps[:, 1].astype(np.float64) ** 2))
    row = float(halves @ steps[:, 1])
    theta = np.zeros(2)
    for _ in range(20):
        below, at, above = border(np.array([row - 1, row, row + 1]))
        slope = (above - below) / 2 if spread else 0.0
        normal = np.array([1.0, -slope])
        theta = _tilt(steps @ normal, times, at - slope * row) * normal
        old, row = row, float((times * (0.5 + 0.5 * np.tanh(steps @ theta / 2))) @ steps[:, 1])
        if abs(row - old) <= 0.01 * spread:
            break
    return theta, np.array([float(border(np.array([row]))[0]), row])


def _tilt(along: Floats, times: Integers, target: float) -> float:
    """λ >= 0 with Σ times · along / (1 + e^{−λ·along}) = target, by Newton's method within a bracket.

    It is 0 if the mean without a tilt is beyond the target, and for steps parallel to the border, which no tilt moves.
    """
    size = float(np.abs(along).max())
    target = min(target, float(times @ np.maximum(along, 0.0)) - 0.5 * min(1.0, size))
    tilt, low, high = 0.0, 0.0, math.inf
    for _ in range(60):
        lean = np.tanh(tilt * along / 2)
        short = target - float((times * (0.5 + 0.5 * lean)) @ along)
        slope = float((times * (1 - lean**2) / 4) @ along**2)
        if (tilt == 0.0 and short <= 0) or abs(short) <= 1e-3 * math.sqrt(slope) or size < 1e-12:
            break
        low, high = (tilt, high) if short > 0 else (low, tilt)
        newton = tilt + short / slope if slope > 0 else math.inf
        tilt = newton if low < newton < min(high, 4 * low + 1 / size) else min((low + high) / 2, 4 * low + 1 / size)
    return tilt


def _inverted(steps: Integers, times: Integers, border: Border, theta: Floats, point: Floats) -> float:
    """`log_tail` from the characteristic function φ, with the tilt θ towards a point of the border.

    The tilted probability of (u, v) is 1/(MN) Σ φ(α, β) e^{−i(αu + βv)} over α = 2πj/M, β = 2πk/N, for a window of M
    columns and N rows. The columns of a row v from `first` on are undone and added up as a geometric series.
    """
    p = 0.5 + 0.5 * np.tanh(steps @ theta / 2)
    variances = times * p * (1 - p)
    low, high = _window(steps, times, theta, p, variances)
    size = (high - low + 1) | 1  # odd numbers, so that no frequency is its own opposite except 0
    # φ(α, β) for the frequencies that matter, (j × k).
    of_column, of_row, matter = _frequencies(steps, variances, size)
    rows = np.arange(int(high[1] - low[1]) + 1)
    if len(of_column) * len(rows) > LARGEST or np.count_nonzero(matter) * len(steps) > MULTIPLIED:
        raise TooLargeError
    phi = np.zeros(matter.shape, dtype=np.complex128)
    phi[matter] = _characteristic(steps, times, p, size, [of_column, of_row], matter, low)

    # Σₖ φ e^{−iβv}, (j × rows).
    turned = phi @ np.exp(-2j * np.pi / size[1] * (np.multiply.outer(of_row, rows) % size[1]))
    first = np.clip(_first(border, low, (size[0], len(rows))), 0, size[0])
    # Σ e^{zu} over the columns u from the first one on, relative to the first, with z = −θ₁ − iα.
    z = (-theta[0] - 2j * np.pi / size[0] * of_column)[:, None]
    flat = z == 0
    series = np.where(flat, size[0] - first, np.expm1(z * (size[0] - first)) / np.where(flat, 1, np.expm1(z)))
    series *= np.exp(-2j * np.pi / size[0] * np.multiply.outer(of_column, first))
    undone = theta[0] * (low[0] + first - point[0]) + theta[1] * (low[1] + rows - point[1])
    terms = turned * series * np.where(of_column == 0, 1, 2)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        of_rows = np.where(first < size[0], np.exp(-undone), 0.0)
        total = float(terms.real.sum(axis=0) @ of_rows) / float(size[0] * size[1])
        largest = float(np.abs(terms).sum(axis=0) @ of_rows) / float(size[0] * size[1])
    # Where the border bends much within the window, the tilt magnifies the rounding errors of the terms.
    if not 1e-15 * largest <= _PRECISE * total < math.inf:
        raise TooLargeError
    return _log_mgf(steps, times, theta) - float(theta @ point) + math.log(total)


def _frequencies(steps: Integers, variances: Floats, size: Integers) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Numbers j (columns) and k (rows) of the frequencies, and which pairs matter: others have |φ| < e^−`NEGLIGIBLE`.

    Columns are j >= 0 only, since φ(−θ) is the conjugate of φ(θ). `variances` are p(1 − p), times how often a step
    occurs. A step's |φ|² is 1 − 4p(1 − p) sin²(θ·v/2) <= exp(−4p(1 − p) sin²(θ·v/2)), so −log|φ| is at least the decay
    Σ p(1 − p)(1 − cos θ·v). It is known on a coarse grid from one transform. √decay is the length of a vector whose
    components are sines, hence changes by at most √(½ΔᵀΣΔ) over a distance Δ of angles, with Σ the covariance of the
    sum.
    """
    from scipy.fft import next_fast_len, rfftn

    coarse = np.array([next_fast_len(-(-int(n) // _COARSE), real=True) for n in size])
    if coarse.prod() > LARGEST:
        raise TooLargeError
    weight = np.zeros(coarse[::-1])
    np.add.at(weight, tuple((steps % coarse).T[::-1]), variances)
    decay = np.maximum(variances.sum() - rfftn(weight).real, 0.0)
    spread = np.sqrt(variances @ steps.astype(np.float64) ** 2)
    reach = math.sqrt(0.5) * float((np.pi / coarse * spread).sum())
    near = decay < (math.sqrt(NEGLIGIBLE) + reach) ** 2  # (coarse rows × coarse columns)
    of_column, of_row = np.arange(size[0] // 2 + 1), np.arange(size[1])
    place_column = (2 * of_column * coarse[0] + size[0]) // (2 * size[0])  # the nearest point of the grid
    place_row = (2 * of_row * coarse[1] + size[1]) // (2 * size[1]) % coarse[1]
    place_column = np.minimum(place_column, near.shape[1] - 1)  # the transform has half of the columns, too
    some_columns, some_rows = near.any(axis=0)[place_column], near.any(axis=1)[place_row]
    matter = near[np.ix_(place_row[some_rows], place_column[some_columns])].T
    return of_column[some_columns], of_row[some_rows], matter


def _window(steps: Integers, times: Integers, theta: Floats, p: Floats, variances: Floats) -> tuple[Integers, Integers]:
    """Smallest and largest (column, row) of the window, by Chernoff's bound with one further tilt on each side."""
    bottom = (np.minimum(steps, 0) * times[:, None]).sum(axis=0)
    top = (np.maximum(steps, 0) * times[:, None]).sum(axis=0)
    mean, log = (times * p) @ steps, _log_mgf(steps, times, theta)
    spread = np.sqrt(variances @ steps.astype(np.float64) ** 2)
    low, high = bottom.copy(), top.copy()
    for axis in (0, 1):
        if spread[axis] == 0:
            continue
        for sign in (-1, 1):
            further = np.zeros(2)
            further[axis] = sign * math.sqrt(2 * OUTSIDE) / spread[axis]
            grown = _log_mgf(steps, times, theta + further) - log - further[axis] * mean[axis]
            end = mean[axis] + (grown + OUTSIDE) / further[axis]
            if sign < 0:
                low[axis] = max(low[axis], math.floor(end))
            else:
                high[axis] = min(high[axis], math.ceil(end))
    return low, high


def _characteristic(
    steps: Integers,
    times: Integers,
    p: Floats,
    size: Integers,
    numbers: list[Integers],
    matter: NDArray[np.bool_],
    low: Integers,
) -> NDArray[np.complex128]:
    """φ of the sum minus `low`, at the frequencies that matter: the product of 1 − p + p·e^{iα·v} over all steps."""

    def waves(axis: int, some: Integers) -> NDArray[np.complex128]:
        """e^{iα·v} of some frequencies of columns (0) or rows (1), for each step."""
        turns = np.multiply.outer(some, steps[:, axis]) % size[axis]
        return np.asarray(np.exp(2j * np.pi / size[axis] * turns))

    of_rows = waves(1, numbers[1]) * p
    shift = [np.exp(-2j * np.pi / size[axis] * (numbers[axis] * int(low[axis]) % size[axis])) for axis in (0, 1)]
    at = np.argwhere(matter)
    phi = np.empty(len(at), dtype=np.complex128)
    n_parts = min(len(at), 1 + len(at) * len(steps) // _AT_ONCE)
    for some in np.array_split(np.arange(len(at)), n_parts):
        column, row = at[some].T  # the columns are neighbours, whose waves are computed for these frequencies only
        factor = waves(0, numbers[0][column[0] : column[-1] + 1])[column - column[0]] * of_rows[row]
        factor += 1 - p
        product, left = shift[0][column] * shift[1][row], times
        while True:  # powers by squaring
            product *= np.multiply.reduce(factor[:, left % 2 == 1], axis=1)
            more = left > 1
            if not more.any():
                break
            left, factor = left[more] // 2, factor[:, more] ** 2
        phi[some] = product
    return phi
