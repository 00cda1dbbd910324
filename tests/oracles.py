"""Slow and simple ways to the exact p-values: enumeration, and counting with whole numbers.

Nothing here knows of characteristic functions, tilts or windows, and nothing is rounded: swaps and resamples are
counted, and a p-value is a `Fraction`.
"""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from pairsig.core import draws


def quotient(above, below, nothing=0):
    return Fraction(above) / Fraction(below) if below else Fraction(nothing if above else 0)


PARTS = {
    "mean": lambda t: (t[0], t[1]),
    "accuracy": lambda t: (t[0], t[1]),
    "precision": lambda t: (t[0], t[1]),
    "recall": lambda t: (t[0], t[2]),
    "f1": lambda t: (2 * t[0], t[1] + t[2]),
    "aer": lambda t: (t[2] + t[3] - t[0] - t[1], t[2] + t[3]),
    "ter": lambda t: (t[0], t[1]),
}
"""Numerator and denominator of metrics of totals (for mean: sum, number)."""

SCORES = {
    name: lambda t, parts=parts, nothing=int(name == "ter"): quotient(*parts(t), nothing=nothing)
    for name, parts in PARTS.items()
}
"""These metrics as shares."""

LOWER_IS_BETTER = ("ter", "aer")


def rows(metric, counts):
    """Counts as rows of whole numbers or fractions; a mean's get the number of segments as their last column."""
    values = np.asarray(counts).reshape(len(counts), -1).tolist()
    return tuple((*row, 1) if metric == "mean" else tuple(row) for row in values)


def total(of, times):
    weighted = [[number * value for value in row] for number, row in zip(times, of, strict=True)]
    return [sum(column) for column in zip(*weighted, strict=True)]


def swapped(a, b, numbers):
    """The rows of two systems after the swaps."""
    return zip(*[(y, x) if swap else (x, y) for x, y, swap in zip(a, b, numbers, strict=True)], strict=True)


@lru_cache(maxsize=100)
def differences(metric, a, b, draw, draws):
    """score(a) − score(b) of `rows` on draws: numbers of each unit (resample), or 1 where a unit is swapped (swap)."""
    gains = []
    for numbers in draws:
        first, second, times = a, b, numbers
        if draw == "swap":
            first, second = swapped(a, b, numbers)
            times = [1] * len(a)
        gains.append(SCORES[metric](total(first, times)) - SCORES[metric](total(second, times)))
    return gains


def difference(metric, a, b):
    """score(a) − score(b)."""
    return differences(metric, rows(metric, a), rows(metric, b), "resample", ((1,) * len(a),))[0]


def every_draw(draw, n):
    """Every one of the 2ⁿ swaps or nⁿ resamples."""
    if draw == "swap":
        return tuple(product((0, 1), repeat=n))
    return tuple(tuple(np.bincount(drawn, minlength=n).tolist()) for drawn in product(range(n), repeat=n))


def seeded_draws(draw, n, number, seed=2012):
    """The first draws of n units that all tests share."""
    drawn = {"resample": draws.bootstrap_counts, "swap": draws.swaps}[draw](seed, 0, number, n)
    return tuple(map(tuple, drawn.astype(int).tolist()))


def extremes(metric, a, b, test, draws):
    """How many draws are beyond the border of a test of `definitions.TESTS`, and how many are on it."""
    beyond, d = BEYOND[test.method, test.alternative], difference(metric, a, b)
    drawn = differences(metric, rows(metric, a), rows(metric, b), test.draw, draws)
    # Where the systems are equal and no direction was chosen, the first one stands for the better one.
    turn = -1 if metric in LOWER_IS_BETTER and not test.directed else 1
    far = [beyond(turn * d, turn * drawn_gain) for drawn_gain in drawn]
    return sum(distance > 0 for distance in far), sum(distance == 0 for distance in far)


def pvalue(metric, a, b, test, draws):
    """The p-value of a test from these draws."""
    if difference(metric, a, b) == 0 and test.alternative in ("two-sided", "observed"):
        return Fraction(1)
    beyond, tied = extremes(metric, a, b, test, draws)
    strict = (test.method, test.alternative) in STRICT
    plus = 0 if test.exact or strict else 1
    return min(Fraction(1), sides(test) * Fraction(beyond + (not strict) * tied + plus, len(draws) + plus))


def exact(metric, a, b, test):
    """The p-value over all swaps or resamples, and the share of them that is on the border."""
    draws = every_draw(test.draw, len(a))
    _, tied = extremes(metric, a, b, test, draws)
    return pvalue(metric, a, b, test, draws), sides(test) * Fraction(tied, len(draws))


def sides(test):
    return 2 if (test.method, test.alternative) in DOUBLED else 1


# A polynomial with whole coefficients is its value at a power of two beyond them all (Kronecker): its coefficients are
# the digits, and Python multiplies it as one number.


def digits(value, bits, number):
    """The lowest `number` digits of a value, of so many bits each (a multiple of 8), the lowest first."""
    data = value.to_bytes(number * bits // 8, "little")
    return [int.from_bytes(data[start : start + bits // 8], "little") for start in range(0, len(data), bits // 8)]


def swapped_sums(differences):
    """How many of the swaps give each sum: Σ ±d to number of ways, as the coefficients of Π (x⁻ᵈ + xᵈ)."""
    sizes = [abs(int(d)) for d in differences]
    bits = 8 * (len(sizes) // 8 + 1)
    value = 1
    for size in sizes:
        value += value << (bits * size)
    low = -sum(sizes)
    return {low + 2 * index: ways for index, ways in enumerate(digits(value, bits, sum(sizes) + 1)) if ways}


def far_tail(differences):
    """P(|Σ ±d| >= |Σ d|), whatever its size."""
    observed = abs(sum(int(d) for d in differences))
    ways = swapped_sums(differences)
    return Fraction(sum(number for value, number in ways.items() if abs(value) >= observed), 2 ** len(differences))


def f1_tail(a, b):
    """P(|δ'| >= |δ|) for F1, from the number of swaps that give the first system each (matched, predicted)."""
    a, b = np.asarray(a), np.asarray(b)
    low, high = np.minimum(a, b), np.maximum(a, b)
    span = int((high - low)[:, 1].sum()) + 1
    bits = 8 * (len(a) // 8 + 1)

    def place(counts, least):
        return bits * (int(counts[0] - least[0]) * span + int(counts[1] - least[1]))

    value = 1
    for x, y, least in zip(a, b, low, strict=True):
        value = (value << place(x, least)) + (value << place(y, least))
    number = (int((high - low)[:, 0].sum()) + 1) * span
    totals, gold = a.sum(axis=0) + b.sum(axis=0), int(a[:, 2].sum())
    m_all, p_all = int(totals[0]), int(totals[1])
    observed = abs(difference("f1", a, b))
    extreme = 0
    for index, ways in enumerate(digits(value, bits, number)):
        if ways:
            m, p = index // span + int(low[:, 0].sum()), index % span + int(low[:, 1].sum())
            shuffled = Fraction(2 * m, p + gold) - Fraction(2 * (m_all - m), p_all - p + gold)
            extreme += ways * (abs(shuffled) >= observed)
    return Fraction(extreme, 2 ** len(a))


def log10(p):
    """Decimal logarithm of a fraction of any size."""
    return math.log10(p.numerator) - math.log10(p.denominator)


def how(test):
    """The arguments that choose a method and an alternative, for the function of a test of `definitions.TESTS`."""
    return {"alternative": test.alternative} | ({"method": test.method} if test.method else {})


# What a test is, by method and alternative. A new one gets a line in both tables, and the tests of formulas and of
# false-positive rates follow.

SWAPS = {
    "two-sided": lambda d, gain: abs(gain) - abs(d),
    "greater": lambda d, gain: gain - d,
    "less": lambda d, gain: d - gain,
}
"""How far a difference after a swap is beyond that of the test set."""

BEYOND = {
    **{("", alternative): event for alternative, event in SWAPS.items()},
    ("shifted", "two-sided"): lambda d, gain: abs(gain - d) - abs(d),
    ("shifted", "greater"): lambda d, gain: gain - d - d,
    ("shifted", "less"): lambda d, gain: d - (gain - d),
    ("shifted", "observed"): lambda d, gain: gain * sign(d) - 2 * abs(d),
    ("percentile", "two-sided"): lambda d, gain: -gain * sign(d),
    ("percentile", "greater"): lambda _, gain: -gain,
    ("percentile", "less"): lambda _, gain: gain,
    ("percentile", "observed"): lambda d, gain: -gain * sign(d),
}
"""How far score(a) − score(b) on a draw is beyond the border if it is d on the test set, by the documentation."""


STRICT = {("shifted", "observed"), ("percentile", "observed")}
"""Tests for which draws on the border do not count, and which add no 1."""


DOUBLED = {("percentile", "two-sided")}
"""Tests whose p-value is twice the probability of that event, at most 1."""


def sign(d):
    return -1 if d < 0 else 1


RATES = {
    ("shifted", "two-sided"): {20: (0.045, 0.09), 50: (0.04, 0.065), 100: (0.035, 0.06)},
    ("shifted", "greater"): {20: (0.045, 0.105), 50: (0.035, 0.075), 100: (0.035, 0.07)},
    ("shifted", "less"): {20: (0.045, 0.105), 50: (0.035, 0.075), 100: (0.035, 0.07)},
    ("shifted", "observed"): {20: (0.12, 0.20), 50: (0.09, 0.14), 100: (0.10, 0.14)},
    ("percentile", "two-sided"): {20: (0.035, 0.16), 50: (0.035, 0.09), 100: (0.035, 0.07)},
    ("percentile", "greater"): {20: (0.035, 0.13), 50: (0.035, 0.08), 100: (0.035, 0.07)},
    ("percentile", "less"): {20: (0.035, 0.13), 50: (0.035, 0.08), 100: (0.035, 0.07)},
    ("percentile", "observed"): {20: (0.12, 0.26), 50: (0.09, 0.16), 100: (0.10, 0.14)},
}
"""Rates of the tests that do not control it, by number of segments: docs/false-positive-rate.md."""
