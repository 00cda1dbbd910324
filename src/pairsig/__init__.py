"""Paired significance tests for NLP: which of two systems is better, by any metric computed from summed counts.

>>> import pairsig
>>> result = pairsig.compare({"old": [0, 1, 0, 0, 1, 0, 0, 1], "new": [1, 1, 1, 1, 1, 0, 1, 1]})
>>> result.better, result.pvalue
('new', 0.125)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
"""Commits between releases keep the version of the last one, because signatures of results contain it."""

if TYPE_CHECKING:
    from pairsig.api import Comparison, compare
    from pairsig.comparisons.gate import Gate, gate
    from pairsig.comparisons.ranks import Ranking, rank
    from pairsig.comparisons.runs import compare_runs
    from pairsig.core.statistics import Statistics
    from pairsig.core.statistics import read as read_statistics
    from pairsig.core.statistics import write as write_statistics
    from pairsig.io.errors import InputError
    from pairsig.io.results import TableResult
    from pairsig.metrics import Metric, Ratio
    from pairsig.planning.sample_size import plan
    from pairsig.readers.extraction import extract
    from pairsig.readers.inputs import read
    from pairsig.stats.exact import exact_test
    from pairsig.stats.intervals import Interval, difference_interval, score_interval
    from pairsig.stats.margins import margin_test
    from pairsig.stats.results import TestResult
    from pairsig.stats.sampling import bootstrap_test, randomization_test

# Imported when first used: the command line answers `--help` without waiting for numba.
_NAMES = {
    "api": ("Comparison", "compare"),
    "comparisons.gate": ("Gate", "gate"),
    "comparisons.runs": ("compare_runs",),
    "comparisons.ranks": ("Ranking", "rank"),
    "core.statistics": ("Statistics", "read_statistics", "write_statistics"),
    "io.errors": ("InputError",),
    "io.results": ("TableResult",),
    "metrics": ("Metric", "Ratio"),
    "planning.sample_size": ("plan",),
    "readers.extraction": ("extract",),
    "readers.inputs": ("read",),
    "stats.exact": ("exact_test",),
    "stats.intervals": ("Interval", "difference_interval", "score_interval"),
    "stats.margins": ("margin_test",),
    "stats.results": ("TestResult",),
    "stats.sampling": ("bootstrap_test", "randomization_test"),
}

__all__ = [
    "Comparison", "Gate", "InputError", "Interval", "Metric",
    "Ranking", "Ratio", "Statistics", "TableResult", "TestResult", "__version__",
    "bootstrap_test",
    "compare", "compare_runs", "difference_interval", "exact_test", "extract", "gate", "margin_test",
    "metric_names", "plan", "randomization_test", "rank", "read", "read_statistics", "score_interval",
    "write_statistics",
]  # fmt: skip


def metric_names() -> list[str]:
    """List the names of the metrics that come with pairsig.

    Returns
    -------
    list of str
        Every function with a `metric` accepts these names.

    See Also
    --------
    Metric, Ratio : Define a metric of your own.

    Examples
    --------
    >>> import pairsig
    >>> [name for name in pairsig.metric_names() if name in ("accuracy", "bleu", "f1", "mean")]
    ['accuracy', 'f1', 'mean', 'bleu']
    """
    from pairsig.metrics.registry import METRICS

    return list(METRICS)


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _NAMES.items() if name in names), "")
    if not home:
        raise AttributeError(f"module 'pairsig' has no attribute {name!r}")
    name_in_module = name.removesuffix("_statistics")  # `read_statistics` is `core.statistics.read`
    value = getattr(import_module(f"pairsig.{home}"), name_in_module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
