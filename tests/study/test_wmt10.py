"""The paper's own translation test set once more, from the embedded counts, with numpy and pyarrow alone.

BLEU's standard errors are computed here from its logarithm; the project's code is used only for what it is compared to.
"""

from __future__ import annotations

import csv
from functools import cache
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from pairsig.core import statistics
from study.analysis.pairs import Window
from study.reproduction import claims
from study.reproduction.thresholds import thresholds
from study.test_sets.all_pairs import compare
from test_recomputed import BLEU, ROOT, STATISTICS, bleu, bleu_influence, counts, reference

PAIRS = {  # systems and combinations, as in the paper and in the release, without an output that is no text (es-en)
    "de-en": (31, 13), "fr-en": (30, 14), "es-en": (15, 6), "cz-en": (13, 6),
    "en-de": (22, 8), "en-fr": (22, 7), "en-es": (20, 8), "en-cz": (19, 7),
}  # fmt: skip
Z = NormalDist().inv_cdf(0.95)


@cache
def systems_of(pair):
    """Group and kind of each system."""
    with (ROOT / "config/systems.tsv").open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["dataset"] == f"wmt10-{pair}" and row["include"] == "yes"
        ]
    return {row["system"]: (row["group"], row["kind"]) for row in rows}


@cache
def bleu_and_influence(pair):
    """BLEU of each system, and what each segment adds to it to first order."""
    names, found, *_ = counts(f"wmt10-{pair}", BLEU)
    return dict(zip(names, zip(bleu(found.sum(axis=1)), bleu_influence(found), strict=True), strict=True))


def by_class(pair):
    """Gain and standard error of every pair whose outputs differ, by class."""
    known, scored = systems_of(pair), bleu_and_influence(pair)
    found = {}
    for a, b in combinations(scored, 2):
        (score_a, u), (score_b, v) = scored[a], scored[b]
        error = np.sqrt(np.sum((u - v) ** 2))
        if error == 0:
            continue
        combined = sum(known[one][1] == "combination" for one in (a, b))
        same = "same" if known[a][0] == known[b][0] else "different"
        for name in ("all", (f"single systems, {same} group", "single system and combination",
                             "combination / combination")[combined]):  # fmt: skip
            found.setdefault(name, []).append((abs(score_a - score_b), error))
    return {name: np.array(rows).T for name, rows in found.items()}


def compared(n_resamples):
    data = statistics.read(STATISTICS / "wmt10-de-en.parquet")
    return compare(data, metric="bleu", n_resamples=n_resamples, rng=1)


def weighted_percentile(values, weights, share):
    """The value at which half of its weight and all of the smaller ones' are this share of the total."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    return np.interp(share * weights.sum(), weights.cumsum() - weights / 2, values)


@pytest.mark.parametrize("pair", PAIRS)
def test_every_output_is_there(pair):
    names, found, *_ = counts(f"wmt10-{pair}", ["total_1"])
    assert found.shape == (PAIRS[pair][0], 2034, 1)
    assert set(names) == set(systems_of(pair))
    assert sum(kind == "combination" for _, kind in systems_of(pair).values()) == PAIRS[pair][1]


def test_critical_differences_and_thresholds_of_the_papers_test_set():
    table = compared(2000)
    # Only two pairs have p from 0.04 to 0.06, so a threshold needs a wider window; its weights do not depend on it.
    assert thresholds(table).set_index("subset").loc["all", "verdict"] == "critical difference only"
    found = thresholds(table, window=Window(0.005, 0.2)).set_index("subset")
    classes = by_class("de-en")
    assert len(classes["all"][0]) == 31 * 30 // 2 - 1  # two outputs are equal
    assert len(classes["combination / combination"][0]) == 13 * 12 // 2
    for name, (gains, errors) in classes.items():
        critical_difference = Z * np.exp(np.median(np.log(errors)))
        assert found.loc[name, "n_all"] == len(gains)
        if name == "single systems, same group":  # a single pair
            continue
        assert found.loc[name, "critical_difference"] == pytest.approx(critical_difference, rel=1e-4)
        near = np.clip(1 - ((gains / errors - Z) / 0.8) ** 2, 0, None)
        threshold = Z * np.exp(weighted_percentile(np.log(errors[near > 0]), near[near > 0], 0.95))
        if found.loc[name, "verdict"] == "estimated":
            assert found.loc[name, "threshold"] == pytest.approx(threshold, rel=1e-4)
    assert (found.loc[["all", "combination / combination"], "verdict"] == "estimated").all()


def test_combinations_need_less():
    rows = {row["measured"]: row for row in claims._combinations(compared(100))}
    classes = by_class("de-en")
    expected = []
    for name in ("combination / combination", "single systems, different group"):
        expected.append(np.median(np.log(classes[name][1])))
    row, (combined, single) = rows[claims.COMBINED], expected
    assert row["value"] == pytest.approx(np.exp(combined - single), rel=1e-4)
    assert row["low"] < row["value"] < row["high"] < 1


def test_the_exponent_of_the_correlation():
    """Least squares of log standard errors against log(1 − correlation), over pairs of systems above 5 BLEU."""
    scored = [(score, u) for score, u in bleu_and_influence("de-en").values() if score > 5]
    errors, correlations = [], []
    for (_, u), (_, v) in combinations(scored, 2):
        errors.append(np.sqrt(np.sum((u - v) ** 2)))
        correlations.append(np.corrcoef(u, v)[0, 1])
    errors, correlations = np.array(errors), np.array(correlations)
    different = errors > 0  # two outputs are equal
    slope, _ = np.polyfit(np.log1p(-correlations[different]), np.log(errors[different]), 1)
    measured = "exponent of 1 − correlation in the critical difference, within test sets"
    row = reference("claims", dataset="wmt10-de-en", measured=measured)
    assert int(row["n"]) == different.sum()
    assert float(row["value"]) == pytest.approx(slope, rel=1e-3)
    assert float(row["low"]) < slope < float(row["high"])


def test_critical_differences_of_retrained_systems():
    """The paper's Figure 6: one base model, or two, and the same number of training sets for both."""
    scored = bleu_and_influence("synthetic")
    models = {name: name.rsplit("-", 2)[0] for name in scored}
    assert len(set(models.values())) == 2
    needed = {"same group": [], "different group": []}
    for a, b in combinations(scored, 2):
        error = np.sqrt(np.sum((scored[a][1] - scored[b][1]) ** 2))
        needed["same group" if models[a] == models[b] else "different group"].append(Z * error)
    for subset, values in needed.items():
        row = reference("thresholds", dataset="wmt10-synthetic", test_set="whole", subset=subset)
        assert int(row["n_all"]) == len(values)
        assert float(row["critical_difference"]) == pytest.approx(np.exp(np.median(np.log(values))), rel=1e-4)
