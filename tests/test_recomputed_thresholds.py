"""Needs and exponents of two datasets found again from the embedded statistics, with numpy and pyarrow alone.

Nothing of the project's code is used but in the comparison at the end: whoever has `resources/statistics`, this page
and `test_recomputed.py` can check the tables.
"""

from __future__ import annotations

import numpy as np
import pytest

from test_recomputed import STATISTICS, counts


def ratio_errors(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Standard errors of all gains of the score 100·Σ numerator / Σ denominator, by Taylor's series."""
    score = numerator.sum(axis=1, keepdims=True) / denominator.sum(axis=1, keepdims=True)
    u = 100 * (numerator - score * denominator) / denominator.sum(axis=1, keepdims=True)
    return np.array([np.sqrt(((u[i] - u[j]) ** 2).sum()) for i in range(len(u)) for j in range(i)])


def uas(first: int | None = None) -> np.ndarray:
    words = counts("ewt-test", ["correct", "total"])[1][:, :first]
    return ratio_errors(words[..., 0], words[..., 1])


def rouge() -> np.ndarray:
    documents = counts("realsumm", ["rouge2_recall"])[1][..., 0]
    n = documents.shape[1]
    return np.array(
        [100 * (documents[i] - documents[j]).std() / np.sqrt(n) for i in range(len(documents)) for j in range(i)]
    )


def critical_difference(errors: np.ndarray) -> float:
    # Of the logarithms: where half of the pairs are with one bad aligner, the middle two are far apart.
    return float(1.6448536 * np.exp(np.median(np.log(errors[errors > 0]))))


def test_needs_and_exponents_are_found_again():
    from pairsig.comparisons.all_pairs import compare
    from study.analysis.thresholds import size_scaling, thresholds
    from study.test_sets.resize import resize

    from pairsig.core import statistics

    realsumm_counts = statistics.read(STATISTICS / "realsumm.parquet")
    found = thresholds(compare(realsumm_counts, metric="rouge2_recall", n_resamples=100))
    assert found["critical_difference"].iloc[0] == pytest.approx(critical_difference(rouge()), rel=1e-4)

    data = statistics.read(STATISTICS / "ewt-test.parquet")
    sizes = [100, 400, 1600]
    variance_model = size_scaling(resize(data, initial=sizes, metric="uas", n_resamples=2)).iloc[0]
    errors = np.array([uas(size) for size in sizes])
    errors = errors[:, (errors > 1e-9).all(axis=0)]
    medians = [np.exp(np.median(np.log(one))) for one in errors]
    slope, _ = np.polyfit(np.log(sizes), np.log(medians), 1)
    assert variance_model["exponent"] == pytest.approx(slope, abs=1e-4)
    assert variance_model["n_all"] == errors.shape[1]


def test_needs_of_the_two_series_are_found_again():
    """Aligners: the median pair of one base model, of full sets alone and of all, on the first 100 of 110 pairs."""
    from pairsig.core import statistics
    from study.analysis.thresholds import thresholds
    from study.test_sets.resize import resize

    systems, links, *_ = counts("hansards-110", ["sure_hits", "possible_hits", "predicted", "sure"])
    links, named = links[:, :100], [name.rsplit("-", 2) for name in systems]
    data = statistics.read(STATISTICS / "hansards-110.parquet")
    found = thresholds(resize(data, initial=[100], metric="aer", n_resamples=2)).set_index("subset")
    for series, sizes in (("full sets, ", {"full"}), ("", {"full", "half", "quarter"})):
        for kind, same in (("same group", True), ("different group", False)):
            errors = [
                np.sqrt(((u[i] - u[j]) ** 2).sum())
                for u in [aer_contributions(links)]
                for i in range(len(named))
                for j in range(i)
                if (named[i][0] == named[j][0]) == same and {named[i][1], named[j][1]} <= sizes
            ]
            assert found.loc[series + kind, "critical_difference"] == pytest.approx(
                critical_difference(np.array(errors)), rel=1e-4
            )
            assert found.loc[series + kind, "n_all"] == (np.array(errors) > 1e-12).sum()


def aer_contributions(links: np.ndarray) -> np.ndarray:
    """What each segment adds to 100·(sure hits + possible hits)/(predicted + sure), by Taylor's series."""
    hits, marks = links[..., :2].sum(axis=-1), links[..., 2:].sum(axis=-1)
    share = hits.sum(axis=1, keepdims=True) / marks.sum(axis=1, keepdims=True)
    return 100 * (hits - share * marks) / marks.sum(axis=1, keepdims=True)
