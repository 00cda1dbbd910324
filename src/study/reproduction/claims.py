"""Smaller claims of the papers, and reasons why some of our numbers differ from theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis.first_order import Scored
from study.analysis.over_systems import (
    Estimate,
    Floats,
    exp,
    jackknifed,
    mean,
    mean_of_independent,
    members,
    replicates,
    share,
    slope,
)
from study.analysis.pairs import (
    MIN_PAIRS,
    PAPER_WINDOW,
    Z_05,
    Window,
    combinations_in,
    enough,
    pvalues,
    weighted_quantile,
)
from study.reproduction.thresholds import near
from study.tables.columns import ENDS, IN_ORDER, numeric
from study.test_sets import doubling
from study.training.training_sets import SYNTHETIC, size_of

CLAIMS = Table(
    "claims",
    (
        Column("claim", str, "name of the claim; `factor-of-two` collects reasons why our numbers differ from the "
            "paper's"),
        Column("section", str, "section of the paper"),
        Column("dataset", str, "name of the dataset, `task=…` or `all`"),
        Column("measured", str, "what was measured: the meaning of `value`"),
        count("n", "number of pairs (or systems, or test sets) measured", "", "n"),
        numeric("value", "the measured value", ends=ENDS),
        numeric("low", "lower end of its 95 % interval, over systems unless `measured` says otherwise", missing=True),
        numeric("high", "upper end of its 95 % interval", missing=True),
        numeric("reference", "value that the claim or the theory predicts", missing=True),
    ),
    key=("claim", "dataset", "measured"),
    caption=(
        "Smaller claims of the papers, and what their numbers need, each with the value that the claim or theory "
        "predicts"
    ),
)  # fmt: skip


Given = tuple[Statistics, Metric]

SAMPLES = (1_000, 10_000, 20_000, 100_000, 1_000_000)
"""Numbers of Monte Carlo samples whose decisions at 0.05 are compared with the exact test."""

ALPHA = 0.05
N_ORDERS = 40
N_SYSTEMS = 24
"""Number of random orders of the segments of a test set, and the maximal number of systems used in each."""

N_DRAWS = 2_000
DRAWN_AT_ONCE = 100
"""Number of resamples whose mean gain is compared with the observed gain, and how many are drawn at a time."""

LARGEST = 5_000
"""Maximal number of segments for claims that need resamples of their own."""

POSTERIORS = ("itg", "joint-hmm")
"""Two base models of which the first prunes with the posteriors of the second, as in the paper's Figure 7."""

COMBINED = "critical difference of pairs of system combinations, divided by that of single systems of different groups"
COMBINED_HERE = "wmt10-de-en"
"""What the paper's Figure 4 claims to be below 1, and its test set."""
MIN_TEST_SETS = 3
"""Minimal number of other test sets for a mean over them."""

SHARED = "critical difference of base models that share posteriors, divided by that of other base models"


def claims(
    comparisons: pd.DataFrame,
    data: Iterable[Given] = (),
    *,
    window: Window = PAPER_WINDOW,
    n_resamples: int = 100_000,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """Test smaller claims of the papers, and find reasons for differences between their numbers and ours.

    Parameters
    ----------
    comparisons
        Comparisons of all pairs, on whole test sets and on those made from them.
    data
        Statistics of some datasets, for the claims that require more than comparisons: p-values of both bootstrap
        methods (`n_resamples` each, on the same draws), segments in random order.
    window
        The range of p-values of the claim on pairs near 0.05.

    Returns
    -------
    Table `CLAIMS`, with n and interval in each row. Intervals (95 %) are over systems unless `measured` says
    otherwise. Rows whose data are missing are left out.
    """
    whole = comparisons[(comparisons["derived"] == "whole") & (comparisons["standard_error"] > 0)]
    rows: list[dict[str, Any]] = [*_student(whole, window), *_decisions(whole)]
    for statistics, metric in data:
        # One dataset at a time: no claim combines the draws of two datasets, so memory stays bounded.
        rows += _bias(statistics, metric, seed)
        rows += _methods(statistics, metric, n_resamples, seed, threads)
        rows += _orders(statistics, metric, seed)
        rows += _full_sets(statistics, metric)
    rows += _within_test_sets(whole)
    rows += _combinations(whole)
    return frame(CLAIMS, rows)


def _row(
    claim: str, section: str, dataset: str, measured: str, n: int, value: float,
    low: float = np.nan, high: float = np.nan, reference: float = np.nan,
) -> dict[str, Any]:  # fmt: skip
    cells = (claim, section, dataset, measured, n, float(value), float(low), float(high), reference)
    return dict(zip(CLAIMS.names, cells, strict=True))


def _agreement(
    claim: str, section: str, dataset: str, description: str, pairs: pd.DataFrame, first_p: Floats, second_p: Floats
) -> Iterator[dict[str, Any]]:
    systems, row = members(pairs["system_a"], pairs["system_b"]), partial(_row, claim, section, dataset)
    difference, disagree = np.abs(first_p - second_p), (first_p < ALPHA) != (second_p < ALPHA)
    measured = f"mean absolute difference between the p-values: {description}"
    yield row(measured, len(pairs), *mean(difference, systems), 0.0)
    measured = f"share of pairs on which they disagree at 0.05: {description}"
    yield row(measured, len(pairs), *share(disagree, systems), 0.0)


def _student(whole: pd.DataFrame, window: Window) -> Iterator[dict[str, Any]]:
    """Section 2.1: "the paired Student's t-test … very similar"."""
    from scipy.special import stdtr

    decided = whole[whole["gain"] > 0]
    if decided.empty:
        return
    z = (decided["gain"] / decided["standard_error"]).to_numpy(float)
    n = decided["n_segments"].to_numpy(float)
    # `standard_error` divides by n, but Student's statistic by n − 1.
    by_t = stdtr(n - 1, -z * np.sqrt((n - 1) / n))
    p, description = pvalues(decided), "bootstrap and Student's t from influence values"
    yield from _agreement("t-test", "2.1", "all", description, decided, p, by_t)
    close = np.flatnonzero(window.contains(p))
    if len(close):
        description += f", {window}"
        yield from _agreement("t-test", "2.1", "all", description, decided.iloc[close], p[close], by_t[close])


def _bias(statistics: Statistics, metric: Metric, seed: int) -> Iterator[dict[str, Any]]:
    """Footnote 3 lists, among what could go wrong, that the mean gain of the resamples is not the observed gain.

    A resample's gain is the observed one plus Σ (cᵢ* − 1)(uᵢᴬ − uᵢᴮ), whose mean is 0, plus a rest. The bias is the
    mean of the rest, which varies far less than the gain.
    """
    from pairsig.core.influence import influence_values

    n = len(statistics.segments)
    if n > LARGEST or metric.averaged:  # a mean over segments has no bias
        return
    counts = statistics.of(metric)
    sign = 1.0 if metric.higher_is_better else -1.0
    scores, u = sign * metric.score(counts.sum(axis=1, dtype=np.float64)), influence_values(counts, metric)
    by_segment = counts.astype(np.float64).transpose(1, 0, 2).reshape(n, -1)
    generator = np.random.Generator(np.random.SFC64(seed))
    remainder = np.zeros(len(counts))
    for _ in range(N_DRAWS // DRAWN_AT_ONCE):
        drawn = generator.multinomial(n, np.full(n, 1 / n), size=DRAWN_AT_ONCE).astype(np.float64)
        totals = (drawn @ by_segment).reshape(DRAWN_AT_ONCE, len(counts), -1)
        remainder += (sign * metric.score(totals) - scores - (drawn - 1) @ u.T).sum(axis=0)
    first, second = np.triu_indices(len(counts), 1)
    better, worse = np.where(scores[first] >= scores[second], (first, second), (second, first))
    gain, variance = Scored.of(counts, metric).gains(np.stack([better, worse], axis=1))
    pairs = pd.DataFrame({"gain": gain, "standard_error": np.sqrt(variance)})
    close = np.flatnonzero((variance > 0) & (near(pairs) > 0))
    systems = members(better[close], worse[close])
    if not enough(systems):
        return
    bias = ((remainder[better] - remainder[worse]) / N_DRAWS)[close].round(9)  # so that all machines agree
    in_errors = (bias / pairs["standard_error"].to_numpy()[close]).round(6)
    row = partial(_row, "footnote-3", "2.2", statistics.dataset)
    measured = "mean bootstrap gain minus observed gain, pairs near p = 0.05"
    yield row(f"{measured}, standard errors", len(close), *mean(in_errors, systems), 0.0)
    for which, value in (("smallest", in_errors.min()), ("largest", in_errors.max())):
        yield row(f"{which} of these pairs, standard errors", len(close), value, reference=0.0)


def _methods(
    statistics: Statistics, metric: Metric, n_resamples: int, seed: int, threads: int | None
) -> Iterator[dict[str, Any]]:
    """Footnote 2: δ* > 2δ and δ* < 0 are equivalent if the gains of resamples are symmetric about δ."""
    from study.test_sets.all_pairs import compare

    if not n_resamples or len(statistics.segments) > LARGEST:
        return
    tables = [
        compare(statistics, metric=metric, method=method,
                n_resamples=n_resamples, rng=seed, threads=threads)
        for method in ("shifted", "percentile")
    ]  # fmt: skip
    p = [pvalues(table) for table in tables]
    decided = (tables[0]["gain"] > 0).to_numpy()
    yield from _agreement("footnote-2", "2.2", statistics.dataset, "one-sided shifted and percentile bootstrap",
                          tables[0][decided], p[0][decided], p[1][decided])  # fmt: skip


def other_decision(p: Floats, n_samples: int, alpha: float = ALPHA) -> Floats:
    """Probability that a test with `n_samples` samples and the exact test disagree at `alpha`.

    The number of samples beyond the observed gain is binomial with probability p. The decision is "significant" if
    its share is below alpha.
    """
    from scipy.special import bdtr

    # count < alpha · n_samples is the same as count <= last
    last = np.ceil(alpha * n_samples - 1e-9) - 1
    significant = bdtr(last, n_samples, p)
    disagreement: Floats = np.where(p < alpha, 1 - significant, significant)
    return disagreement


def band(n_samples: int, risk: float = 0.01, alpha: float = ALPHA) -> tuple[float, float]:
    """Range of p-values for which `n_samples` samples disagree with the exact test in more than `risk` of runs."""
    from scipy.optimize import brentq

    def excess(p: float) -> float:
        return float(other_decision(np.array([p]), n_samples, alpha)[0]) - risk

    return (float(brentq(excess, 1e-9, alpha - 1e-12, xtol=1e-9)), float(brentq(excess, alpha, 1 - 1e-9, xtol=1e-9)))


def _decisions(whole: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The exact-test paper: Monte Carlo is "too noisy to reliably determine" whether p is below 0.05."""
    if whole.empty:
        return
    p, systems = pvalues(whole), members(whole["system_a"], whole["system_b"])
    row = partial(_row, "monte-carlo-decisions", "exact-test paper, abstract", "all")
    for n_samples in SAMPLES:
        low, high = band(n_samples)
        disagree = f"{n_samples:,} samples disagree with the exact test"
        measured = f"share of pairs with p between {low:.4f} and {high:.4f}, where {disagree} in over 1 % of runs"
        yield row(measured, len(p), *share((p > low) & (p < high), systems))
        yield row(f"mean probability that {disagree}", len(p), *mean(other_decision(p, n_samples), systems))


def _median_critical_difference(counts: NDArray[Any], metric: Metric, pairs: NDArray[np.intp]) -> float:
    from pairsig.core.influence import errors_and_correlations

    errors, _ = errors_and_correlations(counts, metric, pairs, threads=1)
    return float(Z_05 * np.median(errors[errors > 0]))


def _orders(statistics: Statistics, metric: Metric, seed: int) -> Iterator[dict[str, Any]]:
    """Section 4.1: whether a size exponent other than −1/2 is explained by the order of the segments."""
    counts = statistics.of(metric)
    n = counts.shape[1]
    sizes = [*doubling(100, n), n]
    if len(sizes) < 4:
        return
    chosen = np.unique(np.linspace(0, len(counts) - 1, N_SYSTEMS).astype(int))
    counts = counts[chosen]
    pairs = np.array(np.triu_indices(len(counts), 1)).T
    generator = np.random.Generator(np.random.SFC64(seed))

    def critical_differences(order: NDArray[np.intp]) -> Floats:
        return np.array(
            [_median_critical_difference(counts[:, np.sort(order[:size])], metric, pairs) for size in sizes]
        )

    def exponent(order: NDArray[np.intp]) -> float:
        return float(np.polyfit(np.log(sizes), np.log(critical_differences(order)), 1)[0])

    in_given_order = exponent(np.arange(n))
    drawn = [exponent(generator.permutation(n)) for _ in range(N_ORDERS)]
    mean, spread = float(np.mean(drawn)), float(np.std(drawn, ddof=1))
    row = partial(_row, "order", "4.1", statistics.dataset, n=len(pairs), reference=-0.5)
    yield row(IN_ORDER, value=in_given_order, low=mean - 1.96 * spread, high=mean + 1.96 * spread)
    measured = f"mean size exponent over random orders (interval: of the mean over {N_ORDERS})"
    margin = 2.02 * spread / np.sqrt(N_ORDERS)
    yield row(measured, value=mean, low=mean - margin, high=mean + margin)


def _full_sets(statistics: Statistics, metric: Metric) -> Iterator[dict[str, Any]]:
    """Figure 7: aligners that share posteriors have their own curve; full training sets, first 100 sentences."""
    from pairsig.core.influence import errors_and_correlations

    sizes = size_of(pd.Series(statistics.systems)).fillna("").to_numpy(str)
    if metric.name != "aer" or len(set(sizes)) < 2:
        return
    groups, pairs = np.array(statistics.groups), np.array(np.triu_indices(len(sizes), 1)).T
    errors, _ = errors_and_correlations(statistics.of(metric)[:, :100], metric, pairs, threads=1)
    first, second = pairs.T
    different = (groups[first] != groups[second]) & (errors > 0) & (sizes[first] == "full") & (sizes[second] == "full")
    first, second, errors = (values[different] for values in (first, second, errors))
    shared = np.isin(groups[first], POSTERIORS) & np.isin(groups[second], POSTERIORS)
    if min(shared.sum(), (~shared).sum()) < MIN_PAIRS:
        return
    ratio = _ratio_of_medians(np.log(errors), shared, replicates(members(first, second)))
    yield _row("figure-7", "3.2.4", statistics.dataset, SHARED, len(errors), *exp(ratio), 1.0)


def _ratio_of_medians(log: Floats, of_kind: NDArray[np.bool_], weights: Floats) -> Estimate:
    """Difference between the median logarithms of pairs of a kind and of all others, with weights of `replicates`."""
    return jackknifed(
        np.subtract(*(weighted_quantile(log[kind], weights[:, kind], 0.5) for kind in (of_kind, ~of_kind)))
    )


def _within_test_sets(whole: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The exponent of 1 − correlation in the critical difference, and the correlation that the paper's values need."""
    natural = (whole["kind_a"] != SYNTHETIC) & (whole["kind_b"] != SYNTHETIC)
    pairs = whole[natural & (whole["metric"] == "bleu") & (whole["correlation"] < 1)]
    pairs = pairs[(pairs["score_a"] > 5) & (pairs["score_b"] > 5)]
    if pairs.empty:
        return
    # The critical difference falls as 1/√n; 2,034 segments are those of the paper's test set.
    scale = np.sqrt(pairs["n_segments"].to_numpy(float) / 2034)
    pairs = pairs.assign(
        critical_difference=np.log(Z_05 * pairs["standard_error"].to_numpy(float) * scale),
        log_distance=np.log1p(-pairs["correlation"].to_numpy(float)),
    )
    systems, row = members(pairs["system_a"], pairs["system_b"]), partial(_row, "factor-of-two", "3.2.3", "task=mt")
    measured = "exponent of 1 − correlation in the critical difference, within test sets"
    here = pairs[pairs["dataset"] == COMBINED_HERE]
    if len(here):
        yield _row("factor-of-two", "3.2.3", COMBINED_HERE, measured, len(here), *_exponent(here), 0.5)
    n, (exponent, low, high) = len(pairs), _exponent(pairs)
    yield row(measured, n, exponent, low, high, 0.5)
    log_distance = pairs["log_distance"].to_numpy(float)
    median = float(np.exp(np.median(pairs["critical_difference"])))
    median_correlation = float(1 - np.exp(np.median(log_distance)))
    # critical difference ∝ (1 − ρ)^exponent, solved for ρ at the paper's 0.28
    wanted = 1 - (1 - median_correlation) * (0.28 / median) ** (1 / exponent)
    measured = "correlation at which the critical difference is 0.28 (reference: median pair)"
    yield row(measured, n, wanted, reference=median_correlation)
    measured = f"share of pairs with at least this correlation ({wanted:.2f})"
    yield row(measured, n, *share(log_distance <= np.log1p(-wanted), systems))


def _exponent(pairs: pd.DataFrame) -> Estimate:
    """The slope of the log critical difference against log(1 − ρ) within test sets, and its ends."""
    y, x = (pairs[column].to_numpy(float) for column in ("critical_difference", "log_distance"))
    test_sets, _ = pd.factorize(pairs["dataset"])
    return slope(y, x, test_sets, members(pairs["system_a"], pairs["system_b"]))


def _combinations(whole: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Figure 4: system combinations are significantly different at smaller gains than single systems.

    The ratio is that of two medians over pairs.
    """
    ratios = []
    for name, every in whole.groupby("dataset", sort=False):
        combined = combinations_in(every)
        pairs = every[(combined == 2) | ((combined == 0) & ~every["same_group"].astype(bool))]
        combined_twice = combinations_in(pairs) == 2
        if min(combined_twice.sum(), (~combined_twice).sum()) < MIN_PAIRS:
            continue
        errors = np.log(Z_05 * pairs["standard_error"].to_numpy(float))
        weights = replicates(members(pairs["system_a"], pairs["system_b"]))
        ratio = _ratio_of_medians(errors, combined_twice, weights)
        yield _row("combinations", "3.1.3", str(name), COMBINED, len(errors), *exp(ratio), 1.0)
        if name != COMBINED_HERE:
            ratios.append(ratio[0])
    if len(ratios) >= MIN_TEST_SETS:
        pooled = exp(mean_of_independent(ratios))
        measured = f"{COMBINED}, geometric mean of the other test sets (interval: over test sets)"
        yield _row("combinations", "3.1.3", "task=mt", measured, len(ratios), *pooled, 1.0)
