"""How much trainings of one method differ, and how often a p-value of two outputs names the better method.

A method is a base model with a size of training set; its runs are trained on resampled training sets of that size, with
seeds of their own. To first order a score is a sum over segments, so all that is asked here of any pair of runs, or of
means of runs, follows from their scores and the products of their contributions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig.contributions import contributions
from pairsig.methods import sum_of_variances
from pairsig.metrics import Metric
from pairsig.statistics import Statistics
from pairsig.tables import frame
from study.analysis import expected, over_systems
from study.analysis.pairs import MIN_PAIRS
from study.columns import BETTER_METHOD, TRAININGS

Floats = NDArray[np.float64]

ALPHA = 0.05
WINDOW = (0.04, 0.06)
"""The range of one-sided p-values around 0.05, as in `calibrate`."""

LEAST_METHODS = 2
"""With fewer methods that were run several times, or fewer than `MIN_PAIRS` of two runs of one: `too few`."""

LEAST_OTHERS = 3
"""Other runs of a method, from which its variance of training is had for one run."""

_FIRST, _STEP = 100, 4


def trainings(
    datasets: Iterable[tuple[Statistics, Metric]], *, splits: int = 10, seed: int = 2012
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How much trainings of one method differ, and how often p near 0.05 names the better method.

    The segments are dealt at random into two halves, `splits` times. Test sets of 100, 400, 1,600, … segments are
    the first ones of one half; the other half is another test set of the same source. The whole test set stands beside
    them. Standard errors s of gains are first order (`pairsig.contributions`).

    **Variance.** Of a gain between one run each of two methods, averaged over methods: 2σ²_training from the variance
    of the runs' scores less what they differ by on single segments, twice that, and the test set's, as in
    `pairsig.compare_methods`. `share` is that of training. Intervals are Graybill and Wang's (1980) over runs, of
    independent methods.

    **Two runs of the same method**, which are not different: how many have p < 0.05, two-sided, p = 2Φ(−|d|/s); by
    chance 5 % would, on test sets of any size. `accounted` is the share where the variance of the *other* runs' scores
    is known: p from d/(√2 · their standard deviation), Student's with as many degrees of freedom as it has.

    **Two runs of different methods** with one-sided p = Φ(−|d|/s) in [0.04, 0.06]: the share where the better one is

    * `outputs`: the better one of the same two outputs on the other half,
    * `method`: of the better method: that whose *other* runs have the better mean on the other half,
    * `accounted`: the same for p that knows of training, V = s² + Σ σ²_training of both methods, from their other runs
      (Student's), among those pairs whose p is then in that range.

    `expected` is what independent segments predict (`expected.on_another`): of the first two if training had no
    variance, of the last with that variance on both sides.

    Returns
    -------
    Tables `TRAININGS`, one row a dataset and size of test set, and `BETTER_METHOD`, one row a dataset, size and
    question. Intervals of shares of pairs are `over_systems.share_interval`: over runs of these methods in the first
    table, over methods in the second, where all runs of two methods are held against the same mean. The dataset `all`
    is all pairs of every dataset that has a test set of that size; methods that were trained on the same corpus are the
    same on all their test sets. Where fewer than 2 methods have several runs, or there are fewer than 10 pairs of two
    runs of one, one row each says so. Cost: 25 CPU seconds for the study's ten datasets.
    """
    rows: list[dict[str, object]] = []
    better: list[dict[str, object]] = []
    pooled: dict[int, list[_Tested]] = {}
    for statistics, metric in datasets:
        given = statistics.numbered()
        several = [system for system, run in zip(given.systems, given.runs, strict=True) if run]
        methods = [method for method, run in zip(given.methods, given.runs, strict=True) if run]
        n = len(given.segments)
        base: dict[str, object] = {"dataset": given.dataset, "metric": metric.name}
        number = {"n_methods": len(set(methods)), "n_runs": len(several)}
        n_pairs = sum(times * (times - 1) // 2 for times in Counter(methods).values())
        if number["n_methods"] < LEAST_METHODS or n_pairs < MIN_PAIRS:
            row = base | number | {"n_segments": n, "verdict": "too few"}
            rows.append(row)
            better.append(row | {"question": "outputs"})
            continue
        runs = _Runs(methods, corpus=statistics.provenance.get("training_corpus", given.dataset))
        counts = given.select(systems=several).of(metric)
        tested = _dealt(runs, counts, metric, splits, seed)
        rows += [base | one.row() | runs.variances(one.scored) for one in tested]
        better += [base | row for one in tested for row in one.better_rows()]
        for one in tested[:-1]:  # without the whole one, which is held against nothing
            pooled.setdefault(one.n, []).append(one)
    for _, parts in sorted(pooled.items()):
        if len(parts) > 1:
            whole = _Tested.pool(parts)
            base = {"dataset": "all", "metric": "all"}
            rows.append(base | whole.row())
            better += [base | row for row in whole.better_rows()]
    return frame(TRAININGS, rows), frame(BETTER_METHOD, better)


def _dealt(runs: _Runs, counts: NDArray[np.float64], metric: Metric, splits: int, seed: int) -> list[_Tested]:
    """Test sets of all sizes: parts of a half of the segments, held against the other half; and the whole."""
    n = counts.shape[1]
    parts: dict[int, list[_Scored]] = {}
    against: list[_Scored] = []
    for split in range(splits):
        order = np.random.default_rng([seed, split]).permutation(n)
        half = order[: n // 2]
        against.append(_Scored.of(counts[:, order[n // 2 :]], metric))
        for size in _sizes(n // 2):
            parts.setdefault(size, []).append(_Scored.of(counts[:, half[:size]], metric))
    found = [_Tested.of(runs, size, scored, against) for size, scored in parts.items()]
    return [*found, _Tested.of(runs, n, [_Scored.of(counts, metric)], [])]


def _sizes(largest: int) -> list[int]:
    """100, 400, 1,600, … below the largest, and that."""
    sizes = []
    size = _FIRST
    while size < largest:
        sizes.append(size)
        size *= _STEP
    return [*sizes, largest]


@dataclass(frozen=True)
class _Scored:
    """Runs on a test set: scores, more is better; and products of their centred contributions, (runs × runs)."""

    quality: Floats
    products: Floats
    n: int

    @classmethod
    def of(cls, counts: NDArray[np.float64], metric: Metric) -> _Scored:
        scores = metric.score(counts.sum(axis=1))
        u = contributions(counts, metric)
        u -= u.mean(axis=1, keepdims=True)
        n = counts.shape[1]
        return cls(scores if metric.higher_is_better else -scores, n / (n - 1) * (u @ u.T), n)

    def averaged(self, weights: Floats) -> _Scored:
        """Means of runs instead of runs, by weights (means × runs)."""
        return _Scored(weights @ self.quality, weights @ self.products @ weights.T, self.n)

    def gains(self, pairs: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Gains of the first of each pair over the second, and their variances over test sets."""
        a, b = pairs.T
        own = self.products.diagonal()
        return self.quality[a] - self.quality[b], np.maximum(0.0, own[a] + own[b] - 2 * self.products[a, b])


class _Runs:
    """Runs of methods, and what follows from their scores and the products of their contributions."""

    def __init__(self, methods: Sequence[str], corpus: str) -> None:
        codes, names = pd.factorize(np.array(methods, dtype=object))
        self.methods = codes.astype(np.intp)
        self.names = np.array([f"{corpus} {name}" for name in names], dtype=object)
        same = self.methods[:, None] == self.methods
        self.k = same.sum(axis=1)
        self.k_of_method = np.bincount(self.methods)
        self.averaging = np.eye(len(names))[:, self.methods] / self.k
        self.others = (same & ~np.eye(len(same), dtype=bool)) / (self.k - 1)[:, None]
        pairs = np.column_stack(np.triu_indices(len(same), k=1))
        alike = same[pairs[:, 0], pairs[:, 1]]
        self.same_pairs, self.pairs = pairs[alike], pairs[~alike]

    def per_method(self, scored: _Scored) -> tuple[Floats, Floats]:
        """Of each method the variance of its runs' scores, and the part that is of single segments."""
        k = self.k_of_method
        own = self.averaging @ scored.products.diagonal()
        mean = (self.averaging @ scored.products @ self.averaging.T).diagonal()
        squares = self.averaging @ np.square(scored.quality - (self.averaging @ scored.quality)[self.methods])
        return k / (k - 1) * squares, k / (k - 1) * (own - mean)

    def variances(self, found: list[_Scored]) -> dict[str, object]:
        """The parts of the variance of a gain between one run each of two methods."""
        total, rest = np.array([self.per_method(scored) for scored in found], dtype=np.float64).mean(axis=0)
        k = self.k_of_method
        first, second = np.triu_indices(len(k), k=1)
        means = np.mean([self.averaging @ scored.products @ self.averaging.T for scored in found], axis=0)
        of_set = means.diagonal() - rest / k
        test_set = max(0.0, float((of_set[first] + of_set[second] - 2 * means[first, second]).mean()))
        low, high = sum_of_variances(np.array([total / len(k)]), np.array([k - 1.0]), 0.025)
        single = float(rest.mean())
        cells: dict[str, object] = {"sd_rest": single**0.5, "sd_test_set": test_set**0.5}
        for end, runs in {"": float(total.mean()), "_low": low.item(), "_high": high.item()}.items():
            training = max(0.0, runs - single)
            cells[f"sd_training{end}"] = training**0.5
            cells[f"share{end}"] = 2 * training / (2 * training + 2 * single + test_set)
        return cells

    def differ(self, scored: _Scored) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which pairs of runs of one method have p < 0.05: by outputs, and by the spread of the other runs."""
        from scipy.special import ndtr, stdtr

        a, b = self.same_pairs.T
        gain, variance = scored.gains(self.same_pairs)
        # Of the other runs' scores: all deviations from the mean, less those of the two.
        q = scored.quality - (self.averaging @ scored.quality)[self.methods]
        left = self.k[a] - 2
        squares = (self.averaging @ q**2)[self.methods[a]] * self.k[a]
        with np.errstate(divide="ignore", invalid="ignore"):
            others = (squares - q[a] ** 2 - q[b] ** 2 - (q[a] + q[b]) ** 2 / left) / (left - 1)
            by_outputs = 2 * ndtr(-np.abs(gain) / np.sqrt(variance))
            by_runs = 2 * stdtr(np.maximum(left - 1, 1), -np.abs(gain) / np.sqrt(2 * others))
        return (by_outputs < ALPHA) & (gain != 0), by_runs < ALPHA

    def better(self, on: _Scored, against: _Scored) -> dict[str, Floats]:
        """By question, of every pair: p, gain, its variance, the gain it is held against, and its variance."""
        from scipy.special import ndtr, stdtr

        a, b = self.pairs.T
        others = self.k - 1
        gain, variance = on.gains(self.pairs)
        total, rest = (values[self.methods] for values in self.per_method(on))
        deviation = on.quality - (self.averaging @ on.quality)[self.methods]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Without a run the sum of squares is less by k/(k − 1) of its own deviation's.
            without = (others * total - self.k / others * deviation**2) / (others - 1)
            training = np.maximum(0.0, without - rest)
            whole = variance + training[a] + training[b]
            doubt = variance**2 / (on.n - 1)
            doubt += sum((training[run] + rest[run]) ** 2 / (others[run] - 1) for run in (a, b))
            p = ndtr(-np.abs(gain) / np.sqrt(variance))
            p_accounted = stdtr(whole**2 / doubt, -np.abs(gain) / np.sqrt(whole))
            means, of_means = against.averaged(self.others).gains(self.pairs)
            known = of_means + training[a] / others[a] + training[b] / others[b]
        p_accounted[np.minimum(others[a], others[b]) < LEAST_OTHERS] = np.nan
        return {
            "outputs": np.stack([p, gain, variance, *against.gains(self.pairs)]),
            "method": np.stack([p, gain, variance, means, of_means]),
            "accounted": np.stack([p_accounted, gain, whole, means, known]),
        }


@dataclass(frozen=True)
class _Tested:
    """Pairs of runs on test sets of one size.

    `same` has the runs of each pair of one method, and whether it has p < 0.05 by outputs, and by other runs (`enough`
    of which there must be); `better` by question what `_Runs.better` gives, and `members` the methods.
    """

    n: int
    n_methods: int
    n_runs: int
    scored: list[_Scored]
    same: NDArray[np.object_]
    differ: NDArray[np.bool_]
    accounted: NDArray[np.bool_]
    enough: NDArray[np.bool_]
    better: Mapping[str, Floats]
    pairs: NDArray[np.object_]
    members: NDArray[np.object_]

    @classmethod
    def of(cls, runs: _Runs, n: int, scored: list[_Scored], against: list[_Scored]) -> _Tested:
        names = np.array([f"{runs.names[method]} {run}" for run, method in enumerate(runs.methods)], dtype=object)
        differ, accounted = (np.concatenate(found) for found in zip(*map(runs.differ, scored), strict=True))
        better = [runs.better(on, other) for on, other in zip(scored, against, strict=False)]
        times = len(scored)
        return cls(
            n=n,
            n_methods=len(runs.names),
            n_runs=len(runs.methods),
            scored=scored,
            same=np.tile(names[runs.same_pairs], (times, 1)),
            differ=differ,
            accounted=accounted,
            enough=np.tile(runs.k[runs.same_pairs[:, 0]] - 2 >= LEAST_OTHERS, times),
            better={
                question: np.hstack([one[question] for one in better]) for question in (better[0] if better else ())
            },
            pairs=np.tile(names[runs.pairs], (times, 1)),
            members=np.tile(runs.names[runs.methods[runs.pairs]], (times, 1)),
        )

    @classmethod
    def pool(cls, parts: Sequence[_Tested]) -> _Tested:
        """All pairs of several datasets."""
        joined = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("same", "differ", "accounted", "enough", "pairs", "members")
        }
        return cls(
            n=parts[0].n,
            n_methods=len(np.unique(joined["members"].astype(str))),
            n_runs=len(np.unique(joined["pairs"].astype(str))),
            scored=[],
            better={name: np.hstack([part.better[name] for part in parts]) for name in parts[0].better},
            **joined,
        )

    def row(self) -> dict[str, object]:
        """What `TRAININGS` says of runs of the same method."""
        return (
            {"n_segments": self.n, "n_methods": self.n_methods, "n_runs": self.n_runs, "verdict": "estimated"}
            | {"n_pairs": _distinct(self.same), "n_pairs_accounted": _distinct(self.same[self.enough])}
            | _share("differ", self.differ, self.same)
            | _share("accounted", self.accounted[self.enough], self.same[self.enough])
        )

    def better_rows(self) -> Iterator[dict[str, object]]:
        """What `BETTER_METHOD` says, by question."""
        for question, (p, gain, variance, gain_against, variance_against) in self.better.items():
            inside = (p >= WINDOW[0]) & (p <= WINDOW[1]) & (gain != 0) & (gain_against != 0)
            held = ((gain > 0) == (gain_against > 0))[inside]
            named = _share("named", held, self.members[inside])
            possible = np.isfinite(p) & (variance > 0) & (variance_against > 0)
            right, wrong = expected.on_another(
                gain[possible], np.sqrt(variance[possible]), gain_against[possible],
                np.sqrt(variance_against[possible]), *WINDOW,
            )  # fmt: skip
            predicted = expected.share(right, wrong, over_systems.members(*self.members[possible].T))
            share, least, most = named.values()
            low, high = expected.difference(share, least, most, *predicted)
            yield (
                {"n_segments": self.n, "n_methods": self.n_methods, "n_runs": self.n_runs, "verdict": "estimated"}
                | {"question": question, "n_pairs": _distinct(self.pairs[inside]), "n_tested": len(held)}
                | named
                | dict(zip(("expected", "expected_low", "expected_high"), predicted, strict=True))
                | {"difference": share - predicted[0], "difference_low": low, "difference_high": high}
            )


def _distinct(pairs: NDArray[np.object_]) -> int:
    return len(set(map(tuple, pairs.tolist())))


def _share(name: str, held: NDArray[np.bool_], pairs: NDArray[np.object_]) -> dict[str, float]:
    """A share of pairs, with its interval over their members."""
    low, high = over_systems.share_interval(held, over_systems.members(*pairs.T)) if len(held) else (np.nan, np.nan)
    return {name: float(held.mean()) if len(held) else np.nan, f"{name}_low": low, f"{name}_high": high}
