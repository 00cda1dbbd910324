"""Paired significance tests for NLP, on any metric that is a function of summed per-segment counts.

>>> import pairsig
>>> result = pairsig.bootstrap_test([[1, 1], [1, 1], [0, 1]], [[0, 1], [1, 1], [0, 1]], n_resamples=10_000)
>>> result.better
'a'
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

__version__: str
try:
    __version__ = _version("pairsig")
except PackageNotFoundError:  # `src` is on the path, as for jobs of the study under conda: what a build would be called
    from pathlib import Path
    from runpy import run_path

    __version__ = run_path(str(Path(__file__).resolve().parents[2] / "hatch_version.py"))["__version__"]
    del Path, run_path

if TYPE_CHECKING:
    from pairsig.errors import InputError
    from pairsig.exact import ExactResult, exact_bootstrap, exact_test
    from pairsig.frames import Comparison, compare, compare_logs
    from pairsig.heterogeneity import Transfer, transfer
    from pairsig.intervals import Interval, gain_interval
    from pairsig.margins import MarginResult, margin_test
    from pairsig.methods import compare_methods
    from pairsig.metrics import Metric, Ratio
    from pairsig.ranking import Ranking, rank
    from pairsig.resampling import TestResult, bootstrap_test, randomization_test
    from pairsig.sequential import SequentialResult, sequential_test
    from pairsig.statistics import Statistics

# Imported when first used: the command line answers `--help` without waiting for numba.
_HOMES = {
    "Comparison": "frames",
    "ExactResult": "exact",
    "InputError": "errors",
    "Interval": "intervals",
    "MarginResult": "margins",
    "Metric": "metrics",
    "Ranking": "ranking",
    "Ratio": "metrics",
    "SequentialResult": "sequential",
    "Statistics": "statistics",
    "TestResult": "resampling",
    "Transfer": "heterogeneity",
    "bootstrap_test": "resampling",
    "compare": "frames",
    "compare_logs": "frames",
    "compare_methods": "methods",
    "exact_bootstrap": "exact",
    "exact_test": "exact",
    "gain_interval": "intervals",
    "margin_test": "margins",
    "randomization_test": "resampling",
    "rank": "ranking",
    "sequential_test": "sequential",
    "transfer": "heterogeneity",
}

__all__ = [
    "Comparison",
    "ExactResult",
    "InputError",
    "Interval",
    "MarginResult",
    "Metric",
    "Ranking",
    "Ratio",
    "SequentialResult",
    "Statistics",
    "TestResult",
    "Transfer",
    "__version__",
    "bootstrap_test",
    "compare",
    "compare_logs",
    "compare_methods",
    "exact_bootstrap",
    "exact_test",
    "gain_interval",
    "margin_test",
    "metric_names",
    "randomization_test",
    "rank",
    "sequential_test",
    "transfer",
]


def metric_names() -> list[str]:
    """Names of all metrics that come with pairsig."""
    from pairsig.metrics.registry import METRICS

    return list(METRICS)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pairsig' has no attribute {name!r}")
    value = getattr(import_module(f"pairsig.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
