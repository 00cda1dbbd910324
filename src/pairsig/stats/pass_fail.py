"""Items that are passed or failed: the sign test in closed form, Tango's score, and intervals.

System A alone passes r of n items, and B alone passes s, so d = r + s items are discordant (McNemar's b and c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.metrics import Metric, Ratio

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_PRODUCT_ELEMENTS = 2**24
"""Items of all systems that are multiplied at once: 64 MiB in float32, and at most 2²⁴ items."""
_TINY = 1e-290
_MOST_BY_WHOLE_NUMBERS = 1000
"""Smaller probabilities are computed as logarithms."""


def score_of_a_pass(units: NDArray[Any], metric: Metric) -> float | None:
    """Score of a passed unit, if every unit of a share or a mean is passed or failed; else None.

    `units` are counts (..., units × columns).
    """
    form = metric.function
    if not isinstance(form, Ratio) or metric.width != 2 or form.complement or form.otherwise is not None:
        return None
    if (form.numerator, form.denominator) != ((0,), (1,)):
        return None
    values, weights = units[..., 0], units[..., 1]
    whole = 1.0 if metric.scale == form.factor else float(values.max()) or 1.0
    if whole in (1.0, 100.0) and (weights == 1).all() and ((values == 0) | (values == whole)).all():
        return abs(float(metric.score(np.array([whole, 1.0]))))
    return None


@dataclass(frozen=True)
class Items:
    """Which of two systems passes each unit, for all pairs of systems at once.

    Attributes
    ----------
    passed
        Score of a passed unit.
    n_units
        Their number.
    only
        How many units only the first system of a pair has with the value of a passed unit, (systems × systems).
    higher_is_better
        Of the metric. If lower is better, the value of a passed unit is a failure.
    """

    passed: float
    n_units: int
    only: Whole
    higher_is_better: bool

    @classmethod
    def of(cls, counts: NDArray[Any], metric: Metric) -> Items | None:
        """From counts per unit (systems × units × columns); None if they are not passed or failed."""
        passed = score_of_a_pass(counts, metric)
        if passed is None:
            return None
        n_systems, n_units = counts.shape[:2]
        # Units that both pass, from products of float32, which counts exactly; some units at a time.
        both = np.zeros((n_systems, n_systems))
        at_once = max(1, _PRODUCT_ELEMENTS // n_systems)
        for start in range(0, n_units, at_once):
            some = (counts[:, start : start + at_once, 0] != 0).astype(np.float32)
            both += some @ some.T
        numbers = both.astype(np.int64)
        return cls(passed, n_units, np.diagonal(numbers)[:, None] - numbers, metric.higher_is_better)

    def better(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Units on which only A is better and on which only B is better (McNemar's b and c), also of many pairs."""
        first, second = self.only[a, b], self.only[b, a]
        return (first, second) if self.higher_is_better else (second, first)

    def ends(self, a: Any, b: Any, confidence_level: float = 0.95) -> tuple[Any, Any]:
        """Ends of the interval of score(a) − score(b), also of many pairs (Bonett and Price 2012).

        With p = (r + 1)/(n + 2) and q = (s + 1)/(n + 2), they are p − q ± z √((p + q − (p − q)²) / (n + 2)), cut at −1
        and 1, times the score of a passed unit.
        """
        n = self.n_units + 2
        p, q = (self.only[a, b] + 1) / n, (self.only[b, a] + 1) / n
        reach = NormalDist().inv_cdf((1 + confidence_level) / 2) * np.sqrt((p + q - (p - q) ** 2) / n)
        return self.passed * np.maximum(p - q - reach, -1.0), self.passed * np.minimum(p - q + reach, 1.0)


@lru_cache(maxsize=1024)
def log_sign_tails(n: int) -> tuple[float, ...]:
    """Natural logarithms of P(Bin(n, ½) >= k) for k = 0, …, n, from whole numbers."""
    logs, term, total = [], 1, 0
    for k in range(n, -1, -1):
        total += term
        logs.append(math.log(total) - n * math.log(2) if k else 0.0)
        term = term * k // (n - k + 1)
    return tuple(reversed(logs))


def _one_log_sign_tail(n: float, k: float) -> float:
    return 0.0 if k <= 0 else -math.inf if k > n else log_sign_tails(int(n))[int(k)]


def log_sign_tail(n: Any, k: Any) -> Floats:
    """Natural logarithm of P(Bin(n, ½) >= k), elementwise: one side of the exact test of items, and −inf for 0.

    Far in the tail, it is the first term C(n, k)/2ⁿ times 1 + (n − k)/(k + 1) (1 + (n − k − 1)/(k + 2) (1 + …)).
    """
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64))
    if n.size and n.min() >= 0 and n.max() <= _MOST_BY_WHOLE_NUMBERS:
        of_one = np.vectorize(_one_log_sign_tail, otypes=[np.float64])
        return np.asarray(of_one(n, k))
    from scipy.special import betainc, gammaln

    inside = (k > 0) & (k <= n)
    p = np.where(k <= 0, 1.0, np.where(inside, betainc(np.where(inside, k, 1), np.where(inside, n - k + 1, 1), 0.5), 0))
    with np.errstate(divide="ignore"):
        logs = np.asarray(np.log(p))
    for place in np.argwhere(inside & (p < _TINY)):
        of, least = float(n[tuple(place)]), float(k[tuple(place)])
        further = np.arange(least, of)
        terms = np.cumprod((of - further) / (further + 1))
        first = gammaln(of + 1) - gammaln(least + 1) - gammaln(of - least + 1) - of * math.log(2)
        logs[tuple(place)] = first + math.log1p(float(terms.sum()))
    return logs


def tango(r: float | Floats, s: float | Floats, n: float, m: float) -> Floats:
    """Tango's (1998) score for the margin m: that A loses less than the share m of n items, normal if it loses m.

    With q the maximum-likelihood estimate of the probability that B alone passes, if A's loss is m,

        Z = (r − s + nm) / √(n (2q − m(1 + m))).
    """
    linear = r + s + m * (2 * n - r + s)
    q = (linear + np.sqrt(np.maximum(linear**2 - 8 * n * s * m * (1 + m), 0.0))) / (4 * n)
    variance = n * (2 * q - m * (1 + m))
    above = r - s + n * m
    # With zero variance (B alone passes exactly the margin, or all units), the sign of the numerator decides.
    z: Floats = np.where(np.abs(above) < 1e-9, 0.0, np.copysign(np.inf, above))
    return np.divide(above, np.sqrt(np.maximum(variance, 0.0)), out=z, where=variance > 1e-12)
