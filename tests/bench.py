"""Speed and memory, each as a ratio to its limit or to a peer measured in the same run: `make bench`.

Every case runs in a process of its own, so that its peak memory is its own. Nothing here is a test: machines differ,
ratios are for reading.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

MILLION = 1_000_000


def seconds(function: Callable[[], object], repeat: int = 1) -> float:
    """Fastest of `repeat` runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def all_pairs() -> dict[str, object]:
    """All 11,175 pairs of 150 systems, BLEU on 2,034 segments, b = 10^6, against bare GEMM + bare draws."""
    from threadpoolctl import threadpool_limits

    import pairsig
    import simulate
    from pairsig import engine, streams
    from pairsig.lattice import lattice
    from pairsig.metrics import registry

    data = simulate.statistics("bleu", n_systems=150, n_segments=2034, n_groups=2)
    pairsig.compare(data, n_resamples=2048)  # compile, and let BLAS start
    ours = seconds(lambda: pairsig.compare(data, n_resamples=MILLION))

    # The limits on a tenth of the work: BLAS with its own threads on large blocks, draws on as many threads.
    counts = data.of(registry.metric("bleu"))
    matrix = engine.Product(list(np.moveaxis(counts, -1, 0)), lattice(counts)).matrix
    block = streams.bootstrap_counts(1, 0, 4000, 2034)
    gemm = 10 * seconds(lambda: [matrix @ block.T for _ in range(25)])
    with threadpool_limits(1), ThreadPoolExecutor(2) as workers:

        def draw(worker: int) -> None:
            out = np.empty((1000, 2034), dtype=np.float32)
            for number in range(worker, 100, 2):
                streams.bootstrap_counts(1, 1000 * number, 1000, 2034, out=out)

        draws = 10 * seconds(lambda: list(workers.map(draw, range(2))))
    return {
        "ours": ours,
        "other": gemm + draws,
        "what": f"bare GEMM {gemm:.1f} s at {2 * matrix.size * MILLION / gemm / 1e9:.0f} GFLOP/s, draws {draws:.1f} s",
        "goal": "ratio of times at most 1.5",
        "ratio": ours / (gemm + draws),
    }


def _f1_pair() -> tuple[np.ndarray, np.ndarray]:
    import simulate

    a, b = simulate.statistics("f1", n_systems=2, n_segments=2400).counts
    return a, b


def f1_pair() -> dict[str, object]:
    """One pair, F1 on 2,400 sentences, b = 10^6, against scipy.stats.bootstrap at b = 10^4."""
    from scipy.stats import bootstrap

    import pairsig

    a, b = _f1_pair()
    pairsig.bootstrap_test(a, b, metric="f1", n_resamples=2000)
    ours = seconds(lambda: pairsig.bootstrap_test(a, b, metric="f1", n_resamples=MILLION), 3)

    def gain(ma, pa, ga, mb, pb, gb, axis):  # type: ignore[no-untyped-def]
        s = [x.sum(axis=axis) for x in (ma, pa, ga, mb, pb, gb)]
        return 200 * s[0] / (s[1] + s[2]) - 200 * s[3] / (s[4] + s[5])

    data = [*a.T.astype(float), *b.T.astype(float)]
    n_peer = 10_000
    peer = seconds(
        lambda: bootstrap(data, gain, paired=True, vectorized=True, n_resamples=n_peer, batch=500, method="percentile")
    )
    return {
        "ours": ours,
        "other": peer * MILLION / n_peer,
        "what": f"scipy.stats.bootstrap, from {n_peer:,} resamples",
        "goal": "at most 10 s and 300 MiB; at least 10 times scipy",
        "ratio": peer * MILLION / n_peer / ours,
    }


def f1_memory() -> dict[str, object]:
    """The same alone: its memory without scipy's, beside importing the library."""
    import pairsig

    a, b = _f1_pair()
    ours = seconds(lambda: pairsig.bootstrap_test(a, b, metric="f1", n_resamples=MILLION))
    return {"ours": ours, "other": 10.0, "what": "goal", "goal": "at most 10 s and 300 MiB", "ratio": 10.0 / ours}


def bleu_pair() -> dict[str, object]:
    """One pair, BLEU on 2,034 segments, b = 10^6, against sacrebleu's paired bootstrap at b = 2,000."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    import pairsig
    from pairsig.metrics import translation

    rng = np.random.default_rng(1)
    words = np.array([f"w{number}" for number in range(3000)])
    reference = [" ".join(words[rng.zipf(1.3, size) % 3000]) for size in rng.integers(5, 45, 2034)]

    def noisy(share: float) -> list[str]:
        kept = ([word if rng.random() > share else "x" for word in line.split()] for line in reference)
        return [" ".join(line) for line in kept]

    systems = {"a": noisy(0.30), "b": noisy(0.31)}
    counts = {name: translation.bleu_counts(lines, reference) for name, lines in systems.items()}
    from pairsig.metrics import registry

    columns = registry.metric("bleu").columns
    a, b = (np.stack([counts[name][column] for column in columns], axis=1) for name in "ab")
    pairsig.bootstrap_test(a, b, metric="bleu", n_resamples=2000)
    ours = seconds(lambda: pairsig.bootstrap_test(a, b, metric="bleu", n_resamples=MILLION), 3)

    metric = BLEU(references=[reference])
    n_peer = 2000

    def peer() -> object:
        test = PairedTest(list(systems.items()), {"BLEU": metric}, None, test_type="bs", n_samples=n_peer, n_jobs=1)
        return test()

    short = seconds(lambda: PairedTest(list(systems.items()), {"BLEU": metric}, None, "bs", n_samples=10)())
    theirs = (seconds(peer) - short) * MILLION / n_peer  # extraction taken off: ours starts from counts too
    return {
        "ours": ours,
        "other": theirs,
        "what": f"sacrebleu's paired bootstrap, from {n_peer:,} resamples, without its extraction",
        "goal": "at least 50 times sacrebleu",
        "ratio": theirs / ours,
    }


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
    law, top = np.zeros(2 * int(sizes.sum()) + 1), 0
    law[0] = 1.0
    for size in sizes.tolist():
        before = 0.5 * law[: top + 1]
        top += 2 * size
        law[: top + 1] = 0.0
        law[: top + 1 - 2 * size] += before
        law[2 * size : top + 1] += before
    return float(law[np.abs(np.arange(len(law)) - sizes.sum()) >= abs(differences.sum())].sum())


def _exact_accuracy(n: int, factor: float, goal: str) -> dict[str, object]:
    from scipy.stats import permutation_test

    from pairsig.exact import exact_test

    a, b = _accuracy_pair(n, factor)
    p = exact_test(a, b).pvalue
    ours = seconds(lambda: exact_test(a, b), 10)
    n_peer, some = 10_000, 10_000 * 1000 // n  # scipy's time is linear in both
    data = (a[:, 0].astype(float), b[:, 0].astype(float))

    def difference(x, y, axis):  # type: ignore[no-untyped-def]
        return x.sum(axis=axis) - y.sum(axis=axis)

    peer = seconds(
        lambda: permutation_test(
            data, difference, permutation_type="samples", vectorized=True, n_resamples=some, batch=100, rng=1
        )
    )
    what = f"scipy.stats.permutation_test, {n_peer:,} resamples, from {some:,}; p = {p:.6g}"
    if n <= 10_000:
        start = time.perf_counter()
        theirs = _programme(a, b)
        what += f"; dynamic programme {time.perf_counter() - start:.2f} s, p = {theirs:.6g}"
    return {
        "ours": ours,
        "other": peer * n_peer / some,
        "what": what,
        "goal": goal,
        "ratio": peer * n_peer / some / ours,
    }


def exact_accuracy() -> dict[str, object]:
    """Exact test, accuracy on 10,000 sentences, against scipy.stats.permutation_test and the dynamic programme."""
    return _exact_accuracy(10_000, 0.99, "at most 10 ms")


def exact_accuracy_large() -> dict[str, object]:
    """Exact test, accuracy on 100,000 sentences, against scipy.stats.permutation_test."""
    return _exact_accuracy(100_000, 0.998, "at most 50 ms")


def _exact_f1(n: int, apart: float, goal: str) -> dict[str, object]:
    import pairsig
    from pairsig.exact import exact_test

    a, b = _brackets_pair(n, apart)
    p = exact_test(a, b, metric="f1").pvalue
    ours = seconds(lambda: exact_test(a, b, metric="f1"), 5)
    n_peer = 10_000
    pairsig.randomization_test(a, b, metric="f1", n_resamples=100)
    peer = seconds(lambda: pairsig.randomization_test(a, b, metric="f1", n_resamples=n_peer))
    return {
        "ours": ours,
        "other": peer,
        "what": f"randomization_test, {n_peer:,} resamples; exact p = {p:.6g}",
        "goal": goal,
        "ratio": peer / ours,
    }


def exact_f1() -> dict[str, object]:
    """Exact test, F1 on 2,400 sentences of section 23's shape, against our own randomization."""
    return _exact_f1(2400, 0.005, "at most 1 s")


def exact_f1_large() -> dict[str, object]:
    """Exact test, F1 on 100,000 sentences, against our own randomization."""
    return _exact_f1(100_000, 0.001, "at most 60 s and 2048 MiB")


def exact_bootstrap() -> dict[str, object]:
    """Exact bootstrap, UAS on 2,000 sentences, against our own bootstrap at b = 10^6."""
    import pairsig
    from pairsig.exact import exact_bootstrap

    a, b = _accuracy_pair(2000, 0.98)
    p = exact_bootstrap(a, b, metric="uas").pvalue
    ours = seconds(lambda: exact_bootstrap(a, b, metric="uas"), 3)
    pairsig.bootstrap_test(a, b, metric="uas", n_resamples=2000)
    start = time.perf_counter()
    sampled = pairsig.bootstrap_test(a, b, metric="uas", n_resamples=MILLION)
    peer = time.perf_counter() - start
    return {
        "ours": ours,
        "other": peer,
        "what": f"bootstrap_test, p = {sampled.pvalue:.6g}; exact p = {p:.6g}",
        "goal": "at most 2 s",
        "ratio": peer / ours,
    }


def _all_exact(data, metric: str, test: str, drawn: str, n_peer: int) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """All pairs without drawing, against the same test at b = 10^6, from fewer resamples."""
    import pairsig

    few = data.select(systems=data.systems[:3])
    pairsig.compare(few, test, metric=metric)  # compile
    pairsig.compare(few, drawn, metric=metric, n_resamples=100)
    table = pairsig.compare(data, test, metric=metric)
    ours = seconds(lambda: pairsig.compare(data, test, metric=metric))
    peer = seconds(lambda: pairsig.compare(data, drawn, metric=metric, n_resamples=n_peer))
    return {
        "ours": ours,
        "other": peer * MILLION / n_peer,
        "what": f"{len(table):,} pairs by {drawn}, b = 10^6, from {n_peer:,}",
        "goal": "faster than b = 10^6",
        "ratio": peer * MILLION / n_peer / ours,
    }


def exact_pairs() -> dict[str, object]:
    """Exact test, all 2,016 pairs of conll2017-en_pud (UAS of words that differ: F1), against randomization."""
    from pairsig import statistics

    data = statistics.read("resources/statistics/conll2017-en_pud.parquet")
    return _all_exact(data, "conll_uas", "exact", "randomization", 20_000)


def _items():  # type: ignore[no-untyped-def]
    """500 systems on 10,000 pass/fail items."""
    from pairsig import Statistics

    passed = np.random.default_rng(1).random((500, 10_000)) < np.linspace(0.3, 0.8, 500)[:, None]
    counts = {f"s{number}": np.stack([row, np.ones_like(row)], axis=1).astype(int) for number, row in enumerate(passed)}
    return Statistics.from_arrays(counts, ["correct", "total"])


def exact_items() -> dict[str, object]:
    """Exact test, all 124,750 pairs of 500 systems on 10,000 pass/fail items, against randomization."""
    return _all_exact(_items(), "accuracy", "exact", "randomization", 500)


def exact_bootstrap_items() -> dict[str, object]:
    """Exact bootstrap of the same, against the bootstrap."""
    return _all_exact(_items(), "accuracy", "exact-bootstrap", "bootstrap", 2_000)


def bleu_large() -> dict[str, object]:
    """All 44,850 pairs of 300 systems, BLEU on 20,000 segments, b = 10^5 (from 1,000), against its bare parts."""
    import pairsig
    import simulate
    from pairsig import engine, streams
    from pairsig.lattice import lattice
    from pairsig.metrics import registry

    n_resamples, some = 100_000, 1_000
    data = simulate.statistics("bleu", n_systems=300, n_segments=20_000, n_groups=2)
    pairsig.compare(data.select(segments=slice(0, 100)), n_resamples=100)  # compile
    start, cpu = time.perf_counter(), time.process_time()
    pairsig.compare(data, n_resamples=some)
    wall, ours = time.perf_counter() - start, time.process_time() - cpu
    fewer = time.process_time()
    pairsig.compare(data, n_resamples=2)  # what does not grow with the resamples
    fixed = time.process_time() - fewer
    counts = data.of(registry.metric("bleu"))
    product = engine.Product(list(np.moveaxis(counts, -1, 0)), lattice(counts))
    matrix, block = product.matrix, np.empty((104, 20_000), dtype=product.dtype)
    start = time.process_time()
    for number in range(some // len(block)):
        streams.bootstrap_counts(1, len(block) * number, len(block), 20_000, out=block)
    draws = (time.process_time() - start) * some / (some // len(block) * len(block))
    start = time.process_time()
    for _ in range(some // len(block)):
        matrix @ block.T
    bare = (time.process_time() - start) * some / (some // len(block) * len(block))
    scale = n_resamples / some
    return {
        "ours": fixed + scale * (ours - fixed),
        "other": scale * (draws + bare),
        "what": f"CPU seconds of the bare product {scale * bare:.0f} and draws {scale * draws:.0f}; "
        f"wall of the part that was run {wall:.1f} s",
        "goal": "CPU seconds at most 1.5 times those of both",
        "ratio": (fixed + scale * (ours - fixed)) / (scale * (draws + bare)),
    }


def items_large() -> dict[str, object]:
    """Exact test, 499,500 pairs of 1,000 systems on 100,000 pass/fail items read from Parquet, against binomtest."""
    import tempfile
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy.stats import binomtest

    import pairsig

    n_systems, n_items = 1000, 100_000
    schema = pa.schema([("system", pa.string()), ("segment", pa.string()), ("correct", pa.int64())])
    items = pa.array([f"item{number}" for number in range(n_items)])
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        with pq.ParquetWriter(path, schema) as writer:
            for number in range(n_systems):
                passed = rng.random(n_items) < 0.3 + 0.5 * number / n_systems
                columns = [pa.array([f"s{number}"] * n_items), items, pa.array(passed.astype(np.int64))]
                writer.write_table(pa.table(columns, schema=schema))
        size = path.stat().st_size
        start, cpu = time.perf_counter(), time.process_time()
        table = pairsig.compare(path, "exact", metric="mean")
        wall, ours = time.perf_counter() - start, time.process_time() - cpu
    # scipy's tests of some pairs whose items are counted already.
    won, lost = rng.integers(20_000, 30_000, (2, 200))
    cpu = time.process_time()
    for a, b in zip(won.tolist(), lost.tolist(), strict=True):
        binomtest(a, a + b)
    peer = (time.process_time() - cpu) * len(table) / len(won)
    return {
        "ours": ours,
        "other": peer,
        "what": f"scipy.stats.binomtest, CPU seconds from {len(won)} pairs, the counting of items left out; our CPU "
        f"seconds, reading {size / 2**20:.0f} MiB included; wall {wall:.1f} s",
        "goal": "faster",
        "ratio": peer / ours,
    }


EXACT = (
    exact_accuracy, exact_accuracy_large, exact_f1, exact_f1_large, exact_bootstrap, exact_pairs, exact_items,
    exact_bootstrap_items, items_large,
)  # fmt: skip
CASES = {case.__name__: case for case in (all_pairs, bleu_large, f1_pair, f1_memory, bleu_pair, *EXACT)}


def main() -> None:
    """Run the cases named, or all; a line each."""
    if len(sys.argv) > 2 and sys.argv[1] == "--alone":
        import resource

        result = CASES[sys.argv[2]]()
        result["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    for name in sys.argv[1:] or CASES:
        done = subprocess.run([sys.executable, __file__, "--alone", name], check=True, capture_output=True, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"{name}: {CASES[name].__doc__}")
        print(f"  ours {found['ours']:.3g} s, peak {found['mib']:.0f} MiB (whole process)")
        print(f"  other {found['other']:.3g} s: {found['what']}")
        print(f"  ratio {found['ratio']:.3g}; goal: {found['goal']}\n")


if __name__ == "__main__":
    main()
