"""How much gains differ between test sets, and what that says about the next test set.

A p-value refers to other samples from the source of one test set. Here the test sets are themselves a sample: of
domains, languages or years. The true gain on test set t is δ + uₜ, and the heterogeneity τ is the standard deviation of
uₜ. The measured gain adds the error of the segments, dₜ ~ N(δ, sₜ² + τ²): the random-effects model of meta-analysis.
See docs/next-test-set.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.io import rendering, tables
from pairsig.io.choices import check_level, choose, once
from pairsig.io.columns import FAMILY_HETEROGENEITY, TRANSFER
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd

Floats = NDArray[np.float64]

LEAST = 2
"""Fewest test sets from which heterogeneity can be estimated."""

SMALLEST_RELIABLE_GAIN = 1.6448536269514722 * math.sqrt(2)
"""Gain divided by τ that wins the next test set with probability 95 %, on a test set of any size."""

ROUGH = 50
"""With fewer segments, the normal approximation of gains is too rough for the probabilities."""

LEAST_CHANCE = TRANSFER["p_next"].least
"""Smaller probabilities are reported as below this: the better system then loses in 0.1 to 3 of 100 cases."""

_QUANTILES = np.linspace(-6, 6, 97)
"""Standard normal quantiles of the confidence distribution at which τ is computed, weighted by their density."""
_STEPS = 60
"""Number of bisections, which leave about one unit in the last place."""
_AT_ONCE = 2**14
"""Batch size at which numpy's call overhead becomes negligible."""


@dataclass(frozen=True, kw_only=True)
class RandomEffects:
    """Mean gain, heterogeneity and prediction for the next test set, from gains on T test sets.

    All attributes except `n_test_sets` are arrays with one item per pair of systems; `random_effects` returns them.

    Attributes
    ----------
    gain, ci_low, ci_high
        δ, the mean gain over all test sets of this sort, and its confidence interval.
    heterogeneity, heterogeneity_low, heterogeneity_high
        τ in the unit of the gain, and its confidence interval (nan if it was specified).
    prediction_low, prediction_high
        Prediction interval of the true gain on the next test set.
    pvalue_iid
        One-sided p-value against the system with the lower mean, as if all segments came from one source.
    p_next
        Probability that the system with the lower mean is the better one on the next test set.
    n_test_sets
        T, the number of test sets.

    See Also
    --------
    random_effects : Returns this.
    """

    gain: Floats
    ci_low: Floats
    ci_high: Floats
    heterogeneity: Floats
    heterogeneity_low: Floats
    heterogeneity_high: Floats
    prediction_low: Floats
    prediction_high: Floats
    pvalue_iid: Floats
    p_next: Floats
    n_test_sets: int


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of similar test sets, with a measured heterogeneity of gains.

    The heterogeneity of a pair of systems is τ = κσ, with σ the standard deviation of a segment's contribution to their
    gain: its standard error times √n. A test set of n segments then says as much about the true gain on another as n'
    segments of that other one, 1/n' = 1/n + 2κ². `python -m study heterogeneity` measures κ².

    Attributes
    ----------
    family, metric, about
        Name of the family, metric of the measured gains, and a description of the test sets.
    n_test_sets, n_systems
        Numbers of test sets and systems that were measured.
    kappa_squared, kappa_squared_low, kappa_squared_high
        κ², with its 95 % confidence interval over test sets and systems.
    n_validated
        Number of predictions for test sets and systems that were left out of the estimate.
    replicated, predicted_iid, predicted
        Share of these in which the better system was also the better one on another test set; the share expected if
        both test sets came from one source, and the one expected with κ².
    coverage_iid, coverage
        Share of these in which the gain was in its 95 % prediction interval, in the same two ways.

    See Also
    --------
    known_family : Looks a family up by name.
    families : Lists all of them.
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
    replicated: float
    predicted_iid: float
    predicted: float
    coverage_iid: float
    coverage: float

    @property
    def effective_sample_size(self) -> float:
        """Effective sample size of an infinitely large test set for predicting another one, in segments: 1/(2κ²)."""
        return 1 / (2 * self.kappa_squared)

    def heterogeneity(self, standard_errors: ArrayLike, n_segments: ArrayLike) -> Floats:
        """Heterogeneity τ of pairs of systems, in points.

        Parameters
        ----------
        standard_errors
            Standard errors of the gains by segments, (T,) or (pairs × T), for T test sets.
        n_segments
            Numbers of segments of the test sets, (T,).

        Returns
        -------
        ndarray
            τ = κσ, with σ² the mean of n s² over the test sets.
        """
        variance_per_segment = np.square(np.asarray(standard_errors, dtype=np.float64)) * np.asarray(n_segments)
        tau: Floats = np.sqrt(self.kappa_squared * variance_per_segment.mean(axis=-1))
        return tau

    def summary(self, metric: str) -> str:
        """A sentence about the source of the heterogeneity, and how well it predicted; `metric` is the user's."""
        doubt = "" if metric == self.metric else f"; your metric is {metric}, for which it was not validated"
        return (
            f"the heterogeneity between test sets was not estimated from your data but from the family {self.family}: "
            f"{self.about}, {self.n_test_sets} test sets and {self.n_systems} systems by {self.metric}{doubt}; on test "
            f"sets and systems that were left out, it predicted that {100 * self.predicted:.0f} % of the better "
            f"systems win again ({100 * self.predicted_iid:.0f} % if all test sets came from one source), and "
            f"{100 * self.replicated:.0f} % did"
        )


@cache
def families() -> tuple[Family, ...]:
    """List the families of test sets whose heterogeneity was measured.

    Returns
    -------
    tuple of Family
        `pairsig transfer --family` and `pairsig compare --family` accept their names.

    See Also
    --------
    known_family : Looks one up by name.

    Examples
    --------
    >>> from pairsig.planning.heterogeneity import families
    >>> "wmt-domains" in [one.family for one in families()]
    True
    """
    rows = tables.read(Path(__file__).with_name("family_heterogeneity.tsv"), FAMILY_HETEROGENEITY)
    return tuple(
        Family(**{column.name: row[column.name] for column in fields(Family)}) for row in rows.to_dict("records")
    )


def known_family(name: str, metric: str = "") -> Family:
    """Look up a family of test sets by its name.

    Parameters
    ----------
    name
        Name of the family, such as "wmt-domains".
    metric
        Metric to prefer, if the family was measured by several.

    Returns
    -------
    Family
        With its measured heterogeneity.

    Raises
    ------
    InputError
        If there is no family of that name; the message lists the names.

    See Also
    --------
    families : Lists all of them.

    Examples
    --------
    >>> from pairsig.planning.heterogeneity import known_family
    >>> known_family("wmt-domains").metric
    'bleu'
    """
    choose(name, list(dict.fromkeys(member.family for member in families())), "family of test sets:")
    of = [member for member in families() if member.family == name]
    return next((member for member in of if member.metric == metric), of[0])


def random_effects(
    gains: ArrayLike,
    standard_errors: ArrayLike,
    *,
    confidence_level: float = 0.95,
    heterogeneity: ArrayLike | None = None,
) -> RandomEffects:
    """Fit the random-effects model to gains on several test sets, and predict the next one.

    Parameters
    ----------
    gains
        Gains of one system over another on T test sets, in points: (T,), or (pairs × T).
    standard_errors
        Their standard errors, of the same shape; 0 where the two outputs are the same.
    confidence_level
        Of the intervals.
    heterogeneity
        τ in points, if it is known from other test sets: one for all pairs, or one per pair (see
        `Family.heterogeneity`). Default: estimated, which takes at least two test sets.

    Returns
    -------
    RandomEffects
        Arrays with one item per pair.

    Raises
    ------
    InputError
        If the shapes differ, if a number is not finite or a standard error negative, or if there are too few test sets.

    See Also
    --------
    pairsig.transfer : The same from the scores of the systems.
    known_family : Heterogeneity of families of test sets.

    Notes
    -----
    The model is dₜ ~ N(δ, sₜ² + τ²). With wₜ = 1/(sₜ² + τ²) and δ̂ = Σ wₜdₜ / Σ wₜ, τ² is the root of Σ wₜ (dₜ − δ̂)² =
    T − 1 (Paule and Mandel 1982), with the interval of Viechtbauer (2007). Intervals of the mean gain and of the next
    true gain are mixtures over the confidence distribution of τ² (Nagashima, Noma and Furukawa 2019). `p_next` comes
    from the mixture with one more test set, on which the two systems are equal. With a specified τ, the next gain is
    N(d, s² + 2τ²) for a single test set. docs/next-test-set.md has the reasons and simulations.

    Examples
    --------
    >>> from pairsig.planning.heterogeneity import random_effects
    >>> found = random_effects([2.0, 1.0, 3.0, 1.5], [0.5, 0.4, 0.6, 0.5])
    >>> found.gain.round(2), found.heterogeneity.round(2), found.p_next.round(2)
    (array([1.81]), array([0.67]), array([0.15]))
    """
    from scipy.special import chdtri, ndtr

    d, s = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (gains, standard_errors))
    if d.shape != s.shape or d.ndim != 2:
        raise InputError(f"found gains of shape {d.shape} and standard errors of shape {s.shape}, expected one shape")
    if not (np.isfinite(d).all() and np.isfinite(s).all() and (s >= 0).all()):
        raise InputError(
            "found a gain or standard error that is not finite, or a negative standard error, expected finite numbers"
        )
    check_level(confidence_level, "confidence level")
    n = d.shape[1]
    if heterogeneity is None and n < LEAST:
        raise InputError(
            f"found {n} test set{'s' * (n != 1)}, expected at least {LEAST} to estimate how much gains differ between "
            "them; for one test set, specify the heterogeneity (--heterogeneity) or a family of test sets (--family)"
        )
    if heterogeneity is not None:
        tau = np.asarray(heterogeneity, dtype=np.float64)
        if not (np.isfinite(tau).all() and (tau >= 0).all()):
            raise InputError(f"found heterogeneity={heterogeneity}, expected a number of points, 0 or more")
        if tau.shape not in ((), (len(d),)):
            raise InputError(f"found {tau.size} heterogeneities for {len(d)} pairs, expected one, or one per pair")
    # Equal outputs have standard error 0; a millionth of the scale keeps the weights finite.
    scale = np.maximum(np.abs(d).max(axis=1, keepdims=True), s.max(axis=1, keepdims=True))
    tiny = (1e-6 * np.where(scale > 0, scale, 1.0)) ** 2
    v = np.maximum(s**2, tiny)
    below = (1 - confidence_level) / 2
    low2 = high2 = np.full(len(d), np.nan)
    if heterogeneity is None:
        tau2, low2, high2 = (_root(d, v, target) for target in (n - 1, chdtri(n - 1, below), chdtri(n - 1, 1 - below)))
        possible, shares = _possible(d, v)
    else:
        tau2 = np.broadcast_to(tau**2, len(d))
        possible, shares = tau2[None], np.ones(1)
    of_mean, of_next = _mixtures(d, v, possible, shares)
    chances = of_next
    if heterogeneity is None:  # one more test set, on which the two systems are equal
        d1, v1 = (np.column_stack([known, of]) for known, of in ((d, np.zeros(len(d))), (v, tiny)))
        _, chances = _mixtures(d1, v1, *_possible(d1, v1))
    mean, _ = _mean(d, v, tau2)
    one_source, precision = _mean(d, v, np.zeros(len(d)))
    lower = chances.below(np.zeros(len(d)))
    return RandomEffects(
        gain=mean,
        ci_low=of_mean.quantile(below),
        ci_high=of_mean.quantile(1 - below),
        heterogeneity=np.sqrt(tau2),
        heterogeneity_low=np.sqrt(low2),
        heterogeneity_high=np.sqrt(high2),
        prediction_low=of_next.quantile(below),
        prediction_high=of_next.quantile(1 - below),
        pvalue_iid=ndtr(-np.where(mean >= 0, one_source, -one_source) * np.sqrt(precision)),
        p_next=np.where(mean >= 0, lower, 1 - lower),
        n_test_sets=n,
    )


@dataclass(frozen=True)
class _Mixture:
    """Mixtures of normal distributions, (components × pairs), with the weight of each component."""

    means: Floats
    spreads: Floats
    shares: Floats

    def below(self, values: Floats) -> Floats:
        from scipy.special import ndtr

        mass: Floats = np.asarray(self.shares @ ndtr((values - self.means) / self.spreads))
        return mass

    def quantile(self, share: float) -> Floats:
        from scipy.special import ndtri

        quantiles = self.means + float(ndtri(share)) * self.spreads
        low, high = quantiles.min(axis=0), quantiles.max(axis=0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            less = self.below(middle) < share
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        quantile_of_mixture: Floats = (low + high) / 2
        return quantile_of_mixture


def _possible(d: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Quantiles of the confidence distribution of τ², and their weights."""
    from scipy.special import chdtri, ndtr

    shares = np.exp(-(_QUANTILES**2) / 2)
    targets = chdtri(d.shape[1] - 1, 1 - ndtr(_QUANTILES))
    tau_squared = []
    for start in range(0, len(targets), together := max(1, _AT_ONCE // d.size)):
        some = targets[start : start + together]
        ds, vs = (np.tile(values, (len(some), 1)) for values in (d, v))
        tau_squared.append(_root(ds, vs, np.repeat(some, len(d))).reshape(len(some), -1))
    return np.concatenate(tau_squared), shares / shares.sum()


def _mixtures(d: Floats, v: Floats, possible: Floats, shares: Floats) -> tuple[_Mixture, _Mixture]:
    """The distributions of the mean gain, and of the true gain on the next test set."""
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
    q: Floats = ((d - mean[:, None]) ** 2 / (v + tau2[:, None])).sum(axis=1)
    return q


def _root(d: Floats, v: Floats, target: float | Floats) -> Floats:
    """τ² with Q(τ²) = target, or 0 if Q(0) is below the target. Q falls as τ² grows."""
    low = np.zeros(len(d))
    # Each term of Q is below (dₜ − δ̂)²/τ², and |dₜ − δ̂| is at most the range of the gains.
    high = d.shape[1] * np.ptp(d, axis=1) ** 2 / target + 1e-300
    above = _q(d, v, low) > target
    for _ in range(_STEPS):
        middle = (low + high) / 2
        larger = _q(d, v, middle) > target
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return np.where(above, (low + high) / 2, 0.0)


def elsewhere(gain: float, errors: tuple[float, float], n_segments: int, metric: str, family: str) -> list[str]:
    """Sentences about who wins on another test set of a family, for a pair of systems on one test set.

    `errors` are the gain's standard errors by the units that were drawn, and by segments, as families are measured.
    """
    of = known_family(family, metric)
    tau = float(of.heterogeneity([errors[1]], [n_segments]))
    effects = random_effects([gain], errors[:1], heterogeneity=tau)
    chance = rendering.pvalue(float(effects.p_next[0]), LEAST_CHANCE)
    sentences = [
        "p refers to other samples from the source of this test set; the probability that the other system wins on "
        f"the next test set of the family {family} is {chance}, and above 5 % for "
        f"gains below {SMALLEST_RELIABLE_GAIN * tau:.2f} (the smallest reliable gain), however many segments this test "
        "set has",
        of.summary(metric),
    ]
    return sentences + _rough(n_segments)


def transfers(
    comparisons: pd.DataFrame,
    *,
    systems: Sequence[str] = (),
    confidence_level: float = 0.95,
    heterogeneity: float | None = None,
    family: str = "",
) -> pd.DataFrame:
    """Random effects for all pairs of systems, from tables of comparisons on several test sets: table `TRANSFER`.

    `comparisons` are concatenated tables of `all_pairs.compare` by one metric: whole test sets, or domains of one. Only
    gains and standard errors are used, from the first test on each test set. `heterogeneity` is τ in points if it is
    known, and `family` the name of a family (`families`) whose heterogeneity is used.
    """
    if heterogeneity is not None and family:
        raise InputError(f"found heterogeneity={heterogeneity} and family={family}, expected one of them")
    if family:
        known_family(family)
        if "signature" in comparisons and comparisons["signature"].str.contains("|unit:document|", regex=False).any():
            raise InputError(
                "found comparisons by document, but the heterogeneity of a family is defined by segments: use those of "
                "compare --unit segment, or --heterogeneity TAU"
            )
    if comparisons.empty:
        raise InputError("found no comparisons, expected those on at least one test set")
    if systems:
        comparisons = _among(comparisons, systems)
    metrics = list(comparisons["metric"].unique())
    if len(metrics) > 1:
        raise InputError(
            f"found comparisons by {named(str(metrics[0]))} and by {named(str(metrics[1]))}, expected one metric"
        )
    by_test_set = [
        (f"{dataset}:{test_set}", rows[rows["test"] == rows["test"].iloc[0]])
        for (dataset, test_set), rows in comparisons.groupby(["dataset", "test_set"], sort=False)
    ]
    for dataset, rows in comparisons.groupby("dataset", sort=False):
        kinds = list(rows["derived"].unique())
        if kinds not in (["whole"], ["domain"]):
            raise InputError(
                f"found dataset {named(str(dataset))} as {', '.join(map(str, kinds))}, expected the whole, or its "
                "domains: test sets must not share segments"
            )
    compared = list(dict.fromkeys(by_test_set[0][1][["system_a", "system_b"]].to_numpy().ravel().tolist()))
    gains, errors = _by_pair(compared, by_test_set)
    _different([name for name, _ in by_test_set], gains, errors)
    sizes = [int(rows["n_segments"].iloc[0]) for _, rows in by_test_set]
    tau = known_family(family, str(metrics[0])).heterogeneity(errors, sizes) if family else heterogeneity
    result = random_effects(gains, errors, confidence_level=confidence_level, heterogeneity=tau)
    a, b = np.triu_indices(len(compared), k=1)
    better = np.where(result.gain >= 0, a, b)
    sign = np.where(result.gain >= 0, 1.0, -1.0)
    ends: dict[str, Floats] = {}
    for low, high in (("ci_low", "ci_high"), ("prediction_low", "prediction_high")):
        ends[low], ends[high] = np.sort([sign * getattr(result, low), sign * getattr(result, high)], axis=0)
    names = np.array(compared, dtype=object)
    return tables.frame(
        TRANSFER,
        vars(result)
        | ends
        | {
            "metric": metrics[0],
            "system_a": names[better],
            "system_b": names[np.where(better == a, b, a)],
            "n_won": (sign[:, None] * gains > 0).sum(axis=1),
            "gain": np.abs(result.gain),
            "smallest_reliable_gain": SMALLEST_RELIABLE_GAIN * result.heterogeneity,
            "heterogeneity_specified": tau is not None,
            "family": family,
        },
    )


def _among(comparisons: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The comparisons of some systems with each other."""
    once(systems, "system")
    known = list(dict.fromkeys(comparisons[["system_a", "system_b"]].to_numpy().ravel().tolist()))
    for name in systems:
        choose(name, known, "system")
    if len(systems) < 2:
        raise InputError(f"found one system, {named(systems[0])}, expected at least two to compare")
    for (dataset, test_set), rows in comparisons.groupby(["dataset", "test_set"], sort=False):
        for name in set(systems) - set(rows["system_a"]) - set(rows["system_b"]):
            raise InputError(f"system {named(name)} is missing on {dataset}:{test_set}, expected it on every test set")
    return comparisons[comparisons["system_a"].isin(systems) & comparisons["system_b"].isin(systems)]


def _different(names: Sequence[str], gains: Floats, errors: Floats) -> None:
    """Refuse a test set that appears again under another name."""
    first: dict[bytes, str] = {}
    for name, gain, error in zip(names, gains.T, errors.T, strict=True):
        earlier = first.setdefault(gain.tobytes() + error.tobytes(), name)
        if earlier != name and gain.any():
            raise InputError(f"{earlier} and {name} have the same gains for all pairs, expected different test sets")


def render(table: pd.DataFrame, limits: Sequence[str], format: str = "table") -> str:  # noqa: A002
    """A table of `transfers` with explanations and its `limits`, see `notes`; the formats are those of `rendering`."""
    rows = table.assign(
        won=[f"{won} of {n}" for won, n in table[["n_won", "n_test_sets"]].itertuples(index=False)],
        prediction=table["gain"],
        **{
            f"smallest_reliable_gain_{end}": SMALLEST_RELIABLE_GAIN * table[f"heterogeneity_{end}"]
            for end in ("low", "high")
        },
    )
    columns = [
        *TRANSFER.view(metric="", system_a="A", system_b="B", won="", gain="gain [95 %]"),
        replace(TRANSFER["gain"], name="prediction", heading="on the next [95 %]", ends=()),
        *TRANSFER.view(pvalue_iid="", p_next="", smallest_reliable_gain="reliable gain"),
    ]
    meanings = [
        "p (i.i.d.): one-sided p-value for A over B, as if all segments came from one source",
        "p (next): probability that B is the better one on the next test set of this sort",
        "reliable gain: wins the next test set with probability 95 %, however many segments a test set has",
    ]
    return rendering.render(rows, columns, format, notes=[*meanings, *limits])


def notes(table: pd.DataFrame, smallest: int) -> list[str]:
    """Sentences about the limits of a table of `transfers`."""
    families_used = dict.fromkeys(
        table.loc[table["family"] != "", ["family", "metric"]].itertuples(index=False, name=None)
    )
    summaries = [known_family(name, metric).summary(metric) for name, metric in families_used]
    return summaries + _rough(smallest)


def _rough(n_segments: int) -> list[str]:
    if n_segments >= ROUGH:
        return []
    return [f"p (next) is rough: {n_segments} segments are too few for the normal approximation of gains"]


def _by_pair(compared: Sequence[str], by_test_set: Sequence[tuple[str, pd.DataFrame]]) -> tuple[Floats, Floats]:
    """Gains of each pair's first system over its second, and their standard errors, (pairs × test sets) each."""
    positions = {name: index for index, name in enumerate(compared)}
    n_pairs = len(compared) * (len(compared) - 1) // 2
    gains, errors = np.empty((2, n_pairs, len(by_test_set)))
    for column, (name, rows) in enumerate(by_test_set):
        _same_systems(by_test_set[0][0], compared, name, rows)
        a, b = (rows[side].map(positions).to_numpy(dtype=np.intp) for side in ("system_a", "system_b"))
        sign = np.where(a < b, 1.0, -1.0)
        low, high = np.minimum(a, b), np.maximum(a, b)
        # The row of a pair in the upper triangle, row by row
        row = low * len(compared) - low * (low + 1) // 2 + high - low - 1
        if len(np.unique(row)) < len(row):
            twice = rows[pd.Series(row, index=rows.index).duplicated()].iloc[0]
            raise InputError(
                f"{named(str(twice['system_a']))} and {named(str(twice['system_b']))} are compared more than once on "
                f"{name}, expected once"
            )
        if len(row) < n_pairs:
            raise InputError(f"{name} has {len(row)} pairs of {len(compared)} systems, expected all {n_pairs}")
        gains[row, column] = sign * rows["gain"].to_numpy()
        errors[row, column] = rows["standard_error"].to_numpy()
    return gains, errors


def _same_systems(first: str, systems: Sequence[str], name: str, rows: pd.DataFrame) -> None:
    present = set(rows["system_a"]) | set(rows["system_b"])
    for system in systems:
        if system not in present:
            raise InputError(f"system {named(system)} is on {first} but not on {name}, expected it on every test set")
    for system in sorted(present - set(systems)):
        raise InputError(f"system {named(system)} is on {name} but not on {first}, expected it on every test set")
