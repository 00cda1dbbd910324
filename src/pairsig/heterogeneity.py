"""Will it win on the next test set? Gains on several test sets, how much they differ, and what that says of another.

A p-value is about other samples of the test set's own source. Here the test sets are a sample themselves: of domains,
languages, years. The true gain on test set t is δ + uₜ, and the heterogeneity τ is the standard deviation of uₜ; what
was measured there is that and the error of its segments, dₜ ~ N(δ, sₜ² + τ²) (random effects, as in meta-analysis).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.choices import choose, once
from pairsig.columns import BORROWED, TRANSFER
from pairsig.errors import InputError, named

Floats = NDArray[np.float64]

LEAST = 2
"""Test sets from which heterogeneity can be had."""

FLOOR = 1.6448536269514722 * math.sqrt(2)
"""Gain over τ on a test set of any size at which the chance on the next is 95 %: both are off by their own u."""

ROUGH = 50
"""With fewer segments gains are not normal enough for the chances that are told."""

LEAST_CHANCE = 0.01
"""No smaller chance is told: where families predict less, the better system loses in 0.1 to 3 of 100 cases."""

_QUANTILES = np.linspace(-6, 6, 97)
"""Standard normal quantiles of the confidence distribution at which τ is taken; their density is the share of each."""
_STEPS = 60
"""Halvings of an interval, which leave about a unit in the last place."""


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """What the gains of one system over another on T test sets say of the next one; arrays hold one item a pair.

    Attributes
    ----------
    gain, ci_low, ci_high
        δ, the mean gain over all test sets there are of this sort, and its interval.
    heterogeneity, heterogeneity_low, heterogeneity_high
        τ, in the unit of the gain, and its interval (nan where it was borrowed).
    prediction_low, prediction_high
        Interval of the true gain on the next test set.
    p_iid
        P-value (one-sided, against the system with the lower mean) as if all segments were one sample of one source.
    p_next
        Chance that the system with the lower mean is the better one on the next test set.
    n_test_sets
        T.
    """

    gain: Floats
    ci_low: Floats
    ci_high: Floats
    heterogeneity: Floats
    heterogeneity_low: Floats
    heterogeneity_high: Floats
    prediction_low: Floats
    prediction_high: Floats
    p_iid: Floats
    p_next: Floats
    n_test_sets: int


@dataclass(frozen=True, kw_only=True)
class Family:
    """Test sets that are alike in what differs between them, and how much gains differ between two of them.

    The heterogeneity of a pair of systems is τ = κσ, with σ the standard deviation of what a segment contributes to
    their gain: its standard error times √n. A test set of n segments then says as much of the true gain on another as
    n' segments of that other one, 1/n' = 1/n + 2κ². `python -m study heterogeneity` measures κ²: docs/next-test-set.md.

    Attributes
    ----------
    family, metric, about
        Its name, what gains were measured by, what its test sets are.
    n_test_sets, n_systems
        How many were measured.
    kappa_squared, kappa_squared_low, kappa_squared_high
        κ², with its 95 % interval over test sets and systems.
    n_validated
        How often it was told from other test sets and other systems who is the better one on a test set.
    held, predicted_iid, predicted
        In what share of these it was the better one on another; the chance of that i.i.d., and with κ².
    coverage_iid, coverage
        In what share of these the gain was in its 95 % prediction interval.
    """

    family: str
    metric: str
    about: str
    n_test_sets: int
    n_systems: int
    kappa_squared: float
    kappa_squared_low: float
    kappa_squared_high: float
    n_validated: int
    held: float
    predicted_iid: float
    predicted: float
    coverage_iid: float
    coverage: float

    @property
    def worth(self) -> float:
        """1/(2κ²): as many segments of the next test set say as much of the gain there as a test set of any size."""
        return 1 / (2 * self.kappa_squared)

    def heterogeneity(self, standard_errors: ArrayLike, n_segments: ArrayLike) -> Floats:
        """τ of pairs from their standard errors on test sets of so many segments, in points; over the last axis, of T.

        σ² is the mean over the test sets.
        """
        per_segment = np.square(np.asarray(standard_errors, dtype=np.float64)) * np.asarray(n_segments)
        found: Floats = np.sqrt(self.kappa_squared * per_segment.mean(axis=-1))
        return found

    def told(self, metric: str) -> str:
        """A sentence on what is borrowed, and how well it did."""
        other = "" if metric == self.metric else f"; these gains are by {metric}, for which it has not been tried"
        return (
            f"how much gains differ between test sets is not of your data but borrowed from {self.family}: "
            f"{self.about}, {self.n_test_sets} test sets and {self.n_systems} systems by {self.metric}{other}; on test "
            f"sets and systems that it had not seen, the better system had a chance of {100 * self.predicted:.0f} % to "
            f"be the better one on another ({100 * self.predicted_iid:.0f} % i.i.d.), and {100 * self.held:.0f} % were"
        )


@cache
def families() -> tuple[Family, ...]:
    """The families that are known."""
    from pairsig import tables

    rows = tables.read(Path(__file__).with_name("borrowed.tsv"), BORROWED)
    return tuple(Family(**{one.name: row[one.name] for one in fields(Family)}) for row in rows.to_dict("records"))


def family(name: str, metric: str = "") -> Family:
    """The family of that name, by that metric where it was measured by several; an `InputError` lists the names."""
    choose(name, list(dict.fromkeys(one.family for one in families())), "family of test sets:")
    of = [one for one in families() if one.family == name]
    return next((one for one in of if one.metric == metric), of[0])


def transfer(
    gains: ArrayLike, standard_errors: ArrayLike, *, level: float = 0.95, heterogeneity: ArrayLike | None = None
) -> Transfer:
    """What the gains on several test sets say of the next one.

    With wₜ = 1/(sₜ² + τ²) and δ̂ = Σ wₜdₜ / Σ wₜ, Q(τ²) = Σ wₜ (dₜ − δ̂)² falls as τ² grows, and at the true τ² it has
    the χ² distribution with T − 1 degrees of freedom, whatever δ̂ is.

    * τ² is the root of Q(τ²) = T − 1 (Paule and Mandel 1982), its interval has the roots for the quantiles of χ²
      (Viechtbauer 2007); 0 where Q(0) is smaller already.
    * τ² is not known, and the roots for all quantiles of χ² are its confidence distribution. Given τ², the mean gain
      is N(δ̂, 1 / Σ wₜ) and the true gain on the next test set N(δ̂, τ² + 1 / Σ wₜ): the intervals of both, and p_next,
      are of the mixture of these over the confidence distribution (Nagashima, Noma and Furukawa 2019, without drawing).

    * p_next has to come true among the pairs whose gains look as good as these. Two or three gains that happen to be
      near each other say too little of τ² for that, so it is the chance from the mixture with **one more test set, on
      which the two systems are equal**: as if δ were drawn from N(0, τ²). With errors of 0 it is at least 0.21 for two
      test sets, 0.14 for three, 0.09 for four, 0.04 for six and 0.01 for ten, however alike the gains are (Student's
      distribution with T degrees of freedom at −T/√(T + 2)).

    With a **borrowed** heterogeneity τ, known from elsewhere, there is nothing to mix, and one test set is enough: what
    it says of another is N(d, s² + 2τ²), since both are off by their own u.

    How often an interval at level 95 % held the truth, in % of 10,000 pairs (± 0.4): that of the mean gain, of the true
    gain on the next test set, and of τ. The sₜ are uniform from 0.4 to 1.6 of their mean, the true gains normal, and in
    the last row with heavy tails (Student's with 3 degrees of freedom), which the interval of τ does not stand:

    ===================  ==============  ==============  ==============  ==============  ==============
    test sets            2               3               5               10              20
    ===================  ==============  ==============  ==============  ==============  ==============
    τ = 0                100 / 100 / 98  99 / 100 / 98   99 / 100 / 97   98 / 99 / 97    98 / 100 / 98
    τ = half of mean s   99 / 99 / 95    99 / 98 / 95    98 / 97 / 95    97 / 95 / 95    96 / 94 / 95
    τ = mean s           98 / 97 / 95    97 / 96 / 95    96 / 95 / 95    95 / 94 / 95    95 / 94 / 95
    τ = 2 mean s         97 / 96 / 95    96 / 95 / 95    95 / 94 / 95    95 / 95 / 95    95 / 95 / 95
    τ = 4 mean s         96 / 95 / 95    95 / 95 / 95    95 / 95 / 95    95 / 95 / 95    95 / 95 / 95
    … 2, heavy tails     98 / 96 / 94    97 / 94 / 93    96 / 92 / 89    96 / 93 / 84    96 / 93 / 77
    ===================  ==============  ==============  ==============  ==============  ==============

    How often the other system won, in % of cases with p_next from 0.01 to 0.05, and in brackets from 0.05 to 0.20; the
    δ of pairs have the standard deviation in the first column, 24,000 pairs each with mean s of 0.05, 0.5 and 2 τ, the
    sₜ equal and as above (± 8 and ± 3 points for the first two shares of the last columns, else ± 1):

    ==========  ==========  ==========  ==========  ==========  ==========
    test sets   2           3           4           6           10
    ==========  ==========  ==========  ==========  ==========  ==========
    0.5 τ       none        none (32)   none (29)   none (28)   22 (24)
    τ           none        none (16)   none (15)   4 (13)      3 (12)
    1.5 τ       none        none (9)    none (8)    0.5 (8)     2 (8)
    3 τ         none        none (3)    none (3)    0.1 (3)     0.4 (5)
    ==========  ==========  ==========  ==========  ==========  ==========

    So the chances are too small for pairs whose gains are half of what they differ by between test sets, of which one
    in 1,000 is told such a chance of 0.01 to 0.05; right for gains of τ, and too large for larger ones. In the families
    that were measured (docs/next-test-set.md) gains have a standard deviation of 1.5 to 4 τ.

    Parameters
    ----------
    gains
        Of one system over the other on T test sets, (T,) or (pairs, T).
    standard_errors
        Theirs, of the same shape; 0 where the two systems' outputs are the same.
    level
        Of the intervals.
    heterogeneity
        τ where it is borrowed, one for all pairs or one each (see `Family.heterogeneity`); else it is estimated, which
        takes `LEAST` test sets.

    Raises
    ------
    InputError
        For shapes that differ, numbers that are not finite, negative standard errors, and too few test sets.
    """
    from scipy.special import chdtri, ndtr

    d, s = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (gains, standard_errors))
    if d.shape != s.shape or d.ndim != 2:
        raise InputError(f"the gains have the shape {d.shape} and their standard errors {s.shape}, expected the same")
    if not (np.isfinite(d).all() and np.isfinite(s).all() and (s >= 0).all()):
        raise InputError("a gain or its standard error is not finite, or negative, expected numbers")
    if not 0 < level < 1:
        raise InputError(f"the level is {level}, expected a number between 0 and 1")
    n = d.shape[1]
    if heterogeneity is None and n < LEAST:
        raise InputError(
            f"{n} test set{'s' * (n > 1)}, expected at least {LEAST} to see how much gains differ between them, or a "
            "heterogeneity that is known from others"
        )
    if heterogeneity is not None:
        given = np.asarray(heterogeneity, dtype=np.float64)
        if not (np.isfinite(given).all() and (given >= 0).all()):
            raise InputError(f"the heterogeneity is {heterogeneity}, expected a number, 0 or more")
        if given.shape not in ((), (len(d),)):
            raise InputError(f"found {given.size} heterogeneities for {len(d)} pairs, expected one, or one each")
    # The same outputs have no error; a millionth of what there is keeps weights finite.
    scale = np.maximum(np.abs(d).max(axis=1, keepdims=True), s.max(axis=1, keepdims=True))
    tiny = (1e-6 * np.where(scale > 0, scale, 1.0)) ** 2
    v = np.maximum(s**2, tiny)
    below = (1 - level) / 2
    low2 = high2 = np.full(len(d), np.nan)
    if heterogeneity is None:
        tau2, low2, high2 = (_root(d, v, target) for target in (n - 1, chdtri(n - 1, below), chdtri(n - 1, 1 - below)))
        possible, shares = _possible(d, v)
    else:
        tau2 = np.broadcast_to(given**2, len(d))
        possible, shares = tau2[None], np.ones(1)
    of_mean, of_next = _mixtures(d, v, possible, shares)
    chances = of_next
    if heterogeneity is None:  # one test set more, on which the two are equal
        d1, v1 = (np.column_stack([known, of]) for known, of in ((d, np.zeros(len(d))), (v, tiny)))
        _, chances = _mixtures(d1, v1, *_possible(d1, v1))
    mean, _ = _mean(d, v, tau2)
    one_source, precision = _mean(d, v, np.zeros(len(d)))
    lower = chances.below(np.zeros(len(d)))
    return Transfer(
        gain=mean,
        ci_low=of_mean.quantile(below),
        ci_high=of_mean.quantile(1 - below),
        heterogeneity=np.sqrt(tau2),
        heterogeneity_low=np.sqrt(low2),
        heterogeneity_high=np.sqrt(high2),
        prediction_low=of_next.quantile(below),
        prediction_high=of_next.quantile(1 - below),
        p_iid=ndtr(-np.where(mean >= 0, one_source, -one_source) * np.sqrt(precision)),
        p_next=np.where(mean >= 0, lower, 1 - lower),
        n_test_sets=n,
    )


@dataclass(frozen=True)
class _Mixture:
    """Normal distributions, (components × pairs), and the share of each component."""

    means: Floats
    spreads: Floats
    shares: Floats

    def below(self, values: Floats) -> Floats:
        from scipy.special import ndtr

        mass: Floats = np.asarray(self.shares @ ndtr((values - self.means) / self.spreads))
        return mass

    def quantile(self, share: float) -> Floats:
        from scipy.special import ndtri

        own = self.means + float(ndtri(share)) * self.spreads
        low, high = own.min(axis=0), own.max(axis=0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            less = self.below(middle) < share
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        found: Floats = (low + high) / 2
        return found


def _possible(d: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Quantiles of the confidence distribution of τ², and the share of each."""
    from scipy.special import chdtri, ndtr

    degrees = d.shape[1] - 1
    shares = np.exp(-(_QUANTILES**2) / 2)
    return np.array([_root(d, v, chdtri(degrees, 1 - share)) for share in ndtr(_QUANTILES)]), shares / shares.sum()


def _mixtures(d: Floats, v: Floats, possible: Floats, shares: Floats) -> tuple[_Mixture, _Mixture]:
    """Of the mean gain, and of the true gain on the next test set."""
    means, weights = (np.array(values) for values in zip(*(_mean(d, v, tau2) for tau2 in possible), strict=True))
    return (
        _Mixture(means, 1 / np.sqrt(weights), shares),
        _Mixture(means, np.sqrt(possible + 1 / weights), shares),
    )


def _mean(d: Floats, v: Floats, tau2: Floats) -> tuple[Floats, Floats]:
    """δ̂ and Σ wₜ at τ²."""
    w = 1 / (v + tau2[:, None])
    weight = w.sum(axis=1)
    return (w * d).sum(axis=1) / weight, weight


def _q(d: Floats, v: Floats, tau2: Floats) -> Floats:
    mean, _ = _mean(d, v, tau2)
    found: Floats = ((d - mean[:, None]) ** 2 / (v + tau2[:, None])).sum(axis=1)
    return found


def _root(d: Floats, v: Floats, target: float) -> Floats:
    """Where Q falls to the target; 0 where it is below it from the start. Q falls as τ² grows."""
    low = np.zeros(len(d))
    # Each term of Q is below (dₜ − δ̂)²/τ², and |dₜ − δ̂| at most the range of the gains.
    high = d.shape[1] * np.ptp(d, axis=1) ** 2 / target + 1e-300
    above = _q(d, v, low) > target
    for _ in range(_STEPS):
        middle = (low + high) / 2
        larger = _q(d, v, middle) > target
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return np.where(above, (low + high) / 2, 0.0)


def elsewhere(gain: float, errors: tuple[float, float], n_segments: int, metric: str, like: str) -> list[str]:
    """Sentences on who wins on another test set of a family, of a pair on one.

    Parameters
    ----------
    gain
        Of the better system.
    errors
        Its standard error; and the one by segments, by which families are measured, if documents were drawn.
    like
        Name of the family.
    """
    of = family(like, metric)
    tau = float(of.heterogeneity([errors[1]], [n_segments]))
    found = transfer([gain], errors[:1], heterogeneity=tau)
    said = [
        "p is about other samples of this test set; the chance that the other system is the better one on the next "
        f"test set like {like} is {_p(float(found.p_next[0]), LEAST_CHANCE)}, and below 5 % for gains above "
        f"{FLOOR * tau:.2f} however many segments this one has",
        of.told(metric),
    ]
    return said + _rough(n_segments)


def transfers(
    comparisons: pd.DataFrame,
    *,
    systems: Sequence[str] = (),
    level: float = 0.95,
    heterogeneity: float | None = None,
    like: str = "",
) -> pd.DataFrame:
    """`transfer` of every pair of systems, from tables of comparisons on several test sets.

    Parameters
    ----------
    comparisons
        Tables of `compare` by one metric, one below the other: whole test sets, or domains of one. Of several tests on
        a test set the first is taken; only gains and their standard errors are.
    systems
        Two or more of those compared; by default all.
    heterogeneity, like
        τ where it is borrowed, in points, or the name of the family it is borrowed from, see `families`.

    Raises
    ------
    InputError
        If a test set or a pair is there twice, if test sets overlap, or if a system is not on all of them.

    Returns
    -------
    Table `TRANSFER`, one row a pair: `system_a` is the one with the higher mean.
    """
    from pairsig.tables import frame

    if heterogeneity is not None and like:
        raise InputError(f"found a heterogeneity of {heterogeneity} and one like {like}, expected one of both")
    if like:
        family(like)
    if comparisons.empty:
        raise InputError("there are no comparisons, expected those on at least one test set")
    if systems:
        comparisons = _among(comparisons, systems)
    metrics = list(comparisons["metric"].unique())
    if len(metrics) > 1:
        raise InputError(
            f"the comparisons are by {named(str(metrics[0]))} and {named(str(metrics[1]))}, expected one metric"
        )
    by_test_set = [
        (f"{dataset}:{test_set}", rows[rows["test"] == rows["test"].iloc[0]])
        for (dataset, test_set), rows in comparisons.groupby(["dataset", "test_set"], sort=False)
    ]
    for dataset, rows in comparisons.groupby("dataset", sort=False):
        kinds = list(rows["derived"].unique())
        if kinds not in (["whole"], ["domain"]):
            raise InputError(
                f"dataset {named(str(dataset))} is there as {', '.join(map(str, kinds))}, expected it whole, or its "
                "domains: test sets that share segments are no two test sets"
            )
    first, first_rows = by_test_set[0]
    compared = list(dict.fromkeys(first_rows[["system_a", "system_b"]].to_numpy().ravel().tolist()))
    positions = {name: index for index, name in enumerate(compared)}
    a, b = np.triu_indices(len(compared), k=1)
    found = np.empty((2, len(a), len(by_test_set)))
    for column, (name, rows) in enumerate(by_test_set):
        _same_systems(first, compared, name, rows)
        one, other = (rows[side].map(positions).to_numpy(dtype=np.intp) for side in ("system_a", "system_b"))
        sign = np.where(one < other, 1.0, -1.0)
        low, high = np.minimum(one, other), np.maximum(one, other)
        row = low * len(compared) - low * (low + 1) // 2 + high - low - 1
        if len(np.unique(row)) < len(row):
            twice = rows[pd.Series(row, index=rows.index).duplicated()].iloc[0]
            raise InputError(
                f"{named(str(twice['system_a']))} and {named(str(twice['system_b']))} are compared more than once on "
                f"{name}, expected once"
            )
        if len(row) < len(a):
            raise InputError(f"{name} has {len(row)} pairs of {len(compared)} systems, expected all {len(a)}")
        found[0, row, column] = sign * rows["gain"].to_numpy()
        found[1, row, column] = rows["standard_error"].to_numpy()
    gains, errors = found
    _different([name for name, _ in by_test_set], gains, errors)
    sizes = [int(rows["n_segments"].iloc[0]) for _, rows in by_test_set]
    tau = family(like, str(metrics[0])).heterogeneity(errors, sizes) if like else heterogeneity
    result = transfer(gains, errors, level=level, heterogeneity=tau)
    better = np.where(result.gain >= 0, a, b)
    sign = np.where(result.gain >= 0, 1.0, -1.0)
    ends = {
        kind: np.sort(np.stack([sign * getattr(result, f"{kind}_low"), sign * getattr(result, f"{kind}_high")]), axis=0)
        for kind in ("ci", "prediction")
    }
    names = np.array(compared, dtype=object)
    return frame(
        TRANSFER,
        pd.DataFrame(
            {
                "metric": metrics[0],
                "system_a": names[better],
                "system_b": names[np.where(better == a, b, a)],
                "n_test_sets": result.n_test_sets,
                "n_won": (sign[:, None] * gains > 0).sum(axis=1),
                "gain": np.abs(result.gain),
                "ci_low": ends["ci"][0],
                "ci_high": ends["ci"][1],
                "heterogeneity": result.heterogeneity,
                "heterogeneity_low": result.heterogeneity_low,
                "heterogeneity_high": result.heterogeneity_high,
                "prediction_low": ends["prediction"][0],
                "prediction_high": ends["prediction"][1],
                "p_iid": result.p_iid,
                "p_next": result.p_next,
                "floor": FLOOR * result.heterogeneity,
                "borrowed": tau is not None,
                "like": like,
            }
        ),
    )


def _among(comparisons: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The comparisons of some systems with each other."""
    once(systems, "system")
    known = list(dict.fromkeys(comparisons[["system_a", "system_b"]].to_numpy().ravel().tolist()))
    for name in systems:
        choose(name, known, "system")
    if len(systems) < 2:
        raise InputError(f"one system is named, {named(systems[0])}, expected at least two to compare")
    for (dataset, test_set), rows in comparisons.groupby(["dataset", "test_set"], sort=False):
        for name in set(systems) - set(rows["system_a"]) - set(rows["system_b"]):
            raise InputError(f"system {named(name)} is not on {dataset}:{test_set}, expected it on every test set")
    return comparisons[comparisons["system_a"].isin(systems) & comparisons["system_b"].isin(systems)]


def _different(names: Sequence[str], gains: Floats, errors: Floats) -> None:
    """No test set is there again under another name."""
    first: dict[bytes, str] = {}
    for name, gain, error in zip(names, gains.T, errors.T, strict=True):
        other = first.setdefault(gain.tobytes() + error.tobytes(), name)
        if other != name and gain.any():
            raise InputError(f"{other} and {name} have the same gains of all pairs, expected different test sets")


def render(table: pd.DataFrame, *, smallest: int = ROUGH) -> str:
    """A table of `transfers` for a terminal, and what its p-values mean; the smallest test set has so many segments."""
    from pairsig.tables import listed_below, printed

    floors = table[["floor", "heterogeneity_low", "heterogeneity_high"]].itertuples(index=False)
    shown = pd.DataFrame(
        {
            "metric": table["metric"],
            "A": table["system_a"],
            "B": table["system_b"],
            "won": [f"{won} of {n}" for won, n in table[["n_won", "n_test_sets"]].itertuples(index=False)],
            "gain [95 %]": _between(table, "ci"),
            "on the next [95 %]": _between(table, "prediction"),
            "p (i.i.d.)": [_p(p, 1e-4) for p in table["p_iid"]],
            "p (next)": [_p(p, LEAST_CHANCE) for p in table["p_next"]],
            "floor": [
                f"{floor:.2f}" if math.isnan(low) else f"{floor:.2f} [{FLOOR * low:.2f}, {FLOOR * high:.2f}]"
                for floor, low, high in floors
            ],
        }
    )
    said = [
        "p (i.i.d.): how often other segments from the same sources would put A ahead by so much if it were no better",
        "p (next): the chance that B is the better one on the next test set of this sort",
        "floor: the gain that makes the chance on the next one 95 %, however many segments one test set has",
    ]
    said += notes(table, smallest)
    return f"{printed(shown, 'table')}\n{listed_below(said, 'table')}"


def notes(table: pd.DataFrame, smallest: int) -> list[str]:
    """Sentences on what the numbers of a table of `transfers` are not: measured on these data, or certain."""
    borrowed = dict.fromkeys(table.loc[table["like"] != "", ["like", "metric"]].itertuples(index=False, name=None))
    said = [family(name, metric).told(metric) for name, metric in borrowed]
    return said + _rough(smallest)


def _rough(n_segments: int) -> list[str]:
    if n_segments >= ROUGH:
        return []
    return [f"the chance is rough: it takes gains to be normal, which {n_segments} segments do not make them"]


def _between(table: pd.DataFrame, of: str) -> list[str]:
    return [
        f"{gain:.2f} [{low:.2f}, {high:.2f}]"
        for gain, low, high in table[["gain", f"{of}_low", f"{of}_high"]].itertuples(index=False)
    ]


def _p(p: float, least: float) -> str:
    """Three digits, or that it is below what normal theory can tell."""
    return f"< {least:g}" if p < least else f"{p:.3g}"


def _same_systems(first: str, systems: Sequence[str], name: str, rows: pd.DataFrame) -> None:
    own = set(rows["system_a"]) | set(rows["system_b"])
    for system in systems:
        if system not in own:
            raise InputError(f"system {named(system)} is on {first}, but not on {name}, expected it on every test set")
    for system in sorted(own - set(systems)):
        raise InputError(f"system {named(system)} is on {name}, but not on {first}, expected it on every test set")
