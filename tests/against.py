"""The table of `pairsig compare` as a data frame, from the numbers of resamples and threads."""

import numpy as np

from pairsig.comparisons import compare, wording
from pairsig.core.definitions import find
from pairsig.core.totals import Resampling
from pairsig.io import tables
from pairsig.io.columns import BASELINE


def compare_with_one(
    statistics, metrics, test="exact", *, method=None, alternative=None, n_resamples=100_000, threads=None, **options
):
    """The rows of `compare`, with declared types, and their notes."""
    rows = compare.compare(
        statistics, metrics, find(test, method, alternative),
        resampling=Resampling(n_resamples, 2012, threads), **options,
    )  # fmt: skip
    plain = [{name: np.nan if cell is None else cell for name, cell in row.items()} for row in rows]
    return tables.frame(BASELINE, plain), wording.footnotes(rows)
