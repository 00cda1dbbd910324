"""Small claims of the papers, and why some numbers of ours are not theirs, each row with its n and interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.metrics import Metric, registry
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.analysis.describe import CARRIERS
from study.analysis.over_systems import interval, jackknife, members, replicates, share_interval, variance
from study.analysis.pairs import MIN_PAIRS, MIN_SYSTEMS, of_one_test, quantile_interval, weighted_quantile
from study.analysis.thresholds import Z_05, nested, same_pairs
from study.columns import CLAIMS, IN_ORDER
from study.training_sets import SYNTHETIC, size_of

Floats = NDArray[np.float64]
Given = tuple[Statistics, Metric]

SAMPLES = (1_000, 10_000, 20_000, 100_000, 1_000_000)
"""Numbers of Monte Carlo samples whose decisions at 0.05 are looked at."""

ALPHA = 0.05
N_ORDERS = 40
N_SYSTEMS = 24
"""Random orders of the segments of a test set, and the most systems whose needs are looked at in each."""


def claims(
    comparisons: pd.DataFrame,
    given: Sequence[Given] = (),
    *,
    systems: pd.DataFrame | None = None,
    n_resamples: int = 100_000,
    seed: int = 2012,
    threads: int | None = None,
) -> pd.DataFrame:
    """What became of claims that cost little to test.

    Parameters
    ----------
    comparisons
        Tables of `compare` and `resize`, one below the other; of several tests the bootstrap counts.
    given
        Statistics of some datasets, for what needs more than comparisons: p by both variants of the bootstrap
        (`n_resamples` each, on the same draws), segments in random order, other variants of ROUGE.
    systems
        Table of `describe`: words a segment.

    Returns
    -------
    Table `CLAIMS`. Intervals (95 %) are over systems unless `measured` says otherwise; rows whose data are not among
    those given are left out.
    """
    pairs = of_one_test(comparisons)
    whole = pairs[(pairs["derived"] == "whole") & (pairs["standard_error"] > 0)]
    found: list[dict[str, Any]] = [*_student(whole), *_decisions(whole), *_spread(pairs)]
    for statistics, metric in given:
        # One dataset after another: what needs the draws of one needs no other's.
        found += _variants(statistics, metric, n_resamples, seed, threads)
        found += _orders(statistics, metric, seed)
        found += _rouges(statistics, metric)
        found += _full_sets(statistics, metric)
    found += _bleu(whole, systems)
    return frame(CLAIMS, found)


def _row(
    claim: str, section: str, dataset: str, measured: str, n: int, value: float,
    ends: tuple[float, float] = (np.nan, np.nan), reference: float = np.nan,
) -> dict[str, Any]:  # fmt: skip
    return {
        "claim": claim, "section": section, "dataset": dataset, "measured": measured, "n": n, "value": value,
        "low": ends[0], "high": ends[1], "reference": reference,
    }  # fmt: skip


def _mean(values: Floats, systems: NDArray[np.intp]) -> tuple[float, tuple[float, float]]:
    mean = float(values.mean())
    return mean, interval(mean, *variance((values - mean) / len(values), systems))


def _agreement(
    claim: str, section: str, dataset: str, told: str, pairs: pd.DataFrame, one: Floats, other: Floats
) -> Iterator[dict[str, Any]]:
    systems = members(pairs["system_a"], pairs["system_b"])
    mean, ends = _mean(np.abs(one - other), systems)
    yield _row(claim, section, dataset, f"mean difference of p: {told}", len(pairs), mean, ends, 0.0)
    apart = (one < ALPHA) != (other < ALPHA)
    ends = share_interval(apart, systems)
    yield _row(claim, section, dataset, f"share of pairs they decide apart at 0.05: {told}", len(pairs),
               float(apart.mean()), ends, 0.0)  # fmt: skip


def _student(whole: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Section 2.1: "the paired Student's t-test … very similar"."""
    from scipy.special import stdtr

    decided = whole[whole["gain"] > 0]
    if decided.empty:
        return
    z = (decided["gain"] / decided["standard_error"]).to_numpy(float)
    n = decided["n_segments"].to_numpy(float)
    # `standard_error` divides by n, Student's statistic by n − 1.
    by_t = stdtr(n - 1, -z * np.sqrt((n - 1) / n))
    yield from _agreement("t-test", "2.1", "all", "bootstrap and Student's t of the first-order contributions", decided,
                          decided["p_value"].to_numpy(float), by_t)  # fmt: skip


def _variants(
    statistics: Statistics, metric: Metric, n_resamples: int, seed: int, threads: int | None
) -> Iterator[dict[str, Any]]:
    """Footnote 2: δ* > 2δ and δ* < 0 are equivalent where the gains of resamples are symmetric about δ."""
    from pairsig.all_pairs import compare

    if not n_resamples or len(statistics.segments) > 5000:
        return
    tables = [
        compare(statistics, "bootstrap", metric=metric, variant=variant, n_resamples=n_resamples, seed=seed,
                threads=threads)
        for variant in ("gt2", "percentile")
    ]  # fmt: skip
    p = [table["p_value"].to_numpy(float) for table in tables]
    decided = (tables[0]["gain"] > 0).to_numpy()
    yield from _agreement("footnote-2", "2.2", statistics.dataset, "bootstrap gt2 and percentile",
                          tables[0][decided], p[0][decided], p[1][decided])  # fmt: skip


def other_decision(p: Floats, n_samples: int, alpha: float = ALPHA) -> Floats:
    """Probability that the share of `n_samples` samples is on the other side of alpha than p (binomial law).

    The decision is "significant" if the share is below alpha.
    """
    from scipy.special import bdtr

    # count < alpha·b, that is count <= last
    last = np.ceil(alpha * n_samples - 1e-9) - 1
    significant = bdtr(last, n_samples, p)
    other: Floats = np.where(p < alpha, 1 - significant, significant)
    return other


def band(n_samples: int, risk: float = 0.01, alpha: float = ALPHA) -> tuple[float, float]:
    """P-values between which `n_samples` samples give the other decision in more than `risk` of runs."""
    from scipy.optimize import brentq

    def excess(p: float) -> float:
        return float(other_decision(np.array([p]), n_samples, alpha)[0]) - risk

    return (
        float(brentq(excess, 1e-9, alpha - 1e-12, xtol=1e-9)),
        float(brentq(excess, alpha, 1 - 1e-9, xtol=1e-9)),
    )


def _decisions(whole: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The exact-test paper: Monte Carlo is "too noisy to reliably determine" whether p is below 0.05."""
    if whole.empty:
        return
    p, systems = whole["p_value"].to_numpy(float), members(whole["system_a"], whole["system_b"])
    for n_samples in SAMPLES:
        low, high = band(n_samples)
        inside = (p > low) & (p < high)
        yield _row(
            "monte-carlo-decisions", "exact-test paper, abstract", "all",
            f"share of pairs with p between {low:.4f} and {high:.4f}, where {n_samples:,} samples decide otherwise "
            "than the exact p in over 1 % of runs", len(p), float(inside.mean()), share_interval(inside, systems),
        )  # fmt: skip
        risk, ends = _mean(other_decision(p, n_samples), systems)
        yield _row("monte-carlo-decisions", "exact-test paper, abstract", "all",
                   f"mean chance that {n_samples:,} samples decide otherwise", len(p), risk, ends)  # fmt: skip


def _spread(pairs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Section 4.1: the larger the test set, the smaller the spread of the plot."""
    series = nested(pairs)
    sized = series.groupby("dataset")["n_segments"].agg(["nunique", "max"])
    metrics = series.groupby("dataset")["metric"].first()
    for metric in metrics.unique():
        known = sized[(metrics == metric) & (sized["nunique"] >= 3)]
        if known.empty:
            continue
        dataset = str(known["max"].idxmax())
        errors, systems = same_pairs(series[series["dataset"] == dataset])
        if len(np.unique(systems)) < MIN_SYSTEMS:
            continue
        weights = replicates(systems)
        x = np.log(errors.columns.to_numpy(float))
        quantiles = [
            np.stack([weighted_quantile(Z_05 * one, weights, share) for one in errors.to_numpy().T])
            for share in (0.05, 0.5, 0.95)
        ]
        for told, values, reference in (
            ("exponent of the range of needs (5th to 95th percentile) by segments", quantiles[2] - quantiles[0], -0.5),
            ("exponent of that range over the median need", (quantiles[2] - quantiles[0]) / quantiles[1], 0.0),
        ):
            slopes = (x - x.mean()) @ np.log(values) / ((x - x.mean()) @ (x - x.mean()))
            ends = interval(slopes[0], *jackknife(slopes[1:]))
            yield _row("spread", "4.1", dataset, told, len(errors), slopes[0], ends, reference)


def _median_need(counts: NDArray[Any], metric: Metric, pairs: NDArray[np.intp]) -> float:
    from pairsig.contributions import likeness

    errors, _ = likeness(counts, metric, pairs, threads=1)
    return float(Z_05 * np.median(errors[errors > 0]))


def _orders(statistics: Statistics, metric: Metric, seed: int) -> Iterator[dict[str, Any]]:
    """Section 4.1: whether an exponent off −1/2 is one of the order of the segments, or of their lengths."""
    from study.resize import doubling

    counts = statistics.of(metric)
    n = counts.shape[1]
    sizes = [*doubling(100, n), n]
    if len(sizes) < 4:
        return
    chosen = np.unique(np.linspace(0, len(counts) - 1, N_SYSTEMS).astype(int))
    counts = counts[chosen]
    pairs = np.array(np.triu_indices(len(counts), 1)).T
    generator = np.random.Generator(np.random.SFC64(seed))

    def needs(order: NDArray[np.intp]) -> Floats:
        return np.array([_median_need(counts[:, np.sort(order[:size])], metric, pairs) for size in sizes])

    def exponent(x: Sequence[float] | Floats, y: Floats) -> float:
        return float(np.polyfit(np.log(x), np.log(y), 1)[0])

    as_it_is = needs(np.arange(n))
    drawn = [exponent(sizes, needs(generator.permutation(n))) for _ in range(N_ORDERS)]
    mean, spread = float(np.mean(drawn)), float(np.std(drawn, ddof=1))
    ends = (mean - 1.96 * spread, mean + 1.96 * spread)
    yield _row("order", "4.1", statistics.dataset, IN_ORDER, len(pairs), exponent(sizes, as_it_is), ends, -0.5)
    told = f"mean exponent in random orders (interval: of a mean of {N_ORDERS})"
    margin = 2.02 * spread / np.sqrt(N_ORDERS)
    yield _row("order", "4.1", statistics.dataset, told, len(pairs), mean, (mean - margin, mean + margin), -0.5)
    column, carrier = CARRIERS.get(metric.name, ("", ""))
    if column:
        carried = counts[0, :, metric.columns.index(column)].astype(float).cumsum()
        words = np.array([carried[size - 1] for size in sizes])
        told = f"exponent of the median need by {carrier}"
        yield _row("order", "4.1", statistics.dataset, told, len(pairs), exponent(words, as_it_is), reference=-0.5)


def _rouges(statistics: Statistics, metric: Metric) -> Iterator[dict[str, Any]]:
    """Why ROUGE needs twice the gain: which ROUGE, and how much documents differ."""
    from pairsig.contributions import contributions, likeness

    if not metric.name.startswith("rouge"):
        return
    pairs = np.array(np.triu_indices(len(statistics.systems), 1)).T
    n = len(statistics.segments)
    for name in ("rouge1_recall", "rouge2_recall", "rougeL_recall", "rouge2_f"):
        if name in statistics.columns:
            need = _median_need(statistics.of(registry.metric(name)), registry.metric(name), pairs) * np.sqrt(n / 48)
            yield _row("factor-of-two", "3.1.1", statistics.dataset, f"median need on 48 documents by {name}",
                       len(pairs), need, reference=1.10)  # fmt: skip
    values = statistics.of(metric)
    u = contributions(values, metric) * n
    spread = np.median(u.std(axis=1))
    _, similar = likeness(values, metric, pairs, threads=1)
    yield _row("factor-of-two", "3.1.1", statistics.dataset, "standard deviation of a document's score, median system",
               len(values), float(spread))  # fmt: skip
    # need = 1.645 σ sqrt(2 (1 − ρ)/n): what ρ would have to be for a need of 1.10 on 48 documents.
    needed = 1 - (1.10 / Z_05) ** 2 * 48 / (2 * spread**2)
    told = "similarity at which that spread needs 1.10 on 48 documents (reference: the median pair's)"
    own = float(np.nanmedian(similar))
    yield _row("factor-of-two", "3.1.1", statistics.dataset, told, len(pairs), float(needed), reference=own)


def _full_sets(statistics: Statistics, metric: Metric) -> Iterator[dict[str, Any]]:
    """Why AER needs twice the gain: pairs of systems trained on full sets beside those of all sizes, first 100."""
    from pairsig.contributions import likeness

    sizes = size_of(pd.Series(statistics.systems)).fillna("").to_numpy(str)
    if metric.name != "aer" or "full" not in sizes or len(set(sizes)) < 2:
        return
    counts = statistics.of(metric)[:, :100]
    scores = metric.score(counts.sum(axis=1))
    groups = np.array(statistics.groups)
    first, second = np.triu_indices(len(counts), 1)
    errors, similar = likeness(counts, metric, np.array([first, second]).T, threads=1)
    full = sizes == "full"
    low = scores < 15
    names = np.array(statistics.systems)
    for told, chosen in (
        ("all sizes of training sets", np.ones(len(first), bool)),
        ("full sets only", full[first] & full[second]),
        ("different sizes", sizes[first] != sizes[second]),
        ("both below 15 AER", low[first] & low[second]),
    ):
        for kind, same in (("same base model", groups[first] == groups[second]),
                           ("different base models", groups[first] != groups[second])):  # fmt: skip
            kept = chosen & same & (errors > 0)
            systems = members(names[first[kept]], names[second[kept]])
            if kept.sum() < MIN_PAIRS or len(np.unique(systems)) < MIN_SYSTEMS:
                continue
            need, low_end, high_end = np.exp(quantile_interval(np.log(Z_05 * errors[kept]), systems))
            reference = 0.50 if kind.startswith("same") else 1.12
            yield _row("factor-of-two", "3.2.4", statistics.dataset, f"median need on 100 sentences, {kind}, {told}",
                       int(kept.sum()), float(need), (float(low_end), float(high_end)), reference)  # fmt: skip
            yield _row("factor-of-two", "3.2.4", statistics.dataset, f"median similarity, {kind}, {told}",
                       int(kept.sum()), float(np.nanmedian(similar[kept])))  # fmt: skip


def _bleu(whole: pd.DataFrame, described: pd.DataFrame | None) -> Iterator[dict[str, Any]]:
    """Why BLEU needs twice the gain: likeness within test sets; score level and sentence length between them."""
    natural = (whole["kind_a"] != SYNTHETIC) & (whole["kind_b"] != SYNTHETIC)
    pairs = whole[natural & (whole["metric"] == "bleu") & (whole["similarity"] < 1)]
    pairs = pairs[(pairs["score_a"] > 5) & (pairs["score_b"] > 5)]
    if pairs.empty:
        return
    need = np.log(Z_05 * pairs["standard_error"].to_numpy(float) * np.sqrt(pairs["n_segments"].to_numpy(float) / 2034))
    unlike = np.log1p(-pairs["similarity"].to_numpy(float))
    own = pairs["dataset"].to_numpy()
    dy, dx = (
        pd.Series(v).groupby(own).transform(lambda group: group - group.mean()).to_numpy() for v in (need, unlike)
    )
    systems = members(pairs["system_a"], pairs["system_b"])
    slope = float(dx @ dy / (dx @ dx))
    ends = interval(slope, *variance(dx * (dy - slope * dx) / (dx @ dx), systems))
    yield _row("factor-of-two", "3.2.3", "task=mt", "exponent of the need by 1 − similarity, within test sets",
               len(pairs), slope, ends, 0.5)  # fmt: skip
    median = float(np.exp(np.median(need)))
    yield _row("factor-of-two", "3.2.3", "task=mt", "median need, scaled to 2,034 sentences", len(pairs), median,
               reference=0.37)  # fmt: skip
    for target in (0.28, 0.37):
        own_likeness = float(1 - np.exp(np.median(unlike)))
        wanted = 1 - (1 - own_likeness) * (target / median) ** (1 / slope)
        yield _row("factor-of-two", "3.2.3", "task=mt", f"similarity at which the median pair needs {target} "
                   "(reference: its own)", len(pairs), wanted, reference=own_likeness)  # fmt: skip
        yield _row("factor-of-two", "3.2.3", "task=mt", f"share of pairs that are at least so alike ({wanted:.2f})",
                   len(pairs), float((unlike <= np.log1p(-wanted)).mean()),
                   share_interval(unlike <= np.log1p(-wanted), systems))  # fmt: skip
    level = (pairs["score_a"] + pairs["score_b"]) / 20
    sets = pd.DataFrame({"dataset": own, "need": need, "level": level.to_numpy(float), "unlike": unlike})
    medians = sets.groupby("dataset").median()
    own_length = (
        None if described is None else described[described["group"] == "all"].set_index("dataset")["per_segment"]
    )
    medians["length"] = np.nan if own_length is None else np.log(own_length.reindex(medians.index).to_numpy(float))
    for columns, what in ((("level", "unlike"), "without length"), (("level", "unlike", "length"), "with length")):
        table = medians.dropna(subset=list(columns))
        if len(table) > len(columns) + 5:
            for name, value, ends in _regression(table, columns):
                told = {"level": "factor on the need of 10 BLEU more", "unlike": "exponent of 1 − similarity",
                        "length": "exponent of reference words a segment"}[name]  # fmt: skip
                if name == "level":
                    value, ends = float(np.exp(value)), (float(np.exp(ends[0])), float(np.exp(ends[1])))
                yield _row("factor-of-two", "3.2.3", "task=mt", f"{told}, between test sets, {what} (interval: of least"
                           " squares)", len(table), value, ends,
                           {"level": 1.0, "unlike": 0.5, "length": -0.5}[name])  # fmt: skip


def _regression(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, float, tuple[float, float]]]:
    from scipy.special import stdtrit

    x = np.column_stack([np.ones(len(table)), table[list(columns)].to_numpy(float)])
    y = table["need"].to_numpy(float)
    inverse = np.linalg.inv(x.T @ x)
    fitted = inverse @ x.T @ y
    degrees = len(y) - x.shape[1]
    residual = y - x @ fitted
    errors = np.sqrt(np.diag(inverse) * float(residual @ residual) / degrees)
    margin = float(stdtrit(degrees, 0.975)) * errors
    for number, name in enumerate(columns, start=1):
        yield (
            name,
            float(fitted[number]),
            (float(fitted[number] - margin[number]), float(fitted[number] + margin[number])),
        )
