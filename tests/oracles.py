"""Slow and simple ways to the exact p-values: enumeration, and counting with whole numbers.

Nothing here knows of characteristic functions, tilts or windows, and nothing is rounded: swaps and resamples are
counted, and a p-value is a `Fraction`.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np


def score(metric, totals):
    """The metric of some totals (for mean: sum, number), as a fraction; 0 where there is nothing."""
    totals = [Fraction(value) for value in totals]
    above, below = {
        "accuracy": lambda t: (t[0], t[1]),
        "precision": lambda t: (t[0], t[1]),
        "recall": lambda t: (t[0], t[2]),
        "f1": lambda t: (2 * t[0], t[1] + t[2]),
        "mean": lambda t: (t[0], t[1]),
    }[metric](totals)
    return above / below if below else Fraction(0)


def rows(metric, counts):
    """Counts as lists of whole numbers; a mean's get the number of segments as their last column."""
    lists = np.asarray(counts).reshape(len(counts), -1).tolist()
    return [[*row, 1] for row in lists] if metric == "mean" else lists


def total(of):
    return [sum(column) for column in zip(*of, strict=True)]


def gain(metric, a, b):
    return score(metric, total(a)) - score(metric, total(b))


def all_swaps(metric, a, b):
    """Every one of the 2ⁿ swaps: P(|δ'| >= |δ|), P(|δ'| = |δ|), P(δ' >= δ) in the observed direction."""
    a, b = rows(metric, a), rows(metric, b)
    if gain(metric, a, b) < 0:
        a, b = b, a
    delta = gain(metric, a, b)
    gains = []
    for swapped in product((False, True), repeat=len(a)):
        pairs = [(y, x) if swap else (x, y) for x, y, swap in zip(a, b, swapped, strict=True)]
        gains.append(gain(metric, [x for x, _ in pairs], [y for _, y in pairs]))
    return tuple(
        Fraction(sum(found), len(gains))
        for found in ([abs(g) >= delta for g in gains], [abs(g) == delta for g in gains], [g >= delta for g in gains])
    )


def all_resamples(metric, a, b):
    """Every one of the nⁿ resamples: P(δ* > 2δ), P(δ* = 2δ), P(δ* < 0), P(δ* = 0)."""
    a, b = rows(metric, a), rows(metric, b)
    if gain(metric, a, b) < 0:
        a, b = b, a
    delta = gain(metric, a, b)
    gains = [
        gain(metric, [a[i] for i in drawn], [b[i] for i in drawn]) for drawn in product(range(len(a)), repeat=len(a))
    ]
    return tuple(
        Fraction(sum(found), len(gains))
        for found in (
            [g > 2 * delta for g in gains],
            [g == 2 * delta for g in gains],
            [g < 0 for g in gains],
            [g == 0 for g in gains],
        )
    )


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
    both, gold = a.sum(axis=0) + b.sum(axis=0), int(a[:, 2].sum())
    m_all, p_all = int(both[0]), int(both[1])
    observed = abs(gain("f1", a.tolist(), b.tolist()))
    extreme = 0
    for index, ways in enumerate(digits(value, bits, number)):
        if ways:
            m, p = index // span + int(low[:, 0].sum()), index % span + int(low[:, 1].sum())
            shuffled = Fraction(2 * m, p + gold) - Fraction(2 * (m_all - m), p_all - p + gold)
            extreme += ways * (abs(shuffled) >= observed)
    return Fraction(extreme, 2 ** len(a))


def resampled_sums(values):
    """How many of the nⁿ resamples give each sum of values >= 0: the coefficients of (Σ xᵛ)ⁿ."""
    n, top = len(values), max(values)
    bits = 8 * (n * n.bit_length() // 8 + 1)
    value = sum(1 << (bits * v) for v in values) ** n
    return {index: ways for index, ways in enumerate(digits(value, bits, n * top + 1)) if ways}


def log10(p):
    """Decimal logarithm of a fraction of any size."""
    return math.log10(p.numerator) - math.log10(p.denominator)


def how(test):
    """The arguments that choose a method and an alternative, for the function of a test of `definitions.TESTS`."""
    return {"alternative": test.alternative} | ({"method": test.method} if test.method else {})


# What a test is, by method and alternative. A new one gets a line in both, and the tests of formulas and of
# false-positive rates follow.

EXTREME = {
    ("", "two-sided"): lambda d, gain: abs(gain) >= abs(d),
    ("", "greater"): lambda d, gain: gain >= d,
    ("", "less"): lambda d, gain: gain <= d,
    ("", "observed"): lambda d, gain: gain * sign(d) >= abs(d),
    ("shifted", "two-sided"): lambda d, gain: abs(gain - d) >= abs(d),
    ("shifted", "greater"): lambda d, gain: gain - d >= d,
    ("shifted", "less"): lambda d, gain: gain - d <= d,
    ("shifted", "observed"): lambda d, gain: gain * sign(d) > 2 * abs(d),
    ("percentile", "two-sided"): lambda d, gain: gain * sign(d) <= 0,
    ("percentile", "greater"): lambda _, gain: gain <= 0,
    ("percentile", "less"): lambda _, gain: gain >= 0,
    ("percentile", "observed"): lambda d, gain: gain * sign(d) < 0,
}
"""Whether score(a) − score(b) on a draw is extreme if it is d on the test set, as the documentation defines it."""


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
    ("", "observed"): {20: (0.0, 0.10), 50: (0.0, 0.10), 100: (0.0, 0.10)},
}
"""Rates of the tests that do not control it, by number of segments: docs/explanation/false-positive-rate.md."""
