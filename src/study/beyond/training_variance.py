"""Training variance, and how often the p-value of two outputs identifies the better method.

A method is a base model with a size of training set. Its runs are trained on resampled training sets of that size, with
different seeds. To first order, a score is a sum over segments. All results for pairs of runs, or means of runs,
therefore follow from their scores and the products of their influence values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.core.statistics import Statistics
from pairsig.io.columns import DATASET, METRIC, N_SEGMENTS, Column, Table, count
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from study.analysis import expected, over_systems
from study.analysis.first_order import Scored
from study.analysis.over_systems import Floats
from study.analysis.pairs import MIN_PAIRS, WINDOW
from study.tables.columns import numeric, optional_count, with_interval
from study.test_sets import doubling

_METHODS = (
    replace(DATASET, meaning="name of the dataset; `all` for every dataset with a test set of this size"),
    METRIC,
    N_SEGMENTS,
    count("n_methods", "methods (a base model with a size of training set) that have several runs"),
    count("n_runs", "runs of these methods"),
)

_ENOUGH = Column("verdict", str, "whether there are enough runs for an estimate", choices=("estimated", "too few"))

TRAINING_VARIANCE = Table(
    "training_variance",
    (
        *_METHODS,
        *with_interval("sd_training", "standard deviation of the score between training runs of a method, on an "
            "infinite test set", "two decimals", "points"),
        *with_interval("share", "share of training in the variance of the gain between single runs of two methods",
            "share"),
        optional_count("n_pairs", "pairs of runs with the same method"),
        *with_interval("share_significant", "share of these with two-sided p < 0.05 by their outputs; 5 % by chance",
            "share"),
        numeric("over_methods_low", "lower end of the 95 % interval of the mean of such shares over methods, if the "
            "methods are a sample of others", shown="share", missing=True),
        numeric("over_methods_high", "upper end of this interval", shown="share", missing=True),
        numeric("least_of_methods", "smallest such share of a method", shown="share", missing=True),
        numeric("most_of_methods", "largest such share of a method", shown="share", missing=True),
        *with_interval("share_significant_by_method", "share of these whose method has three or more other runs with p "
            "< 0.05 by the method-level test", "share"),
        _ENOUGH,
    ),
    key=("dataset", "metric", "n_segments"),
)  # fmt: skip

BETTER_METHOD = Table(
    "better_method",
    (
        *_METHODS,
        Column("question", str, "what p predicts: the better outputs, the better method, or the better method by the "
            "method-level test", choices=("outputs", "method", "method-level test")),
        optional_count("n_pairs", "pairs of runs of two methods with p in the window around 0.05", "pairs"),
        optional_count("n_tested", "number of times that such a p-value occurred", "", "times"),
        *with_interval("replicated", "replication rate: share in which the better one is also better on the other half",
            "share"),
        *with_interval("expected", "rate expected from independent segments (and runs, in the method-level test)",
            "share"),
        _ENOUGH,
    ),
    key=("dataset", "metric", "n_segments", "question"),
)  # fmt: skip


ALPHA = 0.05
LEAST_METHODS = 2
"""Minimal number of methods with several runs. With fewer, or fewer than `MIN_PAIRS` pairs of runs: `too few`."""

LEAST_OTHERS = 3
"""Minimal number of other runs of a method for estimating its training variance."""

_FIRST, _STEP = 100, 4
"""Test sets have 100, 400, 1,600, … segments, and half of all."""


def training_variance(
    data: Iterable[tuple[Statistics, Metric]], *, splits: int = 10, seed: int = 2012
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Estimate training variance, and how often p near 0.05 identifies the better method.

    The segments are split at random into two halves, `splits` times. Test sets of 100, 400, 1,600, … segments are the
    first segments of one half; the other half is a test set from the same source. The whole test set is added. Standard
    errors s of gains are first-order ones (`pairsig.core.influence`).

    **Variance.** The variance of the gain between single runs of two methods, averaged over methods, has three parts,
    as in `pairsig.compare_methods`: training, single segments, and the test set. 2σ²_training is twice the variance of
    the runs' scores minus the part from single segments. `share` is the share of training. Intervals are those of
    Graybill and Wang (1980) over runs, for independent methods.

    **Two runs of the same method.** `share_significant` is the share with two-sided p = 2Φ(−|d|/s) < 0.05, where d is
    the gain; by chance it is 5 % on test sets of any size. `share_significant_by_method` uses the method-level test:
    Student's p from d/(√2 · standard deviation of the *other* runs' scores).

    **Two runs of different methods** with one-sided p = Φ(−|d|/s) in the window around 0.05. The replication rate is
    the share in which the better run

    * `outputs`: also has the better output on the other half,
    * `method`: has the better method, whose *other* runs have the better mean on the other half,
    * `method-level test`: has the better method, for pairs whose p by the method-level test is in that range. This test
      uses V = s² + Σ σ²_training of both methods, from their other runs (Student's).

    `expected` is the rate for independent segments (`expected.on_another`): without training variance for the first
    two, and with this variance on both sides for the last.

    Returns
    -------
    Table `TRAINING_VARIANCE`, one row per dataset and size of test set, and table `BETTER_METHOD`, one row per dataset,
    size and question. Intervals of shares are those of `over_systems.share`: over runs in the first table, and
    over methods in the second, where all runs of two methods are compared with the same mean. The dataset `all` pools
    all datasets with a test set of this size; methods trained on the same corpus are the same method on all of its test
    sets. Datasets with fewer than 2 methods with several runs, or fewer than 10 pairs of runs, have the verdict `too
    few`. Cost: 25 CPU seconds for the study's ten datasets.
    """
    rows: list[dict[str, object]] = []
    better: list[dict[str, object]] = []
    pooled: dict[int, list[_Tested]] = {}
    numbers: dict[str, int] = {}
    for statistics, metric in data:
        numbered = statistics.numbered()
        several = [system for system, run in zip(numbered.systems, numbered.runs, strict=True) if run]
        methods = [method for method, run in zip(numbered.methods, numbered.runs, strict=True) if run]
        n = len(numbered.segments)
        base: dict[str, object] = {"dataset": numbered.dataset, "metric": metric.name}
        times = Counter(methods)
        if len(times) < LEAST_METHODS or sum(k * (k - 1) // 2 for k in times.values()) < MIN_PAIRS:
            row = {"n_segments": n, "n_methods": len(times), "n_runs": len(several), "verdict": "too few"}
            rows.append(base | row)
            better.append(base | row | {"question": "outputs"})
            continue
        corpus = statistics.provenance.get("training_corpus", numbered.dataset)
        runs = _Runs(methods, corpus, numbers)
        counts = numbered.select(systems=several).of(metric)
        tested = _tested(runs, counts, metric, splits, seed)
        for part, scored in tested:
            rows.append(base | part.row() | runs.variances(scored))
            better += [base | row for row in part.better_rows()]
            if part.n < n:  # the whole test set has no second test set
                pooled.setdefault(part.n, []).append(part)
    for _, parts in sorted(pooled.items()):
        if len(parts) > 1:
            whole = _Tested.pool(parts)
            base = {"dataset": "all", "metric": "all"}
            rows.append(base | whole.row())
            better += [base | row for row in whole.better_rows()]
    return frame(TRAINING_VARIANCE, rows), frame(BETTER_METHOD, better)


def _tested(
    runs: _Runs, counts: NDArray[np.float64], metric: Metric, splits: int, seed: int
) -> Iterator[tuple[_Tested, list[Scored]]]:
    """Test parts of a half of the segments against the other half, then the whole test set; with the scores."""
    n = counts.shape[1]
    parts: dict[int, list[Scored]] = {}
    against: list[Scored] = []
    for split in range(splits):
        order = np.random.default_rng([seed, split]).permutation(n)
        half = order[: n // 2]
        against.append(_scored(counts[:, order[n // 2 :]], metric))
        for size in (*doubling(_FIRST, n // 2, factor=_STEP), n // 2):
            parts.setdefault(size, []).append(_scored(counts[:, half[:size]], metric))
    for size, scored in parts.items():
        yield _Tested.of(runs, size, scored, against), scored
    whole = [_scored(counts, metric)]
    yield _Tested.of(runs, n, whole, []), whole


def _scored(counts: NDArray[np.float64], metric: Metric) -> Scored:
    """Score runs, with unbiased variances."""
    scored = Scored.of(counts, metric)
    return replace(scored, products=scored.n / (scored.n - 1) * scored.products)


class _Runs:
    """Runs of methods, with the results that follow from their scores and the products of their influence values."""

    def __init__(self, methods: Sequence[str], corpus: str, numbers: dict[str, int]) -> None:
        codes, names = pd.factorize(np.array(methods, dtype=object))
        self.methods = codes.astype(np.intp)
        # Numbers of methods and runs, the same for all test sets of a corpus.
        self.names = np.array([numbers.setdefault(f"{corpus} {name}", len(numbers)) for name in names], dtype=np.intp)
        labels = [f"{corpus} {names[method]} {run}" for run, method in enumerate(self.methods)]
        self.runs = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)
        same = self.methods[:, None] == self.methods
        self.k = same.sum(axis=1)
        self.k_of_method = np.bincount(self.methods)
        self.averaging = np.eye(len(names))[:, self.methods] / self.k
        self.others = (same & ~np.eye(len(same), dtype=bool)) / (self.k - 1)[:, None]
        pairs = np.column_stack(np.triu_indices(len(same), k=1))
        same_method = same[pairs[:, 0], pairs[:, 1]]
        self.same_pairs, self.pairs = pairs[same_method], pairs[~same_method]

    def per_method(self, scored: Scored) -> tuple[Floats, Floats]:
        """Variance of the scores of each method's runs, and the part of it from single segments."""
        k = self.k_of_method
        squares_of_runs = self.averaging @ scored.products.diagonal()
        mean = (self.averaging @ scored.products @ self.averaging.T).diagonal()
        squares = self.averaging @ np.square(scored.quality - (self.averaging @ scored.quality)[self.methods])
        return k / (k - 1) * squares, k / (k - 1) * (squares_of_runs - mean)

    def variances(self, parts: list[Scored]) -> dict[str, object]:
        """Parts of the variance of the gain between single runs of two methods."""
        from pairsig.comparisons.runs import sum_of_variances

        total, rest = np.array([self.per_method(scored) for scored in parts], dtype=np.float64).mean(axis=0)
        k = self.k_of_method
        first, second = np.triu_indices(len(k), k=1)
        means = np.mean([self.averaging @ scored.products @ self.averaging.T for scored in parts], axis=0)
        of_set = means.diagonal() - rest / k
        test_set = max(0.0, float((of_set[first] + of_set[second] - 2 * means[first, second]).mean()))
        low, high = sum_of_variances(np.array([total / len(k)]), np.array([k - 1.0]), 0.025)
        single = float(rest.mean())
        cells: dict[str, object] = {}
        for end, runs in {"": float(total.mean()), "_low": low.item(), "_high": high.item()}.items():
            training = max(0.0, runs - single)
            cells[f"sd_training{end}"] = training**0.5
            cells[f"share{end}"] = 2 * training / (2 * training + 2 * single + test_set)
        return cells

    def significant(self, scored: Scored) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark pairs of runs of the same method with p < 0.05: by outputs, and by the method-level test."""
        from scipy.special import ndtr, stdtr

        a, b = self.same_pairs.T
        gain, variance = scored.gains(self.same_pairs)
        # Variance of the other runs' scores: all squared deviations from the mean, minus those of the two runs.
        q = scored.quality - (self.averaging @ scored.quality)[self.methods]
        left = self.k[a] - 2
        squares = (self.averaging @ q**2)[self.methods[a]] * self.k[a]
        with np.errstate(divide="ignore", invalid="ignore"):
            others = (squares - q[a] ** 2 - q[b] ** 2 - (q[a] + q[b]) ** 2 / left) / (left - 1)
            by_outputs = 2 * ndtr(-np.abs(gain) / np.sqrt(variance))
            by_runs = 2 * stdtr(np.maximum(left - 1, 1), -np.abs(gain) / np.sqrt(2 * others))
        return (by_outputs < ALPHA) & (gain != 0), by_runs < ALPHA

    def better(self, on: Scored, against: Scored) -> dict[str, Floats]:
        """For each question and pair of runs: p, gain, its variance, the gain to compare with, and its variance.

        The questions are whether the `outputs` of the better run win again on another test set, whether its `method`
        does there (with the mean of its other runs), and the latter with p-values of the `method-level test`.
        """
        from scipy.special import ndtr, stdtr

        a, b = self.pairs.T
        others = self.k - 1
        gain, variance = on.gains(self.pairs)
        # The variance of the scores of the other runs of each run's method, and its part from training.
        total, rest = (values[self.methods] for values in self.per_method(on))
        deviation = on.quality - (self.averaging @ on.quality)[self.methods]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Leaving out a run reduces the sum of squares by k/(k − 1) times its squared deviation.
            without = (others * total - self.k / others * deviation**2) / (others - 1)
            training = np.maximum(0.0, without - rest)
            # The gain of two methods from one run each, with Satterthwaite's degrees of freedom: V² / Σ v²/ν.
            total_variance = variance + training[a] + training[b]
            uncertainty = variance**2 / (on.n - 1)
            uncertainty += sum((training[run] + rest[run]) ** 2 / (others[run] - 1) for run in (a, b))
            p = ndtr(-np.abs(gain) / np.sqrt(variance))
            pvalue_by_method = stdtr(total_variance**2 / uncertainty, -np.abs(gain) / np.sqrt(total_variance))
            # The gain of the means of the other runs on the other test set.
            averaged = Scored(self.others @ against.quality, self.others @ against.products @ self.others.T, against.n)
            means, of_means = averaged.gains(self.pairs)
            known = of_means + training[a] / others[a] + training[b] / others[b]
        pvalue_by_method[np.minimum(others[a], others[b]) < LEAST_OTHERS] = np.nan
        return {
            "outputs": np.stack([p, gain, variance, *against.gains(self.pairs)]),
            "method": np.stack([p, gain, variance, means, of_means]),
            "method-level test": np.stack([pvalue_by_method, gain, total_variance, means, known]),
        }


@dataclass(frozen=True)
class _Tested:
    """Pairs of runs on test sets of one size; methods and runs have the same numbers on all test sets of a corpus."""

    n: int
    n_methods: int
    n_runs: int
    n_parts: int
    same: NDArray[np.intp]  # runs of each pair of the same method
    of_methods: NDArray[np.intp]  # this method
    by_outputs: NDArray[np.bool_]  # whether p < 0.05 by outputs
    by_method: NDArray[np.bool_]  # whether p < 0.05 by the method-level test
    enough: NDArray[np.bool_]  # whether there are enough other runs for this test
    better: Mapping[str, Floats]  # results of `_Runs.better` by question
    pairs: NDArray[np.intp]  # their runs
    members: NDArray[np.intp]  # their methods

    @classmethod
    def of(cls, runs: _Runs, n: int, scored: list[Scored], against: list[Scored]) -> _Tested:
        by_outputs, by_method = map(np.concatenate, zip(*map(runs.significant, scored), strict=True))
        better = [runs.better(on, on_other) for on, on_other in zip(scored, against, strict=False)]
        questions = better[0] if better else ()
        times, of_same = len(scored), runs.same_pairs[:, 0]
        return cls(
            n=n,
            n_methods=len(runs.names),
            n_runs=len(runs.methods),
            n_parts=times,
            same=np.tile(runs.runs[runs.same_pairs], (times, 1)),
            of_methods=np.tile(runs.names[runs.methods[of_same]], times),
            by_outputs=by_outputs,
            by_method=by_method,
            enough=np.tile(runs.k[of_same] - 2 >= LEAST_OTHERS, times),
            better={question: np.hstack([of_split[question] for of_split in better]) for question in questions},
            pairs=np.tile(runs.runs[runs.pairs], (times, 1)),
            members=np.tile(runs.names[runs.methods[runs.pairs]], (times, 1)),
        )

    @classmethod
    def pool(cls, parts: Sequence[_Tested]) -> _Tested:
        """Pool the pairs of several datasets."""
        return over_systems.joined(
            parts,
            n=parts[0].n,
            n_methods=over_systems.n_members(np.concatenate([part.members for part in parts])),
            n_runs=over_systems.n_members(np.concatenate([part.pairs for part in parts])),
            n_parts=1,
            better={name: np.hstack([part.better[name] for part in parts]) for name in parts[0].better},
        )

    @property
    def size(self) -> dict[str, object]:
        """Cells that both tables have."""
        return {"n_segments": self.n, "n_methods": self.n_methods, "n_runs": self.n_runs, "verdict": "estimated"}

    def row(self) -> dict[str, object]:
        """Compute the row of `TRAINING_VARIANCE` on runs of the same method."""
        by_method = _share(self.by_method[self.enough], self.same[self.enough])
        row = self.size | {"n_pairs": _distinct(self.same)}
        row |= over_systems.cells("share_significant", _share(self.by_outputs, self.same))
        row |= over_systems.cells("share_significant_by_method", by_method)
        # Over methods with enough pairs: the range, and Student's interval of the mean.
        methods = pd.Series(self.by_outputs).groupby(self.of_methods)
        shares = methods.mean()[methods.size() >= MIN_PAIRS * self.n_parts].to_numpy(float)
        row |= {"least_of_methods": min(shares, default=np.nan), "most_of_methods": max(shares, default=np.nan)}
        if len(shares) > 1:
            _, low, high = over_systems.mean_of_independent(shares)
            row |= {"over_methods_low": max(low, 0.0), "over_methods_high": min(high, 1.0)}
        return row

    def better_rows(self) -> Iterator[dict[str, object]]:
        """Yield the rows of `BETTER_METHOD`, one per question."""
        for question, (p, gain, variance, gain_against, variance_against) in self.better.items():
            inside = (p >= WINDOW[0]) & (p <= WINDOW[1]) & (gain != 0) & (gain_against != 0)
            replicated = ((gain > 0) == (gain_against > 0))[inside]
            possible = np.isfinite(p) & (variance > 0) & (variance_against > 0)
            right, wrong = expected.on_another(
                gain[possible], np.sqrt(variance[possible]), gain_against[possible],
                np.sqrt(variance_against[possible]), *WINDOW,
            )  # fmt: skip
            predicted = expected.share(right, wrong, over_systems.members(*self.members[possible].T))
            counts = {"n_pairs": _distinct(self.pairs[inside]), "n_tested": len(replicated)}
            share = over_systems.cells("replicated", _share(replicated, self.members[inside]))
            yield self.size | {"question": question} | counts | share | over_systems.cells("expected", predicted)


def _distinct(pairs: NDArray[np.intp]) -> int:
    return len(np.unique(pairs @ np.array([pairs.max(initial=0) + 1, 1])))


def _share(marked: NDArray[np.bool_], pairs: NDArray[np.intp]) -> over_systems.Estimate:
    """Share of marked pairs, with its interval over their members."""
    return over_systems.share(marked, over_systems.members(*pairs.T))
