"""Normal, t and binomial probabilities, one at a time, without scipy, whose import takes longer than a small test."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

# Above, its normalising constant loses digits, and scipy's series does not.
MOST_DEGREES = 1e4


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function by its continued fraction (modified Lentz); x < (a + 1)/(a + b + 2)."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 10_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + factor * d, 1 + factor / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * value / a


def ndtri(p: float) -> float:
    """The normal quantile."""
    return NormalDist().inv_cdf(p)


@lru_cache(maxsize=1024)
def log_sign_tails(n: int) -> tuple[float, ...]:
    """Natural logarithms of P(Bin(n, ½) >= k) for k = 0, …, n, from whole numbers."""
    logs, term, total = [], 1, 0
    for k in range(n, -1, -1):
        total += term
        logs.append(math.log(total) - n * math.log(2) if k else 0.0)
        term = term * k // (n - k + 1)
    return tuple(reversed(logs))


def stdtr(degrees: float, t: float) -> float:
    """P(T ≤ t)."""
    if degrees > MOST_DEGREES or not math.isfinite(t):
        from scipy.special import stdtr as of_scipy

        return float(of_scipy(degrees, t))
    a, square = degrees / 2, t * t
    if square == 0:
        return 0.5
    x = degrees / (degrees + square)
    outside = (
        _incomplete_beta(a, 0.5, x)
        if x < (a + 1) / (a + 2.5)
        else 1 - _incomplete_beta(0.5, a, square / (degrees + square))
    )
    return outside / 2 if t < 0 else 1 - outside / 2


@lru_cache(maxsize=1024)
def stdtrit(degrees: float, p: float) -> float:
    """The quantile: Newton's method from the normal quantile, from where it rises to the root without overshooting."""
    if degrees > MOST_DEGREES or not 0 < p < 1:
        from scipy.special import stdtrit as of_scipy

        return float(of_scipy(degrees, p))
    if p < 0.5:
        return -stdtrit(degrees, 1 - p)
    t = NormalDist().inv_cdf(p)
    constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    for _ in range(200):
        density = math.exp(constant - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = ((1 - p) - stdtr(degrees, -t)) / -density
        t += step
        if abs(step) <= 1e-11 * abs(t):
            break
    return t
