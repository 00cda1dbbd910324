"""Needs and exponents of two datasets found again from the embedded statistics, with numpy and pyarrow alone.

Nothing of the project's code is used but in the comparison at the end: whoever has `resources/statistics`, this page
and `test_recomputed.py` can check the tables.
"""

from __future__ import annotations

import numpy as np
import pytest

from test_recomputed import (
    BLEU,
    ONE_SIDED,
    STATISTICS,
    bleu,
    bleu_influence,
    counts,
    errors_of_gains,
    f1,
    gains,
    influence,
    reference,
)  # fmt: skip


def critical_difference(errors: np.ndarray) -> float:
    # Of the logarithms: where half of the pairs are with one bad aligner, the middle two are far apart.
    return float(1.6448536 * np.exp(np.median(np.log(errors[errors > 0]))))


def test_needs_and_exponents_are_found_again():
    from pairsig.core import statistics
    from study.reproduction.thresholds import size_scaling, thresholds
    from study.test_sets.all_pairs import compare
    from study.test_sets.resize import resize

    recall = counts("realsumm", ["rouge2_recall"])[1][..., 0]
    rouge = errors_of_gains(influence(recall, np.ones_like(recall)))
    documents = statistics.read(STATISTICS / "realsumm.parquet")
    found = thresholds(compare(documents, metric="rouge2_recall", n_resamples=100))
    assert found["critical_difference"].iloc[0] == pytest.approx(critical_difference(rouge), rel=1e-4)

    data = statistics.read(STATISTICS / "ewt-test.parquet")
    sizes = [100, 400, 1600]
    variance_model = size_scaling(resize(data, {"initial": "100,400,1600"}, metric="uas", n_resamples=2)).iloc[0]
    words = counts("ewt-test", ["correct", "total"])[1]
    errors = np.array([errors_of_gains(influence(words[:, :size, 0], words[:, :size, 1])) for size in sizes])
    errors = errors[:, (errors > 1e-9).all(axis=0)]
    medians = [np.exp(np.median(np.log(one))) for one in errors]
    slope, _ = np.polyfit(np.log(sizes), np.log(medians), 1)
    assert variance_model["exponent"] == pytest.approx(slope, abs=1e-4)
    assert variance_model["n_all"] == errors.shape[1]


def log_threshold(sums: np.ndarray, pairs: np.ndarray) -> float:
    """The paper's percentile of 1.645 standard errors, pairs near p = 0.05 counting most, as a logarithm."""
    u = bleu_influence(sums)
    u -= u.mean(axis=1, keepdims=True)
    products, scores, (a, b) = u @ u.T, bleu(sums.sum(axis=1)), pairs
    error = np.sqrt(products[a, a] + products[b, b] - 2 * products[a, b])
    weight = np.clip(1 - ((np.abs(scores[a] - scores[b]) / error - 1.6448536) / 0.8) ** 2, 0, None)
    ascending = np.argsort(error)
    ascending = ascending[weight[ascending] > 0]
    middle = weight[ascending].cumsum() - weight[ascending] / 2
    return float(np.interp(0.95 * weight.sum(), middle, np.log(1.6448536 * error[ascending])))


def test_the_bleu_threshold_of_the_first_screen_is_found_again():
    """Of one toolkit on the Hansards: the number, its interval and its error over blocks of 100 sentences."""
    systems, sums, *_ = counts("mt-hansards", BLEU)
    model = np.array([name.rsplit("-", 2)[0] for name in systems])
    pairs = np.array([(i, j) for i in range(len(model)) for j in range(i) if model[i] == model[j]]).T
    ours = log_threshold(sums, pairs)
    shown = reference("reproduction", item="threshold-bleu-same")
    assert float(shown["ours"]) == pytest.approx(np.exp(ours), rel=1e-3)
    rng, redrawn = np.random.default_rng(7), []
    for _ in range(15):
        starts = rng.integers(0, 1901, 20)
        redrawn.append(log_threshold(sums[:, (starts[:, None] + np.arange(100)).ravel()], pairs))
    errors = reference("threshold_errors", dataset="mt-hansards", test_set="whole", subset="same group")
    # 100 studies there and 15 here: the standard deviation is known to about 20 %.
    assert float(errors["error_segments"]) == pytest.approx(np.std(redrawn, ddof=1), rel=0.4)
    given = reference("thresholds", dataset="mt-hansards", test_set="whole", subset="same group")
    for end, sign in (("low", -1), ("high", 1)):
        over_systems = np.log(float(given[end]) / float(given["threshold"]))
        reach = np.hypot(over_systems, 1.959964 * float(errors["error_segments"]))
        assert float(shown[end]) == pytest.approx(np.exp(ours + sign * reach), rel=1e-3)


def test_what_the_parsers_of_the_first_screen_do_on_other_texts_is_found_again():
    """Icelandic texts of another and of the same genre, by normal p-values: the rates, and how much they vary."""
    texts = {}
    for dataset in ("icepahc-domains", "icepahc-modern"):
        systems, sums, documents, _ = counts(dataset, ["matched", "predicted", "gold"])
        order = np.argsort(systems)
        for document in dict.fromkeys(documents.tolist()):
            place = np.flatnonzero(documents == document)[:1100]
            if len(place) == 1100:
                texts[dataset, document] = gains(sums[order][:, place], f1)
    narrative = {key for key in texts if ".nar-" in key[1]}
    old = {key for key in narrative if key[0] == "icepahc-domains" and key[1] < "17"}
    modern = {key for key in narrative if key[0] == "icepahc-modern"}
    religious = {key for key in texts if ".rel-" in key[1]}
    near = [{key for key in texts if key[1].startswith(("1310", "1450"))}]
    near += [{key for key in modern if key[1].startswith(one)} for one in (("18", "190"), ("1985", "2008"))]
    far = {(x, y) for x in religious for y in old | modern | religious if x != y}  # a sermon is no gospel
    cells = {
        "far": sorted(far | {(y, x) for x, y in far}),
        "near": [(x, y) for some in near for x in some for y in some if x != y],
    }
    for distance, both in cells.items():
        row = reference("calibration", calibration="constituency", distance=distance, p_low=0.04, p_high=0.06)
        assert len(both) == int(row["n_test_sets"])
        n, right = np.zeros((2, len(both)))
        for cell, (one, other) in enumerate(both):
            (gain, error), (against, _) = texts[one], texts[other]
            z = np.abs(gain) / error
            inside = (z >= ONE_SIDED[0.06]) & (z <= ONE_SIDED[0.04]) & (against != 0)
            n[cell], right[cell] = inside.sum(), (inside & (gain * against > 0)).sum()
        share = right.sum() / n.sum()
        assert float(row["share"]) == pytest.approx(share, abs=0.01)
        between = (n * (right / n - share) ** 2).sum() / n.sum() - share * (1 - share) * len(n) / n.sum()
        assert float(row["between"]) == pytest.approx(np.sqrt(between), abs=0.012)
