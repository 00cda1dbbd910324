"""Speed in CPU seconds, each beside what it can be no faster than, or beside a limit: `make bench`.

A test that draws can be no faster than the bare draws and the bare product of draws and counts. Every case runs in a
process of its own. Nothing here is a test: machines differ, ratios are for reading. `make bench SMALL=yes` runs every
case once, on little data, which shows that it still runs; its ratios mean nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SMALL = "--small" in sys.argv
MILLION = 10_000 if SMALL else 1_000_000
THREADS = 2
REPEAT = 1 if SMALL else 3
"""Runs, of which the fastest counts: the speed of a machine with other work to do varies."""


def size(n: int) -> int:
    """How many systems, segments or resamples there are of what is `n` in earnest."""
    return max(20, n // 100) if SMALL else n


def spent(function: Callable[[], object]) -> float:
    """CPU seconds of the fastest of several runs."""
    times = []
    for _ in range(REPEAT):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def bare(counts: np.ndarray, metric: str, n_resamples: int, n_run: int) -> float:
    """The bare draws of so many resamples and the bare product, from fewer: on as many threads as the tests take."""
    from threadpoolctl import threadpool_limits

    from pairsig.core import draws, totals
    from pairsig.core.scores import Scorer
    from pairsig.metrics import registry

    product = Scorer(counts, registry.metric(metric)).product
    rows = min(1024, max(16, totals._BATCH_ELEMENTS // product.n_units))
    blocks = -(-n_run // rows)

    def work(worker: int) -> None:
        if product.n_multiplied <= totals._FEW_COLUMNS:  # one compiled loop does both
            multiplied = product.multiplier(rows, "resample")
            for number in range(worker, blocks, THREADS):
                multiplied(1, rows * number, rows)
            return
        drawn = np.ones((rows, product.n_units), dtype=product.dtype)
        for number in range(worker, blocks, THREADS):
            draws.bootstrap_counts(1, rows * number, rows, product.n_units, out=drawn)
            product.matrix @ drawn.T

    def all_threads() -> None:
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(THREADS) as workers:
            list(workers.map(work, range(THREADS)))

    all_threads()  # compile
    return spent(all_threads) * (n_resamples / (blocks * rows))


def one_pair(metric: str, n_segments: int) -> tuple[float, float, str]:
    """The bootstrap of two systems, b = 10⁶."""
    import pairsig
    import simulate

    data = simulate.statistics(metric, n_systems=2, n_segments=size(n_segments), spread=0.2)
    pairsig.bootstrap_test(*data.counts, metric=metric, n_resamples=2000)  # compile
    ours = spent(lambda: pairsig.bootstrap_test(*data.counts, metric=metric, n_resamples=MILLION))
    return ours, bare(data.counts, metric, MILLION, MILLION), "draws and product"


def f1_pair() -> tuple[float, float, str]:
    """Bootstrap, F1 of two systems, 2,400 sentences, b = 10⁶."""
    return one_pair("f1", 2400)


def bleu_pair() -> tuple[float, float, str]:
    """Bootstrap, BLEU of two systems, 2,034 segments, b = 10⁶."""
    return one_pair("bleu", 2034)


def many(metric: str, n_systems: int, n_segments: int) -> tuple[float, float, str]:
    """The bootstrap of all pairs, from a twentieth of 10⁶ resamples."""
    import simulate
    from pairsig.metrics import registry
    from study.test_sets import all_pairs

    data = simulate.statistics(metric, n_systems=size(n_systems), n_segments=size(n_segments), n_groups=2)
    n_run = MILLION // (20 if n_segments < 10_000 else 200)

    def run(n_resamples: int) -> float:
        return spent(lambda: all_pairs.compare(data, metric=metric, n_resamples=n_resamples))

    run(1000)  # compile
    ours = (run(n_run) - run(2)) * MILLION / n_run
    return ours, bare(data.of(registry.metric(metric)), metric, MILLION, n_run), "draws and product"


def all_pairs_bleu() -> tuple[float, float, str]:
    """Bootstrap, all 11,175 pairs of 150 systems, BLEU, 2,034 segments, b = 10⁶."""
    return many("bleu", 150, 2034)


def all_pairs_items() -> tuple[float, float, str]:
    """Bootstrap, all 44,850 pairs of 300 systems, accuracy, 20,000 items, b = 10⁶."""
    return many("accuracy", 300, 20_000)


def real(dataset: str, metric: str, n_pairs: int) -> tuple[float, float, str]:
    """The exact test of some pairs of real systems, in milliseconds per pair, beside a limit."""
    import pairsig
    from pairsig.core import statistics

    data = statistics.read(ROOT / f"resources/statistics/{dataset}.parquet")
    counts = data.of(pairsig.metrics.registry.metric(metric))
    rng = np.random.default_rng(0)
    pairs = [rng.choice(len(counts), 2, replace=False) for _ in range(size(n_pairs))]
    pairsig.exact_test(*counts[pairs[0]], metric=metric)
    ours = spent(lambda: [pairsig.exact_test(*counts[pair], metric=metric) for pair in pairs])
    return 1000 * ours / len(pairs), 40.0, "40 ms"


def exact_f1() -> tuple[float, float, str]:
    """Exact test of two systems, F1, 1,600 sentences of IcePaHC, in milliseconds."""
    return real("icepahc-23", "f1", 30)


def exact_uas() -> tuple[float, float, str]:
    """Exact test of two systems, UAS as in CoNLL 2017, 1,000 sentences, in milliseconds."""
    return real("conll2017-en_pud", "conll_uas", 30)


def ranks() -> tuple[float, float, str]:
    """Ranks by max-T, 11,175 pairs of 150 systems, BLEU, 2,034 segments, b = 10⁴."""
    import pairsig
    import simulate

    data = simulate.statistics("bleu", n_systems=size(150), n_segments=size(2034), n_groups=2)
    pairsig.rank(data, metric="bleu", n_resamples=100)  # compile
    return spent(lambda: pairsig.rank(data, metric="bleu", n_resamples=size(10_000))), 2.0, "2 s"


def start() -> tuple[float, float, str]:
    """`pairsig compare` of two files of 500 items, from the start of Python."""
    import resource

    with tempfile.TemporaryDirectory() as folder:
        for name, share in (("a", 0.6), ("b", 0.5)):
            passed = np.random.default_rng(len(name)).random(500) < share
            Path(folder, f"{name}.txt").write_text("\n".join(map(str, passed.astype(int))) + "\n", encoding="utf-8")
        times = []
        for _ in range(REPEAT):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "pairsig", "compare", "a.txt", "b.txt"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times), 0.5, "0.5 s"


CASES = (f1_pair, bleu_pair, all_pairs_bleu, all_pairs_items, exact_f1, exact_uas, ranks, start)


def main() -> None:
    """Run every case in a process of its own; `--case NAME` runs one here."""
    if "--case" in sys.argv:
        case = next(case for case in CASES if case.__name__ == sys.argv[sys.argv.index("--case") + 1])
        ours, beside, name = case()
        print(f"{ours:9.3f}  {beside:9.3f}  {ours / beside:5.2f}  {case.__doc__}  (beside: {name})")
        return
    print("     ours     beside  ratio")
    for case in CASES:
        command = [sys.executable, __file__, "--case", case.__name__, *["--small"] * SMALL]
        subprocess.run(command, check=True, env=None)


if __name__ == "__main__":
    main()
