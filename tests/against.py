"""The table of `pairsig compare` as a data frame, from the numbers of resamples and threads."""

from pairsig.comparisons import baseline
from pairsig.core.engine import Resampling
from pairsig.io import tables
from pairsig.io.columns import BASELINE


def compare_with_one(statistics, metrics, tests=(), *, n_resamples=100_000, threads=None, **options):
    """What `baseline.compare_with_one` returns, with declared types."""
    rows, notes = baseline.compare_with_one(
        statistics, metrics, tests, resampling=Resampling(n_resamples, 2012, threads), **options
    )
    return tables.frame(BASELINE, rows), notes
