"""Speed and memory, each as a ratio to its limit or to a peer measured in the same run: `make bench`.

A test that draws can be no faster than the bare draws and the bare product of draws and counts; what other programs
take is beside ours. All times are in CPU seconds and on the clock. Every case runs in a process of its own, so that its
peak memory is its own. Nothing here is a test: machines differ, ratios are for reading. `make bench SMALL=yes` runs
every case once, on little data and in one process, which shows that it still runs; its ratios mean nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SMALL = "--small" in sys.argv
MILLION = 10_000 if SMALL else 1_000_000
_THREADS = 2
REPEAT = 1 if SMALL else 4
"""Runs of what draws, and of its limit: the speed of a machine with other work to do varies."""


def size(n: int) -> int:
    """How many systems, segments or resamples there are of what is `n` in earnest."""
    return max(20, n // 100) if SMALL else n


class Spent(NamedTuple):
    """CPU seconds, and those on the clock."""

    cpu: float
    wall: float

    def __add__(self, other: Spent) -> Spent:  # type: ignore[override]
        return Spent(self.cpu + other.cpu, self.wall + other.wall)

    def __mul__(self, factor: float) -> Spent:  # type: ignore[override]
        return Spent(self.cpu * factor, self.wall * factor)


def spent(function: Callable[[], object], repeat: int = 1) -> Spent:
    """What the run of `repeat` with the fewest CPU seconds took."""
    times = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        times.append(Spent(time.process_time() - cpu, time.perf_counter() - wall))
    return min(times)


def extrapolated(run: Callable[[int], object], n_resamples: int, n_run: int) -> Spent:
    """What so many resamples take, from fewer, without what does not grow with them."""
    fixed = spent(lambda: run(2), REPEAT)
    return fixed + (spent(lambda: run(n_run), REPEAT) + fixed * -1) * (n_resamples / n_run)


def bare(counts: np.ndarray, metric: str, n_resamples: int, n_run: int) -> dict[str, Spent]:
    """The bare draws of so many resamples, and the bare product, from fewer: on as many threads as ours take.

    In blocks as ours; of few columns, both together, as ours: one compiled loop does both.
    """
    from threadpoolctl import threadpool_limits

    from pairsig.core import engine, draws
    from pairsig.metrics import registry

    product = engine.Scorer(counts, registry.metric(metric)).product
    n_units, few = product.n_units, len(product.matrix) <= engine._FEW_COLUMNS
    rows = min(1024, max(8, engine._BATCH_ELEMENTS // n_units))
    matrix = np.ascontiguousarray(product.matrix.T)
    blocks = -(-n_run // rows)

    def on_threads(begin: Callable[[], Callable[[int], object]]) -> Spent:
        def all_of(worker: int) -> None:
            work = begin()
            for number in range(worker, blocks, _THREADS):
                work(number)

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(_THREADS) as workers:
            return spent(lambda: list(workers.map(all_of, range(_THREADS))), REPEAT) * (n_resamples / (blocks * rows))

    def draws() -> Callable[[int], object]:
        out = np.ones((rows, n_units), dtype=product.dtype)
        return lambda number: draws.bootstrap_counts(1, rows * number, rows, n_units, out=out)

    def products() -> Callable[[int], object]:
        drawn = np.ones((rows, n_units), dtype=product.dtype)
        return lambda _: drawn @ matrix

    def both() -> Callable[[int], object]:
        drawn = product.buffers(rows, len(product.matrix), "resample")
        return lambda number: drawn(1, rows * number, rows)

    if few:
        return {"bare draws and product": on_threads(both)}
    return {"bare draws": on_threads(draws), "bare product": on_threads(products)}


def row(ours: Spent, beside: dict[str, Spent], note: str = "") -> dict[str, Any]:
    """A line of the table; where there are bare parts, both together are one more."""
    if len(parts := [value for name, value in beside.items() if name.startswith("bare ")]) == 2:
        beside = {"bare draws and product": parts[0] + parts[1]} | beside
    return {"ours": ours, "beside": beside, "note": note}


def _compare(data: Any, test: str = "bootstrap", **options: Any) -> Any:
    """All pairs; pairsig is imported late, since some benches measure that, too."""
    from pairsig.comparisons import all_pairs

    return all_pairs.compare(data, test, **options)


def all_pairs() -> dict[str, Any]:
    """Bootstrap, all 11,175 pairs of 150 systems, BLEU, 2,034 segments, b = 10⁶."""
    import simulate
    from pairsig.metrics import registry

    data = simulate.statistics("bleu", n_systems=size(150), n_segments=size(2034), n_groups=2)
    _compare(data, n_resamples=2048)  # compile, and let BLAS start
    n_run = MILLION // 20
    ours = extrapolated(lambda number: _compare(data, n_resamples=number), MILLION, n_run)
    return row(ours, bare(data.of(registry.metric("bleu")), "bleu", MILLION, n_run), f"from {n_run:,} resamples")


def ranks() -> dict[str, Any]:
    """Ranks by step-down max-T, 150 systems, BLEU, 2,034 segments, b = 10⁵."""
    import pairsig
    import simulate
    from pairsig.core import engine
    from pairsig.core.definitions import find
    from pairsig.metrics import registry

    data = simulate.statistics("bleu", n_systems=size(150), n_segments=size(2034), n_groups=2)
    pairsig.rank(data, metric="bleu", n_resamples=100)  # compile
    ours = spent(lambda: pairsig.rank(data, metric="bleu"), REPEAT)
    bleu = registry.metric("bleu")
    values = np.random.default_rng(1).random((1, size(150), size(2034)))
    product = engine.Product(list(values), np.array([2.0**40]))
    options = engine.Resampling(size(100_000)), range(size(100_000))
    swaps = find("randomization")
    drawn = spent(lambda: engine.for_each_batch(lambda *_: None, swaps, product, *options), REPEAT)
    some = data.select(systems=data.systems[:40])
    plain = {"metric": bleu, "n_resamples": size(2_000), "estimator": "plain"}  # nothing that is done once per pair
    compared = spent(lambda: _compare(some, "randomization", **plain))
    peers = {
        "the swaps and their product": drawn,
        "plain randomization of all pairs, BLEU anew on each": compared * (50 * 11_175 / 780),
    }
    return row(ours, peers, "compare from 40 systems and 2,000 shuffles")


def methods() -> dict[str, Any]:
    """Runs and segments: all 4,950 pairs of 100 methods × 10 runs, accuracy, 10,000 segments, b = 10⁵ and none."""
    import pairsig
    from pairsig.metrics import registry

    rng = np.random.default_rng(1)
    rates = 0.6 + 0.01 * rng.normal(size=(size(100), 10, 1))
    passed = (rng.random((size(100), 10, size(10_000))) < rates).astype(np.int64)
    counts = np.stack([passed, np.ones_like(passed)], axis=3)
    data = pairsig.Statistics.from_arrays({f"m{i}": rows for i, rows in enumerate(counts)}, ["correct", "total"])
    pairsig.compare_runs(data.select(systems=data.systems[:20]), metric="accuracy", n_resamples=100)
    n_run = size(20_000)
    options: dict[str, Any] = {"metric": "accuracy", "threads": _THREADS}
    closed = spent(lambda: pairsig.compare_runs(data, **options), REPEAT)
    drawn = spent(lambda: pairsig.compare_runs(data, n_resamples=n_run, **options), REPEAT)
    ours = closed + (drawn + closed * -1) * (100_000 / n_run)
    beside = bare(data.of(registry.metric("accuracy")), "accuracy", 100_000, n_run)
    note = f"from {n_run:,} resamples; closed forms alone {closed.cpu:.3g} CPU s, {closed.wall:.3g} s"
    return row(ours, beside, note)


def _f1_pair() -> tuple[np.ndarray, np.ndarray]:
    import simulate

    a, b = simulate.statistics("f1", n_systems=2, n_segments=size(2400)).counts
    return a, b


def _bootstrap(a: np.ndarray, b: np.ndarray, metric: str) -> Spent:
    """What b = 10⁶ resamples of a pair take."""
    import pairsig

    pairsig.bootstrap_test(a, b, metric=metric, n_resamples=2000, alternative="observed")  # compile
    options: dict[str, Any] = {"metric": metric, "n_resamples": MILLION, "threads": _THREADS, "alternative": "observed"}
    return spent(lambda: pairsig.bootstrap_test(a, b, **options), 3)


def _f1_gain(ma, pa, ga, mb, pb, gb, axis):  # type: ignore[no-untyped-def]
    """The gain of two systems' columns, as scipy's tests call it."""
    s = [x.sum(axis=axis) for x in (ma, pa, ga, mb, pb, gb)]
    return 200 * s[0] / (s[1] + s[2]) - 200 * s[3] / (s[4] + s[5])


def f1_pair() -> dict[str, Any]:
    """Bootstrap, one pair, F1, 2,400 sentences, b = 10⁶."""
    from scipy.stats import bootstrap

    a, b = _f1_pair()
    ours = _bootstrap(a, b, "f1")
    data = [*a.T.astype(float), *b.T.astype(float)]
    n_peer = size(10_000)
    options: dict[str, Any] = {"paired": True, "vectorized": True, "batch": 500, "method": "percentile"}
    peer = spent(lambda: bootstrap(data, _f1_gain, n_resamples=n_peer, **options))
    beside = {"scipy.stats.bootstrap": peer * (MILLION / n_peer)}
    return row(ours, bare(np.stack([a, b]), "f1", MILLION, MILLION) | beside, f"scipy from {n_peer:,} resamples")


def f1_memory() -> dict[str, Any]:
    """The same alone: its memory without scipy's."""
    import pairsig

    a, b = _f1_pair()
    return row(
        spent(lambda: pairsig.bootstrap_test(a, b, metric="f1", n_resamples=MILLION, alternative="observed")), {}
    )


def short_pairs() -> dict[str, Any]:
    """Bootstrap, all 1,770 pairs of 60 systems, accuracy, 50 segments, b = 10⁶: where counting pairs takes the time."""
    import simulate
    from pairsig.metrics import registry

    data = simulate.statistics("accuracy", n_systems=size(60), n_segments=50)
    _compare(data, n_resamples=2048)  # compile
    ours = spent(lambda: _compare(data, n_resamples=MILLION), REPEAT)
    return row(ours, bare(data.of(registry.metric("accuracy")), "accuracy", MILLION, MILLION))


def _bleu_pair(apart: float) -> tuple[dict[str, list[str]], list[str], np.ndarray, np.ndarray]:
    """Outputs of two systems, their reference, and the counts of both."""
    from pairsig.metrics import registry, translation

    rng = np.random.default_rng(1)
    words = np.array([f"w{number}" for number in range(3000)])
    reference = [" ".join(words[rng.zipf(1.3, size) % 3000]) for size in rng.integers(5, 45, size(2034))]

    def noisy(share: float) -> list[str]:
        lines = ([word if rng.random() > share else "x" for word in line.split()] for line in reference)
        return [" ".join(line) for line in lines]

    systems = {"a": noisy(0.30), "b": noisy(0.30 + apart)}
    counts = {name: translation.bleu_counts(lines, reference) for name, lines in systems.items()}
    columns = registry.metric("bleu").columns
    a, b = (np.stack([counts[name][column] for column in columns], axis=1) for name in "ab")
    return systems, reference, a, b


def _sacrebleu(systems: dict[str, list[str]], reference: list[str], test_type: str, n_samples: int) -> Spent:
    """What so many samples of sacrebleu take, without its extraction: ours starts from counts."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    metric = BLEU(references=[reference])

    def peer(number: int) -> Spent:
        test = PairedTest(
            list(systems.items()), {"BLEU": metric}, None, test_type=test_type, n_samples=number, n_jobs=1
        )
        return spent(test)

    n_peer = size(2000)
    return (peer(n_peer) + peer(10) * -1) * (n_samples / n_peer)


def bleu_pair() -> dict[str, Any]:
    """Bootstrap, one pair, BLEU, 2,034 segments, b = 10⁶."""
    systems, reference, a, b = _bleu_pair(0.01)
    ours = _bootstrap(a, b, "bleu")
    theirs = _sacrebleu(systems, reference, "bs", MILLION)
    beside = bare(np.stack([a, b]), "bleu", MILLION, MILLION) | {"sacrebleu": theirs}
    return row(ours, beside, f"sacrebleu from {size(2000):,} resamples, without its extraction")


def near_exact() -> dict[str, Any]:
    """Near-exact randomization, one pair, BLEU, 2,034 segments, b = 10⁵; others with the same standard error."""
    import pairsig

    systems, reference, a, b = _bleu_pair(0.003)
    n = size(100_000)
    options: dict[str, Any] = {"metric": "bleu", "n_resamples": n, "threads": _THREADS}
    pairsig.randomization_test(a, b, **options | {"n_resamples": 2000})  # compile
    ours = spent(lambda: pairsig.randomization_test(a, b, **options), 3)
    result = pairsig.randomization_test(a, b, **options)
    plain = spent(lambda: pairsig.randomization_test(a, b, estimator="plain", **options), 3)
    p, disagreement = result.pvalue, max(result.disagreement, 1 / n)
    needed = p * (1 - p) / disagreement  # shuffles of the plain estimate for one of ours, at least
    beside = {
        "plain shuffles": plain * needed,
        "sacrebleu": _sacrebleu(systems, reference, "ar", 1) * (needed * n),
    }
    ratios = [f"{(peer.cpu / ours.cpu) ** 0.5:.3g} ({name})" for name, peer in beside.items()]
    return row(
        ours,
        beside,
        f"p = {p:.4g}, {result.estimator}, {needed:.0f} times less variance per shuffle; standard error at equal CPU "
        f"time: larger by {' and '.join(ratios)}; sacrebleu from {size(2000):,} shuffles, without its extraction",
    )


def _accuracy_pair(n: int, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Table 1 of the exact-test paper: words normal (12.08, 10.60), share of correct ones normal (0.9543, 0.1116)."""
    rng = np.random.default_rng(n)
    words = np.maximum(1, np.rint(rng.normal(12.08, 10.60, n))).astype(int)

    def system(mean: float) -> np.ndarray:
        correct = np.clip(np.rint(words * rng.normal(mean, 0.1116, n)), 0, words).astype(int)
        return np.stack([correct, words], axis=1)

    return system(0.9543), system(0.9543 * factor)


def _brackets_pair(n: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Section 23's shape: 18.2 brackets a sentence, F1 about 90."""
    rng = np.random.default_rng(n)
    gold = 1 + rng.poisson(17.2, n)

    def system(share: float) -> np.ndarray:
        matched = rng.binomial(gold, share)
        return np.stack([matched, matched + rng.binomial(gold - matched, 0.95), gold], axis=1)

    return system(0.90), system(0.90 - apart)


def _programme(a: np.ndarray, b: np.ndarray) -> float:
    """Figure 2 of the exact-test paper's draft as fast as numpy can: floats, the array growing with the sums."""
    differences = a[:, 0] - b[:, 0]
    sizes = np.abs(differences)
    masses, top = np.zeros(2 * int(sizes.sum()) + 1), 0
    masses[0] = 1.0
    for size in sizes.tolist():
        before = 0.5 * masses[: top + 1]
        top += 2 * size
        masses[: top + 1] = 0.0
        masses[: top + 1 - 2 * size] += before
        masses[2 * size : top + 1] += before
    return float(masses[np.abs(np.arange(len(masses)) - sizes.sum()) >= abs(differences.sum())].sum())


_SWAPS: dict[str, Any] = {"permutation_type": "samples", "vectorized": True, "batch": 100, "rng": 1}
"""Options of `scipy.stats.permutation_test`."""


def _exact_accuracy(n: int, factor: float) -> dict[str, Any]:
    from scipy.stats import permutation_test

    from pairsig.stats.exact import exact_test

    a, b = _accuracy_pair(n, factor)
    p = exact_test(a, b, metric="accuracy").pvalue
    ours = spent(lambda: [exact_test(a, b, metric="accuracy") for _ in range(20)]) * (1 / 20)
    n_peer, some = 10_000, size(10_000) * 1000 // n  # scipy's time is linear in both
    data = (a[:, 0].astype(float), b[:, 0].astype(float))

    def difference(x, y, axis):  # type: ignore[no-untyped-def]
        return x.sum(axis=axis) - y.sum(axis=axis)

    peer = spent(lambda: permutation_test(data, difference, n_resamples=some, **_SWAPS))
    beside = {"scipy.stats.permutation_test, 10⁴ resamples": peer * (n_peer / some)}
    note = f"scipy from {some:,} resamples; p = {p:.6g}"
    if n <= 10_000:
        theirs = _programme(a, b)
        beside["the dynamic programme in numpy"] = spent(lambda: _programme(a, b))
        note += f", by the programme {theirs:.6g}"
    return row(ours, beside, note)


def exact_accuracy() -> dict[str, Any]:
    """Exact test, one pair, accuracy, 10,000 sentences."""
    return _exact_accuracy(size(10_000), 0.99)


def exact_accuracy_large() -> dict[str, Any]:
    """Exact test, one pair, accuracy, 100,000 sentences."""
    return _exact_accuracy(size(100_000), 0.998)


def _exact_f1(n: int, apart: float) -> dict[str, Any]:
    import pairsig
    from pairsig.stats.exact import exact_test

    a, b = _brackets_pair(n, apart)
    p = exact_test(a, b, metric="f1").pvalue
    ours = spent(lambda: exact_test(a, b, metric="f1"), 5)
    pairsig.randomization_test(a, b, metric="f1", n_resamples=100)
    peer = spent(lambda: pairsig.randomization_test(a, b, metric="f1", n_resamples=size(10_000)))
    return row(ours, {"our own 10⁴ shuffles": peer}, f"p = {p:.6g}")


def exact_f1() -> dict[str, Any]:
    """Exact test, one pair, F1, 2,400 sentences of section 23's shape."""
    return _exact_f1(size(2400), 0.005)


def exact_f1_large() -> dict[str, Any]:
    """Exact test, one pair, F1, 100,000 sentences."""
    return _exact_f1(size(100_000), 0.001)


def exact_bootstrap_test() -> dict[str, Any]:
    """Exact bootstrap, one pair, UAS, 2,000 sentences."""
    import pairsig
    from pairsig.stats.exact import exact_bootstrap_test

    a, b = _accuracy_pair(size(2000), 0.98)
    p = exact_bootstrap_test(a, b, metric="uas", alternative="observed").pvalue
    ours = spent(lambda: exact_bootstrap_test(a, b, metric="uas", alternative="observed"), 3)
    pairsig.bootstrap_test(a, b, metric="uas", n_resamples=2000, alternative="observed")
    peer = spent(lambda: pairsig.bootstrap_test(a, b, metric="uas", n_resamples=MILLION, alternative="observed"))
    return row(ours, {"our own 10⁶ resamples": peer}, f"p = {p:.6g}")


def _all_exact(data, metric: str, test: str, drawn: str, n_peer: int) -> dict[str, Any]:  # type: ignore[no-untyped-def]
    """All pairs without drawing, beside the same test at b = 10⁶ and one call of scipy's a pair, from fewer."""
    from scipy.stats import binomtest, permutation_test

    from pairsig.metrics import registry

    few = data.select(systems=data.systems[:3])
    _compare(few, test, metric=metric)  # compile
    plain: dict[str, Any] = {"metric": metric, "estimator": "plain"}  # nothing that is done once per pair
    _compare(few, drawn, n_resamples=100, **plain)
    table = _compare(data, test, metric=metric)
    ours = spent(lambda: _compare(data, test, metric=metric))
    peer = spent(lambda: _compare(data, drawn, n_resamples=n_peer, **plain)) * (MILLION / n_peer)
    beside, note = {"our own 10⁶": peer}, f"ours from {n_peer:,}"
    counts = data.of(registry.metric(metric)).astype(float)
    if metric == "accuracy" and test == "exact":
        some = range(1, min(201, len(counts)))

        def scipys() -> None:
            for system in some:
                won = int((counts[0, :, 0] > counts[system, :, 0]).sum())
                lost = int((counts[0, :, 0] < counts[system, :, 0]).sum())
                binomtest(won, won + lost)

        beside["scipy.stats.binomtest, a call a pair"] = spent(scipys) * (len(table) / len(some))
    elif test == "exact":

        def swapped(x, y, axis):  # type: ignore[no-untyped-def]
            # One number a sentence and system, so that all its columns are swapped together.
            a, b = (columns[part.astype(int)] for part in (x, y))
            return _f1_gain(*np.moveaxis(a, -1, 0), *np.moveaxis(b, -1, 0), axis=axis)

        columns = np.concatenate([counts[0], counts[1]])
        n = counts.shape[1]
        numbers = (np.arange(n, dtype=float), np.arange(n, 2 * n, dtype=float))
        one_pair = spent(lambda: permutation_test(numbers, swapped, n_resamples=1000, **_SWAPS))
        beside["scipy.stats.permutation_test, 10⁴ resamples, a call a pair"] = one_pair * (10 * len(table))
        note += ", scipy from one pair and 1,000 resamples"
    return row(ours, beside, note)


def exact_pairs() -> dict[str, Any]:
    """Exact test, all 2,016 pairs of conll2017-en_pud (F1 of words)."""
    from pairsig.core import statistics

    data = statistics.read("resources/statistics/conll2017-en_pud.parquet")
    data = data.select(systems=data.systems[: size(len(data.systems))])
    return _all_exact(data, "conll_uas", "exact", "randomization", size(20_000))


def _items():  # type: ignore[no-untyped-def]
    """500 systems on 10,000 pass/fail items."""
    from pairsig import Statistics

    n = size(500)
    passed = np.random.default_rng(1).random((n, size(10_000))) < np.linspace(0.3, 0.8, n)[:, None]
    counts = {f"s{number}": np.stack([row, np.ones_like(row)], axis=1).astype(int) for number, row in enumerate(passed)}
    return Statistics.from_arrays(counts, ["correct", "total"])


def exact_items() -> dict[str, Any]:
    """Exact test, all 124,750 pairs of 500 systems, 10,000 pass/fail items."""
    return _all_exact(_items(), "accuracy", "exact", "randomization", size(500))


def exact_bootstrap_items() -> dict[str, Any]:
    """Exact bootstrap of the same."""
    return _all_exact(_items(), "accuracy", "exact-bootstrap", "bootstrap", size(2_000))


def public_items() -> dict[str, Any]:
    """`pairsig.compare` of the same, with intervals, Holm's adjustment and the table."""
    import pairsig

    data = _items()
    few = data.select(systems=data.systems[:3])
    pairsig.compare(few, metric="accuracy"), _compare(few, "exact", metric="accuracy")  # compile
    ours = spent(lambda: pairsig.compare(data, metric="accuracy", threads=_THREADS), 2)
    engine = spent(lambda: _compare(data, "exact", metric="accuracy", threads=_THREADS), 2)
    return row(ours, {"bare p-values of all pairs": engine})


def bleu_large() -> dict[str, Any]:
    """Bootstrap, all 44,850 pairs of 300 systems, BLEU, 20,000 segments, b = 10⁵."""
    import simulate
    from pairsig.metrics import registry

    n_resamples, some = size(100_000), size(2_000)
    data = simulate.statistics("bleu", n_systems=size(300), n_segments=size(20_000), n_groups=2)
    _compare(data.select(segments=slice(0, 100)), n_resamples=100)  # compile
    ours = extrapolated(lambda number: _compare(data, n_resamples=number), n_resamples, some)
    return row(ours, bare(data.of(registry.metric("bleu")), "bleu", n_resamples, some), f"from {some:,} resamples")


def items_large() -> dict[str, Any]:
    """Exact test, all 499,500 pairs of 1,000 systems, 100,000 pass/fail items, from a Parquet file."""
    import tempfile

    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy.stats import binomtest

    from pairsig.core import statistics
    from pairsig.io.memory import Memory

    n_systems, n_items = size(1000), size(100_000)
    schema = pa.schema([("system", pa.string()), ("segment", pa.string()), ("value", pa.int64())])
    items = pa.array([f"item{number}" for number in range(n_items)])
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        with pq.ParquetWriter(path, schema) as writer:
            for number in range(n_systems):
                passed = rng.random(n_items) < 0.3 + 0.5 * number / n_systems
                columns = [pa.array([f"s{number}"] * n_items), items, pa.array(passed.astype(np.int64))]
                writer.write_table(pa.table(columns, schema=schema))
        read = spent(lambda: statistics.read(path, memory=Memory.of()))
        ours = spent(lambda: _compare(statistics.read(path, memory=Memory.of()), "exact", metric="mean"))
    won, lost = rng.integers(20_000, 30_000, (2, 200))
    peer = spent(lambda: [binomtest(a, a + b) for a, b in zip(won.tolist(), lost.tolist(), strict=True)])
    beside = {"scipy.stats.binomtest, a call a pair": peer * (n_systems * (n_systems - 1) / 2 / len(won))}
    return row(ours, beside, f"scipy without counting items; of ours, reading takes {read.cpu:.0f} CPU seconds")


def benchmark_items() -> dict[str, Any]:
    """A leaderboard: exact test, all 406 pairs of 29 models on 12,032 items that are passed or failed."""
    from scipy.stats import binomtest

    from pairsig import Statistics

    rng = np.random.default_rng(1)
    passed = (rng.random((29, size(12_032))) < np.linspace(0.2, 0.7, 29)[:, None]).astype(np.int64)
    counts = np.stack([passed, np.ones_like(passed)], axis=2)
    data = Statistics.from_arrays({f"m{number}": rows for number, rows in enumerate(counts)}, ["correct", "total"])
    _compare(data.select(segments=slice(50)), "exact", metric="accuracy")  # compile
    ours = spent(lambda: _compare(data, "exact", metric="accuracy"), repeat=5)

    def peer() -> None:
        for number in range(100):
            passed_a, passed_b = passed[number % 29], passed[(7 * number + 1) % 29]
            wins, losses = int((passed_a > passed_b).sum()), int((passed_a < passed_b).sum())
            binomtest(wins, max(wins + losses, 1))

    return row(ours, {"numpy and scipy.stats.binomtest, a pair at a time": spent(peer) * 4.06}, "scipy from 100 pairs")


def scores_of_documents() -> dict[str, Any]:
    """Bootstrap of means, all 1,711 pairs of 59 systems on 10,596 segments with four decimals, b = 10⁶."""
    from pairsig import Statistics
    from pairsig.metrics import registry

    rng = np.random.default_rng(1)
    scores = np.round(100 * rng.beta(2, 2, size=(59, size(10_596), 1)), 4)
    data = Statistics.from_arrays({f"s{number}": rows for number, rows in enumerate(scores)}, ["value"])
    _compare(data, metric="mean", n_resamples=2048)  # compile, and let BLAS start
    n_run = MILLION // 10
    ours = spent(lambda: _compare(data, metric="mean", n_resamples=n_run)) * 10
    return row(ours, bare(data.of(registry.metric("mean")), "mean", MILLION, n_run // 2), "from 100,000 resamples")


def tables() -> dict[str, Any]:
    """A CSV with 20 columns of pass/fail items, 200,000 rows: reading, and exact tests of the first with the others."""
    import tempfile

    import pandas as pd

    import pairsig

    names, n_items = [f"s{number}" for number in range(20)], size(200_000)
    passed = np.random.default_rng(1).random((n_items, len(names))) < np.linspace(0.4, 0.6, len(names))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.csv"
        pd.DataFrame(passed.astype(int), columns=names).rename_axis("id").to_csv(path)
        del passed
        pairsig.compare({"a": [0, 1, 1], "b": [1, 0, 1]}, "exact")  # import
        ours = spent(lambda: pairsig.compare(pairsig.read(path, systems=names), "exact", baseline="s0"))
        peer = spent(lambda: pd.read_csv(path))
        data = pairsig.read(path, systems=names)
        test = spent(lambda: pairsig.compare(data, "exact", baseline="s0"))
    return row(
        ours, {"pandas.read_csv and the test": peer + test}, f"of both, the test takes {test.cpu:.2g} CPU seconds"
    )


def _log_of_samples(folder: Path, system: str, n_items: int) -> Path:
    """Samples of a multiple-choice task as lm-evaluation-harness writes them, 3 KB each; the folder of the model."""
    rng = np.random.default_rng(1)
    words = np.array(["the", "of", "a", "river", "question", "that", "answers", "14", "cities", "lived", "passage"])
    (folder / system).mkdir()
    with (folder / system / "samples_rivers_2026-01-01T00-00-00.000000.jsonl").open("w", encoding="utf-8") as file:
        for item in range(n_items):
            question = " ".join(rng.choice(words, 70))
            choices = [" ".join(choice) for choice in rng.choice(words, (4, 5))]
            likelihoods = [[str(-value), "False"] for value in rng.random(4)]
            sample = {
                "doc_id": item, "doc": {"question": question, "choices": choices, "answer": 1}, "target": "1",
                "arguments": {f"gen_args_{i}": {"arg_0": question, "arg_1": text} for i, text in enumerate(choices)},
                "resps": [[pair] for pair in likelihoods], "filtered_resps": likelihoods, "filter": "none",
                "metrics": ["acc", "acc_norm"], "doc_hash": f"{item:064}", "prompt_hash": f"{item:064}",
                "target_hash": f"{item:064}", "acc": float(rng.random() < 0.5), "acc_norm": float(rng.random() < 0.5),
            }  # fmt: skip
            file.write(json.dumps(sample) + "\n")
    return folder / system


def logs() -> dict[str, Any]:
    """Two logs of lm-evaluation-harness with 25,000 samples each: reading, with the same items paired."""
    import tempfile

    import pairsig

    with tempfile.TemporaryDirectory() as folder:
        logged = [_log_of_samples(Path(folder), system, size(25_000)) for system in "ab"]
        files = [next(path.iterdir()) for path in logged]

        def parsed() -> None:
            for path in files:
                with path.open(encoding="utf-8") as lines:
                    for line in lines:
                        json.loads(line)

        pairsig.read(_log_of_samples(Path(folder), "first", 20))  # import
        ours = spent(lambda: pairsig.read(logged), 3)
        n_bytes = sum(path.stat().st_size for path in files)
        return row(ours, {"json.loads of each line": spent(parsed, 3)}, f"{n_bytes / 2e6:.0f} MB each")


def _process(*command: str, folder: str) -> Spent:
    """What a process takes from its start to its end, the fewest CPU seconds of five runs."""
    import resource

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(1 if SMALL else 6):  # the first one may have to compile modules to bytecode
        wall, cpu = time.perf_counter(), used()
        subprocess.run([sys.executable, *command], check=True, capture_output=True, cwd=folder, env=environment)
        times.append(Spent(used() - cpu, time.perf_counter() - wall))
    return min(times)


def _started(package: str, files: dict[str, list[str]], *options: str) -> dict[str, Any]:
    """The command `compare` for two files of some lines, beside the import of the package that it needs at least."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, lines in files.items():
            (Path(folder) / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        ours = _process("-m", "pairsig", "compare", "a", "b", *options, folder=folder)
        return row(ours, {f"import {package}": _process("-c", f"import {package}", folder=folder)})


def start_items() -> dict[str, Any]:
    """A new process: `pairsig compare` for two files of 20 pass/fail items."""
    passed = np.random.default_rng(1).random((2, 20)) < [[0.6], [0.5]]
    return _started("numpy", {name: [*map(str, items.astype(int))] for name, items in zip("ab", passed, strict=True)})


def start_bleu() -> dict[str, Any]:
    """A new process: `pairsig compare` for two texts of 20 lines and their reference, BLEU."""
    reference = [f"line {number} of a text that is not very long , but long enough" for number in range(20)]
    texts = {"a": [line.replace("not", "hardly") for line in reference], "b": reference[::-1], "reference": reference}
    return _started("numpy, sacrebleu.metrics", texts, "--reference", "reference", "--metric", "bleu")


EXACT = (
    exact_accuracy, exact_accuracy_large, exact_f1, exact_f1_large, exact_bootstrap_test, exact_pairs, exact_items,
    exact_bootstrap_items, public_items, items_large,
)  # fmt: skip
_CASES = (
    all_pairs, ranks, bleu_large, short_pairs, f1_pair, f1_memory, bleu_pair, near_exact, methods, benchmark_items,
    scores_of_documents, tables, logs, start_items, start_bleu, *EXACT,
)  # fmt: skip
CASES = {case.__name__: case for case in _CASES}


def alone(name: str) -> dict[str, Any]:
    """The result of a case, with the peak memory of this process."""
    import resource

    return CASES[name]() | {"mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def account(results: Path = Path("results")) -> None:
    """Print the CPU seconds and the memory of the last run of the study by rule, as Snakemake measured them.

    Snakemake asks for the CPU seconds of a job every half a second, and every 30 seconds after 15: it misses its end.
    """
    import pandas as pd

    jobs = []
    for path in sorted(results.glob("benchmarks/**/*.tsv")):
        measured = pd.read_csv(path, sep="\t", na_values="-").iloc[-1]
        rule = path.relative_to(results / "benchmarks").parts[0].removesuffix(".tsv")
        jobs.append((rule, measured["cpu_time"], measured["max_rss"]))
    if not jobs:
        return
    by_rule = pd.DataFrame(jobs, columns=["rule", "cpu", "mib"]).groupby("rule")
    table = by_rule.agg(jobs=("cpu", "size"), cpu_seconds=("cpu", "sum"), most_mib=("mib", "max"))
    table = table.sort_values("cpu_seconds", ascending=False)
    print(f"the study in {results}, by rule\n{table.round(1).to_string()}")
    if (of_runs := results / "benchmarks" / "cpu_seconds.txt").exists():
        whole = sum(map(float, of_runs.read_text(encoding="utf-8").split()))
        remainder = whole - table["cpu_seconds"].sum()
        print(f"{whole:.1f} CPU s in all: {remainder:.1f} for Snakemake, the report and what its measurements miss\n")


def main() -> None:
    """Run the named cases, or all of them, and print what each took; before all, the account of the last run."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--small"]
    if arguments[:1] == ["--alone"]:
        print(json.dumps(alone(arguments[1])))
        return
    if not arguments:
        account()
    for name in arguments or CASES:
        if SMALL:
            measured = alone(name)
        else:
            command = [sys.executable, __file__, "--alone", name]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            measured = json.loads(done.stdout.splitlines()[-1])
        ours = Spent(*measured["ours"])
        print(f"{name}: {CASES[name].__doc__}")
        print(f"  ours {ours.cpu:.3g} CPU s, {ours.wall:.3g} s; peak of the whole process {measured['mib']:.0f} MiB")
        for label, times in measured["beside"].items():
            peer = Spent(*times)
            cost = f"{peer.cpu:.3g} CPU s, {peer.wall:.3g} s"
            cpu, wall = peer.cpu / ours.cpu, peer.wall / ours.wall
            if label.startswith("bare "):
                print(f"  {label}: {cost}: ours takes {1 / cpu:.2f} times the CPU time, {1 / wall:.2f} times the time")
            else:
                print(f"  {label}: {cost}: {cpu:.3g} times the CPU seconds of ours, {wall:.3g} times the time")
        print(f"  {measured['note']}\n" if measured["note"] else "", flush=True)


if __name__ == "__main__":
    main()
